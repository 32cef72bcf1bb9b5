/* SPDX-License-Identifier: Apache-2.0 */
/* HMAC-SHA256 with the vectors of RFC 4231. */
#include "base/hash/hmac.h"
#include "lib/test.h"

static void check(struct pawl_str key, struct pawl_str text, const char *expected)
{
    unsigned char digest[PAWL_SHA256_BYTES];
    char digits[2 * PAWL_SHA256_BYTES + 1] = "";

    pawl__hmac_sha256(key, text, digest);
    pawl__hex_encode(digest, sizeof digest, PAWL_HEX_LOWER, digits);
    assert_string_equal(digits, expected);
}

static void the_vectors_of_rfc_4231_hold(void **state)
{
    char key[131], text[50];

    (void)state;
    memset(key, 0x0b, 20);
    check(pawl__str_make(key, 20), pawl__str("Hi There"),
          "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    check(pawl__str("Jefe"), pawl__str("what do ya want for nothing?"),
          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, 20);
    memset(text, 0xdd, 50);
    check(pawl__str_make(key, 20), pawl__str_make(text, 50),
          "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
}

static void a_key_longer_than_a_block_is_hashed_first(void **state)
{
    char key[131];

    (void)state;
    memset(key, 0xaa, sizeof key);
    check(pawl__str_make(key, sizeof key),
          pawl__str("Test Using Larger Than Block-Size Key - Hash Key First"),
          "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

static void nothing_has_a_code_too(void **state)
{
    (void)state;
    check(pawl__str(""), pawl__str(""),
          "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_of_rfc_4231_hold),
        cmocka_unit_test(a_key_longer_than_a_block_is_hashed_first),
        cmocka_unit_test(nothing_has_a_code_too),
    };

    return cmocka_run_group_tests_name("base/hmac", tests, NULL, NULL);
}
