/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tracer; see tracer.h. Spans are JSON texts in one buffer, apart by commas; the thread takes
 * the buffer as a whole, puts the resource around it and sends it.
 */
#include "host/tracer.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/json/json.h"
#include "drivers/curl.h"
#include "host/meter.h"

#include <pawl/version.h>
#include <stdio.h>

#define NS_PER_MS INT64_C(1000000)
#define QUEUE_BYTES_MAX ((size_t)8 << 20)
#define SPAN_BYTES_MAX ((size_t)64 << 10)
#define HEADERS_MAX 16
#define TEXT_MAX 1024
/* Tries of one batch: a collector that restarts loses nothing. */
#define TRIES_MAX 4

struct pawl_tracer {
    struct pawl_env *env;
    struct pawl_meter *meter;
    const struct pawl_log *log;
    struct pawl_http_executor *http;
    char url[TEXT_MAX], service[256], resource[TEXT_MAX], headers_text[TEXT_MAX];
    struct pawl_http_header headers[HEADERS_MAX];
    size_t header_count;
    int64_t delay_ns, timeout_ns;
    uint32_t queue_max, batch_max;
    uint64_t sample_below;    /* of the trace id's last 8 bytes; UINT64_MAX: all */
    struct pawl_mutex *mutex; /* guards the rest; nothing else is locked under it */
    struct pawl_cond *changed;
    struct pawl_thread *thread;
    struct pawl_buf queue;
    uint32_t queued;
    bool stopping, responded;
    struct pawl_http_answer answer; /* of the last request: end and status alone */
};

/* ---- configuration -------------------------------------------------------------------------- */

static const char *text_of(const char *(*variable)(const char *name), const char *name,
                           const char *fallback)
{
    const char *text = variable(name);

    return text && text[0] ? text : fallback;
}

static int number_of(const char *(*variable)(const char *name), const char *name, int64_t fallback,
                     int64_t *out, struct pawl_error *err)
{
    const char *text = text_of(variable, name, NULL);
    int64_t value = 0;

    *out = fallback;
    if (!text)
        return PAWL_OK;
    for (const char *at = text; *at; at++) {
        if (*at < '0' || *at > '9' || value > 100000000)
            return pawl__error_set(err, PAWL_EINVAL, "%s is a number, not '%s'", name, text);
        value = value * 10 + (*at - '0');
    }
    *out = value;
    return PAWL_OK;
}

/* "traceidratio" and "parentbased_traceidratio" with the argument; "…always_off"; else all. */
static void read_sampler(struct pawl_tracer *tracer, const char *(*variable)(const char *name))
{
    const char *sampler = text_of(variable, "OTEL_TRACES_SAMPLER", "");
    const char *argument = text_of(variable, "OTEL_TRACES_SAMPLER_ARG", "1");
    double ratio = 0, place = 1;
    bool behind = false;

    tracer->sample_below = UINT64_MAX;
    if (strstr(sampler, "always_off"))
        tracer->sample_below = 0;
    if (!strstr(sampler, "traceidratio"))
        return;
    for (; *argument; argument++) {
        if (*argument == '.') {
            behind = true;
        } else if (*argument >= '0' && *argument <= '9') {
            place = behind ? place / 10 : place;
            ratio = behind ? ratio + (*argument - '0') * place : ratio * 10 + (*argument - '0');
        }
    }
    if (ratio < 1)
        tracer->sample_below = (uint64_t)(ratio * 18446744073709549568.0);
}

/* "a=1,b=2": of every request. */
static void read_headers(struct pawl_tracer *tracer, const char *text)
{
    char *at = tracer->headers_text;

    (void)snprintf(tracer->headers_text, sizeof tracer->headers_text, "%s", text);
    tracer->headers[tracer->header_count++] =
        (struct pawl_http_header){pawl__str("Content-Type"), pawl__str("application/json")};
    while (*at && tracer->header_count < HEADERS_MAX) {
        size_t len = strcspn(at, ",");
        struct pawl_str pair = pawl__str_make(at, len);
        size_t equals = pawl__str_find(pair, '=', 0);

        if (equals != SIZE_MAX)
            tracer->headers[tracer->header_count++] = (struct pawl_http_header){
                pawl__str_trim(pawl__str_slice(pair, 0, equals)),
                pawl__str_trim(pawl__str_slice(pair, equals + 1, pair.len))};
        at += len + (at[len] ? 1 : 0);
    }
}

static int read_numbers(struct pawl_tracer *tracer, const char *(*variable)(const char *name),
                        struct pawl_error *err)
{
    int64_t delay_ms, timeout_ms, queue, batch;
    int status = number_of(variable, "OTEL_BSP_SCHEDULE_DELAY", 5000, &delay_ms, err);

    if (status == PAWL_OK)
        status = number_of(variable, "OTEL_EXPORTER_OTLP_TIMEOUT", 10000, &timeout_ms, err);
    if (status == PAWL_OK)
        status = number_of(variable, "OTEL_BSP_MAX_QUEUE_SIZE", 2048, &queue, err);
    if (status == PAWL_OK)
        status = number_of(variable, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512, &batch, err);
    if (status != PAWL_OK)
        return status;
    tracer->delay_ns = delay_ms * NS_PER_MS;
    tracer->timeout_ns = timeout_ms * NS_PER_MS;
    tracer->queue_max = (uint32_t)queue;
    tracer->batch_max = (uint32_t)batch;
    return PAWL_OK;
}

/* The endpoint of traces, as it is; or that of everything, with "/v1/traces". */
static bool read_endpoint(struct pawl_tracer *tracer, const char *(*variable)(const char *name))
{
    const char *own = text_of(variable, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", NULL);
    const char *all = text_of(variable, "OTEL_EXPORTER_OTLP_ENDPOINT", NULL);
    const char *disabled = text_of(variable, "OTEL_SDK_DISABLED", "false");
    const char *exporter = text_of(variable, "OTEL_TRACES_EXPORTER", "otlp");

    if ((!own && !all) || strcmp(disabled, "true") == 0 || strcmp(exporter, "none") == 0)
        return false;
    if (own)
        (void)snprintf(tracer->url, sizeof tracer->url, "%s", own);
    else
        (void)snprintf(tracer->url, sizeof tracer->url, "%s%sv1/traces", all,
                       all[strlen(all) - 1] == '/' ? "" : "/");
    return true;
}

/* ---- spans ---------------------------------------------------------------------------------- */

bool pawl__tracer_samples(const struct pawl_tracer *tracer,
                          const struct pawl_trace_context *context)
{
    uint64_t number = 0;

    if (!tracer || !(context->flags & PAWL_TRACE_SAMPLED))
        return false;
    for (size_t i = 8; i < sizeof context->trace_id; i++)
        number = number << 8 | context->trace_id[i];
    return tracer->sample_below == UINT64_MAX || number < tracer->sample_below;
}

void pawl__tracer_new_span(struct pawl_tracer *tracer, unsigned char span_id[8])
{
    if (!tracer || pawl_env_entropy(tracer->env, span_id, 8, NULL) != PAWL_OK)
        memset(span_id, 1, 8);
}

void pawl__tracer_new_trace(struct pawl_tracer *tracer, struct pawl_trace_context *out)
{
    *out = (struct pawl_trace_context){.flags = PAWL_TRACE_SAMPLED};
    if (!tracer ||
        pawl_env_entropy(tracer->env, out->trace_id, sizeof out->trace_id, NULL) != PAWL_OK)
        memset(out->trace_id, 1, sizeof out->trace_id);
    pawl__tracer_new_span(tracer, out->span_id);
}

static void write_hex(struct pawl_json_writer *json, const char *key, const unsigned char *bytes,
                      size_t count)
{
    char digits[40] = {0};

    pawl__hex_encode(bytes, count, PAWL_HEX_LOWER, digits);
    pawl__json_write_key_text(json, key);
    pawl__json_write_string_text(json, digits);
}

/* 64-bit numbers are strings in OTLP's JSON. */
static void write_number(struct pawl_json_writer *json, const char *key, int64_t value)
{
    char text[24];

    (void)snprintf(text, sizeof text, "%lld", (long long)value);
    pawl__json_write_key_text(json, key);
    pawl__json_write_string_text(json, text);
}

static void write_attribute(struct pawl_json_writer *json, const struct pawl_span_attribute *one)
{
    pawl__json_write_begin_object(json);
    pawl__json_write_key_text(json, "key");
    pawl__json_write_string_text(json, one->key);
    pawl__json_write_key_text(json, "value");
    pawl__json_write_begin_object(json);
    if (one->is_number) {
        write_number(json, "intValue", one->number);
    } else {
        pawl__json_write_key_text(json, "stringValue");
        pawl__json_write_string(json, pawl__utf8_cut(one->text, TEXT_MAX));
    }
    pawl__json_write_end_object(json);
    pawl__json_write_end_object(json);
}

static void write_links(struct pawl_json_writer *json, const struct pawl_span *span)
{
    pawl__json_write_key_text(json, "links");
    pawl__json_write_begin_array(json);
    for (size_t i = 0; i < PAWL_SPAN_LINKS_MAX; i++) {
        const struct pawl_trace_context *link = &span->links[i];

        if (!pawl__trace_is_set(link))
            continue;
        pawl__json_write_begin_object(json);
        write_hex(json, "traceId", link->trace_id, sizeof link->trace_id);
        write_hex(json, "spanId", link->span_id, sizeof link->span_id);
        pawl__json_write_end_object(json);
    }
    pawl__json_write_end_array(json);
}

static void write_status(struct pawl_json_writer *json, const struct pawl_span *span)
{
    pawl__json_write_key_text(json, "status");
    pawl__json_write_begin_object(json);
    if (span->failed) {
        pawl__json_write_key_text(json, "code");
        pawl__json_write_int(json, 2);
        pawl__json_write_key_text(json, "message");
        pawl__json_write_string(json, pawl__utf8_cut(span->message, TEXT_MAX));
    }
    pawl__json_write_end_object(json);
}

static void write_span(struct pawl_buf *out, const struct pawl_span *span, int64_t shift_ns)
{
    static const unsigned char nobody[8] = {0};
    struct pawl_json_writer json;
    char name[256];

    (void)snprintf(name, sizeof name, "%s%s%.*s", span->name, span->more.len > 0 ? " " : "",
                   (int)(span->more.len < 200 ? span->more.len : 200), span->more.ptr);
    pawl__json_writer_init(&json, out, PAWL_JSON_ESCAPE_MINIMAL, 0);
    pawl__json_write_begin_object(&json);
    write_hex(&json, "traceId", span->context.trace_id, sizeof span->context.trace_id);
    write_hex(&json, "spanId", span->context.span_id, sizeof span->context.span_id);
    if (memcmp(span->parent_id, nobody, sizeof nobody) != 0)
        write_hex(&json, "parentSpanId", span->parent_id, sizeof span->parent_id);
    if (span->state.len > 0) {
        pawl__json_write_key_text(&json, "traceState");
        pawl__json_write_string(&json, span->state);
    }
    pawl__json_write_key_text(&json, "name");
    pawl__json_write_string_text(&json, name);
    pawl__json_write_key_text(&json, "kind");
    pawl__json_write_int(&json, span->kind);
    write_number(&json, "startTimeUnixNano",
                 span->begun_unix_ns ? span->begun_unix_ns : span->begun_ns + shift_ns);
    write_number(&json, "endTimeUnixNano",
                 span->ended_unix_ns ? span->ended_unix_ns : span->ended_ns + shift_ns);
    pawl__json_write_key_text(&json, "attributes");
    pawl__json_write_begin_array(&json);
    for (size_t i = 0; i < PAWL_SPAN_ATTRIBUTES_MAX && span->attributes[i].key; i++)
        write_attribute(&json, &span->attributes[i]);
    pawl__json_write_end_array(&json);
    write_links(&json, span);
    write_status(&json, span);
    pawl__json_write_end_object(&json);
}

static void count_dropped(struct pawl_tracer *tracer, uint32_t count)
{
    pawl__meter_count(tracer->meter, PAWL_METRIC_SPANS_DROPPED, pawl__str(""), pawl__str(""),
                      pawl__str(""), count);
}

void pawl__tracer_end(struct pawl_tracer *tracer, const struct pawl_span *span)
{
    struct pawl_buf text;
    bool added = false;

    if (!tracer || !pawl__tracer_samples(tracer, &span->context))
        return;
    pawl__buf_init(&text, &tracer->env->alloc, SPAN_BYTES_MAX);
    write_span(&text, span, pawl_env_wall_ns(tracer->env) - pawl_env_monotonic_ns(tracer->env));
    if (text.status == PAWL_OK) {
        pawl_mutex_lock_always(tracer->env, tracer->mutex);
        if (tracer->queued < tracer->queue_max &&
            pawl__buf_reserve(&tracer->queue, text.len + 1) != NULL) {
            if (tracer->queued > 0)
                pawl__buf_byte(&tracer->queue, ',');
            pawl__buf_str(&tracer->queue, pawl__buf_peek(&text));
            added = true;
            if (++tracer->queued == tracer->batch_max)
                pawl_cond_broadcast(tracer->env, tracer->changed);
        } else if (tracer->queue.status != PAWL_OK) {
            tracer->queue.status = PAWL_OK; /* full: it is usable again when it was taken */
        }
        pawl_mutex_unlock(tracer->env, tracer->mutex);
    }
    pawl__buf_release(&text);
    if (!added)
        count_dropped(tracer, 1);
}

/* ---- sending -------------------------------------------------------------------------------- */

static void write_resource(struct pawl_tracer *tracer, struct pawl_json_writer *json)
{
    struct pawl_span_attribute name = {.key = "service.name", .text = pawl__str(tracer->service)};
    const char *at = tracer->resource;

    pawl__json_write_begin_array(json);
    write_attribute(json, &name);
    while (*at) {
        size_t len = strcspn(at, ",");
        struct pawl_str pair = pawl__str_make(at, len);
        size_t equals = pawl__str_find(pair, '=', 0);
        char key[128];

        if (equals != SIZE_MAX && equals < sizeof key) {
            struct pawl_span_attribute one = {.key = key,
                                              .text = pawl__str_slice(pair, equals + 1, pair.len)};

            (void)snprintf(key, sizeof key, "%.*s", (int)equals, at);
            write_attribute(json, &one);
        }
        at += len + (at[len] ? 1 : 0);
    }
    pawl__json_write_end_array(json);
}

/* {"resourceSpans":[{"resource":{…},"scopeSpans":[{"scope":{…},"spans":[…]}]}]} */
static void write_request(struct pawl_tracer *tracer, struct pawl_str spans, struct pawl_buf *out)
{
    struct pawl_json_writer json;

    pawl__buf_text(out, "{\"resourceSpans\":[{\"resource\":{\"attributes\":");
    pawl__json_writer_init(&json, out, PAWL_JSON_ESCAPE_MINIMAL, 0);
    write_resource(tracer, &json);
    pawl__buf_printf(
        out, "},\"scopeSpans\":[{\"scope\":{\"name\":\"pawl\",\"version\":\"%s\"},\"spans\":[",
        pawl_version());
    pawl__buf_str(out, spans);
    pawl__buf_text(out, "]}]}]}");
}

static void on_done(void *ctx, const struct pawl_http_answer *answer)
{
    struct pawl_tracer *tracer = ctx;

    pawl_mutex_lock_always(tracer->env, tracer->mutex);
    tracer->answer.end = answer->end;
    tracer->answer.status = answer->status;
    tracer->responded = true;
    pawl_cond_broadcast(tracer->env, tracer->changed);
    pawl_mutex_unlock(tracer->env, tracer->mutex);
}

/* What this process lacks for now, as <pawl/ext/http.h> says. */
static bool may_pass(int status)
{
    return pawl_error_class(status) == PAWL_CLASS_TRANSIENT || status == PAWL_EIO;
}

/* 0: taken. 1: try again. -1: not wanted. *logged: of this batch a refusal was. */
static int send_once(struct pawl_tracer *tracer, struct pawl_str body, bool *logged)
{
    const struct pawl_http_request request = {.method = pawl__str("POST"),
                                              .url = pawl__str(tracer->url),
                                              .headers = tracer->headers,
                                              .header_count = tracer->header_count,
                                              .body = body,
                                              .has_body = true,
                                              .scope = pawl__str("otlp")};
    struct pawl_error err = PAWL_ERROR_INIT;
    uint64_t ticket;
    int status, result;

    tracer->responded = false;
    status = pawl_http_submit(tracer->http, &request, on_done, tracer, &ticket, &err);
    if (status != PAWL_OK) {
        if (!*logged)
            pawl_log(tracer->log, PAWL_LOG_WARN, "spans cannot be sent",
                     pawl_log_error("error", &err));
        *logged = true;
        return may_pass(status) ? 1 : -1;
    }
    pawl_mutex_lock_always(tracer->env, tracer->mutex);
    while (!tracer->responded && status != PAWL_ESTOPPED)
        status = pawl_cond_wait(tracer->env, tracer->changed, tracer->mutex, PAWL_FOREVER);
    result = tracer->answer.end == PAWL_HTTP_ANSWERED && tracer->answer.status / 100 == 2 ? 0
             : tracer->answer.end == PAWL_HTTP_ANSWERED && tracer->answer.status < 500 &&
                     tracer->answer.status != 429
                 ? -1
                 : 1;
    pawl_mutex_unlock(tracer->env, tracer->mutex);
    if (status == PAWL_ESTOPPED)
        pawl_http_cancel(tracer->http, ticket);
    return status == PAWL_ESTOPPED ? -1 : result;
}

/* Waits so long, or until the tracer is being closed: then there is no time left for another try.
 */
static bool pause(struct pawl_tracer *tracer, int64_t ns)
{
    int64_t until_ns = pawl_env_monotonic_ns(tracer->env) + ns;
    int status = PAWL_OK;
    bool stopping;

    pawl_mutex_lock_always(tracer->env, tracer->mutex);
    while (!tracer->stopping && status == PAWL_OK)
        status = pawl_cond_wait(tracer->env, tracer->changed, tracer->mutex, until_ns);
    stopping = tracer->stopping || status == PAWL_ESTOPPED;
    pawl_mutex_unlock(tracer->env, tracer->mutex);
    return !stopping;
}

static void send_batch(struct pawl_tracer *tracer, struct pawl_str spans, uint32_t count)
{
    struct pawl_buf body;
    bool logged = false;
    int result = -1;

    pawl__buf_init(&body, &tracer->env->alloc, 2 * QUEUE_BYTES_MAX);
    write_request(tracer, spans, &body);
    for (int tries = 0; body.status == PAWL_OK && tries < TRIES_MAX; tries++) {
        result = send_once(tracer, pawl__buf_peek(&body), &logged);
        if (result != 1 || !pause(tracer, (INT64_C(500) * NS_PER_MS) << tries))
            break;
    }
    pawl__buf_release(&body);
    if (result != 0) {
        count_dropped(tracer, count);
        pawl_log(tracer->log, PAWL_LOG_WARN, "spans were dropped: the collector did not take them",
                 pawl_log_uint("spans", count), pawl_log_int("status", tracer->answer.status));
    }
}

/* The queue changes hands: what comes meanwhile goes to another. False: it is over. */
static bool take_batch(struct pawl_tracer *tracer, struct pawl_buf *out, uint32_t *count)
{
    int64_t until_ns = pawl_env_monotonic_ns(tracer->env) + tracer->delay_ns;
    int status = PAWL_OK;
    bool goes_on;

    pawl_mutex_lock_always(tracer->env, tracer->mutex);
    while (!tracer->stopping && tracer->queued < tracer->batch_max && status == PAWL_OK)
        status = pawl_cond_wait(tracer->env, tracer->changed, tracer->mutex, until_ns);
    *out = tracer->queue;
    *count = tracer->queued;
    pawl__buf_init(&tracer->queue, &tracer->env->alloc, QUEUE_BYTES_MAX);
    tracer->queued = 0;
    goes_on = !tracer->stopping && status != PAWL_ESTOPPED;
    pawl_mutex_unlock(tracer->env, tracer->mutex);
    return goes_on;
}

static void run(void *arg)
{
    struct pawl_tracer *tracer = arg;
    bool goes_on = true;

    while (goes_on) {
        struct pawl_buf spans;
        uint32_t count;

        goes_on = take_batch(tracer, &spans, &count);
        if (count > 0)
            send_batch(tracer, pawl__buf_peek(&spans), count);
        pawl__buf_release(&spans);
    }
}

/* ---- opening -------------------------------------------------------------------------------- */

static int start(struct pawl_tracer *tracer, struct pawl_error *err)
{
    const struct pawl_curl_options options = {.timeout_ns = tracer->timeout_ns, .requests_max = 1};
    int status = pawl_mutex_new(tracer->env, "tracer", &tracer->mutex);

    if (status == PAWL_OK)
        status = pawl_cond_new(tracer->env, "tracer", &tracer->changed);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    status = pawl__curl_open(tracer->env, &options, &tracer->http, err);
    if (status == PAWL_OK)
        status = pawl_thread_start(tracer->env, "spans", run, tracer, &tracer->thread, err);
    return status;
}

int pawl__tracer_open(struct pawl_env *env, const char *(*variable)(const char *name),
                      struct pawl_meter *meter, const struct pawl_log *log,
                      struct pawl_tracer **out, struct pawl_error *err)
{
    struct pawl_tracer *tracer = pawl__alloc_zeroed(&env->alloc, sizeof *tracer);
    int status;

    *out = NULL;
    if (!tracer)
        return pawl__error_code(err, PAWL_ENOMEM);
    tracer->env = env;
    tracer->meter = meter;
    tracer->log = log;
    pawl__buf_init(&tracer->queue, &env->alloc, QUEUE_BYTES_MAX);
    if (!read_endpoint(tracer, variable)) {
        pawl__free(&env->alloc, tracer, sizeof *tracer);
        return PAWL_OK;
    }
    (void)snprintf(tracer->service, sizeof tracer->service, "%s",
                   text_of(variable, "OTEL_SERVICE_NAME", "pawl"));
    (void)snprintf(tracer->resource, sizeof tracer->resource, "%s",
                   text_of(variable, "OTEL_RESOURCE_ATTRIBUTES", ""));
    read_headers(tracer, text_of(variable, "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
                                 text_of(variable, "OTEL_EXPORTER_OTLP_HEADERS", "")));
    read_sampler(tracer, variable);
    status = read_numbers(tracer, variable, err);
    if (status == PAWL_OK)
        status = start(tracer, err);
    if (status == PAWL_OK)
        *out = tracer;
    else
        pawl__tracer_close(tracer);
    return status;
}

void pawl__tracer_close(struct pawl_tracer *tracer)
{
    if (!tracer)
        return;
    if (tracer->thread) {
        pawl_mutex_lock_always(tracer->env, tracer->mutex);
        tracer->stopping = true;
        pawl_cond_broadcast(tracer->env, tracer->changed);
        pawl_mutex_unlock(tracer->env, tracer->mutex);
        pawl_thread_join(tracer->env, tracer->thread);
    }
    pawl_http_close(tracer->http);
    pawl__buf_release(&tracer->queue);
    if (tracer->changed)
        pawl_cond_free(tracer->env, tracer->changed);
    if (tracer->mutex)
        pawl_mutex_free(tracer->env, tracer->mutex);
    pawl__free(&tracer->env->alloc, tracer, sizeof *tracer);
}
