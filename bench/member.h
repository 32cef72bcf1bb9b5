/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node as a member of a cluster, in this process: locks of some service, the guard and the queue
 * worker of src/distributed, composed as src/host does it; and the same node without, to compare.
 * What goes to the lock service is counted; what goes to the store on demand, since the decorator
 * asks the server for its counts with each call.
 */
#ifndef PAWL_BENCH_MEMBER_H
#define PAWL_BENCH_MEMBER_H

#include "harness.h"

#include "distributed/distributed.h"
#include "locks/providers.h"
#include "stores/stores.h"

enum member_locks {
    MEMBER_LOCAL,   /* none: no member at all */
    MEMBER_TICKETS, /* of the store's PostgreSQL, with its claims */
    MEMBER_REDIS,
    MEMBER_FILES,
};

struct member {
    enum member_locks how;
    struct bench_node node;
    struct pawl_store *traced;           /* NULL: it is not */
    struct pawl_lock_provider *provider; /* traced */
    struct pawl_locks *locks;
    struct pawl_guard *guard;
    struct pawl_queue_worker *queue;
};

/* Takes the store. `uri`: of the locks, a folder for files. */
void member_open(struct member *member, struct pawl_env *env, struct pawl_store *store, bool trace,
                 enum member_locks how, const char *uri);
void member_close(struct member *member);

/* Calls to both so far. */
struct member_counts {
    struct pawl_store_counts store;
    struct pawl_lock_counts locks;
};
void member_look(struct member *member, struct member_counts *out);
/* Attempts at locks and releases: each is a round trip to a server. */
uint64_t member_lock_calls(const struct member_counts *before, const struct member_counts *after);

#endif
