/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic of the platform's decimal: 96 bits of digits, up to 28 of them behind the point,
 * rounded half to even where a result has more.
 *
 * Intermediate results have up to 192 bits, kept in six limbs of 32 bits, lowest first.
 */
#include "expressions/liquid/value.h"

#define SCALE_MAX 28u
#define LIMBS 6

struct wide {
    uint32_t limb[LIMBS];
};

static struct wide widen(unsigned __int128 value)
{
    struct wide out = {{(uint32_t)value, (uint32_t)(value >> 32), (uint32_t)(value >> 64),
                        (uint32_t)(value >> 96), 0, 0}};

    return out;
}

static unsigned __int128 narrow(const struct wide *a)
{
    return (unsigned __int128)a->limb[2] << 64 | (uint64_t)a->limb[1] << 32 | a->limb[0];
}

static bool fits(const struct wide *a)
{
    return !(a->limb[3] | a->limb[4] | a->limb[5]);
}

/* a * factor + carry */
static void scale_up(struct wide *a, uint32_t factor, uint32_t carry)
{
    for (int i = 0; i < LIMBS; i++) {
        uint64_t part = (uint64_t)a->limb[i] * factor + carry;

        a->limb[i] = (uint32_t)part;
        carry = (uint32_t)(part >> 32);
    }
}

/* Divides by `divisor` and returns the remainder. */
static uint32_t scale_down(struct wide *a, uint32_t divisor)
{
    uint64_t rest = 0;

    for (int i = LIMBS - 1; i >= 0; i--) {
        uint64_t part = rest << 32 | a->limb[i];

        a->limb[i] = (uint32_t)(part / divisor);
        rest = part % divisor;
    }
    return (uint32_t)rest;
}

static void wide_add(struct wide *a, const struct wide *b)
{
    uint64_t carry = 0;

    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)a->limb[i] + b->limb[i];
        a->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

/* a - b, where a is not smaller. */
static void wide_subtract(struct wide *a, const struct wide *b)
{
    int64_t borrow = 0;

    for (int i = 0; i < LIMBS; i++) {
        borrow += (int64_t)a->limb[i] - b->limb[i];
        a->limb[i] = (uint32_t)borrow;
        borrow >>= 32;
    }
}

static int wide_compare(const struct wide *a, const struct wide *b)
{
    for (int i = LIMBS - 1; i >= 0; i--) {
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    }
    return 0;
}

/* Takes digits off the end until it fits; once, half to even, over all that was taken off. */
static bool round_to_fit(struct wide a, unsigned scale, bool negative, struct pawl_net_decimal *out)
{
    bool sticky = false;
    uint32_t digit = 0;

    while (!fits(&a) || scale > SCALE_MAX) {
        if (scale == 0)
            return false;
        sticky |= digit != 0;
        digit = scale_down(&a, 10);
        scale--;
    }
    if (digit > 5 || (digit == 5 && (sticky || (a.limb[0] & 1)))) {
        scale_up(&a, 1, 1);
        if (!fits(&a)) /* all nines */
            return round_to_fit(a, scale, negative, out);
    }
    *out = (struct pawl_net_decimal){.digits = narrow(&a), .scale = scale, .negative = negative};
    return true;
}

static struct wide aligned(struct pawl_net_decimal a, unsigned scale)
{
    struct wide out = widen(a.digits);

    for (; a.scale < scale; a.scale++)
        scale_up(&out, 10, 0);
    return out;
}

bool pawl__liquid_add(struct pawl_net_decimal a, struct pawl_net_decimal b,
                      struct pawl_net_decimal *out)
{
    unsigned scale = a.scale > b.scale ? a.scale : b.scale;
    struct wide left = aligned(a, scale);
    struct wide right = aligned(b, scale);

    if (a.negative == b.negative) {
        wide_add(&left, &right);
        return round_to_fit(left, scale, a.negative, out);
    }
    if (wide_compare(&left, &right) >= 0) {
        wide_subtract(&left, &right);
        return round_to_fit(left, scale, a.negative, out);
    }
    wide_subtract(&right, &left);
    return round_to_fit(right, scale, b.negative, out);
}

bool pawl__liquid_multiply(struct pawl_net_decimal a, struct pawl_net_decimal b,
                           struct pawl_net_decimal *out)
{
    struct wide product = {{0}};
    struct wide left = widen(a.digits);

    for (int i = 2; i >= 0; i--) {
        struct wide part = left;

        for (int limb = LIMBS - 1; limb > 0; limb--)
            product.limb[limb] = product.limb[limb - 1];
        product.limb[0] = 0;
        scale_up(&part, (uint32_t)(b.digits >> (32 * i)), 0);
        wide_add(&product, &part);
    }
    return round_to_fit(product, a.scale + b.scale, a.negative != b.negative, out);
}

/* Long division bit by bit: *rest, which is neither of the others, keeps the remainder. */
static struct wide wide_divide(const struct wide *a, const struct wide *b, struct wide *rest)
{
    struct wide quotient = {{0}};

    *rest = (struct wide){{0}};
    for (int bit = LIMBS * 32 - 1; bit >= 0; bit--) {
        scale_up(rest, 2, a->limb[bit / 32] >> (bit % 32) & 1);
        scale_up(&quotient, 2, 0);
        if (wide_compare(rest, b) >= 0) {
            wide_subtract(rest, b);
            quotient.limb[0] |= 1;
        }
    }
    return quotient;
}

/*
 * As many digits as fit, then zeros off the end down to the scale that the operands give. The
 * quotient of 1 / 3.0 has 28 threes, 7.50 / 2 is 3.75, 10.00 / 2 is 5.00.
 */
bool pawl__liquid_divide(struct pawl_net_decimal a, struct pawl_net_decimal b,
                         struct pawl_net_decimal *out)
{
    unsigned least = a.scale > b.scale ? a.scale - b.scale : 0;
    struct wide divisor = widen(b.digits);
    struct wide dividend = aligned(a, b.scale);
    struct wide rest;
    struct wide quotient = wide_divide(&dividend, &divisor, &rest);
    unsigned scale = least;

    if (!fits(&quotient))
        return false;
    /* One digit more than fits decides on rounding, with what is left as the sticky part. */
    while (wide_compare(&rest, &(struct wide){{0}}) != 0 && fits(&quotient) && scale <= SCALE_MAX) {
        struct wide digit = rest;

        scale_up(&digit, 10, 0);
        digit = wide_divide(&digit, &divisor, &rest);
        scale_up(&quotient, 10, digit.limb[0]);
        scale++;
    }
    if (wide_compare(&rest, &(struct wide){{0}}) != 0) {
        /* Not exactly half: a digit behind the last keeps round_to_fit() from taking it for that.
         */
        scale_up(&quotient, 10, 1);
        scale++;
    }
    while (scale > least) {
        struct wide shorter = quotient;

        if (scale_down(&shorter, 10) != 0)
            break;
        quotient = shorter;
        scale--;
    }
    return round_to_fit(quotient, scale, a.negative != b.negative, out);
}

struct pawl_net_decimal pawl__liquid_negate(struct pawl_net_decimal a)
{
    a.negative = !a.negative;
    return a;
}

struct pawl_net_decimal pawl__liquid_round(struct pawl_net_decimal a, unsigned digits)
{
    struct wide value = widen(a.digits);
    bool sticky = false;
    uint32_t digit = 0;

    while (a.scale > digits) {
        sticky |= digit != 0;
        digit = scale_down(&value, 10);
        a.scale--;
    }
    if (digit > 5 || (digit == 5 && (sticky || (value.limb[0] & 1))))
        scale_up(&value, 1, 1);
    a.digits = narrow(&value);
    return a;
}

struct pawl_net_decimal pawl__liquid_floor(struct pawl_net_decimal a)
{
    struct wide value = widen(a.digits);
    bool lost = false;

    for (; a.scale > 0; a.scale--)
        lost |= scale_down(&value, 10) != 0;
    if (lost && a.negative)
        scale_up(&value, 1, 1);
    a.digits = narrow(&value);
    return a;
}

int pawl__liquid_compare_numbers(struct pawl_net_decimal a, struct pawl_net_decimal b)
{
    unsigned scale = a.scale > b.scale ? a.scale : b.scale;
    struct wide left = aligned(a, scale);
    struct wide right = aligned(b, scale);
    int order = wide_compare(&left, &right);

    if (a.digits == 0 && b.digits == 0)
        return 0;
    if (a.negative != b.negative)
        return a.negative ? -1 : 1;
    return a.negative ? -order : order;
}

/* Without the zeros at the end; with an exponent from 0.00001 down, as the format G29 has it. */
static void print_shortest(struct pawl_buf *out, struct pawl_net_decimal a)
{
    char text[PAWL_NET_DECIMAL_TEXT_SIZE];
    char digits[PAWL_NET_DECIMAL_TEXT_SIZE];
    struct pawl_net_decimal whole;
    unsigned count;

    while (a.scale > 0 && a.digits % 10 == 0) {
        a.digits /= 10;
        a.scale--;
    }
    whole = a;
    whole.scale = 0;
    whole.negative = false;
    count = (unsigned)pawl__net_decimal_format(&whole, digits);
    if (count + 4 > a.scale) {
        pawl__buf_append(out, text, pawl__net_decimal_format(&a, text));
        return;
    }
    pawl__buf_text(out, a.negative ? "-" : "");
    pawl__buf_byte(out, digits[0]);
    if (count > 1)
        pawl__buf_byte(out, '.');
    pawl__buf_append(out, digits + 1, count - 1);
    pawl__buf_printf(out, "E-%02u", a.scale - count + 1);
}

void pawl__liquid_print_number(struct pawl_buf *out, struct pawl_net_decimal a)
{
    char text[PAWL_NET_DECIMAL_TEXT_SIZE];
    struct pawl_net_decimal whole = pawl__liquid_floor(a);

    if (a.scale > 0 && pawl__liquid_compare_numbers(whole, a) != 0) {
        print_shortest(out, a);
        return;
    }
    if (a.digits == 0)
        whole.negative = false;
    pawl__buf_append(out, text, pawl__net_decimal_format(&whole, text));
    if (a.scale > 0)
        pawl__buf_text(out, ".0");
}
