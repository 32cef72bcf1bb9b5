/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server of HTTP/1.1 that knows nothing of workflows (docs/internals/server.md).
 *
 *     pawl__server_new(env, &options, &server, &err);
 *     pawl__server_listen(server, "127.0.0.1:8080", &err);     as often as needed
 *     pawl__server_start(server, &err);
 *     …
 *     pawl__server_drain(server, deadline_ns);                 from another thread
 *     pawl__server_stop(server);
 *     …                                                        responds to what was put aside
 *     pawl__server_close(server);
 *
 * One thread, the loop, reads and parses all connections; requests that are complete are handed to
 * a pool of threads that starts when there is something to do, or, where their route says so,
 * handled by the loop. The thread that responds sends. Everything is bounded, see struct
 * pawl_server_limits.
 */
#ifndef PAWL_HTTP_SERVER_H
#define PAWL_HTTP_SERVER_H

#include "http/exchange.h"
#include "http/route.h"

#include <pawl/ext/log.h>

struct pawl_addresses;
struct pawl_server;

/* The status that a request gets which exceeds a limit; each with a message. */
struct pawl_server_limits {
    uint32_t connections_max;             /* 503 and Retry-After */
    uint32_t connections_per_address_max; /* 503 and Retry-After; 0: any number. IPv6: a /64.
                                             Trusted proxies may have any number */
    uint32_t head_bytes_max;              /* 431; 100 fields at the most */
    uint32_t target_bytes_max;            /* 414 */
    uint64_t body_bytes_max;              /* 413; a route may have another */
    uint64_t bodies_bytes_max;            /* 503 and Retry-After: all that is held at a time */
    uint64_t response_bytes_max;          /* 500: the body of one response */
    uint64_t replies_bytes_max;           /* aborted: all that is not read, the slowest first; one
                                             response may have more */
    uint64_t compress_bytes_min;          /* bodies of text from here on; 0: never */
    uint64_t stream_bytes_max;            /* of a response in pieces: what waits to be sent */
    uint32_t queue_max;                   /* 503 and Retry-After: requests that wait for a thread */
    uint32_t threads_max;                 /* and as many for routes that compute */
    int64_t head_ms;         /* 408: from the first byte of a request to the end of its head */
    int64_t body_ms;         /* 408: from there on, and longer as bytes come in */
    int64_t request_ms;      /* 504: from the end of the head to the response */
    int64_t send_ms;         /* aborted: a response that is not read; longer as bytes go out */
    uint32_t rate_bytes_min; /* bytes that buy another second for body_ms and send_ms */
    int64_t idle_ms;         /* closed: between two requests */
    int64_t linger_ms;       /* how long a connection is read after a response that closes it */
    int64_t heartbeat_ms;    /* after which a stream of events sends a comment */
};

/* What suits a node behind a proxy or open to a company. */
struct pawl_server_limits pawl__server_limits(void);

struct pawl_server_options {
    const struct pawl_route *routes; /* borrowed for the server's life */
    size_t route_count;
    void *ctx; /* of all handlers and of the two functions below */
    /*
     * Asked on the loop, after the head and before the body, whether a request to a route with a
     * permission may go on: 0, or a status such as 401 or 403. *detail, a constant, is for the
     * client. It must not wait. NULL: no route may have a permission.
     */
    int (*admit)(void *ctx, struct pawl_exchange *exchange, const char **detail);
    /*
     * Called for every response by the thread that sends it, or ends it if it was sent in pieces (a
     * WebSocket: with status 101); must not wait. A request that was refused early has no route.
     * NULL allowed.
     */
    void (*observe)(void *ctx, const struct pawl_exchange *exchange, int status,
                    int64_t duration_ns);
    /*
     * Called on the loop for every head that is complete, before its route is found: it may add
     * fields to the response. 0: the request goes on; a status ends it, such as 204. It must not
     * wait. NULL allowed.
     */
    int (*arrive)(void *ctx, struct pawl_exchange *exchange);
    const char *fields;         /* of every response, each with its CRLF; borrowed. NULL: none */
    const struct pawl_log *log; /* borrowed; NULL: none */
    struct pawl_poller *poller; /* borrowed; NULL: the system's */
    const struct pawl_addresses *trusted_proxies; /* borrowed; NULL: none; see client.h */
    const char *public_url;                       /* borrowed; NULL, "": what clients name */
    struct pawl_server_limits limits;
};

/* PAWL_EINVAL: a route is wrong, or has a permission and there is no admit(). PAWL_ENOMEM, … */
PAWL_MUST_CHECK int pawl__server_new(struct pawl_env *env,
                                     const struct pawl_server_options *options,
                                     struct pawl_server **out, struct pawl_error *err);

#define PAWL_SERVER_LISTENERS_MAX 16

/*
 * Before start(): "HOST:PORT", "[::1]:PORT", ":PORT" (all addresses), "unix:PATH". Port 0 is any
 * free one. PAWL_EINVAL, PAWL_EBUSY, …
 */
PAWL_MUST_CHECK int pawl__server_listen(struct pawl_server *server, const char *where,
                                        struct pawl_error *err);
/* Takes a descriptor that listens, such as a service manager's. */
PAWL_MUST_CHECK int pawl__server_listen_descriptor(struct pawl_server *server, int fd,
                                                   struct pawl_error *err);
/*
 * Speak TLS, at all places but Unix-domain sockets, with this certificate and key (PEM files). Once
 * before start(); again, from any thread, when the files have changed: connections that exist keep
 * what they have. On failure nothing has changed. PAWL_EMISSING, PAWL_EINVAL, PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int pawl__server_secure(struct pawl_server *server, const char *certificate_path,
                                        const char *key_path, struct pawl_error *err);
/* The port of the nth listener, counted from 0; 0 when it has none. */
uint16_t pawl__server_port(const struct pawl_server *server, size_t index);
/* Where it listens: "http://127.0.0.1:8080", "unix:/run/pawl". false: there is no nth. Before
 * start(), or until the server drains. */
bool pawl__server_place(const struct pawl_server *server, size_t index, char *out, size_t size);

/* Starts the loop's thread. */
PAWL_MUST_CHECK int pawl__server_start(struct pawl_server *server, struct pawl_error *err);

/*
 * Instead of start(), for callers that run the loop themselves: waits until the deadline for
 * something to do, does it, returns. PAWL_ESTOPPED.
 */
PAWL_MUST_CHECK int pawl__server_turn(struct pawl_server *server, int64_t deadline_ns);

/*
 * Accepts nothing more, closes connections that are idle, lets requests end, and waits for that.
 * PAWL_ETIMEDOUT: some have not. PAWL_ESTOPPED. From any thread but the loop's; after start().
 */
PAWL_MUST_CHECK int pawl__server_drain(struct pawl_server *server, int64_t deadline_ns);

/*
 * Hangs up on everybody and waits for handlers that run: afterwards none runs any more. Exchanges
 * that were put aside can still be responded to, and must be before close(). From any thread but
 * the server's own; once.
 */
void pawl__server_stop(struct pawl_server *server);

/* Stops it if need be, and frees it. respond() has returned for every exchange. NULL allowed. */
void pawl__server_close(struct pawl_server *server);

struct pawl_server_figures {
    uint64_t connections; /* now */
    uint64_t connections_total;
    uint64_t connections_refused; /* with a 503 */
    uint64_t requests_total;
    uint64_t accept_pauses; /* no descriptor was left */
    uint32_t queued;        /* requests that wait for a thread, now */
    uint32_t threads;       /* of both pools, now */
    uint64_t body_bytes;    /* held, now */
    uint64_t reply_bytes;   /* held, now: of responses that are not read */
};
/* From any thread. */
void pawl__server_figures(struct pawl_server *server, struct pawl_server_figures *out);

/* The version of the parser that is compiled in: "8.1.0". */
const char *pawl__server_parser_version(void);

#endif
