/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/loading.h"

static void finds_nodes_by_node_id_and_by_activity_id(void **state)
{
    struct loading l;
    struct pawl_graph *graph;

    (void)state;
    loading_init(&l);
    graph = loading_load(
        &l, "{\"root\":{\"id\":\"s\",\"type\":\"Elsa.Sequence\",\"activities\":["
            "{\"id\":\"one\",\"type\":\"Elsa.WriteLine\"},{\"id\":\"box\",\"type\":"
            "\"Elsa.Sequence\",\"activities\":[{\"id\":\"two\",\"type\":\"Elsa.WriteLine\"}]},"
            "{\"id\":\"two\",\"type\":\"Elsa.WriteLine\"},{\"id\":\"none\",\"type\":"
            "\"Elsa.WriteLine\"}]}}");
    assert_ptr_equal(pawl__graph_node(graph, pawl__str("Workflow1")), graph->root);
    assert_ptr_equal(pawl__graph_node(graph, pawl__str("Workflow1:s:one")), graph->nodes[2]);
    assert_null(pawl__graph_node(graph, pawl__str("s:one")));
    /* its own id, although another node id ends with it too */
    assert_ptr_equal(pawl__graph_activity(graph, pawl__str("one")), graph->nodes[2]);
    /* several have it */
    assert_null(pawl__graph_activity(graph, pawl__str("two")));
    /* the end of exactly one node id */
    assert_ptr_equal(pawl__graph_activity(graph, pawl__str("box:two")), graph->nodes[4]);
    assert_ptr_equal(pawl__graph_activity(graph, pawl__str("x")), graph->nodes[3]);
    assert_null(pawl__graph_activity(graph, pawl__str("wo")));
    assert_null(pawl__graph_activity(graph, pawl__str("three")));
    assert_null(pawl__graph_activity(graph, pawl__str("")));
    loading_release(&l);
}

static void lives_until_the_last_reference_goes(void **state)
{
    struct loading l;
    struct pawl_graph *graph;
    size_t live;

    (void)state;
    loading_init(&l);
    live = l.alloc.live_count;
    graph = loading_load(&l, "{}");
    assert_ptr_equal(pawl__graph_ref(graph), graph);
    pawl__graph_unref(graph);
    assert_str(graph->root->id, "Workflow1");
    pawl__graph_unref(graph);
    l.graph = NULL;
    pawl__graph_unref(NULL);
    pawl__arena_release(&l.arena);
    assert_int_equal(l.alloc.live_count, live);
    loading_release(&l);
}

static void keeps_nothing_of_the_definition_it_was_given(void **state)
{
    struct loading l;
    struct pawl_arena arena;
    struct pawl_json json;
    struct pawl_graph *graph;

    (void)state;
    loading_init(&l);
    pawl__arena_init(&arena, &l.alloc.base, 1 << 20);
    assert_ok(pawl__json_parse(&arena,
                               pawl__str("{\"name\":\"N\",\"root\":{\"id\":\"a\",\"type\":"
                                         "\"Elsa.WriteLine\",\"text\":\"t\"}}"),
                               NULL, &json, NULL, &l.err),
              &l.err);
    assert_ok(pawl__graph_load(&l.engine, &l.alloc.base, &json, NULL, NULL, NULL, &graph, &l.err),
              &l.err);
    pawl__arena_release(&arena);
    assert_str(graph->workflow->name, "N");
    assert_str(graph->nodes[1]->node_id, "Workflow1:a");
    assert_str(pawl__json_str(&graph->nodes[1]->inputs[0].expression.value), "t");
    pawl__graph_unref(graph);
    loading_release(&l);
}

static void names_workflows_as_activity_types(void **state)
{
    static const char *const cases[][2] = {
        {"Grand Child", "GrandChild"},
        {"CacheInvalidation_Child", "CacheInvalidationChild"},
        {"Input Output Logging 3 - Child", "InputOutputLogging3-Child"},
        {"child1", "Child1"},
        {"a  b", "AB"},
        {"_x", "_x"},
        {"x_", "X_"},
        {"", ""},
        {"éa b", "éaB"},
    };
    struct loading l;

    (void)state;
    loading_init(&l);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_str(pawl__workflow_type_name(&l.arena, pawl__str(cases[i][0])), cases[i][1]);
    loading_release(&l);
}

static void the_engine_keeps_the_highest_version_of_a_type(void **state)
{
    static const struct pawl_activity one = {.type = "T", .version = 1};
    static const struct pawl_activity two = {.type = "T", .version = 2};
    static const struct pawl_activity again = {.type = "T", .version = 2};
    static const struct pawl_expression_ops script = {.type = "Script"};
    struct test_allocator alloc;
    struct pawl_engine engine;

    (void)state;
    test_allocator_init(&alloc);
    pawl__engine_init(&engine, &alloc.base, (struct pawl_hash_seed){1, 2});
    assert_null(pawl__engine_activity(&engine, pawl__str("T")));
    assert_code(pawl__engine_add_activity(&engine, &two), PAWL_OK);
    assert_code(pawl__engine_add_activity(&engine, &one), PAWL_OK);
    assert_ptr_equal(pawl__engine_activity(&engine, pawl__str("T")), &two);
    assert_code(pawl__engine_add_activity(&engine, &again), PAWL_OK);
    assert_ptr_equal(pawl__engine_activity(&engine, pawl__str("T")), &again);
    assert_code(pawl__engine_add_expression(&engine, &script), PAWL_OK);
    assert_ptr_equal(pawl__engine_expression(&engine, pawl__str("Script")), &script);
    assert_null(pawl__engine_expression(&engine, pawl__str("script")));
    assert_int_equal(engine.yield_after, 10000);
    pawl__engine_release(&engine);
    assert_int_equal(alloc.live_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_nodes_by_node_id_and_by_activity_id),
        cmocka_unit_test(lives_until_the_last_reference_goes),
        cmocka_unit_test(keeps_nothing_of_the_definition_it_was_given),
        cmocka_unit_test(names_workflows_as_activity_types),
        cmocka_unit_test(the_engine_keeps_the_highest_version_of_a_type),
    };

    return cmocka_run_group_tests_name("engine/graph", tests, NULL, NULL);
}
