/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a definition: what loading it finds (engine/graph.h). */
#ifndef PAWL_ENGINE_PROBLEM_H
#define PAWL_ENGINE_PROBLEM_H

#include "base/arena.h"

enum pawl_problem_level {
    PAWL_PROBLEM_WARNING, /* it loads, but not as written */
    PAWL_PROBLEM_ERROR,   /* it loads, and will fault or do nothing where this stands */
    PAWL_PROBLEM_INVALID, /* the same, and the reference refuses to publish it (a bad cron) */
};

struct pawl_problem {
    enum pawl_problem_level level;
    const char *pointer; /* JSON pointer into the outermost definition; "" for the whole */
    const char *activity_id;
    const char *message;
};

/*
 * What is found while loading, in the order found; lives in the arena it was given. Past `most`
 * problems are counted only. A problem in an embedded workflow stands at the activity that embeds
 * it and is told once, however often the workflow is embedded. When the definition cannot be loaded
 * (PAWL_EPARSE), the reason is the last of them.
 */
struct pawl_problems {
    struct pawl_arena *arena;
    struct pawl_problem *items;
    uint32_t count;
    uint32_t cap;
    uint32_t most;
    uint32_t dropped;
};

#endif
