/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activities that start other workflows, and the child effect by which they do.
 *
 * Data of the effect:
 *
 *     mode               "find"      awaited: is there a published version? Changes nothing, so it
 * may be answered without committing first "dispatch"  starts an instance some time after the
 * commit that carries it "execute"   awaited: runs a new instance here and now until it is idle or
 *                                    done
 *     definitionId       of the published version to start
 *     All but "find":
 *     instanceId         of the new instance, chosen here: doing the same effect twice makes one
 *     correlationId      absent: none
 *     input              an object; has ParentInstanceId
 *     properties         an object for the workflow properties of the new instance:
 *                        ParentInstanceId, WaitForCompletion (true, when its end is waited for),
 *                        StartNewTrace (true)
 *     parentInstanceId   this instance
 *     schedulingActivityExecutionId, callStackDepth
 *                        this execution of the activity, and how deep it is: its call stack goes on
 *                        in the new instance
 *     waitForCompletion  boolean: its end resumes the parent's bookmark
 *     channelName        dispatch: the queue to use; absent: the default one
 *
 * Results of the awaited ones:
 *
 *     {"found": false}   there is no published version: the activity faults
 *     {"error": "…"}     it could not be done: the activity faults with that message
 *     find               {"found": true}
 *     execute            {"workflowInstanceId", "status", "subStatus", "output": {…}}, the statuses
 *                        as names ("Running" or "Finished"; "Suspended", "Faulted", …)
 *
 * When an instance with property WaitForCompletion ends, its parent (ParentInstanceId) gets stimuli
 * Elsa.DispatchWorkflow and Elsa.ExecuteWorkflow {childInstanceId} with the child's output as
 * input, and Elsa.BulkDispatchWorkflows {parentInstanceId} with the input
 * {WorkflowOutput, WorkflowInstanceId, WorkflowStatus, WorkflowSubStatus}; the one with a bookmark
 * counts.
 */
#ifndef PAWL_ACTIVITIES_CHILD_H
#define PAWL_ACTIVITIES_CHILD_H

#include "engine/context.h"

extern const struct pawl_activity pawl__activity_dispatch_workflow;
extern const struct pawl_activity pawl__activity_execute_workflow;
extern const struct pawl_activity pawl__activity_bulk_dispatch_workflows; /* child_bulk.c */

/* One instance to start. */
struct pawl_child {
    const char *mode;
    struct pawl_str instance_id;
    struct pawl_str correlation_id; /* "" none */
    struct pawl_json input;         /* an object, or null; copied */
    bool wait;
};

/* The effect's data. Reads WorkflowDefinitionId and, where the type has them, the other inputs. */
PAWL_MUST_CHECK int pawl__child_data(struct pawl_context *context, const struct pawl_child *child,
                                     struct pawl_json *out);
/* Asks whether there is something to start: the effect "find", awaited. */
PAWL_MUST_CHECK int pawl__child_find(struct pawl_context *context);
/* Faults when the result of an awaited effect says that it was not done. */
PAWL_MUST_CHECK int pawl__child_check(struct pawl_context *context, const struct pawl_json *result);
/* Members of `from` set over those of `to`. */
PAWL_MUST_CHECK int pawl__child_merge(struct pawl_arena *arena, struct pawl_json *to,
                                      const struct pawl_json *from);

#endif
