/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime, for administrators: its status, pause, resume, drain. */
#include "api/endpoint.h"
#include "api/private.h"
#include "operations/nodes.h"
#include "views/nodes.h"

#define RUNTIME API_ELSA "/admin/workflow-runtime"

struct reason_request {
    struct pawl_str reason;
};

static const struct api_field reason_fields[] = {
    API_FIELD(struct reason_request, reason, "reason", API_TEXT, 0),
};

static void respond_status(struct api_call *call)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_cluster_status found;
    struct pawl_json out;
    int status = pawl__op_cluster_status(&call->op, &found);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_status(&b, &found);
    api_respond(call, &b, &out);
}

static void show_status(struct api_call *call, const void *request)
{
    (void)request;
    respond_status(call);
}

/* A pause is for all nodes: whoever asks does not know which of them was asked. */
static void pause_runtime(struct api_call *call, const void *data)
{
    const struct reason_request *request = data;
    struct pawl_pause pause;
    int status = pawl__op_node_pause(&call->op, pawl__str(""), api_given(request->reason), &pause);

    if (status == PAWL_OK)
        respond_status(call);
    else
        api_fail(call, status);
}

static void resume_runtime(struct api_call *call, const void *request)
{
    int status = pawl__op_runtime_resume(&call->op);

    (void)request;
    if (status == PAWL_OK)
        respond_status(call);
    else
        api_fail(call, status);
}

static void drain_runtime(struct api_call *call, const void *data)
{
    const struct reason_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_drained drained;
    struct pawl_json out;
    int status = pawl__op_node_drain(&call->op, api_given(request->reason), &drained);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_drained(&b, &drained);
    api_respond(call, &b, &out);
}

#define MANAGE "ManageWorkflowRuntime"

static const struct api_endpoint endpoints[] = {
    {.method = "GET",
     .path = RUNTIME "/status",
     .permission = "read:workflow-runtime " MANAGE,
     .handle = show_status,
     .summary = "Whether new work is taken, and why not",
     .result = "RuntimeStatus"},
    {.method = "POST",
     .path = RUNTIME "/pause",
     .permission = MANAGE,
     .handle = pause_runtime,
     .body = API_BODY_REQUIRED,
     API_FIELDS(struct reason_request, reason_fields),
     .summary = "Pauses all nodes: nothing new begins",
     .result = "RuntimeStatus"},
    {.method = "POST",
     .path = RUNTIME "/resume",
     .permission = MANAGE,
     .handle = resume_runtime,
     .summary = "Ends the pause, and that of this node",
     .result = "RuntimeStatus"},
    {.method = "POST",
     .path = RUNTIME "/force-drain",
     .permission = MANAGE,
     .handle = drain_runtime,
     .body = API_BODY_REQUIRED,
     API_FIELDS(struct reason_request, reason_fields),
     .summary = "Pauses this node and waits until it runs nothing",
     .result = "Drained"},
};
const struct api_family api_runtime = API_FAMILY("Runtime", endpoints);
