/* SPDX-License-Identifier: Apache-2.0 */
/* What filters get and where they are found. Their families are in filter_*.c. */
#ifndef PAWL_EXPRESSIONS_LIQUID_FILTERS_H
#define PAWL_EXPRESSIONS_LIQUID_FILTERS_H

#include "expressions/liquid/run.h"

/* One of the functions is there. */
struct liquid_filter {
    const char *name;
    /* Turns *io into the result. */
    int (*apply)(struct liquid_run *run, struct liquid_value *io, const struct liquid_args *args);
    /* Writes what becomes of a text; has no arguments. */
    void (*rewrite)(struct pawl_str text, struct pawl_buf *out);
    /* What becomes of a number; has no arguments. */
    struct pawl_net_decimal (*number)(struct pawl_net_decimal a);
    /* What becomes of a number and its argument. */
    int (*calculate)(struct liquid_run *run, struct pawl_net_decimal a, struct pawl_net_decimal b,
                     struct pawl_net_decimal *out);
};

struct liquid_filters {
    const struct liquid_filter *filters;
    size_t count;
};

extern const struct liquid_filters pawl__liquid_number_filters;
extern const struct liquid_filters pawl__liquid_string_filters;
extern const struct liquid_filters pawl__liquid_cut_filters;
extern const struct liquid_filters pawl__liquid_array_filters;
extern const struct liquid_filters pawl__liquid_sort_filters;
extern const struct liquid_filters pawl__liquid_web_filters;
extern const struct liquid_filters pawl__liquid_date_filters;
extern const struct liquid_filters pawl__liquid_format_filters;
extern const struct liquid_filters pawl__liquid_digest_filters;

/* NULL: there is none, and the value passes through. */
const struct liquid_filter *pawl__liquid_filter_find(struct pawl_str name);
/* Turns *io into the result. */
PAWL_MUST_CHECK int pawl__liquid_filter_apply(struct liquid_run *run,
                                              const struct liquid_filter *filter,
                                              struct liquid_value *io,
                                              const struct liquid_args *args);

#endif
