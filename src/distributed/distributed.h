/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
/*
 * What makes nodes of one store a cluster. It wraps the services of a node (src/runtime) and never
 * changes what execution does.
 *
 *     runtime       the node's, with a guard: each burst, delete, import and alteration holds
 *                   the lock workflow-instance:{id}                  guard.c, runtime.c
 *     queue worker  one node at a time queries for work              queue_worker.c
 *     refresher     one node at a time recomputes the same triggers  refresher.c
 *     reloader      one node at a time reads definitions from their providers   reloader.c
 *
 * Locks save work: nodes do not attempt what another one is doing. Safety comes from the store,
 * which checks owner, fence and revision of every commit. So a lock that is lost, granted twice or
 * never released costs only time. If a lock is refused for longer than a node's lease (its holder
 * is paused or disconnected, or never released it; its service is unavailable), the store's claim
 * decides without it: `patience_ns`. Callers get an error if the service is unavailable.
 *
 * The names of locks are those of Elsa's distributed runtime.
 */
/* clang-format on */
#ifndef PAWL_DISTRIBUTED_DISTRIBUTED_H
#define PAWL_DISTRIBUTED_DISTRIBUTED_H

#include "locks/locks.h"
#include "resilience/retry.h"
#include "runtime/definitions/refresher.h"
#include "runtime/node/client.h"
#include "runtime/node/guard.h"
#include "runtime/node/queue_worker.h"

#define PAWL_DISTRIBUTED_INSTANCE_LOCK "workflow-instance:"
#define PAWL_DISTRIBUTED_QUEUE_LOCK "DistributedBookmarkQueueWorker"
#define PAWL_DISTRIBUTED_REFRESHER_LOCK "WorkflowDefinitionsRefresher:"
#define PAWL_DISTRIBUTED_RELOADER_LOCK "WorkflowDefinitionsReloader"

/* Parts of work, see queue_worker.h: no more partitions than that. */
#define PAWL_DISTRIBUTED_PARTITIONS_MAX PAWL_QUEUE_PARTS

/* What all of them need. Each copies it and borrows what it points to. */
struct pawl_distribution {
    struct pawl_env *env;
    struct pawl_locks *locks;
    const struct pawl_log *log;     /* NULL: none */
    struct pawl_retry_policy retry; /* of acquiring an instance's lock for a caller */
    int64_t acquire_ns;             /* for all attempts together; then PAWL_ETIMEDOUT */
    int64_t try_ns;                 /* how long a worker waits for an instance's lock */
    int64_t patience_ns;            /* how long a refused lock is respected; see above */
    uint32_t partitions;            /* of the queue; 0: 1 */
    /* Locks and store are one server: the store acquires the locks of instances with its claims, by
     * tickets that the provider makes. */
    bool tickets;
};

/* Elsa's values, but 10 s instead of 10 minutes; patience is a node's usual lease. */
void pawl__distribution_init(struct pawl_distribution *distribution, struct pawl_env *env,
                             struct pawl_locks *locks);

/*
 * Acquires within `deadline_ns`. Retries after transient errors and logs each. PAWL_ETIMEDOUT:
 * somebody held it all the time. PAWL_EUNAVAILABLE and others: of the last attempt. Never
 * PAWL_EUNKNOWN: a grant that may be held is released and counts as not held.
 */
PAWL_MUST_CHECK int pawl__distributed_acquire(const struct pawl_distribution *distribution,
                                              struct pawl_str name, int64_t deadline_ns,
                                              struct pawl_lock *out, struct pawl_error *err);
/* A failure is only logged: the work is done, and the lock ends with its lease or connection. */
void pawl__distributed_release(const struct pawl_distribution *distribution, struct pawl_str name,
                               struct pawl_lock lock);

/* ---- guard and runtime ---------------------------------------------------------------------- */

/* PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__distributed_guard_new(const struct pawl_distribution *distribution,
                                                struct pawl_guard **out, struct pawl_error *err);
void pawl__distributed_guard_free(struct pawl_guard *guard); /* NULL allowed */

/*
 * Wraps the local runtime, whose node has this guard. Its clients are the local ones: they
 * delegate to the node, which calls the guard before it changes an instance. Takes both on
 * success and closes them with itself. PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int pawl__distributed_workflow_runtime_new(struct pawl_env *env,
                                                           struct pawl_workflow_runtime *local,
                                                           struct pawl_guard *guard,
                                                           struct pawl_workflow_runtime **out,
                                                           struct pawl_error *err);

/* ---- queue worker ---------------------------------------------------------------------------- */

/*
 * Replaces the local one. Partition n of N > 1 has the lock "DistributedBookmarkQueueWorker:n".
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

/* ---- reach ----------------------------------------------------------------------------------- */

/*
 * Whether all nodes that may open the store see the locks: between hosts, or between the processes
 * of one host. Decorators do not matter. PAWL_EINVAL: they do not, and the message says what to do;
 * with `allow_local` this is only logged.
 */
PAWL_MUST_CHECK int pawl__distributed_check_reach(const struct pawl_lock_provider *provider,
                                                  const struct pawl_store *store, bool allow_local,
                                                  const struct pawl_log *log,
                                                  struct pawl_error *err);

#endif
