/* SPDX-License-Identifier: Apache-2.0 */
#include "api/limiter.h"

#include "lib/test.h"

#include <stdio.h>

#define S INT64_C(1000000000)

static const struct pawl_limit limit = {3, 2 * S};

struct fixture {
    struct pawl_env *env;
    struct pawl_limiter *limiter;
};

static void open_fixture(struct fixture *f, uint32_t places)
{
    struct pawl_error err = PAWL_ERROR_INIT;

    assert_ok(pawl_system_env_open(&f->env, &err), &err);
    assert_ok(pawl__limiter_new(f->env, places, &f->limiter, &err), &err);
}

static void close_fixture(struct fixture *f)
{
    pawl__limiter_free(f->limiter);
    pawl_system_env_close(f->env);
}

static int64_t use(struct fixture *f, const char *name, int64_t now_ns)
{
    return pawl__limiter_use(f->limiter, pawl__str(name), &limit, now_ns);
}

static void a_bucket_empties_and_fills_with_time(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, 64);
    for (int i = 0; i < 3; i++)
        assert_int_equal(use(&f, "a", 100 * S), 0);
    assert_int_equal(use(&f, "a", 100 * S), 2);
    assert_int_equal(use(&f, "a", 101 * S), 1);
    assert_int_equal(use(&f, "b", 101 * S), 0);
    assert_int_equal(use(&f, "a", 102 * S), 0);
    assert_int_equal(use(&f, "a", 102 * S), 2);
    /* However long it fills, it holds no more than its burst. */
    for (int i = 0; i < 3; i++)
        assert_int_equal(use(&f, "a", 1000 * S), 0);
    assert_int_equal(use(&f, "a", 1000 * S), 2);
    close_fixture(&f);
}

static void what_is_given_back_can_be_used_again(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, 64);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(use(&f, "a", 100 * S), 0);
        pawl__limiter_return(f.limiter, pawl__str("a"), &limit);
    }
    close_fixture(&f);
}

static void no_interval_is_no_limit(void **state)
{
    const struct pawl_limit none = {0};
    struct fixture f;

    (void)state;
    open_fixture(&f, 64);
    for (int i = 0; i < 100; i++)
        assert_int_equal(pawl__limiter_use(f.limiter, pawl__str("a"), &none, 1), 0);
    close_fixture(&f);
}

/* A flood of names does not make the table forget those that are limited. */
static void many_names_do_not_set_a_limited_one_free(void **state)
{
    struct fixture f;
    int forgotten = 0;

    (void)state;
    open_fixture(&f, 4096);
    for (int i = 0; i < 3; i++)
        assert_int_equal(use(&f, "limited", 100 * S), 0);
    for (int i = 0; i < 2000; i++) {
        char name[32];

        (void)snprintf(name, sizeof name, "name-%d", i);
        (void)use(&f, name, 100 * S);
        forgotten += use(&f, "limited", 100 * S) == 0;
    }
    assert_int_equal(forgotten, 0);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bucket_empties_and_fills_with_time),
        cmocka_unit_test(what_is_given_back_can_be_used_again),
        cmocka_unit_test(no_interval_is_no_limit),
        cmocka_unit_test(many_names_do_not_set_a_limited_one_free),
    };

    return cmocka_run_group_tests_name("api/limiter", tests, NULL, NULL);
}
