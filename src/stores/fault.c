/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fault decorator: lets calls fail as its owner decides, before they were made or after they
 * took effect.
 *
 * A call whose reply is lost is made with separate outputs, which are discarded: the caller's
 * stay unwritten, as those of a connection that broke would. Whatever the inner store returned
 * is lost too.
 */
#include "stores/stores.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/error.h"

/* Maximum size of what a lost claim(), take() or find() returns. */
#define LOST_BYTES_MAX ((size_t)256 << 20)

struct fault_store {
    struct pawl_store base; /* first: a pawl_store is cast to this */
    struct pawl_env *env;
    struct pawl_store_fault_hooks hooks;
};

enum way {
    WAY_THROUGH, /* no fault: call the inner store and return its result */
    WAY_REFUSED, /* do not call it */
    WAY_LOST,    /* call it and lose the reply */
};

static struct fault_store *cast(struct pawl_store *store)
{
    return (struct fault_store *)(void *)store;
}

static int crash(struct fault_store *fault, enum pawl_store_call call, struct pawl_error *err)
{
    int status = fault->hooks.crash ? fault->hooks.crash(fault->hooks.ctx, call) : PAWL_ESTOPPED;

    PAWL_ASSERT(status != PAWL_OK);
    return pawl__error_set(err, status, "%s: the node crashed, by an injected fault",
                           pawl__store_call_name(call));
}

/* Calls the hook. WAY_REFUSED: *status is what the call returns. */
static enum way enter(struct fault_store *fault, enum pawl_store_call call,
                      enum pawl_store_fault *how, int *status, struct pawl_error *err)
{
    *how = PAWL_STORE_FAULT_BEFORE;
    if (!fault->hooks.decide(fault->hooks.ctx, call, how))
        return WAY_THROUGH;
    switch (*how) {
    case PAWL_STORE_FAULT_BEFORE:
        *status =
            pawl__error_set(err, PAWL_EUNAVAILABLE, "%s: not sent, by an injected fault; try again",
                            pawl__store_call_name(call));
        return WAY_REFUSED;
    case PAWL_STORE_FAULT_CRASH:
        *status = crash(fault, call, err);
        return WAY_REFUSED;
    case PAWL_STORE_FAULT_AFTER:
    case PAWL_STORE_FAULT_CRASH_AFTER:
        return WAY_LOST;
    }
    PAWL_ASSERT((unsigned)*how <= PAWL_STORE_FAULT_CRASH_AFTER);
    return WAY_THROUGH;
}

/* What is returned instead of `lost`, the status of a call that was made. */
static int lose(struct fault_store *fault, enum pawl_store_call call, enum pawl_store_fault how,
                int lost, struct pawl_error *err)
{
    (void)lost;
    if (how == PAWL_STORE_FAULT_CRASH_AFTER)
        return crash(fault, call, err);
    return pawl__error_set(
        err, PAWL_EUNKNOWN,
        "%s: the reply was lost, by an injected fault; check whether it happened",
        pawl__store_call_name(call));
}

/* ---- the interface ----------------------------------------------------------------------- */

static int fault_status(struct pawl_store *store, struct pawl_store_status *out,
                        int64_t deadline_ns, struct pawl_error *err)
{
    struct fault_store *fault = cast(store);
    struct pawl_store_status lost;
    enum pawl_store_fault how;
    int status;

    switch (enter(fault, PAWL_STORE_CALL_STATUS, &how, &status, err)) {
    case WAY_REFUSED:
        return status;
    case WAY_LOST:
        status = pawl_store_status(store->inner, &lost, deadline_ns, NULL);
        return lose(fault, PAWL_STORE_CALL_STATUS, how, status, err);
    case WAY_THROUGH:
        break;
    }
    return pawl_store_status(store->inner, out, deadline_ns, err);
}

static int fault_lease(struct pawl_store *store, struct pawl_lease *lease, int64_t deadline_ns,
                       struct pawl_error *err)
{
    struct fault_store *fault = cast(store);
    struct pawl_lease lost = *lease;
    enum pawl_store_fault how;
    int status;

    switch (enter(fault, PAWL_STORE_CALL_LEASE, &how, &status, err)) {
    case WAY_REFUSED:
        return status;
    case WAY_LOST:
        status = pawl_store_lease(store->inner, &lost, deadline_ns, NULL);
        return lose(fault, PAWL_STORE_CALL_LEASE, how, status, err);
    case WAY_THROUGH:
        break;
    }
    return pawl_store_lease(store->inner, lease, deadline_ns, err);
}

static int lose_claim(struct fault_store *fault, int64_t owner, const struct pawl_claim *claims,
                      size_t count, int64_t deadline_ns, enum pawl_store_fault how,
                      struct pawl_error *err)
{
    const struct pawl_allocator *alloc = &fault->env->alloc;
    struct pawl_claim *lost = pawl__alloc(alloc, (count + 1) * sizeof *lost);
    struct pawl_arena arena;
    int64_t now_us;
    int status;

    if (!lost)
        return pawl__error_code(err, PAWL_ENOMEM);
    if (count > 0)
        memcpy(lost, claims, count * sizeof *lost);
    pawl__arena_init(&arena, alloc, LOST_BYTES_MAX);
    status =
        pawl_store_claim(fault->base.inner, owner, lost, count, &arena, &now_us, deadline_ns, NULL);
    pawl__arena_release(&arena);
    pawl__free(alloc, lost, (count + 1) * sizeof *lost);
    return lose(fault, PAWL_STORE_CALL_CLAIM, how, status, err);
}

static int fault_claim(struct pawl_store *store, int64_t owner, struct pawl_claim *claims,
                       size_t count, struct pawl_arena *arena, int64_t *now_us, int64_t deadline_ns,
                       struct pawl_error *err)
{
    struct fault_store *fault = cast(store);
    enum pawl_store_fault how;
    int status;

    switch (enter(fault, PAWL_STORE_CALL_CLAIM, &how, &status, err)) {
    case WAY_REFUSED:
        return status;
    case WAY_LOST:
        return lose_claim(fault, owner, claims, count, deadline_ns, how, err);
    case WAY_THROUGH:
        break;
    }
    return pawl_store_claim(store->inner, owner, claims, count, arena, now_us, deadline_ns, err);
}

static int lose_apply(struct fault_store *fault, struct pawl_commit *const *commits, size_t count,
                      int64_t deadline_ns, enum pawl_store_fault how, struct pawl_error *err)
{
    const struct pawl_allocator *alloc = &fault->env->alloc;
    size_t size_bytes = (count + 1) * (sizeof(struct pawl_commit) + sizeof(struct pawl_commit *));
    struct pawl_commit *lost = pawl__alloc(alloc, size_bytes);
    struct pawl_commit **members;
    int status;

    if (!lost)
        return pawl__error_code(err, PAWL_ENOMEM);
    members = (struct pawl_commit **)(void *)(lost + count + 1);
    for (size_t i = 0; i < count; i++) {
        lost[i] = *commits[i];
        members[i] = &lost[i];
    }
    status = pawl_store_apply(fault->base.inner, members, count, deadline_ns, NULL);
    pawl__free(alloc, lost, size_bytes);
    return lose(fault, PAWL_STORE_CALL_APPLY, how, status, err);
}

static int fault_apply(struct pawl_store *store, struct pawl_commit *const *commits, size_t count,
                       int64_t deadline_ns, struct pawl_error *err)
{
    struct fault_store *fault = cast(store);
    enum pawl_store_fault how;
    int status;

    switch (enter(fault, PAWL_STORE_CALL_APPLY, &how, &status, err)) {
    case WAY_REFUSED:
        return status;
    case WAY_LOST:
        return lose_apply(fault, commits, count, deadline_ns, how, err);
    case WAY_THROUGH:
        break;
    }
    return pawl_store_apply(store->inner, commits, count, deadline_ns, err);
}

static int fault_take(struct pawl_store *store, const struct pawl_take *take,
                      struct pawl_arena *arena, struct pawl_taken *out, int64_t deadline_ns,
                      struct pawl_error *err)
{
    struct fault_store *fault = cast(store);
    struct pawl_arena lost_arena;
    struct pawl_taken lost;
    enum pawl_store_fault how;
    int status;

    switch (enter(fault, PAWL_STORE_CALL_TAKE, &how, &status, err)) {
    case WAY_REFUSED:
        return status;
    case WAY_LOST:
        pawl__arena_init(&lost_arena, &fault->env->alloc, LOST_BYTES_MAX);
        status = pawl_store_take(store->inner, take, &lost_arena, &lost, deadline_ns, NULL);
        pawl__arena_release(&lost_arena);
        return lose(fault, PAWL_STORE_CALL_TAKE, how, status, err);
    case WAY_THROUGH:
        break;
    }
    return pawl_store_take(store->inner, take, arena, out, deadline_ns, err);
}

static int fault_find(struct pawl_store *store, const struct pawl_query *query,
                      struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                      struct pawl_error *err)
{
    struct fault_store *fault = cast(store);
    struct pawl_arena lost_arena;
    struct pawl_rows lost;
    enum pawl_store_fault how;
    int status;

    switch (enter(fault, PAWL_STORE_CALL_FIND, &how, &status, err)) {
    case WAY_REFUSED:
        return status;
    case WAY_LOST:
        pawl__arena_init(&lost_arena, &fault->env->alloc, LOST_BYTES_MAX);
        status = pawl_store_find(store->inner, query, &lost_arena, &lost, deadline_ns, NULL);
        pawl__arena_release(&lost_arena);
        return lose(fault, PAWL_STORE_CALL_FIND, how, status, err);
    case WAY_THROUGH:
        break;
    }
    return pawl_store_find(store->inner, query, arena, out, deadline_ns, err);
}

static int fault_find_many(struct pawl_store *store, const struct pawl_query *queries, size_t count,
                           struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                           struct pawl_error *err)
{
    struct fault_store *fault = cast(store);
    struct pawl_rows lost[PAWL_STORE_QUERIES_MAX];
    struct pawl_arena lost_arena;
    enum pawl_store_fault how;
    int status = pawl__store_check_queries(count, err);

    if (status != PAWL_OK)
        return status;
    switch (enter(fault, PAWL_STORE_CALL_FIND, &how, &status, err)) {
    case WAY_REFUSED:
        return status;
    case WAY_LOST:
        pawl__arena_init(&lost_arena, &fault->env->alloc, LOST_BYTES_MAX);
        status = pawl_store_find_many(store->inner, queries, count, &lost_arena, lost, deadline_ns,
                                      NULL);
        pawl__arena_release(&lost_arena);
        return lose(fault, PAWL_STORE_CALL_FIND, how, status, err);
    case WAY_THROUGH:
        break;
    }
    return pawl_store_find_many(store->inner, queries, count, arena, out, deadline_ns, err);
}

static int fault_wait(struct pawl_store *store, struct pawl_wake *wake, int64_t deadline_ns,
                      struct pawl_error *err)
{
    struct fault_store *fault = cast(store);
    struct pawl_wake lost = *wake;
    enum pawl_store_fault how;
    int status;

    switch (enter(fault, PAWL_STORE_CALL_WAIT, &how, &status, err)) {
    case WAY_REFUSED:
        return status;
    case WAY_LOST:
        status = pawl_store_wait(store->inner, &lost, deadline_ns, NULL);
        return lose(fault, PAWL_STORE_CALL_WAIT, how, status, err);
    case WAY_THROUGH:
        break;
    }
    return pawl_store_wait(store->inner, wake, deadline_ns, err);
}

static int lose_row(void *ctx, enum pawl_table table, const void *row, struct pawl_error *err)
{
    (void)ctx;
    (void)table;
    (void)row;
    (void)err;
    return PAWL_OK;
}

static int fault_snapshot(struct pawl_store *store, pawl_row_visitor visit, void *ctx,
                          int64_t deadline_ns, struct pawl_error *err)
{
    struct fault_store *fault = cast(store);
    enum pawl_store_fault how;
    int status;

    switch (enter(fault, PAWL_STORE_CALL_SNAPSHOT, &how, &status, err)) {
    case WAY_REFUSED:
        return status;
    case WAY_LOST:
        status = pawl_store_snapshot(store->inner, lose_row, NULL, deadline_ns, NULL);
        return lose(fault, PAWL_STORE_CALL_SNAPSHOT, how, status, err);
    case WAY_THROUGH:
        break;
    }
    return pawl_store_snapshot(store->inner, visit, ctx, deadline_ns, err);
}

static int fault_load(struct pawl_store *store, enum pawl_table table, const void *rows,
                      size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    struct fault_store *fault = cast(store);
    enum pawl_store_fault how;
    int status;

    switch (enter(fault, PAWL_STORE_CALL_LOAD, &how, &status, err)) {
    case WAY_REFUSED:
        return status;
    case WAY_LOST:
        status = pawl_store_load(store->inner, table, rows, count, deadline_ns, NULL);
        return lose(fault, PAWL_STORE_CALL_LOAD, how, status, err);
    case WAY_THROUGH:
        break;
    }
    return pawl_store_load(store->inner, table, rows, count, deadline_ns, err);
}

static void lose_finding(void *ctx, const char *finding)
{
    (void)ctx;
    (void)finding;
}

static int fault_check(struct pawl_store *store, pawl_finding_visitor visit, void *ctx,
                       int64_t deadline_ns, struct pawl_error *err)
{
    struct fault_store *fault = cast(store);
    enum pawl_store_fault how;
    int status;

    switch (enter(fault, PAWL_STORE_CALL_CHECK, &how, &status, err)) {
    case WAY_REFUSED:
        return status;
    case WAY_LOST:
        status = pawl_store_check_backend(store->inner, lose_finding, NULL, deadline_ns, NULL);
        return lose(fault, PAWL_STORE_CALL_CHECK, how, status, err);
    case WAY_THROUGH:
        break;
    }
    return pawl_store_check_backend(store->inner, visit, ctx, deadline_ns, err);
}

static void fault_close(struct pawl_store *store)
{
    struct fault_store *fault = cast(store);
    struct pawl_env *env = fault->env;

    pawl_store_close(store->inner);
    pawl__free(&env->alloc, fault, sizeof *fault);
}

static const struct pawl_store_ops fault_ops = {
    .version = PAWL_STORE_VERSION,
    .close = fault_close,
    .status = fault_status,
    .lease = fault_lease,
    .claim = fault_claim,
    .apply = fault_apply,
    .take = fault_take,
    .find = fault_find,
    .wait = fault_wait,
    .snapshot = fault_snapshot,
    .load = fault_load,
    .check = fault_check,
    .find_many = fault_find_many,
};

int pawl__fault_store_new(struct pawl_env *env, struct pawl_store *inner,
                          const struct pawl_store_fault_hooks *hooks, struct pawl_store **out,
                          struct pawl_error *err)
{
    struct fault_store *fault = pawl__alloc_zeroed(&env->alloc, sizeof *fault);

    PAWL_ASSERT(hooks->decide);
    if (!fault)
        return pawl__error_code(err, PAWL_ENOMEM);
    fault->env = env;
    fault->hooks = *hooks;
    fault->base = (struct pawl_store){
        .ops = &fault_ops, .caps = inner->caps, .inner = inner, .name = "fault"};
    *out = &fault->base;
    return PAWL_OK;
}
