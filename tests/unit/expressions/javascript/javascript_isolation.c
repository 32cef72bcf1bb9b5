/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One evaluation leaves nothing that a later one could notice, whatever its text is; no text runs
 * outside of its function or while it is only checked; no built-in function outlasts the limits,
 * and a burst that must stop does not wait for a script.
 */
#include "unit/expressions/stage.h"

#include <stdio.h>

#define OUT_OF_FUEL                                                                                \
    "StatementsCountOverflowException: The maximum number of statements executed have been "       \
    "reached."
#define ESCAPE "return 1}}); let {getVariable} = {getVariable: () => 'stolen'}; (()=>()=>{{"

struct theatre {
    struct pawl_env *env;
    struct pawl_javascript *js;
};

static int open_theatre(void **state)
{
    static struct theatre theatre;
    struct pawl_javascript_options options = pawl__javascript_options_default;
    struct pawl_error err = PAWL_ERROR_INIT;

    /* Fuel alone: what happens does not depend on the machine. */
    options.fuel_max = 300;
    options.time_ms_max = 3600 * 1000;
    assert_ok(pawl_system_env_open(&theatre.env, &err), &err);
    assert_ok(pawl__javascript_open(theatre.env, &options, &theatre.js, &err), &err);
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

/* ---- jobs -------------------------------------------------------------------------------- */

#define LATER "Promise.resolve().then(() => setVariable('Name', 'stolen'));"

static void play_jobs(struct stage *stage)
{
    static const char *const sources[] = {
        LATER " throw new Error('x')",
        "queueMicrotask(() => setVariable('Name', 'stolen')); null.x",
        "({ get a() { " LATER " return 1 } })",
        "({ toJSON() { " LATER " return 1 } })",
        "({ a: { toJSON() { " LATER " return 1 } } })",
        "variables.Obj = { get a() { " LATER " return 1 } }; 1",
        "throw { get message() { " LATER " return 'x' } }",
        "throw { toString() { " LATER " return 'x' } }",
        "(async () => { try { await 0 } finally { queueMicrotask(() => { throw 1 }) } })(); "
        "throw 1",
        "[new Date(0 / 0), { get a() { " LATER " return 1 } }].reverse()",
    };

    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        (void)stage_evaluate(stage, sources[i]);
        assert_evaluates(stage, "getName()", "\"abc\"");
        assert_evaluates(stage, "(async () => { await 0; return getName() })()", "\"abc\"");
        assert_evaluates(stage, "getName()", "\"abc\"");
    }
}

static void no_job_outlives_its_evaluation(void **state)
{
    const struct theatre *theatre = *state;
    struct stage stage = {.play = NULL};

    stage_run(&stage, theatre->js, play_jobs);
}

/* ---- texts that are no body -------------------------------------------------------------- */

static const char *const escapes[] = {
    ESCAPE,
    "return 1}; { 2",
    "return 1} leaked = 1; {",
    "return 1}} leaked = 1; {{",
    "return 1}}, leaked = 1, () => {{",
    "return 1}}), leaked = 1, (() => {{",
    "return 1}}); const leaked = 1; (() => {{",
    "return 1}}); class leaked {}; (() => {{",
    "return 1}}); globalThis.leaked = 1; (() => {{",
    "return 1}}); while (true); (() => {{",
    "return 1}, leaked: 1, m() {",
    "return 1}}, leaked = {m() {",
    "return 1} /* */ ; var leaked = 1; function f() {",
    "1)); let leaked = 1; ((2",
    "1), leaked = 1, (2",
    "1] = [leaked = 1",
};

static void play_escapes(struct stage *stage)
{
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
        const char *shown = stage_evaluate(stage, escapes[i]);

        if (strstr(escapes[i], "return"))
            assert_int_equal(strncmp(shown, "ScriptPreparationException: Could not prepare script",
                                     strlen("ScriptPreparationException: ")),
                             0);
        assert_evaluates(stage, "typeof leaked + getVariable('Name')", "\"undefinedabc\"");
    }
    /* What is a body stays one. */
    assert_evaluates(stage, "if (getN() > 0) { return '}}); (' } return /[}})(]/;", "\"}}); (\"");
    assert_evaluates(stage, "'use strict'; return (function () { return typeof this })();",
                     "\"object\"");
    assert_evaluates(stage, "let variables = 1, args = 2; return variables + args // }}", "3");
    assert_evaluates(stage, "return `}}${(() => { return ')' })()}`; /* }} */", "\"}})\"");
}

static void a_text_that_closes_its_function_is_refused(void **state)
{
    const struct theatre *theatre = *state;
    struct stage stage = {.play = NULL};

    stage_run(&stage, theatre->js, play_escapes);
}

static void play_checks(struct stage *stage)
{
    const struct pawl_expression_ops *ops =
        pawl__engine_expression(&stage->rig.engine, pawl__str("JavaScript"));
    char message[256];

    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
        const struct pawl_expression expression = {
            .value = pawl__json_string(pawl__str(escapes[i])), .ops = ops};

        if (strstr(escapes[i], "return"))
            assert_false(ops->check(&stage->rig.engine, &expression, message, sizeof message));
        assert_evaluates(stage, "typeof leaked + getVariable('Name')", "\"undefinedabc\"");
    }
}

static void checking_a_text_runs_nothing(void **state)
{
    const struct theatre *theatre = *state;
    struct stage stage = {.play = NULL};

    stage_run(&stage, theatre->js, play_checks);
}

/* ---- what a compiled text remembers ------------------------------------------------------ */

static void play_twice(struct stage *stage)
{
    static const char *const sources[] = {
        "const n = getN(); getN = () => n + 1; n",
        "const n = getN(); [getN] = [() => n + 1]; n",
        "const n = getN(); for (getN of [() => n + 1]); n",
        "const n = getN(); ({ getN = 5 } = {}); return n;",
        "const n = getN(); (() => { getN = () => n + 1 })(); return n;",
        "const n = variables.N; variables = { N: 7 }; return n;",
    };

    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        for (int round = 0; round < 3; round++)
            (void)stage_evaluate(stage, sources[i]);
        assert_evaluates(stage, "getN()", "1");
    }
    for (int round = 0; round < 3; round++)
        assert_evaluates(stage, sources[4], "1");
    for (int round = 0; round < 3; round++)
        assert_evaluates(stage, "((n = getN()) => { [getN] = [() => 9]; return n })()", "1");
}

static void an_assigned_accessor_is_as_before_in_the_next_evaluation(void **state)
{
    const struct theatre *theatre = *state;
    struct stage stage = {.play = NULL};

    stage_run(&stage, theatre->js, play_twice);
}

/* ---- what built-in functions return ------------------------------------------------------ */

/*
 * Calls every function in reach with a few arguments, twice, and names those whose results inherit
 * from an object that both results share and that can be changed.
 */
#define SELVES 24
static const char shared_results[] =
    "const seen = new Set(), open = [], bad = new Set();"
    "const add = v => { if (v !== null && (typeof v === 'object' || typeof v === 'function')"
    "  && !seen.has(v)) { seen.add(v); open.push(v); } };"
    "const makes = [() => undefined, () => [], () => [3, 1], () => ({}), () => 'ab', () => 1,"
    "  () => x => x, () => new Map([[1, 2]]), () => new Set([1]), () => /a/g, () => new Date(0),"
    "  () => [1].values(), () => (function* () { yield 1 })(), () => Promise.resolve(1),"
    "  () => new ArrayBuffer(8), () => new Uint8Array(8), () => new DataView(new ArrayBuffer(8)),"
    "  () => new Proxy({}, {}), () => (async function* () { yield 1 })(), () => 5n, "
    "  () => Symbol.iterator, () => new Error('x'), () => new WeakMap(), () => class {}];"
    "const protos = v => { const all = []; for (let p = v; p !== null && p !== undefined && "
    "  all.length < 20;) { p = Object.getPrototypeOf(p); if (p) all.push(p) } return all };"
    "add(Object.getPrototypeOf(this));"
    "for (const make of makes) for (const p of protos(make())) add(p);"
    "const shared = (a, b) => { const pa = protos(a), pb = protos(b);"
    "  return pa.filter(p => pb.includes(p) && !Object.isFrozen(p)) };"
    "const call = (f, t, a, isNew) => { try { return isNew ? new f(...a) : f.apply(t, a) } catch { "
    "  return undefined } };"
    "let calls = 0;"
    "while (open.length) try { const v = open.pop();"
    "  if (v === this) continue;"
    "  for (const p of protos(v)) add(p);"
    "  for (const k of Object.getOwnPropertyNames(v).concat(Object.getOwnPropertySymbols(v))) {"
    "    const d = Object.getOwnPropertyDescriptor(v, k); add(d.value); add(d.get); add(d.set); }"
    "  if (typeof v !== 'function') continue;"
    "  for (const self of [makes[which]]) for (const arg of [makes[0], makes[2], makes[6], "
    "makes[11]])"
    "    for (const isNew of [false, true]) try { calls++;"
    "      const a = call(v, self(), [arg(), arg()], isNew), b = call(v, self(), [arg(), arg()], "
    "isNew);"
    "      if (a === null || b === null || a === undefined || b === undefined) continue;"
    "      for (const p of shared(a, b)) if (p !== this) bad.add(v.name || String(v).slice(0, 40));"
    "      if (a === b && (typeof a === 'object' || typeof a === 'function') && a !== this &&"
    "        !Object.isFrozen(a)) bad.add('same ' + v.name); } catch { } } catch { }"
    "return calls > 1000 ? [...bad].join() : 'too few: ' + calls;";

static void play_results(struct stage *stage)
{
    static char source[sizeof shared_results + 64];

    /* One kind of `this` at a time: what all of them leave needs more memory than there is. */
    for (int which = 0; which < SELVES; which++) {
        (void)snprintf(source, sizeof source, "const which = %d; %s", which, shared_results);
        assert_evaluates(stage, source, "\"\"");
    }
}

static void what_built_in_functions_return_shares_nothing_that_can_be_changed(void **state)
{
    const struct theatre *theatre = *state;
    struct pawl_javascript_options options = {.fuel_max = 100000, .time_ms_max = 3600 * 1000};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct stage stage = {.play = NULL};
    struct pawl_javascript *js;

    assert_ok(pawl__javascript_open(theatre->env, &options, &js, &err), &err);
    stage_run(&stage, js, play_results);
    pawl__javascript_close(js);
}

/* ---- limits in built-in functions -------------------------------------------------------- */

static void play_built_ins(struct stage *stage)
{
    static const char *const sources[] = {
        "[].reverse.call({ length: 2 ** 53 - 1 })",
        "[].shift.call({ length: 2 ** 53 - 1 })",
        "[].unshift.call({ length: 2 ** 53 - 2 }, 1)",
        "[].copyWithin.call({ length: 2 ** 53 - 1 }, 0, 1)",
        "[].splice.call({ length: 2 ** 53 - 1 }, 0, 1)",
        "[].join.call({ length: 2 ** 53 - 1 })",
        "[].concat.call([], { length: 2 ** 53 - 1, [Symbol.isConcatSpreadable]: true })",
        "[].sort.call({ length: 2 ** 53 - 1 })",
        "[].flat.call({ length: 2 ** 53 - 1 })",
        "[].indexOf.call({ length: 2 ** 53 - 1 }, 1)",
        "[].includes.call({ length: 2 ** 53 - 1 }, 1)",
        "[].lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)",
        "[].fill.call({ length: 2 ** 53 - 1 }, 1)",
        "[].toReversed.call({ length: 2 ** 31 })",
        "[].at.call(new Proxy({}, { get: () => { for (;;); } }), 1)",
        "String.raw({ raw: { length: 2 ** 53 - 1 } })",
        "new Array(2 ** 32 - 1).join()",
        "new Array(2 ** 32 - 1).toString()",
        "\"a\".repeat(1e5).includes(\"a\".repeat(5e4) + \"b\")",
        "\"a\".repeat(1e5).indexOf(\"a\".repeat(5e4) + \"b\")",
        "\"a\".repeat(1e5).split(\"a\".repeat(5e4) + \"b\").length",
        "\"a\".repeat(1e5).replaceAll(\"a\".repeat(5e4) + \"b\", '').length",
        "\"a\".repeat(1e5).lastIndexOf(\"a\".repeat(5e4) + \"b\")",
        "'1'.repeat(1e6) * 1 + Number(BigInt('7'.repeat(1e6)) % 3n)",
        "let n = 7n; for (;;) n = n * n % (3n ** 20000n);",
        "JSON.stringify(new Array(2 ** 32 - 1))",
        "JSON.stringify({ toJSON() { for (;;); } })",
        "Object.fromEntries({ [Symbol.iterator]: () => ({ next: () => ({ value: [1, 2] }) }) })",
        "new Set({ [Symbol.iterator]: () => ({ next: () => ({ value: 1 }) }) })",
        "Math.max.apply(null, { length: 65000 }), Reflect, [].reverse.call({ length: 2 ** 50 })",
        "new Uint8Array({ [Symbol.iterator]: () => ({ next: () => ({ value: 1 }) }) })",
        "const a = new Uint8Array(1e7); for (;;) a.fill(1), a.copyWithin(1, 0), a.slice().length;",
        "for (;;) 'x'.repeat(1e6).toUpperCase().normalize();",
        "let p = {}; for (let i = 0; i < 60; i++) p = new Proxy(p, p); return p.x;",
        "let s = 'ab'; for (let i = 0; i < 28; i++) s += s; for (;;) if (s === s + '') s.at(9);",
        "for (;;) setVariable('Name', getName());",
        "for (let i = 0; ; i++) setVariable('v' + i, i);",
        "for (;;) bytesFromBase64(stringToBase64('x'.repeat(1e5)));",
    };

    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        const char *shown = stage_evaluate(stage, sources[i]);

        /* Some of them need too much memory first, or are refused. */
        if (strcmp(shown, OUT_OF_FUEL) != 0 && strstr(shown, "Exception: ") == NULL)
            fail_msg("%s: %.100s", sources[i], shown);
        assert_evaluates(stage, "1 + 1", "2");
    }
    assert_evaluates(stage, sources[0], OUT_OF_FUEL);
    assert_evaluates(stage, sources[15], OUT_OF_FUEL);
    assert_evaluates(stage, sources[18], OUT_OF_FUEL);
}

static void no_built_in_function_outlasts_the_limits(void **state)
{
    const struct theatre *theatre = *state;
    struct stage stage = {.play = NULL};

    stage_run(&stage, theatre->js, play_built_ins);
}

/* ---- stopping ---------------------------------------------------------------------------- */

static bool stop_after(void *ctx)
{
    unsigned *polls = ctx;

    return *polls == 0 || --*polls == 0;
}

static void play_stop(struct stage *stage)
{
    static const char *const sources[] = {
        "for (;;);", "for (;;) { try { for (;;); } catch { } finally { for (;;); } }",
        "[].reverse.call({ length: 2 ** 53 - 1 })", "globalThis.x = 1; for (;;);"};

    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        struct pawl_javascript_run run = {.source = pawl__str(sources[i])};
        unsigned polls = 20;

        pawl__burst_set_stop(stage->context->burst, stop_after, &polls);
        assert_code(pawl__javascript_run(stage->context, &run), PAWL_EBUSY);
        pawl__burst_set_stop(stage->context->burst, NULL, NULL);
        assert_evaluates(stage, "getName()", "\"abc\"");
    }
}

static void a_burst_that_must_stop_interrupts_its_script(void **state)
{
    const struct theatre *theatre = *state;
    struct pawl_javascript_options options = {.fuel_max = 4000000000u, .time_ms_max = 3600 * 1000};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct stage stage = {.play = NULL};
    struct pawl_javascript *js;

    assert_ok(pawl__javascript_open(theatre->env, &options, &js, &err), &err);
    stage_run(&stage, js, play_stop);
    pawl__javascript_close(js);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_job_outlives_its_evaluation),
        cmocka_unit_test(a_text_that_closes_its_function_is_refused),
        cmocka_unit_test(checking_a_text_runs_nothing),
        cmocka_unit_test(an_assigned_accessor_is_as_before_in_the_next_evaluation),
        cmocka_unit_test(what_built_in_functions_return_shares_nothing_that_can_be_changed),
        cmocka_unit_test(no_built_in_function_outlasts_the_limits),
        cmocka_unit_test(a_burst_that_must_stop_interrupts_its_script),
    };

    return cmocka_run_group_tests(tests, open_theatre, close_theatre);
}
