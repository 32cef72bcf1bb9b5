/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Literal: a value as written in the definition. Numbers are decimals, and keep all their digits;
 * objects and arrays are their JSON text.
 */
#include "engine/context.h"
#include "expressions/expressions.h"

/* Decimal where it fits: 1e3 is 1000, 1.10 stays 1.10. */
static int number(struct pawl_context *context, struct pawl_json json, struct pawl_value *out)
{
    struct pawl_conversion how = pawl__context_conversion(context);
    struct pawl_value read = {.json = json, .type = &pawl__type_json_element};
    struct pawl_exception raised;
    int status = pawl__convert(&how, read, &pawl__type_decimal, out, &raised);

    if (status != ENGINE_RAISED)
        return status;
    *out = pawl__value_from_json(json);
    return PAWL_OK;
}

static int json_text(struct pawl_context *context, const struct pawl_json *json,
                     struct pawl_value *out)
{
    struct pawl_arena *arena = pawl__context_arena(context);
    struct pawl_value value = {.type = &pawl__type_string};
    struct pawl_buf text;
    int status;

    pawl__buf_init(&text, arena->alloc, arena->max_bytes);
    pawl__json_write(&text, json, PAWL_JSON_ESCAPE_MINIMAL);
    status = text.status;
    if (status == PAWL_OK)
        status = pawl__json_string_copy(arena, pawl__buf_peek(&text), &value.json);
    pawl__buf_release(&text);
    if (status == PAWL_OK)
        *out = value;
    return status;
}

static int load(struct pawl_context *context, const struct pawl_json *json, struct pawl_value *out)
{
    if (pawl__json_is_number(json))
        return number(context, *json, out);
    if (pawl__json_is(json, PAWL_JSON_ARRAY) || pawl__json_is(json, PAWL_JSON_OBJECT))
        return json_text(context, json, out);
    *out = pawl__value_from_json(*json);
    return PAWL_OK;
}

static int evaluate(struct pawl_context *context, const struct pawl_expression *expression,
                    const struct pawl_type *target, struct pawl_value *out)
{
    struct pawl_conversion how = pawl__context_conversion(context);
    struct pawl_value value = pawl__value_null();
    struct pawl_exception raised;
    int status = load(context, &expression->value, &value);

    if (status == PAWL_OK)
        status = pawl__convert(&how, value, target, out, &raised);
    return status == ENGINE_RAISED ? pawl__raise_exception(context, &raised) : status;
}

const struct pawl_expression_ops pawl__expression_literal = {.type = "Literal",
                                                             .evaluate = evaluate};
