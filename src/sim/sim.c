/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of the simulator: the server, the nodes and what is done to them.
 *
 * Each node has a supervisor, which is a machine that never fails: it boots the node, lets it stand
 * still or moves its clock, crashes it or ends it in order, and boots it again with the same id. A
 * referee waits for all of them, then demands that everything can still be claimed and advanced
 * (faults are over, nobody holds a lease), and compares for the last time.
 */
#include "sim/sim_private.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdio.h>

#define NODES_DEFAULT 2
#define WORKERS_DEFAULT 2
#define INSTANCES_DEFAULT 3
#define SECONDS_DEFAULT 6
#define SECONDS_MAX 3600
#define STEPS_DEFAULT 200000

/* Of the baton: a thread stands still at any point, also in the middle of a call. */
#define BATON_PAUSE_PPM 300

/* In ten thousand half seconds. */
#define PAUSES 1200
#define SHIFTS 1000
/* In ten thousand looks, each soon after a claim. */
#define SERVER_CRASHES 400
#define CRASH_LOOK_NS (INT64_C(25) * MS_NS)
#define LOOKS 20u

/* ---- chance ------------------------------------------------------------------------------ */

uint64_t pawl__sim_lot(struct chance *chance, uint64_t bound)
{
    uint64_t z = (chance->state += UINT64_C(0x9E3779B97F4A7C15));

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (z ^ z >> 31) % bound;
}

bool pawl__sim_happens(struct chance *chance, uint32_t in_ten_thousand)
{
    return pawl__sim_lot(chance, 10000) < in_ten_thousand;
}

/* ---- threads ----------------------------------------------------------------------------- */

void pawl__sim_fail(struct sim *sim, int status, const struct pawl_error *err)
{
    if (sim->status != PAWL_OK)
        return;
    sim->status = status;
    sim->err = *err;
    if (err->code == PAWL_OK)
        (void)pawl__error_code(&sim->err, status);
}

static int64_t now_ns(struct sim *sim)
{
    return pawl_env_monotonic_ns(sim->server);
}

static int nap(struct sim *sim, int64_t most_ns)
{
    return pawl_env_sleep_until(
        sim->server, now_ns(sim) + (int64_t)pawl__sim_lot(&sim->chance, (uint64_t)most_ns));
}

static void trouble(struct node *node)
{
    struct sim *sim = node->sim;

    if (pawl__sim_happens(&sim->chance, PAUSES)) {
        int64_t pause_ns = LEASE_NS + (int64_t)pawl__sim_lot(&sim->chance, LEASE_NS * 3 / 2);

        node->paused_until_ns = now_ns(sim) + pause_ns;
        sim->report->pauses++;
        pawl__checker_say(&sim->checker, node->id, "stands still for %lld ms",
                          (long long)(pause_ns / MS_NS));
    }
    if (pawl__sim_happens(&sim->chance, SHIFTS)) {
        int64_t hours = (int64_t)pawl__sim_lot(&sim->chance, 49) - 24;

        node->env.wall_shift_ns = hours * 3600 * SECOND_NS;
        sim->report->shifts++;
        pawl__checker_say(&sim->checker, node->id, "has its clock off by %lld h", (long long)hours);
    }
}

/* From boot to the end that is decided for it. */
static void watch_over(struct node *node)
{
    struct sim *sim = node->sim;
    int64_t end_ns = now_ns(sim) + SECOND_NS / 2 +
                     (int64_t)pawl__sim_lot(&sim->chance, (uint64_t)(4 * SECOND_NS));

    if (end_ns > sim->quiet_ns || sim->options.calm)
        end_ns = sim->quiet_ns;
    while (now_ns(sim) < end_ns && nap(sim, SECOND_NS / 2) == PAWL_OK)
        if (!sim->options.calm)
            trouble(node);
    if (!sim->options.calm && pawl__sim_lot(&sim->chance, 2) == 0)
        pawl__node_crash(node);
    node->ending = true;
}

static void run_supervisor(void *arg)
{
    struct node *node = arg;
    struct sim *sim = node->sim;
    int stopped = PAWL_OK;

    while (now_ns(sim) < sim->quiet_ns && stopped == PAWL_OK && sim->status == PAWL_OK) {
        struct pawl_error err = PAWL_ERROR_INIT;
        int status = pawl__node_start(node, &err);

        if (status == PAWL_OK)
            watch_over(node);
        else if (status == PAWL_ENOMEM || status == PAWL_EINVAL)
            pawl__sim_fail(sim, status, &err);
        if (status != PAWL_OK)
            pawl__baton_env_stop(node->baton_env);
        pawl__node_end(node);
        stopped = nap(sim, SECOND_NS);
    }
}

/* The server loses what was not synced, and all who wait for an answer do not get it. When there is
 * something to lose: a claim is followed by a commit, which syncs it, before long. */
static int crash_server(struct sim *sim, uint64_t *granted)
{
    bool claimed = sim->report->granted != *granted;

    *granted = sim->report->granted;
    if (sim->options.calm || !claimed || now_ns(sim) >= sim->quiet_ns ||
        !pawl__sim_happens(&sim->chance, SERVER_CRASHES))
        return PAWL_OK;
    sim->report->server_crashes++;
    sim->health.crashes++;
    sim->health.away_until_ns =
        now_ns(sim) + (int64_t)pawl__sim_lot(&sim->chance, (uint64_t)(LEASE_NS / 2));
    if (sim->health.away_until_ns > sim->quiet_ns)
        sim->health.away_until_ns = sim->quiet_ns;
    pawl__checker_say(&sim->checker, "server", "crashes");
    return pawl__ledger_crash(sim->ledger, sim->database, (uint32_t)pawl__sim_lot(&sim->chance, 2));
}

static void run_watcher(void *arg)
{
    struct sim *sim = arg;
    struct pawl_error err = PAWL_ERROR_INIT;
    uint64_t granted = 0;
    int status = PAWL_OK;

    while (now_ns(sim) < sim->quiet_ns && status == PAWL_OK) {
        for (uint32_t i = 0; i < LOOKS && status == PAWL_OK; i++) {
            status = pawl_env_sleep_until(sim->server, now_ns(sim) + CRASH_LOOK_NS);
            if (status == PAWL_OK)
                status = crash_server(sim, &granted);
        }
        if (status == PAWL_OK)
            status = pawl__checker_look(&sim->checker, sim->window, &err);
    }
    if (status != PAWL_OK && status != PAWL_ESTOPPED)
        pawl__sim_fail(sim, status, &err);
}

/* After the faults: is everything alive, and everything there? */
static void judge(struct sim *sim)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    int status;

    pawl__checker_say(&sim->checker, "referee", "begins");
    status = pawl__node_start(&sim->probe, &err);
    if (status == PAWL_OK)
        (void)!pawl__node_advance_all(&sim->probe);
    sim->probe.ending = true;
    pawl__node_end(&sim->probe);
    if (status == PAWL_OK)
        status = pawl__checker_look(&sim->checker, sim->window, &err);
    if (status == PAWL_OK)
        pawl__checker_finish(&sim->checker);
    else
        pawl__sim_fail(sim, status, &err);
}

static void run_referee(void *arg)
{
    struct sim *sim = arg;
    struct pawl_thread *threads[PAWL_SIM_NODES_MAX + 1];
    struct pawl_error err = PAWL_ERROR_INIT;
    uint32_t count = 0;
    int status = pawl_thread_start(sim->server, "watcher", run_watcher, sim, &threads[0], &err);

    count += status == PAWL_OK;
    for (uint32_t i = 0; i < sim->options.nodes && status == PAWL_OK; i++) {
        status = pawl_thread_start(sim->server, "supervisor", run_supervisor, &sim->nodes[i],
                                   &threads[count], &err);
        count += status == PAWL_OK;
    }
    if (status != PAWL_OK)
        pawl__sim_fail(sim, status, &err);
    for (uint32_t i = 0; i < count; i++)
        pawl_thread_join(sim->server, threads[i]);
    if (sim->status == PAWL_OK && pawl_env_sleep_until(sim->server, INT64_MIN) == PAWL_OK)
        judge(sim);
}

/* ---- beginning and end ------------------------------------------------------------------- */

static int complete(const struct pawl_sim_options *options, struct pawl_sim_options *all,
                    struct pawl_error *err)
{
    *all = *options;
    if (all->nodes == 0)
        all->nodes = NODES_DEFAULT;
    if (all->workers == 0)
        all->workers = WORKERS_DEFAULT;
    if (all->instances == 0)
        all->instances = INSTANCES_DEFAULT;
    if (all->seconds == 0)
        all->seconds = SECONDS_DEFAULT;
    if (all->steps_max == 0)
        all->steps_max = STEPS_DEFAULT;
    if (all->nodes > PAWL_SIM_NODES_MAX || all->workers > PAWL_SIM_WORKERS_MAX ||
        all->instances > PAWL_SIM_INSTANCES_MAX || all->seconds > SECONDS_MAX)
        return pawl__error_set(err, PAWL_EINVAL,
                               "a simulation has at most %d nodes, %d workers each, %d instances "
                               "and %d seconds",
                               PAWL_SIM_NODES_MAX, PAWL_SIM_WORKERS_MAX, PAWL_SIM_INSTANCES_MAX,
                               SECONDS_MAX);
    return PAWL_OK;
}

static int build_server(struct sim *sim, struct pawl_error *err)
{
    const struct ledger_hooks hooks = pawl__checker_hooks(&sim->checker);
    enum pawl_sim_bug bug = sim->options.bug;
    int status = pawl__memory_database_new(sim->server, &sim->database, err);

    if (status == PAWL_OK) {
        pawl__memory_database_set_forgetful(sim->database);
        status = pawl__memory_store_open(sim->database, sim->server, &sim->window, err);
    }
    if (status == PAWL_OK)
        status = pawl__memory_store_open(sim->database, sim->server, &sim->ledger, err);
    if (status == PAWL_OK && (bug == PAWL_SIM_BUG_SKIP_REVISION || bug == PAWL_SIM_BUG_STEAL))
        status = pawl__buggy_store_new(sim->server, sim->ledger, bug, &sim->ledger, err);
    if (status == PAWL_OK)
        status = pawl__ledger_store_new(sim->server, sim->ledger, &hooks, &sim->ledger, err);
    return status;
}

static void name_nodes(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->options.nodes; i++) {
        sim->nodes[i].sim = sim;
        sim->nodes[i].worker_count = sim->options.workers;
        (void)snprintf(sim->nodes[i].id, sizeof sim->nodes[i].id, "node-%c", (char)('a' + i));
    }
    sim->probe.sim = sim;
    sim->probe.worker_count = 1;
    sim->probe.passive = true;
    (void)snprintf(sim->probe.id, sizeof sim->probe.id, "probe");
}

static int build(struct sim *sim, struct pawl_error *err)
{
    const struct pawl_baton_options options = {
        .max_steps = sim->options.steps_max,
        .trace_bytes = 4096,
        .pause_ppm = sim->options.calm ? 0 : BATON_PAUSE_PPM,
        .pause_ns_max = 2 * LEASE_NS,
    };
    int status = pawl__baton_new(sim->alloc, sim->options.seed, &options, &sim->baton);

    if (status == PAWL_OK)
        status = pawl__baton_env(sim->baton, "server", &sim->server);
    if (status == PAWL_OK)
        status = pawl__checker_init(&sim->checker, sim->server, &sim->options, sim->report);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    sim->chance.state = sim->options.seed ^ UINT64_C(0x5DEECE66D);
    sim->quiet_ns = now_ns(sim) + (int64_t)sim->options.seconds * SECOND_NS;
    name_nodes(sim);
    return build_server(sim, err);
}

static void tear_down(struct sim *sim)
{
    pawl_store_close(sim->window);
    pawl_store_close(sim->ledger);
    pawl__memory_database_free(sim->database);
    if (sim->server)
        pawl__checker_release(&sim->checker);
    pawl__baton_free(sim->baton);
}

static int run(struct sim *sim, struct pawl_error *err)
{
    struct pawl_thread *referee;
    int status = pawl_thread_start(sim->server, "referee", run_referee, sim, &referee, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__baton_run(sim->baton, err);
    pawl_thread_join(sim->server, referee);
    sim->report->step_count = pawl__baton_step_count(sim->baton);
    sim->report->trace_hash = pawl__baton_trace_hash(sim->baton);
    if (status == PAWL_OK && sim->status != PAWL_OK)
        status = pawl__error_set(err, sim->status, "%s", sim->err.msg);
    if (sim->report->violations > 0)
        status = pawl__error_set(err, PAWL_ECORRUPT, "seed %llu: %s (%llu findings)",
                                 (unsigned long long)sim->options.seed, sim->report->violation,
                                 (unsigned long long)sim->report->violations);
    return status;
}

int pawl__sim_run(const struct pawl_allocator *alloc, const struct pawl_sim_options *options,
                  struct pawl_sim_report *report, struct pawl_error *err)
{
    struct sim *sim = pawl__alloc_zeroed(alloc, sizeof *sim);
    int status;

    if (!sim)
        return pawl__error_code(err, PAWL_ENOMEM);
    *report = (struct pawl_sim_report){0};
    sim->alloc = alloc;
    sim->report = report;
    status = complete(options, &sim->options, err);
    if (status == PAWL_OK)
        status = build(sim, err);
    if (status == PAWL_OK)
        status = run(sim, err);
    tear_down(sim);
    pawl__free(alloc, sim, sizeof *sim);
    return status;
}
