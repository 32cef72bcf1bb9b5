/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks of servers: what acquiring and releasing costs through front end and provider, against two
 * calls of the client library that do the bare minimum of the same, in turns in one run: SET NX and
 * a script that deletes for Redis, an advisory lock and its unlock for PostgreSQL. And how long a
 * lock takes from who releases it to who waits for it, told and by asking.
 *
 *     bench-lock-servers [SECONDS [ROUNDS]]
 */
#include "base/str.h"
#include "harness.h"
#include "locks/locks.h"
#include "locks/providers.h"
#include "servers/postgres.h"
#include "servers/redis.h"

#include <hiredis/hiredis.h>
#include <libpq-fe.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_MAX 31u
#define NODES 3
#define HANDS 11u
#define MS INT64_C(1000000)
/* What is promised: at most so many times the floor. */
#define RATIO_MAX 1.5

struct bed {
    struct pawl_env *env;
    struct test_redis redis[NODES];
    struct test_postgres postgres;
    redisContext *bare_redis[NODES];
    char sha[64];
    PGconn *bare_postgres;
    struct pawl_locks *one, *three, *advisory;
};

/* ---- floors -------------------------------------------------------------------------------- */

#define OWNER "host_12345_0123456789abcdef0123456789abcdef"
#define SCRIPT                                                                                     \
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 "   \
    "end"

static void need_reply(redisReply *reply, int type)
{
    if (!reply || reply->type != type)
        bench_fail("Redis", reply && reply->str ? reply->str : "no answer");
    freeReplyObject(reply);
}

static void bare_redis(void *ctx, unsigned thread, uint64_t round)
{
    struct bed *bed = ctx;

    (void)thread;
    (void)round;
    need_reply(redisCommand(bed->bare_redis[0], "SET bare %s EX 30 NX", OWNER), REDIS_REPLY_STATUS);
    need_reply(redisCommand(bed->bare_redis[0], "EVALSHA %s 1 bare %s", bed->sha, OWNER),
               REDIS_REPLY_INTEGER);
}

/* All are asked before one is waited for. */
static void bare_majority(void *ctx, unsigned thread, uint64_t round)
{
    struct bed *bed = ctx;
    void *reply;

    (void)thread;
    (void)round;
    for (int step = 0; step < 2; step++) {
        for (size_t i = 0; i < NODES; i++) {
            if (step == 0)
                (void)redisAppendCommand(bed->bare_redis[i], "SET bare %s EX 30 NX", OWNER);
            else
                (void)redisAppendCommand(bed->bare_redis[i], "EVALSHA %s 1 bare %s", bed->sha,
                                         OWNER);
            int done = 0;

            while (!done && redisBufferWrite(bed->bare_redis[i], &done) == REDIS_OK)
                continue;
        }
        for (size_t i = 0; i < NODES; i++) {
            if (redisGetReply(bed->bare_redis[i], &reply) != REDIS_OK)
                bench_fail("Redis", bed->bare_redis[i]->errstr);
            freeReplyObject(reply);
        }
    }
}

static void run_prepared(PGconn *conn, const char *name)
{
    PGresult *result = PQexecPrepared(conn, name, 0, NULL, NULL, NULL, 1);

    if (PQresultStatus(result) != PGRES_TUPLES_OK || *PQgetvalue(result, 0, 0) != 1)
        bench_fail(name, PQerrorMessage(conn));
    PQclear(result);
}

static void bare_postgres(void *ctx, unsigned thread, uint64_t round)
{
    struct bed *bed = ctx;

    (void)thread;
    (void)round;
    run_prepared(bed->bare_postgres, "lock");
    run_prepared(bed->bare_postgres, "unlock");
}

/* ---- ours ---------------------------------------------------------------------------------- */

static void lock_once(struct pawl_locks *locks, uint32_t flags)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_lock lock;

    bench_need(pawl__locks_try(locks, pawl__str("bench"), flags, &lock, &err), &err, "acquire");
    bench_need(pawl__locks_release(locks, lock, &err), &err, "release");
}

#define LOCK(name, member, flags)                                                                  \
    static void name(void *ctx, unsigned thread, uint64_t round)                                   \
    {                                                                                              \
        (void)thread;                                                                              \
        (void)round;                                                                               \
        lock_once(((struct bed *)ctx)->member, flags);                                             \
    }
LOCK(lock_redis, one, 0)
LOCK(lock_redis_token, one, PAWL_LOCK_WANT_TOKEN)
LOCK(lock_majority, three, 0)
LOCK(lock_majority_token, three, PAWL_LOCK_WANT_TOKEN)
LOCK(lock_advisory, advisory, 0)
LOCK(lock_advisory_token, advisory, PAWL_LOCK_WANT_TOKEN)

static const struct measure {
    const char *name;
    bench_once once;
    int floor;        /* number of the row it is compared with; -1: none */
    double ratio_max; /* 0: nothing is promised */
} measures[] = {
    {"Redis: SET NX; script with DEL", bare_redis, -1, 0},
    {"redis", lock_redis, 0, RATIO_MAX},
    {"redis, with a token", lock_redis_token, 0, 0},
    {"Redis: the same on 3 nodes", bare_majority, -1, 0},
    {"redis, 3 nodes", lock_majority, 3, RATIO_MAX},
    {"redis, 3 nodes, with a token", lock_majority_token, 3, 0},
    {"PostgreSQL: try and unlock, prepared", bare_postgres, -1, 0},
    {"postgres", lock_advisory, 6, RATIO_MAX},
    {"postgres, with a token", lock_advisory_token, 6, 0},
};
#define COUNT (sizeof measures / sizeof measures[0])

struct figures {
    double p10[COUNT][ROUNDS_MAX], p50[COUNT][ROUNDS_MAX];
};

/* ---- hand-over ----------------------------------------------------------------------------- */

struct hand {
    struct pawl_env *env;
    struct pawl_locks *from, *to;
    _Atomic(int64_t) released_ns, taken_ns;
};

static void take_over(void *arg)
{
    struct hand *hand = arg;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_lock lock;

    bench_need(pawl__locks_acquire(hand->to, pawl__str("hand"), 0, PAWL_FOREVER, NULL, &lock, &err),
               &err, "acquire");
    atomic_store(&hand->taken_ns, pawl_env_monotonic_ns(hand->env));
    bench_need(pawl__locks_release(hand->to, lock, &err), &err, "release");
}

/* From the call of release() to the end of acquire(), after waits of about half a second. */
static double hand_over(struct hand *hand)
{
    double times[HANDS];

    for (unsigned i = 0; i < HANDS; i++) {
        struct pawl_error err = PAWL_ERROR_INIT;
        struct pawl_thread *thread;
        struct pawl_lock lock;
        int64_t until;

        bench_need(
            pawl__locks_acquire(hand->from, pawl__str("hand"), 0, PAWL_FOREVER, NULL, &lock, &err),
            &err, "acquire");
        bench_need(pawl_thread_start(hand->env, "taker", take_over, hand, &thread, &err), &err,
                   "thread");
        until = pawl_env_monotonic_ns(hand->env) + (400 + 37 * (int64_t)i % 300) * MS;
        bench_need(pawl_env_sleep_until(hand->env, until), NULL, "sleep");
        atomic_store(&hand->released_ns, pawl_env_monotonic_ns(hand->env));
        bench_need(pawl__locks_release(hand->from, lock, &err), &err, "release");
        pawl_thread_join(hand->env, thread);
        times[i] = (double)(atomic_load(&hand->taken_ns) - atomic_load(&hand->released_ns)) / 1e6;
    }
    return bench_median(times, HANDS);
}

/* ---- all ----------------------------------------------------------------------------------- */

static struct pawl_locks *open_locks(struct bed *bed, size_t nodes, bool is_deaf,
                                     struct pawl_lock_provider_ops *ops)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_lock_provider *provider = NULL;
    struct pawl_locks *locks = NULL;
    char uri[256];

    if (nodes > 0)
        bench_need(pawl__redis_locks_open(
                       bed->env,
                       pawl__str(test_redis_uri(bed->redis, nodes, NULL, uri, sizeof uri)), NULL,
                       &provider, &err),
                   &err, "redis");
    else
        bench_need(pawl__postgres_locks_open(
                       bed->env,
                       pawl__str(test_postgres_uri(&bed->postgres, "postgres", uri, sizeof uri)),
                       NULL, &provider, &err),
                   &err, "postgres");
    if (is_deaf) { /* the same, but nobody is told that a lock is free */
        *ops = *provider->ops;
        ops->caps &= ~(PAWL_LOCK_CAP_WAKE | PAWL_LOCK_CAP_WAIT);
        provider->ops = ops;
    }
    bench_need(pawl__locks_new(bed->env, provider, NULL, &locks, &err), &err, "locks");
    return locks;
}

static void measure_hands(struct bed *bed, const char *name, size_t nodes)
{
    struct pawl_lock_provider_ops ops;
    struct pawl_locks *from = open_locks(bed, nodes, false, NULL);
    struct pawl_locks *told = open_locks(bed, nodes, false, NULL);
    struct pawl_locks *deaf = open_locks(bed, nodes, true, &ops);
    struct hand push = {.env = bed->env, .from = from, .to = told};
    struct hand ask = {.env = bed->env, .from = from, .to = deaf};
    double push_ms = hand_over(&push), ask_ms = hand_over(&ask);

    printf("%-20s %10.3f ms, by asking %10.3f ms: %.0f times as long\n", name, push_ms, ask_ms,
           ask_ms / push_ms);
    pawl__locks_free(from);
    pawl__locks_free(told);
    pawl__locks_free(deaf);
}

static void open_bare(struct bed *bed)
{
    char uri[256];
    redisReply *reply;

    for (size_t i = 0; i < NODES; i++) {
        bed->bare_redis[i] = redisConnect("127.0.0.1", bed->redis[i].port);
        reply = redisCommand(bed->bare_redis[i], "SCRIPT LOAD %s", SCRIPT);
        if (!reply || reply->type != REDIS_REPLY_STRING)
            bench_fail("Redis", "SCRIPT LOAD");
        (void)snprintf(bed->sha, sizeof bed->sha, "%s", reply->str);
        freeReplyObject(reply);
    }
    bed->bare_postgres =
        PQconnectdb(test_postgres_uri(&bed->postgres, "postgres", uri, sizeof uri));
    PQclear(PQprepare(bed->bare_postgres, "lock", "SELECT pg_try_advisory_lock(7)", 0, NULL));
    PQclear(PQprepare(bed->bare_postgres, "unlock", "SELECT pg_advisory_unlock(7)", 0, NULL));
}

static void open_bed(struct bed *bed)
{
    struct pawl_error err = PAWL_ERROR_INIT;

    bench_need(pawl_system_env_open(&bed->env, &err), &err, "environment");
    for (size_t i = 0; i < NODES; i++)
        test_redis_start(&bed->redis[i], NULL, 0);
    test_postgres_start(&bed->postgres, NULL);
    open_bare(bed);
    bed->one = open_locks(bed, 1, false, NULL);
    bed->three = open_locks(bed, NODES, false, NULL);
    bed->advisory = open_locks(bed, 0, false, NULL);
}

static void close_bed(struct bed *bed)
{
    pawl__locks_free(bed->one);
    pawl__locks_free(bed->three);
    pawl__locks_free(bed->advisory);
    for (size_t i = 0; i < NODES; i++) {
        redisFree(bed->bare_redis[i]);
        test_redis_stop(&bed->redis[i]);
    }
    PQfinish(bed->bare_postgres);
    test_postgres_stop(&bed->postgres);
    pawl_system_env_close(bed->env);
}

/* Ratios are of the quickest tenth: there what else runs on the machine is not in it. */
static int show(struct figures *figures, unsigned rounds)
{
    double medians[COUNT];
    int failed = 0;

    printf("%-38s %10s %10s %8s\n", "acquire and release, one thread", "p50 us", "p10 us", "ratio");
    for (size_t i = 0; i < COUNT; i++) {
        medians[i] = bench_median(figures->p10[i], rounds);
        printf("%-38s %10.1f %10.1f", measures[i].name, bench_median(figures->p50[i], rounds),
               medians[i]);
        if (measures[i].floor >= 0) {
            double ratio = medians[i] / medians[measures[i].floor];

            printf(" %8.2f", ratio);
            if (measures[i].ratio_max > 0 && ratio > measures[i].ratio_max) {
                printf("   MISSED: at most %.1f", measures[i].ratio_max);
                failed = 1;
            }
        }
        printf("\n");
    }
    return failed;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 0.2;
    unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 7;
    static struct figures figures;
    struct bed bed = {.env = NULL};
    int failed;

    if (rounds == 0 || rounds > ROUNDS_MAX)
        rounds = ROUNDS_MAX;
    open_bed(&bed);
    for (unsigned round = 0; round < rounds; round++) {
        for (size_t i = 0; i < COUNT; i++) {
            struct bench_rate rate;

            bench_repeat(bed.env, 1, seconds, measures[i].once, &bed, &rate);
            figures.p10[i][round] = rate.p10_us;
            figures.p50[i][round] = rate.p50_us;
        }
    }
    failed = show(&figures, rounds);
    printf("\nhand-over between nodes, median of %u, after waits of half a second\n", HANDS);
    measure_hands(&bed, "redis", 1);
    measure_hands(&bed, "redis, 3 nodes", NODES);
    measure_hands(&bed, "postgres", 0);
    close_bed(&bed);
    return failed;
}
