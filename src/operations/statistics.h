/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that count: how a store and its nodes are doing. */
#ifndef PAWL_OPERATIONS_STATISTICS_H
#define PAWL_OPERATIONS_STATISTICS_H

#include "operations/nodes.h"

/* Sub-statuses, in the order in which people read them. */
enum pawl_counted {
    PAWL_COUNTED_PENDING,
    PAWL_COUNTED_EXECUTING,
    PAWL_COUNTED_SUSPENDED,
    PAWL_COUNTED_FINISHED,
    PAWL_COUNTED_CANCELLED,
    PAWL_COUNTED_FAULTED,
    PAWL_COUNTED_COUNT
};

/* "Pending": as rows have it. */
const char *pawl__counted_name(enum pawl_counted counted);

struct pawl_work_counts {
    uint64_t due;
    uint64_t later;  /* with a time that has not come */
    uint64_t parked; /* events that nobody waits for yet */
    uint64_t dead_letters;
    int64_t oldest_due_us; /* since when the oldest of what is due is; 0: nothing is */
    int64_t next_due_us;   /* of what comes next, when nothing is due; 0: nothing does */
};

struct pawl_overview {
    int64_t now_us;     /* of the store */
    int64_t counted_us; /* when instances and work were counted; the rest is of now */
    uint64_t instances[PAWL_COUNTED_COUNT];
    uint64_t set_aside; /* instances that wait for an operator */
    struct pawl_work_counts work;
    /* Instances per second since `since_us`, by their times; one that changed several times counts
     * once. Negative: not asked for. */
    double started_per_second, changed_per_second;
    struct pawl_node_list nodes;    /* that are alive */
    const struct pawl_pause *pause; /* of the cluster; NULL: none */
};

/*
 * Counting reads indexes, so its cost grows with what is counted. If it took PAWL_COUNTS_SLOW_NS or
 * longer, the host keeps the counts for PAWL_COUNTS_SHARE times as long as it took: however many
 * callers there are, counting takes no more than that share of the time. Two more counts for each
 * live node are not kept. `since_us` 0: no rates.
 */
#define PAWL_COUNTS_SLOW_NS INT64_C(50000000)
#define PAWL_COUNTS_SHARE 20
PAWL_MUST_CHECK int pawl__op_overview(const struct pawl_op *op, int64_t since_us,
                                      struct pawl_overview *out);

/* Of one definition. */
struct pawl_definition_counts {
    struct pawl_str definition_id;
    struct pawl_str name;
    uint64_t instances[PAWL_COUNTED_COUNT];
};

/* From `from_us` until before `to_us` of the store's clock; 0: open. By when they were created. */
struct pawl_count_query {
    int64_t from_us, to_us;
    struct pawl_page_request page; /* of definitions, by name; PAWL_COUNT_PAGE_MAX at the most */
};
#define PAWL_COUNT_PAGE_MAX 100u

struct pawl_definition_counts_list {
    const struct pawl_definition_counts *rows;
    size_t count;
    int64_t counted_us; /* when they were counted, by the store's clock */
    struct pawl_page page;
};

/*
 * Counts of the instances of each published definition, by status: six counts for each. The counts
 * of a page are kept by the host like those of an overview.
 */
PAWL_MUST_CHECK int pawl__op_count_by_definition(const struct pawl_op *op,
                                                 const struct pawl_count_query *query,
                                                 struct pawl_definition_counts_list *out);

#endif
