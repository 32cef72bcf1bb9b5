/* SPDX-License-Identifier: Apache-2.0 */
/*
 * While, For, ForEach and Break.
 *
 * A break sets a flag on the loop, which it looks at when its body completes. A loop without a body
 * completes at once: there is nothing that could change between its rounds.
 */
#include "activities/looping.h"

#include "activities/children.h"
#include "activities/descriptor.h"

static const struct pawl_port_descriptor body_port[] = {
    {.name = "Body"},
};

static const struct pawl_output_descriptor current_value_output[] = {
    {
        .name = "CurrentValue",
        .type = &pawl__type_object,
        .description = "The value of the present round.",
    },
};

/* A break ends here; a Complete inside cancels the loop on its way up to the composite. */
static int loop_signal(struct pawl_context *context, struct pawl_signal *signal)
{
    if (signal->kind == PAWL_SIGNAL_BREAK) {
        signal->stop = true;
        return pawl__set_breaking(context);
    }
    if (signal->kind == PAWL_SIGNAL_COMPLETE_COMPOSITE)
        return pawl__cancel(context);
    return PAWL_OK;
}

static int set_current_value(struct pawl_context *context, struct pawl_value value)
{
    return pawl__output_set(context, "CurrentValue", value);
}

/* ---- While ------------------------------------------------------------------------------- */

static const struct pawl_input_descriptor while_inputs[] = {
    {
        .name = "Condition",
        .type = &pawl__type_boolean,
        .default_json = "false",
        .ui_hint = "singleline",
        .flags = PAWL_INPUT_NO_AUTO_EVALUATE | PAWL_INPUT_DEFAULT_HIDDEN,
    },
};

/* Evaluated before each round, and shown like any other input. */
static int while_condition(struct pawl_context *context, bool *out)
{
    struct pawl_value value;
    int status = pawl__input_evaluate(context, "Condition", &value);

    if (status == ENGINE_RAISED)
        return pawl__raise_around(context, "InputEvaluationException",
                                  "Failed to evaluate activity input 'Condition'");
    if (status != PAWL_OK)
        return status;
    *out = pawl__json_true(&value.json);
    return pawl__json_set_text(pawl__context_arena(context), &context->activity_state, "Condition",
                               pawl__json_bool(*out));
}

static int while_next(struct pawl_context *context)
{
    const struct pawl_node *body = pawl__port_child(context->node, "Body");
    bool again = false;
    int status = PAWL_OK;

    if (!pawl__is_breaking(context))
        status = while_condition(context, &again);
    if (status != PAWL_OK)
        return status;
    if (!again || !body)
        return pawl__complete(context, NULL);
    return pawl__schedule_child(context, body, "OnBodyCompleted");
}

static int while_body_completed(struct pawl_context *context,
                                const struct pawl_completion *completion)
{
    (void)completion;
    return while_next(context);
}

static const struct pawl_completion_callback while_completions[] = {
    {"OnBodyCompleted", while_body_completed},
    {NULL, NULL},
};

const struct pawl_activity pawl__activity_while = {
    .type = "Elsa.While",
    .version = 1,
    .flags = PAWL_ACTIVITY_BREAKS,
    .category = "Looping",
    .description = "Runs its body again and again, as long as a condition is true.",
    PAWL_INPUTS(while_inputs),
    PAWL_PORTS(body_port),
    .execute = while_next,
    .signal = loop_signal,
    .completions = while_completions,
};

/* ---- For --------------------------------------------------------------------------------- */

#define CURRENT_STEP "CurrentStep"

static const struct pawl_input_descriptor for_inputs[] = {
    {
        .name = "Start",
        .type = &pawl__type_int32,
        .default_json = "0",
        .description = "The first value.",
        .ui_hint = "singleline",
        .flags = PAWL_INPUT_DEFAULT_HIDDEN,
    },
    {
        .name = "End",
        .type = &pawl__type_int32,
        .default_json = "0",
        .description = "The value at which to stop.",
        .ui_hint = "singleline",
        .flags = PAWL_INPUT_DEFAULT_HIDDEN,
    },
    {
        .name = "Step",
        .type = &pawl__type_int32,
        .default_json = "1",
        .description = "What is added after each round; a negative number counts down.",
        .ui_hint = "singleline",
        .flags = PAWL_INPUT_DEFAULT_HIDDEN,
    },
    {
        .name = "OuterBoundInclusive",
        .type = &pawl__type_boolean,
        .default_json = "true",
        .description = "Whether the last round has the value at which to stop.",
        .ui_hint = "checkbox",
    },
};

static bool within(int64_t value, int64_t end, bool up, bool inclusive)
{
    if (inclusive)
        return up ? value <= end : value >= end;
    return up ? value < end : value > end;
}

static int for_schedule(struct pawl_context *context, const struct pawl_node *body,
                        struct pawl_value current)
{
    struct pawl_schedule_variable variable = {.name = "CurrentValue", .value = current};
    struct pawl_schedule schedule = {
        .node = body, .callback = "OnChildComplete", .variables = &variable, .variable_count = 1};

    return pawl__schedule(context, &schedule);
}

/* The bounds are those of the burst's evaluation, not evaluated anew for each round. */
static int for_next(struct pawl_context *context)
{
    const struct pawl_node *body = pawl__port_child(context->node, "Body");
    int64_t step = pawl__input_int(context, "Step", 0);
    int64_t current = pawl__input_int(context, "Start", 0);
    struct pawl_value value;
    int status;

    if (pawl__property(context, CURRENT_STEP))
        current = pawl__property_int(context, CURRENT_STEP, current) + step;
    if (pawl__is_breaking(context) || !body ||
        !within(current, pawl__input_int(context, "End", 0), step >= 0,
                pawl__input_true(context, "OuterBoundInclusive")))
        return pawl__complete(context, NULL);
    value = pawl__value_int(current);
    status = for_schedule(context, body, value);
    if (status == PAWL_OK)
        status = pawl__property_set(context, CURRENT_STEP, pawl__json_int(current));
    if (status == PAWL_OK)
        status = set_current_value(context, value);
    return status;
}

static int for_body_completed(struct pawl_context *context,
                              const struct pawl_completion *completion)
{
    (void)completion;
    return for_next(context);
}

static const struct pawl_completion_callback for_completions[] = {
    {"OnChildComplete", for_body_completed},
    {NULL, NULL},
};

const struct pawl_activity pawl__activity_for = {
    .type = "Elsa.For",
    .version = 1,
    .flags = PAWL_ACTIVITY_BREAKS,
    .category = "Looping",
    .description = "Counts from one number to another and runs its body for each.",
    PAWL_INPUTS(for_inputs),
    PAWL_OUTPUTS(current_value_output),
    PAWL_PORTS(body_port),
    .execute = for_next,
    .signal = loop_signal,
    .completions = for_completions,
};

/* ---- ForEach ----------------------------------------------------------------------------- */

#define CURRENT_INDEX "CurrentIndex"

/* An interface: what does not convert to it faults, as in Elsa. */
static const struct pawl_type object_collection = {
    .kind = PAWL_TYPE_ICOLLECTION,
    .element = &pawl__type_object,
};

static const struct pawl_input_descriptor for_each_inputs[] = {
    {
        .name = "Items",
        .type = &object_collection,
        .default_json = "[]",
        .description = "What to go through.",
        .ui_hint = "dropdown",
        .flags = PAWL_INPUT_DEFAULT_HIDDEN,
    },
};

static int for_each_schedule(struct pawl_context *context, const struct pawl_node *body,
                             int64_t index, struct pawl_value current)
{
    struct pawl_schedule_variable variables[] = {
        {.name = "CurrentIndex", .value = pawl__value_int(index)},
        {.name = "CurrentValue", .value = current},
    };
    struct pawl_schedule schedule = {.node = body,
                                     .callback = "OnChildCompleted",
                                     .variables = variables,
                                     .variable_count = PAWL_COUNT(variables)};

    return pawl__schedule(context, &schedule);
}

static int for_each_next(struct pawl_context *context)
{
    const struct pawl_node *body = pawl__port_child(context->node, "Body");
    struct pawl_value items = pawl__input(context, "Items");
    int64_t index = pawl__property_int(context, CURRENT_INDEX, 0);
    struct pawl_value current;
    int status;

    if (pawl__is_breaking(context))
        return pawl__complete(context, NULL);
    if (pawl__value_is_null(items))
        return pawl__raise(context, "ArgumentNullException",
                           "Value cannot be null. (Parameter 'source')");
    if (index < 0 || index >= pawl__json_len(&items.json))
        return pawl__complete(context, NULL);
    current = pawl__element(items, (uint32_t)index);
    status = set_current_value(context, current);
    if (status == PAWL_OK && !body)
        return pawl__complete(context, NULL);
    if (status == PAWL_OK)
        status = for_each_schedule(context, body, index, current);
    if (status == PAWL_OK)
        status = pawl__property_set(context, CURRENT_INDEX, pawl__json_int(index + 1));
    return status;
}

static int for_each_body_completed(struct pawl_context *context,
                                   const struct pawl_completion *completion)
{
    (void)completion;
    return for_each_next(context);
}

static const struct pawl_completion_callback for_each_completions[] = {
    {"OnChildCompleted", for_each_body_completed},
    {NULL, NULL},
};

const struct pawl_activity pawl__activity_for_each = {
    .type = "Elsa.ForEach",
    .version = 1,
    .flags = PAWL_ACTIVITY_BREAKS,
    .category = "Looping",
    .description = "Goes through a collection and runs its body for each item.",
    PAWL_INPUTS(for_each_inputs),
    PAWL_OUTPUTS(current_value_output),
    PAWL_PORTS(body_port),
    .execute = for_each_next,
    .signal = loop_signal,
    .completions = for_each_completions,
};

/* ---- Break ------------------------------------------------------------------------------- */

static int break_execute(struct pawl_context *context)
{
    struct pawl_signal signal = {.kind = PAWL_SIGNAL_BREAK};

    return pawl__signal_send(context, &signal);
}

const struct pawl_activity pawl__activity_break = {
    .type = "Elsa.Break",
    .version = 1,
    .flags = PAWL_ACTIVITY_AUTO_COMPLETE | PAWL_ACTIVITY_TERMINAL,
    .category = "Looping",
    .description = "Leaves the innermost loop around it.",
    .execute = break_execute,
};
