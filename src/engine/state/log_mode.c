/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which inputs and outputs of an activity its record shows: what users mark as not to be logged
 * stays out of it. Said, from the nearest to the farthest, for one input or output, for the
 * activity, for the workflow; `Inherit` asks the next; in the end everything is shown. The older
 * key logPersistenceMode holds names, the newer logPersistenceConfig a strategy or an expression;
 * where both speak of the same thing the newer one counts.
 */
#include "engine/builder.h"
#include "engine/engine.h"
#include "engine/run/instance.h"

enum mode { INHERIT, INCLUDE, EXCLUDE };

static enum mode mode_of(struct pawl_str name)
{
    if (pawl__str_equal_nocase(name, pawl__str("Exclude")))
        return EXCLUDE;
    return pawl__str_equal_nocase(name, pawl__str("Include")) ? INCLUDE : INHERIT;
}

/* "Elsa.Workflows.LogPersistence.Strategies.Exclude, Elsa.Workflows.Core": its class. */
static struct pawl_str strategy_name(struct pawl_str type)
{
    size_t end = pawl__str_find(type, ',', 0), begin;

    type = pawl__str_trim(pawl__str_slice(type, 0, end));
    for (begin = type.len; begin > 0 && type.ptr[begin - 1] != '.';)
        begin--;
    return pawl__str_slice(type, begin, type.len);
}

/* An expression that cannot be evaluated says nothing. */
static int evaluate(struct pawl_context *context, const struct pawl_json *json, enum mode *mode)
{
    const struct pawl_json *value = pawl__json_get_text(json, "value");
    struct pawl_expression expression = {
        .ops = pawl__engine_expression(context->burst->engine,
                                       pawl__json_str(pawl__json_get_text(json, "type"))),
        .value = value ? *value : pawl__json_null(),
    };
    struct pawl_value result = pawl__value_null();
    int status = pawl__expression_evaluate(context, &expression, &pawl__type_string, &result);

    *mode = INHERIT;
    if (status == PAWL_OK)
        *mode = mode_of(pawl__json_str(&result.json));
    return status == ENGINE_RAISED ? PAWL_OK : status;
}

/* What one entry of logPersistenceConfig says. */
static int read_entry(struct pawl_context *context, const struct pawl_json *entry, enum mode *mode)
{
    const struct pawl_json *type = pawl__json_get_text(entry, "strategyType");

    if (pawl__str_is(pawl__json_str(pawl__json_get_text(entry, "evaluationMode")), "Expression"))
        return evaluate(context, pawl__json_get_text(entry, "expression"), mode);
    *mode = mode_of(strategy_name(pawl__json_str(type)));
    return PAWL_OK;
}

/* What custom properties say of `group`.`name`, or of `group` itself ("default"). */
static int read_mode(struct pawl_context *context, const struct pawl_json *custom,
                     const char *group, struct pawl_str name, enum mode *mode)
{
    const struct pawl_json *config = pawl__json_get_text(custom, "logPersistenceConfig");
    const struct pawl_json *old = pawl__json_get_text(custom, "logPersistenceMode");

    config = pawl__json_get_text(config, group);
    old = pawl__json_get_text(old, group);
    if (name.len > 0) {
        config = pawl__json_get_nocase(config, name);
        old = pawl__json_get_nocase(old, name);
    }
    if (pawl__json_is(config, PAWL_JSON_OBJECT))
        return read_entry(context, config, mode);
    *mode = mode_of(pawl__json_str(old));
    return PAWL_OK;
}

struct defaults {
    const struct pawl_json *custom;
    enum mode mode; /* what holds when nothing is said of an input or output itself */
};

static int exclude(struct pawl_context *context, const struct defaults *defaults, const char *group,
                   const char *name, struct pawl_json *list)
{
    enum mode mode;
    int status = read_mode(context, defaults->custom, group, pawl__str(name), &mode);

    if (status != PAWL_OK || (mode == INHERIT ? defaults->mode : mode) != EXCLUDE)
        return status;
    return pawl__json_append(&context->burst->arena, list, pawl__json_string(pawl__str(name)));
}

static int find_defaults(struct pawl_context *context, struct defaults *out)
{
    const struct pawl_json *workflow =
        pawl__json_get_text(context->burst->graph->workflow->json, "customProperties");
    int status;

    out->custom = pawl__json_get_text(context->node->json, "customProperties");
    status = read_mode(context, out->custom, "default", pawl__str(""), &out->mode);
    if (status == PAWL_OK && out->mode == INHERIT)
        status = read_mode(context, workflow, "default", pawl__str(""), &out->mode);
    return status;
}

/* Nearly all activities say nothing: they cost a look at a few keys. */
static bool says_something(const struct pawl_json *custom)
{
    return pawl__json_get_text(custom, "logPersistenceConfig") ||
           pawl__json_get_text(custom, "logPersistenceMode") ||
           pawl__json_get_text(custom, "internalState");
}

static int find_excluded(struct pawl_context *context)
{
    const struct pawl_activity *activity = context->node->activity;
    struct pawl_builder b = {.arena = &context->burst->arena};
    struct pawl_json inputs = pawl__json_array(), outputs = pawl__json_array();
    struct defaults defaults;
    enum mode internal = INHERIT;

    b.status = find_defaults(context, &defaults);
    for (uint32_t i = 0; i < activity->input_count && b.status == PAWL_OK; i++)
        b.status = exclude(context, &defaults, "inputs", activity->inputs[i].name, &inputs);
    for (uint32_t i = 0; i < activity->output_count && b.status == PAWL_OK; i++)
        b.status = exclude(context, &defaults, "outputs", activity->outputs[i].name, &outputs);
    if (b.status == PAWL_OK)
        b.status =
            read_entry(context, pawl__json_get_text(defaults.custom, "internalState"), &internal);
    context->log_excluded = pawl__json_object();
    pawl__build(&b, &context->log_excluded, "inputs", inputs);
    pawl__build(&b, &context->log_excluded, "outputs", outputs);
    if (internal == EXCLUDE)
        pawl__build_bool(&b, &context->log_excluded, "internal", true);
    return b.status;
}

int pawl__log_modes_evaluate(struct pawl_context *context)
{
    const struct pawl_workflow *workflow = context->burst->graph->workflow;

    context->log_modes_known = true;
    context->log_excluded = pawl__json_null();
    if (!says_something(pawl__json_get_text(context->node->json, "customProperties")) &&
        !says_something(pawl__json_get_text(workflow->json, "customProperties")))
        return PAWL_OK;
    return find_excluded(context);
}

bool pawl__log_is_excluded(const struct pawl_context *context, const char *group,
                           struct pawl_str name)
{
    const struct pawl_json *list = pawl__json_get_text(&context->log_excluded, group);

    for (uint32_t i = 0; i < pawl__json_len(list); i++) {
        if (pawl__str_equal(pawl__json_str(pawl__json_at(list, i)), name))
            return true;
    }
    return pawl__json_true(list);
}
