/* SPDX-License-Identifier: Apache-2.0 */
/* What the files libpq*.c share: libpq's functions, and a connection's insides. */
#ifndef PAWL_DRIVERS_LIBPQ_PRIVATE_H
#define PAWL_DRIVERS_LIBPQ_PRIVATE_H

#include "drivers/libpq.h"
#include "os/library.h"

#include <libpq-fe.h>

/* clang-format off */
#define PQ_FUNCTIONS(X)                                                                            \
    X(PQbackendPID) X(PQclear) X(PQcmdTuples) X(PQconnectPoll) X(PQconnectStartParams)             \
    X(PQconninfoFree)                                                                              \
    X(PQconninfoParse) X(PQconsumeInput) X(PQenterPipelineMode) X(PQerrorMessage) X(PQfinish)      \
    X(PQflush) X(PQfreemem) X(PQgetResult) X(PQgetlength) X(PQgetvalue) X(PQhost) X(PQisBusy)      \
    X(PQnfields) X(PQnotifies) X(PQntuples) X(PQparameterStatus) X(PQpipelineSync) X(PQport)       \
    X(PQresultErrorField) X(PQresultStatus) X(PQsendPrepare) X(PQsendQueryParams)                  \
    X(PQsendQueryPrepared) X(PQserverVersion) X(PQsetErrorVerbosity) X(PQsetNoticeProcessor)       \
    X(PQsetnonblocking) X(PQsocket) X(PQstatus)
/* clang-format on */

#define PQ_MEMBER(function) __typeof__(function) *function;
struct pq_functions {
    PQ_FUNCTIONS(PQ_MEMBER)
};
#undef PQ_MEMBER

struct pawl_pq {
    const struct pawl_allocator *alloc;
    struct pawl_library library;
    struct pq_functions call;
};

enum pq_entry_kind { PQ_PREPARE, PQ_QUERY, PQ_SYNC };

/* One thing in the pipeline that will be answered. */
struct pq_entry {
    enum pq_entry_kind kind;
    uint32_t number;  /* of the statement */
    bool undone;      /* its transaction failed at the sync */
    PGresult *result; /* NULL: not yet; of a sync: its error */
};

/* Room that one parameter takes in libpq's arrays. */
struct pq_scratch {
    const char *value;
    char integer[8];
    Oid type;
    int length, format, padding;
};

enum { PQ_IS_UNKNOWN, PQ_IS_QUEUED, PQ_IS_PREPARED };

struct pawl_pq_conn {
    struct pawl_pq *pq;
    PGconn *conn;
    bool broken;
    bool is_pending; /* something was queued and not answered */
    bool is_standby; /* it has refused to write */
    uint64_t mark;
    struct pawl_buf scratch;
    struct pq_entry *entries; /* of this batch, in the order of the pipeline */
    uint32_t *queries;        /* which of them are queries */
    size_t entry_count, query_count, entry_capacity;
    size_t posted_entries; /* the first so many were posted, or not waited for, and not answered */
    size_t posted_count;   /* statements among them that were posted */
    size_t late_count;     /* entries at the end that were not waited for; until the next batch */
    size_t received_count; /* entries of this batch that were answered */
    size_t synced_count;   /* syncs of this batch that were answered */
    size_t empty_count;    /* answers without content in a row */
    unsigned char prepared[PAWL_PQ_STATEMENTS_MAX]; /* PQ_IS_… by number */
};

/* The error of a connection that failed to come up. */
int pawl__pq_connect_error(struct pawl_pq *pq, PGconn *conn, struct pawl_error *err);
/* Of a connection that was lost or given up with `code`. */
int pawl__pq_lost_error(struct pawl_pq_conn *conn, int code, struct pawl_error *err);

#endif
