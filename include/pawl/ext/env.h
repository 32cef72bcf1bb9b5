/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment: everything non-deterministic and everything that waits.
 *
 * Clocks, entropy, memory, threads, mutexes, conditions and sleeps reach Pawl only through this
 * table. pawl_system_env_open() opens the operating system's; in the simulator's, a seed decides
 * which thread runs next and time is a number. Environments in one process are independent.
 *
 * Waits and stopping. Any wait may return PAWL_ESTOPPED: the environment is shutting down (a
 * simulated crash, a process that must end) and the caller unwinds and releases what it holds. From
 * then on every wait returns PAWL_ESTOPPED at once. Three calls never do: unlocking, joining and
 * mutex_lock_always, because unwinding needs them. A stopped wait for a condition locks its mutex
 * again before it returns, which is why holders must unwind too.
 *
 * Time. `monotonic_ns` counts nanoseconds from an unspecified point and never runs backwards. It
 * includes time during which the machine was suspended, so that a node which slept through its
 * lease does not believe that the lease is valid. Deadlines are absolute values of that clock;
 * PAWL_FOREVER never comes. `wall_ns` is nanoseconds since 1970-01-01 UTC and may jump.
 * `processor_ns` is the processor time of the calling thread, without time spent waiting.
 *
 * Callers use the inline fronts at the end, not the table.
 */
#ifndef PAWL_EXT_ENV_H
#define PAWL_EXT_ENV_H

#include <pawl/error.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PAWL_FOREVER INT64_MAX
#define PAWL_ENV_VERSION 3u

/* The environment is simulated: its time and randomness are not real. */
#define PAWL_ENV_CAP_SIMULATED 1u

/*
 * Memory. One function: `old_size` 0 with `ptr` NULL allocates, `new_size` 0 frees and returns
 * NULL, anything else resizes. Returns NULL when there is no memory; the old block is unchanged
 * then. Blocks are aligned for any type. `old_size` is always the size last requested.
 */
struct pawl_allocator {
    void *(*resize)(void *ctx, void *ptr, size_t old_size, size_t new_size);
    void *ctx;
};

struct pawl_env;
struct pawl_thread;
struct pawl_mutex;
struct pawl_cond;

struct pawl_env_ops {
    uint32_t version; /* PAWL_ENV_VERSION the table was written for */
    uint32_t caps;    /* PAWL_ENV_CAP_… */

    int64_t (*monotonic_ns)(struct pawl_env *env);
    int64_t (*wall_ns)(struct pawl_env *env);

    /* Fills `out` with random bytes good enough for keys (in a simulation: from the seed). */
    int (*entropy)(struct pawl_env *env, void *out, size_t size_bytes, struct pawl_error *err);

    /*
     * PAWL_OK once `deadline_ns` is reached, at once if it is past. In a stopped environment
     * PAWL_ESTOPPED even if it is past, so that INT64_MIN tests for being stopped.
     */
    int (*sleep_until)(struct pawl_env *env, int64_t deadline_ns);

    /*
     * Runs `run(arg)` on a new thread. `name` is copied (the system shows 15 bytes of it); it
     * appears in debuggers and in deadlock reports. Every started thread must be joined exactly
     * once. PAWL_EUNAVAILABLE when the system cannot create one, PAWL_ENOMEM, PAWL_ESTOPPED.
     */
    int (*thread_start)(struct pawl_env *env, const char *name, void (*run)(void *arg), void *arg,
                        struct pawl_thread **out, struct pawl_error *err);
    /* Waits for the end of the thread and frees it, also in a stopped environment. */
    void (*thread_join)(struct pawl_env *env, struct pawl_thread *thread);

    /*
     * A mutex is not recursive, and only its holder may unlock it; implementations abort on misuse.
     * `name` is borrowed for its life: a string literal. PAWL_ENOMEM. Free a mutex, or a condition,
     * only when no thread is in a call on it.
     */
    int (*mutex_new)(struct pawl_env *env, const char *name, struct pawl_mutex **out);
    void (*mutex_free)(struct pawl_env *env, struct pawl_mutex *mutex); /* NULL allowed */
    /* PAWL_OK: held. PAWL_ESTOPPED: not held. */
    int (*mutex_lock)(struct pawl_env *env, struct pawl_mutex *mutex);
    void (*mutex_unlock)(struct pawl_env *env, struct pawl_mutex *mutex);

    /* `name` as above. PAWL_ENOMEM. */
    int (*cond_new)(struct pawl_env *env, const char *name, struct pawl_cond **out);
    void (*cond_free)(struct pawl_env *env, struct pawl_cond *cond); /* NULL allowed */
    /*
     * Unlocks `mutex`, waits, and locks it again; it is locked afterwards whatever is returned.
     * PAWL_OK: signalled, or a spurious wakeup (test the condition again). PAWL_ETIMEDOUT: the
     * deadline came first. PAWL_ESTOPPED.
     */
    int (*cond_wait)(struct pawl_env *env, struct pawl_cond *cond, struct pawl_mutex *mutex,
                     int64_t deadline_ns);
    /* With or without the mutex locked. A signal is lost if no thread waits. */
    void (*cond_signal)(struct pawl_env *env, struct pawl_cond *cond);
    void (*cond_broadcast)(struct pawl_env *env, struct pawl_cond *cond);

    /*
     * Since version 2. Processor time that the calling thread has used, in nanoseconds. NULL:
     * unknown (a simulation); limits on processor time do not apply then, only those on work.
     */
    int64_t (*processor_ns)(struct pawl_env *env);

    /*
     * Since version 3, required. Locks in a stopped environment too, for threads that unwind and
     * must remove their entries from shared data. It waits for the holder, which unwinds as well.
     */
    void (*mutex_lock_always)(struct pawl_env *env, struct pawl_mutex *mutex);
};

/* An implementation embeds this as its first member. */
struct pawl_env {
    const struct pawl_env_ops *ops;
    struct pawl_allocator alloc;
};

/*
 * The operating system's environment. Any number may be open at a time. Waits in it return
 * PAWL_ESTOPPED after pawl_system_env_stop(), which may be called from any thread (not from a
 * signal handler). Close it only after all its threads were joined and everything created in it was
 * freed.
 */
PAWL_API PAWL_MUST_CHECK int pawl_system_env_open(struct pawl_env **out, struct pawl_error *err);
PAWL_API void pawl_system_env_stop(struct pawl_env *env);
PAWL_API void pawl_system_env_close(struct pawl_env *env); /* NULL allowed */

static inline int64_t pawl_env_monotonic_ns(struct pawl_env *env)
{
    return env->ops->monotonic_ns(env);
}

static inline int64_t pawl_env_wall_ns(struct pawl_env *env)
{
    return env->ops->wall_ns(env);
}

/* 0 when unknown. */
static inline int64_t pawl_env_processor_ns(struct pawl_env *env)
{
    return env->ops->version >= 2 && env->ops->processor_ns ? env->ops->processor_ns(env) : 0;
}

PAWL_MUST_CHECK static inline int pawl_env_entropy(struct pawl_env *env, void *out,
                                                   size_t size_bytes, struct pawl_error *err)
{
    return env->ops->entropy(env, out, size_bytes, err);
}

PAWL_MUST_CHECK static inline int pawl_env_sleep_until(struct pawl_env *env, int64_t deadline_ns)
{
    return env->ops->sleep_until(env, deadline_ns);
}

PAWL_MUST_CHECK static inline int pawl_thread_start(struct pawl_env *env, const char *name,
                                                    void (*run)(void *arg), void *arg,
                                                    struct pawl_thread **out,
                                                    struct pawl_error *err)
{
    return env->ops->thread_start(env, name, run, arg, out, err);
}

static inline void pawl_thread_join(struct pawl_env *env, struct pawl_thread *thread)
{
    env->ops->thread_join(env, thread);
}

PAWL_MUST_CHECK static inline int pawl_mutex_new(struct pawl_env *env, const char *name,
                                                 struct pawl_mutex **out)
{
    return env->ops->mutex_new(env, name, out);
}

static inline void pawl_mutex_free(struct pawl_env *env, struct pawl_mutex *mutex)
{
    env->ops->mutex_free(env, mutex);
}

PAWL_MUST_CHECK static inline int pawl_mutex_lock(struct pawl_env *env, struct pawl_mutex *mutex)
{
    return env->ops->mutex_lock(env, mutex);
}

static inline void pawl_mutex_lock_always(struct pawl_env *env, struct pawl_mutex *mutex)
{
    env->ops->mutex_lock_always(env, mutex);
}

static inline void pawl_mutex_unlock(struct pawl_env *env, struct pawl_mutex *mutex)
{
    env->ops->mutex_unlock(env, mutex);
}

PAWL_MUST_CHECK static inline int pawl_cond_new(struct pawl_env *env, const char *name,
                                                struct pawl_cond **out)
{
    return env->ops->cond_new(env, name, out);
}

static inline void pawl_cond_free(struct pawl_env *env, struct pawl_cond *cond)
{
    env->ops->cond_free(env, cond);
}

PAWL_MUST_CHECK static inline int pawl_cond_wait(struct pawl_env *env, struct pawl_cond *cond,
                                                 struct pawl_mutex *mutex, int64_t deadline_ns)
{
    return env->ops->cond_wait(env, cond, mutex, deadline_ns);
}

static inline void pawl_cond_signal(struct pawl_env *env, struct pawl_cond *cond)
{
    env->ops->cond_signal(env, cond);
}

static inline void pawl_cond_broadcast(struct pawl_env *env, struct pawl_cond *cond)
{
    env->ops->cond_broadcast(env, cond);
}

#ifdef __cplusplus
}
#endif
#endif
