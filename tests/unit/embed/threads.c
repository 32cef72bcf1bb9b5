/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads on one SQLite file at the same time: everything is applied, and once. */
#include <pawl/pawl.h>

#include "lib/rig.h"

#include <pawl/ext/env.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 8
#define ROUNDS 12

#define TEXT(value) RIG_INPUT("String", "Literal", "'" value "'")

struct fixture {
    struct pawl_env *env; /* for the threads of the test */
    struct pawl *pawl;
    _Atomic int begun[THREADS][ROUNDS];
    _Atomic int ended[THREADS][ROUNDS];
    _Atomic int performed[THREADS][ROUNDS];
    _Atomic int failures;
    char folder[64];
};

struct job {
    struct fixture *f;
    int thread;
};

/* "begun 3-7": which instance a line comes from is in its id. */
static void on_line(void *ctx, const char *instance_id, const char *text)
{
    struct fixture *f = ctx;
    int thread = -1, round = -1;

    if (sscanf(instance_id, "i%d-%d", &thread, &round) != 2 || thread < 0 || thread >= THREADS ||
        round < 0 || round >= ROUNDS)
        atomic_fetch_add(&f->failures, 1);
    else
        atomic_fetch_add(
            strcmp(text, "begun") == 0 ? &f->begun[thread][round] : &f->ended[thread][round], 1);
}

static int execute(void *ctx, struct pawl_context *context)
{
    (void)ctx;
    return pawl_context_call(context, NULL);
}

static int perform(void *ctx, struct pawl_call *call, struct pawl_error *err)
{
    struct fixture *f = ctx;
    int thread = 0, round = 0;

    (void)err;
    if (sscanf(pawl_call_instance_id(call), "i%d-%d", &thread, &round) == 2)
        atomic_fetch_add(&f->performed[thread][round], 1);
    return PAWL_OK;
}

/* Starts an instance and sends its event, both twice with the same key. */
static void start_and_send(void *arg)
{
    const struct job *job = arg;
    struct fixture *f = job->f;

    for (int round = 0; round < ROUNDS; round++) {
        char id[32], key[32];
        struct pawl_start_options options = {
            .definition_id = "d", .instance_id = id, .correlation_id = id, .idempotency_key = key};
        struct pawl_send_options to = {.correlation_id = id, .idempotency_key = key};
        struct pawl_error err = PAWL_ERROR_INIT;

        snprintf(id, sizeof id, "i%d-%d", job->thread, round);
        snprintf(key, sizeof key, "key-%d-%d", job->thread, round);
        options.detached = round % 2;
        for (int again = 0; again < 2; again++) {
            if (pawl_instance_start(f->pawl, &options, NULL, &err) != PAWL_OK ||
                pawl_event_send(f->pawl, "Go", NULL, &to, NULL, &err) != PAWL_OK) {
                fprintf(stderr, "# %s: %s\n", id, err.msg);
                atomic_fetch_add(&f->failures, 1);
            }
        }
    }
}

static int set_up(void **state)
{
    static const char folder[] = "/tmp/pawl-embed-XXXXXX";
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    memcpy(f->folder, folder, sizeof folder);
    assert_non_null(mkdtemp(f->folder));
    assert_int_equal(pawl_system_env_open(&f->env, NULL), PAWL_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    static const char *const files[] = {"db", "db-wal", "db-shm"};
    struct fixture *f = *state;
    char path[128];

    pawl_close(f->pawl);
    pawl_system_env_close(f->env);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", f->folder, files[i]);
        (void)remove(path);
    }
    (void)remove(f->folder);
    free(f);
    return 0;
}

static void publish(struct fixture *f)
{
    char text[] = "{'definitionId':'d','root':" RIG_SEQUENCE(
        "s", RIG_WRITE("a", "begun") "," RIG_EVENT(
                 "e", "Go") ",{'id':'c','type':'Test.Call'}," RIG_WRITE("b", "ended")) "}";
    struct pawl_error err = PAWL_ERROR_INIT;

    for (char *c = text; *c; c++) {
        if (*c == '\'')
            *c = '"';
    }
    assert_ok(pawl_definition_publish(f->pawl, text, NULL, NULL, NULL, &err), &err);
}

static void everything_is_applied_once(void **state)
{
    struct fixture *f = *state;
    const struct pawl_activity_type type = {
        .type = "Test.Call", .execute = execute, .perform = perform, .ctx = f};
    char store[128];
    const struct pawl_options options = {.store = store,
                                         .workers = 4,
                                         .activities = &type,
                                         .activity_count = 1,
                                         .timeout_ms = 600000,
                                         .line = on_line,
                                         .ctx = f};
    struct pawl_thread *threads[THREADS];
    struct job jobs[THREADS];
    struct pawl_error err = PAWL_ERROR_INIT;

    snprintf(store, sizeof store, "sqlite:%s/db", f->folder);
    assert_ok(pawl_open(&options, &f->pawl, &err), &err);
    publish(f);
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){f, i};
        assert_ok(pawl_thread_start(f->env, "starter", start_and_send, &jobs[i], &threads[i], &err),
                  &err);
    }
    for (int i = 0; i < THREADS; i++)
        pawl_thread_join(f->env, threads[i]);
    assert_int_equal(f->failures, 0);
    for (int i = 0; i < THREADS; i++) {
        for (int round = 0; round < ROUNDS; round++) {
            struct pawl_instance_outcome outcome;
            char id[32];

            snprintf(id, sizeof id, "i%d-%d", i, round);
            assert_ok(pawl_instance_wait(f->pawl, id, 600000, &outcome, &err), &err);
            assert_int_equal(outcome.status, PAWL_INSTANCE_FINISHED);
        }
    }
    pawl_close(f->pawl); /* the last lines are out */
    f->pawl = NULL;
    for (int i = 0; i < THREADS; i++) {
        for (int round = 0; round < ROUNDS; round++) {
            assert_int_equal(f->begun[i][round], 1);
            assert_int_equal(f->performed[i][round], 1);
            assert_int_equal(f->ended[i][round], 1);
        }
    }
}

/* ---- what workers see to besides ------------------------------------------------------------ */

static void write_definition(const struct fixture *f)
{
    char path[128], text[] = "{'definitionId':'from-folder','id':'from-folder:1','version':1,"
                             "'isLatest':true,'isPublished':true,'root':" RIG_WRITE("w", "x") "}";
    FILE *file;

    for (char *c = text; *c; c++) {
        if (*c == '\'')
            *c = '"';
    }
    (void)snprintf(path, sizeof path, "%s/definition.json", f->folder);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Until the instance is not there any more; fails the test after a minute. */
static void await_gone(struct fixture *f, const char *id)
{
    int64_t give_up_ns = pawl_env_monotonic_ns(f->env) + INT64_C(60000000000);
    struct pawl_error err = PAWL_ERROR_INIT;
    char *state;

    while (pawl_instance_show(f->pawl, id, &state, &err) != PAWL_ENOTFOUND) {
        pawl_text_free(f->pawl, state);
        if (pawl_env_monotonic_ns(f->env) > give_up_ns)
            fail_msg("instance %s is still there", id);
        assert_ok(pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + 1000000), NULL);
    }
}

static void workers_load_a_folder_and_drop_what_is_old(void **state)
{
    struct fixture *f = *state;
    char store[128], folder[128], path[160];
    const char *const settings[] = {folder, "retention.finished=1ms"};
    const struct pawl_options plain = {.store = store};
    const struct pawl_options working = {
        .store = store, .workers = 1, .settings = settings, .setting_count = 2};
    const struct pawl_start_options first = {.definition_id = "d", .instance_id = "old"};
    const struct pawl_start_options second = {.definition_id = "from-folder"};
    struct pawl_error err = PAWL_ERROR_INIT;

    (void)snprintf(store, sizeof store, "sqlite:%s/db", f->folder);
    (void)snprintf(folder, sizeof folder, "definitions.folder=%s", f->folder);
    assert_ok(pawl_open(&plain, &f->pawl, &err), &err);
    assert_ok(pawl_definition_publish(f->pawl,
                                      "{\"definitionId\":\"d\",\"root\":{\"id\":\"s\","
                                      "\"type\":\"Elsa.Sequence\"}}",
                                      NULL, NULL, NULL, &err),
              &err);
    assert_ok(pawl_instance_start(f->pawl, &first, NULL, &err), &err);
    pawl_close(f->pawl);
    f->pawl = NULL;
    write_definition(f);
    assert_ok(pawl_open(&working, &f->pawl, &err), &err);
    assert_ok(pawl_instance_start(f->pawl, &second, NULL, &err), &err);
    await_gone(f, "old");
    (void)snprintf(path, sizeof path, "%s/definition.json", f->folder);
    assert_int_equal(remove(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(workers_load_a_folder_and_drop_what_is_old, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(everything_is_applied_once, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("embed/threads", tests, NULL, NULL);
}
