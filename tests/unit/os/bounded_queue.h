/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small program against struct pawl_env and nothing else, run on each environment: two producers
 * and two consumers over a bounded queue. Threads record, the test checks afterwards: cmocka's
 * checks belong to the main thread.
 */
#ifndef PAWL_TESTS_UNIT_OS_BOUNDED_QUEUE_H
#define PAWL_TESTS_UNIT_OS_BOUNDED_QUEUE_H

#include "lib/test.h"

#define QUEUE_CAPACITY 2
#define QUEUE_PEOPLE 2 /* producers, and as many consumers */

struct queue_program {
    struct pawl_env *env;
    int items_each; /* per producer */
    struct pawl_mutex *mutex;
    struct pawl_cond *not_full;
    struct pawl_cond *not_empty;
    int items[QUEUE_CAPACITY];
    int count;
    int consumed; /* of all */
    int sum;      /* of what was consumed */
    int next;     /* what the next producer's item is */
    struct pawl_thread *threads[2 * QUEUE_PEOPLE];
    int thread_count;
};

static inline int queue_total(const struct queue_program *q)
{
    return QUEUE_PEOPLE * q->items_each;
}

static inline int queue_put(struct queue_program *q)
{
    int status = pawl_mutex_lock(q->env, q->mutex);

    if (status != PAWL_OK)
        return status;
    while (q->count == QUEUE_CAPACITY && status == PAWL_OK)
        status = pawl_cond_wait(q->env, q->not_full, q->mutex, PAWL_FOREVER);
    if (status == PAWL_OK) {
        q->items[q->count++] = q->next++;
        pawl_cond_signal(q->env, q->not_empty);
    }
    pawl_mutex_unlock(q->env, q->mutex);
    return status;
}

/* PAWL_ENOTFOUND: everything was consumed. */
static inline int queue_get(struct queue_program *q)
{
    int status = pawl_mutex_lock(q->env, q->mutex);

    if (status != PAWL_OK)
        return status;
    while (q->count == 0 && q->consumed < queue_total(q) && status == PAWL_OK)
        status = pawl_cond_wait(q->env, q->not_empty, q->mutex, PAWL_FOREVER);
    if (status == PAWL_OK && q->count == 0)
        status = PAWL_ENOTFOUND;
    if (status == PAWL_OK) {
        q->sum += q->items[--q->count];
        q->consumed++;
        pawl_cond_signal(q->env, q->not_full);
        if (q->consumed == queue_total(q))
            pawl_cond_broadcast(q->env, q->not_empty);
    }
    pawl_mutex_unlock(q->env, q->mutex);
    return status;
}

static inline void queue_producer(void *arg)
{
    struct queue_program *q = arg;
    int status = PAWL_OK;

    for (int i = 0; i < q->items_each && status == PAWL_OK; i++)
        status = queue_put(q);
}

static inline void queue_consumer(void *arg)
{
    struct queue_program *q = arg;

    while (queue_get(q) == PAWL_OK)
        continue;
}

static inline void queue_release(struct queue_program *q)
{
    pawl_cond_free(q->env, q->not_empty);
    pawl_cond_free(q->env, q->not_full);
    pawl_mutex_free(q->env, q->mutex);
}

/* On failure everything is freed again, threads that were started aside. */
static inline int queue_init(struct queue_program *q, struct pawl_env *env, int items_each)
{
    int status;

    *q = (struct queue_program){.env = env, .items_each = items_each};
    status = pawl_mutex_new(env, "queue", &q->mutex);
    if (status == PAWL_OK)
        status = pawl_cond_new(env, "not-full", &q->not_full);
    if (status == PAWL_OK)
        status = pawl_cond_new(env, "not-empty", &q->not_empty);
    if (status != PAWL_OK)
        queue_release(q);
    return status;
}

static inline int queue_start(struct queue_program *q)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    int status = PAWL_OK;

    for (int i = 0; i < 2 * QUEUE_PEOPLE && status == PAWL_OK; i++) {
        status =
            pawl_thread_start(q->env, i % 2 ? "consumer" : "producer",
                              i % 2 ? queue_consumer : queue_producer, q, &q->threads[i], &err);
        q->thread_count += status == PAWL_OK;
    }
    return status;
}

static inline void queue_join(struct queue_program *q)
{
    for (int i = 0; i < q->thread_count; i++)
        pawl_thread_join(q->env, q->threads[i]);
    q->thread_count = 0;
}

#endif
