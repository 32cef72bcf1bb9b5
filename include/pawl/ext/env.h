/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment: everything non-deterministic and everything that waits.
 *
 * Clocks, entropy, memory, threads, mutexes, conditions and sleeps reach Pawl through this table
 * and through nothing else. pawl_system_env_open() gives the operating system's; the simulator
 * gives one in which a seed decides who runs next and time is a number. Two environments live in
 * one process without knowing of each other.
 *
 * Waits and stopping. Any wait may answer PAWL_ESTOPPED: the environment is going away (a
 * simulated crash, a process that must end) and the caller unwinds, releasing what it holds. From
 * then on every further wait answers PAWL_ESTOPPED at once. Two calls never do: unlocking and
 * joining, because the unwinding itself needs them. And a wait for a condition that is stopped
 * still takes its mutex again first, which is why holders must unwind too.
 *
 * Time. `monotonic_ns` counts nanoseconds from an unspecified point and never runs backwards; it
 * includes time that the machine was suspended, so that a lease is never judged alive by a node
 * that slept through it. Deadlines are absolute values of that clock; PAWL_FOREVER never comes.
 * `wall_ns` is nanoseconds since 1970-01-01 UTC and may jump. `processor_ns` is what the calling
 * thread has computed, however long it waited for a processor.
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
#define PAWL_ENV_VERSION 2u

/* The environment is simulated: its time and its randomness are not the world's. */
#define PAWL_ENV_CAP_SIMULATED 1u

/*
 * Memory. One function: `old_size` 0 with `ptr` NULL allocates, `new_size` 0 frees and answers
 * NULL, anything else resizes. Answers NULL when there is no memory; the old block then stays as
 * it was. Blocks are aligned for any type. `old_size` is always the size last asked for.
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
     * PAWL_OK once `deadline_ns` is reached, at once if it is past; PAWL_ESTOPPED, also when it is
     * past, so that INT64_MIN asks whether the environment is stopped.
     */
    int (*sleep_until)(struct pawl_env *env, int64_t deadline_ns);

    /*
     * Runs `run(arg)` on a new thread. `name` is copied (15 bytes are seen by the system); it shows
     * in debuggers and in deadlock reports. Every started thread must be joined exactly once.
     * PAWL_EUNAVAILABLE when the system gives no thread, PAWL_ENOMEM, PAWL_ESTOPPED.
     */
    int (*thread_start)(struct pawl_env *env, const char *name, void (*run)(void *arg), void *arg,
                        struct pawl_thread **out, struct pawl_error *err);
    /* Waits for the end of the thread and frees it. Never answers ESTOPPED. */
    void (*thread_join)(struct pawl_env *env, struct pawl_thread *thread);

    /*
     * A mutex is not recursive, and its holder unlocks it; implementations abort on misuse. `name`
     * is borrowed for its life: a string literal. PAWL_ENOMEM. Free it when nobody is in a call on
     * it; the same holds for a condition.
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
     * Releases `mutex`, waits, takes it again; whatever the answer, the mutex is held afterwards.
     * PAWL_OK: signalled, or for no reason (look at the condition again). PAWL_ETIMEDOUT: the
     * deadline came first. PAWL_ESTOPPED.
     */
    int (*cond_wait)(struct pawl_env *env, struct pawl_cond *cond, struct pawl_mutex *mutex,
                     int64_t deadline_ns);
    /* With or without the mutex held. A signal with nobody waiting is forgotten. */
    void (*cond_signal)(struct pawl_env *env, struct pawl_cond *cond);
    void (*cond_broadcast)(struct pawl_env *env, struct pawl_cond *cond);

    /*
     * Since version 2. Processor time that the calling thread has used, in nanoseconds. NULL: it is
     * not known (a simulation), and what is limited by it is limited by work alone.
     */
    int64_t (*processor_ns)(struct pawl_env *env);
};

/* An implementation embeds this as its first member. */
struct pawl_env {
    const struct pawl_env_ops *ops;
    struct pawl_allocator alloc;
};

/*
 * The operating system's environment. Any number may be open at a time. Waits in it answer
 * PAWL_ESTOPPED after pawl_system_env_stop(), which may be called from any thread (not from a
 * signal handler). Close it after every thread it started was joined and everything made in it was
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

/* 0 when it is not known. */
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
