/* SPDX-License-Identifier: Apache-2.0 */
/* The list of the languages that need no script engine; each is in its own file. */
#include "expressions/expressions.h"

int pawl__expressions_register(struct pawl_engine *engine)
{
    static const struct pawl_expression_ops *const all[] = {
        &pawl__expression_literal,  &pawl__expression_object, &pawl__expression_json,
        &pawl__expression_variable, &pawl__expression_input,  &pawl__expression_liquid,
        &pawl__expression_csharp,   &pawl__expression_python,
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        int status = pawl__engine_add_expression(engine, all[i]);

        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}
