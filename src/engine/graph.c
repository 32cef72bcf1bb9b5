/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a graph and finding nodes in it. Building it is the loader's; see loader.h. */
#include "base/alloc.h"
#include "engine/load/loader.h"

#include <stdatomic.h>

const struct pawl_graph_limits pawl__graph_limits_default = {
    .nodes_max = 100000,
    .depth_max = 1000,
    .embed_max = 32,
    .bytes_max = (size_t)256 << 20,
};

static void free_graph(struct pawl_graph *graph)
{
    const struct pawl_allocator *alloc = graph->arena.alloc;

    pawl__map_release(&graph->by_node_id);
    pawl__map_release(&graph->by_id);
    pawl__arena_release(&graph->arena);
    pawl__free(alloc, graph, sizeof *graph);
}

int pawl__graph_load(const struct pawl_engine *engine, const struct pawl_allocator *alloc,
                     const struct pawl_json *definition,
                     const struct pawl_workflow_resolver *resolver,
                     const struct pawl_graph_limits *limits, struct pawl_problems *problems,
                     struct pawl_graph **out, struct pawl_error *err)
{
    struct pawl_graph *graph = pawl__alloc_zeroed(alloc, sizeof *graph);
    int status;

    if (!graph)
        return pawl__error_code(err, PAWL_ENOMEM);
    if (!limits)
        limits = &pawl__graph_limits_default;
    graph->engine = engine;
    atomic_init(&graph->references, 1);
    pawl__arena_init(&graph->arena, alloc, limits->bytes_max);
    pawl__map_init(&graph->by_node_id, alloc, engine->activities.seed);
    pawl__map_init(&graph->by_id, alloc, engine->activities.seed);
    status = pawl__graph_read(graph, definition, resolver, limits, problems, err);
    if (status == PAWL_OK)
        *out = graph;
    else
        free_graph(graph);
    return status;
}

struct pawl_graph *pawl__graph_ref(struct pawl_graph *graph)
{
    (void)atomic_fetch_add_explicit(&graph->references, 1, memory_order_relaxed);
    return graph;
}

void pawl__graph_unref(struct pawl_graph *graph)
{
    if (graph && atomic_fetch_sub_explicit(&graph->references, 1, memory_order_acq_rel) == 1)
        free_graph(graph);
}

struct pawl_node *pawl__graph_node(const struct pawl_graph *graph, struct pawl_str node_id)
{
    return pawl__map_get(&graph->by_node_id, node_id);
}

struct pawl_node *pawl__graph_activity(const struct pawl_graph *graph, struct pawl_str id)
{
    struct pawl_node *found = NULL;

    if (id.len == 0)
        return NULL;
    if (pawl__map_has(&graph->by_id, id))
        return pawl__map_get(&graph->by_id, id);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (!pawl__str_ends(graph->nodes[i]->node_id, id))
            continue;
        if (found)
            return NULL;
        found = graph->nodes[i];
    }
    return found;
}
