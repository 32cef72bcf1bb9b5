/* SPDX-License-Identifier: Apache-2.0 */
/* The queue; see queue.h. */
#include "operations/queue.h"

#include "operations/query.h"

static void where_part(struct op_query *to, enum pawl_queue_part part, int64_t now_us)
{
    switch (part) {
    case PAWL_QUEUE_ALL:
        break;
    case PAWL_QUEUE_DUE:
        op_where_int(to, "due_us", PAWL_LE, now_us);
        break;
    case PAWL_QUEUE_LATER:
        op_where_int(to, "due_us", PAWL_GT, now_us);
        op_where_int(to, "due_us", PAWL_LT, PAWL_TIME_NEVER);
        break;
    case PAWL_QUEUE_PARKED:
        op_where_int(to, "due_us", PAWL_EQ, PAWL_TIME_NEVER);
        break;
    }
}

int pawl__op_queue_list(const struct pawl_op *op, const struct pawl_queue_query *query,
                        struct pawl_queue_list *out)
{
    struct pawl_queue_list found = {.count = 0};
    struct pawl_rows rows = {0};
    struct op_query asked;
    int status = op_now(op, &found.now_us);

    if (status != PAWL_OK)
        return status;
    op_query_init(&asked, PAWL_TABLE_WORK, "due_us", false);
    where_part(&asked, query->part, found.now_us);
    op_where_given(&asked, "instance_id", query->instance_id);
    op_where_given(&asked, "kind", query->kind);
    status = op_find_page(op, &asked, &query->page, &rows, &found.page);
    if (status != PAWL_OK)
        return status;
    found.rows = rows.rows;
    found.count = rows.count;
    *out = found;
    return PAWL_OK;
}
