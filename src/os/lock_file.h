/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that processes lock with flock(), and notifications when one of them may be free.
 *
 * A lock is on the open file, not on its name: a process that opened a file which was then unlinked
 * holds something nobody else can find. So after locking it is checked that the name still leads to
 * what was locked. Nor is the name trusted: a symbolic link is not followed, and what is not a
 * regular file, or belongs to a stranger, is refused. Descriptors are not inherited by programs
 * that are executed; a process that was only forked has them too, which is why unlocking is done
 * explicitly and not by closing.
 */
#ifndef PAWL_OS_LOCK_FILE_H
#define PAWL_OS_LOCK_FILE_H

#include "base/str.h"

#include <pawl/error.h>
#include <pawl/ext/env.h>

/* Read only, and invisible to watchers: for polling after a refusal. */
#define PAWL_LOCK_FILE_QUIET 1u
/* Looks the name up again even if the file seems to have it still: on file systems where what was
 * unlinked elsewhere goes on counting its names. */
#define PAWL_LOCK_FILE_THOROUGH 2u
/*
 * For several users: created with 0666 less the umask, with any owner. Otherwise it is
 * made with 0600 and must belong to this user, to root or to the owner of its folder.
 */
#define PAWL_LOCK_FILE_SHARED 4u

/*
 * Opens or creates it, and locks it. PAWL_EBUSY: somebody else has it. Every other failure of
 * opening and locking is an error: PAWL_ENOTFOUND (its folder does not exist), PAWL_EPERM (a
 * symbolic link, a stranger's), PAWL_EINVAL (not a regular file), PAWL_EIO, … `err` is not written
 * on PAWL_EBUSY: a path costs time.
 */
PAWL_MUST_CHECK int pawl__lock_file_take(const char *path, uint32_t flags, int *fd,
                                         struct pawl_error *err);
/*
 * Creates an empty file for other code to open, such as SQLite, unless it exists; an existing one
 * must be as above, and is not opened: closing it would end the locks that SQLite has on it in this
 * process. PAWL_EPERM, PAWL_EINVAL. The open reports that it cannot be created.
 */
PAWL_MUST_CHECK int pawl__lock_file_make(const char *path, uint32_t flags, struct pawl_error *err);
/*
 * Opens another descriptor of `locked` for writing, so that closing it is noticed by those who
 * watch. PAWL_EUNAVAILABLE: the name leads elsewhere by now.
 */
PAWL_MUST_CHECK int pawl__lock_file_open(const char *path, uint32_t flags, int locked, int *fd,
                                         struct pawl_error *err);
/* Whether the name still refers to `locked`: otherwise somebody else may lock the new file. */
PAWL_MUST_CHECK int pawl__lock_file_is_there(const char *path, int locked, bool *there,
                                             struct pawl_error *err);
/* Unlocks and closes it; fd < 0 is allowed. */
void pawl__lock_file_give(int fd);
/* Closes without unlocking. */
void pawl__lock_file_close(int fd);

/* Up to `size` bytes from its start; *len is how many there were. */
PAWL_MUST_CHECK int pawl__lock_file_read(int fd, char *out, size_t size, size_t *len,
                                         struct pawl_error *err);
/* Over what is at its start, and on the disk when it returns. */
PAWL_MUST_CHECK int pawl__lock_file_write(int fd, struct pawl_str bytes, struct pawl_error *err);

/* What can be seen from outside. */
struct pawl_lock_file_view {
    bool held;
    long pid;       /* of the holder; 0: not known (another host, another name space) */
    char text[256]; /* the beginning of the file, NUL-terminated */
    size_t text_len;
};

/* Never holds the lock, not even for a moment. PAWL_ENOTFOUND: there is no such file. */
PAWL_MUST_CHECK int pawl__lock_file_view(const char *path, struct pawl_lock_file_view *out,
                                         struct pawl_error *err);

/* What kind of file system it is on: NULL for one of this host, else its name ("nfs"). */
const char *pawl__folder_network(const char *path);

/* ---- watching ---------------------------------------------------------------------------- */

struct pawl_file_watch;

/* The id of a call that may be about any of them: some were missed. */
#define PAWL_FILE_WATCH_ANY UINT64_MAX

/*
 * Starts a thread that calls `changed(ctx, id)`, once per pawl__file_watch_add(), when somebody who
 * had the file open for writing closed it, or when it was unlinked. PAWL_EUNAVAILABLE: the system
 * gives no more watches.
 */
PAWL_MUST_CHECK int pawl__file_watch_open(struct pawl_env *env,
                                          void (*changed)(void *ctx, uint64_t id), void *ctx,
                                          struct pawl_file_watch **out, struct pawl_error *err);
/* No call is under way when it returns. NULL allowed. */
void pawl__file_watch_close(struct pawl_file_watch *watch);
/*
 * From now on, once. *id distinguishes this watch from earlier ones; a file that is already watched
 * keeps its id. PAWL_ENOTFOUND: it is gone; PAWL_EUNAVAILABLE: too many.
 */
PAWL_MUST_CHECK int pawl__file_watch_add(struct pawl_file_watch *watch, const char *path,
                                         uint64_t *id, struct pawl_error *err);

#endif
