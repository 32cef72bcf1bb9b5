/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one instance may meet, each on a memory database under a clock that the test moves: timers
 * far ahead, values that cannot be stored, cancelling, deleting, what comes after the end, and
 * definitions that are not there.
 */
#include "lib/clock.h"
#include "pains/stage.h"

#include <stdlib.h>

#define WALL (INT64_C(1767323045) * SECOND) /* 2026-01-02T03:04:05Z */
#define DAY (86400 * SECOND)
#define YEAR (365 * DAY)

struct fixture {
    struct test_clock *clock;
    struct pawl_env *env;
    struct pawl_memory_database *database;
    struct stage_options options;
    struct stage a;
    struct stage b;            /* opened by those who need a second node */
    struct pawl_store *window; /* past all decorators */
    /* Of node a: */
    void (*before_call)(struct fixture *f, enum pawl_store_call call);
    void (*on_line)(struct fixture *f);
    bool no_lease;
    unsigned lines;
    unsigned broken; /* what before_call found wrong */
};

static bool decide(void *ctx, enum pawl_store_call call, enum pawl_store_fault *how)
{
    struct fixture *f = ctx;

    if (f->before_call)
        f->before_call(f, call);
    *how = PAWL_STORE_FAULT_BEFORE;
    return f->no_lease && call == PAWL_STORE_CALL_LEASE;
}

static int line(void *ctx, struct pawl_str instance_id, struct pawl_str text)
{
    struct fixture *f = ctx;

    (void)instance_id;
    (void)text;
    f->lines++;
    if (f->on_line)
        f->on_line(f);
    f->on_line = NULL;
    return PAWL_OK;
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct pawl_error err = PAWL_ERROR_INIT;

    assert_non_null(f);
    assert_int_equal(test_clock_open(NULL, WALL, &f->clock), PAWL_OK);
    f->env = test_clock_env(f->clock);
    assert_ok(pawl__memory_database_new(f->env, &f->database, &err), &err);
    assert_ok(pawl__memory_store_open(f->database, f->env, &f->window, &err), &err);
    f->options = (struct stage_options){.database = f->database,
                                        .env = f->env,
                                        .yield_after = 1,
                                        .faults = {.decide = decide, .ctx = f},
                                        .hooks = {.line = line, .ctx = f}};
    stage_open(&f->a, &f->options);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    stage_close(&f->a);
    pawl_store_close(f->window);
    pawl__memory_database_free(f->database);
    test_clock_close(f->clock);
    free(f);
    return 0;
}

static struct pawl_instance_row row_of(struct fixture *f, const char *id)
{
    struct pawl_instance_row row = {0};

    assert_ok(pawl__runtime_show(f->a.runtime, pawl__str(id), &f->a.arena, &row, NULL,
                                 stage_later(&f->a), &f->a.err),
              &f->a.err);
    return row;
}

/* ---- time ---------------------------------------------------------------------------------- */

static void a_delay_of_months_or_years_is_kept(void **state)
{
    struct fixture *f = *state;

    stage_publish(&f->a, DEFINITION("days", "", DELAY("t", "60.00:00:00")));
    stage_publish(&f->a, DEFINITION("years", "", DELAY("t", "3650.00:00:00")));
    stage_start(&f->a, "days", "days");
    stage_start(&f->a, "years", "years");
    test_clock_advance(f->clock, 60 * DAY - SECOND);
    stage_drain(&f->a);
    assert_string_equal(stage_sub_status(&f->a, "days"), "Suspended");
    test_clock_advance(f->clock, 2 * SECOND);
    stage_drain(&f->a);
    assert_string_equal(stage_sub_status(&f->a, "days"), "Finished");
    test_clock_advance(f->clock, 3590 * DAY - 2 * SECOND);
    stage_drain(&f->a);
    assert_string_equal(stage_sub_status(&f->a, "years"), "Suspended");
    test_clock_advance(f->clock, 2 * SECOND);
    stage_drain(&f->a);
    assert_string_equal(stage_sub_status(&f->a, "years"), "Finished");
    assert_int_equal(stage_count(&f->a, PAWL_TABLE_WORK), 0);
}

static void a_start_ten_years_ahead_is_published_and_happens_once(void **state)
{
    struct fixture *f = *state;

    stage_publish(
        &f->a, DEFINITION("d", "",
                          "{'id':'t','type':'Elsa.StartAt','customProperties':{'canStartWorkflow':"
                          "true},'dateTime':" RIG_INPUT("DateTimeOffset", "Literal",
                                                        "'2036-01-01T00:00:00+00:00'") "}"));
    test_clock_advance(f->clock, 9 * YEAR);
    stage_drain(&f->a);
    assert_int_equal(stage_count(&f->a, PAWL_TABLE_INSTANCES), 0);
    test_clock_advance(f->clock, 2 * YEAR);
    stage_drain(&f->a);
    stage_drain(&f->a);
    assert_int_equal(stage_count(&f->a, PAWL_TABLE_INSTANCES), 1);
    assert_int_equal(stage_count(&f->a, PAWL_TABLE_WORK), 0);
}

/* ---- what cannot be stored ----------------------------------------------------------------- */

static void what_is_not_a_number_is_a_fault_that_is_saved(void **state)
{
    struct fixture *f = *state;

    stage_publish(
        &f->a, DEFINITION("d",
                          "'variables':[{'id':'v','name':'v','typeName':'Double','value':null,"
                          "'storageDriverTypeName':'WorkflowInstanceStorageDriver'}],",
                          "{'id':'set','type':'Elsa.SetVariable','variable':{'id':'v','name':'v'},"
                          "'value':" TEXT("NaN") "}"));
    stage_start(&f->a, "d", "nan");
    /* By a node that was not there. */
    stage_close(&f->a);
    stage_open(&f->a, &f->options);
    assert_string_equal(stage_sub_status(&f->a, "nan"), "Faulted");
    assert_int_equal(row_of(f, "nan").incident_count, 1);
    assert_int_equal(row_of(f, "nan").owner, 0);
}

static void a_payload_over_the_limit_is_refused_and_nothing_is_lost(void **state)
{
    struct fixture *f = *state;
    const size_t len = PAWL_INPUT_BYTES_MAX + 1;
    char *text = malloc(len);
    struct pawl_json payload;
    int status;

    assert_non_null(text);
    /* Nothing that compresses well. */
    for (size_t i = 0; i < len; i++)
        text[i] = (char)('a' + (i * i / 7 + i / 3) % 26);
    stage_publish(&f->a, COUNTING("d"));
    stage_start(&f->a, "d", "counts");
    payload = pawl__json_string(pawl__str_make(text, len));
    status = pawl__runtime_send_event(f->a.runtime, pawl__str("Go"), &payload, NULL, NULL,
                                      stage_later(&f->a), &f->a.err);
    assert_code(status, PAWL_ELIMIT);
    assert_non_null(strstr(f->a.err.msg, "limit"));
    free(text);
    assert_int_equal(stage_count(&f->a, PAWL_TABLE_WORK), 0);
    assert_ok(stage_send(&f->a, "Go", NULL, NULL), NULL);
    stage_drain(&f->a);
    assert_string_equal(stage_name(&f->a, "counts"), "1");
}

/* ---- cancelling, deleting ------------------------------------------------------------------ */

/* At every call: bookmarks of an instance that has ended would be seen by others. */
static void look_for_ended_with_bookmarks(struct fixture *f, enum pawl_store_call call)
{
    struct pawl_arena arena;
    struct pawl_rows instances = {0}, bookmarks = {0};
    const struct pawl_query all = {.table = PAWL_TABLE_INSTANCES},
                            marks = {.table = PAWL_TABLE_BOOKMARKS};
    const struct pawl_instance_row *row;

    (void)call;
    pawl__arena_init(&arena, &f->env->alloc, (size_t)1 << 20);
    if (pawl_store_find(f->window, &all, &arena, &instances, PAWL_FOREVER, NULL) == PAWL_OK &&
        pawl_store_find(f->window, &marks, &arena, &bookmarks, PAWL_FOREVER, NULL) == PAWL_OK) {
        row = instances.rows;
        f->broken +=
            instances.count == 1 && bookmarks.count > 0 && pawl__str_is(row->status, "Finished");
    } else {
        f->broken++;
    }
    pawl__arena_release(&arena);
}

static void cancelling_removes_bookmarks_and_timers_in_its_commit(void **state)
{
    struct fixture *f = *state;

    stage_publish(&f->a,
                  "{'definitionId':'d','id':'d:1','version':1,'name':'d','root':" RIG_PARALLEL(
                      "p", RIG_EVENT("e", "Go") "," RIG_EVENT("e2", "On") "," //
                      DELAY("t", "01:00:00")) "}");
    stage_start(&f->a, "d", "waits");
    assert_int_equal(stage_count(&f->a, PAWL_TABLE_BOOKMARKS), 3);
    f->before_call = look_for_ended_with_bookmarks;
    assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str("waits"), stage_later(&f->a), &f->a.err),
              &f->a.err);
    stage_drain(&f->a);
    f->before_call = NULL;
    assert_int_equal(f->broken, 0);
    assert_string_equal(stage_sub_status(&f->a, "waits"), "Cancelled");
    assert_int_equal(stage_count(&f->a, PAWL_TABLE_BOOKMARKS), 0);
    assert_int_equal(stage_count(&f->a, PAWL_TABLE_WORK), 0);
}

/* Node a stands still in the middle of a burst until its lease is over; b deletes. */
static void delete_elsewhere(struct fixture *f)
{
    f->no_lease = true;
    test_clock_advance(f->clock, 11 * SECOND);
    assert_ok(pawl__runtime_delete(f->b.runtime, pawl__str("busy"), stage_later(&f->b), &f->b.err),
              &f->b.err);
    f->no_lease = false;
}

static void an_instance_that_is_deleted_during_a_burst_does_not_come_back(void **state)
{
    struct fixture *f = *state;
    const struct stage_options other = {.database = f->database, .env = f->env, .node = "b"};
    const struct pawl_start what = {.definition_id = pawl__str("d"),
                                    .instance_id = pawl__str("busy")};
    struct pawl_outcome outcome;
    int status;

    stage_open(&f->b, &other);
    stage_publish(&f->a, DEFINITION("d", "",
                                    RIG_WRITE("w", "1") "," RIG_WRITE("w2", "2") "," //
                                    RIG_EVENT("e", "Go") "," RIG_WRITE("w3", "3")));
    f->on_line = delete_elsewhere;
    status = pawl__runtime_start(f->a.runtime, &what, &outcome, stage_later(&f->a), &f->a.err);
    assert_true(status != PAWL_OK);
    stage_drain(&f->a);
    stage_drain(&f->b);
    assert_int_equal(stage_count(&f->b, PAWL_TABLE_INSTANCES), 0);
    assert_int_equal(stage_count(&f->b, PAWL_TABLE_BOOKMARKS), 0);
    assert_int_equal(stage_count(&f->b, PAWL_TABLE_JOURNAL), 0);
    assert_int_equal(stage_count(&f->b, PAWL_TABLE_WORK), 0);
    stage_close(&f->b);
}

static void an_ended_instance_absorbs_stimuli_timers_and_recovery(void **state)
{
    struct fixture *f = *state;
    const struct pawl_stimulus to = {.instance_id = pawl__str("ends")};
    const struct pawl_run run = {.bookmark_id = pawl__str("nobody's")};
    struct pawl_outcome outcome;
    int64_t revision;

    stage_publish(&f->a,
                  "{'definitionId':'d','id':'d:1','version':1,'name':'d','root':" RIG_PARALLEL(
                      "p", RIG_EVENT("e", "Go") "," DELAY("t", "00:10:00")) "}");
    stage_start(&f->a, "d", "ends");
    /* Accepted while it lives, delivered when it has ended. */
    assert_ok(stage_send(&f->a, "Go", NULL, NULL), NULL);
    assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str("ends"), stage_later(&f->a), &f->a.err),
              &f->a.err);
    stage_drain(&f->a);
    revision = row_of(f, "ends").revision;
    for (int i = 0; i < 3; i++) {
        assert_ok(pawl__runtime_send_event(f->a.runtime, pawl__str("Go"), NULL, &to, NULL,
                                           stage_later(&f->a), &f->a.err),
                  &f->a.err);
        assert_ok(pawl__runtime_run(f->a.runtime, pawl__str("ends"), &run, &outcome,
                                    stage_later(&f->a), &f->a.err),
                  &f->a.err);
        test_clock_advance(f->clock, 6 * 60 * SECOND);
        stage_close(&f->a);
        stage_open(&f->a, &f->options);
        stage_drain(&f->a);
        assert_string_equal(stage_sub_status(&f->a, "ends"), "Cancelled");
    }
    assert_int_equal(stage_count(&f->a, PAWL_TABLE_BOOKMARKS), 0);
    /* Claims were given back; nothing of what it is has changed. */
    assert_true(row_of(f, "ends").revision >= revision);
    assert_int_equal(row_of(f, "ends").owner, 0);
    assert_int_equal(row_of(f, "ends").runnable, 0);
}

/* ---- definitions and ids ------------------------------------------------------------------- */

static void an_instance_whose_definition_was_deleted_is_kept_and_can_be_cancelled(void **state)
{
    struct fixture *f = *state;
    struct pawl_definitions *all = pawl__runtime_definitions(f->a.runtime);

    stage_publish(&f->a, COUNTING("d"));
    stage_start(&f->a, "d", "orphan");
    assert_ok(pawl__definitions_delete(all, pawl__str("d"), stage_later(&f->a), &f->a.err),
              &f->a.err);
    assert_ok(stage_send(&f->a, "Go", NULL, NULL), NULL);
    for (int i = 0; i < 5; i++) {
        test_clock_advance(f->clock, 60 * SECOND);
        stage_drain(&f->a);
    }
    /* It is set aside, and the event is not lost either: it waits for what an operator decides. */
    assert_string_equal(stage_sub_status(&f->a, "orphan"), "Suspended");
    assert_true(row_of(f, "orphan").retry_us == PAWL_TIME_NEVER);
    assert_int_equal(stage_count(&f->a, PAWL_TABLE_DEAD_LETTERS), 0);
    assert_int_equal(stage_count(&f->a, PAWL_TABLE_WORK), 1);
    assert_int_equal(row_of(f, "orphan").owner, 0);
    assert_ok(
        pawl__runtime_delete(f->a.runtime, pawl__str("orphan"), stage_later(&f->a), &f->a.err),
        &f->a.err);
    assert_string_equal(stage_sub_status(&f->a, "orphan"), "gone");
}

static void what_is_not_published_is_not_started(void **state)
{
    struct fixture *f = *state;
    struct pawl_definitions *all = pawl__runtime_definitions(f->a.runtime);
    struct pawl_json draft = stage_json(&f->a, DEFINITION("draft", "", RIG_WRITE("w", "never")));
    static const char *const ids[] = {"draft", "unknown"};
    struct pawl_outcome outcome;

    assert_ok(
        pawl__definitions_import(all, &draft, &f->a.arena, NULL, stage_later(&f->a), &f->a.err),
        &f->a.err);
    for (size_t i = 0; i < 2; i++) {
        const struct pawl_start what = {.definition_id = pawl__str(ids[i])};

        assert_code(
            pawl__runtime_start(f->a.runtime, &what, &outcome, stage_later(&f->a), &f->a.err),
            PAWL_ENOTFOUND);
        assert_non_null(strstr(f->a.err.msg, ids[i]));
    }
    stage_drain(&f->a);
    assert_int_equal(stage_count(&f->a, PAWL_TABLE_INSTANCES), 0);
    assert_int_equal(f->lines, 0);
}

static void an_instance_id_runs_once(void **state)
{
    struct fixture *f = *state;
    const struct pawl_start what = {.definition_id = pawl__str("d"),
                                    .instance_id = pawl__str("once")};
    struct pawl_outcome outcome;

    stage_publish(&f->a, DEFINITION("d", "", RIG_WRITE("w", "ran")));
    stage_start(&f->a, "d", "once");
    assert_code(pawl__runtime_start(f->a.runtime, &what, &outcome, stage_later(&f->a), &f->a.err),
                PAWL_EEXISTS);
    assert_code(pawl__runtime_create(f->a.runtime, &what, &outcome, stage_later(&f->a), &f->a.err),
                PAWL_EEXISTS);
    stage_drain(&f->a);
    assert_int_equal(f->lines, 1);
    assert_int_equal(stage_count(&f->a, PAWL_TABLE_INSTANCES), 1);
}

/* ---- restarts ------------------------------------------------------------------------------ */

static void restarts_leave_nothing_behind(void **state)
{
    const unsigned count = stage_size(200, 10000);
    struct fixture *f = *state;
    struct stage_options options = f->options;
    char node[32];

    stage_publish(&f->a, COUNTING("d"));
    stage_start(&f->a, "d", "counts");
    for (unsigned i = 0; i < count; i++) {
        stage_close(&f->a);
        stage_open(&f->a, &options);
        stage_drain(&f->a);
    }
    assert_int_equal(stage_count(&f->a, PAWL_TABLE_NODES), 1);
    /* Under a new name each time: the old ones are forgotten after a day. */
    for (unsigned i = 0; i < count; i++) {
        stage_close(&f->a);
        test_clock_advance(f->clock, 3600 * SECOND);
        (void)snprintf(node, sizeof node, "node-%u", i);
        options.node = node;
        stage_open(&f->a, &options);
        stage_drain(&f->a);
        assert_in_range(stage_count(&f->a, PAWL_TABLE_NODES), 1, 26);
    }
    assert_int_equal(stage_count(&f->a, PAWL_TABLE_WORK), 0);
    assert_int_equal(stage_count(&f->a, PAWL_TABLE_BOOKMARKS), 1);
    assert_int_equal(stage_count(&f->a, PAWL_TABLE_RESERVATIONS), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_delay_of_months_or_years_is_kept),
        TEST(a_start_ten_years_ahead_is_published_and_happens_once),
        TEST(what_is_not_a_number_is_a_fault_that_is_saved),
        TEST(a_payload_over_the_limit_is_refused_and_nothing_is_lost),
        TEST(cancelling_removes_bookmarks_and_timers_in_its_commit),
        TEST(an_instance_that_is_deleted_during_a_burst_does_not_come_back),
        TEST(an_ended_instance_absorbs_stimuli_timers_and_recovery),
        TEST(an_instance_whose_definition_was_deleted_is_kept_and_can_be_cancelled),
        TEST(what_is_not_published_is_not_started),
        TEST(an_instance_id_runs_once),
        TEST(restarts_leave_nothing_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
