/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The API of a node: routes, operations behind them, views of what they return. The table of routes
 * (routes.c) says what there is and on what terms.
 *
 * GET /health/live: 200 as long as the process runs; handled on the loop, without a worker.
 *
 * GET /health/ready: 200 while the node can be given work; otherwise 503 with the reason.
 *
 * Who calls is known and permitted before a body is read (guard.c).
 */
#ifndef PAWL_API_API_H
#define PAWL_API_API_H

#include "http/server.h"

struct pawl_api;
struct pawl_host;

/* Borrows host and log, which outlive it; the host is started. PAWL_ENOMEM, … */
PAWL_MUST_CHECK int pawl__api_open(struct pawl_env *env, struct pawl_host *host,
                                   const struct pawl_log *log, struct pawl_api **out,
                                   struct pawl_error *err);

/* For listening, starting and looking. The API drains, stops and closes it. */
struct pawl_server *pawl__api_server(struct pawl_api *api);

/*
 * Not ready any more, then as pawl__server_drain(). The node winds up afterwards, so that requests
 * that wait for instances can end.
 */
PAWL_MUST_CHECK int pawl__api_drain(struct pawl_api *api, int64_t deadline_ns);

void pawl__api_close(struct pawl_api *api); /* NULL allowed */

/* The table of routes, for whoever shows it: free with pawl__api_routes_free(). PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__api_routes_new(const struct pawl_allocator *alloc,
                                         struct pawl_route **out, size_t *count);
void pawl__api_routes_free(const struct pawl_allocator *alloc, struct pawl_route *routes);
/* What a route needs, in words: "anonymous", "signed in", or permissions of which one will do. */
const char *pawl__api_terms(const struct pawl_route *route);

#endif
