/* SPDX-License-Identifier: Apache-2.0 */
#include "os/program.h"
#include "lib/test.h"

#include <pawl/ext/env.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SHELL "/bin/sh"

static int wait_for(struct pawl_env *env, struct pawl_program *child)
{
    int code = -1;

    while (!pawl__program_has_ended(child, &code))
        assert_int_equal(pawl_env_sleep_until(env, pawl_env_monotonic_ns(env) + 1000000), PAWL_OK);
    return code;
}

static int set_up(void **state)
{
    struct pawl_env *env;

    assert_int_equal(pawl_system_env_open(&env, NULL), PAWL_OK);
    *state = env;
    return 0;
}

static int tear_down(void **state)
{
    pawl_system_env_close(*state);
    return 0;
}

static struct pawl_program start(const char *script, const char *output)
{
    const char *const argv[] = {SHELL, "-c", script, NULL};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_program child;

    assert_ok(pawl__program_start(argv, output, &child, &err), &err);
    assert_true(child.pid > 0);
    return child;
}

static void an_exit_code_is_told(void **state)
{
    struct pawl_program child = start("exit 7", NULL);

    assert_int_equal(wait_for(*state, &child), 7);
    assert_int_equal(child.pid, 0);
    assert_true(pawl__program_has_ended(&child, NULL));
    pawl__program_signal(&child, PAWL_PROGRAM_KILL); /* of nobody */
}

static void a_program_that_is_not_there_ends_with_127(void **state)
{
    const char *const argv[] = {"/nowhere/at/all", NULL};
    struct pawl_program child;

    assert_int_equal(pawl__program_start(argv, NULL, &child, NULL), PAWL_OK);
    assert_int_equal(wait_for(*state, &child), 127);
}

static void output_goes_to_the_file_and_there_is_no_input(void **state)
{
    char path[] = "/tmp/pawl-program-XXXXXX", text[64] = "";
    int fd = mkstemp(path);
    struct pawl_program child;
    FILE *file;

    assert_true(fd >= 0);
    (void)close(fd);
    child = start("read x || echo none; echo said; echo wrong >&2", path);
    assert_int_equal(wait_for(*state, &child), 0);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    (void)fclose(file);
    assert_string_equal(text, "none\nsaid\nwrong\n");
    (void)unlink(path);
    assert_code(
        pawl__program_start((const char *const[]){SHELL, NULL}, "/nowhere/file", &child, NULL),
        PAWL_ENOTFOUND);
}

static void signals_reach_it(void **state)
{
    struct pawl_program child = start("while :; do sleep 1; done", NULL);

    assert_true(pawl__program_pause(&child));
    assert_false(pawl__program_has_ended(&child, NULL));
    pawl__program_signal(&child, PAWL_PROGRAM_CONTINUE);
    pawl__program_signal(&child, PAWL_PROGRAM_TERMINATE);
    assert_int_equal(wait_for(*state, &child), 128 + 15);
    child = start("while :; do sleep 1; done", NULL);
    assert_true(pawl__program_pause(&child));
    pawl__program_signal(&child, PAWL_PROGRAM_KILL);
    assert_int_equal(wait_for(*state, &child), 128 + 9);
    assert_false(pawl__program_pause(&child));
}

static void it_knows_its_own_path(void **state)
{
    char path[4096], little[2];

    (void)state;
    assert_int_equal(pawl__program_own_path(path, sizeof path, NULL), PAWL_OK);
    assert_non_null(strstr(path, "test-os-program"));
    assert_code(pawl__program_own_path(little, sizeof little, NULL), PAWL_ELIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exit_code_is_told),
        cmocka_unit_test(a_program_that_is_not_there_ends_with_127),
        cmocka_unit_test(output_goes_to_the_file_and_there_is_no_input),
        cmocka_unit_test(signals_reach_it),
        cmocka_unit_test(it_knows_its_own_path),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
