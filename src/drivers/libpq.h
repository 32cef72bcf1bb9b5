/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PostgreSQL through libpq, which is loaded when it is first needed.
 *
 * A connection is used in batches. Statements are queued, pawl__pq_sync() ends a transaction (what
 * is between two syncs happens together or not at all; no BEGIN, no COMMIT), and pawl__pq_run()
 * sends everything in one pipeline, waits for all answers and keeps them until the next batch: one
 * round trip, whatever the number of statements. A statement that fails rolls back its transaction
 * and lets those behind it in the same transaction fail as "skipped"; other transactions of the
 * batch continue.
 *
 * Statements are prepared once per connection, by number, in the pipeline that first needs them.
 * Parameters and results are binary: 64-bit integers, text, bytea and arrays of them.
 *
 * One thread at a time uses a connection. libpq's own memory comes from malloc.
 */
#ifndef PAWL_DRIVERS_LIBPQ_H
#define PAWL_DRIVERS_LIBPQ_H

#include "base/buf.h"
#include "os/socket.h"

#include <pawl/ext/env.h>

struct pawl_pq;      /* the library */
struct pawl_pq_conn; /* a connection */

/* ---- library, connection ----------------------------------------------------------------- */

/* PAWL_EMISSING names the package to install. `alloc` is borrowed for the object's life. */
PAWL_MUST_CHECK int pawl__pq_open(const struct pawl_allocator *alloc, struct pawl_pq **out,
                                  struct pawl_error *err);
void pawl__pq_close(struct pawl_pq *pq); /* after all its connections; NULL allowed */

/*
 * Connects as `uri` says, which libpq reads (a URI or "host=… port=…"); resolving names has no
 * deadline. PAWL_EINVAL: not readable as a URI. PAWL_EPERM: password or access refused.
 * PAWL_ENOTFOUND: no such database. PAWL_EUNAVAILABLE: no server there, or not now. No message
 * contains a password.
 */
PAWL_MUST_CHECK int pawl__pq_connect(struct pawl_pq *pq, const char *uri,
                                     const struct pawl_socket_wait *wait, struct pawl_pq_conn **out,
                                     struct pawl_error *err);
void pawl__pq_disconnect(struct pawl_pq_conn *conn); /* NULL allowed */

/* It is broken: disconnect it. */
bool pawl__pq_is_broken(const struct pawl_pq_conn *conn);

/* Whether an idle connection is still alive: its end is detected before anything is sent on it. */
bool pawl__pq_is_alive(struct pawl_pq_conn *conn, struct pawl_env *env);

/* The error of one that leads to a standby, and that its user does not want for that reason. */
int pawl__pq_refuse_standby(const struct pawl_pq_conn *conn, struct pawl_error *err);

/* A number of its user's own; 0 at first. */
void pawl__pq_set_mark(struct pawl_pq_conn *conn, uint64_t mark);
uint64_t pawl__pq_mark(const struct pawl_pq_conn *conn);

/* "host:port/database", for people. Works without a server. "" when `uri` is not readable. */
void pawl__pq_location(struct pawl_pq *pq, const char *uri, char *out, size_t size);
/* For pawl__socket_wait_many(). */
int pawl__pq_fd(const struct pawl_pq_conn *conn);
/* Of the server's process as it said when the connection came up; a pooler says something else than
 * pg_backend_pid() does. */
int pawl__pq_backend_pid(const struct pawl_pq_conn *conn);
/* "15.4", and 150004. */
const char *pawl__pq_server_text(const struct pawl_pq_conn *conn);
int pawl__pq_server_number(const struct pawl_pq_conn *conn);

/* ---- batches ----------------------------------------------------------------------------- */

enum pawl_pq_type {
    PAWL_PQ_TEXT,
    PAWL_PQ_BYTES,
    PAWL_PQ_INT,
    PAWL_PQ_TEXT_ARRAY, /* `bytes` were made by pawl__pq_array_… */
    PAWL_PQ_BYTES_ARRAY,
    PAWL_PQ_INT_ARRAY,
};

struct pawl_pq_param {
    enum pawl_pq_type type;
    struct pawl_str bytes; /* all but INT */
    int64_t integer;       /* INT */
};

#define PAWL_PQ_PARAMS_MAX 65535   /* of one statement: the protocol's */
#define PAWL_PQ_STATEMENTS_MAX 512 /* prepared per connection */
#define PAWL_PQ_BATCH_MAX 4000000  /* statements per batch: a commit has no limit of its own */
#define PAWL_PQ_STATEMENT_NONE UINT32_MAX

/* Forgets the answers of the last batch, which may be large. One that was queued and not run breaks
 * the connection. */
void pawl__pq_forget(struct pawl_pq_conn *conn);

/* The next batch; forgets the one before. PAWL_EUNAVAILABLE: broken. */
PAWL_MUST_CHECK int pawl__pq_begin(struct pawl_pq_conn *conn, struct pawl_error *err);

/*
 * Queues a statement. `number` (below PAWL_PQ_STATEMENTS_MAX) means the same `text` for the
 * connection's life and is prepared once; PAWL_PQ_STATEMENT_NONE is a text that comes once. Text
 * and parameters are copied. On failure the connection is broken: nothing of the batch happens.
 */
PAWL_MUST_CHECK int pawl__pq_queue(struct pawl_pq_conn *conn, uint32_t number, const char *text,
                                   const struct pawl_pq_param *params, size_t param_count,
                                   struct pawl_error *err);
PAWL_MUST_CHECK int pawl__pq_sync(struct pawl_pq_conn *conn, struct pawl_error *err);

/*
 * Sends, waits, keeps the answers. PAWL_OK: there are answers to every statement, of which some may
 * be errors. Any other answer breaks the connection: PAWL_EUNAVAILABLE, PAWL_ETIMEDOUT,
 * PAWL_ESTOPPED (none of the transactions whose sync is unanswered can have happened, or with
 * `writes`: PAWL_EUNKNOWN, they may have). A server that says that it only reads (a standby) breaks
 * the connection after PAWL_OK: the next one may lead to the server that writes.
 */
PAWL_MUST_CHECK int pawl__pq_run(struct pawl_pq_conn *conn, bool writes,
                                 const struct pawl_socket_wait *wait, struct pawl_error *err);

/*
 * As pawl__pq_run(), but waits for the first transaction, and not for what stands behind it if all
 * of that was sent and it prepares no statement: its answers are read with those of the next batch
 * and forgotten.
 */
PAWL_MUST_CHECK int pawl__pq_run_first(struct pawl_pq_conn *conn, bool writes,
                                       const struct pawl_socket_wait *wait, struct pawl_error *err);

/* Behind pawl__pq_forget(): whether something was sent whose answer was not waited for. */
bool pawl__pq_is_late(const struct pawl_pq_conn *conn);

/*
 * Sends one statement and does not wait: its answer is read with those of the next batch and
 * forgotten. For what should happen soon and whose failure changes nothing. Between batches.
 * `number` and the rest as above. On failure the connection is broken.
 */
PAWL_MUST_CHECK int pawl__pq_post(struct pawl_pq_conn *conn, uint32_t number, const char *text,
                                  const struct pawl_pq_param *params, size_t param_count,
                                  struct pawl_error *err);
/* How many posted statements are unanswered: past some hundreds, run a batch. */
size_t pawl__pq_posted(const struct pawl_pq_conn *conn);
/* Nobody uses it again. */
void pawl__pq_break(struct pawl_pq_conn *conn);

/*
 * As pawl__pq_run() without `writes`, but a wait that ends early (PAWL_ETIMEDOUT, PAWL_ECANCELLED,
 * PAWL_ESTOPPED) breaks nothing: the batch is still in progress, and the next call of this
 * continues with it. For connections whose end would cost more than one answer.
 */
PAWL_MUST_CHECK int pawl__pq_await(struct pawl_pq_conn *conn, const struct pawl_socket_wait *wait,
                                   struct pawl_error *err);

/* Of the batch that was run last, also when that failed: how many syncs were answered. What stands
 * before these is known: pawl__pq_status() tells. */
size_t pawl__pq_synced(const struct pawl_pq_conn *conn);

/*
 * Prepares a statement in advance, for batches of several transactions: there a preparation in the
 * pipeline may be lost with the transaction it stands in. Sync behind the last of them. It has no
 * answer of its own: a failure is that of the statement when it is used. One that was skipped,
 * because another could not be prepared, fails with a TRANSIENT error; later batches prepare it.
 */
PAWL_MUST_CHECK int pawl__pq_prepare(struct pawl_pq_conn *conn, uint32_t number, const char *text,
                                     const struct pawl_pq_param *params, size_t param_count,
                                     struct pawl_error *err);

/* How the queued statement number `at` of the batch (0 is the first) ended. PAWL_OK, or the code
 * of its error; PAWL_ECANCELLED: skipped, because one before it in its transaction failed. */
int pawl__pq_status(const struct pawl_pq_conn *conn, size_t at, struct pawl_error *err);
/* Of a statement that ended with PAWL_OK. Borrowed until the next batch. */
size_t pawl__pq_rows(const struct pawl_pq_conn *conn, size_t at);
size_t pawl__pq_columns(const struct pawl_pq_conn *conn, size_t at);
struct pawl_str pawl__pq_bytes(const struct pawl_pq_conn *conn, size_t at, size_t row,
                               size_t column);
/* 2, 4 or 8 bytes, or a bool; anything else is 0. */
int64_t pawl__pq_int(const struct pawl_pq_conn *conn, size_t at, size_t row, size_t column);
/* Rows inserted, updated, deleted or selected. */
int64_t pawl__pq_affected(const struct pawl_pq_conn *conn, size_t at);

/*
 * Waits until the server notifies of something this connection listens to; what came before counts.
 * PAWL_ETIMEDOUT, PAWL_ECANCELLED (the waker), PAWL_ESTOPPED: still good. PAWL_EUNAVAILABLE:
 * broken.
 */
PAWL_MUST_CHECK int pawl__pq_wait_notice(struct pawl_pq_conn *conn,
                                         const struct pawl_socket_wait *wait,
                                         struct pawl_error *err);

/* ---- arrays ------------------------------------------------------------------------------ */

/* Appends an array of `count` elements to `buf`: the bytes of a parameter. */
void pawl__pq_array_begin(struct pawl_buf *buf, enum pawl_pq_type type, size_t count);
void pawl__pq_array_bytes(struct pawl_buf *buf, struct pawl_str element);
void pawl__pq_array_int(struct pawl_buf *buf, int64_t element);

/*
 * The code for a SQLSTATE of a statement, by the one table there is (libpq_error.c); exposed for
 * its test. "" is a connection's failure. An error of a statement means that its transaction was
 * taken back, also when the server ends the session (57P01): what may have happened nevertheless is
 * PAWL_EUNKNOWN by where in the batch the answers ended, which pawl__pq_run() decides.
 */
int pawl__pq_code(const char *sqlstate);

#endif
