/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hub of workflow instances: who watches an instance is told of its changes, in SignalR's
 * protocol, as Elsa's hub does (docs/design/0019-hub.md).
 *
 *     protocol.c     messages, without a connection
 *     transport.c    requests: negotiating, WebSocket, server-sent events, long polling
 *     connection.c   a connection: its handshake, what it asks for, what waits to be sent, its end
 *     watch.c        instances that are watched: who watches, what has changed, what is said of it
 *     hub.c          the thread, and the life of all of it
 *
 * Everything is bounded: connections, instances, messages in both directions, and what waits for a
 * client that does not read: of what did not fit it gets the latest when it reads again.
 */
#ifndef PAWL_API_HUB_HUB_H
#define PAWL_API_HUB_HUB_H

#include <pawl/error.h>
#include <pawl/ext/env.h>

#include <stdbool.h>
#include <stdint.h>

struct pawl_api;
struct pawl_hub;

/* Borrows the API. Starts nothing: its thread starts with the first connection. */
PAWL_MUST_CHECK int pawl__hub_open(struct pawl_api *api, struct pawl_hub **out,
                                   struct pawl_error *err);
/* Ends all connections such that clients connect again, elsewhere; none is opened any more. */
void pawl__hub_drain(struct pawl_hub *hub);
/* After the server has stopped and before it closes: responds to all that wait. Once. */
void pawl__hub_stop(struct pawl_hub *hub);
void pawl__hub_close(struct pawl_hub *hub); /* after stop(). NULL allowed */

struct pawl_hub_figures {
    uint32_t web_sockets, server_sent_events, long_polling; /* connections, now */
    uint32_t instances;                                     /* that are watched, now */
};
void pawl__hub_figures(struct pawl_hub *hub, struct pawl_hub_figures *out);

#endif
