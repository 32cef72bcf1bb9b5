/* SPDX-License-Identifier: Apache-2.0 */
/* Plans whose jobs are interrupted: what was altered is never reported as failed. */
#include "runtime/work/plans.h"

#include "engine/context.h"
#include "runtime/audit.h"
#include "unit/runtime/nodes.h"

/* Activities have no context of the test's; one test runs at a time. */
static int mood; /* what the activity returns; PAWL_EINVAL: it faults */
static int runs;

static int moody_execute(struct pawl_context *context)
{
    runs++;
    return mood == PAWL_EINVAL ? pawl__raise(context, "Mood", "not now") : mood;
}

static const struct pawl_activity moody_activity = {
    .type = "Test.Moody",
    .version = 1,
    .flags = PAWL_ACTIVITY_AUTO_COMPLETE,
    .category = "Test",
    .description = "Fails as the test says.",
    .execute = moody_execute,
};

#define MOODY DEFINITION("d", "", RIG_EVENT("e", "Go") ",{'id':'m','type':'Test.Moody'}")

static void start_as(struct fixture *f, const char *id)
{
    const struct pawl_start what = {.definition_id = pawl__str("d"), .instance_id = pawl__str(id)};

    assert_int_equal(pawl__engine_add_activity(&f->engine, &moody_activity), PAWL_OK);
    publish(f, MOODY);
    assert_ok(pawl__runtime_start(f->a.runtime, &what, NULL, later(f), &f->err), &f->err);
    mood = PAWL_OK;
    runs = 0;
}

static void submit(struct fixture *f, const char *alterations)
{
    char data[512], *end;
    bool existed;

    (void)snprintf(data, sizeof data, "{'alterations':%s,'filter':{'workflowInstanceIds':['i']}}",
                   alterations);
    for (end = data; *end; end++)
        *end = *end == '\'' ? '"' : *end;
    assert_ok(pawl__runtime_submit_plan_by(f->a.runtime, NULL, pawl__str("p"), pawl__str(data),
                                           &existed, later(f), &f->err),
              &f->err);
    assert_false(existed);
}

static const struct pawl_job_row *only_job(struct fixture *f)
{
    const struct pawl_query query = {.table = PAWL_TABLE_JOBS, .limit = 2};
    struct pawl_rows rows = {0};

    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    assert_int_equal(rows.count, 1);
    return rows.rows;
}

static void assert_job(struct fixture *f, const char *status, const char *said)
{
    const struct pawl_job_row *job = only_job(f);

    if (!pawl__str_is(job->status, status))
        fail_msg("the job is %.*s, not %s: %.*s", PAWL_STR_ARG(job->status), status,
                 PAWL_STR_ARG(job->log));
    if (!strstr(pawl__arena_printf(&f->arena, "%.*s", PAWL_STR_ARG(job->log)), said))
        fail_msg("'%s' is not in: %.*s", said, PAWL_STR_ARG(job->log));
}

#define SCHEDULE "[{'type':'ScheduleActivity','activityId':'m'}]"
#define RETRY "[{'type':'Retry'}]"

/* The first commit says what was altered; then the activity that it began exceeds a limit. */
static void a_job_whose_alteration_is_stored_has_not_failed(void **state)
{
    struct fixture *f = *state;

    start_as(f, "i");
    submit(f, SCHEDULE);
    mood = PAWL_ELIMIT;
    drain(f);
    assert_true(runs > 0);
    assert_job(f, "Completed", "ScheduleActivity");
    assert_job(f, "Completed", "the alterations of instance i took effect; what followed");
}

static void a_job_whose_alteration_is_refused_has_failed(void **state)
{
    struct fixture *f = *state;

    start_as(f, "i");
    submit(f, RETRY);
    drain(f);
    assert_job(f, "Failed", "fault");
}

/* What a node did of the job that ended before it could say so. */
static void alter_as_job(struct fixture *f, const char *alterations)
{
    struct pawl_audit by = {.row = {.id = pawl__str("job:p.00000000"),
                                    .actor = pawl__str("plan"),
                                    .door = pawl__str("plan"),
                                    .action = pawl__str("alter"),
                                    .kind = pawl__str("instance"),
                                    .target = pawl__str("i"),
                                    .result = pawl__str("ok"),
                                    .data = pawl__str("{}")}};
    struct pawl_json log, parsed = json(f, alterations);

    assert_ok(pawl__runtime_try_alter_by(f->a.runtime, &by, pawl__str("i"), &parsed, &f->arena,
                                         &log, later(f), &f->err),
              &f->err);
}

/* Once more it would be refused: nothing is faulted any more. */
static void a_retry_that_was_done_before_is_not_refused(void **state)
{
    struct fixture *f = *state;

    start_as(f, "i");
    mood = PAWL_EINVAL;
    (void)send(f, "Go");
    drain(f);
    assert_string_equal(sub_status(f, "i"), "Faulted");
    mood = PAWL_OK;
    alter_as_job(f, RETRY);
    assert_string_equal(sub_status(f, "i"), "Finished");
    submit(f, RETRY);
    drain(f);
    assert_job(f, "Completed", "It was altered before");
}

static void what_was_scheduled_before_is_not_begun_again(void **state)
{
    struct fixture *f = *state;

    start_as(f, "i");
    alter_as_job(f, SCHEDULE);
    submit(f, SCHEDULE);
    drain(f);
    assert_int_equal(runs, 1);
    assert_job(f, "Completed", "It was altered before");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_job_whose_alteration_is_stored_has_not_failed),
        TEST(a_job_whose_alteration_is_refused_has_failed),
        TEST(a_retry_that_was_done_before_is_not_refused),
        TEST(what_was_scheduled_before_is_not_begun_again),
    };

    return cmocka_run_group_tests_name("runtime/work/plans", tests, NULL, NULL);
}
