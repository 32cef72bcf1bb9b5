/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Zstandard: compressing and decompressing whole documents in memory.
 *
 * A struct pawl_zstd keeps zstd's working memory between calls, which costs more to set up than a
 * small document takes to compress. One thread at a time. That working memory comes from malloc:
 * zstd's interface for other allocators is not part of its stable ABI.
 */
#ifndef PAWL_DRIVERS_ZSTD_H
#define PAWL_DRIVERS_ZSTD_H

#include "base/buf.h"

#define PAWL_ZSTD_LEVEL_MIN 1
#define PAWL_ZSTD_LEVEL_DEFAULT 3
#define PAWL_ZSTD_LEVEL_MAX 19 /* above this zstd needs hundreds of megabytes */

struct pawl_zstd;

/* Allocates no working memory yet. `alloc` is borrowed for the object's life. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__zstd_new(const struct pawl_allocator *alloc, struct pawl_zstd **out,
                                   struct pawl_error *err);
void pawl__zstd_free(struct pawl_zstd *zstd); /* NULL allowed */

/*
 * Appends one frame, which says its content's size and has a checksum, to `out`. PAWL_EINVAL for a
 * level out of range, PAWL_ENOMEM, PAWL_ELIMIT when it does not fit into `out`. On failure the
 * content of `out` is as before.
 */
PAWL_MUST_CHECK int pawl__zstd_compress(struct pawl_zstd *zstd, struct pawl_str bytes, int level,
                                        struct pawl_buf *out, struct pawl_error *err);

/*
 * Appends the content of exactly one frame to `out`. `max_bytes` bounds it: PAWL_ELIMIT when the
 * content is larger (or larger than `out` may become), before memory is taken for more than that.
 * PAWL_ECORRUPT, with zstd's own words, for anything that is not one whole sound frame.
 * PAWL_ENOMEM. On failure the content of `out` is as before.
 */
PAWL_MUST_CHECK int pawl__zstd_decompress(struct pawl_zstd *zstd, struct pawl_str bytes,
                                          size_t max_bytes, struct pawl_buf *out,
                                          struct pawl_error *err);

/* Whether the bytes begin as a zstd frame does, which no JSON text can. */
bool pawl__zstd_is_frame(struct pawl_str bytes);

#endif
