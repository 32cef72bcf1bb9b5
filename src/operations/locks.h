/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations on a lock service: who holds which locks, and whether it is suitable.
 *
 * `uri` names the service. "": that of op->host when it is started, else the one of its setting
 * `lock`; these operations need no started host. PAWL_EINVAL: none is named.
 */
#ifndef PAWL_OPERATIONS_LOCKS_H
#define PAWL_OPERATIONS_LOCKS_H

#include "locks/check_result.h"
#include "operations/operation.h"

#include <pawl/ext/lock.h>

struct pawl_lock_list {
    const struct pawl_lock_holder *holders; /* in no order */
    size_t count;
    bool has_more;  /* than `limit` */
    int64_t now_us; /* of this machine's clock */
};

/* `limit` 0: PAWL_PAGE_ROWS_DEFAULT. PAWL_EUNSUPPORTED: the service does not say who holds what. */
PAWL_MUST_CHECK int pawl__op_locks_list(const struct pawl_op *op, struct pawl_str uri,
                                        uint32_t limit, struct pawl_lock_list *out);
/* Held or not, it returns PAWL_OK. PAWL_EUNSUPPORTED. */
PAWL_MUST_CHECK int pawl__op_lock_show(const struct pawl_op *op, struct pawl_str uri,
                                       struct pawl_str name, struct pawl_lock_holder *out,
                                       int64_t *now_us);

/* ---- holding one ---------------------------------------------------------------------------- */

/* A lock service that is open for one lock to be held. */
struct pawl_lock_hold;

/* Borrows the host for its life. */
PAWL_MUST_CHECK int pawl__op_lock_open(const struct pawl_op *op, struct pawl_str uri,
                                       struct pawl_lock_hold **out);
/* When nothing is held. NULL allowed. */
void pawl__lock_hold_close(struct pawl_lock_hold *hold);
/* Waits until op->deadline_ns; then PAWL_ETIMEDOUT. */
PAWL_MUST_CHECK int pawl__op_lock_acquire(const struct pawl_op *op, struct pawl_lock_hold *hold,
                                          struct pawl_str name);
/* A number greater than that of every earlier holder; 0: the service has none. */
uint64_t pawl__lock_hold_token(const struct pawl_lock_hold *hold);
/*
 * Calls `lost(ctx)` once, from a thread of its own, if the lock is lost before it is released; at
 * once when it is lost already. After the release no call comes and none is under way.
 */
PAWL_MUST_CHECK int pawl__lock_hold_on_lost(struct pawl_lock_hold *hold, void (*lost)(void *ctx),
                                            void *ctx, struct pawl_error *err);
/* PAWL_ENOTFOUND: it was lost. */
PAWL_MUST_CHECK int pawl__lock_hold_release(struct pawl_lock_hold *hold, struct pawl_error *err);

/* ---- checking ------------------------------------------------------------------------------- */

struct pawl_lock_checked {
    size_t counts[PAWL_LOCK_CHECK_SKIPPED + 1]; /* by outcome */
};

/* Acquires and releases its own locks; reports each result at once. PAWL_EINVAL: in memory. */
PAWL_MUST_CHECK int pawl__op_locks_check(const struct pawl_op *op, struct pawl_str uri,
                                         void (*told)(void *ctx, const char *title,
                                                      const struct pawl_lock_check_result *result),
                                         void *ctx, struct pawl_lock_checked *out);

#endif
