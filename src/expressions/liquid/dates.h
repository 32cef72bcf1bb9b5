/* SPDX-License-Identifier: Apache-2.0 */
/* What the filters of dates share. */
#ifndef PAWL_EXPRESSIONS_LIQUID_DATES_H
#define PAWL_EXPRESSIONS_LIQUID_DATES_H

#include "expressions/liquid/run.h"

extern const char *const pawl__liquid_months[12];
extern const char *const pawl__liquid_days[7]; /* from Sunday */

/* The time that a value denotes; false: none. */
bool pawl__liquid_to_date(struct liquid_run *run, const struct liquid_value *value,
                          struct pawl_datetime *out);

/*
 * The moment of a filter's value and the text of its argument. When one of them is missing *io is
 * nil and *there is false.
 */
PAWL_MUST_CHECK int pawl__liquid_date_and_text(struct liquid_run *run, struct liquid_value *io,
                                               const struct liquid_args *args,
                                               struct pawl_datetime *date, struct pawl_str *text,
                                               bool *there);

#endif
