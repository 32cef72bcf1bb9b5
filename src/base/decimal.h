/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers and their decimal texts, exact and independent of the locale.
 *
 * Texts read here are JSON numbers (RFC 8259); the caller has checked that. Texts written are too.
 */
#ifndef PAWL_BASE_DECIMAL_H
#define PAWL_BASE_DECIMAL_H

#include "base/str.h"

/* Room for any text written here. The longest is -0.000001234567890123456 with 17 digits: 25. */
#define PAWL_DECIMAL_SIZE 32

/* Writes without a NUL; returns the length. */
size_t pawl__decimal_from_int(int64_t value, char out[PAWL_DECIMAL_SIZE]);

/*
 * Writes the shortest text that reads back as the same double, the nearest to it where several
 * are, laid out as JavaScript does: plain from 1e-6 up to 1e21 (0.1, 100, 123456789012345680000),
 * with an exponent beyond (1e+21, 1.5e-7). An integral value has no point, so that 1.0 is "1";
 * negative zero is "-0". Returns the length without a NUL; 0 when the value is not finite.
 */
size_t pawl__decimal_from_double(double value, char out[PAWL_DECIMAL_SIZE]);

/* The double nearest to the text, ties to even; false when that would be infinite. */
bool pawl__decimal_to_double(struct pawl_str text, double *out);

/* The value if it is integral and fits, however it is written (1e2, 3.0, -0). */
bool pawl__decimal_to_int(struct pawl_str text, int64_t *out);

/* Whether both texts name the same number, exactly, in time linear in their lengths. */
bool pawl__decimal_equal(struct pawl_str a, struct pawl_str b);

#endif
