/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store around another that tells who waits for an instance when a commit with its end is
 * durable. So a client that waits is measured without asking the store again and again.
 */
#ifndef PAWL_BENCH_WATCH_H
#define PAWL_BENCH_WATCH_H

#include <pawl/ext/env.h>
#include <pawl/ext/store.h>

/* Takes `inner`. */
struct pawl_store *watch_new(struct pawl_env *env, struct pawl_store *inner);

/* One instance per `slot` (below BENCH_THREADS_MAX), each slot one thread's. The id is borrowed
 * until watch_await() has returned. */
void watch_expect(struct pawl_store *store, unsigned slot, struct pawl_str instance_id);
/* Until the instance has finished, cancelled or faulted. */
void watch_await(struct pawl_store *store, unsigned slot, int64_t deadline_ns);

/* Claims so far that were refused because an owner lives, and because somebody else, or this very
 * node a moment ago, has the lock. */
struct watch_refusals {
    uint64_t claims, by_owner, by_lock;
};
struct watch_refusals watch_refused(struct pawl_store *store);

#endif
