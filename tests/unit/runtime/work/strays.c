/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime when the store does not answer: nothing that is this node's stays undone as long as
 * the node lives, and nothing is done twice. Found by the simulator (docs/internals/sim.md).
 */
#include "activities/activities.h"
#include "expressions/expressions.h"
#include "lib/clock.h"
#include "lib/rig.h"
#include "os/baton.h"
#include "runtime/instance/private.h"
#include "runtime/node/pool.h"
#include "runtime/task.h"
#include "runtime/work/private.h"
#include "stores/stores.h"
#include "unit/runtime/slow_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
#define WALL (INT64_C(1767323045) * SECOND) /* 2026-01-02T03:04:05Z */

#define DEFINITION(more, activities)                                                               \
    "{'definitionId':'d','id':'d:1','version':1,'name':'d'," more                                  \
    "'root':" RIG_SEQUENCE("seq", activities) "}"
#define TRIGGER                                                                                    \
    "{'id':'t','type':'Elsa.Event','customProperties':{'canStartWorkflow':true},'eventName'"       \
    ":" RIG_INPUT("String", "Literal", "'Go'") "}"

struct fixture {
    struct test_clock *clock;
    struct pawl_env *env;
    struct pawl_engine engine;
    struct pawl_memory_database *database;
    struct pawl_store *window; /* without faults */
    struct pawl_store *store;
    struct pawl_runtime *runtime;
    struct pawl_arena arena;
    struct pawl_error err;
    char lines[256];
    /* The next `faults` calls of this kind fail so, after `skip` that do not. */
    enum pawl_store_call call;
    enum pawl_store_fault how;
    uint32_t skip;
    uint32_t faults;
    bool is_spared; /* they do not fail: `meanwhile` is all */
    /* Called once, with the first of these. */
    void (*meanwhile)(struct fixture *f);
    char id[PAWL_INSTANCE_ID_MAX + 1];
    bool entered;
    struct pawl_taken taken;
    uint64_t work_left;
    struct pawl_env *machine; /* goes on when `env` ends */
    /* The instance under a claim that was forgotten, and what the last call of a test's own said.
     */
    struct pawl_instance_row late;
    int told;
};

static bool decide(void *ctx, enum pawl_store_call call, enum pawl_store_fault *how)
{
    struct fixture *f = ctx;
    void (*meanwhile)(struct fixture * f) = f->meanwhile;

    if (f->faults == 0 || call != f->call)
        return false;
    if (f->skip > 0) {
        f->skip--;
        return false;
    }
    f->faults--;
    f->meanwhile = NULL;
    if (meanwhile)
        meanwhile(f);
    *how = f->how;
    return !f->is_spared;
}

static void let_fail(struct fixture *f, enum pawl_store_call call, enum pawl_store_fault how,
                     uint32_t skip, uint32_t faults)
{
    f->call = call;
    f->how = how;
    f->skip = skip;
    f->faults = faults;
}

static int on_line(void *ctx, struct pawl_str instance_id, struct pawl_str text)
{
    struct fixture *f = ctx;
    size_t len = strlen(f->lines);

    snprintf(f->lines + len, sizeof f->lines - len, "%.*s\n", PAWL_STR_ARG(text));
    snprintf(f->id, sizeof f->id, "%.*s", PAWL_STR_ARG(instance_id));
    if (f->meanwhile)
        f->meanwhile(f);
    f->meanwhile = NULL;
    return PAWL_OK;
}

static int64_t later(struct fixture *f)
{
    return pawl_env_monotonic_ns(f->env) + 60 * SECOND;
}

static void open_node(struct fixture *f)
{
    const struct pawl_store_fault_hooks faults = {.decide = decide, .ctx = f};
    /* Events expire before the lease does: a node whose lease is over has nothing any more. */
    const struct pawl_runtime_options options = {
        .node_id = pawl__str("a"), .stimulus_us = 3000000, .hooks = {.line = on_line, .ctx = f}};

    assert_ok(pawl__memory_database_new(f->env, &f->database, &f->err), &f->err);
    assert_ok(pawl__memory_store_open(f->database, f->env, &f->window, &f->err), &f->err);
    assert_ok(pawl__memory_store_open(f->database, f->env, &f->store, &f->err), &f->err);
    assert_ok(pawl__fault_store_new(f->env, f->store, &faults, &f->store, &f->err), &f->err);
    assert_ok(pawl__runtime_open(f->env, &f->engine, f->store, &options, &f->runtime, &f->err),
              &f->err);
}

static void close_node(struct fixture *f)
{
    pawl__runtime_close(f->runtime);
    pawl_store_close(f->store);
    pawl_store_close(f->window);
    pawl__memory_database_free(f->database);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    assert_int_equal(test_clock_open(NULL, WALL, &f->clock), PAWL_OK);
    f->env = test_clock_env(f->clock);
    pawl__arena_init(&f->arena, &f->env->alloc, (size_t)64 << 20);
    pawl__engine_init(&f->engine, &f->env->alloc, (struct pawl_hash_seed){1, 2});
    assert_int_equal(pawl__activities_register(&f->engine), PAWL_OK);
    assert_int_equal(pawl__expressions_register(&f->engine), PAWL_OK);
    open_node(f);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    close_node(f);
    pawl__engine_release(&f->engine);
    pawl__arena_release(&f->arena);
    test_clock_close(f->clock);
    free(f);
    return 0;
}

/* JSON written with ' in place of ". */
static void publish(struct fixture *f, const char *text)
{
    struct pawl_definitions *definitions = pawl__runtime_definitions(f->runtime);
    struct pawl_str copy = pawl__arena_str(&f->arena, pawl__str(text));
    struct pawl_json definition;
    struct pawl_publication said;
    struct pawl_definition_row row;

    for (size_t i = 0; i < copy.len; i++) {
        if (copy.ptr[i] == '\'')
            ((char *)(uintptr_t)copy.ptr)[i] = '"';
    }
    assert_ok(pawl__json_parse(&f->arena, copy, NULL, &definition, NULL, &f->err), &f->err);
    assert_ok(
        pawl__definitions_import(definitions, &definition, &f->arena, &row, later(f), &f->err),
        &f->err);
    assert_ok(pawl__definitions_publish(definitions, row.id, &f->arena, &said, later(f), &f->err),
              &f->err);
    assert_true(said.succeeded);
}

static struct pawl_outcome start(struct fixture *f)
{
    const struct pawl_start what = {.definition_id = pawl__str("d")};
    struct pawl_outcome outcome;

    assert_ok(pawl__runtime_start(f->runtime, &what, &outcome, later(f), &f->err), &f->err);
    return outcome;
}

static int try_send(struct fixture *f)
{
    return pawl__runtime_send_event(f->runtime, pawl__str("Go"), NULL, NULL, NULL, later(f),
                                    &f->err);
}

static void drain(struct fixture *f)
{
    struct pawl_worked worked;

    assert_ok(pawl__runtime_drain(f->runtime, &worked, later(f), &f->err), &f->err);
}

static const void *read_table(struct fixture *f, enum pawl_table table, size_t expected)
{
    const struct pawl_query query = {.table = table};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->window, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    assert_int_equal(rows.count, expected);
    return rows.rows;
}

/* ---- twice --------------------------------------------------------------------------------- */

/* A node that claims an instance reads its mail, also mail that another one had taken. */
static void mail_that_is_put_off_is_deleted_by_who_delivers_it(void **state)
{
    struct fixture *f = *state;
    struct pawl_lease other = {
        .kind = PAWL_LEASE_JOIN, .node_id = pawl__str("b"), .ttl_us = 10000000};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE,
                                 .flags = PAWL_COMMIT_KEEP | PAWL_COMMIT_RELEASE,
                                 .change_count = 1};
    struct pawl_commit *member = &commit;
    struct pawl_change change = {PAWL_CHANGE_DELETE, PAWL_TABLE_WORK, NULL};
    struct pawl_claim claim = {0};
    struct pawl_taken taken;
    struct pawl_outcome outcome;
    int64_t now_us;

    publish(f, DEFINITION("", RIG_EVENT("e", "Go") "," RIG_EVENT("e2", "Go")));
    outcome = start(f);
    assert_ok(try_send(f), &f->err);
    assert_ok(pawl__runtime_take(f->runtime, 0, NULL, NULL, &f->arena, &taken, later(f), &f->err),
              &f->err);
    assert_int_equal(taken.work_count, 1);
    assert_ok(pawl_store_lease(f->window, &other, later(f), &f->err), &f->err);
    claim.id = pawl__str(outcome.instance_id);
    assert_ok(pawl_store_claim(f->window, other.incarnation, &claim, 1, &f->arena, &now_us,
                               later(f), &f->err),
              &f->err);
    assert_int_equal(claim.mail_count, 1);
    assert_int_equal(pawl__runtime_do_work(f->runtime, taken.work, taken.now_us, later(f)),
                     PAWL_OK);
    assert_int_equal(((const struct pawl_work_row *)read_table(f, PAWL_TABLE_WORK, 1))->owner, 0);
    /* The other one delivers what it has read. */
    change.row = claim.mail;
    commit.changes = &change;
    commit.instance = &claim.row;
    assert_ok(pawl_store_apply(f->window, &member, 1, later(f), &f->err), &f->err);
    assert_int_equal(commit.status, PAWL_OK);
    (void)read_table(f, PAWL_TABLE_WORK, 0);
}

/* As a line that a node committed, which has died since. */
static void leave_a_line(struct fixture *f, const char *id)
{
    const struct pawl_work_row row = {.id = pawl__str(id),
                                      .kind = pawl__str(PAWL_WORK_CONSOLE),
                                      .expires_us = PAWL_TIME_NEVER,
                                      .payload = pawl__str("{\"text\":\"went\"}")};
    const struct pawl_change change = {PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &row};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN, .changes = &change, .change_count = 1};
    struct pawl_commit *member = &commit;

    assert_ok(pawl_store_apply(f->window, &member, 1, later(f), &f->err), &f->err);
    assert_int_equal(commit.status, PAWL_OK);
}

static void a_row_that_a_thread_has_is_not_given_to_another(void **state)
{
    struct fixture *f = *state;
    struct pawl_taken taken;

    leave_a_line(f, "line");
    assert_int_equal(pawl__runtime_hold(f->runtime, pawl__str("line")), PAWL_OK);
    assert_ok(pawl__runtime_take(f->runtime, 0, NULL, NULL, &f->arena, &taken, later(f), &f->err),
              &f->err);
    assert_int_equal(taken.work_count, 0);
    /* That thread did not come to do it: it is found. */
    pawl__runtime_drop(f->runtime, pawl__str("line"));
    test_clock_advance(f->clock, SECOND);
    drain(f);
    assert_string_equal(f->lines, "went\n");
    (void)read_table(f, PAWL_TABLE_WORK, 0);
}

static void assert_nothing_is_held(struct fixture *f)
{
    char why[160] = "";

    if (!pawl__runtime_check_idle(f->runtime, why, sizeof why))
        fail_msg("%s", why);
}

/* A function of the host that this node lacks. */
static void work_that_fails_is_held_no_longer(void **state)
{
    const struct pawl_work_row row = {.id = pawl__str("call"),
                                      .kind = pawl__str(PAWL_WORK_CALL),
                                      .expires_us = PAWL_TIME_NEVER,
                                      .payload = pawl__str("{}")};
    const struct pawl_change change = {PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &row};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN, .changes = &change, .change_count = 1};
    struct pawl_commit *member = &commit;
    struct fixture *f = *state;
    struct pawl_worked worked;

    assert_ok(pawl_store_apply(f->window, &member, 1, later(f), &f->err), &f->err);
    assert_ok(pawl__runtime_work(f->runtime, 0, &worked, later(f), &f->err), &f->err);
    assert_int_equal(worked.done, 1);
    assert_int_equal(((const struct pawl_work_row *)read_table(f, PAWL_TABLE_WORK, 1))->attempts,
                     1);
    assert_nothing_is_held(f);
}

static void stop_node(struct fixture *f)
{
    pawl__runtime_stop(f->runtime);
}

static void what_a_node_that_stops_did_not_begin_is_held_no_longer(void **state)
{
    struct fixture *f = *state;
    struct pawl_worked worked;

    leave_a_line(f, "first");
    leave_a_line(f, "second");
    leave_a_line(f, "third");
    f->meanwhile = stop_node;
    assert_code(pawl__runtime_work(f->runtime, 0, &worked, later(f), &f->err), PAWL_ESTOPPED);
    assert_string_equal(f->lines, "went\n");
    assert_nothing_is_held(f);
}

static void try_to_enter(struct fixture *f)
{
    struct runtime_running running;

    f->entered =
        pawl__runtime_enter(f->runtime, &running, pawl__str(f->id), PAWL_FOREVER) == PAWL_OK;
    while (f->entered && pawl__runtime_leave(f->runtime, &running))
        continue;
}

/* As other workers do while one has the instance: each finds it in hand, and leaves it to that one.
 */
static void leave_to_the_first(struct fixture *f)
{
    for (size_t i = 1; i < f->taken.work_count; i++)
        assert_int_equal(
            pawl__runtime_do_work(f->runtime, &f->taken.work[i], f->taken.now_us, later(f)),
            PAWL_OK);
}

static void mail_that_is_left_to_who_has_the_instance_is_delivered_however_much(void **state)
{
    const unsigned count = 2 * PAWL_CLAIM_MAIL_MAX + 20;
    struct fixture *f = *state;

    publish(f,
            DEFINITION("", "{'id':'l','type':'Elsa.While','condition':" RIG_INPUT(
                               "Boolean", "Literal",
                               "true") ",'body':" RIG_SEQUENCE("b",
                                                               RIG_EVENT("e", "Go") "," RIG_WRITE(
                                                                   "w", "")) "}"));
    (void)start(f);
    for (unsigned i = 0; i < count; i++)
        assert_ok(try_send(f), &f->err);
    assert_ok(
        pawl__runtime_take(f->runtime, count, NULL, NULL, &f->arena, &f->taken, later(f), &f->err),
        &f->err);
    assert_int_equal(f->taken.work_count, count);
    f->meanwhile = leave_to_the_first;
    assert_int_equal(pawl__runtime_do_work(f->runtime, f->taken.work, f->taken.now_us, later(f)),
                     PAWL_OK);
    drain(f);
    assert_int_equal(strlen(f->lines), count);
    (void)read_table(f, PAWL_TABLE_WORK, 0);
}

static void an_instance_is_in_hand_between_the_commits_of_its_first_burst(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("'options':{'commitStrategyName':'ActivityExecuted'},",
                          RIG_WRITE("w", "one") "," RIG_WRITE("w2", "two")));
    f->entered = true;
    f->meanwhile = try_to_enter;
    assert_int_equal(start(f).sub_status, PAWL_SUB_FINISHED);
    assert_false(f->entered);
    try_to_enter(f);
    assert_true(f->entered);
    assert_string_equal(f->lines, "one\ntwo\n");
}

static void effects_whose_rows_could_not_be_deleted_are_not_performed_again(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("", RIG_WRITE("w", "one")));
    (void)start(f);
    pawl__runtime_flush_done(f->runtime, pawl_env_monotonic_ns(f->env) - 1);
    (void)read_table(f, PAWL_TABLE_WORK, 1);
    test_clock_advance(f->clock, 2 * SECOND);
    drain(f);
    (void)read_table(f, PAWL_TABLE_WORK, 0);
    assert_string_equal(f->lines, "one\n");
}

static void flush(void *ctx)
{
    struct fixture *f = ctx;

    pawl__runtime_flush_done(f->runtime, later(f));
    (void)read_table(f, PAWL_TABLE_WORK, 0);
}

/* The look has read the row before: it was in hand then, and is not any more. */
static void a_line_whose_row_goes_while_strays_are_looked_for_is_written_once(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("", RIG_WRITE("w", "one")));
    (void)start(f);
    (void)read_table(f, PAWL_TABLE_WORK, 1);
    let_find_be_slow(f->store, flush, f);
    pawl__runtime_note_failure(f->runtime, PAWL_EUNKNOWN);
    test_clock_advance(f->clock, SECOND);
    drain(f);
    assert_null(slow_find.meanwhile);
    assert_string_equal(f->lines, "one\n");
    assert_nothing_is_held(f);
}

/* What was sent under the forgotten claim arrives now. */
static void let_the_late_commit_arrive(struct fixture *f)
{
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_ADVANCE, .flags = PAWL_COMMIT_KEEP, .instance = &f->late};
    struct pawl_commit *member = &commit;
    int status = pawl_store_apply(f->window, &member, 1, later(f), NULL);

    f->told = status == PAWL_OK ? commit.status : status;
}

/* A crash of the server undoes what was claimed and not synced: the row is as it was before. */
static void forget_the_claim(struct fixture *f)
{
    struct pawl_instance_row row =
        *(const struct pawl_instance_row *)read_table(f, PAWL_TABLE_INSTANCES, 1);
    struct pawl_commit commit = {.kind = PAWL_COMMIT_DELETE, .instance = &row};
    struct pawl_commit *member = &commit;

    f->late = row;
    f->told = pawl_store_apply(f->window, &member, 1, later(f), NULL);
    row.owner = 0;
    row.fence--;
    if (f->told == PAWL_OK)
        f->told = commit.status;
    if (f->told == PAWL_OK)
        f->told = pawl_store_load(f->window, PAWL_TABLE_INSTANCES, &row, 1, later(f), NULL);
    if (f->told == PAWL_OK)
        f->meanwhile = let_the_late_commit_arrive; /* once it has claimed again */
}

static void a_late_commit_of_a_forgotten_claim_is_not_taken_for_one_of_the_next(void **state)
{
    struct fixture *f = *state;
    const struct pawl_start what = {.definition_id = pawl__str("d")};
    struct pawl_outcome outcome;

    publish(f, DEFINITION("", RIG_WRITE("w", "went")));
    assert_ok(pawl__runtime_create(f->runtime, &what, &outcome, later(f), &f->err), &f->err);
    f->is_spared = true;
    f->meanwhile = forget_the_claim;
    let_fail(f, PAWL_STORE_CALL_APPLY, PAWL_STORE_FAULT_BEFORE, 0, 2);
    drain(f);
    assert_int_equal(f->faults, 0);
    assert_true(f->late.fence > 0);
    assert_code(f->told, PAWL_ECONFLICT);
    assert_string_equal(f->lines, "went\n");
}

/* ---- never --------------------------------------------------------------------------------- */

static void work_is_done_although_the_answer_to_its_taking_was_lost(void **state)
{
    struct fixture *f = *state;
    struct pawl_worked worked;

    publish(f, DEFINITION("", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    (void)start(f);
    assert_ok(try_send(f), &f->err);
    let_fail(f, PAWL_STORE_CALL_TAKE, PAWL_STORE_FAULT_AFTER, 0, 1);
    assert_code(pawl__runtime_drain(f->runtime, &worked, later(f), &f->err), PAWL_EUNKNOWN);
    test_clock_advance(f->clock, 2 * SECOND);
    drain(f);
    assert_string_equal(f->lines, "went\n");
    (void)read_table(f, PAWL_TABLE_WORK, 0);
}

static void an_instance_goes_on_although_the_answer_to_its_claim_was_lost(void **state)
{
    struct fixture *f = *state;
    const struct pawl_start what = {.definition_id = pawl__str("d")};
    struct pawl_outcome outcome;
    const struct pawl_instance_row *row;

    publish(f, DEFINITION("", RIG_WRITE("w", "went")));
    assert_ok(pawl__runtime_create(f->runtime, &what, &outcome, later(f), &f->err), &f->err);
    let_fail(f, PAWL_STORE_CALL_CLAIM, PAWL_STORE_FAULT_AFTER, 0, 1);
    drain(f);
    assert_string_equal(f->lines, "");
    test_clock_advance(f->clock, 2 * SECOND);
    drain(f);
    assert_string_equal(f->lines, "went\n");
    row = read_table(f, PAWL_TABLE_INSTANCES, 1);
    assert_int_equal(row->owner, 0);
    assert_str(row->status, "Finished");
}

static void an_expired_event_ends_although_the_answer_to_its_taking_was_lost(void **state)
{
    struct fixture *f = *state;
    struct pawl_worked worked;

    assert_ok(try_send(f), &f->err);
    test_clock_advance(f->clock, 4 * SECOND);
    let_fail(f, PAWL_STORE_CALL_TAKE, PAWL_STORE_FAULT_AFTER, 0, 1);
    assert_code(pawl__runtime_drain(f->runtime, &worked, later(f), &f->err), PAWL_EUNKNOWN);
    test_clock_advance(f->clock, 2 * SECOND);
    drain(f);
    (void)read_table(f, PAWL_TABLE_WORK, 0);
    (void)read_table(f, PAWL_TABLE_DEAD_LETTERS, 1);
}

static void an_event_that_cannot_be_matched_now_is_accepted_and_matched_later(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("", TRIGGER "," RIG_WRITE("w", "went")));
    let_fail(f, PAWL_STORE_CALL_FIND, PAWL_STORE_FAULT_BEFORE, 0, 1);
    assert_ok(try_send(f), &f->err);
    assert_string_equal(f->lines, "");
    drain(f);
    assert_string_equal(f->lines, "went\n");
    (void)read_table(f, PAWL_TABLE_WORK, 0);
}

static void a_store_that_cannot_be_asked_makes_no_dead_letters(void **state)
{
    struct fixture *f = *state;

    publish(f, DEFINITION("", TRIGGER "," RIG_WRITE("w", "went")));
    assert_ok(try_send(f), &f->err);
    test_clock_advance(f->clock, 2 * SECOND); /* the definition's stamp is looked at again */
    let_fail(f, PAWL_STORE_CALL_FIND, PAWL_STORE_FAULT_BEFORE, 0, 5);
    for (int i = 0; i < 8; i++) {
        drain(f);
        (void)read_table(f, PAWL_TABLE_DEAD_LETTERS, 0);
        test_clock_advance(f->clock, 8 * SECOND);
    }
    assert_int_equal(f->faults, 0);
    assert_string_equal(f->lines, "went\n");
}

/* As a program that only sends: nobody here takes work. */
static void an_event_that_its_sender_could_not_match_is_for_all_nodes(void **state)
{
    struct fixture *f = *state;
    const struct pawl_work_row *row;

    publish(f, DEFINITION("", TRIGGER "," RIG_WRITE("w", "went")));
    let_fail(f, PAWL_STORE_CALL_FIND, PAWL_STORE_FAULT_BEFORE, 0, 1);
    assert_ok(try_send(f), &f->err);
    row = read_table(f, PAWL_TABLE_WORK, 1);
    assert_str(row->kind, PAWL_WORK_STIMULUS);
    assert_int_equal(row->owner, 0);
    drain(f);
    assert_string_equal(f->lines, "went\n");
}

static void an_instance_that_its_caller_lost_sight_of_is_given_back_to_all_nodes(void **state)
{
    struct fixture *f = *state;
    const struct pawl_start what = {.definition_id = pawl__str("d")};
    const struct pawl_instance_row *row;
    struct pawl_outcome outcome;
    struct pawl_claim claim;
    int64_t now_us;

    publish(f, DEFINITION("", RIG_WRITE("w", "went")));
    assert_ok(pawl__runtime_create(f->runtime, &what, &outcome, later(f), &f->err), &f->err);
    /* A claim whose answer never came. */
    claim = (struct pawl_claim){.id = pawl__str(outcome.instance_id)};
    assert_ok(pawl_store_claim(f->window, pawl__runtime_incarnation(f->runtime), &claim, 1,
                               &f->arena, &now_us, later(f), &f->err),
              &f->err);
    assert_code(claim.status, PAWL_OK);
    pawl__runtime_note_failure(f->runtime, PAWL_EUNKNOWN);
    test_clock_advance(f->clock, 5 * SECOND / 2);
    pawl__runtime_return_strays(f->runtime, later(f));
    row = read_table(f, PAWL_TABLE_INSTANCES, 1);
    assert_int_equal(row->owner, 0);
    drain(f);
    assert_string_equal(f->lines, "went\n");
}

/* Should it die later, nobody performs them again. */
static void a_node_without_workers_deletes_the_rows_of_lines_that_it_wrote(void **state)
{
    struct fixture *f = *state;
    const struct pawl_start what = {.definition_id = pawl__str("d")};
    struct pawl_outcome outcome;

    publish(f, DEFINITION("", RIG_WRITE("w", "went")));
    assert_ok(pawl__runtime_start(f->runtime, &what, &outcome, later(f), &f->err), &f->err);
    assert_string_equal(f->lines, "went\n");
    (void)read_table(f, PAWL_TABLE_WORK, 1);
    pawl__runtime_return_strays(f->runtime, later(f));
    (void)read_table(f, PAWL_TABLE_WORK, 0);
}

/* Another node took it over, and the server forgot that: it is this node's again, which lives. */
static void an_instance_that_comes_back_to_its_former_owner_goes_on(void **state)
{
    struct fixture *f = *state;
    const struct pawl_start what = {.definition_id = pawl__str("d")};
    struct pawl_claim claim = {0};
    struct pawl_outcome outcome;
    int64_t now_us;

    publish(f, DEFINITION("", RIG_WRITE("w", "went")));
    /* What it was refused is another's, for now: it looks, and finds nothing. */
    pawl__runtime_note_failure(f->runtime, PAWL_ECONFLICT);
    test_clock_advance(f->clock, SECOND);
    drain(f);
    assert_ok(pawl__runtime_create(f->runtime, &what, &outcome, later(f), &f->err), &f->err);
    claim.id = pawl__str(outcome.instance_id);
    assert_ok(pawl_store_claim(f->window, pawl__runtime_incarnation(f->runtime), &claim, 1,
                               &f->arena, &now_us, later(f), &f->err),
              &f->err);
    drain(f);
    assert_string_equal(f->lines, "");
    for (int i = 0; i < 4; i++) { /* a lease, during which it is renewed */
        test_clock_advance(f->clock, 3 * SECOND);
        drain(f);
    }
    assert_string_equal(f->lines, "went\n");
}

/* As work that this node made its own, and whose commit came when it had looked for strays. */
static void work_that_reaches_the_store_after_its_thread_has_gone_is_done(void **state)
{
    struct fixture *f = *state;
    struct pawl_change change = {PAWL_CHANGE_DELETE, PAWL_TABLE_WORK, NULL};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN, .changes = &change, .change_count = 1};
    struct pawl_commit *member = &commit;
    struct pawl_work_row late;

    publish(f, DEFINITION("", TRIGGER "," RIG_WRITE("w", "went")));
    let_fail(f, PAWL_STORE_CALL_FIND, PAWL_STORE_FAULT_BEFORE, 0, 1);
    assert_ok(try_send(f), &f->err);
    late = *(const struct pawl_work_row *)read_table(f, PAWL_TABLE_WORK, 1);
    late.owner = pawl__runtime_incarnation(f->runtime);
    pawl__runtime_note_failure(f->runtime, PAWL_EUNKNOWN); /* as who waited for that commit did */
    change.row = &late;
    assert_ok(pawl_store_apply(f->window, &member, 1, later(f), &f->err), &f->err);
    test_clock_advance(f->clock, SECOND);
    drain(f);
    assert_ok(pawl_store_load(f->window, PAWL_TABLE_WORK, &late, 1, later(f), &f->err), &f->err);
    for (int i = 0; i < 4; i++) {
        test_clock_advance(f->clock, 3 * SECOND);
        drain(f);
    }
    assert_string_equal(f->lines, "went\n");
    (void)read_table(f, PAWL_TABLE_WORK, 0);
}

/* Two commits under one fence could not be told from each other. */
static void after_an_unknown_outcome_nothing_is_written_under_the_claim(void **state)
{
    struct fixture *f = *state;
    const struct pawl_start what = {.definition_id = pawl__str("d")};
    const struct pawl_instance_row *row;
    struct pawl_outcome outcome;
    struct runtime_task task;
    struct runtime_run run;
    int64_t revision;

    publish(f, DEFINITION("", RIG_WRITE("w", "went")));
    assert_ok(pawl__runtime_create(f->runtime, &what, &outcome, later(f), &f->err), &f->err);
    pawl__runtime_task_init(&task, f->runtime, later(f), &f->err);
    pawl__runtime_run_init(&run, &task);
    assert_ok(pawl__runtime_claim(&run, pawl__str(outcome.instance_id)), &f->err);
    revision = run.row.revision;
    pawl__runtime_let_go(&run, PAWL_EUNKNOWN);
    row = read_table(f, PAWL_TABLE_INSTANCES, 1);
    assert_int_equal(row->revision, revision);
    assert_int_equal(row->fence, run.row.fence);
    assert_int_equal(row->owner, pawl__runtime_incarnation(f->runtime));
    pawl__runtime_run_release(&run);
    pawl__runtime_task_release(&task, PAWL_EUNKNOWN);
    /* It is found, and claimed again. */
    test_clock_advance(f->clock, SECOND);
    drain(f);
    assert_string_equal(f->lines, "went\n");
}

/* Another thread finds mail for an instance whose claim is about to fail. */
static void a_run_that_fails_lets_go_of_the_instance(void **state)
{
    struct fixture *f = *state;
    struct runtime_running running;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    outcome = start(f);
    memcpy(f->id, outcome.instance_id, sizeof f->id);
    assert_ok(try_send(f), &f->err);
    f->meanwhile = try_to_enter;
    f->entered = true;
    let_fail(f, PAWL_STORE_CALL_CLAIM, PAWL_STORE_FAULT_BEFORE, 0, 1);
    drain(f);
    assert_false(f->entered);
    assert_ok(pawl__runtime_enter(f->runtime, &running, pawl__str(f->id), PAWL_FOREVER), NULL);
    assert_false(pawl__runtime_leave(f->runtime, &running));
    test_clock_advance(f->clock, 2 * SECOND);
    drain(f);
    assert_string_equal(f->lines, "went\n");
}

/* ---- the pool ------------------------------------------------------------------------------ */

/* What it finds is judged on the test's own thread. */
static void run_pool(void *arg)
{
    struct fixture *f = arg;
    const struct pawl_query query = {.table = PAWL_TABLE_WORK, .flags = PAWL_QUERY_COUNT};
    struct pawl_rows rows;
    struct pawl_pool *pool;

    open_node(f);
    publish(f, DEFINITION("", RIG_WRITE("w", "one")));
    assert_ok(pawl__pool_open(f->env, f->runtime, NULL, &pool, &f->err), &f->err);
    (void)start(f);
    assert_int_equal(pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + 5 * SECOND),
                     PAWL_OK);
    assert_ok(pawl_store_find(f->window, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    f->work_left = rows.total;
    pawl__pool_close(pool);
    close_node(f);
}

static void an_idle_pool_deletes_effects_that_callers_performed(void **state)
{
    struct fixture *f = *state, own = {0};
    struct pawl_thread *thread;
    struct pawl_baton *baton;

    own.engine = f->engine;
    assert_int_equal(pawl__baton_new(&f->env->alloc, 1, NULL, &baton), PAWL_OK);
    assert_int_equal(pawl__baton_env(baton, "node", &own.env), PAWL_OK);
    pawl__arena_init(&own.arena, &own.env->alloc, (size_t)64 << 20);
    assert_ok(pawl_thread_start(own.env, "root", run_pool, &own, &thread, &f->err), &f->err);
    assert_ok(pawl__baton_run(baton, &f->err), &f->err);
    pawl_thread_join(own.env, thread);
    assert_string_equal(own.lines, "one\n");
    assert_int_equal(own.work_left, 0);
    pawl__arena_release(&own.arena);
    pawl__baton_free(baton);
}

static void crash(struct fixture *f)
{
    pawl__baton_env_stop(f->env);
}

/* The node's environment ends in the middle of a piece of work, with more pieces waiting. */
static void run_crash(void *arg)
{
    struct fixture *f = arg;
    const struct pawl_start what = {.definition_id = pawl__str("d")};
    struct pawl_outcome outcome;
    struct pawl_pool *pool;

    open_node(f);
    publish(f, DEFINITION("", RIG_WRITE("w", "one")));
    for (int i = 0; i < 3; i++)
        assert_ok(pawl__runtime_create(f->runtime, &what, &outcome, later(f), &f->err), &f->err);
    f->meanwhile = crash;
    assert_ok(pawl__pool_open(f->env, f->runtime, NULL, &pool, &f->err), &f->err);
    (void)!pawl_env_sleep_until(f->machine, pawl_env_monotonic_ns(f->machine) + 5 * SECOND);
    pawl__pool_close(pool);
    close_node(f);
}

static void a_pool_that_is_stopped_gives_its_memory_back(void **state)
{
    struct fixture *f = *state, own = {0};
    struct test_allocator alloc;
    struct pawl_thread *thread;
    struct pawl_baton *baton;

    own.engine = f->engine;
    test_allocator_init(&alloc);
    assert_int_equal(pawl__baton_new(&alloc.base, 1, NULL, &baton), PAWL_OK);
    assert_int_equal(pawl__baton_env(baton, "machine", &own.machine), PAWL_OK);
    assert_int_equal(pawl__baton_env(baton, "node", &own.env), PAWL_OK);
    pawl__arena_init(&own.arena, &alloc.base, (size_t)64 << 20);
    assert_ok(pawl_thread_start(own.machine, "root", run_crash, &own, &thread, &f->err), &f->err);
    assert_ok(pawl__baton_run(baton, &f->err), &f->err);
    pawl_thread_join(own.machine, thread);
    assert_null(own.meanwhile);
    pawl__arena_release(&own.arena);
    pawl__baton_free(baton);
    assert_int_equal(alloc.live_count, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(mail_that_is_put_off_is_deleted_by_who_delivers_it),
        TEST(a_row_that_a_thread_has_is_not_given_to_another),
        TEST(work_that_fails_is_held_no_longer),
        TEST(what_a_node_that_stops_did_not_begin_is_held_no_longer),
        TEST(mail_that_is_left_to_who_has_the_instance_is_delivered_however_much),
        TEST(an_instance_is_in_hand_between_the_commits_of_its_first_burst),
        TEST(effects_whose_rows_could_not_be_deleted_are_not_performed_again),
        TEST(a_line_whose_row_goes_while_strays_are_looked_for_is_written_once),
        TEST(a_late_commit_of_a_forgotten_claim_is_not_taken_for_one_of_the_next),
        TEST(work_is_done_although_the_answer_to_its_taking_was_lost),
        TEST(an_instance_goes_on_although_the_answer_to_its_claim_was_lost),
        TEST(an_expired_event_ends_although_the_answer_to_its_taking_was_lost),
        TEST(an_event_that_cannot_be_matched_now_is_accepted_and_matched_later),
        TEST(a_store_that_cannot_be_asked_makes_no_dead_letters),
        TEST(an_event_that_its_sender_could_not_match_is_for_all_nodes),
        TEST(an_instance_that_its_caller_lost_sight_of_is_given_back_to_all_nodes),
        TEST(a_node_without_workers_deletes_the_rows_of_lines_that_it_wrote),
        TEST(an_instance_that_comes_back_to_its_former_owner_goes_on),
        TEST(work_that_reaches_the_store_after_its_thread_has_gone_is_done),
        TEST(after_an_unknown_outcome_nothing_is_written_under_the_claim),
        TEST(a_run_that_fails_lets_go_of_the_instance),
        TEST(an_idle_pool_deletes_effects_that_callers_performed),
        TEST(a_pool_that_is_stopped_gives_its_memory_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
