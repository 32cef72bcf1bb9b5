/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 (FIPS 180-4): the hash of stimuli, node ids and content revisions. It identifies; it is
 * not used where an attacker's timing matters.
 *
 *     struct pawl_sha256 sha;
 *     pawl__sha256_init(&sha);
 *     pawl__sha256_update(&sha, bytes, count);     as often as wanted
 *     pawl__sha256_final(&sha, digest);
 */
#ifndef PAWL_BASE_HASH_SHA256_H
#define PAWL_BASE_HASH_SHA256_H

#include "base/hex.h"
#include "base/str.h"

#define PAWL_SHA256_BYTES 32
/* Digits of a digest in text, and a NUL. */
#define PAWL_SHA256_TEXT_SIZE (2 * PAWL_SHA256_BYTES + 1)

struct pawl_sha256 {
    uint32_t state[8];
    uint64_t total_bytes;
    unsigned char block[64]; /* the first total_bytes % 64 of it are waiting */
};

void pawl__sha256_init(struct pawl_sha256 *sha);
/* `bytes` may be NULL when `count` is 0. */
void pawl__sha256_update(struct pawl_sha256 *sha, const void *bytes, size_t count);
/* The object must be initialised again before its next use. */
void pawl__sha256_final(struct pawl_sha256 *sha, unsigned char digest[PAWL_SHA256_BYTES]);

/* The whole at once. */
void pawl__sha256(struct pawl_str s, unsigned char digest[PAWL_SHA256_BYTES]);
/* The whole at once, as 64 digits and a NUL. */
void pawl__sha256_text(struct pawl_str s, enum pawl_hex_case letters,
                       char text[PAWL_SHA256_TEXT_SIZE]);

#endif
