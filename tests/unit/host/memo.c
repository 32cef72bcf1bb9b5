/* SPDX-License-Identifier: Apache-2.0 */
/* What a host remembers for a while. */
#include "lib/test.h"

#include "base/str.h"
#include "host/memo.h"

#include <stdio.h>

#define SECOND INT64_C(1000000000)

static void a_value_is_remembered_for_its_time(void **state)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_env *env;
    struct pawl_memo memo;
    int value = 7, out = 0;

    (void)state;
    assert_ok(pawl_system_env_open(&env, &err), &err);
    assert_int_equal(pawl__memo_init(&memo, env), PAWL_OK);
    assert_false(pawl__memo_get(&memo, pawl__str("a"), &out, sizeof out, 0));
    pawl__memo_put(&memo, pawl__str("a"), &value, sizeof value, 3600 * SECOND);
    assert_true(pawl__memo_get(&memo, pawl__str("a"), &out, sizeof out, 0));
    assert_int_equal(out, 7);
    pawl__memo_put(&memo, pawl__str("a"), &value, sizeof value, 0);
    assert_false(pawl__memo_get(&memo, pawl__str("a"), &out, sizeof out, 0));
    pawl__memo_release(&memo);
    pawl_system_env_close(env);
}

/* While one finds it out anew, the others have the old one. */
static void one_alone_is_told_that_a_value_is_old(void **state)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_env *env;
    struct pawl_memo memo;
    int value = 7, out = 0;

    (void)state;
    assert_ok(pawl_system_env_open(&env, &err), &err);
    assert_int_equal(pawl__memo_init(&memo, env), PAWL_OK);
    pawl__memo_put(&memo, pawl__str("a"), &value, sizeof value, 1);
    assert_int_equal(pawl_env_sleep_until(env, pawl_env_monotonic_ns(env) + 1), PAWL_OK);
    assert_false(pawl__memo_get(&memo, pawl__str("a"), &out, sizeof out, 3600 * SECOND));
    assert_true(pawl__memo_get(&memo, pawl__str("a"), &out, sizeof out, 3600 * SECOND));
    assert_int_equal(out, 7);
    pawl__memo_release(&memo);
    pawl_system_env_close(env);
}

/* The one that expires first makes room. */
static void values_are_remembered_by_key_up_to_a_number(void **state)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_env *env;
    struct pawl_memo memo;
    int out = 0;
    char key[16];

    (void)state;
    assert_ok(pawl_system_env_open(&env, &err), &err);
    assert_int_equal(pawl__memo_init(&memo, env), PAWL_OK);
    for (int i = 0; i <= (int)PAWL_MEMO_ENTRIES_MAX; i++) {
        (void)snprintf(key, sizeof key, "%d", i);
        pawl__memo_put(&memo, pawl__str(key), &i, sizeof i, (3600 + i) * SECOND);
    }
    assert_false(pawl__memo_get(&memo, pawl__str("0"), &out, sizeof out, 0));
    for (int i = 1; i <= (int)PAWL_MEMO_ENTRIES_MAX; i++) {
        (void)snprintf(key, sizeof key, "%d", i);
        assert_true(pawl__memo_get(&memo, pawl__str(key), &out, sizeof out, 0));
        assert_int_equal(out, i);
    }
    pawl__memo_release(&memo);
    pawl_system_env_close(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_is_remembered_for_its_time),
        cmocka_unit_test(one_alone_is_told_that_a_value_is_old),
        cmocka_unit_test(values_are_remembered_by_key_up_to_a_number),
    };

    return cmocka_run_group_tests_name("host/memo", tests, NULL, NULL);
}
