/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions in a store that many threads read and change, and without memory. */
#include "unit/runtime/definitions/defining.h"

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
    same = pawl__definitions_find(crowd->definitions, pawl__str("a"), PAWL_VERSIONS_PUBLISHED, 0,
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
    row = find(f, "a", PAWL_VERSIONS_PUBLISHED, 0);
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
    /* Behind a change that is stored. */
    if (status == PAWL_EUNKNOWN && strstr(f.err.msg, "is published, but not all that use it"))
        status = PAWL_ENOMEM;
    fixture_close(&f);
    return status;
}

static void running_out_of_memory_is_an_answer_and_leaks_nothing(void **state)
{
    (void)state;
    test_sweep_allocations(whole_life, NULL, 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_never_see_no_published_version_nor_two),
        cmocka_unit_test(the_same_holds_for_threads_of_the_system),
        cmocka_unit_test(running_out_of_memory_is_an_answer_and_leaks_nothing),
    };

    return cmocka_run_group_tests_name("runtime/definitions_threads", tests, NULL, NULL);
}
