/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/retry.h"
#include "lib/test.h"

#include <stdio.h>

#define MS ((int64_t)1000000)

static struct pawl_retry_policy plain(uint32_t retries_max)
{
    return (struct pawl_retry_policy){
        .retries_max = retries_max,
        .classes = PAWL_RETRY_CLASS(PAWL_CLASS_TRANSIENT),
        .delay_ns = 100 * MS,
        .delay_ns_max = 1000 * MS,
    };
}

static void waits_twice_as_long_each_time_up_to_the_cap(void **state)
{
    static const int64_t expected[] = {100, 200, 400, 800, 1000, 1000};
    struct pawl_retry_policy policy = plain(6);
    struct pawl_retry retry;
    int64_t delay_ns = -1;

    (void)state;
    pawl__retry_init(&retry, &policy, 1, PAWL_FOREVER);
    for (size_t i = 0; i < 6; i++) {
        assert_true(pawl__retry_next(&retry, PAWL_EBUSY, 0, &delay_ns));
        assert_int_equal(delay_ns, expected[i] * MS);
    }
    delay_ns = -1;
    assert_false(pawl__retry_next(&retry, PAWL_EBUSY, 0, &delay_ns));
    assert_int_equal(delay_ns, -1);
}

static void retries_only_the_classes_it_names(void **state)
{
    static const struct {
        int code;
        bool again;
    } rows[] = {
        {PAWL_OK, false},          {PAWL_EINVAL, false},    {PAWL_ENOTFOUND, false},
        {PAWL_ESTOPPED, false},    {PAWL_EBUSY, true},      {PAWL_ETIMEDOUT, true},
        {PAWL_EUNAVAILABLE, true}, {PAWL_ENOMEM, true},     {PAWL_EUNKNOWN, false},
        {PAWL_EIO, false},         {PAWL_EDEADLOCK, false}, {-4711, false},
    };
    struct pawl_retry_policy policy = plain(1);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct pawl_retry retry;
        int64_t delay_ns;

        pawl__retry_init(&retry, &policy, 1, PAWL_FOREVER);
        assert_int_equal(pawl__retry_next(&retry, rows[i].code, 0, &delay_ns), rows[i].again);
        assert_int_equal(retry.retry_count, rows[i].again);
    }
}

static void retries_unknown_when_asked_to(void **state)
{
    struct pawl_retry_policy policy = plain(1);
    struct pawl_retry retry;
    int64_t delay_ns;

    (void)state;
    policy.classes |= PAWL_RETRY_CLASS(PAWL_CLASS_UNKNOWN);
    pawl__retry_init(&retry, &policy, 1, PAWL_FOREVER);
    assert_true(pawl__retry_next(&retry, PAWL_EUNKNOWN, 0, &delay_ns));
}

static void begins_no_retry_at_or_after_the_deadline(void **state)
{
    struct pawl_retry_policy policy = plain(9);
    struct pawl_retry retry;
    int64_t delay_ns;

    (void)state;
    pawl__retry_init(&retry, &policy, 1, 1000 * MS);
    assert_true(pawl__retry_next(&retry, PAWL_EBUSY, 899 * MS, &delay_ns));
    pawl__retry_init(&retry, &policy, 1, 1000 * MS);
    assert_false(pawl__retry_next(&retry, PAWL_EBUSY, 900 * MS, &delay_ns));
    assert_false(pawl__retry_next(&retry, PAWL_EBUSY, 2000 * MS, &delay_ns));
    assert_int_equal(retry.retry_count, 0);
}

static void spreads_waits_as_far_as_the_jitter_says(void **state)
{
    struct pawl_retry_policy policy = plain(UINT32_MAX);
    int64_t least = INT64_MAX, most = 0;

    (void)state;
    policy.jitter_percent = 25;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct pawl_retry retry;
        int64_t delay_ns;

        pawl__retry_init(&retry, &policy, seed, PAWL_FOREVER);
        assert_true(pawl__retry_next(&retry, PAWL_EBUSY, 0, &delay_ns));
        assert_in_range(delay_ns, 75 * MS, 125 * MS);
        least = delay_ns < least ? delay_ns : least;
        most = delay_ns > most ? delay_ns : most;
    }
    assert_true(least < 76 * MS && most > 124 * MS);
}

static void never_passes_the_cap_nor_overflows(void **state)
{
    struct pawl_retry_policy policy = plain(200);
    struct pawl_retry retry;
    int64_t delay_ns;

    (void)state;
    policy.jitter_percent = 100;
    policy.delay_ns_max = INT64_MAX;
    pawl__retry_init(&retry, &policy, 3, PAWL_FOREVER);
    for (int i = 0; i < 200; i++) {
        assert_true(pawl__retry_next(&retry, PAWL_EBUSY, INT64_MAX - 5, &delay_ns));
        assert_true(delay_ns >= 0);
    }
    policy.delay_ns_max = 700 * MS;
    pawl__retry_init(&retry, &policy, 3, PAWL_FOREVER);
    for (int i = 0; i < 200; i++) {
        assert_true(pawl__retry_next(&retry, PAWL_EBUSY, 0, &delay_ns));
        assert_in_range(delay_ns, 0, 700 * MS);
    }
}

static void gives_the_same_waits_for_the_same_seed(void **state)
{
    struct pawl_retry a, b, other;
    bool differs = false;

    (void)state;
    pawl__retry_init(&a, &pawl__retry_locks, 42, PAWL_FOREVER);
    pawl__retry_init(&b, &pawl__retry_locks, 42, PAWL_FOREVER);
    pawl__retry_init(&other, &pawl__retry_locks, 43, PAWL_FOREVER);
    for (int i = 0; i < 3; i++) {
        int64_t from_a, from_b, from_other;

        assert_true(pawl__retry_next(&a, PAWL_EBUSY, 0, &from_a));
        assert_true(pawl__retry_next(&b, PAWL_EBUSY, 0, &from_b));
        assert_true(pawl__retry_next(&other, PAWL_EBUSY, 0, &from_other));
        assert_int_equal(from_a, from_b);
        differs = differs || from_a != from_other;
    }
    assert_true(differs);
}

static void locks_are_tried_three_times_more(void **state)
{
    struct pawl_retry retry;
    int64_t delay_ns;

    (void)state;
    pawl__retry_init(&retry, &pawl__retry_locks, 7, PAWL_FOREVER);
    assert_true(pawl__retry_next(&retry, PAWL_ETIMEDOUT, 0, &delay_ns));
    assert_in_range(delay_ns, 375 * MS, 625 * MS);
    assert_true(pawl__retry_next(&retry, PAWL_ETIMEDOUT, 0, &delay_ns));
    assert_in_range(delay_ns, 750 * MS, 1250 * MS);
    assert_true(pawl__retry_next(&retry, PAWL_ETIMEDOUT, 0, &delay_ns));
    assert_in_range(delay_ns, 1500 * MS, 2500 * MS);
    assert_false(pawl__retry_next(&retry, PAWL_ETIMEDOUT, 0, &delay_ns));
    pawl__retry_init(&retry, &pawl__retry_never, 7, PAWL_FOREVER);
    assert_false(pawl__retry_next(&retry, PAWL_ETIMEDOUT, 0, &delay_ns));
}

/* ---- the loop ---------------------------------------------------------------------------- */

/* An environment whose time passes in sleeps alone. */
struct clock_env {
    struct pawl_env base;
    int64_t now_ns;
    int stop_at; /* the nth sleep answers ESTOPPED; 0: none */
    int sleeps;
};

static int64_t clock_now(struct pawl_env *env)
{
    return ((struct clock_env *)(void *)env)->now_ns;
}

static int clock_entropy(struct pawl_env *env, void *out, size_t size_bytes, struct pawl_error *err)
{
    (void)env;
    (void)err;
    memset(out, 5, size_bytes);
    return PAWL_OK;
}

static int clock_sleep(struct pawl_env *env, int64_t deadline_ns)
{
    struct clock_env *clock = (struct clock_env *)(void *)env;

    if (++clock->sleeps == clock->stop_at)
        return PAWL_ESTOPPED;
    if (deadline_ns > clock->now_ns)
        clock->now_ns = deadline_ns;
    return PAWL_OK;
}

static const struct pawl_env_ops clock_ops = {
    .version = PAWL_ENV_VERSION,
    .monotonic_ns = clock_now,
    .entropy = clock_entropy,
    .sleep_until = clock_sleep,
};

struct script {
    const int *codes; /* of the attempts */
    int attempts;
    uint32_t told;
    int64_t waited_ns;
};

static int attempt(void *ctx, struct pawl_error *err)
{
    struct script *script = ctx;
    int code = script->codes[script->attempts++];

    if (code != PAWL_OK) {
        err->code = code;
        (void)snprintf(err->msg, sizeof err->msg, "attempt %d", script->attempts);
    }
    return code;
}

static void waiting(void *ctx, uint32_t retry_count, int64_t delay_ns, const struct pawl_error *err)
{
    struct script *script = ctx;
    char text[16];

    assert_int_equal(retry_count, script->told + 1);
    (void)snprintf(text, sizeof text, "attempt %d", script->attempts);
    assert_string_equal(err->msg, text);
    script->told = retry_count;
    script->waited_ns += delay_ns;
}

static int loop(struct clock_env *clock, struct script *script, int64_t deadline_ns,
                struct pawl_error *err)
{
    struct pawl_retry_calls calls = {attempt, waiting, script};

    clock->base.ops = &clock_ops;
    return pawl__retry_run(&clock->base, &pawl__retry_locks, deadline_ns, &calls, err);
}

static void the_loop_waits_between_attempts_and_answers_the_last(void **state)
{
    static const int codes[] = {PAWL_EBUSY, PAWL_EUNAVAILABLE, PAWL_OK};
    static const int hopeless[] = {PAWL_EBUSY, PAWL_EBUSY, PAWL_EBUSY, PAWL_ETIMEDOUT};
    struct clock_env clock = {.now_ns = 5};
    struct script script = {.codes = codes};
    struct pawl_error err = PAWL_ERROR_INIT;

    (void)state;
    assert_ok(loop(&clock, &script, PAWL_FOREVER, &err), &err);
    assert_int_equal(script.attempts, 3);
    assert_int_equal(script.told, 2);
    assert_int_equal(clock.now_ns, 5 + script.waited_ns);
    assert_int_equal(err.code, PAWL_OK);

    script = (struct script){.codes = hopeless};
    assert_code(loop(&clock, &script, PAWL_FOREVER, &err), PAWL_ETIMEDOUT);
    assert_string_equal(err.msg, "attempt 4");
}

static void the_loop_ends_at_deadlines_stops_and_definite_answers(void **state)
{
    static const int busy[] = {PAWL_EBUSY, PAWL_EBUSY, PAWL_EBUSY, PAWL_EBUSY};
    static const int unknown[] = {PAWL_EUNKNOWN};
    struct clock_env clock = {.stop_at = 2};
    struct script script = {.codes = busy};
    struct pawl_error err = PAWL_ERROR_INIT;

    (void)state;
    assert_code(loop(&clock, &script, PAWL_FOREVER, &err), PAWL_ESTOPPED);
    assert_int_equal(script.attempts, 2);

    clock = (struct clock_env){.now_ns = 0};
    script = (struct script){.codes = busy};
    assert_code(loop(&clock, &script, 700 * MS, &err), PAWL_EBUSY);
    assert_int_equal(script.attempts, 2);
    assert_true(clock.now_ns < 700 * MS);

    script = (struct script){.codes = unknown};
    assert_code(loop(&clock, &script, PAWL_FOREVER, NULL), PAWL_EUNKNOWN);
    assert_int_equal(script.attempts, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_twice_as_long_each_time_up_to_the_cap),
        cmocka_unit_test(retries_only_the_classes_it_names),
        cmocka_unit_test(retries_unknown_when_asked_to),
        cmocka_unit_test(begins_no_retry_at_or_after_the_deadline),
        cmocka_unit_test(spreads_waits_as_far_as_the_jitter_says),
        cmocka_unit_test(never_passes_the_cap_nor_overflows),
        cmocka_unit_test(gives_the_same_waits_for_the_same_seed),
        cmocka_unit_test(locks_are_tried_three_times_more),
        cmocka_unit_test(the_loop_waits_between_attempts_and_answers_the_last),
        cmocka_unit_test(the_loop_ends_at_deadlines_stops_and_definite_answers),
    };

    return cmocka_run_group_tests_name("resilience/retry", tests, NULL, NULL);
}
