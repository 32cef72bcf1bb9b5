/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs: evaluated when an activity runs, kept for the burst, shown in activityState. Outputs. */
#include "engine/run/instance.h"

#include "base/assert.h"

/* ---- evaluating -------------------------------------------------------------------------- */

static int convert(struct pawl_context *context, struct pawl_value value,
                   const struct pawl_type *target, struct pawl_value *out)
{
    struct pawl_conversion how = pawl__context_conversion(context);
    struct pawl_exception raised;
    int status = pawl__convert(&how, value, target, out, &raised);

    return status == ENGINE_RAISED ? pawl__raise_exception(context, &raised) : status;
}

int pawl__expression_evaluate(struct pawl_context *context,
                              const struct pawl_expression *expression,
                              const struct pawl_type *target, struct pawl_value *out)
{
    struct pawl_value value = pawl__value_null();
    int status = PAWL_OK;

    if (expression->ops)
        status = expression->ops->evaluate(context, expression, target, &value);
    return status == PAWL_OK ? convert(context, value, target, out) : status;
}

/* *shown is what activityState has of it. */
static int evaluate_input(struct pawl_context *context, const struct pawl_input *input,
                          struct pawl_value *out, struct pawl_value *shown)
{
    const struct pawl_expression *expression = &input->expression;
    int status;

    *out = *shown = input->initial;
    if (!expression->ops)
        return PAWL_OK;
    status = expression->ops->evaluate(context, expression, input->descriptor->type, shown);
    if (status == PAWL_OK)
        status = convert(context, *shown, input->descriptor->type, out);
    if (status == PAWL_OK && !expression->ops->shown_unconverted)
        *shown = *out;
    return status;
}

static int show_state(struct pawl_context *context, const struct pawl_input *input,
                      struct pawl_value value)
{
    struct pawl_json stored;
    int status;

    if (input->descriptor->flags & (PAWL_INPUT_SENSITIVE | PAWL_INPUT_NOT_SERIALIZABLE))
        return PAWL_OK;
    if (!pawl__value_is_finite(&value.json)) /* what JSON cannot say is not shown */
        value = pawl__value_null();
    status = pawl__value_write(&context->burst->arena, value, &stored);
    if (status == PAWL_OK)
        status = pawl__json_set_text(&context->burst->arena, &context->activity_state,
                                     input->descriptor->name, stored);
    return status;
}

/*
 * Elsa loses the whole instance when it comes to storing such a value. Faulting the
 * activity that made it keeps the instance, and says who it was.
 */
int pawl__demand_storable(struct pawl_context *context, struct pawl_value value, const char *what,
                          struct pawl_str name)
{
    if (pawl__value_is_null(value) && value.type)
        return pawl__raise(context, "InvalidOperationException",
                           "%s '%.*s' is an undefined JsonElement, which cannot be stored: give it "
                           "a value that is JSON.",
                           what, PAWL_STR_ARG(name));
    if (pawl__value_is_finite(&value.json))
        return PAWL_OK;
    return pawl__raise(context, "ArgumentException",
                       "%s '%.*s' is infinite or not a number (NaN), which cannot be stored: check "
                       "the calculation that it comes from.",
                       what, PAWL_STR_ARG(name));
}

static int evaluate_one(struct pawl_context *context, const struct pawl_input *input,
                        struct pawl_value *value)
{
    struct pawl_value shown;
    int status;

    if (input->descriptor->flags & (PAWL_INPUT_NAKED | PAWL_INPUT_NO_AUTO_EVALUATE))
        return PAWL_OK;
    status = evaluate_input(context, input, value, &shown);
    if (status == ENGINE_RAISED)
        return pawl__raise_around(context, "InputEvaluationException",
                                  "Failed to evaluate activity input '%s'",
                                  input->descriptor->name);
    if (status == PAWL_OK)
        status = show_state(context, input, shown);
    return status;
}

int pawl__inputs_evaluate(struct pawl_context *context)
{
    const struct pawl_node *node = context->node;
    uint32_t count = node->activity->input_count;
    struct pawl_value *values;

    values = pawl__arena_alloc_zeroed(&context->burst->arena, (count + 1u) * sizeof *values);
    if (!values)
        return pawl__arena_status(&context->burst->arena);
    context->inputs = values;
    pawl__context_touch(context);
    for (uint32_t i = 0; i < count; i++) {
        int status = evaluate_one(context, &node->inputs[i], &values[i]);

        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

int pawl__composite_inputs_evaluate(struct pawl_context *context)
{
    for (struct pawl_context *above = context->parent; above; above = above->parent) {
        int status = PAWL_OK;

        if (above->node->activity->flags & PAWL_ACTIVITY_COMPOSITE && !above->inputs)
            status = pawl__inputs_evaluate(above);
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

/* ---- reading ----------------------------------------------------------------------------- */

static uint32_t input_number(const struct pawl_context *context, const char *name)
{
    const struct pawl_activity *activity = context->node->activity;

    for (uint32_t i = 0; i < activity->input_count; i++) {
        if (strcmp(activity->inputs[i].name, name) == 0)
            return i;
    }
    PAWL_ASSERT(false && "an activity asks for an input that its descriptor does not list");
    return 0;
}

struct pawl_value pawl__input(const struct pawl_context *context, const char *name)
{
    uint32_t number = input_number(context, name);

    return context->inputs ? context->inputs[number] : pawl__value_null();
}

struct pawl_str pawl__input_str(const struct pawl_context *context, const char *name)
{
    struct pawl_value value = pawl__input(context, name);

    return pawl__json_str(&value.json);
}

bool pawl__input_true(const struct pawl_context *context, const char *name)
{
    struct pawl_value value = pawl__input(context, name);

    return pawl__json_true(&value.json);
}

int64_t pawl__input_int(const struct pawl_context *context, const char *name, int64_t otherwise)
{
    struct pawl_value value = pawl__input(context, name);
    int64_t number;

    return pawl__json_to_int(&value.json, &number) ? number : otherwise;
}

const struct pawl_json *pawl__input_naked(const struct pawl_context *context, const char *name)
{
    return context->node->inputs[input_number(context, name)].naked;
}

int pawl__input_evaluate(struct pawl_context *context, const char *name, struct pawl_value *out)
{
    struct pawl_value shown;

    return evaluate_input(context, &context->node->inputs[input_number(context, name)], out,
                          &shown);
}

/* Whether a nested workflow surrounds the context: then its variables hide the run's inputs. */
static bool inside_nested_workflow(const struct pawl_context *context)
{
    for (; context; context = context->parent) {
        if (strcmp(context->node->activity->type, "Elsa.Workflow") == 0)
            return context->parent != NULL;
    }
    return false;
}

int pawl__run_value(struct pawl_context *context, const struct pawl_json *stored,
                    struct pawl_value *out)
{
    int status = pawl__value_read(&context->burst->arena, stored, out, NULL);

    if (status != PAWL_EPARSE)
        return status;
    *out = pawl__value_from_json(*stored);
    return PAWL_OK;
}

bool pawl__workflow_input(struct pawl_context *context, struct pawl_str name,
                          struct pawl_value *out)
{
    const struct pawl_json *stored;

    if (inside_nested_workflow(context) && pawl__variable_named(context, name, NULL))
        return pawl__variable_get(context, name, out);
    stored = pawl__json_get_nocase(&context->burst->input, name);
    if (!stored)
        return false;
    /* Out of memory shows at the arena's next call. */
    if (pawl__run_value(context, stored, out) != PAWL_OK)
        *out = pawl__value_from_json(*stored);
    return true;
}

/* ---- outputs ----------------------------------------------------------------------------- */

static const struct pawl_output *find_output(const struct pawl_context *context, const char *name)
{
    for (uint32_t i = 0; i < context->node->activity->output_count; i++) {
        if (strcmp(context->node->activity->outputs[i].name, name) == 0)
            return &context->node->outputs[i];
    }
    return NULL;
}

/* The record of an output under exactly this container; NULL. */
static const struct pawl_output_record *recorded_under(const struct pawl_context *container,
                                                       const struct pawl_node *node,
                                                       struct pawl_str name)
{
    const struct pawl_burst *burst = container->burst;

    for (uint32_t number = container->first_output; number > 0;) {
        const struct pawl_output_record *record = &burst->outputs.items[number - 1];

        if (record->node == node && pawl__str_equal(record->name, name))
            return record;
        number = record->next;
    }
    return NULL;
}

bool pawl__output_recorded(struct pawl_context *context, const struct pawl_node *node,
                           struct pawl_str name, struct pawl_value *out)
{
    const struct pawl_output_record *first = NULL;

    for (; context; context = context->parent) {
        const struct pawl_output_record *record = recorded_under(context, node, name);

        if (record && (!first || record < first))
            first = record;
    }
    if (first)
        *out = first->value;
    return first != NULL;
}

/* Only the first value under a container can ever be asked for: a loop adds nothing. */
int pawl__output_record_add(struct pawl_burst *burst, const struct pawl_output_record *record)
{
    struct pawl_context *container = record->container;
    int status;

    if (!container || recorded_under(container, record->node, record->name))
        return PAWL_OK;
    status = VECTOR_GROW(burst, &burst->outputs);
    if (status != PAWL_OK)
        return status;
    burst->outputs.items[burst->outputs.count] = *record;
    burst->outputs.items[burst->outputs.count].next = container->first_output;
    container->first_output = ++burst->outputs.count;
    return PAWL_OK;
}

static int record_output(struct pawl_context *context, struct pawl_str name,
                         struct pawl_value value)
{
    struct pawl_burst *burst = context->burst;
    struct pawl_output_record record = {
        .node = context->node,
        .context_id = context->id,
        .container = pawl__nearest_container(context->parent ? context->parent : context),
        .name = name,
        .value = value};
    struct pawl_json stored;
    int status = pawl__output_record_add(burst, &record);

    if (status != PAWL_OK)
        return status;
    if (pawl__str_is(name, "Result"))
        burst->last_result = value;
    pawl__context_touch(context);
    status = pawl__value_write(&burst->arena, value, &stored);
    if (status == PAWL_OK)
        status = pawl__json_set(&burst->arena, &context->outputs, name, stored);
    return status;
}

int pawl__workflow_output_set(struct pawl_context *context, struct pawl_str name,
                              struct pawl_value value)
{
    struct pawl_json stored;
    int status = pawl__demand_storable(context, value, "Workflow output", name);

    if (status == PAWL_OK)
        status = pawl__value_write(&context->burst->arena, value, &stored);
    if (status == PAWL_OK)
        status = pawl__json_set(&context->burst->arena, &context->burst->output, name, stored);
    return status;
}

static bool names_workflow_output(const struct pawl_context *context, struct pawl_str reference)
{
    const struct pawl_workflow *workflow = context->burst->graph->workflow;

    for (uint32_t i = 0; i < workflow->output_count; i++) {
        if (pawl__str_equal(workflow->outputs[i].name, reference))
            return true;
    }
    return false;
}

int pawl__output_bind(struct pawl_context *context, struct pawl_context *scope,
                      struct pawl_str reference, const struct pawl_type *type,
                      struct pawl_value value)
{
    struct pawl_conversion how = pawl__context_conversion(context);
    struct pawl_exception raised;
    struct pawl_value converted;
    int status;

    if (reference.len == 0)
        return PAWL_OK;
    status = pawl__convert(&how, value, type, &converted, &raised);
    if (status == ENGINE_RAISED)
        return pawl__raise_exception(context, &raised);
    if (status == PAWL_OK)
        status = pawl__memory_set(scope, reference, converted);
    if (status == PAWL_OK && names_workflow_output(context, reference))
        status = pawl__workflow_output_set(context, reference, value);
    return status;
}

int pawl__output_set(struct pawl_context *context, const char *name, struct pawl_value value)
{
    const struct pawl_output *output = find_output(context, name);
    int status;

    PAWL_ASSERT(output);
    status = pawl__demand_storable(context, value, "Output", pawl__str(name));
    if (status == PAWL_OK)
        status =
            pawl__output_bind(context, context, output->reference, output->descriptor->type, value);
    if (status == PAWL_OK)
        status = record_output(context, pawl__str(name), value);
    return status;
}

static const struct pawl_node *child_named(const struct pawl_context *container,
                                           struct pawl_str name)
{
    for (uint32_t i = 0; i < container->node->child_count; i++) {
        const struct pawl_node *child = container->node->children[i];

        if (pawl__str_equal(child->name, name) || pawl__str_equal(child->id, name))
            return child;
    }
    return NULL;
}

int pawl__output_from(struct pawl_context *context, struct pawl_str activity,
                      struct pawl_str output, struct pawl_value *out)
{
    const struct pawl_context *container = pawl__nearest_container(context);
    const struct pawl_node *node = container ? child_named(container, activity) : NULL;

    if (!node)
        return PAWL_ENOTFOUND;
    if (!pawl__output_recorded(context, node, output, out))
        *out = pawl__value_null();
    return PAWL_OK;
}

struct pawl_value pawl__last_result(const struct pawl_context *context)
{
    return context->burst->last_result;
}
