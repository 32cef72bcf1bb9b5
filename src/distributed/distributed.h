/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The coordination shell: what makes nodes of one store a cluster. It wraps what a node has
 * (src/runtime) and never changes what execution does.
 *
 *     runtime      the node's, with a guard: each burst, deleting, importing and altering happen
 *                  under the lock workflow-instance:{id}                            guard.c,
 * runtime.c queue worker one node at a time looks for work queue_worker.c refresher    one node at
 * a time works out the same triggers                 refresher.c reloader     one node at a time
 * reads definitions from their providers      reloader.c
 *
 * Locks save work: nodes do not try what another one is at. What makes it safe is the store, which
 * checks owner, fence and revision of every commit. So a lock that is lost, granted twice or never
 * given back costs time and nothing else, and where a lock stands in the way for longer than a
 * node's lease (its holder is paused, cut off, or has forgotten it; its service is away) the
 * store's claim decides without it: `patience_ns`. Callers are told of a service that is away.
 *
 * The names of locks are those of Elsa's distributed runtime.
 */
#ifndef PAWL_DISTRIBUTED_DISTRIBUTED_H
#define PAWL_DISTRIBUTED_DISTRIBUTED_H

#include "locks/locks.h"
#include "resilience/retry.h"
#include "runtime/client.h"
#include "runtime/guard.h"
#include "runtime/queue_worker.h"
#include "runtime/refresher.h"

#define PAWL_DISTRIBUTED_INSTANCE_LOCK "workflow-instance:"
#define PAWL_DISTRIBUTED_QUEUE_LOCK "DistributedBookmarkQueueWorker"
#define PAWL_DISTRIBUTED_REFRESHER_LOCK "WorkflowDefinitionsRefresher:"
#define PAWL_DISTRIBUTED_RELOADER_LOCK "WorkflowDefinitionsReloader"

/* Parts of work, see queue_worker.h: no more partitions than that. */
#define PAWL_DISTRIBUTED_PARTITIONS_MAX PAWL_QUEUE_PARTS

/* What all of them need; copied by each, borrowing what it points to. */
struct pawl_distribution {
    struct pawl_env *env;
    struct pawl_locks *locks;
    const struct pawl_log *log;     /* NULL: none */
    struct pawl_retry_policy retry; /* of acquiring an instance's lock for a caller */
    int64_t acquire_ns;             /* for all attempts together; then PAWL_ETIMEDOUT */
    int64_t try_ns;                 /* how long a worker waits for an instance's lock */
    int64_t patience_ns;            /* how long a lock that is refused counts; see above */
    uint32_t partitions;            /* of the queue; 0: 1 */
    /* The store takes the locks of instances with its claims: locks and store are one server. The
     * provider makes tickets then. */
    bool tickets;
};

/* As the reference has it, but 10 s in place of 10 minutes; patience is a node's usual lease. */
void pawl__distribution_init(struct pawl_distribution *distribution, struct pawl_env *env,
                             struct pawl_locks *locks);

/*
 * Acquires within `deadline_ns`, trying again after errors that pass, each with a line in the log.
 * PAWL_ETIMEDOUT: somebody held it all the time. PAWL_EUNAVAILABLE and others: of the last attempt.
 * Never PAWL_EUNKNOWN: what may be held is given back, and counts as not held.
 */
PAWL_MUST_CHECK int pawl__distributed_acquire(const struct pawl_distribution *distribution,
                                              struct pawl_str name, int64_t deadline_ns,
                                              struct pawl_lock *out, struct pawl_error *err);
/* Failing to is logged: the work is done, and the lock ends with its lease or connection. */
void pawl__distributed_release(const struct pawl_distribution *distribution, struct pawl_str name,
                               struct pawl_lock lock);

/* ---- guard and runtime ---------------------------------------------------------------------- */

/* PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__distributed_guard_new(const struct pawl_distribution *distribution,
                                                struct pawl_guard **out, struct pawl_error *err);
void pawl__distributed_guard_free(struct pawl_guard *guard); /* NULL allowed */

/*
 * A runtime around the local one whose node has this guard. Its clients are that one's: they
 * delegate to the node, which asks the guard wherever an instance is touched. Takes both on
 * success and closes them with itself. PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int pawl__distributed_workflow_runtime_new(struct pawl_env *env,
                                                           struct pawl_workflow_runtime *local,
                                                           struct pawl_guard *guard,
                                                           struct pawl_workflow_runtime **out,
                                                           struct pawl_error *err);

/* ---- queue worker ---------------------------------------------------------------------------- */

/*
 * In place of the local one. Partition n of N > 1 has the lock "DistributedBookmarkQueueWorker:n".
 * PAWL_EINVAL: more partitions than parts. PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int pawl__distributed_queue_worker_new(const struct pawl_distribution *distribution,
                                                       struct pawl_queue_worker **out,
                                                       struct pawl_error *err);

/* ---- decorators ------------------------------------------------------------------------------ */

/* Each takes `inner` on success and closes it with itself. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__distributed_refresher_new(const struct pawl_distribution *distribution,
                                                    struct pawl_refresher *inner,
                                                    struct pawl_refresher **out,
                                                    struct pawl_error *err);
PAWL_MUST_CHECK int pawl__distributed_reloader_new(const struct pawl_distribution *distribution,
                                                   struct pawl_reloader *inner,
                                                   struct pawl_reloader **out,
                                                   struct pawl_error *err);

/* ---- reach ------------------------------------------------------------------------------------
 */

/*
 * Whether locks reach as far as the store: between hosts when nodes on several may open it, between
 * the processes of a host when several of those may. Decorators are seen through. PAWL_EINVAL says
 * what to do; `allow_local` lets it pass with a line in the log.
 */
PAWL_MUST_CHECK int pawl__distributed_check_reach(const struct pawl_lock_provider *provider,
                                                  const struct pawl_store *store, bool allow_local,
                                                  const struct pawl_log *log,
                                                  struct pawl_error *err);

#endif
