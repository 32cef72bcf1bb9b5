/* SPDX-License-Identifier: Apache-2.0 */
#include "os/library.h"
#include "lib/test.h"

/* The C library's own mathematics: always there, always as libm.so.6. */
struct math {
    void *padding;
    double (*floor)(double);
    double (*sqrt)(double);
};

static const struct pawl_library_symbol math_symbols[] = {
    PAWL_LIBRARY_SYMBOL(math, floor),
    PAWL_LIBRARY_SYMBOL(math, sqrt),
};

static void fills_the_table(void **state)
{
    const struct pawl_library_need need = {{"libm.so.6"}, "libc6", math_symbols, 2};
    struct pawl_library library = {NULL};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct math math = {0};
    volatile double nine = 9.5; /* so that nothing is computed by the compiler */

    (void)state;
    assert_ok(pawl__library_open(&need, &math, &library, &err), &err);
    assert_true(math.floor(nine) > 8.9 && math.floor(nine) < 9.1);
    assert_true(math.sqrt(nine) > 3.0 && math.sqrt(nine) < 3.1);
    assert_null(math.padding);
    pawl__library_close(&library);
    assert_null(library.handle);
    pawl__library_close(&library);
}

static void tries_the_names_in_order(void **state)
{
    const struct pawl_library_need need = {
        {"libpawl-none.so.2", "libm.so.6", "libpawl-none.so.1"}, "libc6", math_symbols, 2};
    struct pawl_library library = {NULL};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct math math = {0};

    (void)state;
    assert_ok(pawl__library_open(&need, &math, &library, &err), &err);
    assert_non_null((void *)(uintptr_t)math.sqrt);
    pawl__library_close(&library);
}

static void a_missing_library_names_the_package(void **state)
{
    const struct pawl_library_need need = {
        {"libpawl-none.so.5", "libpawl-none.so.4"}, "libpawl-none5", math_symbols, 2};
    struct pawl_library library = {NULL};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct math math = {0};

    (void)state;
    assert_code(pawl__library_open(&need, &math, &library, &err), PAWL_EMISSING);
    assert_string_equal(err.msg,
                        "libpawl-none.so.5 is not installed: apt-get install libpawl-none5");
    assert_null(library.handle);
}

static void a_missing_function_leaves_the_table_untouched(void **state)
{
    static const struct pawl_library_symbol symbols[] = {
        PAWL_LIBRARY_SYMBOL(math, floor),
        {"pawl_no_such_function", offsetof(struct math, sqrt)},
    };
    const struct pawl_library_need need = {{"libm.so.6"}, "libc6", symbols, 2};
    struct pawl_library library = {NULL};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct math math = {0};

    (void)state;
    assert_code(pawl__library_open(&need, &math, &library, &err), PAWL_EMISSING);
    assert_non_null(strstr(err.msg, "libm.so.6 lacks the function pawl_no_such_function"));
    assert_non_null(strstr(err.msg, "apt-get install libc6"));
    assert_true(math.floor == NULL);
    assert_null(library.handle);
}

static void a_file_that_is_no_library_is_told_apart(void **state)
{
    const struct pawl_library_need need = {{"/etc/passwd"}, "libx", math_symbols, 2};
    struct pawl_library library = {NULL};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct math math = {0};

    (void)state;
    assert_code(pawl__library_open(&need, &math, &library, &err), PAWL_EMISSING);
    assert_non_null(strstr(err.msg, "/etc/passwd cannot be loaded: apt-get install --reinstall"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_the_table),
        cmocka_unit_test(tries_the_names_in_order),
        cmocka_unit_test(a_missing_library_names_the_package),
        cmocka_unit_test(a_missing_function_leaves_the_table_untouched),
        cmocka_unit_test(a_file_that_is_no_library_is_told_apart),
    };

    return cmocka_run_group_tests_name("os/library", tests, NULL, NULL);
}
