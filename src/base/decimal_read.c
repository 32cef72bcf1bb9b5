/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text to numbers. Few digits and a small exponent take one exact multiplication or division
 * (Clinger); everything else is computed with integers of as many bits as it takes, which is slow
 * by comparison (about a microsecond) and exact by construction.
 */
#include "base/decimal.h"

#include "base/assert.h"

/* ---- taking a text apart ---------------------------------------------------------------- */

/*
 * The number is ± 0.d1d2d3… * 10^(point + exponent), with d1 and the last digit not 0. The digits
 * are those of the text from `first` to before `end`, with perhaps a '.' among them. Zero has none.
 */
struct parts {
    const char *first;
    const char *end;
    size_t count;             /* of digits */
    int64_t point;            /* bounded by the length of the text */
    struct pawl_str exponent; /* its digits without leading zeros; any length */
    bool exponent_negative;
    bool negative;
};

/* The exponent's digits behind 'e', if there is one at `p`. */
static void take_exponent(struct parts *parts, const char *p, const char *end)
{
    parts->exponent = pawl__str_make(end, 0);
    if (p == end)
        return;
    p++;
    parts->exponent_negative = *p == '-';
    if (*p == '-' || *p == '+')
        p++;
    while (p < end && *p == '0')
        p++;
    parts->exponent = pawl__str_make(p, (size_t)(end - p));
}

static struct parts take_apart(struct pawl_str text)
{
    const char *p = text.ptr;
    const char *end = text.ptr + text.len;
    const char *point = NULL;
    struct parts parts = {.negative = p < end && *p == '-'};

    for (p += parts.negative; p < end && *p != 'e' && *p != 'E'; p++) {
        if (*p == '.') {
            point = p;
        } else if (*p != '0') {
            if (!parts.first)
                parts.first = p;
            parts.end = p + 1;
        }
    }
    take_exponent(&parts, p, end);
    if (!parts.first)
        return parts;
    if (!point)
        point = p;
    parts.count = (size_t)(parts.end - parts.first) - (parts.first < point && point < parts.end);
    parts.point = point - parts.first + (parts.first > point);
    return parts;
}

/* The next digit of `parts` at *p, passing the point. */
static unsigned next_digit(const char **p)
{
    if (**p == '.')
        (*p)++;
    return (unsigned)(*(*p)++ - '0');
}

/* The exponent that the first digit counts from; one past 2^56 counts as infinite. */
static int64_t magnitude(const struct parts *parts)
{
    int64_t exponent = 0;

    for (size_t i = 0; i < parts->exponent.len; i++) {
        exponent = exponent * 10 + (parts->exponent.ptr[i] - '0');
        if (exponent > INT64_C(1) << 56)
            break;
    }
    return parts->point + (parts->exponent_negative ? -exponent : exponent);
}

/* ---- integers and equality -------------------------------------------------------------- */

bool pawl__decimal_to_int(struct pawl_str text, int64_t *out)
{
    struct parts parts = take_apart(text);
    int64_t whole = magnitude(&parts);
    uint64_t most = parts.negative ? (uint64_t)INT64_MAX + 1 : INT64_MAX;
    const char *p = parts.first;
    uint64_t value = 0;

    if (parts.count == 0) {
        *out = 0;
        return true;
    }
    if (whole < (int64_t)parts.count || whole > 19)
        return false; /* a fraction is left, or too large */
    for (int64_t i = 0; i < whole; i++) {
        unsigned digit = i < (int64_t)parts.count ? next_digit(&p) : 0;

        if (value > (most - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = (int64_t)(parts.negative ? 0 - value : value);
    return true;
}

/*
 * Whether the exponents differ by exactly `difference`. They may have any number of digits: the
 * difference is summed up from the front and, once it is far above what the rest could take back
 * to a number as small as `difference`, it is known to stay there.
 */
static bool exponents_differ_by(const struct parts *a, const struct parts *b, int64_t difference)
{
    size_t len = a->exponent.len > b->exponent.len ? a->exponent.len : b->exponent.len;
    int64_t sum = 0;

    for (size_t i = len; i > 0; i--) {
        int digit_a = i <= a->exponent.len ? a->exponent.ptr[a->exponent.len - i] - '0' : 0;
        int digit_b = i <= b->exponent.len ? b->exponent.ptr[b->exponent.len - i] - '0' : 0;

        sum = sum * 10 + (a->exponent_negative ? -digit_a : digit_a) -
              (b->exponent_negative ? -digit_b : digit_b);
        if (sum > INT64_C(1) << 56 || sum < -(INT64_C(1) << 56))
            return false;
    }
    return sum == difference;
}

bool pawl__decimal_equal(struct pawl_str a, struct pawl_str b)
{
    struct parts left = take_apart(a);
    struct parts right = take_apart(b);
    const char *p = left.first;
    const char *q = right.first;

    if (left.count != right.count)
        return false;
    if (left.count == 0)
        return true; /* zero is zero whatever its sign */
    if (left.negative != right.negative ||
        !exponents_differ_by(&left, &right, right.point - left.point))
        return false;
    for (size_t i = 0; i < left.count; i++) {
        if (next_digit(&p) != next_digit(&q))
            return false;
    }
    return true;
}

/* ---- large integers --------------------------------------------------------------------- */

/*
 * Enough for both sides of the division below. No double and no middle between two has more than
 * 768 significant digits, so of further ones only matters that they are not all zero, for which one
 * digit stands. The least value looked at is 10^-330: the denominator is at most 10^1099 < 2^3652.
 */
#define DIGITS_MAX 768
#define LIMBS 118

struct big {
    size_t len; /* limbs in use, the highest not 0 */
    uint32_t limbs[LIMBS];
};

/* value = value * factor + addend */
static void big_multiply(struct big *value, uint32_t factor, uint32_t addend)
{
    uint64_t carry = addend;

    for (size_t i = 0; i < value->len; i++) {
        carry += (uint64_t)value->limbs[i] * factor;
        value->limbs[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry > 0) {
        PAWL_ASSERT(value->len < LIMBS);
        value->limbs[value->len++] = (uint32_t)carry;
    }
}

static void big_multiply_pow10(struct big *value, int64_t exponent)
{
    for (; exponent >= 9; exponent -= 9)
        big_multiply(value, 1000000000, 0);
    for (; exponent > 0; exponent--)
        big_multiply(value, 10, 0);
}

static void big_shift(struct big *value, size_t bits)
{
    size_t limbs = bits / 32;

    if (bits % 32 > 0)
        big_multiply(value, UINT32_C(1) << bits % 32, 0);
    if (limbs == 0 || value->len == 0)
        return;
    PAWL_ASSERT(value->len + limbs <= LIMBS);
    memmove(value->limbs + limbs, value->limbs, value->len * sizeof value->limbs[0]);
    memset(value->limbs, 0, limbs * sizeof value->limbs[0]);
    value->len += limbs;
}

static int64_t big_bits(const struct big *value)
{
    PAWL_ASSERT(value->len > 0);
    return (int64_t)value->len * 32 - __builtin_clz(value->limbs[value->len - 1]);
}

static int big_compare(const struct big *a, const struct big *b)
{
    if (a->len != b->len)
        return a->len < b->len ? -1 : 1;
    for (size_t i = a->len; i-- > 0;) {
        if (a->limbs[i] != b->limbs[i])
            return a->limbs[i] < b->limbs[i] ? -1 : 1;
    }
    return 0;
}

/* a -= b, which is not larger. */
static void big_subtract(struct big *a, const struct big *b)
{
    uint64_t borrow = 0;

    for (size_t i = 0; i < a->len; i++) {
        uint64_t take = (i < b->len ? b->limbs[i] : 0) + borrow;

        borrow = a->limbs[i] < take;
        a->limbs[i] = (uint32_t)(a->limbs[i] - take);
    }
    while (a->len > 0 && a->limbs[a->len - 1] == 0)
        a->len--;
}

/* ---- doubles ---------------------------------------------------------------------------- */

/* The digits as an integer; returns how many. */
static int64_t take_digits(const struct parts *parts, struct big *value)
{
    size_t count = parts->count < DIGITS_MAX ? parts->count : DIGITS_MAX;
    const char *p = parts->first;

    value->len = 0;
    for (size_t i = 0; i < count;) {
        uint32_t nine = 0;
        uint32_t factor = 1;

        for (; factor < 1000000000 && i < count; i++, factor *= 10)
            nine = nine * 10 + next_digit(&p);
        big_multiply(value, factor, nine);
    }
    if (count == parts->count)
        return (int64_t)count;
    big_multiply(value, 10, 1); /* the last of all digits is not 0, so the rest is not */
    return (int64_t)count + 1;
}

/*
 * 64 bits of num / den, highest bit set, with 2^*exponent the value of that bit. Returns whether
 * anything is left behind them. Changes both.
 */
static bool divide(struct big *num, struct big *den, uint64_t *quotient, int64_t *exponent)
{
    *exponent =
        big_bits(num) - big_bits(den); /* the quotient is above half of 2^that, below twice */
    if (*exponent < 0)
        big_shift(num, (size_t) - *exponent);
    else
        big_shift(den, (size_t)*exponent);
    *quotient = 0;
    for (int i = 0; i < 64; i++) { /* num < 2 * den */
        *quotient <<= 1;
        if (big_compare(num, den) >= 0) {
            big_subtract(num, den);
            *quotient |= 1;
        }
        big_multiply(num, 2, 0);
    }
    if (*quotient >> 63 == 0) {
        *quotient <<= 1; /* the bit that is 0 now is far below those that count */
        --*exponent;
    }
    return num->len > 0;
}

/* Rounds the result of divide() to the bits of a double; those of infinity when it is too large. */
static uint64_t round_to_double(uint64_t quotient, int64_t exponent, bool rest)
{
    int64_t drop = exponent >= -1022 ? 11 : 11 - 1022 - exponent;
    uint64_t kept, cut, half, bits;

    if (exponent > 1023)
        return UINT64_C(0x7FF) << 52;
    if (drop > 64)
        return 0;
    kept = drop < 64 ? quotient >> drop : 0;
    cut = drop < 64 ? quotient & ((UINT64_C(1) << drop) - 1) : quotient;
    half = UINT64_C(1) << (drop - 1);
    bits = kept + (cut > half || (cut == half && (rest || (kept & 1))));
    /* The leading bit of a normal number counts into the exponent, and so does a carry. */
    return exponent >= -1022 ? bits + ((uint64_t)(exponent + 1022) << 52) : bits;
}

/* The exact way. Zero and what is absurdly large or small have been dealt with. */
static uint64_t nearest_double(const struct parts *parts, int64_t size)
{
    struct big num, den = {.len = 1, .limbs = {1}};
    int64_t exponent = size - take_digits(parts, &num);
    uint64_t quotient;
    bool rest;

    big_multiply_pow10(exponent < 0 ? &den : &num, exponent < 0 ? -exponent : exponent);
    rest = divide(&num, &den, &quotient, &exponent);
    return round_to_double(quotient, exponent, rest);
}

/* One rounding when digits and power of ten are both exact as doubles (Clinger). */
static bool quick_double(const struct parts *parts, int64_t size, double *out)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    int64_t exponent = size - (int64_t)parts->count;
    const char *p = parts->first;
    uint64_t digits = 0;

    if (parts->count > 15 || exponent < -22 || exponent > 22)
        return false;
    for (size_t i = 0; i < parts->count; i++)
        digits = digits * 10 + next_digit(&p);
    *out = exponent < 0 ? (double)digits / power[-exponent] : (double)digits * power[exponent];
    return true;
}

bool pawl__decimal_to_double(struct pawl_str text, double *out)
{
    struct parts parts = take_apart(text);
    int64_t size = magnitude(&parts); /* below 10^size, not below a tenth of it */
    uint64_t bits = 0;
    double value = 0;

    if (parts.count > 0 && !quick_double(&parts, size, &value)) {
        if (size > 310)
            return false;
        if (size > -330)
            bits = nearest_double(&parts, size);
        if (bits >> 52 == 0x7FF)
            return false;
        memcpy(&value, &bits, sizeof value);
    }
    *out = parts.negative ? -value : value;
    return true;
}
