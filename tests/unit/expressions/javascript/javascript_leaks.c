/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A differential fuzzer for leaks: script B must do the same on a realm that has run script A as on
 * a new one. A comes from a grammar of things that try to stay; B looks around, or is another A.
 *
 * A pair is one new A and one B. A runs on the realm that all pairs before it have used, as a
 * worker's does; B runs behind it; and B runs alone on a realm that was just restored. Result,
 * variables and correlation of B must be the same. B is A itself (1 of 8), another attack (1 of 4
 * of the rest), or one of the fixed lookers, whose results alone are kept: they are always the
 * same.
 *
 * The test runs a thousand pairs; PAWL_LEAK_PAIRS and PAWL_LEAK_SEED run more, or others.
 */
#include "expressions/javascript/private.h"
#include "unit/expressions/stage.h"

#include <stdio.h>
#include <stdlib.h>

#define PAIRS 1000
#define SOURCE_BYTES 4096
#define SHOWN_BYTES 1000
/* 300,000 turns of a loop: no looker comes near it, and attacks that never end do not take long. */
#define FUEL 10

struct chance {
    uint64_t state;
};

static uint32_t draw(struct chance *chance, uint32_t below)
{
    chance->state ^= chance->state << 13;
    chance->state ^= chance->state >> 7;
    chance->state ^= chance->state << 17;
    return (uint32_t)(chance->state >> 33) % below;
}

/* ---- the grammar ------------------------------------------------------------------------- */

struct text {
    char bytes[SOURCE_BYTES];
    size_t len;
};

/*
 * $o an object that all share, $k a key, $v a value, $f a function's text, $c code that changes
 * something, $s a statement.
 */
static const char *const objects[] = {
    "this",
    "(function () { return this })()",
    "Object.getPrototypeOf(this)",
    "Object.getPrototypeOf({})",
    "Object.getPrototypeOf([])",
    "Object.getPrototypeOf(() => 1)",
    "Object.getPrototypeOf(async () => 1)",
    "Object.getPrototypeOf(function* () {})",
    "Object.getPrototypeOf((function* () {})())",
    "Object.getPrototypeOf(Object.getPrototypeOf([].values()))",
    "Object.getPrototypeOf([].values())",
    "Object.getPrototypeOf(Promise.resolve())",
    "Object.getPrototypeOf(new Error)",
    "Object.getPrototypeOf(/x/)",
    "Object.getPrototypeOf('')",
    "Object.getPrototypeOf(new Map)",
    "Object.getPrototypeOf(getObj() ?? {})",
    "Object.getPrototypeOf(getDoc())",
    "Object.getPrototypeOf(newGuid())",
    "Object.getPrototypeOf(new Uint8Array)",
    "Object",
    "Array",
    "Math",
    "JSON",
    "Promise",
    "Symbol",
    "Error",
    "String",
    "Date",
    "getVariable",
    "setVariable",
    "getN",
    "setN",
    "isNullOrEmpty",
    "Guid",
    "TimeSpan",
    "Guid.Empty",
    "({}).toString",
    "({}).valueOf",
    "[].toString",
    "[].map",
    "''.at",
    "(() => 1).call",
    "new Error().toString",
    "({}).constructor",
    "(() => 1).constructor",
    "[].constructor",
    "(s => s)`x`",
    "(s => s)`x`.raw",
    "getDoc()",
    "variables",
    "LogPersistenceMode",
    "Object.getOwnPropertyDescriptor(Object.getPrototypeOf(new Map), 'size').get",
};

static const char *const keys[] = {
    "leaked", "toString", "valueOf", "then",   "map",  "toJSON",    "constructor",
    "next",   "get",      "set",     "length", "name", "message",   "getName",
    "0",      "call",     "join",    "value",  "N",    "stringify",
};

static const char *const values[] = {
    "1",
    "null",
    "undefined",
    "'stolen'",
    "() => 'stolen'",
    "{ leaked: 1 }",
    "[1, 2]",
    "this",
    "new Proxy({}, { get: () => 'stolen' })",
    "{ get a() { leaked = 1; return 2 } }",
    "{ toJSON() { $c; return 1 } }",
    "{ get x() { $c; return 1 } }",
    "{ valueOf: () => 7 }",
    "Promise.resolve(1)",
    "new Map([[1, 2]])",
    "Symbol.for('leaked')",
    "class { static #p = 1 }",
    "function () { return this }",
    "new Date(0)",
    "/x/g",
    "new Uint8Array(3)",
    "5n",
    "NaN",
};

static const char *const changes[] = {
    "$o.$k = $v",
    "$o['$k'] = $v",
    "Object.defineProperty($o, '$k', { value: $v, configurable: true })",
    "Object.defineProperty($o, '$k', { get: () => 'stolen' })",
    "Object.assign($o, { $k: $v })",
    "delete $o.$k",
    "Object.freeze($o)",
    "Object.preventExtensions($o)",
    "Object['set' + 'PrototypeOf']($o, { leaked: 1 })",
    "$o['__pro' + 'to__'] = { leaked: 1 }",
    "leaked = $v",
    "setVariable('Name', 'stolen')",
    "setName('stolen')",
    "getN = () => 99",
    "[getN] = [() => 99]",
    "({ getName = 5 } = {})",
    "for (getN of [() => 99]);",
    "getVariable = () => 'stolen'",
    "(() => 1).constructor('leaked = 1')()",
    "(() => 1)['const' + 'ructor']('this.leaked = 1; return this')().leaked2 = 1",
    "(() => 1).constructor('}, leaked = 1, function () {')",
    "(async () => { await 0; $c })()",
    "Promise.resolve().then(() => { $c })",
    "Promise.reject(1)",
    "queueMicrotask(() => { $c })",
    "(async function* () { $c; yield 1 })().next()",
    "[3, 1, 2].sort(() => { $c; return 1 })",
    "'a'.replace(/a/, () => { $c })",
    "JSON.stringify({ toJSON() { $c } })",
    "`${{ toString() { $c; return '' } }}`",
    "new (class extends (class { constructor(o) { return o } }) { #p = $v })($o)",
    "Object.groupBy([1], () => { $c; return 'x' })",
    "Array.from({ length: 3 }, () => { $c })",
    "Symbol.for('leaked').description",
    "new Proxy($o, { get() { $c } }).x",
    "variables.Obj = $v",
    "variables.N = $v",
    "(s => { s.leaked = 1 })`leaked`",
    "setCorrelationId('stolen')",
    "Error.captureStackTrace($o)",
    "Error['prepareStack' + 'Trace'] = () => 'stolen'",
    "structuredClone?.($o)",
};

static const char *const statements[] = {
    "$c;",
    "try { $c } catch { }",
    "try { $c } catch { } try { $c } catch { }",
    "try { $s } finally { try { $c } catch { } }",
    "var leaked = $v; function leaked3() { $c }",
    "let leaked4 = $v; { const leaked5 = 1 }",
    "class leaked6 { static { try { $c } catch { } } }",
    "if (getN() > 0) { $s }",
    "for (const k of [1, 2]) { $s }",
    "label: { $s break label }",
    "(function () { $s })();",
    "(function () { try { $c } catch { } return this })().leaked = 1;",
    "with ({}) { $s }",
};

static const char *const wholes[] = {
    "$s 1",
    "$s $s $v",
    "$c",
    "($v)",
    "[$v, $v]",
    "({ a: $v, b: $v })",
    "$s return $v;",
    "$s throw $v;",
    "$s throw new Error('x')",
    "$s throw { get message() { $c; return 'x' } }",
    "$s return { get a() { $c; return 1 } };",
    "$s null.x",
    "$s for (;;);",
    "$s (function f() { f() })()",
    "$s 'x'.repeat(2 ** 29)",
    "$s [].reverse.call({ length: 2 ** 53 - 1 })",
    "$s return 1}}); let leaked = 1; (() => {{",
    "$s return 1}} leaked = 1; {{",
    "1)); $c; ((2",
    "return 1}}); const {getVariable} = {}; (()=>()=>{{ $s",
    "await 1; $s",
    "(async () => { $s return $v })()",
    "globalThis.leaked = 1; $s",
    "eval('let leaked = 1; leaked'); $s",
    "$s )",
    "'use strict'; $s return 1;",
};

/* What a later script would notice. */
static const char *const lookers[] = {
    "typeof leaked + typeof leaked2 + typeof leaked3 + typeof leaked4 + typeof leaked6",
    "getName() + getN() + getVariable('Name')",
    "JSON.stringify([variables.N, variables.Name, variables.Obj])",
    "[[].leaked, ({}).leaked, (() => 1).leaked, ''.leaked, new Error().leaked, /x/.leaked].join()",
    "[({}).toString.leaked, ({}).toString.N, [].map.leaked, Math.leaked, JSON.leaked].join()",
    "Object.getOwnPropertyNames(this).join()",
    "Object.getOwnPropertySymbols(this).length + Object.keys(Object.getPrototypeOf(this)).length",
    "`${{}}${[1, 2]}${new Date(0)}${() => 1}${/x/}${Symbol('x').toString()}${newGuid() !== 1}`",
    "JSON.stringify({ a: [1, { b: null }], d: new Date(0), e: new Map([[1, 2]]) })",
    "[...'abc'].map(x => x + x).reverse().join('-')",
    "(async () => { await 0; return getName() })()",
    "Promise.all([1, Promise.resolve(2)]).then(x => x.join())",
    "(function () { return this === undefined || Object.keys(this).length })()",
    "(s => Object.keys(s).join() + s.raw.join())`x${1}y`",
    "try { null.x } catch (e) { return e.message + e.name + Object.keys(e).join() }",
    "const o = {}; o.toString = () => 'mine'; return `${o}` + ({}).toString();",
    "let getN2 = getN; setN(5); return getN2() + getN();",
    "setVariable('Name', 'x'); variables.N = 3; return getName();",
    "[typeof getVariable, typeof setVariable, typeof getN, typeof Object.keys].join()",
    "Object.isExtensible(this) && Object.isFrozen(Object.getPrototypeOf([]))",
    "Array.from(new Set([1, 1, 2])).concat([...new Map([[1, 2]]).keys()])",
    "getCorrelationId() + '' + getWorkflowInstanceName()",
    "bytesToString(getData()) + new Uint8Array([1]).length",
    "let leaked = 1; const leaked2 = 2; class leaked3 {} return leaked;",
    "var leaked; leaked",
    "Symbol.keyFor(Symbol.for('a')) + Object.getOwnPropertyNames(class {}).join()",
    ("class A { #p = 1; static t(o) { return #p in o } } [A.t(new A), "
     "A.t(Object.getPrototypeOf(this))]"),
};

#define COUNT(list) ((uint32_t)(sizeof(list) / sizeof *(list)))
#define DEPTH_MAX 5

static void expand(struct chance *chance, struct text *out, const char *pattern, unsigned depth);

static void choose(struct chance *chance, struct text *out, const char *const *list, uint32_t count,
                   unsigned depth)
{
    expand(chance, out, list[draw(chance, count)], depth + 1);
}

static void expand(struct chance *chance, struct text *out, const char *pattern, unsigned depth)
{
    for (; *pattern && out->len + 1 < sizeof out->bytes; pattern++) {
        if (*pattern != '$' || !strchr("okvcs", pattern[1]) || pattern[1] == '\0') {
            out->bytes[out->len++] = *pattern;
            continue;
        }
        pattern++;
        if (*pattern == 'o')
            choose(chance, out, objects, COUNT(objects), depth);
        else if (*pattern == 'k')
            choose(chance, out, keys, COUNT(keys), depth);
        else if (depth > DEPTH_MAX)
            expand(chance, out, *pattern == 's' ? "leaked = 1;" : "leaked", depth);
        else if (*pattern == 'v')
            choose(chance, out, values, COUNT(values), depth);
        else if (*pattern == 'c')
            choose(chance, out, changes, COUNT(changes), depth);
        else
            choose(chance, out, statements, COUNT(statements), depth);
    }
    out->bytes[out->len] = '\0';
}

static void make_attack(struct chance *chance, struct text *out)
{
    out->len = 0;
    choose(chance, out, wholes, COUNT(wholes), 0);
}

/* A looker, whose number it returns, or (NO_LOOKER) another attack. */
#define NO_LOOKER UINT32_MAX

static uint32_t make_second(struct chance *chance, struct text *out)
{
    uint32_t number;

    out->len = 0;
    if (draw(chance, 4) == 0) {
        make_attack(chance, out);
        return NO_LOOKER;
    }
    number = draw(chance, COUNT(lookers));
    expand(chance, out, lookers[number], 0);
    return number;
}

/* ---- pairs ------------------------------------------------------------------------------- */

struct act {
    const char *source;
    char shown[SHOWN_BYTES];
};

/* The result, and what became of the workflow. */
static void play_act(struct stage *stage)
{
    struct act *act = stage->arg;
    const char *shown = stage_evaluate(stage, act->source);
    struct pawl_value name = pawl__value_null();
    struct pawl_value n = pawl__value_null();
    int64_t number = -1;

    (void)pawl__variable_get(stage->context, pawl__str("Name"), &name);
    (void)pawl__variable_get(stage->context, pawl__str("N"), &n);
    (void)pawl__json_to_int(&n.json, &number);
    (void)snprintf(act->shown, sizeof act->shown, "%.700s | Name %.*s, N %lld, %.*s", shown,
                   PAWL_STR_ARG(pawl__json_str(&name.json)), (long long)number,
                   PAWL_STR_ARG(pawl__correlation_id(stage->context)));
}

static void run_act(struct pawl_javascript *js, struct act *act, const char *source)
{
    struct stage stage = {.arg = act};

    act->source = source;
    stage_run(&stage, js, play_act);
}

static bool hit_a_limit(const char *shown)
{
    return strstr(shown, "StatementsCountOverflow") || strstr(shown, "MemoryLimit");
}

/* What a script does on a realm that nothing has run on. */
static void run_alone(struct pawl_javascript *fresh, struct act *act, const char *source)
{
    if (fresh->idle_sealed)
        fresh->idle_sealed->spoilt = true; /* restored before its next use */
    run_act(fresh, act, source);
}

/* The same of a looker, run once. */
static const struct act *look_alone(struct pawl_javascript *fresh, uint32_t number)
{
    static struct act known[COUNT(lookers)];
    struct act *act = &known[number];

    if (act->source)
        return act;
    run_alone(fresh, act, lookers[number]);
    assert_false(hit_a_limit(act->shown));
    return act;
}

static void compare_pair(struct pawl_javascript *used, struct pawl_javascript *fresh,
                         struct chance *chance)
{
    static struct text first;
    static struct text second;
    struct act act;
    struct act after;
    struct act own;
    const struct act *alone = &own;
    uint64_t seed = chance->state;
    uint32_t looker = NO_LOOKER;

    make_attack(chance, &first);
    if (draw(chance, 8) == 0)
        second = first;
    else
        looker = make_second(chance, &second);
    run_act(used, &act, first.bytes);
    run_act(used, &after, second.bytes);
    if (looker != NO_LOOKER)
        alone = look_alone(fresh, looker);
    else
        run_alone(fresh, &own, second.bytes);
    if (strcmp(after.shown, alone->shown) != 0 &&
        !(hit_a_limit(after.shown) && hit_a_limit(alone->shown)))
        fail_msg("seed %llu\nA: %s\nB: %s\nafter A: %s\nalone:   %s", (unsigned long long)seed,
                 first.bytes, second.bytes, after.shown, alone->shown);
}

static uint64_t setting(const char *name, uint64_t usual)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : usual;
}

static void a_script_leaves_nothing_that_the_next_one_notices(void **state)
{
    struct pawl_javascript_options options = {
        .fuel_max = FUEL, .time_ms_max = 3600 * 1000, .memory_bytes_max = 24u << 20};
    struct chance chance = {.state = setting("PAWL_LEAK_SEED", UINT64_C(88172645463325252))};
    uint64_t pairs = setting("PAWL_LEAK_PAIRS", PAIRS);
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_javascript *used;
    struct pawl_javascript *fresh;
    struct pawl_env *env;

    (void)state;
    assert_ok(pawl_system_env_open(&env, &err), &err);
    assert_ok(pawl__javascript_open(env, &options, &used, &err), &err);
    assert_ok(pawl__javascript_open(env, &options, &fresh, &err), &err);
    for (uint64_t i = 0; i < pairs; i++)
        compare_pair(used, fresh, &chance);
    pawl__javascript_close(used);
    pawl__javascript_close(fresh);
    pawl_system_env_close(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_script_leaves_nothing_that_the_next_one_notices),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
