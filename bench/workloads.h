/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a node is made to do, by so many threads for so long:
 *
 *     commits   the next revision of an instance with 1 KB of state, through a committer
 *     W1        three SetVariable, created and run: one commit
 *     W1s       the same with each step durable before the next (ActivityExecuted)
 *     W2        an instance that waits for an event, started; the event, sent to it; its end
 *     W3        one instance, 1,000 events to it from so many senders: none lost, none twice
 */
#ifndef PAWL_BENCH_WORKLOADS_H
#define PAWL_BENCH_WORKLOADS_H

#include "harness.h"

/* What a measurement cost the store besides time. */
struct workload_cost {
    double commits;     /* per repetition */
    double syncs;       /* per repetition; */
    double folded;      /* commits per sync */
    double round_trips; /* per repetition */
    double looks;       /* workload_signal_alone(): for work, until there was some */
};

/* Publishes what the others start. */
void workloads_publish(struct bench_node *node);

/* `committers`: threads of the committer that is measured. */
void workload_commits(struct bench_node *node, unsigned threads, uint32_t committers,
                      double seconds, struct bench_rate *out, struct workload_cost *cost);
/* "w1" or "w1s". */
void workload_start(struct bench_node *node, const char *definition_id, unsigned threads,
                    double seconds, struct bench_rate *out, struct workload_cost *cost);
/* Each thread starts one, sends the event and waits for the end, which a pool brings about. p50 and
 * p99 are of the resume: from the event sent to the end that is durable. */
void workload_signal(struct bench_node *node, unsigned threads, double seconds,
                     struct bench_rate *out, struct workload_cost *cost);
/* The same on one thread that also does what is due: nothing happens beside it. */
void workload_signal_alone(struct bench_node *node, double seconds, struct bench_rate *out,
                           struct workload_cost *cost);
/* From the first event sent until the instance has finished; p50 and p99 are of sending, until the
 * event is durable. (fan_in.c) */
void workload_fan_in(struct bench_node *node, unsigned senders, struct bench_rate *out,
                     struct workload_cost *cost);
void workload_fan_in_publish(struct bench_node *node);

/* For those who measure: what the store had done before, and what it did since. */
struct pawl_store_status workload_look(struct bench_node *node);
void workload_tell_cost(struct bench_node *node, const struct pawl_store_status *before,
                        uint64_t count, double commits, struct workload_cost *cost);

#endif
