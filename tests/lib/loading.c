/* SPDX-License-Identifier: Apache-2.0 */
/* Loading definitions in tests; see loading.h. */
#include "lib/loading.h"

#include "lib/vocabulary.h"

#include <string.h>

static void init(struct loading *loading,
                 int (*fill)(struct pawl_engine *engine, const struct pawl_allocator *alloc))
{
    memset(loading, 0, sizeof *loading);
    test_allocator_init(&loading->alloc);
    assert_code(fill(&loading->engine, &loading->alloc.base), PAWL_OK);
    pawl__arena_init(&loading->arena, &loading->alloc.base, (size_t)1 << 30);
    pawl__catalog_init(&loading->catalog, &loading->arena);
    loading->limits = pawl__graph_limits_default;
}

void loading_init(struct loading *loading)
{
    init(loading, vocabulary_init);
}

void loading_init_built_in(struct loading *loading)
{
    init(loading, vocabulary_init_built_in);
}

void loading_release(struct loading *loading)
{
    pawl__graph_unref(loading->graph);
    pawl__engine_release(&loading->engine);
    pawl__arena_release(&loading->arena);
    assert_int_equal(loading->alloc.live_count, 0);
}

struct pawl_json *loading_parse(struct loading *loading, struct pawl_str text)
{
    struct pawl_json_limits limits = {.bytes_max = (size_t)1 << 28, .depth_max = 1000};
    struct pawl_json *json = pawl__arena_alloc(&loading->arena, sizeof *json);

    assert_non_null(json);
    assert_ok(pawl__json_parse(&loading->arena, text, &limits, json, NULL, &loading->err),
              &loading->err);
    return json;
}

void loading_offer(struct loading *loading, const char *text)
{
    assert_code(pawl__catalog_add(&loading->catalog, loading_parse(loading, pawl__str(text))),
                PAWL_OK);
}

int loading_try(struct loading *loading, const struct pawl_json *definition)
{
    pawl__graph_unref(loading->graph);
    loading->graph = NULL;
    loading->problems = (struct pawl_problems){.arena = &loading->arena, .most = 1000};
    loading->err = (struct pawl_error)PAWL_ERROR_INIT;
    return pawl__graph_load(&loading->engine, &loading->alloc.base, definition,
                            &loading->catalog.resolver, &loading->limits, &loading->problems,
                            &loading->graph, &loading->err);
}

struct pawl_graph *loading_load(struct loading *loading, const char *text)
{
    assert_ok(loading_try(loading, loading_parse(loading, pawl__str(text))), &loading->err);
    return loading->graph;
}

int loading_has_problem(const struct loading *loading, enum pawl_problem_level level,
                        const char *pointer, const char *part)
{
    for (uint32_t i = 0; i < loading->problems.count; i++) {
        const struct pawl_problem *problem = &loading->problems.items[i];

        if (problem->level == level && strcmp(problem->pointer, pointer) == 0 &&
            strstr(problem->message, part))
            return 1;
    }
    loading_show_problems(loading);
    return 0;
}

void loading_show_problems(const struct loading *loading)
{
    for (uint32_t i = 0; i < loading->problems.count; i++)
        print_message("# %u %s (%s): %s\n", (unsigned)loading->problems.items[i].level,
                      loading->problems.items[i].pointer, loading->problems.items[i].activity_id,
                      loading->problems.items[i].message);
}
