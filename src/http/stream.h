/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Responses in pieces: begun, written as often as needed, ended. Instead of respond(), by whoever
 * has the exchange, on any thread, one at a time.
 *
 *     status = pawl__exchange_begin(exchange, 200, PAWL_LENGTH_UNKNOWN);
 *     status = pawl__exchange_write(exchange, piece);
 *     …
 *     pawl__exchange_end(exchange, true);
 *
 * What is written is queued and sent by the loop. The queue is bounded (stream_bytes_max): when it
 * is full, write() is PAWL_EBUSY, and pawl__exchange_when_writable() continues on a worker once the
 * client has read. No thread waits for a client.
 */
#ifndef PAWL_HTTP_STREAM_H
#define PAWL_HTTP_STREAM_H

#include "http/exchange.h"

#define PAWL_LENGTH_UNKNOWN UINT64_MAX

/*
 * Sends the head with the fields that were added. With a length the pieces are exactly as long
 * together; without one they are sent as chunks, or, to HTTP/1.0, until the connection closes. The
 * deadline of the request does not count any more. On failure nothing was sent, and the exchange
 * can be responded to otherwise. PAWL_ENOMEM; PAWL_EINVAL: a field has a control character.
 */
PAWL_MUST_CHECK int pawl__exchange_begin(struct pawl_exchange *exchange, int status,
                                         uint64_t length);

/*
 * Copies a piece, all or nothing. PAWL_EBUSY: no room now. PAWL_ELIMIT: larger than the queue may
 * be. PAWL_EINVAL: longer than the length that was promised. PAWL_EUNAVAILABLE: the client is gone.
 * PAWL_ENOMEM. After any of them the stream can still be written to and must still be ended.
 */
PAWL_MUST_CHECK int pawl__exchange_write(struct pawl_exchange *exchange, struct pawl_str piece);

/*
 * Hands the exchange over until half the queue is free, or the client is gone; then calls
 * `writable` once with the exchange: on a worker, or, if the client is already gone, at once. It is
 * the last thing that its owner does with the exchange.
 */
void pawl__exchange_when_writable(struct pawl_exchange *exchange,
                                  void (*writable)(struct pawl_exchange *exchange, void *ctx),
                                  void *ctx);

/*
 * Ends the exchange; what is queued is still sent. Not `complete`, or fewer bytes than promised:
 * the connection is aborted, so that the client notices.
 */
void pawl__exchange_end(struct pawl_exchange *exchange, bool complete);

/* ---- server-sent events -------------------------------------------------------------------- */

/*
 * Begins a stream of events (text/event-stream), as pawl__exchange_begin() does. A comment is sent
 * when nothing was for a while, so that proxies keep the connection and a client that has vanished
 * is noticed. pawl__exchange_on_gone() also reports that the server drains: end the stream then.
 */
PAWL_MUST_CHECK int pawl__events_begin(struct pawl_exchange *exchange);

/*
 * One event: `name` and `id` are "" or without line ends (PAWL_EINVAL); `data` may have several
 * lines. As pawl__exchange_write().
 */
PAWL_MUST_CHECK int pawl__events_send(struct pawl_exchange *exchange, struct pawl_str name,
                                      struct pawl_str id, struct pawl_str data);

#endif
