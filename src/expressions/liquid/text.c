/* SPDX-License-Identifier: Apache-2.0 */
/* Texts: UTF-8 here, counted as Elsa counts, in units of UTF-16. */
#include "expressions/liquid/run.h"

void pawl__liquid_text_begin(struct liquid_run *run, struct pawl_buf *buf)
{
    pawl__buf_init(buf, run->arena->alloc, LIQUID_OUTPUT_BYTES_MAX);
}

int pawl__liquid_text_end(struct liquid_run *run, struct pawl_buf *buf, struct liquid_value *out)
{
    struct pawl_str text = {"", 0};
    int status = buf->status == PAWL_OK ? PAWL_OK : pawl__liquid_buf_refused(run, buf);

    if (status == PAWL_OK && pawl__liquid_charge(run, buf->len))
        status = pawl__liquid_step(run, 0);
    if (status == PAWL_OK && buf->len > 0) {
        text = pawl__arena_str(run->arena, pawl__buf_peek(buf));
        if (!text.ptr)
            status = pawl__liquid_refused(run);
    }
    pawl__buf_release(buf);
    *out = pawl__liquid_string(text);
    return status;
}

size_t pawl__liquid_text_length(struct pawl_str text)
{
    size_t units = 0;

    for (size_t at = 0; at < text.len;)
        units += pawl__utf8_next(text, &at) > 0xffff ? 2 : 1;
    return units;
}

size_t pawl__liquid_text_offset(struct pawl_str text, size_t units)
{
    size_t at = 0;

    while (at < text.len && units > 0) {
        size_t size = pawl__utf8_next(text, &at) > 0xffff ? 2 : 1;

        units -= size < units ? size : units;
    }
    return at;
}

bool pawl__liquid_char_is_space(uint32_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000;
}

struct pawl_str pawl__liquid_text_trim_start(struct pawl_str text)
{
    size_t start = 0;

    for (size_t at = 0; at < text.len; start = at) {
        if (!pawl__liquid_char_is_space(pawl__utf8_next(text, &at)))
            break;
    }
    return pawl__str_slice(text, start, text.len);
}

struct pawl_str pawl__liquid_text_trim_end(struct pawl_str text)
{
    size_t end = 0;

    for (size_t at = 0; at < text.len;) {
        if (!pawl__liquid_char_is_space(pawl__utf8_next(text, &at)))
            end = at;
    }
    return pawl__str_slice(text, 0, end);
}

size_t pawl__liquid_text_find(struct pawl_str text, struct pawl_str what, size_t from)
{
    const char *found;

    if (from > text.len)
        return SIZE_MAX;
    if (what.len == 0)
        return from;
    if (text.len == from)
        return SIZE_MAX;
    found = memmem(text.ptr + from, text.len - from, what.ptr, what.len);
    return found ? (size_t)(found - text.ptr) : SIZE_MAX;
}

/* Read backwards. */
static char from_end(struct pawl_str text, size_t index)
{
    return text.ptr[text.len - 1 - index];
}

/* How much of the end of `what` ends its last i characters, for each i: Knuth, Morris, Pratt. */
static void fill_borders(struct pawl_str what, uint32_t *borders)
{
    uint32_t length = 0;

    borders[0] = 0;
    for (size_t i = 1; i < what.len; i++) {
        while (length > 0 && from_end(what, i) != from_end(what, length))
            length = borders[length - 1];
        length += from_end(what, i) == from_end(what, length);
        borders[i] = length;
    }
}

int pawl__liquid_text_find_last(struct liquid_run *run, struct pawl_str text, struct pawl_str what,
                                size_t *at)
{
    uint32_t *borders;
    uint32_t length = 0;

    *at = what.len == 0 ? text.len : SIZE_MAX;
    if (what.len == 0 || what.len > text.len)
        return PAWL_OK;
    borders = pawl__arena_alloc_array(run->arena, what.len, sizeof *borders);
    if (!borders)
        return pawl__liquid_refused(run);
    fill_borders(what, borders);
    for (size_t i = 0; i < text.len; i++) {
        while (length > 0 && from_end(text, i) != from_end(what, length))
            length = borders[length - 1];
        length += from_end(text, i) == from_end(what, length);
        if (length == what.len) {
            *at = text.len - 1 - i;
            return PAWL_OK;
        }
    }
    return PAWL_OK;
}

void pawl__liquid_text_append_char(struct pawl_buf *out, uint32_t c)
{
    char bytes[4];

    pawl__buf_append(out, bytes, pawl__utf8_encode(c, bytes));
}
