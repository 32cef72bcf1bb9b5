/* SPDX-License-Identifier: Apache-2.0 */
/* A request as a workflow gets it: data, see base/http_message.h. */
#include "api/workflows.h"

#include "base/base64.h"
#include "base/error.h"
#include "base/http_message.h"
#include "http/client.h"
#include "http/multipart.h"

/* "/workflows/{path*}" without what stands in braces. */
struct pawl_str api_workflow_path(const struct api_call *call)
{
    struct pawl_str path = pawl__exchange_path(call->exchange);
    struct pawl_str route = pawl__str(pawl__exchange_route(call->exchange)->path);
    size_t base = pawl__str_find(route, '{', 0);

    base = base == SIZE_MAX || base == 0 ? route.len : base - 1;
    return base <= path.len ? pawl__str_slice(path, base, path.len) : pawl__str("");
}

/* ---- names and values ----------------------------------------------------------------------- */

/* Adds a value to the list that `name` has in `lists`, names compared without case. */
static void add_value(struct pawl_builder *b, struct pawl_json *lists, struct pawl_str name,
                      struct pawl_str value)
{
    struct pawl_json *list = pawl__json_get_nocase(lists, name);
    struct pawl_json text = pawl__json_null(), key = pawl__json_null();

    if (b->status == PAWL_OK)
        b->status = pawl__json_string_copy(b->arena, value, &text);
    if (b->status == PAWL_OK && !list) {
        b->status = pawl__json_string_copy(b->arena, name, &key);
        if (b->status == PAWL_OK)
            b->status = pawl__json_set(b->arena, lists, pawl__json_str(&key), pawl__json_array());
        list = pawl__json_get_nocase(lists, name);
    }
    if (list)
        pawl__build_append(b, list, text);
}

/* As .NET writes them, whatever case a client or a proxy uses; others stay as they are. */
static struct pawl_str known_name(struct pawl_str name)
{
    static const char *const names[] = {
        "Accept",
        "Accept-Charset",
        "Accept-Encoding",
        "Accept-Language",
        "Authorization",
        "Cache-Control",
        "Connection",
        "Content-Disposition",
        "Content-Encoding",
        "Content-Language",
        "Content-Length",
        "Content-Type",
        "Cookie",
        "Date",
        "Expect",
        "Forwarded",
        "From",
        "Host",
        "If-Match",
        "If-Modified-Since",
        "If-None-Match",
        "If-Range",
        "If-Unmodified-Since",
        "Keep-Alive",
        "Origin",
        "Pragma",
        "Range",
        "Referer",
        "TE",
        "Transfer-Encoding",
        "Upgrade",
        "User-Agent",
        "Via",
        "X-Correlation-ID",
        "X-Forwarded-For",
        "X-Forwarded-Host",
        "X-Forwarded-Proto",
        "X-Requested-With",
        "X-Request-ID",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (pawl__str_equal_nocase(name, pawl__str(names[i])))
            return pawl__str(names[i]);
    return name;
}

bool api_is_own_cookie(struct pawl_str cookie)
{
    struct pawl_str name;

    cookie = pawl__str_trim(cookie);
    /* Browsers send "=name=value" back without its first sign. */
    while (cookie.len > 0 && cookie.ptr[0] == '=')
        cookie = pawl__str_trim(pawl__str_slice(cookie, 1, cookie.len));
    name = pawl__str_trim(pawl__str_slice(cookie, 0, pawl__str_find(cookie, '=', 0)));
    return pawl__str_is(name, API_SESSION_COOKIE) || pawl__str_is(name, API_CSRF_COOKIE);
}

/* Without the cookies of the server's own pages. */
static struct pawl_str cut_cookies(struct pawl_builder *b, struct pawl_str value)
{
    char *out = pawl__arena_alloc_aligned(b->arena, 2 * value.len + 1, 1);
    size_t len = 0;

    for (size_t at = 0; out && at < value.len;) {
        size_t end = pawl__str_find(value, ';', at);
        struct pawl_str cookie = pawl__str_trim(pawl__str_slice(value, at, end));

        at = end == SIZE_MAX ? value.len : end + 1;
        if (cookie.len == 0 || api_is_own_cookie(cookie))
            continue;
        if (len > 0) {
            out[len++] = ';';
            out[len++] = ' ';
        }
        memcpy(out + len, cookie.ptr, cookie.len);
        len += cookie.len;
    }
    if (!out)
        b->status = pawl__arena_status(b->arena);
    return out ? pawl__str_make(out, len) : pawl__str("");
}

/* What the server itself knows a caller by is no business of workflows. */
static struct pawl_json headers_of(struct pawl_builder *b, const struct api_call *call)
{
    const struct pawl_exchange *exchange = call->exchange;
    struct pawl_json headers = pawl__json_object();
    size_t count = pawl__exchange_field_count(exchange);

    for (size_t i = 0; i < count; i++) {
        struct pawl_str name, value;

        pawl__exchange_field_at(exchange, i, &name, &value);
        if (call->caller && pawl__str_equal_nocase(name, pawl__str("Authorization")))
            continue;
        if (pawl__str_equal_nocase(name, pawl__str("Cookie"))) {
            value = cut_cookies(b, value);
            if (value.len == 0)
                continue;
        }
        /* Bytes of an old character set are no text. */
        if (pawl__utf8_valid(name) && pawl__utf8_valid(value))
            add_value(b, &headers, known_name(name), value);
    }
    return headers;
}

static struct pawl_json fields_of(struct pawl_builder *b, const struct pawl_query *query)
{
    struct pawl_json fields = pawl__json_object();

    for (size_t i = 0; i < query->count; i++)
        add_value(b, &fields, query->fields[i].name, query->fields[i].value);
    return fields;
}

/* ---- bodies --------------------------------------------------------------------------------- */

/* Text as it is; other bytes in base64. */
static void build_content(struct pawl_builder *b, struct pawl_json *part, struct pawl_str bytes)
{
    struct pawl_json text = pawl__json_null();
    size_t len = pawl__base64_len(bytes.len);
    char *encoded;

    pawl__build_int(b, part, PAWL_HTTP_SIZE, (int64_t)bytes.len);
    if (bytes.len == 0 || b->status != PAWL_OK)
        return;
    if (pawl__utf8_valid(bytes)) {
        b->status = pawl__json_string_copy(b->arena, bytes, &text);
        pawl__build(b, part, PAWL_HTTP_CONTENT, text);
        return;
    }
    encoded = pawl__arena_alloc_aligned(b->arena, len + 1, 1);
    if (!encoded) {
        b->status = pawl__arena_status(b->arena);
        return;
    }
    pawl__base64_encode((const unsigned char *)bytes.ptr, bytes.len, encoded);
    encoded[len] = '\0';
    pawl__build(b, part, PAWL_HTTP_CONTENT_BASE64, pawl__json_string(pawl__str_make(encoded, len)));
}

static bool is_type(struct pawl_str type, const char *wanted)
{
    type = pawl__str_trim(pawl__str_slice(type, 0, pawl__str_find(type, ';', 0)));
    return pawl__str_equal_nocase(type, pawl__str(wanted));
}

static void add_file(struct pawl_builder *b, struct pawl_json *files, const struct pawl_part *part)
{
    struct pawl_json file = pawl__json_object();

    pawl__build_text(b, &file, "name", pawl__arena_str(b->arena, part->name));
    pawl__build(b, &file, PAWL_HTTP_FILE_NAME,
                pawl__json_string(pawl__arena_str(b->arena, part->file_name)));
    if (part->content_type.ptr)
        pawl__build_text(b, &file, PAWL_HTTP_CONTENT_TYPE,
                         pawl__arena_str(b->arena, part->content_type));
    build_content(b, &file, part->content);
    pawl__build_append(b, files, file);
}

static int read_multipart(struct api_call *call, struct pawl_builder *b, struct pawl_json *form,
                          struct pawl_json *files)
{
    struct pawl_multipart multipart;
    struct pawl_part part;
    int status = pawl__multipart_open(pawl__exchange_field(call->exchange, "content-type"),
                                      pawl__exchange_body(call->exchange), &multipart);

    while (status == PAWL_OK && b->status == PAWL_OK) {
        status = pawl__multipart_next(&multipart, &call->arena, &part);
        if (status != PAWL_OK)
            break;
        if (!pawl__utf8_valid(part.name) ||
            (part.file_name.ptr && !pawl__utf8_valid(part.file_name)))
            return PAWL_EPARSE;
        if (part.file_name.ptr)
            add_file(b, files, &part);
        else if (pawl__utf8_valid(part.content))
            add_value(b, form, part.name, part.content);
        else
            return PAWL_EPARSE;
    }
    return status == PAWL_ENOTFOUND ? PAWL_OK : status;
}

static int read_form(struct api_call *call, struct pawl_builder *b, bool parts,
                     struct pawl_json *out)
{
    struct pawl_json form = pawl__json_object(), files = pawl__json_array();
    struct pawl_query fields;
    int status;

    if (parts) {
        status = read_multipart(call, b, &form, &files);
    } else {
        status = pawl__query_parse(pawl__exchange_body(call->exchange), &call->arena, &fields);
        if (status == PAWL_OK)
            form = fields_of(b, &fields);
    }
    if (status == PAWL_ENOMEM)
        return pawl__error_code(&call->err, status);
    if (status != PAWL_OK)
        return pawl__error_set(&call->err, PAWL_EINVAL, "The form cannot be read.");
    pawl__build(b, out, PAWL_HTTP_FORM, form);
    if (pawl__json_len(&files) > 0)
        pawl__build(b, out, PAWL_HTTP_FILES, files);
    return PAWL_OK;
}

static int build_body(struct api_call *call, struct pawl_builder *b, struct pawl_json *out)
{
    struct pawl_str type = pawl__exchange_field(call->exchange, "content-type");
    struct pawl_str body = pawl__exchange_body(call->exchange);
    bool parts = type.ptr && is_type(type, "multipart/form-data");

    if (type.ptr && (parts || is_type(type, "application/x-www-form-urlencoded"))) {
        pawl__build_int(b, out, PAWL_HTTP_SIZE, (int64_t)body.len);
        return read_form(call, b, parts, out);
    }
    build_content(b, out, body);
    return PAWL_OK;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void build_path(struct api_call *call, struct pawl_builder *b, struct pawl_json *out)
{
    struct pawl_str path = api_workflow_path(call);
    struct pawl_str decoded = path;

    /* One that is not well encoded is not matched by any template: it stays as it is. */
    if (pawl__percent_decode(b->arena, path, false, &decoded) != PAWL_OK)
        decoded = pawl__arena_str(b->arena, path);
    pawl__build(b, out, PAWL_HTTP_PATH, pawl__json_string(decoded));
}

static void build_url(struct api_call *call, struct pawl_builder *b, struct pawl_json *out)
{
    struct pawl_str query = pawl__exchange_query(call->exchange);
    struct pawl_json url = pawl__json_null();
    struct pawl_buf text;

    pawl__buf_init(&text, b->arena->alloc, (size_t)1 << 20);
    pawl__exchange_base_url(call->exchange, &text);
    pawl__buf_str(&text, pawl__exchange_path(call->exchange));
    if (query.len > 0) {
        pawl__buf_byte(&text, '?');
        pawl__buf_str(&text, query);
    }
    if (text.status == PAWL_OK && pawl__utf8_valid(pawl__buf_peek(&text)) && b->status == PAWL_OK) {
        b->status = pawl__json_string_copy(b->arena, pawl__buf_peek(&text), &url);
        pawl__build(b, out, PAWL_HTTP_URL, url);
    }
    pawl__buf_release(&text);
}

int api_workflow_request(struct api_call *call, const struct pawl_query *query,
                         struct pawl_json *out)
{
    struct pawl_builder b = {.arena = &call->arena};
    int status;

    *out = pawl__json_object();
    pawl__build_text(&b, out, PAWL_HTTP_METHOD,
                     pawl__arena_str(b.arena, pawl__exchange_method(call->exchange)));
    build_path(call, &b, out);
    build_url(call, &b, out);
    pawl__build(&b, out, PAWL_HTTP_QUERY, fields_of(&b, query));
    pawl__build(&b, out, PAWL_HTTP_HEADERS, headers_of(&b, call));
    if (call->caller)
        pawl__build_text(&b, out, PAWL_HTTP_CALLER, pawl__str(call->actor));
    status = build_body(call, &b, out);
    if (status != PAWL_OK)
        return status;
    if (b.status == PAWL_OK)
        b.status = b.arena->status;
    return b.status == PAWL_OK ? PAWL_OK : pawl__error_code(&call->err, b.status);
}
