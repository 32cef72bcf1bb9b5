/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/first_step.h"
#include "lib/test.h"

#include <stdio.h>

struct fixture {
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_first_step step;
    struct pawl_error err;
    char seen[1024]; /* "text|" per line, "<id pointer>" per activity */
};

static void see_activity(void *ctx, struct pawl_str type, struct pawl_str id, const char *pointer)
{
    struct fixture *f = ctx;
    size_t len = strlen(f->seen);

    (void)type;
    (void)snprintf(f->seen + len, sizeof f->seen - len, "<%.*s %s>", PAWL_STR_ARG(id), pointer);
}

static void see_line(void *ctx, struct pawl_str text)
{
    struct fixture *f = ctx;
    size_t len = strlen(f->seen);

    (void)snprintf(f->seen + len, sizeof f->seen - len, "%.*s|", PAWL_STR_ARG(text));
}

static int setup(void **state)
{
    static struct fixture f;

    test_allocator_init(&f.alloc);
    pawl__arena_init(&f.arena, &f.alloc.base, 1 << 20);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    pawl__arena_release(&f->arena);
    return 0;
}

static int run(struct fixture *f, const char *text)
{
    const struct pawl_first_step_hooks hooks = {see_activity, see_line, f};
    struct pawl_json definition;

    f->seen[0] = '\0';
    assert_ok(pawl__json_parse(&f->arena, pawl__str(text), NULL, &definition, NULL, &f->err),
              &f->err);
    return pawl__first_step_run(&definition, &hooks, &f->step, &f->err);
}

static void assert_refused(struct fixture *f, const char *text, int code, const char *message,
                           const char *pointer)
{
    assert_code(run(f, text), code);
    assert_string_equal(f->err.msg, message);
    assert_string_equal(f->step.pointer, pointer);
    assert_string_equal(f->seen, "");
}

#define LITERAL(text)                                                                              \
    "{\"typeName\":\"String\",\"expression\":{\"type\":\"Literal\",\"value\":" text "}}"
#define LINE(id, text) "{\"id\":\"" id "\",\"type\":\"Elsa.WriteLine\",\"text\":" text "}"
#define SEQUENCE(id, activities)                                                                   \
    "{\"id\":\"" id "\",\"type\":\"Elsa.Sequence\",\"activities\":[" activities "]}"
#define ROOT(activity) "{\"root\":" activity "}"

static void runs_nested_sequences_in_order(void **state)
{
    struct fixture *f = *state;

    assert_ok(
        run(f, ROOT(SEQUENCE(
                   "s",
                   LINE("a", LITERAL("\"one\"")) "," SEQUENCE(
                       "t",
                       LINE("b",
                            LITERAL("\"two\""))) "," SEQUENCE("u",
                                                              "") "," LINE("c",
                                                                           LITERAL("\"three\""))))),
        &f->err);
    assert_string_equal(f->seen, "<s /root><a /root/activities/0>one|<t /root/activities/1>"
                                 "<b /root/activities/1/activities/0>two|<u /root/activities/2>"
                                 "<c /root/activities/3>three|");
    assert_int_equal(f->step.activity_count, 6);
}

static void a_write_line_alone_is_a_workflow(void **state)
{
    struct fixture *f = *state;

    assert_ok(run(f, ROOT(LINE("a", LITERAL("\"x\"")))), &f->err);
    assert_string_equal(f->seen, "<a /root>x|");
    assert_int_equal(f->step.activity_count, 1);
}

static void text_that_is_not_set_is_an_empty_line(void **state)
{
    struct fixture *f = *state;

    assert_ok(
        run(f,
            ROOT(SEQUENCE(
                "s", LINE("a", "null") "," LINE("b", LITERAL("null")) "," LINE("c", "{}") "," LINE(
                         "d", "\"plain\"") ","
                                           "{\"type\":\"Elsa.WriteLine\"}"))),
        &f->err);
    assert_string_equal(f->seen, "<s /root><a /root/activities/0>|<b /root/activities/1>|"
                                 "<c /root/activities/2>|<d /root/activities/3>plain|"
                                 "< /root/activities/4>|");
}

static void keys_are_read_without_regard_to_case(void **state)
{
    struct fixture *f = *state;

    assert_ok(run(f, "{\"Root\":{\"Type\":\"Elsa.Sequence\",\"Activities\":[{\"ID\":\"a\","
                     "\"TYPE\":\"Elsa.WriteLine\",\"Text\":\"x\"}]}}"),
              &f->err);
    assert_string_equal(f->seen, "< /Root><a /Root/Activities/0>x|");
}

static void what_is_not_supported_is_named_and_nothing_runs(void **state)
{
    struct fixture *f = *state;

    assert_refused(
        f,
        ROOT(SEQUENCE("s", LINE("a", LITERAL("\"one\"")) ","
                                                         "{\"id\":\"d\",\"type\":\"Elsa.Delay\"}")),
        PAWL_EUNSUPPORTED, "activity 'd' has type Elsa.Delay, which Pawl cannot run yet",
        "/root/activities/1");
    assert_refused(
        f, ROOT(LINE("a", "{\"typeName\":\"String\",\"expression\":{\"type\":\"Liquid\"}}")),
        PAWL_EUNSUPPORTED,
        "the text of Elsa.WriteLine 'a' is an expression of type 'Liquid', which Pawl "
        "cannot run yet",
        "/root/text");
    assert_refused(f, ROOT(LINE("a", LITERAL("3"))), PAWL_EUNSUPPORTED,
                   "the text of Elsa.WriteLine 'a' is a literal other than a string, which Pawl "
                   "cannot run yet",
                   "/root/text");
    assert_refused(f, ROOT(LINE("a", "true")), PAWL_EUNSUPPORTED,
                   "the text of Elsa.WriteLine 'a' is neither a string nor an input object, which "
                   "Pawl cannot run yet",
                   "/root/text");
}

static void what_is_no_definition_is_refused(void **state)
{
    struct fixture *f = *state;

    assert_refused(f, "[1]", PAWL_EPARSE,
                   "this is no workflow definition: it has no \"root\" activity", "");
    assert_refused(f, "{\"root\":null}", PAWL_EPARSE,
                   "this is no workflow definition: it has no \"root\" activity", "");
    assert_refused(f, ROOT("\"x\""), PAWL_EPARSE, "expected an activity object, found string",
                   "/root");
    assert_refused(f, ROOT("{\"id\":\"a\"}"), PAWL_EPARSE, "activity 'a' has no \"type\"", "/root");
    assert_refused(f, ROOT("{\"type\":\"Elsa.Sequence\",\"activities\":{}}"), PAWL_EPARSE,
                   "expected an array of activities, found object", "/root/activities");
}

/* As deep as the parser lets a document be: 127 sequences in each other. */
static void the_deepest_document_has_a_whole_pointer(void **state)
{
    static char text[16384];
    struct fixture *f = *state;
    size_t len = (size_t)snprintf(text, sizeof text, "{\"root\":");

    for (int i = 0; i < 127; i++)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "{\"type\":\"Elsa.Sequence\",\"activities\":[");
    len += (size_t)snprintf(text + len, sizeof text - len, "{\"type\":\"X\"}");
    for (int i = 0; i < 127; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "]}");
    (void)snprintf(text + len, sizeof text - len, "}");
    assert_code(run(f, text), PAWL_EUNSUPPORTED);
    assert_int_equal(strlen(f->step.pointer), strlen("/root") + 127 * strlen("/activities/0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(runs_nested_sequences_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(a_write_line_alone_is_a_workflow, setup, teardown),
        cmocka_unit_test_setup_teardown(text_that_is_not_set_is_an_empty_line, setup, teardown),
        cmocka_unit_test_setup_teardown(keys_are_read_without_regard_to_case, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_supported_is_named_and_nothing_runs, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_is_no_definition_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(the_deepest_document_has_a_whole_pointer, setup, teardown),
    };

    return cmocka_run_group_tests_name("engine/first_step", tests, NULL, NULL);
}
