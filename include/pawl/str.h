/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct pawl_str: a borrowed run of bytes, usually UTF-8, not NUL-terminated, passed by value.
 * A function or struct that keeps one documents how long it borrows the bytes.
 */
#ifndef PAWL_STR_H
#define PAWL_STR_H

#include <stddef.h>

struct pawl_str {
    const char *ptr; /* never NULL when len > 0 */
    size_t len;
};

#endif
