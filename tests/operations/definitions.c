/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on definitions: what is listed, saved, published, retracted and deleted. */
#include "operations/desk.h"

#include "base/json/builder.h"
#include "host/features.h"
#include "runtime/runtime.h"

#include "operations/definitions.h"
#include "operations/instances.h"
#include "views/definitions.h"

#include <stdio.h>

static const char bad_cron[] =
    "{\"definitionId\":\"bad\",\"name\":\"Bad\",\"root\":{\"id\":\"c\",\"type\":\"Elsa.Cron\","
    "\"customProperties\":{\"canStartWorkflow\":true},\"cronExpression\":{\"typeName\":\"String\","
    "\"expression\":{\"type\":\"Literal\",\"value\":\"nonsense\"}}}}";

static struct pawl_json parse(struct desk *desk, const char *text)
{
    struct pawl_json json;

    assert_ok(pawl__json_parse(&desk->arena, pawl__str(text), NULL, &json, NULL, &desk->err),
              &desk->err);
    return json;
}

static struct pawl_definition_saved save(struct desk *desk, const char *text, bool publish)
{
    struct pawl_json json = parse(desk, text);
    struct pawl_definition_saved saved;

    assert_ok(pawl__op_definition_save(
                  &desk->op,
                  &(struct pawl_definition_save){.definition = &json, .publish = publish}, &saved),
              &desk->err);
    return saved;
}

static void save_simple(struct desk *desk, const char *id, const char *name, bool publish)
{
    char text[512];

    (void)snprintf(text, sizeof text,
                   "{\"definitionId\":\"%s\",\"name\":\"%s\",\"description\":\"about %s\","
                   "\"toolVersion\":\"3.8.0.0\",\"root\":{\"id\":\"w\",\"type\":"
                   "\"Elsa.WriteLine\",\"text\":{\"typeName\":\"String\",\"expression\":{\"type\":"
                   "\"Literal\",\"value\":\"%s\"}}}}",
                   id, name, id, name);
    assert_true(save(desk, text, publish).publication.succeeded);
}

static struct pawl_definition_ref by_id(const char *id, enum pawl_version_pick pick)
{
    return (struct pawl_definition_ref){.definition_id = pawl__str(id), .versions = {pick, 0}};
}

static struct pawl_definition_row find(struct desk *desk, const char *id,
                                       enum pawl_version_pick pick)
{
    struct pawl_definition_ref ref = by_id(id, pick);
    struct pawl_definition_row row;

    assert_ok(pawl__op_definition_find(&desk->op, &ref, &row), &desk->err);
    return row;
}

static int find_status(struct desk *desk, const char *id, enum pawl_version_pick pick)
{
    struct pawl_definition_ref ref = by_id(id, pick);
    struct pawl_definition_row row;

    return pawl__op_definition_find(&desk->op, &ref, &row);
}

static struct pawl_definition_list list(struct desk *desk,
                                        const struct pawl_definition_query *query)
{
    struct pawl_definition_list out;

    assert_ok(pawl__op_definitions_list(&desk->op, query, &out), &desk->err);
    return out;
}

static size_t count_of(struct desk *desk, const char *versions)
{
    struct pawl_definition_query query = PAWL_DEFINITION_QUERY_ALL;

    assert_ok(pawl__version_options_read(pawl__str(versions), &query.versions, &desk->err),
              &desk->err);
    return list(desk, &query).count;
}

/* ---- lists ----------------------------------------------------------------------------------- */

static void a_list_has_the_versions_that_are_asked_for(struct desk *desk)
{
    struct pawl_version_options options;
    uint64_t count = 0;

    save_simple(desk, "a", "One", true);
    save_simple(desk, "a", "Two", false);
    save_simple(desk, "b", "Three", true);
    save_simple(desk, "c", "Four", false);
    assert_int_equal(4, count_of(desk, "AllVersions"));
    assert_int_equal(2, count_of(desk, "Draft"));
    assert_int_equal(3, count_of(desk, "Latest"));
    assert_int_equal(2, count_of(desk, "Published"));
    assert_int_equal(4, count_of(desk, "LatestOrPublished"));
    assert_int_equal(1, count_of(desk, "LatestAndPublished"));
    assert_int_equal(3, count_of(desk, "1"));
    assert_int_equal(1, count_of(desk, "2"));
    assert_int_equal(0, count_of(desk, "99"));
    assert_int_equal(4, count_of(desk, "0"));
    assert_int_equal(PAWL_EINVAL,
                     pawl__version_options_read(pawl__str("latest"), &options, &desk->err));
    assert_int_equal(PAWL_EINVAL, pawl__version_options_read(pawl__str("x"), &options, &desk->err));
    assert_int_equal(PAWL_EINVAL, pawl__version_options_read(pawl__str("-"), &options, &desk->err));
    assert_ok(pawl__op_definitions_count(&desk->op, &count), &desk->err);
    assert_int_equal(3, count);
}

static void a_list_is_sorted_searched_and_paged(struct desk *desk)
{
    const struct pawl_str ids[] = {pawl__str("a"), pawl__str("c")};
    struct pawl_definition_query query = PAWL_DEFINITION_QUERY_ALL;
    struct pawl_definition_list whole, found;

    save_simple(desk, "a", "Gamma", true);
    save_simple(desk, "b", "Alpha", true);
    save_simple(desk, "c", "Beta", true);
    found = list(desk, &query);
    assert_str(found.rows[0].name, "Alpha");
    query.sort = PAWL_DEFINITIONS_BY_CREATED;
    whole = list(desk, &query);
    assert_int_equal(3, whole.count);
    /* Two may have been saved in the same tick of the store's clock. */
    assert_true(whole.rows[0].created_us >= whole.rows[1].created_us);
    assert_true(whole.rows[1].created_us >= whole.rows[2].created_us);
    assert_str(whole.rows[0].tool_version, "3.8.0.0");
    query.page = (struct pawl_page_request){.limit = 2, .with_total = true};
    found = list(desk, &query);
    assert_int_equal(3, found.page.total);
    assert_true(pawl__str_equal(found.rows[1].id, whole.rows[1].id));
    query.page.after = found.page.next;
    found = list(desk, &query);
    assert_int_equal(1, found.count);
    assert_true(pawl__str_equal(found.rows[0].id, whole.rows[2].id));
    query = PAWL_DEFINITION_QUERY_ALL;
    query.search = pawl__str("about b");
    found = list(desk, &query);
    assert_int_equal(1, found.count);
    query = PAWL_DEFINITION_QUERY_ALL;
    query.definition_ids = ids;
    query.definition_id_count = 2;
    assert_int_equal(2, list(desk, &query).count);
}

static void pairs_show_the_latest_and_the_published_version(struct desk *desk)
{
    struct pawl_definition_query query = PAWL_DEFINITION_QUERY_ALL;
    struct pawl_definition_pairs pairs;

    save_simple(desk, "a", "One", true);
    save_simple(desk, "a", "Two", false);
    save_simple(desk, "b", "Three", false);
    query.versions.pick = PAWL_VERSIONS_LATEST;
    query.sort = PAWL_DEFINITIONS_BY_ID;
    assert_ok(pawl__op_definitions_pairs(&desk->op, &query, &pairs), &desk->err);
    assert_int_equal(2, pairs.count);
    assert_int_equal(2, pairs.items[0].latest->version);
    assert_int_equal(1, pairs.items[0].published->version);
    assert_null(pairs.items[1].published);
    query.versions.pick = PAWL_VERSIONS_PUBLISHED;
    assert_ok(pawl__op_definitions_pairs(&desk->op, &query, &pairs), &desk->err);
    assert_int_equal(1, pairs.count);
    assert_int_equal(2, pairs.items[0].latest->version);
}

static void a_name_is_unique_in_all_versions_of_others(struct desk *desk)
{
    bool unique = true;

    save_simple(desk, "a", "One", true);
    save_simple(desk, "a", "Two", false);
    assert_ok(
        pawl__op_definition_name_is_unique(&desk->op, pawl__str(" One "), pawl__str(""), &unique),
        &desk->err);
    assert_false(unique);
    assert_ok(
        pawl__op_definition_name_is_unique(&desk->op, pawl__str("One"), pawl__str("a"), &unique),
        &desk->err);
    assert_true(unique);
    assert_ok(
        pawl__op_definition_name_is_unique(&desk->op, pawl__str("one"), pawl__str(""), &unique),
        &desk->err);
    assert_true(unique);
}

/* ---- saving ---------------------------------------------------------------------------------- */

static void what_is_not_valid_is_not_stored_when_it_is_published(struct desk *desk)
{
    struct pawl_definition_saved saved = save(desk, bad_cron, true);

    assert_false(saved.publication.succeeded);
    assert_true(saved.publication.problems.count > 0);
    assert_int_equal(PAWL_ENOTFOUND, find_status(desk, "bad", PAWL_VERSIONS_LATEST));
    /* As a draft it may be kept; publishing that leaves it as it is. */
    assert_true(save(desk, bad_cron, false).publication.succeeded);
    assert_ok(
        pawl__op_definition_publish(
            &desk->op, &(struct pawl_definition_ref){.definition_id = pawl__str("bad")}, &saved),
        &desk->err);
    assert_false(saved.publication.succeeded);
    assert_false(find(desk, "bad", PAWL_VERSIONS_LATEST).is_published);
}

static void a_refused_version_leaves_the_published_one(struct desk *desk)
{
    save_simple(desk, "bad", "Good", true);
    assert_false(save(desk, bad_cron, true).publication.succeeded);
    assert_int_equal(1, count_of(desk, "AllVersions"));
    assert_str(find(desk, "bad", PAWL_VERSIONS_PUBLISHED).name, "Good");
}

static void publishing_takes_over_the_draft_that_is_there(struct desk *desk)
{
    struct pawl_str draft;

    save_simple(desk, "a", "One", true);
    save_simple(desk, "a", "Two", false);
    draft = find(desk, "a", PAWL_VERSIONS_LATEST).id;
    save_simple(desk, "a", "Three", true);
    assert_int_equal(2, count_of(desk, "AllVersions"));
    assert_true(pawl__str_equal(draft, find(desk, "a", PAWL_VERSIONS_PUBLISHED).id));
    assert_str(find(desk, "a", PAWL_VERSIONS_LATEST_AND_PUBLISHED).name, "Three");
    save_simple(desk, "a", "Four", true);
    assert_int_equal(3, find(desk, "a", PAWL_VERSIONS_PUBLISHED).version);
    assert_int_equal(1, count_of(desk, "Published"));
    assert_int_equal(1, count_of(desk, "Latest"));
}

static void definitions_that_are_saved_together_may_use_each_other(struct desk *desk)
{
    static const char parent[] =
        "{\"definitionId\":\"p\",\"name\":\"Parent\",\"root\":{\"id\":\"k\",\"type\":\"Kid\"}}";
    static const char kid[] =
        "{\"definitionId\":\"k\",\"name\":\"Kid\",\"options\":{\"usableAsActivity\":true},\"root\":"
        "{\"id\":\"w\",\"type\":\"Elsa.WriteLine\"}}";
    struct pawl_json json = parse(desk, parent), beside = parse(desk, kid);
    const struct pawl_json *const both[] = {&beside};
    struct pawl_definition_save request = {.definition = &json, .publish = true};
    struct pawl_definition_saved saved;
    struct pawl_definition_ids users;

    assert_ok(pawl__op_definition_save(&desk->op, &request, &saved), &desk->err);
    assert_true(saved.publication.problems.count > 0);
    request.beside = both;
    request.beside_count = 1;
    assert_ok(pawl__op_definition_save(&desk->op, &request, &saved), &desk->err);
    assert_int_equal(0, saved.publication.problems.count);
    save(desk, kid, true);
    assert_ok(pawl__op_definition_consumers(&desk->op, pawl__str("k"), &users), &desk->err);
    assert_int_equal(1, users.count);
    assert_str(users.items[0], "p");
    assert_int_equal(PAWL_ENOTFOUND,
                     pawl__op_definition_consumers(&desk->op, pawl__str("nope"), &users));
}

static void of_a_model_only_what_designers_edit_is_taken(struct desk *desk)
{
    struct pawl_json json =
        parse(desk, "{\"definitionId\":\" m \",\"name\":\"  Mine \",\"id\":\"x\",\"version\":7,"
                    "\"isReadonly\":true,\"isPublished\":true}");
    struct pawl_definition_saved saved;
    struct pawl_definition_shown shown;

    assert_ok(pawl__op_definition_save(
                  &desk->op, &(struct pawl_definition_save){.definition = &json, .is_model = true},
                  &saved),
              &desk->err);
    assert_str(saved.row.name, "Mine");
    assert_str(saved.row.definition_id, "m");
    assert_int_equal(1, saved.row.version);
    assert_false(saved.row.is_readonly);
    assert_false(saved.row.is_published);
    assert_ok(pawl__op_definition_show_row(&desk->op, &saved.row, &shown), &desk->err);
    assert_str(shown.graph->nodes[1]->type, "Elsa.Sequence");
    pawl__op_definition_release(&shown);
    assert_int_equal(pawl__json_set(&desk->arena, &json, pawl__str("tenantId"),
                                    pawl__json_string(pawl__str("acme"))),
                     PAWL_OK);
    assert_code(pawl__op_definition_save(
                    &desk->op,
                    &(struct pawl_definition_save){.definition = &json, .is_model = true}, &saved),
                PAWL_EUNSUPPORTED);
}

static void what_is_read_only_is_not_saved_over(struct desk *desk)
{
    struct pawl_json json = parse(desk, "{\"definitionId\":\"r\",\"name\":\"R\"}");
    struct pawl_definition_saved saved;

    save(desk,
         "{\"definitionId\":\"r\",\"name\":\"R\",\"isReadonly\":true,\"root\":{\"id\":\"w\","
         "\"type\":\"Elsa.WriteLine\"}}",
         true);
    assert_int_equal(PAWL_EPERM, pawl__op_definition_save(&desk->op,
                                                          &(struct pawl_definition_save){
                                                              .definition = &json,
                                                              .is_model = true,
                                                          },
                                                          &saved));
}

static void validating_stores_nothing(struct desk *desk)
{
    struct pawl_json json = parse(desk, bad_cron);
    struct pawl_publication said;

    assert_ok(pawl__op_definition_validate(&desk->op, &json, &said), &desk->err);
    assert_false(said.succeeded);
    json = parse(desk, desk_ends);
    assert_ok(pawl__op_definition_validate(&desk->op, &json, &said), &desk->err);
    assert_true(said.succeeded);
    assert_int_equal(0, count_of(desk, "AllVersions"));
}

static void an_import_keeps_version_and_flags(struct desk *desk)
{
    struct pawl_json json =
        parse(desk, "{\"definitionId\":\"i\",\"id\":\"v5\",\"version\":5,\"isPublished\":false,"
                    "\"isLatest\":true,\"name\":\"I\",\"root\":{\"type\":\"Elsa.WriteLine\"}}");
    struct pawl_definition_row row;
    struct pawl_definition_list exported;
    const struct pawl_str ids[] = {pawl__str("v5"), pawl__str("nope")};

    assert_ok(pawl__op_definition_import(&desk->op, &json, &row), &desk->err);
    assert_int_equal(5, row.version);
    assert_str(row.id, "v5");
    assert_false(row.is_published);
    assert_int_equal(PAWL_EEXISTS, pawl__op_definition_import(&desk->op, &json, &row));
    assert_ok(pawl__op_definitions_export(
                  &desk->op,
                  &(struct pawl_definition_export){.version_ids = ids, .version_id_count = 2},
                  &exported),
              &desk->err);
    assert_int_equal(1, exported.count);
    assert_true(exported.rows[0].data.len > 0);
}

/* ---- changing -------------------------------------------------------------------------------- */

static void retracting_twice_says_that_it_was_not_published(struct desk *desk)
{
    struct pawl_definition_row row;
    bool was = false;

    save_simple(desk, "a", "One", true);
    assert_ok(pawl__op_definition_retract(&desk->op, pawl__str("a"), &was, &row), &desk->err);
    assert_true(was);
    assert_false(row.is_published);
    assert_ok(pawl__op_definition_retract(&desk->op, pawl__str("a"), &was, &row), &desk->err);
    assert_false(was);
    assert_int_equal(PAWL_ENOTFOUND,
                     pawl__op_definition_retract(&desk->op, pawl__str("nope"), &was, &row));
}

static void reverting_makes_a_new_draft_each_time(struct desk *desk)
{
    struct pawl_definition_row row;

    save_simple(desk, "a", "One", true);
    save_simple(desk, "a", "Two", true);
    assert_ok(pawl__op_definition_revert(&desk->op, pawl__str("a"), 1, &row), &desk->err);
    assert_int_equal(3, row.version);
    assert_str(row.name, "One");
    assert_false(row.is_published);
    assert_ok(pawl__op_definition_revert(&desk->op, pawl__str("a"), 1, &row), &desk->err);
    assert_int_equal(4, row.version);
    assert_int_equal(2, find(desk, "a", PAWL_VERSIONS_PUBLISHED).version);
    assert_int_equal(1, count_of(desk, "Latest"));
    assert_int_equal(PAWL_ENOTFOUND,
                     pawl__op_definition_revert(&desk->op, pawl__str("a"), 99, &row));
}

static int delete_version(struct desk *desk, const char *id, int64_t version)
{
    struct pawl_definition_deleted deleted;

    return pawl__op_definition_delete(
        &desk->op,
        &(struct pawl_definition_delete){.definition_id = pawl__str(id), .version = version},
        &deleted);
}

static void the_highest_that_remains_becomes_the_latest(struct desk *desk)
{
    save_simple(desk, "a", "One", true);
    save_simple(desk, "a", "Two", true);
    save_simple(desk, "a", "Three", false);
    assert_ok(delete_version(desk, "a", 2), &desk->err);
    assert_int_equal(0, count_of(desk, "Published"));
    assert_int_equal(3, find(desk, "a", PAWL_VERSIONS_LATEST).version);
    assert_ok(delete_version(desk, "a", 3), &desk->err);
    assert_int_equal(1, find(desk, "a", PAWL_VERSIONS_LATEST).version);
    assert_int_equal(PAWL_ENOTFOUND, delete_version(desk, "a", 3));
    assert_ok(delete_version(desk, "a", 1), &desk->err);
    assert_int_equal(0, count_of(desk, "AllVersions"));
}

static uint64_t instances(struct desk *desk)
{
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;
    struct pawl_instance_list found;

    query.page.total_only = true;
    assert_ok(pawl__op_instances_list(&desk->op, &query, &found), &desk->err);
    return found.page.total;
}

static void what_instances_run_is_not_deleted(struct desk *desk)
{
    struct pawl_definition_delete request = {.definition_id = pawl__str("waits")};
    struct pawl_definition_deleted deleted;

    desk_publish(desk, desk_waits);
    (void)desk_start(desk, "waits", NULL, NULL, NULL);
    assert_int_equal(PAWL_ECONFLICT, pawl__op_definition_delete(&desk->op, &request, &deleted));
    request.with_instances = true;
    assert_ok(pawl__op_definition_delete(&desk->op, &request, &deleted), &desk->err);
    assert_int_equal(1, deleted.definitions);
    assert_int_equal(1, deleted.instances);
    assert_int_equal(0, instances(desk));
    assert_int_equal(PAWL_ENOTFOUND, pawl__op_definition_delete(&desk->op, &request, &deleted));
}

/* The instance of another node that runs it stays, and so does what was done before. */
static void what_is_deleted_in_part_does_not_say_that_nothing_was_changed(struct desk *desk)
{
    struct pawl_definition_delete request = {
        .definition_id = pawl__str("waits"), .force = true, .with_instances = true};
    struct pawl_lease lease = {.kind = PAWL_LEASE_JOIN,
                               .node_id = pawl__str("elsewhere"),
                               .ttl_us = INT64_C(3600000000),
                               .info = pawl__str("{}")};
    struct pawl_op brief = pawl__op_within(&desk->op, 3000);
    struct pawl_definition_deleted deleted;
    struct pawl_claim claim = {.id = pawl__str("z")};
    int64_t now_us;

    desk_publish(desk, desk_waits);
    (void)desk_start(desk, "waits", "a", NULL, NULL);
    (void)desk_start(desk, "waits", "z", NULL, NULL);
    assert_ok(pawl_store_lease(desk->store, &lease, desk->op.deadline_ns, &desk->err), &desk->err);
    assert_ok(pawl_store_claim(desk->store, lease.incarnation, &claim, 1, &desk->arena, &now_us,
                               desk->op.deadline_ns, &desk->err),
              &desk->err);
    assert_code(claim.status, PAWL_OK);
    assert_code(pawl__op_definition_delete(&brief, &request, &deleted), PAWL_EUNKNOWN);
    assert_int_equal(desk->err.code, PAWL_EUNKNOWN);
    assert_non_null(strstr(desk->err.msg, "the definition and "));
    assert_non_null(strstr(desk->err.msg, "goes on with the rest"));
    assert_non_null(strstr(desk->err.msg, "instance z was not deleted"));
    assert_int_equal(0, count_of(desk, "AllVersions"));
    lease.kind = PAWL_LEASE_LEAVE;
    assert_ok(pawl_store_lease(desk->store, &lease, desk->op.deadline_ns, &desk->err), &desk->err);
    assert_ok(pawl__op_definition_delete(&desk->op, &request, &deleted), &desk->err);
    assert_int_equal(0, deleted.definitions);
    assert_int_equal(0, instances(desk));
}

static void force_deletes_what_instances_run(struct desk *desk)
{
    struct pawl_definition_delete request = {.definition_id = pawl__str("waits"), .force = true};
    struct pawl_definition_deleted deleted;

    desk_publish(desk, desk_waits);
    (void)desk_start(desk, "waits", NULL, NULL, NULL);
    assert_ok(pawl__op_definition_delete(&desk->op, &request, &deleted), &desk->err);
    assert_int_equal(1, instances(desk));
}

static void references_follow_the_published_version(struct desk *desk)
{
    static const char kid[] =
        "{\"definitionId\":\"k\",\"name\":\"Kid\",\"options\":{\"usableAsActivity\":true},\"root\":"
        "{\"id\":\"w\",\"type\":\"Elsa.WriteLine\"}}";
    static const char parent[] =
        "{\"definitionId\":\"p\",\"name\":\"Parent\",\"root\":{\"id\":\"k\",\"type\":\"Kid\","
        "\"version\":1,\"workflowDefinitionId\":\"k\"}}";
    struct pawl_definition_list changed;

    save(desk, kid, true);
    save(desk, parent, true);
    save(desk, kid, true);
    assert_ok(pawl__op_definition_update_references(&desk->op, pawl__str("k"), &changed),
              &desk->err);
    assert_int_equal(1, changed.count);
    assert_str(changed.rows[0].name, "Parent");
    assert_int_equal(2, find(desk, "p", PAWL_VERSIONS_PUBLISHED).version);
    assert_ok(pawl__op_definition_update_references(&desk->op, pawl__str("k"), &changed),
              &desk->err);
    assert_int_equal(0, changed.count);
}

/* ---- many ------------------------------------------------------------------------------------ */

static void many_are_published_and_retracted_each_by_itself(struct desk *desk)
{
    const struct pawl_str ids[] = {pawl__str("x"), pawl__str("y"), pawl__str("nope"),
                                   pawl__str("x"), pawl__str("bad")};
    struct pawl_definitions_published published;
    struct pawl_definitions_retracted retracted;

    save_simple(desk, "x", "X", false);
    save_simple(desk, "y", "Y", false);
    save(desk, bad_cron, false);
    assert_ok(pawl__op_definitions_publish(&desk->op, ids, 5, &published), &desk->err);
    assert_int_equal(3, published.published.count);
    assert_int_equal(1, published.not_found.count);
    assert_int_equal(1, published.failed.count);
    assert_true(published.failures[0].len > 0);
    assert_ok(pawl__op_definitions_publish(&desk->op, ids, 1, &published), &desk->err);
    assert_int_equal(1, published.already_published.count);
    assert_ok(pawl__op_definitions_retract(&desk->op, ids, 5, &retracted), &desk->err);
    assert_int_equal(2, retracted.retracted.count);
    assert_int_equal(2, retracted.already_retracted.count);
    assert_int_equal(2, retracted.not_published.count);
    assert_int_equal(1, retracted.not_found.count);
}

/* One that fails ends nothing for the others, and leaves no message of its own. */
static void one_that_cannot_be_retracted_does_not_keep_the_others(struct desk *desk)
{
    const struct pawl_str ids[] = {pawl__str("nope"), pawl__str(""), pawl__str("x")};
    struct pawl_builder b = {.arena = &desk->arena};
    struct pawl_definitions_retracted retracted;
    struct pawl_definitions_deleted deleted;
    struct pawl_json view;

    save_simple(desk, "x", "X", true);
    desk->err = (struct pawl_error)PAWL_ERROR_INIT;
    assert_ok(pawl__op_definitions_retract(&desk->op, ids, 3, &retracted), &desk->err);
    assert_int_equal(desk->err.code, PAWL_OK);
    assert_int_equal(1, retracted.not_found.count);
    assert_int_equal(1, retracted.retracted.count);
    assert_int_equal(1, retracted.failed.count);
    assert_str(retracted.failed.items[0], "");
    assert_true(retracted.failures[0].len > 0);
    view = pawl__view_definitions_retracted(&b, &retracted);
    assert_int_equal(1, pawl__json_len(pawl__json_get_text(&view, "failed")));
    assert_ok(pawl__op_definitions_retract(&desk->op, ids, 1, &retracted), &desk->err);
    view = pawl__view_definitions_retracted(&b, &retracted);
    assert_null(pawl__json_get_text(&view, "failed")); /* as the reference writes it */
    assert_ok(pawl__op_definitions_delete(&desk->op,
                                          &(struct pawl_definitions_delete){
                                              .definition_ids = ids, .definition_id_count = 1},
                                          &deleted),
              &desk->err);
    assert_int_equal(desk->err.code, PAWL_OK);
}

static void many_are_deleted_but_those_in_use(struct desk *desk)
{
    const struct pawl_str ids[] = {pawl__str("x"), pawl__str("nope"), pawl__str("waits")};
    struct pawl_definitions_deleted deleted;

    save_simple(desk, "x", "X", true);
    desk_publish(desk, desk_waits);
    (void)desk_start(desk, "waits", NULL, NULL, NULL);
    assert_ok(pawl__op_definitions_delete(&desk->op,
                                          &(struct pawl_definitions_delete){
                                              .definition_ids = ids, .definition_id_count = 3},
                                          &deleted),
              &desk->err);
    assert_int_equal(1, deleted.deleted);
    assert_int_equal(1, deleted.in_use.count);
    assert_str(deleted.in_use.items[0], "waits");
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static void a_node_is_found_with_the_way_to_it(struct desk *desk)
{
    struct pawl_definition_ref ref = by_id("s", PAWL_VERSIONS_LATEST);
    struct pawl_definition_shown shown;
    struct pawl_definition_path path;
    struct pawl_definition_node node;

    save(desk,
         "{\"definitionId\":\"s\",\"name\":\"S\",\"root\":{\"id\":\"s\",\"type\":\"Elsa.Sequence\","
         "\"activities\":[{\"id\":\"w\",\"type\":\"Elsa.WriteLine\"}]}}",
         false);
    assert_ok(pawl__op_definition_show(&desk->op, &ref, &shown), &desk->err);
    assert_ok(pawl__op_definition_node(&desk->op, &shown, pawl__str("Workflow1:s:w"), &node),
              &desk->err);
    assert_str(node.id, "w");
    assert_ok(pawl__op_definition_node(&desk->op, &shown, pawl__str("nope"), &node), &desk->err);
    assert_str(node.id, "Workflow1");
    assert_ok(pawl__op_definition_path(&desk->op, &shown, pawl__str("Workflow1:s:w"), &path),
              &desk->err);
    assert_int_equal(1, path.segment_count);
    assert_str(path.container.id, "s");
    assert_int_equal(PAWL_EINVAL,
                     pawl__op_definition_path(&desk->op, &shown, pawl__str("nope"), &path));
    pawl__op_definition_release(&shown);
}

/* It was published, then retracted or rolled back: what runs on it keeps what it was started with.
 */
static void a_version_that_instances_run_on_is_not_rewritten(struct desk *desk)
{
    static const char changed[] =
        "{\"definitionId\":\"waits\",\"name\":\"Waits\",\"root\":{\"id\":\"other\",\"type\":"
        "\"Elsa.Event\",\"eventName\":{\"typeName\":\"String\",\"expression\":{\"type\":"
        "\"Literal\",\"value\":\"Stop\"}}}}";
    struct pawl_runtime *runtime = pawl__host_node(desk->host);
    struct pawl_definitions *definitions = pawl__runtime_definitions(runtime);
    struct pawl_instance_row row;
    struct pawl_definition_row draft;
    struct pawl_json parsed;

    desk_publish(desk, desk_waits);
    (void)desk_start(desk, "waits", "w", NULL, NULL);
    assert_ok(pawl__definitions_retract(definitions, pawl__str("waits"), desk->op.deadline_ns,
                                        &desk->err),
              &desk->err);
    assert_ok(pawl__json_parse(&desk->arena, pawl__str(changed), NULL, &parsed, NULL, &desk->err),
              &desk->err);
    assert_ok(pawl__definitions_import(definitions, &parsed, &desk->arena, &draft,
                                       desk->op.deadline_ns, &desk->err),
              &desk->err);
    assert_int_equal(draft.version, 2);
    desk_publish(desk, changed);
    assert_ok(pawl__runtime_send_event(runtime, pawl__str("Go"), NULL,
                                       &(struct pawl_stimulus){.instance_id = pawl__str("w")}, NULL,
                                       desk->op.deadline_ns, &desk->err),
              &desk->err);
    desk_drain(desk);
    assert_ok(pawl__runtime_show(runtime, pawl__str("w"), &desk->arena, &row, NULL,
                                 desk->op.deadline_ns, &desk->err),
              &desk->err);
    assert_str(row.sub_status, "Finished");
}

const struct desk_test definition_tests[] = {
    DESK_TEST(a_version_that_instances_run_on_is_not_rewritten),
    DESK_TEST(a_list_has_the_versions_that_are_asked_for),
    DESK_TEST(a_list_is_sorted_searched_and_paged),
    DESK_TEST(pairs_show_the_latest_and_the_published_version),
    DESK_TEST(a_name_is_unique_in_all_versions_of_others),
    DESK_TEST(what_is_not_valid_is_not_stored_when_it_is_published),
    DESK_TEST(a_refused_version_leaves_the_published_one),
    DESK_TEST(publishing_takes_over_the_draft_that_is_there),
    DESK_TEST(definitions_that_are_saved_together_may_use_each_other),
    DESK_TEST(of_a_model_only_what_designers_edit_is_taken),
    DESK_TEST(what_is_read_only_is_not_saved_over),
    DESK_TEST(validating_stores_nothing),
    DESK_TEST(an_import_keeps_version_and_flags),
    DESK_TEST(retracting_twice_says_that_it_was_not_published),
    DESK_TEST(reverting_makes_a_new_draft_each_time),
    DESK_TEST(the_highest_that_remains_becomes_the_latest),
    DESK_TEST(what_instances_run_is_not_deleted),
    DESK_TEST(what_is_deleted_in_part_does_not_say_that_nothing_was_changed),
    DESK_TEST(force_deletes_what_instances_run),
    DESK_TEST(references_follow_the_published_version),
    DESK_TEST(many_are_published_and_retracted_each_by_itself),
    DESK_TEST(one_that_cannot_be_retracted_does_not_keep_the_others),
    DESK_TEST(many_are_deleted_but_those_in_use),
    DESK_TEST(a_node_is_found_with_the_way_to_it),
    {.name = NULL},
};
