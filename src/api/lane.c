/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads and a queue; see lane.h. */
#include "api/lane.h"

#include "base/alloc.h"
#include "base/error.h"

#define THREADS_MAX 2u
#define QUEUE_MAX 64u

struct waiting {
    struct pawl_exchange *exchange;
    pawl_route_handler handle;
};

struct pawl_lane {
    struct pawl_env *env;
    void *ctx;
    struct pawl_mutex *mutex; /* guards the rest; nothing else is locked under it */
    struct pawl_cond *changed;
    struct pawl_thread *threads[THREADS_MAX];
    uint32_t thread_count, idle;
    struct waiting queue[QUEUE_MAX]; /* a ring: `count` from `first` on */
    uint32_t first, count;
    bool stopping;
};

int pawl__lane_new(struct pawl_env *env, void *ctx, struct pawl_lane **out, struct pawl_error *err)
{
    struct pawl_lane *lane = pawl__alloc_zeroed(&env->alloc, sizeof *lane);
    int status;

    if (!lane)
        return pawl__error_code(err, PAWL_ENOMEM);
    lane->env = env;
    lane->ctx = ctx;
    status = pawl_mutex_new(env, "lane", &lane->mutex);
    if (status == PAWL_OK)
        status = pawl_cond_new(env, "lane", &lane->changed);
    if (status == PAWL_OK) {
        *out = lane;
        return PAWL_OK;
    }
    pawl__lane_free(lane);
    return pawl__error_code(err, status);
}

static bool next(struct pawl_lane *lane, struct waiting *out)
{
    int status = PAWL_OK;

    pawl_mutex_lock_always(lane->env, lane->mutex);
    lane->idle++;
    while (lane->count == 0 && !lane->stopping && status != PAWL_ESTOPPED)
        status = pawl_cond_wait(lane->env, lane->changed, lane->mutex, PAWL_FOREVER);
    lane->idle--;
    if (lane->stopping || lane->count == 0) {
        pawl_mutex_unlock(lane->env, lane->mutex);
        return false;
    }
    *out = lane->queue[lane->first];
    lane->first = (lane->first + 1) % QUEUE_MAX;
    lane->count--;
    pawl_mutex_unlock(lane->env, lane->mutex);
    return true;
}

static void run(void *arg)
{
    struct pawl_lane *lane = arg;
    struct waiting one;

    while (next(lane, &one))
        one.handle(one.exchange, lane->ctx);
}

/* The mutex is held. A thread that cannot be started is not missed if there is another. */
static void start_thread(struct pawl_lane *lane)
{
    if (lane->thread_count < THREADS_MAX && lane->idle < lane->count &&
        pawl_thread_start(lane->env, "passwords", run, lane, &lane->threads[lane->thread_count],
                          NULL) == PAWL_OK)
        lane->thread_count++;
}

static void refuse(struct pawl_exchange *exchange)
{
    pawl__exchange_add_field(exchange, "Retry-After", "1");
    pawl__exchange_refuse(exchange, 503, "Too many sign in at this moment. Try again.");
}

void pawl__lane_add(struct pawl_lane *lane, struct pawl_exchange *exchange,
                    pawl_route_handler handle)
{
    bool added = false;

    pawl_mutex_lock_always(lane->env, lane->mutex);
    if (!lane->stopping && lane->count < QUEUE_MAX) {
        lane->queue[(lane->first + lane->count++) % QUEUE_MAX] = (struct waiting){exchange, handle};
        start_thread(lane);
        added = lane->thread_count > 0;
        if (!added)
            lane->count--;
        pawl_cond_signal(lane->env, lane->changed);
    }
    pawl_mutex_unlock(lane->env, lane->mutex);
    if (!added)
        refuse(exchange);
}

void pawl__lane_stop(struct pawl_lane *lane)
{
    pawl_mutex_lock_always(lane->env, lane->mutex);
    lane->stopping = true;
    pawl_cond_broadcast(lane->env, lane->changed);
    pawl_mutex_unlock(lane->env, lane->mutex);
    for (uint32_t i = 0; i < lane->thread_count; i++)
        pawl_thread_join(lane->env, lane->threads[i]);
    lane->thread_count = 0;
    for (; lane->count > 0; lane->count--) {
        refuse(lane->queue[lane->first].exchange);
        lane->first = (lane->first + 1) % QUEUE_MAX;
    }
}

void pawl__lane_free(struct pawl_lane *lane)
{
    if (!lane)
        return;
    pawl_cond_free(lane->env, lane->changed);
    pawl_mutex_free(lane->env, lane->mutex);
    pawl__free(&lane->env->alloc, lane, sizeof *lane);
}
