/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guard: who else must be asked before an instance is touched.
 *
 * Every burst of an instance, whoever begins it (a caller, mail that a worker took, a timer, a
 * child), and deleting, importing and altering it, happen between enter() and leave(). On one node
 * there is no guard, and nothing is asked. That of a cluster acquires a lock, so that nodes do not
 * even try what another one is doing. It makes nothing safe: the store's claim and fence do
 * (docs/design/0001), with or without it.
 *
 * Not guarded: creating, exporting, looking, and asking for a cancellation, which is a flag.
 */
#ifndef PAWL_RUNTIME_NODE_GUARD_H
#define PAWL_RUNTIME_NODE_GUARD_H

#include "base/str.h"

#include <pawl/error.h>
#include <pawl/ext/env.h>
#include <pawl/ext/store.h>

#include <stdbool.h>
#include <stdint.h>

struct pawl_guard;

#define PAWL_GUARD_VERSION 1u

/* What enter() gave. All zero: nothing that could be lost. */
struct pawl_guard_pass {
    uint64_t number; /* the guard's own to read */
    /* Not 0: nothing is locked yet, the claim does that with this as its ticket (docs/design/0005).
     */
    struct pawl_lock_ticket ticket;
};

enum pawl_guard_how {
    PAWL_GUARD_WAIT, /* for a caller, who waits */
    PAWL_GUARD_TRY,  /* for a worker, which has other work: hardly waits */
};

struct pawl_guard_ops {
    uint32_t version;
    /*
     * PAWL_OK: *out is the caller's until leave(). PAWL_EBUSY: another node holds it (TRY);
     * PAWL_ETIMEDOUT: it was until the deadline (WAIT). Other errors: nobody could be asked.
     * Nothing is entered then, and the caller puts its work off.
     */
    int (*enter)(struct pawl_guard *guard, struct pawl_str instance_id, enum pawl_guard_how how,
                 int64_t deadline_ns, struct pawl_guard_pass *out, struct pawl_error *err);
    /* Polled between activities. False: the pass is lost; what is being done ends soon. */
    bool (*is_valid)(struct pawl_guard *guard, struct pawl_guard_pass pass);
    /* With a ticket: what the claim returned. PAWL_EBUSY: somebody else holds the ticket's lock. */
    void (*claimed)(struct pawl_guard *guard, struct pawl_str instance_id, int status);
    /* Cannot fail: what cannot be given back ends by itself. */
    void (*leave)(struct pawl_guard *guard, struct pawl_str instance_id,
                  struct pawl_guard_pass pass);
};

/* An implementation embeds this as its first member. All calls from any thread. */
struct pawl_guard {
    const struct pawl_guard_ops *ops;
};

/* ---- fronts: `guard` NULL is that of one node, which always lets pass ------------------------ */

PAWL_MUST_CHECK static inline int
pawl__guard_enter(struct pawl_guard *guard, struct pawl_str instance_id, enum pawl_guard_how how,
                  int64_t deadline_ns, struct pawl_guard_pass *out, struct pawl_error *err)
{
    *out = (struct pawl_guard_pass){0};
    return guard ? guard->ops->enter(guard, instance_id, how, deadline_ns, out, err) : PAWL_OK;
}

static inline bool pawl__guard_is_valid(struct pawl_guard *guard, struct pawl_guard_pass pass)
{
    return !guard || guard->ops->is_valid(guard, pass);
}

static inline void pawl__guard_claimed(struct pawl_guard *guard, struct pawl_str instance_id,
                                       struct pawl_guard_pass pass, int status)
{
    if (guard && pass.ticket.key != 0)
        guard->ops->claimed(guard, instance_id, status);
}

static inline void pawl__guard_leave(struct pawl_guard *guard, struct pawl_str instance_id,
                                     struct pawl_guard_pass pass)
{
    if (guard)
        guard->ops->leave(guard, instance_id, pass);
}

#endif
