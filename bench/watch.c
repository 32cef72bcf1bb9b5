/* SPDX-License-Identifier: Apache-2.0 */
/* See watch.h. */
#include "watch.h"

#include "harness.h"

#include <stdlib.h>

struct slot {
    struct pawl_str instance_id; /* "": nobody waits */
    bool ended;
    struct pawl_cond *told;
};

struct watch {
    struct pawl_store base;
    struct pawl_env *env;
    struct pawl_mutex *mutex; /* guards the slots and the counts */
    struct watch_refusals refused;
    struct slot slots[BENCH_THREADS_MAX];
};

static struct watch *cast(struct pawl_store *store)
{
    return (struct watch *)store;
}

static void lock(struct watch *watch)
{
    bench_need(pawl_mutex_lock(watch->env, watch->mutex), NULL, "watch");
}

void watch_expect(struct pawl_store *store, unsigned slot, struct pawl_str instance_id)
{
    struct watch *watch = cast(store);

    lock(watch);
    watch->slots[slot].instance_id = instance_id;
    watch->slots[slot].ended = false;
    pawl_mutex_unlock(watch->env, watch->mutex);
}

void watch_await(struct pawl_store *store, unsigned slot, int64_t deadline_ns)
{
    struct watch *watch = cast(store);
    struct slot *s = &watch->slots[slot];

    lock(watch);
    while (!s->ended)
        bench_need(pawl_cond_wait(watch->env, s->told, watch->mutex, deadline_ns), NULL,
                   "an instance did not end");
    s->instance_id = pawl__str("");
    pawl_mutex_unlock(watch->env, watch->mutex);
}

static void tell(struct watch *watch, struct pawl_str instance_id)
{
    for (unsigned i = 0; i < BENCH_THREADS_MAX; i++) {
        struct slot *s = &watch->slots[i];

        if (s->instance_id.len > 0 && pawl__str_equal(s->instance_id, instance_id)) {
            s->ended = true;
            pawl_cond_signal(watch->env, s->told);
        }
    }
}

static int apply(struct pawl_store *store, struct pawl_commit *const *commits, size_t count,
                 int64_t deadline_ns, struct pawl_error *err)
{
    struct watch *watch = cast(store);
    int status = pawl_store_apply(store->inner, commits, count, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    lock(watch);
    for (size_t i = 0; i < count; i++)
        if (commits[i]->status == PAWL_OK && commits[i]->kind == PAWL_COMMIT_ADVANCE &&
            pawl__str_is(commits[i]->instance->status, "Finished"))
            tell(watch, commits[i]->instance->id);
    pawl_mutex_unlock(watch->env, watch->mutex);
    return status;
}

/* ---- the rest is the inner one's ------------------------------------------------------------ */

static void close_watch(struct pawl_store *store)
{
    struct watch *watch = cast(store);

    pawl_store_close(store->inner);
    for (unsigned i = 0; i < BENCH_THREADS_MAX; i++)
        pawl_cond_free(watch->env, watch->slots[i].told);
    pawl_mutex_free(watch->env, watch->mutex);
    free(watch);
}

static int status_of(struct pawl_store *store, struct pawl_store_status *out, int64_t deadline_ns,
                     struct pawl_error *err)
{
    return pawl_store_status(store->inner, out, deadline_ns, err);
}

static int lease(struct pawl_store *store, struct pawl_lease *what, int64_t deadline_ns,
                 struct pawl_error *err)
{
    return pawl_store_lease(store->inner, what, deadline_ns, err);
}

static int claim(struct pawl_store *store, int64_t owner, struct pawl_claim *claims, size_t count,
                 struct pawl_arena *arena, int64_t *now_us, int64_t deadline_ns,
                 struct pawl_error *err)
{
    struct watch *watch = cast(store);
    int status =
        pawl_store_claim(store->inner, owner, claims, count, arena, now_us, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    lock(watch);
    for (size_t i = 0; i < count; i++) {
        if (claims[i].visits)
            continue;
        watch->refused.claims++;
        watch->refused.by_owner += claims[i].status == PAWL_EBUSY && claims[i].row.owner != 0;
        watch->refused.by_lock += claims[i].status == PAWL_EBUSY && claims[i].row.owner == 0;
    }
    pawl_mutex_unlock(watch->env, watch->mutex);
    return status;
}

struct watch_refusals watch_refused(struct pawl_store *store)
{
    struct watch *watch = cast(store);
    struct watch_refusals refused;

    lock(watch);
    refused = watch->refused;
    pawl_mutex_unlock(watch->env, watch->mutex);
    return refused;
}

static int take(struct pawl_store *store, const struct pawl_take *what, struct pawl_arena *arena,
                struct pawl_taken *out, int64_t deadline_ns, struct pawl_error *err)
{
    return pawl_store_take(store->inner, what, arena, out, deadline_ns, err);
}

static int find(struct pawl_store *store, const struct pawl_query *query, struct pawl_arena *arena,
                struct pawl_rows *out, int64_t deadline_ns, struct pawl_error *err)
{
    return pawl_store_find(store->inner, query, arena, out, deadline_ns, err);
}

static int find_many(struct pawl_store *store, const struct pawl_query *queries, size_t count,
                     struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                     struct pawl_error *err)
{
    return pawl_store_find_many(store->inner, queries, count, arena, out, deadline_ns, err);
}

static int wait_for(struct pawl_store *store, struct pawl_wake *wake, int64_t deadline_ns,
                    struct pawl_error *err)
{
    return pawl_store_wait(store->inner, wake, deadline_ns, err);
}

static int snapshot(struct pawl_store *store, pawl_row_visitor visit, void *ctx,
                    int64_t deadline_ns, struct pawl_error *err)
{
    return pawl_store_snapshot(store->inner, visit, ctx, deadline_ns, err);
}

static int load(struct pawl_store *store, enum pawl_table table, const void *rows, size_t count,
                int64_t deadline_ns, struct pawl_error *err)
{
    return pawl_store_load(store->inner, table, rows, count, deadline_ns, err);
}

static int check(struct pawl_store *store, pawl_finding_visitor visit, void *ctx,
                 int64_t deadline_ns, struct pawl_error *err)
{
    return pawl_store_check_backend(store->inner, visit, ctx, deadline_ns, err);
}

static const struct pawl_store_ops ops = {
    .version = PAWL_STORE_VERSION,
    .close = close_watch,
    .status = status_of,
    .lease = lease,
    .claim = claim,
    .apply = apply,
    .take = take,
    .find = find,
    .wait = wait_for,
    .snapshot = snapshot,
    .load = load,
    .check = check,
    .find_many = find_many,
};

struct pawl_store *watch_new(struct pawl_env *env, struct pawl_store *inner)
{
    struct watch *watch = calloc(1, sizeof *watch);

    if (!watch)
        bench_fail("watch", "no memory");
    watch->env = env;
    bench_need(pawl_mutex_new(env, "watch", &watch->mutex), NULL, "watch");
    for (unsigned i = 0; i < BENCH_THREADS_MAX; i++)
        bench_need(pawl_cond_new(env, "watch", &watch->slots[i].told), NULL, "watch");
    watch->base =
        (struct pawl_store){.ops = &ops, .caps = inner->caps, .inner = inner, .name = "watch"};
    return &watch->base;
}
