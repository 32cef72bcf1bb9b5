/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json.h"
#include "lib/test.h"

#include <math.h>

struct fixture {
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_buf buf;
};

static void setup(struct fixture *fixture)
{
    test_allocator_init(&fixture->alloc);
    pawl__arena_init(&fixture->arena, &fixture->alloc.base, (size_t)16 << 20);
    pawl__buf_init(&fixture->buf, &fixture->alloc.base, (size_t)16 << 20);
}

static void teardown(struct fixture *fixture)
{
    pawl__arena_release(&fixture->arena);
    pawl__buf_release(&fixture->buf);
    assert_int_equal(fixture->alloc.live_bytes, 0);
}

static struct pawl_json parse(struct fixture *fixture, const char *text)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_json value;

    assert_ok(pawl__json_parse(&fixture->arena, pawl__str(text), NULL, &value, NULL, &err), &err);
    return value;
}

static const char *written(struct fixture *fixture, const struct pawl_json *value)
{
    pawl__buf_clear(&fixture->buf);
    pawl__json_write(&fixture->buf, value, PAWL_JSON_ESCAPE_MINIMAL);
    assert_code(fixture->buf.status, PAWL_OK);
    return pawl__buf_cstr(&fixture->buf);
}

static void finds_members_and_elements(void **state)
{
    struct fixture fixture;
    struct pawl_json value;

    (void)state;
    setup(&fixture);
    value = parse(&fixture, "{\"a\":1,\"Name\":\"x\",\"a\":2,\"list\":[10,[20,30]],\"no\":null}");
    assert_int_equal(pawl__json_len(&value), 5);
    assert_int_equal(pawl__json_get_text(&value, "a")->u.integer, 2); /* the last */
    assert_str(pawl__json_str(pawl__json_get_nocase(&value, pawl__str("nAME"))), "x");
    assert_null(pawl__json_get_text(&value, "name"));
    assert_null(pawl__json_get_text(&value, "b"));
    assert_str(pawl__json_member(&value, 1)->key, "Name");
    assert_null(pawl__json_member(&value, 5));
    assert_int_equal(pawl__json_at(&value, 0)->u.integer, 1);
    assert_int_equal(pawl__json_at(pawl__json_get_text(&value, "list"), 0)->u.integer, 10);
    assert_null(pawl__json_at(pawl__json_get_text(&value, "list"), 2));
    assert_int_equal(pawl__json_find(&value, pawl__str("/list/1/0"))->u.integer, 20);
    assert_ptr_equal(pawl__json_find(&value, pawl__str("")), &value);
    assert_true(pawl__json_is(pawl__json_get_text(&value, "no"), PAWL_JSON_NULL));
    teardown(&fixture);
}

static void answers_nothing_for_null_and_wrong_types(void **state)
{
    struct pawl_json number = pawl__json_int(7);
    struct pawl_json text = pawl__json_string(pawl__str("s"));
    int64_t integer;
    double real;

    (void)state;
    assert_null(pawl__json_get_text(NULL, "a"));
    assert_null(pawl__json_get_text(&number, "a"));
    assert_null(pawl__json_get_nocase(NULL, pawl__str("a")));
    assert_null(pawl__json_at(NULL, 0));
    assert_null(pawl__json_at(&text, 0));
    assert_null(pawl__json_member(&number, 0));
    assert_null(pawl__json_find(NULL, pawl__str("/a")));
    assert_null(pawl__json_find(&number, pawl__str("/a")));
    assert_str(pawl__json_str(NULL), "");
    assert_str(pawl__json_str(&number), "");
    assert_false(pawl__json_true(NULL));
    assert_false(pawl__json_true(&number));
    assert_false(pawl__json_to_int(NULL, &integer));
    assert_false(pawl__json_to_int(&text, &integer));
    assert_false(pawl__json_to_double(&text, &real));
    assert_int_equal(pawl__json_len(&text), 0);
    assert_int_equal(pawl__json_type(NULL), PAWL_JSON_NULL);
    assert_false(pawl__json_is(NULL, PAWL_JSON_NULL));
    assert_string_equal(pawl__json_type_name(NULL), "null");
    assert_string_equal(pawl__json_type_name(&number), "number");
    assert_string_equal(pawl__json_type_name(&text), "string");
    assert_false(pawl__json_remove(&number, pawl__str("a")));
    assert_false(pawl__json_remove_at(&number, 0));
    assert_true(pawl__json_equal(NULL, NULL));
    assert_false(pawl__json_equal(NULL, &number));
}

static void reads_numbers_of_all_kinds(void **state)
{
    struct fixture fixture;
    struct pawl_json value;
    int64_t integer = 0;
    double real = 0;

    (void)state;
    setup(&fixture);
    value = parse(&fixture, "[3, 3.0, 1e2, 2.5, 12345678901234567890, 1e400, -0, 0.1]");
    assert_true(pawl__json_to_int(pawl__json_at(&value, 0), &integer) && integer == 3);
    assert_true(pawl__json_to_int(pawl__json_at(&value, 1), &integer) && integer == 3);
    assert_true(pawl__json_to_int(pawl__json_at(&value, 2), &integer) && integer == 100);
    assert_false(pawl__json_to_int(pawl__json_at(&value, 3), &integer));
    assert_false(pawl__json_to_int(pawl__json_at(&value, 4), &integer));
    assert_false(pawl__json_to_int(pawl__json_at(&value, 5), &integer));
    assert_true(pawl__json_to_int(pawl__json_at(&value, 6), &integer) && integer == 0);
    assert_true(pawl__json_to_double(pawl__json_at(&value, 0), &real) && real == 3);
    assert_true(pawl__json_to_double(pawl__json_at(&value, 3), &real) && real == 2.5);
    assert_true(pawl__json_to_double(pawl__json_at(&value, 4), &real) &&
                real == 12345678901234567890.0);
    assert_false(pawl__json_to_double(pawl__json_at(&value, 5), &real));
    assert_true(pawl__json_to_double(pawl__json_at(&value, 6), &real) && signbit(real));
    value = pawl__json_double(0x1p63);
    assert_false(pawl__json_to_int(&value, &integer));
    value = pawl__json_double(-0x1p63);
    assert_true(pawl__json_to_int(&value, &integer) && integer == INT64_MIN);
    value = pawl__json_double(NAN);
    assert_false(pawl__json_to_int(&value, &integer));
    teardown(&fixture);
}

static void compares_documents_by_meaning(void **state)
{
    static const struct {
        const char *a, *b;
        bool equal;
    } cases[] = {
        {"null", "null", true},
        {"true", "false", false},
        {"0", "false", false},
        {"1", "1.0", true},
        {"0.1", "0.10", true},
        {"0.1", "1e-1", true},
        {"1e2", "100", true},
        {"-0", "0", true},
        {"9007199254740993", "9007199254740992.0", false},
        {"0.30000000000000004", "0.3", false},
        {"\"a\"", "\"\\u0061\"", true},
        {"\"a\"", "\"b\"", false},
        {"\"1\"", "1", false},
        {"[1,2]", "[1,2]", true},
        {"[1,2]", "[2,1]", false},
        {"[1,2]", "[1,2,3]", false},
        {"[]", "{}", false},
        {"{\"a\":1,\"b\":[2]}", "{\"b\":[2.0],\"a\":1}", true},
        {"{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":3}", false},
        {"{\"a\":1,\"b\":2}", "{\"a\":1,\"c\":2}", false},
        {"{\"a\":1,\"b\":2}", "{\"a\":1}", false},
        {"{\"a\":1,\"a\":2}", "{\"a\":2}", true},
        {"{\"a\":1,\"a\":2}", "{\"a\":1}", false},
        {"{\"a\":1,\"a\":2}", "{\"a\":3,\"a\":2}", true},
        {"{\"a\":1,\"a\":2,\"b\":3}", "{\"b\":3,\"a\":2}", true},
        {"{\"a\":1,\"a\":1}", "{\"a\":1,\"b\":1}", false},
    };
    struct fixture fixture;

    (void)state;
    setup(&fixture);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pawl_json a = parse(&fixture, cases[i].a);
        struct pawl_json b = parse(&fixture, cases[i].b);

        if (pawl__json_equal(&a, &b) != cases[i].equal ||
            pawl__json_equal(&b, &a) != cases[i].equal)
            fail_msg("%s and %s", cases[i].a, cases[i].b);
    }
    teardown(&fixture);
}

static void builds_documents(void **state)
{
    struct fixture fixture;
    struct pawl_json object = pawl__json_object();
    struct pawl_json array = pawl__json_array();
    struct pawl_json text;

    (void)state;
    setup(&fixture);
    for (int i = 0; i < 10; i++)
        assert_ok(pawl__json_append(&fixture.arena, &array, pawl__json_int(i)), NULL);
    assert_ok(pawl__json_string_copy(&fixture.arena, pawl__str("é\n"), &text), NULL);
    assert_ok(pawl__json_set_text(&fixture.arena, &object, "a", array), NULL);
    assert_ok(pawl__json_set(&fixture.arena, &object, pawl__str_make("bcd", 1), text), NULL);
    assert_ok(pawl__json_set_text(&fixture.arena, &object, "c", pawl__json_bool(true)), NULL);
    assert_ok(pawl__json_set_text(&fixture.arena, &object, "d", pawl__json_null()), NULL);
    assert_ok(pawl__json_set_text(&fixture.arena, &object, "c", pawl__json_double(0.5)), NULL);
    assert_string_equal(written(&fixture, &object),
                        "{\"a\":[0,1,2,3,4,5,6,7,8,9],\"b\":\"é\\n\",\"c\":0.5,\"d\":null}");
    assert_true(pawl__json_remove(&object, pawl__str("b")));
    assert_false(pawl__json_remove(&object, pawl__str("b")));
    assert_true(pawl__json_remove_at(pawl__json_get_text(&object, "a"), 0));
    assert_true(pawl__json_remove_at(pawl__json_get_text(&object, "a"), 8));
    assert_false(pawl__json_remove_at(pawl__json_get_text(&object, "a"), 8));
    assert_string_equal(written(&fixture, &object),
                        "{\"a\":[1,2,3,4,5,6,7,8],\"c\":0.5,\"d\":null}");
    teardown(&fixture);
}

static void adds_members_without_looking_for_them(void **state)
{
    struct fixture fixture;
    struct pawl_json object;

    (void)state;
    setup(&fixture);
    assert_ok(pawl__json_parse(&fixture.arena, pawl__str("{\"a\":1}"), NULL, &object, NULL, NULL),
              NULL);
    assert_ok(pawl__json_add(&fixture.arena, &object, pawl__str("b"), pawl__json_int(2)), NULL);
    assert_ok(pawl__json_add(&fixture.arena, &object, pawl__str("a"), pawl__json_int(3)), NULL);
    assert_string_equal(written(&fixture, &object), "{\"a\":1,\"b\":2,\"a\":3}");
    teardown(&fixture);
}

static void refuses_text_that_is_no_utf8_or_no_number(void **state)
{
    struct fixture fixture;
    struct pawl_json object = pawl__json_object();
    struct pawl_json value = pawl__json_int(42);
    static const char *const texts[] = {"", "-", "1.", "01", "1e", " 1", "1 ", "1x", "NaN", "+1"};

    (void)state;
    setup(&fixture);
    assert_code(pawl__json_string_copy(&fixture.arena, pawl__str("\xFF"), &value), PAWL_EINVAL);
    assert_code(pawl__json_set_text(&fixture.arena, &object, "\xC3", pawl__json_null()),
                PAWL_EINVAL);
    assert_int_equal(object.len, 0);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_code(pawl__json_number(&fixture.arena, pawl__str(texts[i]), &value), PAWL_EPARSE);
    assert_int_equal(value.u.integer, 42);
    teardown(&fixture);
}

static void changes_parsed_documents(void **state)
{
    struct fixture fixture;
    struct pawl_json value;

    (void)state;
    setup(&fixture);
    value = parse(&fixture, "{\"a\":[1,2,3],\"x\":0,\"b\":{},\"x\":1}");
    assert_ok(
        pawl__json_append(&fixture.arena, pawl__json_get_text(&value, "a"), pawl__json_int(4)),
        NULL);
    assert_ok(pawl__json_set_text(&fixture.arena, pawl__json_get_text(&value, "b"), "n",
                                  pawl__json_int(5)),
              NULL);
    assert_ok(pawl__json_set_text(&fixture.arena, &value, "x", pawl__json_int(2)), NULL);
    assert_ok(pawl__json_set_text(&fixture.arena, &value, "z", pawl__json_array()), NULL);
    assert_string_equal(written(&fixture, &value),
                        "{\"a\":[1,2,3,4],\"x\":0,\"b\":{\"n\":5},\"x\":2,\"z\":[]}");
    assert_true(pawl__json_remove(&value, pawl__str("x")));
    assert_string_equal(written(&fixture, &value), "{\"a\":[1,2,3,4],\"b\":{\"n\":5},\"z\":[]}");
    /* Emptied, and filled again. */
    value = parse(&fixture, "[[1],{\"k\":2}]");
    assert_true(pawl__json_remove_at(pawl__json_at(&value, 0), 0));
    assert_true(pawl__json_remove(pawl__json_at(&value, 1), pawl__str("k")));
    assert_ok(pawl__json_append(&fixture.arena, pawl__json_at(&value, 0), pawl__json_int(6)), NULL);
    assert_ok(pawl__json_set_text(&fixture.arena, pawl__json_at(&value, 1), "l", pawl__json_null()),
              NULL);
    assert_string_equal(written(&fixture, &value), "[[6],{\"l\":null}]");
    teardown(&fixture);
}

static void copies_share_nothing(void **state)
{
    struct fixture fixture;
    struct pawl_arena other;
    struct pawl_json value, copy;

    (void)state;
    setup(&fixture);
    value = parse(&fixture, "{\"a\":[\"x\",1.10,{},[],null],\"a\":2.5,\"b\":{\"c\":true}}");
    pawl__arena_init(&other, &fixture.alloc.base, 1 << 20);
    assert_ok(pawl__json_copy(&other, &value, &copy), NULL);
    assert_true(pawl__json_equal(&value, &copy));
    pawl__arena_release(&fixture.arena); /* the original is gone */
    assert_string_equal(written(&fixture, &copy),
                        "{\"a\":[\"x\",1.10,{},[],null],\"a\":2.5,\"b\":{\"c\":true}}");
    pawl__arena_release(&other);
    teardown(&fixture);
}

static int build_and_copy(struct test_allocator *alloc, void *arg)
{
    struct pawl_arena arena, other;
    struct pawl_json array = pawl__json_array();
    struct pawl_json copy = pawl__json_int(42);
    int status = PAWL_OK;

    (void)arg;
    pawl__arena_init(&arena, &alloc->base, 1 << 20);
    pawl__arena_init(&other, &alloc->base, 1 << 20);
    for (int i = 0; i < 100 && status == PAWL_OK; i++) {
        struct pawl_json object = pawl__json_object();
        uint32_t len = array.len;

        status = pawl__json_set_text(&arena, &object, "some key", pawl__json_int(i));
        if (status == PAWL_OK)
            status = pawl__json_append(&arena, &array, object);
        if (status != PAWL_OK)
            assert_int_equal(array.len, len);
    }
    if (status == PAWL_OK)
        status = pawl__json_copy(&other, &array, &copy);
    if (status != PAWL_OK)
        assert_int_equal(copy.u.integer, 42);
    pawl__arena_release(&other);
    pawl__arena_release(&arena);
    return status;
}

static void survives_refused_allocations(void **state)
{
    (void)state;
    test_sweep_allocations(build_and_copy, NULL, 100);
}

static void refuses_to_copy_past_1000_levels(void **state)
{
    struct fixture fixture;
    struct pawl_json value = pawl__json_null();
    struct pawl_json copy;

    (void)state;
    setup(&fixture);
    for (int i = 0; i < 1200; i++) {
        struct pawl_json outer = pawl__json_array();

        assert_ok(pawl__json_append(&fixture.arena, &outer, value), NULL);
        value = outer;
    }
    assert_code(pawl__json_copy(&fixture.arena, &value, &copy), PAWL_ELIMIT);
    teardown(&fixture);
}

/* ---- merging ----------------------------------------------------------------------------- */

/* "k0": 0 to "kN": N, with `letter` for k. */
static struct pawl_json numbered(struct fixture *fixture, char letter, int from, int to)
{
    struct pawl_json object = pawl__json_object();

    for (int i = from; i < to; i++) {
        const char *key = pawl__arena_printf(&fixture->arena, "%c%d", letter, i);

        assert_non_null(key);
        assert_ok(pawl__json_add(&fixture->arena, &object, pawl__str(key), pawl__json_int(i)),
                  NULL);
    }
    return object;
}

static void merge(struct fixture *fixture, const char *to, const char *from,
                  enum pawl_json_merge how, const char *merged)
{
    struct pawl_json target = parse(fixture, to), source = parse(fixture, from);

    assert_ok(pawl__json_merge(&fixture->arena, &target, &source, how), NULL);
    pawl__buf_clear(&fixture->buf);
    pawl__json_write(&fixture->buf, &target, PAWL_JSON_ESCAPE_MINIMAL);
    assert_str(pawl__buf_peek(&fixture->buf), merged);
}

static void merges_objects_as_if_each_member_was_set(void **state)
{
    struct fixture fixture;

    (void)state;
    setup(&fixture);
    merge(&fixture, "{\"a\":1,\"b\":2}", "{\"b\":3,\"c\":4,\"A\":5,\"c\":6}", PAWL_JSON_MERGE_OVER,
          "{\"a\":1,\"b\":3,\"c\":6,\"A\":5}");
    merge(&fixture, "{\"a\":1,\"a\":2}", "{\"a\":3}", PAWL_JSON_MERGE_OVER, "{\"a\":1,\"a\":3}");
    merge(&fixture, "{}", "[1]", PAWL_JSON_MERGE_OVER, "{}");
    teardown(&fixture);
}

static void merges_what_is_missing_whatever_the_case(void **state)
{
    struct fixture fixture;

    (void)state;
    setup(&fixture);
    merge(&fixture, "{\"a\":1}", "{\"A\":2,\"b\":3,\"B\":4,\"\":5}", PAWL_JSON_MERGE_MISSING,
          "{\"a\":1,\"b\":3,\"\":5}");
    teardown(&fixture);
}

/* Looking up each of so many keys would take minutes. */
static void merges_objects_with_many_keys(void **state)
{
    static const enum pawl_json_merge hows[] = {PAWL_JSON_MERGE_OVER, PAWL_JSON_MERGE_MISSING};
    struct fixture fixture;

    (void)state;
    for (size_t i = 0; i < sizeof hows / sizeof hows[0]; i++) {
        bool over = hows[i] == PAWL_JSON_MERGE_OVER;
        struct pawl_json to, from;

        setup(&fixture);
        fixture.arena.max_bytes = (size_t)1 << 30;
        to = numbered(&fixture, 'k', 0, 300000);
        from = numbered(&fixture, over ? 'k' : 'K', 200000, 500000);
        pawl__json_at(&from, 0)->u.integer = -1;
        assert_ok(pawl__json_merge(&fixture.arena, &to, &from, hows[i]), NULL);
        assert_int_equal(pawl__json_len(&to), 500000);
        assert_int_equal(pawl__json_at(&to, 200000)->u.integer, over ? -1 : 200000);
        assert_int_equal(pawl__json_at(&to, 499999)->u.integer, 499999);
        teardown(&fixture);
    }
}

static int merge_many(struct test_allocator *alloc, void *arg)
{
    struct pawl_json to = pawl__json_object(), from = pawl__json_object();
    struct pawl_arena arena;
    int status = PAWL_OK;

    (void)arg;
    pawl__arena_init(&arena, &alloc->base, (size_t)16 << 20);
    for (int i = 0; i < 200 && status == PAWL_OK; i++) {
        const char *key = pawl__arena_printf(&arena, "k%d", i);

        status =
            key ? pawl__json_add(&arena, i < 50 ? &to : &from, pawl__str(key), pawl__json_int(i))
                : arena.status;
    }
    if (status == PAWL_OK)
        status = pawl__json_merge(&arena, &to, &from, PAWL_JSON_MERGE_OVER);
    if (status == PAWL_OK)
        assert_int_equal(to.len, 200);
    pawl__arena_release(&arena);
    return status;
}

static void merging_survives_refused_allocations(void **state)
{
    (void)state;
    test_sweep_allocations(merge_many, NULL, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_members_and_elements),
        cmocka_unit_test(answers_nothing_for_null_and_wrong_types),
        cmocka_unit_test(reads_numbers_of_all_kinds),
        cmocka_unit_test(compares_documents_by_meaning),
        cmocka_unit_test(builds_documents),
        cmocka_unit_test(adds_members_without_looking_for_them),
        cmocka_unit_test(refuses_text_that_is_no_utf8_or_no_number),
        cmocka_unit_test(changes_parsed_documents),
        cmocka_unit_test(copies_share_nothing),
        cmocka_unit_test(survives_refused_allocations),
        cmocka_unit_test(refuses_to_copy_past_1000_levels),
        cmocka_unit_test(merges_objects_as_if_each_member_was_set),
        cmocka_unit_test(merges_what_is_missing_whatever_the_case),
        cmocka_unit_test(merges_objects_with_many_keys),
        cmocka_unit_test(merging_survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("base/json_value", tests, NULL, NULL);
}
