/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the benchmarks of stores share: threads that repeat something for a while, times of each
 * repetition, temporary folders, and a node (store, runtime, definitions) to be measured.
 *
 * Everything that goes wrong ends the program with a message: a figure is never made of failures.
 */
#ifndef PAWL_BENCH_HARNESS_H
#define PAWL_BENCH_HARNESS_H

#include "runtime/runtime.h"

#include <pawl/ext/env.h>
#include <pawl/ext/store.h>

#define BENCH_THREADS_MAX 64u

double bench_seconds(void);
/* Of this process, all threads, user and system. */
double bench_cpu_seconds(void);
/* Of another one and of those it has started: a server. 0 for pid 0. */
double bench_cpu_seconds_of(long pid);
/* Of all threads of another process, which do not end meanwhile. */
double bench_cpu_seconds_of_threads(long pid);
/* Resident memory of this process, without files that are merely mapped. */
double bench_anonymous_mb(void);

void bench_need(int status, const struct pawl_error *err, const char *what);
_Noreturn void bench_fail(const char *what, const char *why);

/* A new folder under TMPDIR, removed with all that is in it by bench_folder_remove(). */
struct bench_folder {
    char path[256];
};
void bench_folder_make(struct bench_folder *folder);
void bench_folder_remove(const struct bench_folder *folder);
/* Of all files in it. */
double bench_folder_mb(const struct bench_folder *folder);

/* ---- repeating ----------------------------------------------------------------------------- */

/* One repetition, on thread `thread`; `round` counts its own from 0. */
typedef void (*bench_once)(void *ctx, unsigned thread, uint64_t round);

struct bench_rate {
    uint64_t count;
    double seconds;
    double per_second;
    double p10_us, p50_us, p99_us; /* of one repetition */
    double cpu_us;                 /* of this process, per repetition */
};

/* Repeats `once` on so many threads until `seconds` are over; below 0: so often on each. */
void bench_repeat(struct pawl_env *env, unsigned threads, double seconds, bench_once once,
                  void *ctx, struct bench_rate *out);

/* Sorts the values and answers the one in the middle. */
double bench_median(double *values, size_t count);
/* The greatest. */
double bench_best(const double *values, size_t count);

/* ---- a node -------------------------------------------------------------------------------- */

struct pawl_guard;
struct pawl_queue_worker;

struct bench_node {
    struct pawl_env *env;
    struct pawl_engine engine;
    struct pawl_store *store;
    struct pawl_runtime *runtime;
    struct pawl_queue_worker *queue; /* whom its pools ask for their turn; NULL: nobody. Borrowed */
    void (*line)(void *ctx, struct pawl_str text); /* NULL: lines of WriteLine are dropped */
    void *line_ctx;
};

/* Takes the store. */
void bench_node_open(struct bench_node *node, struct pawl_env *env, struct pawl_store *store,
                     uint32_t committers);
/* The same as a member of a cluster. Borrows guard and queue worker. */
void bench_node_open_guarded(struct bench_node *node, struct pawl_env *env,
                             struct pawl_store *store, uint32_t committers,
                             struct pawl_guard *guard, struct pawl_queue_worker *queue);
void bench_node_close(struct bench_node *node);
/* Does the work of an event that was just sent; returns how often it looked for it. With direct
 * delivery there is none. */
uint64_t bench_work_for_event(struct bench_node *node);
/* JSON written with ' in place of ". */
void bench_publish(struct bench_node *node, const char *definition);

/* While nothing runs: who is told what workflows write, from now on. */
void bench_node_listen(struct bench_node *node, void (*line)(void *ctx, struct pawl_str text),
                       void *ctx);

int64_t bench_later(struct pawl_env *env);

#endif
