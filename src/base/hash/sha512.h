/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-512 of bytes in one piece. */
#ifndef PAWL_BASE_HASH_SHA512_H
#define PAWL_BASE_HASH_SHA512_H

#include "base/str.h"

#define PAWL_SHA512_BYTES 64

void pawl__sha512(struct pawl_str s, unsigned char digest[PAWL_SHA512_BYTES]);

#endif
