/* SPDX-License-Identifier: Apache-2.0 */
/* PBKDF2-HMAC-SHA256 with the vectors of RFC 7914, section 11, and draft-josefsson-scrypt's. */
#include "base/hash/pbkdf2.h"
#include "lib/test.h"

static void check(const char *password, const char *salt, uint32_t rounds, const char *expected)
{
    unsigned char out[PAWL_SHA256_BYTES];
    char digits[2 * PAWL_SHA256_BYTES + 1] = "";

    pawl__pbkdf2_sha256(pawl__str(password), pawl__str(salt), rounds, out);
    pawl__hex_encode(out, sizeof out, PAWL_HEX_LOWER, digits);
    assert_string_equal(digits, expected);
}

static void known_vectors_hold(void **state)
{
    (void)state;
    check("passwd", "salt", 1, "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc");
    check("password", "salt", 1,
          "120fb6cffcf8b32c43e7225256c4f837a86548c92ccc35480805987cb70be17b");
    check("password", "salt", 2,
          "ae4d0c95af6b46d32d0adff928f06dd02a303f8ef3c251dfd6e2d85a95474c43");
    check("password", "salt", 4096,
          "c5e478d59288c841aa530db6845c4c8d962893a001ce4e11a4963873aa98134a");
    check("passwordPASSWORDpassword", "saltSALTsaltSALTsaltSALTsaltSALTsalt", 4096,
          "348c89dbcbd32b2f32d814b8116e84cf2b17347ebc1800181c4e2a1fb8dd53e1");
}

static void a_password_longer_than_a_block_is_hashed_first(void **state)
{
    (void)state;
    /* By Python's hashlib.pbkdf2_hmac("sha256", b"a" * 100, b"salt", 3). */
    check("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
          "aaaaaaaa"
          "aaaa",
          "salt", 3, "338c89a22703aed3e2d593f2febdd48122aedc8ee805d48b5aa2a6b2c2d3db60");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_vectors_hold),
        cmocka_unit_test(a_password_longer_than_a_block_is_hashed_first),
    };

    return cmocka_run_group_tests_name("base/hash/pbkdf2", tests, NULL, NULL);
}
