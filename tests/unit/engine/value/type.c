/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/value/type.h"
#include "lib/test.h"

struct fixture {
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_buf text;
};

static void open_fixture(struct fixture *f)
{
    test_allocator_init(&f->alloc);
    pawl__arena_init(&f->arena, &f->alloc.base, 1 << 20);
    pawl__buf_init(&f->text, &f->alloc.base, 4096);
}

static void close_fixture(struct fixture *f)
{
    pawl__buf_release(&f->text);
    pawl__arena_release(&f->arena);
    assert_int_equal(f->alloc.live_count, 0);
}

static const struct pawl_type *find(struct fixture *f, const char *alias)
{
    const struct pawl_type *type = NULL;
    int status = pawl__type_find(&f->arena, pawl__str(alias), &type);

    if (status != PAWL_OK)
        print_error("alias \"%s\"\n", alias);
    assert_code(status, PAWL_OK);
    return type;
}

static const char *written(struct fixture *f, const struct pawl_type *type)
{
    pawl__buf_clear(&f->text);
    pawl__type_write(&f->text, type);
    return pawl__buf_cstr(&f->text);
}

struct alias_row {
    const char *alias;
    enum pawl_type_kind kind;
    const char *written;
};

static void finds_every_alias_whatever_its_case(void **state)
{
    static const struct alias_row rows[] = {
        {"Int16", PAWL_TYPE_INT16, "Int16"},
        {"int32", PAWL_TYPE_INT32, "Int32"},
        {"INT64", PAWL_TYPE_INT64, "Int64"},
        {"Long", PAWL_TYPE_INT64, "Int64"},
        {"Single", PAWL_TYPE_SINGLE, "Single"},
        {"Double", PAWL_TYPE_DOUBLE, "Double"},
        {"Decimal", PAWL_TYPE_DECIMAL, "Decimal"},
        {"Boolean", PAWL_TYPE_BOOLEAN, "Boolean"},
        {"String", PAWL_TYPE_STRING, "String"},
        {"object", PAWL_TYPE_OBJECT, "Object"},
        {"ByteArray", PAWL_TYPE_BYTES, "ByteArray"},
        {"Guid", PAWL_TYPE_GUID, "Guid"},
        {"DateTime", PAWL_TYPE_DATETIME, "DateTime"},
        {"DateTimeOffset", PAWL_TYPE_DATETIMEOFFSET, "DateTimeOffset"},
        {"TimeSpan", PAWL_TYPE_TIMESPAN, "TimeSpan"},
        {"Stream", PAWL_TYPE_STREAM, "Stream"},
        {"JSON", PAWL_TYPE_EXPANDO, "JSON"},
        {"JsonElement", PAWL_TYPE_JSON_ELEMENT, "JsonElement"},
        {"JsonNode", PAWL_TYPE_JSON_NODE, "JsonNode"},
        {"JsonObject", PAWL_TYPE_JSON_OBJECT, "JsonObject"},
        {"JsonArray", PAWL_TYPE_JSON_ARRAY, "JsonArray"},
        {"StringDictionary", PAWL_TYPE_IDICTIONARY, "StringDictionary"},
        {"ObjectDictionary", PAWL_TYPE_IDICTIONARY, "ObjectDictionary"},
        {"StringMap", PAWL_TYPE_DICTIONARY, "StringMap"},
        {"ObjectMap", PAWL_TYPE_DICTIONARY, "ObjectMap"},
        {"FlowJoinMode", PAWL_TYPE_ENUM, "FlowJoinMode"},
        {"HttpStatusCode", PAWL_TYPE_ENUM, "HttpStatusCode"},
        {"FlowScope", PAWL_TYPE_NAMED, "FlowScope"},
        {"EventStimulus", PAWL_TYPE_NAMED, "EventStimulus"},
        {"Jint.JavaScriptErrorWrapperException", PAWL_TYPE_NAMED,
         "Jint.JavaScriptErrorWrapperException"},
        {"Int32?", PAWL_TYPE_INT32, "Int32?"},
        {"flowjoinmode?", PAWL_TYPE_ENUM, "FlowJoinMode?"},
        {"Int32[]", PAWL_TYPE_ARRAY, "Int32[]"},
        {"Int32?[]", PAWL_TYPE_ARRAY, "Int32?[]"},
        {"FormFile[]", PAWL_TYPE_ARRAY, "FormFile[]"},
        {"String[][]", PAWL_TYPE_ARRAY, "String[][]"},
        {"List<Int32>", PAWL_TYPE_LIST, "List<Int32>"},
        {"HashSet<String>", PAWL_TYPE_HASHSET, "HashSet<String>"},
        {"Collection<String>", PAWL_TYPE_COLLECTION, "Collection<String>"},
        {"IEnumerable<Int32>", PAWL_TYPE_IENUMERABLE, "List<Int32>"},
        {"ICollection<String>", PAWL_TYPE_ICOLLECTION, "List<String>"},
        {"IList<Object>", PAWL_TYPE_ILIST, "List<Object>"},
        {"IReadOnlyCollection<Guid>", PAWL_TYPE_IREADONLYCOLLECTION, "List<Guid>"},
        {"IReadOnlyList<Guid>", PAWL_TYPE_IREADONLYLIST, "List<Guid>"},
        {"ISet<String>", PAWL_TYPE_ISET, "HashSet<String>"},
        {"List<List<Int32?>>", PAWL_TYPE_LIST, "List<List<Int32?>>"},
        {"list<string>", PAWL_TYPE_LIST, "List<String>"},
        {" Int32 ", PAWL_TYPE_INT32, "Int32"},
    };
    struct fixture f;

    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct pawl_type *type = find(&f, rows[i].alias);

        assert_int_equal(type->kind, rows[i].kind);
        assert_string_equal(written(&f, type), rows[i].written);
        assert_true(pawl__type_equal(type, find(&f, rows[i].alias)));
    }
    close_fixture(&f);
}

static void finds_the_names_of_old_definitions(void **state)
{
    static const struct alias_row rows[] = {
        {"System.Int32, System.Private.CoreLib", PAWL_TYPE_INT32, "Int32"},
        {"System.String", PAWL_TYPE_STRING, "String"},
        {"System.Object, System.Private.CoreLib, Version=8.0.0.0, Culture=neutral",
         PAWL_TYPE_OBJECT, "Object"},
        {"System.Byte[], System.Private.CoreLib", PAWL_TYPE_BYTES, "ByteArray"},
        {"System.String[], System.Private.CoreLib", PAWL_TYPE_ARRAY, "String[]"},
        {"System.Dynamic.ExpandoObject, System.Linq.Expressions", PAWL_TYPE_EXPANDO, "JSON"},
        {"System.Text.Json.Nodes.JsonObject, System.Text.Json", PAWL_TYPE_JSON_OBJECT,
         "JsonObject"},
        {"Elsa.Workflows.Core.Activities.Flowchart.Models.FlowJoinMode, Elsa.Workflows.Core",
         PAWL_TYPE_ENUM, "FlowJoinMode"},
        {"Elsa.Workflows.WorkflowInstanceStorageDriver, Elsa.Workflows.Core", PAWL_TYPE_NAMED,
         "WorkflowInstanceStorageDriver"},
        {"System.Collections.Generic.List`1[[System.String, System.Private.CoreLib]], "
         "System.Private.CoreLib",
         PAWL_TYPE_LIST, "List<String>"},
        {"System.Collections.Generic.ICollection`1[System.Int32]", PAWL_TYPE_ICOLLECTION,
         "List<Int32>"},
        {"System.Collections.Generic.IDictionary`2[[System.String, System.Private.CoreLib],"
         "[System.Object, System.Private.CoreLib]], System.Private.CoreLib",
         PAWL_TYPE_IDICTIONARY, "ObjectDictionary"},
        {"System.Collections.Generic.Dictionary`2[System.String,System.String]",
         PAWL_TYPE_DICTIONARY, "StringMap"},
        {"System.Nullable`1[[System.Int32, System.Private.CoreLib]], System.Private.CoreLib",
         PAWL_TYPE_INT32, "Int32?"},
        {"UnregisteredClrType:Acme.Thing, Acme", PAWL_TYPE_NAMED, "Exception"},
    };
    struct fixture f;

    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct pawl_type *type = find(&f, rows[i].alias);

        assert_int_equal(type->kind, rows[i].kind);
        assert_string_equal(written(&f, type), rows[i].written);
    }
    close_fixture(&f);
}

static void refuses_what_names_no_type(void **state)
{
    static const char *const names[] = {
        "",
        "Int",
        "Int33",
        "String?",
        "Object?",
        "Int32??",
        "[]",
        "?",
        "List<>",
        "List<Nothing>",
        "List<Int32",
        "Queue<Int32>",
        "Acme.Token, Acme",
        "System.Collections.Generic.Queue`1[System.Int32]",
        "System.Collections.Generic.List`1",
        "System.Collections.Generic.List`1[]x]",
        "System.Collections.Generic.Dictionary`2[System.Int32,System.String]",
        "System.Collections.Generic.Dictionary`3[System.String,System.String,System.String]",
        "`",
        ",",
        ".",
    };
    struct fixture f;
    const struct pawl_type *type = NULL;

    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int status = pawl__type_find(&f.arena, pawl__str(names[i]), &type);

        if (status != PAWL_ENOTFOUND)
            print_error("name \"%s\"\n", names[i]);
        assert_code(status, PAWL_ENOTFOUND);
        assert_null(type);
    }
    close_fixture(&f);
}

static void bounds_the_nesting_of_names(void **state)
{
    struct fixture f;
    const struct pawl_type *type = NULL;
    char name[256] = "Int32";

    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < 20; i++)
        memcpy(name + 5 + 2 * i, "[]", 3);
    assert_code(pawl__type_find(&f.arena, pawl__str(name), &type), PAWL_ELIMIT);
    assert_null(type);
    name[5 + 2 * 16] = '\0';
    assert_code(pawl__type_find(&f.arena, pawl__str(name), &type), PAWL_OK);
    close_fixture(&f);
}

static void tells_types_apart(void **state)
{
    static const char *const all[] = {
        "Int32",         "Int32?",    "Int32[]",   "Int64[]",         "List<Int32>",
        "IList<Int32>",  "FlowScope", "Token",     "FlowJoinMode",    "HttpStatusCode",
        "FlowJoinMode?", "StringMap", "ObjectMap", "StringDictionary"};
    struct fixture f;

    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        for (size_t j = 0; j < sizeof all / sizeof all[0]; j++)
            assert_int_equal(pawl__type_equal(find(&f, all[i]), find(&f, all[j])), i == j);
    }
    assert_false(pawl__type_equal(NULL, find(&f, "Int32")));
    close_fixture(&f);
}

static void writes_the_names_of_the_platform(void **state)
{
    static const char *const rows[][2] = {
        {"Int32", "System.Int32"},
        {"Int32?", "System.Nullable`1[System.Int32]"},
        {"String[]", "System.String[]"},
        {"ByteArray", "System.Byte[]"},
        {"JSON", "System.Dynamic.ExpandoObject"},
        {"HashSet<Int32>", "System.Collections.Generic.HashSet`1[System.Int32]"},
        {"StringDictionary",
         "System.Collections.Generic.IDictionary`2[System.String,System.String]"},
        {"List<ObjectMap>", "System.Collections.Generic.List`1[System.Collections.Generic."
                            "Dictionary`2[System.String,System.Object]]"},
    };
    struct fixture f;

    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pawl__buf_clear(&f.text);
        pawl__type_write_clr(&f.text, find(&f, rows[i][0]));
        assert_string_equal(pawl__buf_cstr(&f.text), rows[i][1]);
    }
    close_fixture(&f);
}

static void knows_members_of_enums(void **state)
{
    const struct pawl_type *status = &pawl__type_http_status_code;
    int64_t number = -1;

    (void)state;
    assert_true(pawl__type_enum_number(&pawl__type_flow_join_mode, pawl__str("WaitAny"), &number));
    assert_int_equal(number, 2);
    assert_false(pawl__type_enum_number(&pawl__type_flow_join_mode, pawl__str("waitany"), &number));
    assert_string_equal(pawl__type_enum_name(&pawl__type_flow_join_mode, 1), "WaitAllActive");
    assert_null(pawl__type_enum_name(&pawl__type_flow_join_mode, 3));
    assert_null(pawl__type_enum_name(&pawl__type_flow_join_mode, -1));
    assert_true(pawl__type_enum_number(status, pawl__str("NotFound"), &number));
    assert_int_equal(number, 404);
    assert_string_equal(pawl__type_enum_name(status, 200), "OK");
    assert_string_equal(pawl__type_enum_name(status, 302), "Found");
    assert_null(pawl__type_enum_name(status, 299));
}

static int find_compounds(struct test_allocator *alloc, void *arg)
{
    struct pawl_arena arena;
    const struct pawl_type *type = NULL;
    int status;

    (void)arg;
    pawl__arena_init(&arena, &alloc->base, 1 << 20);
    status = pawl__type_find(
        &arena, pawl__str("System.Collections.Generic.List`1[[System.Int32[], x]], y"), &type);
    if (status == PAWL_OK)
        status = pawl__type_find(&arena, pawl__str("List<Int32?>"), &type);
    pawl__arena_release(&arena);
    return status;
}

static void survives_refused_allocations(void **state)
{
    (void)state;
    test_sweep_allocations(find_compounds, NULL, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_every_alias_whatever_its_case),
        cmocka_unit_test(finds_the_names_of_old_definitions),
        cmocka_unit_test(refuses_what_names_no_type),
        cmocka_unit_test(bounds_the_nesting_of_names),
        cmocka_unit_test(tells_types_apart),
        cmocka_unit_test(writes_the_names_of_the_platform),
        cmocka_unit_test(knows_members_of_enums),
        cmocka_unit_test(survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("engine/type", tests, NULL, NULL);
}
