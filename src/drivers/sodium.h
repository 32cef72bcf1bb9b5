/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libsodium: argon2id (RFC 9106), the hash of passwords. The library is loaded by open().
 *
 * A hash is text that says how it was made: "$argon2id$v=19$m=19456,t=2,p=1$SALT$HASH".
 */
#ifndef PAWL_DRIVERS_SODIUM_H
#define PAWL_DRIVERS_SODIUM_H

#include "base/str.h"

#include <pawl/error.h>
#include <pawl/ext/env.h>

#define PAWL_SODIUM_SALT_BYTES 16
#define PAWL_SODIUM_HASH_SIZE 128 /* with a NUL */
/* A longer password is refused: nobody has one, and hashing takes as long as it is. */
#define PAWL_SODIUM_PASSWORD_MAX 1024

struct pawl_sodium;

/* PAWL_EMISSING: the library is not installed; the message names the package. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__sodium_open(const struct pawl_allocator *alloc, struct pawl_sodium **out,
                                      struct pawl_error *err);
void pawl__sodium_close(struct pawl_sodium *sodium); /* NULL allowed */

/*
 * Takes about 20 ms and 19 MB for the time of the call; any thread. The salt is random, the
 * caller's. PAWL_ENOMEM; PAWL_ELIMIT: the password is too long.
 */
PAWL_MUST_CHECK int pawl__sodium_hash(struct pawl_sodium *sodium, struct pawl_str password,
                                      const unsigned char salt[PAWL_SODIUM_SALT_BYTES],
                                      char out[PAWL_SODIUM_HASH_SIZE], struct pawl_error *err);

/* Whether this is the password; false too when `hash` is none. Any thread. */
bool pawl__sodium_verify(struct pawl_sodium *sodium, const char *hash, struct pawl_str password);

/* Whether pawl__sodium_hash() would make another kind of hash today. */
bool pawl__sodium_is_outdated(struct pawl_sodium *sodium, const char *hash);

#endif
