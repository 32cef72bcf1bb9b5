/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on retention: dropping what the settings retention.* do not keep any longer. */
#ifndef PAWL_OPERATIONS_RETENTION_H
#define PAWL_OPERATIONS_RETENTION_H

#include "operations/operation.h"

struct pawl_retention_result {
    uint64_t finished; /* instances that ended so, each with everything that belongs to it */
    uint64_t cancelled;
    uint64_t faulted;
    uint64_t dead_letters;
    uint64_t reservations; /* keys of callers that have expired */
    uint64_t audit;        /* records of what operators changed */
    bool more;             /* a batch was full: ask again */
};

/*
 * Drops one batch (1,000 of each kind) of what has been kept long enough by the host's settings.
 * `dry_run`: only counts, all there are. Workers do this every minute; any number at once may. An
 * error may come after some of it was done.
 */
PAWL_MUST_CHECK int pawl__op_retain(const struct pawl_op *op, bool dry_run,
                                    struct pawl_retention_result *out);

#endif
