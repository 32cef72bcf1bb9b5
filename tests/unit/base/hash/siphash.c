/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash/siphash.h"
#include "lib/test.h"

/* SipHash-1-3 of the bytes 0, 1, 2, … under the key 00 01 … 0f, one for each length from 0. */
static const uint64_t reference[64] = {
    UINT64_C(0xabac0158050fc4dc), UINT64_C(0xc9f49bf37d57ca93), UINT64_C(0x82cb9b024dc7d44d),
    UINT64_C(0x8bf80ab8e7ddf7fb), UINT64_C(0xcf75576088d38328), UINT64_C(0xdef9d52f49533b67),
    UINT64_C(0xc50d2b50c59f22a7), UINT64_C(0xd3927d989bb11140), UINT64_C(0x369095118d299a8e),
    UINT64_C(0x25a48eb36c063de4), UINT64_C(0x79de85ee92ff097f), UINT64_C(0x70c118c1f94dc352),
    UINT64_C(0x78a384b157b4d9a2), UINT64_C(0x306f760c1229ffa7), UINT64_C(0x605aa111c0f95d34),
    UINT64_C(0xd320d86d2a519956), UINT64_C(0xcc4fdd1a7d908b66), UINT64_C(0x9cf2689063dbd80c),
    UINT64_C(0x8ffc389cb473e63e), UINT64_C(0xf21f9de58d297d1c), UINT64_C(0xc0dc2f46a6cce040),
    UINT64_C(0xb992abfe2b45f844), UINT64_C(0x7ffe7b9ba320872e), UINT64_C(0x525a0e7fdae6c123),
    UINT64_C(0xf464aeb267349c8c), UINT64_C(0x45cd5928705b0979), UINT64_C(0x3a3e35e3ca9913a5),
    UINT64_C(0xa91dc74e4ade3b35), UINT64_C(0xfb0bed02ef6cd00d), UINT64_C(0x88d93cb44ab1e1f4),
    UINT64_C(0x540f11d643c5e663), UINT64_C(0x2370dd1f8c21d1bc), UINT64_C(0x81157b6c16a7b60d),
    UINT64_C(0x4d54b9e57a8ff9bf), UINT64_C(0x759f12781f2a753e), UINT64_C(0xcea1a3bebf186b91),
    UINT64_C(0x2cf508d3ada26206), UINT64_C(0xb6101c2da3c33057), UINT64_C(0xb3f47496ae3a36a1),
    UINT64_C(0x626b57547b108392), UINT64_C(0xc1d2363299e41531), UINT64_C(0x667cc1923f1ad944),
    UINT64_C(0x65704ffec8138825), UINT64_C(0x24f280d1c28949a6), UINT64_C(0xc2ca1cedfaf8876b),
    UINT64_C(0xc2164bfc9f042196), UINT64_C(0xa16e9c9368b1d623), UINT64_C(0x49fb169c8b5114fd),
    UINT64_C(0x9f3143f8df074c46), UINT64_C(0xc6fdaf2412cc86b3), UINT64_C(0x7eaf49d10a52098f),
    UINT64_C(0x1cf313559d292f9a), UINT64_C(0xc44a30dda2f41f12), UINT64_C(0x36fae98943a71ed0),
    UINT64_C(0x318fb34c73f0bce6), UINT64_C(0xa27abf3670a7e980), UINT64_C(0xb4bcc0db243c6d75),
    UINT64_C(0x23f8d852fdb71513), UINT64_C(0x8f035f4da67d8a08), UINT64_C(0xd89cd0e5b7e8f148),
    UINT64_C(0xf6f4e6bcf7a644ee), UINT64_C(0xaec59ad80f1837f2), UINT64_C(0xc3b2f6154b6694e0),
    UINT64_C(0x9d199062b7bbb3a8),
};

static void answers_the_reference_values(void **state)
{
    struct pawl_hash_seed seed = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
    char bytes[64];

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)i;
    for (size_t length = 0; length < 64; length++)
        assert_true(pawl__siphash(seed, pawl__str_make(bytes, length)) == reference[length]);
    assert_true(pawl__siphash((struct pawl_hash_seed){0, 0}, pawl__str("")) ==
                UINT64_C(0xd1fba762150c532c));
}

static void accepts_the_empty_string_without_memory(void **state)
{
    struct pawl_hash_seed seed = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};

    (void)state;
    assert_true(pawl__siphash(seed, pawl__str_make(NULL, 0)) == reference[0]);
}

static void does_not_depend_on_where_the_bytes_are(void **state)
{
    struct pawl_hash_seed seed = {1, 2};
    char room[64 + 8];
    uint64_t first = 0;

    (void)state;
    for (size_t shift = 0; shift < 8; shift++) {
        uint64_t hash;

        memcpy(room + shift, "a text that is longer than three words", 38);
        hash = pawl__siphash(seed, pawl__str_make(room + shift, 38));
        if (shift == 0)
            first = hash;
        assert_true(hash == first);
    }
    assert_true(pawl__siphash((struct pawl_hash_seed){1, 3}, pawl__str_make(room + 7, 38)) !=
                first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_the_reference_values),
        cmocka_unit_test(accepts_the_empty_string_without_memory),
        cmocka_unit_test(does_not_depend_on_where_the_bytes_are),
    };

    return cmocka_run_group_tests_name("base/siphash", tests, NULL, NULL);
}
