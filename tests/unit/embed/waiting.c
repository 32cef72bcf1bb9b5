/* SPDX-License-Identifier: Apache-2.0 */
/* The public API on what waits: lists of tasks and timers, why, dead letters, retention. */
#include "embed/fixture.h"

struct waiting {
    struct fixture *f;
    int count;
    char text[256]; /* of the last */
    char id[64], expected[320];
};

static int on_open_task(void *ctx, const struct pawl_task_info *task)
{
    struct waiting *told = ctx;

    told->count++;
    assert_string_equal(task->id, told->f->task_id);
    snprintf(told->text, sizeof told->text, "%s %s %s %s", task->name, task->instance_id,
             task->definition_id, task->activity_id);
    assert_non_null(strstr(task->payload, "\"n\":1"));
    assert_true(task->since_us > 0);
    return 0;
}

static void open_tasks_are_listed(void **state)
{
    struct pawl_task_filter filter = {.instance_id = "nix"};
    struct pawl_list_end end;
    struct fixture f;
    struct waiting told = {.f = &f};
    char expected[256];

    (void)state;
    open_fixture(&f);
    publish(&f, DEFINITION("d", TASK("t", "paint")));
    snprintf(expected, sizeof expected, "paint %s d t", start(&f, "d").instance_id);
    assert_ok(pawl_tasks_list(f.pawl, NULL, on_open_task, &told, &end, &f.err), &f.err);
    assert_int_equal(told.count, 1);
    assert_string_equal(told.text, expected);
    assert_int_equal(end.total, 1);
    assert_null(end.next);
    assert_ok(pawl_tasks_list(f.pawl, &filter, on_open_task, &told, &end, &f.err), &f.err);
    assert_int_equal(told.count, 1);
    assert_int_equal(end.total, 0);
    assert_ok(pawl_tasks_list(f.pawl, NULL, NULL, NULL, &end, &f.err), &f.err);
    assert_int_equal(end.total, 1);
    filter.after = "nowhere";
    assert_code(pawl_tasks_list(f.pawl, &filter, on_open_task, &told, &end, &f.err), PAWL_EINVAL);
    pawl_close(f.pawl);
}

static int on_timer(void *ctx, const struct pawl_timer_info *timer)
{
    struct waiting *told = ctx;

    told->count++;
    snprintf(told->text, sizeof told->text, "%s %s %s %d", timer->definition_id,
             timer->activity_type, timer->activity_id, timer->is_overdue);
    assert_string_equal(timer->trigger_id, "");
    return 0;
}

static void timers_are_listed(void **state)
{
    struct pawl_timer_filter overdue = {.is_overdue = 1};
    struct fixture f;
    struct waiting told = {.f = &f};

    (void)state;
    open_fixture(&f);
    publish(&f, DEFINITION("d", "{'id':'w','type':'Elsa.Delay','timeSpan':" RIG_INPUT(
                                    "TimeSpan", "Literal", "'01:00:00'") "}"));
    (void)start(&f, "d");
    assert_ok(pawl_timers_list(f.pawl, NULL, on_timer, &told, NULL, &f.err), &f.err);
    assert_int_equal(told.count, 1);
    assert_string_equal(told.text, "d Elsa.Delay w 0");
    assert_ok(pawl_timers_list(f.pawl, &overdue, on_timer, &told, NULL, &f.err), &f.err);
    assert_int_equal(told.count, 1);
    pawl_close(f.pawl);
}

static void why_an_instance_waits_is_told(void **state)
{
    struct pawl_instance_outcome outcome;
    struct fixture f;
    char *json = NULL;

    (void)state;
    open_fixture(&f);
    publish(&f, DEFINITION("d", TASK("t", "paint")));
    outcome = start(&f, "d");
    assert_ok(pawl_instance_why(f.pawl, outcome.instance_id, &json, &f.err), &f.err);
    assert_non_null(
        strstr(json, "\"summary\":\"it waits for the task 'paint' to be done and reported\""));
    assert_non_null(strstr(json, f.task_id));
    pawl_text_free(f.pawl, json);
    assert_code(pawl_instance_why(f.pawl, "nix", &json, &f.err), PAWL_ENOTFOUND);
    assert_code(pawl_instance_why(f.pawl, outcome.instance_id, NULL, &f.err), PAWL_EINVAL);
    pawl_close(f.pawl);
}

static int on_letter(void *ctx, const struct pawl_letter_info *letter)
{
    struct waiting *told = ctx;

    told->count++;
    snprintf(told->text, sizeof told->text, "%s", letter->id);
    assert_string_equal(letter->kind, "stimulus");
    assert_string_equal(letter->reason, "Expired");
    assert_int_equal(letter->can_replay, letter->replayed_us == 0);
    return 0;
}

/* Three events that nobody waits for, each for a moment. */
static void letters_are_listed_replayed_and_deleted(void **state)
{
    static const char *const settings[] = {"stimulus.ttl=1s"};
    const struct pawl_letter_filter open = {.is_open = 1}, one = {.limit = 1}, all = {.all = 1};
    struct pawl_work_done work = {0, 0, 0};
    uint64_t count = 7;
    struct pawl_list_end end = {0, NULL};
    struct fixture f;
    struct waiting told = {.f = &f};
    char *json = NULL;

    (void)state;
    open_with(&f, (struct pawl_options){.settings = settings, .setting_count = 1});
    for (int i = 0; i < 3; i++)
        assert_ok(pawl_event_send(f.pawl, "Lost", NULL, NULL, NULL, &f.err), &f.err);
    while (end.total < 3) {
        assert_ok(pawl_work(f.pawl, 0, &work, &f.err), &f.err);
        (void)!pawl_work_wait(f.pawl, &work, 100, &f.err);
        assert_ok(pawl_letters_list(f.pawl, NULL, NULL, NULL, &end, &f.err), &f.err);
    }
    assert_ok(pawl_letters_list(f.pawl, &one, on_letter, &told, &end, &f.err), &f.err);
    assert_int_equal(told.count, 1);
    assert_non_null(end.next);
    pawl_text_free(f.pawl, end.next);
    assert_ok(pawl_letter_show(f.pawl, told.text, &json, &f.err), &f.err);
    assert_non_null(strstr(json, "\"payload\":{"));
    pawl_text_free(f.pawl, json);
    assert_ok(pawl_letter_replay(f.pawl, told.text, &f.err), &f.err);
    assert_code(pawl_letter_replay(f.pawl, told.text, &f.err), PAWL_ECONFLICT);
    assert_code(pawl_letters_replay(f.pawl, NULL, &count, &f.err), PAWL_EINVAL);
    assert_code(pawl_letters_delete(f.pawl, &one, &count, &f.err), PAWL_EINVAL);
    assert_int_equal(count, 0);
    assert_ok(pawl_letters_replay(f.pawl, &open, &count, &f.err), &f.err);
    assert_int_equal(count, 2);
    assert_ok(pawl_letter_delete(f.pawl, told.text, &f.err), &f.err);
    assert_code(pawl_letter_delete(f.pawl, told.text, &f.err), PAWL_ENOTFOUND);
    assert_ok(pawl_letters_delete(f.pawl, &all, &count, &f.err), &f.err);
    assert_int_equal(count, 2);
    pawl_close(f.pawl);
}

static void retention_counts_without_dropping(void **state)
{
    struct pawl_retention_counts counts;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_ok(pawl_retain(f.pawl, 1, &counts, &f.err), &f.err);
    assert_int_equal(counts.finished + counts.dead_letters, 0);
    assert_int_equal(counts.more, 0);
    pawl_close(f.pawl);
}

static void on_reached(void *ctx, const struct pawl_event_instance *instance)
{
    struct waiting *told = ctx;

    told->count++;
    snprintf(told->text, sizeof told->text, "%s %d %d %s", instance->instance_id,
             instance->is_started, instance->result, pawl_instance_status_name(instance->status));
}

static void an_event_is_sent_and_waited_for(void **state)
{
    struct fixture f;
    struct waiting told = {.f = &f};
    struct pawl_send_outcome out;
    char expected[256];

    (void)state;
    open_fixture(&f);
    publish(&f, DEFINITION("d", "{'id':'e','type':'Elsa.Event','eventName':" RIG_INPUT(
                                    "String", "Literal", "'Go'") "}"));
    snprintf(expected, sizeof expected, "%s 0 0 Finished", start(&f, "d").instance_id);
    assert_ok(
        pawl_event_send_wait(f.pawl, "Go", NULL, NULL, 600000, on_reached, &told, &out, &f.err),
        &f.err);
    assert_int_equal(out.resumed, 1);
    assert_int_equal(told.count, 1);
    assert_string_equal(told.text, expected);
    pawl_close(f.pawl);
}

static int on_record(void *ctx, const struct pawl_audit_info *record)
{
    struct waiting *told = ctx;

    told->count++;
    snprintf(told->text, sizeof told->text, "%s %s %s %s %s %d", record->actor, record->door,
             record->action, record->kind, record->target, (int)record->count);
    snprintf(told->id, sizeof told->id, "%s", record->request_id);
    return 0;
}

static void what_the_program_changes_is_recorded(void **state)
{
    struct pawl_audit_filter cancels = {.action = "cancel"}, nobody = {.actor = "nobody"};
    struct fixture f;
    struct waiting told = {.f = &f};
    struct pawl_list_end end;
    char expected[256], *json = NULL;

    (void)state;
    open_fixture(&f);
    publish(&f, DEFINITION("d", TASK("t", "paint")));
    (void)snprintf(expected, sizeof expected, "%s", start(&f, "d").instance_id);
    assert_ok(pawl_instance_cancel(f.pawl, expected, &f.err), &f.err);
    assert_ok(pawl_audit_list(f.pawl, &cancels, on_record, &told, &end, &f.err), &f.err);
    assert_int_equal(told.count, 1);
    assert_int_equal(end.total, 1);
    (void)snprintf(told.expected, sizeof told.expected, "embed c cancel instance %s 1", expected);
    assert_string_equal(told.text, told.expected);
    assert_ok(pawl_audit_show(f.pawl, told.id, &json, &f.err), &f.err);
    assert_non_null(strstr(json, "\"action\":\"cancel\""));
    pawl_text_free(f.pawl, json);
    assert_code(pawl_audit_show(f.pawl, "nix", &json, &f.err), PAWL_ENOTFOUND);
    assert_ok(pawl_audit_list(f.pawl, &nobody, on_record, &told, NULL, &f.err), &f.err);
    assert_int_equal(told.count, 1);
    pawl_close(f.pawl);
}

/* A caller whose answer was lost calls again with the same id: one deletion, one record. */
static void a_request_with_an_id_is_done_once(void **state)
{
    const struct pawl_caller caller = {.actor = "bob", .request_id = "r-1"};
    const struct pawl_audit_filter bobs = {.actor = "bob"};
    struct fixture f;
    struct waiting told = {.f = &f};
    struct pawl *bob = NULL, *none = NULL;
    char id[PAWL_INSTANCE_ID_SIZE], other[PAWL_INSTANCE_ID_SIZE];

    (void)state;
    open_fixture(&f);
    publish(&f, DEFINITION("d", TASK("t", "paint")));
    (void)snprintf(id, sizeof id, "%s", start(&f, "d").instance_id);
    (void)snprintf(other, sizeof other, "%s", start(&f, "d").instance_id);
    assert_code(pawl_open_for(f.pawl, NULL, &none, &f.err), PAWL_EINVAL);
    assert_code(pawl_open_for(f.pawl, &(struct pawl_caller){.actor = "caf\xe9"}, &none, &f.err),
                PAWL_EINVAL);
    assert_ok(pawl_open_for(f.pawl, &caller, &bob, &f.err), &f.err);
    assert_ok(pawl_instance_delete(bob, id, &f.err), &f.err);
    assert_ok(pawl_instance_delete(bob, id, &f.err), &f.err);
    assert_code(pawl_instance_delete(bob, other, &f.err), PAWL_ECONFLICT);
    assert_code(pawl_instance_delete(f.pawl, id, &f.err), PAWL_ENOTFOUND);
    pawl_close(bob);
    assert_ok(pawl_audit_list(f.pawl, &bobs, on_record, &told, NULL, &f.err), &f.err);
    assert_int_equal(told.count, 1);
    assert_string_equal(told.id, "r-1");
    pawl_close(f.pawl);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_tasks_are_listed),
        cmocka_unit_test(timers_are_listed),
        cmocka_unit_test(why_an_instance_waits_is_told),
        cmocka_unit_test(letters_are_listed_replayed_and_deleted),
        cmocka_unit_test(retention_counts_without_dropping),
        cmocka_unit_test(what_the_program_changes_is_recorded),
        cmocka_unit_test(a_request_with_an_id_is_done_once),
        cmocka_unit_test(an_event_is_sent_and_waited_for),
    };

    return cmocka_run_group_tests_name("embed/waiting", tests, NULL, NULL);
}
