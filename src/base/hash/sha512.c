/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-512 as FIPS 180-4 writes it down; the section numbers below are its. */
#include "base/hash/sha512.h"

#define BLOCK_BYTES 128u

/* 4.2.3: the first 64 bits of the fractional parts of the cube roots of the first 80 primes. */
static const uint64_t round_constants[80] = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc,
    0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118,
    0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
    0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694,
    0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
    0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4,
    0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70,
    0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
    0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30,
    0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
    0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8,
    0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3,
    0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b,
    0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178,
    0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
    0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c,
    0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
};

static uint64_t rotate(uint64_t x, unsigned bits)
{
    return x >> bits | x << (64 - bits);
}

/* 6.4.2 step 1: the message schedule. */
static void expand(uint64_t w[80], const unsigned char *block)
{
    for (size_t t = 0; t < 16; t++) {
        const unsigned char *p = block + 8 * t;

        w[t] = (uint64_t)p[0] << 56 | (uint64_t)p[1] << 48 | (uint64_t)p[2] << 40 |
               (uint64_t)p[3] << 32 | (uint64_t)p[4] << 24 | (uint64_t)p[5] << 16 |
               (uint64_t)p[6] << 8 | p[7];
    }
    for (size_t t = 16; t < 80; t++) {
        uint64_t s0 = rotate(w[t - 15], 1) ^ rotate(w[t - 15], 8) ^ w[t - 15] >> 7;
        uint64_t s1 = rotate(w[t - 2], 19) ^ rotate(w[t - 2], 61) ^ w[t - 2] >> 6;

        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
}

/* 6.4.2 step 3, with the names moved on by the caller and not the values. */
static inline void round_of(uint64_t a, uint64_t b, uint64_t c, uint64_t *d, uint64_t e, uint64_t f,
                            uint64_t g, uint64_t *h, uint64_t k_and_w)
{
    uint64_t big1 = rotate(e, 14) ^ rotate(e, 18) ^ rotate(e, 41);
    uint64_t t1 = *h + big1 + (g ^ (e & (f ^ g))) + k_and_w;
    uint64_t big0 = rotate(a, 28) ^ rotate(a, 34) ^ rotate(a, 39);

    *d += t1;
    *h = t1 + big0 + ((a & b) | (c & (a | b)));
}

/* 6.4.2 steps 2 to 4. */
static void compress(uint64_t state[8], const unsigned char *block)
{
    uint64_t w[80];
    uint64_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint64_t e = state[4], f = state[5], g = state[6], h = state[7];

    expand(w, block);
    for (size_t t = 0; t < 80; t += 8) {
        const uint64_t *k = round_constants + t, *x = w + t;

        round_of(a, b, c, &d, e, f, g, &h, k[0] + x[0]);
        round_of(h, a, b, &c, d, e, f, &g, k[1] + x[1]);
        round_of(g, h, a, &b, c, d, e, &f, k[2] + x[2]);
        round_of(f, g, h, &a, b, c, d, &e, k[3] + x[3]);
        round_of(e, f, g, &h, a, b, c, &d, k[4] + x[4]);
        round_of(d, e, f, &g, h, a, b, &c, k[5] + x[5]);
        round_of(c, d, e, &f, g, h, a, &b, k[6] + x[6]);
        round_of(b, c, d, &e, f, g, h, &a, k[7] + x[7]);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

/* 5.1.2: a one bit, zeros, and the length in bits as the last sixteen bytes of a block. */
void pawl__sha512(struct pawl_str s, unsigned char digest[PAWL_SHA512_BYTES])
{
    /* 5.3.5: the same of the square roots of the first 8 primes. */
    uint64_t state[8] = {
        0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
        0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
    };
    unsigned char tail[2 * BLOCK_BYTES] = {0};
    size_t whole = s.len / BLOCK_BYTES * BLOCK_BYTES;
    size_t rest = s.len - whole;
    size_t tail_bytes = rest < BLOCK_BYTES - 16 ? BLOCK_BYTES : 2 * BLOCK_BYTES;

    for (size_t at = 0; at < whole; at += BLOCK_BYTES)
        compress(state, (const unsigned char *)s.ptr + at);
    if (rest > 0)
        memcpy(tail, s.ptr + whole, rest);
    tail[rest] = 0x80;
    for (unsigned i = 0; i < 8; i++)
        tail[tail_bytes - 1 - i] = (unsigned char)((uint64_t)s.len * 8 >> 8 * i);
    for (size_t at = 0; at < tail_bytes; at += BLOCK_BYTES)
        compress(state, tail + at);
    for (unsigned i = 0; i < PAWL_SHA512_BYTES; i++)
        digest[i] = (unsigned char)(state[i / 8] >> 8 * (7 - i % 8));
}
