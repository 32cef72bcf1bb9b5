/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C# and Python: languages that definitions of Elsa may use and that are not run here.
 * They are known by name, so that an input written in one is not taken for one that is not set:
 * import keeps it, validation reports it, and the activity that evaluates it faults.
 */
#include "engine/context.h"
#include "expressions/expressions.h"

#include <stdio.h>
#include <string.h>

/* As people write it. */
static const char *name_of(const struct pawl_expression *expression)
{
    return strcmp(expression->ops->type, "CSharp") == 0 ? "C#" : expression->ops->type;
}

static int evaluate(struct pawl_context *context, const struct pawl_expression *expression,
                    const struct pawl_type *target, struct pawl_value *out)
{
    (void)target;
    (void)out;
    return pawl__raise(context, "NotSupportedException",
                       "%s expressions are not supported: write it in JavaScript.",
                       name_of(expression));
}

static bool check(const struct pawl_engine *engine, const struct pawl_expression *expression,
                  char *message, size_t size)
{
    (void)engine;
    (void)snprintf(message, size,
                   "%s expressions are not supported: the activity faults when it evaluates this; "
                   "write it in JavaScript",
                   name_of(expression));
    return false;
}

const struct pawl_expression_ops pawl__expression_csharp = {
    .type = "CSharp", .evaluate = evaluate, .check = check};
const struct pawl_expression_ops pawl__expression_python = {
    .type = "Python", .evaluate = evaluate, .check = check};
