/* SPDX-License-Identifier: Apache-2.0 */
/* What is read from a script's text without parsing it. */
#include "expressions/javascript/source.h"

#include "lib/test.h"

#include <stdio.h>

/* The names as one text: "a b", with " …" when there are more. */
static const char *shown(const struct pawl_javascript_names *names, char *out, size_t size)
{
    size_t len = 0;

    out[0] = '\0';
    for (uint32_t i = 0; i < names->count && len < size; i++)
        len += (size_t)snprintf(out + len, size - len, "%s%.*s", i ? " " : "",
                                PAWL_STR_ARG(names->items[i]));
    if (names->more && len < size)
        (void)snprintf(out + len, size - len, " …");
    return out;
}

static struct pawl_javascript_source read(const char *text)
{
    struct pawl_javascript_source source;

    pawl__javascript_source_read(pawl__str(text), &source);
    return source;
}

static void check_names(const char *text, const char *accessors, const char *variables,
                        const char *assigned)
{
    struct pawl_javascript_source source = read(text);
    char out[512];

    assert_string_equal(shown(&source.accessors, out, sizeof out), accessors);
    assert_string_equal(shown(&source.variables, out, sizeof out), variables);
    assert_string_equal(shown(&source.assigned, out, sizeof out), assigned);
}

static void names_are_found(void **state)
{
    (void)state;
    check_names("", "", "", "");
    check_names("getCount() + getCount() + x.setName(1)", "getCount setName", "", "");
    check_names("get + set + getter", "getter", "", "");
    check_names("variables.A + variables . B + variables?.C + o.variables.D", "", "A B C", "");
    check_names("`${variables.Ünit}`", "", "Ünit", "");
    check_names("variables['A']", "", "", "");
}

static void inputs_are_found(void **state)
{
    struct pawl_javascript_source source =
        read("input.A + input . B + input?.C + o.input.D + input['E'] + input");
    char out[64];

    (void)state;
    assert_string_equal(shown(&source.inputs, out, sizeof out), "A B C");
}

static void assignments_are_told_from_comparisons(void **state)
{
    (void)state;
    check_names("a = 1; b += 2; c ?"
                "?= 3; d ||= 4; e **= 5; f >>>= 6; g <<= 7",
                "", "", "a b c d e f g");
    check_names("a == 1; b === 2; c => 3; d <= 4; e >= 5; f != 6; g !== 7", "", "", "");
    check_names("a++; ++b; c --; -- d", "", "", "a b c d");
    check_names("a + b; a - b; + c; 1 + +d", "", "", "");
    check_names("o.a = 1; o . b = 2; o.c++", "", "", "");
}

static void too_many_names_are_noticed(void **state)
{
    char text[1024] = "";
    size_t len = 0;

    (void)state;
    for (int i = 0; i < PAWL_JAVASCRIPT_NAMES_MAX + 1; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "getA%d();", i);
    assert_true(read(text).accessors.more);
    assert_false(read("getA()").accessors.more);
}

static void reaching_out_is_noticed(void **state)
{
    static const char *const outward[] = {"eval('1')",     "new Function('')", "globalThis.x",
                                          "A.prototype.b", "a.__proto__",      "Reflect.set",
                                          "\\u0065val(1)", "import('x')"};
    static const char *const inward[] = {"evaluate(1)", "function f() {}", "x.protocol", "1 + 1"};

    (void)state;
    for (size_t i = 0; i < sizeof outward / sizeof *outward; i++)
        assert_true(read(outward[i]).reaches_out);
    for (size_t i = 0; i < sizeof inward / sizeof *inward; i++)
        assert_false(read(inward[i]).reaches_out);
}

static void statements_are_told_from_expressions(void **state)
{
    static const char *const statements[] = {" { a: 1 }", "function f() {}", "let a = 1",
                                             "if (a) b",  "// c\n1",         "/* c */ 1",
                                             "return 1",  "class A {}"};
    static const char *const expressions[] = {"({ a: 1 })", "/re/.test(a)", "functional", "letter",
                                              "a; b"};

    (void)state;
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        assert_true(read(statements[i]).begins_statement);
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++)
        assert_false(read(expressions[i]).begins_statement);
    assert_true(pawl__str_is(read(" a + b ;; \n").expression, " a + b"));
}

static void check_unexpected(const char *text, uint32_t line, uint32_t column, const char *expected)
{
    char message[128];
    char shown_as[160];

    pawl__javascript_unexpected(pawl__str(text), &line, &column, message, sizeof message);
    (void)snprintf(shown_as, sizeof shown_as, "%s %u:%u", message, line, column);
    assert_string_equal(shown_as, expected);
}

static void what_is_unexpected_is_named(void **state)
{
    (void)state;
    check_unexpected("this is", 1, 6, "Unexpected identifier 'is' 1:6");
    check_unexpected("a(;", 1, 3, "Unexpected token ';' 1:3");
    check_unexpected("a\nb 12", 2, 3, "Unexpected number 2:3");
    check_unexpected("a 'b'", 1, 3, "Unexpected string 1:3");
    check_unexpected("a `b`", 1, 3, "Unexpected template string 1:3");
    check_unexpected("a if", 1, 3, "Unexpected token 'if' 1:3");
    check_unexpected("é ö", 1, 3, "Unexpected identifier 'ö' 1:3");
    check_unexpected("a\n(", 3, 1, "Unexpected end of input 2:2");
    check_unexpected("", 9, 9, "Unexpected end of input 1:1");
}

static void words_are_found_whole(void **state)
{
    (void)state;
    assert_true(pawl__javascript_mentions(pawl__str("a; return b"), "return"));
    assert_false(pawl__javascript_mentions(pawl__str("returned; no_return"), "return"));
    assert_false(pawl__javascript_mentions(pawl__str(""), "return"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(inputs_are_found),
        cmocka_unit_test(assignments_are_told_from_comparisons),
        cmocka_unit_test(too_many_names_are_noticed),
        cmocka_unit_test(reaching_out_is_noticed),
        cmocka_unit_test(statements_are_told_from_expressions),
        cmocka_unit_test(what_is_unexpected_is_named),
        cmocka_unit_test(words_are_found_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
