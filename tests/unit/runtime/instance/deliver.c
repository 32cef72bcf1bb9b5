/* SPDX-License-Identifier: Apache-2.0 */
/* Direct delivery: what goes to an idle instance on the thread of its sender, and what does not. */
#include "runtime/instance/private.h"

#include "base/error.h"
#include "runtime/node/pause.h"
#include "runtime/work/private.h"
#include "unit/runtime/nodes.h"

#define WAITING(id, more)                                                                          \
    DEFINITION(id, more, RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went") "," RIG_EVENT("x", "No"))

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

static struct pawl_sent send_to(struct fixture *f, const char *id, const char *key)
{
    const struct pawl_stimulus to = {.instance_id = pawl__str(id),
                                     .idempotency_key = pawl__str(key)};
    struct pawl_sent sent;

    assert_ok(pawl__runtime_send_event(f->a.runtime, pawl__str("Go"), NULL, &to, &sent, later(f),
                                       &f->err),
              &f->err);
    return sent;
}

static void an_event_for_one_idle_instance_is_one_commit(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    unsigned before;

    publish(f, WAITING("d", ""));
    outcome = start(f, "d");
    before = f->applied;
    assert_int_equal(send_to(f, outcome.instance_id, "").resumed, 1);
    assert_int_equal(f->applied - before, 1);
    assert_string_equal(f->lines, "went\n");
    drain(f); /* deletes the row of the line, and finds nothing else */
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    assert_string_equal(f->lines, "went\n");
    assert_int_equal(reserved(f), 0);
}

/* The claim finds out whether it waits. */
static void an_event_to_an_instance_is_delivered_without_a_look(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, WAITING("d", ""));
    outcome = start(f, "d");
    fail_next(f, PAWL_STORE_CALL_FIND, PAWL_STORE_FAULT_BEFORE);
    assert_int_equal(send_to(f, outcome.instance_id, "").resumed, 1);
    assert_true(f->fail); /* nothing was looked for */
    f->fail = false;
    assert_string_equal(f->lines, "went\n");
}

static void an_event_that_an_instance_does_not_wait_for_is_parked_and_claims_nothing(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    unsigned before;

    publish(f,
            DEFINITION("d", "",
                       RIG_EVENT("x", "No") "," RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    outcome = start(f, "d");
    before = f->applied;
    assert_true(send_to(f, outcome.instance_id, "").parked);
    assert_int_equal(f->applied - before, 1);   /* no claim that a commit had to release */
    assert_int_equal(send(f, "No").resumed, 1); /* the bookmark that comes now wakes it */
    drain(f);
    assert_string_equal(f->lines, "went\n");
}

static void an_event_for_two_branches_of_an_instance_resumes_both(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", "",
                          RIG_PARALLEL("p", RIG_EVENT("e", "Go") "," RIG_EVENT(
                                                "x", "Go")) "," RIG_WRITE("w", "went")));
    outcome = start(f, "d");
    assert_int_equal(send_to(f, outcome.instance_id, "").resumed, 2);
    assert_string_equal(f->lines, "");
    drain(f);
    assert_string_equal(f->lines, "went\n");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void an_event_is_found_by_its_name_alone(void **state)
{
    struct fixture *f = *state;

    publish(f, WAITING("d", ""));
    (void)start(f, "d");
    assert_int_equal(send(f, "Go").resumed, 1);
    assert_string_equal(f->lines, "went\n");
}

/* Who waits for what an event does need not look for it. */
static void a_sender_learns_that_what_it_delivered_to_rests(void **state)
{
    struct fixture *f = *state;
    struct pawl_reach reach = {.arena = &f->arena};
    const struct pawl_stimulus to = {.reach = &reach};

    publish(f, WAITING("d", ""));
    (void)start(f, "d");
    assert_ok(
        pawl__runtime_send_event(f->a.runtime, pawl__str("Go"), NULL, &to, NULL, later(f), &f->err),
        &f->err);
    assert_int_equal(reach.count, 1);
    assert_true(reach.items[0].has_rested);
    assert_int_equal(reach.items[0].sub_status, PAWL_SUB_SUSPENDED);
    /* Of those that are rows nothing is known yet. */
    (void)start(f, "d");
    (void)start(f, "d");
    reach.count = 0;
    assert_ok(
        pawl__runtime_send_event(f->a.runtime, pawl__str("Go"), NULL, &to, NULL, later(f), &f->err),
        &f->err);
    assert_int_equal(reach.count, 2);
    assert_false(reach.items[0].has_rested);
    assert_false(reach.items[1].has_rested);
}

static void an_event_for_two_is_a_row_for_each(void **state)
{
    struct fixture *f = *state;

    publish(f, WAITING("d", ""));
    (void)start(f, "d");
    (void)start(f, "d");
    assert_int_equal(send(f, "Go").resumed, 2);
    assert_string_equal(f->lines, "");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 2);
    drain(f);
    assert_string_equal(f->lines, "went\nwent\n");
}

static void an_event_that_starts_something_too_is_rows(void **state)
{
    struct fixture *f = *state;

    publish(f, WAITING("d", ""));
    (void)start(f, "d");
    publish(f, DEFINITION("t", "", TRIGGER("e", "Go") "," RIG_WRITE("w", "started")));
    assert_int_equal(send(f, "Go").started, 1);
    assert_string_equal(f->lines, "");
    drain(f);
    assert_string_equal(f->lines, "started\nwent\n");
}

static void an_instance_that_a_thread_has_in_hand_gets_mail(void **state)
{
    struct fixture *f = *state;
    struct runtime_running running;
    struct pawl_outcome outcome;

    publish(f, WAITING("d", ""));
    outcome = start(f, "d");
    assert_ok(
        pawl__runtime_enter(f->a.runtime, &running, pawl__str(outcome.instance_id), PAWL_FOREVER),
        NULL);
    assert_int_equal(send_to(f, outcome.instance_id, "").resumed, 1);
    assert_string_equal(f->lines, "");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 1);
    assert_false(pawl__runtime_leave(f->a.runtime, &running)); /* no note was left */
    drain(f);
    assert_string_equal(f->lines, "went\n");
}

static void an_instance_that_another_node_has_gets_mail(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct pawl_claim claim;
    struct node b;
    int64_t now_us;

    publish(f, WAITING("d", ""));
    outcome = start(f, "d");
    node_open(f, &b, "b");
    claim = (struct pawl_claim){.id = pawl__str(outcome.instance_id)};
    assert_ok(pawl_store_claim(b.store, pawl__runtime_incarnation(b.runtime), &claim, 1, &f->arena,
                               &now_us, later(f), &f->err),
              &f->err);
    assert_int_equal(send_to(f, outcome.instance_id, "").resumed, 1);
    assert_string_equal(f->lines, "");
    node_close(&b); /* its claim ends */
    drain(f);
    assert_string_equal(f->lines, "went\n");
}

static void an_event_that_its_sender_leaves_to_workers_is_a_row(void **state)
{
    struct fixture *f = *state;
    struct pawl_stimulus to = {.detached = true};
    struct pawl_outcome outcome;

    publish(f, WAITING("d", ""));
    outcome = start(f, "d");
    to.instance_id = pawl__str(outcome.instance_id);
    assert_ok(
        pawl__runtime_send_event(f->a.runtime, pawl__str("Go"), NULL, &to, NULL, later(f), &f->err),
        &f->err);
    assert_string_equal(f->lines, "");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 1);
    drain(f);
    assert_string_equal(f->lines, "went\n");
}

static void older_mail_runs_first(void **state)
{
    struct fixture *f = *state;
    struct pawl_json first = json(f, "'first'"), second = json(f, "'second'");
    struct runtime_running running;
    struct pawl_outcome outcome;
    struct pawl_stimulus to = {0};

    publish(f, DEFINITION("d", "",
                          RIG_EVENT("e", "Go") "," RIG_WRITE("w", "one") "," RIG_EVENT(
                              "x", "Go") "," RIG_WRITE("w2", "two") "," RIG_EVENT("y", "No")));
    outcome = start(f, "d");
    to.instance_id = pawl__str(outcome.instance_id);
    assert_ok(pawl__runtime_enter(f->a.runtime, &running, to.instance_id, PAWL_FOREVER), NULL);
    assert_ok(pawl__runtime_send_event(f->a.runtime, pawl__str("Go"), &first, &to, NULL, later(f),
                                       &f->err),
              &f->err);
    (void)pawl__runtime_leave(f->a.runtime, &running);
    /* Delivers the mail, and what it brings to the next bookmark that waits for the same. */
    assert_ok(pawl__runtime_send_event(f->a.runtime, pawl__str("Go"), &second, &to, NULL, later(f),
                                       &f->err),
              &f->err);
    assert_string_equal(f->lines, "one\ntwo\n");
    drain(f);
    assert_string_equal(f->lines, "one\ntwo\n");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void an_event_whose_answer_was_lost_acts_once(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, WAITING("d", ""));
    outcome = start(f, "d");
    fail_next(f, PAWL_STORE_CALL_APPLY, PAWL_STORE_FAULT_AFTER);
    assert_int_equal(send_to(f, outcome.instance_id, "").resumed, 1);
    drain(f);
    assert_string_equal(f->lines, "went\n");
    assert_int_equal(count(f, PAWL_TABLE_DEAD_LETTERS), 0);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void an_event_whose_claim_is_refused_becomes_a_row(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, WAITING("d", ""));
    outcome = start(f, "d");
    fail_next(f, PAWL_STORE_CALL_CLAIM, PAWL_STORE_FAULT_BEFORE);
    assert_int_equal(send_to(f, outcome.instance_id, "").resumed, 1);
    assert_string_equal(f->lines, "");
    drain(f);
    assert_string_equal(f->lines, "went\n");
}

/* A store whose claim takes as long as its caller has, and which then does nothing for it. */
static struct {
    struct pawl_store_ops ops;
    const struct pawl_store_ops *real;
    struct test_clock *clock;
    struct pawl_env *env;
} late_claim;

static int claim_late(struct pawl_store *store, int64_t owner, struct pawl_claim *claims,
                      size_t count, struct pawl_arena *arena, int64_t *now_us, int64_t deadline_ns,
                      struct pawl_error *err)
{
    (void)owner, (void)claims, (void)count, (void)arena, (void)now_us;
    test_clock_advance(late_claim.clock,
                       deadline_ns - pawl_env_monotonic_ns(late_claim.env) + SECOND);
    late_claim.ops.claim = late_claim.real->claim;
    (void)store;
    return pawl__error_set(err, PAWL_EUNAVAILABLE, "too late");
}

static int find_in_time(struct pawl_store *store, const struct pawl_query *query,
                        struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                        struct pawl_error *err)
{
    if (deadline_ns <= pawl_env_monotonic_ns(late_claim.env))
        return pawl__error_set(err, PAWL_EUNAVAILABLE, "too late");
    return late_claim.real->find(store, query, arena, out, deadline_ns, err);
}

/* What is sent next to the instance finds it before it: events of a sender stay in order. */
static void an_event_whose_claim_used_up_its_time_is_mail_all_the_same(void **state)
{
    const struct pawl_query query = {.table = PAWL_TABLE_WORK, .limit = 10};
    struct fixture *f = *state;
    const struct pawl_work_row *row;
    struct pawl_outcome outcome;
    struct pawl_rows rows = {0};

    publish(f, WAITING("d", ""));
    outcome = start(f, "d");
    late_claim.real = f->a.store->ops;
    late_claim.ops = *f->a.store->ops;
    late_claim.clock = f->clock;
    late_claim.env = f->env;
    late_claim.ops.claim = claim_late;
    late_claim.ops.find = find_in_time;
    f->a.store->ops = &late_claim.ops;
    assert_int_equal(send_to(f, outcome.instance_id, "").resumed, 1);
    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    assert_int_equal(rows.count, 1);
    row = rows.rows;
    assert_true(pawl__str_is(row->instance_id, outcome.instance_id));
    f->a.store->ops = late_claim.real;
}

/* The claim is this node's, whoever does not know it: found with what is in nobody's hand. */
static void an_event_whose_claim_was_not_answered_becomes_a_row(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, WAITING("d", ""));
    outcome = start(f, "d");
    fail_next(f, PAWL_STORE_CALL_CLAIM, PAWL_STORE_FAULT_AFTER);
    assert_int_equal(send_to(f, outcome.instance_id, "").resumed, 1);
    for (int i = 0; i < 4; i++) {
        test_clock_advance(f->clock, 3 * SECOND);
        drain(f);
    }
    assert_string_equal(f->lines, "went\n");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* A store that applies what it is given, or not, and then says nothing until its caller has no time
 * left. */
static struct {
    struct pawl_store_ops ops;
    const struct pawl_store_ops *real;
    struct test_clock *clock;
    bool applies; /* before it falls silent */
    bool is_silent;
    const char *taken; /* the instance whose bookmarks others use up meanwhile; NULL: none */
} silent;

static int apply_silently(struct pawl_store *store, struct pawl_commit *const *commits,
                          size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    if (silent.applies)
        (void)!silent.real->apply(store, commits, count, deadline_ns, err);
    for (size_t i = 0; i < count; i++)
        commits[i]->status = PAWL_EUNKNOWN;
    silent.ops.apply = silent.real->apply;
    silent.is_silent = true;
    return pawl__error_set(err, PAWL_EUNKNOWN, "no response");
}

static void use_up_bookmarks(struct pawl_store *store, const char *id, int64_t deadline_ns)
{
    const struct pawl_bookmark_row row = {.instance_id = pawl__str(id)};
    const struct pawl_change change = {PAWL_CHANGE_DELETE_OWNED, PAWL_TABLE_BOOKMARKS, &row};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN, .changes = &change, .change_count = 1};
    struct pawl_commit *const commits[] = {&commit};

    (void)!silent.real->apply(store, commits, 1, deadline_ns, NULL);
}

static int find_silently(struct pawl_store *store, const struct pawl_query *query,
                         struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                         struct pawl_error *err)
{
    if (!silent.is_silent)
        return silent.real->find(store, query, arena, out, deadline_ns, err);
    silent.is_silent = false;
    if (silent.taken)
        use_up_bookmarks(store, silent.taken, deadline_ns);
    test_clock_advance(silent.clock, 12 * SECOND); /* longer than a commit is sent again */
    return pawl__error_set(err, PAWL_EUNAVAILABLE, "no response");
}

/* Sends an event to an instance. Its commit takes effect, or does not, and nobody learns which. */
static int send_into_silence(struct fixture *f, bool applies, const struct pawl_stimulus *to,
                             struct pawl_sent *sent)
{
    int status;

    silent.real = f->a.store->ops;
    silent.ops = *f->a.store->ops;
    silent.clock = f->clock;
    silent.applies = applies;
    silent.is_silent = false;
    silent.ops.apply = apply_silently;
    silent.ops.find = find_silently;
    f->a.store->ops = &silent.ops;
    status = pawl__runtime_send_event(f->a.runtime, pawl__str("Go"), NULL, to, sent,
                                      pawl_env_monotonic_ns(f->env) + SECOND, &f->err);
    f->a.store->ops = silent.real;
    return status;
}

/* What the silence left behind is found by those who look for strays. */
static void recover(struct fixture *f)
{
    for (int i = 0; i < 4; i++) {
        test_clock_advance(f->clock, 3 * SECOND);
        drain(f);
    }
}

/* It is its own event that it finds under its key, none that was sent before. */
static void a_keyed_event_of_unknown_outcome_is_not_taken_for_an_earlier_one(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct pawl_stimulus to = {.idempotency_key = pawl__str("k")};
    struct pawl_sent sent = {0};

    publish(f, WAITING("d", ""));
    outcome = start(f, "d");
    to.instance_id = pawl__str(outcome.instance_id);
    assert_ok(send_into_silence(f, true, &to, &sent), &f->err);
    assert_int_equal(sent.resumed, 1);
    assert_false(sent.was_sent);
    sent = send_to(f, outcome.instance_id, "k");
    assert_int_equal(sent.resumed, 1);
    assert_true(sent.was_sent);
    recover(f);
    assert_string_equal(f->lines, "went\n");
}

/* Nothing waits for it any more, and that is because it was delivered. */
static void a_request_of_unknown_outcome_that_was_delivered_is_known_to_be(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct pawl_stimulus to = {.is_request = true};
    struct pawl_sent sent = {0};

    publish(f, WAITING("d", ""));
    outcome = start(f, "d");
    to.instance_id = pawl__str(outcome.instance_id);
    assert_ok(send_into_silence(f, true, &to, &sent), &f->err);
    assert_int_equal(sent.resumed, 1);
    assert_false(sent.was_sent);
    recover(f);
    assert_string_equal(f->lines, "went\n");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* It was not delivered, and somebody else has used up the wait: the reservation that says so lets
 * no commit that is still on its way take effect. */
static void a_request_of_unknown_outcome_that_was_not_delivered_never_is(void **state)
{
    const struct pawl_query query = {.table = PAWL_TABLE_RESERVATIONS, .limit = 100};
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct pawl_stimulus to = {.is_request = true};
    struct pawl_sent sent = {0};
    struct pawl_rows rows = {0};
    size_t none = 0;

    publish(f, WAITING("d", ""));
    outcome = start(f, "d");
    to.instance_id = pawl__str(outcome.instance_id);
    silent.taken = outcome.instance_id;
    assert_code(send_into_silence(f, false, &to, &sent), PAWL_ENOTFOUND);
    silent.taken = NULL;
    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    for (size_t i = 0; i < rows.count; i++) {
        const struct pawl_reservation_row *row = (const struct pawl_reservation_row *)rows.rows + i;

        none +=
            pawl__str_starts(row->key, pawl__str("commit:")) && pawl__str_is(row->value, "none");
    }
    assert_int_equal(none, 1);
    recover(f);
    assert_string_equal(f->lines, "");
}

static void a_key_counts_once_whichever_way_it_comes(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct pawl_sent again;

    publish(f, DEFINITION("d", "",
                          RIG_EVENT("e", "Go") "," RIG_WRITE("w", "one") "," RIG_EVENT(
                              "x", "Go") "," RIG_WRITE("w2", "two")));
    outcome = start(f, "d");
    assert_int_equal(send_to(f, outcome.instance_id, "k").resumed, 1);
    again = send_to(f, outcome.instance_id, "k");
    assert_int_equal(again.resumed, 1);
    assert_false(again.parked);
    drain(f);
    assert_string_equal(f->lines, "one\n");
}

static void an_instance_that_is_to_be_cancelled_is_cancelled(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct pawl_instance_row row;
    struct pawl_commit cancel = {.kind = PAWL_COMMIT_CANCEL, .instance = &row};
    struct pawl_commit *commits[] = {&cancel};

    publish(f, WAITING("d", ""));
    outcome = start(f, "d");
    row = (struct pawl_instance_row){.id = pawl__str(outcome.instance_id)};
    assert_ok(pawl_store_apply(f->a.store, commits, 1, later(f), &f->err), &f->err);
    (void)send_to(f, outcome.instance_id, "");
    assert_string_equal(f->lines, "");
    drain(f);
    assert_string_equal(f->lines, "");
    assert_string_equal(sub_status(f, outcome.instance_id), "Cancelled");
}

static void a_node_that_ends_delivers_nothing(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct node b;

    publish(f, WAITING("d", ""));
    outcome = start(f, "d");
    node_open(f, &b, "b");
    pawl__runtime_stop(f->a.runtime);
    assert_int_equal(send_to(f, outcome.instance_id, "").resumed, 1);
    assert_string_equal(f->lines, "");
    drain_node(f, &b);
    assert_string_equal(f->lines, "went\n");
    node_close(&b);
}

/* A child that its parent awaits inline is a start that workers do, not the sender. */
static void what_a_burst_awaits_is_left_to_workers(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("child", "", RIG_WRITE("c", "child")));
    publish(f, DEFINITION("d", "",
                          RIG_EVENT("e", "Go") "," CHILD("x", "Elsa.ExecuteWorkflow",
                                                         "child") "," RIG_WRITE("w", "parent")));
    outcome = start(f, "d");
    assert_int_equal(send_to(f, outcome.instance_id, "").resumed, 1);
    assert_string_equal(f->lines, "");
    drain(f);
    assert_string_equal(f->lines, "child\nparent\n");
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
}

/* The claim is this node's, and nobody has the instance in hand: it is not idle all the same. */
static void an_instance_that_awaits_a_child_gets_mail(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct pawl_instance_row row;

    publish(f, DEFINITION("child", "", RIG_WRITE("c", "child")));
    publish(
        f, DEFINITION(
               "d", "",
               RIG_EVENT("b", "Begin") ",{'id':'p','type':'Elsa.Parallel','activities':[" RIG_EVENT(
                   "e", "Go") "," CHILD("x", "Elsa.ExecuteWorkflow",
                                        "child") "]}," RIG_WRITE("w", "went")));
    outcome = start(f, "d");
    assert_int_equal(send(f, "Begin").resumed, 1); /* up to the child, which a worker starts */
    assert_ok(pawl__runtime_show(f->a.runtime, pawl__str(outcome.instance_id), &f->arena, &row,
                                 NULL, later(f), &f->err),
              &f->err);
    assert_int_equal(row.runnable, 2);
    assert_int_equal(send_to(f, outcome.instance_id, "").resumed, 1);
    assert_string_equal(f->lines, "");
    drain(f);
    assert_string_equal(f->lines, "child\nwent\n");
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void more_than_may_be_delivered_at_a_time_are_rows(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, WAITING("d", ""));
    outcome = start(f, "d");
    atomic_store(&f->a.runtime->direct_count, 128);
    (void)send_to(f, outcome.instance_id, "");
    assert_string_equal(f->lines, "");
    assert_int_equal(atomic_load(&f->a.runtime->direct_count), 128);
    atomic_store(&f->a.runtime->direct_count, 0);
    drain(f);
    assert_string_equal(f->lines, "went\n");
}

/* The request was stored, so that the caller is told no failure. But the claim may be this node's,
 * which has no workers, and nobody else could go on. */
static void a_cancellation_whose_claim_was_not_answered_is_left_to_others(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct pawl_instance_row row;

    publish(f, WAITING("d", ""));
    outcome = start(f, "d");
    fail_next(f, PAWL_STORE_CALL_CLAIM, PAWL_STORE_FAULT_AFTER);
    assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str(outcome.instance_id), later(f), &f->err),
              &f->err);
    test_clock_advance(f->clock, 3 * SECOND);
    pawl__runtime_return_strays(f->a.runtime, later(f));
    assert_ok(pawl__runtime_show(f->a.runtime, pawl__str(outcome.instance_id), &f->arena, &row,
                                 NULL, later(f), &f->err),
              &f->err);
    assert_int_equal(row.owner, 0);
    drain(f);
    assert_string_equal(sub_status(f, outcome.instance_id), "Cancelled");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DIRECT(an_event_for_one_idle_instance_is_one_commit),
        DIRECT(an_event_to_an_instance_is_delivered_without_a_look),
        DIRECT(an_event_that_an_instance_does_not_wait_for_is_parked_and_claims_nothing),
        DIRECT(an_event_for_two_branches_of_an_instance_resumes_both),
        DIRECT(an_event_is_found_by_its_name_alone),
        DIRECT(a_sender_learns_that_what_it_delivered_to_rests),
        DIRECT(an_event_for_two_is_a_row_for_each),
        DIRECT(an_event_that_starts_something_too_is_rows),
        DIRECT(an_instance_that_a_thread_has_in_hand_gets_mail),
        DIRECT(an_instance_that_another_node_has_gets_mail),
        DIRECT(an_event_that_its_sender_leaves_to_workers_is_a_row),
        DIRECT(older_mail_runs_first),
        DIRECT_RUNNING(an_event_whose_answer_was_lost_acts_once),
        DIRECT(an_event_whose_claim_is_refused_becomes_a_row),
        DIRECT(an_event_whose_claim_used_up_its_time_is_mail_all_the_same),
        DIRECT(an_event_whose_claim_was_not_answered_becomes_a_row),
        DIRECT(a_keyed_event_of_unknown_outcome_is_not_taken_for_an_earlier_one),
        DIRECT(a_request_of_unknown_outcome_that_was_delivered_is_known_to_be),
        DIRECT(a_request_of_unknown_outcome_that_was_not_delivered_never_is),
        DIRECT(a_key_counts_once_whichever_way_it_comes),
        DIRECT(an_instance_that_is_to_be_cancelled_is_cancelled),
        DIRECT(a_cancellation_whose_claim_was_not_answered_is_left_to_others),
        DIRECT(a_node_that_ends_delivers_nothing),
        DIRECT(what_a_burst_awaits_is_left_to_workers),
        DIRECT(an_instance_that_awaits_a_child_gets_mail),
        DIRECT(more_than_may_be_delivered_at_a_time_are_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
