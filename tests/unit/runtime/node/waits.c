/* SPDX-License-Identifier: Apache-2.0 */
/* Waiters for instances: one table, one thread, many callers. */
#include "runtime/node/waits.h"
#include "unit/runtime/nodes.h"

#define MANY 200
#define THREADS 4

struct seen {
    atomic_int calls;
    atomic_int ok, timed_out, stopped, gone, other;
};

static void note(void *ctx, int status, const struct pawl_instance_row *row,
                 const struct pawl_error *err)
{
    struct seen *seen = ctx;

    assert_true((status == PAWL_OK) == (row != NULL));
    assert_true(err->code == status);
    atomic_fetch_add(status == PAWL_OK          ? &seen->ok
                     : status == PAWL_ETIMEDOUT ? &seen->timed_out
                     : status == PAWL_ESTOPPED  ? &seen->stopped
                     : status == PAWL_ENOTFOUND ? &seen->gone
                                                : &seen->other,
                     1);
    atomic_fetch_add(&seen->calls, 1);
}

static int add(struct fixture *f, struct seen *seen, const char *id, enum pawl_wait_until until,
               int64_t deadline_ns, uint64_t *ticket)
{
    return pawl__runtime_await(f->a.runtime,
                               &(struct pawl_wait){.instance_id = pawl__str(id),
                                                   .until = until,
                                                   .deadline_ns = deadline_ns,
                                                   .done = note,
                                                   .ctx = seen},
                               ticket, &f->err);
}

static void begin(struct fixture *f, const char *id)
{
    const struct pawl_start what = {.definition_id = pawl__str("d"), .instance_id = pawl__str(id)};

    assert_ok(pawl__runtime_start(f->a.runtime, &what, NULL, later(f), &f->err), &f->err);
}

static void await_calls(struct fixture *f, struct seen *seen, int count)
{
    int64_t until_ns = later(f);

    while (atomic_load(&seen->calls) < count) {
        if (pawl_env_monotonic_ns(f->env) > until_ns)
            fail_msg("%d of %d waiters were called", atomic_load(&seen->calls), count);
        (void)!pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + SECOND / 1000);
    }
}

static void each_of_many_waiters_is_called_once(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {0};
    char id[16];

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go")));
    for (int i = 0; i < MANY; i++) {
        snprintf(id, sizeof id, "i%d", i);
        begin(f, id);
        for (int j = 0; j < 3; j++)
            assert_ok(add(f, &seen, id, PAWL_WAIT_ENDED, later(f), NULL), &f->err);
    }
    for (int i = 0; i < MANY; i++) {
        snprintf(id, sizeof id, "i%d", i);
        assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str(id), later(f), &f->err), &f->err);
    }
    await_calls(f, &seen, 3 * MANY);
    assert_int_equal(atomic_load(&seen.ok), 3 * MANY);
}

static void who_waits_for_idle_is_called_for_what_waits_and_what_was_deleted(void **state)
{
    struct fixture *f = *state;
    struct seen idle = {0}, ended = {0};

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go")));
    begin(f, "i");
    assert_ok(add(f, &idle, "i", PAWL_WAIT_IDLE, later(f), NULL), &f->err);
    await_calls(f, &idle, 1);
    assert_int_equal(atomic_load(&idle.ok), 1);
    assert_ok(add(f, &ended, "i", PAWL_WAIT_ENDED, later(f), NULL), &f->err);
    assert_ok(pawl__runtime_delete(f->a.runtime, pawl__str("i"), later(f), &f->err), &f->err);
    await_calls(f, &ended, 1);
    assert_int_equal(atomic_load(&ended.gone), 1);
}

/* Another node's commits tell nobody here. */
static void what_another_node_ends_is_found_by_looking(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {0};
    struct node other;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go")));
    begin(f, "i");
    node_open(f, &other, "b");
    assert_ok(add(f, &seen, "i", PAWL_WAIT_ENDED, later(f), NULL), &f->err);
    assert_ok(pawl__runtime_cancel(other.runtime, pawl__str("i"), later(f), &f->err), &f->err);
    await_calls(f, &seen, 1);
    assert_int_equal(atomic_load(&seen.ok), 1);
    node_close(&other);
}

static void a_wait_ends_with_its_time_and_a_forgotten_one_is_not_called(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {0}, forgotten = {0};
    uint64_t ticket;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go")));
    begin(f, "i");
    assert_ok(add(f, &forgotten, "i", PAWL_WAIT_ENDED, later(f), &ticket), &f->err);
    assert_true(pawl__runtime_forget_wait(f->a.runtime, ticket, NULL));
    assert_ok(
        add(f, &seen, "i", PAWL_WAIT_ENDED, pawl_env_monotonic_ns(f->env) + SECOND / 100, &ticket),
        &f->err);
    await_calls(f, &seen, 1);
    assert_int_equal(atomic_load(&seen.timed_out), 1);
    assert_false(pawl__runtime_forget_wait(f->a.runtime, ticket, NULL));
    assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str("i"), later(f), &f->err), &f->err);
    assert_int_equal(atomic_load(&forgotten.calls), 0);
}

static void waiters_beyond_the_limit_are_refused_and_all_end_with_the_node(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {0};

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go")));
    begin(f, "i");
    for (unsigned i = 0; i < PAWL_WAITERS_MAX; i++)
        assert_ok(add(f, &seen, "i", PAWL_WAIT_ENDED, PAWL_FOREVER, NULL), &f->err);
    assert_code(add(f, &seen, "i", PAWL_WAIT_ENDED, PAWL_FOREVER, NULL), PAWL_EBUSY);
    assert_int_equal(atomic_load(&seen.calls), 0);
    node_close(&f->a);
    assert_int_equal(atomic_load(&seen.stopped), PAWL_WAITERS_MAX);
    node_open(f, &f->a, "a");
}

static void a_node_that_drains_ends_waits_and_takes_no_more(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {0};

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go")));
    begin(f, "i");
    assert_ok(add(f, &seen, "i", PAWL_WAIT_ENDED, later(f), NULL), &f->err);
    pawl__runtime_stop(f->a.runtime);
    await_calls(f, &seen, 1);
    assert_int_equal(atomic_load(&seen.stopped), 1);
    assert_code(add(f, &seen, "i", PAWL_WAIT_ENDED, later(f), NULL), PAWL_ESTOPPED);
}

static void a_look_that_fails_is_tried_again(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {0};

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go")));
    begin(f, "i");
    assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str("i"), later(f), &f->err), &f->err);
    fail_next(f, PAWL_STORE_CALL_FIND, PAWL_STORE_FAULT_BEFORE);
    assert_ok(add(f, &seen, "i", PAWL_WAIT_ENDED, later(f), NULL), &f->err);
    await_calls(f, &seen, 1);
    assert_int_equal(atomic_load(&seen.ok), 1);
}

/* ---- threads ------------------------------------------------------------------------------- */

struct thread {
    struct fixture *f;
    struct pawl_thread *thread;
    struct seen seen;
    int number;
    int added;
    int forgotten;
};

static void wait_and_cancel(void *arg)
{
    struct thread *t = arg;
    struct pawl_error err = PAWL_ERROR_INIT;
    char id[24];

    for (int i = 0; i < MANY / THREADS; i++) {
        const struct pawl_start what = {.definition_id = pawl__str("d"),
                                        .instance_id = pawl__str(id)};
        struct pawl_wait wait = {
            .until = PAWL_WAIT_ENDED, .deadline_ns = later(t->f), .done = note, .ctx = &t->seen};
        struct pawl_start own = what;
        uint64_t ticket;

        snprintf(id, sizeof id, "t%d-%d", t->number, i);
        own.instance_id = wait.instance_id = pawl__str(id);
        if (pawl__runtime_start(t->f->a.runtime, &own, NULL, later(t->f), &err) != PAWL_OK ||
            pawl__runtime_await(t->f->a.runtime, &wait, &ticket, &err) != PAWL_OK)
            continue;
        t->added++;
        if (i % 3 == 0 && pawl__runtime_forget_wait(t->f->a.runtime, ticket, NULL))
            t->forgotten++;
        (void)!pawl__runtime_cancel(t->f->a.runtime, own.instance_id, later(t->f), &err);
    }
}

static void threads_that_add_forget_and_cancel_meet_no_one(void **state)
{
    struct fixture *f = *state;
    struct thread threads[THREADS] = {{0}};

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go")));
    for (int i = 0; i < THREADS; i++) {
        threads[i].f = f;
        threads[i].number = i;
        assert_ok(pawl_thread_start(f->env, "waits-test", wait_and_cancel, &threads[i],
                                    &threads[i].thread, &f->err),
                  &f->err);
    }
    for (int i = 0; i < THREADS; i++)
        pawl_thread_join(f->env, threads[i].thread);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(threads[i].added, MANY / THREADS);
        await_calls(f, &threads[i].seen, threads[i].added - threads[i].forgotten);
        assert_int_equal(atomic_load(&threads[i].seen.ok), threads[i].added - threads[i].forgotten);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_of_many_waiters_is_called_once, set_up_running,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            who_waits_for_idle_is_called_for_what_waits_and_what_was_deleted, set_up_running,
            tear_down),
        cmocka_unit_test_setup_teardown(what_another_node_ends_is_found_by_looking, set_up_running,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_wait_ends_with_its_time_and_a_forgotten_one_is_not_called,
                                        set_up_running, tear_down),
        cmocka_unit_test_setup_teardown(
            waiters_beyond_the_limit_are_refused_and_all_end_with_the_node, set_up_running,
            tear_down),
        cmocka_unit_test_setup_teardown(a_node_that_drains_ends_waits_and_takes_no_more,
                                        set_up_running, tear_down),
        cmocka_unit_test_setup_teardown(a_look_that_fails_is_tried_again, set_up_running,
                                        tear_down),
        cmocka_unit_test_setup_teardown(threads_that_add_forget_and_cancel_meet_no_one,
                                        set_up_running, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
