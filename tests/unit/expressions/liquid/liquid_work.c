/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that costs counts: no template works longer than its steps allow, and it can be
 * stopped. */
#include "expressions/liquid/liquid.h"

#include "lib/test.h"

#define NOW_TICKS INT64_C(639029198450000000)
#define BIG_BYTES ((size_t)4 << 20)
#define MEMBERS 50000

struct fixture {
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_buf out;
    struct pawl_exception raised;
    unsigned polls; /* until `stop` says yes; 0: never */
    struct pawl_str big;
    struct pawl_str other; /* differs in its last character */
    struct pawl_str half;
    struct pawl_json object;
};

static bool find_variable(void *ctx, struct pawl_str name, struct pawl_value *out)
{
    struct fixture *f = ctx;

    if (pawl__str_is(name, "Big"))
        *out = pawl__value_string(f->big);
    else if (pawl__str_is(name, "Other"))
        *out = pawl__value_string(f->other);
    else if (pawl__str_is(name, "Half"))
        *out = pawl__value_string(f->half);
    else if (pawl__str_is(name, "Object"))
        *out = pawl__value_from_json(f->object);
    else
        return false;
    return true;
}

static bool stop(void *ctx)
{
    struct fixture *f = ctx;

    return f->polls > 0 && --f->polls == 0;
}

static void open_fixture(struct fixture *f)
{
    char *big;
    char *other;

    *f = (struct fixture){.polls = 0};
    test_allocator_init(&f->alloc);
    pawl__arena_init(&f->arena, &f->alloc.base, (size_t)256 << 20);
    pawl__buf_init(&f->out, &f->alloc.base, LIQUID_OUTPUT_BYTES_MAX);
    big = pawl__arena_alloc(&f->arena, BIG_BYTES);
    other = pawl__arena_alloc(&f->arena, BIG_BYTES);
    assert_non_null(big);
    assert_non_null(other);
    memset(big, 'a', BIG_BYTES);
    memset(other, 'a', BIG_BYTES);
    other[BIG_BYTES - 1] = 'b';
    f->big = pawl__str_make(big, BIG_BYTES);
    f->other = pawl__str_make(other, BIG_BYTES);
    f->half = pawl__str_make(other + BIG_BYTES / 2, BIG_BYTES / 2);
    f->object = pawl__json_object();
    for (unsigned i = 0; i < MEMBERS; i++)
        assert_code(pawl__json_add(&f->arena, &f->object,
                                   pawl__str(pawl__arena_printf(&f->arena, "member%u", i)),
                                   pawl__json_int(i)),
                    PAWL_OK);
}

static void close_fixture(struct fixture *f)
{
    pawl__buf_release(&f->out);
    pawl__arena_release(&f->arena);
    assert_int_equal(f->alloc.live_count, 0);
}

static int render(struct fixture *f, const char *text)
{
    struct pawl_liquid_scope scope = {
        .variable = find_variable, .stop = stop, .ctx = f, .now_ticks = NOW_TICKS};
    struct pawl_arena arena;
    int status;

    pawl__arena_init(&arena, &f->alloc.base, LIQUID_ARENA_BYTES_MAX);
    pawl__buf_clear(&f->out);
    status = pawl__liquid_render(&arena, pawl__str(text), &scope, &f->out, &f->raised);
    if (status == ENGINE_RAISED)
        f->raised.message = pawl__arena_str(&f->arena, f->raised.message);
    pawl__arena_release(&arena);
    return status;
}

#define OFTEN(body) "{% for i in (1..100000) %}" body "{% endfor %}"
#define SAME "{% assign a = Variables.Big | split: '~' %}"
#define DOUBLE "{% assign a = a | concat: a %}"
#define MANY                                                                                       \
    SAME DOUBLE DOUBLE DOUBLE DOUBLE DOUBLE DOUBLE DOUBLE DOUBLE DOUBLE DOUBLE DOUBLE DOUBLE

static void bytes_that_are_compared_searched_and_copied_count(void **state)
{
    static const char *const templates[] = {
        OFTEN("{% if Variables.Big == Variables.Other %}x{% endif %}"),
        OFTEN("{% if Variables.Big < Variables.Other %}{% endif %}"),
        OFTEN("{% if Variables.Big contains Variables.Half %}{% endif %}"),
        OFTEN("{% if 'a' contains Variables.Half %}{% endif %}"),
        OFTEN("{% case Variables.Big %}{% when Variables.Other %}{% endcase %}"),
        OFTEN("{% assign n = Variables.Big.size %}"),
        OFTEN("{% assign n = 'a' | append: Variables.Big %}"),
        OFTEN("{% assign n = 'a' | replace: 'a', Variables.Big | size %}"),
        OFTEN("{% assign n = Variables.Big | replace_last: Variables.Half, '' | size %}"),
        "{% assign n = Variables.Big | remove_last: Variables.Half | size %}" OFTEN(
            "{% assign n = Variables.Big | remove_last: Variables.Half | size %}"),
        OFTEN("{% capture c %}{{ Variables.Big }}{% endcapture %}"),
        OFTEN("{% assign n = Variables.Big | plus: 1 %}"),
        OFTEN("{% if Variables.Big == blank %}{% endif %}"),
        OFTEN("{% assign n = Variables.Object.nothing %}"),
        OFTEN("{% if Variables.Object == Variables.Object %}{% endif %}"),
        MANY "{% assign s = a | sort %}",
        MANY "{% assign s = a | sort_natural %}",
        MANY "{% assign s = a | uniq %}",
        MANY "{% if a contains Variables.Other %}{% endif %}",
        MANY "{% if a == a %}{% endif %}",
        MANY "{% assign s = a | where: 'x', Variables.Big %}" OFTEN("{% assign s = a | sort %}"),
    };
    struct fixture f;

    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof templates / sizeof *templates; i++) {
        int status = render(&f, templates[i]);

        if (status != ENGINE_RAISED)
            fail_msg("not limited: %zu %.80s", i, templates[i]);
        assert_true(pawl__str_starts(f.raised.message, pawl__str("The Liquid template takes too")));
    }
    close_fixture(&f);
}

static void a_rendering_is_stopped(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f);
    f.polls = 3;
    assert_code(render(&f, OFTEN("{% assign n = i | plus: 1 %}")), PAWL_EBUSY);
    f.polls = 3;
    assert_code(render(&f, OFTEN("{% if Variables.Big == Variables.Other %}x{% endif %}")),
                PAWL_EBUSY);
    f.polls = 0;
    assert_code(render(&f, "{{ Variables.Big.size }}"), PAWL_OK);
    assert_string_equal(pawl__buf_cstr(&f.out), "4194304");
    close_fixture(&f);
}

static void the_last_occurrence_is_found(void **state)
{
    static const char *const examples[][2] = {
        {"{{ 'abcabcab' | replace_last: 'abc', '-' }}", "abc-ab"},
        {"{{ 'aaaa' | replace_last: 'aa', '-' }}", "aa-"},
        {"{{ 'abab' | replace_last: 'abab', '-' }}", "-"},
        {"{{ 'aabaab' | replace_last: 'aab', '-' }}", "aab-"},
        {"{{ 'abacabadabacab' | remove_last: 'abacab' }}", "abacabad"},
        {"{{ 'abc' | replace_last: 'x', '-' }}", "abc"},
        {"{{ 'ab' | replace_last: 'abc', '-' }}", "ab"},
    };
    struct fixture f;

    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        assert_code(render(&f, examples[i][0]), PAWL_OK);
        assert_string_equal(pawl__buf_cstr(&f.out), examples[i][1]);
    }
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_that_are_compared_searched_and_copied_count),
        cmocka_unit_test(a_rendering_is_stopped),
        cmocka_unit_test(the_last_occurrence_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
