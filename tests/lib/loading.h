/* SPDX-License-Identifier: Apache-2.0 */
/* A place to load definitions in: an engine with the tests' vocabulary, problems, a catalog. */
#ifndef PAWL_TESTS_LIB_LOADING_H
#define PAWL_TESTS_LIB_LOADING_H

#include "engine/engine.h"
#include "engine/load/catalog.h"
#include "lib/test.h"

struct loading {
    struct test_allocator alloc;
    struct pawl_engine engine;
    struct pawl_arena arena; /* texts, problems, definitions of the catalog */
    struct pawl_catalog catalog;
    struct pawl_problems problems;
    struct pawl_graph_limits limits;
    struct pawl_graph *graph;
    struct pawl_error err;
};

void loading_init(struct loading *loading);
/* The same with everything built in, and the scripting languages by name. */
void loading_init_built_in(struct loading *loading);
/* Also demands that all memory came back. */
void loading_release(struct loading *loading);

/* Parses, or fails the test. */
struct pawl_json *loading_parse(struct loading *loading, struct pawl_str text);
/* Adds a definition to the catalog. */
void loading_offer(struct loading *loading, const char *text);
/* Loads; a graph loaded before goes, problems found before are forgotten. */
int loading_try(struct loading *loading, const struct pawl_json *definition);
/* The same from text, and the load must succeed. */
struct pawl_graph *loading_load(struct loading *loading, const char *text);
/* Whether a problem of that level stands at `pointer` and contains `part`. */
int loading_has_problem(const struct loading *loading, enum pawl_problem_level level,
                        const char *pointer, const char *part);
/* Shows all problems found, for a failing test. */
void loading_show_problems(const struct loading *loading);

#endif
