/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes on one memory database under a clock that the test moves, and what tests say to them.
 */
#ifndef PAWL_TESTS_UNIT_RUNTIME_NODES_H
#define PAWL_TESTS_UNIT_RUNTIME_NODES_H

#include "activities/activities.h"
#include "expressions/expressions.h"
#include "lib/clock.h"
#include "lib/rig.h"
#include "runtime/runtime.h"
#include "stores/stores.h"

#include <stdatomic.h>
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
    struct test_clock *clock; /* NULL: the system's */
    struct pawl_env *env;
    struct pawl_engine engine;
    struct pawl_memory_database *database;
    struct node a;
    struct pawl_arena arena;
    struct pawl_error err;
    atomic_flag writing; /* a pool has several threads */
    char lines[4096];
    int stop_after; /* so many times the hook says no; 0: always */
    bool stopped;
    enum pawl_store_call fail_call; /* the next one of this kind, */
    unsigned fail_skip;             /* but for so many, fails */
    enum pawl_store_fault fail_how; /* so, */
    atomic_bool fail;               /* if this is set */
    atomic_uint applied;            /* calls of apply() */
    atomic_uint looked;             /* of find() and find_many() */
    struct pawl_guard *guard;       /* of nodes that are opened then */
    enum pawl_delivery delivery;    /* the same */
    /* Called before each commit; NULL: nothing is. */
    void (*before_apply)(struct fixture *f);
};

/* The tests' own calls are made on one thread, and commits while that waits for them. */
static inline bool decide(void *ctx, enum pawl_store_call call, enum pawl_store_fault *how)
{
    struct fixture *f = ctx;

    if (call == PAWL_STORE_CALL_APPLY) {
        atomic_fetch_add(&f->applied, 1);
        if (f->before_apply)
            f->before_apply(f);
    }
    if (call == PAWL_STORE_CALL_FIND)
        atomic_fetch_add(&f->looked, 1);
    if (!f->fail || call != f->fail_call || f->fail_skip-- > 0)
        return false;
    f->fail = false;
    *how = f->fail_how;
    return true;
}

static inline void fail_next(struct fixture *f, enum pawl_store_call call,
                             enum pawl_store_fault how)
{
    f->fail_call = call;
    f->fail_how = how;
    f->fail_skip = 0;
    f->fail = true;
}

static inline int on_line(void *ctx, struct pawl_str instance_id, struct pawl_str text)
{
    struct fixture *f = ctx;
    size_t len;

    while (atomic_flag_test_and_set(&f->writing))
        continue;
    len = strlen(f->lines);
    snprintf(f->lines + len, sizeof f->lines - len, "%.*s\n", PAWL_STR_ARG(text));
    atomic_flag_clear(&f->writing);
    if (pawl__str_is(text, "cancel me"))
        assert_ok(pawl__runtime_cancel(f->a.runtime, instance_id, PAWL_FOREVER, &f->err), &f->err);
    return PAWL_OK;
}

static inline bool is_stopped(void *ctx)
{
    struct fixture *f = ctx;

    if (f->stop_after > 0 && --f->stop_after == 0)
        f->stopped = true;
    return f->stopped;
}

static inline int64_t later(struct fixture *f)
{
    return pawl_env_monotonic_ns(f->env) + 60 * SECOND;
}

static inline void node_open(struct fixture *f, struct node *node, const char *id)
{
    struct pawl_runtime_options options = {
        .node_id = pawl__str(id),
        .guard = f->guard,
        .delivery = f->delivery,
        .works_itself = true,
        .hooks = {.line = on_line, .stop = is_stopped, .ctx = f}};
    const struct pawl_store_fault_hooks hooks = {.decide = decide, .ctx = f};
    struct pawl_store *inner;

    assert_ok(pawl__memory_store_open(f->database, f->env, &inner, &f->err), &f->err);
    assert_ok(pawl__fault_store_new(f->env, inner, &hooks, &node->store, &f->err), &f->err);
    assert_ok(
        pawl__runtime_open(f->env, &f->engine, node->store, &options, &node->runtime, &f->err),
        &f->err);
}

static inline void node_close(struct node *node)
{
    pawl__runtime_close(node->runtime);
    pawl_store_close(node->store);
}

static inline void open_all(struct fixture *f)
{
    pawl__arena_init(&f->arena, &f->env->alloc, (size_t)256 << 20);
    pawl__engine_init(&f->engine, &f->env->alloc, (struct pawl_hash_seed){1, 2});
    assert_int_equal(pawl__activities_register(&f->engine), PAWL_OK);
    assert_int_equal(pawl__expressions_register(&f->engine), PAWL_OK);
    assert_ok(pawl__memory_database_new(f->env, &f->database, &f->err), &f->err);
    node_open(f, &f->a, "a");
}

static inline int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    assert_int_equal(test_clock_open(NULL, WALL, &f->clock), PAWL_OK);
    f->env = test_clock_env(f->clock);
    open_all(f);
    *state = f;
    return 0;
}

/* With clocks that go on by themselves: for threads that wait. */
static inline int set_up_running(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    open_all(f);
    *state = f;
    return 0;
}

static inline int tear_down(void **state)
{
    struct fixture *f = *state;

    node_close(&f->a);
    pawl__memory_database_free(f->database);
    pawl__engine_release(&f->engine);
    pawl__arena_release(&f->arena);
    if (f->clock)
        test_clock_close(f->clock);
    else
        pawl_system_env_close(f->env);
    free(f);
    return 0;
}

/* JSON written with ' in place of ". */
static inline struct pawl_json json(struct fixture *f, const char *text)
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

static inline void publish(struct fixture *f, const char *text)
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

static inline struct pawl_outcome start(struct fixture *f, const char *definition_id)
{
    const struct pawl_start what = {.definition_id = pawl__str(definition_id)};
    struct pawl_outcome outcome;

    assert_ok(pawl__runtime_start(f->a.runtime, &what, &outcome, later(f), &f->err), &f->err);
    return outcome;
}

static inline void drain_node(struct fixture *f, struct node *node)
{
    struct pawl_worked worked;

    assert_ok(pawl__runtime_drain(node->runtime, &worked, later(f), &f->err), &f->err);
}

static inline void drain(struct fixture *f)
{
    drain_node(f, &f->a);
}

static inline struct pawl_sent send(struct fixture *f, const char *event)
{
    struct pawl_sent sent;

    assert_ok(pawl__runtime_send_event(f->a.runtime, pawl__str(event), NULL, NULL, &sent, later(f),
                                       &f->err),
              &f->err);
    return sent;
}

static inline const char *sub_status(struct fixture *f, const char *id)
{
    struct pawl_instance_row row;
    struct pawl_arena scratch; /* those who wait for a state ask often */
    const char *text = "gone";
    int status;

    pawl__arena_init(&scratch, &f->env->alloc, (size_t)64 << 20);
    status =
        pawl__runtime_show(f->a.runtime, pawl__str(id), &scratch, &row, NULL, later(f), &f->err);
    if (status != PAWL_ENOTFOUND) {
        assert_ok(status, &f->err);
        text = pawl__arena_str(&f->arena, row.sub_status).ptr;
        assert_non_null(text);
    }
    pawl__arena_release(&scratch);
    return text;
}

static inline uint64_t count(struct fixture *f, enum pawl_table table)
{
    const struct pawl_query query = {.table = table, .flags = PAWL_QUERY_COUNT};
    struct pawl_arena scratch;
    struct pawl_rows rows;

    pawl__arena_init(&scratch, &f->env->alloc, (size_t)64 << 20);
    assert_ok(pawl_store_find(f->a.store, &query, &scratch, &rows, later(f), &f->err), &f->err);
    pawl__arena_release(&scratch);
    return rows.total;
}

/* Reservations that last: of activations and callers' keys. */
static inline size_t reserved(struct fixture *f)
{
    const struct pawl_query query = {.table = PAWL_TABLE_RESERVATIONS, .limit = 1000};
    struct pawl_rows rows = {0};
    size_t found = 0;

    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    for (size_t i = 0; i < rows.count; i++)
        found += !pawl__str_starts(((const struct pawl_reservation_row *)rows.rows)[i].key,
                                   pawl__str("commit:"));
    return found;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
