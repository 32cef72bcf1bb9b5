/* SPDX-License-Identifier: Apache-2.0 */
/* What is stored of instances says these again and again. The first 128 take one byte each. */
#include "runtime/words.h"

#define W PAWL_STR_LIT

/* clang-format off */
static const struct pawl_str list[] = {
    /* the instance */
    W("id"), W("definitionId"), W("definitionVersionId"), W("definitionVersion"),
    W("parentWorkflowInstanceId"), W("correlationId"), W("name"), W("status"), W("subStatus"),
    W("isExecuting"), W("bookmarks"), W("incidents"), W("isSystem"), W("completionCallbacks"),
    W("activityExecutionContexts"), W("scheduledActivities"), W("executionLogSequence"),
    W("input"), W("output"), W("properties"), W("createdAt"), W("updatedAt"), W("finishedAt"),
    W("pawl"),
    /* bookmarks */
    W("hash"), W("payload"), W("activityId"), W("activityNodeId"), W("activityInstanceId"),
    W("autoBurn"), W("callbackMethodName"), W("autoComplete"), W("metadata"),
    /* contexts */
    W("callStackDepth"), W("parentContextId"), W("scheduledActivityNodeId"),
    W("ownerActivityNodeId"), W("activityState"), W("dynamicVariables"), W("faultCount"),
    W("startedAt"), W("completedAt"), W("tag"),
    /* callbacks, queue */
    W("ownerInstanceId"), W("childNodeId"), W("methodName"), W("ownerContextId"), W("variables"),
    W("existingActivityExecutionContextId"),
    /* a burst in progress */
    W("format"), W("effectNumber"), W("contextOrder"), W("inProgress"), W("phase"), W("current"),
    W("outputs"), W("lastResult"), W("order"), W("scheduledBy"), W("scheduledByActivity"),
    W("journal"), W("logExcluded"), W("inputs"), W("blocks"), W("value"), W("depth"),
    W("nodeId"), W("contextId"), W("containerId"), W("recordProperties"), W("madeBookmark"),
    W("resumed"), W("currentResumed"), W("awaited"), W("kind"), W("data"), W("trigger"),
    /* statuses, events */
    W("Running"), W("Finished"), W("Executing"), W("Suspended"), W("Faulted"), W("Cancelled"),
    W("Completed"), W("Pending"), W("Started"), W("Resumed"), W("Canceled"),
    /* types */
    W("Object"), W("String"), W("Int32"), W("Int64"), W("Boolean"), W("Double"), W("DateTime"),
    W("ObjectDictionary"), W("typeName"),
    /* variables and properties */
    W("Variables"), W("_type"), W("VariablesDictionary"), W("ObjectMap"), W("CurrentIndex"),
    W("CompletedActivities"), W("ScheduledChildren"), W("CompletedChildren"), W("IsBreaking"),
    W("CurrentValue"), W("Outcomes"), W("Done"), W("Result"), W("Workflow1"),
    /* what activities wait for and call back */
    W("OnChildCompleted"), W("OnRootCompletedAsync"), W("OnChildCompletedAsync"),
    W("OnBodyCompleted"), W("CompleteInternalAsync"), W("Elsa.Event"), W("eventName"),
    W("EventStimulus"), W("EventName"), W("Elsa.Delay"), W("Elsa.RunTask"), W("resumeAt"),
    W("PersistentVariablesDictionary"),
    /* from here on two bytes */
    W("parentInstanceId"), W("ParentInstanceId"), W("WaitForCompletion"), W("dynamic"),
    W("exception"), W("message"), W("timestamp"), W("activityType"), W("stackTrace"),
    W("scheduledByInstance"), W("resumePending"), W("job"), W("jobResult"), W("composite"),
    W("Interrupted"), W("Decimal"), W("Guid"), W("JsonObject"), W("JsonArray"), W("Text"),
    W("taskId"), W("taskName"), W("TaskName"), W("childInstanceId"), W("WorkflowDefinitionId"),
};
/* clang-format on */

void pawl__stored_words(struct pawl_words *words)
{
    pawl__words_init(words, list, sizeof list / sizeof *list);
}
