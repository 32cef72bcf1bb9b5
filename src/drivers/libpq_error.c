/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what PostgreSQL says to PAWL codes and to messages that help. Codes are decided by SQLSTATE
 * alone: the server's words are in the server's language.
 */
#include "drivers/libpq_private.h"

#include "base/error.h"

struct state_code {
    const char *state; /* a SQLSTATE or the beginning of one */
    int code;
    const char *hint;
};

#define STANDBY                                                                                    \
    "this server is read-only, as a standby is; give the primary's address, or all of them: "      \
    "postgres://a,b/?target_session_attrs=read-write"

/* The first that fits. */
static const struct state_code state_codes[] = {
    {"08007", PAWL_EUNKNOWN, NULL}, /* nobody knows how the transaction ended */
    {"08P01", PAWL_EINTERNAL, NULL},
    {"08", PAWL_EUNAVAILABLE, NULL},
    {"0A", PAWL_EUNSUPPORTED, NULL},
    {"21", PAWL_EINVAL, NULL},
    {"22001", PAWL_ELIMIT, NULL}, /* too long */
    {"22", PAWL_EINVAL, NULL},
    {"23505", PAWL_EEXISTS, NULL},
    {"23", PAWL_ECONFLICT, NULL},
    {"25006", PAWL_EUNAVAILABLE, STANDBY}, /* until a failover is over */
    {"25P03", PAWL_EUNAVAILABLE, NULL},    /* idle in a transaction for too long: taken back */
    {"25P04", PAWL_EUNAVAILABLE, NULL},    /* transaction_timeout: taken back */
    {"28P01", PAWL_EPERM, "check user and password of the URI"},
    {"28", PAWL_EPERM, "check the user of the URI and the server's pg_hba.conf"},
    {"3D000", PAWL_ENOTFOUND, "make it: createdb NAME"},
    {"3F000", PAWL_ENOTFOUND, "make it: CREATE SCHEMA NAME"},
    {"40002", PAWL_ECONFLICT, NULL}, /* a constraint that is checked at the end */
    {"40003", PAWL_EUNKNOWN, NULL},
    {"40", PAWL_EBUSY, NULL},
    {"42501", PAWL_EPERM, "grant it to the user of the URI"},
    /* Nothing was done, and nothing is known of the row: they may be back when a restore is over.
     */
    {"42P01", PAWL_EUNAVAILABLE, "the tables are missing: let pawl create them"},
    {"42P07", PAWL_EEXISTS, NULL},
    {"53100", PAWL_EUNAVAILABLE, "the server's disk is full"},
    {"53300", PAWL_EUNAVAILABLE, "raise max_connections or give each node fewer connections"},
    {"53", PAWL_EUNAVAILABLE, NULL},
    {"54", PAWL_ELIMIT, NULL},
    {"55006", PAWL_EBUSY, NULL}, /* in use */
    {"55P03", PAWL_EBUSY, NULL}, /* lock_timeout, NOWAIT */
    {"57014", PAWL_ETIMEDOUT, NULL},
    {"57P", PAWL_EUNAVAILABLE, NULL}, /* the server or the session is being ended, or starts */
    {"58", PAWL_EIO, "look into the server's log"},
    {"72000", PAWL_EBUSY, NULL}, /* snapshot too old */
    {"XX001", PAWL_ECORRUPT, "look into the server's log"},
    {"XX002", PAWL_ECORRUPT, "REINDEX, and look into the server's log"},
};

static const struct state_code *find_state(const char *state)
{
    for (size_t i = 0; i < sizeof state_codes / sizeof state_codes[0]; i++)
        if (strncmp(state, state_codes[i].state, strlen(state_codes[i].state)) == 0)
            return &state_codes[i];
    return NULL;
}

int pawl__pq_code(const char *sqlstate)
{
    const struct state_code *found = find_state(sqlstate);

    if (!*sqlstate)
        return PAWL_EUNAVAILABLE;
    return found ? found->code : PAWL_EINTERNAL;
}

/* The first line, without what surrounds it. */
static struct pawl_str first_line(const char *text)
{
    struct pawl_str s = pawl__str(text);

    return pawl__str_trim(pawl__str_slice(s, 0, pawl__str_find(s, '\n', 0)));
}

static int set_error(struct pawl_error *err, const char *state, struct pawl_str text)
{
    const struct state_code *found = find_state(state);
    int code = pawl__pq_code(state);

    if (!*state)
        return pawl__error_set(err, code, "PostgreSQL: %.*s", PAWL_STR_ARG(text));
    return pawl__error_set(err, code, "PostgreSQL: %.*s (SQLSTATE %.5s)%s%s", PAWL_STR_ARG(text),
                           state, found && found->hint ? "; " : "",
                           found && found->hint ? found->hint : "");
}

/* ---- connecting -------------------------------------------------------------------------- */

static bool is_state_byte(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z');
}

/*
 * libpq has no field for the SQLSTATE of a refused connection, but its verbose message has it
 * behind the severity: "…: FATAL:  28P01: password authentication failed …". Moves it out.
 */
static const char *split_state(struct pawl_str line, char state[6], struct pawl_str *text)
{
    *state = 0;
    *text = line;
    for (size_t i = 0; i + 10 < line.len; i++) {
        const char *at = line.ptr + i;
        size_t good = 0;

        if (at[0] != ':' || at[1] != ' ' || at[2] != ' ' || at[8] != ':' || at[9] != ' ')
            continue;
        while (good < 5 && is_state_byte(at[3 + good]))
            good++;
        if (good < 5)
            continue;
        memcpy(state, at + 3, 5);
        state[5] = 0;
        *text = pawl__str_slice(line, i + 10, line.len);
        break;
    }
    return state;
}

int pawl__pq_connect_error(struct pawl_pq *pq, PGconn *conn, struct pawl_error *err)
{
    const char *message = pq->call.PQerrorMessage(conn);
    const char *host = pq->call.PQhost(conn), *port = pq->call.PQport(conn);
    struct pawl_str text;
    char state[6];
    int code;

    (void)split_state(first_line(message), state, &text);
    code = set_error(err, state, text);
    if (*state)
        (void)pawl__error_prefix(err, code, "%s port %s", host && *host ? host : "local socket",
                                 port ? port : "?");
    return code;
}

/* ---- connected --------------------------------------------------------------------------- */

int pawl__pq_lost_error(struct pawl_pq_conn *conn, int code, struct pawl_error *err)
{
    const char *host = conn->pq->call.PQhost(conn->conn), *port = conn->pq->call.PQport(conn->conn);
    bool is_gone = conn->pq->call.PQstatus(conn->conn) == CONNECTION_BAD;
    struct pawl_str why =
        is_gone ? first_line(conn->pq->call.PQerrorMessage(conn->conn)) : pawl__str("");

    if (why.len == 0)
        why = pawl__str(is_gone ? "the server closed the connection" : "no answer in time");
    if (code == PAWL_EUNKNOWN)
        return pawl__error_set(err, code,
                               "PostgreSQL at %s port %s: the reply to a commit was lost, it may "
                               "have happened (%.*s)",
                               host ? host : "?", port ? port : "?", PAWL_STR_ARG(why));
    if (code == PAWL_EUNAVAILABLE || code == PAWL_ETIMEDOUT)
        return pawl__error_set(err, code, "PostgreSQL at %s port %s: %.*s", host ? host : "?",
                               port ? port : "?", PAWL_STR_ARG(why));
    return pawl__error_code(err, code);
}

int pawl__pq_refuse_standby(const struct pawl_pq_conn *conn, struct pawl_error *err)
{
    const char *host = conn->pq->call.PQhost(conn->conn), *port = conn->pq->call.PQport(conn->conn);

    return pawl__error_set(err, pawl__pq_code("25006"), "PostgreSQL at %s port %s: " STANDBY,
                           host && *host ? host : "local socket", port ? port : "?");
}

static const char *state_of(const struct pawl_pq_conn *conn, const PGresult *result)
{
    return conn->pq->call.PQresultErrorField(result, PG_DIAG_SQLSTATE); /* of NULL it is NULL */
}

static int result_error(const struct pawl_pq_conn *conn, const PGresult *result,
                        struct pawl_error *err)
{
    const char *state = state_of(conn, result);
    const char *text = conn->pq->call.PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

    return set_error(err, state ? state : "", first_line(text ? text : "the connection was lost"));
}

/* Of a statement that was to be prepared in an earlier transaction: another may be why it was not,
 * and that one's fault is not its own. */
static int preparation_error(const struct pawl_pq_conn *conn, size_t prepared,
                             struct pawl_error *err)
{
    struct pawl_error why = PAWL_ERROR_INIT;
    size_t first = prepared;
    int code;

    if (state_of(conn, conn->entries[prepared].result))
        return result_error(conn, conn->entries[prepared].result, err);
    while (first > 0 && conn->entries[first - 1].kind != PQ_SYNC)
        first--;
    while (first < prepared && !state_of(conn, conn->entries[first].result))
        first++;
    code = result_error(conn, conn->entries[first].result, &why);
    if (pawl_error_class(code) != PAWL_CLASS_TRANSIENT)
        code = PAWL_EBUSY;
    return pawl__error_set(err, code, "not prepared, as another statement could not be: %s",
                           why.msg);
}

/* The entry that was to prepare the statement of entry `number`; `number`: there is none. */
static size_t find_preparation(const struct pawl_pq_conn *conn, size_t number)
{
    for (size_t i = number; i-- > 0;)
        if (conn->entries[i].kind == PQ_PREPARE &&
            conn->entries[i].number == conn->entries[number].number)
            return i;
    return number;
}

static int refusal(const struct pawl_pq_conn *conn, size_t number, struct pawl_error *err)
{
    const char *state = state_of(conn, conn->entries[number].result);
    size_t prepared = number;

    /* The server does not know the name: what was to make it known may have failed. */
    if (state && strcmp(state, "26000") == 0)
        prepared = find_preparation(conn, number);
    if (prepared == number ||
        conn->pq->call.PQresultStatus(conn->entries[prepared].result) == PGRES_COMMAND_OK)
        return result_error(conn, conn->entries[number].result, err);
    return preparation_error(conn, prepared, err);
}

int pawl__pq_status(const struct pawl_pq_conn *conn, size_t at, struct pawl_error *err)
{
    size_t number = conn->queries[at], sync = number;
    const struct pq_entry *entry = &conn->entries[number];

    if (entry->undone) {
        while (conn->entries[sync].kind != PQ_SYNC)
            sync++;
        return result_error(conn, conn->entries[sync].result, err);
    }
    if (!entry->result)
        return pawl__error_code(err, PAWL_EUNAVAILABLE);
    switch ((int)conn->pq->call.PQresultStatus(entry->result)) {
    case PGRES_TUPLES_OK:
    case PGRES_COMMAND_OK:
    case PGRES_EMPTY_QUERY:
        return PAWL_OK;
    case PGRES_PIPELINE_ABORTED:
        /* Its own preparation may be what failed. */
        if (number > 0 && conn->entries[number - 1].kind == PQ_PREPARE &&
            state_of(conn, conn->entries[number - 1].result))
            return result_error(conn, conn->entries[number - 1].result, err);
        return pawl__error_set(err, PAWL_ECANCELLED, "skipped after an error");
    default:
        return refusal(conn, number, err);
    }
}
