/* SPDX-License-Identifier: Apache-2.0 */
#include "chart.h"

#include <stdio.h>

static void check_list(const struct chart *chart, const struct pawl_flow_lists *lists,
                       char activity, const char *expected)
{
    struct pawl_flow_list list = pawl__flow_list(lists, (uint32_t)(activity - 'a'));
    char text[256] = "";
    size_t len = 0;

    for (uint32_t i = 0; i < list.count; i++) {
        struct pawl_str key = chart->connections[list.items[i]].key;

        len += (size_t)snprintf(text + len, sizeof text - len, "%s%.*s", i ? " " : "",
                                PAWL_STR_ARG(key));
    }
    assert_string_equal(text, expected);
}

static void check_backward(const struct chart *chart, const char *expected)
{
    char text[256] = "";
    size_t len = 0;

    for (uint32_t i = 0; i < chart->count; i++) {
        if (!chart->graph.forward[i])
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%.*s", len ? " " : "",
                                    PAWL_STR_ARG(chart->connections[i].key));
    }
    assert_string_equal(text, expected);
}

static void a_diamond_is_all_forward(void **state)
{
    struct chart chart;

    (void)state;
    chart_init(&chart, "a>b a>c b>d c>d");
    check_backward(&chart, "");
    check_list(&chart, &chart.graph.forward_inbound, 'd', "b>d c>d");
    check_list(&chart, &chart.graph.outbound, 'a', "a>b a>c");
    check_list(&chart, &chart.graph.forward_inbound, 'a', "");
    chart_release(&chart);
}

static void a_long_leg_that_arrives_after_the_short_one_is_forward(void **state)
{
    struct chart chart;

    (void)state;
    chart_init(&chart, "a>d a>b b>c c>d d>e e>f");
    check_backward(&chart, "");
    check_list(&chart, &chart.graph.forward_inbound, 'd', "a>d c>d");
    chart_release(&chart);
}

static void of_two_that_close_a_circle_the_later_one_leads_back(void **state)
{
    struct chart chart;

    (void)state;
    chart_init(&chart, "a>b a>c b>d c>e d>c e>b");
    /* Walk: b, c, d, e. d>c is taken (c leads to e only); e>b would close b>d>c>e>b. */
    check_backward(&chart, "e>b");
    check_list(&chart, &chart.graph.forward_inbound, 'c', "a>c d>c");
    check_list(&chart, &chart.graph.inbound, 'b', "a>b e>b");
    chart_release(&chart);
}

static void loops_and_self_loops_lead_back(void **state)
{
    struct chart chart;

    (void)state;
    chart_init(&chart, "a>b b>b b>c c>a c>b c>d");
    check_backward(&chart, "b>b c>a c>b");
    check_list(&chart, &chart.graph.outbound, 'b', "b>b b>c");
    chart_release(&chart);
}

static void every_port_of_a_forward_pair_counts(void **state)
{
    struct chart chart;

    (void)state;
    chart_init(&chart, "a>c a>b a:Yes>c b>c");
    check_list(&chart, &chart.graph.forward_inbound, 'c', "a>c a:Yes>c b>c");
    chart_release(&chart);
}

static void what_the_start_does_not_reach_is_dangling_and_contributes_nothing(void **state)
{
    struct chart chart;

    (void)state;
    chart_init(&chart, "a>b c>b c>d");
    check_list(&chart, &chart.graph.forward_inbound, 'b', "a>b");
    check_list(&chart, &chart.graph.inbound, 'b', "a>b c>b");
    assert_false(pawl__flow_graph_is_dangling(&chart.graph, 0));
    assert_false(pawl__flow_graph_is_dangling(&chart.graph, 1));
    assert_true(pawl__flow_graph_is_dangling(&chart.graph, 2));
    assert_true(pawl__flow_graph_is_dangling(&chart.graph, 3));
    chart_release(&chart);
}

static void ancestors_follow_forward_connections_only(void **state)
{
    struct chart chart;
    bool marks[5];

    (void)state;
    chart_init(&chart, "a>b b>c c>b a>d c>e");
    assert_code(pawl__flow_graph_ancestors(&chart.graph, &chart.alloc.base, 2, marks), PAWL_OK);
    assert_true(marks[0] && marks[1]);
    assert_false(marks[2] || marks[3] || marks[4]);
    assert_code(pawl__flow_graph_ancestors(&chart.graph, &chart.alloc.base, 1, marks), PAWL_OK);
    assert_true(marks[0]);
    assert_false(marks[1] || marks[2]);
    chart_release(&chart);
}

static bool is_valid(struct chart *chart, const char *key)
{
    bool valid = false;
    uint32_t i = 0;

    while (!pawl__str_is(chart->connections[i].key, key))
        i++;
    assert_false(chart->graph.forward[i]);
    assert_code(pawl__flow_graph_backward_valid(&chart->graph, &chart->alloc.base, i, &valid),
                PAWL_OK);
    return valid;
}

static void going_back_is_valid_only_to_where_every_way_came_through(void **state)
{
    struct chart chart;

    (void)state;
    chart_init(&chart, "a>b b>c b>d c>e d>e e>b e>c e>e e>a");
    assert_true(is_valid(&chart, "e>b"));
    assert_false(is_valid(&chart, "e>c"));
    assert_true(is_valid(&chart, "e>e"));
    assert_true(is_valid(&chart, "e>a"));
    chart_release(&chart);
}

/* ---- against the rule as it is written ---------------------------------------------------- */

static bool plain_reaches(const bool pairs[12][12], uint32_t from, uint32_t to)
{
    bool seen[12] = {false};
    uint32_t stack[12];
    uint32_t top = 0;

    stack[top++] = from;
    seen[from] = true;
    while (top > 0) {
        uint32_t at = stack[--top];

        if (at == to)
            return true;
        for (uint32_t next = 0; next < 12; next++) {
            if (pairs[at][next] && !seen[next]) {
                seen[next] = true;
                stack[top++] = next;
            }
        }
    }
    return false;
}

/* The rule word for word, with a queue that holds activities several times. */
static void plain_forward(const struct pawl_flow_connection *connections, uint32_t count,
                          bool pairs[12][12])
{
    uint32_t queue[4096];
    bool taken[12] = {false};
    uint32_t tail = 0;

    memset(pairs, 0, sizeof(bool[12][12]));
    queue[tail++] = 0;
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t source = queue[head];

        taken[source] = true;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t target = connections[i].target;

            if (connections[i].source != source || pairs[source][target] ||
                plain_reaches((const bool(*)[12])pairs, target, source))
                continue;
            pairs[source][target] = true;
            if (!taken[target])
                queue[tail++] = target;
        }
    }
}

static void agrees_with_the_plain_rule_on_random_charts(void **state)
{
    uint64_t random = 7;

    (void)state;
    for (int round = 0; round < 3000; round++) {
        struct pawl_flow_connection connections[40];
        struct test_allocator alloc;
        struct pawl_flow_graph graph;
        struct pawl_arena arena;
        bool pairs[12][12];
        uint32_t activities = (uint32_t)(test_random(&random) % 11) + 2;
        uint32_t count = 0;
        uint32_t wanted = (uint32_t)(test_random(&random) % 40);

        while (count < wanted) {
            connections[count++] = (struct pawl_flow_connection){
                .source = (uint32_t)(test_random(&random) % activities),
                .target = (uint32_t)(test_random(&random) % activities),
            };
        }
        test_allocator_init(&alloc);
        pawl__arena_init(&arena, &alloc.base, 1 << 20);
        assert_code(pawl__flow_graph_build(&arena, connections, count, activities, 0, &graph),
                    PAWL_OK);
        plain_forward(connections, count, pairs);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(graph.forward[i], pairs[connections[i].source][connections[i].target]);
        pawl__arena_release(&arena);
        assert_int_equal(alloc.live_bytes, 0);
    }
}

/* ---- large charts: these would take minutes if each connection searched the whole ---------- */

#define LARGE 50000

static struct pawl_flow_connection *large(uint32_t count)
{
    struct pawl_flow_connection *connections = test_calloc(count, sizeof *connections);

    assert_non_null(connections);
    return connections;
}

static void a_long_chain_in_which_every_step_loops_back_to_the_start_is_quick(void **state)
{
    struct pawl_flow_connection *connections = large(2 * LARGE);
    struct test_allocator alloc;
    struct pawl_flow_graph graph;
    struct pawl_arena arena;

    (void)state;
    for (uint32_t i = 0; i < LARGE; i++) {
        connections[2 * i] = (struct pawl_flow_connection){.source = i, .target = i + 1};
        connections[2 * i + 1] = (struct pawl_flow_connection){.source = i + 1, .target = i / 2};
    }
    test_allocator_init(&alloc);
    pawl__arena_init(&arena, &alloc.base, 64 << 20);
    assert_code(pawl__flow_graph_build(&arena, connections, 2 * LARGE, LARGE + 1, 0, &graph),
                PAWL_OK);
    for (uint32_t i = 0; i < LARGE; i++) {
        assert_true(graph.forward[2 * i]);
        assert_false(graph.forward[2 * i + 1]);
    }
    pawl__arena_release(&arena);
    test_free(connections);
}

static void many_legs_into_one_long_tail_are_quick(void **state)
{
    /* The start forks into legs of different length that all end in activity 1, the tail's head. */
    struct pawl_flow_connection *connections = large(3 * LARGE);
    struct test_allocator alloc;
    struct pawl_flow_graph graph;
    struct pawl_arena arena;
    uint32_t activities = LARGE;
    uint32_t count = 0;

    (void)state;
    connections[count++] = (struct pawl_flow_connection){.source = 0, .target = 1};
    for (uint32_t i = 1; i + 1 < LARGE; i++)
        connections[count++] = (struct pawl_flow_connection){.source = i, .target = i + 1};
    for (uint32_t leg = 0; activities + leg % 50 + 1 < 2 * LARGE; leg++) {
        uint32_t at = 0;

        for (uint32_t i = 0; i <= leg % 50; i++) {
            connections[count++] =
                (struct pawl_flow_connection){.source = at, .target = activities};
            at = activities++;
        }
        connections[count++] = (struct pawl_flow_connection){.source = at, .target = 1};
    }
    test_allocator_init(&alloc);
    pawl__arena_init(&arena, &alloc.base, 64 << 20);
    assert_code(pawl__flow_graph_build(&arena, connections, count, activities, 0, &graph), PAWL_OK);
    for (uint32_t i = 0; i < count; i++)
        assert_true(graph.forward[i]);
    pawl__arena_release(&arena);
    test_free(connections);
}

static int build_all(struct test_allocator *alloc, void *arg)
{
    static const struct pawl_flow_connection connections[] = {
        {.source = 0, .target = 1}, {.source = 1, .target = 2}, {.source = 2, .target = 3},
        {.source = 3, .target = 2}, {.source = 3, .target = 1}, {.source = 1, .target = 3},
    };
    struct pawl_flow_graph graph;
    struct pawl_arena arena;
    bool valid = false;
    bool marks[4];
    int status;

    (void)arg;
    pawl__arena_init(&arena, &alloc->base, 1 << 20);
    status = pawl__flow_graph_build(&arena, connections, 6, 4, 0, &graph);
    if (status == PAWL_OK)
        status = pawl__flow_graph_ancestors(&graph, &alloc->base, 3, marks);
    if (status == PAWL_OK)
        status = pawl__flow_graph_backward_valid(&graph, &alloc->base, 3, &valid);
    pawl__arena_release(&arena);
    return status;
}

static void survives_refused_allocations(void **state)
{
    (void)state;
    test_sweep_allocations(build_all, NULL, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_diamond_is_all_forward),
        cmocka_unit_test(a_long_leg_that_arrives_after_the_short_one_is_forward),
        cmocka_unit_test(of_two_that_close_a_circle_the_later_one_leads_back),
        cmocka_unit_test(loops_and_self_loops_lead_back),
        cmocka_unit_test(every_port_of_a_forward_pair_counts),
        cmocka_unit_test(what_the_start_does_not_reach_is_dangling_and_contributes_nothing),
        cmocka_unit_test(ancestors_follow_forward_connections_only),
        cmocka_unit_test(going_back_is_valid_only_to_where_every_way_came_through),
        cmocka_unit_test(agrees_with_the_plain_rule_on_random_charts),
        cmocka_unit_test(a_long_chain_in_which_every_step_loops_back_to_the_start_is_quick),
        cmocka_unit_test(many_legs_into_one_long_tail_are_quick),
        cmocka_unit_test(survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("activities/flow_graph", tests, NULL, NULL);
}
