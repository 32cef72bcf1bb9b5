/* SPDX-License-Identifier: Apache-2.0 */
/* The templates that a node knows: whose commits they come with, when it sees them. */
#include "runtime/node/routes.h"
#include "runtime/node/retention.h"
#include "unit/runtime/nodes.h"

#define ENDPOINT(id, path) "{'id':'" id "','type':'Elsa.HttpEndpoint','path':" TEXT(path) "}"
#define START_ENDPOINT(id, path)                                                                   \
    "{'id':'" id "','type':'Elsa.HttpEndpoint','customProperties':{'canStartWorkflow':true},"      \
    "'path':" TEXT(path) "}"
#define MS (SECOND / 1000)

/* "/a/{b} {"b":"1"}; …" */
static const char *match(struct fixture *f, struct node *node, const char *path, bool fresh)
{
    struct pawl_route_hits hits;
    struct pawl_buf text;
    const char *out;

    assert_ok(pawl__runtime_match_routes(node->runtime, pawl__str(path), fresh, &f->arena, &hits,
                                         later(f), &f->err),
              &f->err);
    pawl__buf_init(&text, &f->env->alloc, 10000);
    for (size_t i = 0; i < hits.count; i++) {
        pawl__buf_printf(&text, "%s%.*s ", i > 0 ? "; " : "", PAWL_STR_ARG(hits.items[i].template));
        pawl__json_write(&text, &hits.items[i].values, 0);
    }
    out = pawl__arena_str(&f->arena, pawl__buf_peek(&text)).ptr;
    pawl__buf_release(&text);
    return out;
}

static size_t route_rows(struct fixture *f)
{
    const struct pawl_query query = {.table = PAWL_TABLE_ROUTES, .flags = PAWL_QUERY_COUNT};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    return (size_t)rows.total;
}

static void another_node_sees_a_new_template_before_a_404(void **state)
{
    struct fixture *f = *state;
    struct node b;

    node_open(f, &b, "b");
    assert_string_equal(match(f, &b, "/orders/7", false), "/orders/7 {}");
    publish(f, DEFINITION("d", "", START_ENDPOINT("h", "Orders/{Id}")));
    assert_string_equal(match(f, &b, "/orders/7", false), "/orders/7 {}");
    assert_string_equal(match(f, &b, "/ORDERS/7", true),
                        "/orders/7 {}; /orders/{id} {\"id\":\"7\"}");
    node_close(&b);
}

static void a_template_is_seen_within_a_second(void **state)
{
    struct fixture *f = *state;
    struct node b;

    node_open(f, &b, "b");
    assert_string_equal(match(f, &b, "/x/1/2", false), "/x/1/2 {}");
    publish(f, DEFINITION("d", "", START_ENDPOINT("h", "x/{*rest}")));
    test_clock_advance(f->clock, 999 * MS);
    assert_string_equal(match(f, &b, "/x/1/2", false), "/x/1/2 {}; /x/{*rest} {\"rest\":\"1/2\"}");
    node_close(&b);
}

static void many_waiting_instances_have_one_row_and_one_entry(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "", ENDPOINT("h", "approve/{id}")));
    for (int i = 0; i < 50; i++)
        assert_int_equal(start(f, "d").bookmark_count, 1);
    assert_int_equal(route_rows(f), 1);
    assert_string_equal(match(f, &f->a, "/approve/1", true),
                        "/approve/1 {}; /approve/{id} {\"id\":\"1\"}");
    /* Known now: the next ones do not write it again, and it stays. */
    start(f, "d");
    assert_int_equal(route_rows(f), 1);
}

static void retain(struct fixture *f)
{
    const struct pawl_retention_policy policy = {0};
    struct pawl_retained retained;

    assert_ok(pawl__runtime_retain(f->a.runtime, &policy, &retained, later(f), &f->err), &f->err);
}

static void pass_days(struct fixture *f, int days)
{
    for (int i = 0; i < 24 * days; i++) {
        test_clock_advance(f->clock, 3600 * SECOND);
        drain(f); /* which keeps the lease */
    }
}

static void a_template_that_nothing_waits_at_comes_to_an_end(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", "", ENDPOINT("h", "approve/{id}")));
    publish(f, DEFINITION("e", "", START_ENDPOINT("g", "begin/{id}")));
    outcome = start(f, "d");
    assert_int_equal(route_rows(f), 2);
    pass_days(f, 5);
    retain(f);
    assert_int_equal(route_rows(f), 2); /* both are used */
    assert_string_equal(match(f, &f->a, "/approve/1", true),
                        "/approve/1 {}; /approve/{id} {\"id\":\"1\"}");
    assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str(outcome.instance_id), later(f), &f->err),
              &f->err);
    drain(f);
    retain(f);
    assert_int_equal(route_rows(f), 1);
    pass_days(f, 1);
    assert_string_equal(match(f, &f->a, "/approve/1", true), "/approve/1 {}");
    assert_string_equal(match(f, &f->a, "/begin/1", true),
                        "/begin/1 {}; /begin/{id} {\"id\":\"1\"}");
}

/* It relies on the row of today, whatever becomes of that of long ago. */
static void a_bookmark_that_is_added_while_rows_are_deleted_has_one(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct node b;

    publish(f, DEFINITION("d", "", ENDPOINT("h", "approve/{id}")));
    outcome = start(f, "d");
    assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str(outcome.instance_id), later(f), &f->err),
              &f->err);
    drain(f);
    assert_string_equal(match(f, &f->a, "/approve/1", true),
                        "/approve/1 {}; /approve/{id} {\"id\":\"1\"}");
    pass_days(f, 5);
    /* This node knows the template; nothing waits there, and its row is old. */
    start(f, "d");
    assert_int_equal(route_rows(f), 2);
    retain(f);
    assert_int_equal(route_rows(f), 1);
    node_open(f, &b, "b");
    assert_string_equal(match(f, &b, "/approve/1", false),
                        "/approve/1 {}; /approve/{id} {\"id\":\"1\"}");
    node_close(&b);
}

static void templates_are_seen_though_others_went(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct node b;

    publish(f, DEFINITION("d", "", ENDPOINT("h", "old/{id}")));
    outcome = start(f, "d");
    assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str(outcome.instance_id), later(f), &f->err),
              &f->err);
    pass_days(f, 5);
    node_open(f, &b, "b");
    assert_string_equal(match(f, &b, "/new/1", true), "/new/1 {}");
    /* One row less and one more: as many as before. */
    retain(f);
    assert_int_equal(route_rows(f), 0);
    publish(f, DEFINITION("e", "", START_ENDPOINT("g", "new/{id}")));
    assert_int_equal(route_rows(f), 1);
    assert_string_equal(match(f, &b, "/new/1", true), "/new/1 {}; /new/{id} {\"id\":\"1\"}");
    node_close(&b);
}

static void a_path_without_parameters_needs_no_row(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "", START_ENDPOINT("g", "hello") "," ENDPOINT("h", "bye")));
    assert_int_equal(route_rows(f), 0);
    assert_string_equal(match(f, &f->a, "/Hello/", true), "/hello {}");
    assert_string_equal(match(f, &f->a, "/", true), "/ {}");
}

static void the_most_specific_template_is_tried_first(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "",
                          START_ENDPOINT("a", "{*all}") "," START_ENDPOINT(
                              "b", "o/{id}") "," START_ENDPOINT("c", "o/{n:int}")));
    assert_string_equal(match(f, &f->a, "/o/5", true),
                        "/o/5 {}; /o/{n:int} {\"n\":\"5\"}; /o/{id} {\"id\":\"5\"}; "
                        "/{*all} {\"all\":\"o/5\"}");
}

static void what_looks_like_a_template_is_none_in_a_path(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "", START_ENDPOINT("h", "o/{id}")));
    assert_string_equal(match(f, &f->a, "/o/%7Bid%7D", true), "/o/{id} {\"id\":\"{id}\"}");
}

static void path_tricks_match_nothing(void **state)
{
    struct fixture *f = *state;
    struct pawl_route_hits hits;

    publish(f, DEFINITION("d", "", START_ENDPOINT("h", "{*all}")));
    assert_string_equal(match(f, &f->a, "/a//b", true), "");
    assert_string_equal(match(f, &f->a, "/a/../b", true), "");
    assert_string_equal(match(f, &f->a, "/a/%2e%2e/b", true), "");
    assert_string_equal(match(f, &f->a, "/a%2fb", true), "/a%2fb {}; /{*all} {\"all\":\"a%2fb\"}");
    assert_code(pawl__runtime_match_routes(f->a.runtime, pawl__str("/a%00"), true, &f->arena, &hits,
                                           later(f), &f->err),
                PAWL_EINVAL);
}

static void what_is_known_is_enough_while_the_store_fails(void **state)
{
    struct fixture *f = *state;
    struct pawl_route_hits hits;

    publish(f, DEFINITION("d", "", START_ENDPOINT("h", "o/{id}")));
    assert_string_equal(match(f, &f->a, "/o/1", false), "/o/1 {}; /o/{id} {\"id\":\"1\"}");
    test_clock_advance(f->clock, 2 * SECOND);
    fail_next(f, PAWL_STORE_CALL_FIND, PAWL_STORE_FAULT_BEFORE);
    assert_string_equal(match(f, &f->a, "/o/1", false), "/o/1 {}; /o/{id} {\"id\":\"1\"}");
    fail_next(f, PAWL_STORE_CALL_FIND, PAWL_STORE_FAULT_BEFORE);
    assert_int_not_equal(pawl__runtime_match_routes(f->a.runtime, pawl__str("/q"), true, &f->arena,
                                                    &hits, later(f), &f->err),
                         PAWL_OK);
}

/* The problems of a publishing, "message; message". */
static const char *refusal(struct fixture *f, const char *text)
{
    struct pawl_definitions *definitions = pawl__runtime_definitions(f->a.runtime);
    struct pawl_json definition = json(f, text);
    struct pawl_publication said;
    struct pawl_definition_row row;
    const char *out = "";

    assert_ok(
        pawl__definitions_import(definitions, &definition, &f->arena, &row, later(f), &f->err),
        &f->err);
    assert_ok(pawl__definitions_publish(definitions, row.id, &f->arena, &said, later(f), &f->err),
              &f->err);
    if (said.succeeded)
        return "published";
    for (uint32_t i = 0; i < said.problems.count; i++)
        out = pawl__arena_printf(&f->arena, "%s%s%s", out, i > 0 ? "; " : "",
                                 said.problems.items[i].message);
    return out;
}

static void a_route_that_another_definition_has_is_refused_with_both_names(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("first", "", START_ENDPOINT("h", "Same")));
    publish(f, DEFINITION("third", "", START_ENDPOINT("h", "orders/{id}/x")));
    assert_string_equal(refusal(f, DEFINITION("second", "", START_ENDPOINT("h", "/same/"))),
                        "The /same path and get method are already in use by another workflow!; "
                        "\"first\" has the route get /same, which \"second\" would have too");
    /* The same by another name of its parameter. */
    assert_string_equal(
        refusal(f, DEFINITION("fourth", "", START_ENDPOINT("h", "orders/{number}/x"))),
        "The /orders/{number}/x path and get method are already in use by another workflow!; "
        "\"third\" has the route get /orders/{number}/x, which \"fourth\" would have too");
    assert_string_equal(
        refusal(f, DEFINITION("fifth", "", START_ENDPOINT("h", "orders/{id:int}/x"))), "published");
    /* Its own route is no conflict, and neither is one that is free again. */
    assert_string_equal(refusal(f, DEFINITION("first", "", START_ENDPOINT("h", "same"))),
                        "published");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(another_node_sees_a_new_template_before_a_404, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_template_is_seen_within_a_second, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_waiting_instances_have_one_row_and_one_entry, set_up,
                                        tear_down),
        TEST(a_template_that_nothing_waits_at_comes_to_an_end),
        TEST(a_bookmark_that_is_added_while_rows_are_deleted_has_one),
        TEST(templates_are_seen_though_others_went),
        cmocka_unit_test_setup_teardown(a_path_without_parameters_needs_no_row, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_most_specific_template_is_tried_first, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_looks_like_a_template_is_none_in_a_path, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            a_route_that_another_definition_has_is_refused_with_both_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(path_tricks_match_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_known_is_enough_while_the_store_fails, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests_name("runtime/routes", tests, NULL, NULL);
}
