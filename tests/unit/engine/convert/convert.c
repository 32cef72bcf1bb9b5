/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/convert/convert.h"

#include "lib/test.h"

struct fixture {
    struct test_allocator alloc;
    struct pawl_arena arena;
};

static void open_fixture(struct fixture *f)
{
    test_allocator_init(&f->alloc);
    pawl__arena_init(&f->arena, &f->alloc.base, 16 << 20);
}

static void close_fixture(struct fixture *f)
{
    pawl__arena_release(&f->arena);
    assert_int_equal(f->alloc.live_count, 0);
}

/*
 * A value of type `from` whose JSON is `json`, converted to `to`, is `expected`: JSON text, with
 * " :Type" behind it where the type is not `to`'s alias; or "!Exception: message".
 */
struct row {
    const char *from;
    const char *json;
    const char *to;
    const char *expected;
};

static const struct pawl_type *type_named(struct fixture *f, const char *alias)
{
    const struct pawl_type *type = NULL;

    assert_code(pawl__type_find(&f->arena, pawl__str(alias), &type), PAWL_OK);
    return type;
}

static struct pawl_value value_of(struct fixture *f, const char *type, const char *json)
{
    struct pawl_value value = pawl__value_null();
    struct pawl_error err = PAWL_ERROR_INIT;

    assert_ok(pawl__json_parse(&f->arena, pawl__str(json), NULL, &value.json, NULL, &err), &err);
    value.type = pawl__value_is_null(value) ? NULL : type_named(f, type);
    return value;
}

/* What happened, in the form of `expected`. */
static const char *outcome(struct fixture *f, const struct row *row, bool strict)
{
    struct pawl_conversion how = {.arena = &f->arena, .strict = strict};
    struct pawl_exception raised = {.type = {NULL, 0}};
    struct pawl_value out = {.json = pawl__json_int(4711), .type = NULL};
    const struct pawl_type *to = type_named(f, row->to);
    struct pawl_buf text;
    const char *result;
    int status = pawl__convert(&how, value_of(f, row->from, row->json), to, &out, &raised);

    if (status == ENGINE_RAISED) {
        int64_t untouched = 0;

        assert_true(pawl__json_to_int(&out.json, &untouched) && untouched == 4711);
        return pawl__arena_printf(&f->arena, "!%.*s: %.*s", PAWL_STR_ARG(raised.type),
                                  PAWL_STR_ARG(raised.message));
    }
    if (status != PAWL_OK)
        return pawl_error_name(status);
    assert_int_equal(out.type == NULL, pawl__value_is_null(out));
    pawl__buf_init(&text, &f->alloc.base, 1 << 20);
    pawl__json_write(&text, &out.json, PAWL_JSON_ESCAPE_MINIMAL);
    if (out.type && !pawl__type_equal(out.type, pawl__type_underlying(to))) {
        pawl__buf_text(&text, " :");
        pawl__type_write(&text, out.type);
    }
    result = pawl__arena_printf(&f->arena, "%s", pawl__buf_cstr(&text));
    pawl__buf_release(&text);
    return result;
}

static void check_rows(const struct row *rows, size_t count, bool strict)
{
    struct fixture f;
    int wrong = 0;

    open_fixture(&f);
    for (size_t i = 0; i < count; i++) {
        const char *got = outcome(&f, &rows[i], strict);

        if (strcmp(got, rows[i].expected) == 0)
            continue;
        wrong++;
        print_error("%s %s to %s: %s, expected %s\n", rows[i].from, rows[i].json, rows[i].to, got,
                    rows[i].expected);
    }
    close_fixture(&f);
    assert_int_equal(wrong, 0);
}

#define CHECK(rows) check_rows(rows, sizeof(rows) / sizeof(rows)[0], false)

#define TOO_LARGE(type) "!OverflowException: Value was either too large or too small for " type "."

static void text_becomes_a_number_if_it_is_one(void **state)
{
    static const struct row rows[] = {
        {"String", "\"42\"", "Int32", "42"},
        {"String", "\" 42 \"", "Int32", "42"},
        {"String", "\"+7\"", "Int16", "7"},
        {"String", "\"-7\"", "Int64", "-7"},
        {"String", "\"bar\"", "Int32", "0"},
        {"String", "\"2.5\"", "Int32", "0"},
        {"String", "\"1e3\"", "Int32", "0"},
        {"String", "\"1,000\"", "Int32", "0"},
        {"String", "\"0x10\"", "Int32", "16"},
        {"String", "\"#1F\"", "Int32", "31"},
        {"String", "\"&hff\"", "Int16", "255"},
        {"String", "\"0xFFFFFFFF\"", "Int32", "-1"},
        {"String", "\"0xFFFF\"", "Int16", "-1"},
        {"String", "\"0x1FFFFFFFF\"", "Int32", "0"},
        {"String", "\"0x10\"", "Double", "0"},
        {"String", "\"true\"", "Int32", "0"},
        {"String", "\"[1,2]\"", "Int32", "0"},
        {"String", "\"{}\"", "Double", "0"},
        {"String", "\"1,000\"", "Double", "1000"},
        {"String", "\"1,5\"", "Double", "15"},
        {"String", "\"1,000.25\"", "Decimal", "1000.25"},
        {"String", "\",5\"", "Double", "0"},
        {"String", "\"1e3\"", "Double", "1000"},
        {"String", "\"1e3\"", "Decimal", "1000"},
        {"String", "\".5\"", "Double", "0.5"},
        {"String", "\"5.\"", "Double", "5"},
        {"String", "\"-2.5\"", "Decimal", "-2.5"},
        {"String", "\"1.10\"", "Decimal", "1.10"},
        {"String", "\"0.1\"", "Single", "0.1"},
        {"String", "\"16777217\"", "Single", "16777216"},
        {"String", "\"9007199254740993\"", "Int64", "9007199254740993"},
        {"String", "\"12345678901234567890.12345678\"", "Decimal", "12345678901234567890.12345678"},
        {"String", "\"0.12345678901234567890123456785\"", "Decimal",
         "0.1234567890123456789012345678"},
        {"String", "\"1e30\"", "Decimal", "0"},
        {"String", "\"\"", "Int32", "null"},
        {"String", "\"  \"", "Double", "null"},
        {"String", "\"bar\"", "Int32?", "null"},
        {"String", "\"7\"", "Int32?", "7"},
    };

    (void)state;
    CHECK(rows);
}

static void numbers_round_half_to_even(void **state)
{
    static const struct row rows[] = {
        {"Double", "2.5", "Int32", "2"},
        {"Double", "3.5", "Int32", "4"},
        {"Double", "-2.5", "Int32", "-2"},
        {"Double", "-0.5", "Int64", "0"},
        {"Double", "2.500000001", "Int32", "3"},
        {"Double", "4.4999", "Int16", "4"},
        {"Decimal", "2.5", "Int32", "2"},
        {"Decimal", "3.50", "Int32", "4"},
        {"Decimal", "-3.5", "Int64", "-4"},
        {"Decimal", "0.1", "Int64", "0"},
        {"Decimal", "4.4999", "String", "\"4.4999\""},
        {"Double", "0.1", "Decimal", "0.1"},
        {"Double", "100000000000000000000", "Decimal", "100000000000000000000"},
        {"Double", "0.30000000000000004", "Decimal", "0.3"},
        {"Double", "0.1", "Single", "0.1"},
        {"Single", "0.1", "Double", "0.1"},
        {"Int64", "9007199254740993", "Double", "9007199254740992"},
        {"Decimal", "1.10", "Double", "1.1"},
        {"Int64", "5", "Decimal", "5"},
        {"Boolean", "true", "Int64", "1"},
        {"Boolean", "false", "Int16", "0"},
        {"Boolean", "true", "Decimal", "1"},
        {"Boolean", "true", "Double", "1"},
        {"FlowJoinMode", "\"WaitAny\"", "Int32", "2"},
        {"Decimal", "2.5", "Int32?", "2"},
    };

    (void)state;
    CHECK(rows);
}

static void what_does_not_fit_is_an_exception(void **state)
{
    static const struct row rows[] = {
        {"String", "\"99999999999\"", "Int32", TOO_LARGE("an Int32")},
        {"String", "\"99999999999999999999\"", "Int64", TOO_LARGE("an Int64")},
        {"String", "\"70000\"", "Int16", TOO_LARGE("an Int16")},
        {"Decimal", "99999999999", "Int32", TOO_LARGE("an Int32")},
        {"Decimal", "70000", "Int16", TOO_LARGE("an Int16")},
        {"Int64", "70000", "Int16", TOO_LARGE("an Int16")},
        {"Double", "70000", "Int16", TOO_LARGE("an Int16")},
        {"Double", "1e20", "Int16", TOO_LARGE("an Int32")},
        {"Double", "2147483648", "Int32", TOO_LARGE("an Int32")},
        {"Double", "2147483647.4", "Int32", "2147483647"},
        {"Double", "1e20", "Int64",
         "!OverflowException: Arithmetic operation resulted in an overflow."},
        {"Double", "1e30", "Decimal", TOO_LARGE("a Decimal")},
        {"String", "\"99999999999999999999999999999999\"", "Decimal", TOO_LARGE("a Decimal")},
        {"Decimal", "79228162514264337593543950335", "Int64", TOO_LARGE("an Int64")},
        {"Double", "3e9", "FlowJoinMode", TOO_LARGE("an Int32")},
    };

    (void)state;
    CHECK(rows);
    check_rows(rows, sizeof rows / sizeof rows[0], true);
}

static void truth_is_a_word_or_a_number(void **state)
{
    static const struct row rows[] = {
        {"String", "\"true\"", "Boolean", "true"},
        {"String", "\" true \"", "Boolean", "true"},
        {"String", "\"FALSE\"", "Boolean", "false"},
        {"String", "\"foo\"", "Boolean", "false"},
        {"String", "\"1\"", "Boolean", "false"},
        {"String", "\"yes\"", "Boolean?", "null"},
        {"String", "\"  \"", "Boolean", "null"},
        {"Decimal", "1", "Boolean", "true"},
        {"Decimal", "0.0", "Boolean", "false"},
        {"Decimal", "-5", "Boolean", "true"},
        {"Double", "0.1", "Boolean", "true"},
        {"JSON", "{\"a\":1}", "Boolean", "false"},
        {"ByteArray", "\"aGk=\"", "Boolean", "false"},
        {"Object[]", "[]", "Boolean", "false"},
        {"DateTime", "\"2024-01-02T03:04:05\"", "Boolean", "false"},
    };

    (void)state;
    CHECK(rows);
}

static void values_print_as_the_reference_prints_them(void **state)
{
    static const struct row rows[] = {
        {"Boolean", "true", "String", "\"True\""},
        {"Boolean", "false", "String", "\"False\""},
        {"Double", "9", "String", "\"9\""},
        {"Double", "9007199254740992", "String", "\"9007199254740992\""},
        {"Double", "1e21", "String", "\"1E+21\""},
        {"Double", "1e17", "String", "\"1E+17\""},
        {"Double", "1e16", "String", "\"10000000000000000\""},
        {"Double", "123456789012345680000", "String", "\"1.2345678901234568E+20\""},
        {"Double", "1e-7", "String", "\"1E-07\""},
        {"Double", "0.0001", "String", "\"0.0001\""},
        {"Double", "0.00001", "String", "\"1E-05\""},
        {"Double", "-0.3333333333333333", "String", "\"-0.3333333333333333\""},
        {"Double", "-0", "String", "\"-0\""},
        {"Single", "0.1", "String", "\"0.1\""},
        {"Single", "1e9", "String", "\"1E+09\""},
        {"Single", "123456784", "String", "\"123456784\""},
        {"Decimal", "1.10", "String", "\"1.10\""},
        {"Decimal", "70000", "String", "\"70000\""},
        {"Int64", "9007199254740993", "String", "\"9007199254740993\""},
        {"DateTime", "\"1970-01-01T00:00:00Z\"", "String", "\"01/01/1970\""},
        {"DateTime", "\"2024-02-29T12:00:00Z\"", "String", "\"02/29/2024 12:00\""},
        {"DateTime", "\"2024-01-02T03:04:05Z\"", "String", "\"01/02/2024 03:04\""},
        {"DateTime", "\"0001-01-01T00:00:00\"", "String", "\"\""},
        {"DateTimeOffset", "\"2024-01-02T03:04:05+02:00\"", "String",
         "\"01/02/2024 03:04 +02:00\""},
        {"DateTimeOffset", "\"2024-01-02T00:00:00-03:30\"", "String", "\"01/02/2024 -03:30\""},
        {"DateTimeOffset", "\"0001-01-01T00:00:00+00:00\"", "String", "\"\""},
        {"TimeSpan", "\"1.02:03:04\"", "String", "\"1.02:03:04\""},
        {"Guid", "\"6f9619ff-8b86-d011-b42d-00c04fc964ff\"", "String",
         "\"6f9619ff-8b86-d011-b42d-00c04fc964ff\""},
        {"FlowJoinMode", "\"WaitAny\"", "String", "\"WaitAny\""},
        {"ByteArray", "\"aGk=\"", "String", "\"Byte[] Array\""},
        {"Int32[]", "[1]", "String", "\"Int32[] Array\""},
        {"List<Int32>", "[1]", "String", "\"(Collection)\""},
        {"HashSet<Int32>", "[1]", "String",
         "\"System.Collections.Generic.HashSet`1[System.Int32]\""},
        {"StringMap", "{\"a\":\"b\"}", "String", "\"(Collection)\""},
        {"Object[]", "[1,\"a<b\",{\"k\":null}]", "String",
         "\"[1,\\\"a\\\\u003Cb\\\",{\\\"k\\\":null}]\""},
        {"HashSet<String>", "[\"1\"]", "String", "\"[\\\"1\\\"]\""},
        {"String[]", "[\"\\\"str\\\"\"]", "String", "\"[\\\"\\\\u0022str\\\\u0022\\\"]\""},
        {"String[]", "[\"Zo\xC3\xAB & 'q' + x\"]", "String",
         "\"[\\\"Zo\xC3\xAB \\\\u0026 \\\\u0027q\\\\u0027 \\\\u002B x\\\"]\""},
        {"JSON", "{\"a\":1,\"b\":\"two\",\"c\":[true]}", "String",
         "\"{\\\"a\\\":1,\\\"b\\\":\\\"two\\\",\\\"c\\\":[true]}\""},
        {"ObjectMap", "{}", "String", "\"{}\""},
        {"JsonObject", "{\"k\":\"v\"}", "String", "\"{\\n  \\\"k\\\": \\\"v\\\"\\n}\""},
        {"JsonArray", "[1,2]", "String", "\"[1,2]\""},
        {"JsonNode", "\"a b\"", "String", "\"a b\""},
        {"JsonNode", "true", "String", "\"true\""},
        {"JsonElement", "12.50", "String", "\"12.50\""},
        {"JsonElement", "\"x\"", "String", "\"x\""},
        {"JsonElement", "[1,2]", "String",
         "!JsonException: The JSON value could not be converted to System.String. Path: $"},
    };

    (void)state;
    CHECK(rows);
}

static void text_becomes_dates_spans_and_guids(void **state)
{
    static const struct row rows[] = {
        {"String", "\"2024-02-29T12:00:00Z\"", "DateTime", "\"2024-02-29T12:00:00+00:00\""},
        {"String", "\"2024-01-02T03:04:05+02:00\"", "DateTime", "\"2024-01-02T01:04:05+00:00\""},
        {"String", "\"2024-01-02T03:04:05\"", "DateTime", "\"2024-01-02T03:04:05\""},
        {"String", "\" 2024-01-02 \"", "DateTime", "\"2024-01-02T00:00:00\""},
        {"String", "\"01/02/2024 03:04\"", "DateTime", "\"2024-01-02T03:04:00\""},
        {"String", "\"1/2/2024 3:04:05.5 PM\"", "DateTime", "\"2024-01-02T15:04:05.5\""},
        {"String", "\"2024/1/2\"", "DateTime", "\"2024-01-02T00:00:00\""},
        {"String", "\"Thu, 29 Feb 2024 12:00:00 GMT\"", "DateTime",
         "\"2024-02-29T12:00:00+00:00\""},
        {"String", "\"notadate\"", "DateTime", "\"0001-01-01T00:00:00\""},
        {"String", "\"13/45/2024\"", "DateTime", "\"0001-01-01T00:00:00\""},
        {"String", "\"notadate\"", "DateTime?", "null"},
        {"String", "\"5\"", "DateTime", "\"0001-01-01T00:00:00\""},
        {"String", "\"\"", "DateTime", "\"0001-01-01T00:00:00\""},
        {"String", "\"2024-01-02T03:04:05+02:00\"", "DateTimeOffset",
         "\"2024-01-02T03:04:05+02:00\""},
        {"String", "\"2024-01-02T03:04:05Z\"", "DateTimeOffset", "\"2024-01-02T03:04:05+00:00\""},
        {"String", "\"2024-01-02\"", "DateTimeOffset", "\"2024-01-02T00:00:00+00:00\""},
        {"String", "\"text\"", "DateTimeOffset", "\"0001-01-01T00:00:00+00:00\""},
        {"DateTime", "\"2024-01-02T03:04:05Z\"", "DateTimeOffset", "\"2024-01-02T03:04:05+00:00\""},
        {"DateTimeOffset", "\"2024-01-02T03:04:05+02:00\"", "DateTime", "\"2024-01-02T03:04:05\""},
        {"Boolean", "true", "DateTime", "\"0001-01-01T00:00:00\""},
        {"Double", "1e20", "DateTime?", "null"},
        {"String", "\"01:30:00\"", "TimeSpan", "\"01:30:00\""},
        {"String", "\"42\"", "TimeSpan", "\"42.00:00:00\""},
        {"String", "\"-1\"", "TimeSpan", "\"-1.00:00:00\""},
        {"String", "\"1.02:03:04.5\"", "TimeSpan", "\"1.02:03:04.5000000\""},
        {"String", "\"text\"", "TimeSpan", "\"00:00:00\""},
        {"String", "\"99999999999\"", "TimeSpan", "\"00:00:00\""},
        {"Decimal", "3.5", "TimeSpan", "\"00:00:00\""},
        {"JSON", "{}", "TimeSpan", "\"00:00:00\""},
        {"String", "\"  \"", "TimeSpan", "null"},
        {"String", "\"6F9619FF-8B86-D011-B42D-00C04FC964FF\"", "Guid",
         "\"6f9619ff-8b86-d011-b42d-00c04fc964ff\""},
        {"String", "\"6F9619FF8B86D011B42D00C04FC964FF\"", "Guid",
         "\"6f9619ff-8b86-d011-b42d-00c04fc964ff\""},
        {"String", "\" (6F9619FF-8B86-D011-B42D-00C04FC964FF) \"", "Guid",
         "\"6f9619ff-8b86-d011-b42d-00c04fc964ff\""},
        {"String", "\"(6F9619FF8B86D011B42D00C04FC964FF)\"", "Guid",
         "\"00000000-0000-0000-0000-000000000000\""},
        {"String", "\"text\"", "Guid", "\"00000000-0000-0000-0000-000000000000\""},
        {"Boolean", "true", "Guid", "\"00000000-0000-0000-0000-000000000000\""},
        {"String", "\"\"", "Guid", "null"},
        {"String", "\"{6F9619FF-8B86-D011-B42D-00C04FC964FF}\"", "Guid",
         "!TypeConversionException: Failed to deserialize {6F9619FF-8B86-D011-B42D-00C04FC964FF} "
         "to System.Guid"},
        {"String", "\"AQL/\"", "ByteArray", "\"AQL/\""},
        {"String", "\" AQ L/ \"", "ByteArray", "\"AQL/\""},
        {"String", "\"AQ=\"", "ByteArray",
         "!FormatException: The input is not a valid Base-64 string as it contains a non-base 64 "
         "character, more than two padding characters, or an illegal character among the padding "
         "characters."},
    };

    (void)state;
    CHECK(rows);
}

static void enums_take_exact_names_and_numbers(void **state)
{
    static const struct row rows[] = {
        {"String", "\"WaitAny\"", "FlowJoinMode", "\"WaitAny\""},
        {"String", "\"waitall\"", "FlowJoinMode",
         "!ArgumentException: Requested value 'waitall' was not found."},
        {"String", "\"3.7\"", "FlowJoinMode",
         "!ArgumentException: Requested value '3.7' was not found."},
        {"String", "\"1\"", "FlowJoinMode", "\"WaitAllActive\""},
        {"String", "\" 2 \"", "FlowJoinMode", "\"WaitAny\""},
        {"String", "\"5\"", "FlowJoinMode", "\"5\""},
        {"String", "\"WaitAllActive, WaitAny\"", "FlowJoinMode", "\"3\""},
        {"String", "\"\"", "FlowJoinMode",
         "!ArgumentException: Must specify valid information for parsing in the string. (Parameter "
         "'value')"},
        {"Decimal", "2", "FlowJoinMode", "\"WaitAll\""},
        {"Decimal", "255", "FlowJoinMode", "\"WaitAll\""},
        {"Double", "2", "FlowJoinMode", "\"WaitAny\""},
        {"Double", "2.5", "FlowJoinMode", "\"WaitAny\""},
        {"Double", "3.5", "FlowJoinMode", "\"4\""},
        {"Int32", "1", "FlowJoinMode", "\"WaitAllActive\""},
        {"Boolean", "true", "FlowJoinMode", "\"WaitAll\""},
        {"Boolean", "true", "FlowJoinMode?", "null"},
        {"String", "\"[1,2]\"", "FlowJoinMode",
         "!TypeConversionException: Failed to deserialize [1,2] to "
         "Elsa.Workflows.Activities.Flowchart.Models.FlowJoinMode"},
        {"String", "\"OK\"", "HttpStatusCode", "\"OK\""},
        {"String", "\"404\"", "HttpStatusCode", "\"NotFound\""},
        {"Double", "299", "HttpStatusCode", "\"299\""},
        {"Boolean", "true", "HttpStatusCode", "\"0\""},
    };

    (void)state;
    CHECK(rows);
}

static void text_that_looks_like_json_is_read_strictly(void **state)
{
    static const struct row rows[] = {
        {"String", "\"[1,2,3]\"", "Int32[]", "[1,2,3]"},
        {"String", "\"[\\\"1\\\"]\"", "Int32[]", "[1]"},
        {"String", "\"[1.0]\"", "Int32[]",
         "!TypeConversionException: Failed to deserialize [1.0] to System.Int32[]"},
        {"String", "\"[1,null]\"", "Int32[]",
         "!TypeConversionException: Failed to deserialize [1,null] to System.Int32[]"},
        {"String", "\"[1,null]\"", "Int32?[]", "[1,null]"},
        {"String", "\"[99999999999]\"", "Int32[]",
         "!TypeConversionException: Failed to deserialize [99999999999] to System.Int32[]"},
        {"String", "\"[]\"", "List<Int32>", "[]"},
        {"String", "\"[\\\"GET\\\"]\"", "ICollection<String>", "[\"GET\"] :List<String>"},
        {"String", "\"[1,2]\"", "List<String>",
         "!TypeConversionException: Failed to deserialize [1,2] to "
         "System.Collections.Generic.List`1[System.String]"},
        {"String", "\"[\\\"a\\\",\\\"a\\\",\\\"b\\\"]\"", "HashSet<String>", "[\"a\",\"b\"]"},
        {"String", "\"[\\\"a\\\"]\"", "ISet<String>", "[\"a\"] :HashSet<String>"},
        {"String", "\"[1,\\\"a\\\",{\\\"k\\\":2}]\"", "Object[]", "[1,\"a\",{\"k\":2}]"},
        {"String", "\"[0.10,\\\"2.5\\\"]\"", "Decimal[]", "[0.10,2.5]"},
        {"String", "\"[true]\"", "Boolean[]", "[true]"},
        {"String", "\"[\\\"2024-01-02T03:04:05Z\\\"]\"", "DateTime[]",
         "[\"2024-01-02T03:04:05+00:00\"]"},
        {"String", "\"[\\\"01:00:00\\\"]\"", "TimeSpan[]", "[\"01:00:00\"]"},
        {"String", "\"[\\\"1:00\\\"]\"", "TimeSpan[]",
         "!TypeConversionException: Failed to deserialize [\"1:00\"] to System.TimeSpan[]"},
        {"String", "\"[\\\"waitany\\\",1]\"", "FlowJoinMode[]", "[\"WaitAny\",\"WaitAllActive\"]"},
        {"String", "\"[[1],[2]]\"", "List<Int32[]>", "[[1],[2]]"},
        {"String", "\"{\\\"q\\\":1}\"", "JSON", "{\"q\":1}"},
        {"String", "\"[1,2]\"", "JSON",
         "!TypeConversionException: Failed to deserialize [1,2] to System.Dynamic.ExpandoObject"},
        {"String", "\"{\\\"k\\\":\\\"v\\\"}\"", "StringDictionary", "{\"k\":\"v\"} :StringMap"},
        {"String", "\"{\\\"a\\\":1}\"", "StringMap",
         "!TypeConversionException: Failed to deserialize {\"a\":1} to "
         "System.Collections.Generic.Dictionary`2[System.String,System.String]"},
        {"String", "\"{\\\"a\\\":1}\"", "ObjectMap", "{\"a\":1}"},
        {"String", "\"{\\\"a\\\":1}\"", "ObjectDictionary", "{\"a\":1} :ObjectMap"},
        {"String", "\"[\\\"a\\\"]\"", "ObjectMap",
         "!TypeConversionException: Failed to deserialize [\"a\"] to "
         "System.Collections.Generic.Dictionary`2[System.String,System.Object]"},
        {"String", "\"[1,2]\"", "JsonArray", "[1,2]"},
        {"String", "\"[1,2]\"", "JsonNode", "[1,2] :JsonArray"},
        {"String", "\"{}\"", "JsonNode", "{} :JsonObject"},
        {"String", "\"[1,2]\"", "JsonElement", "[1,2]"},
        {"String", "\"{}\"", "JsonArray",
         "!TypeConversionException: Failed to deserialize {} to "
         "System.Text.Json.Nodes.JsonArray"},
        {"String", "\"{}\"", "HttpHeaders", "{}"},
        {"String", "\"[1,2]\"", "Decimal",
         "!TypeConversionException: Failed to deserialize [1,2] to System.Decimal"},
        {"String", "\"{}\"", "TimeSpan",
         "!TypeConversionException: Failed to deserialize {} to System.TimeSpan"},
        {"String", "\"{oops\"", "ObjectMap",
         "!TypeConversionException: Failed to deserialize {oops to "
         "System.Collections.Generic.Dictionary`2[System.String,System.Object]"},
        {"String", "\"[1,2]\"", "String", "\"[1,2]\""},
        {"String", "\"[1,2]\"", "Object", "\"[1,2]\" :String"},
    };

    (void)state;
    CHECK(rows);
}

static void text_into_collections_is_one_element_or_characters(void **state)
{
    static const struct row rows[] = {
        {"String", "\"GET\"", "List<String>", "[\"GET\"] :String[]"},
        {"String", "\"GET\"", "ICollection<String>", "[\"GET\"] :String[]"},
        {"String", "\"GET\"", "String[]", "[\"GET\"]"},
        {"String", "\"text\"", "Int32[]", "[116,101,120,116]"},
        {"String", "\"0x10\"", "List<Int32>", "[48,120,49,48]"},
        {"String", "\"12.5\"", "IEnumerable<Int32>", "[49,50,46,53] :List<Int32>"},
        {"String", "\"text\"", "Object[]", "[\"t\",\"e\",\"x\",\"t\"]"},
        {"String", "\"aab\"", "HashSet<Int32>", "[97,98]"},
        {"String", "\"a\"", "Double[]", "[0]"},
        {"String", "\"a\"", "Boolean[]", "[false]"},
        {"String", "\"\xF0\x9F\x98\x80\"", "Int32[]", "[55357,56832]"},
        {"String", "\"\xF0\x9F\x98\x80\"", "Int16[]", TOO_LARGE("an Int16")},
        {"String", "\"\xF0\x9F\x98\x80\xC3\xA4\"", "Object[]",
         "[\"\xEF\xBF\xBD\",\"\xEF\xBF\xBD\",\"\xC3\xA4\"]"},
        {"String", "\"  \"", "Int32[]", "null"},
        {"String", "\"\"", "ICollection<String>", "null"},
    };

    (void)state;
    CHECK(rows);
}

static void sequences_convert_element_by_element(void **state)
{
    static const struct row rows[] = {
        {"Object[]", "[1,2.5,\"3\",true]", "Int32[]", "[1,2,3,1]"},
        {"Object[]", "[1,2,3]", "HashSet<String>", "[\"1\",\"2\",\"3\"]"},
        {"Object[]", "[\"a\",\"a\"]", "HashSet<String>", "[\"a\"]"},
        {"Object[]", "[[1],[2]]", "Int32[]", "[0,0]"},
        {"Object[]", "[]", "IEnumerable<Int32>", "[] :List<Int32>"},
        {"Object[]", "[null,\"\"]", "Int32[]", "[0,0]"},
        {"Object[]", "[null]", "String[]", "[null]"},
        {"Object[]", "[null]", "List<Int32>",
         "!ArgumentNullException: Value cannot be null. (Parameter 'item')"},
        {"Object[]", "[99999999999]", "Int32[]", TOO_LARGE("an Int32")},
        {"Object[]", "[1]", "ICollection<Object>", "[1] :Object[]"},
        {"String[]", "[\"a\"]", "Object[]", "[\"a\"] :String[]"},
        {"List<String>", "[\"a\"]", "IEnumerable<Object>", "[\"a\"] :List<String>"},
        {"List<String>", "[\"a\"]", "IList<Object>", "[\"a\"] :List<Object>"},
        {"List<Int32>", "[1]", "IEnumerable<Object>", "[1] :List<Object>"},
        {"HashSet<String>", "[\"a\"]", "IList<String>", "[\"a\"] :List<String>"},
        {"HashSet<String>", "[\"a\"]", "ISet<String>", "[\"a\"] :HashSet<String>"},
        {"Int32[]", "[1,2]", "List<Int64>", "[1,2]"},
        {"Int32[]", "[1,2]", "String[]", "[\"1\",\"2\"]"},
        {"ByteArray", "\"aGk=\"", "Int32[]", "[104,105]"},
        {"ByteArray", "\"aGk=\"", "Object[]", "[104,105]"},
        {"Object[]", "[1]", "Int32", "0"},
        {"Object[]", "[1]", "Decimal", "0"},
        {"Object[]", "[1]", "ObjectMap", "null"},
        {"Object[]", "[1]", "JSON", "null"},
        {"Object[]", "[1]", "JsonArray", "null"},
        {"Object[]", "[1]", "JsonNode", "null"},
        {"Object[]", "[1]", "DateTime?", "null"},
        {"Double", "1e20", "Int32[]", "null"},
        {"Decimal", "70000", "List<String>", "null"},
        {"Decimal", "0.1", "HashSet<String>", "null"},
        {"JsonArray", "[1,2]", "Int32[]", "[1,2]"},
        {"JsonArray", "[1,\"x\"]", "List<Object>", "[1,\"x\"]"},
        {"JsonArray", "[1,\"x\"]", "Int32[]",
         "!JsonException: The JSON value could not be converted to System.Int32[]. Path: $"},
        {"JsonArray", "[1]", "Int32", "0"},
    };

    (void)state;
    CHECK(rows);
}

#define NO_INTERFACE(name)                                                                         \
    "!MissingMethodException: Cannot dynamically create an instance of type "                      \
    "'System.Collections.Generic." name "'. Reason: Cannot create an instance of an "              \
    "interface."

static void interfaces_have_no_zero_value(void **state)
{
    static const struct row rows[] = {
        {"Decimal", "1", "ObjectDictionary",
         NO_INTERFACE("IDictionary`2[System.String,System.Object]")},
        {"String", "\"text\"", "StringDictionary",
         NO_INTERFACE("IDictionary`2[System.String,System.String]")},
        {"Object[]", "[]", "StringDictionary",
         NO_INTERFACE("IDictionary`2[System.String,System.String]")},
        {"Decimal", "255", "IEnumerable<Int32>", NO_INTERFACE("IEnumerable`1[System.Int32]")},
        {"Decimal", "1", "ICollection<String>", NO_INTERFACE("ICollection`1[System.String]")},
        {"Boolean", "true", "IList<String>", NO_INTERFACE("IList`1[System.String]")},
        {"String", "\"\"", "ObjectDictionary", "null"},
        {"Decimal", "1", "List<String>", "null"},
        {"Decimal", "1", "JSON", "null"},
        {"String", "\"text\"", "ObjectMap", "null"},
        {"String", "\"text\"", "JsonNode", "null"},
        {"Boolean", "true", "JsonObject", "null"},
        {"Double", "2.5", "Stream", "null"},
    };

    (void)state;
    CHECK(rows);
}

static void objects_go_through_json(void **state)
{
    static const struct row rows[] = {
        {"JSON", "{\"a\":1}", "ObjectMap", "{\"a\":1}"},
        {"JSON", "{\"a\":1}", "ObjectDictionary", "{\"a\":1} :JSON"},
        {"ObjectMap", "{\"a\":1}", "JSON", "{\"a\":1}"},
        {"JSON", "{\"a\":1}", "JsonObject", "{\"a\":1}"},
        {"JSON", "{\"a\":\"b\"}", "StringMap", "{\"a\":\"b\"}"},
        {"JSON", "{\"a\":1}", "JsonArray",
         "!TypeConversionException: Failed to deserialize {\"a\":1} to "
         "System.Text.Json.Nodes.JsonArray"},
        {"JSON", "{\"a\":1}", "IEnumerable<Int32>",
         "!TypeConversionException: Failed to deserialize {\"a\":1} to "
         "System.Collections.Generic.IEnumerable`1[System.Int32]"},
        {"JSON", "{\"a\":1}", "Int64", "0"},
        {"JSON", "{\"a\":1}", "Object", "{\"a\":1} :JSON"},
        {"StringMap", "{\"a\":\"b\"}", "ObjectMap", "null"},
        {"JsonObject", "{\"a\":1}", "JSON", "{\"a\":1}"},
        {"JsonObject", "{\"a\":1}", "JsonNode", "{\"a\":1} :JsonObject"},
        {"JsonObject", "{\"a\":1}", "Object", "{\"a\":1} :JsonObject"},
        {"JsonNode", "2.5", "Int32", "0"},
        {"JsonNode", "25", "Int32", "25"},
        {"JsonNode", "true", "Boolean", "true"},
        {"JsonElement", "25", "Int32", "25"},
        {"JsonElement", "\"25\"", "Int64", "25"},
        {"JsonElement", "\"abc\"", "Int64", "0"},
        {"JsonElement", "2.5", "Int32",
         "!JsonException: The JSON value could not be converted to System.Int32. Path: $"},
        {"JsonElement", "{\"k\":1}", "Boolean",
         "!JsonException: The JSON value could not be converted to System.Boolean. Path: $"},
        {"JsonElement", "{\"k\":1}", "JSON", "{\"k\":1}"},
        {"JSON", "{\"a\":\"b\"}", "ByteArray",
         "!FormatException: The input is not a valid Base-64 string as it contains a non-base 64 "
         "character, more than two padding characters, or an illegal character among the padding "
         "characters."},
    };

    (void)state;
    CHECK(rows);
}

static void null_stays_null_and_objects_stay_as_they_are(void **state)
{
    static const struct row rows[] = {
        {"Object", "null", "Int32", "null"},
        {"Object", "null", "ObjectDictionary", "null"},
        {"Object", "5", "Object", "5 :Int64"},
        {"Object", "5", "Int32", "5"},
        {"Decimal", "1.10", "Object", "1.10 :Decimal"},
        {"Int32", "5", "Int32?", "5"},
        {"Int32?", "5", "String", "\"5\""},
    };

    (void)state;
    CHECK(rows);
}

static void strict_conversion_raises_where_lenient_gives_zero(void **state)
{
    static const struct row rows[] = {
        {"String", "\"bar\"", "Int32",
         "!TypeConversionException: Failed to convert an object of type System.String to "
         "System.Int32"},
        {"String", "\"foo\"", "Boolean?",
         "!TypeConversionException: Failed to convert an object of type System.String to "
         "System.Boolean"},
        {"Object[]", "[1]", "ObjectMap",
         "!TypeConversionException: Failed to convert an object of type System.Object[] to "
         "System.Collections.Generic.Dictionary`2[System.String,System.Object]"},
        {"Decimal", "1", "ICollection<String>",
         "!TypeConversionException: Failed to convert an object of type System.Decimal to "
         "System.Collections.Generic.ICollection`1[System.String]"},
        {"Object[]", "[\"x\"]", "Int32[]",
         "!TypeConversionException: Failed to convert an object of type System.String to "
         "System.Int32"},
        {"String", "\"42\"", "Int32", "42"},
        {"String", "\"\"", "Int32", "null"},
    };

    (void)state;
    check_rows(rows, sizeof rows / sizeof rows[0], true);
}

static void an_undefined_element_is_null_but_does_not_convert(void **state)
{
    struct fixture f;
    struct pawl_conversion how;
    struct pawl_exception raised;
    struct pawl_value out = pawl__value_null();
    bool truth = false;

    (void)state;
    open_fixture(&f);
    how = (struct pawl_conversion){.arena = &f.arena};
    assert_code(pawl__convert(&how, value_of(&f, "Decimal", "0.1"), &pawl__type_json_element, &out,
                              &raised),
                PAWL_OK);
    assert_true(pawl__value_is_null(out));
    assert_int_equal(pawl__convert_to_bool(&how, out, &truth, &raised), ENGINE_RAISED);
    assert_str(raised.type, "InvalidOperationException");
    assert_code(pawl__convert(&how, out, &pawl__type_object, &out, &raised), PAWL_OK);
    assert_true(pawl__value_is_null(out));
    close_fixture(&f);
}

static void the_short_forms_answer_text_and_truth(void **state)
{
    struct fixture f;
    struct pawl_conversion how;
    struct pawl_exception raised;
    struct pawl_buf text;
    bool truth = true;

    (void)state;
    open_fixture(&f);
    how = (struct pawl_conversion){.arena = &f.arena};
    pawl__buf_init(&text, &f.alloc.base, 1000);
    assert_code(pawl__convert_to_text(&how, pawl__value_double(1e21), &text, &raised), PAWL_OK);
    assert_code(pawl__convert_to_text(&how, pawl__value_null(), &text, &raised), PAWL_OK);
    assert_code(pawl__convert_to_text(&how, pawl__value_bool(true), &text, &raised), PAWL_OK);
    assert_string_equal(pawl__buf_cstr(&text), "1E+21True");
    pawl__buf_clear(&text);
    assert_code(pawl__convert_to_text(&how, pawl__value_double(-1e300 * 1e300), &text, &raised),
                PAWL_OK);
    assert_string_equal(pawl__buf_cstr(&text), "-Infinity");
    pawl__buf_release(&text);
    assert_code(pawl__convert_to_bool(&how, pawl__value_null(), &truth, &raised), PAWL_OK);
    assert_false(truth);
    assert_code(pawl__convert_to_bool(&how, pawl__value_int(2), &truth, &raised), PAWL_OK);
    assert_true(truth);
    close_fixture(&f);
}

static void numbers_that_json_cannot_say_raise_inside_json_text(void **state)
{
    struct fixture f;
    struct pawl_conversion how;
    struct pawl_exception raised;
    struct pawl_value array = {.json = pawl__json_array(), .type = &pawl__type_object_array};
    struct pawl_value out = pawl__value_null();

    (void)state;
    open_fixture(&f);
    how = (struct pawl_conversion){.arena = &f.arena};
    assert_code(pawl__json_append(&f.arena, &array.json, pawl__json_double(1e300 * 1e300)),
                PAWL_OK);
    assert_int_equal(pawl__convert(&how, array, &pawl__type_string, &out, &raised), ENGINE_RAISED);
    assert_str(raised.type, "ArgumentException");
    assert_false(pawl__value_is_finite(&array.json));
    assert_int_equal(
        pawl__convert(&how, pawl__value_double(1e300 * 1e300), &pawl__type_int32, &out, &raised),
        ENGINE_RAISED);
    assert_str(raised.type, "OverflowException");
    close_fixture(&f);
}

static void objects_of_a_collection_read_from_json_stay_nodes(void **state)
{
    struct fixture f;
    struct pawl_conversion how;
    struct pawl_exception raised;
    struct pawl_value out = pawl__value_null();

    (void)state;
    open_fixture(&f);
    how = (struct pawl_conversion){.arena = &f.arena};
    assert_code(pawl__convert(&how, pawl__value_string(pawl__str("[7, {}]")),
                              &pawl__type_object_array, &out, &raised),
                PAWL_OK);
    assert_ptr_equal(out.type->element, &pawl__type_object_of_json);
    assert_ptr_equal(pawl__value_node(*pawl__json_at(&out.json, 0)).type, &pawl__type_json_node);
    assert_ptr_equal(pawl__value_node(*pawl__json_at(&out.json, 1)).type, &pawl__type_json_object);
    assert_code(pawl__convert(&how, out, &pawl__type_object_list, &out, &raised), PAWL_OK);
    assert_ptr_equal(out.type->element, &pawl__type_object_of_json);
    close_fixture(&f);
}

static void every_type_has_a_zero_value(void **state)
{
    static const char *const rows[][2] = {
        {"Int16", "0"},
        {"Decimal", "0"},
        {"Boolean", "false"},
        {"String", "null"},
        {"Int32?", "null"},
        {"DateTime", "\"0001-01-01T00:00:00\""},
        {"DateTimeOffset", "\"0001-01-01T00:00:00+00:00\""},
        {"TimeSpan", "\"00:00:00\""},
        {"Guid", "\"00000000-0000-0000-0000-000000000000\""},
        {"FlowJoinMode", "\"WaitAll\""},
        {"HttpStatusCode", "\"0\""},
        {"Int32[]", "null"},
        {"JSON", "null"},
    };
    struct fixture f;

    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct pawl_value zero = pawl__convert_default(type_named(&f, rows[i][0]));
        struct pawl_value expected = value_of(&f, "Object", rows[i][1]);

        assert_true(pawl__json_equal(&zero.json, &expected.json));
    }
    close_fixture(&f);
}

/* ---- all of it, with too little memory --------------------------------------------------- */

static const struct row sweep[] = {
    {"String", "\"[\\\"a\\\",\\\"b\\\",\\\"a\\\"]\"", "HashSet<String>", ""},
    {"Object[]", "[1,\"2\",3.5,{\"a\":[1]}]", "String[]", ""},
    {"String", "\"text\"", "ISet<Int32>", ""},
    {"JSON", "{\"a\":1}", "IEnumerable<Int32>", ""},
    {"JSON", "{\"a\":1}", "String", ""},
    {"String", "\"1,234.5\"", "Double", ""},
    {"String", "\"1.2345678901234567890123456789\"", "Decimal", ""},
    {"String", "\"2024-01-02\"", "DateTime", ""},
    {"String", "\"AQL/\"", "ByteArray", ""},
    {"String", "\"nope\"", "FlowJoinMode", ""},
    {"String", "\"7\"", "FlowJoinMode", ""},
    {"Decimal", "1", "ObjectDictionary", ""},
    {"ByteArray", "\"AQL/\"", "Int32[]", ""},
};

static int convert_one(struct test_allocator *alloc, void *arg)
{
    const struct row *row = arg;
    struct pawl_arena arena;
    struct pawl_conversion how = {.arena = &arena};
    struct pawl_exception raised;
    struct pawl_value value = pawl__value_null();
    const struct pawl_type *to = NULL;
    int status;

    pawl__arena_init(&arena, &alloc->base, 1 << 20);
    status = pawl__type_find(&arena, pawl__str(row->from), &value.type);
    if (status == PAWL_OK)
        status = pawl__type_find(&arena, pawl__str(row->to), &to);
    if (status == PAWL_OK)
        status = pawl__json_parse(&arena, pawl__str(row->json), NULL, &value.json, NULL, NULL);
    /* A small block for each allocation, so that the sweep meets the conversion's own. */
    arena.end = arena.next;
    if (status == PAWL_OK)
        status = pawl__convert(&how, value, to, &value, &raised);
    pawl__arena_release(&arena);
    return status == ENGINE_RAISED ? PAWL_OK : status;
}

static void survives_refused_allocations(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sweep / sizeof sweep[0]; i++) {
        struct row row = sweep[i];

        test_sweep_allocations(convert_one, &row, 200);
    }
}

static void stops_at_the_limit_of_its_arena(void **state)
{
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_conversion how = {.arena = &arena};
    struct pawl_exception raised;
    struct pawl_value out = pawl__value_null();
    static char text[20001];

    (void)state;
    memset(text, 'x', sizeof text - 1);
    test_allocator_init(&alloc);
    pawl__arena_init(&arena, &alloc.base, 100000);
    assert_code(pawl__convert(&how, pawl__value_string(pawl__str(text)), &pawl__type_object_array,
                              &out, &raised),
                PAWL_ELIMIT);
    assert_true(pawl__value_is_null(out));
    pawl__arena_release(&arena);
    assert_int_equal(alloc.live_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_becomes_a_number_if_it_is_one),
        cmocka_unit_test(numbers_round_half_to_even),
        cmocka_unit_test(what_does_not_fit_is_an_exception),
        cmocka_unit_test(truth_is_a_word_or_a_number),
        cmocka_unit_test(values_print_as_the_reference_prints_them),
        cmocka_unit_test(text_becomes_dates_spans_and_guids),
        cmocka_unit_test(enums_take_exact_names_and_numbers),
        cmocka_unit_test(text_that_looks_like_json_is_read_strictly),
        cmocka_unit_test(text_into_collections_is_one_element_or_characters),
        cmocka_unit_test(sequences_convert_element_by_element),
        cmocka_unit_test(interfaces_have_no_zero_value),
        cmocka_unit_test(objects_go_through_json),
        cmocka_unit_test(null_stays_null_and_objects_stay_as_they_are),
        cmocka_unit_test(strict_conversion_raises_where_lenient_gives_zero),
        cmocka_unit_test(an_undefined_element_is_null_but_does_not_convert),
        cmocka_unit_test(the_short_forms_answer_text_and_truth),
        cmocka_unit_test(numbers_that_json_cannot_say_raise_inside_json_text),
        cmocka_unit_test(objects_of_a_collection_read_from_json_stay_nodes),
        cmocka_unit_test(every_type_has_a_zero_value),
        cmocka_unit_test(survives_refused_allocations),
        cmocka_unit_test(stops_at_the_limit_of_its_arena),
    };

    return cmocka_run_group_tests_name("engine/convert", tests, NULL, NULL);
}
