/* SPDX-License-Identifier: Apache-2.0 */
/* Records of what operators change: each with its change, one for a request, and what they prove
 * when the answer to a commit was lost. */
#include "operations/desk.h"

#include "base/error.h"
#include "operations/audit.h"
#include "operations/definitions.h"
#include "operations/instances.h"
#include "operations/letters.h"
#include "operations/nodes.h"
#include "operations/retention.h"
#include "views/audit.h"

#include <limits.h>
#include <stdio.h>

static struct pawl_op by(struct desk *desk, const char *actor, const char *request_id)
{
    struct pawl_op op = desk->op;

    op.actor = pawl__str(actor);
    op.request_id = pawl__str(request_id);
    return op;
}

static struct pawl_audit_list list_of(struct desk *desk, struct pawl_audit_query query)
{
    struct pawl_audit_list list;

    assert_ok(pawl__op_audit_list(&desk->op, &query, &list), &desk->err);
    return list;
}

static struct pawl_audit_row record_of(struct desk *desk, const char *request_id)
{
    struct pawl_audit_row row;

    assert_ok(pawl__op_audit_show(&desk->op, pawl__str(request_id), &row), &desk->err);
    return row;
}

static void assert_none(struct desk *desk, const char *request_id)
{
    struct pawl_audit_row row;

    assert_code(pawl__op_audit_show(&desk->op, pawl__str(request_id), &row), PAWL_ENOTFOUND);
}

static void assert_record(struct desk *desk, const char *request_id, const char *action,
                          const char *kind, const char *target, int64_t count)
{
    struct pawl_audit_row row = record_of(desk, request_id);

    assert_str(row.action, action);
    assert_str(row.kind, kind);
    assert_str(row.target, target);
    assert_int_equal(row.count, count);
    assert_str(row.result, "ok");
    assert_true(row.created_us > 0);
}

static bool is_there(struct desk *desk, const char *id)
{
    bool there = false;

    assert_ok(pawl__op_instance_exists(&desk->op, pawl__str(id), &there), &desk->err);
    return there;
}

static struct pawl_json parsed(struct desk *desk, const char *text)
{
    struct pawl_json value;

    assert_ok(pawl__json_parse(&desk->arena, pawl__str(text), NULL, &value, NULL, &desk->err),
              &desk->err);
    return value;
}

/* ---- what is recorded ------------------------------------------------------------------------ */

/* Waits, and has a variable. */
static const char with_variable[] =
    "{\"definitionId\":\"counts\",\"name\":\"Counts\",\"variables\":[{\"id\":\"v\",\"name\":"
    "\"n\",\"typeName\":\"Int32\",\"value\":1}],\"root\":{\"id\":\"e\",\"type\":\"Elsa.Event\","
    "\"eventName\":{\"typeName\":\"String\",\"expression\":{\"type\":\"Literal\",\"value\":"
    "\"Go\"}}}}";

static void a_change_of_an_instance_leaves_a_record(struct desk *desk)
{
    const char *rename = "[{\"type\":\"ModifyVariable\",\"variableId\":\"v\",\"value\":2}]";
    struct pawl_json alterations = parsed(desk, rename), exported, variables;
    struct pawl_instance_altered altered;
    struct pawl_outcome outcome;
    struct pawl_op op;

    desk_publish(desk, with_variable);
    (void)desk_start(desk, "counts", "i1", NULL, NULL);
    op = by(desk, "alice", "r-dry");
    assert_ok(pawl__op_instance_alter(&op, pawl__str("i1"), &alterations, true, &altered),
              &desk->err);
    assert_none(desk, "r-dry");
    op = by(desk, "alice", "r-alter");
    assert_ok(pawl__op_instance_alter(&op, pawl__str("i1"), &alterations, false, &altered),
              &desk->err);
    assert_record(desk, "r-alter", "alter", "instance", "i1", 1);
    assert_str(record_of(desk, "r-alter").actor, "alice");
    assert_str(record_of(desk, "r-alter").door, "test");
    op = by(desk, "alice", "r-set");
    variables = parsed(desk, "[{\"id\":\"v\",\"value\":3}]");
    assert_ok(pawl__op_instance_set_variables(&op, pawl__str("i1"), &variables, false, &variables),
              &desk->err);
    assert_record(desk, "r-set", "set-variables", "instance", "i1", 1);
    assert_ok(pawl__op_instance_export(&desk->op, pawl__str("i1"),
                                       &(struct pawl_instance_export){true, true, true}, &exported,
                                       NULL),
              &desk->err);
    op = by(desk, "bob", "r-cancel");
    assert_ok(pawl__op_instance_cancel(&op, pawl__str("i1"), false, NULL), &desk->err);
    assert_record(desk, "r-cancel", "cancel", "instance", "i1", 1);
    op = by(desk, "bob", "r-delete");
    assert_ok(pawl__op_instance_delete(&op, pawl__str("i1")), &desk->err);
    assert_record(desk, "r-delete", "delete", "instance", "i1", 1);
    op = by(desk, "bob", "r-import");
    assert_ok(pawl__op_instance_import(&op, &exported, &outcome), &desk->err);
    assert_record(desk, "r-import", "import", "instance", "i1", 1);
    op = by(desk, "bob", "r-none");
    assert_code(pawl__op_instance_delete(&op, pawl__str("nix")), PAWL_ENOTFOUND);
    assert_none(desk, "r-none");
}

static void a_retry_leaves_a_record(struct desk *desk)
{
    struct pawl_op op = by(desk, "alice", "r-retry");
    struct pawl_outcome outcome;

    desk_publish(desk, desk_faults);
    (void)desk_start(desk, "faults", "f1", NULL, NULL);
    assert_ok(pawl__op_instance_retry(&op, pawl__str("f1"), NULL, 0, &outcome), &desk->err);
    assert_record(desk, "r-retry", "retry", "instance", "f1", 1);
}

static void a_change_of_a_definition_leaves_a_record(struct desk *desk)
{
    struct pawl_json waits = parsed(desk, desk_waits), ends = parsed(desk, desk_ends);
    struct pawl_definition_save save = {.definition = &waits};
    const struct pawl_definition_ref ref = {.definition_id = pawl__str("waits")};
    struct pawl_definition_saved saved;
    struct pawl_definition_deleted deleted;
    struct pawl_definition_row row;
    bool was_published;
    struct pawl_op op = by(desk, "alice", "r-save");

    assert_ok(pawl__op_definition_save(&op, &save, &saved), &desk->err);
    assert_record(desk, "r-save", "save", "definition", "waits", 1);
    op = by(desk, "alice", "r-same"); /* the same again: nothing is changed */
    assert_ok(pawl__op_definition_save(&op, &save, &saved), &desk->err);
    assert_none(desk, "r-same");
    op = by(desk, "alice", "r-publish");
    assert_ok(pawl__op_definition_publish(&op, &ref, &saved), &desk->err);
    assert_record(desk, "r-publish", "publish", "definition", "waits", 1);
    op = by(desk, "alice", "r-revert");
    assert_ok(pawl__op_definition_revert(&op, pawl__str("waits"), 1, &row), &desk->err);
    assert_record(desk, "r-revert", "revert", "definition", "waits", 1);
    op = by(desk, "alice", "r-retract");
    assert_ok(pawl__op_definition_retract(&op, pawl__str("waits"), &was_published, &row),
              &desk->err);
    assert_record(desk, "r-retract", "retract", "definition", "waits", 1);
    op = by(desk, "alice", "r-import");
    assert_ok(pawl__op_definition_import(&op, &ends, &row), &desk->err);
    assert_record(desk, "r-import", "import", "definition", "ends", 2); /* and published */
    (void)desk_start(desk, "ends", "e1", NULL, NULL);
    op = by(desk, "alice", "r-delete");
    assert_ok(
        pawl__op_definition_delete(&op,
                                   &(struct pawl_definition_delete){
                                       .definition_id = pawl__str("ends"), .with_instances = true},
                                   &deleted),
        &desk->err);
    assert_record(desk, "r-delete", "delete", "definition", "ends", 2); /* and e1 */
}

static void a_new_definition_is_recorded_under_the_id_that_it_got(struct desk *desk)
{
    struct pawl_json fresh = parsed(desk, "{\"name\":\"Fresh\",\"root\":{\"id\":\"s\",\"type\":"
                                          "\"Elsa.Sequence\",\"activities\":[]}}");
    struct pawl_definition_save save = {.definition = &fresh, .is_model = true};
    struct pawl_op op = by(desk, "alice", "r-new");
    struct pawl_definition_saved saved;

    assert_ok(pawl__op_definition_save(&op, &save, &saved), &desk->err);
    assert_true(saved.row.definition_id.len > 0);
    assert_true(pawl__str_equal(record_of(desk, "r-new").target, saved.row.definition_id));
}

static void start_many(struct desk *desk, unsigned count)
{
    char id[16];

    desk_publish(desk, desk_waits);
    for (unsigned i = 0; i < count; i++) {
        (void)snprintf(id, sizeof id, "w%u", i);
        (void)desk_start(desk, "waits", id, NULL, NULL);
    }
}

/* The data of a record, as JSON text. */
static void assert_data(struct desk *desk, const char *request_id, const char *expected)
{
    struct pawl_audit_row row;

    assert_ok(pawl__op_audit_show(&desk->op, pawl__str(request_id), &row), &desk->err);
    if (!pawl__str_is(row.data, expected))
        fail_msg("%s: %.*s", request_id, PAWL_STR_ARG(row.data));
}

static void a_record_says_what_was_asked_for(struct desk *desk)
{
    static const char set[] = "[{\"type\":\"ModifyVariable\",\"variableId\":\"v\",\"value\":1}]";
    const struct pawl_letter_query letters = {.kind = pawl__str("timer"), .is_open = true};
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;
    struct pawl_instance_altered altered;
    struct pawl_bulk_result result;
    struct pawl_json alterations;
    struct pawl_pause pause;
    struct pawl_op op;
    char note[3000];

    memset(note, 'x', sizeof note);
    start_many(desk, 2);
    query.definition_id = pawl__str("waits");
    op = by(desk, "alice", "r-cancel");
    assert_ok(pawl__op_instances_cancel(&op, &query, &result), &desk->err);
    assert_data(desk, "r-cancel", "{\"definitionId\":\"waits\",\"status\":\"Running\"}");
    op = by(desk, "alice", "r-letters");
    assert_ok(pawl__op_letters_delete(&op, &letters, NULL, NULL, &result), &desk->err);
    assert_none(desk, "r-letters"); /* it changed nothing */
    alterations = parsed(desk, set);
    desk_publish(desk, with_variable);
    (void)desk_start(desk, "counts", "i1", NULL, NULL);
    op = by(desk, "alice", "r-alter");
    assert_ok(pawl__op_instance_alter(&op, pawl__str("i1"), &alterations, false, &altered),
              &desk->err);
    assert_data(desk, "r-alter", "[{\"type\":\"ModifyVariable\",\"variableId\":\"v\"}]");
    alterations = parsed(
        desk,
        pawl__arena_printf(
            &desk->arena,
            "[{\"type\":\"ModifyVariable\",\"variableId\":\"v\",\"value\":1,\"note\":\"%.*s\"}]",
            3000, note));
    op = by(desk, "alice", "r-long");
    assert_ok(pawl__op_instance_alter(&op, pawl__str("i1"), &alterations, false, &altered),
              &desk->err);
    assert_data(desk, "r-long", "{\"bytes\":3054}");
    op = by(desk, "alice", "r-pause");
    assert_ok(pawl__op_node_pause(&op, pawl__str(""), pawl__str("upgrade"), &pause), &desk->err);
    assert_data(desk, "r-pause", "{\"reason\":\"upgrade\"}");
    op = by(desk, "alice", "r-unpause");
    assert_ok(pawl__op_node_unpause(&op, pawl__str("")), &desk->err);
    assert_data(desk, "r-unpause", "");
}

static void pauses_leave_records(struct desk *desk)
{
    struct pawl_op op = by(desk, "alice", "r-pause");
    struct pawl_pause pause;

    assert_ok(pawl__op_node_pause(&op, pawl__str(""), pawl__str("upgrade"), &pause), &desk->err);
    assert_record(desk, "r-pause", "pause", "node", "", 1);
    op = by(desk, "bob", "r-again"); /* it is paused: nothing is changed */
    assert_ok(pawl__op_node_pause(&op, pawl__str(""), pawl__str("other"), &pause), &desk->err);
    assert_str(pause.by, "alice");
    assert_none(desk, "r-again");
    op = by(desk, "bob", "r-unpause");
    assert_ok(pawl__op_node_unpause(&op, pawl__str("")), &desk->err);
    assert_record(desk, "r-unpause", "unpause", "node", "", 1);
    assert_ok(pawl__op_node_unpause(&op, pawl__str("")), &desk->err); /* the same request */
    op = by(desk, "bob", "r-unpause-2");
    assert_code(pawl__op_node_unpause(&op, pawl__str("")), PAWL_ENOTFOUND);
}

/* ---- many ------------------------------------------------------------------------------------ */

static void a_bulk_has_one_record_that_counts(struct desk *desk)
{
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;
    const struct pawl_str two[] = {pawl__str("w0"), pawl__str("w1")};
    struct pawl_bulk_result result;
    struct pawl_op op = by(desk, "alice", "r-cancel");

    start_many(desk, 5);
    query.ids = two;
    query.id_count = 2;
    assert_ok(pawl__op_instances_cancel(&op, &query, &result), &desk->err);
    assert_int_equal(result.done, 2);
    assert_record(desk, "r-cancel", "cancel", "instance", "", 2);
    op = by(desk, "alice", "r-delete");
    assert_ok(pawl__op_instances_delete(&op, &query, &result), &desk->err);
    assert_record(desk, "r-delete", "delete", "instance", "", 2);
    /* The same request goes on, for what there is more of by now. */
    query.ids = NULL;
    query.definition_id = pawl__str("waits");
    assert_ok(pawl__op_instances_delete(&op, &query, &result), &desk->err);
    assert_int_equal(result.done, 3);
    assert_record(desk, "r-delete", "delete", "instance", "", 5);
    assert_code(pawl__op_instances_cancel(&op, &query, &result), PAWL_ECONFLICT);
    assert_int_equal(list_of(desk, (struct pawl_audit_query){.actor = pawl__str("alice")}).count,
                     2);
}

static void retention_by_an_operator_is_recorded(struct desk *desk)
{
    struct pawl_retention_result gone = {0};
    struct pawl_op op = by(desk, "alice", "r-retain");

    desk_publish(desk, desk_ends);
    for (unsigned i = 0; i < 40; i++)
        (void)desk_start(desk, "ends", NULL, NULL, NULL);
    assert_ok(pawl__op_retain(&op, true, &gone), &desk->err);
    assert_none(desk, "r-retain");
    for (uint64_t total = 0; total < 40; total += gone.finished)
        assert_ok(pawl__op_retain(&op, false, &gone), &desk->err);
    assert_record(desk, "r-retain", "retain", "store", "", 40);
}

static void old_records_go_in_batches(struct desk *desk)
{
    struct pawl_retention_result gone = {0};
    struct pawl_op op = by(desk, "alice", "");
    uint64_t total = 0;

    start_many(desk, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_ok(pawl__op_instance_cancel(
                      &op, pawl__str(pawl__arena_printf(&desk->arena, "w%u", i)), false, NULL),
                  &desk->err);
    assert_int_equal(list_of(desk, (struct pawl_audit_query){.actor = pawl__str("")}).count, 3);
    while (total < 3) {
        assert_ok(pawl__op_retain(&op, false, &gone), &desk->err);
        total += gone.audit;
    }
    assert_int_equal(list_of(desk, (struct pawl_audit_query){.actor = pawl__str("")}).count, 0);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static void records_are_listed_by_who_what_which_and_when(struct desk *desk)
{
    struct pawl_builder b = {.arena = &desk->arena};
    struct pawl_audit_list list, next;
    struct pawl_audit_query query = {.page = {.limit = 2}};
    struct pawl_op op;
    struct pawl_json view;
    int64_t middle_us;

    start_many(desk, 4);
    op = by(desk, "bob", "r1");
    assert_ok(pawl__op_instance_cancel(&op, pawl__str("w0"), false, NULL), &desk->err);
    op = by(desk, "alice", "r2");
    assert_ok(pawl__op_instance_cancel(&op, pawl__str("w1"), false, NULL), &desk->err);
    op = by(desk, "bob", "r3");
    assert_ok(pawl__op_instance_delete(&op, pawl__str("w1")), &desk->err);
    list = list_of(desk, (struct pawl_audit_query){.actor = pawl__str("bob")});
    assert_int_equal(list.count, 2);
    list = list_of(desk, (struct pawl_audit_query){.action = pawl__str("cancel")});
    assert_int_equal(list.count, 2);
    list = list_of(desk, (struct pawl_audit_query){.target = pawl__str("w1")});
    assert_int_equal(list.count, 2);
    list = list_of(desk, (struct pawl_audit_query){.kind = pawl__str("definition")});
    assert_int_equal(list.count, 0);
    list = list_of(desk, (struct pawl_audit_query){.sort = PAWL_AUDIT_BY_ACTOR});
    assert_str(list.rows[0].actor, "alice");
    middle_us = record_of(desk, "r2").created_us;
    list = list_of(desk, (struct pawl_audit_query){.from_us = middle_us});
    assert_true(list.count >= 2);
    list = list_of(desk, (struct pawl_audit_query){.until_us = middle_us});
    assert_true(list.count <= 1);
    list = list_of(desk, query);
    assert_int_equal(list.count, 2);
    assert_true(list.page.next.len > 0);
    query.page.after = list.page.next;
    next = list_of(desk, query);
    assert_int_equal(next.count, 1);
    assert_int_equal(next.page.next.len, 0);
    view = pawl__view_audit(&b, &next.rows[0]);
    assert_int_equal(b.status, PAWL_OK);
    assert_non_null(pawl__json_get_text(&view, "requestId"));
    assert_non_null(pawl__json_get_text(&view, "timestamp"));
}

/* ---- the same request, and answers that are lost --------------------------------------------- */

static void a_request_is_done_once_and_an_id_is_of_one_request(struct desk *desk)
{
    struct pawl_op op = by(desk, "alice", "r1");
    struct pawl_outcome outcome;
    struct pawl_json exported;

    start_many(desk, 3);
    assert_ok(pawl__op_instance_export(&desk->op, pawl__str("w0"),
                                       &(struct pawl_instance_export){true, true, true}, &exported,
                                       NULL),
              &desk->err);
    assert_ok(pawl__op_instance_delete(&op, pawl__str("w0")), &desk->err);
    assert_ok(pawl__op_instance_delete(&op, pawl__str("w0")), &desk->err);
    assert_int_equal(record_of(desk, "r1").count, 1);
    assert_code(pawl__op_instance_delete(&op, pawl__str("w1")), PAWL_ECONFLICT);
    assert_true(is_there(desk, "w1"));
    assert_code(pawl__op_instance_cancel(&op, pawl__str("w1"), false, NULL), PAWL_ECONFLICT);
    op = by(desk, "alice", "r2");
    assert_ok(pawl__op_instance_import(&op, &exported, &outcome), &desk->err);
    assert_code(pawl__op_instance_import(&op, &exported, &outcome), PAWL_ECONFLICT);
    op = by(desk, "alice", "r3");
    assert_code(pawl__op_instance_import(&op, &exported, &outcome), PAWL_EEXISTS);
}

static void a_deletion_whose_answer_was_lost_is_proved_by_its_record(struct desk *desk)
{
    struct pawl_op op = by(desk, "alice", "r1");

    start_many(desk, 1);
    atomic_store(&desk->lost_applies, 1);
    assert_ok(pawl__op_instance_delete(&op, pawl__str("w0")), &desk->err);
    assert_record(desk, "r1", "delete", "instance", "w0", 1);
    assert_false(is_there(desk, "w0"));
}

/* Somebody else deletes it, below what loses answers. */
static void delete_beside(struct desk *desk)
{
    const struct pawl_condition condition = {.column =
                                                 pawl_table_column(PAWL_TABLE_INSTANCES, "id"),
                                             .value = {.text = pawl__str("w0")}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_INSTANCES, .conditions = &condition, .condition_count = 1};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_DELETE};
    struct pawl_commit *commits[] = {&commit};
    struct pawl_arena arena;
    struct pawl_rows rows;

    pawl__arena_init(&arena, &desk->env->alloc, (size_t)1 << 20);
    assert_int_equal(
        pawl_store_find(desk->store, &query, &arena, &rows, desk->op.deadline_ns, NULL), PAWL_OK);
    assert_int_equal(rows.count, 1);
    commit.instance = rows.rows;
    assert_int_equal(pawl_store_apply(desk->store, commits, 1, desk->op.deadline_ns, NULL),
                     PAWL_OK);
    assert_int_equal(commit.status, PAWL_OK);
    pawl__arena_release(&arena);
}

static void a_deletion_that_another_was_faster_with_is_not_taken_for_ones_own(struct desk *desk)
{
    struct pawl_op op = by(desk, "alice", "r1");

    start_many(desk, 1);
    atomic_store(&desk->is_dropped, true);
    desk->losing = delete_beside;
    atomic_store(&desk->lost_applies, 1);
    assert_code(pawl__op_instance_delete(&op, pawl__str("w0")), PAWL_ECONFLICT);
    assert_none(desk, "r1");
    assert_false(is_there(desk, "w0"));
}

/* No answer until the time is up. */
static void delete_without_answer(struct desk *desk, const char *request_id, bool is_dropped)
{
    struct pawl_op op = by(desk, "alice", request_id), soon = pawl__op_within(&op, 300);

    atomic_store(&desk->is_dropped, is_dropped);
    atomic_store(&desk->lost_applies, INT_MAX);
    assert_code(pawl__op_instance_delete(&soon, pawl__str("w0")), PAWL_EUNKNOWN);
    assert_non_null(strstr(desk->err.msg, request_id)); /* what to look for */
    atomic_store(&desk->lost_applies, 0);
}

static void a_deletion_of_unknown_outcome_is_told_by_its_id_when_it_was_done(struct desk *desk)
{
    struct pawl_op op = by(desk, "alice", "r1");

    start_many(desk, 1);
    delete_without_answer(desk, "r1", false);
    assert_record(desk, "r1", "delete", "instance", "w0", 1);
    assert_ok(pawl__op_instance_delete(&op, pawl__str("w0")), &desk->err);
    assert_int_equal(record_of(desk, "r1").count, 1);
    op = by(desk, "alice", "r2"); /* another request finds nothing to delete */
    assert_code(pawl__op_instance_delete(&op, pawl__str("w0")), PAWL_ENOTFOUND);
}

static void a_deletion_of_unknown_outcome_is_told_by_its_id_when_it_was_not_done(struct desk *desk)
{
    struct pawl_op op = by(desk, "alice", "r1");

    start_many(desk, 1);
    delete_without_answer(desk, "r1", true);
    assert_none(desk, "r1");
    assert_true(is_there(desk, "w0"));
    assert_ok(pawl__op_instance_delete(&op, pawl__str("w0")), &desk->err);
    assert_false(is_there(desk, "w0"));
    assert_record(desk, "r1", "delete", "instance", "w0", 1);
}

static void a_definition_whose_answer_was_lost_is_deleted_once(struct desk *desk)
{
    const struct pawl_definition_delete which = {.definition_id = pawl__str("waits"),
                                                 .force = true};
    struct pawl_definition_deleted deleted;
    struct pawl_op op = by(desk, "alice", "r1");

    desk_publish(desk, desk_waits);
    atomic_store(&desk->lost_applies, 1);
    assert_ok(pawl__op_definition_delete(&op, &which, &deleted), &desk->err);
    assert_record(desk, "r1", "delete", "definition", "waits", 1);
    assert_ok(pawl__op_definition_delete(&op, &which, &deleted), &desk->err);
    op = by(desk, "alice", "r2");
    assert_code(pawl__op_definition_delete(&op, &which, &deleted), PAWL_ENOTFOUND);
}

/* clang-format off */
const struct desk_test audit_tests[] = {
    DESK_TEST(a_change_of_an_instance_leaves_a_record),
    DESK_TEST(a_retry_leaves_a_record),
    DESK_TEST(a_change_of_a_definition_leaves_a_record),
    DESK_TEST(a_new_definition_is_recorded_under_the_id_that_it_got),
    DESK_TEST(pauses_leave_records),
    DESK_TEST(a_record_says_what_was_asked_for),
    DESK_TEST(a_bulk_has_one_record_that_counts),
    {"retention_by_an_operator_is_recorded", retention_by_an_operator_is_recorded, "retention.finished=1ms", false, false},
    {"old_records_go_in_batches", old_records_go_in_batches, "retention.audit=1ms", false, false},
    DESK_TEST(records_are_listed_by_who_what_which_and_when),
    DESK_TEST(a_request_is_done_once_and_an_id_is_of_one_request),
    DESK_TEST(a_deletion_whose_answer_was_lost_is_proved_by_its_record),
    DESK_TEST(a_deletion_that_another_was_faster_with_is_not_taken_for_ones_own),
    DESK_TEST(a_deletion_of_unknown_outcome_is_told_by_its_id_when_it_was_done),
    DESK_TEST(a_deletion_of_unknown_outcome_is_told_by_its_id_when_it_was_not_done),
    DESK_TEST(a_definition_whose_answer_was_lost_is_deleted_once),
    {.name = NULL},
};
/* clang-format on */
