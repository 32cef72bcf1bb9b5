/* SPDX-License-Identifier: Apache-2.0 */
/* A node that cannot renew its lease stops in the middle of a burst, and another one goes on. */
#include "unit/runtime/nodes.h"

#include <pthread.h>

#define LONG DEFINITION("long", "", RIG_WRITE("w1", "one") "," RIG_WRITE("w2", "two"))

/* One test runs at a time. */
static struct {
    atomic_bool refuses; /* leases */
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool reached, open;
} gate = {.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};

static bool refuse_leases(void *ctx, enum pawl_store_call call, enum pawl_store_fault *how)
{
    (void)ctx;
    *how = PAWL_STORE_FAULT_BEFORE;
    return call == PAWL_STORE_CALL_LEASE && atomic_load(&gate.refuses);
}

/* Called between activities. */
static bool stand_at_gate(void *ctx)
{
    (void)ctx;
    (void)pthread_mutex_lock(&gate.mutex);
    gate.reached = true;
    (void)pthread_cond_broadcast(&gate.cond);
    while (!gate.open)
        (void)pthread_cond_wait(&gate.cond, &gate.mutex);
    (void)pthread_mutex_unlock(&gate.mutex);
    return false;
}

static void *run_cut_off(void *arg)
{
    struct fixture *f = arg;
    const struct pawl_store_fault_hooks faults = {.decide = refuse_leases};
    const struct pawl_runtime_options options = {
        .node_id = pawl__str("cut off"),
        .lease_us = 1000000,
        .hooks = {.line = on_line, .stop = stand_at_gate, .ctx = f}};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_runtime *runtime;
    struct pawl_store *inner, *store;
    struct pawl_worked worked;

    assert_ok(pawl__memory_store_open(f->database, f->env, &inner, &err), &err);
    assert_ok(pawl__fault_store_new(f->env, inner, &faults, &store, &err), &err);
    assert_ok(pawl__runtime_open(f->env, &f->engine, store, &options, &runtime, &err), &err);
    /* Its end may say that it was cut off. */
    (void)!pawl__runtime_work(runtime, 0, &worked, PAWL_FOREVER, &err);
    pawl__runtime_close(runtime);
    pawl_store_close(store);
    return NULL;
}

static bool is_lease_over(struct fixture *f)
{
    const struct pawl_query query = {.table = PAWL_TABLE_NODES};
    struct pawl_store_status status;
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    assert_ok(pawl_store_status(f->a.store, &status, later(f), &f->err), &f->err);
    for (size_t i = 0; i < rows.count; i++) {
        const struct pawl_node_row *row = &((const struct pawl_node_row *)rows.rows)[i];

        if (pawl__str_is(row->id, "cut off"))
            return row->lease_us < status.now_us;
    }
    return false;
}

static void a_burst_whose_node_has_lost_its_lease_stops_and_another_goes_on(void **state)
{
    struct fixture *f = *state;
    const struct pawl_start what = {.definition_id = pawl__str("long"),
                                    .instance_id = pawl__str("i")};
    int64_t give_up_ns = later(f);
    pthread_t burst;

    publish(f, LONG);
    assert_ok(pawl__runtime_create(f->a.runtime, &what, NULL, later(f), &f->err), &f->err);
    assert_int_equal(pthread_create(&burst, NULL, run_cut_off, f), 0);
    (void)pthread_mutex_lock(&gate.mutex);
    while (!gate.reached)
        (void)pthread_cond_wait(&gate.cond, &gate.mutex);
    (void)pthread_mutex_unlock(&gate.mutex);
    atomic_store(&gate.refuses, true);
    while (!is_lease_over(f)) {
        assert_true(pawl_env_monotonic_ns(f->env) < give_up_ns);
        assert_ok(pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + SECOND / 100), NULL);
    }
    (void)pthread_mutex_lock(&gate.mutex);
    gate.open = true;
    (void)pthread_cond_broadcast(&gate.cond);
    (void)pthread_mutex_unlock(&gate.mutex);
    assert_int_equal(pthread_join(burst, NULL), 0);
    assert_string_not_equal(sub_status(f, "i"), "Finished");
    drain(f);
    assert_string_equal(sub_status(f, "i"), "Finished");
    assert_string_equal(f->lines, "one\ntwo\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_burst_whose_node_has_lost_its_lease_stops_and_another_goes_on, set_up_running,
            tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
