/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting instances: at once and with their state (execute), or in the background (dispatch).
 *
 * A request with the field Idempotency-Key starts once, however often it is sent: a second one
 * returns what the first one started. What was begun goes on whatever becomes of the client.
 */
#include "api/endpoint.h"
#include "api/private.h"
#include "operations/definitions.h"
#include "operations/waits.h"
#include "views/instances.h"

#define PERMISSION "exec:workflow-definitions"
#define DEFINITION API_ELSA "/workflow-definitions/{definitionId}"

struct start_request {
    struct pawl_str definition_id, correlation_id, name, trigger_activity_id, versions;
    struct pawl_str instance_id, channel;
    const struct pawl_json *activity_handle, *input, *variables;
    struct api_number count;
};

#define START_FIELD(member, name, type, flags)                                                     \
    API_FIELD(struct start_request, member, name, type, flags)

/* Of every start. */
#define START_FIELDS                                                                               \
    START_FIELD(definition_id, "definitionId", API_TEXT, API_IN_PATH),                             \
        START_FIELD(correlation_id, "correlationId", API_TEXT, 0),                                 \
        START_FIELD(name, "name", API_TEXT, 0),                                                    \
        START_FIELD(trigger_activity_id, "triggerActivityId", API_TEXT, 0),                        \
        START_FIELD(activity_handle, "activityHandle", API_OBJECT, 0),                             \
        START_FIELD(versions, "versionOptions", API_TEXT_OR_NUMBER, 0),                            \
        START_FIELD(input, "input", API_ANY, 0), START_FIELD(variables, "variables", API_ANY, 0)

static const struct api_field execute_fields[] = {
    START_FIELDS,
};

static const struct api_field dispatch_fields[] = {
    START_FIELDS,
    START_FIELD(instance_id, "instanceId", API_TEXT, 0),
    START_FIELD(channel, "channel", API_TEXT, 0),
};

static const struct api_field bulk_fields[] = {
    START_FIELDS,
    START_FIELD(count, "count", API_NUMBER, 0),
    START_FIELD(channel, "channel", API_TEXT, 0),
};

/* ---- what is asked for ----------------------------------------------------------------------- */

static struct pawl_json value_of(const struct pawl_json *given)
{
    return given ? *given : pawl__json_null();
}

/* Activities are named by their ids. */
static bool read_handle(struct api_call *call, const struct pawl_json *handle, struct pawl_str *out)
{
    const struct pawl_json *id = api_member(handle, "activityId");

    *out = pawl__str("");
    if (!handle)
        return true;
    if (!pawl__json_is(id, PAWL_JSON_STRING) || pawl__json_str(id).len == 0) {
        api_refuse(call, 400, "activityHandle", "An activityId is expected in it.");
        return false;
    }
    *out = pawl__json_str(id);
    return true;
}

static bool read_start(struct api_call *call, const struct start_request *request,
                       struct pawl_instance_start *out)
{
    *out = (struct pawl_instance_start){
        .what = {.definition_id = request->definition_id,
                 .instance_id = request->instance_id,
                 .correlation_id = request->correlation_id,
                 .name = request->name,
                 .trigger_activity_id = request->trigger_activity_id,
                 .input = value_of(request->input),
                 .variables = value_of(request->variables),
                 .idempotency_key = api_idempotency_key(call),
                 .judged = true},
    };
    if (request->channel.len > 0) {
        api_refuse(call, 400, "generalErrors", "The specified channel does not exist.");
        return false;
    }
    if (request->versions.len > 0 &&
        pawl__version_options_read(request->versions, &out->version, &call->err) != PAWL_OK) {
        api_refuse(call, 400, "generalErrors", call->err.msg);
        return false;
    }
    return read_handle(call, request->activity_handle, &out->what.activity_id);
}

/* A key that was used before, or an id that is taken, is explained. */
static void fail_start(struct api_call *call, int status)
{
    if (status == PAWL_ECONFLICT || status == PAWL_EEXISTS)
        api_refuse(call, 409, "generalErrors", call->err.msg);
    else
        api_fail(call, status);
}

/* ---- execute --------------------------------------------------------------------------------- */

static void respond_state(struct api_call *call, const struct pawl_instance_result *result)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out = pawl__json_object();
    bool is_faulted = result->outcome.sub_status == PAWL_SUB_FAULTED;

    pawl__exchange_add_field(call->exchange, "x-elsa-workflow-cannot-start", "False");
    pawl__exchange_add_field(call->exchange, "x-elsa-workflow-instance-id",
                             result->outcome.instance_id);
    if (!is_faulted)
        pawl__exchange_add_field(call->exchange, "x-elsa-response", "true");
    pawl__build(&b, &out, "workflowState", pawl__view_state(&b, &result->state));
    api_respond_with(call, is_faulted ? 500 : 200, &b, &out);
}

/* Its first rest. The call was kept for it. */
static void on_rest(void *ctx, int status, const struct pawl_instance_result *result,
                    const struct pawl_error *err)
{
    struct api_call *call = ctx;

    if (status != PAWL_OK) {
        call->err = *err;
        api_fail(call, status);
    } else if (result->outcome.refused) {
        pawl__exchange_add_field(call->exchange, "x-elsa-workflow-cannot-start", "True");
        api_respond_status(call, 200);
    } else {
        respond_state(call, result);
    }
    api_finish(call);
}

static void execute(struct api_call *call, const void *data)
{
    struct pawl_instance_start start;
    int status;

    if (!read_start(call, data, &start))
        return;
    start.with_state = true;
    api_keep(call);
    status = pawl__op_instance_execute(&call->op, &start, on_rest, call, NULL);
    if (status == PAWL_OK)
        return;
    fail_start(call, status);
    api_finish(call);
}

/* ---- dispatch -------------------------------------------------------------------------------- */

static void dispatch(struct api_call *call, const void *data)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out = pawl__json_object();
    struct pawl_instance_start start;
    struct pawl_instance_result result;
    int status;

    if (!read_start(call, data, &start))
        return;
    start.detached = true;
    status = pawl__op_instance_start(&call->op, &start, &result);
    if (status != PAWL_OK) {
        fail_start(call, status);
    } else if (result.outcome.refused) {
        api_refuse(call, 409, "generalErrors",
                   "The activation strategy of the definition does not allow another instance.");
    } else {
        pawl__view_text(&b, &out, "workflowInstanceId", pawl__str(result.outcome.instance_id));
        api_respond(call, &b, &out);
    }
}

static void bulk_dispatch(struct api_call *call, const void *data)
{
    const struct start_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out = pawl__json_object(), list = pawl__json_array();
    int64_t number = request->count.is_given ? request->count.value : 1;
    struct pawl_instance_start start;
    struct pawl_str *ids = NULL;
    uint32_t count = 0;
    int status;

    if (!read_start(call, data, &start))
        return;
    status = pawl__op_instances_dispatch(&call->op, &start, number > 0 ? (uint32_t)number : 0, &ids,
                                         &count);
    /* Those that were made are there: a failure behind them must not read as "nothing happened". */
    if (status != PAWL_OK && count == 0) {
        fail_start(call, status);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        pawl__build_append(&b, &list, pawl__json_string(ids[i]));
    pawl__build(&b, &out, "workflowInstanceIds", list);
    if (status != PAWL_OK)
        pawl__view_text(&b, &out, "error", pawl__str(call->err.msg));
    api_respond(call, &b, &out);
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct api_endpoint endpoints[] = {
    {.method = "POST",
     .path = DEFINITION "/execute",
     .permission = PERMISSION,
     .handle = execute,
     .body = API_BODY_LENIENT,
     API_FIELDS(struct start_request, execute_fields),
     .summary = "Starts an instance and waits until it comes to rest",
     .result = "ExecuteResult",
     .flags = PAWL_ROUTE_NO_DEADLINE | PAWL_ROUTE_COMPUTES},
    {.method = "GET",
     .path = DEFINITION "/execute",
     .permission = PERMISSION,
     .handle = execute,
     .body = API_BODY_IGNORED,
     API_FIELDS(struct start_request, execute_fields),
     .summary = "Starts an instance and waits until it comes to rest",
     .result = "ExecuteResult",
     .flags = PAWL_ROUTE_NO_DEADLINE | PAWL_ROUTE_COMPUTES},
    {.method = "POST",
     .path = DEFINITION "/dispatch",
     .permission = PERMISSION,
     .handle = dispatch,
     .body = API_BODY_REQUIRED,
     API_FIELDS(struct start_request, dispatch_fields),
     .summary = "Starts an instance in the background",
     .result = "DispatchResult"},
    {.method = "POST",
     .path = DEFINITION "/bulk-dispatch",
     .permission = PERMISSION,
     .handle = bulk_dispatch,
     .body = API_BODY_REQUIRED,
     API_FIELDS(struct start_request, bulk_fields),
     .summary = "Starts several instances in the background",
     .result = "BulkDispatchResult"},
};
const struct api_family api_execute = API_FAMILY("Execution", endpoints);
