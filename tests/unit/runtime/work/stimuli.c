/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accepted work takes effect once, whoever retries; a recurring trigger goes on, whatever its
 * starts and operators do; parked work costs those alone whom it concerns, and has an end.
 */
#include "unit/runtime/nodes.h"

#include "base/time/datetime.h"
#include "runtime/node/retention.h"

#include <stdatomic.h>

#define STARTER(id, type, input)                                                                   \
    "{'id':'" id "','type':'" type "','customProperties':{'canStartWorkflow':true}," input "}"
#define START_TIMER(id, span) STARTER(id, "Elsa.Timer", "'interval':" TEXT(span))
#define START_CRON(id, text) STARTER(id, "Elsa.Cron", "'cronExpression':" TEXT(text))

#define SECOND_US INT64_C(1000000)

/* ---- an event takes effect once ------------------------------------------------------------- */

/* A sender that is cut off, as it sees it: the commit is applied and its answer lost; until another
 * node has done the work, nothing else reaches the store. */
struct outage {
    struct fixture *f;
    struct node sender;
    struct node other;
    atomic_uint applies;
    int status; /* of the other node, while the sender is cut off */
    atomic_bool over;
};

static struct pawl_rows all_rows(struct fixture *f, struct pawl_store *store, enum pawl_table table)
{
    const struct pawl_query query = {.table = table, .limit = 1000};
    struct pawl_rows rows = {0};

    assert_ok(pawl_store_find(store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    return rows;
}

/* On the sender's committer: records, does not check. */
static void finish_elsewhere(struct outage *o)
{
    const struct pawl_query query = {.table = PAWL_TABLE_WORK, .flags = PAWL_QUERY_COUNT};
    int64_t deadline_ns = later(o->f);
    struct pawl_rows rows = {.total = 1};
    struct pawl_arena arena;

    pawl__arena_init(&arena, &o->f->env->alloc, (size_t)16 << 20);
    while (o->status == PAWL_OK && rows.total > 0 &&
           pawl_env_monotonic_ns(o->f->env) < deadline_ns) {
        struct pawl_worked worked;

        o->status = pawl__runtime_work(o->other.runtime, 0, &worked, deadline_ns, NULL);
        if (o->status == PAWL_OK)
            o->status = pawl_store_find(o->other.store, &query, &arena, &rows, deadline_ns, NULL);
    }
    if (o->status == PAWL_OK && rows.total > 0)
        o->status = PAWL_ETIMEDOUT;
    pawl__arena_release(&arena);
}

static bool is_cut_off(void *ctx, enum pawl_store_call call, enum pawl_store_fault *how)
{
    struct outage *o = ctx;

    if (o->applies == 0 && call != PAWL_STORE_CALL_APPLY)
        return false;
    if (call == PAWL_STORE_CALL_APPLY && o->applies++ == 0) {
        *how = PAWL_STORE_FAULT_AFTER;
        return true;
    }
    if (call == PAWL_STORE_CALL_APPLY && !o->over) {
        finish_elsewhere(o);
        o->over = true;
    }
    *how = PAWL_STORE_FAULT_BEFORE;
    return !o->over;
}

static void open_sender(struct fixture *f, struct outage *o)
{
    /* The shortest there is: the test waits for its end. */
    const struct pawl_runtime_options options = {.node_id = pawl__str("sender"),
                                                 .lease_us = SECOND_US,
                                                 .hooks = {.line = on_line, .ctx = f}};
    const struct pawl_store_fault_hooks hooks = {.decide = is_cut_off, .ctx = o};
    struct pawl_store *inner;

    memset(o, 0, sizeof *o);
    o->f = f;
    node_open(f, &o->other, "other");
    assert_ok(pawl__memory_store_open(f->database, f->env, &inner, &f->err), &f->err);
    assert_ok(pawl__fault_store_new(f->env, inner, &hooks, &o->sender.store, &f->err), &f->err);
    assert_ok(pawl__runtime_open(f->env, &f->engine, o->sender.store, &options, &o->sender.runtime,
                                 &f->err),
              &f->err);
}

static void close_sender(struct outage *o)
{
    node_close(&o->sender);
    node_close(&o->other);
}

static void a_keyless_event_acts_once_though_its_answer_was_lost(void **state)
{
    struct fixture *f = *state;
    struct outage o;
    int sent;

    publish(f, DEFINITION("d", "", TRIGGER("t", "Go") "," RIG_WRITE("w", "went")));
    open_sender(f, &o);
    sent = pawl__runtime_send_event(o.sender.runtime, pawl__str("Go"), NULL, NULL, NULL, later(f),
                                    &f->err);
    close_sender(&o);
    assert_code(o.status, PAWL_OK);
    assert_true(o.over);
    drain(f);
    assert_string_equal(f->lines, "went\n");
    assert_int_equal(count(f, PAWL_TABLE_INSTANCES), 1);
    assert_ok(sent, &f->err);
}

static struct pawl_sent send_keyed(struct fixture *f, const char *event, const char *key)
{
    const struct pawl_stimulus stimulus = {.idempotency_key = pawl__str(key)};
    struct pawl_sent sent;

    assert_ok(pawl__runtime_send_event(f->a.runtime, pawl__str(event), NULL, &stimulus, &sent,
                                       later(f), &f->err),
              &f->err);
    return sent;
}

static void assert_sent(struct pawl_sent sent, uint32_t started, uint32_t resumed, bool parked)
{
    assert_int_equal(sent.started, started);
    assert_int_equal(sent.resumed, resumed);
    assert_int_equal(sent.parked, parked);
}

static void an_event_sent_again_with_its_key_returns_what_the_first_did(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "",
                          TRIGGER("t", "Go") "," RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    (void)send(f, "Go");
    drain(f);
    for (int i = 0; i < 3; i++) {
        assert_sent(send_keyed(f, "Go", "k"), 1, 1, false);
        drain(f);
    }
    assert_string_equal(f->lines, "went\n");
    assert_int_equal(count(f, PAWL_TABLE_INSTANCES), 2);
    /* Also of one that waited itself; what it did later was not told. */
    for (int i = 0; i < 2; i++)
        assert_sent(send_keyed(f, "Late", "l"), 0, 0, true);
    publish(f, DEFINITION("late", "", RIG_EVENT("e", "Late") "," RIG_WRITE("w", "late")));
    (void)start(f, "late");
    drain(f);
    assert_string_equal(f->lines, "went\nlate\n");
    assert_sent(send_keyed(f, "Late", "l"), 0, 0, true);
    drain(f);
    assert_string_equal(f->lines, "went\nlate\n");
}

/* ---- a clock that is set ------------------------------------------------------------------- */

static void await_go(struct fixture *f)
{
    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    (void)start(f, "d");
    drain(f);
    (void)send(f, "Nobody"); /* the node knows the time */
}

/* For a worker, so that it is stored. */
static void send_detached(struct fixture *f, const char *event)
{
    const struct pawl_stimulus stimulus = {.detached = true};
    struct pawl_sent sent;

    assert_ok(pawl__runtime_send_event(f->a.runtime, pawl__str(event), NULL, &stimulus, &sent,
                                       later(f), &f->err),
              &f->err);
    assert_sent(sent, 0, 1, false);
}

static void an_event_sent_after_the_clock_was_set_back_does_not_wait_for_it(void **state)
{
    struct fixture *f = *state;

    await_go(f);
    test_clock_shift(f->clock, -3600 * SECOND);
    send_detached(f, "Go");
    drain(f);
    assert_string_equal(f->lines, "went\n");
}

static void an_event_sent_before_the_clock_was_set_back_does_not_wait_for_it(void **state)
{
    struct fixture *f = *state;

    await_go(f);
    send_detached(f, "Go");
    test_clock_shift(f->clock, -3600 * SECOND);
    drain(f);
    assert_string_equal(f->lines, "went\n");
}

static void an_event_sent_after_the_clock_was_set_forward_is_taken(void **state)
{
    struct fixture *f = *state;

    await_go(f);
    test_clock_shift(f->clock, 3600 * SECOND);
    (void)send_keyed(f, "Go", "k");
    (void)send_keyed(f, "Go", "k");
    drain(f);
    assert_string_equal(f->lines, "went\n");
    test_clock_shift(f->clock, 72 * 3600 * SECOND);
    assert_sent(send_keyed(f, "Late", "l"), 0, 0, true);
}

static void assert_refused(struct fixture *f, const char *event, const struct pawl_json *payload,
                           const struct pawl_stimulus *stimulus)
{
    struct pawl_sent sent;

    assert_code(pawl__runtime_send_event(f->a.runtime, pawl__str(event), payload, stimulus, &sent,
                                         later(f), &f->err),
                PAWL_ECONFLICT);
    assert_non_null(strstr(f->err.msg, "another event was sent with this key"));
}

/* Large ones are stored packed, with bytes that are 0 near the beginning. */
static void another_large_event_with_the_same_key_is_refused(void **state)
{
    struct fixture *f = *state;
    struct pawl_stimulus stimulus = {.idempotency_key = pawl__str("k")};
    static char first[100001], second[100001];
    struct pawl_json a, b;
    struct pawl_sent sent;

    memset(first, 'a', sizeof first - 1);
    memset(second, 'b', sizeof second - 1);
    a = pawl__json_string(pawl__str(first));
    b = pawl__json_string(pawl__str(second));
    publish(f, DEFINITION("d", "", TRIGGER("t", "Go") "," RIG_WRITE("w", "went")));
    assert_ok(pawl__runtime_send_event(f->a.runtime, pawl__str("Go"), &a, &stimulus, &sent,
                                       later(f), &f->err),
              &f->err);
    assert_refused(f, "Go", &b, &stimulus);
    assert_ok(pawl__runtime_send_event(f->a.runtime, pawl__str("Go"), &a, &stimulus, &sent,
                                       later(f), &f->err),
              &f->err);
}

static void another_event_with_the_same_key_is_refused(void **state)
{
    struct fixture *f = *state;
    struct pawl_stimulus stimulus = {.idempotency_key = pawl__str("k")};
    struct pawl_json payload = json(f, "{'amount':1}");

    publish(f, DEFINITION("d", "", TRIGGER("t", "Go") "," RIG_WRITE("w", "went")));
    assert_sent(send_keyed(f, "Go", "k"), 1, 0, false);
    drain(f);
    assert_refused(f, "Other", NULL, &stimulus);
    assert_refused(f, "Go", &payload, &stimulus);
    stimulus.correlation_id = pawl__str("c");
    assert_refused(f, "Go", NULL, &stimulus);
    stimulus.correlation_id = pawl__str("");
    stimulus.instance_id = pawl__str("i");
    assert_refused(f, "Go", NULL, &stimulus);
    drain(f);
    assert_int_equal(count(f, PAWL_TABLE_INSTANCES), 1);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    assert_sent(send_keyed(f, "Go", "k"), 1, 0, false);
}

/* As an older version wrote it. */
static void a_key_without_a_checksum_is_of_any_event(void **state)
{
    struct fixture *f = *state;
    const struct pawl_reservation_row row = {.key = pawl__str("stimulus:k"),
                                             .value = pawl__str("some-id"),
                                             .expires_us = PAWL_TIME_NEVER};
    const struct pawl_change change = {PAWL_CHANGE_INSERT, PAWL_TABLE_RESERVATIONS, &row};
    struct pawl_commit commit = {.changes = &change, .change_count = 1};
    struct pawl_commit *commits[] = {&commit};

    assert_ok(pawl_store_apply(f->a.store, commits, 1, later(f), &f->err), &f->err);
    assert_code(commit.status, PAWL_OK);
    assert_sent(send_keyed(f, "Go", "k"), 0, 0, false);
}

/* One page of targets is what the sender is told of, however many follow. */
static void an_event_for_many_sent_again_returns_what_the_first_did(void **state)
{
    struct fixture *f = *state;
    struct pawl_sent first;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go")));
    for (int i = 0; i < 501; i++)
        (void)start(f, "d");
    first = send_keyed(f, "Go", "k");
    assert_true(first.resumed >= 500);
    drain(f);
    assert_sent(send_keyed(f, "Go", "k"), 0, first.resumed, false);
    assert_int_equal(count(f, PAWL_TABLE_BOOKMARKS), 0);
}

static void reservations_of_keyless_events_expire(void **state)
{
    struct fixture *f = *state;
    const struct pawl_retention_policy policy = {.batch = 2};
    struct pawl_retained gone;

    for (int i = 0; i < 5; i++)
        (void)send(f, "Go");
    assert_int_equal(count(f, PAWL_TABLE_RESERVATIONS), 5);
    assert_ok(pawl__runtime_retain(f->a.runtime, &policy, &gone, later(f), &f->err), &f->err);
    assert_int_equal(gone.reservations, 0);
    test_clock_advance(f->clock, 3600 * SECOND);
    assert_ok(pawl__runtime_retain(f->a.runtime, &policy, &gone, later(f), &f->err), &f->err);
    assert_int_equal(gone.reservations, 2);
    assert_true(gone.more);
    while (gone.more)
        assert_ok(pawl__runtime_retain(f->a.runtime, &policy, &gone, later(f), &f->err), &f->err);
    assert_int_equal(count(f, PAWL_TABLE_RESERVATIONS), 0);
}

/* ---- recurring triggers --------------------------------------------------------------------- */

static size_t ticks(struct fixture *f)
{
    struct pawl_rows rows = all_rows(f, f->a.store, PAWL_TABLE_WORK);
    size_t found = 0;

    for (size_t i = 0; i < rows.count; i++)
        found += pawl__str_is(((const struct pawl_work_row *)rows.rows)[i].kind, PAWL_WORK_TICK);
    return found;
}

/* So many seconds, one at a time. */
static void pass(struct fixture *f, int seconds)
{
    for (int i = 0; i < seconds; i++) {
        test_clock_advance(f->clock, SECOND);
        drain(f);
    }
}

static void replay_all(struct fixture *f)
{
    struct pawl_rows rows = all_rows(f, f->a.store, PAWL_TABLE_DEAD_LETTERS);
    const struct pawl_dead_letter_row *letters = rows.rows;

    for (size_t i = 0; i < rows.count; i++) {
        if (letters[i].replayed_us == 0)
            assert_ok(pawl__runtime_replay(f->a.runtime, letters[i].id, NULL, later(f), &f->err),
                      &f->err);
    }
}

static void index_again(struct fixture *f, const char *definition_id)
{
    assert_ok(pawl__definitions_index(pawl__runtime_definitions(f->a.runtime),
                                      pawl__str(definition_id), later(f), &f->err),
              &f->err);
}

/* Every start fails while this holds. */
static void forbid_starts(struct fixture *f, bool forbid)
{
    static size_t usual;

    if (forbid)
        usual = f->engine.burst_bytes_max;
    f->engine.burst_bytes_max = forbid ? 1 : usual;
}

static void a_recurring_trigger_goes_on_though_its_starts_fail(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "", START_TIMER("t", "00:00:10") "," RIG_WRITE("w", "went")));
    forbid_starts(f, true);
    pass(f, 35);
    assert_string_equal(f->lines, "");
    assert_int_equal(count(f, PAWL_TABLE_DEAD_LETTERS), 3);
    assert_int_equal(ticks(f), 1);
    forbid_starts(f, false);
    pass(f, 20);
    assert_string_equal(f->lines, "went\nwent\n");
    assert_int_equal(ticks(f), 1);
}

/* Ten looks a second, at a trigger that asks for ten million. */
static void a_recurring_trigger_fires_at_the_least_interval(void **state)
{
    struct fixture *f = *state;

    publish(f,
            DEFINITION("d", "", START_TIMER("t", "00:00:00.0000001") "," RIG_WRITE("w", "went")));
    for (int i = 0; i < 45; i++) {
        test_clock_advance(f->clock, SECOND / 10);
        drain(f);
    }
    assert_string_equal(f->lines, "went\nwent\nwent\nwent\n");
    assert_int_equal(ticks(f), 1);
}

static void the_least_interval_holds_for_cron_too(void **state)
{
    struct fixture *f = *state;

    f->engine.timer_interval_min = 10 * PAWL_TICKS_PER_SECOND;
    publish(f, DEFINITION("d", "", START_CRON("t", "* * * * * *") "," RIG_WRITE("w", "went")));
    pass(f, 25);
    assert_string_equal(f->lines, "went\nwent\nwent\n");
    assert_int_equal(ticks(f), 1);
}

static void a_replayed_start_of_a_trigger_is_one_start(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "", START_TIMER("t", "00:01:00") "," RIG_WRITE("w", "went")));
    forbid_starts(f, true);
    pass(f, 70);
    assert_int_equal(count(f, PAWL_TABLE_DEAD_LETTERS), 1);
    forbid_starts(f, false);
    index_again(f, "d");
    replay_all(f);
    index_again(f, "d");
    drain(f);
    assert_string_equal(f->lines, "went\n");
    assert_int_equal(ticks(f), 1);
    pass(f, 60);
    assert_string_equal(f->lines, "went\nwent\n");
    assert_int_equal(ticks(f), 1);
}

/* As an earlier version left it: the tick itself was given up, and its chain with it. */
static void give_up_tick(struct fixture *f)
{
    struct pawl_rows rows = all_rows(f, f->a.store, PAWL_TABLE_WORK);
    const struct pawl_work_row *tick = rows.rows;
    struct pawl_dead_letter_row letter = {
        .dead_us = 1, .can_replay = 1, .reason = pawl__str("Failed")};
    const struct pawl_change changes[] = {
        {PAWL_CHANGE_DELETE, PAWL_TABLE_WORK, tick},
        {PAWL_CHANGE_INSERT, PAWL_TABLE_DEAD_LETTERS, &letter},
    };
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN, .changes = changes, .change_count = 2};
    struct pawl_commit *commits[] = {&commit};

    assert_int_equal(rows.count, 1);
    letter.id = letter.work_id = tick->id;
    letter.kind = tick->kind;
    letter.name = tick->name;
    assert_ok(pawl_store_apply(f->a.store, commits, 1, later(f), &f->err), &f->err);
    assert_code(commit.status, PAWL_OK);
}

static void a_replayed_tick_makes_no_second_chain(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "", START_TIMER("t", "00:01:00") "," RIG_WRITE("w", "went")));
    give_up_tick(f);
    index_again(f, "d");
    pass(f, 7);
    replay_all(f);
    drain(f);
    assert_string_equal(f->lines, "went\n"); /* the one that was given up */
    assert_int_equal(ticks(f), 1);
    pass(f, 53);
    assert_string_equal(f->lines, "went\nwent\n");
    pass(f, 60);
    assert_string_equal(f->lines, "went\nwent\nwent\n");
    assert_int_equal(ticks(f), 1);
}

/* Whatever comes first. */
static void a_tick_is_replayed_before_its_trigger_is_indexed_again(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "", START_TIMER("t", "00:01:00") "," RIG_WRITE("w", "went")));
    give_up_tick(f);
    replay_all(f);
    drain(f);
    assert_string_equal(f->lines, "went\n");
    index_again(f, "d");
    index_again(f, "d");
    assert_int_equal(ticks(f), 1);
    pass(f, 60);
    assert_string_equal(f->lines, "went\nwent\n");
}

/* As an earlier version left it: two rows of one trigger. */
static void a_second_next_tick_of_a_trigger_is_removed(void **state)
{
    struct fixture *f = *state;
    struct pawl_rows rows;
    struct pawl_work_row second;
    const struct pawl_change change = {PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, &second};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN, .changes = &change, .change_count = 1};
    struct pawl_commit *commits[] = {&commit};

    publish(f, DEFINITION("d", "", START_TIMER("t", "00:01:00") "," RIG_WRITE("w", "went")));
    rows = all_rows(f, f->a.store, PAWL_TABLE_WORK);
    second = *(const struct pawl_work_row *)rows.rows;
    second.id = pawl__str("another");
    second.due_us += 5 * SECOND_US;
    assert_ok(pawl_store_apply(f->a.store, commits, 1, later(f), &f->err), &f->err);
    assert_int_equal(ticks(f), 2);
    index_again(f, "d");
    assert_int_equal(ticks(f), 1);
    pass(f, 130);
    assert_string_equal(f->lines, "went\nwent\n");
}

static void a_replayed_tick_without_its_trigger_is_refused(void **state)
{
    struct fixture *f = *state;
    struct pawl_rows rows;

    publish(f, DEFINITION("d", "", START_TIMER("t", "00:01:00") "," RIG_WRITE("w", "went")));
    give_up_tick(f);
    assert_ok(pawl__definitions_retract(pawl__runtime_definitions(f->a.runtime), pawl__str("d"),
                                        later(f), &f->err),
              &f->err);
    rows = all_rows(f, f->a.store, PAWL_TABLE_DEAD_LETTERS);
    assert_int_equal(rows.count, 1);
    assert_code(pawl__runtime_replay(f->a.runtime,
                                     ((const struct pawl_dead_letter_row *)rows.rows)->id, NULL,
                                     later(f), &f->err),
                PAWL_ECONFLICT);
    assert_non_null(strstr(f->err.msg, "trigger"));
    assert_int_equal(ticks(f), 0);
}

/* ---- parked work ---------------------------------------------------------------------------- */

static struct pawl_sent send_order(struct fixture *f, const char *event, const char *order,
                                   const char *instance_id)
{
    const struct pawl_stimulus to = {.correlation_id = pawl__str(order),
                                     .instance_id = pawl__str(instance_id)};
    struct pawl_sent sent;

    assert_ok(pawl__runtime_send_event(f->a.runtime, pawl__str(event), NULL, &to, &sent, later(f),
                                       &f->err),
              &f->err);
    return sent;
}

static struct pawl_outcome start_order(struct fixture *f, const char *order, const char *id)
{
    const struct pawl_start what = {.definition_id = pawl__str("d"),
                                    .instance_id = pawl__str(id),
                                    .correlation_id = pawl__str(order)};
    struct pawl_outcome outcome;

    assert_ok(pawl__runtime_start(f->a.runtime, &what, &outcome, later(f), &f->err), &f->err);
    return outcome;
}

/* Rows that a node is given to do, after the parked ones were looked at once more. */
static uint32_t work_done(struct fixture *f)
{
    struct pawl_worked worked;
    uint32_t done = 0;

    do {
        assert_ok(pawl__runtime_work(f->a.runtime, 0, &worked, later(f), &f->err), &f->err);
        done += worked.done;
    } while (worked.done > 0);
    return done;
}

static void parked_events_of_other_orders_cost_a_new_bookmark_nothing(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Paid") "," RIG_WRITE("w", "paid")));
    for (int i = 0; i < 150; i++) {
        char order[32], id[32];

        snprintf(order, sizeof order, "other-%d", i);
        snprintf(id, sizeof id, "instance-%d", i);
        assert_true(send_order(f, "Paid", order, "").parked);
        assert_true(send_order(f, "Paid", "", id).parked);
    }
    pass(f, 22);
    (void)start_order(f, "mine", "it");
    assert_int_equal(work_done(f), 0);
    assert_int_equal(send_order(f, "Paid", "mine", "").resumed, 1);
    assert_int_equal(work_done(f), 1);
    assert_string_equal(f->lines, "paid\n");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 300);
}

static void a_parked_event_finds_its_instance_by_id(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Paid") "," RIG_WRITE("w", "paid")));
    assert_true(send_order(f, "Paid", "", "it").parked);
    assert_true(send_order(f, "Paid", "order", "that").parked);
    (void)start_order(f, "", "other");
    drain(f);
    assert_string_equal(f->lines, "");
    (void)start_order(f, "", "it");
    drain(f);
    assert_string_equal(f->lines, "paid\n");
    assert_string_equal(sub_status(f, "it"), "Finished");
    (void)start_order(f, "order", "that");
    drain(f);
    assert_string_equal(sub_status(f, "that"), "Finished");
    assert_string_equal(sub_status(f, "other"), "Suspended");
    pass(f, 2);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    assert_int_equal(count(f, PAWL_TABLE_DEAD_LETTERS), 0);
}

/* A transaction that has looked for parked work already, and whose bookmark nobody sees yet: that
 * is, the bookmark is there later, and wakes nothing. */
static void a_parked_event_meets_a_bookmark_that_was_long_in_coming(void **state)
{
    struct fixture *f = *state;
    struct pawl_change change = {PAWL_CHANGE_DELETE, PAWL_TABLE_BOOKMARKS, NULL};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN, .changes = &change, .change_count = 1};
    struct pawl_commit *member = &commit;
    struct pawl_bookmark_row bookmark;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Paid") "," RIG_WRITE("w", "paid")));
    (void)start_order(f, "mine", "it");
    bookmark =
        *(const struct pawl_bookmark_row *)all_rows(f, f->a.store, PAWL_TABLE_BOOKMARKS).rows;
    change.row = &bookmark;
    assert_ok(pawl_store_apply(f->a.store, &member, 1, later(f), &f->err), &f->err);
    assert_true(send_order(f, "Paid", "mine", "").parked);
    pass(f, 4);
    assert_ok(pawl_store_load(f->a.store, PAWL_TABLE_BOOKMARKS, &bookmark, 1, later(f), &f->err),
              &f->err);
    pass(f, 2);
    assert_string_equal(f->lines, "");
    pass(f, 20);
    assert_string_equal(f->lines, "paid\n");
    assert_string_equal(sub_status(f, "it"), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    assert_int_equal(count(f, PAWL_TABLE_DEAD_LETTERS), 0);
}

static void the_second_look_at_an_event_counts_from_its_parking(void **state)
{
    struct fixture *f = *state;
    const struct pawl_work_row *work;
    struct pawl_store_status before;
    struct pawl_rows rows;
    bool found = false;

    fail_next(f, PAWL_STORE_CALL_FIND, PAWL_STORE_FAULT_BEFORE);
    assert_false(send_order(f, "Paid", "mine", "").parked); /* it is matched later */
    test_clock_advance(f->clock, 5 * SECOND);
    assert_ok(pawl_store_status(f->a.store, &before, later(f), &f->err), &f->err);
    drain(f);
    rows = all_rows(f, f->a.store, PAWL_TABLE_WORK);
    work = rows.rows;
    for (size_t i = 0; i < rows.count; i++)
        if (pawl__str_is(work[i].kind, PAWL_WORK_RECHECK)) {
            assert_true(work[i].due_us >= before.now_us + SECOND_US);
            found = true;
        }
    assert_true(found);
}

/* A row of the table, by its number. */
static struct pawl_dead_letter_row letter_at(struct fixture *f, size_t at)
{
    struct pawl_rows rows = all_rows(f, f->a.store, PAWL_TABLE_DEAD_LETTERS);

    assert_true(at < rows.count);
    return ((const struct pawl_dead_letter_row *)rows.rows)[at];
}

static void parked_mail_becomes_a_dead_letter(void **state)
{
    struct fixture *f = *state;

    publish(f,
            DEFINITION("d", "",
                       RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went") "," RIG_EVENT("x", "No")));
    (void)start_order(f, "", "it");
    /* Both are matched with the one bookmark; the second finds it used and is parked as mail. */
    assert_int_equal(send(f, "Go").resumed, 1);
    assert_int_equal(send(f, "Go").resumed, 1);
    drain(f);
    assert_string_equal(f->lines, "went\n");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 1);
    test_clock_advance(f->clock, 700 * SECOND);
    drain(f);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    assert_int_equal(count(f, PAWL_TABLE_DEAD_LETTERS), 1);
    assert_str(letter_at(f, 0).reason, "Expired");
    assert_str(letter_at(f, 0).instance_id, "it");
}

/* It is woken by a bookmark that is gone again when it is delivered, after its time. */
static void mail_that_is_woken_too_late_becomes_a_dead_letter(void **state)
{
    struct fixture *f = *state;
    struct pawl_rows rows;
    struct pawl_work_row mail;
    const struct pawl_change change = {PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &mail};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN, .changes = &change, .change_count = 1};
    struct pawl_commit *commits[] = {&commit};

    publish(f,
            DEFINITION("d", "",
                       RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went") "," RIG_EVENT("x", "No")));
    (void)start_order(f, "", "it");
    (void)send(f, "Go");
    (void)send(f, "Go");
    drain(f);
    rows = all_rows(f, f->a.store, PAWL_TABLE_WORK);
    assert_int_equal(rows.count, 1);
    mail = *(const struct pawl_work_row *)rows.rows;
    test_clock_advance(f->clock, 700 * SECOND);
    mail.due_us = mail.expires_us;
    assert_ok(pawl_store_apply(f->a.store, commits, 1, later(f), &f->err), &f->err);
    drain(f);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    assert_int_equal(count(f, PAWL_TABLE_DEAD_LETTERS), 1);
    assert_str(letter_at(f, 0).reason, "Expired");
}

/* ---- activations ---------------------------------------------------------------------------- */

/* Ids with colons: what belongs to the one does not keep the other from starting. */
static void activations_of_different_definitions_do_not_collide(void **state)
{
    struct fixture *f = *state;
    const char *options = "'options':{'activationStrategyType':'CorrelatedSingletonStrategy'},";
    char text[2048];

    snprintf(text, sizeof text,
             "{'definitionId':'a','id':'a-1','version':1,'name':'a',%s'root':%s}", options,
             RIG_SEQUENCE("s", TRIGGER("t", "One") "," RIG_EVENT("e", "Never")));
    publish(f, text);
    snprintf(text, sizeof text,
             "{'definitionId':'a:b','id':'ab-1','version':1,'name':'ab',%s'root':%s}", options,
             RIG_SEQUENCE("s", TRIGGER("t", "Two") "," RIG_EVENT("e", "Never")));
    publish(f, text);
    (void)send_order(f, "One", "b:c", "");
    (void)send_order(f, "Two", "c", "");
    drain(f);
    assert_int_equal(count(f, PAWL_TABLE_INSTANCES), 2);
    (void)send_order(f, "One", "b:c", "");
    (void)send_order(f, "Two", "c", "");
    drain(f);
    assert_int_equal(count(f, PAWL_TABLE_INSTANCES), 2);
}

/* Triggers and bookmarks are looked for together. */
static void an_event_by_name_is_one_look(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go")));
    publish(f, DEFINITION("t", "", TRIGGER("e", "Begin")));
    start(f, "d");
    assert_int_equal(send(f, "Begin").started, 1); /* its definition is loaded */
    f->looked = 0;
    assert_int_equal(send(f, "Go").resumed, 1);
    assert_int_equal(f->looked, 1);
    f->looked = 0;
    assert_int_equal(send(f, "Begin").started, 1);
    assert_int_equal(f->looked, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_keyless_event_acts_once_though_its_answer_was_lost,
                                        set_up_running, tear_down),
        TEST(an_event_by_name_is_one_look),
        TEST(an_event_sent_again_with_its_key_returns_what_the_first_did),
        TEST(an_event_for_many_sent_again_returns_what_the_first_did),
        TEST(another_event_with_the_same_key_is_refused),
        TEST(another_large_event_with_the_same_key_is_refused),
        TEST(a_key_without_a_checksum_is_of_any_event),
        TEST(reservations_of_keyless_events_expire),
        TEST(a_recurring_trigger_goes_on_though_its_starts_fail),
        TEST(a_recurring_trigger_fires_at_the_least_interval),
        TEST(the_least_interval_holds_for_cron_too),
        TEST(a_replayed_start_of_a_trigger_is_one_start),
        TEST(a_replayed_tick_makes_no_second_chain),
        TEST(a_tick_is_replayed_before_its_trigger_is_indexed_again),
        TEST(a_second_next_tick_of_a_trigger_is_removed),
        TEST(a_replayed_tick_without_its_trigger_is_refused),
        TEST(parked_events_of_other_orders_cost_a_new_bookmark_nothing),
        TEST(a_parked_event_finds_its_instance_by_id),
        TEST(an_event_sent_after_the_clock_was_set_back_does_not_wait_for_it),
        TEST(an_event_sent_before_the_clock_was_set_back_does_not_wait_for_it),
        TEST(an_event_sent_after_the_clock_was_set_forward_is_taken),
        TEST(a_parked_event_meets_a_bookmark_that_was_long_in_coming),
        TEST(the_second_look_at_an_event_counts_from_its_parking),
        TEST(parked_mail_becomes_a_dead_letter),
        TEST(mail_that_is_woken_too_late_becomes_a_dead_letter),
        TEST(activations_of_different_definitions_do_not_collide),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
