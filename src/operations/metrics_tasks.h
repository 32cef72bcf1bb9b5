/* SPDX-License-Identifier: Apache-2.0 */
/* Open tasks by their names, for metrics. */
#ifndef PAWL_OPERATIONS_METRICS_TASKS_H
#define PAWL_OPERATIONS_METRICS_TASKS_H

#include "operations/operation.h"

#define OP_TASK_NAMES_MAX 50u
/* So many of the oldest are looked at. */
#define OP_TASKS_READ_MAX 1000u

struct op_task_name {
    struct pawl_str name;
    uint64_t count;
    int64_t oldest_us; /* since when; 0: there is none */
};

/* The last is "other": of further names, and beyond those that are looked at. */
struct op_task_names {
    struct op_task_name names[OP_TASK_NAMES_MAX + 1];
    size_t count;
    int64_t now_us;
};

PAWL_MUST_CHECK int op_count_tasks(const struct pawl_op *op, struct op_task_names *out);

#endif
