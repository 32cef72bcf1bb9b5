/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Liquid: a template of a definition, rendered in a context. A blank one is null. What it renders
 * is a String, which the caller converts.
 *
 * A rendering has an arena of its own, so that a loop over a template does not fill the burst's.
 */
#include "expressions/liquid/liquid.h"

#include "engine/context.h"
#include "engine/run/instance.h"
#include "expressions/expressions.h"

#include <stdio.h>

/* ---- names ------------------------------------------------------------------------------- */

static bool find_variable(void *ctx, struct pawl_str name, struct pawl_value *out)
{
    return pawl__variable_get(ctx, name, out);
}

static bool read_stored(struct pawl_context *context, const struct pawl_json *stored,
                        struct pawl_value *out)
{
    /* Out of memory shows at the arena's next call. */
    if (pawl__run_value(context, stored, out) != PAWL_OK)
        *out = pawl__value_from_json(*stored);
    return true;
}

/*
 * What the activity was scheduled with, then what the run was started or resumed with. Unlike in
 * scripts, inputs of a workflow used as activity are not seen.
 */
static bool find_input(void *ctx, struct pawl_str name, struct pawl_value *out)
{
    struct pawl_context *context = ctx;
    const struct pawl_json *stored = pawl__json_get(&context->input, name);

    if (!stored)
        stored = pawl__json_get_nocase(pawl__run_inputs(context), name);
    return stored && read_stored(context, stored, out);
}

static bool find_root(void *ctx, struct pawl_str name, struct pawl_value *out)
{
    struct pawl_context *context = ctx;
    const struct pawl_workflow *workflow = context->burst->graph->workflow;

    if (pawl__str_is(name, "CorrelationId"))
        *out = pawl__correlation_id(context).len > 0
                   ? pawl__value_string(pawl__correlation_id(context))
                   : pawl__value_null();
    else if (pawl__str_is(name, "WorkflowDefinitionId"))
        *out = pawl__value_string(workflow->definition_id);
    else if (pawl__str_is(name, "WorkflowDefinitionVersionId"))
        *out = pawl__value_string(workflow->version_id);
    else if (pawl__str_is(name, "WorkflowDefinitionVersion"))
        *out = pawl__value_int(workflow->version);
    else if (pawl__str_is(name, "WorkflowInstanceId"))
        *out = pawl__value_string(pawl__instance_id(context));
    else
        return false;
    return true;
}

static bool must_stop(void *ctx)
{
    return pawl__context_must_stop(ctx);
}

static int make_event_url(void *ctx, struct pawl_arena *arena, struct pawl_str event,
                          int64_t life_ticks, struct pawl_str *out, struct pawl_error *err)
{
    struct pawl_context *context = ctx;
    const struct pawl_engine *engine = pawl__context_engine(context);

    return engine->event_url(engine->event_url_ctx, arena, pawl__instance_id(context), event,
                             life_ticks, out, err);
}

/* ---- evaluating -------------------------------------------------------------------------- */

/* The exception's texts live in the rendering's arena, which goes. */
static int raise(struct pawl_context *context, const struct pawl_exception *raised)
{
    struct pawl_arena *arena = pawl__context_arena(context);
    struct pawl_exception kept = {.type = pawl__arena_str(arena, raised->type),
                                  .message = pawl__arena_str(arena, raised->message)};

    if (!kept.type.ptr || !kept.message.ptr)
        return pawl__arena_status(arena);
    return pawl__raise_exception(context, &kept);
}

static int render(struct pawl_context *context, struct pawl_str text, struct pawl_value *out)
{
    struct pawl_liquid_scope scope = {.variable = find_variable,
                                      .input = find_input,
                                      .root = find_root,
                                      .stop = must_stop,
                                      .ctx = context,
                                      .now_ticks = pawl__now(context),
                                      .timezone = pawl__context_engine(context)->timezone};
    struct pawl_arena *burst = pawl__context_arena(context);
    struct pawl_value value = {.type = &pawl__type_string};
    struct pawl_exception raised;
    struct pawl_arena arena;
    struct pawl_buf buf;
    int status;

    if (pawl__context_engine(context)->event_url)
        scope.event_url = make_event_url;
    pawl__arena_init(&arena, burst->alloc, LIQUID_ARENA_BYTES_MAX);
    pawl__buf_init(&buf, burst->alloc, LIQUID_OUTPUT_BYTES_MAX);
    status = pawl__liquid_render(&arena, text, &scope, &buf, &raised);
    if (status == PAWL_OK)
        status = pawl__json_string_copy(burst, pawl__buf_peek(&buf), &value.json);
    else if (status == ENGINE_RAISED)
        status = raise(context, &raised);
    pawl__buf_release(&buf);
    pawl__arena_release(&arena);
    if (status == PAWL_OK)
        *out = value;
    return status;
}

static int evaluate(struct pawl_context *context, const struct pawl_expression *expression,
                    const struct pawl_type *target, struct pawl_value *out)
{
    struct pawl_str text = pawl__json_str(&expression->value);

    (void)target;
    if (pawl__str_trim(text).len == 0) {
        *out = pawl__value_null();
        return PAWL_OK;
    }
    return render(context, text, out);
}

static bool check(const struct pawl_engine *engine, const struct pawl_expression *expression,
                  char *message, size_t size)
{
    struct pawl_exception raised;
    struct pawl_arena arena;
    int status;

    pawl__arena_init(&arena, engine->alloc, LIQUID_ARENA_BYTES_MAX);
    status = pawl__liquid_check(&arena, pawl__json_str(&expression->value), &raised);
    if (status == ENGINE_RAISED)
        (void)snprintf(message, size, "%.*s", PAWL_STR_ARG(raised.message));
    pawl__arena_release(&arena);
    return status != ENGINE_RAISED;
}

const struct pawl_expression_ops pawl__expression_liquid = {
    .type = "Liquid", .evaluate = evaluate, .check = check};
