/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WriteFileHttpResponse: a file as the reply, or several as one archive. What the client asks for
 * (a range, only if it has changed) is between it and the server that sends the reply; see
 * api/workflows_file.c.
 */
#include "activities/descriptor.h"
#include "activities/http_client.h"
#include "activities/http_endpoint.h"
#include "base/hash/checksum.h"
#include "base/http_message.h"

/* As many as an archive may have. */
#define FILES_MAX 1000u

static const struct pawl_input_descriptor file_inputs[] = {
    {
        .name = "ContentType",
        .type = &pawl__type_string,
        .description = "What the file is; by default by its name.",
        .ui_hint = "singleline",
    },
    {
        .name = "Filename",
        .type = &pawl__type_string,
        .description = "The name under which the client saves it.",
        .ui_hint = "singleline",
    },
    {
        .name = "EntityTag",
        .type = &pawl__type_string,
        .description = "What tells this version of the file from others.",
        .ui_hint = "singleline",
    },
    {
        .name = "Content",
        .type = &pawl__type_object,
        .description = "Text, bytes or a file; a list of them becomes a zip archive.",
        .ui_hint = "singleline",
    },
    {
        .name = "EnableResumableDownloads",
        .type = &pawl__type_boolean,
        .description = "Whether the client may ask for a part of the file.",
        .ui_hint = "checkbox",
    },
    {
        .name = "DownloadCorrelationId",
        .type = &pawl__type_string,
        .description = "Has no effect: each request for a part runs the workflow.",
        .ui_hint = "singleline",
    },
};

/* ---- one file ------------------------------------------------------------------------------ */

static struct pawl_str member(const struct pawl_json *object, const char *key)
{
    return pawl__json_str(pawl__json_get_nocase(object, pawl__str(key)));
}

/* As DownloadHttpFile and HttpEndpoint have them: {"FileName", "ContentType", "ETag", "Stream"}. */
static bool is_file(const struct pawl_json *value)
{
    return pawl__json_is(value, PAWL_JSON_OBJECT) &&
           pawl__json_is(pawl__json_get_nocase(value, pawl__str("Stream")), PAWL_JSON_STRING);
}

/* Its content, as a member of `out`. */
static void build_file(struct pawl_builder *b, struct pawl_json *out, struct pawl_value value)
{
    if (is_file(&value.json))
        pawl__build(b, out, PAWL_HTTP_CONTENT_BASE64,
                    *pawl__json_get_nocase(&value.json, pawl__str("Stream")));
    else
        pawl__http_build_content(b, out, value,
                                 pawl__str(pawl__json_is(&value.json, PAWL_JSON_STRING)
                                               ? "text/plain"
                                               : "application/json"));
}

/* Without folders: a client would make none, or be tricked by one. */
static struct pawl_str bare_name(struct pawl_str name)
{
    for (size_t i = name.len; i-- > 0;)
        if (name.ptr[i] == '/' || name.ptr[i] == '\\')
            return pawl__str_slice(name, i + 1, name.len);
    return name;
}

static struct pawl_str name_of(const struct pawl_context *context, const struct pawl_json *value,
                               const char *otherwise)
{
    struct pawl_str name = bare_name(pawl__str_trim(pawl__input_str(context, "Filename")));

    if (name.len == 0 && is_file(value))
        name = bare_name(member(value, "FileName"));
    return name.len > 0 ? name : pawl__str(otherwise);
}

/* ---- headers ------------------------------------------------------------------------------- */

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != 0 && strchr("!#$&+-.^_`|~", c));
}

/* attachment; filename="a b.txt"; filename*=UTF-8''a%20b.txt */
static int add_disposition(struct pawl_context *context, struct pawl_json *reply,
                           struct pawl_str name)
{
    struct pawl_arena *arena = pawl__context_arena(context);
    struct pawl_str value;
    struct pawl_buf text;
    bool quoted = false;
    int status;

    pawl__buf_init(&text, arena->alloc, name.len * 5 + 64);
    for (size_t i = 0; i < name.len; i++)
        quoted |= !is_plain(name.ptr[i]);
    pawl__buf_printf(&text, "attachment; filename=%s", quoted ? "\"" : "");
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (c == '"' || c == '\\')
            pawl__buf_byte(&text, '\\');
        pawl__buf_byte(&text, (unsigned char)c < 0x20 || (unsigned char)c >= 0x7f ? '_' : c);
    }
    pawl__buf_printf(&text, "%s; filename*=UTF-8''", quoted ? "\"" : "");
    for (size_t i = 0; i < name.len; i++) {
        if (is_plain(name.ptr[i]))
            pawl__buf_byte(&text, name.ptr[i]);
        else
            pawl__buf_printf(&text, "%%%02X", (unsigned)(unsigned char)name.ptr[i]);
    }
    value = pawl__arena_str(arena, pawl__buf_peek(&text));
    status = text.status != PAWL_OK ? text.status : arena->status;
    pawl__buf_release(&text);
    if (status != PAWL_OK)
        return status;
    return pawl__http_reply_header(context, reply, pawl__str("Content-Disposition"), value);
}

/* The given one, in quotes; else, for parts, one that follows from the bytes. */
static int add_tag(struct pawl_context *context, struct pawl_json *reply, struct pawl_str given,
                   bool parts)
{
    struct pawl_str encoded = pawl__json_str(pawl__json_get_text(reply, PAWL_HTTP_CONTENT_BASE64));
    struct pawl_str text = pawl__json_str(pawl__json_get_text(reply, PAWL_HTTP_CONTENT));
    const char *tag;

    if (given.len > 0) {
        bool is_quoted = given.ptr[given.len - 1] == '"';

        tag = pawl__arena_printf(pawl__context_arena(context), is_quoted ? "%.*s" : "\"%.*s\"",
                                 PAWL_STR_ARG(given));
    } else if (parts) {
        tag = pawl__arena_printf(
            pawl__context_arena(context), "\"%016llx\"",
            (unsigned long long)pawl__checksum(encoded.len > 0 ? encoded : text));
    } else {
        return PAWL_OK;
    }
    if (!tag)
        return pawl__arena_status(pawl__context_arena(context));
    return pawl__http_reply_header(context, reply, pawl__str("ETag"), pawl__str(tag));
}

static int add_headers(struct pawl_context *context, struct pawl_json *reply,
                       const struct pawl_json *value, struct pawl_str name, bool is_archive)
{
    bool parts = pawl__input_true(context, "EnableResumableDownloads");
    struct pawl_str type = pawl__http_reply_input(context, "ContentType");
    struct pawl_str tag = pawl__http_reply_input(context, "EntityTag");
    int status = PAWL_OK;

    if (type.len == 0)
        type = is_archive ? pawl__str("application/zip")
                          : (is_file(value) ? member(value, "ContentType") : pawl__str(""));
    if (tag.len == 0 && is_file(value))
        tag = member(value, "ETag");
    if (type.len > 0)
        status = pawl__http_reply_header(context, reply, pawl__str("Content-Type"), type);
    if (status == PAWL_OK)
        status = add_disposition(context, reply, name);
    if (status == PAWL_OK)
        status = add_tag(context, reply, tag, parts && !is_archive);
    if (status == PAWL_OK && parts)
        status =
            pawl__http_reply_header(context, reply, pawl__str("Accept-Ranges"), pawl__str("bytes"));
    return status;
}

/* ---- the reply ----------------------------------------------------------------------------- */

static int reply_file(struct pawl_context *context, struct pawl_value value,
                      struct pawl_json *reply)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_str name = name_of(context, &value.json, "file.bin");

    build_file(&b, reply, value);
    pawl__build_bool(&b, reply, PAWL_HTTP_FILE, true);
    pawl__build_text(&b, reply, PAWL_HTTP_FILE_NAME, name);
    return b.status == PAWL_OK ? add_headers(context, reply, &value.json, name, false) : b.status;
}

static int reply_archive(struct pawl_context *context, const struct pawl_json *values,
                         struct pawl_json *reply)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_json files = pawl__json_array();

    if (pawl__json_len(values) > FILES_MAX)
        return pawl__raise(context, "InvalidOperationException",
                           "An archive has at most %u files, not %u.", FILES_MAX,
                           pawl__json_len(values));
    for (uint32_t i = 0; i < pawl__json_len(values) && b.status == PAWL_OK; i++) {
        const struct pawl_json *value = pawl__json_at(values, i);
        struct pawl_json file = pawl__json_object();
        struct pawl_str name = bare_name(member(value, "FileName"));
        const char *number = pawl__arena_printf(b.arena, "file-%u.bin", i + 1);

        pawl__build_text(&b, &file, PAWL_HTTP_FILE_NAME,
                         is_file(value) && name.len > 0 ? name : pawl__str(number));
        build_file(&b, &file, (struct pawl_value){.json = *value});
        pawl__build_append(&b, &files, file);
    }
    pawl__build_bool(&b, reply, PAWL_HTTP_FILE, true);
    pawl__build(&b, reply, PAWL_HTTP_FILES, files);
    return b.status == PAWL_OK
               ? add_headers(context, reply, NULL, name_of(context, NULL, "download.zip"), true)
               : b.status;
}

static int file_execute(struct pawl_context *context)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_json reply = pawl__json_object(), *request = NULL;
    struct pawl_value content = pawl__input(context, "Content");
    bool is_list = pawl__json_is(&content.json, PAWL_JSON_ARRAY);
    uint32_t count = is_list ? pawl__json_len(&content.json) : !pawl__value_is_null(content);
    int status = pawl__http_request_of(context, &request);

    if (status != PAWL_OK)
        return status;
    pawl__build_int(&b, &reply, PAWL_HTTP_STATUS, count == 0 ? 204 : 200);
    status = b.status;
    if (status == PAWL_OK && count == 1)
        status = reply_file(context,
                            is_list ? (struct pawl_value){.json = *pawl__json_at(&content.json, 0)}
                                    : content,
                            &reply);
    else if (status == PAWL_OK && count > 1)
        status = reply_archive(context, &content.json, &reply);
    return status == PAWL_OK ? pawl__http_reply(context, request, reply) : status;
}

const struct pawl_activity pawl__activity_write_file_http_response = {
    .type = "Elsa.WriteFileHttpResponse",
    .version = 1,
    .flags = PAWL_ACTIVITY_AUTO_COMPLETE,
    .category = "HTTP",
    .display_name = "HTTP File Response",
    .description = "Replies to the HTTP request of this run with a file.",
    PAWL_INPUTS(file_inputs),
    .execute = file_execute,
};
