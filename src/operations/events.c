/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event that is waited for; see stimuli.h. Each instance that it reached has a waiter in the
 * node's table (runtime/node/waits.h); the last one to come to rest completes the operation.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "operations/blocked.h"
#include "operations/query.h"
#include "operations/stimuli_private.h"
#include "runtime/node/waits.h"

#include <stdatomic.h>

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
    if (reached->has_rested) {
        outcome->sub_status = reached->sub_status;
        outcome->incident_count = reached->incident_count;
        return;
    }
    event->awaited[i] = (struct awaited){event, outcome};
    atomic_fetch_add(&event->left, 1);
    status = pawl__runtime_await(op_runtime(op), &wait, NULL, NULL);
    if (status == PAWL_OK)
        return;
    outcome->status = status;
    leave(event);
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
    status = op_event_send(op, request, &reach, &event->result.sent);
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

static void copy_result(struct pawl_arena *arena, const struct pawl_event_result *from,
                        struct pawl_event_result *to)
{
    struct pawl_event_outcome *all = pawl__arena_alloc_array(arena, from->count + 1, sizeof *all);

    *to = (struct pawl_event_result){.sent = from->sent, .instances = all};
    for (size_t i = 0; all && i < from->count; i++)
        all[to->count++] = from->instances[i];
}

static void on_done(void *ctx, const struct pawl_event_result *result)
{
    struct op_blocked *blocked = ctx;
    struct pawl_event_result *to = op_blocked_lock(blocked);

    if (to)
        copy_result(op_blocked_arena(blocked), result, to);
    op_blocked_complete(blocked, to != NULL);
}

int pawl__op_event_send_wait(const struct pawl_op *op, const struct pawl_send_request *request,
                             bool works, struct pawl_event_result *out)
{
    struct op_blocked *blocked = NULL;
    int status = op_blocked_new(op, sizeof *out, &blocked);

    if (status != PAWL_OK)
        return status;
    status = pawl__op_event_send_await(op, request, on_done, blocked);
    if (status != PAWL_OK)
        op_blocked_leave(blocked);
    else
        status = op_blocked_wait(op, blocked, works);
    if (status == PAWL_OK)
        copy_result(op->arena, op_blocked_value(blocked), out);
    op_blocked_leave(blocked);
    return status;
}
