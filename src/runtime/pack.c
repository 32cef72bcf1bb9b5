/* SPDX-License-Identifier: Apache-2.0 */
/* Packing of stored bytes: the choice between text and frame. The format is pack.h's. */
#include "runtime/pack.h"

#include "base/error.h"

/* What zstd adds at the most to bytes that do not compress, with room to spare. */
#define FRAME_OVERHEAD_MAX (PAWL_PACK_BYTES_MAX / 128 + 1024)

/* The next levels take longer and save a hundredth of a journal. */
#define LEVEL PAWL_ZSTD_LEVEL_MIN

void pawl__packer_init(struct pawl_packer *packer, const struct pawl_allocator *alloc)
{
    packer->alloc = alloc;
    packer->zstd = NULL;
    pawl__buf_init(&packer->buf, alloc, PAWL_PACK_BYTES_MAX + FRAME_OVERHEAD_MAX);
}

void pawl__packer_release(struct pawl_packer *packer)
{
    pawl__zstd_free(packer->zstd);
    packer->zstd = NULL;
    pawl__buf_release(&packer->buf);
}

static int prepare(struct pawl_packer *packer, struct pawl_error *err)
{
    pawl__buf_clear(&packer->buf);
    return packer->zstd ? PAWL_OK : pawl__zstd_new(packer->alloc, &packer->zstd, err);
}

bool pawl__pack_is_plain(struct pawl_str bytes)
{
    return bytes.len <= PAWL_PACK_PLAIN_MAX && !pawl__zstd_is_frame(bytes);
}

int pawl__pack(struct pawl_packer *packer, struct pawl_str plain, struct pawl_str *out,
               struct pawl_error *err)
{
    int status;

    if (plain.len > PAWL_PACK_BYTES_MAX)
        return pawl__error_set(err, PAWL_ELIMIT,
                               "%zu bytes are too many to be stored; %zu is the limit", plain.len,
                               PAWL_PACK_BYTES_MAX);
    if (pawl__pack_is_plain(plain)) {
        *out = plain;
        return PAWL_OK;
    }
    status = prepare(packer, err);
    if (status == PAWL_OK)
        status = pawl__zstd_compress(packer->zstd, plain, LEVEL, &packer->buf, err);
    if (status == PAWL_OK)
        *out = pawl__buf_peek(&packer->buf);
    return status;
}

int pawl__unpack(struct pawl_packer *packer, struct pawl_str stored, size_t max_bytes,
                 struct pawl_str *out, struct pawl_error *err)
{
    size_t limit = max_bytes < PAWL_PACK_BYTES_MAX ? max_bytes : PAWL_PACK_BYTES_MAX;
    int status;

    if (!pawl__zstd_is_frame(stored)) {
        if (stored.len > limit)
            return pawl__error_set(err, PAWL_ELIMIT,
                                   "%zu stored bytes are more than the limit of %zu", stored.len,
                                   limit);
        *out = stored;
        return PAWL_OK;
    }
    status = prepare(packer, err);
    if (status == PAWL_OK)
        status = pawl__zstd_decompress(packer->zstd, stored, limit, &packer->buf, err);
    if (status == PAWL_OK)
        *out = pawl__buf_peek(&packer->buf);
    return status;
}
