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

/* ---- turns ------------------------------------------------------------------------------- */

#define LARGE "let a = new Uint8Array(12 << 20); "

struct turn {
    struct pawl_env *env;
    struct pawl_mutex *mutex; /* guards what follows */
    struct pawl_cond *changed;
    bool held, released, marked, overtook;
};

/* The first large script is here until it is released. */
static int hold(void *ctx, struct pawl_arena *arena, const struct pawl_json *args,
                struct pawl_json *out, struct pawl_error *err)
{
    struct turn *turn = ctx;

    (void)arena;
    (void)args;
    (void)err;
    pawl_mutex_lock_always(turn->env, turn->mutex);
    turn->held = true;
    pawl_cond_broadcast(turn->env, turn->changed);
    while (!turn->released)
        (void)!pawl_cond_wait(turn->env, turn->changed, turn->mutex, PAWL_FOREVER);
    pawl_mutex_unlock(turn->env, turn->mutex);
    *out = pawl__json_null();
    return PAWL_OK;
}

/* The second one is large. */
static int mark(void *ctx, struct pawl_arena *arena, const struct pawl_json *args,
                struct pawl_json *out, struct pawl_error *err)
{
    struct turn *turn = ctx;

    (void)arena;
    (void)args;
    (void)err;
    pawl_mutex_lock_always(turn->env, turn->mutex);
    turn->marked = true;
    turn->overtook = !turn->released;
    pawl_cond_broadcast(turn->env, turn->changed);
    pawl_mutex_unlock(turn->env, turn->mutex);
    *out = pawl__json_null();
    return PAWL_OK;
}

static void play_large(struct stage *stage)
{
    struct part *part = stage->arg;
    const char *source = part->number == 1 ? LARGE "hold(); a.length" : LARGE "mark(); a.length";

    part->done = strcmp(stage_evaluate(stage, source), "12582912") == 0;
}

static void play_small(struct stage *stage)
{
    struct part *part = stage->arg;

    part->done = strcmp(stage_evaluate(stage, "1 + 1"), "2") == 0;
}

static void run_large(void *arg)
{
    struct part *part = arg;

    stage_run(&part->stage, part->js, play_large);
}

/* Some time for the second script to overtake, which it cannot. */
static void let_overtake(struct turn *turn)
{
    int64_t until_ns = pawl_env_monotonic_ns(turn->env) + INT64_C(300000000);
    int status = PAWL_OK;

    pawl_mutex_lock_always(turn->env, turn->mutex);
    while (!turn->marked && status == PAWL_OK)
        status = pawl_cond_wait(turn->env, turn->changed, turn->mutex, until_ns);
    turn->released = true;
    pawl_cond_broadcast(turn->env, turn->changed);
    pawl_mutex_unlock(turn->env, turn->mutex);
}

static void large_scripts_wait_for_their_turn(void **state)
{
    static struct part parts[3];
    struct pawl_javascript_options options = pawl__javascript_options_default;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_thread *threads[2];
    struct pawl_javascript *js;
    struct turn turn = {.held = false};

    (void)state;
    options.large_max = 1;
    assert_ok(pawl_system_env_open(&turn.env, &err), &err);
    assert_code(pawl_mutex_new(turn.env, "turn", &turn.mutex), PAWL_OK);
    assert_code(pawl_cond_new(turn.env, "turn", &turn.changed), PAWL_OK);
    assert_ok(pawl__javascript_open(turn.env, &options, &js, &err), &err);
    assert_code(
        pawl__javascript_add_function(js, &(struct pawl_javascript_function){"hold", hold, &turn}),
        PAWL_OK);
    assert_code(
        pawl__javascript_add_function(js, &(struct pawl_javascript_function){"mark", mark, &turn}),
        PAWL_OK);
    for (int i = 0; i < 3; i++) {
        parts[i] = (struct part){.js = js, .number = i + 1};
        parts[i].stage.arg = &parts[i];
    }
    assert_ok(pawl_thread_start(turn.env, "a", run_large, &parts[0], &threads[0], &err), &err);
    pawl_mutex_lock_always(turn.env, turn.mutex);
    while (!turn.held)
        (void)!pawl_cond_wait(turn.env, turn.changed, turn.mutex, PAWL_FOREVER);
    pawl_mutex_unlock(turn.env, turn.mutex);
    assert_ok(pawl_thread_start(turn.env, "b", run_large, &parts[1], &threads[1], &err), &err);
    stage_run(&parts[2].stage, js, play_small); /* small ones do not wait */
    let_overtake(&turn);
    for (int i = 0; i < 2; i++)
        pawl_thread_join(turn.env, threads[i]);
    for (int i = 0; i < 3; i++)
        assert_true(parts[i].done);
    assert_true(turn.marked && !turn.overtook);
    pawl__javascript_close(js);
    pawl_cond_free(turn.env, turn.changed);
    pawl_mutex_free(turn.env, turn.mutex);
    pawl_system_env_close(turn.env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_see_each_other),
        cmocka_unit_test(large_scripts_wait_for_their_turn),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
