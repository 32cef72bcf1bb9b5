/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 as FIPS 180-4 writes it down; the section numbers below are its. */
#include "base/hash/sha256.h"

#define BLOCK_BYTES 64u

/* 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, unsigned bits)
{
    return x >> bits | x << (32 - bits);
}

static uint32_t load_be32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void store_be32(unsigned char *p, uint32_t x)
{
    p[0] = (unsigned char)(x >> 24);
    p[1] = (unsigned char)(x >> 16);
    p[2] = (unsigned char)(x >> 8);
    p[3] = (unsigned char)x;
}

/* 6.2.2 step 1: the message schedule. */
static void expand(uint32_t w[64], const unsigned char *block)
{
    for (size_t t = 0; t < 16; t++)
        w[t] = load_be32(block + 4 * t);
    for (size_t t = 16; t < 64; t++) {
        uint32_t s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;

        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
}

/* 6.2.2 steps 2 to 4. */
static void compress(uint32_t state[8], const unsigned char *block)
{
    uint32_t w[64];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];

    expand(w, block);
    for (size_t t = 0; t < 64; t++) {
        uint32_t big1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
        uint32_t t1 = h + big1 + (g ^ (e & (f ^ g))) + round_constants[t] + w[t];
        uint32_t big0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
        uint32_t t2 = big0 + ((a & b) | (c & (a | b)));

        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
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

void pawl__sha256_init(struct pawl_sha256 *sha)
{
    /* 5.3.3: the same of the square roots of the first 8 primes. */
    static const uint32_t initial[8] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    };

    memcpy(sha->state, initial, sizeof initial);
    sha->total_bytes = 0;
}

void pawl__sha256_update(struct pawl_sha256 *sha, const void *bytes, size_t count)
{
    const unsigned char *p = bytes;
    size_t waiting = sha->total_bytes % BLOCK_BYTES;

    sha->total_bytes += count;
    if (waiting > 0) {
        size_t part = count < BLOCK_BYTES - waiting ? count : BLOCK_BYTES - waiting;

        if (part > 0)
            memcpy(sha->block + waiting, p, part);
        if (waiting + part < BLOCK_BYTES)
            return;
        compress(sha->state, sha->block);
        p += part;
        count -= part;
    }
    for (; count >= BLOCK_BYTES; count -= BLOCK_BYTES, p += BLOCK_BYTES)
        compress(sha->state, p);
    if (count > 0)
        memcpy(sha->block, p, count);
}

/* 5.1.1: a one bit, zeros, and the length in bits as the last eight bytes of a block. */
void pawl__sha256_final(struct pawl_sha256 *sha, unsigned char digest[PAWL_SHA256_BYTES])
{
    uint64_t bits = sha->total_bytes * 8;
    size_t waiting = sha->total_bytes % BLOCK_BYTES;

    sha->block[waiting++] = 0x80;
    if (waiting > BLOCK_BYTES - 8) {
        memset(sha->block + waiting, 0, BLOCK_BYTES - waiting);
        compress(sha->state, sha->block);
        waiting = 0;
    }
    memset(sha->block + waiting, 0, BLOCK_BYTES - 8 - waiting);
    store_be32(sha->block + 56, (uint32_t)(bits >> 32));
    store_be32(sha->block + 60, (uint32_t)bits);
    compress(sha->state, sha->block);
    for (size_t i = 0; i < 8; i++)
        store_be32(digest + 4 * i, sha->state[i]);
}

void pawl__sha256(struct pawl_str s, unsigned char digest[PAWL_SHA256_BYTES])
{
    struct pawl_sha256 sha;

    pawl__sha256_init(&sha);
    pawl__sha256_update(&sha, s.ptr, s.len);
    pawl__sha256_final(&sha, digest);
}

void pawl__sha256_text(struct pawl_str s, enum pawl_hex_case letters,
                       char text[PAWL_SHA256_TEXT_SIZE])
{
    unsigned char digest[PAWL_SHA256_BYTES];

    pawl__sha256(s, digest);
    pawl__hex_encode(digest, sizeof digest, letters, text);
    text[PAWL_SHA256_TEXT_SIZE - 1] = '\0';
}
