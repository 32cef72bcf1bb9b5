/* SPDX-License-Identifier: Apache-2.0 */
/* The table of filters and how a name finds its function. */
#include "expressions/liquid_filters.h"

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
