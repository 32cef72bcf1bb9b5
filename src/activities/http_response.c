/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of an HTTP effect as values for outputs, see http_client.h. What was fed lives as long
 * as the burst does, and is shared.
 */
#include "activities/children.h"
#include "activities/http_client.h"
#include "base/base64.h"

static const struct pawl_type headers_type = {.kind = PAWL_TYPE_NAMED, .alias = "HttpHeaders"};
static const struct pawl_type message_type = {.kind = PAWL_TYPE_NAMED,
                                              .alias = "HttpResponseMessage"};
static const struct pawl_type file_type = {.kind = PAWL_TYPE_NAMED, .alias = "HttpFile"};

/* ---- how it ended ------------------------------------------------------------------------ */

static int note_failure(struct pawl_context *context, struct pawl_str message, bool timed_out)
{
    int status = pawl__log_entry(context, "Error", message, NULL);

    if (status != PAWL_OK)
        return status;
    return timed_out ? pawl__journal_set(context, "Cancelled", pawl__json_bool(true))
                     : pawl__journal_set(context, "Error", pawl__json_string(message));
}

int pawl__http_path(struct pawl_context *context, const struct pawl_json *result,
                    enum pawl_http_path *out)
{
    struct pawl_str error = pawl__json_str(pawl__json_get_text(result, "error"));
    struct pawl_str reason = pawl__json_str(pawl__json_get_text(result, "reason"));
    bool timed_out = pawl__str_is(reason, "timeout");

    *out = PAWL_HTTP_PATH_STATUS;
    if (error.len == 0)
        return PAWL_OK;
    if (pawl__str_is(reason, "invalid") || pawl__str_is(reason, "unknown") ||
        pawl__str_is(reason, "none") || reason.len == 0)
        return pawl__raise(context, "HttpRequestException", "%.*s", PAWL_STR_ARG(error));
    *out = timed_out ? PAWL_HTTP_PATH_TIMEOUT : PAWL_HTTP_PATH_FAILED;
    return note_failure(context, error, timed_out);
}

int64_t pawl__http_status(const struct pawl_json *result)
{
    int64_t status = 0;

    (void)pawl__json_to_int(pawl__json_get_text(result, "statusCode"), &status);
    return status;
}

/* ---- headers ----------------------------------------------------------------------------- */

struct pawl_str pawl__http_header(const struct pawl_json *result, const char *name)
{
    const struct pawl_json *values =
        pawl__json_get_nocase(pawl__json_get_text(result, "headers"), pawl__str(name));

    return pawl__json_str(pawl__json_at(values, 0));
}

/* .NET keeps the headers that describe the body apart. */
static bool is_of_content(struct pawl_str name)
{
    static const char *const names[] = {
        "Allow",
        "Content-Disposition",
        "Content-Encoding",
        "Content-Language",
        "Content-Length",
        "Content-Location",
        "Content-MD5",
        "Content-Range",
        "Content-Type",
        "Expires",
        "Last-Modified",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (pawl__str_equal_nocase(name, pawl__str(names[i])))
            return true;
    }
    return false;
}

struct pawl_value pawl__http_headers(struct pawl_builder *b, const struct pawl_json *result,
                                     bool of_content)
{
    const struct pawl_json *headers = pawl__json_get_text(result, "headers");
    struct pawl_json chosen = pawl__json_object();

    for (uint32_t i = 0; i < pawl__json_len(headers) && b->status == PAWL_OK; i++) {
        const struct pawl_json_member *member = pawl__json_member(headers, i);

        if (is_of_content(member->key) == of_content)
            b->status = pawl__json_set(b->arena, &chosen, member->key, member->value);
    }
    return (struct pawl_value){.json = chosen, .type = &headers_type};
}

struct pawl_value pawl__http_message(struct pawl_builder *b, const struct pawl_json *result)
{
    struct pawl_json message = pawl__json_object();

    pawl__build_int(b, &message, "StatusCode", pawl__http_status(result));
    pawl__build(b, &message, "Headers", pawl__http_headers(b, result, false).json);
    return (struct pawl_value){.json = message, .type = &message_type};
}

/* ---- body -------------------------------------------------------------------------------- */

bool pawl__http_has_body(const struct pawl_json *result)
{
    return pawl__json_str(pawl__json_get_text(result, "content")).len > 0 ||
           pawl__json_str(pawl__json_get_text(result, "contentBase64")).len > 0;
}

struct pawl_value pawl__http_bytes(struct pawl_builder *b, const struct pawl_json *result)
{
    struct pawl_str text = pawl__json_str(pawl__json_get_text(result, "content"));
    const struct pawl_json *bytes = pawl__json_get_text(result, "contentBase64");
    struct pawl_json value;
    size_t len = pawl__base64_len(text.len);
    char *encoded;

    if (b->status != PAWL_OK)
        return pawl__value_null();
    if (bytes) {
        value = *bytes;
    } else {
        encoded = pawl__arena_alloc_aligned(b->arena, len + 1, 1);
        if (!encoded) {
            b->status = pawl__refused(b->arena);
            return pawl__value_null();
        }
        pawl__base64_encode((const unsigned char *)text.ptr, text.len, encoded);
        encoded[len] = 0;
        value = pawl__json_string(pawl__str_make(encoded, len));
    }
    return (struct pawl_value){.json = value, .type = &pawl__type_bytes};
}

struct pawl_value pawl__http_file(struct pawl_builder *b, const struct pawl_json *result)
{
    struct pawl_json file = pawl__json_object();
    struct pawl_str type = pawl__http_header(result, "Content-Type");
    struct pawl_str name =
        pawl__http_file_name(b->arena, pawl__http_header(result, "Content-Disposition"),
                             pawl__json_str(pawl__json_get_text(result, "url")));

    if (!name.ptr && b->status == PAWL_OK)
        b->status = pawl__refused(b->arena);
    type = pawl__str_trim(pawl__str_slice(type, 0, pawl__str_find(type, ';', 0)));
    if (b->status == PAWL_OK)
        pawl__build_text(b, &file, "Filename", name);
    pawl__build_text(b, &file, "ContentType", pawl__arena_str(b->arena, type));
    pawl__build_text(b, &file, "ETag",
                     pawl__arena_str(b->arena, pawl__http_header(result, "ETag")));
    pawl__build(b, &file, "Stream", pawl__http_bytes(b, result).json);
    if (b->status == PAWL_OK && b->arena->status != PAWL_OK)
        b->status = b->arena->status;
    return (struct pawl_value){.json = file, .type = &file_type};
}

/* ---- text -------------------------------------------------------------------------------- */

/* Bytes that are not UTF-8: by one of the usual old character sets, or as far as they go. */
static void decode(struct pawl_buf *out, struct pawl_str bytes, bool is_latin)
{
    size_t at = 0;

    while (at < bytes.len) {
        char character[4];
        uint32_t code = is_latin ? (unsigned char)bytes.ptr[at++] : pawl__utf8_next(bytes, &at);

        pawl__buf_append(out, character, pawl__utf8_encode(code, character));
    }
}

static bool is_latin(struct pawl_arena *arena, struct pawl_str content_type)
{
    struct pawl_str charset = pawl__http_parameter(arena, content_type, "charset");

    return charset.ptr && (pawl__str_equal_nocase(charset, pawl__str("iso-8859-1")) ||
                           pawl__str_equal_nocase(charset, pawl__str("latin1")) ||
                           pawl__str_equal_nocase(charset, pawl__str("windows-1252")));
}

int pawl__http_text(struct pawl_arena *arena, const struct pawl_json *result, struct pawl_json *out)
{
    struct pawl_str text = pawl__json_str(pawl__json_get_text(result, "content"));
    struct pawl_str encoded = pawl__json_str(pawl__json_get_text(result, "contentBase64"));
    unsigned char *bytes;
    struct pawl_buf buf;
    size_t len;
    int status;

    if (encoded.len == 0) {
        size_t skip = pawl__str_starts(text, pawl__str("\xef\xbb\xbf")) ? 3 : 0;

        *out = pawl__json_string(pawl__str_slice(text, skip, text.len));
        return PAWL_OK;
    }
    bytes = pawl__arena_alloc_aligned(arena, encoded.len + 1, 1);
    if (!bytes)
        return pawl__refused(arena);
    len = pawl__base64_decode(encoded, bytes);
    pawl__buf_init(&buf, arena->alloc, arena->max_bytes);
    decode(&buf, pawl__str_make((const char *)bytes, len == SIZE_MAX ? 0 : len),
           is_latin(arena, pawl__http_header(result, "Content-Type")));
    status = buf.status;
    if (status == PAWL_OK)
        status = pawl__json_string_copy(arena, pawl__buf_peek(&buf), out);
    pawl__buf_release(&buf);
    return status;
}

static bool contains(struct pawl_str text, const char *part)
{
    struct pawl_str wanted = pawl__str(part);

    for (size_t i = 0; i + wanted.len <= text.len; i++) {
        if (pawl__str_equal_nocase(pawl__str_slice(text, i, i + wanted.len), wanted))
            return true;
    }
    return false;
}

bool pawl__http_wants_text(struct pawl_context *context, const char *name)
{
    const struct pawl_activity *activity = context->node->activity;

    for (uint32_t i = 0; i < activity->output_count; i++) {
        const struct pawl_variable *variable;

        if (strcmp(activity->outputs[i].name, name) != 0)
            continue;
        variable = pawl__variable_with_id(context, context->node->outputs[i].reference, NULL);
        return variable && variable->type && variable->type->kind == PAWL_TYPE_STRING;
    }
    return false;
}

static int parse_json(struct pawl_context *context, const struct pawl_json *text,
                      struct pawl_value *out)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_json value;
    int status = pawl__json_parse(pawl__context_arena(context), pawl__json_str(text), NULL, &value,
                                  NULL, &err);

    if (status == PAWL_EPARSE || status == PAWL_ELIMIT)
        return pawl__raise(context, "JsonException", "The answer is not JSON: %s", err.msg);
    if (status == PAWL_OK)
        *out = pawl__value_from_json(value);
    return status;
}

int pawl__http_parsed(struct pawl_context *context, const char *name,
                      const struct pawl_json *result, struct pawl_value *out)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_str type = pawl__http_header(result, "Content-Type");
    bool is_json = contains(type, "json");
    struct pawl_json text;
    int status;

    *out = pawl__value_null();
    if (!pawl__http_has_body(result))
        return PAWL_OK;
    if (!is_json && type.len > 0 && !contains(type, "text/") && !contains(type, "xml")) {
        *out = pawl__http_file(&b, result);
        return b.status;
    }
    status = pawl__http_text(b.arena, result, &text);
    if (status != PAWL_OK)
        return status;
    if (is_json && !pawl__http_wants_text(context, name))
        return parse_json(context, &text, out);
    *out = pawl__value_string(pawl__json_str(&text));
    return PAWL_OK;
}
