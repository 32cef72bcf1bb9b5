/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole bursts of random definitions with random scripts and templates, under limits of work. Each
 * byte of an input is a choice of the grammar. Nothing may take longer than its limits allow: each
 * expression has fuel or steps, a burst yields after a few activities, and the processor time of
 * one activity is compared with a deadline that only what is not limited exceeds. Every fifth input
 * has a stop flag that comes up in the middle; the burst must end soon after, its step undone.
 */
#include "engine/run/burst.h"
#include "activities/activities.h"
#include "expressions/expressions.h"
#include "expressions/javascript/javascript.h"
#include "fuzz/fuzz.h"

#include <string.h>

#define NOW INT64_C(639029342450000000)
#define BYTES_MAX ((size_t)256 << 20)
#define TEXT_BYTES 32768
#define DEPTH_MAX 4
#define YIELD_AFTER 8
#define STEPS_MAX 4
/* 4 expressions of an activity, at 10 ns per unit and 20 us per step of Liquid: far above both. */
#define STEP_NS INT64_C(60000000000)
/* How often a stopped burst may ask again before it ends. */
#define POLLS_AFTER_STOP 3

struct choices {
    const uint8_t *data;
    size_t size;
    size_t at;
    char text[TEXT_BYTES];
    size_t len;
    bool is_cut; /* there was no room */
};

static uint32_t choose(struct choices *c, uint32_t below)
{
    return c->at < c->size ? c->data[c->at++] % below : 0;
}

static void put(struct choices *c, const char *text)
{
    size_t len = strlen(text);

    if (c->len + len < sizeof c->text) {
        memcpy(c->text + c->len, text, len);
        c->len += len;
    } else {
        c->is_cut = true;
    }
    c->text[c->len] = '\0';
}

/* ---- the grammar --------------------------------------------------------------------------- */

static const char *const scripts[] = {
    "1",
    "getN() + 1",
    "getN() < 3",
    "variables.N += 1",
    "for (;;);",
    "[].reverse.call({ length: 2 ** 53 - 1 })",
    "[].sort.call({ length: 2 ** 53 - 1 })",
    "'a'.repeat(1e5).includes('a'.repeat(5e4) + 'b')",
    "new Array(2 ** 32 - 1).join()",
    "'x'.repeat(1e6)",
    "getT() + getT()",
    "setT(getT() + getT()); true",
    "getT().split('').reverse().join('')",
    "/(a+)+$/.test('a'.repeat(40) + 'b')",
    "JSON.stringify(new Array(1e7))",
    "(async () => { for (;;) await 0 })()",
    "({ get a() { for (;;); } })",
    "(function f() { return f() })()",
    "Promise.resolve().then(() => setN(7)); throw 1",
    "return 1}}); for (;;); (()=>{{",
    "globalThis.x = 1; while (true) x++;",
    "let p = {}; for (let i = 0; i < 60; i++) p = new Proxy(p, p); return p.x;",
    "for (let i = 0; ; i++) setVariable('v' + i, i);",
    "const a = []; for (;;) a.push(a.length);",
    "let n = 7n; for (;;) n = n * n % (3n ** 20000n);",
    "bytesToBase64(new Uint8Array(1e6))",
    "[...Array(2000).keys()]",
};

static const char *const templates[] = {
    "{{ Variables.N }}",
    "{% for i in (1..1000000) %}{% endfor %}",
    "{% for i in (1..5000) %}{{ Variables.T }}{% endfor %}",
    "{% assign t = Variables.T %}{% for i in (1..30) %}{% assign t = t | append: t %}{% endfor %}",
    "{% for i in (1..900000) %}{% if Variables.T == Variables.T %}{% endif %}{% endfor %}",
    ("{% assign a = Variables.T | split: '' %}{% for i in (1..9) %}{% assign a = a | concat: a | "
     "sort | uniq %}{% endfor %}{{ a | size }}"),
    "{{ Variables.T | replace: 'a', Variables.T | replace_last: Variables.T, 'b' | size }}",
    "{% for i in (1..100000) %}{{ Variables.T | upcase | url_encode | size }}{% endfor %}",
    "{% capture c %}{{ Variables.T }}{{ Variables.T }}{% endcapture %}{{ c | json | size }}",
    "{{ Variables.T | slice: 1, 5 | plus: 1 }}",
};

#define COUNT(list) ((uint32_t)(sizeof(list) / sizeof *(list)))

static void put_expression(struct choices *c)
{
    bool is_script = choose(c, 3) > 0;

    put(c, is_script
               ? "{\"typeName\":\"Object\",\"expression\":{\"type\":\"JavaScript\",\"value\":\""
               : "{\"typeName\":\"Object\",\"expression\":{\"type\":\"Liquid\",\"value\":\"");
    put(c, is_script ? scripts[choose(c, COUNT(scripts))] : templates[choose(c, COUNT(templates))]);
    put(c, "\"}}");
}

static void put_activity(struct choices *c, unsigned depth);

static void put_activities(struct choices *c, unsigned depth)
{
    uint32_t count = 1 + choose(c, 4);

    put(c, "\"activities\":[");
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            put(c, ",");
        put_activity(c, depth + 1);
    }
    put(c, "]");
}

static void put_activity(struct choices *c, unsigned depth)
{
    char id[32];

    (void)snprintf(id, sizeof id, "{\"id\":\"a%zu\",", c->len);
    put(c, id);
    switch (choose(c, depth < DEPTH_MAX ? 7 : 3)) {
    case 0:
        put(c, "\"type\":\"Elsa.WriteLine\",\"text\":");
        put_expression(c);
        break;
    case 1:
        put(c,
            "\"type\":\"Elsa.SetVariable\",\"variable\":{\"id\":\"n\",\"name\":\"N\"},\"value\":");
        put_expression(c);
        break;
    case 2:
        put(c,
            "\"type\":\"Elsa.SetVariable\",\"variable\":{\"id\":\"t\",\"name\":\"T\"},\"value\":");
        put_expression(c);
        break;
    case 3:
        put(c, "\"type\":\"Elsa.If\",\"condition\":");
        put_expression(c);
        put(c, ",\"then\":");
        put_activity(c, depth + 1);
        break;
    case 4:
        put(c, "\"type\":\"Elsa.While\",\"condition\":");
        put_expression(c);
        put(c, ",\"body\":");
        put_activity(c, depth + 1);
        break;
    case 5:
        put(c, "\"type\":\"Elsa.ForEach\",\"items\":");
        put_expression(c);
        put(c, ",\"body\":");
        put_activity(c, depth + 1);
        break;
    default:
        put(c, "\"type\":\"Elsa.Sequence\",");
        put_activities(c, depth);
        break;
    }
    put(c, "}");
}

static void put_definition(struct choices *c)
{
    put(c,
        "{\"definitionId\":\"d\",\"id\":\"d:1\",\"version\":1,\"variables\":["
        "{\"id\":\"n\",\"name\":\"N\",\"typeName\":\"Object\",\"value\":1},"
        "{\"id\":\"t\",\"name\":\"T\",\"typeName\":\"String\",\"value\":\"aaaaaaaaaaaaaaaaaab\"}],"
        "\"root\":{\"id\":\"root\",\"type\":\"Elsa.Sequence\",");
    put_activities(c, 0);
    put(c, "}}");
}

/* ---- running ------------------------------------------------------------------------------- */

struct world {
    struct pawl_env *env;
    struct pawl_javascript *js;
    struct pawl_engine engine;
};

struct stop {
    uint32_t polls_left; /* until it says yes; 0: never */
    uint32_t polls_after;
};

static bool must_stop(void *ctx)
{
    struct stop *stop = ctx;

    if (stop->polls_left == 0)
        return false;
    if (stop->polls_left > 1) {
        stop->polls_left--;
        return false;
    }
    FUZZ_DEMAND(stop->polls_after++ < POLLS_AFTER_STOP);
    return true;
}

static void open_world(struct world *world)
{
    const struct pawl_javascript_options options = {
        .fuel_max = 100, .time_ms_max = 3600 * 1000, .memory_bytes_max = 16u << 20};
    struct pawl_error err = PAWL_ERROR_INIT;

    FUZZ_DEMAND(pawl_system_env_open(&world->env, &err) == PAWL_OK);
    FUZZ_DEMAND(pawl__javascript_open(world->env, &options, &world->js, &err) == PAWL_OK);
    pawl__engine_init(&world->engine, &world->env->alloc, (struct pawl_hash_seed){1, 2});
    world->engine.yield_after = YIELD_AFTER;
    FUZZ_DEMAND(pawl__activities_register(&world->engine) == PAWL_OK);
    FUZZ_DEMAND(pawl__expressions_register(&world->engine) == PAWL_OK);
    FUZZ_DEMAND(pawl__javascript_register(&world->engine, world->js) == PAWL_OK);
}

static void run_burst(struct world *world, struct pawl_graph *graph, struct stop *stop)
{
    struct pawl_event event = {
        .kind = PAWL_EVENT_RUN, .now = NOW, .seed = 1, .instance_id = {"i", 1}};
    struct pawl_error err = PAWL_ERROR_INIT;
    enum pawl_step step = PAWL_STEP_YIELD;
    struct pawl_burst *burst = NULL;

    FUZZ_DEMAND(pawl__burst_open(graph, &world->env->alloc, NULL, &event, &burst, &err) == PAWL_OK);
    pawl__burst_set_stop(burst, must_stop, stop);
    for (unsigned i = 0; i < STEPS_MAX && step == PAWL_STEP_YIELD; i++) {
        int64_t begun_ns = pawl_env_processor_ns(world->env);
        int status = pawl__burst_step(burst, &step, &err);

        FUZZ_DEMAND(pawl_env_processor_ns(world->env) - begun_ns < STEP_NS);
        FUZZ_DEMAND(status == PAWL_OK || status == PAWL_ELIMIT || status == PAWL_ENOMEM ||
                    (status == PAWL_EBUSY && stop->polls_after > 0));
        if (status != PAWL_OK || stop->polls_after > 0)
            break;
    }
    pawl__burst_close(burst);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct world world;
    static struct choices choices;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_graph *graph = NULL;
    struct pawl_json definition;
    struct pawl_arena arena;
    struct stop stop = {0};

    if (!world.env)
        open_world(&world);
    choices = (struct choices){.data = data, .size = size};
    if (choose(&choices, 5) == 0)
        stop.polls_left = 1 + choose(&choices, 256);
    put_definition(&choices);
    pawl__arena_init(&arena, &world.env->alloc, BYTES_MAX);
    if (!choices.is_cut) {
        FUZZ_DEMAND(pawl__json_parse(&arena, pawl__str_make(choices.text, choices.len), NULL,
                                     &definition, NULL, &err) == PAWL_OK);
        FUZZ_DEMAND(pawl__graph_load(&world.engine, &world.env->alloc, &definition, NULL, NULL,
                                     NULL, &graph, &err) == PAWL_OK);
        run_burst(&world, graph, &stop);
    }
    pawl__graph_unref(graph);
    pawl__arena_release(&arena);
    return 0;
}
