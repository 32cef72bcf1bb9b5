/* SPDX-License-Identifier: Apache-2.0 */
/* The only file that includes <zstd.h>. */
#include "drivers/zstd.h"

#include "base/alloc.h"
#include "base/error.h"

#include <zstd.h>
#include <zstd_errors.h>

/*
 * Frames without a content size (made by streaming writers, not by us) are decompressed piece by
 * piece, for which zstd allocates the window that the frame asks for: 8 MB, which is what level 19
 * uses, is the most we give.
 */
#define WINDOW_LOG_MAX 23
#define PIECE_BYTES_MIN ((size_t)4 << 10)

struct pawl_zstd {
    const struct pawl_allocator *alloc;
    ZSTD_CCtx *compressor; /* both made at first use */
    ZSTD_DCtx *decompressor;
};

int pawl__zstd_new(const struct pawl_allocator *alloc, struct pawl_zstd **out,
                   struct pawl_error *err)
{
    struct pawl_zstd *zstd = pawl__alloc_zeroed(alloc, sizeof *zstd);

    if (!zstd)
        return pawl__error_code(err, PAWL_ENOMEM);
    zstd->alloc = alloc;
    *out = zstd;
    return PAWL_OK;
}

void pawl__zstd_free(struct pawl_zstd *zstd)
{
    if (!zstd)
        return;
    (void)ZSTD_freeCCtx(zstd->compressor);
    (void)ZSTD_freeDCtx(zstd->decompressor);
    pawl__free(zstd->alloc, zstd, sizeof *zstd);
}

bool pawl__zstd_is_frame(struct pawl_str bytes)
{
    return bytes.len >= 4 && memcmp(bytes.ptr, "\x28\xB5\x2F\xFD", 4) == 0;
}

static int set_too_large(size_t max_bytes, struct pawl_error *err)
{
    return pawl__error_set(err, PAWL_ELIMIT, "zstd: the content exceeds the limit of %zu bytes",
                           max_bytes);
}

/* The code and message for a zstd result that is an error. */
static int set_zstd_error(const char *what, size_t result, size_t max_bytes, struct pawl_error *err)
{
    ZSTD_ErrorCode code = ZSTD_getErrorCode(result);

    if (code == ZSTD_error_memory_allocation)
        return pawl__error_code(err, PAWL_ENOMEM);
    if (code == ZSTD_error_dstSize_tooSmall)
        return set_too_large(max_bytes, err);
    if (code == ZSTD_error_frameParameter_windowTooLarge)
        return pawl__error_set(err, PAWL_ELIMIT, "zstd: %s: %s", what, ZSTD_getErrorName(result));
    return pawl__error_set(err, PAWL_ECORRUPT, "zstd: %s: %s", what, ZSTD_getErrorName(result));
}

/* Room for `size` more bytes; a refusal for want of memory does not stay in the buffer. */
static int reserve(struct pawl_buf *out, size_t size, char **to, struct pawl_error *err)
{
    int status;

    *to = pawl__buf_reserve(out, size);
    if (*to)
        return PAWL_OK;
    status = out->status;
    out->status = PAWL_OK;
    return pawl__error_code(err, status);
}

static size_t room_in(const struct pawl_buf *out)
{
    return out->max - out->len;
}

int pawl__zstd_compress(struct pawl_zstd *zstd, struct pawl_str bytes, int level,
                        struct pawl_buf *out, struct pawl_error *err)
{
    size_t bound = ZSTD_compressBound(bytes.len), result;
    char *to;
    int status;

    if (level < PAWL_ZSTD_LEVEL_MIN || level > PAWL_ZSTD_LEVEL_MAX)
        return pawl__error_set(err, PAWL_EINVAL, "zstd: level %d; expected %d to %d", level,
                               PAWL_ZSTD_LEVEL_MIN, PAWL_ZSTD_LEVEL_MAX);
    if (out->status != PAWL_OK)
        return pawl__error_code(err, out->status);
    if (!zstd->compressor)
        zstd->compressor = ZSTD_createCCtx();
    if (!zstd->compressor)
        return pawl__error_code(err, PAWL_ENOMEM);
    if (ZSTD_isError(bound) || bound > room_in(out))
        bound = room_in(out);
    status = reserve(out, bound, &to, err);
    if (status != PAWL_OK)
        return status;
    (void)ZSTD_CCtx_setParameter(zstd->compressor, ZSTD_c_compressionLevel, level);
    (void)ZSTD_CCtx_setParameter(zstd->compressor, ZSTD_c_checksumFlag, 1);
    result = ZSTD_compress2(zstd->compressor, to, bound, bytes.ptr, bytes.len);
    if (ZSTD_isError(result))
        return set_zstd_error("compressing failed", result, bound, err);
    out->len += result;
    return PAWL_OK;
}

/* A frame that says its size: one call, no window to allocate. */
static int decompress_known(struct pawl_zstd *zstd, struct pawl_str bytes, size_t size,
                            struct pawl_buf *out, struct pawl_error *err)
{
    size_t result;
    char *to;
    int status = reserve(out, size, &to, err);

    if (status != PAWL_OK)
        return status;
    result = ZSTD_decompressDCtx(zstd->decompressor, to, size, bytes.ptr, bytes.len);
    if (ZSTD_isError(result))
        return set_zstd_error("damaged data", result, size, err);
    out->len += result;
    return PAWL_OK;
}

/* Appends to `out` until the frame ends; after a failure the caller removes what was appended. */
static int decompress_pieces(struct pawl_zstd *zstd, struct pawl_str bytes, size_t max_bytes,
                             struct pawl_buf *out, struct pawl_error *err)
{
    ZSTD_inBuffer input = {bytes.ptr, bytes.len, 0};
    size_t start = out->len, result, piece = PIECE_BYTES_MIN;

    do {
        size_t left = max_bytes - (out->len - start);
        /* Where the limit is reached one more byte shows whether the content ends there too. */
        char beyond, *to = &beyond;
        ZSTD_outBuffer output = {NULL, left < piece ? left : piece, 0};
        int status = left > 0 ? reserve(out, output.size, &to, err) : PAWL_OK;

        if (status != PAWL_OK)
            return status;
        output.dst = to;
        output.size += left == 0;
        result = ZSTD_decompressStream(zstd->decompressor, &output, &input);
        if (ZSTD_isError(result))
            return set_zstd_error("damaged data", result, max_bytes, err);
        if (left == 0 && output.pos > 0)
            return set_too_large(max_bytes, err);
        if (result != 0 && output.pos < output.size && input.pos == input.size)
            return pawl__error_set(err, PAWL_ECORRUPT,
                                   "zstd: damaged data: the frame is truncated");
        out->len += output.pos;
        piece = out->len - start < PIECE_BYTES_MIN ? PIECE_BYTES_MIN : out->len - start;
    } while (result != 0);
    return PAWL_OK;
}

static int prepare_decompressor(struct pawl_zstd *zstd, struct pawl_error *err)
{
    if (!zstd->decompressor) {
        zstd->decompressor = ZSTD_createDCtx();
        if (!zstd->decompressor)
            return pawl__error_code(err, PAWL_ENOMEM);
        (void)ZSTD_DCtx_setParameter(zstd->decompressor, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    }
    /* A frame that failed half-way leaves the context inside it. */
    (void)ZSTD_DCtx_reset(zstd->decompressor, ZSTD_reset_session_only);
    return PAWL_OK;
}

int pawl__zstd_decompress(struct pawl_zstd *zstd, struct pawl_str bytes, size_t max_bytes,
                          struct pawl_buf *out, struct pawl_error *err)
{
    size_t start = out->len, frame;
    unsigned long long size;
    int status;

    if (out->status != PAWL_OK)
        return pawl__error_code(err, out->status);
    if (!pawl__zstd_is_frame(bytes))
        return pawl__error_set(err, PAWL_ECORRUPT, "zstd: the data is not a zstd frame");
    frame = ZSTD_findFrameCompressedSize(bytes.ptr, bytes.len);
    if (ZSTD_isError(frame))
        return set_zstd_error("damaged data", frame, max_bytes, err);
    if (frame != bytes.len)
        return pawl__error_set(err, PAWL_ECORRUPT, "zstd: %zu bytes follow the frame",
                               bytes.len - frame);
    if (max_bytes > room_in(out))
        max_bytes = room_in(out);
    size = ZSTD_getFrameContentSize(bytes.ptr, bytes.len);
    if (size == ZSTD_CONTENTSIZE_ERROR)
        return pawl__error_set(err, PAWL_ECORRUPT, "zstd: damaged data: no valid header");
    if (size != ZSTD_CONTENTSIZE_UNKNOWN && size > max_bytes)
        return set_too_large(max_bytes, err);
    status = prepare_decompressor(zstd, err);
    if (status != PAWL_OK)
        return status;
    if (size != ZSTD_CONTENTSIZE_UNKNOWN)
        return decompress_known(zstd, bytes, (size_t)size, out, err);
    status = decompress_pieces(zstd, bytes, max_bytes, out, err);
    if (status != PAWL_OK)
        out->len = start;
    return status;
}
