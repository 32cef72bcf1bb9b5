/* SPDX-License-Identifier: Apache-2.0 */
/* The workflow runtime and its clients on one node. */
#include "runtime/node/client.h"
#include "unit/runtime/nodes.h"

struct bound {
    struct pawl_workflow_runtime *runtime;
    struct pawl_workflow_client *client;
};

/* Takes the fixture's node. */
static struct bound bind(struct fixture *f, const char *id)
{
    struct bound bound;

    assert_ok(pawl__local_workflow_runtime_new(f->env, f->a.runtime, &bound.runtime, &f->err),
              &f->err);
    assert_ok(pawl__workflow_runtime_client(bound.runtime, pawl__str(id), &bound.client, &f->err),
              &f->err);
    return bound;
}

/* The node is the fixture's again: it closes it. */
static void unbind(struct fixture *f, struct bound *bound)
{
    pawl__workflow_client_close(bound->client);
    pawl__workflow_runtime_close(bound->runtime);
    pawl_store_close(f->a.store);
    node_open(f, &f->a, "a");
}

static bool exists(struct fixture *f, struct pawl_workflow_client *client)
{
    bool there = false;

    assert_ok(pawl__workflow_client_exists(client, &there, later(f), &f->err), &f->err);
    return there;
}

static void a_client_does_everything_with_its_instance(void **state)
{
    const struct pawl_start start = {.definition_id = pawl__str("d"),
                                     .instance_id = pawl__str("another")};
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct pawl_json exported;
    struct pawl_worked worked;
    struct bound b;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    b = bind(f, "mine");
    assert_false(exists(f, b.client));
    assert_ok(pawl__workflow_client_create_and_run(b.client, &start, &outcome, later(f), &f->err),
              &f->err);
    assert_string_equal(outcome.instance_id, "mine"); /* the client's, not the caller's */
    assert_int_equal(outcome.sub_status, PAWL_SUB_SUSPENDED);
    assert_true(exists(f, b.client));
    assert_code(pawl__workflow_client_create(b.client, &start, &outcome, later(f), &f->err),
                PAWL_EEXISTS);
    assert_ok(pawl__workflow_client_export(b.client, &PAWL_INSTANCE_EXPORT_ALL, &f->arena,
                                           &exported, later(f), &f->err),
              &f->err);
    assert_ok(pawl__workflow_client_delete(b.client, later(f), &f->err), &f->err);
    assert_false(exists(f, b.client));
    assert_code(pawl__workflow_client_delete(b.client, later(f), &f->err), PAWL_ENOTFOUND);
    assert_ok(pawl__workflow_client_import(b.client, &exported, &outcome, later(f), &f->err),
              &f->err);
    assert_true(exists(f, b.client));
    assert_ok(pawl__workflow_client_cancel(b.client, later(f), &f->err), &f->err);
    assert_ok(
        pawl__workflow_client_run(b.client, &(struct pawl_run){0}, &outcome, later(f), &f->err),
        &f->err);
    assert_int_equal(outcome.sub_status, PAWL_SUB_CANCELLED);
    assert_ok(pawl__runtime_drain(b.runtime->node, &worked, later(f), &f->err), &f->err);
    unbind(f, &b);
}

static void a_client_without_an_id_gets_a_new_one(void **state)
{
    const struct pawl_start start = {.definition_id = pawl__str("d")};
    struct fixture *f = *state;
    struct pawl_workflow_client *other;
    struct pawl_outcome outcome;
    struct bound b;

    publish(f, DEFINITION("d", "", RIG_WRITE("w", "went")));
    b = bind(f, "");
    assert_ok(pawl__workflow_runtime_client(b.runtime, pawl__str(""), &other, &f->err), &f->err);
    assert_true(b.client->instance_id[0] != '\0');
    assert_string_not_equal(b.client->instance_id, other->instance_id);
    assert_ok(pawl__workflow_client_create(b.client, &start, &outcome, later(f), &f->err), &f->err);
    assert_string_equal(outcome.instance_id, b.client->instance_id);
    pawl__workflow_client_close(other);
    unbind(f, &b);
}

static void what_is_of_another_instance_is_not_imported(void **state)
{
    struct fixture *f = *state;
    struct pawl_json exported = json(f, "{'WorkflowState':{'id':'theirs'}}");
    char longest[PAWL_INSTANCE_ID_MAX + 2];
    struct pawl_workflow_client *other;
    struct pawl_outcome outcome;
    struct bound b = bind(f, "mine");

    assert_code(pawl__workflow_client_import(b.client, &exported, &outcome, later(f), &f->err),
                PAWL_EINVAL);
    memset(longest, 'i', sizeof longest);
    assert_code(pawl__workflow_runtime_client(b.runtime, pawl__str_make(longest, sizeof longest),
                                              &other, &f->err),
                PAWL_EINVAL);
    unbind(f, &b);
}

static void a_state_that_no_node_could_load_is_not_imported(void **state)
{
    struct fixture *f = *state;
    struct pawl_json exported =
        json(f, "{'WorkflowState':{'id':'mine','definitionId':'d','definitionVersionId':'d:1',"
                "'status':'Running','subStatus':'Exploded'}}");
    struct pawl_outcome outcome;
    struct bound b;

    publish(f, DEFINITION("d", "", RIG_WRITE("w", "went")));
    b = bind(f, "mine");
    assert_code(pawl__workflow_client_import(b.client, &exported, &outcome, later(f), &f->err),
                PAWL_EPARSE);
    assert_false(exists(f, b.client));
    unbind(f, &b);
}

static int make_over(struct test_allocator *alloc, void *arg)
{
    struct pawl_workflow_runtime *runtime = NULL;
    struct pawl_workflow_client *client = NULL;
    struct test_clock *clock;
    struct pawl_env *env;
    int status;

    (void)arg;
    assert_int_equal(test_clock_open(&alloc->base, WALL, &clock), PAWL_OK);
    env = test_clock_env(clock);
    status = pawl__local_workflow_runtime_new(env, NULL, &runtime, NULL);
    if (status == PAWL_OK)
        status = pawl__workflow_runtime_client(runtime, pawl__str("i"), &client, NULL);
    pawl__workflow_client_close(client);
    pawl__workflow_runtime_close(runtime);
    test_clock_close(clock);
    return status;
}

static void every_refused_allocation_is_reported(void **state)
{
    (void)state;
    test_sweep_allocations(make_over, NULL, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_client_does_everything_with_its_instance),
        TEST(a_client_without_an_id_gets_a_new_one),
        TEST(what_is_of_another_instance_is_not_imported),
        TEST(a_state_that_no_node_could_load_is_not_imported),
        cmocka_unit_test(every_refused_allocation_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
