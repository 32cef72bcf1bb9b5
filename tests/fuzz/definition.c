/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definitions: whatever JSON comes, it loads or is refused with a message, and what loads is a tree
 * in pre-order with node ids that are found again. An array stands for several definitions: the
 * first is loaded, all may be used as activities.
 */
#include "activities/activities.h"
#include "engine/load/catalog.h"
#include "expressions/expressions.h"
#include "fuzz/fuzz.h"

/* Small, so that a document that multiplies itself ends soon. */
static const struct pawl_graph_limits limits = {
    .nodes_max = 2000, .depth_max = 200, .embed_max = 8, .bytes_max = (size_t)16 << 20};

static void check_text(const char *text)
{
    FUZZ_DEMAND(text != NULL);
    FUZZ_DEMAND(pawl__utf8_valid(pawl__str(text)));
}

static void check_graph(const struct pawl_graph *graph)
{
    FUZZ_DEMAND(graph->node_count >= 2 && graph->nodes[0] == graph->root);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        struct pawl_node *node = graph->nodes[i];

        FUZZ_DEMAND(node->index == i && node->activity && node->json && node->id.len > 0);
        FUZZ_DEMAND((i == 0) == (node->parent == NULL));
        FUZZ_DEMAND(!node->parent || node->parent->index < i);
        FUZZ_DEMAND(pawl__graph_node(graph, node->node_id) == node);
        FUZZ_DEMAND(pawl__str_ends(node->node_id, node->id));
        FUZZ_DEMAND(node->child_count == 0 || node->children[0]->index == i + 1);
        for (uint32_t v = 0; v < node->variable_count; v++)
            FUZZ_DEMAND(node->variables[v].type && node->variables[v].id.len > 0);
        for (uint32_t n = 0; n < node->activity->input_count; n++)
            FUZZ_DEMAND(node->inputs[n].descriptor == &node->activity->inputs[n]);
    }
}

static void check_load(const struct pawl_engine *engine, const struct pawl_allocator *alloc,
                       struct pawl_arena *arena, const struct pawl_json *json)
{
    struct pawl_problems problems = {.arena = arena, .most = 50};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_catalog catalog;
    struct pawl_graph *graph = NULL;
    const struct pawl_json *first = json;
    int status;

    pawl__catalog_init(&catalog, arena);
    if (pawl__json_is(json, PAWL_JSON_ARRAY) && pawl__json_len(json) > 0) {
        first = pawl__json_at(json, 0);
        for (uint32_t i = 0; i < pawl__json_len(json); i++)
            FUZZ_DEMAND(pawl__catalog_add(&catalog, pawl__json_at(json, i)) == PAWL_OK);
    }
    status =
        pawl__graph_load(engine, alloc, first, &catalog.resolver, &limits, &problems, &graph, &err);
    for (uint32_t i = 0; i < problems.count; i++) {
        check_text(problems.items[i].pointer);
        check_text(problems.items[i].message);
    }
    if (status == PAWL_OK) {
        check_graph(graph);
    } else {
        FUZZ_DEMAND(status == PAWL_EPARSE || status == PAWL_ELIMIT);
        FUZZ_DEMAND(err.code == status && err.msg[0] != '\0');
        check_text(err.msg);
    }
    pawl__graph_unref(graph);
}

static void fill(struct pawl_engine *engine, const struct pawl_allocator *alloc)
{
    static const struct pawl_expression_ops script = {.type = "JavaScript"};

    pawl__engine_init(engine, alloc, (struct pawl_hash_seed){3, 5});
    FUZZ_DEMAND(pawl__activities_register(engine) == PAWL_OK);
    FUZZ_DEMAND(pawl__expressions_register(engine) == PAWL_OK);
    FUZZ_DEMAND(pawl__engine_add_expression(engine, &script) == PAWL_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pawl_allocator alloc = fuzz_allocator();
    struct pawl_engine engine;
    struct pawl_arena arena;
    struct pawl_json json;

    pawl__arena_init(&arena, &alloc, (size_t)64 << 20);
    if (pawl__json_parse(&arena, pawl__str_make((const char *)data, size), NULL, &json, NULL,
                         NULL) == PAWL_OK) {
        fill(&engine, &alloc);
        check_load(&engine, &alloc, &arena, &json);
        pawl__engine_release(&engine);
    }
    pawl__arena_release(&arena);
    return 0;
}
