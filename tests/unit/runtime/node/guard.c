/* SPDX-License-Identifier: Apache-2.0 */
/* What is done to an instance is done between enter() and leave(), and what is refused waits. */
#include "runtime/node/guard.h"
#include "base/error.h"
#include "runtime/node/client.h"
#include "runtime/node/retention.h"
#include "unit/runtime/nodes.h"

#define GO DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went"))

/* Writes down who came in: "+id" waits, "?id" tries, "-" left. */
struct watch {
    struct pawl_guard base;
    struct fixture *f;
    char seen[4096];
    int refuse_with; /* PAWL_OK: nobody is refused */
    unsigned refusals;
    bool lost;          /* passes are */
    unsigned polls_max; /* a pass is lost after so many; 0: none is */
    unsigned polls;
    uint64_t inside;
};

static void write_down(struct watch *watch, const char *what, struct pawl_str id)
{
    size_t len = strlen(watch->seen);

    snprintf(watch->seen + len, sizeof watch->seen - len, "%s%.*s ", what, PAWL_STR_ARG(id));
}

static int enter(struct pawl_guard *guard, struct pawl_str id, enum pawl_guard_how how,
                 int64_t deadline_ns, struct pawl_guard_pass *out, struct pawl_error *err)
{
    struct watch *watch = (struct watch *)guard;

    (void)deadline_ns;
    if (watch->refuse_with != PAWL_OK) {
        watch->refusals++;
        return pawl__error_set(err, watch->refuse_with, "refused");
    }
    write_down(watch, how == PAWL_GUARD_WAIT ? "+" : "?", id);
    watch->inside++;
    watch->polls = 0;
    out->number = 7;
    return PAWL_OK;
}

static bool is_valid(struct pawl_guard *guard, struct pawl_guard_pass pass)
{
    struct watch *watch = (struct watch *)guard;

    assert_true(pass.number == 0 || pass.number == 7);
    if (pass.number == 0)
        return true;
    watch->polls++;
    return !watch->lost && (watch->polls_max == 0 || watch->polls <= watch->polls_max);
}

static void leave(struct pawl_guard *guard, struct pawl_str id, struct pawl_guard_pass pass)
{
    struct watch *watch = (struct watch *)guard;

    (void)id;
    assert_int_equal(pass.number, 7);
    assert_true(watch->inside > 0);
    watch->inside--;
    write_down(watch, "-", pawl__str(""));
}

static const struct pawl_guard_ops ops = {
    .version = PAWL_GUARD_VERSION, .enter = enter, .is_valid = is_valid, .leave = leave};

static struct watch *watch_over(struct fixture *f, struct watch *watch)
{
    *watch = (struct watch){.base = {&ops}, .f = f};
    node_close(&f->a);
    f->guard = &watch->base;
    node_open(f, &f->a, "a");
    return watch;
}

static struct pawl_outcome start_as(struct fixture *f, const char *id)
{
    const struct pawl_start what = {.definition_id = pawl__str("d"), .instance_id = pawl__str(id)};
    struct pawl_outcome outcome;

    assert_ok(pawl__runtime_start(f->a.runtime, &what, &outcome, later(f), &f->err), &f->err);
    return outcome;
}

static void every_burst_is_guarded_whoever_begins_it(void **state)
{
    struct fixture *f = *state;
    const struct pawl_run nothing = {.bookmark_id = pawl__str("none")};
    struct pawl_outcome outcome;
    struct watch own, *watch = watch_over(f, &own);

    publish(f, GO);
    (void)start_as(f, "i");
    assert_string_equal(watch->seen, "+i - ");
    (void)send(f, "Go"); /* a worker's */
    drain(f);
    assert_string_equal(watch->seen, "+i - ?i - ");
    assert_string_equal(f->lines, "went\n");
    assert_ok(
        pawl__runtime_run(f->a.runtime, pawl__str("i"), &nothing, &outcome, later(f), &f->err),
        &f->err);
    assert_string_equal(watch->seen, "+i - ?i - +i - ");
    assert_int_equal(watch->inside, 0);
}

static void a_timer_and_a_child_are_guarded_too(void **state)
{
    struct fixture *f = *state;
    const struct pawl_start what = {.definition_id = pawl__str("parent"),
                                    .instance_id = pawl__str("p")};
    struct pawl_outcome outcome;
    struct watch own, *watch = watch_over(f, &own);

    publish(f, DEFINITION("d", "", RIG_WRITE("w", "child")));
    publish(f, DEFINITION("parent", "",
                          DELAY("wait", "00:00:10") "," CHILD("c", "Elsa.ExecuteWorkflow", "d")));
    assert_ok(pawl__runtime_start(f->a.runtime, &what, &outcome, later(f), &f->err), &f->err);
    assert_string_equal(watch->seen, "+p - ");
    test_clock_advance(f->clock, 10 * SECOND);
    drain(f);
    /* By time; then the child, whose id its parent chose; then the parent, which awaited it. */
    assert_non_null(strstr(watch->seen, "+p - ?p - ?"));
    assert_string_equal(watch->seen + strlen(watch->seen) - strlen("- ?p - "), "- ?p - ");
    assert_string_equal(f->lines, "child\n");
    assert_string_equal(sub_status(f, "p"), "Finished");
    assert_int_equal(watch->inside, 0);
}

static void the_first_burst_of_a_new_id_is_guarded_too(void **state)
{
    struct fixture *f = *state;
    struct watch own, *watch = watch_over(f, &own);
    struct pawl_outcome outcome;
    char expected[sizeof outcome.instance_id + 8];

    publish(f, GO);
    outcome = start(f, "d");
    (void)snprintf(expected, sizeof expected, "+%s - ", outcome.instance_id);
    assert_string_equal(watch->seen, expected);
}

/* The row stays, and is tried again. */
static void a_start_by_a_trigger_that_is_refused_is_put_off(void **state)
{
    struct fixture *f = *state;
    struct watch own, *watch = watch_over(f, &own);

    publish(f, DEFINITION("t", "", TRIGGER("e", "Go") "," RIG_WRITE("w", "started")));
    watch->refuse_with = PAWL_EUNAVAILABLE;
    (void)send(f, "Go");
    drain(f);
    assert_true(watch->refusals > 0);
    assert_string_equal(f->lines, "");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 1);
    watch->refuse_with = PAWL_OK;
    test_clock_advance(f->clock, 10 * SECOND);
    drain(f);
    assert_string_equal(f->lines, "started\n");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    assert_int_equal(watch->inside, 0);
}

static void deleting_importing_and_altering_are_guarded(void **state)
{
    struct fixture *f = *state;
    struct pawl_json what, exported;
    struct pawl_outcome outcome;
    struct watch own, *watch = watch_over(f, &own);

    publish(f, GO);
    (void)start_as(f, "i");
    watch->seen[0] = '\0';
    assert_ok(
        pawl__runtime_export(f->a.runtime, pawl__str("i"), &f->arena, &exported, later(f), &f->err),
        &f->err);
    assert_string_equal(watch->seen, "");
    assert_ok(pawl__runtime_delete(f->a.runtime, pawl__str("i"), later(f), &f->err), &f->err);
    assert_ok(pawl__runtime_import(f->a.runtime, &exported, &outcome, later(f), &f->err), &f->err);
    assert_string_equal(watch->seen, "+i - +i - ");
    what = json(f, "[{'type':'CancelActivity','activityId':'e'}]");
    assert_ok(pawl__runtime_alter(f->a.runtime, pawl__str("i"), &what, true, &f->arena, NULL,
                                  &outcome, later(f), &f->err),
              &f->err);
    assert_string_equal(watch->seen, "+i - +i - "); /* a dry run changes nothing */
    assert_ok(pawl__runtime_alter(f->a.runtime, pawl__str("i"), &what, false, &f->arena, NULL,
                                  &outcome, later(f), &f->err),
              &f->err);
    assert_string_equal(watch->seen, "+i - +i - +i - ");
}

static void retention_asks_too_and_leaves_what_is_refused(void **state)
{
    struct fixture *f = *state;
    const struct pawl_retention_policy policy = {.finished_us = 1};
    struct pawl_retained gone = {0};
    struct watch own, *watch = watch_over(f, &own);

    publish(f, DEFINITION("d", "", RIG_WRITE("w", "on")));
    (void)start_as(f, "i");
    drain(f);
    test_clock_advance(f->clock, SECOND);
    watch->refuse_with = PAWL_EBUSY;
    assert_ok(pawl__runtime_retain(f->a.runtime, &policy, &gone, later(f), &f->err), &f->err);
    assert_string_equal(sub_status(f, "i"), "Finished");
    watch->refuse_with = PAWL_OK;
    assert_ok(pawl__runtime_retain(f->a.runtime, &policy, &gone, later(f), &f->err), &f->err);
    assert_string_equal(sub_status(f, "i"), "gone");
}

static void creating_and_asking_for_a_cancellation_are_not(void **state)
{
    struct fixture *f = *state;
    const struct pawl_start what = {.definition_id = pawl__str("d"), .instance_id = pawl__str("i")};
    struct pawl_instance_row row;
    struct pawl_outcome outcome;
    struct watch own, *watch = watch_over(f, &own);

    publish(f, GO);
    watch->refuse_with = PAWL_EUNAVAILABLE;
    assert_ok(pawl__runtime_create(f->a.runtime, &what, &outcome, later(f), &f->err), &f->err);
    assert_int_equal(watch->refusals, 0);
    assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str("i"), later(f), &f->err), &f->err);
    assert_ok(
        pawl__runtime_show(f->a.runtime, pawl__str("i"), &f->arena, &row, NULL, later(f), &f->err),
        &f->err);
    assert_int_equal(row.cancel_requested, 1);
    assert_str(row.sub_status, "Pending"); /* it takes effect with the next burst */
    watch->refuse_with = PAWL_OK;
    test_clock_advance(f->clock, SECOND);
    drain(f);
    assert_string_equal(sub_status(f, "i"), "Cancelled");
}

/* Until it is let in: whatever the refusal was, the row of work is there and becomes due again. */
static void check_put_off(struct fixture *f, int refusal)
{
    struct watch own, *watch = watch_over(f, &own);

    publish(f, GO);
    (void)start_as(f, "i");
    watch->refuse_with = refusal;
    (void)send(f, "Go");
    for (int i = 0; i < 10; i++) {
        drain(f);
        test_clock_advance(f->clock, 2 * SECOND);
    }
    assert_true(watch->refusals >= 10);
    assert_string_equal(f->lines, "");
    assert_int_equal(count(f, PAWL_TABLE_DEAD_LETTERS), 0);
    watch->refuse_with = PAWL_OK;
    drain(f);
    assert_string_equal(f->lines, "went\n");
    assert_string_equal(sub_status(f, "i"), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void mail_for_a_locked_instance_waits_and_is_not_lost(void **state)
{
    check_put_off(*state, PAWL_EBUSY);
}

static void mail_waits_while_the_lock_service_is_away(void **state)
{
    check_put_off(*state, PAWL_EUNAVAILABLE);
}

static void a_caller_is_told_what_the_guard_said_and_nothing_happened(void **state)
{
    struct fixture *f = *state;
    const struct pawl_run on = {.input = pawl__json_null()};
    const struct pawl_start what = {.definition_id = pawl__str("d"), .instance_id = pawl__str("j")};
    struct pawl_outcome outcome;
    struct watch own, *watch = watch_over(f, &own);

    publish(f, GO);
    (void)start_as(f, "i");
    watch->refuse_with = PAWL_EUNAVAILABLE;
    assert_code(pawl__runtime_run(f->a.runtime, pawl__str("i"), &on, &outcome, later(f), &f->err),
                PAWL_EUNAVAILABLE);
    assert_string_equal(f->err.msg, "refused");
    assert_code(pawl__runtime_start(f->a.runtime, &what, &outcome, later(f), &f->err),
                PAWL_EUNAVAILABLE);
    assert_string_equal(sub_status(f, "j"), "gone");
    watch->refuse_with = PAWL_ETIMEDOUT;
    assert_code(pawl__runtime_delete(f->a.runtime, pawl__str("i"), later(f), &f->err),
                PAWL_ETIMEDOUT);
    assert_string_equal(sub_status(f, "i"), "Suspended");
}

static void a_burst_that_loses_its_pass_ends_at_a_boundary_and_goes_on_under_another(void **state)
{
    struct fixture *f = *state;
    unsigned passes = 0;
    struct watch own, *watch = watch_over(f, &own);

    publish(f, DEFINITION("d", "",
                          RIG_EVENT("e", "Go") "," RIG_WRITE("w", "one") "," RIG_WRITE(
                              "x", "two") "," RIG_WRITE("y", "three") "," RIG_WRITE("z", "four")));
    (void)start_as(f, "i");
    watch->seen[0] = '\0';
    watch->polls_max = 3;
    (void)send(f, "Go");
    drain(f);
    assert_string_equal(f->lines, "one\ntwo\nthree\nfour\n");
    assert_string_equal(sub_status(f, "i"), "Finished");
    for (const char *at = watch->seen; (at = strstr(at, "?i - ")) != NULL; at++)
        passes++;
    assert_true(passes > 1);
}

static void nothing_is_begun_under_a_pass_that_was_lost_at_once(void **state)
{
    struct fixture *f = *state;
    struct pawl_instance_row row;
    struct watch own, *watch = watch_over(f, &own);

    publish(f,
            DEFINITION("d", "",
                       RIG_EVENT("e", "Go") "," RIG_WRITE("w", "one") "," RIG_WRITE("x", "two")));
    (void)start_as(f, "i");
    watch->lost = true;
    (void)send(f, "Go");
    for (int i = 0; i < 3; i++) {
        struct pawl_worked worked;

        assert_ok(pawl__runtime_work(f->a.runtime, 0, &worked, later(f), &f->err), &f->err);
        test_clock_advance(f->clock, SECOND);
    }
    assert_string_equal(f->lines, "");
    assert_ok(
        pawl__runtime_show(f->a.runtime, pawl__str("i"), &f->arena, &row, NULL, later(f), &f->err),
        &f->err);
    assert_int_equal(row.owner, 0);
    watch->lost = false;
    drain(f);
    assert_string_equal(f->lines, "one\ntwo\n");
    assert_string_equal(sub_status(f, "i"), "Finished");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_burst_is_guarded_whoever_begins_it),
        TEST(a_timer_and_a_child_are_guarded_too),
        TEST(the_first_burst_of_a_new_id_is_guarded_too),
        TEST(a_start_by_a_trigger_that_is_refused_is_put_off),
        TEST(deleting_importing_and_altering_are_guarded),
        TEST(retention_asks_too_and_leaves_what_is_refused),
        TEST(creating_and_asking_for_a_cancellation_are_not),
        TEST(mail_for_a_locked_instance_waits_and_is_not_lost),
        TEST(mail_waits_while_the_lock_service_is_away),
        TEST(a_caller_is_told_what_the_guard_said_and_nothing_happened),
        TEST(a_burst_that_loses_its_pass_ends_at_a_boundary_and_goes_on_under_another),
        TEST(nothing_is_begun_under_a_pass_that_was_lost_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
