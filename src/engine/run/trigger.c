/* SPDX-License-Identifier: Apache-2.0 */
/* Trigger indexing: a throw-away burst in which nothing is ever scheduled; see trigger.h. */
#include "engine/run/trigger.h"

#include "base/error.h"
#include "base/hash/stimulus.h"
#include "engine/run/instance.h"

static bool is_startable(const struct pawl_node *node)
{
    return node->can_start_workflow && node->activity->kind == PAWL_ACTIVITY_TRIGGER;
}

/* Inputs on their own: one that raises is as if it were not set. */
static int evaluate_inputs(struct pawl_context *context)
{
    const struct pawl_node *node = context->node;
    uint32_t count = node->activity->input_count;
    struct pawl_arena *arena = &context->burst->arena;

    context->inputs = pawl__arena_alloc_zeroed(arena, (count + 1u) * sizeof *context->inputs);
    if (!context->inputs)
        return pawl__arena_status(arena);
    for (uint32_t i = 0; i < count; i++) {
        const struct pawl_input_descriptor *descriptor = &node->activity->inputs[i];
        int status;

        if (descriptor->flags & (PAWL_INPUT_NAKED | PAWL_INPUT_NO_AUTO_EVALUATE))
            continue;
        status = pawl__input_evaluate(context, descriptor->name, &context->inputs[i]);
        if (status == ENGINE_RAISED)
            context->inputs[i] = pawl__value_null();
        else if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

/* The payloads of one activity: at least one, null when it has none to give. */
static int collect_payloads(struct pawl_context *context, struct pawl_json *payloads)
{
    const struct pawl_activity *activity = context->node->activity;
    struct pawl_arena *arena = &context->burst->arena;
    int status = evaluate_inputs(context);

    *payloads = pawl__json_array();
    if (status == PAWL_OK && !activity->triggers)
        return pawl__json_append(arena, payloads, pawl__json_object());
    if (status == PAWL_OK)
        status = activity->triggers(context, payloads);
    if (status == ENGINE_RAISED)
        *payloads = pawl__json_array();
    else if (status != PAWL_OK)
        return status;
    return pawl__json_len(payloads) > 0 ? PAWL_OK
                                        : pawl__json_append(arena, payloads, pawl__json_null());
}

static int fill_trigger(struct pawl_burst *burst, struct pawl_arena *arena,
                        const struct pawl_node *node, const struct pawl_json *payload,
                        struct pawl_trigger *out)
{
    const struct pawl_activity *activity = node->activity;
    const char *name = activity->trigger_name ? activity->trigger_name : activity->type;
    char hash[PAWL_SHA256_TEXT_SIZE];
    int status = pawl__stimulus_hash(&burst->alloc, pawl__str(name), payload, pawl__str(""), hash);

    if (status == PAWL_OK)
        status = pawl__json_copy(arena, payload, &out->payload);
    if (status != PAWL_OK)
        return status;
    out->name = pawl__arena_str(arena, pawl__str(name));
    out->activity_id = pawl__arena_str(arena, node->id);
    out->hash = pawl__arena_str(arena, pawl__str(hash));
    return arena->status;
}

static int index_node(struct pawl_burst *burst, const struct pawl_node *node,
                      struct pawl_arena *arena, struct pawl_triggers *out, uint32_t *cap)
{
    struct pawl_context *context;
    struct pawl_json payloads;
    int status = pawl__context_new(burst, node, NULL, &context);

    if (status == PAWL_OK)
        status = collect_payloads(context, &payloads);
    for (uint32_t i = 0; status == PAWL_OK && i < pawl__json_len(&payloads); i++) {
        status =
            pawl__vector_grow(arena, (void **)&out->items, out->count, cap, sizeof *out->items);
        if (status == PAWL_OK)
            status = fill_trigger(burst, arena, node, pawl__json_at(&payloads, i),
                                  &out->items[out->count]);
        if (status == PAWL_OK)
            out->count++;
    }
    return status;
}

int pawl__graph_triggers(struct pawl_graph *graph, const struct pawl_allocator *alloc, int64_t now,
                         struct pawl_arena *arena, struct pawl_triggers *out,
                         struct pawl_error *err)
{
    const struct pawl_event event = {.kind = PAWL_EVENT_RUN, .now = now};
    struct pawl_triggers found = {0};
    struct pawl_burst *burst = NULL;
    uint32_t cap = 0;
    int status = pawl__burst_open(graph, alloc, NULL, &event, &burst, err);

    for (uint32_t i = 0; status == PAWL_OK && i < graph->node_count; i++) {
        if (is_startable(graph->nodes[i]))
            status = index_node(burst, graph->nodes[i], arena, &found, &cap);
    }
    pawl__burst_close(burst);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    *out = found;
    return PAWL_OK;
}
