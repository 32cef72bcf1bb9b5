/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the server, for the files of src/http only.
 *
 *     server.c      opening, listening, draining, closing
 *     loop.c        a turn: events, responses, timers
 *     listener.c    accepting, refusing, pausing
 *     connection.c  the life of a connection, on the loop
 *     request.c     a head: fields, checks, its route
 *     exchange.c    what handlers see; which thread may respond
 *     response.c    a response as bytes
 *     stream.c      a response in pieces; server-sent events
 *     pump.c        the loop's side of it
 *     websocket.c   messages in both directions; frame.c: their bytes
 *     compress.c    gzip
 *     file.c        static files
 *     transport.c   bytes of a connection, plain or by TLS
 *     handshake.c   the beginning of TLS, on threads of its own
 *     workers.c     pools of threads
 *     peers.c       connections per address
 *
 * Ownership. The loop owns connections. While one is HANDED its exchange belongs to a
 * handler, and `turn`, `wanted` and exchange->connection are guarded by server->mutex:
 *
 *     HANDED -- respond() --> RESPONDING -- sent, not wanted --> RESPONDED (the loop finds out
 * later) |                        '------- else: posted ------------> LOOP
 *        '--- taken back by the loop (deadline, broken, closing): the response will be dropped
 *
 * Only RESPONDING lets another thread use the connection, and it is never freed then. The same is
 * true of one that is SHAKING (handshake.c).
 *
 * A response in pieces (stream.c) stays HANDED until its handler has ended it: threads add to
 * its queue under the mutex and post the connection; only the loop sends.
 */
#ifndef PAWL_HTTP_PRIVATE_H
#define PAWL_HTTP_PRIVATE_H

#include "base/arena.h"
#include "base/hash/siphash.h"
#include "base/list.h"
#include "base/timers.h"
#include "drivers/llhttp.h"
#include "http/server.h"
#include "os/file.h"

#include <stdatomic.h>

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)

#define FIELDS_MAX 100
#define READ_BYTES 65536
#define EVENTS_MAX 256
#define ACCEPTS_PER_TURN 64
/* Connections past the limit that get 503 at a time; those behind them wait. */
#define REFUSED_MAX 32
/* Each takes most of a millisecond, so that a core has more than a thousand in a second. */
#define HANDSHAKE_THREADS_MAX 2

/* ---- exchange ---------------------------------------------------------------------------- */

struct pawl_websocket;
struct stream;
struct pawl_tls;
struct pawl_zlib;
struct pawl_tls_context;

struct field {
    uint32_t name, name_len, value, value_len; /* in `head` */
};

struct pawl_exchange {
    struct pawl_server *server;
    struct pawl_connection *connection; /* NULL: taken back */
    struct pawl_list_link link;         /* in the pool's queue */

    /* The request. */
    struct pawl_buf head; /* method, target, names and values, one behind the other */
    uint32_t method_len, target_len;
    struct field fields[FIELDS_MAX];
    uint32_t field_count;
    bool in_value; /* of the last field */
    struct pawl_route_match match;
    struct pawl_arena arena; /* parameters */
    struct pawl_buf body;
    uint64_t body_held; /* counted in server->body_bytes */
    struct pawl_http_framing framing;
    int64_t since_ns, deadline_ns;
    struct pawl_peer peer;
    bool secure; /* it came by TLS */
    void *owner;

    /* The response. */
    struct pawl_buf fields_out, head_out, out;
    size_t sent;                     /* of head_out, then of out */
    atomic_uint_fast64_t reply_held; /* counted in server->reply_bytes */
    int status;
    int refusal; /* of the request: a status; 0 */
    const char *refusal_detail;
    bool invalid_field;
    bool keep_alive; /* after this response */
    bool without_body;
    struct stream *stream; /* a response in pieces; NULL */

    /* Guarded by server->mutex. */
    void (*gone_function)(void *ctx);
    void *gone_ctx;
    bool gone;
    bool telling; /* gone_function runs */

    /* What a worker calls next, instead of the route's handler; NULL. */
    void (*resume)(struct pawl_exchange *exchange, void *ctx);
    void *resume_ctx;
};

/* PAWL_ENOMEM as NULL. */
struct pawl_exchange *pawl__exchange_new(struct pawl_server *server,
                                         struct pawl_connection *connection, int64_t now_ns);
void pawl__exchange_free(struct pawl_exchange *exchange); /* NULL allowed */
/* Its response holds so many bytes of memory that the client has not read. */
void pawl__exchange_hold(struct pawl_exchange *exchange, uint64_t bytes);
/* Tells the server's observer of the response. */
void pawl__exchange_observe(struct pawl_exchange *exchange);
/* On a thread of the pool: the exchange of this link. */
void pawl__exchange_run(struct pawl_list_link *link);
/* Marks it gone and calls its function. The mutex is held, and released during the call. */
void pawl__exchange_tell_gone(struct pawl_exchange *exchange);

/* ---- request ----------------------------------------------------------------------------- */

bool pawl__request_sink(void *ctx, enum pawl_http_part part, const char *bytes, size_t size_bytes);
/* 0, or the status that refuses a complete head, with *detail. Finds the route. */
int pawl__request_check(struct pawl_exchange *exchange, const char **detail);
/* 0, or the status of a body that cannot be taken; counts what is held. */
int pawl__request_reserve(struct pawl_exchange *exchange, uint64_t bytes);
/* What an early refusal by the sink means. */
const char *pawl__request_refusal_detail(int status);
/* Characters that a host with a port may have (RFC 3986); empty is one, too. */
bool pawl__request_is_host(struct pawl_str text);
struct pawl_str pawl__request_target(const struct pawl_exchange *exchange);
struct pawl_str pawl__request_slice(const struct pawl_exchange *exchange, uint32_t at,
                                    uint32_t len);

/* ---- response ---------------------------------------------------------------------------- */

/* Writes the head of the response; the body is complete. Falls back to a plain 500. */
void pawl__response_prepare(struct pawl_exchange *exchange, int status);
/* The head of a response in pieces. PAWL_ENOMEM, PAWL_EINVAL: a field has a control character. */
PAWL_MUST_CHECK int pawl__response_begin(struct pawl_exchange *exchange,
                                         const struct stream *stream, int status);
/* A problem as the body. */
void pawl__response_problem(struct pawl_exchange *exchange, int status, const char *detail);
/* Sends what it can. PAWL_OK: all. PAWL_EBUSY: not all. Others: the connection is broken. */
int pawl__response_send(struct pawl_exchange *exchange, struct pawl_connection *connection);
const char *pawl__response_reason(int status);
#define PAWL_HTTP_DATE_SIZE 48
/* "Tue, 17 Nov 2026 12:00:00 GMT" */
void pawl__response_date(int64_t wall_ns, char out[PAWL_HTTP_DATE_SIZE]);

/* ---- stream ------------------------------------------------------------------------------ */

/* Guarded by server->mutex from the moment it is begun. */
struct stream {
    struct pawl_buf queue; /* framed, for the loop to take */
    uint64_t pending;      /* bytes that are not sent: in the queue, and those that the loop took */
    uint64_t left;         /* of the length that was promised; UINT64_MAX: none was */
    bool chunked;
    bool ended;                    /* by its handler */
    bool aborted;                  /* it ends without being complete */
    bool blocked;                  /* the client does not read; the loop's, as is `closes_ns` */
    int64_t closes_ns;             /* how long a WebSocket that we closed waits for its client; 0 */
    const char *heartbeat;         /* sent when nothing else was for a while; NULL: nothing */
    struct pawl_websocket *socket; /* it goes both ways; NULL */
    /* Waits for room; NULL: nobody. */
    void (*writable)(struct pawl_exchange *exchange, void *ctx);
    void *writable_ctx;
};

struct stream_progress {
    bool more;  /* the loop has more to send */
    bool ended; /* and will not get more */
    bool aborted;
};

void pawl__stream_free(struct pawl_server *server, struct stream *stream); /* NULL allowed */
/* The loop has sent so many bytes; if that was all it had, it gets what is queued. */
void pawl__stream_advance(struct pawl_exchange *exchange, uint64_t sent,
                          struct stream_progress *out);
/* Nothing was sent for a while: queues a heartbeat. false: there is none, or no need. */
bool pawl__stream_beat(struct pawl_exchange *exchange);
/* Taken back; the mutex is held. Whoever waits for room is called. */
void pawl__stream_lost(struct pawl_exchange *exchange);
/* Calls those that wait for room or were lost, on workers; what finds no place in their queue is
 * tried again. */
void pawl__stream_resume_all(struct pawl_server *server);
/* The same on this thread, once there are no workers any more. */
void pawl__stream_resume_here(struct pawl_server *server);

/* Instead of a body, messages of a WebSocket: the head is 101. PAWL_ENOMEM. PAWL_EUNAVAILABLE: it
 * is a stream, but its connection is gone: nobody will end it but the caller. */
PAWL_MUST_CHECK int pawl__stream_switch(struct pawl_exchange *exchange,
                                        struct pawl_websocket *socket);

/* ---- WebSocket, for the loop ------------------------------------------------------------- */

/* The mutex is held: the connection is gone. */
void pawl__websocket_lost(struct pawl_websocket *socket);
/* The mutex is held: some of the queue was sent. */
void pawl__websocket_sent(struct pawl_websocket *socket);
/* Whether more of what the client sends is to be read now. */
bool pawl__websocket_reads(struct pawl_websocket *socket);
/* By both sides, and no worker has it. */
bool pawl__websocket_is_closed(struct pawl_websocket *socket);
/* By us. */
bool pawl__websocket_is_closing(struct pawl_websocket *socket);
/* false: the last ping was not answered. */
bool pawl__websocket_ping(struct pawl_websocket *socket);
/* Takes *used bytes. false: the connection is to be dropped. */
bool pawl__websocket_feed(struct pawl_websocket *socket, const char *bytes, size_t size_bytes,
                          size_t *used);

/* ---- connection -------------------------------------------------------------------------- */

/*
 *     HANDSHAKE --> IDLE (TLS), LINGERING
 *     IDLE --> HEAD --> BODY --> HANDED --> SENDING --> IDLE
 *                |        |         |          '------> LINGERING
 *                '--------'---------'-> SENDING (refused)
 *                                   '-> STREAMING --> IDLE, LINGERING
 *     any --> DEAD, which absorbs; freed at the end of the turn
 */
enum connection_state { IDLE, HANDSHAKE, HEAD, BODY, HANDED, STREAMING, SENDING, LINGERING, DEAD };

enum turn { TURN_LOOP, TURN_HANDED, TURN_RESPONDING, TURN_RESPONDED };

/* The first member of what is watched: tells connections from listeners. */
struct watched {
    bool is_listener;
};

struct pawl_connection {
    struct watched watched;
    uint8_t state;
    bool readable;                     /* there may be more to read */
    bool ended;                        /* the client sends no more */
    bool refused;                      /* past the limit; not counted */
    uint8_t turn;                      /* guarded by server->mutex, as is `wanted` */
    bool wanted;                       /* the loop is to be woken after the response */
    bool shaking, shake_again, doomed; /* the loop's; see handshake.c */
    int shaken;                        /* of the last step; guarded by server->mutex */
    int fd;
    struct pawl_server *server;
    struct pawl_list_link link, ready_link, posted_link, shaking_link;
    struct pawl_timer timer;
    struct pawl_exchange *exchange;
    struct peer_entry *peer_entry;
    struct pawl_peer peer;
    struct pawl_tls *tls; /* NULL: it is plain */
    char *rest;           /* read, but of a request that is not its turn yet */
    uint32_t rest_len, rest_at;
    int64_t since_ns;     /* of the state; RESPONDED: when */
    uint64_t moved_bytes; /* in BODY and SENDING, for the rate; in LINGERING */
    struct pawl_http_parser parser;
};

/* Takes `fd` on success. `secure`: it speaks TLS. `refusal`: NULL, or why it only gets 503. */
PAWL_MUST_CHECK int pawl__connection_open(struct pawl_server *server, int fd,
                                          const struct pawl_peer *peer, bool secure,
                                          const char *refusal);
void pawl__connection_event(struct pawl_connection *connection, uint32_t what);
/* Goes on reading: in the next turn, when it has had its share of this one. */
void pawl__connection_read(struct pawl_connection *connection);
/* A thread has responded, or added to a stream, and posted it. */
void pawl__connection_posted(struct pawl_connection *connection);
/* With the mutex held. true: the loop is to be woken once it is released. */
bool pawl__connection_post(struct pawl_connection *connection);
void pawl__connection_timer(struct pawl_connection *connection);
/* Responses that are not read hold too much together: drops those that are read most slowly. */
void pawl__connections_relieve(struct pawl_server *server);
/* The server drains: closes if idle. */
void pawl__connection_drain(struct pawl_connection *connection);
/* Whatever state it is in; an exchange that a handler has is taken back; a response that is being
 * sent is waited for. */
void pawl__connection_drop(struct pawl_connection *connection, bool abort);
void pawl__connection_free(struct pawl_connection *connection);

/* ---- transport --------------------------------------------------------------------------- */

/* As the poller's, through TLS where that is spoken. */
PAWL_MUST_CHECK int pawl__transport_read(struct pawl_connection *connection, void *to,
                                         size_t size_bytes, size_t *got);
PAWL_MUST_CHECK int pawl__transport_write(struct pawl_connection *connection, struct pawl_str first,
                                          struct pawl_str second, size_t *written);
/* PAWL_EBUSY: not all that was written is on its way. */
PAWL_MUST_CHECK int pawl__transport_flush(struct pawl_connection *connection);
void pawl__transport_end(struct pawl_connection *connection);
void pawl__transport_drop(struct pawl_connection *connection, bool abort);
/* A session of the server's present identity. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__transport_secure(struct pawl_connection *connection);
PAWL_MUST_CHECK int pawl__transport_handshake(struct pawl_connection *connection);
void pawl__transport_forget_identity(struct pawl_server *server);

/* ---- handshake --------------------------------------------------------------------------- */

/* On a thread of its pool: a step of the connection of this link. */
void pawl__handshake_run(struct pawl_list_link *link);
/* There may be something to read, or room to write. */
void pawl__handshake_event(struct pawl_connection *connection);
/* A step is done. */
void pawl__handshake_posted(struct pawl_connection *connection);
/* false: a thread has the connection, which will be dropped when the step is done. */
bool pawl__handshake_stop(struct pawl_connection *connection);

/* ---- compression ------------------------------------------------------------------------- */

/* Whether a field Accept-Encoding has the coding, or "*", with a weight that is not 0. */
bool pawl__accepts_coding(struct pawl_str list, const char *coding);
/* Replaces the body of a response by a smaller one, if it is worth it and the client accepts it. */
void pawl__compress_response(struct pawl_exchange *exchange);
void pawl__compress_close(struct pawl_server *server);

/* ---- connection, for pump.c --------------------------------------------------------------- */

void pawl__connection_move(struct pawl_connection *connection, enum connection_state to);
void pawl__connection_set_timer(struct pawl_connection *connection, int64_t due_ns);
/* So long after the state began, and a second for every so many bytes that have moved since. */
int64_t pawl__connection_paced_ns(const struct pawl_connection *connection, int64_t ms);
/* Takes the exchange back from its handler. false: it has responded, or is responding. */
bool pawl__connection_take_back(struct pawl_connection *connection);
/* The handler, if one has the exchange, learns that nobody waits for it. */
void pawl__connection_tell_gone(struct pawl_connection *connection);
/* The next request can come. */
void pawl__connection_become_idle(struct pawl_connection *connection);
/* Ends our side, and reads for a while. */
void pawl__connection_linger(struct pawl_connection *connection);
/* Keeps what was read behind a request or a message. false: no memory. */
bool pawl__connection_keep_rest(struct pawl_connection *connection, const char *bytes,
                                size_t size_bytes);

/* Of a connection that is STREAMING. */
void pawl__stream_set_timer(struct pawl_connection *connection);
void pawl__stream_event(struct pawl_connection *connection, uint32_t what);
void pawl__stream_timer(struct pawl_connection *connection);

/* ---- peers ------------------------------------------------------------------------------- */

#define PEER_BUCKETS 1024

struct peer_entry {
    struct peer_entry *next;
    unsigned char key[16];
    uint32_t count;
};

struct peers {
    const struct pawl_allocator *alloc;
    struct pawl_hash_seed seed;
    struct peer_entry *buckets[PEER_BUCKETS];
};

/* Counts one more. PAWL_ELIMIT: it would be more than `max` (0: any number). PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__peers_add(struct peers *peers, const struct pawl_peer *peer, uint32_t max,
                                    struct peer_entry **out);
void pawl__peers_remove(struct peers *peers, struct peer_entry *entry); /* NULL allowed */

/* ---- workers ----------------------------------------------------------------------------- */

struct workers;

struct workers_options {
    const char *name; /* of a thread */
    uint32_t threads_max, queue_max;
    void (*run)(struct pawl_list_link *link);
};

/* PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__workers_new(struct pawl_env *env, const struct workers_options *options,
                                      struct workers **out);
/* Waits for what runs; what is still queued is run on this thread. */
void pawl__workers_stop(struct workers *workers);
void pawl__workers_free(struct workers *workers); /* after stop(). NULL allowed */
/* PAWL_EBUSY: the queue is full. PAWL_EUNAVAILABLE: no thread can be started. */
PAWL_MUST_CHECK int pawl__workers_push(struct workers *workers, struct pawl_list_link *link);
/* false: it is not queued any more. */
bool pawl__workers_remove(struct workers *workers, struct pawl_list_link *link);
/* Adds to both. */
void pawl__workers_count(struct workers *workers, uint32_t *queued, uint32_t *threads);

/* ---- server ------------------------------------------------------------------------------ */

struct listener {
    struct watched watched;
    int fd;
    bool more;   /* there may be more to accept */
    bool paused; /* until there is a descriptor, or room */
    uint16_t port;
    char path[108];                 /* of a Unix-domain socket; "" */
    struct pawl_file_identity file; /* what is at the path, if it is still ours */
    char host[256];                 /* of others, as it was given; "" */
};

struct pawl_server {
    struct pawl_env *env;
    struct pawl_server_options options;
    struct pawl_server_limits limits;
    struct pawl_routes *routes;
    struct pawl_poller *poller;
    struct workers *workers, *computers, *handshakers;
    struct pawl_thread *thread;

    /* The loop's. */
    struct listener listeners[PAWL_SERVER_LISTENERS_MAX];
    size_t listener_count;
    struct pawl_list connections; /* all that are alive */
    struct pawl_list dead;        /* freed at the end of the turn */
    struct pawl_list ready;       /* have had their share, and more to read */
    struct pawl_timers timers;
    struct pawl_timer accept_timer;
    struct peers peers;
    uint32_t connection_count, refused_count;
    int64_t now_ns; /* at the beginning of the turn */
    bool drain_begun, stopped;
    bool secure; /* set before start() */
    char read_buffer[READ_BYTES];

    /* Guarded by the mutex. */
    struct pawl_mutex *mutex;
    struct pawl_cond *changed;  /* a response was sent, a call has ended, draining is done */
    struct pawl_list posted;    /* connections that the loop is to look at */
    struct pawl_list resumable; /* exchanges that a worker is to continue */
    uint32_t outstanding;       /* exchanges that handlers have */
    bool closing, drained;
    struct pawl_tls_context *identity; /* what TLS is spoken with; NULL: it is not */

    atomic_bool draining;
    _Atomic(struct pawl_zlib *) zlib; /* NULL: not needed yet */
    atomic_bool zlib_missing;
    atomic_uint_fast64_t body_bytes, reply_bytes;
    atomic_uint_fast64_t connections_now, connections_total, connections_refused, requests_total,
        accept_pauses;
};

static inline void pawl__server_lock(struct pawl_server *server)
{
    pawl_mutex_lock_always(server->env, server->mutex);
}

static inline void pawl__server_unlock(struct pawl_server *server)
{
    pawl_mutex_unlock(server->env, server->mutex);
}

/*
 * Waits, with the mutex held, for something that another thread does without waiting. In a stopped
 * environment a wait does not let go of the mutex: others are let in by hand.
 */
static inline void pawl__server_await(struct pawl_server *server)
{
    if (pawl_cond_wait(server->env, server->changed, server->mutex, PAWL_FOREVER) == PAWL_OK)
        return;
    pawl__server_unlock(server);
    pawl__server_lock(server);
}

void pawl__listener_accept(struct pawl_server *server, struct listener *listener);
void pawl__listeners_resume(struct pawl_server *server);
void pawl__listeners_close(struct pawl_server *server);
/* All connections, at the end. */
void pawl__server_hang_up(struct pawl_server *server);

#endif
