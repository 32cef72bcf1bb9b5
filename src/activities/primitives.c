/* SPDX-License-Identifier: Apache-2.0 */
/* Small activities that do one thing to the instance and complete. */
#include "activities/primitives.h"

#include "activities/children.h"
#include "activities/descriptor.h"

/* ---- SetVariable ------------------------------------------------------------------------- */

static const struct pawl_type variable_type = {
    .kind = PAWL_TYPE_NAMED,
    .alias = PAWL_CLR_TYPE("Elsa.Workflows.Memory.Variable, Elsa.Workflows.Core"),
};

static const struct pawl_input_descriptor set_variable_inputs[] = {
    {
        .name = "Variable",
        .type = &variable_type,
        .description = "The variable to set.",
        .ui_hint = "variable-picker",
        .flags = PAWL_INPUT_NAKED,
    },
    {
        .name = "Value",
        .type = &pawl__type_object,
        .description = "Its new value.",
        .ui_hint = "singleline",
    },
};

static int set_variable_execute(struct pawl_context *context)
{
    const struct pawl_json *target = pawl__input_naked(context, "Variable");
    struct pawl_str id = pawl__json_str(pawl__json_get_nocase(target, pawl__str("id")));
    const struct pawl_variable *variable = pawl__variable_with_id(context, id, NULL);
    struct pawl_conversion how = pawl__context_conversion(context);
    struct pawl_exception raised;
    struct pawl_value value;
    int status;

    if (!variable)
        return pawl__raise(context, "InvalidOperationException", "Variable '%.*s' not found.",
                           PAWL_STR_ARG(id));
    status = pawl__convert(&how, pawl__input(context, "Value"), variable->type, &value, &raised);
    if (status == ENGINE_RAISED)
        return pawl__raise_exception(context, &raised);
    if (status == PAWL_OK)
        status = pawl__memory_set(context, variable->id, value);
    return status;
}

const struct pawl_activity pawl__activity_set_variable = {
    .type = "Elsa.SetVariable",
    .version = 1,
    .flags = PAWL_ACTIVITY_AUTO_COMPLETE,
    .category = "Primitives",
    .description = "Gives a variable a new value.",
    PAWL_INPUTS(set_variable_inputs),
    .execute = set_variable_execute,
};

/* ---- SetName, Correlate ------------------------------------------------------------------ */

static const struct pawl_input_descriptor set_name_inputs[] = {
    {.name = "Value", .type = &pawl__type_string, .ui_hint = "singleline"},
};

static int set_name_execute(struct pawl_context *context)
{
    struct pawl_value value = pawl__input(context, "Value");

    if (pawl__value_is_null(value))
        return pawl__instance_name_set(context, pawl__str_make(NULL, 0));
    return pawl__instance_name_set(context, pawl__json_str(&value.json));
}

const struct pawl_activity pawl__activity_set_name = {
    .type = "Elsa.SetName",
    .version = 1,
    .flags = PAWL_ACTIVITY_AUTO_COMPLETE,
    .category = "Primitives",
    .description = "Names the workflow instance.",
    PAWL_INPUTS(set_name_inputs),
    .execute = set_name_execute,
};

static const struct pawl_input_descriptor correlate_inputs[] = {
    {
        .name = "CorrelationId",
        .type = &pawl__type_string,
        .description = "What the instance has in common with others, such as an order number.",
        .ui_hint = "singleline",
    },
};

static int correlate_execute(struct pawl_context *context)
{
    return pawl__correlation_set(context, pawl__input_str(context, "CorrelationId"));
}

const struct pawl_activity pawl__activity_correlate = {
    .type = "Elsa.Correlate",
    .version = 1,
    .flags = PAWL_ACTIVITY_AUTO_COMPLETE,
    .category = "Primitives",
    .description = "Sets the correlation id of the workflow instance.",
    PAWL_INPUTS(correlate_inputs),
    .execute = correlate_execute,
};

/* ---- SetOutput --------------------------------------------------------------------------- */

static const struct pawl_input_descriptor set_output_inputs[] = {
    {
        .name = "OutputName",
        .type = &pawl__type_string,
        .display_name = "Output",
        .description = "The output of the workflow to set.",
        .ui_hint = "output-picker",
        .flags = PAWL_INPUT_REQUIRED,
    },
    {
        .name = "OutputValue",
        .type = &pawl__type_object,
        .description = "Its value.",
        .ui_hint = "singleline",
    },
};

static const struct pawl_output *declared_output(const struct pawl_context *context,
                                                 struct pawl_str name)
{
    const struct pawl_activity *activity = context->node->activity;

    for (uint32_t i = 0; i < activity->output_count; i++) {
        if (pawl__str_is(name, activity->outputs[i].name))
            return &context->node->outputs[i];
    }
    return NULL;
}

/* The nearest context above the parent whose type has that output: a workflow used as activity. */
static struct pawl_context *output_owner(struct pawl_context *context, struct pawl_str name)
{
    struct pawl_context *above = context->parent ? context->parent->parent : NULL;

    while (above && !declared_output(above, name))
        above = above->parent;
    return above;
}

/* Inside a workflow used as activity: its output, the variable of that name, and what is bound. */
static int set_embedded_output(struct pawl_context *context, struct pawl_context *owner,
                               struct pawl_str name, struct pawl_value value)
{
    const struct pawl_output *output = declared_output(owner, name);
    int status;

    PAWL_ASSERT(output);
    status = pawl__output_set(owner, output->descriptor->name, value);
    if (status != PAWL_OK)
        return status;
    if (!owner->parent)
        return pawl__workflow_output_set(context, name, value);
    if (pawl__variable_named(context, name, NULL))
        status = pawl__variable_set(context, name, value);
    if (status == PAWL_OK)
        status = pawl__output_bind(owner, owner->parent, output->reference,
                                   output->descriptor->type, value);
    return status;
}

static int set_output_execute(struct pawl_context *context)
{
    struct pawl_str name = pawl__input_str(context, "OutputName");
    struct pawl_value value = pawl__input(context, "OutputValue");
    struct pawl_context *owner = output_owner(context, name);

    if (name.len == 0)
        return pawl__raise(context, "ArgumentNullException",
                           "SetOutput does not know which output to set: give it an output name.");
    if (!owner)
        return pawl__workflow_output_set(context, name, value);
    return set_embedded_output(context, owner, name, value);
}

const struct pawl_activity pawl__activity_set_output = {
    .type = "Elsa.SetOutput",
    .version = 1,
    .flags = PAWL_ACTIVITY_AUTO_COMPLETE,
    .category = "Composition",
    .description = "Sets an output of the workflow.",
    PAWL_INPUTS(set_output_inputs),
    .execute = set_output_execute,
};

/* ---- Fault ------------------------------------------------------------------------------- */

static const struct pawl_input_descriptor fault_inputs[] = {
    {
        .name = "Code",
        .type = &pawl__type_string,
        .description = "A code for the fault; 0 when empty.",
        .ui_hint = "singleline",
    },
    {
        .name = "Category",
        .type = &pawl__type_string,
        .description = "A category, such as HTTP or Business; General when empty.",
        .ui_hint = "singleline",
    },
    {
        .name = "FaultType",
        .type = &pawl__type_string,
        .display_name = "Type",
        .description = "A type, such as System or Business; System when empty.",
        .ui_hint = "singleline",
    },
    {
        .name = "Message",
        .type = &pawl__type_string,
        .description = "What went wrong.",
        .ui_hint = "singleline",
    },
};

static int fault_execute(struct pawl_context *context)
{
    struct pawl_value message = pawl__input(context, "Message");

    if (pawl__value_is_null(message))
        return pawl__raise(context, "FaultException",
                           "Exception of type 'Elsa.Workflows.Exceptions.FaultException' was "
                           "thrown.");
    return pawl__raise(context, "FaultException", "%.*s",
                       PAWL_STR_ARG(pawl__json_str(&message.json)));
}

const struct pawl_activity pawl__activity_fault = {
    .type = "Elsa.Fault",
    .version = 1,
    .category = "Primitives",
    .description = "Faults the workflow.",
    PAWL_INPUTS(fault_inputs),
    .execute = fault_execute,
};

/* ---- Finish, Complete -------------------------------------------------------------------- */

const struct pawl_activity pawl__activity_finish = {
    .type = "Elsa.Finish",
    .version = 1,
    .flags = PAWL_ACTIVITY_AUTO_COMPLETE | PAWL_ACTIVITY_TERMINAL,
    .category = "Primitives",
    .description = "Ends the whole workflow instance at once.",
    .execute = pawl__finish_workflow,
};

static const struct pawl_input_descriptor complete_inputs[] = {
    {
        .name = "Outcomes",
        .type = &pawl__type_object,
        .description = "The outcome or outcomes of the workflow.",
        .ui_hint = "outcome-picker",
        .default_syntax = "Object",
    },
};

static int text_of(struct pawl_context *context, struct pawl_value value, struct pawl_str *out)
{
    struct pawl_conversion how = pawl__context_conversion(context);
    struct pawl_exception raised;
    struct pawl_value text;
    int status = pawl__convert(&how, value, &pawl__type_string, &text, &raised);

    if (status == ENGINE_RAISED)
        return pawl__raise_exception(context, &raised);
    if (status == PAWL_OK)
        *out = pawl__json_str(&text.json);
    return status;
}

/* What counts as names of outcomes: a text, the elements of a list, a JSON scalar; else Done. */
static int outcome_names(struct pawl_context *context, struct pawl_value value,
                         struct pawl_outcomes *out)
{
    bool list = pawl__json_is(&value.json, PAWL_JSON_ARRAY);
    bool scalar = pawl__json_is(&value.json, PAWL_JSON_STRING) ||
                  (value.type && (value.type->kind == PAWL_TYPE_JSON_ELEMENT ||
                                  value.type->kind == PAWL_TYPE_JSON_NODE));
    uint32_t count = list ? pawl__json_len(&value.json) : 1;
    struct pawl_arena *arena = pawl__context_arena(context);
    struct pawl_str *names = pawl__arena_alloc_array(arena, count + 1u, sizeof *names);
    int status = PAWL_OK;

    if (!names)
        return pawl__refused(arena);
    names[0] = pawl__str("Done");
    for (uint32_t i = 0; i < count && list && status == PAWL_OK; i++)
        status = text_of(context, pawl__element(value, i), &names[i]);
    if (!list && scalar)
        status = text_of(context, value, &names[0]);
    *out = (struct pawl_outcomes){.names = names, .count = count};
    return status;
}

static int complete_execute(struct pawl_context *context)
{
    struct pawl_outcomes outcomes;
    struct pawl_signal signal = {.kind = PAWL_SIGNAL_COMPLETE_COMPOSITE, .outcomes = &outcomes};
    int status = outcome_names(context, pawl__input(context, "Outcomes"), &outcomes);

    return status == PAWL_OK ? pawl__signal_send(context, &signal) : status;
}

const struct pawl_activity pawl__activity_complete = {
    .type = "Elsa.Complete",
    .version = 1,
    .flags = PAWL_ACTIVITY_AUTO_COMPLETE | PAWL_ACTIVITY_TERMINAL,
    .category = "Composition",
    .description = "Completes the workflow around it with the given outcomes.",
    PAWL_INPUTS(complete_inputs),
    .execute = complete_execute,
};

/* ---- placeholders ------------------------------------------------------------------------ */

static int not_found_execute(struct pawl_context *context)
{
    return pawl__raise(context, "Exception",
                       "Activity type '%.*s' version '%u' could not be found.",
                       PAWL_STR_ARG(context->node->type), context->node->version);
}

const struct pawl_activity pawl__activity_not_found = {
    .type = "Elsa.NotFoundActivity",
    .version = 1,
    .flags = PAWL_ACTIVITY_NOT_BROWSABLE,
    .category = "System",
    .description = "Stands for an activity whose type is not known; faults when it runs.",
    .execute = not_found_execute,
};

/* Types that only hosts written for .NET can give a meaning: listed, so that designers know them.
 */
static int host_only_execute(struct pawl_context *context)
{
    return pawl__raise(context, "NotSupportedException",
                       "Activity type '%s' runs code of a .NET host and has no meaning here.",
                       context->node->activity->type);
}

const struct pawl_activity pawl__activity_inline = {
    .type = "Elsa.Inline",
    .version = 1,
    .flags = PAWL_ACTIVITY_NOT_BROWSABLE,
    .category = "Primitives",
    .description = "Runs code of the host.",
    .execute = host_only_execute,
};

const struct pawl_activity pawl__activity_dynamic = {
    .type = "Elsa.Workflows.Activities.DynamicActivity",
    .version = 1,
    .flags = PAWL_ACTIVITY_NOT_BROWSABLE,
    .category = "Activities",
    .execute = host_only_execute,
};
