/* SPDX-License-Identifier: Apache-2.0 */
/* Whom a request is for: what that asks of the store, and when a changed trigger is seen. */
#include "runtime/work/endpoint.h"
#include "unit/runtime/nodes.h"

#define ENDPOINT(id, path, more)                                                                   \
    "{'id':'" id "','type':'Elsa.HttpEndpoint','path':" TEXT(path) more "}"
#define STARTS ",'customProperties':{'canStartWorkflow':true}"
#define AUTHORIZE ",'authorize':" RIG_INPUT("Boolean", "Literal", "true")

static int ask(struct fixture *f, struct node *node, const char *path, struct runtime_endpoint *out)
{
    const struct runtime_endpoint_question question = {.method = pawl__str("get"),
                                                       .path = pawl__str(path),
                                                       .instance_id = pawl__str(""),
                                                       .correlation_id = pawl__str("")};

    return pawl__runtime_find_endpoint(node->runtime, &question, &f->arena, out, later(f), &f->err);
}

static struct runtime_endpoint found(struct fixture *f, struct node *node, const char *path)
{
    struct runtime_endpoint endpoint;

    assert_ok(ask(f, node, path, &endpoint), &f->err);
    return endpoint;
}

static bool demands_caller(const struct runtime_endpoint *endpoint)
{
    return pawl__json_true(pawl__json_get_text(&endpoint->payload, "authorize"));
}

/* ---- what it costs ------------------------------------------------------------------------- */

static void a_known_trigger_asks_the_store_nothing(void **state)
{
    struct runtime_endpoint first, second;
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "", ENDPOINT("h", "Hello", STARTS AUTHORIZE)));
    first = found(f, &f->a, "/hello");
    f->looked = 0;
    second = found(f, &f->a, "/hello");
    assert_int_equal(f->looked, 0);
    assert_true(second.is_trigger);
    assert_true(demands_caller(&second));
    assert_true(pawl__str_equal(first.hash, second.hash));
    assert_true(pawl__str_equal(first.template, second.template));
    assert_true(pawl__str_equal(first.trigger.id, second.trigger.id));
    assert_true(pawl__str_equal(first.trigger.version_id, second.trigger.version_id));
    assert_true(pawl__str_equal(first.trigger.payload, second.trigger.payload));
    assert_true(pawl__str_is(second.trigger.definition_id, "d"));
    assert_true(pawl__str_is(second.trigger.activity_id, "h"));
}

static void triggers_and_bookmarks_of_all_templates_are_one_look(void **state)
{
    struct fixture *f = *state;
    struct runtime_endpoint endpoint;
    struct pawl_outcome waiting;

    publish(f, DEFINITION("d", "", ENDPOINT("h", "o/{id}", "")));
    publish(f, DEFINITION("t", "", ENDPOINT("h", "{*all}", STARTS)));
    waiting = start(f, "d");
    (void)found(f, &f->a, "/other"); /* the routes are known */
    f->looked = 0;
    endpoint = found(f, &f->a, "/o/5");
    assert_int_equal(f->looked, 1);
    assert_false(endpoint.is_trigger);
    assert_true(pawl__str_is(endpoint.template, "/o/{id}"));
    assert_true(pawl__str_is(endpoint.bookmark.instance_id, waiting.instance_id));
    assert_true(pawl__str_is(pawl__json_str(pawl__json_get_text(&endpoint.route, "id")), "5"));
}

/* One that is known does not hide a more specific one that came since. */
static void a_more_specific_template_is_found_before_a_known_trigger(void **state)
{
    struct fixture *f = *state;
    struct runtime_endpoint endpoint;

    publish(f, DEFINITION("t", "", ENDPOINT("h", "o/{id}", STARTS)));
    publish(f, DEFINITION("d", "", ENDPOINT("h", "o/5", "")));
    assert_true(found(f, &f->a, "/o/5").is_trigger);
    assert_true(found(f, &f->a, "/o/5").is_trigger);
    start(f, "d");
    endpoint = found(f, &f->a, "/o/5");
    assert_false(endpoint.is_trigger);
    assert_true(pawl__str_is(endpoint.template, "/o/5"));
}

/* Nine templates match: more than are looked up at once. */
static void of_many_templates_the_last_is_found_too(void **state)
{
    struct fixture *f = *state;
    struct runtime_endpoint endpoint;

    publish(f, DEFINITION(
                   "w", "",
                   ENDPOINT("a", "x/{a:int}/y", "") "," ENDPOINT("b", "x/{b}/y", "") "," //
                   ENDPOINT("c", "{c}/1/y", "") "," ENDPOINT("d", "{d}/{e:int}/y", "") "," ENDPOINT(
                       "e", "{f}/{g}/y", "") "," ENDPOINT("f", "x/1/{h}",
                                                          "") "," ENDPOINT("g", "x/{i}/{j}", "")));
    publish(f, DEFINITION("t", "", ENDPOINT("h", "{*all}", STARTS)));
    endpoint = found(f, &f->a, "/x/1/y");
    assert_true(endpoint.is_trigger);
    assert_true(pawl__str_is(endpoint.template, "/{*all}"));
    assert_true(pawl__str_is(found(f, &f->a, "/x/1/y").template, "/{*all}"));
}

/* Delivers what was found, with the correlation id of the request. */
static struct pawl_sent deliver(struct fixture *f, const struct runtime_endpoint *endpoint)
{
    const struct pawl_stimulus stimulus = {
        .hash = endpoint->hash,
        .instance_id = endpoint->bookmark.instance_id,
        .bookmark_id = endpoint->bookmark.id,
        .bookmark_created_us = endpoint->bookmark.created_us,
        .correlation_id = pawl__str("order 7"),
        .input = pawl__json_object(),
        .idempotency_key = pawl__str(""),
        .traceparent = pawl__str(""),
        .activity_instance_id = pawl__str(""),
    };
    struct pawl_sent sent;

    assert_ok(pawl__runtime_send(f->a.runtime, &stimulus, &sent, later(f), &f->err), &f->err);
    return sent;
}

#define TWICE                                                                                      \
    DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went") "," RIG_EVENT("x", "Go"))

/* An instance that waits for an event, with a correlation id; as a request would find it. */
static struct runtime_endpoint wait_for_event(struct fixture *f)
{
    const struct pawl_start what = {.definition_id = pawl__str("d"),
                                    .correlation_id = pawl__str("order 7")};
    const struct pawl_query query = {.table = PAWL_TABLE_BOOKMARKS};
    struct runtime_endpoint endpoint = {.is_trigger = false};
    struct pawl_outcome outcome;
    struct pawl_rows rows;

    node_close(&f->a);
    f->delivery = PAWL_DELIVERY_DIRECT;
    node_open(f, &f->a, "a");
    publish(f, TWICE);
    assert_ok(pawl__runtime_start(f->a.runtime, &what, &outcome, later(f), &f->err), &f->err);
    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    assert_int_equal(rows.count, 1);
    endpoint.bookmark = *(const struct pawl_bookmark_row *)rows.rows;
    endpoint.hash = endpoint.bookmark.hash;
    return endpoint;
}

static void a_bookmark_that_was_found_is_not_looked_for_again(void **state)
{
    struct fixture *f = *state;
    struct runtime_endpoint endpoint = wait_for_event(f);

    f->looked = 0;
    assert_int_equal(deliver(f, &endpoint).resumed, 1);
    assert_int_equal(f->looked, 0);
    assert_string_equal(f->lines, "went\n");
}

/* It waits for the same again, by another bookmark: that one is looked for, and resumed once. */
static void a_bookmark_that_was_found_and_is_gone_is_looked_for(void **state)
{
    struct fixture *f = *state;
    struct runtime_endpoint endpoint = wait_for_event(f);

    assert_int_equal(deliver(f, &endpoint).resumed, 1);
    assert_int_equal(count(f, PAWL_TABLE_BOOKMARKS), 1);
    assert_int_equal(deliver(f, &endpoint).resumed, 1);
    drain(f);
    assert_string_equal(f->lines, "went\n");
    assert_string_equal(
        sub_status(f, pawl__arena_str(&f->arena, endpoint.bookmark.instance_id).ptr), "Finished");
    /* And when nothing waits there any more, it is parked as any other. */
    assert_true(deliver(f, &endpoint).parked);
}

/* ---- changed triggers ---------------------------------------------------------------------- */

static void a_trigger_that_was_changed_here_is_seen_at_once(void **state)
{
    struct fixture *f = *state;
    struct runtime_endpoint before, after;

    publish(f, DEFINITION("d", "", ENDPOINT("h", "hello", STARTS)));
    (void)found(f, &f->a, "/hello");
    before = found(f, &f->a, "/hello");
    assert_false(demands_caller(&before));
    publish(f, DEFINITION("d", "", ENDPOINT("h", "hello", STARTS AUTHORIZE)));
    after = found(f, &f->a, "/hello");
    assert_true(demands_caller(&after));
    assert_false(pawl__str_equal(before.trigger.version_id, after.trigger.version_id));
}

static void a_trigger_that_was_retracted_here_is_gone_at_once(void **state)
{
    struct fixture *f = *state;
    struct runtime_endpoint endpoint;

    publish(f, DEFINITION("d", "", ENDPOINT("h", "hello", STARTS)));
    (void)found(f, &f->a, "/hello");
    (void)found(f, &f->a, "/hello");
    assert_ok(pawl__definitions_retract(pawl__runtime_definitions(f->a.runtime), pawl__str("d"),
                                        later(f), &f->err),
              &f->err);
    assert_code(ask(f, &f->a, "/hello", &endpoint), PAWL_ENOTFOUND);
}

static void a_trigger_that_another_node_changed_is_used_for_a_second_at_most(void **state)
{
    struct fixture *f = *state;
    struct runtime_endpoint endpoint;
    struct node b;

    node_open(f, &b, "b");
    publish(f, DEFINITION("d", "", ENDPOINT("h", "hello", STARTS)));
    (void)found(f, &b, "/hello");
    publish(f, DEFINITION("d", "", ENDPOINT("h", "hello", STARTS AUTHORIZE)));
    test_clock_advance(f->clock, SECOND + 1);
    endpoint = found(f, &b, "/hello");
    assert_true(demands_caller(&endpoint));
    (void)found(f, &b, "/hello");
    assert_ok(pawl__definitions_retract(pawl__runtime_definitions(f->a.runtime), pawl__str("d"),
                                        later(f), &f->err),
              &f->err);
    test_clock_advance(f->clock, SECOND + 1);
    assert_code(ask(f, &b, "/hello", &endpoint), PAWL_ENOTFOUND);
    node_close(&b);
}

static void a_new_trigger_of_another_node_is_seen_at_once(void **state)
{
    struct fixture *f = *state;
    struct runtime_endpoint endpoint;
    struct node b;

    node_open(f, &b, "b");
    assert_code(ask(f, &b, "/hello", &endpoint), PAWL_ENOTFOUND);
    assert_code(ask(f, &b, "/o/1", &endpoint), PAWL_ENOTFOUND);
    publish(f, DEFINITION("d", "", ENDPOINT("h", "hello", STARTS)));
    publish(f, DEFINITION("e", "", ENDPOINT("h", "o/{id}", STARTS)));
    assert_true(found(f, &b, "/hello").is_trigger);
    assert_true(found(f, &b, "/o/1").is_trigger);
    node_close(&b);
}

/* Read before a change, kept after it: it is not used. */
static void a_trigger_that_was_read_before_a_change_is_not_kept(void **state)
{
    struct fixture *f = *state;
    struct pawl_definitions *definitions = pawl__runtime_definitions(f->a.runtime);
    struct runtime_endpoint old, endpoint;
    struct pawl_trigger_row row;
    int64_t stamp;

    publish(f, DEFINITION("d", "", ENDPOINT("h", "hello", STARTS)));
    old = found(f, &f->a, "/hello");
    assert_true(
        pawl__definitions_known_trigger(definitions, old.hash, &f->arena, &row, &stamp, later(f)));
    publish(f, DEFINITION("d", "", ENDPOINT("h", "hello", STARTS AUTHORIZE)));
    pawl__definitions_keep_trigger(definitions, &old.trigger, stamp); /* before anybody looked */
    endpoint = found(f, &f->a, "/hello");
    assert_true(demands_caller(&endpoint));
    publish(f, DEFINITION("d", "", ENDPOINT("h", "hello", STARTS)));
    assert_ok(pawl__definitions_refresh(definitions, later(f), &f->err), &f->err);
    pawl__definitions_keep_trigger(definitions, &endpoint.trigger, stamp); /* after */
    endpoint = found(f, &f->a, "/hello");
    assert_false(demands_caller(&endpoint));
}

/* ---- failures and limits ------------------------------------------------------------------- */

static void a_look_that_fails_is_not_a_404(void **state)
{
    struct fixture *f = *state;
    struct runtime_endpoint endpoint;

    publish(f, DEFINITION("d", "", ENDPOINT("h", "hello", STARTS)));
    (void)ask(f, &f->a, "/other", &endpoint); /* routes and stamp are known */
    fail_next(f, PAWL_STORE_CALL_FIND, PAWL_STORE_FAULT_BEFORE);
    assert_code(ask(f, &f->a, "/hello", &endpoint), PAWL_EUNAVAILABLE);
    fail_next(f, PAWL_STORE_CALL_FIND, PAWL_STORE_FAULT_AFTER);
    assert_code(ask(f, &f->a, "/hello", &endpoint), PAWL_EUNKNOWN);
    assert_true(found(f, &f->a, "/hello").is_trigger);
}

/* What is in memory is not used then: the store is asked for the trigger itself. */
static void a_look_at_the_stamp_that_fails_uses_nothing_old(void **state)
{
    struct fixture *f = *state;
    struct runtime_endpoint endpoint;
    struct node b;

    node_open(f, &b, "b");
    publish(f, DEFINITION("d", "", ENDPOINT("h", "hello", STARTS)));
    (void)found(f, &b, "/hello");
    publish(f, DEFINITION("d", "", ENDPOINT("h", "hello", STARTS AUTHORIZE)));
    test_clock_advance(f->clock, 2 * SECOND);
    fail_next(f, PAWL_STORE_CALL_FIND, PAWL_STORE_FAULT_BEFORE);
    f->fail_skip = 1; /* the count of routes */
    endpoint = found(f, &b, "/hello");
    assert_false(f->fail);
    assert_true(demands_caller(&endpoint));
    node_close(&b);
}

static void triggers_in_memory_have_a_limit(void **state)
{
    struct fixture *f = *state;
    struct pawl_definitions *definitions = pawl__runtime_definitions(f->a.runtime);
    char *large = calloc(1, 5000), hash[16];
    struct pawl_trigger_row row = {.id = pawl__str("t"), .payload = pawl__str("{}")}, known;
    unsigned count = 0;
    int64_t stamp;

    assert_non_null(large);
    for (unsigned i = 0; i < 5000; i++) {
        (void)snprintf(hash, sizeof hash, "%u", i);
        row.hash = pawl__str(hash);
        assert_false(pawl__definitions_known_trigger(definitions, row.hash, &f->arena, &known,
                                                     &stamp, later(f)));
        pawl__definitions_keep_trigger(definitions, &row, stamp);
    }
    for (unsigned i = 0; i < 5000; i++) {
        (void)snprintf(hash, sizeof hash, "%u", i);
        count += pawl__definitions_known_trigger(definitions, pawl__str(hash), &f->arena, &known,
                                                 &stamp, later(f));
    }
    assert_in_range(count, 1, 4096);
    assert_true(pawl__definitions_known_trigger(definitions, pawl__str("4999"), &f->arena, &known,
                                                &stamp, later(f)));
    memset(large, ' ', 4999);
    row.hash = pawl__str("large");
    row.payload = pawl__str(large);
    pawl__definitions_keep_trigger(definitions, &row, stamp);
    assert_false(pawl__definitions_known_trigger(definitions, row.hash, &f->arena, &known, &stamp,
                                                 later(f)));
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_known_trigger_asks_the_store_nothing),
        TEST(triggers_and_bookmarks_of_all_templates_are_one_look),
        TEST(a_more_specific_template_is_found_before_a_known_trigger),
        TEST(of_many_templates_the_last_is_found_too),
        TEST(a_bookmark_that_was_found_is_not_looked_for_again),
        TEST(a_bookmark_that_was_found_and_is_gone_is_looked_for),
        TEST(a_trigger_that_was_changed_here_is_seen_at_once),
        TEST(a_trigger_that_was_retracted_here_is_gone_at_once),
        TEST(a_trigger_that_another_node_changed_is_used_for_a_second_at_most),
        TEST(a_new_trigger_of_another_node_is_seen_at_once),
        TEST(a_trigger_that_was_read_before_a_change_is_not_kept),
        TEST(a_look_that_fails_is_not_a_404),
        TEST(a_look_at_the_stamp_that_fails_uses_nothing_old),
        TEST(triggers_in_memory_have_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
