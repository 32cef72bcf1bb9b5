/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes nodes of the simulated cluster distributed: the real guard and queue worker on a lock
 * service that cannot be relied on. It is out of reach at times, loses answers, grants what
 * somebody else holds, and says of locks that they are lost. None of that may be seen in the
 * database.
 */
#include "sim/cluster_private.h"

#include "base/error.h"

/* In ten thousand calls. */
#define UNREACHED 150
#define UNANSWERED 100
#define TWICE 300
#define LOST 500
/* On the way, at the most. */
#define WIRE_NS (INT64_C(2) * MS_NS)

static void decide_fault(void *ctx, enum pawl_lock_call call, struct pawl_lock_fault_order *order)
{
    struct cluster_node *node = ctx;
    struct cluster *cluster = node->cluster;
    int64_t now_ns = pawl_env_monotonic_ns(cluster->server);
    uint64_t lot;

    order->delay_ns = 1 + (int64_t)pawl__sim_lot(&cluster->chance, WIRE_NS);
    if (node->paused_until_ns > now_ns)
        order->delay_ns += node->paused_until_ns - now_ns;
    if (cluster->options.calm || pawl__cluster_is_quiet(cluster))
        return;
    lot = pawl__sim_lot(&cluster->chance, 10000);
    if (now_ns < cluster->locks_away_ns || lot < UNREACHED) {
        order->kind = PAWL_LOCK_FAULT_BEFORE;
        cluster->report->lock_failed++;
    } else if (lot < UNREACHED + UNANSWERED) {
        order->kind = PAWL_LOCK_FAULT_AFTER;
        cluster->report->lock_failed++;
    } else if (call == PAWL_LOCK_CALL_TRY && lot < UNREACHED + UNANSWERED + TWICE) {
        order->kind = PAWL_LOCK_FAULT_GRANT;
        cluster->report->lock_twice++;
    } else if (call == PAWL_LOCK_CALL_RENEW && lot < UNREACHED + UNANSWERED + LOST) {
        order->kind = PAWL_LOCK_FAULT_LOSE;
        cluster->report->lock_lost++;
    }
}

/* Long and short leases, and for some seeds none: a lock is held until its node is gone for good.
 */
static int64_t ttl_ms(const struct cluster *cluster)
{
    static const int64_t all[] = {0, CLUSTER_LEASE_NS / MS_NS, 300};

    if (cluster->options.bug == PAWL_CLUSTER_BUG_LOCKED)
        return 24 * 3600 * 1000;
    return all[cluster->options.seed / 2 % 3];
}

static int open_locks(struct cluster_node *node, struct pawl_error *err)
{
    struct cluster *cluster = node->cluster;
    const struct pawl_lock_fault_hooks hooks = {decide_fault, node};
    struct pawl_env *env = &node->env.base;
    struct pawl_lock_provider *inner = NULL, *provider = NULL;
    int status = pawl__memory_locks_open(cluster->space, env, ttl_ms(cluster), &inner, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__fault_locks_new(env, inner, &hooks, &provider, err);
    if (status != PAWL_OK) {
        inner->ops->close(inner);
        return status;
    }
    status = pawl__locks_new(env, provider, NULL, &node->locks, err);
    if (status != PAWL_OK)
        provider->ops->close(provider);
    return status;
}

int pawl__cluster_locks_open(struct cluster_node *node, struct pawl_error *err)
{
    struct cluster *cluster = node->cluster;
    struct pawl_distribution distribution;
    int status;

    if (!cluster->options.distributed)
        return PAWL_OK;
    status = open_locks(node, err);
    if (status != PAWL_OK)
        return status;
    pawl__distribution_init(&distribution, &node->env.base, node->locks);
    distribution.acquire_ns = 5 * SECOND_NS;
    distribution.patience_ns =
        cluster->options.bug == PAWL_CLUSTER_BUG_LOCKED ? PAWL_FOREVER : CLUSTER_LEASE_NS;
    distribution.partitions = 1 + (uint32_t)(cluster->options.seed % 3);
    status = pawl__distributed_guard_new(&distribution, &node->guard, err);
    if (status == PAWL_OK)
        status = pawl__distributed_queue_worker_new(&distribution, &node->queue, err);
    return status;
}

void pawl__cluster_locks_close(struct cluster_node *node)
{
    pawl__queue_worker_close(node->queue);
    pawl__distributed_guard_free(node->guard);
    pawl__locks_free(node->locks);
    node->queue = NULL;
    node->guard = NULL;
    node->locks = NULL;
}
