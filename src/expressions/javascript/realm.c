/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Realms: engines made ready for scripts. Booting happens once per pawl_javascript and leaves two
 * images, one as scripts of their own engine find it and one sealed for sharing; a realm is an
 * engine with one of them in it, and what it has compiled since.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "expressions/javascript/private.h"
#include "expressions/javascript_boot.h" /* made by the build */

#include <stdio.h>

/* Of texts and names that a realm keeps; the engine's own memory is full long before. */
#define REALM_BYTES_MAX ((size_t)64 << 20)

/* Compiled functions of a realm; what it compiled may be of no more use. */
#define REALM_MEMORY_MAX ((size_t)PAWL_QUICKJS_SMALL)
/* A buffer for texts that has grown past this is freed before its next use. */
#define TEXT_KEPT_MAX ((size_t)1 << 20)

static const struct pawl_quickjs_limits boot_limits = {
    .fuel = UINT32_MAX,
    .memory_bytes = 32u << 20,
    .stack_bytes = PAWL_QUICKJS_STACK_DEFAULT,
};

/* ---- booting ----------------------------------------------------------------------------- */

struct boot {
    struct pawl_javascript *js;
    struct pawl_js seal;
    bool failed;
    char message[256];
};

static void note_failure(struct pawl_quickjs *engine, struct boot *boot)
{
    struct pawl_js error = pawl__js_caught(engine);
    struct pawl_arena arena;
    struct pawl_str text = {"?", 1};

    pawl__arena_init(&arena, &boot->js->env->alloc, 65536);
    (void)pawl__js_text(engine, error, &arena, &text);
    (void)snprintf(boot->message, sizeof boot->message, "%.*s", PAWL_STR_ARG(text));
    pawl__arena_release(&arena);
    pawl__js_free(engine, error);
    boot->failed = true;
}

static bool add_natives(struct pawl_quickjs *engine, struct pawl_js natives)
{
    const char *name;

    for (uint32_t i = 0; (name = pawl__javascript_native_name(i)) != NULL; i++) {
        if (!pawl__js_set(engine, natives, name, pawl__js_function(engine, name, i)))
            return false;
    }
    return true;
}

static bool add_functions(struct pawl_quickjs *engine, const struct pawl_javascript *js)
{
    struct pawl_js global = pawl__js_global(engine);
    bool done = true;

    for (uint32_t i = 0; i < js->function_count && done; i++) {
        const char *name = js->functions[i].name;
        uint32_t number = pawl__javascript_added_number(i);

        done = pawl__js_set(engine, global, name, pawl__js_function(engine, name, number));
    }
    pawl__js_free(engine, global);
    return done;
}

static void boot_realm(struct pawl_quickjs *engine, void *arg)
{
    struct boot *boot = arg;
    struct pawl_javascript_roots *roots = &boot->js->roots;
    struct pawl_js natives = pawl__js_object(engine);
    struct pawl_js function;
    struct pawl_js made;

    function = pawl__js_evaluate(
        engine,
        pawl__str_make((const char *)pawl__javascript_boot_text, pawl__javascript_boot_size),
        "boot");
    if (!add_natives(engine, natives) || pawl__js_kind(function) != PAWL_JS_OBJECT) {
        note_failure(engine, boot);
        return;
    }
    made = pawl__js_call(engine, function, &natives, 1);
    if (pawl__js_kind(made) != PAWL_JS_OBJECT || !add_functions(engine, boot->js)) {
        note_failure(engine, boot);
        return;
    }
    roots->pack = pawl__js_get(engine, made, "pack");
    roots->nested = pawl__js_get(engine, made, "nested");
    roots->plain = pawl__js_get(engine, made, "plainProto");
    roots->wrap = pawl__js_get(engine, made, "wrap");
    roots->copied = pawl__js_get(engine, made, "copied");
    roots->names = pawl__js_get(engine, made, "names");
    roots->describe = pawl__js_get(engine, made, "describe");
    roots->expando = pawl__js_get(engine, made, "expandoProto");
    roots->dictionary = pawl__js_get(engine, made, "dictionaryProto");
    roots->string_dictionary = pawl__js_get(engine, made, "stringDictionaryProto");
    roots->json_object = pawl__js_get(engine, made, "jsonProto");
    roots->json_array = pawl__js_get(engine, made, "jsonArrayProto");
    boot->seal = pawl__js_get(engine, made, "seal");
}

static void seal_realm(struct pawl_quickjs *engine, void *arg)
{
    struct boot *boot = arg;
    struct pawl_javascript_roots *roots = &boot->js->roots;

    roots->shared = pawl__js_call(engine, boot->seal, NULL, 0);
    if (pawl__js_kind(roots->shared) != PAWL_JS_OBJECT) {
        note_failure(engine, boot);
        return;
    }
    roots->global_own = pawl__js_global_own(engine);
    roots->lexical_own = pawl__js_lexical_own(engine);
    pawl__js_collect(engine);
}

static int enter_boot(struct pawl_quickjs *engine, struct boot *boot,
                      void (*run)(struct pawl_quickjs *engine, void *arg), struct pawl_error *err)
{
    static const struct pawl_quickjs_host host = {.call = NULL};

    if (pawl__quickjs_enter(engine, &host, &boot_limits, run, boot) != PAWL_QUICKJS_DONE)
        return pawl__error_set(err, PAWL_EINTERNAL, "the JavaScript engine cannot be made ready");
    if (boot->failed)
        return pawl__error_set(err, PAWL_EINTERNAL,
                               "the JavaScript engine cannot be made ready: %s", boot->message);
    return PAWL_OK;
}

int pawl__javascript_boot(struct pawl_javascript *js, struct pawl_error *err)
{
    struct boot boot = {.js = js};
    struct pawl_quickjs_image *plain = NULL;
    struct pawl_quickjs *engine = NULL;
    int status = pawl__quickjs_open(&js->env->alloc, &engine, err);

    if (status == PAWL_OK)
        status = enter_boot(engine, &boot, boot_realm, err);
    if (status == PAWL_OK)
        status = pawl__quickjs_image_take(engine, &js->env->alloc, &plain);
    if (status == PAWL_OK)
        status = enter_boot(engine, &boot, seal_realm, err);
    if (status == PAWL_OK)
        status = pawl__quickjs_image_take(engine, &js->env->alloc, &js->sealed);
    if (status == PAWL_OK)
        js->plain = plain;
    else
        pawl__quickjs_image_free(plain);
    pawl__quickjs_close(engine);
    return status;
}

/* ---- realms ------------------------------------------------------------------------------ */

static void drop_compiled(struct pawl_javascript_realm *realm)
{
    const struct pawl_allocator *alloc = &realm->owner->env->alloc;

    pawl__map_release(&realm->scripts);
    pawl__map_release(&realm->accessors);
    pawl__map_init(&realm->scripts, alloc, realm->owner->seed);
    pawl__map_init(&realm->accessors, alloc, realm->owner->seed);
    pawl__arena_reset(&realm->arena);
    realm->accessor_names = NULL;
    realm->accessor_count = 0;
    realm->accessor_cap = 0;
}

int pawl__javascript_realm_restore(struct pawl_javascript_realm *realm)
{
    drop_compiled(realm);
    realm->spoilt = false;
    realm->evaluated = false;
    return pawl__quickjs_restore(realm->engine,
                                 realm->sealed ? realm->owner->sealed : realm->owner->plain);
}

int pawl__javascript_realm_new(struct pawl_javascript *js, bool sealed,
                               struct pawl_javascript_realm **out, struct pawl_error *err)
{
    const struct pawl_allocator *alloc = &js->env->alloc;
    struct pawl_javascript_realm *realm = pawl__alloc_zeroed(alloc, sizeof *realm);
    int status;

    if (!realm)
        return pawl__error_code(err, PAWL_ENOMEM);
    realm->owner = js;
    realm->sealed = sealed;
    pawl__arena_init(&realm->arena, alloc, REALM_BYTES_MAX);
    pawl__map_init(&realm->scripts, alloc, js->seed);
    pawl__map_init(&realm->accessors, alloc, js->seed);
    pawl__buf_init(&realm->text, alloc, REALM_BYTES_MAX);
    status = pawl__quickjs_open(alloc, &realm->engine, err);
    if (status == PAWL_OK)
        status = pawl__javascript_realm_restore(realm);
    if (status == PAWL_OK)
        *out = realm;
    else
        pawl__javascript_realm_free(realm);
    return status;
}

void pawl__javascript_realm_free(struct pawl_javascript_realm *realm)
{
    if (!realm)
        return;
    pawl__quickjs_close(realm->engine);
    pawl__map_release(&realm->scripts);
    pawl__map_release(&realm->accessors);
    pawl__arena_release(&realm->arena);
    pawl__buf_release(&realm->text);
    pawl__free(&realm->owner->env->alloc, realm, sizeof *realm);
}

struct pawl_buf *pawl__javascript_text(struct pawl_javascript_realm *realm)
{
    if (realm->text.cap > TEXT_KEPT_MAX)
        pawl__buf_release(&realm->text);
    pawl__buf_clear(&realm->text);
    return &realm->text;
}

bool pawl__javascript_realm_is_clean(struct pawl_javascript_realm *realm)
{
    const struct pawl_javascript_roots *roots = &realm->owner->roots;
    struct pawl_quickjs *engine = realm->engine;

    if (realm->evaluated && pawl__js_lexical_own(engine) != roots->lexical_own)
        return false;
    realm->evaluated = false;
    return !pawl__js_has_jobs(engine) &&
           pawl__js_global_is_clean(engine, roots->shared, roots->global_own);
}

/* Whether a realm is to begin again: after each script of its own, or when it holds too much. */
static bool is_worn(const struct pawl_javascript_realm *realm)
{
    return !realm->sealed || realm->accessor_count > JAVASCRIPT_ACCESSORS_MAX / 2 ||
           realm->arena.held_bytes > REALM_MEMORY_MAX ||
           pawl__quickjs_memory_bytes(realm->engine) > REALM_MEMORY_MAX;
}

void pawl__javascript_realm_leave(struct pawl_javascript_realm *realm, bool is_clean)
{
    if (!is_clean || is_worn(realm))
        realm->spoilt = true;
}

/* ---- accessors --------------------------------------------------------------------------- */

static bool grow_accessors(struct pawl_javascript_realm *realm)
{
    uint32_t cap = realm->accessor_cap * 2 + 16;
    struct pawl_str *grown;

    if (realm->accessor_count < realm->accessor_cap)
        return true;
    grown = pawl__arena_alloc_array(&realm->arena, cap, sizeof *grown);
    if (!grown)
        return false;
    if (realm->accessor_count > 0)
        memcpy(grown, realm->accessor_names, realm->accessor_count * sizeof *grown);
    realm->accessor_names = grown;
    realm->accessor_cap = cap;
    return true;
}

struct pawl_js pawl__javascript_accessor_function(struct pawl_javascript_realm *realm,
                                                  struct pawl_str name)
{
    struct pawl_js *known = pawl__map_get(&realm->accessors, name);
    struct pawl_js function;
    struct pawl_str copy;

    if (known)
        return *known;
    known = pawl__arena_alloc(&realm->arena, sizeof *known);
    copy = pawl__arena_str(&realm->arena, name);
    if (!known || !copy.ptr || !grow_accessors(realm) ||
        realm->accessor_count == JAVASCRIPT_ACCESSORS_MAX)
        return pawl__js_abort(realm->engine);
    function = pawl__js_function(realm->engine, copy.ptr,
                                 JAVASCRIPT_ACCESSOR_FIRST + realm->accessor_count);
    *known = function;
    if (pawl__js_kind(function) != PAWL_JS_OBJECT)
        return function;
    if (pawl__map_put(&realm->accessors, copy, known) != PAWL_OK)
        return pawl__js_abort(realm->engine);
    realm->accessor_names[realm->accessor_count++] = copy;
    return function;
}

/* ---- scripts ----------------------------------------------------------------------------- */

/* Whether the script assigns to a name that the shared global scope has. */
static bool assigns_built_in(struct pawl_javascript_realm *realm,
                             const struct pawl_javascript_source *source)
{
    struct pawl_js shared = realm->owner->roots.shared;

    if (source->assigned.more)
        return true;
    for (uint32_t i = 0; i < source->assigned.count; i++) {
        if (pawl__js_has(realm->engine, shared, source->assigned.items[i]))
            return true;
    }
    return false;
}

static uint32_t read_number(struct pawl_str text, size_t *at)
{
    uint32_t number = 0;

    while (*at < text.len && text.ptr[*at] >= '0' && text.ptr[*at] <= '9' && number < 100000000)
        number = number * 10 + (uint32_t)(text.ptr[(*at)++] - '0');
    return number;
}

/* The position on the second line of describe(), as 3:14. */
static bool read_place(struct pawl_str told, uint32_t *line, uint32_t *column)
{
    size_t at = pawl__str_find(told, '\n', 0);

    if (at == SIZE_MAX)
        return false;
    at++;
    *line = read_number(told, &at);
    if (at >= told.len || told.ptr[at] != ':')
        return false;
    at++;
    *column = read_number(told, &at);
    return *line > 0 && *column > 0;
}

/* Which limit ended the parser, by what describe() told; NULL: none did. */
static const char *limit_of_parser(struct pawl_str told)
{
    if (pawl__str_starts(told, pawl__str("SyntaxError\n")))
        return NULL;
    if (pawl__str_starts(told, pawl__str("RangeError\n")))
        return "it is nested too deeply for script.stack";
    return "it needs more memory than script.memory";
}

static void keep_syntax_error(struct pawl_javascript_realm *realm,
                              struct pawl_javascript_script *script, uint32_t lines_before)
{
    struct pawl_quickjs *engine = realm->engine;
    struct pawl_js error = pawl__js_caught(engine);
    struct pawl_js told = pawl__js_call(engine, realm->owner->roots.describe, &error, 1);
    struct pawl_str text = {"", 0};
    uint32_t line = 0;
    uint32_t column = 0;
    char what[128];

    pawl__js_free(engine, error);
    if (pawl__js_kind(told) == PAWL_JS_STRING)
        (void)pawl__js_text(engine, told, &realm->arena, &text);
    pawl__js_free(engine, told);
    script->limit = limit_of_parser(text);
    if (script->limit) {
        script->syntax_error = pawl__str(
            pawl__arena_printf(&realm->arena, "Could not prepare script: %s", script->limit));
        return;
    }
    if (read_place(text, &line, &column)) {
        line -= line > lines_before ? lines_before : 0;
        pawl__javascript_unexpected(script->text, &line, &column, what, sizeof what);
    } else {
        (void)snprintf(what, sizeof what, "Unexpected end of input");
    }
    script->syntax_error = pawl__str(pawl__arena_printf(
        &realm->arena, "Could not prepare script: %s (<anonymous>:%u:%u)", what, line, column));
}

/* The text that makes the function: its arguments are what the script may see. */
static void write_wrapper(struct pawl_buf *out, const struct pawl_javascript_script *script,
                          uint32_t bound)
{
    pawl__buf_text(out, "((");
    for (uint32_t i = 0; i < script->source.accessors.count; i++) {
        if (!(bound & (uint32_t)1 << i))
            continue;
        pawl__buf_str(out, script->source.accessors.items[i]);
        pawl__buf_byte(out, ',');
    }
    pawl__buf_text(out, "variables,args,$source");
    if (script->source.inputs.count > 0)
        pawl__buf_text(out, ",input");
    pawl__buf_text(out, ")=>");
    switch (script->mode) {
    case PAWL_JAVASCRIPT_EXPRESSION:
        pawl__buf_text(out, "(\n");
        pawl__buf_str(out, script->source.expression);
        pawl__buf_text(out, "\n))");
        break;
    case PAWL_JAVASCRIPT_BODY:
        pawl__buf_text(out, "{{\n");
        pawl__buf_str(out, script->text);
        pawl__buf_text(out, "\n}})");
        break;
    case PAWL_JAVASCRIPT_STATEMENTS:
        pawl__buf_text(out, "eval($source))");
        break;
    }
}

/* Whether a text compiles; nothing runs. false: it threw. */
static bool compiles(struct pawl_javascript_realm *realm, const struct pawl_buf *text)
{
    struct pawl_quickjs *engine = realm->engine;

    return pawl__js_kind(text->status == PAWL_OK
                             ? pawl__js_check(engine, pawl__buf_peek(text), "<anonymous>")
                             : pawl__js_abort(engine)) != PAWL_JS_EXCEPTION;
}

static bool compiles_between(struct pawl_javascript_realm *realm, const char *before,
                             struct pawl_str inner, const char *after)
{
    struct pawl_buf *text = pawl__javascript_text(realm);

    pawl__buf_text(text, before);
    pawl__buf_str(text, inner);
    pawl__buf_text(text, after);
    return compiles(realm, text);
}

static bool compiles_wrapped(struct pawl_javascript_realm *realm,
                             struct pawl_javascript_script *script, enum pawl_javascript_mode mode)
{
    struct pawl_buf *text = pawl__javascript_text(realm);

    script->mode = mode;
    write_wrapper(text, script, 0);
    return compiles(realm, text);
}

/*
 * A text that closes the function around it could continue outside, where it would affect all
 * scripts. No text can do that in two contexts that do not accept the same continuation: an
 * expression would have to close with ')' here and with ']' there; behind a function's '}' stands a
 * statement, which begins neither with ',' nor with '}', behind that of a method only these.
 */
static bool is_expression(struct pawl_javascript_realm *realm,
                          struct pawl_javascript_script *script)
{
    return compiles_wrapped(realm, script, PAWL_JAVASCRIPT_EXPRESSION) &&
           compiles_between(realm, "[\n", script->source.expression, "\n]");
}

static bool is_body(struct pawl_javascript_realm *realm, struct pawl_javascript_script *script)
{
    /* The ';' keeps a text that begins with "use strict" as it is in a block. */
    return compiles_wrapped(realm, script, PAWL_JAVASCRIPT_BODY) &&
           compiles_between(realm, "function f(){;\n", script->text, "\n}") &&
           compiles_between(realm, "({m(){;\n", script->text, "\n}})");
}

/* Finds out what kind of text it is by having it parsed. */
static void classify(struct pawl_javascript_realm *realm, struct pawl_javascript_script *script)
{
    struct pawl_quickjs *engine = realm->engine;

    if (compiles_between(realm, "", script->text, "")) {
        bool may_be_expression =
            !script->source.begins_statement && script->source.expression.len > 0;

        if (may_be_expression && is_expression(realm, script))
            return;
        if (may_be_expression)
            pawl__js_free(engine, pawl__js_caught(engine));
        script->mode = PAWL_JAVASCRIPT_STATEMENTS;
        return;
    }
    /* Not a script by itself; with `return` it is the body of a function. */
    if (pawl__javascript_mentions(script->text, "return")) {
        pawl__js_free(engine, pawl__js_caught(engine));
        if (!is_body(realm, script))
            keep_syntax_error(realm, script, 1);
        return;
    }
    keep_syntax_error(realm, script, 0);
}

struct pawl_javascript_script *pawl__javascript_script(struct pawl_javascript_realm *realm,
                                                       struct pawl_str text)
{
    struct pawl_javascript_script *script = pawl__map_get(&realm->scripts, text);

    if (script)
        return script;
    script = pawl__arena_alloc_zeroed(&realm->arena, sizeof *script);
    if (!script)
        return NULL;
    script->function = pawl__js_undefined();
    script->text = pawl__arena_str(&realm->arena, text);
    if (!script->text.ptr)
        return NULL;
    pawl__javascript_source_read(script->text, &script->source);
    classify(realm, script);
    if (realm->sealed)
        script->needs_own_engine = script->source.reaches_out || script->source.accessors.more ||
                                   script->source.variables.more || script->source.inputs.more ||
                                   assigns_built_in(realm, &script->source);
    if (realm->arena.status != PAWL_OK ||
        pawl__map_put(&realm->scripts, script->text, script) != PAWL_OK)
        return NULL;
    return script;
}

bool pawl__javascript_bind(struct pawl_javascript_realm *realm,
                           struct pawl_javascript_script *script, uint32_t bound)
{
    struct pawl_quickjs *engine = realm->engine;
    struct pawl_js *functions;
    struct pawl_js made;
    struct pawl_buf *text;
    uint32_t count = 0;

    if (script->bound == bound && pawl__js_kind(script->function) == PAWL_JS_OBJECT)
        return true;
    functions =
        pawl__arena_alloc_array(&realm->arena, PAWL_JAVASCRIPT_NAMES_MAX, sizeof *functions);
    if (!functions)
        return pawl__js_kind(pawl__js_abort(engine)) != PAWL_JS_EXCEPTION;
    for (uint32_t i = 0; i < script->source.accessors.count; i++) {
        if (!(bound & (uint32_t)1 << i))
            continue;
        functions[count] =
            pawl__javascript_accessor_function(realm, script->source.accessors.items[i]);
        if (pawl__js_kind(functions[count++]) != PAWL_JS_OBJECT)
            return false;
    }
    text = pawl__javascript_text(realm);
    write_wrapper(text, script, bound);
    realm->evaluated = true;
    made = text->status == PAWL_OK ? pawl__js_evaluate(engine, pawl__buf_peek(text), "<anonymous>")
                                   : pawl__js_abort(engine);
    if (!pawl__js_is_function(engine, made))
        return false;
    pawl__js_freeze(engine, made);
    pawl__js_free(engine, script->function);
    script->function = made;
    script->bound = bound;
    script->bound_functions = functions;
    script->bound_count = count;
    return true;
}
