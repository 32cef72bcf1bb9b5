/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches of statements in libpq's pipeline mode, see libpq.h.
 *
 * Invariants: a connection is non-blocking and in pipeline mode from its first batch to its end;
 * between batches only statements that were posted, or not waited for, lack a result. Whatever
 * violates that (a lost connection, a deadline in the middle, memory) marks it broken, and nobody
 * uses it again.
 */
#include "drivers/libpq_private.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"

#include <stdio.h>

/* Types by object identifier, as the server's catalog has had them for ever. */
#define OID_BYTEA 17u
#define OID_INT8 20u
#define OID_TEXT 25u
#define OID_BYTEA_ARRAY 1001u
#define OID_TEXT_ARRAY 1009u
#define OID_INT8_ARRAY 1016u

#define NAME_SIZE 16
#define ENTRIES_MIN 64

/* ---- queueing ---------------------------------------------------------------------------- */

static void clear_results(struct pawl_pq_conn *conn)
{
    size_t late_from = conn->entry_count - conn->late_count;

    for (size_t i = 0; i < conn->entry_count; i++) {
        conn->pq->call.PQclear(conn->entries[i].result); /* NULL allowed */
        conn->entries[i].result = NULL;
    }
    /* What was not waited for is answered before the next batch, as if it had been posted. */
    if (conn->late_count > 0) {
        memmove(conn->entries, conn->entries + late_from,
                conn->late_count * sizeof conn->entries[0]);
        conn->posted_entries = conn->late_count;
        conn->late_count = 0;
    }
    /* Those have no answers yet, or the connection broke behind them. */
    conn->entry_count = conn->posted_entries;
    conn->received_count = 0;
    conn->query_count = 0;
}

/* Nothing may be sent on it any more; what was sent without a sync is taken back by the server. */
static int spoil(struct pawl_pq_conn *conn, int code, struct pawl_error *err)
{
    conn->broken = true;
    return code == PAWL_EUNAVAILABLE ? pawl__pq_lost_error(conn, code, err)
                                     : pawl__error_code(err, code);
}

void pawl__pq_forget(struct pawl_pq_conn *conn)
{
    /* A batch that was given up half-way cannot be taken back from libpq. */
    if (conn->is_pending)
        conn->broken = true;
    clear_results(conn);
}

int pawl__pq_begin(struct pawl_pq_conn *conn, struct pawl_error *err)
{
    pawl__pq_forget(conn);
    return conn->broken
               ? pawl__error_set(err, PAWL_EUNAVAILABLE, "the connection to PostgreSQL is broken")
               : PAWL_OK;
}

static int grow_entries(struct pawl_pq_conn *conn)
{
    const struct pawl_allocator *alloc = conn->pq->alloc;
    size_t old = conn->entry_capacity, new = old ? old * 2 : ENTRIES_MIN;
    struct pq_entry *entries;
    uint32_t *queries;

    if (conn->entry_count < old)
        return PAWL_OK;
    if (new > PAWL_PQ_BATCH_MAX * 2u)
        return PAWL_ELIMIT;
    /* The sizes must stay equal: both are freed by one capacity. */
    entries = pawl__alloc(alloc, new * sizeof *entries);
    queries = pawl__alloc(alloc, new * sizeof *queries);
    if (!entries || !queries) {
        pawl__free(alloc, entries, new * sizeof *entries);
        pawl__free(alloc, queries, new * sizeof *queries);
        return PAWL_ENOMEM;
    }
    if (old > 0) {
        memcpy(entries, conn->entries, old * sizeof *entries);
        memcpy(queries, conn->queries, old * sizeof *queries);
        pawl__free(alloc, conn->entries, old * sizeof *entries);
        pawl__free(alloc, conn->queries, old * sizeof *queries);
    }
    conn->entries = entries;
    conn->queries = queries;
    conn->entry_capacity = new;
    return PAWL_OK;
}

static int add_entry(struct pawl_pq_conn *conn, enum pq_entry_kind kind, uint32_t number,
                     struct pawl_error *err)
{
    int status = grow_entries(conn);

    if (status != PAWL_OK)
        return spoil(conn, status, err);
    if (kind == PQ_QUERY)
        conn->queries[conn->query_count++] = (uint32_t)conn->entry_count;
    conn->is_pending = true;
    conn->entries[conn->entry_count++] = (struct pq_entry){kind, number, false, NULL};
    return PAWL_OK;
}

static unsigned type_oid(enum pawl_pq_type type)
{
    switch (type) {
    case PAWL_PQ_TEXT:
        return OID_TEXT;
    case PAWL_PQ_BYTES:
        return OID_BYTEA;
    case PAWL_PQ_INT:
        return OID_INT8;
    case PAWL_PQ_TEXT_ARRAY:
        return OID_TEXT_ARRAY;
    case PAWL_PQ_BYTES_ARRAY:
        return OID_BYTEA_ARRAY;
    case PAWL_PQ_INT_ARRAY:
        return OID_INT8_ARRAY;
    }
    return 0;
}

static void put_int64(char *to, int64_t value)
{
    for (int i = 0; i < 8; i++)
        to[i] = (char)((uint64_t)value >> (56 - 8 * i));
}

/* libpq takes an array per parameter column; they are in sequence in the scratch buffer. */
struct arrays {
    const char **values;
    char (*integers)[8];
    Oid *types;
    int *lengths;
    int *formats;
};

static int fill_arrays(struct pawl_pq_conn *conn, const struct pawl_pq_param *params, size_t count,
                       struct arrays *out)
{
    char *at;

    pawl__buf_clear(&conn->scratch);
    at = pawl__buf_reserve(&conn->scratch, count * sizeof(struct pq_scratch) + 1);
    if (!at)
        return conn->scratch.status;
    out->values = (const char **)(void *)at;
    out->integers = (char(*)[8])(void *)(out->values + count);
    out->types = (Oid *)(void *)(out->integers + count);
    out->lengths = (int *)(void *)(out->types + count);
    out->formats = out->lengths + count;
    for (size_t i = 0; i < count; i++) {
        out->types[i] = type_oid(params[i].type);
        out->formats[i] = 1;
        out->values[i] = params[i].bytes.len > 0 ? params[i].bytes.ptr : "";
        out->lengths[i] = (int)params[i].bytes.len;
        if (params[i].type == PAWL_PQ_INT) {
            put_int64(out->integers[i], params[i].integer);
            out->values[i] = out->integers[i];
            out->lengths[i] = 8;
        } else if (params[i].bytes.len > INT32_MAX) {
            return PAWL_ELIMIT;
        }
    }
    return PAWL_OK;
}

static int send_prepare(struct pawl_pq_conn *conn, uint32_t number, const char *text,
                        const struct arrays *arrays, size_t count, struct pawl_error *err)
{
    char name[NAME_SIZE];
    int status;

    (void)snprintf(name, sizeof name, "s%u", (unsigned)number);
    if (conn->pq->call.PQsendPrepare(conn->conn, name, text, (int)count, arrays->types) != 1)
        return spoil(conn, PAWL_EUNAVAILABLE, err);
    status = add_entry(conn, PQ_PREPARE, number, err);
    if (status == PAWL_OK)
        conn->prepared[number] = PQ_IS_QUEUED;
    return status;
}

int pawl__pq_prepare(struct pawl_pq_conn *conn, uint32_t number, const char *text,
                     const struct pawl_pq_param *params, size_t param_count, struct pawl_error *err)
{
    struct arrays arrays = {0};
    int status;

    PAWL_ASSERT(number < PAWL_PQ_STATEMENTS_MAX);
    if (conn->prepared[number] != PQ_IS_UNKNOWN)
        return PAWL_OK;
    status = fill_arrays(conn, params, param_count, &arrays);
    return status == PAWL_OK ? send_prepare(conn, number, text, &arrays, param_count, err)
                             : spoil(conn, status, err);
}

int pawl__pq_queue(struct pawl_pq_conn *conn, uint32_t number, const char *text,
                   const struct pawl_pq_param *params, size_t param_count, struct pawl_error *err)
{
    struct pq_functions *call = &conn->pq->call;
    struct arrays a = {0};
    char name[NAME_SIZE];
    int status, sent;

    PAWL_ASSERT(number < PAWL_PQ_STATEMENTS_MAX || number == PAWL_PQ_STATEMENT_NONE);
    PAWL_ASSERT(param_count <= PAWL_PQ_PARAMS_MAX);
    if (conn->broken)
        return pawl__error_set(err, PAWL_EUNAVAILABLE, "the connection to PostgreSQL is broken");
    status = fill_arrays(conn, params, param_count, &a);
    if (status != PAWL_OK)
        return spoil(conn, status, err);
    if (number == PAWL_PQ_STATEMENT_NONE) {
        sent = call->PQsendQueryParams(conn->conn, text, (int)param_count, a.types, a.values,
                                       a.lengths, a.formats, 1);
    } else {
        if (conn->prepared[number] == PQ_IS_UNKNOWN)
            status = send_prepare(conn, number, text, &a, param_count, err);
        if (status != PAWL_OK)
            return status;
        (void)snprintf(name, sizeof name, "s%u", (unsigned)number);
        sent = call->PQsendQueryPrepared(conn->conn, name, (int)param_count, a.values, a.lengths,
                                         a.formats, 1);
    }
    if (sent != 1)
        return spoil(conn, PAWL_EUNAVAILABLE, err);
    return add_entry(conn, PQ_QUERY, number, err);
}

int pawl__pq_sync(struct pawl_pq_conn *conn, struct pawl_error *err)
{
    int status;

    if (conn->broken)
        return pawl__error_set(err, PAWL_EUNAVAILABLE, "the connection to PostgreSQL is broken");
    /* The entry first: a sync that was sent and is not remembered could never be matched. */
    status = add_entry(conn, PQ_SYNC, 0, err);
    if (status != PAWL_OK)
        return status;
    if (conn->pq->call.PQpipelineSync(conn->conn) != 1)
        return spoil(conn, PAWL_EUNAVAILABLE, err);
    return PAWL_OK;
}

int pawl__pq_post(struct pawl_pq_conn *conn, uint32_t number, const char *text,
                  const struct pawl_pq_param *params, size_t param_count, struct pawl_error *err)
{
    int status = pawl__pq_begin(conn, err);

    if (status == PAWL_OK)
        status = pawl__pq_queue(conn, number, text, params, param_count, err);
    if (status == PAWL_OK)
        status = pawl__pq_sync(conn, err);
    if (status != PAWL_OK)
        return status;
    if (conn->pq->call.PQflush(conn->conn) < 0)
        return spoil(conn, PAWL_EUNAVAILABLE, err);
    conn->posted_entries = conn->entry_count;
    conn->posted_count++;
    conn->query_count = 0;
    conn->is_pending = false;
    return PAWL_OK;
}

size_t pawl__pq_posted(const struct pawl_pq_conn *conn)
{
    return conn->posted_count;
}

void pawl__pq_break(struct pawl_pq_conn *conn)
{
    conn->broken = true;
}

/* ---- running ----------------------------------------------------------------------------- */

/* Sends what is left, then waits until the next answer is complete. */
static int wait_for_result(struct pawl_pq_conn *conn, const struct pawl_socket_wait *wait)
{
    struct pq_functions *call = &conn->pq->call;

    for (;;) {
        int unsent = call->PQflush(conn->conn), status;

        if (unsent < 0 && call->PQstatus(conn->conn) == CONNECTION_BAD &&
            !call->PQisBusy(conn->conn))
            return PAWL_OK; /* answers that came before the end are still read */
        if (unsent < 0)
            return PAWL_EUNAVAILABLE;
        if (!call->PQisBusy(conn->conn))
            return PAWL_OK;
        status = pawl__socket_wait_foreign(
            call->PQsocket(conn->conn),
            unsent ? PAWL_SOCKET_READABLE | PAWL_SOCKET_WRITABLE : PAWL_SOCKET_READABLE, wait);
        if (status != PAWL_OK)
            return status;
        if (call->PQconsumeInput(conn->conn) != 1 && call->PQisBusy(conn->conn))
            return PAWL_EUNAVAILABLE;
    }
}

static void note_standby(struct pawl_pq_conn *conn, const PGresult *result)
{
    const char *state = conn->pq->call.PQresultErrorField(result, PG_DIAG_SQLSTATE);

    if (state && strcmp(state, "25006") == 0)
        conn->is_standby = true;
}

/* All results of one entry; the first that says something is kept. */
static int receive_entry(struct pawl_pq_conn *conn, struct pq_entry *entry,
                         const struct pawl_socket_wait *wait)
{
    struct pq_functions *call = &conn->pq->call;

    for (;;) {
        int status = wait_for_result(conn, wait);
        PGresult *result = status == PAWL_OK ? call->PQgetResult(conn->conn) : NULL;
        ExecStatusType kind;

        if (status != PAWL_OK)
            return status;
        if (!result && entry->kind != PQ_SYNC && entry->result)
            return PAWL_OK; /* the end of this one's results */
        if (!result) {
            if (call->PQstatus(conn->conn) == CONNECTION_BAD || ++conn->empty_count > 8)
                return PAWL_EUNAVAILABLE;
            continue;
        }
        conn->empty_count = 0;
        kind = call->PQresultStatus(result);
        if (kind == PGRES_FATAL_ERROR)
            note_standby(conn, result);
        if (kind == PGRES_PIPELINE_SYNC) {
            call->PQclear(result);
            return entry->kind == PQ_SYNC ? PAWL_OK : PAWL_EINTERNAL;
        }
        if (!entry->result)
            entry->result = result;
        else
            call->PQclear(result);
        /* Without a SQLSTATE it is libpq's own word: the connection is gone. */
        if (kind == PGRES_FATAL_ERROR && call->PQstatus(conn->conn) == CONNECTION_BAD)
            return PAWL_EUNAVAILABLE;
    }
}

/* A sync that fails (a constraint checked at the end) takes its whole transaction with it. */
static void fail_transaction(struct pawl_pq_conn *conn, size_t sync)
{
    if (!conn->entries[sync].result)
        return;
    for (size_t i = sync; i-- > 0 && conn->entries[i].kind != PQ_SYNC;)
        conn->entries[i].undone = true;
}

static void note_prepared(struct pawl_pq_conn *conn, const struct pq_entry *entry)
{
    bool done = entry->result && conn->pq->call.PQresultStatus(entry->result) == PGRES_COMMAND_OK;

    conn->prepared[entry->number] = done ? PQ_IS_PREPARED : PQ_IS_UNKNOWN;
}

/*
 * Whether the transaction of entry `at` is known not to have happened: the server
 * itself has said so of one of its statements.
 */
static bool is_refused(const struct pawl_pq_conn *conn, size_t at)
{
    while (at > 0 && conn->entries[at - 1].kind != PQ_SYNC)
        at--;
    for (; at < conn->entry_count && conn->entries[at].kind != PQ_SYNC; at++)
        if (conn->entries[at].result &&
            conn->pq->call.PQresultErrorField(conn->entries[at].result, PG_DIAG_SQLSTATE))
            return true;
    return false;
}

static bool is_last_transaction(const struct pawl_pq_conn *conn, size_t at)
{
    size_t syncs = 0;

    for (; at < conn->entry_count; at++)
        syncs += conn->entries[at].kind == PQ_SYNC;
    return syncs == 1;
}

/* Whether the entry ends a transaction of the batch, all behind it is on its way, and it prepares
 * nothing: what may not be prepared after all would be used by the next batch. */
static bool may_leave_rest(const struct pawl_pq_conn *conn, size_t at)
{
    if (conn->entries[at].kind != PQ_SYNC || at < conn->posted_entries)
        return false;
    for (size_t i = at; i < conn->entry_count; i++)
        if (conn->entries[i].kind == PQ_PREPARE)
            return false;
    return conn->pq->call.PQflush(conn->conn) == 0;
}

/* Takes what is still to come of the batch, or of its first transaction. What fails may be gone on
 * with. */
static int receive_rest(struct pawl_pq_conn *conn, bool first_only,
                        const struct pawl_socket_wait *wait)
{
    bool is_enough = false;

    PAWL_ASSERT(conn->entry_count > 0 && conn->entries[conn->entry_count - 1].kind == PQ_SYNC);
    if (conn->received_count == 0)
        conn->empty_count = conn->synced_count = 0;
    /* Also between batches: if this ends early, only pawl__pq_await() may go on with it. */
    conn->is_pending = true;
    conn->late_count = 0;
    while (conn->received_count < conn->entry_count && !is_enough) {
        size_t i = conn->received_count;
        int status = receive_entry(conn, &conn->entries[i], wait);

        if (status != PAWL_OK)
            return status;
        conn->received_count++;
        if (conn->entries[i].kind == PQ_PREPARE)
            note_prepared(conn, &conn->entries[i]);
        if (conn->entries[i].kind == PQ_SYNC) {
            fail_transaction(conn, i);
            conn->synced_count += i >= conn->posted_entries;
        }
        is_enough = first_only && may_leave_rest(conn, i);
    }
    conn->late_count = conn->entry_count - conn->received_count;
    conn->posted_entries = conn->posted_count = 0;
    conn->is_pending = false;
    return PAWL_OK;
}

static int run(struct pawl_pq_conn *conn, bool writes, bool first_only,
               const struct pawl_socket_wait *wait, struct pawl_error *err)
{
    size_t at;
    int status;

    if (conn->broken)
        return pawl__error_set(err, PAWL_EUNAVAILABLE, "the connection to PostgreSQL is broken");
    status = receive_rest(conn, first_only, wait);
    if (conn->is_standby)
        conn->broken = true;
    if (status == PAWL_OK)
        return PAWL_OK;
    conn->broken = true;
    at = conn->received_count;
    if (writes && !(is_refused(conn, at) && is_last_transaction(conn, at)))
        return pawl__pq_lost_error(conn, PAWL_EUNKNOWN, err);
    return pawl__pq_lost_error(conn, status, err);
}

int pawl__pq_run(struct pawl_pq_conn *conn, bool writes, const struct pawl_socket_wait *wait,
                 struct pawl_error *err)
{
    return run(conn, writes, false, wait, err);
}

int pawl__pq_run_first(struct pawl_pq_conn *conn, bool writes, const struct pawl_socket_wait *wait,
                       struct pawl_error *err)
{
    return run(conn, writes, true, wait, err);
}

bool pawl__pq_is_late(const struct pawl_pq_conn *conn)
{
    return !conn->broken && conn->posted_entries > 0;
}

int pawl__pq_await(struct pawl_pq_conn *conn, const struct pawl_socket_wait *wait,
                   struct pawl_error *err)
{
    int status;

    if (conn->broken)
        return pawl__error_set(err, PAWL_EUNAVAILABLE, "the connection to PostgreSQL is broken");
    status = receive_rest(conn, false, wait);
    if (status == PAWL_OK)
        return PAWL_OK;
    conn->broken = status != PAWL_ETIMEDOUT && status != PAWL_ECANCELLED && status != PAWL_ESTOPPED;
    return pawl__pq_lost_error(conn, status, err);
}

size_t pawl__pq_synced(const struct pawl_pq_conn *conn)
{
    return conn->synced_count;
}

int pawl__pq_wait_notice(struct pawl_pq_conn *conn, const struct pawl_socket_wait *wait,
                         struct pawl_error *err)
{
    struct pq_functions *call = &conn->pq->call;

    for (;;) {
        PGnotify *notice;
        size_t count = 0;
        int status;

        while ((notice = call->PQnotifies(conn->conn))) {
            call->PQfreemem(notice);
            count++;
        }
        if (count > 0)
            return PAWL_OK;
        status = pawl__socket_wait_foreign(call->PQsocket(conn->conn), PAWL_SOCKET_READABLE, wait);
        if (status != PAWL_OK)
            return pawl__error_code(err, status);
        if (call->PQconsumeInput(conn->conn) != 1) {
            conn->broken = true;
            return pawl__pq_lost_error(conn, PAWL_EUNAVAILABLE, err);
        }
    }
}

/* ---- answers ----------------------------------------------------------------------------- */

static const PGresult *answer(const struct pawl_pq_conn *conn, size_t at)
{
    PAWL_ASSERT(at < conn->query_count);
    return conn->entries[conn->queries[at]].result;
}

size_t pawl__pq_rows(const struct pawl_pq_conn *conn, size_t at)
{
    int rows = conn->pq->call.PQntuples(answer(conn, at));

    return rows > 0 ? (size_t)rows : 0;
}

size_t pawl__pq_columns(const struct pawl_pq_conn *conn, size_t at)
{
    int columns = conn->pq->call.PQnfields(answer(conn, at));

    return columns > 0 ? (size_t)columns : 0;
}

struct pawl_str pawl__pq_bytes(const struct pawl_pq_conn *conn, size_t at, size_t row,
                               size_t column)
{
    const PGresult *result = answer(conn, at);
    const char *ptr = conn->pq->call.PQgetvalue(result, (int)row, (int)column);
    int length = conn->pq->call.PQgetlength(result, (int)row, (int)column);

    return pawl__str_make(ptr ? ptr : "", ptr && length > 0 ? (size_t)length : 0);
}

int64_t pawl__pq_int(const struct pawl_pq_conn *conn, size_t at, size_t row, size_t column)
{
    struct pawl_str bytes = pawl__pq_bytes(conn, at, row, column);
    uint64_t value = 0;

    if (bytes.len == 0 || bytes.len > 8)
        return 0;
    /* Negative numbers of fewer bytes are filled up with ones. */
    if (bytes.len > 1 && ((unsigned char)bytes.ptr[0] & 0x80u))
        value = UINT64_MAX;
    for (size_t i = 0; i < bytes.len; i++)
        value = value << 8 | (unsigned char)bytes.ptr[i];
    return (int64_t)value;
}

int64_t pawl__pq_affected(const struct pawl_pq_conn *conn, size_t at)
{
    /* The parameter is not const, but libpq does not write to it. */
    const char *text = conn->pq->call.PQcmdTuples(conn->entries[conn->queries[at]].result);
    int64_t count = 0;

    for (; text && *text >= '0' && *text <= '9'; text++)
        count = count * 10 + (*text - '0');
    return count;
}

/* ---- arrays ------------------------------------------------------------------------------ */

static void put_int32(struct pawl_buf *buf, size_t value)
{
    const char bytes[4] = {(char)(value >> 24), (char)(value >> 16), (char)(value >> 8),
                           (char)value};

    pawl__buf_append(buf, bytes, 4);
}

void pawl__pq_array_begin(struct pawl_buf *buf, enum pawl_pq_type type, size_t count)
{
    unsigned element = type == PAWL_PQ_TEXT_ARRAY    ? OID_TEXT
                       : type == PAWL_PQ_BYTES_ARRAY ? OID_BYTEA
                                                     : OID_INT8;

    put_int32(buf, count > 0); /* dimensions */
    put_int32(buf, 0);         /* no NULLs */
    put_int32(buf, element);
    if (count > 0) {
        put_int32(buf, count);
        put_int32(buf, 1); /* the first one's number */
    }
}

void pawl__pq_array_bytes(struct pawl_buf *buf, struct pawl_str element)
{
    put_int32(buf, element.len);
    pawl__buf_str(buf, element);
}

void pawl__pq_array_int(struct pawl_buf *buf, int64_t element)
{
    char bytes[8];

    put_int64(bytes, element);
    put_int32(buf, 8);
    pawl__buf_append(buf, bytes, 8);
}
