/* SPDX-License-Identifier: Apache-2.0 */
/* A designer tries out one activity. */
#include "operations/probe.h"
#include "api/endpoint.h"
#include "api/private.h"
#include "views/view.h"

struct probe_request {
    const struct pawl_json *definition, *activity;
};

static const struct api_field probe_fields[] = {
    API_FIELD(struct probe_request, definition, "workflowDefinitionHandle", API_OBJECT, 0),
    API_FIELD(struct probe_request, activity, "activityHandle", API_OBJECT, 0),
};

static struct pawl_str text_of(const struct pawl_json *object, const char *key)
{
    return api_given(pawl__json_str(api_member(object, key)));
}

/* Which versions, as text or number; without any the published one, else the latest. */
static bool read_versions(struct api_call *call, const struct pawl_json *handle,
                          struct pawl_version_options *out)
{
    const struct pawl_json *value = api_member(handle, "versionOptions");
    int64_t number;

    *out = (struct pawl_version_options){PAWL_VERSIONS_LATEST, 0};
    if (pawl__json_to_int(value, &number)) {
        *out = (struct pawl_version_options){PAWL_VERSIONS_NUMBER, number};
        return true;
    }
    if (pawl__json_str(value).len == 0 ||
        pawl__version_options_read(pawl__json_str(value), out, &call->err) == PAWL_OK)
        return true;
    api_refuse(call, 400, "workflowDefinitionHandle.versionOptions", call->err.msg);
    return false;
}

static void respond_probed(struct api_call *call, const struct pawl_probed *probed)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out = pawl__json_object();

    pawl__build(&b, &out, "activityState", probed->state);
    pawl__build(&b, &out, "outputs", probed->outputs);
    pawl__build(&b, &out, "payload", probed->payload);
    if (pawl__json_type(&probed->exception) != PAWL_JSON_NULL)
        pawl__build(&b, &out, "exception", probed->exception);
    pawl__build_text(&b, &out, "status", probed->status);
    api_respond(call, &b, &out);
}

static void test_activity(struct api_call *call, const void *data)
{
    const struct probe_request *request = data;
    struct pawl_probe probe = {
        .definition = {.version_id = text_of(request->definition, "definitionVersionId"),
                       .definition_id = text_of(request->definition, "definitionId"),
                       .name = pawl__str("")},
        .node_id = text_of(request->activity, "activityNodeId"),
        .activity_id = text_of(request->activity, "activityId")};
    struct pawl_probed probed;
    int status;

    if (!read_versions(call, request->definition, &probe.definition.versions))
        return;
    if (probe.definition.version_id.len + probe.definition.definition_id.len == 0) {
        api_refuse(call, 400, "workflowDefinitionHandle", "No workflow definition is named.");
        return;
    }
    status = pawl__op_activity_probe(&call->op, &probe, &probed);
    if (status == PAWL_ENOTFOUND)
        api_refuse(call, 400, "generalErrors", "There is no such workflow definition.");
    else if (status != PAWL_OK)
        api_fail(call, status);
    else
        respond_probed(call, &probed);
}

static const struct api_endpoint endpoints[] = {
    {.method = "POST",
     .path = API_ELSA "/tests/activities",
     .permission = "exec:tests",
     .handle = test_activity,
     .body = API_BODY_REQUIRED,
     API_FIELDS(struct probe_request, probe_fields),
     .summary = "Runs one activity by itself and stores nothing",
     .result = "ActivityTest",
     .flags = PAWL_ROUTE_COMPUTES},
};
const struct api_family api_probe = API_FAMILY("Tests", endpoints);
