/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json.h"
#include "lib/test.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

struct fixture {
    struct test_allocator alloc;
    struct pawl_buf buf;
    struct pawl_json_writer writer;
};

static void setup(struct fixture *fixture, enum pawl_json_escape escape, uint8_t indent)
{
    test_allocator_init(&fixture->alloc);
    pawl__buf_init(&fixture->buf, &fixture->alloc.base, (size_t)16 << 20);
    pawl__json_writer_init(&fixture->writer, &fixture->buf, escape, indent);
}

static void teardown(struct fixture *fixture)
{
    pawl__buf_release(&fixture->buf);
    assert_int_equal(fixture->alloc.live_bytes, 0);
}

static void check_string(struct pawl_str s, enum pawl_json_escape escape, const char *expected)
{
    struct fixture fixture;

    setup(&fixture, escape, 0);
    pawl__json_write_string(&fixture.writer, s);
    assert_code(fixture.buf.status, PAWL_OK);
    assert_str(pawl__buf_peek(&fixture.buf), expected);
    teardown(&fixture);
}

static void puts_commas_and_colons_by_itself(void **state)
{
    struct fixture fixture;

    (void)state;
    setup(&fixture, PAWL_JSON_ESCAPE_MINIMAL, 0);
    pawl__json_write_begin_object(&fixture.writer);
    pawl__json_write_key_text(&fixture.writer, "a");
    pawl__json_write_int(&fixture.writer, -12);
    pawl__json_write_key(&fixture.writer, pawl__str("b"));
    pawl__json_write_begin_array(&fixture.writer);
    pawl__json_write_null(&fixture.writer);
    pawl__json_write_bool(&fixture.writer, true);
    pawl__json_write_bool(&fixture.writer, false);
    pawl__json_write_double(&fixture.writer, 2.5);
    pawl__json_write_string_text(&fixture.writer, "s\n");
    pawl__json_write_raw(&fixture.writer, pawl__str("[1, 2]"));
    pawl__json_write_begin_object(&fixture.writer);
    pawl__json_write_end_object(&fixture.writer);
    pawl__json_write_begin_array(&fixture.writer);
    pawl__json_write_end_array(&fixture.writer);
    pawl__json_write_end_array(&fixture.writer);
    pawl__json_write_key_text(&fixture.writer, "c");
    pawl__json_write_value(&fixture.writer, NULL);
    pawl__json_write_end_object(&fixture.writer);
    assert_str(pawl__buf_peek(&fixture.buf),
               "{\"a\":-12,\"b\":[null,true,false,2.5,\"s\\n\",[1, 2],{},[]],\"c\":null}");
    teardown(&fixture);
}

static void indents_when_asked_to(void **state)
{
    static const char text[] = "{\n"
                               "  \"a\": [\n"
                               "    1,\n"
                               "    {\n"
                               "      \"b\": []\n"
                               "    },\n"
                               "    {}\n"
                               "  ],\n"
                               "  \"c\": \"d\"\n"
                               "}";
    struct fixture fixture;
    struct pawl_arena arena;
    struct pawl_json value;

    (void)state;
    setup(&fixture, PAWL_JSON_ESCAPE_MINIMAL, 2);
    pawl__arena_init(&arena, &fixture.alloc.base, 1 << 20);
    assert_ok(pawl__json_parse(&arena, pawl__str(text), NULL, &value, NULL, NULL), NULL);
    pawl__json_write_value(&fixture.writer, &value);
    assert_str(pawl__buf_peek(&fixture.buf), text);
    pawl__buf_clear(&fixture.buf);
    pawl__json_writer_init(&fixture.writer, &fixture.buf, PAWL_JSON_ESCAPE_MINIMAL, 40);
    pawl__json_write_begin_array(&fixture.writer);
    pawl__json_write_begin_array(&fixture.writer);
    pawl__json_write_int(&fixture.writer, 1);
    pawl__json_write_end_array(&fixture.writer);
    pawl__json_write_end_array(&fixture.writer);
    assert_int_equal(fixture.buf.len, 1 + 41 + 1 + 81 + 1 + 41 + 1 + 1 + 1);
    pawl__arena_release(&arena);
    teardown(&fixture);
}

static void escapes_only_what_must_be(void **state)
{
    (void)state;
    check_string(pawl__str("\"\\/\b\f\n\r\t\x01\x1F\x7F"), PAWL_JSON_ESCAPE_MINIMAL,
                 "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001F\x7F\"");
    check_string(pawl__str_make("a\0b", 3), PAWL_JSON_ESCAPE_MINIMAL, "\"a\\u0000b\"");
    check_string(pawl__str("<é漢😀\xE2\x80\xA8&>'+`"), PAWL_JSON_ESCAPE_MINIMAL,
                 "\"<é漢😀\xE2\x80\xA8&>'+`\"");
    check_string(pawl__str(""), PAWL_JSON_ESCAPE_MINIMAL, "\"\"");
    check_string(pawl__str_make(NULL, 0), PAWL_JSON_ESCAPE_MINIMAL, "\"\"");
}

/* As recorded: the name of a definition, saved and read back through the API. */
static void escapes_as_elsa_does_for_definitions(void **state)
{
    (void)state;
    check_string(pawl__str("a<b>&c'd\"e+f/\\ é 漢 😀 \xE2\x80\xA8 \x7F"), PAWL_JSON_ESCAPE_HTML,
                 "\"a\\u003Cb\\u003E\\u0026c\\u0027d\\u0022e\\u002Bf/\\\\ é 漢 \\uD83D\\uDE00 "
                 "\\u2028 \\u007F\"");
    check_string(pawl__str("`\b\f\n\r\t\x1B"), PAWL_JSON_ESCAPE_HTML,
                 "\"\\u0060\\b\\f\\n\\r\\t\\u001B\"");
    /* blanks, C1 controls, private use and what is not assigned */
    check_string(pawl__str("\xC2\xA0\xC2\x85\xE3\x80\x80\xEE\x80\x80\xCD\xB8\xEF\xBF\xBE"),
                 PAWL_JSON_ESCAPE_HTML, "\"\\u00A0\\u0085\\u3000\\uE000\\u0378\\uFFFE\"");
    /* format characters, marks and U+FFFD are assigned and stay */
    check_string(pawl__str("\xC2\xAD\xE2\x80\x8B\xEF\xBB\xBF\xCC\x81\xEF\xBF\xBD"),
                 PAWL_JSON_ESCAPE_HTML, "\"\xC2\xAD\xE2\x80\x8B\xEF\xBB\xBF\xCC\x81\xEF\xBF\xBD\"");
}

static void escapes_as_dotnet_does_by_default(void **state)
{
    (void)state;
    check_string(pawl__str("a<b>&c'd\"e+f/\\ é 漢 😀 \xE2\x80\xA8 \x7F`\n"), PAWL_JSON_ESCAPE_ASCII,
                 "\"a\\u003Cb\\u003E\\u0026c\\u0027d\\u0022e\\u002Bf/\\\\ \\u00E9 \\u6F22 "
                 "\\uD83D\\uDE00 \\u2028 \\u007F\\u0060\\n\"");
    check_string(pawl__str("\xFF"), PAWL_JSON_ESCAPE_ASCII, "\"\\uFFFD\"");
}

static void writes_malformed_utf8_as_replacement_characters(void **state)
{
    (void)state;
    check_string(pawl__str("a\xFF\xC3(\xE2\x82z"), PAWL_JSON_ESCAPE_MINIMAL,
                 "\"a\xEF\xBF\xBD\xEF\xBF\xBD(\xEF\xBF\xBD\xEF\xBF\xBDz\"");
    check_string(pawl__str("\xED\xA0\x80"), PAWL_JSON_ESCAPE_HTML,
                 "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
    check_string(pawl__str("0123456789abcdef0123456789abcde\xF0\x9F\x98"), PAWL_JSON_ESCAPE_MINIMAL,
                 "\"0123456789abcdef0123456789abcde\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

/* What one byte becomes, the slow and obvious way. */
static void expect_byte(struct pawl_buf *out, unsigned char c, enum pawl_json_escape escape)
{
    static const char with_letter[] = "\b\t\n\f\r\\";
    static const char letters[] = "btnfr\\";
    bool html = escape != PAWL_JSON_ESCAPE_MINIMAL;
    const char *hit = c ? strchr(with_letter, c) : NULL;

    if (hit)
        pawl__buf_printf(out, "\\%c", letters[hit - with_letter]);
    else if (c == '"' && !html)
        pawl__buf_text(out, "\\\"");
    else if (c < 0x20 || (html && strchr("\"&'+<>`\x7F", c)))
        pawl__buf_printf(out, "\\u%04X", c);
    else
        pawl__buf_byte(out, (char)c);
}

/* Every length and every position in it, so that each way through the 16-byte loops is taken. */
static void escapes_at_every_position_of_strings_of_every_length(void **state)
{
    struct fixture fixture;
    struct pawl_buf expected;
    uint64_t random = 3;

    (void)state;
    setup(&fixture, PAWL_JSON_ESCAPE_MINIMAL, 0);
    pawl__buf_init(&expected, &fixture.alloc.base, 1 << 20);
    for (int round = 0; round < 60000; round++) {
        enum pawl_json_escape escape = (enum pawl_json_escape)(test_random(&random) % 3);
        size_t len = test_random(&random) % 50;
        size_t special = test_random(&random) % 4;
        char text[50];

        for (size_t i = 0; i < len; i++)
            text[i] = (char)('a' + test_random(&random) % 26);
        for (size_t i = 0; i < special && len > 0; i++)
            text[test_random(&random) % len] = (char)(test_random(&random) % 128);
        pawl__buf_clear(&expected);
        pawl__buf_byte(&expected, '"');
        for (size_t i = 0; i < len; i++)
            expect_byte(&expected, (unsigned char)text[i], escape);
        pawl__buf_byte(&expected, '"');
        pawl__buf_clear(&fixture.buf);
        pawl__json_writer_init(&fixture.writer, &fixture.buf, escape, 0);
        pawl__json_write_string(&fixture.writer, pawl__str_make(text, len));
        assert_str(pawl__buf_peek(&fixture.buf), pawl__buf_cstr(&expected));
    }
    pawl__buf_release(&expected);
    teardown(&fixture);
}

static void refuses_what_is_not_finite(void **state)
{
    struct fixture fixture;

    (void)state;
    setup(&fixture, PAWL_JSON_ESCAPE_MINIMAL, 0);
    pawl__json_write_double(&fixture.writer, NAN);
    assert_code(fixture.buf.status, PAWL_EINVAL);
    pawl__buf_clear(&fixture.buf);
    pawl__json_write(&fixture.buf,
                     &(struct pawl_json){.type = PAWL_JSON_DOUBLE, .u.real = INFINITY},
                     PAWL_JSON_ESCAPE_MINIMAL);
    assert_code(fixture.buf.status, PAWL_EINVAL);
    teardown(&fixture);
}

/* A text that fits the buffer exactly is written, whatever the writer reserves on its way. */
static void fills_a_buffer_to_its_last_byte(void **state)
{
    static const char *const texts[] = {
        "{\"a\":[1,2.5,\"xyz\",true,null]}",
        "\"0123456789abcdef0123456789abcdef\"",
        "\"\\n\\n\\n\\n\\n\\n\\u0001\\\"é😀\"",
        "{\"0123456789abcdef0123456789abcdef\":{\"k\":{}},\"b\":1.10}",
    };
    struct test_allocator alloc;
    struct pawl_arena arena;

    (void)state;
    test_allocator_init(&alloc);
    pawl__arena_init(&arena, &alloc.base, 1 << 20);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct pawl_json value;

        assert_ok(pawl__json_parse(&arena, pawl__str(texts[i]), NULL, &value, NULL, NULL), NULL);
        for (size_t max = 0; max <= strlen(texts[i]) + 40; max++) {
            struct pawl_buf buf;

            pawl__buf_init(&buf, &alloc.base, max);
            pawl__json_write(&buf, &value, PAWL_JSON_ESCAPE_MINIMAL);
            if (max < strlen(texts[i])) {
                assert_code(buf.status, PAWL_ELIMIT);
            } else {
                assert_code(buf.status, PAWL_OK);
                assert_str(pawl__buf_peek(&buf), texts[i]);
            }
            pawl__buf_release(&buf);
        }
    }
    pawl__arena_release(&arena);
    assert_int_equal(alloc.live_bytes, 0);
}

static void refuses_to_nest_past_1000_levels(void **state)
{
    struct fixture fixture;
    struct pawl_arena arena;
    struct pawl_json value = pawl__json_null();

    (void)state;
    setup(&fixture, PAWL_JSON_ESCAPE_MINIMAL, 0);
    for (int i = 0; i < 3000; i++)
        pawl__json_write_begin_array(&fixture.writer);
    assert_code(fixture.buf.status, PAWL_ELIMIT);
    for (int i = 0; i < 3000; i++)
        pawl__json_write_end_array(&fixture.writer);
    pawl__arena_init(&arena, &fixture.alloc.base, 1 << 20);
    for (int i = 0; i < PAWL_JSON_DEPTH_MAX + 1; i++) {
        struct pawl_json outer = pawl__json_array();

        pawl__buf_clear(&fixture.buf);
        pawl__json_write(&fixture.buf, &value, PAWL_JSON_ESCAPE_MINIMAL);
        assert_code(fixture.buf.status, PAWL_OK);
        assert_ok(pawl__json_append(&arena, &outer, value), NULL);
        value = outer;
    }
    pawl__buf_clear(&fixture.buf);
    pawl__json_write(&fixture.buf, &value, PAWL_JSON_ESCAPE_MINIMAL);
    assert_code(fixture.buf.status, PAWL_ELIMIT);
    pawl__buf_clear(&fixture.buf);
    pawl__json_writer_init(&fixture.writer, &fixture.buf, PAWL_JSON_ESCAPE_MINIMAL, 1);
    pawl__json_write_value(&fixture.writer, &value);
    assert_code(fixture.buf.status, PAWL_ELIMIT);
    pawl__arena_release(&arena);
    teardown(&fixture);
}

static void value_where_a_key_is_due(struct pawl_json_writer *writer)
{
    pawl__json_write_begin_object(writer);
    pawl__json_write_int(writer, 1);
}

static void key_in_an_array(struct pawl_json_writer *writer)
{
    pawl__json_write_begin_array(writer);
    pawl__json_write_key_text(writer, "a");
}

static void key_without_a_value(struct pawl_json_writer *writer)
{
    pawl__json_write_begin_object(writer);
    pawl__json_write_key_text(writer, "a");
    pawl__json_write_end_object(writer);
}

static void wrong_end(struct pawl_json_writer *writer)
{
    pawl__json_write_begin_array(writer);
    pawl__json_write_end_object(writer);
}

static void second_document(struct pawl_json_writer *writer)
{
    pawl__json_write_null(writer);
    pawl__json_write_null(writer);
}

static void asserts_on_calls_out_of_order(void **state)
{
    static void (*const bugs[])(struct pawl_json_writer * writer) = {
        value_where_a_key_is_due, key_in_an_array, key_without_a_value, wrong_end, second_document};

    (void)state;
    for (size_t i = 0; i < sizeof bugs / sizeof bugs[0]; i++) {
        struct fixture fixture;
        pid_t child;
        int status;

        setup(&fixture, PAWL_JSON_ESCAPE_MINIMAL, 0);
        child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            (void)signal(SIGABRT, SIG_DFL);
            if (!freopen("/dev/null", "w", stderr))
                _exit(2);
            bugs[i](&fixture.writer);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
        teardown(&fixture);
    }
}

static int write_some(struct test_allocator *alloc, void *arg)
{
    struct pawl_json_writer writer;
    struct pawl_buf buf;
    int status;

    (void)arg;
    pawl__buf_init(&buf, &alloc->base, 1 << 20);
    pawl__json_writer_init(&writer, &buf, PAWL_JSON_ESCAPE_HTML, 2);
    pawl__json_write_begin_object(&writer);
    for (int i = 0; i < 200; i++) {
        pawl__json_write_key_text(&writer, "key");
        pawl__json_write_string_text(&writer, "a string with <escapes> & é😀, longer than 16");
        pawl__json_write_key_text(&writer, "n");
        pawl__json_write_double(&writer, i / 7.0);
    }
    pawl__json_write_end_object(&writer);
    status = buf.status;
    pawl__buf_release(&buf);
    return status;
}

static void survives_refused_allocations(void **state)
{
    (void)state;
    test_sweep_allocations(write_some, NULL, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_commas_and_colons_by_itself),
        cmocka_unit_test(indents_when_asked_to),
        cmocka_unit_test(escapes_only_what_must_be),
        cmocka_unit_test(escapes_as_elsa_does_for_definitions),
        cmocka_unit_test(escapes_as_dotnet_does_by_default),
        cmocka_unit_test(writes_malformed_utf8_as_replacement_characters),
        cmocka_unit_test(escapes_at_every_position_of_strings_of_every_length),
        cmocka_unit_test(refuses_what_is_not_finite),
        cmocka_unit_test(fills_a_buffer_to_its_last_byte),
        cmocka_unit_test(refuses_to_nest_past_1000_levels),
        cmocka_unit_test(asserts_on_calls_out_of_order),
        cmocka_unit_test(survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("base/json_write", tests, NULL, NULL);
}
