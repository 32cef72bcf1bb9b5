/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An exchange: one request and its response, as a handler sees them.
 *
 * A handler gets it when the request is complete, body included. It responds with
 * pawl__exchange_respond(), exactly once, then or later, on its own thread or on any other: a
 * request that waits for something holds no thread. Until then the exchange belongs to whoever has
 * it and one thread uses it at a time; afterwards it is gone.
 *
 *     static void get_thing(struct pawl_exchange *exchange, void *ctx)
 *     {
 *         pawl__buf_text(pawl__exchange_out(exchange), "{}");
 *         pawl__exchange_add_field(exchange, "Content-Type", "application/json");
 *         pawl__exchange_respond(exchange, 200);
 *     }
 *
 * A client that goes away, and a deadline that comes, end nothing that was begun: the response is
 * then dropped. pawl__exchange_is_gone() and pawl__exchange_on_gone() report it.
 */
#ifndef PAWL_HTTP_EXCHANGE_H
#define PAWL_HTTP_EXCHANGE_H

#include "base/arena.h"
#include "base/buf.h"
#include "http/route.h"
#include "os/poller.h"

#include <pawl/ext/env.h>

/* ---- the request; everything is borrowed for the exchange's life --------------------------- */

struct pawl_str pawl__exchange_method(const struct pawl_exchange *exchange);
/* As it came, encoded; without the query. */
struct pawl_str pawl__exchange_path(const struct pawl_exchange *exchange);
/* What stands behind '?', as it came; "" when there is none. */
struct pawl_str pawl__exchange_query(const struct pawl_exchange *exchange);
/* A parameter of the route, decoded: UTF-8 without NUL. "" when the route has none of that name. */
struct pawl_str pawl__exchange_parameter(const struct pawl_exchange *exchange, const char *name);

/* The first field of that name, without case; ptr is NULL when there is none. */
struct pawl_str pawl__exchange_field(const struct pawl_exchange *exchange, const char *name);
size_t pawl__exchange_field_count(const struct pawl_exchange *exchange);
void pawl__exchange_field_at(const struct pawl_exchange *exchange, size_t index,
                             struct pawl_str *name, struct pawl_str *value);

struct pawl_str pawl__exchange_body(const struct pawl_exchange *exchange);

const struct pawl_route *pawl__exchange_route(const struct pawl_exchange *exchange);
const struct pawl_peer *pawl__exchange_peer(const struct pawl_exchange *exchange);
/* When the server sends 504 by itself; PAWL_FOREVER: never. */
int64_t pawl__exchange_deadline_ns(const struct pawl_exchange *exchange);

/* A pointer of the function that admitted the request, such as its principal. */
void pawl__exchange_set_owner(struct pawl_exchange *exchange, void *owner);
void *pawl__exchange_owner(const struct pawl_exchange *exchange);

/* For what belongs to the request, 64 KB at the most. For the thread that has the exchange. */
struct pawl_arena *pawl__exchange_arena(struct pawl_exchange *exchange);

/* ---- the response ------------------------------------------------------------------------ */

/* Where the body is written to. A failure of the buffer becomes a 500. */
struct pawl_buf *pawl__exchange_out(struct pawl_exchange *exchange);

/*
 * Adds a field. Name and value are copied; one with a control character other than a tab is not
 * sent but becomes a 500. The server writes Date, Content-Length and Connection.
 */
void pawl__exchange_add_field(struct pawl_exchange *exchange, const char *name, const char *value);
void pawl__exchange_add_field_str(struct pawl_exchange *exchange, struct pawl_str name,
                                  struct pawl_str value);

/* Ends the exchange: `status` is 200 to 599. Never waits for the client. */
void pawl__exchange_respond(struct pawl_exchange *exchange, int status);

/*
 * The same with a problem (RFC 9457) as its body, whatever was written before; fields that were
 * added stay. `detail` is for people: what is wrong, and what to do.
 */
void pawl__exchange_refuse(struct pawl_exchange *exchange, int status, const char *detail);

/* ---- clients that are gone ---------------------------------------------------------------- */

/* Whether the client has ended its side, hung up, or got 504. For the thread that has the exchange.
 */
bool pawl__exchange_is_gone(struct pawl_exchange *exchange);

/*
 * Calls `gone` once, on the server's thread, when that happens: it may wake a thread, and neither
 * waits nor responds. false: it has happened, and there will be no call. There is none after
 * respond() has returned.
 */
bool pawl__exchange_on_gone(struct pawl_exchange *exchange, void (*gone)(void *ctx), void *ctx);

#endif
