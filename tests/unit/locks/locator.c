/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the URIs of providers. */
#include "locks/locator.h"
#include "lib/test.h"

struct fixture {
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_locator locator;
    struct pawl_error err;
};

static int parse(struct fixture *f, const char *uri)
{
    test_allocator_init(&f->alloc);
    pawl__arena_init(&f->arena, &f->alloc.base, (size_t)1 << 20);
    return pawl__locator_parse(pawl__str(uri), &f->arena, &f->locator, &f->err);
}

static void release(struct fixture *f)
{
    pawl__arena_release(&f->arena);
    assert_int_equal(f->alloc.live_count, 0);
}

static void each_part_is_decoded(void **state)
{
    struct fixture f;

    (void)state;
    assert_ok(parse(&f, "x://us%65r:p%40ss@w@host:123/pa%2Fth/more?a=1&b=%26&c&&a=2"), &f.err);
    assert_string_equal(f.locator.user, "user");
    assert_string_equal(f.locator.password, "p@ss@w");
    assert_string_equal(f.locator.host, "host");
    assert_int_equal(f.locator.port, 123);
    assert_string_equal(f.locator.path, "pa/th/more");
    assert_string_equal(pawl__locator_option(&f.locator, "a"), "2"); /* the last one counts */
    assert_string_equal(pawl__locator_option(&f.locator, "b"), "&");
    assert_string_equal(pawl__locator_option(&f.locator, "c"), "");
    assert_null(pawl__locator_option(&f.locator, "d"));
    assert_ok(pawl__locator_finish(&f.locator, "a, b", &f.err), &f.err);
    release(&f);
}

static void parts_may_be_missing(void **state)
{
    struct fixture f;

    (void)state;
    assert_ok(parse(&f, "x://"), &f.err);
    assert_string_equal(f.locator.host, "");
    release(&f);
    assert_ok(parse(&f, "x://[::1]:7"), &f.err);
    assert_string_equal(f.locator.host, "::1");
    assert_int_equal(f.locator.port, 7);
    release(&f);
    assert_ok(parse(&f, "x:///path?q=/"), &f.err);
    assert_string_equal(f.locator.path, "path");
    assert_string_equal(pawl__locator_option(&f.locator, "q"), "/");
    release(&f);
    assert_ok(parse(&f, "x://host?q=a/b"), &f.err);
    assert_string_equal(f.locator.host, "host");
    assert_string_equal(f.locator.path, "");
    release(&f);
}

static void what_is_wrong_is_said_without_the_password(void **state)
{
    static const char *const wrong[] = {"x",
                                        "x:host",
                                        "x://u:secret@host:",
                                        "x://u:secret@host:70000",
                                        "x://u:secret@host:12a",
                                        "x://u:secret@[::1",
                                        "x://u:secret@[::1]7",
                                        "x://u:secret%zz@host",
                                        "x://u:secret%4",
                                        "x://u:secret@host/%00",
                                        "x://u:secret@host/?%"};
    struct fixture f;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_code(parse(&f, wrong[i]), PAWL_EINVAL);
        assert_null(strstr(f.err.msg, "secret"));
        release(&f);
    }
}

static void options_are_numbers_and_switches_within_bounds(void **state)
{
    struct fixture f;
    int64_t number = 0;
    bool on = false;

    (void)state;
    assert_ok(parse(&f, "x://h?n=12&m=99999999999999999999&e=&s=yes&w=perhaps"), &f.err);
    assert_ok(pawl__locator_number(&f.locator, "n", 0, 12, 5, &number, &f.err), &f.err);
    assert_int_equal(number, 12);
    assert_code(pawl__locator_number(&f.locator, "n", 13, 20, 5, &number, &f.err), PAWL_EINVAL);
    assert_code(pawl__locator_number(&f.locator, "m", 0, 100, 5, &number, &f.err), PAWL_EINVAL);
    assert_code(pawl__locator_number(&f.locator, "e", 0, 100, 5, &number, &f.err), PAWL_EINVAL);
    assert_ok(pawl__locator_number(&f.locator, "z", 0, 100, 5, &number, &f.err), &f.err);
    assert_int_equal(number, 5);
    assert_code(pawl__locator_finish(&f.locator, "n", &f.err), PAWL_EINVAL); /* s and w */
    assert_ok(pawl__locator_switch(&f.locator, "s", false, &on, &f.err), &f.err);
    assert_true(on);
    assert_code(pawl__locator_switch(&f.locator, "w", false, &on, &f.err), PAWL_EINVAL);
    release(&f);
}

static void too_much_is_refused(void **state)
{
    char uri[PAWL_LOCATOR_BYTES_MAX + 10] = "x://h?";
    struct fixture f;

    (void)state;
    for (int i = 0; i < PAWL_LOCATOR_OPTIONS_MAX + 1; i++)
        memcpy(uri + 6 + 4 * i, "a=b&", 4);
    assert_code(parse(&f, uri), PAWL_ELIMIT);
    release(&f);
    memset(uri + 4, 'a', sizeof uri - 5);
    assert_code(parse(&f, uri), PAWL_ELIMIT);
    release(&f);
}

static int parse_one(struct test_allocator *alloc, void *arg)
{
    struct pawl_locator locator;
    struct pawl_arena arena;
    int status;

    pawl__arena_init(&arena, &alloc->base, (size_t)1 << 20);
    status = pawl__locator_parse(pawl__str(arg), &arena, &locator, NULL);
    pawl__arena_release(&arena);
    return status;
}

static void running_out_of_memory_is_an_error(void **state)
{
    char uri[] = "x://user:password@host:1/path?a=b&c=d";

    (void)state;
    test_sweep_allocations(parse_one, uri, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_is_decoded),
        cmocka_unit_test(parts_may_be_missing),
        cmocka_unit_test(what_is_wrong_is_said_without_the_password),
        cmocka_unit_test(options_are_numbers_and_switches_within_bounds),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(running_out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests_name("locks/locator", tests, NULL, NULL);
}
