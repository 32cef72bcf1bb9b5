/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the SQLite store share. Private to sqlite*.c.
 *
 *     sqlite.c        opening, migrations, connections, status, check
 *     sqlite_session.c  transactions and statements
 *     sqlite_apply.c  commits
 *     sqlite_claim.c  claims, due work, leases
 *     sqlite_read.c   queries, snapshots, loading, waiting for others
 */
#ifndef PAWL_STORES_SQLITE_PRIVATE_H
#define PAWL_STORES_SQLITE_PRIVATE_H

#include "base/arena.h"
#include "drivers/sqlite.h"
#include "os/file.h"
#include "stores/clock.h"
#include "stores/sql.h"
#include "stores/stores.h"

#define PAWL_SQLITE_READERS_MAX 32

struct pawl_sqlite_store {
    struct pawl_store base;
    struct pawl_env *env;
    struct pawl_sql *sql;
    char *path;
    size_t path_size;
    uint32_t file_mode; /* 0: the usual one */
    bool read_only;

    struct pawl_mutex
        *lock; /* guards all that follows but what a writer or reader has checked out */

    /* The one that writes: what another connection writes makes SQLite forget all pages that it has
     * in memory. NULL when read-only. */
    struct pawl_sqlite *writer;
    bool writing;
    uint32_t writers_waiting;
    struct pawl_cond *writer_free;

    struct pawl_sqlite *readers[PAWL_SQLITE_READERS_MAX]; /* idle ones */
    uint32_t reader_idle, reader_open, reader_max;
    struct pawl_cond *reader_free;

    struct pawl_sqlite *watch; /* sees what others commit; used under the lock */
    int64_t watch_version;
    int64_t watch_next_ns;
    uint64_t generation; /* incremented when something was committed that a waiter may need */
    struct pawl_cond *changed;

    /* What was opened; all zero: `file` while it is being opened, `log` until it is made. While a
     * connection is open, SQLite removes neither. */
    struct pawl_file_identity file, log;
    char *log_path;
    size_t log_path_size;
    int64_t looked_ns; /* when it was looked whether they are still there */
    bool is_lost;      /* they were not */

    struct pawl_store_clock clock; /* written by whoever writes, with the lock held */

    int64_t schema;
    int64_t syncs;
};

static inline struct pawl_sqlite_store *pawl__sqlite_store_of(struct pawl_store *store)
{
    return (struct pawl_sqlite_store *)store;
}

/* ---- one transaction or read ------------------------------------------------------------- */

struct pawl_sqlite_session {
    struct pawl_sqlite_store *store;
    struct pawl_sqlite *db;
    bool durable;   /* what is written is synced */
    int64_t now_us; /* the store's time; 0 after session_read(), which does not read it */
    int64_t now_ns; /* monotonic time, after it was read */
    bool is_back;   /* the clock was set back; a session that writes moves what waits for it */
    struct pawl_arena scratch; /* for text that must be changed to be bound */
};

/* Waits for its turn, begins to write, reads the clock. PAWL_EPERM when the store is read-only. */
PAWL_MUST_CHECK int pawl__sqlite_session_write(struct pawl_sqlite_store *store, bool durable,
                                               int64_t deadline_ns, struct pawl_sqlite_session *out,
                                               struct pawl_error *err);
/* The store's clock: SQLite's. In a simulation time is the environment's: files there belong to its
 * machine. */
int64_t pawl__sqlite_store_now_us(const struct pawl_sqlite_store *store);
/* Takes note of what was opened. PAWL_ENOTFOUND: there is no file of that name. */
PAWL_MUST_CHECK int pawl__sqlite_store_note_files(struct pawl_sqlite_store *store,
                                                  struct pawl_error *err);
/* Begins the transaction again after a rollback. */
PAWL_MUST_CHECK int pawl__sqlite_session_again(struct pawl_sqlite_session *session,
                                               struct pawl_error *err);
/* A connection to read with; `one_moment`: all statements see the same state of the database. */
PAWL_MUST_CHECK int pawl__sqlite_session_read(struct pawl_sqlite_store *store, bool one_moment,
                                              int64_t deadline_ns, struct pawl_sqlite_session *out,
                                              struct pawl_error *err);
/* For one statement that reads, by the writer's connection if nobody needs it: its cache is warm.
 * With the time, and whether the clock was set back. Not of a store that is read-only. */
PAWL_MUST_CHECK int pawl__sqlite_session_read_fast(struct pawl_sqlite_store *store,
                                                   int64_t deadline_ns,
                                                   struct pawl_sqlite_session *out,
                                                   struct pawl_error *err);
/* Makes what was written so; on failure it is rolled back. */
PAWL_MUST_CHECK int pawl__sqlite_session_commit(struct pawl_sqlite_session *session,
                                                struct pawl_error *err);
/* Gives everything back; what was not committed is rolled back. */
void pawl__sqlite_session_end(struct pawl_sqlite_session *session);

/*
 * Prepares a statement, binds the inputs (now_us is filled in) and steps once. *row: there is a row
 * to be read, until pawl__sqlite_reset(*out); without one it has been reset already. `out` and
 * `row` may be NULL.
 */
PAWL_MUST_CHECK int pawl__sqlite_session_run(struct pawl_sqlite_session *session,
                                             const struct pawl_sql_statement *statement,
                                             struct pawl_sql_inputs *inputs,
                                             struct pawl_sqlite_statement **out, bool *row,
                                             struct pawl_error *err);
PAWL_MUST_CHECK int pawl__sqlite_bind_values(struct pawl_sqlite_statement *statement,
                                             const struct pawl_sql_value *values, uint32_t count,
                                             struct pawl_error *err);

/* Copies the current row of a statement into `row`, the strings into the arena. */
PAWL_MUST_CHECK int pawl__sqlite_row_read(struct pawl_sqlite_statement *statement,
                                          enum pawl_table table, uint64_t columns,
                                          struct pawl_arena *arena, void *row,
                                          struct pawl_error *err);
/*
 * All further rows, beginning with the statement's current one (`row`), as an array in the
 * arena. Resets the statement.
 */
PAWL_MUST_CHECK int pawl__sqlite_rows_read(struct pawl_sqlite_statement *statement, bool row,
                                           enum pawl_table table, uint64_t columns,
                                           struct pawl_arena *arena, void **rows, size_t *count,
                                           struct pawl_error *err);

/* Wakes waiters for what was just committed. */
void pawl__sqlite_store_notify(struct pawl_sqlite_store *store);

/* ---- the calls --------------------------------------------------------------------------- */

int pawl__sqlite_store_apply(struct pawl_store *base, struct pawl_commit *const *commits,
                             size_t count, int64_t deadline_ns, struct pawl_error *err);
int pawl__sqlite_store_claim(struct pawl_store *base, int64_t owner, struct pawl_claim *claims,
                             size_t count, struct pawl_arena *arena, int64_t *now_us,
                             int64_t deadline_ns, struct pawl_error *err);
int pawl__sqlite_store_take(struct pawl_store *base, const struct pawl_take *take,
                            struct pawl_arena *arena, struct pawl_taken *out, int64_t deadline_ns,
                            struct pawl_error *err);
int pawl__sqlite_store_lease(struct pawl_store *base, struct pawl_lease *lease, int64_t deadline_ns,
                             struct pawl_error *err);
int pawl__sqlite_store_find(struct pawl_store *base, const struct pawl_query *query,
                            struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                            struct pawl_error *err);
int pawl__sqlite_store_find_many(struct pawl_store *base, const struct pawl_query *queries,
                                 size_t count, struct pawl_arena *arena, struct pawl_rows *out,
                                 int64_t deadline_ns, struct pawl_error *err);
int pawl__sqlite_store_wait(struct pawl_store *base, struct pawl_wake *wake, int64_t deadline_ns,
                            struct pawl_error *err);
int pawl__sqlite_store_snapshot(struct pawl_store *base, pawl_row_visitor visit, void *ctx,
                                int64_t deadline_ns, struct pawl_error *err);
int pawl__sqlite_store_load(struct pawl_store *base, enum pawl_table table, const void *rows,
                            size_t count, int64_t deadline_ns, struct pawl_error *err);

/* Opens one more connection as the store needs them. */
PAWL_MUST_CHECK int pawl__sqlite_store_connect(struct pawl_sqlite_store *store, uint32_t flags,
                                               bool syncs, struct pawl_sqlite **out,
                                               struct pawl_error *err);

#endif
