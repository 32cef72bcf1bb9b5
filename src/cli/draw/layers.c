/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layering in three steps: a depth-first walk finds the edges that close a cycle and an order in
 * which all others lead forward; in that order each vertex goes below its lowest predecessor; then
 * each layer is ordered by where the predecessors stand.
 */
#include "cli/draw/layers.h"

#include <stdlib.h>

enum visit { VISIT_NEW, VISIT_OPEN, VISIT_DONE };

struct layering {
    uint32_t count;
    struct pawl_layer_edge *edges;
    uint32_t edge_count;
    uint32_t *first;  /* per vertex: its place in `sorted`; one more at the end */
    uint32_t *sorted; /* edge numbers by source */
    uint32_t *next;   /* per vertex: next edge to follow */
    uint32_t *stack;
    uint32_t *order; /* vertices, last finished first, filled from the end */
    uint8_t *state;
    bool *targeted;
    uint32_t ordered;
};

static int alloc_layering(struct pawl_arena *arena, struct layering *l)
{
    size_t n = l->count;

    l->first = pawl__arena_alloc_zeroed(arena, (n + 2) * sizeof *l->first);
    l->sorted = pawl__arena_alloc_array(arena, l->edge_count, sizeof *l->sorted);
    l->next = pawl__arena_alloc_array(arena, n, sizeof *l->next);
    l->stack = pawl__arena_alloc_array(arena, n, sizeof *l->stack);
    l->order = pawl__arena_alloc_array(arena, n, sizeof *l->order);
    l->state = pawl__arena_alloc_zeroed(arena, n + 1);
    l->targeted = pawl__arena_alloc_zeroed(arena, n + 1);
    return arena->status;
}

/* Edges by source, in their own order: a counting sort. */
static void sort_edges(struct layering *l)
{
    for (uint32_t e = 0; e < l->edge_count; e++)
        l->first[l->edges[e].from + 1]++;
    for (uint32_t v = 0; v < l->count; v++) {
        l->first[v + 1] += l->first[v];
        l->next[v] = l->first[v];
    }
    for (uint32_t e = 0; e < l->edge_count; e++)
        l->sorted[l->next[l->edges[e].from]++] = e;
    for (uint32_t v = 0; v < l->count; v++)
        l->next[v] = l->first[v];
}

static void walk(struct layering *l, uint32_t start)
{
    uint32_t depth = 0;

    l->stack[depth++] = start;
    l->state[start] = VISIT_OPEN;
    while (depth > 0) {
        uint32_t v = l->stack[depth - 1];
        struct pawl_layer_edge *edge;

        if (l->next[v] == l->first[v + 1]) {
            l->state[v] = VISIT_DONE;
            l->order[l->count - ++l->ordered] = v;
            depth--;
            continue;
        }
        edge = &l->edges[l->sorted[l->next[v]++]];
        edge->back = l->state[edge->to] == VISIT_OPEN;
        if (l->state[edge->to] == VISIT_NEW) {
            l->state[edge->to] = VISIT_OPEN;
            l->stack[depth++] = edge->to;
        }
    }
}

/* From those that nothing leads to, so that a cycle is cut where it comes back; then the rest. */
static void walk_all(struct layering *l)
{
    for (uint32_t e = 0; e < l->edge_count; e++)
        l->targeted[l->edges[e].to] = true;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t v = 0; v < l->count; v++) {
            if (l->state[v] == VISIT_NEW && (pass == 1 || !l->targeted[v]))
                walk(l, v);
        }
    }
}

static void rank(const struct layering *l, uint32_t *layer)
{
    for (uint32_t v = 0; v < l->count; v++)
        layer[v] = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        uint32_t v = l->order[i];

        for (uint32_t s = l->first[v]; s < l->first[v + 1]; s++) {
            const struct pawl_layer_edge *edge = &l->edges[l->sorted[s]];

            if (!edge->back && layer[edge->to] < layer[v] + 1)
                layer[edge->to] = layer[v] + 1;
        }
    }
}

/* ---- places ------------------------------------------------------------------------------ */

struct seat {
    uint32_t vertex;
    uint32_t layer;
    double wish; /* mean place of the predecessors */
    uint32_t was;
};

static int compare(const void *a, const void *b)
{
    const struct seat *left = a, *right = b;

    if (left->layer != right->layer)
        return left->layer < right->layer ? -1 : 1;
    if (left->wish < right->wish || left->wish > right->wish)
        return left->wish < right->wish ? -1 : 1;
    return (left->was > right->was) - (left->was < right->was);
}

static void number(const struct seat *seats, uint32_t count, uint32_t *place)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < count; i++) {
        next = i > 0 && seats[i].layer == seats[i - 1].layer ? next + 1 : 0;
        place[seats[i].vertex] = next;
    }
}

/* Two passes: by the order of the walk, then by the places of those above. */
static int seat_all(struct pawl_arena *arena, const struct layering *l, const uint32_t *layer,
                    uint32_t *place)
{
    struct seat *seats = pawl__arena_alloc_array(arena, l->count, sizeof *seats);
    double *sum = pawl__arena_alloc_zeroed(arena, (l->count + 1) * sizeof *sum);
    uint32_t *seen = pawl__arena_alloc_zeroed(arena, (l->count + 1) * sizeof *seen);

    if (!seats || !sum || !seen)
        return arena->status;
    for (uint32_t i = 0; i < l->count; i++)
        seats[i] = (struct seat){.vertex = l->order[i], .layer = layer[l->order[i]], .was = i};
    qsort(seats, l->count, sizeof *seats, compare);
    number(seats, l->count, place);
    for (uint32_t e = 0; e < l->edge_count; e++) {
        if (l->edges[e].back)
            continue;
        sum[l->edges[e].to] += place[l->edges[e].from];
        seen[l->edges[e].to]++;
    }
    for (uint32_t i = 0; i < l->count; i++) {
        uint32_t v = seats[i].vertex;

        seats[i].wish = seen[v] ? sum[v] / seen[v] : place[v];
    }
    qsort(seats, l->count, sizeof *seats, compare);
    number(seats, l->count, place);
    return PAWL_OK;
}

int pawl__layers_make(struct pawl_arena *arena, uint32_t count, struct pawl_layer_edge *edges,
                      uint32_t edge_count, uint32_t *layer, uint32_t *place)
{
    struct layering l = {.count = count, .edges = edges, .edge_count = edge_count};
    int status = alloc_layering(arena, &l);

    if (status != PAWL_OK)
        return status;
    sort_edges(&l);
    walk_all(&l);
    rank(&l, layer);
    for (uint32_t e = 0; e < edge_count; e++)
        edges[e].back = edges[e].back || layer[edges[e].to] <= layer[edges[e].from];
    return seat_all(arena, &l, layer, place);
}
