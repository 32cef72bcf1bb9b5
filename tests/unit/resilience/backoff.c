/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/backoff.h"
#include "lib/test.h"
#include "os/baton.h"

#define MS ((int64_t)1000000)

static void spans_double_up_to_the_most(void **state)
{
    static const int64_t expected[] = {20, 40, 80, 160, 320, 640, 1000, 1000};

    (void)state;
    for (uint32_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_int_equal(pawl__backoff_span_ns(20 * MS, 1000 * MS, i), expected[i] * MS);
    assert_int_equal(pawl__backoff_span_ns(20 * MS, 1000 * MS, UINT32_MAX), 1000 * MS);
    assert_int_equal(pawl__backoff_span_ns(0, 1000 * MS, UINT32_MAX), 0);
    assert_int_equal(pawl__backoff_span_ns(INT64_MAX / 3, INT64_MAX, 9), INT64_MAX);
}

static void a_spread_stays_within_its_percentage_and_reaches_both_ends(void **state)
{
    (void)state;
    assert_int_equal(pawl__backoff_spread_ns(1000, 0, 5000, 77), 1000);
    assert_int_equal(pawl__backoff_spread_ns(1000, 25, 5000, 0), 750);
    assert_int_equal(pawl__backoff_spread_ns(1000, 25, 5000, 250), 1000);
    assert_int_equal(pawl__backoff_spread_ns(1000, 25, 5000, 500), 1250);
    assert_int_equal(pawl__backoff_spread_ns(1000, 25, 5000, 501), 750);
    assert_int_equal(pawl__backoff_spread_ns(1000, 25, 1100, 500), 1100); /* the most */
    /* Centuries do not overflow. */
    assert_true(pawl__backoff_spread_ns(INT64_MAX, 100, INT64_MAX, UINT64_MAX - 5) >= 0);
}

static void the_second_half_of_a_wait_is_chance(void **state)
{
    struct pawl_baton *baton = NULL;
    struct pawl_env *env = NULL;
    struct test_allocator alloc;
    int64_t least_ns = INT64_MAX, most_ns = 0;

    (void)state;
    test_allocator_init(&alloc);
    assert_ok(pawl__baton_new(&alloc.base, 7, NULL, &baton), NULL);
    assert_ok(pawl__baton_env(baton, "node", &env), NULL);
    for (int i = 0; i < 1000; i++) {
        int64_t wait_ns = pawl__backoff_ns(env, 20 * MS, 1000 * MS, 2);

        assert_true(wait_ns >= 40 * MS && wait_ns <= 80 * MS);
        least_ns = wait_ns < least_ns ? wait_ns : least_ns;
        most_ns = wait_ns > most_ns ? wait_ns : most_ns;
    }
    assert_true(least_ns < 45 * MS && most_ns > 75 * MS);
    /* Centuries do not overflow. */
    assert_true(pawl__backoff_ns(env, INT64_MAX, INT64_MAX, 3) >= INT64_MAX / 2);
    pawl__baton_free(baton);
    assert_int_equal(alloc.live_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_double_up_to_the_most),
        cmocka_unit_test(a_spread_stays_within_its_percentage_and_reaches_both_ends),
        cmocka_unit_test(the_second_half_of_a_wait_is_chance),
    };

    return cmocka_run_group_tests_name("resilience/backoff", tests, NULL, NULL);
}
