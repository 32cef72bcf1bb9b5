/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files and folders: whole reads, atomic writes, listing, and handles to append to and read from.
 *
 * Paths are NUL-terminated and borrowed for the call. Every message has the path. These calls block
 * for as long as the disk takes; they know no deadline. Descriptors are not inherited by programs
 * that are executed.
 */
#ifndef PAWL_OS_FILE_H
#define PAWL_OS_FILE_H

#include "base/arena.h"
#include "base/buf.h"

#include <sys/types.h>

/*
 * Appends the whole file to `out`, whose maximum bounds it. On failure `out` holds what it held.
 * PAWL_ENOTFOUND; PAWL_EINVAL: it is a folder; PAWL_ELIMIT: it is larger; PAWL_EPERM, PAWL_ENOMEM…
 * A pipe is read until its writer closes it: for paths that a user named.
 */
PAWL_MUST_CHECK int pawl__file_read(const char *path, struct pawl_buf *out, struct pawl_error *err);

/*
 * Replaces or creates the file so that a reader sees the old content or the new one, after
 * a power failure too: a temporary file beside it is written, synced and renamed, then the folder
 * is synced. The mode is exactly `mode`, without the umask. A symbolic link is replaced, not
 * followed. PAWL_EINVAL: see pawl__file_check_replaceable(). PAWL_EUNKNOWN: the new content is
 * there but the folder could not be synced.
 */
PAWL_MUST_CHECK int pawl__file_write(const char *path, struct pawl_str bytes, mode_t mode,
                                     struct pawl_error *err);

/*
 * The same for a file that was found and not named, as in a folder that is searched: only a regular
 * file is read. PAWL_EINVAL: it is something else (a pipe, a device, a socket, a folder); it was
 * not waited for.
 */
PAWL_MUST_CHECK int pawl__file_read_regular(const char *path, struct pawl_buf *out,
                                            struct pawl_error *err);

/*
 * The same of a file that was found and not named: PAWL_EPERM when it, or the symbolic link to it,
 * belongs to neither this user nor root, or when everybody may write to it.
 */
PAWL_MUST_CHECK int pawl__file_read_trusted(const char *path, struct pawl_buf *out,
                                            struct pawl_error *err);

/*
 * Makes an empty file whose mode is exactly `mode`, without the umask, unless there is one of that
 * name already, which is left as it is: it is not opened. Follows no symbolic link. PAWL_EINVAL:
 * there is a link that leads nowhere; another system's error: it cannot be made.
 */
PAWL_MUST_CHECK int pawl__file_make(const char *path, mode_t mode, struct pawl_error *err);

/* Whether anything of that name exists, a folder included. If that cannot be determined, it is an
 * error. */
PAWL_MUST_CHECK int pawl__file_exists(const char *path, bool *out, struct pawl_error *err);

/* Whether it is, or links to, a regular file: reading it will not block. */
bool pawl__file_is_regular(const char *path);

/*
 * Why this process could open nothing just now, as an errno value: EMFILE, ENFILE or ENOMEM; 0: it
 * could. For calls of libraries that fail without saying why.
 */
int pawl__file_shortage(void);

/* Identifies a file, by `device` and `inode`, among those that exist at the same time, symbolic
 * links followed. All zero: none. */
struct pawl_file_identity {
    uint64_t device, inode;
    uint64_t links;  /* names that it has */
    bool is_regular; /* not a folder, a device, a pipe… */
};
void pawl__file_identify(const char *path, struct pawl_file_identity *out);
static inline bool pawl__file_is_same(struct pawl_file_identity a, struct pawl_file_identity b)
{
    return a.device == b.device && a.inode == b.inode;
}

/* Its size in bytes; -1 when that cannot be determined. */
int64_t pawl__file_size(const char *path);

/* Removes a file. PAWL_ENOTFOUND; PAWL_EINVAL: it is a folder. */
PAWL_MUST_CHECK int pawl__file_remove(const char *path, struct pawl_error *err);

/*
 * Whether a file may take the place of what has this name. PAWL_EINVAL: a device, a pipe or a
 * socket has it, or a link to one or to what this process has open (/dev/stdout): it would be gone,
 * for everybody. What does not exist may be replaced, and so may a folder, which a rename refuses.
 */
PAWL_MUST_CHECK int pawl__file_check_replaceable(const char *path, struct pawl_error *err);

/*
 * Renames within a file system, replacing `to`, and syncs the folder: a reader of `to`
 * sees the old file or the new one. PAWL_EINVAL: as above. PAWL_EUNKNOWN: renamed, but the folder
 * could not be synced.
 */
PAWL_MUST_CHECK int pawl__file_rename(const char *from, const char *to, struct pawl_error *err);

/*
 * Makes the folder and those above it; fine when it is there already. Of what it makes, the mode is
 * `mode` without the umask's bits. Folders made before a failure stay.
 */
PAWL_MUST_CHECK int pawl__folder_make(const char *path, mode_t mode, struct pawl_error *err);

/* Names in one folder at the most; one with more is not meant to be listed at once. */
#define PAWL_FOLDER_NAMES_MAX ((size_t)100000)

/*
 * The names in a folder, without "." and "..", sorted by bytes. Array and names (NUL-terminated)
 * are in the arena. PAWL_ENOTFOUND; PAWL_EINVAL: it is a file; PAWL_ELIMIT: too many, or the
 * arena's maximum.
 */
PAWL_MUST_CHECK int pawl__folder_list(const char *path, struct pawl_arena *arena,
                                      struct pawl_str **names, size_t *count,
                                      struct pawl_error *err);

/* ---- appending --------------------------------------------------------------------------- */

struct pawl_file;

/* Opens for appending, created with exactly `mode` when it does not exist. A symbolic link is not
 * followed: PAWL_EINVAL. */
PAWL_MUST_CHECK int pawl__file_open(const struct pawl_allocator *alloc, const char *path,
                                    mode_t mode, struct pawl_file **out, struct pawl_error *err);

/*
 * Appends all of it. When the disk takes only a part and then fails, the result is PAWL_EUNKNOWN
 * and the file ends in that part.
 */
PAWL_MUST_CHECK int pawl__file_append(struct pawl_file *file, struct pawl_str bytes,
                                      struct pawl_error *err);

/*
 * Returns when everything appended is on the disk. PAWL_EIO for any failure, whatever its cause:
 * the system may have dropped the data and then reports success for a second try, so do not try.
 */
PAWL_MUST_CHECK int pawl__file_sync(struct pawl_file *file, struct pawl_error *err);

/* ---- reading piece by piece --------------------------------------------------------------- */

/* Opens for reading from the start. PAWL_ENOTFOUND, PAWL_EINVAL: it is a folder, PAWL_EPERM… */
PAWL_MUST_CHECK int pawl__file_open_read(const struct pawl_allocator *alloc, const char *path,
                                         struct pawl_file **out, struct pawl_error *err);

/* Reads up to `size_bytes`; *count is fewer only at the end of the file, and 0 behind it. */
PAWL_MUST_CHECK int pawl__file_next(struct pawl_file *file, void *out, size_t size_bytes,
                                    size_t *count, struct pawl_error *err);

/* Of a file opened either way. Does not sync. NULL allowed. */
void pawl__file_close(struct pawl_file *file);

#endif
