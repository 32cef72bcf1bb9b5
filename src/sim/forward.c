/* SPDX-License-Identifier: Apache-2.0 */
/* A table that passes every call on to the inner store, for decorators to begin with. */
#include "sim/sim_private.h"

static int forward_status(struct pawl_store *store, struct pawl_store_status *out,
                          int64_t deadline_ns, struct pawl_error *err)
{
    return pawl_store_status(store->inner, out, deadline_ns, err);
}

static int forward_lease(struct pawl_store *store, struct pawl_lease *lease, int64_t deadline_ns,
                         struct pawl_error *err)
{
    return pawl_store_lease(store->inner, lease, deadline_ns, err);
}

static int forward_claim(struct pawl_store *store, int64_t owner, struct pawl_claim *claims,
                         size_t count, struct pawl_arena *arena, int64_t *now_us,
                         int64_t deadline_ns, struct pawl_error *err)
{
    return pawl_store_claim(store->inner, owner, claims, count, arena, now_us, deadline_ns, err);
}

static int forward_apply(struct pawl_store *store, struct pawl_commit *const *commits, size_t count,
                         int64_t deadline_ns, struct pawl_error *err)
{
    return pawl_store_apply(store->inner, commits, count, deadline_ns, err);
}

static int forward_take(struct pawl_store *store, const struct pawl_take *take,
                        struct pawl_arena *arena, struct pawl_taken *out, int64_t deadline_ns,
                        struct pawl_error *err)
{
    return pawl_store_take(store->inner, take, arena, out, deadline_ns, err);
}

static int forward_find(struct pawl_store *store, const struct pawl_query *query,
                        struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                        struct pawl_error *err)
{
    return pawl_store_find(store->inner, query, arena, out, deadline_ns, err);
}

static int forward_wait(struct pawl_store *store, struct pawl_wake *wake, int64_t deadline_ns,
                        struct pawl_error *err)
{
    return pawl_store_wait(store->inner, wake, deadline_ns, err);
}

static int forward_snapshot(struct pawl_store *store, pawl_row_visitor visit, void *ctx,
                            int64_t deadline_ns, struct pawl_error *err)
{
    return pawl_store_snapshot(store->inner, visit, ctx, deadline_ns, err);
}

static int forward_load(struct pawl_store *store, enum pawl_table table, const void *rows,
                        size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    return pawl_store_load(store->inner, table, rows, count, deadline_ns, err);
}

static int forward_check(struct pawl_store *store, pawl_finding_visitor visit, void *ctx,
                         int64_t deadline_ns, struct pawl_error *err)
{
    return pawl_store_check_backend(store->inner, visit, ctx, deadline_ns, err);
}

void pawl__sim_forward_init(struct pawl_store_ops *ops)
{
    *ops = (struct pawl_store_ops){
        .version = PAWL_STORE_VERSION,
        .status = forward_status,
        .lease = forward_lease,
        .claim = forward_claim,
        .apply = forward_apply,
        .take = forward_take,
        .find = forward_find,
        .wait = forward_wait,
        .snapshot = forward_snapshot,
        .load = forward_load,
        .check = forward_check,
    };
}
