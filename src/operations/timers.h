/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on what becomes due by time: timers of instances, ticks of triggers. */
#ifndef PAWL_OPERATIONS_TIMERS_H
#define PAWL_OPERATIONS_TIMERS_H

#include "operations/operation.h"

#include <pawl/ext/store.h>

/* All that is given must hold. The soonest first. */
struct pawl_timer_query {
    struct pawl_str instance_id; /* "": any, and ticks */
    bool is_overdue;             /* its time has come by the store's clock */
    struct pawl_page_request page;
};

/* A timer and what it belongs to; each NULL when it has none, or when that has gone meanwhile. */
struct pawl_timer {
    const struct pawl_work_row *work; /* never NULL; without its payload */
    bool is_tick; /* of a trigger, whose id is work->name; else of an instance */
    bool is_overdue;
    const struct pawl_trigger_row *trigger;
    const struct pawl_instance_row *instance; /* without `state` and `counts` */
    const struct pawl_bookmark_row *bookmark;
};

struct pawl_timer_list {
    const struct pawl_timer *timers;
    size_t count;
    int64_t now_us; /* the store's clock */
    struct pawl_page page;
};

PAWL_MUST_CHECK int pawl__op_timers_list(const struct pawl_op *op,
                                         const struct pawl_timer_query *query,
                                         struct pawl_timer_list *out);

#endif
