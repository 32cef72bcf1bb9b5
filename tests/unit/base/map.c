/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "lib/test.h"

#include <stdio.h>

static const struct pawl_hash_seed seed = {1, 2};

static void finds_what_was_put_and_nothing_else(void **state)
{
    struct test_allocator alloc;
    struct pawl_map map;
    int a, b;

    (void)state;
    test_allocator_init(&alloc);
    pawl__map_init(&map, &alloc.base, seed);
    assert_null(pawl__map_get(&map, pawl__str("a")));
    assert_false(pawl__map_has(&map, pawl__str("a")));
    assert_null(pawl__map_remove(&map, pawl__str("a")));
    assert_code(pawl__map_put(&map, pawl__str("a"), &a), PAWL_OK);
    assert_code(pawl__map_put(&map, pawl__str(""), &b), PAWL_OK);
    assert_code(pawl__map_put(&map, pawl__str("null"), NULL), PAWL_OK);
    assert_ptr_equal(pawl__map_get(&map, pawl__str("a")), &a);
    assert_ptr_equal(pawl__map_get(&map, pawl__str_make(NULL, 0)), &b);
    assert_null(pawl__map_get(&map, pawl__str("null")));
    assert_true(pawl__map_has(&map, pawl__str("null")));
    assert_false(pawl__map_has(&map, pawl__str("A")));
    assert_int_equal(map.live_count, 3);
    pawl__map_release(&map);
    assert_int_equal(alloc.live_count, 0);
    assert_int_equal(map.live_count, 0);
    assert_null(pawl__map_get(&map, pawl__str("a")));
}

static void iterates_in_insertion_order_whatever_the_seed(void **state)
{
    char keys[300][8];

    (void)state;
    for (uint64_t k = 0; k < 5; k++) {
        struct test_allocator alloc;
        struct pawl_map map;
        struct pawl_map_entry *entry;
        int at = 0;

        test_allocator_init(&alloc);
        pawl__map_init(&map, &alloc.base, (struct pawl_hash_seed){k, k * 7});
        for (int i = 0; i < 300; i++) {
            (void)snprintf(keys[i], sizeof keys[i], "key%d", i);
            assert_code(pawl__map_put(&map, pawl__str(keys[i]), keys[i]), PAWL_OK);
        }
        /* Overwriting keeps the place; a key removed and put again goes to the end. */
        assert_code(pawl__map_put(&map, pawl__str("key5"), keys[6]), PAWL_OK);
        assert_ptr_equal(pawl__map_remove(&map, pawl__str("key0")), keys[0]);
        assert_code(pawl__map_put(&map, pawl__str(keys[0]), keys[0]), PAWL_OK);
        PAWL_MAP_FOR_EACH (entry, &map) {
            assert_str(entry->key, keys[(at + 1) % 300]);
            at++;
        }
        assert_int_equal(at, 300);
        pawl__map_release(&map);
        assert_int_equal(alloc.live_count, 0);
    }
}

static void may_remove_while_iterating(void **state)
{
    char keys[100][8];
    struct test_allocator alloc;
    struct pawl_map map;
    struct pawl_map_entry *entry;
    int count = 0;

    (void)state;
    test_allocator_init(&alloc);
    pawl__map_init(&map, &alloc.base, seed);
    for (int i = 0; i < 100; i++) {
        (void)snprintf(keys[i], sizeof keys[i], "%d", i);
        assert_code(pawl__map_put(&map, pawl__str(keys[i]), keys[i]), PAWL_OK);
    }
    PAWL_MAP_FOR_EACH (entry, &map) {
        if (count++ % 2 == 0)
            assert_non_null(pawl__map_remove(&map, entry->key));
    }
    assert_int_equal(count, 100);
    assert_int_equal(map.live_count, 50);
    for (int i = 0; i < 100; i++)
        assert_true(pawl__map_has(&map, pawl__str(keys[i])) == (i % 2 == 1));
    pawl__map_clear(&map);
    assert_null(pawl__map_entry_from(&map, 0));
    assert_false(pawl__map_has(&map, pawl__str("1")));
    assert_code(pawl__map_put(&map, pawl__str("1"), keys[1]), PAWL_OK);
    assert_ptr_equal(pawl__map_get(&map, pawl__str("1")), keys[1]);
    pawl__map_release(&map);
}

#define KEY_COUNT 200

/* The same operations on the map and on an array, many times over. */
static void agrees_with_a_plain_array(void **state)
{
    char keys[KEY_COUNT][8];
    const void *expected[KEY_COUNT] = {0};
    struct test_allocator alloc;
    struct pawl_map map;
    uint64_t random = 7;
    uint32_t live = 0;

    (void)state;
    test_allocator_init(&alloc);
    pawl__map_init(&map, &alloc.base, seed);
    for (int i = 0; i < KEY_COUNT; i++)
        (void)snprintf(keys[i], sizeof keys[i], "k%d", i);
    for (int step = 0; step < 50000; step++) {
        /* Phases that mostly fill and phases that mostly empty. */
        bool put = test_random(&random) % 8 < (step / 5000 % 2 ? 2u : 6u);
        size_t i = test_random(&random) % KEY_COUNT;

        if (put) {
            char *value = keys[test_random(&random) % KEY_COUNT];

            live += expected[i] == NULL;
            assert_code(pawl__map_put(&map, pawl__str(keys[i]), value), PAWL_OK);
            expected[i] = value;
        } else {
            live -= expected[i] != NULL;
            assert_ptr_equal(pawl__map_remove(&map, pawl__str(keys[i])), expected[i]);
            expected[i] = NULL;
        }
        assert_int_equal(map.live_count, live);
        i = test_random(&random) % KEY_COUNT;
        assert_ptr_equal(pawl__map_get(&map, pawl__str(keys[i])), expected[i]);
    }
    /* Removed entries do not make it grow without end. */
    assert_true(map.slot_count <= 1024);
    pawl__map_release(&map);
    assert_int_equal(alloc.live_count, 0);
}

static void refuses_more_entries_than_its_maximum(void **state)
{
    struct test_allocator alloc;
    struct pawl_map map;
    int value;

    (void)state;
    test_allocator_init(&alloc);
    pawl__map_init(&map, &alloc.base, seed);
    assert_code(pawl__map_put(&map, pawl__str("a"), &value), PAWL_OK);
    /* As if the others were there: so many do not fit into a test. */
    map.live_count = PAWL_MAP_ENTRIES_MAX;
    assert_code(pawl__map_put(&map, pawl__str("b"), &value), PAWL_ELIMIT);
    assert_code(pawl__map_put(&map, pawl__str("a"), NULL), PAWL_OK);
    assert_false(pawl__map_has(&map, pawl__str("b")));
    map.live_count = 1;
    pawl__map_release(&map);
    assert_int_equal(alloc.live_count, 0);
}

static int fill(struct test_allocator *alloc, void *arg)
{
    char keys[100][8];
    struct pawl_map map;
    int status = PAWL_OK, count = 0;

    (void)arg;
    pawl__map_init(&map, &alloc->base, seed);
    for (; count < 100 && status == PAWL_OK; count++) {
        (void)snprintf(keys[count], sizeof keys[count], "%d", count);
        status = pawl__map_put(&map, pawl__str(keys[count]), keys[count]);
    }
    /* A refused growth leaves the map as it was. */
    for (int i = 0; i < count - (status != PAWL_OK); i++)
        assert_ptr_equal(pawl__map_get(&map, pawl__str(keys[i])), keys[i]);
    pawl__map_release(&map);
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
        cmocka_unit_test(finds_what_was_put_and_nothing_else),
        cmocka_unit_test(iterates_in_insertion_order_whatever_the_seed),
        cmocka_unit_test(may_remove_while_iterating),
        cmocka_unit_test(agrees_with_a_plain_array),
        cmocka_unit_test(refuses_more_entries_than_its_maximum),
        cmocka_unit_test(survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("base/map", tests, NULL, NULL);
}
