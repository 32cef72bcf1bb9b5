/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The distributed runtime against the local one, on servers that this program starts: what locks
 * cost, how many round trips a call makes, what several nodes do, and how long it takes until the
 * work of a killed node goes on. With BENCH_RESULTS in the environment the figures of a whole run
 * are written there as JSON.
 *
 *     bench-distributed                    all, short
 *     bench-distributed SECONDS ROUNDS     all, SECONDS for each figure of the cost
 *     bench-distributed SECONDS ROUNDS cost|trips|nodes|takeover
 */
#include "distributed.h"

#include "harness.h"
#include "results.h"

#include <stdlib.h>
#include <string.h>

#define SECONDS_DEFAULT 0.2
#define ROUNDS_DEFAULT 7u
#define ROUNDS_MAX 31u
/* Instances that a client hands in. */
#define HANDED 1000u
#define NODES_ROUNDS 2u
#define KILLS 7u

static bool wants(const char *only, const char *part)
{
    return !only || strcmp(only, part) == 0;
}

static bool run(struct ground *ground, const char *only, double seconds, unsigned rounds)
{
    bool met = true;

    (void)fprintf(ground->json, "{");
    if (wants(only, "trips"))
        met &= distributed_trips(ground);
    if (wants(only, "cost"))
        met &= distributed_cost(ground, seconds, rounds);
    if (wants(only, "nodes"))
        distributed_throughput(ground, HANDED, rounds < NODES_ROUNDS ? rounds : NODES_ROUNDS);
    if (wants(only, "takeover"))
        met &= distributed_takeover(ground, rounds < KILLS ? rounds : KILLS);
    (void)fprintf(ground->json, "\n    \"complete\": %s\n  }", only ? "false" : "true");
    return met;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : SECONDS_DEFAULT;
    unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : ROUNDS_DEFAULT;
    const char *only = argc > 3 ? argv[3] : NULL, *path = getenv("BENCH_RESULTS");
    struct ground ground = {.env = NULL};
    struct pawl_error err = PAWL_ERROR_INIT;
    char *text = NULL;
    size_t size = 0;
    bool met;

    if (seconds <= 0 || rounds == 0 || rounds > ROUNDS_MAX)
        bench_fail("usage", "bench-distributed [SECONDS ROUNDS [cost|trips|nodes|takeover]]");
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    bench_need(pawl_system_env_open(&ground.env, &err), &err, "environment");
    ground.json = open_memstream(&text, &size);
    if (!ground.json)
        bench_fail("results", "no memory");
    test_postgres_start(&ground.postgres, NULL);
    test_redis_start(&ground.redis, NULL, 0);
    (void)test_postgres_uri(&ground.postgres, "postgres", ground.store, sizeof ground.store);
    (void)test_redis_uri(&ground.redis, 1, NULL, ground.lock, sizeof ground.lock);
    met = run(&ground, only, seconds, rounds);
    test_redis_stop(&ground.redis);
    test_postgres_stop(&ground.postgres);
    pawl_system_env_close(ground.env);
    (void)fclose(ground.json);
    if (path && !only)
        results_write_distributed(text, path);
    free(text);
    return met ? 0 : 1;
}
