/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of instances over time. */
#ifndef PAWL_OPERATIONS_TRENDS_H
#define PAWL_OPERATIONS_TRENDS_H

#include "operations/instances.h"

/* Periods of one answer; each costs five counts. */
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
