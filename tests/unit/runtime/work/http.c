/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that bursts await: what is sent, what becomes of the answers, and what another node does
 * when the one that sent them is gone.
 */
#include "runtime/work/requests.h"

#include "drivers/curl.h"
#include "runtime/node/pool.h"
#include "servers/http.h"
#include "unit/runtime/slow_find.h"

/* ---- the usual ----------------------------------------------------------------------------- */

static void a_start_returns_when_the_answer_was_dealt_with(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f,
            DEFINITION("d", RIG_WRITE("w1", "before") "," SEND("s") "," RIG_WRITE("w2", "after")));
    outcome = start(f, "d", &ok, 1);
    assert_string_equal(f->lines, "before\nafter\n");
    assert_int_equal(outcome.sub_status, PAWL_SUB_FINISHED);
    drain(f, &f->a);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    assert_int_equal(f->a.script.count, 1);
}

static void everything_that_was_asked_for_is_sent(void **state)
{
    struct fixture *f = *state;

    publish(
        f,
        DEFINITION(
            "d",
            SEND_WITH(
                "s",
                "'method':" TEXT("POST") ",'contentType':" TEXT("text/plain") ",'content':" TEXT(
                    "body") ",'authorization':" TEXT("Bearer t") ",'requestHeaders':" RIG_INPUT("Ht"
                                                                                                "tp"
                                                                                                "He"
                                                                                                "ad"
                                                                                                "er"
                                                                                                "s",
                                                                                                "Ob"
                                                                                                "je"
                                                                                                "c"
                                                                                                "t",
                                                                                                "'{"
                                                                                                "\\"
                                                                                                "'X"
                                                                                                "-A"
                                                                                                "\\"
                                                                                                "':"
                                                                                                "\\"
                                                                                                "'1"
                                                                                                "\\"
                                                                                                "',"
                                                                                                "\\"
                                                                                                "'X"
                                                                                                "-B"
                                                                                                "\\"
                                                                                                "':"
                                                                                                "["
                                                                                                "\\"
                                                                                                "'2"
                                                                                                "\\"
                                                                                                "',"
                                                                                                "\\"
                                                                                                "'3"
                                                                                                "\\"
                                                                                                "']"
                                                                                                "}"
                                                                                                "'") ",")));
    (void)start(f, "d", &ok, 1);
    assert_string_equal(f->a.script.asked[0].text,
                        "POST http://there/a\nContent-Type: text/plain\nAuthorization: Bearer t\n"
                        "X-A: 1\nX-B: 2\nX-B: 3\nbody");
    assert_true(strlen(f->a.script.asked[0].key) > 0);
}

static void a_definition_may_have_its_own_key(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", SEND_WITH("s", "'requestHeaders':" RIG_INPUT(
                                                  "HttpHeaders", "Object",
                                                  "'{\\'idempotency-key\\':\\'mine\\'}'") ",")));
    (void)start(f, "d", &ok, 1);
    assert_string_equal(f->a.script.asked[0].key, "");
    assert_non_null(strstr(f->a.script.asked[0].text, "idempotency-key: mine\n"));
}

static void two_requests_of_an_instance_have_two_keys(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", SEND("s1") "," SEND("s2")));
    (void)start(f, "d", &ok, 1);
    assert_int_equal(f->a.script.count, 2);
    assert_string_not_equal(f->a.script.asked[0].key, f->a.script.asked[1].key);
}

/* Whose connections are kept apart: also those of a child that runs within its parent's start. */
static void the_scope_of_a_request_is_the_definition_that_asks(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("child", SEND("s")));
    publish(f, DEFINITION("parent", SEND("s") "," CHILD("x", "child") "," SEND("t")));
    (void)start(f, "parent", &ok, 1);
    assert_int_equal(f->a.script.count, 3);
    assert_string_equal(f->a.script.asked[0].scope, "parent");
    assert_string_equal(f->a.script.asked[1].scope, "child");
    assert_string_equal(f->a.script.asked[2].scope, "parent");
}

static void a_start_that_need_not_wait_leaves_the_rest_to_others(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", SEND("s") "," RIG_WRITE("w", "after")));
    outcome = begin(f, "d");
    assert_string_equal(f->lines, "");
    script_answer(&f->a.script, 0, &ok);
    drain(f, &f->a);
    assert_string_equal(f->lines, "after\n");
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void an_inline_child_that_sends_lets_its_parent_go_on(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("child", SEND("s") "," RIG_WRITE("c", "child")));
    publish(f, DEFINITION("d", CHILD("x", "child") "," RIG_WRITE("w", "after")));
    outcome = start(f, "d", &ok, 1);
    assert_string_equal(f->lines, "child\nafter\n");
    assert_int_equal(outcome.sub_status, PAWL_SUB_FINISHED);
    drain(f, &f->a);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* ---- what comes meanwhile -------------------------------------------------------------------- */

#define BESIDE                                                                                     \
    DEFINITION(                                                                                    \
        "d",                                                                                       \
        "{'id':'p','type':'Elsa.Parallel','activities':[" RIG_SEQUENCE(                            \
            "l",                                                                                   \
            RIG_EVENT("e", "Go") "," RIG_WRITE(                                                    \
                "g", "went")) "," RIG_SEQUENCE("r",                                                \
                                               SEND("s") "," RIG_WRITE(                            \
                                                   "w", "after")) "," RIG_EVENT("x",               \
                                                                                "Never") "]}")

static void send_go(struct fixture *f, const char *instance_id)
{
    const struct pawl_stimulus to = {.instance_id = pawl__str(instance_id), .detached = true};
    struct pawl_sent sent;

    assert_ok(pawl__runtime_send_event(f->a.runtime, pawl__str("Go"), NULL, &to, &sent, later(f),
                                       &f->err),
              &f->err);
}

/* A worker has met it while the instance could not take it: nobody will look for it again. */
static void what_came_during_a_request_is_delivered_after_it(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, BESIDE);
    outcome = begin(f, "d");
    send_go(f, outcome.instance_id);
    work(f, &f->a);
    assert_string_equal(f->lines, "");
    script_answer(&f->a.script, 0, &ok);
    drain(f, &f->a);
    assert_string_equal(f->lines, "after\nwent\n");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static bool is_answer_stored(struct fixture *f)
{
    const struct pawl_condition condition = {.column = pawl_table_column(PAWL_TABLE_WORK, "kind"),
                                             .value = {.text = pawl__str(PAWL_WORK_FEED)}};
    const struct pawl_query query = {.table = PAWL_TABLE_WORK,
                                     .flags = PAWL_QUERY_COUNT,
                                     .conditions = &condition,
                                     .condition_count = 1};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    return rows.total > 0;
}

/* It goes on where it stood, then the command has its turn, then the mail. */
static void a_command_that_is_refused_comes_between_a_response_and_mail(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, BESIDE);
    outcome = begin(f, "d");
    send_go(f, outcome.instance_id);
    work(f, &f->a);
    script_answer(&f->a.script, 0, &ok);
    POLL_UNTIL(is_answer_stored(f)); /* by another thread */
    assert_int_equal(pawl__runtime_retry(f->a.runtime, pawl__str(outcome.instance_id), NULL, 0,
                                         NULL, later(f), &f->err),
                     PAWL_ECONFLICT);
    for (int i = 0; i < 4; i++) { /* what nobody has in hand is looked for after a while */
        test_clock_advance(f->clock, 3 * SECOND);
        drain(f, &f->a);
    }
    assert_string_equal(f->lines, "after\nwent\n");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* More than a claim returns. */
static void a_response_is_found_behind_any_amount_of_mail(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, BESIDE);
    outcome = begin(f, "d");
    for (int i = 0; i < PAWL_CLAIM_MAIL_MAX + 10; i++)
        send_go(f, outcome.instance_id);
    work(f, &f->a);
    assert_string_equal(f->lines, "");
    test_clock_advance(f->clock, SECOND);
    script_answer(&f->a.script, 0, &ok);
    drain(f, &f->a);
    assert_string_equal(f->lines, "after\nwent\n");
    assert_string_equal(sub_status(f, outcome.instance_id), "Suspended");
}

/* ---- failures ------------------------------------------------------------------------------ */

#define OUTCOMES                                                                                   \
    "{'definitionId':'d','id':'d:1','version':1,'name':'d','root':{'id':'f','type':"               \
    "'Elsa.Flowchart','activities':[" SEND("s") "," RIG_WRITE("w1", "failed") "," RIG_WRITE(       \
        "w2", "late") "],'connections':["                                                          \
                      "{'source':{'activity':'s','port':'Failed to connect'},'target':"            \
                      "{'activity':'w1','port':'In'}},"                                            \
                      "{'source':{'activity':'s','port':'Timeout'},'target':"                      \
                      "{'activity':'w2','port':'In'}}]}}"

static void failures_have_outcomes(void **state)
{
    static const struct pawl_http_answer answers[] = {
        {.end = PAWL_HTTP_CONNECT, .error = {PAWL_EUNAVAILABLE, "nobody there"}},
        {.end = PAWL_HTTP_TIMED_OUT, .sent = true, .error = {PAWL_EUNKNOWN, "too late"}},
        {.end = PAWL_HTTP_LOST, .sent = true, .error = {PAWL_EUNKNOWN, "cut off"}},
        {.end = PAWL_HTTP_DENIED, .error = {PAWL_EPERM, "forbidden"}},
        {.end = PAWL_HTTP_TOO_LARGE, .sent = true, .error = {PAWL_ELIMIT, "too much"}},
    };
    struct fixture *f = *state;

    publish(f, OUTCOMES);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(start(f, "d", &answers[i], 1).sub_status, PAWL_SUB_FINISHED);
    assert_string_equal(f->lines, "failed\nlate\nfailed\nfailed\nfailed\n");
    assert_int_equal(f->a.script.count, 5);
}

static void what_cannot_be_sent_faults(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, OUTCOMES);
    f->a.script.refuses = PAWL_EINVAL;
    outcome = start_until(f, "d", later(f));
    assert_int_equal(outcome.sub_status, PAWL_SUB_FAULTED);
    assert_string_equal(incident(f, outcome.instance_id), "the script says no");
}

static void a_host_without_an_executor_says_so(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, OUTCOMES);
    node_close(&f->a);
    node_open_with(f, &f->a, "a", NULL);
    outcome = start_until(f, "d", later(f));
    assert_int_equal(outcome.sub_status, PAWL_SUB_FAULTED);
    assert_string_equal(incident(f, outcome.instance_id), "this host sends no HTTP requests");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void a_strategy_tries_again_with_the_same_key(void **state)
{
    static const struct pawl_http_answer answers[] = {
        {.end = PAWL_HTTP_ANSWERED, .sent = true, .status = 503},
        {.end = PAWL_HTTP_ANSWERED, .sent = true, .status = 200},
    };
    struct fixture *f = *state;

    publish(
        f,
        DEFINITION(
            "d", SEND_WITH("s", CUSTOM("'resilienceStrategy':{'strategyId':'http'}")) "," RIG_WRITE(
                     "w", "after")));
    assert_int_equal(start(f, "d", answers, 2).sub_status, PAWL_SUB_FINISHED);
    assert_int_equal(f->a.script.count, 2);
    assert_string_equal(f->a.script.asked[0].key, f->a.script.asked[1].key);
    assert_string_equal(f->lines, "after\n");
}

/* ---- what this node lacks ------------------------------------------------------------------- */

static const struct pawl_http_answer no_room = {.end = PAWL_HTTP_NO_ROOM,
                                                .error = {PAWL_ENOMEM, "no memory"}};

/* Its pause ends when the clock has gone on for long enough, and the runtime's thread was there. */
static void wait_asked(struct fixture *f, size_t number)
{
    POLL_UNTIL((test_clock_advance(f->clock, SECOND), f->a.script.count == number));
}

/* What the definition allows to be tried again is for what servers do: three times, here. */
static void what_this_node_has_no_room_for_is_sent_again_for_nothing(void **state)
{
    static const struct pawl_http_answer busy = {
        .end = PAWL_HTTP_ANSWERED, .sent = true, .status = 503};
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    size_t number = 0;

    publish(
        f,
        DEFINITION(
            "d", SEND_WITH("s", CUSTOM("'resilienceStrategy':{'strategyId':'http'}")) "," RIG_WRITE(
                     "w", "after")));
    outcome = begin(f, "d");
    for (int i = 0; i < 4; i++) {
        script_answer(&f->a.script, number, &no_room);
        wait_asked(f, ++number + 1);
    }
    script_answer(&f->a.script, number, &busy);
    wait_asked(f, ++number + 1);
    assert_string_equal(f->lines, "");
    assert_string_equal(f->a.script.asked[number].key, f->a.script.asked[0].key);
    script_answer(&f->a.script, number, &ok);
    drain(f, &f->a);
    assert_string_equal(f->lines, "after\n");
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void what_may_have_been_sent_is_lost_whatever_this_node_lacks(void **state)
{
    static const struct pawl_http_answer sent = {
        .end = PAWL_HTTP_NO_ROOM, .sent = true, .error = {PAWL_ENOMEM, "no memory"}};
    struct fixture *f = *state;

    publish(f, DEFINITION("d", SEND_WITH("s", CUSTOM("'onUnknown':'fault'"))));
    assert_int_equal(start(f, "d", &sent, 1).sub_status, PAWL_SUB_FAULTED);
    assert_int_equal(f->a.script.count, 1);
}

static void an_executor_that_lacks_something_is_asked_again(void **state)
{
    static const int codes[] = {PAWL_ENOMEM, PAWL_EIO};
    struct fixture *f = *state;

    publish(f, DEFINITION("d", SEND("s") "," RIG_WRITE("w", "after")));
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        struct pawl_outcome outcome;

        atomic_store(&f->a.script.refused, 0);
        atomic_store(&f->a.script.refuses, codes[i]);
        outcome = begin(f, "d");
        POLL_UNTIL(atomic_load(&f->a.script.refused) > 0);
        atomic_store(&f->a.script.refuses, PAWL_OK);
        wait_asked(f, i + 1);
        script_answer(&f->a.script, i, &ok);
        drain(f, &f->a);
        assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    }
    assert_string_equal(f->lines, "after\nafter\n");
}

/* ---- cancelling ---------------------------------------------------------------------------- */

static void cancelling_does_not_wait_for_the_answer(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", SEND("s") "," RIG_WRITE("w", "after")));
    outcome = begin(f, "d");
    assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str(outcome.instance_id), later(f), &f->err),
              &f->err);
    assert_string_equal(sub_status(f, outcome.instance_id), "Cancelled");
    script_answer(&f->a.script, 0, &ok);
    drain(f, &f->a);
    assert_string_equal(f->lines, "");
    assert_string_equal(sub_status(f, outcome.instance_id), "Cancelled");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* ---- put off, and not wanted any more ------------------------------------------------------ */

/* There is room now, and its pause ends. */
static void check_not_sent_again(struct fixture *f, const char *instance_id, size_t sent)
{
    atomic_store(&f->a.script.refuses, PAWL_OK);
    POLL_UNTIL((test_clock_advance(f->clock, SECOND),
                f->a.script.count > sent || is_settled(f, instance_id)));
    assert_int_equal(f->a.script.count, sent);
}

#define DEFINITION_RETRY                                                                           \
    DEFINITION("d",                                                                                \
               SEND_WITH("s", CUSTOM("'resilienceStrategy':{'strategyId':'http'}")) "," RIG_WRITE( \
                   "w", "after"))

/* It was begun with this answer, or refused; then its instance is cancelled. */
static void check_cancelled(struct fixture *f, const char *definition,
                            const struct pawl_http_answer *answer)
{
    struct pawl_outcome outcome;

    publish(f, definition);
    atomic_store(&f->a.script.refuses, answer ? PAWL_OK : PAWL_EIO);
    outcome = begin(f, "d");
    if (answer)
        script_answer(&f->a.script, 0, answer);
    else
        POLL_UNTIL(atomic_load(&f->a.script.refused) > 0);
    cancel(f, outcome.instance_id);
    check_not_sent_again(f, outcome.instance_id, answer ? 1 : 0);
    drain(f, &f->a);
    assert_string_equal(f->lines, "");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void a_cancelled_request_that_found_no_room_is_not_sent_again(void **state)
{
    check_cancelled(*state, DEFINITION_SEND, &no_room);
}

static void a_cancelled_request_that_the_executor_refused_is_not_sent(void **state)
{
    check_cancelled(*state, DEFINITION_SEND, NULL);
}

static void a_cancelled_request_that_failed_is_not_tried_again(void **state)
{
    static const struct pawl_http_answer busy = {
        .end = PAWL_HTTP_ANSWERED, .sent = true, .status = 503};

    check_cancelled(*state, DEFINITION_RETRY, &busy);
}

/* The lease of this node was over for a while. */
static void a_request_that_another_node_took_is_not_sent_again(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION_SEND);
    atomic_store(&f->a.script.refuses, PAWL_ENOMEM);
    outcome = begin(f, "d");
    node_open(f, &f->b, "b");
    test_clock_advance(f->clock, LEASE + SECOND);
    work(f, &f->b);
    assert_int_equal(f->b.script.count, 1);
    check_not_sent_again(f, outcome.instance_id, 0);
    script_answer(&f->b.script, 0, &ok);
    drain(f, &f->b);
    assert_string_equal(f->lines, "after\n");
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void a_request_whose_response_another_node_stored_is_not_sent_again(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION_SEND);
    atomic_store(&f->a.script.refuses, PAWL_ENOMEM);
    outcome = begin(f, "d");
    node_open(f, &f->b, "b");
    f->b.script.answers = &ok;
    f->b.script.answer_count = 1;
    test_clock_advance(f->clock, LEASE + SECOND);
    drain(f, &f->b);
    assert_string_equal(f->lines, "after\n");
    check_not_sent_again(f, outcome.instance_id, 0);
}

/* Its row has the new incarnation. */
static void a_request_that_its_own_node_took_anew_is_sent(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION_SEND);
    atomic_store(&f->a.script.refuses, PAWL_ENOMEM);
    outcome = begin(f, "d");
    test_clock_advance(f->clock, LEASE + SECOND);
    work(f, &f->a);
    atomic_store(&f->a.script.refuses, PAWL_OK);
    wait_asked(f, 1);
    script_answer(&f->a.script, 0, &ok);
    drain(f, &f->a);
    assert_string_equal(f->lines, "after\n");
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* ---- other nodes --------------------------------------------------------------------------- */

static void another_node_sends_again_what_a_dead_one_had_sent(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", SEND("s") "," RIG_WRITE("w", "after")));
    outcome = begin(f, "d");
    node_open(f, &f->b, "b");
    drain(f, &f->b);
    assert_int_equal(f->b.script.count, 0); /* its owner lives */
    node_close(&f->b);
    test_clock_advance(f->clock, LEASE + SECOND);
    node_open(f, &f->b, "b");
    f->b.script.answers = &ok;
    f->b.script.answer_count = 1;
    drain(f, &f->b);
    assert_int_equal(f->b.script.count, 1);
    assert_string_equal(f->b.script.asked[0].key, f->a.script.asked[0].key);
    assert_string_equal(f->b.script.asked[0].text, f->a.script.asked[0].text);
    assert_string_equal(f->b.script.asked[0].scope, "d");
    assert_string_equal(f->lines, "after\n");
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    /* The one that was thought dead hears at last: nothing happens. */
    script_answer(&f->a.script, 0, &ok);
    drain(f, &f->a);
    drain(f, &f->b);
    assert_string_equal(f->lines, "after\n");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

/* It lives, so that its claim holds, and has no workers. */
static void check_left_to_others(struct fixture *f, const char *instance_id)
{
    script_answer(&f->a.script, 0, &ok);
    assert_ok(pawl__runtime_wait_answered(f->a.runtime, pawl__str(""), later(f)), NULL);
    node_open(f, &f->b, "b");
    drain(f, &f->b);
    assert_string_equal(f->lines, ""); /* its owner lives */
    test_clock_advance(f->clock, 5 * SECOND / 2);
    pawl__runtime_return_strays(f->a.runtime, later(f));
    drain(f, &f->b);
    assert_string_equal(f->lines, "after\n");
    assert_string_equal(sub_status(f, instance_id), "Finished");
    assert_int_equal(f->a.script.count + f->b.script.count, 1);
}

static void an_instance_whose_caller_had_no_more_time_is_finished_by_others(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", SEND("s") "," RIG_WRITE("w", "after")));
    check_left_to_others(f, begin(f, "d").instance_id);
}

static void an_instance_whose_caller_does_not_wait_is_finished_by_others(void **state)
{
    struct fixture *f = *state;
    const struct pawl_start what = {.definition_id = pawl__str("d"), .unattended = true};
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", SEND("s") "," RIG_WRITE("w", "after")));
    f->a.script.answers = NULL;
    assert_ok(pawl__runtime_start(f->a.runtime, &what, &outcome, later(f), &f->err), &f->err);
    check_left_to_others(f, outcome.instance_id);
}

/* A node whose lease was over for a while takes its own rows: they are under way already. */
static void a_node_does_not_send_twice_what_it_is_sending(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct pawl_worked worked;

    publish(f, DEFINITION("d", SEND("s") "," RIG_WRITE("w", "after")));
    outcome = begin(f, "d");
    test_clock_advance(f->clock, LEASE + SECOND);
    assert_ok(pawl__runtime_work(f->a.runtime, 0, &worked, later(f), &f->err), &f->err);
    assert_int_equal(f->a.script.count, 1);
    script_answer(&f->a.script, 0, &ok);
    assert_ok(pawl__runtime_wait_answered(f->a.runtime, pawl__str(outcome.instance_id), later(f)),
              NULL);
    drain(f, &f->a);
    assert_string_equal(f->lines, "after\n");
}

static void answer_it(void *ctx)
{
    struct fixture *f = ctx;

    script_answer(&f->a.script, 0, &ok);
    assert_ok(pawl__runtime_wait_answered(f->a.runtime, pawl__str(""), later(f)), NULL);
}

/* The look for what is in nobody's hand has read the row before the answer ended it. */
static void a_request_that_ends_while_strays_are_looked_for_is_not_sent_again(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("d", SEND("s") "," RIG_WRITE("w", "after")));
    (void)begin(f, "d");
    let_find_be_slow(f->a.store, answer_it, f);
    pawl__runtime_note_failure(f->a.runtime, PAWL_EUNKNOWN);
    test_clock_advance(f->clock, SECOND);
    drain(f, &f->a);
    assert_null(slow_find.meanwhile);
    assert_int_equal(f->a.script.count, 1);
    assert_string_equal(f->lines, "after\n");
}

/* A store whose first take has found nothing, and whose caller goes on late. */
static struct {
    struct pawl_store_ops ops;
    const struct pawl_store_ops *real;
    struct fixture *f; /* answered once, behind the first take */
} slow_take;

static int take_slowly(struct pawl_store *store, const struct pawl_take *take,
                       struct pawl_arena *arena, struct pawl_taken *out, int64_t deadline_ns,
                       struct pawl_error *err)
{
    int status = slow_take.real->take(store, take, arena, out, deadline_ns, err);
    struct fixture *f = slow_take.f;

    slow_take.f = NULL;
    if (f)
        answer_it(f);
    return status;
}

/* The request has ended and its response is due when the drain comes to wait for it. */
static void a_drain_delivers_a_response_that_came_behind_its_look(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", SEND("s") "," RIG_WRITE("w", "after")));
    outcome = begin(f, "d");
    slow_take.real = f->a.store->ops;
    slow_take.ops = *slow_take.real;
    slow_take.ops.take = take_slowly;
    slow_take.f = f;
    f->a.store->ops = &slow_take.ops;
    drain(f, &f->a);
    assert_null(slow_take.f);
    assert_string_equal(f->lines, "after\n");
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void another_node_faults_what_must_not_be_sent_twice(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION(
                   "d", SEND_WITH("s", CUSTOM("'onUnknown':'fault'")) "," RIG_WRITE("w", "after")));
    outcome = begin(f, "d");
    test_clock_advance(f->clock, LEASE + SECOND);
    node_open(f, &f->b, "b");
    drain(f, &f->b);
    assert_int_equal(f->b.script.count, 0);
    assert_string_equal(sub_status(f, outcome.instance_id), "Faulted");
    assert_non_null(strstr(incident(f, outcome.instance_id), "took effect is unknown"));
}

static void a_lost_answer_faults_where_it_must_not_be_sent_twice(void **state)
{
    static const struct pawl_http_answer lost = {
        .end = PAWL_HTTP_LOST, .sent = true, .error = {PAWL_EUNKNOWN, "cut off"}};
    static const struct pawl_http_answer unsent = {.end = PAWL_HTTP_CONNECT,
                                                   .error = {PAWL_EUNAVAILABLE, "nobody there"}};
    struct fixture *f = *state;

    publish(f, DEFINITION("d", SEND_WITH("s", CUSTOM("'onUnknown':'fault'"))));
    assert_int_equal(start(f, "d", &lost, 1).sub_status, PAWL_SUB_FAULTED);
    assert_int_equal(start(f, "d", &unsent, 1).sub_status, PAWL_SUB_FINISHED);
}

static void a_node_that_left_in_order_leaves_its_requests(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", SEND("s") "," RIG_WRITE("w", "after")));
    outcome = begin(f, "d");
    node_open(f, &f->b, "b");
    f->b.script.answers = &ok;
    f->b.script.answer_count = 1;
    node_close(&f->a);
    drain(f, &f->b);
    assert_string_equal(f->lines, "after\n");
    node_open(f, &f->a, "a");
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
}

/* ---- with a real executor ------------------------------------------------------------------ */

#define INSTANCES 12

static uint64_t unfinished(struct fixture *f)
{
    const struct pawl_condition condition = {.column =
                                                 pawl_table_column(PAWL_TABLE_INSTANCES, "status"),
                                             .compare = PAWL_NE,
                                             .value = {.text = S("Finished")}};
    const struct pawl_query query = {.table = PAWL_TABLE_INSTANCES,
                                     .flags = PAWL_QUERY_COUNT,
                                     .conditions = &condition,
                                     .condition_count = 1};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    return rows.total;
}

/* One worker, and all requests are under way at a time: a burst that waits has no worker. */
static void a_burst_that_waits_has_no_worker(void **state)
{
    static const struct test_http_route route = {.path = S("/a"),
                                                 .status = 200,
                                                 .content_type = S("application/json"),
                                                 .body = S("{}"),
                                                 .manner = TEST_HTTP_HOLD};
    const struct pawl_pool_options one = {.workers = 1};
    struct fixture *f = *state;
    struct test_http *server = test_http_start(&route, 1);
    struct pawl_http_executor *curl;
    struct pawl_pool *pool;
    struct pawl_wake wake = {0};
    char text[1024];

    (void)snprintf(text, sizeof text,
                   DEFINITION("d", "{'id':'s','type':'Elsa.SendHttpRequest','url':{'typeName':"
                                   "'Uri','expression':{'type':'Literal','value':'%s/a'}}}"),
                   test_http_url(server));
    publish(f, text);
    node_close(&f->a);
    assert_ok(pawl__curl_open(f->env, NULL, &curl, &f->err), &f->err);
    node_open_with(f, &f->a, "a", curl);
    assert_ok(pawl__pool_open(f->env, f->a.runtime, &one, &pool, &f->err), &f->err);
    for (int i = 0; i < INSTANCES; i++) {
        const struct pawl_start what = {.definition_id = pawl__str("d")};
        struct pawl_outcome outcome;

        assert_ok(pawl__runtime_create(f->a.runtime, &what, &outcome, later(f), &f->err), &f->err);
    }
    test_http_wait(server, INSTANCES);
    assert_int_equal(unfinished(f), INSTANCES);
    test_http_release(server);
    while (unfinished(f) > 0)
        (void)!pawl_store_wait(f->a.store, &wake, pawl_env_monotonic_ns(f->env) + SECOND / 10,
                               NULL);
    pawl__pool_close(pool);
    node_close(&f->a);
    pawl_http_close(curl);
    test_http_stop(server);
}

/* ---- a store that refuses ------------------------------------------------------------------ */

/* Of commits that finish work, the first so many fail with this. */
static const struct pawl_store_ops *real_ops;
static atomic_int refusals_left, refusal_code;

static int refusing_apply(struct pawl_store *store, struct pawl_commit *const *commits,
                          size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    bool finishes = false;

    for (size_t i = 0; i < count; i++)
        finishes = finishes || commits[i]->done_count > 0;
    if (!finishes || atomic_load(&refusals_left) == 0)
        return real_ops->apply(store, commits, count, deadline_ns, err);
    atomic_fetch_sub(&refusals_left, 1);
    if (err)
        *err = (struct pawl_error){.code = atomic_load(&refusal_code), .msg = "refused"};
    return atomic_load(&refusal_code);
}

/* The answer is delivered whatever the store said before, as long as it did not judge the commit.
 */
static void check_refusals(struct fixture *f, int code, const char *expected)
{
    static struct pawl_store_ops ops;
    struct pawl_outcome outcome;

    real_ops = f->a.store->ops;
    ops = *real_ops;
    ops.apply = refusing_apply;
    f->a.store->ops = &ops;
    publish(f, DEFINITION("d", SEND("s") "," RIG_WRITE("w", "after")));
    outcome = begin(f, "d");
    atomic_store(&refusal_code, code);
    atomic_store(&refusals_left, 2);
    script_answer(&f->a.script, 0, &ok);
    drain(f, &f->a);
    assert_int_equal(atomic_load(&refusals_left), 0);
    assert_string_equal(f->lines, expected);
    assert_int_equal(f->a.script.count, 1);
    if (*expected)
        assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    else
        assert_non_null(strstr(incident(f, outcome.instance_id), "refused"));
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    f->a.store->ops = real_ops;
}

static void an_answer_outlives_a_store_that_may_not_write(void **state)
{
    check_refusals(*state, PAWL_EPERM, "after\n");
}

static void an_answer_outlives_a_store_whose_disk_fails(void **state)
{
    check_refusals(*state, PAWL_EIO, "after\n");
}

/* It would be refused again and again: the burst is told instead, and does not hang. */
static void an_answer_that_cannot_be_stored_is_a_failed_request(void **state)
{
    check_refusals(*state, PAWL_ELIMIT, "");
}

/* Of queries of work, these fail while there is a code. */
static atomic_int find_code, finds_refused;

static int refusing_find(struct pawl_store *store, const struct pawl_query *query,
                         struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                         struct pawl_error *err)
{
    int code = atomic_load(&find_code);

    if (code == PAWL_OK || query->table != PAWL_TABLE_WORK)
        return real_ops->find(store, query, arena, out, deadline_ns, err);
    atomic_fetch_add(&finds_refused, 1);
    if (err)
        *err = (struct pawl_error){.code = code, .msg = "refused"};
    return code;
}

/* Nobody knows whose its row is: it waits until that is known. */
static void what_was_put_off_outlives_a_store_that_cannot_be_asked(void **state)
{
    static struct pawl_store_ops ops;
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    real_ops = f->a.store->ops;
    ops = *real_ops;
    ops.find = refusing_find;
    f->a.store->ops = &ops;
    publish(f, DEFINITION_SEND);
    atomic_store(&finds_refused, 0);
    outcome = begin(f, "d");
    atomic_store(&find_code, PAWL_EUNAVAILABLE);
    script_answer(&f->a.script, 0, &no_room);
    POLL_UNTIL((test_clock_advance(f->clock, SECOND),
                atomic_load(&finds_refused) > 2 || is_settled(f, outcome.instance_id)));
    assert_int_equal(f->a.script.count, 1);
    assert_false(is_settled(f, outcome.instance_id));
    atomic_store(&find_code, PAWL_OK);
    wait_asked(f, 2);
    script_answer(&f->a.script, 1, &ok);
    drain(f, &f->a);
    assert_string_equal(f->lines, "after\n");
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    f->a.store->ops = real_ops;
}

#define REAL(name) cmocka_unit_test_setup_teardown(name, set_up_real, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        REAL(an_answer_outlives_a_store_that_may_not_write),
        REAL(an_answer_outlives_a_store_whose_disk_fails),
        REAL(an_answer_that_cannot_be_stored_is_a_failed_request),
        TEST(a_start_returns_when_the_answer_was_dealt_with),
        TEST(everything_that_was_asked_for_is_sent),
        TEST(a_definition_may_have_its_own_key),
        TEST(two_requests_of_an_instance_have_two_keys),
        TEST(the_scope_of_a_request_is_the_definition_that_asks),
        TEST(a_start_that_need_not_wait_leaves_the_rest_to_others),
        TEST(an_inline_child_that_sends_lets_its_parent_go_on),
        TEST(failures_have_outcomes),
        TEST(what_cannot_be_sent_faults),
        TEST(a_host_without_an_executor_says_so),
        cmocka_unit_test_setup_teardown(a_strategy_tries_again_with_the_same_key, set_up_real,
                                        tear_down),
        TEST(what_this_node_has_no_room_for_is_sent_again_for_nothing),
        TEST(what_may_have_been_sent_is_lost_whatever_this_node_lacks),
        TEST(an_executor_that_lacks_something_is_asked_again),
        TEST(cancelling_does_not_wait_for_the_answer),
        TEST(a_cancelled_request_that_found_no_room_is_not_sent_again),
        TEST(a_cancelled_request_that_the_executor_refused_is_not_sent),
        TEST(a_cancelled_request_that_failed_is_not_tried_again),
        TEST(a_request_that_another_node_took_is_not_sent_again),
        TEST(a_request_whose_response_another_node_stored_is_not_sent_again),
        TEST(a_request_that_its_own_node_took_anew_is_sent),
        TEST(what_was_put_off_outlives_a_store_that_cannot_be_asked),
        TEST(another_node_sends_again_what_a_dead_one_had_sent),
        TEST(an_instance_whose_caller_had_no_more_time_is_finished_by_others),
        TEST(an_instance_whose_caller_does_not_wait_is_finished_by_others),
        TEST(a_node_does_not_send_twice_what_it_is_sending),
        TEST(a_request_that_ends_while_strays_are_looked_for_is_not_sent_again),
        TEST(a_drain_delivers_a_response_that_came_behind_its_look),
        TEST(what_came_during_a_request_is_delivered_after_it),
        TEST(a_command_that_is_refused_comes_between_a_response_and_mail),
        TEST(a_response_is_found_behind_any_amount_of_mail),
        TEST(another_node_faults_what_must_not_be_sent_twice),
        TEST(a_lost_answer_faults_where_it_must_not_be_sent_twice),
        TEST(a_node_that_left_in_order_leaves_its_requests),
        cmocka_unit_test_setup_teardown(a_burst_that_waits_has_no_worker, set_up_real, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
