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
#include "lock_bench.h"
#include "locks/locks.h"
#include "locks/providers.h"
#include "servers/postgres.h"
#include "servers/redis.h"

#include <hiredis/hiredis.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES 3

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

LOCK_BENCH_ONCE(lock_redis, one, 0)
LOCK_BENCH_ONCE(lock_redis_token, one, PAWL_LOCK_WANT_TOKEN)
LOCK_BENCH_ONCE(lock_majority, three, 0)
LOCK_BENCH_ONCE(lock_majority_token, three, PAWL_LOCK_WANT_TOKEN)
LOCK_BENCH_ONCE(lock_advisory, advisory, 0)
LOCK_BENCH_ONCE(lock_advisory_token, advisory, PAWL_LOCK_WANT_TOKEN)

static const struct lock_bench_row rows[] = {
    {"Redis: SET NX; script with DEL", bare_redis, -1, 0},
    {"redis", lock_redis, 0, LOCK_BENCH_RATIO_MAX},
    {"redis, with a token", lock_redis_token, 0, 0},
    {"Redis: the same on 3 nodes", bare_majority, -1, 0},
    {"redis, 3 nodes", lock_majority, 3, LOCK_BENCH_RATIO_MAX},
    {"redis, 3 nodes, with a token", lock_majority_token, 3, 0},
    {"PostgreSQL: try and unlock, prepared", bare_postgres, -1, 0},
    {"postgres", lock_advisory, 6, LOCK_BENCH_RATIO_MAX},
    {"postgres, with a token", lock_advisory_token, 6, 0},
};
/* ---- all ----------------------------------------------------------------------------------- */

static struct pawl_locks *open_locks(struct bed *bed, size_t nodes,
                                     struct pawl_lock_provider_ops *deaf)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_lock_provider *provider = NULL;
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
    return lock_bench_open(bed->env, provider, deaf);
}

static void measure_hands(struct bed *bed, const char *name, size_t nodes)
{
    struct pawl_lock_provider_ops ops;
    struct pawl_locks *from = open_locks(bed, nodes, NULL), *told = open_locks(bed, nodes, NULL);
    struct pawl_locks *deaf = open_locks(bed, nodes, &ops);

    lock_bench_hand_over(bed->env, name, from, told, deaf);
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
    bed->one = open_locks(bed, 1, NULL);
    bed->three = open_locks(bed, NODES, NULL);
    bed->advisory = open_locks(bed, 0, NULL);
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

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 0.2;
    unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 7;
    struct bed bed = {.env = NULL};
    int failed;

    open_bed(&bed);
    failed = lock_bench_run(bed.env, rows, sizeof rows / sizeof rows[0], &bed, seconds, rounds);
    measure_hands(&bed, "redis", 1);
    measure_hands(&bed, "redis, 3 nodes", NODES);
    measure_hands(&bed, "postgres", 0);
    close_bed(&bed);
    return failed;
}
