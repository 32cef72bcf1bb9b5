/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The triggers of a definition: what may start an instance of it. They are worked out from the
 * graph alone, without an instance, when a definition is published.
 */
#ifndef PAWL_ENGINE_RUN_TRIGGER_H
#define PAWL_ENGINE_RUN_TRIGGER_H

#include "engine/graph.h"

struct pawl_trigger {
    struct pawl_str activity_id;
    struct pawl_str name; /* of the stimulus: "Elsa.Event" */
    struct pawl_str hash;
    struct pawl_json payload; /* as stored; null when the activity could not say */
};

struct pawl_triggers {
    struct pawl_trigger *items;
    uint32_t count;
};

/*
 * Evaluates the inputs of every trigger activity that may start the workflow, as far as that goes
 * without an instance (one that cannot be evaluated stays unset), and asks it for its payloads. All
 * of *out is in `arena`. `now` is in ticks, UTC. PAWL_ENOMEM, PAWL_ELIMIT.
 */
PAWL_MUST_CHECK int pawl__graph_triggers(struct pawl_graph *graph,
                                         const struct pawl_allocator *alloc, int64_t now,
                                         struct pawl_arena *arena, struct pawl_triggers *out,
                                         struct pawl_error *err);

#endif
