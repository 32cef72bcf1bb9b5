/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/descriptor.h"

#include "lib/loading.h"

static void puts_spaces_between_the_words_of_a_name(void **state)
{
    static const char *const cases[][2] = {{"WriteLine", "Write Line"},
                                           {"HTTPEndpoint", "HTTP Endpoint"},
                                           {"If", "If"},
                                           {"RunJavaScript", "Run Java Script"},
                                           {"ID", "ID"},
                                           {"", ""}};
    struct loading l;
    struct pawl_buf out;

    (void)state;
    loading_init(&l);
    pawl__buf_init(&out, &l.alloc.base, 1000);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pawl__buf_clear(&out);
        pawl__descriptor_title(&out, pawl__str(cases[i][0]));
        assert_str(pawl__buf_peek(&out), cases[i][1]);
    }
    pawl__buf_release(&out);
    loading_release(&l);
}

/* The descriptor of a type, written and parsed again. */
static struct pawl_json *described(struct loading *l, struct pawl_str type)
{
    const struct pawl_activity *activity = pawl__engine_activity(&l->engine, type);
    struct pawl_json_writer json;
    struct pawl_json *parsed;
    struct pawl_buf out;

    if (!activity)
        return NULL;
    pawl__buf_init(&out, &l->alloc.base, 1 << 20);
    pawl__json_writer_init(&json, &out, PAWL_JSON_ESCAPE_MINIMAL, 0);
    pawl__descriptor_write(&json, activity);
    assert_code(out.status, PAWL_OK);
    parsed = loading_parse(l, pawl__buf_peek(&out));
    pawl__buf_release(&out);
    return parsed;
}

static void describes_a_type_in_the_shape_of_the_api(void **state)
{
    struct loading l;
    const struct pawl_json *json;

    (void)state;
    loading_init(&l);
    json = described(&l, pawl__str("Elsa.FlowJoin"));
    assert_str(pawl__json_str(pawl__json_find(json, pawl__str("/typeName"))), "Elsa.FlowJoin");
    assert_str(pawl__json_str(pawl__json_find(json, pawl__str("/namespace"))), "Elsa");
    assert_str(pawl__json_str(pawl__json_find(json, pawl__str("/name"))), "FlowJoin");
    assert_str(pawl__json_str(pawl__json_find(json, pawl__str("/displayName"))), "Flow Join");
    assert_str(pawl__json_str(pawl__json_find(json, pawl__str("/kind"))), "Action");
    assert_str(pawl__json_str(pawl__json_find(json, pawl__str("/inputs/0/typeName"))),
               "FlowJoinMode");
    assert_str(pawl__json_str(pawl__json_find(json, pawl__str("/inputs/0/defaultValue"))),
               "WaitAny");
    assert_str(pawl__json_str(pawl__json_find(json, pawl__str("/inputs/0/uiHint"))), "dropdown");
    assert_str(
        pawl__json_str(pawl__json_find(
            json, pawl__str("/inputs/0/uiSpecifications/dropdown/selectList/items/1/value"))),
        "WaitAllActive");
    json = described(&l, pawl__str("Elsa.Flowchart"));
    assert_true(pawl__json_true(pawl__json_get_text(json, "isContainer")));
    /* Its activities are no port; where it starts is one that designers do not show. */
    assert_int_equal(pawl__json_len(pawl__json_get_text(json, "ports")), 1);
    assert_str(pawl__json_str(pawl__json_find(json, pawl__str("/ports/0/name"))), "Start");
    assert_str(pawl__json_str(pawl__json_find(json, pawl__str("/clrType"))),
               "UnregisteredClrType:Elsa.Workflows.Activities.Flowchart.Activities.Flowchart, "
               "Elsa.Workflows.Core");
    json = described(&l, pawl__str("Elsa.If"));
    assert_str(pawl__json_str(pawl__json_find(json, pawl__str("/ports/1/name"))), "Else");
    assert_str(pawl__json_str(pawl__json_find(json, pawl__str("/ports/1/type"))), "Embedded");
    loading_release(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_spaces_between_the_words_of_a_name),
        cmocka_unit_test(describes_a_type_in_the_shape_of_the_api),
    };

    return cmocka_run_group_tests_name("engine/descriptor", tests, NULL, NULL);
}
