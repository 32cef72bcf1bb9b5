/* SPDX-License-Identifier: Apache-2.0 */
/* Who is told of the commits of a node. */
#include "unit/runtime/nodes.h"

#define THREADS 4
#define STARTS 50

struct told {
    int64_t last;   /* revision */
    int64_t calls;  /* with a greater revision than before */
    int64_t others; /* of another instance, or out of order */
    int64_t deleted;
};

static void note(void *ctx, struct pawl_str instance_id, int64_t revision)
{
    struct told *told = ctx;

    if (!pawl__str_is(instance_id, "i")) {
        told->others++;
    } else if (revision == 0) {
        told->deleted++;
    } else if (revision > told->last) {
        told->last = revision;
        told->calls++;
    } else {
        told->others++;
    }
}

static void begin(struct fixture *f, const char *id)
{
    const struct pawl_start what = {.definition_id = pawl__str("d"), .instance_id = pawl__str(id)};

    assert_ok(pawl__runtime_start(f->a.runtime, &what, NULL, later(f), &f->err), &f->err);
}

static int64_t revision_of(struct fixture *f, const char *id)
{
    struct pawl_instance_row row;

    assert_ok(
        pawl__runtime_show(f->a.runtime, pawl__str(id), &f->arena, &row, NULL, later(f), &f->err),
        &f->err);
    return row.revision;
}

static void each_revision_is_told_and_so_is_the_end(void **state)
{
    struct fixture *f = *state;
    struct told told = {0};

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go")));
    pawl__runtime_listen(f->a.runtime, note, &told);
    begin(f, "i");
    assert_int_equal(told.last, revision_of(f, "i"));
    assert_int_equal(told.calls, told.last);
    assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str("i"), later(f), &f->err), &f->err);
    assert_int_equal(told.last, revision_of(f, "i"));
    assert_ok(pawl__runtime_delete(f->a.runtime, pawl__str("i"), later(f), &f->err), &f->err);
    assert_int_equal(told.deleted, 1);
    assert_int_equal(told.others, 0);
    pawl__runtime_listen(f->a.runtime, NULL, NULL);
}

static void who_has_left_is_not_told(void **state)
{
    struct fixture *f = *state;
    struct told told = {0};

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go")));
    pawl__runtime_listen(f->a.runtime, note, &told);
    pawl__runtime_listen(f->a.runtime, NULL, NULL);
    begin(f, "i");
    assert_int_equal(told.calls, 0);
}

static void a_commit_that_failed_is_not_told(void **state)
{
    struct fixture *f = *state;
    struct told told = {0};
    const struct pawl_start what = {.definition_id = pawl__str("d"), .instance_id = pawl__str("i")};

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go")));
    begin(f, "i");
    pawl__runtime_listen(f->a.runtime, note, &told);
    assert_code(pawl__runtime_start(f->a.runtime, &what, NULL, later(f), &f->err), PAWL_EEXISTS);
    assert_int_equal(told.calls, 0);
    pawl__runtime_listen(f->a.runtime, NULL, NULL);
}

struct thread {
    struct fixture *f;
    int number;
    struct pawl_thread *thread;
};

static void start_many(void *arg)
{
    struct thread *thread = arg;
    struct pawl_error err = PAWL_ERROR_INIT;
    char id[32];

    for (int i = 0; i < STARTS; i++) {
        (void)snprintf(id, sizeof id, "t%d-%d", thread->number, i);
        assert_ok(pawl__runtime_start(thread->f->a.runtime,
                                      &(struct pawl_start){.definition_id = pawl__str("d"),
                                                           .instance_id = pawl__str(id)},
                                      NULL, later(thread->f), &err),
                  &err);
    }
}

/* What the listener uses may be gone as soon as it has left: sanitizers watch. */
static void a_listener_comes_and_goes_while_others_commit(void **state)
{
    struct fixture *f = *state;
    struct thread threads[THREADS] = {{0}};
    int64_t told_count = 0;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go")));
    for (int i = 0; i < THREADS; i++) {
        threads[i] = (struct thread){.f = f, .number = i};
        assert_ok(pawl_thread_start(f->env, "changes-test", start_many, &threads[i],
                                    &threads[i].thread, &f->err),
                  &f->err);
    }
    for (int i = 0; i < 200; i++) {
        struct told *told = calloc(1, sizeof *told);

        assert_non_null(told);
        pawl__runtime_listen(f->a.runtime, note, told);
        (void)!pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + SECOND / 10000);
        pawl__runtime_listen(f->a.runtime, NULL, NULL);
        told_count += told->others;
        free(told);
    }
    for (int i = 0; i < THREADS; i++)
        pawl_thread_join(f->env, threads[i].thread);
    assert_true(told_count <= (int64_t)2 * THREADS * STARTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_revision_is_told_and_so_is_the_end, set_up_running,
                                        tear_down),
        cmocka_unit_test_setup_teardown(who_has_left_is_not_told, set_up_running, tear_down),
        cmocka_unit_test_setup_teardown(a_commit_that_failed_is_not_told, set_up_running,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_listener_comes_and_goes_while_others_commit,
                                        set_up_running, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
