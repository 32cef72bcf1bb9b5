/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions as files: one as JSON, several as an archive. */
#include "api/definitions.h"
#include "api/files.h"

#define ARCHIVE_NAME "workflow-definitions.zip"
/* A name of a file, whatever the definition is called. */
#define NAME_PART_MAX 80u

/* workflow-definition-the-name-definitionId-id.json; NULL: no memory. */
static const char *file_name(struct api_call *call, const struct pawl_definition_row *row)
{
    struct pawl_arena *arena = &call->arena;
    struct pawl_str name = api_slug(arena, pawl__utf8_cut(row->name, NAME_PART_MAX));
    struct pawl_str definition_id = pawl__utf8_cut(row->definition_id, NAME_PART_MAX);
    struct pawl_str id = pawl__utf8_cut(row->id, NAME_PART_MAX);

    return api_file_name(pawl__arena_printf(arena, "workflow-definition-%.*s%s%.*s-%.*s.json",
                                            PAWL_STR_ARG(name), name.len > 0 ? "-" : "",
                                            PAWL_STR_ARG(definition_id), PAWL_STR_ARG(id)));
}

static int make_files(struct api_call *call, const struct pawl_definitions_shown *shown,
                      struct pawl_zip_file *files)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_buf text;
    int status = PAWL_OK;

    pawl__buf_init(&text, &call->api->env->alloc, PAWL_ZIP_BYTES_MAX);
    for (size_t i = 0; i < shown->count && status == PAWL_OK; i++) {
        struct pawl_json json = pawl__view_definition_export(&b, &shown->items[i]);
        const char *name = file_name(call, &shown->items[i].row);

        pawl__buf_clear(&text);
        pawl__json_write(&text, &json, PAWL_JSON_ESCAPE_HTML);
        files[i] =
            (struct pawl_zip_file){.name = pawl__str(name ? name : ""),
                                   .content = pawl__arena_str(&call->arena, pawl__buf_peek(&text))};
        status = b.status != PAWL_OK ? b.status : text.status;
        if (status == PAWL_OK && (!name || !files[i].content.ptr))
            status = pawl__arena_status(&call->arena);
    }
    pawl__buf_release(&text);
    return status;
}

static void send_rows(struct api_call *call, const struct pawl_definition_list *list,
                      bool as_archive)
{
    struct pawl_definitions_shown shown;
    struct pawl_zip_file *files =
        pawl__arena_alloc_array(&call->arena, list->count + 1, sizeof *files);
    int status = pawl__op_definitions_show_rows(&call->op, list->rows, list->count, &shown);

    if (status != PAWL_OK) {
        definition_fail(call, status);
        return;
    }
    status = files ? make_files(call, &shown, files) : PAWL_ENOMEM;
    pawl__op_definitions_release(&shown);
    if (status != PAWL_OK)
        api_fail(call, status);
    else if (as_archive)
        api_send_zip(call, ARCHIVE_NAME, files, list->count);
    else
        api_send_file(call, files[0].name.ptr, files[0].content);
}

/* ---- one --------------------------------------------------------------------------------------
 */

struct export_request {
    struct pawl_str definition_id, versions;
    int with_consumers;
};

static const struct api_field export_fields[] = {
    API_FIELD(struct export_request, definition_id, "definitionId", API_TEXT, API_IN_PATH),
    API_FIELD(struct export_request, versions, "versionOptions", API_TEXT_OR_NUMBER, 0),
    API_FIELD(struct export_request, with_consumers, "includeConsumingWorkflows", API_BOOL, 0),
};

static void export_definition(struct api_call *call, const void *data)
{
    const struct export_request *request = data;
    struct pawl_definition_export asked = {.ref = {.definition_id = request->definition_id},
                                           .with_consumers = request->with_consumers == 1};
    struct pawl_definition_list list;
    int status;

    if (!definition_versions(call, request->versions, PAWL_VERSIONS_LATEST, &asked.ref.versions))
        return;
    status = pawl__op_definitions_export(&call->op, &asked, &list);
    if (status == PAWL_OK)
        send_rows(call, &list, list.count > 1);
    else
        definition_fail(call, status);
}

/* ---- several ----------------------------------------------------------------------------------
 */

struct bulk_request {
    struct pawl_texts ids;
    int with_consumers;
};

static const struct api_field bulk_fields[] = {
    API_FIELD(struct bulk_request, ids, "ids", API_TEXTS, 0),
    API_FIELD(struct bulk_request, with_consumers, "includeConsumingWorkflows", API_BOOL, 0),
};

static void export_definitions(struct api_call *call, const void *data)
{
    const struct bulk_request *request = data;
    struct pawl_definition_export asked = {.version_ids = request->ids.texts,
                                           .version_id_count = request->ids.count,
                                           .with_consumers = request->with_consumers == 1};
    struct pawl_definition_list list = {.count = 0};
    int status = PAWL_OK;

    if (request->ids.count > 0)
        status = pawl__op_definitions_export(&call->op, &asked, &list);
    if (status != PAWL_OK)
        definition_fail(call, status);
    else if (list.count == 0)
        api_respond_status(call, 204);
    else
        send_rows(call, &list, true);
}

/* ---- the table --------------------------------------------------------------------------------
 */

#define EXPORT_ONE(method_, body_)                                                                 \
    {                                                                                              \
        .method = (method_), .path = DEFINITIONS "/{definitionId}/export",                         \
        .permission = READ_DEFINITIONS, .handle = export_definition, .body = (body_),              \
        API_FIELDS(struct export_request, export_fields),                                          \
        .summary = "A definition as a file, with those that use it as an archive",                 \
        .result = API_RESULT_FILE                                                                  \
    }
#define EXPORT_MANY(method_, body_)                                                                \
    {                                                                                              \
        .method = (method_), .path = API_ELSA "/bulk-actions/export/workflow-definitions",         \
        .permission = READ_DEFINITIONS, .handle = export_definitions, .body = (body_),             \
        API_FIELDS(struct bulk_request, bulk_fields), .summary = "These versions as an archive",   \
        .result = API_RESULT_FILE                                                                  \
    }

static const struct api_endpoint endpoints[] = {
    EXPORT_ONE("GET", API_BODY_IGNORED),
    EXPORT_ONE("POST", API_BODY_OPTIONAL),
    EXPORT_MANY("GET", API_BODY_IGNORED),
    EXPORT_MANY("POST", API_BODY_OPTIONAL),
};
const struct api_family api_definitions_export = API_FAMILY(DEFINITIONS_TAG, endpoints);
