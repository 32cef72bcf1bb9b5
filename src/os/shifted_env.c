/* SPDX-License-Identifier: Apache-2.0 */
/* An environment whose wall clock is wrong; see shifted_env.h. */
#include "os/shifted_env.h"

static struct pawl_shifted_env *shifted(struct pawl_env *env)
{
    return (struct pawl_shifted_env *)(void *)env;
}

static int64_t shifted_monotonic_ns(struct pawl_env *env)
{
    return pawl_env_monotonic_ns(shifted(env)->inner) + shifted(env)->monotonic_shift_ns;
}

static int64_t shifted_wall_ns(struct pawl_env *env)
{
    return pawl_env_wall_ns(shifted(env)->inner) + shifted(env)->wall_shift_ns;
}

static int shifted_entropy(struct pawl_env *env, void *out, size_t size_bytes,
                           struct pawl_error *err)
{
    return pawl_env_entropy(shifted(env)->inner, out, size_bytes, err);
}

/* A deadline by the shifted clock, by the inner one. One that is over for sure stays so. */
static int64_t unshift(struct pawl_env *env, int64_t deadline_ns)
{
    return deadline_ns == PAWL_FOREVER || deadline_ns < 0
               ? deadline_ns
               : deadline_ns - shifted(env)->monotonic_shift_ns;
}

static int shifted_sleep_until(struct pawl_env *env, int64_t deadline_ns)
{
    return pawl_env_sleep_until(shifted(env)->inner, unshift(env, deadline_ns));
}

static int shifted_thread_start(struct pawl_env *env, const char *name, void (*run)(void *arg),
                                void *arg, struct pawl_thread **out, struct pawl_error *err)
{
    return pawl_thread_start(shifted(env)->inner, name, run, arg, out, err);
}

static void shifted_thread_join(struct pawl_env *env, struct pawl_thread *thread)
{
    pawl_thread_join(shifted(env)->inner, thread);
}

static int shifted_mutex_new(struct pawl_env *env, const char *name, struct pawl_mutex **out)
{
    return pawl_mutex_new(shifted(env)->inner, name, out);
}

static void shifted_mutex_free(struct pawl_env *env, struct pawl_mutex *mutex)
{
    pawl_mutex_free(shifted(env)->inner, mutex);
}

static int shifted_mutex_lock(struct pawl_env *env, struct pawl_mutex *mutex)
{
    return pawl_mutex_lock(shifted(env)->inner, mutex);
}

static void shifted_mutex_lock_always(struct pawl_env *env, struct pawl_mutex *mutex)
{
    pawl_mutex_lock_always(shifted(env)->inner, mutex);
}

static void shifted_mutex_unlock(struct pawl_env *env, struct pawl_mutex *mutex)
{
    pawl_mutex_unlock(shifted(env)->inner, mutex);
}

static int shifted_cond_new(struct pawl_env *env, const char *name, struct pawl_cond **out)
{
    return pawl_cond_new(shifted(env)->inner, name, out);
}

static void shifted_cond_free(struct pawl_env *env, struct pawl_cond *cond)
{
    pawl_cond_free(shifted(env)->inner, cond);
}

static int shifted_cond_wait(struct pawl_env *env, struct pawl_cond *cond, struct pawl_mutex *mutex,
                             int64_t deadline_ns)
{
    return pawl_cond_wait(shifted(env)->inner, cond, mutex, unshift(env, deadline_ns));
}

static void shifted_cond_signal(struct pawl_env *env, struct pawl_cond *cond)
{
    pawl_cond_signal(shifted(env)->inner, cond);
}

static void shifted_cond_broadcast(struct pawl_env *env, struct pawl_cond *cond)
{
    pawl_cond_broadcast(shifted(env)->inner, cond);
}

static const struct pawl_env_ops shifted_ops = {
    .version = PAWL_ENV_VERSION,
    .monotonic_ns = shifted_monotonic_ns,
    .wall_ns = shifted_wall_ns,
    .entropy = shifted_entropy,
    .sleep_until = shifted_sleep_until,
    .thread_start = shifted_thread_start,
    .thread_join = shifted_thread_join,
    .mutex_new = shifted_mutex_new,
    .mutex_free = shifted_mutex_free,
    .mutex_lock = shifted_mutex_lock,
    .mutex_lock_always = shifted_mutex_lock_always,
    .mutex_unlock = shifted_mutex_unlock,
    .cond_new = shifted_cond_new,
    .cond_free = shifted_cond_free,
    .cond_wait = shifted_cond_wait,
    .cond_signal = shifted_cond_signal,
    .cond_broadcast = shifted_cond_broadcast,
};

void pawl__shifted_env_init(struct pawl_shifted_env *env, struct pawl_env *inner)
{
    *env = (struct pawl_shifted_env){
        .base = {.ops = &env->ops, .alloc = inner->alloc}, .ops = shifted_ops, .inner = inner};
    env->ops.caps = inner->ops->caps;
}
