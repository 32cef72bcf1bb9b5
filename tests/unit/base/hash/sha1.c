/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash/sha1.h"
#include "base/hex.h"
#include "lib/test.h"

#include <stdlib.h>

static void assert_digest(struct pawl_str s, const char *expected)
{
    unsigned char digest[PAWL_SHA1_BYTES];
    char text[2 * PAWL_SHA1_BYTES + 1] = {0};

    pawl__sha1(s, digest);
    pawl__hex_encode(digest, sizeof digest, PAWL_HEX_LOWER, text);
    assert_string_equal(text, expected);
}

static void answers_the_published_digests(void **state)
{
    (void)state;
    assert_digest(pawl__str_make(NULL, 0), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    assert_digest(pawl__str("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
    assert_digest(pawl__str("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
                  "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
}

static void hashes_a_million_letters(void **state)
{
    char *letters = malloc(1000000);

    (void)state;
    assert_non_null(letters);
    memset(letters, 'a', 1000000);
    assert_digest(pawl__str_make(letters, 1000000), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    free(letters);
}

/* Where the length no longer fits into the block with the last bytes, and around whole blocks. */
static void pads_at_every_length(void **state)
{
    static const char *const expected[] = {
        "c1c8bbdc22796e28c0e15163d20899b65621d65a", /* 55 */
        "c2db330f6083854c99d4b5bfb6e8f29f201be699", /* 56 */
        "03f09f5b158a7a8cdad920bddc29b81c18a551f5", /* 63 */
        "0098ba824b5c16427bd7a1122a5a442a25ec644d", /* 64 */
        "11655326c708d70319be2610e8a57d9a5b959d3b", /* 65 */
    };
    static const size_t lengths[] = {55, 56, 63, 64, 65};
    char letters[65];

    (void)state;
    memset(letters, 'a', sizeof letters);
    for (size_t i = 0; i < 5; i++)
        assert_digest(pawl__str_make(letters, lengths[i]), expected[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_the_published_digests),
        cmocka_unit_test(hashes_a_million_letters),
        cmocka_unit_test(pads_at_every_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
