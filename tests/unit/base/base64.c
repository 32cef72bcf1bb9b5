/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

#include "lib/test.h"

static void known_texts_go_both_ways(void **state)
{
    static const char *const rows[][2] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
        {"\xFB\xFF\xFE", "+//+"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t len = strlen(rows[i][0]);
        unsigned char bytes[16];
        char text[24];

        assert_int_equal(pawl__base64_len(len), strlen(rows[i][1]));
        pawl__base64_encode((const unsigned char *)rows[i][0], len, text);
        text[pawl__base64_len(len)] = '\0';
        assert_string_equal(text, rows[i][1]);
        assert_int_equal(pawl__base64_decode(pawl__str(rows[i][1]), NULL), len);
        assert_int_equal(pawl__base64_decode(pawl__str(rows[i][1]), bytes), len);
        assert_memory_equal(bytes, rows[i][0], len);
    }
}

static void white_space_is_passed_over_and_the_rest_refused(void **state)
{
    static const char *const bad[] = {"Z",    "Zg",   "Zg=",  "Zg===",    "=Zg=", "Zg==Zg==",
                                      "Z=g=", "Zm9-", "Zm9_", "Zm9v\x80", "====", "Zm9v="};

    (void)state;
    assert_int_equal(pawl__base64_decode(pawl__str(" Zm\r\n9v\t"), NULL), 3);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (pawl__base64_decode(pawl__str(bad[i]), NULL) != SIZE_MAX)
            fail_msg("\"%s\" was accepted", bad[i]);
    }
}

static void the_form_for_urls_goes_both_ways(void **state)
{
    static const char *const rows[][2] = {
        {"", ""},
        {"f", "Zg"},
        {"fo", "Zm8"},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg"},
        {"\xFB\xFF\xFE", "-__-"},
        {"\xFB\xFF", "-_8"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t len = strlen(rows[i][0]);
        unsigned char bytes[16];
        char text[24];

        assert_int_equal(pawl__base64url_len(len), strlen(rows[i][1]));
        pawl__base64url_encode((const unsigned char *)rows[i][0], len, text);
        text[pawl__base64url_len(len)] = '\0';
        assert_string_equal(text, rows[i][1]);
        assert_int_equal(pawl__base64url_decode(pawl__str(rows[i][1]), NULL), len);
        assert_int_equal(pawl__base64url_decode(pawl__str(rows[i][1]), bytes), len);
        assert_memory_equal(bytes, rows[i][0], len);
    }
}

/* Padding, the other alphabet, white space, and bits that no byte has: Zh would be f too. */
static void only_one_text_for_urls_stands_for_given_bytes(void **state)
{
    static const char *const bad[] = {"Z",    "Zg==", "Zm9vY", "Z g",  "Zg\n", "+__-",
                                      "-//-", "Zh",   "Zm9",   "Zm9=", "Zg.",  "\x80g"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_true(pawl__base64url_decode(pawl__str(bad[i]), NULL) == SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_texts_go_both_ways),
        cmocka_unit_test(white_space_is_passed_over_and_the_rest_refused),
        cmocka_unit_test(the_form_for_urls_goes_both_ways),
        cmocka_unit_test(only_one_text_for_urls_stands_for_given_bytes),
    };

    return cmocka_run_group_tests_name("base/base64", tests, NULL, NULL);
}
