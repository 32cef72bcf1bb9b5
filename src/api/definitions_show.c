/* SPDX-License-Identifier: Apache-2.0 */
/* One definition by its ids, several of them, and the nodes of its graph. */
#include "api/definitions.h"

#include <stdio.h>

const struct api_field definition_by_definition_id[1] = {
    API_FIELD(struct definition_request, id, "definitionId", API_TEXT, API_IN_PATH),
};
const struct api_field definition_by_id[1] = {
    API_FIELD(struct definition_request, id, "id", API_TEXT, API_IN_PATH),
};

/* ---- shared -----------------------------------------------------------------------------------
 */

bool definition_versions(struct api_call *call, struct pawl_str text,
                         enum pawl_version_pick otherwise, struct pawl_version_options *out)
{
    *out = (struct pawl_version_options){otherwise, 0};
    if (!text.ptr || pawl__version_options_read(text, out, &call->err) == PAWL_OK)
        return true;
    api_refuse(call, 400, "versionOptions", call->err.msg);
    return false;
}

void definition_fail(struct api_call *call, int code)
{
    if (code == PAWL_EPARSE)
        api_refuse(call, 422, "generalErrors", call->err.msg);
    else
        api_fail(call, code);
}

struct pawl_str definition_expected(const struct api_call *call)
{
    struct pawl_str tags = pawl__exchange_field(call->exchange, "if-match");

    return tags.ptr ? pawl__str_trim(tags) : pawl__str("");
}

void definition_add_tag(struct api_call *call, const struct pawl_definition_row *row)
{
    char tag[PAWL_OP_DEFINITION_TAG_SIZE];

    pawl__op_definition_tag(row, tag);
    pawl__exchange_add_field(call->exchange, "ETag", tag);
}

void definition_respond(struct api_call *call, int status, const struct pawl_definition_row *row)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_definition_shown shown;
    struct pawl_json out;
    int code = pawl__op_definition_show_changed(&call->op, row, &shown);

    if (code != PAWL_OK) {
        definition_fail(call, code);
        return;
    }
    definition_add_tag(call, row);
    out = pawl__view_definition(&b, &shown, false);
    api_respond_with(call, status, &b, &out);
    pawl__op_definition_release(&shown);
}

void definition_respond_count(struct api_call *call, const char *key, uint64_t count)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out = pawl__json_object();

    pawl__build_int(&b, &out, key, (int64_t)count);
    api_respond(call, &b, &out);
}

/* ---- one --------------------------------------------------------------------------------------
 */

static void show(struct api_call *call, const struct pawl_definition_ref *ref)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_definition_shown shown;
    struct pawl_json out;
    int status = pawl__op_definition_show(&call->op, ref, &shown);

    if (status != PAWL_OK) {
        definition_fail(call, status);
        return;
    }
    definition_add_tag(call, &shown.row);
    out = pawl__view_definition(&b, &shown, false);
    api_respond(call, &b, &out);
    pawl__op_definition_release(&shown);
}

static void show_by_id(struct api_call *call, const void *data)
{
    const struct definition_request *request = data;

    show(call, &(struct pawl_definition_ref){.version_id = request->id});
}

struct show_request {
    struct pawl_str definition_id, versions;
};

static const struct api_field show_fields[] = {
    API_FIELD(struct show_request, definition_id, "definitionId", API_TEXT, API_IN_PATH),
    API_FIELD(struct show_request, versions, "versionOptions", API_TEXT_OR_NUMBER, 0),
};

static void show_by_definition_id(struct api_call *call, const void *data)
{
    const struct show_request *request = data;
    struct pawl_definition_ref ref = {.definition_id = request->definition_id};

    if (definition_versions(call, request->versions, PAWL_VERSIONS_LATEST, &ref.versions))
        show(call, &ref);
}

/* ---- several ----------------------------------------------------------------------------------
 */

struct many_request {
    struct pawl_texts ids;
};

static const struct api_field many_fields[] = {
    API_FIELD(struct many_request, ids, "ids", API_TEXTS, 0),
};

static void show_many(struct api_call *call, const void *data)
{
    const struct many_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_definitions_shown shown;
    struct pawl_json out = pawl__json_null();
    int status =
        pawl__op_definitions_show(&call->op, request->ids.texts, request->ids.count, &shown);

    if (status == PAWL_OK)
        out = pawl__view_definitions(&b, &shown, false);
    if (status == PAWL_ELIMIT || b.status == PAWL_ELIMIT)
        api_refuse(call, 400, "ids", "They are too large for one response: ask for fewer.");
    else if (status != PAWL_OK)
        definition_fail(call, status);
    else
        api_respond(call, &b, &out);
    if (status == PAWL_OK)
        pawl__op_definitions_release(&shown);
}

/* ---- nodes ------------------------------------------------------------------------------------
 */

struct node_request {
    struct pawl_str id, node_id;
};

static const struct api_field subgraph_fields[] = {
    API_FIELD(struct node_request, id, "id", API_TEXT, API_IN_PATH),
    API_FIELD(struct node_request, node_id, "parentNodeId", API_TEXT, API_REQUIRED),
};
static const struct api_field segments_fields[] = {
    API_FIELD(struct node_request, id, "id", API_TEXT, API_IN_PATH),
    API_FIELD(struct node_request, node_id, "childNodeId", API_TEXT, API_REQUIRED),
};

static void show_subgraph(struct api_call *call, const void *data)
{
    const struct node_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_definition_ref ref = {.version_id = request->id};
    struct pawl_definition_shown shown;
    struct pawl_definition_node node;
    struct pawl_json out;
    int status = pawl__op_definition_show(&call->op, &ref, &shown);

    if (status != PAWL_OK) {
        definition_fail(call, status);
        return;
    }
    status = pawl__op_definition_node(&call->op, &shown, request->node_id, &node);
    if (status == PAWL_OK) {
        out = pawl__view_graph_node(&b, &node);
        api_respond_as(call, 200, API_JSON_UTF8, &b, &out);
    } else {
        api_fail(call, status);
    }
    pawl__op_definition_release(&shown);
}

static void show_segments(struct api_call *call, const void *data)
{
    const struct node_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_definition_ref ref = {.version_id = request->id};
    struct pawl_definition_shown shown;
    struct pawl_definition_path path;
    struct pawl_json out;
    int status = pawl__op_definition_show(&call->op, &ref, &shown);

    if (status != PAWL_OK) {
        definition_fail(call, status);
        return;
    }
    status = pawl__op_definition_path(&call->op, &shown, request->node_id, &path);
    if (status == PAWL_OK) {
        out = pawl__view_path(&b, &path);
        api_respond_as(call, 200, API_JSON_UTF8, &b, &out);
    } else {
        api_fail(call, status);
    }
    pawl__op_definition_release(&shown);
}

/* ---- the table --------------------------------------------------------------------------------
 */

static const struct api_endpoint endpoints[] = {
    {.method = "GET",
     .path = DEFINITIONS "/{definitionId}",
     .permission = READ_DEFINITIONS,
     .handle = show_by_definition_id,
     API_FIELDS(struct show_request, show_fields),
     .summary = "One definition, the latest version unless another is asked for",
     .result = "WorkflowDefinition"},
    {.method = "GET",
     .path = DEFINITIONS "/by-definition-id/{definitionId}",
     .permission = READ_DEFINITIONS,
     .handle = show_by_definition_id,
     API_FIELDS(struct show_request, show_fields),
     .summary = "One definition, the latest version unless another is asked for",
     .result = "WorkflowDefinition"},
    {.method = "GET",
     .path = DEFINITIONS "/by-id/{id}",
     .permission = READ_DEFINITIONS,
     .handle = show_by_id,
     API_FIELDS(struct definition_request, definition_by_id),
     .summary = "One version by its id",
     .result = "WorkflowDefinition"},
    {.method = "GET",
     .path = DEFINITIONS "/many-by-id",
     .permission = READ_DEFINITIONS,
     .handle = show_many,
     API_FIELDS(struct many_request, many_fields),
     .summary = "Several versions by their ids; without ids, all that one response holds",
     .result = "WorkflowDefinitions"},
    {.method = "GET",
     .path = DEFINITIONS "/subgraph/{id}",
     .permission = READ_DEFINITIONS,
     .handle = show_subgraph,
     API_FIELDS(struct node_request, subgraph_fields),
     .summary = "A node of a version with all below it",
     .result = "ActivityNode"},
    {.method = "GET",
     .path = DEFINITIONS "/subgraph/segments/{id}",
     .permission = READ_DEFINITIONS,
     .handle = show_segments,
     API_FIELDS(struct node_request, segments_fields),
     .summary = "The way from the root of a version to a node",
     .result = "PathSegments"},
};
const struct api_family api_definitions_show = API_FAMILY(DEFINITIONS_TAG, endpoints);
