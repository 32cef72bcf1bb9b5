/* SPDX-License-Identifier: Apache-2.0 */
/* The table of filters and how a name finds its function, and what families share. */
#include "expressions/liquid/filters.h"

const struct liquid_filter *pawl__liquid_filter_find(struct pawl_str name)
{
    static const struct liquid_filters *const families[] = {
        &pawl__liquid_number_filters, &pawl__liquid_string_filters, &pawl__liquid_cut_filters,
        &pawl__liquid_array_filters,  &pawl__liquid_sort_filters,   &pawl__liquid_web_filters,
        &pawl__liquid_date_filters,   &pawl__liquid_format_filters, &pawl__liquid_digest_filters,
    };

    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        for (size_t j = 0; j < families[i]->count; j++) {
            if (pawl__str_is(name, families[i]->filters[j].name))
                return &families[i]->filters[j];
        }
    }
    return NULL;
}

static int rewrite(struct liquid_run *run, const struct liquid_filter *filter,
                   struct liquid_value *io)
{
    struct pawl_str text;
    struct pawl_buf buf;
    int status = pawl__liquid_to_text(run, io, &text);

    if (status != PAWL_OK)
        return status;
    pawl__liquid_text_begin(run, &buf);
    filter->rewrite(text, &buf);
    return pawl__liquid_text_end(run, &buf, io);
}

static int calculate(struct liquid_run *run, const struct liquid_filter *filter,
                     struct liquid_value *io, const struct liquid_args *args)
{
    struct liquid_value argument = pawl__liquid_arg(args, 0);
    struct pawl_net_decimal a;
    struct pawl_net_decimal b;
    int status = pawl__liquid_to_number(run, io, &a);

    if (status == PAWL_OK && filter->number) {
        a = filter->number(a);
    } else if (status == PAWL_OK) {
        status = pawl__liquid_to_number(run, &argument, &b);
        if (status == PAWL_OK)
            status = filter->calculate(run, a, b, &a);
    }
    if (status == PAWL_OK)
        *io = pawl__liquid_decimal(a);
    return status;
}

int pawl__liquid_filter_apply(struct liquid_run *run, const struct liquid_filter *filter,
                              struct liquid_value *io, const struct liquid_args *args)
{
    if (filter->apply)
        return filter->apply(run, io, args);
    return filter->rewrite ? rewrite(run, filter, io) : calculate(run, filter, io, args);
}

struct liquid_value pawl__liquid_arg(const struct liquid_args *args, uint32_t index)
{
    return index < args->count ? args->values[index] : pawl__liquid_nil();
}

struct liquid_value pawl__liquid_arg_named(const struct liquid_args *args, const char *name)
{
    for (uint32_t i = 0; i < args->count; i++) {
        if (pawl__str_is(args->names[i], name))
            return args->values[i];
    }
    return pawl__liquid_nil();
}
