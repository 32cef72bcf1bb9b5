/* SPDX-License-Identifier: Apache-2.0 */
/* zlib, see zlib.h. This is the only file that includes <zlib.h>. */
#include "drivers/zlib.h"

#include "base/alloc.h"
#include "base/error.h"
#include "os/library.h"

#include <limits.h>
#include <zlib.h>

/* Of 1 to 9: what is sent once is not worth more. */
#define LEVEL 4
#define GZIP_WINDOW (15 + 16)
#define BARE_WINDOW (-15)
#define MEMORY_LEVEL 8
#define PIECE_BYTES ((size_t)64 << 10)

#define ZLIB_FUNCTIONS(X)                                                                          \
    X(deflate) X(deflateEnd) X(deflateInit2_) X(inflate) X(inflateEnd) X(inflateInit2_)

#define MEMBER(function) __typeof__(function) *function;
struct zlib_functions {
    ZLIB_FUNCTIONS(MEMBER)
};
#undef MEMBER

#define SYMBOL(function) PAWL_LIBRARY_SYMBOL(zlib_functions, function),
static const struct pawl_library_symbol symbols[] = {ZLIB_FUNCTIONS(SYMBOL)};
#undef SYMBOL

static const struct pawl_library_need need = {
    {"libz.so.1"}, "zlib1g", symbols, sizeof symbols / sizeof symbols[0]};

struct pawl_zlib {
    const struct pawl_allocator *alloc;
    struct pawl_library library;
    struct zlib_functions call;
};

int pawl__zlib_open(const struct pawl_allocator *alloc, struct pawl_zlib **out,
                    struct pawl_error *err)
{
    struct pawl_zlib *zlib = pawl__alloc_zeroed(alloc, sizeof *zlib);
    int status;

    if (!zlib)
        return pawl__error_code(err, PAWL_ENOMEM);
    zlib->alloc = alloc;
    status = pawl__library_open(&need, &zlib->call, &zlib->library, err);
    if (status == PAWL_OK)
        *out = zlib;
    else
        pawl__free(alloc, zlib, sizeof *zlib);
    return status;
}

void pawl__zlib_close(struct pawl_zlib *zlib)
{
    if (!zlib)
        return;
    pawl__library_close(&zlib->library);
    pawl__free(zlib->alloc, zlib, sizeof *zlib);
}

/* zlib counts in 32 bits: a large input is given in parts. */
static void give(z_stream *stream, struct pawl_str *bytes)
{
    size_t count = bytes->len < INT_MAX ? bytes->len : INT_MAX;
    union {
        const char *from;
        Bytef *to;
    } input = {.from = bytes->ptr};

    if (stream->avail_in > 0)
        return;
    stream->next_in = input.to;
    stream->avail_in = (uInt)count;
    *bytes = pawl__str_slice(*bytes, count, bytes->len);
}

static int pack(struct pawl_zlib *zlib, int window, struct pawl_str bytes, struct pawl_buf *out)
{
    z_stream stream = {.zalloc = Z_NULL};
    size_t before = out->len;
    int code = Z_OK;

    if (zlib->call.deflateInit2_(&stream, LEVEL, Z_DEFLATED, window, MEMORY_LEVEL,
                                 Z_DEFAULT_STRATEGY, ZLIB_VERSION, (int)sizeof stream) != Z_OK)
        return PAWL_ENOMEM;
    while (code == Z_OK && out->status == PAWL_OK) {
        size_t room = out->max - out->len < PIECE_BYTES ? out->max - out->len : PIECE_BYTES;
        char *to = room > 0 ? pawl__buf_reserve(out, room) : NULL;

        if (!to)
            break;
        give(&stream, &bytes);
        stream.next_out = (Bytef *)(void *)to;
        stream.avail_out = (uInt)room;
        code = zlib->call.deflate(&stream, bytes.len == 0 ? Z_FINISH : Z_NO_FLUSH);
        out->len += room - stream.avail_out;
    }
    (void)zlib->call.deflateEnd(&stream);
    if (code == Z_STREAM_END)
        return PAWL_OK;
    code = out->len == out->max ? PAWL_ELIMIT : PAWL_ENOMEM;
    out->len = before;
    out->status = PAWL_OK;
    return code;
}

int pawl__zlib_gzip(struct pawl_zlib *zlib, struct pawl_str bytes, struct pawl_buf *out)
{
    return pack(zlib, GZIP_WINDOW, bytes, out);
}

int pawl__zlib_deflate(struct pawl_zlib *zlib, struct pawl_str bytes, struct pawl_buf *out)
{
    return pack(zlib, BARE_WINDOW, bytes, out);
}

int pawl__zlib_inflate(struct pawl_zlib *zlib, struct pawl_str bytes, char *out, size_t size)
{
    z_stream stream = {.zalloc = Z_NULL};
    size_t made = 0;
    int code = Z_OK;

    if (zlib->call.inflateInit2_(&stream, BARE_WINDOW, ZLIB_VERSION, (int)sizeof stream) != Z_OK)
        return PAWL_ENOMEM;
    while (code == Z_OK) {
        size_t room = size - made < PIECE_BYTES ? size - made : PIECE_BYTES;
        uInt left;

        give(&stream, &bytes);
        left = stream.avail_in;
        stream.next_out = (Bytef *)(void *)(out + made);
        stream.avail_out = (uInt)room;
        code = zlib->call.inflate(&stream, Z_NO_FLUSH);
        made += room - stream.avail_out;
        if (room == stream.avail_out && left == stream.avail_in && code == Z_OK)
            break; /* it wants more bytes than there are, or makes more than it should */
    }
    (void)zlib->call.inflateEnd(&stream);
    if (code == Z_MEM_ERROR)
        return PAWL_ENOMEM;
    return code == Z_STREAM_END && made == size ? PAWL_OK : PAWL_EPARSE;
}
