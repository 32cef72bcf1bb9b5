/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime on the memory store: starts, stimuli, timers, children, cancelling, keys, takeover.
 */
#include "runtime/runtime_private.h"
#include "unit/runtime/nodes.h"

/* ---- starting ------------------------------------------------------------------------------ */

static void a_short_workflow_is_one_commit(void **state)
{
    struct fixture *f = *state;
    struct pawl_json log, records;
    struct pawl_outcome outcome;
    struct pawl_instance_row row;

    publish(f, DEFINITION("d", "", RIG_WRITE("w1", "one") "," RIG_WRITE("w2", "two")));
    outcome = start(f, "d");
    assert_int_equal(outcome.sub_status, PAWL_SUB_FINISHED);
    assert_string_equal(f->lines, "one\ntwo\n");
    assert_ok(pawl__runtime_show(f->a.runtime, pawl__str(outcome.instance_id), &f->arena, &row,
                                 NULL, later(f), &f->err),
              &f->err);
    assert_int_equal(row.revision, 1);
    assert_int_equal(row.owner, 0);
    assert_str(row.status, "Finished");
    assert_ok(
        pawl__runtime_journal(f->a.runtime, row.id, &f->arena, &log, &records, later(f), &f->err),
        &f->err);
    assert_true(pawl__json_len(&log) >= 6);
    assert_true(pawl__json_len(&records) >= 3);
    drain(f);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* Each row is in an index by this number. Were it random, each would write a page of its own. */
static void instances_made_one_after_another_are_neighbours_in_the_index_of_executions(void **state)
{
    struct fixture *f = *state;
    struct pawl_instance_row row;
    int64_t before = 0;

    publish(f, DEFINITION("d", "", RIG_WRITE("w1", "one")));
    for (int i = 0; i < 50; i++) {
        struct pawl_outcome outcome = start(f, "d");

        assert_ok(pawl__runtime_show(f->a.runtime, pawl__str(outcome.instance_id), &f->arena, &row,
                                     NULL, later(f), &f->err),
                  &f->err);
        assert_true(row.id_hash > 0);
        if (i > 0)
            assert_in_range((uint64_t)(row.id_hash - before + 1024), 0, 100 * 1024);
        before = row.id_hash;
        test_clock_advance(f->clock, SECOND / 100);
    }
}

/* One before the first step, one before each of the others, one at the end. */
static void three_durable_steps_are_four_commits(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct pawl_instance_row row;

    f->engine.commit_strategies = true;
    publish(f, DEFINITION(
                   "d", "'options':{'commitStrategyName':'ActivityExecuted'},",
                   RIG_WRITE("w1", "one") "," RIG_WRITE("w2", "two") "," RIG_WRITE("w3", "three")));
    outcome = start(f, "d");
    assert_string_equal(f->lines, "one\ntwo\nthree\n");
    assert_ok(pawl__runtime_show(f->a.runtime, pawl__str(outcome.instance_id), &f->arena, &row,
                                 NULL, later(f), &f->err),
              &f->err);
    assert_int_equal(row.revision, 4);
    assert_str(row.status, "Finished");
    assert_int_equal(count(f, PAWL_TABLE_JOURNAL), 4);
}

static void an_unknown_definition_is_refused(void **state)
{
    struct fixture *f = *state;
    const struct pawl_start what = {.definition_id = pawl__str("nowhere")};
    struct pawl_outcome outcome;

    assert_code(pawl__runtime_start(f->a.runtime, &what, &outcome, later(f), &f->err),
                PAWL_ENOTFOUND);
    assert_non_null(strstr(f->err.msg, "nowhere"));
}

static void a_start_with_a_known_key_answers_the_first_instance(void **state)
{
    struct fixture *f = *state;
    const struct pawl_start what = {.definition_id = pawl__str("d"),
                                    .idempotency_key = pawl__str("order-7")};
    struct pawl_outcome first, second;

    publish(f, DEFINITION("d", "", RIG_WRITE("w1", "one")));
    assert_ok(pawl__runtime_start(f->a.runtime, &what, &first, later(f), &f->err), &f->err);
    assert_ok(pawl__runtime_start(f->a.runtime, &what, &second, later(f), &f->err), &f->err);
    assert_false(first.existed);
    assert_true(second.existed);
    assert_string_equal(second.instance_id, first.instance_id);
    assert_int_equal(count(f, PAWL_TABLE_INSTANCES), 1);
    assert_string_equal(f->lines, "one\n");
}

static void an_instance_id_is_used_once(void **state)
{
    struct fixture *f = *state;
    const struct pawl_start what = {.definition_id = pawl__str("d"),
                                    .instance_id = pawl__str("mine")};
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", "", RIG_WRITE("w1", "one")));
    assert_ok(pawl__runtime_start(f->a.runtime, &what, &outcome, later(f), &f->err), &f->err);
    assert_code(pawl__runtime_start(f->a.runtime, &what, &outcome, later(f), &f->err),
                PAWL_EEXISTS);
    assert_string_equal(f->lines, "one\n");
}

static void a_created_instance_runs_when_work_is_done(void **state)
{
    struct fixture *f = *state;
    const struct pawl_start what = {.definition_id = pawl__str("d")};
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", "", RIG_WRITE("w1", "one")));
    assert_ok(pawl__runtime_create(f->a.runtime, &what, &outcome, later(f), &f->err), &f->err);
    assert_string_equal(sub_status(f, outcome.instance_id), "Pending");
    assert_string_equal(f->lines, "");
    drain(f);
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    assert_string_equal(f->lines, "one\n");
}

/* ---- stimuli ------------------------------------------------------------------------------- */

static void an_event_resumes_what_waits_for_it(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    outcome = start(f, "d");
    assert_int_equal(outcome.sub_status, PAWL_SUB_SUSPENDED);
    assert_int_equal(count(f, PAWL_TABLE_BOOKMARKS), 1);
    assert_int_equal(send(f, "Go").resumed, 1);
    drain(f);
    assert_string_equal(f->lines, "went\n");
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_BOOKMARKS), 0);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void an_event_that_nobody_waits_for_waits_itself(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    assert_true(send(f, "Go").parked);
    drain(f);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 2); /* and the row that makes one look again */
    (void)start(f, "d");
    drain(f);
    assert_string_equal(f->lines, "went\n");
    test_clock_advance(f->clock, 2 * SECOND);
    drain(f);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void an_event_that_waited_too_long_is_a_dead_letter(void **state)
{
    struct fixture *f = *state;

    (void)send(f, "Go");
    test_clock_advance(f->clock, 601 * SECOND);
    drain(f);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    assert_int_equal(count(f, PAWL_TABLE_DEAD_LETTERS), 1);
}

static void an_event_with_a_known_key_acts_once(void **state)
{
    struct fixture *f = *state;
    const struct pawl_stimulus stimulus = {.idempotency_key = pawl__str("k")};

    publish(f, DEFINITION("d", "", TRIGGER("e", "Go") "," RIG_WRITE("w", "started")));
    for (int i = 0; i < 2; i++) {
        assert_ok(pawl__runtime_send_event(f->a.runtime, pawl__str("Go"), NULL, &stimulus, NULL,
                                           later(f), &f->err),
                  &f->err);
        drain(f);
    }
    assert_string_equal(f->lines, "started\n");
}

static void a_trigger_starts_an_instance_that_is_not_resumed_too(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "",
                          TRIGGER("e", "Go") "," RIG_WRITE("w", "started") "," RIG_EVENT(
                              "e2", "Go") "," RIG_WRITE("w2", "resumed")));
    assert_int_equal(send(f, "Go").started, 1);
    drain(f);
    assert_string_equal(f->lines, "started\n");
    assert_int_equal(send(f, "Go").resumed, 1);
    drain(f);
    assert_string_equal(f->lines, "started\nstarted\nresumed\n");
}

static void a_singleton_is_started_once(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "'options':{'activationStrategyType':'SingletonStrategy'},",
                          TRIGGER("e", "Go") "," RIG_EVENT("e2", "On")));
    (void)send(f, "Go");
    (void)send(f, "Go");
    drain(f);
    assert_int_equal(count(f, PAWL_TABLE_INSTANCES), 1);
    (void)send(f, "On");
    drain(f);
    assert_int_equal(reserved(f), 0);
    (void)send(f, "Go");
    drain(f);
    assert_int_equal(count(f, PAWL_TABLE_INSTANCES), 2);
}

static void a_singleton_that_ends_at_once_may_be_started_again(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "'options':{'activationStrategyType':'SingletonStrategy'},",
                          TRIGGER("e", "Go") "," RIG_WRITE("w", "on")));
    for (int64_t i = 1; i <= 2; i++) {
        (void)send(f, "Go");
        drain(f);
        assert_int_equal(count(f, PAWL_TABLE_INSTANCES), i);
        assert_int_equal(reserved(f), 0);
    }
}

/* Every signal counts, also those that were matched with the same bookmark. */
static void a_loop_gets_every_signal_once(void **state)
{
    struct fixture *f = *state;
    char activities[4096] = "";
    struct pawl_outcome outcome;

    for (int i = 0; i < 20; i++)
        snprintf(activities + strlen(activities), sizeof activities - strlen(activities),
                 "%s{'id':'e%d','type':'Elsa.Event','eventName':" TEXT("Go") "}", i ? "," : "", i);
    publish(f, pawl__arena_printf(&f->arena,
                                  "{'definitionId':'d','id':'d:1','version':1,'name':'d','root':"
                                  "{'id':'seq','type':'Elsa.Sequence','activities':[%s]}}",
                                  activities));
    outcome = start(f, "d");
    for (int i = 0; i < 19; i++)
        (void)send(f, "Go");
    drain(f);
    assert_string_equal(sub_status(f, outcome.instance_id), "Suspended");
    (void)send(f, "Go");
    drain(f);
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* ---- time ---------------------------------------------------------------------------------- */

static void a_delay_is_a_row_that_becomes_due(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", "", DELAY("t", "00:05:00") "," RIG_WRITE("w", "later")));
    outcome = start(f, "d");
    drain(f);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 1);
    test_clock_advance(f->clock, 299 * SECOND);
    drain(f);
    assert_string_equal(sub_status(f, outcome.instance_id), "Suspended");
    test_clock_advance(f->clock, 2 * SECOND);
    drain(f);
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void a_cron_tick_starts_one_instance(void **state)
{
    struct fixture *f = *state;

    publish(f,
            DEFINITION("d", "",
                       "{'id':'c','type':'Elsa.Cron','customProperties':{'canStartWorkflow':"
                       "true},'cronExpression':" TEXT("0 * * * * *") "}," RIG_WRITE("w", "tick")));
    for (int i = 0; i < 3; i++) {
        test_clock_advance(f->clock, 60 * SECOND);
        drain(f);
    }
    assert_string_equal(f->lines, "tick\ntick\ntick\n");
    assert_int_equal(count(f, PAWL_TABLE_INSTANCES), 3);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 1);
}

/* ---- children ------------------------------------------------------------------------------ */

static void a_child_runs_inline(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("child", "", RIG_WRITE("c", "child")));
    publish(f, DEFINITION("d", "",
                          RIG_WRITE("w1", "before") "," CHILD(
                              "x", "Elsa.ExecuteWorkflow", "child") "," RIG_WRITE("w2", "after")));
    outcome = start(f, "d");
    assert_string_equal(f->lines, "before\nchild\nafter\n");
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    drain(f);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* The child's burst is more than one commit: its parent waits for the last of them. */
static void a_child_that_commits_on_its_way_runs_inline(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    f->engine.commit_strategies = true;
    publish(f, DEFINITION("grandchild", "", RIG_WRITE("g", "grandchild")));
    publish(
        f, DEFINITION("child", "'options':{'commitStrategyName':'ActivityExecuted'},",
                      RIG_WRITE("c1", "child") "," CHILD(
                          "c2", "Elsa.ExecuteWorkflow", "grandchild") "," RIG_WRITE("c3", "ends")));
    publish(f,
            DEFINITION("d", "",
                       CHILD("x", "Elsa.ExecuteWorkflow", "child") "," RIG_WRITE("w2", "after")));
    outcome = start(f, "d");
    assert_string_equal(f->lines, "child\ngrandchild\nends\nafter\n");
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    drain(f);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void a_parent_waits_for_a_dispatched_child(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("child", "", RIG_EVENT("ce", "Child") "," RIG_WRITE("c", "child")));
    publish(f,
            DEFINITION("d", "",
                       CHILD("x", "Elsa.DispatchWorkflow", "child") "," RIG_WRITE("w2", "after")));
    outcome = start(f, "d");
    drain(f);
    assert_string_equal(sub_status(f, outcome.instance_id), "Suspended");
    assert_int_equal(count(f, PAWL_TABLE_INSTANCES), 2);
    (void)send(f, "Child");
    drain(f);
    assert_string_equal(f->lines, "child\nafter\n");
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* The node that starts it had another look at the clock, which shows an earlier time. */
static void a_child_is_not_older_than_its_parent(void **state)
{
    const struct pawl_query oldest_first = {
        .table = PAWL_TABLE_INSTANCES,
        .order = pawl_table_column(PAWL_TABLE_INSTANCES, "created_us")};
    struct fixture *f = *state;
    struct pawl_outcome parent;
    struct pawl_rows rows;

    publish(f, DEFINITION("child", "", RIG_WRITE("c", "child")));
    publish(f, DEFINITION("d", "", CHILD("x", "Elsa.DispatchWorkflow", "child")));
    test_clock_advance(f->clock, SECOND - SECOND / 10000);
    parent = start(f, "d");
    node_close(&f->a);
    test_clock_shift(f->clock, -SECOND / 5000); /* within the millisecond in which it is due */
    node_open(f, &f->a, "b");
    drain(f);
    assert_string_equal(f->lines, "child\n");
    assert_ok(pawl_store_find(f->a.store, &oldest_first, &f->arena, &rows, later(f), &f->err),
              &f->err);
    assert_int_equal(rows.count, 2);
    assert_str(((const struct pawl_instance_row *)rows.rows)->id, parent.instance_id);
}

static void a_published_event_reaches_others(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("waits", "", RIG_EVENT("e", "Ping") "," RIG_WRITE("w", "pong")));
    publish(f, DEFINITION("sends", "", PUBLISH("p", "Ping")));
    (void)start(f, "waits");
    (void)start(f, "sends");
    drain(f);
    assert_string_equal(f->lines, "pong\n");
}

/* Its first burst is not over with its first commit. */
static void an_inline_child_may_take_several_commits(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    f->engine.yield_after = 1;
    publish(f, DEFINITION("child", "", RIG_WRITE("c1", "child") "," RIG_WRITE("c2", "still")));
    publish(f, DEFINITION("d", "",
                          CHILD("x", "Elsa.ExecuteWorkflow", "child") "," RIG_WRITE("w", "after")));
    outcome = start(f, "d");
    assert_int_equal(outcome.sub_status, PAWL_SUB_FINISHED);
    assert_string_equal(f->lines, "child\nstill\nafter\n");
    drain(f);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void inline_children_have_inline_children(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("level-0", "", RIG_WRITE("w", "the bottom")));
    for (int i = 1; i <= 50; i++)
        publish(f, pawl__arena_printf(
                       &f->arena,
                       DEFINITION("level-%d", "", CHILD("x", "Elsa.ExecuteWorkflow", "level-%d")),
                       i, i, i, i - 1));
    outcome = start(f, "level-50");
    assert_int_equal(outcome.sub_status, PAWL_SUB_FINISHED);
    assert_string_equal(f->lines, "the bottom\n");
    assert_int_equal(count(f, PAWL_TABLE_INSTANCES), 51);
    drain(f);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* One that executes itself ends where children within children may not go deeper. */
static void a_parent_learns_that_its_inline_child_cannot_be_started(void **state)
{
    struct fixture *f = *state;
    const struct pawl_condition running = {.column =
                                               pawl_table_column(PAWL_TABLE_INSTANCES, "status"),
                                           .value = {.text = pawl__str("Running")}};
    const struct pawl_query query = {.table = PAWL_TABLE_INSTANCES,
                                     .flags = PAWL_QUERY_COUNT,
                                     .conditions = &running,
                                     .condition_count = 1};
    struct pawl_rows rows;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", "", CHILD("x", "Elsa.ExecuteWorkflow", "d")));
    outcome = start(f, "d");
    assert_int_not_equal(outcome.sub_status, PAWL_SUB_EXECUTING);
    assert_int_equal(count(f, PAWL_TABLE_INSTANCES), 101);
    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    assert_int_equal(rows.total, 0);
    drain(f);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void dispatched_children_start_in_their_order(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("one", "", RIG_WRITE("w", "one")));
    publish(f, DEFINITION("two", "", RIG_WRITE("w", "two")));
    publish(f, DEFINITION("three", "", RIG_WRITE("w", "three")));
    publish(f, DEFINITION("listener", "", TRIGGER("e", "Ping") "," RIG_WRITE("w", "ping")));
    publish(f,
            "{'definitionId':'d','id':'d:1','version':1,'name':'d','root':" RIG_PARALLEL(
                "p", CHILD("x1", "Elsa.DispatchWorkflow", "one") "," CHILD(
                         "x2", "Elsa.DispatchWorkflow",
                         "two") "," PUBLISH("pe", "Ping") "," CHILD("x3", "Elsa.DispatchWorkflow",
                                                                    "three")) "}");
    (void)start(f, "d");
    drain(f);
    assert_string_equal(f->lines, "one\ntwo\nthree\nping\n");
}

static void an_event_resumes_bookmarks_in_the_order_they_were_made(void **state)
{
    struct fixture *f = *state;

#define BRANCH(n) RIG_SEQUENCE("s" n, RIG_EVENT("e" n, "Go") "," RIG_WRITE("w" n, n))
    publish(f, "{'definitionId':'d','id':'d:1','version':1,'name':'d','root':" RIG_PARALLEL(
                   "p", BRANCH("1") "," BRANCH("2") "," BRANCH("3") "," BRANCH("4") "," BRANCH(
                            "5")) "}");
    (void)start(f, "d");
    (void)send(f, "Go");
    drain(f);
    assert_string_equal(f->lines, "1\n2\n3\n4\n5\n");
}

/* ---- requests, journals -------------------------------------------------------------------- */

#define SHORT_LIVED                                                                                \
    "{'id':'v','name':'V','typeName':'String','value':'initial',"                                  \
    "'storageDriverTypeName':'MemoryStorageDriver'}"
#define SET_AFTER(event)                                                                           \
    RIG_EVENT(event, event)                                                                        \
    ",{'type':'Elsa.WriteLine','text':" RIG_INPUT(                                                 \
        "String", "Variable", "{'id':'v'}") "},{'type':'Elsa.SetVariable','variable':{'id':'v'},'" \
                                            "value':" TEXT(event) "}"

static void resume_first(struct fixture *f, struct pawl_str id, struct pawl_request *request)
{
    struct pawl_instance_row row;
    struct pawl_json instance;
    struct pawl_run run = {.request = request};

    assert_ok(pawl__runtime_show(f->a.runtime, id, &f->arena, &row, &instance, later(f), &f->err),
              &f->err);
    run.bookmark_id = pawl__json_str(
        pawl__json_get_text(pawl__json_at(pawl__json_get_text(&instance, "bookmarks"), 0), "id"));
    assert_ok(pawl__runtime_run(f->a.runtime, id, &run, NULL, later(f), &f->err), &f->err);
}

static void a_variable_of_the_memory_driver_lives_as_long_as_the_request(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct pawl_request request;
    struct pawl_str id;

    publish(f, "{'definitionId':'d','id':'d:1','version':1,'name':'d','root':{'id':'seq','type':"
               "'Elsa.Sequence','variables':[" SHORT_LIVED "],'activities':[" SET_AFTER(
                   "a") "," SET_AFTER("b") "," SET_AFTER("c") "," SET_AFTER("d") "]}}");
    outcome = start(f, "d");
    id = pawl__str(outcome.instance_id);
    pawl__request_init(&request, &f->env->alloc);
    resume_first(f, id, &request);
    resume_first(f, id, &request);
    pawl__request_release(&request);
    resume_first(f, id, NULL);
    resume_first(f, id, NULL);
    assert_string_equal(f->lines, "initial\na\ninitial\ninitial\n");
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
}

/* Commits before an activity executes have its record and nothing in the log. */
static void activity_records_are_in_the_order_of_execution(void **state)
{
    struct fixture *f = *state;
    struct pawl_json log, records;
    struct pawl_outcome outcome;

#define EARLY(id)                                                                                  \
    "{'id':'" id "','type':'Elsa.WriteLine','text':" TEXT("x") ",'customProperties':"              \
                                                               "{'commitStrategyName':'Executing'" \
                                                               "}}"
    f->engine.commit_strategies = true;
    publish(f, DEFINITION("d", "", EARLY("w1") "," EARLY("w2") "," EARLY("w3")));
    outcome = start(f, "d");
    assert_ok(pawl__runtime_journal(f->a.runtime, pawl__str(outcome.instance_id), &f->arena, &log,
                                    &records, later(f), &f->err),
              &f->err);
    assert_true(count(f, PAWL_TABLE_JOURNAL) >= 4);
    assert_int_equal(pawl__json_len(&records), 5);
    for (uint32_t i = 0; i < 5; i++) {
        static const char *const ids[] = {"Workflow1", "seq", "w1", "w2", "w3"};
        const struct pawl_json *record = pawl__json_at(&records, i);

        assert_str(pawl__json_str(pawl__json_get_text(record, "activityId")), ids[i]);
        assert_str(pawl__json_str(pawl__json_get_text(record, "status")), "Completed");
    }
}

/* ---- cancelling, deleting ------------------------------------------------------------------ */

static void cancelling_alone_leaves_children(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("child", "", RIG_EVENT("ce", "Child") "," RIG_WRITE("c", "child")));
    publish(f, DEFINITION("d", "", CHILD("x", "Elsa.DispatchWorkflow", "child")));
    outcome = start(f, "d");
    drain(f);
    assert_ok(
        pawl__runtime_cancel_one(f->a.runtime, pawl__str(outcome.instance_id), later(f), &f->err),
        &f->err);
    drain(f);
    assert_string_equal(sub_status(f, outcome.instance_id), "Cancelled");
    (void)send(f, "Child");
    drain(f);
    assert_string_equal(f->lines, "child\n");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* The child is a row that waits to be started when its parent is cancelled. */
static void cancelling_reaches_a_burst_and_children_that_are_not_there_yet(void **state)
{
    struct fixture *f = *state;

    f->engine.yield_after = 1;
    publish(f, DEFINITION("child", "", RIG_WRITE("c", "child")));
    publish(f, "{'definitionId':'d','id':'d:1','version':1,'name':'d','root':" RIG_PARALLEL(
                   "p", CHILD("x", "Elsa.DispatchWorkflow", "child") "," RIG_WRITE(
                            "w1", "cancel me") "," RIG_WRITE("w2", "never")) "}");
    assert_int_equal(start(f, "d").sub_status, PAWL_SUB_CANCELLED);
    drain(f);
    assert_string_equal(f->lines, "cancel me\n");
    assert_int_equal(count(f, PAWL_TABLE_INSTANCES), 1);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* Also one that is in the middle of a child: the child goes with it. */
static void cancelling_reaches_a_parent_that_awaits_its_child(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("child", "",
                          "{'id':'l','type':'Elsa.While','condition':" RIG_INPUT(
                              "Boolean", "Literal", "true") ",'body':" RIG_WRITE("w", "") "}"));
    publish(f, DEFINITION("d", "", CHILD("x", "Elsa.ExecuteWorkflow", "child")));
    f->stop_after = 20;
    outcome = start(f, "d");
    assert_int_equal(outcome.sub_status, PAWL_SUB_EXECUTING);
    f->stopped = false;
    assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str(outcome.instance_id), later(f), &f->err),
              &f->err);
    drain(f);
    assert_string_equal(sub_status(f, outcome.instance_id), "Cancelled");
    assert_int_equal(count(f, PAWL_TABLE_INSTANCES), 2);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void a_finished_instance_stays_as_it_is(void **state)
{
    struct fixture *f = *state;
    const struct pawl_run run = {.bookmark_id = pawl__str("no-such-bookmark")};
    struct pawl_outcome outcome;
    uint64_t pages;

    publish(f, DEFINITION("d", "", RIG_WRITE("w", "once")));
    outcome = start(f, "d");
    pages = count(f, PAWL_TABLE_JOURNAL);
    assert_ok(pawl__runtime_run(f->a.runtime, pawl__str(outcome.instance_id), &run, NULL, later(f),
                                &f->err),
              &f->err);
    assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str(outcome.instance_id), later(f), &f->err),
              &f->err);
    drain(f);
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    assert_string_equal(f->lines, "once\n");
    assert_int_equal(count(f, PAWL_TABLE_JOURNAL), pages);
}

static void cancelling_reaches_children(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("child", "", RIG_EVENT("ce", "Child")));
    publish(f, DEFINITION("d", "", CHILD("x", "Elsa.DispatchWorkflow", "child")));
    outcome = start(f, "d");
    drain(f);
    assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str(outcome.instance_id), later(f), &f->err),
              &f->err);
    drain(f);
    assert_string_equal(sub_status(f, outcome.instance_id), "Cancelled");
    assert_int_equal(count(f, PAWL_TABLE_BOOKMARKS), 0);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void a_deleted_instance_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", "", DELAY("t", "01:00:00")));
    outcome = start(f, "d");
    assert_ok(pawl__runtime_delete(f->a.runtime, pawl__str(outcome.instance_id), later(f), &f->err),
              &f->err);
    assert_string_equal(sub_status(f, outcome.instance_id), "gone");
    assert_int_equal(count(f, PAWL_TABLE_BOOKMARKS) + count(f, PAWL_TABLE_WORK) +
                         count(f, PAWL_TABLE_JOURNAL),
                     0);
    assert_code(
        pawl__runtime_delete(f->a.runtime, pawl__str(outcome.instance_id), later(f), &f->err),
        PAWL_ENOTFOUND);
}

/* ---- versions ------------------------------------------------------------------------------ */

static void an_instance_goes_on_with_the_version_it_began_with(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

#define ANY_VERSION(activities)                                                                    \
    "{'definitionId':'d','name':'d','root':" RIG_SEQUENCE("seq", activities) "}"
    publish(f, ANY_VERSION(RIG_EVENT("e", "Go") "," RIG_WRITE("w", "old")));
    outcome = start(f, "d");
    publish(f, ANY_VERSION(RIG_EVENT("e", "Go") "," RIG_WRITE("w", "new")));
    (void)send(f, "Go");
    drain(f);
    assert_string_equal(f->lines, "old\n");
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
}

/* Not dropped as by the reference: the run would go on without the input. */
static void an_expression_in_csharp_is_kept_reported_and_faults(void **state)
{
    struct fixture *f = *state;
    struct pawl_definitions *definitions = pawl__runtime_definitions(f->a.runtime);
    struct pawl_json definition =
        json(f, ANY_VERSION("{'id':'w','type':'Elsa.WriteLine','text':" RIG_INPUT(
                    "String", "CSharp", "'1 + 1'") "}"));
    struct pawl_publication said;
    struct pawl_definition_row row;
    struct pawl_instance_row instance;
    struct pawl_outcome outcome;
    struct pawl_json shown;

    assert_ok(
        pawl__definitions_import(definitions, &definition, &f->arena, &row, later(f), &f->err),
        &f->err);
    assert_non_null(memmem(row.data.ptr, row.data.len, "CSharp", strlen("CSharp")));
    assert_ok(pawl__definitions_publish(definitions, row.id, &f->arena, &said, later(f), &f->err),
              &f->err);
    assert_int_equal(said.problems.count, 1);
    assert_int_equal(said.problems.items[0].level, PAWL_PROBLEM_ERROR);
    assert_string_equal(said.problems.items[0].activity_id, "w");
    assert_non_null(strstr(said.problems.items[0].message, "write it in JavaScript"));
    outcome = start(f, "d");
    assert_int_equal(outcome.sub_status, PAWL_SUB_FAULTED);
    assert_string_equal(f->lines, "");
    assert_ok(pawl__runtime_show(f->a.runtime, pawl__str(outcome.instance_id), &f->arena, &instance,
                                 &shown, later(f), &f->err),
              &f->err);
    assert_str(pawl__json_str(pawl__json_get_text(
                   pawl__json_find(&shown, pawl__str("/incidents/0/exception/innerException")),
                   "message")),
               "C# expressions are not supported: write it in JavaScript.");
}

static void an_older_version_no_longer_starts_by_trigger(void **state)
{
    struct fixture *f = *state;

    publish(f, ANY_VERSION(TRIGGER("e", "Old")));
    publish(f, ANY_VERSION(TRIGGER("e", "New")));
    assert_int_equal(send(f, "Old").started, 0);
    assert_int_equal(send(f, "New").started, 1);
}

static void an_event_with_a_correlation_id_reaches_only_its_own(void **state)
{
    struct fixture *f = *state;
    const struct pawl_stimulus theirs = {.correlation_id = pawl__str("b")};
    struct pawl_start what = {.definition_id = pawl__str("d"), .correlation_id = pawl__str("a")};
    struct pawl_outcome a, b;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go")));
    assert_ok(pawl__runtime_start(f->a.runtime, &what, &a, later(f), &f->err), &f->err);
    what.correlation_id = pawl__str("b");
    assert_ok(pawl__runtime_start(f->a.runtime, &what, &b, later(f), &f->err), &f->err);
    assert_ok(pawl__runtime_send_event(f->a.runtime, pawl__str("Go"), NULL, &theirs, NULL, later(f),
                                       &f->err),
              &f->err);
    drain(f);
    assert_string_equal(sub_status(f, a.instance_id), "Suspended");
    assert_string_equal(sub_status(f, b.instance_id), "Finished");
}

/* ---- other nodes --------------------------------------------------------------------------- */

static void another_node_finishes_what_a_dead_one_began(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct pawl_claim claim = {0};
    struct pawl_lease dead = {
        .kind = PAWL_LEASE_JOIN, .node_id = pawl__str("dead"), .ttl_us = 10000000};
    int64_t now_us;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    outcome = start(f, "d");
    assert_ok(pawl_store_lease(f->a.store, &dead, later(f), &f->err), &f->err);
    claim.id = pawl__str(outcome.instance_id);
    assert_ok(pawl_store_claim(f->a.store, dead.incarnation, &claim, 1, &f->arena, &now_us,
                               later(f), &f->err),
              &f->err);
    (void)send(f, "Go");
    drain(f);
    assert_string_equal(f->lines, ""); /* its owner lives */
    test_clock_advance(f->clock, 11 * SECOND);
    drain(f);
    assert_string_equal(f->lines, "went\n");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static int64_t node_time(struct fixture *f)
{
    int64_t now_us = 0;

    assert_ok(pawl__runtime_clock(f->a.runtime, &now_us, later(f), &f->err), &f->err);
    return now_us;
}

/* A look at the store's clock that took long seems to be an early one. */
static void the_time_of_a_node_does_not_go_back(void **state)
{
    struct fixture *f = *state;
    int64_t asked_ns = pawl_env_monotonic_ns(f->env), first = node_time(f);

    test_clock_advance(f->clock, SECOND / 10);
    pawl__runtime_clock_seen(f->a.runtime, asked_ns, first);
    assert_int_equal(node_time(f), first + 100000);
    /* One that tells that the node's clock went too fast: it stands still. */
    pawl__runtime_clock_seen(f->a.runtime, pawl_env_monotonic_ns(f->env), first + 95000);
    assert_int_equal(node_time(f), first + 100001);
    /* But a clock that was set back went back. */
    pawl__runtime_clock_seen(f->a.runtime, pawl_env_monotonic_ns(f->env), first - 60000000);
    assert_int_equal(node_time(f), first - 60000000);
}

/* A store whose next look at its clock stalls after it has read it. */
static struct {
    struct pawl_store_ops ops;
    const struct pawl_store_ops *real;
    struct fixture *f;
    int64_t stalls_ns; /* so long; 0: not */
    bool beside;       /* another thread looks at the end of that */
} stalling;

static int status_stalled(struct pawl_store *store, struct pawl_store_status *out,
                          int64_t deadline_ns, struct pawl_error *err)
{
    int status = stalling.real->status(store, out, deadline_ns, err);
    struct fixture *f = stalling.f;
    int64_t stalls_ns = stalling.stalls_ns;

    stalling.stalls_ns = 0;
    test_clock_advance(f->clock, stalls_ns);
    if (stalls_ns > 0 && stalling.beside)
        pawl__runtime_clock_seen(f->a.runtime, pawl_env_monotonic_ns(f->env),
                                 out->now_us + stalls_ns / 1000);
    return status;
}

static int64_t stalled_time(struct fixture *f, int64_t stalls_ns, bool beside)
{
    int64_t now_us;

    stalling.f = f;
    stalling.stalls_ns = stalls_ns;
    stalling.beside = beside;
    stalling.real = f->a.store->ops;
    stalling.ops = *stalling.real;
    stalling.ops.status = status_stalled;
    f->a.store->ops = &stalling.ops;
    now_us = node_time(f);
    f->a.store->ops = stalling.real;
    assert_int_equal(stalling.stalls_ns, 0); /* it has looked */
    return now_us;
}

static void a_look_that_takes_long_returns_the_reckoning(void **state)
{
    struct fixture *f = *state;
    int64_t first = node_time(f);

    test_clock_advance(f->clock, 2 * SECOND);
    assert_int_equal(stalled_time(f, SECOND / 2, false), first + 2500000);
}

static void a_look_that_stalls_beside_a_quick_one_does_not_set_the_time_back(void **state)
{
    struct fixture *f = *state;
    int64_t first = node_time(f);

    test_clock_advance(f->clock, 2 * SECOND);
    assert_int_equal(stalled_time(f, 5 * SECOND, true), first + 7000000);
    assert_int_equal(node_time(f), first + 7000001);
}

/* It knows no better than the quick one, so that the next look is due when it was. */
static void a_look_that_stalls_does_not_renew_that_of_another(void **state)
{
    struct fixture *f = *state;
    int64_t asked_ns = pawl_env_monotonic_ns(f->env), first = node_time(f);

    test_clock_advance(f->clock, 3 * SECOND);
    pawl__runtime_clock_seen(f->a.runtime, pawl_env_monotonic_ns(f->env), first + 3000000);
    test_clock_advance(f->clock, SECOND);
    pawl__runtime_clock_seen(f->a.runtime, asked_ns, first);
    test_clock_advance(f->clock, SECOND / 10);
    test_clock_shift(f->clock, 10 * SECOND);
    assert_int_equal(node_time(f), first + 14100000);
}

/* Each of its looks would bear out a time that is wrong by less than it takes. */
static void a_store_whose_looks_are_slow_keeps_no_wrong_time(void **state)
{
    struct fixture *f = *state;
    int64_t first = node_time(f);

    pawl__runtime_clock_seen(f->a.runtime, pawl_env_monotonic_ns(f->env), first + 1500000);
    for (int i = 1; i <= 2; i++) {
        int64_t asked_ns;

        test_clock_advance(f->clock, SECOND);
        asked_ns = pawl_env_monotonic_ns(f->env);
        test_clock_advance(f->clock, 2 * SECOND);
        pawl__runtime_clock_seen(f->a.runtime, asked_ns, first + i * INT64_C(3000000));
    }
    assert_int_equal(node_time(f), first + 6000000);
}

/* A commit with a reservation that has expired tells that the node's idea of the clock is wrong. */
static void commit_expired(struct fixture *f, int64_t expires_us)
{
    struct pawl_reservation_row row = {.key = pawl__str("key"), .expires_us = expires_us};
    const struct pawl_change change = {PAWL_CHANGE_INSERT, PAWL_TABLE_RESERVATIONS, &row};
    struct pawl_commit commit = {.changes = &change, .change_count = 1};

    assert_code(pawl__runtime_commit(f->a.runtime, &commit, later(f), &f->err), PAWL_EUNAVAILABLE);
}

static void a_look_from_before_the_clock_was_forgotten_is_not_believed(void **state)
{
    struct fixture *f = *state;
    int64_t asked_ns = pawl_env_monotonic_ns(f->env), first = node_time(f);

    test_clock_advance(f->clock, SECOND / 10);
    test_clock_shift(f->clock, 3600 * SECOND);
    commit_expired(f, first + 60000000);
    pawl__runtime_clock_seen(f->a.runtime, asked_ns, first);
    assert_int_equal(node_time(f), first + 3600100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_short_workflow_is_one_commit),
        TEST(instances_made_one_after_another_are_neighbours_in_the_index_of_executions),
        TEST(three_durable_steps_are_four_commits),
        TEST(the_time_of_a_node_does_not_go_back),
        TEST(an_unknown_definition_is_refused),
        TEST(a_start_with_a_known_key_answers_the_first_instance),
        TEST(an_instance_id_is_used_once),
        TEST(a_created_instance_runs_when_work_is_done),
        TEST(an_event_resumes_what_waits_for_it),
        TEST(an_event_that_nobody_waits_for_waits_itself),
        TEST(an_event_that_waited_too_long_is_a_dead_letter),
        TEST(an_event_with_a_known_key_acts_once),
        TEST(a_trigger_starts_an_instance_that_is_not_resumed_too),
        TEST(a_singleton_is_started_once),
        TEST(a_singleton_that_ends_at_once_may_be_started_again),
        TEST(a_loop_gets_every_signal_once),
        TEST(a_delay_is_a_row_that_becomes_due),
        TEST(a_cron_tick_starts_one_instance),
        TEST(a_child_runs_inline),
        TEST(a_child_that_commits_on_its_way_runs_inline),
        TEST(a_parent_waits_for_a_dispatched_child),
        TEST(a_child_is_not_older_than_its_parent),
        TEST(a_look_that_takes_long_returns_the_reckoning),
        TEST(a_look_that_stalls_beside_a_quick_one_does_not_set_the_time_back),
        TEST(a_look_that_stalls_does_not_renew_that_of_another),
        TEST(a_store_whose_looks_are_slow_keeps_no_wrong_time),
        TEST(a_look_from_before_the_clock_was_forgotten_is_not_believed),
        TEST(a_published_event_reaches_others),
        TEST(an_inline_child_may_take_several_commits),
        TEST(inline_children_have_inline_children),
        TEST(a_parent_learns_that_its_inline_child_cannot_be_started),
        TEST(dispatched_children_start_in_their_order),
        TEST(an_event_resumes_bookmarks_in_the_order_they_were_made),
        TEST(a_variable_of_the_memory_driver_lives_as_long_as_the_request),
        TEST(activity_records_are_in_the_order_of_execution),
        TEST(cancelling_reaches_children),
        TEST(cancelling_alone_leaves_children),
        TEST(cancelling_reaches_a_burst_and_children_that_are_not_there_yet),
        TEST(cancelling_reaches_a_parent_that_awaits_its_child),
        TEST(a_finished_instance_stays_as_it_is),
        TEST(an_instance_goes_on_with_the_version_it_began_with),
        TEST(an_older_version_no_longer_starts_by_trigger),
        TEST(an_expression_in_csharp_is_kept_reported_and_faults),
        TEST(an_event_with_a_correlation_id_reaches_only_its_own),
        TEST(a_deleted_instance_leaves_nothing),
        TEST(another_node_finishes_what_a_dead_one_began),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
