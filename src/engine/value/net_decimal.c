/* SPDX-License-Identifier: Apache-2.0 */
/* The 96-bit decimal; see number.h. Only what conversion needs: no arithmetic. */
#include "base/decimal.h"
#include "engine/value/number.h"
#include "engine/value/number_digits.h"

#define SCALE_MAX 28

static unsigned __int128 digits_max(void)
{
    return ((unsigned __int128)1 << 96) - 1;
}

/* What is left of a number once its digits no longer fit: how it compares to one half. */
struct remainder {
    bool any;      /* a digit was dropped */
    unsigned head; /* the first dropped digit */
    bool tail;     /* a later one is not zero */
};

static void drop_digit(struct remainder *rest, unsigned digit)
{
    if (rest->any)
        rest->tail = rest->tail || digit != 0;
    else
        rest->head = digit;
    rest->any = true;
}

/* Drops the last digit that was kept. */
static void drop_last(struct pawl_net_decimal *value, struct remainder *rest)
{
    rest->tail = rest->tail || (rest->any && rest->head != 0);
    rest->head = (unsigned)(value->digits % 10);
    rest->any = true;
    value->digits /= 10;
}

/* Rounds up where the remainder says so; false when that does not fit. */
static bool round_up(struct pawl_net_decimal *value, const struct remainder *rest)
{
    if (!rest->any || rest->head < 5 || (rest->head == 5 && !rest->tail && value->digits % 2 == 0))
        return true;
    if (value->digits < digits_max()) {
        value->digits++;
        return true;
    }
    if (value->scale == 0)
        return false;
    /* ...335 + 1: one digit less, which rounds up to ...34. */
    value->digits = value->digits / 10 + 1;
    value->scale--;
    return true;
}

/* Brings 10^exponent * digits into range: exponent becomes 0 or a scale. */
static bool apply_exponent(struct pawl_net_decimal *value, int64_t exponent, struct remainder *rest)
{
    if (value->digits == 0 && exponent > 0)
        exponent = 0;
    for (; exponent > 0; exponent--) {
        if (value->digits > digits_max() / 10 || rest->any)
            return false;
        value->digits *= 10;
    }
    for (; exponent < -SCALE_MAX; exponent++) {
        if (value->digits == 0 && exponent < -2 * SCALE_MAX)
            exponent = -SCALE_MAX - 1;
        drop_last(value, rest);
    }
    value->scale = (unsigned)-exponent;
    return true;
}

bool pawl__net_decimal_from_text(const struct pawl_number_text *text, struct pawl_net_decimal *out)
{
    struct pawl_net_decimal value = {.negative = text->negative};
    struct remainder rest = {.any = false};
    int64_t exponent = text->exponent;
    bool point = false;

    for (size_t i = 0; i < text->digits.len; i++) {
        char c = text->digits.ptr[i];
        unsigned digit = (unsigned)(c - '0');

        if (c == '.')
            point = true;
        if (c < '0' || c > '9')
            continue;
        if (rest.any || value.digits > (digits_max() - digit) / 10) {
            drop_digit(&rest, digit);
            exponent += !point;
        } else {
            value.digits = value.digits * 10 + digit;
            exponent -= point;
        }
    }
    if (!apply_exponent(&value, exponent, &rest) || !round_up(&value, &rest))
        return false;
    *out = value;
    return true;
}

bool pawl__net_decimal_from_json(const struct pawl_json *json, struct pawl_net_decimal *out)
{
    struct pawl_number_text scanned;
    char room[PAWL_DECIMAL_SIZE];
    struct pawl_str text;
    int64_t integer;
    double real;

    if (pawl__json_is(json, PAWL_JSON_NUMBER)) {
        text = pawl__str_make(json->u.text, json->len);
    } else if (pawl__json_is(json, PAWL_JSON_INT) && pawl__json_to_int(json, &integer)) {
        text = pawl__str_make(room, pawl__decimal_from_int(integer, room));
    } else {
        if (!pawl__json_to_double(json, &real))
            return false;
        text = pawl__str_make(room, pawl__decimal_from_double(real, room));
    }
    return pawl__number_scan(text, PAWL_NUMBER_FLOAT, &scanned) &&
           pawl__net_decimal_from_text(&scanned, out);
}

bool pawl__net_decimal_from_double(double value, int digits, struct pawl_net_decimal *out)
{
    struct pawl_number_text text = {.negative = false};
    struct pawl_digits found;

    if (value - value != 0) /* not finite */
        return false;
    pawl__number_digits(value, &found);
    pawl__number_round_digits(&found, (size_t)digits);
    text.negative = found.negative && found.len > 0;
    text.digits = found.len ? pawl__str_make(found.text, found.len) : pawl__str("0");
    text.exponent = found.len ? found.scale - (int)found.len : 0;
    return pawl__net_decimal_from_text(&text, out);
}

bool pawl__net_decimal_to_int(const struct pawl_net_decimal *value, int64_t *out)
{
    struct pawl_net_decimal whole = *value;
    struct remainder rest = {.any = false};

    for (; whole.scale > 0; whole.scale--)
        drop_last(&whole, &rest);
    if (!round_up(&whole, &rest) || whole.digits > (uint64_t)INT64_MAX + whole.negative)
        return false;
    *out = whole.negative ? (int64_t)(0 - (uint64_t)whole.digits) : (int64_t)whole.digits;
    return true;
}

size_t pawl__net_decimal_format(const struct pawl_net_decimal *value,
                                char out[PAWL_NET_DECIMAL_TEXT_SIZE])
{
    char reversed[PAWL_NET_DECIMAL_TEXT_SIZE];
    unsigned __int128 digits = value->digits;
    size_t count = 0;
    size_t len = 0;

    for (unsigned place = 0; digits > 0 || place <= value->scale; place++) {
        if (place == value->scale && place > 0)
            reversed[count++] = '.';
        reversed[count++] = (char)('0' + (int)(digits % 10));
        digits /= 10;
    }
    if (value->negative && value->digits != 0)
        out[len++] = '-';
    while (count > 0)
        out[len++] = reversed[--count];
    out[len] = '\0';
    return len;
}
