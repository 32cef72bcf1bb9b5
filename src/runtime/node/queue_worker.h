/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue worker: who may take what is due. The pool asks it for a turn before it looks for work,
 * and gives the turn back as soon as what it found is this node's: a burst that takes long holds up
 * nobody, here or elsewhere.
 *
 * On one node the turn is always ours and covers everything. A distributed one takes a lock for a
 * partition: its holder takes from that partition, others skip it without waiting. That saves
 * work and is no guard: what is taken twice is committed once.
 */
#ifndef PAWL_RUNTIME_NODE_QUEUE_WORKER_H
#define PAWL_RUNTIME_NODE_QUEUE_WORKER_H

#include <pawl/error.h>
#include <pawl/ext/env.h>

#include <stdbool.h>

/* Parts of work: rows have a number below this. */
#define PAWL_QUEUE_PARTS 1024u

struct pawl_queue_worker;

struct pawl_queue_turn {
    uint32_t part_from; /* parts of work [from, to) of 1024; 0 and 0: all */
    uint32_t part_to;
    bool more;    /* there are parts that the next turn covers: look there too before waiting */
    void *ticket; /* the worker's own */
};

#define PAWL_QUEUE_WORKER_VERSION 1u

struct pawl_queue_worker_ops {
    uint32_t version;
    /* After all turns were given back. */
    void (*close)(struct pawl_queue_worker *worker);
    /*
     * PAWL_OK: *turn is the caller's until end(). PAWL_EBUSY: others have all there is; look again
     * later. Any other error: likewise, and worth a line in the log. Any thread, several at a time.
     */
    int (*begin)(struct pawl_queue_worker *worker, struct pawl_queue_turn *turn,
                 int64_t deadline_ns, struct pawl_error *err);
    /* Cannot fail: what cannot be given back ends by itself. On any thread. */
    void (*end)(struct pawl_queue_worker *worker, struct pawl_queue_turn *turn);
};

/* An implementation embeds this as its first member. */
struct pawl_queue_worker {
    const struct pawl_queue_worker_ops *ops;
    const char *name;
};

/* That of one node. Borrows env. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__local_queue_worker_new(struct pawl_env *env,
                                                 struct pawl_queue_worker **out,
                                                 struct pawl_error *err);

/* NULL allowed. */
static inline void pawl__queue_worker_close(struct pawl_queue_worker *worker)
{
    if (worker)
        worker->ops->close(worker);
}

PAWL_MUST_CHECK static inline int pawl__queue_worker_begin(struct pawl_queue_worker *worker,
                                                           struct pawl_queue_turn *turn,
                                                           int64_t deadline_ns,
                                                           struct pawl_error *err)
{
    return worker->ops->begin(worker, turn, deadline_ns, err);
}

static inline void pawl__queue_worker_end(struct pawl_queue_worker *worker,
                                          struct pawl_queue_turn *turn)
{
    worker->ops->end(worker, turn);
}

#endif
