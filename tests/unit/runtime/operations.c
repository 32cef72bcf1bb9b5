/* SPDX-License-Identifier: Apache-2.0 */
/* What operators do: exporting, dead letters, reports of tasks. On the memory store. */
#include "runtime/runtime.h"

#include "activities/activities.h"
#include "expressions/expressions.h"
#include "lib/clock.h"
#include "lib/rig.h"
#include "stores/stores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
#define WALL (INT64_C(1767323045) * SECOND) /* 2026-01-02T03:04:05Z */

#define TEXT(value) RIG_INPUT("String", "Literal", "'" value "'")
#define TASK(id, name) "{'id':'" id "','type':'Elsa.RunTask','taskName':" TEXT(name) "}"
#define DELAY(id, span)                                                                            \
    "{'id':'" id                                                                                   \
    "','type':'Elsa.Delay','timeSpan':" RIG_INPUT("TimeSpan", "Literal", "'" span "'") "}"
#define DEFINITION(id, activities)                                                                 \
    "{'definitionId':'" id "','id':'" id ":1','version':1,'name':'" id                             \
    "','root':" RIG_SEQUENCE("seq", activities) "}"

/* A database with one node on it. */
struct place {
    struct pawl_memory_database *database;
    struct pawl_store *store;
    struct pawl_runtime *runtime;
};

struct fixture {
    struct test_clock *clock;
    struct pawl_env *env;
    struct pawl_engine engine;
    struct place here, there;
    struct pawl_arena arena;
    struct pawl_error err;
    char lines[4096];
};

static void on_line(void *ctx, struct pawl_str instance_id, struct pawl_str text)
{
    struct fixture *f = ctx;
    size_t len = strlen(f->lines);

    (void)instance_id;
    snprintf(f->lines + len, sizeof f->lines - len, "%.*s\n", PAWL_STR_ARG(text));
}

static int64_t later(struct fixture *f)
{
    return pawl_env_monotonic_ns(f->env) + 60 * SECOND;
}

static void place_open(struct fixture *f, struct place *place)
{
    struct pawl_runtime_options options = {.node_id = pawl__str("a"),
                                           .hooks = {.line = on_line, .ctx = f}};

    assert_ok(pawl__memory_database_new(f->env, &place->database, &f->err), &f->err);
    assert_ok(pawl__memory_store_open(place->database, f->env, &place->store, &f->err), &f->err);
    assert_ok(
        pawl__runtime_open(f->env, &f->engine, place->store, &options, &place->runtime, &f->err),
        &f->err);
}

static void place_close(struct place *place)
{
    pawl__runtime_close(place->runtime);
    pawl_store_close(place->store);
    pawl__memory_database_free(place->database);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    assert_int_equal(test_clock_open(NULL, WALL, &f->clock), PAWL_OK);
    f->env = test_clock_env(f->clock);
    pawl__arena_init(&f->arena, &f->env->alloc, (size_t)64 << 20);
    pawl__engine_init(&f->engine, &f->env->alloc, (struct pawl_hash_seed){1, 2});
    assert_int_equal(pawl__activities_register(&f->engine), PAWL_OK);
    assert_int_equal(pawl__expressions_register(&f->engine), PAWL_OK);
    place_open(f, &f->here);
    place_open(f, &f->there);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    place_close(&f->there);
    place_close(&f->here);
    pawl__engine_release(&f->engine);
    pawl__arena_release(&f->arena);
    test_clock_close(f->clock);
    free(f);
    return 0;
}

/* ---- what all of them do ------------------------------------------------------------------- */

/* JSON written with ' in place of ". */
static struct pawl_json json(struct fixture *f, const char *text)
{
    struct pawl_str copy = pawl__arena_str(&f->arena, pawl__str(text));
    struct pawl_json value;

    for (size_t i = 0; i < copy.len; i++) {
        if (copy.ptr[i] == '\'')
            ((char *)(uintptr_t)copy.ptr)[i] = '"';
    }
    assert_ok(pawl__json_parse(&f->arena, copy, NULL, &value, NULL, &f->err), &f->err);
    return value;
}

static void publish(struct fixture *f, struct place *place, const char *text)
{
    struct pawl_definitions *definitions = pawl__runtime_definitions(place->runtime);
    struct pawl_json definition = json(f, text);
    struct pawl_publication said;
    struct pawl_definition_row row;

    assert_ok(
        pawl__definitions_import(definitions, &definition, &f->arena, &row, later(f), &f->err),
        &f->err);
    assert_ok(pawl__definitions_publish(definitions, row.id, &f->arena, &said, later(f), &f->err),
              &f->err);
    assert_true(said.succeeded);
}

static struct pawl_str start(struct fixture *f, const char *definition_id)
{
    const struct pawl_start what = {.definition_id = pawl__str(definition_id)};
    struct pawl_outcome outcome;

    assert_ok(pawl__runtime_start(f->here.runtime, &what, &outcome, later(f), &f->err), &f->err);
    return pawl__arena_str(&f->arena, pawl__str(outcome.instance_id));
}

static void drain(struct fixture *f, struct place *place)
{
    struct pawl_worked worked;

    assert_ok(pawl__runtime_drain(place->runtime, &worked, later(f), &f->err), &f->err);
}

static struct pawl_sent send(struct fixture *f, struct place *place, const char *event)
{
    struct pawl_sent sent;

    assert_ok(pawl__runtime_send_event(place->runtime, pawl__str(event), NULL, NULL, &sent,
                                       later(f), &f->err),
              &f->err);
    return sent;
}

static struct pawl_rows all(struct fixture *f, enum pawl_table table)
{
    const struct pawl_query query = {.table = table, .flags = PAWL_QUERY_TOTAL};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->here.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    return rows;
}

static struct pawl_str sub_status(struct fixture *f, struct place *place, struct pawl_str id)
{
    struct pawl_instance_row row;

    assert_ok(pawl__runtime_show(place->runtime, id, &f->arena, &row, NULL, later(f), &f->err),
              &f->err);
    return row.sub_status;
}

/* ---- exporting ----------------------------------------------------------------------------- */

static struct pawl_json exported(struct fixture *f, struct place *place, struct pawl_str id)
{
    struct pawl_json out;

    assert_ok(pawl__runtime_export(place->runtime, id, &f->arena, &out, later(f), &f->err),
              &f->err);
    return out;
}

/* As a file has it. */
static struct pawl_str text_of(struct fixture *f, const struct pawl_json *value)
{
    struct pawl_str text;
    struct pawl_buf buf;

    pawl__buf_init(&buf, &f->env->alloc, (size_t)1 << 20);
    pawl__json_write(&buf, value, PAWL_JSON_ESCAPE_MINIMAL);
    assert_int_equal(buf.status, PAWL_OK);
    text = pawl__arena_str(&f->arena, pawl__buf_peek(&buf));
    pawl__buf_release(&buf);
    return text;
}

static void take_over(struct fixture *f, struct place *place, struct pawl_str text)
{
    struct pawl_json value;

    assert_ok(pawl__json_parse(&f->arena, text, NULL, &value, NULL, &f->err), &f->err);
    assert_ok(pawl__runtime_import(place->runtime, &value, NULL, later(f), &f->err), &f->err);
}

static void an_export_goes_on_in_another_store(void **state)
{
    static const char definition[] =
        DEFINITION("d", RIG_WRITE("w1", "one") "," RIG_EVENT("e", "go") "," RIG_WRITE(
                            "w2", "two") "," DELAY("t", "00:01:00") "," RIG_WRITE("w3", "three"));
    struct fixture *f = *state;
    struct pawl_json first, second;
    struct pawl_str id;

    publish(f, &f->here, definition);
    publish(f, &f->there, definition);
    id = start(f, "d");
    drain(f, &f->here);
    first = exported(f, &f->here, id);
    take_over(f, &f->there, text_of(f, &first));
    assert_int_equal(send(f, &f->there, "go").resumed, 1);
    drain(f, &f->there);
    assert_string_equal(f->lines, "one\ntwo\n");
    assert_str(sub_status(f, &f->here, id), "Suspended");

    /* And back, with its timer. */
    second = exported(f, &f->there, id);
    assert_ok(pawl__runtime_delete(f->here.runtime, id, later(f), &f->err), &f->err);
    take_over(f, &f->here, text_of(f, &second));
    test_clock_advance(f->clock, 61 * SECOND);
    drain(f, &f->here);
    assert_string_equal(f->lines, "one\ntwo\nthree\n");
    assert_str(sub_status(f, &f->here, id), "Finished");
}

static void an_export_of_an_import_is_the_same_text(void **state)
{
    static const char definition[] =
        DEFINITION("d", RIG_WRITE("w1", "one") "," RIG_EVENT("e", "go"));
    struct fixture *f = *state;
    struct pawl_json value, again;
    struct pawl_str id;

    publish(f, &f->here, definition);
    publish(f, &f->there, definition);
    id = start(f, "d");
    value = exported(f, &f->here, id);
    take_over(f, &f->there, text_of(f, &value));
    again = exported(f, &f->there, id);
    assert_str(text_of(f, &again), text_of(f, &value).ptr);
}

static void an_export_has_elsas_members_alone(void **state)
{
    struct fixture *f = *state;
    const struct pawl_json *bookmark;
    struct pawl_json value;
    struct pawl_str id;

    publish(f, &f->here, DEFINITION("d", RIG_EVENT("e", "go")));
    id = start(f, "d");
    value = exported(f, &f->here, id);
    assert_int_equal(pawl__json_len(&value), 4);
    assert_int_equal(pawl__json_len(pawl__json_get_text(&value, "WorkflowExecutionLogRecords")), 4);
    assert_int_equal(pawl__json_len(pawl__json_get_text(&value, "ActivityExecutionRecords")), 3);
    assert_null(pawl__json_find(&value, pawl__str("/WorkflowState/pawl")));
    assert_null(
        pawl__json_find(&value, pawl__str("/WorkflowState/activityExecutionContexts/0/pawl")));
    bookmark = pawl__json_find(&value, pawl__str("/Bookmarks/0"));
    assert_str(pawl__json_str(pawl__json_get_text(bookmark, "activityTypeName")), "Elsa.Event");
    assert_true(
        pawl__str_equal(pawl__json_str(pawl__json_get_text(bookmark, "workflowInstanceId")), id));
    assert_str(pawl__json_str(pawl__json_find(bookmark, pawl__str("/payload/eventName"))), "go");
    assert_true(pawl__json_is(pawl__json_get_text(bookmark, "correlationId"), PAWL_JSON_NULL));
}

static void an_instance_in_the_middle_of_a_burst_is_not_exported(void **state)
{
    struct fixture *f = *state;
    const struct pawl_start what = {.definition_id = pawl__str("d"), .instance_id = pawl__str("i")};
    struct pawl_outcome outcome;
    struct pawl_json value;

    publish(f, &f->here, DEFINITION("d", RIG_WRITE("w", "one")));
    assert_ok(pawl__runtime_create(f->here.runtime, &what, &outcome, later(f), &f->err), &f->err);
    assert_code(
        pawl__runtime_export(f->here.runtime, pawl__str("i"), &f->arena, &value, later(f), &f->err),
        PAWL_EBUSY);
    drain(f, &f->here);
    (void)exported(f, &f->here, pawl__str("i"));
    assert_code(pawl__runtime_export(f->here.runtime, pawl__str("nix"), &f->arena, &value, later(f),
                                     &f->err),
                PAWL_ENOTFOUND);
}

/* The store keeps its own allocator: only what the call itself needs is refused. */
static int sweep_export(struct test_allocator *alloc, void *arg)
{
    struct fixture *f = arg;
    struct pawl_arena arena;
    struct pawl_json value;
    int status;

    pawl__arena_init(&arena, &alloc->base, (size_t)1 << 20);
    status = pawl__runtime_export(f->here.runtime, pawl__str("i"), &arena, &value, later(f), NULL);
    pawl__arena_release(&arena);
    return status;
}

static void an_export_without_memory_says_so(void **state)
{
    struct fixture *f = *state;
    const struct pawl_start what = {.definition_id = pawl__str("d"), .instance_id = pawl__str("i")};
    struct pawl_outcome outcome;

    publish(f, &f->here, DEFINITION("d", RIG_EVENT("e", "go")));
    assert_ok(pawl__runtime_start(f->here.runtime, &what, &outcome, later(f), &f->err), &f->err);
    test_sweep_allocations(sweep_export, f, 1000);
}

/* ---- dead letters -------------------------------------------------------------------------- */

/* An event that nobody waited for in time. */
static struct pawl_str make_letter(struct fixture *f)
{
    struct pawl_rows rows;

    assert_true(send(f, &f->here, "go").parked);
    test_clock_advance(f->clock, 601 * SECOND);
    drain(f, &f->here);
    rows = all(f, PAWL_TABLE_DEAD_LETTERS);
    assert_int_equal(rows.total, 1);
    return ((const struct pawl_dead_letter_row *)rows.rows)->id;
}

static void a_replayed_letter_acts_once(void **state)
{
    struct fixture *f = *state;
    const struct pawl_dead_letter_row *letter;
    struct pawl_str id, work;

    id = make_letter(f);
    publish(
        f, &f->here,
        DEFINITION("d", RIG_EVENT("e", "go") "," RIG_WRITE("w", "went") "," RIG_EVENT("e2", "go")));
    (void)start(f, "d");
    assert_ok(pawl__runtime_replay(f->here.runtime, id, later(f), &f->err), &f->err);
    assert_code(pawl__runtime_replay(f->here.runtime, id, later(f), &f->err), PAWL_ECONFLICT);
    assert_non_null(strstr(f->err.msg, "was replayed already"));
    assert_int_equal(all(f, PAWL_TABLE_WORK).total, 1);
    letter = all(f, PAWL_TABLE_DEAD_LETTERS).rows;
    assert_true(letter->replayed_us > 0);
    work = ((const struct pawl_work_row *)all(f, PAWL_TABLE_WORK).rows)->id;
    assert_true(pawl__str_equal(letter->replayed_id, work));
    drain(f, &f->here);
    assert_string_equal(f->lines, "went\n");
    assert_int_equal(all(f, PAWL_TABLE_WORK).total, 0);
}

/* As two processes would that both have read the letter. */
static void of_two_replays_at_once_one_is_refused(void **state)
{
    struct fixture *f = *state;
    struct pawl_str id = make_letter(f);
    struct pawl_dead_letter_row letter =
        *(const struct pawl_dead_letter_row *)all(f, PAWL_TABLE_DEAD_LETTERS).rows;
    const struct pawl_change unmark = {PAWL_CHANGE_PUT, PAWL_TABLE_DEAD_LETTERS, &letter};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN, .changes = &unmark, .change_count = 1};
    struct pawl_commit *const commits[] = {&commit};

    assert_ok(pawl__runtime_replay(f->here.runtime, id, later(f), &f->err), &f->err);
    assert_ok(pawl_store_apply(f->here.store, commits, 1, later(f), &f->err), &f->err);
    assert_code(pawl__runtime_replay(f->here.runtime, id, later(f), &f->err), PAWL_ECONFLICT);
    assert_non_null(strstr(f->err.msg, "somebody else"));
    assert_int_equal(all(f, PAWL_TABLE_WORK).total, 1);

    /* Nor does removing it open the door again. */
    assert_ok(pawl__runtime_drop_letter(f->here.runtime, id, later(f), &f->err), &f->err);
    assert_int_equal(all(f, PAWL_TABLE_DEAD_LETTERS).total, 0);
    commit.status = PAWL_OK;
    assert_ok(pawl_store_apply(f->here.store, commits, 1, later(f), &f->err), &f->err);
    assert_code(pawl__runtime_replay(f->here.runtime, id, later(f), &f->err), PAWL_ECONFLICT);
}

static void a_letter_that_is_not_there_is_refused(void **state)
{
    struct fixture *f = *state;

    assert_code(pawl__runtime_replay(f->here.runtime, pawl__str("x"), later(f), &f->err),
                PAWL_ENOTFOUND);
    assert_code(pawl__runtime_drop_letter(f->here.runtime, pawl__str("x"), later(f), &f->err),
                PAWL_ENOTFOUND);
}

static void mail_of_an_instance_that_is_gone_is_not_replayed(void **state)
{
    struct fixture *f = *state;
    const struct pawl_dead_letter_row letter = {.id = pawl__str("l"),
                                                .work_id = pawl__str("l"),
                                                .kind = pawl__str(PAWL_WORK_RESUME),
                                                .instance_id = pawl__str("gone"),
                                                .can_replay = 1};
    const struct pawl_change put = {PAWL_CHANGE_PUT, PAWL_TABLE_DEAD_LETTERS, &letter};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN, .changes = &put, .change_count = 1};
    struct pawl_commit *const commits[] = {&commit};

    assert_ok(pawl_store_apply(f->here.store, commits, 1, later(f), &f->err), &f->err);
    assert_code(pawl__runtime_replay(f->here.runtime, letter.id, later(f), &f->err),
                PAWL_ECONFLICT);
    assert_non_null(strstr(f->err.msg, "which is gone"));
    assert_int_equal(all(f, PAWL_TABLE_WORK).total, 0);
}

/* ---- tasks --------------------------------------------------------------------------------- */

static void a_report_ends_the_task(void **state)
{
    struct fixture *f = *state;
    const struct pawl_bookmark_row *bookmark;
    struct pawl_json payload, result = pawl__json_int(7);
    struct pawl_str id, task;
    struct pawl_sent sent;

    publish(f, &f->here, DEFINITION("d", TASK("t", "Do it") "," RIG_WRITE("w", "done")));
    id = start(f, "d");
    drain(f, &f->here);
    bookmark = all(f, PAWL_TABLE_BOOKMARKS).rows;
    assert_ok(pawl__json_parse(&f->arena, bookmark->payload, NULL, &payload, NULL, &f->err),
              &f->err);
    task = pawl__json_str(pawl__json_get_text(&payload, "taskId"));
    assert_code(pawl__runtime_report_task(f->here.runtime, pawl__str("other"), &result, &sent,
                                          later(f), &f->err),
                PAWL_ENOTFOUND);
    assert_ok(pawl__runtime_report_task(f->here.runtime, task, &result, &sent, later(f), &f->err),
              &f->err);
    assert_int_equal(sent.resumed, 1);
    drain(f, &f->here);
    assert_string_equal(f->lines, "done\n");
    assert_str(sub_status(f, &f->here, id), "Finished");
    assert_code(pawl__runtime_report_task(f->here.runtime, task, NULL, NULL, later(f), &f->err),
                PAWL_ENOTFOUND);
    assert_non_null(strstr(f->err.msg, "was reported before"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_export_goes_on_in_another_store, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_export_of_an_import_is_the_same_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_export_has_elsas_members_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_instance_in_the_middle_of_a_burst_is_not_exported,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_export_without_memory_says_so, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_replayed_letter_acts_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(of_two_replays_at_once_one_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_letter_that_is_not_there_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mail_of_an_instance_that_is_gone_is_not_replayed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_report_ends_the_task, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("runtime/operations", tests, NULL, NULL);
}
