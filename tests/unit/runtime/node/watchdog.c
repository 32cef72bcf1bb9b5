/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that do not come back: what becomes of their instances, their work and their node. */
#include "engine/context.h"
#include "runtime/node/pool.h"
#include "runtime/node/private.h"
#include "runtime/runtime_private.h"
#include "unit/runtime/nodes.h"

#include <limits.h>
#include <stdatomic.h>

#define STEP_US INT64_C(300000)
#define LEASE_US INT64_C(2000000)

/* ---- what hangs ---------------------------------------------------------------------------- */

/* Activities have no context of the test's; one test runs at a time. */
static struct {
    struct pawl_env *env;
    atomic_bool is_free;
    atomic_int entered, freed; /* how many have hung so far; so many of them may go */
    atomic_int hanging;
    atomic_int applies;  /* calls that commit */
    atomic_int lines;    /* that were written */
    atomic_int failures; /* so many of the next claims fail */
    atomic_bool is_held; /* whoever hangs makes all of them fail, until the test lets them */
} trap;

static void hang(void)
{
    int number = atomic_fetch_add(&trap.entered, 1);

    if (atomic_load(&trap.is_held))
        atomic_store(&trap.failures, INT_MAX);
    atomic_fetch_add(&trap.hanging, 1);
    while (!atomic_load(&trap.is_free) && number >= atomic_load(&trap.freed))
        (void)!pawl_env_sleep_until(trap.env, pawl_env_monotonic_ns(trap.env) + SECOND / 100);
    atomic_fetch_sub(&trap.hanging, 1);
}

static int hang_execute(struct pawl_context *context)
{
    (void)context;
    hang();
    return PAWL_OK;
}

static const struct pawl_activity hang_activity = {
    .type = "Test.Hang",
    .version = 1,
    .flags = PAWL_ACTIVITY_AUTO_COMPLETE,
    .category = "Test",
    .description = "Does not return until the test lets it.",
    .execute = hang_execute,
};

static int on_line_hang(void *ctx, struct pawl_str instance_id, struct pawl_str text)
{
    if (pawl__str_is(text, "hang")) {
        hang();
        return PAWL_OK;
    }
    on_line(ctx, instance_id, text);
    atomic_fetch_add(&trap.lines, 1);
    return PAWL_OK;
}

static bool fail_claim(void *ctx, enum pawl_store_call call, enum pawl_store_fault *how)
{
    int left = atomic_load(&trap.failures);

    (void)ctx;
    *how = PAWL_STORE_FAULT_BEFORE;
    if (call == PAWL_STORE_CALL_APPLY)
        atomic_fetch_add(&trap.applies, 1);
    return call == PAWL_STORE_CALL_CLAIM && left > 0 &&
           atomic_compare_exchange_strong(&trap.failures, &left, left - 1);
}

/* ---- a node with one worker ---------------------------------------------------------------- */

struct bench {
    struct fixture f;
    struct pawl_pool *pool;
    struct pawl_thread *sender; /* NULL: none */
    struct node other;          /* runtime NULL: none */
    char folder[32];            /* of the database; "": in memory */
};

static struct pawl_store *open_inner(struct bench *bench, bool in_file)
{
    const struct pawl_store_options create = {.flags = PAWL_STORE_OPEN_CREATE};
    struct fixture *f = &bench->f;
    struct pawl_store *inner;
    char path[64];

    if (!in_file) {
        assert_ok(pawl__memory_store_open(f->database, f->env, &inner, &f->err), &f->err);
        return inner;
    }
    (void)snprintf(bench->folder, sizeof bench->folder, "/tmp/pawl-test-XXXXXX");
    assert_non_null(mkdtemp(bench->folder));
    (void)snprintf(path, sizeof path, "%s/s.db", bench->folder);
    assert_ok(pawl__sqlite_store_open(f->env, pawl__str(path), &create, &inner, &f->err), &f->err);
    return inner;
}

static int open_bench(void **state, bool in_file, int64_t lease_us)
{
    const struct pawl_pool_options pool = {.workers = 1, .idle_ns_max = SECOND / 50};
    const struct pawl_store_fault_hooks faults = {.decide = fail_claim};
    struct bench *bench = calloc(1, sizeof *bench);
    struct fixture *f = &bench->f;
    struct pawl_runtime_options options = {.node_id = pawl__str("a"),
                                           .info = pawl__str("{\"host\":\"here\"}"),
                                           .lease_us = lease_us,
                                           .step_us = STEP_US,
                                           .delivery = PAWL_DELIVERY_DIRECT,
                                           .hooks = {.line = on_line_hang, .ctx = f}};

    assert_non_null(bench);
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    atomic_store(&trap.is_free, false);
    atomic_store(&trap.entered, 0);
    atomic_store(&trap.freed, 0);
    atomic_store(&trap.lines, 0);
    atomic_store(&trap.failures, 0);
    atomic_store(&trap.is_held, false);
    trap.env = f->env;
    open_all(f);
    node_close(&f->a);
    assert_int_equal(pawl__engine_add_activity(&f->engine, &hang_activity), PAWL_OK);
    assert_ok(
        pawl__fault_store_new(f->env, open_inner(bench, in_file), &faults, &f->a.store, &f->err),
        &f->err);
    assert_ok(pawl__runtime_open(f->env, &f->engine, f->a.store, &options, &f->a.runtime, &f->err),
              &f->err);
    assert_ok(pawl__pool_open(f->env, f->a.runtime, &pool, &bench->pool, &f->err), &f->err);
    *state = bench;
    return 0;
}

static int bench_open(void **state)
{
    return open_bench(state, false, LEASE_US);
}

static int bench_open_file(void **state)
{
    return open_bench(state, true, LEASE_US);
}

/* Its lease does not lapse however slow the machine is; its keeper seldom looks for what hangs. */
static int bench_open_lasting(void **state)
{
    return open_bench(state, false, 60 * LEASE_US);
}

static int bench_close(void **state)
{
    struct bench *bench = *state;
    struct fixture *f = &bench->f;
    char command[64];

    atomic_store(&trap.is_free, true);
    if (bench->sender)
        pawl_thread_join(f->env, bench->sender);
    pawl__pool_close(bench->pool);
    if (bench->other.runtime)
        node_close(&bench->other);
    node_close(&f->a);
    pawl__memory_database_free(f->database);
    pawl__engine_release(&f->engine);
    pawl__arena_release(&f->arena);
    pawl_system_env_close(f->env);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", bench->folder);
    if (bench->folder[0])
        assert_int_equal(system(command), 0);
    free(bench);
    return 0;
}

static void wait_until(struct fixture *f, bool (*is_so)(struct fixture *f), const char *what)
{
    int64_t until_ns = later(f);

    while (!is_so(f)) {
        if (pawl_env_monotonic_ns(f->env) > until_ns)
            fail_msg("after a minute: not %s", what);
        (void)!pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + SECOND / 100);
    }
}
#define WAIT_UNTIL(f, is_so) wait_until((f), (is_so), #is_so)

static struct pawl_instance_row row_of(struct fixture *f, const char *id)
{
    struct pawl_instance_row row;

    assert_ok(
        pawl__runtime_show(f->a.runtime, pawl__str(id), &f->arena, &row, NULL, later(f), &f->err),
        &f->err);
    return row;
}

static void create(struct fixture *f, const char *definition_id, const char *id)
{
    const struct pawl_start what = {.definition_id = pawl__str(definition_id),
                                    .instance_id = pawl__str(id)};

    assert_ok(pawl__runtime_create(f->a.runtime, &what, NULL, later(f), &f->err), &f->err);
}

static bool is_hanging(struct fixture *f)
{
    (void)f;
    return atomic_load(&trap.hanging) > 0;
}

static bool is_set_aside(struct fixture *f)
{
    return row_of(f, "hangs").retry_us == PAWL_TIME_NEVER;
}

static bool is_other_finished(struct fixture *f)
{
    return pawl__str_is(row_of(f, "other").status, "Finished") && atomic_load(&trap.lines) > 0;
}

/* Lines follow the commit that asks for them. */
static bool has_said_other(struct fixture *f)
{
    return strcmp(f->lines, "other\n") == 0;
}

static bool has_said_done(struct fixture *f)
{
    return strcmp(f->lines, "other\ndone\n") == 0;
}

static bool node_says_stuck(struct fixture *f)
{
    const struct pawl_query query = {.table = PAWL_TABLE_NODES};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    assert_int_equal(rows.count, 1);
    return strstr(((const struct pawl_node_row *)rows.rows)->info.ptr, "\"stuck\":1}") != NULL;
}

static bool node_says_nothing(struct fixture *f)
{
    return !node_says_stuck(f);
}

static bool is_letter(struct fixture *f)
{
    return count(f, PAWL_TABLE_DEAD_LETTERS) == 1;
}

/* ---- tests --------------------------------------------------------------------------------- */

static void a_step_that_does_not_come_back_is_set_aside_and_others_go_on(void **state)
{
    struct fixture *f = &((struct bench *)*state)->f;
    struct pawl_instance_row row;

    publish(f, DEFINITION("d", "", "{'id':'h','type':'Test.Hang'}," RIG_WRITE("w", "done")));
    publish(f, DEFINITION("e", "", RIG_WRITE("w", "other")));
    create(f, "d", "hangs");
    WAIT_UNTIL(f, is_hanging);
    create(f, "e", "other");
    WAIT_UNTIL(f, is_other_finished);
    WAIT_UNTIL(f, is_set_aside);
    WAIT_UNTIL(f, node_says_stuck);
    row = row_of(f, "hangs");
    assert_int_equal(row.owner, 0);
    assert_non_null(strstr(row.trouble.ptr, "has not come back"));
    assert_non_null(strstr(row.trouble.ptr, "on node a"));

    /* It does come back: what it did is not written, nobody runs it again. */
    atomic_store(&trap.is_free, true);
    WAIT_UNTIL(f, node_says_nothing);
    assert_int_equal(row_of(f, "hangs").revision, row.revision);
    WAIT_UNTIL(f, has_said_other);
    /* Until an operator says so. */
    assert_ok(
        pawl__runtime_retry(f->a.runtime, pawl__str("hangs"), NULL, 0, NULL, later(f), &f->err),
        &f->err);
    WAIT_UNTIL(f, has_said_done);
}

static bool is_parent_faulted(struct fixture *f)
{
    return pawl__str_is(row_of(f, "parent").sub_status, "Faulted");
}

/* There will be no child, and so no result: nothing else ends the wait. */
static void a_parent_learns_that_the_first_step_of_its_child_was_given_up(void **state)
{
    struct fixture *f = &((struct bench *)*state)->f;

    publish(f, DEFINITION("child", "", "{'id':'h','type':'Test.Hang'}"));
    publish(f,
            DEFINITION("d", "",
                       "{'id':'c','type':'Elsa.ExecuteWorkflow','workflowDefinitionId':" RIG_INPUT(
                           "String", "Literal", "'child'") "}"));
    create(f, "d", "parent");
    WAIT_UNTIL(f, is_hanging);
    WAIT_UNTIL(f, is_parent_faulted);
    assert_true(is_letter(f));
    atomic_store(&trap.is_free, true);
}

/* The store cannot be reached when the step is to be given up. */
static void a_step_that_could_not_be_set_aside_is_set_aside_later(void **state)
{
    struct fixture *f = &((struct bench *)*state)->f;

    publish(f, DEFINITION("d", "", "{'id':'h','type':'Test.Hang'}"));
    create(f, "d", "hangs");
    WAIT_UNTIL(f, is_hanging);
    atomic_store(&trap.failures, 2);
    WAIT_UNTIL(f, is_set_aside);
    assert_int_equal(atomic_load(&trap.failures), 0);
    WAIT_UNTIL(f, node_says_stuck);
}

/* One worker, and the one that replaces it. */
static bool all_hang(struct fixture *f)
{
    (void)f;
    return atomic_load(&trap.hanging) == 2;
}

static bool one_hangs(struct fixture *f)
{
    (void)f;
    return atomic_load(&trap.hanging) == 1;
}

static int applies_before;

static bool has_tried_to_commit(struct fixture *f)
{
    (void)f;
    return atomic_load(&trap.applies) > applies_before;
}

static bool has_ended(struct fixture *f)
{
    return pawl__str_is(row_of(f, "hangs").status, "Finished") || is_set_aside(f);
}

static void create_correlated(struct fixture *f, const char *correlation_id)
{
    const struct pawl_start what = {.definition_id = pawl__str("d"),
                                    .instance_id = pawl__str("hangs"),
                                    .correlation_id = pawl__str(correlation_id)};

    assert_ok(pawl__runtime_create(f->a.runtime, &what, NULL, later(f), &f->err), &f->err);
}

/*
 * The same node runs an instance of the same id at the same revision, which another thread has
 * claimed since: only the fence tells the two apart.
 */
static void a_step_that_was_given_up_does_not_write_into_a_new_instance_of_its_id(void **state)
{
    struct fixture *f = &((struct bench *)*state)->f;

    publish(f, DEFINITION("d", "", "{'id':'h','type':'Test.Hang'}," RIG_WRITE("w", "done")));
    create_correlated(f, "old");
    WAIT_UNTIL(f, is_hanging);
    WAIT_UNTIL(f, is_set_aside);
    WAIT_UNTIL(f, node_says_stuck);
    assert_ok(pawl__runtime_delete(f->a.runtime, pawl__str("hangs"), later(f), &f->err), &f->err);
    create_correlated(f, "new");
    WAIT_UNTIL(f, all_hang);
    applies_before = atomic_load(&trap.applies);
    atomic_store(&trap.freed, 1);
    WAIT_UNTIL(f, one_hangs);
    WAIT_UNTIL(f, has_tried_to_commit);
    atomic_store(&trap.is_free, true);
    WAIT_UNTIL(f, has_ended);
    assert_str(row_of(f, "hangs").correlation_id, "new");
}

static int64_t first_incarnation;

static bool has_joined_anew(struct fixture *f)
{
    return pawl__runtime_incarnation(f->a.runtime) > first_incarnation;
}

/* What its incarnation had taken and not begun is then free: the contract of stores has that. */
static void a_node_whose_threads_all_hang_ends_its_incarnation(void **state)
{
    struct fixture *f = &((struct bench *)*state)->f;

    first_incarnation = pawl__runtime_incarnation(f->a.runtime);
    publish(f, DEFINITION("d", "", "{'id':'h','type':'Test.Hang'}"));
    for (int i = 0; i < 8; i++)
        create(f, "d", (char[]){'h', (char)('0' + i), '\0'});
    WAIT_UNTIL(f, all_hang);
    WAIT_UNTIL(f, has_joined_anew);
}

static bool node_says_two_are_stuck(struct fixture *f)
{
    const struct pawl_query query = {.table = PAWL_TABLE_NODES};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    assert_int_equal(rows.count, 1);
    return strstr(((const struct pawl_node_row *)rows.rows)->info.ptr, "\"stuck\":2}") != NULL;
}

/* What becomes of it is of no interest here. */
static void start_what_hangs(void *arg)
{
    const struct pawl_start what = {.definition_id = pawl__str("d")};
    struct fixture *f = arg;

    (void)!pawl__runtime_start(f->a.runtime, &what, NULL, PAWL_FOREVER, NULL);
}

/* As many as there may be workers. */
static void callers_that_hang_do_not_end_the_incarnation_of_a_node(void **state)
{
    struct fixture *f = &((struct bench *)*state)->f;
    struct pawl_thread *callers[2];

    first_incarnation = pawl__runtime_incarnation(f->a.runtime);
    publish(f, DEFINITION("d", "", "{'id':'h','type':'Test.Hang'}"));
    publish(f, DEFINITION("e", "", RIG_WRITE("w", "other")));
    for (int i = 0; i < 2; i++)
        assert_ok(pawl_thread_start(f->env, "caller", start_what_hangs, f, &callers[i], &f->err),
                  &f->err);
    /* Told by a renewal, which comes after what is done about them. */
    WAIT_UNTIL(f, node_says_two_are_stuck);
    assert_int_equal(pawl__runtime_incarnation(f->a.runtime), first_incarnation);
    create(f, "e", "other");
    WAIT_UNTIL(f, is_other_finished);
    atomic_store(&trap.is_free, true);
    for (int i = 0; i < 2; i++)
        pawl_thread_join(f->env, callers[i]);
}

static void a_function_that_does_not_come_back_is_a_dead_letter(void **state)
{
    struct fixture *f = &((struct bench *)*state)->f;

    publish(f, DEFINITION("d", "", RIG_WRITE("w", "hang")));
    publish(f, DEFINITION("e", "", RIG_WRITE("w", "other")));
    create(f, "d", "hangs");
    WAIT_UNTIL(f, is_hanging);
    create(f, "e", "other");
    WAIT_UNTIL(f, is_other_finished);
    WAIT_UNTIL(f, is_letter);
    WAIT_UNTIL(f, node_says_stuck);
    assert_int_equal(row_of(f, "hangs").retry_us, 0);
    assert_str(row_of(f, "hangs").status, "Finished");
    atomic_store(&trap.is_free, true);
    WAIT_UNTIL(f, node_says_nothing);
    assert_int_equal(count(f, PAWL_TABLE_DEAD_LETTERS), 1);
}

static bool is_waiting(struct fixture *f)
{
    return count(f, PAWL_TABLE_BOOKMARKS) == 1 && is_hanging(f);
}

static bool is_finished(struct fixture *f)
{
    return pawl__str_is(row_of(f, "hangs").status, "Finished");
}

/* Whoever found the mail left it to the thread that hangs. */
static void mail_for_an_instance_whose_function_hangs_is_delivered(void **state)
{
    struct fixture *f = &((struct bench *)*state)->f;
    struct pawl_worked worked;

    publish(f,
            DEFINITION("d", "",
                       RIG_WRITE("w", "hang") "," RIG_EVENT("e", "Go") "," RIG_WRITE("x", "done")));
    create(f, "d", "hangs");
    WAIT_UNTIL(f, is_waiting);
    assert_int_equal(send(f, "Go").resumed, 1);
    assert_ok(pawl__runtime_work(f->a.runtime, 0, &worked, later(f), &f->err), &f->err);
    WAIT_UNTIL(f, is_letter);
    WAIT_UNTIL(f, is_finished);
}

static bool is_nothing_due(struct fixture *f)
{
    return count(f, PAWL_TABLE_WORK) == 0;
}

/* The instance is not stored yet: the row that starts it is given up, and no other node hangs. */
static void a_first_step_that_does_not_come_back_starts_nothing(void **state)
{
    struct fixture *f = &((struct bench *)*state)->f;

    publish(
        f, DEFINITION("d", "",
                      TRIGGER("t", "Go") ",{'id':'h','type':'Test.Hang'}," RIG_WRITE("w", "done")));
    assert_int_equal(send(f, "Go").started, 1);
    WAIT_UNTIL(f, is_hanging);
    WAIT_UNTIL(f, is_letter);
    WAIT_UNTIL(f, node_says_stuck);
    atomic_store(&trap.is_free, true);
    WAIT_UNTIL(f, node_says_nothing);
    WAIT_UNTIL(f, is_nothing_due);
    assert_int_equal(count(f, PAWL_TABLE_INSTANCES), 0);
    assert_string_equal(f->lines, "");
}

static void send_go(void *arg)
{
    struct fixture *f = arg;
    const struct pawl_stimulus to = {.instance_id = pawl__str("hangs")};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_sent sent;

    (void)!pawl__runtime_send_event(f->a.runtime, pawl__str("Go"), NULL, &to, &sent, later(f),
                                    &err);
}

/* It waits, and the worker that ran it has let go of it: what is sent now is delivered directly. */
static bool is_idle(struct fixture *f)
{
    bool waits = pawl__str_is(row_of(f, "hangs").sub_status, "Suspended"), in_hand;

    assert_int_equal(pawl_mutex_lock(f->env, f->a.runtime->mutex), PAWL_OK);
    in_hand = !pawl__list_empty(&f->a.runtime->running);
    pawl_mutex_unlock(f->env, f->a.runtime->mutex);
    return waits && !in_hand;
}

static bool is_given_up(struct fixture *f)
{
    bool given_up;

    pawl__runtime_watch(f->a.runtime, later(f));
    assert_int_equal(pawl_mutex_lock(f->env, f->a.runtime->mutex), PAWL_OK);
    given_up = f->a.runtime->stuck > 0;
    pawl_mutex_unlock(f->env, f->a.runtime->mutex);
    return given_up;
}

/* A visit keeps nobody away: what hangs is no longer what the store has. */
static void what_others_have_run_since_a_visit_that_hangs_is_not_set_aside(void **state)
{
    struct bench *bench = *state;
    struct fixture *f = &bench->f;
    struct pawl_instance_row row;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") ",{'id':'h','type':'Test.Hang'}"));
    create(f, "d", "hangs");
    WAIT_UNTIL(f, is_idle);
    atomic_store(&trap.is_held, true); /* nothing is given up before the other node has run it */
    assert_ok(pawl_thread_start(f->env, "sender", send_go, f, &bench->sender, &f->err), &f->err);
    WAIT_UNTIL(f, is_hanging);
    assert_int_equal(row_of(f, "hangs").owner, 0);
    node_open(f, &bench->other, "b");
    assert_ok(pawl__runtime_cancel(bench->other.runtime, pawl__str("hangs"), later(f), &f->err),
              &f->err);
    assert_str(row_of(f, "hangs").sub_status, "Cancelled");
    atomic_store(&trap.failures, 0);
    WAIT_UNTIL(f, is_given_up);
    row = row_of(f, "hangs");
    assert_str(row.sub_status, "Cancelled");
    assert_int_equal(row.trouble.len, 0);
    assert_int_equal(row.owner, 0);
    assert_int_equal(row.failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            what_others_have_run_since_a_visit_that_hangs_is_not_set_aside, bench_open_lasting,
            bench_close),
        cmocka_unit_test_setup_teardown(
            a_step_that_does_not_come_back_is_set_aside_and_others_go_on, bench_open, bench_close),
        cmocka_unit_test_setup_teardown(a_step_that_could_not_be_set_aside_is_set_aside_later,
                                        bench_open, bench_close),
        cmocka_unit_test_setup_teardown(
            a_parent_learns_that_the_first_step_of_its_child_was_given_up, bench_open, bench_close),
        cmocka_unit_test_setup_teardown(
            a_step_that_was_given_up_does_not_write_into_a_new_instance_of_its_id, bench_open,
            bench_close),
        cmocka_unit_test_setup_teardown(
            a_step_that_was_given_up_does_not_write_into_a_new_instance_of_its_id, bench_open_file,
            bench_close),
        cmocka_unit_test_setup_teardown(a_first_step_that_does_not_come_back_starts_nothing,
                                        bench_open, bench_close),
        cmocka_unit_test_setup_teardown(mail_for_an_instance_whose_function_hangs_is_delivered,
                                        bench_open, bench_close),
        cmocka_unit_test_setup_teardown(a_node_whose_threads_all_hang_ends_its_incarnation,
                                        bench_open, bench_close),
        cmocka_unit_test_setup_teardown(callers_that_hang_do_not_end_the_incarnation_of_a_node,
                                        bench_open, bench_close),
        cmocka_unit_test_setup_teardown(a_function_that_does_not_come_back_is_a_dead_letter,
                                        bench_open, bench_close),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
