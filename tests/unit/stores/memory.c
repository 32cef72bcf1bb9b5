/* SPDX-License-Identifier: Apache-2.0 */
/* What the store's contract (tests/contract) does not show of the memory store. */
#include "base/arena.h"
#include "lib/test.h"
#include "os/baton.h"
#include "stores/stores.h"

#include <stdio.h>
#include <stdlib.h>

#define SECOND_NS INT64_C(1000000000)
#define SECOND_US INT64_C(1000000)
#define HOUR_US (3600 * SECOND_US)
#define ARENA_BYTES_MAX ((size_t)256 << 20)

/* ---- memory that runs out ------------------------------------------------------------------ */

/* A database of a baton's environment, whose memory is the test's. */
struct rig {
    struct test_allocator *alloc;
    struct pawl_baton *baton;
    struct pawl_env *env;
    struct pawl_memory_database *database;
    struct pawl_store *store;
    struct pawl_arena arena;
};

static void rig_close(struct rig *rig)
{
    pawl__arena_release(&rig->arena);
    pawl_store_close(rig->store);
    pawl__memory_database_free(rig->database);
    pawl__baton_free(rig->baton);
}

static int rig_open(struct rig *rig, struct test_allocator *alloc)
{
    int status;

    *rig = (struct rig){.alloc = alloc};
    pawl__arena_init(&rig->arena, &alloc->base, ARENA_BYTES_MAX);
    status = pawl__baton_new(&alloc->base, 1, NULL, &rig->baton);
    if (status == PAWL_OK)
        status = pawl__baton_env(rig->baton, "database", &rig->env);
    if (status == PAWL_OK)
        status = pawl__memory_database_new(rig->env, &rig->database, NULL);
    if (status == PAWL_OK)
        status = pawl__memory_store_open(rig->database, rig->env, &rig->store, NULL);
    return status;
}

static void fail_on_finding(void *ctx, const char *finding)
{
    (void)ctx;
    fail_msg("%s", finding);
}

static size_t count_of(struct rig *rig, enum pawl_table table)
{
    const struct pawl_query query = {.table = table, .flags = PAWL_QUERY_COUNT};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(rig->store, &query, &rig->arena, &rows, PAWL_FOREVER, NULL), NULL);
    return (size_t)rows.total;
}

/* What each table has; from now on memory is there. */
static void look(struct rig *rig, size_t counts[PAWL_TABLE_COUNT])
{
    test_allocator_fail(rig->alloc, 0, 0);
    for (int i = 0; i < PAWL_TABLE_COUNT; i++)
        counts[i] = count_of(rig, (enum pawl_table)i);
    assert_ok(pawl_store_check_backend(rig->store, fail_on_finding, NULL, PAWL_FOREVER, NULL),
              NULL);
}

/* A commit of every kind of change, with a NUL in each name; `set` makes them different. */
static int apply_much(struct rig *rig, const char *set, int kind, int64_t revision)
{
    char names[4][8];
    struct pawl_instance_row instance = {.owner = 1, .fence = 1, .revision = revision};
    struct pawl_bookmark_row bookmark = {.hash = pawl__str("h")};
    struct pawl_work_row work = {.due_us = PAWL_TIME_NEVER, .hash = pawl__str("h")};
    struct pawl_setting_row setting = {.value = pawl__str("value")};
    struct pawl_journal_row journal = {.instance_id = {"in\0stance", 9}};
    struct pawl_change changes[] = {
        {PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, &work},
        {PAWL_CHANGE_INSERT, PAWL_TABLE_BOOKMARKS, &bookmark},
        {PAWL_CHANGE_PUT, PAWL_TABLE_SETTINGS, &setting},
        {PAWL_CHANGE_DELETE, PAWL_TABLE_SETTINGS, &setting},
        {PAWL_CHANGE_ADD, PAWL_TABLE_SETTINGS, &setting},
        {PAWL_CHANGE_ADD, PAWL_TABLE_SETTINGS, &setting},
        {PAWL_CHANGE_DELETE_OWNED, PAWL_TABLE_JOURNAL, &journal},
    };
    struct pawl_commit commit = {.kind = (enum pawl_commit_kind)kind,
                                 .instance = &instance,
                                 .stamp = pawl__str("s"),
                                 .stamp_value = revision,
                                 .changes = changes,
                                 .change_count = sizeof changes / sizeof changes[0]};
    struct pawl_commit *commits[] = {&commit};
    int status;

    for (int i = 0; i < 4; i++)
        memcpy(names[i], (char[8]){'n', '\0', set[0], (char)('0' + i)}, sizeof names[i]);
    instance.id = journal.instance_id;
    bookmark.id = pawl__str_make(names[0], 4);
    bookmark.instance_id = work.instance_id = instance.id;
    work.id = pawl__str_make(names[1], 4);
    setting.key = pawl__str_make(names[2], 4);
    instance.state = pawl__str_make(names[3], 4);
    status = pawl_store_apply(rig->store, commits, 1, PAWL_FOREVER, NULL);
    return status == PAWL_OK ? commit.status : status;
}

static int sweep_apply(struct test_allocator *alloc, void *arg)
{
    size_t before[PAWL_TABLE_COUNT] = {0}, after[PAWL_TABLE_COUNT];
    struct rig rig;
    int status = rig_open(&rig, alloc);
    bool created = false;

    (void)arg;
    if (status != PAWL_OK)
        goto out;
    status = apply_much(&rig, "a", PAWL_COMMIT_CREATE, 0);
    created = status == PAWL_OK;
    if (created)
        status = apply_much(&rig, "b", PAWL_COMMIT_ADVANCE, 1);
    if (status == PAWL_OK)
        goto out;
    /* Exactly what the last commit that succeeded left. */
    look(&rig, after);
    before[PAWL_TABLE_INSTANCES] = before[PAWL_TABLE_BOOKMARKS] = before[PAWL_TABLE_WORK] = created;
    before[PAWL_TABLE_SETTINGS] = before[PAWL_TABLE_STAMPS] = created;
    assert_memory_equal(before, after, sizeof before);
    /* And it goes on as if nothing had been. */
    assert_code(apply_much(&rig, "c", created ? PAWL_COMMIT_ADVANCE : PAWL_COMMIT_CREATE, created),
                PAWL_OK);
out:
    rig_close(&rig);
    return status;
}

static void a_commit_without_memory_leaves_nothing(void **state)
{
    (void)state;
    test_sweep_allocations(sweep_apply, NULL, 500);
}

/* Enough rows for indexes to grow in the middle of a commit. */
static int apply_many(struct rig *rig, int count)
{
    enum { MOST = 100 };
    static struct pawl_bookmark_row rows[MOST];
    static struct pawl_change changes[MOST];
    static char ids[MOST][8];
    struct pawl_commit commit = {.changes = changes, .change_count = (size_t)count};
    struct pawl_commit *commits[] = {&commit};
    int status;

    assert_true(count <= MOST);
    for (int i = 0; i < count; i++) {
        int len = snprintf(ids[i], sizeof ids[i], "%d", i);

        rows[i] = (struct pawl_bookmark_row){
            .id = {ids[i], (size_t)len}, .instance_id = {ids[i], 1}, .hash = pawl__str("h")};
        changes[i] = (struct pawl_change){PAWL_CHANGE_INSERT, PAWL_TABLE_BOOKMARKS, &rows[i]};
    }
    status = pawl_store_apply(rig->store, commits, 1, PAWL_FOREVER, NULL);
    return status == PAWL_OK ? commit.status : status;
}

static int sweep_growth(struct test_allocator *alloc, void *arg)
{
    size_t counts[PAWL_TABLE_COUNT];
    struct rig rig;
    int status = rig_open(&rig, alloc);

    (void)arg;
    if (status == PAWL_OK) {
        status = apply_many(&rig, 40);
        if (status != PAWL_OK) {
            look(&rig, counts);
            assert_int_equal(counts[PAWL_TABLE_BOOKMARKS], 0);
            assert_code(apply_many(&rig, 100), PAWL_OK);
            look(&rig, counts);
            assert_int_equal(counts[PAWL_TABLE_BOOKMARKS], 100);
        }
    }
    rig_close(&rig);
    return status;
}

static void an_index_that_cannot_grow_drops_the_commit(void **state)
{
    (void)state;
    test_sweep_allocations(sweep_growth, NULL, 500);
}

static int claim_of(struct rig *rig, const char *id, struct pawl_claim *claim)
{
    int64_t now;

    *claim = (struct pawl_claim){.id = pawl__str_make(id, strlen(id) + 2)};
    return pawl_store_claim(rig->store, 7, claim, 1, &rig->arena, &now, PAWL_FOREVER, NULL);
}

/* An instance nobody has, and mail for it; names have a NUL in them. */
static int fill(struct rig *rig)
{
    const struct pawl_instance_row instance = {
        .id = {"i\0d", 3}, .runnable = 1, .state = {"state", 5}};
    const struct pawl_work_row work = {.id = {"w\0k", 3},
                                       .instance_id = instance.id,
                                       .kind = {"k\0d", 3},
                                       .expires_us = PAWL_TIME_NEVER};
    const struct pawl_change change = {PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, &work};
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_CREATE, .instance = &instance, .changes = &change, .change_count = 1};
    struct pawl_commit *commits[] = {&commit};
    int status = pawl_store_apply(rig->store, commits, 1, PAWL_FOREVER, NULL);

    return status == PAWL_OK ? commit.status : status;
}

static int sweep_claim(struct test_allocator *alloc, void *arg)
{
    struct pawl_claim claim = {0};
    struct rig rig;
    int status = rig_open(&rig, alloc);

    (void)arg;
    if (status == PAWL_OK)
        status = fill(&rig);
    if (status != PAWL_OK)
        goto out;
    status = claim_of(&rig, "i\0d", &claim);
    if (status == PAWL_OK) {
        assert_int_equal(claim.mail_count, 1);
        goto out;
    }
    assert_int_equal(claim.row.fence, 0); /* unwritten */
    test_allocator_fail(alloc, 0, 0);
    assert_ok(claim_of(&rig, "i\0d", &claim), NULL);
    assert_int_equal(claim.row.fence, 2); /* the one that failed has claimed nothing */
out:
    rig_close(&rig);
    return status;
}

static void a_claim_without_memory_claims_nothing(void **state)
{
    (void)state;
    test_sweep_allocations(sweep_claim, NULL, 500);
}

static int sweep_take(struct test_allocator *alloc, void *arg)
{
    const struct pawl_take take = {.owner = 7, .limit = 5, .kind = {"k\0d", 3}};
    struct pawl_lease lease = {.node_id = {"n\0d", 3}, .ttl_us = HOUR_US, .info = {"info", 4}};
    struct pawl_taken taken = {0};
    struct rig rig;
    int status = rig_open(&rig, alloc);

    (void)arg;
    if (status == PAWL_OK)
        status = fill(&rig);
    for (int i = 0; i < 7 && status == PAWL_OK; i++)
        status = pawl_store_lease(rig.store, &lease, PAWL_FOREVER, NULL);
    if (status != PAWL_OK)
        goto out;
    assert_int_equal(lease.incarnation, 7); /* alive: what it has taken is not taken again */
    status = pawl_store_take(rig.store, &take, &rig.arena, &taken, PAWL_FOREVER, NULL);
    if (status == PAWL_OK) {
        assert_int_equal(taken.runnable_count, 1);
        assert_int_equal(taken.work_count, 1);
        goto out;
    }
    test_allocator_fail(alloc, 0, 0);
    assert_ok(pawl_store_take(rig.store, &take, &rig.arena, &taken, PAWL_FOREVER, NULL), NULL);
    assert_int_equal(taken.work_count, 1); /* the one that failed has taken nothing */
out:
    rig_close(&rig);
    return status;
}

static void a_take_without_memory_takes_nothing(void **state)
{
    (void)state;
    test_sweep_allocations(sweep_take, NULL, 500);
}

static int load_row(void *ctx, enum pawl_table table, const void *row, struct pawl_error *err)
{
    return pawl_store_load(ctx, table, row, 1, PAWL_FOREVER, err);
}

static int sweep_look(struct test_allocator *alloc, void *arg)
{
    const struct pawl_datum values[] = {{.text = {"w\0k", 3}}, {.text = {"x", 1}}};
    const struct pawl_condition conditions[] = {
        {.column = 0, .compare = PAWL_IN, .values = values, .value_count = 2},
        {.column = 0, .compare = PAWL_EQ, .value = {.text = {"w\0k", 3}}}};
    const struct pawl_work_row after = {.id = {"a\0", 2}};
    const struct pawl_query query = {.table = PAWL_TABLE_WORK,
                                     .flags = PAWL_QUERY_TOTAL,
                                     .conditions = conditions,
                                     .condition_count = 2,
                                     .after = &after};
    struct pawl_store *copy = NULL;
    struct pawl_rows rows;
    struct rig rig;
    int status = rig_open(&rig, alloc);

    (void)arg;
    if (status == PAWL_OK)
        status = fill(&rig);
    if (status == PAWL_OK)
        status = pawl_store_find(rig.store, &query, &rig.arena, &rows, PAWL_FOREVER, NULL);
    if (status == PAWL_OK)
        assert_int_equal(rows.count, 1);
    if (status == PAWL_OK)
        status = pawl__memory_store_new(rig.env, &copy, NULL);
    if (status == PAWL_OK)
        status = pawl_store_snapshot(rig.store, load_row, copy, PAWL_FOREVER, NULL);
    pawl_store_close(copy);
    rig_close(&rig);
    return status;
}

static void looking_and_restoring_without_memory_say_so(void **state)
{
    (void)state;
    test_sweep_allocations(sweep_look, NULL, 500);
}

/* ---- nodes that stop ------------------------------------------------------------------------ */

struct crash {
    struct test_allocator alloc;
    struct pawl_baton *baton;
    struct pawl_env *envs[3]; /* the database's, and those of two nodes */
    struct pawl_memory_database *database;
    struct pawl_store *stores[2];
    int statuses[2];
    int64_t ended_ns;
};

static void crash_open(struct crash *c, uint64_t seed)
{
    static const char *const names[] = {"database", "node-a", "node-b"};

    *c = (struct crash){0};
    test_allocator_init(&c->alloc);
    assert_ok(pawl__baton_new(&c->alloc.base, seed, NULL, &c->baton), NULL);
    for (int i = 0; i < 3; i++)
        assert_ok(pawl__baton_env(c->baton, names[i], &c->envs[i]), NULL);
    assert_ok(pawl__memory_database_new(c->envs[0], &c->database, NULL), NULL);
    for (int i = 0; i < 2; i++)
        assert_ok(pawl__memory_store_open(c->database, c->envs[i + 1], &c->stores[i], NULL), NULL);
}

static void crash_close(struct crash *c)
{
    for (int i = 0; i < 2; i++)
        pawl_store_close(c->stores[i]);
    pawl__memory_database_free(c->database);
    pawl__baton_free(c->baton);
    assert_int_equal(c->alloc.live_count, 0);
}

static int put_setting(struct pawl_store *store, const char *key)
{
    const struct pawl_setting_row row = {.key = pawl__str(key)};
    const struct pawl_change change = {PAWL_CHANGE_PUT, PAWL_TABLE_SETTINGS, &row};
    struct pawl_commit commit = {.changes = &change, .change_count = 1};
    struct pawl_commit *commits[] = {&commit};
    int status = pawl_store_apply(store, commits, 1, PAWL_FOREVER, NULL);

    return status == PAWL_OK ? commit.status : status;
}

static void every_call_of_a_stopped_node_is_refused_and_does_nothing(void **state)
{
    struct pawl_store_status status;
    struct pawl_lease lease = {.node_id = pawl__str("n")};
    struct pawl_claim claim = {.id = pawl__str("i")};
    const struct pawl_take take = {.owner = 1};
    const struct pawl_query query = {.table = PAWL_TABLE_SETTINGS};
    struct pawl_wake wake = {0};
    struct pawl_arena arena;
    struct pawl_taken taken;
    struct pawl_rows rows;
    struct crash c;
    int64_t now;

    (void)state;
    crash_open(&c, 1);
    pawl__arena_init(&arena, &c.alloc.base, ARENA_BYTES_MAX);
    pawl__baton_env_stop(c.envs[1]);
    assert_code(pawl_store_status(c.stores[0], &status, PAWL_FOREVER, NULL), PAWL_ESTOPPED);
    assert_code(pawl_store_lease(c.stores[0], &lease, PAWL_FOREVER, NULL), PAWL_ESTOPPED);
    assert_code(pawl_store_claim(c.stores[0], 1, &claim, 1, &arena, &now, PAWL_FOREVER, NULL),
                PAWL_ESTOPPED);
    assert_code(put_setting(c.stores[0], "k"), PAWL_ESTOPPED);
    assert_code(pawl_store_take(c.stores[0], &take, &arena, &taken, PAWL_FOREVER, NULL),
                PAWL_ESTOPPED);
    assert_code(pawl_store_find(c.stores[0], &query, &arena, &rows, PAWL_FOREVER, NULL),
                PAWL_ESTOPPED);
    assert_code(pawl_store_wait(c.stores[0], &wake, PAWL_FOREVER, NULL), PAWL_ESTOPPED);
    assert_code(pawl_store_snapshot(c.stores[0], load_row, NULL, PAWL_FOREVER, NULL),
                PAWL_ESTOPPED);
    assert_code(pawl_store_load(c.stores[0], PAWL_TABLE_NODES, NULL, 0, PAWL_FOREVER, NULL),
                PAWL_ESTOPPED);
    assert_code(pawl_store_check_backend(c.stores[0], fail_on_finding, NULL, PAWL_FOREVER, NULL),
                PAWL_ESTOPPED);
    assert_code(put_setting(c.stores[1], "other"), PAWL_OK);
    assert_ok(pawl_store_find(c.stores[1], &query, &arena, &rows, PAWL_FOREVER, NULL), NULL);
    assert_int_equal(rows.count, 1);
    pawl__arena_release(&arena);
    crash_close(&c);
}

static void write_until_stopped(void *arg)
{
    struct crash *c = arg;

    while (c->statuses[0] == PAWL_OK)
        c->statuses[0] = put_setting(c->stores[0], "a");
}

static void write_and_stop_the_other(void *arg)
{
    struct crash *c = arg;

    for (int i = 0; i < 20 && c->statuses[1] == PAWL_OK; i++) {
        if (i == 10)
            pawl__baton_env_stop(c->envs[1]);
        c->statuses[1] = put_setting(c->stores[1], "b");
    }
}

static void a_node_that_crashes_in_a_call_leaves_nothing_locked(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct pawl_error err = PAWL_ERROR_INIT;
        struct pawl_thread *threads[2];
        struct crash c;

        crash_open(&c, seed);
        assert_ok(pawl_thread_start(c.envs[1], "a", write_until_stopped, &c, &threads[0], &err),
                  &err);
        assert_ok(
            pawl_thread_start(c.envs[2], "b", write_and_stop_the_other, &c, &threads[1], &err),
            &err);
        assert_ok(pawl__baton_run(c.baton, &err), &err);
        for (int i = 0; i < 2; i++)
            pawl_thread_join(c.envs[i + 1], threads[i]);
        assert_code(c.statuses[0], PAWL_ESTOPPED);
        assert_code(c.statuses[1], PAWL_OK);
        crash_close(&c);
    }
}

static void wait_for_ever(void *arg)
{
    struct crash *c = arg;
    struct pawl_wake wake = {0};

    while (c->statuses[0] == PAWL_OK)
        c->statuses[0] = pawl_store_wait(c->stores[0], &wake, PAWL_FOREVER, NULL);
    c->ended_ns = pawl_env_monotonic_ns(c->envs[0]);
}

static void stop_after_a_minute(void *arg)
{
    struct crash *c = arg;

    c->statuses[1] =
        pawl_env_sleep_until(c->envs[2], PAWL_BATON_MONOTONIC_START_NS + 60 * SECOND_NS);
    pawl__baton_env_stop(c->envs[1]);
}

static void a_node_that_stops_while_it_waits_soon_notices(void **state)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_thread *threads[2];
    struct crash c;

    (void)state;
    crash_open(&c, 1);
    assert_ok(pawl_thread_start(c.envs[1], "a", wait_for_ever, &c, &threads[0], &err), &err);
    assert_ok(pawl_thread_start(c.envs[2], "b", stop_after_a_minute, &c, &threads[1], &err), &err);
    assert_ok(pawl__baton_run(c.baton, &err), &err);
    for (int i = 0; i < 2; i++)
        pawl_thread_join(c.envs[i + 1], threads[i]);
    assert_code(c.statuses[0], PAWL_ESTOPPED);
    assert_in_range(c.ended_ns - PAWL_BATON_MONOTONIC_START_NS, 60 * SECOND_NS, 61 * SECOND_NS);
    crash_close(&c);
}

/* ---- many rows ------------------------------------------------------------------------------ */

/* Takes all of it in pages, and finds each row by its indexes: no step looks at all rows. */
static void a_hundred_thousand_rows_are_found_taken_and_deleted(void **state)
{
    enum { COUNT = 100000, PAGE = 500 };
    struct pawl_lease lease = {.node_id = pawl__str("n"), .ttl_us = HOUR_US};
    struct pawl_take take = {.limit = PAGE};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_work_row *rows = calloc(COUNT, sizeof *rows);
    char(*ids)[16] = calloc(COUNT, sizeof *ids);
    struct pawl_str done[PAGE];
    struct pawl_store *store;
    struct pawl_arena arena;
    struct pawl_env *env;
    int64_t last_us = 0;
    int total = 0;

    (void)state;
    assert_true(rows && ids);
    assert_ok(pawl_system_env_open(&env, &err), &err);
    assert_ok(pawl__memory_store_new(env, &store, &err), &err);
    pawl__arena_init(&arena, &env->alloc, ARENA_BYTES_MAX);
    for (int i = 0; i < COUNT; i++) {
        int len = snprintf(ids[i], sizeof ids[i], "w%d", i);

        rows[i] = (struct pawl_work_row){.id = {ids[i], (size_t)len},
                                         .instance_id = {ids[i], (size_t)len},
                                         .hash = {ids[i], (size_t)len},
                                         .due_us = (int64_t)i * 7919 % COUNT + 1,
                                         .expires_us = PAWL_TIME_NEVER};
    }
    assert_ok(pawl_store_load(store, PAWL_TABLE_WORK, rows, COUNT, PAWL_FOREVER, &err), &err);
    assert_ok(pawl_store_lease(store, &lease, PAWL_FOREVER, &err), &err);
    take.owner = lease.incarnation;
    for (;;) {
        struct pawl_commit commit = {.done = done, .done_owner = take.owner};
        struct pawl_commit *commits[] = {&commit};
        struct pawl_taken taken;

        pawl__arena_reset(&arena);
        assert_ok(pawl_store_take(store, &take, &arena, &taken, PAWL_FOREVER, &err), &err);
        if (taken.work_count == 0)
            break;
        for (size_t i = 0; i < taken.work_count; i++) {
            assert_int_equal(taken.work[i].due_us, last_us + 1);
            last_us = taken.work[i].due_us;
            done[i] = taken.work[i].id;
        }
        commit.done_count = taken.work_count;
        assert_ok(pawl_store_apply(store, commits, 1, PAWL_FOREVER, &err), &err);
        assert_code(commit.status, PAWL_OK);
        total += (int)taken.work_count;
    }
    assert_int_equal(total, COUNT);
    assert_ok(pawl_store_check_backend(store, fail_on_finding, NULL, PAWL_FOREVER, &err), &err);
    pawl__arena_release(&arena);
    pawl_store_close(store);
    pawl_system_env_close(env);
    free(ids);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_commit_without_memory_leaves_nothing),
        cmocka_unit_test(an_index_that_cannot_grow_drops_the_commit),
        cmocka_unit_test(a_claim_without_memory_claims_nothing),
        cmocka_unit_test(a_take_without_memory_takes_nothing),
        cmocka_unit_test(looking_and_restoring_without_memory_say_so),
        cmocka_unit_test(every_call_of_a_stopped_node_is_refused_and_does_nothing),
        cmocka_unit_test(a_node_that_crashes_in_a_call_leaves_nothing_locked),
        cmocka_unit_test(a_node_that_stops_while_it_waits_soon_notices),
        cmocka_unit_test(a_hundred_thousand_rows_are_found_taken_and_deleted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
