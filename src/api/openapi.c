/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The OpenAPI document. Paths, parameters, bodies and permissions come from the endpoints' tables;
 * documents that endpoints name and schemas.c does not describe are objects.
 */
#include "api/openapi.h"

#include "api/endpoint.h"
#include "api/private.h"
#include "api/schemas.h"

#include <pawl/version.h>

#include <stdio.h>
#include <string.h>

static const struct api_endpoint *endpoint_of(const struct pawl_route *route)
{
    return route->about;
}

const char *pawl__api_summary(const struct pawl_route *route)
{
    const struct api_endpoint *endpoint = endpoint_of(route);

    return endpoint && endpoint->summary ? endpoint->summary : "";
}

const char *pawl__api_tag(const struct pawl_route *route)
{
    const struct api_endpoint *endpoint = endpoint_of(route);

    for (size_t i = 0; i < api_family_count; i++) {
        for (size_t j = 0; j < api_families[i]->count; j++) {
            if (&api_families[i]->endpoints[j] == endpoint)
                return api_families[i]->name;
        }
    }
    return strstr(route->path, "/identity/") ? "Identity" : "Server";
}

/* ---- small things -----------------------------------------------------------------------------
 */

static void put_text(struct pawl_json_writer *json, const char *key, const char *text)
{
    pawl__json_write_key_text(json, key);
    pawl__json_write_string_text(json, text);
}

static void begin_object(struct pawl_json_writer *json, const char *key)
{
    pawl__json_write_key_text(json, key);
    pawl__json_write_begin_object(json);
}

static void begin_array(struct pawl_json_writer *json, const char *key)
{
    pawl__json_write_key_text(json, key);
    pawl__json_write_begin_array(json);
}

static void put_raw(struct pawl_json_writer *json, const char *key, const char *text)
{
    pawl__json_write_key_text(json, key);
    pawl__json_write_raw(json, pawl__str(text));
}

static void put_reference(struct pawl_json_writer *json, const char *kind, const char *name)
{
    char text[160];

    (void)snprintf(text, sizeof text, "#/components/%s/%s", kind, name);
    put_text(json, "$ref", text);
}

/* ---- types of fields --------------------------------------------------------------------------
 */

static void write_texts_type(struct pawl_json_writer *json)
{
    pawl__json_write_raw(json, pawl__str("{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"));
}

static void write_choice(struct pawl_json_writer *json, const struct api_field *field)
{
    pawl__json_write_begin_object(json);
    put_text(json, "type", "string");
    begin_array(json, "enum");
    for (size_t i = 0; field->words[i]; i++)
        pawl__json_write_string_text(json, field->words[i]);
    pawl__json_write_end_array(json);
    pawl__json_write_end_object(json);
}

static void write_type(struct pawl_json_writer *json, const struct api_field *field)
{
    static const char *const simple[] = {
        [API_TEXT] = "{\"type\":\"string\"}",
        [API_NUMBER] = "{\"type\":\"integer\",\"format\":\"int32\"}",
        [API_BOOL] = "{\"type\":\"boolean\"}",
        [API_TEXT_OR_NUMBER] = "{\"type\":[\"string\",\"integer\"]}",
        [API_OBJECT] = "{\"type\":\"object\"}",
        [API_ARRAY] = "{\"type\":\"array\"}",
        [API_ANY] = "{}",
    };

    switch (field->type) {
    case API_TEXTS:
        write_texts_type(json);
        return;
    case API_CHOICE:
        write_choice(json, field);
        return;
    case API_TEXT:
    case API_NUMBER:
    case API_BOOL:
    case API_TEXT_OR_NUMBER:
    case API_OBJECT:
    case API_ARRAY:
    case API_ANY:
        pawl__json_write_raw(json, pawl__str(simple[field->type]));
        return;
    }
}

/* ---- parameters -------------------------------------------------------------------------------
 */

static const struct api_field *find_path_field(const struct api_endpoint *endpoint,
                                               struct pawl_str name)
{
    for (size_t i = 0; endpoint && i < endpoint->field_count; i++) {
        if ((endpoint->fields[i].flags & API_IN_PATH) &&
            pawl__str_equal_nocase(pawl__str(endpoint->fields[i].name), name))
            return &endpoint->fields[i];
    }
    return NULL;
}

/* The next "{name}" of a path; len 0: there is none. "{name*}" is a name too. */
static struct pawl_str next_parameter(const char **path)
{
    const char *open = strchr(*path, '{');
    const char *close = open ? strchr(open, '}') : NULL;
    struct pawl_str name;

    if (!close)
        return pawl__str("");
    *path = close + 1;
    name = pawl__str_make(open + 1, (size_t)(close - open - 1));
    if (name.len > 0 && name.ptr[name.len - 1] == '*')
        name.len--;
    return name;
}

static void write_path_parameters(struct pawl_json_writer *json, const struct pawl_route *route)
{
    const char *at = route->path;
    struct pawl_str name;

    while ((name = next_parameter(&at)).len > 0) {
        const struct api_field *field = find_path_field(endpoint_of(route), name);

        pawl__json_write_begin_object(json);
        pawl__json_write_key_text(json, "name");
        pawl__json_write_string(json, name);
        put_text(json, "in", "path");
        pawl__json_write_key_text(json, "required");
        pawl__json_write_bool(json, true);
        pawl__json_write_key_text(json, "schema");
        if (field)
            write_type(json, field);
        else
            pawl__json_write_raw(json, pawl__str("{\"type\":\"string\"}"));
        pawl__json_write_end_object(json);
    }
}

static bool takes_json(const struct api_endpoint *endpoint)
{
    return endpoint && (endpoint->body == API_BODY_OPTIONAL || endpoint->body == API_BODY_REQUIRED);
}

static bool is_in_query(const struct api_endpoint *endpoint, const struct api_field *field)
{
    return !(field->flags & API_IN_PATH) &&
           (!takes_json(endpoint) || (field->flags & API_IN_QUERY));
}

static void write_parameters(struct pawl_json_writer *json, const struct pawl_route *route)
{
    const struct api_endpoint *endpoint = endpoint_of(route);

    begin_array(json, "parameters");
    write_path_parameters(json, route);
    for (size_t i = 0; endpoint && i < endpoint->field_count; i++) {
        const struct api_field *field = &endpoint->fields[i];

        if (!is_in_query(endpoint, field))
            continue;
        pawl__json_write_begin_object(json);
        put_text(json, "name", field->name);
        put_text(json, "in", "query");
        if (field->flags & API_REQUIRED) {
            pawl__json_write_key_text(json, "required");
            pawl__json_write_bool(json, true);
        }
        pawl__json_write_key_text(json, "schema");
        write_type(json, field);
        pawl__json_write_end_object(json);
    }
    pawl__json_write_end_array(json);
}

/* ---- bodies -----------------------------------------------------------------------------------
 */

static void write_properties(struct pawl_json_writer *json, const struct api_endpoint *endpoint)
{
    bool is_any_required = false;

    put_text(json, "type", "object");
    begin_object(json, "properties");
    for (size_t i = 0; i < endpoint->field_count; i++) {
        const struct api_field *field = &endpoint->fields[i];

        if ((field->flags & API_IN_PATH) || is_in_query(endpoint, field))
            continue;
        pawl__json_write_key_text(json, field->name);
        write_type(json, field);
        is_any_required = is_any_required || (field->flags & API_REQUIRED);
    }
    pawl__json_write_end_object(json);
    if (!is_any_required)
        return;
    begin_array(json, "required");
    for (size_t i = 0; i < endpoint->field_count; i++) {
        const struct api_field *field = &endpoint->fields[i];

        if ((field->flags & API_REQUIRED) && !(field->flags & API_IN_PATH) &&
            !is_in_query(endpoint, field))
            pawl__json_write_string_text(json, field->name);
    }
    pawl__json_write_end_array(json);
}

static void write_content(struct pawl_json_writer *json, const struct api_endpoint *endpoint)
{
    bool is_form = endpoint->content && strcmp(endpoint->content, API_CONTENT_FILES) == 0;

    begin_object(json, "content");
    begin_object(json, is_form ? "multipart/form-data" : "application/json");
    begin_object(json, "schema");
    if (is_form)
        put_raw(json, "properties",
                "{\"files\":{\"type\":\"array\",\"items\":{\"type\":\"string\","
                "\"contentMediaType\":\"application/octet-stream\"}}}");
    else if (endpoint->content)
        put_reference(json, "schemas", endpoint->content);
    else
        write_properties(json, endpoint);
    pawl__json_write_end_object(json);
    pawl__json_write_end_object(json);
    pawl__json_write_end_object(json);
}

static void write_body(struct pawl_json_writer *json, const struct api_endpoint *endpoint)
{
    if (!endpoint ||
        (!takes_json(endpoint) && (endpoint->body != API_BODY_RAW || !endpoint->content)))
        return;
    begin_object(json, "requestBody");
    pawl__json_write_key_text(json, "required");
    pawl__json_write_bool(json, endpoint->body != API_BODY_OPTIONAL);
    write_content(json, endpoint);
    pawl__json_write_end_object(json);
}

/* ---- responses --------------------------------------------------------------------------------
 */

static void write_result(struct pawl_json_writer *json, const struct api_endpoint *endpoint)
{
    const char *result = endpoint ? endpoint->result : NULL;

    begin_object(json, "200");
    put_text(json, "description", result ? "The result" : "Done");
    if (result && strcmp(result, API_RESULT_FILE) == 0) {
        put_raw(json, "content", "{\"application/octet-stream\":{}}");
    } else if (result) {
        begin_object(json, "content");
        begin_object(json, "application/json");
        begin_object(json, "schema");
        put_reference(json, "schemas", result);
        pawl__json_write_end_object(json);
        pawl__json_write_end_object(json);
        pawl__json_write_end_object(json);
    }
    pawl__json_write_end_object(json);
}

static void write_response(struct pawl_json_writer *json, const char *status, const char *name)
{
    begin_object(json, status);
    put_reference(json, "responses", name);
    pawl__json_write_end_object(json);
}

static void write_responses(struct pawl_json_writer *json, const struct pawl_route *route)
{
    begin_object(json, "responses");
    write_result(json, endpoint_of(route));
    write_response(json, "400", "BadRequest");
    if (api_needs_caller(route->permission)) {
        write_response(json, "401", "Unauthorized");
        write_response(json, "403", "Forbidden");
    }
    if (strchr(route->path, '{'))
        write_response(json, "404", "NotFound");
    pawl__json_write_end_object(json);
}

/* ---- operations -------------------------------------------------------------------------------
 */

/* "getElsaApiWorkflowDefinitionsById". */
static void write_operation_id(struct pawl_json_writer *json, const struct pawl_route *route)
{
    char id[300];
    size_t len = 0;
    bool begins_word = true;

    for (const char *c = route->method; *c && len < 8; c++)
        id[len++] = (char)(*c | 0x20);
    for (const char *c = route->path; *c && len + 1 < sizeof id; c++) {
        bool is_lower = *c >= 'a' && *c <= 'z';

        if (!is_lower && !(*c >= 'A' && *c <= 'Z') && !(*c >= '0' && *c <= '9')) {
            begins_word = true;
            continue;
        }
        id[len++] = begins_word && is_lower ? (char)(*c - 'a' + 'A') : *c;
        begins_word = false;
    }
    pawl__json_write_key_text(json, "operationId");
    pawl__json_write_string(json, pawl__str_make(id, len));
}

static void write_permissions(struct pawl_json_writer *json, const char *permission)
{
    const char *terms[] = {API_SIGNED_IN, API_REFRESH, API_SOCKET, API_HUB};

    if (!api_needs_caller(permission)) {
        put_raw(json, "security", "[]");
        return;
    }
    for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++) {
        if (strcmp(permission, terms[i]) == 0)
            return;
    }
    begin_array(json, "x-permissions");
    for (size_t len; *permission; permission += len + (permission[len] == ' ')) {
        len = strcspn(permission, " ");
        if (len > 0)
            pawl__json_write_string(json, pawl__str_make(permission, len));
    }
    pawl__json_write_end_array(json);
}

static void write_operation(struct pawl_json_writer *json, const struct pawl_route *route)
{
    char method[8];
    size_t len = 0;

    for (const char *c = route->method; *c && len + 1 < sizeof method; c++)
        method[len++] = (char)(*c | 0x20);
    method[len] = '\0';
    begin_object(json, method);
    write_operation_id(json, route);
    begin_array(json, "tags");
    pawl__json_write_string_text(json, pawl__api_tag(route));
    pawl__json_write_end_array(json);
    if (pawl__api_summary(route)[0])
        put_text(json, "summary", pawl__api_summary(route));
    write_permissions(json, route->permission);
    write_parameters(json, route);
    write_body(json, endpoint_of(route));
    write_responses(json, route);
    pawl__json_write_end_object(json);
}

/* "/a/{rest*}" is "/a/{rest}". */
static void write_path(struct pawl_json_writer *json, const char *path)
{
    char plain[300];
    size_t len = 0;

    for (; *path && len + 1 < sizeof plain; path++) {
        if (*path != '*')
            plain[len++] = *path;
    }
    pawl__json_write_key(json, pawl__str_make(plain, len));
}

static void write_paths(struct pawl_json_writer *json, const struct pawl_route *routes,
                        size_t count)
{
    begin_object(json, "paths");
    for (size_t i = 0; i < count; i++) {
        bool is_first = true;

        for (size_t j = 0; j < i && is_first; j++)
            is_first = strcmp(routes[i].path, routes[j].path) != 0;
        if (!is_first)
            continue;
        write_path(json, routes[i].path);
        pawl__json_write_begin_object(json);
        for (size_t j = i; j < count; j++) {
            if (strcmp(routes[i].path, routes[j].path) == 0)
                write_operation(json, &routes[j]);
        }
        pawl__json_write_end_object(json);
    }
    pawl__json_write_end_object(json);
}

/* ---- components -------------------------------------------------------------------------------
 */

static const char *name_at(const struct pawl_route *route, bool is_result)
{
    const struct api_endpoint *endpoint = endpoint_of(route);
    const char *name = !endpoint ? NULL : is_result ? endpoint->result : endpoint->content;

    return name && name[0] != '@' ? name : NULL;
}

/* Whether a route before this one, or the result of this one, has named it already. */
static bool is_named_before(const struct pawl_route *routes, size_t at, bool is_result,
                            const char *name)
{
    for (size_t i = 0; i <= at; i++) {
        const char *result = name_at(&routes[i], true), *content = name_at(&routes[i], false);

        if (i == at && is_result)
            return false;
        if (result && strcmp(result, name) == 0)
            return true;
        if (i < at && content && strcmp(content, name) == 0)
            return true;
    }
    return false;
}

static void write_schemas(struct pawl_json_writer *json, const struct pawl_route *routes,
                          size_t count)
{
    begin_object(json, "schemas");
    for (size_t i = 0; i < api_schema_count; i++)
        put_raw(json, api_schemas[i].name, api_schemas[i].json);
    for (size_t i = 0; i < count * 2; i++) {
        const char *name = name_at(&routes[i / 2], i % 2 == 0);

        if (name && !api_schema_find(name) && !is_named_before(routes, i / 2, i % 2 == 0, name))
            put_raw(json, name, "{\"type\":\"object\"}");
    }
    pawl__json_write_end_object(json);
}

static void write_components(struct pawl_json_writer *json, const struct pawl_route *routes,
                             size_t count)
{
    static const struct {
        const char *name, *json;
    } responses[] = {
        {"BadRequest",
         "{\"description\":\"What is wrong with the request\",\"content\":{"
         "\"application/problem+json\":{\"schema\":{\"$ref\":\"#/components/schemas/Problem\"}}}}"},
        {"Unauthorized", "{\"description\":\"It is not known who calls\"}"},
        {"Forbidden", "{\"description\":\"The caller may not do this\"}"},
        {"NotFound", "{\"description\":\"There is no such thing\"}"},
    };

    begin_object(json, "components");
    put_raw(json, "securitySchemes",
            "{\"apiKey\":{\"type\":\"apiKey\",\"in\":\"header\",\"name\":\"Authorization\","
            "\"description\":\"ApiKey KEY\"},\"bearer\":{\"type\":\"http\",\"scheme\":\"bearer\","
            "\"bearerFormat\":\"JWT\"}}");
    begin_object(json, "responses");
    for (size_t i = 0; i < sizeof responses / sizeof responses[0]; i++)
        put_raw(json, responses[i].name, responses[i].json);
    pawl__json_write_end_object(json);
    write_schemas(json, routes, count);
    pawl__json_write_end_object(json);
}

void pawl__api_openapi_write(struct pawl_json_writer *json, const struct pawl_route *routes,
                             size_t count)
{
    pawl__json_write_begin_object(json);
    put_text(json, "openapi", "3.1.0");
    begin_object(json, "info");
    put_text(json, "title", "Pawl");
    put_text(json, "version", pawl_version());
    put_text(json, "summary", "Elsa's REST API, and Pawl's own");
    pawl__json_write_end_object(json);
    put_raw(json, "security", "[{\"apiKey\":[]},{\"bearer\":[]}]");
    write_paths(json, routes, count);
    write_components(json, routes, count);
    pawl__json_write_end_object(json);
}

/* ---- over HTTP --------------------------------------------------------------------------------
 */

static void show_document(struct api_call *call, const void *request)
{
    struct pawl_json_writer json;

    (void)request;
    pawl__json_writer_init(&json, pawl__exchange_out(call->exchange), PAWL_JSON_ESCAPE_HTML, 0);
    pawl__api_openapi_write(&json, call->api->routes, call->api->route_count);
    pawl__exchange_add_field(call->exchange, "Content-Type", API_JSON);
    pawl__exchange_respond(call->exchange, 200);
}

static const struct api_endpoint endpoints[] = {
    {.method = "GET",
     .path = API_PAWL "/openapi.json",
     .permission = API_SIGNED_IN,
     .handle = show_document,
     .summary = "The OpenAPI document",
     .result = "OpenApi"},
};
const struct api_family api_openapi = API_FAMILY("Server", endpoints);
