/* SPDX-License-Identifier: Apache-2.0 */
/* Input: the workflow's input with the name of {"name":…}; null when it was not given. */
#include "engine/context.h"
#include "expressions/expressions.h"

static int evaluate(struct pawl_context *context, const struct pawl_expression *expression,
                    const struct pawl_type *target, struct pawl_value *out)
{
    const struct pawl_json *name = pawl__json_get_nocase(&expression->value, pawl__str("name"));
    struct pawl_value value = pawl__value_null();

    (void)target;
    if (pawl__json_is(name, PAWL_JSON_STRING) &&
        !pawl__workflow_input(context, pawl__json_str(name), &value))
        value = pawl__value_null();
    *out = value;
    return PAWL_OK;
}

const struct pawl_expression_ops pawl__expression_input = {
    .type = "Input", .evaluate = evaluate, .shown_unconverted = true};
