/* SPDX-License-Identifier: Apache-2.0 */
/* Growth of struct pawl_buf, and its formatted appends. */
#include "base/buf.h"

#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>

#define CAP_MIN ((size_t)64)

void pawl__buf_init(struct pawl_buf *buf, const struct pawl_allocator *alloc, size_t max)
{
    PAWL_ASSERT(max < SIZE_MAX / 4);
    *buf = (struct pawl_buf){.alloc = alloc, .max = max};
}

void pawl__buf_release(struct pawl_buf *buf)
{
    if (!buf->alloc)
        return;
    pawl__free(buf->alloc, buf->ptr, buf->cap);
    pawl__buf_init(buf, buf->alloc, buf->max);
}

char *pawl__buf_reserve_slow(struct pawl_buf *buf, size_t extra)
{
    size_t cap = buf->cap < CAP_MIN ? CAP_MIN : buf->cap;
    char *ptr;

    if (buf->status != PAWL_OK)
        return NULL;
    if (extra > buf->max - buf->len) {
        buf->status = PAWL_ELIMIT;
        return NULL;
    }
    while (cap - buf->len <= extra)
        cap *= 2;
    if (cap > buf->max + 1)
        cap = buf->max + 1;
    if (cap == buf->cap)
        return buf->ptr + buf->len;
    ptr = pawl__realloc(buf->alloc, buf->ptr, buf->cap, cap);
    if (!ptr) {
        buf->status = PAWL_ENOMEM;
        return NULL;
    }
    buf->ptr = ptr;
    buf->cap = cap;
    return ptr + buf->len;
}

void pawl__buf_printf(struct pawl_buf *buf, const char *format, ...)
{
    va_list args;
    int length;
    char *to;

    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    PAWL_ASSERT(length >= 0);
    to = pawl__buf_reserve(buf, (size_t)length);
    if (!to)
        return;
    va_start(args, format);
    (void)vsnprintf(to, (size_t)length + 1, format, args);
    va_end(args);
    buf->len += (size_t)length;
}

void pawl__buf_int(struct pawl_buf *buf, int64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0)
        digits[--at] = '-';
    pawl__buf_append(buf, digits + at, sizeof digits - at);
}

const char *pawl__buf_cstr(struct pawl_buf *buf)
{
    if (!buf->ptr)
        return "";
    buf->ptr[buf->len] = '\0';
    return buf->ptr;
}
