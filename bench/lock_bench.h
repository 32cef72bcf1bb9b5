/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the measurements of locks share: rows that are measured in turns and compared with a floor,
 * and the time from who releases a lock to who waits for it.
 */
#ifndef PAWL_BENCH_LOCK_BENCH_H
#define PAWL_BENCH_LOCK_BENCH_H

#include "harness.h"
#include "locks/locks.h"

#define LOCK_BENCH_ROWS_MAX 16u
#define LOCK_BENCH_ROUNDS_MAX 31u
/* What is promised without a token: at most so many times the floor. */
#define LOCK_BENCH_RATIO_MAX 1.5
#define LOCK_BENCH_HANDS 11u

struct lock_bench_row {
    const char *name;
    bench_once once;
    int floor;        /* number of the row it is compared with; -1: none */
    double ratio_max; /* of the medians; 0: nothing is promised */
};

/*
 * Measures all rows in turns, `rounds` times (1 to LOCK_BENCH_ROUNDS_MAX, else that) for `seconds`
 * each, with `ctx`, and prints them: medians, the quickest tenth, and both as ratios. Answers 1
 * when a promise is missed.
 */
int lock_bench_run(struct pawl_env *env, const struct lock_bench_row *rows, size_t count, void *ctx,
                   double seconds, unsigned rounds);

/* One acquire and release. */
void lock_bench_once(struct pawl_locks *locks, uint32_t flags);

/* A bench_once that does that with a member of `struct bed`. */
#define LOCK_BENCH_ONCE(name, member, flags)                                                       \
    static void name(void *ctx, unsigned thread, uint64_t round)                                   \
    {                                                                                              \
        (void)thread;                                                                              \
        (void)round;                                                                               \
        lock_bench_once(((struct bed *)ctx)->member, flags);                                       \
    }

/* Takes the provider. `deaf` (NULL: not) is room for its table, changed so that nobody is told that
 * a lock is free. */
struct pawl_locks *lock_bench_open(struct pawl_env *env, struct pawl_lock_provider *provider,
                                   struct pawl_lock_provider_ops *deaf);

/* Milliseconds from the call of release() at one to the end of acquire() at the other, the median
 * of LOCK_BENCH_HANDS, after waits of half a second and more; told and by asking, printed. */
void lock_bench_hand_over(struct pawl_env *env, const char *name, struct pawl_locks *from,
                          struct pawl_locks *told, struct pawl_locks *deaf);

#endif
