/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace decorator: counts what goes through it and changes nothing.
 *
 * Round trips are read from the inner store's own count, before and after a call, by asking for its
 * status; what such a question costs is learned by asking twice, and taken off. So a traced store
 * that has a server is asked twice more per call: this is for tests and diagnosis. A store that has
 * counted none after it was asked has no server and is never asked again.
 *
 * Invariant: the inner store is called without the mutex, which guards the counts alone.
 */
#include "stores/stores.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"

struct trace_store {
    struct pawl_store base; /* first: a pawl_store is cast to this */
    struct pawl_env *env;
    struct pawl_mutex *mutex; /* guards all below */
    struct pawl_store_counts counts;
    bool asked;           /* the next two are known */
    bool has_server;      /* there are round trips to count */
    int64_t status_trips; /* what asking for the status costs */
};

/* One call on its way. */
struct span {
    enum pawl_store_call call;
    bool sampled;
    int64_t trips; /* before it */
    uint64_t commits, dropped, claims, rows;
};

static struct trace_store *cast(struct pawl_store *store)
{
    return (struct trace_store *)(void *)store;
}

const char *pawl__store_call_name(enum pawl_store_call call)
{
    static const char *const names[PAWL_STORE_CALL_COUNT] = {
        [PAWL_STORE_CALL_STATUS] = "status", [PAWL_STORE_CALL_LEASE] = "lease",
        [PAWL_STORE_CALL_CLAIM] = "claim",   [PAWL_STORE_CALL_APPLY] = "apply",
        [PAWL_STORE_CALL_TAKE] = "take",     [PAWL_STORE_CALL_FIND] = "find",
        [PAWL_STORE_CALL_WAIT] = "wait",     [PAWL_STORE_CALL_SNAPSHOT] = "snapshot",
        [PAWL_STORE_CALL_LOAD] = "load",     [PAWL_STORE_CALL_CHECK] = "check",
    };

    PAWL_ASSERT((unsigned)call < PAWL_STORE_CALL_COUNT);
    return names[call];
}

/* ---- counting ---------------------------------------------------------------------------- */

static bool sample(struct trace_store *trace, int64_t deadline_ns, int64_t *trips)
{
    struct pawl_store_status status;

    if (pawl_store_status(trace->base.inner, &status, deadline_ns, NULL) != PAWL_OK)
        return false;
    *trips = status.round_trips;
    return true;
}

/* Finds out, once, whether there are round trips and what a sample costs. */
static void probe_store(struct trace_store *trace, int64_t deadline_ns)
{
    int64_t first, second;

    if (!sample(trace, deadline_ns, &first) || !sample(trace, deadline_ns, &second))
        return;
    if (pawl_mutex_lock(trace->env, trace->mutex) != PAWL_OK)
        return;
    trace->asked = true;
    trace->has_server = second > 0;
    trace->status_trips = second - first;
    pawl_mutex_unlock(trace->env, trace->mutex);
}

static bool want_sample(struct trace_store *trace, bool *asked)
{
    bool wanted;

    if (pawl_mutex_lock(trace->env, trace->mutex) != PAWL_OK) {
        *asked = true;
        return false;
    }
    *asked = trace->asked;
    wanted = trace->asked && trace->has_server;
    pawl_mutex_unlock(trace->env, trace->mutex);
    return wanted;
}

static struct span begin(struct trace_store *trace, enum pawl_store_call call, int64_t deadline_ns)
{
    struct span span = {.call = call};
    bool asked, wanted = want_sample(trace, &asked);

    if (!asked) {
        probe_store(trace, deadline_ns);
        wanted = want_sample(trace, &asked);
    }
    span.sampled = wanted && sample(trace, deadline_ns, &span.trips);
    return span;
}

/* Returns `status`. */
static int end(struct trace_store *trace, const struct span *span, int status, int64_t deadline_ns)
{
    struct pawl_store_counts *counts = &trace->counts;
    int64_t trips = 0;
    bool sampled = span->sampled && sample(trace, deadline_ns, &trips);

    if (pawl_mutex_lock(trace->env, trace->mutex) != PAWL_OK)
        return status;
    counts->calls[span->call]++;
    counts->failures[span->call] += status != PAWL_OK;
    if (sampled && trips - span->trips > trace->status_trips)
        counts->round_trips[span->call] += (uint64_t)(trips - span->trips - trace->status_trips);
    counts->commits += span->commits;
    counts->dropped += span->dropped;
    counts->claims += span->claims;
    counts->rows += span->rows;
    pawl_mutex_unlock(trace->env, trace->mutex);
    return status;
}

/* ---- the interface ----------------------------------------------------------------------- */

static int trace_status(struct pawl_store *store, struct pawl_store_status *out,
                        int64_t deadline_ns, struct pawl_error *err)
{
    struct span span = begin(cast(store), PAWL_STORE_CALL_STATUS, deadline_ns);
    int status = pawl_store_status(store->inner, out, deadline_ns, err);

    return end(cast(store), &span, status, deadline_ns);
}

static int trace_lease(struct pawl_store *store, struct pawl_lease *lease, int64_t deadline_ns,
                       struct pawl_error *err)
{
    struct span span = begin(cast(store), PAWL_STORE_CALL_LEASE, deadline_ns);
    int status = pawl_store_lease(store->inner, lease, deadline_ns, err);

    return end(cast(store), &span, status, deadline_ns);
}

static int trace_claim(struct pawl_store *store, int64_t owner, struct pawl_claim *claims,
                       size_t count, struct pawl_arena *arena, int64_t *now_us, int64_t deadline_ns,
                       struct pawl_error *err)
{
    struct span span = begin(cast(store), PAWL_STORE_CALL_CLAIM, deadline_ns);
    int status =
        pawl_store_claim(store->inner, owner, claims, count, arena, now_us, deadline_ns, err);

    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        span.claims += claims[i].status == PAWL_OK && !claims[i].visits;
        span.rows += (claims[i].status != PAWL_ENOTFOUND) + claims[i].mail_count;
    }
    return end(cast(store), &span, status, deadline_ns);
}

static int trace_apply(struct pawl_store *store, struct pawl_commit *const *commits, size_t count,
                       int64_t deadline_ns, struct pawl_error *err)
{
    struct span span = begin(cast(store), PAWL_STORE_CALL_APPLY, deadline_ns);
    int status = pawl_store_apply(store->inner, commits, count, deadline_ns, err);

    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        span.commits += commits[i]->status == PAWL_OK;
        span.dropped += commits[i]->status != PAWL_OK;
    }
    return end(cast(store), &span, status, deadline_ns);
}

static int trace_take(struct pawl_store *store, const struct pawl_take *take,
                      struct pawl_arena *arena, struct pawl_taken *out, int64_t deadline_ns,
                      struct pawl_error *err)
{
    struct span span = begin(cast(store), PAWL_STORE_CALL_TAKE, deadline_ns);
    int status = pawl_store_take(store->inner, take, arena, out, deadline_ns, err);

    if (status == PAWL_OK)
        span.rows = out->work_count + out->runnable_count;
    return end(cast(store), &span, status, deadline_ns);
}

static int trace_find(struct pawl_store *store, const struct pawl_query *query,
                      struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                      struct pawl_error *err)
{
    struct span span = begin(cast(store), PAWL_STORE_CALL_FIND, deadline_ns);
    int status = pawl_store_find(store->inner, query, arena, out, deadline_ns, err);

    if (status == PAWL_OK)
        span.rows = out->count;
    return end(cast(store), &span, status, deadline_ns);
}

static int trace_find_many(struct pawl_store *store, const struct pawl_query *queries, size_t count,
                           struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                           struct pawl_error *err)
{
    struct span span = begin(cast(store), PAWL_STORE_CALL_FIND, deadline_ns);
    int status = pawl_store_find_many(store->inner, queries, count, arena, out, deadline_ns, err);

    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        span.rows += out[i].count;
    return end(cast(store), &span, status, deadline_ns);
}

static int trace_wait(struct pawl_store *store, struct pawl_wake *wake, int64_t deadline_ns,
                      struct pawl_error *err)
{
    struct span span = begin(cast(store), PAWL_STORE_CALL_WAIT, deadline_ns);
    int status = pawl_store_wait(store->inner, wake, deadline_ns, err);

    return end(cast(store), &span, status, deadline_ns);
}

static int trace_snapshot(struct pawl_store *store, pawl_row_visitor visit, void *ctx,
                          int64_t deadline_ns, struct pawl_error *err)
{
    struct span span = begin(cast(store), PAWL_STORE_CALL_SNAPSHOT, deadline_ns);
    int status = pawl_store_snapshot(store->inner, visit, ctx, deadline_ns, err);

    return end(cast(store), &span, status, deadline_ns);
}

static int trace_load(struct pawl_store *store, enum pawl_table table, const void *rows,
                      size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    struct span span = begin(cast(store), PAWL_STORE_CALL_LOAD, deadline_ns);
    int status = pawl_store_load(store->inner, table, rows, count, deadline_ns, err);

    return end(cast(store), &span, status, deadline_ns);
}

static int trace_check(struct pawl_store *store, pawl_finding_visitor visit, void *ctx,
                       int64_t deadline_ns, struct pawl_error *err)
{
    struct span span = begin(cast(store), PAWL_STORE_CALL_CHECK, deadline_ns);
    int status = pawl_store_check_backend(store->inner, visit, ctx, deadline_ns, err);

    return end(cast(store), &span, status, deadline_ns);
}

static void trace_close(struct pawl_store *store)
{
    struct trace_store *trace = cast(store);
    struct pawl_env *env = trace->env;

    pawl_store_close(store->inner);
    pawl_mutex_free(env, trace->mutex);
    pawl__free(&env->alloc, trace, sizeof *trace);
}

static const struct pawl_store_ops trace_ops = {
    .version = PAWL_STORE_VERSION,
    .close = trace_close,
    .status = trace_status,
    .lease = trace_lease,
    .claim = trace_claim,
    .apply = trace_apply,
    .take = trace_take,
    .find = trace_find,
    .wait = trace_wait,
    .snapshot = trace_snapshot,
    .load = trace_load,
    .check = trace_check,
    .find_many = trace_find_many,
};

int pawl__trace_store_new(struct pawl_env *env, struct pawl_store *inner, struct pawl_store **out,
                          struct pawl_error *err)
{
    struct trace_store *trace = pawl__alloc_zeroed(&env->alloc, sizeof *trace);

    if (!trace)
        return pawl__error_code(err, PAWL_ENOMEM);
    if (pawl_mutex_new(env, "trace", &trace->mutex) != PAWL_OK) {
        pawl__free(&env->alloc, trace, sizeof *trace);
        return pawl__error_code(err, PAWL_ENOMEM);
    }
    trace->env = env;
    trace->base = (struct pawl_store){
        .ops = &trace_ops, .caps = inner->caps, .inner = inner, .name = "trace"};
    *out = &trace->base;
    return PAWL_OK;
}

void pawl__trace_store_counts(struct pawl_store *store, struct pawl_store_counts *out)
{
    struct trace_store *trace = cast(store);
    int status = pawl_mutex_lock(trace->env, trace->mutex);

    PAWL_ASSERT(store->ops == &trace_ops);
    /* In a stopped environment nobody counts any more. */
    *out = trace->counts;
    if (status == PAWL_OK)
        pawl_mutex_unlock(trace->env, trace->mutex);
}

void pawl__trace_store_reset(struct pawl_store *store)
{
    struct trace_store *trace = cast(store);
    int status = pawl_mutex_lock(trace->env, trace->mutex);

    PAWL_ASSERT(store->ops == &trace_ops);
    trace->counts = (struct pawl_store_counts){0};
    if (status == PAWL_OK)
        pawl_mutex_unlock(trace->env, trace->mutex);
}
