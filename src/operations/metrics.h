/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of a node, in the text format of Prometheus (0.0.4): what its meter has counted
 * (host/meter.h, the table of all of them), and gauges that are found out now.
 */
#ifndef PAWL_OPERATIONS_METRICS_H
#define PAWL_OPERATIONS_METRICS_H

#include "base/buf.h"
#include "operations/operation.h"

/* What the door knows that asks. */
struct pawl_metrics_door {
    uint64_t http_connections, http_queue_length;
    uint64_t hub_web_sockets, hub_server_sent_events, hub_long_polling; /* connections */
    uint64_t hub_instances;                                             /* that are watched */
};

#define PAWL_METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/*
 * Of a host that is measured; else PAWL_EUNSUPPORTED. Counts of a large store are as old as
 * pawl__op_overview() keeps them. A store that does not respond leaves out what it would say.
 */
PAWL_MUST_CHECK int pawl__op_metrics(const struct pawl_op *op, const struct pawl_metrics_door *door,
                                     struct pawl_buf *out);

/* What doors count themselves. `result`: "ok", "refused" or "limited". Nothing where nothing is
 * measured. */
void pawl__op_count_login(struct pawl_host *host, const char *result);
void pawl__op_count_request(struct pawl_host *host, const char *route, struct pawl_str method,
                            int code, int64_t duration_ns);
/* `result`: "sent", "received" or "dropped". `kind`: what a look of the hub is for. */
void pawl__op_count_hub_messages(struct pawl_host *host, const char *result, uint64_t count);
void pawl__op_count_hub_look(struct pawl_host *host, const char *kind);

#endif
