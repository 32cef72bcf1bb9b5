/* SPDX-License-Identifier: Apache-2.0 */
/* A request in a handler: its body, its caller, and responses in the shapes of Elsa. */
#include "api/private.h"
#include "base/error.h"

#include <stdio.h>

#define ARENA_MAX ((size_t)64 << 20)
#define WAIT_NS (30 * NS_PER_S)
/* Short documents fit, longer ones grow. No more than the least response_bytes_max. */
#define DOCUMENT_BYTES_USUAL ((size_t)1000)

struct api_request *api_request_of(const struct pawl_exchange *exchange)
{
    return pawl__exchange_owner(exchange);
}

struct api_request *api_request_make(struct pawl_exchange *exchange)
{
    struct api_request *request = api_request_of(exchange);

    if (!request) {
        request = pawl__arena_alloc_zeroed(pawl__exchange_arena(exchange), sizeof *request);
        pawl__exchange_set_owner(exchange, request);
    }
    return request;
}

/* "app:NAME" or "user:NAME", cut to its place. */
static void write_actor(const struct pawl_bearer *caller, char *out, size_t size)
{
    struct pawl_str kind = pawl__str(caller->is_application ? "app:" : "user:");
    size_t room = size - 1 - kind.len;
    size_t len = caller->name.len < room ? caller->name.len : room;

    memcpy(out, kind.ptr, kind.len);
    if (len > 0)
        memcpy(out + kind.len, caller->name.ptr, len);
    out[kind.len + len] = '\0';
}

void api_begin(struct api_call *call, struct pawl_exchange *exchange, void *ctx)
{
    struct pawl_api *api = ctx;
    const struct api_request *request = api_request_of(exchange);
    int64_t deadline_ns = pawl_env_monotonic_ns(api->env) + WAIT_NS;

    *call = (struct api_call){.api = api,
                              .exchange = exchange,
                              .caller = request ? request->bearer : NULL,
                              .err = PAWL_ERROR_INIT};
    atomic_init(&call->users, 1);
    pawl__arena_init(&call->arena, &api->env->alloc, ARENA_MAX);
    if (call->caller)
        write_actor(call->caller, call->actor, sizeof call->actor);
    if (request && pawl__trace_is_set(&request->span))
        pawl__traceparent_write(&request->span, call->traceparent);
    if (pawl__exchange_deadline_ns(exchange) < deadline_ns)
        deadline_ns = pawl__exchange_deadline_ns(exchange);
    call->op = (struct pawl_op){.host = api->host,
                                .arena = &call->arena,
                                .deadline_ns = deadline_ns,
                                .err = &call->err,
                                .log = api->log,
                                .actor = pawl__str(call->actor),
                                .door = pawl__str("http"),
                                .traceparent = pawl__str(call->traceparent),
                                .request_id = pawl__str("")};
}

void api_end(struct api_call *call)
{
    pawl__arena_release(&call->arena);
}

/* ---- bodies --------------------------------------------------------------------------------- */

/* "application/json" and "application/…+json", with parameters or without. */
static bool is_json(struct pawl_str type)
{
    type = pawl__str_trim(pawl__str_slice(type, 0, pawl__str_find(type, ';', 0)));
    return pawl__str_equal_nocase(type, pawl__str("application/json")) ||
           (type.len > 5 && pawl__str_equal_nocase(pawl__str_slice(type, type.len - 5, type.len),
                                                   pawl__str("+json")));
}

const char *api_path(struct pawl_arena *arena, const char *pointer, const char *prefix)
{
    /* Each segment gets longer by one byte at the most: "/0" becomes "[0]". */
    size_t used = strlen(prefix);
    char *out = pawl__arena_alloc(arena, used + strlen(pointer) * 2 + 1);

    if (!out)
        return NULL;
    memcpy(out, prefix, used);
    while (*pointer == '/') {
        size_t len = strcspn(++pointer, "/");
        bool is_index = len > 0 && strspn(pointer, "0123456789") == len;

        if (is_index)
            out[used++] = '[';
        else if (used > 0)
            out[used++] = '.';
        memcpy(out + used, pointer, len);
        used += len;
        pointer += len;
        if (is_index)
            out[used++] = ']';
    }
    out[used] = '\0';
    return out;
}

static void refuse_body(struct api_call *call, const struct pawl_json_place *place)
{
    const char *path = api_path(&call->arena, place->pointer, "");

    api_refuse(call, 400, path && path[0] ? path : "serializerErrors", call->err.msg);
}

static struct pawl_str without_mark(struct pawl_str text)
{
    const struct pawl_str mark = pawl__str("\xEF\xBB\xBF");

    return pawl__str_starts(text, mark) ? pawl__str_slice(text, mark.len, text.len) : text;
}

bool api_has_json(const struct api_call *call)
{
    return is_json(pawl__exchange_field(call->exchange, "content-type")) &&
           pawl__exchange_body(call->exchange).len > 0;
}

bool api_body(struct api_call *call, bool optional, struct pawl_json *out)
{
    struct pawl_json_place place = {0};
    struct pawl_str type = pawl__exchange_field(call->exchange, "content-type");
    struct pawl_str body = pawl__exchange_body(call->exchange);
    int status;

    *out = pawl__json_object();
    if (!type.ptr && body.len == 0 && optional)
        return true;
    if (!is_json(type)) {
        api_respond_status(call, 415);
        return false;
    }
    status = pawl__json_parse(&call->arena, without_mark(body), NULL, out, &place, &call->err);
    if (status == PAWL_OK && pawl__json_type(out) == PAWL_JSON_NULL)
        *out = pawl__json_object();
    if (status == PAWL_OK && !pawl__json_is(out, PAWL_JSON_OBJECT))
        status = pawl__error_set(&call->err, PAWL_EPARSE, "The body must be a JSON object.");
    if (status == PAWL_ENOMEM)
        api_fail(call, status);
    else if (status != PAWL_OK)
        refuse_body(call, &place);
    return status == PAWL_OK;
}

struct pawl_str api_idempotency_key(const struct api_call *call)
{
    struct pawl_str key = pawl__exchange_field(call->exchange, "idempotency-key");

    return key.ptr ? pawl__str_trim(key) : pawl__str("");
}

const struct pawl_json *api_member(const struct pawl_json *object, const char *key)
{
    return pawl__json_get_nocase(object, pawl__str(key));
}

bool api_text(struct api_call *call, const struct pawl_json *body, const char *key,
              struct pawl_str *out)
{
    const struct pawl_json *value = api_member(body, key);
    char detail[160];

    *out = pawl__json_str(value);
    if (pawl__json_is(value, PAWL_JSON_STRING) || pawl__json_type(value) == PAWL_JSON_NULL)
        return true;
    (void)snprintf(detail, sizeof detail, "A string is expected, this is a value of type '%s'.",
                   pawl__json_type_name(value));
    api_refuse(call, 400, key, detail);
    return false;
}

bool api_texts(struct api_call *call, const struct pawl_json *body, const char *key,
               struct pawl_texts *out)
{
    const struct pawl_json *value = api_member(body, key);
    uint32_t len = pawl__json_len(value);
    struct pawl_str *texts = pawl__arena_alloc_array(&call->arena, (size_t)len + 1, sizeof *texts);
    bool right = pawl__json_type(value) == PAWL_JSON_NULL || pawl__json_is(value, PAWL_JSON_ARRAY);

    if (!texts) {
        api_fail(call, PAWL_ENOMEM);
        return false;
    }
    for (uint32_t i = 0; i < len && right; i++) {
        right = pawl__json_is(pawl__json_at(value, i), PAWL_JSON_STRING);
        texts[i] = pawl__json_str(pawl__json_at(value, i));
    }
    *out = (struct pawl_texts){texts, len};
    if (right && len <= PAWL_IDENTITY_TEXTS_MAX)
        return true;
    api_refuse(call, 400, key, "An array of strings is expected, 200 at the most.");
    return false;
}

/* ---- responses ------------------------------------------------------------------------------ */

void api_respond_status(struct api_call *call, int status)
{
    pawl__exchange_respond(call->exchange, status);
}

void api_respond(struct api_call *call, const struct pawl_builder *b, const struct pawl_json *json)
{
    api_respond_with(call, 200, b, json);
}

void api_respond_with(struct api_call *call, int status, const struct pawl_builder *b,
                      const struct pawl_json *json)
{
    api_respond_as(call, status, API_JSON, b, json);
}

void api_respond_as(struct api_call *call, int status, const char *content_type,
                    const struct pawl_builder *b, const struct pawl_json *json)
{
    if (b->status != PAWL_OK) {
        api_fail(call, b->status);
        return;
    }
    (void)pawl__buf_reserve(pawl__exchange_out(call->exchange), DOCUMENT_BYTES_USUAL);
    pawl__json_write(pawl__exchange_out(call->exchange), json, PAWL_JSON_ESCAPE_HTML);
    pawl__exchange_add_field(call->exchange, "Content-Type", content_type);
    pawl__exchange_add_field(call->exchange, "Cache-Control", "no-store");
    pawl__exchange_respond(call->exchange, status);
}

void api_refuse_all(struct api_call *call, int status, const struct api_fault *faults, size_t count)
{
    struct pawl_json_writer json;

    pawl__json_writer_init(&json, pawl__exchange_out(call->exchange), PAWL_JSON_ESCAPE_HTML, 0);
    pawl__json_write_begin_object(&json);
    pawl__json_write_key_text(&json, "statusCode");
    pawl__json_write_int(&json, status);
    pawl__json_write_key_text(&json, "message");
    pawl__json_write_string_text(&json, "One or more errors occurred!");
    pawl__json_write_key_text(&json, "errors");
    pawl__json_write_begin_object(&json);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(faults[i].key, faults[i - 1].key) != 0) {
            pawl__json_write_key_text(&json, faults[i].key);
            pawl__json_write_begin_array(&json);
        }
        pawl__json_write_string_text(&json, faults[i].detail);
        if (i + 1 == count || strcmp(faults[i].key, faults[i + 1].key) != 0)
            pawl__json_write_end_array(&json);
    }
    pawl__json_write_end_object(&json);
    pawl__json_write_end_object(&json);
    pawl__exchange_add_field(call->exchange, "Content-Type", "application/problem+json");
    pawl__exchange_respond(call->exchange, status);
}

void api_refuse(struct api_call *call, int status, const char *key, const char *detail)
{
    api_refuse_all(call, status, &(struct api_fault){key, detail}, 1);
}

static int status_of(int code)
{
    switch (code) {
    case PAWL_ENOTFOUND:
        return 404;
    case PAWL_EEXISTS:
    case PAWL_ECONFLICT:
        return 409;
    case PAWL_EPERM:
        return 403;
    case PAWL_ETIMEDOUT:
        return 504;
    default:
        break;
    }
    if (pawl_error_class(code) == PAWL_CLASS_CALLER)
        return 400;
    return pawl_error_class(code) == PAWL_CLASS_TRANSIENT ? 503 : 500;
}

/* What a caller can do something about is said to the caller, the rest to the log. */
void api_fail(struct api_call *call, int code)
{
    int status = status_of(code);

    if (call->err.code != code || call->err.msg[0] == '\0')
        (void)pawl__error_code(&call->err, code);
    if (status >= 500)
        pawl_log(call->api->log, PAWL_LOG_ERROR, "request failed",
                 pawl_log_text("route", pawl__exchange_route(call->exchange)->path),
                 pawl_log_error("error", &call->err));
    if (status == 503)
        pawl__exchange_add_field(call->exchange, "Retry-After", "1");
    if (code == PAWL_EEXISTS) /* as recorded: the name that was given says it all */
        api_refuse_all(call, status, NULL, 0);
    else if (status == 400 || status == 409)
        api_refuse(call, status, "generalErrors", call->err.msg);
    else if (status >= 500 && pawl_error_class(code) == PAWL_CLASS_UNKNOWN)
        pawl__exchange_refuse(call->exchange, status, call->err.msg);
    else if (status == 504)
        pawl__exchange_refuse(call->exchange, status,
                              "It took too long: the log of the server says why. Check whether it "
                              "took effect before you try again.");
    else if (status >= 500)
        pawl__exchange_refuse(call->exchange, status,
                              "The request failed; the log of the server says why.");
    else
        api_respond_status(call, status);
}
