/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a JavaScript expression costs: on one thread, inside a burst, from the call of the language
 * to the value. Prints microseconds and evaluations per second of the processor time used, so that
 * a busy machine changes little. Promises 150,000 simple cached expressions per second and core.
 */
#include "expressions/javascript.h"
#include "activities/activities.h"
#include "engine/burst.h"
#include "expressions/expressions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROMISED_PER_SECOND 150000.0

struct measure {
    const char *name;
    const char *source;
    unsigned rounds;
    bool distinct; /* a new text each time: nothing is cached */
    bool promised;
};

static const struct measure measures[] = {
    {"a constant", "1 + 1", 200000, false, true},
    {"a variable", "getN() + 1", 200000, false, true},
    {"a condition", "getVariable('N') < 3", 200000, false, true},
    {"a text", "`Hello ${getName()}, you are number ${getN()}`", 200000, false, true},
    {"an object in, a number out", "getOrder().items.reduce((a, b) => a + b.q, 0)", 50000, false,
     false},
    {"JSON in, JSON out",
     "(o => ({ id: o.id, sum: o.items.reduce((a, b) => a + b.q, 0) }))(getOrder())", 50000, false,
     false},
    {"an object built", "({ a: 1, b: [1, 2, 3], c: { d: 'x' } })", 50000, false, false},
    {"variables.N += 1", "variables.N += 1", 50000, false, false},
    {"a body with return",
     "const n = getName(); let t = 0; for (let i = 0; i < 5; i++) t += i; return n + t;", 100000,
     false, false},
    {"statements", "let t = 0; for (const x of [1, 2]) t += x;", 50000, false, false},
    {"on an engine of its own", "globalThis.x = 1; return x;", 5000, false, false},
    {"compiled each time", "`${getName()} ", 20000, true, false},
};

struct bench {
    struct pawl_engine engine;
    bool failed;
};

static double processor_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static bool evaluate(struct pawl_context *context, const char *source)
{
    struct pawl_javascript_run run = {.source = pawl__str(source)};

    return pawl__javascript_run(context, &run) == PAWL_OK;
}

/* Best of five parts, in microseconds per evaluation; negative when one fails. */
static double measure(struct pawl_context *context, const struct measure *m)
{
    double best = 1e30;
    char text[128];

    if (!m->distinct && !evaluate(context, m->source))
        return -1;
    for (unsigned part = 0; part < 5; part++) {
        unsigned rounds = m->rounds / 5;
        double begun = processor_us();
        double took;

        for (unsigned i = 0; i < rounds; i++) {
            if (m->distinct)
                (void)snprintf(text, sizeof text, "%s%u`", m->source, part * rounds + i);
            if (!evaluate(context, m->distinct ? text : m->source))
                return -1;
        }
        took = (processor_us() - begun) / rounds;
        best = took < best ? took : best;
    }
    return best;
}

static int execute(struct pawl_context *context)
{
    struct bench *bench = (struct bench *)(uintptr_t)pawl__context_engine(context);

    printf("%-28s %10s %14s\n", "expression", "us", "per second");
    for (size_t i = 0; i < sizeof measures / sizeof *measures; i++) {
        const struct measure *m = &measures[i];
        double us = measure(context, m);
        bool missed = us < 0 || (m->promised && 1e6 / us < PROMISED_PER_SECOND);

        printf("%-28s %10.2f %14.0f%s\n", m->name, us, 1e6 / us,
               missed ? "   less than promised" : "");
        bench->failed = bench->failed || missed;
    }
    return pawl__complete(context, NULL);
}

static const struct pawl_activity activity = {
    .type = "Bench.Scripts", .version = 1, .execute = execute};

static const char definition[] =
    "{\"definitionId\":\"d\",\"id\":\"d:1\",\"version\":1,\"variables\":["
    "{\"id\":\"n\",\"name\":\"N\",\"typeName\":\"Int32\",\"value\":1},"
    "{\"id\":\"m\",\"name\":\"Name\",\"typeName\":\"String\",\"value\":\"Ada\"},"
    "{\"id\":\"o\",\"name\":\"Order\",\"typeName\":\"JSON\",\"value\":\"{\\\"id\\\":\\\"order-"
    "17\\\","
    "\\\"items\\\":[{\\\"q\\\":1,\\\"n\\\":\\\"abc\\\"},{\\\"q\\\":2,\\\"n\\\":\\\"def\\\"},{"
    "\\\"q\\\":3,"
    "\\\"n\\\":\\\"ghi\\\"}],\\\"paid\\\":true}\"}],"
    "\"root\":{\"id\":\"s\",\"type\":\"Bench.Scripts\"}}";

static int run(struct bench *bench, struct pawl_env *env, struct pawl_javascript *js,
               struct pawl_error *err)
{
    struct pawl_event event = {.kind = PAWL_EVENT_RUN, .now = 639029342450000000, .seed = 7};
    struct pawl_graph *graph = NULL;
    struct pawl_burst *burst = NULL;
    enum pawl_step step = PAWL_STEP_YIELD;
    struct pawl_arena arena;
    struct pawl_json json;
    int status;

    pawl__arena_init(&arena, &env->alloc, (size_t)1 << 20);
    status = pawl__activities_register(&bench->engine);
    if (status == PAWL_OK)
        status = pawl__expressions_register(&bench->engine);
    if (status == PAWL_OK)
        status = pawl__javascript_register(&bench->engine, js);
    if (status == PAWL_OK)
        status = pawl__engine_add_activity(&bench->engine, &activity);
    if (status == PAWL_OK)
        status = pawl__json_parse(&arena, pawl__str(definition), NULL, &json, NULL, err);
    if (status == PAWL_OK)
        status =
            pawl__graph_load(&bench->engine, &env->alloc, &json, NULL, NULL, NULL, &graph, err);
    event.instance_id = pawl__str("i");
    if (status == PAWL_OK)
        status = pawl__burst_open(graph, &env->alloc, NULL, &event, &burst, err);
    while (status == PAWL_OK && step != PAWL_STEP_DONE)
        status = pawl__burst_step(burst, &step, err);
    pawl__burst_close(burst);
    pawl__graph_unref(graph);
    pawl__arena_release(&arena);
    return status;
}

int main(void)
{
    struct bench bench = {.failed = false};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_javascript *js = NULL;
    struct pawl_env *env = NULL;
    int status = pawl_system_env_open(&env, &err);

    if (status != PAWL_OK) {
        fprintf(stderr, "bench-javascript: %s\n", err.msg);
        return 1;
    }
    pawl__engine_init(&bench.engine, &env->alloc, (struct pawl_hash_seed){1, 2});
    bench.engine.burst_bytes_max = (size_t)1 << 33;
    status = pawl__javascript_open(env, NULL, &js, &err);
    if (status == PAWL_OK)
        status = run(&bench, env, js, &err);
    if (status != PAWL_OK)
        fprintf(stderr, "bench-javascript: %s\n", err.code ? err.msg : pawl_error_text(status));
    pawl__engine_release(&bench.engine);
    pawl__javascript_close(js);
    pawl_system_env_close(env);
    return status != PAWL_OK || bench.failed;
}
