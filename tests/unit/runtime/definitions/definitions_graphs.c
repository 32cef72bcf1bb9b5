/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of definitions in a store, and those that use each other. */
#include "unit/runtime/definitions/defining.h"

/* ---- graphs -------------------------------------------------------------------------------- */

static struct pawl_graph *graph_of(struct fixture *f, struct pawl_definitions *definitions,
                                   struct pawl_str version_id)
{
    struct pawl_graph *graph;

    assert_ok(pawl__definitions_graph(definitions, version_id, &graph, PAWL_FOREVER, &f->err),
              &f->err);
    return graph;
}

static struct pawl_graph *published_graph(struct fixture *f, struct pawl_definitions *definitions,
                                          const char *id)
{
    struct pawl_graph *graph;

    assert_ok(
        pawl__definitions_published(definitions, pawl__str(id), &graph, PAWL_FOREVER, &f->err),
        &f->err);
    return graph;
}

static void graphs_are_loaded_once_and_by_either_id(void **state)
{
    struct fixture *f = *state;
    struct pawl_definition_row row = define(f, "a", LINE("1"));
    struct pawl_graph *first = graph_of(f, f->definitions, row.id);
    struct pawl_graph *again = graph_of(f, f->definitions, row.id);
    struct pawl_graph *published = published_graph(f, f->definitions, "a");
    struct pawl_graph *none;

    assert_ptr_equal(first, again);
    assert_ptr_equal(first, published);
    pawl__graph_unref(first);
    pawl__graph_unref(again);
    pawl__graph_unref(published);
    assert_code(
        pawl__definitions_graph(f->definitions, pawl__str("x"), &none, PAWL_FOREVER, &f->err),
        PAWL_ENOTFOUND);
    assert_code(
        pawl__definitions_published(f->definitions, pawl__str("x"), &none, PAWL_FOREVER, &f->err),
        PAWL_ENOTFOUND);
}

static void a_draft_saved_in_place_is_loaded_anew_and_others_are_not(void **state)
{
    struct fixture *f = *state;
    struct pawl_definition_row draft = import(f, "a", LINE("1"));
    struct pawl_definition_row other = define(f, "b", LINE("1"));
    struct pawl_graph *draft_graph = graph_of(f, f->definitions, draft.id);
    struct pawl_graph *other_graph = graph_of(f, f->definitions, other.id), *again;

    import(f, "a", LINE("2"));
    again = graph_of(f, f->definitions, draft.id);
    assert_ptr_not_equal(again, draft_graph);
    pawl__graph_unref(again);
    again = graph_of(f, f->definitions, other.id);
    assert_ptr_equal(again, other_graph);
    pawl__graph_unref(again);
    /* What was handed out lives on. */
    assert_true(pawl__str_equal(draft_graph->workflow->version_id, draft.id));
    pawl__graph_unref(draft_graph);
    pawl__graph_unref(other_graph);
}

static void another_node_sees_what_is_published_within_its_limit(void **state)
{
    struct fixture *f = *state;
    const struct pawl_definitions_options options = {.stale_ns_max = 5 * SECOND_NS};
    struct pawl_definitions *other;
    struct pawl_graph *graph;

    assert_ok(pawl__definitions_new(f->env, &f->engine, f->store, &options, &other, &f->err),
              &f->err);
    define(f, "a", LINE("1"));
    graph = published_graph(f, other, "a");
    assert_int_equal(graph->workflow->version, 1);
    pawl__graph_unref(graph);
    define(f, "a", LINE("2"));
    graph = published_graph(f, other, "a");
    assert_int_equal(graph->workflow->version, 1);
    pawl__graph_unref(graph);
    ten_seconds_pass(f);
    graph = published_graph(f, other, "a");
    assert_int_equal(graph->workflow->version, 2);
    pawl__graph_unref(graph);
    define(f, "a", LINE("3"));
    assert_ok(pawl__definitions_refresh(other, PAWL_FOREVER, &f->err), &f->err);
    graph = published_graph(f, other, "a");
    assert_int_equal(graph->workflow->version, 3);
    pawl__graph_unref(graph);
    pawl__definitions_free(other);
}

static void the_least_recently_used_graph_goes(void **state)
{
    struct fixture *f = *state;
    const struct pawl_definitions_options options = {.graphs_max = 2};
    struct pawl_definition_row a = define(f, "a", LINE("1")), b = define(f, "b", LINE("1"));
    struct pawl_definition_row c = define(f, "c", LINE("1"));
    struct pawl_graph *graphs[3], *again;
    struct pawl_definitions *small;

    assert_ok(pawl__definitions_new(f->env, &f->engine, f->store, &options, &small, &f->err),
              &f->err);
    graphs[0] = graph_of(f, small, a.id);
    graphs[1] = graph_of(f, small, b.id);
    pawl__graph_unref(graph_of(f, small, a.id));
    graphs[2] = graph_of(f, small, c.id);
    again = graph_of(f, small, a.id);
    assert_ptr_equal(again, graphs[0]);
    pawl__graph_unref(again);
    again = graph_of(f, small, b.id);
    assert_ptr_not_equal(again, graphs[1]);
    pawl__graph_unref(again);
    for (int i = 0; i < 3; i++)
        pawl__graph_unref(graphs[i]);
    pawl__definitions_free(small);
}

static void a_graph_that_embeds_another_follows_it(void **state)
{
    struct fixture *f = *state;
    struct pawl_definition_row child = define_with(f, "Child", USABLE, LINE("1")), next;
    struct pawl_definition_row parent = define(f, "parent", SEQUENCE(USE("Child", "Child")));
    struct pawl_graph *graph = graph_of(f, f->definitions, parent.id);

    assert_int_equal(graph->embedded_count, 1);
    assert_true(pawl__str_equal(graph->embedded[0].version_id, child.id));
    pawl__graph_unref(graph);
    next = define_with(f, "Child", USABLE, LINE("2"));
    graph = graph_of(f, f->definitions, parent.id);
    assert_int_equal(graph->embedded_count, 1);
    assert_true(pawl__str_equal(graph->embedded[0].version_id, next.id));
    pawl__graph_unref(graph);
}

static void an_activity_that_is_missing_is_found_once_it_is_there(void **state)
{
    struct fixture *f = *state;
    struct pawl_definition_row parent = define(f, "parent", SEQUENCE(USE("Child", "Child")));
    struct pawl_graph *graph = graph_of(f, f->definitions, parent.id);

    assert_int_equal(graph->embedded_count, 0);
    pawl__graph_unref(graph);
    define_with(f, "Child", USABLE, LINE("1"));
    graph = graph_of(f, f->definitions, parent.id);
    assert_int_equal(graph->embedded_count, 1);
    pawl__graph_unref(graph);
}

/* ---- those that use a definition ----------------------------------------------------------- */

static int64_t used_version(struct fixture *f, const struct pawl_definition_row *row)
{
    struct pawl_json json = data_of(f, row);
    int64_t version = 0;

    (void)pawl__json_to_int(pawl__json_find(&json, pawl__str("/root/activities/0/version")),
                            &version);
    return version;
}

static void publishing_updates_those_that_use_it(void **state)
{
    struct fixture *f = *state;
    struct pawl_definition_row row, unchanged;

    define_with(f, "Child", USABLE_UPDATING, LINE("1"));
    define(f, "live", SEQUENCE(USE("Child", "Child") "," START_EVENT("e", "E")));
    import(f, "draft", SEQUENCE(USE("Child", "Child")));
    unchanged = define(f, "unrelated", LINE("1"));
    define_with(f, "Child", USABLE_UPDATING, LINE("2"));
    row = find(f, "live", PAWL_VERSIONS_PUBLISHED, 0);
    assert_int_equal(row.version, 2);
    assert_int_equal(row.is_latest, 1);
    assert_int_equal(used_version(f, &row), 2);
    assert_true(pawl__str_equal(triggers(f, 1)->version_id, row.id));
    assert_flags(f, "live", 1, 1);
    row = find(f, "draft", PAWL_VERSIONS_LATEST, 0);
    assert_int_equal(row.version, 1);
    assert_int_equal(row.revision, 2);
    assert_int_equal(used_version(f, &row), 2);
    assert_flags(f, "draft", 1, 0);
    row = find(f, "unrelated", PAWL_VERSIONS_LATEST, 0);
    assert_true(pawl__str_equal(row.id, unchanged.id));
    /* Publishing again has nothing to do. */
    publish(f, find(f, "Child", PAWL_VERSIONS_LATEST, 0).id);
    assert_int_equal(find(f, "live", PAWL_VERSIONS_PUBLISHED, 0).version, 2);
}

static void those_that_use_it_are_left_alone_unless_it_asks(void **state)
{
    struct fixture *f = *state;

    define_with(f, "Child", USABLE, LINE("1"));
    define(f, "live", SEQUENCE(USE("Child", "Child")));
    define_with(f, "Child", USABLE, LINE("2"));
    assert_int_equal(find(f, "live", PAWL_VERSIONS_LATEST, 0).version, 1);
}

static void updates_go_on_through_those_that_use_each_other(void **state)
{
    struct fixture *f = *state;

    define_with(f, "A", USABLE_UPDATING, LINE("1"));
    define_with(f, "B", USABLE_UPDATING, SEQUENCE(USE("A", "A")));
    define(f, "c", SEQUENCE(USE("B", "B")));
    define_with(f, "A", USABLE_UPDATING, LINE("2"));
    assert_int_equal(find(f, "B", PAWL_VERSIONS_PUBLISHED, 0).version, 2);
    assert_int_equal(find(f, "c", PAWL_VERSIONS_PUBLISHED, 0).version, 2);
    /* A circle of versions: A 3 uses B 2, which uses A 2. Each is updated once. */
    define_with(f, "A", USABLE_UPDATING,
                SEQUENCE("{'id':'u','type':'B','version':2,'workflowDefinitionId':'B'}"));
    assert_int_equal(find(f, "B", PAWL_VERSIONS_PUBLISHED, 0).version, 3);
    assert_int_equal(find(f, "A", PAWL_VERSIONS_PUBLISHED, 0).version, 4);
    assert_flags(f, "A", 1, 1);
    assert_flags(f, "B", 1, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(graphs_are_loaded_once_and_by_either_id),
        TEST(a_draft_saved_in_place_is_loaded_anew_and_others_are_not),
        TEST(another_node_sees_what_is_published_within_its_limit),
        TEST(the_least_recently_used_graph_goes),
        TEST(a_graph_that_embeds_another_follows_it),
        TEST(an_activity_that_is_missing_is_found_once_it_is_there),
        TEST(publishing_updates_those_that_use_it),
        TEST(those_that_use_it_are_left_alone_unless_it_asks),
        TEST(updates_go_on_through_those_that_use_each_other),
    };

    return cmocka_run_group_tests_name("runtime/definitions_graphs", tests, NULL, NULL);
}
