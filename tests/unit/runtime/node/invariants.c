/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lives of tickets, holds, bursts and instances in hand: which move is allowed, that a wrong
 * one ends the process, and that each check says what is broken.
 */
#include "base/error.h"
#include "lib/test.h"
#include "runtime/commit/committer_private.h"
#include "runtime/instance/private.h"
#include "runtime/work/private.h"
#include "runtime/work/request.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- moves --------------------------------------------------------------------------------- */

/* clang-format off */
static const bool ticket_moves[5][5] = {
    /*               SPARE  QUEUED SENT   ABAND. ANSWERED */
    /* SPARE     */ {false, true,  false, false, false},
    /* QUEUED    */ {true,  false, true,  false, true},
    /* SENT      */ {false, true,  false, true,  true},
    /* ABANDONED */ {true,  false, false, false, false},
    /* ANSWERED  */ {true,  false, false, false, false},
};
static const bool hand_moves[4][4] = {
    /*              FREE   TAKEN  STEPP. GIVEN_UP */
    /* FREE     */ {false, true,  false, false},
    /* TAKEN    */ {true,  false, true,  false},
    /* STEPPING */ {false, true,  false, true},
    /* GIVEN_UP */ {true,  false, false, false},
};
static const bool held_moves[3][3] = {
    /*           FREE   TAKEN  DONE */
    /* FREE  */ {false, true,  false},
    /* TAKEN */ {true,  false, true},
    /* DONE  */ {true,  false, false},
};
static const bool burst_moves[6][6] = {
    /*               NONE   OPEN   STEPP. COMM.  PARKED YIELDED */
    /* NONE      */ {false, true,  false, false, true,  false},
    /* OPEN      */ {true,  false, true,  true,  false, false},
    /* STEPPED   */ {true,  true,  false, true,  false, false},
    /* COMMITTED */ {true,  true,  false, false, true,  true},
    /* PARKED    */ {false, false, false, false, false, false},
    /* YIELDED   */ {false, false, false, false, false, false},
};
static const bool request_moves[6][6] = {
    /*                NEW    SENDING ANSW.  PAUSING COMM.  CHECKING */
    /* NEW        */ {false, true,  false, false, false, false},
    /* SENDING    */ {false, false, true,  true,  false, false},
    /* ANSWERED   */ {false, false, false, true,  true,  false},
    /* PAUSING    */ {false, false, false, false, false, true},
    /* COMMITTING */ {false, false, true,  false, false, false},
    /* CHECKING   */ {false, true,  false, true,  false, false},
};
/* clang-format on */

enum subject { TICKET, HAND, HELD, BURST, REQUEST };

/* Makes the move, allowed or not. */
static void move(enum subject subject, int from, int to)
{
    struct ticket ticket = {.state = (enum ticket_state)from};
    struct runtime_running hand = {.state = (enum hand_state)from};
    struct runtime_held held = {.state = (enum held_state)from};
    struct runtime_run run = {.at = (enum burst_state)from};
    struct runtime_request request = {.state = (enum runtime_request_state)from};

    if (subject == TICKET)
        pawl__ticket_move(&ticket, (enum ticket_state)to);
    else if (subject == HAND)
        (void)!pawl__hand_move(&hand, (enum hand_state)from, (enum hand_state)to);
    else if (subject == HELD)
        pawl__held_move(&held, (enum held_state)to);
    else if (subject == BURST)
        pawl__run_move(&run, (enum burst_state)to);
    else
        pawl__request_move(&request, (enum runtime_request_state)to);
}

static void assert_aborts(enum subject subject, int from, int to)
{
    int status = 0;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        (void)signal(SIGABRT, SIG_DFL);
        (void)close(2);
        move(subject, from, to);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
        fail_msg("subject %d moved from %d to %d", (int)subject, from, to);
}

static void assert_moves(enum subject subject, int count, const bool *table)
{
    for (int from = 0; from < count; from++)
        for (int to = 0; to < count; to++) {
            if (table[from * count + to])
                move(subject, from, to);
            else
                assert_aborts(subject, from, to);
        }
}

static void a_ticket_makes_the_moves_of_its_table_and_no_other(void **state)
{
    (void)state;
    assert_moves(TICKET, 5, &ticket_moves[0][0]);
}

static void an_instance_in_hand_makes_the_moves_of_its_table_and_no_other(void **state)
{
    (void)state;
    assert_moves(HAND, 4, &hand_moves[0][0]);
}

static void a_hold_makes_the_moves_of_its_table_and_no_other(void **state)
{
    (void)state;
    assert_moves(HELD, 3, &held_moves[0][0]);
}

static void a_burst_makes_the_moves_of_its_table_and_no_other(void **state)
{
    (void)state;
    assert_moves(BURST, 6, &burst_moves[0][0]);
}

static void a_request_makes_the_moves_of_its_table_and_no_other(void **state)
{
    (void)state;
    assert_moves(REQUEST, 6, &request_moves[0][0]);
}

static void a_step_that_was_given_up_is_not_moved_by_its_thread(void **state)
{
    struct runtime_running hand = {.state = HAND_GIVEN_UP};

    (void)state;
    assert_false(pawl__hand_move(&hand, HAND_STEPPING, HAND_TAKEN));
    assert_int_equal(atomic_load(&hand.state), HAND_GIVEN_UP);
}

/* ---- what must hold ------------------------------------------------------------------------ */

struct fixture {
    struct test_allocator alloc;
    struct pawl_runtime runtime;
    struct pawl_committer committer;
    char why[160];
};

static int set_up(void **state)
{
    static struct fixture f;

    f = (struct fixture){0};
    test_allocator_init(&f.alloc);
    pawl__list_init(&f.runtime.running);
    pawl__list_init(&f.runtime.given_up);
    pawl__list_init(&f.runtime.done_effects);
    pawl__list_init(&f.runtime.requests);
    pawl__list_init(&f.runtime.yielded);
    pawl__map_init(&f.runtime.held, &f.alloc.base, (struct pawl_hash_seed){1, 2});
    pawl__list_init(&f.committer.queue);
    pawl__list_init(&f.committer.spare);
    pawl__map_init(&f.committer.busy, &f.alloc.base, (struct pawl_hash_seed){1, 2});
    f.runtime.committer = &f.committer;
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    pawl__map_release(&f->runtime.held);
    pawl__map_release(&f->committer.busy);
    assert_int_equal(f->alloc.live_count, 0);
    return 0;
}

static bool is_free(const struct pawl_mutex *mutex)
{
    (void)mutex;
    return true;
}

static void assert_holds(struct fixture *f)
{
    if (!pawl__runtime_check_invariants(&f->runtime, is_free, f->why, sizeof f->why))
        fail_msg("%s", f->why);
}

static void assert_broken(struct fixture *f, const char *what)
{
    f->why[0] = '\0';
    assert_false(pawl__runtime_check_invariants(&f->runtime, is_free, f->why, sizeof f->why));
    if (!strstr(f->why, what))
        fail_msg("'%s' does not say '%s'", f->why, what);
}

static void take_in_hand(struct fixture *f, struct runtime_running *hand, const char *id)
{
    *hand = (struct runtime_running){.id = pawl__str(id), .state = HAND_TAKEN};
    pawl__list_push_back(&f->runtime.running, &hand->link);
}

static void an_instance_in_two_hands_is_reported(void **state)
{
    struct fixture *f = *state;
    struct runtime_running a, b;

    take_in_hand(f, &a, "x");
    take_in_hand(f, &b, "y");
    assert_holds(f);
    b.id = pawl__str("x");
    assert_broken(f, "instance x is in the hand of two threads");
}

static void a_hand_in_the_wrong_list_is_reported(void **state)
{
    struct fixture *f = *state;
    struct runtime_running a, b;

    take_in_hand(f, &a, "x");
    a.state = HAND_GIVEN_UP;
    assert_broken(f, "instance x is in the list of those in hand, and is not in hand");
    a.state = HAND_FREE;
    assert_broken(f, "is not in hand");
    a.state = HAND_TAKEN;
    b = (struct runtime_running){.id = pawl__str("y"), .state = HAND_STEPPING};
    pawl__list_push_back(&f->runtime.given_up, &b.link);
    f->runtime.stuck = 1;
    assert_broken(f, "instance y is in the list of those given up, and is not");
    b.state = HAND_GIVEN_UP;
    assert_holds(f);
    f->runtime.stuck = 2;
    assert_broken(f, "1 threads hang, and 2 are counted");
    f->runtime.stuck = f->runtime.stuck_workers = 1;
    assert_broken(f, "1 threads hang, and 1 are counted");
    b.is_worker = true;
    assert_holds(f);
}

static void a_step_that_began_at_no_time_is_reported(void **state)
{
    struct fixture *f = *state;
    struct runtime_running a;

    take_in_hand(f, &a, "x");
    a.state = HAND_STEPPING;
    assert_broken(f, "instance x is in a step that began at no time");
    a.since_ns = 5;
    assert_holds(f);
    a.state = HAND_TAKEN;
    assert_broken(f, "instance x is in a step");
}

static void a_node_reserved_for_what_is_not_in_hand_is_reported(void **state)
{
    struct fixture *f = *state;
    struct runtime_running a, b = {.id = pawl__str("y")};

    take_in_hand(f, &a, "x");
    f->runtime.alone = &a;
    assert_holds(f);
    f->runtime.alone = &b;
    assert_broken(f, "what has the node to itself is not in hand");
}

static void a_broken_hold_is_reported(void **state)
{
    struct fixture *f = *state;
    struct runtime_held held = {.id = pawl__str("w"), .state = HELD_TAKEN};
    struct runtime_done done = {.id = pawl__str("w")};

    assert_ok(pawl__map_put(&f->runtime.held, held.id, &held), NULL);
    assert_holds(f);
    held.state = HELD_FREE;
    assert_broken(f, "work w is in the map of what is held, and is free");
    held.state = HELD_TAKEN;
    pawl__list_push_back(&f->runtime.done_effects, &done.link);
    assert_broken(f, "work w waits to be deleted, and is not held as done");
    held.state = HELD_DONE;
    assert_holds(f);
    done.id = pawl__str("v");
    assert_broken(f, "work v waits to be deleted, and is not held as done");
    done.id = pawl__str("w");
    held.id = pawl__str("u");
    assert_broken(f, "work u is held under another id");
}

static void a_broken_burst_is_reported(void **state)
{
    struct fixture *f = *state;
    struct runtime_running hand;
    struct runtime_run run = {.row = {.id = pawl__str("x"), .owner = 7}, .incarnation = 7};
    char somewhere; /* it is not looked into */

    take_in_hand(f, &hand, "x");
    hand.run = &run;
    run.loaded = true;
    assert_holds(f);
    run.at = BURST_OPEN;
    assert_broken(f, "the burst of instance x is open without an engine's burst");
    run.burst = (struct pawl_burst *)(void *)&somewhere;
    run.graph = (struct pawl_graph *)(void *)&somewhere;
    assert_holds(f);
    run.loaded = false;
    assert_broken(f, "is about to write a state that was not loaded");
    run.is_new = true;
    assert_holds(f);
    run.is_new = false;
    run.loaded = true;
    run.row.owner = 0;
    assert_broken(f, "goes on without a claim");
    run.at = BURST_COMMITTED;
    assert_holds(f);
    run.at = BURST_PARKED;
    assert_broken(f, "waits without a claim");
    run.row.owner = 6;
    assert_broken(f, "is under a claim of another incarnation");
    run.row.owner = 7;
    assert_holds(f);
    run.at = BURST_NONE;
    assert_broken(f, "is closed and has an engine's burst");
    run.burst = NULL;
    run.row.id = pawl__str("y");
    assert_broken(f, "is of another instance than its thread has in hand");
}

static void turns_that_are_not_counted_are_reported(void **state)
{
    struct fixture *f = *state;
    struct runtime_yielded yielded = {.id = pawl__str("x")};

    pawl__list_push_back(&f->runtime.yielded, &yielded.link);
    assert_broken(f, "1 turns wait, and another number is counted");
    f->runtime.yielded_count = 1;
    assert_holds(f);
}

static void a_broken_request_is_reported(void **state)
{
    struct fixture *f = *state;
    struct runtime_request a = {.id = pawl__str("r"), .owner = 3, .state = REQUEST_SENDING}, b = a;

    pawl__list_push_back(&f->runtime.requests, &a.link);
    assert_holds(f);
    a.state = REQUEST_NEW;
    assert_broken(f, "request r is under way and was not begun");
    a.state = REQUEST_COMMITTING;
    b.link = (struct pawl_list_link){0};
    pawl__list_push_back(&f->runtime.requests, &b.link);
    assert_broken(f, "request r is under way twice");
    b.owner = 4;
    assert_holds(f);
}

static void a_broken_ticket_is_reported(void **state)
{
    struct fixture *f = *state;
    struct pawl_instance_row row = {.id = pawl__str("x")};
    struct ticket a = {.state = TICKET_SENT, .commit = {.instance = &row}}, b = a;

    assert_ok(pawl__map_put(&f->committer.busy, row.id, &a), NULL);
    assert_holds(f);
    a.state = TICKET_ANSWERED;
    assert_broken(f, "a key is busy with a ticket that is not on its way");
    a.state = TICKET_ABANDONED;
    assert_holds(f);
    pawl__list_push_back(&f->committer.queue, &b.link);
    assert_broken(f, "a ticket in the queue is not queued");
    b.state = TICKET_SPARE;
    pawl__list_remove(&b.link);
    pawl__list_push_back(&f->committer.spare, &b.link);
    assert_broken(f, "spare tickets are not counted");
    f->committer.spare_count = 1;
    assert_holds(f);
    b.lent = true;
    assert_broken(f, "a spare ticket is in use");
}

static bool is_never_free(const struct pawl_mutex *mutex)
{
    (void)mutex;
    return false;
}

static void what_somebody_is_changing_is_not_looked_at(void **state)
{
    struct fixture *f = *state;

    f->runtime.stuck = 1;
    f->committer.spare_count = 1;
    assert_broken(f, "threads hang");
    assert_true(pawl__runtime_check_invariants(&f->runtime, is_never_free, f->why, sizeof f->why));
}

#define BROKEN(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ticket_makes_the_moves_of_its_table_and_no_other),
        cmocka_unit_test(an_instance_in_hand_makes_the_moves_of_its_table_and_no_other),
        cmocka_unit_test(a_hold_makes_the_moves_of_its_table_and_no_other),
        cmocka_unit_test(a_burst_makes_the_moves_of_its_table_and_no_other),
        cmocka_unit_test(a_request_makes_the_moves_of_its_table_and_no_other),
        cmocka_unit_test(a_step_that_was_given_up_is_not_moved_by_its_thread),
        BROKEN(an_instance_in_two_hands_is_reported),
        BROKEN(a_hand_in_the_wrong_list_is_reported),
        BROKEN(a_step_that_began_at_no_time_is_reported),
        BROKEN(a_node_reserved_for_what_is_not_in_hand_is_reported),
        BROKEN(a_broken_hold_is_reported),
        BROKEN(a_broken_burst_is_reported),
        BROKEN(turns_that_are_not_counted_are_reported),
        BROKEN(a_broken_request_is_reported),
        BROKEN(a_broken_ticket_is_reported),
        BROKEN(what_somebody_is_changing_is_not_looked_at),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
