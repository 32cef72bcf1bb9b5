/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Retention: what has ended goes when it is old enough, in bounded batches, and is counted.
 *
 * An instance goes with everything that belongs to it, and only under its claim, as it is then: one
 * that an operator has reopened meanwhile stays. Any number of nodes may do this at once.
 */
#ifndef PAWL_RUNTIME_NODE_RETENTION_H
#define PAWL_RUNTIME_NODE_RETENTION_H

#include "runtime/audit.h"
#include "runtime/runtime.h"
#include "runtime/values.h"

struct pawl_retained {
    uint64_t finished; /* instances */
    uint64_t cancelled;
    uint64_t faulted;
    uint64_t dead_letters;
    uint64_t reservations; /* keys of callers that have expired */
    uint64_t audit;        /* records of what operators did */
    bool more;             /* a batch was full: there is more to drop */
};

/*
 * Drops what is due to go. Reservations go when they say so, and so
 * do replies to requests, which are not counted. What others have in hand is left for
 * another time. An error may come after some of it was done: *out says how much.
 */
PAWL_MUST_CHECK int pawl__runtime_retain(struct pawl_runtime *runtime,
                                         const struct pawl_retention_policy *policy,
                                         struct pawl_retained *out, int64_t deadline_ns,
                                         struct pawl_error *err);

#endif
