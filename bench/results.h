/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figures of one run as JSON, for programs that compare:
 *
 *     {"w1":{"sqlite":{"c1":{"per_s":…,"floor_per_s":…,"p50_us":…,"p99_us":…},"c16":…,"c64":…},
 *      "postgres":…},"w1s":…,"w2":…,"w3":…,
 *      "w4":{"sqlite":{"idle_rss_kb":…,"suspended_rss_kb":…,"ready_ms":…},"postgres":…},
 *      "distributed":…}
 *
 * The last member is bench-distributed's (distributed.c), the others are bench-store's; each
 * program leaves the other's as they are.
 *
 * A figure that was not measured is null.
 */
#ifndef PAWL_BENCH_RESULTS_H
#define PAWL_BENCH_RESULTS_H

#include "footprint.h"

#define RESULTS_WORKLOADS 4 /* W1, W1s, W2, W3 */
#define RESULTS_LEVELS 3    /* 1, 16, 64 at a time */

/* All of them the middle one of several rounds. */
struct result {
    double per_s;
    double floor_per_s; /* rows that the database alone commits one by one, in the same run */
    double p50_us, p99_us;
};

struct results {
    struct result of[RESULTS_WORKLOADS][2][RESULTS_LEVELS]; /* [][0] SQLite, [][1] PostgreSQL */
    struct footprint footprint[2];
};

/* Which of RESULTS_LEVELS; -1: none. */
int results_level(unsigned threads);
/* Replaces all but the member "distributed". */
void results_write(const struct results *results, const char *path);
/* Replaces that one with a JSON text. */
void results_write_distributed(const char *json, const char *path);

#endif
