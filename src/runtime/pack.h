/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stored bytes: JSON text or the brief form of JSON (base/json/brief.h) as it is while it is short,
 * one zstd frame past that.
 *
 * Which of them it is shows in the first four bytes: neither begins as a frame does. What does (it
 * is no JSON) is compressed whatever its length, so that unpacking always gives back what
 * was packed.
 *
 * A struct pawl_packer has zstd's working memory and the bytes last returned. One thread at a time:
 * each worker has its own, so that states are compressed in parallel and not by the committer.
 */
#ifndef PAWL_RUNTIME_PACK_H
#define PAWL_RUNTIME_PACK_H

#include "base/buf.h"
#include "drivers/zstd.h"

/* Texts up to this stay as they are: below it a frame saves little and costs a read's time. */
#define PAWL_PACK_PLAIN_MAX ((size_t)4 << 10)
/* No stored text is larger, packed or not: a state of this size is a runaway workflow. */
#define PAWL_PACK_BYTES_MAX ((size_t)64 << 20)

struct pawl_packer {
    const struct pawl_allocator *alloc;
    struct pawl_zstd *zstd; /* made at first use */
    struct pawl_buf buf;
};

/* Allocates nothing yet. `alloc` is borrowed for the packer's life. */
void pawl__packer_init(struct pawl_packer *packer, const struct pawl_allocator *alloc);
void pawl__packer_release(struct pawl_packer *packer);

/* Whether the bytes are packed as they are, and unpack to themselves: short, and no frame. */
bool pawl__pack_is_plain(struct pawl_str bytes);

/*
 * `out` borrows `plain` itself or the packer's memory, until the packer is used again. PAWL_ELIMIT
 * past PAWL_PACK_BYTES_MAX, PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int pawl__pack(struct pawl_packer *packer, struct pawl_str plain,
                               struct pawl_str *out, struct pawl_error *err);

/*
 * The reverse; `out` borrows likewise. `max_bytes` bounds what it may become (at most
 * PAWL_PACK_BYTES_MAX): PAWL_ELIMIT. PAWL_ECORRUPT for a frame that is damaged. PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int pawl__unpack(struct pawl_packer *packer, struct pawl_str stored,
                                 size_t max_bytes, struct pawl_str *out, struct pawl_error *err);

#endif
