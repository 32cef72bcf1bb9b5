/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Object, and Json, its old name: JSON text that becomes a value of the type wanted. Blank text is
 * null. Where any type will do the text stays text, as in Elsa.
 */
#include "engine/context.h"
#include "expressions/expressions.h"

#include <stdio.h>

static int evaluate(struct pawl_context *context, const struct pawl_expression *expression,
                    const struct pawl_type *target, struct pawl_value *out)
{
    struct pawl_conversion how = pawl__context_conversion(context);
    struct pawl_value value = pawl__value_from_json(expression->value);
    struct pawl_exception raised;
    int status;

    if (pawl__json_is(&expression->value, PAWL_JSON_STRING) &&
        pawl__str_trim(pawl__json_str(&expression->value)).len == 0)
        value = pawl__value_null();
    status = pawl__convert(&how, value, target, out, &raised);
    return status == ENGINE_RAISED ? pawl__raise_exception(context, &raised) : status;
}

/* Text that looks like JSON but is not would fault when it is evaluated. */
static bool check(const struct pawl_engine *engine, const struct pawl_expression *expression,
                  char *message, size_t size)
{
    struct pawl_str text = pawl__str_trim(pawl__json_str(&expression->value));
    struct pawl_json_reader reader;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_arena arena;
    enum pawl_json_event event = PAWL_JSON_EVENT_BEGIN_ARRAY;
    struct pawl_json value;
    int status = PAWL_OK;

    if (text.len == 0 || (text.ptr[0] != '{' && text.ptr[0] != '['))
        return true;
    pawl__arena_init(&arena, engine->alloc, text.len * 2 + 65536);
    pawl__json_reader_init(&reader, &arena, text, NULL);
    while (status == PAWL_OK && event != PAWL_JSON_EVENT_END)
        status = pawl__json_reader_next(&reader, &event, &value, &err);
    pawl__arena_release(&arena);
    if (status == PAWL_OK || status == PAWL_ENOMEM)
        return true;
    (void)snprintf(message, size, "the text is not JSON: %s", err.msg);
    return false;
}

const struct pawl_expression_ops pawl__expression_object = {
    .type = "Object", .evaluate = evaluate, .check = check};
const struct pawl_expression_ops pawl__expression_json = {
    .type = "Json", .evaluate = evaluate, .check = check};
