/* SPDX-License-Identifier: Apache-2.0 */
/* What is stored as it is shown: marks and escapes are gone, of equal keys the last counts. */
#include "views/view.h"

#include "base/buf.h"
#include "base/json/json.h"
#include "lib/test.h"

#include <stdio.h>

#define BYTES_MAX ((size_t)1 << 20)

static void assert_plain(const char *stored, const char *shown)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_builder b = {.arena = NULL};
    struct pawl_env *env = NULL;
    struct pawl_json value, view;
    struct pawl_arena arena;
    struct pawl_buf text;

    assert_ok(pawl_system_env_open(&env, &err), &err);
    pawl__arena_init(&arena, &env->alloc, BYTES_MAX);
    b.arena = &arena;
    assert_ok(pawl__json_parse(&arena, pawl__str(stored), NULL, &value, NULL, &err), &err);
    view = pawl__view_plain(&b, &value);
    assert_int_equal(b.status, PAWL_OK);
    pawl__buf_init(&text, &env->alloc, BYTES_MAX);
    pawl__json_write(&text, &view, PAWL_JSON_ESCAPE_MINIMAL);
    assert_str(pawl__buf_peek(&text), shown);
    pawl__buf_release(&text);
    pawl__arena_release(&arena);
    pawl_system_env_close(env);
}

static void what_has_no_marks_is_shown_as_it_is(void **state)
{
    static const char *const same[] = {
        "null",
        "1",
        "\"a\"",
        "[]",
        "{}",
        "{\"a\":1,\"b\":\"x\",\"\":null}",
        "{\"a\":{\"b\":{\"c\":[{\"d\":1},{}]}}}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        assert_plain(same[i], same[i]);
}

static void marks_and_escapes_are_gone_at_every_depth(void **state)
{
    (void)state;
    assert_plain("{\"_type\":\"T\",\"a\":1}", "{\"a\":1}");
    assert_plain("{\"a\":{\"b\":[{\"_type\":\"T\",\"c\":2}]}}", "{\"a\":{\"b\":[{\"c\":2}]}}");
    assert_plain("{\"a\":{\"_items\":[1,{\"_type\":\"T\"}]}}", "{\"a\":[1,{}]}");
    assert_plain("{\"a\":{\"_island\":\"{\\\"x\\\":1}\"}}", "{\"a\":{\"x\":1}}");
    assert_plain("{\"\\\\$ref\":1,\"\\\\a\":2}", "{\"$ref\":1,\"\\\\a\":2}");
    assert_plain("{\"_other\":1}", "{\"_other\":1}");
}

static void of_equal_keys_the_last_counts(void **state)
{
    (void)state;
    assert_plain("{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}");
    assert_plain("{\"a\":1,\"b\":{},\"a\":3}", "{\"a\":3,\"b\":{}}");
    /* One that is equal without its escape. */
    assert_plain("{\"$a\":1,\"\\\\$a\":2}", "{\"$a\":2}");
}

/* So many that they are sorted, with the first key once more at the end. */
static void the_same_holds_for_many_members(void **state)
{
    char stored[4096] = "{", shown[4096] = "{";
    size_t stored_len = 1, shown_len = 1;

    (void)state;
    for (int i = 0; i < 100; i++) {
        stored_len +=
            (size_t)snprintf(stored + stored_len, sizeof stored - stored_len, "\"k%d\":%d,", i, i);
        shown_len += (size_t)snprintf(shown + shown_len, sizeof shown - shown_len, "%s\"k%d\":%d",
                                      i > 0 ? "," : "", i, i > 0 ? i : 1000);
    }
    (void)snprintf(stored + stored_len, sizeof stored - stored_len, "\"_type\":\"T\",\"k0\":1000}");
    (void)snprintf(shown + shown_len, sizeof shown - shown_len, "}");
    assert_plain(stored, shown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_no_marks_is_shown_as_it_is),
        cmocka_unit_test(marks_and_escapes_are_gone_at_every_depth),
        cmocka_unit_test(of_equal_keys_the_last_counts),
        cmocka_unit_test(the_same_holds_for_many_members),
    };

    return cmocka_run_group_tests_name("views/view", tests, NULL, NULL);
}
