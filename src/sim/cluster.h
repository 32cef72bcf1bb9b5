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
    /* Defects that Pawl had: */
    PAWL_CLUSTER_BUG_LOCK_WAITS,    /* leases wait behind claims, and claims for locked rows */
    PAWL_CLUSTER_BUG_LOST_STATE,    /* a state that could not be loaded is overwritten */
    PAWL_CLUSTER_BUG_READ_ONLY,     /* a server that fails over is taken for one that refuses */
    PAWL_CLUSTER_BUG_WAKES_ALL,     /* a bookmark wakes all that is parked under its hash */
    PAWL_CLUSTER_BUG_MAIL_STAYS,    /* parked mail that expires is taken and not done */
    PAWL_CLUSTER_BUG_UNTOLD,        /* a node is not told that its incarnation is over */
    PAWL_CLUSTER_BUG_NEVER_YIELDS,  /* a loop keeps its worker */
    PAWL_CLUSTER_BUG_CANCEL_UNSEEN, /* a burst sees that it is to be cancelled only at a commit */
    PAWL_CLUSTER_BUG_SENT_TWICE,    /* what was sent without a key takes effect as often as sent */
    PAWL_CLUSTER_BUG_TICKS_END,     /* a start that is given up takes the next tick with it */
    PAWL_CLUSTER_BUG_WRONG_CLASS,   /* a lost answer to a commit counts as "nothing happened" */
    PAWL_CLUSTER_BUG_COUNT
};

/*
 * What goes on in a run beside the crashes, pauses and lost answers that are in all of them. By
 * seed, so that each is in many and no run has all.
 */
#define PAWL_CLUSTER_OUTAGES 1u     /* a node's network is away for longer than its lease */
#define PAWL_CLUSTER_FORGETS 2u     /* the server crashes and forgets what was not synced */
#define PAWL_CLUSTER_FAILOVERS 4u   /* the server refuses to write for a while */
#define PAWL_CLUSTER_HALF_SENT 8u   /* nodes stand still in the middle of a batch: locked rows */
#define PAWL_CLUSTER_LOADS 16u      /* what was claimed cannot be loaded */
#define PAWL_CLUSTER_OPERATOR 32u   /* replays dead letters and refreshes definitions */
#define PAWL_CLUSTER_STARTS 64u     /* starts of the recurring trigger fail for a while */
#define PAWL_CLUSTER_LOOPS 128u     /* workflows that never end, until they are cancelled */
#define PAWL_CLUSTER_PARKED 256u    /* events by the hundred that nobody waits for */
#define PAWL_CLUSTER_NAMESAKES 512u /* two nodes have the same id */
#define PAWL_CLUSTER_PLAIN 1024u    /* nothing of the above */
#define PAWL_CLUSTER_SENDER 2048u   /* the last node has no workers */
#define PAWL_CLUSTER_CLOCK 4096u    /* the server's clock is set back; only if it is asked for */

/* How events reach instances that nobody runs. */
enum pawl_cluster_delivery {
    PAWL_CLUSTER_MIXED, /* as the next two, by chance, and in commits of their own or shared */
    PAWL_CLUSTER_DIRECT,
    PAWL_CLUSTER_ROWS
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
    enum pawl_cluster_delivery delivery;
    uint32_t features; /* PAWL_CLUSTER_…: what else goes on; 0: by seed */
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
    uint64_t retried;  /* asked again with the same key */
    uint64_t keyless;  /* asked once, without one */
    uint64_t unsure;   /* of those: what was not answered */
    uint64_t ran;      /* instances that were told to go on */
    uint64_t replayed; /* dead letters, by the operator */
    uint64_t refreshed;
    uint64_t retried_aside; /* instances that had been set aside */
    /* What the server saw: */
    uint64_t instances;
    uint64_t commits;
    uint64_t delivered;   /* events to instances */
    uint64_t direct;      /* of those, that never were a row */
    uint64_t folds;       /* commits with the effects of several events */
    uint64_t applied;     /* of those, by the instance */
    uint64_t ticks;       /* of cron */
    uint64_t tick_starts; /* instances of those */
    uint64_t singles;     /* instances of the singleton, one after the other */
    uint64_t children;    /* ends that were told to parents */
    uint64_t dead;        /* letters */
    uint64_t answers;     /* to requests that were noted */
    uint64_t births;      /* instances that events started */
    uint64_t orders;      /* events that were noted by the one for which they were */
    uint64_t loops;       /* cancelled in the end */
    /* What was done to the nodes: */
    uint64_t boots;
    uint64_t crashes;
    uint64_t drains;
    uint64_t pauses;
    uint64_t shifts;       /* of clocks */
    uint64_t failed;       /* calls that were not made */
    uint64_t lost;         /* calls that were made and whose answer was lost */
    uint64_t outages;      /* of one node's network, longer than a lease */
    uint64_t damaged;      /* loads that a node could not read, or had no memory for */
    uint64_t ended_beside; /* instances that were cancelled without their state */
    uint64_t superseded;   /* by another one of the same id */
    uint64_t half_sent;    /* batches whose sender stood still in the middle */
    uint64_t locked;       /* calls that waited for rows of such a batch */
    uint64_t broken;       /* batches whose session was ended by others */
    /* To their server: */
    uint64_t server_crashes;
    uint64_t forgotten; /* claims and takes */
    uint64_t visited;   /* visits that were committed */
    uint64_t failovers;
    uint64_t start_failures; /* of the recurring trigger */
    /* And to their lock service: */
    uint64_t lock_failed; /* calls that it did not get, or whose answer was lost */
    uint64_t lock_twice;  /* attempts that are granted whoever holds the lock */
    uint64_t lock_lost;   /* renewals that are answered with the loss of all locks */
    uint64_t lock_outages;
    /* What is wrong: */
    uint64_t violations;
    char violation[400]; /* the first; ids are long */
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
