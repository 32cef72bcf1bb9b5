/* SPDX-License-Identifier: Apache-2.0 */
/* Passwords by libsodium, see sodium.h. This is the only file that includes <sodium.h>. */
#include "drivers/sodium.h"

#include "base/alloc.h"
#include "base/base64.h"
#include "base/error.h"
#include "os/library.h"

#include <sodium.h>
#include <stdio.h>

/* What OWASP advises for argon2id: 19 MiB and two passes. */
#define MEMORY_KIB 19456u
#define PASSES 2u
#define HASH_BYTES 32
/* A stored hash says its cost: one that asks for more than this is not computed. */
#define MEMORY_KIB_MAX 262144u
#define PASSES_MAX 16u

#define SODIUM_FUNCTIONS(X)                                                                        \
    X(sodium_init)                                                                                 \
    X(crypto_pwhash) X(crypto_pwhash_str_verify) X(crypto_pwhash_str_needs_rehash)

#define MEMBER(function) __typeof__(function) *function;
struct sodium_functions {
    SODIUM_FUNCTIONS(MEMBER)
};
#undef MEMBER

#define SYMBOL(function) PAWL_LIBRARY_SYMBOL(sodium_functions, function),
static const struct pawl_library_symbol symbols[] = {SODIUM_FUNCTIONS(SYMBOL)};
#undef SYMBOL

static const struct pawl_library_need need = {{"libsodium.so.23", "libsodium.so.26"},
                                              "libsodium23",
                                              symbols,
                                              sizeof symbols / sizeof symbols[0]};

struct pawl_sodium {
    const struct pawl_allocator *alloc;
    struct pawl_library library;
    struct sodium_functions call;
};

_Static_assert(PAWL_SODIUM_HASH_SIZE == crypto_pwhash_STRBYTES, "the size of a hash");
_Static_assert(PAWL_SODIUM_SALT_BYTES == crypto_pwhash_SALTBYTES, "the size of a salt");

int pawl__sodium_open(const struct pawl_allocator *alloc, struct pawl_sodium **out,
                      struct pawl_error *err)
{
    struct pawl_sodium *sodium = pawl__alloc_zeroed(alloc, sizeof *sodium);
    int status;

    if (!sodium)
        return pawl__error_code(err, PAWL_ENOMEM);
    sodium->alloc = alloc;
    status = pawl__library_open(&need, &sodium->call, &sodium->library, err);
    if (status == PAWL_OK && sodium->call.sodium_init() < 0)
        status = pawl__error_set(err, PAWL_EINTERNAL, "libsodium cannot be initialised");
    if (status == PAWL_OK)
        *out = sodium;
    else
        pawl__sodium_close(sodium);
    return status;
}

void pawl__sodium_close(struct pawl_sodium *sodium)
{
    if (!sodium)
        return;
    pawl__library_close(&sodium->library);
    pawl__free(sodium->alloc, sodium, sizeof *sodium);
}

/* Base64 without padding, as hashes are written. */
static size_t encode(const unsigned char *bytes, size_t count, char *out)
{
    size_t len = pawl__base64_len(count);

    pawl__base64_encode(bytes, count, out);
    while (len > 0 && out[len - 1] == '=')
        len--;
    out[len] = '\0';
    return len;
}

int pawl__sodium_hash(struct pawl_sodium *sodium, struct pawl_str password,
                      const unsigned char salt[PAWL_SODIUM_SALT_BYTES],
                      char out[PAWL_SODIUM_HASH_SIZE], struct pawl_error *err)
{
    char salt_text[4 * PAWL_SODIUM_SALT_BYTES], hash_text[4 * HASH_BYTES];
    unsigned char hash[HASH_BYTES];

    if (password.len > PAWL_SODIUM_PASSWORD_MAX)
        return pawl__error_set(err, PAWL_ELIMIT, "a password has at most %d bytes",
                               PAWL_SODIUM_PASSWORD_MAX);
    if (sodium->call.crypto_pwhash(hash, sizeof hash, password.ptr ? password.ptr : "",
                                   password.len, salt, PASSES, (size_t)MEMORY_KIB << 10,
                                   crypto_pwhash_ALG_ARGON2ID13) != 0)
        return pawl__error_set(err, PAWL_ENOMEM, "a password cannot be hashed: out of memory");
    (void)encode(salt, PAWL_SODIUM_SALT_BYTES, salt_text);
    (void)encode(hash, sizeof hash, hash_text);
    (void)snprintf(out, PAWL_SODIUM_HASH_SIZE, "$argon2id$v=19$m=%u,t=%u,p=1$%.32s$%.48s",
                   MEMORY_KIB, PASSES, salt_text, hash_text);
    return PAWL_OK;
}

/* A number of the parameters: "m=" or "t="; 0: it is not there. */
static uint32_t parameter(const char *hash, const char *name)
{
    const char *at = strstr(hash, name);
    uint32_t value = 0;

    for (at = at ? at + strlen(name) : ""; *at >= '0' && *at <= '9' && value < 100000000; at++)
        value = value * 10 + (uint32_t)(*at - '0');
    return value;
}

bool pawl__sodium_verify(struct pawl_sodium *sodium, const char *hash, struct pawl_str password)
{
    char padded[PAWL_SODIUM_HASH_SIZE] = {0}; /* the library compares it as a whole */

    if (strlen(hash) >= sizeof padded || password.len > PAWL_SODIUM_PASSWORD_MAX ||
        strncmp(hash, "$argon2id$", 10) != 0 || parameter(hash, "$m=") > MEMORY_KIB_MAX ||
        parameter(hash, ",t=") > PASSES_MAX)
        return false;
    memcpy(padded, hash, strlen(hash));
    return sodium->call.crypto_pwhash_str_verify(padded, password.ptr ? password.ptr : "",
                                                 password.len) == 0;
}

bool pawl__sodium_is_outdated(struct pawl_sodium *sodium, const char *hash)
{
    char padded[PAWL_SODIUM_HASH_SIZE] = {0};

    if (strlen(hash) >= sizeof padded)
        return true;
    memcpy(padded, hash, strlen(hash));
    return sodium->call.crypto_pwhash_str_needs_rehash(padded, PASSES, (size_t)MEMORY_KIB << 10) !=
           0;
}
