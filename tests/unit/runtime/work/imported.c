/* SPDX-License-Identifier: Apache-2.0 */
/* Parents that are exported, deleted and imported while their children go on. */
#include "runtime/work/requests.h"

#define KID DEFINITION("child", RIG_EVENT("k", "Kid"))
#define DISPATCH(id, definition)                                                                   \
    "{'id':'" id "','type':'Elsa.DispatchWorkflow','waitForCompletion':" RIG_INPUT(                \
        "Boolean", "Literal", "true") ",'workflowDefinitionId':" TEXT(definition) "}"

static void send_event(struct fixture *f, const char *name)
{
    const struct pawl_stimulus to = {.instance_id = pawl__str(""), .detached = true};
    struct pawl_sent sent;

    assert_ok(pawl__runtime_send_event(f->a.runtime, pawl__str(name), NULL, &to, &sent, later(f),
                                       &f->err),
              &f->err);
    work(f, &f->a);
}

static const char *launch(struct fixture *f, const char *definition)
{
    struct pawl_outcome outcome;

    publish(f, KID);
    publish(f, definition);
    outcome = start_until(f, "d", pawl_env_monotonic_ns(f->env));
    work(f, &f->a);
    return pawl__arena_str(&f->arena, pawl__str(outcome.instance_id)).ptr;
}

static struct pawl_json take_away(struct fixture *f, const char *id)
{
    struct pawl_json exported;

    assert_ok(
        pawl__runtime_export(f->a.runtime, pawl__str(id), &f->arena, &exported, later(f), &f->err),
        &f->err);
    assert_ok(pawl__runtime_delete(f->a.runtime, pawl__str(id), later(f), &f->err), &f->err);
    return exported;
}

static void bring_back(struct fixture *f, const struct pawl_json *exported)
{
    struct pawl_outcome outcome;

    assert_ok(pawl__runtime_import(f->a.runtime, exported, &outcome, later(f), &f->err), &f->err);
    drain(f, &f->a);
}

static void it_ends(struct fixture *f, const char *id)
{
    assert_string_equal(sub_status(f, id), "Finished");
    assert_string_equal(f->lines, "after\n");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void learn_of_the_end(struct fixture *f, const char *definition)
{
    const char *id = launch(f, definition);
    struct pawl_json exported = take_away(f, id);

    send_event(f, "Kid");
    drain(f, &f->a);
    bring_back(f, &exported);
    it_ends(f, id);
}

static void a_parent_that_executes_a_child_learns_that_it_has_ended_meanwhile(void **state)
{
    learn_of_the_end(*state, DEFINITION("d", CHILD("c", "child") "," RIG_WRITE("w", "after")));
}

static void a_parent_that_dispatched_a_child_learns_that_it_has_ended_meanwhile(void **state)
{
    learn_of_the_end(*state, DEFINITION("d", DISPATCH("c", "child") "," RIG_WRITE("w", "after")));
}

static void a_child_that_goes_on_tells_its_parent_later(void **state)
{
    struct fixture *f = *state;
    const char *id = launch(f, DEFINITION("d", CHILD("c", "child") "," RIG_WRITE("w", "after")));
    struct pawl_json exported = take_away(f, id);

    bring_back(f, &exported);
    assert_string_equal(sub_status(f, id), "Suspended");
    send_event(f, "Kid");
    drain(f, &f->a);
    it_ends(f, id);
}

/* ---- between the look and the commit ------------------------------------------------------- */

static struct {
    struct pawl_store_ops ops;
    const struct pawl_store_ops *real;
    struct fixture *fixture; /* NULL: it was done */
} between;

/* The child was seen to run; then it ends, and its mail for a parent that is not there is done. */
static int find_early(struct pawl_store *store, const struct pawl_query *query,
                      struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                      struct pawl_error *err)
{
    int status = between.real->find(store, query, arena, out, deadline_ns, err);
    struct fixture *f = between.fixture;

    if (f && status == PAWL_OK && query->table == PAWL_TABLE_INSTANCES && out->count == 1) {
        between.fixture = NULL;
        send_event(f, "Kid");
        drain(f, &f->a);
    }
    return status;
}

static void a_child_that_ends_just_before_the_import_is_noticed(void **state)
{
    struct fixture *f = *state;
    const char *id = launch(f, DEFINITION("d", CHILD("c", "child") "," RIG_WRITE("w", "after")));
    struct pawl_json exported = take_away(f, id);

    between.real = f->a.store->ops;
    between.ops = *between.real;
    between.ops.find = find_early;
    between.fixture = f;
    f->a.store->ops = &between.ops;
    bring_back(f, &exported);
    assert_null(between.fixture);
    f->a.store->ops = between.real;
    it_ends(f, id);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_parent_that_executes_a_child_learns_that_it_has_ended_meanwhile),
        TEST(a_parent_that_dispatched_a_child_learns_that_it_has_ended_meanwhile),
        TEST(a_child_that_goes_on_tells_its_parent_later),
        TEST(a_child_that_ends_just_before_the_import_is_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
