/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters of one running flowchart and what follows from them: how often each activity and
 * each connection was visited, and whether a connection was followed at its last visit.
 *
 * Kept twice, always in step: as arrays to decide with, and in the stored form, property FlowScope
 * of the flowchart's context, which is changed in place. No contexts here: the caller does what a
 * verdict says.
 *
 *     {"activitiesVisitCount": {id: n}, "connectionVisitCount": {key: n},
 *      "connectionLastVisitFollowed": {key: bool}, "_type": "FlowScope"}
 */
#ifndef PAWL_ACTIVITIES_FLOW_SCOPE_H
#define PAWL_ACTIVITIES_FLOW_SCOPE_H

#include "activities/flow_graph.h"
#include "base/json/json.h"

enum pawl_join_mode {
    PAWL_JOIN_WAIT_ALL,        /* every inbound connection followed */
    PAWL_JOIN_WAIT_ALL_ACTIVE, /* every one visited, one followed: every ordinary activity */
    PAWL_JOIN_WAIT_ANY,        /* the first that is followed wins */
};

enum pawl_flow_verdict {
    PAWL_FLOW_WAITS,  /* not its turn yet, or not any more */
    PAWL_FLOW_RUNS,   /* schedule the activity */
    PAWL_FLOW_SKIPPED /* a dead path: continue after it with nothing followed */
};

/* Texts and what they stand for, sorted; equal texts by what they stand for. */
struct pawl_flow_name {
    struct pawl_str text;
    uint32_t place;
};
struct pawl_flow_names {
    struct pawl_flow_name *items;
    uint32_t count;
};

void pawl__flow_names_sort(struct pawl_flow_names *names);
/* PAWL_FLOW_NONE when it does not exist. */
uint32_t pawl__flow_names_find(const struct pawl_flow_names *names, struct pawl_str text);

/* Slots: the place of the stored member + 1; 0: not stored yet. */
struct pawl_flow_activity_count {
    int64_t visits;
    uint32_t slot;
};
struct pawl_flow_connection_count {
    int64_t visits;
    uint32_t slot;
    uint32_t followed_slot;
    bool followed; /* at the last visit */
};

struct pawl_flow_scope {
    struct pawl_arena *arena;            /* borrowed */
    const struct pawl_flow_graph *graph; /* borrowed */
    struct pawl_flow_activity_count *activities;
    struct pawl_flow_connection_count *connections;
    /* Within the stored object, which keeps its four members from then on. */
    struct pawl_json *stored_activities;
    struct pawl_json *stored_connections;
    struct pawl_json *stored_followed;
};

/*
 * Reads the stored counters; what is missing is added to `stored`, an object (empty when new).
 * Names that the chart does not know are left alone. `ids` and `keys` are those of the chart.
 * PAWL_ENOMEM, PAWL_ELIMIT.
 */
PAWL_MUST_CHECK int pawl__flow_scope_open(struct pawl_flow_scope *scope, struct pawl_arena *arena,
                                          const struct pawl_flow_graph *graph,
                                          const struct pawl_flow_names *ids,
                                          const struct pawl_flow_names *keys,
                                          struct pawl_json *stored);

/* `id` is the activity's; borrowed as long as the stored object, NUL-terminated. */
PAWL_MUST_CHECK int pawl__flow_scope_visit(struct pawl_flow_scope *scope, uint32_t activity,
                                           struct pawl_str id);
PAWL_MUST_CHECK int pawl__flow_scope_pass(struct pawl_flow_scope *scope, uint32_t connection,
                                          bool followed);

/* What to do with the target of a forward connection that has just been passed. */
enum pawl_flow_verdict pawl__flow_scope_verdict(const struct pawl_flow_scope *scope,
                                                enum pawl_join_mode mode, uint32_t connection);

/*
 * The activity that was visited first, as the stored object tells: the one this flowchart was
 * started with. PAWL_FLOW_NONE when nothing was visited or the chart does not know it.
 */
uint32_t pawl__flow_scope_first(const struct pawl_json *stored, const struct pawl_flow_names *ids);

#endif
