/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on one instance, and on many at once. */
#include "operations/desk.h"

#include "operations/changes.h"
#include "operations/definitions.h"
#include "operations/instances.h"
#include "operations/stimuli.h"
#include "operations/waits.h"
#include "operations/why.h"
#include "runtime/runtime.h"
#include "views/instances.h"

#include "host/features.h"

#include <stdio.h>

static const char with_variable[] =
    "{\"definitionId\":\"varies\",\"name\":\"Varies\",\"variables\":[{\"id\":\"v1\",\"name\":"
    "\"V1\","
    "\"typeName\":\"String\",\"value\":\"abc\",\"storageDriverTypeName\":"
    "\"WorkflowInstanceStorageDriver\"}],\"root\":{\"id\":\"s\",\"type\":\"Elsa.Sequence\","
    "\"activities\":[{\"id\":\"e\",\"type\":\"Elsa.Event\",\"eventName\":{\"typeName\":\"String\","
    "\"expression\":{\"type\":\"Literal\",\"value\":\"Go\"}}},{\"id\":\"b\",\"type\":\"Elsa."
    "WriteLine\",\"text\":{\"typeName\":\"String\",\"expression\":{\"type\":\"Literal\","
    "\"value\":\"after\"}}}]}}";
static const char singleton[] =
    "{\"definitionId\":\"single\",\"name\":\"Single\",\"options\":{\"activationStrategyType\":"
    "\"SingletonStrategy\"},\"root\":{\"id\":\"e\","
    "\"type\":\"Elsa.Event\",\"eventName\":{\"typeName\":\"String\",\"expression\":{\"type\":"
    "\"Literal\",\"value\":\"Go\"}}}}";

static struct pawl_json parse(struct desk *desk, const char *text)
{
    struct pawl_json out;

    assert_ok(pawl__json_parse(&desk->arena, pawl__str(text), NULL, &out, NULL, &desk->err),
              &desk->err);
    return out;
}

static struct pawl_instance_start start_of(const char *definition_id)
{
    return (struct pawl_instance_start){
        .what = {.definition_id = pawl__str(definition_id),
                 .input = {.type = PAWL_JSON_NULL},
                 .properties = {.type = PAWL_JSON_NULL},
                 .variables = {.type = PAWL_JSON_NULL}},
    };
}

static struct pawl_instance_result started(struct desk *desk,
                                           const struct pawl_instance_start *request)
{
    struct pawl_instance_result result;

    assert_ok(pawl__op_instance_start(&desk->op, request, &result), &desk->err);
    return result;
}

static struct pawl_instance_row row_of(struct desk *desk, const char *id)
{
    struct pawl_instance_shown shown;

    assert_ok(pawl__op_instance_show(&desk->op, pawl__str(id), false, &shown), &desk->err);
    return shown.row;
}

/* ---- starting ------------------------------------------------------------------------------- */

static void a_start_returns_the_state_on_request(struct desk *desk)
{
    struct pawl_instance_start request = start_of("waits");
    struct pawl_instance_result result;

    desk_publish(desk, desk_waits);
    request.what.correlation_id = pawl__str("c");
    request.what.name = pawl__str("n");
    request.with_state = true;
    result = started(desk, &request);
    assert_int_equal(result.outcome.sub_status, PAWL_SUB_SUSPENDED);
    assert_int_equal(result.outcome.bookmark_count, 1);
    assert_true(pawl__str_is(result.row.correlation_id, "c"));
    assert_true(pawl__str_is(pawl__json_str(pawl__json_get_text(&result.state, "name")), "n"));
    assert_int_equal(pawl__json_len(pawl__json_get_text(&result.state, "bookmarks")), 1);
}

/* As it was committed: what it returns is what a query would find, and none is made. */
static void a_start_returns_the_state_without_reading_it(struct desk *desk)
{
    static const char *const ids[] = {"waits", "ends", "faults"};
    struct pawl_instance_start request;
    struct pawl_instance_result result;
    struct pawl_instance_shown shown;
    int before;

    desk_publish(desk, desk_waits);
    desk_publish(desk, desk_ends);
    desk_publish(desk, desk_faults);
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        request = start_of(ids[i]);
        (void)started(desk, &request); /* its graph is known from now on */
        before = atomic_load(&desk->finds);
        request.with_state = true;
        result = started(desk, &request);
        assert_int_equal(atomic_load(&desk->finds), before);
        assert_ok(
            pawl__op_instance_show(&desk->op, pawl__str(result.outcome.instance_id), true, &shown),
            &desk->err);
        assert_true(pawl__json_equal(&result.state, &shown.state));
        assert_true(pawl__str_equal(result.row.sub_status, shown.row.sub_status));
        assert_true(pawl__str_equal(result.row.version_id, shown.row.version_id));
        assert_int_equal(result.row.revision, shown.row.revision);
        assert_int_equal(result.row.updated_us, shown.row.updated_us);
        assert_int_equal(result.row.owner, shown.row.owner);
    }
}

/* Longer ones would not fit an index of PostgreSQL. */
static void a_correlation_id_that_is_too_long_is_refused(struct desk *desk)
{
    static const char correlates[] =
        "{\"definitionId\":\"correlates\",\"root\":{\"id\":\"c\",\"type\":\"Elsa.Correlate\","
        "\"correlationId\":{\"typeName\":\"String\",\"expression\":{\"type\":\"JavaScript\","
        "\"value\":\"Array.from({length: 6000}, () => String.fromCharCode(97 + Math.random() * "
        "26)).join('')\"}}}}";
    static const char scripted[] =
        "{\"definitionId\":\"scripted\",\"root\":{\"id\":\"c\",\"type\":\"Elsa.RunJavaScript\","
        "\"script\":{\"typeName\":\"String\",\"expression\":{\"type\":\"Literal\","
        "\"value\":\"setCorrelationId('x'.repeat(6000))\"}}}}";
    struct pawl_instance_start request = start_of("ends");
    struct pawl_send_request event = {.name = pawl__str("Go")};
    struct pawl_instance_result result;
    struct pawl_send_result sent;
    char id[1002];

    desk_publish(desk, desk_ends);
    desk_publish(desk, correlates);
    desk_publish(desk, scripted);
    memset(id, 'x', sizeof id);
    request.what.correlation_id = event.correlation_id = pawl__str_make(id, 1001);
    assert_code(pawl__op_instance_start(&desk->op, &request, &result), PAWL_EINVAL);
    assert_code(pawl__op_event_send(&desk->op, &event, &sent), PAWL_EINVAL);
    request.what.correlation_id.len = 1000;
    assert_int_equal(started(desk, &request).outcome.sub_status, PAWL_SUB_FINISHED);
    request = start_of("correlates");
    assert_int_equal(started(desk, &request).outcome.sub_status, PAWL_SUB_FAULTED);
    request = start_of("scripted");
    assert_int_equal(started(desk, &request).outcome.sub_status, PAWL_SUB_FAULTED);
}

static void an_import_with_a_time_that_is_none_is_refused(struct desk *desk)
{
    static const char *const changed[] = {"createdAt", "finishedAt", "updatedAt"};

    desk_publish(desk, desk_ends);
    (void)desk_start(desk, "ends", "e", NULL, NULL);
    for (size_t i = 0; i < 3; i++) {
        const struct pawl_json *found;
        struct pawl_json exported, state;
        struct pawl_outcome outcome;

        assert_ok(pawl__op_instance_export(&desk->op, pawl__str("e"), &PAWL_INSTANCE_EXPORT_ALL,
                                           &exported, NULL),
                  &desk->err);
        found = pawl__json_get_nocase(&exported, pawl__str("workflowState"));
        assert_non_null(found);
        state = *found;
        assert_int_equal(PAWL_OK, pawl__json_set_text(&desk->arena, &state, changed[i],
                                                      pawl__json_string(pawl__str("yesterday"))));
        assert_int_equal(PAWL_OK,
                         pawl__json_set_text(&desk->arena, &exported, "WorkflowState", state));
        assert_ok(pawl__op_instance_delete(&desk->op, pawl__str("e")), &desk->err);
        assert_code(pawl__op_instance_import(&desk->op, &exported, &outcome), PAWL_EPARSE);
        (void)desk_start(desk, "ends", "e", NULL, NULL);
    }
}

static void what_cannot_start_is_no_error(struct desk *desk)
{
    struct pawl_instance_start request = start_of("single");
    struct pawl_instance_result result;

    desk_publish(desk, singleton);
    request.what.judged = true;
    request.with_state = true;
    result = started(desk, &request);
    assert_false(result.outcome.refused);
    result = started(desk, &request);
    assert_true(result.outcome.refused);
    assert_string_equal(result.outcome.instance_id, "");
    /* Who does not ask for the strategy's word starts it. */
    request.what.judged = false;
    assert_false(started(desk, &request).outcome.refused);
}

static void a_version_is_chosen_by_number_or_by_kind(struct desk *desk)
{
    struct pawl_instance_start request = start_of("ends");
    struct pawl_json draft = parse(desk, desk_ends);
    struct pawl_definition_saved saved;
    struct pawl_instance_result result;

    desk_publish(desk, desk_ends);
    assert_ok(pawl__op_definition_save(
                  &desk->op, &(struct pawl_definition_save){.definition = &draft}, &saved),
              &desk->err);
    assert_int_equal(saved.row.version, 2);
    request.version = (struct pawl_version_options){PAWL_VERSIONS_NUMBER, 1};
    request.with_state = true;
    assert_int_equal(started(desk, &request).row.version, 1);
    request.version = (struct pawl_version_options){PAWL_VERSIONS_NUMBER, 2};
    assert_int_equal(started(desk, &request).row.version, 2);
    request.version = (struct pawl_version_options){.pick = PAWL_VERSIONS_LATEST};
    assert_int_equal(started(desk, &request).row.version, 2);
    request.version = (struct pawl_version_options){.pick = PAWL_VERSIONS_PUBLISHED};
    assert_int_equal(started(desk, &request).row.version, 1);
    request.version = (struct pawl_version_options){PAWL_VERSIONS_NUMBER, 99};
    assert_code(pawl__op_instance_start(&desk->op, &request, &result), PAWL_ENOTFOUND);
    request = start_of("");
    assert_code(pawl__op_instance_start(&desk->op, &request, &result), PAWL_EINVAL);
}

static void a_start_takes_variables_and_an_activity(struct desk *desk)
{
    struct pawl_instance_start request = start_of("varies");
    struct pawl_instance_result result;
    struct pawl_json variables;

    desk_publish(desk, with_variable);
    request.what.variables = parse(desk, "{\"Extra\":{\"a\":[1,2]}}");
    result = started(desk, &request);
    assert_ok(
        pawl__op_instance_variables(&desk->op, pawl__str(result.outcome.instance_id), &variables),
        &desk->err);
    assert_int_equal(pawl__json_len(&variables), 2);
    request = start_of("varies");
    request.what.activity_id = pawl__str("b");
    assert_int_equal(started(desk, &request).outcome.sub_status, PAWL_SUB_FINISHED);
    request.what.activity_id = pawl__str("nope");
    assert_code(pawl__op_instance_start(&desk->op, &request, &result), PAWL_ENOTFOUND);
    request = start_of("varies");
    request.what.input = parse(desk, "[1]");
    assert_code(pawl__op_instance_start(&desk->op, &request, &result), PAWL_EINVAL);
}

static void a_key_returns_the_instance_that_was_started(struct desk *desk)
{
    struct pawl_instance_start request = start_of("waits");
    struct pawl_instance_result first, second;

    desk_publish(desk, desk_waits);
    request.what.idempotency_key = pawl__str("k");
    first = started(desk, &request);
    second = started(desk, &request);
    assert_true(second.outcome.existed);
    assert_string_equal(first.outcome.instance_id, second.outcome.instance_id);
    assert_int_equal(second.outcome.sub_status, PAWL_SUB_SUSPENDED);
}

static void a_dispatch_creates_many_that_run_later(struct desk *desk)
{
    struct pawl_instance_start request = start_of("ends");
    struct pawl_worked worked;
    struct pawl_str *ids;
    uint32_t count;

    desk_publish(desk, desk_ends);
    assert_ok(pawl__op_instances_dispatch(&desk->op, &request, 5, &ids, &count), &desk->err);
    assert_int_equal(count, 5);
    assert_true(pawl__str_is(row_of(desk, ids[4].ptr).sub_status, "Pending"));
    assert_ok(pawl__op_drain(&desk->op, &worked), &desk->err);
    assert_true(worked.done >= 5);
    for (uint32_t i = 0; i < count; i++)
        assert_true(pawl__str_is(row_of(desk, ids[i].ptr).sub_status, "Finished"));
    request.what.instance_id = pawl__str("one");
    assert_code(pawl__op_instances_dispatch(&desk->op, &request, 2, &ids, &count), PAWL_EINVAL);
}

static void a_key_of_another_start_is_refused(struct desk *desk)
{
    struct pawl_instance_start request = start_of("waits");
    struct pawl_instance_result result;

    desk_publish(desk, desk_waits);
    desk_publish(desk, desk_ends);
    request.what.idempotency_key = pawl__str("key");
    request.what.input = parse(desk, "{\"a\":1}");
    assert_false(started(desk, &request).outcome.existed);
    assert_true(started(desk, &request).outcome.existed);
    request.what.input = parse(desk, "{\"a\":2}");
    assert_code(pawl__op_instance_start(&desk->op, &request, &result), PAWL_ECONFLICT);
    request.what.input = parse(desk, "{\"a\":1}");
    request.what.instance_id = pawl__str("another");
    assert_code(pawl__op_instance_start(&desk->op, &request, &result), PAWL_ECONFLICT);
    request.what.instance_id = pawl__str("");
    request.detached = true;
    assert_true(started(desk, &request).outcome.existed);
    request = start_of("ends");
    request.what.idempotency_key = pawl__str("key");
    assert_code(pawl__op_instance_start(&desk->op, &request, &result), PAWL_ECONFLICT);
}

static void a_dispatch_with_a_key_is_made_once(struct desk *desk)
{
    struct pawl_instance_start request = start_of("ends");
    struct pawl_str *first, *second;
    uint32_t count;

    desk_publish(desk, desk_ends);
    request.what.idempotency_key = pawl__str("key");
    assert_ok(pawl__op_instances_dispatch(&desk->op, &request, 4, &first, &count), &desk->err);
    assert_int_equal(count, 4);
    assert_ok(pawl__op_instances_dispatch(&desk->op, &request, 4, &second, &count), &desk->err);
    assert_int_equal(count, 4);
    for (uint32_t i = 0; i < count; i++)
        assert_true(pawl__str_equal(first[i], second[i]));
    assert_code(pawl__op_instances_dispatch(&desk->op, &request, 5, &second, &count),
                PAWL_ECONFLICT);
    assert_int_equal(count, 0);
}

static void many_are_imported_and_one_that_is_there_stops_none(struct desk *desk)
{
    struct pawl_json all = pawl__json_array(), exported, wrong;
    struct pawl_bulk_result result;
    struct pawl_instance_row row;

    desk_publish(desk, desk_waits);
    for (int i = 0; i < 3; i++) {
        const char *const ids[] = {"a", "b", "c"};

        (void)desk_start(desk, "waits", ids[i], NULL, NULL);
        assert_ok(pawl__op_instance_export(&desk->op, pawl__str(ids[i]), &PAWL_INSTANCE_EXPORT_ALL,
                                           &exported, NULL),
                  &desk->err);
        assert_code(pawl__json_append(&desk->arena, &all, exported), PAWL_OK);
    }
    /* All are there as the documents say: there is nothing to do. */
    assert_ok(pawl__op_instances_import(&desk->op, &all, &result), &desk->err);
    assert_int_equal(result.done, 3);
    assert_int_equal(result.failed, 0);
    assert_ok(pawl__op_instance_delete(&desk->op, pawl__str("a")), &desk->err);
    assert_ok(pawl__op_instance_cancel(&desk->op, pawl__str("b"), true, &row), &desk->err);
    assert_ok(pawl__op_instance_delete(&desk->op, pawl__str("c")), &desk->err);
    assert_ok(pawl__op_instances_import(&desk->op, &all, &result), &desk->err);
    assert_int_equal(result.done, 2);
    assert_int_equal(result.failed, 1);
    assert_code(result.error.code, PAWL_EEXISTS);
    assert_true(pawl__str_is(row_of(desk, "c").sub_status, "Suspended"));
    /* Nothing of these is taken over if one of them is something else. */
    assert_ok(pawl__op_instance_delete(&desk->op, pawl__str("a")), &desk->err);
    wrong = parse(desk, "{}");
    assert_code(pawl__json_append(&desk->arena, &all, wrong), PAWL_OK);
    assert_code(pawl__op_instances_import(&desk->op, &all, &result), PAWL_EPARSE);
    assert_code(pawl__op_instance_delete(&desk->op, pawl__str("a")), PAWL_ENOTFOUND);
}

/* ---- looking and changing ------------------------------------------------------------------- */

struct heard {
    char id[PAWL_INSTANCE_ID_MAX + 1];
    int64_t revision;
};

static void hear(void *ctx, struct pawl_str instance_id, int64_t revision)
{
    struct heard *heard = ctx;

    (void)snprintf(heard->id, sizeof heard->id, "%.*s", PAWL_STR_ARG(instance_id));
    heard->revision = revision;
}

static void revisions_are_told_and_found_in_one_query(struct desk *desk)
{
    struct heard heard = {0};
    struct pawl_str ids[3] = {[2] = pawl__str("nope")};
    int64_t revisions[3] = {-1, -1, -1};
    int finds;

    desk_publish(desk, desk_waits);
    ids[0] = desk_start(desk, "waits", "one", NULL, NULL);
    pawl__op_changes_listen(desk->host, hear, &heard);
    ids[1] = desk_start(desk, "waits", "two", NULL, NULL);
    pawl__op_changes_listen(desk->host, NULL, NULL);
    finds = atomic_load(&desk->finds);
    assert_ok(pawl__op_instance_revisions(&desk->op, ids, 3, revisions), &desk->err);
    assert_int_equal(atomic_load(&desk->finds) - finds, 1);
    assert_int_equal(revisions[0], row_of(desk, "one").revision);
    assert_int_equal(revisions[1], heard.revision);
    assert_str(ids[1], heard.id);
    assert_int_equal(revisions[2], 0);
    assert_code(pawl__op_instance_revisions(&desk->op, ids, PAWL_REVISIONS_MAX + 1, revisions),
                PAWL_EINVAL);
}

static void what_is_not_there_is_not_found(struct desk *desk)
{
    struct pawl_json none = parse(desk, "[{\"type\":\"Cancel\"}]");
    struct pawl_instance_altered altered;
    struct pawl_instance_result result;
    struct pawl_instance_shown shown;
    struct pawl_run run = {.input = {.type = PAWL_JSON_NULL},
                           .variables = {.type = PAWL_JSON_NULL}};
    struct pawl_str id = pawl__str("nope");
    struct pawl_outcome outcome;
    bool exists = true;

    assert_code(pawl__op_instance_show(&desk->op, id, true, &shown), PAWL_ENOTFOUND);
    assert_code(pawl__op_instance_cancel(&desk->op, id, false, NULL), PAWL_ENOTFOUND);
    assert_code(pawl__op_instance_delete(&desk->op, id), PAWL_ENOTFOUND);
    assert_code(pawl__op_instance_alter(&desk->op, id, &none, false, &altered), PAWL_ENOTFOUND);
    assert_code(pawl__op_instance_retry(&desk->op, id, NULL, 0, &outcome), PAWL_ENOTFOUND);
    assert_code(pawl__op_instance_resume(&desk->op, id, &run, false, &result), PAWL_ENOTFOUND);
    assert_code(pawl__op_instance_wait(&desk->op, id, PAWL_WAIT_ENDED, false, NULL),
                PAWL_ENOTFOUND);
    assert_ok(pawl__op_instance_exists(&desk->op, id, &exists), &desk->err);
    assert_false(exists);
    assert_code(pawl__op_instance_show(&desk->op, pawl__str(""), true, &shown), PAWL_EINVAL);
}

static void one_whose_state_cannot_be_read_is_shown_all_the_same(struct desk *desk)
{
    struct pawl_instance_shown shown;

    desk_publish(desk, desk_waits);
    (void)desk_start(desk, "waits", "w", NULL, NULL);
    desk_damage(desk, "w");
    assert_ok(pawl__op_instance_show(&desk->op, pawl__str("w"), true, &shown), &desk->err);
    assert_true(pawl__str_is(shown.row.id, "w"));
    assert_int_equal(shown.unreadable.code, PAWL_ECORRUPT);
    assert_true(pawl__json_is(&shown.state, PAWL_JSON_NULL));
}

/* That the store could not be asked says nothing of the state. */
static void a_store_that_fails_once_is_no_state_that_cannot_be_read(struct desk *desk)
{
    struct pawl_instance_shown shown;
    struct pawl_why why;

    desk_publish(desk, desk_waits);
    (void)desk_start(desk, "waits", "w", NULL, NULL);
    atomic_store(&desk->finds_failed, 1);
    assert_code(pawl__op_instance_show(&desk->op, pawl__str("w"), true, &shown), PAWL_EUNAVAILABLE);
    assert_int_equal(desk->err.code, PAWL_EUNAVAILABLE);
    atomic_store(&desk->finds_failed, 1);
    assert_code(pawl__op_instance_why(&desk->op, pawl__str("w"), &why), PAWL_EUNAVAILABLE);
    assert_int_equal(atomic_load(&desk->finds_failed), 0);
    assert_ok(pawl__op_instance_why(&desk->op, pawl__str("w"), &why), &desk->err);
}

static void variables_are_read_and_written(struct desk *desk)
{
    struct pawl_json out;
    struct pawl_str id;

    desk_publish(desk, with_variable);
    id = desk_start(desk, "varies", "v", NULL, NULL);
    assert_ok(pawl__op_instance_variables(&desk->op, id, &out), &desk->err);
    assert_int_equal(pawl__json_len(&out), 1);
    assert_true(
        pawl__str_is(pawl__json_str(pawl__json_get_text(pawl__json_at(&out, 0), "value")), "abc"));
    {
        struct pawl_json set = parse(desk, "[{\"id\":\"v1\",\"value\":\"changed\"}]");
        struct pawl_json wrong = parse(desk, "[{\"id\":\"nope\",\"value\":1}]");

        assert_ok(pawl__op_instance_set_variables(&desk->op, id, &set, false, &out), &desk->err);
        assert_true(pawl__str_is(
            pawl__json_str(pawl__json_get_text(pawl__json_at(&out, 0), "value")), "changed"));
        assert_code(pawl__op_instance_set_variables(&desk->op, id, &wrong, false, &out),
                    PAWL_ENOTFOUND);
        assert_ok(pawl__op_instance_set_variables(&desk->op, id, &wrong, true, &out), &desk->err);
        assert_int_equal(pawl__json_len(&out), 1);
        assert_code(
            pawl__op_instance_set_variables(&desk->op, id, &(struct pawl_json){0}, true, &out),
            PAWL_EINVAL);
    }
    assert_ok(pawl__op_instance_cancel(&desk->op, id, false, NULL), &desk->err);
    /* They stay, as they were. */
    assert_ok(pawl__op_instance_variables(&desk->op, id, &out), &desk->err);
    assert_int_equal(pawl__json_len(&out), 1);
    assert_true(pawl__str_is(pawl__json_str(pawl__json_get_text(pawl__json_at(&out, 0), "value")),
                             "changed"));
}

static void an_export_has_the_parts_that_are_asked_for(struct desk *desk)
{
    struct pawl_instance_export parts = {.log_records = true};
    struct pawl_json whole, some;
    struct pawl_outcome outcome;
    uint64_t mail;

    desk_publish(desk, desk_waits);
    (void)desk_start(desk, "waits", "w", NULL, NULL);
    assert_ok(pawl__op_instance_export(&desk->op, pawl__str("w"), &PAWL_INSTANCE_EXPORT_ALL, &whole,
                                       &mail),
              &desk->err);
    assert_int_equal(mail, 0);
    assert_ok(pawl__op_instance_export(&desk->op, pawl__str("w"), &parts, &some, NULL), &desk->err);
    assert_true(pawl__json_is(pawl__json_get_text(&some, "Bookmarks"), PAWL_JSON_NULL));
    assert_true(
        pawl__json_is(pawl__json_get_text(&some, "ActivityExecutionRecords"), PAWL_JSON_NULL));
    assert_true(
        pawl__json_is(pawl__json_get_text(&some, "WorkflowExecutionLogRecords"), PAWL_JSON_ARRAY));
    assert_code(pawl__op_instance_import(&desk->op, &whole, &outcome), PAWL_EEXISTS);
    assert_ok(pawl__op_instance_delete(&desk->op, pawl__str("w")), &desk->err);
    assert_true(pawl__op_instance_is_export(&whole));
    assert_ok(pawl__op_instance_import(&desk->op, &whole, &outcome), &desk->err);
    assert_string_equal(outcome.instance_id, "w");
    whole = pawl__json_object();
    assert_false(pawl__op_instance_is_export(&whole));
    assert_code(pawl__op_instance_import(&desk->op, &whole, &outcome), PAWL_EPARSE);
}

/* A page of the journal that is larger than what an export may hold. */
static void put_large_page(struct desk *desk, const char *instance_id, size_t size_bytes)
{
    char *bytes = pawl__arena_alloc_zeroed(&desk->arena, size_bytes);
    struct pawl_journal_row row = {.instance_id = pawl__str(instance_id),
                                   .first_sequence = 1000,
                                   .count = 1,
                                   .data = pawl__str_make(bytes, size_bytes)};
    struct pawl_change change = {PAWL_CHANGE_PUT, PAWL_TABLE_JOURNAL, &row};
    struct pawl_commit commit = {.changes = &change, .change_count = 1};
    struct pawl_commit *commits[] = {&commit};

    assert_non_null(bytes);
    assert_ok(pawl_store_apply(pawl__host_store(desk->host), commits, 1, desk->op.deadline_ns,
                               &desk->err),
              &desk->err);
    assert_code(commit.status, PAWL_OK);
}

static void an_instance_with_a_journal_that_is_too_large_is_exported_without_it(struct desk *desk)
{
    struct pawl_instance_export parts = PAWL_INSTANCE_EXPORT_ALL;
    struct pawl_op op = desk->op;
    struct pawl_json exported;
    struct pawl_arena arena;
    int finds;

    desk_publish(desk, desk_waits);
    (void)desk_start(desk, "waits", "w", NULL, NULL);
    put_large_page(desk, "w", (size_t)2 << 20);
    pawl__arena_init(&arena, &desk->env->alloc, (size_t)1 << 20);
    op.arena = &arena;
    assert_code(pawl__op_instance_export(&op, pawl__str("w"), &parts, &exported, NULL),
                PAWL_ELIMIT);
    assert_non_null(strstr(desk->err.msg, "leave out its log and its activity records"));
    pawl__arena_reset(&arena);
    parts.activity_records = parts.log_records = false;
    finds = atomic_load(&desk->finds);
    assert_ok(pawl__op_instance_export(&op, pawl__str("w"), &parts, &exported, NULL), &desk->err);
    assert_int_equal(atomic_load(&desk->finds) - finds, 1); /* its row */
    assert_int_equal(pawl__json_len(pawl__json_get_text(&exported, "Bookmarks")), 1);
    assert_true(
        pawl__json_is(pawl__json_get_text(&exported, "ActivityExecutionRecords"), PAWL_JSON_NULL));
    assert_true(pawl__json_is(pawl__json_get_text(&exported, "WorkflowExecutionLogRecords"),
                              PAWL_JSON_NULL));
    pawl__arena_release(&arena);
}

/* A bookmark is its id: of two instances with the same one, an event would reach only one. */
static void an_import_takes_no_bookmark_from_another_instance(struct desk *desk)
{
    struct pawl_instance_export all = PAWL_INSTANCE_EXPORT_ALL;
    struct pawl_json whole, state, bookmarks, twice;
    struct pawl_outcome outcome;
    struct pawl_send_result sent;

    desk_publish(desk, desk_waits);
    (void)desk_start(desk, "waits", "w", NULL, NULL);
    assert_ok(pawl__op_instance_export(&desk->op, pawl__str("w"), &all, &whole, NULL), &desk->err);
    state = *pawl__json_get_nocase(&whole, pawl__str("WorkflowState"));
    assert_int_equal(PAWL_OK, pawl__json_set_text(&desk->arena, &state, "id",
                                                  pawl__json_string(pawl__str("copy"))));
    assert_int_equal(PAWL_OK, pawl__json_set_text(&desk->arena, &whole, "WorkflowState", state));
    assert_code(pawl__op_instance_import(&desk->op, &whole, &outcome), PAWL_ECONFLICT);
    assert_non_null(strstr(desk->err.msg, "another instance"));
    assert_ok(pawl__op_event_send(&desk->op,
                                  &(struct pawl_send_request){.name = pawl__str("Go"),
                                                              .instance_id = pawl__str("w")},
                                  &sent),
              &desk->err);
    assert_int_equal(sent.resumed, 1);

    bookmarks = *pawl__json_get_text(&state, "bookmarks");
    twice = *pawl__json_at(&bookmarks, 0);
    assert_int_equal(PAWL_OK, pawl__json_append(&desk->arena, &bookmarks, twice));
    assert_int_equal(PAWL_OK, pawl__json_set_text(&desk->arena, &state, "bookmarks", bookmarks));
    assert_int_equal(PAWL_OK, pawl__json_set_text(&desk->arena, &whole, "WorkflowState", state));
    assert_code(pawl__op_instance_import(&desk->op, &whole, &outcome), PAWL_EPARSE);
}

/* ---- views ---------------------------------------------------------------------------------- */

static void check_keys(const struct pawl_json *object, const char *keys)
{
    char found[1024] = "";
    size_t len = 0;

    for (uint32_t i = 0; i < pawl__json_len(object); i++)
        len += (size_t)snprintf(found + len, sizeof found - len, "%s%.*s", i ? "," : "",
                                PAWL_STR_ARG(pawl__json_member(object, i)->key));
    assert_string_equal(found, keys);
}

/* The order of members is that of the recorded answers of the reference. */
static void views_have_the_members_of_the_reference(struct desk *desk)
{
    struct pawl_builder b = {.arena = &desk->arena};
    struct pawl_instance_shown shown;
    struct pawl_json view, variables;
    const struct pawl_json *state, *bookmark, *context;

    desk_publish(desk, with_variable);
    (void)desk_start(desk, "varies", "v", "c", "n");
    assert_ok(pawl__op_instance_show(&desk->op, pawl__str("v"), true, &shown), &desk->err);
    view = pawl__view_instance(&b, &shown);
    check_keys(&view, "id,definitionId,definitionVersionId,version,workflowState,status,subStatus,"
                      "isExecuting,correlationId,name,incidentCount,isSystem,createdAt,updatedAt");
    state = pawl__json_get_text(&view, "workflowState");
    check_keys(state, "id,definitionId,definitionVersionId,definitionVersion,correlationId,name,"
                      "status,subStatus,isExecuting,bookmarks,incidents,isSystem,"
                      "completionCallbacks,activityExecutionContexts,scheduledActivities,"
                      "executionLogSequence,input,output,properties,createdAt,updatedAt");
    bookmark = pawl__json_at(pawl__json_get_text(state, "bookmarks"), 0);
    check_keys(bookmark, "id,name,hash,payload,activityId,activityNodeId,activityInstanceId,"
                         "createdAt,autoBurn,callbackMethodName,autoComplete");
    check_keys(pawl__json_get_text(bookmark, "payload"), "eventName");
    context = pawl__json_at(pawl__json_get_text(state, "activityExecutionContexts"), 2);
    check_keys(context, "id,callStackDepth,scheduledActivityNodeId,properties,metadata,"
                        "activityState,dynamicVariables,status,isExecuting,faultCount,startedAt");
    check_keys(pawl__json_get_text(pawl__json_get_text(context, "properties"), "Variables"), "v1");
    view = pawl__view_execution_state(&b, &shown.row);
    check_keys(&view, "status,subStatus,updatedAt");
    assert_ok(pawl__op_instance_variables(&desk->op, pawl__str("v"), &variables), &desk->err);
    view = pawl__view_variables(&b, &variables);
    check_keys(&view, "items,count");
    check_keys(pawl__json_at(pawl__json_get_text(&view, "items"), 0), "id,name,value");
    assert_int_equal(b.status, PAWL_OK);
}

static void a_state_is_shown_without_marks_of_types(struct desk *desk)
{
    struct pawl_builder b = {.arena = &desk->arena};
    struct pawl_json stored = parse(
        desk, "{\"id\":\"i\",\"pawl\":{\"x\":1},\"scheduledActivities\":[{\"a\":1,\"pawl\":2}],"
              "\"output\":{\"list\":{\"_items\":[1,{\"b\":2,\"_type\":\"T\"}],\"_type\":"
              "\"Object[]\"},\"island\":{\"_island\":\"[true]\",\"_type\":\"JsonArray\"},"
              "\"\\\\$id\":3}}");
    struct pawl_json expected =
        parse(desk, "{\"id\":\"i\",\"scheduledActivities\":[{\"a\":1}],\"output\":{\"list\":[1,"
                    "{\"b\":2}],\"island\":[true],\"$id\":3}}");
    struct pawl_json view = pawl__view_state(&b, &stored);

    assert_int_equal(b.status, PAWL_OK);
    assert_true(pawl__json_equal(&view, &expected));
}

/* ---- many ----------------------------------------------------------------------------------- */

static void start_waiting(struct desk *desk, int count)
{
    char id[16];

    for (int i = 0; i < count; i++) {
        (void)snprintf(id, sizeof id, "w%d", i);
        (void)desk_start(desk, "waits", id, i % 2 ? "odd" : "even", NULL);
    }
}

static void nothing_said_is_not_everything(struct desk *desk)
{
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;
    struct pawl_json cancel = parse(desk, "{\"type\":\"Cancel\"}");
    struct pawl_instance_altered *altered;
    struct pawl_bulk_result result;
    struct pawl_str none;
    size_t count;

    assert_code(pawl__op_instances_delete(&desk->op, &query, &result), PAWL_EINVAL);
    assert_code(pawl__op_instances_cancel(&desk->op, &query, &result), PAWL_EINVAL);
    assert_code(pawl__op_instances_alter(&desk->op, &query, &cancel, true, &altered, &count),
                PAWL_EINVAL);
    desk_publish(desk, desk_waits);
    start_waiting(desk, 1);
    query.ids = &none;
    assert_ok(pawl__op_instances_delete(&desk->op, &query, &result), &desk->err);
    assert_int_equal(result.done, 0);
}

static void many_are_cancelled_and_deleted_in_batches(struct desk *desk)
{
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;
    struct pawl_str ids[] = {pawl__str("w0"), pawl__str("nope"), pawl__str("w1")};
    struct pawl_bulk_result result;

    desk_publish(desk, desk_waits);
    start_waiting(desk, 450); /* more than two batches */
    query.ids = ids;
    query.id_count = 3;
    assert_ok(pawl__op_instances_cancel(&desk->op, &query, &result), &desk->err);
    assert_int_equal(result.done, 2);
    assert_true(pawl__str_is(row_of(desk, "w1").sub_status, "Cancelled"));
    assert_ok(pawl__op_instances_cancel(&desk->op, &query, &result), &desk->err);
    assert_int_equal(result.done, 0);
    query = PAWL_INSTANCE_QUERY_ALL;
    query.definition_id = pawl__str("waits");
    assert_ok(pawl__op_instances_cancel(&desk->op, &query, &result), &desk->err);
    assert_int_equal(result.done, 448);
    assert_int_equal(result.failed, 0);
    query.correlation_id = pawl__str("odd");
    assert_ok(pawl__op_instances_delete(&desk->op, &query, &result), &desk->err);
    assert_int_equal(result.done, 225);
    assert_false(result.is_partial);
    query.correlation_id = pawl__str("");
    assert_ok(pawl__op_instances_delete(&desk->op, &query, &result), &desk->err);
    assert_int_equal(result.done, 225);
}

/* The second batch cannot be read: the first is done, and whoever wants no message is told too. */
static void a_batch_that_cannot_be_read_is_told_with_what_was_done(struct desk *desk)
{
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;
    struct pawl_op mute = desk->op;
    struct pawl_bulk_result result = {.error = PAWL_ERROR_INIT};

    desk_publish(desk, desk_waits);
    start_waiting(desk, 210);
    mute.err = NULL;
    query.definition_id = pawl__str("waits");
    atomic_store(&desk->commits_before_failure, 200);
    assert_code(pawl__op_instances_delete(&mute, &query, &result), PAWL_OK);
    assert_int_equal(result.done, 200);
    assert_int_equal(result.failed, 0);
    assert_true(result.is_partial);
    assert_int_equal(result.error.code, PAWL_EUNAVAILABLE);
    assert_true(result.error.msg[0] != '\0');
    /* Nothing is done: that is a failure. */
    assert_code(pawl__op_instances_delete(&desk->op, &query, &result), PAWL_EUNAVAILABLE);
    assert_int_equal(desk->err.code, PAWL_EUNAVAILABLE);
    atomic_store(&desk->commits_before_failure, -1);
    assert_ok(pawl__op_instances_delete(&desk->op, &query, &result), &desk->err);
    assert_int_equal(result.done, 10);
}

static void many_are_altered_each_by_itself(struct desk *desk)
{
    struct pawl_json set =
        parse(desk, "{\"type\":\"ModifyVariable\",\"variableId\":\"v1\",\"value\":\"x\"}");
    struct pawl_str statuses[] = {pawl__str("suspended")};
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;
    struct pawl_instance_altered *altered;
    size_t count, failed = 0;

    desk_publish(desk, desk_waits);
    desk_publish(desk, with_variable);
    start_waiting(desk, 2);
    (void)desk_start(desk, "varies", "v0", NULL, NULL);
    (void)desk_start(desk, "varies", "v1", NULL, NULL);
    query.sub_statuses = statuses;
    query.sub_status_count = 1;
    assert_ok(pawl__op_instances_alter(&desk->op, &query, &set, true, &altered, &count),
              &desk->err);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++)
        failed += altered[i].error.code != PAWL_OK;
    assert_int_equal(failed, 2);
    query.status = pawl__str("sleeping");
    assert_code(pawl__op_instances_alter(&desk->op, &query, &set, true, &altered, &count),
                PAWL_EINVAL);
}

/* More than one query names; the same one at both ends is altered once. */
static void more_are_altered_than_one_query_names(struct desk *desk)
{
    struct pawl_json set =
        parse(desk, "{\"type\":\"ModifyVariable\",\"variableId\":\"v1\",\"value\":\"x\"}");
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;
    struct pawl_str ids[PAWL_STORE_VALUES_MAX + 2];
    struct pawl_instance_altered *altered;
    size_t count = sizeof ids / sizeof ids[0];

    desk_publish(desk, with_variable);
    (void)desk_start(desk, "varies", "v0", NULL, NULL);
    for (size_t i = 0; i < count; i++)
        ids[i] = pawl__str(i == 0 || i == count - 1 ? "v0" : "nobody");
    query.ids = ids;
    query.id_count = count;
    assert_ok(pawl__op_instances_alter(&desk->op, &query, &set, false, &altered, &count),
              &desk->err);
    assert_int_equal(count, 1);
    assert_code(altered[0].error.code, PAWL_OK);
}

/* The variables are stored, and what came then cannot be shown. */
static void variables_that_are_set_and_cannot_be_read_are_unknown(struct desk *desk)
{
    struct pawl_json set = parse(desk, "[{\"id\":\"v1\",\"value\":\"new\"}]"), now;

    desk_publish(desk, with_variable);
    (void)desk_start(desk, "varies", "i", NULL, NULL);
    atomic_store(&desk->commits_before_failure, 1);
    assert_code(pawl__op_instance_set_variables(&desk->op, pawl__str("i"), &set, false, &now),
                PAWL_EUNKNOWN);
    atomic_store(&desk->commits_before_failure, -1);
    assert_non_null(
        strstr(desk->err.msg, "the variables of i were set; what followed is unknown: "));
}

const struct desk_test instance_one_tests[] = {
    DESK_TEST(a_start_returns_the_state_on_request),
    DESK_TEST(a_start_returns_the_state_without_reading_it),
    DESK_TEST(a_correlation_id_that_is_too_long_is_refused),
    DESK_TEST(an_import_with_a_time_that_is_none_is_refused),
    DESK_TEST(an_import_takes_no_bookmark_from_another_instance),
    DESK_TEST(what_cannot_start_is_no_error),
    DESK_TEST(a_version_is_chosen_by_number_or_by_kind),
    DESK_TEST(a_start_takes_variables_and_an_activity),
    DESK_TEST(a_key_returns_the_instance_that_was_started),
    DESK_TEST(a_dispatch_creates_many_that_run_later),
    DESK_TEST(a_dispatch_with_a_key_is_made_once),
    DESK_TEST(a_key_of_another_start_is_refused),
    DESK_TEST(many_are_imported_and_one_that_is_there_stops_none),
    DESK_TEST(revisions_are_told_and_found_in_one_query),
    DESK_TEST(what_is_not_there_is_not_found),
    DESK_TEST(one_whose_state_cannot_be_read_is_shown_all_the_same),
    DESK_TEST(a_store_that_fails_once_is_no_state_that_cannot_be_read),
    DESK_TEST(variables_are_read_and_written),
    DESK_TEST(an_export_has_the_parts_that_are_asked_for),
    DESK_TEST(an_instance_with_a_journal_that_is_too_large_is_exported_without_it),
    DESK_TEST(views_have_the_members_of_the_reference),
    DESK_TEST(a_state_is_shown_without_marks_of_types),
    DESK_TEST(nothing_said_is_not_everything),
    DESK_TEST(many_are_cancelled_and_deleted_in_batches),
    DESK_TEST(a_batch_that_cannot_be_read_is_told_with_what_was_done),
    DESK_TEST(many_are_altered_each_by_itself),
    DESK_TEST(more_are_altered_than_one_query_names),
    DESK_TEST(variables_that_are_set_and_cannot_be_read_are_unknown),
    {.name = NULL},
};
