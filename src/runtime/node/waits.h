/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for an instance without a thread for each who waits.
 *
 * A node has one table of waiters and, from the first of them on, one thread, which looks at the
 * instances that are waited for: many in one query. It looks at once when this node commits an
 * instance that has become idle, has ended or was deleted; else, because another node may have it,
 * again and again, after 1 ms and then ever later up to 100 ms. A look that takes long makes the
 * pause before the next as long, so that waiters never take more than half of what a connection
 * can do.
 */
#ifndef PAWL_RUNTIME_NODE_WAITS_H
#define PAWL_RUNTIME_NODE_WAITS_H

#include "runtime/runtime.h"
#include "runtime/values.h"

/* Waiters of one node, at the most: more are refused. */
#define PAWL_WAITERS_MAX 10000u
#define PAWL_WAIT_WORK_MAX 511

/*
 * Called once for each waiter, on the table's thread or on the one that closes the runtime; it
 * must not wait for other waiters. PAWL_OK: `row` is the instance, without `state` and `counts`,
 * until the call returns. Else `row` is NULL: PAWL_ENOTFOUND (there is no such instance, or it was
 * deleted), PAWL_ETIMEDOUT, PAWL_ESTOPPED (the node ends), or an error of the store.
 */
typedef void pawl_wait_fn(void *ctx, int status, const struct pawl_instance_row *row,
                          const struct pawl_error *err);

struct pawl_wait {
    struct pawl_str instance_id; /* copied */
    /* Not before this row of work is gone, unless the instance is set aside; "": none. Until then
     * the instance need not be there. Copied; PAWL_EINVAL: longer than PAWL_WAIT_WORK_MAX. */
    struct pawl_str work_id;
    enum pawl_wait_until until;
    int64_t deadline_ns;
    pawl_wait_fn *done;
    void *ctx;
};

/*
 * Adds a waiter; `ticket` (NULL allowed) names it. PAWL_EBUSY: there are too many. PAWL_ESTOPPED,
 * PAWL_ENOMEM. When it fails `done` is not called.
 */
PAWL_MUST_CHECK int pawl__runtime_await(struct pawl_runtime *runtime, const struct pawl_wait *wait,
                                        uint64_t *ticket, struct pawl_error *err);
/* Removes it. True: it will not be called, and its `ctx` (NULL allowed) is the caller's again.
 * False: it has been, or is being called now, or was removed before. */
bool pawl__runtime_forget_wait(struct pawl_runtime *runtime, uint64_t ticket, void **ctx);

#endif
