/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elsa.Workflow, the root of every run, and workflows used as activities.
 *
 * A workflow used as an activity is two contexts: one of the definition's own type, which has the
 * inputs and outputs as variables, and below it an Elsa.Workflow with the definition's variables
 * and root. Complete inside it ends the inner one; what outcomes it had reach the outer one by the
 * remembered signal, since the cascade of completions in between carries none.
 */
#include "activities/workflow.h"

#include "activities/children.h"
#include "activities/descriptor.h"

/* The nearest composite above a Complete: the sender completes, then the composite if it has not
 * been completed by that already. */
static int composite_signal(struct pawl_context *context, struct pawl_signal *signal)
{
    int status;

    if (signal->kind != PAWL_SIGNAL_COMPLETE_COMPOSITE)
        return PAWL_OK;
    signal->stop = true;
    pawl__composite_signal_set(context, signal->outcomes);
    status = pawl__complete(signal->sender, NULL);
    if (status == PAWL_OK)
        status = pawl__complete(context, signal->outcomes);
    return status;
}

static const struct pawl_port_descriptor root_port[] = {
    {.name = "Root", .hidden = true},
};

/* ---- Elsa.Workflow ----------------------------------------------------------------------- */

static const struct pawl_output_descriptor workflow_outputs[] = {
    {.name = "Result", .type = &pawl__type_object},
};

static int workflow_execute(struct pawl_context *context)
{
    return pawl__schedule_child(context, pawl__port_child(context->node, "Root"),
                                "OnRootCompletedAsync");
}

static int workflow_root_completed(struct pawl_context *context,
                                   const struct pawl_completion *completion)
{
    (void)completion;
    return pawl__complete(context, NULL);
}

static const struct pawl_completion_callback workflow_completions[] = {
    {"OnRootCompletedAsync", workflow_root_completed},
    {NULL, NULL},
};

const struct pawl_activity pawl__activity_workflow = {
    .type = "Elsa.Workflow",
    .version = 1,
    .flags = PAWL_ACTIVITY_CONTAINER | PAWL_ACTIVITY_COMPOSITE | PAWL_ACTIVITY_NOT_BROWSABLE,
    .category = "Workflows",
    .description = "A whole workflow.",
    PAWL_OUTPUTS(workflow_outputs),
    PAWL_PORTS(root_port),
    .execute = workflow_execute,
    .signal = composite_signal,
    .completions = workflow_completions,
};

/* ---- workflows used as activities -------------------------------------------------------- */

/* The variables are one for each input, then one for each output, with the workflow's names. */
static int definition_execute(struct pawl_context *context)
{
    const struct pawl_node *node = context->node;
    uint32_t count = node->activity->input_count;
    int status = PAWL_OK;

    for (uint32_t i = 0; i < count && i < node->variable_count && status == PAWL_OK; i++)
        status = pawl__memory_declare(context, &node->variables[i],
                                      pawl__input(context, node->activity->inputs[i].name));
    if (status == PAWL_OK)
        status =
            pawl__schedule_child(context, pawl__port_child(node, "Root"), "OnChildCompletedAsync");
    return status;
}

/* Whether a type above the parent has an output of that name too: then names would collide. */
static bool is_declared_above(const struct pawl_context *context, const char *name)
{
    const struct pawl_context *above = context->parent ? context->parent->parent : NULL;

    for (; above; above = above->parent) {
        const struct pawl_activity *activity = above->node->activity;

        for (uint32_t i = 0; i < activity->output_count; i++) {
            if (strcmp(activity->outputs[i].name, name) == 0)
                return true;
        }
    }
    return false;
}

/*
 * What is bound counts before the workflow's own variable, also when it was there before: a
 * variable that already had a value keeps it unless the workflow set its output by SetOutput.
 */
static struct pawl_value collected_output(struct pawl_context *context, uint32_t number)
{
    const struct pawl_node *node = context->node;
    struct pawl_str reference = node->outputs[number].reference;
    uint32_t variable = node->activity->input_count + number;
    struct pawl_block *block =
        reference.len > 0 ? pawl__memory_find(context, reference, NULL) : NULL;

    if (block && !pawl__value_is_null(block->value))
        return block->value;
    block = variable < node->variable_count
                ? pawl__memory_find(context, node->variables[variable].id, NULL)
                : NULL;
    return block ? block->value : pawl__value_null();
}

static int map_output(struct pawl_context *context, uint32_t number)
{
    const struct pawl_output *output = &context->node->outputs[number];
    struct pawl_value value = collected_output(context, number);
    int status = PAWL_OK;

    if (is_declared_above(context, output->descriptor->name))
        status = pawl__output_bind(context, context->parent, output->reference,
                                   output->descriptor->type, value);
    if (status == PAWL_OK)
        status = pawl__output_set(context, output->descriptor->name, value);
    return status;
}

static int definition_child_completed(struct pawl_context *context,
                                      const struct pawl_completion *completion)
{
    const struct pawl_outcomes *outcomes = NULL;
    int status = PAWL_OK;

    (void)completion;
    if (!pawl__composite_signal_take(context, &outcomes))
        outcomes = NULL;
    for (uint32_t i = 0; i < context->node->activity->output_count && status == PAWL_OK; i++)
        status = map_output(context, i);
    return status == PAWL_OK ? pawl__complete(context, outcomes) : status;
}

static const struct pawl_completion_callback definition_completions[] = {
    {"OnChildCompletedAsync", definition_child_completed},
    {NULL, NULL},
};

const struct pawl_activity pawl__activity_workflow_definition = {
    .type = "Elsa.WorkflowDefinitionActivity",
    .version = 1,
    .flags = PAWL_ACTIVITY_CONTAINER | PAWL_ACTIVITY_COMPOSITE | PAWL_ACTIVITY_NOT_BROWSABLE,
    .category = "Workflows",
    .description = "Runs another workflow inside this one.",
    PAWL_PORTS(root_port),
    .execute = definition_execute,
    .signal = composite_signal,
    .completions = definition_completions,
};
