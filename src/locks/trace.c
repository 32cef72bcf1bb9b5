/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace decorator: counts what goes through it, both ways, and changes nothing. The mutex
 * guards the counts alone; nothing is called under it.
 */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "locks/providers.h"

struct trace_locks {
    struct pawl_lock_provider base; /* first: a provider is cast to this */
    struct pawl_env *env;
    struct pawl_lock_listener listener; /* of our caller */
    struct pawl_mutex *mutex;
    struct pawl_lock_counts counts;
};

static struct trace_locks *cast(struct pawl_lock_provider *provider)
{
    return (struct trace_locks *)(void *)provider;
}

const char *pawl__lock_call_name(enum pawl_lock_call call)
{
    static const char *const names[PAWL_LOCK_CALL_COUNT] = {
        [PAWL_LOCK_CALL_STATUS] = "status",   [PAWL_LOCK_CALL_TRY] = "try",
        [PAWL_LOCK_CALL_WAIT] = "wait",       [PAWL_LOCK_CALL_RENEW] = "renew",
        [PAWL_LOCK_CALL_RELEASE] = "release", [PAWL_LOCK_CALL_INSPECT] = "inspect",
        [PAWL_LOCK_CALL_LIST] = "list",       [PAWL_LOCK_CALL_TICKET] = "ticket",
    };

    PAWL_ASSERT((unsigned)call < PAWL_LOCK_CALL_COUNT);
    return names[call];
}

/* Returns `status`. */
static int count(struct trace_locks *trace, enum pawl_lock_call call, int status)
{
    bool attempt = call == PAWL_LOCK_CALL_TRY || call == PAWL_LOCK_CALL_WAIT;
    bool refused = attempt && (status == PAWL_EBUSY || status == PAWL_ETIMEDOUT);

    if (pawl_mutex_lock(trace->env, trace->mutex) != PAWL_OK)
        return status;
    trace->counts.calls[call]++;
    trace->counts.refused += refused;
    trace->counts.failures[call] += status != PAWL_OK && !refused;
    pawl_mutex_unlock(trace->env, trace->mutex);
    return status;
}

static void add(struct trace_locks *trace, uint64_t *counter, uint64_t many)
{
    if (pawl_mutex_lock(trace->env, trace->mutex) != PAWL_OK)
        return;
    *counter += many;
    pawl_mutex_unlock(trace->env, trace->mutex);
}

/* ---- the interface ----------------------------------------------------------------------- */

static void heard_lost(void *ctx, struct pawl_lock_grant *grant)
{
    struct trace_locks *trace = ctx;

    add(trace, &trace->counts.losses, 1);
    trace->listener.lost(trace->listener.ctx, grant);
}

static void heard_wake(void *ctx, struct pawl_str name)
{
    struct trace_locks *trace = ctx;

    add(trace, &trace->counts.wakes, 1);
    trace->listener.wake(trace->listener.ctx, name);
}

static int trace_listen(struct pawl_lock_provider *provider,
                        const struct pawl_lock_listener *listener, struct pawl_error *err)
{
    struct trace_locks *trace = cast(provider);
    struct pawl_lock_listener ours = {heard_lost, heard_wake, trace};

    trace->listener = *listener;
    return provider->inner->ops->listen(provider->inner, &ours, err);
}

static void trace_unlisten(struct pawl_lock_provider *provider)
{
    provider->inner->ops->unlisten(provider->inner);
}

static int trace_status(struct pawl_lock_provider *provider, struct pawl_lock_status *out,
                        int64_t deadline_ns, struct pawl_error *err)
{
    return count(cast(provider), PAWL_LOCK_CALL_STATUS,
                 provider->inner->ops->status(provider->inner, out, deadline_ns, err));
}

static int trace_map(struct pawl_lock_provider *provider, struct pawl_str name, char *out,
                     size_t size, struct pawl_error *err)
{
    return provider->inner->ops->map(provider->inner, name, out, size, err);
}

static int trace_try(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                     int64_t deadline_ns, struct pawl_error *err)
{
    return count(cast(provider), PAWL_LOCK_CALL_TRY,
                 provider->inner->ops->try_(provider->inner, grant, deadline_ns, err));
}

static int trace_wait(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                      int64_t deadline_ns, struct pawl_error *err)
{
    return count(cast(provider), PAWL_LOCK_CALL_WAIT,
                 provider->inner->ops->wait(provider->inner, grant, deadline_ns, err));
}

static void trace_interrupt(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant)
{
    provider->inner->ops->interrupt(provider->inner, grant);
}

static int trace_renew(struct pawl_lock_provider *provider, struct pawl_lock_grant *const *grants,
                       size_t many, int64_t deadline_ns, struct pawl_error *err)
{
    struct trace_locks *trace = cast(provider);
    int status = provider->inner->ops->renew(provider->inner, grants, many, deadline_ns, err);
    uint64_t renewed = 0;

    for (size_t i = 0; i < many && status == PAWL_OK; i++)
        renewed += grants[i]->status == PAWL_OK;
    add(trace, &trace->counts.renewed, renewed);
    return count(trace, PAWL_LOCK_CALL_RENEW, status);
}

static int trace_release(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                         int64_t deadline_ns, struct pawl_error *err)
{
    return count(cast(provider), PAWL_LOCK_CALL_RELEASE,
                 provider->inner->ops->release(provider->inner, grant, deadline_ns, err));
}

static void trace_abandon(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant)
{
    provider->inner->ops->abandon(provider->inner, grant);
}

static int trace_inspect(struct pawl_lock_provider *provider, struct pawl_str name,
                         struct pawl_lock_holder *out, int64_t deadline_ns, struct pawl_error *err)
{
    return count(cast(provider), PAWL_LOCK_CALL_INSPECT,
                 provider->inner->ops->inspect(provider->inner, name, out, deadline_ns, err));
}

static int trace_list(struct pawl_lock_provider *provider, size_t limit,
                      int (*each)(void *ctx, const struct pawl_lock_holder *holder), void *ctx,
                      int64_t deadline_ns, struct pawl_error *err)
{
    return count(cast(provider), PAWL_LOCK_CALL_LIST,
                 provider->inner->ops->list(provider->inner, limit, each, ctx, deadline_ns, err));
}

static int trace_ticket(struct pawl_lock_provider *provider, struct pawl_str name,
                        struct pawl_lock_ticket *out, struct pawl_error *err)
{
    return count(cast(provider), PAWL_LOCK_CALL_TICKET,
                 provider->inner->ops->ticket(provider->inner, name, out, err));
}

static void trace_close(struct pawl_lock_provider *provider)
{
    struct trace_locks *trace = cast(provider);

    provider->inner->ops->close(provider->inner);
    pawl_mutex_free(trace->env, trace->mutex);
    pawl__free(&trace->env->alloc, trace, sizeof *trace);
}

static const struct pawl_lock_provider_ops trace_ops = {
    .version = PAWL_LOCK_VERSION,
    .close = trace_close,
    .listen = trace_listen,
    .unlisten = trace_unlisten,
    .status = trace_status,
    .map = trace_map,
    .try_ = trace_try,
    .wait = trace_wait,
    .interrupt = trace_interrupt,
    .renew = trace_renew,
    .release = trace_release,
    .abandon = trace_abandon,
    .inspect = trace_inspect,
    .list = trace_list,
    .ticket = trace_ticket,
};

int pawl__trace_locks_new(struct pawl_env *env, struct pawl_lock_provider *inner,
                          struct pawl_lock_provider **out, struct pawl_error *err)
{
    struct trace_locks *trace = pawl__alloc_zeroed(&env->alloc, sizeof *trace);

    if (!trace)
        return pawl__error_code(err, PAWL_ENOMEM);
    trace->env = env;
    trace->base =
        (struct pawl_lock_provider){.ops = &trace_ops, .kind = inner->kind, .inner = inner};
    if (pawl_mutex_new(env, "lock trace", &trace->mutex) != PAWL_OK) {
        pawl__free(&env->alloc, trace, sizeof *trace);
        return pawl__error_code(err, PAWL_ENOMEM);
    }
    *out = &trace->base;
    return PAWL_OK;
}

void pawl__trace_locks_counts(struct pawl_lock_provider *provider, struct pawl_lock_counts *out)
{
    struct trace_locks *trace = cast(provider);

    *out = (struct pawl_lock_counts){0};
    if (pawl_mutex_lock(trace->env, trace->mutex) != PAWL_OK)
        return;
    *out = trace->counts;
    pawl_mutex_unlock(trace->env, trace->mutex);
}
