/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One node that drives a few workflows to their end, in steps that may all be taken again: starts
 * and events have keys, instances have fixed ids. Whatever happens to the node in between, driving
 * again, on this node or another, must come to the same account.
 *
 *     main      commits after every activity: counts, waits for an event that was sent before, for
 *               some milliseconds, for a child that it dispatches, for two that it executes inline
 *               (one of which waits itself), publishes an event, waits for another
 *     listener  waits for what main publishes
 *     slow      a child that waits for some milliseconds
 *     quick     a child that does not
 *     fired     started by an event, one at a time
 *     timed     started by time, once
 *
 * With a server outside, also:
 *
 *     caller    sends a request and waits for its answer, and another in the background
 *     forked    two branches that each wait for some milliseconds
 *     doomed    executes a child, patient, that waits for what never comes; both are cancelled
 *     held      sends a request that is never answered, and is cancelled
 */
#ifndef PAWL_TESTS_CLUSTER_SCENARIO_H
#define PAWL_TESTS_CLUSTER_SCENARIO_H

#include "base/buf.h"
#include "locks/providers.h"
#include "stores/stores.h"

/* When all of them have ended there are so many instances, and so many more with a server. */
#define SCENARIO_INSTANCES 7u
#define SCENARIO_INSTANCES_OUTSIDE 5u

/* What is asked for of the server. */
#define SCENARIO_PLAIN_PATH "/plain"
#define SCENARIO_ASIDE_PATH "/aside"
#define SCENARIO_HELD_PATH "/held"

/* The definition with the most commits, and the instance of it that callers start. */
#define SCENARIO_MAIN "main"
#define SCENARIO_MAIN_ID "main-1"

struct scenario;

struct scenario_options {
    /* "memory:", "sqlite:PATH" or what libpq calls a URI. Made when it is not there. */
    const char *store;
    const char *node;
    const char *url;  /* of the server outside; NULL: none */
    int64_t lease_us; /* 0: the runtime's default */
    bool keyless;     /* events have no keys: each is sent once, unless nothing happened */
    /* Around the store; `decide` NULL: none. Leaves the opening of the store alone. */
    struct pawl_store_fault_hooks faults;
    const char *locks; /* URI of a lock service: the node is one of several; NULL: it is alone */
    struct pawl_lock_fault_hooks lock_faults; /* around the locks; `decide` NULL: none */
    /* A line of a workflow. NULL: nobody listens. */
    int (*line)(void *ctx, struct pawl_str instance_id, struct pawl_str text);
    /* Before the commit of what an activity did. NULL likewise. */
    void (*logged)(void *ctx, struct pawl_str instance_id, struct pawl_str activity_id,
                   struct pawl_str event);
    /* A start or an event was accepted; the store has a reservation "KIND:KEY". NULL likewise. */
    void (*accepted)(void *ctx, const char *kind, const char *key);
    void *ctx;
    int64_t patience_ns; /* of the whole; 0: a minute */
};

/*
 * Joins the store. Every call of this header tries again what may be tried again: what is
 * transient, and what is unknown, since all of it may be done twice.
 */
PAWL_MUST_CHECK int scenario_open(const struct scenario_options *options, struct scenario **out,
                                  struct pawl_error *err);
void scenario_close(struct scenario *scenario); /* NULL allowed */

/* Imports and publishes what is not published yet. */
PAWL_MUST_CHECK int scenario_publish(struct scenario *scenario, struct pawl_error *err);
/* Starts main and runs its first burst. Not tried again: the answer is the first one. */
PAWL_MUST_CHECK int scenario_start_main(struct scenario *scenario, struct pawl_error *err);
/* Everything from the beginning to the end. PAWL_ETIMEDOUT: it hangs. */
PAWL_MUST_CHECK int scenario_drive(struct scenario *scenario, struct pawl_error *err);
/* Does what is due until nothing is left to do. PAWL_ETIMEDOUT likewise. */
PAWL_MUST_CHECK int scenario_finish(struct scenario *scenario, struct pawl_error *err);

/*
 * What the store has: instances with status, counter and journal, in order but for branches, and
 * what is left of work, bookmarks, reservations and dead letters. The same for the same history,
 * whatever ids, times and revisions were.
 */
PAWL_MUST_CHECK int scenario_account(struct scenario *scenario, struct pawl_buf *out,
                                     struct pawl_error *err);
/* PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int scenario_instance(struct scenario *scenario, const char *id,
                                      struct pawl_instance_row *out, struct pawl_error *err);

#endif
