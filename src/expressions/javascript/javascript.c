/* SPDX-License-Identifier: Apache-2.0 */
/* The language as the engine sees it, and the pool of realms. */
#include "expressions/javascript/javascript.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "expressions/javascript/private.h"

#include <stdio.h>

const struct pawl_javascript_options pawl__javascript_options_default = {
    .fuel_max = 8000,
    .time_ms_max = 1000,
    .memory_bytes_max = 64u << 20,
    .stack_bytes_max = PAWL_QUICKJS_STACK_DEFAULT,
    .large_max = 4,
};

/* How late a burst that must stop is seen while its script waits for its turn. */
#define TURN_LOOK_NS INT64_C(50000000)

bool pawl__javascript_is_available(void)
{
    return true;
}

/* ---- the pool ---------------------------------------------------------------------------- */

/* An idle realm, or NULL when one is to be made. Boots before the first. */
static int take_idle(struct pawl_javascript *js, bool sealed, struct pawl_javascript_realm **out,
                     struct pawl_error *err)
{
    struct pawl_javascript_realm **list = sealed ? &js->idle_sealed : &js->idle_plain;
    int status = pawl_mutex_lock(js->env, js->mutex);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    if (!js->plain)
        status = pawl__javascript_boot(js, err);
    if (status == PAWL_OK) {
        *out = *list;
        if (*list)
            *list = (*list)->next;
    }
    pawl_mutex_unlock(js->env, js->mutex);
    return status;
}

static int take_realm(struct pawl_javascript *js, bool sealed, struct pawl_javascript_realm **out,
                      struct pawl_error *err)
{
    struct pawl_javascript_realm *realm = NULL;
    int status = take_idle(js, sealed, &realm, err);

    if (status == PAWL_OK && !realm)
        status = pawl__javascript_realm_new(js, sealed, &realm, err);
    else if (status == PAWL_OK && realm->spoilt)
        status = pawl__javascript_realm_restore(realm);
    if (status == PAWL_OK)
        *out = realm;
    else
        pawl__javascript_realm_free(realm);
    return status;
}

/* Waits a while for a turn. PAWL_ETIMEDOUT: there was none. */
static int await_turn(struct pawl_javascript *js, struct pawl_javascript_realm *realm)
{
    int64_t until_ns = pawl_env_monotonic_ns(js->env) + TURN_LOOK_NS;
    int status = pawl_mutex_lock(js->env, js->mutex);

    if (status != PAWL_OK)
        return status;
    while (status == PAWL_OK && js->large_count >= js->options.large_max)
        status = pawl_cond_wait(js->env, js->large_changed, js->mutex, until_ns);
    if (status == PAWL_OK) {
        js->large_count++;
        realm->is_large = true;
    }
    pawl_mutex_unlock(js->env, js->mutex);
    return status;
}

bool pawl__javascript_grow(struct pawl_javascript_realm *realm, struct pawl_context *context)
{
    int status = realm->is_large ? PAWL_OK : PAWL_ETIMEDOUT;

    while (status == PAWL_ETIMEDOUT) {
        status = await_turn(realm->owner, realm);
        if (status == PAWL_ETIMEDOUT && context && pawl__context_must_stop(context))
            return false;
    }
    return status == PAWL_OK;
}

/* Its memory is given back before the next one may grow. */
static void close_large(struct pawl_javascript *js, struct pawl_javascript_realm *realm)
{
    pawl__javascript_realm_free(realm);
    pawl_mutex_lock_always(js->env, js->mutex);
    js->large_count--;
    pawl_mutex_unlock(js->env, js->mutex);
    pawl_cond_signal(js->env, js->large_changed);
}

static void return_realm(struct pawl_javascript *js, struct pawl_javascript_realm *realm)
{
    struct pawl_javascript_realm **list = realm->sealed ? &js->idle_sealed : &js->idle_plain;

    if (realm->is_large) {
        close_large(js, realm);
        return;
    }
    if (pawl_mutex_lock(js->env, js->mutex) != PAWL_OK) {
        pawl__javascript_realm_free(realm); /* stopped: nobody will want it */
        return;
    }
    realm->next = *list;
    *list = realm;
    pawl_mutex_unlock(js->env, js->mutex);
}

/* ---- evaluating -------------------------------------------------------------------------- */

static int evaluate_on(struct pawl_javascript *js, struct pawl_context *context,
                       struct pawl_javascript_run *run, bool sealed, bool *needs_own_engine)
{
    struct pawl_javascript_evaluation e = {
        .js = js,
        .context = context,
        .arena = pawl__context_arena(context),
        .run = run,
    };
    struct pawl_error err = PAWL_ERROR_INIT;
    int status = take_realm(js, sealed, &e.realm, &err);

    if (status == PAWL_EINTERNAL)
        return pawl__raise(context, "JavaScriptException", "%s", err.msg);
    if (status != PAWL_OK)
        return status;
    status = pawl__javascript_evaluate(&e, needs_own_engine);
    return_realm(js, e.realm);
    return status;
}

static int evaluate_text(struct pawl_javascript *js, struct pawl_context *context,
                         struct pawl_javascript_run *run)
{
    bool needs_own_engine = false;
    int status = evaluate_on(js, context, run, true, &needs_own_engine);

    if (status == PAWL_OK && needs_own_engine)
        status = evaluate_on(js, context, run, false, &needs_own_engine);
    return status;
}

static int evaluate_timed(struct pawl_javascript *js, struct pawl_context *context,
                          struct pawl_javascript_run *run)
{
    int64_t begun_ns;
    int status;

    if (!js->options.ran)
        return evaluate_text(js, context, run);
    begun_ns = pawl_env_monotonic_ns(js->env);
    status = evaluate_text(js, context, run);
    js->options.ran(js->options.ran_ctx, pawl_env_monotonic_ns(js->env) - begun_ns);
    return status;
}

static int evaluate(struct pawl_context *context, const struct pawl_expression *expression,
                    const struct pawl_type *target, struct pawl_value *out)
{
    struct pawl_javascript_run run = {
        .source = pawl__json_str(&expression->value),
        .result = pawl__value_null(),
    };
    struct pawl_buf text;
    int status;

    (void)target;
    if (pawl__json_is(&expression->value, PAWL_JSON_STRING)) {
        status = pawl__javascript_run(context, &run);
    } else {
        /* A number or the like where a script belongs: its text is the script. */
        pawl__buf_init(&text, pawl__context_arena(context)->alloc, (size_t)16 << 20);
        pawl__json_write(&text, &expression->value, PAWL_JSON_ESCAPE_MINIMAL);
        run.source = pawl__buf_peek(&text);
        status = text.status == PAWL_OK ? pawl__javascript_run(context, &run) : text.status;
        pawl__buf_release(&text);
    }
    if (status == PAWL_OK)
        *out = run.result;
    return status;
}

int pawl__javascript_run(struct pawl_context *context, struct pawl_javascript_run *run)
{
    const struct pawl_expression_ops *ops =
        pawl__engine_expression(pawl__context_engine(context), pawl__str("JavaScript"));

    run->result = pawl__value_null();
    if (!ops || ops->evaluate != evaluate)
        return pawl__raise(context, "Exception",
                           "Could not find a descriptor for expression type \"JavaScript\".");
    if (pawl__str_trim(run->source).len == 0)
        return PAWL_OK;
    return evaluate_timed((struct pawl_javascript *)(uintptr_t)(const void *)ops, context, run);
}

/* ---- checking ---------------------------------------------------------------------------- */

struct look {
    struct pawl_javascript_realm *realm;
    struct pawl_str source;
    const struct pawl_javascript_script *script;
    bool is_clean;
    bool is_stopped; /* it had no turn to grow, because the process ends */
};

static void inspect_realm(struct pawl_quickjs *engine, void *arg)
{
    struct look *look = arg;

    (void)engine;
    look->script = pawl__javascript_script(look->realm, look->source);
    look->is_clean =
        pawl__javascript_realm_is_clean(look->realm) && !(look->script && look->script->limit);
}

static int64_t read_clock(void *ctx)
{
    const struct look *look = ctx;

    return pawl_env_processor_ns(look->realm->owner->env);
}

static bool may_grow(void *ctx)
{
    struct look *look = ctx;

    look->is_stopped = !pawl__javascript_grow(look->realm, NULL);
    return !look->is_stopped;
}

static bool check(const struct pawl_engine *engine, const struct pawl_expression *expression,
                  char *message, size_t size)
{
    struct pawl_javascript *js = (struct pawl_javascript *)(uintptr_t)(const void *)expression->ops;
    struct look look = {.source = pawl__json_str(&expression->value)};
    const struct pawl_quickjs_host host = {
        .processor_ns = read_clock, .grow = may_grow, .ctx = &look};
    struct pawl_quickjs_limits limits = {.fuel = js->options.fuel_max,
                                         .time_ns = js->options.time_ms_max * 1000000,
                                         .memory_bytes = js->options.memory_bytes_max,
                                         .stack_bytes = js->options.stack_bytes_max};
    enum pawl_quickjs_end end;
    bool fine = true;

    (void)engine;
    if (take_realm(js, true, &look.realm, NULL) != PAWL_OK)
        return true; /* nothing is known of it */
    end = pawl__quickjs_enter(look.realm->engine, &host, &limits, inspect_realm, &look);
    pawl__javascript_realm_leave(look.realm, end == PAWL_QUICKJS_DONE && look.is_clean);
    if (end != PAWL_QUICKJS_DONE && look.is_stopped) {
        fine = true; /* the process ends: nothing is known of it */
    } else if (end != PAWL_QUICKJS_DONE) {
        (void)snprintf(message, size, "The script cannot be read within the limits of a script.");
        fine = false;
    } else if (look.script && look.script->syntax_error.ptr) {
        (void)snprintf(message, size, "%.*s", PAWL_STR_ARG(look.script->syntax_error));
        fine = false;
    }
    return_realm(js, look.realm);
    return fine;
}

/* ---- opening ----------------------------------------------------------------------------- */

static void fill_options(struct pawl_javascript_options *options)
{
    const struct pawl_javascript_options *usual = &pawl__javascript_options_default;

    if (options->fuel_max == 0)
        options->fuel_max = usual->fuel_max;
    if (options->time_ms_max == 0)
        options->time_ms_max = usual->time_ms_max;
    if (options->memory_bytes_max == 0)
        options->memory_bytes_max = usual->memory_bytes_max;
    if (options->memory_bytes_max > PAWL_QUICKJS_MEMORY_MAX)
        options->memory_bytes_max = PAWL_QUICKJS_MEMORY_MAX;
    if (options->stack_bytes_max == 0)
        options->stack_bytes_max = usual->stack_bytes_max;
    if (options->large_max == 0)
        options->large_max = usual->large_max;
}

int pawl__javascript_open(struct pawl_env *env, const struct pawl_javascript_options *options,
                          struct pawl_javascript **out, struct pawl_error *err)
{
    struct pawl_javascript *js = pawl__alloc_zeroed(&env->alloc, sizeof *js);
    int status;

    if (!js)
        return pawl__error_code(err, PAWL_ENOMEM);
    js->ops =
        (struct pawl_expression_ops){.type = "JavaScript", .evaluate = evaluate, .check = check};
    js->env = env;
    js->options = options ? *options : pawl__javascript_options_default;
    fill_options(&js->options);
    status = pawl_env_entropy(env, &js->seed, sizeof js->seed, err);
    if (status == PAWL_OK)
        status = pawl_mutex_new(env, "javascript", &js->mutex);
    if (status == PAWL_OK)
        status = pawl_cond_new(env, "javascript turn", &js->large_changed);
    if (status != PAWL_OK) {
        pawl_mutex_free(env, js->mutex);
        pawl__free(&env->alloc, js, sizeof *js);
        return pawl__error_code(err, status);
    }
    *out = js;
    return PAWL_OK;
}

static void free_list(struct pawl_javascript_realm *realm)
{
    while (realm) {
        struct pawl_javascript_realm *next = realm->next;

        pawl__javascript_realm_free(realm);
        realm = next;
    }
}

void pawl__javascript_close(struct pawl_javascript *js)
{
    if (!js)
        return;
    free_list(js->idle_sealed);
    free_list(js->idle_plain);
    pawl__quickjs_image_free(js->plain);
    pawl__quickjs_image_free(js->sealed);
    pawl_cond_free(js->env, js->large_changed);
    pawl_mutex_free(js->env, js->mutex);
    pawl__free(&js->env->alloc, js, sizeof *js);
}

int pawl__javascript_register(struct pawl_engine *engine, struct pawl_javascript *js)
{
    return pawl__engine_add_expression(engine, &js->ops);
}

int pawl__javascript_add_function(struct pawl_javascript *js,
                                  const struct pawl_javascript_function *function)
{
    PAWL_ASSERT(!js->plain);
    if (js->function_count == JAVASCRIPT_FUNCTIONS_MAX)
        return PAWL_ELIMIT;
    js->functions[js->function_count++] = *function;
    return PAWL_OK;
}
