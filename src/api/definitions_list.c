/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of definitions, their names and versions, and which uses which. */
#include "api/definitions.h"

static const char *const orders[] = {"Created", "Name", "Version", NULL};
static const enum pawl_definition_sort sorts[] = {
    PAWL_DEFINITIONS_BY_CREATED, PAWL_DEFINITIONS_BY_NAME, PAWL_DEFINITIONS_BY_VERSION};
#define BY_NAME 1
static const char *const directions[] = {"Ascending", "Descending", NULL};
#define DESCENDING 1

/* ---- lists ------------------------------------------------------------------------------------
 */

struct list_request {
    struct pawl_str versions, search, materializer;
    struct pawl_texts definition_ids, ids;
    int is_system, order, direction;
    struct api_number page, page_size;
};

static const struct api_field list_fields[] = {
    API_FIELD(struct list_request, versions, "versionOptions", API_TEXT_OR_NUMBER, 0),
    API_FIELD(struct list_request, search, "searchTerm", API_TEXT, 0),
    API_FIELD(struct list_request, definition_ids, "definitionIds", API_TEXTS, 0),
    API_FIELD(struct list_request, ids, "ids", API_TEXTS, 0),
    API_FIELD(struct list_request, materializer, "materializer", API_TEXT, 0),
    API_FIELD(struct list_request, is_system, "isSystem", API_BOOL, 0),
    API_FIELD(struct list_request, page, "page", API_NUMBER, 0),
    API_FIELD(struct list_request, page_size, "pageSize", API_NUMBER, 0),
    API_FIELD_CHOICE(struct list_request, order, "orderBy", orders, "OrderByWorkflowDefinition"),
    API_FIELD_CHOICE(struct list_request, direction, "orderDirection", directions,
                     "OrderDirection"),
};

/* A size of 0 is no rows, one below it or none at all is everything. */
static struct pawl_page_request page_of(const struct list_request *request)
{
    int64_t page = request->page.value > 0 ? request->page.value : 0;
    int64_t size = request->page_size.value;
    struct pawl_page_request out = {.limit = PAWL_PAGE_ROWS_MAX, .with_total = true};

    if (!request->page_size.is_given || size < 0)
        return out;
    out.total_only = size == 0;
    out.offset = (uint64_t)page * (uint64_t)size;
    if (size > 0 && size < PAWL_PAGE_ROWS_MAX)
        out.limit = (uint32_t)size;
    return out;
}

static struct pawl_definition_query query_of(const struct list_request *request)
{
    struct pawl_definition_query query = PAWL_DEFINITION_QUERY_ALL;
    int order = request->order < 0 ? BY_NAME : request->order;

    query.search = pawl__str_trim(request->search);
    query.materializer = request->materializer;
    query.definition_ids = request->definition_ids.texts;
    query.definition_id_count = request->definition_ids.count;
    query.ids = request->ids.texts;
    query.id_count = request->ids.count;
    query.is_system = request->is_system;
    query.sort = sorts[order];
    query.page = page_of(request);
    /* Elsa's usual order is descending for all but names. */
    if (request->direction >= 0)
        query.page.reversed = (request->direction == DESCENDING) == (order == BY_NAME);
    return query;
}

static void list_definitions(struct api_call *call, const void *data)
{
    const struct list_request *request = data;
    struct pawl_definition_query query = query_of(request);
    struct pawl_definition_list list;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out;
    struct pawl_str versions = pawl__str_trim(request->versions);
    int status;

    if (versions.len == 0)
        versions = pawl__str("AllVersions");
    if (!definition_versions(call, versions, PAWL_VERSIONS_ALL, &query.versions))
        return;
    status = pawl__op_definitions_list(&call->op, &query, &list);
    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_definition_list(&b, &list, list.page.total, false);
    api_respond(call, &b, &out);
}

static void count_definitions(struct api_call *call, const void *data)
{
    uint64_t count;
    int status = pawl__op_definitions_count(&call->op, &count);

    (void)data;
    if (status == PAWL_OK)
        definition_respond_count(call, "count", count);
    else
        api_fail(call, status);
}

/* ---- names ------------------------------------------------------------------------------------
 */

struct name_request {
    struct pawl_str name, definition_id;
};

static const struct api_field name_fields[] = {
    API_FIELD(struct name_request, name, "name", API_TEXT, 0),
    API_FIELD(struct name_request, definition_id, "definitionId", API_TEXT, 0),
};

static void check_name(struct api_call *call, const void *data)
{
    const struct name_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out = pawl__json_object();
    bool is_unique = true;
    int status;

    if (!request->name.ptr) {
        api_refuse(call, 400, "name", "'name' must be given.");
        return;
    }
    status = pawl__op_definition_name_is_unique(&call->op, request->name, request->definition_id,
                                                &is_unique);
    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    pawl__build_bool(&b, &out, "isUnique", is_unique);
    api_respond(call, &b, &out);
}

/* ---- versions, consumers ----------------------------------------------------------------------
 */

static void list_versions(struct api_call *call, const void *data)
{
    const struct definition_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_definition_list list;
    struct pawl_json out;
    int status = pawl__op_definition_versions(&call->op, request->id, &list);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_definitions_stored(&b, &list);
    api_respond(call, &b, &out);
}

static void list_consumers(struct api_call *call, const void *data)
{
    const struct definition_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out = pawl__json_object();
    struct pawl_definition_ids ids;
    int status = pawl__op_definition_consumers(&call->op, request->id, &ids);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    pawl__build(&b, &out, "consumingWorkflowDefinitionIds",
                pawl__view_ids(&b, ids.items, ids.count));
    api_respond(call, &b, &out);
}

/* ---- the table --------------------------------------------------------------------------------
 */

static const struct api_endpoint endpoints[] = {
    {.method = "GET",
     .path = DEFINITIONS,
     .permission = READ_DEFINITIONS,
     .handle = list_definitions,
     API_FIELDS(struct list_request, list_fields),
     .summary = "Lists versions of definitions",
     .result = "WorkflowDefinitionList"},
    {.method = "GET",
     .path = DEFINITIONS "/query/count",
     .permission = READ_DEFINITIONS,
     .handle = count_definitions,
     .summary = "Counts definitions, not their versions",
     .result = "Count"},
    {.method = "GET",
     .path = DEFINITIONS "/validation/is-name-unique",
     .permission = READ_DEFINITIONS,
     .handle = check_name,
     API_FIELDS(struct name_request, name_fields),
     .summary = "Whether no other definition has this name",
     .result = "IsNameUnique"},
    {.method = "GET",
     .path = DEFINITIONS "/{definitionId}/versions",
     .permission = READ_DEFINITIONS,
     .handle = list_versions,
     API_FIELDS(struct definition_request, definition_by_definition_id),
     .summary = "All versions of a definition as they are stored, the newest first",
     .result = "StoredWorkflowDefinitions"},
    {.method = "GET",
     .path = DEFINITIONS "/{definitionId}/consumers",
     .permission = READ_DEFINITIONS,
     .handle = list_consumers,
     API_FIELDS(struct definition_request, definition_by_definition_id),
     .summary = "Which definitions use this one as an activity",
     .result = "ConsumingWorkflowDefinitions"},
};
const struct api_family api_definitions_list = API_FAMILY(DEFINITIONS_TAG, endpoints);
