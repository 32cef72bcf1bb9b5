/* SPDX-License-Identifier: Apache-2.0 */
/* The language in a build without a script engine: known by name, refused wherever it is used. */
#include "base/alloc.h"
#include "base/error.h"
#include "engine/context.h"
#include "expressions/javascript/javascript.h"

#include <stdio.h>

#define REFUSAL                                                                                    \
    "This build has no JavaScript: build with -Djavascript=enabled (it needs npm and wabt)."

const struct pawl_javascript_options pawl__javascript_options_default = {.fuel_max = 0};

struct pawl_javascript {
    struct pawl_env *env;
};

bool pawl__javascript_is_available(void)
{
    return false;
}

int pawl__javascript_run(struct pawl_context *context, struct pawl_javascript_run *run)
{
    run->result = pawl__value_null();
    return pawl__raise(context, "NotSupportedException", REFUSAL);
}

static int evaluate(struct pawl_context *context, const struct pawl_expression *expression,
                    const struct pawl_type *target, struct pawl_value *out)
{
    (void)expression;
    (void)target;
    (void)out;
    return pawl__raise(context, "NotSupportedException", REFUSAL);
}

static bool check(const struct pawl_engine *engine, const struct pawl_expression *expression,
                  char *message, size_t size)
{
    (void)engine;
    (void)expression;
    (void)snprintf(message, size, REFUSAL);
    return false;
}

static const struct pawl_expression_ops ops = {
    .type = "JavaScript", .evaluate = evaluate, .check = check};

int pawl__javascript_open(struct pawl_env *env, const struct pawl_javascript_options *options,
                          struct pawl_javascript **out, struct pawl_error *err)
{
    struct pawl_javascript *js = pawl__alloc(&env->alloc, sizeof *js);

    (void)options;
    if (!js)
        return pawl__error_code(err, PAWL_ENOMEM);
    js->env = env;
    *out = js;
    return PAWL_OK;
}

void pawl__javascript_close(struct pawl_javascript *js)
{
    if (js)
        pawl__free(&js->env->alloc, js, sizeof *js);
}

int pawl__javascript_register(struct pawl_engine *engine, struct pawl_javascript *js)
{
    (void)js;
    return pawl__engine_add_expression(engine, &ops);
}

int pawl__javascript_add_function(struct pawl_javascript *js,
                                  const struct pawl_javascript_function *function)
{
    (void)js;
    (void)function;
    return PAWL_OK;
}
