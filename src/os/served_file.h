/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files below a folder that strangers name: nothing outside of it can be reached, whatever the name
 * is. Symbolic links below the folder are not followed, and names that begin with a dot do not
 * exist.
 */
#ifndef PAWL_OS_SERVED_FILE_H
#define PAWL_OS_SERVED_FILE_H

#include "base/str.h"

#include <pawl/error.h>

struct pawl_served_file {
    int fd;
    uint64_t size_bytes;
    int64_t modified_ns; /* since 1970 */
};

/*
 * Opens a regular file by its segments apart by '/'. PAWL_ENOTFOUND: there is none of that name, or
 * it may not be read. PAWL_EUNAVAILABLE: no descriptor is left.
 */
PAWL_MUST_CHECK int pawl__served_file_open(const char *root, struct pawl_str relative,
                                           struct pawl_served_file *out, struct pawl_error *err);
void pawl__served_file_close(struct pawl_served_file *file);

/* Reads at an offset; *got is fewer than asked for only at the end of the file. PAWL_EIO. */
PAWL_MUST_CHECK int pawl__served_file_read(const struct pawl_served_file *file, uint64_t offset,
                                           void *to, size_t size_bytes, size_t *got);

#endif
