/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/clock.h"

#include <stdatomic.h>
#include <stdlib.h>

#define MONOTONIC_START_NS INT64_C(1000000000)

struct test_clock {
    struct pawl_env base;
    struct pawl_env *system;
    _Atomic int64_t wall_ns;
    _Atomic int64_t monotonic_ns;
};

static struct test_clock *clock_of(struct pawl_env *env)
{
    return (struct test_clock *)env;
}

static struct pawl_env *system_of(struct pawl_env *env)
{
    return clock_of(env)->system;
}

static int64_t monotonic(struct pawl_env *env)
{
    return atomic_load(&clock_of(env)->monotonic_ns);
}

static int64_t wall(struct pawl_env *env)
{
    return atomic_load(&clock_of(env)->wall_ns);
}

/* The system's time at which a deadline of this clock comes if nobody moves it on. */
static int64_t real_deadline(struct pawl_env *env, int64_t deadline_ns)
{
    int64_t left = deadline_ns - monotonic(env);

    if (deadline_ns == PAWL_FOREVER)
        return PAWL_FOREVER;
    return pawl_env_monotonic_ns(system_of(env)) + (left > 0 ? left : 0);
}

static int entropy(struct pawl_env *env, void *out, size_t size_bytes, struct pawl_error *err)
{
    return pawl_env_entropy(system_of(env), out, size_bytes, err);
}

static int sleep_until(struct pawl_env *env, int64_t deadline_ns)
{
    int64_t left = deadline_ns == INT64_MIN ? 0 : deadline_ns - monotonic(env);

    if (left > 0)
        test_clock_advance(clock_of(env), left);
    return pawl_env_sleep_until(system_of(env), INT64_MIN);
}

static int thread_start(struct pawl_env *env, const char *name, void (*run)(void *arg), void *arg,
                        struct pawl_thread **out, struct pawl_error *err)
{
    return pawl_thread_start(system_of(env), name, run, arg, out, err);
}

static void thread_join(struct pawl_env *env, struct pawl_thread *thread)
{
    pawl_thread_join(system_of(env), thread);
}

static int mutex_new(struct pawl_env *env, const char *name, struct pawl_mutex **out)
{
    return pawl_mutex_new(system_of(env), name, out);
}

static void mutex_free(struct pawl_env *env, struct pawl_mutex *mutex)
{
    pawl_mutex_free(system_of(env), mutex);
}

static int mutex_lock(struct pawl_env *env, struct pawl_mutex *mutex)
{
    return pawl_mutex_lock(system_of(env), mutex);
}

static void mutex_unlock(struct pawl_env *env, struct pawl_mutex *mutex)
{
    pawl_mutex_unlock(system_of(env), mutex);
}

static int cond_new(struct pawl_env *env, const char *name, struct pawl_cond **out)
{
    return pawl_cond_new(system_of(env), name, out);
}

static void cond_free(struct pawl_env *env, struct pawl_cond *cond)
{
    pawl_cond_free(system_of(env), cond);
}

static int cond_wait(struct pawl_env *env, struct pawl_cond *cond, struct pawl_mutex *mutex,
                     int64_t deadline_ns)
{
    return pawl_cond_wait(system_of(env), cond, mutex, real_deadline(env, deadline_ns));
}

static void cond_signal(struct pawl_env *env, struct pawl_cond *cond)
{
    pawl_cond_signal(system_of(env), cond);
}

static void cond_broadcast(struct pawl_env *env, struct pawl_cond *cond)
{
    pawl_cond_broadcast(system_of(env), cond);
}

static const struct pawl_env_ops ops = {
    .version = PAWL_ENV_VERSION,
    .caps = PAWL_ENV_CAP_SIMULATED,
    .monotonic_ns = monotonic,
    .wall_ns = wall,
    .entropy = entropy,
    .sleep_until = sleep_until,
    .thread_start = thread_start,
    .thread_join = thread_join,
    .mutex_new = mutex_new,
    .mutex_free = mutex_free,
    .mutex_lock = mutex_lock,
    .mutex_unlock = mutex_unlock,
    .cond_new = cond_new,
    .cond_free = cond_free,
    .cond_wait = cond_wait,
    .cond_signal = cond_signal,
    .cond_broadcast = cond_broadcast,
};

int test_clock_open(const struct pawl_allocator *alloc, int64_t wall_ns, struct test_clock **out)
{
    struct test_clock *clock = calloc(1, sizeof *clock);
    int status;

    if (!clock)
        return PAWL_ENOMEM;
    status = pawl_system_env_open(&clock->system, NULL);
    if (status != PAWL_OK) {
        free(clock);
        return status;
    }
    clock->base.ops = &ops;
    clock->base.alloc = alloc ? *alloc : clock->system->alloc;
    clock->wall_ns = wall_ns;
    clock->monotonic_ns = MONOTONIC_START_NS;
    *out = clock;
    return PAWL_OK;
}

void test_clock_close(struct test_clock *clock)
{
    if (!clock)
        return;
    pawl_system_env_close(clock->system);
    free(clock);
}

struct pawl_env *test_clock_env(struct test_clock *clock)
{
    return &clock->base;
}

void test_clock_advance(struct test_clock *clock, int64_t ns)
{
    atomic_fetch_add(&clock->monotonic_ns, ns);
    atomic_fetch_add(&clock->wall_ns, ns);
}
