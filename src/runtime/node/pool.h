/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker pool: threads that do the work that is due, as long as there is any, and wait for
 * more.
 *
 * One thread at a time looks for work (the leader): it takes a batch, shares it out, and does its
 * part; the next one that has nothing to do leads then. So an idle node asks its store once, not
 * once per thread, and a burst that takes long holds up nobody. When all threads are busy, a burst
 * that yields gives up its thread and goes behind what is due; otherwise it goes on. A thread whose
 * step does not come back (watch.c) is replaced, until there are twice as many as asked
 * for.
 */
#ifndef PAWL_RUNTIME_NODE_POOL_H
#define PAWL_RUNTIME_NODE_POOL_H

#include "runtime/node/queue_worker.h"
#include "runtime/runtime.h"
#include "runtime/values.h"

struct pawl_pool;

struct pawl_pool_options {
    uint32_t workers;  /* threads; 0: 4 */
    uint32_t take_max; /* pieces of work per look; 0: 64 */
    /* Between looks when nothing wakes the pool; 0: 1 s, or a quarter of the node's lease when that
     * is shorter: nothing wakes anybody when a node dies. */
    int64_t idle_ns_max;
    struct pawl_queue_worker *queue; /* whom it asks for its turn; NULL: nobody */
};

#define PAWL_POOL_WORKERS_MAX 256u

/* Borrows env, runtime and queue worker. Starts its threads. `options` NULL: the defaults. */
PAWL_MUST_CHECK int pawl__pool_open(struct pawl_env *env, struct pawl_runtime *runtime,
                                    const struct pawl_pool_options *options, struct pawl_pool **out,
                                    struct pawl_error *err);
/*
 * Takes nothing more and waits until what is being done is done. What was taken and not begun is
 * free when the node leaves. NULL allowed.
 */
void pawl__pool_close(struct pawl_pool *pool);

/* Takes nothing more; does not wait. To be followed by pawl__pool_close(). */
void pawl__pool_stop(struct pawl_pool *pool);
/* After that: until what is being done is done. PAWL_ETIMEDOUT, PAWL_ESTOPPED. */
PAWL_MUST_CHECK int pawl__pool_wait(struct pawl_pool *pool, int64_t deadline_ns);

/* Threads that were asked for. */
uint32_t pawl__pool_workers(const struct pawl_pool *pool);
void pawl__pool_counts(struct pawl_pool *pool, struct pawl_pool_counts *out);

#endif
