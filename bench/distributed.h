/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of bench-distributed. Each prints its table and adds members to a JSON text; answers
 * false when a figure misses its target beyond doubt.
 */
#ifndef PAWL_BENCH_DISTRIBUTED_H
#define PAWL_BENCH_DISTRIBUTED_H

#include "servers/postgres.h"
#include "servers/redis.h"

#include <pawl/ext/env.h>

#include <stdbool.h>
#include <stdio.h>

/* Where everything is measured: servers that the program started. */
struct ground {
    struct pawl_env *env;
    struct test_postgres postgres;
    struct test_redis redis;
    char store[256]; /* the URI of each */
    char lock[256];
    unsigned serial; /* of nodes: each has a name that the store has not seen */
    FILE *json;
};

/* What locks cost: the same node with and without them, in turns. (distributed_cost.c) */
bool distributed_cost(struct ground *ground, double seconds, unsigned rounds);
/* Counted round trips of single calls. (distributed_trips.c) */
bool distributed_trips(struct ground *ground);
/* One to three processes `pawl worker --distributed`. (distributed_nodes.c) */
void distributed_throughput(struct ground *ground, unsigned count, unsigned rounds);
/* From kill -9 until another node has the instance. */
bool distributed_takeover(struct ground *ground, unsigned kills);

#endif
