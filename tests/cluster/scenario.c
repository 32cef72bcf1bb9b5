/* SPDX-License-Identifier: Apache-2.0 */
/* The scenario: opening, definitions, driving. Its account is in account.c. */
#include "cluster/scenario_private.h"

#include "activities/activities.h"
#include "base/alloc.h"
#include "base/error.h"
#include "drivers/curl.h"
#include "expressions/expressions.h"
#include "lib/rig.h"

#include <string.h>

#define SECOND INT64_C(1000000000)
#define PATIENCE_NS (60 * SECOND)
/* Between looks while only another node's lease is waited for, or a delay of milliseconds. */
#define LOOK_NS INT64_C(20000000)
#define TRIES_MAX 20
#define ARENA_BYTES_MAX ((size_t)256 << 20)

/* ---- definitions, with ' in place of " ------------------------------------------------------ */

#define TEXT(value) RIG_INPUT("String", "Literal", "'" value "'")
#define LIQUID(value) RIG_INPUT("String", "Liquid", "'" value "'")
#define COUNT(id)                                                                                  \
    "{'id':'" id "','type':'Elsa.SetVariable','variable':{'id':'Counter','name':'Counter'},"       \
    "'value':" LIQUID("{{ Variables.Counter | plus: 1 }}") "}"
#define NAME(id)                                                                                   \
    "{'id':'" id "','type':'Elsa.SetName','value':" LIQUID("{{ Variables.Counter }}") "}"
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
#define SEND(id, path, more)                                                                       \
    "{'id':'" id "','type':'Elsa.FlowSendHttpRequest'," more                                       \
    "'method':" TEXT("POST") ",'url':" TEXT("@" path) ",'expectedStatusCodes':" RIG_INPUT(         \
        "Int32[]", "Object", "'[200]'") "}"
#define BRANCH(id)                                                                                 \
    RIG_SEQUENCE(id, RIG_WRITE(id "1", "branch") "," DELAY(                                        \
                         id "2", "00:00:00.0050000") "," RIG_WRITE(id "3", "branch ends"))
#define ASIDE "'customProperties':{'runAsynchronously':true},"
#define AT(id, when)                                                                               \
    "{'id':'" id "','type':'Elsa.StartAt','customProperties':{'canStartWorkflow':true},"           \
    "'dateTime':" RIG_INPUT("DateTimeOffset", "Literal", "'" when "'") "}"
#define STEPWISE "'commitStrategyName':'ActivityExecuted'"
#define DEFINITION(id, options, activities)                                                        \
    "{'definitionId':'" id "','id':'" id ":1','version':1,'name':'" id "','options':{" options     \
    "},'variables':[{'id':'Counter','name':'Counter','typeName':'Int32','value':0,"                \
    "'storageDriverTypeName':'WorkflowInstanceStorageDriver'}],"                                   \
    "'root':" RIG_SEQUENCE("seq", activities "," NAME("name")) "}"

struct definition {
    const char *id;
    const char *text;
};

/* Those that others start first. */
static const struct definition definitions[] = {
    {"slow", DEFINITION("slow", "",
                        COUNT("s1") "," DELAY("s2", "00:00:00.0050000") "," COUNT("s3") "," //
                        RIG_WRITE("s4", "slow"))},
    {"quick", DEFINITION("quick", STEPWISE, COUNT("q1") "," RIG_WRITE("q2", "quick"))},
    {"listener", DEFINITION("listener", "",
                            COUNT("l1") "," RIG_EVENT("l2", "Ping") "," COUNT("l3") "," //
                            RIG_WRITE("l4", "listener"))},
    {"fired", DEFINITION("fired", "'activationStrategyType':'SingletonStrategy'",
                         TRIGGER("f1", "Fire") "," COUNT("f2") "," RIG_WRITE("f3", "fired"))},
    {"timed", DEFINITION("timed", "", AT("t1", "2020-01-01T00:00:00+00:00") "," COUNT("t2"))},
    {SCENARIO_MAIN,
     DEFINITION(SCENARIO_MAIN, STEPWISE,
                COUNT("m1") "," RIG_WRITE("m2", "main begins") "," COUNT("m3") "," //
                RIG_EVENT("m4", "Early") "," COUNT("m5") ","                       //
                DELAY("m6", "00:00:00.0100000") "," COUNT("m7") ","                //
                CHILD("m8", "Elsa.DispatchWorkflow", "slow") "," COUNT("m9") ","   //
                CHILD("m10", "Elsa.ExecuteWorkflow", "quick") "," COUNT("m11") "," //
                CHILD("m12", "Elsa.ExecuteWorkflow", "slow") "," COUNT("m13") ","  //
                PUBLISH("m14", "Ping") "," COUNT("m15") ","                        //
                RIG_EVENT("m16", "Go") "," COUNT("m17") "," RIG_WRITE("m18", "main ends"))},
};

/* With a server; its URL is where there is an @. */
static const struct definition outside[] = {
    {"caller", DEFINITION("caller", "",
                          COUNT("a1") "," SEND("a2", SCENARIO_PLAIN_PATH, "") "," COUNT("a3") "," //
                          SEND("a4", SCENARIO_ASIDE_PATH, ASIDE) "," COUNT("a5") ","              //
                          RIG_WRITE("a6", "caller"))},
    {"patient", DEFINITION("patient", STEPWISE, COUNT("p1") "," RIG_EVENT("p2", "Never"))},
    {"doomed", DEFINITION("doomed", "",
                          COUNT("d1") "," CHILD("d2", "Elsa.ExecuteWorkflow", "patient") "," //
                          RIG_WRITE("d3", "doomed"))},
    {"forked", DEFINITION("forked", STEPWISE, RIG_PARALLEL("f", BRANCH("l") "," BRANCH("r")))},
    {"held", DEFINITION("held", "",
                        COUNT("h1") "," SEND("h2", SCENARIO_HELD_PATH, "") "," //
                        RIG_WRITE("h3", "held"))},
};

/* ---- trying again -------------------------------------------------------------------------- */

int64_t scenario_later(const struct scenario *s)
{
    int64_t then = pawl_env_monotonic_ns(s->env) + 20 * SECOND;

    return then < s->give_up_ns ? then : s->give_up_ns;
}

bool scenario_again(struct scenario *s, int status, unsigned *tries)
{
    enum pawl_error_class class = pawl_error_class(status);

    if (status == PAWL_OK || pawl_env_monotonic_ns(s->env) > s->give_up_ns)
        return false;
    return (class == PAWL_CLASS_TRANSIENT || class == PAWL_CLASS_UNKNOWN) && ++*tries < TRIES_MAX;
}

/* ---- opening ------------------------------------------------------------------------------- */

static int on_line(void *ctx, struct pawl_str instance_id, struct pawl_str text)
{
    struct scenario *s = ctx;

    if (s->options.line)
        s->options.line(s->options.ctx, instance_id, text);
    return PAWL_OK;
}

static void on_logged(void *ctx, struct pawl_str instance_id, const struct pawl_workflow *workflow,
                      const struct pawl_log_record *record)
{
    struct scenario *s = ctx;

    (void)workflow;
    if (s->options.logged)
        s->options.logged(s->options.ctx, instance_id, record->activity_id, record->event);
}

static int open_inner(struct scenario *s, struct pawl_store **out, struct pawl_error *err)
{
    const struct pawl_store_options create = {.flags = PAWL_STORE_OPEN_CREATE, .connections = 3};
    const char *uri = s->options.store;

    if (strcmp(uri, "memory:") == 0)
        return pawl__memory_store_new(s->env, out, err);
    if (strncmp(uri, "sqlite:", 7) == 0)
        return pawl__sqlite_store_open(s->env, pawl__str(uri + 7), &create, out, err);
    return pawl__postgres_store_open(s->env, pawl__str(uri), &create, out, err);
}

static int open_store(struct scenario *s, struct pawl_error *err)
{
    struct pawl_store *inner;
    int status = open_inner(s, &inner, err);

    if (status != PAWL_OK)
        return status;
    s->store = inner;
    if (!s->options.faults.decide)
        return PAWL_OK;
    return pawl__fault_store_new(s->env, inner, &s->options.faults, &s->store, err);
}

static int open_runtime(struct scenario *s, struct pawl_error *err)
{
    const struct pawl_runtime_options options = {
        .node_id = pawl__str(s->options.node),
        .lease_us = s->options.lease_us,
        .delivery = PAWL_DELIVERY_MIXED,
        .works_itself = true,
        .hooks = {.line = on_line, .logged = on_logged, .ctx = s},
        .http = s->http,
        .guard = s->guard,
    };
    unsigned tries = 0;
    int status;

    do {
        status = pawl__runtime_open(s->env, &s->engine, s->store, &options, &s->runtime, err);
    } while (scenario_again(s, status, &tries));
    return status;
}

int scenario_open(const struct scenario_options *options, struct scenario **out,
                  struct pawl_error *err)
{
    struct pawl_env *env;
    struct scenario *s;
    int status = pawl_system_env_open(&env, err);

    if (status != PAWL_OK)
        return status;
    s = pawl__alloc_zeroed(&env->alloc, sizeof *s);
    if (!s) {
        pawl_system_env_close(env);
        return pawl__error_code(err, PAWL_ENOMEM);
    }
    s->env = env;
    s->options = *options;
    s->give_up_ns = pawl_env_monotonic_ns(env) +
                    (options->patience_ns > 0 ? options->patience_ns : PATIENCE_NS);
    pawl__arena_init(&s->arena, &env->alloc, ARENA_BYTES_MAX);
    pawl__engine_init(&s->engine, &env->alloc, (struct pawl_hash_seed){1, 2});
    s->engine.commit_strategies = true;
    status = pawl__activities_register(&s->engine);
    if (status == PAWL_OK)
        status = pawl__expressions_register(&s->engine);
    if (status != PAWL_OK)
        (void)pawl__error_code(err, status);
    if (status == PAWL_OK)
        status = open_store(s, err);
    if (status == PAWL_OK)
        status = scenario_open_locks(s, err);
    if (status == PAWL_OK && options->url)
        status = pawl__curl_open(env, NULL, &s->http, err);
    if (status == PAWL_OK)
        status = open_runtime(s, err);
    if (status != PAWL_OK) {
        scenario_close(s);
        return status;
    }
    *out = s;
    return PAWL_OK;
}

void scenario_close(struct scenario *scenario)
{
    struct scenario *s = scenario;
    struct pawl_env *env;

    if (!s)
        return;
    env = s->env;
    pawl__runtime_close(s->runtime);
    pawl_http_close(s->http);
    scenario_close_locks(s);
    pawl_store_close(s->store);
    pawl__engine_release(&s->engine);
    pawl__arena_release(&s->arena);
    pawl__free(&env->alloc, s, sizeof *s);
    pawl_system_env_close(env);
}

/* ---- steps --------------------------------------------------------------------------------- */

static int read_definition(struct scenario *s, const char *text, struct pawl_json *out,
                           struct pawl_error *err)
{
    struct pawl_buf buf;
    struct pawl_str copy;

    pawl__buf_init(&buf, &s->env->alloc, ARENA_BYTES_MAX);
    for (; *text; text++) {
        if (*text == '@')
            pawl__buf_text(&buf, s->options.url);
        else
            pawl__buf_byte(&buf, *text == '\'' ? '"' : *text);
    }
    copy = pawl__arena_str(&s->arena, pawl__buf_peek(&buf));
    pawl__buf_release(&buf);
    if (!copy.ptr)
        return pawl__error_code(err, pawl__arena_status(&s->arena));
    return pawl__json_parse(&s->arena, copy, NULL, out, NULL, err);
}

static int publish_one(struct scenario *s, const struct definition *definition,
                       struct pawl_error *err)
{
    struct pawl_definitions *all = pawl__runtime_definitions(s->runtime);
    struct pawl_definition_row row;
    struct pawl_publication said;
    struct pawl_json json;
    int status = pawl__definitions_find(all, pawl__str(definition->id), PAWL_VERSIONS_PUBLISHED, 0,
                                        &s->arena, &row, scenario_later(s), err);

    if (status != PAWL_ENOTFOUND)
        return status;
    status = read_definition(s, definition->text, &json, err);
    if (status == PAWL_OK)
        status = pawl__definitions_import(all, &json, &s->arena, &row, scenario_later(s), err);
    if (status == PAWL_OK)
        status = pawl__definitions_publish(all, row.id, &s->arena, &said, scenario_later(s), err);
    if (status == PAWL_OK && !said.succeeded)
        return pawl__error_set(err, PAWL_EINVAL, "%s was not published", definition->id);
    return status;
}

static int publish_all(struct scenario *s, const struct definition *list, size_t count,
                       struct pawl_error *err)
{
    int status = PAWL_OK;

    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        unsigned tries = 0;

        do {
            pawl__arena_reset(&s->arena);
            status = publish_one(s, &list[i], err);
        } while (scenario_again(s, status, &tries));
    }
    return status;
}

int scenario_publish(struct scenario *scenario, struct pawl_error *err)
{
    int status =
        publish_all(scenario, definitions, sizeof definitions / sizeof definitions[0], err);

    if (status == PAWL_OK && scenario->options.url)
        status = publish_all(scenario, outside, sizeof outside / sizeof outside[0], err);
    return status;
}

static int note_accepted(const struct scenario *s, int status, const char *kind, const char *key)
{
    if (status == PAWL_OK && s->options.accepted)
        s->options.accepted(s->options.ctx, kind, key);
    return status;
}

static int start_once(struct scenario *s, const char *definition_id, const char *instance_id,
                      struct pawl_error *err)
{
    const struct pawl_start start = {
        .definition_id = pawl__str(definition_id),
        .instance_id = pawl__str(instance_id),
        .idempotency_key = pawl__str(instance_id),
    };
    struct pawl_outcome outcome;

    return note_accepted(s,
                         pawl__runtime_start(s->runtime, &start, &outcome, scenario_later(s), err),
                         "start", instance_id);
}

static int start(struct scenario *s, const char *definition_id, const char *instance_id,
                 struct pawl_error *err)
{
    unsigned tries = 0;
    int status;

    do {
        status = start_once(s, definition_id, instance_id, err);
    } while (scenario_again(s, status, &tries));
    return status;
}

static int send(struct scenario *s, const char *event, struct pawl_error *err)
{
    const struct pawl_stimulus stimulus = {.idempotency_key =
                                               pawl__str(s->options.keyless ? "" : event)};
    unsigned tries = 0;
    int status;

    do {
        status = pawl__runtime_send_event(s->runtime, pawl__str(event), NULL, &stimulus, NULL,
                                          scenario_later(s), err);
        /* It may have been sent. If it was not, it will be missed. */
        if (s->options.keyless && pawl_error_class(status) == PAWL_CLASS_UNKNOWN)
            status = PAWL_OK;
    } while (scenario_again(s, status, &tries));
    return s->options.keyless ? status : note_accepted(s, status, "stimulus", event);
}

int scenario_start_main(struct scenario *scenario, struct pawl_error *err)
{
    return start_once(scenario, SCENARIO_MAIN, SCENARIO_MAIN_ID, err);
}

/* ---- to the end ---------------------------------------------------------------------------- */

static void wait_for_more(struct scenario *s, struct pawl_wake *wake,
                          const struct pawl_worked *worked)
{
    int64_t wait_ns = LOOK_NS;

    if (worked->next_due_us != PAWL_TIME_NEVER &&
        worked->next_due_us - worked->now_us < LOOK_NS / 1000)
        wait_ns = (worked->next_due_us - worked->now_us) * 1000;
    (void)!pawl_store_wait(s->store, wake, pawl_env_monotonic_ns(s->env) + wait_ns, NULL);
}

/* Does what is due until `test` says so. */
static int work_until(struct scenario *s,
                      int (*test)(struct scenario *s, bool *out, struct pawl_error *err),
                      struct pawl_error *err)
{
    struct pawl_wake wake = {0};
    bool settled = false;
    int status = PAWL_OK;

    while (status == PAWL_OK && !settled) {
        struct pawl_worked worked = {0};
        unsigned tries = 0;

        do {
            status = pawl__runtime_work(s->runtime, 0, &worked, scenario_later(s), err);
        } while (scenario_again(s, status, &tries));
        if (status != PAWL_OK || worked.done > 0)
            continue;
        status = test(s, &settled, err);
        if (status == PAWL_OK && !settled && pawl_env_monotonic_ns(s->env) > s->give_up_ns)
            return pawl__error_set(err, PAWL_ETIMEDOUT, "not everything has ended");
        if (!settled)
            wait_for_more(s, &wake, &worked);
    }
    return status;
}

int scenario_finish(struct scenario *scenario, struct pawl_error *err)
{
    return work_until(scenario, scenario_is_settled, err);
}

/* Somebody runs it later: a call that runs it would wait for an answer that never comes. */
static int create_held(struct scenario *s, struct pawl_error *err)
{
    const struct pawl_start start = {.definition_id = pawl__str("held"),
                                     .instance_id = pawl__str(SCENARIO_HELD_ID),
                                     .idempotency_key = pawl__str(SCENARIO_HELD_ID)};
    unsigned tries = 0;
    int status;

    do {
        status = pawl__runtime_create(s->runtime, &start, NULL, scenario_later(s), err);
    } while (scenario_again(s, status, &tries));
    return status;
}

static int cancel(struct scenario *s, const char *id, struct pawl_error *err)
{
    unsigned tries = 0;
    int status;

    do {
        status = pawl__runtime_cancel(s->runtime, pawl__str(id), scenario_later(s), err);
    } while (scenario_again(s, status, &tries));
    return status;
}

static int drive_outside(struct scenario *s, struct pawl_error *err)
{
    int status = start(s, "caller", "caller-1", err);

    if (status == PAWL_OK)
        status = start(s, "forked", "forked-1", err);
    if (status == PAWL_OK)
        status = start(s, "doomed", SCENARIO_DOOMED_ID, err);
    if (status == PAWL_OK)
        status = create_held(s, err);
    if (status == PAWL_OK)
        status = work_until(s, scenario_is_doomed, err);
    if (status == PAWL_OK)
        status = cancel(s, SCENARIO_DOOMED_ID, err);
    return status == PAWL_OK ? cancel(s, SCENARIO_HELD_ID, err) : status;
}

int scenario_drive(struct scenario *scenario, struct pawl_error *err)
{
    struct scenario *s = scenario;
    int status = scenario_publish(s, err);

    if (status == PAWL_OK)
        status = send(s, "Early", err);
    if (status == PAWL_OK)
        status = start(s, "listener", "listener-1", err);
    if (status == PAWL_OK)
        status = start(s, SCENARIO_MAIN, SCENARIO_MAIN_ID, err);
    if (status == PAWL_OK && s->options.url)
        status = drive_outside(s, err);
    if (status == PAWL_OK)
        status = send(s, "Fire", err);
    if (status == PAWL_OK)
        status = send(s, "Go", err);
    return status == PAWL_OK ? scenario_finish(s, err) : status;
}
