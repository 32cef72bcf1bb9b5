/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The baton: an environment in which exactly one thread runs at a time and a seed decides which.
 *
 * Threads are real, time is a number. A thread keeps the baton until its next scheduling point:
 * every wait (locking, waiting for a condition, sleeping, joining), every unlock, every signal and
 * every thread start. There the seed chooses which thread continues. When none can, the clock jumps
 * to the next wake-up; when there is none either, that is a deadlock. The same program with the
 * same seed takes the same steps, so a bug that was found once is found again.
 * docs/internals/baton.md explains more.
 *
 *     pawl__baton_new(alloc, seed, NULL, &baton);
 *     pawl__baton_env(baton, "node-a", &env);
 *     pawl_thread_start(env, "main", body, arg, &thread, &err);   the roots
 *     status = pawl__baton_run(baton, &err);                      until all threads have ended
 *     pawl_thread_join(env, thread);                              or leave it to pawl__baton_free
 *     pawl__baton_free(baton);
 *
 * Outside of pawl__baton_run() the caller may use the environments too, as long as it would not
 * have to wait. A baton belongs to one caller at a time; different batons are independent.
 */
#ifndef PAWL_OS_BATON_H
#define PAWL_OS_BATON_H

#include "base/str.h"

#include <pawl/ext/env.h>

struct pawl_baton;

struct pawl_baton_options {
    /* Scheduling points before a run ends as a livelock. 0: 1,000,000. */
    uint64_t max_steps;
    /* Bytes of trace that are kept, at least 1024; the oldest lines go first. 0: 128 KiB. */
    size_t trace_bytes;
    /* Per scheduling point, in millionths: a waiter wakes for no reason. 0: never, as this also
     * hides lost wake-ups. */
    uint32_t spurious_ppm;
    /* Per scheduling point, in millionths: the thread is paused for up to `pause_ns_max` while
     * others and the clock continue, like a thread that the system does not schedule. 0: never. */
    uint32_t pause_ppm;
    int64_t pause_ns_max;
    /* Called at every scheduling point, before the next thread is chosen, while no other runs:
     * it looks at anything, and waits for nothing. NULL: nobody looks. */
    void (*look)(void *ctx);
    void *look_ctx;
};

/* What the clocks show at the start: 1 s, and 2025-01-01 00:00:00 UTC plus that second. */
#define PAWL_BATON_MONOTONIC_START_NS INT64_C(1000000000)
#define PAWL_BATON_WALL_START_NS INT64_C(1735689601000000000)

/*
 * `alloc` is copied; it serves all environments of this baton and need not be thread-safe.
 * `options` NULL: the defaults. PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int pawl__baton_new(const struct pawl_allocator *alloc, uint64_t seed,
                                    const struct pawl_baton_options *options,
                                    struct pawl_baton **out);

/*
 * Frees it with its environments and the threads nobody joined; those that never ran are dropped
 * unrun. Mutexes and conditions must be freed before. NULL allowed.
 */
void pawl__baton_free(struct pawl_baton *baton);

/*
 * One simulated node: an environment that can be stopped alone. `name` is copied, 31 bytes at the
 * most. It lives as long as the baton. A node that restarts gets a new one, whose name may be the
 * same. PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int pawl__baton_env(struct pawl_baton *baton, const char *name,
                                    struct pawl_env **out);

/*
 * A simulated crash: from now on waits in `env` return PAWL_ESTOPPED, whichever thread they are of,
 * and its threads unwind, while other environments continue. Callable from a thread of any
 * environment and from outside.
 */
void pawl__baton_env_stop(struct pawl_env *env);

/* For pawl_baton_options.look: whether no thread holds this mutex, which is one of a baton's. */
bool pawl__baton_mutex_is_free(const struct pawl_mutex *mutex);

/*
 * Lets the threads run until all have ended. May be called again after new ones were started.
 *
 * PAWL_EDEADLOCK: threads wait for each other in a circle, or all wait and nothing will wake them.
 * PAWL_ELIMIT: `max_steps` were taken. In both cases every wait then returned PAWL_ESTOPPED, and
 * the threads have unwound; the message has the seed and the waits, pawl__baton_report() all of it.
 * Threads that cannot unwind (joining each other) or will not (ignoring PAWL_ESTOPPED), and misuse
 * of a mutex, are printed and abort, as assertions do.
 */
PAWL_MUST_CHECK int pawl__baton_run(struct pawl_baton *baton, struct pawl_error *err);

/*
 * What each thread was doing when the run failed, one per line; "" if it did not fail (or there was
 * no memory for it). Borrowed until the baton is freed.
 */
struct pawl_str pawl__baton_report(struct pawl_baton *baton);

/*
 * One line per scheduling point: step, seconds, thread, operation, object, "->" and the next
 * thread. It has the newest lines that fit; the hash covers all there ever were. Borrowed until the
 * next step. Two runs are the same when step count and hash are the same.
 */
struct pawl_str pawl__baton_trace(const struct pawl_baton *baton);
uint64_t pawl__baton_trace_hash(const struct pawl_baton *baton);
uint64_t pawl__baton_step_count(const struct pawl_baton *baton);

#endif
