/* SPDX-License-Identifier: Apache-2.0 */
#include "os/clock_env.h"

#include "lib/test.h"

#define SECOND INT64_C(1000000000)
#define WALL (INT64_C(1767323045) * SECOND)

struct fixture {
    struct pawl_env *system;
    struct pawl_clock_env *clock;
    struct pawl_env *env;
};

static struct fixture fixture_open(void)
{
    struct fixture f;

    assert_int_equal(pawl_system_env_open(&f.system, NULL), PAWL_OK);
    assert_int_equal(pawl__clock_env_open(f.system, NULL, WALL, &f.clock), PAWL_OK);
    f.env = pawl__clock_env(f.clock);
    return f;
}

static void fixture_close(struct fixture *f)
{
    pawl__clock_env_close(f->clock);
    pawl_system_env_close(f->system);
}

static void the_clocks_stand_until_they_are_moved(void **state)
{
    struct fixture f = fixture_open();
    int64_t before = pawl_env_monotonic_ns(f.env);

    (void)state;
    assert_int_equal(pawl_env_wall_ns(f.env), WALL);
    assert_int_equal(pawl_env_monotonic_ns(f.env), before);
    pawl__clock_env_advance(f.clock, 5 * SECOND);
    assert_int_equal(pawl_env_wall_ns(f.env), WALL + 5 * SECOND);
    assert_int_equal(pawl_env_monotonic_ns(f.env), before + 5 * SECOND);
    fixture_close(&f);
}

static void sleeping_for_a_day_takes_no_time(void **state)
{
    struct fixture f = fixture_open();
    int64_t until = pawl_env_monotonic_ns(f.env) + 86400 * SECOND;

    (void)state;
    assert_int_equal(pawl_env_sleep_until(f.env, until), PAWL_OK);
    assert_int_equal(pawl_env_monotonic_ns(f.env), until);
    assert_int_equal(pawl_env_wall_ns(f.env), WALL + 86400 * SECOND);
    assert_int_equal(pawl_env_sleep_until(f.env, until - SECOND), PAWL_OK);
    assert_int_equal(pawl_env_monotonic_ns(f.env), until);
    fixture_close(&f);
}

static void a_wait_until_a_time_that_is_over_ends_at_once(void **state)
{
    struct fixture f = fixture_open();
    struct pawl_mutex *mutex;
    struct pawl_cond *cond;

    (void)state;
    assert_int_equal(pawl_mutex_new(f.env, "test", &mutex), PAWL_OK);
    assert_int_equal(pawl_cond_new(f.env, "test", &cond), PAWL_OK);
    assert_int_equal(pawl_mutex_lock(f.env, mutex), PAWL_OK);
    assert_int_equal(pawl_cond_wait(f.env, cond, mutex, pawl_env_monotonic_ns(f.env)),
                     PAWL_ETIMEDOUT);
    pawl_mutex_unlock(f.env, mutex);
    pawl_cond_free(f.env, cond);
    pawl_mutex_free(f.env, mutex);
    fixture_close(&f);
}

/* A sleep without an end is not a jump to the end of time. */
static void stopping_the_environment_below_ends_a_sleep_without_end(void **state)
{
    struct fixture f = fixture_open();

    (void)state;
    pawl_system_env_stop(f.system);
    assert_int_equal(pawl_env_sleep_until(f.env, PAWL_FOREVER), PAWL_ESTOPPED);
    assert_int_equal(pawl_env_wall_ns(f.env), WALL);
    fixture_close(&f);
}

static int open_and_close(struct test_allocator *alloc, void *arg)
{
    struct pawl_env *system, short_of_memory;
    struct pawl_clock_env *clock = NULL;
    int status;

    (void)arg;
    assert_int_equal(pawl_system_env_open(&system, NULL), PAWL_OK);
    short_of_memory = *system;
    short_of_memory.alloc = alloc->base;
    status = pawl__clock_env_open(&short_of_memory, NULL, WALL, &clock);
    pawl__clock_env_close(clock);
    pawl_system_env_close(system);
    return status;
}

static void opening_without_memory_is_an_error(void **state)
{
    (void)state;
    test_sweep_allocations(open_and_close, NULL, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clocks_stand_until_they_are_moved),
        cmocka_unit_test(sleeping_for_a_day_takes_no_time),
        cmocka_unit_test(a_wait_until_a_time_that_is_over_ends_at_once),
        cmocka_unit_test(stopping_the_environment_below_ends_a_sleep_without_end),
        cmocka_unit_test(opening_without_memory_is_an_error),
    };

    return cmocka_run_group_tests_name("os/clock_env", tests, NULL, NULL);
}
