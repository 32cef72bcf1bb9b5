/* SPDX-License-Identifier: Apache-2.0 */
/* Layers of a directed graph: each vertex below all that lead to it, cycles cut where they close.
 */
#ifndef PAWL_CLI_DRAW_LAYERS_H
#define PAWL_CLI_DRAW_LAYERS_H

#include "base/arena.h"

struct pawl_layer_edge {
    uint32_t from;
    uint32_t to;
    bool back; /* output: it leads to the same layer or up */
};

/*
 * For `count` vertices: layer[v], and place[v], the place in its layer counted from 0, chosen so
 * that neighbours stand near each other. Linear but for sorting. Uses the arena for scratch.
 * PAWL_ENOMEM, PAWL_ELIMIT.
 */
PAWL_MUST_CHECK int pawl__layers_make(struct pawl_arena *arena, uint32_t count,
                                      struct pawl_layer_edge *edges, uint32_t edge_count,
                                      uint32_t *layer, uint32_t *place);

#endif
