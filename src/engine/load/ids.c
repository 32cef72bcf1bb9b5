/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids. They are stored in instances, bookmarks and records, so the rule of the reference holds to
 * the letter: nodes in pre-order, an id that is there stays, else the last part of the type and
 * the first number from 1 that no node of the graph has.
 */
#include "base/alloc.h"
#include "engine/load/loader.h"

/*
 * Writes the `count` nodes at and below `top` in pre-order. What waits to be visited stands at the
 * end of the same array: together they are never more than `count`.
 */
static void list_nodes(struct pawl_node *top, uint32_t count, struct pawl_node **list)
{
    uint32_t done = 0;
    uint32_t waiting = count;

    list[--waiting] = top;
    while (waiting < count) {
        struct pawl_node *node = list[waiting++];

        list[done++] = node;
        for (uint32_t i = node->child_count; i > 0; i--)
            list[--waiting] = node->children[i - 1];
    }
    PAWL_ASSERT(done == count);
}

static struct pawl_str short_type(const struct pawl_node *node)
{
    struct pawl_str type = pawl__str(node->activity->type);

    for (size_t i = type.len; i > 0; i--) {
        if (type.ptr[i - 1] == '.')
            return pawl__str_slice(type, i, type.len);
    }
    return type;
}

struct naming {
    struct pawl_map used;   /* id -> its node */
    struct pawl_map counts; /* short type -> uint32_t, the last number tried */
};

static int make_id(struct pawl_loader *loader, struct naming *naming, struct pawl_node *node)
{
    struct pawl_str type = short_type(node);
    struct pawl_buf *id = &loader->scratch;
    uint32_t *last = pawl__map_get(&naming->counts, type);
    int status = PAWL_OK;

    if (!last) {
        last = pawl__arena_alloc_zeroed(loader->arena, sizeof *last);
        if (!last)
            return loader_memory(loader);
        status = pawl__map_put(&naming->counts, type, last);
    }
    if (status != PAWL_OK)
        return status;
    do {
        pawl__buf_clear(id);
        pawl__buf_str(id, type);
        pawl__buf_int(id, ++*last);
        if (id->status != PAWL_OK)
            return id->status;
    } while (pawl__map_has(&naming->used, pawl__buf_peek(id)));
    node->id = pawl__arena_str(loader->arena, pawl__buf_peek(id));
    if (!node->id.ptr)
        return loader_memory(loader);
    return pawl__map_put(&naming->used, node->id, node);
}

static int name_nodes(struct pawl_loader *loader, struct naming *naming, struct pawl_node **list,
                      uint32_t count)
{
    int status = PAWL_OK;

    for (uint32_t i = 0; i < count && status == PAWL_OK; i++) {
        if (list[i]->id.len > 0)
            status = pawl__map_put(&naming->used, list[i]->id, list[i]);
    }
    for (uint32_t i = 0; i < count && status == PAWL_OK; i++) {
        if (list[i]->id.len == 0)
            status = make_id(loader, naming, list[i]);
    }
    return status;
}

static int name_variables(struct pawl_loader *loader, struct pawl_node *node)
{
    uint32_t number = 0;

    for (uint32_t i = 0; i < node->variable_count; i++) {
        struct pawl_variable *variable = &node->variables[i];

        if (variable->id.len > 0)
            continue;
        variable->id = pawl__str(pawl__arena_printf(loader->arena, "%.*s:variable-%u",
                                                    PAWL_STR_ARG(node->id), ++number));
        if (variable->id.len == 0)
            return loader_memory(loader);
    }
    return PAWL_OK;
}

int pawl__loader_finish(struct pawl_loader *loader, struct pawl_node *top, uint32_t count)
{
    const struct pawl_allocator *alloc = loader->arena->alloc;
    struct pawl_hash_seed seed = loader->engine->activities.seed;
    struct pawl_node **list = pawl__alloc(alloc, count * sizeof(struct pawl_node *));
    struct naming naming;
    int status;

    if (!list)
        return PAWL_ENOMEM;
    pawl__map_init(&naming.used, alloc, seed);
    pawl__map_init(&naming.counts, alloc, seed);
    list_nodes(top, count, list);
    status = name_nodes(loader, &naming, list, count);
    for (uint32_t i = 0; i < count && status == PAWL_OK; i++)
        status = name_variables(loader, list[i]);
    if (status == PAWL_OK)
        status = pawl__loader_check(loader, list, count);
    pawl__map_release(&naming.used);
    pawl__map_release(&naming.counts);
    pawl__free(alloc, list, count * sizeof(struct pawl_node *));
    return status;
}

/* ---- the finished graph ------------------------------------------------------------------ */

static int join_id(struct pawl_loader *loader, struct pawl_node *node)
{
    struct pawl_str above = node->parent ? node->parent->node_id : pawl__str("");
    size_t len = above.len + (node->parent ? 1 : 0) + node->id.len;
    char *text;

    if (!node->parent) {
        node->node_id = node->id;
        return PAWL_OK;
    }
    text = pawl__arena_alloc_aligned(loader->arena, len + 1, 1);
    if (!text)
        return loader_memory(loader);
    memcpy(text, above.ptr, above.len);
    text[above.len] = ':';
    memcpy(text + above.len + 1, node->id.ptr, node->id.len);
    text[len] = '\0';
    node->node_id = pawl__str_make(text, len);
    return PAWL_OK;
}

/* The pointer in the outermost definition: of the activity itself, or of the one that embeds it. */
static const char *outer_pointer(const struct pawl_node *node)
{
    const struct pawl_node *shown = node;

    for (const struct pawl_node *at = node->parent; at; at = at->parent) {
        if (at->workflow && at->parent &&
            !pawl__str_is(pawl__str(at->activity->type), PAWL_ACTIVITY_WORKFLOW))
            shown = at;
    }
    return shown->pointer.ptr;
}

static int add_node(struct pawl_loader *loader, struct pawl_node *node)
{
    struct pawl_graph *graph = loader->graph;
    bool several = pawl__map_has(&graph->by_id, node->id);
    struct pawl_str shown;
    int status = join_id(loader, node);

    if (status != PAWL_OK)
        return status;
    shown = pawl__loader_cut(node->node_id, 200);
    if (pawl__map_has(&graph->by_node_id, node->node_id))
        return pawl__loader_fail(loader, outer_pointer(node),
                                 "there are two activities '%.*s' (node id '%.*s'); give each "
                                 "an id of its own",
                                 PAWL_STR_ARG(node->id), PAWL_STR_ARG(shown));
    status = pawl__map_put(&graph->by_node_id, node->node_id, node);
    if (status == PAWL_OK)
        status = pawl__map_put(&graph->by_id, node->id, several ? NULL : node);
    return status;
}

int pawl__loader_index(struct pawl_loader *loader)
{
    struct pawl_graph *graph = loader->graph;
    uint32_t count = loader->node_count;
    int status = PAWL_OK;

    graph->nodes = pawl__arena_alloc_array(loader->arena, count, sizeof(struct pawl_node *));
    if (!graph->nodes)
        return loader_memory(loader);
    list_nodes(graph->root, count, graph->nodes);
    graph->node_count = count;
    for (uint32_t i = 0; i < count && status == PAWL_OK; i++) {
        graph->nodes[i]->index = i;
        status = add_node(loader, graph->nodes[i]);
    }
    return status;
}
