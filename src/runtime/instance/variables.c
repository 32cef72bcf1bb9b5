/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the variables of an instance stand at. Only the engine knows: a burst is opened on the
 * stored state, and closed without a step. Nothing is claimed and nothing written.
 */
#include "runtime/runtime_private.h"

#include "base/error.h"
#include "engine/builder.h"
#include "engine/context.h"
#include "engine/run/instance.h"

struct reading {
    struct pawl_builder b;
    struct pawl_json *out;
};

static int read_variable(void *ctx, const struct pawl_variable *variable, struct pawl_value value)
{
    struct reading *reading = ctx;
    struct pawl_builder *b = &reading->b;
    struct pawl_json one = pawl__json_object(), plain;

    pawl__build_text(b, &one, "id", pawl__arena_str(b->arena, variable->id));
    pawl__build_text(b, &one, "name", pawl__arena_str(b->arena, variable->name));
    if (!pawl__value_is_null(value)) {
        if (b->status == PAWL_OK)
            b->status = pawl__json_copy(b->arena, &value.json, &plain);
        pawl__build(b, &one, "value", b->status == PAWL_OK ? plain : pawl__json_null());
    }
    pawl__build_append(b, reading->out, one);
    return b->status;
}

static int read_all(struct pawl_burst *burst, struct pawl_arena *arena, struct pawl_json *out)
{
    struct reading reading = {.b = {.arena = arena}, .out = out};
    struct pawl_context *context;
    int status = PAWL_OK;

    PAWL_FOR_EACH_CONTEXT(context, burst)
    {
        if (!context->parent && status == PAWL_OK)
            status = pawl__variables_visit(context, read_variable, &reading);
    }
    return status;
}

/* A burst is opened to look, and never stepped: for that, one that has ended waits. */
static int reopen(struct pawl_arena *arena, struct pawl_json *state, struct pawl_error *err)
{
    struct pawl_builder b = {.arena = arena};
    struct pawl_json copy = pawl__json_object();

    for (uint32_t i = 0; i < pawl__json_len(state); i++) {
        const struct pawl_json_member *member = pawl__json_member(state, i);

        pawl__build_member(&b, &copy, member->key, member->value);
    }
    pawl__build_name(&b, &copy, "status", "Running");
    pawl__build_name(&b, &copy, "subStatus", "Suspended");
    *state = copy;
    return b.status == PAWL_OK ? PAWL_OK : pawl__error_code(err, b.status);
}

int pawl__runtime_variables(struct pawl_runtime *runtime, struct pawl_str instance_id,
                            struct pawl_arena *arena, struct pawl_json *out, int64_t deadline_ns,
                            struct pawl_error *err)
{
    struct pawl_event event = {.kind = PAWL_EVENT_RUN};
    struct pawl_json state, list = pawl__json_array();
    struct pawl_burst *burst = NULL;
    struct pawl_graph *graph = NULL;
    struct pawl_instance_row row;
    int status = pawl__runtime_show(runtime, instance_id, arena, &row, &state, deadline_ns, err);

    if (status == PAWL_OK && pawl__str_is(row.status, "Finished"))
        status = reopen(arena, &state, err);
    if (status == PAWL_OK) {
        status =
            pawl__definitions_graph(runtime->definitions, row.version_id, &graph, deadline_ns, err);
        if (status == PAWL_OK) {
            event.now = pawl__us_to_ticks(row.updated_us);
            event.seed = pawl__runtime_burst_seed(runtime, row.id, row.revision);
            event.instance_id = row.id;
            status = pawl__burst_open(graph, &runtime->env->alloc, &state, &event, &burst, err);
        }
        if (status == PAWL_OK) {
            status = read_all(burst, arena, &list);
            if (status != PAWL_OK)
                (void)pawl__error_code(err, status);
        }
        pawl__burst_close(burst);
        pawl__graph_unref(graph);
    }
    if (status == PAWL_OK)
        *out = list;
    return status;
}
