/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime on the memory store: starts, stimuli, timers, children, cancelling, keys, takeover.
 */
#include "runtime/runtime.h"

#include "activities/activities.h"
#include "expressions/expressions.h"
#include "lib/clock.h"
#include "lib/rig.h"
#include "stores/stores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
#define WALL (INT64_C(1767323045) * SECOND) /* 2026-01-02T03:04:05Z */

#define TEXT(value) RIG_INPUT("String", "Literal", "'" value "'")
#define TRIGGER(id, name)                                                                          \
    "{'id':'" id "','type':'Elsa.Event','customProperties':{'canStartWorkflow':true},"             \
    "'eventName':" TEXT(name) "}"
#define DELAY(id, span)                                                                            \
    "{'id':'" id                                                                                   \
    "','type':'Elsa.Delay','timeSpan':" RIG_INPUT("TimeSpan", "Literal", "'" span "'") "}"
#define CHILD(id, type, definition)                                                                \
    "{'id':'" id "','type':'" type "','waitForCompletion':" RIG_INPUT(                             \
        "Boolean", "Literal", "true") ",'workflowDefinitionId':" TEXT(definition) "}"
#define PUBLISH(id, name) "{'id':'" id "','type':'Elsa.PublishEvent','eventName':" TEXT(name) "}"
#define DEFINITION(id, more, activities)                                                           \
    "{'definitionId':'" id "','id':'" id ":1','version':1,'name':'" id "'," more                   \
    "'root':" RIG_SEQUENCE("seq", activities) "}"

struct node {
    struct pawl_store *store;
    struct pawl_runtime *runtime;
};

struct fixture {
    struct test_clock *clock;
    struct pawl_env *env;
    struct pawl_engine engine;
    struct pawl_memory_database *database;
    struct node a;
    struct pawl_arena arena;
    struct pawl_error err;
    char lines[4096];
    enum pawl_store_call fail_call; /* the next one of this kind, */
    unsigned fail_skip;             /* but for so many, fails */
    enum pawl_store_fault fail_how; /* so, */
    bool fail;                      /* if this is set */
};

/* The tests' own calls are made on one thread, and commits while that waits for them. */
static bool decide(void *ctx, enum pawl_store_call call, enum pawl_store_fault *how)
{
    struct fixture *f = ctx;

    if (!f->fail || call != f->fail_call || f->fail_skip-- > 0)
        return false;
    f->fail = false;
    *how = f->fail_how;
    return true;
}

static void fail_next(struct fixture *f, enum pawl_store_call call, enum pawl_store_fault how)
{
    f->fail_call = call;
    f->fail_how = how;
    f->fail_skip = 0;
    f->fail = true;
}

static void on_line(void *ctx, struct pawl_str instance_id, struct pawl_str text)
{
    struct fixture *f = ctx;
    size_t len = strlen(f->lines);

    (void)instance_id;
    snprintf(f->lines + len, sizeof f->lines - len, "%.*s\n", PAWL_STR_ARG(text));
}

static int64_t later(struct fixture *f)
{
    return pawl_env_monotonic_ns(f->env) + 60 * SECOND;
}

static void node_open(struct fixture *f, struct node *node, const char *id)
{
    struct pawl_runtime_options options = {.node_id = pawl__str(id),
                                           .hooks = {.line = on_line, .ctx = f}};

    const struct pawl_store_fault_hooks hooks = {.decide = decide, .ctx = f};
    struct pawl_store *inner;

    assert_ok(pawl__memory_store_open(f->database, f->env, &inner, &f->err), &f->err);
    assert_ok(pawl__fault_store_new(f->env, inner, &hooks, &node->store, &f->err), &f->err);
    assert_ok(
        pawl__runtime_open(f->env, &f->engine, node->store, &options, &node->runtime, &f->err),
        &f->err);
}

static void node_close(struct node *node)
{
    pawl__runtime_close(node->runtime);
    pawl_store_close(node->store);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    assert_int_equal(test_clock_open(NULL, WALL, &f->clock), PAWL_OK);
    f->env = test_clock_env(f->clock);
    pawl__arena_init(&f->arena, &f->env->alloc, (size_t)64 << 20);
    pawl__engine_init(&f->engine, &f->env->alloc, (struct pawl_hash_seed){1, 2});
    assert_int_equal(pawl__activities_register(&f->engine), PAWL_OK);
    assert_int_equal(pawl__expressions_register(&f->engine), PAWL_OK);
    assert_ok(pawl__memory_database_new(f->env, &f->database, &f->err), &f->err);
    node_open(f, &f->a, "a");
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    node_close(&f->a);
    pawl__memory_database_free(f->database);
    pawl__engine_release(&f->engine);
    pawl__arena_release(&f->arena);
    test_clock_close(f->clock);
    free(f);
    return 0;
}

/* JSON written with ' in place of ". */
static struct pawl_json json(struct fixture *f, const char *text)
{
    struct pawl_str copy = pawl__arena_str(&f->arena, pawl__str(text));
    struct pawl_json value;

    for (size_t i = 0; i < copy.len; i++) {
        if (copy.ptr[i] == '\'')
            ((char *)(uintptr_t)copy.ptr)[i] = '"';
    }
    assert_ok(pawl__json_parse(&f->arena, copy, NULL, &value, NULL, &f->err), &f->err);
    return value;
}

static void publish(struct fixture *f, const char *text)
{
    struct pawl_definitions *definitions = pawl__runtime_definitions(f->a.runtime);
    struct pawl_json definition = json(f, text);
    struct pawl_publication said;
    struct pawl_definition_row row;

    assert_ok(
        pawl__definitions_import(definitions, &definition, &f->arena, &row, later(f), &f->err),
        &f->err);
    assert_ok(pawl__definitions_publish(definitions, row.id, &f->arena, &said, later(f), &f->err),
              &f->err);
    assert_true(said.succeeded);
}

static struct pawl_outcome start(struct fixture *f, const char *definition_id)
{
    const struct pawl_start what = {.definition_id = pawl__str(definition_id)};
    struct pawl_outcome outcome;

    assert_ok(pawl__runtime_start(f->a.runtime, &what, &outcome, later(f), &f->err), &f->err);
    return outcome;
}

static void drain_node(struct fixture *f, struct node *node)
{
    struct pawl_worked worked;

    assert_ok(pawl__runtime_drain(node->runtime, &worked, later(f), &f->err), &f->err);
}

static void drain(struct fixture *f)
{
    drain_node(f, &f->a);
}

static struct pawl_sent send(struct fixture *f, const char *event)
{
    struct pawl_sent sent;

    assert_ok(pawl__runtime_send_event(f->a.runtime, pawl__str(event), NULL, NULL, &sent, later(f),
                                       &f->err),
              &f->err);
    return sent;
}

static const char *sub_status(struct fixture *f, const char *id)
{
    struct pawl_instance_row row;
    int status =
        pawl__runtime_show(f->a.runtime, pawl__str(id), &f->arena, &row, NULL, later(f), &f->err);

    return status == PAWL_OK ? pawl__arena_str(&f->arena, row.sub_status).ptr : "gone";
}

static uint64_t count(struct fixture *f, enum pawl_table table)
{
    const struct pawl_query query = {.table = table, .flags = PAWL_QUERY_COUNT};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    return rows.total;
}

/* ---- starting ------------------------------------------------------------------------------ */

static void a_created_instance_remembers_its_key(void **state)
{
    struct fixture *f = *state;
    const struct pawl_start what = {.definition_id = pawl__str("d"),
                                    .idempotency_key = pawl__str("order-7")};
    struct pawl_outcome first, second;

    publish(f, DEFINITION("d", "", RIG_WRITE("w1", "one")));
    assert_ok(pawl__runtime_create(f->a.runtime, &what, &first, later(f), &f->err), &f->err);
    assert_ok(pawl__runtime_create(f->a.runtime, &what, &second, later(f), &f->err), &f->err);
    assert_true(second.existed);
    assert_string_equal(second.instance_id, first.instance_id);
    drain(f);
    assert_string_equal(f->lines, "one\n");
}

/* ---- stimuli ------------------------------------------------------------------------------- */

static void a_singleton_that_ends_with_its_first_burst_starts_again(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "'options':{'activationStrategyType':'SingletonStrategy'},",
                          TRIGGER("e", "Go") "," RIG_WRITE("w", "started")));
    for (int i = 0; i < 2; i++) {
        (void)send(f, "Go");
        drain(f);
        assert_int_equal(count(f, PAWL_TABLE_RESERVATIONS), 0);
    }
    assert_string_equal(f->lines, "started\nstarted\n");
}

/* ---- time ---------------------------------------------------------------------------------- */

/* ---- children ------------------------------------------------------------------------------ */

/* The child's burst is more than one commit: its parent waits for the last of them. */
static void a_child_that_commits_on_its_way_runs_inline(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    f->engine.commit_strategies = true;
    publish(f, DEFINITION("grandchild", "", RIG_WRITE("g", "grandchild")));
    publish(
        f, DEFINITION("child", "'options':{'commitStrategyName':'ActivityExecuted'},",
                      RIG_WRITE("c1", "child") "," CHILD(
                          "c2", "Elsa.ExecuteWorkflow", "grandchild") "," RIG_WRITE("c3", "ends")));
    publish(f,
            DEFINITION("d", "",
                       CHILD("x", "Elsa.ExecuteWorkflow", "child") "," RIG_WRITE("w2", "after")));
    outcome = start(f, "d");
    assert_string_equal(f->lines, "child\ngrandchild\nends\nafter\n");
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    drain(f);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* ---- cancelling, deleting ------------------------------------------------------------------ */

/* ---- failures ------------------------------------------------------------------------------ */

/* Whatever a failed call has left in this node's hands, this node finds again. */
static void drain_later(struct fixture *f)
{
    test_clock_advance(f->clock, SECOND);
    drain(f);
}

static void an_event_that_was_accepted_is_matched_later(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    outcome = start(f, "d");
    fail_next(f, PAWL_STORE_CALL_FIND, PAWL_STORE_FAULT_BEFORE);
    assert_int_equal(send(f, "Go").resumed, 0);
    assert_false(f->fail);
    drain_later(f);
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void work_whose_taking_was_not_answered_is_done_later(void **state)
{
    struct fixture *f = *state;
    struct pawl_worked worked;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    outcome = start(f, "d");
    (void)send(f, "Go");
    fail_next(f, PAWL_STORE_CALL_TAKE, PAWL_STORE_FAULT_AFTER);
    assert_code(pawl__runtime_work(f->a.runtime, 0, &worked, later(f), &f->err), PAWL_EUNKNOWN);
    drain_later(f);
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    assert_string_equal(f->lines, "went\n");
}

static void an_instance_whose_claim_was_not_answered_goes_on(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    outcome = start(f, "d");
    (void)send(f, "Go");
    fail_next(f, PAWL_STORE_CALL_CLAIM, PAWL_STORE_FAULT_AFTER);
    drain(f);
    assert_string_equal(f->lines, "");
    drain_later(f);
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    assert_string_equal(f->lines, "went\n");
}

static void a_refused_claim_does_not_lose_mail(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    outcome = start(f, "d");
    (void)send(f, "Go");
    fail_next(f, PAWL_STORE_CALL_CLAIM, PAWL_STORE_FAULT_BEFORE);
    drain(f);
    drain_later(f);
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* The parent is there and its child's start is this node's: neither is anybody else's business. */
static void a_start_that_failed_in_its_child_goes_on(void **state)
{
    struct fixture *f = *state;
    const struct pawl_start what = {.definition_id = pawl__str("d"),
                                    .instance_id = pawl__str("mine")};
    struct pawl_outcome outcome;
    int status = PAWL_OK;

    publish(f, DEFINITION("child", "", RIG_WRITE("c", "child")));
    publish(f,
            DEFINITION("d", "",
                       CHILD("x", "Elsa.ExecuteWorkflow", "child") "," RIG_WRITE("w2", "after")));
    /* The first looks are for definitions, and nothing has begun. */
    for (unsigned skip = 0; status != PAWL_EUNKNOWN && skip < 20; skip++) {
        fail_next(f, PAWL_STORE_CALL_FIND, PAWL_STORE_FAULT_BEFORE);
        f->fail_skip = skip;
        status = pawl__runtime_start(f->a.runtime, &what, &outcome, later(f), &f->err);
        assert_true(status == PAWL_EUNAVAILABLE || status == PAWL_EUNKNOWN);
    }
    assert_code(status, PAWL_EUNKNOWN);
    assert_non_null(strstr(f->err.msg, "mine has begun"));
    drain_later(f);
    assert_string_equal(f->lines, "child\nafter\n");
    assert_string_equal(sub_status(f, "mine"), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* ---- other nodes --------------------------------------------------------------------------- */

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_created_instance_remembers_its_key),
        TEST(a_singleton_that_ends_with_its_first_burst_starts_again),
        TEST(a_child_that_commits_on_its_way_runs_inline),
        TEST(an_event_that_was_accepted_is_matched_later),
        TEST(work_whose_taking_was_not_answered_is_done_later),
        TEST(an_instance_whose_claim_was_not_answered_goes_on),
        TEST(a_refused_claim_does_not_lose_mail),
        TEST(a_start_that_failed_in_its_child_goes_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
