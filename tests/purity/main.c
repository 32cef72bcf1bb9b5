/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The smallest host of the engine: base, engine, activities and the plain expressions, and nothing
 * that reads a clock, a file or a socket. Runs a workflow and prints what it wrote. The script
 * beside it looks at what the linked program asks the system for.
 */
#include "activities/activities.h"
#include "engine/run/burst.h"
#include "expressions/expressions.h"

#include <stdio.h>
#include <stdlib.h>

#define WRITE(text)                                                                                \
    "{\"type\":\"Elsa.WriteLine\",\"text\":{\"typeName\":\"String\",\"expression\":{"              \
    "\"type\":\"Literal\",\"value\":\"" text "\"}}}"

static const char definition_text[] =
    "{\"definitionId\":\"d\",\"id\":\"d:1\",\"version\":1,\"root\":{\"type\":\"Elsa.Sequence\","
    "\"activities\":[" WRITE("pure") "," WRITE("engine") "]}}";

static void *resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    (void)ctx;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

static int add_plain_expressions(struct pawl_engine *engine)
{
    const struct pawl_expression_ops *const all[] = {
        &pawl__expression_literal, &pawl__expression_object, &pawl__expression_json,
        &pawl__expression_variable, &pawl__expression_input};
    int status = PAWL_OK;

    for (size_t i = 0; i < sizeof all / sizeof *all && status == PAWL_OK; i++)
        status = pawl__engine_add_expression(engine, all[i]);
    return status;
}

static int run(struct pawl_graph *graph, const struct pawl_allocator *alloc, struct pawl_error *err)
{
    struct pawl_event event = {.kind = PAWL_EVENT_RUN, .now = 639029342450000000, .seed = 1};
    struct pawl_burst *burst = NULL;
    enum pawl_step step = PAWL_STEP_YIELD;
    struct pawl_batch batch;
    int status = pawl__burst_open(graph, alloc, NULL, &event, &burst, err);

    while (status == PAWL_OK && step != PAWL_STEP_DONE) {
        status = pawl__burst_step(burst, &step, err);
        if (status != PAWL_OK)
            break;
        pawl__burst_batch(burst, &batch);
        for (uint32_t i = 0; i < batch.effect_count; i++)
            printf("%s\n", pawl__json_str(pawl__json_get_text(&batch.effects[i].data, "text")).ptr);
    }
    pawl__burst_close(burst);
    return status;
}

int main(void)
{
    const struct pawl_allocator alloc = {.resize = resize};
    const struct pawl_json_limits limits = {1 << 20, 100};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_graph *graph = NULL;
    struct pawl_engine engine;
    struct pawl_json definition;
    struct pawl_arena arena;
    int status;

    pawl__engine_init(&engine, &alloc, (struct pawl_hash_seed){1, 2});
    pawl__arena_init(&arena, &alloc, 1 << 20);
    status = pawl__activities_register(&engine);
    if (status == PAWL_OK)
        status = add_plain_expressions(&engine);
    if (status == PAWL_OK)
        status =
            pawl__json_parse(&arena, pawl__str(definition_text), &limits, &definition, NULL, &err);
    if (status == PAWL_OK)
        status = pawl__graph_load(&engine, &alloc, &definition, NULL, NULL, NULL, &graph, &err);
    if (status == PAWL_OK)
        status = run(graph, &alloc, &err);
    if (status != PAWL_OK)
        (void)fprintf(stderr, "%s\n", err.msg);
    pawl__graph_unref(graph);
    pawl__arena_release(&arena);
    pawl__engine_release(&engine);
    return status != PAWL_OK;
}
