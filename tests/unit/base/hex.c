/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hex.h"
#include "lib/test.h"

static void writes_and_reads_all_bytes(void **state)
{
    unsigned char bytes[256], back[256];
    char text[512];

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    for (int letters = PAWL_HEX_LOWER; letters <= PAWL_HEX_UPPER; letters++) {
        pawl__hex_encode(bytes, sizeof bytes, (enum pawl_hex_case)letters, text);
        assert_memory_equal(text + 2 * 0xAB, letters == PAWL_HEX_LOWER ? "ab" : "AB", 2);
        assert_memory_equal(text, "000102", 6);
        memset(back, 0, sizeof back);
        assert_true(pawl__hex_decode(pawl__str_make(text, sizeof text), back));
        assert_memory_equal(back, bytes, sizeof bytes);
    }
    assert_true(pawl__hex_decode(pawl__str(""), NULL));
}

static void refuses_what_is_no_digit(void **state)
{
    unsigned char out[8];

    (void)state;
    assert_false(pawl__hex_decode(pawl__str("abc"), out));
    assert_false(pawl__hex_decode(pawl__str("0g"), out));
    assert_false(pawl__hex_decode(pawl__str("g0"), out));
    assert_false(pawl__hex_decode(pawl__str(" 0"), out));
    for (int c = 0; c < 256; c++) {
        bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');

        assert_true((pawl__hex_value((char)c) >= 0) == digit);
    }
    assert_int_equal(pawl__hex_value('f'), 15);
    assert_int_equal(pawl__hex_value('A'), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_and_reads_all_bytes),
        cmocka_unit_test(refuses_what_is_no_digit),
    };

    return cmocka_run_group_tests_name("base/hex", tests, NULL, NULL);
}
