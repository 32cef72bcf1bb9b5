/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bridge to scripts: a document goes into a variable, through a script and out again, and is
 * the same, but for what scripts cannot tell apart: numbers are doubles, of duplicate keys the last
 * counts, and members have no order. The first byte chooses the script, the rest is the document.
 */
#include "expressions/javascript/javascript.h"
#include "activities/activities.h"
#include "engine/run/burst.h"
#include "engine/run/instance.h"
#include "expressions/expressions.h"
#include "fuzz/fuzz.h"

#include <math.h>
#include <stddef.h>

#define NOW INT64_C(639029342450000000)
#define BYTES_MAX ((size_t)256 << 20)
#define DEPTH_MAX 100

/* All answer the document. */
static const char *const scripts[] = {
    "getV()",
    "variables.V",
    "getVariable('V')",
    "const v = getV(); setW(v); return getW();",
    "variables.W = variables.V; return variables.W;",
    "globalThis.getV()",
    "[getV()][0]",
    "({ v: variables.V }).v",
};

static const char definition_text[] =
    "{\"definitionId\":\"d\",\"id\":\"d:1\",\"version\":1,\"variables\":["
    "{\"id\":\"v\",\"name\":\"V\",\"typeName\":\"Object\"},"
    "{\"id\":\"w\",\"name\":\"W\",\"typeName\":\"Object\"}],"
    "\"root\":{\"id\":\"f\",\"type\":\"Fuzz.Script\"}}";

struct world {
    struct pawl_env *env;
    struct pawl_javascript *js;
    struct pawl_engine engine;
    struct pawl_arena arena;
    struct pawl_graph *graph;
    /* Of the present input. */
    const char *script;
    struct pawl_json document;
    bool ran;
};

/* ---- comparing ----------------------------------------------------------------------------- */

static bool is_last(const struct pawl_json *object, uint32_t index)
{
    struct pawl_str key = pawl__json_member(object, index)->key;

    for (uint32_t i = index + 1; i < pawl__json_len(object); i++) {
        if (pawl__str_equal(pawl__json_member(object, i)->key, key))
            return false;
    }
    return true;
}

static bool same_number(const struct pawl_json *in, const struct pawl_json *out)
{
    double before = 0, after = 0;

    return pawl__json_is_number(out) && pawl__json_to_double(in, &before) &&
           pawl__json_to_double(out, &after) && isfinite(after) &&
           !(before < after || before > after);
}

static bool same(const struct pawl_json *in, const struct pawl_json *out);

static bool same_members(const struct pawl_json *in, const struct pawl_json *out)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < pawl__json_len(in); i++) {
        const struct pawl_json_member *member = pawl__json_member(in, i);
        const struct pawl_json *found = pawl__json_get(out, member->key);

        if (!is_last(in, i))
            continue;
        count++;
        if (!found || !same(&member->value, found))
            return false;
    }
    return count == pawl__json_len(out);
}

static bool same(const struct pawl_json *in, const struct pawl_json *out)
{
    if (pawl__json_is_number(in))
        return same_number(in, out);
    if (pawl__json_type(in) != pawl__json_type(out))
        return false;
    if (pawl__json_is(in, PAWL_JSON_OBJECT))
        return same_members(in, out);
    if (!pawl__json_is(in, PAWL_JSON_ARRAY))
        return pawl__json_equal(in, out);
    if (pawl__json_len(in) != pawl__json_len(out))
        return false;
    for (uint32_t i = 0; i < pawl__json_len(in); i++) {
        if (!same(pawl__json_at(in, i), pawl__json_at(out, i)))
            return false;
    }
    return true;
}

/* ---- evaluating ---------------------------------------------------------------------------- */

/*
 * Whether a number in it is none that a double holds: scripts see Infinity, and can answer it by
 * itself only. Of members with one key they see the last, unless `all` count.
 */
static bool is_infinite(const struct pawl_json *json, bool all)
{
    double number = 0;

    if (pawl__json_is_number(json))
        return !(pawl__json_to_double(json, &number) && isfinite(number));
    for (uint32_t i = 0; i < pawl__json_len(json); i++) {
        if (!pawl__json_is(json, PAWL_JSON_OBJECT)) {
            if (is_infinite(pawl__json_at(json, i), all))
                return true;
        } else if ((all || is_last(json, i)) &&
                   is_infinite(&pawl__json_member(json, i)->value, all)) {
            return true;
        }
    }
    return false;
}

static void complain(const struct world *world, const char *what, struct pawl_str text)
{
    (void)fprintf(stderr, "%s: %s: %.*s\n", world->script, what, PAWL_STR_ARG(text));
}

static void check_result(const struct world *world, const struct pawl_json *result)
{
    struct pawl_buf text;
    bool agrees = same(&world->document, result);

    if (agrees)
        return;
    pawl__buf_init(&text, &world->env->alloc, BYTES_MAX);
    pawl__json_write(&text, result, PAWL_JSON_ESCAPE_MINIMAL);
    complain(world, "differs", pawl__buf_peek(&text));
    FUZZ_DEMAND(agrees);
}

static int execute(struct pawl_context *context)
{
    const struct pawl_engine *engine = pawl__context_engine(context);
    struct world *world = (struct world *)((uintptr_t)engine - offsetof(struct world, engine));
    struct pawl_javascript_run run = {.source = pawl__str(world->script)};
    int status =
        pawl__variable_set(context, pawl__str("V"), pawl__value_from_json(world->document));

    FUZZ_DEMAND(status == PAWL_OK);
    status = pawl__javascript_run(context, &run);
    if (status == ENGINE_RAISED && !is_infinite(&world->document, true))
        complain(world, "raised", context->burst->exception->message);
    FUZZ_DEMAND(status == PAWL_OK ||
                (status == ENGINE_RAISED && is_infinite(&world->document, true)));
    if (status == PAWL_OK && is_infinite(&world->document, false))
        FUZZ_DEMAND(is_infinite(&run.result.json, false));
    else if (status == PAWL_OK)
        check_result(world, &run.result.json);
    world->ran = true;
    context->burst->exception = NULL;
    return PAWL_OK;
}

static const struct pawl_activity activity = {
    .type = "Fuzz.Script",
    .version = 1,
    .flags = PAWL_ACTIVITY_AUTO_COMPLETE,
    .execute = execute,
};

/* ---- the world ----------------------------------------------------------------------------- */

static void open_world(struct world *world)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_json definition;

    FUZZ_DEMAND(pawl_system_env_open(&world->env, &err) == PAWL_OK);
    FUZZ_DEMAND(pawl__javascript_open(world->env, NULL, &world->js, &err) == PAWL_OK);
    pawl__engine_init(&world->engine, &world->env->alloc, (struct pawl_hash_seed){1, 2});
    pawl__arena_init(&world->arena, &world->env->alloc, BYTES_MAX);
    FUZZ_DEMAND(pawl__activities_register(&world->engine) == PAWL_OK);
    FUZZ_DEMAND(pawl__expressions_register(&world->engine) == PAWL_OK);
    FUZZ_DEMAND(pawl__engine_add_activity(&world->engine, &activity) == PAWL_OK);
    FUZZ_DEMAND(pawl__javascript_register(&world->engine, world->js) == PAWL_OK);
    FUZZ_DEMAND(pawl__json_parse(&world->arena, pawl__str(definition_text), NULL, &definition, NULL,
                                 &err) == PAWL_OK);
    FUZZ_DEMAND(pawl__graph_load(&world->engine, &world->env->alloc, &definition, NULL, NULL, NULL,
                                 &world->graph, &err) == PAWL_OK);
}

/* One instance, from its start to its end. */
static void run_instance(struct world *world)
{
    struct pawl_event event = {
        .kind = PAWL_EVENT_RUN, .now = NOW, .seed = 1, .instance_id = {"i", 1}};
    struct pawl_error err = PAWL_ERROR_INIT;
    enum pawl_step step = PAWL_STEP_YIELD;
    struct pawl_burst *burst = NULL;

    world->ran = false;
    FUZZ_DEMAND(pawl__burst_open(world->graph, &world->env->alloc, NULL, &event, &burst, &err) ==
                PAWL_OK);
    FUZZ_DEMAND(pawl__burst_step(burst, &step, &err) == PAWL_OK);
    FUZZ_DEMAND(world->ran);
    pawl__burst_close(burst);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* One for all inputs: starting scripts takes a hundred times as long as running one. */
    static struct world world;
    const struct pawl_json_limits limits = {BYTES_MAX, DEPTH_MAX};
    struct pawl_arena arena;

    if (size < 2)
        return 0;
    if (!world.env)
        open_world(&world);
    pawl__arena_init(&arena, &world.env->alloc, BYTES_MAX);
    if (pawl__json_parse(&arena, pawl__str_make((const char *)data + 1, size - 1), &limits,
                         &world.document, NULL, NULL) == PAWL_OK) {
        world.script = scripts[data[0] % (sizeof scripts / sizeof scripts[0])];
        run_instance(&world);
    }
    pawl__arena_release(&arena);
    return 0;
}
