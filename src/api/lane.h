/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lane for requests that hash passwords: two threads at the most, started when they are needed,
 * so that signing in, however often it is tried, leaves the processors and the server's threads to
 * others. What waits for them is bounded.
 */
#ifndef PAWL_API_LANE_H
#define PAWL_API_LANE_H

#include "http/exchange.h"

struct pawl_lane;

/* `ctx` is of all handlers. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__lane_new(struct pawl_env *env, void *ctx, struct pawl_lane **out,
                                   struct pawl_error *err);
/* Takes the exchange: a thread of the lane calls `handle`, or it is refused with 503. */
void pawl__lane_add(struct pawl_lane *lane, struct pawl_exchange *exchange,
                    pawl_route_handler handle);
/* Waits for what runs; what is queued is refused. After it, add() refuses. */
void pawl__lane_stop(struct pawl_lane *lane);
void pawl__lane_free(struct pawl_lane *lane); /* stopped; NULL allowed */

#endif
