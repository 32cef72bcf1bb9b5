/* SPDX-License-Identifier: Apache-2.0 */
/* What SQL Server is asked, one function per question; see sqlserver_private.h. */
#include "base/error.h"
#include "locks/sqlserver_private.h"

#include <inttypes.h>
#include <stdio.h>

/* A key in SQL: each quote doubled, the rest of a statement around it. */
#define KEY_SQL_SIZE (2 * PAWL_SQLSERVER_LOCK_NAME_SIZE)
#define SQL_SIZE (2 * KEY_SQL_SIZE + 512)

#define TOKEN_SEQUENCE "dbo.pawl_lock_token"

static const char *quote(struct pawl_str key, char out[KEY_SQL_SIZE])
{
    size_t length = 0;

    for (size_t i = 0; i < key.len; i++) {
        if (key.ptr[i] == '\'')
            out[length++] = '\'';
        out[length++] = key.ptr[i];
    }
    out[length] = 0;
    return out;
}

/* ---- answers ----------------------------------------------------------------------------- */

struct number {
    bool has;
    int64_t value;
};

static int keep_number(void *ctx, const struct pawl_str *columns, size_t count)
{
    struct number *number = ctx;
    bool negative;
    int64_t value = 0;

    if (count == 0 || columns[0].len == 0 || columns[0].len > 20)
        return 1;
    negative = columns[0].ptr[0] == '-';
    for (size_t i = negative ? 1 : 0; i < columns[0].len; i++) {
        if (columns[0].ptr[i] < '0' || columns[0].ptr[i] > '9' || value > INT64_MAX / 10 - 1)
            return 1;
        value = value * 10 + (columns[0].ptr[i] - '0');
    }
    *number = (struct number){true, negative ? -value : value};
    return 1;
}

static int ask_number(struct sqlserver_session *session, const char *sql,
                      const struct pawl_socket_wait *wait, int64_t *out, struct pawl_error *err)
{
    struct number number = {false, 0};
    int status = pawl__tds_query(session->conn, sql, keep_number, &number, wait, err);

    if (status != PAWL_OK)
        return status;
    if (!number.has)
        return pawl__error_set(
            err, PAWL_EUNSUPPORTED,
            "SQL Server did not return the expected number; is this SQL Server?");
    *out = number.value;
    return PAWL_OK;
}

/* ---- locks ------------------------------------------------------------------------------- */

/* db-lib sends an empty parameter as NULL, so the lock without a name is asked for in SQL. */
static int call_by_sql(struct sqlserver_session *session, const char *procedure, const char *more,
                       const struct pawl_socket_wait *wait, int32_t *code, struct pawl_error *err)
{
    char sql[256];
    int64_t value = 0;
    int status;

    (void)snprintf(sql, sizeof sql,
                   "DECLARE @r int; EXEC @r = %s @Resource = N'', @LockOwner = 'Session'%s; "
                   "SELECT @r",
                   procedure, more);
    status = ask_number(session, sql, wait, &value, err);
    *code = (int32_t)value;
    return status;
}

int pawl__sqlserver_get(struct sqlserver_session *session, struct pawl_str key, int32_t timeout_ms,
                        const struct pawl_socket_wait *wait, int32_t *code, struct pawl_error *err)
{
    const struct pawl_tds_param params[] = {
        {.name = "@Resource", .text = key},
        {.name = "@LockMode", .text = pawl__str("Exclusive")},
        {.name = "@LockOwner", .text = pawl__str("Session")},
        {.name = "@LockTimeout", .is_number = true, .number = timeout_ms},
    };
    char more[80];
    bool has = false;
    int status;

    if (key.len == 0) {
        (void)snprintf(more, sizeof more, ", @LockMode = 'Exclusive', @LockTimeout = %" PRId32,
                       timeout_ms);
        return call_by_sql(session, "sp_getapplock", more, wait, code, err);
    }
    status = pawl__tds_call(session->conn, "sp_getapplock", params, 4, wait, code, &has, err);
    /* What came with a return status is told by that; only such a one says what happened. */
    if (has && status != PAWL_ETIMEDOUT && status != PAWL_ECANCELLED)
        return PAWL_OK;
    if (status == PAWL_OK)
        return pawl__error_set(err, PAWL_EUNSUPPORTED,
                               "sp_getapplock returned no status; is this SQL Server?");
    return status;
}

int pawl__sqlserver_release(struct sqlserver_session *session, struct pawl_str key,
                            const struct pawl_socket_wait *wait, struct pawl_error *err)
{
    const struct pawl_tds_param params[] = {
        {.name = "@Resource", .text = key},
        {.name = "@LockOwner", .text = pawl__str("Session")},
    };
    int32_t code = 0;
    bool has = false;

    if (key.len == 0)
        return call_by_sql(session, "sp_releaseapplock", "", wait, &code, err);
    return pawl__tds_call(session->conn, "sp_releaseapplock", params, 2, wait, &code, &has, err);
}

int pawl__sqlserver_release_if_held(struct sqlserver_session *session, struct pawl_str key,
                                    const struct pawl_socket_wait *wait, struct pawl_error *err)
{
    char quoted[KEY_SQL_SIZE], sql[SQL_SIZE];

    (void)quote(key, quoted);
    (void)snprintf(sql, sizeof sql,
                   "IF APPLOCK_MODE('public', N'%s', 'Session') <> 'NoLock' "
                   "EXEC sp_releaseapplock @Resource = N'%s', @LockOwner = 'Session'",
                   quoted, quoted);
    return pawl__tds_query(session->conn, sql, NULL, NULL, wait, err);
}

int pawl__sqlserver_test(struct sqlserver_session *session, struct pawl_str key,
                         const struct pawl_socket_wait *wait, bool *is_free, struct pawl_error *err)
{
    char quoted[KEY_SQL_SIZE], sql[SQL_SIZE];
    int64_t value = 0;
    int status;

    (void)snprintf(sql, sizeof sql, "SELECT APPLOCK_TEST('public', N'%s', 'Exclusive', 'Session')",
                   quote(key, quoted));
    status = ask_number(session, sql, wait, &value, err);
    *is_free = value == 1;
    return status;
}

int pawl__sqlserver_ping(struct sqlserver_session *session, const struct pawl_socket_wait *wait,
                         struct pawl_error *err)
{
    int64_t value;

    return ask_number(session, "SELECT 1", wait, &value, err);
}

/* ---- tokens ------------------------------------------------------------------------------ */

static int make_sequence(struct sqlserver_session *session, const struct pawl_socket_wait *wait,
                         struct pawl_error *err)
{
    int status = pawl__tds_query(session->conn,
                                 "CREATE SEQUENCE " TOKEN_SEQUENCE
                                 " AS bigint START WITH 1 INCREMENT BY 1 NO CACHE",
                                 NULL, NULL, wait, err);

    if (status == PAWL_EEXISTS) /* another process created it first */
        return PAWL_OK;
    if (status == PAWL_EPERM || status == PAWL_ENOTFOUND)
        return pawl__error_set(
            err, status,
            "tokens need the sequence " TOKEN_SEQUENCE
            " and this user may not create it. As its owner run: CREATE SEQUENCE "
            "" TOKEN_SEQUENCE " AS bigint START WITH 1 NO CACHE; GRANT UPDATE ON "
            "OBJECT::" TOKEN_SEQUENCE " TO the user of the lock's URI");
    return status;
}

int pawl__sqlserver_token(struct sqlserver_session *session, const struct pawl_socket_wait *wait,
                          uint64_t *out, struct pawl_error *err)
{
    static const char sql[] = "SELECT NEXT VALUE FOR " TOKEN_SEQUENCE;
    int64_t value = 0;
    int status = ask_number(session, sql, wait, &value, err);

    if (status == PAWL_ENOTFOUND) {
        status = make_sequence(session, wait, err);
        if (status == PAWL_OK)
            status = ask_number(session, sql, wait, &value, err);
    }
    if (status == PAWL_OK && value <= 0)
        return pawl__error_set(err, PAWL_ECONFLICT,
                               "the sequence " TOKEN_SEQUENCE " gives %" PRId64
                               "; tokens begin at 1: ALTER SEQUENCE " TOKEN_SEQUENCE
                               " RESTART WITH 1 (or above the last token given)",
                               value);
    *out = (uint64_t)value;
    return status;
}
