/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape of a flowchart as its scheduling rules see it: which connections lead forward from the
 * start, which lead back, and what comes before what.
 *
 * Pure and immutable once built: activities and connections are numbers, places in the lists of the
 * flowchart. Connections are distinct (no two alike in source, target and both ports).
 *
 *     forward     the connections along which a breadth-first walk from the start can go without
 *                 closing a circle; of those that would close one, the later ones lose
 *     backward    all others
 */
#ifndef PAWL_ACTIVITIES_FLOW_GRAPH_H
#define PAWL_ACTIVITIES_FLOW_GRAPH_H

#include "base/arena.h"
#include "base/str.h"

#include <pawl/error.h>

#define PAWL_FLOW_NONE UINT32_MAX /* no activity, no connection */

/* Why the arena just answered NULL. */
static inline int pawl__flow_refused(const struct pawl_arena *arena)
{
    return arena->status != PAWL_OK ? arena->status : PAWL_ENOMEM;
}

struct pawl_flow_connection {
    uint32_t source; /* places in the list of activities */
    uint32_t target;
    struct pawl_str source_port; /* "" none */
    struct pawl_str target_port; /* "" none; part of the identity, not of the routing */
    struct pawl_str key;         /* "a1:Done->a2:In": how stored counters name it */
};

/* Borrowed from the graph. */
struct pawl_flow_list {
    const uint32_t *items; /* connections */
    uint32_t count;
};

/* For each activity a list of connections, one behind the other: of x, from[x] up to from[x + 1].
 */
struct pawl_flow_lists {
    uint32_t *from;
    uint32_t *items;
};

struct pawl_flow_graph {
    const struct pawl_flow_connection *connections; /* borrowed */
    uint32_t connection_count;
    uint32_t activity_count;
    uint32_t start;                         /* NONE: there are no activities */
    bool *forward;                          /* by connection */
    struct pawl_flow_lists outbound;        /* in the order of the connections */
    struct pawl_flow_lists inbound;         /* all, backward ones too */
    struct pawl_flow_lists forward_inbound; /* in the order the walk took them */
};

/*
 * Builds the graph in `arena`; borrows `connections` for its life. About O(n log n) in what was
 * drawn by hand; each connection into an earlier part that is no plain loop costs a search of the
 * smaller side. PAWL_ENOMEM, PAWL_ELIMIT.
 */
PAWL_MUST_CHECK int pawl__flow_graph_build(struct pawl_arena *arena,
                                           const struct pawl_flow_connection *connections,
                                           uint32_t connection_count, uint32_t activity_count,
                                           uint32_t start, struct pawl_flow_graph *out);

static inline struct pawl_flow_list pawl__flow_list(const struct pawl_flow_lists *lists,
                                                    uint32_t activity)
{
    return (struct pawl_flow_list){lists->items + lists->from[activity],
                                   lists->from[activity + 1] - lists->from[activity]};
}

/* Neither the start nor the target of a forward connection: nothing in the chart leads to it. */
bool pawl__flow_graph_is_dangling(const struct pawl_flow_graph *graph, uint32_t activity);

/*
 * Marks all activities from which forward connections lead to `activity`, itself not included.
 * `marks` has a place for each activity; all are written. PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int pawl__flow_graph_ancestors(const struct pawl_flow_graph *graph,
                                               const struct pawl_allocator *alloc,
                                               uint32_t activity, bool *marks);

/*
 * Whether every way from the source of this backward connection back to the start, along forward
 * connections, goes through its target: only then is going back well defined. PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int pawl__flow_graph_backward_valid(const struct pawl_flow_graph *graph,
                                                    const struct pawl_allocator *alloc,
                                                    uint32_t connection, bool *valid);

#endif
