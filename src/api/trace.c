/* SPDX-License-Identifier: Apache-2.0 */
/* Requests as spans: of the caller's trace, where the request names one, or of their own. */
#include "host/host.h"
#include "host/tracer.h"

#include "api/private.h"

/* What W3C asks everybody to pass on at least. */
#define STATE_BYTES_MAX 512u

/* As it came: several fields are one list. One that is too long or no text counts as none. */
static struct pawl_str read_state(struct pawl_exchange *exchange)
{
    struct pawl_buf all;
    struct pawl_str name, value, out;

    pawl__buf_init(&all, pawl__exchange_arena(exchange)->alloc, STATE_BYTES_MAX);
    for (size_t i = 0; i < pawl__exchange_field_count(exchange); i++) {
        pawl__exchange_field_at(exchange, i, &name, &value);
        if (value.len == 0 || !pawl__str_equal_nocase(name, pawl__str("tracestate")))
            continue;
        pawl__buf_text(&all, all.len > 0 ? "," : "");
        pawl__buf_str(&all, value);
    }
    out = all.status == PAWL_OK ? pawl__buf_peek(&all) : pawl__str("");
    for (size_t i = 0; out.ptr && i < out.len; i++)
        if (out.ptr[i] < 0x20 || out.ptr[i] > 0x7e)
            out = pawl__str("");
    out = out.len > 0 ? pawl__arena_str(pawl__exchange_arena(exchange), out) : out;
    pawl__buf_release(&all);
    return out;
}

/* A caller's trace is known to the log also where no collector is. */
void pawl__api_trace_arrive(struct pawl_api *api, struct pawl_exchange *exchange)
{
    struct pawl_tracer *tracer = pawl__host_tracer(api->host);
    struct pawl_str given = pawl__exchange_field(exchange, "traceparent");
    struct pawl_trace_context caller;
    bool is_given = given.ptr && pawl__traceparent_read(given, &caller);
    struct api_request *request;

    if (!tracer && !is_given)
        return;
    request = api_request_make(exchange);
    if (!request)
        return;
    if (is_given) {
        request->span = caller;
        memcpy(request->parent_id, caller.span_id, sizeof request->parent_id);
        if (tracer) {
            pawl__tracer_new_span(tracer, request->span.span_id);
            request->trace_state = read_state(exchange);
        }
    } else {
        pawl__tracer_new_trace(tracer, &request->span);
    }
}

/* Probes that the loop handles come every few seconds, and say nothing. */
void pawl__api_trace_end(struct pawl_api *api, const struct pawl_exchange *exchange, int status,
                         int64_t duration_ns)
{
    struct pawl_tracer *tracer = pawl__host_tracer(api->host);
    const struct api_request *request = api_request_of(exchange);
    const struct pawl_route *route = pawl__exchange_route(exchange);
    struct pawl_span span = {.name = "HTTP", .kind = PAWL_SPAN_SERVER, .failed = status >= 500};

    if (!tracer || !request || !pawl__trace_is_set(&request->span) ||
        (route && route->flags & PAWL_ROUTE_ON_LOOP))
        return;
    span.more = pawl__str(route ? route->path : "none");
    span.context = request->span;
    span.state = request->trace_state;
    memcpy(span.parent_id, request->parent_id, sizeof span.parent_id);
    span.ended_ns = pawl_env_monotonic_ns(api->env);
    span.begun_ns = span.ended_ns - duration_ns;
    span.attributes[0] = (struct pawl_span_attribute){.key = "http.request.method",
                                                      .text = pawl__exchange_method(exchange)};
    span.attributes[1] = (struct pawl_span_attribute){.key = "http.route", .text = span.more};
    span.attributes[2] = (struct pawl_span_attribute){
        .key = "http.response.status_code", .number = status, .is_number = true};
    pawl__tracer_end(tracer, &span);
}
