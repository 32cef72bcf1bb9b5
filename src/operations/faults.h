/* SPDX-License-Identifier: Apache-2.0 */
/* Faults by cause: which incidents the latest instances with incidents have in common. */
#ifndef PAWL_OPERATIONS_FAULTS_H
#define PAWL_OPERATIONS_FAULTS_H

#include "operations/instances.h"

/* Instances that are looked at, the latest first. Each costs reading its state. */
#define PAWL_FAULT_INSTANCES_MAX 500u
#define PAWL_FAULT_INSTANCES_DEFAULT 100u

struct pawl_fault_query {
    struct pawl_str definition_id; /* "": any */
    uint32_t instance_limit;       /* 0: PAWL_FAULT_INSTANCES_DEFAULT */
};

/* Incidents with the same definition, activity, exception and message. */
struct pawl_fault_cause {
    struct pawl_str definition_id, activity_id, activity_type, exception_type, message;
    struct pawl_str instance_id; /* the latest that has it */
    int64_t last_us;             /* when that instance changed */
    uint64_t incidents, instances;
};

struct pawl_fault_list {
    const struct pawl_fault_cause *causes; /* the most frequent first */
    size_t count;
    size_t looked_at; /* instances */
    bool has_more;    /* instances that were not looked at */
};

PAWL_MUST_CHECK int pawl__op_faults_list(const struct pawl_op *op,
                                         const struct pawl_fault_query *query,
                                         struct pawl_fault_list *out);

#endif
