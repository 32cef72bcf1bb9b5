/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes that send requests, by an executor that is the test's: it answers when told to.
 */
#ifndef PAWL_TESTS_UNIT_RUNTIME_REQUESTS_H
#define PAWL_TESTS_UNIT_RUNTIME_REQUESTS_H

#include "activities/activities.h"
#include "expressions/expressions.h"
#include "lib/clock.h"
#include "lib/rig.h"
#include "runtime/work/private.h"
#include "stores/stores.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
#define WALL (INT64_C(1767323045) * SECOND) /* 2026-01-02T03:04:05Z */
/* Ends when a test moves the clock on. Its keeper renews it by the machine's time, so that a short
 * one would begin again by itself wherever a test is slow. */
#define LEASE (3600 * SECOND)
#define S(text) PAWL_STR_LIT(text)

#define TEXT(value) RIG_INPUT("String", "Literal", "'" value "'")
#define SEND_WITH(id, more)                                                                        \
    "{'id':'" id "','type':'Elsa.FlowSendHttpRequest'," more "'url':" TEXT(                        \
        "http://there/a") ",'expectedStatusCodes':" RIG_INPUT("Int32[]", "Object", "'[200]'") "}"
#define SEND(id) SEND_WITH(id, "")
#define CUSTOM(what) "'customProperties':{" what "},"
#define CHILD(id, definition)                                                                      \
    "{'id':'" id "','type':'Elsa.ExecuteWorkflow','waitForCompletion':" RIG_INPUT(                 \
        "Boolean", "Literal", "true") ",'workflowDefinitionId':" TEXT(definition) "}"
#define DEFINITION(id, activities)                                                                 \
    "{'definitionId':'" id "','id':'" id ":1','version':1,'name':'" id                             \
    "','root':" RIG_SEQUENCE("seq", activities) "}"

/* Sends one request, and then says so. */
#define DEFINITION_SEND DEFINITION("d", SEND("s") "," RIG_WRITE("w", "after"))

#define ASKED_MAX 64

/* ---- an executor that does as it is told --------------------------------------------------- */

struct asked {
    char text[1024]; /* method, URL, headers, body */
    char key[256];
    char scope[64];
    pawl_http_done done;
    void *ctx;
    bool ended;
};

struct scripted {
    struct pawl_http_executor base;
    struct asked asked[ASKED_MAX];
    atomic_size_t count; /* looked at while the runtime's thread sends */
    /* Answered at once by these, one after the other, the last for ever; NULL: by hand. */
    const struct pawl_http_answer *answers;
    size_t answer_count;
    atomic_int refuses; /* what submit answers instead; PAWL_OK: nothing */
    atomic_int refused;
};

static inline int script_submit(struct pawl_http_executor *executor,
                                const struct pawl_http_request *request, pawl_http_done done,
                                void *ctx, uint64_t *ticket, struct pawl_error *err)
{
    struct scripted *s = (struct scripted *)executor;
    struct asked *asked = &s->asked[s->count];
    int len = snprintf(asked->text, sizeof asked->text, "%.*s %.*s\n",
                       PAWL_STR_ARG(request->method), PAWL_STR_ARG(request->url));
    int refuses = atomic_load(&s->refuses);

    if (refuses != PAWL_OK) {
        atomic_fetch_add(&s->refused, 1);
        if (err)
            *err = (struct pawl_error){.code = refuses, .msg = "the script says no"};
        return refuses;
    }
    assert_true(s->count < ASKED_MAX);
    for (size_t i = 0; i < request->header_count; i++) {
        const struct pawl_http_header *header = &request->headers[i];

        if (pawl__str_is(header->name, "Idempotency-Key")) {
            (void)snprintf(asked->key, sizeof asked->key, "%.*s", PAWL_STR_ARG(header->value));
            continue;
        }
        len += snprintf(asked->text + len, sizeof asked->text - (size_t)len, "%.*s: %.*s\n",
                        PAWL_STR_ARG(header->name), PAWL_STR_ARG(header->value));
    }
    (void)snprintf(asked->text + len, sizeof asked->text - (size_t)len, "%.*s",
                   PAWL_STR_ARG(request->body));
    (void)snprintf(asked->scope, sizeof asked->scope, "%.*s", PAWL_STR_ARG(request->scope));
    asked->done = done;
    asked->ctx = ctx;
    *ticket = ++s->count;
    if (s->answers) {
        size_t number = s->count <= s->answer_count ? s->count - 1 : s->answer_count - 1;

        asked->ended = true;
        done(ctx, &s->answers[number]);
    }
    return PAWL_OK;
}

static inline void script_answer(struct scripted *s, size_t number,
                                 const struct pawl_http_answer *answer)
{
    assert_true(number < s->count);
    if (s->asked[number].ended)
        return;
    s->asked[number].ended = true;
    s->asked[number].done(s->asked[number].ctx, answer);
}

static inline void script_cancel(struct pawl_http_executor *executor, uint64_t ticket)
{
    const struct pawl_http_answer answer = {.end = PAWL_HTTP_CANCELLED};

    script_answer((struct scripted *)executor, (size_t)ticket - 1, &answer);
}

static const struct pawl_http_executor_ops script_ops = {PAWL_HTTP_VERSION, NULL, script_submit,
                                                         script_cancel};

static const struct pawl_http_header json_header[] = {{S("Content-Type"), S("application/json")}};
static const struct pawl_http_answer ok = {.end = PAWL_HTTP_ANSWERED,
                                           .sent = true,
                                           .status = 200,
                                           .url = S("http://there/a"),
                                           .headers = json_header,
                                           .header_count = 1,
                                           .body = S("{\"n\":1}")};

/* ---- nodes --------------------------------------------------------------------------------- */

struct node {
    struct pawl_store *store;
    struct pawl_runtime *runtime;
    struct scripted script;
};

struct fixture {
    struct test_clock *clock; /* NULL: the system's */
    struct pawl_env *env;
    struct pawl_engine engine;
    struct pawl_memory_database *database;
    struct node a;
    struct node b; /* runtime NULL: not there */
    struct pawl_arena arena;
    struct pawl_error err;
    char lines[4096];
};

static inline int on_line(void *ctx, struct pawl_str instance_id, struct pawl_str text)
{
    struct fixture *f = ctx;
    size_t len = strlen(f->lines);

    (void)instance_id;
    (void)snprintf(f->lines + len, sizeof f->lines - len, "%.*s\n", PAWL_STR_ARG(text));
    return PAWL_OK;
}

static inline int64_t later(struct fixture *f)
{
    return pawl_env_monotonic_ns(f->env) + 60 * SECOND;
}

static inline void node_open_with(struct fixture *f, struct node *node, const char *id,
                                  struct pawl_http_executor *http)
{
    struct pawl_runtime_options options = {.node_id = pawl__str(id),
                                           .http = http,
                                           .lease_us = LEASE / 1000,
                                           .hooks = {.line = on_line, .ctx = f}};

    assert_ok(pawl__memory_store_open(f->database, f->env, &node->store, &f->err), &f->err);
    assert_ok(
        pawl__runtime_open(f->env, &f->engine, node->store, &options, &node->runtime, &f->err),
        &f->err);
}

static inline void node_open(struct fixture *f, struct node *node, const char *id)
{
    node->script = (struct scripted){.base = {&script_ops}};
    node_open_with(f, node, id, &node->script.base);
}

static inline void node_close(struct node *node)
{
    if (!node->runtime)
        return;
    pawl__runtime_close(node->runtime);
    pawl_store_close(node->store);
    node->runtime = NULL;
}

static inline struct fixture *fixture_new(void)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    return f;
}

static inline void fixture_open(struct fixture *f)
{
    pawl__arena_init(&f->arena, &f->env->alloc, (size_t)64 << 20);
    pawl__engine_init(&f->engine, &f->env->alloc, (struct pawl_hash_seed){1, 2});
    assert_int_equal(pawl__activities_register(&f->engine), PAWL_OK);
    assert_int_equal(pawl__expressions_register(&f->engine), PAWL_OK);
    assert_ok(pawl__memory_database_new(f->env, &f->database, &f->err), &f->err);
    node_open(f, &f->a, "a");
}

static inline int set_up(void **state)
{
    struct fixture *f = fixture_new();

    assert_int_equal(test_clock_open(NULL, WALL, &f->clock), PAWL_OK);
    f->env = test_clock_env(f->clock);
    fixture_open(f);
    *state = f;
    return 0;
}

/* For what must wait until its time has come. */
static inline int set_up_real(void **state)
{
    struct fixture *f = fixture_new();

    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    fixture_open(f);
    *state = f;
    return 0;
}

static inline int tear_down(void **state)
{
    struct fixture *f = *state;

    node_close(&f->a);
    node_close(&f->b);
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

static inline void publish(struct fixture *f, const char *text)
{
    struct pawl_definitions *definitions = pawl__runtime_definitions(f->a.runtime);
    struct pawl_str copy = pawl__arena_str(&f->arena, pawl__str(text));
    struct pawl_json definition;
    struct pawl_publication said;
    struct pawl_definition_row row;

    for (size_t i = 0; i < copy.len; i++) {
        if (copy.ptr[i] == '\'')
            ((char *)(uintptr_t)copy.ptr)[i] = '"';
    }
    assert_ok(pawl__json_parse(&f->arena, copy, NULL, &definition, NULL, &f->err), &f->err);
    assert_ok(
        pawl__definitions_import(definitions, &definition, &f->arena, &row, later(f), &f->err),
        &f->err);
    assert_ok(pawl__definitions_publish(definitions, row.id, &f->arena, &said, later(f), &f->err),
              &f->err);
    assert_true(said.succeeded);
}

static inline struct pawl_outcome start_until(struct fixture *f, const char *definition_id,
                                              int64_t deadline_ns)
{
    const struct pawl_start what = {.definition_id = pawl__str(definition_id)};
    struct pawl_outcome outcome;

    assert_ok(pawl__runtime_start(f->a.runtime, &what, &outcome, deadline_ns, &f->err), &f->err);
    return outcome;
}

/* Answered by itself: the call returns when the burst has ended. */
static inline struct pawl_outcome start(struct fixture *f, const char *definition_id,
                                        const struct pawl_http_answer *answers, size_t count)
{
    f->a.script.answers = answers;
    f->a.script.answer_count = count;
    return start_until(f, definition_id, later(f));
}

/* Nobody answers: the call returns at once and the instance waits. */
static inline struct pawl_outcome begin(struct fixture *f, const char *definition_id)
{
    struct pawl_outcome outcome;

    f->a.script.answers = NULL;
    outcome = start_until(f, definition_id, pawl_env_monotonic_ns(f->env));
    assert_int_equal(outcome.sub_status, PAWL_SUB_EXECUTING);
    return outcome;
}

static inline void drain(struct fixture *f, struct node *node)
{
    struct pawl_worked worked;

    assert_ok(pawl__runtime_drain(node->runtime, &worked, later(f), &f->err), &f->err);
}

/* All that is due now, without waiting for responses. */
static inline void work(struct fixture *f, struct node *node)
{
    struct pawl_worked worked;

    do
        assert_ok(pawl__runtime_work(node->runtime, 0, &worked, later(f), &f->err), &f->err);
    while (worked.done > 0);
}

/* By the machine's time: what another thread does takes some, and the clock may be the test's. */
#define POLL_UNTIL(condition)                                                                      \
    do {                                                                                           \
        time_t poll_end = time(NULL) + 60;                                                         \
        while (!(condition)) {                                                                     \
            if (time(NULL) > poll_end)                                                             \
                fail_msg("after a minute: not %s", #condition);                                    \
            (void)usleep(10000);                                                                   \
        }                                                                                          \
    } while (0)

static inline const char *sub_status(struct fixture *f, const char *id)
{
    struct pawl_instance_row row;

    assert_ok(
        pawl__runtime_show(f->a.runtime, pawl__str(id), &f->arena, &row, NULL, later(f), &f->err),
        &f->err);
    return pawl__arena_str(&f->arena, row.sub_status).ptr;
}

/* The message of the first incident. */
static inline const char *incident(struct fixture *f, const char *id)
{
    struct pawl_instance_row row;
    struct pawl_json state;
    const struct pawl_json *message;

    assert_ok(
        pawl__runtime_show(f->a.runtime, pawl__str(id), &f->arena, &row, &state, later(f), &f->err),
        &f->err);
    message = pawl__json_find(&state, pawl__str("/incidents/0/message"));
    return message ? pawl__json_str(message).ptr : "";
}

static inline uint64_t count(struct fixture *f, enum pawl_table table)
{
    const struct pawl_query query = {.table = table, .flags = PAWL_QUERY_COUNT};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    return rows.total;
}

/* Nobody who waits for the instance waits for a request of it. */
static inline bool is_settled(struct fixture *f, const char *instance_id)
{
    return pawl__runtime_wait_answered(f->a.runtime, pawl__str(instance_id),
                                       pawl_env_monotonic_ns(f->env)) == PAWL_OK;
}

static inline void cancel(struct fixture *f, const char *instance_id)
{
    assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str(instance_id), later(f), &f->err),
              &f->err);
    assert_string_equal(sub_status(f, instance_id), "Cancelled");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
