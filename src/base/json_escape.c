/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Escaping strings. Nearly all strings need none, so the way through is to copy 16 bytes at a time
 * while looking whether there is anything special among them; the first special byte leads to the
 * careful way, which goes on run by run and reserves exactly what it writes.
 */
#include "base/json_escape.h"

#include "base/json_lex.h"
#include "base/json_undefined.h"

/* ---- what must be escaped --------------------------------------------------------------- */

static bool is_html_special(unsigned char c)
{
    return c == '&' || c == '\'' || c == '+' || c == '<' || c == '>' || c == '`' || c == 0x7F;
}

/* Whether an ASCII byte may not stand for itself. */
static inline bool is_special(unsigned char c, enum pawl_json_escape escape)
{
    return c < 0x20 || c == '"' || c == '\\' ||
           (escape != PAWL_JSON_ESCAPE_MINIMAL && is_html_special(c));
}

/* Whether .NET's encoders never leave a character as it is; `unit` is at least 0x80. */
static bool is_undefined(uint32_t unit)
{
    size_t low = 0;
    size_t high = sizeof undefined_edges / sizeof undefined_edges[0];

    while (low < high) { /* afterwards `low` edges are at or below the unit */
        size_t middle = (low + high) / 2;

        if (undefined_edges[middle] <= unit)
            low = middle + 1;
        else
            high = middle;
    }
    return low % 2 == 1;
}

static bool is_kept(uint32_t code_point, enum pawl_json_escape escape)
{
    switch (escape) {
    case PAWL_JSON_ESCAPE_MINIMAL:
        return true;
    case PAWL_JSON_ESCAPE_HTML:
        return code_point <= 0xFFFF && !is_undefined(code_point);
    case PAWL_JSON_ESCAPE_ASCII:
        break;
    }
    return false;
}

#if defined(__SSE2__)
static inline __m128i equal(__m128i bytes, char c)
{
    return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c));
}

/* One bit for each of 16 bytes that is special or not ASCII. */
static inline unsigned mask_special(__m128i bytes, bool html)
{
    /* Signed: all bytes from 0x80 on are below 0x20 too. */
    __m128i special = _mm_or_si128(_mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20)),
                                   _mm_or_si128(equal(bytes, '"'), equal(bytes, '\\')));

    if (html) {
        /* & ' differ in the lowest bit only, < > in the next */
        __m128i pairs = _mm_or_si128(equal(_mm_or_si128(bytes, _mm_set1_epi8(1)), '\''),
                                     equal(_mm_or_si128(bytes, _mm_set1_epi8(2)), '>'));
        __m128i rest =
            _mm_or_si128(_mm_or_si128(equal(bytes, '+'), equal(bytes, '`')), equal(bytes, 0x7F));

        special = _mm_or_si128(special, _mm_or_si128(pairs, rest));
    }
    return (unsigned)_mm_movemask_epi8(special);
}
#endif

/* ---- the careful way -------------------------------------------------------------------- */

/* The end of the run of ASCII that stands for itself. */
static const char *plain_ascii(const char *p, const char *end, enum pawl_json_escape escape)
{
#if defined(__SSE2__)
    while (end - p >= 16) {
        unsigned mask = mask_special(_mm_loadu_si128((const __m128i *)(const void *)p),
                                     escape != PAWL_JSON_ESCAPE_MINIMAL);

        if (mask != 0)
            return p + __builtin_ctz(mask);
        p += 16;
    }
#endif
    while (p < end && (unsigned char)*p < 0x80 && !is_special((unsigned char)*p, escape))
        p++;
    return p;
}

/* The end of the run of characters that stand for themselves. */
static const char *plain(const char *p, const char *end, enum pawl_json_escape escape)
{
    for (;;) {
        p = plain_ascii(p, end, escape);
        while (p < end && (unsigned char)*p >= 0x80) {
            size_t length = lex_sequence(p, (size_t)(end - p));
            size_t pos = 0;

            if (length == 0)
                return p;
            if (escape != PAWL_JSON_ESCAPE_MINIMAL &&
                !is_kept(pawl__utf8_next(pawl__str_make(p, length), &pos), escape))
                return p;
            p += length;
        }
        if (p == end || is_special((unsigned char)*p, escape))
            return p;
    }
}

static size_t put_unit(char *to, uint32_t unit)
{
    static const char hex[] = "0123456789ABCDEF";

    to[0] = '\\';
    to[1] = 'u';
    to[2] = hex[unit >> 12 & 15];
    to[3] = hex[unit >> 8 & 15];
    to[4] = hex[unit >> 4 & 15];
    to[5] = hex[unit & 15];
    return 6;
}

/* The letter of the short escape of an ASCII byte; 0 when it has none. */
static char short_escape(unsigned char c, enum pawl_json_escape escape)
{
    switch (c) {
    case '\b':
        return 'b';
    case '\t':
        return 't';
    case '\n':
        return 'n';
    case '\f':
        return 'f';
    case '\r':
        return 'r';
    case '\\':
        return '\\';
    case '"':
        return escape == PAWL_JSON_ESCAPE_MINIMAL ? '"' : '\0';
    default:
        return '\0';
    }
}

/* Writes the character at *pos as it must be, at most 12 bytes; moves *pos behind it. */
static size_t put_escape(char *to, struct pawl_str s, size_t *pos, enum pawl_json_escape escape)
{
    uint32_t code_point = pawl__utf8_next(s, pos);

    if (code_point < 0x80) {
        char letter = short_escape((unsigned char)code_point, escape);

        if (letter == '\0')
            return put_unit(to, code_point);
        to[0] = '\\';
        to[1] = letter;
        return 2;
    }
    if (is_kept(code_point, escape)) /* stands for something malformed */
        return pawl__utf8_encode(code_point, to);
    if (code_point <= 0xFFFF)
        return put_unit(to, code_point);
    code_point -= 0x10000;
    (void)put_unit(to, 0xD800 + (code_point >> 10));
    return 6 + put_unit(to + 6, 0xDC00 + (code_point & 0x3FF));
}

/* Appends from `pos` on, without quotes. */
static void put_carefully(struct pawl_buf *out, struct pawl_str s, size_t pos,
                          enum pawl_json_escape escape)
{
    const char *end = s.ptr + s.len;

    while (pos < s.len && out->status == PAWL_OK) {
        const char *run = plain(s.ptr + pos, end, escape);
        char escaped[12];

        pawl__buf_append(out, s.ptr + pos, (size_t)(run - s.ptr) - pos);
        pos = (size_t)(run - s.ptr);
        if (pos < s.len)
            pawl__buf_append(out, escaped, put_escape(escaped, s, &pos, escape));
    }
}

void pawl__json_put_string(struct pawl_buf *out, struct pawl_str s, enum pawl_json_escape escape)
{
    pawl__buf_byte(out, '"');
    put_carefully(out, s, 0, escape);
    pawl__buf_byte(out, '"');
}
