/* SPDX-License-Identifier: Apache-2.0 */
/* Events and tasks: what programs tell workflows. */
#include "api/endpoint.h"
#include "api/private.h"
#include "operations/health.h"
#include "operations/tasks.h"

#define SYNCHRONOUS 1

/* Of an event: its input, and what else a program may hand over. */
#define EVENT_BYTES_MAX ((uint64_t)4 << 20)

static const char *const modes[] = {"Asynchronous", "Synchronous", NULL};

struct event_request {
    struct pawl_str name, instance_id, correlation_id, activity_instance_id;
    const struct pawl_json *input;
    int mode;
};

static const struct api_field event_fields[] = {
    API_FIELD(struct event_request, name, "eventName", API_TEXT, API_IN_PATH),
    API_FIELD(struct event_request, instance_id, "workflowInstanceId", API_TEXT, 0),
    API_FIELD(struct event_request, correlation_id, "correlationId", API_TEXT, 0),
    API_FIELD(struct event_request, activity_instance_id, "activityInstanceId", API_TEXT, 0),
    API_FIELD(struct event_request, input, "input", API_OBJECT, 0),
    API_FIELD_CHOICE(struct event_request, mode, "workflowExecutionMode", modes,
                     "WorkflowExecutionMode"),
};

/* The event was sent; what it did is not said, as Elsa has it. */
static void on_event_done(void *ctx, const struct pawl_event_result *result)
{
    struct api_call *call = ctx;

    (void)result;
    api_respond_status(call, 200);
    api_finish(call);
}

/* Sends and waits until what it reached has come to rest. */
static void send_synchronously(struct api_call *call, const struct pawl_send_request *send)
{
    int status;

    /* The completion may be called before this returns: the exchange may be gone then. */
    api_keep(call);
    status = pawl__op_event_send_await(&call->op, send, on_event_done, call);
    if (status == PAWL_OK)
        return;
    if (status == PAWL_ENOTFOUND)
        api_respond_status(call, 200);
    else
        api_fail(call, status);
    api_finish(call);
}

static void trigger_event(struct api_call *call, const void *data)
{
    const struct event_request *request = data;
    /* What is paused comes to no rest: the event is stored, and is delivered afterwards. */
    bool waits = request->mode == SYNCHRONOUS && !pawl__op_is_paused(&call->op);
    struct pawl_send_request send = {
        .name = request->name,
        .payload = request->input,
        .correlation_id = api_given(request->correlation_id),
        .instance_id = api_given(request->instance_id),
        .activity_instance_id = api_given(request->activity_instance_id),
        .idempotency_key = api_idempotency_key(call),
        .detached = !waits,
    };
    struct pawl_send_result sent;
    int status;

    if (waits) {
        send_synchronously(call, &send);
        return;
    }
    status = pawl__op_event_send(&call->op, &send, &sent);
    /* An event for an instance that is not there is one that nobody waits for. */
    if (status == PAWL_OK || status == PAWL_ENOTFOUND)
        api_respond_status(call, 200);
    else
        api_fail(call, status);
}

/* ---- tasks ---------------------------------------------------------------------------------- */

struct task_request {
    struct pawl_str id;
    const struct pawl_json *result;
};

static const struct api_field task_fields[] = {
    API_FIELD(struct task_request, id, "taskId", API_TEXT, API_IN_PATH),
    API_FIELD(struct task_request, result, "result", API_ANY, 0),
};

/* Reports of tasks that nobody waits for are accepted, as in Elsa; /pawl/api/tasks says it. */
static void complete_task(struct api_call *call, const void *data)
{
    const struct task_request *request = data;
    struct pawl_send_result sent;
    int status = pawl__op_task_complete(&call->op, request->id, request->result, true, &sent);

    if (status == PAWL_OK || status == PAWL_ENOTFOUND || status == PAWL_ECONFLICT)
        api_respond_status(call, 200);
    else
        api_fail(call, status);
}

static const struct api_endpoint endpoints[] = {
    {.method = "POST",
     .path = API_ELSA "/events/{eventName}/trigger",
     .permission = "trigger:event",
     .handle = trigger_event,
     .body = API_BODY_REQUIRED,
     .body_bytes_max = EVENT_BYTES_MAX,
     API_FIELDS(struct event_request, event_fields),
     .summary = "Sends an event to all that wait for it and to workflows that start by it"},
    {.method = "POST",
     .path = API_ELSA "/tasks/{taskId}/complete",
     .permission = "tasks:complete",
     .handle = complete_task,
     .body = API_BODY_REQUIRED,
     .body_bytes_max = EVENT_BYTES_MAX,
     API_FIELDS(struct task_request, task_fields),
     .summary = "Reports that a task was done"},
};
const struct api_family api_events = API_FAMILY("Events and tasks", endpoints);
