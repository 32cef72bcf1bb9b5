/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pauses: what an operator does to a node, or to all nodes of a store, so that nothing new begins.
 *
 * A pause is a row of the table of settings, one for the cluster and one for each node that is
 * paused by itself. So it outlives the processes, and reaches every node without a message: each
 * looks before it takes work or begins what a caller asks for, unless it has looked within
 * PAWL_PAUSE_SEEN_NS. A paused node keeps its lease, finishes what it has begun and what it had
 * taken, and takes nothing more. What is sent to it is stored and done later; what a caller wants
 * run now is refused, retries too. Cancelling, deleting, and alterations that run no activity go
 * on: they begin nothing.
 */
#ifndef PAWL_RUNTIME_NODE_PAUSE_H
#define PAWL_RUNTIME_NODE_PAUSE_H

#include "base/arena.h"
#include "runtime/values.h"

#include <pawl/ext/env.h>
#include <pawl/ext/store.h>

/* How old what a node knows of pauses may be. */
#define PAWL_PAUSE_SEEN_NS INT64_C(500000000)
/* Bytes of who and why, each. */
#define PAWL_PAUSE_TEXT_MAX 1024u

struct pawl_audit;
struct pawl_runtime;

/*
 * Pauses; returns what is so now in `out` (its texts in the arena): the earlier pause, if there is
 * one. PAWL_ELIMIT: a text is too long. `by` records what is changed (runtime/audit.h); NULL:
 * nothing does.
 */
PAWL_MUST_CHECK int pawl__pause_begin(struct pawl_store *store, struct pawl_audit *by,
                                      const struct pawl_pause *pause, struct pawl_arena *arena,
                                      struct pawl_pause *out, int64_t deadline_ns,
                                      struct pawl_error *err);
/* Ends that of a node, or of the cluster (""). *ended: there was one. */
PAWL_MUST_CHECK int pawl__pause_end(struct pawl_store *store, struct pawl_audit *by,
                                    struct pawl_str node_id, struct pawl_arena *arena, bool *ended,
                                    int64_t deadline_ns, struct pawl_error *err);
/* All that there are, in the arena, that of the cluster first. */
PAWL_MUST_CHECK int pawl__pauses_find(struct pawl_store *store, struct pawl_arena *arena,
                                      const struct pawl_pause **out, size_t *count,
                                      int64_t deadline_ns, struct pawl_error *err);
/* The one that holds for this node: of the cluster, or its own. NULL: none. */
const struct pawl_pause *pawl__pause_of(const struct pawl_pause *pauses, size_t count,
                                        struct pawl_str node_id);

/*
 * PAWL_OK: this node may begin something. PAWL_EUNAVAILABLE: it is paused, with by whom and why.
 * Where the store does not tell, what was so before counts.
 */
PAWL_MUST_CHECK int pawl__runtime_check_paused(struct pawl_runtime *runtime, int64_t deadline_ns,
                                               struct pawl_error *err);
/* A pause began or ended through this process: the next check looks, however lately it did. */
void pawl__runtime_look_for_pauses(struct pawl_runtime *runtime);

#endif
