/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores and commits against their floors: what the database alone does, what goes through
 * committer and store, and what whole workflows cost, on SQLite and on a PostgreSQL server that
 * this program starts. Everything is measured in turn, in several short rounds, and the best round
 * counts: the one in which others disturbed the least.
 *
 * A single client sleeps through every sync, and on a busy machine wakes up late: its rate falls
 * far more than that of many who share syncs, and a ratio to it flatters. So there are two. "most"
 * is the ratio to the rate that the single client had; "least" that to the rate it would have had
 * if all its commits had been as quick as the quickest tenth, while what is compared with it had to
 * do with what the machine left. On a quiet machine they meet.
 *
 * With BENCH_RESULTS in the environment the figures of a whole run are written there as JSON.
 *
 *     bench-store                          all, short
 *     bench-store SECONDS [ROUNDS]         all, SECONDS for each figure
 *     bench-store SECONDS ROUNDS sqlite    one store; "postgres"; behind it, how many committers
 *     bench-store must [SECONDS [ROUNDS]]  what commits and resumes must show, as one table
 *     bench-store SECONDS WORKLOAD THREADS [URI [COMMITTERS]]
 *                                          w1, w1s, w2 or w3 and nothing else, for profilers: on
 *                                          SQLite, or in an empty PostgreSQL database that is
 * there. SECONDS below 0: so many on each thread
 */
#include "drivers/sqlite.h"
#include "floor.h"
#include "results.h"
#include "servers/postgres.h"
#include "stores/stores.h"
#include "workloads.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_DEFAULT 0.2
#define ROUNDS_DEFAULT 7u
#define ROUNDS_MAX 31u
/* A thousand events each: more rounds would take the whole time. */
#define ROUNDS_FAN_IN 3u
/* Of a worker on SQLite that has nothing to do. */
#define IDLE_KB_MAX (8.0 * 1024)
#define READY_MS_MAX 50.0

enum kind { FLOOR, COMMITS, W1, W1S, W2, W3 };

struct measure {
    enum kind kind;
    const char *name;
    unsigned threads;
    unsigned batch;   /* FLOOR */
    double ratio_min; /* to the first floor, what is aimed at; 0: nothing */
};

/* Of one measure, by round. */
struct figures {
    unsigned rounds;
    double rates[ROUNDS_MAX], quick[ROUNDS_MAX], p50s[ROUNDS_MAX], p99s[ROUNDS_MAX];
    double cpus[ROUNDS_MAX], syncs[ROUNDS_MAX], folded[ROUNDS_MAX], trips[ROUNDS_MAX];
};

struct bed {
    const char *name;
    struct pawl_env *env;
    struct bench_folder folder;
    struct test_postgres server;
    struct floor_sqlite *sqlite;
    struct floor_postgres *postgres;
    struct bench_node node;
    bool is_server;
    char uri[256]; /* of the store: a path or a URI */
    uint32_t committers;
};

/* ---- beds ---------------------------------------------------------------------------------- */

static struct pawl_store *open_store(struct bed *bed)
{
    const struct pawl_store_options options = {.flags = PAWL_STORE_OPEN_CREATE};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_store *store = NULL;

    if (bed->is_server)
        bench_need(pawl__postgres_store_open(bed->env, pawl__str(bed->uri), &options, &store, &err),
                   &err, bed->uri);
    else
        bench_need(pawl__sqlite_store_open(bed->env, pawl__str(bed->uri), &options, &store, &err),
                   &err, bed->uri);
    return store;
}

/*
 * A new server makes each file of its log when it comes to it, and nothing commits for the 10 ms
 * that takes; one that has been in use writes over old files. This makes so many, and a checkpoint,
 * after which they are old.
 */
static void fill_log(struct test_postgres *server)
{
    test_postgres_sql(server, "SELECT count(pg_logical_emit_message(false, 'bench', "
                              "repeat('x', 16000000))) FROM generate_series(1, 32)");
    test_postgres_sql(server, "CHECKPOINT");
}

static void bed_open(struct bed *bed, struct pawl_env *env, bool postgres, uint32_t committers)
{
    char path[300];

    *bed = (struct bed){.name = postgres ? "PostgreSQL" : "SQLite", .env = env};
    bed->committers = committers;
    bed->is_server = postgres;
    bench_folder_make(&bed->folder);
    if (postgres) {
        test_postgres_start(&bed->server, NULL);
        fill_log(&bed->server);
        (void)test_postgres_uri(&bed->server, "postgres", bed->uri, sizeof bed->uri);
        bed->postgres = floor_postgres_open(bed->uri, BENCH_THREADS_MAX);
    } else {
        (void)snprintf(path, sizeof path, "%s/floor.db", bed->folder.path);
        bed->sqlite = floor_sqlite_open(path);
        if (snprintf(bed->uri, sizeof bed->uri, "%s/pawl.db", bed->folder.path) >=
            (int)sizeof bed->uri)
            bench_fail(bed->folder.path, "too long");
    }
    bench_node_open(&bed->node, env, open_store(bed), bed->committers);
    workloads_publish(&bed->node);
}

static void bed_close(struct bed *bed)
{
    bench_node_close(&bed->node);
    if (bed->sqlite)
        floor_sqlite_close(bed->sqlite);
    if (bed->postgres)
        floor_postgres_close(bed->postgres);
    test_postgres_stop(&bed->server);
    bench_folder_remove(&bed->folder);
}

/* ---- measuring ----------------------------------------------------------------------------- */

static void measure_one(struct bed *bed, const struct measure *m, double seconds,
                        struct bench_rate *rate, struct workload_cost *cost)
{
    *cost = (struct workload_cost){0};
    *rate = (struct bench_rate){0};
    switch (m->kind) {
    case FLOOR:
        if (bed->sqlite)
            floor_sqlite_measure(bed->sqlite, bed->env, m->batch, seconds, rate);
        else
            floor_postgres_measure(bed->postgres, bed->env, m->threads, m->batch, seconds, rate);
        break;
    case COMMITS:
        workload_commits(&bed->node, m->threads, bed->committers, seconds, rate, cost);
        break;
    case W1:
        workload_start(&bed->node, "w1", m->threads, seconds, rate, cost);
        break;
    case W1S:
        workload_start(&bed->node, "w1s", m->threads, seconds, rate, cost);
        break;
    case W2:
        workload_signal(&bed->node, m->threads, seconds, rate, cost);
        break;
    case W3:
        workload_fan_in(&bed->node, m->threads, rate, cost);
        break;
    }
}

static void measure_round(struct bed *bed, const struct measure *all, size_t count, double seconds,
                          unsigned round, struct figures *figures)
{
    double alone = 0; /* commits per repetition */

    for (size_t i = 0; i < count; i++) {
        struct figures *f = &figures[i];
        struct workload_cost cost;
        struct bench_rate rate;

        if (all[i].kind == W3 && round >= ROUNDS_FAN_IN)
            continue;
        measure_one(bed, &all[i], seconds, &rate, &cost);
        f->rounds = round + 1;
        if (all[i].kind == FLOOR)
            rate.per_second *= all[i].batch; /* rows */
        f->rates[round] = rate.per_second;
        f->quick[round] = rate.p10_us > 0 ? 1e6 / rate.p10_us : 0;
        f->p50s[round] = rate.p50_us;
        f->p99s[round] = rate.p99_us;
        f->cpus[round] = rate.cpu_us;
        f->syncs[round] = cost.syncs;
        /* A repetition makes as many commits on one thread, which has nobody to share with. */
        if (all[i].threads == 1)
            alone = cost.syncs;
        f->folded[round] = cost.syncs > 0 ? alone / cost.syncs : 0;
        f->trips[round] = cost.round_trips;
    }
}

/* Shown by both ratios, or by neither, or nothing can be said on a machine as busy as this one. */
static const char *verdict(double least, double most, double wanted)
{
    return least >= wanted ? "met" : most < wanted ? "MISSED" : "open";
}

/* false: missed. */
static bool show_one(const struct measure *m, struct figures *f, const struct figures *floor)
{
    unsigned rounds = f->rounds;
    double best = bench_best(f->rates, rounds);
    double a = best / bench_best(floor->quick, floor->rounds);
    double b = best / bench_best(floor->rates, floor->rounds);
    double least = a < b ? a : b, most = a < b ? b : a;

    (void)printf("%-25s %6.2f %6.2f %7.0f %7.0f %7.0f %7.0f %6.0f %6.2f %6.1f %6.2f", m->name,
                 least, most, best, bench_median(f->rates, rounds), bench_median(f->p50s, rounds),
                 bench_median(f->p99s, rounds), bench_median(f->cpus, rounds),
                 bench_median(f->syncs, rounds), bench_median(f->folded, rounds),
                 bench_median(f->trips, rounds));
    if (m->ratio_min > 0)
        (void)printf("  >= %.0f %s", m->ratio_min, verdict(least, most, m->ratio_min));
    (void)printf("\n");
    return most >= m->ratio_min;
}

static bool show(const char *store, const struct measure *all, size_t count,
                 struct figures *figures)
{
    bool met = true;

    (void)printf("\n%-25s %6s %6s %7s %7s %7s %7s %6s %6s %6s %6s  %s\n", store, "least", "most",
                 "per s", "middle", "p50 us", "p99 us", "cpu us", "syncs", "folded", "trips",
                 "aim");
    for (size_t i = 0; i < count; i++)
        met &= show_one(&all[i], &figures[i], &figures[0]);
    return met;
}

/* The middle of the rounds, of both. */
static void keep(const struct measure *all, size_t count, struct figures *figures, bool postgres,
                 struct results *results)
{
    double floor = bench_median(figures[0].rates, figures[0].rounds);

    for (size_t i = 0; i < count; i++) {
        struct figures *f = &figures[i];
        int level = results_level(all[i].threads);

        if (all[i].kind < W1 || level < 0)
            continue;
        results->of[all[i].kind - W1][postgres][level] =
            (struct result){.per_s = bench_median(f->rates, f->rounds),
                            .floor_per_s = floor,
                            .p50_us = bench_median(f->p50s, f->rounds),
                            .p99_us = bench_median(f->p99s, f->rounds)};
    }
}

/* ---- W4 ------------------------------------------------------------------------------------ */

static bool run_footprint(struct bed *bed, struct footprint *out)
{
    char uri[300];
    bool small, ready;

    (void)snprintf(uri, sizeof uri, "%s%s", bed->is_server ? "" : "sqlite:", bed->uri);
    footprint_measure(&bed->node, uri, out);
    small = bed->is_server || out->idle_rss_kb <= IDLE_KB_MAX;
    ready = out->ready_ms <= READY_MS_MAX;
    (void)printf("\n%s, W4: a worker has %.0f KB when idle", bed->name, out->idle_rss_kb);
    if (!bed->is_server)
        (void)printf(" (<= %.0f %s)", IDLE_KB_MAX, small ? "met" : "MISSED");
    (void)printf(", %.0f KB after it has started %u that wait; ready in %.1f ms (<= %.0f %s)\n",
                 out->suspended_rss_kb, FOOTPRINT_INSTANCES, out->ready_ms, READY_MS_MAX,
                 ready ? "met" : "MISSED");
    return small && ready;
}

/* ---- round trips --------------------------------------------------------------------------- */

/* Of W2, one thread, by call. */
static void show_round_trips(struct bed *bed)
{
    struct bed traced = *bed;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_store_counts counts;
    struct pawl_store *store = open_store(bed);
    struct workload_cost cost;
    struct bench_rate rate;

    bench_need(pawl__trace_store_new(bed->env, store, &store, &err), &err, "trace");
    bench_node_open(&traced.node, bed->env, store, 1);
    workload_signal_alone(&traced.node, 0.05, &rate, &cost); /* connections, statements */
    pawl__trace_store_reset(store);
    workload_signal_alone(&traced.node, 0.3, &rate, &cost);
    pawl__trace_store_counts(store, &counts);
    (void)printf("\n%s, W2 on one thread, per cycle: call x round trips of one\n ", bed->name);
    for (int call = 0; call < PAWL_STORE_CALL_COUNT; call++)
        if (counts.calls[call] > 0)
            (void)printf(" %s %.2f x %.2f;", pawl__store_call_name((enum pawl_store_call)call),
                         (double)counts.calls[call] / (double)rate.count,
                         (double)counts.round_trips[call] / (double)counts.calls[call]);
    (void)printf("\n  per commit %.2f, per claim %.2f\n",
                 (double)counts.round_trips[PAWL_STORE_CALL_APPLY] / (double)counts.commits,
                 (double)counts.round_trips[PAWL_STORE_CALL_CLAIM] / (double)counts.claims);
    bench_node_close(&traced.node);
}

/* ---- the whole ----------------------------------------------------------------------------- */

#define SAME                                                                                       \
    {COMMITS, "commits, 1 thread", 1, 0, 0}, {COMMITS, "commits, 16 threads", 16, 0, 0},           \
        {COMMITS, "commits, 64 threads", 64, 0, 0}, {W1, "W1, 1 thread", 1, 0, 0},                 \
    {                                                                                              \
        W1, "W1, 16 threads", 16, 0, 0                                                             \
    }
#define REST                                                                                       \
    {W1S, "W1s, 1 thread", 1, 0, 0}, {W1S, "W1s, 16 threads", 16, 0, 0},                           \
        {W1S, "W1s, 64 threads", 64, 0, 0}, {W2, "W2, 1 thread", 1, 0, 0},                         \
        {W2, "W2, 16 threads", 16, 0, 0}, {W2, "W2, 64 threads", 64, 0, 0},                        \
        {W3, "W3, 1 sender", 1, 0, 0}, {W3, "W3, 16 senders", 16, 0, 0},                           \
    {                                                                                              \
        W3, "W3, 64 senders", 64, 0, 0                                                             \
    }

static bool run_bed(struct pawl_env *env, bool postgres, double seconds, unsigned rounds,
                    uint32_t committers, struct results *results)
{
    static const struct measure sqlite[] = {
        {FLOOR, "floor: rows, one by one", 1, 1, 0},
        {FLOOR, "floor: rows, 64 a commit", 1, 64, 0},
        SAME,
        {W1, "W1, 64 threads", 64, 0, 4},
        REST,
    };
    static const struct measure server[] = {
        {FLOOR, "floor: rows, 1 client", 1, 1, 0},
        {FLOOR, "floor: rows, 16 clients", 16, 1, 0},
        {FLOOR, "floor: rows, 64 clients", 64, 1, 0},
        {FLOOR, "floor: rows, 64 a commit", 1, 64, 0},
        SAME,
        {W1, "W1, 64 threads", 64, 0, 3},
        REST,
    };
    const struct measure *all = postgres ? server : sqlite;
    size_t count = (postgres ? sizeof server : sizeof sqlite) / sizeof *all;
    struct figures *figures = calloc(count, sizeof *figures);
    struct bed bed;
    bool met;

    if (!figures)
        bench_fail("figures", "no memory");
    bed_open(&bed, env, postgres, committers);
    for (unsigned round = 0; round < rounds; round++)
        measure_round(&bed, all, count, seconds, round, figures);
    met = show(bed.name, all, count, figures);
    keep(all, count, figures, postgres, results);
    if (postgres)
        show_round_trips(&bed);
    met &= run_footprint(&bed, &results->footprint[postgres]);
    bed_close(&bed);
    free(figures);
    return met;
}

/* ---- what must be shown -------------------------------------------------------------------- */

#define MUST_SECONDS 0.5
#define MUST_ROUNDS 7u

static const struct measure musts[] = {
    {FLOOR, "floor", 1, 1, 0},     {W1, "W1 at 64", 64, 0, 0}, {W1S, "W1s at 64", 64, 0, 0},
    {W2, "W2 at 64", 64, 0, 0},    {W3, "W3 at 64", 64, 0, 0}, {W2, "W2, light load", 1, 0, 0},
    {COMMITS, "commits", 1, 0, 0},
};
enum { M_FLOOR, M_W1, M_W1S, M_W2, M_W3, M_LIGHT, M_COMMIT, M_COUNT };

/* Below or above what is wanted; of two ratios, as in show_one(). */
static void must_ratio(const char *name, const struct figures *f, const struct figures *floor,
                       double wanted)
{
    double best = bench_best(f->rates, f->rounds);
    double a = best / bench_best(floor->quick, floor->rounds);
    double b = best / bench_best(floor->rates, floor->rounds);
    double least = a < b ? a : b, most = a < b ? b : a;

    (void)printf("  %-46s %7.2f to %7.2f   >= %-6.1f %s\n", name, least, most, wanted,
                 verdict(least, most, wanted));
}

static void must_most(const char *name, double value, double wanted)
{
    (void)printf("  %-46s %18.2f   <= %-6.1f %s\n", name, value, wanted,
                 value <= wanted ? "met" : "MISSED");
}

static void must_show(const char *store, bool postgres, struct figures *f)
{
    static const double wanted[2][M_COUNT] = {{0, 4, 0.8, 1, 0.6}, {0, 3, 0.5, 0.6, 0.5}};
    struct figures *light = &f[M_LIGHT], *floor = &f[M_FLOOR], *commit = &f[M_COMMIT];
    double row_us = bench_median(floor->p50s, floor->rounds);
    double commit_us = bench_median(commit->p50s, commit->rounds);
    double resume_us = bench_median(light->p50s, light->rounds);

    (void)printf("\n%s: single rows, one by one: %.0f per second, %.0f us each; one commit of an "
                 "instance with 1 KB: %.0f us\n",
                 store, bench_best(floor->rates, floor->rounds), row_us, commit_us);
    for (int i = M_W1; i <= M_W3; i++)
        must_ratio(musts[i].name, &f[i], floor, wanted[postgres][i]);
    must_most("resume at light load over one commit, p50", resume_us / commit_us, 1.6);
    must_most("the same, p99 over p99",
              bench_median(light->p99s, light->rounds) / bench_median(commit->p99s, commit->rounds),
              4);
    (void)printf("  %-46s %18.2f   (%.0f us)\n", "the same over one row, p50", resume_us / row_us,
                 resume_us);
    must_most("synced commits per W2, alone", bench_median(light->syncs, light->rounds), 2);
    if (postgres)
        must_most("round trips per W2, alone", bench_median(light->trips, light->rounds), 4.1);
    else
        must_most("processor time per W2 at 64, us", bench_median(f[M_W2].cpus, f[M_W2].rounds),
                  180);
    must_most(
        "p99 over p50 at 64, W1",
        bench_median(f[M_W1].p99s, f[M_W1].rounds) / bench_median(f[M_W1].p50s, f[M_W1].rounds), 4);
    must_most(
        "p99 over p50 at 64, W2",
        bench_median(f[M_W2].p99s, f[M_W2].rounds) / bench_median(f[M_W2].p50s, f[M_W2].rounds), 4);
    (void)printf(
        "  per second: W1 %.0f, W1s %.0f, W2 %.0f, W3 %.0f; synced commits per W3 %.3f\n",
        bench_best(f[M_W1].rates, f[M_W1].rounds), bench_best(f[M_W1S].rates, f[M_W1S].rounds),
        bench_best(f[M_W2].rates, f[M_W2].rounds), bench_best(f[M_W3].rates, f[M_W3].rounds),
        bench_median(f[M_W3].syncs, f[M_W3].rounds));
    (void)fflush(stdout);
}

static void run_must(struct pawl_env *env, double seconds, unsigned rounds)
{
    for (int postgres = 0; postgres < 2; postgres++) {
        struct figures *figures = calloc(M_COUNT, sizeof *figures);
        struct bed bed;

        if (!figures)
            bench_fail("figures", "no memory");
        bed_open(&bed, env, postgres, 1);
        for (unsigned round = 0; round < rounds; round++)
            measure_round(&bed, musts, M_COUNT, seconds, round, figures);
        must_show(bed.name, postgres, figures);
        bed_close(&bed);
        free(figures);
    }
}

static void run_one(struct pawl_env *env, const char *name, double seconds, unsigned threads,
                    const char *uri, uint32_t committers)
{
    struct bed bed = {.name = uri ? "PostgreSQL" : "SQLite", .env = env};
    struct workload_cost cost;
    struct bench_rate rate;

    if (uri) {
        bed.is_server = true;
        (void)snprintf(bed.uri, sizeof bed.uri, "%s", uri);
        bench_node_open(&bed.node, env, open_store(&bed), committers);
        workloads_publish(&bed.node);
    } else {
        bed_open(&bed, env, false, 1);
    }
    if (strcmp(name, "w2") == 0)
        workload_signal(&bed.node, threads, seconds, &rate, &cost);
    else if (strcmp(name, "w3") == 0)
        workload_fan_in(&bed.node, threads, &rate, &cost);
    else
        workload_start(&bed.node, name, threads, seconds, &rate, &cost);
    (void)printf("%s on %s, %u threads: %" PRIu64
                 ", %.0f per second, p50 %.0f us, p99 %.0f us, %.1f us of "
                 "processor, %.2f syncs, %.2f round trips\n",
                 name, bed.name, threads, rate.count, rate.per_second, rate.p50_us, rate.p99_us,
                 rate.cpu_us, cost.syncs, cost.round_trips);
    if (uri)
        bench_node_close(&bed.node);
    else
        bed_close(&bed);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : SECONDS_DEFAULT;
    unsigned number = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
    unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : ROUNDS_DEFAULT;
    uint32_t committers = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 1;
    const char *path = getenv("BENCH_RESULTS");
    struct results results = {0};
    bool met = true;
    struct pawl_env *env = NULL;
    struct pawl_error err = PAWL_ERROR_INIT;

    pawl__sqlite_count_no_memory(); /* as the program does */
    bench_need(pawl_system_env_open(&env, &err), &err, "environment");
    if (argc > 1 && strcmp(argv[1], "must") == 0) {
        seconds = argc > 2 ? strtod(argv[2], NULL) : MUST_SECONDS;
        rounds = argc > 3 ? number : MUST_ROUNDS;
        if (seconds <= 0 || rounds == 0 || rounds > ROUNDS_MAX)
            bench_fail("usage", "bench-store must [SECONDS [ROUNDS]]");
        run_must(env, seconds, rounds);
    } else if (argc > 3 && argv[2][0] == 'w') {
        if (number == 0 || number > BENCH_THREADS_MAX)
            bench_fail(argv[3], "so many threads cannot be had");
        run_one(env, argv[2], seconds, number, argc > 4 ? argv[4] : NULL,
                argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 10) : 1);
    } else {
        if (seconds <= 0 || rounds == 0 || rounds > ROUNDS_MAX)
            bench_fail("usage", "bench-store [SECONDS [ROUNDS [sqlite|postgres [COMMITTERS]]]]");
        if (argc < 4 || strcmp(argv[3], "sqlite") == 0)
            met &= run_bed(env, false, seconds, rounds, committers, &results);
        if (argc < 4 || strcmp(argv[3], "postgres") == 0)
            met &= run_bed(env, true, seconds, rounds, committers, &results);
        if (argc < 4 && path)
            results_write(&results, path);
    }
    pawl_system_env_close(env);
    return met ? 0 : 1;
}
