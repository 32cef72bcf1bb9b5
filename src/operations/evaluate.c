/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluating one expression; see trial.h. */
#include "operations/trial.h"

#include "activities/descriptor.h"
#include "base/error.h"
#include "base/json/builder.h"
#include "engine/context.h"
#include "engine/engine.h"
#include "operations/instances.h"
#include "operations/trial_private.h"

#define JSON_MAX ((size_t)512 << 20)

/* ---- the activity -------------------------------------------------------------------------- */

static const struct pawl_input_descriptor evaluate_inputs[] = {
    {.name = "Variables", .type = &pawl__type_object, .flags = PAWL_INPUT_NAKED},
    {.name = "Value", .type = &pawl__type_object, .flags = PAWL_INPUT_NO_AUTO_EVALUATE},
};

/* As values of their own types: the default of an Object variable would be text. */
static int set_variables(struct pawl_context *context)
{
    const struct pawl_json *variables = pawl__input_naked(context, "Variables");
    int status = PAWL_OK;

    for (uint32_t i = 0; i < pawl__json_len(variables) && status == PAWL_OK; i++) {
        const struct pawl_json_member *member = pawl__json_member(variables, i);

        status = pawl__variable_set(context, member->key, pawl__value_from_json(member->value));
    }
    return status;
}

/* Sets an output of the instance to a text, and releases the buffer. */
static int answer(struct pawl_context *context, const char *name, struct pawl_buf *text)
{
    struct pawl_json json = pawl__json_null();
    int status = text->status;

    if (status == PAWL_OK)
        status = pawl__json_string_copy(pawl__context_arena(context), pawl__buf_peek(text), &json);
    if (status == PAWL_OK)
        status = pawl__workflow_output_set(context, pawl__str(name),
                                           pawl__value_string(pawl__json_str(&json)));
    pawl__buf_release(text);
    return status;
}

/* The value goes out as text, so that it is not stored in the form of an instance. */
static int evaluate_execute(struct pawl_context *context)
{
    const struct pawl_allocator *alloc = pawl__context_arena(context)->alloc;
    struct pawl_value value = pawl__value_null();
    struct pawl_buf text;
    int status = set_variables(context);

    if (status == PAWL_OK)
        status = pawl__input_evaluate(context, "Value", &value);
    if (status != PAWL_OK)
        return status;
    if (!pawl__value_is_finite(&value.json))
        return pawl__raise(context, "ArgumentException",
                           "The result is infinite or not a number (NaN), which JSON cannot say: "
                           "make a text of it with String().");
    pawl__buf_init(&text, alloc, JSON_MAX);
    if (value.type)
        pawl__type_write(&text, value.type);
    status = answer(context, "type", &text);
    if (status != PAWL_OK)
        return status;
    pawl__buf_init(&text, alloc, JSON_MAX);
    pawl__json_write(&text, &value.json, PAWL_JSON_ESCAPE_MINIMAL);
    return answer(context, "value", &text);
}

static const struct pawl_activity evaluate = {
    .type = "Pawl.Evaluate",
    .version = 1,
    .flags = PAWL_ACTIVITY_AUTO_COMPLETE | PAWL_ACTIVITY_NOT_BROWSABLE,
    PAWL_INPUTS(evaluate_inputs),
    .execute = evaluate_execute,
};

int pawl__op_trial_extend(void *ctx, struct pawl_engine *engine, struct pawl_error *err)
{
    int status = pawl__engine_add_activity(engine, &evaluate);

    (void)ctx;
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

/* ---- the definition ------------------------------------------------------------------------ */

/* [{"id":…, "name":…}] of the members of an object; all are of type Object. */
static struct pawl_json declare(struct pawl_builder *b, const struct pawl_json *values,
                                const char *type_key)
{
    struct pawl_json list = pawl__json_array();

    for (uint32_t i = 0; i < pawl__json_len(values); i++) {
        struct pawl_str name = pawl__json_member(values, i)->key;
        struct pawl_json one = pawl__json_object();

        pawl__build_text(b, &one, "id", name);
        pawl__build_text(b, &one, "name", name);
        pawl__build_name(b, &one, type_key, "Object");
        pawl__build_append(b, &list, one);
    }
    return list;
}

static int make_definition(const struct pawl_op *op, const struct pawl_evaluation *eval,
                           struct pawl_json *out)
{
    struct pawl_builder b = {.arena = op->arena};
    struct pawl_json expression = pawl__json_object(), value = pawl__json_object();
    struct pawl_json root = pawl__json_object(), definition = pawl__json_object();

    pawl__build_name(&b, &expression, "type", eval->language);
    pawl__build(&b, &expression, "value", eval->source);
    pawl__build_name(&b, &value, "typeName", "Object");
    pawl__build(&b, &value, "expression", expression);
    pawl__build_name(&b, &root, "id", "eval");
    pawl__build_name(&b, &root, "type", evaluate.type);
    pawl__build(&b, &root, "variables", eval->variables);
    pawl__build(&b, &root, "value", value);
    pawl__build_name(&b, &definition, "definitionId", "eval");
    pawl__build(&b, &definition, "variables", declare(&b, &eval->variables, "typeName"));
    pawl__build(&b, &definition, "inputs", declare(&b, &eval->inputs, "type"));
    pawl__build(&b, &definition, "root", root);
    *out = definition;
    return b.status;
}

/* ---- the result ---------------------------------------------------------------------------- */

static struct pawl_str text_of(const struct pawl_json *object, const char *key)
{
    return pawl__json_str(pawl__json_get_text(object, key));
}

static int read_result(const struct pawl_op *op, const struct pawl_json *state,
                       struct pawl_evaluated *out)
{
    const struct pawl_json *incident = pawl__json_at(pawl__json_get_text(state, "incidents"), 0);
    const struct pawl_json *output = pawl__json_get_text(state, "output");
    struct pawl_json_limits limits = pawl__json_limits_default;

    *out = (struct pawl_evaluated){.value = pawl__json_null(), .is_raised = incident != NULL};
    if (incident) {
        out->failure = text_of(incident, "message");
        out->exception = text_of(pawl__json_get_text(incident, "exception"), "type");
        return PAWL_OK;
    }
    limits.bytes_max = JSON_MAX;
    limits.depth_max = PAWL_JSON_DEPTH_MAX;
    out->type = text_of(output, "type");
    return pawl__json_parse(op->arena, text_of(output, "value"), &limits, &out->value, NULL,
                            op->err);
}

/* As a draft: an expression that does not validate is evaluated, too. */
int pawl__op_trial_evaluate(const struct pawl_op *op, const struct pawl_evaluation *request,
                            struct pawl_evaluated *out)
{
    struct pawl_instance_start start = {.what = {.input = request->inputs}, .with_state = true};
    struct pawl_definition_saved draft;
    struct pawl_instance_result result;
    struct pawl_evaluated found;
    struct pawl_json definition;
    int status = op_trial_check(op);

    if (status == PAWL_OK) {
        status = make_definition(op, request, &definition);
        if (status != PAWL_OK)
            return pawl__error_code(op->err, status);
        status = pawl__op_definition_save(
            op, &(struct pawl_definition_save){.definition = &definition}, &draft);
    }
    if (status != PAWL_OK)
        return status;
    start.what.version_id = draft.row.id;
    status = pawl__op_instance_start(op, &start, &result);
    if (status == PAWL_OK)
        status = read_result(op, &result.state, &found);
    if (status == PAWL_OK)
        *out = found;
    return status;
}
