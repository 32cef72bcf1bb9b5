/* SPDX-License-Identifier: Apache-2.0 */
/* Views of counts as Elsa's dashboard shows them. */
#ifndef PAWL_VIEWS_DASHBOARD_H
#define PAWL_VIEWS_DASHBOARD_H

#include "operations/instances.h"
#include "operations/statistics.h"
#include "operations/trends.h"
#include "views/view.h"

/* A period that ends now: how it is called, and in which parts it is counted. */
struct pawl_range {
    const char *name;        /* "24h" */
    const char *granularity; /* "hour" */
    int64_t period_us;
    uint32_t count;
};

/* {capability, backendName, environmentName, runtime{}, workflowInstances{}, diagnostics{},
 * metrics, panels, appliedRange, from, to} */
struct pawl_json pawl__view_dashboard(struct pawl_builder *b, const struct pawl_range *range,
                                      const struct pawl_overview *seen,
                                      const struct pawl_cluster_status *status,
                                      uint64_t with_incidents);
/* {findings[{kind, severity, message, count}], capability, appliedRange} */
struct pawl_json pawl__view_attention(struct pawl_builder *b, const struct pawl_range *range,
                                      const struct pawl_overview *seen);
/* {items[InstanceSummary], appliedRange, from, to} */
struct pawl_json pawl__view_recent(struct pawl_builder *b, const struct pawl_range *range,
                                   const struct pawl_instance_list *list, int64_t now_us);
/* {buckets[{from, to, createdOrStarted, finished, faulted, suspended, incidentBearing}],
 * appliedRange, granularity, from, to} */
struct pawl_json pawl__view_trends(struct pawl_builder *b, const struct pawl_range *range,
                                   const struct pawl_trend_bucket *buckets);
/* {items[{definitionId, name, count}], appliedRange, metric, from, to}: those with faults. */
struct pawl_json pawl__view_hotspots(struct pawl_builder *b, const struct pawl_range *range,
                                     const struct pawl_definition_counts_list *list,
                                     int64_t now_us);

#endif
