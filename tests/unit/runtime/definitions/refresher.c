/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions from providers, and their triggers worked out anew. */
#include "runtime/definitions/refresher.h"
#include "unit/runtime/nodes.h"

#define PROVIDED(version, flags, name)                                                             \
    "{'definitionId':'d','id':'d:" version "','version':" version "," flags                        \
    "'root':" RIG_SEQUENCE("seq", TRIGGER("t", name) "," RIG_WRITE("w", "v" version)) "}"
#define PUBLISHED "'isPublished':true,'isLatest':true,"

/* Definitions as texts; one that is NULL cannot be read. */
struct shelf {
    struct pawl_definition_provider base;
    const struct pawl_allocator *alloc;
    const char *texts[4];
    int count;
    int visits;
    int refuse; /* what the visit answers at its end */
};

static int visit_shelf(struct pawl_definition_provider *provider, pawl_definition_visitor visit,
                       pawl_unreadable_visitor unreadable, void *ctx, struct pawl_error *err)
{
    struct shelf *shelf = (struct shelf *)(void *)provider;
    int status = shelf->refuse;

    shelf->visits++;
    for (int i = 0; i < shelf->count && status == PAWL_OK; i++) {
        const struct pawl_error why = {PAWL_EPARSE, "torn"};
        struct pawl_arena arena;
        struct pawl_json definition;
        struct pawl_str text;

        if (!shelf->texts[i]) {
            unreadable(ctx, "shelf", &why);
            continue;
        }
        pawl__arena_init(&arena, shelf->alloc, (size_t)1 << 20);
        text = pawl__arena_str(&arena, pawl__str(shelf->texts[i]));
        for (size_t j = 0; j < text.len; j++)
            if (text.ptr[j] == '\'')
                ((char *)(uintptr_t)text.ptr)[j] = '"';
        status = text.ptr ? pawl__json_parse(&arena, text, NULL, &definition, NULL, err)
                          : pawl__arena_status(&arena);
        if (status == PAWL_OK)
            status = visit(ctx, "shelf", &definition, err);
        pawl__arena_release(&arena);
    }
    return status;
}

static void shelf_init(struct shelf *shelf, const struct pawl_allocator *alloc)
{
    *shelf = (struct shelf){.base = {"shelf", visit_shelf, NULL}, .alloc = alloc};
}

static struct pawl_reloaded reload(struct fixture *f, struct shelf *shelf)
{
    struct pawl_reloader *reloader;
    struct pawl_reloaded told;

    assert_ok(pawl__local_reloader_new(f->env, pawl__runtime_definitions(f->a.runtime),
                                       &shelf->base, NULL, &reloader, &f->err),
              &f->err);
    assert_ok(pawl__reloader_reload(reloader, &told, later(f), &f->err), &f->err);
    pawl__reloader_close(reloader);
    return told;
}

static void what_a_provider_has_is_published_and_starts(void **state)
{
    struct fixture *f = *state;
    struct pawl_reloaded told;
    struct shelf shelf;

    shelf_init(&shelf, &f->env->alloc);
    shelf.texts[shelf.count++] = PROVIDED("1", PUBLISHED, "Go");
    told = reload(f, &shelf);
    assert_int_equal(told.provided, 1);
    assert_int_equal(told.failed, 0);
    assert_int_equal(send(f, "Go").started, 1);
    drain(f);
    assert_string_equal(f->lines, "v1\n");
    /* A newer one takes its place; the same again changes nothing. */
    shelf.texts[0] = PROVIDED("2", PUBLISHED, "Went");
    for (int i = 0; i < 2; i++)
        (void)reload(f, &shelf);
    assert_int_equal(count(f, PAWL_TABLE_TRIGGERS), 1);
    assert_int_equal(send(f, "Go").started, 0);
    assert_int_equal(send(f, "Went").started, 1);
}

static void an_older_version_takes_nothing_from_a_newer_one(void **state)
{
    struct fixture *f = *state;
    struct shelf shelf;

    shelf_init(&shelf, &f->env->alloc);
    shelf.texts[shelf.count++] = PROVIDED("2", PUBLISHED, "Go");
    (void)reload(f, &shelf);
    shelf.texts[0] = PROVIDED("1", PUBLISHED, "Old");
    (void)reload(f, &shelf);
    assert_int_equal(count(f, PAWL_TABLE_DEFINITIONS), 2);
    assert_int_equal(send(f, "Old").started, 0);
    assert_int_equal(send(f, "Go").started, 1);
}

static void one_that_cannot_be_loaded_stops_no_other(void **state)
{
    struct fixture *f = *state;
    struct pawl_reloaded told;
    struct shelf shelf;

    shelf_init(&shelf, &f->env->alloc);
    shelf.texts[shelf.count++] = NULL;
    shelf.texts[shelf.count++] = "[]";
    shelf.texts[shelf.count++] = PROVIDED("1", PUBLISHED, "Go");
    told = reload(f, &shelf);
    assert_int_equal(told.provided, 1);
    assert_int_equal(told.failed, 2);
    assert_int_equal(send(f, "Go").started, 1);
}

static void a_definition_may_come_before_one_that_it_uses(void **state)
{
    struct fixture *f = *state;
    struct shelf shelf;
    struct pawl_reloaded told;

    shelf_init(&shelf, &f->env->alloc);
    shelf.texts[shelf.count++] =
        "{'definitionId':'outer','id':'outer:1','version':1," PUBLISHED
        "'root':" RIG_SEQUENCE("seq", TRIGGER("t", "Go") ","
                                                         "{'id':'i','type':'Inner'}") "}";
    shelf.texts[shelf.count++] =
        "{'definitionId':'inner','id':'inner:1','version':1,'name':'Inner'," PUBLISHED
        "'options':{'usableAsActivity':true},'root':" RIG_WRITE("w", "inner") "}";
    told = reload(f, &shelf);
    assert_int_equal(told.provided, 2);
    assert_int_equal(shelf.visits, 2);
    assert_int_equal(send(f, "Go").started, 1);
    drain(f);
    assert_string_equal(f->lines, "inner\n");
}

static void without_a_provider_there_is_nothing_to_reload(void **state)
{
    struct fixture *f = *state;
    struct pawl_reloader *reloader;
    struct pawl_reloaded told;

    assert_ok(pawl__local_reloader_new(f->env, pawl__runtime_definitions(f->a.runtime), NULL, NULL,
                                       &reloader, &f->err),
              &f->err);
    assert_ok(pawl__reloader_reload(reloader, &told, later(f), &f->err), &f->err);
    assert_int_equal(told.provided + told.failed, 0);
    pawl__reloader_close(reloader);
}

static void a_provider_that_fails_is_an_error(void **state)
{
    struct fixture *f = *state;
    struct pawl_reloader *reloader;
    struct pawl_reloaded told;
    struct shelf shelf;

    shelf_init(&shelf, &f->env->alloc);
    shelf.refuse = PAWL_EIO;
    assert_ok(pawl__local_reloader_new(f->env, pawl__runtime_definitions(f->a.runtime), &shelf.base,
                                       NULL, &reloader, &f->err),
              &f->err);
    assert_code(pawl__reloader_reload(reloader, &told, later(f), &f->err), PAWL_EIO);
    pawl__reloader_close(reloader);
}

/* ---- refreshing ---------------------------------------------------------------------------- */

static struct pawl_refreshed refresh(struct fixture *f, const struct pawl_str *ids, size_t count,
                                     uint32_t batch)
{
    const struct pawl_refresh what = {.ids = ids, .count = count, .batch = batch};
    struct pawl_refresher *refresher;
    struct pawl_refreshed told;

    assert_ok(pawl__local_refresher_new(f->env, f->a.store, pawl__runtime_definitions(f->a.runtime),
                                        NULL, &refresher, &f->err),
              &f->err);
    assert_ok(pawl__refresher_refresh(refresher, &what, &f->arena, &told, later(f), &f->err),
              &f->err);
    pawl__refresher_close(refresher);
    return told;
}

/* As if somebody had lost them. */
static void drop_triggers(struct fixture *f)
{
    const struct pawl_query query = {.table = PAWL_TABLE_TRIGGERS};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    for (size_t i = 0; i < rows.count; i++) {
        const struct pawl_change change = {PAWL_CHANGE_DELETE, PAWL_TABLE_TRIGGERS,
                                           &((const struct pawl_trigger_row *)rows.rows)[i]};
        struct pawl_commit commit = {
            .kind = PAWL_COMMIT_PLAIN, .changes = &change, .change_count = 1};
        struct pawl_commit *commits[] = {&commit};

        assert_ok(pawl_store_apply(f->a.store, commits, 1, later(f), &f->err), &f->err);
    }
    assert_int_equal(count(f, PAWL_TABLE_TRIGGERS), 0);
}

static void publish_three(struct fixture *f)
{
    publish(f, DEFINITION("a", "", TRIGGER("t", "A") "," RIG_WRITE("w", "a")));
    publish(f, DEFINITION("b", "", TRIGGER("t", "B") "," RIG_WRITE("w", "b")));
    publish(f, DEFINITION("c", "", TRIGGER("t", "C") "," RIG_WRITE("w", "c")));
}

static void all_triggers_come_back_page_by_page(void **state)
{
    struct fixture *f = *state;

    publish_three(f);
    for (uint32_t batch = 1; batch <= 4; batch++) {
        struct pawl_refreshed told;

        drop_triggers(f);
        told = refresh(f, NULL, 0, batch);
        assert_int_equal(told.refreshed_count, 3);
        assert_str(told.refreshed[0], "a");
        assert_str(told.refreshed[2], "c");
        assert_int_equal(told.not_found_count, 0);
        assert_false(told.in_progress);
        assert_int_equal(count(f, PAWL_TABLE_TRIGGERS), 3);
    }
}

static void those_that_are_named_and_no_other(void **state)
{
    const struct pawl_str ids[] = {pawl__str("c"), pawl__str("nowhere")};
    struct fixture *f = *state;
    struct pawl_refreshed told;

    publish_three(f);
    drop_triggers(f);
    told = refresh(f, ids, 2, 0);
    assert_int_equal(told.refreshed_count, 1);
    assert_str(told.refreshed[0], "c");
    assert_int_equal(told.not_found_count, 1);
    assert_str(told.not_found[0], "nowhere");
    assert_int_equal(count(f, PAWL_TABLE_TRIGGERS), 1);
}

/* ---- memory -------------------------------------------------------------------------------- */

struct scene {
    struct test_clock *clock;
    struct pawl_env *env;
    struct pawl_engine engine;
    struct pawl_store *store;
    struct pawl_definitions *definitions;
    struct pawl_arena arena;
};

static int play(struct scene *s)
{
    const int64_t until = pawl_env_monotonic_ns(s->env) + 60 * SECOND;
    struct pawl_reloader *reloader = NULL;
    struct pawl_refresher *refresher = NULL;
    struct pawl_refreshed refreshed;
    struct pawl_reloaded reloaded;
    struct shelf shelf;
    int status;

    shelf_init(&shelf, &s->env->alloc);
    shelf.texts[shelf.count++] = PROVIDED("1", PUBLISHED, "Go");
    status = pawl__local_reloader_new(s->env, s->definitions, &shelf.base, NULL, &reloader, NULL);
    if (status == PAWL_OK)
        status = pawl__reloader_reload(reloader, &reloaded, until, NULL);
    if (status == PAWL_OK)
        status =
            pawl__local_refresher_new(s->env, s->store, s->definitions, NULL, &refresher, NULL);
    if (status == PAWL_OK)
        status = pawl__refresher_refresh(refresher, &(struct pawl_refresh){0}, &s->arena,
                                         &refreshed, until, NULL);
    if (status == PAWL_OK && (reloaded.provided != 1 || refreshed.refreshed_count != 1))
        status = PAWL_EINTERNAL;
    pawl__refresher_close(refresher);
    pawl__reloader_close(reloader);
    return status;
}

static int play_over(struct test_allocator *alloc, void *arg)
{
    struct scene s = {0};
    int status;

    (void)arg;
    assert_int_equal(test_clock_open(&alloc->base, WALL, &s.clock), PAWL_OK);
    s.env = test_clock_env(s.clock);
    pawl__arena_init(&s.arena, &s.env->alloc, (size_t)1 << 20);
    pawl__engine_init(&s.engine, &s.env->alloc, (struct pawl_hash_seed){1, 2});
    status = pawl__activities_register(&s.engine);
    if (status == PAWL_OK)
        status = pawl__expressions_register(&s.engine);
    if (status == PAWL_OK)
        status = pawl__memory_store_new(s.env, &s.store, NULL);
    if (status == PAWL_OK)
        status = pawl__definitions_new(s.env, &s.engine, s.store, NULL, &s.definitions, NULL);
    if (status == PAWL_OK)
        status = play(&s);
    pawl__definitions_free(s.definitions);
    pawl_store_close(s.store);
    pawl__engine_release(&s.engine);
    pawl__arena_release(&s.arena);
    test_clock_close(s.clock);
    return status;
}

static void every_refused_allocation_is_reported(void **state)
{
    (void)state;
    test_sweep_allocations(play_over, NULL, 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_a_provider_has_is_published_and_starts),
        TEST(an_older_version_takes_nothing_from_a_newer_one),
        TEST(one_that_cannot_be_loaded_stops_no_other),
        TEST(a_definition_may_come_before_one_that_it_uses),
        TEST(without_a_provider_there_is_nothing_to_reload),
        TEST(a_provider_that_fails_is_an_error),
        TEST(all_triggers_come_back_page_by_page),
        TEST(those_that_are_named_and_no_other),
        cmocka_unit_test(every_refused_allocation_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
