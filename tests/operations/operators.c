/* SPDX-License-Identifier: Apache-2.0 */
/* Operations for operators and designers: alterations and plans, the queue, faults, types, trying
 * out an activity, links, draining. */
#include "operations/desk.h"

#include "operations/alterations.h"
#include "operations/audit.h"
#include "operations/dashboard.h"
#include "operations/definitions.h"
#include "operations/faults.h"
#include "operations/instances.h"
#include "operations/links.h"
#include "operations/nodes.h"
#include "operations/probe.h"
#include "operations/queue.h"
#include "operations/settings.h"
#include "operations/types.h"

#include <stdio.h>

static const char usable[] =
    "{\"definitionId\":\"usable\",\"name\":\"Usable "
    "Thing\",\"options\":{\"usableAsActivity\":true},"
    "\"outcomes\":[\"Yes\"],\"root\":{\"id\":\"a\",\"type\":\"Elsa.WriteLine\"}}";

static struct pawl_json parse(struct desk *desk, const char *text)
{
    struct pawl_json out;

    assert_ok(pawl__json_parse(&desk->arena, pawl__str(text), NULL, &out, NULL, &desk->err),
              &desk->err);
    return out;
}

/* ---- alterations ---------------------------------------------------------------------------- */

static void a_filter_selects_in_the_order_of_creation(struct desk *desk)
{
    char place[PAWL_ALTERATION_PLACE_MAX];
    struct pawl_json nothing = parse(desk, "{}"), all, some, wrong;
    const struct pawl_str *ids;
    size_t count;

    desk_publish(desk, desk_waits);
    (void)desk_start(desk, "waits", "one", "c1", NULL);
    (void)desk_start(desk, "waits", "two", "c2", NULL);
    all = parse(desk, "{\"emptyFilterSelectsAll\":true}");
    some = parse(desk, "{\"correlationIds\":[\"c2\",\"c3\"],\"statuses\":[\"running\"]}");
    wrong = parse(desk, "{\"statuses\":[\"Running\",\"Nope\"]}");
    assert_ok(pawl__op_alterations_select(&desk->op, &nothing, place, &ids, &count), &desk->err);
    assert_int_equal(count, 0);
    assert_ok(pawl__op_alterations_select(&desk->op, &all, place, &ids, &count), &desk->err);
    assert_int_equal(count, 2);
    assert_true(pawl__str_is(ids[0], "one"));
    assert_ok(pawl__op_alterations_select(&desk->op, &some, place, &ids, &count), &desk->err);
    assert_int_equal(count, 1);
    assert_true(pawl__str_is(ids[0], "two"));
    assert_code(pawl__op_alterations_select(&desk->op, &wrong, place, &ids, &count), PAWL_EINVAL);
    assert_string_equal(place, "statuses[1]");
}

static void one_that_cannot_be_altered_stops_no_other(struct desk *desk)
{
    const struct pawl_str ids[] = {pawl__str("one"), pawl__str("two")};
    struct pawl_json cancel =
        parse(desk, "[{\"type\":\"CancelActivity\",\"activityId\":\"nope\"}]");
    struct pawl_json wrong = parse(desk, "[{\"type\":\"Cancel\"},{\"type\":\"Nope\"}]");
    const struct pawl_str missing[] = {pawl__str("one"), pawl__str("missing")};
    char place[PAWL_ALTERATION_PLACE_MAX];
    struct pawl_alteration_results results;

    desk_publish(desk, desk_waits);
    (void)desk_start(desk, "waits", "one", NULL, NULL);
    (void)desk_start(desk, "waits", "two", NULL, NULL);
    assert_ok(pawl__op_alterations_run(&desk->op, &cancel, ids, 2, place, &results), &desk->err);
    assert_int_equal(results.count, 2);
    assert_false(results.results[0].is_successful);
    assert_int_equal(pawl__json_len(&results.results[1].log), 1);
    assert_code(pawl__op_alterations_run(&desk->op, &wrong, ids, 2, place, &results), PAWL_EINVAL);
    assert_string_equal(place, "alterations[1]");
    assert_code(pawl__op_alterations_run(&desk->op, &cancel, missing, 2, place, &results),
                PAWL_ENOTFOUND);
}

/* The store fails after the first: what became of that one must be known. */
static void what_was_retried_is_reported_although_the_rest_fails(struct desk *desk)
{
    const struct pawl_str ids[] = {pawl__str("one"), pawl__str("two"), pawl__str("three")};
    struct pawl_alteration_results results;

    desk_publish(desk, desk_faults);
    for (size_t i = 0; i < 3; i++)
        (void)desk_start(desk, "faults", ids[i].ptr, NULL, NULL);
    atomic_store(&desk->commits_before_failure, 1);
    assert_ok(pawl__op_alterations_retry(&desk->op, ids, 3, NULL, 0, &results), &desk->err);
    atomic_store(&desk->commits_before_failure, -1);
    assert_true(results.count >= 1 && results.count <= 2);
    assert_true(results.results[0].is_successful);
}

/* ---- memory --------------------------------------------------------------------------------- */

#define LARGE 12
#define LARGE_BYTES ((size_t)100000)
#define SMALL_ARENA ((size_t)1000000)

/* Instances that fault, with a long text in their state and one in their journal: together they are
 * larger than the arena of the test. */
static void start_large(struct desk *desk)
{
    char *text = pawl__arena_alloc(&desk->arena, LARGE_BYTES + 1), id[16];
    const char *definition;

    assert_non_null(text);
    memset(text, 'x', LARGE_BYTES);
    text[LARGE_BYTES] = '\0';
    definition = pawl__arena_printf(
        &desk->arena,
        "{\"definitionId\":\"large\",\"name\":\"Large\",\"variables\":[{\"id\":\"v\",\"name\":"
        "\"v\","
        "\"typeName\":\"String\",\"value\":\"%s\",\"storageDriverTypeName\":"
        "\"WorkflowInstanceStorageDriver\"}],\"root\":{\"id\":\"f\",\"type\":\"Elsa.Fault\","
        "\"category\":{\"typeName\":\"String\",\"expression\":{\"type\":\"Literal\",\"value\":"
        "\"%s\"}},\"message\":{\"typeName\":\"String\",\"expression\":{\"type\":\"Literal\","
        "\"value\":\"broken\"}}}}",
        text, text);
    assert_non_null(definition);
    desk_publish(desk, definition);
    for (int i = 0; i < LARGE; i++) {
        (void)snprintf(id, sizeof id, "l%02d", i);
        (void)desk_start(desk, "large", id, NULL, NULL);
    }
}

static void looking_at_large_instances_needs_the_memory_of_one(struct desk *desk)
{
    const struct pawl_fault_query query = {.definition_id = pawl__str("")};
    struct pawl_json filter = parse(desk, "{\"activityFilters\":[{\"activityId\":\"f\"}]}");
    char place[PAWL_ALTERATION_PLACE_MAX];
    struct pawl_op op = desk->op;
    const struct pawl_str *ids;
    struct pawl_fault_list list;
    struct pawl_arena arena;
    size_t count;

    start_large(desk);
    pawl__arena_init(&arena, &desk->env->alloc, SMALL_ARENA);
    op.arena = &arena;
    assert_ok(pawl__op_alterations_select(&op, &filter, place, &ids, &count), &desk->err);
    assert_int_equal(count, LARGE);
    assert_true(pawl__str_is(ids[LARGE - 1], "l11"));
    assert_ok(pawl__op_faults_list(&op, &query, &list), &desk->err);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.causes[0].instances, LARGE);
    assert_true(pawl__str_is(list.causes[0].definition_id, "large"));
    assert_true(pawl__str_is(list.causes[0].activity_id, "f"));
    pawl__arena_release(&arena);
}

#define PLANNED 250

/* More than one batch of jobs, and many steps; each has a record of its own. */
static void a_plan_alters_all_that_it_selects(struct desk *desk)
{
    struct pawl_json cancel = parse(desk, "[{\"type\":\"Cancel\"}]");
    struct pawl_json filter = parse(desk, "{\"definitionIds\":[\"waits\"]}");
    struct pawl_audit_query records = {.action = pawl__str("alter"), .page = {.with_total = true}};
    char place[PAWL_ALTERATION_PLACE_MAX], id[16];
    struct pawl_audit_list recorded;
    struct pawl_plan_shown shown;
    struct pawl_str plan_id, again;

    desk_publish(desk, desk_waits);
    for (int i = 0; i < PLANNED; i++) {
        (void)snprintf(id, sizeof id, "i%03d", i);
        (void)desk_start(desk, "waits", id, NULL, NULL);
    }
    assert_ok(pawl__op_plan_submit(&desk->op, pawl__str("p"), &cancel, &filter, place, &plan_id),
              &desk->err);
    assert_true(pawl__str_is(plan_id, "p"));
    assert_ok(pawl__op_plan_submit(&desk->op, plan_id, &cancel, NULL, place, &again), &desk->err);
    desk_drain(desk);
    assert_ok(pawl__op_plan_show(&desk->op, plan_id, &shown), &desk->err);
    assert_true(pawl__str_is(shown.row.status, "Completed"));
    assert_int_equal(shown.job_count, PLANNED);
    for (size_t i = 0; i < shown.job_count; i++)
        assert_true(pawl__str_is(shown.jobs[i].status, "Completed"));
    assert_ok(pawl__op_audit_list(&desk->op, &records, &recorded), &desk->err);
    assert_int_equal(recorded.page.total, PLANNED);
    assert_code(pawl__op_plan_show(&desk->op, pawl__str("nope"), &shown), PAWL_ENOTFOUND);
}

#define BUSY 45

static struct pawl_plan_shown plan_of(struct desk *desk, struct pawl_str plan_id)
{
    struct pawl_plan_shown shown;

    desk_drain(desk);
    assert_ok(pawl__op_plan_show(&desk->op, plan_id, &shown), &desk->err);
    return shown;
}

/* Another node has more of them than a step takes. */
static void instances_in_use_do_not_keep_others_of_a_plan_waiting(struct desk *desk)
{
    struct pawl_json cancel = parse(desk, "[{\"type\":\"Cancel\"}]");
    struct pawl_json filter = parse(desk, "{\"definitionIds\":[\"waits\"]}");
    struct pawl_lease other = {.kind = PAWL_LEASE_JOIN,
                               .node_id = pawl__str("other"),
                               .ttl_us = INT64_C(3600000000),
                               .info = pawl__str("{}")};
    struct pawl_claim claims[BUSY] = {{.status = 0}};
    char place[PAWL_ALTERATION_PLACE_MAX], ids[BUSY + 1][16];
    struct pawl_plan_shown shown;
    struct pawl_str plan_id;
    int64_t now_us;

    desk_publish(desk, desk_waits);
    for (int i = 0; i <= BUSY; i++) {
        (void)snprintf(ids[i], sizeof ids[i], "i%03d", i);
        (void)desk_start(desk, "waits", ids[i], NULL, NULL);
        if (i < BUSY)
            claims[i].id = pawl__str(ids[i]);
    }
    assert_ok(pawl_store_lease(desk->store, &other, desk->op.deadline_ns, &desk->err), &desk->err);
    assert_ok(pawl_store_claim(desk->store, other.incarnation, claims, BUSY, &desk->arena, &now_us,
                               desk->op.deadline_ns, &desk->err),
              &desk->err);
    assert_ok(pawl__op_plan_submit(&desk->op, pawl__str("p"), &cancel, &filter, place, &plan_id),
              &desk->err);
    shown = plan_of(desk, plan_id);
    assert_int_equal(shown.job_count, BUSY + 1);
    for (int i = 0; i <= BUSY; i++)
        assert_true(pawl__str_is(shown.jobs[i].status, i < BUSY ? "Pending" : "Completed"));
    other.kind = PAWL_LEASE_LEAVE;
    assert_ok(pawl_store_lease(desk->store, &other, desk->op.deadline_ns, &desk->err), &desk->err);
    while (!pawl__str_is(shown.row.status, "Completed"))
        shown = plan_of(desk, plan_id);
    for (int i = 0; i <= BUSY; i++)
        assert_true(pawl__str_is(shown.jobs[i].status, "Completed"));
}

static void a_job_that_fails_ends_its_plan_all_the_same(struct desk *desk)
{
    struct pawl_json wrong = parse(desk, "[{\"type\":\"ModifyVariable\",\"variableId\":\"nope\","
                                         "\"value\":1}]");
    struct pawl_json filter = parse(desk, "{\"workflowInstanceIds\":[\"one\"]}");
    char place[PAWL_ALTERATION_PLACE_MAX];
    struct pawl_plan_shown shown;
    struct pawl_str plan_id;

    desk_publish(desk, desk_waits);
    (void)desk_start(desk, "waits", "one", NULL, NULL);
    assert_ok(pawl__op_plan_submit(&desk->op, pawl__str(""), &wrong, &filter, place, &plan_id),
              &desk->err);
    desk_drain(desk);
    assert_ok(pawl__op_plan_show(&desk->op, plan_id, &shown), &desk->err);
    assert_true(pawl__str_is(shown.row.status, "Completed"));
    assert_int_equal(shown.job_count, 1);
    assert_true(pawl__str_is(shown.jobs[0].status, "Failed"));
}

/* ---- looking -------------------------------------------------------------------------------- */

#define LOOKS_MAX 10

static void the_queue_is_told_apart_by_when_it_is_due(struct desk *desk)
{
    const struct pawl_send_request send = {.name = pawl__str("Nobody"), .detached = true};
    struct pawl_queue_query query = {.part = PAWL_QUEUE_PARKED, .page = {.with_total = true}};
    struct pawl_send_result sent;
    struct pawl_queue_list list;

    assert_ok(pawl__op_event_send(&desk->op, &send, &sent), &desk->err);
    desk_drain(desk);
    assert_ok(pawl__op_queue_list(&desk->op, &query, &list), &desk->err);
    assert_int_equal(list.page.total, 1);
    assert_true(pawl__str_is(list.rows[0].kind, "stimulus"));
    query.part = PAWL_QUEUE_DUE;
    /* A second look at what was parked is put off a little, and may be due by now: once. */
    for (int i = 0; i < LOOKS_MAX; i++) {
        desk_drain(desk);
        assert_ok(pawl__op_queue_list(&desk->op, &query, &list), &desk->err);
        if (list.page.total == 0)
            break;
    }
    assert_int_equal(list.page.total, 0);
}

static void faults_with_one_cause_are_one(struct desk *desk)
{
    const struct pawl_fault_query query = {.definition_id = pawl__str("")};
    struct pawl_trend_bucket *buckets;
    struct pawl_fault_list list;

    desk_publish(desk, desk_faults);
    (void)desk_start(desk, "faults", "one", NULL, NULL);
    (void)desk_start(desk, "faults", "two", NULL, NULL);
    assert_ok(pawl__op_faults_list(&desk->op, &query, &list), &desk->err);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.causes[0].instances, 2);
    assert_true(list.causes[0].message.len > 0);
    assert_ok(pawl__op_trends(&desk->op, INT64_C(3600000000), 24, &buckets), &desk->err);
    assert_int_equal(buckets[23].created, 2);
    assert_int_equal(buckets[23].faulted, 2);
    assert_int_equal(buckets[0].created, 0);
}

static void a_dashboard_counts_what_happened_lately(struct desk *desk)
{
    const int64_t day_us = INT64_C(86400000000);
    struct pawl_dashboard seen;
    struct pawl_hotspots hotspots;
    struct pawl_recent recent;

    desk_publish(desk, desk_faults);
    (void)desk_start(desk, "faults", "one", NULL, NULL);
    (void)desk_start(desk, "faults", "two", NULL, NULL);
    assert_ok(pawl__op_dashboard(&desk->op, &seen), &desk->err);
    assert_int_equal(seen.counts.instances[PAWL_COUNTED_FAULTED], 2);
    assert_int_equal(seen.with_incidents, 2);
    assert_ok(pawl__op_recent(&desk->op, day_us, 20, &recent), &desk->err);
    assert_int_equal(recent.instances.count, 2);
    assert_ok(pawl__op_recent(&desk->op, day_us, 1, &recent), &desk->err);
    assert_int_equal(recent.instances.count, 1);
    /* Nothing has changed after now. */
    assert_ok(pawl__op_recent(&desk->op, -day_us, 20, &recent), &desk->err);
    assert_int_equal(recent.instances.count, 0);
    assert_ok(pawl__op_hotspots(&desk->op, day_us, &hotspots), &desk->err);
    assert_int_equal(hotspots.definitions.count, 1);
    assert_int_equal(hotspots.definitions.rows[0].instances[PAWL_COUNTED_FAULTED], 2);
    assert_ok(pawl__op_hotspots(&desk->op, -day_us, &hotspots), &desk->err);
    assert_int_equal(hotspots.definitions.rows[0].instances[PAWL_COUNTED_FAULTED], 0);
}

static void an_instance_with_several_incidents_of_a_cause_counts_once(struct desk *desk)
{
    const struct pawl_str ids[] = {pawl__str("one"), pawl__str("two")};
    const struct pawl_fault_query query = {.definition_id = pawl__str("")};
    struct pawl_alteration_results results;
    struct pawl_fault_list list;

    desk_publish(desk, desk_faults);
    (void)desk_start(desk, "faults", "one", NULL, NULL);
    (void)desk_start(desk, "faults", "two", NULL, NULL);
    assert_ok(pawl__op_alterations_retry(&desk->op, ids, 2, NULL, 0, &results), &desk->err);
    desk_drain(desk);
    assert_ok(pawl__op_faults_list(&desk->op, &query, &list), &desk->err);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.causes[0].incidents, 4);
    assert_int_equal(list.causes[0].instances, 2);
}

static void settings_have_their_origins(struct desk *desk)
{
    const struct pawl_setting_shown *list;
    size_t count;

    assert_ok(pawl__op_settings_list(&desk->op, &list, &count), &desk->err);
    assert_true(count > 10);
    assert_string_equal(list[count - 1].source, "default");
}

static void a_usable_definition_is_a_type(struct desk *desk)
{
    struct pawl_json list, shown, options;

    desk_publish(desk, usable);
    assert_ok(pawl__op_types_list(&desk->op, &list), &desk->err);
    assert_true(pawl__json_len(&list) > 40);
    assert_ok(pawl__op_type_show(&desk->op, pawl__str("UsableThing"), 0, &shown), &desk->err);
    assert_true(
        pawl__str_is(pawl__json_str(pawl__json_find(&shown, pawl__str("/ports/1/name"))), "Yes"));
    assert_code(pawl__op_type_show(&desk->op, pawl__str("UsableThing"), 7, &shown), PAWL_ENOTFOUND);
    assert_ok(pawl__op_type_options(&desk->op, pawl__str("Elsa.RunJavaScript"), 1,
                                    pawl__str("Script"), &options),
              &desk->err);
    assert_non_null(pawl__json_get_text(&options, "code-editor"));
    assert_code(pawl__op_type_options(&desk->op, pawl__str("Elsa.WriteLine"), 0, pawl__str("text"),
                                      &options),
                PAWL_ENOTFOUND);
}

static void an_activity_is_tried_out_and_nothing_is_stored(struct desk *desk)
{
    struct pawl_probe probe = {.definition = {.version_id = pawl__str(""),
                                              .definition_id = pawl__str("waits"),
                                              .name = pawl__str(""),
                                              .versions = {PAWL_VERSIONS_LATEST, 0}},
                               .node_id = pawl__str(""),
                               .activity_id = pawl__str("nope")};
    struct pawl_instance_query all = PAWL_INSTANCE_QUERY_ALL;
    struct pawl_definition_shown shown;
    struct pawl_instance_list list;
    struct pawl_probed probed;

    desk_publish(desk, desk_waits);
    assert_code(pawl__op_activity_probe(&desk->op, &probe, &probed), PAWL_EINVAL);
    assert_ok(pawl__op_definition_show(&desk->op, &probe.definition, &shown), &desk->err);
    probe.activity_id =
        pawl__arena_str(&desk->arena, pawl__json_str(pawl__json_get_text(&shown.root, "id")));
    pawl__op_definition_release(&shown);
    assert_ok(pawl__op_activity_probe(&desk->op, &probe, &probed), &desk->err);
    assert_true(pawl__str_is(probed.status, "Running"));
    assert_ok(pawl__op_instances_list(&desk->op, &all, &list), &desk->err);
    assert_int_equal(list.count, 0);
}

/* ---- links ---------------------------------------------------------------------------------- */

static void a_link_sends_its_event_and_no_other(struct desk *desk)
{
    struct pawl_link_request request = {
        .event = pawl__str("Go"), .bookmark_id = pawl__str(""), .instance_id = pawl__str("one")};
    struct pawl_instance_shown shown;
    struct pawl_send_result sent;
    struct pawl_str token, changed;
    char *text;

    desk_publish(desk, desk_waits);
    (void)desk_start(desk, "waits", "one", NULL, NULL);
    assert_ok(pawl__op_link_make(&desk->op, &request, &token), &desk->err);
    assert_true(pawl__str_starts(token, pawl__str("v1.ne.")));
    text = pawl__arena_alloc(&desk->arena, token.len);
    memcpy(text, token.ptr, token.len);
    for (size_t i = 0; i < token.len; i++) {
        text[i] ^= 1;
        changed = pawl__str_make(text, token.len);
        assert_code(pawl__op_link_send(&desk->op, changed, &sent), PAWL_EPERM);
        text[i] ^= 1;
        assert_code(pawl__op_link_send(&desk->op, pawl__str_slice(token, 0, i), &sent), PAWL_EPERM);
    }
    assert_code(pawl__op_link_check(&desk->op, token), PAWL_EPERM);
    assert_ok(pawl__op_link_send(&desk->op, token, &sent), &desk->err);
    desk_drain(desk);
    assert_ok(pawl__op_instance_show(&desk->op, pawl__str("one"), false, &shown), &desk->err);
    assert_true(pawl__str_is(shown.row.status, "Finished"));
    request.event = pawl__str("");
    assert_code(pawl__op_link_make(&desk->op, &request, &token), PAWL_EINVAL);
}

/* ---- the runtime ---------------------------------------------------------------------------- */

static void a_drained_node_takes_nothing_until_it_is_resumed(struct desk *desk)
{
    struct pawl_cluster_status status;
    struct pawl_drained drained;

    assert_ok(pawl__op_node_drain(&desk->op, pawl__str("why"), &drained), &desk->err);
    assert_int_equal(drained.left, 0);
    assert_ok(pawl__op_cluster_status(&desk->op, &status), &desk->err);
    assert_false(status.is_accepting);
    assert_ok(pawl__op_runtime_resume(&desk->op), &desk->err);
    assert_ok(pawl__op_runtime_resume(&desk->op), &desk->err);
    assert_ok(pawl__op_cluster_status(&desk->op, &status), &desk->err);
    assert_true(status.is_accepting);
}

const struct desk_test operator_tests[] = {
    DESK_TEST(a_filter_selects_in_the_order_of_creation),
    DESK_TEST(one_that_cannot_be_altered_stops_no_other),
    DESK_TEST(what_was_retried_is_reported_although_the_rest_fails),
    DESK_TEST(looking_at_large_instances_needs_the_memory_of_one),
    DESK_TEST(a_plan_alters_all_that_it_selects),
    DESK_TEST(instances_in_use_do_not_keep_others_of_a_plan_waiting),
    DESK_TEST(a_job_that_fails_ends_its_plan_all_the_same),
    DESK_TEST(the_queue_is_told_apart_by_when_it_is_due),
    DESK_TEST(faults_with_one_cause_are_one),
    DESK_TEST(a_dashboard_counts_what_happened_lately),
    DESK_TEST(an_instance_with_several_incidents_of_a_cause_counts_once),
    DESK_TEST(settings_have_their_origins),
    DESK_TEST(a_usable_definition_is_a_type),
    DESK_TEST(an_activity_is_tried_out_and_nothing_is_stored),
    DESK_TEST(a_link_sends_its_event_and_no_other),
    DESK_TEST(a_drained_node_takes_nothing_until_it_is_resumed),
    {.name = NULL},
};
