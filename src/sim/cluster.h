/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second workload of the simulator: nodes with the real runtime (definitions, committer, lease
 * keeper, worker pool) on one database, and clients who start instances, send events, cancel and
 * delete, and ask again with the same key whenever an answer was lost. Nodes crash, stand still,
 * lose answers, are drained and come back. docs/internals/sim.md says what is checked.
 *
 * The same options give the same run, step by step.
 */
#ifndef PAWL_SIM_CLUSTER_H
#define PAWL_SIM_CLUSTER_H

#include "base/str.h"
#include "engine/engine.h"

#include <pawl/ext/env.h>

#define PAWL_CLUSTER_NODES_MAX 4

/* Bugs to plant: each must be found, or the checker is not one. */
enum pawl_cluster_bug {
    PAWL_CLUSTER_BUG_NONE,
    PAWL_CLUSTER_BUG_EDGE_ONLY, /* work is looked for when something was signalled, never by time */
    PAWL_CLUSTER_BUG_SPLIT,     /* mail is deleted in a transaction of its own */
    PAWL_CLUSTER_BUG_TWICE,     /* work that was taken is not marked as somebody's */
    PAWL_CLUSTER_BUG_AGE,       /* instances that were claimed some time ago may be claimed again */
    PAWL_CLUSTER_BUG_LOCKED,    /* distributed: a lock that a dead node left stands for ever */
};

struct pawl_cluster_options {
    /* With activities and plain expressions; borrowed, shared by all runs. */
    const struct pawl_engine *engine;
    uint64_t seed;
    uint32_t nodes;     /* 0: 2, or 3 for some seeds */
    uint32_t seconds;   /* simulated, before the faults end; 0: 150 */
    uint64_t steps_max; /* of the baton; 0: 2,000,000. More is PAWL_ELIMIT: a livelock */
    bool calm;          /* no faults at all */
    bool distributed;   /* nodes lock instances, at a service that cannot be relied on */
    enum pawl_cluster_bug bug;
    /* What happens, one line at a time, "seconds who what"; NULL: nobody listens. */
    void (*say)(void *ctx, const char *line);
    void *say_ctx;
};

struct pawl_cluster_report {
    uint64_t step_count; /* two runs with equal step counts and hashes were the same run */
    uint64_t trace_hash;
    /* What clients did: */
    uint64_t started;
    uint64_t sent;
    uint64_t cancelled;
    uint64_t deleted;
    uint64_t retried; /* asked again with the same key */
    /* What the server saw: */
    uint64_t instances;
    uint64_t commits;
    uint64_t delivered; /* events to instances */
    uint64_t applied;   /* of those, by the instance */
    uint64_t ticks;     /* of cron */
    uint64_t singles;   /* instances of the singleton, one after the other */
    uint64_t children;  /* ends that were told to parents */
    uint64_t dead;      /* letters */
    /* What was done to the nodes: */
    uint64_t boots;
    uint64_t crashes;
    uint64_t drains;
    uint64_t pauses;
    uint64_t shifts; /* of clocks */
    uint64_t failed; /* calls that were not made */
    uint64_t lost;   /* calls that were made and whose answer was lost */
    /* And to their lock service: */
    uint64_t lock_failed; /* calls that it did not get, or whose answer was lost */
    uint64_t lock_twice;  /* attempts that are granted whoever holds the lock */
    uint64_t lock_lost;   /* renewals that are answered with the loss of all locks */
    uint64_t lock_outages;
    /* What is wrong: */
    uint64_t violations;
    char violation[256]; /* the first */
};

/*
 * Runs it. PAWL_OK: nothing is wrong. PAWL_ECORRUPT: the checker has found something, which is in
 * the report and the message. PAWL_EDEADLOCK, PAWL_ELIMIT: the baton's. PAWL_EINVAL, PAWL_ENOMEM.
 * The report is filled as far as the run got, whatever the answer. `alloc` need not be thread-safe.
 */
PAWL_MUST_CHECK int pawl__cluster_run(const struct pawl_allocator *alloc,
                                      const struct pawl_cluster_options *options,
                                      struct pawl_cluster_report *report, struct pawl_error *err);

#endif
