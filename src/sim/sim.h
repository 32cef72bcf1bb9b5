/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator: a small cluster in one process, one thread at a time, from one seed.
 *
 * A server has the memory store; nodes claim instances of it and commit to them through the real
 * committer and decorators, while they crash, stand still past their leases, lose answers and have
 * their clocks moved. A checker stands beside the database and outside of the nodes, and knows what
 * was granted, what was applied and what each writer was told. docs/internals/sim.md says more.
 *
 * The same options give the same run, step by step.
 */
#ifndef PAWL_SIM_SIM_H
#define PAWL_SIM_SIM_H

#include "base/str.h"

#include <pawl/ext/env.h>

#define PAWL_SIM_NODES_MAX 8
#define PAWL_SIM_WORKERS_MAX 8
#define PAWL_SIM_INSTANCES_MAX 64

/* Bugs to plant: each must be found, or the checker is not one. */
enum pawl_sim_bug {
    PAWL_SIM_BUG_NONE,
    PAWL_SIM_BUG_SKIP_REVISION,     /* the store does not look at a commit's revision */
    PAWL_SIM_BUG_STEAL,             /* a claim is granted although the owner lives */
    PAWL_SIM_BUG_ACKNOWLEDGE_EARLY, /* a commit is answered without waiting for the store */
    PAWL_SIM_BUG_FENCE_ALONE,       /* a fence is taken as proof of who wrote: Pawl did so once */
};

struct pawl_sim_options {
    uint64_t seed;
    uint32_t nodes;        /* 0: 2 */
    uint32_t workers;      /* threads per node that claim and commit; 0: 2 */
    uint32_t instances;    /* 0: 3 */
    uint32_t seconds;      /* simulated, before the faults end; 0: 6 */
    uint64_t steps_max;    /* of the baton; 0: 200,000. More is PAWL_ELIMIT: a livelock */
    bool calm;             /* no faults at all */
    enum pawl_sim_bug bug; /* planted */
    /* What happens, one line at a time, "seconds who what"; NULL: nobody listens. */
    void (*say)(void *ctx, const char *line);
    void *say_ctx;
};

struct pawl_sim_report {
    uint64_t step_count; /* two runs with equal step counts and hashes were the same run */
    uint64_t trace_hash;
    /* What the workers were told: */
    uint64_t acknowledged;
    uint64_t refused;
    uint64_t unknown;
    /* What the server did: */
    uint64_t granted; /* claims */
    uint64_t applied; /* commits */
    /* What was done to the nodes: */
    uint64_t crashes;
    uint64_t pauses;
    uint64_t shifts; /* of clocks */
    uint64_t failed; /* calls that were not made */
    uint64_t lost;   /* calls that were made and whose answer was lost */
    /* And to the server: */
    uint64_t server_crashes;
    uint64_t forgotten; /* claims */
    /* What is wrong: */
    uint64_t violations;
    char violation[256]; /* the first */
};

/*
 * Runs it. PAWL_OK: nothing is wrong. PAWL_ECORRUPT: the checker has found something, which is in
 * the report and the message. PAWL_EDEADLOCK, PAWL_ELIMIT: the baton's. PAWL_EINVAL, PAWL_ENOMEM.
 * The report is filled as far as the run got, whatever the answer. `alloc` need not be thread-safe.
 */
PAWL_MUST_CHECK int pawl__sim_run(const struct pawl_allocator *alloc,
                                  const struct pawl_sim_options *options,
                                  struct pawl_sim_report *report, struct pawl_error *err);

#endif
