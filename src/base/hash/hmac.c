/* SPDX-License-Identifier: Apache-2.0 */
/* HMAC-SHA256; see hmac.h. */
#include "base/hash/hmac.h"

#define BLOCK_BYTES 64

static void hash_padded(const unsigned char key[BLOCK_BYTES], unsigned char pad, const void *bytes,
                        size_t count, unsigned char digest[PAWL_SHA256_BYTES])
{
    unsigned char block[BLOCK_BYTES];
    struct pawl_sha256 sha;

    for (size_t i = 0; i < BLOCK_BYTES; i++)
        block[i] = key[i] ^ pad;
    pawl__sha256_init(&sha);
    pawl__sha256_update(&sha, block, sizeof block);
    pawl__sha256_update(&sha, bytes, count);
    pawl__sha256_final(&sha, digest);
}

void pawl__hmac_sha256(struct pawl_str key, struct pawl_str text,
                       unsigned char digest[PAWL_SHA256_BYTES])
{
    unsigned char block[BLOCK_BYTES] = {0}, inner[PAWL_SHA256_BYTES];

    if (key.len > BLOCK_BYTES)
        pawl__sha256(key, block);
    else if (key.len > 0)
        memcpy(block, key.ptr, key.len);
    hash_padded(block, 0x36, text.ptr, text.len, inner);
    hash_padded(block, 0x5c, inner, sizeof inner, digest);
}
