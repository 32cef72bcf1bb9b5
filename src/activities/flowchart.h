/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flowcharts: activities joined by connections. What the types of this family share; the rules are
 * in flowchart_counter.c and flowchart_token.c.
 *
 * Two ways to decide what runs next exist, chosen by pawl__flow_mode() at every completion: by
 * counters (the default), where paths that are not taken are followed as dead ones, so that joins
 * know not to wait for them; and by tokens, where each activity says how it merges what arrives.
 */
#ifndef PAWL_ACTIVITIES_FLOWCHART_H
#define PAWL_ACTIVITIES_FLOWCHART_H

#include "activities/flow_graph.h"
#include "activities/flow_scope.h"
#include "activities/flow_tokens.h"
#include "engine/context.h"

extern const struct pawl_activity pawl__activity_flowchart;
extern const struct pawl_activity pawl__activity_flow_decision;
extern const struct pawl_activity pawl__activity_flow_switch;
extern const struct pawl_activity pawl__activity_flow_fork;
extern const struct pawl_activity pawl__activity_flow_join;
extern const struct pawl_activity pawl__activity_flow_node;
extern const struct pawl_activity pawl__activity_start;
extern const struct pawl_activity pawl__activity_end;

/* What loading makes of a flowchart: node->data. Immutable. Activities are node->children. */
struct pawl_flowchart {
    const struct pawl_node *node;
    struct pawl_flow_connection *connections; /* distinct, both ends known, in their order */
    uint32_t connection_count;
    struct pawl_flow_names ids; /* of the activities that had one in the definition */
    bool ids_complete;          /* all had */
    struct pawl_flow_names keys;
    struct pawl_flow_graph graph; /* from where it starts unless a trigger says otherwise */
};

/* What an activity that waits for its turn in a propagation has still to pass on. */
struct pawl_flow_frame {
    uint32_t activity;
    uint32_t next; /* place in its outbound list */
};

/* A flowchart's context in this burst: context->scratch. */
struct pawl_flow_run {
    const struct pawl_flowchart *chart;
    const struct pawl_flow_graph *graph;
    const struct pawl_flow_names *ids; /* of all activities */
    struct pawl_flow_scope scope;
    struct pawl_flow_tokens tokens;
    bool scope_open;
    bool tokens_open;
    uint8_t *backward; /* by connection: 0 not asked yet, else BACKWARD_…  */
    struct pawl_flow_frame *frames;
    uint32_t frame_count;
    uint32_t frame_cap;
};

/* flowchart_load.c */
PAWL_MUST_CHECK int pawl__flowchart_load(struct pawl_loader *loader, struct pawl_node *node);
PAWL_MUST_CHECK int pawl__flowchart_ids(struct pawl_arena *arena, const struct pawl_node *node,
                                        struct pawl_flow_names *out);

/* flowchart.c: what both ways need. `context` is always the flowchart's. */
PAWL_MUST_CHECK int pawl__flow_run(struct pawl_context *context, struct pawl_flow_run **out);
/* The place of an activity in the chart; PAWL_FLOW_NONE when it is not one of its own. */
uint32_t pawl__flowchart_place(const struct pawl_flowchart *chart, const struct pawl_node *node);
/* Queues an activity of the chart because `by` (NULL: nothing) ended. */
PAWL_MUST_CHECK int pawl__flowchart_schedule(struct pawl_context *context, uint32_t place,
                                             const char *callback, const struct pawl_context *by);
/* The mode of a FlowJoin, evaluated now in the scope of the flowchart. */
PAWL_MUST_CHECK int pawl__flowchart_join_mode(struct pawl_context *context,
                                              const struct pawl_node *join,
                                              enum pawl_join_mode *out);
/* Cancels whatever still runs on the ways that lead to an activity of the chart. */
PAWL_MUST_CHECK int pawl__flowchart_cancel_ancestors(struct pawl_context *context, uint32_t place);
/* Whether an activity runs or is queued, or (*faulted) one has faulted. */
bool pawl__flowchart_has_work(const struct pawl_context *context, bool *faulted);
/* Completes the flowchart when nothing of it runs, is queued or has faulted. */
PAWL_MUST_CHECK int pawl__flowchart_complete_if_idle(struct pawl_context *context);

/* Method names of stored completion callbacks. */
#define PAWL_FLOWCHART_CHILD_COMPLETED "OnChildCompletedAsync"
#define PAWL_FLOWCHART_CHILD_COMPLETED_TOKEN "OnChildCompletedTokenBasedLogicAsync"

/* flowchart_counter.c */
PAWL_MUST_CHECK int pawl__flowchart_counter_completed(struct pawl_context *context,
                                                      const struct pawl_completion *completion);
PAWL_MUST_CHECK int pawl__flowchart_counter_canceled(struct pawl_context *context,
                                                     struct pawl_context *sender);

/* flowchart_token.c */
PAWL_MUST_CHECK int pawl__flowchart_token_completed(struct pawl_context *context,
                                                    const struct pawl_completion *completion);
PAWL_MUST_CHECK int pawl__flowchart_token_canceled(struct pawl_context *context,
                                                   struct pawl_context *sender);

#endif
