/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Base64 (RFC 4648): with padding, how bytes stand in JSON; and the form for URLs, without padding,
 * how they stand in tokens.
 */
#ifndef PAWL_BASE_BASE64_H
#define PAWL_BASE_BASE64_H

#include "base/str.h"

/*
 * Decodes into `out`, which has room for 3 bytes per 4 characters, and returns how many came.
 * White space is passed over. SIZE_MAX: it is not base64. `out` NULL only checks and counts.
 */
size_t pawl__base64_decode(struct pawl_str text, unsigned char *out);

/* Characters for so many bytes, without a NUL. */
static inline size_t pawl__base64_len(size_t bytes)
{
    return (bytes + 2) / 3 * 4;
}

/* Writes pawl__base64_len(len) characters. */
void pawl__base64_encode(const unsigned char *bytes, size_t len, char *out);

/*
 * The form for URLs. Exactly one text stands for given bytes: no white space, no padding, unused
 * bits are 0. SIZE_MAX: it is not that. `out` as above.
 */
size_t pawl__base64url_decode(struct pawl_str text, unsigned char *out);
static inline size_t pawl__base64url_len(size_t bytes)
{
    return bytes / 3 * 4 + (bytes % 3 == 0 ? 0 : bytes % 3 + 1);
}
/* Writes pawl__base64url_len(len) characters. */
void pawl__base64url_encode(const unsigned char *bytes, size_t len, char *out);

#endif
