/* SPDX-License-Identifier: Apache-2.0 */
/* The pieces of reading JSON that are too long to be inline: escapes and numbers. */
#include "base/json/lex.h"

/* The four hexadecimal digits at `p`; -1 when there are not as many. */
static int32_t hex4(const char *p, const char *end)
{
    int32_t value = 0;

    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        unsigned char c = (unsigned char)p[i];

        value <<= 4;
        if (lex_is_digit((char)c))
            value |= c - '0';
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            value |= (c | 0x20) - 'a' + 10;
        else
            return -1;
    }
    return value;
}

/* The first of the four bytes at `p` that is no hexadecimal digit. */
static const char *not_hex(const char *p, const char *end)
{
    while (p < end && (lex_is_digit(*p) || ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'f')))
        p++;
    return p;
}

/* `p` is the backslash of \u; the second half of a pair must follow the first at once. */
static const char *unescape_unicode(const char *p, const char *end, char **to,
                                    struct lex_stop *stop)
{
    int32_t unit = hex4(p + 2, end);
    uint32_t code_point;
    int32_t low;

    if (unit < 0)
        return lex_stopped(stop, not_hex(p + 2, end), LEX_HEX);
    code_point = (uint32_t)unit;
    if (unit < 0xD800 || unit > 0xDFFF) {
        *to += pawl__utf8_encode(code_point, *to);
        return p + 6;
    }
    if (unit > 0xDBFF || end - p < 8 || p[6] != '\\' || p[7] != 'u')
        return lex_stopped(stop, p, LEX_SURROGATE);
    low = hex4(p + 8, end);
    if (low < 0)
        return lex_stopped(stop, not_hex(p + 8, end), LEX_HEX);
    if (low < 0xDC00 || low > 0xDFFF)
        return lex_stopped(stop, p, LEX_SURROGATE);
    code_point = 0x10000 + ((code_point - 0xD800) << 10) + ((uint32_t)low - 0xDC00);
    *to += pawl__utf8_encode(code_point, *to);
    return p + 12;
}

const char *pawl__json_unescape(const char *p, const char *end, char **to, struct lex_stop *stop)
{
    char c;

    if (end - p < 2)
        return lex_stopped(stop, end, LEX_ESCAPE);
    switch (p[1]) {
    case '"':
    case '\\':
    case '/':
        c = p[1];
        break;
    case 'b':
        c = '\b';
        break;
    case 'f':
        c = '\f';
        break;
    case 'n':
        c = '\n';
        break;
    case 'r':
        c = '\r';
        break;
    case 't':
        c = '\t';
        break;
    case 'u':
        return unescape_unicode(p, end, to, stop);
    default:
        return lex_stopped(stop, p + 1, LEX_ESCAPE);
    }
    *(*to)++ = c;
    return p + 2;
}

/* A number as it is read: where it is, and what is known of it so far. */
struct number {
    const char *start;
    uint64_t digits;       /* all digits so far as one integer; meaningless once there are > 19 */
    size_t digit_count;    /* without leading zeros */
    size_t fraction_count; /* digits behind the point */
    bool negative;
};

static const char *text_number(const struct number *number, const char *p, struct pawl_json *out)
{
    *out = (struct pawl_json){
        .type = PAWL_JSON_NUMBER, .len = (uint32_t)(p - number->start), .u.text = number->start};
    return p;
}

static const char *integer(const struct number *number, const char *p, struct pawl_json *out)
{
    uint64_t most = number->negative ? (uint64_t)INT64_MAX + 1 : INT64_MAX;

    if (number->digit_count > 19 || number->digits > most ||
        (number->negative && number->digits == 0))
        return text_number(number, p, out);
    *out = pawl__json_int((int64_t)(number->negative ? 0 - number->digits : number->digits));
    return p;
}

/*
 * Digits behind a point. With at most 15 of them in all the integer is exact, so is the power of
 * ten, and one division rounds once: the double nearest to the text. No two texts of at most 15
 * digits share a double, so the shortest text of that double is this one, provided that it ends in
 * no zero and is not of the sizes that are written with an exponent: 15 digits with a point are
 * below 1e21, and from 1e-6 on there are at most 5 zeros behind the point.
 */
static const char *fraction(const struct number *number, const char *p, struct pawl_json *out)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double value;

    if (number->digit_count > 15 || p[-1] == '0' ||
        number->fraction_count > number->digit_count + 5)
        return text_number(number, p, out);
    value = (double)number->digits / power[number->fraction_count];
    *out = pawl__json_double(number->negative ? -value : value);
    return p;
}

static const char *exponent(const struct number *number, const char *p, const char *end,
                            struct pawl_json *out, struct lex_stop *stop)
{
    if (p < end && (*p == '+' || *p == '-'))
        p++;
    if (p == end || !lex_is_digit(*p))
        return lex_stopped(stop, p, LEX_DIGIT);
    while (p < end && lex_is_digit(*p))
        p++;
    return text_number(number, p, out);
}

/* Takes digits into `number`; leading zeros of the whole do not count. */
static inline const char *digits(struct number *number, const char *p, const char *end)
{
    while (p < end && lex_is_digit(*p)) {
        number->digits = number->digits * 10 + (uint64_t)(*p - '0');
        number->digit_count += number->digit_count > 0 || *p != '0';
        p++;
    }
    return p;
}

const char *pawl__json_lex_number(const char *p, const char *end, struct pawl_json *out,
                                  struct lex_stop *stop)
{
    struct number number = {.start = p, .negative = *p == '-'};
    const char *point;

    p += number.negative;
    if (p == end || !lex_is_digit(*p))
        return lex_stopped(stop, p, LEX_DIGIT);
    if (*p == '0' && end - p > 1 && lex_is_digit(p[1]))
        return lex_stopped(stop, p, LEX_LEADING_ZERO);
    p = digits(&number, p, end);
    if (p == end || (*p != '.' && (*p | 0x20) != 'e'))
        return integer(&number, p, out);
    if (*p == '.') {
        point = p;
        p = digits(&number, p + 1, end);
        number.fraction_count = (size_t)(p - point - 1);
        if (number.fraction_count == 0)
            return lex_stopped(stop, p, LEX_DIGIT);
        if (p == end || (*p | 0x20) != 'e')
            return fraction(&number, p, out);
    }
    return exponent(&number, p + 1, end, out, stop);
}
