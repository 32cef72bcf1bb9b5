/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/draw/draw.h"
#include "cli/draw/layers.h"
#include "lib/loading.h"

#include <stdio.h>
#include <string.h>

#define FLOWCHART                                                                                  \
    "{\"name\":\"N\",\"root\":{\"id\":\"f\",\"type\":\"Elsa.Flowchart\",\"activities\":["          \
    "{\"id\":\"a<&\\\"\",\"type\":\"Elsa.Start\"},{\"id\":\"b\",\"type\":\"Elsa.FlowDecision\"},"  \
    "{\"id\":\"c\",\"type\":\"Elsa.Sequence\",\"activities\":[{\"id\":\"c1\",\"type\":"            \
    "\"Elsa.WriteLine\",\"name\":\"One\"},{\"id\":\"c2\",\"type\":\"Elsa.If\",\"then\":{\"id\":"   \
    "\"t\",\"type\":\"Elsa.End\"},\"else\":{\"id\":\"e\",\"type\":\"My.Own\"}}]}],"                \
    "\"connections\":[{\"source\":{\"activity\":\"a<&\\\"\",\"port\":\"Done\"},\"target\":{"       \
    "\"activity\":\"b\"}},{\"source\":{\"activity\":\"b\",\"port\":\"True\"},\"target\":{"         \
    "\"activity\":\"c\"}},{\"source\":{\"activity\":\"c\"},\"target\":{\"activity\":\"b\"}},"      \
    "{\"source\":{\"activity\":\"c\"},\"target\":{\"activity\":\"nowhere\"}}]}}"

static void layers_go_down_and_cycles_are_cut(void **state)
{
    /* 1 -> 0 -> 2 -> 3, 0 -> 3, 3 -> 0 back, 4 alone, 2 -> 2 itself */
    struct pawl_layer_edge edges[] = {{1, 0, false}, {0, 2, false}, {2, 3, false},
                                      {0, 3, false}, {3, 0, false}, {2, 2, false}};
    static const uint32_t expected[] = {1, 0, 2, 3, 0};
    struct loading l;
    uint32_t layer[5], place[5];

    (void)state;
    loading_init(&l);
    assert_code(pawl__layers_make(&l.arena, 5, edges, 6, layer, place), PAWL_OK);
    assert_memory_equal(layer, expected, sizeof expected);
    assert_true(edges[4].back);
    assert_true(edges[5].back);
    assert_false(edges[3].back);
    assert_int_equal(place[1] + place[4], 1); /* the two of the first layer */
    loading_release(&l);
}

static void neighbours_stand_near_each_other(void **state)
{
    /* 0 -> 3, 1 -> 2: without care the lines would cross */
    struct pawl_layer_edge edges[] = {{1, 2, false}, {0, 3, false}};
    struct loading l;
    uint32_t layer[4], place[4];

    (void)state;
    loading_init(&l);
    assert_code(pawl__layers_make(&l.arena, 4, edges, 2, layer, place), PAWL_OK);
    assert_true((place[0] < place[1]) == (place[3] < place[2]));
    loading_release(&l);
}

/* How what was loaded looks. */
static struct pawl_outline outline_of(struct loading *l, const char *text)
{
    struct pawl_outline outline;

    assert_code(pawl__outline_make(loading_load(l, text), &l->arena, &outline), PAWL_OK);
    return outline;
}

static void writes_graphviz_text(void **state)
{
    struct loading l;
    struct pawl_outline outline;
    struct pawl_buf out;
    const char *text;

    (void)state;
    loading_init(&l);
    pawl__buf_init(&out, &l.alloc.base, 1 << 20);
    outline = outline_of(&l, FLOWCHART);
    pawl__draw_dot(&out, &outline);
    text = pawl__buf_cstr(&out);
    assert_non_null(strstr(text, "n2 [label=\"a<&\\\"\\nStart\"];\n"));
    assert_non_null(strstr(text, "subgraph cluster_4 {\nn4 [label=\"c\\nSequence\""));
    assert_non_null(strstr(text, "n5 [label=\"c1\\nWriteLine\\nOne\"];\n"));
    assert_non_null(strstr(text, "n2 -> n3 [label=\"Done\"];\n"));
    assert_non_null(strstr(text, "n3 -> n4 [label=\"True\"];\n"));
    assert_non_null(strstr(text, "n4 -> n3 [label=\"\"];\n"));
    assert_non_null(strstr(text, "n6 -> n8 [label=\"Else\", style=dashed];\n"));
    assert_non_null(strstr(text, "}\n}\n}\n"));
    pawl__buf_release(&out);
    loading_release(&l);
}

struct rect {
    int x, y, w, h;
};

/* The rectangles of a picture, in the order of the nodes. */
static uint32_t read_rects(const char *svg, struct rect *out, uint32_t most)
{
    uint32_t count = 0;

    for (const char *at = strstr(svg, "<rect class="); at && count < most;
         at = strstr(at + 1, "<rect class=")) {
        struct rect *r = &out[count++];

        assert_int_equal(sscanf(strchr(at, 'x'), "x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"",
                                &r->x, &r->y, &r->w, &r->h),
                         4);
    }
    return count;
}

static int inside(const struct rect *a, const struct rect *b)
{
    return a->x >= b->x && a->y >= b->y && a->x + a->w <= b->x + b->w && a->y + a->h <= b->y + b->h;
}

static int apart(const struct rect *a, const struct rect *b)
{
    return a->x + a->w <= b->x || b->x + b->w <= a->x || a->y + a->h <= b->y || b->y + b->h <= a->y;
}

static void draws_activities_inside_their_parents_and_apart_from_each_other(void **state)
{
    struct loading l;
    struct pawl_buf out;
    struct pawl_outline outline;
    struct rect rects[16];

    (void)state;
    loading_init(&l);
    pawl__buf_init(&out, &l.alloc.base, 1 << 20);
    outline = outline_of(&l, FLOWCHART);
    assert_code(pawl__draw_svg(&out, &outline), PAWL_OK);
    assert_int_equal(read_rects(pawl__buf_cstr(&out), rects, 16), outline.count);
    for (uint32_t i = 1; i < outline.count; i++) {
        assert_true(inside(&rects[i], &rects[outline.nodes[i].parent->index]));
        for (uint32_t k = 1; k < i; k++) {
            if (outline.nodes[i].parent == outline.nodes[k].parent)
                assert_true(apart(&rects[i], &rects[k]));
        }
    }
    assert_non_null(strstr(pawl__buf_cstr(&out), ">a&lt;&amp;\"<"));
    assert_non_null(strstr(pawl__buf_cstr(&out), ">True<"));
    assert_non_null(strstr(pawl__buf_cstr(&out), "class=\"missing\""));
    assert_non_null(strstr(pawl__buf_cstr(&out), "class=\"edge back\""));
    pawl__buf_release(&out);
    loading_release(&l);
}

static int draw_both(struct test_allocator *alloc, void *arg)
{
    struct pawl_outline outline;
    struct pawl_arena arena;
    struct pawl_buf out;
    int status;

    pawl__arena_init(&arena, &alloc->base, 1 << 20);
    pawl__buf_init(&out, &alloc->base, 1 << 20);
    status = pawl__outline_make(arg, &arena, &outline);
    if (status == PAWL_OK) {
        pawl__draw_dot(&out, &outline);
        status = out.status;
    }
    if (status == PAWL_OK)
        status = pawl__draw_svg(&out, &outline);
    if (status == PAWL_OK)
        status = out.status;
    pawl__buf_release(&out);
    pawl__arena_release(&arena);
    return status;
}

static void survives_refused_allocations(void **state)
{
    struct loading l;

    (void)state;
    loading_init(&l);
    loading_load(&l, FLOWCHART);
    test_sweep_allocations(draw_both, l.graph, 200);
    loading_release(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_go_down_and_cycles_are_cut),
        cmocka_unit_test(neighbours_stand_near_each_other),
        cmocka_unit_test(writes_graphviz_text),
        cmocka_unit_test(draws_activities_inside_their_parents_and_apart_from_each_other),
        cmocka_unit_test(survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("cli/draw", tests, NULL, NULL);
}
