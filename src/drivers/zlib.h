/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip and deflate by zlib, which is loaded when it is first needed. Its working memory comes from
 * malloc.
 */
#ifndef PAWL_DRIVERS_ZLIB_H
#define PAWL_DRIVERS_ZLIB_H

#include "base/buf.h"

struct pawl_zlib;

/* PAWL_EMISSING: it is not installed. PAWL_ENOMEM. `alloc` is borrowed. */
PAWL_MUST_CHECK int pawl__zlib_open(const struct pawl_allocator *alloc, struct pawl_zlib **out,
                                    struct pawl_error *err);
void pawl__zlib_close(struct pawl_zlib *zlib); /* NULL allowed */

/*
 * Appends the bytes as one gzip file; from any thread. PAWL_ELIMIT: it does not fit into `out`.
 * PAWL_ENOMEM. On failure the content of `out` is as before.
 */
PAWL_MUST_CHECK int pawl__zlib_gzip(struct pawl_zlib *zlib, struct pawl_str bytes,
                                    struct pawl_buf *out);
/* The same as bare deflate (RFC 1951), as archives have it. */
PAWL_MUST_CHECK int pawl__zlib_deflate(struct pawl_zlib *zlib, struct pawl_str bytes,
                                       struct pawl_buf *out);

/*
 * Unpacks bare deflate into exactly `size` bytes; from any thread. PAWL_EPARSE: it is damaged, or
 * becomes more or less than that; no more than `size` bytes are ever written. PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int pawl__zlib_inflate(struct pawl_zlib *zlib, struct pawl_str bytes, char *out,
                                       size_t size);

#endif
