/* SPDX-License-Identifier: Apache-2.0 */
/* Where the reference's engine prints or says something else than this one would by itself. */
#include "expressions/stage.h"

#include <pawl/ext/env.h>

struct theatre {
    struct pawl_env *env;
    struct pawl_javascript *js;
};

static int open_theatre(void **state)
{
    static struct theatre theatre;
    struct pawl_error err = PAWL_ERROR_INIT;

    assert_ok(pawl_system_env_open(&theatre.env, &err), &err);
    assert_ok(
        pawl__javascript_open(theatre.env, &pawl__javascript_options_default, &theatre.js, &err),
        &err);
    *state = &theatre;
    return 0;
}

static int close_theatre(void **state)
{
    struct theatre *theatre = *state;

    pawl__javascript_close(theatre->js);
    pawl_system_env_close(theatre->env);
    return 0;
}

static void on_stage(void **state, void (*play)(struct stage *stage))
{
    const struct theatre *theatre = *state;
    struct stage stage = {.arg = NULL};

    stage_run(&stage, theatre->js, play);
}

/* ---- numbers ----------------------------------------------------------------------------- */

static void play_whole_numbers(struct stage *stage)
{
    assert_evaluates(stage, "`${2 ** 53}`", "\"9007199254740992\"");
    assert_evaluates(stage, "`${2 ** 53 + 2}`", "\"9007199254740994\"");
    assert_evaluates(stage, "`${2 ** 56}`", "\"72057594037927936\"");
    assert_evaluates(stage, "'' + -(2 ** 56)", "\"-72057594037927936\"");
    assert_evaluates(stage, "String(2 ** 56) + (2 ** 56).toString() + [2 ** 56]",
                     "\"720575940379279367205759403792793672057594037927936\"");
    assert_evaluates(stage, "JSON.stringify({ a: 2 ** 56 })", "\"{\\\"a\\\":72057594037927936}\"");
    assert_evaluates(stage, "Object.keys({ [2 ** 56]: 1 })[0]", "\"72057594037927936\"");
    assert_evaluates(stage, "`${2 ** 63 - 1024} ${1024 - 2 ** 63}`",
                     "\"9223372036854774784 -9223372036854774784\"");
    /* What an Int64 does not hold is printed as usual. */
    assert_evaluates(stage, "`${2 ** 63} ${-(2 ** 63)}`",
                     "\"9223372036854776000 -9223372036854776000\"");
    assert_evaluates(stage, "`${1e20} ${1e21} ${1.5e300}`",
                     "\"100000000000000000000 1e+21 1.5e+300\"");
    /* Nor do other forms change. */
    assert_evaluates(stage,
                     "(2 ** 56).toString(16) + ' ' + (2 ** 56).toFixed(1) + ' ' + "
                     "(2 ** 56).toPrecision(3)",
                     "\"100000000000000 72057594037927936.0 7.21e+16\"");
    assert_evaluates(stage, "`${2 ** 56 + 0.5} ${0.1 + 0.2} ${5e-7}`",
                     "\"72057594037927936 0.30000000000000004 5e-7\"");
    assert_evaluates(stage, "return globalThis.String(2 ** 56)", "\"72057594037927936\"");
}

static void whole_numbers_print_all_their_digits(void **state)
{
    on_stage(state, play_whole_numbers);
}

static void play_json_numbers(struct stage *stage)
{
    assert_evaluates(stage, "toJson(2 ** 56)", "\"72057594037927940\"");
    assert_evaluates(stage, "toJson([1e20, -1e20, 1e-7, 1.5, 0, -3])",
                     "\"[1E+20,-1E+20,1E-07,1.5,0,-3]\"");
    assert_evaluates(stage, "toJson({ a: { b: [2 ** 60] } })",
                     "\"{\\\"a\\\":{\\\"b\\\":[1.152921504606847E+18]}}\"");
    assert_evaluates(stage, "toJson('1e20')", "\"\\\"1e20\\\"\"");
}

static void to_json_writes_numbers_as_doubles_of_the_host(void **state)
{
    on_stage(state, play_json_numbers);
}

/* ---- dates ------------------------------------------------------------------------------- */

static void set_date(struct stage *stage, const struct pawl_type *type, const char *text)
{
    struct pawl_value date = {.json = pawl__json_string(pawl__str(text)), .type = type};

    assert_code(pawl__memory_set(stage->context, pawl__str("v-Obj"), date), PAWL_OK);
}

static void play_dates(struct stage *stage)
{
    set_date(stage, &pawl__type_datetime, "0001-01-01T00:00:00");
    assert_evaluates(stage, "toJson(getObj())", "\"\\\"0001-01-01T00:00:00\\\"\"");
    assert_evaluates(stage, "toJson({ a: [getObj()] })",
                     "\"{\\\"a\\\":[\\\"0001-01-01T00:00:00\\\"]}\"");
    assert_evaluates(stage, "getObj()", "\"0001-01-01T00:00:00\"");
    assert_evaluates(stage, "variables.Obj", "\"0001-01-01T00:00:00\"");
    assert_evaluates(stage, "JSON.stringify(getObj())", "\"\\\"0001-01-01T00:00:00.000Z\\\"\"");
    /* A date that a script made or changed is one of UTC. */
    assert_evaluates(stage, "new Date(-62135596800000)", "\"0001-01-01T00:00:00Z\"");
    assert_evaluates(stage, "const d = getObj(); d.setUTCFullYear(2); return d;",
                     "\"0002-01-01T00:00:00Z\"");
    set_date(stage, &pawl__type_datetimeoffset, "0001-01-01T00:00:00+00:00");
    assert_evaluates(stage, "toJson(getObj())", "\"\\\"0001-01-01T00:00:00\\\"\"");
    set_date(stage, &pawl__type_datetime, "9999-12-31T23:59:59.9999999");
    assert_evaluates(stage, "toJson(getObj())", "\"\\\"9999-12-31T23:59:59.9999999\\\"\"");
    set_date(stage, &pawl__type_datetime, "9999-12-31T23:59:59.999Z");
    assert_evaluates(stage, "toJson(getObj())", "\"\\\"9999-12-31T23:59:59.999Z\\\"\"");
    set_date(stage, &pawl__type_datetime, "2024-02-29T12:00:00");
    assert_evaluates(stage, "toJson(getObj())", "\"\\\"2024-02-29T12:00:00Z\\\"\"");
    set_date(stage, &pawl__type_datetimeoffset, "2024-02-29T12:00:00+02:00");
    assert_evaluates(stage, "toJson(getObj())", "\"\\\"2024-02-29T10:00:00Z\\\"\"");
}

static void the_first_and_the_last_date_have_no_kind(void **state)
{
    on_stage(state, play_dates);
}

/* ---- errors ------------------------------------------------------------------------------ */

#define assert_throws(stage, source, message)                                                      \
    assert_evaluates(stage, source, "JavaScriptException: " message)

static void play_nothing(struct stage *stage)
{
    assert_throws(stage, "null.foo", "Cannot read property 'foo' of null");
    assert_throws(stage, "undefined.foo()", "Cannot read property 'foo' of undefined");
    assert_throws(stage, "getVariable('Nope').length", "Cannot read property 'length' of null");
    assert_throws(stage, "let o = {}; return o.a.b.c;", "Cannot read property 'b' of undefined");
    assert_throws(stage, "variables.Name.x.y", "Cannot read property 'y' of undefined");
    assert_throws(stage, "null[0]", "Cannot read property '0' of null");
    assert_throws(stage, "null['a b']", "Cannot read property 'a b' of null");
    assert_throws(stage, "null.x = 1", "Cannot read property 'x' of null");
    assert_throws(stage, "nope.x", "nope is not defined");
    assert_throws(stage, "nope()", "nope is not defined");
    assert_throws(stage, "const c = 1; c = 2", "Assignment to constant variable.");
    assert_throws(stage, "x; let x = 1", "Cannot access 'x' before initialization");
    assert_evaluates(stage, "null?.foo", "null");
}

static void reading_of_nothing_is_reported_as_in_the_reference(void **state)
{
    on_stage(state, play_nothing);
}

static void play_named_calls(struct stage *stage)
{
    assert_throws(stage, "let f; f()", "Property 'f' of object is not a function");
    assert_throws(stage, "getName().shout()", "Property 'shout' of object is not a function");
    assert_throws(stage, "variables.Name.shout(1, 'a(', `)${1}`)",
                  "Property 'shout' of object is not a function");
    assert_throws(stage, "let o = {};\nif (true)\n  return o\n    .nope ( 1 );",
                  "Property 'nope' of object is not a function");
    assert_throws(stage, "let a = [1]; a[0]()", "Property '0' of object is not a function");
    assert_throws(stage, "let o = {}; o['a-b'](1)", "Property 'a-b' of object is not a function");
    assert_throws(stage, "Math.nope(1)", "Property 'nope' of object is not a function");
    assert_throws(stage, "JSON.parse('{}').nope()", "Property 'nope' of object is not a function");
    assert_throws(stage, "JSON.stringify(({}).nope(1))",
                  "Property 'nope' of object is not a function");
    assert_throws(stage, "[1].map(x => x.nope())", "Property 'nope' of object is not a function");
    assert_throws(stage, "/* o.a( */ let o = { m() { return 1; } }; o.m(); o.n() // (",
                  "Property 'n' of object is not a function");
    assert_throws(stage, "function g() { let q = {}; q.zap(); } g()",
                  "Property 'zap' of object is not a function");
    assert_throws(stage, "let o = {}; /\\(/.test('x') || o.nope()",
                  "Property 'nope' of object is not a function");
    assert_throws(stage, "return globalThis.getName().shout()",
                  "Property 'shout' of object is not a function");
    assert_throws(stage, "null()", "null is not a function");
    assert_throws(stage, "let o = {}; new o.Foo(1)", "o.Foo is not a constructor");
    assert_throws(stage, "[1].map(5)", "Argument must be callable");
}

static void calling_no_function_names_what_was_called(void **state)
{
    on_stage(state, play_named_calls);
}

/* A wrong name would be worse than none. */
static void play_doubtful_calls(struct stage *stage)
{
    assert_throws(stage, "let s = 'x'; s.foo(s.trim())", "not a function");
    assert_throws(stage, "[1, 2].mapp(x => x + 1).join(',')", "not a function");
    assert_throws(stage, "let i = 0; [1][i]()", "not a function");
    assert_throws(stage, "throw new TypeError('not a function')", "not a function");
    assert_throws(stage, "throw new Error('cannot read property')", "cannot read property");
}

static void where_two_calls_are_as_likely_none_is_named(void **state)
{
    on_stage(state, play_doubtful_calls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_print_all_their_digits),
        cmocka_unit_test(to_json_writes_numbers_as_doubles_of_the_host),
        cmocka_unit_test(the_first_and_the_last_date_have_no_kind),
        cmocka_unit_test(reading_of_nothing_is_reported_as_in_the_reference),
        cmocka_unit_test(calling_no_function_names_what_was_called),
        cmocka_unit_test(where_two_calls_are_as_likely_none_is_named),
    };

    return cmocka_run_group_tests(tests, open_theatre, close_theatre);
}
