/* SPDX-License-Identifier: Apache-2.0 */
/*
 * XXH64 with seed 0: a fast hash of bytes that shows damage by chance. It has no key: whoever can
 * write the bytes can make others with the same hash. Where that matters take SHA-256 or SipHash.
 */
#ifndef PAWL_BASE_CHECKSUM_H
#define PAWL_BASE_CHECKSUM_H

#include "base/str.h"

uint64_t pawl__checksum(struct pawl_str s);

#endif
