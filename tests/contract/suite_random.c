/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches made by chance: a batch leaves what its members leave in some order, one after the other.
 *
 * The memory store applies commits one by one and is the reference. Each batch goes to the store
 * under test; then an order of its members is looked for that gives each the same result, and the
 * same rows, in a memory database that began with the same ones. The stores differ in what the
 * contract leaves open:
 *
 * - of a commit that several guards refuse, which of them says so;
 * - has_mail: mail that came or went with members behind counts or not, and so does the commit's
 * own;
 * - when parked work was woken. A store may wake it also for a bookmark that was there before it,
 * or that a commit would have added if there were none.
 *
 * CONTRACT_SEEDS says how many batches (600), CONTRACT_FROM which is the first; by default others
 * for each commit (test_rotation()).
 */
#include "contract/random_batch.h"
#include "stores/stores.h"

#include <stdlib.h>

#define BATCHES 600
#define ARENA_BYTES_MAX ((size_t)64 << 20)

/* What a commit said of mail may be either, unless one of both is never true. */
struct mail {
    bool may_be, may_not_be;
};

/* A batch, what the store under test made of it, and the rows that it left. */
struct outcome {
    struct contract t; /* with an arena of its own */
    const struct random_batch *batch;
    struct pawl_commit commits[RANDOM_MEMBERS_MAX];
    struct pawl_rows rows[RANDOM_TABLES];
};

/* The reference, in the middle of an order. */
struct reference {
    struct outcome *of;
    struct pawl_memory_database *db;
    struct pawl_store *store;
    struct mail mail[RANDOM_MEMBERS_MAX];
    bool is_loud; /* says why it is not that order */
};

/* ---- rows -------------------------------------------------------------------------------- */

static void load_rows(struct contract *t, struct pawl_store *store,
                      const struct random_batch *batch)
{
    for (size_t i = 0; i < RANDOM_TABLES; i++)
        if (batch->tables[i].row_count > 0)
            assert_ok(pawl_store_load(store, batch->tables[i].table, batch->tables[i].rows,
                                      batch->tables[i].row_count, soon_ns(t), &t->err),
                      &t->err);
}

static void find_rows(struct contract *t, struct pawl_store *store,
                      const struct random_batch *batch, struct pawl_rows *out)
{
    struct pawl_condition conditions[RANDOM_TABLES];
    struct pawl_query queries[RANDOM_TABLES];

    for (size_t i = 0; i < RANDOM_TABLES; i++) {
        conditions[i] = (struct pawl_condition){.compare = PAWL_IN,
                                                .values = batch->tables[i].ids,
                                                .value_count = batch->tables[i].id_count};
        queries[i] = (struct pawl_query){
            .table = batch->tables[i].table, .conditions = &conditions[i], .condition_count = 1};
    }
    assert_ok(
        pawl_store_find_many(store, queries, RANDOM_TABLES, &t->arena, out, soon_ns(t), &t->err),
        &t->err);
}

static const struct pawl_rows *rows_of(const struct outcome *o, const struct pawl_rows *rows,
                                       enum pawl_table table)
{
    size_t i = 0;

    while (i < RANDOM_TABLES && o->batch->tables[i].table != table)
        i++;
    PAWL_ASSERT(i < RANDOM_TABLES);
    return &rows[i];
}

static bool adds_row(const struct pawl_change *change, enum pawl_table table)
{
    return change->table == table && change->kind != PAWL_CHANGE_DELETE &&
           change->kind != PAWL_CHANGE_DELETE_OWNED;
}

static bool is_by_clock(int64_t us)
{
    return us > RANDOM_PAST_US && us < RANDOM_LATER_US;
}

static bool is_any_or(struct pawl_str wanted, struct pawl_str is)
{
    return wanted.len == 0 || pawl__str_equal(wanted, is);
}

static bool does_match(const struct pawl_bookmark_row *bookmark, const struct pawl_work_row *work)
{
    return pawl__str_equal(bookmark->hash, work->hash) &&
           is_any_or(work->correlation_id, bookmark->correlation_id) &&
           is_any_or(work->instance_id, bookmark->instance_id) &&
           is_any_or(work->activity_instance_id, bookmark->activity_instance_id);
}

static bool adds_bookmark_for(const struct pawl_commit *commit, const struct pawl_work_row *work)
{
    for (size_t i = 0; i < commit->change_count; i++)
        if (adds_row(&commit->changes[i], PAWL_TABLE_BOOKMARKS) &&
            does_match(commit->changes[i].row, work))
            return true;
    return false;
}

static bool is_one_for(const void *bookmarks, size_t count, const struct pawl_work_row *work)
{
    for (size_t i = 0; i < count; i++)
        if (does_match((const struct pawl_bookmark_row *)bookmarks + i, work))
            return true;
    return false;
}

/* One that is there before or at the end, or that a commit which was not refused added. */
static bool has_bookmark_for(const struct outcome *o, const struct pawl_work_row *work)
{
    const struct pawl_rows *left = rows_of(o, o->rows, PAWL_TABLE_BOOKMARKS);
    const struct random_table *before = &o->batch->tables[left - o->rows];

    if (is_one_for(before->rows, before->row_count, work) ||
        is_one_for(left->rows, left->count, work))
        return true;
    for (size_t i = 0; i < o->batch->count; i++)
        if (o->commits[i].status == PAWL_OK && adds_bookmark_for(&o->commits[i], work))
            return true;
    return false;
}

/* `wanted` of the reference. Work that was woken is due by a clock; that it is woken although its
 * bookmark came first does no harm. */
static bool is_same_due(const struct outcome *o, const struct pawl_work_row *found,
                        const struct pawl_work_row *wanted)
{
    if (found->due_us == wanted->due_us)
        return true;
    if (!is_by_clock(found->due_us))
        return false;
    return is_by_clock(wanted->due_us) ||
           (wanted->due_us == PAWL_TIME_NEVER && has_bookmark_for(o, found));
}

static bool is_same_row(const struct outcome *o, enum pawl_table table, const void *found,
                        const void *wanted)
{
    const struct pawl_table_info *info = pawl_table_info(table);
    uint32_t due = table == PAWL_TABLE_WORK ? pawl_table_column(table, "due_us") : UINT32_MAX;

    for (uint32_t i = 0; i < info->column_count; i++) {
        const void *a = (const char *)found + info->columns[i].offset,
                   *b = (const char *)wanted + info->columns[i].offset;

        if (i == due ? !is_same_due(o, found, wanted)
            : info->columns[i].type == PAWL_COLUMN_INT
                ? *(const int64_t *)a != *(const int64_t *)b
                : !pawl__str_equal(*(const struct pawl_str *)a, *(const struct pawl_str *)b))
            return false;
    }
    return true;
}

static void print_rows(enum pawl_table table, const char *what, const struct pawl_rows *rows)
{
    print_error("  %s:\n", what);
    for (size_t i = 0; i < rows->count; i++) {
        print_error("    ");
        print_row(table, (const char *)rows->rows + i * pawl_table_info(table)->row_size);
    }
}

static bool has_same_rows(const struct reference *r)
{
    const struct outcome *o = r->of;
    struct pawl_rows wanted[RANDOM_TABLES];
    bool all = true;

    find_rows(&r->of->t, r->store, o->batch, wanted);
    for (size_t i = 0; i < RANDOM_TABLES && (all || r->is_loud); i++) {
        enum pawl_table table = o->batch->tables[i].table;
        size_t size = pawl_table_info(table)->row_size;
        bool same = wanted[i].count == o->rows[i].count;

        for (size_t row = 0; same && row < wanted[i].count; row++)
            same = is_same_row(o, table, (const char *)o->rows[i].rows + row * size,
                               (const char *)wanted[i].rows + row * size);
        if (!same && r->is_loud) {
            print_rows(table, "there are", &o->rows[i]);
            print_rows(table, "in that order there would be", &wanted[i]);
        }
        all = all && same;
    }
    return all;
}

/* ---- results ----------------------------------------------------------------------------- */

static bool is_in(const struct pawl_commit *commit, struct pawl_str work_id)
{
    for (size_t i = 0; i < commit->change_count; i++)
        if (adds_row(&commit->changes[i], PAWL_TABLE_WORK) &&
            pawl__str_equal(((const struct pawl_work_row *)commit->changes[i].row)->id, work_id))
            return true;
    return false;
}

/* Looks for mail as it is now. */
static void note_mail(const struct pawl_commit *commit, const struct pawl_rows *work,
                      struct mail *mail)
{
    bool has_any = false, has_others = false;

    for (size_t i = 0; i < work->count; i++) {
        const struct pawl_work_row *row = (const struct pawl_work_row *)work->rows + i;

        if (row->due_us >= RANDOM_LATER_US ||
            !pawl__str_equal(row->instance_id, commit->instance->id))
            continue;
        has_any = true;
        has_others = has_others || !is_in(commit, row->id);
    }
    mail->may_be = mail->may_be || has_any;
    mail->may_not_be = mail->may_not_be || !has_others;
}

static bool tells_of_mail(const struct pawl_commit *commit)
{
    return commit->status == PAWL_OK &&
           (commit->kind == PAWL_COMMIT_CREATE || commit->kind == PAWL_COMMIT_ADVANCE);
}

/* Of those that have been applied so far. */
static void note_mail_of_all(struct reference *r, const int *order, int count,
                             const struct pawl_rows *rows)
{
    const struct pawl_rows *work = rows_of(r->of, rows, PAWL_TABLE_WORK);

    for (int i = 0; i < count; i++)
        if (tells_of_mail(&r->of->commits[order[i]]))
            note_mail(&r->of->commits[order[i]], work, &r->mail[order[i]]);
}

static bool is_right_about_mail(const struct reference *r)
{
    for (size_t i = 0; i < r->of->batch->count; i++) {
        const struct pawl_commit *commit = &r->of->commits[i];
        bool is_right = !tells_of_mail(commit) ||
                        (commit->has_mail
                             ? r->mail[i].may_be
                             : r->mail[i].may_not_be || (commit->flags & PAWL_COMMIT_UNASKED) != 0);

        if (is_right)
            continue;
        if (r->is_loud)
            print_error("  member %zu: has_mail is %d\n", i, commit->has_mail);
        return false;
    }
    return true;
}

static int apply_to(struct contract *t, struct pawl_store *store, struct pawl_commit *commit)
{
    assert_ok(pawl_store_apply(store, &commit, 1, soon_ns(t), &t->err), &t->err);
    return commit->status;
}

/* Whether this part of a commit is refused so, as it is now. Nothing is written: it ends with a
 * change that no store allows. */
static bool would_say(struct reference *r, struct pawl_commit part,
                      const struct pawl_change *change, const struct pawl_commit *said)
{
    struct pawl_change changes[2];

    part.change_count = 0;
    if (change)
        changes[part.change_count++] = *change;
    changes[part.change_count++] =
        (struct pawl_change){PAWL_CHANGE_PUT, PAWL_TABLE_INSTANCES, &part};
    part.changes = changes;
    return apply_to(&r->of->t, r->store, &part) == said->status &&
           part.has_expired == said->has_expired;
}

/* A key that has expired may be there as well. */
static bool would_be_taken(struct reference *r, const struct pawl_change *change,
                           const struct pawl_commit *said)
{
    const struct pawl_commit plain = {.kind = PAWL_COMMIT_PLAIN};
    struct pawl_change lasting = *change;
    struct pawl_reservation_row row;

    if (change->table != PAWL_TABLE_RESERVATIONS || change->kind != PAWL_CHANGE_INSERT)
        return false;
    row = *(const struct pawl_reservation_row *)change->row;
    row.expires_us = PAWL_TIME_NEVER;
    lasting.row = &row;
    return would_say(r, plain, &lasting, said);
}

/* Of several guards that do not hold any may say so. */
static bool may_be_refused_so(struct reference *r, const struct pawl_commit *commit)
{
    struct pawl_commit instance = *commit, done = *commit, stamp = *commit, change = {0};

    change.kind = stamp.kind = done.kind = PAWL_COMMIT_PLAIN;
    instance.done_count = stamp.done_count = 0;
    instance.stamp = done.stamp = pawl__str("");
    for (size_t i = 0; i < commit->change_count; i++)
        if (would_say(r, change, &commit->changes[i], commit) ||
            would_be_taken(r, &commit->changes[i], commit))
            return true;
    return would_say(r, instance, NULL, commit) || would_say(r, done, NULL, commit) ||
           would_say(r, stamp, NULL, commit);
}

static bool is_same_result(struct reference *r, int member)
{
    const struct pawl_commit *said = &r->of->commits[member];
    struct pawl_commit commit = r->of->batch->members[member].commit;

    if (said->status != PAWL_OK && !may_be_refused_so(r, said)) {
        (void)apply_to(&r->of->t, r->store, &commit);
        if (commit.status != said->status && r->is_loud)
            print_error("  member %d: %s, in that order %s\n", member,
                        pawl_error_name(said->status), pawl_error_name(commit.status));
        return commit.status == said->status && commit.has_expired == said->has_expired;
    }
    (void)apply_to(&r->of->t, r->store, &commit);
    if ((commit.status == PAWL_OK) == (said->status == PAWL_OK) &&
        (said->status != PAWL_OK || commit.cancel_requested == said->cancel_requested))
        return true;
    if (r->is_loud)
        print_error("  member %d: %s, cancel %d; in that order %s, cancel %d\n", member,
                    pawl_error_name(said->status), said->cancel_requested,
                    pawl_error_name(commit.status), commit.cancel_requested);
    return false;
}

/* ---- orders ------------------------------------------------------------------------------ */

/* How many members of this order are right; one more than there are: the rows are right, too. */
static int follow_order(struct outcome *o, const int *order, bool is_loud)
{
    struct reference r = {.of = o, .is_loud = is_loud};
    struct pawl_arena_mark mark = pawl__arena_mark(&o->t.arena);
    int count = (int)o->batch->count, at = 0;

    assert_ok(pawl__memory_database_new(o->t.env, &r.db, &o->t.err), &o->t.err);
    assert_ok(pawl__memory_store_open(r.db, o->t.env, &r.store, &o->t.err), &o->t.err);
    load_rows(&o->t, r.store, o->batch);
    while (at < count && is_same_result(&r, order[at])) {
        struct pawl_rows rows[RANDOM_TABLES];

        find_rows(&o->t, r.store, o->batch, rows);
        note_mail_of_all(&r, order, ++at, rows);
        pawl__arena_rewind(&o->t.arena, mark);
    }
    if (at == count) {
        note_mail_of_all(&r, order, at, o->rows);
        at += has_same_rows(&r) && is_right_about_mail(&r);
    }
    pawl_store_close(r.store);
    pawl__memory_database_free(r.db);
    pawl__arena_rewind(&o->t.arena, mark);
    return at;
}

static void swap(int *order, int a, int b)
{
    int kept = order[a];

    order[a] = order[b];
    order[b] = kept;
}

/* The next order that differs in its first `kept` + 1 members; false: there is none. */
static bool next_order(int *order, int count, int kept)
{
    int at, next = count - 1;

    /* The last of all that begin so: the rest descends. */
    for (int i = kept + 1; i < count; i++)
        for (int k = i + 1; k < count; k++)
            if (order[k] > order[i])
                swap(order, i, k);
    for (at = count - 2; at >= 0 && order[at] > order[at + 1]; at--)
        ;
    if (at < 0)
        return false;
    while (order[next] < order[at])
        next--;
    swap(order, at, next);
    for (int left = at + 1, right = count - 1; left < right; left++, right--)
        swap(order, left, right);
    return true;
}

static void report(struct outcome *o)
{
    int order[RANDOM_MEMBERS_MAX];

    print_random_batch(o->batch);
    for (size_t i = 0; i < o->batch->count; i++)
        print_error("member %zu: %s%s\n", i, pawl_error_name(o->commits[i].status),
                    o->commits[i].has_expired ? ", expired" : "");
    print_error("no order of its members gives that; in the order given:\n");
    for (int i = 0; i < RANDOM_MEMBERS_MAX; i++)
        order[i] = i;
    (void)follow_order(o, order, true);
}

static bool has_some_order(struct outcome *o)
{
    int order[RANDOM_MEMBERS_MAX], count = (int)o->batch->count, right;

    for (int i = 0; i < RANDOM_MEMBERS_MAX; i++)
        order[i] = i;
    do {
        right = follow_order(o, order, false);
        if (right > count)
            return true;
    } while (next_order(order, count, right));
    return false;
}

static bool batch_is_right(struct contract *t, uint64_t seed)
{
    struct outcome o = {.t = *t};
    struct pawl_commit *pointers[RANDOM_MEMBERS_MAX];
    bool is_right;

    pawl__arena_init(&o.t.arena, &t->env->alloc, ARENA_BYTES_MAX);
    o.batch = make_random_batch(&o.t, seed);
    for (size_t i = 0; i < o.batch->count; i++) {
        o.commits[i] = o.batch->members[i].commit;
        pointers[i] = &o.commits[i];
    }
    load_rows(&o.t, t->a, o.batch);
    assert_ok(pawl_store_apply(t->a, pointers, o.batch->count, soon_ns(t), &o.t.err), &o.t.err);
    find_rows(&o.t, t->b, o.batch, o.rows);
    is_right = has_some_order(&o);
    if (!is_right)
        report(&o);
    pawl__arena_release(&o.t.arena);
    return is_right;
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *value = getenv(name);

    return value ? strtoull(value, NULL, 10) : otherwise;
}

static void a_batch_is_what_its_members_are_in_some_order(struct contract *t)
{
    uint64_t from = setting("CONTRACT_FROM", test_rotation() % 1000000 * BATCHES),
             seeds = setting("CONTRACT_SEEDS", BATCHES), wrong = 0;

    print_message("CONTRACT_FROM=%llu CONTRACT_SEEDS=%llu\n", (unsigned long long)from,
                  (unsigned long long)seeds);
    for (uint64_t seed = from; seed < from + seeds; seed++)
        wrong += !batch_is_right(t, seed);
    if (wrong > 0)
        fail_msg("%llu of %llu batches are wrong", (unsigned long long)wrong,
                 (unsigned long long)seeds);
}

const struct contract_test contract_random[] = {
    CONTRACT_TEST(a_batch_is_what_its_members_are_in_some_order),
    {0},
};
