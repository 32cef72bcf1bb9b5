/* SPDX-License-Identifier: Apache-2.0 */
#include "activities/flow_scope.h"
#include "chart.h"

/* ---- a flowchart without contexts: what was queued is a string of letters ------------------ */

struct flow {
    struct chart chart;
    struct pawl_json stored;
    struct pawl_flow_scope scope;
    enum pawl_join_mode modes[26];
    char queue[64];
    size_t queue_len;
};

static void flow_open(struct flow *flow)
{
    assert_code(pawl__flow_scope_open(&flow->scope, &flow->chart.arena, &flow->chart.graph,
                                      &flow->chart.id_list, &flow->chart.key_list, &flow->stored),
                PAWL_OK);
}

static void flow_init(struct flow *flow, const char *text)
{
    *flow = (struct flow){.stored = pawl__json_object()};
    chart_init(&flow->chart, text);
    for (size_t i = 0; i < 26; i++)
        flow->modes[i] = PAWL_JOIN_WAIT_ALL_ACTIVE;
    flow_open(flow);
}

static void flow_release(struct flow *flow)
{
    chart_release(&flow->chart);
}

static void propagate(struct flow *flow, uint32_t activity, const char *port, bool counted)
{
    const struct pawl_flow_graph *graph = &flow->chart.graph;
    struct pawl_flow_list outbound = pawl__flow_list(&graph->outbound, activity);

    if (counted)
        assert_code(pawl__flow_scope_visit(&flow->scope, activity, flow->chart.ids[activity]),
                    PAWL_OK);
    for (uint32_t i = 0; i < outbound.count; i++) {
        const struct pawl_flow_connection *c = &graph->connections[outbound.items[i]];
        bool followed = port && pawl__str_is(c->source_port, port);
        enum pawl_flow_verdict verdict;

        assert_code(pawl__flow_scope_pass(&flow->scope, outbound.items[i], followed), PAWL_OK);
        verdict = followed ? PAWL_FLOW_RUNS : PAWL_FLOW_WAITS;
        if (graph->forward[outbound.items[i]])
            verdict =
                pawl__flow_scope_verdict(&flow->scope, flow->modes[c->target], outbound.items[i]);
        if (verdict == PAWL_FLOW_RUNS)
            flow->queue[flow->queue_len++] = (char)('a' + c->target);
        else if (verdict == PAWL_FLOW_SKIPPED)
            propagate(flow, c->target, NULL, true);
    }
}

/* Ends the activity with the outcome `port` ("" the default) and says what is queued for it. */
static const char *end(struct flow *flow, char activity, const char *port)
{
    flow->queue_len = 0;
    propagate(flow, (uint32_t)(activity - 'a'), port, true);
    flow->queue[flow->queue_len] = '\0';
    return flow->queue;
}

/* a start; b, c, d its branches; e decision, f join, g behind it, h the other way, i the end. */
#define JOIN_CHART "a>b a>c a>d b>e e:True>f e:False>h c>f d>f f>g h>i g>i"

static void a_join_that_waits_for_all_is_skipped_with_all_behind_it(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow, JOIN_CHART);
    flow.modes['f' - 'a'] = PAWL_JOIN_WAIT_ALL;
    assert_string_equal(end(&flow, 'a', ""), "bcd");
    assert_string_equal(end(&flow, 'b', ""), "e");
    assert_string_equal(end(&flow, 'c', ""), "");
    assert_string_equal(end(&flow, 'd', ""), "");
    assert_string_equal(end(&flow, 'e', "False"), "h");
    assert_int_equal(flow.scope.activities['f' - 'a'].visits, 1);
    assert_int_equal(flow.scope.activities['g' - 'a'].visits, 1);
    assert_string_equal(end(&flow, 'h', ""), "i");
    assert_string_equal(end(&flow, 'i', ""), "");
    flow_release(&flow);
}

static void a_join_that_waits_for_active_ones_runs_when_one_was_followed(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow, JOIN_CHART);
    assert_string_equal(end(&flow, 'a', ""), "bcd");
    assert_string_equal(end(&flow, 'b', ""), "e");
    assert_string_equal(end(&flow, 'c', ""), "");
    assert_string_equal(end(&flow, 'd', ""), "");
    assert_string_equal(end(&flow, 'e', "False"), "fh");
    assert_string_equal(end(&flow, 'f', ""), "g");
    assert_string_equal(end(&flow, 'h', ""), "");
    assert_string_equal(end(&flow, 'g', ""), "i");
    flow_release(&flow);
}

static void a_join_that_waits_for_any_runs_at_the_first(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow, JOIN_CHART);
    flow.modes['f' - 'a'] = PAWL_JOIN_WAIT_ANY;
    assert_string_equal(end(&flow, 'a', ""), "bcd");
    assert_string_equal(end(&flow, 'c', ""), "f");
    assert_string_equal(end(&flow, 'f', ""), "g");
    /* The losers arrive no more often than the join was visited: nothing. */
    assert_string_equal(end(&flow, 'd', ""), "");
    assert_string_equal(end(&flow, 'b', ""), "e");
    assert_string_equal(end(&flow, 'e', "True"), "");
    flow_release(&flow);
}

static void a_join_that_waits_for_any_is_skipped_when_all_are_dead(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow, "a:X>b a:Y>b b>c a:Z>c");
    flow.modes[1] = PAWL_JOIN_WAIT_ANY;
    assert_string_equal(end(&flow, 'a', "Z"), "c");
    assert_int_equal(flow.scope.activities[1].visits, 1);
    flow_release(&flow);
}

static void both_ways_of_a_decision_into_one_target_run_it_once(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow, "a:True>b a:False>b");
    assert_string_equal(end(&flow, 'a', "True"), "b");
    flow_release(&flow);
}

static void a_loop_runs_again_what_lies_behind_its_head(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow, "a>b b>c c:Again>b c:Out>d");
    assert_string_equal(end(&flow, 'a', ""), "b");
    assert_string_equal(end(&flow, 'b', ""), "c");
    assert_string_equal(end(&flow, 'c', "Again"), "b");
    flow.queue_len = 0;
    propagate(&flow, 1, "", false); /* reached by the way back: not counted */
    flow.queue[flow.queue_len] = '\0';
    assert_string_equal(flow.queue, "c");
    assert_string_equal(end(&flow, 'c', "Out"), "d");
    flow_release(&flow);
}

/* ---- the stored form ----------------------------------------------------------------------- */

static void check_stored(struct flow *flow, const char *expected)
{
    struct pawl_buf text;

    pawl__buf_init(&text, &flow->chart.alloc.base, 1 << 16);
    pawl__json_write(&text, &flow->stored, PAWL_JSON_ESCAPE_MINIMAL);
    assert_string_equal(pawl__buf_cstr(&text), expected);
    pawl__buf_release(&text);
}

static void counters_are_stored_as_they_change(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow, "a:True>b a:False>c");
    check_stored(&flow, "{\"activitiesVisitCount\":{},\"connectionVisitCount\":{},"
                        "\"connectionLastVisitFollowed\":{},\"_type\":\"FlowScope\"}");
    end(&flow, 'a', "True");
    check_stored(&flow, "{\"activitiesVisitCount\":{\"a\":1,\"c\":1},"
                        "\"connectionVisitCount\":{\"a:True>b\":1,\"a:False>c\":1},"
                        "\"connectionLastVisitFollowed\":{\"a:True>b\":true,\"a:False>c\":false},"
                        "\"_type\":\"FlowScope\"}");
    end(&flow, 'a', "False");
    check_stored(&flow, "{\"activitiesVisitCount\":{\"a\":2,\"c\":1,\"b\":1},"
                        "\"connectionVisitCount\":{\"a:True>b\":2,\"a:False>c\":2},"
                        "\"connectionLastVisitFollowed\":{\"a:True>b\":false,\"a:False>c\":true},"
                        "\"_type\":\"FlowScope\"}");
    flow_release(&flow);
}

static void goes_on_from_stored_counters_and_keeps_what_it_does_not_know(void **state)
{
    static const char text[] =
        "{\"activitiesVisitCount\":{\"a\":1,\"gone\":4},"
        "\"connectionVisitCount\":{\"a>c\":1,\"a>b\":1,\"gone>b\":4},"
        "\"connectionLastVisitFollowed\":{\"a>b\":true,\"a>c\":true},\"_type\":\"FlowScope\"}";
    struct flow flow;

    (void)state;
    flow_init(&flow, "a>b a>c b>d c>d");
    assert_code(
        pawl__json_parse(&flow.chart.arena, pawl__str(text), NULL, &flow.stored, NULL, NULL),
        PAWL_OK);
    flow_open(&flow);
    assert_int_equal(pawl__flow_scope_first(&flow.stored, &flow.chart.id_list), 0);
    assert_string_equal(end(&flow, 'b', ""), "");
    assert_string_equal(end(&flow, 'c', ""), "d");
    check_stored(&flow,
                 "{\"activitiesVisitCount\":{\"a\":1,\"gone\":4,\"b\":1,\"c\":1},"
                 "\"connectionVisitCount\":{\"a>c\":1,\"a>b\":1,\"gone>b\":4,\"b>d\":1,\"c>d\":1},"
                 "\"connectionLastVisitFollowed\":{\"a>b\":true,\"a>c\":true,\"b>d\":true,"
                 "\"c>d\":true},\"_type\":\"FlowScope\"}");
    flow_release(&flow);
}

static void damaged_counters_begin_anew(void **state)
{
    static const char text[] = "{\"activitiesVisitCount\":[1],\"connectionVisitCount\":{\"a>b\":"
                               "\"x\"},\"connectionLastVisitFollowed\":{\"a>b\":7}}";
    struct flow flow;

    (void)state;
    flow_init(&flow, "a>b");
    assert_code(
        pawl__json_parse(&flow.chart.arena, pawl__str(text), NULL, &flow.stored, NULL, NULL),
        PAWL_OK);
    assert_int_equal(pawl__flow_scope_first(&flow.stored, &flow.chart.id_list), PAWL_FLOW_NONE);
    flow_open(&flow);
    assert_string_equal(end(&flow, 'a', ""), "b");
    flow_release(&flow);
}

static int count_all(struct test_allocator *alloc, void *arg)
{
    const struct chart *chart = arg;
    struct pawl_json stored = pawl__json_object();
    struct pawl_flow_scope scope;
    struct pawl_arena arena;
    int status;

    pawl__arena_init(&arena, &alloc->base, 1 << 20);
    status = pawl__flow_scope_open(&scope, &arena, &chart->graph, &chart->id_list, &chart->key_list,
                                   &stored);
    for (uint32_t i = 0; i < chart->count && status == PAWL_OK; i++) {
        status = pawl__flow_scope_visit(&scope, chart->connections[i].source,
                                        chart->ids[chart->connections[i].source]);
        if (status == PAWL_OK)
            status = pawl__flow_scope_pass(&scope, i, true);
    }
    pawl__arena_release(&arena);
    return status;
}

static void survives_refused_allocations(void **state)
{
    struct chart chart;

    (void)state;
    chart_init(&chart, JOIN_CHART);
    test_sweep_allocations(count_all, &chart, 100);
    chart_release(&chart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_join_that_waits_for_all_is_skipped_with_all_behind_it),
        cmocka_unit_test(a_join_that_waits_for_active_ones_runs_when_one_was_followed),
        cmocka_unit_test(a_join_that_waits_for_any_runs_at_the_first),
        cmocka_unit_test(a_join_that_waits_for_any_is_skipped_when_all_are_dead),
        cmocka_unit_test(both_ways_of_a_decision_into_one_target_run_it_once),
        cmocka_unit_test(a_loop_runs_again_what_lies_behind_its_head),
        cmocka_unit_test(counters_are_stored_as_they_change),
        cmocka_unit_test(goes_on_from_stored_counters_and_keeps_what_it_does_not_know),
        cmocka_unit_test(damaged_counters_begin_anew),
        cmocka_unit_test(survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("activities/flow_scope", tests, NULL, NULL);
}
