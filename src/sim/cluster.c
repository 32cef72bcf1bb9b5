/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of the simulated cluster: the server, the nodes, the clients and what is done to them.
 *
 * Each node has a supervisor, a machine that never fails: it boots the node, lets it stand still or
 * moves its clock, crashes or drains it, and boots it again. When the faults end, nodes that live
 * go on living: what one of them has forgotten nobody else may do. A referee then waits until
 * nothing is left to do and accounts for everything.
 */
#include "sim/cluster_private.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdio.h>

#define SECONDS_DEFAULT 150
#define SECONDS_MAX 36000
#define STEPS_DEFAULT 2000000
#define LOOK_NS (INT64_C(5) * SECOND_NS)
/* In which a node that stood still has its lease again. */
#define NODES_NS_MAX (INT64_C(10) * CLUSTER_LEASE_NS)

/* Of the baton: a thread stands still at any point, also in the middle of a call. */
#define BATON_PAUSE_PPM 60

/* In ten thousand seconds. */
#define PAUSES 350
#define SHIFTS 200
#define OUTAGES 600
#define SERVER_CRASHES 250
#define FAILOVERS 150
#define START_FAILURES 120
#define CLOCK_STEPS 100
/* All together: timers wait for longer by that, and so does the end of the run; and the lease of a
 * dead node is not shortened, of which the checker would not know. */
#define CLOCK_BACK_NS_MAX (INT64_C(40) * SECOND_NS)
/* Activities until a burst yields, where there are loops: soon, or long after a cancellation must
 * have reached it. */
#define YIELDS_SOON 40u
#define YIELDS_LATE 1000u

uint32_t pawl__cluster_features(uint64_t seed)
{
    /* One in so many seeds has it. */
    static const struct {
        uint32_t feature;
        uint32_t one_in;
    } all[] = {{PAWL_CLUSTER_OUTAGES, 2},    {PAWL_CLUSTER_FORGETS, 3}, {PAWL_CLUSTER_FAILOVERS, 4},
               {PAWL_CLUSTER_HALF_SENT, 4},  {PAWL_CLUSTER_LOADS, 4},   {PAWL_CLUSTER_OPERATOR, 3},
               {PAWL_CLUSTER_STARTS, 4},     {PAWL_CLUSTER_LOOPS, 12},  {PAWL_CLUSTER_PARKED, 12},
               {PAWL_CLUSTER_NAMESAKES, 10}, {PAWL_CLUSTER_SENDER, 6}};
    struct chance chance = {seed ^ UINT64_C(0x1D872B41A5)};
    uint32_t features = 0;

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (pawl__sim_lot(&chance, all[i].one_in) == 0)
            features |= all[i].feature;
    return features;
}

void pawl__cluster_fail(struct cluster *cluster, int status, const struct pawl_error *err)
{
    if (cluster->status != PAWL_OK)
        return;
    cluster->status = status;
    cluster->err = *err;
    if (err->code == PAWL_OK)
        (void)pawl__error_code(&cluster->err, status);
}

static int64_t now_ns(struct cluster *cluster)
{
    return pawl_env_monotonic_ns(cluster->server);
}

bool pawl__cluster_is_quiet(struct cluster *cluster)
{
    return now_ns(cluster) >= cluster->quiet_ns;
}

static int nap(struct cluster *cluster, int64_t most_ns)
{
    return pawl_env_sleep_until(cluster->server,
                                now_ns(cluster) +
                                    (int64_t)pawl__sim_lot(&cluster->chance, (uint64_t)most_ns));
}

/* ---- supervisors ------------------------------------------------------------------------- */

static void trouble(struct cluster_node *node)
{
    struct cluster *cluster = node->cluster;

    if (pawl__sim_happens(&cluster->chance, PAUSES)) {
        int64_t pause_ns = CLUSTER_LEASE_NS / 4 +
                           (int64_t)pawl__sim_lot(&cluster->chance, CLUSTER_LEASE_NS * 9 / 4);

        node->paused_until_ns = now_ns(cluster) + pause_ns;
        pawl__cluster_trouble(node, node->paused_until_ns);
        cluster->report->pauses++;
        pawl__cluster_say(&cluster->checker, node->name, "stands still for %lld ms",
                          (long long)(pause_ns / MS_NS));
    }
    if (pawl__sim_happens(&cluster->chance, SHIFTS)) {
        int64_t hours = (int64_t)pawl__sim_lot(&cluster->chance, 49) - 24;

        node->env.wall_shift_ns = hours * 3600 * SECOND_NS;
        cluster->report->shifts++;
        pawl__cluster_say(&cluster->checker, node->name, "has its clock off by %lld h",
                          (long long)hours);
    }
}

/* The lock service as a whole. */
static void trouble_locks(struct cluster *cluster)
{
    if (!cluster->options.distributed || !pawl__sim_happens(&cluster->chance, OUTAGES))
        return;
    cluster->locks_away_ns =
        now_ns(cluster) + (int64_t)pawl__sim_lot(&cluster->chance, 2 * CLUSTER_LEASE_NS);
    cluster->report->lock_outages++;
    pawl__cluster_say(&cluster->checker, "locks", "are out of reach for %lld ms",
                      (long long)((cluster->locks_away_ns - now_ns(cluster)) / MS_NS));
}

/* Whoever is connected to the server hears of it. */
static void mark_troubled(struct cluster *cluster, int64_t until_ns)
{
    for (uint32_t i = 0; i < cluster->options.nodes; i++)
        pawl__cluster_trouble(&cluster->nodes[i], until_ns);
}

/* The server as a whole. */
static void trouble_server(struct cluster *cluster)
{
    struct chance *chance = &cluster->chance;
    struct server_health *health = &cluster->health;

    if ((cluster->features & PAWL_CLUSTER_FORGETS) && pawl__sim_happens(chance, SERVER_CRASHES)) {
        health->crashes++;
        health->away_until_ns = now_ns(cluster) + (int64_t)pawl__sim_lot(chance, 2 * SECOND_NS);
        if (health->away_until_ns > cluster->quiet_ns)
            health->away_until_ns = cluster->quiet_ns;
        mark_troubled(cluster, health->away_until_ns);
        cluster->report->server_crashes++;
        pawl__cluster_say(&cluster->checker, "server", "crashes");
        (void)!pawl__ledger_crash(cluster->ledger, cluster->database,
                                  (uint32_t)pawl__sim_lot(chance, 4));
    }
    if ((cluster->features & PAWL_CLUSTER_FAILOVERS) && pawl__sim_happens(chance, FAILOVERS)) {
        health->crashes++;
        health->read_only_until_ns =
            now_ns(cluster) + SECOND_NS + (int64_t)pawl__sim_lot(chance, 2 * CLUSTER_LEASE_NS);
        if (health->read_only_until_ns > cluster->quiet_ns)
            health->read_only_until_ns = cluster->quiet_ns;
        mark_troubled(cluster, health->read_only_until_ns);
        cluster->report->failovers++;
        pawl__cluster_say(&cluster->checker, "server", "fails over and is read-only for %lld ms",
                          (long long)((health->read_only_until_ns - now_ns(cluster)) / MS_NS));
    }
    if ((cluster->features & PAWL_CLUSTER_CLOCK) && pawl__sim_happens(chance, CLOCK_STEPS)) {
        int64_t left_ns = CLOCK_BACK_NS_MAX + cluster->clock.wall_shift_ns;
        int64_t back_ns = (int64_t)pawl__sim_lot(chance, (uint64_t)left_ns + 1);

        cluster->clock.wall_shift_ns -= back_ns;
        cluster->report->shifts++;
        pawl__cluster_say(&cluster->checker, "server", "has its clock set back by %lld ms",
                          (long long)(back_ns / MS_NS));
    }
    if ((cluster->features & PAWL_CLUSTER_STARTS) && pawl__sim_happens(chance, START_FAILURES)) {
        cluster->starts_fail_until_ns =
            now_ns(cluster) + 60 * SECOND_NS + (int64_t)pawl__sim_lot(chance, 20 * SECOND_NS);
        pawl__cluster_say(&cluster->checker, "server", "lets no start of cron succeed for a while");
    }
}

/* From boot to the end that is decided for it; one that the quiet finds alive stays. */
static void watch_over(struct cluster_node *node)
{
    struct cluster *cluster = node->cluster;
    int64_t end_ns = now_ns(cluster) + 5 * SECOND_NS +
                     (int64_t)pawl__sim_lot(&cluster->chance, (uint64_t)(60 * SECOND_NS));

    if (cluster->options.calm)
        end_ns = INT64_MAX;
    while (!cluster->over && node->is_up && now_ns(cluster) < end_ns &&
           nap(cluster, 2 * SECOND_NS) == PAWL_OK) {
        if (pawl__cluster_is_quiet(cluster))
            end_ns = INT64_MAX;
        else if (!cluster->options.calm) {
            trouble(node);
            trouble_locks(cluster);
            trouble_server(cluster);
        }
    }
    if (!node->is_up || cluster->over)
        return;
    if (pawl__sim_lot(&cluster->chance, 2) == 0) {
        pawl__cluster_node_crash(node);
    } else {
        cluster->report->drains++;
        pawl__cluster_say(&cluster->checker, node->name, "is drained");
    }
}

static void run_supervisor(void *arg)
{
    struct cluster_node *node = arg;
    struct cluster *cluster = node->cluster;
    int stopped = PAWL_OK;

    while (!cluster->over && stopped == PAWL_OK && cluster->status == PAWL_OK) {
        struct pawl_error err = PAWL_ERROR_INIT;
        int status = pawl__cluster_node_start(node, &err);

        if (status == PAWL_OK)
            watch_over(node);
        else if (status == PAWL_ENOMEM || status == PAWL_EINVAL)
            pawl__cluster_fail(cluster, status, &err);
        if (status != PAWL_OK && node->baton_env)
            pawl__baton_env_stop(node->baton_env);
        pawl__cluster_node_end(node);
        if (!cluster->over) /* or the baton has stopped all */
            stopped = nap(cluster, pawl__cluster_is_quiet(cluster) ? SECOND_NS : 12 * SECOND_NS);
    }
}

/* ---- the referee ------------------------------------------------------------------------- */

static int look(struct cluster *cluster, struct pawl_error *err)
{
    return pawl__cluster_look(&cluster->checker, cluster->window, err);
}

/* Waits until there is nothing left to do, beside loops that run; or after their end. */
static int settle(struct cluster *cluster, bool loops_run, struct pawl_error *err)
{
    int64_t deadline_ns = (loops_run ? cluster->quiet_ns : now_ns(cluster)) + CLUSTER_SETTLE_NS;
    bool settled = false;
    char why[CLUSTER_WHY_BYTES] = "";
    int status = PAWL_OK;

    while (status == PAWL_OK && !settled && now_ns(cluster) < deadline_ns &&
           cluster->checker.status == PAWL_OK) {
        status = pawl_env_sleep_until(cluster->server, now_ns(cluster) + LOOK_NS);
        if (status == PAWL_OK)
            status = look(cluster, err);
        if (status == PAWL_OK)
            status = pawl__cluster_retry_set_aside(cluster);
        if (status == PAWL_OK)
            status = pawl__cluster_settled(&cluster->checker, cluster->window, loops_run, why,
                                           &settled, err);
    }
    if (status == PAWL_OK && !settled)
        pawl__cluster_violation(&cluster->checker, "long after the faults %s", why);
    return status;
}

/* A node without faults publishes what there is, and leaves. */
static int publish(struct cluster *cluster, struct pawl_error *err)
{
    const struct pawl_runtime_options options = {.node_id = pawl__str("setup"),
                                                 .lease_us = CLUSTER_LEASE_NS / 1000};
    struct pawl_runtime *runtime = NULL;
    int status = pawl__runtime_open(cluster->server, &cluster->engine, cluster->ledger, &options,
                                    &runtime, err);

    if (status == PAWL_OK)
        status = pawl__flows_publish(runtime, cluster->server, err);
    pawl__runtime_close(runtime);
    return status;
}

/* Starts all that act; how many of each is answered, also when one could not be started. */
struct cast {
    struct pawl_thread *supervisors[PAWL_CLUSTER_NODES_MAX];
    struct pawl_thread *clients[CLUSTER_CLIENTS];
    struct pawl_thread *person; /* the operator; NULL: none */
    uint32_t supervisor_count;
    uint32_t client_count;
};

static int start_all(struct cluster *cluster, struct cast *cast, struct pawl_error *err)
{
    int status = PAWL_OK;

    while (cast->supervisor_count < cluster->options.nodes && status == PAWL_OK) {
        uint32_t i = cast->supervisor_count;

        status = pawl_thread_start(cluster->server, "supervisor", run_supervisor,
                                   &cluster->nodes[i], &cast->supervisors[i], err);
        cast->supervisor_count += status == PAWL_OK;
    }
    while (cast->client_count < CLUSTER_CLIENTS && status == PAWL_OK) {
        uint32_t i = cast->client_count;

        status = pawl_thread_start(cluster->users, "client", pawl__cluster_client_run,
                                   &cluster->clients[i], &cast->clients[i], err);
        cast->client_count += status == PAWL_OK;
    }
    if (status == PAWL_OK && (cluster->features & PAWL_CLUSTER_OPERATOR))
        status = pawl_thread_start(cluster->users, "operator", pawl__cluster_operator_run, cluster,
                                   &cast->person, err);
    return status;
}

/* A node that is up works: its lease lives, or will soon. */
static bool is_at_work(const struct cluster *cluster, const struct cluster_node *node)
{
    return !node->is_up ||
           pawl__cluster_lives(&cluster->checker, pawl__runtime_incarnation(node->runtime));
}

static void check_nodes(struct cluster *cluster)
{
    int64_t deadline_ns = now_ns(cluster) + NODES_NS_MAX;

    for (uint32_t i = 0; i < cluster->options.nodes; i++) {
        const struct cluster_node *node = &cluster->nodes[i];
        int status = PAWL_OK;

        while (status == PAWL_OK && !is_at_work(cluster, node) && now_ns(cluster) < deadline_ns)
            status = pawl_env_sleep_until(cluster->server, now_ns(cluster) + SECOND_NS);
        if (!is_at_work(cluster, node))
            pawl__cluster_violation(&cluster->checker,
                                    "%s is up and has no lease long after the faults: nobody "
                                    "knows, and it works for nobody",
                                    node->name);
    }
}

static int play(struct cluster *cluster, struct pawl_error *err)
{
    struct cast cast = {0};
    int status = start_all(cluster, &cast, err);

    while (status == PAWL_OK && !pawl__cluster_is_quiet(cluster) && cluster->status == PAWL_OK) {
        status = pawl_env_sleep_until(cluster->server, now_ns(cluster) + LOOK_NS);
        if (status == PAWL_OK)
            status = look(cluster, err);
    }
    cluster->over = status != PAWL_OK || cluster->status != PAWL_OK;
    for (uint32_t i = 0; i < cast.client_count; i++)
        pawl_thread_join(cluster->users, cast.clients[i]);
    if (cast.person)
        pawl_thread_join(cluster->users, cast.person);
    if (!cluster->over)
        status = settle(cluster, true, err);
    if (!cluster->over && status == PAWL_OK && (cluster->features & PAWL_CLUSTER_LOOPS)) {
        status = pawl__cluster_cancel_loops(cluster);
        if (status == PAWL_OK)
            status = settle(cluster, false, err);
    }
    if (!cluster->over && status == PAWL_OK)
        check_nodes(cluster);
    cluster->over = true;
    for (uint32_t i = 0; i < cast.supervisor_count; i++)
        pawl_thread_join(cluster->server, cast.supervisors[i]);
    /* Nobody writes any more. */
    if (status == PAWL_OK && cluster->status == PAWL_OK)
        status = pawl__cluster_account(&cluster->checker, cluster->window, err);
    return status == PAWL_OK ? cluster->checker.status : status;
}

static void run_referee(void *arg)
{
    struct cluster *cluster = arg;
    struct pawl_error err = PAWL_ERROR_INIT;
    int status = publish(cluster, &err);

    if (status == PAWL_OK)
        status = play(cluster, &err);
    if (status != PAWL_OK && status != PAWL_ESTOPPED)
        pawl__cluster_fail(cluster, status, &err);
}

/* ---- beginning and end ------------------------------------------------------------------- */

static int complete(const struct pawl_cluster_options *options, struct pawl_cluster_options *all,
                    struct pawl_error *err)
{
    *all = *options;
    if (all->nodes == 0)
        all->nodes = all->seed % 3 == 2 ? 3 : 2;
    if (all->seconds == 0)
        all->seconds = SECONDS_DEFAULT;
    if (all->steps_max == 0)
        all->steps_max = STEPS_DEFAULT;
    if (all->features == 0 && !all->calm)
        all->features = pawl__cluster_features(all->seed);
    if (!all->engine)
        return pawl__error_set(err, PAWL_EINVAL, "a simulated cluster needs an engine");
    if (all->nodes > PAWL_CLUSTER_NODES_MAX || all->seconds > SECONDS_MAX)
        return pawl__error_set(err, PAWL_EINVAL,
                               "a simulated cluster has at most %d nodes and %d seconds",
                               PAWL_CLUSTER_NODES_MAX, SECONDS_MAX);
    return PAWL_OK;
}

static int build_server(struct cluster *cluster, struct pawl_error *err)
{
    const struct ledger_hooks hooks = pawl__cluster_checker_hooks(&cluster->checker);
    enum pawl_cluster_bug bug = cluster->options.bug;
    int status = pawl__memory_database_new(&cluster->clock.base, &cluster->database, err);

    if (status == PAWL_OK)
        status = pawl__lock_space_new(cluster->server, &cluster->space, err);
    if (status == PAWL_OK) {
        pawl__memory_database_set_forgetful(cluster->database);
        status = pawl__memory_store_open(cluster->database, cluster->server, &cluster->window, err);
    }
    if (status == PAWL_OK)
        status = pawl__memory_store_open(cluster->database, cluster->server, &cluster->ledger, err);
    if (status == PAWL_OK && (bug == PAWL_CLUSTER_BUG_TWICE || bug == PAWL_CLUSTER_BUG_AGE))
        status = pawl__cluster_buggy_store_new(cluster->server, cluster->ledger, bug,
                                               &cluster->ledger, err);
    if (status == PAWL_OK)
        status =
            pawl__ledger_store_new(cluster->server, cluster->ledger, &hooks, &cluster->ledger, err);
    return status;
}

static void name_all(struct cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->options.nodes; i++) {
        cluster->nodes[i].cluster = cluster;
        cluster->nodes[i].number = i;
        (void)snprintf(cluster->nodes[i].name, sizeof cluster->nodes[i].name, "node-%c",
                       (char)(cluster->features & PAWL_CLUSTER_NAMESAKES && i < 2 ? 'a' : 'a' + i));
    }
    for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++)
        cluster->clients[i] = (struct cluster_client){.cluster = cluster, .number = i};
}

/* One violation is enough: what follows from it would only be more of the same. */
static void look_at_nodes(void *ctx)
{
    struct cluster *cluster = ctx;

    for (uint32_t i = 0; i < cluster->options.nodes && cluster->report->violations == 0; i++)
        pawl__cluster_node_check(&cluster->nodes[i]);
}

/* Where it is looked at what nodes do in time, threads do not stand still by chance. */
static bool has_pauses(const struct pawl_cluster_options *options)
{
    return !options->calm && options->seed % 4 != 0 &&
           !(options->features & (PAWL_CLUSTER_HALF_SENT | PAWL_CLUSTER_LOOPS));
}

static int build(struct cluster *cluster, struct pawl_error *err)
{
    const struct pawl_baton_options options = {
        .max_steps = cluster->options.steps_max,
        .trace_bytes = 4096,
        .pause_ppm = has_pauses(&cluster->options) ? BATON_PAUSE_PPM : 0,
        .pause_ns_max = 2 * CLUSTER_LEASE_NS,
        .look = look_at_nodes,
        .look_ctx = cluster,
    };
    int status = pawl__baton_new(cluster->alloc, cluster->options.seed, &options, &cluster->baton);

    if (status == PAWL_OK)
        status = pawl__baton_env(cluster->baton, "server", &cluster->server);
    if (status == PAWL_OK)
        status = pawl__baton_env(cluster->baton, "users", &cluster->users);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    pawl__shifted_env_init(&cluster->clock, cluster->server);
    pawl__cluster_checker_init(&cluster->checker, &cluster->clock.base, &cluster->options,
                               cluster->report);
    cluster->checker.cluster = cluster;
    cluster->features = cluster->options.features;
    cluster->engine = *cluster->options.engine;
    if (cluster->features & PAWL_CLUSTER_LOOPS)
        cluster->engine.yield_after = cluster->options.seed % 2 ? YIELDS_SOON : YIELDS_LATE;
    cluster->stalls_are_told = !has_pauses(&cluster->options);
    if (cluster->options.bug == PAWL_CLUSTER_BUG_NEVER_YIELDS)
        cluster->engine.yield_after = UINT32_MAX;
    cluster->health.read_only_code =
        cluster->options.bug == PAWL_CLUSTER_BUG_READ_ONLY ? PAWL_ECONFLICT : PAWL_EUNAVAILABLE;
    cluster->chance.state = cluster->options.seed ^ UINT64_C(0x2545F4914F6CDD1D);
    cluster->quiet_ns = now_ns(cluster) + (int64_t)cluster->options.seconds * SECOND_NS;
    name_all(cluster);
    return build_server(cluster, err);
}

static void tear_down(struct cluster *cluster)
{
    pawl_store_close(cluster->window);
    pawl_store_close(cluster->ledger);
    pawl__lock_space_free(cluster->space);
    pawl__memory_database_free(cluster->database);
    if (cluster->checker.env)
        pawl__cluster_checker_release(&cluster->checker);
    pawl__baton_free(cluster->baton);
}

static int run(struct cluster *cluster, struct pawl_error *err)
{
    struct pawl_thread *referee;
    int status = pawl_thread_start(cluster->server, "referee", run_referee, cluster, &referee, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__baton_run(cluster->baton, err);
    pawl_thread_join(cluster->server, referee);
    cluster->report->step_count = pawl__baton_step_count(cluster->baton);
    cluster->report->trace_hash = pawl__baton_trace_hash(cluster->baton);
    if (status == PAWL_OK && cluster->status != PAWL_OK)
        status = pawl__error_set(err, cluster->status, "%s", cluster->err.msg);
    if (cluster->report->violations > 0)
        status =
            pawl__error_set(err, PAWL_ECORRUPT, "seed %llu: %s (%llu findings)",
                            (unsigned long long)cluster->options.seed, cluster->report->violation,
                            (unsigned long long)cluster->report->violations);
    return status;
}

int pawl__cluster_run(const struct pawl_allocator *alloc,
                      const struct pawl_cluster_options *options,
                      struct pawl_cluster_report *report, struct pawl_error *err)
{
    struct cluster *cluster = pawl__alloc_zeroed(alloc, sizeof *cluster);
    int status;

    if (!cluster)
        return pawl__error_code(err, PAWL_ENOMEM);
    *report = (struct pawl_cluster_report){0};
    cluster->alloc = alloc;
    cluster->report = report;
    status = complete(options, &cluster->options, err);
    if (status == PAWL_OK)
        status = build(cluster, err);
    if (status == PAWL_OK)
        status = run(cluster, err);
    tear_down(cluster);
    pawl__free(alloc, cluster, sizeof *cluster);
    return status;
}
