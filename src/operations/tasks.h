/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on the tasks that workflows wait for (activity RunTask). */
#ifndef PAWL_OPERATIONS_TASKS_H
#define PAWL_OPERATIONS_TASKS_H

#include "operations/stimuli.h"

/* All that is given must hold; "" is not given. The list is of open tasks, the oldest first. */
struct pawl_task_query {
    struct pawl_str instance_id;
    struct pawl_str correlation_id;
    struct pawl_page_request page;
};

struct pawl_task {
    struct pawl_str id;   /* by which it is reported */
    struct pawl_str name; /* what is to be done */
    struct pawl_str instance_id;
    struct pawl_str definition_id; /* "": the instance has gone meanwhile */
    struct pawl_str activity_id;
    struct pawl_str bookmark_id;
    struct pawl_str correlation_id;
    int64_t since_us;
    struct pawl_json payload; /* what is needed to do it; null: nothing, or it cannot be read */
};

struct pawl_task_list {
    const struct pawl_task *tasks;
    size_t count;
    struct pawl_page page;
};

PAWL_MUST_CHECK int pawl__op_tasks_list(const struct pawl_op *op,
                                        const struct pawl_task_query *query,
                                        struct pawl_task_list *out);

/*
 * A task was done, with this result (NULL: none). PAWL_OK: the report is durable, and doing
 * due work resumes the workflow. The same for every door:
 *
 * - Reporting again does nothing, and returns for a day what the first report did, also when the
 *   instance has gone on or ended since. PAWL_ECONFLICT: the first report had another result.
 * - PAWL_ENOTFOUND: nobody waits for such a task and nobody reported it; or somebody did more than
 *   a day ago; or the instance went on without it.
 * - `detached`: nothing is resumed by this call, but by whoever does due work.
 * - Nothing is parked. A task's id becomes known after the commit that made its bookmark, so there
 *   is no report that comes too early.
 */
PAWL_MUST_CHECK int pawl__op_task_complete(const struct pawl_op *op, struct pawl_str task_id,
                                           const struct pawl_json *result, bool detached,
                                           struct pawl_send_result *out);

#endif
