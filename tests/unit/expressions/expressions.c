/* SPDX-License-Identifier: Apache-2.0 */
/* The languages against a context of five functions, which stand in for the running engine's. */
#include "expressions/expressions.h"

#include "engine/context.h"
#include "lib/test.h"

#include <stdio.h>

/* ---- the stand-in ------------------------------------------------------------------------ */

struct scene {
    struct pawl_context context; /* first: the functions below find the scene by it */
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_block block;
    char raised[256];
};

static struct scene *scene_of(const struct pawl_context *context)
{
    return (struct scene *)(uintptr_t)context;
}

struct pawl_arena *pawl__context_arena(const struct pawl_context *context)
{
    return &scene_of(context)->arena;
}

struct pawl_conversion pawl__context_conversion(const struct pawl_context *context)
{
    return (struct pawl_conversion){.arena = &scene_of(context)->arena};
}

int pawl__raise_exception(struct pawl_context *context, const struct pawl_exception *exception)
{
    struct scene *scene = scene_of(context);

    (void)snprintf(scene->raised, sizeof scene->raised, "%.*s: %.*s", PAWL_STR_ARG(exception->type),
                   PAWL_STR_ARG(exception->message));
    return ENGINE_RAISED;
}

int pawl__raise(struct pawl_context *context, const char *type, const char *format, ...)
{
    struct scene *scene = scene_of(context);
    char message[200];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    (void)snprintf(scene->raised, sizeof scene->raised, "%s: %s", type, message);
    return ENGINE_RAISED;
}

struct pawl_block *pawl__memory_find(struct pawl_context *context, struct pawl_str id,
                                     struct pawl_context **scope)
{
    struct scene *scene = scene_of(context);

    (void)scope;
    return pawl__str_equal(id, scene->block.id) ? &scene->block : NULL;
}

bool pawl__workflow_input(struct pawl_context *context, struct pawl_str name,
                          struct pawl_value *out)
{
    (void)context;
    if (!pawl__str_equal_nocase(name, pawl__str("Caption")))
        return false;
    *out = pawl__value_string(pawl__str("hello"));
    return true;
}

static void open_scene(struct scene *scene)
{
    memset(scene, 0, sizeof *scene);
    test_allocator_init(&scene->alloc);
    pawl__arena_init(&scene->arena, &scene->alloc.base, 1 << 20);
    scene->block.id = pawl__str("v-1");
    scene->block.value = pawl__value_int(7);
}

static void close_scene(struct scene *scene)
{
    pawl__arena_release(&scene->arena);
    assert_int_equal(scene->alloc.live_count, 0);
}

/* ---- rows -------------------------------------------------------------------------------- */

/* `expected` is JSON and the type, or "!" and what was raised. */
struct row {
    const struct pawl_expression_ops *ops;
    const char *value;
    const char *target;
    const char *expected;
};

static const char *evaluate(struct scene *scene, const struct row *row)
{
    struct pawl_expression expression = {.ops = row->ops};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_value out = pawl__value_null();
    const struct pawl_type *target = NULL;
    const char *result;
    struct pawl_buf text;
    int status;

    assert_ok(
        pawl__json_parse(&scene->arena, pawl__str(row->value), NULL, &expression.value, NULL, &err),
        &err);
    assert_code(pawl__type_find(&scene->arena, pawl__str(row->target), &target), PAWL_OK);
    status = row->ops->evaluate(&scene->context, &expression, target, &out);
    if (status == ENGINE_RAISED)
        return pawl__arena_printf(&scene->arena, "!%s", scene->raised);
    assert_code(status, PAWL_OK);
    pawl__buf_init(&text, &scene->alloc.base, 1000);
    pawl__json_write(&text, &out.json, PAWL_JSON_ESCAPE_MINIMAL);
    if (out.type) {
        pawl__buf_byte(&text, ' ');
        pawl__type_write(&text, out.type);
    }
    result = pawl__arena_printf(&scene->arena, "%s", pawl__buf_cstr(&text));
    pawl__buf_release(&text);
    return result;
}

static void expressions_evaluate_as_documented(void **state)
{
    const struct pawl_expression_ops *literal = &pawl__expression_literal;
    const struct pawl_expression_ops *object = &pawl__expression_object;
    const struct pawl_expression_ops *variable = &pawl__expression_variable;
    const struct pawl_expression_ops *input = &pawl__expression_input;
    const struct row rows[] = {
        {literal, "\"Hello\"", "String", "\"Hello\" String"},
        {literal, "\"Hello\"", "Object", "\"Hello\" String"},
        {literal, "3", "Int32", "3 Int32"},
        {literal, "3", "Object", "3 Decimal"},
        {literal, "1.10", "Object", "1.10 Decimal"},
        {literal, "1e3", "Object", "1000 Decimal"},
        {literal, "1.10", "String", "\"1.10\" String"},
        {literal, "1e400", "Object", "1e400 Double"},
        {literal, "2", "FlowJoinMode", "\"WaitAll\" FlowJoinMode"},
        {literal, "true", "Boolean", "true Boolean"},
        {literal, "null", "Int32", "null"},
        {literal, "[\"Yes\"]", "Object", "\"[\\\"Yes\\\"]\" String"},
        {literal, "[1, 2]", "Int32[]", "[1,2] Int32[]"},
        {literal, "{\"a\":1}", "ObjectMap", "{\"a\":1} ObjectMap"},
        {literal, "99999999999", "Int32",
         "!OverflowException: Value was either too large or too small for an Int32."},
        {object, "\"[\\\"GET\\\"]\"", "ICollection<String>", "[\"GET\"] List<String>"},
        {object, "\"[\\\"Yes\\\"]\"", "Object", "\"[\\\"Yes\\\"]\" String"},
        {object, "\"\"", "String", "null"},
        {object, "\"  \"", "Object", "null"},
        {object, "\"5\"", "Int32", "5 Int32"},
        {object, "null", "Int32", "null"},
        {&pawl__expression_json, "\"{\\\"a\\\":1}\"", "JSON", "{\"a\":1} JSON"},
        {object, "\"{oops\"", "JSON",
         "!TypeConversionException: Failed to deserialize {oops to System.Dynamic.ExpandoObject"},
        {variable, "{\"id\":\"v-1\",\"name\":\"N\"}", "String", "7 Int32"},
        {variable, "{\"Id\":\"v-1\"}", "Object", "7 Int32"},
        {variable, "{\"id\":\"ghost\"}", "String",
         "!Exception: Failed to retrieve memory block with reference ghost"},
        {variable, "null", "String", "null"},
        {variable, "\"\"", "String", "null"},
        {variable, "{}", "String", "null"},
        {input, "{\"name\":\"caption\"}", "Object", "\"hello\" String"},
        {input, "{\"name\":\"other\"}", "Object", "null"},
        {input, "null", "Object", "null"},
        {&pawl__expression_csharp, "\"1 + 1\"", "Int32",
         "!NotSupportedException: C# expressions are not supported: write it in JavaScript."},
        {&pawl__expression_python, "\"\"", "String",
         "!NotSupportedException: Python expressions are not supported: write it in JavaScript."},
    };
    struct scene scene;

    (void)state;
    open_scene(&scene);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *got = evaluate(&scene, &rows[i]);

        if (strcmp(got, rows[i].expected) != 0)
            fail_msg("%s %s to %s: %s, expected %s", rows[i].ops->type, rows[i].value,
                     rows[i].target, got, rows[i].expected);
    }
    close_scene(&scene);
}

static void object_expressions_are_checked_for_json(void **state)
{
    struct scene scene;
    struct pawl_engine engine = {.alloc = NULL};
    struct pawl_expression expression = {.ops = &pawl__expression_object};
    char message[200] = "";

    (void)state;
    open_scene(&scene);
    engine.alloc = &scene.alloc.base;
    expression.value = pawl__json_string(pawl__str("[\"a\", {\"b\": \"\\u00e4\"}]"));
    assert_true(pawl__expression_object.check(&engine, &expression, message, sizeof message));
    expression.value = pawl__json_string(pawl__str("plain"));
    assert_true(pawl__expression_object.check(&engine, &expression, message, sizeof message));
    expression.value = pawl__json_string(pawl__str("[\"a\", ]"));
    assert_false(pawl__expression_object.check(&engine, &expression, message, sizeof message));
    assert_non_null(strstr(message, "not JSON"));
    close_scene(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_evaluate_as_documented),
        cmocka_unit_test(object_expressions_are_checked_for_json),
    };

    return cmocka_run_group_tests_name("expressions/expressions", tests, NULL, NULL);
}
