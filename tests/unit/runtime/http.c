/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that bursts await: what is sent, what becomes of the answers, and what another node does
 * when the one that sent them is gone. The executor is the test's: it answers when told to.
 */
#include "servers/http.h"
#include "activities/activities.h"
#include "drivers/curl.h"
#include "expressions/expressions.h"
#include "lib/clock.h"
#include "lib/rig.h"
#include "runtime/pool.h"
#include "runtime/runtime_private.h"
#include "stores/stores.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
#define WALL (INT64_C(1767323045) * SECOND) /* 2026-01-02T03:04:05Z */
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

#define ASKED_MAX 64

/* ---- an executor that does as it is told --------------------------------------------------- */

struct asked {
    char text[1024]; /* method, URL, headers, body */
    char key[256];
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
    int refuses; /* what submit answers instead; PAWL_OK: nothing */
};

static int script_submit(struct pawl_http_executor *executor,
                         const struct pawl_http_request *request, pawl_http_done done, void *ctx,
                         uint64_t *ticket, struct pawl_error *err)
{
    struct scripted *s = (struct scripted *)executor;
    struct asked *asked = &s->asked[s->count];
    int len = snprintf(asked->text, sizeof asked->text, "%.*s %.*s\n",
                       PAWL_STR_ARG(request->method), PAWL_STR_ARG(request->url));

    if (s->refuses != PAWL_OK) {
        if (err)
            *err = (struct pawl_error){.code = s->refuses, .msg = "the script says no"};
        return s->refuses;
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

static void script_answer(struct scripted *s, size_t number, const struct pawl_http_answer *answer)
{
    assert_true(number < s->count);
    if (s->asked[number].ended)
        return;
    s->asked[number].ended = true;
    s->asked[number].done(s->asked[number].ctx, answer);
}

static void script_cancel(struct pawl_http_executor *executor, uint64_t ticket)
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

static void on_line(void *ctx, struct pawl_str instance_id, struct pawl_str text)
{
    struct fixture *f = ctx;
    size_t len = strlen(f->lines);

    (void)instance_id;
    (void)snprintf(f->lines + len, sizeof f->lines - len, "%.*s\n", PAWL_STR_ARG(text));
}

static int64_t later(struct fixture *f)
{
    return pawl_env_monotonic_ns(f->env) + 60 * SECOND;
}

static void node_open_with(struct fixture *f, struct node *node, const char *id,
                           struct pawl_http_executor *http)
{
    struct pawl_runtime_options options = {
        .node_id = pawl__str(id), .http = http, .hooks = {.line = on_line, .ctx = f}};

    assert_ok(pawl__memory_store_open(f->database, f->env, &node->store, &f->err), &f->err);
    assert_ok(
        pawl__runtime_open(f->env, &f->engine, node->store, &options, &node->runtime, &f->err),
        &f->err);
}

static void node_open(struct fixture *f, struct node *node, const char *id)
{
    node->script = (struct scripted){.base = {&script_ops}};
    node_open_with(f, node, id, &node->script.base);
}

static void node_close(struct node *node)
{
    if (!node->runtime)
        return;
    pawl__runtime_close(node->runtime);
    pawl_store_close(node->store);
    node->runtime = NULL;
}

static struct fixture *fixture_new(void)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    return f;
}

static void fixture_open(struct fixture *f)
{
    pawl__arena_init(&f->arena, &f->env->alloc, (size_t)64 << 20);
    pawl__engine_init(&f->engine, &f->env->alloc, (struct pawl_hash_seed){1, 2});
    assert_int_equal(pawl__activities_register(&f->engine), PAWL_OK);
    assert_int_equal(pawl__expressions_register(&f->engine), PAWL_OK);
    assert_ok(pawl__memory_database_new(f->env, &f->database, &f->err), &f->err);
    node_open(f, &f->a, "a");
}

static int set_up(void **state)
{
    struct fixture *f = fixture_new();

    assert_int_equal(test_clock_open(NULL, WALL, &f->clock), PAWL_OK);
    f->env = test_clock_env(f->clock);
    fixture_open(f);
    *state = f;
    return 0;
}

/* For what must wait until its time has come. */
static int set_up_real(void **state)
{
    struct fixture *f = fixture_new();

    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    fixture_open(f);
    *state = f;
    return 0;
}

static int tear_down(void **state)
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

static void publish(struct fixture *f, const char *text)
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

static struct pawl_outcome start_until(struct fixture *f, const char *definition_id,
                                       int64_t deadline_ns)
{
    const struct pawl_start what = {.definition_id = pawl__str(definition_id)};
    struct pawl_outcome outcome;

    assert_ok(pawl__runtime_start(f->a.runtime, &what, &outcome, deadline_ns, &f->err), &f->err);
    return outcome;
}

/* Answered by itself: the call returns when the burst has ended. */
static struct pawl_outcome start(struct fixture *f, const char *definition_id,
                                 const struct pawl_http_answer *answers, size_t count)
{
    f->a.script.answers = answers;
    f->a.script.answer_count = count;
    return start_until(f, definition_id, later(f));
}

/* Nobody answers: the call returns at once and the instance waits. */
static struct pawl_outcome begin(struct fixture *f, const char *definition_id)
{
    struct pawl_outcome outcome;

    f->a.script.answers = NULL;
    outcome = start_until(f, definition_id, pawl_env_monotonic_ns(f->env));
    assert_int_equal(outcome.sub_status, PAWL_SUB_EXECUTING);
    return outcome;
}

static void drain(struct fixture *f, struct node *node)
{
    struct pawl_worked worked;

    assert_ok(pawl__runtime_drain(node->runtime, &worked, later(f), &f->err), &f->err);
}

static const char *sub_status(struct fixture *f, const char *id)
{
    struct pawl_instance_row row;

    assert_ok(
        pawl__runtime_show(f->a.runtime, pawl__str(id), &f->arena, &row, NULL, later(f), &f->err),
        &f->err);
    return pawl__arena_str(&f->arena, row.sub_status).ptr;
}

/* The message of the first incident. */
static const char *incident(struct fixture *f, const char *id)
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

static uint64_t count(struct fixture *f, enum pawl_table table)
{
    const struct pawl_query query = {.table = table, .flags = PAWL_QUERY_COUNT};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    return rows.total;
}

/* ---- the usual ----------------------------------------------------------------------------- */

static void a_start_returns_when_the_answer_was_dealt_with(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f,
            DEFINITION("d", RIG_WRITE("w1", "before") "," SEND("s") "," RIG_WRITE("w2", "after")));
    outcome = start(f, "d", &ok, 1);
    assert_string_equal(f->lines, "before\nafter\n");
    assert_int_equal(outcome.sub_status, PAWL_SUB_FINISHED);
    drain(f, &f->a);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    assert_int_equal(f->a.script.count, 1);
}

static void everything_that_was_asked_for_is_sent(void **state)
{
    struct fixture *f = *state;

    publish(
        f,
        DEFINITION(
            "d",
            SEND_WITH(
                "s",
                "'method':" TEXT("POST") ",'contentType':" TEXT("text/plain") ",'content':" TEXT(
                    "body") ",'authorization':" TEXT("Bearer t") ",'requestHeaders':" RIG_INPUT("Ht"
                                                                                                "tp"
                                                                                                "He"
                                                                                                "ad"
                                                                                                "er"
                                                                                                "s",
                                                                                                "Ob"
                                                                                                "je"
                                                                                                "c"
                                                                                                "t",
                                                                                                "'{"
                                                                                                "\\"
                                                                                                "'X"
                                                                                                "-A"
                                                                                                "\\"
                                                                                                "':"
                                                                                                "\\"
                                                                                                "'1"
                                                                                                "\\"
                                                                                                "',"
                                                                                                "\\"
                                                                                                "'X"
                                                                                                "-B"
                                                                                                "\\"
                                                                                                "':"
                                                                                                "["
                                                                                                "\\"
                                                                                                "'2"
                                                                                                "\\"
                                                                                                "',"
                                                                                                "\\"
                                                                                                "'3"
                                                                                                "\\"
                                                                                                "']"
                                                                                                "}"
                                                                                                "'") ",")));
    (void)start(f, "d", &ok, 1);
    assert_string_equal(f->a.script.asked[0].text,
                        "POST http://there/a\nContent-Type: text/plain\nAuthorization: Bearer t\n"
                        "X-A: 1\nX-B: 2\nX-B: 3\nbody");
    assert_true(strlen(f->a.script.asked[0].key) > 0);
}

static void a_definition_may_have_its_own_key(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", SEND_WITH("s", "'requestHeaders':" RIG_INPUT(
                                                  "HttpHeaders", "Object",
                                                  "'{\\'idempotency-key\\':\\'mine\\'}'") ",")));
    (void)start(f, "d", &ok, 1);
    assert_string_equal(f->a.script.asked[0].key, "");
    assert_non_null(strstr(f->a.script.asked[0].text, "idempotency-key: mine\n"));
}

static void two_requests_of_an_instance_have_two_keys(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", SEND("s1") "," SEND("s2")));
    (void)start(f, "d", &ok, 1);
    assert_int_equal(f->a.script.count, 2);
    assert_string_not_equal(f->a.script.asked[0].key, f->a.script.asked[1].key);
}

static void a_start_that_need_not_wait_leaves_the_rest_to_others(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", SEND("s") "," RIG_WRITE("w", "after")));
    outcome = begin(f, "d");
    assert_string_equal(f->lines, "");
    script_answer(&f->a.script, 0, &ok);
    drain(f, &f->a);
    assert_string_equal(f->lines, "after\n");
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void an_inline_child_that_sends_lets_its_parent_go_on(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("child", SEND("s") "," RIG_WRITE("c", "child")));
    publish(f, DEFINITION("d", CHILD("x", "child") "," RIG_WRITE("w", "after")));
    outcome = start(f, "d", &ok, 1);
    assert_string_equal(f->lines, "child\nafter\n");
    assert_int_equal(outcome.sub_status, PAWL_SUB_FINISHED);
    drain(f, &f->a);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* ---- failures ------------------------------------------------------------------------------ */

#define OUTCOMES                                                                                   \
    "{'definitionId':'d','id':'d:1','version':1,'name':'d','root':{'id':'f','type':"               \
    "'Elsa.Flowchart','activities':[" SEND("s") "," RIG_WRITE("w1", "failed") "," RIG_WRITE(       \
        "w2", "late") "],'connections':["                                                          \
                      "{'source':{'activity':'s','port':'Failed to connect'},'target':"            \
                      "{'activity':'w1','port':'In'}},"                                            \
                      "{'source':{'activity':'s','port':'Timeout'},'target':"                      \
                      "{'activity':'w2','port':'In'}}]}}"

static void failures_have_outcomes(void **state)
{
    static const struct pawl_http_answer answers[] = {
        {.end = PAWL_HTTP_CONNECT, .error = {PAWL_EUNAVAILABLE, "nobody there"}},
        {.end = PAWL_HTTP_TIMED_OUT, .sent = true, .error = {PAWL_EUNKNOWN, "too late"}},
        {.end = PAWL_HTTP_LOST, .sent = true, .error = {PAWL_EUNKNOWN, "cut off"}},
        {.end = PAWL_HTTP_DENIED, .error = {PAWL_EPERM, "forbidden"}},
        {.end = PAWL_HTTP_TOO_LARGE, .sent = true, .error = {PAWL_ELIMIT, "too much"}},
    };
    struct fixture *f = *state;

    publish(f, OUTCOMES);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(start(f, "d", &answers[i], 1).sub_status, PAWL_SUB_FINISHED);
    assert_string_equal(f->lines, "failed\nlate\nfailed\nfailed\nfailed\n");
    assert_int_equal(f->a.script.count, 5);
}

static void what_cannot_be_sent_faults(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, OUTCOMES);
    f->a.script.refuses = PAWL_EINVAL;
    outcome = start_until(f, "d", later(f));
    assert_int_equal(outcome.sub_status, PAWL_SUB_FAULTED);
    assert_string_equal(incident(f, outcome.instance_id), "the script says no");
}

static void a_host_without_an_executor_says_so(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, OUTCOMES);
    node_close(&f->a);
    node_open_with(f, &f->a, "a", NULL);
    outcome = start_until(f, "d", later(f));
    assert_int_equal(outcome.sub_status, PAWL_SUB_FAULTED);
    assert_string_equal(incident(f, outcome.instance_id), "this host sends no HTTP requests");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void a_strategy_tries_again_with_the_same_key(void **state)
{
    static const struct pawl_http_answer answers[] = {
        {.end = PAWL_HTTP_ANSWERED, .sent = true, .status = 503},
        {.end = PAWL_HTTP_ANSWERED, .sent = true, .status = 200},
    };
    struct fixture *f = *state;

    publish(
        f,
        DEFINITION(
            "d", SEND_WITH("s", CUSTOM("'resilienceStrategy':{'strategyId':'http'}")) "," RIG_WRITE(
                     "w", "after")));
    assert_int_equal(start(f, "d", answers, 2).sub_status, PAWL_SUB_FINISHED);
    assert_int_equal(f->a.script.count, 2);
    assert_string_equal(f->a.script.asked[0].key, f->a.script.asked[1].key);
    assert_string_equal(f->lines, "after\n");
}

/* ---- cancelling ---------------------------------------------------------------------------- */

static void cancelling_does_not_wait_for_the_answer(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", SEND("s") "," RIG_WRITE("w", "after")));
    outcome = begin(f, "d");
    assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str(outcome.instance_id), later(f), &f->err),
              &f->err);
    assert_string_equal(sub_status(f, outcome.instance_id), "Cancelled");
    script_answer(&f->a.script, 0, &ok);
    drain(f, &f->a);
    assert_string_equal(f->lines, "");
    assert_string_equal(sub_status(f, outcome.instance_id), "Cancelled");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* ---- other nodes --------------------------------------------------------------------------- */

static void another_node_sends_again_what_a_dead_one_had_sent(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", SEND("s") "," RIG_WRITE("w", "after")));
    outcome = begin(f, "d");
    node_open(f, &f->b, "b");
    drain(f, &f->b);
    assert_int_equal(f->b.script.count, 0); /* its owner lives */
    node_close(&f->b);
    test_clock_advance(f->clock, 11 * SECOND);
    node_open(f, &f->b, "b");
    f->b.script.answers = &ok;
    f->b.script.answer_count = 1;
    drain(f, &f->b);
    assert_int_equal(f->b.script.count, 1);
    assert_string_equal(f->b.script.asked[0].key, f->a.script.asked[0].key);
    assert_string_equal(f->b.script.asked[0].text, f->a.script.asked[0].text);
    assert_string_equal(f->lines, "after\n");
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    /* The one that was thought dead hears at last: nothing happens. */
    script_answer(&f->a.script, 0, &ok);
    drain(f, &f->a);
    drain(f, &f->b);
    assert_string_equal(f->lines, "after\n");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* A node whose lease was over for a while takes its own rows: they are under way already. */
static void a_node_does_not_send_twice_what_it_is_sending(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct pawl_worked worked;

    publish(f, DEFINITION("d", SEND("s") "," RIG_WRITE("w", "after")));
    outcome = begin(f, "d");
    test_clock_advance(f->clock, 11 * SECOND);
    assert_ok(pawl__runtime_work(f->a.runtime, 0, &worked, later(f), &f->err), &f->err);
    assert_int_equal(f->a.script.count, 1);
    script_answer(&f->a.script, 0, &ok);
    assert_ok(pawl__runtime_wait_answered(f->a.runtime, pawl__str(outcome.instance_id), later(f)),
              NULL);
    drain(f, &f->a);
    assert_string_equal(f->lines, "after\n");
}

static void another_node_faults_what_must_not_be_sent_twice(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION(
                   "d", SEND_WITH("s", CUSTOM("'onUnknown':'fault'")) "," RIG_WRITE("w", "after")));
    outcome = begin(f, "d");
    test_clock_advance(f->clock, 11 * SECOND);
    node_open(f, &f->b, "b");
    drain(f, &f->b);
    assert_int_equal(f->b.script.count, 0);
    assert_string_equal(sub_status(f, outcome.instance_id), "Faulted");
    assert_non_null(strstr(incident(f, outcome.instance_id), "nobody knows"));
}

static void a_lost_answer_faults_where_it_must_not_be_sent_twice(void **state)
{
    static const struct pawl_http_answer lost = {
        .end = PAWL_HTTP_LOST, .sent = true, .error = {PAWL_EUNKNOWN, "cut off"}};
    static const struct pawl_http_answer unsent = {.end = PAWL_HTTP_CONNECT,
                                                   .error = {PAWL_EUNAVAILABLE, "nobody there"}};
    struct fixture *f = *state;

    publish(f, DEFINITION("d", SEND_WITH("s", CUSTOM("'onUnknown':'fault'"))));
    assert_int_equal(start(f, "d", &lost, 1).sub_status, PAWL_SUB_FAULTED);
    assert_int_equal(start(f, "d", &unsent, 1).sub_status, PAWL_SUB_FINISHED);
}

static void a_node_that_left_in_order_leaves_its_requests(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", SEND("s") "," RIG_WRITE("w", "after")));
    outcome = begin(f, "d");
    node_open(f, &f->b, "b");
    f->b.script.answers = &ok;
    f->b.script.answer_count = 1;
    node_close(&f->a);
    drain(f, &f->b);
    assert_string_equal(f->lines, "after\n");
    node_open(f, &f->a, "a");
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
}

/* ---- with a real executor ------------------------------------------------------------------ */

#define INSTANCES 12

static uint64_t unfinished(struct fixture *f)
{
    const struct pawl_condition condition = {.column =
                                                 pawl_table_column(PAWL_TABLE_INSTANCES, "status"),
                                             .compare = PAWL_NE,
                                             .value = {.text = S("Finished")}};
    const struct pawl_query query = {.table = PAWL_TABLE_INSTANCES,
                                     .flags = PAWL_QUERY_COUNT,
                                     .conditions = &condition,
                                     .condition_count = 1};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    return rows.total;
}

/* One worker, and all requests are under way at a time: a burst that waits has no worker. */
static void a_burst_that_waits_has_no_worker(void **state)
{
    static const struct test_http_route route = {.path = S("/a"),
                                                 .status = 200,
                                                 .content_type = S("application/json"),
                                                 .body = S("{}"),
                                                 .manner = TEST_HTTP_HOLD};
    const struct pawl_pool_options one = {.workers = 1};
    struct fixture *f = *state;
    struct test_http *server = test_http_start(&route, 1);
    struct pawl_http_executor *curl;
    struct pawl_pool *pool;
    struct pawl_wake wake = {0};
    char text[1024];

    (void)snprintf(text, sizeof text,
                   DEFINITION("d", "{'id':'s','type':'Elsa.SendHttpRequest','url':{'typeName':"
                                   "'Uri','expression':{'type':'Literal','value':'%s/a'}}}"),
                   test_http_url(server));
    publish(f, text);
    node_close(&f->a);
    assert_ok(pawl__curl_open(f->env, NULL, &curl, &f->err), &f->err);
    node_open_with(f, &f->a, "a", curl);
    assert_ok(pawl__pool_open(f->env, f->a.runtime, &one, &pool, &f->err), &f->err);
    for (int i = 0; i < INSTANCES; i++) {
        const struct pawl_start what = {.definition_id = pawl__str("d")};
        struct pawl_outcome outcome;

        assert_ok(pawl__runtime_create(f->a.runtime, &what, &outcome, later(f), &f->err), &f->err);
    }
    test_http_wait(server, INSTANCES);
    assert_int_equal(unfinished(f), INSTANCES);
    test_http_release(server);
    while (unfinished(f) > 0)
        (void)!pawl_store_wait(f->a.store, &wake, pawl_env_monotonic_ns(f->env) + SECOND / 10,
                               NULL);
    pawl__pool_close(pool);
    node_close(&f->a);
    pawl_http_close(curl);
    test_http_stop(server);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_start_returns_when_the_answer_was_dealt_with),
        TEST(everything_that_was_asked_for_is_sent),
        TEST(a_definition_may_have_its_own_key),
        TEST(two_requests_of_an_instance_have_two_keys),
        TEST(a_start_that_need_not_wait_leaves_the_rest_to_others),
        TEST(an_inline_child_that_sends_lets_its_parent_go_on),
        TEST(failures_have_outcomes),
        TEST(what_cannot_be_sent_faults),
        TEST(a_host_without_an_executor_says_so),
        cmocka_unit_test_setup_teardown(a_strategy_tries_again_with_the_same_key, set_up_real,
                                        tear_down),
        TEST(cancelling_does_not_wait_for_the_answer),
        TEST(another_node_sends_again_what_a_dead_one_had_sent),
        TEST(a_node_does_not_send_twice_what_it_is_sending),
        TEST(another_node_faults_what_must_not_be_sent_twice),
        TEST(a_lost_answer_faults_where_it_must_not_be_sent_twice),
        TEST(a_node_that_left_in_order_leaves_its_requests),
        cmocka_unit_test_setup_teardown(a_burst_that_waits_has_no_worker, set_up_real, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
