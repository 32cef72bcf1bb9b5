/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as .NET reads, rounds and prints them: text with and without group
 * separators, the 96-bit decimal, halves to even, doubles in their shortest form with `E+21`.
 */
#ifndef PAWL_ENGINE_VALUE_NUMBER_H
#define PAWL_ENGINE_VALUE_NUMBER_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json/json.h"

/* ---- text -------------------------------------------------------------------------------- */

/* What a text says, before anybody asks whether it fits. Borrows the text. */
struct pawl_number_text {
    bool negative;
    struct pawl_str digits; /* with the decimal point and group separators in them */
    int64_t exponent;       /* 0 when not given; within a million */
};

enum pawl_number_style {
    PAWL_NUMBER_FLOAT,  /* 1.5e3 */
    PAWL_NUMBER_GROUPS, /* 1,000.5: separators anywhere behind the first digit; exponent too */
    PAWL_NUMBER_AMOUNT, /* 1,000.5 without an exponent */
};

/* false: it is no number. White space around is passed over, a leading sign counts. */
bool pawl__number_scan(struct pawl_str text, enum pawl_number_style style,
                       struct pawl_number_text *out);

/* Nearest double; infinite when it is too large. PAWL_ENOMEM, PAWL_ELIMIT of the arena. */
PAWL_MUST_CHECK int pawl__number_to_double(struct pawl_arena *arena,
                                           const struct pawl_number_text *text, double *out);

/*
 * [+-]digits, white space around. PAWL_EPARSE: it has another form; PAWL_ELIMIT: too large for
 * int64.
 */
PAWL_MUST_CHECK int pawl__number_parse_int(struct pawl_str text, int64_t *out);
/* `bits` (16, 32, 64) of two's complement from hexadecimal digits; false: other text or too long.
 */
bool pawl__number_parse_hex(struct pawl_str text, unsigned bits, int64_t *out);

/* ---- decimal ----------------------------------------------------------------------------- */

/* digits / 10^scale, 96 bits, scale up to 28. Trailing zeros count: 1.10 is not 1.1. */
struct pawl_net_decimal {
    unsigned __int128 digits;
    unsigned scale;
    bool negative;
};

/* Room for -79228162514264337593543950335 with a point or leading 0.000…, and a NUL. */
#define PAWL_NET_DECIMAL_TEXT_SIZE 34

/* Rounded half to even where it has too many digits; false: it is too large. */
bool pawl__net_decimal_from_text(const struct pawl_number_text *text, struct pawl_net_decimal *out);
/* From any JSON number. */
bool pawl__net_decimal_from_json(const struct pawl_json *json, struct pawl_net_decimal *out);
/* As Elsa converts binary numbers: by their first `digits` (15, 7) decimal ones. */
bool pawl__net_decimal_from_double(double value, int digits, struct pawl_net_decimal *out);
/* Rounded half to even; false: too large for int64. */
bool pawl__net_decimal_to_int(const struct pawl_net_decimal *value, int64_t *out);
/* Returns the length; ends with a NUL. */
size_t pawl__net_decimal_format(const struct pawl_net_decimal *value,
                                char out[PAWL_NET_DECIMAL_TEXT_SIZE]);

/* ---- binary ------------------------------------------------------------------------------ */

/* Rounded half to even; false: not finite, or too large for int64. */
bool pawl__number_double_to_int(double value, int64_t *out);
/* The double whose shortest text is that of the float nearest to `value`; infinite past its range.
 */
double pawl__number_round_single(double value);
/*
 * Appends the shortest text: plain up to 17 digits (9 for `single`) before the point and down to
 * 0.0001, else 1.5E+21; "NaN", "Infinity", "-Infinity".
 */
void pawl__number_write_double(struct pawl_buf *out, double value, bool single);

#endif
