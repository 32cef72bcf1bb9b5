/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQL Server through FreeTDS's db-lib, which is loaded when it is first needed.
 *
 * A connection calls a stored procedure or runs a batch of SQL, one at a time, and waits for the
 * answer in our own poll, so that deadlines and wakers work. What is given up is taken back at the
 * server by an Attention, and the connection is good again once that is acknowledged.
 *
 * db-lib keeps three things per process, all hidden here: its two handlers for messages (ours find
 * the connection by the thread that is in a call), and the path of its configuration, which is a
 * file in memory with one section per kind of connection; TLS can be set up in no other way. A
 * program that also uses db-lib by itself finds its handlers replaced. Of the environment db-lib
 * heeds TDSHOST, TDSPORT, TDSVER and TDSDUMP.
 *
 * TLS is on unless told otherwise and verifies the certificate: `ca_file` (NULL: the system's) has
 * to vouch for it, and it has to be for the host's name. A certificate that nobody vouches for can
 * be the `ca_file` itself. Fingerprints are not supported: db-lib does not expose the certificate.
 *
 * One thread at a time uses a connection. FreeTDS's own memory comes from malloc.
 */
#ifndef PAWL_DRIVERS_FREETDS_H
#define PAWL_DRIVERS_FREETDS_H

#include "base/str.h"
#include "os/socket.h"

#include <pawl/ext/env.h>

struct pawl_tds;      /* the library, and where to connect to */
struct pawl_tds_conn; /* a connection */

enum pawl_tds_tls {
    PAWL_TDS_TLS_FULL,     /* certificate and its name */
    PAWL_TDS_TLS_CA,       /* the certificate, whatever its name */
    PAWL_TDS_TLS_UNPROVEN, /* encrypted, nobody knows to whom */
    PAWL_TDS_TLS_OFF,      /* passwords are readable on the way */
};

struct pawl_tds_options {
    const char *host;
    uint16_t port;
    const char *user, *password, *database; /* "": the user's */
    enum pawl_tds_tls tls;
    const char *ca_file;      /* PEM; NULL: the system's */
    int64_t connect_seconds;  /* for a login; 0: 5 */
    int64_t patience_seconds; /* for the rest of an answer, and for an acknowledgement; 0: 5 */
};

/* All texts are copied, env is borrowed. PAWL_EMISSING names the package to install; PAWL_EINVAL:
 * a text that FreeTDS's configuration cannot have. No I/O. */
PAWL_MUST_CHECK int pawl__tds_open(struct pawl_env *env, const struct pawl_tds_options *options,
                                   struct pawl_tds **out, struct pawl_error *err);
void pawl__tds_close(struct pawl_tds *tds); /* after all its connections; NULL allowed */

/*
 * Connects and logs in. `wait` bounds the TCP connection; the login itself ends
 * after connect_seconds, and resolving names has no deadline. PAWL_EPERM: user or password, or the
 * certificate is not trusted; PAWL_ENOTFOUND: no such database; PAWL_EUNAVAILABLE: no server, or
 * not now. No message has a password in it.
 */
PAWL_MUST_CHECK int pawl__tds_connect(struct pawl_tds *tds, const struct pawl_socket_wait *wait,
                                      struct pawl_tds_conn **out, struct pawl_error *err);
void pawl__tds_disconnect(struct pawl_tds_conn *conn); /* NULL allowed */

/* It is broken: disconnect it. */
bool pawl__tds_is_broken(const struct pawl_tds_conn *conn);
/* Nothing arrived from the server since the last reply; anything that does is an error or the end.
 */
bool pawl__tds_is_quiet(const struct pawl_tds_conn *conn);

struct pawl_tds_param {
    const char *name; /* "@Resource" */
    bool is_number;
    struct pawl_str text; /* UTF-8, sent as nvarchar of at most 4000 units; "" arrives as NULL */
    int32_t number;
};

/*
 * Calls a stored procedure and waits for its return status. PAWL_OK: *status is it. What the server
 * calls an error is told by its code and in `err`, and *status is set when it came too (*has).
 *
 * Given up: PAWL_ETIMEDOUT and PAWL_ECANCELLED (the waker): an Attention took it back; whether it
 * happened before is not known. The connection is good, or broken when nothing acknowledged it in
 * time. PAWL_EUNKNOWN: the connection broke, it may have happened. PAWL_EUNAVAILABLE: broken before
 * anything was sent.
 */
PAWL_MUST_CHECK int pawl__tds_call(struct pawl_tds_conn *conn, const char *procedure,
                                   const struct pawl_tds_param *params, size_t count,
                                   const struct pawl_socket_wait *wait, int32_t *status, bool *has,
                                   struct pawl_error *err);

/* The columns of a result at the most, and the bytes of one as text; what is more is cut. */
#define PAWL_TDS_COLUMNS_MAX 16
#define PAWL_TDS_TEXT_MAX 4096

/*
 * Runs a batch. `row` (NULL allowed) is called for each row of all results with its columns as
 * text, numbers in decimal, NULL as ""; an answer other than 0 lets the rest of the rows pass by
 * unseen. Otherwise as pawl__tds_call.
 */
PAWL_MUST_CHECK int
pawl__tds_query(struct pawl_tds_conn *conn, const char *sql,
                int (*row)(void *ctx, const struct pawl_str *columns, size_t count), void *ctx,
                const struct pawl_socket_wait *wait, struct pawl_error *err);

/* The number of the server's last error, 0: none. */
int32_t pawl__tds_error_number(const struct pawl_tds_conn *conn);

/* The code for an error by its number and severity; exposed for its test. */
int pawl__tds_code(int32_t number, int severity);

#endif
