/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/value/value.h"
#include "lib/test.h"

struct fixture {
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_error err;
};

static void open_fixture(struct fixture *f)
{
    test_allocator_init(&f->alloc);
    pawl__arena_init(&f->arena, &f->alloc.base, 64 << 20);
    f->err = (struct pawl_error)PAWL_ERROR_INIT;
}

static void close_fixture(struct fixture *f)
{
    pawl__arena_release(&f->arena);
    assert_int_equal(f->alloc.live_count, 0);
}

static struct pawl_json parse(struct fixture *f, const char *text)
{
    struct pawl_json json;

    assert_ok(pawl__json_parse(&f->arena, pawl__str(text), NULL, &json, NULL, &f->err), &f->err);
    return json;
}

static void leaves_plain_arrays_and_objects(void **state)
{
    static const char *const rows[][2] = {
        {"5", "5"},
        {"{\"$id\":\"1\",\"a\":{\"$id\":\"2\",\"$values\":[1,{\"$id\":\"3\"}]}}", "{\"a\":[1,{}]}"},
        {"{\"$id\":\"1\",\"$values\":[1],\"_type\":\"List<Object>\"}",
         "{\"_items\":[1],\"_type\":\"List<Object>\"}"},
        {"{\"$values\":[1]}", "[1]"},
        {"[{\"$id\":\"7\",\"a\":[1]},{\"$ref\":\"7\"},{\"b\":{\"$ref\":\"7\"}}]",
         "[{\"a\":[1]},{\"a\":[1]},{\"b\":{\"a\":[1]}}]"},
        {"[{\"$id\":\"7\",\"$values\":[1]},{\"$ref\":\"7\"}]", "[[1],[1]]"},
        {"[{\"$id\":\"1\",\"a\":1},{\"\\\\$id\":\"1\",\"\\\\$ref\":\"9\"}]",
         "[{\"a\":1},{\"\\\\$id\":\"1\",\"\\\\$ref\":\"9\"}]"},
        {"{\"$id\":5,\"$ref\":6,\"$values\":7}", "{\"$ref\":6,\"$values\":7}"},
    };
    struct fixture f;

    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct pawl_json in = parse(&f, rows[i][0]);
        struct pawl_json before = parse(&f, rows[i][0]);
        struct pawl_json expected = parse(&f, rows[i][1]);
        struct pawl_json out = pawl__json_null();

        assert_ok(pawl__json_unreference(&f.arena, &in, &out, &f.err), &f.err);
        assert_true(pawl__json_equal(&out, &expected));
        assert_true(pawl__json_equal(&in, &before));
    }
    close_fixture(&f);
}

static void refuses_references_to_nothing_and_to_themselves(void **state)
{
    static const char *const rows[][2] = {
        {"{\"$ref\":\"1\"}", "does not come before"},
        {"[{\"$ref\":\"1\"},{\"$id\":\"1\"}]", "does not come before"},
        {"{\"$id\":\"1\",\"a\":{\"$ref\":\"1\"}}", "stands inside"},
        {"{\"$id\":\"1\",\"a\":{\"$id\":\"2\",\"$values\":[{\"$ref\":\"1\"}]}}", "stands inside"},
        {"[{\"$id\":\"1\"},{\"$id\":\"1\"}]", "twice"},
    };
    struct fixture f;

    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct pawl_json in = parse(&f, rows[i][0]);
        struct pawl_json out = pawl__json_int(4711);

        assert_code(pawl__json_unreference(&f.arena, &in, &out, &f.err), PAWL_EPARSE);
        assert_non_null(strstr(f.err.msg, rows[i][1]));
        assert_true(pawl__json_is(&out, PAWL_JSON_INT));
    }
    close_fixture(&f);
}

/* n levels, each of which has the one before it twice: 2^n values. */
static struct pawl_json doubling(struct fixture *f, int levels)
{
    struct pawl_buf text;
    struct pawl_json json;

    pawl__buf_init(&text, &f->alloc.base, 1 << 20);
    pawl__buf_text(&text, "[{\"$id\":\"0\"}");
    for (int i = 1; i <= levels; i++)
        pawl__buf_printf(&text, ",{\"$id\":\"%d\",\"a\":{\"$ref\":\"%d\"},\"b\":{\"$ref\":\"%d\"}}",
                         i, i - 1, i - 1);
    pawl__buf_text(&text, "]");
    json = parse(f, pawl__buf_cstr(&text));
    pawl__buf_release(&text);
    return json;
}

static void a_small_document_cannot_unfold_without_end(void **state)
{
    struct fixture f;
    struct pawl_json in;
    struct pawl_json out = pawl__json_null();

    (void)state;
    open_fixture(&f);
    in = doubling(&f, 10);
    assert_ok(pawl__json_unreference(&f.arena, &in, &out, &f.err), &f.err);
    in = doubling(&f, 60);
    assert_code(pawl__json_unreference(&f.arena, &in, &out, &f.err), PAWL_ELIMIT);
    assert_non_null(strstr(f.err.msg, "unfolds to more than"));
    close_fixture(&f);
}

static void the_result_is_no_deeper_than_json_may_be(void **state)
{
    struct fixture f;
    struct pawl_buf text;
    struct pawl_json in;
    struct pawl_json out = pawl__json_null();

    (void)state;
    open_fixture(&f);
    pawl__buf_init(&text, &f.alloc.base, 1 << 20);
    pawl__buf_text(&text, "[{\"$id\":\"0\"}");
    for (int i = 1; i <= 1100; i++)
        pawl__buf_printf(&text, ",{\"$id\":\"%d\",\"a\":{\"$ref\":\"%d\"}}", i, i - 1);
    pawl__buf_text(&text, "]");
    in = parse(&f, pawl__buf_cstr(&text));
    pawl__buf_release(&text);
    assert_code(pawl__json_unreference(&f.arena, &in, &out, &f.err), PAWL_ELIMIT);
    assert_non_null(strstr(f.err.msg, "levels"));
    close_fixture(&f);
}

static int unreference_one(struct test_allocator *alloc, void *arg)
{
    struct pawl_arena arena;
    struct pawl_json json = pawl__json_null();
    int status;

    pawl__arena_init(&arena, &alloc->base, 1 << 20);
    status = pawl__json_parse(&arena, pawl__str(arg), NULL, &json, NULL, NULL);
    if (status == PAWL_OK)
        status = pawl__json_unreference(&arena, &json, &json, NULL);
    pawl__arena_release(&arena);
    return status;
}

static void survives_refused_allocations(void **state)
{
    char text[] = "[{\"$id\":\"1\",\"a\":{\"$id\":\"2\",\"$values\":[1]}},{\"$ref\":\"2\"}]";

    (void)state;
    test_sweep_allocations(unreference_one, text, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_plain_arrays_and_objects),
        cmocka_unit_test(refuses_references_to_nothing_and_to_themselves),
        cmocka_unit_test(a_small_document_cannot_unfold_without_end),
        cmocka_unit_test(the_result_is_no_deeper_than_json_may_be),
        cmocka_unit_test(survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("engine/unreference", tests, NULL, NULL);
}
