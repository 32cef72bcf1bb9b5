/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Zip archives in memory: writing, and reading what somebody sent.
 *
 * What is read is bounded in number, size and ratio before anything is unpacked, and again while it
 * is. Names stay inside: an archive with an absolute name, "..", a backslash or a drive is refused
 * as a whole, and so is one with encrypted, split or 64-bit parts, which nobody needs here.
 */
#ifndef PAWL_HTTP_ZIP_H
#define PAWL_HTTP_ZIP_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

#define PAWL_ZIP_FILES_MAX 1000u
#define PAWL_ZIP_NAME_BYTES_MAX 512u
/* Of all files together. */
#define PAWL_ZIP_BYTES_MAX ((size_t)32 << 20)
/* How much larger than the archive that may be, once it is more than PAWL_ZIP_RATIO_FREE_BYTES. */
#define PAWL_ZIP_RATIO_MAX 200u
#define PAWL_ZIP_RATIO_FREE_BYTES ((size_t)1 << 20)

struct pawl_zip_file {
    struct pawl_str name; /* UTF-8, folders apart by '/' */
    struct pawl_str content;
};

/*
 * Appends an archive of these files, in their order; without zlib they are stored as they are. The
 * same files make the same bytes: times are left out. PAWL_ELIMIT: more than one archive takes, or
 * than `out` does. PAWL_ENOMEM. On failure the content of `out` is as before.
 */
PAWL_MUST_CHECK int pawl__zip_write(const struct pawl_zip_file *files, size_t count,
                                    struct pawl_buf *out, struct pawl_error *err);

struct pawl_zip {
    const struct pawl_zip_file *files; /* folders are left out */
    size_t count;
};

/*
 * Reads all files; names and contents are in the arena. PAWL_EPARSE: it is no archive, is damaged,
 * or has what is refused. PAWL_ELIMIT: too many files, or too large. PAWL_EMISSING: zlib is not
 * installed and the archive needs it. PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int pawl__zip_read(struct pawl_str archive, struct pawl_arena *arena,
                                   struct pawl_zip *out, struct pawl_error *err);

#endif
