/* SPDX-License-Identifier: Apache-2.0 */
/* HMAC with SHA-256 (RFC 2104): how requests are signed with a shared key. */
#ifndef PAWL_BASE_HASH_HMAC_H
#define PAWL_BASE_HASH_HMAC_H

#include "base/hash/sha256.h"

void pawl__hmac_sha256(struct pawl_str key, struct pawl_str text,
                       unsigned char digest[PAWL_SHA256_BYTES]);

#endif
