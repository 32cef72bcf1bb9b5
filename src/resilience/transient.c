/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables behind transient.h. Numbers are written out, because the headers that name them belong
 * to the drivers; the comment has the name. Two codes per row where it matters how far the request
 * had come: before it was sent, and after.
 */
#include "resilience/transient.h"

#include <errno.h>

struct number_row {
    int number;
    int code;
    int code_sent;
};

#define SAME(code) code, code
/* Nothing happened unless the request was on its way. */
#define BROKEN PAWL_EUNAVAILABLE, PAWL_EUNKNOWN
#define LATE PAWL_ETIMEDOUT, PAWL_EUNKNOWN
#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

static const struct number_row *find(const struct number_row *rows, size_t count, int number)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].number == number)
            return &rows[i];
    return NULL;
}

static int choose(const struct number_row *row, bool sent, int otherwise)
{
    if (!row)
        return sent ? PAWL_EUNKNOWN : otherwise;
    return sent ? row->code_sent : row->code;
}

/* ---- PostgreSQL -------------------------------------------------------------------------- */

struct state_row {
    char state[6]; /* or a class: two characters */
    int code;
    int code_sent;
};

/* An error reply means that the transaction was rolled back, but for those about the connection. */
static const struct state_row states[] = {
    {"00000", SAME(PAWL_OK)},
    {"", BROKEN},
    {"08", BROKEN},                     /* connection exceptions */
    {"08001", SAME(PAWL_EUNAVAILABLE)}, /* could not be made */
    {"08004", SAME(PAWL_EUNAVAILABLE)}, /* the server refused it */
    {"08007", SAME(PAWL_EUNKNOWN)},     /* transaction resolution unknown */
    {"08P01", SAME(PAWL_EINTERNAL)},    /* protocol violation */
    {"0A", SAME(PAWL_EUNSUPPORTED)},
    {"21", SAME(PAWL_EINVAL)},
    {"22", SAME(PAWL_EINVAL)},    /* data: out of range, bad encoding, … */
    {"22001", SAME(PAWL_ELIMIT)}, /* too long */
    {"23", SAME(PAWL_ECONFLICT)},
    {"23505", SAME(PAWL_EEXISTS)},      /* unique */
    {"23514", SAME(PAWL_EINVAL)},       /* check */
    {"25006", SAME(PAWL_EUNAVAILABLE)}, /* read-only: a standby, until a failover is over */
    {"25P02", SAME(PAWL_EINTERNAL)},    /* in a failed transaction: our own mistake */
    {"25P03", SAME(PAWL_EUNAVAILABLE)}, /* idle in transaction for too long: rolled back */
    {"28", SAME(PAWL_EPERM)},           /* authorization */
    {"3D000", SAME(PAWL_ENOTFOUND)},    /* no such database */
    {"3F000", SAME(PAWL_ENOTFOUND)},    /* no such schema */
    {"40", SAME(PAWL_EBUSY)},           /* rolled back: serialization, deadlock */
    {"40001", SAME(PAWL_EBUSY)},
    {"40002", SAME(PAWL_ECONFLICT)}, /* a deferred constraint */
    {"40003", SAME(PAWL_EUNKNOWN)},  /* statement completion unknown */
    {"40P01", SAME(PAWL_EBUSY)},     /* deadlock */
    {"42", SAME(PAWL_EINTERNAL)},    /* our SQL is wrong */
    {"42501", SAME(PAWL_EPERM)},
    {"42P01", SAME(PAWL_ENOTFOUND)}, /* no such table */
    {"42P07", SAME(PAWL_EEXISTS)},
    {"53", SAME(PAWL_EUNAVAILABLE)}, /* connections, memory, disk: an operator makes room */
    {"54", SAME(PAWL_ELIMIT)},
    {"55", SAME(PAWL_EBUSY)},        /* not in the state that it takes; in use */
    {"55P03", SAME(PAWL_EBUSY)},     /* lock not available */
    {"57014", SAME(PAWL_ETIMEDOUT)}, /* cancelled, as we do at a deadline: rolled back */
    /* The server goes down. A commit may have been done just before it said so. */
    {"57P01", BROKEN},
    {"57P02", BROKEN},
    {"57P03", SAME(PAWL_EUNAVAILABLE)}, /* starting up: takes no connections yet */
    {"57P04", BROKEN},                  /* the database was dropped */
    {"57P05", BROKEN},                  /* idle session */
    {"58", SAME(PAWL_EIO)},
    {"72000", SAME(PAWL_EBUSY)}, /* snapshot too old */
    {"XX", SAME(PAWL_EINTERNAL)},
    {"XX001", SAME(PAWL_ECORRUPT)},
    {"XX002", SAME(PAWL_ECORRUPT)},
};

static const struct state_row *find_state(struct pawl_str state)
{
    for (size_t i = 0; i < COUNT(states); i++)
        if (pawl__str_is(state, states[i].state))
            return &states[i];
    return NULL;
}

int pawl__code_of_sqlstate(struct pawl_str sqlstate, bool sent)
{
    const struct state_row *row = find_state(sqlstate);

    if (!row && sqlstate.len == 5)
        row = find_state(pawl__str_slice(sqlstate, 0, 2));
    if (!row)
        return sent ? PAWL_EUNKNOWN : PAWL_EINTERNAL;
    return sent ? row->code_sent : row->code;
}

/* ---- SQL Server -------------------------------------------------------------------------- */

static const struct number_row sqlserver_rows[] = {
    {0, SAME(PAWL_OK)},
    {-2, LATE},                       /* the client's timeout */
    {64, BROKEN},                     /* the network name is gone */
    {121, LATE},                      /* the semaphore timeout of the network */
    {208, SAME(PAWL_ENOTFOUND)},      /* no such object */
    {229, SAME(PAWL_EPERM)},          /* permission on an object */
    {233, BROKEN},                    /* no process at the other end of the pipe */
    {262, SAME(PAWL_EPERM)},          /* permission in a database */
    {297, SAME(PAWL_EPERM)},          /* permission for the action */
    {547, SAME(PAWL_ECONFLICT)},      /* foreign key, check */
    {596, BROKEN},                    /* the session was killed */
    {615, SAME(PAWL_EUNAVAILABLE)},   /* the database is being moved */
    {701, SAME(PAWL_EUNAVAILABLE)},   /* memory */
    {802, SAME(PAWL_EUNAVAILABLE)},   /* memory of the buffer pool */
    {823, SAME(PAWL_EIO)},            /* a page could not be read or written */
    {824, SAME(PAWL_ECORRUPT)},       /* a page is damaged */
    {911, SAME(PAWL_ENOTFOUND)},      /* no such database */
    {916, SAME(PAWL_EPERM)},          /* no access to the database */
    {921, SAME(PAWL_EUNAVAILABLE)},   /* the database is not recovered yet */
    {922, SAME(PAWL_EUNAVAILABLE)},   /* it is being recovered */
    {926, SAME(PAWL_ECORRUPT)},       /* it is suspect */
    {983, SAME(PAWL_EUNAVAILABLE)},   /* its availability group resolves who leads */
    {1105, SAME(PAWL_EUNAVAILABLE)},  /* disk full */
    {1204, SAME(PAWL_EUNAVAILABLE)},  /* no locks left */
    {1205, SAME(PAWL_EBUSY)},         /* chosen as the victim of a deadlock */
    {1222, SAME(PAWL_EBUSY)},         /* lock timeout */
    {2601, SAME(PAWL_EEXISTS)},       /* unique index */
    {2627, SAME(PAWL_EEXISTS)},       /* unique constraint */
    {2628, SAME(PAWL_ELIMIT)},        /* text too long */
    {2714, SAME(PAWL_EEXISTS)},       /* there is such an object */
    {2812, SAME(PAWL_ENOTFOUND)},     /* no such procedure */
    {3906, SAME(PAWL_EUNAVAILABLE)},  /* read-only: a secondary */
    {3960, SAME(PAWL_EBUSY)},         /* snapshot: another transaction was first */
    {4060, SAME(PAWL_EUNAVAILABLE)},  /* cannot open the database: moving, or no access */
    {4221, SAME(PAWL_EUNAVAILABLE)},  /* login to a secondary waits for versions */
    {6005, SAME(PAWL_EUNAVAILABLE)},  /* shutting down */
    {8115, SAME(PAWL_EINVAL)},        /* arithmetic overflow */
    {8152, SAME(PAWL_ELIMIT)},        /* text too long, before 2019 */
    {8645, SAME(PAWL_EUNAVAILABLE)},  /* waited for memory in vain */
    {8651, SAME(PAWL_EUNAVAILABLE)},  /* not enough memory */
    {9002, SAME(PAWL_EUNAVAILABLE)},  /* the log is full */
    {10053, BROKEN},                  /* connection aborted */
    {10054, BROKEN},                  /* connection reset */
    {10060, LATE},                    /* connection timed out */
    {10061, SAME(PAWL_EUNAVAILABLE)}, /* connection refused */
    {10928, SAME(PAWL_EUNAVAILABLE)}, /* resource limits of Azure */
    {10929, SAME(PAWL_EUNAVAILABLE)},
    {10936, SAME(PAWL_EUNAVAILABLE)},
    {14906, SAME(PAWL_EUNAVAILABLE)}, /* moving */
    {17142, SAME(PAWL_EUNAVAILABLE)}, /* paused */
    {18401, SAME(PAWL_EUNAVAILABLE)}, /* upgrading */
    {18456, SAME(PAWL_EPERM)},        /* login failed */
    {18486, SAME(PAWL_EPERM)},        /* the account is locked */
    {20002, SAME(PAWL_EUNAVAILABLE)}, /* SYBEFCON: connection failed */
    {20003, LATE},                    /* SYBETIME */
    {20004, BROKEN},                  /* SYBEREAD */
    {20006, BROKEN},                  /* SYBEWRIT */
    {20009, SAME(PAWL_EUNAVAILABLE)}, /* SYBECONN: no server there */
    {20014, SAME(PAWL_EPERM)},        /* SYBEPWD: login incorrect */
    {20017, BROKEN},                  /* SYBESEOF: the server hung up */
    {20047, BROKEN},                  /* SYBEDDNE: the connection is dead */
    {40143, BROKEN},                  /* Azure: the service failed while processing */
    {40197, BROKEN},                  /* Azure: the same, with a reconfiguration */
    {40501, SAME(PAWL_EUNAVAILABLE)}, /* Azure: busy */
    {40540, SAME(PAWL_EUNAVAILABLE)},
    {40544, SAME(PAWL_EUNAVAILABLE)}, /* Azure: size quota */
    {40549, SAME(PAWL_EUNAVAILABLE)}, /* Azure: long transaction ended */
    {40550, SAME(PAWL_EUNAVAILABLE)}, /* Azure: too many locks */
    {40613, SAME(PAWL_EUNAVAILABLE)}, /* Azure: not available now */
    {41301, SAME(PAWL_EBUSY)},        /* a transaction this one depends on has failed */
    {41302, SAME(PAWL_EBUSY)},        /* updated since the transaction began */
    {41305, SAME(PAWL_EBUSY)},        /* repeatable read does not hold */
    {41325, SAME(PAWL_EBUSY)},        /* serializable does not hold */
    {41839, SAME(PAWL_EBUSY)},        /* too many dependencies */
    {49918, SAME(PAWL_EUNAVAILABLE)}, /* Azure: not enough resources, or too many operations */
    {49919, SAME(PAWL_EUNAVAILABLE)},
    {49920, SAME(PAWL_EUNAVAILABLE)},
};

int pawl__code_of_sqlserver(int number, bool sent)
{
    return choose(find(sqlserver_rows, COUNT(sqlserver_rows), number), sent, PAWL_EINTERNAL);
}

int pawl__code_of_applock(int answer)
{
    if (answer >= 0)
        return PAWL_OK;
    switch (answer) {
    case -1: /* timed out */
        return PAWL_ETIMEDOUT;
    case -2: /* cancelled */
        return PAWL_ECANCELLED;
    case -3: /* victim of a deadlock */
        return PAWL_EBUSY;
    case -999: /* a parameter is wrong */
        return PAWL_EINVAL;
    default:
        return PAWL_EINTERNAL;
    }
}

/* ---- errno ------------------------------------------------------------------------------- */

static const struct number_row errno_rows[] = {
    /* No connection was made: whatever was to be sent was not. */
    {ECONNREFUSED, SAME(PAWL_EUNAVAILABLE)},
    {EADDRNOTAVAIL, SAME(PAWL_EUNAVAILABLE)},
    {EMFILE, SAME(PAWL_EUNAVAILABLE)},
    {ENFILE, SAME(PAWL_EUNAVAILABLE)},
    {ENOENT, SAME(PAWL_EUNAVAILABLE)}, /* of a local socket: the server is not up */
    {EACCES, SAME(PAWL_EPERM)},
    {EPERM, SAME(PAWL_EPERM)},
    {EAFNOSUPPORT, SAME(PAWL_EUNSUPPORTED)},
    {EPROTONOSUPPORT, SAME(PAWL_EUNSUPPORTED)},
    /* The connection broke, or there is no way to the other end any more. */
    {ECONNRESET, BROKEN},
    {ECONNABORTED, BROKEN},
    {EPIPE, BROKEN},
    {ENOTCONN, BROKEN},
    {ESHUTDOWN, BROKEN},
    {ENETDOWN, BROKEN},
    {ENETUNREACH, BROKEN},
    {ENETRESET, BROKEN},
    {EHOSTDOWN, BROKEN},
    {EHOSTUNREACH, BROKEN},
    {ENOBUFS, BROKEN},
    {EAGAIN, LATE}, /* of a call with a timeout */
    {ETIMEDOUT, LATE},
    {EINTR, BROKEN},
    {ENOMEM, PAWL_ENOMEM, PAWL_EUNKNOWN},
    {EBADF, SAME(PAWL_EINTERNAL)},
    {EFAULT, SAME(PAWL_EINTERNAL)},
    {ENOTSOCK, SAME(PAWL_EINTERNAL)},
};

int pawl__code_of_errno(int errnum, bool sent)
{
    return choose(find(errno_rows, COUNT(errno_rows), errnum), sent, PAWL_EIO);
}

/* ---- HTTP -------------------------------------------------------------------------------- */

static const struct number_row http_rows[] = {
    {401, SAME(PAWL_EPERM)},        {402, SAME(PAWL_EPERM)},        {403, SAME(PAWL_EPERM)},
    {404, SAME(PAWL_ENOTFOUND)},    {405, SAME(PAWL_EUNSUPPORTED)}, {406, SAME(PAWL_EUNSUPPORTED)},
    {407, SAME(PAWL_EPERM)},        {408, SAME(PAWL_ETIMEDOUT)}, /* the server did not get the whole
                                                                    request */
    {409, SAME(PAWL_ECONFLICT)},    {410, SAME(PAWL_ENOTFOUND)},    {412, SAME(PAWL_ECONFLICT)},
    {413, SAME(PAWL_ELIMIT)},       {414, SAME(PAWL_ELIMIT)},       {415, SAME(PAWL_EUNSUPPORTED)},
    {421, SAME(PAWL_EUNAVAILABLE)}, /* misdirected: another connection may be right */
    {423, SAME(PAWL_EBUSY)},        {425, SAME(PAWL_EUNAVAILABLE)}, /* too early */
    {428, SAME(PAWL_ECONFLICT)},    {429, SAME(PAWL_EBUSY)},        {431, SAME(PAWL_ELIMIT)},
    {451, SAME(PAWL_EPERM)},        {501, SAME(PAWL_EUNSUPPORTED)}, {503, SAME(PAWL_EUNAVAILABLE)},
    {505, SAME(PAWL_EUNSUPPORTED)}, {507, SAME(PAWL_EUNAVAILABLE)}, /* no room */
    {511, SAME(PAWL_EPERM)},
};

int pawl__code_of_http(int http_status)
{
    const struct number_row *row = find(http_rows, COUNT(http_rows), http_status);

    if (http_status >= 100 && http_status < 400)
        return PAWL_OK;
    if (row)
        return row->code;
    return http_status >= 400 && http_status < 500 ? PAWL_EINVAL : PAWL_EUNKNOWN;
}

/* ---- Redis ------------------------------------------------------------------------------- */

struct word_row {
    const char *begin; /* of the message; longer ones stand before shorter ones */
    int code;
};

static const struct word_row redis_rows[] = {
    {"ERR max number of clients reached", PAWL_EUNAVAILABLE},
    {"ERR invalid password", PAWL_EPERM},
    {"ERR unknown command", PAWL_EUNSUPPORTED},
    {"ERR no such key", PAWL_ENOTFOUND},
    {"ERR", PAWL_EINVAL},
    {"ASK", PAWL_EUNAVAILABLE}, /* the slot moves; we follow no redirections */
    {"BUSY", PAWL_EBUSY},       /* a script runs for too long */
    {"BUSYGROUP", PAWL_EEXISTS},
    {"BUSYKEY", PAWL_EEXISTS},
    {"CLUSTERDOWN", PAWL_EUNAVAILABLE},
    {"CROSSSLOT", PAWL_EINVAL},
    {"EXECABORT", PAWL_ECONFLICT},
    {"INPROG", PAWL_EBUSY}, /* a failover is under way */
    {"LOADING", PAWL_EUNAVAILABLE},
    {"MASTERDOWN", PAWL_EUNAVAILABLE},
    {"MISCONF", PAWL_EUNAVAILABLE}, /* it cannot save, so it takes no writes */
    {"MOVED", PAWL_EUNAVAILABLE},
    {"NOAUTH", PAWL_EPERM},
    {"NOGROUP", PAWL_ENOTFOUND},
    {"NOGOODSLAVE", PAWL_EUNAVAILABLE},
    {"NOPERM", PAWL_EPERM},
    {"NOREPLICAS", PAWL_EUNAVAILABLE},
    {"NOSCRIPT", PAWL_ENOTFOUND},
    {"NOTBUSY", PAWL_ECONFLICT},
    {"OOM", PAWL_EUNAVAILABLE},
    {"READONLY", PAWL_EUNAVAILABLE}, /* a replica, until a failover is over */
    {"TRYAGAIN", PAWL_EBUSY},
    {"UNBLOCKED", PAWL_EUNAVAILABLE}, /* a blocking call ended because the role changed */
    {"UNKILLABLE", PAWL_EBUSY},
    {"WRONGPASS", PAWL_EPERM},
    {"WRONGTYPE", PAWL_ECONFLICT},
};

int pawl__code_of_redis(struct pawl_str message)
{
    if (message.len > 0 && message.ptr[0] == '-')
        message = pawl__str_slice(message, 1, SIZE_MAX);
    for (size_t i = 0; i < COUNT(redis_rows); i++) {
        struct pawl_str begin = pawl__str(redis_rows[i].begin);

        if (pawl__str_starts(message, begin) &&
            (message.len == begin.len || message.ptr[begin.len] == ' '))
            return redis_rows[i].code;
    }
    return PAWL_EINTERNAL;
}

/* ---- SQLite ------------------------------------------------------------------------------ */

static const struct number_row sqlite_rows[] = {
    {0, SAME(PAWL_OK)},
    {1, SAME(PAWL_EINTERNAL)},     /* ERROR: our SQL is wrong */
    {2, SAME(PAWL_EINTERNAL)},     /* INTERNAL */
    {3, SAME(PAWL_EPERM)},         /* PERM */
    {4, SAME(PAWL_ECANCELLED)},    /* ABORT */
    {5, SAME(PAWL_EBUSY)},         /* BUSY: another process writes */
    {6, SAME(PAWL_EBUSY)},         /* LOCKED: another connection of this process does */
    {7, SAME(PAWL_ENOMEM)},        /* NOMEM */
    {8, SAME(PAWL_EPERM)},         /* READONLY */
    {9, SAME(PAWL_ETIMEDOUT)},     /* INTERRUPT, as we do at a deadline */
    {10, SAME(PAWL_EIO)},          /* IOERR */
    {11, SAME(PAWL_ECORRUPT)},     /* CORRUPT */
    {12, SAME(PAWL_EINTERNAL)},    /* NOTFOUND */
    {13, SAME(PAWL_EUNAVAILABLE)}, /* FULL: an operator makes room */
    {14, SAME(PAWL_ENOTFOUND)},    /* CANTOPEN */
    {15, SAME(PAWL_EBUSY)},        /* PROTOCOL: lost the race for a lock again and again */
    {17, SAME(PAWL_EBUSY)},        /* SCHEMA: changed meanwhile */
    {18, SAME(PAWL_ELIMIT)},       /* TOOBIG */
    {19, SAME(PAWL_ECONFLICT)},    /* CONSTRAINT */
    {20, SAME(PAWL_EINVAL)},       /* MISMATCH */
    {21, SAME(PAWL_EINTERNAL)},    /* MISUSE */
    {22, SAME(PAWL_ELIMIT)},       /* NOLFS */
    {23, SAME(PAWL_EPERM)},        /* AUTH */
    {25, SAME(PAWL_EINTERNAL)},    /* RANGE */
    {26, SAME(PAWL_ECORRUPT)},     /* NOTADB */
    {100, SAME(PAWL_OK)},          /* ROW */
    {101, SAME(PAWL_OK)},          /* DONE */
    {270, SAME(PAWL_EINVAL)},      /* CANTOPEN_NOTEMPDIR */
    {526, SAME(PAWL_EINVAL)},      /* CANTOPEN_ISDIR */
    {1032, SAME(PAWL_EIO)},        /* READONLY_DBMOVED: somebody took the file away */
    {1555, SAME(PAWL_EEXISTS)},    /* CONSTRAINT_PRIMARYKEY */
    {2067, SAME(PAWL_EEXISTS)},    /* CONSTRAINT_UNIQUE */
    {2579, SAME(PAWL_EEXISTS)},    /* CONSTRAINT_ROWID */
    {2826, SAME(PAWL_EBUSY)},      /* IOERR_BLOCKED */
    {3082, SAME(PAWL_ENOMEM)},     /* IOERR_NOMEM */
    {3338, SAME(PAWL_EPERM)},      /* IOERR_ACCESS */
    {8458, SAME(PAWL_ECORRUPT)},   /* IOERR_DATA: a checksum is wrong */
    {8714, SAME(PAWL_ECORRUPT)},   /* IOERR_CORRUPTFS */
};

int pawl__code_of_sqlite(int extended_code)
{
    const struct number_row *row = find(sqlite_rows, COUNT(sqlite_rows), extended_code);

    if (!row)
        row = find(sqlite_rows, COUNT(sqlite_rows), extended_code & 0xFF);
    return row ? row->code : PAWL_EINTERNAL;
}

/* ---- libcurl ----------------------------------------------------------------------------- */

static const struct number_row curl_rows[] = {
    {0, SAME(PAWL_OK)},
    {1, SAME(PAWL_EUNSUPPORTED)},     /* UNSUPPORTED_PROTOCOL */
    {2, SAME(PAWL_EINTERNAL)},        /* FAILED_INIT */
    {3, SAME(PAWL_EINVAL)},           /* URL_MALFORMAT */
    {4, SAME(PAWL_EUNSUPPORTED)},     /* NOT_BUILT_IN */
    {5, SAME(PAWL_EUNAVAILABLE)},     /* COULDNT_RESOLVE_PROXY */
    {6, SAME(PAWL_EUNAVAILABLE)},     /* COULDNT_RESOLVE_HOST */
    {7, SAME(PAWL_EUNAVAILABLE)},     /* COULDNT_CONNECT */
    {8, BROKEN},                      /* WEIRD_SERVER_REPLY */
    {9, SAME(PAWL_EPERM)},            /* REMOTE_ACCESS_DENIED */
    {16, BROKEN},                     /* HTTP2 */
    {18, BROKEN},                     /* PARTIAL_FILE */
    {22, BROKEN},                     /* HTTP_RETURNED_ERROR: ask pawl__code_of_http() instead */
    {23, PAWL_EIO, PAWL_EUNKNOWN},    /* WRITE_ERROR: of our own callback */
    {26, PAWL_EIO, PAWL_EUNKNOWN},    /* READ_ERROR: the same */
    {27, PAWL_ENOMEM, PAWL_EUNKNOWN}, /* OUT_OF_MEMORY */
    {28, LATE},                       /* OPERATION_TIMEDOUT */
    {35, SAME(PAWL_EUNAVAILABLE)},    /* SSL_CONNECT_ERROR: before the request */
    {42, PAWL_ECANCELLED, PAWL_EUNKNOWN}, /* ABORTED_BY_CALLBACK */
    {43, SAME(PAWL_EINTERNAL)},           /* BAD_FUNCTION_ARGUMENT */
    {47, SAME(PAWL_ELIMIT)},              /* TOO_MANY_REDIRECTS */
    {52, BROKEN},                         /* GOT_NOTHING */
    {55, BROKEN},                         /* SEND_ERROR */
    {56, BROKEN},                         /* RECV_ERROR */
    {58, SAME(PAWL_EINVAL)},              /* SSL_CERTPROBLEM: ours */
    {59, SAME(PAWL_EUNSUPPORTED)},        /* SSL_CIPHER */
    {60, SAME(PAWL_EPERM)},               /* PEER_FAILED_VERIFICATION */
    {61, BROKEN},                         /* BAD_CONTENT_ENCODING */
    {63, PAWL_ELIMIT, PAWL_EUNKNOWN},     /* FILESIZE_EXCEEDED */
    {65, BROKEN},                         /* SEND_FAIL_REWIND */
    {67, SAME(PAWL_EPERM)},               /* LOGIN_DENIED */
    {77, SAME(PAWL_EINVAL)},              /* SSL_CACERT_BADFILE */
    {80, BROKEN},                         /* SSL_SHUTDOWN_FAILED */
    {81, BROKEN},                         /* AGAIN */
    {92, BROKEN},                         /* HTTP2_STREAM */
    {95, BROKEN},                         /* HTTP3 */
    {96, SAME(PAWL_EUNAVAILABLE)},        /* QUIC_CONNECT_ERROR */
};

int pawl__code_of_curl(int curl_code, bool sent)
{
    return choose(find(curl_rows, COUNT(curl_rows), curl_code), sent, PAWL_EINTERNAL);
}
