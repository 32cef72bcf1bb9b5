/* SPDX-License-Identifier: Apache-2.0 */
/* What operators and nodes do besides running instances: altering, retrying, draining, retaining.
 */
#include "runtime/node/pool.h"
#include "runtime/node/retention.h"
#include "unit/runtime/nodes.h"

#include <pthread.h>
#include <stdatomic.h>

#define HOUR_US (INT64_C(3600) * 1000000)
#define DAY_NS (24 * 3600 * SECOND)
#define CRON_OF(id, variable)                                                                      \
    "{'id':'" id "','type':'Elsa.Cron','cronExpression':" RIG_INPUT(                               \
        "String", "Variable", "{'id':'" variable "','name':'" variable "'}") "}"
#define VARIABLE(id, value)                                                                        \
    "{'id':'" id "','name':'" id "','typeName':'String','value':'" value                           \
    "','storageDriverTypeName':'WorkflowInstanceStorageDriver'}"
/* Faults at `wait` until somebody mends the variable; `tick` waits beside it. */
#define BROKEN                                                                                     \
    "{'definitionId':'d','id':'d:1','version':1,'variables':[" VARIABLE(                           \
        "when",                                                                                    \
        "nonsense") "],'root':" RIG_PARALLEL("P",                                                  \
                                             DELAY("tick", "00:10:00") "," RIG_SEQUENCE(           \
                                                 "S", CRON_OF("wait", "when") "," RIG_WRITE(       \
                                                          "w", "on"))) "}"
#define MEND "{'type':'ModifyVariable','variableId':'when','value':'0 0 * * * *'}"

static int alter(struct fixture *f, const char *id, const char *alterations, bool dry_run,
                 struct pawl_json *log)
{
    struct pawl_json what = json(f, alterations);
    struct pawl_outcome outcome;

    return pawl__runtime_alter(f->a.runtime, pawl__str(id), &what, dry_run, &f->arena, log,
                               &outcome, later(f), &f->err);
}

static struct pawl_instance_row row_of(struct fixture *f, const char *id)
{
    struct pawl_instance_row row;

    assert_ok(
        pawl__runtime_show(f->a.runtime, pawl__str(id), &f->arena, &row, NULL, later(f), &f->err),
        &f->err);
    return row;
}

static uint32_t log_count(struct fixture *f, const char *id, const char *event)
{
    struct pawl_json log, records;
    uint32_t found = 0;

    assert_ok(pawl__runtime_journal(f->a.runtime, pawl__str(id), &f->arena, &log, &records,
                                    later(f), &f->err),
              &f->err);
    for (uint32_t i = 0; i < pawl__json_len(&log); i++)
        found += pawl__str_is(
            pawl__json_str(pawl__json_get_text(pawl__json_at(&log, i), "eventName")), event);
    return found;
}

/* ---- altering and retrying ----------------------------------------------------------------- */

static void a_faulted_instance_is_mended_and_retried(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct pawl_json log;

    publish(f, BROKEN);
    outcome = start(f, "d");
    assert_int_equal(outcome.sub_status, PAWL_SUB_FAULTED);
    drain(f);
    assert_ok(alter(f, outcome.instance_id, "[" MEND ",{'type':'Retry'}]", false, &log), &f->err);
    assert_int_equal(pawl__json_len(&log), 2);
    assert_str(pawl__json_str(pawl__json_get_text(pawl__json_at(&log, 1), "eventName")), "Retry");
    assert_string_equal(sub_status(f, outcome.instance_id), "Suspended");
    assert_int_equal(log_count(f, outcome.instance_id, "Altered"), 2);
    test_clock_advance(f->clock, 3600 * SECOND);
    drain(f);
    assert_string_equal(f->lines, "on\n");
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    assert_int_equal(count(f, PAWL_TABLE_BOOKMARKS), 0);
}

static void a_timer_that_fired_in_vain_fires_when_its_instance_is_reopened(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, BROKEN);
    outcome = start(f, "d");
    test_clock_advance(f->clock, 900 * SECOND);
    drain(f); /* nothing reopens it */
    assert_string_equal(sub_status(f, outcome.instance_id), "Faulted");
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    assert_ok(alter(f, outcome.instance_id, "[" MEND ",{'type':'Retry'}]", false, NULL), &f->err);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 2); /* tick's and wait's */
    test_clock_advance(f->clock, 3600 * SECOND);
    drain(f);
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
}

/* Cancelling what has ended changes nothing; nor does it when that goes on. */
static void a_cancellation_of_what_had_faulted_does_not_end_its_retry(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, BROKEN);
    outcome = start(f, "d");
    drain(f);
    (void)!pawl__runtime_cancel(f->a.runtime, pawl__str(outcome.instance_id), later(f), &f->err);
    drain(f);
    assert_string_equal(sub_status(f, outcome.instance_id), "Faulted");
    assert_ok(alter(f, outcome.instance_id, "[" MEND ",{'type':'Retry'}]", false, NULL), &f->err);
    test_clock_advance(f->clock, 3600 * SECOND);
    drain(f);
    assert_string_equal(f->lines, "on\n");
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
}

static void a_retry_without_a_cure_faults_again(void **state)
{
    struct fixture *f = *state;
    struct pawl_str ids[] = {pawl__str("wait")};
    struct pawl_outcome outcome, again;

    publish(f, BROKEN);
    outcome = start(f, "d");
    assert_ok(pawl__runtime_retry(f->a.runtime, pawl__str(outcome.instance_id), ids, 1, &again,
                                  later(f), &f->err),
              &f->err);
    assert_int_equal(again.sub_status, PAWL_SUB_FAULTED);
    assert_int_equal(again.incident_count, 2);
    ids[0] = pawl__str("w");
    assert_code(pawl__runtime_retry(f->a.runtime, pawl__str(outcome.instance_id), ids, 1, &again,
                                    later(f), &f->err),
                PAWL_ENOTFOUND);
    assert_code(
        pawl__runtime_retry(f->a.runtime, pawl__str("nobody"), NULL, 0, &again, later(f), &f->err),
        PAWL_ENOTFOUND);
}

static void what_is_refused_leaves_no_trace_and_no_claim(void **state)
{
    struct fixture *f = *state;
    struct pawl_instance_row before, after;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    outcome = start(f, "d");
    before = row_of(f, outcome.instance_id);
    assert_code(alter(f, outcome.instance_id,
                      "[{'type':'CancelActivity','activityId':'e'},{'type':'Migrate',"
                      "'targetVersion':7}]",
                      false, NULL),
                PAWL_ENOTFOUND);
    assert_code(alter(f, outcome.instance_id,
                      "[{'type':'CancelActivity','activityId':'e'},{'type':'Retry'}]", false, NULL),
                PAWL_ECONFLICT);
    assert_code(alter(f, outcome.instance_id, "[{'type':'Never'}]", false, NULL), PAWL_EINVAL);
    after = row_of(f, outcome.instance_id);
    assert_int_equal(after.owner, 0);
    assert_int_equal(log_count(f, outcome.instance_id, "Altered"), 0);
    assert_true(after.updated_us == before.updated_us);
    (void)send(f, "Go");
    drain(f);
    assert_string_equal(f->lines, "went\n");
}

static void a_dry_run_says_what_would_happen(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct pawl_json log;
    int64_t revision;

    publish(f, BROKEN);
    outcome = start(f, "d");
    revision = row_of(f, outcome.instance_id).revision;
    assert_ok(alter(f, outcome.instance_id, "[" MEND ",{'type':'Retry'}]", true, &log), &f->err);
    assert_int_equal(pawl__json_len(&log), 2);
    assert_int_equal(row_of(f, outcome.instance_id).revision, revision);
    assert_string_equal(sub_status(f, outcome.instance_id), "Faulted");
    assert_code(alter(f, outcome.instance_id, "[{'type':'Retry','activityIds':['w']}]", true, &log),
                PAWL_ENOTFOUND);
}

static void an_instance_migrates_to_another_version(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "first")));
    outcome = start(f, "d");
    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "second")));
    assert_ok(alter(f, outcome.instance_id, "[{'type':'Migrate','targetVersion':2}]", false, NULL),
              &f->err);
    assert_int_equal(row_of(f, outcome.instance_id).version, 2);
    (void)send(f, "Go");
    drain(f);
    assert_string_equal(f->lines, "second\n");
    /* One that has ended goes along too, and stays ended. */
    assert_ok(alter(f, outcome.instance_id, "[{'type':'Migrate','targetVersion':1}]", false, NULL),
              &f->err);
    assert_int_equal(row_of(f, outcome.instance_id).version, 1);
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
}

/* ---- draining ------------------------------------------------------------------------------ */

#define NUMBERS                                                                                    \
    "{'definitionId':'d','id':'d:1','version':1,'root':{'id':'for','type':'Elsa.For','start'"      \
    ":" RIG_INPUT("Int32", "Literal", "1") ",'end':" RIG_INPUT(                                    \
        "Int32", "Literal", "40") ",'body':" RIG_WRITE("w", "x") "}}"

struct stopping {
    struct fixture *f;
    int logged;
    int stop_at;
    struct pawl_runtime *runtime;
};

static int stop_after(void *ctx, struct pawl_str instance_id, struct pawl_str text)
{
    struct stopping *s = ctx;

    on_line(s->f, instance_id, text);
    return PAWL_OK;
}

static bool count_down(void *ctx)
{
    struct stopping *s = ctx;

    if (++s->logged == s->stop_at)
        pawl__runtime_stop(s->runtime);
    return false;
}

static void a_loop_that_is_drained_goes_on_elsewhere_without_a_step_lost_or_repeated(void **state)
{
    struct fixture *f = *state;

    for (int at = 2; at < 40; at += 5) {
        struct stopping s = {.f = f, .stop_at = at};
        struct pawl_runtime_options options = {
            .node_id = pawl__str("b"),
            .hooks = {.line = stop_after, .stop = count_down, .ctx = &s}};
        const struct pawl_start what = {.definition_id = pawl__str("d")};
        struct pawl_outcome outcome;
        struct pawl_worked worked;
        struct node b;

        publish(f, NUMBERS);
        f->lines[0] = '\0';
        assert_ok(pawl__memory_store_open(f->database, f->env, &b.store, &f->err), &f->err);
        assert_ok(pawl__runtime_open(f->env, &f->engine, b.store, &options, &b.runtime, &f->err),
                  &f->err);
        s.runtime = b.runtime;
        assert_ok(pawl__runtime_start(b.runtime, &what, &outcome, later(f), &f->err), &f->err);
        assert_int_equal(outcome.sub_status, PAWL_SUB_EXECUTING);
        assert_true(strlen(f->lines) < 80); /* two bytes a line */
        assert_int_equal(row_of(f, outcome.instance_id).owner, 0);
        assert_int_equal(row_of(f, outcome.instance_id).runnable, 1);
        assert_code(pawl__runtime_work(b.runtime, 0, &worked, later(f), &f->err), PAWL_ESTOPPED);
        assert_code(pawl__runtime_run(b.runtime, pawl__str(outcome.instance_id),
                                      &(struct pawl_run){0}, NULL, later(f), &f->err),
                    PAWL_ESTOPPED);
        drain(f); /* while b is still there */
        assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
        assert_int_equal(strlen(f->lines), 80);
        assert_int_equal(log_count(f, outcome.instance_id, "Completed"), 42);
        node_close(&b);
        drain(f);
        assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
    }
}

static void a_start_on_a_draining_node_is_kept_for_others(void **state)
{
    struct fixture *f = *state;
    const struct pawl_start what = {.definition_id = pawl__str("d")};
    struct pawl_outcome outcome;
    struct node b;

    publish(f, DEFINITION("d", "", RIG_WRITE("w", "went")));
    node_open(f, &b, "b");
    pawl__runtime_stop(b.runtime);
    assert_ok(pawl__runtime_start(b.runtime, &what, &outcome, later(f), &f->err), &f->err);
    assert_string_equal(f->lines, "");
    node_close(&b);
    drain(f);
    assert_string_equal(f->lines, "went\n");
}

/* The clock goes on in the middle of a burst, as after a pause of the process. */
static bool lose_lease(void *ctx)
{
    struct stopping *s = ctx;

    if (++s->logged == s->stop_at)
        test_clock_advance(s->f->clock, 20 * SECOND);
    return false;
}

static void a_burst_whose_node_lost_its_lease_begins_nothing_more(void **state)
{
    struct fixture *f = *state;
    struct stopping s = {.f = f, .stop_at = 5};
    struct pawl_runtime_options options = {
        .node_id = pawl__str("b"), .hooks = {.line = stop_after, .stop = lose_lease, .ctx = &s}};
    const struct pawl_start what = {.definition_id = pawl__str("d")};
    struct pawl_outcome outcome;
    struct pawl_worked worked;
    struct node b;

    publish(f, NUMBERS);
    assert_ok(pawl__memory_store_open(f->database, f->env, &b.store, &f->err), &f->err);
    assert_ok(pawl__runtime_open(f->env, &f->engine, b.store, &options, &b.runtime, &f->err),
              &f->err);
    assert_ok(pawl__runtime_start(b.runtime, &what, &outcome, later(f), &f->err), &f->err);
    assert_int_equal(outcome.sub_status, PAWL_SUB_EXECUTING);
    assert_int_equal(row_of(f, outcome.instance_id).owner, 0);
    /* It renews before it begins again. */
    assert_ok(pawl__runtime_drain(b.runtime, &worked, later(f), &f->err), &f->err);
    assert_string_equal(sub_status(f, outcome.instance_id), "Finished");
    assert_int_equal(strlen(f->lines), 80);
    node_close(&b);
}

/* ---- the pool ------------------------------------------------------------------------------ */

struct turns {
    struct pawl_queue_worker base;
    int begun, ended, refuse;
};

static void close_turns(struct pawl_queue_worker *worker)
{
    (void)worker;
}

static int begin_turn(struct pawl_queue_worker *worker, struct pawl_queue_turn *turn,
                      int64_t deadline_ns, struct pawl_error *err)
{
    struct turns *turns = (struct turns *)(void *)worker;

    (void)deadline_ns;
    (void)err;
    if (turns->refuse > 0) {
        turns->refuse--;
        return PAWL_EBUSY;
    }
    turns->begun++;
    *turn = (struct pawl_queue_turn){.ticket = turns};
    return PAWL_OK;
}

static void end_turn(struct pawl_queue_worker *worker, struct pawl_queue_turn *turn)
{
    struct turns *turns = (struct turns *)(void *)worker;

    assert_ptr_equal(turn->ticket, turns);
    turns->ended++;
}

static void the_pool_works_in_turns(void **state)
{
    static const struct pawl_queue_worker_ops ops = {PAWL_QUEUE_WORKER_VERSION, close_turns,
                                                     begin_turn, end_turn};
    const struct pawl_start what = {.definition_id = pawl__str("d")};
    struct fixture *f = *state;
    struct turns turns = {.base = {&ops, "turns"}, .refuse = 3};
    const struct pawl_pool_options options = {
        .workers = 1, .idle_ns_max = SECOND / 100, .queue = &turns.base};
    struct pawl_outcome outcome;
    struct pawl_pool_counts counts = {0};
    struct pawl_pool *pool;

    publish(f, DEFINITION("d", "", RIG_WRITE("w", "went")));
    assert_ok(pawl__runtime_create(f->a.runtime, &what, &outcome, later(f), &f->err), &f->err);
    assert_ok(pawl__pool_open(f->env, f->a.runtime, &options, &pool, &f->err), &f->err);
    while (counts.done == 0) {
        assert_ok(pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + SECOND / 1000),
                  NULL);
        pawl__pool_counts(pool, &counts);
    }
    pawl__pool_stop(pool);
    assert_ok(pawl__pool_wait(pool, PAWL_FOREVER), NULL);
    pawl__pool_close(pool);
    assert_string_equal(f->lines, "went\n");
    assert_int_equal(turns.refuse, 0);
    assert_int_equal(turns.begun, turns.ended);
}

/* Memory that there is none of for threads but this one, while the test says so. */
struct scarce {
    struct pawl_allocator inner;
    pthread_t main;
    atomic_bool failing;
};

static void *scarce_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    struct scarce *scarce = ctx;

    if (new_size > old_size && atomic_load(&scarce->failing) &&
        !pthread_equal(pthread_self(), scarce->main))
        return NULL;
    return scarce->inner.resize(scarce->inner.ctx, ptr, old_size, new_size);
}

/* Before anything is made in the environment. */
static int set_up_scarce(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct scarce *scarce = calloc(1, sizeof *scarce);

    assert_non_null(f);
    assert_non_null(scarce);
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    scarce->inner = f->env->alloc;
    scarce->main = pthread_self();
    f->env->alloc = (struct pawl_allocator){scarce_resize, scarce};
    open_all(f);
    *state = f;
    return 0;
}

static int tear_down_scarce(void **state)
{
    struct fixture *f = *state;
    struct scarce *scarce = f->env->alloc.ctx;

    tear_down(state);
    free(scarce);
    return 0;
}

static struct pawl_pool_counts await_counts(struct fixture *f, struct pawl_pool *pool,
                                            uint64_t refused, uint64_t done)
{
    int64_t give_up_ns = pawl_env_monotonic_ns(f->env) + 60 * SECOND;
    struct pawl_pool_counts counts;

    for (;;) {
        pawl__pool_counts(pool, &counts);
        if (counts.refused >= refused && counts.done >= done)
            return counts;
        if (pawl_env_monotonic_ns(f->env) > give_up_ns)
            fail_msg("the pool has stopped");
        assert_ok(pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + 1000000), NULL);
    }
}

static void a_pool_without_memory_tries_again(void **state)
{
    const struct pawl_pool_options options = {.workers = 2, .idle_ns_max = SECOND / 100};
    const struct pawl_start what = {.definition_id = pawl__str("d")};
    struct fixture *f = *state;
    struct scarce *scarce = f->env->alloc.ctx;
    struct pawl_outcome outcome;
    struct pawl_pool *pool;

    publish(f, DEFINITION("d", "", RIG_WRITE("w", "done")));
    atomic_store(&scarce->failing, true);
    assert_ok(pawl__pool_open(f->env, f->a.runtime, &options, &pool, &f->err), &f->err);
    (void)await_counts(f, pool, 1, 0);
    atomic_store(&scarce->failing, false);
    assert_ok(pawl__runtime_create(f->a.runtime, &what, &outcome, later(f), &f->err), &f->err);
    (void)await_counts(f, pool, 1, 1);
    pawl__pool_close(pool);
    assert_string_equal(f->lines, "done\n");
}

/* ---- retention ----------------------------------------------------------------------------- */

static void what_has_ended_goes_when_it_is_old_enough(void **state)
{
    struct fixture *f = *state;
    struct pawl_retention_policy policy = {.finished_us = HOUR_US, .dry_run = true};
    struct pawl_outcome old, faulted, waits, young;
    struct pawl_retained gone;

    publish(f, DEFINITION("d", "", RIG_WRITE("w", "went")));
    publish(f, DEFINITION("e", "", RIG_EVENT("e", "Go")));
    publish(f, DEFINITION("x", "", RIG_FAULT("f", "bad")));
    old = start(f, "d");
    waits = start(f, "e");
    faulted = start(f, "x");
    test_clock_advance(f->clock, 2 * 3600 * SECOND);
    young = start(f, "d");
    assert_ok(pawl__runtime_retain(f->a.runtime, &policy, &gone, later(f), &f->err), &f->err);
    assert_int_equal(gone.finished, 1);
    assert_string_equal(sub_status(f, old.instance_id), "Finished");
    policy.dry_run = false;
    assert_ok(pawl__runtime_retain(f->a.runtime, &policy, &gone, later(f), &f->err), &f->err);
    assert_int_equal(gone.finished, 1);
    assert_int_equal(gone.faulted, 0);
    assert_false(gone.more);
    assert_string_equal(sub_status(f, old.instance_id), "gone");
    assert_string_equal(sub_status(f, waits.instance_id), "Suspended");
    assert_string_equal(sub_status(f, young.instance_id), "Finished");
    assert_string_equal(sub_status(f, faulted.instance_id), "Faulted"); /* kept for ever */
    policy.faulted_us = HOUR_US;
    assert_ok(pawl__runtime_retain(f->a.runtime, &policy, &gone, later(f), &f->err), &f->err);
    assert_int_equal(gone.faulted, 1);
}

/* Between the look for what is old and the claim that deletes it somebody reopens it. */
struct reopening {
    struct fixture *f;
    const char *id;
    bool is_done;
};

static bool reopen_before_claim(void *ctx, enum pawl_store_call call, enum pawl_store_fault *how)
{
    struct reopening *r = ctx;
    struct fixture *f = r->f;
    struct pawl_claim claim = {.id = pawl__str(r->id)};
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_ADVANCE, .flags = PAWL_COMMIT_RELEASE, .instance = &claim.row};
    struct pawl_commit *commits[] = {&commit};
    int64_t now_us;

    (void)how;
    if (call != PAWL_STORE_CALL_CLAIM || r->is_done)
        return false;
    r->is_done = true;
    assert_ok(pawl_store_claim(f->a.store, pawl__runtime_incarnation(f->a.runtime), &claim, 1,
                               &f->arena, &now_us, later(f), &f->err),
              &f->err);
    assert_code(claim.status, PAWL_OK);
    claim.row.status = pawl__str("Running");
    claim.row.sub_status = pawl__str("Suspended");
    claim.row.finished_us = 0;
    assert_ok(pawl_store_apply(f->a.store, commits, 1, later(f), &f->err), &f->err);
    assert_code(commit.status, PAWL_OK);
    return false;
}

static void what_was_reopened_since_it_was_found_is_kept(void **state)
{
    struct fixture *f = *state;
    const struct pawl_retention_policy policy = {.finished_us = HOUR_US};
    const struct pawl_runtime_options options = {.node_id = pawl__str("b")};
    struct pawl_outcome old;
    struct reopening reopening = {.f = f};
    const struct pawl_store_fault_hooks hooks = {.decide = reopen_before_claim, .ctx = &reopening};
    struct pawl_store *inner, *store;
    struct pawl_runtime *runtime;
    struct pawl_retained gone;

    publish(f, DEFINITION("d", "", RIG_WRITE("w", "went")));
    old = start(f, "d");
    reopening.id = old.instance_id;
    test_clock_advance(f->clock, 2 * 3600 * SECOND);
    assert_ok(pawl__memory_store_open(f->database, f->env, &inner, &f->err), &f->err);
    assert_ok(pawl__fault_store_new(f->env, inner, &hooks, &store, &f->err), &f->err);
    assert_ok(pawl__runtime_open(f->env, &f->engine, store, &options, &runtime, &f->err), &f->err);
    assert_ok(pawl__runtime_retain(runtime, &policy, &gone, later(f), &f->err), &f->err);
    assert_true(reopening.is_done);
    assert_int_equal(gone.finished, 0);
    assert_string_equal(sub_status(f, old.instance_id), "Suspended");
    pawl__runtime_close(runtime);
    pawl_store_close(store);
}

static void retention_works_in_batches(void **state)
{
    struct fixture *f = *state;
    const struct pawl_retention_policy policy = {.finished_us = HOUR_US, .batch = 2};
    struct pawl_retained gone;

    publish(f, DEFINITION("d", "", RIG_WRITE("w", "went")));
    for (int i = 0; i < 3; i++)
        (void)start(f, "d");
    test_clock_advance(f->clock, 2 * 3600 * SECOND);
    assert_ok(pawl__runtime_retain(f->a.runtime, &policy, &gone, later(f), &f->err), &f->err);
    assert_int_equal(gone.finished, 2);
    assert_true(gone.more);
    assert_ok(pawl__runtime_retain(f->a.runtime, &policy, &gone, later(f), &f->err), &f->err);
    assert_int_equal(gone.finished, 1);
    assert_false(gone.more);
    assert_int_equal(count(f, PAWL_TABLE_INSTANCES) + count(f, PAWL_TABLE_JOURNAL), 0);
}

static void dead_letters_and_expired_keys_go(void **state)
{
    struct fixture *f = *state;
    const struct pawl_retention_policy policy = {.dead_letters_us = 7 * 24 * HOUR_US};
    const struct pawl_stimulus keyed = {.idempotency_key = pawl__str("k")};
    struct pawl_retained gone;

    assert_ok(pawl__runtime_send_event(f->a.runtime, pawl__str("Go"), NULL, &keyed, NULL, later(f),
                                       &f->err),
              &f->err);
    test_clock_advance(f->clock, 900 * SECOND);
    drain(f);
    assert_int_equal(count(f, PAWL_TABLE_DEAD_LETTERS), 1);
    /* Of its id, of the key, and what was done for it. */
    assert_int_equal(count(f, PAWL_TABLE_RESERVATIONS), 3);
    assert_ok(pawl__runtime_retain(f->a.runtime, &policy, &gone, later(f), &f->err), &f->err);
    assert_int_equal(gone.dead_letters, 0);
    assert_int_equal(gone.reservations, 1); /* nobody sends that commit again */
    test_clock_advance(f->clock, 8 * DAY_NS);
    assert_ok(pawl__runtime_retain(f->a.runtime, &policy, &gone, later(f), &f->err), &f->err);
    assert_int_equal(gone.dead_letters, 1);
    assert_int_equal(gone.reservations, 2);
    assert_int_equal(count(f, PAWL_TABLE_DEAD_LETTERS), 0);
    assert_int_equal(count(f, PAWL_TABLE_RESERVATIONS), 0);
}

static void a_journal_keeps_its_newest_records_and_says_so(void **state)
{
    struct fixture *f = *state;
    struct pawl_runtime_options options = {.node_id = pawl__str("b"), .journal_max = 20};
    const struct pawl_start what = {.definition_id = pawl__str("d")};
    struct pawl_json log, records, *first;
    struct pawl_outcome outcome;
    struct pawl_worked worked;
    struct node b;

    publish(f, DEFINITION("d", "",
                          "{'id':'while','type':'Elsa.While','condition':" RIG_INPUT(
                              "Boolean", "Literal", "true") ",'body':" RIG_EVENT("e", "Go") "}"));
    assert_ok(pawl__memory_store_open(f->database, f->env, &b.store, &f->err), &f->err);
    assert_ok(pawl__runtime_open(f->env, &f->engine, b.store, &options, &b.runtime, &f->err),
              &f->err);
    assert_ok(pawl__runtime_start(b.runtime, &what, &outcome, later(f), &f->err), &f->err);
    for (int i = 0; i < 30; i++) {
        (void)send(f, "Go");
        assert_ok(pawl__runtime_drain(b.runtime, &worked, later(f), &f->err), &f->err);
    }
    assert_ok(pawl__runtime_journal(b.runtime, pawl__str(outcome.instance_id), &f->arena, &log,
                                    &records, later(f), &f->err),
              &f->err);
    /* The marker, 20 records, and what is left of the page that begins before them. */
    assert_in_range(pawl__json_len(&log), 21, 26);
    first = pawl__json_at(&log, 0);
    assert_str(pawl__json_str(pawl__json_get_text(first, "eventName")), "Truncated");
    assert_int_equal(log_count(f, outcome.instance_id, "Truncated"), 1);
    assert_true(pawl__json_len(&records) > 0);
    node_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_faulted_instance_is_mended_and_retried),
        TEST(a_timer_that_fired_in_vain_fires_when_its_instance_is_reopened),
        TEST(a_cancellation_of_what_had_faulted_does_not_end_its_retry),
        TEST(a_retry_without_a_cure_faults_again),
        TEST(what_is_refused_leaves_no_trace_and_no_claim),
        TEST(a_dry_run_says_what_would_happen),
        TEST(an_instance_migrates_to_another_version),
        TEST(a_loop_that_is_drained_goes_on_elsewhere_without_a_step_lost_or_repeated),
        TEST(a_start_on_a_draining_node_is_kept_for_others),
        TEST(a_burst_whose_node_lost_its_lease_begins_nothing_more),
        cmocka_unit_test_setup_teardown(the_pool_works_in_turns, set_up_running, tear_down),
        cmocka_unit_test_setup_teardown(a_pool_without_memory_tries_again, set_up_scarce,
                                        tear_down_scarce),
        TEST(what_has_ended_goes_when_it_is_old_enough),
        TEST(what_was_reopened_since_it_was_found_is_kept),
        TEST(retention_works_in_batches),
        TEST(dead_letters_and_expired_keys_go),
        TEST(a_journal_keeps_its_newest_records_and_says_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
