/* SPDX-License-Identifier: Apache-2.0 */
/* Retention; see retention.h. */
#include "operations/retention.h"

#include "host/duty.h"
#include "operations/query.h"
#include "operations/record.h"
#include "runtime/node/retention.h"

int pawl__op_retain(const struct pawl_op *op, bool dry_run, struct pawl_retention_result *out)
{
    struct pawl_retention_policy policy =
        pawl__retention_policy(pawl__host_configuration(op->host));
    struct pawl_retained gone = {0};
    struct op_record record;
    int status = op_record_begin_many(op, &record, "retain", "store");

    if (status != PAWL_OK)
        return status;
    policy.dry_run = dry_run;
    policy.by = record.by;
    status = pawl__runtime_retain(op_runtime(op), &policy, &gone, op->deadline_ns, op->err);
    if (status == PAWL_OK)
        *out = (struct pawl_retention_result){
            .finished = gone.finished,
            .cancelled = gone.cancelled,
            .faulted = gone.faulted,
            .dead_letters = gone.dead_letters,
            .reservations = gone.reservations,
            .audit = gone.audit,
            .more = gone.more,
        };
    return status;
}
