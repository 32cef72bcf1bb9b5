/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The node that a case runs on: its clock, its store, the runtime, and the instances as the store
 * has them. Failures are noted as a difference; every function that can fail answers whether it
 * did not.
 */
#ifndef PAWL_TESTS_CONFORMANCE_NODE_H
#define PAWL_TESTS_CONFORMANCE_NODE_H

#include "conformance/case.h"

/* Opens clock, store and runtime of a case. The engine must be set. */
bool node_open(struct running *run);
void node_close(struct running *run);
/* Between two steps: with `reopen_node` the runtime and its store go, and a new node comes. */
bool node_between(struct running *run);
/* A new runtime with the options as they are now. */
bool node_restart(struct running *run);

/* All instances as they are exported, with their journals, behind what is in `out`. */
void node_write_states(struct running *run, struct pawl_buf *out);

/* Of a call on the runtime. */
int64_t deadline(const struct running *run);
struct pawl_definitions *definitions_of(const struct running *run);

/* Everything that is due is done; run->next_due_us is what comes then. */
bool node_drain(struct running *run);

int64_t now_ticks(const struct running *run);
/* Sets the clock on to an instant; one in the past leaves it. */
void set_now_us(struct running *run, int64_t now_us);

/* ---- what the store has ------------------------------------------------------------------ */

/* The instances, in the order of their creation. Lives until something is done. */
const struct seen *seen_first(struct running *run);
/* NULL after the last. */
const struct seen *seen_next(struct running *run, const struct seen *instance);
/* The instance that the case started; NULL: none. */
const struct seen *seen_entry(struct running *run);
/* Log and records; empty arrays when there are none. */
const struct pawl_json *seen_log(struct running *run, const struct seen *instance);
const struct pawl_json *seen_records(struct running *run, const struct seen *instance);

#define FOR_EACH_SEEN(instance, run)                                                               \
    for ((instance) = seen_first(run); (instance); (instance) = seen_next(run, instance))

/* All rows of a table, in the case's arena; false: noted. */
bool all_rows(struct running *run, enum pawl_table table, struct pawl_rows *out);
/* JSON of a column of bytes; null when it cannot be read. */
struct pawl_json parsed(struct running *run, struct pawl_str text);

#endif
