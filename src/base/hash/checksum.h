/* SPDX-License-Identifier: Apache-2.0 */
/*
 * XXH64 with seed 0: a fast hash of bytes that detects accidental damage. It has no key: anyone who
 * can write the bytes can make others with the same hash. Where that matters, use SHA-256 or
 * SipHash.
 */
#ifndef PAWL_BASE_HASH_CHECKSUM_H
#define PAWL_BASE_HASH_CHECKSUM_H

#include "base/str.h"

uint64_t pawl__checksum(struct pawl_str s);

#endif
