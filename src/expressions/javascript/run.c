/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One evaluation: entering the engine, running the script, reading its result, writing the
 * variables it has set, and leaving the engine as the next one must find it.
 */
#include "base/time/datetime.h"
#include "engine/run/instance.h"
#include "engine/value/number.h"
#include "expressions/javascript/private.h"
#include "expressions/javascript/thrown.h"

#include <stdio.h>

#define HIDDEN (PAWL_JS_CONFIGURABLE | PAWL_JS_WRITABLE)

/* What happens inside the engine, on its way out. */
struct inside {
    struct pawl_javascript_evaluation *e;
    bool needs_own_engine;
    bool threw;
    bool no_memory;
    bool is_clean;
    struct pawl_str error; /* name, place and message of what was thrown, one line each */
};

/* ---- before ------------------------------------------------------------------------------ */

static uint32_t existing_accessors(const struct pawl_javascript_evaluation *e)
{
    const struct pawl_javascript_names *names = &e->script->source.accessors;
    uint32_t bound = 0;

    for (uint32_t i = 0; i < names->count; i++) {
        if (pawl__javascript_accessor(e, names->items[i]).kind != PAWL_JAVASCRIPT_NO_ACCESSOR)
            bound |= (uint32_t)1 << i;
    }
    return bound;
}

static int show_any(void *ctx, const struct pawl_variable *variable, struct pawl_value value)
{
    return pawl__javascript_show_variable(ctx, variable->name, value) ? PAWL_OK : ENGINE_RAISED;
}

/* The object `variables`: those that the text mentions, as objects of the script. */
static bool make_variables(struct pawl_javascript_evaluation *e)
{
    const struct pawl_javascript_names *names = &e->script->source.variables;
    struct pawl_quickjs *engine = e->realm->engine;

    if (!e->script->source.mentions_variables)
        return true;
    e->variables = pawl__js_object(engine);
    if (names->more)
        return pawl__variables_visit(e->context, show_any, e) == PAWL_OK;
    for (uint32_t i = 0; i < names->count; i++) {
        struct pawl_value value;

        if (pawl__javascript_variable(e, names->items[i], &value) &&
            !pawl__javascript_show_variable(e, names->items[i], value))
            return false;
    }
    return pawl__js_kind(e->variables) == PAWL_JS_OBJECT;
}

/* A member Item can be read as `item` too; the second name is not listed. */
static bool add_lowered(struct pawl_javascript_evaluation *e, struct pawl_js object,
                        struct pawl_str name)
{
    struct pawl_quickjs *engine = e->realm->engine;
    struct pawl_str second;
    char *lowered;

    if (name.len == 0 || name.ptr[0] < 'A' || name.ptr[0] > 'Z')
        return true;
    lowered = pawl__arena_alloc(e->arena, name.len);
    if (!lowered) {
        (void)pawl__javascript_fail(e, e->arena->status);
        return false;
    }
    memcpy(lowered, name.ptr, name.len);
    lowered[0] = (char)(lowered[0] - 'A' + 'a');
    second = pawl__str_make(lowered, name.len);
    return pawl__json_get(&e->context->arguments, second) ||
           pawl__js_define(engine, object, second, pawl__js_at(engine, object, name), HIDDEN);
}

static struct pawl_js make_args(struct pawl_javascript_evaluation *e)
{
    const struct pawl_json *args = &e->context->arguments;
    struct pawl_js made;
    bool done = true;

    if (!pawl__json_is(args, PAWL_JSON_OBJECT))
        return pawl__js_undefined();
    made = pawl__javascript_to_js(e, pawl__value_from_json(*args), true);
    for (uint32_t i = 0; done && i < pawl__json_len(args); i++)
        done = pawl__js_kind(made) == PAWL_JS_OBJECT &&
               add_lowered(e, made, pawl__json_member(args, i)->key);
    if (done)
        return made;
    pawl__js_free(e->realm->engine, made);
    return pawl__js_exception();
}

/*
 * The object `input`: the inputs that the text mentions, which cannot be assigned to. What is no
 * input is null, as from getInput(), unless every object has it (input.toString).
 */
static bool show_input(struct pawl_javascript_evaluation *e, struct pawl_js object,
                       struct pawl_str name)
{
    struct pawl_quickjs *engine = e->realm->engine;
    struct pawl_js value = pawl__javascript_input(e, name);

    if (pawl__js_kind(value) == PAWL_JS_NULL && pawl__js_has(engine, object, name))
        return true;
    return pawl__js_kind(value) != PAWL_JS_EXCEPTION &&
           pawl__js_define(engine, object, name, value, PAWL_JS_ENUMERABLE | PAWL_JS_CONFIGURABLE);
}

static struct pawl_js make_input(struct pawl_javascript_evaluation *e)
{
    const struct pawl_javascript_names *names = &e->script->source.inputs;
    const struct pawl_json *all = &e->context->burst->input;
    struct pawl_quickjs *engine = e->realm->engine;
    struct pawl_js made;
    bool done;

    if (names->count == 0)
        return pawl__js_undefined();
    made = pawl__js_object(engine);
    done = pawl__js_kind(made) == PAWL_JS_OBJECT;
    for (uint32_t i = 0; done && i < names->count; i++)
        done = show_input(e, made, names->items[i]);
    for (uint32_t i = 0; done && names->more && i < pawl__json_len(all); i++)
        done = show_input(e, made, pawl__json_member(all, i)->key);
    if (done)
        return made;
    pawl__js_free(engine, made);
    return pawl__js_exception();
}

/* ---- running ----------------------------------------------------------------------------- */

/* On a shared engine: a function compiled once, with what it may see as arguments. */
static struct pawl_js run_shared(struct pawl_javascript_evaluation *e,
                                 struct pawl_javascript_script *script)
{
    struct pawl_quickjs *engine = e->realm->engine;
    struct pawl_js args[PAWL_JAVASCRIPT_NAMES_MAX + 4];
    struct pawl_js given[4] = {e->variables, make_args(e), pawl__js_undefined(), make_input(e)};
    struct pawl_js result = pawl__js_exception();
    uint32_t given_count = script->source.inputs.count ? 4 : 3;

    if (pawl__js_kind(given[1]) == PAWL_JS_EXCEPTION ||
        pawl__js_kind(given[3]) == PAWL_JS_EXCEPTION)
        goto out;
    if (script->mode == PAWL_JAVASCRIPT_STATEMENTS)
        given[2] = pawl__js_string(engine, script->text);
    if (pawl__javascript_bind(e->realm, script, existing_accessors(e))) {
        if (script->bound_count > 0)
            memcpy(args, script->bound_functions, script->bound_count * sizeof *args);
        memcpy(args + script->bound_count, given, given_count * sizeof *args);
        result = pawl__js_call(engine, script->function, args, script->bound_count + given_count);
    }
out:
    for (size_t i = 1; i < 4; i++)
        pawl__js_free(engine, given[i]);
    return result;
}

struct definer {
    struct pawl_javascript_evaluation *e;
    struct pawl_js global;
};

static int define_accessor(void *ctx, struct pawl_str name)
{
    struct definer *definer = ctx;
    struct pawl_quickjs *engine = definer->e->realm->engine;
    struct pawl_js function = pawl__javascript_accessor_function(definer->e->realm, name);

    if (pawl__js_kind(function) != PAWL_JS_OBJECT ||
        !pawl__js_define(engine, definer->global, name, pawl__js_share(function, engine), HIDDEN))
        return PAWL_ENOMEM;
    return PAWL_OK;
}

/* On an engine of its own: everything is global, as in Elsa. */
static struct pawl_js run_alone(struct pawl_javascript_evaluation *e,
                                const struct pawl_javascript_script *script)
{
    struct pawl_quickjs *engine = e->realm->engine;
    struct definer definer = {.e = e, .global = pawl__js_global(engine)};
    struct pawl_buf *body;

    if (pawl__javascript_accessors_visit(e, define_accessor, &definer) != PAWL_OK)
        return pawl__javascript_fail(e, PAWL_ENOMEM);
    if (!pawl__js_define(engine, definer.global, pawl__str("variables"),
                         pawl__js_share(e->variables, engine), HIDDEN) ||
        !pawl__js_define(engine, definer.global, pawl__str("args"), make_args(e), HIDDEN) ||
        (script->source.inputs.count > 0 &&
         !pawl__js_define(engine, definer.global, pawl__str("input"), make_input(e), HIDDEN)))
        return pawl__js_exception();
    pawl__js_free(engine, definer.global);
    if (script->mode != PAWL_JAVASCRIPT_BODY)
        return pawl__js_evaluate(engine, script->text, "<anonymous>");
    body = pawl__javascript_text(e->realm);
    pawl__buf_text(body, "(() => {{\n");
    pawl__buf_str(body, script->text);
    pawl__buf_text(body, "\n}})()");
    return body->status == PAWL_OK ? pawl__js_evaluate(engine, pawl__buf_peek(body), "<anonymous>")
                                   : pawl__javascript_fail(e, body->status);
}

/* ---- after ------------------------------------------------------------------------------- */

static bool names_input(const struct pawl_javascript_evaluation *e, struct pawl_str name)
{
    const struct pawl_node *node = e->context->node;

    while (node->parent)
        node = node->parent;
    for (uint32_t i = 0; node->workflow && i < node->workflow->input_count; i++) {
        if (pawl__str_equal(node->workflow->inputs[i].name, name))
            return true;
    }
    return false;
}

static bool is_as_shown(const struct pawl_javascript_evaluation *e, struct pawl_str name,
                        struct pawl_js value)
{
    for (const struct pawl_javascript_shown *shown = e->shown; shown; shown = shown->next) {
        if (pawl__str_equal(shown->name, name))
            return pawl__js_same(shown->value, value);
    }
    return false;
}

/* What is null or undefined leaves the variable as it was; what is named as an input too. */
static bool read_variable(struct pawl_javascript_evaluation *e, struct pawl_str name)
{
    struct pawl_js value = pawl__js_at(e->realm->engine, e->variables, name);
    struct pawl_value read = pawl__value_null();
    bool done = is_as_shown(e, name, value) || pawl__javascript_from_js(e, value, &read);

    pawl__js_free(e->realm->engine, value);
    if (!done || pawl__value_is_null(read) || names_input(e, name))
        return done;
    return pawl__javascript_change(e, name, read);
}

/* Reads `variables` back: all that is there now. */
static bool read_variables(struct pawl_javascript_evaluation *e)
{
    struct pawl_quickjs *engine = e->realm->engine;
    struct pawl_value list;
    struct pawl_js names;
    bool done;

    if (pawl__js_kind(e->variables) != PAWL_JS_OBJECT)
        return true;
    names = pawl__js_call(engine, e->js->roots.names, &e->variables, 1);
    done = pawl__javascript_from_js(e, names, &list);
    pawl__js_free(engine, names);
    if (done) {
        struct pawl_json parsed;
        int status =
            pawl__json_parse(e->arena, pawl__json_str(&list.json), NULL, &parsed, NULL, NULL);

        if (status != PAWL_OK)
            (void)pawl__javascript_fail(e, status);
        done = status == PAWL_OK;
        for (uint32_t i = 0; done && i < pawl__json_len(&parsed); i++)
            done = read_variable(e, pawl__json_str(pawl__json_at(&parsed, i)));
    }
    return done;
}

/* Accessors, and what every script finds. */
static bool is_known(void *ctx, struct pawl_str name)
{
    const struct pawl_javascript_evaluation *e = ctx;
    struct pawl_quickjs *engine = e->realm->engine;
    struct pawl_js global = pawl__js_global(engine);
    bool known = pawl__javascript_accessor(e, name).kind != PAWL_JAVASCRIPT_NO_ACCESSOR ||
                 pawl__js_has(engine, global, name);

    pawl__js_free(engine, global);
    return known;
}

/* 3:14 in what was compiled, as a place in the script's own text. */
static void read_place(const struct pawl_javascript_evaluation *e, struct pawl_str place,
                       struct pawl_javascript_thrown *out)
{
    bool in_wrapper = e->script->mode == PAWL_JAVASCRIPT_BODY ||
                      (e->realm->sealed && e->script->mode == PAWL_JAVASCRIPT_EXPRESSION);
    size_t colon = pawl__str_find(place, ':', 0);
    int64_t line;
    int64_t column;

    if (colon == SIZE_MAX ||
        pawl__number_parse_int(pawl__str_slice(place, 0, colon), &line) != PAWL_OK ||
        pawl__number_parse_int(pawl__str_slice(place, colon + 1, place.len), &column) != PAWL_OK ||
        line <= in_wrapper || line > UINT32_MAX || column < 1 || column > UINT32_MAX)
        return;
    out->line = (uint32_t)line - in_wrapper;
    /* The engine counts from 0 on the first line of what it compiled and from 1 on all others. */
    out->column = (uint32_t)column - (line > 1);
}

/* Puts the text of the reference in place of the engine's; `told` has name, place and message. */
static struct pawl_str reword(struct pawl_javascript_evaluation *e, struct pawl_str told)
{
    size_t first = pawl__str_find(told, '\n', 0);
    size_t second = pawl__str_find(told, '\n', first + 1);
    struct pawl_str name = pawl__str_slice(told, 0, first);
    struct pawl_str place = pawl__str_slice(told, first + 1, second);
    struct pawl_javascript_thrown thrown = {
        .script = e->script->text,
        .by_native = pawl__str_is(place, "native"),
        .message = pawl__str_slice(told, second + 1, told.len),
        .is_known = is_known,
        .ctx = e,
    };
    struct pawl_str message;
    const char *text;

    if (!pawl__str_is(name, "TypeError") && !pawl__str_is(name, "ReferenceError"))
        return told;
    read_place(e, place, &thrown);
    message = pawl__javascript_thrown_text(e->arena, &thrown);
    if (message.ptr == thrown.message.ptr)
        return told;
    text = pawl__arena_printf(e->arena, "%.*s\n\n%.*s", PAWL_STR_ARG(name), PAWL_STR_ARG(message));
    return text ? pawl__str(text) : told;
}

static void report_error(struct inside *inside)
{
    struct pawl_javascript_evaluation *e = inside->e;
    struct pawl_quickjs *engine = e->realm->engine;
    struct pawl_js error = pawl__js_caught(engine);
    struct pawl_js told = pawl__js_call(engine, e->js->roots.describe, &error, 1);
    bool is_full = pawl__quickjs_memory_bytes(engine) >= e->js->options.memory_bytes_max;

    inside->threw = true;
    /* What the engine throws when there is no memory even for an error. */
    inside->no_memory = is_full && pawl__js_kind(error) == PAWL_JS_NULL;
    inside->error = pawl__str("\n\nThe script threw something that has no text.");
    if (pawl__js_kind(told) == PAWL_JS_STRING)
        inside->error = pawl__js_text(engine, told, e->arena, &inside->error)
                            ? reword(e, inside->error)
                            : inside->error;
    else
        pawl__js_free(engine, pawl__js_caught(engine));
    /* A job that had no memory is lost, and with it what would have settled the promise. */
    if (is_full && pawl__str_ends(inside->error, pawl__str(PAWL_JS_NEVER_SETTLED)))
        inside->no_memory = true;
    pawl__js_free(engine, told);
    pawl__js_free(engine, error);
}

static void run_inside(struct pawl_quickjs *engine, void *arg)
{
    struct inside *inside = arg;
    struct pawl_javascript_evaluation *e = inside->e;
    struct pawl_javascript_script *script = pawl__javascript_script(e->realm, e->run->source);
    struct pawl_js result;

    e->script = script;
    if (!script) {
        (void)pawl__javascript_fail(e, PAWL_ENOMEM);
        return;
    }
    inside->is_clean = !script->limit;
    if (script->syntax_error.ptr)
        return;
    if (e->realm->sealed && script->needs_own_engine) {
        inside->needs_own_engine = true;
        return;
    }
    result = !make_variables(e) ? pawl__js_exception()
             : e->realm->sealed ? run_shared(e, script)
                                : run_alone(e, script);
    if (pawl__js_kind(result) != PAWL_JS_EXCEPTION)
        result = pawl__js_settle(engine, result);
    if (pawl__js_kind(result) == PAWL_JS_EXCEPTION ||
        !pawl__javascript_from_js(e, result, &e->run->result) || !read_variables(e))
        report_error(inside);
    pawl__js_free(engine, result);
    pawl__js_free(engine, e->variables);
    if (e->realm->sealed)
        inside->is_clean = pawl__javascript_realm_is_clean(e->realm);
}

/* ---- outside ----------------------------------------------------------------------------- */

static int raise_limit(struct pawl_javascript_evaluation *e, enum pawl_quickjs_end end)
{
    switch (end) {
    case PAWL_QUICKJS_FUEL:
        return pawl__raise(e->context, "StatementsCountOverflowException",
                           "The maximum number of statements executed have been reached.");
    case PAWL_QUICKJS_TIME:
        return pawl__raise(e->context, "TimeoutException", "The operation has timed out.");
    case PAWL_QUICKJS_STOPPED:
        return PAWL_EBUSY;
    case PAWL_QUICKJS_TRAPPED:
        return pawl__raise(e->context, "JavaScriptException",
                           "The JavaScript engine failed (%s); the script was ended.",
                           pawl__quickjs_trap_text(e->realm->engine));
    case PAWL_QUICKJS_ABORTED:
    case PAWL_QUICKJS_DONE:
        break;
    }
    return e->status != PAWL_OK ? e->status : PAWL_ENOMEM;
}

static int raise_no_memory(struct pawl_javascript_evaluation *e)
{
    return pawl__raise(e->context, "MemoryLimitExceededException",
                       "The script needs more memory than the %u bytes it may have.",
                       e->js->options.memory_bytes_max);
}

static int raise_thrown(struct pawl_javascript_evaluation *e, struct pawl_str told)
{
    size_t first = pawl__str_find(told, '\n', 0);
    size_t second = pawl__str_find(told, '\n', first + 1);
    struct pawl_str name = pawl__str_slice(told, 0, first);
    struct pawl_str message = pawl__str_slice(told, second + 1, told.len);

    if (pawl__str_is(name, "RangeError") &&
        pawl__str_is(message, "Maximum call stack size exceeded"))
        return pawl__raise(e->context, "RecursionDepthOverflowException",
                           "The recursion is forbidden by script host.");
    if (pawl__str_is(name, "InternalError") && pawl__str_is(message, "out of memory"))
        return raise_no_memory(e);
    return pawl__raise(e->context, "JavaScriptException", "%.*s", PAWL_STR_ARG(message));
}

/* Writes what was set, also by a script that threw afterwards. */
static int write_changes(struct pawl_javascript_evaluation *e)
{
    int status = PAWL_OK;

    for (const struct pawl_javascript_change *c = e->changes; c && status == PAWL_OK; c = c->next)
        status = pawl__variable_set(e->context, c->name, c->value);
    return status;
}

static int64_t read_clock(void *ctx)
{
    const struct pawl_javascript_evaluation *e = ctx;

    return pawl_env_processor_ns(e->js->env);
}

static bool must_stop(void *ctx)
{
    const struct pawl_javascript_evaluation *e = ctx;

    return pawl__context_must_stop(e->context);
}

static bool may_grow(void *ctx)
{
    const struct pawl_javascript_evaluation *e = ctx;

    return pawl__javascript_grow(e->realm, e->context);
}

int pawl__javascript_evaluate(struct pawl_javascript_evaluation *e, bool *needs_own_engine)
{
    const struct pawl_javascript_options *options = &e->js->options;
    struct pawl_quickjs_limits limits = {
        .fuel = options->fuel_max,
        .time_ns = options->time_ms_max * 1000000,
        .memory_bytes = options->memory_bytes_max,
        .stack_bytes = options->stack_bytes_max,
    };
    struct pawl_quickjs_host host = {
        .call = pawl__javascript_host_call,
        .processor_ns = read_clock,
        .stop = must_stop,
        .grow = may_grow,
        .now_unix_ns = (pawl__now(e->context) - PAWL_DATETIME_UNIX_EPOCH_TICKS) * 100,
        .ctx = e,
    };
    struct inside inside = {.e = e};
    enum pawl_quickjs_end end;
    int status;

    e->variables = pawl__js_undefined();
    end = pawl__quickjs_enter(e->realm->engine, &host, &limits, run_inside, &inside);
    pawl__javascript_realm_leave(e->realm, end == PAWL_QUICKJS_DONE && inside.is_clean);
    *needs_own_engine = inside.needs_own_engine;
    if (end != PAWL_QUICKJS_DONE)
        return raise_limit(e, end);
    if (e->status != PAWL_OK)
        return e->status;
    if (e->script->syntax_error.ptr)
        return pawl__raise(e->context, "ScriptPreparationException", "%.*s",
                           PAWL_STR_ARG(e->script->syntax_error));
    if (inside.needs_own_engine)
        return PAWL_OK;
    status = write_changes(e);
    if (status == PAWL_OK && inside.threw)
        status = inside.no_memory ? raise_no_memory(e) : raise_thrown(e, inside.error);
    return status;
}
