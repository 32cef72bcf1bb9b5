/* SPDX-License-Identifier: Apache-2.0 */
#include "api/credential.h"

#include "lib/test.h"

struct row {
    const char *field;
    enum pawl_scheme scheme;
    const char *text;
};

static void schemes_are_told_apart_as_elsa_does(void **state)
{
    static const struct row rows[] = {
        {"ApiKey abc", PAWL_SCHEME_KEY, "abc"},
        {"  ApiKey   abc  ", PAWL_SCHEME_KEY, "abc"},
        {"ApiKey", PAWL_SCHEME_KEY, ""},
        {"ApiKey ", PAWL_SCHEME_KEY, ""},
        {"apikey abc", PAWL_SCHEME_NONE, "abc"},
        {"ApiKeyabc", PAWL_SCHEME_NONE, ""},
        {"Bearer abc", PAWL_SCHEME_BEARER, "abc"},
        {"bEARER abc", PAWL_SCHEME_BEARER, "abc"},
        {"Bearer ", PAWL_SCHEME_NONE, ""},
        {"Bearer", PAWL_SCHEME_NONE, ""},
        {"Basic YTpi", PAWL_SCHEME_NONE, "YTpi"},
        {"abc", PAWL_SCHEME_NONE, ""},
        {"", PAWL_SCHEME_NONE, ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct pawl_str text;

        assert_int_equal(pawl__authorization_read(pawl__str(rows[i].field), &text), rows[i].scheme);
        assert_str(text, rows[i].text);
    }
    assert_int_equal(pawl__authorization_read(pawl__str_make(NULL, 0), &(struct pawl_str){NULL, 0}),
                     PAWL_SCHEME_NONE);
}

static void cookies_are_found_by_their_whole_name(void **state)
{
    struct pawl_str field =
        pawl__str("a=1; session=x; xsession=no; b=\"quoted\"; c=; session=late");

    (void)state;
    assert_str(pawl__cookie_find(field, "session"), "x");
    assert_str(pawl__cookie_find(field, "a"), "1");
    assert_str(pawl__cookie_find(field, "b"), "quoted");
    assert_non_null(pawl__cookie_find(field, "c").ptr);
    assert_int_equal(pawl__cookie_find(field, "c").len, 0);
    assert_null(pawl__cookie_find(field, "sess").ptr);
    assert_null(pawl__cookie_find(pawl__str_make(NULL, 0), "a").ptr);
    assert_null(pawl__cookie_find(pawl__str(";;; ;="), "a").ptr);
}

static void parameters_are_found_in_a_query(void **state)
{
    (void)state;
    assert_str(pawl__query_find(pawl__str("x=1&t=abc&t=no"), "t"), "abc");
    assert_null(pawl__query_find(pawl__str("tt=1"), "t").ptr);
    assert_null(pawl__query_find(pawl__str(""), "t").ptr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schemes_are_told_apart_as_elsa_does),
        cmocka_unit_test(cookies_are_found_by_their_whole_name),
        cmocka_unit_test(parameters_are_found_in_a_query),
    };

    return cmocka_run_group_tests_name("api/credential", tests, NULL, NULL);
}
