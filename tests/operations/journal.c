/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on the log of instances and on executions of activities. */
#include "operations/journal.h"
#include "operations/desk.h"
#include "operations/instances.h"
#include "operations/stimuli.h"

#include "host/features.h"
#include "runtime/runtime.h"
#include "views/journal.h"

#include <stdio.h>

/* Commits after every activity: a row of the journal for each. Writes a line N times. */
static void publish_loop(struct desk *desk, int times)
{
    char json[1024];

    (void)snprintf(
        json, sizeof json,
        "{\"definitionId\":\"loop\",\"options\":{\"commitStrategyName\":\"ActivityExecuted\"},"
        "\"root\":{\"id\":\"for\",\"type\":\"Elsa.For\","
        "\"start\":{\"typeName\":\"Int32\",\"expression\":{\"type\":\"Literal\",\"value\":1}},"
        "\"end\":{\"typeName\":\"Int32\",\"expression\":{\"type\":\"Literal\",\"value\":%d}},"
        "\"step\":{\"typeName\":\"Int32\",\"expression\":{\"type\":\"Literal\",\"value\":1}},"
        "\"body\":{\"id\":\"line\",\"type\":\"Elsa.WriteLine\",\"text\":{\"typeName\":\"String\","
        "\"expression\":{\"type\":\"Literal\",\"value\":\"x\"}}}}}",
        times);
    desk_publish(desk, json);
}

/* All of it, as the runtime reads it. */
static struct pawl_json whole_log(struct desk *desk, struct pawl_str id)
{
    struct pawl_json log, records;

    assert_ok(pawl__runtime_journal(pawl__host_node(desk->host), id, &desk->arena, &log, &records,
                                    desk->op.deadline_ns, &desk->err),
              &desk->err);
    return log;
}

static struct pawl_journal_list list(struct desk *desk, const struct pawl_journal_query *query)
{
    struct pawl_journal_list out = {.total = 0};

    assert_ok(pawl__op_journal_list(&desk->op, query, &out), &desk->err);
    return out;
}

static void assert_same_record(const struct pawl_json *a, const struct pawl_json *b)
{
    assert_non_null(a);
    assert_non_null(b);
    assert_true(pawl__str_equal(pawl__json_str(pawl__json_get_text(a, "id")),
                                pawl__json_str(pawl__json_get_text(b, "id"))));
}

/* Every page of every size, from both ends, has the records that the whole log has there. */
static void check_pages(struct desk *desk, struct pawl_str id)
{
    static const uint32_t sizes[] = {1, 3, 7, 50};
    struct pawl_json log = whole_log(desk, id);
    uint32_t count = pawl__json_len(&log);

    assert_true(count > 50);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (uint32_t offset = 0; offset < count + 3; offset += sizes[s] == 1 ? 5 : sizes[s]) {
            for (int newest = 0; newest < 2; newest++) {
                struct pawl_journal_query query = {
                    .instance_id = id, .offset = offset, .limit = sizes[s], .newest_first = newest};
                struct pawl_journal_list page = list(desk, &query);
                uint32_t rest = offset < count ? count - offset : 0;

                assert_int_equal(page.total, count);
                assert_int_equal(pawl__json_len(&page.records), rest < sizes[s] ? rest : sizes[s]);
                for (uint32_t i = 0; i < pawl__json_len(&page.records); i++)
                    assert_same_record(
                        pawl__json_at(&page.records, i),
                        pawl__json_at(&log, newest ? count - 1 - offset - i : offset + i));
            }
        }
    }
}

static void a_page_of_a_log_is_a_part_of_the_whole(struct desk *desk)
{
    publish_loop(desk, 40);
    check_pages(desk, desk_start(desk, "loop", "i", NULL, NULL));
}

/* By its time too. */
static void check_mark_is_first(struct desk *desk, struct pawl_str id)
{
    const uint32_t sequence = pawl_table_column(PAWL_TABLE_JOURNAL, "first_sequence");
    const struct pawl_condition conditions[] = {
        {.column = pawl_table_column(PAWL_TABLE_JOURNAL, "instance_id"), .value = {.text = id}},
        {.column = sequence, .compare = PAWL_GE, .value = {.integer = 0}},
    };
    const struct pawl_query query = {.table = PAWL_TABLE_JOURNAL,
                                     .conditions = conditions,
                                     .condition_count = 2,
                                     .order = sequence,
                                     .limit = 2};
    const struct pawl_journal_row *row;
    struct pawl_rows rows = {0};

    assert_ok(pawl_store_find(pawl__host_store(desk->host), &query, &desk->arena, &rows,
                              desk->op.deadline_ns, &desk->err),
              &desk->err);
    assert_int_equal(rows.count, 2);
    row = rows.rows;
    assert_true(row[0].to_us <= row[1].from_us);
}

static void a_page_of_a_log_that_was_cut_begins_with_the_mark(struct desk *desk)
{
    struct pawl_journal_query query = {.limit = 1};
    struct pawl_journal_list page;
    struct pawl_str id;

    publish_loop(desk, 300);
    id = desk_start(desk, "loop", "i", NULL, NULL);
    query.instance_id = id;
    page = list(desk, &query);
    assert_str(pawl__json_str(pawl__json_get_text(pawl__json_at(&page.records, 0), "eventName")),
               "Truncated");
    check_pages(desk, id);
    check_mark_is_first(desk, id);
}

static void a_filtered_page_reads_no_more_than_it_shows(struct desk *desk)
{
    struct pawl_str started = pawl__str("Started");
    struct pawl_journal_query query = {.instance_id = pawl__str("i"),
                                       .events = &started,
                                       .event_count = 1,
                                       .limit = 5,
                                       .offset = 2};
    struct pawl_journal_list all, page;

    publish_loop(desk, 20);
    (void)desk_start(desk, "loop", "i", NULL, NULL);
    all = list(desk, &query);
    query.without_total = true;
    page = list(desk, &query);
    assert_true(all.total > 7);
    assert_int_equal(page.total, 7);
    assert_int_equal(pawl__json_len(&page.records), 5);
    assert_str(pawl__json_str(pawl__json_get_text(pawl__json_at(&page.records, 4), "id")),
               pawl__json_str(pawl__json_get_text(pawl__json_at(&all.records, 4), "id")).ptr);
}

static void a_filter_narrows_a_log(struct desk *desk)
{
    struct pawl_str started = pawl__str("Started"), line = pawl__str("line"),
                    type = pawl__str("Elsa.WriteLine");
    struct pawl_journal_query query = {.instance_id = pawl__str("i"), .limit = 5};
    struct pawl_journal_list all, page;
    uint64_t total;

    publish_loop(desk, 20);
    (void)desk_start(desk, "loop", "i", NULL, NULL);
    total = list(desk, &query).total;
    query.events = &started;
    query.event_count = 1;
    query.activity_ids = &line;
    query.activity_id_count = 1;
    all = list(desk, &query);
    assert_int_equal(all.total, 20);
    assert_int_equal(pawl__json_len(&all.records), 5);
    query.offset = 18;
    query.newest_first = true;
    page = list(desk, &query);
    assert_int_equal(page.total, 20);
    assert_int_equal(pawl__json_len(&page.records), 2);
    assert_same_record(pawl__json_at(&page.records, 1), pawl__json_at(&all.records, 0));
    query.event_count = 0;
    assert_int_equal(list(desk, &query).total, 0);
    query = (struct pawl_journal_query){
        .instance_id = pawl__str("i"), .excluded_types = &type, .excluded_type_count = 1};
    assert_int_equal(list(desk, &query).total, total - 40);
}

static void the_last_record_of_an_activity_is_found(struct desk *desk)
{
    struct pawl_json record;

    publish_loop(desk, 10);
    (void)desk_start(desk, "loop", "i", NULL, NULL);
    assert_ok(pawl__op_journal_last(&desk->op, pawl__str("i"), pawl__str("line"), &record),
              &desk->err);
    assert_str(pawl__json_str(pawl__json_get_text(&record, "eventName")), "Completed");
    assert_code(pawl__op_journal_last(&desk->op, pawl__str("i"), pawl__str("none"), &record),
                PAWL_ENOTFOUND);
}

static void an_unknown_instance_has_no_log(struct desk *desk)
{
    struct pawl_journal_query query = {.instance_id = pawl__str("none")};
    struct pawl_journal_list page = list(desk, &query);

    assert_int_equal(page.total, 0);
    assert_int_equal(pawl__json_len(&page.records), 0);
    query.limit = PAWL_PAGE_ROWS_MAX + 1;
    assert_code(pawl__op_journal_list(&desk->op, &query, &page), PAWL_EINVAL);
}

static struct pawl_str last_execution_of(struct desk *desk, const char *instance_id)
{
    const struct pawl_execution_query query = {.instance_id = pawl__str(instance_id),
                                               .is_completed = -1};
    struct pawl_json all;

    assert_ok(pawl__op_executions_list(&desk->op, &query, &all), &desk->err);
    assert_true(pawl__json_len(&all) > 0);
    return pawl__json_str(pawl__json_get_text(pawl__json_at(&all, pawl__json_len(&all) - 1), "id"));
}

static void an_execution_is_found_by_its_id_alone(struct desk *desk)
{
    struct pawl_str ids[3], found;
    struct pawl_json one, stack;

    desk_publish(desk, desk_waits);
    desk_publish(desk, desk_ends);
    (void)desk_start(desk, "waits", "w1", NULL, NULL);
    (void)desk_start(desk, "waits", "w2", NULL, NULL);
    (void)desk_start(desk, "ends", "e1", NULL, NULL);
    ids[0] = last_execution_of(desk, "w1");
    ids[1] = last_execution_of(desk, "w2");
    ids[2] = last_execution_of(desk, "e1");
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(ids[i].len, 32);
        assert_ok(pawl__op_execution_locate(&desk->op, ids[i], &found), &desk->err);
        assert_str(found, i == 0 ? "w1" : i == 1 ? "w2" : "e1");
        assert_ok(pawl__op_execution_show(&desk->op, pawl__str(""), ids[i], &one), &desk->err);
        assert_true(pawl__str_equal(pawl__json_str(pawl__json_get_text(&one, "id")), ids[i]));
        assert_ok(pawl__op_execution_stack(&desk->op, pawl__str(""), ids[i], true, &stack),
                  &desk->err);
        assert_true(pawl__json_len(&stack) >= 1);
    }
    assert_code(pawl__op_execution_locate(&desk->op, pawl__str("none"), &found), PAWL_ENOTFOUND);
    assert_code(
        pawl__op_execution_locate(&desk->op, pawl__str("00000000000000000000000000000000"), &found),
        PAWL_ENOTFOUND);
    assert_code(pawl__op_execution_locate(&desk->op, pawl__str(""), &found), PAWL_EINVAL);
    assert_ok(pawl__op_instance_delete(&desk->op, pawl__str("w1")), &desk->err);
    assert_code(pawl__op_execution_locate(&desk->op, ids[0], &found), PAWL_ENOTFOUND);
}

static void an_execution_of_an_imported_instance_is_found_too(struct desk *desk)
{
    struct pawl_json exported, *records, *id;
    struct pawl_send_request go = {.name = pawl__str("Go")};
    struct pawl_send_result sent;
    struct pawl_outcome outcome;
    struct pawl_str found, later;

    desk_publish(desk, desk_waits);
    (void)desk_start(desk, "waits", "w1", NULL, NULL);
    assert_ok(pawl__op_instance_export(&desk->op, pawl__str("w1"),
                                       &(struct pawl_instance_export){true, true, true}, &exported,
                                       NULL),
              &desk->err);
    assert_ok(pawl__op_instance_delete(&desk->op, pawl__str("w1")), &desk->err);
    records = pawl__json_get_text(&exported, "ActivityExecutionRecords");
    assert_true(pawl__json_len(records) > 0);
    id = pawl__json_get_nocase(pawl__json_at(records, 0), pawl__str("id"));
    *id = pawl__json_string(pawl__str("f00dfeed")); /* as another engine names them */
    assert_ok(pawl__op_instance_import(&desk->op, &exported, &outcome), &desk->err);
    assert_ok(pawl__op_execution_locate(&desk->op, pawl__str("f00dfeed"), &found), &desk->err);
    assert_str(found, "w1");
    /* What it does from now on has ids of its own. */
    assert_ok(pawl__op_event_send(&desk->op, &go, &sent), &desk->err);
    desk_drain(desk);
    later = last_execution_of(desk, "w1");
    assert_ok(pawl__op_execution_locate(&desk->op, later, &found), &desk->err);
    assert_str(found, "w1");
    assert_ok(pawl__op_instance_delete(&desk->op, pawl__str("w1")), &desk->err);
    assert_code(pawl__op_execution_locate(&desk->op, pawl__str("f00dfeed"), &found),
                PAWL_ENOTFOUND);
}

static void executions_are_listed_and_counted_by_node(struct desk *desk)
{
    struct pawl_execution_query query = {
        .instance_id = pawl__str("i"), .activity_id = pawl__str("line"), .is_completed = -1};
    const struct pawl_execution_stats *stats = NULL;
    struct pawl_json all, one, stack;
    struct pawl_str id;
    size_t count = 0, lines = 0;

    publish_loop(desk, 10);
    desk_publish(desk, desk_waits);
    (void)desk_start(desk, "loop", "i", NULL, NULL);
    (void)desk_start(desk, "waits", "w", NULL, NULL);
    assert_ok(pawl__op_executions_list(&desk->op, &query, &all), &desk->err);
    assert_int_equal(pawl__json_len(&all), 10);
    query.is_completed = 0;
    assert_ok(pawl__op_executions_list(&desk->op, &query, &all), &desk->err);
    assert_int_equal(pawl__json_len(&all), 0);
    query = (struct pawl_execution_query){.instance_id = pawl__str("w"), .is_completed = 0};
    assert_ok(pawl__op_executions_list(&desk->op, &query, &all), &desk->err);
    assert_int_equal(pawl__json_len(&all), 2); /* the workflow and its event */
    id = pawl__json_str(pawl__json_get_text(pawl__json_at(&all, 1), "id"));
    assert_ok(pawl__op_execution_show(&desk->op, pawl__str("w"), id, &one), &desk->err);
    assert_str(pawl__json_str(pawl__json_get_text(&one, "activityId")), "e");
    assert_ok(pawl__op_execution_stack(&desk->op, pawl__str("w"), id, true, &stack), &desk->err);
    assert_same_record(pawl__json_at(&stack, pawl__json_len(&stack) - 1), &one);
    assert_code(pawl__op_execution_show(&desk->op, pawl__str("w"), pawl__str("none"), &one),
                PAWL_ENOTFOUND);
    assert_ok(pawl__op_executions_report(&desk->op, pawl__str("i"), NULL, 0, &stats, &count),
              &desk->err);
    for (size_t i = 0; i < count; i++) {
        if (pawl__str_is(stats[i].activity_id, "line")) {
            lines++;
            assert_int_equal(stats[i].started, 10);
            assert_int_equal(stats[i].completed, 10);
            assert_false(stats[i].is_blocked);
        }
    }
    assert_int_equal(lines, 1);
    assert_int_equal(count, 3);
    assert_ok(pawl__op_executions_report(&desk->op, pawl__str("w"), NULL, 0, &stats, &count),
              &desk->err);
    assert_true(stats[1].is_blocked);
}

/* Without an instance: of all of them, the oldest first. */
static void executions_are_listed_over_all_instances(struct desk *desk)
{
    const struct pawl_execution_query query = {.is_completed = -1};
    const struct pawl_execution_stats *stats;
    struct pawl_json all;
    size_t count;

    assert_ok(pawl__op_executions_list(&desk->op, &query, &all), &desk->err);
    assert_int_equal(pawl__json_len(&all), 0);
    desk_publish(desk, desk_waits);
    desk_publish(desk, desk_ends);
    (void)desk_start(desk, "waits", "w", NULL, NULL);
    (void)desk_start(desk, "ends", "e", NULL, NULL);
    assert_ok(pawl__op_executions_list(&desk->op, &query, &all), &desk->err);
    assert_true(pawl__json_len(&all) > 2);
    assert_true(pawl__str_is(
        pawl__json_str(pawl__json_get_text(pawl__json_at(&all, 0), "workflowInstanceId")), "w"));
    assert_true(
        pawl__str_is(pawl__json_str(pawl__json_get_text(
                         pawl__json_at(&all, pawl__json_len(&all) - 1), "workflowInstanceId")),
                     "e"));
    assert_ok(pawl__op_executions_report(&desk->op, pawl__str(""), NULL, 0, &stats, &count),
              &desk->err);
    assert_int_equal(stats[0].started, 2); /* the root of both */
}

/* As recorded: golden/api/22, "journal". */
static void a_log_record_is_shown_as_the_reference_does(struct desk *desk)
{
    static const char *const keys[] = {
        "id",     "activityInstanceId", "activityId", "activityType", "activityTypeVersion",
        "nodeId", "timestamp",          "sequence",   "eventName"};
    struct pawl_journal_query query = {.instance_id = pawl__str("i"), .limit = 1};
    struct pawl_builder b = {.arena = &desk->arena};
    struct pawl_journal_list page;
    struct pawl_json view;

    publish_loop(desk, 1);
    (void)desk_start(desk, "loop", "i", NULL, NULL);
    page = list(desk, &query);
    view = pawl__view_journal_record(&b, pawl__json_at(&page.records, 0));
    assert_int_equal(b.status, PAWL_OK);
    assert_int_equal(pawl__json_len(&view), sizeof keys / sizeof keys[0]);
    for (uint32_t i = 0; i < pawl__json_len(&view); i++)
        assert_str(pawl__json_member(&view, i)->key, keys[i]);
}

static void a_journal_can_be_counted_and_must_be_there(struct desk *desk)
{
    struct pawl_journal_query query = {.instance_id = pawl__str("w"), .total_only = true};
    struct pawl_journal_list page;

    desk_publish(desk, desk_waits);
    (void)desk_start(desk, "waits", "w", NULL, NULL);
    assert_ok(pawl__op_journal_list(&desk->op, &query, &page), &desk->err);
    assert_int_equal(pawl__json_len(&page.records), 0);
    assert_true(page.total > 0);
    query.instance_id = pawl__str("nope");
    assert_ok(pawl__op_journal_list(&desk->op, &query, &page), &desk->err);
    assert_int_equal(page.total, 0);
    query.must_exist = true;
    assert_code(pawl__op_journal_list(&desk->op, &query, &page), PAWL_ENOTFOUND);
}

const struct desk_test journal_tests[] = {
    DESK_TEST(executions_are_listed_over_all_instances),
    DESK_TEST(a_journal_can_be_counted_and_must_be_there),
    DESK_TEST(a_page_of_a_log_is_a_part_of_the_whole),
    {.name = "a_page_of_a_log_that_was_cut_begins_with_the_mark",
     .run = a_page_of_a_log_that_was_cut_begins_with_the_mark,
     .setting = "journal.max_records=100"},
    DESK_TEST(a_filtered_page_reads_no_more_than_it_shows),
    DESK_TEST(a_filter_narrows_a_log),
    DESK_TEST(the_last_record_of_an_activity_is_found),
    DESK_TEST(an_unknown_instance_has_no_log),
    DESK_TEST(executions_are_listed_and_counted_by_node),
    DESK_TEST(an_execution_is_found_by_its_id_alone),
    DESK_TEST(an_execution_of_an_imported_instance_is_found_too),
    DESK_TEST(a_log_record_is_shown_as_the_reference_does),
    {.name = NULL},
};
