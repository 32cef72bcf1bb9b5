/* SPDX-License-Identifier: Apache-2.0 */
/* Filters that calculate. What is no number counts as 0, a text that reads as one as that. */
#include "expressions/liquid_filters.h"

static int overflow(struct liquid_run *run)
{
    return pawl__liquid_raise(run, "OverflowException",
                              "Value was either too large or too small for a Decimal.");
}

static int operands(struct liquid_run *run, const struct liquid_value *io,
                    const struct liquid_args *args, struct pawl_net_decimal *a,
                    struct pawl_net_decimal *b)
{
    struct liquid_value argument = pawl__liquid_arg(args, 0);
    int status = pawl__liquid_to_number(run, io, a);

    return status == PAWL_OK ? pawl__liquid_to_number(run, &argument, b) : status;
}

static int filter_abs(struct liquid_run *run, struct liquid_value *io,
                      const struct liquid_args *args)
{
    struct pawl_net_decimal a;
    int status = pawl__liquid_to_number(run, io, &a);

    (void)args;
    if (status != PAWL_OK)
        return status;
    a.negative = false;
    *io = pawl__liquid_decimal(a);
    return PAWL_OK;
}

static int filter_at_least(struct liquid_run *run, struct liquid_value *io,
                           const struct liquid_args *args)
{
    struct pawl_net_decimal a;
    struct pawl_net_decimal b;
    int status = operands(run, io, args, &a, &b);

    if (status == PAWL_OK)
        *io = pawl__liquid_decimal(pawl__liquid_compare_numbers(a, b) < 0 ? b : a);
    return status;
}

static int filter_at_most(struct liquid_run *run, struct liquid_value *io,
                          const struct liquid_args *args)
{
    struct pawl_net_decimal a;
    struct pawl_net_decimal b;
    int status = operands(run, io, args, &a, &b);

    if (status == PAWL_OK)
        *io = pawl__liquid_decimal(pawl__liquid_compare_numbers(a, b) > 0 ? b : a);
    return status;
}

static int filter_floor(struct liquid_run *run, struct liquid_value *io,
                        const struct liquid_args *args)
{
    struct pawl_net_decimal a;
    int status = pawl__liquid_to_number(run, io, &a);

    (void)args;
    if (status == PAWL_OK)
        *io = pawl__liquid_decimal(pawl__liquid_floor(a));
    return status;
}

static int filter_ceil(struct liquid_run *run, struct liquid_value *io,
                       const struct liquid_args *args)
{
    struct pawl_net_decimal a;
    int status = pawl__liquid_to_number(run, io, &a);

    (void)args;
    if (status == PAWL_OK)
        *io = pawl__liquid_decimal(pawl__liquid_negate(pawl__liquid_floor(pawl__liquid_negate(a))));
    return status;
}

static int filter_plus(struct liquid_run *run, struct liquid_value *io,
                       const struct liquid_args *args)
{
    struct pawl_net_decimal a;
    struct pawl_net_decimal b;
    int status = operands(run, io, args, &a, &b);

    if (status != PAWL_OK)
        return status;
    if (!pawl__liquid_add(a, b, &a))
        return overflow(run);
    *io = pawl__liquid_decimal(a);
    return PAWL_OK;
}

static int filter_minus(struct liquid_run *run, struct liquid_value *io,
                        const struct liquid_args *args)
{
    struct pawl_net_decimal a;
    struct pawl_net_decimal b;
    int status = operands(run, io, args, &a, &b);

    if (status != PAWL_OK)
        return status;
    if (!pawl__liquid_add(a, pawl__liquid_negate(b), &a))
        return overflow(run);
    *io = pawl__liquid_decimal(a);
    return PAWL_OK;
}

static int filter_times(struct liquid_run *run, struct liquid_value *io,
                        const struct liquid_args *args)
{
    struct pawl_net_decimal a;
    struct pawl_net_decimal b;
    int status = operands(run, io, args, &a, &b);

    if (status != PAWL_OK)
        return status;
    if (!pawl__liquid_multiply(a, b, &a))
        return overflow(run);
    *io = pawl__liquid_decimal(a);
    return PAWL_OK;
}

static int by_zero(struct liquid_run *run)
{
    return pawl__liquid_raise(run, "DivideByZeroException", "Attempted to divide by zero.");
}

/* By a whole number it is rounded down; 2.0 is not one. */
static int filter_divided_by(struct liquid_run *run, struct liquid_value *io,
                             const struct liquid_args *args)
{
    struct pawl_net_decimal a;
    struct pawl_net_decimal b;
    int status = operands(run, io, args, &a, &b);

    if (status != PAWL_OK)
        return status;
    if (b.digits == 0)
        return by_zero(run);
    if (!pawl__liquid_divide(a, b, &a))
        return overflow(run);
    *io = pawl__liquid_decimal(b.scale == 0 ? pawl__liquid_floor(a) : a);
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
    {"abs", filter_abs},     {"at_least", filter_at_least},     {"at_most", filter_at_most},
    {"ceil", filter_ceil},   {"divided_by", filter_divided_by}, {"floor", filter_floor},
    {"minus", filter_minus}, {"modulo", filter_modulo},         {"plus", filter_plus},
    {"round", filter_round}, {"times", filter_times},
};

const struct liquid_filters pawl__liquid_number_filters = {filters,
                                                           sizeof filters / sizeof *filters};
