/* SPDX-License-Identifier: Apache-2.0 */
/* What operators do: exporting, dead letters, reports of tasks. On the memory store. */
#include "runtime/places.h"

#include "base/error.h"

#define TEXT(value) RIG_INPUT("String", "Literal", "'" value "'")
#define TASK(id, name) "{'id':'" id "','type':'Elsa.RunTask','taskName':" TEXT(name) "}"
#define DELAY(id, span)                                                                            \
    "{'id':'" id                                                                                   \
    "','type':'Elsa.Delay','timeSpan':" RIG_INPUT("TimeSpan", "Literal", "'" span "'") "}"
#define DEFINITION(id, activities)                                                                 \
    "{'definitionId':'" id "','id':'" id ":1','version':1,'name':'" id                             \
    "','root':" RIG_SEQUENCE("seq", activities) "}"

static struct pawl_str start(struct fixture *f, const char *definition_id)
{
    const struct pawl_start what = {.definition_id = pawl__str(definition_id)};
    struct pawl_outcome outcome;

    assert_ok(pawl__runtime_start(f->here.runtime, &what, &outcome, later(f), &f->err), &f->err);
    return pawl__arena_str(&f->arena, pawl__str(outcome.instance_id));
}

static struct pawl_rows all(struct fixture *f, enum pawl_table table)
{
    const struct pawl_query query = {.table = table, .flags = PAWL_QUERY_TOTAL};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->here.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    return rows;
}

/* ---- exporting ----------------------------------------------------------------------------- */

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

/* A store whose instances change between any two looks, with a long journal. */
static struct {
    struct pawl_store_ops ops;
    const struct pawl_store_ops *real;
    int changes;
} restless;

static int find_changed(struct pawl_store *store, const struct pawl_query *query,
                        struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                        struct pawl_error *err)
{
    int status = restless.real->find(store, query, arena, out, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    if (query->table == PAWL_TABLE_JOURNAL && !pawl__arena_alloc(arena, (size_t)200 << 10))
        return pawl__error_code(err, pawl__arena_status(arena));
    if (query->table == PAWL_TABLE_INSTANCES && out->count > 0) {
        struct pawl_instance_row *row = pawl__arena_alloc(arena, sizeof *row);

        assert_non_null(row);
        *row = *(const struct pawl_instance_row *)out->rows;
        row->revision += ++restless.changes;
        out->rows = row;
    }
    return PAWL_OK;
}

static void attempts_of_an_export_do_not_add_up(void **state)
{
    struct fixture *f = *state;
    struct pawl_arena arena;
    struct pawl_json value;
    struct pawl_str id, before;

    publish(f, &f->here, DEFINITION("d", RIG_EVENT("e", "go")));
    id = start(f, "d");
    restless.real = f->here.store->ops;
    restless.ops = *restless.real;
    restless.ops.find = find_changed;
    f->here.store->ops = &restless.ops;
    pawl__arena_init(&arena, &f->env->alloc, (size_t)1 << 20);
    before = pawl__arena_str(&arena, pawl__str("kept"));
    assert_code(pawl__runtime_export(f->here.runtime, id, &arena, &value, later(f), &f->err),
                PAWL_EBUSY);
    assert_non_null(strstr(f->err.msg, "changes all the time"));
    assert_str(before, "kept");
    assert_true(restless.changes > 2);
    pawl__arena_release(&arena);
    f->here.store->ops = restless.real;
}

static void an_export_that_is_too_large_says_whether_its_history_is(void **state)
{
    struct fixture *f = *state;
    struct pawl_arena arena;
    struct pawl_json value;
    struct pawl_str id;

    publish(f, &f->here, DEFINITION("d", RIG_EVENT("e", "go")));
    id = start(f, "d");
    restless.real = f->here.store->ops;
    restless.ops = *restless.real;
    restless.ops.find = find_changed; /* with a large journal */
    f->here.store->ops = &restless.ops;
    for (int i = 0; i < 2; i++) {
        pawl__arena_init(&arena, &f->env->alloc, i == 0 ? 512 : (size_t)150 << 10);
        assert_code(pawl__runtime_export(f->here.runtime, id, &arena, &value, later(f), &f->err),
                    PAWL_ELIMIT);
        assert_non_null(
            strstr(f->err.msg, i == 0 ? "even without its history" : "leave out its log"));
        pawl__arena_release(&arena);
    }
    f->here.store->ops = restless.real;
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
    assert_ok(pawl__runtime_replay(f->here.runtime, id, NULL, later(f), &f->err), &f->err);
    assert_code(pawl__runtime_replay(f->here.runtime, id, NULL, later(f), &f->err), PAWL_ECONFLICT);
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

    assert_ok(pawl__runtime_replay(f->here.runtime, id, NULL, later(f), &f->err), &f->err);
    assert_ok(pawl_store_apply(f->here.store, commits, 1, later(f), &f->err), &f->err);
    assert_code(pawl__runtime_replay(f->here.runtime, id, NULL, later(f), &f->err), PAWL_ECONFLICT);
    assert_non_null(strstr(f->err.msg, "somebody else"));
    assert_int_equal(all(f, PAWL_TABLE_WORK).total, 1);

    /* Nor does removing it open the door again. */
    assert_ok(pawl__runtime_drop_letter(f->here.runtime, id, later(f), &f->err), &f->err);
    assert_int_equal(all(f, PAWL_TABLE_DEAD_LETTERS).total, 0);
    commit.status = PAWL_OK;
    assert_ok(pawl_store_apply(f->here.store, commits, 1, later(f), &f->err), &f->err);
    assert_code(pawl__runtime_replay(f->here.runtime, id, NULL, later(f), &f->err), PAWL_ECONFLICT);
}

static void who_has_read_a_letter_does_not_replay_it_once_it_was_removed(void **state)
{
    struct fixture *f = *state;
    struct pawl_str id = make_letter(f);
    const struct pawl_dead_letter_row letter =
        *(const struct pawl_dead_letter_row *)all(f, PAWL_TABLE_DEAD_LETTERS).rows;
    const struct pawl_change again = {PAWL_CHANGE_PUT, PAWL_TABLE_DEAD_LETTERS, &letter};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN, .changes = &again, .change_count = 1};
    struct pawl_commit *const commits[] = {&commit};

    assert_ok(pawl__runtime_drop_letter(f->here.runtime, id, later(f), &f->err), &f->err);
    assert_ok(pawl_store_apply(f->here.store, commits, 1, later(f), &f->err), &f->err);
    assert_code(pawl__runtime_replay(f->here.runtime, id, NULL, later(f), &f->err), PAWL_ECONFLICT);
    assert_int_equal(all(f, PAWL_TABLE_WORK).total, 0);
}

static void a_letter_that_is_not_there_is_refused(void **state)
{
    struct fixture *f = *state;

    assert_code(pawl__runtime_replay(f->here.runtime, pawl__str("x"), NULL, later(f), &f->err),
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
    assert_code(pawl__runtime_replay(f->here.runtime, letter.id, NULL, later(f), &f->err),
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
    assert_code(pawl__runtime_report_task(f->here.runtime, pawl__str("other"), &result, false,
                                          &sent, later(f), &f->err),
                PAWL_ENOTFOUND);
    assert_ok(
        pawl__runtime_report_task(f->here.runtime, task, &result, false, &sent, later(f), &f->err),
        &f->err);
    assert_int_equal(sent.resumed, 1);
    drain(f, &f->here);
    assert_string_equal(f->lines, "done\n");
    assert_str(sub_status(f, &f->here, id), "Finished");
    assert_code(
        pawl__runtime_report_task(f->here.runtime, task, NULL, false, &sent, later(f), &f->err),
        PAWL_ECONFLICT);
    /* Again: nothing happens, and it returns what the first did. */
    assert_ok(
        pawl__runtime_report_task(f->here.runtime, task, &result, false, &sent, later(f), &f->err),
        &f->err);
    assert_int_equal(sent.resumed, 1);
    assert_false(sent.parked);
    drain(f, &f->here);
    assert_string_equal(f->lines, "done\n");
    assert_int_equal(all(f, PAWL_TABLE_WORK).count, 0);
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
        cmocka_unit_test_setup_teardown(attempts_of_an_export_do_not_add_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_export_that_is_too_large_says_whether_its_history_is,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_replayed_letter_acts_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(of_two_replays_at_once_one_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            who_has_read_a_letter_does_not_replay_it_once_it_was_removed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_letter_that_is_not_there_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mail_of_an_instance_that_is_gone_is_not_replayed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_report_ends_the_task, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("runtime/operations", tests, NULL, NULL);
}
