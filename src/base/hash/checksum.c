/* SPDX-License-Identifier: Apache-2.0 */
/*
 * XXH64 (xxHash, 64 bits): four lanes of eight bytes each, so that a processor works on all of them
 * at a time; then what is left, in pieces of eight, four and one. Numbers are little-endian.
 */
#include "base/hash/checksum.h"

#define PRIME_1 UINT64_C(0x9E3779B185EBCA87)
#define PRIME_2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define PRIME_3 UINT64_C(0x165667B19E3779F9)
#define PRIME_4 UINT64_C(0x85EBCA77C2B2AE63)
#define PRIME_5 UINT64_C(0x27D4EB2F165667C5)

static uint64_t rotate(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

/* Compilers make one load of it where the machine's order is this one. */
static uint64_t read_bytes(const unsigned char *p, unsigned count)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < count; i++)
        value |= (uint64_t)p[i] << (8 * i);
    return value;
}

static uint64_t mix(uint64_t lane, uint64_t input)
{
    return rotate(lane + input * PRIME_2, 31) * PRIME_1;
}

static uint64_t merge(uint64_t hash, uint64_t lane)
{
    return (hash ^ mix(0, lane)) * PRIME_1 + PRIME_4;
}

/* Whole stripes of 32 bytes; moves *at behind them. */
static uint64_t hash_stripes(const unsigned char **at, const unsigned char *end)
{
    uint64_t lanes[4] = {PRIME_1 + PRIME_2, PRIME_2, 0, 0 - PRIME_1};
    const unsigned char *p = *at;
    uint64_t hash;

    for (; end - p >= 32; p += 32)
        for (unsigned i = 0; i < 4; i++)
            lanes[i] = mix(lanes[i], read_bytes(p + 8 * i, 8));
    *at = p;
    hash = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
    for (unsigned i = 0; i < 4; i++)
        hash = merge(hash, lanes[i]);
    return hash;
}

uint64_t pawl__checksum(struct pawl_str s)
{
    const unsigned char *p = (const unsigned char *)s.ptr, *end = p + s.len;
    uint64_t hash = s.len >= 32 ? hash_stripes(&p, end) : PRIME_5;

    hash += s.len;
    for (; end - p >= 8; p += 8)
        hash = rotate(hash ^ mix(0, read_bytes(p, 8)), 27) * PRIME_1 + PRIME_4;
    if (end - p >= 4) {
        hash = rotate(hash ^ read_bytes(p, 4) * PRIME_1, 23) * PRIME_2 + PRIME_3;
        p += 4;
    }
    for (; p < end; p++)
        hash = rotate(hash ^ *p * PRIME_5, 11) * PRIME_1;
    hash = (hash ^ hash >> 33) * PRIME_2;
    hash = (hash ^ hash >> 29) * PRIME_3;
    return hash ^ hash >> 32;
}
