/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The group committer: folds the commits of many workers into one apply().
 *
 * A sync to disk costs the same for one commit and for a hundred. Workers hand in theirs and wait;
 * a committer thread takes all that came in while the last apply() was on its way, up to a limit,
 * and applies them together. Nobody waits for a batch to fill: under light load a batch is one
 * commit, which its caller applies itself (`leads`), and costs what it must.
 *
 * It also turns UNKNOWN into an answer: after a lost reply it applies the same commits again. The
 * guards make that safe: owner, fence and revision, the done rows, the keys of inserted rows let
 * each take effect once; what has none of these is given a reservation (pawl__commit_may_repeat). A
 * commit that is then found not to match is looked up: the row's revision and the fence it was
 * written under say whether the first try was the one that took.
 *
 * A commit that the store cannot apply for now, alone of its batch (PAWL_EBUSY: somebody else has
 * its row locked), is applied again by itself until its deadline, with growing waits.
 *
 * States are compressed by the caller's thread (see pawl__pack), not by the committer's.
 */
#ifndef PAWL_RUNTIME_COMMIT_COMMITTER_H
#define PAWL_RUNTIME_COMMIT_COMMITTER_H

#include "base/arena.h"

#include <pawl/ext/env.h>
#include <pawl/ext/store.h>

struct pawl_committer;

struct pawl_committer_options {
    uint32_t threads;     /* apply() calls at a time; 0: 1 */
    uint32_t batch_max;   /* commits per apply(); 0: 128; at most PAWL_STORE_BATCH_MAX */
    uint32_t queue_max;   /* commits that wait; 0: 4096; more are PAWL_EBUSY */
    int64_t apply_ns_max; /* deadline of one apply(); 0: 10 s */
    /*
     * A caller who is alone applies its commit itself, on its own thread: nobody is woken for it,
     * and nobody wakes it. It then returns when the store does, whose deadline is its own; without
     * this a caller returns at its deadline even if a store exceeds it.
     */
    bool leads;
    /*
     * A commit that was given up as unknown has come to its end, and may have taken effect only
     * now: what it made is in nobody's hand. Called on a thread of the committer without its mutex.
     * NULL: nobody asks.
     */
    void (*landed)(void *ctx);
    void *landed_ctx;
};

struct pawl_committer_counts {
    uint64_t commits; /* applied */
    uint64_t dropped;
    uint64_t applies; /* calls */
    uint64_t led;     /* of them by callers who were alone */
    uint64_t largest; /* commits in one call */
    uint64_t unknown; /* calls whose outcome was unknown at first */
};

/* Borrows env and store for its life. Starts its threads. `options` NULL: the defaults. */
PAWL_MUST_CHECK int pawl__committer_new(struct pawl_env *env, struct pawl_store *store,
                                        const struct pawl_committer_options *options,
                                        struct pawl_committer **out, struct pawl_error *err);
/*
 * Applies what was handed in, then ends. Nothing may be handed in any more. Calls that still wait
 * get their answers first; in an environment that was stopped they must have returned before. NULL
 * allowed.
 */
void pawl__committer_free(struct pawl_committer *committer);

/*
 * Hands in a commit and waits for its answer: that of `commit->status`, or
 *   PAWL_EBUSY         too many wait already; nothing happened
 *   PAWL_ETIMEDOUT     the deadline came while it was still waiting; nothing happened
 *   PAWL_EUNAVAILABLE  the store cannot be reached, or is busy with it; nothing happened
 *   PAWL_ENOMEM, PAWL_ELIMIT  it cannot be copied; nothing happened
 *   PAWL_EUNKNOWN      it was sent, and until the deadline nobody could be asked what became of it;
 *                      or others have written since, and what is stored no longer tells
 *   PAWL_ESTOPPED      nothing happened
 * The commit is borrowed until the call returns, which is no later than the deadline (but see
 * `leads`): the committer works on a copy. One that was given up as unknown may still take effect,
 * as it may be on its way; it is not sent again. Of the commit's own answers `status`, and what
 * goes with it, are written when that was the store's; the others are left.
 */
PAWL_MUST_CHECK int pawl__committer_commit(struct pawl_committer *committer,
                                           struct pawl_commit *commit, int64_t deadline_ns,
                                           struct pawl_error *err);

/*
 * Whether all tickets are as they must be, by committer_ticket.c; if not, `why` says what is wrong.
 * For whoever knows that nobody else runs: it takes no mutex. True while that of the committer is
 * not free.
 */
bool pawl__committer_check_invariants(const struct pawl_committer *committer,
                                      bool (*is_free)(const struct pawl_mutex *mutex), char *why,
                                      size_t size);

void pawl__committer_counts(struct pawl_committer *committer, struct pawl_committer_counts *out);

#endif
