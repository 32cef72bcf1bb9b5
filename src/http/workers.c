/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool of threads: a bounded queue, and threads that are started when something finds none free,
 * up to a maximum. A thread that was started stays. One pool runs handlers, another one handshakes.
 *
 * What is pushed is handed to the thread that became idle last, if there is one: it is woken by a
 * condition of its own, and needs no mutex that others use to begin. The queue has the rest.
 *
 * `mutex` guards everything but the environment and what a thread was handed, which that thread's
 * own mutex guards. Nothing of the server is called under either, and neither under the other.
 */
#include "base/alloc.h"
#include "http/private.h"

struct worker {
    struct workers *pool;
    struct pawl_thread *thread;
    struct worker *next_idle;
    struct pawl_mutex *mutex; /* guards what follows */
    struct pawl_cond *handed;
    struct pawl_list_link *link; /* what it is to run; NULL: nothing */
    bool ends;
};

struct workers {
    struct pawl_env *env;
    struct workers_options options;
    struct pawl_mutex *mutex;
    struct pawl_list queue;
    uint32_t queued;
    struct worker *idle; /* the one that became idle last; NULL: none */
    uint32_t thread_count;
    bool closing;
    struct worker *threads[];
};

static size_t size_of(uint32_t threads_max)
{
    return sizeof(struct workers) + threads_max * sizeof(struct worker *);
}

static void free_worker(struct pawl_env *env, struct worker *worker)
{
    if (!worker)
        return;
    pawl_cond_free(env, worker->handed);
    pawl_mutex_free(env, worker->mutex);
    pawl__free(&env->alloc, worker, sizeof *worker);
}

static struct worker *new_worker(struct workers *pool)
{
    struct worker *worker = pawl__alloc_zeroed(&pool->env->alloc, sizeof *worker);

    if (!worker)
        return NULL;
    worker->pool = pool;
    if (pawl_mutex_new(pool->env, "http worker", &worker->mutex) == PAWL_OK &&
        pawl_cond_new(pool->env, "http handed", &worker->handed) == PAWL_OK)
        return worker;
    free_worker(pool->env, worker);
    return NULL;
}

/* ---- a thread ------------------------------------------------------------------------------ */

/* Waits for something to run. NULL: the pool ends. */
static struct pawl_list_link *await_link(struct worker *worker)
{
    struct pawl_env *env = worker->pool->env;
    struct pawl_list_link *link;
    int status = PAWL_OK;

    pawl_mutex_lock_always(env, worker->mutex);
    while (!worker->link && !worker->ends && status == PAWL_OK)
        status = pawl_cond_wait(env, worker->handed, worker->mutex, PAWL_FOREVER);
    link = worker->link;
    worker->link = NULL;
    pawl_mutex_unlock(env, worker->mutex);
    return link;
}

static struct pawl_list_link *next_link(struct worker *worker)
{
    struct workers *pool = worker->pool;
    struct pawl_list_link *link = NULL;
    bool is_idle = false;

    pawl_mutex_lock_always(pool->env, pool->mutex);
    if (!pool->closing && pool->queued > 0) {
        link = pawl__list_pop_front(&pool->queue);
        pool->queued--;
    } else if (!pool->closing) {
        worker->next_idle = pool->idle;
        pool->idle = worker;
        is_idle = true;
    }
    pawl_mutex_unlock(pool->env, pool->mutex);
    return is_idle ? await_link(worker) : link;
}

static void work(void *arg)
{
    struct worker *worker = arg;
    struct pawl_list_link *link;

    while ((link = next_link(worker)) != NULL)
        worker->pool->options.run(link);
}

static void hand(struct worker *worker, struct pawl_list_link *link)
{
    struct pawl_env *env = worker->pool->env;

    pawl_mutex_lock_always(env, worker->mutex);
    worker->link = link;
    worker->ends = !link;
    pawl_mutex_unlock(env, worker->mutex);
    /* Not with the mutex: who is woken needs it first. It is freed only after it was joined. */
    pawl_cond_signal(env, worker->handed);
}

/* ---- the pool ------------------------------------------------------------------------------ */

/* With the mutex: one more thread. Fails only if there is none at all. */
static int start_thread(struct workers *pool)
{
    struct worker *worker;

    if (pool->thread_count == pool->options.threads_max)
        return PAWL_OK;
    worker = new_worker(pool);
    if (worker && pawl_thread_start(pool->env, pool->options.name, work, worker, &worker->thread,
                                    NULL) == PAWL_OK)
        pool->threads[pool->thread_count++] = worker;
    else
        free_worker(pool->env, worker);
    return pool->thread_count > 0 ? PAWL_OK : PAWL_EUNAVAILABLE;
}

/* With the mutex, when nobody is idle. */
static int enqueue(struct workers *pool, struct pawl_list_link *link)
{
    int status;

    if (pool->queued >= pool->options.queue_max)
        return PAWL_EBUSY;
    status = start_thread(pool);
    if (status != PAWL_OK)
        return status;
    pawl__list_push_back(&pool->queue, link);
    pool->queued++;
    return PAWL_OK;
}

int pawl__workers_push(struct workers *pool, struct pawl_list_link *link)
{
    struct worker *worker;
    int status = PAWL_OK;

    pawl_mutex_lock_always(pool->env, pool->mutex);
    worker = pool->idle;
    if (worker)
        pool->idle = worker->next_idle;
    else
        status = enqueue(pool, link);
    pawl_mutex_unlock(pool->env, pool->mutex);
    if (worker)
        hand(worker, link);
    return status;
}

bool pawl__workers_remove(struct workers *workers, struct pawl_list_link *link)
{
    bool queued;

    pawl_mutex_lock_always(workers->env, workers->mutex);
    queued = pawl__list_linked(link);
    if (queued) {
        pawl__list_remove(link);
        workers->queued--;
    }
    pawl_mutex_unlock(workers->env, workers->mutex);
    return queued;
}

void pawl__workers_count(struct workers *workers, uint32_t *queued, uint32_t *threads)
{
    pawl_mutex_lock_always(workers->env, workers->mutex);
    *queued += workers->queued;
    *threads += workers->thread_count;
    pawl_mutex_unlock(workers->env, workers->mutex);
}

int pawl__workers_new(struct pawl_env *env, const struct workers_options *options,
                      struct workers **out)
{
    struct workers *workers = pawl__alloc_zeroed(&env->alloc, size_of(options->threads_max));
    int status;

    if (!workers)
        return PAWL_ENOMEM;
    workers->env = env;
    workers->options = *options;
    pawl__list_init(&workers->queue);
    status = pawl_mutex_new(env, "http workers", &workers->mutex);
    if (status == PAWL_OK)
        *out = workers;
    else
        pawl__workers_free(workers);
    return status;
}

void pawl__workers_stop(struct workers *workers)
{
    struct worker *idle;

    pawl_mutex_lock_always(workers->env, workers->mutex);
    workers->closing = true;
    idle = workers->idle;
    workers->idle = NULL;
    pawl_mutex_unlock(workers->env, workers->mutex);
    while (idle) {
        struct worker *next = idle->next_idle;

        hand(idle, NULL);
        idle = next;
    }
    for (uint32_t i = 0; i < workers->thread_count; i++) {
        struct worker *worker = workers->threads[i];

        pawl_thread_join(workers->env, worker->thread);
        /* It ended with its environment before it saw this. */
        if (worker->link)
            workers->options.run(worker->link);
        free_worker(workers->env, worker);
    }
    workers->thread_count = 0;
    /* The loop has taken these back. */
    while (!pawl__list_empty(&workers->queue))
        workers->options.run(pawl__list_pop_front(&workers->queue));
}

void pawl__workers_free(struct workers *workers)
{
    if (!workers)
        return;
    pawl_mutex_free(workers->env, workers->mutex);
    pawl__free(&workers->env->alloc, workers, size_of(workers->options.threads_max));
}
