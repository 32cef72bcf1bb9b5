/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON Web Tokens (RFC 7519) that are signed with HMAC-SHA256, and no others. What the claims mean
 * is the caller's.
 */
#ifndef PAWL_BASE_JWT_H
#define PAWL_BASE_JWT_H

#include "base/json/json.h"

/* A longer token is refused before anything is decoded. */
#define PAWL_JWT_BYTES_MAX ((size_t)16 << 10)

struct pawl_jwt_key {
    struct pawl_str id; /* "kid" of the header */
    struct pawl_str secret;
};

/* Appends the token. The claims are a JSON object. Failures are the buffer's. */
void pawl__jwt_write(struct pawl_buf *out, const struct pawl_jwt_key *key, struct pawl_str claims);

/*
 * Checks the signature, then parses the claims into the arena. The header names the key; a token
 * that names none is checked with each. Its algorithm is HS256, or the URI by which .NET calls the
 * same. PAWL_EPARSE: not such a token; PAWL_ENOTFOUND: none of the keys has signed it; PAWL_ENOMEM,
 * PAWL_ELIMIT: the arena's.
 */
PAWL_MUST_CHECK int pawl__jwt_read(struct pawl_str token, const struct pawl_jwt_key *keys,
                                   size_t key_count, struct pawl_arena *arena,
                                   struct pawl_json *claims);

#endif
