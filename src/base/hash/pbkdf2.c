/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PBKDF2-SHA256; see pbkdf2.h. The two blocks that depend on the password alone are hashed once and
 * their state is copied for each round, which halves the cost.
 */
#include "base/hash/pbkdf2.h"

#define BLOCK_BYTES 64

struct keyed {
    struct pawl_sha256 inner, outer;
};

static void begin(struct keyed *keyed, struct pawl_str password)
{
    unsigned char key[BLOCK_BYTES] = {0}, block[BLOCK_BYTES];

    if (password.len > BLOCK_BYTES)
        pawl__sha256(password, key);
    else if (password.len > 0)
        memcpy(key, password.ptr, password.len);
    for (size_t i = 0; i < BLOCK_BYTES; i++)
        block[i] = key[i] ^ 0x36;
    pawl__sha256_init(&keyed->inner);
    pawl__sha256_update(&keyed->inner, block, sizeof block);
    for (size_t i = 0; i < BLOCK_BYTES; i++)
        block[i] = key[i] ^ 0x5c;
    pawl__sha256_init(&keyed->outer);
    pawl__sha256_update(&keyed->outer, block, sizeof block);
}

static void hash(const struct keyed *keyed, const void *bytes, size_t count, const void *more,
                 size_t more_count, unsigned char digest[PAWL_SHA256_BYTES])
{
    struct pawl_sha256 sha = keyed->inner;

    pawl__sha256_update(&sha, bytes, count);
    pawl__sha256_update(&sha, more, more_count);
    pawl__sha256_final(&sha, digest);
    sha = keyed->outer;
    pawl__sha256_update(&sha, digest, PAWL_SHA256_BYTES);
    pawl__sha256_final(&sha, digest);
}

void pawl__pbkdf2_sha256(struct pawl_str password, struct pawl_str salt, uint32_t rounds,
                         unsigned char out[PAWL_SHA256_BYTES])
{
    static const unsigned char first_block[4] = {0, 0, 0, 1};
    unsigned char round[PAWL_SHA256_BYTES];
    struct keyed keyed;

    begin(&keyed, password);
    hash(&keyed, salt.ptr, salt.len, first_block, sizeof first_block, round);
    memcpy(out, round, sizeof round);
    for (uint32_t i = 1; i < rounds; i++) {
        hash(&keyed, round, sizeof round, NULL, 0, round);
        for (size_t j = 0; j < sizeof round; j++)
            out[j] ^= round[j];
    }
}
