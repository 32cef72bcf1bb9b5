/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The expression languages without a script engine: what definitions write as {"type":"Literal",
 * …}, Object, Json, Variable, Input and Liquid, and CSharp and Python, which are refused. All are
 * constant tables behind struct pawl_expression_ops.
 */
#ifndef PAWL_EXPRESSIONS_EXPRESSIONS_H
#define PAWL_EXPRESSIONS_EXPRESSIONS_H

#include "engine/engine.h"

/* Adds them all. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__expressions_register(struct pawl_engine *engine);

extern const struct pawl_expression_ops pawl__expression_literal;
extern const struct pawl_expression_ops pawl__expression_object;
extern const struct pawl_expression_ops pawl__expression_json; /* an old name of Object */
extern const struct pawl_expression_ops pawl__expression_variable;
extern const struct pawl_expression_ops pawl__expression_input;
extern const struct pawl_expression_ops pawl__expression_liquid;
extern const struct pawl_expression_ops pawl__expression_csharp; /* refused, see refused.c */
extern const struct pawl_expression_ops pawl__expression_python; /* the same */

#endif
