/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instances that are created and advanced directly in a store, and a record of what it
 * acknowledged. Each revision of an instance has a state, one bookmark, one row of work and one
 * more page of the journal, all of which say which revision they are of. After a crash the store
 * must have, of every instance, a revision that was acknowledged or a later one that was tried,
 * with everything that belongs to that revision and nothing of another.
 */
#ifndef PAWL_TESTS_POWER_LEDGER_H
#define PAWL_TESTS_POWER_LEDGER_H

#include "base/arena.h"

#include <pawl/ext/store.h>

#define LEDGER_INSTANCES 6

struct ledger {
    struct pawl_env *env;
    struct pawl_arena arena;
    struct pawl_error err;
    struct pawl_store *store;
    int64_t acknowledged[LEDGER_INSTANCES]; /* revisions; 0: it was not created */
    int64_t tried[LEDGER_INSTANCES];
    int64_t node;       /* 0: not joined */
    int64_t nodes_max;  /* the greatest incarnation that was acknowledged */
    int64_t seen_fence; /* likewise, of any instance */
    uint64_t random;    /* which instances, and how many in one call */
    unsigned writes;    /* that were acknowledged */
};

void ledger_open(struct ledger *ledger, uint64_t seed);
void ledger_close(struct ledger *ledger);

/* Joins as a node. The incarnation must not have been there before. */
PAWL_MUST_CHECK int ledger_join(struct ledger *ledger);
/* One call that writes: creates or advances one or several instances. */
PAWL_MUST_CHECK int ledger_write(struct ledger *ledger);
/* Fails the test when the store, opened anew, does not have what it must; `what` is for the report.
 * What was tried and is there counts as acknowledged from here on. */
void ledger_check(struct ledger *ledger, const char *what);

#endif
