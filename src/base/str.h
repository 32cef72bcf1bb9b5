/* SPDX-License-Identifier: Apache-2.0 */
/* What one does with struct pawl_str, a borrowed run of bytes, and with UTF-8. */
#ifndef PAWL_BASE_STR_H
#define PAWL_BASE_STR_H

#include <pawl/str.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* For printf: "%.*s", PAWL_STR_ARG(s). */
#define PAWL_STR_ARG(s) (int)(s).len, (s).ptr

/* A constant initialiser from a literal. */
/* clang-format off */
#define PAWL_STR_LIT(literal) {(literal), sizeof(literal) - 1}
/* clang-format on */

static inline struct pawl_str pawl__str_make(const char *ptr, size_t len)
{
    struct pawl_str s = {ptr, len};
    return s;
}

/* Borrows the NUL-terminated `text`; NULL gives the empty string. */
static inline struct pawl_str pawl__str(const char *text)
{
    return pawl__str_make(text ? text : "", text ? strlen(text) : 0);
}

static inline bool pawl__str_equal(struct pawl_str a, struct pawl_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool pawl__str_is(struct pawl_str s, const char *text)
{
    return pawl__str_equal(s, pawl__str(text));
}

/* ASCII letters compare without case, all other bytes as they are. */
bool pawl__str_equal_nocase(struct pawl_str a, struct pawl_str b);

/* Byte order; a prefix sorts first. Negative, 0 or positive. */
int pawl__str_compare(struct pawl_str a, struct pawl_str b);

bool pawl__str_starts(struct pawl_str s, struct pawl_str prefix);
bool pawl__str_ends(struct pawl_str s, struct pawl_str suffix);

/* Index of the first `byte` at or after `from`; SIZE_MAX when there is none. */
size_t pawl__str_find(struct pawl_str s, char byte, size_t from);

/* Without ASCII white space at both ends. */
struct pawl_str pawl__str_trim(struct pawl_str s);

/* The part from `from` up to, not including, `to`; both are clamped to the length. */
struct pawl_str pawl__str_slice(struct pawl_str s, size_t from, size_t to);

/*
 * UTF-8, strictly: no overlong forms, no surrogates, nothing past U+10FFFF.
 * pawl__utf8_valid_prefix returns how many leading bytes are valid: s.len when all are.
 */
size_t pawl__utf8_valid_prefix(struct pawl_str s);
static inline bool pawl__utf8_valid(struct pawl_str s)
{
    return pawl__utf8_valid_prefix(s) == s.len;
}

/*
 * Reads the character at *pos and moves *pos behind it. A malformed byte gives U+FFFD and moves by
 * one. *pos must be below s.len.
 */
uint32_t pawl__utf8_next(struct pawl_str s, size_t *pos);

/* At most so many bytes of it, cut between characters. */
static inline struct pawl_str pawl__utf8_cut(struct pawl_str s, size_t bytes_max)
{
    if (s.len > bytes_max)
        s.len = pawl__utf8_valid_prefix(pawl__str_make(s.ptr, bytes_max));
    return s;
}

/* Writes 1 to 4 bytes; `code_point` must be a scalar value. Returns how many. */
size_t pawl__utf8_encode(uint32_t code_point, char out[4]);

#endif
