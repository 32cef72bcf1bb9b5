/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool of threads: a bounded queue, and threads that are started when something finds none free,
 * up to a maximum. A thread that was started stays. One pool runs handlers, another one handshakes.
 *
 * `mutex` guards everything but the environment. Nothing is called under it.
 */
#include "base/alloc.h"
#include "http/private.h"

struct workers {
    struct pawl_env *env;
    struct workers_options options;
    struct pawl_mutex *mutex;
    struct pawl_cond *pushed;
    struct pawl_list queue;
    uint32_t queued;
    uint32_t idle; /* threads that wait */
    uint32_t thread_count;
    bool closing;
    struct pawl_thread *threads[];
};

static size_t size_of(uint32_t threads_max)
{
    return sizeof(struct workers) + threads_max * sizeof(struct pawl_thread *);
}

/* NULL: the pool ends. */
static struct pawl_list_link *pop(struct workers *workers)
{
    struct pawl_list_link *link = NULL;
    int status = PAWL_OK;

    pawl_mutex_lock_always(workers->env, workers->mutex);
    while (workers->queued == 0 && !workers->closing && status == PAWL_OK) {
        workers->idle++;
        status = pawl_cond_wait(workers->env, workers->pushed, workers->mutex, PAWL_FOREVER);
        workers->idle--;
    }
    if (workers->queued > 0 && !workers->closing && status == PAWL_OK) {
        link = pawl__list_pop_front(&workers->queue);
        workers->queued--;
    }
    pawl_mutex_unlock(workers->env, workers->mutex);
    return link;
}

static void work(void *arg)
{
    struct workers *workers = arg;
    struct pawl_list_link *link;

    while ((link = pop(workers)) != NULL)
        workers->options.run(link);
}

/* One more thread when more wait than threads do. Fails only if there is none at all. */
static int start_thread(struct workers *workers)
{
    int status;

    if (workers->queued <= workers->idle || workers->thread_count == workers->options.threads_max)
        return PAWL_OK;
    status = pawl_thread_start(workers->env, workers->options.name, work, workers,
                               &workers->threads[workers->thread_count], NULL);
    if (status == PAWL_OK)
        workers->thread_count++;
    return workers->thread_count > 0 ? PAWL_OK : PAWL_EUNAVAILABLE;
}

int pawl__workers_push(struct workers *workers, struct pawl_list_link *link)
{
    int status = PAWL_EBUSY;

    pawl_mutex_lock_always(workers->env, workers->mutex);
    if (workers->queued < workers->options.queue_max) {
        pawl__list_push_back(&workers->queue, link);
        workers->queued++;
        status = start_thread(workers);
        if (status == PAWL_OK) {
            pawl_cond_signal(workers->env, workers->pushed);
        } else {
            pawl__list_remove(link);
            workers->queued--;
        }
    }
    pawl_mutex_unlock(workers->env, workers->mutex);
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
        status = pawl_cond_new(env, "http pushed", &workers->pushed);
    if (status == PAWL_OK)
        *out = workers;
    else
        pawl__workers_free(workers);
    return status;
}

void pawl__workers_stop(struct workers *workers)
{
    pawl_mutex_lock_always(workers->env, workers->mutex);
    workers->closing = true;
    pawl_cond_broadcast(workers->env, workers->pushed);
    pawl_mutex_unlock(workers->env, workers->mutex);
    for (uint32_t i = 0; i < workers->thread_count; i++)
        pawl_thread_join(workers->env, workers->threads[i]);
    workers->thread_count = 0;
    /* The loop has taken these back. */
    while (!pawl__list_empty(&workers->queue))
        workers->options.run(pawl__list_pop_front(&workers->queue));
}

void pawl__workers_free(struct workers *workers)
{
    if (!workers)
        return;
    pawl_cond_free(workers->env, workers->pushed);
    pawl_mutex_free(workers->env, workers->mutex);
    pawl__free(&workers->env->alloc, workers, size_of(workers->options.threads_max));
}
