/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that is only in memory, for a library that accepts its configuration only by the
 * path of a file. It has no name in a folder and ends with the process; others of the same user
 * can read it through /proc, so nothing secret belongs in it.
 */
#ifndef PAWL_OS_MEMORY_FILE_H
#define PAWL_OS_MEMORY_FILE_H

#include "base/buf.h"

#define PAWL_MEMORY_FILE_PATH_SIZE 40

/* An empty one; `name` shows in debuggers. PAWL_EUNAVAILABLE: no descriptor left. */
PAWL_MUST_CHECK int pawl__memory_file_open(const char *name, int *out, struct pawl_error *err);
void pawl__memory_file_close(int fd);

/* Where this process, and only this one, opens it. */
void pawl__memory_file_path(int fd, char out[PAWL_MEMORY_FILE_PATH_SIZE]);

/* Adds at its end, whole: others read all of it or none. */
PAWL_MUST_CHECK int pawl__memory_file_append(int fd, struct pawl_str bytes, struct pawl_error *err);
/* Appends its content to `out`, whose maximum bounds it. */
PAWL_MUST_CHECK int pawl__memory_file_read(int fd, struct pawl_buf *out, struct pawl_error *err);

#endif
