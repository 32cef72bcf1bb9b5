/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How SQLite writes its log: all pages of a transaction in one call.
 *
 * SQLite itself makes two calls for each page of a commit, 24 bytes and the page. A layer above its
 * files holds them back until the page that commits, and writes them then, in that page's call: its
 * result is that of them all, and nobody can have looked for them before. What was held back
 * is dropped with the lock to write, since that place in the log is the next writer's.
 */
#ifndef PAWL_DRIVERS_SQLITE_LOG_H
#define PAWL_DRIVERS_SQLITE_LOG_H

/* The name of the layer, above the files that are SQLite's default when this is first called: the
 * program may have chosen others than the system's. NULL, which is that default, if there is no
 * memory for it. */
const char *pawl__sqlite_log_vfs(void);

struct sqlite3;

/* Why a call on the database's file or its log failed last, perhaps long ago: an errno. 0: none
 * ever did since it was opened. When such a call is why a statement has failed, it is that call's.
 */
int pawl__sqlite_log_errno(struct sqlite3 *db);

#endif
