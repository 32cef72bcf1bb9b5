/* SPDX-License-Identifier: Apache-2.0 */
/* The measuring decorator: reports each call that has returned, and changes nothing. */
#include "base/alloc.h"
#include "base/error.h"
#include "stores/stores.h"

struct measure_store {
    struct pawl_store base; /* first: a pawl_store is cast to this */
    struct pawl_env *env;
    struct pawl_store_measures measures;
};

static struct measure_store *cast(struct pawl_store *store)
{
    return (struct measure_store *)(void *)store;
}

static int64_t begin(struct pawl_store *store)
{
    return pawl_env_monotonic_ns(cast(store)->env);
}

/* Returns `status`. */
static int end(struct pawl_store *store, enum pawl_store_call call, int64_t begun_ns, int status)
{
    const struct pawl_store_measures *measures = &cast(store)->measures;

    measures->called(measures->ctx, call, status,
                     pawl_env_monotonic_ns(cast(store)->env) - begun_ns);
    return status;
}

static int measure_status(struct pawl_store *store, struct pawl_store_status *out,
                          int64_t deadline_ns, struct pawl_error *err)
{
    int64_t begun_ns = begin(store);

    return end(store, PAWL_STORE_CALL_STATUS, begun_ns,
               pawl_store_status(store->inner, out, deadline_ns, err));
}

static int measure_lease(struct pawl_store *store, struct pawl_lease *lease, int64_t deadline_ns,
                         struct pawl_error *err)
{
    int64_t begun_ns = begin(store);

    return end(store, PAWL_STORE_CALL_LEASE, begun_ns,
               pawl_store_lease(store->inner, lease, deadline_ns, err));
}

static int measure_claim(struct pawl_store *store, int64_t owner, struct pawl_claim *claims,
                         size_t count, struct pawl_arena *arena, int64_t *now_us,
                         int64_t deadline_ns, struct pawl_error *err)
{
    const struct pawl_store_measures *measures = &cast(store)->measures;
    int64_t begun_ns = begin(store);
    int status =
        pawl_store_claim(store->inner, owner, claims, count, arena, now_us, deadline_ns, err);

    if (status == PAWL_OK)
        measures->claimed(measures->ctx, claims, count);
    return end(store, PAWL_STORE_CALL_CLAIM, begun_ns, status);
}

static int measure_apply(struct pawl_store *store, struct pawl_commit *const *commits, size_t count,
                         int64_t deadline_ns, struct pawl_error *err)
{
    const struct pawl_store_measures *measures = &cast(store)->measures;
    int64_t begun_ns = begin(store);
    int status = pawl_store_apply(store->inner, commits, count, deadline_ns, err);

    measures->applied(measures->ctx, commits, count, status,
                      pawl_env_monotonic_ns(cast(store)->env) - begun_ns);
    return end(store, PAWL_STORE_CALL_APPLY, begun_ns, status);
}

static int measure_take(struct pawl_store *store, const struct pawl_take *take,
                        struct pawl_arena *arena, struct pawl_taken *out, int64_t deadline_ns,
                        struct pawl_error *err)
{
    int64_t begun_ns = begin(store);

    return end(store, PAWL_STORE_CALL_TAKE, begun_ns,
               pawl_store_take(store->inner, take, arena, out, deadline_ns, err));
}

static int measure_find(struct pawl_store *store, const struct pawl_query *query,
                        struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                        struct pawl_error *err)
{
    int64_t begun_ns = begin(store);

    return end(store, PAWL_STORE_CALL_FIND, begun_ns,
               pawl_store_find(store->inner, query, arena, out, deadline_ns, err));
}

static int measure_find_many(struct pawl_store *store, const struct pawl_query *queries,
                             size_t count, struct pawl_arena *arena, struct pawl_rows *out,
                             int64_t deadline_ns, struct pawl_error *err)
{
    int64_t begun_ns = begin(store);

    return end(store, PAWL_STORE_CALL_FIND, begun_ns,
               pawl_store_find_many(store->inner, queries, count, arena, out, deadline_ns, err));
}

/* How long it waits says nothing about the store: it is not reported. */
static int measure_wait(struct pawl_store *store, struct pawl_wake *wake, int64_t deadline_ns,
                        struct pawl_error *err)
{
    return pawl_store_wait(store->inner, wake, deadline_ns, err);
}

static int measure_snapshot(struct pawl_store *store, pawl_row_visitor visit, void *ctx,
                            int64_t deadline_ns, struct pawl_error *err)
{
    int64_t begun_ns = begin(store);

    return end(store, PAWL_STORE_CALL_SNAPSHOT, begun_ns,
               pawl_store_snapshot(store->inner, visit, ctx, deadline_ns, err));
}

static int measure_load(struct pawl_store *store, enum pawl_table table, const void *rows,
                        size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    int64_t begun_ns = begin(store);

    return end(store, PAWL_STORE_CALL_LOAD, begun_ns,
               pawl_store_load(store->inner, table, rows, count, deadline_ns, err));
}

static int measure_check(struct pawl_store *store, pawl_finding_visitor visit, void *ctx,
                         int64_t deadline_ns, struct pawl_error *err)
{
    int64_t begun_ns = begin(store);

    return end(store, PAWL_STORE_CALL_CHECK, begun_ns,
               pawl_store_check_backend(store->inner, visit, ctx, deadline_ns, err));
}

static void measure_close(struct pawl_store *store)
{
    struct measure_store *measure = cast(store);

    pawl_store_close(store->inner);
    pawl__free(&measure->env->alloc, measure, sizeof *measure);
}

static const struct pawl_store_ops measure_ops = {
    .version = PAWL_STORE_VERSION,
    .close = measure_close,
    .status = measure_status,
    .lease = measure_lease,
    .claim = measure_claim,
    .apply = measure_apply,
    .take = measure_take,
    .find = measure_find,
    .wait = measure_wait,
    .snapshot = measure_snapshot,
    .load = measure_load,
    .check = measure_check,
    .find_many = measure_find_many,
};

int pawl__measure_store_new(struct pawl_env *env, struct pawl_store *inner,
                            const struct pawl_store_measures *measures, struct pawl_store **out,
                            struct pawl_error *err)
{
    struct measure_store *measure = pawl__alloc_zeroed(&env->alloc, sizeof *measure);

    if (!measure)
        return pawl__error_code(err, PAWL_ENOMEM);
    measure->env = env;
    measure->measures = *measures;
    measure->base = (struct pawl_store){
        .ops = &measure_ops, .caps = inner->caps, .inner = inner, .name = "measure"};
    *out = &measure->base;
    return PAWL_OK;
}
