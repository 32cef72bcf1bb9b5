/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "lib/test.h"

static void hands_out_aligned_memory_that_does_not_overlap(void **state)
{
    struct test_allocator alloc;
    struct pawl_arena arena;
    uint64_t random = 1;

    (void)state;
    test_allocator_init(&alloc);
    pawl__arena_init(&arena, &alloc.base, 1 << 20);
    char *previous_end = NULL;
    for (int i = 0; i < 2000; i++) {
        size_t size = test_random(&random) % 100 + 1;
        size_t align = (size_t)1 << test_random(&random) % 5;
        char *ptr = pawl__arena_alloc_aligned(&arena, size, align);

        assert_non_null(ptr);
        assert_int_equal((uintptr_t)ptr % align, 0);
        if (previous_end && ptr < previous_end)
            assert_true(ptr + size <= previous_end - 1 || ptr >= previous_end);
        memset(ptr, 0x5A, size);
        previous_end = ptr + size;
    }
    assert_true(alloc.live_count < 12);
    pawl__arena_release(&arena);
    assert_int_equal(alloc.live_bytes, 0);
}

static void refuses_past_its_maximum_and_says_so(void **state)
{
    struct test_allocator alloc;
    struct pawl_arena arena;

    (void)state;
    test_allocator_init(&alloc);
    pawl__arena_init(&arena, &alloc.base, 10000);
    assert_non_null(pawl__arena_alloc(&arena, 5000));
    assert_int_equal(arena.status, PAWL_OK);
    assert_null(pawl__arena_alloc(&arena, 6000));
    assert_code(arena.status, PAWL_ELIMIT);
    assert_null(pawl__arena_alloc_array(&arena, SIZE_MAX / 2, 4));
    pawl__arena_reset(&arena);
    assert_int_equal(arena.status, PAWL_OK);
    assert_non_null(pawl__arena_alloc(&arena, 4000));
    assert_true(alloc.live_bytes <= 10000);
    pawl__arena_release(&arena);
    assert_int_equal(alloc.live_count, 0);
}

static void reset_keeps_a_block_so_that_a_loop_stops_allocating(void **state)
{
    struct test_allocator alloc;
    struct pawl_arena arena;
    size_t requests;

    (void)state;
    test_allocator_init(&alloc);
    pawl__arena_init(&arena, &alloc.base, 1 << 20);
    for (int i = 0; i < 50; i++)
        assert_non_null(pawl__arena_alloc(&arena, 1000));
    pawl__arena_reset(&arena);
    requests = alloc.request_count;
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 20; i++)
            assert_non_null(pawl__arena_alloc(&arena, 1000));
        pawl__arena_reset(&arena);
    }
    assert_int_equal(alloc.request_count, requests);
    pawl__arena_release(&arena);
}

static void copies_and_formats_strings_with_a_nul_behind(void **state)
{
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_str copy;

    (void)state;
    test_allocator_init(&alloc);
    pawl__arena_init(&arena, &alloc.base, 1 << 20);
    copy = pawl__arena_str(&arena, pawl__str_make("abcdef", 3));
    assert_str(copy, "abc");
    assert_int_equal(copy.ptr[3], '\0');
    assert_str(pawl__arena_str(&arena, pawl__str("")), "");
    assert_string_equal(pawl__arena_printf(&arena, "%d/%s", 7, "x"), "7/x");
    pawl__arena_release(&arena);
}

static int fill(struct test_allocator *alloc, void *arg)
{
    struct pawl_arena arena;
    int status = PAWL_OK;

    (void)arg;
    pawl__arena_init(&arena, &alloc->base, 1 << 20);
    for (int i = 0; i < 100 && status == PAWL_OK; i++) {
        if (!pawl__arena_alloc(&arena, 500))
            status = arena.status;
    }
    pawl__arena_release(&arena);
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
        cmocka_unit_test(hands_out_aligned_memory_that_does_not_overlap),
        cmocka_unit_test(refuses_past_its_maximum_and_says_so),
        cmocka_unit_test(reset_keeps_a_block_so_that_a_loop_stops_allocating),
        cmocka_unit_test(copies_and_formats_strings_with_a_nul_behind),
        cmocka_unit_test(survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("base/arena", tests, NULL, NULL);
}
