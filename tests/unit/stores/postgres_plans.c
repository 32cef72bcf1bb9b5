/* SPDX-License-Identifier: Apache-2.0 */
/*
 * That the PostgreSQL store reads the rows it needs and no others, although its plans are made
 * while the tables are empty and are kept while they fill, and nobody has gathered statistics. What
 * was read is what the server counts of its indexes' entries.
 */
#include "base/arena.h"
#include "lib/test.h"
#include "servers/postgres.h"
#include "stores/stores.h"

#include <stdio.h>
#include <stdlib.h>

#define ROWS 4000
#define CALLS 10
/* Of all rows: instances that were loaded together changed at one time. */
#define UPDATED_US 7
/* An entry or two for each row that a call asks for; a call that read a table would need ROWS. */
#define READ_MAX "1000"

/* When the last connection is gone, all that was read is counted. */
#define CHECK                                                                                      \
    "DO $$ DECLARE n bigint; t text; BEGIN LOOP PERFORM pg_stat_clear_snapshot(); EXIT WHEN NOT "  \
    "EXISTS (SELECT 1 FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> "     \
    "pg_backend_pid()); PERFORM pg_sleep(0.01); END LOOP; SELECT sum(idx_tup_read), "              \
    "string_agg(indexrelname || ' ' || idx_tup_read, ', ') INTO n, t FROM pg_stat_user_indexes "   \
    "WHERE idx_tup_read > 0; IF n > " READ_MAX " THEN RAISE EXCEPTION 'read % entries: %', n, t; " \
    "END IF; SELECT sum(seq_tup_read) INTO n FROM pg_stat_user_tables WHERE relname IN "           \
    "('pawl_instances', 'pawl_work', 'pawl_bookmarks', 'pawl_journal', "                           \
    "'pawl_reservations'); IF n > " READ_MAX                                                       \
    " THEN RAISE EXCEPTION 'read % rows of whole tables', n; END IF; END $$"

struct fixture {
    struct test_postgres server;
    struct pawl_env *env;
    struct pawl_store *store;
    struct pawl_arena arena;
    struct pawl_error err;
    int64_t me;
    bool is_full;
};

static int64_t soon(struct fixture *f)
{
    return pawl_env_monotonic_ns(f->env) + INT64_C(60000000000);
}

static int set_up(void **state)
{
    const struct pawl_store_options options = {.flags = PAWL_STORE_OPEN_CREATE};
    struct fixture *f = calloc(1, sizeof *f);
    struct pawl_lease lease = {.kind = PAWL_LEASE_JOIN,
                               .node_id = pawl__str("a"),
                               .ttl_us = INT64_C(3600000000),
                               .info = pawl__str("{}")};
    char uri[256];

    if (!f)
        return -1;
    *state = f;
    test_postgres_start(&f->server, NULL);
    /* Nobody gathers statistics meanwhile. */
    test_postgres_sql(&f->server, "ALTER SYSTEM SET autovacuum = off");
    test_postgres_sql(&f->server, "SELECT pg_reload_conf()");
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    pawl__arena_init(&f->arena, &f->env->alloc, (size_t)64 << 20);
    (void)test_postgres_uri(&f->server, "postgres", uri, sizeof uri);
    assert_ok(pawl__postgres_store_open(f->env, pawl__str(uri), &options, &f->store, &f->err),
              &f->err);
    assert_ok(pawl_store_lease(f->store, &lease, soon(f), &f->err), &f->err);
    f->me = lease.incarnation;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    pawl_store_close(f->store);
    pawl__arena_release(&f->arena);
    pawl_system_env_close(f->env);
    test_postgres_stop(&f->server);
    free(f);
    return 0;
}

static struct pawl_str name(struct fixture *f, const char *what, int number)
{
    return pawl__str(pawl__arena_printf(&f->arena, "%s-%05d", what, number));
}

/* Events of one kind that are parked: half of them for orders, half for instances. */
static void fill_parked(struct fixture *f)
{
    struct pawl_work_row *work = calloc(ROWS, sizeof *work);

    assert_non_null(work);
    for (int i = 0; i < ROWS; i++) {
        work[i] = (struct pawl_work_row){.id = name(f, "p", i),
                                         .kind = pawl__str(i % 2 ? "stimulus" : "resume"),
                                         .hash = pawl__str("shipped"),
                                         .due_us = PAWL_TIME_NEVER,
                                         .expires_us = PAWL_TIME_NEVER / 2};
        if (i % 2)
            work[i].correlation_id = name(f, "order", i);
        else
            work[i].instance_id = name(f, "parked", i);
    }
    assert_ok(pawl_store_load(f->store, PAWL_TABLE_WORK, work, ROWS, soon(f), &f->err), &f->err);
    free(work);
}

/* A new bookmark of an order for which nothing is parked. */
static void add_bookmark(struct fixture *f, int number)
{
    const struct pawl_bookmark_row bookmark = {.id = name(f, "new", number),
                                               .instance_id = name(f, "i", number),
                                               .hash = pawl__str("shipped"),
                                               .correlation_id = name(f, "mine", number)};
    const struct pawl_change changes[] = {
        {PAWL_CHANGE_PUT, PAWL_TABLE_BOOKMARKS, &bookmark},
    };
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN, .changes = changes, .change_count = 1};
    struct pawl_commit *list[] = {&commit};

    assert_ok(pawl_store_apply(f->store, list, 1, soon(f), &f->err), &f->err);
    assert_int_equal(commit.status, PAWL_OK);
}

/* Instances that all wait for the same event and for a time that is far away. */
static void fill(struct fixture *f, int from, int to)
{
    struct pawl_instance_row *instances = calloc(ROWS, sizeof *instances);
    struct pawl_bookmark_row *bookmarks = calloc(ROWS, sizeof *bookmarks);
    struct pawl_work_row *work = calloc(ROWS, sizeof *work);
    struct pawl_reservation_row *keys = calloc(ROWS, sizeof *keys);

    assert_true(instances && bookmarks && work && keys);
    for (int i = 0; i < to - from; i++) {
        int number = from + i;

        instances[i] = (struct pawl_instance_row){.id = name(f, "i", number),
                                                  .definition_id = pawl__str("d"),
                                                  .fence = 1,
                                                  .revision = 1,
                                                  .updated_us = UPDATED_US,
                                                  .state = pawl__str("{}")};
        bookmarks[i] = (struct pawl_bookmark_row){.id = name(f, "b", number),
                                                  .instance_id = instances[i].id,
                                                  .hash = pawl__str("paid"),
                                                  .correlation_id = name(f, "order", number)};
        work[i] = (struct pawl_work_row){.id = name(f, "w", number),
                                         .kind = pawl__str("timer"),
                                         .instance_id = instances[i].id,
                                         .due_us = PAWL_TIME_NEVER / 2 + i,
                                         .expires_us = PAWL_TIME_NEVER};
        keys[i] = (struct pawl_reservation_row){.key = name(f, "k", number),
                                                .expires_us = PAWL_TIME_NEVER / 2};
    }
    assert_ok(pawl_store_load(f->store, PAWL_TABLE_RESERVATIONS, keys, (size_t)(to - from), soon(f),
                              &f->err),
              &f->err);
    assert_ok(pawl_store_load(f->store, PAWL_TABLE_INSTANCES, instances, (size_t)(to - from),
                              soon(f), &f->err),
              &f->err);
    assert_ok(pawl_store_load(f->store, PAWL_TABLE_BOOKMARKS, bookmarks, (size_t)(to - from),
                              soon(f), &f->err),
              &f->err);
    assert_ok(
        pawl_store_load(f->store, PAWL_TABLE_WORK, work, (size_t)(to - from), soon(f), &f->err),
        &f->err);
    free(instances);
    free(bookmarks);
    free(work);
    free(keys);
}

/* Claims the instance and commits its next revision, by which one bookmark goes. */
static void claim_and_commit(struct fixture *f, int number)
{
    struct pawl_bookmark_row bookmark = {.id = name(f, "b", number)};
    struct pawl_claim claim = {.id = name(f, "i", number)};
    const struct pawl_change change = {PAWL_CHANGE_DELETE, PAWL_TABLE_BOOKMARKS, &bookmark};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE,
                                 .flags = PAWL_COMMIT_RELEASE,
                                 .instance = &claim.row,
                                 .changes = &change,
                                 .change_count = 1};
    struct pawl_commit *list[] = {&commit};
    int64_t now_us = 0;

    assert_ok(pawl_store_claim(f->store, f->me, &claim, 1, &f->arena, &now_us, soon(f), &f->err),
              &f->err);
    if (claim.status == PAWL_ENOTFOUND)
        claim.row = (struct pawl_instance_row){.id = claim.id, .owner = f->me, .fence = 1};
    assert_ok(pawl_store_apply(f->store, list, 1, soon(f), &f->err), &f->err);
    assert_int_equal(commit.status, claim.status == PAWL_OK ? PAWL_OK : PAWL_ECONFLICT);
}

/* Commits the next revision of several instances in one batch; their bookmarks go. */
static void claim_and_commit_several(struct fixture *f, int number)
{
    enum { COUNT = 3 };
    struct pawl_claim claims[COUNT];
    struct pawl_bookmark_row bookmarks[COUNT];
    struct pawl_work_row work[COUNT];
    struct pawl_reservation_row reservations[COUNT];
    struct pawl_change changes[COUNT][4];
    struct pawl_commit commits[COUNT], *list[COUNT];
    int64_t now_us = 0;

    for (int i = 0; i < COUNT; i++)
        claims[i] = (struct pawl_claim){.id = name(f, "i", number + CALLS * (i + 1))};
    assert_ok(
        pawl_store_claim(f->store, f->me, claims, COUNT, &f->arena, &now_us, soon(f), &f->err),
        &f->err);
    for (int i = 0; i < COUNT; i++) {
        if (claims[i].status == PAWL_ENOTFOUND)
            claims[i].row =
                (struct pawl_instance_row){.id = claims[i].id, .owner = f->me, .fence = 1};
        bookmarks[i] = (struct pawl_bookmark_row){.id = name(f, "b", number + CALLS * (i + 1)),
                                                  .instance_id = claims[i].id};
        changes[i][0] =
            (struct pawl_change){PAWL_CHANGE_DELETE, PAWL_TABLE_BOOKMARKS, &bookmarks[i]};
        changes[i][1] =
            (struct pawl_change){PAWL_CHANGE_DELETE_OWNED, PAWL_TABLE_BOOKMARKS, &bookmarks[i]};
        work[i] = (struct pawl_work_row){.instance_id = claims[i].id};
        changes[i][2] = (struct pawl_change){PAWL_CHANGE_DELETE_OWNED, PAWL_TABLE_WORK, &work[i]};
        reservations[i] = (struct pawl_reservation_row){.instance_id = claims[i].id};
        changes[i][3] = (struct pawl_change){PAWL_CHANGE_DELETE_OWNED, PAWL_TABLE_RESERVATIONS,
                                             &reservations[i]};
        commits[i] = (struct pawl_commit){.kind = PAWL_COMMIT_ADVANCE,
                                          .flags = PAWL_COMMIT_RELEASE,
                                          .instance = &claims[i].row,
                                          .changes = changes[i],
                                          .change_count = 4};
        list[i] = &commits[i];
    }
    assert_ok(pawl_store_apply(f->store, list, COUNT, soon(f), &f->err), &f->err);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(commits[i].status, claims[i].status == PAWL_OK ? PAWL_OK : PAWL_ECONFLICT);
}

/* Visits instances, and commits the next revision of each by itself or of all in one batch. */
static void visit_and_commit(struct fixture *f, int number, bool together)
{
    enum { COUNT = 3 };
    struct pawl_claim claims[COUNT];
    struct pawl_commit commits[COUNT], *list[COUNT];
    struct pawl_reservation_row keys[COUNT];
    struct pawl_change changes[COUNT];
    int64_t now_us = 0;

    for (int i = 0; i < COUNT; i++) {
        keys[i] = (struct pawl_reservation_row){
            .key = name(f, together ? "both" : "one", number * COUNT + i + f->is_full * 100000),
            .expires_us = PAWL_TIME_NEVER / 2};
        changes[i] = (struct pawl_change){PAWL_CHANGE_INSERT, PAWL_TABLE_RESERVATIONS, &keys[i]};
        claims[i] = (struct pawl_claim){.id = name(f, "i", number + CALLS * (i + 5 + together * 5)),
                                        .hash = pawl__str("paid"),
                                        .visits = true};
        assert_ok(
            pawl_store_claim(f->store, f->me, &claims[i], 1, &f->arena, &now_us, soon(f), &f->err),
            &f->err);
        assert_int_equal(claims[i].status == PAWL_OK, f->is_full);
        if (!f->is_full)
            claims[i].row =
                (struct pawl_instance_row){.id = claims[i].id, .owner = f->me, .fence = 2};
        commits[i] = (struct pawl_commit){.kind = PAWL_COMMIT_ADVANCE,
                                          .flags = PAWL_COMMIT_RELEASE | PAWL_COMMIT_VISITED,
                                          .visited_us = UPDATED_US,
                                          .changes = &changes[i],
                                          .change_count = 1,
                                          .instance = &claims[i].row};
        list[i] = &commits[i];
    }
    for (int i = 0; i < COUNT; i += together ? COUNT : 1)
        assert_ok(pawl_store_apply(f->store, list + i, together ? COUNT : 1, soon(f), &f->err),
                  &f->err);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(commits[i].status, claims[i].status == PAWL_OK ? PAWL_OK : PAWL_ECONFLICT);
}

static void take(struct fixture *f)
{
    const struct pawl_take what = {.owner = f->me, .limit = 10};
    struct pawl_taken taken;

    assert_ok(pawl_store_take(f->store, &what, &f->arena, &taken, soon(f), &f->err), &f->err);
    assert_int_equal(taken.work_count, 0);
}

/* Those of one instance, or those of one order. */
static void find(struct fixture *f, const char *column, struct pawl_str value, size_t expected)
{
    const struct pawl_condition conditions[] = {
        {.column = pawl_table_column(PAWL_TABLE_BOOKMARKS, "hash"),
         .value = {.text = pawl__str("paid")}},
        {.column = pawl_table_column(PAWL_TABLE_BOOKMARKS, column), .value = {.text = value}}};
    const struct pawl_query query = {.table = PAWL_TABLE_BOOKMARKS,
                                     .flags = PAWL_QUERY_BRIEF,
                                     .conditions = conditions,
                                     .condition_count = 2,
                                     .limit = 100};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->store, &query, &f->arena, &rows, soon(f), &f->err), &f->err);
    assert_int_equal(rows.count, expected);
}

static void find_work(struct fixture *f, int number, size_t expected)
{
    const struct pawl_condition condition = {.column = pawl_table_column(PAWL_TABLE_WORK, "id"),
                                             .value = {.text = name(f, "w", number)}};
    const struct pawl_query query = {.table = PAWL_TABLE_WORK,
                                     .flags = PAWL_QUERY_BRIEF,
                                     .conditions = &condition,
                                     .condition_count = 1};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->store, &query, &f->arena, &rows, soon(f), &f->err), &f->err);
    assert_int_equal(rows.count, expected);
}

static void check_plans(struct fixture *f, int from, bool has_finds)
{
    for (int full = 0; full < 2; full++) {
        f->is_full = full != 0;
        for (int i = 0; i < CALLS; i++) {
            int number = ROWS / 2 + i;

            take(f);
            find(f, "instance_id", name(f, "i", number), (size_t)full);
            find_work(f, number, (size_t)full);
            if (has_finds)
                find(f, "correlation_id", name(f, "order", number), (size_t)full);
            claim_and_commit(f, number);
            claim_and_commit_several(f, number);
            visit_and_commit(f, number, false);
            visit_and_commit(f, number, true);
            add_bookmark(f, number);
        }
        if (!full) {
            fill(f, from, ROWS);
            fill_parked(f);
        }
    }
    pawl_store_close(f->store);
    f->store = NULL;
    test_postgres_sql(&f->server, CHECK);
}

static void plans_made_for_empty_tables_read_few_rows_of_full_ones(void **state)
{
    check_plans(*state, 0, true);
}

/* That a table has no or few rows is known then, and all of them would be read at once. Most finds
 * are planned each time, by what is known: they are as good as that. */
static void check_plans_of_small(struct fixture *f, int rows)
{
    if (rows > 0)
        fill(f, 0, rows);
    test_postgres_sql(&f->server, "VACUUM ANALYZE");
    check_plans(f, rows, false);
}

static void plans_made_for_vacuumed_tables_read_few_rows_of_full_ones(void **state)
{
    check_plans_of_small(*state, 0);
}

static void plans_made_for_one_row_read_few_rows_of_full_ones(void **state)
{
    check_plans_of_small(*state, 1);
}

static void plans_made_for_five_rows_read_few_rows_of_full_ones(void **state)
{
    check_plans_of_small(*state, 5);
}

static void plans_made_for_twenty_rows_read_few_rows_of_full_ones(void **state)
{
    check_plans_of_small(*state, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(plans_made_for_empty_tables_read_few_rows_of_full_ones,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(plans_made_for_vacuumed_tables_read_few_rows_of_full_ones,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(plans_made_for_one_row_read_few_rows_of_full_ones, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(plans_made_for_five_rows_read_few_rows_of_full_ones, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(plans_made_for_twenty_rows_read_few_rows_of_full_ones,
                                        set_up, tear_down),
    };

    return cmocka_run_group_tests_name("stores/postgres_plans", tests, NULL, NULL);
}
