/* SPDX-License-Identifier: Apache-2.0 */
/* A caller that blocks until a completion is called; see blocked.h. */
#include "operations/blocked.h"

#include "base/alloc.h"
#include "base/error.h"
#include "operations/instances.h"
#include "operations/query.h"

#include <stdatomic.h>
#include <string.h>

/* Between queries for work of a caller that does it itself: from, doubled, to. */
#define PAUSE_NS_MIN INT64_C(1000000)
#define PAUSE_NS_MAX INT64_C(100000000)
/* What one round of work may take: it must not fail because the caller's time is nearly up. */
#define ROUND_MS 5000
/* Of what a completion is given. */
#define BYTES_MAX ((size_t)16 << 20)

struct op_blocked {
    struct pawl_env *env;
    atomic_uint users;
    struct pawl_mutex *mutex; /* guards what follows */
    struct pawl_cond *over;
    struct pawl_arena arena;
    void *value;
    bool is_over;
};

void op_blocked_leave(struct op_blocked *blocked)
{
    if (atomic_fetch_sub(&blocked->users, 1) > 1)
        return;
    pawl_cond_free(blocked->env, blocked->over);
    pawl_mutex_free(blocked->env, blocked->mutex);
    pawl__arena_release(&blocked->arena);
    pawl__free(&blocked->env->alloc, blocked, sizeof *blocked);
}

int op_blocked_new(const struct pawl_op *op, size_t size, struct op_blocked **out)
{
    struct pawl_env *env = op_env(op);
    struct op_blocked *blocked = pawl__alloc_zeroed(&env->alloc, sizeof *blocked);
    int status = PAWL_OK;

    if (!blocked)
        return pawl__error_code(op->err, PAWL_ENOMEM);
    blocked->env = env;
    atomic_init(&blocked->users, 1);
    pawl__arena_init(&blocked->arena, &env->alloc, BYTES_MAX);
    blocked->value = pawl__arena_alloc(&blocked->arena, size);
    if (blocked->value)
        memset(blocked->value, 0, size);
    else
        status = pawl__arena_status(&blocked->arena);
    if (status == PAWL_OK)
        status = pawl_mutex_new(env, "wait", &blocked->mutex);
    if (status == PAWL_OK)
        status = pawl_cond_new(env, "wait", &blocked->over);
    if (status != PAWL_OK) {
        op_blocked_leave(blocked);
        return pawl__error_code(op->err, status);
    }
    atomic_fetch_add(&blocked->users, 1);
    *out = blocked;
    return PAWL_OK;
}

void *op_blocked_value(struct op_blocked *blocked)
{
    return blocked->value;
}

struct pawl_arena *op_blocked_arena(struct op_blocked *blocked)
{
    return &blocked->arena;
}

void *op_blocked_lock(struct op_blocked *blocked)
{
    return pawl_mutex_lock(blocked->env, blocked->mutex) == PAWL_OK ? blocked->value : NULL;
}

void op_blocked_complete(struct op_blocked *blocked, bool is_locked)
{
    if (is_locked) {
        blocked->is_over = true;
        pawl_mutex_unlock(blocked->env, blocked->mutex);
        pawl_cond_broadcast(blocked->env, blocked->over);
    }
    op_blocked_leave(blocked);
}

/* Until it is over or until then; *over says which. */
static int pass_time(struct op_blocked *blocked, int64_t until_ns, bool *over,
                     struct pawl_error *err)
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

int op_blocked_wait(const struct pawl_op *op, struct op_blocked *blocked, bool works)
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
