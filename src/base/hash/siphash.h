/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SipHash-1-3: a keyed hash for hash tables, fast on short keys. Without the key nobody can choose
 * names that collide, so outside input cannot turn a map into a list.
 */
#ifndef PAWL_BASE_HASH_SIPHASH_H
#define PAWL_BASE_HASH_SIPHASH_H

#include "base/str.h"

struct pawl_hash_seed {
    uint64_t k0;
    uint64_t k1;
};

uint64_t pawl__siphash(struct pawl_hash_seed seed, struct pawl_str s);

#endif
