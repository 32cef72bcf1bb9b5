/* SPDX-License-Identifier: Apache-2.0 */
/* Replies to requests: what all of them share, and WriteHttpResponse. See http_endpoint.h. */
#include "activities/http_endpoint.h"

#include "activities/children.h"
#include "activities/descriptor.h"
#include "activities/http_client.h"
#include "base/http_message.h"

/* As many as a request may have. */
#define HEADERS_MAX 1000u

/* ---- the request -------------------------------------------------------------------------- */

int pawl__http_request_of(struct pawl_context *context, struct pawl_json **out)
{
    struct pawl_json *request = pawl__run_input(context, PAWL_HTTP_REQUEST_INPUT);

    if (!pawl__json_is(request, PAWL_JSON_OBJECT))
        return pawl__raise(
            context, "FaultException",
            "The HTTP context was lost during workflow execution. This typically occurs when a "
            "workflow initiated from an HTTP endpoint is suspended and later resumed in a "
            "different execution context (e.g., background processing, virtual actor, or after a "
            "workflow transition). The original HTTP request context that expects a response is no "
            "longer available.");
    if (pawl__json_true(pawl__json_get_text(request, PAWL_HTTP_REPLIED)))
        return pawl__raise(context, "InvalidOperationException",
                           "StatusCode cannot be set because the response has already started.");
    *out = request;
    return PAWL_OK;
}

int pawl__http_reply(struct pawl_context *context, struct pawl_json *request,
                     struct pawl_json reply)
{
    int status = pawl__json_set_text(pawl__context_arena(context), request, PAWL_HTTP_REPLIED,
                                     pawl__json_bool(true));

    return status == PAWL_OK ? pawl__effect(context, PAWL_EFFECT_REPLY, reply) : status;
}

/* ---- headers ------------------------------------------------------------------------------ */

static bool is_token(struct pawl_str name)
{
    static const char others[] = "!#$%&'*+-.^_`|~";

    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        if (!letter && !(c >= '0' && c <= '9') && (c == 0 || !strchr(others, c)))
            return false;
    }
    return name.len > 0;
}

/* Of the connection, which the server has: what a workflow copies from elsewhere is left out. */
static bool is_servers(struct pawl_str name)
{
    static const char *const names[] = {
        "Connection", "Content-Length",    "Date",    "Keep-Alive", "TE",
        "Trailer",    "Transfer-Encoding", "Upgrade",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (pawl__str_equal_nocase(name, pawl__str(names[i])))
            return true;
    return false;
}

int pawl__http_reply_header(struct pawl_context *context, struct pawl_json *reply,
                            struct pawl_str name, struct pawl_str value)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_json *headers = pawl__json_get_text(reply, PAWL_HTTP_HEADERS);
    struct pawl_json pair = pawl__json_array();

    if (!is_token(name))
        return pawl__raise(context, "InvalidOperationException",
                           "A header of the response has a name that is not valid.");
    for (size_t i = 0; i < value.len; i++)
        if (((unsigned char)value.ptr[i] < 0x20 && value.ptr[i] != '\t') || value.ptr[i] == 0x7f)
            return pawl__raise(context, "InvalidOperationException",
                               "Invalid control character in header: 0x%04X",
                               (unsigned)(unsigned char)value.ptr[i]);
    if (is_servers(name))
        return PAWL_OK;
    if (!headers) {
        pawl__build(&b, reply, PAWL_HTTP_HEADERS, pawl__json_array());
        headers = pawl__json_get_text(reply, PAWL_HTTP_HEADERS);
    }
    if (headers && pawl__json_len(headers) >= HEADERS_MAX)
        return pawl__raise(context, "InvalidOperationException",
                           "A response has at most %u headers.", HEADERS_MAX);
    pawl__build_append(&b, &pair, pawl__json_string(name));
    pawl__build_append(&b, &pair, pawl__json_string(value));
    if (headers)
        pawl__build_append(&b, headers, pair);
    return b.status;
}

/* ---- WriteHttpResponse -------------------------------------------------------------------- */

static const struct pawl_type headers_type = {.kind = PAWL_TYPE_NAMED, .alias = "HttpHeaders"};

#define ITEM(text) "{\"text\":\"" text "\",\"value\":\"" text "\"}"
/* clang-format off */
#define CONTENT_TYPES                                                                              \
    "{\"dropdown\":{\"selectList\":{\"items\":["                                                   \
    ITEM("") "," ITEM("application/json") "," ITEM("application/soap+xml") ","                     \
    ITEM("application/x-www-form-urlencoded") "," ITEM("application/xml") ","                      \
    ITEM("text/html") "," ITEM("text/json") "," ITEM("text/plain") ","                             \
    ITEM("text/richtext") "," ITEM("text/xml") "]}}}"
/* clang-format on */

static const struct pawl_input_descriptor response_inputs[] = {
    {
        .name = "StatusCode",
        .type = &pawl__type_http_status_code,
        .default_json = "\"OK\"",
        .description = "The status of the response.",
        .ui_hint = "dropdown",
    },
    {
        .name = "Content",
        .type = &pawl__type_object,
        .description = "The body of the response.",
        .ui_hint = "singleline",
    },
    {
        .name = "ContentType",
        .type = &pawl__type_string,
        .description = "What the content is; by default text/plain for text, JSON for the rest.",
        .ui_hint = "dropdown",
        .options_json = CONTENT_TYPES,
    },
    {
        .name = "ResponseHeaders",
        .type = &headers_type,
        .category = "Advanced",
        .description = "Further headers: a value or a list of values by name.",
        .ui_hint = "json-editor",
        .options_json = "{\"code-editor\":{\"language\":\"json\"}}",
    },
};

/* A member of the enumeration by its name, or any number. */
static int64_t status_of(const struct pawl_context *context)
{
    const struct pawl_type *type = &pawl__type_http_status_code;
    struct pawl_value value = pawl__input(context, "StatusCode");
    struct pawl_str name = pawl__json_str(&value.json);
    int64_t number = 200;

    if (pawl__json_to_int(&value.json, &number))
        return number;
    for (size_t i = 0; type->names[i]; i++)
        if (pawl__str_equal_nocase(name, pawl__str(type->names[i])))
            return type->numbers[i];
    number = 0;
    for (size_t i = 0; i < name.len && number < 1000; i++) {
        if (name.ptr[i] < '0' || name.ptr[i] > '9')
            return 200;
        number = number * 10 + (name.ptr[i] - '0');
    }
    return name.len > 0 ? number : 200;
}

static int add_headers(struct pawl_context *context, struct pawl_json *reply, bool has_type)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_value given = pawl__input(context, "ResponseHeaders");
    int status = PAWL_OK;

    if (!pawl__json_is(&given.json, PAWL_JSON_OBJECT))
        return PAWL_OK;
    for (uint32_t i = 0; i < pawl__json_len(&given.json) && status == PAWL_OK; i++) {
        const struct pawl_json_member *member = pawl__json_member(&given.json, i);
        struct pawl_json values = pawl__http_header_values(&b, &member->value);

        if (has_type && pawl__str_equal_nocase(member->key, pawl__str("Content-Type")))
            continue;
        status = b.status;
        for (uint32_t j = 0; j < pawl__json_len(&values) && status == PAWL_OK; j++)
            status = pawl__http_reply_header(context, reply, member->key,
                                             pawl__json_str(pawl__json_at(&values, j)));
    }
    return status;
}

struct pawl_str pawl__http_reply_input(const struct pawl_context *context, const char *name)
{
    struct pawl_str value = pawl__input_str(context, name);

    if (pawl__str_trim(value).len == 0)
        return pawl__str("");
    while (value.ptr[0] == ' ' || value.ptr[0] == '\t')
        value = pawl__str_slice(value, 1, value.len);
    while (value.ptr[value.len - 1] == ' ' || value.ptr[value.len - 1] == '\t')
        value.len--;
    return value;
}

static struct pawl_str type_of(const struct pawl_context *context, struct pawl_value content)
{
    struct pawl_str type = pawl__http_reply_input(context, "ContentType");

    if (type.len > 0)
        return type;
    if (content.type &&
        (content.type->kind == PAWL_TYPE_BYTES || content.type->kind == PAWL_TYPE_STREAM))
        return pawl__str("application/octet-stream");
    return pawl__str(pawl__json_is(&content.json, PAWL_JSON_STRING) ? "text/plain"
                                                                    : "application/json");
}

static bool has_no_body(int64_t code)
{
    return code == 204 || code == 205 || code == 304;
}

static int response_execute(struct pawl_context *context)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_json reply = pawl__json_object(), *request = NULL;
    struct pawl_value content = pawl__input(context, "Content");
    int64_t code = status_of(context);
    bool writes = !pawl__value_is_null(content) && !has_no_body(code);
    int status = pawl__http_request_of(context, &request);

    if (status != PAWL_OK)
        return status;
    if (code < 200 || code > 599)
        return pawl__raise(context, "InvalidOperationException",
                           "A response has a status from 200 to 599, not %lld.", (long long)code);
    pawl__build_int(&b, &reply, PAWL_HTTP_STATUS, code);
    if (writes)
        pawl__http_build_content(&b, &reply, content, type_of(context, content));
    status = b.status;
    if (status == PAWL_OK && writes)
        status = pawl__http_reply_header(context, &reply, pawl__str("Content-Type"),
                                         type_of(context, content));
    if (status == PAWL_OK)
        status = add_headers(context, &reply, writes);
    return status == PAWL_OK ? pawl__http_reply(context, request, reply) : status;
}

const struct pawl_activity pawl__activity_write_http_response = {
    .type = "Elsa.WriteHttpResponse",
    .version = 1,
    .flags = PAWL_ACTIVITY_AUTO_COMPLETE,
    .category = "HTTP",
    .display_name = "HTTP Response",
    .description = "Replies to the HTTP request of this run.",
    PAWL_INPUTS(response_inputs),
    .execute = response_execute,
};
