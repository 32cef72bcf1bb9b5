/* SPDX-License-Identifier: Apache-2.0 */
/* Workflows as HTTP endpoints; see endpoints.h. */
#include "operations/endpoints.h"

#include "base/error.h"
#include "base/hash/sha256.h"
#include "base/http_limits.h"
#include "base/http_message.h"
#include "base/json/builder.h"
#include "base/time/duration.h"
#include "host/host.h"
#include "operations/instances_private.h"
#include "runtime/node/replies.h"
#include "runtime/work/endpoint.h"

/* Of a fingerprint: so many that two requests never have the same by chance. */
#define FINGERPRINT_DIGITS 32
/* Of the hash of an endpoint, in the key of a request. */
#define SCOPE_DIGITS 16
/* Of a caller's key: as everywhere; and up to here it is stored as it is. */
#define KEY_BYTES_MAX 1000
#define KEY_BYTES_PLAIN 900

static struct pawl_str text_of(const struct pawl_json *object, const char *key)
{
    return pawl__json_str(pawl__json_get_text(object, key));
}

/* ---- finding ------------------------------------------------------------------------------- */

static int64_t timeout_of(const struct pawl_json *payload)
{
    int64_t ticks = 0;

    if (pawl__duration_parse(text_of(payload, PAWL_HTTP_REQUEST_TIMEOUT), &ticks, NULL) !=
            PAWL_OK ||
        ticks <= 0)
        return 0;
    return ticks < INT64_MAX / 100 ? ticks * 100 : INT64_MAX;
}

static void read_demands(const struct pawl_json *payload, struct pawl_endpoint *out)
{
    const struct pawl_json *signature = pawl__json_get_text(payload, PAWL_HTTP_SIGNATURE);
    const struct pawl_json *limits = pawl__json_get_text(payload, PAWL_HTTP_LIMITS);

    out->authorize = pawl__json_true(pawl__json_get_text(payload, PAWL_HTTP_AUTHORIZE));
    out->policy = text_of(payload, PAWL_HTTP_POLICY);
    out->timeout_ns = timeout_of(payload);
    out->signature = signature ? *signature : pawl__json_null();
    out->limits = limits ? *limits : pawl__json_null();
}

int pawl__op_endpoint_find(const struct pawl_op *op, const struct pawl_endpoint_question *question,
                           struct pawl_endpoint *out)
{
    const struct runtime_endpoint_question asked = {.method = question->method,
                                                    .path = question->path,
                                                    .instance_id = question->instance_id,
                                                    .correlation_id = question->correlation_id};
    struct runtime_endpoint found;
    int status = pawl__runtime_find_endpoint(op_runtime(op), &asked, op->arena, &found,
                                             op->deadline_ns, op->err);

    if (status != PAWL_OK)
        return status;
    *out = (struct pawl_endpoint){
        .template = found.template,
        .route = found.route,
        .hash = found.hash,
        .is_trigger = found.is_trigger,
        .correlation_id = question->correlation_id,
    };
    if (found.is_trigger) {
        out->definition_id = found.trigger.definition_id;
        out->version_id = found.trigger.version_id;
        out->activity_id = found.trigger.activity_id;
        out->instance_id = question->instance_id;
        out->bookmark_id = pawl__str("");
    } else {
        out->definition_id = out->version_id = out->activity_id = pawl__str("");
        out->instance_id = found.bookmark.instance_id;
        out->bookmark_id = found.bookmark.id;
        out->bookmark_created_us = found.bookmark.created_us;
    }
    read_demands(&found.payload, out);
    return PAWL_OK;
}

/* ---- delivering ---------------------------------------------------------------------------- */

/* A request on its way. */
struct sending {
    const struct pawl_op *op;
    const struct pawl_endpoint *endpoint;
    struct pawl_json input;
    struct pawl_str key; /* with its scope; "": none */
    struct pawl_str fingerprint;
    struct pawl_str address;
    pawl_endpoint_done_fn *done;
    void *ctx;
};

/* What is the same when a client sends it again, and hardly ever of another request. */
static int make_fingerprint(struct sending *s, const struct pawl_json *request)
{
    static const char *const parts[] = {
        PAWL_HTTP_METHOD, PAWL_HTTP_PATH,           PAWL_HTTP_QUERY, PAWL_HTTP_CONTENT,
        PAWL_HTTP_FORM,   PAWL_HTTP_CONTENT_BASE64, PAWL_HTTP_FILES, PAWL_HTTP_CALLER};
    /* Whom it is for, and from whom: one that the server knows is in PAWL_HTTP_CALLER. */
    static const char *const fields[] = {"X-Workflow-Instance-Id", "X-Correlation-ID",
                                         "Authorization"};
    const struct pawl_json *headers = pawl__json_get_text(request, PAWL_HTTP_HEADERS);
    struct pawl_buf text;
    char digest[PAWL_SHA256_TEXT_SIZE];
    int status;

    pawl__buf_init(&text, &op_env(s->op)->alloc, (size_t)1 << 30);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const struct pawl_json *field = pawl__json_get_nocase(headers, pawl__str(fields[i]));

        if (field)
            pawl__json_write(&text, field, 0);
        pawl__buf_byte(&text, '\n');
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const struct pawl_json *part = pawl__json_get_text(request, parts[i]);

        if (part)
            pawl__json_write(&text, part, 0);
        pawl__buf_byte(&text, '\n');
    }
    status = text.status;
    if (status == PAWL_OK) {
        pawl__sha256_text(pawl__buf_peek(&text), PAWL_HEX_LOWER, digest);
        s->fingerprint = pawl__arena_str(s->op->arena, pawl__str_make(digest, FINGERPRINT_DIGITS));
        status = s->op->arena->status;
    }
    pawl__buf_release(&text);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(s->op->err, status);
}

/* The key is the endpoint's: another one may have the same. A long one is its hash, so that it is
 * no longer with what is put before it. */
static int make_key(struct sending *s, const struct pawl_json *request, struct pawl_str key)
{
    struct pawl_str scope = pawl__str_slice(s->endpoint->hash, 0, SCOPE_DIGITS);
    char digest[PAWL_SHA256_TEXT_SIZE];
    char mark = ':';

    s->key = s->fingerprint = pawl__str("");
    if (key.len == 0)
        return PAWL_OK;
    if (key.len > KEY_BYTES_MAX)
        return pawl__error_set(s->op->err, PAWL_EINVAL,
                               "an idempotency key has at most %d bytes, not %zu", KEY_BYTES_MAX,
                               key.len);
    if (key.len > KEY_BYTES_PLAIN) {
        pawl__sha256_text(key, PAWL_HEX_LOWER, digest);
        key = pawl__str(digest);
        mark = '#';
    }
    s->key = pawl__str(pawl__arena_printf(s->op->arena, "http%c%.*s:%.*s", mark,
                                          PAWL_STR_ARG(scope), PAWL_STR_ARG(key)));
    return s->key.len > 0 ? make_fingerprint(s, request)
                          : pawl__error_code(s->op->err, pawl__arena_status(s->op->arena));
}

/* What was demanded of the request: whoever takes it demands the same. */
static struct pawl_json demands_of(struct pawl_builder *b, const struct pawl_endpoint *endpoint)
{
    struct pawl_json demands = pawl__json_object();

    pawl__build_bool(b, &demands, PAWL_HTTP_AUTHORIZE, endpoint->authorize);
    pawl__build_text(b, &demands, PAWL_HTTP_POLICY, endpoint->policy);
    pawl__build(b, &demands, PAWL_HTTP_SIGNATURE, endpoint->signature);
    return demands;
}

/* What Elsa gives its workflows, and the request itself. */
static int make_input(struct sending *s, const struct pawl_json *given)
{
    struct pawl_builder b = {.arena = s->op->arena};
    struct pawl_json request = pawl__json_object();

    for (uint32_t i = 0; i < pawl__json_len(given) && b.status == PAWL_OK; i++) {
        const struct pawl_json_member *member = pawl__json_member(given, i);

        b.status = pawl__json_set(b.arena, &request, member->key, member->value);
    }
    pawl__build_text(&b, &request, PAWL_HTTP_TEMPLATE, s->endpoint->template);
    pawl__build(&b, &request, PAWL_HTTP_ROUTE, s->endpoint->route);
    pawl__build(&b, &request, PAWL_HTTP_DEMANDS, demands_of(&b, s->endpoint));
    pawl__build_text(&b, &request, PAWL_HTTP_REPLY_TO, s->address);
    pawl__build_text(&b, &request, PAWL_HTTP_KEY, s->key);
    pawl__build_text(&b, &request, PAWL_HTTP_FINGERPRINT, s->fingerprint);
    s->input = pawl__json_object();
    pawl__build_bool(&b, &s->input, PAWL_HTTP_CONTEXT_INPUT, true);
    pawl__build_text(&b, &s->input, PAWL_HTTP_PATH_INPUT, text_of(given, PAWL_HTTP_PATH));
    pawl__build(&b, &s->input, PAWL_HTTP_REQUEST_INPUT, request);
    return b.status == PAWL_OK ? PAWL_OK : pawl__error_code(s->op->err, b.status);
}

/* The reply that a request with this key got. PAWL_ENOTFOUND: none yet. */
static int find_kept(struct sending *s, struct pawl_kept_reply *out)
{
    const struct pawl_json *reply, *demands;
    struct pawl_json kept;
    int status = pawl__runtime_find_kept_reply(op_runtime(s->op), s->key, s->op->arena, &kept,
                                               s->op->deadline_ns, s->op->err);

    if (status != PAWL_OK)
        return status;
    if (!pawl__str_equal(text_of(&kept, PAWL_HTTP_FINGERPRINT), s->fingerprint))
        return pawl__error_set(s->op->err, PAWL_EEXISTS,
                               "The Idempotency-Key was used for another request.");
    reply = pawl__json_get_text(&kept, PAWL_HTTP_REPLY);
    demands = pawl__json_get_text(&kept, PAWL_HTTP_DEMANDS);
    if (!reply)
        return pawl__error_set(s->op->err, PAWL_EEXISTS,
                               "The request with this Idempotency-Key was replied to, once. The "
                               "reply was too large to be kept.");
    if (!demands)
        return pawl__error_set(s->op->err, PAWL_EEXISTS,
                               "The request with this Idempotency-Key was replied to, once. An "
                               "earlier version kept the reply, and not who may have it.");
    *out = (struct pawl_kept_reply){.reply = *reply};
    read_demands(demands, &out->demands);
    return PAWL_OK;
}

static bool demands_the_same(const struct pawl_endpoint *a, const struct pawl_endpoint *b)
{
    return a->authorize == b->authorize && pawl__str_equal(a->policy, b->policy) &&
           pawl__json_equal(&a->signature, &b->signature);
}

/* The key was used: nothing was sent now. */
static int send_kept(struct sending *s)
{
    struct pawl_kept_reply kept;
    int status = find_kept(s, &kept);

    /* What was checked of this request is what the endpoint demands now. Sent again, it is checked
     * for what the reply demands. */
    if (status == PAWL_ENOTFOUND ||
        (status == PAWL_OK && !demands_the_same(&kept.demands, s->endpoint)))
        return pawl__error_set(s->op->err, PAWL_ECONFLICT,
                               "A request with this Idempotency-Key has not been replied to yet.");
    if (status == PAWL_OK && pawl__replies_forget(op_runtime(s->op), s->address))
        s->done(s->ctx, PAWL_OK, &kept.reply);
    return status;
}

/* It was delivered by a commit whose outcome was unknown. A reply that this commit had has not
 * left; with a key it was kept. Else it is still to come. */
static int send_if_kept(struct sending *s)
{
    struct pawl_kept_reply kept;

    if (s->key.len > 0 && find_kept(s, &kept) == PAWL_OK &&
        pawl__replies_forget(op_runtime(s->op), s->address))
        s->done(s->ctx, PAWL_OK, &kept.reply);
    return PAWL_OK;
}

static int start(struct sending *s)
{
    const struct pawl_instance_start request = {
        .what = {.version_id = s->endpoint->version_id,
                 .instance_id = s->endpoint->instance_id,
                 .correlation_id = s->endpoint->correlation_id,
                 .trigger_activity_id = s->endpoint->activity_id,
                 .input = s->input,
                 .idempotency_key = s->key,
                 .fingerprint = s->fingerprint,
                 .judged = true,
                 .is_request = true},
    };
    struct pawl_outcome outcome;
    int status = op_start(s->op, &request, true, NULL, &outcome);

    if (status == PAWL_OK && outcome.existed)
        return send_kept(s);
    if (status == PAWL_OK && outcome.refused)
        return pawl__error_set(s->op->err, PAWL_EEXISTS,
                               "The activation strategy of the workflow does not allow another "
                               "instance.");
    return status;
}

static int resume(struct sending *s)
{
    const struct pawl_stimulus stimulus = {
        .hash = s->endpoint->hash,
        .correlation_id = s->endpoint->correlation_id,
        .instance_id = s->endpoint->instance_id,
        .bookmark_id = s->endpoint->bookmark_id,
        .bookmark_created_us = s->endpoint->bookmark_created_us,
        .input = s->input,
        .idempotency_key = s->key,
        .traceparent = s->op->traceparent,
        .first_wins = true,
        .is_request = true,
    };
    struct pawl_sent sent = {0};
    int status =
        pawl__runtime_send(op_runtime(s->op), &stimulus, &sent, s->op->deadline_ns, s->op->err);

    if (status == PAWL_OK && sent.was_settled)
        return send_if_kept(s);
    return status == PAWL_OK && sent.was_sent ? send_kept(s) : status;
}

static int64_t deadline_of(const struct pawl_op *op, const struct pawl_endpoint *endpoint)
{
    int64_t now_ns = pawl_env_monotonic_ns(op_env(op)), timeout_ns = endpoint->timeout_ns;

    if (timeout_ns <= 0)
        timeout_ns = pawl__configuration_number(pawl__host_configuration(op->host),
                                                PAWL_SETTING_ID_ENDPOINTS_TIMEOUT);
    return timeout_ns < PAWL_FOREVER - now_ns ? now_ns + timeout_ns : PAWL_FOREVER;
}

/* As HttpEndpoint refuses it. */
static int refuse_excess(struct sending *s, const struct pawl_http_excess *excess)
{
    struct pawl_builder b = {.arena = s->op->arena};
    struct pawl_json reply = pawl__json_object(), headers = pawl__json_array(),
                     header = pawl__json_array();
    const char *body = pawl__arena_printf(b.arena, "{\"message\":\"%s\"}", excess->message);

    pawl__build_append(&b, &header, pawl__json_string(pawl__str("Content-Type")));
    pawl__build_append(&b, &header,
                       pawl__json_string(pawl__str("application/json; charset=utf-8")));
    pawl__build_append(&b, &headers, header);
    pawl__build_int(&b, &reply, PAWL_HTTP_STATUS, excess->status);
    pawl__build(&b, &reply, PAWL_HTTP_HEADERS, headers);
    pawl__build(&b, &reply, PAWL_HTTP_CONTENT, pawl__json_string(pawl__str(body ? body : "")));
    if (b.status != PAWL_OK)
        return pawl__error_code(s->op->err, b.status);
    s->done(s->ctx, PAWL_OK, &reply);
    return PAWL_OK;
}

int pawl__op_endpoint_request(const struct pawl_op *op, const struct pawl_endpoint *endpoint,
                              const struct pawl_json *request, struct pawl_str key,
                              pawl_endpoint_done_fn *done, void *ctx)
{
    const struct pawl_reply_wait wait = {
        .deadline_ns = deadline_of(op, endpoint), .done = done, .ctx = ctx};
    struct sending s = {.op = op, .endpoint = endpoint, .done = done, .ctx = ctx};
    const struct pawl_http_excess *excess = pawl__http_exceeds(request, &endpoint->limits);
    char address[PAWL_REPLY_ADDRESS_SIZE];
    int status;

    /* A wait is not used up by it. One that starts an instance does so, as in Elsa. */
    if (excess && !endpoint->is_trigger && !pawl__http_has_outcome(&endpoint->limits, excess))
        return refuse_excess(&s, excess);
    status = make_key(&s, request, key);
    if (status == PAWL_OK)
        status = pawl__replies_expect(op_runtime(op), &wait, address, op->err);
    if (status != PAWL_OK)
        return status;
    s.address = pawl__str(address);
    status = make_input(&s, request);
    if (status == PAWL_OK)
        status = endpoint->is_trigger ? start(&s) : resume(&s);
    /* It may be mail by now, or have yielded: it is looked for at once. */
    if (status == PAWL_OK)
        pawl__replies_watch(op_runtime(op), s.address);
    /* Whoever waits there no longer was told something already. */
    if (status != PAWL_OK && !pawl__replies_forget(op_runtime(op), s.address))
        return PAWL_OK;
    return status;
}

int pawl__op_endpoint_kept(const struct pawl_op *op, const struct pawl_endpoint_question *question,
                           struct pawl_str hash, const struct pawl_json *request,
                           struct pawl_str key, struct pawl_kept_reply *out)
{
    const struct runtime_endpoint_question asked = {.method = question->method,
                                                    .path = question->path};
    struct pawl_endpoint endpoint = {.is_trigger = false};
    struct sending s = {.op = op, .endpoint = &endpoint};
    struct pawl_str *hashes = &hash;
    size_t count = 1;
    int status = PAWL_OK, found = PAWL_ENOTFOUND;

    if (hash.len == 0)
        status = pawl__runtime_endpoint_hashes(op_runtime(op), &asked, op->arena, &hashes, &count,
                                               op->deadline_ns, op->err);
    for (size_t i = 0; status == PAWL_OK && found == PAWL_ENOTFOUND && i < count; i++) {
        endpoint.hash = hashes[i];
        status = make_key(&s, request, key);
        if (status == PAWL_OK)
            found = find_kept(&s, out);
    }
    return status == PAWL_OK ? found : status;
}
