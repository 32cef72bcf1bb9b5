/* SPDX-License-Identifier: Apache-2.0 */
/* Children and jobs in the background: what their parents learn of them, whatever becomes of
 * either. */
#include "runtime/work/families.h"

#define PARALLEL(id, activities)                                                                   \
    "{'id':'" id "','type':'Elsa.Parallel','activities':[" activities "]}"
#define AWAY "'customProperties':{'runAsynchronously':true},"
#define CHILD_AWAY(id, definition)                                                                 \
    "{'id':'" id "'," AWAY "'type':'Elsa.ExecuteWorkflow','waitForCompletion':" RIG_INPUT(         \
        "Boolean", "Literal", "true") ",'workflowDefinitionId':" TEXT(definition) "}"
#define DELAY(id, time)                                                                            \
    "{'id':'" id                                                                                   \
    "','type':'Elsa.Delay','timeSpan':" RIG_INPUT("TimeSpan", "Literal", "'" time "'") "}"

/* The child ends right behind its first burst: in the mail of one moment its end comes second. */
static void a_child_in_the_background_that_ends_at_once_is_not_waited_for(void **state)
{
    struct fixture *f = *state;
    const char *id;

    publish(f, DEFINITION("child", PARALLEL("p", DELAY("t", "00:00:01") "," SEND("s"))));
    publish(f, DEFINITION("d", CHILD_AWAY("c", "child") "," RIG_WRITE("w", "after")));
    id = launch(f, "d");
    assert_int_equal(f->a.script.count, 1);
    test_clock_advance(f->clock, 2 * SECOND);
    work(f, &f->a);
    script_answer(&f->a.script, 0, &ok);
    drain(f, &f->a);
    assert_string_equal(f->lines, "after\n");
    assert_string_equal(sub_status(f, id), "Finished");
}

/* A branch that faults, and goes on when it is tried again. */
#define FAULTY(other)                                                                              \
    DEFINITION("d",                                                                                \
               PARALLEL("p", other "," RIG_SEQUENCE("l", RIG_EVENT("e", "Bad") "," SEND(           \
                                                             "s"))) "," RIG_WRITE("w", "after"))

static void fault(struct fixture *f, const char *id)
{
    f->a.script.refuses = PAWL_EINVAL;
    send_event(f, "Bad");
    POLL_UNTIL(has_faulted(f, id));
    f->a.script.refuses = PAWL_OK;
}

static void retry(struct fixture *f, const char *id)
{
    f->a.script.answers = &ok;
    f->a.script.answer_count = 1;
    assert_ok(pawl__runtime_retry(f->a.runtime, pawl__str(id), NULL, 0, NULL, later(f), &f->err),
              &f->err);
}

static void what_a_child_told_while_its_parent_was_faulted_is_known_after_a_retry(void **state)
{
    struct fixture *f = *state;
    const char *id;

    publish(f, DEFINITION("child", RIG_EVENT("k", "Kid")));
    publish(f, FAULTY(CHILD("c", "child")));
    id = launch(f, "d");
    fault(f, id);
    send_event(f, "Kid");
    assert_string_equal(sub_status(f, id), "Faulted");
    retry(f, id);
    drain(f, &f->a);
    assert_string_equal(sub_status(f, id), "Finished");
    assert_string_equal(f->lines, "after\n");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* As that of one that was cancelled. */
static void the_deletion_of_a_child_is_its_end(void **state)
{
    const struct pawl_query query = {.table = PAWL_TABLE_INSTANCES, .limit = 10};
    struct fixture *f = *state;
    struct pawl_rows rows;
    const char *id;

    publish(f, DEFINITION("child", RIG_EVENT("k", "Kid")));
    publish(f, DEFINITION("d", CHILD("c", "child") "," RIG_WRITE("w", "after")));
    id = launch(f, "d");
    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    assert_int_equal(rows.count, 2);
    for (size_t i = 0; i < rows.count; i++) {
        const struct pawl_instance_row *row = (const struct pawl_instance_row *)rows.rows + i;

        if (row->parent_id.len > 0)
            assert_ok(pawl__runtime_delete(f->a.runtime, row->id, later(f), &f->err), &f->err);
    }
    drain(f, &f->a);
    assert_string_equal(f->lines, "after\n");
    assert_string_equal(sub_status(f, id), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void a_request_in_the_background_is_not_sent_again_by_a_retry(void **state)
{
    struct fixture *f = *state;

    publish(f, FAULTY(SEND_WITH("b", AWAY)));
    for (size_t is_late = 0; is_late < 2; is_late++) {
        size_t first = f->a.script.count;
        const char *id = launch(f, "d");

        assert_int_equal(f->a.script.count, first + 1);
        fault(f, id);
        if (!is_late) {
            script_answer(&f->a.script, first, &ok);
            drain(f, &f->a);
        }
        retry(f, id);
        work(f, &f->a);
        if (is_late)
            script_answer(&f->a.script, first, &ok);
        drain(f, &f->a);
        assert_string_equal(sub_status(f, id), "Finished");
        assert_int_equal(f->a.script.count, first + 2); /* that, and the one that was refused */
        assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    }
}

/* As when it was put off, or has failed: it has another id, and is to be sent by whoever takes it.
 */
static void rename_request(struct fixture *f)
{
    const struct pawl_condition condition = {.column = pawl_table_column(PAWL_TABLE_WORK, "kind"),
                                             .value = {.text = pawl__str(PAWL_WORK_HTTP)}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_WORK, .conditions = &condition, .condition_count = 1};
    struct pawl_work_row renamed;
    struct pawl_change changes[2];
    struct pawl_commit commit = {.changes = changes, .change_count = 2}, *list = &commit;
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    assert_int_equal(rows.count, 1);
    renamed = *(const struct pawl_work_row *)rows.rows;
    renamed.id = pawl__str("renamed");
    renamed.owner = 0;
    changes[0] = (struct pawl_change){PAWL_CHANGE_DELETE, PAWL_TABLE_WORK, rows.rows};
    changes[1] = (struct pawl_change){PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, &renamed};
    assert_ok(pawl_store_apply(f->a.store, &list, 1, later(f), &f->err), &f->err);
    assert_int_equal(commit.status, PAWL_OK);
}

static size_t count_keys(struct fixture *f, const char *key)
{
    size_t found = 0;

    for (size_t i = 0; i < f->a.script.count; i++)
        found += strcmp(f->a.script.asked[i].key, key) == 0;
    return found;
}

/* It took whatever came meanwhile. */
static bool awaits_nothing(struct fixture *f, const char *id)
{
    struct pawl_instance_row row;

    work(f, &f->a);
    assert_ok(
        pawl__runtime_show(f->a.runtime, pawl__str(id), &f->arena, &row, NULL, later(f), &f->err),
        &f->err);
    return row.runnable == 0;
}

static void a_request_that_was_renamed_is_not_begun_anew_by_a_retry(void **state)
{
    struct fixture *f = *state;
    const char *id;

    publish(f, FAULTY(SEND_WITH("b", AWAY)));
    id = launch(f, "d");
    assert_int_equal(f->a.script.count, 1);
    fault(f, id);
    rename_request(f);
    /* Who sent it has no part in it any more. */
    script_answer(&f->a.script, 0, &ok);
    assert_ok(pawl__runtime_wait_answered(f->a.runtime, pawl__str(""), later(f)), &f->err);
    assert_ok(pawl__runtime_retry(f->a.runtime, pawl__str(id), NULL, 0, NULL, later(f), &f->err),
              &f->err);
    work(f, &f->a);
    assert_int_equal(count_keys(f, f->a.script.asked[0].key), 2);
    assert_int_equal(f->a.script.count, 3); /* with the one that was refused */
    for (size_t i = 0; i < 3; i++)
        if (strcmp(f->a.script.asked[i].key, f->a.script.asked[0].key) != 0)
            script_answer(&f->a.script, i, &ok);
    POLL_UNTIL(awaits_nothing(f, id));
    assert_int_equal(f->a.script.count, 3);
    for (size_t i = 1; i < 3; i++)
        script_answer(&f->a.script, i, &ok);
    drain(f, &f->a);
    assert_string_equal(sub_status(f, id), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* ---- deletion, and ends that come twice ------------------------------------------------------ */

#define DISPATCH(id, definition)                                                                   \
    "{'id':'" id "','type':'Elsa.DispatchWorkflow','workflowDefinitionId':" TEXT(definition) "}"
/* With a list of two that BULK() has one child for each of. */
#define BULK_DEFINITION(id, activities)                                                            \
    "{'definitionId':'" id "','id':'" id ":1','version':1,'name':'" id                             \
    "','variables':[{'id':'v','name':'V','typeName':'Int32','isArray':true,'value':'[7,8]'}],"     \
    "'root':" RIG_SEQUENCE("seq", activities) "}"

static void delete_one_of(struct fixture *f, const char *definition_id)
{
    assert_ok(pawl__runtime_delete(f->a.runtime, one_of(f, definition_id), later(f), &f->err),
              &f->err);
}

#define MANY 250

/* More than one commit deletes: none of them begins. */
static void children_that_have_not_begun_are_cancelled_with_their_parent(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    const char *text;
    char items[MANY * 2 + 2];

    for (size_t i = 0; i < MANY; i++) {
        items[2 * i] = i > 0 ? ',' : '[';
        items[2 * i + 1] = '7';
    }
    memcpy(&items[2 * MANY], "]", 2);
    text = pawl__arena_printf(
        &f->arena,
        "{'definitionId':'d','id':'d:1','version':1,'name':'d','variables':[{'id':'v','name':'V',"
        "'typeName':'Int32','isArray':true,'value':'%s'}],'root':" RIG_SEQUENCE(
            "seq", BULK("b", "child")) "}",
        items);
    assert_non_null(text);
    publish(f, DEFINITION("child", RIG_EVENT("k", "Kid")));
    publish(f, text);
    outcome = start_until(f, "d", pawl_env_monotonic_ns(f->env));
    assert_int_equal(count(f, PAWL_TABLE_WORK), MANY);
    assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str(outcome.instance_id), later(f), &f->err),
              &f->err);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    work(f, &f->a);
    assert_int_equal(count(f, PAWL_TABLE_INSTANCES), 1);
    assert_string_equal(sub_status(f, outcome.instance_id), "Cancelled");
}

static void the_deletion_of_a_child_that_nobody_waits_for_ends_nothing(void **state)
{
    struct fixture *f = *state;
    const char *id;

    publish(f, DEFINITION("child", RIG_EVENT("k", "Kid")));
    publish(f, DEFINITION("forgotten", RIG_EVENT("f", "Never")));
    publish(f,
            BULK_DEFINITION("d", DISPATCH("x", "forgotten") "," DISPATCH("y", "forgotten") "," BULK(
                                     "b", "child") "," RIG_WRITE("w", "after")));
    id = launch(f, "d");
    delete_one_of(f, "forgotten");
    delete_one_of(f, "forgotten");
    drain(f, &f->a);
    assert_string_equal(sub_status(f, id), "Suspended");
    send_event(f, "Kid");
    drain(f, &f->a);
    assert_string_equal(sub_status(f, id), "Finished");
    assert_string_equal(f->lines, "after\n");
}

/* Inline or in the background: its parent has nothing but this to go on with. */
static void the_deletion_of_a_child_in_its_first_burst_is_its_end(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("child", SEND("s")));
    publish(f, DEFINITION("inline", CHILD("c", "child") "," RIG_WRITE("w", "after")));
    publish(f, DEFINITION("away", CHILD_AWAY("c", "child") "," RIG_WRITE("w", "after")));
    for (size_t i = 0; i < 2; i++) {
        const char *id = launch(f, i == 0 ? "inline" : "away");

        assert_int_equal(f->a.script.count, i + 1);
        assert_string_equal(f->lines, "");
        delete_one_of(f, "child");
        work(f, &f->a);
        assert_string_equal(sub_status(f, id), "Finished");
        assert_string_equal(f->lines, "after\n");
        script_answer(&f->a.script, i, &ok); /* nobody is there to get it */
        drain(f, &f->a);
        assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
        assert_string_equal(f->lines, "after\n");
        f->lines[0] = '\0';
    }
}

/* As the end of a child whose state cannot be read tells it: again, if who ended it has not seen
 * yet that the parent knows. */
static void tell_again(struct fixture *f, const char *definition_id, const char *parent)
{
    struct pawl_str child = one_of(f, definition_id);
    const char *payload =
        pawl__arena_printf(&f->arena,
                           "{\"workflowInstanceId\":\"%.*s\",\"status\":\"Finished\","
                           "\"subStatus\":\"Cancelled\",\"output\":{}}",
                           PAWL_STR_ARG(child));
    const struct pawl_work_row feed = {
        .id = pawl__str(pawl__arena_printf(&f->arena, "%.*s/feed", PAWL_STR_ARG(child))),
        .kind = pawl__str(PAWL_WORK_FEED),
        .instance_id = pawl__str(parent),
        .part = pawl__runtime_part(pawl__str(parent)),
        .expires_us = PAWL_TIME_NEVER,
        .payload = pawl__str(payload)};
    const struct pawl_change change = {PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &feed};
    struct pawl_commit commit = {.changes = &change, .change_count = 1}, *list = &commit;

    assert_ok(pawl_store_apply(f->a.store, &list, 1, later(f), &f->err), &f->err);
    assert_int_equal(commit.status, PAWL_OK);
}

static void the_result_of_one_child_is_not_taken_for_that_of_another(void **state)
{
    struct fixture *f = *state;
    const char *id;

    publish(f, DEFINITION("one", RIG_WRITE("o", "one")));
    publish(f, DEFINITION("other", SEND("s") "," RIG_WRITE("o", "other")));
    publish(f,
            DEFINITION("d", CHILD("x", "one") "," CHILD("y", "other") "," RIG_WRITE("w", "after")));
    id = launch(f, "d");
    assert_int_equal(f->a.script.count, 1);
    tell_again(f, "one", id);
    work(f, &f->a);
    assert_string_equal(f->lines, "one\n");
    assert_string_equal(sub_status(f, id), "Executing");
    tell_again(f, "one", id); /* and beside the true result */
    script_answer(&f->a.script, 0, &ok);
    drain(f, &f->a);
    assert_string_equal(f->lines, "one\nother\nafter\n");
    assert_string_equal(sub_status(f, id), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* Mail of work with this id. */
static void put_feed(struct fixture *f, const char *to, struct pawl_work_row feed)
{
    const struct pawl_change change = {PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &feed};
    struct pawl_commit commit = {.changes = &change, .change_count = 1}, *list = &commit;

    feed.kind = pawl__str(PAWL_WORK_FEED);
    feed.instance_id = pawl__str(to);
    feed.part = pawl__runtime_part(feed.instance_id);
    feed.expires_us = PAWL_TIME_NEVER;
    assert_ok(pawl_store_apply(f->a.store, &list, 1, later(f), &f->err), &f->err);
    assert_int_equal(commit.status, PAWL_OK);
}

/* Work that was given up and is replayed has a new id, and so has its result. Older nodes do not
 * say of which child it is. */
static void the_result_of_replayed_work_is_taken(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("child", SEND("s") "," RIG_WRITE("o", "child")));
    publish(f, DEFINITION("d", CHILD("x", "child") "," RIG_WRITE("w", "after")));
    for (size_t says = 0; says < 2; says++) {
        const char *id = launch(f, "d"), *payload = "{\"error\":\"no such definition\"}";
        struct pawl_str child = one_of(f, "child");

        assert_string_equal(sub_status(f, id), "Executing");
        if (says)
            payload = pawl__arena_printf(
                &f->arena, "{\"workflowInstanceId\":\"%.*s\",\"error\":\"no such definition\"}",
                PAWL_STR_ARG(child));
        put_feed(f, id,
                 (struct pawl_work_row){.id = pawl__str("replayed/feed"),
                                        .payload = pawl__str(payload)});
        work(f, &f->a);
        POLL_UNTIL(has_faulted(f, id));
        script_answer(&f->a.script, says, &ok);
        drain(f, &f->a);
        assert_ok(pawl__runtime_delete(f->a.runtime, child, later(f), &f->err), &f->err);
    }
}

/* As it is stored when an operator replays it. */
static void put_start(struct fixture *f, const char *parent, const char *definition_id)
{
    const char *payload = pawl__arena_printf(
        &f->arena,
        "{\"mode\":\"execute\",\"parentInstanceId\":\"%s\",\"definitionId\":\"%s\","
        "\"instanceId\":\"an-earlier-child\"}",
        parent, definition_id);
    const struct pawl_work_row start = {.id = pawl__str("replayed"),
                                        .kind = pawl__str(PAWL_WORK_START),
                                        .name = pawl__str(parent),
                                        .expires_us = PAWL_TIME_NEVER,
                                        .payload = pawl__str(payload)};
    const struct pawl_change change = {PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &start};
    struct pawl_commit commit = {.changes = &change, .change_count = 1}, *list = &commit;

    assert_ok(pawl_store_apply(f->a.store, &list, 1, later(f), &f->err), &f->err);
    assert_int_equal(commit.status, PAWL_OK);
}

/* The start of an earlier child was given up, and is replayed when its parent awaits another one.
 */
static void the_refusal_of_one_child_is_not_taken_for_that_of_another(void **state)
{
    struct fixture *f = *state;
    const char *id;

    publish(f, DEFINITION("child", SEND("s") "," RIG_WRITE("o", "child")));
    publish(f, DEFINITION("d", CHILD("x", "child") "," RIG_WRITE("w", "after")));
    id = launch(f, "d");
    put_start(f, id, "unpublished");
    work(f, &f->a);
    assert_string_equal(sub_status(f, id), "Executing");
    script_answer(&f->a.script, 0, &ok);
    drain(f, &f->a);
    assert_string_equal(f->lines, "child\nafter\n");
    assert_string_equal(sub_status(f, id), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void the_response_of_one_request_is_not_taken_for_that_of_another(void **state)
{
    struct fixture *f = *state;
    const char *id;

    publish(f, DEFINITION("d", SEND("s") "," RIG_WRITE("w", "after")));
    id = launch(f, "d");
    put_feed(f, id,
             (struct pawl_work_row){.id = pawl__str("renamed/feed"),
                                    .name = pawl__str("another-effect"),
                                    .payload = pawl__str("{\"statusCode\":500}")});
    work(f, &f->a);
    assert_string_equal(sub_status(f, id), "Executing");
    script_answer(&f->a.script, 0, &ok);
    drain(f, &f->a);
    assert_string_equal(sub_status(f, id), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* The oldest of its mail is the result of another; the true one is behind more than a claim
 * returns. */
static void a_result_is_found_behind_that_of_another_child(void **state)
{
    struct fixture *f = *state;
    const char *id;

    publish(f, DEFINITION("one", RIG_WRITE("o", "one")));
    publish(f, DEFINITION("other", SEND("s") "," RIG_WRITE("o", "other")));
    publish(
        f, DEFINITION("d", PARALLEL("p", RIG_EVENT("e", "Go") "," RIG_SEQUENCE(
                                             "l", CHILD("x", "one") "," CHILD(
                                                      "y", "other"))) "," RIG_WRITE("w", "after")));
    id = launch(f, "d");
    tell_again(f, "one", id);
    for (int i = 0; i < PAWL_CLAIM_MAIL_MAX + 10; i++)
        send_event_to(f, "Go", pawl__str(id));
    assert_string_equal(f->lines, "one\n");
    test_clock_advance(f->clock, SECOND);
    script_answer(&f->a.script, 0, &ok);
    drain(f, &f->a);
    assert_string_equal(f->lines, "one\nother\nafter\n");
    assert_string_equal(sub_status(f, id), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* More of them than are looked at behind the mail of a claim, and its own has a new id. */
static void a_response_that_was_renamed_is_found_behind_those_of_others(void **state)
{
    struct fixture *f = *state;
    const char *id;

    publish(f, DEFINITION("d", PARALLEL("p", RIG_EVENT("e", "Go") "," SEND("s")) "," RIG_WRITE(
                                   "w", "after")));
    id = launch(f, "d");
    for (int i = 0; i < PAWL_CLAIM_MAIL_MAX + 10; i++)
        send_event_to(f, "Go", pawl__str(id));
    test_clock_advance(f->clock, SECOND);
    for (int i = 0; i < 40; i++)
        put_feed(
            f, id,
            (struct pawl_work_row){.id = pawl__str(pawl__arena_printf(&f->arena, "0-%d/feed", i)),
                                   .name = pawl__str("another-effect"),
                                   .payload = pawl__str("{\"statusCode\":500}")});
    rename_request(f);
    script_answer(&f->a.script, 0, &ok); /* its sender has no part in it any more */
    assert_ok(pawl__runtime_wait_answered(f->a.runtime, pawl__str(""), later(f)), &f->err);
    work(f, &f->a);
    assert_int_equal(f->a.script.count, 2);
    script_answer(&f->a.script, 1, &ok);
    drain(f, &f->a);
    assert_string_equal(f->lines, "after\n");
    assert_string_equal(sub_status(f, id), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* Its parent knows of the first end; of two children one is left. */
static void a_child_that_ends_again_after_a_retry_counts_once(void **state)
{
    struct fixture *f = *state;
    struct pawl_str child;
    const char *id;

    publish(f, DEFINITION("child", RIG_EVENT("e", "Bad") "," SEND("s")));
    publish(f, BULK_DEFINITION("d", BULK("b", "child") "," RIG_WRITE("w", "after")));
    id = launch(f, "d");
    child = one_of(f, "child");
    f->a.script.refuses = PAWL_EINVAL;
    send_event_to(f, "Bad", child);
    POLL_UNTIL(has_faulted(f, child.ptr));
    f->a.script.refuses = PAWL_OK;
    drain(f, &f->a);
    retry(f, child.ptr);
    drain(f, &f->a);
    assert_string_equal(sub_status(f, child.ptr), "Finished");
    assert_string_equal(sub_status(f, id), "Suspended");
    assert_string_equal(f->lines, "");

    send_event(f, "Bad"); /* the other one waits for it still */
    drain(f, &f->a);
    assert_string_equal(sub_status(f, id), "Finished");
    assert_string_equal(f->lines, "after\n");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_child_in_the_background_that_ends_at_once_is_not_waited_for),
        TEST(what_a_child_told_while_its_parent_was_faulted_is_known_after_a_retry),
        TEST(the_deletion_of_a_child_is_its_end),
        TEST(a_request_in_the_background_is_not_sent_again_by_a_retry),
        TEST(a_request_that_was_renamed_is_not_begun_anew_by_a_retry),
        TEST(children_that_have_not_begun_are_cancelled_with_their_parent),
        TEST(the_deletion_of_a_child_that_nobody_waits_for_ends_nothing),
        TEST(the_deletion_of_a_child_in_its_first_burst_is_its_end),
        TEST(a_child_that_ends_again_after_a_retry_counts_once),
        TEST(the_result_of_one_child_is_not_taken_for_that_of_another),
        TEST(the_result_of_replayed_work_is_taken),
        TEST(the_refusal_of_one_child_is_not_taken_for_that_of_another),
        TEST(the_response_of_one_request_is_not_taken_for_that_of_another),
        TEST(a_result_is_found_behind_that_of_another_child),
        TEST(a_response_that_was_renamed_is_found_behind_those_of_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
