/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading libpq, and connections, see libpq.h. Batches are in libpq_batch.c, errors in
 * libpq_error.c; these three are the only files that include <libpq-fe.h>.
 */
#include "drivers/libpq_private.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"

#include <stdio.h>

#define SYMBOL(function) PAWL_LIBRARY_SYMBOL(pq_functions, function),
static const struct pawl_library_symbol symbols[] = {PQ_FUNCTIONS(SYMBOL)};
#undef SYMBOL

static const struct pawl_library_need need = {
    {"libpq.so.5"}, "libpq5", symbols, sizeof symbols / sizeof symbols[0]};

/* ---- library ----------------------------------------------------------------------------- */

int pawl__pq_open(const struct pawl_allocator *alloc, struct pawl_pq **out, struct pawl_error *err)
{
    struct pawl_pq *pq = pawl__alloc_zeroed(alloc, sizeof *pq);
    int status;

    if (!pq)
        return pawl__error_code(err, PAWL_ENOMEM);
    pq->alloc = alloc;
    status = pawl__library_open(&need, &pq->call, &pq->library, err);
    if (status != PAWL_OK) {
        pawl__free(alloc, pq, sizeof *pq);
        return status;
    }
    *out = pq;
    return PAWL_OK;
}

void pawl__pq_close(struct pawl_pq *pq)
{
    if (!pq)
        return;
    pawl__library_close(&pq->library);
    pawl__free(pq->alloc, pq, sizeof *pq);
}

/* ---- connecting -------------------------------------------------------------------------- */

/* What the server says on the side would go to standard error. */
static void ignore_notice(void *arg, const char *message)
{
    (void)arg;
    (void)message;
}

static int start_connecting(struct pawl_pq *pq, const char *uri, PGconn **out,
                            struct pawl_error *err)
{
    /* Later words win: those before the URI are defaults. A server that is cut off is noticed. */
    static const char *const keywords[] = {
        "fallback_application_name", "keepalives_idle", "keepalives_interval", "keepalives_count",
        "tcp_user_timeout",          "dbname",          "client_encoding",     NULL};
    const char *values[] = {"pawl", "15", "5", "3", "30000", uri, "UTF8", NULL};
    PQconninfoOption *options = pq->call.PQconninfoParse(uri, NULL);
    PGconn *conn;

    /* Its own words would quote the URI, and with it a password. */
    if (!options)
        return pawl__error_set(err, PAWL_EINVAL,
                               "the PostgreSQL URI is not readable; expected "
                               "postgres://user:password@host:port/database?option=value");
    pq->call.PQconninfoFree(options);
    conn = pq->call.PQconnectStartParams(keywords, values, 1);
    if (!conn)
        return pawl__error_code(err, PAWL_ENOMEM);
    (void)pq->call.PQsetNoticeProcessor(conn, ignore_notice, NULL);
    /* So that a refusal shows its SQLSTATE, which does not depend on the server's language. */
    (void)pq->call.PQsetErrorVerbosity(conn, PQERRORS_VERBOSE);
    *out = conn;
    return PAWL_OK;
}

static int finish_connecting(struct pawl_pq *pq, PGconn *conn, const struct pawl_socket_wait *wait,
                             struct pawl_error *err)
{
    PostgresPollingStatusType step = PGRES_POLLING_WRITING;

    if (pq->call.PQstatus(conn) == CONNECTION_BAD)
        return pawl__pq_connect_error(pq, conn, err);
    while (step != PGRES_POLLING_OK) {
        int status = pawl__socket_wait_foreign(
            pq->call.PQsocket(conn),
            step == PGRES_POLLING_READING ? PAWL_SOCKET_READABLE : PAWL_SOCKET_WRITABLE, wait);

        if (status != PAWL_OK) {
            const char *host = pq->call.PQhost(conn), *port = pq->call.PQport(conn);

            return pawl__error_set(err, status, "connecting to PostgreSQL at %s port %s: %s",
                                   host ? host : "?", port ? port : "?", pawl_error_text(status));
        }
        step = pq->call.PQconnectPoll(conn);
        if (step == PGRES_POLLING_FAILED)
            return pawl__pq_connect_error(pq, conn, err);
    }
    return PAWL_OK;
}

int pawl__pq_connect(struct pawl_pq *pq, const char *uri, const struct pawl_socket_wait *wait,
                     struct pawl_pq_conn **out, struct pawl_error *err)
{
    struct pawl_pq_conn *conn = pawl__alloc_zeroed(pq->alloc, sizeof *conn);
    int status;

    if (!conn)
        return pawl__error_code(err, PAWL_ENOMEM);
    conn->pq = pq;
    pawl__buf_init(&conn->scratch, pq->alloc, PAWL_PQ_PARAMS_MAX * sizeof(struct pq_scratch));
    status = start_connecting(pq, uri, &conn->conn, err);
    if (status != PAWL_OK)
        goto out;
    status = finish_connecting(pq, conn->conn, wait, err);
    if (status != PAWL_OK)
        goto out;
    if (pq->call.PQsetnonblocking(conn->conn, 1) != 0 ||
        pq->call.PQenterPipelineMode(conn->conn) != 1)
        status = pawl__error_set(err, PAWL_EINTERNAL, "PostgreSQL: no pipeline mode");
    (void)pq->call.PQsetErrorVerbosity(conn->conn, PQERRORS_DEFAULT);
out:
    if (status == PAWL_OK)
        *out = conn;
    else
        pawl__pq_disconnect(conn);
    return status;
}

void pawl__pq_disconnect(struct pawl_pq_conn *conn)
{
    const struct pawl_allocator *alloc;

    if (!conn)
        return;
    alloc = conn->pq->alloc;
    pawl__pq_forget(conn);
    conn->pq->call.PQfinish(conn->conn); /* NULL allowed */
    pawl__free(alloc, conn->entries, conn->entry_capacity * sizeof *conn->entries);
    pawl__free(alloc, conn->queries, conn->entry_capacity * sizeof *conn->queries);
    pawl__buf_release(&conn->scratch);
    pawl__free(alloc, conn, sizeof *conn);
}

bool pawl__pq_is_broken(const struct pawl_pq_conn *conn)
{
    return conn->broken;
}

void pawl__pq_set_mark(struct pawl_pq_conn *conn, uint64_t mark)
{
    conn->mark = mark;
}

uint64_t pawl__pq_mark(const struct pawl_pq_conn *conn)
{
    return conn->mark;
}

bool pawl__pq_is_alive(struct pawl_pq_conn *conn, struct pawl_env *env)
{
    const struct pawl_socket_wait now = {env, NULL, INT64_MIN};

    /* What an idle server says is a late answer, a notice or a farewell; after that one the
     * connection ends. */
    while (!conn->broken && pawl__socket_wait_foreign(conn->pq->call.PQsocket(conn->conn),
                                                      PAWL_SOCKET_READABLE, &now) == PAWL_OK)
        if (conn->pq->call.PQconsumeInput(conn->conn) != 1)
            conn->broken = true;
    return !conn->broken;
}

void pawl__pq_location(struct pawl_pq *pq, const char *uri, char *out, size_t size)
{
    PQconninfoOption *options = pq->call.PQconninfoParse(uri, NULL);
    const char *host = "", *port = "5432", *database = "";

    *out = 0;
    if (!options)
        return;
    for (PQconninfoOption *o = options; o->keyword; o++) {
        if (!o->val)
            continue;
        if (strcmp(o->keyword, "host") == 0 || (strcmp(o->keyword, "hostaddr") == 0 && !*host))
            host = o->val;
        else if (strcmp(o->keyword, "port") == 0)
            port = o->val;
        else if (strcmp(o->keyword, "dbname") == 0)
            database = o->val;
    }
    (void)snprintf(out, size, "%s:%s/%s", *host ? host : "local socket", port, database);
    pq->call.PQconninfoFree(options);
}

int pawl__pq_fd(const struct pawl_pq_conn *conn)
{
    return conn->pq->call.PQsocket(conn->conn);
}

int pawl__pq_backend_pid(const struct pawl_pq_conn *conn)
{
    return conn->pq->call.PQbackendPID(conn->conn);
}

const char *pawl__pq_server_text(const struct pawl_pq_conn *conn)
{
    const char *text = conn->pq->call.PQparameterStatus(conn->conn, "server_version");

    return text ? text : "";
}

int pawl__pq_server_number(const struct pawl_pq_conn *conn)
{
    return conn->pq->call.PQserverVersion(conn->conn);
}
