/* SPDX-License-Identifier: Apache-2.0 */
#include "activities/flow_tokens.h"
#include "chart.h"

struct flow {
    struct chart chart;
    struct pawl_json stored;
    struct pawl_flow_tokens tokens;
};

static void flow_open(struct flow *flow)
{
    assert_code(pawl__flow_tokens_open(&flow->tokens, &flow->chart.arena, &flow->chart.graph,
                                       &flow->chart.id_list, &flow->stored),
                PAWL_OK);
}

static void flow_init(struct flow *flow, const char *text)
{
    *flow = (struct flow){.stored = pawl__json_object()};
    chart_init(&flow->chart, text);
    flow_open(flow);
}

static void flow_release(struct flow *flow)
{
    chart_release(&flow->chart);
}

static uint32_t number(const struct flow *flow, const char *key)
{
    return pawl__flow_names_find(&flow->chart.key_list, pawl__str(key));
}

static void add(struct flow *flow, const char *key, bool blocked)
{
    const struct pawl_flow_connection *c = &flow->chart.connections[number(flow, key)];

    assert_code(pawl__flow_tokens_add(&flow->tokens, number(flow, key),
                                      (struct pawl_flow_party){.id = flow->chart.ids[c->source]},
                                      (struct pawl_flow_party){.id = flow->chart.ids[c->target]},
                                      blocked),
                PAWL_OK);
}

static void consume(struct flow *flow, char activity)
{
    assert_code(pawl__flow_tokens_consume(&flow->tokens, (uint32_t)(activity - 'a')), PAWL_OK);
}

static bool ready(struct flow *flow, enum pawl_merge_mode mode, const char *key)
{
    return pawl__flow_tokens_ready(&flow->tokens, mode, number(flow, key));
}

static void check_stored(struct flow *flow, const char *expected)
{
    struct pawl_buf text;

    pawl__buf_init(&text, &flow->chart.alloc.base, 1 << 16);
    pawl__json_write(&text, &flow->stored, PAWL_JSON_ESCAPE_MINIMAL);
    assert_string_equal(pawl__buf_cstr(&text), expected);
    pawl__buf_release(&text);
}

static void merge_modes_are_named_without_case_and_unknown_ones_stream(void **state)
{
    (void)state;
    assert_int_equal(pawl__merge_mode_named(pawl__str("race")), PAWL_MERGE_RACE);
    assert_int_equal(pawl__merge_mode_named(pawl__str("Cascade")), PAWL_MERGE_CASCADE);
    assert_int_equal(pawl__merge_mode_named(pawl__str("MERGE")), PAWL_MERGE_MERGE);
    assert_int_equal(pawl__merge_mode_named(pawl__str("Converge")), PAWL_MERGE_CONVERGE);
    assert_int_equal(pawl__merge_mode_named(pawl__str("None")), PAWL_MERGE_STREAM);
    assert_int_equal(pawl__merge_mode_named(pawl__str("")), PAWL_MERGE_STREAM);
    assert_int_equal(pawl__merge_mode_named(pawl__str("Zip")), PAWL_MERGE_STREAM);
}

static void a_stream_waits_while_something_before_it_is_under_way(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow, "a>b a>c b>d c>d");
    add(&flow, "a>b", false);
    add(&flow, "a>c", false);
    add(&flow, "b>d", false);
    consume(&flow, 'b');
    assert_false(ready(&flow, PAWL_MERGE_STREAM, "b>d"));
    add(&flow, "c>d", false);
    consume(&flow, 'c');
    assert_true(ready(&flow, PAWL_MERGE_STREAM, "c>d"));
    flow_release(&flow);
}

static void a_merge_needs_a_token_on_every_forward_connection(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow, "a>b a>c b>d c:Yes>d c:No>d d>e e>d");
    add(&flow, "b>d", false);
    assert_false(ready(&flow, PAWL_MERGE_MERGE, "b>d"));
    add(&flow, "c:Yes>d", false);
    assert_false(ready(&flow, PAWL_MERGE_MERGE, "c:Yes>d"));
    add(&flow, "c:No>d", false);
    assert_true(ready(&flow, PAWL_MERGE_MERGE, "c:No>d"));
    assert_false(ready(&flow, PAWL_MERGE_CONVERGE, "c:No>d"));
    add(&flow, "e>d", false);
    assert_true(ready(&flow, PAWL_MERGE_CONVERGE, "c:No>d"));
    consume(&flow, 'd');
    assert_false(ready(&flow, PAWL_MERGE_MERGE, "b>d"));
    flow_release(&flow);
}

static void one_way_in_needs_no_merging(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow, "a>b b>b");
    assert_true(ready(&flow, PAWL_MERGE_MERGE, "a>b"));
    assert_false(ready(&flow, PAWL_MERGE_CONVERGE, "a>b"));
    flow_release(&flow);
}

static void a_blocked_token_stops_one_arrival(void **state)
{
    struct flow flow;
    bool found;

    (void)state;
    flow_init(&flow, "a>b a>c b>d c>d");
    assert_code(pawl__flow_tokens_unblock(&flow.tokens, number(&flow, "b>d"), &found), PAWL_OK);
    assert_false(found);
    add(&flow, "c>d", true);
    assert_int_equal(flow.tokens.live_count, 0);
    assert_code(pawl__flow_tokens_unblock(&flow.tokens, number(&flow, "c>d"), &found), PAWL_OK);
    assert_true(found);
    pawl__flow_tokens_purge(&flow.tokens, 3);
    assert_int_equal(flow.tokens.count, 0);
    flow_release(&flow);
}

static void tokens_are_stored_as_they_change(void **state)
{
    struct flow flow;

    (void)state;
    flow_init(&flow, "a:Done>b a>c");
    add(&flow, "a:Done>b", false);
    add(&flow, "a>c", true);
    consume(&flow, 'b');
    check_stored(&flow, "{\"_items\":[{\"fromActivityId\":\"a\",\"outcome\":\"Done\","
                        "\"toActivityId\":\"b\",\"consumed\":true,\"blocked\":false},"
                        "{\"fromActivityId\":\"a\",\"toActivityId\":\"c\",\"consumed\":false,"
                        "\"blocked\":true}],\"_type\":\"List<Token>\"}");
    pawl__flow_tokens_purge(&flow.tokens, 1);
    pawl__flow_tokens_purge(&flow.tokens, 2);
    check_stored(&flow, "{\"_items\":[{\"fromActivityId\":\"a\",\"toActivityId\":\"c\","
                        "\"consumed\":false,\"blocked\":true}],\"_type\":\"List<Token>\"}");
    pawl__flow_tokens_forget(&flow.tokens, 0);
    check_stored(&flow, "{\"_items\":[],\"_type\":\"List<Token>\"}");
    flow_release(&flow);
}

static void goes_on_from_stored_tokens(void **state)
{
    static const char text[] =
        "{\"_items\":[{\"fromActivityId\":\"b\",\"toActivityId\":\"d\",\"consumed\":false,"
        "\"blocked\":false},7,{\"fromActivityId\":\"gone\",\"toActivityId\":\"also\","
        "\"consumed\":false,\"blocked\":false}],\"_type\":\"List<Token>\"}";
    struct flow flow;

    (void)state;
    flow_init(&flow, "a>b a>c b>d c>d");
    assert_code(
        pawl__json_parse(&flow.chart.arena, pawl__str(text), NULL, &flow.stored, NULL, NULL),
        PAWL_OK);
    flow_open(&flow);
    assert_int_equal(flow.tokens.count, 2);
    assert_int_equal(flow.tokens.live_count, 2);
    add(&flow, "c>d", false);
    assert_true(ready(&flow, PAWL_MERGE_MERGE, "c>d"));
    pawl__flow_tokens_clear(&flow.tokens);
    assert_int_equal(flow.tokens.live_count, 0);
    check_stored(&flow, "{\"_items\":[],\"_type\":\"List<Token>\"}");
    flow_release(&flow);
}

static int use_all(struct test_allocator *alloc, void *arg)
{
    const struct chart *chart = arg;
    struct pawl_json stored = pawl__json_object();
    struct pawl_flow_tokens tokens;
    struct pawl_arena arena;
    int status;

    pawl__arena_init(&arena, &alloc->base, 1 << 20);
    status = pawl__flow_tokens_open(&tokens, &arena, &chart->graph, &chart->id_list, &stored);
    for (uint32_t i = 0; i < 100 && status == PAWL_OK; i++)
        status = pawl__flow_tokens_add(&tokens, i % chart->count,
                                       (struct pawl_flow_party){.id = chart->ids[0]},
                                       (struct pawl_flow_party){.id = chart->ids[1]}, false);
    if (status == PAWL_OK)
        status = pawl__flow_tokens_consume(&tokens, 1);
    pawl__arena_release(&arena);
    return status;
}

static void survives_refused_allocations(void **state)
{
    struct chart chart;

    (void)state;
    chart_init(&chart, "a>b a>c b>d c>d");
    test_sweep_allocations(use_all, &chart, 100);
    chart_release(&chart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merge_modes_are_named_without_case_and_unknown_ones_stream),
        cmocka_unit_test(a_stream_waits_while_something_before_it_is_under_way),
        cmocka_unit_test(a_merge_needs_a_token_on_every_forward_connection),
        cmocka_unit_test(one_way_in_needs_no_merging),
        cmocka_unit_test(a_blocked_token_stops_one_arrival),
        cmocka_unit_test(tokens_are_stored_as_they_change),
        cmocka_unit_test(goes_on_from_stored_tokens),
        cmocka_unit_test(survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("activities/flow_tokens", tests, NULL, NULL);
}
