/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happened in instances: their log, record by record, and the executions of their activities.
 * Records are JSON objects in the form in which they are exported; views/journal.h has the forms of
 * the API.
 */
#ifndef PAWL_OPERATIONS_JOURNAL_H
#define PAWL_OPERATIONS_JOURNAL_H

#include "base/json/json.h"
#include "operations/operation.h"

/* ---- the log -------------------------------------------------------------------------------- */

/* A list that is NULL does not narrow; one without members matches nothing, but excluded_types. */
struct pawl_journal_query {
    struct pawl_str instance_id;
    const struct pawl_str *activity_ids, *node_ids, *events, *excluded_types;
    size_t activity_id_count, node_id_count, event_count, excluded_type_count;
    uint64_t offset;
    uint32_t limit;    /* 0: PAWL_PAGE_ROWS_DEFAULT; PAWL_PAGE_ROWS_MAX at the most */
    bool newest_first; /* else as they happened */
    bool total_only;   /* count, and return no records */
    bool must_exist;   /* PAWL_ENOTFOUND of an unknown instance, in place of nothing */
    /* With a filter: the rest behind the page is not read, and `total` counts up to its end. */
    bool without_total;
};

struct pawl_journal_list {
    struct pawl_json records; /* an array */
    uint64_t total;           /* of all that match */
};

/* Without a filter a page costs the same wherever it is; with one it costs what is before it, and
 * the rest too unless without_total. Nothing of an unknown instance. */
PAWL_MUST_CHECK int pawl__op_journal_list(const struct pawl_op *op,
                                          const struct pawl_journal_query *query,
                                          struct pawl_journal_list *out);
/* The newest record that says that an activity started, completed or faulted. PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__op_journal_last(const struct pawl_op *op, struct pawl_str instance_id,
                                          struct pawl_str activity_id, struct pawl_json *out);

/* ---- executions of activities --------------------------------------------------------------- */

/* "" and -1: any. */
struct pawl_execution_query {
    /* "": of all, as long as there are at most 1,000 with 10,000 executions; PAWL_EINVAL */
    struct pawl_str instance_id;
    struct pawl_str node_id;
    struct pawl_str activity_id;
    int is_completed; /* 1: it has an end, 0: it has none */
};

/* An array, in the order in which they began. */
PAWL_MUST_CHECK int pawl__op_executions_list(const struct pawl_op *op,
                                             const struct pawl_execution_query *query,
                                             struct pawl_json *out);
/*
 * The instance that has this execution, in op->arena, by the execution's id alone: nothing but an
 * index of instances is asked. PAWL_ENOTFOUND: also of instances of a store of version 1.
 */
PAWL_MUST_CHECK int pawl__op_execution_locate(const struct pawl_op *op, struct pawl_str id,
                                              struct pawl_str *instance_id);
/* One by its id. `instance_id` "", here and below: it is looked for. PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__op_execution_show(const struct pawl_op *op, struct pawl_str instance_id,
                                            struct pawl_str id, struct pawl_json *out);
/*
 * Those that led to this one, the outermost first, itself last: of its own instance, or (`across`)
 * also of those that started it. An instance that is gone ends the chain. PAWL_ENOTFOUND.
 */
PAWL_MUST_CHECK int pawl__op_execution_stack(const struct pawl_op *op, struct pawl_str instance_id,
                                             struct pawl_str id, bool across,
                                             struct pawl_json *out);

/* How often a node of the graph was executed. */
struct pawl_execution_stats {
    struct pawl_str activity_id, node_id;
    int64_t started, completed;
    int64_t fault_count; /* its own and those below it */
    bool is_blocked;     /* an execution waits for a bookmark */
    bool is_faulted;
    struct pawl_json metadata; /* of the last execution */
};

/* Of these nodes, in this order of their first execution; none: of all. The instance as in struct
 * pawl_execution_query. */
PAWL_MUST_CHECK int pawl__op_executions_report(const struct pawl_op *op,
                                               struct pawl_str instance_id,
                                               const struct pawl_str *node_ids, size_t node_count,
                                               const struct pawl_execution_stats **out,
                                               size_t *count);

#endif
