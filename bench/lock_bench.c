/* SPDX-License-Identifier: Apache-2.0 */
/* Measuring locks, see lock_bench.h. */
#include "lock_bench.h"

#include "base/str.h"

#include <stdatomic.h>
#include <stdio.h>

#define MS INT64_C(1000000)

struct figures {
    double p10[LOCK_BENCH_ROWS_MAX][LOCK_BENCH_ROUNDS_MAX];
    double p50[LOCK_BENCH_ROWS_MAX][LOCK_BENCH_ROUNDS_MAX];
};

/* ---- rows ---------------------------------------------------------------------------------- */

static int show(const struct lock_bench_row *rows, size_t count, struct figures *figures,
                unsigned rounds)
{
    double p50[LOCK_BENCH_ROWS_MAX], p10[LOCK_BENCH_ROWS_MAX];
    int failed = 0;

    printf("%-38s %10s %10s %8s %8s\n", "acquire and release, one thread", "p50 us", "p10 us",
           "of p50", "of p10");
    for (size_t i = 0; i < count; i++) {
        const struct lock_bench_row *row = &rows[i];

        p50[i] = bench_median(figures->p50[i], rounds);
        p10[i] = bench_median(figures->p10[i], rounds);
        printf("%-38s %10.2f %10.2f", row->name, p50[i], p10[i]);
        if (row->floor >= 0) {
            double ratio = p50[i] / p50[row->floor];

            printf(" %8.2f %8.2f", ratio, p10[i] / p10[row->floor]);
            if (row->ratio_max > 0 && ratio > row->ratio_max) {
                printf("   MISSED: at most %.1f", row->ratio_max);
                failed = 1;
            }
        }
        printf("\n");
    }
    return failed;
}

int lock_bench_run(struct pawl_env *env, const struct lock_bench_row *rows, size_t count, void *ctx,
                   double seconds, unsigned rounds)
{
    struct figures figures = {0};

    if (count > LOCK_BENCH_ROWS_MAX)
        bench_fail("locks", "too many rows");
    if (rounds == 0 || rounds > LOCK_BENCH_ROUNDS_MAX)
        rounds = LOCK_BENCH_ROUNDS_MAX;
    for (unsigned round = 0; round < rounds; round++)
        for (size_t i = 0; i < count; i++) {
            struct bench_rate rate;

            bench_repeat(env, 1, seconds, rows[i].once, ctx, &rate);
            figures.p10[i][round] = rate.p10_us;
            figures.p50[i][round] = rate.p50_us;
        }
    return show(rows, count, &figures, rounds);
}

void lock_bench_once(struct pawl_locks *locks, uint32_t flags)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_lock lock;

    bench_need(pawl__locks_try(locks, pawl__str("bench"), flags, &lock, &err), &err, "acquire");
    bench_need(pawl__locks_release(locks, lock, &err), &err, "release");
}

struct pawl_locks *lock_bench_open(struct pawl_env *env, struct pawl_lock_provider *provider,
                                   struct pawl_lock_provider_ops *deaf)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_locks *locks = NULL;

    if (deaf) {
        *deaf = *provider->ops;
        deaf->caps &= ~(PAWL_LOCK_CAP_WAKE | PAWL_LOCK_CAP_WAIT);
        provider->ops = deaf;
    }
    bench_need(pawl__locks_new(env, provider, NULL, &locks, &err), &err, "locks");
    return locks;
}

/* ---- hand-over ----------------------------------------------------------------------------- */

struct hand {
    struct pawl_env *env;
    struct pawl_locks *from, *to;
    _Atomic(int64_t) taken_ns;
};

static void take_over(void *arg)
{
    struct hand *hand = arg;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_lock lock;

    bench_need(pawl__locks_acquire(hand->to, pawl__str("hand"), 0, PAWL_FOREVER, NULL, &lock, &err),
               &err, "acquire");
    atomic_store(&hand->taken_ns, pawl_env_monotonic_ns(hand->env));
    bench_need(pawl__locks_release(hand->to, lock, &err), &err, "release");
}

static double hand_over(struct pawl_env *env, struct pawl_locks *from, struct pawl_locks *to)
{
    struct hand hand = {.env = env, .from = from, .to = to};
    double times[LOCK_BENCH_HANDS];

    for (unsigned i = 0; i < LOCK_BENCH_HANDS; i++) {
        struct pawl_error err = PAWL_ERROR_INIT;
        struct pawl_thread *thread;
        struct pawl_lock lock;
        int64_t released_ns;

        bench_need(pawl__locks_acquire(from, pawl__str("hand"), 0, PAWL_FOREVER, NULL, &lock, &err),
                   &err, "acquire");
        bench_need(pawl_thread_start(env, "taker", take_over, &hand, &thread, &err), &err,
                   "thread");
        /* Of different lengths, so that a waiter who asks is met anywhere between two questions. */
        bench_need(pawl_env_sleep_until(env, pawl_env_monotonic_ns(env) +
                                                 (500 + 173 * (int64_t)i % 700) * MS),
                   NULL, "sleep");
        released_ns = pawl_env_monotonic_ns(env);
        bench_need(pawl__locks_release(from, lock, &err), &err, "release");
        pawl_thread_join(env, thread);
        times[i] = (double)(atomic_load(&hand.taken_ns) - released_ns) / 1e6;
    }
    return bench_median(times, LOCK_BENCH_HANDS);
}

void lock_bench_hand_over(struct pawl_env *env, const char *name, struct pawl_locks *from,
                          struct pawl_locks *told, struct pawl_locks *deaf)
{
    double push_ms = hand_over(env, from, told), ask_ms = hand_over(env, from, deaf);

    printf("hand-over, %-16s %10.3f ms, by asking %10.3f ms: %.0f times as long\n", name, push_ms,
           ask_ms, ask_ms / push_ms);
}
