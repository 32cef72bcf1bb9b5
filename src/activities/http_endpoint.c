/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HttpEndpoint: takes a request, as the trigger of a run or by a bookmark for each of its methods.
 * The request is an input of the run, see base/http_message.h; an endpoint that has read it removes
 * its body, so that it is not stored any longer than needed, and marks it as taken: a loop that
 * comes back to the endpoint in the same burst waits for the next request.
 *
 * A request that is not acceptable (too large, a file of the wrong kind, not JSON) has an outcome
 * of its own where the activity exposes one. Else the server refuses what is over the limits before
 * it is delivered; what comes here all the same, because the limits are not those that the server
 * saw, and what is not JSON is replied to at once, and the activity goes on waiting for nothing, as
 * in Elsa.
 */
#include "activities/http_endpoint.h"

#include "activities/children.h"
#include "activities/descriptor.h"
#include "activities/http_client.h"
#include "base/http_limits.h"
#include "base/http_message.h"
#include "base/stimuli.h"

#define RESUMED "OnResumeAsync"
/* Of a bookmark that was made because the request was lost on the way. */
#define CROSS_BOUNDARY "X-HttpCrossBoundary"
/* In a request: an endpoint has read it. */
#define TAKEN "taken"

/* ---- descriptor -------------------------------------------------------------------------- */

static const struct pawl_type file_type = {.kind = PAWL_TYPE_NAMED, .alias = "FormFile"};
static const struct pawl_type files_type = {.kind = PAWL_TYPE_ARRAY, .element = &file_type};
static const struct pawl_type request_type = {.kind = PAWL_TYPE_NAMED, .alias = "HttpRequest"};
static const struct pawl_type int64_optional = {
    .kind = PAWL_TYPE_INT64, .nullable = true, .alias = "Int64", .element = &pawl__type_int64};
static const struct pawl_type timespan_optional = {.kind = PAWL_TYPE_TIMESPAN,
                                                   .nullable = true,
                                                   .alias = "TimeSpan",
                                                   .element = &pawl__type_timespan};

#define ITEM(text) "{\"text\":\"" text "\",\"value\":\"" text "\"}"
/* clang-format off */
#define METHODS                                                                                    \
    "{\"checklist\":{\"checkList\":{\"items\":[" ITEM("GET") "," ITEM("POST") "," ITEM("PUT") ","  \
    ITEM("HEAD") "," ITEM("DELETE") "],\"isFlagsEnum\":false}}}"
/* clang-format on */
#define UPLOAD(name_, type_, hint, text)                                                           \
    {                                                                                              \
        .name = (name_), .type = (type_), .category = "Upload", .description = (text),             \
        .ui_hint = (hint),                                                                         \
    }
#define EXPOSES(name_, text)                                                                       \
    {                                                                                              \
        .name = (name_), .type = &pawl__type_boolean, .category = "Outcomes",                      \
        .default_json = "false", .description = (text), .ui_hint = "checkbox",                     \
        .flags = PAWL_INPUT_NAKED | PAWL_INPUT_DEFAULT_HIDDEN,                                     \
    }

static const struct pawl_input_descriptor inputs[] = {
    {
        .name = "Path",
        .type = &pawl__type_string,
        .description = "The path of the endpoint, with parameters: orders/{id}.",
        .ui_hint = "singleline",
        .options_json = "{\"singleline\":{\"adornmentText\":\"" PAWL_HTTP_ADORNMENT
                        "\",\"enableCopyAdornment\":true},\"Refresh\":true}",
    },
    {
        .name = "SupportedMethods",
        .type = &pawl__type_string_list,
        .default_json = "[\"GET\"]",
        .description = "The methods that it accepts.",
        .ui_hint = "checklist",
        .options_json = METHODS,
        .flags = PAWL_INPUT_DEFAULT_HIDDEN,
    },
    {
        .name = "Authorize",
        .type = &pawl__type_boolean,
        .default_json = "false",
        .category = "Security",
        .description = "Accepts requests of known callers only.",
        .ui_hint = "checkbox",
        .flags = PAWL_INPUT_DEFAULT_HIDDEN,
    },
    {
        .name = "Policy",
        .type = &pawl__type_string,
        .default_json = "null",
        .category = "Security",
        .description = "A permission that the caller must have.",
        .ui_hint = "singleline",
        .flags = PAWL_INPUT_DEFAULT_HIDDEN,
    },
    UPLOAD("RequestTimeout", &timespan_optional, "singleline",
           "How long the client waits for the reply."),
    UPLOAD("RequestSizeLimit", &int64_optional, "singleline", "Bytes of a request, at the most."),
    UPLOAD("FileSizeLimit", &int64_optional, "singleline", "Bytes of a file, at the most."),
    UPLOAD("AllowedFileExtensions", &pawl__type_string_list, "multitext",
           "Extensions that files may have; any when empty."),
    UPLOAD("BlockedFileExtensions", &pawl__type_string_list, "multitext",
           "Extensions that files may not have."),
    UPLOAD("AllowedMimeTypes", &pawl__type_string_list, "multitext",
           "Types that files may have; any when empty."),
    EXPOSES("ExposeRequestTooLargeOutcome",
            "Requests that are too large leave by an outcome instead of being refused."),
    EXPOSES("ExposeFileTooLargeOutcome",
            "Files that are too large leave by an outcome instead of being refused."),
    EXPOSES("ExposeInvalidFileExtensionOutcome",
            "Files with such an extension leave by an outcome instead of being refused."),
    EXPOSES("ExposeInvalidFileMimeTypeOutcome",
            "Files of such a type leave by an outcome instead of being refused."),
};

static const struct pawl_output_descriptor outputs[] = {
    {.name = "ParsedContent",
     .type = &pawl__type_object,
     .description = "The body, by its content type."},
    {.name = "Files",
     .type = &files_type,
     .description = "The files of a form.",
     .not_serializable = true},
    {.name = "File",
     .type = &file_type,
     .description = "The first of them.",
     .not_serializable = true},
    {.name = "RouteData",
     .type = &pawl__type_object_dictionary,
     .description = "The parameters of the path."},
    {.name = "QueryStringData",
     .type = &pawl__type_object_dictionary,
     .description = "The parameters of the query."},
    {.name = "Headers",
     .type = &pawl__type_object_dictionary,
     .description = "The headers of the request."},
    {.name = "Result", .type = &request_type, .not_serializable = true},
};

/* ---- waiting for a request ---------------------------------------------------------------- */

static void build_list(struct pawl_context *context, struct pawl_builder *b,
                       struct pawl_json *limits, const char *name, const char *input)
{
    struct pawl_value list = pawl__input(context, input);

    if (pawl__json_len(&list.json) > 0)
        pawl__build(b, limits, name, list.json);
}

static void build_limit(struct pawl_context *context, struct pawl_builder *b,
                        struct pawl_json *limits, const char *name, const char *input)
{
    int64_t most = pawl__input_int(context, input, INT64_MAX);

    if (most != INT64_MAX)
        pawl__build_int(b, limits, name, most);
}

/* Without members where nothing is limited. */
static struct pawl_json limits_of(struct pawl_context *context, struct pawl_builder *b)
{
    struct pawl_json limits = pawl__json_object(), outcomes = pawl__json_array();

    build_limit(context, b, &limits, PAWL_HTTP_LIMIT_REQUEST_SIZE, "RequestSizeLimit");
    build_limit(context, b, &limits, PAWL_HTTP_LIMIT_FILE_SIZE, "FileSizeLimit");
    build_list(context, b, &limits, PAWL_HTTP_LIMIT_ALLOWED, "AllowedFileExtensions");
    build_list(context, b, &limits, PAWL_HTTP_LIMIT_BLOCKED, "BlockedFileExtensions");
    build_list(context, b, &limits, PAWL_HTTP_LIMIT_TYPES, "AllowedMimeTypes");
    if (pawl__json_len(&limits) == 0)
        return limits;
    for (const struct pawl_http_excess *at = pawl__http_excesses; at->status != 0; at++)
        if (pawl__json_true(pawl__input_naked(context, at->flag)))
            pawl__build_append(b, &outcomes, pawl__json_string(pawl__str(at->outcome)));
    if (pawl__json_len(&outcomes) > 0)
        pawl__build(b, &limits, PAWL_HTTP_LIMIT_OUTCOMES, outcomes);
    return limits;
}

static void build_demands(struct pawl_context *context, struct pawl_builder *b,
                          struct pawl_json *payload)
{
    const struct pawl_json *custom =
        pawl__json_get_nocase(context->node->json, pawl__str("customProperties"));
    const struct pawl_json *signature = pawl__json_get_nocase(custom, pawl__str("signature"));
    struct pawl_value timeout = pawl__input(context, "RequestTimeout");
    struct pawl_value size = pawl__input(context, "RequestSizeLimit");
    struct pawl_json limits = limits_of(context, b);

    pawl__build_bool(b, payload, PAWL_HTTP_AUTHORIZE, pawl__input_true(context, "Authorize"));
    pawl__build_text(b, payload, PAWL_HTTP_POLICY,
                     pawl__str_trim(pawl__input_str(context, "Policy")));
    if (!pawl__value_is_null(timeout))
        pawl__build(b, payload, PAWL_HTTP_REQUEST_TIMEOUT, timeout.json);
    if (!pawl__value_is_null(size))
        pawl__build(b, payload, PAWL_HTTP_REQUEST_SIZE_LIMIT, size.json);
    /* One that is not an object is kept too: it cannot be checked, and requests are refused. */
    if (signature && !pawl__json_is(signature, PAWL_JSON_NULL))
        pawl__build(b, payload, PAWL_HTTP_SIGNATURE, *signature);
    if (pawl__json_len(&limits) > 0)
        pawl__build(b, payload, PAWL_HTTP_LIMITS, limits);
}

/* What is waited for, a payload for each method. */
static int make_payloads(struct pawl_context *context, struct pawl_json *out)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_value methods = pawl__input(context, "SupportedMethods");
    struct pawl_str path = pawl__input_str(context, "Path");

    if (pawl__value_is_null(pawl__input(context, "Path")))
        return PAWL_OK;
    for (size_t i = 0; i + 1 < path.len; i++)
        if (path.ptr[i] == '/' && path.ptr[i + 1] == '/')
            return pawl__raise(context, "RoutePatternException",
                               "Path cannot contain double slashes (//)");
    for (uint32_t i = 0; i < pawl__json_len(&methods.json); i++) {
        struct pawl_str method = pawl__json_str(pawl__json_at(&methods.json, i));
        struct pawl_json payload = pawl__http_stimulus(&b, path, pawl__str_trim(method));

        build_demands(context, &b, &payload);
        pawl__http_stimulus_end(&b, &payload);
        pawl__build_append(&b, out, payload);
    }
    return b.status;
}

static int wait_for_request(struct pawl_context *context, bool was_lost)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_json payloads = pawl__json_array(), metadata = pawl__json_null();
    int status = make_payloads(context, &payloads);

    if (was_lost) {
        metadata = pawl__json_object();
        pawl__build_name(&b, &metadata, CROSS_BOUNDARY, "true");
    }
    if (status == PAWL_OK)
        status = b.status;
    for (uint32_t i = 0; status == PAWL_OK && i < pawl__json_len(&payloads); i++) {
        const struct pawl_bookmark_args args = {.name = PAWL_STIMULUS_HTTP_ENDPOINT,
                                                .payload = *pawl__json_at(&payloads, i),
                                                .callback = RESUMED,
                                                .metadata = metadata};

        status = pawl__bookmark_create(context, &args, NULL);
    }
    return status;
}

/* ---- refusing a request ------------------------------------------------------------------- */

/* It is replied to, and the activity does not complete. */
static int refuse(struct pawl_context *context, struct pawl_json *request, int64_t code,
                  struct pawl_json body)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_json reply = pawl__json_object();
    struct pawl_buf text;
    struct pawl_json content = pawl__json_null();
    int status;

    pawl__buf_init(&text, b.arena->alloc, (size_t)1 << 20);
    pawl__json_write(&text, &body, PAWL_JSON_ESCAPE_HTML);
    b.status = text.status;
    if (b.status == PAWL_OK)
        b.status = pawl__json_string_copy(b.arena, pawl__buf_peek(&text), &content);
    pawl__buf_release(&text);
    pawl__build_int(&b, &reply, PAWL_HTTP_STATUS, code);
    pawl__build(&b, &reply, PAWL_HTTP_CONTENT, content);
    status = b.status;
    if (status == PAWL_OK)
        status = pawl__http_reply_header(context, &reply, pawl__str("Content-Type"),
                                         pawl__str("application/json; charset=utf-8"));
    return status == PAWL_OK ? pawl__http_reply(context, request, reply) : status;
}

/* By its outcome, if the activity exposes it. *is_fine false: it has been dealt with. */
static int check_limits(struct pawl_context *context, struct pawl_json *request, bool *is_fine)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_json limits = limits_of(context, &b), body = pawl__json_object();
    const struct pawl_http_excess *excess = pawl__http_exceeds(request, &limits);

    *is_fine = !excess;
    if (!excess)
        return b.status;
    if (b.status == PAWL_OK && pawl__http_has_outcome(&limits, excess))
        return pawl__complete_with(context, excess->outcome);
    pawl__build_name(&b, &body, "message", excess->message);
    return b.status == PAWL_OK ? refuse(context, request, excess->status, body) : b.status;
}

static int64_t size_of(const struct pawl_json *part)
{
    int64_t size = 0;

    (void)pawl__json_to_int(pawl__json_get_text(part, PAWL_HTTP_SIZE), &size);
    return size;
}

/* ---- outputs ------------------------------------------------------------------------------ */

/* {name: [value, …]} as Elsa has it: one value is a text, several are an array. */
static struct pawl_json collapse(struct pawl_builder *b, const struct pawl_json *lists)
{
    struct pawl_json out = pawl__json_object();

    for (uint32_t i = 0; i < pawl__json_len(lists) && b->status == PAWL_OK; i++) {
        const struct pawl_json_member *member = pawl__json_member(lists, i);
        const struct pawl_json *only = pawl__json_at(&member->value, 0);

        b->status = pawl__json_set(b->arena, &out, member->key,
                                   pawl__json_len(&member->value) == 1 ? *only : member->value);
    }
    return out;
}

static struct pawl_value dictionary(struct pawl_json json)
{
    return (struct pawl_value){.json = json, .type = &pawl__type_object_map};
}

static int set_collapsed(struct pawl_context *context, const char *name,
                         const struct pawl_json *lists)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_json json = collapse(&b, lists);

    return b.status == PAWL_OK ? pawl__output_set(context, name, dictionary(json)) : b.status;
}

/* What scripts see of .NET's HttpRequest. */
static int set_result(struct pawl_context *context, const struct pawl_json *request)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_json json = pawl__json_object();
    struct pawl_str type = pawl__http_header(request, "Content-Type");

    pawl__build_text(&b, &json, "Method",
                     pawl__json_str(pawl__json_get_text(request, PAWL_HTTP_METHOD)));
    pawl__build_text(&b, &json, "Path",
                     pawl__json_str(pawl__json_get_text(request, PAWL_HTTP_PATH)));
    pawl__build_text(&b, &json, "Url", pawl__json_str(pawl__json_get_text(request, PAWL_HTTP_URL)));
    pawl__build_text(&b, &json, "Host", pawl__http_header(request, "Host"));
    pawl__build_text(&b, &json, "ContentType", type);
    pawl__build_int(&b, &json, "ContentLength", size_of(request));
    pawl__build(&b, &json, "Headers",
                collapse(&b, pawl__json_get_text(request, PAWL_HTTP_HEADERS)));
    pawl__build(&b, &json, "Query", collapse(&b, pawl__json_get_text(request, PAWL_HTTP_QUERY)));
    pawl__build(&b, &json, "RouteValues",
                pawl__json_get_text(request, PAWL_HTTP_ROUTE)
                    ? *pawl__json_get_text(request, PAWL_HTTP_ROUTE)
                    : pawl__json_object());
    if (b.status != PAWL_OK)
        return b.status;
    return pawl__output_set(context, "Result",
                            (struct pawl_value){.json = json, .type = &request_type});
}

static struct pawl_json file_of(struct pawl_builder *b, const struct pawl_json *part)
{
    struct pawl_json file = pawl__json_object();

    pawl__build_text(b, &file, "Name", pawl__json_str(pawl__json_get_text(part, "name")));
    pawl__build(b, &file, "FileName",
                pawl__json_string(pawl__json_str(pawl__json_get_text(part, PAWL_HTTP_FILE_NAME))));
    pawl__build_text(b, &file, "ContentType",
                     pawl__json_str(pawl__json_get_text(part, PAWL_HTTP_CONTENT_TYPE)));
    pawl__build_int(b, &file, "Length", size_of(part));
    pawl__build(b, &file, "Stream", pawl__http_bytes(b, part).json);
    return file;
}

static int set_files(struct pawl_context *context, const struct pawl_json *parts)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_json files = pawl__json_array();
    int status;

    for (uint32_t i = 0; i < pawl__json_len(parts); i++)
        pawl__build_append(&b, &files, file_of(&b, pawl__json_at(parts, i)));
    if (b.status != PAWL_OK || pawl__json_len(&files) == 0)
        return b.status;
    status =
        pawl__output_set(context, "Files", (struct pawl_value){.json = files, .type = &files_type});
    if (status == PAWL_OK)
        status = pawl__output_set(
            context, "File",
            (struct pawl_value){.json = *pawl__json_at(&files, 0), .type = &file_type});
    return status;
}

static int set_context_outputs(struct pawl_context *context, const struct pawl_json *request)
{
    const struct pawl_json *route = pawl__json_get_text(request, PAWL_HTTP_ROUTE);
    int status = set_result(context, request);

    if (status == PAWL_OK)
        status = pawl__output_set(context, "RouteData",
                                  dictionary(route ? *route : pawl__json_object()));
    if (status == PAWL_OK)
        status = set_collapsed(context, "QueryStringData",
                               pawl__json_get_text(request, PAWL_HTTP_QUERY));
    if (status == PAWL_OK)
        status = set_collapsed(context, "Headers", pawl__json_get_text(request, PAWL_HTTP_HEADERS));
    return status;
}

/* ---- JSON --------------------------------------------------------------------------------- */

/* "/a/0" as .NET names it: "$.a[0]". */
static void write_path(struct pawl_buf *out, const char *pointer)
{
    pawl__buf_byte(out, '$');
    while (*pointer == '/') {
        size_t len = strcspn(++pointer, "/");
        bool is_index = len > 0 && strspn(pointer, "0123456789") == len;

        pawl__buf_byte(out, is_index ? '[' : '.');
        pawl__buf_append(out, pointer, len);
        if (is_index)
            pawl__buf_byte(out, ']');
        pointer += len;
    }
}

/* What is wrong, as Elsa tells its clients. */
static int refuse_json(struct pawl_context *context, struct pawl_json *request,
                       struct pawl_str text, const struct pawl_json_place *place,
                       const struct pawl_error *err)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_json body = pawl__json_object(), path = pawl__json_null();
    const char *what = err->msg, *message;
    struct pawl_buf written;

    if (place->offset >= text.len)
        what = "Expected depth to be zero at the end of the JSON payload. There is an open JSON "
               "object or array that should be closed.";
    pawl__buf_init(&written, b.arena->alloc, sizeof place->pointer * 4);
    write_path(&written, place->offset >= text.len ? "" : place->pointer);
    b.status = written.status;
    if (b.status == PAWL_OK)
        b.status = pawl__json_string_copy(b.arena, pawl__buf_peek(&written), &path);
    pawl__buf_release(&written);
    message = pawl__arena_printf(
        b.arena, "%s Path: %.*s | LineNumber: %u | BytePositionInLine: %u.", what,
        PAWL_STR_ARG(pawl__json_str(&path)), place->line - 1, place->column - 1);
    if (b.status == PAWL_OK && !message)
        b.status = pawl__refused(b.arena);
    if (b.status != PAWL_OK)
        return b.status;
    pawl__build_name(&b, &body, "message", message);
    pawl__build(&b, &body, "path", path);
    pawl__build_int(&b, &body, "lineNumber", place->line - 1);
    return b.status == PAWL_OK ? refuse(context, request, 400, body) : b.status;
}

static bool is_bound(const struct pawl_context *context, const char *name)
{
    const struct pawl_activity *activity = context->node->activity;

    for (uint32_t i = 0; i < activity->output_count; i++)
        if (strcmp(activity->outputs[i].name, name) == 0)
            return context->node->outputs[i].reference.len > 0;
    return false;
}

static bool is_json(struct pawl_str type)
{
    for (size_t i = 0; i + 4 <= type.len; i++)
        if (pawl__str_equal_nocase(pawl__str_slice(type, i, i + 4), pawl__str("json")))
            return true;
    return false;
}

/* JSON is an object to a variable that is not text, and to nobody else. *is_fine false: it was
 * refused. */
static int parse_json(struct pawl_context *context, struct pawl_json *request,
                      struct pawl_value *out, bool *is_fine)
{
    struct pawl_arena *arena = pawl__context_arena(context);
    struct pawl_json_place place = {0};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_json text, value;
    int status = pawl__http_text(arena, request, &text);

    if (status != PAWL_OK)
        return status;
    if (!is_bound(context, "ParsedContent") || pawl__http_wants_text(context, "ParsedContent")) {
        *out = pawl__value_string(pawl__json_str(&text));
        return PAWL_OK;
    }
    status = pawl__json_parse(arena, pawl__json_str(&text), NULL, &value, &place, &err);
    if (status == PAWL_EPARSE || status == PAWL_ELIMIT) {
        *is_fine = false;
        return refuse_json(context, request, pawl__json_str(&text), &place, &err);
    }
    if (status == PAWL_OK)
        *out = pawl__value_from_json(value);
    return status;
}

static int set_content(struct pawl_context *context, struct pawl_json *request, bool *is_fine)
{
    const struct pawl_json *form = pawl__json_get_text(request, PAWL_HTTP_FORM);
    struct pawl_value parsed = pawl__value_null();
    int status = PAWL_OK;

    if (form) {
        status = set_files(context, pawl__json_get_text(request, PAWL_HTTP_FILES));
        return status == PAWL_OK ? set_collapsed(context, "ParsedContent", form) : status;
    }
    if (!pawl__http_has_body(request))
        return PAWL_OK;
    if (is_json(pawl__http_header(request, "Content-Type")))
        status = parse_json(context, request, &parsed, is_fine);
    else
        status = pawl__http_parsed(context, "ParsedContent", request, &parsed);
    if (status != PAWL_OK || !*is_fine)
        return status;
    return pawl__output_set(context, "ParsedContent", parsed);
}

/* ---- the request -------------------------------------------------------------------------- */

/* What was read is not kept. */
static int take(struct pawl_context *context, struct pawl_json *request)
{
    static const char *const read[] = {PAWL_HTTP_CONTENT, PAWL_HTTP_CONTENT_BASE64, PAWL_HTTP_FORM,
                                       PAWL_HTTP_FILES};

    for (size_t i = 0; i < sizeof read / sizeof read[0]; i++)
        (void)pawl__json_remove(request, pawl__str(read[i]));
    return pawl__json_set_text(pawl__context_arena(context), request, TAKEN, pawl__json_bool(true));
}

static int handle(struct pawl_context *context, struct pawl_json *request)
{
    bool is_fine = true;
    int status = set_context_outputs(context, request);

    if (status == PAWL_OK)
        status = check_limits(context, request, &is_fine);
    if (status == PAWL_OK && is_fine)
        status = set_content(context, request, &is_fine);
    if (status == PAWL_OK)
        status = take(context, request);
    return status == PAWL_OK && is_fine ? pawl__complete(context, NULL) : status;
}

static int endpoint_resumed(struct pawl_context *context, const struct pawl_bookmark *bookmark)
{
    struct pawl_json *request = pawl__run_input(context, PAWL_HTTP_REQUEST_INPUT);

    (void)bookmark;
    if (!pawl__json_is(request, PAWL_JSON_OBJECT) || pawl__json_get_text(request, TAKEN))
        return wait_for_request(context, true);
    return handle(context, request);
}

static int endpoint_execute(struct pawl_context *context)
{
    const struct pawl_json *request = pawl__run_input(context, PAWL_HTTP_REQUEST_INPUT);

    if (pawl__is_trigger_of_run(context) && !pawl__json_get_text(request, TAKEN))
        return endpoint_resumed(context, NULL);
    return wait_for_request(context, false);
}

static const struct pawl_resume_callback resumes[] = {
    {RESUMED, endpoint_resumed},
    {NULL, NULL},
};

const struct pawl_activity pawl__activity_http_endpoint = {
    .type = PAWL_STIMULUS_HTTP_ENDPOINT,
    .version = 1,
    .kind = PAWL_ACTIVITY_TRIGGER,
    .category = "HTTP",
    .display_name = "HTTP Endpoint",
    .description = "Waits for an HTTP request.",
    PAWL_INPUTS(inputs),
    PAWL_OUTPUTS(outputs),
    .execute = endpoint_execute,
    .triggers = make_payloads,
    .trigger_name = PAWL_STIMULUS_HTTP_ENDPOINT,
    .resumes = resumes,
};
