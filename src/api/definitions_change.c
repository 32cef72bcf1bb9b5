/* SPDX-License-Identifier: Apache-2.0 */
/* Publishing, retracting, reverting and deleting definitions; references, refresh and reload. */
#include "api/definitions.h"
#include "api/files.h"

#include <stdio.h>

/* Instances go with their definition, in batches. */
#define DELETE_MS 120000
#define MARGIN_MS 5000

/* ---- publishing, retracting -------------------------------------------------------------------
 */

static void publish_definition(struct api_call *call, const void *data)
{
    const struct definition_request *request = data;
    struct pawl_definition_ref ref = {.definition_id = request->id};
    struct pawl_definition_saved saved;
    int status = pawl__op_definition_publish(&call->op, &ref, &saved);

    if (status == PAWL_OK)
        definition_respond_saved(call, API_JSON, &saved);
    else
        definition_fail(call, status);
}

static void retract_definition(struct api_call *call, const void *data)
{
    const struct definition_request *request = data;
    struct pawl_definition_row row;
    bool was_published;
    char detail[PAWL_DEFINITION_ID_MAX + 60];
    int status = pawl__op_definition_retract(&call->op, request->id, &was_published, &row);

    if (status != PAWL_OK) {
        api_fail(call, status);
    } else if (was_published) {
        definition_respond(call, 200, &row);
    } else {
        (void)snprintf(detail, sizeof detail, "Workflow with id %.*s is not published",
                       PAWL_STR_ARG(row.definition_id));
        api_refuse(call, 400, "generalErrors", detail);
    }
}

/* ---- versions ---------------------------------------------------------------------------------
 */

struct version_request {
    struct pawl_str definition_id;
    struct api_number version;
};

static const struct api_field version_fields[] = {
    API_FIELD(struct version_request, definition_id, "definitionId", API_TEXT, API_IN_PATH),
    API_FIELD(struct version_request, version, "version", API_NUMBER, API_IN_PATH),
};

static void revert_definition(struct api_call *call, const void *data)
{
    const struct version_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_definition_row row;
    struct pawl_json out;
    const char *id, *location;
    int status =
        pawl__op_definition_revert(&call->op, request->definition_id, request->version.value, &row);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    id = api_encode(&call->arena, row.id);
    location = id ? pawl__arena_printf(&call->arena, DEFINITIONS "/by-id/%s", id) : NULL;
    if (location)
        pawl__exchange_add_field(call->exchange, "Location", location);
    out = pawl__view_definition_summary(&b, &row);
    api_respond_with(call, 201, &b, &out);
}

static void delete_with(struct api_call *call, struct pawl_definition_delete *request,
                        int status_done)
{
    struct pawl_op op = pawl__op_within(&call->op, DELETE_MS - MARGIN_MS);
    struct pawl_definition_deleted deleted;
    int status;

    request->with_instances = true;
    status = pawl__op_definition_delete(&op, request, &deleted);
    if (status == PAWL_OK)
        api_respond_status(call, status_done);
    else
        api_fail(call, status);
}

static void delete_definition(struct api_call *call, const void *data)
{
    const struct definition_request *request = data;

    delete_with(call, &(struct pawl_definition_delete){.definition_id = request->id}, 204);
}

static void delete_version_by_id(struct api_call *call, const void *data)
{
    const struct definition_request *request = data;

    delete_with(call, &(struct pawl_definition_delete){.version_id = request->id}, 204);
}

static void delete_version(struct api_call *call, const void *data)
{
    const struct version_request *request = data;

    /* What is not above 0 would mean all versions. */
    if (request->version.value <= 0)
        api_respond_status(call, 404);
    else
        delete_with(call,
                    &(struct pawl_definition_delete){.definition_id = request->definition_id,
                                                     .version = request->version.value},
                    200);
}

/* ---- references -------------------------------------------------------------------------------
 */

static void update_references(struct api_call *call, const void *data)
{
    const struct definition_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out = pawl__json_object(), names = pawl__json_array();
    struct pawl_definition_list list;
    int status = pawl__op_definition_update_references(&call->op, request->id, &list);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    for (size_t i = 0; i < list.count; i++)
        pawl__build_append(&b, &names, pawl__json_string(list.rows[i].name));
    pawl__build(&b, &out, "affectedWorkflows", names);
    api_respond(call, &b, &out);
}

/* ---- refresh, reload --------------------------------------------------------------------------
 */

struct refresh_request {
    struct pawl_texts definition_ids;
};

static const struct api_field refresh_fields[] = {
    API_FIELD(struct refresh_request, definition_ids, "definitionIds", API_TEXTS, 0),
};

static void refresh_definitions(struct api_call *call, const void *data)
{
    const struct refresh_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_refreshed refreshed;
    struct pawl_json out;
    int status = pawl__op_definitions_refresh(&call->op, request->definition_ids.texts,
                                              request->definition_ids.count, &refreshed);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_refreshed(&b, &refreshed);
    api_respond_with(call, refreshed.in_progress ? 202 : 200, &b, &out);
}

static void reload_definitions(struct api_call *call, const void *data)
{
    struct pawl_reloaded reloaded;
    int status = pawl__op_definitions_reload(&call->op, &reloaded);

    (void)data;
    /* No folder is named: there is nothing to load. */
    if (status == PAWL_OK || status == PAWL_ENOTFOUND)
        api_respond_status(call, 200);
    else
        api_fail(call, status);
}

/* ---- the table --------------------------------------------------------------------------------
 */

static const struct api_endpoint endpoints[] = {
    {.method = "POST",
     .path = DEFINITIONS "/{definitionId}/publish",
     .permission = PUBLISH_DEFINITIONS,
     .handle = publish_definition,
     .body = API_BODY_REQUIRED,
     API_FIELDS(struct definition_request, definition_by_definition_id),
     .summary = "Publishes the latest version",
     .result = "WorkflowDefinitionSaved"},
    {.method = "POST",
     .path = DEFINITIONS "/{definitionId}/retract",
     .permission = RETRACT_DEFINITIONS,
     .handle = retract_definition,
     .body = API_BODY_REQUIRED,
     API_FIELDS(struct definition_request, definition_by_definition_id),
     .summary = "Makes the published version a draft",
     .result = "WorkflowDefinition"},
    {.method = "POST",
     .path = DEFINITIONS "/{definitionId}/revert/{version}",
     .permission = PUBLISH_DEFINITIONS,
     .handle = revert_definition,
     API_FIELDS(struct version_request, version_fields),
     .summary = "Makes a copy of an old version the latest",
     .result = "WorkflowDefinitionSummary"},
    {.method = "POST",
     .path = DEFINITIONS "/{definitionId}/update-references",
     .permission = PUBLISH_DEFINITIONS,
     .handle = update_references,
     .body = API_BODY_REQUIRED,
     API_FIELDS(struct definition_request, definition_by_definition_id),
     .summary = "Points definitions that use this one to its published version",
     .result = "AffectedWorkflows"},
    {.method = "DELETE",
     .path = DEFINITIONS "/{definitionId}",
     .permission = DELETE_DEFINITIONS,
     .handle = delete_definition,
     .deadline_ms = DELETE_MS,
     API_FIELDS(struct definition_request, definition_by_definition_id),
     .summary = "Deletes a definition with all its versions and instances"},
    {.method = "DELETE",
     .path = DEFINITIONS "/{definitionId}/version/{version}",
     .permission = DELETE_DEFINITIONS,
     .handle = delete_version,
     .deadline_ms = DELETE_MS,
     API_FIELDS(struct version_request, version_fields),
     .summary = "Deletes one version by its number, with its instances"},
    {.method = "DELETE",
     .path = API_ELSA "/workflow-definition-versions/{id}",
     .permission = DELETE_DEFINITIONS,
     .handle = delete_version_by_id,
     .deadline_ms = DELETE_MS,
     API_FIELDS(struct definition_request, definition_by_id),
     .summary = "Deletes one version by its id, with its instances"},
    {.method = "POST",
     .path = API_ELSA "/actions/workflow-definitions/refresh",
     .permission = "actions:workflow-definitions:refresh",
     .handle = refresh_definitions,
     .body = API_BODY_REQUIRED,
     API_FIELDS(struct refresh_request, refresh_fields),
     .summary = "Recomputes the triggers of published definitions",
     .result = "RefreshedWorkflowDefinitions"},
    {.method = "POST",
     .path = API_ELSA "/actions/workflow-definitions/reload",
     .permission = "actions:workflow-definitions:reload",
     .handle = reload_definitions,
     .summary = "Loads the definitions of the server's folder again"},
};
const struct api_family api_definitions_change = API_FAMILY(DEFINITIONS_TAG, endpoints);
