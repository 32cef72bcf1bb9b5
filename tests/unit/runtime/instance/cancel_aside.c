/* SPDX-License-Identifier: Apache-2.0 */
/* Instances that are set aside when their parents are cancelled. */
#include "unit/runtime/nodes.h"

#define HOUR (3600 * SECOND)
#define CHILD_DEFINITION DEFINITION("child", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went"))

static struct pawl_instance_row row_of(struct fixture *f, const char *definition_id)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_INSTANCES, "definition_id"),
        .value = {.text = pawl__str(definition_id)}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_INSTANCES, .conditions = &condition, .condition_count = 1};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    assert_int_equal(rows.count, 1);
    return *(const struct pawl_instance_row *)rows.rows;
}

static struct pawl_claim claim_as(struct fixture *f, int64_t incarnation, struct pawl_str id)
{
    struct pawl_claim claim = {.id = id};
    int64_t now_us;

    assert_ok(
        pawl_store_claim(f->a.store, incarnation, &claim, 1, &f->arena, &now_us, later(f), &f->err),
        &f->err);
    assert_code(claim.status, PAWL_OK);
    return claim;
}

static void apply(struct fixture *f, struct pawl_commit *commit)
{
    assert_ok(pawl_store_apply(f->a.store, &commit, 1, later(f), &f->err), &f->err);
    assert_code(commit->status, PAWL_OK);
}

/* Returns its id. */
static struct pawl_str start_with_child(struct fixture *f)
{
    publish(f, CHILD_DEFINITION);
    publish(f, DEFINITION("parent", "", CHILD("c", "Elsa.DispatchWorkflow", "child")));
    (void)start(f, "parent");
    drain(f);
    assert_str(row_of(f, "child").sub_status, "Suspended");
    return row_of(f, "child").id;
}

static void set_aside(struct fixture *f, struct pawl_str id)
{
    struct pawl_claim claim = claim_as(f, pawl__runtime_incarnation(f->a.runtime), id);
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE,
                                 .flags =
                                     PAWL_COMMIT_KEEP | PAWL_COMMIT_SET_ASIDE | PAWL_COMMIT_RELEASE,
                                 .instance = &claim.row};

    claim.row.retry_us = PAWL_TIME_NEVER;
    claim.row.trouble = pawl__str("by the test");
    apply(f, &commit);
}

static void cancel_parent(struct fixture *f)
{
    assert_ok(pawl__runtime_cancel(f->a.runtime, row_of(f, "parent").id, later(f), &f->err),
              &f->err);
    drain(f);
    assert_str(row_of(f, "parent").sub_status, "Cancelled");
}

static void a_child_that_is_set_aside_is_cancelled_with_its_parent(void **state)
{
    struct fixture *f = *state;

    set_aside(f, start_with_child(f));
    cancel_parent(f);
    assert_str(row_of(f, "child").sub_status, "Cancelled");
    assert_int_equal(row_of(f, "child").retry_us, 0);
    assert_int_equal(count(f, PAWL_TABLE_WORK) + count(f, PAWL_TABLE_BOOKMARKS), 0);
    assert_string_equal(f->lines, "");
}

static void a_child_whose_state_is_damaged_is_cancelled_with_its_parent(void **state)
{
    struct fixture *f = *state;
    struct pawl_str id = start_with_child(f);
    struct pawl_claim claim = claim_as(f, pawl__runtime_incarnation(f->a.runtime), id);
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_ADVANCE, .flags = PAWL_COMMIT_RELEASE, .instance = &claim.row};

    claim.row.state = pawl__str("damaged");
    apply(f, &commit);
    assert_int_equal(send(f, "Go").resumed, 1);
    drain(f);
    assert_true(row_of(f, "child").retry_us == PAWL_TIME_NEVER);
    cancel_parent(f);
    assert_str(row_of(f, "child").sub_status, "Cancelled");
    assert_non_null(strstr(row_of(f, "child").trouble.ptr, "which cannot be read"));
    test_clock_advance(f->clock, 2 * SECOND); /* the event had been put off */
    drain(f);
    assert_int_equal(count(f, PAWL_TABLE_WORK) + count(f, PAWL_TABLE_BOOKMARKS), 0);
}

/* Claims it, alone or not, and is dead. */
static void die_with(struct fixture *f, struct pawl_str id, bool alone)
{
    struct pawl_lease lease = {
        .kind = PAWL_LEASE_JOIN, .node_id = pawl__str("dying"), .ttl_us = 1000000};
    struct pawl_claim claim;
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE,
                                 .flags = PAWL_COMMIT_KEEP | PAWL_COMMIT_SET_ASIDE,
                                 .instance = &claim.row};

    assert_ok(pawl_store_lease(f->a.store, &lease, later(f), &f->err), &f->err);
    claim = claim_as(f, lease.incarnation, id);
    claim.row.alone = claim.row.takeovers;
    if (alone)
        apply(f, &commit);
    lease.kind = PAWL_LEASE_LEAVE;
    assert_ok(pawl_store_lease(f->a.store, &lease, later(f), &f->err), &f->err);
}

/* Nothing of it is run, also not what a cancellation would run. */
static void a_child_that_killed_its_nodes_ends_without_its_state(void **state)
{
    struct fixture *f = *state;
    struct pawl_str id = start_with_child(f);
    struct pawl_str before = row_of(f, "child").state;

    for (int i = 0; i < 3; i++)
        die_with(f, id, false);
    die_with(f, id, true);
    drain(f);
    assert_true(row_of(f, "child").retry_us == PAWL_TIME_NEVER);
    cancel_parent(f);
    assert_str(row_of(f, "child").sub_status, "Cancelled");
    assert_non_null(strstr(row_of(f, "child").trouble.ptr, "killed 4 nodes"));
    assert_true(pawl__str_equal(row_of(f, "child").state, before));
    assert_int_equal(count(f, PAWL_TABLE_WORK) + count(f, PAWL_TABLE_BOOKMARKS), 0);
}

static void delete_definition(struct fixture *f)
{
    struct pawl_definitions *definitions = pawl__runtime_definitions(f->a.runtime);

    assert_ok(pawl__definitions_delete(definitions, pawl__str("child"), later(f), &f->err),
              &f->err);
    test_clock_advance(f->clock, 2 * SECOND); /* the graph is not kept any longer */
}

static struct pawl_definition_row definition_of_child(struct fixture *f)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_DEFINITIONS, "definition_id"),
        .value = {.text = pawl__str("child")}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_DEFINITIONS, .conditions = &condition, .condition_count = 1};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    assert_int_equal(rows.count, 1);
    return *(const struct pawl_definition_row *)rows.rows;
}

static void put_definition(struct fixture *f, const struct pawl_definition_row *row)
{
    const struct pawl_change change = {PAWL_CHANGE_PUT, PAWL_TABLE_DEFINITIONS, row};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN, .changes = &change, .change_count = 1};

    apply(f, &commit);
}

static void a_cancellation_that_fails_is_tried_again_with_growing_pauses(void **state)
{
    struct fixture *f = *state;
    struct pawl_definition_row sound, damaged;
    int64_t revision;

    set_aside(f, start_with_child(f));
    damaged = sound = definition_of_child(f);
    damaged.data = pawl__str("{");
    damaged.revision++;
    delete_definition(f);
    put_definition(f, &damaged);
    cancel_parent(f);
    assert_str(row_of(f, "child").sub_status, "Suspended");
    revision = row_of(f, "child").revision;
    for (int i = 0; i < 3600; i++) {
        test_clock_advance(f->clock, SECOND);
        drain(f);
    }
    assert_in_range(row_of(f, "child").revision - revision, 5, 30);
    put_definition(f, &sound);
    test_clock_advance(f->clock, HOUR);
    drain(f);
    assert_str(row_of(f, "child").sub_status, "Cancelled");
    assert_int_equal(count(f, PAWL_TABLE_WORK) + count(f, PAWL_TABLE_BOOKMARKS), 0);
}

static void a_child_whose_definition_is_gone_is_cancelled_with_its_parent(void **state)
{
    struct fixture *f = *state;
    struct pawl_str before;

    (void)start_with_child(f);
    before = row_of(f, "child").state;
    delete_definition(f);
    cancel_parent(f);
    assert_str(row_of(f, "child").sub_status, "Cancelled");
    assert_non_null(strstr(row_of(f, "child").trouble.ptr, "its definition version"));
    assert_true(pawl__str_equal(row_of(f, "child").state, before));
    assert_int_equal(count(f, PAWL_TABLE_WORK) + count(f, PAWL_TABLE_BOOKMARKS), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_child_that_is_set_aside_is_cancelled_with_its_parent),
        TEST(a_child_whose_state_is_damaged_is_cancelled_with_its_parent),
        TEST(a_child_that_killed_its_nodes_ends_without_its_state),
        TEST(a_cancellation_that_fails_is_tried_again_with_growing_pauses),
        TEST(a_child_whose_definition_is_gone_is_cancelled_with_its_parent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
