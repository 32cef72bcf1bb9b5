/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json.h"
#include "fuzz/json_agree.h"
#include "lib/test.h"

#include <stdio.h>
#include <stdlib.h>

struct fixture {
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_json_reader reader;
};

static void setup(struct fixture *fixture, const char *text)
{
    test_allocator_init(&fixture->alloc);
    pawl__arena_init(&fixture->arena, &fixture->alloc.base, (size_t)16 << 20);
    pawl__json_reader_init(&fixture->reader, &fixture->arena, pawl__str(text), NULL);
}

static void teardown(struct fixture *fixture)
{
    pawl__arena_release(&fixture->arena);
    assert_int_equal(fixture->alloc.live_bytes, 0);
}

static enum pawl_json_event next(struct fixture *fixture, struct pawl_json *value)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    enum pawl_json_event event;

    assert_ok(pawl__json_reader_next(&fixture->reader, &event, value, &err), &err);
    return event;
}

static void gives_one_event_at_a_time(void **state)
{
    struct fixture fixture;
    struct pawl_json value;
    int64_t integer;

    (void)state;
    setup(&fixture, " {\"a\": [1, 1.10, \"x\\ny\"], \"b\": {}, \"c\": true} ");
    assert_int_equal(next(&fixture, &value), PAWL_JSON_EVENT_BEGIN_OBJECT);
    assert_int_equal(fixture.reader.item_start, 1);
    assert_int_equal(next(&fixture, &value), PAWL_JSON_EVENT_KEY);
    assert_int_equal(fixture.reader.item_start, 2);
    assert_str(pawl__json_str(&value), "a");
    assert_int_equal(next(&fixture, &value), PAWL_JSON_EVENT_BEGIN_ARRAY);
    assert_int_equal(fixture.reader.depth, 2);
    assert_int_equal(next(&fixture, &value), PAWL_JSON_EVENT_SCALAR);
    assert_true(pawl__json_to_int(&value, &integer));
    assert_int_equal(integer, 1);
    assert_int_equal(next(&fixture, &value), PAWL_JSON_EVENT_SCALAR);
    assert_int_equal(fixture.reader.item_start, 11);
    assert_int_equal(pawl__json_type(&value), PAWL_JSON_NUMBER);
    assert_str(pawl__str_make(value.u.text, value.len), "1.10");
    assert_int_equal(next(&fixture, &value), PAWL_JSON_EVENT_SCALAR);
    assert_str(pawl__json_str(&value), "x\ny");
    assert_int_equal(next(&fixture, &value), PAWL_JSON_EVENT_END_ARRAY);
    assert_int_equal(next(&fixture, &value), PAWL_JSON_EVENT_KEY);
    assert_int_equal(next(&fixture, &value), PAWL_JSON_EVENT_BEGIN_OBJECT);
    assert_int_equal(next(&fixture, &value), PAWL_JSON_EVENT_END_OBJECT);
    assert_int_equal(next(&fixture, &value), PAWL_JSON_EVENT_KEY);
    assert_int_equal(next(&fixture, &value), PAWL_JSON_EVENT_SCALAR);
    assert_true(pawl__json_true(&value));
    assert_int_equal(next(&fixture, &value), PAWL_JSON_EVENT_END_OBJECT);
    assert_int_equal(next(&fixture, &value), PAWL_JSON_EVENT_END);
    assert_int_equal(next(&fixture, &value), PAWL_JSON_EVENT_END);
    teardown(&fixture);
}

static void passes_over_values(void **state)
{
    struct fixture fixture;
    struct pawl_json value;

    (void)state;
    setup(&fixture, "{\"a\": [1, [2, {\"x\": \"\\u0041\"}]], \"b\": 3, \"c\": {\"d\": [4]}}");
    assert_int_equal(next(&fixture, &value), PAWL_JSON_EVENT_BEGIN_OBJECT);
    assert_int_equal(next(&fixture, &value), PAWL_JSON_EVENT_KEY);
    assert_ok(pawl__json_reader_skip(&fixture.reader, NULL), NULL); /* behind a key: its value */
    assert_int_equal(next(&fixture, &value), PAWL_JSON_EVENT_KEY);
    assert_str(pawl__json_str(&value), "b");
    assert_ok(pawl__json_reader_skip(&fixture.reader, NULL), NULL); /* a scalar */
    assert_int_equal(next(&fixture, &value), PAWL_JSON_EVENT_KEY);
    assert_int_equal(next(&fixture, &value), PAWL_JSON_EVENT_BEGIN_OBJECT);
    assert_ok(pawl__json_reader_skip(&fixture.reader, NULL), NULL); /* behind a begin: its rest */
    assert_int_equal(next(&fixture, &value), PAWL_JSON_EVENT_END_OBJECT);
    assert_int_equal(next(&fixture, &value), PAWL_JSON_EVENT_END);
    assert_int_equal(fixture.alloc.request_count, 0);
    teardown(&fixture);
}

static void checks_what_it_passes_over(void **state)
{
    struct fixture fixture;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_json value;
    size_t at;

    (void)state;
    setup(&fixture, "{\"a\": [1, {\"b\": 01}], \"c\": 2}");
    assert_int_equal(next(&fixture, &value), PAWL_JSON_EVENT_BEGIN_OBJECT);
    assert_int_equal(next(&fixture, &value), PAWL_JSON_EVENT_KEY);
    at = fixture.reader.at;
    assert_code(pawl__json_reader_skip(&fixture.reader, &err), PAWL_EPARSE);
    assert_string_equal(err.msg, "line 1, column 17: a number cannot begin with 0 and go on with "
                                 "digits (at /a/1/b)");
    assert_int_equal(fixture.reader.at, at); /* nothing has changed */
    assert_int_equal(fixture.reader.depth, 1);
    teardown(&fixture);
}

static void fails_again_the_same_way(void **state)
{
    struct fixture fixture;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_error again = PAWL_ERROR_INIT;
    enum pawl_json_event event = PAWL_JSON_EVENT_KEY;
    struct pawl_json value = pawl__json_int(42);

    (void)state;
    setup(&fixture, "[1 2]");
    assert_int_equal(next(&fixture, &value), PAWL_JSON_EVENT_BEGIN_ARRAY);
    assert_int_equal(next(&fixture, &value), PAWL_JSON_EVENT_SCALAR);
    assert_code(pawl__json_reader_next(&fixture.reader, &event, &value, &err), PAWL_EPARSE);
    assert_code(pawl__json_reader_next(&fixture.reader, &event, &value, &again), PAWL_EPARSE);
    assert_string_equal(err.msg, again.msg);
    assert_int_equal(event, PAWL_JSON_EVENT_KEY); /* untouched */
    assert_int_equal(value.u.integer, 1);
    teardown(&fixture);
}

static void borrows_strings_without_escapes_from_the_text(void **state)
{
    static const char text[] = "[\"plain\", 123456789012345678901]";
    struct fixture fixture;
    struct pawl_json value;

    (void)state;
    setup(&fixture, text);
    (void)next(&fixture, &value);
    (void)next(&fixture, &value);
    assert_ptr_equal(value.u.text, fixture.reader.text.ptr + 2);
    (void)next(&fixture, &value);
    assert_ptr_equal(value.u.text, fixture.reader.text.ptr + 10);
    assert_int_equal(fixture.alloc.request_count, 0);
    teardown(&fixture);
}

static void needs_no_more_memory_than_its_longest_string_when_the_arena_is_reset(void **state)
{
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_buf text;
    struct pawl_json_reader reader;
    enum pawl_json_event event = PAWL_JSON_EVENT_KEY;
    struct pawl_json value;

    (void)state;
    test_allocator_init(&alloc);
    pawl__arena_init(&arena, &alloc.base, 5000);
    pawl__buf_init(&text, &alloc.base, 1 << 20);
    pawl__buf_byte(&text, '[');
    for (int i = 0; i < 2000; i++)
        pawl__buf_text(&text, "\"0123456789\\n0123456789\",");
    pawl__buf_text(&text, "0]");
    pawl__json_reader_init(&reader, &arena, pawl__buf_peek(&text), NULL);
    while (event != PAWL_JSON_EVENT_END) {
        assert_ok(pawl__json_reader_next(&reader, &event, &value, NULL), NULL);
        pawl__arena_reset(&arena);
    }
    pawl__buf_release(&text);
    pawl__arena_release(&arena);
    assert_int_equal(alloc.live_bytes, 0);
}

static void holds_its_limits(void **state)
{
    struct pawl_json_limits limits = {.bytes_max = 20, .depth_max = 2};
    struct fixture fixture;
    struct pawl_error err = PAWL_ERROR_INIT;

    (void)state;
    setup(&fixture, "");
    pawl__json_reader_init(&fixture.reader, &fixture.arena, pawl__str("[[], [[]]]"), &limits);
    assert_code(json_reader_drain(&fixture.reader, &err), PAWL_ELIMIT);
    assert_string_equal(err.msg,
                        "line 1, column 7: nested too deeply: 2 levels are allowed (at /1/0)");
    pawl__json_reader_init(&fixture.reader, &fixture.arena, pawl__str("\"0123456789012345678\""),
                           &limits);
    assert_code(json_reader_drain(&fixture.reader, &err), PAWL_ELIMIT);
    teardown(&fixture);
}

/* Texts of their own length on the heap: nothing behind the end may be read. */
static void agrees_with_the_parser_on_every_prefix_of_a_document(void **state)
{
    static const char text[] = "\xEF\xBB\xBF {\"a\": [1, -2.5, 1e+3, \"é漢😀\\n\\ud83d\\ude00\"],"
                               " \"b\\u0041\": {\"c\": null, \"d\": [true, false, {}, []]},\n"
                               " \"0123456789abcdef\": \"0123456789abcdef0123456789\"} ";

    (void)state;
    for (size_t len = 0; len < sizeof text; len++) {
        struct fixture fixture;
        char *copy = malloc(len ? len : 1);
        struct pawl_error err = PAWL_ERROR_INIT;
        struct pawl_error again = PAWL_ERROR_INIT;
        struct pawl_json value;
        int status;

        assert_non_null(copy);
        memcpy(copy, text, len);
        setup(&fixture, "");
        status =
            pawl__json_parse(&fixture.arena, pawl__str_make(copy, len), NULL, &value, NULL, &err);
        pawl__json_reader_init(&fixture.reader, &fixture.arena, pawl__str_make(copy, len), NULL);
        if (status == PAWL_OK)
            assert_true(json_reader_agrees(&fixture.reader, &value));
        assert_code(json_reader_drain(&fixture.reader, &again), status);
        assert_string_equal(err.msg, again.msg);
        teardown(&fixture);
        free(copy);
    }
}

static int read_all(struct test_allocator *alloc, void *arg)
{
    struct pawl_arena arena;
    struct pawl_json_reader reader;
    int status;

    (void)arg;
    pawl__arena_init(&arena, &alloc->base, 1 << 20);
    pawl__json_reader_init(&reader, &arena, pawl__str("[\"a\\nb\", {\"\\u0041\": 1}]"), NULL);
    status = json_reader_drain(&reader, NULL);
    pawl__arena_release(&arena);
    return status;
}

static void survives_refused_allocations(void **state)
{
    (void)state;
    test_sweep_allocations(read_all, NULL, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_one_event_at_a_time),
        cmocka_unit_test(passes_over_values),
        cmocka_unit_test(checks_what_it_passes_over),
        cmocka_unit_test(fails_again_the_same_way),
        cmocka_unit_test(borrows_strings_without_escapes_from_the_text),
        cmocka_unit_test(needs_no_more_memory_than_its_longest_string_when_the_arena_is_reset),
        cmocka_unit_test(holds_its_limits),
        cmocka_unit_test(agrees_with_the_parser_on_every_prefix_of_a_document),
        cmocka_unit_test(survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("base/json_reader", tests, NULL, NULL);
}
