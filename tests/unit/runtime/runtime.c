/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime on the memory store: starts, stimuli, timers, children, cancelling, keys, takeover.
 */
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
    assert_int_equal(count(f, PAWL_TABLE_WORK), 1);
    (void)start(f, "d");
    drain(f);
    assert_string_equal(f->lines, "went\n");
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
    assert_int_equal(count(f, PAWL_TABLE_RESERVATIONS), 0);
    (void)send(f, "Go");
    drain(f);
    assert_int_equal(count(f, PAWL_TABLE_INSTANCES), 2);
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

/* ---- cancelling, deleting ------------------------------------------------------------------ */

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_short_workflow_is_one_commit),
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
        TEST(a_loop_gets_every_signal_once),
        TEST(a_delay_is_a_row_that_becomes_due),
        TEST(a_cron_tick_starts_one_instance),
        TEST(a_child_runs_inline),
        TEST(a_parent_waits_for_a_dispatched_child),
        TEST(a_published_event_reaches_others),
        TEST(cancelling_reaches_children),
        TEST(a_deleted_instance_leaves_nothing),
        TEST(another_node_finishes_what_a_dead_one_began),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
