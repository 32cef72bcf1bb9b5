/* SPDX-License-Identifier: Apache-2.0 */
/* Changing definitions: those that are damaged, read-only, very many, or changed by two at once. */
#include "operations/desk.h"

#include "base/json/builder.h"
#include "host/features.h"
#include "host/host.h"
#include "operations/definitions.h"
#include "runtime/runtime.h"
#include "views/definitions.h"

#include <stdio.h>

/* More than one query can name. */
#define MANY (PAWL_STORE_VALUES_MAX + 5)

static struct pawl_definition_saved save(struct desk *desk, const char *text, bool publish)
{
    struct pawl_definition_saved saved;
    struct pawl_json json;

    assert_ok(pawl__json_parse(&desk->arena, pawl__str(text), NULL, &json, NULL, &desk->err),
              &desk->err);
    assert_ok(pawl__op_definition_save(
                  &desk->op,
                  &(struct pawl_definition_save){.definition = &json, .publish = publish}, &saved),
              &desk->err);
    return saved;
}

static int find_status(struct desk *desk, const char *id)
{
    const struct pawl_definition_ref ref = {.definition_id = pawl__str(id),
                                            .versions = {PAWL_VERSIONS_LATEST, 0}};
    struct pawl_definition_row row;

    return pawl__op_definition_find(&desk->op, &ref, &row);
}

static void put_rows(struct desk *desk, const struct pawl_definition_row *rows, size_t count)
{
    struct pawl_change *changes = pawl__arena_alloc_array(&desk->arena, count, sizeof *changes);
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_PLAIN, .changes = changes, .change_count = (uint32_t)count};
    struct pawl_commit *const commits[] = {&commit};

    assert_non_null(changes);
    for (size_t i = 0; i < count; i++)
        changes[i] = (struct pawl_change){PAWL_CHANGE_PUT, PAWL_TABLE_DEFINITIONS, &rows[i]};
    assert_ok(pawl_store_apply(pawl__host_store(desk->host), commits, 1, desk->op.deadline_ns,
                               &desk->err),
              &desk->err);
    assert_code(commit.status, PAWL_OK);
}

/* ---- damaged --------------------------------------------------------------------------------- */

static void damage(struct desk *desk, struct pawl_definition_row row)
{
    row.data = pawl__str("{\"root\":");
    put_rows(desk, &row, 1);
    assert_code(find_status(desk, "ends"), PAWL_EPARSE);
}

static void a_damaged_definition_can_be_retracted(struct desk *desk)
{
    struct pawl_definition_row row;
    bool was_published = false;

    damage(desk, save(desk, desk_ends, true).row);
    assert_ok(pawl__op_definition_retract(&desk->op, pawl__str("ends"), &was_published, &row),
              &desk->err);
    assert_true(was_published);
    assert_int_equal(row.is_published, 0);
    assert_ok(pawl__op_definition_retract(&desk->op, pawl__str("ends"), &was_published, &row),
              &desk->err);
    assert_false(was_published);
}

static void a_damaged_definition_can_be_retracted_among_others(struct desk *desk)
{
    const struct pawl_str ids[] = {pawl__str("ends"), pawl__str("waits")};
    struct pawl_definitions_retracted retracted;

    desk_publish(desk, desk_waits);
    damage(desk, save(desk, desk_ends, true).row);
    assert_ok(pawl__op_definitions_retract(&desk->op, ids, 2, &retracted), &desk->err);
    assert_int_equal(retracted.retracted.count, 2);
}

static void a_damaged_version_can_be_deleted(struct desk *desk)
{
    const struct pawl_definition_delete request = {.definition_id = pawl__str("ends"),
                                                   .version = 1};
    struct pawl_definition_deleted deleted;

    damage(desk, save(desk, desk_ends, true).row);
    assert_ok(pawl__op_definition_delete(&desk->op, &request, &deleted), &desk->err);
    assert_int_equal(deleted.definitions, 1);
    assert_code(find_status(desk, "ends"), PAWL_ENOTFOUND);
}

/* ---- read-only ------------------------------------------------------------------------------- */

static const char read_only[] =
    "{\"definitionId\":\"r\",\"name\":\"R\",\"isReadonly\":true,\"root\":{\"id\":\"w\",\"type\":"
    "\"Elsa.WriteLine\"}}";

static void a_read_only_definition_is_not_changed(struct desk *desk)
{
    const struct pawl_definition_ref ref = {.definition_id = pawl__str("r")};
    struct pawl_definition_saved saved = save(desk, read_only, false);
    struct pawl_definition_delete request = {.definition_id = pawl__str("r"), .force = true};
    struct pawl_definition_deleted deleted;
    struct pawl_definition_row row;
    struct pawl_json other;
    bool was_published;

    assert_ok(pawl__json_parse(&desk->arena,
                               pawl__str("{\"definitionId\":\"r\",\"name\":\"R\",\"version\":7,"
                                         "\"root\":{\"id\":\"w\",\"type\":\"Elsa.WriteLine\"}}"),
                               NULL, &other, NULL, &desk->err),
              &desk->err);
    assert_code(pawl__op_definition_publish(&desk->op, &ref, &saved), PAWL_EPERM);
    assert_code(pawl__op_definition_import(&desk->op, &other, &row), PAWL_EPERM);
    (void)save(desk, read_only, true);
    assert_code(pawl__op_definition_retract(&desk->op, pawl__str("r"), &was_published, &row),
                PAWL_EPERM);
    assert_code(pawl__op_definition_delete(&desk->op, &request, &deleted), PAWL_EPERM);
    request.version = 1;
    assert_code(pawl__op_definition_delete(&desk->op, &request, &deleted), PAWL_EPERM);
    assert_code(find_status(desk, "r"), PAWL_OK);
}

static void a_read_only_definition_is_skipped_among_others(struct desk *desk)
{
    const struct pawl_str ids[] = {pawl__str("r"), pawl__str("ends")};
    struct pawl_definitions_deleted deleted;

    (void)save(desk, read_only, true);
    (void)save(desk, desk_ends, true);
    assert_ok(pawl__op_definitions_delete(&desk->op,
                                          &(struct pawl_definitions_delete){
                                              .definition_ids = ids, .definition_id_count = 2},
                                          &deleted),
              &desk->err);
    assert_int_equal(deleted.deleted, 1);
    assert_int_equal(deleted.skipped.count, 1);
    assert_str(deleted.skipped.items[0], "r");
}

/* ---- very many ------------------------------------------------------------------------------- */

static void save_kid(struct desk *desk, bool updates, bool publish)
{
    char text[512];

    (void)snprintf(text, sizeof text,
                   "{\"definitionId\":\"k\",\"name\":\"Kid\",\"options\":{\"usableAsActivity\":"
                   "true,\"autoUpdateConsumingWorkflows\":%s},\"root\":{\"id\":\"w\",\"type\":"
                   "\"Elsa.WriteLine\"}}",
                   updates ? "true" : "false");
    assert_true(save(desk, text, publish).publication.succeeded);
}

static struct pawl_str text_with(struct desk *desk, const char *before, unsigned number,
                                 const char *behind)
{
    char *text = pawl__arena_alloc(&desk->arena, 256);

    assert_non_null(text);
    (void)snprintf(text, 256, "%s%u%s", before, number, behind);
    return pawl__str(text);
}

/* Drafts, each the only version of its definition. */
static void put_users(struct desk *desk, unsigned count)
{
    struct pawl_definition_row *rows = pawl__arena_alloc_array(&desk->arena, count, sizeof *rows);

    assert_non_null(rows);
    for (unsigned i = 0; i < count; i++) {
        rows[i] = (struct pawl_definition_row){
            .id = text_with(desk, "version-", i, ""),
            .definition_id = text_with(desk, "user-", i, ""),
            .name = text_with(desk, "User ", i, ""),
            .version = 1,
            .revision = 1,
            .is_latest = 1,
            .data = text_with(desk, "{\"definitionId\":\"user-", i,
                              "\",\"root\":{\"id\":\"k\",\"type\":\"Kid\",\"version\":1,"
                              "\"workflowDefinitionId\":\"k\"}}"),
        };
    }
    put_rows(desk, rows, count);
}

/* A commit for each, which takes a minute on a server; what is tested is above the store. */
static void more_references_are_updated_than_one_query_names(struct desk *desk)
{
    struct pawl_definition_list changed;

    save_kid(desk, false, true);
    save_kid(desk, false, true);
    put_users(desk, MANY);
    assert_ok(pawl__op_definition_update_references(&desk->op, pawl__str("k"), &changed),
              &desk->err);
    assert_int_equal(changed.count, MANY);
}

static void more_pairs_are_listed_than_one_query_names(struct desk *desk)
{
    struct pawl_definition_query query = PAWL_DEFINITION_QUERY_ALL;
    struct pawl_definition_pairs pairs;
    size_t published = 0;

    put_users(desk, MANY);
    (void)save(desk, desk_ends, true);
    query.versions.pick = PAWL_VERSIONS_LATEST;
    query.page.limit = PAWL_PAGE_ROWS_MAX;
    assert_ok(pawl__op_definitions_pairs(&desk->op, &query, &pairs), &desk->err);
    assert_int_equal(pairs.count, MANY + 1);
    for (size_t i = 0; i < pairs.count; i++)
        published += pairs.items[i].published != NULL;
    assert_int_equal(published, 1);
}

/* ---- what publishing says -------------------------------------------------------------------- */

static void publishing_many_says_which_users_were_updated(struct desk *desk)
{
    const struct pawl_str ids[] = {pawl__str("k")};
    struct pawl_builder b = {.arena = &desk->arena};
    struct pawl_definitions_published published;
    struct pawl_json view;

    save_kid(desk, true, true);
    put_users(desk, 1);
    save_kid(desk, true, false);
    assert_ok(pawl__op_definitions_publish(&desk->op, ids, 1, &published), &desk->err);
    assert_int_equal(published.published.count, 1);
    assert_int_equal(published.updated_consumers.count, 1);
    assert_str(published.updated_consumers.items[0], "user-0");
    view = pawl__view_definitions_published(&b, &published);
    assert_int_equal(pawl__json_len(pawl__json_get_text(&view, "updatedConsumers")), 1);
}

static void publishing_many_says_what_it_warned_of(struct desk *desk)
{
    const struct pawl_str ids[] = {pawl__str("odd"), pawl__str("ends")};
    struct pawl_builder b = {.arena = &desk->arena};
    struct pawl_definitions_published published;
    struct pawl_json view;
    const struct pawl_json *warnings;

    (void)save(desk,
               "{\"definitionId\":\"odd\",\"name\":\"Odd\",\"root\":{\"id\":\"w\",\"type\":"
               "\"No.Such.Activity\"}}",
               false);
    (void)save(desk, desk_ends, false);
    assert_ok(pawl__op_definitions_publish(&desk->op, ids, 2, &published), &desk->err);
    assert_int_equal(published.published.count, 2);
    view = pawl__view_definitions_published(&b, &published);
    warnings = pawl__json_get_text(&view, "warnings");
    assert_int_equal(pawl__json_len(warnings), 1);
    assert_true(pawl__json_len(pawl__json_get_text(warnings, "odd")) > 0);
}

/* ---- two at once ----------------------------------------------------------------------------- */

#define RACES 12

struct reverter {
    struct desk *desk;
    struct pawl_arena arena;
    int status;
};

static void revert_once(void *ctx)
{
    struct reverter *reverter = ctx;
    struct pawl_op op = reverter->desk->op;
    struct pawl_definition_row row;

    op.arena = &reverter->arena;
    op.err = NULL;
    reverter->status = pawl__op_definition_revert(&op, pawl__str("ends"), 1, &row);
}

static void check_latest_is_highest(struct desk *desk)
{
    struct pawl_definition_list versions;
    size_t latest = 0;

    assert_ok(pawl__op_definition_versions(&desk->op, pawl__str("ends"), &versions), &desk->err);
    for (size_t i = 0; i < versions.count; i++)
        latest += versions.rows[i].is_latest != 0;
    assert_int_equal(latest, 1);
    assert_int_equal(versions.rows[0].is_latest, 1);
}

static void publishing_beside_a_revert_leaves_the_highest_version_the_latest(struct desk *desk)
{
    const struct pawl_definition_ref ref = {.definition_id = pawl__str("ends")};

    (void)save(desk, desk_ends, false);
    for (int i = 0; i < RACES; i++) {
        struct reverter reverter = {.desk = desk, .status = PAWL_EINVAL};
        struct pawl_definition_saved saved;
        struct pawl_thread *thread;

        pawl__arena_init(&reverter.arena, &desk->env->alloc, (size_t)1 << 24);
        assert_ok(
            pawl_thread_start(desk->env, "reverts", revert_once, &reverter, &thread, &desk->err),
            &desk->err);
        assert_ok(pawl__op_definition_publish(&desk->op, &ref, &saved), &desk->err);
        pawl_thread_join(desk->env, thread);
        pawl__arena_release(&reverter.arena);
        assert_code(reverter.status, PAWL_OK);
        check_latest_is_highest(desk);
    }
}

const struct desk_test definition_change_tests[] = {
    DESK_TEST(a_damaged_definition_can_be_retracted),
    DESK_TEST(a_damaged_definition_can_be_retracted_among_others),
    DESK_TEST(a_damaged_version_can_be_deleted),
    DESK_TEST(a_read_only_definition_is_not_changed),
    DESK_TEST(a_read_only_definition_is_skipped_among_others),
    {.name = "more_references_are_updated_than_one_query_names",
     .run = more_references_are_updated_than_one_query_names,
     .memory_only = true},
    DESK_TEST(more_pairs_are_listed_than_one_query_names),
    DESK_TEST(publishing_many_says_which_users_were_updated),
    DESK_TEST(publishing_many_says_what_it_warned_of),
    DESK_TEST(publishing_beside_a_revert_leaves_the_highest_version_the_latest),
    {.name = NULL},
};
