/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls and batches on a connection, and taking them back; see freetds.h.
 *
 *     send -> our poll -> read all of the answer
 *               \-> deadline, waker -> Attention -> read until it is acknowledged
 */
#include "drivers/freetds_private.h"

#include "base/error.h"

#include <stdio.h>

static void begin(struct pawl_tds_conn *conn)
{
    conn->heard.number = 0;
    conn->heard.severity = 0;
    conn->heard.text[0] = 0;
    conn->heard.library_number = 0;
    conn->heard.os_number = 0;
    conn->heard.library_text[0] = 0;
    conn->heard.until_ns = PAWL_FOREVER;
    pawl__tds_enter(&conn->heard);
}

static int break_off(struct pawl_tds_conn *conn, int code, struct pawl_error *err)
{
    conn->broken = true;
    return pawl__tds_lost_error(conn, code, err);
}

/* Takes back what was sent. `why` stays the answer; what db-lib reads meanwhile is the end of the
 * interrupted request and the acknowledgement. */
static int send_attention(struct pawl_tds_conn *conn, int why, struct pawl_error *err)
{
    struct pawl_tds *tds = conn->tds;

    conn->heard.until_ns = pawl_env_monotonic_ns(tds->env) + tds->patience_ns;
    if (tds->call.dbcancel(conn->process) == FAIL || tds->call.dbdead(conn->process))
        conn->broken = true;
    return pawl__error_set(err, why, "SQL Server at %s port %u: %s%s", tds->host,
                           (unsigned)tds->port,
                           why == PAWL_ECANCELLED ? "cancelled" : "no answer in time",
                           conn->broken ? ", and no acknowledgement of that" : "");
}

static int wait_for_reply(struct pawl_tds_conn *conn, const struct pawl_socket_wait *wait,
                          struct pawl_error *err)
{
    int status = pawl__socket_wait_foreign(conn->tds->call.dbiordesc(conn->process),
                                           PAWL_SOCKET_READABLE, wait);

    if (status == PAWL_OK)
        return PAWL_OK;
    if (status == PAWL_ETIMEDOUT || status == PAWL_ECANCELLED)
        return send_attention(conn, status, err);
    return break_off(conn, status == PAWL_ESTOPPED ? status : PAWL_EUNKNOWN, err);
}

/* ---- rows -------------------------------------------------------------------------------- */

struct reading {
    int (*row)(void *ctx, const struct pawl_str *columns, size_t count);
    void *ctx;
    bool over; /* the caller needs no more rows */
};

static struct pawl_str column_text(struct pawl_tds_conn *conn, int column, char *out)
{
    const struct tds_functions *call = &conn->tds->call;
    BYTE *data = call->dbdata(conn->process, column);
    DBINT length = call->dbdatlen(conn->process, column), got;

    if (!data || length <= 0)
        return pawl__str("");
    got = call->dbconvert(conn->process, call->dbcoltype(conn->process, column), data, length,
                          SYBCHAR, (BYTE *)(void *)out, PAWL_TDS_TEXT_MAX);
    return pawl__str_make(out, got > 0 ? (size_t)got : 0);
}

static void show_row(struct pawl_tds_conn *conn, struct reading *reading)
{
    struct pawl_str columns[PAWL_TDS_COLUMNS_MAX];
    char texts[PAWL_TDS_COLUMNS_MAX][PAWL_TDS_TEXT_MAX];
    int count = conn->tds->call.dbnumcols(conn->process);

    if (count > PAWL_TDS_COLUMNS_MAX)
        count = PAWL_TDS_COLUMNS_MAX;
    for (int i = 0; i < count; i++)
        columns[i] = column_text(conn, i + 1, texts[i]);
    reading->over = reading->row(reading->ctx, columns, (size_t)count) != 0;
}

/* All results, all rows. false: the connection broke. */
static bool read_reply(struct pawl_tds_conn *conn, struct reading *reading)
{
    const struct tds_functions *call = &conn->tds->call;

    conn->heard.until_ns = pawl_env_monotonic_ns(conn->tds->env) + conn->tds->patience_ns;
    (void)call->dbsqlok(conn->process);
    while (call->dbresults(conn->process) == SUCCEED) {
        STATUS got;

        while ((got = call->dbnextrow(conn->process)) != NO_MORE_ROWS && got != FAIL)
            if (reading->row && !reading->over)
                show_row(conn, reading);
        if (call->dbdead(conn->process))
            return false;
    }
    return !call->dbdead(conn->process);
}

static int finish(struct pawl_tds_conn *conn, RETCODE sent, struct reading *reading,
                  const struct pawl_socket_wait *wait, struct pawl_error *err)
{
    int status =
        sent == FAIL ? break_off(conn, PAWL_EUNKNOWN, err) : wait_for_reply(conn, wait, err);

    if (status == PAWL_OK && !read_reply(conn, reading))
        status = break_off(conn, PAWL_EUNKNOWN, err);
    if (status == PAWL_OK && conn->heard.number != 0)
        status = pawl__tds_server_error(conn, err);
    return status;
}

/* ---- calls ------------------------------------------------------------------------------- */

/* db-lib takes pointers to what it does not change, and looks there when it sends. */
static RETCODE add_param(struct pawl_tds_conn *conn, const struct pawl_tds_param *param)
{
    if (param->is_number)
        return conn->tds->call.dbrpcparam(conn->process, param->name, 0, SYBINT4, -1, -1,
                                          (BYTE *)(uintptr_t)&param->number);
    return conn->tds->call.dbrpcparam(conn->process, param->name, 0, SYBVARCHAR, -1,
                                      (DBINT)param->text.len, (BYTE *)(uintptr_t)param->text.ptr);
}

int pawl__tds_call(struct pawl_tds_conn *conn, const char *procedure,
                   const struct pawl_tds_param *params, size_t count,
                   const struct pawl_socket_wait *wait, int32_t *status, bool *has,
                   struct pawl_error *err)
{
    const struct tds_functions *call = &conn->tds->call;
    struct reading reading = {NULL, NULL, true};
    RETCODE good;
    int result;

    if (conn->broken)
        return pawl__tds_lost_error(conn, PAWL_EUNAVAILABLE, err);
    begin(conn);
    good = call->dbrpcinit(conn->process, procedure, 0);
    for (size_t i = 0; i < count && good != FAIL; i++)
        good = add_param(conn, &params[i]);
    if (good == FAIL) {
        result = break_off(conn, PAWL_EUNAVAILABLE, err); /* nothing was sent */
    } else {
        result = finish(conn, call->dbrpcsend(conn->process), &reading, wait, err);
        *has = !conn->broken && call->dbhasretstat(conn->process);
        if (*has)
            *status = call->dbretstatus(conn->process);
    }
    pawl__tds_leave();
    return result;
}

int pawl__tds_query(struct pawl_tds_conn *conn, const char *sql,
                    int (*row)(void *ctx, const struct pawl_str *columns, size_t count), void *ctx,
                    const struct pawl_socket_wait *wait, struct pawl_error *err)
{
    const struct tds_functions *call = &conn->tds->call;
    struct reading reading = {row, ctx, false};
    int result;

    if (conn->broken)
        return pawl__tds_lost_error(conn, PAWL_EUNAVAILABLE, err);
    begin(conn);
    call->dbfreebuf(conn->process);
    if (call->dbcmd(conn->process, sql) == FAIL)
        result = break_off(conn, PAWL_EUNAVAILABLE, err);
    else
        result = finish(conn, call->dbsqlsend(conn->process), &reading, wait, err);
    pawl__tds_leave();
    return result;
}
