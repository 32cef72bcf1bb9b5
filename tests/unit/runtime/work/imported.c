/* SPDX-License-Identifier: Apache-2.0 */
/* Parents that are exported, deleted and imported while their children go on. */
#include "runtime/work/families.h"

#define DISPATCH(id, definition)                                                                   \
    "{'id':'" id "','type':'Elsa.DispatchWorkflow','waitForCompletion':" RIG_INPUT(                \
        "Boolean", "Literal", "true") ",'workflowDefinitionId':" TEXT(definition) "}"

/* The list has one. */
#define BESIDE_A_BULK                                                                              \
    "{'definitionId':'d','id':'d:1','version':1,'name':'d','variables':[{'id':'v','name':'V',"     \
    "'typeName':'Int32','isArray':true,'value':'[7]'}],'root':" RIG_SEQUENCE(                      \
        "seq", "{'id':'p','type':'Elsa.Parallel','activities':[" CHILD("c", "child") "," BULK(     \
                   "b", "other") "]}," RIG_WRITE("w", "after")) "}"

static const char *launch_with_kid(struct fixture *f, const char *definition)
{
    publish(f, DEFINITION("child", RIG_EVENT("k", "Kid")));
    publish(f, definition);
    return launch(f, "d");
}

static const char *id_of(struct fixture *f, const char *definition_id)
{
    return pawl__arena_str(&f->arena, one_of(f, definition_id)).ptr;
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
    const char *id = launch_with_kid(f, definition);
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

/* An operator has retried it, and so it does not say any more that its parent waits. */
static void a_parent_learns_of_a_child_that_ended_after_a_retry(void **state)
{
    struct fixture *f = *state;
    struct pawl_json exported;
    const char *id, *child;

    publish(f, DEFINITION("child", RIG_SEQUENCE("l", RIG_EVENT("k", "Kid") "," SEND("s"))));
    publish(f, DEFINITION("d", CHILD("c", "child") "," RIG_WRITE("w", "after")));
    id = launch(f, "d");
    exported = take_away(f, id);
    child = id_of(f, "child");
    f->a.script.refuses = PAWL_EINVAL;
    send_event(f, "Kid");
    POLL_UNTIL(has_faulted(f, child));
    f->a.script.refuses = PAWL_OK;
    f->a.script.answers = &ok;
    f->a.script.answer_count = 1;
    assert_ok(pawl__runtime_retry(f->a.runtime, pawl__str(child), NULL, 0, NULL, later(f), &f->err),
              &f->err);
    drain(f, &f->a);
    assert_string_equal(sub_status(f, child), "Finished");
    bring_back(f, &exported);
    it_ends(f, id);
}

static void a_child_that_goes_on_tells_its_parent_later(void **state)
{
    struct fixture *f = *state;
    const char *id =
        launch_with_kid(f, DEFINITION("d", CHILD("c", "child") "," RIG_WRITE("w", "after")));
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
    struct fixture *fixture;
    void (*behind)(struct fixture *f, int look); /* after a look for the child; NULL: it is done */
    int looks;
} between;

static int find_and_tell(struct pawl_store *store, const struct pawl_query *query,
                         struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                         struct pawl_error *err)
{
    int status = between.real->find(store, query, arena, out, deadline_ns, err);
    void (*behind)(struct fixture * f, int look) = between.behind;

    if (behind && status == PAWL_OK && query->table == PAWL_TABLE_INSTANCES && out->count == 1) {
        between.behind = NULL;
        behind(between.fixture, ++between.looks);
    }
    return status;
}

static void bring_back_with(struct fixture *f, const struct pawl_json *exported,
                            void (*behind)(struct fixture *f, int look))
{
    between.real = f->a.store->ops;
    between.ops = *between.real;
    between.ops.find = find_and_tell;
    between.fixture = f;
    between.behind = behind;
    between.looks = 0;
    f->a.store->ops = &between.ops;
    bring_back(f, exported);
    assert_true(between.looks > 0);
    assert_null(between.behind);
    f->a.store->ops = between.real;
}

/* It was seen to run; then it ends, and its mail for a parent that is not there is done. */
static void end_child(struct fixture *f, int look)
{
    (void)look;
    send_event(f, "Kid");
    drain(f, &f->a);
}

static void a_child_that_ends_just_before_the_import_is_noticed(void **state)
{
    struct fixture *f = *state;
    const char *id =
        launch_with_kid(f, DEFINITION("d", CHILD("c", "child") "," RIG_WRITE("w", "after")));
    struct pawl_json exported = take_away(f, id);

    bring_back_with(f, &exported, end_child);
    it_ends(f, id);
}

/* As end_child(), but the mail is done only when the parent is there again. */
static void end_child_and_tell(struct fixture *f, int look)
{
    const char *child = id_of(f, "child"), *parent = id_of(f, look > 1 ? "d" : "child");
    const char *payload =
        pawl__arena_printf(&f->arena,
                           "{\"workflowInstanceId\":\"%s\",\"status\":\"Finished\","
                           "\"subStatus\":\"Finished\",\"output\":{}}",
                           child);
    const struct pawl_work_row mail = {
        .id = pawl__str(pawl__arena_printf(&f->arena, "%s/end", child)),
        .kind = pawl__str(PAWL_WORK_CHILD),
        .instance_id = pawl__str(parent),
        .part = pawl__runtime_part(pawl__str(parent)),
        .expires_us = PAWL_TIME_NEVER,
        .payload = pawl__str(payload)};
    const struct pawl_change change = {PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &mail};
    struct pawl_commit commit = {.changes = &change, .change_count = 1}, *list = &commit;

    if (look == 1) {
        end_child(f, look);
        between.behind = end_child_and_tell;
        return;
    }
    assert_ok(pawl_store_apply(f->a.store, &list, 1, later(f), &f->err), &f->err);
    assert_int_equal(commit.status, PAWL_OK);
    drain(f, &f->a);
}

static void a_child_whose_parent_is_told_twice_is_not_one_of_a_bulk(void **state)
{
    struct fixture *f = *state;
    struct pawl_json exported;
    const char *id;

    publish(f, DEFINITION("other", RIG_EVENT("o", "Other")));
    id = launch_with_kid(f, BESIDE_A_BULK);
    exported = take_away(f, id);
    bring_back_with(f, &exported, end_child_and_tell);
    assert_int_equal(between.looks, 2);
    assert_string_equal(sub_status(f, id), "Suspended");
    send_event(f, "Other");
    drain(f, &f->a);
    it_ends(f, id);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_parent_that_executes_a_child_learns_that_it_has_ended_meanwhile),
        TEST(a_parent_that_dispatched_a_child_learns_that_it_has_ended_meanwhile),
        TEST(a_parent_learns_of_a_child_that_ended_after_a_retry),
        TEST(a_child_that_goes_on_tells_its_parent_later),
        TEST(a_child_that_ends_just_before_the_import_is_noticed),
        TEST(a_child_whose_parent_is_told_twice_is_not_one_of_a_bulk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
