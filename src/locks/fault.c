/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fault decorator: lets calls fail as its owner decides, before they were made or after they
 * took effect, late, or with an answer that is not true. What the provider says by itself goes
 * through as it is.
 */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "locks/providers.h"

struct fault_locks {
    struct pawl_lock_provider base; /* first: a provider is cast to this */
    struct pawl_env *env;
    struct pawl_lock_fault_hooks hooks;
};

static struct fault_locks *cast(struct pawl_lock_provider *provider)
{
    return (struct fault_locks *)(void *)provider;
}

/* Calls the hook and waits. A status other than PAWL_OK is returned, and the call is not made. */
static int enter(struct fault_locks *fault, enum pawl_lock_call call, int64_t deadline_ns,
                 struct pawl_lock_fault_order *order, struct pawl_error *err)
{
    int64_t now_ns = pawl_env_monotonic_ns(fault->env);
    int code;

    (void)deadline_ns; /* what is late is later than that */
    *order = (struct pawl_lock_fault_order){.kind = PAWL_LOCK_FAULT_NONE};
    fault->hooks.decide(fault->hooks.ctx, call, order);
    if (order->delay_ns > 0 &&
        pawl_env_sleep_until(fault->env, now_ns + order->delay_ns) != PAWL_OK)
        return pawl__error_code(err, PAWL_ESTOPPED);
    if (order->kind != PAWL_LOCK_FAULT_BEFORE)
        return PAWL_OK;
    code = order->code ? order->code : PAWL_EUNAVAILABLE;
    return pawl__error_set(err, code, "%s: not sent, by an injected fault",
                           pawl__lock_call_name(call));
}

/* What is returned instead of the status of a call that was made. */
static int replace_status(const struct pawl_lock_fault_order *order, enum pawl_lock_call call,
                          int status, struct pawl_error *err)
{
    if (order->kind != PAWL_LOCK_FAULT_AFTER)
        return status;
    return pawl__error_set(err, PAWL_EUNKNOWN, "%s: the reply was lost, by an injected fault",
                           pawl__lock_call_name(call));
}

/* ---- the interface ----------------------------------------------------------------------- */

static int fault_listen(struct pawl_lock_provider *provider,
                        const struct pawl_lock_listener *listener, struct pawl_error *err)
{
    return provider->inner->ops->listen(provider->inner, listener, err);
}

static void fault_unlisten(struct pawl_lock_provider *provider)
{
    provider->inner->ops->unlisten(provider->inner);
}

static int fault_status(struct pawl_lock_provider *provider, struct pawl_lock_status *out,
                        int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_lock_fault_order order;
    int status = enter(cast(provider), PAWL_LOCK_CALL_STATUS, deadline_ns, &order, err);

    if (status != PAWL_OK)
        return status;
    status = provider->inner->ops->status(provider->inner, out, deadline_ns, err);
    return replace_status(&order, PAWL_LOCK_CALL_STATUS, status, err);
}

static int fault_map(struct pawl_lock_provider *provider, struct pawl_str name, char *out,
                     size_t size, struct pawl_error *err)
{
    return provider->inner->ops->map(provider->inner, name, out, size, err);
}

static int attempt(struct pawl_lock_provider *provider, enum pawl_lock_call call,
                   struct pawl_lock_grant *grant, int64_t deadline_ns, struct pawl_error *err)
{
    const struct pawl_lock_provider_ops *ops = provider->inner->ops;
    struct pawl_lock_fault_order order;
    int status = enter(cast(provider), call, deadline_ns, &order, err);

    if (status != PAWL_OK)
        return status;
    status = call == PAWL_LOCK_CALL_TRY ? ops->try_(provider->inner, grant, deadline_ns, err)
                                        : ops->wait(provider->inner, grant, deadline_ns, err);
    if (order.kind == PAWL_LOCK_FAULT_GRANT && status == PAWL_EBUSY) {
        grant->valid_until_ns = PAWL_FOREVER;
        return PAWL_OK;
    }
    if (order.kind == PAWL_LOCK_FAULT_AFTER && status != PAWL_OK)
        return status; /* no call was made whose reply could be lost */
    return replace_status(&order, call, status, err);
}

static int fault_try(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                     int64_t deadline_ns, struct pawl_error *err)
{
    return attempt(provider, PAWL_LOCK_CALL_TRY, grant, deadline_ns, err);
}

static int fault_wait(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                      int64_t deadline_ns, struct pawl_error *err)
{
    return attempt(provider, PAWL_LOCK_CALL_WAIT, grant, deadline_ns, err);
}

static void fault_interrupt(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant)
{
    provider->inner->ops->interrupt(provider->inner, grant);
}

static int fault_renew(struct pawl_lock_provider *provider, struct pawl_lock_grant *const *grants,
                       size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_lock_fault_order order;
    int status = enter(cast(provider), PAWL_LOCK_CALL_RENEW, deadline_ns, &order, err);

    if (status != PAWL_OK)
        return status;
    if (order.kind == PAWL_LOCK_FAULT_LOSE) {
        for (size_t i = 0; i < count; i++)
            grants[i]->status = PAWL_ENOTFOUND;
        return PAWL_OK;
    }
    status = provider->inner->ops->renew(provider->inner, grants, count, deadline_ns, err);
    return replace_status(&order, PAWL_LOCK_CALL_RENEW, status, err);
}

static int fault_release(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                         int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_lock_fault_order order;
    int status = enter(cast(provider), PAWL_LOCK_CALL_RELEASE, deadline_ns, &order, err);

    if (status != PAWL_OK)
        return status;
    status = provider->inner->ops->release(provider->inner, grant, deadline_ns, err);
    return replace_status(&order, PAWL_LOCK_CALL_RELEASE, status, err);
}

static void fault_abandon(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant)
{
    provider->inner->ops->abandon(provider->inner, grant);
}

static int fault_inspect(struct pawl_lock_provider *provider, struct pawl_str name,
                         struct pawl_lock_holder *out, int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_lock_fault_order order;
    int status = enter(cast(provider), PAWL_LOCK_CALL_INSPECT, deadline_ns, &order, err);

    if (status != PAWL_OK)
        return status;
    status = provider->inner->ops->inspect(provider->inner, name, out, deadline_ns, err);
    return replace_status(&order, PAWL_LOCK_CALL_INSPECT, status, err);
}

static int fault_list(struct pawl_lock_provider *provider, size_t limit,
                      int (*each)(void *ctx, const struct pawl_lock_holder *holder), void *ctx,
                      int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_lock_fault_order order;
    int status = enter(cast(provider), PAWL_LOCK_CALL_LIST, deadline_ns, &order, err);

    if (status != PAWL_OK)
        return status;
    status = provider->inner->ops->list(provider->inner, limit, each, ctx, deadline_ns, err);
    return replace_status(&order, PAWL_LOCK_CALL_LIST, status, err);
}

static int fault_ticket(struct pawl_lock_provider *provider, struct pawl_str name,
                        struct pawl_lock_ticket *out, struct pawl_error *err)
{
    return provider->inner->ops->ticket(provider->inner, name, out, err);
}

static void fault_close(struct pawl_lock_provider *provider)
{
    struct fault_locks *fault = cast(provider);

    provider->inner->ops->close(provider->inner);
    pawl__free(&fault->env->alloc, fault, sizeof *fault);
}

static const struct pawl_lock_provider_ops fault_ops = {
    .version = PAWL_LOCK_VERSION,
    .close = fault_close,
    .listen = fault_listen,
    .unlisten = fault_unlisten,
    .status = fault_status,
    .map = fault_map,
    .try_ = fault_try,
    .wait = fault_wait,
    .interrupt = fault_interrupt,
    .renew = fault_renew,
    .release = fault_release,
    .abandon = fault_abandon,
    .inspect = fault_inspect,
    .list = fault_list,
    .ticket = fault_ticket,
};

int pawl__fault_locks_new(struct pawl_env *env, struct pawl_lock_provider *inner,
                          const struct pawl_lock_fault_hooks *hooks,
                          struct pawl_lock_provider **out, struct pawl_error *err)
{
    struct fault_locks *fault = pawl__alloc_zeroed(&env->alloc, sizeof *fault);

    PAWL_ASSERT(hooks->decide);
    if (!fault)
        return pawl__error_code(err, PAWL_ENOMEM);
    fault->env = env;
    fault->hooks = *hooks;
    fault->base =
        (struct pawl_lock_provider){.ops = &fault_ops, .kind = inner->kind, .inner = inner};
    *out = &fault->base;
    return PAWL_OK;
}
