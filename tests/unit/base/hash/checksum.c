/* SPDX-License-Identifier: Apache-2.0 */
/* XXH64: the published values, every length around a stripe, and single bits that changed. */
#include "base/hash/checksum.h"
#include "lib/test.h"

static void published_values_come_out(void **state)
{
    (void)state;
    assert_true(pawl__checksum(pawl__str("")) == UINT64_C(0xef46db3751d8e999));
    assert_true(pawl__checksum(pawl__str("a")) == UINT64_C(0xd24ec4f1a98c6e5b));
    assert_true(pawl__checksum(pawl__str("abc")) == UINT64_C(0x44bc2cf5ad770999));
    assert_true(pawl__checksum(pawl__str("Nobody inspects the spammish repetition")) ==
                UINT64_C(0xfbcea83c8a378bf1));
}

static void every_bit_counts(void **state)
{
    unsigned char bytes[101];

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 37);
    for (size_t len = 1; len <= sizeof bytes; len++) {
        const struct pawl_str text = pawl__str_make((const char *)bytes, len);
        uint64_t before = pawl__checksum(text);

        assert_true(before != pawl__checksum(pawl__str_slice(text, 0, len - 1)));
        for (size_t bit = 0; bit < len * 8; bit++) {
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            assert_true(pawl__checksum(text) != before);
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_values_come_out),
        cmocka_unit_test(every_bit_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
