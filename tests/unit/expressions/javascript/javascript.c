/* SPDX-License-Identifier: Apache-2.0 */
/* JavaScript expressions: results, what scripts find, what they change. */
#include "unit/expressions/stage.h"

#include "activities/javascript.h"

struct theatre {
    struct pawl_env *env;
    struct pawl_javascript *js;
};

static const char *config(void *ctx, const char *name)
{
    (void)ctx;
    return strcmp(name, "Region") == 0 ? "eu" : NULL;
}

static int join_args(void *ctx, struct pawl_arena *arena, const struct pawl_json *args,
                     struct pawl_json *out, struct pawl_error *err)
{
    (void)ctx;
    (void)arena;
    if (pawl__json_len(args) == 0) {
        err->code = PAWL_EINVAL;
        (void)snprintf(err->msg, sizeof err->msg, "what is to be echoed?");
        return PAWL_EINVAL;
    }
    *out = *args;
    return PAWL_OK;
}

static int open_theatre(void **state)
{
    static const char *const names[] = {"Region", "Zone", NULL};
    static struct theatre theatre;
    struct pawl_javascript_options options = pawl__javascript_options_default;
    struct pawl_error err = PAWL_ERROR_INIT;

    options.config = config;
    options.config_names = names;
    options.time_ms_max = 3600 * 1000; /* work decides: a sanitizer makes it dear */
    assert_ok(pawl_system_env_open(&theatre.env, &err), &err);
    assert_ok(pawl__javascript_open(theatre.env, &options, &theatre.js, &err), &err);
    assert_code(
        pawl__javascript_add_function(
            theatre.js, &(struct pawl_javascript_function){.name = "echo", .call = join_args}),
        PAWL_OK);
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
    struct stage stage = {.play = NULL};

    stage_run(&stage, theatre->js, play);
}

static void play_secrets(struct stage *stage)
{
    const char *why =
        "JavaScriptException: The secret 'db-password' cannot be read: there is no store of "
        "secrets here. Give it to the workflow as an input, or as a setting that getConfig() may "
        "read.";

    assert_evaluates(stage, "getSecret('db-password')", why);
    assert_evaluates(stage, "return (async () => 'x' + await getSecret('db-password'))()", why);
    assert_evaluates(stage, "try { getSecret('a') } catch (e) { e.message.includes(\"'a'\") }",
                     "true");
}

static void a_secret_is_refused_by_name(void **state)
{
    on_stage(state, play_secrets);
}

/* ---- values ------------------------------------------------------------------------------ */

static void play_results(struct stage *stage)
{
    assert_evaluates(stage, "1 + 1", "2");
    assert_evaluates(stage, "return 1 + 1;", "2");
    assert_evaluates(stage, "0.1 + 0.2", "0.30000000000000004");
    assert_evaluates(stage, "'a' + 'b'", "\"ab\"");
    assert_evaluates(stage, "1 < 2", "true");
    assert_evaluates(stage, "undefined", "null");
    assert_evaluates(stage, "null", "null");
    assert_evaluates(stage, "", "null");
    assert_evaluates(stage, "   \n", "null");
    assert_evaluates(stage, "[1, 'two', null, undefined, [true]]", "[1,\"two\",null,null,[true]]");
    assert_evaluates(stage, "({ a: 1, b: undefined, c: { d: new Date(0) } })",
                     "{\"a\":1,\"b\":null,\"c\":{\"d\":\"1970-01-01T00:00:00Z\"}}");
    assert_evaluates(stage, "new Date(1500)", "\"1970-01-01T00:00:01.5Z\"");
    assert_evaluates(stage, "bytesFromString('hi')", "\"aGk=\"");
    /* Bytes are base64, as in the reference's JSON; other typed arrays are arrays of numbers. */
    assert_evaluates(stage, "new Uint8Array([104, 105])", "\"aGk=\"");
    assert_evaluates(stage, "new Uint8ClampedArray([104, 300])", "\"aP8=\"");
    assert_evaluates(stage, "new Uint8Array([1, 104, 105, 2]).subarray(1, 3)", "\"aGk=\"");
    assert_evaluates(stage, "new DataView(new Uint8Array([1, 104, 105, 2]).buffer, 1, 2)",
                     "\"aGk=\"");
    assert_evaluates(stage, "new ArrayBuffer(0)", "\"\"");
    assert_evaluates(stage, "new Int8Array([104, -1])", "[104,-1]");
    assert_evaluates(stage, "new Uint16Array([104, 65535])", "[104,65535]");
    assert_evaluates(stage, "new Float64Array([0.5, -2])", "[0.5,-2]");
    assert_evaluates(stage, "new BigInt64Array([7n])", "[7]");
    assert_evaluates(
        stage,
        "({ a: new Uint8Array([104, 105]), b: [new Int16Array([300])], c: new DataView(new "
        "ArrayBuffer(1)) })",
        "{\"a\":\"aGk=\",\"b\":[[300]],\"c\":\"AA==\"}");
    assert_evaluates(stage, "bytesToString(new Uint8Array([104, 105]))", "\"hi\"");
    assert_evaluates(stage, "bytesToString(new DataView(new Uint8Array([104, 105]).buffer))",
                     "\"hi\"");
    assert_evaluates(stage, "setVariable('Data', new Uint8Array([104, 105])); getData().byteLength",
                     "2");
    assert_evaluates(stage, "bytesToBase64(new Uint16Array([1]))",
                     "JavaScriptException: An array of bytes was expected.");
    assert_evaluates(stage, "const b = new ArrayBuffer(8); b.transfer(); return b;", "\"\"");
    assert_evaluates(stage, "const u = new Uint8Array(8); u.buffer.transfer(); return [u];",
                     "[\"\"]");
    assert_evaluates(stage, "new Float32Array([0 / 0])",
                     "JavaScriptException: The script's result contains NaN, which is no value "
                     "outside of it.");
    assert_evaluates(stage, "new Map([['k', 1]])", "[[\"k\",1]]");
    assert_evaluates(stage, "10n ** 20n", "100000000000000000000");
    assert_evaluates(stage, "() => 1", "null");
    assert_evaluates(stage, "'\\ud800x'", "\"\xef\xbf\xbdx\"");
}

static void results_become_values(void **state)
{
    on_stage(state, play_results);
}

/* Each is read member by member in the shared realm, and as one text on an engine of its own. */
static const char *const shapes[] = {
    "({ a: 1, b: 'two', c: null, d: undefined, e: [true, , false], f: {} })",
    "({ 2: 'b', 1: 'a', z: 0, y: -0, x: 1.5, w: 1e21, v: -1e-7, u: 9007199254740993, t: 5e-324 })",
    "[1, [2, [3, [], {}]], new Array(3), Array.from({ length: 4 }, (_, i) => i * i)]",
    "({ when: new Date(1500), in: [new Date(0)], bytes: bytesFromString('hi') })",
    "[parseGuid('3f2504e04f8941d39a0c0305e82c3301'), { span: TimeSpan.FromMinutes(90) }]",
    "({ map: new Map([['k', { v: 1 }]]), set: new Set([1, 'a']), re: /x/g, big: 10n ** 20n })",
    "({ f() {}, s: Symbol('q'), [Symbol('hidden')]: 1, g: () => 1 })",
    "({ toJSON() { return [1, { toJSON: () => 'in' }] } })",
    "[{ a: { toJSON() { return 5 } } }, Object.assign([1], { toJSON: () => 'array' })]",
    "({ get a() { return this.b + 1 }, b: 2, ['c d\\né']: '\\0\\t\"' })",
    "Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true }, not: { value: 3 } })",
    "new (class A { x = 1; #y = 2; get z() { return 3 } })()",
    "({ e: new Error('no'), n: Object.create(null), b: Object(1), t: Object('text') })",
    "new Proxy({ a: 1, b: 2 }, { get: (o, k) => k === 'b' ? 'seen' : o[k] })",
    "[String.fromCharCode(0xd800), { [String.fromCharCode(0xdc00) + 'k']: 1 }]",
    "['a' + String.fromCharCode(0xd83d), { b: String.fromCharCode(0xd83d, 0xde00) }]",
    "({ deep: { m: new Map([[String.fromCharCode(0xd800), 1]]) } })",
    "(() => { let o = 1; for (let i = 0; i < 60; i++) o = { o }; return o })()",
    "(() => { let o = []; for (let i = 0; i < 40; i++) o = [o, new Date(i)]; return o })()",
    "Array.from({ length: 20000 }, (_, i) => i)",
    "({ s: 'x'.repeat(300000), t: [1] })",
    "({ doc: getDoc(), words: getWords(), when: getWhen() })",
};

static void play_shapes(struct stage *stage)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const char *alone =
            pawl__arena_printf(pawl__context_arena(stage->context), "(globalThis, %s)", shapes[i]);
        const char *expected;

        assert_non_null(alone);
        expected = stage_evaluate(stage, alone);
        assert_null(strstr(expected, "Exception"));
        assert_evaluates(stage, shapes[i], expected);
    }
    assert_evaluates(stage, shapes[0],
                     "{\"a\":1,\"b\":\"two\",\"c\":null,\"d\":null,\"e\":[true,null,false],"
                     "\"f\":{}}");
    assert_evaluates(stage,
                     "(c => ({ a: c, b: new Map([[c + 'x', 1]]) }))(String.fromCharCode(0xdfff))",
                     "{\"a\":\"\xef\xbf\xbd\",\"b\":[[\"\xef\xbf\xbdx\",1]]}");
    assert_evaluates(stage, "({ a: '\\ud800', b: new Map([['\\udfffx', 1]]) })", /* alone */
                     "{\"a\":\"\xef\xbf\xbd\",\"b\":[[\"\xef\xbf\xbdx\",1]]}");
}

static void objects_are_read_as_their_json_says(void **state)
{
    on_stage(state, play_shapes);
}

static void play_bad_shapes(struct stage *stage)
{
    assert_evaluates(stage, "const o = { a: {} }; o.a.o = o; return o;",
                     "JavaScriptException: circular reference");
    assert_evaluates(stage, "({ get a() { throw new Error('no a') } })",
                     "JavaScriptException: no a");
    assert_evaluates(stage, "({ a: [{ b: 0 / 0 }] })",
                     "JavaScriptException: The script's result contains NaN, which is no value "
                     "outside of it.");
    assert_evaluates(stage, "({ get a() { for (;;); } })",
                     "StatementsCountOverflowException: The maximum number of statements executed "
                     "have been reached.");
    assert_evaluates(stage, "({ a: 1 })", "{\"a\":1}");
}

static void what_cannot_be_read_of_an_object_is_a_fault(void **state)
{
    on_stage(state, play_bad_shapes);
}

static void play_completion(struct stage *stage)
{
    assert_evaluates(stage, "let t = 0; for (const x of [1, 2, 3]) t += x;", "6");
    assert_evaluates(stage, "var a = 2; a * 3", "6");
    assert_evaluates(stage, "{ a: 5 }", "5");
    assert_evaluates(stage, "function f() { return 7 } f()", "7");
    assert_evaluates(stage, "if (true) { 'yes' } else { 'no' }", "\"yes\"");
    assert_evaluates(stage, "1 // a comment", "1");
    assert_evaluates(stage, "/* one */ 2 /* three */", "2");
    assert_evaluates(stage, "'a';;", "\"a\"");
    assert_evaluates(stage, "const let1 = 1; let1 + 1", "2");
    assert_evaluates(stage, "const let1 = 1; let1 + 1", "2");
    assert_evaluates(stage, "x = 5; x + 1", "6");
    assert_evaluates(stage, "typeof x", "\"undefined\"");
    assert_evaluates(stage, "return (async () => { return await Promise.resolve('a' + 1); })();",
                     "\"a1\"");
}

static void the_value_is_that_of_the_last_statement(void **state)
{
    on_stage(state, play_completion);
}

static void play_numbers(struct stage *stage)
{
    assert_evaluates(stage, "echo(0 / 0)",
                     "JavaScriptException: NaN and Infinity are no values outside of the script: "
                     "give the function a number.");
    assert_evaluates(
        stage, "[1 / 0]",
        "JavaScriptException: The script's result contains Infinity, which is no value "
        "outside of it.");
    assert_evaluates(stage, "new Date('bad')",
                     "JavaScriptException: An invalid date has no value outside of the script.");
}

static void play_infinite(struct stage *stage)
{
    struct pawl_javascript_run run = {.source = pawl__str("-1 / 0")};
    const char *why = "ArgumentException: Variable 'v-Obj' is infinite or not a number (NaN), "
                      "which cannot be stored: check the calculation that it comes from.";
    double number = 0;

    assert_code(pawl__javascript_run(stage->context, &run), PAWL_OK);
    assert_ptr_equal(run.result.type, &pawl__type_double);
    assert_true(pawl__json_to_double(&run.result.json, &number));
    assert_true(number < -1e308);
    assert_evaluates(stage, "setVariable('Obj', 1 / 0); getObj() > 1", "true"); /* not stored */
    assert_evaluates(stage, "setVariable('Obj', 1); getObj()", "1");
    pawl__memory_find(stage->context, pawl__str("v-Obj"), NULL)->storage = PAWL_STORAGE_INSTANCE;
    assert_evaluates(stage, "setVariable('Obj', 1 / 0); getObj() > 1", why);
    assert_evaluates(stage, "variables.Obj = NaN", why);
    assert_evaluates(stage, "setName(1 / 0); 1", "1"); /* a text has a way to say it */
    assert_evaluates(stage, "getName()", "\"Infinity\"");
    assert_code(pawl__effect(stage->context, PAWL_EFFECT_STIMULUS, run.result.json), ENGINE_RAISED);
}

static void an_infinite_number_leaves_a_script_and_is_refused_where_it_would_be_stored(void **state)
{
    on_stage(state, play_infinite);
}

static void play_singles(struct stage *stage)
{
    struct pawl_type list = {.kind = PAWL_TYPE_LIST, .element = &pawl__type_single};
    struct pawl_value value = {.json = pawl__json_double(0.1), .type = &pawl__type_single};
    struct pawl_json array = pawl__json_array();
    const char *why = "JavaScriptException: The value contains NaN or Infinity, which a script "
                      "sees only where it stands by itself.";

    assert_code(pawl__memory_set(stage->context, pawl__str("v-Obj"), value), PAWL_OK);
    assert_evaluates(stage, "getObj()", "0.10000000149011612");
    assert_code(pawl__json_append(pawl__context_arena(stage->context), &array, value.json),
                PAWL_OK);
    value = (struct pawl_value){.json = array, .type = &list};
    assert_code(pawl__memory_set(stage->context, pawl__str("v-Obj"), value), PAWL_OK);
    assert_evaluates(stage, "getObj()", "[0.10000000149011612]");
    assert_evaluates(stage, "variables.Obj[0] == Math.fround(0.1)", "true");
    assert_code(pawl__json_append(pawl__context_arena(stage->context), &value.json,
                                  pawl__json_double(1e300 * 1e300)),
                PAWL_OK);
    assert_code(pawl__memory_set(stage->context, pawl__str("v-Obj"), value), PAWL_OK);
    assert_evaluates(stage, "getObj()", why);
    assert_evaluates(stage, "variables.Obj", why);
    value = pawl__value_null();
    assert_code(pawl__memory_set(stage->context, pawl__str("v-Obj"), value), PAWL_OK);
}

static void a_script_sees_a_single_as_the_float_it_is(void **state)
{
    on_stage(state, play_singles);
}

static void what_json_cannot_say_is_a_fault(void **state)
{
    on_stage(state, play_numbers);
}

/* ---- failures ---------------------------------------------------------------------------- */

static void play_failures(struct stage *stage)
{
    assert_evaluates(stage, "throw new Error('boom')", "JavaScriptException: boom");
    assert_evaluates(stage, "throw 'text'", "JavaScriptException: text");
    assert_evaluates(stage, "throw { message: 'of an object' }",
                     "JavaScriptException: of an object");
    assert_evaluates(stage, "nope.x", "JavaScriptException: nope is not defined");
    assert_evaluates(stage, "return Promise.reject(new Error('late'))",
                     "JavaScriptException: late");
    assert_evaluates(stage, "new Promise(() => {})",
                     "JavaScriptException: The script's promise can never be settled.");
    assert_evaluates(stage, "this is not valid javascript",
                     "ScriptPreparationException: Could not prepare script: Unexpected identifier "
                     "'is' (<anonymous>:1:6)");
    assert_evaluates(stage, "return unclosedBracket(;",
                     "ScriptPreparationException: Could not prepare script: Unexpected token ';' "
                     "(<anonymous>:1:24)");
    assert_evaluates(
        stage, "return 1;\nreturn (",
        "ScriptPreparationException: Could not prepare script: Unexpected end of input "
        "(<anonymous>:2:9)");
    assert_evaluates(stage, "1 + 1", "2");
}

static void what_is_thrown_is_raised(void **state)
{
    on_stage(state, play_failures);
}

/* ---- the workflow ------------------------------------------------------------------------ */

static void play_variables(struct stage *stage)
{
    assert_evaluates(stage, "getN() + getVariable('N') + variables.N", "3");
    assert_evaluates(stage, "`${getName()} ${getNope}`",
                     "JavaScriptException: getNope is not defined");
    assert_evaluates(stage, "getVariable('Nope')", "null");
    assert_evaluates(stage, "(setVariable('N', 2.7), getN())", "2.7");
    assert_evaluates(stage, "getN()", "3");
    assert_evaluates(stage, "setN('abc')", "null");
    assert_evaluates(stage, "getN()", "0");
    assert_evaluates(stage, "variables.N = 41; variables.N += 1;", "42");
    assert_evaluates(stage, "getN()", "42");
    assert_evaluates(stage, "variables.N = null; getN()", "42");
    assert_evaluates(stage, "getN()", "42");
    assert_evaluates(stage, "variables['Name'] = 'new'; getName()", "\"abc\"");
    assert_evaluates(stage, "getName()", "\"new\"");
    assert_evaluates(stage, "setVariable('made', { a: [1] })", "null");
    assert_evaluates(stage, "getVariable('made').a[0]", "1");
    assert_evaluates(stage, "setName('x'); throw new Error('after')", "JavaScriptException: after");
    assert_evaluates(stage, "getName()", "\"x\"");
}

static void variables_are_read_and_written(void **state)
{
    on_stage(state, play_variables);
}

static void play_types(struct stage *stage)
{
    assert_evaluates(stage, "getWhen().getTime()", "1709208000000");
    assert_evaluates(stage, "`${getWhen()}`",
                     "\"Thu Feb 29 2024 12:00:00 GMT+0000 (Coordinated Universal Time)\"");
    assert_evaluates(stage, "bytesToString(getData())", "\"Hello\"");
    assert_evaluates(stage, "getWords().map(x => x.toUpperCase()).join()", "\"A,B\"");
    assert_evaluates(stage, "variables.Words.push('c'); variables.Words.length", "2");
    assert_evaluates(stage, "variables.When.setFullYear(2000); variables.When.getFullYear()",
                     "2000");
    assert_evaluates(stage, "getWhen().getFullYear()", "2024");
    assert_evaluates(stage, "variables.When = new Date(0); 0", "0");
    assert_evaluates(stage, "getWhen().getFullYear()", "1970");
    assert_evaluates(stage, "[Guid.Empty, TimeSpan.FromHours(1)]",
                     "[\"00000000-0000-0000-0000-000000000000\",\"01:00:00\"]");
    assert_evaluates(stage, "JSON.stringify(parseGuid('6F9619FF-8B86-D011-B42D-00C04FC964FF'))",
                     "\"{\\\"Variant\\\":11,\\\"Version\\\":13}\"");
    assert_evaluates(stage, "variables.Obj = { deep: { n: 1 } }; 0", "0");
    assert_evaluates(stage, "const o = variables.Obj; o.deep.n = 2; 0", "0");
    assert_evaluates(stage, "getObj().deep.n", "2");
    assert_evaluates(stage, "`${getObj()}`", "\"System.Dynamic.ExpandoObject\"");
    assert_evaluates(stage, "JSON.stringify(getObj())", "\"{\\\"deep\\\":{\\\"n\\\":2}}\"");
    assert_evaluates(stage, "`${variables.Obj}`", "\"[object Object]\"");
}

static void values_keep_their_types_on_the_way_in(void **state)
{
    on_stage(state, play_types);
}

static void play_nodes(struct stage *stage)
{
    const char *text = "\"{\\n  \\\"c\\\": []\\n}\"";

    assert_evaluates(stage, "`${getDoc().a.b[1]}`", text);
    assert_evaluates(stage, "`${getDoc().a.b[1].c} ${getDoc().d}`", "\"[] {}\"");
    assert_evaluates(stage, "Array.isArray(getDoc().a.b) && getDoc().a.b.map(x => x).length", "2");
    assert_evaluates(stage, "getDoc()", "{\"a\":{\"b\":[1,{\"c\":[]}]},\"d\":{}}");
    assert_evaluates(stage, "`${getDoc().a.b.filter(x => x.c)[0]}`", text);
    assert_evaluates(stage, "variables.Obj = { list: [{ x: 1 }, [2]] }; 0", "0");
    assert_evaluates(stage, "`${getObj().list[0]} ${getObj().list[1]}`",
                     "\"System.Dynamic.ExpandoObject 2\"");
    assert_evaluates(stage, "`${getObj().list}`", "\"System.Dynamic.ExpandoObject,2\"");
    /* What scripts make themselves is not marked. */
    assert_evaluates(stage, "getDoc(); getObj(); `${{}} ${JSON.parse('{}')}`",
                     "\"[object Object] [object Object]\"");
}

static void objects_of_the_host_print_as_in_the_reference(void **state)
{
    on_stage(state, play_nodes);
}

static void play_workflow(struct stage *stage)
{
    assert_evaluates(stage, "getInput('Who') + getWho() + getQty()", "\"BobBob3\"");
    assert_evaluates(stage, "getInput('nope')", "null");
    assert_evaluates(stage, "getWorkflowDefinitionId() + getWorkflowDefinitionVersionId()",
                     "\"dd:1\"");
    assert_evaluates(stage, "getWorkflowDefinitionVersion()", "1");
    assert_evaluates(stage, "getWorkflowInstanceId()", "\"i1\"");
    assert_evaluates(stage, "[getCorrelationId(), getWorkflowInstanceName()]", "[null,null]");
    assert_evaluates(stage, "setCorrelationId('c'); setWorkflowInstanceName('n'); 0", "0");
    assert_evaluates(stage, "[getCorrelationId(), getWorkflowInstanceName()]", "[\"c\",\"n\"]");
    assert_evaluates(stage, "getOutputFrom('nobody')", "JavaScriptException: Activity not found.");
    assert_evaluates(stage, "getOutputFrom('Stage')", "null");
    assert_evaluates(stage, "getLastResult()", "null");
    assert_evaluates(stage, "[Date.now(), new Date().getTime()]", "[1767337445000,1767337445000]");
}

static void the_workflow_can_be_asked(void **state)
{
    on_stage(state, play_workflow);
}

static void play_input(struct stage *stage)
{
    assert_evaluates(stage, "input.Who + input.Qty + input?.Who", "\"Bob3Bob\"");
    assert_evaluates(stage, "return input.Nope === null && input.toString() !== null", "true");
    assert_evaluates(stage, "input.Qty = 4; input.Nope = 5; [input.Qty, input.Nope]", "[3,null]");
    assert_evaluates(stage, "'use strict'; input.Qty = 4",
                     "JavaScriptException: 'Qty' is read-only");
    assert_evaluates(stage, "getQty()", "3");
    assert_evaluates(stage, "return globalThis.input.Qty + input.Qty", "6");
    assert_evaluates(stage, "Object.keys(input), input.Who, input.Qty", "3");
    /* Not there unless read from, and scripts may call anything of their own so. */
    assert_evaluates(stage, "input", "JavaScriptException: input is not defined");
    assert_evaluates(stage, "const input = { Who: 'x' }; return input.Who;", "\"x\"");
    assert_evaluates(stage, "let input = { Who: 'y' }; input.Who", "\"y\"");
    assert_evaluates(stage, "var input = { Who: 'z' }; input.Who", "\"z\"");
    assert_evaluates(stage, "input = { Who: 'w' }; input.Who", "\"w\"");
    assert_evaluates(stage, "[{ a: 1 }].map(input => input.a)[0]", "1");
    assert_evaluates(stage, "input.Who", "\"Bob\"");
}

static void inputs_can_be_read_as_members(void **state)
{
    on_stage(state, play_input);
}

static void play_many_names(struct stage *stage)
{
    char text[2048] = "0";
    size_t len = 1;

    for (int i = 0; i < 40; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, ";variables.V%d;input.I%d", i, i);
    (void)snprintf(text + len, sizeof text - len, ";variables.N += 1; variables.N + input.Qty");
    assert_evaluates(stage, text, "5");
    assert_evaluates(stage, "getN()", "2");
}

static void scripts_that_mention_many_names_find_them_all(void **state)
{
    on_stage(state, play_many_names);
}

static void play_arguments(struct stage *stage)
{
    assert_evaluates(stage, "typeof args + typeof getItem", "\"undefinedundefined\"");
    assert_code(rig_parse(&stage->rig, pawl__str("{'Item':{'Id':7},'n':[1],'A':1,'a':2}"),
                          &stage->context->arguments),
                PAWL_OK);
    assert_evaluates(stage, "args.Item.Id + args.item.Id + getItem().Id", "21");
    assert_evaluates(stage, "args.item === args.Item", "true");
    assert_evaluates(stage, "args.n[0] + getN()[0]", "2");
    assert_evaluates(stage, "[args.A, args.a]", "[1,2]");
    assert_evaluates(stage, "Object.keys(args).join()", "\"Item,n,A,a\"");
    assert_evaluates(stage, "args.item.Id = 8; args.item = 9; getItem().Id", "7");
    assert_evaluates(stage, "return globalThis.args.item.Id + globalThis.getItem().Id", "14");
    stage->context->arguments = pawl__json_null();
    assert_evaluates(stage, "typeof args + getN()", "\"undefined1\"");
}

static void arguments_of_the_expression_are_seen(void **state)
{
    on_stage(state, play_arguments);
}

static void play_utilities(struct stage *stage)
{
    assert_evaluates(stage, "isNullOrEmpty('') && isNullOrWhiteSpace(' ') && !isNullOrEmpty(' ')",
                     "true");
    assert_evaluates(stage, "toJson({ a: 1, é: '<x>', n: null })",
                     "\"{\\\"a\\\":1,\\\"é\\\":\\\"\\\\u003Cx\\\\u003E\\\",\\\"n\\\":null}\"");
    assert_evaluates(stage, "toJson('text')", "\"\\\"text\\\"\"");
    assert_evaluates(stage, "stringFromBase64(stringToBase64('déjà'))", "\"déjà\"");
    assert_evaluates(stage, "bytesFromBase64('***')",
                     "JavaScriptException: The input is not a valid Base-64 string.");
    assert_evaluates(stage, "parseGuid('6F9619FF-8B86-D011-B42D-00C04FC964FF')",
                     "\"6f9619ff-8b86-d011-b42d-00c04fc964ff\"");
    assert_evaluates(stage, "newGuidString().length + newGuid().toString().length", "72");
    assert_evaluates(stage, "newGuidString() === newGuidString()", "false");
    assert_evaluates(stage, "'' + Guid.Empty", "\"00000000-0000-0000-0000-000000000000\"");
    assert_evaluates(stage, "TimeSpan.FromMinutes(90)", "\"01:30:00\"");
    assert_evaluates(stage, "LogPersistenceMode.Include", "\"Include\"");
    assert_evaluates(stage, "getConfig('Region')", "\"eu\"");
    assert_evaluates(stage, "getConfig('Zone')", "null");
    assert_evaluates(
        stage, "getConfig('Secret')",
        "JavaScriptException: Scripts may not read this setting: it is not on the list "
        "of settings that are open to scripts.");
    assert_evaluates(stage, "echo(1, 'b')", "[1,\"b\"]");
    assert_evaluates(stage, "echo()", "JavaScriptException: what is to be echoed?");
}

static void utilities_answer_as_the_reference_does(void **state)
{
    on_stage(state, play_utilities);
}

static void play_global(struct stage *stage)
{
    assert_evaluates(stage, "toJson = () => 'replaced'; return toJson();", "\"replaced\"");
    assert_evaluates(stage, "toJson(1)", "\"1\"");
    assert_evaluates(stage, "return typeof globalThis['getN'];", "\"function\"");
    assert_evaluates(stage, "var e = eval; return e('typeof getN');", "\"function\"");
    assert_evaluates(stage, "return new Function('return getN()')();", "1");
    assert_evaluates(stage, "return eval('variables.N');", "1");
    assert_evaluates(stage,
                     "Array.prototype.last = function () { return this[this.length - 1] }; "
                     "return [1, 2].last();",
                     "2");
    assert_evaluates(stage, "typeof [].last", "\"undefined\"");
}

static void scripts_that_reach_for_the_realm_have_one_of_their_own(void **state)
{
    on_stage(state, play_global);
}

static void play_shadowing(struct stage *stage)
{
    assert_evaluates(stage, "const o = {}; o.toString = () => 'mine'; return `${o}`;", "\"mine\"");
    assert_evaluates(stage, "Object.assign({}, { constructor: 1, valueOf: 2 })",
                     "{\"constructor\":1,\"valueOf\":2}");
    assert_evaluates(stage,
                     "const e = new Error('a'); e.name = 'X'; e.message = 'b'; return `${e}`;",
                     "\"X: b\"");
    assert_evaluates(stage,
                     "class A extends Error { constructor(m) { super(m); this.name = 'A'; } } "
                     "try { throw new A('q') } catch (e) { return e.name + e.message }",
                     "\"Aq\"");
    assert_evaluates(stage,
                     "const d = new Date(0); d.toJSON = () => 'd'; return JSON.stringify(d);",
                     "\"\\\"d\\\"\"");
}

static void assignments_that_shadow_built_in_names_work(void **state)
{
    on_stage(state, play_shadowing);
}

/* ---- determinism ------------------------------------------------------------------------- */

static void play_chance(struct stage *stage)
{
    const char *shown = stage_evaluate(
        stage,
        "[Math.random(), Math.random(), newGuidString(), newShortGuid(), Date.now()].join()");
    char *kept = stage->arg;

    (void)snprintf(kept, 256, "%s", shown);
}

static void chance_and_time_come_from_the_burst(void **state)
{
    const struct theatre *theatre = *state;
    char first[256] = "";
    char second[256] = "";
    struct stage stage = {.arg = first};

    stage_run(&stage, theatre->js, play_chance);
    stage = (struct stage){.arg = second};
    stage_run(&stage, theatre->js, play_chance);
    assert_string_equal(first, second);
    assert_true(strlen(first) > 40);
}

/* ---- validation -------------------------------------------------------------------------- */

static void play_check(struct stage *stage)
{
    const struct pawl_engine *engine = pawl__context_engine(stage->context);
    const struct pawl_expression_ops *ops =
        pawl__engine_expression(engine, pawl__str("JavaScript"));
    struct pawl_expression good = {.ops = ops, .value = pawl__json_string(pawl__str("return 1"))};
    struct pawl_expression bad = {.ops = ops, .value = pawl__json_string(pawl__str("1 +"))};
    char message[128] = "";

    assert_true(ops->check(engine, &good, message, sizeof message));
    assert_false(ops->check(engine, &bad, message, sizeof message));
    assert_string_equal(message,
                        "Could not prepare script: Unexpected end of input (<anonymous>:1:4)");
}

static void a_syntax_error_is_found_before_a_script_runs(void **state)
{
    on_stage(state, play_check);
}

#define RUN_SCRIPT(id, type, script)                                                               \
    "{'id':'" id "','type':'Elsa.RunJavaScript','script':{'typeName':'String','expression':{"      \
    "'type':'" type "','value':'" script "'}}}"

static void the_script_of_an_activity_is_looked_at_when_a_definition_is_validated(void **state)
{
    const struct theatre *theatre = *state;
    struct rig rig;
    struct pawl_json definition;
    struct pawl_problems problems = {.most = 10};
    struct pawl_graph *graph = NULL;
    struct pawl_error err = PAWL_ERROR_INIT;

    rig_init(&rig);
    problems.arena = &rig.arena;
    assert_code(pawl__engine_add_activity(&rig.engine, &pawl__activity_run_javascript), PAWL_OK);
    assert_code(pawl__javascript_register(&rig.engine, theatre->js), PAWL_OK);
    assert_code(
        rig_parse(
            &rig,
            pawl__str(RIG_WORKFLOW(
                "",
                RIG_SEQUENCE(
                    "q", RUN_SCRIPT("good", "Literal", "setOutcome(1); return 1;") "," RUN_SCRIPT(
                             "bad", "Literal", "let x = ;") "," RUN_SCRIPT("made", "JavaScript",
                                                                           "1 + 1")))),
            &definition),
        PAWL_OK);
    assert_ok(
        pawl__graph_load(&rig.engine, rig.alloc, &definition, NULL, NULL, &problems, &graph, &err),
        &err);
    assert_int_equal(problems.count, 1);
    assert_string_equal(problems.items[0].activity_id, "bad");
    assert_string_equal(problems.items[0].pointer, "/root/activities/1/script");
    assert_string_equal(problems.items[0].message,
                        "Could not prepare script: Unexpected token ';' (<anonymous>:1:9)");
    pawl__graph_unref(graph);
    rig_release(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_become_values),
        cmocka_unit_test(objects_are_read_as_their_json_says),
        cmocka_unit_test(what_cannot_be_read_of_an_object_is_a_fault),
        cmocka_unit_test(the_value_is_that_of_the_last_statement),
        cmocka_unit_test(what_json_cannot_say_is_a_fault),
        cmocka_unit_test(a_secret_is_refused_by_name),
        cmocka_unit_test(a_script_sees_a_single_as_the_float_it_is),
        cmocka_unit_test(
            an_infinite_number_leaves_a_script_and_is_refused_where_it_would_be_stored),
        cmocka_unit_test(what_is_thrown_is_raised),
        cmocka_unit_test(variables_are_read_and_written),
        cmocka_unit_test(values_keep_their_types_on_the_way_in),
        cmocka_unit_test(objects_of_the_host_print_as_in_the_reference),
        cmocka_unit_test(the_workflow_can_be_asked),
        cmocka_unit_test(inputs_can_be_read_as_members),
        cmocka_unit_test(scripts_that_mention_many_names_find_them_all),
        cmocka_unit_test(arguments_of_the_expression_are_seen),
        cmocka_unit_test(utilities_answer_as_the_reference_does),
        cmocka_unit_test(scripts_that_reach_for_the_realm_have_one_of_their_own),
        cmocka_unit_test(assignments_that_shadow_built_in_names_work),
        cmocka_unit_test(chance_and_time_come_from_the_burst),
        cmocka_unit_test(a_syntax_error_is_found_before_a_script_runs),
        cmocka_unit_test(the_script_of_an_activity_is_looked_at_when_a_definition_is_validated),
    };

    return cmocka_run_group_tests(tests, open_theatre, close_theatre);
}
