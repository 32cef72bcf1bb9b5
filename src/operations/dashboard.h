/* SPDX-License-Identifier: Apache-2.0 */
/* What a dashboard shows: counts of instances, of now and over a period that ends now. */
#ifndef PAWL_OPERATIONS_DASHBOARD_H
#define PAWL_OPERATIONS_DASHBOARD_H

#include "operations/instances.h"
#include "operations/statistics.h"

struct pawl_dashboard {
    struct pawl_overview counts;
    struct pawl_cluster_status cluster;
    uint64_t with_incidents; /* instances */
};

PAWL_MUST_CHECK int pawl__op_dashboard(const struct pawl_op *op, struct pawl_dashboard *out);

/* The instances that changed last within so many microseconds, the newest first, `limit` at the
 * most. */
struct pawl_recent {
    struct pawl_instance_list instances;
    int64_t now_us; /* of the store */
};

PAWL_MUST_CHECK int pawl__op_recent(const struct pawl_op *op, int64_t within_us, uint32_t limit,
                                    struct pawl_recent *out);

/* Instances that were created within so many microseconds, counted for each definition. */
struct pawl_hotspots {
    struct pawl_definition_counts_list definitions;
    int64_t now_us; /* of the store */
};

PAWL_MUST_CHECK int pawl__op_hotspots(const struct pawl_op *op, int64_t within_us,
                                      struct pawl_hotspots *out);

/* Periods of one request; each costs five counts. */
#define PAWL_TREND_BUCKETS_MAX 48u

/* From `from_us` until before `to_us` of the store's clock. */
struct pawl_trend_bucket {
    int64_t from_us, to_us;
    uint64_t created;   /* then */
    uint64_t finished;  /* well, then */
    uint64_t faulted;   /* ended then */
    uint64_t suspended; /* changed then, and wait now */
    uint64_t incidents; /* created then, and have incidents now */
};

/* The last `count` periods of so many microseconds, up to now. *out is in the arena. */
PAWL_MUST_CHECK int pawl__op_trends(const struct pawl_op *op, int64_t period_us, uint32_t count,
                                    struct pawl_trend_bucket **out);

#endif
