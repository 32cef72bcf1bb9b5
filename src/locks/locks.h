/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks for everybody in a process: what is common to all providers, once.
 *
 * A struct pawl_locks uses one provider (<pawl/ext/lock.h>). It queues the waiters for the
 * same name first come first served, so that many local waiters are one waiter at the service;
 * retries a refused attempt (2 ms, doubled with jitter up to `poll_ms_max`, at once when the
 * provider wakes it); releases what an attempt with an unknown outcome may have acquired; and has
 * one thread, the keeper, that renews leases at a third of their time and says when one is lost.
 *
 *     held --(less than a third of the lease left)--> suspect --> lost
 *        \------------------- release ----------------------> gone
 *
 * A lease that fails to be renewed is tried again until it ends; one blip loses no lock. Its end is
 * reported when it comes, whether or not a call to the service hangs: pawl__lock_valid() compares
 * with the clock and needs no message. Nothing is re-entrant: a second attempt by the same process
 * waits like everybody's.
 *
 * Handles are numbers with a generation: releasing one twice, or one that was lost, does nothing to
 * the next holder. All calls except free may be made from any thread.
 */
#ifndef PAWL_LOCKS_LOCKS_H
#define PAWL_LOCKS_LOCKS_H

#include <pawl/ext/lock.h>
#include <pawl/ext/log.h>
#include <pawl/ext/store.h>

struct pawl_locks;

/* A held lock. All zero is none. */
struct pawl_lock {
    uint64_t number;
};

enum pawl_lock_state {
    PAWL_LOCK_GONE, /* released, or never held */
    PAWL_LOCK_HELD,
    PAWL_LOCK_SUSPECT, /* less than a third of its lease is left: begin nothing new under it */
    PAWL_LOCK_LOST,
};

struct pawl_locks_options {
    const struct pawl_log *log; /* NULL: none. Borrowed */
    int64_t poll_ms_max;        /* 0: 800 */
    int64_t call_ms;            /* for one call to the service; 0: 5000 */
    size_t held_max;            /* locks held and waited for at a time; 0: 100,000 */
    bool borrow;                /* the provider stays the caller's, who closes it afterwards */
};

/* Cancels a waiting acquire. Zeroed by the caller; one acquire at a time. */
struct pawl_lock_cancel {
    _Atomic(uint32_t) asked;
};

/* Takes `provider` on success, unless told to borrow it. PAWL_ENOMEM; what listen() returns. */
PAWL_MUST_CHECK int pawl__locks_new(struct pawl_env *env, struct pawl_lock_provider *provider,
                                    const struct pawl_locks_options *options,
                                    struct pawl_locks **out, struct pawl_error *err);
/* Gives back what is held, within `call_ms`; nobody waits any more. NULL allowed. */
void pawl__locks_free(struct pawl_locks *locks);

struct pawl_lock_provider *pawl__locks_provider(struct pawl_locks *locks); /* borrowed */

/*
 * Waits until it holds `name` (copied) or `deadline_ns`, which is PAWL_FOREVER or past, too. flags:
 * PAWL_LOCK_WANT_…. `cancel` may be NULL. PAWL_ETIMEDOUT: somebody else held it all the time.
 * PAWL_ECANCELLED; PAWL_EUNAVAILABLE and others at once, as the provider says: retrying is the
 * caller's. PAWL_EUNKNOWN: perhaps held at the service until its lease ends; giving it back goes
 * on. PAWL_ELIMIT.
 */
PAWL_MUST_CHECK int pawl__locks_acquire(struct pawl_locks *locks, struct pawl_str name,
                                        uint32_t flags, int64_t deadline_ns,
                                        struct pawl_lock_cancel *cancel, struct pawl_lock *out,
                                        struct pawl_error *err);
/* One attempt. PAWL_EBUSY: held by somebody, here or elsewhere. Else as acquire. */
PAWL_MUST_CHECK int pawl__locks_try(struct pawl_locks *locks, struct pawl_str name, uint32_t flags,
                                    struct pawl_lock *out, struct pawl_error *err);
/* Any thread; the acquire that has this `cancel` returns PAWL_ECANCELLED soon. */
void pawl__locks_cancel(struct pawl_locks *locks, struct pawl_lock_cancel *cancel);

/*
 * Whatever is returned, the handle is gone and the name is free for others here. PAWL_ENOTFOUND: it
 * was lost before; others: the service could not be reached, the lock ends with its lease or
 * connection (the keeper keeps trying). A handle that is gone: PAWL_OK.
 */
PAWL_MUST_CHECK int pawl__locks_release(struct pawl_locks *locks, struct pawl_lock lock,
                                        struct pawl_error *err);

/* Cheap enough for every activity boundary: no system call but the clock, no mutex. */
enum pawl_lock_state pawl__lock_state(struct pawl_locks *locks, struct pawl_lock lock);
static inline bool pawl__lock_valid(struct pawl_locks *locks, struct pawl_lock lock)
{
    enum pawl_lock_state state = pawl__lock_state(locks, lock);

    return state == PAWL_LOCK_HELD || state == PAWL_LOCK_SUSPECT;
}
/* 0: not valid; PAWL_FOREVER: no lease. */
int64_t pawl__lock_remaining_ns(struct pawl_locks *locks, struct pawl_lock lock);
/* 0: none was asked for, or the handle is gone. */
uint64_t pawl__lock_token(struct pawl_locks *locks, struct pawl_lock lock);

/*
 * Calls `lost(ctx)` once, from a thread for such calls, if the lock is lost before it is released;
 * at once when it is lost already. After release() has returned no call comes and none is under
 * way (so do not release inside it). PAWL_ENOTFOUND: the handle is gone.
 */
PAWL_MUST_CHECK int pawl__lock_on_lost(struct pawl_locks *locks, struct pawl_lock lock,
                                       void (*lost)(void *ctx), void *ctx, struct pawl_error *err);

struct pawl_locks_counts {
    uint64_t granted, refused, unavailable, unknown, renewed, lost, released;
    uint64_t held, waiting; /* now */
};
void pawl__locks_counts(struct pawl_locks *locks, struct pawl_locks_counts *out);

#endif
