/* SPDX-License-Identifier: Apache-2.0 */
#include "base/route/template.h"
#include "lib/test.h"

#include <stdio.h>

static struct test_allocator alloc;
static struct pawl_arena arena;

static int set_up(void **state)
{
    (void)state;
    test_allocator_init(&alloc);
    pawl__arena_init(&arena, &alloc.base, 1 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pawl__arena_release(&arena);
    return alloc.live_count == 0 ? 0 : -1;
}

/* "id=42;rest=" of a match, "-" when there is none, "!" and why when the path is refused. */
static const char *match(const char *text, const char *raw)
{
    static char out[512];
    struct pawl_route_template template;
    struct pawl_route_path path;
    struct pawl_route_values values;
    struct pawl_error err;
    enum pawl_route_path_result result;
    size_t len = 0;

    assert_ok(pawl__route_template_parse(pawl__str(text), &template, &err), &err);
    result = pawl__route_path_read(pawl__str(raw), &arena, &path);
    if (result != PAWL_ROUTE_PATH_OK) {
        (void)snprintf(out, sizeof out, "!%s", pawl__route_path_result_text(result));
        return out;
    }
    if (!pawl__route_template_match(&template, &path, &values))
        return "-";
    out[0] = '\0';
    for (size_t i = 0; i < values.count; i++) {
        struct pawl_route_value value = values.items[i];

        len += (size_t)snprintf(out + len, sizeof out - len, "%s%.*s=%.*s", i > 0 ? ";" : "",
                                PAWL_STR_ARG(value.name), (int)value.value.len,
                                value.value.ptr ? value.value.ptr : "");
    }
    return out;
}

static void literals_compare_without_case_and_a_last_slash_does_not_count(void **state)
{
    (void)state;
    assert_string_equal(match("/hello", "/hello"), "");
    assert_string_equal(match("hello/", "/HELLO"), "");
    assert_string_equal(match("/hello", "/hello/"), "");
    assert_string_equal(match("", ""), "");
    assert_string_equal(match("/", "/"), "");
    assert_string_equal(match("/hello", "/"), "-");
    assert_string_equal(match("/hello", "/hello/you"), "-");
    assert_string_equal(match("/hello/you", "/hello"), "-");
    assert_string_equal(match("/", "/hello"), "-");
}

static void parameters_take_one_segment_as_it_is_sent(void **state)
{
    (void)state;
    assert_string_equal(match("test/users/{userId}/orders/{orderId}", "/test/users/A/orders/b-2"),
                        "userId=A;orderId=b-2");
    assert_string_equal(match("test/users/{userId}/orders/{orderId}", "/test/users/1/orders"), "-");
    assert_string_equal(match("users/{id}", "/users/"), "-");
    assert_string_equal(match("users/{id}", "/users/user%40domain.com"), "id=user@domain.com");
    assert_string_equal(match("users/{id}", "/users/%21%40%23%24%25"), "id=!@#$%");
    assert_string_equal(match("users/{id}", "/users/a+b"), "id=a+b");
    assert_string_equal(match("users/{id}", "/users/gr%C3%BCn"), "id=grün");
}

static void an_encoded_slash_stays_in_its_segment(void **state)
{
    (void)state;
    assert_string_equal(match("users/{id}", "/users/a%2Fb"), "id=a%2Fb");
    assert_string_equal(match("users/{id}", "/users/a%2fb"), "id=a%2fb");
    assert_string_equal(match("users/{id}/b", "/users/a%2Fb"), "-");
    assert_string_equal(match("users/{id}", "/users%2Fa"), "-");
    /* Decoded once. */
    assert_string_equal(match("users/{id}", "/users/%2541"), "id=%41");
}

static void paths_that_servers_read_differently_are_refused(void **state)
{
    (void)state;
    assert_string_equal(match("a/{b}", "/a//b"), "!an empty segment");
    assert_string_equal(match("a/{b}", "//a/b"), "!an empty segment");
    assert_string_equal(match("a", "/a//"), "!an empty segment");
    assert_string_equal(match("{*all}", "/a//b"), "!an empty segment");
    assert_string_equal(match("{*all}", "/a/../b"), "!a segment of dots");
    assert_string_equal(match("{*all}", "/a/%2e%2E/b"), "!a segment of dots");
    assert_string_equal(match("{*all}", "/a/.%2e"), "!a segment of dots");
    assert_string_equal(match("{*all}", "/./a"), "!a segment of dots");
    assert_string_equal(match("{*all}", "/a/.../b"), "all=a/.../b");
    assert_string_equal(match("{*all}", "/a%"),
                        "!an escape or a character that is not well formed");
    assert_string_equal(match("{*all}", "/a%4"),
                        "!an escape or a character that is not well formed");
    assert_string_equal(match("{*all}", "/a%0g"),
                        "!an escape or a character that is not well formed");
    assert_string_equal(match("{*all}", "/a%00"),
                        "!an escape or a character that is not well formed");
    assert_string_equal(match("{*all}", "/a%ff"),
                        "!an escape or a character that is not well formed");
    assert_string_equal(match("{*all}", "/a%c0%af"),
                        "!an escape or a character that is not well formed");
    assert_string_equal(match("{*a}", "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/22/"
                                      "23/24/25/26/27/28/29/30/31/32/33"),
                        "!too long");
}

static void optional_default_and_rest_parameters_match_less(void **state)
{
    (void)state;
    assert_string_equal(match("a/{id?}", "/a"), "");
    assert_string_equal(match("a/{id?}", "/a/"), "");
    assert_string_equal(match("a/{id?}", "/a/5"), "id=5");
    assert_string_equal(match("a/{id?}", "/a/5/6"), "-");
    assert_string_equal(match("a/{id=latest}", "/a"), "id=latest");
    assert_string_equal(match("a/{id=latest}", "/a/1"), "id=1");
    assert_string_equal(match("a/{x=1}/{y=2}", "/a"), "x=1;y=2");
    assert_string_equal(match("a/{x=1}/{y}", "/a/7"), "-");
    assert_string_equal(match("a/{*rest}", "/a"), "rest=");
    assert_string_equal(match("a/{**rest}", "/a/b/c"), "rest=b/c");
    assert_string_equal(match("a/{*rest}", "/a/b%2Fc/"), "rest=b%2Fc/");
    assert_string_equal(match("a/{*rest=all}", "/a"), "rest=all");
}

static void a_segment_may_have_several_parts(void **state)
{
    (void)state;
    assert_string_equal(match("files/{name}.{ext}", "/files/a.b.txt"), "name=a.b;ext=txt");
    assert_string_equal(match("files/{name}.{ext}", "/files/a"), "-");
    assert_string_equal(match("files/{name}.{ext}", "/files/.txt"), "-");
    assert_string_equal(match("files/{name}.{ext}", "/files/a."), "-");
    assert_string_equal(match("files/{name}.{ext?}", "/files/a"), "name=a");
    assert_string_equal(match("files/{name}.{ext?}", "/files/a.txt"), "name=a;ext=txt");
    assert_string_equal(match("v{major}.{minor}-x", "/V1.2-X"), "major=1;minor=2");
    assert_string_equal(match("v{major}", "/v"), "-");
    assert_string_equal(match("v{major}", "/w1"), "-");
    assert_string_equal(match("{a}-{b}", "/1-2-3"), "a=1-2;b=3");
}

static void constraints_are_checked(void **state)
{
    (void)state;
    assert_string_equal(match("{id:int}", "/-12"), "id=-12");
    assert_string_equal(match("{id:int}", "/2147483648"), "-");
    assert_string_equal(match("{id:int}", "/x"), "-");
    assert_string_equal(match("{id:long}", "/9223372036854775807"), "id=9223372036854775807");
    assert_string_equal(match("{id:long}", "/-9223372036854775808"), "id=-9223372036854775808");
    assert_string_equal(match("{id:long}", "/9223372036854775808"), "-");
    assert_string_equal(match("{id:int:range(1,10)}", "/10"), "id=10");
    assert_string_equal(match("{id:int:range(1,10)}", "/11"), "-");
    assert_string_equal(match("{id:min(5)}", "/4"), "-");
    assert_string_equal(match("{id:max(5)?}", "/5"), "id=5");
    assert_string_equal(match("{id:max(5)?}", "/"), "");
    assert_string_equal(match("{id:int=7}", "/"), "id=7");
    assert_string_equal(match("{id:bool}", "/TRUE"), "id=TRUE");
    assert_string_equal(match("{id:bool}", "/1"), "-");
    assert_string_equal(match("{id:alpha}", "/abC"), "id=abC");
    assert_string_equal(match("{id:alpha}", "/ab1"), "-");
    assert_string_equal(match("{id:guid}", "/6F9619FF-8B86-D011-B42D-00C04FC964FF"),
                        "id=6F9619FF-8B86-D011-B42D-00C04FC964FF");
    assert_string_equal(match("{id:guid}", "/6F9619FF-8B86-D011-B42D-00C04FC964F"), "-");
    assert_string_equal(match("{id:double}", "/1.5e3"), "id=1.5e3");
    assert_string_equal(match("{id:decimal}", "/1.5e3"), "-");
    assert_string_equal(match("{id:decimal}", "/-."), "-");
    assert_string_equal(match("{id:length(2)}", "/ab"), "id=ab");
    assert_string_equal(match("{id:length(2,3)}", "/abcd"), "-");
    assert_string_equal(match("{id:minlength(2)}", "/a"), "-");
    assert_string_equal(match("{id:maxlength(1)}", "/%C3%BC"), "id=ü");
    assert_string_equal(match("{id:range(a,b)}", "/1"), "-");
    /* Unknown ones hold: the reference looks at none. */
    assert_string_equal(match("{id:regex(^\\d{{3}}[:=/?]$)}", "/x"), "id=x");
    assert_string_equal(match("{*rest:maxlength(3)}", "/a/b"), "rest=a/b");
    assert_string_equal(match("{*rest:maxlength(3)}", "/a/bc"), "-");
}

static void what_is_no_template_is_refused_with_a_reason(void **state)
{
    static const char *const wrong[] = {
        "a//b",   "//",       "a//",       "{a",         "a}",    "{{a}}", "{}",
        "{a}{b}", "{a}/{A}",  "{a?}/b",    "{*a}/b",     "x{*a}", "{*a?}", "a?b",
        "{a b}",  "{a}-{b?}", "{a}.{b=1}", "x/../y",     "x/.",   "{a*}",  "{?}",
        "{:int}", "{=1}",     "\xff",      "{a}.{b?}.c",
    };
    struct pawl_route_template template;
    struct pawl_error err;
    char many[200], tall[PAWL_ROUTE_TEMPLATE_BYTES_MAX + 2];

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (pawl__route_template_parse(pawl__str(wrong[i]), &template, &err) != PAWL_EINVAL)
            fail_msg("\"%s\" was taken", wrong[i]);
        assert_non_null(strstr(err.msg, " is no route: "));
    }
    memset(many, '/', sizeof many);
    for (size_t i = 0; i < 2 * (size_t)(PAWL_ROUTE_SEGMENTS_MAX + 1); i += 2)
        many[i] = 'a';
    assert_code(
        pawl__route_template_parse(pawl__str_make(many, 2 * (size_t)(PAWL_ROUTE_SEGMENTS_MAX + 1)),
                                   &template, &err),
        PAWL_EINVAL);
    assert_code(pawl__route_template_parse(
                    pawl__str_make(many, 2 * (size_t)PAWL_ROUTE_SEGMENTS_MAX), &template, &err),
                PAWL_OK);
    memset(tall, 'a', sizeof tall);
    assert_code(pawl__route_template_parse(pawl__str_make(tall, sizeof tall), &template, &err),
                PAWL_EINVAL);
    assert_code(pawl__route_template_parse(pawl__str_make("a\0b", 3), &template, &err),
                PAWL_EINVAL);
}

static void the_more_specific_template_comes_first(void **state)
{
    static const char *const ordered[] = {
        "a",          "a/b",    "a/b/{c}", "a/v{x}", "a/{b}",   "a/{b}/c", "a/{b}/{c?}",
        "a/{*r:int}", "a/{*r}", "{a:int}", "{a}/b",  "{a}/{b}", "{*r}",
    };

    (void)state;
    for (size_t i = 1; i < sizeof ordered / sizeof ordered[0]; i++) {
        struct pawl_route_template before, behind;
        struct pawl_error err;

        assert_ok(pawl__route_template_parse(pawl__str(ordered[i - 1]), &before, &err), &err);
        assert_ok(pawl__route_template_parse(pawl__str(ordered[i]), &behind, &err), &err);
        if (pawl__route_template_compare(&before, &behind) >= 0 ||
            pawl__route_template_compare(&behind, &before) <= 0)
            fail_msg("%s should come before %s", ordered[i - 1], ordered[i]);
        assert_int_equal(pawl__route_template_compare(&before, &before), 0);
    }
}

static void templates_of_the_same_paths_have_one_shape(void **state)
{
    static const struct {
        const char *template, *shape;
    } rows[] = {
        {"", "/"},
        {"/Orders/{id}", "/orders/{}"},
        {"orders/{number}/", "/orders/{}"},
        {"orders/{id:int}", "/orders/{:int}"},
        {"orders/{id=5}", "/orders/{?}"},
        {"orders/{id?}", "/orders/{?}"},
        {"X/{*rest}", "/x/{*}"},
        {"F/{Name}.{Ext?}", "/f/{}.{?}"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct pawl_route_template template;
        struct pawl_error err;
        struct pawl_buf shape;

        pawl__buf_init(&shape, &alloc.base, 1000);
        assert_ok(pawl__route_template_parse(pawl__str(rows[i].template), &template, &err), &err);
        pawl__route_template_shape(&template, &shape);
        assert_str(pawl__buf_peek(&shape), rows[i].shape);
        pawl__buf_release(&shape);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_compare_without_case_and_a_last_slash_does_not_count),
        cmocka_unit_test(parameters_take_one_segment_as_it_is_sent),
        cmocka_unit_test(an_encoded_slash_stays_in_its_segment),
        cmocka_unit_test(paths_that_servers_read_differently_are_refused),
        cmocka_unit_test(optional_default_and_rest_parameters_match_less),
        cmocka_unit_test(a_segment_may_have_several_parts),
        cmocka_unit_test(constraints_are_checked),
        cmocka_unit_test(what_is_no_template_is_refused_with_a_reason),
        cmocka_unit_test(the_more_specific_template_comes_first),
        cmocka_unit_test(templates_of_the_same_paths_have_one_shape),
    };

    return cmocka_run_group_tests_name("base/route_template", tests, set_up, tear_down);
}
