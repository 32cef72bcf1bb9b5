/* SPDX-License-Identifier: Apache-2.0 */
/* What concerns all rows: bytes, sizes, snapshots, restoring, two nodes that write at a time. */
#include "contract/suite.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- bytes ---------------------------------------------------------------------------------- */

static struct pawl_str with_nul(const char *bytes, size_t len)
{
    return pawl__str_make(bytes, len);
}

static void a_nul_in_text_becomes_a_replacement_character(struct contract *t)
{
    struct pawl_instance_row row = some_instance(t, with_nul("i\0d", 3));
    struct pawl_commit commit = {.kind = PAWL_COMMIT_CREATE, .instance = &row};
    struct pawl_rows rows;
    struct pawl_claim claim;

    row.owner = t->node_a;
    row.name = with_nul("\0", 1);
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_code(apply_one(t, t->a, &commit), PAWL_EEXISTS);
    rows = find_where(t, PAWL_TABLE_INSTANCES, "id", row.id);
    assert_int_equal(rows.count, 1);
    assert_str(((const struct pawl_instance_row *)rows.rows)->id, "i\xEF\xBF\xBD"
                                                                  "d");
    assert_str(((const struct pawl_instance_row *)rows.rows)->name, "\xEF\xBF\xBD");
    assert_int_equal(find_where(t, PAWL_TABLE_INSTANCES, "name", pawl__str("")).count, 0);
    claim = claim_one(t, t->a, t->node_a, row.id);
    assert_code(claim.status, PAWL_OK);
    row.fence = claim.row.fence;
    row.revision = claim.row.revision;
    commit.kind = PAWL_COMMIT_ADVANCE;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    row.revision++;
    commit.kind = PAWL_COMMIT_DELETE;
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_int_equal(count_all(t, PAWL_TABLE_INSTANCES), 0);
}

static void bytes_are_kept_as_they_are(struct contract *t)
{
    char bytes[256];
    struct pawl_setting_row row = {.key = pawl__str("all"), .value = {bytes, sizeof bytes}};

    for (int i = 0; i < 256; i++)
        bytes[i] = (char)(i ^ 0x80);
    insert(t, PAWL_TABLE_SETTINGS, &row);
    assert_same_row(PAWL_TABLE_SETTINGS, find_where(t, PAWL_TABLE_SETTINGS, "", row.key).rows,
                    &row);
    assert_int_equal(find_where(t, PAWL_TABLE_SETTINGS, "value", row.value).count, 1);
    row.value.len--;
    assert_int_equal(find_where(t, PAWL_TABLE_SETTINGS, "value", row.value).count, 0);
}

static void text_of_all_of_unicode_is_kept(struct contract *t)
{
    static const char *const words[] = {"it's \"quoted\" \\ % _ $1 ?1 :name; --",
                                        "\xC3\xBC\xE4\xB8\xAD\xF0\x9F\x98\x80",
                                        "line\nline\r\ttab\x01\x7F", " spaces ", "NULL"};
    struct pawl_reservation_row row = {.expires_us = PAWL_TIME_NEVER};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        row.key = row.value = pawl__str(words[i]);
        insert(t, PAWL_TABLE_RESERVATIONS, &row);
        assert_same_row(PAWL_TABLE_RESERVATIONS,
                        find_where(t, PAWL_TABLE_RESERVATIONS, "value", row.value).rows, &row);
    }
}

static void a_state_of_a_megabyte_is_kept(struct contract *t)
{
    enum { SIZE = 1 << 20 };
    struct pawl_instance_row row = claimed_instance(t, "i");
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE, .instance = &row};
    char *bytes = pawl__arena_alloc(&t->arena, SIZE);
    struct pawl_claim claim;
    uint64_t seed = 1;

    assert_non_null(bytes);
    for (int i = 0; i < SIZE; i++)
        bytes[i] = (char)test_random(&seed);
    row.state = pawl__str_make(bytes, SIZE);
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    claim = claim_one(t, t->a, t->node_a, row.id);
    assert_int_equal(claim.row.state.len, SIZE);
    assert_memory_equal(claim.row.state.ptr, bytes, SIZE);
    assert_memory_equal(instance_row(t, row.id)->state.ptr, bytes, SIZE);
}

static void numbers_are_kept_to_their_ends(struct contract *t)
{
    struct pawl_journal_row row = {.instance_id = pawl__str("i"),
                                   .first_sequence = INT64_MIN,
                                   .count = INT64_MAX,
                                   .from_us = -1};

    insert(t, PAWL_TABLE_JOURNAL, &row);
    assert_same_row(PAWL_TABLE_JOURNAL,
                    find_where(t, PAWL_TABLE_JOURNAL, "instance_id", row.instance_id).rows, &row);
}

/* ---- snapshots, restoring ------------------------------------------------------------------- */

/* Something in every table. */
static void fill(struct contract *t)
{
    struct pawl_str id = claimed_instance(t, "i1").id;
    struct pawl_commit stamp = {.stamp = pawl__str("definitions")};

    (void)create_instance(t, "i2");
    for (int i = 0; i < 5; i++) {
        struct pawl_bookmark_row bookmark = some_bookmark(t, text(t, "b%d", i), id, "h");
        struct pawl_work_row work = some_work(t, text(t, "w%d", i), now_us(t) + i * HOUR_US);
        struct pawl_reservation_row reservation = {
            .key = text(t, "r%d", i), .instance_id = id, .expires_us = PAWL_TIME_NEVER};
        struct pawl_journal_row journal = some_journal(t, id, i);
        struct pawl_definition_row definition =
            some_definition(t, text(t, "d%d", i).ptr, "order", i);
        struct pawl_trigger_row trigger =
            some_trigger(t, text(t, "t%d", i).ptr, text(t, "h%d", i).ptr);
        struct pawl_setting_row setting = {.key = text(t, "s%d", i),
                                           .value = with_nul("\0\xFF", 2)};
        struct pawl_dead_letter_row letter =
            some_dead_letter(t, text(t, "l%d", i).ptr, text(t, "w%d", i).ptr);

        insert(t, PAWL_TABLE_BOOKMARKS, &bookmark);
        insert(t, PAWL_TABLE_WORK, &work);
        insert(t, PAWL_TABLE_RESERVATIONS, &reservation);
        insert(t, PAWL_TABLE_JOURNAL, &journal);
        insert(t, PAWL_TABLE_DEFINITIONS, &definition);
        insert(t, PAWL_TABLE_TRIGGERS, &trigger);
        insert(t, PAWL_TABLE_SETTINGS, &setting);
        insert(t, PAWL_TABLE_DEAD_LETTERS, &letter);
        for (int table = PAWL_TABLE_STAMPS + 1; table < PAWL_TABLE_COUNT; table++)
            insert(t, (enum pawl_table)table, any_row(t, (enum pawl_table)table, i, id));
    }
    assert_code(apply_one(t, t->a, &stamp), PAWL_OK);
    (void)take_some(t, t->a, t->node_a, 1);
}

struct counting {
    size_t counts[PAWL_TABLE_COUNT];
    enum pawl_table last;
    bool mixed;
};

static int count_row(void *ctx, enum pawl_table table, const void *row, struct pawl_error *err)
{
    struct counting *counting = ctx;

    (void)row;
    (void)err;
    if (counting->counts[table]++ > 0 && counting->last != table)
        counting->mixed = true;
    counting->last = table;
    return PAWL_OK;
}

static void a_snapshot_has_all_rows_table_by_table(struct contract *t)
{
    struct counting counting = {0};

    fill(t);
    assert_ok(pawl_store_snapshot(t->a, count_row, &counting, soon_ns(t), &t->err), &t->err);
    assert_false(counting.mixed);
    for (int i = 0; i < PAWL_TABLE_COUNT; i++) {
        assert_true(counting.counts[i] > 0);
        assert_int_equal(counting.counts[i], count_all(t, (enum pawl_table)i));
    }
}

static int refuse_row(void *ctx, enum pawl_table table, const void *row, struct pawl_error *err)
{
    (void)table;
    (void)row;
    (void)err;
    return ++*(int *)ctx == 3 ? PAWL_ECANCELLED : PAWL_OK;
}

static void a_snapshot_ends_when_its_visitor_says_so(struct contract *t)
{
    int count = 0;

    fill(t);
    assert_code(pawl_store_snapshot(t->a, refuse_row, &count, soon_ns(t), &t->err),
                PAWL_ECANCELLED);
    assert_int_equal(count, 3);
    assert_int_equal(count_all(t, PAWL_TABLE_BOOKMARKS), 5);
}

/* One commit writes the same number to two rows, over and over. */
struct pair_writer {
    struct contract *t;
    int64_t deadline_ns;
    atomic_bool stop;
    int status;
};

static void write_pairs(void *arg)
{
    struct pair_writer *w = arg;

    for (int i = 0; !atomic_load(&w->stop) && w->status == PAWL_OK; i++) {
        char digits[16];
        struct pawl_setting_row rows[2] = {{.key = pawl__str("x")}, {.key = pawl__str("y")}};
        const struct pawl_change changes[] = {{PAWL_CHANGE_PUT, PAWL_TABLE_SETTINGS, &rows[0]},
                                              {PAWL_CHANGE_PUT, PAWL_TABLE_SETTINGS, &rows[1]}};
        struct pawl_commit commit = {.changes = changes, .change_count = 2};
        struct pawl_commit *commits[] = {&commit};

        rows[0].value = rows[1].value =
            pawl__str_make(digits, (size_t)snprintf(digits, sizeof digits, "%d", i));
        w->status = pawl_store_apply(w->t->b, commits, 1, w->deadline_ns, NULL);
        if (w->status == PAWL_OK)
            w->status = commit.status;
    }
}

struct pair {
    struct contract *t;
    struct pawl_str values[2];
};

static int see_pair(void *ctx, enum pawl_table table, const void *row, struct pawl_error *err)
{
    struct pair *pair = ctx;
    const struct pawl_setting_row *setting = row;

    (void)err;
    if (table == PAWL_TABLE_SETTINGS)
        pair->values[pawl__str_is(setting->key, "y")] =
            pawl__arena_str(&pair->t->arena, setting->value);
    return PAWL_OK;
}

static void a_snapshot_sees_one_moment(struct contract *t)
{
    struct pair_writer writer = {.t = t, .deadline_ns = soon_ns(t)};
    struct pair pair = {.t = t};
    struct pawl_thread *thread;
    int status = PAWL_OK;
    bool same = true;

    assert_ok(pawl_thread_start(t->env, "writer", write_pairs, &writer, &thread, &t->err), &t->err);
    for (int i = 0; i < 50 && status == PAWL_OK; i++) {
        status = pawl_store_snapshot(t->a, see_pair, &pair, soon_ns(t), &t->err);
        same = same && pawl__str_equal(pair.values[0], pair.values[1]);
    }
    atomic_store(&writer.stop, true);
    pawl_thread_join(t->env, thread);
    assert_ok(status, &t->err);
    assert_code(writer.status, PAWL_OK);
    assert_true(same);
}

struct copying {
    struct contract *t;
    struct pawl_store *to;
};

static int copy_row(void *ctx, enum pawl_table table, const void *row, struct pawl_error *err)
{
    struct copying *copying = ctx;

    return pawl_store_load(copying->to, table, row, 1, soon_ns(copying->t), err);
}

static void what_a_snapshot_has_is_restored_byte_for_byte(struct contract *t)
{
    const struct contract_backend *backend = t->backend;
    struct copying copying = {.t = t};
    const char *before;
    void *database;

    fill(t);
    before = dump(t, t->a);
    assert_ok(backend->create(backend->ctx, t->env, &database, &t->err), &t->err);
    assert_ok(backend->open(backend->ctx, database, t->env, &copying.to, &t->err), &t->err);
    assert_string_equal(dump(t, copying.to), "");
    assert_ok(pawl_store_snapshot(t->a, copy_row, &copying, soon_ns(t), &t->err), &t->err);
    assert_string_equal(dump(t, copying.to), before);

    assert_code(pawl_store_snapshot(t->a, copy_row, &copying, soon_ns(t), &t->err), PAWL_EEXISTS);
    assert_string_equal(dump(t, copying.to), before);

    /* It goes on as the first would have: owners live, incarnations grow. */
    assert_code(claim_one(t, copying.to, t->node_b, pawl__str("i1")).status, PAWL_EBUSY);
    assert_code(claim_one(t, copying.to, t->node_b, pawl__str("i2")).status, PAWL_OK);
    assert_true(join(t, copying.to, "new", HOUR_US) > t->node_b);
    pawl_store_close(copying.to);
    backend->destroy(backend->ctx, database);
}

static void many_rows_are_loaded_in_one_call_or_none(struct contract *t)
{
    static struct pawl_setting_row rows[1000];

    for (int i = 0; i < 1000; i++)
        rows[i] = (struct pawl_setting_row){text(t, "%04d", i), text(t, "value %d", i)};
    insert(t, PAWL_TABLE_SETTINGS, &rows[999]);
    assert_code(pawl_store_load(t->a, PAWL_TABLE_SETTINGS, rows, 1000, soon_ns(t), &t->err),
                PAWL_EEXISTS);
    assert_int_equal(count_all(t, PAWL_TABLE_SETTINGS), 1);
    assert_ok(pawl_store_load(t->a, PAWL_TABLE_SETTINGS, rows, 999, soon_ns(t), &t->err), &t->err);
    assert_int_equal(count_all(t, PAWL_TABLE_SETTINGS), 1000);
    assert_ok(pawl_store_load(t->a, PAWL_TABLE_SETTINGS, rows, 0, soon_ns(t), &t->err), &t->err);
}

static void everything_is_there_after_it_was_opened_again(struct contract *t)
{
    const char *before;

    fill(t);
    before = dump(t, t->a);
    pawl_store_close(t->a);
    pawl_store_close(t->b);
    assert_ok(t->backend->open(t->backend->ctx, t->database, t->env, &t->a, &t->err), &t->err);
    assert_ok(t->backend->open(t->backend->ctx, t->database, t->env, &t->b, &t->err), &t->err);
    assert_string_equal(dump(t, t->a), before);
    assert_code(claim_one(t, t->b, t->node_b, pawl__str("i1")).status, PAWL_EBUSY);
    assert_true(join(t, t->a, "node-a", HOUR_US) > t->node_b);
}

static void fail_on_finding(void *ctx, const char *finding)
{
    (void)ctx;
    fail_msg("the store finds itself damaged: %s", finding);
}

static void a_check_finds_nothing_wrong(struct contract *t)
{
    struct pawl_instance_row row = claimed_instance(t, "gone");
    struct pawl_commit commit = {.kind = PAWL_COMMIT_DELETE, .instance = &row};

    fill(t);
    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    assert_ok(pawl_store_check_backend(t->a, fail_on_finding, NULL, soon_ns(t), &t->err), &t->err);
}

/* ---- two at a time -------------------------------------------------------------------------- */

#define RIVALS 8
#define RIVALS_BATCH 4

/* Advances some of the same instances, in any order, as if it were their owner. */
struct rival {
    struct contract *t;
    struct pawl_store *store;
    uint64_t seed;
    uint32_t rounds;
    int64_t deadline_ns;
    struct pawl_instance_row rows[RIVALS];
    struct pawl_arena arena;
    uint64_t ok_count;
    uint64_t conflict_count;
    int status; /* what no apply() should answer */
};

static int read_revisions(struct rival *r)
{
    const struct pawl_query query = {.table = PAWL_TABLE_INSTANCES, .flags = PAWL_QUERY_BRIEF};
    struct pawl_rows rows;
    int status;

    pawl__arena_reset(&r->arena);
    status = pawl_store_find(r->store, &query, &r->arena, &rows, r->deadline_ns, NULL);
    for (size_t i = 0; status == PAWL_OK && i < RIVALS; i++)
        r->rows[i].revision = ((const struct pawl_instance_row *)rows.rows)[i].revision;
    return status;
}

static int run_round(struct rival *r)
{
    struct pawl_commit commits[RIVALS_BATCH], *pointers[RIVALS_BATCH];
    struct pawl_bookmark_row bookmarks[RIVALS_BATCH];
    struct pawl_change changes[RIVALS_BATCH];
    size_t chosen[RIVALS], conflicts = 0;
    int status;

    for (size_t i = 0; i < RIVALS; i++)
        chosen[i] = i;
    for (size_t i = 0; i < RIVALS_BATCH; i++) {
        size_t other = i + (size_t)(test_random(&r->seed) % (RIVALS - i)), n = chosen[other];

        chosen[other] = chosen[i];
        chosen[i] = n;
        bookmarks[i] = (struct pawl_bookmark_row){
            .id = r->rows[n].id, .instance_id = r->rows[n].id, .hash = pawl__str("h")};
        changes[i] = (struct pawl_change){PAWL_CHANGE_PUT, PAWL_TABLE_BOOKMARKS, &bookmarks[i]};
        commits[i] = (struct pawl_commit){.kind = PAWL_COMMIT_ADVANCE,
                                          .flags = i % 2 ? PAWL_COMMIT_KEEP : 0,
                                          .instance = &r->rows[n],
                                          .changes = &changes[i],
                                          .change_count = 1};
        pointers[i] = &commits[i];
    }
    status = pawl_store_apply(r->store, pointers, RIVALS_BATCH, r->deadline_ns, &r->t->err);
    for (size_t i = 0; status == PAWL_OK && i < RIVALS_BATCH; i++) {
        if (commits[i].status == PAWL_OK)
            r->rows[chosen[i]].revision++;
        else if (commits[i].status == PAWL_ECONFLICT)
            conflicts++;
        else
            status = commits[i].status;
    }
    r->ok_count += RIVALS_BATCH - conflicts;
    r->conflict_count += conflicts;
    return status == PAWL_OK && conflicts > 0 ? read_revisions(r) : status;
}

static void run_rival(void *arg)
{
    struct rival *r = arg;

    for (uint32_t i = 0; i < r->rounds && r->status == PAWL_OK; i++)
        r->status = run_round(r);
}

/* Fewer with CONTRACT_ROUNDS, where everything takes several times as long. */
static uint32_t count_rounds(void)
{
    const char *text = getenv("CONTRACT_ROUNDS");

    return text ? (uint32_t)strtoul(text, NULL, 10) : 10000;
}

static void
two_nodes_write_overlapping_batches_and_each_revision_is_written_once(struct contract *t)
{
    static struct rival rivals[2];
    struct pawl_thread *threads[2];
    uint64_t written = 0;

    memset(rivals, 0, sizeof rivals);
    for (int i = 0; i < RIVALS; i++)
        rivals[0].rows[i] = rivals[1].rows[i] = claimed_instance(t, text(t, "i%d", i).ptr);
    for (int i = 0; i < 2; i++) {
        rivals[i].t = t;
        rivals[i].store = i ? t->b : t->a;
        rivals[i].seed = (uint64_t)i + 1;
        rivals[i].rounds = count_rounds();
        rivals[i].deadline_ns = PAWL_FOREVER;
        pawl__arena_init(&rivals[i].arena, &t->env->alloc, (size_t)16 << 20);
    }
    for (int i = 0; i < 2; i++)
        assert_ok(pawl_thread_start(t->env, "rival", run_rival, &rivals[i], &threads[i], &t->err),
                  &t->err);
    for (int i = 0; i < 2; i++)
        pawl_thread_join(t->env, threads[i]);
    for (int i = 0; i < 2; i++) {
        pawl__arena_release(&rivals[i].arena);
        assert_ok(rivals[i].status, &t->err);
    }
    for (int i = 0; i < RIVALS; i++)
        written += (uint64_t)(instance_row(t, rivals[0].rows[i].id)->revision - 1);
    assert_int_equal(written, rivals[0].ok_count + rivals[1].ok_count);
    assert_true(written >= rivals[0].rounds); /* of two that meet, one gets through */
}

const struct contract_test contract_whole[] = {
    CONTRACT_TEST(a_nul_in_text_becomes_a_replacement_character),
    CONTRACT_TEST(bytes_are_kept_as_they_are),
    CONTRACT_TEST(text_of_all_of_unicode_is_kept),
    CONTRACT_TEST(a_state_of_a_megabyte_is_kept),
    CONTRACT_TEST(numbers_are_kept_to_their_ends),
    CONTRACT_TEST(a_snapshot_has_all_rows_table_by_table),
    CONTRACT_TEST(a_snapshot_ends_when_its_visitor_says_so),
    CONTRACT_TEST(a_snapshot_sees_one_moment),
    CONTRACT_TEST(what_a_snapshot_has_is_restored_byte_for_byte),
    CONTRACT_TEST(many_rows_are_loaded_in_one_call_or_none),
    CONTRACT_TEST_IF(DURABLE, everything_is_there_after_it_was_opened_again),
    CONTRACT_TEST(a_check_finds_nothing_wrong),
    CONTRACT_TEST(two_nodes_write_overlapping_batches_and_each_revision_is_written_once),
    {0},
};
