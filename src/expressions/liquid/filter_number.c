/* SPDX-License-Identifier: Apache-2.0 */
/* Filters that calculate. What is no number counts as 0, a text that reads as one as that. */
#include "expressions/liquid/filters.h"

static int overflow(struct liquid_run *run)
{
    return pawl__liquid_raise(run, "OverflowException",
                              "Value was either too large or too small for a Decimal.");
}

static struct pawl_net_decimal absolute(struct pawl_net_decimal a)
{
    a.negative = false;
    return a;
}

static struct pawl_net_decimal ceiling(struct pawl_net_decimal a)
{
    return pawl__liquid_negate(pawl__liquid_floor(pawl__liquid_negate(a)));
}

static int at_least(struct liquid_run *run, struct pawl_net_decimal a, struct pawl_net_decimal b,
                    struct pawl_net_decimal *out)
{
    (void)run;
    *out = pawl__liquid_compare_numbers(a, b) < 0 ? b : a;
    return PAWL_OK;
}

static int at_most(struct liquid_run *run, struct pawl_net_decimal a, struct pawl_net_decimal b,
                   struct pawl_net_decimal *out)
{
    (void)run;
    *out = pawl__liquid_compare_numbers(a, b) > 0 ? b : a;
    return PAWL_OK;
}

static int plus(struct liquid_run *run, struct pawl_net_decimal a, struct pawl_net_decimal b,
                struct pawl_net_decimal *out)
{
    return pawl__liquid_add(a, b, out) ? PAWL_OK : overflow(run);
}

static int minus(struct liquid_run *run, struct pawl_net_decimal a, struct pawl_net_decimal b,
                 struct pawl_net_decimal *out)
{
    return pawl__liquid_add(a, pawl__liquid_negate(b), out) ? PAWL_OK : overflow(run);
}

static int times(struct liquid_run *run, struct pawl_net_decimal a, struct pawl_net_decimal b,
                 struct pawl_net_decimal *out)
{
    return pawl__liquid_multiply(a, b, out) ? PAWL_OK : overflow(run);
}

static int by_zero(struct liquid_run *run)
{
    return pawl__liquid_raise(run, "DivideByZeroException", "Attempted to divide by zero.");
}

/* By a whole number it is rounded down; 2.0 is not one. */
static int divided_by(struct liquid_run *run, struct pawl_net_decimal a, struct pawl_net_decimal b,
                      struct pawl_net_decimal *out)
{
    if (b.digits == 0)
        return by_zero(run);
    if (!pawl__liquid_divide(a, b, &a))
        return overflow(run);
    *out = b.scale == 0 ? pawl__liquid_floor(a) : a;
    return PAWL_OK;
}

/* Of whole numbers: both are rounded first, halves to even, so that 1.5 modulo 3 is 2. */
static int filter_modulo(struct liquid_run *run, struct liquid_value *io,
                         const struct liquid_args *args)
{
    struct liquid_value argument = pawl__liquid_arg(args, 0);
    int32_t a = 0;
    int32_t b = 0;
    int status = pawl__liquid_to_int(run, io, &a);

    if (status == PAWL_OK)
        status = pawl__liquid_to_int(run, &argument, &b);
    if (status != PAWL_OK)
        return status;
    if (b == 0)
        return by_zero(run);
    *io = pawl__liquid_int((int64_t)a % b);
    return PAWL_OK;
}

static int filter_round(struct liquid_run *run, struct liquid_value *io,
                        const struct liquid_args *args)
{
    struct liquid_value argument = pawl__liquid_arg(args, 0);
    struct pawl_net_decimal a;
    int32_t digits = 0;
    int status = pawl__liquid_to_number(run, io, &a);

    if (status == PAWL_OK)
        status = pawl__liquid_to_int(run, &argument, &digits);
    if (status != PAWL_OK)
        return status;
    if (digits < 0 || digits > 28)
        return pawl__liquid_raise(run, "ArgumentOutOfRangeException",
                                  "Decimal can only round to between 0 and 28 digits of precision. "
                                  "(Parameter 'decimals')");
    *io = pawl__liquid_decimal(pawl__liquid_round(a, (unsigned)digits));
    return PAWL_OK;
}

static const struct liquid_filter filters[] = {
    {"abs", .number = absolute},
    {"at_least", .calculate = at_least},
    {"at_most", .calculate = at_most},
    {"ceil", .number = ceiling},
    {"divided_by", .calculate = divided_by},
    {"floor", .number = pawl__liquid_floor},
    {"minus", .calculate = minus},
    {"modulo", .apply = filter_modulo},
    {"plus", .calculate = plus},
    {"round", .apply = filter_round},
    {"times", .calculate = times},
};

const struct liquid_filters pawl__liquid_number_filters = {filters,
                                                           sizeof filters / sizeof *filters};
