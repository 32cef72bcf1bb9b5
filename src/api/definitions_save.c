/* SPDX-License-Identifier: Apache-2.0 */
/* Saving definitions as designers send them, and importing them as they were exported. */
#include "api/definitions.h"
#include "api/files.h"

#include <stdio.h>

/* One definition, and files with several. They count in place of the setting server.body_max. */
#define MODEL_BYTES_MAX ((uint64_t)16 << 20)
#define FILES_BYTES_MAX ((uint64_t)32 << 20)
/* Each definition of an archive is saved in a commit of its own. */
#define FILES_MS 300000
#define MARGIN_MS 5000

/* ---- refusals ---------------------------------------------------------------------------------
 */

/*
 * Where a definition is wrong, as Elsa names it: a path from the body, which begins anew in
 * activities: "model.options", "activities[0]".
 */
static const char *key_of(struct api_call *call, const char *pointer, const char *prefix)
{
    char path[PAWL_DEFINITION_POINTER_SIZE];
    bool is_inside = strncmp(pointer, "/root/", 6) == 0;
    const char *end = strrchr(pointer, '/');
    const char *key;

    if (is_inside && end && strspn(end + 1, "0123456789") != strlen(end + 1)) {
        /* The activity, not its member. */
        (void)snprintf(path, sizeof path, "%.*s", (int)(end - pointer), pointer);
        pointer = path;
        is_inside = strncmp(pointer, "/root/", 6) == 0;
    }
    if (pointer[0] == '\0' && prefix[0] == '\0')
        return "serializerErrors";
    key = api_path(&call->arena, is_inside ? pointer + 5 : pointer, is_inside ? "" : prefix);
    return key ? key : "serializerErrors";
}

static void refuse_definition(struct api_call *call, int status, const char *pointer,
                              const char *prefix)
{
    if (status == PAWL_EPARSE)
        api_refuse(call, 400, key_of(call, pointer, prefix), call->err.msg);
    else if (status == PAWL_ECONFLICT && definition_expected(call).len > 0)
        api_refuse(call, 412, "generalErrors", call->err.msg);
    else
        api_fail(call, status);
}

static void refuse_publication(struct api_call *call, const struct pawl_publication *said)
{
    const struct pawl_problems *problems = &said->problems;
    struct api_fault *faults =
        pawl__arena_alloc_array(&call->arena, (size_t)problems->count + 1, sizeof *faults);
    size_t count = 0;

    if (!faults) {
        api_fail(call, PAWL_ENOMEM);
        return;
    }
    for (uint32_t i = 0; i < problems->count; i++) {
        if (problems->items[i].level == PAWL_PROBLEM_INVALID)
            faults[count++] = (struct api_fault){"generalErrors", problems->items[i].message};
    }
    if (count == 0)
        faults[count++] = (struct api_fault){"generalErrors", "The definition is not valid."};
    api_refuse_all(call, 400, faults, count);
}

void definition_respond_saved(struct api_call *call, const char *content_type,
                              const struct pawl_definition_saved *saved)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_definition_shown shown;
    struct pawl_json out;
    int status;

    if (!saved->publication.succeeded) {
        refuse_publication(call, &saved->publication);
        return;
    }
    status = pawl__op_definition_show_changed(&call->op, &saved->row, &shown);
    if (status != PAWL_OK) {
        definition_fail(call, status);
        return;
    }
    definition_add_tag(call, &saved->row);
    out = pawl__view_definition_saved(&b, saved, &shown);
    api_respond_as(call, 200, content_type, &b, &out);
    pawl__op_definition_release(&shown);
}

/* ---- saving -----------------------------------------------------------------------------------
 */

struct save_request {
    const struct pawl_json *model;
    int publish;
};

static const struct api_field save_fields[] = {
    API_FIELD(struct save_request, model, "model", API_OBJECT, API_REQUIRED),
    API_FIELD(struct save_request, publish, "publish", API_BOOL, 0),
};

static void save_definition(struct api_call *call, const void *data)
{
    const struct save_request *request = data;
    char pointer[PAWL_DEFINITION_POINTER_SIZE] = "";
    struct pawl_definition_save save = {.definition = request->model,
                                        .is_model = true,
                                        .publish = request->publish == 1,
                                        .pointer = pointer,
                                        .expected = definition_expected(call)};
    struct pawl_definition_saved saved;
    int status = pawl__op_definition_save(&call->op, &save, &saved);

    if (status == PAWL_OK)
        definition_respond_saved(call, API_JSON_UTF8, &saved);
    else
        refuse_definition(call, status, pointer, "model");
}

/* ---- importing --------------------------------------------------------------------------------
 */

static void import_json(struct api_call *call, struct pawl_json *json, bool has_id)
{
    char pointer[PAWL_DEFINITION_POINTER_SIZE] = "";
    struct pawl_definition_save save = {.definition = json,
                                        .is_model = true,
                                        .keeps_id = true,
                                        .pointer = pointer,
                                        .expected = definition_expected(call)};
    struct pawl_definition_saved saved;
    int status = pawl__op_definition_save(&call->op, &save, &saved);

    if (status == PAWL_OK)
        definition_respond(call, has_id ? 200 : 201, &saved.row);
    else
        refuse_definition(call, status, pointer, "");
}

static void import_definition(struct api_call *call, const void *data)
{
    struct pawl_json json;

    (void)data;
    if (api_body(call, false, &json))
        import_json(call, &json,
                    pawl__str_trim(pawl__json_str(api_member(&json, "definitionId"))).len > 0);
}

/* The id in the path wins. */
static void import_definition_as(struct api_call *call, const void *data)
{
    const struct definition_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json json, named = pawl__json_object();

    if (!api_body(call, false, &json))
        return;
    pawl__build(&b, &named, "definitionId", pawl__json_string(request->id));
    for (uint32_t i = 0; i < pawl__json_len(&json); i++) {
        const struct pawl_json_member *one = pawl__json_member(&json, i);

        if (!pawl__str_equal_nocase(one->key, pawl__str("definitionId")))
            pawl__build_member(&b, &named, one->key, one->value);
    }
    if (b.status == PAWL_OK)
        import_json(call, &named, true);
    else
        api_fail(call, b.status);
}

static void import_files(struct api_call *call, const void *data)
{
    struct pawl_op op = pawl__op_within(&call->op, FILES_MS - MARGIN_MS);
    struct api_files files;
    const struct pawl_json **definitions;
    struct pawl_definitions_imported imported = {.count = 0};
    char text[600];
    int status;

    (void)data;
    if (!api_receive_files(call, &files))
        return;
    if (files.count == 0) {
        api_respond_status(call, 204);
        return;
    }
    definitions = pawl__arena_alloc_array(&call->arena, files.count, sizeof *definitions);
    if (!definitions) {
        api_fail(call, PAWL_ENOMEM);
        return;
    }
    for (size_t i = 0; i < files.count; i++)
        definitions[i] = &files.items[i].json;
    status = pawl__op_definitions_import(&op, definitions, files.count, &imported);
    if (status == PAWL_OK) {
        definition_respond_count(call, "count", imported.count);
    } else if (status == PAWL_EPARSE) {
        struct pawl_str name = pawl__utf8_cut(files.items[imported.refused].name, 200);

        (void)snprintf(text, sizeof text, "%.*s: %s", PAWL_STR_ARG(name), call->err.msg);
        api_refuse(call, 400, "serializerErrors", text);
    } else {
        api_fail(call, status);
    }
}

/* ---- the table --------------------------------------------------------------------------------
 */

#define IMPORT(method_, path_)                                                                     \
    {                                                                                              \
        .method = (method_), .path = DEFINITIONS path_, .permission = WRITE_DEFINITIONS,           \
        .handle = import_definition, .body = API_BODY_RAW, .content = "WorkflowDefinitionModel",   \
        .body_bytes_max = MODEL_BYTES_MAX, .summary = "Imports a definition as a draft",           \
        .result = "WorkflowDefinition"                                                             \
    }
#define IMPORT_AS(method_, path_)                                                                  \
    {                                                                                              \
        .method = (method_), .path = DEFINITIONS path_, .permission = WRITE_DEFINITIONS,           \
        .handle = import_definition_as, .body = API_BODY_RAW,                                      \
        API_FIELDS(struct definition_request, definition_by_definition_id),                        \
        .content = "WorkflowDefinitionModel", .body_bytes_max = MODEL_BYTES_MAX,                   \
        .summary = "Imports a definition as a draft, under this id",                               \
        .result = "WorkflowDefinition"                                                             \
    }

static const struct api_endpoint endpoints[] = {
    {.method = "POST",
     .path = DEFINITIONS,
     .permission = WRITE_DEFINITIONS,
     .handle = save_definition,
     .body = API_BODY_REQUIRED,
     .body_bytes_max = MODEL_BYTES_MAX,
     API_FIELDS(struct save_request, save_fields),
     .summary = "Saves a definition as a draft, or publishes it at once",
     .result = "WorkflowDefinitionSaved"},
    IMPORT("POST", "/import"),
    IMPORT("PUT", "/import"),
    IMPORT_AS("POST", "/{definitionId}/import"),
    IMPORT_AS("PUT", "/{definitionId}/import"),
    {.method = "POST",
     .path = DEFINITIONS "/import-files",
     .permission = WRITE_DEFINITIONS,
     .handle = import_files,
     .body = API_BODY_RAW,
     .content = API_CONTENT_FILES,
     .body_bytes_max = FILES_BYTES_MAX,
     .deadline_ms = FILES_MS,
     .summary = "Imports the definitions in JSON files and in zip archives",
     .result = "Count"},
};
const struct api_family api_definitions_save = API_FAMILY(DEFINITIONS_TAG, endpoints);
