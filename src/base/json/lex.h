/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the JSON parser and the pull reader share: finding the ends of blanks, plain runs, escapes
 * and numbers, and the list of what can be wrong with a text. Only the files beside it include
 * this.
 *
 * Every function takes the first byte to look at and the end of what may be read, and reads
 * nothing behind it. The parser gives the end of its padded copy, so that the loops over 16 bytes
 * never fall back to single bytes there; the padding is NUL, at which everything here stops.
 */
#ifndef PAWL_BASE_JSON_LEX_H
#define PAWL_BASE_JSON_LEX_H

#include "base/json/json.h"

#include <pawl/error.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* X(name, what the message says, whether it goes on with ", found …") */
#define LEX_FAULTS(X)                                                                              \
    X(VALUE, "expected a value", true)                                                             \
    X(AFTER_ELEMENT, "expected ',' or ']' after an element", true)                                 \
    X(AFTER_MEMBER, "expected ',' or '}' after a member", true)                                    \
    X(KEY_OR_END, "expected a member name in quotes or '}'", true)                                 \
    X(KEY, "expected a member name in quotes after ','", true)                                     \
    X(COLON, "expected ':' after a member name", true)                                             \
    X(AFTER_END, "expected the end of the text after the value", true)                             \
    X(LITERAL, "expected a value; only true, false and null need no quotes", false)                \
    X(LEADING_ZERO, "a number cannot begin with 0 and go on with digits", false)                   \
    X(DIGIT, "expected a digit in a number", true)                                                 \
    X(QUOTE, "expected '\"' at the end of a string", true)                                         \
    X(CONTROL, "expected an escape (such as \\n) for a control character in a string", true)       \
    X(ESCAPE, "expected one of \" \\ / b f n r t u after a backslash", true)                       \
    X(HEX, "expected four hexadecimal digits after \\u", true)                                     \
    X(SURROGATE, "half a surrogate pair cannot stand alone in a string", false)                    \
    X(UTF8, "expected well-formed UTF-8", true)                                                    \
    X(DEPTH, "nested too deeply", false)

enum lex_fault {
#define LEX_FAULT_ENUM(name, text, found) LEX_##name,
    LEX_FAULTS(LEX_FAULT_ENUM)
#undef LEX_FAULT_ENUM
};

/* Where reading stopped and why; written only by what fails. */
struct lex_stop {
    const char *at;
    enum lex_fault fault;
};

/*
 * Makes line, column and pointer out of a fault at `offset` of `text`, fills *place (NULL allowed)
 * and the message, and returns the code. Everything before the offset must be valid.
 */
int pawl__json_fail(struct pawl_str text, size_t offset, enum lex_fault fault, uint32_t depth_max,
                    struct pawl_json_place *place, struct pawl_error *err);

/* The limits that hold: what was asked for, the default where NULL, clamped to what is possible. */
struct pawl_json_limits pawl__json_limits_clamp(const struct pawl_json_limits *limits);

/* A JSON pointer's token as an index: digits without needless zeros. */
bool pawl__json_pointer_index(struct pawl_str token, uint32_t *index);

static inline const char *lex_stopped(struct lex_stop *stop, const char *at, enum lex_fault fault)
{
    stop->at = at;
    stop->fault = fault;
    return NULL;
}

static inline bool lex_is_digit(char c)
{
    return (unsigned char)(c - '0') <= 9;
}

static inline bool lex_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* How much of a byte order mark is at the beginning: 3 or 0. */
static inline size_t lex_bom(struct pawl_str text)
{
    return text.len >= 3 && memcmp(text.ptr, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

#if defined(__SSE2__)
/* One bit for each of 16 bytes that is no blank. */
static inline unsigned lex_mask_nonspace(const char *p)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i blank = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(' ')),
                                              _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n'))),
                                 _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\r')),
                                              _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t'))));

    return (unsigned)_mm_movemask_epi8(blank) ^ 0xFFFFu;
}

/* One bit for each of 16 bytes that ends a plain run: quote, backslash, control, not ASCII. */
static inline unsigned lex_mask_special(const char *p)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
    /* Signed: all bytes from 0x80 on are below 0x20 too. */
    __m128i special = _mm_or_si128(_mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20)),
                                   _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                                _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))));

    return (unsigned)_mm_movemask_epi8(special);
}
#endif

/* The first byte that is no blank, or `end`. */
static inline const char *lex_spaces(const char *p, const char *end)
{
#if defined(__SSE2__)
    while (end - p >= 16) {
        unsigned mask = lex_mask_nonspace(p);

        if (mask != 0)
            return p + __builtin_ctz(mask);
        p += 16;
    }
#endif
    while (p < end && lex_is_space(*p))
        p++;
    return p;
}

static inline const char *lex_skip(const char *p, const char *end)
{
    if (PAWL_LIKELY(p < end && (unsigned char)*p > ' '))
        return p;
    return lex_spaces(p, end);
}

/* The first byte that is a quote, a backslash, a control character or not ASCII, or `end`. */
static inline const char *lex_ascii(const char *p, const char *end)
{
#if defined(__SSE2__)
    while (PAWL_LIKELY(end - p >= 16)) {
        unsigned mask = lex_mask_special(p);

        if (mask != 0)
            return p + __builtin_ctz(mask);
        p += 16;
    }
#endif
    while (p < end && (unsigned char)*p >= 0x20 && (unsigned char)*p < 0x80 && *p != '"' &&
           *p != '\\')
        p++;
    return p;
}

static inline bool lex_is_tail(unsigned char c)
{
    return (c & 0xC0) == 0x80;
}

/* Length of the well-formed sequence of 2 to 4 bytes at `at`; 0 when malformed or cut. */
static inline size_t lex_sequence(const char *at, size_t left)
{
    const unsigned char *p = (const unsigned char *)at;

    if (p[0] < 0xE0) /* C0 and C1 would be overlong, below them are no leads */
        return p[0] >= 0xC2 && left >= 2 && lex_is_tail(p[1]) ? 2 : 0;
    if (p[0] < 0xF0) {
        if (left < 3 || !lex_is_tail(p[1]) || !lex_is_tail(p[2]))
            return 0;
        if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F))
            return 0; /* overlong; surrogates */
        return 3;
    }
    if (p[0] > 0xF4 || left < 4 || !lex_is_tail(p[1]) || !lex_is_tail(p[2]) || !lex_is_tail(p[3]))
        return 0;
    if ((p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F))
        return 0; /* overlong; past U+10FFFF */
    return 4;
}

/*
 * The end of a run of characters that stand for themselves in a string: a quote, a backslash, a
 * control character, malformed UTF-8, or `end`.
 */
static inline const char *lex_plain(const char *p, const char *end)
{
    for (;;) {
        p = lex_ascii(p, end);
        if (PAWL_LIKELY(p == end || (unsigned char)*p < 0x80))
            return p;
        do {
            size_t length = lex_sequence(p, (size_t)(end - p));

            if (length == 0)
                return p;
            p += length;
        } while (p < end && (unsigned char)*p >= 0x80);
    }
}

/* What is wrong where a plain run ended, neither at a quote nor at a backslash. */
static inline const char *lex_bad_byte(struct lex_stop *stop, const char *p, const char *text_end)
{
    if (p >= text_end)
        return lex_stopped(stop, text_end, LEX_QUOTE);
    return lex_stopped(stop, p, (unsigned char)*p < 0x20 ? LEX_CONTROL : LEX_UTF8);
}

/*
 * Decodes the escape whose backslash is at `p` to *to, which it moves on by 1 to 4 bytes and never
 * by more than the escape is long. Returns the byte behind the escape, NULL when it is malformed.
 */
const char *pawl__json_unescape(const char *p, const char *end, char **to, struct lex_stop *stop);

/*
 * Reads the number at `p` ('-' or a digit) into *out by the rule at the top of json.h; a NUMBER
 * borrows its text. Returns the byte behind it, NULL when it is malformed.
 */
const char *pawl__json_lex_number(const char *p, const char *end, struct pawl_json *out,
                                  struct lex_stop *stop);

/* Reads true, false or null. Returns the byte behind it, NULL when it is something else. */
static inline const char *lex_literal(const char *p, const char *end, struct pawl_json *out,
                                      struct lex_stop *stop)
{
    size_t left = (size_t)(end - p);

    if (left >= 4 && memcmp(p, "true", 4) == 0) {
        *out = pawl__json_bool(true);
        return p + 4;
    }
    if (left >= 4 && memcmp(p, "null", 4) == 0) {
        *out = pawl__json_null();
        return p + 4;
    }
    if (left >= 5 && memcmp(p, "false", 5) == 0) {
        *out = pawl__json_bool(false);
        return p + 5;
    }
    return lex_stopped(stop, p,
                       left > 0 && ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z'))
                           ? LEX_LITERAL
                           : LEX_VALUE);
}

#endif
