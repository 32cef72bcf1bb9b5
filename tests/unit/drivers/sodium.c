/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/sodium.h"
#include "host/passwords.h"
#include "lib/test.h"

struct fixture {
    struct test_allocator alloc;
    struct pawl_sodium *sodium;
};

static void open_fixture(struct fixture *f)
{
    struct pawl_error err = PAWL_ERROR_INIT;

    test_allocator_init(&f->alloc);
    assert_ok(pawl__sodium_open(&f->alloc.base, &f->sodium, &err), &err);
}

static void close_fixture(struct fixture *f)
{
    pawl__sodium_close(f->sodium);
    assert_int_equal(f->alloc.live_count, 0);
}

static void a_hash_matches_its_password_alone(void **state)
{
    static const unsigned char salt[PAWL_SODIUM_SALT_BYTES] = {1, 2, 3};
    char hash[PAWL_SODIUM_HASH_SIZE], again[PAWL_SODIUM_HASH_SIZE];
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_ok(pawl__sodium_hash(f.sodium, pawl__str("secret"), salt, hash, NULL), NULL);
    assert_ok(pawl__sodium_hash(f.sodium, pawl__str("secret"), salt, again, NULL), NULL);
    assert_string_equal(hash, again);
    assert_memory_equal(hash, "$argon2id$v=19$m=19456,t=2,p=1$AQIDAAAAAAAAAAAAAAAAAA$", 53);
    assert_true(pawl__sodium_verify(f.sodium, hash, pawl__str("secret")));
    assert_false(pawl__sodium_verify(f.sodium, hash, pawl__str("Secret")));
    assert_false(pawl__sodium_verify(f.sodium, hash, pawl__str("")));
    assert_false(pawl__sodium_is_outdated(f.sodium, hash));
    close_fixture(&f);
}

/* Made by the reference implementation: argon2 password, m=256 KiB. */
static void a_hash_of_another_cost_is_outdated(void **state)
{
    static const char other[] =
        "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_true(pawl__sodium_verify(f.sodium, other, pawl__str("password")));
    assert_true(pawl__sodium_is_outdated(f.sodium, other));
    close_fixture(&f);
}

static void what_is_no_hash_or_costs_too_much_matches_nothing(void **state)
{
    static const char *const bad[] = {
        "",
        "x",
        "$argon2id$",
        "$argon2i$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR",
        "$argon2id$v=19$m=4000000,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
        "$argon2id$v=19$m=256,t=1000,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"};
    static const unsigned char salt[PAWL_SODIUM_SALT_BYTES] = {0};
    char hash[PAWL_SODIUM_HASH_SIZE], password[PAWL_SODIUM_PASSWORD_MAX + 1];
    struct fixture f;

    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(pawl__sodium_verify(f.sodium, bad[i], pawl__str("password")));
    memset(password, 'x', sizeof password);
    assert_code(
        pawl__sodium_hash(f.sodium, pawl__str_make(password, sizeof password), salt, hash, NULL),
        PAWL_ELIMIT);
    close_fixture(&f);
}

static void forms_of_hashes_are_known(void **state)
{
    static const char salt[] = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    static const char sha[] = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    static const char *const known[] = {
        "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4", sha,
        "pbkdf2-sha256$600000$AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="};
    static const char *const unknown[] = {
        "",
        "x",
        "pbkdf2-sha256$0$AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        "pbkdf2-sha256$99999999$AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        "pbkdf2-sha256$600000$AAEC",
        "pbkdf2-sha256$600000"};

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_true(pawl__password_hash_is_known(pawl__str(known[i]), pawl__str(salt)));
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        assert_false(pawl__password_hash_is_known(pawl__str(unknown[i]), pawl__str(salt)));
    assert_false(pawl__password_hash_is_known(pawl__str(sha), pawl__str("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hash_matches_its_password_alone),
        cmocka_unit_test(a_hash_of_another_cost_is_outdated),
        cmocka_unit_test(what_is_no_hash_or_costs_too_much_matches_nothing),
        cmocka_unit_test(forms_of_hashes_are_known),
    };

    return cmocka_run_group_tests_name("drivers/sodium", tests, NULL, NULL);
}
