/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activities that run in the background: the instance is free while they work, and whatever dies on
 * the way, they end.
 */
#include "runtime/work/requests.h"

#define ASYNC CUSTOM("'runAsynchronously':true")
#define BACKGROUND(id) SEND_WITH(id, ASYNC)
#define ASYNC_CHILD(id, definition)                                                                \
    "{'id':'" id "','type':'Elsa.ExecuteWorkflow'," ASYNC "'waitForCompletion':" RIG_INPUT(        \
        "Boolean", "Literal", "true") ",'workflowDefinitionId':" TEXT(definition) "}"
#define BESIDE(background)                                                                         \
    RIG_PARALLEL("p", background                                                                   \
                 "," RIG_SEQUENCE("s2", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")))

static struct pawl_outcome start_one(struct fixture *f, const char *definition_id)
{
    struct pawl_outcome outcome = start_until(f, definition_id, later(f));

    assert_int_equal(outcome.sub_status, PAWL_SUB_SUSPENDED);
    return outcome;
}

static void send(struct fixture *f, const char *event)
{
    assert_ok(pawl__runtime_send_event(f->a.runtime, pawl__str(event), NULL, NULL, NULL, later(f),
                                       &f->err),
              &f->err);
}

/* "Started Suspended …" of one activity. */
static void assert_log(struct fixture *f, const char *instance_id, const char *activity_id,
                       const char *expected)
{
    struct pawl_json log, records;
    char text[512] = "";

    assert_ok(pawl__runtime_journal(f->a.runtime, pawl__str(instance_id), &f->arena, &log, &records,
                                    later(f), &f->err),
              &f->err);
    for (uint32_t i = 0; i < pawl__json_len(&log); i++) {
        const struct pawl_json *record = pawl__json_at(&log, i);
        int64_t sequence = -1;

        (void)pawl__json_to_int(pawl__json_get_text(record, "sequence"), &sequence);
        assert_int_equal(sequence, i);
        if (!pawl__str_is(pawl__json_str(pawl__json_get_text(record, "activityId")), activity_id))
            continue;
        (void)strncat(text, *text ? " " : "", sizeof text - strlen(text) - 1);
        (void)strncat(text, pawl__json_str(pawl__json_get_text(record, "eventName")).ptr,
                      sizeof text - strlen(text) - 1);
    }
    assert_string_equal(text, expected);
}

/* ---- the usual ----------------------------------------------------------------------------- */

static void an_instance_goes_on_while_its_request_is_under_way(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", BESIDE(BACKGROUND("s")) "," RIG_WRITE("w2", "after")));
    outcome = start_one(f, "d");
    assert_int_equal(outcome.bookmark_count, 2);
    assert_int_equal(f->a.script.count, 0); /* it is not durable that it waits before that */
    work(f, &f->a);
    assert_int_equal(f->a.script.count, 1);
    send(f, "Go");
    work(f, &f->a);
    assert_string_equal(f->lines, "went\n");
    script_answer(&f->a.script, 0, &ok);
    drain(f, &f->a);
    assert_string_equal(f->lines, "went\nafter\n");
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    assert_log(f, outcome.instance_id, "s", "Started Suspended Resumed Completed");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    assert_int_equal(count(f, PAWL_TABLE_BOOKMARKS), 0);
}

static void two_at_once_both_end(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", RIG_PARALLEL("p", BACKGROUND("s1") "," BACKGROUND("s2"))));
    outcome = start_one(f, "d");
    work(f, &f->a);
    assert_int_equal(f->a.script.count, 2);
    assert_string_not_equal(f->a.script.asked[0].key, f->a.script.asked[1].key);
    script_answer(&f->a.script, 1, &ok);
    script_answer(&f->a.script, 0, &ok);
    drain(f, &f->a);
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
}

static void a_child_is_run_beside_its_parent(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("child", RIG_WRITE("c1", "child") "," RIG_EVENT("ce", "Child")));
    publish(f, DEFINITION("d", BESIDE(ASYNC_CHILD("x", "child")) "," RIG_WRITE("w2", "after")));
    outcome = start_one(f, "d");
    drain(f, &f->a);
    assert_string_equal(f->lines, "child\n");
    send(f, "Go");
    drain(f, &f->a);
    assert_string_equal(f->lines, "child\nwent\n");
    send(f, "Child");
    drain(f, &f->a);
    assert_string_equal(f->lines, "child\nwent\nafter\n");
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_INSTANCES), 2);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void a_child_that_cannot_be_started_faults_the_activity(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", ASYNC_CHILD("x", "nowhere")));
    outcome = start_one(f, "d");
    drain(f, &f->a);
    assert_string_equal(sub_status(f, outcome.instance_id), "Faulted");
    assert_log(f, outcome.instance_id, "x", "Started Suspended Resumed Faulted");
}

static void a_host_without_an_executor_says_so(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    node_close(&f->a);
    node_open_with(f, &f->a, "a", NULL);
    publish(f, DEFINITION("d", BACKGROUND("s")));
    outcome = start_one(f, "d");
    drain(f, &f->a);
    assert_string_equal(sub_status(f, outcome.instance_id), "Faulted");
    assert_non_null(strstr(incident(f, outcome.instance_id), "sends no HTTP requests"));
}

/* Of actions the reference does not heed it. */
static void only_tasks_run_in_the_background(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "{'id':'n','type':'Elsa.SetName'," ASYNC "'value':" TEXT("x") "}"));
    assert_int_equal(start_until(f, "d", later(f)).sub_status, PAWL_SUB_FINISHED);
}

/* ---- what goes wrong ----------------------------------------------------------------------- */

static void another_node_sends_again_what_a_dead_one_had_sent(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", BACKGROUND("s") "," RIG_WRITE("w", "after")));
    outcome = start_one(f, "d");
    work(f, &f->a);
    assert_int_equal(f->a.script.count, 1);
    test_clock_advance(f->clock, LEASE + SECOND);
    node_open(f, &f->b, "b");
    f->b.script.answers = &ok;
    f->b.script.answer_count = 1;
    drain(f, &f->b);
    assert_int_equal(f->b.script.count, 1);
    assert_string_equal(f->b.script.asked[0].key, f->a.script.asked[0].key);
    assert_string_equal(f->lines, "after\n");
    /* The one that was thought dead hears at last: nothing happens. */
    script_answer(&f->a.script, 0, &ok);
    drain(f, &f->a);
    drain(f, &f->b);
    assert_string_equal(f->lines, "after\n");
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void another_node_begins_what_a_dead_one_had_not_begun(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", BACKGROUND("s") "," RIG_WRITE("w", "after")));
    outcome = start_one(f, "d");
    test_clock_advance(f->clock, LEASE + SECOND);
    node_open(f, &f->b, "b");
    f->b.script.answers = &ok;
    f->b.script.answer_count = 1;
    drain(f, &f->b);
    assert_int_equal(f->a.script.count, 0);
    assert_int_equal(f->b.script.count, 1);
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
}

static void cancelling_leaves_nothing_of_it(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", BACKGROUND("s") "," RIG_WRITE("w", "after")));
    outcome = start_one(f, "d");
    work(f, &f->a);
    assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str(outcome.instance_id), later(f), &f->err),
              &f->err);
    script_answer(&f->a.script, 0, &ok);
    drain(f, &f->a);
    assert_string_equal(f->lines, "");
    assert_string_equal(sub_status(f, outcome.instance_id), "Cancelled");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* Only the job knows when it is over. */
static void its_bookmark_cannot_be_resumed_by_hand(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct pawl_run what = {.bookmark_id = S("")};
    struct pawl_instance_row row;
    struct pawl_json shown;

    publish(f, DEFINITION("d", BACKGROUND("s") "," RIG_WRITE("w", "after")));
    outcome = start_one(f, "d");
    work(f, &f->a);
    assert_ok(pawl__runtime_show(f->a.runtime, pawl__str(outcome.instance_id), &f->arena, &row,
                                 &shown, later(f), &f->err),
              &f->err);
    what.bookmark_id = pawl__json_str(pawl__json_find(&shown, pawl__str("/bookmarks/0/id")));
    assert_ok(pawl__runtime_run(f->a.runtime, pawl__str(outcome.instance_id), &what, NULL, later(f),
                                &f->err),
              &f->err);
    assert_string_equal(sub_status(f, outcome.instance_id), "Suspended");
    assert_int_equal(f->a.script.count, 1);
    script_answer(&f->a.script, 0, &ok);
    drain(f, &f->a);
    assert_string_equal(f->lines, "after\n");
}

/* An export has no jobs: they begin once more. */
static void an_imported_instance_begins_its_job_again(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct pawl_json exported;

    publish(f, DEFINITION("d", BACKGROUND("s") "," RIG_WRITE("w", "after")));
    outcome = start_one(f, "d");
    assert_ok(pawl__runtime_export(f->a.runtime, pawl__str(outcome.instance_id), &f->arena,
                                   &exported, later(f), &f->err),
              &f->err);
    assert_ok(pawl__runtime_delete(f->a.runtime, pawl__str(outcome.instance_id), later(f), &f->err),
              &f->err);
    assert_ok(pawl__runtime_import(f->a.runtime, &exported, &outcome, later(f), &f->err), &f->err);
    work(f, &f->a);
    assert_int_equal(f->a.script.count, 1);
    script_answer(&f->a.script, 0, &ok);
    drain(f, &f->a);
    assert_string_equal(f->lines, "after\n");
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_instance_goes_on_while_its_request_is_under_way),
        TEST(two_at_once_both_end),
        TEST(a_child_is_run_beside_its_parent),
        TEST(a_child_that_cannot_be_started_faults_the_activity),
        TEST(a_host_without_an_executor_says_so),
        TEST(only_tasks_run_in_the_background),
        TEST(another_node_sends_again_what_a_dead_one_had_sent),
        TEST(another_node_begins_what_a_dead_one_had_not_begun),
        TEST(cancelling_leaves_nothing_of_it),
        TEST(its_bookmark_cannot_be_resumed_by_hand),
        TEST(an_imported_instance_begins_its_job_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
