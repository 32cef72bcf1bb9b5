/* SPDX-License-Identifier: Apache-2.0 */
/* Publishing, retracting and deleting many definitions. */
#include "api/definitions.h"

#define BULK API_ELSA "/bulk-actions"
/* Each definition is changed in a commit of its own. */
#define BULK_MS 300000
#define MARGIN_MS 5000

struct bulk_request {
    struct pawl_texts ids;
};

static const struct api_field by_definition_ids[] = {
    API_FIELD(struct bulk_request, ids, "definitionIds", API_TEXTS, API_REQUIRED),
};
static const struct api_field by_ids[] = {
    API_FIELD(struct bulk_request, ids, "ids", API_TEXTS, API_REQUIRED),
};

static void publish_definitions(struct api_call *call, const void *data)
{
    const struct bulk_request *request = data;
    struct pawl_op op = pawl__op_within(&call->op, BULK_MS - MARGIN_MS);
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_definitions_published done;
    struct pawl_json out;
    int status = pawl__op_definitions_publish(&op, request->ids.texts, request->ids.count, &done);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_definitions_published(&b, &done);
    api_respond(call, &b, &out);
}

static void retract_definitions(struct api_call *call, const void *data)
{
    const struct bulk_request *request = data;
    struct pawl_op op = pawl__op_within(&call->op, BULK_MS - MARGIN_MS);
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_definitions_retracted done;
    struct pawl_json out;
    int status = pawl__op_definitions_retract(&op, request->ids.texts, request->ids.count, &done);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_definitions_retracted(&b, &done);
    api_respond(call, &b, &out);
}

static void delete_all(struct api_call *call, struct pawl_definitions_delete *request)
{
    struct pawl_op op = pawl__op_within(&call->op, BULK_MS - MARGIN_MS);
    struct pawl_definitions_deleted done;
    int status;

    request->with_instances = true;
    status = pawl__op_definitions_delete(&op, request, &done);
    if (status == PAWL_OK)
        definition_respond_count(call, "deleted", done.deleted);
    else
        api_fail(call, status);
}

static void delete_definitions(struct api_call *call, const void *data)
{
    const struct bulk_request *request = data;

    delete_all(call, &(struct pawl_definitions_delete){.definition_ids = request->ids.texts,
                                                       .definition_id_count = request->ids.count});
}

static void delete_versions(struct api_call *call, const void *data)
{
    const struct bulk_request *request = data;

    delete_all(call, &(struct pawl_definitions_delete){.version_ids = request->ids.texts,
                                                       .version_id_count = request->ids.count});
}

static const struct api_endpoint endpoints[] = {
    {.method = "POST",
     .path = BULK "/publish/workflow-definitions/by-definition-ids",
     .permission = PUBLISH_DEFINITIONS,
     .handle = publish_definitions,
     .body = API_BODY_REQUIRED,
     .deadline_ms = BULK_MS,
     API_FIELDS(struct bulk_request, by_definition_ids),
     .summary = "Publishes the latest versions of these definitions",
     .result = "PublishedWorkflowDefinitions"},
    {.method = "POST",
     .path = BULK "/retract/workflow-definitions/by-definition-ids",
     .permission = RETRACT_DEFINITIONS,
     .handle = retract_definitions,
     .body = API_BODY_REQUIRED,
     .deadline_ms = BULK_MS,
     API_FIELDS(struct bulk_request, by_definition_ids),
     .summary = "Makes the published versions of these definitions drafts",
     .result = "RetractedWorkflowDefinitions"},
    {.method = "POST",
     .path = BULK "/delete/workflow-definitions/by-definition-id",
     .permission = DELETE_DEFINITIONS,
     .handle = delete_definitions,
     .body = API_BODY_REQUIRED,
     .deadline_ms = BULK_MS,
     API_FIELDS(struct bulk_request, by_definition_ids),
     .summary = "Deletes these definitions with their versions and instances",
     .result = "Deleted"},
    {.method = "POST",
     .path = BULK "/delete/workflow-definitions/by-id",
     .permission = DELETE_DEFINITIONS,
     .handle = delete_versions,
     .body = API_BODY_REQUIRED,
     .deadline_ms = BULK_MS,
     API_FIELDS(struct bulk_request, by_ids),
     .summary = "Deletes these versions with their instances",
     .result = "Deleted"},
};
const struct api_family api_definitions_bulk = API_FAMILY(DEFINITIONS_TAG, endpoints);
