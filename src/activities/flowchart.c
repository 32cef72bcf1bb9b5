/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Flowchart activity: where it starts, when it is done, and what its two ways of deciding
 * (flowchart_counter.c, flowchart_token.c) share.
 */
#include "activities/flowchart.h"

#include "base/alloc.h"
#include "engine/engine.h"

/* ---- a context in this burst -------------------------------------------------------------- */

/*
 * Where this execution started. A trigger's choice is known in the first burst only; later the
 * counters remember it: what was visited first is what a trigger started, if it can start anything.
 */
static uint32_t choose_start(struct pawl_context *context, const struct pawl_flow_run *run)
{
    const struct pawl_flowchart *chart = run->chart;
    struct pawl_str trigger = pawl__trigger_activity_id(context);
    uint32_t start = PAWL_FLOW_NONE;

    if (trigger.len > 0)
        start = pawl__flow_names_find(run->ids, trigger);
    if (start != PAWL_FLOW_NONE)
        return start;
    start = pawl__flow_scope_first(pawl__property(context, "FlowScope"), run->ids);
    if (start != PAWL_FLOW_NONE && chart->node->children[start]->can_start_workflow)
        return start;
    return chart->graph.start;
}

static int choose_graph(struct pawl_context *context, struct pawl_flow_run *run)
{
    const struct pawl_flowchart *chart = run->chart;
    struct pawl_arena *arena = pawl__context_arena(context);
    uint32_t start = choose_start(context, run);
    struct pawl_flow_graph *graph;
    int status;

    run->graph = &chart->graph;
    if (start == chart->graph.start)
        return PAWL_OK;
    graph = pawl__arena_alloc(arena, sizeof *graph);
    if (!graph)
        return pawl__flow_refused(arena);
    status = pawl__flow_graph_build(arena, chart->connections, chart->connection_count,
                                    chart->node->child_count, start, graph);
    if (status == PAWL_OK)
        run->graph = graph;
    return status;
}

static int find_ids(struct pawl_context *context, struct pawl_flow_run *run)
{
    struct pawl_arena *arena = pawl__context_arena(context);
    struct pawl_flow_names *ids;
    int status;

    run->ids = &run->chart->ids;
    if (run->chart->ids_complete)
        return PAWL_OK;
    /* Some were given their ids after the flowchart was loaded. */
    ids = pawl__arena_alloc(arena, sizeof *ids);
    if (!ids)
        return pawl__flow_refused(arena);
    status = pawl__flowchart_ids(arena, run->chart->node, ids);
    if (status == PAWL_OK)
        run->ids = ids;
    return status;
}

int pawl__flow_run(struct pawl_context *context, struct pawl_flow_run **out)
{
    struct pawl_arena *arena = pawl__context_arena(context);
    struct pawl_flow_run *run = context->scratch;
    int status;

    if (run) {
        *out = run;
        return PAWL_OK;
    }
    run = pawl__arena_alloc_zeroed(arena, sizeof *run);
    if (!run)
        return pawl__flow_refused(arena);
    run->chart = context->node->data;
    status = find_ids(context, run);
    if (status == PAWL_OK)
        status = choose_graph(context, run);
    if (status == PAWL_OK) {
        run->backward = pawl__arena_alloc_zeroed(arena, (size_t)run->graph->connection_count + 1);
        status = run->backward ? PAWL_OK : pawl__flow_refused(arena);
    }
    if (status != PAWL_OK)
        return status;
    context->scratch = run;
    *out = run;
    return PAWL_OK;
}

uint32_t pawl__flowchart_place(const struct pawl_flowchart *chart, const struct pawl_node *node)
{
    struct pawl_node *const *children = chart->node->children;
    uint32_t low = 0;
    uint32_t high = chart->node->child_count;

    if (node->parent != chart->node)
        return PAWL_FLOW_NONE;
    /* Nodes are numbered in the order of the list. */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (children[middle]->index < node->index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < chart->node->child_count && children[low] == node ? low : PAWL_FLOW_NONE;
}

/* ---- scheduling, cancelling, completing --------------------------------------------------- */

int pawl__flowchart_schedule(struct pawl_context *context, uint32_t place, const char *callback,
                             const struct pawl_context *by)
{
    struct pawl_schedule schedule = {
        .node = context->node->children[place],
        .callback = callback,
        .tag = pawl__value_null(),
        .scheduled_by = by ? by->id : pawl__str(""),
    };

    return pawl__schedule(context, &schedule);
}

int pawl__flowchart_join_mode(struct pawl_context *context, const struct pawl_node *join,
                              enum pawl_join_mode *out)
{
    const struct pawl_input *input = &join->inputs[0];
    struct pawl_value value = input->initial;
    struct pawl_str name;
    int status = PAWL_OK;

    if (input->expression.ops)
        status =
            pawl__expression_evaluate(context, &input->expression, input->descriptor->type, &value);
    if (status != PAWL_OK)
        return status;
    name = pawl__json_str(&value.json);
    if (pawl__str_is(name, "WaitAny"))
        *out = PAWL_JOIN_WAIT_ANY;
    else if (pawl__str_is(name, "WaitAllActive"))
        *out = PAWL_JOIN_WAIT_ALL_ACTIVE;
    else
        *out = PAWL_JOIN_WAIT_ALL;
    return PAWL_OK;
}

static bool has_unended_child(const struct pawl_context *context)
{
    struct pawl_context *child = NULL;

    while ((child = pawl__next_child(context, child))) {
        if (!pawl__context_ended(child))
            return true;
    }
    return false;
}

static int cancel_marked(struct pawl_context *context, const bool *marks)
{
    const struct pawl_flowchart *chart = context->node->data;
    struct pawl_context *child = NULL;

    while ((child = pawl__next_child(context, child))) {
        uint32_t place = pawl__flowchart_place(chart, child->node);

        if (place != PAWL_FLOW_NONE && marks[place] && !pawl__context_ended(child)) {
            int status = pawl__cancel(child);

            if (status != PAWL_OK)
                return status;
        }
    }
    return PAWL_OK;
}

int pawl__flowchart_cancel_ancestors(struct pawl_context *context, uint32_t place)
{
    const struct pawl_allocator *alloc = pawl__context_arena(context)->alloc;
    struct pawl_flow_run *run;
    size_t size;
    bool *marks;
    int status;

    if (!has_unended_child(context))
        return PAWL_OK;
    status = pawl__flow_run(context, &run);
    if (status != PAWL_OK)
        return status;
    size = run->graph->activity_count * sizeof *marks;
    marks = pawl__alloc(alloc, size);
    if (!marks)
        return PAWL_ENOMEM;
    status = pawl__flow_graph_ancestors(run->graph, alloc, place, marks);
    if (status == PAWL_OK)
        status = cancel_marked(context, marks);
    pawl__free(alloc, marks, size);
    return status;
}

bool pawl__flowchart_has_work(const struct pawl_context *context, bool *faulted)
{
    struct pawl_context *child = NULL;

    *faulted = false;
    if (pawl__has_queued_below(context))
        return true;
    while ((child = pawl__next_child(context, child))) {
        if (child->status == PAWL_ACTIVITY_RUNNING)
            return true;
        *faulted = *faulted || child->status == PAWL_ACTIVITY_FAULTED;
    }
    return false;
}

int pawl__flowchart_complete_if_idle(struct pawl_context *context)
{
    bool faulted;

    if (pawl__flowchart_has_work(context, &faulted) || faulted)
        return PAWL_OK;
    return pawl__complete(context, NULL);
}

/* ---- the activity ------------------------------------------------------------------------- */

static int execute(struct pawl_context *context)
{
    struct pawl_flow_run *run;
    int status = pawl__flow_run(context, &run);

    if (status != PAWL_OK)
        return status;
    if (run->graph->start == PAWL_FLOW_NONE)
        return pawl__complete(context, NULL);
    return pawl__flowchart_schedule(context, run->graph->start, PAWL_FLOWCHART_CHILD_COMPLETED,
                                    NULL);
}

static int child_completed(struct pawl_context *context, const struct pawl_completion *completion)
{
    if (pawl__flow_mode(context) == PAWL_FLOW_TOKEN)
        return pawl__flowchart_token_completed(context, completion);
    return pawl__flowchart_counter_completed(context, completion);
}

static int receive(struct pawl_context *context, struct pawl_signal *signal)
{
    if (signal->kind == PAWL_SIGNAL_SCHEDULE_CHILD) {
        const struct pawl_schedule schedule = {
            .node = signal->child,
            .existing = signal->existing,
            .callback = pawl__flow_mode(context) == PAWL_FLOW_TOKEN
                            ? PAWL_FLOWCHART_CHILD_COMPLETED_TOKEN
                            : PAWL_FLOWCHART_CHILD_COMPLETED,
        };

        signal->stop = true;
        return pawl__schedule(context, &schedule);
    }
    if (signal->kind != PAWL_SIGNAL_CANCEL)
        return PAWL_OK;
    if (pawl__flow_mode(context) == PAWL_FLOW_TOKEN)
        return pawl__flowchart_token_canceled(context, signal->sender);
    return pawl__flowchart_counter_canceled(context, signal->sender);
}

static const struct pawl_port_descriptor ports[] = {
    {.name = "Activities", .many = true, .hidden = true},
};

static const struct pawl_completion_callback completions[] = {
    {PAWL_FLOWCHART_CHILD_COMPLETED, child_completed},
    {PAWL_FLOWCHART_CHILD_COMPLETED_TOKEN, pawl__flowchart_token_completed},
    {NULL, NULL},
};

const struct pawl_activity pawl__activity_flowchart = {
    .type = "Elsa.Flowchart",
    .version = 1,
    .kind = PAWL_ACTIVITY_ACTION,
    .flags = PAWL_ACTIVITY_CONTAINER | PAWL_ACTIVITY_NOT_BROWSABLE,
    .category = "Flow",
    .description = "Runs activities in the order that the connections between them draw.",
    .ports = ports,
    .port_count = sizeof ports / sizeof ports[0],
    .load = pawl__flowchart_load,
    .execute = execute,
    .signal = receive,
    .completions = completions,
};
