/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs, tags, expressions, and what is no template. */
#include "expressions/liquid/liquid_render.h"

static void prints_text_and_outputs(void **state)
{
    static const struct example examples[] = {
        {"plain { text } %}", "plain { text } %}"},
        {"{{ 'a' }}{{\"b\"}}", "ab"},
        {"{{ 'it\\'s' }}{{ \"\\u00e9\\n\\ud83d\\ude00\" }}", "it'sé\n😀"},
        {"{{ true }} {{ false }} {{ nil }}|{{ blank }}|{{ empty }}|", "true false |||"},
        {"{{ 1.10 }} {{ 4.0 }} {{ -3 }} {{ 1000000000000 }}", "1.1 4.0 -3 1000000000000"},
        {"{{ Variables.Nums }} {{ Variables.Item }}|", "312 |"},
        {"{{ Variables.When }} {{ Variables.Offset }}",
         "2024-02-29 12:00:00Z 2024-02-29 10:30:15Z"},
        {"{{ Variables.Span }} {{ Variables.Bytes }}", "1970-01-01 00:05:00Z 12"},
        {"{{ Variables.Ratio }} {{ Variables.Exact }} {{ Variables.Exact | append: '' }}",
         "0.25 1.1 1.10"},
        {"{{ 1 == 1 }} {{ 1 > 2 }}", "true false"},
        {"{{ CorrelationId }} {{ ExpressionExecutionContext.Variables.Count }}", "order-1 7"},
        {"{{ 'a' | no_such_filter: 1, x: 2 }}", "a"},
        {"{{ Variables.Größe }}|", "|"},
    };

    (void)state;
    assert_renders(examples);
}

static void reaches_members_and_items(void **state)
{
    static const struct example examples[] = {
        {"{{ Variables.Item.name }} {{ Variables.Item['price'] }} {{ Variables['Count'] }}",
         "Pen 12.5 7"},
        {"{{ Variables.Nums[0] }}{{ Variables.Nums[-1] }}{{ Variables.Nums[9] }}|", "32|"},
        {"{{ Variables.Item.tags[1] }} {{ Variables.Item.deep.k }}", "y 1"},
        {"{{ Variables.Item.missing.deeper }}|{{ Missing.x[0] }}|{{ Input.X }}|", "|||"},
        {"{{ Variables.Nums.size }}{{ Variables.Nums.first }}{{ Variables.Nums.last }}", "332"},
        {"{{ Variables.Item.size }} {{ Variables.Name.size }}", "4 11"},
        {"{{ Variables.Name.first }}{{ Variables.Name.last }}{{ Variables.Name[0] }}|", "Hd|"},
        {"{% assign k = 'name' %}{{ Variables.Item[k] }}", "Pen"},
        {"{% assign i = 1 %}{{ Variables.Item.tags[i] }}", "y"},
    };

    (void)state;
    assert_renders(examples);
}

static void json_nodes_print_but_do_not_count(void **state)
{
    static const struct example prints[] = {
        {"{{ Variables.Node.n }} {{ Variables.Node.s }} {{ Variables.Node.l | join: ',' }}",
         "5 t 1,true"},
    };
    static const struct example raises[] = {
        {"{{ Variables.Node.n | plus: 1 }}", "InvalidCastException"},
    };

    (void)state;
    assert_renders(prints);
    assert_raises(raises);
}

static void takes_branches(void **state)
{
    static const struct example examples[] = {
        {"{% if Variables.Flag %}a{% else %}b{% endif %}", "a"},
        {"{% if Variables.Off %}a{% elsif 1 > 2 %}b{% elsif true %}c{% else %}d{% endif %}", "c"},
        {"{% if Variables.None %}a{% endif %}|", "|"},
        {"{% unless Variables.Off %}U{% else %}u{% endunless %}", "U"},
        {"{% unless true %}U{% elsif true %}e{% else %}u{% endunless %}", "e"},
        {"{% case Variables.Count %} x {% when 1 %}one{% when 6, 7 %}few{% else %}many{% endcase "
         "%}",
         "few"},
        {"{% case 'b' %}{% when 'a' or 'b' %}ab{% endcase %}", "ab"},
        {"{% case 10.5 %}{% when 1 %}one{% else %}many{% endcase %}", "many"},
        {"{% case 1 %}{% endcase %}|", "|"},
    };

    (void)state;
    assert_renders(examples);
}

static void compares(void **state)
{
    static const struct example examples[] = {
        {"{{ 1 == 1.0 }}{{ 1 != 2 }}{{ 1 <> 1 }}", "truetruefalse"},
        {"{{ 2 < 10 }}{{ 2 >= 2 }}{{ 2 <= 1 }}", "truetruefalse"},
        {"{{ 'a' < 'b' }}{{ 'a' == 'A' }}", "truefalse"},
        {"{{ nil > 1 }}{{ nil >= nil }}{{ nil == false }}", "falsetruefalse"},
        {"{{ '' == empty }}{{ Variables.Empty == empty }}{{ ' ' == blank }}{{ nil == blank }}",
         "truetruetruetrue"},
        {"{{ Variables.Nums == Variables.Nums }}{{ Variables.Item == Variables.Item }}",
         "truetrue"},
        {"{{ 'abc' contains 'bc' }}{{ Variables.Nums contains 2 }}{{ Variables.Nums contains 9 }}",
         "truetruefalse"},
        {"{{ 'abc' startswith 'ab' }}{{ 'abc' endswith 'ab' }}", "truefalse"},
        /* From the right: true or (false and false). */
        {"{{ true or false and false }}{{ false and false or true }}", "truefalse"},
        {"{{ Variables.When == Variables.When }}{{ Variables.When < Variables.Offset }}",
         "truefalse"},
    };

    (void)state;
    assert_renders(examples);
}

static void loops(void **state)
{
    static const struct example examples[] = {
        {"{% for i in (1..3) %}{{ i }}{% endfor %}", "123"},
        {"{% for i in (3..1) %}{{ i }}{% else %}none{% endfor %}", "none"},
        {"{% for i in Variables.Nums reversed %}{{ forloop.index }}:{{ i }} {% endfor %}",
         "1:2 2:1 3:3 "},
        {"{% for i in (1..5) limit: 2 offset: 1 %}{{ i }}{% endfor %}", "23"},
        {"{% for i in (1..5) limit: -2 %}{{ i }}{% endfor %}", "123"},
        /* Counted over the whole source, as in the reference. */
        {"{% for i in (1..3) offset: 1 %}{{ forloop.index }}{{ forloop.first }}{% endfor %}",
         "2false3false"},
        {"{% for i in (1..6) limit: 2 %}{{ i }}{% endfor %}"
         "{% assign n = Variables.Nums %}{% for i in n limit: 2 %}{{ i }}{% endfor %}-"
         "{% for i in n offset: continue %}{{ i }}{% endfor %}",
         "1231-2"},
        {"{% for i in (1..4) %}{% if i == 2 %}{% continue %}{% endif %}"
         "{% if i == 4 %}{% break %}{% endif %}{{ i }}{% endfor %}",
         "13"},
        {"{% for i in (1..2) %}{% for j in (1..2) %}{{ forloop.parentloop.index }}{{ forloop.index "
         "}}{% if j == 1 %}{% break %}{% endif %}{% endfor %}{{ forloop.rindex }}{% endfor %}",
         "112211"},
        {"{% for i in Variables.Nums %}{{ i }}{% unless forloop.last %},{% endunless %}{% endfor "
         "%}",
         "3,1,2"},
        {"{% for kv in Variables.Item.deep %}{{ kv }} {{ kv[0] }}={{ kv[1] }}{% endfor %}",
         "k1 k=1"},
        {"{% for c in Variables.None %}x{% else %}e{% endfor %}{% for c in 'ab' %}{{ c }}{% endfor "
         "%}",
         "eab"},
        {"{% for i in (1..2) %}{{ forloop.length }}{{ forloop.index0 }}{{ forloop.rindex0 }} "
         "{% endfor %}{{ i }}|",
         "201 210 |"},
    };

    (void)state;
    assert_renders(examples);
}

static void assigns_captures_and_counts(void **state)
{
    static const struct example examples[] = {
        {"{% assign q = 3 | times: 2 %}{{ q }}-{{ q | minus: 1 }}", "6-5"},
        {"{% for i in (1..2) %}{% assign q = i %}{% endfor %}{{ q }}", "2"},
        {"{% capture z %}<{{ 1 }}>{% endcapture %}{{ z }}{{ z }}", "<1><1>"},
        {"{% capture 'z' %}a{% endcapture %}{{ z }}", "a"},
        {"{% increment a %}{% increment a %}{% decrement b %}{% decrement b %}{{ a }}|", "01-1-2|"},
        {"{% for i in (1..3) %}{% cycle 'a', 'b' %}{% endfor %}", "aba"},
        {"{% cycle 'g': 1, 2 %}{% cycle 'h': 1, 2 %}{% cycle 'g': 1, 2 %}", "112"},
        {"{% echo 'x' | upcase %}", "X"},
    };

    (void)state;
    assert_renders(examples);
}

static void keeps_raw_text_and_drops_comments(void **state)
{
    static const struct example examples[] = {
        {"{% raw %}{{ x }}{% y %}{% endraw %}", "{{ x }}{% y %}"},
        {"a {%- raw -%} {{ x }} {%- endraw -%} b", "a{{ x }}b"},
        {"a{% comment %}{{ 'x' {% if %} it's {% endcomment %}b", "ab"},
        {"a{% comment it's %}x{% endcomment %}b", "ab"},
        {"a{% # it's a note %}b", "ab"},
    };

    (void)state;
    assert_renders(examples);
}

static void trims_white_space(void **state)
{
    static const struct example examples[] = {
        {"A {%- if true -%} B {%- endif -%} C", "ABC"},
        {"a \n{{- 'b' -}}\t c", "abc"},
        {"{{ Variables.Count-}} x", "7x"},
        {"a  {{ 'b' }}  c", "a  b  c"},
    };

    (void)state;
    assert_renders(examples);
}

static void reads_tags_line_by_line(void **state)
{
    static const struct example examples[] = {
        {"{% liquid\n  assign a = 2\n\n  # it's a note\n  if a > 1\n    echo 'many'\n  endif\n"
         "  for i in (1..2)\n    echo i\n  endfor\n  comment\n  x y z\n  endcomment\n%}.",
         "many12."},
        {"{% liquid echo 1 %}{%- liquid -%} a", "1a"},
    };

    (void)state;
    assert_renders(examples);
}

static void refuses_what_is_no_template(void **state)
{
    static const struct example examples[] = {
        {"{% nope %}", "Unknown tag 'nope' at (1:4)"},
        {"{{ unclosed", "End of tag '}}' was expected at (1:12)"},
        {"a\nb {{ 'x'[2] }}", "End of tag '}}' was expected at (2:9)"},
        {"{% for %}", "Invalid 'for' tag: a name was expected at (1:8)"},
        {"{% for i of x %}{% endfor %}", "'in' was expected"},
        {"{% for i in x size: 2 %}{% endfor %}", "limit:, offset: or reversed"},
        {"{% if %}x{% endif %}", "A value was expected"},
        {"{% if true %}x", "'{% endif %}' was expected at (1:15)"},
        {"{% if true %}x{% else %}y{% else %}{% endif %}", "'endif' was expected"},
        {"{% endif %}", "Unknown tag 'endif'"},
        {"{% raw %}x", "'{% endraw %}' was expected"},
        {"{% assign a 1 %}", "'=' was expected"},
        {"{{ 'a' | }}", "A filter was expected"},
        {"{{ a. }}", "A name was expected"},
        {"{{ a[1 }}", "']' was expected"},
        {"{{ (1..2 }}", "')' was expected"},
        {"{{ 'a }}", "A value was expected"},
        {"{{ '\\q' }}", "A valid escape was expected"},
        {"{{ 99999999999999999999999999999999 }}", "A smaller number was expected"},
        {"{% %}", "The name of a tag was expected"},
        {"{% liquid\n if true\n %}", "'{% endif %}' was expected"},
        {"é{% nope %}", "(1:5)"},
    };

    (void)state;
    assert_raises(examples);
}

static void bounds_what_a_template_takes(void **state)
{
    static const struct example examples[] = {
        {"{% for i in (1..2000000) %}{% endfor %}", "too many steps"},
        {"{% for i in (1..900) %}{% for j in (1..900) %}{{ i }}{% endfor %}{% endfor %}",
         "too many steps"},
        {"{% assign a = 'xxxxxxxxxxxxxxxx' %}{% for i in (1..30) %}"
         "{% assign a = a | append: a %}{% endfor %}",
         "too much"},
        {"{% for i in (1..99999999999) %}{% endfor %}", "OverflowException"},
        {"{{ a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[1]]]]]]]]]]]]]]]]]] }}", "simpler expression"},
    };
    struct fixture fixture;
    struct pawl_buf deep;

    (void)state;
    assert_raises(examples);
    fixture_open(&fixture);
    pawl__buf_init(&deep, &fixture.alloc.base, 1 << 20);
    for (int i = 0; i < 1000; i++)
        pawl__buf_text(&deep, "{% if true %}");
    assert_code(fixture_render(&fixture, pawl__buf_peek(&deep)), ENGINE_RAISED);
    assert_non_null(strstr(fixture.raised.message.ptr, "Fewer nested tags"));
    pawl__buf_release(&deep);
    fixture_close(&fixture);
}

static int render_all(struct test_allocator *alloc, void *arg)
{
    static const char text[] =
        "{% assign a = Variables.Items | sort: 'a' | map: 'b' | join: ',' | upcase %}{{ a }}"
        "{% for i in (1..3) %}{% capture c %}{{ i | append: 'x' }}{% endcapture %}{{ c }}"
        "{% endfor %}{{ Variables.Item | json }}{{ 'a,b' | split: ',' | reverse }}"
        "{{ Variables.When | time_zone: 'Europe/Berlin' }}";
    struct fixture fixture;
    struct pawl_liquid_scope scope = {
        .variable = fixture_variable, .ctx = &fixture, .timezone = fixture_timezone};
    int status;

    (void)arg;
    pawl__arena_init(&fixture.arena, &alloc->base, LIQUID_ARENA_BYTES_MAX);
    pawl__buf_init(&fixture.out, &alloc->base, LIQUID_OUTPUT_BYTES_MAX);
    status =
        pawl__liquid_render(&fixture.arena, pawl__str(text), &scope, &fixture.out, &fixture.raised);
    /* A variable that could not be read for want of memory shows as the arena's status. */
    if (status == PAWL_OK && fixture.arena.status != PAWL_OK)
        status = fixture.arena.status;
    pawl__buf_release(&fixture.out);
    pawl__arena_release(&fixture.arena);
    return status;
}

static void survives_any_refused_allocation(void **state)
{
    (void)state;
    test_sweep_allocations(render_all, NULL, 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_text_and_outputs),
        cmocka_unit_test(reaches_members_and_items),
        cmocka_unit_test(json_nodes_print_but_do_not_count),
        cmocka_unit_test(takes_branches),
        cmocka_unit_test(compares),
        cmocka_unit_test(loops),
        cmocka_unit_test(assigns_captures_and_counts),
        cmocka_unit_test(keeps_raw_text_and_drops_comments),
        cmocka_unit_test(trims_white_space),
        cmocka_unit_test(reads_tags_line_by_line),
        cmocka_unit_test(refuses_what_is_no_template),
        cmocka_unit_test(bounds_what_a_template_takes),
        cmocka_unit_test(survives_any_refused_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
