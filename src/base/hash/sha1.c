/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-1 as FIPS 180-4 writes it down; the section numbers below are its. */
#include "base/hash/sha1.h"

#define BLOCK_BYTES 64u

static uint32_t rotate(uint32_t x, unsigned bits)
{
    return x << bits | x >> (32 - bits);
}

/* 6.1.2 step 1: the message schedule. */
static void expand(uint32_t w[80], const unsigned char *block)
{
    for (size_t t = 0; t < 16; t++) {
        const unsigned char *p = block + 4 * t;

        w[t] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    }
    for (size_t t = 16; t < 80; t++)
        w[t] = rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
}

/* 4.1.1 and 4.2.1: the function and the constant of a round. */
static uint32_t mix(size_t t, uint32_t b, uint32_t c, uint32_t d)
{
    if (t < 20)
        return ((b & c) ^ (~b & d)) + 0x5a827999;
    if (t < 40)
        return (b ^ c ^ d) + 0x6ed9eba1;
    if (t < 60)
        return ((b & c) ^ (b & d) ^ (c & d)) + 0x8f1bbcdc;
    return (b ^ c ^ d) + 0xca62c1d6;
}

/* 6.1.2 steps 2 to 4. */
static void compress(uint32_t state[5], const unsigned char *block)
{
    uint32_t w[80];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];

    expand(w, block);
    for (size_t t = 0; t < 80; t++) {
        uint32_t next = rotate(a, 5) + mix(t, b, c, d) + e + w[t];

        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

/* 5.1.1: a one bit, zeros, and the length in bits as the last eight bytes of a block. */
void pawl__sha1(struct pawl_str s, unsigned char digest[PAWL_SHA1_BYTES])
{
    uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    unsigned char tail[2 * BLOCK_BYTES] = {0};
    size_t whole = s.len / BLOCK_BYTES * BLOCK_BYTES;
    size_t rest = s.len - whole;
    size_t tail_bytes = rest < BLOCK_BYTES - 8 ? BLOCK_BYTES : 2 * BLOCK_BYTES;

    for (size_t at = 0; at < whole; at += BLOCK_BYTES)
        compress(state, (const unsigned char *)s.ptr + at);
    if (rest > 0)
        memcpy(tail, s.ptr + whole, rest);
    tail[rest] = 0x80;
    for (unsigned i = 0; i < 8; i++)
        tail[tail_bytes - 1 - i] = (unsigned char)((uint64_t)s.len * 8 >> 8 * i);
    for (size_t at = 0; at < tail_bytes; at += BLOCK_BYTES)
        compress(state, tail + at);
    for (unsigned i = 0; i < PAWL_SHA1_BYTES; i++)
        digest[i] = (unsigned char)(state[i / 4] >> 8 * (3 - i % 4));
}
