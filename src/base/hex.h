/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as hexadecimal digits and back. */
#ifndef PAWL_BASE_HEX_H
#define PAWL_BASE_HEX_H

#include "base/str.h"

enum pawl_hex_case { PAWL_HEX_LOWER, PAWL_HEX_UPPER };

/* Writes exactly 2 * `count` digits to `out`, without a NUL. */
void pawl__hex_encode(const void *bytes, size_t count, enum pawl_hex_case letters, char *out);

/*
 * Reads digits of either case into `out`, which takes `digits.len` / 2 bytes. False, with `out`
 * unspecified, when the count of digits is odd or one is no hexadecimal digit.
 */
bool pawl__hex_decode(struct pawl_str digits, void *out);

/* The value of one digit of either case; -1 for any other character. */
int pawl__hex_value(char digit);

#endif
