/* SPDX-License-Identifier: Apache-2.0 */
#include "base/trace_context.h"

#include "lib/test.h"

#define RIGHT "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

static void a_context_is_read_and_written(void **state)
{
    struct pawl_trace_context context;
    char text[PAWL_TRACEPARENT_SIZE], id[PAWL_TRACE_ID_SIZE];

    (void)state;
    assert_true(pawl__traceparent_read(pawl__str(RIGHT), &context));
    assert_true(pawl__trace_is_set(&context));
    pawl__traceparent_write(&context, text);
    assert_string_equal(text, RIGHT);
    pawl__trace_id_text(&context, id);
    assert_string_equal(id, "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_true(pawl__traceparent_read(
        pawl__str("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"), &context));
    assert_int_equal(context.flags, 0);
    /* A later version may have more behind it, and other flags. */
    assert_true(pawl__traceparent_read(
        pawl__str("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03-more"), &context));
    assert_int_equal(context.flags, PAWL_TRACE_SAMPLED);
}

static void what_the_standard_does_not_allow_is_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "00",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01more",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct pawl_trace_context context;

        assert_false(pawl__traceparent_read(pawl__str(bad[i]), &context));
        assert_false(pawl__trace_is_set(&context));
    }
}

static void an_instance_has_one_trace_on_every_node(void **state)
{
    struct pawl_trace_context one, same, other;

    (void)state;
    pawl__trace_of_instance(pawl__str("order-1"), &one);
    pawl__trace_of_instance(pawl__str("order-1"), &same);
    pawl__trace_of_instance(pawl__str("order-2"), &other);
    assert_memory_equal(&one, &same, sizeof one);
    assert_memory_not_equal(one.trace_id, other.trace_id, sizeof one.trace_id);
    assert_true(pawl__trace_is_set(&one));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_context_is_read_and_written),
        cmocka_unit_test(what_the_standard_does_not_allow_is_refused),
        cmocka_unit_test(an_instance_has_one_trace_on_every_node),
    };

    return cmocka_run_group_tests_name("base/trace_context", tests, NULL, NULL);
}
