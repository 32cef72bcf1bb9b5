/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scripts that mean harm: each ends within its limits, with a message that says which, and the next
 * evaluation finds nothing of it.
 */
#include "unit/expressions/stage.h"

#include <unistd.h>

#define OUT_OF_FUEL                                                                                \
    "StatementsCountOverflowException: The maximum number of statements executed have been "       \
    "reached."
#define OUT_OF_MEMORY                                                                              \
    "MemoryLimitExceededException: The script needs more memory than the 67108864 bytes it may "   \
    "have."
#define TOO_DEEP "RecursionDepthOverflowException: The recursion is forbidden by script host."

/* Four times what one engine may take, images and tests aside. */
#define RESIDENT_BYTES_MAX ((size_t)300 << 20)

struct theatre {
    struct pawl_env *env;
    struct pawl_javascript *js;
};

static int open_theatre(void **state)
{
    static struct theatre theatre;
    struct pawl_javascript_options options = pawl__javascript_options_default;
    struct pawl_error err = PAWL_ERROR_INIT;

    /* Fuel alone, and little of it: what happens does not depend on the machine. */
    options.fuel_max = 3500;
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

static size_t resident_bytes(void)
{
    unsigned long total = 0;
    unsigned long resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &total, &resident), 2);
    (void)fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* What evaluations must always find. */
static void check_untouched(struct stage *stage)
{
    assert_evaluates(stage, "1 + 1", "2");
    assert_evaluates(stage, "[3, 1, 2].map(x => x * 2).sort((a, b) => a - b).join()", "\"2,4,6\"");
    assert_evaluates(stage, "JSON.stringify({ a: [1, { b: null }] })",
                     "\"{\\\"a\\\":[1,{\\\"b\\\":null}]}\"");
    assert_evaluates(stage, "getName()", "\"abc\"");
    assert_evaluates(stage, "typeof leaked + typeof ({}).leaked + typeof (() => 1).leaked",
                     "\"undefinedundefinedundefined\"");
}

/* ---- one attack, twice, with a look around after each ------------------------------------ */

struct plot {
    const char *source;
    const char *expected; /* NULL: anything */
};

static void play_plot(struct stage *stage)
{
    const struct plot *plot = stage->arg;

    for (int i = 0; i < 2; i++) {
        const char *shown = stage_evaluate(stage, plot->source);

        if (plot->expected)
            assert_string_equal(shown, plot->expected);
        check_untouched(stage);
    }
}

static void try_plot(void **state, const char *source, const char *expected)
{
    const struct theatre *theatre = *state;
    struct plot plot = {source, expected};
    struct stage stage = {.arg = &plot};

    stage_run(&stage, theatre->js, play_plot);
    assert_true(resident_bytes() < RESIDENT_BYTES_MAX);
}

static void an_endless_loop(void **state)
{
    try_plot(state, "while (true) {}", OUT_OF_FUEL);
    try_plot(state, "for (;;) { try { while (true) {} } catch { } finally { } }", OUT_OF_FUEL);
    try_plot(state, "(() => { for (;;); })()", OUT_OF_FUEL);
}

static void endless_microtasks(void **state)
{
    try_plot(state, "(async () => { while (true) await 0; })()", OUT_OF_FUEL);
    try_plot(state, "const f = () => Promise.resolve().then(f); return f();", OUT_OF_MEMORY);
    try_plot(state, "const f = () => queueMicrotask(f); f(); return 1;", OUT_OF_FUEL);
}

static void a_catastrophic_regular_expression(void **state)
{
    try_plot(state, "/(a+)+$/.test('a'.repeat(40) + 'b')", OUT_OF_FUEL);
    try_plot(state, "/(?:(?:a*)*)*b/.test('a'.repeat(40))", OUT_OF_FUEL);
}

static void a_string_of_2_to_the_29_characters(void **state)
{
    try_plot(state, "'x'.repeat(2 ** 29).length", OUT_OF_MEMORY);
    try_plot(state, "let s = 'x'; while (true) s += s;", NULL);
    try_plot(state, "'x'.padEnd(2 ** 29)", OUT_OF_MEMORY);
}

static void an_array_of_a_hundred_million_elements(void **state)
{
    try_plot(state, "Array(1e8).fill(0).length", OUT_OF_MEMORY);
    try_plot(state, "new Uint8Array(1e9).length", OUT_OF_MEMORY);
    try_plot(state, "Array.from({ length: 1e8 }).length", NULL);
}

static void unbounded_objects(void **state)
{
    try_plot(state, "const all = []; while (true) all.push({ n: all.length });", NULL);
    try_plot(state, "let o = {}; while (true) o = { o };", NULL);
    try_plot(state, "const m = new Map(); for (let i = 0; ; i++) m.set(i, 'k' + i);", NULL);
}

static void a_result_that_is_too_large(void **state)
{
    try_plot(state, "'x'.repeat(5e7) + ''", NULL);
    try_plot(state, "Array(2e6).fill('xxxxxxxx')", NULL);
}

static void deep_recursion(void **state)
{
    try_plot(state, "(function f() { return f() + 1 })()", TOO_DEEP);
    try_plot(state, "const o = { toString() { return `${o}` } }; return `${o}`;", TOO_DEEP);
    try_plot(state, "function f() { return [1].map(f) } f()", TOO_DEEP);
    try_plot(state, "const o = { get x() { return this.x } }; return o.x;", TOO_DEEP);
    try_plot(state, "'a'.replace(/a/, function f() { return 'a'.replace(/a/, f) })", TOO_DEEP);
    try_plot(state, "let n = 0; (function f() { n++; try { f() } catch { } })(); return n > 10;",
             "true");
}

static void deep_json(void **state)
{
    try_plot(state, "JSON.parse('['.repeat(1e6))", NULL);
    try_plot(state, "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return JSON.stringify(a);",
             TOO_DEEP);
    try_plot(state, "let a = []; for (let i = 0; i < 1500; i++) a = [a]; return a;", NULL);
}

static void a_source_nested_deeply(void **state)
{
    static char source[100001];

    for (const char *open = "([{!`"; *open; open++) {
        memset(source, *open, sizeof source - 1);
        try_plot(state, source, NULL);
    }
}

static void prototype_pollution(void **state)
{
    try_plot(state, "Object.prototype.leaked = 1; Array.prototype.map = null; 0", "0");
    try_plot(state, "({}).__proto__.leaked = 1", NULL);
    try_plot(state, "Object.defineProperty(Object.getPrototypeOf({}), 'leaked', { value: 1 })",
             NULL);
    try_plot(state, "Object.assign(Object.getPrototypeOf(() => 1), { leaked: 1 })", NULL);
    try_plot(state, "({}).constructor.getPrototypeOf({}).leaked = 1", NULL);
    try_plot(state, "Object.setPrototypeOf(Object.getPrototypeOf([]), { leaked: 1 })", NULL);
    try_plot(state, "[].constructor['proto' + 'type'].map = () => 'stolen'", NULL);
    try_plot(state, "const k = '__pro' + 'to__'; ({})[k].leaked = 1", NULL);
}

static void changed_intrinsics(void **state)
{
    try_plot(state, "JSON.stringify = () => 'stolen'; 1", NULL);
    try_plot(state, "Math.max = null; JSON['string' + 'ify'] = null; delete Array.isArray; 1",
             NULL);
    try_plot(state, "delete Object.keys; Object.freeze(Array.prototype); 1", NULL);
    try_plot(state,
             "(function* () {}).constructor('yield 1'); "
             "Object.getPrototypeOf(function* () {}).leaked = 1",
             NULL);
    try_plot(state, "Object.getPrototypeOf([][Symbol.iterator]()).next = () => ({ done: true })",
             NULL);
    try_plot(state, "Object.getPrototypeOf(Promise.resolve()).then = null; 1", NULL);
    try_plot(state, "Error.stackTraceLimit = 0; Error.prepareStackTrace = () => 'leaked'; 1", NULL);
    try_plot(state, "getVariable.leaked = 1; getName.leaked = 1; isNullOrEmpty.leaked = 1", NULL);
    try_plot(state, "const f = ({}).toString, was = f.mine; f.mine = 1; return was === undefined;",
             "true");
    try_plot(state, "getVariable = () => 'stolen'; getVariable('Name')", "\"stolen\"");
    try_plot(state, "Object.getPrototypeOf(getObj() ?? variables.Obj ?? {}).leaked = 1", NULL);
}

static void leaked_globals(void **state)
{
    try_plot(state, "leaked = 1; var leaked2 = 2; this.leaked = 3; 0", "0");
    try_plot(state, "var leaked = 1; function leaked3() {} leaked", "1");
    try_plot(state, "this.leaked = 5", "5");
    try_plot(state, "(function () { this.leaked = 6 })()", "null");
    try_plot(state, "Object.defineProperty(this, 'leaked', { value: 1 }); 0", NULL);
    try_plot(state, "Object.freeze(this); Object.preventExtensions(this); 0", NULL);
    try_plot(state, "Object.setPrototypeOf(this, { leaked: 1 }); 0", NULL);
    try_plot(state, "(0, eval)('var leaked = 1; let leaked2 = 2'); 0", NULL);
    try_plot(state, "setTimeout(() => { leaked = 1 })", NULL);
    try_plot(state, "Promise.resolve().then(() => { leaked = 1 }); 0", "0");
    try_plot(state, "this[Symbol.for('leaked')] = 1; 0", "0");
    try_plot(state, "`${(this.leaked = x => x)}`; (s => s)`leaked`.leaked = 1; 0", NULL);
}

static void paths_to_the_host(void **state)
{
    try_plot(state, "typeof require + typeof process + typeof std + typeof os + typeof scriptArgs",
             "\"undefinedundefinedundefinedundefinedundefined\"");
    try_plot(state, "typeof fetch + typeof XMLHttpRequest + typeof WebAssembly + typeof Deno",
             "\"undefinedundefinedundefinedundefined\"");
    try_plot(state, "import('/etc/passwd')", NULL);
    try_plot(state, "import('file:///etc/passwd').then(m => m, e => 'refused')", "\"refused\"");
    try_plot(state,
             "typeof Atomics + typeof SharedArrayBuffer + typeof WeakRef + typeof performance",
             "\"undefinedundefinedundefinedundefined\"");
    try_plot(state, "new Error('x').stack.includes('/')", "false");
    try_plot(state, "try { null.x } catch (e) { return /boot|native/.test(e.stack) }", "false");
}

/* Walks over all that a script can get at without making it; names what is not frozen. */
static void everything_in_reach_is_frozen(void **state)
{
    try_plot(
        state,
        "const seen = new Set(), open = [], bad = [];"
        "const add = (v, path) => { if (v !== null && (typeof v === 'object' || typeof v === "
        "'function')"
        "  && !seen.has(v)) { seen.add(v); open.push([v, path]); } };"
        "const made = { array: [], object: {}, text: '', number: 1, bool: true, big: 1n, symbol: "
        "Symbol(),"
        "  regexp: /x/, arrow: () => 1, plain: function () {}, generator: function* () {},"
        "  running: Object.getPrototypeOf((function* () {})()), async: async () => 1, "
        "asyncGenerator: async function* () "
        "{},"
        "  asyncRunning: Object.getPrototypeOf((async function* () {})()), cls: class {}, values: "
        "[].values(), chars: "
        "''[Symbol.iterator](),"
        "  map: new Map(), mapValues: new Map().values(), set: new Set(), setValues: new "
        "Set().values(),"
        "  matches: 'a'.matchAll(/a/g), from: Iterator.from({ next() {} }), mapped: "
        "[].values().map(x => x),"
        "  error: new TypeError(), date: new Date(), promise: Promise.resolve(), buffer: new "
        "ArrayBuffer(1),"
        "  bytes: new Uint8Array(1), view: new DataView(new ArrayBuffer(1)), weak: new WeakMap(),"
        "  args: (function () { return arguments })(), guid: newGuid(), span: TimeSpan.FromDays(1),"
        "  host: getWhen(), template: (s => s)`x`, bound: (() => 1).bind(), proxy: new Proxy({}, "
        "{}) };"
        "for (const [name, v] of Object.entries(made)) add(Object.getPrototypeOf(v), name + '^');"
        "add(made.template, 'template'); add(getN, 'getN'); add(setN, 'setN'); add(getVariable, "
        "'getVariable');"
        "add(Object.getPrototypeOf(this), 'shared');"
        "while (open.length) { const [v, path] = open.pop();"
        "  if (!Object.isFrozen(v) && v !== this) bad.push(path);"
        "  if (v === this) continue;"
        "  add(Object.getPrototypeOf(v), path + '^');"
        "  for (const [k, d] of Object.entries(Object.getOwnPropertyDescriptors(v))) {"
        "    add(d.value, path + '.' + k); add(d.get, path + '.get ' + k); add(d.set, path + '.set "
        "' + k); }"
        "  for (const k of Object.getOwnPropertySymbols(v)) { const d = "
        "Object.getOwnPropertyDescriptor(v, k);"
        "    add(d.value, path + '.' + String(k)); add(d.get, path + '.get ' + String(k)); } }"
        "return seen.size > 500 ? bad.join(' ') : 'too few';",
        "\"\"");
}

static void names_written_in_other_ways(void **state)
{
    try_plot(state, "\\u0065val('leaked = 1'); 0", "0");
    try_plot(state, "[]['const' + 'ructor']['const' + 'ructor']('leaked = 1')(); 0", NULL);
    try_plot(state, "(async () => {}).constructor('leaked = 1')(); 0", NULL);
}

/* ---- time -------------------------------------------------------------------------------- */

/* An environment whose threads have used another millisecond each time they ask. */
struct fast_env {
    struct pawl_env base;
    struct pawl_env_ops ops;
    struct pawl_env *real;
    int64_t now_ns;
};

static struct fast_env *fast(struct pawl_env *env)
{
    return (struct fast_env *)env;
}

static int64_t fast_clock(struct pawl_env *env)
{
    return fast(env)->now_ns += 1000000;
}

static int fast_entropy(struct pawl_env *env, void *out, size_t size, struct pawl_error *err)
{
    return pawl_env_entropy(fast(env)->real, out, size, err);
}

static int fast_mutex_new(struct pawl_env *env, const char *name, struct pawl_mutex **out)
{
    return pawl_mutex_new(fast(env)->real, name, out);
}

static void fast_mutex_free(struct pawl_env *env, struct pawl_mutex *mutex)
{
    pawl_mutex_free(fast(env)->real, mutex);
}

static int fast_mutex_lock(struct pawl_env *env, struct pawl_mutex *mutex)
{
    return pawl_mutex_lock(fast(env)->real, mutex);
}

static void fast_mutex_unlock(struct pawl_env *env, struct pawl_mutex *mutex)
{
    pawl_mutex_unlock(fast(env)->real, mutex);
}

static int fast_cond_new(struct pawl_env *env, const char *name, struct pawl_cond **out)
{
    return pawl_cond_new(fast(env)->real, name, out);
}

static void fast_cond_free(struct pawl_env *env, struct pawl_cond *cond)
{
    pawl_cond_free(fast(env)->real, cond);
}

static void fast_cond_signal(struct pawl_env *env, struct pawl_cond *cond)
{
    pawl_cond_signal(fast(env)->real, cond);
}

static void play_time(struct stage *stage)
{
    for (int i = 0; i < 2; i++) {
        assert_evaluates(stage, "while (true) {}",
                         "TimeoutException: The operation has timed out.");
        assert_evaluates(stage, "1 + 1", "2");
    }
}

static void a_script_that_takes_too_long(void **state)
{
    const struct theatre *theatre = *state;
    struct pawl_javascript_options options = {.time_ms_max = 50, .fuel_max = 4000000};
    struct fast_env env = {.base = *theatre->env, .real = theatre->env};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct stage stage = {.play = NULL};
    struct pawl_javascript *js;

    env.ops = *theatre->env->ops;
    env.ops.processor_ns = fast_clock;
    env.ops.entropy = fast_entropy;
    env.ops.mutex_new = fast_mutex_new;
    env.ops.mutex_free = fast_mutex_free;
    env.ops.mutex_lock = fast_mutex_lock;
    env.ops.mutex_unlock = fast_mutex_unlock;
    env.ops.cond_new = fast_cond_new;
    env.ops.cond_free = fast_cond_free;
    env.ops.cond_signal = fast_cond_signal;
    env.base.ops = &env.ops;
    assert_ok(pawl__javascript_open(&env.base, &options, &js, &err), &err);
    stage_run(&stage, js, play_time);
    pawl__javascript_close(js);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_endless_loop),
        cmocka_unit_test(endless_microtasks),
        cmocka_unit_test(a_catastrophic_regular_expression),
        cmocka_unit_test(a_string_of_2_to_the_29_characters),
        cmocka_unit_test(an_array_of_a_hundred_million_elements),
        cmocka_unit_test(unbounded_objects),
        cmocka_unit_test(a_result_that_is_too_large),
        cmocka_unit_test(deep_recursion),
        cmocka_unit_test(deep_json),
        cmocka_unit_test(a_source_nested_deeply),
        cmocka_unit_test(prototype_pollution),
        cmocka_unit_test(changed_intrinsics),
        cmocka_unit_test(leaked_globals),
        cmocka_unit_test(paths_to_the_host),
        cmocka_unit_test(everything_in_reach_is_frozen),
        cmocka_unit_test(names_written_in_other_ways),
        cmocka_unit_test(a_script_that_takes_too_long),
    };

    return cmocka_run_group_tests(tests, open_theatre, close_theatre);
}
