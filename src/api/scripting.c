/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts, for editors: what they can use. */
#include "api/endpoint.h"
#include "api/private.h"
#include "operations/definitions.h"
#include "views/typescript.h"

#include <stdio.h>

struct types_request {
    struct pawl_str definition_id;
};

static const struct api_field types_fields[] = {
    API_FIELD(struct types_request, definition_id, "workflowDefinitionId", API_TEXT, API_IN_PATH),
};

/* A name in a field: what might end it or hide in it is left out. */
static struct pawl_str plain(struct pawl_arena *arena, struct pawl_str name)
{
    char *out = pawl__arena_alloc(arena, name.len + 1);
    size_t used = 0;

    for (size_t i = 0; out && i < name.len; i++) {
        char c = name.ptr[i];

        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
            c == '-' || c == '_' || c == '.')
            out[used++] = c;
    }
    return out ? pawl__str_make(out, used) : pawl__str("");
}

static void refuse_unknown(struct api_call *call, struct pawl_str definition_id)
{
    const char *detail = pawl__arena_printf(&call->arena, "There is no workflow definition %.*s.",
                                            PAWL_STR_ARG(pawl__utf8_cut(definition_id, 200)));

    api_refuse(call, 400, "generalErrors", detail ? detail : "");
}

static void show_types(struct api_call *call, const void *data)
{
    const struct types_request *request = data;
    const struct pawl_definition_ref ref = {.definition_id = request->definition_id,
                                            .version_id = pawl__str(""),
                                            .name = pawl__str(""),
                                            .versions = {PAWL_VERSIONS_LATEST, 0}};
    struct pawl_str name = plain(&call->arena, request->definition_id);
    struct pawl_definition_row row;
    struct pawl_json definition;
    char disposition[600];
    int status = pawl__op_definition_find(&call->op, &ref, &row);

    if (status == PAWL_OK)
        status = pawl__json_parse(&call->arena, row.data, NULL, &definition, NULL, &call->err);
    if (status == PAWL_ENOTFOUND) {
        refuse_unknown(call, request->definition_id);
        return;
    }
    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    name = pawl__str_slice(name, 0, name.len < 200 ? name.len : 200);
    (void)snprintf(disposition, sizeof disposition,
                   "attachment; filename=elsa.%.*s.d.ts; filename*=UTF-8''elsa.%.*s.d.ts",
                   PAWL_STR_ARG(name), PAWL_STR_ARG(name));
    pawl__view_typescript(pawl__exchange_out(call->exchange), &definition);
    pawl__exchange_add_field(call->exchange, "Content-Type", "application/x-typescript");
    pawl__exchange_add_field(call->exchange, "Content-Disposition", disposition);
    api_respond_status(call, 200);
}

static const struct api_endpoint endpoints[] = {
    {.method = "POST",
     .path = API_ELSA "/scripting/javascript/type-definitions/{workflowDefinitionId}",
     .permission = "read:javascript-type-definitions read:*",
     .handle = show_types,
     .body = API_BODY_REQUIRED,
     API_FIELDS(struct types_request, types_fields),
     .summary = "What scripts of a workflow can use, in TypeScript",
     .result = "TypeScript"},
};
const struct api_family api_scripting = API_FAMILY("Scripting", endpoints);
