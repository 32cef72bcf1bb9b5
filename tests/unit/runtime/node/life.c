/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a running burst and of a node: going on, taking turns, being cancelled, the end of an
 * incarnation. */
#include "runtime/node/pool.h"
#include "unit/runtime/nodes.h"

#include <stdatomic.h>

#define LOOP(id, condition, body)                                                                  \
    "{'id':'" id "','type':'Elsa.While','condition':" RIG_INPUT("Boolean", "Literal",              \
                                                                condition) ",'body':" body "}"
#define ENDLESS(id) LOOP(id, "true", RIG_WRITE("w", ""))
/* The same in small steps: a burst that commits nothing keeps all its records in memory. */
#define ENDLESS_SLOW(id)                                                                           \
    LOOP(id, "true",                                                                               \
         "{'id':'n','type':'Elsa.SetName','value':" RIG_INPUT(                                     \
             "String", "Liquid", "'{% for i in (1..3000) %}{% endfor %}n'") "}")
#define COUNT(id, n)                                                                               \
    "{'id':'" id                                                                                   \
    "','type':'Elsa.For','start':" RIG_INPUT("Int32", "Literal", "1") ",'end':" RIG_INPUT(         \
        "Int32", "Literal", n) ",'body':" RIG_WRITE("w" id, "") "}"

/* Longer than anything here takes: only a hang gets there. */
#define HANG_NS (60 * SECOND)

static void pause_shortly(struct fixture *f)
{
    assert_ok(pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + 2000000), NULL);
}

static void await_status(struct fixture *f, const char *id, const char *wanted)
{
    int64_t give_up_ns = pawl_env_monotonic_ns(f->env) + HANG_NS;

    while (strcmp(sub_status(f, id), wanted) != 0) {
        if (pawl_env_monotonic_ns(f->env) > give_up_ns)
            fail_msg("instance %s is %s, not %s", id, sub_status(f, id), wanted);
        pause_shortly(f);
    }
}

static void await_claimed(struct fixture *f, const char *id)
{
    int64_t give_up_ns = pawl_env_monotonic_ns(f->env) + HANG_NS;
    struct pawl_instance_row row = {0};

    while (row.owner == 0) {
        if (pawl_env_monotonic_ns(f->env) > give_up_ns)
            fail_msg("nobody claims %s", id);
        pause_shortly(f);
        assert_ok(pawl__runtime_show(f->a.runtime, pawl__str(id), &f->arena, &row, NULL, later(f),
                                     &f->err),
                  &f->err);
    }
}

static void create(struct fixture *f, const char *definition_id, const char *id)
{
    const struct pawl_start what = {.definition_id = pawl__str(definition_id),
                                    .instance_id = pawl__str(id)};
    struct pawl_outcome outcome;

    assert_ok(pawl__runtime_create(f->a.runtime, &what, &outcome, later(f), &f->err), &f->err);
}

/* ---- going on ------------------------------------------------------------------------------ */

static void an_instance_left_in_a_burst_is_resumed_to_its_end(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome left, outcome;

    publish(f, DEFINITION("d", "", COUNT("f", "30")));
    f->stop_after = 20;
    left = start(f, "d");
    assert_int_equal(left.sub_status, PAWL_SUB_EXECUTING);
    f->stopped = false;
    assert_ok(pawl__runtime_run(f->a.runtime, pawl__str(left.instance_id), &(struct pawl_run){0},
                                &outcome, later(f), &f->err),
              &f->err);
    assert_int_equal(outcome.sub_status, PAWL_SUB_FINISHED);
    assert_int_equal(strlen(f->lines), 30);
}

static void a_bookmark_is_resumed_behind_the_burst_that_was_left(void **state)
{
    struct fixture *f = *state;
    const struct pawl_query query = {.table = PAWL_TABLE_BOOKMARKS};
    struct pawl_run run = {.input = pawl__json_object()};
    struct pawl_outcome left, outcome;
    struct pawl_rows rows;

    publish(f, DEFINITION("d", "",
                          RIG_PARALLEL("p", RIG_EVENT("e", "Go") "," COUNT(
                                                "f", "30")) "," RIG_WRITE("last", "went")));
    f->stop_after = 30;
    left = start(f, "d");
    assert_int_equal(left.sub_status, PAWL_SUB_EXECUTING);
    f->stopped = false;
    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    assert_int_equal(rows.count, 1);
    run.bookmark_id = ((const struct pawl_bookmark_row *)rows.rows)->id;
    assert_ok(pawl__runtime_run(f->a.runtime, pawl__str(left.instance_id), &run, &outcome, later(f),
                                &f->err),
              &f->err);
    assert_int_equal(outcome.sub_status, PAWL_SUB_FINISHED);
    assert_non_null(strstr(f->lines, "went"));
}

/* ---- fences -------------------------------------------------------------------------------- */

static int64_t fence_of(struct fixture *f, const char *id)
{
    struct pawl_instance_row row;

    assert_ok(
        pawl__runtime_show(f->a.runtime, pawl__str(id), &f->arena, &row, NULL, later(f), &f->err),
        &f->err);
    return row.fence;
}

/* The store may have forgotten a claim after a crash: its fence must not be issued once more. */
static void a_claim_has_a_greater_fence_than_all_that_the_node_was_granted(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome busy, idle;
    int64_t greatest;

    publish(f, DEFINITION("busy", "",
                          RIG_EVENT("e1", "Go") "," RIG_EVENT("e2", "Go") "," RIG_EVENT(
                              "e3", "Go") "," RIG_EVENT("e4", "Go")));
    publish(f, DEFINITION("idle", "", RIG_EVENT("e", "Late")));
    idle = start(f, "idle");
    busy = start(f, "busy");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(send(f, "Go").resumed, 1);
        drain(f);
    }
    greatest = fence_of(f, busy.instance_id);
    assert_true(greatest > fence_of(f, idle.instance_id) + 1);
    assert_int_equal(send(f, "Late").resumed, 1);
    drain(f);
    assert_true(fence_of(f, idle.instance_id) > greatest);
}

/* ---- turns --------------------------------------------------------------------------------- */

static struct pawl_pool *open_pool(struct fixture *f, struct node *node, uint32_t workers)
{
    const struct pawl_pool_options options = {.workers = workers, .idle_ns_max = SECOND / 20};
    struct pawl_pool *pool;

    assert_ok(pawl__pool_open(f->env, node->runtime, &options, &pool, &f->err), &f->err);
    return pool;
}

static void close_pool(struct node *node, struct pawl_pool *pool)
{
    pawl__runtime_stop(node->runtime);
    pawl__pool_close(pool);
}

static void endless_loops_let_others_run(void **state)
{
    struct fixture *f = *state;
    struct pawl_pool *pool;
    struct node b;

    f->engine.yield_after = 100;
    publish(f, DEFINITION("loop", "", ENDLESS("l")));
    publish(f, DEFINITION("d", "", RIG_WRITE("w", "went")));
    node_open(f, &b, "b");
    for (int i = 0; i < 4; i++)
        create(f, "loop", (char[]){'l', (char)('0' + i), '\0'});
    pool = open_pool(f, &b, 2);
    for (int i = 0; i < 4; i++)
        await_status(f, (char[]){'l', (char)('0' + i), '\0'}, "Executing");
    for (int i = 0; i < 20; i++)
        create(f, "d", (char[]){'s', (char)('a' + i), '\0'});
    for (int i = 0; i < 20; i++)
        await_status(f, (char[]){'s', (char)('a' + i), '\0'}, "Finished");
    close_pool(&b, pool);
    node_close(&b);
}

/* Its status says that it has ended, and its queue is not empty yet. */
static void a_burst_that_has_faulted_is_drained_in_its_next_turns(void **state)
{
    struct fixture *f = *state;
    const struct pawl_query runnable = {
        .table = PAWL_TABLE_INSTANCES,
        .flags = PAWL_QUERY_BRIEF,
        .conditions =
            &(struct pawl_condition){.column = pawl_table_column(PAWL_TABLE_INSTANCES, "runnable"),
                                     .compare = PAWL_NE},
        .condition_count = 1};
    struct pawl_rows rows;

    f->engine.yield_after = 1;
    publish(f, DEFINITION("d", "",
                          RIG_PARALLEL("p", RIG_FAULT("x", "no") "," RIG_WRITE("w", "still"))));
    create(f, "d", "i");
    drain_node(f, &f->a);
    assert_string_equal(sub_status(f, "i"), "Faulted");
    assert_non_null(strstr(f->lines, "still"));
    assert_ok(pawl_store_find(f->a.store, &runnable, &f->arena, &rows, later(f), &f->err), &f->err);
    assert_int_equal(rows.count, 0);
}

/* ---- cancelling ---------------------------------------------------------------------------- */

static void cancel_stops_a_running_burst(void **state)
{
    struct fixture *f = *state;
    const struct pawl_query pages = {.table = PAWL_TABLE_JOURNAL, .flags = PAWL_QUERY_BRIEF};
    int64_t records = 0;
    struct pawl_rows rows;
    struct pawl_pool *pool;
    struct node b;

    f->engine.yield_after = 1u << 30; /* it commits nothing by itself */
    publish(f, DEFINITION("loop", "", ENDLESS_SLOW("l")));
    node_open(f, &b, "b");
    create(f, "loop", "l");
    pool = open_pool(f, &b, 1);
    await_claimed(f, "l");
    /* What it does is seen nowhere before it is cancelled; it has some time to do it. */
    for (int i = 0; i < 250; i++)
        pause_shortly(f);
    assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str("l"), later(f), &f->err), &f->err);
    await_status(f, "l", "Cancelled");
    /* What it did until then was committed: it did not end by using up its memory. */
    assert_ok(pawl_store_find(f->a.store, &pages, &f->arena, &rows, later(f), &f->err), &f->err);
    for (size_t i = 0; i < rows.count; i++)
        records += ((const struct pawl_journal_row *)rows.rows)[i].count;
    assert_true(records > 5);
    close_pool(&b, pool);
    node_close(&b);
}

/* ---- the end of an incarnation ------------------------------------------------------------- */

static void note_ended(void *ctx)
{
    atomic_fetch_add((atomic_int *)ctx, 1);
}

static void open_brief(struct fixture *f, struct node *node, const char *id, atomic_int *ended)
{
    const struct pawl_runtime_options options = {.node_id = pawl__str(id),
                                                 .node_prefix = pawl__str("box"),
                                                 .lease_us = 1000000,
                                                 .hooks = {.ended = note_ended, .ctx = ended}};

    assert_ok(pawl__memory_store_open(f->database, f->env, &node->store, &f->err), &f->err);
    assert_ok(
        pawl__runtime_open(f->env, &f->engine, node->store, &options, &node->runtime, &f->err),
        &f->err);
}

static void a_node_whose_id_a_living_process_has_is_over(void **state)
{
    struct fixture *f = *state;
    int64_t give_up_ns = pawl_env_monotonic_ns(f->env) + HANG_NS;
    struct pawl_worked worked;
    atomic_int ended = 0, other = 0;
    struct pawl_pool *pool;
    struct node b, c;

    publish(f, DEFINITION("d", "", RIG_WRITE("w", "went")));
    open_brief(f, &b, "x", &ended);
    pool = open_pool(f, &b, 2);
    open_brief(f, &c, "x", &other);
    while (atomic_load(&ended) == 0) {
        assert_true(pawl_env_monotonic_ns(f->env) < give_up_ns);
        pause_shortly(f);
    }
    assert_ok(pawl__pool_wait(pool, give_up_ns), NULL); /* by itself */
    assert_code(pawl__runtime_check(b.runtime, &f->err), PAWL_ECONFLICT);
    assert_non_null(strstr(f->err.msg, "node.id"));
    assert_code(pawl__runtime_work(b.runtime, 0, &worked, later(f), &f->err), PAWL_ECONFLICT);
    create(f, "d", "i");
    drain_node(f, &c);
    assert_string_equal(sub_status(f, "i"), "Finished");
    assert_ok(pawl__runtime_check(c.runtime, &f->err), &f->err);
    pawl__pool_close(pool);
    node_close(&b);
    assert_ok(pawl__runtime_check(c.runtime, &f->err), &f->err);
    node_close(&c);
    assert_int_equal(atomic_load(&ended), 1);
    assert_int_equal(atomic_load(&other), 0);
}

static void await_incarnation(struct fixture *f, const struct node *node, int64_t above)
{
    int64_t give_up_ns = pawl_env_monotonic_ns(f->env) + HANG_NS;

    while (pawl__runtime_incarnation(node->runtime) <= above) {
        assert_true(pawl_env_monotonic_ns(f->env) < give_up_ns);
        pause_shortly(f);
    }
}

static void a_node_whose_successor_is_gone_joins_anew(void **state)
{
    struct fixture *f = *state;
    atomic_int ended = 0;
    struct pawl_pool *pool;
    struct node b, c;
    int64_t successor;

    publish(f, DEFINITION("loop", "", ENDLESS("l")));
    publish(f, DEFINITION("d", "", RIG_WRITE("w", "went")));
    open_brief(f, &b, "x", &ended);
    pool = open_pool(f, &b, 2);
    create(f, "loop", "l"); /* in its hand when its incarnation ends */
    await_claimed(f, "l");
    open_brief(f, &c, "x", &ended);
    successor = pawl__runtime_incarnation(c.runtime);
    node_close(&c);
    await_incarnation(f, &b, successor);
    create(f, "d", "i");
    await_status(f, "i", "Finished");
    await_status(f, "l", "Executing");
    close_pool(&b, pool);
    node_close(&b);
    assert_int_equal(atomic_load(&ended), 0);
}

static void a_node_without_a_name_joins_anew_whoever_has_its_id(void **state)
{
    struct fixture *f = *state;
    const struct pawl_query all = {
        .table = PAWL_TABLE_NODES, .order = 1, .flags = PAWL_QUERY_DESCENDING};
    struct pawl_lease lease = {
        .kind = PAWL_LEASE_JOIN, .ttl_us = 3600000000, .info = pawl__str("")};
    atomic_int ended = 0;
    struct pawl_rows rows;
    struct node b;

    publish(f, DEFINITION("d", "", RIG_WRITE("w", "went")));
    open_brief(f, &b, "", &ended);
    assert_ok(pawl_store_find(f->a.store, &all, &f->arena, &rows, later(f), &f->err), &f->err);
    lease.node_id = ((const struct pawl_node_row *)rows.rows)->id;
    assert_true(pawl__str_starts(lease.node_id, pawl__str("box-")));
    assert_ok(pawl_store_lease(f->a.store, &lease, later(f), &f->err), &f->err);
    await_incarnation(f, &b, lease.incarnation);
    create(f, "d", "i");
    drain_node(f, &b);
    assert_string_equal(sub_status(f, "i"), "Finished");
    node_close(&b);
    assert_int_equal(atomic_load(&ended), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(an_instance_left_in_a_burst_is_resumed_to_its_end),
        TEST(a_bookmark_is_resumed_behind_the_burst_that_was_left),
        TEST(a_claim_has_a_greater_fence_than_all_that_the_node_was_granted),
        cmocka_unit_test_setup_teardown(endless_loops_let_others_run, set_up_running, tear_down),
        cmocka_unit_test_setup_teardown(a_burst_that_has_faulted_is_drained_in_its_next_turns,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(cancel_stops_a_running_burst, set_up_running, tear_down),
        cmocka_unit_test_setup_teardown(a_node_whose_id_a_living_process_has_is_over,
                                        set_up_running, tear_down),
        cmocka_unit_test_setup_teardown(a_node_whose_successor_is_gone_joins_anew, set_up_running,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_node_without_a_name_joins_anew_whoever_has_its_id,
                                        set_up_running, tear_down),
    };

    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
