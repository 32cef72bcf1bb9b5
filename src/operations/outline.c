/* SPDX-License-Identifier: Apache-2.0 */
/* How a graph looks; see offline.h. */
#include "engine/load/links.h"
#include "operations/offline.h"

#include "base/buf.h"

#define ID_BYTES_MAX ((size_t)512 << 20)

struct outlining {
    const struct pawl_graph *graph;
    struct pawl_arena *arena;
    struct pawl_outline_node *nodes;
    struct pawl_buf id; /* scratch */
};

/* A child by its activity id. */
static const struct pawl_outline_node *child_of(struct outlining *o, const struct pawl_node *parent,
                                                struct pawl_str id)
{
    const struct pawl_node *child;

    pawl__buf_clear(&o->id);
    pawl__buf_str(&o->id, parent->node_id);
    pawl__buf_byte(&o->id, ':');
    pawl__buf_str(&o->id, id);
    if (o->id.status != PAWL_OK)
        return NULL;
    child = pawl__graph_node(o->graph, pawl__buf_peek(&o->id));
    return child ? &o->nodes[child->index] : NULL;
}

static int add_links(struct outlining *o, const struct pawl_node *node,
                     struct pawl_outline_node *to)
{
    struct pawl_outline_link *links;
    struct pawl_link link;
    uint32_t at = 0, count = 0;

    while (pawl__links_next(node, &at, &link))
        count++;
    links = pawl__arena_alloc_array(o->arena, (size_t)count + 1, sizeof *links);
    if (!links)
        return pawl__arena_status(o->arena);
    for (at = 0; pawl__links_next(node, &at, &link);)
        links[to->link_count++] = (struct pawl_outline_link){.source = link.source,
                                                             .source_port = link.source_port,
                                                             .target = link.target,
                                                             .from = child_of(o, node, link.source),
                                                             .to = child_of(o, node, link.target)};
    to->links = links;
    return o->id.status;
}

static int add_node(struct outlining *o, const struct pawl_node *node)
{
    struct pawl_outline_node *to = &o->nodes[node->index];
    const struct pawl_outline_node **children =
        pawl__arena_alloc_array(o->arena, (size_t)node->child_count + 1, sizeof *children);

    if (!children)
        return pawl__arena_status(o->arena);
    for (uint32_t i = 0; i < node->child_count; i++)
        children[i] = &o->nodes[node->children[i]->index];
    *to = (struct pawl_outline_node){
        .index = node->index,
        .id = node->id,
        .type = node->type,
        .name = node->name,
        .port = node->port,
        .parent = node->parent ? &o->nodes[node->parent->index] : NULL,
        .children = children,
        .child_count = node->child_count,
        .is_sequence = pawl__str_is(node->type, PAWL_ACTIVITY_SEQUENCE),
        .is_flowchart = pawl__links_has(node),
        .is_start = node->can_start_workflow,
        .is_unknown = pawl__str_is(pawl__str(node->activity->type), PAWL_ACTIVITY_NOT_FOUND),
        .is_workflow = node->workflow && pawl__str_is(node->type, PAWL_ACTIVITY_WORKFLOW),
    };
    if (to->is_workflow) {
        to->workflow_name = node->workflow->name;
        to->workflow_version = node->workflow->version;
    }
    return to->is_flowchart ? add_links(o, node, to) : PAWL_OK;
}

int pawl__outline_make(const struct pawl_graph *graph, struct pawl_arena *arena,
                       struct pawl_outline *out)
{
    struct outlining o = {.graph = graph, .arena = arena};
    int status = PAWL_OK;

    o.nodes = pawl__arena_alloc_array(arena, (size_t)graph->node_count + 1, sizeof *o.nodes);
    if (!o.nodes)
        return pawl__arena_status(arena);
    pawl__buf_init(&o.id, arena->alloc, ID_BYTES_MAX);
    for (uint32_t i = 0; i < graph->node_count && status == PAWL_OK; i++)
        status = add_node(&o, graph->nodes[i]);
    pawl__buf_release(&o.id);
    if (status == PAWL_OK)
        *out = (struct pawl_outline){o.nodes, graph->node_count};
    return status;
}
