/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The activities that steer a flowchart: decisions, forks and joins, its start and its end. What
 * follows from their outcomes is the flowchart's business.
 */
#include "activities/flowchart.h"

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof((array)[0]))

/* ---- FlowDecision -------------------------------------------------------------------------- */

static int decide(struct pawl_context *context)
{
    return pawl__complete_with(context, pawl__input_true(context, "Condition") ? "True" : "False");
}

static const struct pawl_input_descriptor decision_inputs[] = {
    {.name = "Condition",
     .type = &pawl__type_boolean,
     .description = "What is asked: the outcome is True or False.",
     .ui_hint = "singleline"},
};

static const struct pawl_port_descriptor decision_ports[] = {
    {.name = "True", .flow = true},
    {.name = "False", .flow = true},
};

const struct pawl_activity pawl__activity_flow_decision = {
    .type = "Elsa.FlowDecision",
    .version = 1,
    .category = "Branching",
    .display_name = "Decision",
    .description = "Goes on along True or False, as its condition says.",
    .inputs = decision_inputs,
    .input_count = COUNT(decision_inputs),
    .ports = decision_ports,
    .port_count = COUNT(decision_ports),
    .execute = decide,
};

/* ---- FlowSwitch ---------------------------------------------------------------------------- */

struct switch_case {
    struct pawl_str label;
    struct pawl_expression condition;
};

struct switch_data {
    struct switch_case *cases;
    uint32_t count;
};

static int load_case(struct pawl_loader *loader, struct pawl_node *node,
                     const struct pawl_json *json, uint32_t number, struct switch_case *out)
{
    struct pawl_arena *arena = pawl__loader_arena(loader);
    const struct pawl_json *condition = pawl__json_get_nocase(json, pawl__str("condition"));
    const char *pointer = pawl__arena_printf(arena, "%.*s/cases/%u/condition",
                                             PAWL_STR_ARG(node->pointer), (unsigned)number);

    if (!pointer)
        return pawl__flow_refused(arena);
    *out = (struct switch_case){
        .label = pawl__json_str(pawl__json_get_nocase(json, pawl__str("label")))};
    if (!pawl__json_is(condition, PAWL_JSON_OBJECT)) {
        pawl__loader_problem(loader, PAWL_PROBLEM_WARNING, node, pointer,
                             "the case '%.*s' has no condition and never matches",
                             PAWL_STR_ARG(out->label));
        return PAWL_OK;
    }
    return pawl__loader_expression(loader, node, condition, pointer, &out->condition);
}

static int load_switch(struct pawl_loader *loader, struct pawl_node *node)
{
    struct pawl_arena *arena = pawl__loader_arena(loader);
    const struct pawl_json *cases = pawl__json_get_nocase(node->json, pawl__str("cases"));
    struct switch_data *data = pawl__arena_alloc_zeroed(arena, sizeof *data);

    if (!data)
        return pawl__flow_refused(arena);
    if (pawl__json_is(cases, PAWL_JSON_OBJECT))
        cases = pawl__json_get_text(cases, "$values");
    if (!pawl__json_is(cases, PAWL_JSON_ARRAY))
        cases = NULL;
    data->cases =
        pawl__arena_alloc_array(arena, (size_t)pawl__json_len(cases) + 1, sizeof *data->cases);
    if (!data->cases)
        return pawl__flow_refused(arena);
    for (uint32_t i = 0; i < pawl__json_len(cases); i++) {
        int status =
            load_case(loader, node, pawl__json_at(cases, i), i, &data->cases[data->count++]);

        if (status != PAWL_OK)
            return status;
    }
    node->data = data;
    return PAWL_OK;
}

static int matches(struct pawl_context *context, const struct switch_case *candidate, bool *out)
{
    struct pawl_value value;
    int status;

    *out = false;
    if (!candidate->condition.ops)
        return PAWL_OK;
    status = pawl__expression_evaluate(context, &candidate->condition, &pawl__type_boolean, &value);
    if (status == PAWL_OK)
        *out = pawl__json_true(&value.json);
    return status;
}

/* Every condition is evaluated, also behind the first that holds: scripts may have effects. */
static int choose(struct pawl_context *context)
{
    const struct switch_data *data = context->node->data;
    struct pawl_arena *arena = pawl__context_arena(context);
    struct pawl_str *labels =
        pawl__arena_alloc_array(arena, (size_t)data->count + 1, sizeof *labels);
    struct pawl_outcomes outcomes = {.names = labels};

    if (!labels)
        return pawl__flow_refused(arena);
    for (uint32_t i = 0; i < data->count; i++) {
        bool match;
        int status = matches(context, &data->cases[i], &match);

        if (status != PAWL_OK)
            return status;
        if (match)
            labels[outcomes.count++] = data->cases[i].label;
    }
    if (outcomes.count == 0)
        labels[outcomes.count++] = pawl__str("Default");
    if (!pawl__str_is(pawl__input_str(context, "Mode"), "MatchAny"))
        outcomes.count = 1;
    return pawl__complete(context, &outcomes);
}

/* A type that only designers know. */
static const struct pawl_type switch_cases_type = {
    .kind = PAWL_TYPE_NAMED,
    .alias = "UnregisteredClrType:System.Collections.Generic.ICollection`1"
             "[[Elsa.Workflows.Activities.Flowchart.Models.FlowSwitchCase, Elsa.Workflows.Core]], "
             "System.Private.CoreLib",
};

static const char *const switch_modes[] = {"MatchFirst", "MatchAny", NULL};

static const struct pawl_type flow_switch_mode = {
    .kind = PAWL_TYPE_ENUM,
    .alias = "UnregisteredClrType:Elsa.Workflows.SwitchMode, Elsa.Workflows.Core",
    .names = switch_modes,
};

static const struct pawl_input_descriptor switch_inputs[] = {
    {.name = "Cases",
     .type = &switch_cases_type,
     .description = "Labels with a condition each; a label is an outcome.",
     .ui_hint = "flow-switch-editor",
     .flags = PAWL_INPUT_NAKED},
    {.name = "Mode",
     .type = &flow_switch_mode,
     .description = "Whether the first case that matches counts, or all that do.",
     .ui_hint = "dropdown",
     .options_json = "{\"dropdown\":{\"selectList\":{\"items\":["
                     "{\"text\":\"MatchFirst\",\"value\":\"MatchFirst\"},"
                     "{\"text\":\"MatchAny\",\"value\":\"MatchAny\"}]}}}"},
};

static const struct pawl_port_descriptor switch_ports[] = {
    {.name = "Default", .flow = true},
};

const struct pawl_activity pawl__activity_flow_switch = {
    .type = "Elsa.FlowSwitch",
    .version = 1,
    .category = "Branching",
    .display_name = "Switch (flow)",
    .description = "Goes on along the labels of the cases that match, or along Default.",
    .inputs = switch_inputs,
    .input_count = COUNT(switch_inputs),
    .ports = switch_ports,
    .port_count = COUNT(switch_ports),
    .load = load_switch,
    .execute = choose,
};

/* ---- FlowFork ------------------------------------------------------------------------------ */

static int branch_out(struct pawl_context *context)
{
    struct pawl_value branches = pawl__input(context, "Branches");
    struct pawl_arena *arena = pawl__context_arena(context);
    struct pawl_outcomes outcomes = {0};
    struct pawl_str *names;

    if (pawl__value_is_null(branches))
        return pawl__complete_with(context, "Done");
    names =
        pawl__arena_alloc_array(arena, (size_t)pawl__json_len(&branches.json) + 1, sizeof *names);
    if (!names)
        return pawl__flow_refused(arena);
    for (uint32_t i = 0; i < pawl__json_len(&branches.json); i++)
        names[outcomes.count++] = pawl__json_str(pawl__json_at(&branches.json, i));
    outcomes.names = names;
    return pawl__complete(context, &outcomes);
}

static const struct pawl_input_descriptor fork_inputs[] = {
    {.name = "Branches",
     .type = &pawl__type_string_list,
     .description = "The outcomes to follow, all at the same time.",
     .ui_hint = "dynamic-outcomes"},
};

const struct pawl_activity pawl__activity_flow_fork = {
    .type = "Elsa.FlowFork",
    .version = 1,
    .category = "Branching",
    .display_name = "Fork (flow)",
    .description = "Goes on along several branches at the same time.",
    .inputs = fork_inputs,
    .input_count = COUNT(fork_inputs),
    .execute = branch_out,
};

/* ---- FlowJoin ------------------------------------------------------------------------------ */

/* When to run it is decided by the flowchart; what still runs on the ways here is cancelled. */
static int join(struct pawl_context *context)
{
    struct pawl_context *parent = context->parent;
    int status = PAWL_OK;

    if (parent && parent->node->activity != &pawl__activity_flowchart)
        return pawl__raise(context, "InvalidOperationException",
                           "Activity context is not a flowchart.");
    if (parent)
        status = pawl__flowchart_cancel_ancestors(
            parent, pawl__flowchart_place(parent->node->data, context->node));
    return status == PAWL_OK ? pawl__complete(context, NULL) : status;
}

static const struct pawl_input_descriptor join_inputs[] = {
    {.name = "Mode",
     .type = &pawl__type_flow_join_mode,
     .default_json = "\"WaitAny\"",
     .description = "What it waits for: all branches, all that are active, or the first.",
     .ui_hint = "dropdown",
     .options_json = "{\"dropdown\":{\"selectList\":{\"items\":["
                     "{\"text\":\"WaitAll\",\"value\":\"WaitAll\"},"
                     "{\"text\":\"WaitAllActive\",\"value\":\"WaitAllActive\"},"
                     "{\"text\":\"WaitAny\",\"value\":\"WaitAny\"}]}}}"},
};

const struct pawl_activity pawl__activity_flow_join = {
    .type = "Elsa.FlowJoin",
    .version = 1,
    .category = "Branching",
    .display_name = "Join",
    .description = "Brings several branches together.",
    .inputs = join_inputs,
    .input_count = COUNT(join_inputs),
    .execute = join,
};

/* ---- FlowNode ------------------------------------------------------------------------------ */

#define BODY_COMPLETED "OnBodyCompletedAsync"

static int run_body(struct pawl_context *context)
{
    const struct pawl_node *node = context->node;

    return pawl__schedule_child(context, node->child_count > 0 ? node->children[0] : NULL,
                                BODY_COMPLETED);
}

static int body_completed(struct pawl_context *context, const struct pawl_completion *completion)
{
    (void)completion;
    return pawl__complete(context, NULL);
}

static const struct pawl_port_descriptor node_ports[] = {
    {.name = "Body"},
};

static const struct pawl_completion_callback node_completions[] = {
    {BODY_COMPLETED, body_completed},
    {NULL, NULL},
};

const struct pawl_activity pawl__activity_flow_node = {
    .type = "Elsa.FlowNode",
    .version = 1,
    .category = "Flow",
    .display_name = "Container",
    .description = "Holds one activity, so that it has a place of its own in a flowchart.",
    .ports = node_ports,
    .port_count = COUNT(node_ports),
    .execute = run_body,
    .completions = node_completions,
};

/* ---- Start, End ---------------------------------------------------------------------------- */

const struct pawl_activity pawl__activity_start = {
    .type = "Elsa.Start",
    .version = 1,
    .flags = PAWL_ACTIVITY_AUTO_COMPLETE | PAWL_ACTIVITY_START,
    .category = "Flow",
    .description = "Where a flowchart begins.",
};

const struct pawl_activity pawl__activity_end = {
    .type = "Elsa.End",
    .version = 1,
    .flags = PAWL_ACTIVITY_AUTO_COMPLETE | PAWL_ACTIVITY_TERMINAL,
    .category = "Flow",
    .description = "Ends the flowchart or sequence around it.",
};
