/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions in a store, on the memory store: versions, triggers, timers, and cached graphs. */
#include "runtime/definitions.h"

#include "activities/activities.h"
#include "base/datetime.h"
#include "expressions/expressions.h"
#include "lib/test.h"
#include "os/baton.h"
#include "stores/stores.h"

#include <stdio.h>
#include <stdlib.h>

#define SECOND_NS INT64_C(1000000000)
#define SECOND_US INT64_C(1000000)

/* ---- definitions from short texts, written with ' in place of " ----------------------------- */

#define TEXT(value) "{'typeName':'String','expression':{'type':'Literal','value':'" value "'}}"
#define LINE(text) "{'id':'line','type':'Elsa.WriteLine','text':" TEXT(text) "}"
#define STARTER(id, type, input)                                                                   \
    "{'id':'" id "','type':'" type "','customProperties':{'canStartWorkflow':true}," input "}"
#define START_EVENT(id, name) STARTER(id, "Elsa.Event", "'eventName':" TEXT(name))
#define START_TIMER(id, span) STARTER(id, "Elsa.Timer", "'interval':" TEXT(span))
#define START_CRON(id, cron) STARTER(id, "Elsa.Cron", "'cronExpression':" TEXT(cron))
#define START_AT(id, at) STARTER(id, "Elsa.StartAt", "'dateTime':" TEXT(at))
#define SEQUENCE(activities) "{'id':'seq','type':'Elsa.Sequence','activities':[" activities "]}"
#define USE(type, definition)                                                                      \
    "{'id':'use','type':'" type "','workflowDefinitionId':'" definition "'}"
#define USABLE "{'usableAsActivity':true}"
#define USABLE_UPDATING "{'usableAsActivity':true,'autoUpdateConsumingWorkflows':true}"

struct fixture {
    struct test_allocator alloc;
    struct pawl_baton *baton;
    struct pawl_env *env;
    struct pawl_engine engine;
    struct pawl_store *store;
    struct pawl_definitions *definitions;
    struct pawl_arena arena;
    struct pawl_error err;
};

/* Also fills what must be there for closing when it fails. */
static int fixture_open(struct fixture *f, const struct pawl_definitions_options *options)
{
    int status;

    f->err = (struct pawl_error)PAWL_ERROR_INIT;
    pawl__engine_init(&f->engine, &f->alloc.base, (struct pawl_hash_seed){1, 2});
    pawl__arena_init(&f->arena, &f->alloc.base, (size_t)64 << 20);
    status = pawl__activities_register(&f->engine);
    if (status == PAWL_OK)
        status = pawl__expressions_register(&f->engine);
    if (status == PAWL_OK)
        status = pawl__baton_new(&f->alloc.base, 7, NULL, &f->baton);
    if (status == PAWL_OK)
        status = pawl__baton_env(f->baton, "node-a", &f->env);
    if (status == PAWL_OK)
        status = pawl__memory_store_new(f->env, &f->store, &f->err);
    if (status == PAWL_OK)
        status =
            pawl__definitions_new(f->env, &f->engine, f->store, options, &f->definitions, &f->err);
    return status;
}

static void fixture_close(struct fixture *f)
{
    pawl__definitions_free(f->definitions);
    pawl_store_close(f->store);
    pawl__baton_free(f->baton);
    pawl__arena_release(&f->arena);
    pawl__engine_release(&f->engine);
}

static int set_up(void **state)
{
    static const struct fixture nothing;
    struct fixture *f = malloc(sizeof *f);

    assert_non_null(f);
    *f = nothing;
    test_allocator_init(&f->alloc);
    assert_ok(fixture_open(f, NULL), &f->err);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    fixture_close(f);
    assert_int_equal(f->alloc.live_count, 0);
    free(f);
    return 0;
}

static void sleeper(void *arg)
{
    struct fixture *f = arg;

    (void)!pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + 10 * SECOND_NS);
}

static void ten_seconds_pass(struct fixture *f)
{
    struct pawl_thread *thread;

    assert_ok(pawl_thread_start(f->env, "sleeper", sleeper, f, &thread, &f->err), &f->err);
    assert_ok(pawl__baton_run(f->baton, &f->err), &f->err);
    pawl_thread_join(f->env, thread);
}

static int parse(struct pawl_arena *arena, const char *text, struct pawl_json *out)
{
    struct pawl_str copy = pawl__arena_str(arena, pawl__str(text));
    char *writable;

    if (!copy.ptr)
        return PAWL_ENOMEM;
    writable = pawl__arena_alloc(arena, copy.len + 1);
    if (!writable)
        return PAWL_ENOMEM;
    for (size_t i = 0; i <= copy.len; i++)
        writable[i] = text[i] == '\'' ? '"' : text[i];
    return pawl__json_parse(arena, pawl__str(writable), NULL, out, NULL, NULL);
}

/* `more`: further members, each with a comma behind it. */
static int parse_definition(struct pawl_arena *arena, const char *id, const char *more,
                            const char *options, const char *root, struct pawl_json *out)
{
    const char *text =
        pawl__arena_printf(arena, "{'definitionId':'%s','name':'%s',%s'options':%s,'root':%s}", id,
                           id, more, options, root);

    return text ? parse(arena, text, out) : PAWL_ENOMEM;
}

static struct pawl_definition_row import_with(struct fixture *f, const char *id,
                                              const char *options, const char *root)
{
    struct pawl_definition_row row;
    struct pawl_json json;

    assert_ok(parse_definition(&f->arena, id, "", options, root, &json), NULL);
    assert_ok(
        pawl__definitions_import(f->definitions, &json, &f->arena, &row, PAWL_FOREVER, &f->err),
        &f->err);
    return row;
}

static struct pawl_definition_row import(struct fixture *f, const char *id, const char *root)
{
    return import_with(f, id, "{}", root);
}

static void publish(struct fixture *f, struct pawl_str version_id)
{
    struct pawl_publication said;

    assert_ok(pawl__definitions_publish(f->definitions, version_id, &f->arena, &said, PAWL_FOREVER,
                                        &f->err),
              &f->err);
    assert_true(said.succeeded);
}

static struct pawl_definition_row define_with(struct fixture *f, const char *id,
                                              const char *options, const char *root)
{
    struct pawl_definition_row row = import_with(f, id, options, root);

    publish(f, row.id);
    return row;
}

static struct pawl_definition_row define(struct fixture *f, const char *id, const char *root)
{
    return define_with(f, id, "{}", root);
}

static int try_provide(struct fixture *f, const char *id, const char *more, const char *root,
                       struct pawl_definition_row *row)
{
    struct pawl_json json;

    assert_ok(parse_definition(&f->arena, id, more, "{}", root, &json), NULL);
    return pawl__definitions_provide(f->definitions, &json, &f->arena, row, PAWL_FOREVER, &f->err);
}

static struct pawl_definition_row provide(struct fixture *f, const char *id, const char *more,
                                          const char *root)
{
    struct pawl_definition_row row;

    assert_ok(try_provide(f, id, more, root, &row), &f->err);
    return row;
}

static int try_find(struct fixture *f, const char *id, enum pawl_definition_pick pick,
                    int64_t version, struct pawl_definition_row *out)
{
    return pawl__definitions_find(f->definitions, pawl__str(id), pick, version, &f->arena, out,
                                  PAWL_FOREVER, &f->err);
}

static struct pawl_definition_row find(struct fixture *f, const char *id,
                                       enum pawl_definition_pick pick, int64_t version)
{
    struct pawl_definition_row row;

    assert_ok(try_find(f, id, pick, version, &row), &f->err);
    return row;
}

/* ---- what is in the store ------------------------------------------------------------------ */

static struct pawl_rows rows_of(struct fixture *f, enum pawl_table table)
{
    const struct pawl_query query = {.table = table, .limit = PAWL_STORE_ROWS_MAX};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->store, &query, &f->arena, &rows, PAWL_FOREVER, &f->err), &f->err);
    return rows;
}

static const struct pawl_trigger_row *triggers(struct fixture *f, size_t count)
{
    struct pawl_rows rows = rows_of(f, PAWL_TABLE_TRIGGERS);

    assert_int_equal(rows.count, count);
    return rows.rows;
}

static const struct pawl_work_row *ticks(struct fixture *f, size_t count)
{
    struct pawl_rows rows = rows_of(f, PAWL_TABLE_WORK);

    assert_int_equal(rows.count, count);
    return rows.rows;
}

static int64_t stamp(struct fixture *f)
{
    struct pawl_rows rows = rows_of(f, PAWL_TABLE_STAMPS);

    return rows.count > 0 ? ((const struct pawl_stamp_row *)rows.rows)->value : 0;
}

static int64_t store_now_us(struct fixture *f)
{
    struct pawl_store_status status;

    assert_ok(pawl_store_status(f->store, &status, PAWL_FOREVER, &f->err), &f->err);
    return status.now_us;
}

/* Of all versions of a definition: how many have a flag. */
static void count_flags(struct pawl_store *store, struct pawl_arena *arena, const char *id,
                        int *latest, int *published)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_DEFINITIONS, "definition_id"),
        .compare = PAWL_EQ,
        .value.text = pawl__str(id)};
    const struct pawl_query query = {.table = PAWL_TABLE_DEFINITIONS,
                                     .flags = PAWL_QUERY_BRIEF,
                                     .conditions = &condition,
                                     .condition_count = 1,
                                     .limit = PAWL_STORE_ROWS_MAX};
    const struct pawl_definition_row *all;
    struct pawl_rows rows;

    *latest = *published = 0;
    if (pawl_store_find(store, &query, arena, &rows, PAWL_FOREVER, NULL) != PAWL_OK)
        return;
    all = rows.rows;
    for (size_t i = 0; i < rows.count; i++) {
        *latest += all[i].is_latest != 0;
        *published += all[i].is_published != 0;
    }
}

static void assert_flags(struct fixture *f, const char *id, int latest, int published)
{
    int latest_seen, published_seen;

    count_flags(f->store, &f->arena, id, &latest_seen, &published_seen);
    assert_int_equal(latest_seen, latest);
    assert_int_equal(published_seen, published);
}

static struct pawl_json data_of(struct fixture *f, const struct pawl_definition_row *row)
{
    struct pawl_json json;

    assert_ok(pawl__json_parse(&f->arena, row->data, NULL, &json, NULL, &f->err), &f->err);
    return json;
}

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
    found = find(f, "a", PAWL_DEFINITION_LATEST, 0);
    assert_true(pawl__str_equal(found.id, row.id));
    assert_true(pawl__str_equal(found.data, row.data));
    json = data_of(f, &found);
    assert_true(pawl__str_equal(pawl__json_str(pawl__json_get_text(&json, "id")), row.id));
    assert_true(pawl__json_true(pawl__json_get_text(&json, "isLatest")));
    assert_code(try_find(f, "a", PAWL_DEFINITION_PUBLISHED, 0, &found), PAWL_ENOTFOUND);
    assert_code(try_find(f, "a", PAWL_DEFINITION_PUBLISHED, 2, &found), PAWL_ENOTFOUND);
    assert_code(try_find(f, "b", PAWL_DEFINITION_LATEST, 0, &found), PAWL_ENOTFOUND);
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
    assert_str(find(f, "a", PAWL_DEFINITION_LATEST, 0).id, "x");
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
    first = find(f, "a", PAWL_DEFINITION_PUBLISHED, 0);
    assert_int_equal(first.version, 1);
    assert_int_equal(first.is_latest, 0);
    json = data_of(f, &first);
    assert_false(pawl__json_true(pawl__json_get_text(&json, "isLatest")));
    assert_true(pawl__json_true(pawl__json_get_text(&json, "isPublished")));
    assert_int_equal(find(f, "a", PAWL_DEFINITION_LATEST_OR_PUBLISHED, 0).version, 2);
    assert_int_equal(find(f, "a", PAWL_DEFINITION_LATEST, 1).version, 1);
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
    assert_int_equal(find(f, "a", PAWL_DEFINITION_PUBLISHED, 0).version, 2);
    assert_int_equal(find(f, "a", PAWL_DEFINITION_PUBLISHED, 0).revision, 1);
    assert_int_equal(find(f, "a", PAWL_DEFINITION_LATEST, 1).is_published, 0);
    before = stamp(f);
    publish(f, draft.id);
    assert_int_equal(stamp(f), before);
    publish(f, find(f, "a", PAWL_DEFINITION_LATEST, 1).id);
    assert_int_equal(find(f, "a", PAWL_DEFINITION_LATEST, 0).version, 1);
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
    assert_int_equal(find(f, "a", PAWL_DEFINITION_PUBLISHED, 0).version, 3);
    assert_flags(f, "a", 1, 1);
    /* One that is published replaces it, with its triggers. */
    provide(f, "a", "'version':5,'isPublished':true,", LINE("5"));
    assert_flags(f, "a", 1, 1);
    assert_int_equal(find(f, "a", PAWL_DEFINITION_PUBLISHED, 0).version, 5);
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

/* ---- triggers and their timers ------------------------------------------------------------- */

static void triggers_that_time_fires_get_a_timer(void **state)
{
    struct fixture *f = *state;
    const struct pawl_trigger_row *all;
    const struct pawl_work_row *work;
    int64_t now_us;
    int found = 0;

    define(f, "a",
           SEQUENCE(START_EVENT("e", "E") "," START_TIMER("t", "00:00:30") "," START_CRON(
               "c", "0 0 * * * *") "," START_AT("s", "2025-06-01T00:00:00Z")));
    all = triggers(f, 4);
    work = ticks(f, 3);
    now_us = store_now_us(f);
    for (int i = 0; i < 4; i++) {
        bool is_timer = pawl__str_is(all[i].name, "Elsa.Timer");
        bool is_cron = pawl__str_is(all[i].name, "Elsa.Cron");
        /* 2025-01-01T01:00:00Z, 2025-06-01T00:00:00Z */
        int64_t due_us = is_timer  ? now_us + 30 * SECOND_US
                         : is_cron ? INT64_C(1735693200000000)
                                   : INT64_C(1748736000000000);
        const char *id = pawl__arena_printf(&f->arena, "tick:%.*s:%lld", PAWL_STR_ARG(all[i].id),
                                            (long long)due_us);

        for (int j = 0; j < 3; j++) {
            if (!pawl__str_equal(work[j].name, all[i].id))
                continue;
            found++;
            assert_str(work[j].kind, PAWL_WORK_TICK);
            assert_int_equal(work[j].due_us, due_us);
            assert_str(work[j].id, id);
            assert_true(work[j].part >= 0 && work[j].part < 1024);
            assert_int_equal(work[j].expires_us, PAWL_TIME_NEVER);
            assert_int_equal(work[j].owner, 0);
        }
    }
    assert_int_equal(found, 3);
}

static void indexing_again_changes_nothing(void **state)
{
    struct fixture *f = *state;
    struct pawl_str timer_id, tick_id;
    int64_t before;

    define(f, "a", SEQUENCE(START_TIMER("t", "01:00:00")));
    timer_id = triggers(f, 1)->id;
    tick_id = ticks(f, 1)->id;
    before = stamp(f);
    ten_seconds_pass(f);
    assert_ok(pawl__definitions_index(f->definitions, pawl__str("a"), PAWL_FOREVER, &f->err),
              &f->err);
    assert_true(pawl__str_equal(triggers(f, 1)->id, timer_id));
    assert_true(pawl__str_equal(ticks(f, 1)->id, tick_id));
    assert_int_equal(stamp(f), before);
}

static void the_next_version_keeps_triggers_that_stay_and_their_timers(void **state)
{
    struct fixture *f = *state;
    struct pawl_str timer_id, tick_id;
    struct pawl_definition_row next;

    define(f, "a", SEQUENCE(START_TIMER("t", "01:00:00")));
    timer_id = triggers(f, 1)->id;
    tick_id = ticks(f, 1)->id;
    ten_seconds_pass(f);
    next = define(f, "a", SEQUENCE(START_TIMER("t", "01:00:00") "," LINE("new")));
    assert_true(pawl__str_equal(triggers(f, 1)->id, timer_id));
    assert_true(pawl__str_equal(triggers(f, 1)->version_id, next.id));
    assert_true(pawl__str_equal(ticks(f, 1)->id, tick_id));
    ten_seconds_pass(f);
    define(f, "a", SEQUENCE(START_TIMER("t", "02:00:00")));
    assert_false(pawl__str_equal(triggers(f, 1)->id, timer_id));
    assert_int_equal(ticks(f, 1)->due_us, store_now_us(f) + 7200 * SECOND_US);
    assert_true(pawl__str_equal(ticks(f, 1)->name, triggers(f, 1)->id));
}

static void delete_ticks(struct fixture *f)
{
    struct pawl_rows rows = rows_of(f, PAWL_TABLE_WORK);
    const struct pawl_work_row *all = rows.rows;

    for (size_t i = 0; i < rows.count; i++) {
        const struct pawl_change change = {PAWL_CHANGE_DELETE, PAWL_TABLE_WORK, &all[i]};
        struct pawl_commit commit = {
            .kind = PAWL_COMMIT_PLAIN, .changes = &change, .change_count = 1};
        struct pawl_commit *const commits[] = {&commit};

        assert_ok(pawl_store_apply(f->store, commits, 1, PAWL_FOREVER, &f->err), &f->err);
        assert_ok(commit.status, &commit.error);
    }
}

static void a_timer_that_was_lost_is_set_again_and_one_that_fired_is_not(void **state)
{
    struct fixture *f = *state;

    define(f, "a",
           SEQUENCE(START_CRON("c", "0 0 * * * *") "," START_AT("s", "2025-01-01T00:00:00Z")));
    ticks(f, 2);
    delete_ticks(f);
    assert_ok(pawl__definitions_index(f->definitions, pawl__str("a"), PAWL_FOREVER, &f->err),
              &f->err);
    assert_int_equal(ticks(f, 1)->due_us, INT64_C(1735693200000000));
}

/* A workflow that is embedded twice brings its trigger twice, with the same activity id. */
static void the_same_trigger_twice_is_one(void **state)
{
    struct fixture *f = *state;

    import_with(f, "Child", USABLE, START_EVENT("e", "E"));
    define(f, "a",
           SEQUENCE("{'id':'use','type':'Child'},{'id':'again','type':'Child'}," START_EVENT(
               "other", "E")));
    triggers(f, 2);
}

/* ---- graphs -------------------------------------------------------------------------------- */

static struct pawl_graph *graph_of(struct fixture *f, struct pawl_definitions *definitions,
                                   struct pawl_str version_id)
{
    struct pawl_graph *graph;

    assert_ok(pawl__definitions_graph(definitions, version_id, &graph, PAWL_FOREVER, &f->err),
              &f->err);
    return graph;
}

static struct pawl_graph *published_graph(struct fixture *f, struct pawl_definitions *definitions,
                                          const char *id)
{
    struct pawl_graph *graph;

    assert_ok(
        pawl__definitions_published(definitions, pawl__str(id), &graph, PAWL_FOREVER, &f->err),
        &f->err);
    return graph;
}

static void graphs_are_loaded_once_and_by_either_id(void **state)
{
    struct fixture *f = *state;
    struct pawl_definition_row row = define(f, "a", LINE("1"));
    struct pawl_graph *first = graph_of(f, f->definitions, row.id);
    struct pawl_graph *again = graph_of(f, f->definitions, row.id);
    struct pawl_graph *published = published_graph(f, f->definitions, "a");
    struct pawl_graph *none;

    assert_ptr_equal(first, again);
    assert_ptr_equal(first, published);
    pawl__graph_unref(first);
    pawl__graph_unref(again);
    pawl__graph_unref(published);
    assert_code(
        pawl__definitions_graph(f->definitions, pawl__str("x"), &none, PAWL_FOREVER, &f->err),
        PAWL_ENOTFOUND);
    assert_code(
        pawl__definitions_published(f->definitions, pawl__str("x"), &none, PAWL_FOREVER, &f->err),
        PAWL_ENOTFOUND);
}

static void a_draft_saved_in_place_is_loaded_anew_and_others_are_not(void **state)
{
    struct fixture *f = *state;
    struct pawl_definition_row draft = import(f, "a", LINE("1"));
    struct pawl_definition_row other = define(f, "b", LINE("1"));
    struct pawl_graph *draft_graph = graph_of(f, f->definitions, draft.id);
    struct pawl_graph *other_graph = graph_of(f, f->definitions, other.id), *again;

    import(f, "a", LINE("2"));
    again = graph_of(f, f->definitions, draft.id);
    assert_ptr_not_equal(again, draft_graph);
    pawl__graph_unref(again);
    again = graph_of(f, f->definitions, other.id);
    assert_ptr_equal(again, other_graph);
    pawl__graph_unref(again);
    /* What was handed out lives on. */
    assert_true(pawl__str_equal(draft_graph->workflow->version_id, draft.id));
    pawl__graph_unref(draft_graph);
    pawl__graph_unref(other_graph);
}

static void another_node_sees_what_is_published_within_its_limit(void **state)
{
    struct fixture *f = *state;
    const struct pawl_definitions_options options = {.stale_ns_max = 5 * SECOND_NS};
    struct pawl_definitions *other;
    struct pawl_graph *graph;

    assert_ok(pawl__definitions_new(f->env, &f->engine, f->store, &options, &other, &f->err),
              &f->err);
    define(f, "a", LINE("1"));
    graph = published_graph(f, other, "a");
    assert_int_equal(graph->workflow->version, 1);
    pawl__graph_unref(graph);
    define(f, "a", LINE("2"));
    graph = published_graph(f, other, "a");
    assert_int_equal(graph->workflow->version, 1);
    pawl__graph_unref(graph);
    ten_seconds_pass(f);
    graph = published_graph(f, other, "a");
    assert_int_equal(graph->workflow->version, 2);
    pawl__graph_unref(graph);
    define(f, "a", LINE("3"));
    assert_ok(pawl__definitions_refresh(other, PAWL_FOREVER, &f->err), &f->err);
    graph = published_graph(f, other, "a");
    assert_int_equal(graph->workflow->version, 3);
    pawl__graph_unref(graph);
    pawl__definitions_free(other);
}

static void the_least_recently_used_graph_goes(void **state)
{
    struct fixture *f = *state;
    const struct pawl_definitions_options options = {.graphs_max = 2};
    struct pawl_definition_row a = define(f, "a", LINE("1")), b = define(f, "b", LINE("1"));
    struct pawl_definition_row c = define(f, "c", LINE("1"));
    struct pawl_graph *graphs[3], *again;
    struct pawl_definitions *small;

    assert_ok(pawl__definitions_new(f->env, &f->engine, f->store, &options, &small, &f->err),
              &f->err);
    graphs[0] = graph_of(f, small, a.id);
    graphs[1] = graph_of(f, small, b.id);
    pawl__graph_unref(graph_of(f, small, a.id));
    graphs[2] = graph_of(f, small, c.id);
    again = graph_of(f, small, a.id);
    assert_ptr_equal(again, graphs[0]);
    pawl__graph_unref(again);
    again = graph_of(f, small, b.id);
    assert_ptr_not_equal(again, graphs[1]);
    pawl__graph_unref(again);
    for (int i = 0; i < 3; i++)
        pawl__graph_unref(graphs[i]);
    pawl__definitions_free(small);
}

static void a_graph_that_embeds_another_follows_it(void **state)
{
    struct fixture *f = *state;
    struct pawl_definition_row child = define_with(f, "Child", USABLE, LINE("1")), next;
    struct pawl_definition_row parent = define(f, "parent", SEQUENCE(USE("Child", "Child")));
    struct pawl_graph *graph = graph_of(f, f->definitions, parent.id);

    assert_int_equal(graph->embedded_count, 1);
    assert_true(pawl__str_equal(graph->embedded[0].version_id, child.id));
    pawl__graph_unref(graph);
    next = define_with(f, "Child", USABLE, LINE("2"));
    graph = graph_of(f, f->definitions, parent.id);
    assert_int_equal(graph->embedded_count, 1);
    assert_true(pawl__str_equal(graph->embedded[0].version_id, next.id));
    pawl__graph_unref(graph);
}

static void an_activity_that_is_missing_is_found_once_it_is_there(void **state)
{
    struct fixture *f = *state;
    struct pawl_definition_row parent = define(f, "parent", SEQUENCE(USE("Child", "Child")));
    struct pawl_graph *graph = graph_of(f, f->definitions, parent.id);

    assert_int_equal(graph->embedded_count, 0);
    pawl__graph_unref(graph);
    define_with(f, "Child", USABLE, LINE("1"));
    graph = graph_of(f, f->definitions, parent.id);
    assert_int_equal(graph->embedded_count, 1);
    pawl__graph_unref(graph);
}

/* ---- those that use a definition ----------------------------------------------------------- */

static int64_t used_version(struct fixture *f, const struct pawl_definition_row *row)
{
    struct pawl_json json = data_of(f, row);
    int64_t version = 0;

    (void)pawl__json_to_int(pawl__json_find(&json, pawl__str("/root/activities/0/version")),
                            &version);
    return version;
}

static void publishing_updates_those_that_use_it(void **state)
{
    struct fixture *f = *state;
    struct pawl_definition_row row, unchanged;

    define_with(f, "Child", USABLE_UPDATING, LINE("1"));
    define(f, "live", SEQUENCE(USE("Child", "Child") "," START_EVENT("e", "E")));
    import(f, "draft", SEQUENCE(USE("Child", "Child")));
    unchanged = define(f, "unrelated", LINE("1"));
    define_with(f, "Child", USABLE_UPDATING, LINE("2"));
    row = find(f, "live", PAWL_DEFINITION_PUBLISHED, 0);
    assert_int_equal(row.version, 2);
    assert_int_equal(row.is_latest, 1);
    assert_int_equal(used_version(f, &row), 2);
    assert_true(pawl__str_equal(triggers(f, 1)->version_id, row.id));
    assert_flags(f, "live", 1, 1);
    row = find(f, "draft", PAWL_DEFINITION_LATEST, 0);
    assert_int_equal(row.version, 1);
    assert_int_equal(row.revision, 2);
    assert_int_equal(used_version(f, &row), 2);
    assert_flags(f, "draft", 1, 0);
    row = find(f, "unrelated", PAWL_DEFINITION_LATEST, 0);
    assert_true(pawl__str_equal(row.id, unchanged.id));
    /* Publishing again has nothing to do. */
    publish(f, find(f, "Child", PAWL_DEFINITION_LATEST, 0).id);
    assert_int_equal(find(f, "live", PAWL_DEFINITION_PUBLISHED, 0).version, 2);
}

static void those_that_use_it_are_left_alone_unless_it_asks(void **state)
{
    struct fixture *f = *state;

    define_with(f, "Child", USABLE, LINE("1"));
    define(f, "live", SEQUENCE(USE("Child", "Child")));
    define_with(f, "Child", USABLE, LINE("2"));
    assert_int_equal(find(f, "live", PAWL_DEFINITION_LATEST, 0).version, 1);
}

static void updates_go_on_through_those_that_use_each_other(void **state)
{
    struct fixture *f = *state;

    define_with(f, "A", USABLE_UPDATING, LINE("1"));
    define_with(f, "B", USABLE_UPDATING, SEQUENCE(USE("A", "A")));
    define(f, "c", SEQUENCE(USE("B", "B")));
    define_with(f, "A", USABLE_UPDATING, LINE("2"));
    assert_int_equal(find(f, "B", PAWL_DEFINITION_PUBLISHED, 0).version, 2);
    assert_int_equal(find(f, "c", PAWL_DEFINITION_PUBLISHED, 0).version, 2);
    /* A circle of versions: A 3 uses B 2, which uses A 2. Each is updated once. */
    define_with(f, "A", USABLE_UPDATING,
                SEQUENCE("{'id':'u','type':'B','version':2,'workflowDefinitionId':'B'}"));
    assert_int_equal(find(f, "B", PAWL_DEFINITION_PUBLISHED, 0).version, 3);
    assert_int_equal(find(f, "A", PAWL_DEFINITION_PUBLISHED, 0).version, 4);
    assert_flags(f, "A", 1, 1);
    assert_flags(f, "B", 1, 1);
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

/* ---- many at once -------------------------------------------------------------------------- */

struct crowd {
    struct pawl_env *env;
    struct pawl_store *store;
    struct pawl_definitions *definitions;
    struct pawl_definitions *others; /* another node's; NULL: there is none */
    struct pawl_str versions[2];
    int rounds;
    _Atomic int running;
    _Atomic int failures; /* of whatever must not happen */
};

static int64_t stamp_of(struct pawl_store *store, struct pawl_arena *arena)
{
    const struct pawl_query query = {.table = PAWL_TABLE_STAMPS};
    struct pawl_rows rows;

    if (pawl_store_find(store, &query, arena, &rows, PAWL_FOREVER, NULL) != PAWL_OK ||
        rows.count != 1)
        return -1;
    return ((const struct pawl_stamp_row *)rows.rows)->value;
}

/* The cache against the row, where nothing changed in between. */
static bool is_current(struct crowd *crowd, struct pawl_arena *arena, bool refresh)
{
    int64_t before = stamp_of(crowd->store, arena);
    struct pawl_definition_row row;
    struct pawl_graph *graph;
    bool same;

    if ((refresh && pawl__definitions_refresh(crowd->definitions, PAWL_FOREVER, NULL) != PAWL_OK) ||
        pawl__definitions_published(crowd->definitions, pawl__str("a"), &graph, PAWL_FOREVER,
                                    NULL) != PAWL_OK)
        return false;
    same = pawl__definitions_find(crowd->definitions, pawl__str("a"), PAWL_DEFINITION_PUBLISHED, 0,
                                  arena, &row, PAWL_FOREVER, NULL) == PAWL_OK &&
           pawl__str_equal(graph->workflow->version_id, row.id);
    pawl__graph_unref(graph);
    return same || stamp_of(crowd->store, arena) != before;
}

/* Publishes the two versions in turn. */
static void keep_publishing(struct crowd *crowd, struct pawl_definitions *definitions, int first)
{
    struct pawl_arena arena;

    pawl__arena_init(&arena, &crowd->env->alloc, (size_t)64 << 20);
    for (int i = 0; i < crowd->rounds; i++) {
        if (pawl__definitions_publish(definitions, crowd->versions[(first + i) % 2], &arena, NULL,
                                      PAWL_FOREVER, NULL) != PAWL_OK)
            crowd->failures++;
        /* One sees at once what oneself has changed. */
        if (!crowd->others && !is_current(crowd, &arena, false))
            crowd->failures++;
        pawl__arena_reset(&arena);
    }
    pawl__arena_release(&arena);
    crowd->running--;
}

static void publisher(void *arg)
{
    struct crowd *crowd = arg;

    keep_publishing(crowd, crowd->definitions, 0);
}

static void rival(void *arg)
{
    struct crowd *crowd = arg;

    keep_publishing(crowd, crowd->others, 1);
}

/* Reads all the time, by the rows and by the cache; ends with the publishers. */
static void reader(void *arg)
{
    struct crowd *crowd = arg;
    struct pawl_arena arena;
    bool last;

    pawl__arena_init(&arena, &crowd->env->alloc, (size_t)64 << 20);
    do {
        int latest, published;

        last = crowd->running == 0;
        count_flags(crowd->store, &arena, "a", &latest, &published);
        if (latest != 1 || published != 1)
            crowd->failures++;
        if (!is_current(crowd, &arena, true))
            crowd->failures++;
        pawl__arena_reset(&arena);
    } while (!last);
    pawl__arena_release(&arena);
}

static void crowd_init(struct crowd *crowd, struct fixture *f, int rounds, bool rivals)
{
    struct pawl_definition_row first = define(f, "a", SEQUENCE(START_TIMER("t", "01:00:00")));
    struct pawl_definition_row second =
        import(f, "a", SEQUENCE(START_TIMER("t", "01:00:00") "," START_EVENT("e", "E")));

    *crowd = (struct crowd){
        .env = f->env,
        .store = f->store,
        .definitions = f->definitions,
        .versions = {first.id, second.id},
        .rounds = rounds,
    };
    crowd->running = rivals ? 2 : 1;
    if (rivals)
        assert_ok(
            pawl__definitions_new(f->env, &f->engine, f->store, NULL, &crowd->others, &f->err),
            &f->err);
}

static void crowd_start(struct crowd *crowd, struct pawl_thread *threads[4])
{
    void (*const roles[4])(void *) = {publisher, crowd->others ? rival : reader, reader, reader};

    for (int i = 0; i < 4; i++)
        assert_ok(pawl_thread_start(crowd->env, "crowd", roles[i], crowd, &threads[i], NULL), NULL);
}

static void crowd_check(struct crowd *crowd, struct fixture *f)
{
    struct pawl_definition_row row;
    size_t expected;

    assert_int_equal(crowd->failures, 0);
    assert_flags(f, "a", 1, 1);
    row = find(f, "a", PAWL_DEFINITION_PUBLISHED, 0);
    expected = pawl__str_equal(row.id, crowd->versions[1]) ? 2 : 1;
    assert_true(pawl__str_equal(triggers(f, expected)->version_id, row.id));
    ticks(f, 1);
    pawl__definitions_free(crowd->others);
}

static void readers_never_see_no_published_version_nor_two(void **state)
{
    /* Threads that stand still for a while let others overtake them. */
    const struct pawl_baton_options options = {.pause_ppm = 100000, .pause_ns_max = 1000000};

    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        static const struct fixture nothing;
        struct pawl_thread *threads[4];
        struct fixture f = nothing;
        struct crowd crowd;

        test_allocator_init(&f.alloc);
        assert_ok(fixture_open(&f, NULL), &f.err);
        pawl__definitions_free(f.definitions);
        pawl_store_close(f.store);
        pawl__baton_free(f.baton);
        assert_ok(pawl__baton_new(&f.alloc.base, seed, &options, &f.baton), NULL);
        assert_ok(pawl__baton_env(f.baton, "node-a", &f.env), NULL);
        assert_ok(pawl__memory_store_new(f.env, &f.store, &f.err), &f.err);
        assert_ok(pawl__definitions_new(f.env, &f.engine, f.store, NULL, &f.definitions, &f.err),
                  &f.err);
        crowd_init(&crowd, &f, 10, seed % 2 == 0);
        crowd_start(&crowd, threads);
        assert_ok(pawl__baton_run(f.baton, &f.err), &f.err);
        for (int i = 0; i < 4; i++)
            pawl_thread_join(f.env, threads[i]);
        crowd_check(&crowd, &f);
        fixture_close(&f);
        assert_int_equal(f.alloc.live_count, 0);
    }
}

static void the_same_holds_for_threads_of_the_system(void **state)
{
    static const struct fixture nothing;
    struct pawl_thread *threads[4];
    struct fixture f = nothing;
    struct crowd crowd;

    (void)state;
    assert_ok(pawl_system_env_open(&f.env, &f.err), &f.err);
    pawl__engine_init(&f.engine, &f.env->alloc, (struct pawl_hash_seed){1, 2});
    pawl__arena_init(&f.arena, &f.env->alloc, (size_t)64 << 20);
    assert_ok(pawl__activities_register(&f.engine), NULL);
    assert_ok(pawl__expressions_register(&f.engine), NULL);
    assert_ok(pawl__memory_store_new(f.env, &f.store, &f.err), &f.err);
    assert_ok(pawl__definitions_new(f.env, &f.engine, f.store, NULL, &f.definitions, &f.err),
              &f.err);
    crowd_init(&crowd, &f, 100, true);
    crowd_start(&crowd, threads);
    for (int i = 0; i < 4; i++)
        pawl_thread_join(f.env, threads[i]);
    crowd_check(&crowd, &f);
    pawl__definitions_free(f.definitions);
    pawl_store_close(f.store);
    pawl__arena_release(&f.arena);
    pawl__engine_release(&f.engine);
    pawl_system_env_close(f.env);
}

/* ---- time ---------------------------------------------------------------------------------- */

static void times_are_rounded_up_and_never_stays_never(void **state)
{
    (void)state;
    assert_int_equal(pawl__ticks_to_us(PAWL_DATETIME_UNIX_EPOCH_TICKS), 0);
    assert_int_equal(pawl__ticks_to_us(PAWL_DATETIME_UNIX_EPOCH_TICKS + 1), 1);
    assert_int_equal(pawl__ticks_to_us(PAWL_DATETIME_UNIX_EPOCH_TICKS + 10), 1);
    assert_int_equal(pawl__ticks_to_us(PAWL_DATETIME_UNIX_EPOCH_TICKS - 1), 0);
    assert_int_equal(pawl__ticks_to_us(PAWL_DATETIME_UNIX_EPOCH_TICKS - 10), -1);
    assert_int_equal(pawl__ticks_to_us(INT64_MAX), PAWL_TIME_NEVER);
    assert_true(pawl__ticks_to_us(INT64_MIN) < 0);
    assert_int_equal(pawl__us_to_ticks(PAWL_TIME_NEVER), INT64_MAX);
    assert_int_equal(pawl__us_to_ticks(INT64_MAX - 1), INT64_MAX);
    assert_true(pawl__us_to_ticks(INT64_MIN) < 0);
    for (int64_t us = -3; us <= 3; us++)
        assert_int_equal(pawl__ticks_to_us(pawl__us_to_ticks(us)), us);
}

static void due_times_come_from_payloads(void **state)
{
    struct fixture *f = *state;
    const int64_t now = PAWL_DATETIME_UNIX_EPOCH_TICKS + 5 * PAWL_TICKS_PER_SECOND;
    struct pawl_json payload;

    assert_ok(parse(&f->arena,
                    "{'resumeAt':'1970-01-01T00:00:01Z','executeAt':'1970-01-01T00:00:02Z',"
                    "'startAt':'1970-01-01T00:00:03Z','interval':'00:01:00',"
                    "'cronExpression':'*/10 * * * * *'}",
                    &payload),
              NULL);
#define AT(seconds) (PAWL_DATETIME_UNIX_EPOCH_TICKS + (seconds)*PAWL_TICKS_PER_SECOND)
    assert_int_equal(pawl__bookmark_due(pawl__str("Elsa.Delay"), &payload), AT(1));
    assert_int_equal(pawl__bookmark_due(pawl__str("Elsa.Cron"), &payload), AT(2));
    assert_int_equal(pawl__bookmark_due(pawl__str("Elsa.Event"), &payload), INT64_MAX);
    assert_int_equal(pawl__bookmark_due(pawl__str("Elsa.Delay"), NULL), INT64_MAX);
    assert_int_equal(pawl__trigger_due(pawl__str("Elsa.Timer"), &payload, now), AT(3));
    assert_int_equal(pawl__trigger_due(pawl__str("Elsa.StartAt"), &payload, now), AT(2));
    assert_int_equal(pawl__trigger_due(pawl__str("Elsa.Cron"), &payload, now), AT(10));
    assert_int_equal(pawl__trigger_due(pawl__str("Elsa.Event"), &payload, now), INT64_MAX);
    assert_int_equal(pawl__trigger_due_again(pawl__str("Elsa.Timer"), &payload, now), AT(65));
    assert_int_equal(pawl__trigger_due_again(pawl__str("Elsa.Cron"), &payload, now), AT(10));
    assert_int_equal(pawl__trigger_due_again(pawl__str("Elsa.StartAt"), &payload, now), INT64_MAX);
    assert_int_equal(
        pawl__trigger_due_again(pawl__str("Elsa.Timer"), &payload, PAWL_DATETIME_TICKS_MAX),
        INT64_MAX);
#undef AT
}

/* ---- memory -------------------------------------------------------------------------------- */

static int use_everything(struct fixture *f)
{
    struct pawl_definitions *d = f->definitions;
    struct pawl_definition_row row;
    struct pawl_graph *graph;
    struct pawl_json child, parent;
    int status = parse_definition(&f->arena, "Child", "", USABLE_UPDATING,
                                  SEQUENCE(START_TIMER("t", "01:00:00")), &child);

    if (status == PAWL_OK)
        status =
            parse_definition(&f->arena, "parent", "'isPublished':true,", "{}",
                             SEQUENCE(USE("Child", "Child") "," START_EVENT("e", "E")), &parent);
    if (status == PAWL_OK)
        status = pawl__definitions_import(d, &child, &f->arena, &row, PAWL_FOREVER, &f->err);
    if (status == PAWL_OK)
        status = pawl__definitions_provide(d, &parent, &f->arena, NULL, PAWL_FOREVER, &f->err);
    if (status == PAWL_OK)
        status = pawl__definitions_publish(d, row.id, &f->arena, NULL, PAWL_FOREVER, &f->err);
    if (status == PAWL_OK)
        status =
            pawl__definitions_draft(d, pawl__str("Child"), &f->arena, &row, PAWL_FOREVER, &f->err);
    for (int i = 0; i < 2 && status == PAWL_OK; i++) {
        status = pawl__definitions_published(d, pawl__str("parent"), &graph, PAWL_FOREVER, &f->err);
        if (status == PAWL_OK)
            pawl__graph_unref(graph);
        if (status == PAWL_OK)
            status = pawl__definitions_refresh(d, PAWL_FOREVER, &f->err);
    }
    if (status == PAWL_OK)
        status = pawl__definitions_retract(d, pawl__str("Child"), PAWL_FOREVER, &f->err);
    if (status == PAWL_OK)
        status = pawl__definitions_delete(d, pawl__str("parent"), PAWL_FOREVER, &f->err);
    return status;
}

static int whole_life(struct test_allocator *alloc, void *arg)
{
    static const struct fixture nothing;
    struct fixture f = nothing;
    int status;

    (void)arg;
    /* The rest uses the same allocator through the fixture's own copy of its table. */
    f.alloc.base = alloc->base;
    status = fixture_open(&f, NULL);
    if (status == PAWL_OK)
        status = use_everything(&f);
    fixture_close(&f);
    return status;
}

static void running_out_of_memory_is_an_answer_and_leaks_nothing(void **state)
{
    (void)state;
    test_sweep_allocations(whole_life, NULL, 5000);
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
        TEST(triggers_that_time_fires_get_a_timer),
        TEST(indexing_again_changes_nothing),
        TEST(the_next_version_keeps_triggers_that_stay_and_their_timers),
        TEST(a_timer_that_was_lost_is_set_again_and_one_that_fired_is_not),
        TEST(the_same_trigger_twice_is_one),
        TEST(graphs_are_loaded_once_and_by_either_id),
        TEST(a_draft_saved_in_place_is_loaded_anew_and_others_are_not),
        TEST(another_node_sees_what_is_published_within_its_limit),
        TEST(the_least_recently_used_graph_goes),
        TEST(a_graph_that_embeds_another_follows_it),
        TEST(an_activity_that_is_missing_is_found_once_it_is_there),
        TEST(publishing_updates_those_that_use_it),
        TEST(those_that_use_it_are_left_alone_unless_it_asks),
        TEST(updates_go_on_through_those_that_use_each_other),
        TEST(a_lost_answer_is_looked_up_and_nothing_happens_twice),
        cmocka_unit_test(readers_never_see_no_published_version_nor_two),
        cmocka_unit_test(the_same_holds_for_threads_of_the_system),
        cmocka_unit_test(times_are_rounded_up_and_never_stays_never),
        TEST(due_times_come_from_payloads),
        cmocka_unit_test(running_out_of_memory_is_an_answer_and_leaks_nothing),
    };

    return cmocka_run_group_tests_name("runtime/definitions", tests, NULL, NULL);
}
