/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WebSocket on an exchange: whole messages in both directions.
 *
 *     static void handle(struct pawl_exchange *exchange, void *ctx)
 *     {
 *         (void)!pawl__websocket_accept(exchange, &handler, state, NULL, &socket);
 *     }
 *
 * Messages come one at a time, in order, on a worker; while one is handled nothing is read from
 * its client. Anybody may send, on any thread, until `closed` has been called: the last call for a
 * socket, which is gone when it returns. The server pings a client that is silent and drops one
 * that does not respond. Whether the request's Origin may open a socket is the caller's to check.
 */
#ifndef PAWL_HTTP_WEBSOCKET_H
#define PAWL_HTTP_WEBSOCKET_H

#include "http/exchange.h"
#include "http/frame.h"

struct pawl_websocket;

struct pawl_websocket_handler {
    size_t message_bytes_max; /* a longer one closes with 1009; 0: 1 MB */
    /* `bytes` are borrowed for the call; of text they are UTF-8. */
    void (*message)(struct pawl_websocket *socket, void *ctx, bool text, struct pawl_str bytes);
    /* After a send() that was PAWL_EBUSY: half of the queue is free. NULL allowed. */
    void (*writable)(struct pawl_websocket *socket, void *ctx);
    /* `code` is the client's, ours when we closed first, or 1005 and 1006 (frame.h). */
    void (*closed)(struct pawl_websocket *socket, void *ctx, int code);
};

/*
 * Instead of respond(): switches to WebSocket, or refuses the request. `protocol` is the one of
 * those the client offers that is chosen; NULL: none. Borrows handler and ctx until `closed` has
 * returned. PAWL_EINVAL: refused, it is not a proper request for a WebSocket. PAWL_ENOMEM: refused.
 * PAWL_EUNAVAILABLE: the client has gone. In each of these cases the exchange is gone and nothing
 * will be called.
 */
PAWL_MUST_CHECK int pawl__websocket_accept(struct pawl_exchange *exchange,
                                           const struct pawl_websocket_handler *handler, void *ctx,
                                           const char *protocol, struct pawl_websocket **out);

/*
 * Queues a message. PAWL_EBUSY: the client does not read; see `writable`. PAWL_ELIMIT: larger than
 * the queue. PAWL_EINVAL: text that is not UTF-8. PAWL_EUNAVAILABLE: closed, or about to be.
 * PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int pawl__websocket_send(struct pawl_websocket *socket, bool text,
                                         struct pawl_str bytes);

/* Closes with a code that may be sent and at most 123 bytes of UTF-8. Twice is once. */
void pawl__websocket_close(struct pawl_websocket *socket, int code, const char *reason);

#endif
