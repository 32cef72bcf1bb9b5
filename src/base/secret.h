/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing secrets: how long it takes says nothing about where they differ. */
#ifndef PAWL_BASE_SECRET_H
#define PAWL_BASE_SECRET_H

#include "base/str.h"

/* Lengths are no secrets. */
static inline bool pawl__secret_equal(struct pawl_str a, struct pawl_str b)
{
    volatile unsigned char differs = 0;

    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        differs = (unsigned char)(differs | ((unsigned char)a.ptr[i] ^ (unsigned char)b.ptr[i]));
    return differs == 0;
}

/* Overwrites bytes that nobody may find later; a compiler does not leave it out. */
static inline void pawl__secret_wipe(void *bytes, size_t size_bytes)
{
    volatile unsigned char *to = bytes;

    for (size_t i = 0; i < size_bytes; i++)
        to[i] = 0;
}

#endif
