/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event that is waited for; see stimuli.h. Each instance that it reached has a waiter in the
 * node's table (runtime/node/waits.h); the last one to come to rest completes the operation.
 */
#include "operations/stimuli.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "operations/instances.h"
#include "operations/query.h"
#include "runtime/node/waits.h"

#include <stdatomic.h>

/* Between looks for work of a caller that does it itself: from, doubled, to. */
#define PAUSE_NS_MIN INT64_C(1000000)
#define PAUSE_NS_MAX INT64_C(100000000)
/* What one round of that may take. */
#define ROUND_MS 5000
/* Ids of what was reached. */
#define REACH_BYTES_MAX ((size_t)16 << 20)

struct awaited {
    struct event *event;
    struct pawl_event_outcome *outcome;
};

struct event {
    struct pawl_env *env;
    struct pawl_arena arena; /* of what follows */
    struct awaited *awaited;
    struct pawl_event_result result;
    atomic_size_t left; /* waiters, and one for whoever adds them */
    pawl_event_done_fn *done;
    void *ctx;
};

static void free_event(struct event *event)
{
    pawl__arena_release(&event->arena);
    pawl__free(&event->env->alloc, event, sizeof *event);
}

static void leave(struct event *event)
{
    if (atomic_fetch_sub(&event->left, 1) > 1)
        return;
    event->done(event->ctx, &event->result);
    free_event(event);
}

static void on_rest(void *ctx, int status, const struct pawl_instance_row *row,
                    const struct pawl_error *err)
{
    struct awaited *awaited = ctx;

    (void)err;
    awaited->outcome->status = status;
    if (status == PAWL_OK) {
        (void)pawl__sub_status_parse(row->sub_status, &awaited->outcome->sub_status);
        awaited->outcome->incident_count = row->incident_count;
    }
    leave(awaited->event);
}

static int make_room(const struct pawl_op *op, struct event *event, size_t count)
{
    size_t room = count + 1;

    event->awaited = pawl__arena_alloc_array(&event->arena, room, sizeof *event->awaited);
    event->result.instances =
        pawl__arena_alloc_array(&event->arena, room, sizeof *event->result.instances);
    return event->arena.status == PAWL_OK ? PAWL_OK
                                          : pawl__error_code(op->err, event->arena.status);
}

/* The event is sent: whoever cannot be waited for is told as such. */
static void await_one(const struct pawl_op *op, struct event *event,
                      const struct pawl_reached *reached, size_t i)
{
    struct pawl_event_outcome *outcome = &event->result.instances[i];
    const struct pawl_wait wait = {.instance_id = reached->instance_id,
                                   .work_id = reached->work_id,
                                   .until = PAWL_WAIT_IDLE,
                                   .deadline_ns = op->deadline_ns,
                                   .done = on_rest,
                                   .ctx = &event->awaited[i]};
    int status;

    *outcome = (struct pawl_event_outcome){.is_started = reached->is_started};
    if (reached->instance_id.len <= PAWL_INSTANCE_ID_MAX)
        memcpy(outcome->instance_id, reached->instance_id.ptr, reached->instance_id.len);
    event->awaited[i] = (struct awaited){event, outcome};
    atomic_fetch_add(&event->left, 1);
    status = pawl__runtime_await(op_runtime(op), &wait, NULL, NULL);
    if (status == PAWL_OK)
        return;
    outcome->status = status;
    leave(event);
}

static int send(const struct pawl_op *op, const struct pawl_send_request *request,
                struct pawl_reach *reach, struct pawl_send_result *out)
{
    const struct pawl_stimulus stimulus = {
        .correlation_id = request->correlation_id,
        .instance_id = request->instance_id,
        .activity_instance_id = request->activity_instance_id,
        .idempotency_key = request->idempotency_key,
        .reach = reach,
    };
    struct pawl_sent sent = {0};
    int status;

    if (request->name.len == 0)
        return pawl__error_set(op->err, PAWL_EINVAL, "an event has a name");
    status = pawl__runtime_send_event(op_runtime(op), request->name, request->payload, &stimulus,
                                      &sent, op->deadline_ns, op->err);
    *out = (struct pawl_send_result){sent.started, sent.resumed, sent.parked};
    return status;
}

int pawl__op_event_send_await(const struct pawl_op *op, const struct pawl_send_request *request,
                              pawl_event_done_fn *done, void *ctx)
{
    struct pawl_env *env = op_env(op);
    struct event *event = pawl__alloc_zeroed(&env->alloc, sizeof *event);
    struct pawl_reach reach = {.count = 0};
    int status;

    if (!event)
        return pawl__error_code(op->err, PAWL_ENOMEM);
    event->env = env;
    event->done = done;
    event->ctx = ctx;
    atomic_init(&event->left, 1);
    pawl__arena_init(&event->arena, &env->alloc, REACH_BYTES_MAX);
    reach.arena = &event->arena;
    status = send(op, request, &reach, &event->result.sent);
    if (status != PAWL_OK) {
        free_event(event);
        return status;
    }
    /* It is sent: without memory nobody is waited for, which says no more than that. */
    if (make_room(op, event, reach.count) == PAWL_OK) {
        event->result.count = reach.count;
        for (size_t i = 0; i < reach.count; i++)
            await_one(op, event, &reach.items[i], i);
    }
    leave(event);
    return PAWL_OK;
}

/* ---- that blocks ---------------------------------------------------------------------------- */

/* Of who waits and of the completion: whoever is last frees it. */
struct blocked {
    struct pawl_env *env;
    atomic_uint users;
    struct pawl_mutex *mutex; /* guards what follows */
    struct pawl_cond *over;
    struct pawl_arena arena; /* of the result */
    struct pawl_event_result result;
    bool is_over;
};

static void part(struct blocked *blocked)
{
    if (atomic_fetch_sub(&blocked->users, 1) > 1)
        return;
    pawl_cond_free(blocked->env, blocked->over);
    pawl_mutex_free(blocked->env, blocked->mutex);
    pawl__arena_release(&blocked->arena);
    pawl__free(&blocked->env->alloc, blocked, sizeof *blocked);
}

static void copy(struct pawl_arena *arena, const struct pawl_event_result *from,
                 struct pawl_event_result *to)
{
    struct pawl_event_outcome *all = pawl__arena_alloc_array(arena, from->count + 1, sizeof *all);

    *to = (struct pawl_event_result){.sent = from->sent, .instances = all};
    for (size_t i = 0; all && i < from->count; i++)
        all[to->count++] = from->instances[i];
}

static void on_done(void *ctx, const struct pawl_event_result *result)
{
    struct blocked *blocked = ctx;

    if (pawl_mutex_lock(blocked->env, blocked->mutex) == PAWL_OK) {
        copy(&blocked->arena, result, &blocked->result);
        blocked->is_over = true;
        pawl_mutex_unlock(blocked->env, blocked->mutex);
        pawl_cond_broadcast(blocked->env, blocked->over);
    }
    part(blocked);
}

static int pass_time(struct blocked *blocked, int64_t until_ns, bool *over, struct pawl_error *err)
{
    int status = pawl_mutex_lock(blocked->env, blocked->mutex);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    while (status == PAWL_OK && !blocked->is_over)
        status = pawl_cond_wait(blocked->env, blocked->over, blocked->mutex, until_ns);
    *over = blocked->is_over;
    pawl_mutex_unlock(blocked->env, blocked->mutex);
    return *over || status == PAWL_ETIMEDOUT ? PAWL_OK : pawl__error_code(err, status);
}

static int block(const struct pawl_op *op, struct blocked *blocked, bool works)
{
    int64_t pause_ns = PAUSE_NS_MIN;
    bool over = false;
    int status = PAWL_OK;

    while (status == PAWL_OK && !over) {
        int64_t until_ns = PAWL_FOREVER;

        if (works) {
            struct pawl_op round = pawl__op_within(op, ROUND_MS);
            struct pawl_worked worked = {.done = 0};

            status = pawl__op_work(&round, 0, &worked);
            if (worked.done > 0)
                pause_ns = PAUSE_NS_MIN;
            else if (pause_ns < PAUSE_NS_MAX)
                pause_ns *= 2;
            until_ns = pawl_env_monotonic_ns(blocked->env) + (worked.done > 0 ? 0 : pause_ns);
        }
        if (status == PAWL_OK)
            status = pass_time(blocked, until_ns, &over, op->err);
    }
    return status;
}

static int new_blocked(const struct pawl_op *op, struct blocked **out)
{
    struct pawl_env *env = op_env(op);
    struct blocked *blocked = pawl__alloc_zeroed(&env->alloc, sizeof *blocked);
    int status;

    if (!blocked)
        return pawl__error_code(op->err, PAWL_ENOMEM);
    blocked->env = env;
    atomic_init(&blocked->users, 1);
    pawl__arena_init(&blocked->arena, &env->alloc, REACH_BYTES_MAX);
    status = pawl_mutex_new(env, "wait", &blocked->mutex);
    if (status == PAWL_OK)
        status = pawl_cond_new(env, "wait", &blocked->over);
    if (status != PAWL_OK) {
        part(blocked);
        return pawl__error_code(op->err, status);
    }
    *out = blocked;
    return PAWL_OK;
}

int pawl__op_event_send_wait(const struct pawl_op *op, const struct pawl_send_request *request,
                             bool works, struct pawl_event_result *out)
{
    struct blocked *blocked = NULL;
    int status = new_blocked(op, &blocked);

    if (status != PAWL_OK)
        return status;
    PAWL_ASSERT(blocked);
    atomic_fetch_add(&blocked->users, 1);
    status = pawl__op_event_send_await(op, request, on_done, blocked);
    if (status != PAWL_OK)
        part(blocked);
    else
        status = block(op, blocked, works);
    if (status == PAWL_OK)
        copy(op->arena, &blocked->result, out);
    part(blocked);
    return status;
}
