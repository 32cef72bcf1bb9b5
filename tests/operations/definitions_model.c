/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions as designers send them: what is taken, what is refused, and that nothing is stored.
 */
#include "operations/desk.h"

#include "operations/definitions.h"

static struct pawl_json parse(struct desk *desk, const char *text)
{
    struct pawl_json json;

    assert_ok(pawl__json_parse(&desk->arena, pawl__str(text), NULL, &json, NULL, &desk->err),
              &desk->err);
    return json;
}

static uint64_t count(struct desk *desk)
{
    uint64_t found;

    assert_ok(pawl__op_definitions_count(&desk->op, &found), &desk->err);
    return found;
}

static int save_model(struct desk *desk, const char *text, char *pointer,
                      struct pawl_definition_saved *saved)
{
    struct pawl_json json = parse(desk, text);

    return pawl__op_definition_save(
        &desk->op,
        &(struct pawl_definition_save){
            .definition = &json, .is_model = true, .keeps_id = true, .pointer = pointer},
        saved);
}

static void what_is_no_definition_is_refused_with_its_place(struct desk *desk)
{
    static const struct {
        const char *text, *pointer;
    } cases[] = {
        {"{\"name\":5}", "/name"},
        {"{\"toolVersion\":\"abc\"}", "/toolVersion"},
        {"{\"toolVersion\":\"3\"}", "/toolVersion"},
        {"{\"variables\":{}}", "/variables"},
        {"{\"variables\":[5]}", "/variables/0"},
        {"{\"variables\":[{\"name\":\"a\"}]}", "/variables/0/typeName"},
        {"{\"inputs\":[{\"name\":\"a\"}]}", "/inputs/0/type"},
        {"{\"outcomes\":\"a\"}", "/outcomes"},
        {"{\"options\":\"x\"}", "/options"},
        {"{\"options\":{\"incidentStrategyType\":\"Nope\"}}", "/options/incidentStrategyType"},
        {"{\"options\":{\"activationStrategyType\":\"Nope\",\"incidentStrategyType\":\"Nope\"}}",
         "/options/activationStrategyType"},
        {"{\"root\":[]}", "/root"},
        {"{\"root\":{\"id\":\"s\"}}", "/root"},
        {"{\"root\":{\"type\":\"Elsa.Sequence\",\"version\":\"1\"}}", "/root"},
        {"{\"root\":{\"type\":\"Elsa.Sequence\",\"activities\":[{\"type\":\"Elsa.WriteLine\","
         "\"version\":\"1\"}]}}",
         "/root/activities/0"},
        {"{\"root\":{\"type\":\"Elsa.Sequence\",\"activities\":[{\"id\":\"a\",\"type\":"
         "\"Elsa.WriteLine\"},{\"id\":\"a\",\"type\":\"Elsa.WriteLine\"}]}}",
         "/root/activities/1"},
    };
    struct pawl_definition_saved saved;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char pointer[PAWL_DEFINITION_POINTER_SIZE] = "unset";

        assert_int_equal(PAWL_EPARSE, save_model(desk, cases[i].text, pointer, &saved));
        assert_string_equal(pointer, cases[i].pointer);
        assert_true(desk->err.msg[0] != '\0');
    }
    assert_int_equal(0, count(desk));
}

static void the_id_of_a_version_is_kept_if_it_is_free(struct desk *desk)
{
    struct pawl_definition_saved saved;

    assert_ok(save_model(desk, "{\"id\":\"v\",\"definitionId\":\"a\",\"version\":5}", NULL, &saved),
              &desk->err);
    assert_str(saved.row.id, "v");
    assert_int_equal(1, saved.row.version);
    assert_ok(save_model(desk, "{\"id\":\"v\",\"definitionId\":\"b\"}", NULL, &saved), &desk->err);
    assert_false(pawl__str_is(saved.row.id, "v"));
    assert_str(saved.row.definition_id, "b");
}

/* Elsa's API loses it; a provider's file does not. */
static void an_input_without_a_type_loses_its_value(struct desk *desk)
{
    static const char text[] =
        "{\"definitionId\":\"a\",\"root\":{\"id\":\"w\",\"type\":\"Elsa.WriteLine\",\"text\":{"
        "\"typeName\":\"String\",\"expression\":{\"type\":\"Input\",\"value\":%s}}}}";
    static const struct {
        const char *value;
        bool is_kept;
    } cases[] = {
        {"{\"name\":\"In\"}", false},
        {"\"{\\\"name\\\":\\\"In\\\"}\"", false},
        {"\"nonsense\"", false},
        {"{\"name\":\"In\",\"type\":\"String\"}", true},
        {"\"{\\\"name\\\":\\\"In\\\",\\\"type\\\":\\\"String\\\"}\"", true},
    };
    struct pawl_definition_saved saved;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *model = pawl__arena_printf(&desk->arena, text, cases[i].value);
        struct pawl_json json;

        assert_ok(save_model(desk, model, NULL, &saved), &desk->err);
        assert_int_equal(cases[i].is_kept, strstr(saved.row.data.ptr, "\"value\"") != NULL);
        json = parse(desk, model);
        assert_ok(pawl__op_definition_save(
                      &desk->op, &(struct pawl_definition_save){.definition = &json}, &saved),
                  &desk->err);
        assert_non_null(strstr(saved.row.data.ptr, "\"value\""));
    }
}

static void an_import_of_several_is_refused_before_anything_is_stored(struct desk *desk)
{
    struct pawl_json good = parse(desk, "{\"definitionId\":\"a\",\"name\":\"A\"}");
    struct pawl_json bad = parse(desk, "{\"definitionId\":\"b\",\"root\":[]}");
    const struct pawl_json *two[] = {&good, &bad};
    struct pawl_definitions_imported imported = {.count = 0};

    assert_int_equal(PAWL_EPARSE, pawl__op_definitions_import(&desk->op, two, 2, &imported));
    assert_int_equal(1, imported.refused);
    assert_int_equal(0, imported.count);
    assert_int_equal(0, count(desk));
    bad = parse(desk, "{\"definitionId\":\"b\"}");
    assert_ok(pawl__op_definitions_import(&desk->op, two, 2, &imported), &desk->err);
    assert_int_equal(2, imported.count);
    assert_int_equal(2, count(desk));
}

static void several_are_shown_or_none_is(struct desk *desk)
{
    const struct pawl_str ids[] = {pawl__str("v1"), pawl__str("nope")};
    struct pawl_definitions_shown shown;
    struct pawl_definition_saved saved;

    assert_ok(save_model(desk, "{\"id\":\"v1\",\"definitionId\":\"a\"}", NULL, &saved), &desk->err);
    assert_ok(save_model(desk, "{\"id\":\"v2\",\"definitionId\":\"b\"}", NULL, &saved), &desk->err);
    assert_ok(pawl__op_definitions_show(&desk->op, ids, 2, &shown), &desk->err);
    assert_int_equal(1, shown.count);
    assert_str(shown.items[0].row.definition_id, "a");
    pawl__op_definitions_release(&shown);
    assert_ok(pawl__op_definitions_show(&desk->op, NULL, 0, &shown), &desk->err);
    assert_int_equal(2, shown.count);
    pawl__op_definitions_release(&shown);
}

const struct desk_test definition_model_tests[] = {
    DESK_TEST(what_is_no_definition_is_refused_with_its_place),
    DESK_TEST(the_id_of_a_version_is_kept_if_it_is_free),
    DESK_TEST(an_input_without_a_type_loses_its_value),
    DESK_TEST(an_import_of_several_is_refused_before_anything_is_stored),
    DESK_TEST(several_are_shown_or_none_is),
    {.name = NULL},
};
