/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Problems that are seen only in a whole workflow: outputs bound to nothing, activities that
 * nothing leads to. All in time linear in the workflow.
 */
#include "base/alloc.h"
#include "engine/load/links.h"
#include "engine/load/loader.h"

/* ---- outputs ----------------------------------------------------------------------------- */

/* What an output may be bound to at the node being looked at: an id -> the node that declares. */
struct scope {
    struct pawl_map ids;
    const struct pawl_node *at; /* innermost node entered */
};

static int open_scope(struct scope *scope, struct pawl_node *node)
{
    const struct pawl_workflow *workflow = node->workflow;
    int status = PAWL_OK;

    for (uint32_t i = 0; i < node->variable_count && status == PAWL_OK; i++) {
        if (!pawl__map_has(&scope->ids, node->variables[i].id))
            status = pawl__map_put(&scope->ids, node->variables[i].id, node);
    }
    for (uint32_t i = 0; workflow && i < workflow->output_count && status == PAWL_OK; i++) {
        if (!pawl__map_has(&scope->ids, workflow->outputs[i].name))
            status = pawl__map_put(&scope->ids, workflow->outputs[i].name, node);
    }
    scope->at = node;
    return status;
}

static void close_id(struct scope *scope, struct pawl_str id)
{
    if (pawl__map_get(&scope->ids, id) == scope->at)
        (void)pawl__map_remove(&scope->ids, id);
}

static void close_scope(struct scope *scope)
{
    const struct pawl_node *node = scope->at;

    for (uint32_t i = 0; i < node->variable_count; i++)
        close_id(scope, node->variables[i].id);
    for (uint32_t i = 0; node->workflow && i < node->workflow->output_count; i++)
        close_id(scope, node->workflow->outputs[i].name);
    scope->at = node->parent;
}

/* Variables that loops and dispatchers declare for what they schedule. */
static bool is_dynamic(struct pawl_str id)
{
    return pawl__str_is(id, "currentValueVariable") || pawl__str_is(id, "currentIndexVariable") ||
           pawl__str_is(id, "childInstanceIdVariable");
}

static void check_outputs(struct pawl_loader *loader, const struct scope *scope,
                          const struct pawl_node *node)
{
    for (uint32_t i = 0; i < node->activity->output_count; i++) {
        const struct pawl_output *output = &node->outputs[i];

        if (output->reference.len == 0 || is_dynamic(output->reference) ||
            pawl__map_has(&scope->ids, output->reference))
            continue;
        pawl__loader_problem(loader, PAWL_PROBLEM_WARNING, node, NULL,
                             "the output '%s' is bound to '%.*s', which is no variable in scope "
                             "and no output of the workflow",
                             output->descriptor->name, PAWL_STR_ARG(output->reference));
    }
}

/* ---- flowcharts -------------------------------------------------------------------------- */

#define NO_EDGE UINT32_MAX

struct edge {
    uint32_t target; /* child number */
    uint32_t next;   /* edge of the same source, or NO_EDGE */
};

/* The children of one flowchart as a graph of their numbers. */
struct chart {
    const struct pawl_node *node;
    const struct pawl_allocator *alloc;
    struct pawl_map numbers; /* id -> a place in children */
    uint32_t *first;         /* per child: first edge */
    uint32_t *queue;         /* children reached, in order */
    bool *reached;
    bool *targeted;
    struct edge *edges;
    uint32_t edge_count;
    uint32_t edge_cap;
    uint32_t queued;
};

static void release_chart(struct chart *chart)
{
    uint32_t count = chart->node->child_count;

    pawl__map_release(&chart->numbers);
    pawl__free(chart->alloc, chart->first, count * sizeof *chart->first);
    pawl__free(chart->alloc, chart->queue, count * sizeof *chart->queue);
    pawl__free(chart->alloc, chart->reached, count * sizeof *chart->reached);
    pawl__free(chart->alloc, chart->targeted, count * sizeof *chart->targeted);
    pawl__free(chart->alloc, chart->edges, chart->edge_cap * sizeof *chart->edges);
}

static int init_chart(struct pawl_loader *loader, struct chart *chart, const struct pawl_node *node)
{
    const struct pawl_allocator *alloc = loader->arena->alloc;
    uint32_t count = node->child_count;
    int status = PAWL_OK;

    *chart = (struct chart){.node = node, .alloc = alloc};
    pawl__map_init(&chart->numbers, alloc, loader->engine->activities.seed);
    chart->first = pawl__alloc(alloc, count * sizeof *chart->first);
    chart->queue = pawl__alloc(alloc, count * sizeof *chart->queue);
    chart->reached = pawl__alloc_zeroed(alloc, count * sizeof *chart->reached);
    chart->targeted = pawl__alloc_zeroed(alloc, count * sizeof *chart->targeted);
    if (!chart->first || !chart->queue || !chart->reached || !chart->targeted)
        return PAWL_ENOMEM;
    for (uint32_t i = 0; i < count && status == PAWL_OK; i++) {
        chart->first[i] = NO_EDGE;
        if (!pawl__map_has(&chart->numbers, node->children[i]->id))
            status = pawl__map_put(&chart->numbers, node->children[i]->id, &node->children[i]);
    }
    return status;
}

static int add_edge(struct chart *chart, uint32_t source, uint32_t target)
{
    if (chart->edge_count == chart->edge_cap) {
        uint32_t cap = chart->edge_cap ? chart->edge_cap * 2 : 16;
        struct edge *grown = pawl__realloc(chart->alloc, chart->edges,
                                           chart->edge_cap * sizeof *grown, cap * sizeof *grown);

        if (!grown)
            return PAWL_ENOMEM;
        chart->edges = grown;
        chart->edge_cap = cap;
    }
    chart->edges[chart->edge_count] = (struct edge){target, chart->first[source]};
    chart->first[source] = chart->edge_count++;
    chart->targeted[target] = true;
    return PAWL_OK;
}

static int add_edges(struct chart *chart)
{
    struct pawl_node **children = chart->node->children;
    struct pawl_link link;
    uint32_t at = 0;
    int status = PAWL_OK;

    while (status == PAWL_OK && pawl__links_next(chart->node, &at, &link)) {
        struct pawl_node **source = pawl__map_get(&chart->numbers, link.source);
        struct pawl_node **target = pawl__map_get(&chart->numbers, link.target);

        if (source && target) /* else the flowchart's own load says it */
            status = add_edge(chart, (uint32_t)(source - children), (uint32_t)(target - children));
    }
    return status;
}

static void reach(struct chart *chart, uint32_t child)
{
    if (chart->reached[child])
        return;
    chart->reached[child] = true;
    chart->queue[chart->queued++] = child;
}

/* The one that starts, by the rule of flowcharts, and every one that a trigger may start at. */
static void reach_starts(struct chart *chart)
{
    struct pawl_node **children = chart->node->children;
    uint32_t count = chart->node->child_count;
    uint32_t untargeted = count;

    for (uint32_t i = 0; i < count; i++) {
        if (children[i]->can_start_workflow)
            reach(chart, i);
        if (untargeted == count && !chart->targeted[i])
            untargeted = i;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (children[i]->activity->flags & PAWL_ACTIVITY_START) {
            reach(chart, i);
            return;
        }
    }
    if (chart->queued == 0)
        reach(chart, untargeted < count ? untargeted : 0);
}

static int check_flowchart(struct pawl_loader *loader, const struct pawl_node *node)
{
    struct chart chart;
    int status = init_chart(loader, &chart, node);

    if (status == PAWL_OK)
        status = add_edges(&chart);
    if (status == PAWL_OK)
        reach_starts(&chart);
    for (uint32_t i = 0; status == PAWL_OK && i < chart.queued; i++) {
        for (uint32_t e = chart.first[chart.queue[i]]; e != NO_EDGE; e = chart.edges[e].next)
            reach(&chart, chart.edges[e].target);
    }
    for (uint32_t i = 0; status == PAWL_OK && i < node->child_count; i++) {
        if (!chart.reached[i])
            pawl__loader_problem(loader, PAWL_PROBLEM_WARNING, node->children[i], NULL,
                                 "no connection leads from the start to '%.*s': it never runs",
                                 PAWL_STR_ARG(node->children[i]->id));
    }
    release_chart(&chart);
    return status;
}

static void check_sequence(struct pawl_loader *loader, const struct pawl_node *node)
{
    for (uint32_t i = 1; i < node->child_count; i++) {
        const struct pawl_node *before = node->children[i - 1];

        if (!(before->activity->flags & PAWL_ACTIVITY_TERMINAL))
            continue;
        pawl__loader_problem(loader, PAWL_PROBLEM_WARNING, node->children[i], NULL,
                             "'%.*s' before it ends the sequence: it never runs",
                             PAWL_STR_ARG(before->id));
        return;
    }
}

/* ---- a workflow -------------------------------------------------------------------------- */

static int check_node(struct pawl_loader *loader, struct scope *scope, struct pawl_node *node)
{
    int status;

    while (scope->at && scope->at != node->parent)
        close_scope(scope);
    check_outputs(loader, scope, node);
    if (pawl__str_is(node->type, PAWL_ACTIVITY_SEQUENCE))
        check_sequence(loader, node);
    status = open_scope(scope, node);
    if (status == PAWL_OK && pawl__links_has(node) && node->child_count > 0)
        status = check_flowchart(loader, node);
    return status;
}

int pawl__loader_check(struct pawl_loader *loader, struct pawl_node **list, uint32_t count)
{
    uint32_t skip_below = UINT32_MAX; /* depth of the embedded workflow that is passed over */
    struct scope scope = {.at = list[0]->parent};
    int status = PAWL_OK;

    if (!loader->problems || loader->muted > 0)
        return PAWL_OK;
    pawl__map_init(&scope.ids, loader->arena->alloc, loader->engine->activities.seed);
    if (list[0]->parent) /* an embedded one: its arguments are variables around it */
        status = open_scope(&scope, list[0]->parent);
    for (uint32_t i = 0; i < count && status == PAWL_OK; i++) {
        struct pawl_node *node = list[i];

        node->index = i == 0 ? 0 : node->parent->index + 1;
        if (node->index > skip_below)
            continue;
        skip_below = i > 0 && node->workflow ? node->index : UINT32_MAX;
        status = check_node(loader, &scope, node);
    }
    pawl__map_release(&scope.ids);
    return status;
}
