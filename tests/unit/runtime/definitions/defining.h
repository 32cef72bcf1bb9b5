/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definitions on the memory store for tests of them: in an environment of the baton (outside of a
 * run nothing waits), with the real vocabulary, over an allocator that notices leaks.
 */
#ifndef PAWL_TESTS_UNIT_RUNTIME_DEFINING_H
#define PAWL_TESTS_UNIT_RUNTIME_DEFINING_H

#include "runtime/definitions/definitions.h"

#include "activities/activities.h"
#include "expressions/expressions.h"
#include "lib/test.h"
#include "os/baton.h"
#include "stores/stores.h"

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
static inline int fixture_open(struct fixture *f, const struct pawl_definitions_options *options)
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

static inline void fixture_close(struct fixture *f)
{
    pawl__definitions_free(f->definitions);
    pawl_store_close(f->store);
    pawl__baton_free(f->baton);
    pawl__arena_release(&f->arena);
    pawl__engine_release(&f->engine);
}

static inline int set_up(void **state)
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

static inline int tear_down(void **state)
{
    struct fixture *f = *state;

    fixture_close(f);
    assert_int_equal(f->alloc.live_count, 0);
    free(f);
    return 0;
}

static inline void sleeper(void *arg)
{
    struct fixture *f = arg;

    (void)!pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + 10 * SECOND_NS);
}

static inline void ten_seconds_pass(struct fixture *f)
{
    struct pawl_thread *thread;

    assert_ok(pawl_thread_start(f->env, "sleeper", sleeper, f, &thread, &f->err), &f->err);
    assert_ok(pawl__baton_run(f->baton, &f->err), &f->err);
    pawl_thread_join(f->env, thread);
}

static inline int parse(struct pawl_arena *arena, const char *text, struct pawl_json *out)
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
static inline int parse_definition(struct pawl_arena *arena, const char *id, const char *more,
                                   const char *options, const char *root, struct pawl_json *out)
{
    const char *text =
        pawl__arena_printf(arena, "{'definitionId':'%s','name':'%s',%s'options':%s,'root':%s}", id,
                           id, more, options, root);

    return text ? parse(arena, text, out) : PAWL_ENOMEM;
}

static inline struct pawl_definition_row import_with(struct fixture *f, const char *id,
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

static inline struct pawl_definition_row import(struct fixture *f, const char *id, const char *root)
{
    return import_with(f, id, "{}", root);
}

static inline void publish(struct fixture *f, struct pawl_str version_id)
{
    struct pawl_publication said;

    assert_ok(pawl__definitions_publish(f->definitions, version_id, &f->arena, &said, PAWL_FOREVER,
                                        &f->err),
              &f->err);
    assert_true(said.succeeded);
}

static inline struct pawl_definition_row define_with(struct fixture *f, const char *id,
                                                     const char *options, const char *root)
{
    struct pawl_definition_row row = import_with(f, id, options, root);

    publish(f, row.id);
    return row;
}

static inline struct pawl_definition_row define(struct fixture *f, const char *id, const char *root)
{
    return define_with(f, id, "{}", root);
}

static inline int try_provide(struct fixture *f, const char *id, const char *more, const char *root,
                              struct pawl_definition_row *row)
{
    struct pawl_json json;

    assert_ok(parse_definition(&f->arena, id, more, "{}", root, &json), NULL);
    return pawl__definitions_provide(f->definitions, &json, &f->arena, row, PAWL_FOREVER, &f->err);
}

static inline struct pawl_definition_row provide(struct fixture *f, const char *id,
                                                 const char *more, const char *root)
{
    struct pawl_definition_row row;

    assert_ok(try_provide(f, id, more, root, &row), &f->err);
    return row;
}

static inline int try_find(struct fixture *f, const char *id, enum pawl_version_pick pick,
                           int64_t version, struct pawl_definition_row *out)
{
    return pawl__definitions_find(f->definitions, pawl__str(id), pick, version, &f->arena, out,
                                  PAWL_FOREVER, &f->err);
}

static inline struct pawl_definition_row find(struct fixture *f, const char *id,
                                              enum pawl_version_pick pick, int64_t version)
{
    struct pawl_definition_row row;

    assert_ok(try_find(f, id, pick, version, &row), &f->err);
    return row;
}

/* ---- what is in the store ------------------------------------------------------------------ */

static inline struct pawl_rows rows_of(struct fixture *f, enum pawl_table table)
{
    const struct pawl_query query = {.table = table, .limit = PAWL_STORE_ROWS_MAX};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->store, &query, &f->arena, &rows, PAWL_FOREVER, &f->err), &f->err);
    return rows;
}

static inline const struct pawl_trigger_row *triggers(struct fixture *f, size_t count)
{
    struct pawl_rows rows = rows_of(f, PAWL_TABLE_TRIGGERS);

    assert_int_equal(rows.count, count);
    return rows.rows;
}

static inline const struct pawl_work_row *ticks(struct fixture *f, size_t count)
{
    struct pawl_rows rows = rows_of(f, PAWL_TABLE_WORK);

    assert_int_equal(rows.count, count);
    return rows.rows;
}

static inline int64_t stamp(struct fixture *f)
{
    struct pawl_rows rows = rows_of(f, PAWL_TABLE_STAMPS);

    return rows.count > 0 ? ((const struct pawl_stamp_row *)rows.rows)->value : 0;
}

static inline int64_t store_now_us(struct fixture *f)
{
    struct pawl_store_status status;

    assert_ok(pawl_store_status(f->store, &status, PAWL_FOREVER, &f->err), &f->err);
    return status.now_us;
}

/* Of all versions of a definition: how many have a flag. */
static inline void count_flags(struct pawl_store *store, struct pawl_arena *arena, const char *id,
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

static inline void assert_flags(struct fixture *f, const char *id, int latest, int published)
{
    int latest_seen, published_seen;

    count_flags(f->store, &f->arena, id, &latest_seen, &published_seen);
    assert_int_equal(latest_seen, latest);
    assert_int_equal(published_seen, published);
}

static inline struct pawl_json data_of(struct fixture *f, const struct pawl_definition_row *row)
{
    struct pawl_json json;

    assert_ok(pawl__json_parse(&f->arena, row->data, NULL, &json, NULL, &f->err), &f->err);
    return json;
}

#endif
