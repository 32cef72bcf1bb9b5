/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node of the simulated cluster: the real runtime and its pool, on a store behind trace, faults
 * and a wire. Clients call it from their own threads, as requests would; what they wait for is the
 * node's, so a crash lets them go, without an answer.
 */
#include "sim/cluster_private.h"

#include "base/error.h"

#include <stdio.h>

/* In ten thousand calls, of a quiet seed; others have more. */
#define FAILS 100
#define LOSES 100
#define CRASHES 8
#define LEVELS 4
/* In ten thousand lost answers to commits: nothing more is heard for a while. */
#define CUTS 2500
/* What one activity takes where there are loops. */
#define ACTIVITY_NS (INT64_C(5) * MS_NS)

/* ---- memory ------------------------------------------------------------------------------ */

static void *resize_or_starve(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    struct cluster_node *node = ctx;

    if (node->starve > 0 && new_size > old_size) {
        node->starve--;
        return NULL;
    }
    return node->alloc.resize(node->alloc.ctx, ptr, old_size, new_size);
}

/* ---- faults ------------------------------------------------------------------------------ */

void pawl__cluster_trouble(struct cluster_node *node, int64_t until_ns)
{
    if (node->troubled_ns < until_ns)
        node->troubled_ns = until_ns;
}

/* A commit whose answer is lost may be the last that is heard of the server for a while: long
 * enough for others to do what it asked for. */
static void note_fault(struct cluster_node *node, enum pawl_store_call call,
                       enum pawl_store_fault how)
{
    struct cluster *cluster = node->cluster;
    int64_t now_ns = pawl_env_monotonic_ns(cluster->server);

    node->faults++;
    if (call == PAWL_STORE_CALL_LEASE)
        pawl__cluster_trouble(node, now_ns);
    if (!(cluster->features & PAWL_CLUSTER_OUTAGES) || call != PAWL_STORE_CALL_APPLY ||
        how != PAWL_STORE_FAULT_AFTER || !pawl__sim_happens(&cluster->chance, CUTS))
        return;
    node->cut_until_ns =
        now_ns + CLUSTER_LEASE_NS + (int64_t)pawl__sim_lot(&cluster->chance, 3 * CLUSTER_LEASE_NS);
    pawl__cluster_trouble(node, node->cut_until_ns);
    cluster->report->outages++;
    pawl__cluster_say(&cluster->checker, node->name, "is cut off for %lld ms",
                      (long long)((node->cut_until_ns - now_ns) / MS_NS));
}

void pawl__cluster_node_check(struct cluster_node *node)
{
    char why[160];

    if (node->runtime && node->is_up &&
        !pawl__runtime_check_invariants(node->runtime, pawl__baton_mutex_is_free, why, sizeof why))
        pawl__cluster_violation(&node->cluster->checker, "%s: %s", node->name, why);
}

/* A node that ends in order has let go of everything. */
static void check_idle(struct cluster_node *node)
{
    char why[160];

    if (node->runtime && !pawl__runtime_check_idle(node->runtime, why, sizeof why))
        pawl__cluster_violation(&node->cluster->checker, "%s: %s", node->name, why);
}

static bool decide_fault(void *ctx, enum pawl_store_call call, enum pawl_store_fault *how)
{
    struct cluster_node *node = ctx;
    struct cluster *cluster = node->cluster;
    uint64_t level = 1 + cluster->options.seed / 3 % LEVELS;
    uint64_t lot;

    if (cluster->options.calm || pawl__cluster_is_quiet(cluster))
        return false;
    *how = PAWL_STORE_FAULT_BEFORE;
    if (pawl_env_monotonic_ns(cluster->server) < node->cut_until_ns)
        return true;
    lot = pawl__sim_lot(&cluster->chance, 10000);
    if (lot < FAILS * level) {
        *how = PAWL_STORE_FAULT_BEFORE;
        cluster->report->failed++;
    } else if (lot < (FAILS + LOSES) * level) {
        *how = PAWL_STORE_FAULT_AFTER;
        cluster->report->lost++;
    } else if (lot < (FAILS + LOSES) * level + CRASHES) {
        *how = lot % 2 ? PAWL_STORE_FAULT_CRASH : PAWL_STORE_FAULT_CRASH_AFTER;
    } else {
        return false;
    }
    note_fault(node, call, *how);
    pawl__cluster_say(&cluster->checker, node->name, "%s: fault %d", pawl__store_call_name(call),
                      (int)*how);
    return true;
}

static int crash_in_call(void *ctx, enum pawl_store_call call)
{
    (void)call;
    pawl__cluster_node_crash(ctx);
    return PAWL_ESTOPPED;
}

void pawl__cluster_node_crash(struct cluster_node *node)
{
    node->is_up = false;
    node->has_crashed = true;
    node->cluster->report->crashes++;
    pawl__cluster_say(&node->cluster->checker, node->name, "crashes");
    pawl__baton_env_stop(node->baton_env);
}

/* ---- life -------------------------------------------------------------------------------- */

static int connect(struct cluster_node *node, struct pawl_error *err)
{
    struct cluster *cluster = node->cluster;
    enum pawl_cluster_bug bug = cluster->options.bug;
    struct pawl_env *env = &node->env.base;
    const struct pawl_store_fault_hooks hooks = {decide_fault, crash_in_call, node};
    int status = pawl__wire_store_new(env, cluster->ledger, &cluster->chance,
                                      &node->paused_until_ns, &cluster->health, &node->store, err);

    if (status == PAWL_OK)
        status = pawl__cluster_session_new(node, node->store, &node->store, err);
    if (status == PAWL_OK)
        status = pawl__fault_store_new(env, node->store, &hooks, &node->store, err);
    if (status == PAWL_OK)
        status = pawl__trace_store_new(env, node->store, &node->store, err);
    if (status == PAWL_OK && (bug == PAWL_CLUSTER_BUG_EDGE_ONLY || bug == PAWL_CLUSTER_BUG_SPLIT))
        status = pawl__cluster_buggy_store_new(env, node->store, bug, &node->store, err);
    if (status == PAWL_OK && bug > PAWL_CLUSTER_BUG_LOCK_WAITS)
        status = pawl__cluster_defect_store_new(env, node->store, bug, &node->store, err);
    return status;
}

/* Where there are loops an activity takes time, so that others can do something meanwhile. */
static bool spend_time(void *ctx)
{
    struct cluster_node *node = ctx;

    (void)!pawl_env_sleep_until(&node->env.base,
                                pawl_env_monotonic_ns(&node->env.base) + ACTIVITY_NS);
    return false;
}

/* Another process has its id: it ends, and an operator gives it one of its own. */
static void end_for_good(void *ctx)
{
    struct cluster_node *node = ctx;

    node->is_up = false;
    node->superseded = true;
    node->cluster->report->superseded++;
    pawl__cluster_say(&node->cluster->checker, node->name, "ends: another node has its id");
}

static bool has_workers(const struct cluster_node *node)
{
    return !(node->cluster->features & PAWL_CLUSTER_SENDER) ||
           node->number + 1 < node->cluster->options.nodes;
}

static int open_runtime(struct cluster_node *node, struct pawl_error *err)
{
    static const enum pawl_delivery deliveries[] = {
        [PAWL_CLUSTER_MIXED] = PAWL_DELIVERY_MIXED,
        [PAWL_CLUSTER_DIRECT] = PAWL_DELIVERY_DIRECT,
        [PAWL_CLUSTER_ROWS] = PAWL_DELIVERY_ROWS,
    };
    struct cluster *cluster = node->cluster;
    const struct pawl_runtime_options options = {
        .node_id = pawl__str(node->name),
        .lease_us = CLUSTER_LEASE_NS / 1000,
        .stimulus_us = CLUSTER_STIMULUS_US,
        .delivery = deliveries[cluster->options.delivery],
        .committers = 1 + (uint32_t)(cluster->options.seed % 2),
        .guard = node->guard,
        .http = &node->http,
        .hooks = {.stop = cluster->features & PAWL_CLUSTER_LOOPS ? spend_time : NULL,
                  .ended = end_for_good,
                  .ctx = node},
    };
    const struct pawl_pool_options pool = {.workers = CLUSTER_WORKERS,
                                           .take_max = 16,
                                           .idle_ns_max = 2 * SECOND_NS,
                                           .queue = node->queue};
    struct pawl_env *env = &node->env.base;
    int status =
        pawl__runtime_open(env, &cluster->engine, node->store, &options, &node->runtime, err);

    if (status == PAWL_OK && has_workers(node))
        status = pawl__pool_open(env, node->runtime, &pool, &node->pool, err);
    return status;
}

int pawl__cluster_node_start(struct cluster_node *node, struct pawl_error *err)
{
    struct cluster *cluster = node->cluster;
    int status;

    if (node->superseded)
        (void)snprintf(node->name, sizeof node->name, "node-%c-%u", (char)('a' + node->number),
                       node->lives);
    node->superseded = node->has_crashed = false;
    /* Mostly it comes back under its name; sometimes as one that nobody knew. */
    if (node->lives++ > 0 && pawl__sim_lot(&cluster->chance, 4) == 0 &&
        !(cluster->features & PAWL_CLUSTER_NAMESAKES))
        (void)snprintf(node->name + 6, sizeof node->name - 6, "-%u", node->lives);
    status = pawl__baton_env(cluster->baton, node->name, &node->baton_env);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    pawl__shifted_env_init(&node->env, node->baton_env);
    node->alloc = node->env.base.alloc;
    node->env.base.alloc = (struct pawl_allocator){resize_or_starve, node};
    node->http = pawl__cluster_http();
    node->paused_until_ns = node->cut_until_ns = 0;
    node->sessions_used = node->starve = 0;
    node->locks_held = (struct row_locks){0};
    status = connect(node, err);
    if (status == PAWL_OK)
        status = pawl__cluster_locks_open(node, err);
    if (status == PAWL_OK)
        status = open_runtime(node, err);
    node->is_up = status == PAWL_OK && !node->superseded && !node->has_crashed;
    cluster->report->boots += node->is_up;
    pawl__cluster_say(&cluster->checker, node->name, "%s", node->is_up ? "is up" : "did not start");
    return status;
}

void pawl__cluster_node_end(struct cluster_node *node)
{
    struct pawl_env *server = node->cluster->server;

    node->is_up = false;
    while (node->callers > 0 &&
           pawl_env_sleep_until(server, pawl_env_monotonic_ns(server) + 10 * MS_NS) == PAWL_OK)
        continue;
    if (node->runtime)
        pawl__runtime_stop(node->runtime);
    pawl__pool_close(node->pool);
    check_idle(node);
    pawl__runtime_close(node->runtime);
    pawl__cluster_locks_close(node);
    pawl_store_close(node->store);
    node->pool = NULL;
    node->runtime = NULL;
    node->store = NULL;
}
