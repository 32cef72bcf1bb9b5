/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated node: a store behind trace, faults and a wire; the real committer; a thread that
 * keeps its lease; workers that claim instances and write to them.
 *
 * The workers are no polite users. They hold instances across several commits, sometimes forget to
 * release, never ask whether their lease still lives, and two of one node may claim the same
 * instance: the store alone must keep them apart.
 */
#include "sim/sim_private.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdio.h>

/* In ten thousand calls. */
#define FAILS 400
#define LOSES 500
#define CRASHES 25

#define HOLD_MAX 3 /* commits in a row */
#define JOIN_TRIES_MAX 50
#define ADVANCE_NS_MAX (INT64_C(30) * LEASE_NS)

static int64_t now_ns(struct node *node)
{
    return pawl_env_monotonic_ns(&node->env.base);
}

static int64_t lot_ns(struct node *node, int64_t most_ns)
{
    return (int64_t)pawl__sim_lot(&node->sim->chance, (uint64_t)most_ns);
}

/* PAWL_ESTOPPED: it has crashed. */
static int nap(struct node *node, int64_t most_ns)
{
    return pawl_env_sleep_until(&node->env.base, now_ns(node) + lot_ns(node, most_ns));
}

/* ---- faults ------------------------------------------------------------------------------ */

static bool decide_fault(void *ctx, enum pawl_store_call call, enum pawl_store_fault *how)
{
    struct node *node = ctx;
    struct sim *sim = node->sim;
    uint64_t lot;

    (void)call;
    if (sim->options.calm || now_ns(node) >= sim->quiet_ns)
        return false;
    lot = pawl__sim_lot(&sim->chance, 10000);
    if (lot < FAILS) {
        *how = PAWL_STORE_FAULT_BEFORE;
        sim->report->failed++;
    } else if (lot < FAILS + LOSES) {
        *how = PAWL_STORE_FAULT_AFTER;
        sim->report->lost++;
    } else if (lot < FAILS + LOSES + CRASHES) {
        *how = lot % 2 ? PAWL_STORE_FAULT_CRASH : PAWL_STORE_FAULT_CRASH_AFTER;
    } else {
        return false;
    }
    pawl__checker_say(&sim->checker, node->id, "%s: fault %d", pawl__store_call_name(call),
                      (int)*how);
    return true;
}

static int crash_in_call(void *ctx, enum pawl_store_call call)
{
    (void)call;
    pawl__node_crash(ctx);
    return PAWL_ESTOPPED;
}

void pawl__node_crash(struct node *node)
{
    node->sim->report->crashes++;
    pawl__checker_say(&node->sim->checker, node->id, "crashes");
    pawl__baton_env_stop(node->baton_env);
}

/* ---- the lease --------------------------------------------------------------------------- */

static int lease(struct node *node, enum pawl_lease_kind kind, struct pawl_error *err)
{
    struct pawl_lease lease = {.kind = kind,
                               .node_id = pawl__str(node->id),
                               .incarnation = node->incarnation,
                               .ttl_us = LEASE_NS / 1000,
                               .info = pawl__str("{}")};
    int status = pawl_store_lease(node->store, &lease, now_ns(node) + LEASE_NS, err);

    if (status == PAWL_OK)
        node->incarnation = lease.incarnation;
    return status;
}

static int join(struct node *node, struct pawl_error *err)
{
    int status = PAWL_EUNAVAILABLE;

    for (int i = 0; i < JOIN_TRIES_MAX && status != PAWL_OK && status != PAWL_ESTOPPED; i++)
        status = lease(node, PAWL_LEASE_JOIN, err);
    return status;
}

static void run_keeper(void *arg)
{
    struct node *node = arg;
    int status = PAWL_OK;

    while (!node->ending && status != PAWL_ESTOPPED && status != PAWL_ECONFLICT) {
        status = pawl_env_sleep_until(&node->env.base, now_ns(node) + LEASE_NS / 3);
        if (status == PAWL_OK)
            status = lease(node, PAWL_LEASE_RENEW, NULL);
    }
}

/* ---- workers ----------------------------------------------------------------------------- */

static struct pawl_str instance_id(struct node *node, uint32_t number)
{
    return pawl__str(node->sim->checker.instances[number].id);
}

/* One commit that adds one write to what the worker knows of the instance. */
static int write_one(struct worker *worker, uint32_t number, enum pawl_commit_kind kind,
                     uint32_t flags, struct pawl_instance_row *row)
{
    struct node *node = worker->node;
    struct checker *checker = &node->sim->checker;
    int64_t revision = kind == PAWL_COMMIT_CREATE ? 1 : row->revision + 1;
    uint32_t write = pawl__checker_write(checker, number, revision);
    struct pawl_instance_row next = *row;
    struct pawl_commit commit = {.kind = kind, .flags = flags, .instance = &next};
    struct pawl_error err = PAWL_ERROR_INIT;
    int status;

    if (write == UINT32_MAX)
        return PAWL_ELIMIT;
    pawl__buf_clear(&worker->state);
    pawl__write_list_print(worker->writes, write, &worker->state);
    next.state = pawl__buf_peek(&worker->state);
    next.updated_us = pawl_env_wall_ns(&node->env.base) / 1000;
    status = worker->state.status;
    if (status == PAWL_OK)
        status =
            pawl__committer_commit(node->committer, &commit,
                                   now_ns(node) + 100 * MS_NS + lot_ns(node, 1500 * MS_NS), &err);
    pawl__checker_told(checker, worker->name, write, status);
    if (status == PAWL_OK) {
        row->revision = revision;
        worker->writes->numbers[worker->writes->count++] = write;
    }
    return status;
}

static bool create(struct worker *worker, uint32_t number)
{
    struct node *node = worker->node;
    struct pawl_instance_row row = {
        .id = instance_id(node, number),
        .definition_id = pawl__str("definition"),
        .status = pawl__str("Running"),
        .sub_status = pawl__str("Suspended"),
        .created_us = pawl_env_wall_ns(&node->env.base) / 1000,
    };

    worker->writes->count = 0;
    return write_one(worker, number, PAWL_COMMIT_CREATE, PAWL_COMMIT_RELEASE, &row) == PAWL_OK;
}

/* Some commits in a row, the last of which mostly releases. */
static bool advance(struct worker *worker, uint32_t number, struct pawl_instance_row *row)
{
    struct node *node = worker->node;
    uint64_t count = 1 + pawl__sim_lot(&node->sim->chance, HOLD_MAX);
    bool forgetful = pawl__sim_happens(&node->sim->chance, 1000);

    for (uint64_t i = 0; i < count; i++) {
        bool last = i + 1 == count && !forgetful;

        if (i > 0 && nap(node, 300 * MS_NS) != PAWL_OK)
            return false;
        if (write_one(worker, number, PAWL_COMMIT_ADVANCE, last ? PAWL_COMMIT_RELEASE : 0, row) !=
            PAWL_OK)
            return false;
    }
    return true;
}

/* Claims an instance and writes to it, or creates it. */
static bool burst(struct worker *worker, uint32_t number)
{
    struct node *node = worker->node;
    struct pawl_claim claim = {.id = instance_id(node, number)};
    struct pawl_instance_row row;
    int64_t now_us;
    int status;

    pawl__arena_reset(&worker->arena);
    status = pawl_store_claim(node->store, node->incarnation, &claim, 1, &worker->arena, &now_us,
                              now_ns(node) + SECOND_NS, NULL);
    if (status != PAWL_OK)
        return false;
    if (claim.status == PAWL_ENOTFOUND)
        return create(worker, number);
    if (claim.status != PAWL_OK)
        return false;
    row = claim.row;
    /* A state that is none is the checker's business: it reads them too. */
    if (pawl__write_list_read(worker->writes, row.state) != PAWL_OK)
        return false;
    return advance(worker, number, &row);
}

static void run_worker(void *arg)
{
    struct worker *worker = arg;
    struct node *node = worker->node;
    uint32_t count = node->sim->options.instances;

    while (!node->ending && nap(node, 300 * MS_NS) == PAWL_OK)
        (void)burst(worker, (uint32_t)pawl__sim_lot(&node->sim->chance, count));
}

static int worker_init(struct worker *worker, struct node *node, uint32_t number,
                       struct pawl_error *err)
{
    const struct pawl_allocator *alloc = &node->env.base.alloc;

    *worker = (struct worker){.node = node};
    (void)snprintf(worker->name, sizeof worker->name, "%s/%u", node->id, number);
    pawl__arena_init(&worker->arena, alloc, ARENA_BYTES_MAX);
    pawl__buf_init(&worker->state, alloc, STATE_BYTES_MAX);
    worker->writes = pawl__alloc_zeroed(alloc, sizeof *worker->writes);
    return worker->writes ? PAWL_OK : pawl__error_code(err, PAWL_ENOMEM);
}

static void worker_release(struct worker *worker)
{
    const struct pawl_allocator *alloc = &worker->node->env.base.alloc;

    pawl__arena_release(&worker->arena);
    pawl__buf_release(&worker->state);
    pawl__free(alloc, worker->writes, sizeof *worker->writes);
}

/* ---- the node's life --------------------------------------------------------------------- */

static int connect(struct node *node, struct pawl_error *err)
{
    struct sim *sim = node->sim;
    struct pawl_env *env = &node->env.base;
    const struct pawl_store_fault_hooks hooks = {decide_fault, crash_in_call, node};
    int status = pawl__wire_store_new(env, sim->ledger, &sim->chance, &node->paused_until_ns,
                                      &sim->health, &node->store, err);

    if (status == PAWL_OK)
        status = pawl__fault_store_new(env, node->store, &hooks, &node->store, err);
    if (status == PAWL_OK)
        status = pawl__trace_store_new(env, node->store, &node->store, err);
    if (status == PAWL_OK && (sim->options.bug == PAWL_SIM_BUG_ACKNOWLEDGE_EARLY ||
                              sim->options.bug == PAWL_SIM_BUG_FENCE_ALONE))
        status = pawl__buggy_store_new(env, node->store, sim->options.bug, &node->store, err);
    return status;
}

int pawl__node_start(struct node *node, struct pawl_error *err)
{
    uint64_t seed = node->sim->options.seed;
    const struct pawl_committer_options options = {.threads = 1 + (uint32_t)(seed % 2),
                                                   .leads = seed / 2 % 2 == 0};
    struct pawl_env *env = &node->env.base;
    int status = pawl__baton_env(node->sim->baton, node->id, &node->baton_env);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    pawl__shifted_env_init(&node->env, node->baton_env);
    node->ending = false;
    node->paused_until_ns = 0;
    status = connect(node, err);
    for (uint32_t i = 0; i < node->worker_count && status == PAWL_OK; i++)
        status = worker_init(&node->workers[i], node, i, err);
    if (status == PAWL_OK)
        status = join(node, err);
    if (status == PAWL_OK)
        status = pawl__committer_new(env, node->store, &options, &node->committer, err);
    if (status == PAWL_OK)
        status = pawl_thread_start(env, "keeper", run_keeper, node, &node->keeper, err);
    for (uint32_t i = 0; i < node->worker_count && status == PAWL_OK && !node->passive; i++)
        status = pawl_thread_start(env, "worker", run_worker, &node->workers[i],
                                   &node->workers[i].thread, err);
    return status;
}

void pawl__node_end(struct node *node)
{
    struct pawl_env *env = &node->env.base;
    bool joined = node->committer != NULL;

    for (uint32_t i = 0; i < node->worker_count; i++)
        if (node->workers[i].thread)
            pawl_thread_join(env, node->workers[i].thread);
    if (node->keeper)
        pawl_thread_join(env, node->keeper);
    pawl__committer_free(node->committer);
    if (joined && lease(node, PAWL_LEASE_LEAVE, NULL) != PAWL_OK)
        pawl__checker_say(&node->sim->checker, node->id, "leaves without saying so");
    for (uint32_t i = 0; i < node->worker_count; i++)
        if (node->workers[i].node)
            worker_release(&node->workers[i]);
    pawl_store_close(node->store);
    memset(node->workers, 0, sizeof node->workers);
    node->keeper = NULL;
    node->committer = NULL;
    node->store = NULL;
    node->incarnation = 0;
}

bool pawl__node_advance_all(struct node *node)
{
    int64_t deadline_ns = now_ns(node) + ADVANCE_NS_MAX;

    for (uint32_t i = 0; i < node->sim->options.instances; i++) {
        while (!burst(&node->workers[0], i)) {
            if (now_ns(node) >= deadline_ns || nap(node, LEASE_NS / 5) != PAWL_OK) {
                pawl__checker_violation(&node->sim->checker,
                                        "%s can no longer be claimed and advanced",
                                        node->sim->checker.instances[i].id);
                return false;
            }
        }
    }
    return true;
}
