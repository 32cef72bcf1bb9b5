/* SPDX-License-Identifier: Apache-2.0 */
/* SipHash with one compression and three finalisation rounds (Aumasson and Bernstein, 2012). */
#include "base/hash/siphash.h"

static uint64_t rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static inline void mix(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[0] = rotate(v[0], 32);
    v[2] += v[3];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[2] = rotate(v[2], 32);
}

/* Little-endian whatever the machine: iteration orders and traces must not depend on it. */
static uint64_t load(const unsigned char *p, size_t count)
{
    uint64_t word = 0;

    for (size_t i = 0; i < count; i++)
        word |= (uint64_t)p[i] << (8 * i);
    return word;
}

/* The same of eight bytes, in a form that compilers make one load of. */
static uint64_t load_word(const unsigned char *p)
{
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
           (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 |
           (uint64_t)p[7] << 56;
}

uint64_t pawl__siphash(struct pawl_hash_seed seed, struct pawl_str s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    uint64_t v[4] = {seed.k0 ^ UINT64_C(0x736f6d6570736575), seed.k1 ^ UINT64_C(0x646f72616e646f6d),
                     seed.k0 ^ UINT64_C(0x6c7967656e657261),
                     seed.k1 ^ UINT64_C(0x7465646279746573)};
    size_t left = s.len;
    uint64_t word;

    for (; left >= 8; left -= 8, p += 8) {
        word = load_word(p);
        v[3] ^= word;
        mix(v);
        v[0] ^= word;
    }
    word = (uint64_t)s.len << 56 | load(p, left);
    v[3] ^= word;
    mix(v);
    v[0] ^= word;
    v[2] ^= 0xFF;
    mix(v);
    mix(v);
    mix(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
