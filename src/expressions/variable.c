/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variable: the value of the variable with the id of {"id":…, "name":…}, searched outward. It is
 * returned unchanged; the reader of the input converts it.
 */
#include "engine/context.h"
#include "expressions/expressions.h"

static int evaluate(struct pawl_context *context, const struct pawl_expression *expression,
                    const struct pawl_type *target, struct pawl_value *out)
{
    const struct pawl_json *id = pawl__json_get_nocase(&expression->value, pawl__str("id"));
    const struct pawl_block *block;

    (void)target;
    if (!pawl__json_is(id, PAWL_JSON_STRING) || pawl__json_str(id).len == 0) {
        *out = pawl__value_null();
        return PAWL_OK;
    }
    block = pawl__memory_find(context, pawl__json_str(id), NULL);
    if (!block)
        return pawl__raise(context, "Exception",
                           "Failed to retrieve memory block with reference %.*s",
                           PAWL_STR_ARG(pawl__json_str(id)));
    *out = block->value;
    return PAWL_OK;
}

const struct pawl_expression_ops pawl__expression_variable = {
    .type = "Variable", .evaluate = evaluate, .shown_unconverted = true};
