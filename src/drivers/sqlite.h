/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite: connections, statements kept prepared, values, errors.
 *
 * A connection is used by one thread at a time. Waiting for another process's write lock goes
 * through the environment, in short jittered sleeps until the deadline that was set last;
 * statements that only compute are interrupted at that deadline too. SQLite's own memory comes from
 * malloc.
 *
 * Errors, with SQLite's words and the file's path:
 *     PAWL_EBUSY         locked by another process, and the deadline is not known to be over
 *     PAWL_ETIMEDOUT     locked, or computing, until the deadline
 *     PAWL_EUNAVAILABLE  no room on the disk, or a limit of the file's size; nothing was lost
 *     PAWL_EPERM         read-only file or folder
 *     PAWL_ECORRUPT      not a database, or a damaged one
 *     PAWL_EEXISTS       a unique key is there already
 *     PAWL_EINVAL        another constraint, or a trigger, refuses it
 *     PAWL_ELIMIT        a value is larger than SQLite stores
 *     PAWL_EIO           the disk failed
 *     PAWL_ENOMEM        no memory
 *     PAWL_EUNKNOWN      of pawl__sqlite_commit() alone: the disk failed, or there was no memory,
 *                        while it was written
 *     PAWL_ESTOPPED      while waiting
 * and of opening what the system says (PAWL_ENOTFOUND, PAWL_EPERM, …).
 */
#ifndef PAWL_DRIVERS_SQLITE_H
#define PAWL_DRIVERS_SQLITE_H

#include "base/str.h"

#include <pawl/ext/env.h>

/* Statements that a connection keeps prepared; past this it begins again. */
#define PAWL_SQLITE_STATEMENTS_MAX 256

#define PAWL_SQLITE_CREATE 1u /* make the file when it does not exist */
#define PAWL_SQLITE_READ 2u   /* nothing can be written */
/* The mode of a file that is made, and of those that SQLite puts beside it; none: 0600. */
#define PAWL_SQLITE_MODE(mode) ((uint32_t)(mode) << 16)

struct pawl_sqlite;
struct pawl_sqlite_statement;

/* "3.40.1" */
const char *pawl__sqlite_version(void);

/*
 * Stops SQLite counting its memory, which takes a mutex for each block that it allocates or frees.
 * For a program's main(), before it starts threads or uses SQLite. A library must not: others in
 * its process may want to limit that memory.
 */
void pawl__sqlite_count_no_memory(void);

/*
 * Whether a database may be, or be made, at that path; to be asked before it is opened first.
 * PAWL_ECONFLICT: the file has several names. SQLite puts log and shared memory beside the name by
 * which it was opened, so processes that use different ones do not see each other's commits, and
 * damage the file. PAWL_EINVAL: it is not a regular file.
 */
PAWL_MUST_CHECK int pawl__sqlite_check_file(const char *path, struct pawl_error *err);

/* Borrows env for its life, copies the path. */
PAWL_MUST_CHECK int pawl__sqlite_open(struct pawl_env *env, const char *path, uint32_t flags,
                                      struct pawl_sqlite **out, struct pawl_error *err);
/* Rolls back what was not committed. NULL allowed. */
void pawl__sqlite_close(struct pawl_sqlite *db);

/* Of everything that follows on this connection. */
void pawl__sqlite_set_deadline(struct pawl_sqlite *db, int64_t deadline_ns);

/* SQLite's clock, which has milliseconds: microseconds since 1970, UTC. */
int64_t pawl__sqlite_now_us(void);

/* Whether commits are synced from now on. Not within a transaction. No-op if already set. */
PAWL_MUST_CHECK int pawl__sqlite_set_syncs(struct pawl_sqlite *db, bool syncs,
                                           struct pawl_error *err);

/* Runs one statement without parameters, whose rows are ignored. */
PAWL_MUST_CHECK int pawl__sqlite_run(struct pawl_sqlite *db, const char *text,
                                     struct pawl_error *err);

/* Begins a transaction; with `writes`, as the only one that writes. */
PAWL_MUST_CHECK int pawl__sqlite_begin(struct pawl_sqlite *db, bool writes, struct pawl_error *err);
/*
 * Commits. PAWL_EUNKNOWN when the disk failed on the way, or there was no memory: what was
 * committed may come back when the file is opened after a crash. After any failure the transaction
 * has ended.
 */
PAWL_MUST_CHECK int pawl__sqlite_commit(struct pawl_sqlite *db, struct pawl_error *err);
/* Ends a transaction, if there is one, without a trace; also when there is no memory left. */
void pawl__sqlite_rollback(struct pawl_sqlite *db);
/* Whether a transaction is open: some errors end it. */
bool pawl__sqlite_in_transaction(struct pawl_sqlite *db);

/*
 * A prepared statement, kept by the connection and found again by its text: reset, without values.
 * Use it until the next call of this function, and reset it when done, because it holds its read
 * lock until then.
 */
PAWL_MUST_CHECK int pawl__sqlite_prepare(struct pawl_sqlite *db, const char *text,
                                         struct pawl_sqlite_statement **out,
                                         struct pawl_error *err);
void pawl__sqlite_reset(struct pawl_sqlite_statement *statement); /* NULL allowed */

/* Parameter 1 is the first. Text and bytes are borrowed until the statement is reset. */
PAWL_MUST_CHECK int pawl__sqlite_bind_text(struct pawl_sqlite_statement *statement, int number,
                                           struct pawl_str text, struct pawl_error *err);
PAWL_MUST_CHECK int pawl__sqlite_bind_bytes(struct pawl_sqlite_statement *statement, int number,
                                            struct pawl_str bytes, struct pawl_error *err);
PAWL_MUST_CHECK int pawl__sqlite_bind_int(struct pawl_sqlite_statement *statement, int number,
                                          int64_t value, struct pawl_error *err);

/* The next row; *row is false when there is none any more. */
PAWL_MUST_CHECK int pawl__sqlite_step(struct pawl_sqlite_statement *statement, bool *row,
                                      struct pawl_error *err);
/* Rows that the last INSERT, UPDATE or DELETE changed. */
int64_t pawl__sqlite_changes(struct pawl_sqlite *db);

/* Of the row that the last step found; column 0 is the first. Borrowed until the next step. */
int64_t pawl__sqlite_column_int(struct pawl_sqlite_statement *statement, int column);
/* Text or bytes, as stored. ptr is NULL when there was no memory. */
struct pawl_str pawl__sqlite_column_str(struct pawl_sqlite_statement *statement, int column);

#endif
