/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only descriptors say of a type: how Elsa's class is called, in which order a designer shows
 * the inputs. Designers compare and sort by it; nothing here changes what an activity does.
 */
#include "engine/descriptor_private.h"

#define CLASS(name, space, assembly)                                                               \
    {                                                                                              \
        "Elsa." name, "UnregisteredClrType:" space "." name ", " assembly                          \
    }
#define CORE(name) CLASS(name, "Elsa.Workflows.Activities", "Elsa.Workflows.Core")
#define RUNTIME(name) CLASS(name, "Elsa.Workflows.Runtime.Activities", "Elsa.Workflows.Runtime")
#define TIME(name) CLASS(name, "Elsa.Scheduling.Activities", "Elsa.Scheduling")
#define HTTP(name) CLASS(name, "Elsa.Http", "Elsa.Http")
#define FLOW(name)                                                                                 \
    CLASS(name, "Elsa.Workflows.Activities.Flowchart.Activities", "Elsa.Workflows.Core")
#define SCRIPT(name)                                                                               \
    CLASS(name, "Elsa.Expressions.JavaScript.Activities", "Elsa.Expressions.JavaScript")
#define OUTPUT(name)                                                                               \
    CLASS(name, "Elsa.Workflows.Management.Activities.SetOutput", "Elsa.Workflows.Management")
#define STATES(name)                                                                               \
    CLASS(name, "Elsa.Workflows.Activities.StateMachine.Activities", "Elsa.Workflows.Core")

static const struct {
    const char *type, *class_name;
} classes[] = {
    CORE("Break"),
    CORE("Complete"),
    CORE("Correlate"),
    CORE("End"),
    CORE("Fault"),
    CORE("Finish"),
    CORE("For"),
    CORE("ForEach"),
    CORE("Fork"),
    CORE("If"),
    CORE("Inline"),
    CORE("NotFoundActivity"),
    CORE("Parallel"),
    CORE("ParallelForEach"),
    CORE("Sequence"),
    CORE("SetName"),
    CORE("SetVariable"),
    CORE("Start"),
    CORE("Switch"),
    CORE("While"),
    CORE("Workflow"),
    CORE("WriteLine"),
    RUNTIME("BulkDispatchWorkflows"),
    RUNTIME("DispatchWorkflow"),
    RUNTIME("Event"),
    RUNTIME("ExecuteWorkflow"),
    RUNTIME("PublishEvent"),
    RUNTIME("RunTask"),
    TIME("Cron"),
    TIME("Delay"),
    TIME("StartAt"),
    TIME("Timer"),
    HTTP("DownloadHttpFile"),
    HTTP("FlowSendHttpRequest"),
    HTTP("HttpEndpoint"),
    HTTP("SendHttpRequest"),
    HTTP("WriteFileHttpResponse"),
    HTTP("WriteHttpResponse"),
    FLOW("FlowDecision"),
    FLOW("FlowFork"),
    FLOW("FlowJoin"),
    FLOW("FlowNode"),
    FLOW("FlowSwitch"),
    FLOW("Flowchart"),
    SCRIPT("RunJavaScript"),
    OUTPUT("SetOutput"),
    STATES("StateMachine"),
    {"Elsa.ReadLine",
     "UnregisteredClrType:Elsa.Workflows.Activities.ReadLine, Elsa.Workflows.Core"},
    {"Elsa.Workflows.Activities.DynamicActivity",
     "UnregisteredClrType:Elsa.Workflows.Activities.DynamicActivity, Elsa.Workflows.Core"},
    {"Elsa.WorkflowDefinitionActivity", "UnregisteredClrType:" DESCRIPTOR_WORKFLOW_CLASS},
};

const char *descriptor_class(const char *type)
{
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        if (strcmp(classes[i].type, type) == 0)
            return classes[i].class_name;
    }
    return NULL;
}

/* ---- order of inputs ------------------------------------------------------------------------ */

static const struct {
    const char *input, *order;
} request_orders[] = {
    {"Method", "1"},        {"Content", "2"},        {"ContentType", "3"},
    {"Authorization", "4"}, {"RequestHeaders", "6"}, {"DisableAuthorizationHeaderValidation", "5"},
};

const char *descriptor_order(const char *type, const char *input)
{
    if (!descriptor_is_resilient(type))
        return "0";
    /* Of the other one they are cases with activities of their own. */
    if (strcmp(input, "ExpectedStatusCodes") == 0)
        return strcmp(type, "Elsa.FlowSendHttpRequest") == 0 ? "5.1" : "0";
    for (size_t i = 0; i < sizeof request_orders / sizeof request_orders[0]; i++) {
        if (strcmp(request_orders[i].input, input) == 0)
            return request_orders[i].order;
    }
    return "0";
}

bool descriptor_is_resilient(const char *type)
{
    return strcmp(type, "Elsa.SendHttpRequest") == 0 ||
           strcmp(type, "Elsa.FlowSendHttpRequest") == 0;
}
