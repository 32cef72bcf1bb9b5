/* SPDX-License-Identifier: Apache-2.0 */
/* Views of nodes, of pauses and of the runtime's status. */
#ifndef PAWL_VIEWS_NODES_H
#define PAWL_VIEWS_NODES_H

#include "operations/nodes.h"
#include "views/view.h"

/*
 * Node: id, state ("alive", "paused", "stuck", "gone"), incarnation, joinedAt, leaseEndsAt,
 * leaseRemainingMs (negative: over), host, version, runtime, locks, pid, stuck, work, runs,
 * pause? (see pawl__view_pause), instances? [{id, definitionId, subStatus, updatedAt}].
 */
struct pawl_json pawl__view_node(struct pawl_builder *b, const struct pawl_node_shown *node,
                                 bool with_instances);
/* {"nodeId"?, "pausedAt", "pauseReasonText"?, "pauseRequestedBy"?}; null of NULL. */
struct pawl_json pawl__view_pause(struct pawl_builder *b, const struct pawl_pause *pause);
/*
 * Of the runtime, as Elsa has it: {"state": {reason, isAcceptingNewWork, pausedAt?,
 * pauseReasonText?, pauseRequestedBy?, generationId}, "sources": [{name, state}],
 * "activeExecutionCycleCount"}.
 */
struct pawl_json pawl__view_status(struct pawl_builder *b,
                                   const struct pawl_cluster_status *status);
/*
 * Of a drain, as Elsa has it: {"outcome": {overallResult, startedAt, completedAt,
 * pausePhaseDuration, waitPhaseDuration, sources, executionCyclesForceCancelledCount,
 * forceCancelledInstanceIds}}. Pawl cancels nothing: overallResult is "Forced" if the node runs
 * nothing any more, else "DeadlineExceeded".
 */
struct pawl_json pawl__view_drained(struct pawl_builder *b, const struct pawl_drained *drained);

#endif
