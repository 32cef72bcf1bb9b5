/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers to text. Reading text is in decimal_read.c.
 *
 * Doubles use Raffaello Giulietti's Schubfach ("The Schubfach way to render doubles", 2020): scale
 * the double and the two bounds of its rounding interval by a power of ten such that the interval
 * is at least 1 and less than 10 wide, and look which of at most four integers is inside and
 * nearest. The table holds the powers with 128 bits, rounded up; the paper proves that this is
 * precise enough for every double if the product is cut to 64 bits with a sticky lowest bit.
 */
#include "base/decimal.h"

#include "base/decimal_powers.h"

#include <math.h>

static const char digit_pairs[] = "00010203040506070809101112131415161718192021222324"
                                  "25262728293031323334353637383940414243444546474849"
                                  "50515253545556575859606162636465666768697071727374"
                                  "75767778798081828384858687888990919293949596979899";

static size_t digit_count(uint64_t value)
{
    size_t count = 1;

    for (;;) {
        if (value < 10)
            return count;
        if (value < 100)
            return count + 1;
        if (value < 1000)
            return count + 2;
        if (value < 10000)
            return count + 3;
        value /= 10000;
        count += 4;
    }
}

/* Writes the digits so that they end before `end`. */
static void put_digits(char *end, uint64_t value)
{
    while (value >= 100) {
        end -= 2;
        memcpy(end, &digit_pairs[value % 100 * 2], 2);
        value /= 100;
    }
    if (value >= 10)
        memcpy(end - 2, &digit_pairs[value * 2], 2);
    else
        end[-1] = (char)('0' + value);
}

size_t pawl__decimal_from_int(int64_t value, char out[PAWL_DECIMAL_SIZE])
{
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    size_t len = digit_count(rest);

    if (value < 0)
        *out++ = '-';
    put_digits(out + len, rest);
    return len + (value < 0);
}

/* ---- shortest digits of a double -------------------------------------------------------- */

/* digits * 10^exponent */
struct scientific {
    uint64_t digits;
    int exponent;
};

/* floor(log2(10^e)) and floor(log10(2^e)), exact for all e that occur. */
static int floor_log2_pow10(int e)
{
    return (e * 1741647) >> 19;
}

static int floor_log10_pow2(int e)
{
    return (e * 1262611) >> 22;
}

/* floor(log10(3/4 * 2^e)) */
static int floor_log10_three_quarters_pow2(int e)
{
    return (e * 1262611 - 524031) >> 22;
}

/* The upper 64 bits of power * value / 2^64; the lowest bit is set when anything was cut off. */
static uint64_t scale_to_odd(const uint64_t power[2], uint64_t value)
{
    unsigned __int128 low = (unsigned __int128)power[1] * value;
    unsigned __int128 high = (unsigned __int128)power[0] * value + (uint64_t)(low >> 64);

    return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

/* `fraction` and `exponent` as they are in the double, which is neither 0 nor infinite. */
static struct scientific shortest(uint64_t fraction, int exponent)
{
    uint64_t c = exponent > 0 ? fraction | (UINT64_C(1) << 52) : fraction;
    int q = (exponent > 0 ? exponent : 1) - 1075;         /* the value is c * 2^q */
    bool lower_is_closer = fraction == 0 && exponent > 1; /* a power of two */
    uint64_t inward = c & 1; /* an odd one's bounds belong to its neighbours */
    uint64_t value, lower, upper, s;
    const uint64_t *power;
    int k, h;

    if (q <= 0 && q > -53 && (c & ((UINT64_C(1) << -q) - 1)) == 0)
        return (struct scientific){c >> -q, 0}; /* an integer below 2^53 */
    k = lower_is_closer ? floor_log10_three_quarters_pow2(q) : floor_log10_pow2(q);
    h = q + floor_log2_pow10(-k) + 1;
    power = power_of_ten[-k - POWER_FIRST];
    /* Four times the value and its bounds, so that a half is still an integer. */
    value = scale_to_odd(power, (4 * c) << h);
    lower = scale_to_odd(power, (4 * c - 2 + lower_is_closer) << h) + inward;
    upper = scale_to_odd(power, (4 * c + 2) << h) - inward;
    s = value / 4;
    if (s >= 10) { /* one digit less */
        uint64_t tens = s / 10;
        bool down = lower <= 40 * tens;
        bool up = 40 * tens + 40 <= upper;

        if (down != up)
            return (struct scientific){tens + up, k + 1};
    }
    bool down = lower <= 4 * s;
    bool up = 4 * s + 4 <= upper;

    if (down == up) /* both or neither: the nearer, and of two equally near the even */
        up = value > 4 * s + 2 || (value == 4 * s + 2 && (s & 1));
    return (struct scientific){s + up, k};
}

/* ---- layout ----------------------------------------------------------------------------- */

static size_t put_exponent(char *out, int exponent)
{
    unsigned rest = (unsigned)(exponent < 0 ? -exponent : exponent);
    size_t len = digit_count(rest);

    out[0] = 'e';
    out[1] = exponent < 0 ? '-' : '+';
    put_digits(out + 2 + len, rest);
    return 2 + len;
}

/* `number` has `count` digits; `point` is where the point goes, counted from the first digit. */
static size_t put_layout(char *out, struct scientific number, size_t count, int point)
{
    char digits[24];

    put_digits(digits + count, number.digits);
    if (point > 0 && point <= 21 && (size_t)point >= count) {
        memcpy(out, digits, count);
        memset(out + count, '0', (size_t)point - count);
        return (size_t)point;
    }
    if (point > 0 && point <= 21) {
        memcpy(out, digits, (size_t)point);
        out[point] = '.';
        memcpy(out + point + 1, digits + point, count - (size_t)point);
        return count + 1;
    }
    if (point > -6 && point <= 0) {
        memcpy(out, "0.00000", 7);
        memcpy(out + 2 - point, digits, count);
        return 2 + (size_t)-point + count;
    }
    out[0] = digits[0];
    if (count == 1)
        return 1 + put_exponent(out + 1, point - 1);
    out[1] = '.';
    memcpy(out + 2, digits + 1, count - 1);
    return count + 1 + put_exponent(out + count + 1, point - 1);
}

size_t pawl__decimal_from_double(double value, char out[PAWL_DECIMAL_SIZE])
{
    struct scientific number;
    uint64_t bits;
    size_t count;
    size_t sign;

    memcpy(&bits, &value, sizeof bits);
    if (!isfinite(value))
        return 0;
    sign = bits >> 63;
    if (sign)
        *out++ = '-';
    bits &= UINT64_C(0x7FFFFFFFFFFFFFFF);
    if (bits == 0) {
        *out = '0';
        return sign + 1;
    }
    number = shortest(bits & UINT64_C(0xFFFFFFFFFFFFF), (int)(bits >> 52));
    while (number.digits % 10 == 0) {
        number.digits /= 10;
        number.exponent++;
    }
    count = digit_count(number.digits);
    return sign + put_layout(out, number, count, (int)count + number.exponent);
}
