/* SPDX-License-Identifier: Apache-2.0 */
/* Alterations: what an operator changes in an instance, all or none. */
#include "engine/run/alter.h"

#include "lib/rig.h"

#include <string.h>

#define VARIABLE(id, type, value)                                                                  \
    "{'id':'" id "','name':'" id "','typeName':'" type "','value':" value                          \
    ",'storageDriverTypeName':'WorkflowInstanceStorageDriver'}"
#define WHEN RIG_INPUT("String", "Variable", "{'id':'when','name':'when'}")
/* Faults while the variable is no cron expression. */
#define WAIT "{'id':'wait','type':'Elsa.Cron','cronExpression':" WHEN "}"
#define WAITING                                                                                    \
    RIG_WORKFLOW("'variables':[" VARIABLE("when", "String", "'nonsense'") "],",                    \
                 RIG_SEQUENCE("S", RIG_WRITE("a", "one") "," WAIT "," RIG_WRITE("b", "two")))
#define SUSPENDED                                                                                  \
    RIG_WORKFLOW("", RIG_SEQUENCE("S", RIG_EVENT("e", "go") "," RIG_WRITE("b", "after")))
#define CHART(id, activities, connections)                                                         \
    "{'id':'" id "','type':'Elsa.Flowchart','activities':[" activities                             \
    "],'connections':[" connections "]}"
#define CONNECTION(from, to) "{'source':{'activity':'" from "'},'target':{'activity':'" to "'}}"

static int try_alter(struct rig *rig, const char *alterations, enum pawl_step *last)
{
    struct pawl_event event = {.kind = PAWL_EVENT_ALTER};
    int status = rig_parse(rig, pawl__str(alterations), &event.alterations);

    if (status == PAWL_OK)
        status = rig_open(rig, &event);
    if (status == PAWL_OK)
        status = rig_try_finish(rig, last);
    return status;
}

static enum pawl_step alter(struct rig *rig, const char *alterations)
{
    enum pawl_step last = PAWL_STEP_COMMIT;

    assert_ok(try_alter(rig, alterations, &last), &rig->err);
    return last;
}

static void assert_refused(struct rig *rig, const char *alterations, int code, const char *says)
{
    enum pawl_step last;

    assert_code(try_alter(rig, alterations, &last), code);
    if (!strstr(rig->err.msg, says))
        fail_msg("'%s' does not say '%s'", rig->err.msg, says);
}

/* ---- retrying ---------------------------------------------------------------------------- */

static void a_faulted_instance_is_mended_and_goes_on_where_it_stood(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig, WAITING);
    assert_int_equal(rig_run(&rig), PAWL_STEP_DONE);
    assert_at(&rig, "subStatus", "Faulted");
    pawl__buf_clear(&rig.journal);
    assert_int_equal(alter(&rig,
                           "[{'type':'ModifyVariable','variableId':'when','value':'0 0 * * * *'},"
                           "{'type':'Retry'}]"),
                     PAWL_STEP_IDLE);
    assert_at(&rig, "subStatus", "Suspended");
    assert_null(rig_at(&rig, "finishedAt"));
    assert_journal(&rig, "Workflow1 Altered\nWorkflow1 Altered\nwait Started\nwait Suspended\n");
    assert_int_equal(pawl__json_len(rig_at(&rig, "incidents")), 1); /* what happened stays */
    assert_int_equal(rig_resume(&rig, "wait"), PAWL_STEP_DONE);
    assert_at(&rig, "subStatus", "Finished");
    assert_lines(&rig, "one\ntwo\n");
    rig_release(&rig);
}

static void what_was_altered_is_committed_before_it_runs(void **state)
{
    struct pawl_event event = {.kind = PAWL_EVENT_ALTER};
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig, WAITING);
    assert_int_equal(rig_run(&rig), PAWL_STEP_DONE);
    pawl__buf_clear(&rig.journal);
    assert_ok(rig_parse(&rig, pawl__str("[{'type':'Retry'}]"), &event.alterations), &rig.err);
    assert_ok(rig_open(&rig, &event), &rig.err);
    assert_int_equal(rig_step(&rig), PAWL_STEP_COMMIT);
    assert_journal(&rig, "Workflow1 Altered\n");
    assert_int_equal(rig_step(&rig), PAWL_STEP_DONE);
    rig_close(&rig);
    assert_at(&rig, "subStatus", "Faulted"); /* nothing was mended */
    assert_int_equal(pawl__json_len(rig_at(&rig, "incidents")), 2);
    rig_release(&rig);
}

static void a_retry_names_activities_that_have_faulted(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig, RIG_WORKFLOW(
                       "", RIG_PARALLEL("P", RIG_FAULT("f", "bad") "," RIG_FAULT("g", "worse"))));
    assert_int_equal(rig_run(&rig), PAWL_STEP_DONE);
    pawl__buf_clear(&rig.journal);
    assert_refused(&rig, "[{'type':'Retry','activityIds':['P']}]", PAWL_ENOTFOUND, "P of instance");
    assert_int_equal(alter(&rig, "[{'type':'Retry','activityIds':['g']}]"), PAWL_STEP_DONE);
    assert_journal(&rig, "Workflow1 Altered\ng Started\ng Faulted\n");
    rig_release(&rig);
}

static void only_a_faulted_instance_is_reopened(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig, SUSPENDED);
    assert_int_equal(rig_run(&rig), PAWL_STEP_IDLE);
    assert_refused(&rig, "[{'type':'Retry'}]", PAWL_ECONFLICT, "nothing to retry");
    assert_int_equal(rig_resume(&rig, "e"), PAWL_STEP_DONE);
    assert_refused(&rig, "[{'type':'Retry'}]", PAWL_ECONFLICT, "is Finished");
    assert_refused(&rig, "[{'type':'ScheduleActivity','activityId':'b'}]", PAWL_ECONFLICT,
                   "is Finished");
    assert_at(&rig, "subStatus", "Finished");
    rig_release(&rig);
}

static void a_flowchart_goes_on_after_a_retried_activity(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig,
             RIG_WORKFLOW("'variables':[" VARIABLE("when", "String", "'nonsense'") "],",
                          CHART("C", WAIT "," RIG_WRITE("b", "two"), CONNECTION("wait", "b"))));
    assert_int_equal(rig_run(&rig), PAWL_STEP_DONE);
    assert_at(&rig, "subStatus", "Faulted");
    assert_int_equal(alter(&rig,
                           "[{'type':'ModifyVariable','variableId':'when','value':'0 0 * * * *'},"
                           "{'type':'Retry','activityIds':['wait']}]"),
                     PAWL_STEP_IDLE);
    assert_int_equal(rig_resume(&rig, "wait"), PAWL_STEP_DONE);
    assert_at(&rig, "subStatus", "Finished");
    assert_lines(&rig, "two\n");
    rig_release(&rig);
}

/* ---- scheduling, cancelling ---------------------------------------------------------------- */

static void an_activity_is_scheduled_under_what_contains_it(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig, RIG_WORKFLOW("", CHART("C",
                                          RIG_EVENT("e", "go") "," RIG_WRITE(
                                              "x", "ex") "," RIG_WRITE("y", "why"),
                                          CONNECTION("e", "x") "," CONNECTION("x", "y"))));
    assert_int_equal(rig_run(&rig), PAWL_STEP_IDLE);
    assert_int_equal(alter(&rig, "[{'type':'ScheduleActivity','activityId':'x'}]"), PAWL_STEP_IDLE);
    assert_lines(&rig, "ex\nwhy\n"); /* it follows the connections */
    assert_refused(&rig, "[{'type':'ScheduleActivity','activityId':'nowhere'}]", PAWL_ENOTFOUND,
                   "no activity nowhere");
    assert_refused(&rig, "[{'type':'ScheduleActivity','activityInstanceId':'none'}]",
                   PAWL_ENOTFOUND, "none");
    rig_release(&rig);
}

static void a_cancelled_activity_waits_no_more(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig,
             RIG_WORKFLOW("", RIG_PARALLEL("P", RIG_EVENT("e", "go") "," RIG_EVENT("f", "went"))));
    assert_int_equal(rig_run(&rig), PAWL_STEP_IDLE);
    assert_int_equal(alter(&rig, "[{'type':'CancelActivity','activityId':'e'}]"), PAWL_STEP_IDLE);
    assert_int_equal(pawl__json_len(rig_at(&rig, "bookmarks")), 1);
    assert_at(&rig, "bookmarks/0/activityId", "f");
    assert_int_equal(alter(&rig, "[{'type':'Cancel'}]"), PAWL_STEP_DONE);
    assert_at(&rig, "subStatus", "Cancelled");
    assert_int_equal(alter(&rig, "[{'type':'Cancel'}]"), PAWL_STEP_DONE); /* it had ended */
    rig_release(&rig);
}

/* ---- migrating ---------------------------------------------------------------------------- */

#define VERSION(number, activities)                                                                \
    "{'definitionId':'d','id':'d:" number "','version':" number                                    \
    ",'root':" RIG_SEQUENCE("S", activities) "}"

/* Another graph under the same instance. */
static void load_under(struct rig *rig, const char *text)
{
    struct pawl_arena arena;
    struct pawl_json kept;

    pawl__arena_init(&arena, &rig->own.base, (size_t)1 << 20);
    assert_int_equal(pawl__json_copy(&arena, &rig->state, &kept), PAWL_OK);
    rig_load(rig, text);
    assert_int_equal(pawl__json_copy(&rig->state_arena, &kept, &rig->state), PAWL_OK);
    pawl__arena_release(&arena);
}

static void an_instance_goes_on_in_another_version(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig, VERSION("1", RIG_EVENT("e", "go") "," RIG_WRITE("b", "first")));
    assert_int_equal(rig_run(&rig), PAWL_STEP_IDLE);
    load_under(&rig, VERSION("2", RIG_EVENT("e", "go") "," RIG_WRITE("b", "second")));
    assert_int_equal(alter(&rig, "[{'type':'Migrate','targetVersion':2}]"), PAWL_STEP_IDLE);
    assert_at(&rig, "definitionVersionId", "d:2");
    assert_int_equal(rig_at(&rig, "definitionVersion")->u.integer, 2);
    assert_int_equal(rig_resume(&rig, "e"), PAWL_STEP_DONE);
    assert_lines(&rig, "second\n");
    rig_release(&rig);
}

static void a_version_without_the_place_where_it_stands_is_refused(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig, VERSION("1", RIG_EVENT("e", "go")));
    assert_int_equal(rig_run(&rig), PAWL_STEP_IDLE);
    load_under(&rig, VERSION("2", RIG_WRITE("b", "second")));
    assert_refused(&rig, "[{'type':'Migrate','targetVersion':2}]", PAWL_ECONFLICT, "S:e");
    assert_at(&rig, "definitionVersionId", "d:1");
    rig_release(&rig);
}

/* ---- all or none --------------------------------------------------------------------------- */

static void one_that_is_refused_undoes_those_before_it(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig, WAITING);
    assert_int_equal(rig_run(&rig), PAWL_STEP_DONE);
    assert_refused(&rig,
                   "[{'type':'ModifyVariable','variableId':'when','value':'0 0 * * * *'},"
                   "{'type':'ModifyVariable','variableId':'none','value':1}]",
                   PAWL_ENOTFOUND, "alteration 2 (ModifyVariable)");
    assert_int_equal(alter(&rig, "[{'type':'Retry'}]"), PAWL_STEP_DONE);
    assert_at(&rig, "subStatus", "Faulted"); /* the variable is what it was */
    rig_release(&rig);
}

static void what_is_no_alteration_is_refused(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig, SUSPENDED);
    assert_int_equal(rig_run(&rig), PAWL_STEP_IDLE);
    assert_refused(&rig, "{}", PAWL_EINVAL, "JSON array");
    assert_refused(&rig, "[]", PAWL_EINVAL, "at least one");
    assert_refused(&rig, "[{'type':'Explode'}]", PAWL_EINVAL, "'Explode'");
    assert_refused(&rig, "[{'type':'Migrate'}]", PAWL_EINVAL, "targetVersion");
    assert_refused(&rig, "[{'type':'CancelActivity'}]", PAWL_EINVAL, "activityInstanceId");
    assert_refused(&rig, "[{'type':'Retry','activityIds':3}]", PAWL_EINVAL, "array");
    assert_refused(&rig,
                   "[{'type':'Migrate','targetVersion':1},{'type':'Migrate',"
                   "'targetVersion':2}]",
                   PAWL_EINVAL, "second migration");
    rig_release(&rig);
}

static int alter_over(struct test_allocator *alloc, void *arg)
{
    enum pawl_step last;
    struct rig rig;
    int status = rig_init_over(&rig, &alloc->base);

    (void)arg;
    if (status != PAWL_OK)
        return status;
    status = rig_try_load(&rig, pawl__str(WAITING));
    if (status == PAWL_OK) {
        struct pawl_event event = {.kind = PAWL_EVENT_RUN};

        status = rig_open(&rig, &event);
    }
    if (status == PAWL_OK)
        status = rig_try_finish(&rig, &last);
    if (status == PAWL_OK)
        status = try_alter(&rig,
                           "[{'type':'ModifyVariable','variableId':'when','value':'0 0 * * * *'},"
                           "{'type':'Retry'},{'type':'CancelActivity','activityId':'b'}]",
                           &last);
    rig_release(&rig);
    return status;
}

static void every_refused_allocation_is_reported(void **state)
{
    (void)state;
    test_sweep_allocations(alter_over, NULL, 4000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_faulted_instance_is_mended_and_goes_on_where_it_stood),
        cmocka_unit_test(what_was_altered_is_committed_before_it_runs),
        cmocka_unit_test(a_retry_names_activities_that_have_faulted),
        cmocka_unit_test(only_a_faulted_instance_is_reopened),
        cmocka_unit_test(a_flowchart_goes_on_after_a_retried_activity),
        cmocka_unit_test(an_activity_is_scheduled_under_what_contains_it),
        cmocka_unit_test(a_cancelled_activity_waits_no_more),
        cmocka_unit_test(an_instance_goes_on_in_another_version),
        cmocka_unit_test(a_version_without_the_place_where_it_stands_is_refused),
        cmocka_unit_test(one_that_is_refused_undoes_those_before_it),
        cmocka_unit_test(what_is_no_alteration_is_refused),
        cmocka_unit_test(every_refused_allocation_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
