/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts: the order of execution, how instances end, what each kind of step hands out. */
#include "lib/rig.h"

#include "base/time/datetime.h"
#include "engine/context.h"
#include "engine/exception.h"

#include <stdio.h>

/* ---- running ----------------------------------------------------------------------------- */

#define S1 RIG_SEQUENCE("S1", RIG_WRITE("a1", "a1") "," RIG_WRITE("a2", "a2"))
#define S2 RIG_SEQUENCE("S2", RIG_WRITE("b1", "b1") "," RIG_WRITE("b2", "b2"))

static void branches_interleave_breadth_first(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig, RIG_WORKFLOW("", RIG_PARALLEL("P", S1 "," S2)));
    assert_int_equal(rig_run(&rig), PAWL_STEP_DONE);
    assert_lines(&rig, "a1\nb1\na2\nb2\n");
    assert_journal(&rig, "Workflow1 Started\nP Started\nS1 Started\nS2 Started\n"
                         "a1 Started\na1 Completed\nb1 Started\nb1 Completed\n"
                         "a2 Started\na2 Completed\nS1 Completed\n"
                         "b2 Started\nb2 Completed\nS2 Completed\nP Completed\n"
                         "Workflow1 Completed\n");
    assert_at(&rig, "status", "Finished");
    assert_at(&rig, "subStatus", "Finished");
    assert_non_null(rig_at(&rig, "finishedAt"));
    assert_int_equal(pawl__json_len(rig_at(&rig, "activityExecutionContexts")), 1);
    assert_int_equal(rig_at(&rig, "executionLogSequence")->u.integer, 16);
    assert_int_equal(rig.record_count, 8);
    rig_release(&rig);
}

static void an_instance_waits_for_its_bookmark_and_goes_on(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig, RIG_WORKFLOW("", RIG_SEQUENCE("S", RIG_WRITE("a", "one") "," RIG_EVENT(
                                                          "e", "go") "," RIG_WRITE("b", "two"))));
    assert_int_equal(rig_run(&rig), PAWL_STEP_IDLE);
    assert_at(&rig, "status", "Running");
    assert_at(&rig, "subStatus", "Suspended");
    assert_at(&rig, "bookmarks/0/name", "Elsa.Event");
    assert_at(&rig, "bookmarks/0/callbackMethodName", "CompleteInternalAsync");
    assert_int_equal(pawl__json_len(rig_at(&rig, "completionCallbacks")), 2);
    pawl__buf_clear(&rig.journal);

    assert_int_equal(rig_resume(&rig, "e"), PAWL_STEP_DONE);
    assert_journal(&rig, "e Resumed\ne Completed\nb Started\nb Completed\nS Completed\n"
                         "Workflow1 Completed\n");
    assert_lines(&rig, "one\ntwo\n");
    assert_int_equal(pawl__json_len(rig_at(&rig, "bookmarks")), 0);
    rig_release(&rig);
}

static void an_unknown_bookmark_runs_an_empty_burst(void **state)
{
    struct pawl_event event = {.kind = PAWL_EVENT_RESUME, .bookmark_id = pawl__str("nobody")};
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig, RIG_WORKFLOW("", RIG_SEQUENCE("S", RIG_EVENT("e", "go"))));
    assert_int_equal(rig_run(&rig), PAWL_STEP_IDLE);
    pawl__buf_clear(&rig.journal);
    assert_ok(rig_open(&rig, &event), &rig.err);
    assert_int_equal(rig_finish(&rig), PAWL_STEP_IDLE);
    assert_journal(&rig, "");
    assert_at(&rig, "subStatus", "Suspended");
    assert_int_equal(pawl__json_len(rig_at(&rig, "bookmarks")), 1);
    rig_release(&rig);
}

/* ---- ends -------------------------------------------------------------------------------- */

static void a_finished_instance_is_not_reopened(void **state)
{
    static const enum pawl_event_kind kinds[] = {PAWL_EVENT_RUN, PAWL_EVENT_RESUME,
                                                 PAWL_EVENT_ACTIVITY, PAWL_EVENT_CANCEL};
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig, RIG_WORKFLOW("", RIG_SEQUENCE("S", "")));
    assert_int_equal(rig_run(&rig), PAWL_STEP_DONE);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct pawl_event event = {.kind = kinds[i], .activity_id = pawl__str("S")};

        assert_code(rig_open(&rig, &event), PAWL_ECONFLICT);
        assert_string_equal(rig.err.msg, "instance i1 is Finished already");
    }
    rig_release(&rig);
}

static void cancelling_clears_what_it_waits_for(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig, RIG_WORKFLOW("", RIG_SEQUENCE("S", RIG_EVENT("e", "go"))));
    assert_int_equal(rig_run(&rig), PAWL_STEP_IDLE);
    pawl__buf_clear(&rig.journal);
    assert_int_equal(rig_cancel(&rig), PAWL_STEP_DONE);
    assert_journal(&rig, "Workflow1 Workflow cancelled\n");
    assert_at(&rig, "status", "Finished");
    assert_at(&rig, "subStatus", "Cancelled");
    assert_int_equal(pawl__json_len(rig_at(&rig, "bookmarks")), 0);
    assert_int_equal(pawl__json_len(rig_at(&rig, "completionCallbacks")), 0);
    /* Its activities stay as they were. */
    assert_str(pawl__json_str(pawl__json_get_text(rig_context(&rig, "e"), "status")), "Running");
    rig_release(&rig);
}

static void a_fault_ends_the_instance_after_the_queue_is_drained(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig,
             RIG_WORKFLOW("", RIG_PARALLEL("P", RIG_FAULT("f", "no") "," RIG_WRITE("w", "still"))));
    assert_int_equal(rig_run(&rig), PAWL_STEP_DONE);
    assert_lines(&rig, "still\n");
    assert_at(&rig, "status", "Finished");
    assert_at(&rig, "subStatus", "Faulted");
    assert_at(&rig, "incidents/0/message", "no");
    assert_at(&rig, "incidents/0/activityId", "f");
    assert_at(&rig, "incidents/0/exception/type", "FaultException");
    assert_int_equal(pawl__json_get_text(rig_context(&rig, "P"), "faultCount")->u.integer, 1);
    assert_str(pawl__json_str(pawl__json_get_text(rig_context(&rig, "P"), "status")), "Running");
    assert_str(pawl__json_str(pawl__json_get_text(rig_context(&rig, "f"), "status")), "Faulted");
    rig_release(&rig);
}

static void a_fault_with_a_huge_message_is_small_enough_to_be_stored(void **state)
{
    static char definition[1 << 20];
    size_t len = (size_t)snprintf(definition, sizeof definition, "%s",
                                  "{'root':{'id':'f','type':'Elsa.Fault','message':{'typeName':"
                                  "'String','expression':{'type':'Literal','value':'");
    struct pawl_str message;
    struct rig rig;

    (void)state;
    while (len < sizeof definition / 2)
        len += (size_t)snprintf(definition + len, sizeof definition - len, "%s", "\xE2\x82\xAC");
    (void)snprintf(definition + len, sizeof definition - len, "%s", "'}}}}");
    rig_init(&rig);
    rig_load(&rig, definition);
    assert_int_equal(rig_run(&rig), PAWL_STEP_DONE);
    message = pawl__json_str(rig_at(&rig, "incidents/0/message"));
    assert_in_range(message.len, PAWL_EXCEPTION_MESSAGE_MAX - 3, PAWL_EXCEPTION_MESSAGE_MAX);
    assert_true(pawl__utf8_valid(message));
    rig_release(&rig);
}

static void with_the_other_strategy_it_goes_on_with_an_incident(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig,
             RIG_WORKFLOW("'options':{'incidentStrategyType':'ContinueWithIncidentsStrategy'},",
                          RIG_PARALLEL("P", RIG_FAULT("f", "no") "," RIG_WRITE("w", "on"))));
    assert_int_equal(rig_run(&rig), PAWL_STEP_IDLE);
    assert_lines(&rig, "on\n");
    assert_at(&rig, "subStatus", "Suspended");
    assert_int_equal(pawl__json_len(rig_at(&rig, "incidents")), 1);
    rig_release(&rig);
}

static void finish_after_a_fault_faults_itself(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig,
             RIG_WORKFLOW(
                 "", RIG_PARALLEL("P", RIG_FAULT("f", "no") ",{'id':'x','type':'Elsa."
                                                            "Finish'}," RIG_WRITE("w", "gone"))));
    assert_int_equal(rig_run(&rig), PAWL_STEP_DONE);
    assert_lines(&rig, "");
    assert_at(&rig, "subStatus", "Faulted");
    assert_at(&rig, "incidents/1/activityId", "x");
    assert_at(&rig, "incidents/1/message", "Cannot transition from Faulted to Finished");
    assert_int_equal(pawl__json_len(rig_at(&rig, "completionCallbacks")), 0);
    rig_release(&rig);
}

static void finish_ends_the_instance_and_what_it_waits_for(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig,
             RIG_WORKFLOW("", RIG_PARALLEL("P", RIG_EVENT("e", "go") ",{'id':'x','type':'Elsa."
                                                                     "Finish'}")));
    assert_int_equal(rig_run(&rig), PAWL_STEP_DONE);
    assert_at(&rig, "subStatus", "Finished");
    assert_int_equal(pawl__json_len(rig_at(&rig, "bookmarks")), 0);
    rig_release(&rig);
}

static void an_operator_retries_a_faulted_activity_in_its_context(void **state)
{
    struct pawl_event event = {.kind = PAWL_EVENT_ACTIVITY};
    struct pawl_str id;
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig, RIG_WORKFLOW("", RIG_SEQUENCE("S", RIG_FAULT("f", "no"))));
    assert_int_equal(rig_run(&rig), PAWL_STEP_DONE);
    id = pawl__json_str(pawl__json_get_text(rig_context(&rig, "f"), "id"));
    event.activity_instance_id = pawl__arena_str(&rig.arena, id);
    pawl__buf_clear(&rig.journal);
    assert_ok(rig_open(&rig, &event), &rig.err);
    assert_int_equal(rig_finish(&rig), PAWL_STEP_DONE);
    assert_journal(&rig, "f Started\nf Faulted\n");
    assert_int_equal(pawl__json_len(rig_at(&rig, "incidents")), 2);
    assert_str(pawl__json_str(pawl__json_get_text(rig_context(&rig, "f"), "id")),
               event.activity_instance_id.ptr);

    event.activity_instance_id = pawl__str("nobody");
    assert_code(rig_open(&rig, &event), PAWL_ENOTFOUND);
    assert_string_equal(rig.err.msg, "instance i1 has no activity execution nobody");
    rig_release(&rig);
}

/* ---- recovery by a container --------------------------------------------------------------- */

/* A container that takes care of faults below it. */
static int guard_execute(struct pawl_context *context)
{
    return pawl__schedule_child(context, context->node->children[0], NULL);
}

static int guard_signal(struct pawl_context *context, struct pawl_signal *signal)
{
    if (signal->kind != PAWL_SIGNAL_FAULT || signal->sender == context)
        return PAWL_OK;
    signal->stop = true;
    return PAWL_OK;
}

static const struct pawl_port_descriptor guard_ports[] = {{.name = "Body"}};
static const struct pawl_activity guard = {.type = "Test.Guard",
                                           .version = 1,
                                           .ports = guard_ports,
                                           .port_count = 1,
                                           .execute = guard_execute,
                                           .signal = guard_signal};

static void a_handled_fault_leaves_nothing(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    assert_code(pawl__engine_add_activity(&rig.engine, &guard), PAWL_OK);
    rig_load(&rig,
             RIG_WORKFLOW("", "{'id':'g','type':'Test.Guard','body':" RIG_FAULT("f", "no") "}"));
    assert_int_equal(rig_run(&rig), PAWL_STEP_IDLE);
    assert_at(&rig, "subStatus", "Suspended");
    assert_int_equal(pawl__json_len(rig_at(&rig, "incidents")), 0);
    assert_str(pawl__json_str(pawl__json_get_text(rig_context(&rig, "f"), "status")), "Running");
    assert_int_equal(pawl__json_get_text(rig_context(&rig, "f"), "faultCount")->u.integer, 0);
    assert_int_equal(pawl__json_get_text(rig_context(&rig, "g"), "faultCount")->u.integer, 0);
    rig_release(&rig);
}

/* ---- cancelling activities ---------------------------------------------------------------- */

static void children_of_a_completing_container_are_cancelled_from_above(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    /* The fork completes with its first branch: S and then e below it are cancelled. */
    rig_load(&rig, RIG_WORKFLOW("", "{'id':'F','type':'Elsa.Fork','joinMode':'WaitAny',"
                                    "'branches':[" RIG_SEQUENCE(
                                        "S", RIG_EVENT("e", "x")) "," RIG_EVENT("g", "y") "]}"));
    assert_int_equal(rig_run(&rig), PAWL_STEP_IDLE);
    pawl__buf_clear(&rig.journal);
    assert_int_equal(rig_resume(&rig, "g"), PAWL_STEP_DONE);
    assert_journal(&rig, "g Resumed\ng Completed\nS Canceled\ne Canceled\nF Completed\n"
                         "Workflow1 Completed\n");
    rig_release(&rig);
}

/* ---- steps ------------------------------------------------------------------------------- */

static void strategies_commit_at_their_points(void **state)
{
    static const struct {
        const char *strategy;
        uint32_t commits;
    } rows[] = {{"WorkflowExecuting", 1},
                {"WorkflowExecuted", 0},
                {"ActivityExecuting", 2},
                {"ActivityExecuted", 2},
                {"Unknown", 0}};
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig.engine.commit_strategies = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = pawl__arena_printf(
            &rig.arena,
            RIG_WORKFLOW("'options':{'commitStrategyName':'%s'},",
                         RIG_SEQUENCE("S", RIG_WRITE("a", "a") "," RIG_WRITE("b", "b"))),
            rows[i].strategy);
        uint32_t commits = 0;

        rig_load(&rig, text);
        assert_ok(rig_open(&rig, &(struct pawl_event){.kind = PAWL_EVENT_RUN}), &rig.err);
        for (enum pawl_step step; (step = rig_step(&rig)) != PAWL_STEP_DONE; commits++)
            assert_int_equal(step, PAWL_STEP_COMMIT);
        assert_int_equal(commits, rows[i].commits);
        assert_lines(&rig, "a\nb\n");
    }
    rig_release(&rig);
}

/* What a step wrote is handed out before anything of the next step is. */
static void each_step_is_committed_before_the_next_begins(void **state)
{
    static const char *const text =
        RIG_WORKFLOW("'options':{'commitStrategyName':'ActivityExecuted'},",
                     RIG_SEQUENCE("S", RIG_WRITE("a", "a") "," RIG_SEQUENCE(
                                           "T", RIG_WRITE("b", "b")) "," RIG_WRITE("c", "c")));
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig.engine.commit_strategies = true;
    rig_load(&rig, text);
    assert_ok(rig_open(&rig, &(struct pawl_event){.kind = PAWL_EVENT_RUN}), &rig.err);
    assert_int_equal(rig_step(&rig), PAWL_STEP_COMMIT);
    assert_lines(&rig, "");
    assert_int_equal(rig_step(&rig), PAWL_STEP_COMMIT);
    assert_lines(&rig, "a\n");
    assert_int_equal(rig_step(&rig), PAWL_STEP_COMMIT);
    assert_lines(&rig, "a\nb\n");
    assert_int_equal(rig_step(&rig), PAWL_STEP_DONE);
    assert_lines(&rig, "a\nb\nc\n");
    rig_release(&rig);
}

/* A condition is evaluated by what has begun: what was before it is durable by then. */
static void a_container_that_evaluates_begins_after_the_commit(void **state)
{
    static const char *const text = RIG_WORKFLOW(
        "'options':{'commitStrategyName':'ActivityExecuted'},",
        RIG_SEQUENCE("S", RIG_WRITE("a", "a") ",{'id':'i','type':'Elsa.If','condition':" RIG_INPUT(
                              "Boolean", "Literal", "true") ",'then':" RIG_WRITE("b", "b") "}"));
    struct rig rig;
    uint32_t commits = 0;

    (void)state;
    rig_init(&rig);
    rig.engine.commit_strategies = true;
    rig_load(&rig, text);
    assert_ok(rig_open(&rig, &(struct pawl_event){.kind = PAWL_EVENT_RUN}), &rig.err);
    while (rig_step(&rig) != PAWL_STEP_DONE)
        commits++;
    assert_int_equal(commits, 3); /* before a, before the If, before b */
    assert_lines(&rig, "a\nb\n");
    rig_release(&rig);
}

static void an_activity_chooses_its_own_commits(void **state)
{
    static const char *const text =
        RIG_WORKFLOW("'options':{'commitStrategyName':'ActivityExecuted'},",
                     RIG_SEQUENCE("S", "{'id':'a','type':'Elsa.WriteLine','customProperties':{"
                                       "'commitStrategyName':'CommitNever'}},"
                                       "{'id':'b','type':'Elsa.WriteLine','customProperties':{"
                                       "'commitStrategyName':'CommitAlways'}}"));
    struct rig rig;
    uint32_t commits = 0;

    (void)state;
    rig_init(&rig);
    rig.engine.commit_strategies = true;
    rig_load(&rig, text);
    assert_ok(rig_open(&rig, &(struct pawl_event){.kind = PAWL_EVENT_RUN}), &rig.err);
    while (rig_step(&rig) != PAWL_STEP_DONE)
        commits++;
    /* Workflow and sequence before a; b before it executes, and with the end. */
    assert_int_equal(commits, 2);
    rig_close(&rig);

    /* Where the host does not know the standard strategies nothing is asked. */
    rig.engine.commit_strategies = false;
    rig_forget(&rig);
    assert_ok(rig_open(&rig, &(struct pawl_event){.kind = PAWL_EVENT_RUN}), &rig.err);
    assert_int_equal(rig_step(&rig), PAWL_STEP_DONE);
    rig_release(&rig);
}

static const char four_writes[] =
    RIG_WORKFLOW("", RIG_SEQUENCE("S", RIG_WRITE("a", "a") "," RIG_WRITE("b", "b") "," RIG_WRITE(
                                           "c", "c") "," RIG_WRITE("d", "d")));

static void a_burst_yields_and_goes_on_when_reopened(void **state)
{
    struct rig rig;
    uint32_t yields = 0;

    (void)state;
    rig_init(&rig);
    rig.engine.yield_after = 1;
    rig_load(&rig, four_writes);
    for (;;) {
        assert_ok(rig_open(&rig, &(struct pawl_event){.kind = PAWL_EVENT_RUN}), &rig.err);
        if (rig_step(&rig) == PAWL_STEP_DONE)
            break;
        yields++;
        /* What has ended is not carried along. */
        assert_true(pawl__json_len(rig_at(&rig, "activityExecutionContexts")) <= 3);
        rig_close(&rig);
    }
    assert_int_equal(yields, 6);
    assert_lines(&rig, "a\nb\nc\nd\n");
    assert_at(&rig, "subStatus", "Finished");
    rig_release(&rig);
}

static bool stop_at_third(void *ctx)
{
    uint32_t *calls = ctx;

    return ++*calls == 3;
}

static void a_stop_is_seen_between_activities(void **state)
{
    uint32_t calls = 0;
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig, four_writes);
    assert_ok(rig_open(&rig, &(struct pawl_event){.kind = PAWL_EVENT_RUN}), &rig.err);
    pawl__burst_set_stop(rig.burst, stop_at_third, &calls);
    assert_int_equal(rig_step(&rig), PAWL_STEP_YIELD);
    assert_lines(&rig, "");
    assert_int_equal(rig_step(&rig), PAWL_STEP_DONE);
    assert_lines(&rig, "a\nb\nc\nd\n");
    rig_release(&rig);
}

/* A second later each time it is asked, but for one time, when it goes back by an hour. */
static int64_t next_second(void *ctx)
{
    int *calls = ctx;

    ++*calls;
    return RIG_NOW + (*calls - (*calls == 4 ? 3600 : 0)) * PAWL_TICKS_PER_SECOND;
}

static void records_have_the_times_at_which_things_happened(void **state)
{
    int64_t last = 0, first = 0;
    struct pawl_batch batch;
    struct rig rig;
    int calls = 0;

    (void)state;
    rig_init(&rig);
    rig_load(&rig, four_writes);
    assert_ok(rig_open(&rig, &(struct pawl_event){.kind = PAWL_EVENT_RUN}), &rig.err);
    pawl__burst_set_clock(rig.burst, next_second, &calls);
    assert_int_equal(rig_step(&rig), PAWL_STEP_DONE);
    pawl__burst_batch(rig.burst, &batch);
    assert_true(batch.log_count >= 10);
    for (uint32_t i = 0; i < batch.log_count; i++) {
        assert_true(batch.log[i].timestamp >= last);
        last = batch.log[i].timestamp;
        first = i == 0 ? last : first;
    }
    /* Each of the four and their sequence begins and completes at a time of its own. */
    assert_true(last - first >= 8 * PAWL_TICKS_PER_SECOND);
    for (uint32_t i = 0; i < batch.record_count; i++)
        assert_true(batch.records[i]->completed_at >= batch.records[i]->started_at);
    rig_release(&rig);
}

static void a_cancel_between_steps_ends_the_instance(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig.engine.yield_after = 3;
    rig_load(&rig, four_writes);
    assert_ok(rig_open(&rig, &(struct pawl_event){.kind = PAWL_EVENT_RUN}), &rig.err);
    assert_int_equal(rig_step(&rig), PAWL_STEP_YIELD);
    pawl__burst_cancel(rig.burst);
    assert_int_equal(rig_step(&rig), PAWL_STEP_DONE);
    assert_at(&rig, "subStatus", "Cancelled");
    assert_lines(&rig, "a\n");
    assert_int_equal(pawl__json_len(rig_at(&rig, "scheduledActivities")), 0);
    rig_release(&rig);
}

static void a_cancel_reaches_a_burst_that_was_interrupted(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig.engine.yield_after = 3;
    rig_load(&rig, four_writes);
    assert_ok(rig_open(&rig, &(struct pawl_event){.kind = PAWL_EVENT_RUN}), &rig.err);
    assert_int_equal(rig_step(&rig), PAWL_STEP_YIELD);
    rig_close(&rig);
    assert_int_equal(rig_cancel(&rig), PAWL_STEP_DONE);
    assert_at(&rig, "subStatus", "Cancelled");
    rig_release(&rig);
}

static const char reads[] =
    RIG_WORKFLOW("'variables':[{'id':'v','name':'V','typeName':'String'}],",
                 RIG_SEQUENCE("S", "{'id':'r','type':'Elsa.ReadLine','result':{'typeName':'String',"
                                   "'memoryReference':{'id':'v'}}},"
                                   "{'id':'w','type':'Elsa.WriteLine','text':" RIG_INPUT(
                                       "String", "Variable", "{'id':'v','name':'V'}") "}"));

/* Steps to the effect, feeds, and runs to the end; `reopen` closes in between. */
static void read_a_line(struct rig *rig, bool reopen)
{
    struct pawl_batch batch;
    struct pawl_json answer;

    assert_ok(rig_open(rig, &(struct pawl_event){.kind = PAWL_EVENT_RUN}), &rig->err);
    assert_int_equal(rig_step(rig), PAWL_STEP_EFFECT);
    if (reopen) {
        rig_close(rig);
        assert_ok(rig_open(rig, &(struct pawl_event){.kind = PAWL_EVENT_RUN}), &rig->err);
        /* It still waits, and says for what. */
        assert_int_equal(rig_step(rig), PAWL_STEP_EFFECT);
    }
    pawl__burst_batch(rig->burst, &batch);
    assert_non_null(batch.awaited);
    assert_int_equal(batch.awaited->kind, PAWL_EFFECT_CONSOLE);
    assert_true(pawl__str_starts(batch.awaited->id, pawl__str("i1/")));
    assert_code(rig_parse(rig, pawl__str("{'text':'typed'}"), &answer), PAWL_OK);
    assert_code(pawl__burst_feed(rig->burst, &answer, rig->now + 5), PAWL_OK);
    assert_int_equal(rig_step(rig), PAWL_STEP_DONE);
    assert_lines(rig, "typed\n");
}

static void an_awaited_effect_stands_between_two_steps(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig, reads);
    read_a_line(&rig, false);
    rig_release(&rig);
}

static void an_awaited_effect_survives_a_restart(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig, reads);
    read_a_line(&rig, true);
    rig_release(&rig);
}

static void a_cancel_reaches_a_burst_that_awaits_an_effect(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig);
    rig_load(&rig, reads);
    assert_ok(rig_open(&rig, &(struct pawl_event){.kind = PAWL_EVENT_RUN}), &rig.err);
    assert_int_equal(rig_step(&rig), PAWL_STEP_EFFECT);
    pawl__burst_cancel(rig.burst);
    assert_int_equal(rig_step(&rig), PAWL_STEP_DONE);
    assert_at(&rig, "subStatus", "Cancelled");
    rig_release(&rig);
}

/* ---- memory ------------------------------------------------------------------------------ */

static int run_over(struct test_allocator *alloc, void *arg)
{
    struct rig rig;
    enum pawl_step step;
    int status;

    memset(&rig, 0, sizeof rig);
    status = rig_init_over(&rig, &alloc->base);
    if (status != PAWL_OK)
        return status;
    rig.engine.yield_after = 3;
    status = rig_try_load(&rig, pawl__str(arg));
    if (status == PAWL_OK)
        status = rig_open(&rig, &(struct pawl_event){.kind = PAWL_EVENT_RUN});
    if (status == PAWL_OK)
        status = rig_try_finish(&rig, &step);
    if (status == PAWL_OK) {
        struct pawl_event event = {.kind = PAWL_EVENT_RESUME,
                                   .bookmark_id = rig_bookmark(&rig, "e")};

        status = rig_open(&rig, &event);
        if (status == PAWL_OK)
            status = rig_try_finish(&rig, &step);
    }
    rig_release(&rig);
    return status;
}

static void every_refused_allocation_is_reported(void **state)
{
    static char text[] = RIG_WORKFLOW(
        "'variables':[{'id':'v','name':'V','typeName':'Object',"
        "'storageDriverTypeName':'WorkflowInstanceStorageDriver'}],",
        RIG_PARALLEL(
            "P",
            "{'id':'set','type':'Elsa.SetVariable','variable':{'id':'v','name':'V'},"
            "'value':" RIG_INPUT("Object", "Literal", "'x'") "}," RIG_EVENT(
                "e", "go") ","
                           "{'id':'for','type':'Elsa.For','start':" RIG_INPUT(
                               "Int32", "Literal",
                               "1") ",'end':" RIG_INPUT("Int32", "Literal",
                                                        "3") ",'body':" RIG_WRITE("w",
                                                                                  "body") "}"));

    (void)state;
    test_sweep_allocations(run_over, text, 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches_interleave_breadth_first),
        cmocka_unit_test(an_instance_waits_for_its_bookmark_and_goes_on),
        cmocka_unit_test(an_unknown_bookmark_runs_an_empty_burst),
        cmocka_unit_test(a_finished_instance_is_not_reopened),
        cmocka_unit_test(cancelling_clears_what_it_waits_for),
        cmocka_unit_test(a_fault_ends_the_instance_after_the_queue_is_drained),
        cmocka_unit_test(a_fault_with_a_huge_message_is_small_enough_to_be_stored),
        cmocka_unit_test(with_the_other_strategy_it_goes_on_with_an_incident),
        cmocka_unit_test(finish_after_a_fault_faults_itself),
        cmocka_unit_test(finish_ends_the_instance_and_what_it_waits_for),
        cmocka_unit_test(an_operator_retries_a_faulted_activity_in_its_context),
        cmocka_unit_test(a_handled_fault_leaves_nothing),
        cmocka_unit_test(children_of_a_completing_container_are_cancelled_from_above),
        cmocka_unit_test(strategies_commit_at_their_points),
        cmocka_unit_test(each_step_is_committed_before_the_next_begins),
        cmocka_unit_test(a_container_that_evaluates_begins_after_the_commit),
        cmocka_unit_test(an_activity_chooses_its_own_commits),
        cmocka_unit_test(a_burst_yields_and_goes_on_when_reopened),
        cmocka_unit_test(a_stop_is_seen_between_activities),
        cmocka_unit_test(records_have_the_times_at_which_things_happened),
        cmocka_unit_test(a_cancel_between_steps_ends_the_instance),
        cmocka_unit_test(a_cancel_reaches_a_burst_that_was_interrupted),
        cmocka_unit_test(an_awaited_effect_stands_between_two_steps),
        cmocka_unit_test(an_awaited_effect_survives_a_restart),
        cmocka_unit_test(a_cancel_reaches_a_burst_that_awaits_an_effect),
        cmocka_unit_test(every_refused_allocation_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
