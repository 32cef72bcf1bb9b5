/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment table of the baton: what each operation does between scheduling points.
 *
 * Where the points are, and why:
 *   - before a mutex is taken, so that others can change what the caller looked at without it;
 *   - after an unlock, a signal, a broadcast and a thread start, so that others can act on it
 *     before the caller continues;
 *   - at each wait. Releasing the mutex and beginning to wait for the condition is one step, as the
 *     contract demands; being woken and having the mutex again are two.
 *   - when a wait is refused with PAWL_ESTOPPED too, so that a thread that ignores it uses up its
 *     steps instead of hanging the run.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "os/baton_core.h"
#include "os/spawn.h"

#include <stdio.h>

static struct baton_env *cast(struct pawl_env *env)
{
    return (struct baton_env *)(void *)env;
}

static struct pawl_baton *baton_of(struct pawl_env *env)
{
    return cast(env)->baton;
}

/* ---- clocks, entropy --------------------------------------------------------------------- */

static int64_t baton_monotonic_ns(struct pawl_env *env)
{
    return baton_of(env)->now_ns;
}

static int64_t baton_wall_ns(struct pawl_env *env)
{
    int64_t passed_ns = baton_of(env)->now_ns - PAWL_BATON_MONOTONIC_START_NS;

    if (passed_ns > INT64_MAX - PAWL_BATON_WALL_START_NS)
        return INT64_MAX;
    return PAWL_BATON_WALL_START_NS + passed_ns;
}

static int baton_entropy(struct pawl_env *env, void *out, size_t size_bytes, struct pawl_error *err)
{
    unsigned char *bytes = out;
    uint64_t word = 0;

    (void)err;
    for (size_t i = 0; i < size_bytes; i++) {
        if (i % sizeof word == 0)
            word = pawl__baton_splitmix(&baton_of(env)->entropy_random);
        bytes[i] = (unsigned char)(word >> 8 * (i % sizeof word));
    }
    return PAWL_OK;
}

/* ---- waiting ----------------------------------------------------------------------------- */

/* Sets the caller, who must be a started thread, to a state that is not READY. */
static void set_waiting(struct pawl_env *env, enum baton_state state, const char *op,
                        const char *object)
{
    struct pawl_baton *baton = baton_of(env);
    struct pawl_thread *self = pawl__baton_self(baton);

    if (self == &baton->outside)
        pawl__baton_bug(baton, "%s %s from outside: only a started thread can wait", op, object);
    self->state = state;
    self->wait_env = cast(env);
}

static int baton_sleep_until(struct pawl_env *env, int64_t deadline_ns)
{
    struct pawl_baton *baton = baton_of(env);

    if (!pawl__baton_stopped(cast(env)) && deadline_ns > baton->now_ns) {
        set_waiting(env, BATON_SLEEPING, "sleep", "-");
        pawl__baton_self(baton)->wake_ns = deadline_ns;
    }
    pawl__baton_step(baton, "sleep", "-");
    return pawl__baton_stopped(cast(env)) ? PAWL_ESTOPPED : PAWL_OK;
}

static void take(struct pawl_thread *self, struct pawl_mutex *mutex)
{
    mutex->owner = self;
    self->held_count++;
}

static void release(struct pawl_baton *baton, struct pawl_thread *self, struct pawl_mutex *mutex)
{
    if (mutex->owner != self)
        pawl__baton_bug(baton, "%s unlocks mutex \"%s\", held by %s", self->label, mutex->label,
                        mutex->owner ? mutex->owner->label : "nobody");
    mutex->owner = NULL;
    self->held_count--;
}

static int baton_mutex_lock(struct pawl_env *env, struct pawl_mutex *mutex)
{
    struct pawl_baton *baton = baton_of(env);
    struct pawl_thread *self = pawl__baton_self(baton);

    if (mutex->owner == self)
        pawl__baton_bug(baton, "%s locks mutex \"%s\", which it holds", self->label, mutex->label);
    pawl__baton_step(baton, "lock", mutex->label);
    while (mutex->owner && !pawl__baton_stopped(cast(env))) {
        set_waiting(env, BATON_LOCKING, "block", mutex->label);
        self->mutex = mutex;
        pawl__baton_step(baton, "block", mutex->label);
    }
    if (pawl__baton_stopped(cast(env)))
        return PAWL_ESTOPPED;
    take(self, mutex);
    return PAWL_OK;
}

static void baton_mutex_unlock(struct pawl_env *env, struct pawl_mutex *mutex)
{
    struct pawl_baton *baton = baton_of(env);

    release(baton, pawl__baton_self(baton), mutex);
    pawl__baton_step(baton, "unlock", mutex->label);
}

/* Nothing ends this but having the mutex: at the end of a wait, and for who unwinds. */
static void retake(struct pawl_baton *baton, struct pawl_thread *self, struct pawl_mutex *mutex)
{
    while (mutex->owner) {
        self->state = BATON_RELOCKING;
        self->mutex = mutex;
        pawl__baton_step(baton, "relock", mutex->label);
    }
    take(self, mutex);
}

static void baton_mutex_lock_always(struct pawl_env *env, struct pawl_mutex *mutex)
{
    struct pawl_baton *baton = baton_of(env);
    struct pawl_thread *self = pawl__baton_self(baton);

    if (mutex->owner == self)
        pawl__baton_bug(baton, "%s locks mutex \"%s\", which it holds", self->label, mutex->label);
    pawl__baton_step(baton, "lock", mutex->label);
    retake(baton, self, mutex);
}

static int baton_cond_wait(struct pawl_env *env, struct pawl_cond *cond, struct pawl_mutex *mutex,
                           int64_t deadline_ns)
{
    struct pawl_baton *baton = baton_of(env);
    struct pawl_thread *self = pawl__baton_self(baton);
    int status;

    if (pawl__baton_stopped(cast(env))) {
        pawl__baton_step(baton, "wait", cond->label);
        return PAWL_ESTOPPED;
    }
    release(baton, self, mutex);
    set_waiting(env, BATON_WAITING, "wait", cond->label);
    self->cond = cond;
    self->mutex = mutex;
    self->wake_ns = deadline_ns;
    self->signalled = false;
    pawl__baton_step(baton, "wait", cond->label);
    status = self->signalled ? PAWL_OK : PAWL_ETIMEDOUT;
    if (pawl__baton_stopped(cast(env)))
        status = PAWL_ESTOPPED;
    retake(baton, self, mutex);
    return status;
}

/* Marks the nth unsignalled waiter for `cond`; returns how many there are up to it. */
static uint64_t mark_nth(struct pawl_baton *baton, struct pawl_cond *cond, uint64_t nth)
{
    struct pawl_thread *thread;
    uint64_t count = 0;

    PAWL_LIST_FOR_EACH (thread, &baton->threads, link) {
        if (thread->state != BATON_WAITING || thread->cond != cond || thread->signalled)
            continue;
        if (count++ != nth)
            continue;
        thread->signalled = true;
        break;
    }
    return count;
}

static void baton_cond_signal(struct pawl_env *env, struct pawl_cond *cond)
{
    struct pawl_baton *baton = baton_of(env);
    uint64_t count = mark_nth(baton, cond, UINT64_MAX);

    if (count > 0)
        (void)mark_nth(baton, cond, count > 1 ? pawl__baton_random(baton, count) : 0);
    pawl__baton_step(baton, "signal", cond->label);
}

static void baton_cond_broadcast(struct pawl_env *env, struct pawl_cond *cond)
{
    struct pawl_baton *baton = baton_of(env);

    while (mark_nth(baton, cond, 0) > 0)
        continue;
    pawl__baton_step(baton, "broadcast", cond->label);
}

/* ---- threads ----------------------------------------------------------------------------- */

static void *thread_main(void *arg)
{
    struct pawl_thread *self = arg;

    if (!pawl__baton_await(self))
        return NULL;
    pawl__spawn_name_self(strchr(self->label, '/') + 1);
    self->run(self->arg);
    if (self->held_count > 0)
        pawl__baton_bug(self->env->baton, "%s ends and still holds %u mutexes", self->label,
                        self->held_count);
    pawl__baton_leave(self);
    return NULL;
}

static bool label_used(struct pawl_baton *baton, const char *label)
{
    struct pawl_thread *thread;

    PAWL_LIST_FOR_EACH (thread, &baton->threads, link) {
        if (strcmp(thread->label, label) == 0)
            return true;
    }
    return false;
}

/* "node/name"; the second of that name gets "#2" behind it, and so on. */
static void set_label(struct pawl_thread *thread, const char *name)
{
    const char *env_name = thread->env->name;

    (void)snprintf(thread->label, sizeof thread->label, "%s/%.31s", env_name, name);
    for (unsigned n = 2; label_used(thread->env->baton, thread->label); n++)
        (void)snprintf(thread->label, sizeof thread->label, "%s/%.27s#%u", env_name, name, n);
}

static int baton_thread_start(struct pawl_env *env, const char *name, void (*run)(void *arg),
                              void *arg, struct pawl_thread **out, struct pawl_error *err)
{
    struct pawl_baton *baton = baton_of(env);
    struct pawl_thread *thread;
    int status;

    if (pawl__baton_stopped(cast(env))) {
        pawl__baton_step(baton, "start", name);
        return pawl__error_set(err, PAWL_ESTOPPED, "thread \"%s\" is not started: stopping", name);
    }
    thread = pawl__alloc_zeroed(&baton->alloc, sizeof *thread);
    if (!thread)
        return pawl__error_code(err, PAWL_ENOMEM);
    thread->env = cast(env);
    thread->run = run;
    thread->arg = arg;
    set_label(thread, name);
    if (sem_init(&thread->turn, 0, 0) != 0) {
        status = pawl__error_code(err, PAWL_ENOMEM);
        goto free_thread;
    }
    status = pawl__spawn(name, thread_main, thread, &thread->pthread, err);
    if (status != PAWL_OK)
        goto destroy_turn;
    pawl__list_push_back(&baton->threads, &thread->link);
    *out = thread;
    pawl__baton_step(baton, "start", thread->label);
    return PAWL_OK;

destroy_turn:
    (void)sem_destroy(&thread->turn);
free_thread:
    pawl__free(&baton->alloc, thread, sizeof *thread);
    return status;
}

void pawl__baton_thread_free(struct pawl_thread *thread)
{
    struct pawl_baton *baton = thread->env->baton;
    int rc = pthread_join(thread->pthread, NULL);

    PAWL_ASSERT(rc == 0);
    pawl__list_remove(&thread->link);
    (void)sem_destroy(&thread->turn);
    pawl__free(&baton->alloc, thread, sizeof *thread);
}

static void baton_thread_join(struct pawl_env *env, struct pawl_thread *thread)
{
    struct pawl_baton *baton = baton_of(env);

    if (thread->state != BATON_FINISHED) {
        set_waiting(env, BATON_JOINING, "join", thread->label);
        pawl__baton_self(baton)->target = thread;
    }
    pawl__baton_step(baton, "join", thread->label);
    pawl__baton_thread_free(thread);
}

/* ---- mutexes, conditions, environments --------------------------------------------------- */

static void set_name(struct baton_env *env, char label[BATON_NAME_SIZE], const char *name)
{
    (void)snprintf(label, BATON_NAME_SIZE, "%.31s#%u", name, ++env->object_serial);
    env->object_count++;
}

static int baton_mutex_new(struct pawl_env *env, const char *name, struct pawl_mutex **out)
{
    struct pawl_mutex *mutex = pawl__alloc_zeroed(&env->alloc, sizeof *mutex);

    if (!mutex)
        return PAWL_ENOMEM;
    set_name(cast(env), mutex->label, name);
    *out = mutex;
    return PAWL_OK;
}

static void baton_mutex_free(struct pawl_env *env, struct pawl_mutex *mutex)
{
    if (!mutex)
        return;
    if (mutex->owner)
        pawl__baton_bug(baton_of(env), "mutex \"%s\" is freed while %s holds it", mutex->label,
                        mutex->owner->label);
    pawl__free(&env->alloc, mutex, sizeof *mutex);
    cast(env)->object_count--;
}

static int baton_cond_new(struct pawl_env *env, const char *name, struct pawl_cond **out)
{
    struct pawl_cond *cond = pawl__alloc_zeroed(&env->alloc, sizeof *cond);

    if (!cond)
        return PAWL_ENOMEM;
    set_name(cast(env), cond->label, name);
    *out = cond;
    return PAWL_OK;
}

static void baton_cond_free(struct pawl_env *env, struct pawl_cond *cond)
{
    struct pawl_thread *thread;

    if (!cond)
        return;
    PAWL_LIST_FOR_EACH (thread, &baton_of(env)->threads, link) {
        if (thread->state == BATON_WAITING && thread->cond == cond)
            pawl__baton_bug(baton_of(env), "condition \"%s\" is freed while %s waits for it",
                            cond->label, thread->label);
    }
    pawl__free(&env->alloc, cond, sizeof *cond);
    cast(env)->object_count--;
}

static const struct pawl_env_ops baton_ops = {
    .version = PAWL_ENV_VERSION,
    .caps = PAWL_ENV_CAP_SIMULATED,
    .monotonic_ns = baton_monotonic_ns,
    .wall_ns = baton_wall_ns,
    .entropy = baton_entropy,
    .sleep_until = baton_sleep_until,
    .thread_start = baton_thread_start,
    .thread_join = baton_thread_join,
    .mutex_new = baton_mutex_new,
    .mutex_free = baton_mutex_free,
    .mutex_lock = baton_mutex_lock,
    .mutex_lock_always = baton_mutex_lock_always,
    .mutex_unlock = baton_mutex_unlock,
    .cond_new = baton_cond_new,
    .cond_free = baton_cond_free,
    .cond_wait = baton_cond_wait,
    .cond_signal = baton_cond_signal,
    .cond_broadcast = baton_cond_broadcast,
};

int pawl__baton_env(struct pawl_baton *baton, const char *name, struct pawl_env **out)
{
    struct baton_env *env = pawl__alloc_zeroed(&baton->alloc, sizeof *env);

    if (!env)
        return PAWL_ENOMEM;
    env->base.ops = &baton_ops;
    env->base.alloc = baton->alloc;
    env->baton = baton;
    (void)snprintf(env->name, sizeof env->name, "%.31s", name);
    pawl__list_push_back(&baton->envs, &env->link);
    *out = &env->base;
    return PAWL_OK;
}

void pawl__baton_env_stop(struct pawl_env *env)
{
    cast(env)->stopped = true;
    pawl__baton_step(baton_of(env), "stop", cast(env)->name);
}
