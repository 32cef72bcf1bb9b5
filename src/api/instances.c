/* SPDX-License-Identifier: Apache-2.0 */
/* Workflow instances: one, and many at a time. Lists are in instances_list.c. */
#include "operations/instances.h"
#include "api/endpoint.h"
#include "api/private.h"
#include "operations/definitions.h"
#include "views/instances.h"

#define INSTANCES API_ELSA "/workflow-instances"
#define READ "read:workflow-instances"
#define WRITE "write:workflow-instances"
#define DELETE_ "delete:workflow-instances"
#define CANCEL "cancel:workflow-instances"

struct one_request {
    struct pawl_str id;
    const struct pawl_json *variables;
};

static const struct api_field one_fields[] = {
    API_FIELD(struct one_request, id, "id", API_TEXT, API_IN_PATH),
};

/* ---- looking at one -------------------------------------------------------------------------- */

static void show(struct api_call *call, const void *data)
{
    const struct one_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_instance_shown shown;
    struct pawl_json out;
    int status = pawl__op_instance_show(&call->op, request->id, true, &shown);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_instance(&b, &shown);
    api_respond(call, &b, &out);
}

static void show_execution_state(struct api_call *call, const void *data)
{
    const struct one_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_instance_shown shown;
    struct pawl_json out;
    int status = pawl__op_instance_show(&call->op, request->id, false, &shown);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_execution_state(&b, &shown.row);
    api_respond(call, &b, &out);
}

/* ---- variables ------------------------------------------------------------------------------- */

static void respond_variables(struct api_call *call, int status, const struct pawl_json *variables)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out;

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_variables(&b, variables);
    api_respond(call, &b, &out);
}

static void list_variables(struct api_call *call, const void *data)
{
    const struct one_request *request = data;
    struct pawl_json variables;
    int status = pawl__op_instance_variables(&call->op, request->id, &variables);

    respond_variables(call, status, &variables);
}

static const struct api_field variables_fields[] = {
    API_FIELD(struct one_request, id, "id", API_TEXT, API_IN_PATH),
    API_FIELD(struct one_request, variables, "variables", API_ARRAY, API_REQUIRED),
};

static void set_variables(struct api_call *call, const void *data)
{
    const struct one_request *request = data;
    struct pawl_json variables;
    int status = pawl__op_instance_set_variables(&call->op, request->id, request->variables, true,
                                                 &variables);

    respond_variables(call, status, &variables);
}

/* ---- ending one ------------------------------------------------------------------------------ */

static void delete_one(struct api_call *call, const void *data)
{
    const struct one_request *request = data;
    int status = pawl__op_instance_delete(&call->op, request->id);

    if (status == PAWL_OK)
        api_respond_status(call, 204);
    else
        api_fail(call, status);
}

static void cancel_one(struct api_call *call, const void *data)
{
    const struct one_request *request = data;
    int status = pawl__op_instance_cancel(&call->op, request->id, false, NULL);

    if (status == PAWL_OK)
        api_respond_status(call, 200);
    else
        api_fail(call, status);
}

/* ---- many ------------------------------------------------------------------------------------ */

struct many_request {
    struct pawl_texts ids, definition_ids;
    struct pawl_str definition_id, version_id, versions;
};

static const struct api_field delete_fields[] = {
    API_FIELD(struct many_request, ids, "ids", API_TEXTS, 0),
    API_FIELD(struct many_request, definition_id, "workflowDefinitionId", API_TEXT, 0),
    API_FIELD(struct many_request, definition_ids, "workflowDefinitionIds", API_TEXTS, 0),
};

static const struct api_field cancel_fields[] = {
    API_FIELD(struct many_request, ids, "ids", API_TEXTS, 0),
    API_FIELD(struct many_request, version_id, "definitionVersionId", API_TEXT, 0),
    API_FIELD(struct many_request, definition_id, "definitionId", API_TEXT, 0),
    API_FIELD(struct many_request, versions, "versionOptions", API_TEXT_OR_NUMBER, 0),
};

static struct pawl_instance_query query_of(const struct many_request *request)
{
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;

    query.ids = request->ids.texts;
    query.id_count = request->ids.count;
    query.definition_id = request->definition_id;
    query.definition_ids = request->definition_ids.texts;
    query.definition_id_count = request->definition_ids.count;
    query.version_id = request->version_id;
    return query;
}

/* How many; what was done counts, also if the rest could not be. */
static void respond_count(struct api_call *call, int status, const struct pawl_bulk_result *result,
                          const char *key)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out = pawl__json_object();

    if (status == PAWL_OK && result->done == 0 && result->failed > 0) {
        status = result->error.code;
        call->err = result->error;
    }
    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    pawl__build_int(&b, &out, key, (int64_t)result->done);
    if (result->error.code != PAWL_OK)
        pawl__view_text(&b, &out, "error", pawl__str(result->error.msg));
    api_respond(call, &b, &out);
}

static void delete_many(struct api_call *call, const void *data)
{
    struct pawl_instance_query query = query_of(data);
    struct pawl_bulk_result result = {0};
    int status = pawl__op_instances_delete(&call->op, &query, &result);

    respond_count(call, status, &result, "deleted");
}

static bool read_versions(struct api_call *call, const struct many_request *request,
                          struct pawl_version_options *out)
{
    if ((request->versions.len > 0) != (request->definition_id.len > 0)) {
        api_refuse(call, 400, "versionOptions",
                   "VersionOptions and DefinitionId should either both be empty or both be not "
                   "empty");
        return false;
    }
    if (request->versions.len == 0 ||
        pawl__version_options_read(request->versions, out, &call->err) == PAWL_OK)
        return true;
    api_refuse(call, 400, "versionOptions", call->err.msg);
    return false;
}

static void cancel_many(struct api_call *call, const void *data)
{
    const struct many_request *request = data;
    struct pawl_instance_query query = query_of(request);
    struct pawl_bulk_result result = {0};
    int status = PAWL_OK;

    if (!read_versions(call, request, &query.versions))
        return;
    /* As in Elsa: nothing is chosen, and nothing is cancelled. */
    if (query.ids || query.definition_id.len + query.version_id.len > 0)
        status = pawl__op_instances_cancel(&call->op, &query, &result);
    respond_count(call, status, &result, "cancelled");
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct api_endpoint endpoints[] = {
    {.method = "GET",
     .path = INSTANCES "/{id}",
     .permission = READ,
     .handle = show,
     API_FIELDS(struct one_request, one_fields),
     .summary = "Shows an instance with its state",
     .result = "WorkflowInstance"},
    {.method = "GET",
     .path = INSTANCES "/{id}/execution-state",
     .permission = READ,
     .handle = show_execution_state,
     API_FIELDS(struct one_request, one_fields),
     .summary = "Shows the status of an instance",
     .result = "ExecutionState"},
    {.method = "GET",
     .path = INSTANCES "/{id}/variables",
     .permission = READ,
     .handle = list_variables,
     API_FIELDS(struct one_request, one_fields),
     .summary = "Lists the variables of an instance",
     .result = "Variables"},
    {.method = "POST",
     .path = INSTANCES "/{id}/variables",
     .permission = WRITE,
     .handle = set_variables,
     .body = API_BODY_REQUIRED,
     API_FIELDS(struct one_request, variables_fields),
     .summary = "Sets variables of an instance, all or none",
     .result = "Variables"},
    {.method = "DELETE",
     .path = INSTANCES "/{id}",
     .permission = DELETE_,
     .handle = delete_one,
     API_FIELDS(struct one_request, one_fields),
     .summary = "Deletes an instance with its journal"},
    {.method = "POST",
     .path = API_ELSA "/cancel/workflow-instances/{id}",
     .permission = CANCEL,
     .handle = cancel_one,
     .body = API_BODY_OPTIONAL,
     API_FIELDS(struct one_request, one_fields),
     .summary = "Cancels an instance and its children"},
    {.method = "POST",
     .path = API_ELSA "/bulk-actions/delete/workflow-instances",
     .permission = DELETE_,
     .handle = delete_many,
     .body = API_BODY_REQUIRED,
     API_FIELDS(struct many_request, delete_fields),
     .summary = "Deletes instances",
     .result = "Deleted"},
    {.method = "POST",
     .path = API_ELSA "/bulk-actions/delete/workflow-instances/by-id",
     .permission = DELETE_,
     .handle = delete_many,
     .body = API_BODY_REQUIRED,
     API_FIELDS(struct many_request, delete_fields),
     .summary = "Deletes instances",
     .result = "Deleted"},
    {.method = "POST",
     .path = API_ELSA "/bulk-actions/cancel/workflow-instances",
     .permission = CANCEL,
     .handle = cancel_many,
     .body = API_BODY_REQUIRED,
     API_FIELDS(struct many_request, cancel_fields),
     .summary = "Cancels instances",
     .result = "Cancelled"},
};
const struct api_family api_instances = API_FAMILY("Instances", endpoints);
