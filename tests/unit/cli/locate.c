/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/locate.h"

#include "lib/test.h"

#define SEED ((struct pawl_hash_seed){1, 2})

static const char text[] = "{\n"
                           "  \"a\": [1, {\"b\": true}, [[]], \"é\", 5],\n"
                           "  \"x/y~z\": {\"\": null},\n"
                           "  \"a~1\": 7\n"
                           "}\n";

static const struct {
    const char *pointer;
    uint32_t line;
    uint32_t column;
} cases[] = {
    {"", 1, 1},
    {"/a", 2, 8},
    {"/a/0", 2, 9},
    {"/a/1", 2, 12},
    {"/a/1/b", 2, 18},
    {"/a/2/0", 2, 26},
    {"/a/3", 2, 31},
    {"/a/4", 2, 36},
    {"/x~1y~0z/", 3, 17},
    {"/a~01", 4, 10},
    /* what is not there: the nearest value around it */
    {"/a/9/q", 2, 8},
    {"/a/1/B", 2, 12},
    {"/none", 1, 1},
    {"no pointer", 1, 1},
};

#define COUNT (sizeof cases / sizeof cases[0])

static int locate(struct test_allocator *alloc, void *arg)
{
    struct pawl_json_place *places = arg;
    const char *pointers[COUNT];
    struct pawl_arena arena;
    int status;

    for (size_t i = 0; i < COUNT; i++)
        pointers[i] = cases[i].pointer;
    pawl__arena_init(&arena, &alloc->base, 1 << 20);
    status = pawl__locate_all(&arena, SEED, pawl__str(text), pointers, COUNT, places);
    pawl__arena_release(&arena);
    return status;
}

static void finds_values_or_what_is_around_them(void **state)
{
    struct pawl_json_place places[COUNT];
    struct test_allocator alloc;

    (void)state;
    test_allocator_init(&alloc);
    assert_code(locate(&alloc, places), PAWL_OK);
    for (size_t i = 0; i < COUNT; i++) {
        if (places[i].line != cases[i].line || places[i].column != cases[i].column)
            fail_msg("'%s' at %u:%u, expected %u:%u", cases[i].pointer, places[i].line,
                     places[i].column, cases[i].line, cases[i].column);
    }
    assert_int_equal(alloc.live_count, 0);
}

static void agrees_with_locating_one_at_a_time(void **state)
{
    struct pawl_json_place places[COUNT], place;
    struct test_allocator alloc;

    (void)state;
    test_allocator_init(&alloc);
    assert_code(locate(&alloc, places), PAWL_OK);
    for (size_t i = 0; i < COUNT; i++) {
        if (pawl__json_locate(pawl__str(text), pawl__str(cases[i].pointer), &place) != PAWL_OK)
            continue;
        assert_int_equal(places[i].line, place.line);
        assert_int_equal(places[i].column, place.column);
    }
}

static void survives_refused_allocations(void **state)
{
    struct pawl_json_place places[COUNT];

    (void)state;
    test_sweep_allocations(locate, places, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_values_or_what_is_around_them),
        cmocka_unit_test(agrees_with_locating_one_at_a_time),
        cmocka_unit_test(survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("cli/locate", tests, NULL, NULL);
}
