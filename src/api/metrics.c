/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of requests afterwards: metrics, and a line of the log for each. */
#include "operations/metrics.h"
#include "api/hub/hub.h"
#include "api/private.h"

/* Methods that routes have; others would let a client make labels. */
static struct pawl_str known_method(struct pawl_str method)
{
    static const char *const known[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (pawl__str_is(method, known[i]))
            return method;
    return pawl__str("other");
}

/* Without the query, which may have secrets in it. Of an unknown path nothing but that it was one.
 */
void pawl__api_observe(void *ctx, const struct pawl_exchange *exchange, int status,
                       int64_t duration_ns)
{
    struct pawl_api *api = ctx;
    const struct pawl_route *route = pawl__exchange_route(exchange);
    const char *label = !route ? "none" : route->label ? route->label : route->path;
    const struct api_request *request = api_request_of(exchange);
    struct pawl_str name = request && request->bearer ? request->bearer->name : pawl__str("");
    char trace[PAWL_TRACE_ID_SIZE] = "";
    struct pawl_str method = known_method(pawl__exchange_method(exchange));
    char peer[PAWL_PEER_TEXT_SIZE];

    pawl__op_count_request(api->host, label, method, status, duration_ns);
    pawl__api_trace_end(api, exchange, status, duration_ns);
    if (!pawl_log_enabled(api->log, PAWL_LOG_INFO))
        return;
    if (request && pawl__trace_is_set(&request->span))
        pawl__trace_id_text(&request->span, trace);
    pawl_log(api->log, PAWL_LOG_INFO, "request", pawl_log_str("method", method.ptr, method.len),
             pawl_log_text("route", label), pawl_log_int("status", status),
             pawl_log_duration_ns("duration", duration_ns),
             pawl_log_text("peer", pawl__peer_text(pawl__exchange_peer(exchange), peer)),
             pawl_log_str("caller", name.ptr, name.len), pawl_log_text("trace", trace));
}

void pawl__api_metrics(struct pawl_exchange *exchange, void *ctx)
{
    struct api_call call;
    struct pawl_server_figures figures;
    struct pawl_hub_figures hub;
    struct pawl_metrics_door door;
    int status;

    api_begin(&call, exchange, ctx);
    pawl__server_figures(call.api->server, &figures);
    pawl__hub_figures(call.api->hub, &hub);
    door = (struct pawl_metrics_door){.http_connections = figures.connections,
                                      .http_queue_length = figures.queued,
                                      .hub_web_sockets = hub.web_sockets,
                                      .hub_server_sent_events = hub.server_sent_events,
                                      .hub_long_polling = hub.long_polling,
                                      .hub_instances = hub.instances};
    status = pawl__op_metrics(&call.op, &door, pawl__exchange_out(exchange));
    if (status == PAWL_OK) {
        pawl__exchange_add_field(exchange, "Content-Type", PAWL_METRICS_CONTENT_TYPE);
        pawl__exchange_add_field(exchange, "Cache-Control", "no-store");
        pawl__exchange_respond(exchange, 200);
    } else {
        api_fail(&call, status);
    }
    api_end(&call);
}
