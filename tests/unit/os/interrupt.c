/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C as a question. */
#include "os/interrupt.h"

#include "lib/clock.h"
#include "lib/test.h"

#include <signal.h>
#include <unistd.h>

static int open_env(void **state)
{
    struct pawl_env *env = NULL;

    assert_int_equal(pawl_system_env_open(&env, NULL), PAWL_OK);
    *state = env;
    return 0;
}

static int close_env(void **state)
{
    pawl_system_env_close(*state);
    return 0;
}

static void a_signal_ends_a_wait_and_can_be_asked_for(void **state)
{
    struct pawl_interrupt *interrupt;

    assert_int_equal(pawl__interrupt_open(*state, &interrupt, NULL), PAWL_OK);
    assert_false(pawl__interrupt_pending(interrupt));
    assert_int_equal(kill(getpid(), SIGINT), 0);
    assert_int_equal(pawl__interrupt_wait(interrupt, PAWL_FOREVER), PAWL_OK);
    assert_true(pawl__interrupt_pending(interrupt));
    /* Once it has come, nothing waits any more. */
    assert_int_equal(pawl__interrupt_wait(interrupt, PAWL_FOREVER), PAWL_OK);
    pawl__interrupt_close(interrupt);
}

static void a_hangup_ends_a_wait_and_nothing_else(void **state)
{
    struct pawl_interrupt *interrupt;

    assert_int_equal(pawl__interrupt_open(*state, &interrupt, NULL), PAWL_OK);
    assert_int_equal(pawl__interrupt_watch_hangup(interrupt, NULL), PAWL_OK);
    assert_false(pawl__interrupt_take_hangup(interrupt));
    for (int i = 0; i < 3; i++) { /* as often as one likes */
        assert_int_equal(kill(getpid(), SIGHUP), 0);
        assert_int_equal(pawl__interrupt_wait(interrupt, PAWL_FOREVER), PAWL_OK);
        assert_true(pawl__interrupt_take_hangup(interrupt));
        assert_false(pawl__interrupt_take_hangup(interrupt));
        assert_false(pawl__interrupt_pending(interrupt));
    }
    assert_int_equal(kill(getpid(), SIGTERM), 0);
    assert_int_equal(pawl__interrupt_wait(interrupt, PAWL_FOREVER), PAWL_OK);
    assert_true(pawl__interrupt_pending(interrupt));
    pawl__interrupt_close(interrupt);
}

/* A supervisor signals a process and then its group. On a clock that stands still they come at the
   same moment however long the machine takes between them. */
static void signals_at_the_same_moment_are_one(void **state)
{
    struct pawl_env *env = *state;
    struct pawl_interrupt *interrupt;
    struct test_clock *clock;

    assert_int_equal(test_clock_open(&env->alloc, 0, &clock), PAWL_OK);
    assert_int_equal(pawl__interrupt_open(test_clock_env(clock), &interrupt, NULL), PAWL_OK);
    assert_int_equal(kill(getpid(), SIGTERM), 0);
    assert_int_equal(kill(getpid(), SIGINT), 0);
    assert_int_equal(pawl__interrupt_wait(interrupt, PAWL_FOREVER), PAWL_OK);
    pawl__interrupt_close(interrupt);
    test_clock_close(clock);
}

/* The second one comes when the program is about to end. It is not left for the process to die of.
 */
static void a_signal_just_before_the_end_is_part_of_the_first(void **state)
{
    struct pawl_env *env = *state;
    struct test_clock *clock;

    assert_int_equal(test_clock_open(&env->alloc, 0, &clock), PAWL_OK);
    for (int i = 0; i < 200; i++) { /* the listener wakes up sooner or later than the end comes */
        struct pawl_interrupt *interrupt;

        assert_int_equal(pawl__interrupt_open(test_clock_env(clock), &interrupt, NULL), PAWL_OK);
        assert_int_equal(kill(getpid(), SIGTERM), 0);
        assert_int_equal(pawl__interrupt_wait(interrupt, PAWL_FOREVER), PAWL_OK);
        assert_int_equal(kill(getpid(), SIGINT), 0);
        pawl__interrupt_close(interrupt);
    }
    test_clock_close(clock);
}

static void a_wait_without_a_signal_ends_at_its_deadline(void **state)
{
    struct pawl_interrupt *interrupt;

    assert_int_equal(pawl__interrupt_open(*state, &interrupt, NULL), PAWL_OK);
    assert_int_equal(pawl__interrupt_wait(interrupt, pawl_env_monotonic_ns(*state) + 1000),
                     PAWL_OK);
    assert_false(pawl__interrupt_pending(interrupt));
    pawl__interrupt_close(interrupt);
}

static void closing_gives_the_signals_back(void **state)
{
    struct pawl_interrupt *interrupt;
    sigset_t before, after;

    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &before), 0);
    assert_int_equal(pawl__interrupt_open(*state, &interrupt, NULL), PAWL_OK);
    pawl__interrupt_close(interrupt);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &after), 0);
    assert_int_equal(sigismember(&before, SIGINT), sigismember(&after, SIGINT));
    assert_int_equal(sigismember(&after, SIGTERM), 0);
}

static void nobody_listening_is_never_interrupted(void **state)
{
    (void)state;
    assert_false(pawl__interrupt_pending(NULL));
    pawl__interrupt_close(NULL);
}

static void refused_memory_leaves_signals_as_they_were(void **state)
{
    struct pawl_env *env = *state;
    struct pawl_allocator real = env->alloc;
    struct pawl_interrupt *interrupt = NULL;
    struct test_allocator alloc;
    sigset_t after;

    test_allocator_init(&alloc);
    env->alloc = alloc.base;
    test_allocator_fail(&alloc, 1, 1);
    assert_code(pawl__interrupt_open(env, &interrupt, NULL), PAWL_ENOMEM);
    env->alloc = real;
    assert_null(interrupt);
    assert_int_equal(alloc.live_count, 0);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &after), 0);
    assert_int_equal(sigismember(&after, SIGINT), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_env, close_env)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_signal_ends_a_wait_and_can_be_asked_for),
        TEST(a_hangup_ends_a_wait_and_nothing_else),
        TEST(signals_at_the_same_moment_are_one),
        TEST(a_signal_just_before_the_end_is_part_of_the_first),
        TEST(a_wait_without_a_signal_ends_at_its_deadline),
        TEST(closing_gives_the_signals_back),
        TEST(nobody_listening_is_never_interrupted),
        TEST(refused_memory_leaves_signals_as_they_were),
    };

    return cmocka_run_group_tests_name("os/interrupt", tests, NULL, NULL);
}
