/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passwords: hashed with argon2id (drivers/sodium.h), which is loaded when the first one is hashed
 * or checked. Hashes that Elsa made are recognised too, so that its users can be taken over.
 */
#ifndef PAWL_HOST_PASSWORDS_H
#define PAWL_HOST_PASSWORDS_H

#include "base/str.h"

#include <pawl/error.h>
#include <pawl/ext/env.h>

struct pawl_sodium;

struct pawl_passwords {
    struct pawl_env *env;
    struct pawl_mutex *mutex; /* guards `sodium`; nothing else is locked under it */
    struct pawl_sodium *sodium;
};

#define PAWL_PASSWORD_HASH_SIZE 128
#define PAWL_PASSWORD_BYTES_MAX 1024u

PAWL_MUST_CHECK int pawl__passwords_init(struct pawl_passwords *passwords, struct pawl_env *env);
void pawl__passwords_release(struct pawl_passwords *passwords); /* zeroed: allowed */

/* PAWL_EMISSING, PAWL_ELIMIT, PAWL_ENOMEM. It takes some 20 ms of processor, and any thread. */
PAWL_MUST_CHECK int pawl__password_hash(struct pawl_passwords *passwords, struct pawl_str password,
                                        char out[PAWL_PASSWORD_HASH_SIZE], struct pawl_error *err);

/*
 * Whether it is the password of this hash. `salt` is that of Elsa's hashes, which keep it beside
 * them: base64. *outdated: it should be hashed again, because Elsa made the hash or its cost is
 * another today. A hash of no known form matches nothing.
 */
PAWL_MUST_CHECK int pawl__password_verify(struct pawl_passwords *passwords, struct pawl_str hash,
                                          struct pawl_str salt, struct pawl_str password,
                                          bool *matches, bool *outdated, struct pawl_error *err);

/* Whether verify() knows the form of such a hash. */
bool pawl__password_hash_is_known(struct pawl_str hash, struct pawl_str salt);

#endif
