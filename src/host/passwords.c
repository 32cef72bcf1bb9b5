/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passwords; see passwords.h. Three forms of hashes:
 *
 *   $argon2id$…                  ours
 *   pbkdf2-sha256$ROUNDS$BASE64  Elsa's, with a salt in base64 beside it
 *   BASE64                       Elsa's older: SHA-256 of the password and the salt
 */
#include "host/passwords.h"

#include "base/base64.h"
#include "base/error.h"
#include "base/hash/pbkdf2.h"
#include "base/secret.h"
#include "drivers/sodium.h"

#define SALT_BYTES_MAX 256
/* Elsa has 600,000; one that asks for much more would be an attack on the processor. */
#define ROUNDS_MAX 2000000u

_Static_assert(PAWL_PASSWORD_HASH_SIZE == PAWL_SODIUM_HASH_SIZE, "the size of a hash");
_Static_assert(PAWL_PASSWORD_BYTES_MAX == PAWL_SODIUM_PASSWORD_MAX, "the size of a password");

int pawl__passwords_init(struct pawl_passwords *passwords, struct pawl_env *env)
{
    *passwords = (struct pawl_passwords){.env = env};
    return pawl_mutex_new(env, "passwords", &passwords->mutex);
}

void pawl__passwords_release(struct pawl_passwords *passwords)
{
    if (!passwords->mutex)
        return;
    pawl__sodium_close(passwords->sodium);
    pawl_mutex_free(passwords->env, passwords->mutex);
}

static int get_library(struct pawl_passwords *passwords, struct pawl_sodium **out,
                       struct pawl_error *err)
{
    int status = pawl_mutex_lock(passwords->env, passwords->mutex);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    if (!passwords->sodium)
        status = pawl__sodium_open(&passwords->env->alloc, &passwords->sodium, err);
    *out = passwords->sodium;
    pawl_mutex_unlock(passwords->env, passwords->mutex);
    return status;
}

int pawl__password_hash(struct pawl_passwords *passwords, struct pawl_str password,
                        char out[PAWL_PASSWORD_HASH_SIZE], struct pawl_error *err)
{
    unsigned char salt[PAWL_SODIUM_SALT_BYTES];
    struct pawl_sodium *sodium = NULL;
    int status = get_library(passwords, &sodium, err);

    if (status == PAWL_OK)
        status = pawl_env_entropy(passwords->env, salt, sizeof salt, err);
    if (status == PAWL_OK)
        status = pawl__sodium_hash(sodium, password, salt, out, err);
    return status;
}

/* ---- hashes that Elsa made ---------------------------------------------------------------- */

struct elsa_hash {
    uint32_t rounds; /* 0: the older form */
    unsigned char digest[PAWL_SHA256_BYTES];
    unsigned char salt[SALT_BYTES_MAX];
    size_t salt_len;
};

static bool read_elsa(struct pawl_str hash, struct pawl_str salt, struct elsa_hash *out)
{
    struct pawl_str prefix = pawl__str("pbkdf2-sha256$");
    size_t at = 0;

    *out = (struct elsa_hash){.rounds = 0};
    if (pawl__str_starts(hash, prefix)) {
        for (at = prefix.len; at < hash.len && hash.ptr[at] >= '0' && hash.ptr[at] <= '9' &&
                              out->rounds <= ROUNDS_MAX;
             at++)
            out->rounds = out->rounds * 10 + (uint32_t)(hash.ptr[at] - '0');
        if (out->rounds == 0 || out->rounds > ROUNDS_MAX || at >= hash.len || hash.ptr[at] != '$')
            return false;
        at++;
    }
    hash = pawl__str_slice(hash, at, hash.len);
    if (pawl__base64_decode(hash, NULL) != sizeof out->digest)
        return false;
    out->salt_len = pawl__base64_decode(salt, NULL);
    if (out->salt_len == 0 || out->salt_len > sizeof out->salt)
        return false;
    (void)pawl__base64_decode(hash, out->digest);
    (void)pawl__base64_decode(salt, out->salt);
    return true;
}

static bool elsa_matches(const struct elsa_hash *elsa, struct pawl_str password)
{
    unsigned char digest[PAWL_SHA256_BYTES];
    struct pawl_str salt = pawl__str_make((const char *)elsa->salt, elsa->salt_len);
    struct pawl_sha256 sha;

    if (elsa->rounds > 0) {
        pawl__pbkdf2_sha256(password, salt, elsa->rounds, digest);
    } else {
        pawl__sha256_init(&sha);
        pawl__sha256_update(&sha, password.ptr, password.len);
        pawl__sha256_update(&sha, salt.ptr, salt.len);
        pawl__sha256_final(&sha, digest);
    }
    return pawl__secret_equal(pawl__str_make((const char *)digest, sizeof digest),
                              pawl__str_make((const char *)elsa->digest, sizeof elsa->digest));
}

/* ---- all ---------------------------------------------------------------------------------- */

static bool is_ours(struct pawl_str hash)
{
    return pawl__str_starts(hash, pawl__str("$argon2id$")) && hash.len < PAWL_PASSWORD_HASH_SIZE;
}

bool pawl__password_hash_is_known(struct pawl_str hash, struct pawl_str salt)
{
    struct elsa_hash elsa;

    return is_ours(hash) || read_elsa(hash, salt, &elsa);
}

int pawl__password_verify(struct pawl_passwords *passwords, struct pawl_str hash,
                          struct pawl_str salt, struct pawl_str password, bool *matches,
                          bool *outdated, struct pawl_error *err)
{
    char text[PAWL_PASSWORD_HASH_SIZE] = {0};
    struct pawl_sodium *sodium = NULL;
    struct elsa_hash elsa;
    int status;

    *matches = false;
    *outdated = true;
    if (password.len > PAWL_PASSWORD_BYTES_MAX)
        return PAWL_OK;
    if (!is_ours(hash)) {
        *matches = read_elsa(hash, salt, &elsa) && elsa_matches(&elsa, password);
        return PAWL_OK;
    }
    status = get_library(passwords, &sodium, err);
    if (status != PAWL_OK)
        return status;
    memcpy(text, hash.ptr, hash.len);
    *matches = pawl__sodium_verify(sodium, text, password);
    *outdated = pawl__sodium_is_outdated(sodium, text);
    return PAWL_OK;
}
