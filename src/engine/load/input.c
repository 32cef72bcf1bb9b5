/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs, outputs and expressions.
 *
 * An input is {"typeName":…, "expression":{"type":…, "value":…}}, or a plain value that counts as
 * a literal of its text. What Elsa drops without a word (no typeName, an unknown
 * expression type) is dropped here too, with a problem.
 */
#include "engine/convert/convert.h"
#include "engine/load/loader.h"

/* The languages whose value is an object with a meaning; that of all others is text or a scalar. */
static bool keeps_objects(struct pawl_str type)
{
    return pawl__str_is(type, "Variable") || pawl__str_is(type, "Input");
}

/* ---- expressions ------------------------------------------------------------------------- */

static void report_unknown_expression(struct pawl_loader *loader, const struct pawl_node *node,
                                      const char *pointer, struct pawl_str type)
{
    if (type.len == 0)
        pawl__loader_problem(loader, PAWL_PROBLEM_ERROR, node, pointer,
                             "the expression has no \"type\": it counts as not set");
    else
        pawl__loader_problem(loader, PAWL_PROBLEM_ERROR, node, pointer,
                             "unknown expression type '%.*s': it counts as not set",
                             PAWL_STR_ARG(type));
}

/* {"type":null} is a literal; without the key nothing is meant. */
static struct pawl_str expression_type(const struct pawl_json *json)
{
    const struct pawl_json *type = pawl__json_get_nocase(json, pawl__str("type"));

    if (type && pawl__json_is(type, PAWL_JSON_NULL))
        return pawl__str("Literal");
    return pawl__json_str(type);
}

/* Studio writes the variable, or the input, as JSON in a text. */
static int unpack_object(struct pawl_loader *loader, struct pawl_json *value)
{
    struct pawl_json object;
    int status = pawl__json_parse(loader->arena, pawl__json_str(value), NULL, &object, NULL, NULL);

    if (status == PAWL_OK && pawl__json_is(&object, PAWL_JSON_OBJECT))
        *value = object;
    return status == PAWL_ENOMEM ? status : PAWL_OK;
}

/* Strings, numbers and booleans stay; objects and arrays are worth their JSON text. */
static int expression_value(struct pawl_loader *loader, struct pawl_str type,
                            const struct pawl_json *json, struct pawl_json *out)
{
    const struct pawl_json *value = pawl__loader_get(json, "value");
    struct pawl_str text;
    int status;

    if (keeps_objects(type) && pawl__json_is(value, PAWL_JSON_STRING)) {
        *out = *value;
        return unpack_object(loader, out);
    }
    if (!value || pawl__json_type(value) < PAWL_JSON_ARRAY || keeps_objects(type)) {
        *out = value ? *value : pawl__json_null();
        return PAWL_OK;
    }
    status = pawl__loader_text(loader, value, &text);
    if (status == PAWL_OK)
        *out = pawl__json_string(text);
    return status;
}

void pawl__loader_check_expression(struct pawl_loader *loader, const struct pawl_node *node,
                                   const char *pointer, const struct pawl_expression *expression)
{
    char message[256] = "";

    if (!loader->problems || !expression->ops || !expression->ops->check)
        return;
    if (!expression->ops->check(loader->engine, expression, message, sizeof message))
        pawl__loader_problem(loader, PAWL_PROBLEM_ERROR, node, pointer, "%s", message);
}

int pawl__loader_expression(struct pawl_loader *loader, struct pawl_node *node,
                            const struct pawl_json *json, const char *pointer,
                            struct pawl_expression *out)
{
    struct pawl_expression expression = {.ops = NULL};
    struct pawl_str type;
    int status;

    if (!json || pawl__json_is(json, PAWL_JSON_NULL)) {
        *out = expression;
        return PAWL_OK;
    }
    if (!pawl__json_is(json, PAWL_JSON_OBJECT))
        return pawl__loader_fail(loader, pointer, "expected an expression object, found %s",
                                 pawl__loader_found(json));
    type = expression_type(json);
    status = expression_value(loader, type, json, &expression.value);
    if (status != PAWL_OK)
        return status;
    expression.ops = pawl__engine_expression(loader->engine, type);
    if (expression.ops)
        pawl__loader_check_expression(loader, node, pointer, &expression);
    else
        report_unknown_expression(loader, node, pointer, type);
    *out = expression;
    return PAWL_OK;
}

/* ---- inputs ------------------------------------------------------------------------------ */

/* Converts a descriptor's default. A default that does not convert is a bug of its type. */
static int read_default(struct pawl_loader *loader, const struct pawl_input_descriptor *input,
                        struct pawl_value *out)
{
    struct pawl_conversion how = {.arena = loader->arena, .strict = false};
    struct pawl_exception raised = {.inner = NULL};
    struct pawl_json json;
    int status;

    *out = pawl__value_null();
    if (!input->default_json)
        return PAWL_OK;
    status = pawl__json_parse(loader->arena, pawl__str(input->default_json), NULL, &json, NULL,
                              loader->err);
    if (status == PAWL_OK)
        status = pawl__convert(&how, pawl__value_from_json(json), input->type, out, &raised);
    if (status == ENGINE_RAISED)
        status = pawl__error_set(loader->err, PAWL_EINTERNAL,
                                 "the default of input '%s' does not convert: %.*s", input->name,
                                 PAWL_STR_ARG(raised.message));
    return status;
}

static int make_shape(struct pawl_loader *loader, const struct pawl_activity *activity,
                      struct loader_shape *shape)
{
    size_t keys = (size_t)activity->input_count + activity->output_count + activity->port_count;
    const char **key = pawl__arena_alloc_array(loader->arena, keys, sizeof(char *));
    struct pawl_value *defaults =
        pawl__arena_alloc_array(loader->arena, activity->input_count, sizeof *defaults);

    if (!key || !defaults)
        return loader_memory(loader);
    *shape = (struct loader_shape){.activity = activity, .defaults = defaults, .input_keys = key};
    for (uint32_t i = 0; i < activity->input_count; i++) {
        int status = read_default(loader, &activity->inputs[i], &defaults[i]);

        if (status != PAWL_OK)
            return status;
        *key++ = activity->inputs[i].key ? activity->inputs[i].key
                                         : pawl__loader_camel(loader, activity->inputs[i].name);
    }
    shape->output_keys = key;
    for (uint32_t i = 0; i < activity->output_count; i++)
        *key++ = pawl__loader_camel(loader, activity->outputs[i].name);
    shape->port_keys = key;
    for (uint32_t i = 0; i < activity->port_count; i++)
        *key++ = pawl__loader_camel(loader, activity->ports[i].name);
    return loader->arena->status;
}

int pawl__loader_shape(struct pawl_loader *loader, const struct pawl_activity *activity,
                       const struct loader_shape **out)
{
    const void *address = activity;
    struct loader_shape *shape = pawl__map_get(&loader->shapes, pawl__loader_address(&address));
    int status;

    if (shape) {
        *out = shape;
        return PAWL_OK;
    }
    shape = pawl__arena_alloc(loader->arena, sizeof *shape);
    if (!shape)
        return loader_memory(loader);
    status = make_shape(loader, activity, shape);
    if (status == PAWL_OK)
        status = pawl__map_put(&loader->shapes, pawl__loader_address(&shape->activity), shape);
    if (status == PAWL_OK)
        *out = shape;
    return status;
}

/* A literal whose text is no member as written faults when it is evaluated: names have a case. */
static void check_enum(struct pawl_loader *loader, const struct pawl_node *node, const char *key,
                       const struct pawl_input *input)
{
    const struct pawl_type *type = input->descriptor->type;
    const struct pawl_json *value = &input->expression.value;
    struct pawl_str text = pawl__str_trim(pawl__json_str(value));
    const char *pointer = pawl__loader_place(loader, node->pointer.ptr, key, NULL);
    const char *meant = NULL;

    if (pawl__json_is_number(value))
        pawl__loader_problem(loader, PAWL_PROBLEM_WARNING, node, pointer,
                             "a number selects no member of %s: it counts as '%s'; write the name",
                             type->alias, type->names[0]);
    if (text.len == 0 || (text.ptr[0] >= '0' && text.ptr[0] <= '9'))
        return;
    for (const char *const *name = type->names; *name; name++) {
        if (pawl__str_is(text, *name))
            return;
        if (pawl__str_equal_nocase(text, pawl__str(*name)))
            meant = *name;
    }
    if (meant)
        pawl__loader_problem(loader, PAWL_PROBLEM_ERROR, node, pointer,
                             "'%.*s' is no member of %s: it faults; write '%s'", PAWL_STR_ARG(text),
                             type->alias, meant);
    else
        pawl__loader_problem(loader, PAWL_PROBLEM_ERROR, node, pointer,
                             "'%.*s' is no member of %s: it faults", PAWL_STR_ARG(text),
                             type->alias);
}

/* A plain value: the text it has, as a literal. */
static int read_plain(struct pawl_loader *loader, struct pawl_node *node,
                      const struct pawl_json *value, const char *key, struct pawl_input *input)
{
    struct pawl_str text;
    int status = pawl__loader_text(loader, value, &text);

    if (status != PAWL_OK)
        return status;
    if (pawl__json_is(value, PAWL_JSON_ARRAY))
        pawl__loader_problem(loader, PAWL_PROBLEM_WARNING, node,
                             pawl__loader_place(loader, node->pointer.ptr, key, NULL),
                             "expected an object or a literal, found an array: it is taken as "
                             "its JSON text");
    input->expression.ops = pawl__engine_expression(loader->engine, pawl__str("Literal"));
    input->expression.value = pawl__json_string(text);
    return PAWL_OK;
}

static int read_wrapped(struct pawl_loader *loader, struct pawl_node *node,
                        const struct pawl_json *value, const char *key, struct pawl_input *input)
{
    const struct pawl_json *expression = pawl__loader_get(value, "expression");
    const char *place =
        pawl__loader_place(loader, node->pointer.ptr, key, expression ? "expression" : NULL);

    if (!place)
        return PAWL_ENOMEM;
    if (!pawl__json_get_nocase(value, pawl__str("typeName"))) {
        pawl__loader_problem(loader, PAWL_PROBLEM_WARNING, node, place,
                             "the input has no \"typeName\": it counts as not set");
        return PAWL_OK;
    }
    return pawl__loader_expression(loader, node, expression, place, &input->expression);
}

static int read_set_input(struct pawl_loader *loader, struct pawl_node *node,
                          const struct pawl_json *value, const char *key, struct pawl_input *input)
{
    const struct pawl_type *type = input->descriptor->type;
    int status = pawl__json_is(value, PAWL_JSON_OBJECT)
                     ? read_wrapped(loader, node, value, key, input)
                     : read_plain(loader, node, value, key, input);

    if (status == PAWL_OK && type && type->kind == PAWL_TYPE_ENUM && input->expression.ops &&
        pawl__str_is(pawl__str(input->expression.ops->type), "Literal"))
        check_enum(loader, node, key, input);
    return status;
}

static int read_input(struct pawl_loader *loader, struct pawl_node *node, const char *key,
                      struct pawl_input *input)
{
    const struct pawl_input_descriptor *descriptor = input->descriptor;
    const struct pawl_json *value = pawl__loader_get(node->json, key);
    int status = PAWL_OK;

    if (descriptor->flags & PAWL_INPUT_NAKED)
        input->naked = value;
    else if (value)
        status = read_set_input(loader, node, value, key, input);
    if (status == PAWL_OK && (descriptor->flags & PAWL_INPUT_REQUIRED) && !input->naked &&
        !input->expression.ops && pawl__value_is_null(input->initial))
        pawl__loader_problem(loader, PAWL_PROBLEM_ERROR, node, NULL, "the input '%s' is required",
                             key);
    return status;
}

int pawl__loader_inputs(struct pawl_loader *loader, struct pawl_node *node,
                        const struct loader_shape *shape)
{
    const struct pawl_activity *activity = node->activity;
    int status = PAWL_OK;

    if (activity->input_count == 0)
        return PAWL_OK;
    node->inputs =
        pawl__arena_alloc_array(loader->arena, activity->input_count, sizeof *node->inputs);
    if (!node->inputs)
        return loader_memory(loader);
    for (uint32_t i = 0; i < activity->input_count && status == PAWL_OK; i++) {
        node->inputs[i] =
            (struct pawl_input){.descriptor = &activity->inputs[i], .initial = shape->defaults[i]};
        status = read_input(loader, node, shape->input_keys[i], &node->inputs[i]);
    }
    return status;
}

/* ---- outputs ----------------------------------------------------------------------------- */

static int read_output(struct pawl_loader *loader, struct pawl_node *node, const char *key,
                       struct pawl_output *output)
{
    const struct pawl_json *value = pawl__loader_get(node->json, key);
    const char *place;

    output->reference = pawl__str("");
    if (!value)
        return PAWL_OK;
    place = pawl__loader_place(loader, node->pointer.ptr, key, NULL);
    if (!place)
        return PAWL_ENOMEM;
    if (!pawl__json_is(value, PAWL_JSON_OBJECT))
        return pawl__loader_fail(loader, place, "expected an output object, found %s",
                                 pawl__loader_found(value));
    if (!pawl__json_get_nocase(value, pawl__str("typeName"))) {
        pawl__loader_problem(loader, PAWL_PROBLEM_WARNING, node, place,
                             "the output has no \"typeName\": it counts as not bound");
        return PAWL_OK;
    }
    output->reference =
        pawl__json_str(pawl__loader_get(pawl__loader_get(value, "memoryReference"), "id"));
    if (pawl__loader_get(value, "converter"))
        pawl__loader_problem(loader, PAWL_PROBLEM_WARNING, node, place,
                             "output converters are not supported: the value is stored as it is");
    return PAWL_OK;
}

int pawl__loader_outputs(struct pawl_loader *loader, struct pawl_node *node,
                         const struct loader_shape *shape)
{
    const struct pawl_activity *activity = node->activity;
    int status = PAWL_OK;

    if (activity->output_count == 0)
        return PAWL_OK;
    node->outputs =
        pawl__arena_alloc_array(loader->arena, activity->output_count, sizeof *node->outputs);
    if (!node->outputs)
        return loader_memory(loader);
    for (uint32_t i = 0; i < activity->output_count && status == PAWL_OK; i++) {
        node->outputs[i] = (struct pawl_output){.descriptor = &activity->outputs[i]};
        status = read_output(loader, node, shape->output_keys[i], &node->outputs[i]);
    }
    return status;
}
