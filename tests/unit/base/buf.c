/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "lib/test.h"

static void grows_and_keeps_its_content(void **state)
{
    struct test_allocator alloc;
    struct pawl_buf buf;
    uint64_t random = 1;
    char expected[5000];
    size_t length = 0;

    (void)state;
    test_allocator_init(&alloc);
    pawl__buf_init(&buf, &alloc.base, 1 << 20);
    assert_string_equal(pawl__buf_cstr(&buf), "");
    assert_int_equal(alloc.request_count, 0);
    while (length < 4000) {
        size_t count = test_random(&random) % 200;

        for (size_t i = 0; i < count; i++)
            expected[length + i] = (char)test_random(&random);
        pawl__buf_append(&buf, expected + length, count);
        length += count;
        assert_true(buf.len < buf.cap);
    }
    assert_int_equal(buf.status, PAWL_OK);
    assert_int_equal(buf.len, length);
    assert_memory_equal(buf.ptr, expected, length);
    assert_true(alloc.request_count <= 8);
    assert_int_equal(pawl__buf_cstr(&buf)[length], '\0');
    assert_int_equal(alloc.live_bytes, buf.cap);
    pawl__buf_release(&buf);
    assert_int_equal(alloc.live_count, 0);
    pawl__buf_byte(&buf, 'x');
    assert_str(pawl__buf_peek(&buf), "x");
    pawl__buf_release(&buf);
    assert_int_equal(alloc.live_count, 0);
}

static void formats_text_and_numbers(void **state)
{
    struct test_allocator alloc;
    struct pawl_buf buf;

    (void)state;
    test_allocator_init(&alloc);
    pawl__buf_init(&buf, &alloc.base, 1 << 20);
    pawl__buf_int(&buf, INT64_MIN);
    pawl__buf_byte(&buf, ' ');
    pawl__buf_int(&buf, INT64_MAX);
    pawl__buf_text(&buf, " ");
    pawl__buf_int(&buf, 0);
    pawl__buf_printf(&buf, " %s=%d", "x", -7);
    pawl__buf_printf(&buf, "%s", "");
    pawl__buf_str(&buf, pawl__str_make(NULL, 0));
    assert_string_equal(pawl__buf_cstr(&buf), "-9223372036854775808 9223372036854775807 0 x=-7");
    for (int i = 0; i < 100; i++)
        pawl__buf_printf(&buf, "%063d|", i); /* exact fits of 64 */
    assert_int_equal(buf.len, 47 + 6400);
    assert_int_equal(buf.ptr[buf.len - 1], '|');
    pawl__buf_release(&buf);
}

static void takes_exactly_its_maximum_and_not_a_byte_more(void **state)
{
    (void)state;
    for (size_t max = 0; max < 200; max++) {
        struct test_allocator alloc;
        struct pawl_buf buf;

        test_allocator_init(&alloc);
        pawl__buf_init(&buf, &alloc.base, max);
        for (size_t i = 0; i < max; i++)
            pawl__buf_byte(&buf, 'a');
        assert_int_equal(buf.status, PAWL_OK);
        assert_int_equal(buf.len, max);
        assert_true(alloc.live_bytes <= max + 1);
        assert_int_equal(strlen(pawl__buf_cstr(&buf)), max);
        pawl__buf_byte(&buf, 'b');
        assert_code(buf.status, PAWL_ELIMIT);
        assert_int_equal(buf.len, max);
        pawl__buf_release(&buf);
        assert_int_equal(buf.status, PAWL_OK);
    }
}

static void stays_failed_until_cleared(void **state)
{
    struct test_allocator alloc;
    struct pawl_buf buf;

    (void)state;
    test_allocator_init(&alloc);
    pawl__buf_init(&buf, &alloc.base, 10);
    pawl__buf_text(&buf, "12345678");
    pawl__buf_text(&buf, "overflow");
    assert_code(buf.status, PAWL_ELIMIT);
    pawl__buf_byte(&buf, '9'); /* would fit, but the text would then have a hole */
    pawl__buf_printf(&buf, "%d", 9);
    pawl__buf_int(&buf, 9);
    assert_null(pawl__buf_reserve(&buf, 0));
    assert_string_equal(pawl__buf_cstr(&buf), "12345678");
    assert_null(pawl__buf_reserve(&buf, SIZE_MAX));
    pawl__buf_clear(&buf);
    pawl__buf_text(&buf, "1234567890");
    assert_string_equal(pawl__buf_cstr(&buf), "1234567890");
    pawl__buf_release(&buf);
}

static void refuses_a_growth_whose_size_overflows(void **state)
{
    struct test_allocator alloc;
    struct pawl_buf buf;

    (void)state;
    test_allocator_init(&alloc);
    pawl__buf_init(&buf, &alloc.base, SIZE_MAX / 4 - 1);
    pawl__buf_byte(&buf, 'x');
    assert_null(pawl__buf_reserve(&buf, SIZE_MAX - 1));
    assert_code(buf.status, PAWL_ELIMIT);
    pawl__buf_release(&buf);
}

static int fill(struct test_allocator *alloc, void *arg)
{
    struct pawl_buf buf;
    int status;

    (void)arg;
    pawl__buf_init(&buf, &alloc->base, 1 << 20);
    for (int i = 0; i < 100; i++)
        pawl__buf_printf(&buf, "%d %s;", i, "some text to make it grow a few times");
    status = buf.status;
    if (status == PAWL_OK)
        assert_true(strncmp(pawl__buf_cstr(&buf), "0 some text", 11) == 0);
    pawl__buf_release(&buf);
    return status;
}

static void survives_refused_allocations(void **state)
{
    (void)state;
    test_sweep_allocations(fill, NULL, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_and_keeps_its_content),
        cmocka_unit_test(formats_text_and_numbers),
        cmocka_unit_test(takes_exactly_its_maximum_and_not_a_byte_more),
        cmocka_unit_test(stays_failed_until_cleared),
        cmocka_unit_test(refuses_a_growth_whose_size_overflows),
        cmocka_unit_test(survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("base/buf", tests, NULL, NULL);
}
