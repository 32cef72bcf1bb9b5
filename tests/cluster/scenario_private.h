/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the scenario share; see scenario.h. */
#ifndef PAWL_TESTS_CLUSTER_SCENARIO_PRIVATE_H
#define PAWL_TESTS_CLUSTER_SCENARIO_PRIVATE_H

#include "cluster/scenario.h"
#include "locks/locks.h"
#include "runtime/runtime.h"

#define SCENARIO_DOOMED_ID "doomed-1"
#define SCENARIO_HELD_ID "held-1"

struct scenario {
    struct pawl_env *env;
    struct scenario_options options;
    struct pawl_engine engine;
    struct pawl_store *store;
    struct pawl_runtime *runtime;
    struct pawl_http_executor *http; /* NULL: nothing is sent */
    struct pawl_locks *locks;        /* NULL: a node alone */
    struct pawl_guard *guard;        /* likewise */
    struct pawl_arena arena;         /* of one step */
    int64_t give_up_ns;
};

/* ---- locking.c ------------------------------------------------------------------------------- */

/* Makes it one of several nodes if it has locks. After the store is opened. */
PAWL_MUST_CHECK int scenario_open_locks(struct scenario *s, struct pawl_error *err);
/* After the runtime is closed; also what was opened in part. */
void scenario_close_locks(struct scenario *s);

/* ---- scenario.c, account.c ------------------------------------------------------------------- */

int64_t scenario_later(const struct scenario *s);
/* Whether a call that answered `status` is worth another try. */
bool scenario_again(struct scenario *s, int status, unsigned *tries);
/* Whether those that are to be cancelled have come as far as they do by themselves. */
PAWL_MUST_CHECK int scenario_is_doomed(struct scenario *s, bool *doomed, struct pawl_error *err);
/* Whether all instances have ended and nothing is left to do. */
PAWL_MUST_CHECK int scenario_is_settled(struct scenario *s, bool *settled, struct pawl_error *err);

#endif
