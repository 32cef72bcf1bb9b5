/* SPDX-License-Identifier: Apache-2.0 */
/* If and Switch: which of several activities runs. */
#include "activities/branching.h"

#include "activities/children.h"
#include "activities/descriptor.h"

/* ---- If ---------------------------------------------------------------------------------- */

static const struct pawl_input_descriptor if_inputs[] = {
    {
        .name = "Condition",
        .type = &pawl__type_boolean,
        .default_json = "false",
        .ui_hint = "singleline",
        .flags = PAWL_INPUT_DEFAULT_HIDDEN,
    },
};

static const struct pawl_output_descriptor if_outputs[] = {
    {.name = "Result", .type = &pawl__type_boolean},
};

static const struct pawl_port_descriptor if_ports[] = {
    {.name = "Then"},
    {.name = "Else"},
};

static int if_execute(struct pawl_context *context)
{
    bool condition = pawl__input_true(context, "Condition");
    int status = pawl__output_set(context, "Result", pawl__value_bool(condition));

    if (status != PAWL_OK)
        return status;
    return pawl__schedule_child(
        context, pawl__port_child(context->node, condition ? "Then" : "Else"), "OnChildCompleted");
}

static int if_child_completed(struct pawl_context *context,
                              const struct pawl_completion *completion)
{
    (void)completion;
    return pawl__complete(context, NULL);
}

static const struct pawl_completion_callback if_completions[] = {
    {"OnChildCompleted", if_child_completed},
    {NULL, NULL},
};

const struct pawl_activity pawl__activity_if = {
    .type = "Elsa.If",
    .version = 1,
    .category = "Branching",
    .description = "Runs one of two activities, depending on a condition.",
    PAWL_INPUTS(if_inputs),
    PAWL_OUTPUTS(if_outputs),
    PAWL_PORTS(if_ports),
    .execute = if_execute,
    .completions = if_completions,
};

/* ---- Switch ------------------------------------------------------------------------------ */

#define SCHEDULED "ScheduledActivityIds"

struct switch_case {
    struct pawl_expression condition;
    const struct pawl_node *node; /* NULL: a case that runs nothing */
};

struct switch_cases {
    struct switch_case *items;
    uint32_t count;
};

static const struct pawl_type case_list = {
    .kind = PAWL_TYPE_NAMED,
    .alias = PAWL_CLR_TYPE("System.Collections.Generic.ICollection`1[[Elsa.Workflows.Activities."
                           "SwitchCase, Elsa.Workflows.Core]], System.Private.CoreLib"),
};

static const char *const switch_modes[] = {"MatchFirst", "MatchAny", NULL};

static const struct pawl_type switch_mode = {
    .kind = PAWL_TYPE_ENUM,
    .alias = PAWL_CLR_TYPE("Elsa.Workflows.SwitchMode, Elsa.Workflows.Core"),
    .names = switch_modes,
};

static const struct pawl_input_descriptor switch_inputs[] = {
    {
        .name = "Cases",
        .type = &case_list,
        .description = "Conditions, each with the activity to run when it is true.",
        .ui_hint = "switch-editor",
        .flags = PAWL_INPUT_NAKED,
    },
    {
        .name = "Mode",
        .type = &switch_mode,
        .default_json = "\"MatchFirst\"",
        .description = "Whether the first case that matches runs, or all that do.",
        .ui_hint = "dropdown",
        .options_json = "{\"dropdown\":{\"selectList\":{\"items\":["
                        "{\"text\":\"MatchFirst\",\"value\":\"MatchFirst\"},"
                        "{\"text\":\"MatchAny\",\"value\":\"MatchAny\"}]}}}",
        .flags = PAWL_INPUT_DEFAULT_HIDDEN,
    },
};

static const struct pawl_output_descriptor switch_outputs[] = {
    {.name = "Output", .type = &pawl__type_object},
};

static const struct pawl_port_descriptor switch_ports[] = {
    {.name = "Default"},
};

static int load_case(struct pawl_loader *loader, struct pawl_node *node,
                     const struct pawl_json *json, uint32_t number, struct switch_case *out)
{
    struct pawl_arena *arena = pawl__loader_arena(loader);
    struct pawl_str label = pawl__json_str(pawl__json_get_nocase(json, pawl__str("label")));
    const struct pawl_json *condition = pawl__json_get_nocase(json, pawl__str("condition"));
    const char *pointer =
        pawl__arena_printf(arena, "%.*s/cases/%u", PAWL_STR_ARG(node->pointer), number);
    const char *condition_at = pointer ? pawl__arena_printf(arena, "%s/condition", pointer) : NULL;
    const char *activity_at = pointer ? pawl__arena_printf(arena, "%s/activity", pointer) : NULL;
    const char *port = pawl__arena_printf(arena, "%.*s", PAWL_STR_ARG(label));
    struct pawl_node *child = NULL;
    int status = PAWL_OK;

    if (!condition_at || !activity_at || !port)
        return pawl__refused(arena);
    if (condition && !pawl__json_is(condition, PAWL_JSON_NULL))
        status = pawl__loader_expression(loader, node, condition, condition_at, &out->condition);
    if (status == PAWL_OK)
        status = pawl__loader_child(loader, node, port,
                                    pawl__json_get_nocase(json, pawl__str("activity")), activity_at,
                                    &child);
    out->node = child;
    return status;
}

static int switch_load(struct pawl_loader *loader, struct pawl_node *node)
{
    const struct pawl_json *list = pawl__json_get_nocase(node->json, pawl__str("cases"));
    struct pawl_arena *arena = pawl__loader_arena(loader);
    struct switch_cases *cases = pawl__arena_alloc_zeroed(arena, sizeof *cases);
    uint32_t count = pawl__json_is(list, PAWL_JSON_ARRAY) ? pawl__json_len(list) : 0;

    if (!cases)
        return pawl__refused(arena);
    node->data = cases;
    if (count == 0)
        return PAWL_OK;
    cases->items = pawl__arena_alloc_zeroed(arena, count * sizeof *cases->items);
    if (!cases->items)
        return pawl__refused(arena);
    for (uint32_t i = 0; i < count; i++) {
        int status = load_case(loader, node, pawl__json_at(list, i), i, &cases->items[i]);

        if (status != PAWL_OK)
            return status;
        cases->count++;
    }
    return PAWL_OK;
}

static int condition_holds(struct pawl_context *context, const struct pawl_expression *condition,
                           bool *out)
{
    struct pawl_value value;
    int status;

    *out = false;
    if (!condition->ops)
        return PAWL_OK;
    status = pawl__expression_evaluate(context, condition, &pawl__type_boolean, &value);
    if (status == PAWL_OK)
        *out = pawl__json_true(&value.json);
    return status;
}

static int schedule_branch(struct pawl_context *context, const struct pawl_node *node)
{
    int status;

    if (!node)
        return PAWL_OK;
    status = pawl__text_set_add(context, SCHEDULED, node->id);
    if (status == PAWL_OK)
        status = pawl__schedule_child(context, node, "OnChildActivityCompletedAsync");
    return status;
}

/* All conditions are evaluated, also behind the one that decides: they may have effects. */
static int switch_execute(struct pawl_context *context)
{
    const struct switch_cases *cases = context->node->data;
    bool any = pawl__str_is(pawl__input_str(context, "Mode"), "MatchAny");
    uint32_t matches = 0;
    uint32_t *matching =
        pawl__arena_alloc_array(pawl__context_arena(context), cases->count + 1u, sizeof *matching);
    int status = PAWL_OK;

    if (!matching)
        return pawl__refused(pawl__context_arena(context));
    for (uint32_t i = 0; i < cases->count && status == PAWL_OK; i++) {
        bool holds;

        status = condition_holds(context, &cases->items[i].condition, &holds);
        if (status == PAWL_OK && holds)
            matching[matches++] = i;
    }
    for (uint32_t i = 0; i < matches && status == PAWL_OK && (any || i == 0); i++)
        status = schedule_branch(context, cases->items[matching[i]].node);
    if (status == PAWL_OK && matches == 0)
        status = schedule_branch(context, pawl__port_child(context->node, "Default"));
    if (status == PAWL_OK && pawl__text_set_len(context, SCHEDULED) == 0)
        status = pawl__complete(context, NULL);
    return status;
}

static int switch_child_completed(struct pawl_context *context,
                                  const struct pawl_completion *completion)
{
    int status = pawl__text_set_remove(context, SCHEDULED, completion->child->node->id);

    if (status == PAWL_OK && pawl__text_set_len(context, SCHEDULED) == 0)
        status = pawl__complete(context, NULL);
    return status;
}

static const struct pawl_completion_callback switch_completions[] = {
    {"OnChildActivityCompletedAsync", switch_child_completed},
    {NULL, NULL},
};

const struct pawl_activity pawl__activity_switch = {
    .type = "Elsa.Switch",
    .version = 1,
    .category = "Branching",
    .description = "Runs the activities of the cases whose condition is true, else the default.",
    PAWL_INPUTS(switch_inputs),
    PAWL_OUTPUTS(switch_outputs),
    PAWL_PORTS(switch_ports),
    .load = switch_load,
    .execute = switch_execute,
    .completions = switch_completions,
};
