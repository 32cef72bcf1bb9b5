/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/str.h"
#include "lib/test.h"

#include <stdio.h>

static void every_code_has_a_name_a_text_and_a_class(void **state)
{
    int count = 0;

    (void)state;
#define CHECK(name, number, class, text)                                                           \
    assert_string_equal(pawl_error_name(PAWL_##name), "PAWL_" #name);                              \
    assert_int_equal(PAWL_##name, number);                                                         \
    assert_string_equal(pawl_error_text(PAWL_##name), text);                                       \
    assert_int_equal(pawl_error_class(PAWL_##name), PAWL_CLASS_##class);                           \
    assert_true((number) < 0 && (number) >= -++count);
    PAWL_ERROR_LIST(CHECK)
#undef CHECK
    assert_string_equal(pawl_error_name(PAWL_OK), "PAWL_OK");
    assert_int_equal(pawl_error_class(PAWL_OK), PAWL_CLASS_NONE);
}

static void what_nobody_knows_is_fatal(void **state)
{
    const int strange[] = {1, -10000, INT32_MAX, INT32_MIN};

    (void)state;
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++) {
        assert_string_equal(pawl_error_name(strange[i]), "PAWL_E?");
        assert_string_equal(pawl_error_text(strange[i]), "unknown error");
        assert_int_equal(pawl_error_class(strange[i]), PAWL_CLASS_FATAL);
    }
}

static void classes_have_names(void **state)
{
    (void)state;
    assert_string_equal(pawl_error_class_name(PAWL_CLASS_NONE), "none");
    assert_string_equal(pawl_error_class_name(PAWL_CLASS_CALLER), "caller");
    assert_string_equal(pawl_error_class_name(PAWL_CLASS_DEFINITE), "definite");
    assert_string_equal(pawl_error_class_name(PAWL_CLASS_TRANSIENT), "transient");
    assert_string_equal(pawl_error_class_name(PAWL_CLASS_UNKNOWN), "unknown");
    assert_string_equal(pawl_error_class_name(PAWL_CLASS_FATAL), "fatal");
}

static void sets_and_prefixes_a_message(void **state)
{
    struct pawl_error err = PAWL_ERROR_INIT;

    (void)state;
    assert_code(pawl__error_prefix(&err, PAWL_EIO, "early"), PAWL_EIO);
    assert_int_equal(err.code, PAWL_OK);
    assert_string_equal(err.msg, "");
    assert_code(pawl__error_set(&err, PAWL_EINVAL, "port %d", 99999), PAWL_EINVAL);
    assert_int_equal(err.code, PAWL_EINVAL);
    assert_string_equal(err.msg, "port 99999");
    assert_code(pawl__error_prefix(&err, PAWL_EIO, "pawl.conf:%d", 7), PAWL_EINVAL);
    assert_string_equal(err.msg, "pawl.conf:7: port 99999");
    assert_code(pawl__error_code(&err, PAWL_ENOMEM), PAWL_ENOMEM);
    assert_string_equal(err.msg, "out of memory");
    assert_code(pawl__error_set(NULL, PAWL_EBUSY, "%s", "nobody listens"), PAWL_EBUSY);
    assert_code(pawl__error_prefix(NULL, PAWL_EBUSY, "x"), PAWL_EBUSY);
    assert_code(pawl__error_code(NULL, PAWL_EBUSY), PAWL_EBUSY);
}

static void check_after_commit(int code)
{
    enum pawl_error_class class = pawl_error_class(code);
    bool is_passed = class == PAWL_CLASS_UNKNOWN || class == PAWL_CLASS_FATAL;
    int after = is_passed ? code : PAWL_EUNKNOWN;
    struct pawl_error err = PAWL_ERROR_INIT;

    assert_int_equal(pawl__error_says_unchanged(code), !is_passed);
    (void)pawl__error_set(&err, code, "why");
    assert_code(pawl__error_after_commit(&err, code, "%s was made", "it"), after);
    assert_int_equal(err.code, after);
    assert_string_equal(err.msg, is_passed ? "why" : "it was made; what followed is unknown: why");
    assert_code(pawl__error_after_commit(NULL, code, "it was made"), after);
}

static void an_error_behind_a_commit_does_not_say_that_nothing_was_changed(void **state)
{
    (void)state;
#define CHECK(name, number, class, text) check_after_commit(number);
    PAWL_ERROR_LIST(CHECK)
#undef CHECK
}

static void no_error_behind_a_commit_is_none(void **state)
{
    struct pawl_error err = PAWL_ERROR_INIT;

    (void)state;
    assert_false(pawl__error_says_unchanged(PAWL_OK));
    assert_int_equal(pawl__error_after_commit(&err, PAWL_OK, "x"), PAWL_OK);
    assert_string_equal(err.msg, "");
    /* One without a message has the text of its code. */
    assert_code(pawl__error_after_commit(&err, PAWL_ENOMEM, "it was made"), PAWL_EUNKNOWN);
    assert_string_equal(err.msg, "it was made; what followed is unknown: out of memory");
}

static bool ends_in_ellipsis(const struct pawl_error *err)
{
    return pawl__str_ends(pawl__str(err->msg), pawl__str("\xE2\x80\xA6"));
}

static void cuts_long_messages_between_characters(void **state)
{
    static const char *const fills[] = {"x", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x90\xBE"};

    (void)state;
    for (size_t kind = 0; kind < 4; kind++) {
        for (size_t shift = 0; shift < 8; shift++) {
            char text[2048] = {0};
            struct pawl_error err = PAWL_ERROR_INIT;

            memset(text, 'a', shift);
            while (strlen(text) < 1000)
                memcpy(text + strlen(text), fills[kind], strlen(fills[kind]));
            (void)pawl__error_set(&err, PAWL_EIO, "%s", text);
            assert_true(strlen(err.msg) > PAWL_ERROR_MSG_SIZE - 8);
            assert_true(ends_in_ellipsis(&err));
            assert_true(pawl__utf8_valid(pawl__str(err.msg)));
            (void)pawl__error_prefix(&err, PAWL_EIO, "%.*s", (int)(400 + shift), text);
            assert_true(strlen(err.msg) > PAWL_ERROR_MSG_SIZE - 8);
            assert_true(ends_in_ellipsis(&err));
            (void)pawl__error_prefix(&err, PAWL_EIO, "%s", text);
            assert_true(strlen(err.msg) > PAWL_ERROR_MSG_SIZE - 8);
            assert_true(ends_in_ellipsis(&err));
            assert_true(pawl__utf8_valid(pawl__str(err.msg)));
            (void)pawl__error_set(&err, PAWL_ENOMEM, "%s", text);
            (void)pawl__error_after_commit(&err, PAWL_ENOMEM, "it was made");
            assert_true(ends_in_ellipsis(&err));
            assert_true(pawl__utf8_valid(pawl__str(err.msg)));
        }
    }
}

static void keeps_messages_that_just_fit(void **state)
{
    struct pawl_error err = PAWL_ERROR_INIT;

    (void)state;
    (void)pawl__error_set(&err, PAWL_EIO, "%0*d", PAWL_ERROR_MSG_SIZE - 1, 7);
    assert_int_equal(strlen(err.msg), PAWL_ERROR_MSG_SIZE - 1);
    assert_int_equal(err.msg[PAWL_ERROR_MSG_SIZE - 2], '7');
    (void)pawl__error_set(&err, PAWL_EIO, "%0*d", PAWL_ERROR_MSG_SIZE, 7);
    assert_true(ends_in_ellipsis(&err));
}

/* Bytes that are no text must not take the readable beginning with them. */
static void keeps_most_of_a_message_with_odd_bytes(void **state)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    char odd[1000];

    (void)state;
    memset(odd, '\x80', sizeof odd);
    odd[sizeof odd - 1] = '\0';
    (void)pawl__error_set(&err, PAWL_EIO, "cannot read the file: %s", odd);
    assert_true(pawl__str_starts(pawl__str(err.msg), pawl__str("cannot read the file: ")));
    assert_true(strlen(err.msg) > PAWL_ERROR_MSG_SIZE - 8);
    assert_true(ends_in_ellipsis(&err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_a_name_a_text_and_a_class),
        cmocka_unit_test(what_nobody_knows_is_fatal),
        cmocka_unit_test(classes_have_names),
        cmocka_unit_test(sets_and_prefixes_a_message),
        cmocka_unit_test(an_error_behind_a_commit_does_not_say_that_nothing_was_changed),
        cmocka_unit_test(no_error_behind_a_commit_is_none),
        cmocka_unit_test(cuts_long_messages_between_characters),
        cmocka_unit_test(keeps_messages_that_just_fit),
        cmocka_unit_test(keeps_most_of_a_message_with_odd_bytes),
    };

    return cmocka_run_group_tests_name("base/error", tests, NULL, NULL);
}
