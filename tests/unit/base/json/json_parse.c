/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json.h"
#include "lib/test.h"

#include <stdio.h>
#include <stdlib.h>

struct fixture {
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_buf buf;
};

static void setup(struct fixture *fixture)
{
    test_allocator_init(&fixture->alloc);
    pawl__arena_init(&fixture->arena, &fixture->alloc.base, (size_t)64 << 20);
    pawl__buf_init(&fixture->buf, &fixture->alloc.base, (size_t)64 << 20);
}

static void teardown(struct fixture *fixture)
{
    pawl__arena_release(&fixture->arena);
    pawl__buf_release(&fixture->buf);
    assert_int_equal(fixture->alloc.live_bytes, 0);
}

/* A text with its length, so that it may hold NUL bytes. */
#define TEXT(literal)                                                                              \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

static void accepts_what_is_json(void **state)
{
    static const struct {
        const char *text, *minimal;
    } cases[] = {
        {"null", "null"},
        {"true", "true"},
        {"false", "false"},
        {"0", "0"},
        {"-0", "-0"},
        {"-1", "-1"},
        {"1.5", "1.5"},
        {"1.50", "1.50"},
        {"1e5", "1e5"},
        {"1E5", "1E5"},
        {"1e+5", "1e+5"},
        {"1E-5", "1E-5"},
        {"0e0", "0e0"},
        {"0.0", "0.0"},
        {"-0.0", "-0.0"},
        {"-0.5e-7", "-0.5e-7"},
        {"123456789012345678901234567890", "123456789012345678901234567890"},
        {"\"\"", "\"\""},
        {"\"a\"", "\"a\""},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\/\\b\\f\\n\\r\\t\""},
        {"\"\\u0041\\u00e9\\u6F22\"", "\"Aé漢\""},
        {"\"\\uD83D\\uDE00\\ud83d\\ude00\"", "\"😀😀\""},
        {"\"\\u0000\"", "\"\\u0000\""},
        {"\"\x7F\"", "\"\x7F\""},
        {"\"\xC2\x80\xDF\xBF\"", "\"\xC2\x80\xDF\xBF\""},
        {"\"\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF\"",
         "\"\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF\""},
        {"\"\xF0\x90\x80\x80\xF4\x8F\xBF\xBF\"", "\"\xF0\x90\x80\x80\xF4\x8F\xBF\xBF\""},
        {"\"\xE2\x80\xA8\"", "\"\xE2\x80\xA8\""},
        {"[]", "[]"},
        {"{}", "{}"},
        {" \t\r\n[ \n ] ", "[]"},
        {"\n{\r\n}\t", "{}"},
        {"[1]", "[1]"},
        {"[1 , 2\n,\t3 ]", "[1,2,3]"},
        {"[[],[[]],{}]", "[[],[[]],{}]"},
        {"{\"a\":1}", "{\"a\":1}"},
        {"{ \"a\" : 1 , \"b\" : [ { } ] }", "{\"a\":1,\"b\":[{}]}"},
        {"{\"\":0}", "{\"\":0}"},
        {"{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2}"},
        {"{\"\\u0061\\n\":null}", "{\"a\\n\":null}"},
        {"\xEF\xBB\xBF{\"a\":1}", "{\"a\":1}"},
        {"\xEF\xBB\xBF 1", "1"},
        {"\"\xEF\xBB\xBF\"", "\"\xEF\xBB\xBF\""},
        {"                                                 7", "7"},
        {"[\"0123456789abcde\",\"0123456789abcdef\",\"0123456789abcdef0\"]",
         "[\"0123456789abcde\",\"0123456789abcdef\",\"0123456789abcdef0\"]"},
        {"\"0123456789abcdefé0123456789abcdef\\n0123456789abcdef0123456789abcdef\"",
         "\"0123456789abcdefé0123456789abcdef\\n0123456789abcdef0123456789abcdef\""},
    };
    struct fixture fixture;

    (void)state;
    setup(&fixture);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pawl_error err = PAWL_ERROR_INIT;
        struct pawl_json value;

        assert_ok(
            pawl__json_parse(&fixture.arena, pawl__str(cases[i].text), NULL, &value, NULL, &err),
            &err);
        pawl__buf_clear(&fixture.buf);
        pawl__json_write(&fixture.buf, &value, PAWL_JSON_ESCAPE_MINIMAL);
        assert_str(pawl__buf_peek(&fixture.buf), cases[i].minimal);
    }
    teardown(&fixture);
}

static void refuses_what_is_not_json(void **state)
{
    static const struct pawl_str texts[] = {
        TEXT(""),
        TEXT(" "),
        TEXT("\xEF\xBB\xBF"),
        TEXT("\xEF\xBB"),
        TEXT("\xEF\xBB\xBF\xEF\xBB\xBF"
             "1"),
        TEXT("\xFF\xFE"
             "1\0"),
        TEXT("\0"),
        TEXT("1\0"),
        TEXT("[1]\0"),
        TEXT("[\0]"),
        TEXT("nul"),
        TEXT("nulll"),
        TEXT("True"),
        TEXT("NaN"),
        TEXT("Infinity"),
        TEXT("-Infinity"),
        TEXT("undefined"),
        TEXT("'a'"),
        TEXT("a"),
        TEXT("-"),
        TEXT("--1"),
        TEXT("+1"),
        TEXT(".5"),
        TEXT("5."),
        TEXT("5.e1"),
        TEXT("-.5"),
        TEXT("01"),
        TEXT("-01"),
        TEXT("00"),
        TEXT("1e"),
        TEXT("1e+"),
        TEXT("1e-"),
        TEXT("1e5.5"),
        TEXT("1.2.3"),
        TEXT("0x10"),
        TEXT("1_000"),
        TEXT("1 2"),
        TEXT("1,"),
        TEXT("[1}"),
        TEXT("{]"),
        TEXT("["),
        TEXT("[1"),
        TEXT("[1,"),
        TEXT("[1,]"),
        TEXT("[,1]"),
        TEXT("[,]"),
        TEXT("[1,,2]"),
        TEXT("[1 2]"),
        TEXT("[1:2]"),
        TEXT("]"),
        TEXT("{"),
        TEXT("{\"a\""),
        TEXT("{\"a\":"),
        TEXT("{\"a\":1"),
        TEXT("{\"a\":1,"),
        TEXT("{\"a\":1,}"),
        TEXT("{,}"),
        TEXT("{\"a\" 1}"),
        TEXT("{\"a\",1}"),
        TEXT("{\"a\":}"),
        TEXT("{\"a\":1 \"b\":2}"),
        TEXT("{a:1}"),
        TEXT("{1:1}"),
        TEXT("{null:1}"),
        TEXT("{\"a\":1}}"),
        TEXT("[1]]"),
        TEXT("[1]x"),
        TEXT("/* c */ 1"),
        TEXT("// c\n1"),
        TEXT("1 // c"),
        TEXT("\""),
        TEXT("\"abc"),
        TEXT("\"abc\\"),
        TEXT("\"abc\\\""),
        TEXT("\"\\a\""),
        TEXT("\"\\x41\""),
        TEXT("\"\\'\""),
        TEXT("\"\\\0\""),
        TEXT("\"\\u\""),
        TEXT("\"\\u12\""),
        TEXT("\"\\u123g\""),
        TEXT("\"\\U0041\""),
        TEXT("\"\\ud800\""),
        TEXT("\"\\udc00\""),
        TEXT("\"\\ud800x\""),
        TEXT("\"\\ud800\\n\""),
        TEXT("\"\\ud800\\u0041\""),
        TEXT("\"\\ud800\\ud800\""),
        TEXT("\"\\ud800\\udc0\""),
        TEXT("\"\\ud800\\"),
        TEXT("\"\\udc00\\ud800\""),
        TEXT("\"a\nb\""),
        TEXT("\"a\tb\""),
        TEXT("\"a\0b\""),
        TEXT("\"a\x1F"
             "b\""),
        TEXT("\"\x80\""),
        TEXT("\"\xBF\""),
        TEXT("\"\xC0\x80\""),
        TEXT("\"\xC1\xBF\""),
        TEXT("\"\xC2\""),
        TEXT("\"\xC2\x41\""),
        TEXT("\"\xE0\x80\x80\""),
        TEXT("\"\xE0\x9F\xBF\""),
        TEXT("\"\xE2\x82\""),
        TEXT("\"\xED\xA0\x80\""),
        TEXT("\"\xED\xBF\xBF\""),
        TEXT("\"\xF0\x80\x80\x80\""),
        TEXT("\"\xF0\x8F\xBF\xBF\""),
        TEXT("\"\xF0\x9F\x98\""),
        TEXT("\"\xF4\x90\x80\x80\""),
        TEXT("\"\xF5\x80\x80\x80\""),
        TEXT("\"\xF8\x88\x80\x80\x80\""),
        TEXT("\"\xFF\""),
        TEXT("{\"\xFF\":1}"),
        TEXT("[\xC3\xA9]"),
        TEXT("\xC2\xA0"
             "1"),
        TEXT("\v1"),
        TEXT("\f1"),
        TEXT("\xE2\x80\xA8"
             "1"),
    };
    struct fixture fixture;

    (void)state;
    setup(&fixture);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        /* In a block of its own length, so that a read behind it is noticed. */
        char *copy = malloc(texts[i].len ? texts[i].len : 1);
        struct pawl_json value = pawl__json_int(42);
        struct pawl_error err = PAWL_ERROR_INIT;

        assert_non_null(copy);
        memcpy(copy, texts[i].ptr, texts[i].len);
        if (pawl__json_parse(&fixture.arena, pawl__str_make(copy, texts[i].len), NULL, &value, NULL,
                             &err) != PAWL_EPARSE)
            fail_msg("accepted: %.*s", PAWL_STR_ARG(texts[i]));
        assert_int_equal(err.code, PAWL_EPARSE);
        assert_int_equal(value.u.integer, 42);
        free(copy);
    }
    teardown(&fixture);
}

static void says_what_is_wrong_and_where(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"{\n  \"root\": {\"activities\": [\n   {\"id\": \"a\" \"b\"}]}}",
         "line 3, column 15: expected ',' or '}' after a member, found '\"' "
         "(at /root/activities/0)"},
        {"", "line 1, column 1: expected a value, found the end of the text"},
        {"\xEF\xBB\xBFx",
         "line 1, column 1: expected a value; only true, false and null need no quotes"},
        {"[1, 2", "line 1, column 6: expected ',' or ']' after an element, found the end of the "
                  "text"},
        {"[1, ]", "line 1, column 5: expected a value, found ']' (at /1)"},
        {"[[1],\n[2,\n[é]]]", "line 3, column 2: expected a value, found 'é' (at /1/1/0)"},
        {"{\"a\": {\"b/c~d\": [1, 2, {\"é\\u0041\": -}]}}",
         "line 1, column 37: expected a digit in a number, found '}' (at /a/b~1c~0d/2/éA)"},
        {"{\"a\": 1, }", "line 1, column 10: expected a member name in quotes after ',', "
                         "found '}'"},
        {"{a: 1}", "line 1, column 2: expected a member name in quotes or '}', found 'a'"},
        {"{\"a\": {\"b\" 1}}",
         "line 1, column 12: expected ':' after a member name, found '1' (at /a)"},
        {"[\"é😀\x01\"]", "line 1, column 5: expected an escape (such as \\n) for a control "
                         "character in a string, found U+0001 (at /0)"},
        {"[\"é😀\xFF\"]",
         "line 1, column 5: expected well-formed UTF-8, found the byte 0xFF (at /0)"},
        {"[\"abc", "line 1, column 6: expected '\"' at the end of a string, found the end of the "
                   "text (at /0)"},
        {"[\"a\\qc\"]", "line 1, column 5: expected one of \" \\ / b f n r t u after a backslash, "
                        "found 'q' (at /0)"},
        {"[\"\\u12x4\"]", "line 1, column 7: expected four hexadecimal digits after \\u, found 'x' "
                          "(at /0)"},
        {"[\"\\ud83d!\"]",
         "line 1, column 3: half a surrogate pair cannot stand alone in a string (at /0)"},
        {"{\"x\": [0, 012]}",
         "line 1, column 11: a number cannot begin with 0 and go on with digits (at /x/1)"},
        {"{} {}", "line 1, column 4: expected the end of the text after the value, found '{'"},
        {"[{\"a\": [1, 2], \"b\": {\"c\": 3}, \"d\" 4}]",
         "line 1, column 35: expected ':' after a member name, found '4' (at /0)"},
        {"[{\"a\": [1, 2], \"b\": {\"c\": 3}} {}]",
         "line 1, column 31: expected ',' or ']' after an element, found '{'"},
        {"[[[]], [[], x]]",
         "line 1, column 13: expected a value; only true, false and null need no quotes "
         "(at /1/1)"},
        {"{\"a:{[\": [\"}],\\\"\", ?]}",
         "line 1, column 20: expected a value, found '?' (at /a:{[/1)"},
    };
    struct fixture fixture;

    (void)state;
    setup(&fixture);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pawl_error err = PAWL_ERROR_INIT;
        struct pawl_json_place place;
        struct pawl_json value;
        char prefix[64];

        assert_code(
            pawl__json_parse(&fixture.arena, pawl__str(cases[i].text), NULL, &value, &place, &err),
            PAWL_EPARSE);
        assert_string_equal(err.msg, cases[i].message);
        (void)snprintf(prefix, sizeof prefix, "line %u, column %u: ", place.line, place.column);
        assert_int_equal(strncmp(err.msg, prefix, strlen(prefix)), 0);
    }
    teardown(&fixture);
}

static void gives_the_place_as_data(void **state)
{
    struct fixture fixture;
    struct pawl_json_place place;
    struct pawl_json value;

    (void)state;
    setup(&fixture);
    assert_code(pawl__json_parse(&fixture.arena, pawl__str("{\"é\":\n[true,\n  ?]}"), NULL, &value,
                                 &place, NULL),
                PAWL_EPARSE);
    assert_int_equal(place.offset, 16);
    assert_int_equal(place.line, 3);
    assert_int_equal(place.column, 3);
    assert_string_equal(place.pointer, "/é/1");
    teardown(&fixture);
}

static void cuts_a_long_pointer_visibly_and_between_characters(void **state)
{
    struct fixture fixture;
    struct pawl_json_place place;
    struct pawl_json value;

    (void)state;
    setup(&fixture);
    for (size_t shift = 0; shift < 6; shift++) {
        pawl__buf_clear(&fixture.buf);
        pawl__buf_printf(&fixture.buf, "{\"%.*s", (int)shift, "abcdef");
        for (int i = 0; i < 100; i++)
            pawl__buf_text(&fixture.buf, "漢");
        pawl__buf_text(&fixture.buf, "\": {\"deeper\": [1, 2, {\"and\": ?}]}}");
        assert_code(pawl__json_parse(&fixture.arena, pawl__buf_peek(&fixture.buf), NULL, &value,
                                     &place, NULL),
                    PAWL_EPARSE);
        assert_true(pawl__utf8_valid(pawl__str(place.pointer)));
        assert_true(pawl__str_ends(pawl__str(place.pointer), pawl__str("漢…")));
        assert_true(strlen(place.pointer) < sizeof place.pointer);
    }
    /* A member that fits again after one that did not is shown in full. */
    pawl__buf_clear(&fixture.buf);
    pawl__buf_text(&fixture.buf, "{\"x\": {\"");
    for (int i = 0; i < 300; i++)
        pawl__buf_byte(&fixture.buf, 'k');
    pawl__buf_text(&fixture.buf, "\": [1, {\"z\": 2}], \"short\": [?]}}");
    assert_code(
        pawl__json_parse(&fixture.arena, pawl__buf_peek(&fixture.buf), NULL, &value, &place, NULL),
        PAWL_EPARSE);
    assert_string_equal(place.pointer, "/x/short/0");
    teardown(&fixture);
}

static void sorts_numbers_into_three_kinds(void **state)
{
    static const struct {
        const char *text;
        enum pawl_json_type type;
    } cases[] = {
        {"0", PAWL_JSON_INT},
        {"-1", PAWL_JSON_INT},
        {"9223372036854775807", PAWL_JSON_INT},
        {"-9223372036854775808", PAWL_JSON_INT},
        {"9223372036854775808", PAWL_JSON_NUMBER},
        {"-9223372036854775809", PAWL_JSON_NUMBER},
        {"18446744073709551615", PAWL_JSON_NUMBER},
        {"18446744073709551617", PAWL_JSON_NUMBER},
        {"99999999999999999999", PAWL_JSON_NUMBER},
        {"-0", PAWL_JSON_NUMBER},
        {"0.5", PAWL_JSON_DOUBLE},
        {"-0.5", PAWL_JSON_DOUBLE},
        {"0.1", PAWL_JSON_DOUBLE},
        {"1.10", PAWL_JSON_NUMBER},
        {"1.0", PAWL_JSON_NUMBER},
        {"0.0", PAWL_JSON_NUMBER},
        {"-0.0", PAWL_JSON_NUMBER},
        {"1e2", PAWL_JSON_NUMBER},
        {"1.5e2", PAWL_JSON_NUMBER},
        {"0.000001", PAWL_JSON_DOUBLE},
        {"0.00000123456789012345", PAWL_JSON_DOUBLE},
        {"0.0000001", PAWL_JSON_NUMBER},
        {"0.00000012", PAWL_JSON_NUMBER},
        {"123456789012.345", PAWL_JSON_DOUBLE},
        {"123456789012.3456", PAWL_JSON_NUMBER},
        {"1.0341666666666667", PAWL_JSON_NUMBER},
        {"0.30000000000000004", PAWL_JSON_NUMBER},
        {"99999999999999.9", PAWL_JSON_DOUBLE},
    };
    struct fixture fixture;

    (void)state;
    setup(&fixture);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pawl_json value, built;

        assert_ok(
            pawl__json_parse(&fixture.arena, pawl__str(cases[i].text), NULL, &value, NULL, NULL),
            NULL);
        if (pawl__json_type(&value) != cases[i].type)
            fail_msg("%s is of type %d", cases[i].text, (int)pawl__json_type(&value));
        pawl__buf_clear(&fixture.buf);
        pawl__json_number_text(&value, &fixture.buf);
        assert_str(pawl__buf_peek(&fixture.buf), cases[i].text);
        assert_ok(pawl__json_number(&fixture.arena, pawl__str(cases[i].text), &built), NULL);
        assert_int_equal(built.type, value.type);
        assert_true(pawl__json_equal(&built, &value));
    }
    teardown(&fixture);
}

/* Every literal that becomes a DOUBLE must be what the writer makes of that double. */
static void gives_every_plain_decimal_back_as_it_was(void **state)
{
    struct fixture fixture;
    uint64_t random = 17;

    (void)state;
    setup(&fixture);
    for (int i = 0; i < 100000; i++) {
        char text[64];
        uint64_t digits = test_random(&random) >> test_random(&random) % 63;
        int places = (int)(test_random(&random) % 24);
        struct pawl_json value;

        (void)snprintf(text, sizeof text, "%s%llu.%0*llu", test_random(&random) % 2 ? "-" : "",
                       (unsigned long long)(test_random(&random) % 3 ? 0 : digits % 1000000),
                       places, (unsigned long long)digits);
        assert_ok(pawl__json_parse(&fixture.arena, pawl__str(text), NULL, &value, NULL, NULL),
                  NULL);
        pawl__buf_clear(&fixture.buf);
        pawl__json_write(&fixture.buf, &value, PAWL_JSON_ESCAPE_MINIMAL);
        assert_str(pawl__buf_peek(&fixture.buf), text);
        if (value.type == PAWL_JSON_DOUBLE)
            assert_true(value.u.real == strtod(text, NULL));
        pawl__arena_reset(&fixture.arena);
    }
    teardown(&fixture);
}

static void strings_and_keys_end_in_a_nul(void **state)
{
    struct fixture fixture;
    struct pawl_json value;

    (void)state;
    setup(&fixture);
    assert_ok(pawl__json_parse(&fixture.arena,
                               pawl__str("{\"key\":\"value\",\"k\\u0065y2\":\"a\\u0000b\\n\"}"),
                               NULL, &value, NULL, NULL),
              NULL);
    assert_string_equal(pawl__json_member(&value, 0)->key.ptr, "key");
    assert_string_equal(pawl__json_str(pawl__json_at(&value, 0)).ptr, "value");
    assert_string_equal(pawl__json_member(&value, 1)->key.ptr, "key2");
    assert_int_equal(pawl__json_str(pawl__json_at(&value, 1)).len, 4);
    assert_memory_equal(pawl__json_str(pawl__json_at(&value, 1)).ptr, "a\0b\n", 5);
    teardown(&fixture);
}

static void holds_the_limit_of_depth(void **state)
{
    struct fixture fixture;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_json_limits limits = {.bytes_max = 1000, .depth_max = 3};
    struct pawl_json_place place;
    struct pawl_json value;

    (void)state;
    setup(&fixture);
    assert_ok(pawl__json_parse(&fixture.arena, pawl__str("[{\"a\":[]},[[1]]]"), &limits, &value,
                               NULL, &err),
              &err);
    assert_code(pawl__json_parse(&fixture.arena, pawl__str("[1,{\"a\":[2,\n{}]}]"), &limits, &value,
                                 &place, &err),
                PAWL_ELIMIT);
    assert_string_equal(err.msg, "line 2, column 1: nested too deeply: 3 levels are allowed "
                                 "(at /1/a/1)");
    assert_string_equal(place.pointer, "/1/a/1");
    limits.depth_max = 0;
    assert_ok(pawl__json_parse(&fixture.arena, pawl__str("1"), &limits, &value, NULL, NULL), NULL);
    assert_code(pawl__json_parse(&fixture.arena, pawl__str("[]"), &limits, &value, NULL, NULL),
                PAWL_ELIMIT);
    teardown(&fixture);
}

static void nests_to_1000_levels_and_no_deeper(void **state)
{
    struct pawl_json_limits limits = {.bytes_max = SIZE_MAX, .depth_max = UINT32_MAX};
    struct fixture fixture;
    struct pawl_json value, copy;

    (void)state;
    setup(&fixture);
    for (int i = 0; i < PAWL_JSON_DEPTH_MAX; i++)
        pawl__buf_text(&fixture.buf, i % 2 ? "[" : "{\"k\":");
    pawl__buf_byte(&fixture.buf, '7');
    for (int i = PAWL_JSON_DEPTH_MAX; i-- > 0;)
        pawl__buf_byte(&fixture.buf, i % 2 ? ']' : '}');
    assert_ok(
        pawl__json_parse(&fixture.arena, pawl__buf_peek(&fixture.buf), &limits, &value, NULL, NULL),
        NULL);
    assert_ok(pawl__json_copy(&fixture.arena, &value, &copy), NULL);
    assert_true(pawl__json_equal(&value, &copy));
    assert_code(
        pawl__json_parse(&fixture.arena, pawl__buf_peek(&fixture.buf), NULL, &value, NULL, NULL),
        PAWL_ELIMIT);
    pawl__buf_clear(&fixture.buf);
    pawl__json_write(&fixture.buf, &copy, PAWL_JSON_ESCAPE_MINIMAL);
    assert_code(fixture.buf.status, PAWL_OK);
    pawl__buf_clear(&fixture.buf);
    for (int i = 0; i <= PAWL_JSON_DEPTH_MAX; i++)
        pawl__buf_byte(&fixture.buf, '[');
    assert_code(
        pawl__json_parse(&fixture.arena, pawl__buf_peek(&fixture.buf), &limits, &value, NULL, NULL),
        PAWL_ELIMIT);
    teardown(&fixture);
}

static void holds_the_limits_of_size(void **state)
{
    struct fixture fixture;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_json_limits limits = {.bytes_max = 5, .depth_max = 3};
    struct pawl_json_place place;
    struct pawl_json value;
    struct pawl_arena small;

    (void)state;
    setup(&fixture);
    assert_ok(pawl__json_parse(&fixture.arena, pawl__str("[1,2]"), &limits, &value, NULL, NULL),
              NULL);
    assert_code(
        pawl__json_parse(&fixture.arena, pawl__str("[1,2] "), &limits, &value, &place, &err),
        PAWL_ELIMIT);
    assert_string_equal(err.msg, "line 1, column 1: the text is 6 bytes long, 5 are allowed");
    assert_int_equal(place.line, 1);
    pawl__arena_init(&small, &fixture.alloc.base, 200);
    assert_code(
        pawl__json_parse(&small, pawl__str("[1,2,3,4,5,6,7,8,9,10]"), NULL, &value, &place, &err),
        PAWL_ELIMIT);
    assert_string_equal(err.msg, "line 1, column 1: the document needs more memory than the 200 "
                                 "bytes allowed for it");
    pawl__arena_release(&small);
    teardown(&fixture);
}

static void takes_few_allocations(void **state)
{
    struct fixture fixture;
    struct pawl_json value;
    size_t requests;

    (void)state;
    setup(&fixture);
    pawl__buf_byte(&fixture.buf, '[');
    for (int i = 0; i < 3000; i++)
        pawl__buf_text(&fixture.buf, "{\"id\":\"0123456789\",\"n\":[1,2,3]},");
    pawl__buf_text(&fixture.buf, "0]");
    requests = fixture.alloc.request_count;
    assert_ok(
        pawl__json_parse(&fixture.arena, pawl__buf_peek(&fixture.buf), NULL, &value, NULL, NULL),
        NULL);
    assert_int_equal(pawl__json_len(&value), 3001);
    assert_true(fixture.alloc.request_count - requests < 10);
    teardown(&fixture);
}

static void locates_values_by_pointer(void **state)
{
    static const char text[] = "\xEF\xBB\xBF{\n"
                               "  \"a\": [10, \"]},\\\"\", {\"b\": {}}, [], 7],\n"
                               "  \"x/y\": {\"~\": true, \"\": null},\n"
                               "  \"é\\u0041\": 5, \"dup\": 1,\n"
                               "  \"dup\": [2] }";
    static const struct {
        const char *pointer;
        uint32_t line, column; /* 0: not found */
    } cases[] = {
        {"", 1, 1},          {"/a", 2, 8},      {"/a/0", 2, 9},     {"/a/1", 2, 13},
        {"/a/2", 2, 22},     {"/a/2/b", 2, 28}, {"/a/3", 2, 33},    {"/a/4", 2, 37},
        {"/a/5", 0, 0},      {"/a/01", 0, 0},   {"/a/-", 0, 0},     {"/x~1y", 3, 10},
        {"/x~1y/~0", 3, 16}, {"/x~1y/", 3, 26}, {"/éA", 4, 14},     {"/dup", 5, 10},
        {"/dup/0", 5, 11},   {"/nope", 0, 0},   {"a", 0, 0},        {"/a/0/b", 0, 0},
        {"/é", 0, 0},        {"/x~1y/~", 0, 0}, {"/x~1y/~2", 0, 0},
    };
    struct fixture fixture;
    struct pawl_json value;

    (void)state;
    setup(&fixture);
    assert_ok(pawl__json_parse(&fixture.arena, pawl__str(text), NULL, &value, NULL, NULL), NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pawl_str pointer = pawl__str(cases[i].pointer);
        struct pawl_json_place place;

        if (cases[i].line == 0) {
            assert_code(pawl__json_locate(pawl__str(text), pointer, &place), PAWL_ENOTFOUND);
            assert_null(pawl__json_find(&value, pointer));
            continue;
        }
        assert_ok(pawl__json_locate(pawl__str(text), pointer, &place), NULL);
        if (place.line != cases[i].line || place.column != cases[i].column)
            fail_msg("%s is at line %u, column %u", cases[i].pointer, place.line, place.column);
        assert_string_equal(place.pointer, cases[i].pointer);
        assert_non_null(pawl__json_find(&value, pointer));
    }
    teardown(&fixture);
}

static int parse_big(struct test_allocator *alloc, void *arg)
{
    struct pawl_arena arena;
    struct pawl_json value;
    const struct pawl_buf *text = arg;
    int status;

    pawl__arena_init(&arena, &alloc->base, (size_t)16 << 20);
    status = pawl__json_parse(&arena, pawl__buf_peek(text), NULL, &value, NULL, NULL);
    pawl__arena_release(&arena);
    return status;
}

static void survives_refused_allocations(void **state)
{
    struct fixture fixture;

    (void)state;
    setup(&fixture);
    pawl__buf_byte(&fixture.buf, '[');
    for (int i = 0; i < 3000; i++) /* more values at a time than the parser has slots of its own */
        pawl__buf_text(&fixture.buf, "\"a\\n\",[1.10],");
    pawl__buf_text(&fixture.buf, "{}]");
    test_sweep_allocations(parse_big, &fixture.buf, 100);
    teardown(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_what_is_json),
        cmocka_unit_test(refuses_what_is_not_json),
        cmocka_unit_test(says_what_is_wrong_and_where),
        cmocka_unit_test(gives_the_place_as_data),
        cmocka_unit_test(cuts_a_long_pointer_visibly_and_between_characters),
        cmocka_unit_test(sorts_numbers_into_three_kinds),
        cmocka_unit_test(gives_every_plain_decimal_back_as_it_was),
        cmocka_unit_test(strings_and_keys_end_in_a_nul),
        cmocka_unit_test(holds_the_limit_of_depth),
        cmocka_unit_test(nests_to_1000_levels_and_no_deeper),
        cmocka_unit_test(holds_the_limits_of_size),
        cmocka_unit_test(takes_few_allocations),
        cmocka_unit_test(locates_values_by_pointer),
        cmocka_unit_test(survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("base/json_parse", tests, NULL, NULL);
}
