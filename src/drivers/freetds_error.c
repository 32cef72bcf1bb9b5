/* SPDX-License-Identifier: Apache-2.0 */
/* From what SQL Server and db-lib say to PAWL codes and to messages that help. By number alone: the
 * server's words are in the server's language. */
#include "drivers/freetds_private.h"

#include "base/error.h"

struct number_code {
    int32_t number;
    int code;
    const char *hint;
};

#define GRANT "grant it to the user of the URI"
#define NO_SERVER_LOGIN "the server takes no logins of its own: allow SQL Server authentication"

/*
 * What is not here is decided by its severity. Numbers of a server that moves, recovers or lacks
 * something for now are TRANSIENT, also those that a wrong setting causes too (4060).
 */
static const struct number_code number_codes[] = {
    {208, PAWL_ENOTFOUND, NULL},
    {229, PAWL_EPERM, GRANT},
    {262, PAWL_EPERM, GRANT},
    {297, PAWL_EPERM, GRANT},
    {300, PAWL_EPERM, GRANT},
    {547, PAWL_ECONFLICT, NULL},    /* foreign key, check */
    {615, PAWL_EUNAVAILABLE, NULL}, /* the database is being moved */
    {701, PAWL_EUNAVAILABLE, NULL}, /* memory */
    {802, PAWL_EUNAVAILABLE, NULL}, /* memory of the buffer pool */
    {823, PAWL_EIO, NULL},          /* a page could not be read or written */
    {824, PAWL_ECORRUPT, NULL},     /* a page is damaged */
    {911, PAWL_ENOTFOUND, "check the database of the URI"},
    {916, PAWL_EPERM, GRANT},        /* no access to the database */
    {921, PAWL_EUNAVAILABLE, NULL},  /* the database is not recovered yet */
    {922, PAWL_EUNAVAILABLE, NULL},  /* it is being recovered */
    {926, PAWL_ECORRUPT, NULL},      /* it is suspect */
    {983, PAWL_EUNAVAILABLE, NULL},  /* its availability group resolves who leads */
    {1105, PAWL_EUNAVAILABLE, NULL}, /* disk full */
    {1204, PAWL_EUNAVAILABLE, NULL}, /* no lock left */
    {1205, PAWL_EUNAVAILABLE, NULL}, /* deadlock victim */
    {1222, PAWL_EBUSY, NULL},
    {1223, PAWL_ENOTFOUND, NULL},
    {2601, PAWL_EEXISTS, NULL}, /* unique index */
    {2627, PAWL_EEXISTS, NULL}, /* unique constraint */
    {2628, PAWL_ELIMIT, NULL},  /* text too long */
    {2714, PAWL_EEXISTS, NULL},
    {2812, PAWL_EUNSUPPORTED, "this is not SQL Server, or lacks this feature"},
    {3906, PAWL_EUNAVAILABLE, NULL}, /* read-only: a secondary */
    {3960, PAWL_EBUSY, NULL},        /* snapshot: another transaction was first */
    {4060, PAWL_EUNAVAILABLE, "check the database of the URI, unless it is being moved"},
    {4064, PAWL_ENOTFOUND, "give the database in the URI"},
    {4221, PAWL_EUNAVAILABLE, NULL},  /* login to a secondary waits for versions */
    {6005, PAWL_EUNAVAILABLE, NULL},  /* shutting down */
    {8152, PAWL_ELIMIT, NULL},        /* text too long, before 2019 */
    {8645, PAWL_EUNAVAILABLE, NULL},  /* timed out waiting for memory */
    {8651, PAWL_EUNAVAILABLE, NULL},  /* not enough memory */
    {9002, PAWL_EUNAVAILABLE, NULL},  /* the log is full */
    {10928, PAWL_EUNAVAILABLE, NULL}, /* resource limits of Azure SQL */
    {10929, PAWL_EUNAVAILABLE, NULL},
    {10936, PAWL_EUNAVAILABLE, NULL},
    {14906, PAWL_EUNAVAILABLE, NULL}, /* moving */
    {17142, PAWL_EUNAVAILABLE, NULL}, /* paused */
    {18401, PAWL_EUNAVAILABLE, NULL}, /* upgrading */
    {18452, PAWL_EPERM, NO_SERVER_LOGIN},
    {18456, PAWL_EPERM, "check user and password of the URI"},
    {18486, PAWL_EPERM, "the account is locked"},
    {40143, PAWL_EUNAVAILABLE, NULL}, /* of Azure SQL: not now */
    {40197, PAWL_EUNAVAILABLE, NULL},
    {40501, PAWL_EUNAVAILABLE, NULL},
    {40540, PAWL_EUNAVAILABLE, NULL},
    {40544, PAWL_EUNAVAILABLE, NULL}, /* size quota */
    {40549, PAWL_EUNAVAILABLE, NULL}, /* long transaction ended */
    {40550, PAWL_EUNAVAILABLE, NULL}, /* too many locks */
    {40613, PAWL_EUNAVAILABLE, NULL},
    {49918, PAWL_EUNAVAILABLE, NULL},
    {49919, PAWL_EUNAVAILABLE, NULL},
    {49920, PAWL_EUNAVAILABLE, NULL},
};

static const struct number_code *find_number(int32_t number)
{
    for (size_t i = 0; i < sizeof number_codes / sizeof number_codes[0]; i++)
        if (number_codes[i].number == number)
            return &number_codes[i];
    return NULL;
}

int pawl__tds_code(int32_t number, int severity)
{
    const struct number_code *found = find_number(number);

    if (found)
        return found->code;
    /* To 16 what the caller can mend; above that the server lacks something, or the session ends.
     */
    return severity > 16 ? PAWL_EUNAVAILABLE : PAWL_EINVAL;
}

static int set_error(const struct pawl_tds *tds, const struct tds_heard *heard,
                     struct pawl_error *err)
{
    const struct number_code *found = find_number(heard->number);

    return pawl__error_set(err, pawl__tds_code(heard->number, heard->severity),
                           "SQL Server at %s port %u: %s (error %d)%s%s", tds->host,
                           (unsigned)tds->port, heard->text, (int)heard->number,
                           found && found->hint ? "; " : "",
                           found && found->hint ? found->hint : "");
}

int pawl__tds_server_error(const struct pawl_tds_conn *conn, struct pawl_error *err)
{
    return set_error(conn->tds, &conn->heard, err);
}

/*
 * A handshake that fails shows as "connection failed" (20002) and nothing else: db-lib keeps the
 * reason to itself. If something accepted the connection, there is hardly another reason.
 */
static int tls_error(const struct pawl_tds *tds, struct pawl_error *err)
{
    return pawl__error_set(
        err, PAWL_EPERM,
        "SQL Server at %s port %u: TLS failed. Its certificate is not signed by %s%s, or the "
        "server has no TLS. Trust its certificate by name with ?trust=FILE.pem%s, or do without "
        "with ?encrypt=off",
        tds->host, (unsigned)tds->port, tds->has_ca_file ? "the file in ?trust=" : "the system",
        tds->tls == PAWL_TDS_TLS_FULL ? " or is not for this host's name" : "",
        tds->tls == PAWL_TDS_TLS_FULL ? ", accept any name with ?verify=ca" : "");
}

int pawl__tds_connect_error(const struct pawl_tds *tds, const struct tds_heard *heard,
                            struct pawl_error *err)
{
    if (heard->number != 0)
        return set_error(tds, heard, err);
    if (heard->library_number == SYBEFCON && tds->tls != PAWL_TDS_TLS_OFF)
        return tls_error(tds, err);
    if (heard->library_number == 0)
        return pawl__error_set(err, PAWL_ENOMEM, "SQL Server at %s port %u: FreeTDS gives no login",
                               tds->host, (unsigned)tds->port);
    return pawl__error_set(
        err, heard->library_number == SYBETIME ? PAWL_ETIMEDOUT : PAWL_EUNAVAILABLE,
        "SQL Server at %s port %u: %s (FreeTDS %d)", tds->host, (unsigned)tds->port,
        heard->library_number == SYBETIME ? "no reply to the login in time" : heard->library_text,
        heard->library_number);
}

int pawl__tds_lost_error(const struct pawl_tds_conn *conn, int code, struct pawl_error *err)
{
    const struct pawl_tds *tds = conn->tds;
    const char *why =
        conn->heard.library_text[0] ? conn->heard.library_text : "the connection was lost";

    if (code == PAWL_EUNKNOWN)
        return pawl__error_set(err, code,
                               "SQL Server at %s port %u: the reply was lost, it may have happened "
                               "(%s)",
                               tds->host, (unsigned)tds->port, why);
    if (code == PAWL_EUNAVAILABLE)
        return pawl__error_set(err, code, "SQL Server at %s port %u: %s", tds->host,
                               (unsigned)tds->port, why);
    return pawl__error_code(err, code);
}
