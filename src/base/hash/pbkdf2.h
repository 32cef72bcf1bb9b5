/* SPDX-License-Identifier: Apache-2.0 */
/* PBKDF2 (RFC 8018) with HMAC-SHA256, for passwords that another system hashed. */
#ifndef PAWL_BASE_HASH_PBKDF2_H
#define PAWL_BASE_HASH_PBKDF2_H

#include "base/hash/sha256.h"

/* One block of output. `rounds` is at least 1; the caller bounds it: it is the cost. */
void pawl__pbkdf2_sha256(struct pawl_str password, struct pawl_str salt, uint32_t rounds,
                         unsigned char out[PAWL_SHA256_BYTES]);

#endif
