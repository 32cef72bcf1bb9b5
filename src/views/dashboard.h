/* SPDX-License-Identifier: Apache-2.0 */
/* Views of counts as Elsa's dashboard shows them. */
#ifndef PAWL_VIEWS_DASHBOARD_H
#define PAWL_VIEWS_DASHBOARD_H

#include "operations/dashboard.h"
#include "views/view.h"

/* A period that ends now: how it is called, and in which parts it is counted. */
struct pawl_dashboard_range {
    const char *name;        /* "24h" */
    const char *granularity; /* "hour" */
    int64_t period_us;
    uint32_t count;
};

/* {capability, backendName, environmentName, runtime{}, workflowInstances{}, diagnostics{},
 * metrics, panels, appliedRange, from, to} */
struct pawl_json pawl__view_dashboard(struct pawl_builder *b,
                                      const struct pawl_dashboard_range *range,
                                      const struct pawl_dashboard *seen);
/* {findings[{kind, severity, message, count}], capability, appliedRange} */
struct pawl_json pawl__view_attention(struct pawl_builder *b,
                                      const struct pawl_dashboard_range *range,
                                      const struct pawl_overview *seen);
/* {items[InstanceSummary], appliedRange, from, to} */
struct pawl_json pawl__view_recent(struct pawl_builder *b, const struct pawl_dashboard_range *range,
                                   const struct pawl_recent *recent);
/* {buckets[{from, to, createdOrStarted, finished, faulted, suspended, incidentBearing}],
 * appliedRange, granularity, from, to} */
struct pawl_json pawl__view_trends(struct pawl_builder *b, const struct pawl_dashboard_range *range,
                                   const struct pawl_trend_bucket *buckets);
/* {items[{definitionId, name, count}], appliedRange, metric, from, to}: those with faults. */
struct pawl_json pawl__view_hotspots(struct pawl_builder *b,
                                     const struct pawl_dashboard_range *range,
                                     const struct pawl_hotspots *hotspots);

#endif
