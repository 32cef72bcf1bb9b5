/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Redis: sockets of our own, libhiredis for reading what the server says (RESP2). The library is
 * loaded when it is first needed.
 *
 * Commands are queued, flushed together, and replied to in order. Nothing here waits except
 * pawl__redis_connect(), pawl__redis_flush() and pawl__redis_receive(), each with a deadline: who
 * has several connections waits for all of them at once (pawl__socket_wait_many) and then takes
 * what has come by pawl__redis_read() and pawl__redis_next().
 *
 * No TLS: the library of Debian 12 (0.14) has none. One thread at a time uses a connection; one may
 * queue and flush while another reads. libhiredis' own memory comes from malloc.
 */
#ifndef PAWL_DRIVERS_HIREDIS_H
#define PAWL_DRIVERS_HIREDIS_H

#include "base/buf.h"
#include "os/socket.h"

#include <pawl/ext/env.h>

struct pawl_hiredis;    /* the library */
struct pawl_redis_conn; /* a connection */

/* PAWL_EMISSING names the package to install. `alloc` is borrowed for the object's life. */
PAWL_MUST_CHECK int pawl__hiredis_open(const struct pawl_allocator *alloc,
                                       struct pawl_hiredis **out, struct pawl_error *err);
void pawl__hiredis_close(struct pawl_hiredis *lib); /* after its connections; NULL allowed */

/* ---- connections ------------------------------------------------------------------------- */

struct pawl_redis_target {
    const char *host; /* a name or an address; "/path" is a Unix-domain socket */
    uint16_t port;
    uint32_t database;
    struct pawl_str user, password; /* "": none */
    const char *client_name;        /* shown by CLIENT LIST; no blanks */
    int64_t silent_ms;              /* a server that is cut off is noticed within this */
};

/*
 * Connects, logs in and chooses the database. Resolving names has no deadline. PAWL_EPERM: password
 * or access refused. PAWL_EUNAVAILABLE: no server there, or not now. No message has a password.
 */
PAWL_MUST_CHECK int pawl__redis_connect(struct pawl_hiredis *lib,
                                        const struct pawl_redis_target *target,
                                        const struct pawl_socket_wait *wait,
                                        struct pawl_redis_conn **out, struct pawl_error *err);
void pawl__redis_disconnect(struct pawl_redis_conn *conn); /* NULL allowed */

/* For pawl__socket_wait_many(). */
int pawl__redis_fd(const struct pawl_redis_conn *conn);

/* ---- commands and replies ---------------------------------------------------------------- */

enum pawl_redis_type {
    PAWL_REDIS_NIL,
    PAWL_REDIS_INT,
    PAWL_REDIS_TEXT,
    PAWL_REDIS_STATUS,
    PAWL_REDIS_ERROR,
    PAWL_REDIS_ARRAY,
};

/* Borrowed until the next reply is read. */
struct pawl_redis_reply {
    enum pawl_redis_type type;
    int64_t integer;      /* INT */
    struct pawl_str text; /* TEXT, STATUS, ERROR */
    size_t count;         /* ARRAY */
    const void *elements;
};
/* The answer `at` of an array; NIL past its end. */
struct pawl_redis_reply pawl__redis_element(const struct pawl_redis_reply *array, size_t at);

/* Appends a command. PAWL_ENOMEM, PAWL_ELIMIT: nothing was appended. */
PAWL_MUST_CHECK int pawl__redis_queue(struct pawl_redis_conn *conn, const struct pawl_str *words,
                                      size_t count);
/*
 * Hands what was queued to the system. PAWL_ETIMEDOUT, PAWL_ECANCELLED, PAWL_ESTOPPED: not all of
 * it; the rest goes with the next flush. Others: the connection is broken.
 */
PAWL_MUST_CHECK int pawl__redis_flush(struct pawl_redis_conn *conn,
                                      const struct pawl_socket_wait *wait, struct pawl_error *err);
bool pawl__redis_is_flushed(const struct pawl_redis_conn *conn);

/* Takes what has come, without waiting: PAWL_OK, also when nothing has; others: broken. */
PAWL_MUST_CHECK int pawl__redis_read(struct pawl_redis_conn *conn, struct pawl_env *env,
                                     struct pawl_error *err);
/* The next complete reply. PAWL_EBUSY: none yet. Others: broken. */
PAWL_MUST_CHECK int pawl__redis_next(struct pawl_redis_conn *conn, struct pawl_redis_reply *out,
                                     struct pawl_error *err);
/* Waits for the next answer. PAWL_ETIMEDOUT, PAWL_ECANCELLED, PAWL_ESTOPPED: it may still come. */
PAWL_MUST_CHECK int pawl__redis_receive(struct pawl_redis_conn *conn,
                                        const struct pawl_socket_wait *wait,
                                        struct pawl_redis_reply *out, struct pawl_error *err);

/* Fills `err` from an error reply, and returns its code. */
int pawl__redis_reply_error(const struct pawl_redis_reply *reply, struct pawl_error *err);

#endif
