/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Escaping strings. Most need none: the first way through copies 16 bytes at a time while looking
 * whether anything among them is special, and is all there is to do for them. From the first
 * special byte on, pieces are escaped into room for the worst case; where the buffer's maximum is
 * so near that there is none, the careful way reserves exactly what it writes.
 */
#include "base/json/escape.h"

#include "base/json/lex.h"
#include "base/json/undefined.h"

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

/* ---- 16 bytes at a time ----------------------------------------------------------------- */

#if defined(__SSE2__)
static inline __m128i load16(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline void store16(char *p, __m128i bytes)
{
    _mm_storeu_si128((__m128i *)(void *)p, bytes);
}

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

/* The same for 8 to 15 bytes, as two halves that overlap, and for 4 to 7. */
static inline bool copy_8_to_15(char *to, const char *p, size_t len, bool html)
{
    uint64_t head, tail;

    memcpy(&head, p, 8);
    memcpy(&tail, p + len - 8, 8);
    memcpy(to, &head, 8);
    memcpy(to + len - 8, &tail, 8);
    return mask_special(_mm_set_epi64x((int64_t)tail, (int64_t)head), html) == 0;
}

static inline bool copy_4_to_7(char *to, const char *p, size_t len, bool html)
{
    uint32_t head, tail;

    memcpy(&head, p, 4);
    memcpy(&tail, p + len - 4, 4);
    memcpy(to, &head, 4);
    memcpy(to + len - 4, &tail, 4);
    return mask_special(_mm_set_epi32((int)tail, (int)head, (int)tail, (int)head), html) == 0;
}

/*
 * Copies as long as nothing is special and not ASCII; returns how many bytes surely were not: all,
 * or any number before the first that is. There is room for all of them at `to`.
 */
static inline size_t copy_plain(char *to, const char *p, size_t len, bool html)
{
    size_t done = 0;

    if (len == 0)
        return 0; /* an empty string may have no bytes at all: nothing is added to NULL */
    while (len - done >= 16) {
        __m128i bytes = load16(p + done);

        if (mask_special(bytes, html) != 0)
            return done;
        store16(to + done, bytes);
        done += 16;
    }
    to += done;
    p += done;
    len -= done;
    if (len >= 8)
        return copy_8_to_15(to, p, len, html) ? done + len : done;
    if (len >= 4)
        return copy_4_to_7(to, p, len, html) ? done + len : done;
    for (; len > 0; len--, done++) {
        unsigned char c = (unsigned char)*p++;

        if (c >= 0x80 || is_special(c, html ? PAWL_JSON_ESCAPE_HTML : PAWL_JSON_ESCAPE_MINIMAL))
            return done;
        *to++ = (char)c;
    }
    return done;
}
#else
static inline size_t copy_plain(char *to, const char *p, size_t len, bool html)
{
    size_t done = 0;

    for (; done < len; done++) {
        unsigned char c = (unsigned char)p[done];

        if (c >= 0x80 || is_special(c, html ? PAWL_JSON_ESCAPE_HTML : PAWL_JSON_ESCAPE_MINIMAL))
            break;
        to[done] = (char)c;
    }
    return done;
}
#endif

/* ---- single characters ------------------------------------------------------------------ */

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
static size_t put_character(char *to, struct pawl_str s, size_t *pos, enum pawl_json_escape escape)
{
    uint32_t code_point = pawl__utf8_next(s, pos);

    if (code_point < 0x80) {
        char letter = short_escape((unsigned char)code_point, escape);

        if (!is_special((unsigned char)code_point, escape)) {
            to[0] = (char)code_point;
            return 1;
        }
        if (letter == '\0')
            return put_unit(to, code_point);
        to[0] = '\\';
        to[1] = letter;
        return 2;
    }
    if (is_kept(code_point, escape))
        return pawl__utf8_encode(code_point, to);
    if (code_point <= 0xFFFF)
        return put_unit(to, code_point);
    code_point -= 0x10000;
    (void)put_unit(to, 0xD800 + (code_point >> 10));
    return 6 + put_unit(to + 6, 0xDC00 + (code_point & 0x3FF));
}

/* ---- strings ---------------------------------------------------------------------------- */

#define PIECE 512                   /* bytes escaped at a time */
#define PIECE_ROOM (6 * PIECE + 64) /* no byte becomes more than 6; copies of 16 run over */

/*
 * Escapes from *pos up to `until` or, at a character that lies across it, a little further, into
 * room for six times as much and 64 more. Returns the length.
 */
static size_t put_piece(char *out, struct pawl_str s, size_t *pos, size_t until,
                        enum pawl_json_escape escape)
{
    char *to = out;

    while (*pos < until) {
#if defined(__SSE2__)
        if (s.len - *pos >= 16) {
            __m128i bytes = load16(s.ptr + *pos);
            unsigned mask = mask_special(bytes, escape != PAWL_JSON_ESCAPE_MINIMAL);
            size_t count = mask ? (size_t)__builtin_ctz(mask) : 16;

            store16(to, bytes);
            *pos += count;
            to += count;
            if (mask == 0)
                continue;
        }
#endif
        to += put_character(to, s, pos, escape);
    }
    return (size_t)(to - out);
}

/* Appends from `pos` on, without quotes. */
static void put_rest(struct pawl_buf *out, struct pawl_str s, size_t pos,
                     enum pawl_json_escape escape)
{
    while (pos < s.len && out->max - out->len >= PIECE_ROOM) {
        size_t until = s.len - pos > PIECE ? pos + PIECE : s.len;
        char *to = pawl__buf_reserve(out, 6 * (until - pos) + 64);

        if (!to)
            return;
        out->len += put_piece(to, s, &pos, until, escape);
    }
    while (pos < s.len && out->status == PAWL_OK) {
        char character[12];

        pawl__buf_append(out, character, put_character(character, s, &pos, escape));
    }
}

void pawl__json_put_string(struct pawl_buf *out, struct pawl_str s, enum pawl_json_escape escape)
{
    char *to = pawl__buf_reserve(out, s.len + 2); /* less it will not be */
    size_t plain;

    if (!to)
        return;
    *to++ = '"';
    plain = copy_plain(to, s.ptr, s.len, escape != PAWL_JSON_ESCAPE_MINIMAL);
    out->len += 1 + plain;
    if (plain == s.len) {
        to[plain] = '"';
        out->len++;
        return;
    }
    put_rest(out, s, plain, escape);
    pawl__buf_byte(out, '"');
}

void pawl__json_put_key(struct pawl_buf *out, char before, struct pawl_str key,
                        enum pawl_json_escape escape)
{
    char *to = pawl__buf_reserve(out, key.len + 4);
    size_t plain;

    if (!to)
        return;
    to[0] = before;
    to[1] = '"';
    plain = copy_plain(to + 2, key.ptr, key.len, escape != PAWL_JSON_ESCAPE_MINIMAL);
    if (plain == key.len) {
        to[2 + plain] = '"';
        to[3 + plain] = ':';
        out->len += plain + 4;
        return;
    }
    out->len += plain + 2;
    put_rest(out, key, plain, escape);
    pawl__buf_append(out, "\":", 2);
}
