/* SPDX-License-Identifier: Apache-2.0 */
/*
 * md5, sha1 and sha256, in small hexadecimal digits. The first two are for talking to systems that
 * still want them; nothing here relies on their strength.
 */
#include "base/hash/sha256.h"
#include "base/hex.h"
#include "expressions/liquid/filters.h"

#define BLOCK 64

static uint32_t rotate(uint32_t value, unsigned bits)
{
    return value << bits | value >> (32 - bits);
}

/* Calls `mix` for each block of the text, padded to whole blocks as both functions want it. */
static void each_block(struct pawl_str text, bool big_endian, uint32_t *state,
                       void (*mix)(uint32_t *state, const unsigned char *block))
{
    unsigned char last[2 * BLOCK] = {0};
    size_t whole = text.len / BLOCK * BLOCK;
    size_t rest = text.len - whole;
    size_t end = rest < BLOCK - 8 ? BLOCK : 2 * BLOCK;
    uint64_t bits = (uint64_t)text.len * 8;

    for (size_t at = 0; at < whole; at += BLOCK)
        mix(state, (const unsigned char *)text.ptr + at);
    if (rest > 0)
        memcpy(last, text.ptr + whole, rest);
    last[rest] = 0x80;
    for (unsigned i = 0; i < 8; i++)
        last[end - 8 + i] = (unsigned char)(bits >> 8 * (big_endian ? 7 - i : i));
    for (size_t at = 0; at < end; at += BLOCK)
        mix(state, last + at);
}

/* ---- MD5 (RFC 1321) ---------------------------------------------------------------------- */

static void md5_mix(uint32_t *state, const unsigned char *block)
{
    static const uint32_t sines[64] = {
        0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613,
        0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193,
        0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d,
        0x02441453, 0xd8a1e681, 0xe7d3fbc8, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed,
        0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 0xfffa3942, 0x8771f681, 0x6d9d6122,
        0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa,
        0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665, 0xf4292244,
        0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
        0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb,
        0xeb86d391,
    };
    static const uint8_t shifts[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};
    uint32_t a = state[0];
    uint32_t b = state[1];
    uint32_t c = state[2];
    uint32_t d = state[3];
    uint32_t words[16];

    for (unsigned i = 0; i < 16; i++)
        words[i] = (uint32_t)block[4 * i] | (uint32_t)block[4 * i + 1] << 8 |
                   (uint32_t)block[4 * i + 2] << 16 | (uint32_t)block[4 * i + 3] << 24;
    for (unsigned i = 0; i < 64; i++) {
        static const uint8_t steps[4] = {1, 5, 3, 7};
        static const uint8_t starts[4] = {0, 1, 5, 0};
        unsigned round = i / 16;
        uint32_t mixed = round == 0   ? (b & c) | (~b & d)
                         : round == 1 ? (d & b) | (~d & c)
                         : round == 2 ? b ^ c ^ d
                                      : c ^ (b | ~d);
        uint32_t next = d;

        mixed += a + sines[i] + words[(steps[round] * i + starts[round]) % 16];
        d = c;
        c = b;
        b += rotate(mixed, shifts[round * 4 + i % 4]);
        a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

static void md5(struct pawl_str text, unsigned char digest[16])
{
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};

    each_block(text, false, state, md5_mix);
    for (unsigned i = 0; i < 16; i++)
        digest[i] = (unsigned char)(state[i / 4] >> 8 * (i % 4));
}

/* ---- SHA-1 (FIPS 180) -------------------------------------------------------------------- */

static void sha1_mix(uint32_t *state, const unsigned char *block)
{
    static const uint32_t constants[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
    uint32_t words[80];
    uint32_t s[5] = {state[0], state[1], state[2], state[3], state[4]};

    for (unsigned i = 0; i < 16; i++)
        words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
                   (uint32_t)block[4 * i + 2] << 8 | (uint32_t)block[4 * i + 3];
    for (unsigned i = 16; i < 80; i++)
        words[i] = rotate(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
    for (unsigned i = 0; i < 80; i++) {
        unsigned round = i / 20;
        uint32_t mixed = round == 0   ? (s[1] & s[2]) | (~s[1] & s[3])
                         : round == 2 ? (s[1] & s[2]) | (s[1] & s[3]) | (s[2] & s[3])
                                      : s[1] ^ s[2] ^ s[3];

        mixed += rotate(s[0], 5) + s[4] + constants[round] + words[i];
        s[4] = s[3];
        s[3] = s[2];
        s[2] = rotate(s[1], 30);
        s[1] = s[0];
        s[0] = mixed;
    }
    for (unsigned i = 0; i < 5; i++)
        state[i] += s[i];
}

static void sha1(struct pawl_str text, unsigned char digest[20])
{
    uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

    each_block(text, true, state, sha1_mix);
    for (unsigned i = 0; i < 20; i++)
        digest[i] = (unsigned char)(state[i / 4] >> 8 * (3 - i % 4));
}

/* ---- filters ----------------------------------------------------------------------------- */

/* Nothing of nothing. */
static void put_digest(struct pawl_str text, size_t size,
                       void (*hash)(struct pawl_str text, unsigned char *digest),
                       struct pawl_buf *out)
{
    unsigned char bytes[PAWL_SHA256_BYTES];
    char hex[2 * PAWL_SHA256_BYTES];

    if (text.len == 0)
        return;
    hash(text, bytes);
    pawl__hex_encode(bytes, size, PAWL_HEX_LOWER, hex);
    pawl__buf_append(out, hex, 2 * size);
}

static void put_md5(struct pawl_str text, struct pawl_buf *out)
{
    put_digest(text, 16, md5, out);
}

static void put_sha1(struct pawl_str text, struct pawl_buf *out)
{
    put_digest(text, 20, sha1, out);
}

static void put_sha256(struct pawl_str text, struct pawl_buf *out)
{
    put_digest(text, PAWL_SHA256_BYTES, pawl__sha256, out);
}

static const struct liquid_filter filters[] = {
    {"md5", .rewrite = put_md5},
    {"sha1", .rewrite = put_sha1},
    {"sha256", .rewrite = put_sha256},
};

const struct liquid_filters pawl__liquid_digest_filters = {filters,
                                                           sizeof filters / sizeof *filters};
