/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lengths of time as .NET's TimeSpan: an int64 of ticks of 100 ns, negative ones too. The ticks per
 * unit are in "base/time/datetime.h".
 *
 * Text that has no such form is PAWL_EPARSE; text of the right form whose numbers are too large is
 * PAWL_ELIMIT, because .NET distinguishes these two (FormatException, OverflowException) and Elsa's
 * conversion rules with it.
 */
#ifndef PAWL_BASE_TIME_DURATION_H
#define PAWL_BASE_TIME_DURATION_H

#include "base/str.h"
#include "base/time/datetime.h"

#include <pawl/error.h>

/* The longest text of either form and a NUL: -10675199.02:48:05.4775808 */
#define PAWL_DURATION_TEXT_SIZE 27

/*
 * Reads the constant form, and nothing else: [-][d.]hh:mm:ss[.f{1,7}]
 * This is what Elsa writes into JSON.
 */
PAWL_MUST_CHECK int pawl__duration_parse_constant(struct pawl_str text, int64_t *ticks,
                                                  struct pawl_error *err);

/*
 * Reads what .NET's TimeSpan.Parse reads with the invariant culture: white space around, a minus
 * sign, and
 *
 *     d   h:m   h:m:s   d.h:m   h:m:.f   h:m:s.f   d.h:m:s   d.h:m:.f   d.h:m:s.f
 *
 * with any number of digits, and ':' in place of the '.' behind the days where the number of
 * parts allows it. Two things surprise: a single number is days, and "24:00:00" is 24 days (hours
 * past 23 make it d:h:m). A fraction of more than seven digits is rounded when it starts with a
 * zero and too large when it does not.
 */
PAWL_MUST_CHECK int pawl__duration_parse(struct pawl_str text, int64_t *ticks,
                                         struct pawl_error *err);

/*
 * Writes the constant form: [-][d.]hh:mm:ss[.fffffff], the fraction absent or seven digits.
 * Returns the length; `out` ends with a NUL.
 */
size_t pawl__duration_format(int64_t ticks, char out[PAWL_DURATION_TEXT_SIZE]);

/*
 * For people: numbers with units, from large to small, each once: 500ms 10s 5m 2h 1d 1h30m
 * "2m 3s" 1.5s -10s. Units: d h m s ms us. A number may have a fraction, of which seven
 * digits count; one without a unit is refused, except 0.
 */
PAWL_MUST_CHECK int pawl__duration_parse_human(struct pawl_str text, int64_t *ticks,
                                               struct pawl_error *err);

/*
 * Short, for people, rounded (halves up) to what matters at its size: 0s 12.3us 250ms 1.5s "2m 3s"
 * "1h 30m" "3d 4h". Up to a minute one number with three digits behind the point at the most; from
 * there on two units. pawl__duration_parse_human() reads it. Returns the length; ends with a NUL.
 */
size_t pawl__duration_format_human(int64_t ticks, char out[PAWL_DURATION_TEXT_SIZE]);

#endif
