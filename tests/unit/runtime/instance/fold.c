/* SPDX-License-Identifier: Apache-2.0 */
/* Several events in one commit: which share one, and that each still counts once. */
#include "runtime/instance/private.h"
#include "unit/runtime/nodes.h"

#define ROUND(n) RIG_EVENT("e" n, "Go") "," RIG_WRITE("w" n, "round " n)
/* Waits for the same event four times, then for one that nobody sends. */
#define ROUNDS(id, more)                                                                           \
    DEFINITION(id, more,                                                                           \
               ROUND("1") "," ROUND("2") "," ROUND("3") "," ROUND("4") "," RIG_EVENT("x", "No"))

/* The only row of this kind. */
static struct pawl_work_row work_of(struct fixture *f, const char *kind)
{
    const struct pawl_query query = {.table = PAWL_TABLE_WORK, .limit = 100};
    struct pawl_work_row found = {0};
    struct pawl_rows rows = {0};

    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    for (size_t i = 0; i < rows.count; i++) {
        const struct pawl_work_row *row = &((const struct pawl_work_row *)rows.rows)[i];

        if (!pawl__str_is(row->kind, kind))
            continue;
        assert_int_equal(found.id.len, 0);
        found = *row;
    }
    assert_int_not_equal(found.id.len, 0);
    return found;
}

/* Mail of an instance, behind all that was sent before. */
static void put_mail(struct fixture *f, const char *instance_id, struct pawl_str hash,
                     const char *payload)
{
    const struct pawl_work_row row = {
        .id = pawl__str("mail"),
        .kind = pawl__str(PAWL_WORK_RESUME),
        .instance_id = pawl__str(instance_id),
        .hash = hash,
        .created_us = WALL / 1000,
        .due_us = WALL / 1000 + 1,
        .expires_us = PAWL_TIME_NEVER,
        .payload = pawl__str(payload),
    };
    const struct pawl_change change = {PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &row};
    struct pawl_commit commit = {.changes = &change, .change_count = 1};
    struct pawl_commit *commits[] = {&commit};

    assert_ok(pawl_store_apply(f->a.store, commits, 1, later(f), &f->err), &f->err);
    test_clock_advance(f->clock, SECOND / 1000);
}

static void send_times(struct fixture *f, int times)
{
    for (int i = 0; i < times; i++)
        assert_int_equal(send(f, "Go").resumed, 1);
}

/* Commits that delivering takes, but for the one that deletes the rows of lines. */
static unsigned commits_of_drain(struct fixture *f)
{
    unsigned before = f->applied;

    drain(f);
    return f->applied - before - 1;
}

static void events_that_wait_together_share_a_commit(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, ROUNDS("d", ""));
    outcome = start(f, "d");
    send_times(f, 3);
    assert_int_equal(commits_of_drain(f), 1);
    assert_string_equal(f->lines, "round 1\nround 2\nround 3\n");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    assert_int_equal(count(f, PAWL_TABLE_BOOKMARKS), 1);
    assert_int_equal(count(f, PAWL_TABLE_JOURNAL), 4);
    assert_string_equal(sub_status(f, outcome.instance_id), "Suspended");
    send_times(f, 1);
    drain(f);
    assert_string_equal(f->lines, "round 1\nround 2\nround 3\nround 4\n");
}

/* The log of a fold is that of commits of their own: no number is missing, none is there twice. */
static void the_journal_of_a_fold_is_whole(void **state)
{
    struct fixture *f = *state;
    struct pawl_json log, records;
    struct pawl_outcome outcome;

    publish(f, ROUNDS("d", ""));
    outcome = start(f, "d");
    send_times(f, 4);
    assert_int_equal(commits_of_drain(f), 1);
    assert_ok(pawl__runtime_journal(f->a.runtime, pawl__str(outcome.instance_id), &f->arena, &log,
                                    &records, later(f), &f->err),
              &f->err);
    assert_true(pawl__json_len(&log) > 16);
    for (uint32_t i = 0; i < pawl__json_len(&log); i++) {
        int64_t sequence = -1;

        assert_true(
            pawl__json_to_int(pawl__json_get_text(pawl__json_at(&log, i), "sequence"), &sequence));
        assert_int_equal(sequence, i);
    }
}

static void a_fold_whose_answer_was_lost_counts_once(void **state)
{
    struct fixture *f = *state;

    publish(f, ROUNDS("d", ""));
    (void)start(f, "d");
    send_times(f, 3);
    fail_next(f, PAWL_STORE_CALL_APPLY, PAWL_STORE_FAULT_AFTER);
    drain(f);
    assert_string_equal(f->lines, "round 1\nround 2\nround 3\n");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    assert_int_equal(count(f, PAWL_TABLE_DEAD_LETTERS), 0);
}

static void a_commit_strategy_has_its_commit_for_each_event(void **state)
{
    struct fixture *f = *state;

    f->engine.commit_strategies = true;
    publish(f, ROUNDS("d", "'options':{'commitStrategyName':'WorkflowExecuted'},"));
    (void)start(f, "d");
    send_times(f, 3);
    assert_int_equal(commits_of_drain(f), 3);
    assert_string_equal(f->lines, "round 1\nround 2\nround 3\n");
}

/* What somebody may wait for is durable at once, and the events behind it come after that. */
static void an_effect_that_others_wait_for_ends_a_fold(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "",
                          ROUND("1") "," PUBLISH("p", "Told") "," ROUND("2") "," ROUND(
                              "3") "," RIG_EVENT("x", "No")));
    (void)start(f, "d");
    send_times(f, 3);
    assert_string_equal(f->lines, "");
    drain(f);
    assert_string_equal(f->lines, "round 1\nround 2\nround 3\n");
}

static void a_second_event_of_another_kind_is_parked_behind_a_fold(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "",
                          ROUND("1") "," ROUND("2") "," RIG_EVENT("o", "Other") "," ROUND(
                              "3") "," RIG_EVENT("x", "No")));
    (void)start(f, "d");
    send_times(f, 3); /* the third finds nothing, and waits */
    drain(f);
    assert_string_equal(f->lines, "round 1\nround 2\n");
    assert_int_equal(send(f, "Other").resumed, 1);
    drain(f);
    assert_string_equal(f->lines, "round 1\nround 2\nround 3\n");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* It comes with the first piece of mail, and goes with the second. */
static void a_bookmark_within_a_fold_wakes_what_was_parked_for_it(void **state)
{
    struct fixture *f = *state;
    struct pawl_work_row before, after;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", "",
                          ROUND("1") "," RIG_EVENT("h", "Parked") "," RIG_WRITE(
                              "w", "came") "," RIG_EVENT("x", "No")));
    outcome = start(f, "d");
    assert_true(send(f, "Parked").parked);
    before = work_of(f, PAWL_WORK_STIMULUS);
    send_times(f, 1);
    put_mail(f, outcome.instance_id, before.hash, "{}");
    drain(f);
    assert_string_equal(f->lines, "round 1\ncame\n");
    assert_int_equal(count(f, PAWL_TABLE_BOOKMARKS), 1);
    /* It was matched again, found nothing and was parked again: as another row. */
    after = work_of(f, PAWL_WORK_STIMULUS);
    assert_int_equal(after.due_us, PAWL_TIME_NEVER);
    assert_false(pawl__str_equal(before.id, after.id));
}

#define WAIT(n) RIG_EVENT("b" n, "Branch" n)
#define WAIT_10(n)                                                                                 \
    WAIT(n "0")                                                                                    \
    "," WAIT(n "1") "," WAIT(n "2") "," WAIT(n "3") "," WAIT(n "4") "," WAIT(n "5") "," WAIT(      \
        n "6") "," WAIT(n "7") "," WAIT(n "8") "," WAIT(n "9")

/* More than are noted in the middle of a fold, all but one of which stay. */
static void bookmarks_of_a_fold_are_stored_however_many(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct pawl_work_row parked;

    publish(f,
            DEFINITION("d", "",
                       ROUND("1") "," RIG_PARALLEL(
                           "p", WAIT_10("0") "," WAIT_10("1") "," WAIT_10("2") "," WAIT_10("3"))));
    outcome = start(f, "d");
    assert_true(send(f, "Branch39").parked);
    parked = work_of(f, PAWL_WORK_STIMULUS);
    send_times(f, 1);
    put_mail(f, outcome.instance_id, parked.hash, "{}");
    drain(f);
    assert_int_equal(count(f, PAWL_TABLE_BOOKMARKS), 39);
    for (int i = 0; i < 39; i++) {
        char name[16];

        (void)snprintf(name, sizeof name, "Branch%02d", i);
        assert_int_equal(send(f, name).resumed, 1);
    }
    drain(f);
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
}

/* Mail that cannot be read, behind two pieces that can. */
static void an_event_that_fails_undoes_none_before_it(void **state)
{
    const struct pawl_query query = {.table = PAWL_TABLE_BOOKMARKS, .limit = 1};
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct pawl_rows rows = {0};

    publish(f, ROUNDS("d", ""));
    outcome = start(f, "d");
    send_times(f, 2);
    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    put_mail(f, outcome.instance_id, ((const struct pawl_bookmark_row *)rows.rows)->hash,
             "not JSON");
    drain(f);
    assert_string_equal(f->lines, "round 1\nround 2\n");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 1); /* tried again later */
    for (int i = 0; i < 4; i++) {
        test_clock_advance(f->clock, 3600 * SECOND);
        drain(f);
    }
    assert_string_equal(f->lines, "round 1\nround 2\n");
    assert_int_equal(count(f, PAWL_TABLE_DEAD_LETTERS), 1);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* Of the sequence: a variable that lives as long as the request. */
#define SHORT_LIVED                                                                                \
    "{'id':'v','name':'V','typeName':'String','value':'initial',"                                  \
    "'storageDriverTypeName':'MemoryStorageDriver'}"
#define REMEMBER(n)                                                                                \
    RIG_EVENT("e" n, "Go")                                                                         \
    ",{'id':'w" n "','type':'Elsa.WriteLine','text':" RIG_INPUT(                                   \
        "String", "Variable", "{'id':'v'}") "},{'id':'s" n "','type':'Elsa.SetVariable','variable" \
                                            "':{'id':'v'},'value':" RIG_INPUT("String", "Literal", \
                                                                              "'" n "'") "}"

/* Mail that cannot be read, behind two pieces that can: they run again from where they began. */
static void what_a_request_remembers_is_of_events_that_count(void **state)
{
    const struct pawl_query query = {.table = PAWL_TABLE_BOOKMARKS, .limit = 1};
    struct fixture *f = *state;
    struct pawl_request request;
    const struct pawl_run run = {.request = &request};
    struct pawl_outcome outcome;
    struct pawl_rows rows = {0};

    publish(f, "{'definitionId':'d','id':'d:1','version':1,'name':'d','root':{'id':'seq','type':"
               "'Elsa.Sequence','variables':[" SHORT_LIVED
               "],'activities':[" REMEMBER("1") "," REMEMBER("2") "," REMEMBER("3") "]}}");
    outcome = start(f, "d");
    send_times(f, 2);
    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    put_mail(f, outcome.instance_id, ((const struct pawl_bookmark_row *)rows.rows)->hash,
             "not JSON");
    pawl__request_init(&request, &f->env->alloc);
    assert_int_not_equal(pawl__runtime_run(f->a.runtime, pawl__str(outcome.instance_id), &run, NULL,
                                           later(f), &f->err),
                         PAWL_OK);
    pawl__request_release(&request);
    assert_string_equal(f->lines, "initial\n1\n");
}

/* ---- with direct delivery -------------------------------------------------------------------- */

static void open_direct(struct fixture *f)
{
    node_close(&f->a);
    f->delivery = PAWL_DELIVERY_DIRECT;
    node_open(f, &f->a, "a");
}

static int set_up_direct(void **state)
{
    int status = set_up(state);

    open_direct(*state);
    return status;
}

/* For commits that are sent again after a while. */
static int set_up_direct_running(void **state)
{
    int status = set_up_running(state);

    open_direct(*state);
    return status;
}
#define DIRECT(name) cmocka_unit_test_setup_teardown(name, set_up_direct, tear_down)
#define DIRECT_RUNNING(name) cmocka_unit_test_setup_teardown(name, set_up_direct_running, tear_down)
#define RUNNING(name) cmocka_unit_test_setup_teardown(name, set_up_running, tear_down)

static struct pawl_sent send_key(struct fixture *f, const char *id, const char *key)
{
    const struct pawl_stimulus to = {.instance_id = pawl__str(id),
                                     .idempotency_key = pawl__str(key)};
    struct pawl_sent sent;

    assert_ok(pawl__runtime_send_event(f->a.runtime, pawl__str("Go"), NULL, &to, &sent, later(f),
                                       &f->err),
              &f->err);
    return sent;
}

/* As mail, because a thread has the instance in hand. */
static void send_mail(struct fixture *f, const char *id, int times)
{
    struct runtime_running running;

    assert_ok(pawl__runtime_enter(f->a.runtime, &running, pawl__str(id), PAWL_FOREVER), NULL);
    for (int i = 0; i < times; i++)
        assert_int_equal(send_key(f, id, "").resumed, 1);
    assert_false(pawl__runtime_leave(f->a.runtime, &running));
}

static void older_mail_shares_a_commit_before_that_of_what_a_sender_brings(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    unsigned before;

    publish(f, ROUNDS("d", ""));
    outcome = start(f, "d");
    send_mail(f, outcome.instance_id, 2);
    before = f->applied;
    assert_int_equal(send_key(f, outcome.instance_id, "key").resumed, 1);
    assert_int_equal(f->applied - before, 2);
    assert_string_equal(f->lines, "round 1\nround 2\nround 3\n");
    assert_int_equal(send_key(f, outcome.instance_id, "key").resumed, 1); /* once */
    drain(f);
    assert_string_equal(f->lines, "round 1\nround 2\nround 3\n");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void a_sender_whose_answer_was_lost_counts_once_behind_mail(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, ROUNDS("d", ""));
    outcome = start(f, "d");
    send_mail(f, outcome.instance_id, 2);
    fail_next(f, PAWL_STORE_CALL_APPLY, PAWL_STORE_FAULT_AFTER);
    assert_int_equal(send_key(f, outcome.instance_id, "").resumed, 1);
    drain(f);
    assert_string_equal(f->lines, "round 1\nround 2\nround 3\n");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    assert_int_equal(count(f, PAWL_TABLE_DEAD_LETTERS), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(events_that_wait_together_share_a_commit),
        TEST(the_journal_of_a_fold_is_whole),
        RUNNING(a_fold_whose_answer_was_lost_counts_once),
        TEST(a_commit_strategy_has_its_commit_for_each_event),
        TEST(an_effect_that_others_wait_for_ends_a_fold),
        TEST(a_second_event_of_another_kind_is_parked_behind_a_fold),
        TEST(a_bookmark_within_a_fold_wakes_what_was_parked_for_it),
        TEST(bookmarks_of_a_fold_are_stored_however_many),
        TEST(an_event_that_fails_undoes_none_before_it),
        TEST(what_a_request_remembers_is_of_events_that_count),
        DIRECT(older_mail_shares_a_commit_before_that_of_what_a_sender_brings),
        DIRECT_RUNNING(a_sender_whose_answer_was_lost_counts_once_behind_mail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
