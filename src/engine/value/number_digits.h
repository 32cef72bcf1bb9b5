/* SPDX-License-Identifier: Apache-2.0 */
/* Between number.c and net_decimal.c: the decimal digits of a double. */
#ifndef PAWL_ENGINE_VALUE_NUMBER_DIGITS_H
#define PAWL_ENGINE_VALUE_NUMBER_DIGITS_H

#include <stdbool.h>
#include <stddef.h>

#define PAWL_DIGITS_MAX 24

/* 0.text * 10^scale, no zeros at either end; len 0 is zero. */
struct pawl_digits {
    char text[PAWL_DIGITS_MAX];
    size_t len;
    int scale;
    bool negative;
};

/* The shortest digits that name `value`, which is finite. */
void pawl__number_digits(double value, struct pawl_digits *out);
/* Keeps the first `count`, halves to even. */
void pawl__number_round_digits(struct pawl_digits *digits, size_t count);

#endif
