/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that wait for an instance. */
#include "operations/desk.h"

#include "host/duty.h"
#include "host/features.h"
#include "operations/instances.h"
#include "operations/waits.h"

#include <stdio.h>

static struct pawl_instance_start start_of(const char *definition_id)
{
    return (struct pawl_instance_start){
        .what = {.definition_id = pawl__str(definition_id),
                 .input = {.type = PAWL_JSON_NULL},
                 .properties = {.type = PAWL_JSON_NULL},
                 .variables = {.type = PAWL_JSON_NULL}},
    };
}

static void start_waiting(struct desk *desk, int count)
{
    char id[16];

    for (int i = 0; i < count; i++) {
        (void)snprintf(id, sizeof id, "w%d", i);
        (void)desk_start(desk, "waits", id, NULL, NULL);
    }
}

struct seen {
    atomic_int calls;
    atomic_int status;
    atomic_int sub_status;
    atomic_bool had_state;
};

static void note(void *ctx, int status, const struct pawl_instance_result *result,
                 const struct pawl_error *err)
{
    struct seen *seen = ctx;

    (void)err;
    atomic_store(&seen->status, status);
    if (result) {
        atomic_store(&seen->sub_status, (int)result->outcome.sub_status);
        atomic_store(&seen->had_state, !pawl__json_is(&result->state, PAWL_JSON_NULL));
    }
    atomic_fetch_add(&seen->calls, 1);
}

static void await_calls(struct desk *desk, struct seen *seen, int count)
{
    while (atomic_load(&seen->calls) < count) {
        if (pawl_env_monotonic_ns(desk->env) > desk->op.deadline_ns)
            fail_msg("%d of %d completions", atomic_load(&seen->calls), count);
        (void)!pawl_env_sleep_until(desk->env, pawl_env_monotonic_ns(desk->env) + 1000000);
    }
}

static void an_execution_completes_when_it_first_rests(struct desk *desk)
{
    struct pawl_instance_start request = start_of("waits");
    struct seen seen = {.calls = 0};

    desk_publish(desk, desk_waits);
    request.with_state = true;
    assert_ok(pawl__op_instance_execute(&desk->op, &request, note, &seen, NULL), &desk->err);
    await_calls(desk, &seen, 1);
    assert_int_equal(atomic_load(&seen.status), PAWL_OK);
    assert_int_equal(atomic_load(&seen.sub_status), PAWL_SUB_SUSPENDED);
    assert_true(atomic_load(&seen.had_state));
    request = start_of("nope");
    assert_code(pawl__op_instance_execute(&desk->op, &request, note, &seen, NULL), PAWL_ENOTFOUND);
    assert_int_equal(atomic_load(&seen.calls), 1);
}

static void a_detached_execution_completes_when_a_worker_has_run_it(struct desk *desk)
{
    struct pawl_instance_start request = start_of("ends");
    struct seen seen = {.calls = 0};
    struct pawl_duty *duty;

    desk_publish(desk, desk_ends);
    request.detached = request.with_state = true;
    assert_ok(pawl__op_instance_execute(&desk->op, &request, note, &seen, NULL), &desk->err);
    assert_ok(pawl__duty_open(desk->host, 1, NULL, &duty, &desk->err), &desk->err);
    await_calls(desk, &seen, 1);
    pawl__duty_close(duty);
    assert_int_equal(atomic_load(&seen.status), PAWL_OK);
    assert_int_equal(atomic_load(&seen.sub_status), PAWL_SUB_FINISHED);
    assert_true(atomic_load(&seen.had_state));
}

static void a_caller_without_workers_does_the_work_while_it_waits(struct desk *desk)
{
    struct pawl_instance_start request = start_of("ends");
    struct pawl_instance_row row;
    struct pawl_str *ids;
    uint32_t count;

    desk_publish(desk, desk_ends);
    assert_ok(pawl__op_instances_dispatch(&desk->op, &request, 1, &ids, &count), &desk->err);
    assert_ok(pawl__op_instance_wait(&desk->op, ids[0], PAWL_WAIT_ENDED, true, &row), &desk->err);
    assert_true(pawl__str_is(row.sub_status, "Finished"));
}

static void a_deletion_ends_a_wait(struct desk *desk)
{
    struct seen seen = {.calls = 0};

    desk_publish(desk, desk_waits);
    start_waiting(desk, 1);
    assert_ok(pawl__op_instance_await(&desk->op, pawl__str("w0"), PAWL_WAIT_ENDED, false, note,
                                      &seen, NULL),
              &desk->err);
    assert_int_equal(atomic_load(&seen.calls), 0);
    assert_ok(pawl__op_instance_delete(&desk->op, pawl__str("w0")), &desk->err);
    await_calls(desk, &seen, 1);
    assert_int_equal(atomic_load(&seen.status), PAWL_ENOTFOUND);
}

static void a_cancellation_ends_a_wait(struct desk *desk)
{
    struct pawl_instance_row row;

    desk_publish(desk, desk_waits);
    start_waiting(desk, 1);
    assert_ok(pawl__op_instance_cancel(&desk->op, pawl__str("w0"), false, NULL), &desk->err);
    assert_ok(pawl__op_instance_wait(&desk->op, pawl__str("w0"), PAWL_WAIT_ENDED, false, &row),
              &desk->err);
    assert_true(pawl__str_is(row.sub_status, "Cancelled"));
}

static void a_wait_ends_with_its_time(struct desk *desk)
{
    struct pawl_op brief;

    desk_publish(desk, desk_waits);
    start_waiting(desk, 1);
    brief = pawl__op_within(&desk->op, 20);
    assert_code(pawl__op_instance_wait(&brief, pawl__str("w0"), PAWL_WAIT_ENDED, false, NULL),
                PAWL_ETIMEDOUT);
    assert_ok(pawl__op_instance_wait(&desk->op, pawl__str("w0"), PAWL_WAIT_IDLE, false, NULL),
              &desk->err);
}

const struct desk_test wait_tests[] = {
    DESK_TEST(an_execution_completes_when_it_first_rests),
    DESK_TEST(a_detached_execution_completes_when_a_worker_has_run_it),
    DESK_TEST(a_caller_without_workers_does_the_work_while_it_waits),
    DESK_TEST(a_cancellation_ends_a_wait),
    DESK_TEST(a_deletion_ends_a_wait),
    DESK_TEST(a_wait_ends_with_its_time),
    {.name = NULL},
};
