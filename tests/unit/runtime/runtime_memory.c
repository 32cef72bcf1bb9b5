/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime where memory is short, and where a workflow would take all of it. */
#include "runtime/runtime.h"

#include "activities/activities.h"
#include "base/error.h"
#include "expressions/expressions.h"
#include "lib/clock.h"
#include "lib/rig.h"
#include "stores/stores.h"

#define SECOND INT64_C(1000000000)
#define WALL (INT64_C(1767323045) * SECOND) /* 2026-01-02T03:04:05Z */
#define TEXT(value) RIG_INPUT("String", "Literal", "'" value "'")
/* Of one commit, its part of the burst included. */
#define ALLOCATIONS_MAX 14u
#define TRUE_VALUE RIG_INPUT("Boolean", "Literal", "true")

static const char child[] =
    "{'definitionId':'child','root':" RIG_SEQUENCE("seq", RIG_EVENT("e", "Go")) "}";
static const char parent[] = "{'definitionId':'parent','root':" RIG_SEQUENCE(
    "seq", "{'id':'x','type':'Elsa.ExecuteWorkflow','waitForCompletion':" TRUE_VALUE
           ",'workflowDefinitionId':" TEXT("child") "}," RIG_WRITE("w", "end")) "}";
static const char aside[] = "{'definitionId':'aside','root':" RIG_SEQUENCE(
    "seq", "{'id':'x','type':'Elsa.ExecuteWorkflow','customProperties':{'runAsynchronously':true},"
           "'waitForCompletion':" TRUE_VALUE ",'workflowDefinitionId':" TEXT("child") "}") "}";
static const char loop[] =
    "{'definitionId':'loop','root':{'id':'w','type':'Elsa.While','condition':" TRUE_VALUE
    ",'body':{'id':'b','type':'Elsa.SetName','value':" TEXT("round") "}}}";

static const char steps[] =
    "{'definitionId':'steps','options':{'commitStrategyName':'ActivityExecuted'},"
    "'root':" RIG_SEQUENCE("seq",
                           RIG_WRITE("a", "a") "," RIG_WRITE("b", "b") "," RIG_WRITE("c", "c")) "}";

static const char rounds[] = "{'definitionId':'rounds','root':" RIG_SEQUENCE(
    "seq", RIG_EVENT("e1", "Go") "," RIG_EVENT("e2", "Go") "," RIG_EVENT("e3", "Go") "," RIG_EVENT(
               "x", "No")) "}";

struct fixture {
    struct test_allocator *alloc;
    struct test_clock *clock;
    struct pawl_env *env;
    struct pawl_engine engine;
    struct pawl_arena arena;
    struct pawl_store *store;
    struct pawl_runtime *runtime;
    struct pawl_error err;
    int left; /* polls until the hook says stop */
};

static bool stop_soon(void *ctx)
{
    struct fixture *f = ctx;

    return f->left < 0 || --f->left < 0;
}

static int fixture_open(struct fixture *f, struct test_allocator *alloc, bool journal)
{
    const struct pawl_runtime_options options = {
        .node_id = pawl__str("a"),
        .lease_us = INT64_C(86400000000),
        .no_journal = !journal,
        .hooks = {.stop = stop_soon, .ctx = f},
    };
    int status;

    *f = (struct fixture){.alloc = alloc, .left = INT32_MAX, .err = PAWL_ERROR_INIT};
    assert_int_equal(test_clock_open(&alloc->base, WALL, &f->clock), PAWL_OK);
    f->env = test_clock_env(f->clock);
    pawl__arena_init(&f->arena, &f->env->alloc, (size_t)64 << 20);
    pawl__engine_init(&f->engine, &f->env->alloc, (struct pawl_hash_seed){1, 2});
    status = pawl__activities_register(&f->engine);
    if (status == PAWL_OK)
        status = pawl__expressions_register(&f->engine);
    if (status == PAWL_OK)
        status = pawl__memory_store_new(f->env, &f->store, &f->err);
    if (status == PAWL_OK)
        status = pawl__runtime_open(f->env, &f->engine, f->store, &options, &f->runtime, &f->err);
    return status;
}

static void fixture_close(struct fixture *f)
{
    pawl__runtime_close(f->runtime);
    pawl_store_close(f->store);
    pawl__engine_release(&f->engine);
    pawl__arena_release(&f->arena);
    test_clock_close(f->clock);
}

static int64_t later(struct fixture *f)
{
    return pawl_env_monotonic_ns(f->env) + 60 * SECOND;
}

/* `text` is JSON with ' in place of ". */
static int publish(struct fixture *f, const char *text)
{
    struct pawl_definitions *definitions = pawl__runtime_definitions(f->runtime);
    struct pawl_str copy = pawl__arena_str(&f->arena, pawl__str(text));
    struct pawl_definition_row row;
    struct pawl_json json;
    int status;

    if (!copy.ptr)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < copy.len; i++) {
        if (copy.ptr[i] == '\'')
            ((char *)(uintptr_t)copy.ptr)[i] = '"';
    }
    status = pawl__json_parse(&f->arena, copy, NULL, &json, NULL, &f->err);
    if (status == PAWL_OK)
        status = pawl__definitions_import(definitions, &json, &f->arena, &row, later(f), &f->err);
    if (status == PAWL_OK)
        status = pawl__definitions_publish(definitions, row.id, &f->arena, NULL, later(f), &f->err);
    return status;
}

/* Each time what was put off is due again. */
static int drain(struct fixture *f)
{
    int status = PAWL_OK;

    for (int i = 0; i < 5 && status == PAWL_OK; i++) {
        struct pawl_worked worked;

        status = pawl__runtime_drain(f->runtime, &worked, later(f), &f->err);
        test_clock_advance(f->clock, 60 * SECOND);
    }
    return status;
}

/* `arg` is the parent's definition, and its id. */
struct subject {
    const char *definition;
    const char *id;
};

static int run_everything(struct test_allocator *alloc, void *arg)
{
    const struct subject *subject = arg;
    const struct pawl_start what = {.definition_id = pawl__str(subject->id)};
    struct pawl_instance_row row;
    struct pawl_outcome outcome;
    struct fixture f;
    int status = fixture_open(&f, alloc, false);

    if (status == PAWL_OK)
        status = publish(&f, child);
    if (status == PAWL_OK)
        status = publish(&f, subject->definition);
    if (status == PAWL_OK)
        status = pawl__runtime_start(f.runtime, &what, &outcome, later(&f), &f.err);
    /* Out of memory behind its first commit: it has begun, and the answer says so. */
    if (status == PAWL_EUNKNOWN && strstr(f.err.msg, "was started"))
        status = PAWL_ENOMEM;
    if (status == PAWL_OK) /* a child that is run in the background waits by now */
        status = drain(&f);
    if (status == PAWL_OK)
        status = pawl__runtime_send_event(f.runtime, pawl__str("Go"), NULL, NULL, NULL, later(&f),
                                          &f.err);
    if (status == PAWL_OK)
        status = drain(&f);
    if (status == PAWL_OK)
        status = pawl__runtime_show(f.runtime, pawl__str(outcome.instance_id), &f.arena, &row, NULL,
                                    later(&f), &f.err);
    if (status == PAWL_OK)
        assert_str(row.sub_status, "Finished");
    fixture_close(&f);
    return status;
}

static void running_out_of_memory_is_an_answer_and_what_was_stored_goes_on(void **state)
{
    struct subject subjects[] = {{parent, "parent"}, {aside, "aside"}};

    (void)state;
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++)
        test_sweep_allocations(run_everything, &subjects[i], 5000);
}

static uint64_t count_instances(struct fixture *f)
{
    const struct pawl_query all = {.table = PAWL_TABLE_INSTANCES, .flags = PAWL_QUERY_COUNT};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->store, &all, &f->arena, &rows, later(f), &f->err), &f->err);
    return rows.total;
}

/* A detached start, without a key; one allocation of it fails. */
static bool create_without(struct test_allocator *alloc, size_t nth)
{
    const struct pawl_start what = {.definition_id = pawl__str("child")};
    struct pawl_outcome outcome;
    struct fixture f;
    uint64_t made;
    bool has_failed;
    int status;

    assert_int_equal(fixture_open(&f, alloc, true), PAWL_OK);
    assert_ok(publish(&f, child), &f.err);
    test_allocator_fail(alloc, nth, 0);
    status = pawl__runtime_create(f.runtime, &what, &outcome, later(&f), &f.err);
    has_failed = alloc->request_count >= alloc->fail_at;
    test_allocator_fail(alloc, 0, 0);
    made = count_instances(&f);
    if (status == PAWL_OK && made == 0)
        fail_msg("allocation %zu: PAWL_OK, and there is none", nth);
    if (pawl__error_says_unchanged(status) && made > 0)
        fail_msg("allocation %zu: %s, and there is one", nth, f.err.msg);
    fixture_close(&f);
    assert_int_equal(alloc->live_count, 0);
    return has_failed;
}

static void a_creation_that_finds_no_memory_says_whether_it_was_made(void **state)
{
    struct test_allocator alloc;
    size_t nth = 0;

    (void)state;
    do {
        test_allocator_init(&alloc);
    } while (create_without(&alloc, ++nth));
    assert_true(nth > 20);
}

static void an_endless_loop_can_be_stopped_and_stays_small(void **state)
{
    const struct pawl_start what = {.definition_id = pawl__str("loop")};
    struct pawl_instance_row row;
    struct pawl_outcome outcome;
    struct test_allocator alloc;
    struct fixture f;

    (void)state;
    test_allocator_init(&alloc);
    assert_int_equal(fixture_open(&f, &alloc, false), PAWL_OK);
    f.left = 200000;
    assert_ok(publish(&f, loop), &f.err);
    assert_ok(pawl__runtime_start(f.runtime, &what, &outcome, later(&f), &f.err), &f.err);
    assert_int_equal(outcome.sub_status, PAWL_SUB_EXECUTING);
    assert_true(alloc.live_bytes < (size_t)4 << 20);
    /* Nobody has it now, and it is as it was: it can be cancelled. */
    f.left = INT32_MAX;
    assert_ok(pawl__runtime_cancel(f.runtime, pawl__str(outcome.instance_id), later(&f), &f.err),
              &f.err);
    assert_ok(pawl__runtime_show(f.runtime, pawl__str(outcome.instance_id), &f.arena, &row, NULL,
                                 later(&f), &f.err),
              &f.err);
    assert_str(row.sub_status, "Cancelled");
    fixture_close(&f);
    assert_int_equal(alloc.live_count, 0);
}

static size_t count_requests(struct fixture *f, unsigned starts)
{
    const struct pawl_start what = {.definition_id = pawl__str("steps")};
    size_t before = f->alloc->request_count;

    for (unsigned i = 0; i < starts; i++) {
        struct pawl_outcome outcome;

        assert_ok(pawl__runtime_start(f->runtime, &what, &outcome, later(f), &f->err), &f->err);
        assert_int_equal(outcome.sub_status, PAWL_SUB_FINISHED);
    }
    return f->alloc->request_count - before;
}

/* Three durable steps are four commits. Those of the store, which keeps the rows in memory, count.
 */
static void a_commit_takes_few_allocations(void **state)
{
    struct test_allocator alloc;
    struct fixture f;
    size_t requests;

    (void)state;
    test_allocator_init(&alloc);
    assert_int_equal(fixture_open(&f, &alloc, true), PAWL_OK);
    f.engine.commit_strategies = true;
    assert_ok(publish(&f, steps), &f.err);
    (void)count_requests(&f, 20); /* what is made once */
    requests = count_requests(&f, 100);
    assert_in_range(requests, 400, 400 * ALLOCATIONS_MAX);
    fixture_close(&f);
    assert_int_equal(alloc.live_count, 0);
}

/* Three events wait together, which share a commit; one allocation of it fails. */
static bool fold_without(struct test_allocator *alloc, size_t nth)
{
    const struct pawl_start what = {.definition_id = pawl__str("rounds")};
    const struct pawl_stimulus later_on = {.detached = true};
    const struct pawl_query all = {.table = PAWL_TABLE_BOOKMARKS};
    struct pawl_outcome outcome;
    struct pawl_worked worked;
    struct pawl_rows rows;
    struct fixture f;
    bool has_failed;
    int status;

    assert_int_equal(fixture_open(&f, alloc, true), PAWL_OK);
    assert_ok(publish(&f, rounds), &f.err);
    assert_ok(pawl__runtime_start(f.runtime, &what, &outcome, later(&f), &f.err), &f.err);
    for (int i = 0; i < 3; i++)
        assert_ok(pawl__runtime_send_event(f.runtime, pawl__str("Go"), NULL, &later_on, NULL,
                                           later(&f), &f.err),
                  &f.err);
    test_allocator_fail(alloc, nth, 0);
    status = pawl__runtime_drain(f.runtime, &worked, later(&f), &f.err);
    has_failed = alloc->request_count >= alloc->fail_at;
    test_allocator_fail(alloc, 0, 0);
    assert_true(status == PAWL_OK || (has_failed && status == PAWL_ENOMEM));
    test_clock_advance(f.clock, 60 * SECOND);
    assert_ok(drain(&f), &f.err);
    assert_ok(pawl_store_find(f.store, &all, &f.arena, &rows, later(&f), &f.err), &f.err);
    assert_int_equal(rows.count, 1);
    assert_str(((const struct pawl_bookmark_row *)rows.rows)->activity_id, "x");
    fixture_close(&f);
    assert_int_equal(alloc->live_count, 0);
    return has_failed;
}

static void events_of_a_fold_that_finds_no_memory_take_effect_once(void **state)
{
    struct test_allocator alloc;
    size_t nth = 0;

    (void)state;
    do {
        test_allocator_init(&alloc);
    } while (fold_without(&alloc, ++nth));
    assert_true(nth > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(running_out_of_memory_is_an_answer_and_what_was_stored_goes_on),
        cmocka_unit_test(a_creation_that_finds_no_memory_says_whether_it_was_made),
        cmocka_unit_test(events_of_a_fold_that_finds_no_memory_take_effect_once),
        cmocka_unit_test(an_endless_loop_can_be_stopped_and_stays_small),
        cmocka_unit_test(a_commit_takes_few_allocations),
    };

    return cmocka_run_group_tests_name("runtime/runtime_memory", tests, NULL, NULL);
}
