/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operating system's environment: struct pawl_env_ops over POSIX threads, CLOCK_BOOTTIME,
 * getrandom and malloc. It owns no thread of its own.
 *
 * Waiting. POSIX conditions take their mutex again as if somebody else waited for it, so that every
 * wake-up costs a system call to wake nobody; and one would need an inner mutex for
 * pawl_system_env_stop(), which knows no user's mutex. So a pawl_cond is a word that threads wait
 * on directly (futex(2)): how often it was signalled, and how many wait. A waiter counts itself in
 * and notes the signals so far while it holds the user's mutex, and falls asleep only if there were
 * none since, which the kernel checks. Stop sets its flag first and then signals everything, so
 * nobody falls asleep in between. Blocked lockers need no wake-up: holders unwind and unlock, and a
 * locker looks at the flag once more when it has the mutex.
 *
 * A signal touches the word once, and afterwards uses only its address: the waiter may be
 * up already and have freed it.
 *
 * Lock order: users' mutexes, then system_env.lock. Nothing is called back under the latter.
 *
 * Invariants:
 *   1. `stopped` goes from false to true once.
 *   2. A pawl_cond is in `conds` exactly from its creation to its freeing.
 *   3. The signals of a word change with each signal; a waiter that sees another number than at its
 *      entry was signalled or may say so (the contract allows waking for no reason).
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/list.h"
#include "os/errno.h"
#include "os/spawn.h"

#include <pawl/ext/env.h>

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S INT64_C(1000000000)

/*
 * The longest single wait. Futexes wait on CLOCK_MONOTONIC, which stands still while the machine is
 * suspended; our deadlines are of CLOCK_BOOTTIME, which does not. So a wait is cut into slices, and
 * after each the right clock is read: a deadline that passed during a suspension is seen at most
 * this long after the resume.
 */
#define SLICE_NS NS_PER_S

/* What is waited on: signals in the upper half, waiters in the lower. */
struct word {
    _Atomic uint64_t both;
};

struct system_env {
    struct pawl_env base; /* first: a pawl_env is cast to this */
    atomic_bool stopped;
    atomic_size_t live_count; /* threads, mutexes and conditions: none may be left at close */
    struct word stopping;     /* sleepers wait on it */
    pthread_mutex_t lock;     /* guards `conds` */
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
    struct word word;
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

static int64_t system_processor_ns(struct pawl_env *env)
{
    (void)env;
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
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

/* ---- words ------------------------------------------------------------------------------- */

#define ONE_SIGNAL (UINT64_C(1) << 32)

static uint32_t *signals_of(struct word *word)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return (uint32_t *)(void *)word + 1;
#else
    return (uint32_t *)(void *)word;
#endif
}

static uint32_t read_signals(struct word *word)
{
    return (uint32_t)(atomic_load(&word->both) >> 32);
}

static void signal_word(struct word *word, int waiters_max)
{
    uint32_t *address = signals_of(word);

    if ((uint32_t)atomic_fetch_add(&word->both, ONE_SIGNAL) > 0)
        (void)syscall(SYS_futex, address, FUTEX_WAKE_PRIVATE, waiters_max, NULL, NULL, 0);
}

/* Counts this thread in; returns the signals so far. */
static uint32_t enter_word(struct word *word)
{
    return (uint32_t)(atomic_fetch_add(&word->both, 1) >> 32);
}

static void leave_word(struct word *word)
{
    (void)atomic_fetch_sub(&word->both, 1);
}

/*
 * Waits for at most one slice. PAWL_ETIMEDOUT when the deadline had come before; PAWL_OK otherwise:
 * look at what was waited for and call again.
 */
static int wait_slice(struct word *word, uint32_t signals, int64_t deadline_ns)
{
    int64_t now_ns = read_clock(CLOCK_BOOTTIME);
    int64_t until_ns;
    struct timespec until;
    long rc;

    if (now_ns >= deadline_ns)
        return PAWL_ETIMEDOUT;
    until_ns = deadline_ns - now_ns < SLICE_NS ? deadline_ns - now_ns : SLICE_NS;
    until_ns += read_clock(CLOCK_MONOTONIC);
    until.tv_sec = (time_t)(until_ns / NS_PER_S);
    until.tv_nsec = (long)(until_ns % NS_PER_S);
    rc = syscall(SYS_futex, signals_of(word), FUTEX_WAIT_BITSET_PRIVATE, signals, &until, NULL,
                 FUTEX_BITSET_MATCH_ANY);
    PAWL_ASSERT(rc == 0 || errno == EAGAIN || errno == EINTR || errno == ETIMEDOUT);
    return PAWL_OK;
}

/* ---- sleeping, threads ------------------------------------------------------------------- */

static int system_sleep_until(struct pawl_env *env, int64_t deadline_ns)
{
    struct system_env *system = cast(env);
    int status = PAWL_OK;
    uint32_t signals;

    if (is_stopped(env))
        return PAWL_ESTOPPED;
    if (read_clock(CLOCK_BOOTTIME) >= deadline_ns)
        return PAWL_OK;
    signals = enter_word(&system->stopping);
    while (!is_stopped(env) && status == PAWL_OK)
        status = wait_slice(&system->stopping, signals, deadline_ns);
    leave_word(&system->stopping);
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

static void system_mutex_lock_always(struct pawl_env *env, struct pawl_mutex *mutex)
{
    (void)env;
    lock(&mutex->pthread);
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
    lock(&system->lock);
    pawl__list_push_back(&system->conds, &cond->link);
    unlock(&system->lock);
    atomic_fetch_add(&system->live_count, 1);
    *out = cond;
    return PAWL_OK;
}

static void system_cond_free(struct pawl_env *env, struct pawl_cond *cond)
{
    struct system_env *system = cast(env);

    if (!cond)
        return;
    lock(&system->lock);
    pawl__list_remove(&cond->link);
    unlock(&system->lock);
    pawl__free(&env->alloc, cond, sizeof *cond);
    atomic_fetch_sub(&system->live_count, 1);
}

static int system_cond_wait(struct pawl_env *env, struct pawl_cond *cond, struct pawl_mutex *mutex,
                            int64_t deadline_ns)
{
    uint32_t signals = enter_word(&cond->word);
    int status = PAWL_OK;

    unlock(&mutex->pthread);
    while (!is_stopped(env) && read_signals(&cond->word) == signals && status == PAWL_OK)
        status = wait_slice(&cond->word, signals, deadline_ns);
    /* A signal that came together with the deadline was meant for this waiter: it is not lost. */
    if (read_signals(&cond->word) != signals)
        status = PAWL_OK;
    if (is_stopped(env))
        status = PAWL_ESTOPPED;
    leave_word(&cond->word);
    lock(&mutex->pthread);
    return status;
}

static void system_cond_signal(struct pawl_env *env, struct pawl_cond *cond)
{
    (void)env;
    signal_word(&cond->word, 1);
}

static void system_cond_broadcast(struct pawl_env *env, struct pawl_cond *cond)
{
    (void)env;
    signal_word(&cond->word, INT_MAX);
}

/* ---- the environment itself -------------------------------------------------------------- */

static const struct pawl_env_ops system_ops = {
    .version = PAWL_ENV_VERSION,
    .caps = 0,
    .monotonic_ns = system_monotonic_ns,
    .processor_ns = system_processor_ns,
    .wall_ns = system_wall_ns,
    .entropy = system_entropy,
    .sleep_until = system_sleep_until,
    .thread_start = system_thread_start,
    .thread_join = system_thread_join,
    .mutex_new = system_mutex_new,
    .mutex_free = system_mutex_free,
    .mutex_lock = system_mutex_lock,
    .mutex_lock_always = system_mutex_lock_always,
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
    *out = &system->base;
    return PAWL_OK;

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
    signal_word(&system->stopping, INT_MAX);
    PAWL_LIST_FOR_EACH (cond, &system->conds, link)
        signal_word(&cond->word, INT_MAX);
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
    destroy_mutex(&system->lock);
    pawl__free(&alloc, system, sizeof *system);
}
