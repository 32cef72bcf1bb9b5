/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operating system's environment: struct pawl_env_ops over POSIX threads, CLOCK_BOOTTIME,
 * getrandom and malloc. It owns no thread of its own.
 *
 * Stopping without a lost wake-up. pawl_system_env_stop() knows no user's mutex, so it could not
 * signal a plain pthread condition without the risk of doing so between a waiter's look at the flag
 * and its falling asleep. Therefore each pawl_cond has an inner mutex of its own: a waiter looks at
 * the flag and sleeps under it, and stop sets the flag first and then broadcasts under it. Sleepers
 * do the same under the environment's lock. Blocked lockers need no wake-up: holders unwind and
 * unlock, and a locker looks at the flag once more when it has the mutex.
 *
 * Lock order: users' mutexes, then system_env.lock, then pawl_cond.inner. A waiter releases the
 * inner mutex before it takes the user's again. Nothing is called back under the latter two.
 *
 * Invariants:
 *   1. `stopped` goes from false to true once.
 *   2. A pawl_cond is in `conds` exactly from its creation to its freeing.
 *   3. pawl_cond.sequence changes with each signal; a waiter that sees another value than at its
 *      entry was signalled or may say so (the contract allows waking for no reason).
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/list.h"
#include "os/errno.h"
#include "os/spawn.h"

#include <pawl/ext/env.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)

/*
 * The longest single wait. POSIX conditions wait on CLOCK_MONOTONIC, which stands still while the
 * machine is suspended; our deadlines are of CLOCK_BOOTTIME, which does not. So a wait is cut into
 * slices, and after each the right clock is read: a deadline that passed during a suspension is
 * seen at most this long after the resume. Waits without a deadline are sliced too: glibc before
 * 2.41 can lose a pthread_cond_signal (its bug 25847), and `sequence` then shows it.
 */
#define SLICE_NS NS_PER_S

struct system_env {
    struct pawl_env base; /* first: a pawl_env is cast to this */
    atomic_bool stopped;
    atomic_size_t live_count; /* threads, mutexes and conditions: none may be left at close */
    pthread_mutex_t lock;     /* guards `conds`; sleepers wait under it */
    pthread_cond_t stopping;
    struct pawl_list conds;
};

struct pawl_thread {
    pthread_t pthread;
    void (*run)(void *arg);
    void *arg;
    char name[PAWL_SPAWN_NAME_SIZE];
};

struct pawl_mutex {
    pthread_mutex_t pthread;
    const char *name; /* for debuggers */
};

struct pawl_cond {
    struct pawl_list_link link; /* system_env.conds */
    pthread_mutex_t inner;      /* guards `sequence`; see the file head */
    pthread_cond_t changed;
    uint64_t sequence;
    const char *name; /* for debuggers */
};

static struct system_env *cast(struct pawl_env *env)
{
    return (struct system_env *)(void *)env;
}

static bool is_stopped(struct pawl_env *env)
{
    return atomic_load(&cast(env)->stopped);
}

/* ---- clocks, entropy, memory ------------------------------------------------------------- */

static int64_t read_clock(clockid_t id)
{
    struct timespec now;
    int rc = clock_gettime(id, &now);

    PAWL_ASSERT(rc == 0); /* open has tried the clocks */
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

static int64_t system_monotonic_ns(struct pawl_env *env)
{
    (void)env;
    return read_clock(CLOCK_BOOTTIME);
}

static int64_t system_wall_ns(struct pawl_env *env)
{
    (void)env;
    return read_clock(CLOCK_REALTIME);
}

static int system_entropy(struct pawl_env *env, void *out, size_t size_bytes,
                          struct pawl_error *err)
{
    unsigned char *at = out;

    (void)env;
    while (size_bytes > 0) {
        ssize_t got = getrandom(at, size_bytes, 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return pawl__os_error(err, got < 0 ? errno : EIO, "cannot read random bytes");
        at += got;
        size_bytes -= (size_t)got;
    }
    return PAWL_OK;
}

static void *system_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    (void)ctx;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

/* ---- the pthread calls underneath -------------------------------------------------------- */

/* Our mutexes are of the error-checking kind: what is our own bug shows at once. */
static void lock(pthread_mutex_t *mutex)
{
    int rc = pthread_mutex_lock(mutex);
    bool held_by_this_thread_already = rc == EDEADLK;

    PAWL_ASSERT(!held_by_this_thread_already);
    PAWL_ASSERT(rc == 0);
}

static void unlock(pthread_mutex_t *mutex)
{
    int rc = pthread_mutex_unlock(mutex);
    bool held_by_another_thread_or_none = rc == EPERM;

    PAWL_ASSERT(!held_by_another_thread_or_none);
    PAWL_ASSERT(rc == 0);
}

static int init_mutex(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attr;
    int rc = pthread_mutexattr_init(&attr);

    if (rc != 0)
        return PAWL_ENOMEM;
    (void)pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    rc = pthread_mutex_init(mutex, &attr);
    (void)pthread_mutexattr_destroy(&attr);
    return rc == 0 ? PAWL_OK : PAWL_ENOMEM;
}

static void destroy_mutex(pthread_mutex_t *mutex)
{
    int rc = pthread_mutex_destroy(mutex);
    bool still_held = rc == EBUSY;

    PAWL_ASSERT(!still_held);
}

static int init_cond(pthread_cond_t *cond)
{
    pthread_condattr_t attr;
    int rc = pthread_condattr_init(&attr);

    if (rc != 0)
        return PAWL_ENOMEM;
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    rc = pthread_cond_init(cond, &attr);
    (void)pthread_condattr_destroy(&attr);
    return rc == 0 ? PAWL_OK : PAWL_ENOMEM;
}

/*
 * Waits for at most one slice. PAWL_ETIMEDOUT when the deadline had come before; PAWL_OK otherwise:
 * look at what was waited for and call again.
 */
static int wait_slice(pthread_cond_t *cond, pthread_mutex_t *held, int64_t deadline_ns)
{
    int64_t now_ns = read_clock(CLOCK_BOOTTIME);
    int64_t until_ns;
    struct timespec until;
    int rc;

    if (now_ns >= deadline_ns)
        return PAWL_ETIMEDOUT;
    until_ns = deadline_ns - now_ns < SLICE_NS ? deadline_ns - now_ns : SLICE_NS;
    until_ns += read_clock(CLOCK_MONOTONIC);
    until.tv_sec = (time_t)(until_ns / NS_PER_S);
    until.tv_nsec = (long)(until_ns % NS_PER_S);
    rc = pthread_cond_timedwait(cond, held, &until);
    PAWL_ASSERT(rc == 0 || rc == ETIMEDOUT);
    return PAWL_OK;
}

/* ---- sleeping, threads ------------------------------------------------------------------- */

static int system_sleep_until(struct pawl_env *env, int64_t deadline_ns)
{
    struct system_env *system = cast(env);
    int status = PAWL_OK;

    if (is_stopped(env))
        return PAWL_ESTOPPED;
    if (read_clock(CLOCK_BOOTTIME) >= deadline_ns)
        return PAWL_OK;
    lock(&system->lock);
    while (!is_stopped(env) && status == PAWL_OK)
        status = wait_slice(&system->stopping, &system->lock, deadline_ns);
    unlock(&system->lock);
    return is_stopped(env) ? PAWL_ESTOPPED : PAWL_OK;
}

static void *thread_main(void *arg)
{
    struct pawl_thread *thread = arg;

    pawl__spawn_name_self(thread->name);
    thread->run(thread->arg);
    return NULL;
}

static int system_thread_start(struct pawl_env *env, const char *name, void (*run)(void *arg),
                               void *arg, struct pawl_thread **out, struct pawl_error *err)
{
    struct pawl_thread *thread;
    int status;

    if (is_stopped(env))
        return pawl__error_set(err, PAWL_ESTOPPED, "thread \"%s\" is not started: stopping", name);
    thread = pawl__alloc_zeroed(&env->alloc, sizeof *thread);
    if (!thread)
        return pawl__error_code(err, PAWL_ENOMEM);
    thread->run = run;
    thread->arg = arg;
    (void)snprintf(thread->name, sizeof thread->name, "%.15s", name);
    status = pawl__spawn(name, thread_main, thread, &thread->pthread, err);
    if (status != PAWL_OK) {
        pawl__free(&env->alloc, thread, sizeof *thread);
        return status;
    }
    atomic_fetch_add(&cast(env)->live_count, 1);
    *out = thread;
    return PAWL_OK;
}

static void system_thread_join(struct pawl_env *env, struct pawl_thread *thread)
{
    int rc = pthread_join(thread->pthread, NULL);
    bool thread_joins_itself = rc == EDEADLK;

    PAWL_ASSERT(!thread_joins_itself);
    PAWL_ASSERT(rc == 0);
    pawl__free(&env->alloc, thread, sizeof *thread);
    atomic_fetch_sub(&cast(env)->live_count, 1);
}

/* ---- mutexes, conditions ----------------------------------------------------------------- */

static int system_mutex_new(struct pawl_env *env, const char *name, struct pawl_mutex **out)
{
    struct pawl_mutex *mutex = pawl__alloc_zeroed(&env->alloc, sizeof *mutex);

    if (!mutex)
        return PAWL_ENOMEM;
    mutex->name = name;
    if (init_mutex(&mutex->pthread) != PAWL_OK) {
        pawl__free(&env->alloc, mutex, sizeof *mutex);
        return PAWL_ENOMEM;
    }
    atomic_fetch_add(&cast(env)->live_count, 1);
    *out = mutex;
    return PAWL_OK;
}

static void system_mutex_free(struct pawl_env *env, struct pawl_mutex *mutex)
{
    if (!mutex)
        return;
    destroy_mutex(&mutex->pthread);
    pawl__free(&env->alloc, mutex, sizeof *mutex);
    atomic_fetch_sub(&cast(env)->live_count, 1);
}

static int system_mutex_lock(struct pawl_env *env, struct pawl_mutex *mutex)
{
    if (is_stopped(env))
        return PAWL_ESTOPPED;
    lock(&mutex->pthread);
    if (!is_stopped(env))
        return PAWL_OK;
    unlock(&mutex->pthread);
    return PAWL_ESTOPPED;
}

static void system_mutex_unlock(struct pawl_env *env, struct pawl_mutex *mutex)
{
    (void)env;
    unlock(&mutex->pthread);
}

static int system_cond_new(struct pawl_env *env, const char *name, struct pawl_cond **out)
{
    struct system_env *system = cast(env);
    struct pawl_cond *cond = pawl__alloc_zeroed(&env->alloc, sizeof *cond);

    if (!cond)
        return PAWL_ENOMEM;
    cond->name = name;
    if (init_mutex(&cond->inner) != PAWL_OK)
        goto free_cond;
    if (init_cond(&cond->changed) != PAWL_OK)
        goto destroy_inner;
    lock(&system->lock);
    pawl__list_push_back(&system->conds, &cond->link);
    unlock(&system->lock);
    atomic_fetch_add(&system->live_count, 1);
    *out = cond;
    return PAWL_OK;

destroy_inner:
    destroy_mutex(&cond->inner);
free_cond:
    pawl__free(&env->alloc, cond, sizeof *cond);
    return PAWL_ENOMEM;
}

static void system_cond_free(struct pawl_env *env, struct pawl_cond *cond)
{
    struct system_env *system = cast(env);

    if (!cond)
        return;
    lock(&system->lock);
    pawl__list_remove(&cond->link);
    unlock(&system->lock);
    (void)pthread_cond_destroy(&cond->changed);
    destroy_mutex(&cond->inner);
    pawl__free(&env->alloc, cond, sizeof *cond);
    atomic_fetch_sub(&system->live_count, 1);
}

static int system_cond_wait(struct pawl_env *env, struct pawl_cond *cond, struct pawl_mutex *mutex,
                            int64_t deadline_ns)
{
    int status = PAWL_OK;
    uint64_t sequence;

    lock(&cond->inner);
    sequence = cond->sequence;
    unlock(&mutex->pthread);
    while (!is_stopped(env) && cond->sequence == sequence && status == PAWL_OK)
        status = wait_slice(&cond->changed, &cond->inner, deadline_ns);
    /* A signal that came together with the deadline was meant for this waiter: it is not lost. */
    if (cond->sequence != sequence)
        status = PAWL_OK;
    if (is_stopped(env))
        status = PAWL_ESTOPPED;
    unlock(&cond->inner);
    lock(&mutex->pthread);
    return status;
}

static void system_cond_signal(struct pawl_env *env, struct pawl_cond *cond)
{
    (void)env;
    lock(&cond->inner);
    cond->sequence++;
    (void)pthread_cond_signal(&cond->changed);
    unlock(&cond->inner);
}

static void system_cond_broadcast(struct pawl_env *env, struct pawl_cond *cond)
{
    (void)env;
    lock(&cond->inner);
    cond->sequence++;
    (void)pthread_cond_broadcast(&cond->changed);
    unlock(&cond->inner);
}

/* ---- the environment itself -------------------------------------------------------------- */

static const struct pawl_env_ops system_ops = {
    .version = PAWL_ENV_VERSION,
    .caps = 0,
    .monotonic_ns = system_monotonic_ns,
    .wall_ns = system_wall_ns,
    .entropy = system_entropy,
    .sleep_until = system_sleep_until,
    .thread_start = system_thread_start,
    .thread_join = system_thread_join,
    .mutex_new = system_mutex_new,
    .mutex_free = system_mutex_free,
    .mutex_lock = system_mutex_lock,
    .mutex_unlock = system_mutex_unlock,
    .cond_new = system_cond_new,
    .cond_free = system_cond_free,
    .cond_wait = system_cond_wait,
    .cond_signal = system_cond_signal,
    .cond_broadcast = system_cond_broadcast,
};

int pawl_system_env_open(struct pawl_env **out, struct pawl_error *err)
{
    const struct pawl_allocator alloc = {.resize = system_resize};
    struct system_env *system;
    struct timespec now;

    if (clock_gettime(CLOCK_BOOTTIME, &now) != 0 || clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        return pawl__error_set(
            err, PAWL_EUNSUPPORTED,
            "this system has no CLOCK_BOOTTIME; Linux 2.6.39 or later is needed");
    system = pawl__alloc_zeroed(&alloc, sizeof *system);
    if (!system)
        return pawl__error_code(err, PAWL_ENOMEM);
    system->base.ops = &system_ops;
    system->base.alloc = alloc;
    pawl__list_init(&system->conds);
    if (init_mutex(&system->lock) != PAWL_OK)
        goto free_system;
    if (init_cond(&system->stopping) != PAWL_OK)
        goto destroy_lock;
    *out = &system->base;
    return PAWL_OK;

destroy_lock:
    destroy_mutex(&system->lock);
free_system:
    pawl__free(&alloc, system, sizeof *system);
    return pawl__error_code(err, PAWL_ENOMEM);
}

void pawl_system_env_stop(struct pawl_env *env)
{
    struct system_env *system = cast(env);
    struct pawl_cond *cond;

    lock(&system->lock);
    atomic_store(&system->stopped, true);
    (void)pthread_cond_broadcast(&system->stopping);
    PAWL_LIST_FOR_EACH (cond, &system->conds, link) {
        lock(&cond->inner);
        (void)pthread_cond_broadcast(&cond->changed);
        unlock(&cond->inner);
    }
    unlock(&system->lock);
}

void pawl_system_env_close(struct pawl_env *env)
{
    struct system_env *system = env ? cast(env) : NULL;
    struct pawl_allocator alloc;

    if (!system)
        return;
    alloc = env->alloc;
    PAWL_ASSERT(atomic_load(&system->live_count) == 0);
    (void)pthread_cond_destroy(&system->stopping);
    destroy_mutex(&system->lock);
    pawl__free(&alloc, system, sizeof *system);
}
