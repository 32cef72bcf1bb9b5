/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/brief.h"
#include "lib/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BYTES_MAX ((size_t)64 << 20)

static const struct pawl_str few[] = {{"id", 2}, {"status", 6}, {"Running", 7}};

struct fixture {
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_buf brief, text;
    struct pawl_words words;
};

static void set_up(struct fixture *f)
{
    test_allocator_init(&f->alloc);
    pawl__arena_init(&f->arena, &f->alloc.base, BYTES_MAX);
    pawl__buf_init(&f->brief, &f->alloc.base, BYTES_MAX);
    pawl__buf_init(&f->text, &f->alloc.base, BYTES_MAX);
    pawl__words_init(&f->words, few, sizeof few / sizeof *few);
}

static void tear_down(struct fixture *f)
{
    pawl__buf_release(&f->text);
    pawl__buf_release(&f->brief);
    pawl__arena_release(&f->arena);
    assert_int_equal(f->alloc.live_bytes, 0);
}

static struct pawl_json parse(struct fixture *f, struct pawl_str text)
{
    const struct pawl_json_limits limits = {BYTES_MAX, PAWL_JSON_DEPTH_MAX};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_json json;

    assert_ok(pawl__json_parse(&f->arena, text, &limits, &json, NULL, &err), &err);
    return json;
}

/* Written briefly and read back, it is the same text. Returns how many bytes it took. */
static size_t check_same(struct fixture *f, struct pawl_str text)
{
    struct pawl_json json = parse(f, text), again;
    char *bytes;

    pawl__buf_clear(&f->brief);
    pawl__brief_write(&f->brief, &json, &f->words);
    assert_code(f->brief.status, PAWL_OK);
    bytes = pawl__arena_alloc(&f->arena, f->brief.len);
    assert_non_null(bytes);
    memcpy(bytes, f->brief.ptr, f->brief.len);
    assert_code(pawl__brief_read(&f->arena, pawl__str_make(bytes, f->brief.len), &f->words, &again),
                PAWL_OK);
    memset(bytes, 'x', f->brief.len); /* it borrows nothing */
    pawl__buf_clear(&f->text);
    pawl__json_write(&f->text, &again, PAWL_JSON_ESCAPE_MINIMAL);
    assert_code(f->text.status, PAWL_OK);
    assert_int_equal(f->text.len, text.len);
    assert_memory_equal(f->text.ptr, text.ptr, text.len);
    return f->brief.len;
}

static void values_come_back_as_they_were(void **state)
{
    static const char *const texts[] = {
        "null",
        "true",
        "false",
        "0",
        "47",
        "48",
        "-1",
        "9223372036854775807",
        "-9223372036854775808",
        "0.1",
        "1.10",
        "1e2",
        "-0",
        "12345678901234567890",
        "3.14159265358979323846",
        "\"\"",
        "\"a\"",
        "\"id\"",
        "\"Zoë 🜁\"",
        "\"a \\\"quoted\\\" \\\\ line\\nand another\"",
        "[]",
        "{}",
        "[[],{},[1,2,3],{\"a\":null}]",
        "{\"id\":\"id\",\"id\":\"status\",\"\":\"Running\"}",
        "[\"0123456789abcdef0123456789abcdef\",\"0123456789ABCDEF0123456789ABCDEF\"]",
        "[\"0123456789abcdef\",\"0123456789abcde\",\"0123456789abcdeF\",\"0123456789abcdeg\"]",
        "[\"0123456789012345\",\"ABCDEFABCDEFABCD\",\"x123456789abcdef\"]",
        ("[\"2026-01-02T03:04:05.1234567+00:00\",\"2026-01-02T03:04:05.1234999+00:00\","
         "\"2026-01-02T03:04:05.1234567+00:00\",\"3026-01-02T03:04:05.1234567+00:00\"]"),
        "[\"twice\",\"twice\",{\"twice\":\"twice\"},\"abc\",\"abc\"]",
    };
    struct fixture f;

    (void)state;
    set_up(&f);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        (void)check_same(&f, pawl__str(texts[i]));
    tear_down(&f);
}

static void many_of_everything_come_back(void **state)
{
    struct pawl_buf text;
    struct fixture f;

    (void)state;
    set_up(&f);
    pawl__buf_init(&text, &f.alloc.base, BYTES_MAX);
    pawl__buf_text(&text, "[");
    for (unsigned i = 0; i < 12000; i++) /* more than are remembered, each there twice */
        pawl__buf_printf(&text, "%s\"string number %u\",{\"key %u\":%u,\"v\":%u}", i ? "," : "",
                         i / 2, i / 2, i, i * 1000);
    pawl__buf_text(&text, "]");
    (void)check_same(&f, pawl__buf_peek(&text));
    pawl__buf_release(&text);
    tear_down(&f);
}

static void what_is_known_or_repeated_takes_little(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    /* mark, object, three words; an id of sixteen bytes and the same again */
    assert_int_equal(check_same(&f, pawl__str("{\"status\":\"Running\"}")), 4);
    assert_int_equal(check_same(&f, pawl__str("[\"00112233445566778899aabbccddeeff\"]")), 20);
    assert_int_equal(check_same(&f, pawl__str("[\"00112233445566778899aabbccddeeff\","
                                              "\"00112233445566778899aabbccddeeff\"]")),
                     22);
    tear_down(&f);
}

/* What stores have must be read by all later versions. */
static void the_bytes_are_those_of_the_first_version(void **state)
{
    static const char bytes[] = "\x01\x47" /* an object of seven */
                                "\x80\x06\x08\x00\x11\x22\x33\x44\x55\x66\x77"
                                "\x81\x82"
                                "\x05\x05other\x08\x00"
                                "\x05\x01n\x64\x10\x3f\x03\x60\x03\x01"
                                "\x05\x01"
                                "d\x04\x03"
                                "1.5"
                                "\x05\x01t\x63\x00\x01\x02"
                                "\x05\x01l\x62\x05\x10"
                                "2026-01-02T03:04"
                                "\x09\x10\x0f"
                                "5";
    struct pawl_json json;
    struct fixture f;

    (void)state;
    set_up(&f);
    assert_code(
        pawl__brief_read(&f.arena, pawl__str_make(bytes, sizeof bytes - 1), &f.words, &json),
        PAWL_OK);
    pawl__json_write(&f.text, &json, PAWL_JSON_ESCAPE_MINIMAL);
    assert_str(pawl__buf_peek(&f.text),
               "{\"id\":\"0011223344556677\",\"status\":\"Running\",\"other\":\"other\","
               "\"n\":[0,47,48,-1],\"d\":1.5,\"t\":[null,false,true],"
               "\"l\":[\"2026-01-02T03:04\",\"2026-01-02T03:05\"]}");
    pawl__brief_write(&f.brief, &json, &f.words);
    assert_int_equal(f.brief.len, sizeof bytes - 1);
    assert_memory_equal(f.brief.ptr, bytes, sizeof bytes - 1);
    tear_down(&f);
}

/* Whatever they are among: strings that are alike, repeated, shorter and longer when they are
 * mended. */
static void malformed_text_is_what_it_is_in_json(void **state)
{
    static const char *const texts[] = {
        "\xff",
        "\xff\xfe",
        "\xff\xfe",
        "2026-01-02T03:04:0",
        ("2026-01-02\xff"
         "03:04"), /* as long as its neighbours when it is mended */
        "2026-01-02T03:04:1",
        "2026-01-02T03:04\xc3",
        "2026-01-02T03:04:05",
        "\xf0\x9f\x9c\x81 is well formed, \xf0\x9f\x9c is not",
        "running \xed\xa0\x80",
    };
    struct pawl_json array = pawl__json_array(), again;
    struct pawl_str expected;
    struct fixture f;

    (void)state;
    set_up(&f);
    for (size_t i = 0; i < 2 * sizeof texts / sizeof *texts; i++) {
        const char *text = texts[i % (sizeof texts / sizeof *texts)];
        struct pawl_json value = pawl__json_string(pawl__str(text));

        assert_code(pawl__json_append(&f.arena, &array, value), PAWL_OK);
    }
    pawl__json_write(&f.text, &array, PAWL_JSON_ESCAPE_MINIMAL);
    expected = pawl__arena_str(&f.arena, pawl__buf_peek(&f.text));
    pawl__brief_write(&f.brief, &array, &f.words);
    assert_code(f.brief.status, PAWL_OK);
    assert_code(pawl__brief_read(&f.arena, pawl__buf_peek(&f.brief), &f.words, &again), PAWL_OK);
    pawl__buf_clear(&f.text);
    pawl__json_write(&f.text, &again, PAWL_JSON_ESCAPE_MINIMAL);
    assert_true(pawl__str_equal(pawl__buf_peek(&f.text), expected));
    tear_down(&f);
}

static void what_has_no_json_is_refused(void **state)
{
    struct pawl_json array = pawl__json_array(), value;
    struct fixture f;

    (void)state;
    set_up(&f);
    value = pawl__json_double(NAN);
    pawl__brief_write(&f.brief, &value, &f.words);
    assert_code(f.brief.status, PAWL_EINVAL);
    for (unsigned i = 0; i < PAWL_JSON_DEPTH_MAX - 1; i++) {
        value = pawl__json_array();
        assert_code(pawl__json_append(&f.arena, &value, array), PAWL_OK);
        array = value;
    }
    pawl__buf_clear(&f.brief);
    pawl__brief_write(&f.brief, &array, &f.words);
    assert_code(f.brief.status, PAWL_OK);
    assert_code(pawl__brief_read(&f.arena, pawl__buf_peek(&f.brief), &f.words, &value), PAWL_OK);
    value = pawl__json_array();
    assert_code(pawl__json_append(&f.arena, &value, array), PAWL_OK);
    pawl__buf_clear(&f.brief);
    pawl__brief_write(&f.brief, &value, &f.words);
    assert_code(f.brief.status, PAWL_ELIMIT);
    tear_down(&f);
}

static void damaged_bytes_are_refused(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
    } rows[] = {
        {"", 0},
        {"\x02\x00", 2},
        {"\x01", 1},
        {"\x01\x00\x00", 3},
        {"\x01\x03", 2},
        {"\x01\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13},
        {"\x01\x04\x01x", 4},
        {"\x01\x05\x02\xff\xfe", 5},
        {"\x01\x05\x7f"
         "a",
         4},
        {"\x01\x06\x08\x00", 4},
        {"\x01\x06\x01\x00", 4},
        {"\x01\x08\x00", 3},
        {"\x01\x09\x10\x04", 4},
        {"\x01\x0a\xff\xff\xff\x7f", 6},
        {"\x01\x0b\x02\x80", 4},
        {"\x01\x41\x10\x00", 4},
        {"\x01\x41\x80", 3},
        {"\x01\x0c\x7f", 3},
        {"\x01\x0d", 2},
        {"\x01\x0f", 2},
        {"\x01\xff", 2},
    };
    struct pawl_json json;
    struct fixture f;

    (void)state;
    set_up(&f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_code(
            pawl__brief_read(&f.arena, pawl__str_make(rows[i].bytes, rows[i].len), &f.words, &json),
            PAWL_EPARSE);
    tear_down(&f);
}

/* Cut anywhere it is refused; with any byte changed it is refused or is another value. */
static void every_cut_and_every_change_is_survived(void **state)
{
    static const char text[] =
        "{\"id\":\"00112233445566778899aabbccddeeff\",\"a\":[1,-2,1.5,\"text\",\"text\",null],"
        "\"t\":[\"2026-01-02T03:04:05Z\",\"2026-01-02T03:04:06Z\"],\"o\":{\"status\":\"x\"}}";
    char copy[256];
    struct pawl_json json;
    struct fixture f;
    size_t len;

    (void)state;
    set_up(&f);
    len = check_same(&f, pawl__str(text));
    assert_true(len < sizeof copy);
    memcpy(copy, f.brief.ptr, len);
    for (size_t i = 0; i < len; i++)
        assert_code(pawl__brief_read(&f.arena, pawl__str_make(copy, i), &f.words, &json),
                    PAWL_EPARSE);
    for (size_t i = 0; i < len; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            int status;

            copy[i] = (char)(copy[i] ^ (1 << bit));
            status = pawl__brief_read(&f.arena, pawl__str_make(copy, len), &f.words, &json);
            assert_true(status == PAWL_OK || status == PAWL_EPARSE);
            copy[i] = (char)(copy[i] ^ (1 << bit));
        }
    tear_down(&f);
}

static int write_and_read(struct test_allocator *alloc, void *arg)
{
    const struct pawl_json *json = arg;
    struct pawl_words words;
    struct pawl_arena arena;
    struct pawl_json again;
    struct pawl_buf buf;
    int status;

    pawl__words_init(&words, few, sizeof few / sizeof *few);
    pawl__arena_init(&arena, &alloc->base, BYTES_MAX);
    pawl__buf_init(&buf, &alloc->base, BYTES_MAX);
    pawl__brief_write(&buf, json, &words);
    status = buf.status;
    if (status == PAWL_OK)
        status = pawl__brief_read(&arena, pawl__buf_peek(&buf), &words, &again);
    pawl__buf_release(&buf);
    pawl__arena_release(&arena);
    return status;
}

static void running_out_of_memory_is_reported(void **state)
{
    struct pawl_json json;
    struct pawl_buf text;
    struct fixture f;

    (void)state;
    set_up(&f);
    pawl__buf_init(&text, &f.alloc.base, BYTES_MAX);
    pawl__buf_text(&text, "[");
    for (unsigned i = 0; i < 3000; i++)
        pawl__buf_printf(&text, "%s\"string number %u\"", i ? "," : "", i);
    pawl__buf_text(&text, "]");
    json = parse(&f, pawl__buf_peek(&text));
    test_sweep_allocations(write_and_read, &json, 200);
    pawl__buf_release(&text);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_back_as_they_were),
        cmocka_unit_test(many_of_everything_come_back),
        cmocka_unit_test(what_is_known_or_repeated_takes_little),
        cmocka_unit_test(the_bytes_are_those_of_the_first_version),
        cmocka_unit_test(malformed_text_is_what_it_is_in_json),
        cmocka_unit_test(what_has_no_json_is_refused),
        cmocka_unit_test(damaged_bytes_are_refused),
        cmocka_unit_test(every_cut_and_every_change_is_survived),
        cmocka_unit_test(running_out_of_memory_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
