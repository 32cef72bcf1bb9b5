/* SPDX-License-Identifier: Apache-2.0 */
/* The scenario's locks: composed as src/host does it for nodes of a cluster. */
#include "cluster/scenario_private.h"

#include "distributed/distributed.h"
#include "host/lock_uri.h"

#include <string.h>

#define LEASE_US_DEFAULT INT64_C(10000000)

static int open_locks(struct scenario *s, struct pawl_error *err)
{
    const struct pawl_lock_fault_hooks *faults = &s->options.lock_faults;
    struct pawl_lock_provider *provider;
    int status = pawl__lock_open_uri(s->env, pawl__str(s->options.locks), NULL, &provider, err);

    if (status != PAWL_OK)
        return status;
    if (faults->decide) {
        struct pawl_lock_provider *inner = provider;

        status = pawl__fault_locks_new(s->env, inner, faults, &provider, err);
        if (status != PAWL_OK)
            provider = inner;
    }
    if (status == PAWL_OK)
        status = pawl__locks_new(s->env, provider, NULL, &s->locks, err);
    if (status != PAWL_OK)
        provider->ops->close(provider);
    return status;
}

/* As a node of the product has it where both are one server. */
static bool may_use_tickets(const struct scenario *s)
{
    const struct pawl_lock_provider *provider = pawl__locks_provider(s->locks);

    return strcmp(s->options.locks, s->options.store) == 0 &&
           (s->store->caps & PAWL_STORE_CAP_TICKETS) &&
           (pawl_lock_caps(provider) & PAWL_LOCK_CAP_TICKET) && provider->ops->ticket;
}

int scenario_open_locks(struct scenario *s, struct pawl_error *err)
{
    struct pawl_distribution distribution;
    int64_t lease_us = s->options.lease_us > 0 ? s->options.lease_us : LEASE_US_DEFAULT;
    int status;

    if (!s->options.locks)
        return PAWL_OK;
    status = open_locks(s, err);
    if (status != PAWL_OK)
        return status;
    pawl__distribution_init(&distribution, s->env, s->locks);
    distribution.patience_ns = lease_us * 1000;
    distribution.tickets = may_use_tickets(s);
    return pawl__distributed_guard_new(&distribution, &s->guard, err);
}

void scenario_close_locks(struct scenario *s)
{
    pawl__distributed_guard_free(s->guard);
    pawl__locks_free(s->locks);
}
