/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on stimuli and work: sending, tasks, timers, dead letters, why, retention; their
 * views. */
#include "operations/desk.h"

#include "base/buf.h"
#include "host/features.h"
#include "host/host.h"
#include "operations/audit.h"
#include "operations/letters.h"
#include "operations/retention.h"
#include "operations/tasks.h"
#include "operations/timers.h"
#include "views/letters.h"
#include "views/stimuli.h"
#include "views/timers.h"
#include "views/why.h"

#include <stdio.h>

#define TEXT(value)                                                                                \
    "{\"typeName\":\"String\",\"expression\":{\"type\":\"Literal\",\"value\":\"" value "\"}}"

static const char tasks[] =
    "{\"definitionId\":\"tasks\",\"name\":\"Tasks\",\"root\":{\"id\":\"t\",\"type\":\"Elsa."
    "RunTask\",\"taskName\":" TEXT("paint") ",\"payload\":{\"typeName\":\"ObjectDictionary\","
                                            "\"expression\":{\"type\":\"Object\",\"value\":"
                                            "\"{\\\"n\\\":1}\"}}}}";
static const char delays[] =
    "{\"definitionId\":\"delays\",\"name\":\"Delays\",\"root\":{\"id\":\"d\",\"type\":\"Elsa."
    "Delay\",\"timeSpan\":{\"typeName\":\"TimeSpan\",\"expression\":{\"type\":\"Literal\","
    "\"value\":\"01:00:00\"}}}}";
static const char cron[] =
    "{\"definitionId\":\"nightly\",\"name\":\"Nightly\",\"root\":{\"id\":\"c\",\"type\":\"Elsa."
    "Cron\",\"customProperties\":{\"canStartWorkflow\":true},\"cronExpression\":" TEXT(
        "0 0 3 * * *") "}}";
static const char starts[] =
    "{\"definitionId\":\"starts\",\"name\":\"Starts\",\"root\":{\"id\":\"e\",\"type\":\"Elsa."
    "Event\",\"customProperties\":{\"canStartWorkflow\":true},\"eventName\":" TEXT("Begin") "}}";

/* A view as text. */
static const char *text_of(struct desk *desk, const struct pawl_builder *b,
                           const struct pawl_json *value)
{
    struct pawl_buf buf;
    struct pawl_str text;

    assert_int_equal(b->status, PAWL_OK);
    pawl__buf_init(&buf, &desk->env->alloc, (size_t)1 << 20);
    pawl__json_write(&buf, value, PAWL_JSON_ESCAPE_MINIMAL);
    assert_int_equal(buf.status, PAWL_OK);
    text = pawl__arena_str(&desk->arena, pawl__buf_peek(&buf));
    pawl__buf_release(&buf);
    return text.ptr;
}

static struct pawl_why why_of(struct desk *desk, const char *id)
{
    struct pawl_why why = {.wait_count = 0};

    assert_ok(pawl__op_instance_why(&desk->op, pawl__str(id), &why), &desk->err);
    return why;
}

static void assert_same(const struct pawl_send_result *one, const struct pawl_send_result *other)
{
    assert_int_equal(one->started, other->started);
    assert_int_equal(one->resumed, other->resumed);
    assert_int_equal(one->parked, other->parked);
}

/* ---- sending -------------------------------------------------------------------------------- */

static void an_event_starts_and_resumes_all_that_wait(struct desk *desk)
{
    struct pawl_send_request request = {.name = pawl__str("Go")};
    struct pawl_send_result sent;

    desk_publish(desk, desk_waits);
    desk_publish(desk, starts);
    (void)desk_start(desk, "waits", "w1", "a", NULL);
    (void)desk_start(desk, "waits", "w2", "b", NULL);
    request.correlation_id = pawl__str("a");
    assert_ok(pawl__op_event_send(&desk->op, &request, &sent), &desk->err);
    assert_int_equal(sent.resumed, 1);
    request = (struct pawl_send_request){.name = pawl__str("Begin")};
    assert_ok(pawl__op_event_send(&desk->op, &request, &sent), &desk->err);
    assert_int_equal(sent.started, 1);
    request.name = pawl__str("go");
    assert_ok(pawl__op_event_send(&desk->op, &request, &sent), &desk->err);
    assert_true(sent.parked);
    request.name = pawl__str("");
    assert_code(pawl__op_event_send(&desk->op, &request, &sent), PAWL_EINVAL);
}

static struct pawl_event_outcome outcome_of(const struct pawl_event_result *result,
                                            const char *instance_id)
{
    size_t i = 0;

    while (i < result->count && strcmp(result->instances[i].instance_id, instance_id) != 0)
        i++;
    assert_true(i < result->count);
    return result->instances[i];
}

static void an_event_is_waited_for_until_what_it_reached_rests(struct desk *desk)
{
    static const char again[] =
        "{\"definitionId\":\"again\",\"name\":\"Again\",\"root\":{\"id\":\"s\",\"type\":\"Elsa."
        "Sequence\",\"activities\":[{\"id\":\"a\",\"type\":\"Elsa.Event\",\"eventName\":" TEXT(
            "Go") "},{\"id\":\"b\",\"type\":\"Elsa.Event\",\"eventName\":" TEXT("Next") "}]}}";
    struct pawl_send_request request = {.name = pawl__str("Go")};
    struct pawl_event_result result;

    desk_publish(desk, desk_waits);
    desk_publish(desk, again);
    desk_publish(desk, starts);
    (void)desk_start(desk, "waits", "w1", NULL, NULL);
    (void)desk_start(desk, "again", "a1", NULL, NULL);
    (void)desk_start(desk, "again", "a2", "other", NULL);
    assert_ok(pawl__op_event_send_wait(&desk->op, &request, true, &result), &desk->err);
    assert_int_equal(result.sent.resumed, 3);
    assert_int_equal(result.count, 3);
    assert_int_equal(outcome_of(&result, "w1").status, PAWL_OK);
    assert_int_equal(outcome_of(&result, "w1").sub_status, PAWL_SUB_FINISHED);
    assert_int_equal(outcome_of(&result, "a1").status, PAWL_OK);
    assert_int_equal(outcome_of(&result, "a1").sub_status, PAWL_SUB_SUSPENDED);
    assert_int_equal(why_of(desk, "a1").wait_count, 1); /* and it waits for the next */
    assert_str(why_of(desk, "a1").waits[0].name, "Next");
    request.name = pawl__str("Begin");
    assert_ok(pawl__op_event_send_wait(&desk->op, &request, true, &result), &desk->err);
    assert_int_equal(result.count, 1);
    assert_true(result.instances[0].is_started);
    assert_int_equal(result.instances[0].status, PAWL_OK);
    assert_int_equal(result.instances[0].sub_status, PAWL_SUB_FINISHED);
    request.name = pawl__str("Nobody");
    assert_ok(pawl__op_event_send_wait(&desk->op, &request, true, &result), &desk->err);
    assert_true(result.sent.parked);
    assert_int_equal(result.count, 0);
    request.name = pawl__str("");
    assert_code(pawl__op_event_send_wait(&desk->op, &request, true, &result), PAWL_EINVAL);
}

static void an_event_that_nobody_delivers_is_not_taken_for_delivered(struct desk *desk)
{
    const struct pawl_send_request request = {.name = pawl__str("Go")};
    struct pawl_op soon;
    struct pawl_event_result result;

    desk_publish(desk, desk_waits);
    (void)desk_start(desk, "waits", "w1", NULL, NULL);
    soon = pawl__op_within(&desk->op, 200);
    assert_ok(pawl__op_event_send_wait(&soon, &request, false, &result), &desk->err);
    assert_int_equal(result.count, 1);
    assert_int_equal(result.instances[0].status, PAWL_ETIMEDOUT);
    desk_drain(desk); /* it was sent all the same */
    assert_int_equal(why_of(desk, "w1").standing, PAWL_WHY_ENDED);
}

static void a_stimulus_is_found_by_its_name_and_payload(struct desk *desk)
{
    struct pawl_json payload;
    struct pawl_send_request request = {.name = pawl__str("Elsa.Event"), .payload = &payload};
    struct pawl_send_result sent, again;

    desk_publish(desk, desk_waits);
    (void)desk_start(desk, "waits", "w1", NULL, NULL);
    assert_ok(pawl__json_parse(&desk->arena, pawl__str("{\"eventName\":\"Go\"}"), NULL, &payload,
                               NULL, &desk->err),
              &desk->err);
    request.idempotency_key = pawl__str("once");
    assert_ok(pawl__op_stimulus_send(&desk->op, &request, &sent), &desk->err);
    assert_int_equal(sent.resumed, 1);
    desk_drain(desk);
    assert_ok(pawl__op_stimulus_send(&desk->op, &request, &again), &desk->err);
    assert_same(&again, &sent);
    /* Whoever sends it again does so in another trace. */
    for (size_t i = 0; i < 2; i++) {
        static const char *const traces[] = {
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-5bf92f3577b34da6a3ce929d0e0e4736-11f067aa0ba902b7-01"};
        struct pawl_op op = desk->op;

        op.traceparent = pawl__str(traces[i]);
        assert_ok(pawl__op_stimulus_send(&op, &request, &again), &desk->err);
        assert_same(&again, &sent);
    }
}

static void an_event_for_an_execution_reaches_it_alone(struct desk *desk)
{
    struct pawl_send_request request = {.name = pawl__str("Go"),
                                        .activity_instance_id = pawl__str("none")};
    struct pawl_send_result sent;
    struct pawl_why why;

    desk_publish(desk, desk_waits);
    (void)desk_start(desk, "waits", "w1", NULL, NULL);
    (void)desk_start(desk, "waits", "w2", NULL, NULL);
    assert_ok(pawl__op_event_send(&desk->op, &request, &sent), &desk->err);
    assert_true(sent.parked);
    assert_ok(pawl__op_instance_why(&desk->op, pawl__str("w2"), &why), &desk->err);
    request.activity_instance_id = why.waits[0].row->activity_instance_id;
    assert_ok(pawl__op_event_send(&desk->op, &request, &sent), &desk->err);
    assert_int_equal(sent.resumed, 1);
    desk_drain(desk);
    assert_ok(pawl__op_instance_why(&desk->op, pawl__str("w1"), &why), &desk->err);
    assert_int_equal(why.standing, PAWL_WHY_WAITING);
    assert_ok(pawl__op_instance_why(&desk->op, pawl__str("w2"), &why), &desk->err);
    assert_int_equal(why.standing, PAWL_WHY_ENDED);
}

/* ---- tasks ---------------------------------------------------------------------------------- */

static void open_tasks_are_listed_and_reported_once(struct desk *desk)
{
    struct pawl_builder b = {.arena = &desk->arena};
    struct pawl_task_query query = {.page = {.limit = 2, .with_total = true}};
    struct pawl_send_result sent, again;
    struct pawl_json result = pawl__json_int(7), view;
    struct pawl_task_list list;
    struct pawl_str id;

    desk_publish(desk, tasks);
    (void)desk_start(desk, "tasks", "t1", "order-1", NULL);
    (void)desk_start(desk, "tasks", "t2", "order-2", NULL);
    (void)desk_start(desk, "tasks", "t3", "order-2", NULL);
    assert_ok(pawl__op_tasks_list(&desk->op, &query, &list), &desk->err);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.page.total, 3);
    query.page.after = list.page.next;
    assert_ok(pawl__op_tasks_list(&desk->op, &query, &list), &desk->err);
    assert_int_equal(list.count, 1);
    query = (struct pawl_task_query){.correlation_id = pawl__str("order-1")};
    assert_ok(pawl__op_tasks_list(&desk->op, &query, &list), &desk->err);
    assert_int_equal(list.count, 1);
    assert_str(list.tasks[0].name, "paint");
    assert_str(list.tasks[0].definition_id, "tasks");
    view = pawl__view_task(&b, &list.tasks[0]);
    assert_non_null(strstr(text_of(desk, &b, &view), "\"payload\":{\"n\":1"));
    id = list.tasks[0].id;
    assert_ok(pawl__op_task_complete(&desk->op, id, &result, false, &sent), &desk->err);
    assert_int_equal(sent.resumed, 1);
    assert_code(pawl__op_task_complete(&desk->op, id, NULL, false, &again), PAWL_ECONFLICT);
    assert_non_null(strstr(desk->err.msg, "another result"));
    desk_drain(desk);
    assert_ok(pawl__op_tasks_list(&desk->op, &query, &list), &desk->err);
    assert_int_equal(list.count, 0);
    assert_ok(pawl__op_task_complete(&desk->op, id, &result, false, &again), &desk->err);
    assert_same(&again, &sent);
    assert_code(pawl__op_task_complete(&desk->op, id, NULL, false, &again), PAWL_ECONFLICT);
    assert_non_null(strstr(desk->err.msg, "another result"));
    assert_code(pawl__op_task_complete(&desk->op, pawl__str("nix"), NULL, false, &again),
                PAWL_ENOTFOUND);
}

/* The others are listed, and it is too, with what its row says. */
static void tasks_of_a_damaged_instance_are_listed(struct desk *desk)
{
    const struct pawl_task_query query = {.page = {.limit = 10}};
    struct pawl_task_list list;

    desk_publish(desk, tasks);
    (void)desk_start(desk, "tasks", "t1", NULL, NULL);
    (void)desk_start(desk, "tasks", "t2", NULL, NULL);
    desk_damage(desk, "t1");
    assert_ok(pawl__op_tasks_list(&desk->op, &query, &list), &desk->err);
    assert_int_equal(list.count, 2);
    for (size_t i = 0; i < 2; i++) {
        bool is_damaged = pawl__str_is(list.tasks[i].instance_id, "t1");

        assert_str(list.tasks[i].name, "paint");
        assert_str(list.tasks[i].definition_id, "tasks");
        assert_int_equal(pawl__json_is(&list.tasks[i].payload, PAWL_JSON_NULL), is_damaged);
    }
}

/* ---- timers --------------------------------------------------------------------------------- */

static void timers_come_with_what_they_belong_to(struct desk *desk)
{
    struct pawl_builder b = {.arena = &desk->arena};
    struct pawl_timer_query query = {.page = {.with_total = true}};
    struct pawl_timer_list list;
    size_t ticks = 0;

    desk_publish(desk, delays);
    desk_publish(desk, cron);
    (void)desk_start(desk, "delays", "d1", NULL, NULL);
    assert_ok(pawl__op_timers_list(&desk->op, &query, &list), &desk->err);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.page.total, 2);
    for (size_t i = 0; i < list.count; i++) {
        const struct pawl_timer *timer = &list.timers[i];
        struct pawl_json view = pawl__view_timer(&b, timer);
        const char *text = text_of(desk, &b, &view);

        assert_false(timer->is_overdue);
        if (timer->is_tick) {
            ticks++;
            assert_non_null(timer->trigger);
            assert_null(timer->instance);
            assert_non_null(strstr(text, "\"of\":\"trigger\""));
            assert_non_null(strstr(text, "\"activityId\":\"c\""));
        } else {
            assert_str(timer->instance->definition_id, "delays");
            assert_str(timer->bookmark->activity_id, "d");
            assert_non_null(strstr(text, "\"instanceId\":\"d1\""));
        }
    }
    assert_int_equal(ticks, 1);
    query.instance_id = pawl__str("d1");
    assert_ok(pawl__op_timers_list(&desk->op, &query, &list), &desk->err);
    assert_int_equal(list.count, 1);
    query.is_overdue = true;
    assert_ok(pawl__op_timers_list(&desk->op, &query, &list), &desk->err);
    assert_int_equal(list.count, 0);
}

/* ---- dead letters --------------------------------------------------------------------------- */

static struct pawl_dead_letter_row letter(const char *id, int64_t us)
{
    return (struct pawl_dead_letter_row){.id = pawl__str(id),
                                         .work_id = pawl__str(id),
                                         .kind = pawl__str("stimulus"),
                                         .hash = pawl__str("H"),
                                         .reason = pawl__str("Expired"),
                                         .created_us = us,
                                         .dead_us = us,
                                         .can_replay = 1,
                                         .error = pawl__str("boom"),
                                         .payload = pawl__str("{\"input\":{}}")};
}

/* l0 to l4, of which l4 cannot be replayed. */
static void put_letters(struct desk *desk)
{
    struct pawl_store *store = pawl__host_get(desk->host, PAWL_SLOT_STORE);
    struct pawl_dead_letter_row rows[5];
    struct pawl_change changes[5];
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN, .changes = changes, .change_count = 5};
    struct pawl_commit *commits[] = {&commit};
    static const char *const ids[] = {"l0", "l1", "l2", "l3", "l4"};

    for (int i = 0; i < 5; i++) {
        rows[i] = letter(ids[i], INT64_C(981173106000000) + i * INT64_C(1000000));
        rows[i].can_replay = i != 4;
        changes[i] = (struct pawl_change){
            .kind = PAWL_CHANGE_INSERT, .table = PAWL_TABLE_DEAD_LETTERS, .row = &rows[i]};
    }
    assert_ok(pawl_store_apply(store, commits, 1, desk->op.deadline_ns, &desk->err), &desk->err);
    assert_int_equal(commit.status, PAWL_OK);
}

static void a_letter_is_shown_as_the_reference_shows_it(struct desk *desk)
{
    struct pawl_builder b = {.arena = &desk->arena};
    struct pawl_dead_letter_row row;
    struct pawl_json view;

    put_letters(desk);
    assert_ok(pawl__op_letter_show(&desk->op, pawl__str("l0"), &row), &desk->err);
    view = pawl__view_letter(&b, &row);
    assert_string_equal(
        text_of(desk, &b, &view),
        "{\"id\":\"l0\",\"tenantId\":\"\",\"originalQueueItemId\":\"l0\",\"stimulusHash\":\"H\","
        "\"originalCreatedAt\":\"2001-02-03T04:05:06+00:00\",\"deadLetteredAt\":\"2001-02-03T04:05:"
        "06+00:00\",\"reason\":\"Expired\",\"deliveryAttempts\":0,\"lastErrorMessage\":\"boom\","
        "\"canReplay\":true,\"kind\":\"stimulus\"}");
    view = pawl__view_letter_whole(&b, &row);
    assert_non_null(strstr(text_of(desk, &b, &view), "\"payload\":{\"input\":{}}"));
    assert_code(pawl__op_letter_show(&desk->op, pawl__str("nix"), &row), PAWL_ENOTFOUND);
}

static void a_letter_is_replayed_once_and_says_as_what(struct desk *desk)
{
    struct pawl_builder b = {.arena = &desk->arena};
    struct pawl_dead_letter_row row;
    struct pawl_str work_id;
    struct pawl_json view;
    char expected[128];

    put_letters(desk);
    assert_ok(pawl__op_letter_replay(&desk->op, pawl__str("l0"), &work_id), &desk->err);
    assert_code(pawl__op_letter_replay(&desk->op, pawl__str("l0"), &work_id), PAWL_ECONFLICT);
    assert_ok(pawl__op_letter_show(&desk->op, pawl__str("l0"), &row), &desk->err);
    assert_true(pawl__str_equal(row.replayed_id, work_id));
    view = pawl__view_letter_replay(&b, false, row.replayed_id);
    (void)snprintf(expected, sizeof expected,
                   "{\"replayed\":false,\"queueItemId\":\"%.*s\",\"reason\":\"NotReplayable\"}",
                   PAWL_STR_ARG(work_id));
    assert_string_equal(text_of(desk, &b, &view), expected);
    assert_code(pawl__op_letter_replay(&desk->op, pawl__str("l4"), &work_id), PAWL_ECONFLICT);
    assert_code(pawl__op_letter_replay(&desk->op, pawl__str("nix"), &work_id), PAWL_ENOTFOUND);
}

/* What became of letters, in order: "l0 0,". */
struct noted {
    char text[64];
    size_t work_count; /* that have become work */
};

static void note_letter(void *ctx, const struct pawl_letter_outcome *outcome)
{
    struct noted *noted = ctx;
    size_t len = strlen(noted->text);

    (void)snprintf(noted->text + len, sizeof noted->text - len, "%.*s %d,",
                   PAWL_STR_ARG(outcome->id), outcome->status);
    noted->work_count += outcome->work_id.len > 0;
}

static void many_letters_are_replayed_and_deleted_by_a_query_that_says_something(struct desk *desk)
{
    const struct pawl_letter_query all = {.all = true}, nothing = {.sort = PAWL_LETTERS_BY_CREATED};
    const struct pawl_letter_query open = {.is_open = true};
    struct pawl_bulk_result result;
    struct pawl_letter_list list;
    struct noted noted = {.text = ""};

    put_letters(desk);
    assert_code(pawl__op_letters_replay(&desk->op, &nothing, NULL, NULL, &result), PAWL_EINVAL);
    assert_code(pawl__op_letters_delete(&desk->op, &nothing, NULL, NULL, &result), PAWL_EINVAL);
    assert_ok(pawl__op_letters_replay(&desk->op, &all, note_letter, &noted, &result), &desk->err);
    assert_string_equal(noted.text, "l0 0,l1 0,l2 0,l3 0,"); /* l4 cannot be */
    assert_int_equal(noted.work_count, 4);
    assert_int_equal(result.done, 4);
    assert_int_equal(result.skipped + result.failed, 0);
    assert_ok(pawl__op_letters_list(&desk->op, &open, &list), &desk->err);
    assert_int_equal(list.count, 1);
    assert_str(list.rows[0].id, "l4");
    assert_ok(pawl__op_letters_delete(&desk->op, &all, NULL, NULL, &result), &desk->err);
    assert_int_equal(result.done, 5);
    assert_code(pawl__op_letter_delete(&desk->op, pawl__str("l0")), PAWL_ENOTFOUND);
}

/* More than one batch of them. */
#define LETTERS 450u

static void put_many_letters(struct desk *desk)
{
    struct pawl_dead_letter_row *rows =
        pawl__arena_alloc_array(&desk->arena, LETTERS, sizeof *rows);
    struct pawl_change *changes = pawl__arena_alloc_array(&desk->arena, LETTERS, sizeof *changes);
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_PLAIN, .changes = changes, .change_count = LETTERS};
    struct pawl_commit *commits[] = {&commit};

    assert_non_null(rows);
    assert_non_null(changes);
    for (unsigned i = 0; i < LETTERS; i++) {
        rows[i] = letter("", INT64_C(981173106000000) + i);
        rows[i].id = rows[i].work_id =
            pawl__str(pawl__arena_printf(&desk->arena, "letter-%04u", i));
        changes[i] = (struct pawl_change){PAWL_CHANGE_INSERT, PAWL_TABLE_DEAD_LETTERS, &rows[i]};
    }
    assert_ok(pawl_store_apply(pawl__host_store(desk->host), commits, 1, desk->op.deadline_ns,
                               &desk->err),
              &desk->err);
    assert_ok(commit.status, &commit.error);
}

/* The store fails in the middle: what was done is reported, and calling again does the rest. */
static void a_change_of_many_letters_that_ended_early_goes_on(struct desk *desk)
{
    const struct pawl_letter_query all = {.all = true};
    struct pawl_op op = desk->op;
    struct pawl_bulk_result result;
    struct pawl_audit_row record;

    op.request_id = pawl__str("r-letters");
    put_many_letters(desk);
    atomic_store(&desk->commits_before_failure, 210);
    assert_ok(pawl__op_letters_delete(&op, &all, NULL, NULL, &result), &desk->err);
    assert_int_equal(result.done, 210);
    assert_true(result.is_partial);
    assert_int_equal(result.error.code, PAWL_EUNAVAILABLE);
    atomic_store(&desk->commits_before_failure, -1);
    assert_ok(pawl__op_letters_delete(&op, &all, NULL, NULL, &result), &desk->err);
    assert_int_equal(result.done, LETTERS - 210);
    assert_int_equal(result.error.code, PAWL_OK);
    assert_false(result.is_partial);
    assert_ok(pawl__op_audit_show(&desk->op, op.request_id, &record), &desk->err);
    assert_str(record.action, "delete");
    assert_int_equal(record.count, LETTERS);
}

/* ---- why ------------------------------------------------------------------------------------ */

static void why_says_what_an_instance_waits_for(struct desk *desk)
{
    struct pawl_builder b = {.arena = &desk->arena};
    struct pawl_why why;
    struct pawl_json view;
    const char *text;

    desk_publish(desk, desk_waits);
    desk_publish(desk, delays);
    desk_publish(desk, tasks);
    desk_publish(desk, desk_faults);
    (void)desk_start(desk, "waits", "w1", NULL, NULL);
    (void)desk_start(desk, "delays", "d1", NULL, NULL);
    (void)desk_start(desk, "tasks", "t1", NULL, NULL);
    (void)desk_start(desk, "faults", "f1", NULL, NULL);
    why = why_of(desk, "w1");
    assert_int_equal(why.standing, PAWL_WHY_WAITING);
    assert_int_equal(why.waits[0].what, PAWL_WHY_FOR_EVENT);
    assert_str(why.waits[0].name, "Go");
    assert_int_equal(why.advice, PAWL_ADVISE_CANCEL);
    view = pawl__view_why(&b, &why, " --store s");
    text = text_of(desk, &b, &view);
    assert_non_null(strstr(text, "\"summary\":\"it waits for the event 'Go'\""));
    assert_non_null(strstr(text, "\"command\":\"pawl send Go --instance w1 --store s\""));
    why = why_of(desk, "d1");
    assert_int_equal(why.waits[0].what, PAWL_WHY_FOR_TIMER);
    assert_true(why.waits[0].has_timer);
    assert_int_equal(why.mail_count, 0); /* the timer is told with its bookmark */
    why = why_of(desk, "t1");
    assert_int_equal(why.waits[0].what, PAWL_WHY_FOR_TASK);
    why = why_of(desk, "f1");
    assert_int_equal(why.standing, PAWL_WHY_ENDED);
    assert_non_null(why.incident);
    assert_int_equal(why.advice, PAWL_ADVISE_JOURNAL);
    assert_code(pawl__op_instance_why(&desk->op, pawl__str("nix"), &why), PAWL_ENOTFOUND);
}

static void why_says_that_mail_is_not_delivered_yet(struct desk *desk)
{
    struct pawl_send_request request = {.name = pawl__str("Go"), .instance_id = pawl__str("w1")};
    struct pawl_send_result sent;
    struct pawl_why why;

    desk_publish(desk, desk_waits);
    (void)desk_start(desk, "waits", "w1", NULL, NULL);
    assert_ok(pawl__op_event_send(&desk->op, &request, &sent), &desk->err);
    why = why_of(desk, "w1");
    assert_int_equal(why.mail_count, 1);
    assert_string_equal(why.mail[0].what, "an event or a result for it");
    assert_int_equal(why.mail[0].because, PAWL_WHY_NO_NODE);
}

/* ---- retention ------------------------------------------------------------------------------ */

static void retention_keeps_what_the_settings_say(struct desk *desk)
{
    struct pawl_retention_result gone;

    desk_publish(desk, desk_ends);
    (void)desk_start(desk, "ends", "e1", NULL, NULL);
    assert_ok(pawl__op_retain(&desk->op, true, &gone), &desk->err);
    assert_int_equal(gone.finished, 0);
    assert_ok(pawl__configuration_set(&desk->configuration, PAWL_SETTING_ID_RETENTION_FINISHED,
                                      pawl__str("1ms"), PAWL_ORIGIN_OPTION, "test", &desk->err),
              &desk->err);
    /* It is old enough when the store's clock has moved on. */
    do {
        assert_ok(pawl__op_retain(&desk->op, true, &gone), &desk->err);
    } while (gone.finished == 0 && pawl_env_monotonic_ns(desk->env) < desk->op.deadline_ns);
    assert_int_equal(gone.finished, 1);
    assert_ok(pawl__op_retain(&desk->op, false, &gone), &desk->err);
    assert_int_equal(gone.finished, 1);
    assert_ok(pawl__op_retain(&desk->op, false, &gone), &desk->err);
    assert_int_equal(gone.finished, 0);
}

const struct desk_test work_tests[] = {
    DESK_TEST(an_event_starts_and_resumes_all_that_wait),
    DESK_TEST(an_event_is_waited_for_until_what_it_reached_rests),
    {"an_event_that_nobody_delivers_is_not_taken_for_delivered",
     an_event_that_nobody_delivers_is_not_taken_for_delivered, .setting = "delivery=rows"},
    DESK_TEST(a_stimulus_is_found_by_its_name_and_payload),
    DESK_TEST(an_event_for_an_execution_reaches_it_alone),
    DESK_TEST(open_tasks_are_listed_and_reported_once),
    DESK_TEST(tasks_of_a_damaged_instance_are_listed),
    DESK_TEST(timers_come_with_what_they_belong_to),
    DESK_TEST(a_letter_is_shown_as_the_reference_shows_it),
    DESK_TEST(a_letter_is_replayed_once_and_says_as_what),
    DESK_TEST(many_letters_are_replayed_and_deleted_by_a_query_that_says_something),
    DESK_TEST(a_change_of_many_letters_that_ended_early_goes_on),
    DESK_TEST(why_says_what_an_instance_waits_for),
    {"why_says_that_mail_is_not_delivered_yet", why_says_that_mail_is_not_delivered_yet,
     .setting = "delivery=rows"},
    DESK_TEST(retention_keeps_what_the_settings_say),
    {.name = NULL},
};
