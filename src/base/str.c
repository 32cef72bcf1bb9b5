/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing and cutting borrowed strings; UTF-8. */
#include "base/str.h"

#include "base/assert.h"

static char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool pawl__str_equal_nocase(struct pawl_str a, struct pawl_str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        if (ascii_lower(a.ptr[i]) != ascii_lower(b.ptr[i]))
            return false;
    }
    return true;
}

int pawl__str_compare(struct pawl_str a, struct pawl_str b)
{
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common ? memcmp(a.ptr, b.ptr, common) : 0;

    if (order != 0)
        return order;
    return (a.len > b.len) - (a.len < b.len);
}

bool pawl__str_starts(struct pawl_str s, struct pawl_str prefix)
{
    return s.len >= prefix.len && pawl__str_equal(pawl__str_slice(s, 0, prefix.len), prefix);
}

bool pawl__str_ends(struct pawl_str s, struct pawl_str suffix)
{
    return s.len >= suffix.len &&
           pawl__str_equal(pawl__str_slice(s, s.len - suffix.len, s.len), suffix);
}

size_t pawl__str_find(struct pawl_str s, char byte, size_t from)
{
    const char *hit;

    if (from >= s.len)
        return SIZE_MAX;
    hit = memchr(s.ptr + from, byte, s.len - from);
    return hit ? (size_t)(hit - s.ptr) : SIZE_MAX;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct pawl_str pawl__str_trim(struct pawl_str s)
{
    while (s.len > 0 && is_space(s.ptr[0])) {
        s.ptr++;
        s.len--;
    }
    while (s.len > 0 && is_space(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

struct pawl_str pawl__str_slice(struct pawl_str s, size_t from, size_t to)
{
    if (to > s.len)
        to = s.len;
    if (from > to)
        from = to;
    return from == to ? pawl__str_make(s.ptr, 0) : pawl__str_make(s.ptr + from, to - from);
}

/* Length of the well-formed multi-byte sequence at `p` with `left` bytes, 0 when malformed. */
static size_t sequence_length(const unsigned char *p, size_t left)
{
    unsigned char lead = p[0];
    unsigned char low = 0x80, high = 0xBF; /* allowed range of the second byte */
    size_t length;

    if (lead >= 0xC2 && lead <= 0xDF) {
        length = 2;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
        length = 3;
        if (lead == 0xE0)
            low = 0xA0; /* overlong below */
        else if (lead == 0xED)
            high = 0x9F; /* surrogates above */
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        length = 4;
        if (lead == 0xF0)
            low = 0x90;
        else if (lead == 0xF4)
            high = 0x8F; /* past U+10FFFF above */
    } else {
        return 0;
    }
    if (left < length || p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    }
    return length;
}

size_t pawl__utf8_valid_prefix(struct pawl_str s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    size_t i = 0;

    while (i < s.len) {
        uint64_t eight;

        if (s.len - i >= sizeof eight) {
            memcpy(&eight, p + i, sizeof eight);
            if ((eight & UINT64_C(0x8080808080808080)) == 0) {
                i += sizeof eight;
                continue;
            }
        }
        if (p[i] < 0x80) {
            i++;
        } else {
            size_t length = sequence_length(p + i, s.len - i);

            if (length == 0)
                return i;
            i += length;
        }
    }
    return i;
}

uint32_t pawl__utf8_next(struct pawl_str s, size_t *pos)
{
    const unsigned char *p = (const unsigned char *)s.ptr + *pos;
    size_t length;

    PAWL_ASSERT(*pos < s.len);
    if (p[0] < 0x80) {
        *pos += 1;
        return p[0];
    }
    length = sequence_length(p, s.len - *pos);
    *pos += length ? length : 1;
    switch (length) {
    case 2:
        return (uint32_t)(p[0] & 0x1F) << 6 | (p[1] & 0x3F);
    case 3:
        return (uint32_t)(p[0] & 0x0F) << 12 | (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
    case 4:
        return (uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3F) << 12 |
               (uint32_t)(p[2] & 0x3F) << 6 | (p[3] & 0x3F);
    default:
        return 0xFFFD;
    }
}

size_t pawl__utf8_encode(uint32_t code_point, char out[4])
{
    PAWL_ASSERT(code_point <= 0x10FFFF && (code_point < 0xD800 || code_point > 0xDFFF));
    if (code_point < 0x80) {
        out[0] = (char)code_point;
        return 1;
    }
    if (code_point < 0x800) {
        out[0] = (char)(0xC0 | code_point >> 6);
        out[1] = (char)(0x80 | (code_point & 0x3F));
        return 2;
    }
    if (code_point < 0x10000) {
        out[0] = (char)(0xE0 | code_point >> 12);
        out[1] = (char)(0x80 | (code_point >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code_point & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code_point >> 18);
    out[1] = (char)(0x80 | (code_point >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code_point >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code_point & 0x3F));
    return 4;
}
