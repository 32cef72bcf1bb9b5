/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the data of an HTTP effect to a request, and from its answer to what the instance is fed.
 * Both forms of JSON are described in activities/http_client.h.
 */
#include "runtime/work/request.h"

#include "base/alloc.h"
#include "base/base64.h"
#include "base/error.h"
#include "engine/builder.h"
#include "runtime/bytes.h"
#include "runtime/work/private.h"

/* ---- from the effect to the request -------------------------------------------------------- */

static bool has_header(const struct pawl_json *headers, const char *name)
{
    return pawl__json_get_nocase(headers, pawl__str(name)) != NULL;
}

/* The key of a request that is done twice: visible characters, as a header must have them. */
static struct pawl_str header_text(struct pawl_arena *arena, struct pawl_str s)
{
    static const char digits[] = "0123456789ABCDEF";
    char *to = pawl__arena_alloc_aligned(arena, s.len * 3 + 1, 1);
    size_t len = 0;

    if (!to)
        return pawl__str_make(NULL, 0);
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];

        if (c > ' ' && c < 0x7f && c != '%') {
            to[len++] = (char)c;
            continue;
        }
        to[len++] = '%';
        to[len++] = digits[c >> 4];
        to[len++] = digits[c & 15];
    }
    to[len] = 0;
    return pawl__str_make(to, len);
}

/* Values of all headers, and one each for those that are added. */
static size_t count_headers(const struct pawl_json *headers)
{
    size_t count = 4;

    for (uint32_t i = 0; i < pawl__json_len(headers); i++)
        count += pawl__json_len(&pawl__json_member(headers, i)->value);
    return count;
}

static void add_header(struct pawl_http_request *request, struct pawl_http_header *list,
                       struct pawl_str name, struct pawl_str value)
{
    list[request->header_count++] = (struct pawl_http_header){name, value};
}

static void begin_span(struct runtime_request *r)
{
    const struct pawl_runtime_hooks *hooks = &r->runtime->options.hooks;

    if (!hooks->request_begun)
        return;
    hooks->request_begun(hooks->ctx, r->instance_id, &r->span);
    pawl__traceparent_write(&r->span, r->traceparent);
}

static bool fill_headers(struct runtime_request *r)
{
    struct pawl_str key = header_text(&r->arena, r->effect_id);
    const struct pawl_json *headers = pawl__json_get_text(&r->data, "headers");
    struct pawl_str authorization = runtime_text(&r->data, "authorization");
    struct pawl_str content_type = runtime_text(&r->data, "contentType");
    struct pawl_http_header *list =
        pawl__arena_alloc_array(&r->arena, count_headers(headers), sizeof *list);

    if (!list || !key.ptr)
        return false;
    r->request.headers = list;
    if (content_type.len > 0 && r->request.has_body)
        add_header(&r->request, list, pawl__str("Content-Type"), content_type);
    if (authorization.len > 0 && !has_header(headers, "Authorization"))
        add_header(&r->request, list, pawl__str("Authorization"), authorization);
    if (!has_header(headers, "Idempotency-Key"))
        add_header(&r->request, list, pawl__str("Idempotency-Key"), key);
    if (pawl__trace_is_set(&r->span) && !has_header(headers, "traceparent"))
        add_header(&r->request, list, pawl__str("traceparent"), pawl__str(r->traceparent));
    for (uint32_t i = 0; i < pawl__json_len(headers); i++) {
        const struct pawl_json_member *member = pawl__json_member(headers, i);
        bool twice = r->request.has_body && content_type.len > 0 &&
                     pawl__str_equal_nocase(member->key, pawl__str("Content-Type"));

        for (uint32_t k = 0; k < pawl__json_len(&member->value) && !twice; k++)
            add_header(&r->request, list, member->key,
                       pawl__json_str(pawl__json_at(&member->value, k)));
    }
    return true;
}

static bool fill_body(struct runtime_request *r)
{
    const struct pawl_json *text = pawl__json_get_text(&r->data, "content");
    struct pawl_str encoded = runtime_text(&r->data, "contentBase64");
    unsigned char *bytes;
    size_t len;

    r->request.has_body = text || pawl__json_get_text(&r->data, "contentBase64");
    r->request.body = pawl__json_str(text);
    if (encoded.len == 0)
        return true;
    bytes = pawl__arena_alloc_aligned(&r->arena, encoded.len + 1, 1);
    if (!bytes)
        return false;
    len = pawl__base64_decode(encoded, bytes);
    r->request.body = pawl__str_make((const char *)bytes, len == SIZE_MAX ? 0 : len);
    return true;
}

void pawl__runtime_request_free(struct runtime_request *r)
{
    struct pawl_runtime *runtime;

    if (!r)
        return;
    runtime = r->runtime;
    pawl__arena_release(&r->answer_arena);
    pawl__arena_release(&r->arena);
    pawl__free(&runtime->env->alloc, r, sizeof *r);
}

int pawl__runtime_request_new(struct pawl_runtime *runtime, const struct pawl_work_row *row,
                              const struct pawl_json *data, struct runtime_request **out,
                              struct pawl_error *err)
{
    const struct pawl_allocator *alloc = &runtime->env->alloc;
    struct runtime_request *r = pawl__alloc_zeroed(alloc, sizeof *r);

    if (!r)
        return pawl__error_code(err, PAWL_ENOMEM);
    r->runtime = runtime;
    r->owner = row->owner;
    pawl__arena_init(&r->arena, alloc, RUNTIME_BYTES_MAX);
    pawl__arena_init(&r->answer_arena, alloc, RUNTIME_BYTES_MAX);
    r->id = pawl__arena_str(&r->arena, row->id);
    r->instance_id = pawl__arena_str(&r->arena, row->name);
    r->job_id = pawl__arena_str(&r->arena, row->bookmark_id);
    if (r->id.ptr && r->instance_id.ptr && r->job_id.ptr &&
        pawl__json_copy(&r->arena, data, &r->data) == PAWL_OK) {
        r->request.method = runtime_text(&r->data, "method");
        r->request.url = runtime_text(&r->data, "url");
        r->request.scope = runtime_text(&r->data, RUNTIME_HTTP_SCOPE);
        r->effect_id = runtime_text(&r->data, RUNTIME_HTTP_KEY);
        begin_span(r);
        if (fill_body(r) && fill_headers(r)) {
            *out = r;
            return PAWL_OK;
        }
    }
    pawl__runtime_request_free(r);
    return pawl__error_code(err, PAWL_ENOMEM);
}

/* ---- from the answer to the feed ----------------------------------------------------------- */

static const char *reason_of(enum pawl_http_end end)
{
    switch (end) {
    case PAWL_HTTP_LOST:
        return "lost";
    case PAWL_HTTP_TIMED_OUT:
        return "timeout";
    case PAWL_HTTP_TOO_LARGE:
        return "limit";
    case PAWL_HTTP_DENIED:
        return "denied";
    case PAWL_HTTP_INVALID:
        return "invalid";
    case PAWL_HTTP_CONNECT:
    case PAWL_HTTP_ANSWERED:
    case PAWL_HTTP_CANCELLED:
    case PAWL_HTTP_NO_ROOM:
    default:
        return "connect";
    }
}

/* Text of JSON must be UTF-8 without NULs: what is not is cleaned. */
static struct pawl_str clean(struct pawl_builder *b, struct pawl_str s)
{
    char *to = pawl__arena_alloc_aligned(b->arena, s.len * 3 + 1, 1);
    size_t at = 0, len = 0;

    if (!to) {
        b->status = pawl__arena_status(b->arena);
        return pawl__str("");
    }
    while (at < s.len) {
        uint32_t code = pawl__utf8_next(s, &at);

        len += pawl__utf8_encode(code ? code : 0xfffd, to + len);
    }
    to[len] = 0;
    return pawl__str_make(to, len);
}

static struct pawl_json feed_headers(struct pawl_builder *b, const struct pawl_http_answer *answer)
{
    struct pawl_json headers = pawl__json_object();

    for (size_t i = 0; i < answer->header_count && b->status == PAWL_OK; i++) {
        struct pawl_str name = clean(b, answer->headers[i].name);
        struct pawl_json *values = pawl__json_get_nocase(&headers, name);

        if (!values && b->status == PAWL_OK) {
            b->status = pawl__json_set(b->arena, &headers, name, pawl__json_array());
            values = pawl__json_get_nocase(&headers, name);
        }
        if (values)
            pawl__build_append(b, values, pawl__json_string(clean(b, answer->headers[i].value)));
    }
    return headers;
}

static void feed_body(struct pawl_builder *b, struct pawl_json *feed, struct pawl_str body)
{
    size_t len = pawl__base64_len(body.len);
    char *encoded;

    if (body.len == 0)
        return;
    if (pawl__utf8_valid(body) && !memchr(body.ptr, 0, body.len)) {
        pawl__build_text(b, feed, "content", pawl__arena_str(b->arena, body));
        return;
    }
    encoded = pawl__arena_alloc_aligned(b->arena, len + 1, 1);
    if (!encoded) {
        b->status = pawl__arena_status(b->arena);
        return;
    }
    pawl__base64_encode((const unsigned char *)body.ptr, body.len, encoded);
    encoded[len] = 0;
    pawl__build_text(b, feed, "contentBase64", pawl__str_make(encoded, len));
}

/* With what there is of it when memory runs out: the instance must not wait for ever. */
static void set_feed(struct runtime_request *r, struct pawl_builder *b,
                     const struct pawl_json *feed)
{
    static const char no_memory[] =
        "{\"error\":\"there was no memory for the answer\",\"reason\":\"lost\"}";

    r->feed = pawl__str_make(NULL, 0);
    if (b->status == PAWL_OK && b->arena->status == PAWL_OK)
        r->feed = pawl__runtime_json_text(b->arena, feed);
    if (!r->feed.ptr)
        r->feed = pawl__str(no_memory);
}

void pawl__runtime_request_set_failure(struct runtime_request *r, const char *reason,
                                       const char *message)
{
    struct pawl_builder b = {.arena = &r->answer_arena};
    struct pawl_json feed = pawl__json_object();

    pawl__arena_reset(&r->answer_arena);
    pawl__build_text(&b, &feed, "error", clean(&b, pawl__str(message)));
    pawl__build_name(&b, &feed, "reason", reason);
    set_feed(r, &b, &feed);
}

void pawl__runtime_request_set_answer(struct runtime_request *r,
                                      const struct pawl_http_answer *answer)
{
    struct pawl_builder b = {.arena = &r->answer_arena};
    struct pawl_json feed = pawl__json_object();

    /* Whatever the executor lacked: the server may have it. */
    r->end = answer->end == PAWL_HTTP_NO_ROOM && answer->sent ? PAWL_HTTP_LOST : answer->end;
    r->sent = answer->sent;
    r->status = answer->status;
    if (r->end == PAWL_HTTP_NO_ROOM)
        return; /* nobody is told of it */
    r->failures = 0;
    if (answer->end != PAWL_HTTP_ANSWERED) {
        pawl__runtime_request_set_failure(r, reason_of(r->end), answer->error.msg);
        return;
    }
    pawl__arena_reset(&r->answer_arena);
    pawl__build_int(&b, &feed, "statusCode", answer->status);
    pawl__build_text(&b, &feed, "url", clean(&b, answer->url));
    pawl__build(&b, &feed, "headers", feed_headers(&b, answer));
    feed_body(&b, &feed, answer->body);
    set_feed(r, &b, &feed);
}
