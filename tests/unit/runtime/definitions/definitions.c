/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions in a store: versions, drafts, publishing, and answers that are lost. */
#include "unit/runtime/definitions/defining.h"

/* ---- versions and drafts ------------------------------------------------------------------- */

static void a_new_definition_is_version_one_and_the_latest(void **state)
{
    struct fixture *f = *state;
    struct pawl_definition_row row = import_with(f, "a", USABLE, LINE("1")), found;
    struct pawl_json json;

    assert_str(row.definition_id, "a");
    assert_str(row.name, "a");
    assert_int_equal(row.version, 1);
    assert_int_equal(row.revision, 1);
    assert_int_equal(row.is_latest, 1);
    assert_int_equal(row.is_published, 0);
    assert_int_equal(row.usable_as_activity, 1);
    assert_int_equal(row.created_us, store_now_us(f));
    found = find(f, "a", PAWL_VERSIONS_LATEST, 0);
    assert_true(pawl__str_equal(found.id, row.id));
    assert_true(pawl__str_equal(found.data, row.data));
    json = data_of(f, &found);
    assert_true(pawl__str_equal(pawl__json_str(pawl__json_get_text(&json, "id")), row.id));
    assert_true(pawl__json_true(pawl__json_get_text(&json, "isLatest")));
    assert_code(try_find(f, "a", PAWL_VERSIONS_PUBLISHED, 0, &found), PAWL_ENOTFOUND);
    assert_code(try_find(f, "a", PAWL_VERSIONS_PUBLISHED, 2, &found), PAWL_ENOTFOUND);
    assert_code(try_find(f, "b", PAWL_VERSIONS_LATEST, 0, &found), PAWL_ENOTFOUND);
}

static void a_definition_without_ids_gets_new_ones(void **state)
{
    struct fixture *f = *state;
    struct pawl_definition_row first = import(f, "", LINE("1")), second = import(f, "", LINE("1"));

    assert_true(first.id.len > 0 && first.definition_id.len > 0);
    assert_false(pawl__str_equal(first.id, second.id));
    assert_false(pawl__str_equal(first.definition_id, second.definition_id));
}

static void a_version_id_that_another_has_is_not_taken_over(void **state)
{
    struct fixture *f = *state;
    struct pawl_definition_row mine = provide(f, "a", "'id':'x',", LINE("1"));
    struct pawl_definition_row other = provide(f, "b", "'id':'x',", LINE("2"));

    assert_str(mine.id, "x");
    assert_false(pawl__str_equal(other.id, mine.id));
    assert_str(find(f, "a", PAWL_VERSIONS_LATEST, 0).id, "x");
}

static void what_is_no_object_is_refused(void **state)
{
    struct fixture *f = *state;
    struct pawl_json json = pawl__json_array();
    struct pawl_definition_row row;

    assert_code(
        pawl__definitions_import(f->definitions, &json, &f->arena, &row, PAWL_FOREVER, &f->err),
        PAWL_EPARSE);
    assert_int_equal(stamp(f), 0);
}

static void saving_a_draft_again_replaces_it_and_counts(void **state)
{
    struct fixture *f = *state;
    struct pawl_definition_row first = import(f, "a", LINE("1")), second;
    int64_t before;

    second = import(f, "a", LINE("2"));
    assert_true(pawl__str_equal(first.id, second.id));
    assert_int_equal(second.version, 1);
    assert_int_equal(second.revision, 2);
    before = stamp(f);
    second = import(f, "a", LINE("2"));
    assert_int_equal(second.revision, 2);
    assert_int_equal(stamp(f), before);
    assert_flags(f, "a", 1, 0);
}

static void saving_what_is_published_makes_a_draft_of_the_next_version(void **state)
{
    struct fixture *f = *state;
    struct pawl_definition_row first = define(f, "a", LINE("1")), draft;
    struct pawl_json json;

    draft = import(f, "a", LINE("2"));
    assert_int_equal(draft.version, 2);
    assert_false(pawl__str_equal(first.id, draft.id));
    assert_int_equal(draft.is_latest, 1);
    assert_int_equal(draft.is_published, 0);
    first = find(f, "a", PAWL_VERSIONS_PUBLISHED, 0);
    assert_int_equal(first.version, 1);
    assert_int_equal(first.is_latest, 0);
    json = data_of(f, &first);
    assert_false(pawl__json_true(pawl__json_get_text(&json, "isLatest")));
    assert_true(pawl__json_true(pawl__json_get_text(&json, "isPublished")));
    assert_int_equal(find(f, "a", PAWL_VERSIONS_LATEST_OR_PUBLISHED, 0).version, 2);
    assert_int_equal(find(f, "a", PAWL_VERSIONS_LATEST, 1).version, 1);
    assert_flags(f, "a", 1, 1);
}

static void a_draft_is_made_once(void **state)
{
    struct fixture *f = *state;
    struct pawl_definition_row first = define(f, "a", LINE("1")), draft, again;

    assert_code(pawl__definitions_draft(f->definitions, pawl__str("b"), &f->arena, &draft,
                                        PAWL_FOREVER, &f->err),
                PAWL_ENOTFOUND);
    assert_ok(pawl__definitions_draft(f->definitions, pawl__str("a"), &f->arena, &draft,
                                      PAWL_FOREVER, &f->err),
              &f->err);
    assert_int_equal(draft.version, 2);
    assert_false(pawl__str_equal(first.id, draft.id));
    assert_ok(pawl__definitions_draft(f->definitions, pawl__str("a"), &f->arena, &again,
                                      PAWL_FOREVER, &f->err),
              &f->err);
    assert_true(pawl__str_equal(again.id, draft.id));
    assert_flags(f, "a", 1, 1);
}

/* ---- publishing ---------------------------------------------------------------------------- */

static void publishing_moves_both_flags_and_no_content(void **state)
{
    struct fixture *f = *state;
    struct pawl_definition_row draft;
    int64_t before;

    define(f, "a", LINE("1"));
    draft = import(f, "a", LINE("2"));
    publish(f, draft.id);
    assert_flags(f, "a", 1, 1);
    assert_int_equal(find(f, "a", PAWL_VERSIONS_PUBLISHED, 0).version, 2);
    assert_int_equal(find(f, "a", PAWL_VERSIONS_PUBLISHED, 0).revision, 1);
    assert_int_equal(find(f, "a", PAWL_VERSIONS_LATEST, 1).is_published, 0);
    before = stamp(f);
    publish(f, draft.id);
    assert_int_equal(stamp(f), before);
    publish(f, find(f, "a", PAWL_VERSIONS_LATEST, 1).id);
    assert_int_equal(find(f, "a", PAWL_VERSIONS_LATEST, 0).version, 1);
    assert_flags(f, "a", 1, 1);
    assert_code(pawl__definitions_publish(f->definitions, pawl__str("x"), &f->arena, NULL,
                                          PAWL_FOREVER, &f->err),
                PAWL_ENOTFOUND);
}

static void what_does_not_validate_is_not_published(void **state)
{
    struct fixture *f = *state;
    struct pawl_definition_row row = import(f, "a", SEQUENCE(START_CRON("c", "nonsense")));
    const struct pawl_definitions_options lenient = {.keep_invalid = true};
    struct pawl_definitions *other;
    struct pawl_publication said;

    assert_ok(
        pawl__definitions_publish(f->definitions, row.id, &f->arena, &said, PAWL_FOREVER, &f->err),
        &f->err);
    assert_false(said.succeeded);
    assert_true(said.problems.count > 0);
    assert_flags(f, "a", 1, 0);
    triggers(f, 0);
    assert_ok(pawl__definitions_new(f->env, &f->engine, f->store, &lenient, &other, &f->err),
              &f->err);
    assert_ok(pawl__definitions_publish(other, row.id, &f->arena, &said, PAWL_FOREVER, &f->err),
              &f->err);
    pawl__definitions_free(other);
    assert_true(said.succeeded);
    assert_flags(f, "a", 1, 1);
}

static void retracting_takes_the_triggers_along(void **state)
{
    struct fixture *f = *state;

    define(f, "a", SEQUENCE(START_EVENT("e", "E") "," START_TIMER("t", "01:00:00")));
    define(f, "b", SEQUENCE(START_EVENT("e", "E")));
    triggers(f, 3);
    ticks(f, 1);
    assert_ok(pawl__definitions_retract(f->definitions, pawl__str("a"), PAWL_FOREVER, &f->err),
              &f->err);
    assert_flags(f, "a", 1, 0);
    assert_str(triggers(f, 1)->definition_id, "b");
    ticks(f, 0);
    assert_code(pawl__definitions_retract(f->definitions, pawl__str("a"), PAWL_FOREVER, &f->err),
                PAWL_ENOTFOUND);
    assert_code(pawl__definitions_index(f->definitions, pawl__str("a"), PAWL_FOREVER, &f->err),
                PAWL_ENOTFOUND);
}

static void deleting_takes_versions_and_triggers_along(void **state)
{
    struct fixture *f = *state;

    define(f, "a", SEQUENCE(START_EVENT("e", "E") "," START_TIMER("t", "01:00:00")));
    import(f, "a", LINE("2"));
    define(f, "b", LINE("1"));
    assert_ok(pawl__definitions_delete(f->definitions, pawl__str("a"), PAWL_FOREVER, &f->err),
              &f->err);
    assert_int_equal(rows_of(f, PAWL_TABLE_DEFINITIONS).count, 1);
    triggers(f, 0);
    ticks(f, 0);
    assert_code(pawl__definitions_delete(f->definitions, pawl__str("a"), PAWL_FOREVER, &f->err),
                PAWL_ENOTFOUND);
}

static void a_file_decides_on_version_and_flags(void **state)
{
    struct fixture *f = *state;
    struct pawl_definition_row row =
        provide(f, "a", "'version':3,'isPublished':true,", SEQUENCE(START_EVENT("e", "E")));
    int64_t before = stamp(f);

    assert_int_equal(row.version, 3);
    assert_int_equal(row.is_published, 1);
    assert_true(pawl__str_equal(triggers(f, 1)->version_id, row.id));
    row = provide(f, "a", "'version':3,'isPublished':true,", SEQUENCE(START_EVENT("e", "E")));
    assert_int_equal(stamp(f), before);
    assert_int_equal(row.revision, 1);
    /* An older one neither becomes the latest nor replaces what is published. */
    row = provide(f, "a", "'version':2,'isPublished':true,", LINE("2"));
    assert_int_equal(row.is_latest, 0);
    assert_int_equal(row.is_published, 0);
    triggers(f, 1);
    /* A newer draft becomes the latest and leaves the published one. */
    row = provide(f, "a", "'version':4,", LINE("4"));
    assert_int_equal(row.is_latest, 1);
    assert_int_equal(find(f, "a", PAWL_VERSIONS_PUBLISHED, 0).version, 3);
    assert_flags(f, "a", 1, 1);
    /* One that is published replaces it, with its triggers. */
    provide(f, "a", "'version':5,'isPublished':true,", LINE("5"));
    assert_flags(f, "a", 1, 1);
    assert_int_equal(find(f, "a", PAWL_VERSIONS_PUBLISHED, 0).version, 5);
    triggers(f, 0);
    /* And one that says that it is not is not any more. */
    provide(f, "a", "'version':5,'isPublished':false,", LINE("5"));
    assert_flags(f, "a", 1, 0);
}

static void a_file_that_cannot_be_loaded_is_stored_without_triggers(void **state)
{
    struct fixture *f = *state;
    struct pawl_definition_row row;

    provide(f, "a", "'isPublished':true,", SEQUENCE(START_EVENT("e", "E")));
    triggers(f, 1);
    row = provide(f, "a", "'isPublished':true,", "{'id':'no-type'}");
    assert_int_equal(row.revision, 2);
    triggers(f, 0);
    assert_code(pawl__definitions_index(f->definitions, pawl__str("a"), PAWL_FOREVER, &f->err),
                PAWL_EPARSE);
}

/* ---- answers that are lost ----------------------------------------------------------------- */

/* A store whose nth call fails: before it is made, or after it took effect. */
struct lossy {
    struct pawl_store base;
    struct pawl_store *inner;
    int calls;
    int fail_at;
    bool after;
};

static bool fails(struct lossy *lossy)
{
    return ++lossy->calls == lossy->fail_at;
}

static int lossy_status(struct pawl_store *store, struct pawl_store_status *out,
                        int64_t deadline_ns, struct pawl_error *err)
{
    struct lossy *lossy = (struct lossy *)store;

    if (fails(lossy))
        return lossy->after ? PAWL_EUNKNOWN : PAWL_EUNAVAILABLE;
    return pawl_store_status(lossy->inner, out, deadline_ns, err);
}

static int lossy_find(struct pawl_store *store, const struct pawl_query *query,
                      struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                      struct pawl_error *err)
{
    struct lossy *lossy = (struct lossy *)store;

    if (fails(lossy))
        return lossy->after ? PAWL_EUNKNOWN : PAWL_EUNAVAILABLE;
    return pawl_store_find(lossy->inner, query, arena, out, deadline_ns, err);
}

static int lossy_apply(struct pawl_store *store, struct pawl_commit *const *commits, size_t count,
                       int64_t deadline_ns, struct pawl_error *err)
{
    struct lossy *lossy = (struct lossy *)store;
    struct pawl_commit copy = *commits[0];
    struct pawl_commit *const copies[] = {&copy};

    if (!fails(lossy))
        return pawl_store_apply(lossy->inner, commits, count, deadline_ns, err);
    if (!lossy->after)
        return PAWL_EUNAVAILABLE;
    assert_int_equal(count, 1);
    assert_ok(pawl_store_apply(lossy->inner, copies, 1, deadline_ns, err), err);
    return PAWL_EUNKNOWN;
}

static const struct pawl_store_ops lossy_ops = {
    .version = PAWL_STORE_VERSION,
    .status = lossy_status,
    .find = lossy_find,
    .apply = lossy_apply,
};

/* One call fails at the most, so that the second try must hold. */
#define TWICE(call)                                                                                \
    do {                                                                                           \
        if ((call) != PAWL_OK)                                                                     \
            assert_ok((call), NULL);                                                               \
    } while (0)

static void live_through(struct fixture *f, struct pawl_definitions *definitions)
{
    struct pawl_definition_row row = {0};
    struct pawl_json json;

    assert_ok(
        parse_definition(&f->arena, "a", "", "{}", SEQUENCE(START_TIMER("t", "01:00:00")), &json),
        NULL);
    TWICE(pawl__definitions_import(definitions, &json, &f->arena, &row, PAWL_FOREVER, NULL));
    assert_int_equal(row.version, 1);
    assert_int_equal(row.revision, 1);
    TWICE(pawl__definitions_publish(definitions, row.id, &f->arena, NULL, PAWL_FOREVER, NULL));
    triggers(f, 1);
    ticks(f, 1);
    TWICE(
        pawl__definitions_draft(definitions, pawl__str("a"), &f->arena, &row, PAWL_FOREVER, NULL));
    assert_int_equal(row.version, 2);
    assert_int_equal(rows_of(f, PAWL_TABLE_DEFINITIONS).count, 2);
    TWICE(pawl__definitions_retract(definitions, pawl__str("a"), PAWL_FOREVER, NULL));
    assert_flags(f, "a", 1, 0);
    TWICE(pawl__definitions_delete(definitions, pawl__str("a"), PAWL_FOREVER, NULL));
    assert_int_equal(rows_of(f, PAWL_TABLE_DEFINITIONS).count, 0);
    ticks(f, 0);
}

static void a_lost_answer_is_looked_up_and_nothing_happens_twice(void **state)
{
    struct fixture *f = *state;

    for (int after = 0; after <= 1; after++) {
        struct lossy lossy = {.base = {.ops = &lossy_ops, .name = "lossy"}, .inner = f->store};
        bool failed = true;

        lossy.after = after != 0;
        for (int at = 1; failed; at++) {
            struct pawl_definitions *definitions;

            lossy.calls = 0;
            lossy.fail_at = at;
            assert_ok(
                pawl__definitions_new(f->env, &f->engine, &lossy.base, NULL, &definitions, &f->err),
                &f->err);
            live_through(f, definitions);
            pawl__definitions_free(definitions);
            failed = lossy.calls >= at;
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_new_definition_is_version_one_and_the_latest),
        TEST(a_definition_without_ids_gets_new_ones),
        TEST(a_version_id_that_another_has_is_not_taken_over),
        TEST(what_is_no_object_is_refused),
        TEST(saving_a_draft_again_replaces_it_and_counts),
        TEST(saving_what_is_published_makes_a_draft_of_the_next_version),
        TEST(a_draft_is_made_once),
        TEST(publishing_moves_both_flags_and_no_content),
        TEST(what_does_not_validate_is_not_published),
        TEST(retracting_takes_the_triggers_along),
        TEST(deleting_takes_versions_and_triggers_along),
        TEST(a_file_decides_on_version_and_flags),
        TEST(a_file_that_cannot_be_loaded_is_stored_without_triggers),
        TEST(a_lost_answer_is_looked_up_and_nothing_happens_twice),
    };

    return cmocka_run_group_tests_name("runtime/definitions", tests, NULL, NULL);
}
