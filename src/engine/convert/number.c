/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Into booleans, numbers and enums. Numbers round half to even; what does not fit raises, always;
 * text that is no number fails.
 */
#include "engine/value/number.h"
#include "engine/convert/rules.h"

#include <math.h>

/* A number by the type it has: Elsa converts int, double and decimal differently. */
enum number_kind {
    NUMBER_INT,
    NUMBER_DOUBLE,
    NUMBER_DECIMAL,
};

struct number {
    enum number_kind kind;
    bool single;
    int64_t integer;
    double real;
    struct pawl_net_decimal decimal;
};

static bool read_number(const struct pawl_value *value, struct number *out)
{
    enum pawl_type_kind kind = value->type->kind;

    *out = (struct number){.kind = NUMBER_INT, .single = kind == PAWL_TYPE_SINGLE};
    if (kind == PAWL_TYPE_BOOLEAN) {
        out->integer = pawl__json_true(&value->json);
        return true;
    }
    if (kind == PAWL_TYPE_ENUM) {
        struct pawl_str name = pawl__json_str(&value->json);

        return pawl__type_enum_number(value->type, name, &out->integer) ||
               pawl__number_parse_int(name, &out->integer) == PAWL_OK;
    }
    if (pawl__type_is_integer(value->type))
        return pawl__json_to_int(&value->json, &out->integer);
    if (kind == PAWL_TYPE_DECIMAL) {
        out->kind = NUMBER_DECIMAL;
        return pawl__net_decimal_from_json(&value->json, &out->decimal);
    }
    out->kind = NUMBER_DOUBLE;
    return (kind == PAWL_TYPE_SINGLE || kind == PAWL_TYPE_DOUBLE) &&
           pawl__json_to_double(&value->json, &out->real);
}

static int number_value(int64_t integer, const struct pawl_type *type, struct pawl_value *out)
{
    *out = (struct pawl_value){.json = pawl__json_int(integer), .type = type};
    return PAWL_OK;
}

/* ---- integers ---------------------------------------------------------------------------- */

static unsigned bits_of(const struct pawl_type *type)
{
    return type->kind == PAWL_TYPE_INT16 ? 16 : type->kind == PAWL_TYPE_INT32 ? 32 : 64;
}

static bool fits(int64_t value, unsigned bits)
{
    int64_t most = bits == 64 ? INT64_MAX : (INT64_C(1) << (bits - 1)) - 1;

    return value <= most && value >= -most - 1;
}

static int overflow(struct pawl_converting *c, unsigned bits)
{
    return pawl__convert_raise(c, "OverflowException",
                               "Value was either too large or too small for an Int%u.", bits);
}

static int integer_or_overflow(struct pawl_converting *c, int64_t integer,
                               const struct pawl_type *target, struct pawl_value *out)
{
    if (!fits(integer, bits_of(target)))
        return overflow(c, bits_of(target));
    return number_value(integer, target, out);
}

/* 16 and 32 bits go by 32, as the messages show. */
static int double_to_integer(struct pawl_converting *c, double value,
                             const struct pawl_type *target, struct pawl_value *out)
{
    bool wide = bits_of(target) == 64;
    int64_t integer;

    if (!pawl__number_double_to_int(value, &integer))
        return wide ? pawl__convert_raise(c, "OverflowException",
                                          "Arithmetic operation resulted in an overflow.")
                    : overflow(c, 32);
    if (!wide && !fits(integer, 32))
        return overflow(c, 32);
    return integer_or_overflow(c, integer, target, out);
}

/* `0x1F`, `&h1F` and `#1F`: the digits, or "" when it is not of this form. */
static struct pawl_str hex_part(struct pawl_str text)
{
    text = pawl__str_trim(text);
    if (pawl__str_starts(text, pawl__str("#")))
        return pawl__str_slice(text, 1, text.len);
    if (text.len > 2 && ((text.ptr[0] == '0' && (text.ptr[1] == 'x' || text.ptr[1] == 'X')) ||
                         (text.ptr[0] == '&' && (text.ptr[1] == 'h' || text.ptr[1] == 'H'))))
        return pawl__str_slice(text, 2, text.len);
    return pawl__str("");
}

static int text_to_integer(struct pawl_converting *c, struct pawl_str text,
                           const struct pawl_type *target, struct pawl_value *out)
{
    unsigned bits = bits_of(target);
    int64_t integer;
    int status;

    if (pawl__number_parse_hex(hex_part(text), bits, &integer))
        return number_value(integer, target, out);
    status = pawl__number_parse_int(text, &integer);
    if (status == PAWL_EPARSE)
        return CONVERT_FAILED;
    if (status == PAWL_ELIMIT)
        return overflow(c, bits);
    return integer_or_overflow(c, integer, target, out);
}

int pawl__convert_to_integer(struct pawl_converting *c, struct pawl_value value,
                             const struct pawl_type *target, struct pawl_value *out)
{
    struct number number;
    int64_t integer;

    if (value.type->kind == PAWL_TYPE_STRING)
        return text_to_integer(c, pawl__json_str(&value.json), target, out);
    if (!read_number(&value, &number))
        return CONVERT_FAILED;
    if (number.kind == NUMBER_DOUBLE)
        return double_to_integer(c, number.real, target, out);
    integer = number.integer;
    if (number.kind == NUMBER_DECIMAL && !pawl__net_decimal_to_int(&number.decimal, &integer))
        return overflow(c, bits_of(target));
    return integer_or_overflow(c, integer, target, out);
}

/* ---- Single, Double ---------------------------------------------------------------------- */

static bool named_number(struct pawl_str text, double *out)
{
    static const struct {
        const char *name;
        double value;
    } names[] = {
        {"NaN", NAN}, {"Infinity", HUGE_VAL}, {"+Infinity", HUGE_VAL}, {"-Infinity", -HUGE_VAL}};

    text = pawl__str_trim(text);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (pawl__str_equal_nocase(text, pawl__str(names[i].name))) {
            *out = names[i].value;
            return true;
        }
    }
    return false;
}

static int text_to_double(struct pawl_converting *c, struct pawl_str text, double *out)
{
    struct pawl_number_text scanned;

    if (named_number(text, out))
        return PAWL_OK;
    if (!pawl__number_scan(text, PAWL_NUMBER_GROUPS, &scanned))
        return CONVERT_FAILED;
    return pawl__number_to_double(c->arena, &scanned, out);
}

static int number_to_double(struct pawl_converting *c, const struct pawl_value *value, double *out)
{
    struct number number;
    struct pawl_number_text scanned;
    char text[PAWL_NET_DECIMAL_TEXT_SIZE];
    size_t len;

    if (!read_number(value, &number))
        return CONVERT_FAILED;
    *out = number.kind == NUMBER_INT ? (double)number.integer : number.real;
    if (number.kind != NUMBER_DECIMAL)
        return PAWL_OK;
    len = pawl__net_decimal_format(&number.decimal, text);
    if (!pawl__number_scan(pawl__str_make(text, len), PAWL_NUMBER_FLOAT, &scanned))
        return CONVERT_FAILED;
    return pawl__number_to_double(c->arena, &scanned, out);
}

int pawl__convert_to_binary(struct pawl_converting *c, struct pawl_value value,
                            const struct pawl_type *target, struct pawl_value *out)
{
    double real = 0;
    int status = value.type->kind == PAWL_TYPE_STRING
                     ? text_to_double(c, pawl__json_str(&value.json), &real)
                     : number_to_double(c, &value, &real);

    if (status != PAWL_OK)
        return status;
    if (target->kind == PAWL_TYPE_SINGLE)
        real = pawl__number_round_single(real);
    *out = (struct pawl_value){.json = pawl__json_double(real), .type = target};
    return PAWL_OK;
}

/* ---- Decimal ----------------------------------------------------------------------------- */

static int decimal_value(struct pawl_converting *c, const struct pawl_net_decimal *decimal,
                         struct pawl_value *out)
{
    struct pawl_value value = {.type = &pawl__type_decimal};
    char text[PAWL_NET_DECIMAL_TEXT_SIZE];
    size_t len = pawl__net_decimal_format(decimal, text);
    int status = pawl__json_number(c->arena, pawl__str_make(text, len), &value.json);

    if (status == PAWL_OK)
        *out = value;
    return status;
}

static int decimal_overflow(struct pawl_converting *c)
{
    return pawl__convert_raise(c, "OverflowException",
                               "Value was either too large or too small for a Decimal.");
}

int pawl__convert_to_decimal(struct pawl_converting *c, struct pawl_value value,
                             const struct pawl_type *target, struct pawl_value *out)
{
    struct pawl_net_decimal decimal;
    struct pawl_number_text scanned;
    struct number number;

    (void)target;
    if (value.type->kind == PAWL_TYPE_STRING) {
        struct pawl_str text = pawl__json_str(&value.json);

        if (!pawl__number_scan(text, PAWL_NUMBER_FLOAT, &scanned) &&
            !pawl__number_scan(text, PAWL_NUMBER_AMOUNT, &scanned))
            return CONVERT_FAILED;
        if (!pawl__net_decimal_from_text(&scanned, &decimal))
            /* With an exponent only the converter reads it, and its refusal is a format error. */
            return scanned.exponent != 0 ? CONVERT_FAILED : decimal_overflow(c);
        return decimal_value(c, &decimal, out);
    }
    if (!read_number(&value, &number))
        return CONVERT_FAILED;
    if (number.kind == NUMBER_INT)
        return number_value(number.integer, &pawl__type_decimal, out);
    decimal = number.decimal;
    if (number.kind == NUMBER_DOUBLE &&
        !pawl__net_decimal_from_double(number.real, number.single ? 7 : 15, &decimal))
        return decimal_overflow(c);
    return decimal_value(c, &decimal, out);
}

/* ---- Boolean ----------------------------------------------------------------------------- */

int pawl__convert_to_boolean(struct pawl_converting *c, struct pawl_value value,
                             const struct pawl_type *target, struct pawl_value *out)
{
    struct number number;
    bool truth;

    (void)c;
    (void)target;
    if (value.type->kind == PAWL_TYPE_STRING) {
        struct pawl_str text = pawl__str_trim(pawl__json_str(&value.json));

        truth = pawl__str_equal_nocase(text, pawl__str("true"));
        if (!truth && !pawl__str_equal_nocase(text, pawl__str("false")))
            return CONVERT_FAILED;
    } else {
        if (!read_number(&value, &number))
            return CONVERT_FAILED;
        truth = number.kind == NUMBER_INT      ? number.integer != 0
                : number.kind == NUMBER_DOUBLE ? number.real != 0
                                               : number.decimal.digits != 0;
    }
    *out = pawl__value_bool(truth);
    return PAWL_OK;
}

/* ---- enums ------------------------------------------------------------------------------- */

static int enum_value(struct pawl_converting *c, int64_t number, const struct pawl_type *target,
                      struct pawl_value *out)
{
    const char *name = pawl__type_enum_name(target, number);

    if (!name)
        name = pawl__arena_printf(c->arena, "%lld", (long long)number);
    if (!name)
        return c->arena->status;
    *out = (struct pawl_value){.json = pawl__json_string(pawl__str(name)), .type = target};
    return PAWL_OK;
}

/* Names, or one number, or several names with commas, whose numbers are combined. */
static int text_to_enum(struct pawl_converting *c, struct pawl_str text,
                        const struct pawl_type *target, struct pawl_value *out)
{
    int64_t number = 0;
    size_t from = 0;
    int status = pawl__number_parse_int(text, &number);

    if (status == PAWL_OK)
        return fits(number, 32) ? enum_value(c, number, target, out) : overflow(c, 32);
    if (pawl__str_trim(text).len == 0)
        return pawl__convert_raise(c, "ArgumentException",
                                   "Must specify valid information for parsing in the string. "
                                   "(Parameter 'value')");
    while (from <= text.len) {
        size_t comma = pawl__str_find(text, ',', from);
        size_t end = comma == SIZE_MAX ? text.len : comma;
        int64_t member = 0;

        if (!pawl__type_enum_number(target, pawl__str_trim(pawl__str_slice(text, from, end)),
                                    &member))
            return pawl__convert_raise(c, "ArgumentException",
                                       "Requested value '%.*s' was not found.", PAWL_STR_ARG(text));
        number |= member;
        from = end + 1;
    }
    return enum_value(c, number, target, out);
}

int pawl__convert_to_enum(struct pawl_converting *c, struct pawl_value value,
                          const struct pawl_type *target, struct pawl_value *out)
{
    struct pawl_value number = pawl__value_null();
    int64_t member = 0;
    int status;

    if (value.type->kind == PAWL_TYPE_STRING)
        return text_to_enum(c, pawl__json_str(&value.json), target, out);
    /* A decimal, which is what a literal is, selects nothing. */
    if (!pawl__type_is_integer(value.type) && value.type->kind != PAWL_TYPE_DOUBLE)
        return CONVERT_FAILED;
    status = pawl__convert_to_integer(c, value, &pawl__type_int32, &number);
    if (status != PAWL_OK)
        return status;
    return pawl__json_to_int(&number.json, &member) ? enum_value(c, member, target, out)
                                                    : CONVERT_FAILED;
}
