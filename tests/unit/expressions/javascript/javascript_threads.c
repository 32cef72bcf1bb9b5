/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that share the language: each has an engine of its own, also when one of them traps. */
#include "unit/expressions/stage.h"

#define THREADS 4
#define ROUNDS 100

struct part {
    struct pawl_javascript *js;
    struct stage stage;
    int number;
    unsigned done;
};

static void play_part(struct stage *stage)
{
    struct part *part = stage->arg;
    char source[64];
    char expected[32];

    for (int i = 0; i < ROUNDS; i++) {
        (void)snprintf(source, sizeof source, "leaked = %d; (() => leaked * 10)()", part->number);
        (void)snprintf(expected, sizeof expected, "%d", part->number * 10);
        if (strcmp(stage_evaluate(stage, source), expected) != 0 ||
            strcmp(stage_evaluate(stage, "typeof leaked"), "\"undefined\"") != 0 ||
            strcmp(stage_evaluate(stage, "return typeof globalThis.leaked"), "\"undefined\"") != 0)
            return;
        if (i % 50 == 0)
            (void)stage_evaluate(stage, "(function f() { return f() + 1 })()");
        part->done++;
    }
}

static void run_part(void *arg)
{
    struct part *part = arg;

    stage_run(&part->stage, part->js, play_part);
}

static void threads_do_not_see_each_other(void **state)
{
    static struct part parts[THREADS];
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_thread *threads[THREADS];
    struct pawl_javascript *js;
    struct pawl_env *env;

    (void)state;
    assert_ok(pawl_system_env_open(&env, &err), &err);
    assert_ok(pawl__javascript_open(env, NULL, &js, &err), &err);
    for (int i = 0; i < THREADS; i++) {
        parts[i] = (struct part){.js = js, .number = i + 1};
        parts[i].stage.arg = &parts[i];
        assert_ok(pawl_thread_start(env, "part", run_part, &parts[i], &threads[i], &err), &err);
    }
    for (int i = 0; i < THREADS; i++)
        pawl_thread_join(env, threads[i]);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(parts[i].done, ROUNDS);
    pawl__javascript_close(js);
    pawl_system_env_close(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_see_each_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
