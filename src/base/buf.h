/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing byte buffer with a mandatory maximum.
 *
 * Appending returns nothing: failure is sticky in `status` (PAWL_ENOMEM or PAWL_ELIMIT), further
 * appends do nothing, and the writer checks once at its end. Room for a NUL behind the content is
 * always kept; pawl__buf_cstr() puts it there.
 */
#ifndef PAWL_BASE_BUF_H
#define PAWL_BASE_BUF_H

#include "base/assert.h"
#include "base/str.h"

#include <pawl/ext/env.h>

struct pawl_buf {
    const struct pawl_allocator *alloc; /* borrowed for the buffer's life */
    char *ptr;
    size_t len;
    size_t cap; /* bytes allocated; len < cap, or both 0 */
    size_t max; /* len never passes this */
    int status;
};

void pawl__buf_init(struct pawl_buf *buf, const struct pawl_allocator *alloc, size_t max);
void pawl__buf_release(struct pawl_buf *buf); /* usable again as if just initialised */

/* Empties it, clears `status`, keeps the memory. */
static inline void pawl__buf_clear(struct pawl_buf *buf)
{
    buf->len = 0;
    buf->status = PAWL_OK;
}

/*
 * Makes room for `extra` more bytes and returns where they go, NULL on failure. The caller writes
 * at most `extra` bytes there and then adds what it wrote to `len`.
 */
char *pawl__buf_reserve_slow(struct pawl_buf *buf, size_t extra);
static inline char *pawl__buf_reserve(struct pawl_buf *buf, size_t extra)
{
    if (PAWL_LIKELY(buf->cap - buf->len > extra && buf->status == PAWL_OK))
        return buf->ptr + buf->len;
    return pawl__buf_reserve_slow(buf, extra);
}

static inline void pawl__buf_append(struct pawl_buf *buf, const char *bytes, size_t count)
{
    char *to = pawl__buf_reserve(buf, count);

    if (to && count > 0) {
        memcpy(to, bytes, count);
        buf->len += count;
    }
}

static inline void pawl__buf_byte(struct pawl_buf *buf, char byte)
{
    char *to = pawl__buf_reserve(buf, 1);

    if (to) {
        *to = byte;
        buf->len++;
    }
}

static inline void pawl__buf_str(struct pawl_buf *buf, struct pawl_str s)
{
    pawl__buf_append(buf, s.ptr, s.len);
}

static inline void pawl__buf_text(struct pawl_buf *buf, const char *text)
{
    pawl__buf_append(buf, text, strlen(text));
}

void pawl__buf_printf(struct pawl_buf *buf, const char *format, ...) PAWL_PRINTF(2, 3);
void pawl__buf_int(struct pawl_buf *buf, int64_t value);

/* Borrows the content until the next change. */
static inline struct pawl_str pawl__buf_peek(const struct pawl_buf *buf)
{
    return pawl__str_make(buf->ptr, buf->len);
}

/* The content as a C string ("" when nothing was appended), borrowed until the next change. */
const char *pawl__buf_cstr(struct pawl_buf *buf);

#endif
