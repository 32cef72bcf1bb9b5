/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks of one's own over another environment; see clock_env.h. */
#include "os/clock_env.h"

#include "base/alloc.h"

#include <stdatomic.h>

#define MONOTONIC_START_NS INT64_C(1000000000)

struct pawl_clock_env {
    struct pawl_env base;
    struct pawl_env *inner;
    _Atomic int64_t wall_ns;
    _Atomic int64_t monotonic_ns;
};

static struct pawl_clock_env *clock_of(struct pawl_env *env)
{
    return (struct pawl_clock_env *)env;
}

static struct pawl_env *inner_of(struct pawl_env *env)
{
    return clock_of(env)->inner;
}

static int64_t monotonic(struct pawl_env *env)
{
    return atomic_load(&clock_of(env)->monotonic_ns);
}

static int64_t processor(struct pawl_env *env)
{
    return pawl_env_processor_ns(inner_of(env));
}

static int64_t wall(struct pawl_env *env)
{
    return atomic_load(&clock_of(env)->wall_ns);
}

/* The other's time at which a deadline of this clock comes if nobody moves it on. */
static int64_t real_deadline(struct pawl_env *env, int64_t deadline_ns)
{
    int64_t now = pawl_env_monotonic_ns(inner_of(env)), mine = monotonic(env);

    if (deadline_ns == PAWL_FOREVER)
        return PAWL_FOREVER;
    if (deadline_ns <= mine)
        return now;
    return deadline_ns - mine < PAWL_FOREVER - now ? now + (deadline_ns - mine) : PAWL_FOREVER;
}

static int entropy(struct pawl_env *env, void *out, size_t size_bytes, struct pawl_error *err)
{
    return pawl_env_entropy(inner_of(env), out, size_bytes, err);
}

static int sleep_until(struct pawl_env *env, int64_t deadline_ns)
{
    if (deadline_ns == PAWL_FOREVER)
        return pawl_env_sleep_until(inner_of(env), PAWL_FOREVER);
    if (deadline_ns > monotonic(env))
        pawl__clock_env_advance(clock_of(env), deadline_ns - monotonic(env));
    return pawl_env_sleep_until(inner_of(env), INT64_MIN);
}

static int thread_start(struct pawl_env *env, const char *name, void (*run)(void *arg), void *arg,
                        struct pawl_thread **out, struct pawl_error *err)
{
    return pawl_thread_start(inner_of(env), name, run, arg, out, err);
}

static void thread_join(struct pawl_env *env, struct pawl_thread *thread)
{
    pawl_thread_join(inner_of(env), thread);
}

static int mutex_new(struct pawl_env *env, const char *name, struct pawl_mutex **out)
{
    return pawl_mutex_new(inner_of(env), name, out);
}

static void mutex_free(struct pawl_env *env, struct pawl_mutex *mutex)
{
    pawl_mutex_free(inner_of(env), mutex);
}

static int mutex_lock(struct pawl_env *env, struct pawl_mutex *mutex)
{
    return pawl_mutex_lock(inner_of(env), mutex);
}

static void mutex_lock_always(struct pawl_env *env, struct pawl_mutex *mutex)
{
    pawl_mutex_lock_always(inner_of(env), mutex);
}

static void mutex_unlock(struct pawl_env *env, struct pawl_mutex *mutex)
{
    pawl_mutex_unlock(inner_of(env), mutex);
}

static int cond_new(struct pawl_env *env, const char *name, struct pawl_cond **out)
{
    return pawl_cond_new(inner_of(env), name, out);
}

static void cond_free(struct pawl_env *env, struct pawl_cond *cond)
{
    pawl_cond_free(inner_of(env), cond);
}

static int cond_wait(struct pawl_env *env, struct pawl_cond *cond, struct pawl_mutex *mutex,
                     int64_t deadline_ns)
{
    return pawl_cond_wait(inner_of(env), cond, mutex, real_deadline(env, deadline_ns));
}

static void cond_signal(struct pawl_env *env, struct pawl_cond *cond)
{
    pawl_cond_signal(inner_of(env), cond);
}

static void cond_broadcast(struct pawl_env *env, struct pawl_cond *cond)
{
    pawl_cond_broadcast(inner_of(env), cond);
}

static const struct pawl_env_ops ops = {
    .version = PAWL_ENV_VERSION,
    .caps = PAWL_ENV_CAP_SIMULATED,
    .monotonic_ns = monotonic,
    .processor_ns = processor,
    .wall_ns = wall,
    .entropy = entropy,
    .sleep_until = sleep_until,
    .thread_start = thread_start,
    .thread_join = thread_join,
    .mutex_new = mutex_new,
    .mutex_free = mutex_free,
    .mutex_lock = mutex_lock,
    .mutex_lock_always = mutex_lock_always,
    .mutex_unlock = mutex_unlock,
    .cond_new = cond_new,
    .cond_free = cond_free,
    .cond_wait = cond_wait,
    .cond_signal = cond_signal,
    .cond_broadcast = cond_broadcast,
};

int pawl__clock_env_open(struct pawl_env *inner, const struct pawl_allocator *alloc,
                         int64_t wall_ns, struct pawl_clock_env **out)
{
    struct pawl_clock_env *clock = pawl__alloc_zeroed(&inner->alloc, sizeof *clock);

    if (!clock)
        return PAWL_ENOMEM;
    clock->base.ops = &ops;
    clock->base.alloc = alloc ? *alloc : inner->alloc;
    clock->inner = inner;
    atomic_init(&clock->wall_ns, wall_ns);
    atomic_init(&clock->monotonic_ns, MONOTONIC_START_NS);
    *out = clock;
    return PAWL_OK;
}

void pawl__clock_env_close(struct pawl_clock_env *clock)
{
    if (clock)
        pawl__free(&clock->inner->alloc, clock, sizeof *clock);
}

struct pawl_env *pawl__clock_env(struct pawl_clock_env *clock)
{
    return &clock->base;
}

void pawl__clock_env_advance(struct pawl_clock_env *clock, int64_t ns)
{
    atomic_fetch_add(&clock->monotonic_ns, ns);
    atomic_fetch_add(&clock->wall_ns, ns);
}

void pawl__clock_env_shift(struct pawl_clock_env *clock, int64_t ns)
{
    atomic_fetch_add(&clock->wall_ns, ns);
}
