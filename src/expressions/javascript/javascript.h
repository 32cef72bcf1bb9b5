/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JavaScript: expressions of type "JavaScript" and the scripts of RunJavaScript, on engines of
 * drivers/quickjs.h.
 *
 * Evaluations do not see each other. Most run on an engine that others use too, whose built-in
 * objects are frozen and whose global object is made empty after each; those whose text mentions
 * what could get around that (eval, globalThis, prototype, …) or assigns to a built-in name run on
 * an engine put back to its first state before. One that hits a limit costs its engine the same,
 * and so does one that leaves a promise's job behind. A text is compiled by itself before it runs,
 * so that none reaches outside of the function that is made of it; checking a text runs nothing of
 * it.
 *
 * A script ends with PAWL_EBUSY when the burst must stop (pawl__context_must_stop()).
 *
 * An engine serves one thread at a time; idle ones wait in a pool. Each keeps the functions it
 * compiled, by their text, until its memory passes 8 MB: then it is closed after the script. Only
 * `large_max` engines may pass that at a time. A script that waits for its turn holds nothing that
 * another one needs, so that those who have theirs end.
 *
 * Built without an engine (-Djavascript=disabled) the same functions exist: expressions are then a
 * problem when a definition is validated, and a fault when run.
 */
#ifndef PAWL_EXPRESSIONS_JAVASCRIPT_JAVASCRIPT_H
#define PAWL_EXPRESSIONS_JAVASCRIPT_JAVASCRIPT_H

#include "engine/engine.h"

#include <pawl/ext/env.h>

struct pawl_javascript;

struct pawl_javascript_options {
    /* Per evaluation; 0 means the default. */
    uint32_t fuel_max;         /* 8,000: 240 million loop turns, about a second of computing */
    int64_t time_ms_max;       /* 1,000, of the thread's processor time */
    uint32_t memory_bytes_max; /* 64 MB; 96 MB at the most */
    uint32_t stack_bytes_max;  /* 192 KB of the engine's own stack */
    /* Evaluations at a time whose engine has more than 8 MB; others wait in turn. 0 means 4. */
    uint32_t large_max;
    /*
     * What getConfig(name) returns, for the names listed (ends with NULL; NULL: none). A name that
     * is not listed throws. `config` returns NULL when there is no such setting; borrowed until
     * the next call.
     */
    const char *const *config_names;
    const char *(*config)(void *ctx, const char *name);
    void *config_ctx;
    /*
     * What createEventTriggerUrl(name, lifetime) returns: an address by which whoever has it sends
     * the event to the instance; `life_ticks` 0: for ever. In the arena. NULL: scripts have no such
     * function that works.
     */
    int (*event_url)(void *ctx, struct pawl_arena *arena, struct pawl_str instance_id,
                     struct pawl_str event, int64_t life_ticks, struct pawl_str *out,
                     struct pawl_error *err);
    void *event_url_ctx;
    /* Called after each evaluation with how long it took, on the thread of the burst. NULL: not. */
    void (*ran)(void *ctx, int64_t duration_ns);
    void *ran_ctx;
};

extern const struct pawl_javascript_options pawl__javascript_options_default;

/*
 * Borrows the environment, and what the options point to, for its life. No engine is made before
 * the first script. PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int pawl__javascript_open(struct pawl_env *env,
                                          const struct pawl_javascript_options *options,
                                          struct pawl_javascript **out, struct pawl_error *err);
/* When nothing is being evaluated. NULL allowed. */
void pawl__javascript_close(struct pawl_javascript *js);

/* Adds the language. The engine is released before `js` is closed. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__javascript_register(struct pawl_engine *engine,
                                              struct pawl_javascript *js);

/*
 * A function of the host that all scripts see: called with the arguments as a JSON array, it
 * returns PAWL_OK with a result in the arena, or a code, which the script sees as an exception.
 */
struct pawl_javascript_function {
    const char *name;
    int (*call)(void *ctx, struct pawl_arena *arena, const struct pawl_json *args,
                struct pawl_json *out, struct pawl_error *err);
    void *ctx;
};

/* Before the first script. Copies the struct, borrows what it points to. PAWL_ELIMIT past 64. */
PAWL_MUST_CHECK int pawl__javascript_add_function(struct pawl_javascript *js,
                                                  const struct pawl_javascript_function *function);

/* One evaluation, besides its context. */
struct pawl_javascript_run {
    struct pawl_str source;
    bool takes_outcomes; /* setOutcome and setOutcomes exist */
    /* Set by them; in the context's arena. */
    struct pawl_str *outcomes;
    uint32_t outcome_count;
    struct pawl_value result;
};

/*
 * Evaluates in the scope of `context`, whose arguments are `args`, with the language that its
 * engine has registered. Returns PAWL_OK, ENGINE_RAISED or a negative code.
 */
PAWL_MUST_CHECK int pawl__javascript_run(struct pawl_context *context,
                                         struct pawl_javascript_run *run);

/* Whether this build has an engine. */
bool pawl__javascript_is_available(void);

#endif
