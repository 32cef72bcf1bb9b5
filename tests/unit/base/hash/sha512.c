/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash/sha512.h"
#include "base/hex.h"
#include "lib/test.h"

#include <stdlib.h>

static void assert_digest(struct pawl_str s, const char *expected)
{
    unsigned char digest[PAWL_SHA512_BYTES];
    char text[2 * PAWL_SHA512_BYTES + 1] = {0};

    pawl__sha512(s, digest);
    pawl__hex_encode(digest, sizeof digest, PAWL_HEX_LOWER, text);
    assert_string_equal(text, expected);
}

static void answers_the_published_digests(void **state)
{
    (void)state;
    assert_digest(pawl__str_make(NULL, 0),
                  "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
                  "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e");
    assert_digest(pawl__str("abc"),
                  "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                  "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
    assert_digest(pawl__str("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                            "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
                  "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018"
                  "501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909");
}

static void hashes_a_million_letters(void **state)
{
    char *letters = malloc(1000000);

    (void)state;
    assert_non_null(letters);
    memset(letters, 'a', 1000000);
    assert_digest(pawl__str_make(letters, 1000000),
                  "e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973eb"
                  "de0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b");
    free(letters);
}

/* Where the length no longer fits into the block with the last bytes, and around whole blocks. */
static void pads_at_every_length(void **state)
{
    static const char *const expected[] = {
        "fa9121c7b32b9e01733d034cfc78cbf67f926c7ed83e82200ef8681819692176"
        "0b4beff48404df811b953828274461673c68d04e297b0eb7b2b4d60fc6b566a2", /* 111 */
        "c01d080efd492776a1c43bd23dd99d0a2e626d481e16782e75d54c2503b5dc32"
        "bd05f0f1ba33e568b88fd2d970929b719ecbb152f58f130a407c8830604b70ca", /* 112 */
        "828613968b501dc00a97e08c73b118aa8876c26b8aac93df128502ab360f91ba"
        "b50a51e088769a5c1eff4782ace147dce3642554199876374291f5d921629502", /* 127 */
        "b73d1929aa615934e61a871596b3f3b33359f42b8175602e89f7e06e5f658a24"
        "3667807ed300314b95cacdd579f3e33abdfbe351909519a846d465c59582f321", /* 128 */
        "4f681e0bd53cda4b5a2041cc8a06f2eabde44fb16c951fbd5b87702f07aeab61"
        "1565b19c47fde30587177ebb852e3971bbd8d3fd30da18d71037dfbd98420429", /* 129 */
    };
    static const size_t lengths[] = {111, 112, 127, 128, 129};
    char letters[129];

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
