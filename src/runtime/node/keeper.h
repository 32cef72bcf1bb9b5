/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lease keeper: makes this process a node of the store and keeps its lease alive.
 *
 * A node lives while its lease in the store does. The keeper renews it after a third of its time,
 * gives a renewal up after another third, and tries again soon.
 * Whether the node may still think itself alive is judged by the local monotonic clock, from the
 * moment before the last successful request was sent: never later than the store would judge it.
 * A node whose lease is over may go on trying: the fence refuses what others have taken over.
 *
 * An incarnation is over when the store does not know it any more: the node's row was forgotten, or
 * another process has joined under its id. Then the node joins anew, with a new incarnation; what
 * it claimed with the old one is everybody's. Only a node whose id an operator has given does not,
 * as long as the other process lives: of two processes with one id the later one stays, and the
 * earlier one is over for good (pawl__keeper_check).
 */
#ifndef PAWL_RUNTIME_NODE_KEEPER_H
#define PAWL_RUNTIME_NODE_KEEPER_H

#include "base/str.h"

#include <pawl/ext/env.h>
#include <pawl/ext/log.h>
#include <pawl/ext/store.h>

/* Ten seconds; and no less than one. */
#define PAWL_LEASE_US_DEFAULT INT64_C(10000000)
#define PAWL_LEASE_US_MIN INT64_C(1000000)

struct pawl_keeper;

/* What a node tells of itself, at the most. */
#define PAWL_NODE_INFO_MAX 1024

/*
 * Joins the store as `node_id` (copied) and starts the keeper's thread. `info` (copied) is JSON
 * that tells people of this node; "": nothing. `ttl_us` 0: the default. `log` NULL: none.
 * PAWL_EINVAL: an id that is empty, a lease that is too short, too much to tell.
 */
PAWL_MUST_CHECK int pawl__keeper_open(struct pawl_env *env, struct pawl_store *store,
                                      struct pawl_str node_id, struct pawl_str info, int64_t ttl_us,
                                      const struct pawl_log *log, struct pawl_keeper **out,
                                      struct pawl_error *err);
/* Ends the thread and leaves the store: what this node owned is free at once. NULL allowed. */
void pawl__keeper_close(struct pawl_keeper *keeper);

/*
 * `duty` is called on the keeper's thread after each renewal that succeeded from now on, until the
 * keeper is closed; it must return by the deadline it is given, when the next renewal is due. NULL:
 * none any more. The earlier duty is not being called when this returns; not to be called by it.
 */
void pawl__keeper_set_duty(struct pawl_keeper *keeper, void (*duty)(void *ctx, int64_t deadline_ns),
                           void *ctx);

/* How many threads of this node hang; told with the next renewal, as "stuck" in its info. */
void pawl__keeper_set_stuck(struct pawl_keeper *keeper, uint32_t stuck);
const char *pawl__keeper_node_id(const struct pawl_keeper *keeper);

/*
 * The id was given by an operator, not made for this process. `ended` is called once, on the
 * keeper's thread, when another process that lives has it.
 */
void pawl__keeper_set_named(struct pawl_keeper *keeper, void (*ended)(void *ctx), void *ctx);
/* PAWL_OK; PAWL_ECONFLICT: this node is over for good, and the message says why and what to do. */
PAWL_MUST_CHECK int pawl__keeper_check(struct pawl_keeper *keeper, struct pawl_error *err);

/*
 * Ends this incarnation and joins anew: whatever it has claimed or taken is free for others at
 * once, as if the node had died. For a node that can do none of it any more. Returns before it is
 * so.
 */
void pawl__keeper_renounce(struct pawl_keeper *keeper);

/* What claims and takes are made with. It changes when the node joins anew. */
int64_t pawl__keeper_incarnation(const struct pawl_keeper *keeper);
/*
 * Whether the lease holds by this node's own clock. A node for which it does not should start
 * nothing new.
 */
bool pawl__keeper_is_alive(struct pawl_keeper *keeper);
/*
 * Renews the lease now if it is over by this node's own clock: a process that was paused need not
 * wait for its keeper's next round. PAWL_EUNAVAILABLE: its incarnation is over, and the keeper is
 * about to join anew. PAWL_ECONFLICT: see pawl__keeper_check().
 */
PAWL_MUST_CHECK int pawl__keeper_revive(struct pawl_keeper *keeper, struct pawl_error *err);

#endif
