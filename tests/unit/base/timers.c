/* SPDX-License-Identifier: Apache-2.0 */
#include "base/timers.h"
#include "lib/test.h"

#define COUNT 200

static void fires_in_order_however_timers_are_moved(void **state)
{
    struct test_allocator alloc;
    struct pawl_timers timers;
    struct pawl_timer all[COUNT] = {0};
    uint64_t random = 7;
    int64_t now_ns = 0;

    (void)state;
    test_allocator_init(&alloc);
    pawl__timers_init(&timers, &alloc.base, COUNT);
    for (int i = 0; i < COUNT; i++)
        assert_code(pawl__timers_add(&timers, &all[i]), PAWL_OK);
    for (int round = 0; round < 20000; round++) {
        struct pawl_timer *timer = &all[test_random(&random) % COUNT];
        struct pawl_timer *due;

        switch (test_random(&random) % 8) {
        case 0:
            pawl__timers_set(&timers, timer, PAWL_FOREVER);
            break;
        case 1:
            pawl__timers_remove(&timers, timer);
            assert_code(pawl__timers_add(&timers, timer), PAWL_OK);
            break;
        default:
            pawl__timers_set(&timers, timer, now_ns + (int64_t)(test_random(&random) % 1000));
        }
        now_ns += (int64_t)(test_random(&random) % 20);
        assert_true(pawl__timers_next_ns(&timers) >= 0);
        while ((due = pawl__timers_take_due(&timers, now_ns)) != NULL)
            assert_true(due->due_ns == PAWL_FOREVER);
        for (int i = 0; i < COUNT; i++) {
            assert_true(all[i].due_ns > now_ns); /* none was forgotten */
            assert_true(all[i].due_ns >= pawl__timers_next_ns(&timers));
        }
    }
    for (int i = 0; i < COUNT; i++)
        pawl__timers_remove(&timers, &all[i]);
    pawl__timers_remove(&timers, &all[0]);
    pawl__timers_release(&timers);
    assert_int_equal(alloc.live_count, 0);
}

static void has_a_maximum_and_fails_without_memory(void **state)
{
    struct test_allocator alloc;
    struct pawl_timers timers;
    struct pawl_timer all[3] = {0};

    (void)state;
    test_allocator_init(&alloc);
    pawl__timers_init(&timers, &alloc.base, 2);
    test_allocator_fail(&alloc, 1, 0);
    assert_code(pawl__timers_add(&timers, &all[0]), PAWL_ENOMEM);
    assert_code(pawl__timers_add(&timers, &all[0]), PAWL_OK);
    assert_code(pawl__timers_add(&timers, &all[1]), PAWL_OK);
    assert_code(pawl__timers_add(&timers, &all[2]), PAWL_ELIMIT);
    assert_null(pawl__timers_take_due(&timers, INT64_MAX));
    assert_int_equal(pawl__timers_next_ns(&timers), PAWL_FOREVER);
    pawl__timers_remove(&timers, &all[0]);
    pawl__timers_remove(&timers, &all[1]);
    pawl__timers_release(&timers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fires_in_order_however_timers_are_moved),
        cmocka_unit_test(has_a_maximum_and_fails_without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
