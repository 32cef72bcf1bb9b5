/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's vocabulary: which activity types and which expression types there are, and the few
 * choices a host makes for all workflows. Filled at the start, then never changed: threads share it
 * without locks.
 */
#ifndef PAWL_ENGINE_ENGINE_H
#define PAWL_ENGINE_ENGINE_H

#include "base/map.h"
#include "base/time/timezone.h"
#include "engine/activity.h"
#include "engine/graph.h"

/* An expression language. */
struct pawl_expression_ops {
    const char *type; /* exactly as definitions write it: "Literal", "JavaScript" */
    /*
     * Evaluates in the scope of `context`. `target` is the expected type; a language may return
     * another, the caller converts. ENGINE_RAISED after pawl__raise().
     */
    int (*evaluate)(struct pawl_context *context, const struct pawl_expression *expression,
                    const struct pawl_type *target, struct pawl_value *out);
    /*
     * Looks at an expression when a definition is validated: true, or false with a message of what
     * is wrong with it. NULL: nothing to check.
     */
    bool (*check)(const struct pawl_engine *engine, const struct pawl_expression *expression,
                  char *message, size_t size);
    /* activityState shows the value as it was evaluated, not as the input's type. */
    bool shown_unconverted;
};

enum pawl_flow_mode {
    PAWL_FLOW_DEFAULT,
    PAWL_FLOW_TOKEN,
    PAWL_FLOW_COUNTER,
};

struct pawl_engine {
    const struct pawl_allocator *alloc; /* borrowed */
    struct pawl_map activities;         /* type -> const struct pawl_activity, highest version */
    struct pawl_map expressions;        /* type -> const struct pawl_expression_ops */

    bool strict_conversion;
    bool commit_strategies; /* the standard ones are known by name */
    enum pawl_flow_mode flow_mode;
    enum pawl_incident_strategy incident_strategy;
    /*
     * A time zone by its IANA name, from the host's database; the caller frees it. Called by many
     * threads. NULL: only UTC and plain offsets are known.
     */
    int (*timezone)(const struct pawl_allocator *alloc, struct pawl_str name,
                    struct pawl_timezone **out, struct pawl_error *err);
    /*
     * An address by which whoever has it sends the event to the instance, in the arena;
     * `life_ticks` 0: for ever. Called by many threads. NULL: there is no server that such links
     * lead to.
     */
    int (*event_url)(void *ctx, struct pawl_arena *arena, struct pawl_str instance_id,
                     struct pawl_str event, int64_t life_ticks, struct pawl_str *out,
                     struct pawl_error *err);
    void *event_url_ctx;
    uint32_t yield_after; /* activities per burst_step; 10,000 */
    size_t burst_bytes_max;
    int64_t timer_interval_min; /* of Timer and of triggers that repeat, in ticks; a second */
};

/* An empty vocabulary with the default choices. */
void pawl__engine_init(struct pawl_engine *engine, const struct pawl_allocator *alloc,
                       struct pawl_hash_seed seed);
void pawl__engine_release(struct pawl_engine *engine);

/* Borrow what they are given, for the life of the engine. A type given twice replaces the first. */
PAWL_MUST_CHECK int pawl__engine_add_activity(struct pawl_engine *engine,
                                              const struct pawl_activity *activity);
PAWL_MUST_CHECK int pawl__engine_add_expression(struct pawl_engine *engine,
                                                const struct pawl_expression_ops *ops);

const struct pawl_activity *pawl__engine_activity(const struct pawl_engine *engine,
                                                  struct pawl_str type);
const struct pawl_expression_ops *pawl__engine_expression(const struct pawl_engine *engine,
                                                          struct pawl_str type);

#endif
