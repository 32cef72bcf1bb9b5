/* SPDX-License-Identifier: Apache-2.0 */
/* Visits: direct delivery claims an idle instance with its commit, and what comes in between. */
#include "runtime/runtime_private.h"
#include "unit/runtime/nodes.h"

#define WAITING                                                                                    \
    DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went") "," RIG_EVENT("x", "No"))

/* A store that counts, and after the first visit lets something else happen. */
static struct {
    struct pawl_store_ops ops;
    const struct pawl_store_ops *real;
    struct fixture *f;
    void (*between)(struct pawl_claim *visit); /* NULL: nothing */
    unsigned visits;
    unsigned granted;
    unsigned claims;
    int64_t visit_fence;  /* of the last commit of a visit */
    int64_t claim_fence;  /* of the claim beside it */
    int let_go, reserved; /* the changes of that commit that do so; -1: none */
    struct node other;
} watched;

static int claim_watched(struct pawl_store *store, int64_t owner, struct pawl_claim *claims,
                         size_t count, struct pawl_arena *arena, int64_t *now_us,
                         int64_t deadline_ns, struct pawl_error *err)
{
    void (*between)(struct pawl_claim * visit) = watched.between;
    int status = watched.real->claim(store, owner, claims, count, arena, now_us, deadline_ns, err);

    if (count != 1 || !claims[0].visits) {
        watched.claims++;
        return status;
    }
    watched.visits++;
    watched.granted += status == PAWL_OK && claims[0].status == PAWL_OK;
    watched.between = NULL;
    if (between && status == PAWL_OK)
        between(&claims[0]);
    return status;
}

static int find_change(const struct pawl_commit *commit, enum pawl_change_kind kind)
{
    for (size_t i = 0; i < commit->change_count; i++)
        if (commit->changes[i].table == PAWL_TABLE_RESERVATIONS && commit->changes[i].kind == kind)
            return (int)i;
    return -1;
}

static int apply_watched(struct pawl_store *store, struct pawl_commit *const *commits, size_t count,
                         int64_t deadline_ns, struct pawl_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (commits[i]->flags & PAWL_COMMIT_VISITED) {
            watched.visit_fence = commits[i]->instance->fence;
            watched.let_go = find_change(commits[i], PAWL_CHANGE_DELETE_OWNED);
            watched.reserved = find_change(commits[i], PAWL_CHANGE_INSERT);
        }
    return watched.real->apply(store, commits, count, deadline_ns, err);
}

static int watch_fixture(void **state, int status)
{
    struct fixture *f = *state;

    node_close(&f->a);
    f->delivery = PAWL_DELIVERY_DIRECT;
    node_open(f, &f->a, "a");
    watched.f = f;
    watched.real = f->a.store->ops;
    watched.ops = *f->a.store->ops;
    watched.ops.claim = claim_watched;
    watched.ops.apply = apply_watched;
    watched.between = NULL;
    f->a.store->ops = &watched.ops;
    publish(f, WAITING);
    watched.visits = watched.granted = watched.claims = 0;
    return status;
}

static int set_up_watched(void **state)
{
    int status = set_up(state);

    return watch_fixture(state, status);
}

/* With a committer, which sends again what is unsure. */
static int set_up_watched_running(void **state)
{
    int status = set_up_running(state);

    return watch_fixture(state, status);
}

static int tear_down_watched(void **state)
{
    ((struct fixture *)*state)->a.store->ops = watched.real;
    return tear_down(state);
}
#define WATCHED(name) cmocka_unit_test_setup_teardown(name, set_up_watched, tear_down_watched)

static struct pawl_sent send_to(struct fixture *f, const char *id)
{
    const struct pawl_stimulus to = {.instance_id = pawl__str(id)};
    struct pawl_sent sent;

    assert_ok(pawl__runtime_send_event(f->a.runtime, pawl__str("Go"), NULL, &to, &sent, later(f),
                                       &f->err),
              &f->err);
    return sent;
}

static struct pawl_instance_row stored(struct fixture *f, const char *id)
{
    struct pawl_instance_row row;

    assert_ok(
        pawl__runtime_show(f->a.runtime, pawl__str(id), &f->arena, &row, NULL, later(f), &f->err),
        &f->err);
    return row;
}

static void an_idle_instance_is_claimed_by_its_commit(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome = start(f, "d");
    struct pawl_instance_row before = stored(f, outcome.instance_id), after;

    assert_int_equal(send_to(f, outcome.instance_id).resumed, 1);
    assert_string_equal(f->lines, "went\n");
    assert_int_equal(watched.granted, 1);
    assert_int_equal(watched.claims, 0);
    after = stored(f, outcome.instance_id);
    assert_int_equal(after.owner, 0);
    assert_int_equal(after.revision, before.revision + 1);
    assert_true(after.fence > before.fence);
    assert_int_equal(after.revision_fence, after.fence);
}

static void one_that_is_found_by_a_name_is_visited_too(void **state)
{
    struct fixture *f = *state;

    (void)start(f, "d");
    assert_int_equal(send(f, "Go").resumed, 1);
    assert_string_equal(f->lines, "went\n");
    assert_int_equal(watched.granted, 1);
    assert_int_equal(watched.claims, 0);
}

/* In this order PostgreSQL writes the keys of many events with one statement. */
static void one_that_ends_lets_go_of_its_keys_before_it_adds_the_event_s(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("once", "", RIG_EVENT("a", "Go")));
    outcome = start(f, "once");
    assert_int_equal(send_to(f, outcome.instance_id).resumed, 1);
    assert_int_equal(watched.granted, 1);
    assert_int_not_equal(watched.let_go, -1);
    assert_true(watched.reserved > watched.let_go);
    assert_int_equal(count(f, PAWL_TABLE_RESERVATIONS), 1); /* that of the event */
}

/* What is refused is claimed as ever: mail that is due runs first. */
static void one_with_mail_is_claimed(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    const struct pawl_stimulus detached = {.detached = true};

    publish(f, DEFINITION("two", "",
                          RIG_EVENT("a", "Go") "," RIG_WRITE("w", "one") "," RIG_EVENT(
                              "b", "Go") "," RIG_WRITE("v", "two")));
    outcome = start(f, "two");
    assert_ok(pawl__runtime_send_event(f->a.runtime, pawl__str("Go"), NULL, &detached, NULL,
                                       later(f), &f->err),
              &f->err);
    assert_int_equal(send_to(f, outcome.instance_id).resumed, 1);
    assert_int_equal(watched.visits, 1);
    assert_int_equal(watched.granted, 0);
    assert_int_equal(watched.claims, 1);
    drain(f);
    assert_string_equal(f->lines, "one\ntwo\n");
}

static void claim_by_other(struct pawl_claim *visit)
{
    struct pawl_claim claim = {.id = visit->id};
    int64_t now_us;

    node_open(watched.f, &watched.other, "b");
    assert_ok(pawl_store_claim(watched.other.store,
                               pawl__runtime_incarnation(watched.other.runtime), &claim, 1,
                               &watched.f->arena, &now_us, later(watched.f), &watched.f->err),
              &watched.f->err);
    assert_int_equal(claim.status, PAWL_OK);
}

static void one_that_is_claimed_meanwhile_gets_mail(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome = start(f, "d");
    int64_t revision = stored(f, outcome.instance_id).revision;

    watched.between = claim_by_other;
    assert_int_equal(send_to(f, outcome.instance_id).resumed, 1);
    assert_int_equal(watched.granted, 1);
    assert_string_equal(f->lines, ""); /* what ran was not committed, and had no effect */
    assert_int_equal(stored(f, outcome.instance_id).revision, revision);
    assert_int_equal(stored(f, outcome.instance_id).owner,
                     pawl__runtime_incarnation(watched.other.runtime));
    node_close(&watched.other); /* its claim ends */
    drain(f);
    assert_string_equal(f->lines, "went\n");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void resume_by_other(struct pawl_claim *visit)
{
    const struct pawl_stimulus to = {.instance_id = visit->id};
    struct pawl_sent sent;

    node_open(watched.f, &watched.other, "b");
    assert_ok(pawl__runtime_send_event(watched.other.runtime, pawl__str("Go"), NULL, &to, &sent,
                                       later(watched.f), &watched.f->err),
              &watched.f->err);
    assert_int_equal(sent.resumed, 1);
}

static void one_that_is_resumed_meanwhile_is_not_resumed_twice(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome = start(f, "d");
    int64_t revision = stored(f, outcome.instance_id).revision;

    watched.between = resume_by_other;
    assert_true(send_to(f, outcome.instance_id).parked);
    assert_int_equal(watched.granted, 1);
    node_close(&watched.other);
    drain(f);
    assert_string_equal(f->lines, "went\n");
    assert_int_equal(stored(f, outcome.instance_id).revision, revision + 1);
}

static void cut_state(struct pawl_claim *visit)
{
    visit->row.state = pawl__str_slice(visit->row.state, 0, visit->row.state.len / 2);
}

/* Whoever claims it for the row finds out whether it is damaged. */
static void one_that_cannot_be_loaded_is_left_as_it_was(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome = start(f, "d");
    struct pawl_instance_row before = stored(f, outcome.instance_id), after;
    unsigned applied = f->applied;

    watched.between = cut_state;
    assert_int_equal(send_to(f, outcome.instance_id).resumed, 1);
    assert_int_equal(f->applied - applied, 1); /* the row of the event */
    after = stored(f, outcome.instance_id);
    assert_int_equal(after.revision, before.revision);
    assert_int_equal(after.fence, before.fence);
    assert_int_equal(after.owner, 0);
    assert_int_equal(after.failures, 0);
    drain(f);
    assert_string_equal(f->lines, "went\n");
}

/* The commit does not undo the request: its mail has the next turn. */
static void request_cancellation(struct pawl_claim *visit)
{
    const struct pawl_instance_row row = {.id = visit->id};
    const struct pawl_work_row mail = {.id = pawl__str("cancellation"),
                                       .kind = pawl__str(PAWL_WORK_CANCEL),
                                       .instance_id = visit->id,
                                       .part = pawl__runtime_part(visit->id),
                                       .expires_us = PAWL_TIME_NEVER};
    const struct pawl_change change = {PAWL_CHANGE_ADD, PAWL_TABLE_WORK, &mail};
    struct pawl_commit cancel = {.kind = PAWL_COMMIT_CANCEL,
                                 .instance = &row,
                                 .changes = &change,
                                 .change_count = 1},
                       *list = &cancel;

    assert_ok(pawl_store_apply(watched.f->a.store, &list, 1, later(watched.f), &watched.f->err),
              &watched.f->err);
    assert_int_equal(cancel.status, PAWL_OK);
}

static void one_whose_cancellation_is_requested_meanwhile_is_cancelled_next(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome = start(f, "d");

    watched.between = request_cancellation;
    assert_int_equal(send_to(f, outcome.instance_id).resumed, 1);
    assert_string_equal(f->lines, "went\n");
    assert_true(stored(f, outcome.instance_id).cancel_requested != 0);
    drain(f);
    assert_string_equal(sub_status(f, outcome.instance_id), "Cancelled");
}

static void cancel_meanwhile(struct pawl_claim *visit)
{
    node_open(watched.f, &watched.other, "b");
    assert_ok(
        pawl__runtime_cancel(watched.other.runtime, visit->id, later(watched.f), &watched.f->err),
        &watched.f->err);
}

static void one_that_is_cancelled_meanwhile_stays_so(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome = start(f, "d");

    watched.between = cancel_meanwhile;
    (void)send_to(f, outcome.instance_id);
    node_close(&watched.other);
    for (int i = 0; i < 4; i++) {
        test_clock_advance(f->clock, 3 * SECOND);
        drain(f);
    }
    assert_string_equal(sub_status(f, outcome.instance_id), "Cancelled");
    assert_string_equal(f->lines, "");
}

/* Its node does not look for what it might have left. */
static void a_visit_that_came_too_late_is_no_failure(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome = start(f, "d");

    watched.between = claim_by_other;
    (void)send_to(f, outcome.instance_id);
    assert_int_equal(f->a.runtime->stray_ns, 0);
    node_close(&watched.other);
}

static void functions_of_the_host_run_under_a_claim(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome = start(f, "d");

    f->a.runtime->options.claims_first = true;
    assert_int_equal(send_to(f, outcome.instance_id).resumed, 1);
    assert_int_equal(watched.visits, 0);
    assert_int_equal(watched.claims, 1);
}

/* A store that knows no visits is asked for none. */
static void a_store_without_visits_claims(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome = start(f, "d");

    f->a.store->caps &= ~PAWL_STORE_CAP_VISITS;
    assert_int_equal(send_to(f, outcome.instance_id).resumed, 1);
    f->a.store->caps |= PAWL_STORE_CAP_VISITS;
    assert_string_equal(f->lines, "went\n");
    assert_int_equal(watched.visits, 0);
    assert_int_equal(watched.claims, 1);
}

/* What the keeper does with what it thinks was left, without having it in hand: it gets the fence
 * that the visit was granted. Then the commit of the visit is refused, and nobody hears of it. */
static void claim_and_return(struct pawl_claim *visit)
{
    struct fixture *f = watched.f;
    struct pawl_claim claim = {.id = visit->id,
                               .seen_fence = atomic_load(&f->a.runtime->seen_fence)};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE,
                                 .flags = PAWL_COMMIT_KEEP | PAWL_COMMIT_RELEASE,
                                 .instance = &claim.row};
    struct pawl_commit *list = &commit;
    int64_t now_us;

    assert_ok(watched.real->claim(f->a.store, pawl__runtime_incarnation(f->a.runtime), &claim, 1,
                                  &f->arena, &now_us, later(f), &f->err),
              &f->err);
    assert_int_equal(claim.status, PAWL_OK);
    watched.claim_fence = claim.row.fence;
    visit->row.fence = claim.row.fence < visit->row.fence ? claim.row.fence : visit->row.fence;
    assert_ok(pawl_store_apply(f->a.store, &list, 1, later(f), &f->err), &f->err);
    assert_int_equal(commit.status, PAWL_OK);
    fail_next(f, PAWL_STORE_CALL_APPLY, PAWL_STORE_FAULT_AFTER);
}

static void return_by_keeper(struct pawl_claim *visit)
{
    int64_t fence = visit->row.fence;

    claim_and_return(visit);
    assert_int_equal(visit->row.fence, fence); /* the claim got the same */
}

/* What other nodes claim and leave makes the fences greater meanwhile: the claim gets the visit's.
 */
static void return_by_keeper_late(struct pawl_claim *visit)
{
    int64_t seen = atomic_load(&watched.f->a.runtime->seen_fence);

    atomic_store(&watched.f->a.runtime->seen_fence, visit->row.fence);
    claim_and_return(visit);
    atomic_store(&watched.f->a.runtime->seen_fence, seen);
    visit->row.fence = watched.claim_fence - 1; /* as it was read */
}

/* Another visit got its fence since, and the keeper's claim began after that. */
static void return_by_keeper_after_a_visit(struct pawl_claim *visit)
{
    atomic_store(&watched.f->a.runtime->seen_fence, visit->row.fence + 1);
    claim_and_return(visit);
}

static void check_commit_of_same_node(struct fixture *f, void (*between)(struct pawl_claim *visit))
{
    struct pawl_outcome outcome = start(f, "d");
    struct pawl_instance_row row;

    watched.between = between;
    (void)send_to(f, outcome.instance_id);
    assert_int_not_equal(watched.visit_fence, watched.claim_fence);
    drain(f);
    assert_string_equal(f->lines, "went\n");
    row = stored(f, outcome.instance_id);
    assert_true(row.revision >= 3); /* the first, the keeper's, that of the event */
    assert_string_equal(sub_status(f, outcome.instance_id), "Suspended");
    (void)send_to(f, outcome.instance_id); /* its bookmark has gone with it */
    drain(f);
    assert_string_equal(f->lines, "went\n");
}

static void a_commit_of_the_same_node_is_not_taken_for_that_of_the_visit(void **state)
{
    check_commit_of_same_node(*state, return_by_keeper);
}

static void a_claim_that_began_after_another_visit_has_another_fence(void **state)
{
    check_commit_of_same_node(*state, return_by_keeper_after_a_visit);
}

/* A try of the visit's commit is lost, and the next one is refused for what the claim wrote. */
static void an_event_is_not_lost_beside_a_claim_with_the_fence_of_its_visit(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome = start(f, "d");

    watched.between = return_by_keeper_late;
    (void)send_to(f, outcome.instance_id);
    assert_int_equal(watched.visit_fence, watched.claim_fence);
    drain(f);
    (void)send_to(f, outcome.instance_id); /* its bookmark has gone with it */
    drain(f);
    assert_string_equal(f->lines, "went\n");
}

static struct pawl_json exported;

static void import_meanwhile(struct pawl_claim *visit)
{
    struct fixture *f = watched.f;
    struct pawl_json *kept = pawl__json_get_text(&exported, "WorkflowState");
    struct pawl_outcome imported;

    node_open(f, &watched.other, "b");
    assert_ok(pawl__runtime_delete(watched.other.runtime, visit->id, later(f), &f->err), &f->err);
    assert_non_null(kept);
    assert_int_equal(
        pawl__json_set_text(&f->arena, kept, "name", pawl__json_string(pawl__str("edited"))),
        PAWL_OK);
    assert_ok(pawl__runtime_import(watched.other.runtime, &exported, &imported, later(f), &f->err),
              &f->err);
}

static void one_that_is_deleted_and_imported_meanwhile_is_another(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome = start(f, "d");

    assert_ok(pawl__runtime_export(f->a.runtime, pawl__str(outcome.instance_id), &f->arena,
                                   &exported, later(f), &f->err),
              &f->err);
    test_clock_advance(f->clock, 5 * SECOND);
    watched.between = import_meanwhile;
    (void)send_to(f, outcome.instance_id);
    node_close(&watched.other);
    assert_true(pawl__str_is(stored(f, outcome.instance_id).name, "edited"));
    for (int i = 0; i < 4; i++) {
        test_clock_advance(f->clock, 3 * SECOND);
        drain(f);
    }
    assert_true(pawl__str_is(stored(f, outcome.instance_id).name, "edited"));
    assert_string_equal(f->lines, "went\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WATCHED(an_idle_instance_is_claimed_by_its_commit),
        WATCHED(one_that_is_found_by_a_name_is_visited_too),
        WATCHED(one_that_ends_lets_go_of_its_keys_before_it_adds_the_event_s),
        WATCHED(one_with_mail_is_claimed),
        WATCHED(one_that_is_claimed_meanwhile_gets_mail),
        WATCHED(one_that_is_resumed_meanwhile_is_not_resumed_twice),
        WATCHED(one_that_cannot_be_loaded_is_left_as_it_was),
        WATCHED(one_that_is_cancelled_meanwhile_stays_so),
        WATCHED(a_visit_that_came_too_late_is_no_failure),
        WATCHED(functions_of_the_host_run_under_a_claim),
        WATCHED(a_store_without_visits_claims),
        WATCHED(one_whose_cancellation_is_requested_meanwhile_is_cancelled_next),
        WATCHED(one_that_is_deleted_and_imported_meanwhile_is_another),
        cmocka_unit_test_setup_teardown(
            a_commit_of_the_same_node_is_not_taken_for_that_of_the_visit, set_up_watched_running,
            tear_down_watched),
        cmocka_unit_test_setup_teardown(a_claim_that_began_after_another_visit_has_another_fence,
                                        set_up_watched_running, tear_down_watched),
        cmocka_unit_test_setup_teardown(
            an_event_is_not_lost_beside_a_claim_with_the_fence_of_its_visit, set_up_watched_running,
            tear_down_watched),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
