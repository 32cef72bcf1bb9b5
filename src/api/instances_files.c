/* SPDX-License-Identifier: Apache-2.0 */
/* Workflow instances as files: one as JSON, several as an archive; and taken over from these. */
#include "api/endpoint.h"
#include "api/files.h"
#include "base/error.h"
#include "operations/instances.h"

#define READ "read:workflow-instances"
#define INSTANCE API_ELSA "/workflow-instances/{id}/export"
#define MANY API_ELSA "/bulk-actions/export/workflow-instances"
#define ARCHIVE_NAME "workflow-instances.zip"

struct export_request {
    struct pawl_str id;
    struct pawl_texts ids;
    int bookmarks, executions, log;
};

#define PARTS                                                                                      \
    API_FIELD(struct export_request, bookmarks, "includeBookmarks", API_BOOL, 0),                  \
        API_FIELD(struct export_request, executions, "includeActivityExecutionLog", API_BOOL, 0),  \
        API_FIELD(struct export_request, log, "includeWorkflowExecutionLog", API_BOOL, 0)

static const struct api_field one_fields[] = {
    API_FIELD(struct export_request, id, "id", API_TEXT, API_IN_PATH),
    PARTS,
};
static const struct api_field many_fields[] = {
    API_FIELD(struct export_request, ids, "ids", API_TEXTS, API_REQUIRED),
    PARTS,
};

/* ---- exporting ------------------------------------------------------------------------------- */

static int export_one(struct api_call *call, const struct export_request *request,
                      struct pawl_str id, struct pawl_zip_file *out)
{
    const struct pawl_instance_export parts = {.bookmarks = request->bookmarks > 0,
                                               .activity_records = request->executions > 0,
                                               .log_records = request->log > 0};
    const char *name = api_file_name(
        pawl__arena_printf(&call->arena, "workflow-instance-%.*s.json", PAWL_STR_ARG(id)));
    struct pawl_json exported;
    struct pawl_buf text;
    int status = pawl__op_instance_export(&call->op, id, &parts, &exported, NULL);

    if (status != PAWL_OK)
        return status;
    pawl__buf_init(&text, &call->api->env->alloc, PAWL_ZIP_BYTES_MAX);
    pawl__json_write(&text, &exported, PAWL_JSON_ESCAPE_HTML);
    status = text.status;
    if (status == PAWL_OK) {
        out->name = pawl__str(name ? name : "");
        out->content = pawl__arena_str(&call->arena, pawl__buf_peek(&text));
        if (!name || !out->content.ptr)
            status = pawl__arena_status(&call->arena);
    }
    pawl__buf_release(&text);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(&call->err, status);
}

static void export_by_id(struct api_call *call, const void *data)
{
    const struct export_request *request = data;
    struct pawl_zip_file file = {0};
    int status = export_one(call, request, request->id, &file);

    if (status == PAWL_OK)
        api_send_file(call, file.name.ptr, file.content);
    else
        api_fail(call, status);
}

/* Those that are there. One that was asked for alone is no archive, as in Elsa. */
static void export_many(struct api_call *call, const void *data)
{
    const struct export_request *request = data;
    struct pawl_zip_file *files =
        pawl__arena_alloc_array(&call->arena, request->ids.count + 1, sizeof *files);
    size_t count = 0;
    int status = files ? PAWL_OK : PAWL_ENOMEM;

    if (request->ids.count > PAWL_ZIP_FILES_MAX) {
        api_refuse(call, 400, "ids", "At most 1000 instances are exported at a time.");
        return;
    }
    for (size_t i = 0; i < request->ids.count && status == PAWL_OK; i++) {
        status = export_one(call, request, request->ids.texts[i], &files[count]);
        if (status == PAWL_OK)
            count++;
        else if (status == PAWL_ENOTFOUND)
            status = PAWL_OK;
    }
    if (status != PAWL_OK)
        api_fail(call, status);
    else if (count == 0)
        api_respond_status(call, 404);
    else if (request->ids.count == 1)
        api_send_file(call, files[0].name.ptr, files[0].content);
    else
        api_send_zip(call, ARCHIVE_NAME, files, count);
}

/* ---- importing ------------------------------------------------------------------------------- */

static void import_files(struct api_call *call, const void *data)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out = pawl__json_object(), documents = pawl__json_array();
    struct pawl_bulk_result result = {0};
    struct api_files files;
    int status = PAWL_OK;

    (void)data;
    if (!api_receive_files(call, &files))
        return;
    for (size_t i = 0; i < files.count; i++)
        pawl__build_append(&b, &documents, files.items[i].json);
    if (b.status == PAWL_OK)
        status = pawl__op_instances_import(&call->op, &documents, &result);
    if (status == PAWL_OK && result.done == 0 && result.failed > 0) {
        status = result.error.code;
        call->err = result.error;
    }
    if (status == PAWL_EEXISTS) {
        api_refuse(call, 409, "generalErrors", call->err.msg);
        return;
    }
    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    pawl__build_int(&b, &out, "imported", (int64_t)result.done);
    /* Elsa's own client looks for this one. */
    pawl__build_int(&b, &out, "count", (int64_t)result.done);
    if (result.error.code != PAWL_OK)
        pawl__build_name(&b, &out, "error", result.error.msg);
    api_respond(call, &b, &out);
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct api_endpoint endpoints[] = {
    {.method = "GET",
     .path = INSTANCE,
     .permission = READ,
     .handle = export_by_id,
     API_FIELDS(struct export_request, one_fields),
     .summary = "Exports an instance as a file"},
    {.method = "POST",
     .path = INSTANCE,
     .permission = READ,
     .handle = export_by_id,
     .body = API_BODY_OPTIONAL,
     API_FIELDS(struct export_request, one_fields),
     .summary = "Exports an instance as a file"},
    {.method = "GET",
     .path = MANY,
     .permission = READ,
     .handle = export_many,
     API_FIELDS(struct export_request, many_fields),
     .summary = "Exports instances as an archive"},
    {.method = "POST",
     .path = MANY,
     .permission = READ,
     .handle = export_many,
     .body = API_BODY_OPTIONAL,
     API_FIELDS(struct export_request, many_fields),
     .summary = "Exports instances as an archive"},
    {.method = "POST",
     .path = API_ELSA "/bulk-actions/import/workflow-instances",
     .permission = "write:workflow-instances",
     .handle = import_files,
     .body = API_BODY_RAW,
     .summary = "Imports instances that were exported"},
};
const struct api_family api_instances_files = API_FAMILY("Instances", endpoints);
