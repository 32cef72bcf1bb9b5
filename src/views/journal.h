/* SPDX-License-Identifier: Apache-2.0 */
/* Views of log records and of executions of activities. */
#ifndef PAWL_VIEWS_JOURNAL_H
#define PAWL_VIEWS_JOURNAL_H

#include "operations/journal.h"
#include "views/view.h"

/*
 * JournalRecord: id, activityInstanceId, parentActivityInstanceId?, activityId, activityType,
 * activityTypeVersion, activityName?, nodeId, timestamp, sequence, eventName?, message?, source?,
 * activityState?, payload?.
 */
struct pawl_json pawl__view_journal_record(struct pawl_builder *b, const struct pawl_json *record);
/*
 * A record as Elsa stores it: workflowDefinitionId, workflowDefinitionVersionId,
 * workflowInstanceId, workflowVersion, then as above with activityNodeId for nodeId; id last.
 */
struct pawl_json pawl__view_log_record(struct pawl_builder *b, const struct pawl_json *record);
/*
 * Execution: workflowInstanceId, activityId, activityNodeId, activityType, activityTypeVersion,
 * activityName?, activityState?, payload?, outputs?, properties, metadata, exception?, startedAt,
 * hasBookmarks, status, aggregateFaultCount, completedAt?, schedulingActivityExecutionId?,
 * schedulingActivityId?, schedulingWorkflowInstanceId?, callStackDepth, id, tenantId. Empty objects
 * are left out, but of properties and metadata, which name their type.
 */
struct pawl_json pawl__view_execution(struct pawl_builder *b, const struct pawl_json *record);
/* ExecutionSummary: an execution without state, payload, outputs, properties and exception. */
struct pawl_json pawl__view_execution_summary(struct pawl_builder *b,
                                              const struct pawl_json *record);
/* Stats: activityId, activityNodeId, startedCount, completedCount, uncompletedCount, isBlocked,
 * isFaulted, aggregateFaultCount, metadata. */
struct pawl_json pawl__view_execution_stats(struct pawl_builder *b,
                                            const struct pawl_execution_stats *stats);

#endif
