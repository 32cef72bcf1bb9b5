/* SPDX-License-Identifier: Apache-2.0 */
/* Reading numbers from text, and binary floating point; see number.h. Decimals: net_decimal.c. */
#include "engine/value/number.h"

#include "base/decimal.h"
#include "engine/value/number_digits.h"

#include <float.h>
#include <math.h>

#define EXPONENT_MAX INT64_C(1000000)

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- text -------------------------------------------------------------------------------- */

/* e[+-]digits at *at; leaves *at alone when there is none. */
static void scan_exponent(struct pawl_str text, size_t *at, int64_t *exponent)
{
    size_t i = *at + 1;
    bool negative = false;
    int64_t value = 0;

    if (*at >= text.len || (text.ptr[*at] != 'e' && text.ptr[*at] != 'E'))
        return;
    if (i < text.len && (text.ptr[i] == '+' || text.ptr[i] == '-'))
        negative = text.ptr[i++] == '-';
    if (i >= text.len || !is_digit(text.ptr[i]))
        return;
    for (; i < text.len && is_digit(text.ptr[i]); i++) {
        if (value < EXPONENT_MAX)
            value = value * 10 + (text.ptr[i] - '0');
    }
    value = value < EXPONENT_MAX ? value : EXPONENT_MAX;
    *exponent = negative ? -value : value;
    *at = i;
}

bool pawl__number_scan(struct pawl_str text, enum pawl_number_style style,
                       struct pawl_number_text *out)
{
    struct pawl_number_text found = {.negative = false};
    bool digit = false;
    bool point = false;
    size_t at = 0;
    size_t from;

    text = pawl__str_trim(text);
    if (at < text.len && (text.ptr[at] == '+' || text.ptr[at] == '-'))
        found.negative = text.ptr[at++] == '-';
    from = at;
    for (; at < text.len; at++) {
        char c = text.ptr[at];

        if (is_digit(c))
            digit = true;
        else if (c == '.' && !point)
            point = true;
        else if (c != ',' || style == PAWL_NUMBER_FLOAT || !digit || point)
            break;
    }
    found.digits = pawl__str_slice(text, from, at);
    if (style != PAWL_NUMBER_AMOUNT)
        scan_exponent(text, &at, &found.exponent);
    if (!digit || at != text.len)
        return false;
    *out = found;
    return true;
}

int pawl__number_to_double(struct pawl_arena *arena, const struct pawl_number_text *text,
                           double *out)
{
    char *json = pawl__arena_alloc(arena, text->digits.len + PAWL_DECIMAL_SIZE + 2);
    int64_t exponent = text->exponent;
    bool point = false;
    size_t len = 0;
    double value;

    if (!json)
        return arena->status;
    for (size_t i = 0; i < text->digits.len; i++) {
        char c = text->digits.ptr[i];

        if (c == '.')
            point = true;
        if (!is_digit(c))
            continue;
        exponent -= point;
        if (len > 0 || c != '0')
            json[len++] = c;
    }
    if (len == 0)
        json[len++] = '0';
    json[len++] = 'e';
    len += pawl__decimal_from_int(exponent, json + len);
    if (!pawl__decimal_to_double(pawl__str_make(json, len), &value))
        value = HUGE_VAL;
    *out = text->negative ? -value : value;
    return PAWL_OK;
}

int pawl__number_parse_int(struct pawl_str text, int64_t *out)
{
    bool negative = false;
    uint64_t value = 0;
    uint64_t most;
    size_t at = 0;

    text = pawl__str_trim(text);
    if (at < text.len && (text.ptr[at] == '+' || text.ptr[at] == '-'))
        negative = text.ptr[at++] == '-';
    if (at == text.len)
        return PAWL_EPARSE;
    most = (uint64_t)INT64_MAX + negative;
    for (size_t i = at; i < text.len; i++) {
        if (!is_digit(text.ptr[i]))
            return PAWL_EPARSE;
    }
    for (; at < text.len; at++) {
        unsigned digit = (unsigned)(text.ptr[at] - '0');

        if (value > (most - digit) / 10)
            return PAWL_ELIMIT;
        value = value * 10 + digit;
    }
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return PAWL_OK;
}

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool pawl__number_parse_hex(struct pawl_str text, unsigned bits, int64_t *out)
{
    uint64_t value = 0;

    if (text.len == 0)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        int digit = hex_digit(text.ptr[i]);

        if (digit < 0 || value >> (bits - 4) != 0)
            return false;
        value = value << 4 | (unsigned)digit;
    }
    if (bits < 64 && value >> (bits - 1) != 0)
        value |= ~UINT64_C(0) << bits;
    *out = (int64_t)value;
    return true;
}

/* ---- binary ------------------------------------------------------------------------------ */

bool pawl__number_double_to_int(double value, int64_t *out)
{
    int64_t whole;
    double rest;

    /* 2^63 itself is exact, the largest int64 is not. */
    if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0))
        return false;
    whole = (int64_t)value;
    rest = value - (double)whole;
    if (rest > 0.5 || (rest == 0.5 && whole % 2 != 0))
        whole++;
    else if (rest < -0.5 || (rest == -0.5 && whole % 2 != 0))
        whole--;
    *out = whole;
    return true;
}

void pawl__number_digits(double value, struct pawl_digits *out)
{
    char text[PAWL_DECIMAL_SIZE];
    size_t len = pawl__decimal_from_double(value, text);
    struct pawl_number_text scanned = {.negative = false};
    bool point = false;

    *out = (struct pawl_digits){.len = 0};
    if (!pawl__number_scan(pawl__str_make(text, len), PAWL_NUMBER_FLOAT, &scanned))
        return;
    out->negative = scanned.negative;
    out->scale = (int)scanned.exponent;
    for (size_t i = 0; i < scanned.digits.len; i++) {
        char c = scanned.digits.ptr[i];

        if (c == '.') {
            point = true;
            continue;
        }
        if (out->len > 0 || c != '0') {
            out->text[out->len++] = c;
            out->scale += !point;
        } else {
            out->scale -= point;
        }
    }
    while (out->len > 0 && out->text[out->len - 1] == '0')
        out->len--;
}

void pawl__number_round_digits(struct pawl_digits *digits, size_t count)
{
    size_t i = count;
    bool up;

    if (digits->len <= count)
        return;
    up = digits->text[count] > '5' ||
         (digits->text[count] == '5' &&
          (digits->len > count + 1 || (count > 0 && (digits->text[count - 1] - '0') % 2 != 0)));
    digits->len = count;
    if (up) {
        while (i > 0 && digits->text[i - 1] == '9')
            i--;
        if (i == 0) {
            digits->text[0] = '1';
            digits->len = 1;
            digits->scale++;
            return;
        }
        digits->text[i - 1]++;
        digits->len = i;
    }
    while (digits->len > 0 && digits->text[digits->len - 1] == '0')
        digits->len--;
}

/* The double that the digits name. */
static double digits_value(const struct pawl_digits *digits)
{
    char text[PAWL_DIGITS_MAX + PAWL_DECIMAL_SIZE + 1];
    double value = 0;
    size_t len = digits->len;

    if (len == 0)
        return digits->negative ? -0.0 : 0.0;
    memcpy(text, digits->text, len);
    text[len++] = 'e';
    len += pawl__decimal_from_int(digits->scale - (int)digits->len, text + len);
    if (!pawl__decimal_to_double(pawl__str_make(text, len), &value))
        value = HUGE_VAL;
    return digits->negative ? -value : value;
}

double pawl__number_round_single(double value)
{
    struct pawl_digits all;
    double half_way = 0x1.ffffffp127; /* from here on the nearest float is infinite */
    float single;

    if (value != value)
        return value;
    if (value >= half_way || value <= -half_way)
        return value > 0 ? HUGE_VAL : -HUGE_VAL;
    single = (float)value;
    pawl__number_digits((double)single, &all);
    for (size_t count = 1; count < 9; count++) {
        struct pawl_digits shorter = all;
        double rounded;

        pawl__number_round_digits(&shorter, count);
        rounded = digits_value(&shorter);
        if (rounded < half_way && rounded > -half_way && (float)rounded == single)
            return rounded;
    }
    pawl__number_round_digits(&all, 9);
    return digits_value(&all);
}

static void write_scientific(struct pawl_buf *out, const struct pawl_digits *digits)
{
    int exponent = digits->scale - 1;

    pawl__buf_byte(out, digits->text[0]);
    if (digits->len > 1) {
        pawl__buf_byte(out, '.');
        pawl__buf_append(out, digits->text + 1, digits->len - 1);
    }
    pawl__buf_printf(out, "E%c%02d", exponent < 0 ? '-' : '+', exponent < 0 ? -exponent : exponent);
}

static void write_plain(struct pawl_buf *out, const struct pawl_digits *digits)
{
    int at = 0;

    if (digits->scale <= 0)
        pawl__buf_byte(out, '0');
    for (; at < digits->scale; at++)
        pawl__buf_byte(out, (size_t)at < digits->len ? digits->text[at] : '0');
    if ((size_t)at >= digits->len)
        return;
    pawl__buf_byte(out, '.');
    for (int zeros = digits->scale; zeros < 0; zeros++)
        pawl__buf_byte(out, '0');
    pawl__buf_append(out, digits->text + at, digits->len - (size_t)at);
}

void pawl__number_write_double(struct pawl_buf *out, double value, bool single)
{
    struct pawl_digits digits;
    int most = single ? 9 : 17;

    if (value != value) {
        pawl__buf_text(out, "NaN");
        return;
    }
    if (value > DBL_MAX || value < -DBL_MAX) {
        pawl__buf_text(out, value > 0 ? "Infinity" : "-Infinity");
        return;
    }
    pawl__number_digits(value, &digits);
    if (digits.negative)
        pawl__buf_byte(out, '-');
    if (digits.len == 0)
        pawl__buf_byte(out, '0');
    else if (digits.scale > most || digits.scale < -3)
        write_scientific(out, &digits);
    else
        write_plain(out, &digits);
}
