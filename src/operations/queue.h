/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on the queue: work that is due, that comes later, or that nobody waits for yet. */
#ifndef PAWL_OPERATIONS_QUEUE_H
#define PAWL_OPERATIONS_QUEUE_H

#include "operations/operation.h"

#include <pawl/ext/store.h>

enum pawl_queue_part {
    PAWL_QUEUE_ALL,
    PAWL_QUEUE_DUE,
    PAWL_QUEUE_LATER,  /* its time has not come */
    PAWL_QUEUE_PARKED, /* events that nobody waits for yet */
};

/* All that is given must hold; "" is not given. The soonest first. */
struct pawl_queue_query {
    enum pawl_queue_part part;
    struct pawl_str instance_id;
    struct pawl_str kind;
    struct pawl_page_request page;
};

struct pawl_queue_list {
    const struct pawl_work_row *rows; /* without `payload` */
    size_t count;
    int64_t now_us; /* the store's clock */
    struct pawl_page page;
};

PAWL_MUST_CHECK int pawl__op_queue_list(const struct pawl_op *op,
                                        const struct pawl_queue_query *query,
                                        struct pawl_queue_list *out);

#endif
