/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime on the memory store: starts, stimuli, timers, children, cancelling, keys, takeover.
 */
#include "unit/runtime/nodes.h"

/* ---- starting ------------------------------------------------------------------------------ */

static void a_created_instance_remembers_its_key(void **state)
{
    struct fixture *f = *state;
    const struct pawl_start what = {.definition_id = pawl__str("d"),
                                    .idempotency_key = pawl__str("order-7")};
    struct pawl_outcome first, second;

    publish(f, DEFINITION("d", "", RIG_WRITE("w1", "one")));
    assert_ok(pawl__runtime_create(f->a.runtime, &what, &first, later(f), &f->err), &f->err);
    assert_ok(pawl__runtime_create(f->a.runtime, &what, &second, later(f), &f->err), &f->err);
    assert_true(second.existed);
    assert_string_equal(second.instance_id, first.instance_id);
    drain(f);
    assert_string_equal(f->lines, "one\n");
}

/* An object with one member of so many bytes. */
static struct pawl_json object_of(struct fixture *f, size_t bytes)
{
    char *text = pawl__arena_alloc(&f->arena, bytes);
    struct pawl_json object = pawl__json_object();

    assert_non_null(text);
    memset(text, 'x', bytes);
    assert_ok(pawl__json_set_text(&f->arena, &object, "k",
                                  pawl__json_string(pawl__str_make(text, bytes))),
              NULL);
    return object;
}

static void what_is_too_large_is_refused_and_nothing_has_happened(void **state)
{
    struct fixture *f = *state;
    const struct pawl_start usual = {.definition_id = pawl__str("d"),
                                     .instance_id = pawl__str("i")};
    struct pawl_start much = usual;
    struct pawl_run run = {.bookmark_id = pawl__str("any")};
    struct pawl_json payload = object_of(f, PAWL_INPUT_BYTES_MAX);

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go")));
    much.input = run.input = payload;
    assert_code(pawl__runtime_start(f->a.runtime, &much, NULL, later(f), &f->err), PAWL_ELIMIT);
    assert_non_null(strstr(f->err.msg, "send where the data is instead"));
    assert_code(pawl__runtime_create(f->a.runtime, &much, NULL, later(f), &f->err), PAWL_ELIMIT);
    assert_int_equal(count(f, PAWL_TABLE_INSTANCES), 0);
    assert_ok(pawl__runtime_start(f->a.runtime, &usual, NULL, later(f), &f->err), &f->err);
    assert_code(pawl__runtime_run(f->a.runtime, pawl__str("i"), &run, NULL, later(f), &f->err),
                PAWL_ELIMIT);
    assert_code(pawl__runtime_send_event(f->a.runtime, pawl__str("Go"), &payload, NULL, NULL,
                                         later(f), &f->err),
                PAWL_ELIMIT);
    drain(f);
    assert_string_equal(sub_status(f, "i"), "Suspended");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    /* What is just below goes in, and comes out. */
    much.input = object_of(f, PAWL_INPUT_BYTES_MAX - 100);
    much.instance_id = pawl__str("j");
    assert_ok(pawl__runtime_start(f->a.runtime, &much, NULL, later(f), &f->err), &f->err);
    assert_int_equal(send(f, "Go").resumed, 2);
    drain(f);
    assert_string_equal(sub_status(f, "j"), "Finished");
}

/* ---- stimuli ------------------------------------------------------------------------------- */

static void a_singleton_that_ends_with_its_first_burst_starts_again(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "'options':{'activationStrategyType':'SingletonStrategy'},",
                          TRIGGER("e", "Go") "," RIG_WRITE("w", "started")));
    for (int i = 0; i < 2; i++) {
        (void)send(f, "Go");
        drain(f);
        assert_int_equal(reserved(f), 0);
    }
    assert_string_equal(f->lines, "started\nstarted\n");
}

/* A store in which whoever is looked for has just ended. */
static struct {
    struct pawl_store_ops ops;
    const struct pawl_store_ops *real;
} blind;

static int find_nothing(struct pawl_store *store, const struct pawl_query *query,
                        struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                        struct pawl_error *err)
{
    int status = blind.real->find(store, query, arena, out, deadline_ns, err);

    if (query->table == PAWL_TABLE_INSTANCES || query->table == PAWL_TABLE_RESERVATIONS)
        out->count = out->total = 0;
    return status;
}

/* It would say that there is an instance with the id that it has just made. */
static void a_start_that_a_singleton_prevents_which_ends_meanwhile_is_refused(void **state)
{
    struct fixture *f = *state;
    const struct pawl_start what = {.definition_id = pawl__str("d"), .judged = true};
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", "'options':{'activationStrategyType':'SingletonStrategy'},",
                          RIG_EVENT("e", "Go")));
    assert_ok(pawl__runtime_start(f->a.runtime, &what, &outcome, later(f), &f->err), &f->err);
    assert_false(outcome.refused);
    blind.real = f->a.store->ops;
    blind.ops = *f->a.store->ops;
    blind.ops.find = find_nothing;
    f->a.store->ops = &blind.ops;
    assert_ok(pawl__runtime_start(f->a.runtime, &what, &outcome, later(f), &f->err), &f->err);
    f->a.store->ops = blind.real;
    assert_true(outcome.refused);
    assert_int_equal(count(f, PAWL_TABLE_INSTANCES), 1);
}

/* ---- time ---------------------------------------------------------------------------------- */

/* ---- children ------------------------------------------------------------------------------ */

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

/* ---- cancelling, deleting ------------------------------------------------------------------ */

/* ---- failures ------------------------------------------------------------------------------ */

/* Whatever a failed call has left in this node's hands, this node finds again. */
static void drain_later(struct fixture *f)
{
    test_clock_advance(f->clock, SECOND);
    drain(f);
}

static void an_event_that_was_accepted_is_matched_later(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    outcome = start(f, "d");
    fail_next(f, PAWL_STORE_CALL_FIND, PAWL_STORE_FAULT_BEFORE);
    assert_int_equal(send(f, "Go").resumed, 0);
    assert_false(f->fail);
    drain_later(f);
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void work_whose_taking_was_not_answered_is_done_later(void **state)
{
    struct fixture *f = *state;
    struct pawl_worked worked;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    outcome = start(f, "d");
    (void)send(f, "Go");
    fail_next(f, PAWL_STORE_CALL_TAKE, PAWL_STORE_FAULT_AFTER);
    assert_code(pawl__runtime_work(f->a.runtime, 0, &worked, later(f), &f->err), PAWL_EUNKNOWN);
    drain_later(f);
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    assert_string_equal(f->lines, "went\n");
}

static void an_instance_whose_claim_was_not_answered_goes_on(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    outcome = start(f, "d");
    (void)send(f, "Go");
    fail_next(f, PAWL_STORE_CALL_CLAIM, PAWL_STORE_FAULT_AFTER);
    drain(f);
    assert_string_equal(f->lines, "");
    drain_later(f);
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    assert_string_equal(f->lines, "went\n");
}

static void a_refused_claim_does_not_lose_mail(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    outcome = start(f, "d");
    (void)send(f, "Go");
    fail_next(f, PAWL_STORE_CALL_CLAIM, PAWL_STORE_FAULT_BEFORE);
    drain(f);
    drain_later(f);
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* The parent is there and its child's start is this node's: neither is anybody else's business. */
static void a_start_that_failed_in_its_child_goes_on(void **state)
{
    struct fixture *f = *state;
    const struct pawl_start what = {.definition_id = pawl__str("d"),
                                    .instance_id = pawl__str("mine")};
    struct pawl_outcome outcome;
    int status = PAWL_OK;

    publish(f, DEFINITION("child", "", RIG_WRITE("c", "child")));
    publish(f,
            DEFINITION("d", "",
                       CHILD("x", "Elsa.ExecuteWorkflow", "child") "," RIG_WRITE("w2", "after")));
    /* The first looks are for definitions, and nothing has begun. */
    for (unsigned skip = 0; status != PAWL_EUNKNOWN && skip < 20; skip++) {
        fail_next(f, PAWL_STORE_CALL_FIND, PAWL_STORE_FAULT_BEFORE);
        f->fail_skip = skip;
        status = pawl__runtime_start(f->a.runtime, &what, &outcome, later(f), &f->err);
        assert_true(status == PAWL_EUNAVAILABLE || status == PAWL_EUNKNOWN);
    }
    assert_code(status, PAWL_EUNKNOWN);
    assert_non_null(strstr(f->err.msg, "instance mine was started"));
    drain_later(f);
    assert_string_equal(f->lines, "child\nafter\n");
    assert_string_equal(sub_status(f, "mine"), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* ---- other nodes --------------------------------------------------------------------------- */

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_created_instance_remembers_its_key),
        TEST(what_is_too_large_is_refused_and_nothing_has_happened),
        TEST(a_singleton_that_ends_with_its_first_burst_starts_again),
        TEST(a_start_that_a_singleton_prevents_which_ends_meanwhile_is_refused),
        TEST(a_child_that_commits_on_its_way_runs_inline),
        TEST(an_event_that_was_accepted_is_matched_later),
        TEST(work_whose_taking_was_not_answered_is_done_later),
        TEST(an_instance_whose_claim_was_not_answered_goes_on),
        TEST(a_refused_claim_does_not_lose_mail),
        TEST(a_start_that_failed_in_its_child_goes_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
