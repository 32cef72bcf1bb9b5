/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/value/value.h"

#include "engine/builder.h"
#include "lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct fixture {
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_error err;
};

static void open_fixture(struct fixture *f)
{
    test_allocator_init(&f->alloc);
    pawl__arena_init(&f->arena, &f->alloc.base, 256 << 20);
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

static const char *text_of(struct fixture *f, const struct pawl_json *json)
{
    struct pawl_buf text;
    const char *copy;

    pawl__buf_init(&text, &f->alloc.base, 1 << 20);
    pawl__json_write(&text, json, PAWL_JSON_ESCAPE_MINIMAL);
    assert_int_equal(text.status, PAWL_OK);
    copy = pawl__arena_printf(&f->arena, "%s", pawl__buf_cstr(&text));
    pawl__buf_release(&text);
    return copy;
}

static const char *alias_of(struct fixture *f, const struct pawl_type *type)
{
    struct pawl_buf text;
    const char *copy;

    if (!type)
        return "null";
    pawl__buf_init(&text, &f->alloc.base, 1000);
    pawl__type_write(&text, type);
    copy = pawl__arena_printf(&f->arena, "%s", pawl__buf_cstr(&text));
    pawl__buf_release(&text);
    return copy;
}

static void plain_json_has_a_type_of_its_own(void **state)
{
    static const char *const rows[][2] = {
        {"null", "null"},    {"true", "Boolean"}, {"1", "Int64"},
        {"1.5", "Double"},   {"1.10", "Double"},  {"\"a\"", "String"},
        {"[1]", "Object[]"}, {"{}", "JSON"},      {"1e400", "Double"}};
    struct fixture f;

    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct pawl_value value = pawl__value_from_json(parse(&f, rows[i][0]));

        assert_string_equal(alias_of(&f, value.type), rows[i][1]);
    }
    assert_string_equal(alias_of(&f, pawl__value_int(INT32_MAX).type), "Int32");
    assert_string_equal(alias_of(&f, pawl__value_int(INT32_MIN - INT64_C(1)).type), "Int64");
    assert_string_equal(alias_of(&f, pawl__value_double(1).type), "Double");
    assert_string_equal(alias_of(&f, pawl__value_string(pawl__str("x")).type), "String");
    close_fixture(&f);
}

struct stored_row {
    const char *type;
    const char *json;
    const char *stored;
};

/* Both ways. */
static const struct stored_row stored_rows[] = {
    {"String", "\"a\"", "\"a\""},
    {"Object[]", "[1,\"a\",{\"k\":2}]", "{\"_items\":[1,\"a\",{\"k\":2}],\"_type\":\"Object[]\"}"},
    {"Int32[]", "[5]", "{\"_items\":[5],\"_type\":\"Int32[]\"}"},
    {"List<Object>", "[\"a\"]", "{\"_items\":[\"a\"],\"_type\":\"List<Object>\"}"},
    {"HashSet<String>", "[\"a\"]", "{\"_items\":[\"a\"],\"_type\":\"HashSet<String>\"}"},
    {"ObjectMap", "{\"a\":1,\"b\":[\"x\"]}", "{\"a\":1,\"b\":[\"x\"],\"_type\":\"ObjectMap\"}"},
    {"StringMap", "{\"a\":\"b\"}", "{\"a\":\"b\",\"_type\":\"StringMap\"}"},
    {"JSON", "{\"a\":1,\"l\":[1,2]}", "{\"a\":1,\"l\":{\"_items\":[1,2],\"_type\":\"Object[]\"}}"},
    {"JSON", "{\"a\":[[1]]}",
     "{\"a\":{\"_items\":[{\"_items\":[1],\"_type\":\"Object[]\"}],\"_type\":\"Object[]\"}}"},
    {"JSON", "{\"$id\":1,\"a$b\":{\"$ref\":\"1\"}}",
     "{\"\\\\$id\":1,\"a\\\\$b\":{\"\\\\$ref\":\"1\"}}"},
    {"EventStimulus", "{\"eventName\":\"go\"}",
     "{\"eventName\":\"go\",\"_type\":\"EventStimulus\"}"},
    {"List<Token>", "[{\"a\":1}]", "{\"_items\":[{\"a\":1}],\"_type\":\"List<Token>\"}"},
    {"JsonArray", "[\"a\",\"\xC3\xA4\"]",
     "{\"_island\":\"[\\n  \\\"a\\\",\\n  \\\"\\\\u00E4\\\"\\n]\",\"_type\":\"JsonArray\"}"},
    {"JsonArray", "[]", "{\"_island\":\"[]\",\"_type\":\"JsonArray\"}"},
    {"JsonObject", "{\"a\":1}",
     "{\"_island\":\"{\\n  \\\"a\\\": 1\\n}\",\"_type\":\"JsonObject\"}"},
};

static void stores_values_with_their_type_and_reads_them_back(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof stored_rows / sizeof stored_rows[0]; i++) {
        const struct stored_row *row = &stored_rows[i];
        struct pawl_value value = {.json = parse(&f, row->json)};
        struct pawl_json stored = pawl__json_null();
        struct pawl_value back = pawl__value_null();

        assert_code(pawl__type_find(&f.arena, pawl__str(row->type), &value.type), PAWL_OK);
        assert_code(pawl__value_write(&f.arena, value, &stored), PAWL_OK);
        assert_string_equal(text_of(&f, &stored), row->stored);
        assert_string_equal(text_of(&f, &value.json), row->json);
        assert_ok(pawl__value_read(&f.arena, &stored, &back, &f.err), &f.err);
        assert_string_equal(text_of(&f, &back.json), row->json);
        assert_string_equal(alias_of(&f, back.type), row->type);
        assert_string_equal(text_of(&f, &stored), row->stored);
    }
    close_fixture(&f);
}

static void reads_other_spellings_of_the_stored_form(void **state)
{
    static const struct stored_row rows[] = {
        {"List<Object>", "[1]", "{\"$id\":\"3\",\"$values\":[1],\"_type\":\"List<Object>\"}"},
        {"Object[]", "[1]", "{\"$id\":\"3\",\"$values\":[1]}"},
        {"Object[]", "[1,[2]]", "[1,{\"_items\":[2],\"_type\":\"Object[]\"}]"},
        {"List<String>", "[\"a\"]", "{\"_items\":[\"a\"],\"_type\":\"ICollection<String>\"}"},
        {"JSON", "{\"a\":{\"b\":1}}", "{\"$id\":\"1\",\"a\":{\"$id\":\"2\",\"b\":1}}"},
        {"JSON", "{\"a\":[1]}", "{\"a\":{\"_island\":\"[1]\",\"_type\":\"JsonArray\"}}"},
        {"JSON", "{\"_items\":[1]}", "{\"_items\":[1]}"},
    };
    struct fixture f;

    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct pawl_json stored = parse(&f, rows[i].stored);
        struct pawl_value value = pawl__value_null();

        assert_ok(pawl__value_read(&f.arena, &stored, &value, &f.err), &f.err);
        assert_string_equal(text_of(&f, &value.json), rows[i].json);
        assert_string_equal(alias_of(&f, value.type), rows[i].type);
    }
    close_fixture(&f);
}

static void refuses_stored_values_that_mean_nothing(void **state)
{
    static const char *const rows[][2] = {
        {"{\"a\":1,\"_type\":\"Acme\"}", "Acme"},
        {"{\"_island\":\"[1\",\"_type\":\"JsonArray\"}", "_island"},
        {"{\"_island\":5,\"_type\":\"JsonArray\"}", "_island is a number"},
        {"{\"a\":{\"$ref\":\"1\"}}", "$ref"},
    };
    struct fixture f;

    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct pawl_json stored = parse(&f, rows[i][0]);
        struct pawl_value value = pawl__value_null();

        assert_code(pawl__value_read(&f.arena, &stored, &value, &f.err), PAWL_EPARSE);
        assert_non_null(strstr(f.err.msg, rows[i][1]));
        assert_true(pawl__value_is_null(value));
    }
    close_fixture(&f);
}

static void plain_form_escapes_what_looks_like_a_reference(void **state)
{
    struct fixture f;
    struct pawl_json json, stored, back;

    (void)state;
    open_fixture(&f);
    json = parse(&f, "[{\"$id\":[{\"x$\":1}]},{\"b\":[1]}]");
    assert_code(pawl__value_write_plain(&f.arena, &json, &stored), PAWL_OK);
    assert_string_equal(text_of(&f, &stored), "[{\"\\\\$id\":[{\"x\\\\$\":1}]},{\"b\":[1]}]");
    assert_code(pawl__value_read_plain(&f.arena, &stored, &back), PAWL_OK);
    assert_true(pawl__json_equal(&back, &json));
    close_fixture(&f);
}

/* ---- what a live Elsa exported ----------------------------------------------------------- */

/* Equal, with the members in the same order. */
static bool same(const struct pawl_json *recorded, const struct pawl_json *written)
{
    if (pawl__json_type(recorded) != pawl__json_type(written) ||
        pawl__json_len(recorded) != pawl__json_len(written))
        return false;
    if (pawl__json_len(recorded) == 0)
        return pawl__json_equal(recorded, written);
    for (uint32_t i = 0; i < pawl__json_len(recorded); i++) {
        if (pawl__json_is(recorded, PAWL_JSON_OBJECT) &&
            !pawl__str_equal(pawl__json_member(recorded, i)->key,
                             pawl__json_member(written, i)->key))
            return false;
        if (!same(pawl__json_at(recorded, i), pawl__json_at(written, i)))
            return false;
    }
    return true;
}

static size_t check_value(struct fixture *f, const struct pawl_json *recorded, const char *where)
{
    struct pawl_value value = pawl__value_null();
    struct pawl_json written = pawl__json_null();

    assert_ok(pawl__value_read(&f->arena, recorded, &value, &f->err), &f->err);
    /* A list of what the reference has no alias for: the cases of a Switch, kept as they are. */
    if (pawl__json_is(recorded, PAWL_JSON_ARRAY))
        return 0;
    assert_code(pawl__value_write(&f->arena, value, &written), PAWL_OK);
    if (!same(recorded, &written))
        fail_msg("%s: %s\nwas written as %s", where, text_of(f, recorded), text_of(f, &written));
    return 1;
}

static size_t check_map(struct fixture *f, const struct pawl_json *map, const char *where)
{
    size_t count = 0;

    for (uint32_t i = 0; i < pawl__json_len(map); i++) {
        const struct pawl_json_member *member = pawl__json_member(map, i);

        /* Its entries are values in their own right. */
        count += pawl__str_is(member->key, "PersistentVariablesDictionary")
                     ? check_map(f, &member->value, where)
                     : check_value(f, &member->value, where);
    }
    return count;
}

static size_t check_state(struct fixture *f, const struct pawl_json *state, const char *where)
{
    const struct pawl_json *contexts = pawl__json_get_text(state, "activityExecutionContexts");
    const struct pawl_json *bookmarks = pawl__json_get_text(state, "bookmarks");
    size_t count = check_map(f, pawl__json_get_text(state, "input"), where) +
                   check_map(f, pawl__json_get_text(state, "output"), where) +
                   check_map(f, pawl__json_get_text(state, "properties"), where);

    assert_true(pawl__json_is(contexts, PAWL_JSON_ARRAY));
    for (uint32_t i = 0; i < pawl__json_len(contexts); i++) {
        const struct pawl_json *context = pawl__json_at(contexts, i);

        count += check_map(f, pawl__json_get_text(context, "properties"), where);
        count += check_map(f, pawl__json_get_text(context, "activityState"), where);
        count += check_map(f, pawl__json_get_text(context, "metadata"), where);
    }
    for (uint32_t i = 0; i < pawl__json_len(bookmarks); i++) {
        const struct pawl_json *payload =
            pawl__json_get_text(pawl__json_at(bookmarks, i), "payload");

        if (payload)
            count += check_value(f, payload, where);
    }
    return count;
}

static struct pawl_json parse_file(struct fixture *f, const char *path)
{
    struct pawl_str text = test_read_file(path);
    struct pawl_json json;

    assert_ok(pawl__json_parse(&f->arena, text, NULL, &json, NULL, &f->err), &f->err);
    free((void *)(uintptr_t)text.ptr);
    return json;
}

static void every_recorded_value_survives_reading_and_writing(void **state)
{
    static const char cases_path[] = TEST_RECORDINGS_DIR "/migration/cases.json";
    struct fixture f;
    struct pawl_json cases;
    size_t count = 0;

    (void)state;
    if (access(cases_path, R_OK) != 0)
        skip();
    open_fixture(&f);
    cases = parse_file(&f, cases_path);
    for (uint32_t i = 0; i < pawl__json_len(&cases); i++) {
        const struct pawl_json *name = pawl__json_get_text(pawl__json_at(&cases, i), "export");
        struct pawl_json plain = pawl__json_null();
        struct pawl_json document;
        char path[512];

        (void)snprintf(path, sizeof path, "%s/migration/exports/%.*s", TEST_RECORDINGS_DIR,
                       PAWL_STR_ARG(pawl__json_str(name)));
        document = parse_file(&f, path);
        assert_ok(pawl__json_unreference(&f.arena, &document, &plain, &f.err), &f.err);
        count += check_state(&f, pawl__json_get_text(&plain, "WorkflowState"), path);
    }
    close_fixture(&f);
    assert_true(count > 1000);
}

/* ---- memory ------------------------------------------------------------------------------ */

static int store_and_read(struct test_allocator *alloc, void *arg)
{
    const struct stored_row *row = arg;
    struct pawl_arena arena;
    struct pawl_value value = pawl__value_null();
    struct pawl_json stored = pawl__json_null();
    int status;

    pawl__arena_init(&arena, &alloc->base, 1 << 20);
    status = pawl__json_parse(&arena, pawl__str(row->json), NULL, &value.json, NULL, NULL);
    if (status == PAWL_OK)
        status = pawl__type_find(&arena, pawl__str(row->type), &value.type);
    if (status == PAWL_OK)
        status = pawl__value_write(&arena, value, &stored);
    if (status == PAWL_OK)
        status = pawl__value_read(&arena, &stored, &value, NULL);
    pawl__arena_release(&arena);
    return status;
}

static void survives_refused_allocations(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof stored_rows / sizeof stored_rows[0]; i++) {
        struct stored_row row = stored_rows[i];

        test_sweep_allocations(store_and_read, &row, 200);
    }
}

static struct pawl_value through_typed(struct fixture *f, struct pawl_value value)
{
    struct pawl_builder b = {.arena = &f->arena};
    struct pawl_json typed = pawl__typed_json(&b, value);
    struct pawl_json stored;
    struct pawl_value read;

    assert_code(b.status, PAWL_OK);
    stored = parse(f, text_of(f, &typed));
    assert_code(pawl__typed_read(&f->arena, &stored, &read), PAWL_OK);
    return read;
}

static void a_burst_in_progress_keeps_what_json_has_no_words_for(void **state)
{
    struct fixture f;
    struct pawl_type list = {.kind = PAWL_TYPE_LIST, .element = &pawl__type_object_of_json};
    struct pawl_value read;
    double number = 0;

    (void)state;
    open_fixture(&f);
    read = through_typed(&f, pawl__value_double(-1e300 * 1e300));
    assert_ptr_equal(read.type, &pawl__type_double);
    assert_true(pawl__json_to_double(&read.json, &number) && number < -1e308);
    read = through_typed(&f, pawl__value_double(1e300 * 1e300));
    assert_true(pawl__json_to_double(&read.json, &number) && number > 1e308);
    read = through_typed(&f, pawl__value_double(1e300 * 1e300 - 1e300 * 1e300));
    assert_true(pawl__json_to_double(&read.json, &number));
    assert_true(number != number);
    /* Not the same as null. */
    read = through_typed(&f, (struct pawl_value){.type = &pawl__type_json_element});
    assert_true(pawl__value_is_null(read));
    assert_ptr_equal(read.type, &pawl__type_json_element);
    read = through_typed(&f, pawl__value_null());
    assert_null(read.type);
    /* A list of what came from JSON still knows it. */
    read = through_typed(&f, (struct pawl_value){.json = parse(&f, "[1]"), .type = &list});
    assert_int_equal(read.type->kind, PAWL_TYPE_LIST);
    assert_ptr_equal(read.type->element, &pawl__type_object_of_json);
    assert_true(pawl__type_equal(read.type->element, &pawl__type_object));
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_json_has_a_type_of_its_own),
        cmocka_unit_test(stores_values_with_their_type_and_reads_them_back),
        cmocka_unit_test(reads_other_spellings_of_the_stored_form),
        cmocka_unit_test(refuses_stored_values_that_mean_nothing),
        cmocka_unit_test(plain_form_escapes_what_looks_like_a_reference),
        cmocka_unit_test(every_recorded_value_survives_reading_and_writing),
        cmocka_unit_test(a_burst_in_progress_keeps_what_json_has_no_words_for),
        cmocka_unit_test(survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("engine/value", tests, NULL, NULL);
}
