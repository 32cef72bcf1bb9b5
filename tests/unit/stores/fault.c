/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/stores/shelf.h"

/* What the next call of a kind meets; and what was asked. */
struct plan {
    bool armed;
    enum pawl_store_fault how;
    int asked[PAWL_STORE_CALL_COUNT];
    int crashes;
};

static bool decide(void *ctx, enum pawl_store_call call, enum pawl_store_fault *how)
{
    struct plan *plan = ctx;

    plan->asked[call]++;
    *how = plan->how;
    return plan->armed;
}

static int crash(void *ctx, enum pawl_store_call call)
{
    struct plan *plan = ctx;

    (void)call;
    plan->crashes++;
    return PAWL_ECANCELLED;
}

static void open_faulty(struct shelf *shelf, struct plan *plan, bool with_crash)
{
    struct pawl_store_fault_hooks hooks = {decide, with_crash ? crash : NULL, plan};

    *plan = (struct plan){0};
    shelf_open(shelf);
    assert_ok(pawl__fault_store_new(shelf->env, shelf->store, &hooks, &shelf->store, &shelf->err),
              &shelf->err);
}

static void arm(struct plan *plan, enum pawl_store_fault how)
{
    plan->armed = true;
    plan->how = how;
}

static struct pawl_commit make_create(const struct pawl_instance_row *row)
{
    return (struct pawl_commit){.kind = PAWL_COMMIT_CREATE,
                                .flags = PAWL_COMMIT_RELEASE,
                                .instance = row,
                                .status = 77,
                                .has_mail = true};
}

static void without_a_fault_calls_go_through(void **state)
{
    struct pawl_instance_row row = shelf_instance("a");
    struct pawl_commit commit = make_create(&row);
    struct shelf shelf;
    struct plan plan;

    (void)state;
    open_faulty(&shelf, &plan, true);
    assert_int_equal(shelf.store->caps, shelf.plain->caps);
    assert_ok(shelf_apply(shelf.store, &commit, &shelf.err), &shelf.err);
    assert_code(commit.status, PAWL_OK);
    assert_int_equal(plan.asked[PAWL_STORE_CALL_APPLY], 1);
    assert_int_equal(shelf_read(&shelf, "a").revision, 1);
    shelf_close(&shelf);
}

static void before_nothing_is_done(void **state)
{
    struct pawl_instance_row row = shelf_instance("a");
    struct pawl_commit commit = make_create(&row);
    struct shelf shelf;
    struct plan plan;

    (void)state;
    open_faulty(&shelf, &plan, true);
    arm(&plan, PAWL_STORE_FAULT_BEFORE);
    assert_code(shelf_apply(shelf.store, &commit, &shelf.err), PAWL_EUNAVAILABLE);
    assert_int_equal(shelf.err.code, PAWL_EUNAVAILABLE);
    assert_non_null(strstr(shelf.err.msg, "apply"));
    assert_int_equal(commit.status, 77);
    assert_str(shelf_read(&shelf, "a").id, "");
    shelf_close(&shelf);
}

static void after_it_is_done_and_no_output_written(void **state)
{
    struct pawl_instance_row row = shelf_instance("a");
    struct pawl_commit commit = make_create(&row);
    struct shelf shelf;
    struct plan plan;

    (void)state;
    open_faulty(&shelf, &plan, true);
    arm(&plan, PAWL_STORE_FAULT_AFTER);
    assert_code(shelf_apply(shelf.store, &commit, &shelf.err), PAWL_EUNKNOWN);
    assert_int_equal(commit.status, 77);
    assert_true(commit.has_mail);
    assert_int_equal(shelf_read(&shelf, "a").revision, 1);
    shelf_close(&shelf);
}

static void crashes_happen_before_or_after(void **state)
{
    struct pawl_instance_row row = shelf_instance("a");
    struct pawl_commit commit = make_create(&row);
    struct shelf shelf;
    struct plan plan;

    (void)state;
    open_faulty(&shelf, &plan, true);
    arm(&plan, PAWL_STORE_FAULT_CRASH);
    assert_code(shelf_apply(shelf.store, &commit, &shelf.err), PAWL_ECANCELLED);
    assert_int_equal(plan.crashes, 1);
    assert_str(shelf_read(&shelf, "a").id, "");
    arm(&plan, PAWL_STORE_FAULT_CRASH_AFTER);
    assert_code(shelf_apply(shelf.store, &commit, &shelf.err), PAWL_ECANCELLED);
    assert_int_equal(plan.crashes, 2);
    assert_int_equal(commit.status, 77);
    assert_int_equal(shelf_read(&shelf, "a").revision, 1);
    shelf_close(&shelf);
    open_faulty(&shelf, &plan, false);
    arm(&plan, PAWL_STORE_FAULT_CRASH);
    assert_code(shelf_apply(shelf.store, &commit, &shelf.err), PAWL_ESTOPPED);
    shelf_close(&shelf);
}

static void a_lost_claim_has_been_granted(void **state)
{
    struct pawl_claim claim = {.id = pawl__str("a"), .status = 77};
    int64_t owner, now_us = 77;
    struct shelf shelf;
    struct plan plan;

    (void)state;
    open_faulty(&shelf, &plan, true);
    shelf_create(&shelf, "a");
    owner = shelf_join(&shelf, "node");
    arm(&plan, PAWL_STORE_FAULT_AFTER);
    assert_code(pawl_store_claim(shelf.store, owner, &claim, 1, &shelf.arena, &now_us, PAWL_FOREVER,
                                 &shelf.err),
                PAWL_EUNKNOWN);
    assert_int_equal(claim.status, 77);
    assert_int_equal(now_us, 77);
    assert_int_equal(shelf_read(&shelf, "a").owner, owner);
    assert_int_equal(shelf_read(&shelf, "a").fence, 2);
    shelf_close(&shelf);
}

static int see_row(void *ctx, enum pawl_table table, const void *row, struct pawl_error *err)
{
    (void)table;
    (void)row;
    (void)err;
    ++*(int *)ctx;
    return PAWL_OK;
}

static void see_finding(void *ctx, const char *finding)
{
    (void)finding;
    ++*(int *)ctx;
}

/* Every call, and nothing that it would answer. */
static void try_all_calls(struct shelf *shelf, int expected)
{
    struct pawl_store *store = shelf->store;
    struct pawl_store_status status = {.now_us = 77};
    struct pawl_lease lease = {
        .kind = PAWL_LEASE_JOIN, .node_id = pawl__str("lost"), .incarnation = 77, .ttl_us = 1000};
    struct pawl_take take = {.owner = 1, .limit = 10};
    struct pawl_taken taken = {.now_us = 77};
    struct pawl_query query = {.table = PAWL_TABLE_INSTANCES};
    struct pawl_query queries[2] = {query, query};
    struct pawl_rows rows = {.count = 77}, many[2] = {rows, rows};
    struct pawl_wake wake = {.seen = 77};
    struct pawl_setting_row setting = {.key = pawl__str("key"), .value = pawl__str("value")};
    int seen = 0;

    assert_code(pawl_store_status(store, &status, PAWL_FOREVER, NULL), expected);
    assert_code(pawl_store_lease(store, &lease, PAWL_FOREVER, NULL), expected);
    assert_code(pawl_store_take(store, &take, &shelf->arena, &taken, PAWL_FOREVER, NULL), expected);
    assert_code(pawl_store_find(store, &query, &shelf->arena, &rows, PAWL_FOREVER, NULL), expected);
    assert_code(pawl_store_find_many(store, queries, 2, &shelf->arena, many, PAWL_FOREVER, NULL),
                expected);
    assert_code(pawl_store_wait(store, &wake, INT64_MIN, NULL), expected);
    assert_code(pawl_store_snapshot(store, see_row, &seen, PAWL_FOREVER, NULL), expected);
    assert_code(pawl_store_load(store, PAWL_TABLE_SETTINGS, &setting, 1, PAWL_FOREVER, NULL),
                expected);
    assert_code(pawl_store_check_backend(store, see_finding, &seen, PAWL_FOREVER, NULL), expected);
    assert_int_equal(status.now_us, 77);
    assert_int_equal(lease.incarnation, 77);
    assert_int_equal(taken.now_us, 77);
    assert_int_equal(rows.count, 77);
    assert_int_equal(many[0].count, 77);
    assert_int_equal(many[1].count, 77);
    assert_int_equal(wake.seen, 77);
    assert_int_equal(seen, 0);
}

static void every_call_can_fail_either_way(void **state)
{
    struct pawl_query settings = {.table = PAWL_TABLE_SETTINGS, .flags = PAWL_QUERY_COUNT};
    struct pawl_query nodes = {.table = PAWL_TABLE_NODES, .flags = PAWL_QUERY_COUNT};
    struct pawl_rows rows;
    struct shelf shelf;
    struct plan plan;

    (void)state;
    open_faulty(&shelf, &plan, true);
    shelf_create(&shelf, "a");
    arm(&plan, PAWL_STORE_FAULT_BEFORE);
    try_all_calls(&shelf, PAWL_EUNAVAILABLE);
    assert_ok(pawl_store_find(shelf.plain, &nodes, &shelf.arena, &rows, PAWL_FOREVER, NULL), NULL);
    assert_int_equal(rows.total, 0);
    arm(&plan, PAWL_STORE_FAULT_AFTER);
    try_all_calls(&shelf, PAWL_EUNKNOWN);
    assert_ok(pawl_store_find(shelf.plain, &nodes, &shelf.arena, &rows, PAWL_FOREVER, NULL), NULL);
    assert_int_equal(rows.total, 1);
    assert_ok(pawl_store_find(shelf.plain, &settings, &shelf.arena, &rows, PAWL_FOREVER, NULL),
              NULL);
    assert_int_equal(rows.total, 1);
    arm(&plan, PAWL_STORE_FAULT_CRASH);
    try_all_calls(&shelf, PAWL_ECANCELLED);
    for (int i = 0; i < PAWL_STORE_CALL_COUNT; i++)
        if (i != PAWL_STORE_CALL_APPLY && i != PAWL_STORE_CALL_CLAIM)
            assert_int_equal(plan.asked[i], i == PAWL_STORE_CALL_FIND ? 6 : 3); /* and find_many */
    shelf_close(&shelf);
}

static void without_memory_a_lost_call_was_not_made(void **state)
{
    struct pawl_instance_row row = shelf_instance("a");
    struct pawl_commit commit = make_create(&row);
    struct shelf shelf;
    struct plan plan;

    (void)state;
    open_faulty(&shelf, &plan, true);
    arm(&plan, PAWL_STORE_FAULT_AFTER);
    test_allocator_fail(&shelf.alloc, 1, 0);
    assert_code(shelf_apply(shelf.store, &commit, &shelf.err), PAWL_ENOMEM);
    test_allocator_fail(&shelf.alloc, 0, 0);
    assert_str(shelf_read(&shelf, "a").id, "");
    shelf_close(&shelf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_fault_calls_go_through),
        cmocka_unit_test(before_nothing_is_done),
        cmocka_unit_test(after_it_is_done_and_no_output_written),
        cmocka_unit_test(crashes_happen_before_or_after),
        cmocka_unit_test(a_lost_claim_has_been_granted),
        cmocka_unit_test(every_call_can_fail_either_way),
        cmocka_unit_test(without_memory_a_lost_call_was_not_made),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
