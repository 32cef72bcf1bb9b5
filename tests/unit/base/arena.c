/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "lib/test.h"

#define PIECE_COUNT 2000

/* Each piece is filled with bytes of its own; what a later one wrote over shows at the end. */
static void hands_out_aligned_memory_that_does_not_overlap(void **state)
{
    struct {
        unsigned char *ptr;
        size_t size;
    } pieces[PIECE_COUNT];
    struct test_allocator alloc;
    struct pawl_arena arena;
    uint64_t random = 1;

    (void)state;
    test_allocator_init(&alloc);
    pawl__arena_init(&arena, &alloc.base, 1 << 20);
    for (size_t i = 0; i < PIECE_COUNT; i++) {
        size_t align = (size_t)1 << test_random(&random) % 5;

        /* Mostly small ones, and now and then one that needs a block of its own. */
        pieces[i].size = test_random(&random) % (i % 100 == 99 ? 9000 : 100) + 1;
        pieces[i].ptr = pawl__arena_alloc_aligned(&arena, pieces[i].size, align);
        assert_non_null(pieces[i].ptr);
        assert_int_equal((uintptr_t)pieces[i].ptr % align, 0);
        for (size_t j = 0; j < pieces[i].size; j++)
            pieces[i].ptr[j] = (unsigned char)(i * 31 + j * 7 + (i >> 8));
    }
    for (size_t i = 0; i < PIECE_COUNT; i++) {
        for (size_t j = 0; j < pieces[i].size; j++)
            assert_int_equal(pieces[i].ptr[j], (unsigned char)(i * 31 + j * 7 + (i >> 8)));
    }
    assert_true(alloc.live_count < 12);
    assert_int_equal(alloc.live_bytes, arena.held_bytes);
    pawl__arena_release(&arena);
    assert_int_equal(alloc.live_bytes, 0);
}

static void zeroes_on_request_and_takes_empty_requests(void **state)
{
    struct test_allocator alloc;
    struct pawl_arena arena;

    (void)state;
    test_allocator_init(&alloc);
    pawl__arena_init(&arena, &alloc.base, 1 << 20);
    for (int round = 0; round < 2; round++) {
        unsigned char *bytes = pawl__arena_alloc_zeroed(&arena, 3000);

        assert_non_null(bytes);
        for (int i = 0; i < 3000; i++)
            assert_int_equal(bytes[i], 0);
        memset(bytes, 0xA5, 3000);
        assert_non_null(pawl__arena_alloc(&arena, 0));
        pawl__arena_reset(&arena);
    }
    pawl__arena_release(&arena);
    pawl__arena_release(&arena);
    assert_non_null(pawl__arena_alloc(&arena, 0));
    pawl__arena_release(&arena);
    assert_int_equal(alloc.live_count, 0);
}

static void uses_its_maximum_to_the_last_byte(void **state)
{
    (void)state;
    for (size_t max = 0; max < 6000; max += 61) {
        struct test_allocator alloc;
        struct pawl_arena arena;

        test_allocator_init(&alloc);
        pawl__arena_init(&arena, &alloc.base, max);
        while (pawl__arena_alloc_aligned(&arena, 1, 1))
            assert_true(alloc.live_bytes <= max);
        assert_code(arena.status, PAWL_ELIMIT);
        assert_true(max - arena.held_bytes <= 16);
        pawl__arena_release(&arena);
        assert_int_equal(alloc.live_count, 0);
    }
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

static void a_rewind_frees_what_came_after_the_mark_and_nothing_before(void **state)
{
    struct test_allocator alloc;
    struct pawl_arena_mark empty, mark;
    struct pawl_arena arena;
    struct pawl_str kept;
    size_t held;

    (void)state;
    test_allocator_init(&alloc);
    pawl__arena_init(&arena, &alloc.base, 1 << 20);
    empty = pawl__arena_mark(&arena);
    kept = pawl__arena_str(&arena, pawl__str("kept"));
    mark = pawl__arena_mark(&arena);
    held = alloc.live_bytes;
    for (int round = 0; round < 10; round++) {
        assert_non_null(pawl__arena_alloc_zeroed(&arena, 100)); /* of the same block */
        assert_non_null(pawl__arena_alloc_zeroed(&arena, 600000));
        assert_null(pawl__arena_alloc(&arena, 600000));
        pawl__arena_rewind(&arena, mark);
        assert_int_equal(arena.status, PAWL_OK);
        assert_int_equal(alloc.live_bytes, held);
        assert_str(kept, "kept");
    }
    pawl__arena_rewind(&arena, empty);
    assert_int_equal(alloc.live_count, 0);
    assert_non_null(pawl__arena_alloc_zeroed(&arena, 100));
    pawl__arena_release(&arena);
    assert_int_equal(alloc.live_count, 0);
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
        cmocka_unit_test(zeroes_on_request_and_takes_empty_requests),
        cmocka_unit_test(uses_its_maximum_to_the_last_byte),
        cmocka_unit_test(refuses_past_its_maximum_and_says_so),
        cmocka_unit_test(reset_keeps_a_block_so_that_a_loop_stops_allocating),
        cmocka_unit_test(a_rewind_frees_what_came_after_the_mark_and_nothing_before),
        cmocka_unit_test(copies_and_formats_strings_with_a_nul_behind),
        cmocka_unit_test(survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("base/arena", tests, NULL, NULL);
}
