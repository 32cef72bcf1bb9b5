/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-1, for names that others derive with it. Not for anything that must be hard to forge. */
#ifndef PAWL_BASE_HASH_SHA1_H
#define PAWL_BASE_HASH_SHA1_H

#include "base/str.h"

#define PAWL_SHA1_BYTES 20

void pawl__sha1(struct pawl_str s, unsigned char digest[PAWL_SHA1_BYTES]);

#endif
