/* SPDX-License-Identifier: Apache-2.0 */
#include "os/errno.h"
#include "lib/test.h"

#include <errno.h>

static void classes_say_what_to_do(void **state)
{
    (void)state;
    assert_code(pawl__os_code(ENOENT), PAWL_ENOTFOUND);
    assert_code(pawl__os_code(EACCES), PAWL_EPERM);
    assert_code(pawl__os_code(EPERM), PAWL_EPERM);
    assert_code(pawl__os_code(EEXIST), PAWL_EEXISTS);
    assert_code(pawl__os_code(ENOSPC), PAWL_EUNAVAILABLE);
    assert_code(pawl__os_code(EDQUOT), PAWL_EUNAVAILABLE);
    assert_code(pawl__os_code(EWOULDBLOCK), PAWL_EUNAVAILABLE);
    assert_code(pawl__os_code(EMFILE), PAWL_EUNAVAILABLE);
    assert_code(pawl__os_code(ECONNREFUSED), PAWL_EUNAVAILABLE);
    assert_code(pawl__os_code(ECONNRESET), PAWL_EUNAVAILABLE);
    assert_code(pawl__os_code(ENETUNREACH), PAWL_EUNAVAILABLE);
    assert_code(pawl__os_code(ETIMEDOUT), PAWL_ETIMEDOUT);
    assert_code(pawl__os_code(EADDRINUSE), PAWL_EBUSY);
    assert_code(pawl__os_code(ENOMEM), PAWL_ENOMEM);
    assert_code(pawl__os_code(EBADF), PAWL_EINTERNAL);
    assert_code(pawl__os_code(EIO), PAWL_EIO);
    assert_code(pawl__os_code(123456), PAWL_EIO);
}

static void message_has_what_why_and_what_to_do(void **state)
{
    struct pawl_error err = PAWL_ERROR_INIT;

    (void)state;
    assert_code(pawl__os_error(&err, ENOENT, "cannot open %s", "/x"), PAWL_ENOTFOUND);
    assert_int_equal(err.code, PAWL_ENOTFOUND);
    assert_string_equal(err.msg, "cannot open /x: No such file or directory");
    assert_code(pawl__os_error(&err, ENOSPC, "cannot write %s", "/x"), PAWL_EUNAVAILABLE);
    assert_string_equal(err.msg, "cannot write /x: No space left on device; make room");
    assert_code(pawl__os_error(&err, 123456, "cannot"), PAWL_EIO);
    assert_string_equal(err.msg, "cannot: unknown error");
    assert_code(pawl__os_error(NULL, EIO, "cannot"), PAWL_EIO);
}

static void a_long_path_leaves_room_for_the_reason(void **state)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    char path[2001];

    (void)state;
    for (size_t i = 0; i < 2000; i += 2)
        memcpy(path + i, "ä", 2);
    path[2000] = '\0';
    /* Both parities, so that one of them would be cut inside a character. */
    assert_code(pawl__os_error(&err, EMFILE, "x%s", path), PAWL_EUNAVAILABLE);
    assert_non_null(strstr(err.msg, "ä…: Too many open files; raise"));
    assert_true(pawl__utf8_valid(pawl__str(err.msg)));
    assert_code(pawl__os_error(&err, EMFILE, "xy%s", path), PAWL_EUNAVAILABLE);
    assert_non_null(strstr(err.msg, "ä…: Too many open files; raise"));
    assert_true(pawl__utf8_valid(pawl__str(err.msg)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_say_what_to_do),
        cmocka_unit_test(message_has_what_why_and_what_to_do),
        cmocka_unit_test(a_long_path_leaves_room_for_the_reason),
    };

    return cmocka_run_group_tests_name("os/errno", tests, NULL, NULL);
}
