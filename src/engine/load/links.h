/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connections of a flowchart as its JSON has them, for those who draw or check: nothing is
 * resolved, dropped or ordered here. How they are followed is the flowchart's business.
 */
#ifndef PAWL_ENGINE_LOAD_LINKS_H
#define PAWL_ENGINE_LOAD_LINKS_H

#include "engine/graph.h"

#define PAWL_ACTIVITY_FLOWCHART "Elsa.Flowchart"

struct pawl_link {
    struct pawl_str source; /* activity ids */
    struct pawl_str target;
    struct pawl_str source_port; /* "" none */
    struct pawl_str target_port;
};

static inline bool pawl__links_has(const struct pawl_node *node)
{
    return pawl__str_is(node->type, PAWL_ACTIVITY_FLOWCHART);
}

/*
 * The next connection of a flowchart: *at begins at 0. Reads both forms (objects with activity and
 * port, and plain ids with sourcePort and targetPort), in an array, in {"$values":[…]} or alone.
 * What is no connection is skipped. false after the last.
 */
bool pawl__links_next(const struct pawl_node *flowchart, uint32_t *at, struct pawl_link *out);

#endif
