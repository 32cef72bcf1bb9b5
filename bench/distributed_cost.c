/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What locks cost. On each store a node without and nodes with locks take turns at the same work in
 * several short rounds. Three ratios, each as how many times as much as without:
 *
 *     best     of the best rounds: in which others disturbed the least
 *     middle   the middle one of the rounds, each with the turn of the local node beside it
 *     cpu      processor time of ours and of the servers, all rounds: the load of the machine is
 *              hardly in it
 *
 * The target is met when neither of the first two is above it, missed when both are.
 */
#include "distributed.h"
#include "member.h"
#include "watch.h"
#include "workloads.h"

#include <stdlib.h>

#define COST_MAX 1.25
#define ROUNDS_MAX 31u
/* A thousand events each: no more rounds of them when they have taken so long on a store. */
#define FAN_IN_SECONDS_MAX 20.0
/* W2 takes several times as long as W1, and is measured for as much longer. */
#define SIGNAL_TIMES 4
#define MEMBERS_MAX 3u

enum kind { W1, W2, W3 };

static const struct measure {
    enum kind kind;
    const char *name, *key;
    unsigned threads;
} measures[] = {
    {W1, "W1, 1 thread", "w1.c1", 1},     {W1, "W1, 16 threads", "w1.c16", 16},
    {W1, "W1, 64 threads", "w1.c64", 64}, {W2, "W2, 1 thread", "w2.c1", 1},
    {W2, "W2, 16 threads", "w2.c16", 16}, {W2, "W2, 64 threads", "w2.c64", 64},
    {W3, "W3, 16 senders", "w3.c16", 16},
};
#define COUNT (sizeof measures / sizeof measures[0])

/* Of one measure on one node, by round; the rest summed up. */
struct figures {
    unsigned rounds;
    double rates[ROUNDS_MAX], p50s[ROUNDS_MAX], p99s[ROUNDS_MAX];
    double count, cpu, trips, lock_calls, claims, by_lock, by_owner;
};

struct bed {
    struct ground *ground;
    const char *name;
    struct bench_folder folder;
    unsigned member_count;
    const char *names[MEMBERS_MAX], *keys[MEMBERS_MAX];
    struct member members[MEMBERS_MAX];
    struct figures figures[MEMBERS_MAX][COUNT];
    bool is_server;
    double fan_in_seconds;
};

/* ---- beds ---------------------------------------------------------------------------------- */

static void add_member(struct bed *bed, const char *name, const char *key, enum member_locks how,
                       const char *uri)
{
    const struct pawl_store_options options = {.flags = PAWL_STORE_OPEN_CREATE};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_env *env = bed->ground->env;
    struct pawl_store *store = NULL;
    unsigned at = bed->member_count++;
    char path[300];

    (void)snprintf(path, sizeof path, "%s/pawl.db", bed->folder.path);
    bench_need(
        bed->is_server
            ? pawl__postgres_store_open(env, pawl__str(bed->ground->store), &options, &store, &err)
            : pawl__sqlite_store_open(env, pawl__str(path), &options, &store, &err),
        &err, bed->name);
    bed->names[at] = name;
    bed->keys[at] = key;
    member_open(&bed->members[at], env, store, false, how, uri);
    if (at == 0)
        workloads_publish(&bed->members[0].node);
}

static void bed_open(struct bed *bed, struct ground *ground, bool is_server)
{
    char folder[300];

    *bed = (struct bed){
        .ground = ground, .name = is_server ? "PostgreSQL" : "SQLite", .is_server = is_server};
    bench_folder_make(&bed->folder);
    (void)snprintf(folder, sizeof folder, "%s/locks", bed->folder.path);
    add_member(bed, "no locks", "local", MEMBER_LOCAL, NULL);
    if (is_server) {
        add_member(bed, "its own locks", "postgres", MEMBER_TICKETS, ground->store);
        add_member(bed, "locks of Redis", "redis", MEMBER_REDIS, ground->lock);
    } else {
        add_member(bed, "locks of files", "file", MEMBER_FILES, folder);
    }
}

static void bed_close(struct bed *bed)
{
    for (unsigned i = 0; i < bed->member_count; i++)
        member_close(&bed->members[i]);
    bench_folder_remove(&bed->folder);
}

static double cpu_now(const struct bed *bed)
{
    return bench_cpu_seconds() + bench_cpu_seconds_of((long)bed->ground->postgres.daemon.pid) +
           bench_cpu_seconds_of((long)bed->ground->redis.daemon.pid);
}

/* ---- measuring ----------------------------------------------------------------------------- */

static void measure_one(struct bed *bed, unsigned who, size_t what, double seconds)
{
    const struct measure *m = &measures[what];
    struct member *member = &bed->members[who];
    struct figures *f = &bed->figures[who][what];
    struct watch_refusals refused = watch_refused(member->node.store), then;
    struct member_counts before, after;
    struct workload_cost cost;
    struct bench_rate rate;
    double cpu = cpu_now(bed);

    member_look(member, &before);
    if (m->kind == W1)
        workload_start(&member->node, "w1", m->threads, seconds, &rate, &cost);
    else if (m->kind == W2)
        workload_signal(&member->node, m->threads, SIGNAL_TIMES * seconds, &rate, &cost);
    else
        workload_fan_in(&member->node, m->threads, &rate, &cost);
    member_look(member, &after);
    then = watch_refused(member->node.store);
    f->cpu += cpu_now(bed) - cpu;
    f->count += (double)rate.count;
    f->trips += cost.round_trips * (double)rate.count;
    f->lock_calls += (double)member_lock_calls(&before, &after);
    f->claims += (double)(then.claims - refused.claims);
    f->by_lock += (double)(then.by_lock - refused.by_lock);
    f->by_owner += (double)(then.by_owner - refused.by_owner);
    f->rates[f->rounds] = rate.per_second;
    f->p50s[f->rounds] = rate.p50_us;
    f->p99s[f->rounds++] = rate.p99_us;
    if (getenv("BENCH_VERBOSE"))
        (void)fprintf(stderr,
                      "%s, %s, %s: %.0f per second in %.2f s, refused %.0f by locks and %.0f by "
                      "owners of %.0f\n",
                      bed->name, bed->names[who], m->name, rate.per_second, rate.seconds,
                      (double)(then.by_lock - refused.by_lock),
                      (double)(then.by_owner - refused.by_owner),
                      (double)(then.claims - refused.claims));
}

/* Who begins changes from round to round. */
static void measure_turns(struct bed *bed, size_t what, unsigned round, double seconds)
{
    double begin = bench_seconds();

    if (measures[what].kind == W3 && round > 0 && bed->fan_in_seconds > FAN_IN_SECONDS_MAX)
        return;
    for (unsigned i = 0; i < bed->member_count; i++)
        measure_one(bed, (i + round) % bed->member_count, what, seconds);
    if (measures[what].kind == W3)
        bed->fan_in_seconds += bench_seconds() - begin;
}

static void measure_all(struct bed *bed, double seconds, unsigned rounds)
{
    for (unsigned round = 0; round < rounds; round++)
        for (size_t what = 0; what < COUNT; what++)
            measure_turns(bed, what, round, seconds);
}

/* ---- showing ------------------------------------------------------------------------------- */

struct ratios {
    double best, middle, cpu;
};

static struct ratios compare(const struct figures *f, const struct figures *local)
{
    double turns[ROUNDS_MAX];

    for (unsigned i = 0; i < f->rounds; i++)
        turns[i] = local->rates[i] / f->rates[i];
    return (struct ratios){
        bench_best(local->rates, local->rounds) / bench_best(f->rates, f->rounds),
        bench_median(turns, f->rounds),
        (f->cpu / f->count) / (local->cpu / local->count),
    };
}

/* Medians sort: after the ratios. */
static void show_one(const char *name, struct figures *f)
{
    double best = bench_best(f->rates, f->rounds);

    (void)printf("%-16s %7.0f %7.0f %7.0f %7.0f %7.0f %6.2f %6.2f %6.2f %7.2f%%", name, best,
                 bench_median(f->rates, f->rounds), bench_median(f->p50s, f->rounds),
                 bench_median(f->p99s, f->rounds), f->cpu * 1e6 / f->count, f->trips / f->count,
                 f->lock_calls / f->count, f->claims / f->count,
                 f->claims > 0 ? f->by_lock * 100 / f->claims : 0);
}

static bool show_ratios(struct bed *bed, unsigned who, size_t what, const struct ratios *r)
{
    bool aims = measures[what].kind != W3;
    bool missed = aims && r->best > COST_MAX && r->middle > COST_MAX;
    bool met = r->best <= COST_MAX && r->middle <= COST_MAX;

    (void)printf("  %5.2f %6.2f %5.2f", r->best, r->middle, r->cpu);
    if (aims)
        (void)printf("  <= %.2f %s", COST_MAX, met ? "met" : missed ? "MISSED" : "open");
    (void)printf("\n");
    (void)fprintf(bed->ground->json,
                  "%s\n        \"%s\": {\"best\": %.2f, \"middle\": %.2f, \"cpu\": %.2f, "
                  "\"refused_percent\": %.3f}",
                  what ? "," : "", measures[what].key, r->best, r->middle, r->cpu,
                  bed->figures[who][what].claims > 0
                      ? bed->figures[who][what].by_lock * 100 / bed->figures[who][what].claims
                      : 0);
    return !missed;
}

static bool show(struct bed *bed)
{
    struct ratios ratios[MEMBERS_MAX][COUNT];
    bool met = true;

    for (unsigned who = 0; who < bed->member_count; who++)
        for (size_t what = 0; what < COUNT; what++)
            ratios[who][what] = compare(&bed->figures[who][what], &bed->figures[0][what]);
    for (unsigned who = 0; who < bed->member_count; who++) {
        (void)printf("\n%s, %s\n%-16s %7s %7s %7s %7s %7s %6s %6s %6s %8s", bed->name,
                     bed->names[who], "", "per s", "middle", "p50 us", "p99 us", "cpu us", "trips",
                     "locks", "claims", "refused");
        (void)printf(who ? "  %5s %6s %5s\n" : "\n", "best", "middle", "cpu");
        if (who > 0)
            (void)fprintf(bed->ground->json, "%s\n      \"%s\": {", who > 1 ? "," : "",
                          bed->keys[who]);
        for (size_t what = 0; what < COUNT; what++) {
            show_one(measures[what].name, &bed->figures[who][what]);
            if (who > 0)
                met &= show_ratios(bed, who, what, &ratios[who][what]);
            else
                (void)printf("\n");
        }
        if (who > 0)
            (void)fprintf(bed->ground->json, "\n      }");
    }
    return met;
}

bool distributed_cost(struct ground *ground, double seconds, unsigned rounds)
{
    static struct bed bed;
    bool met = true;

    (void)fprintf(ground->json, "\n    \"cost\": {");
    for (int is_server = 1; is_server >= 0; is_server--) {
        (void)fprintf(ground->json, "\n     \"%s\": {", is_server ? "postgres" : "sqlite");
        bed_open(&bed, ground, is_server);
        measure_all(&bed, seconds, rounds);
        met &= show(&bed);
        bed_close(&bed);
        (void)fprintf(ground->json, "\n     }%s", is_server ? "," : "");
    }
    (void)fprintf(ground->json, "\n    },");
    return met;
}
