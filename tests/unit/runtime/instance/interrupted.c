/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callers whose event is interrupted: what has taken effect is not repeated, what has not is; what
 * waits does so until its deadline. And what threads that leave a stopped environment return and
 * leave behind.
 */
#include "base/error.h"
#include "engine/context.h"
#include "os/baton.h"
#include "runtime/instance/private.h"
#include "runtime/node/guard.h"
#include "unit/runtime/nodes.h"

/* ---- an activity that counts ----------------------------------------------------------------- */

/* Of what depends on how two threads meet. */
#define TRIES_MAX 1000

/* Activities have no context of the test's; one test runs at a time. */
static struct {
    int runs;
    int failures; /* so many of the next runs fail with PAWL_EBUSY */
    int limit;    /* when it has run so often it exceeds a limit; 0: never */
    int busy;     /* when it has run so often it fails with PAWL_EBUSY, once; 0: never */
    atomic_bool was_busy;
} counted;

static int count_execute(struct pawl_context *context)
{
    (void)context;
    if (counted.failures > 0) {
        counted.failures--;
        return PAWL_EBUSY;
    }
    if (counted.busy > 0 && counted.runs == counted.busy) {
        counted.busy = 0;
        atomic_store(&counted.was_busy, true);
        return PAWL_EBUSY;
    }
    if (counted.limit > 0 && counted.runs >= counted.limit)
        return PAWL_ELIMIT;
    counted.runs++;
    return PAWL_OK;
}

static const struct pawl_activity count_activity = {
    .type = "Test.Count",
    .version = 1,
    .flags = PAWL_ACTIVITY_AUTO_COMPLETE,
    .category = "Test",
    .description = "Counts how often it is run.",
    .execute = count_execute,
};

/* ---- a guard that interferes ----------------------------------------------------------------- */

struct meddler {
    struct pawl_guard base;
    struct fixture *f;
    int refusals; /* so many of the next entries are refused; less than 0: all */
    bool stops;   /* a refusal stops the environment */
    bool sends;   /* whoever leaves next has been told to look again, and is refused then */
};

static int meddler_enter(struct pawl_guard *guard, struct pawl_str id, enum pawl_guard_how how,
                         int64_t deadline_ns, struct pawl_guard_pass *out, struct pawl_error *err)
{
    struct meddler *meddler = (struct meddler *)guard;

    (void)id;
    (void)how;
    (void)deadline_ns;
    (void)out;
    if (meddler->refusals == 0)
        return PAWL_OK;
    if (meddler->refusals > 0)
        meddler->refusals--;
    if (meddler->stops)
        pawl_system_env_stop(meddler->f->env);
    return pawl__error_set(err, PAWL_EBUSY, "refused");
}

static bool meddler_is_valid(struct pawl_guard *guard, struct pawl_guard_pass pass)
{
    (void)guard;
    (void)pass;
    return true;
}

/* The instance is still in the hand of who leaves. */
static void meddler_leave(struct pawl_guard *guard, struct pawl_str id, struct pawl_guard_pass pass)
{
    struct meddler *meddler = (struct meddler *)guard;
    struct fixture *f = meddler->f;
    struct pawl_worked worked;

    (void)id;
    (void)pass;
    if (!meddler->sends)
        return;
    meddler->sends = false;
    assert_int_equal(send(f, "Go").resumed, 1);
    assert_ok(pawl__runtime_work(f->a.runtime, 0, &worked, later(f), &f->err), &f->err);
    meddler->refusals = 1;
}

static const struct pawl_guard_ops meddler_ops = {.version = PAWL_GUARD_VERSION,
                                                  .enter = meddler_enter,
                                                  .is_valid = meddler_is_valid,
                                                  .leave = meddler_leave};

static void meddle(struct fixture *f, struct meddler *meddler)
{
    *meddler = (struct meddler){.base = {&meddler_ops}, .f = f};
    counted.runs = counted.failures = counted.limit = counted.busy = 0;
    node_close(&f->a);
    assert_int_equal(pawl__engine_add_activity(&f->engine, &count_activity), PAWL_OK);
    f->guard = &meddler->base;
    node_open(f, &f->a, "a");
}

/* ---- events ---------------------------------------------------------------------------------- */

#define COUNTS                                                                                     \
    DEFINITION("d", "",                                                                            \
               RIG_EVENT("e", "Go") ",{'id':'c','type':'Test.Count'}," RIG_EVENT("f", "On"))

static void start_as(struct fixture *f, const char *id)
{
    const struct pawl_start what = {.definition_id = pawl__str("d"), .instance_id = pawl__str(id)};
    struct pawl_outcome outcome;

    assert_ok(pawl__runtime_start(f->a.runtime, &what, &outcome, later(f), &f->err), &f->err);
    assert_int_equal(outcome.sub_status, PAWL_SUB_SUSPENDED);
}

/* Mail came while the caller's event ran, and the second claim, for the mail alone, is refused. */
static void an_event_that_took_effect_is_not_applied_again_after_a_refusal(void **state)
{
    const struct pawl_run run = {.activity_id = pawl__str("c")};
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct meddler meddler;

    meddle(f, &meddler);
    publish(f, COUNTS);
    start_as(f, "i");
    meddler.sends = true;
    assert_ok(pawl__runtime_run(f->a.runtime, pawl__str("i"), &run, &outcome, later(f), &f->err),
              &f->err);
    assert_int_equal(meddler.refusals, 0);
    assert_false(meddler.sends);
    drain(f);
    /* By the caller, and by the sequence behind the event that was sent. */
    assert_int_equal(counted.runs, 2);
}

/* The claim is given back by a commit of its own, which is no effect of the event. */
static void an_event_that_took_no_effect_is_applied_again(void **state)
{
    const struct pawl_run run = {.activity_id = pawl__str("c")};
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct meddler meddler;

    meddle(f, &meddler);
    publish(f, COUNTS);
    start_as(f, "i");
    counted.failures = 1;
    assert_ok(pawl__runtime_run(f->a.runtime, pawl__str("i"), &run, &outcome, later(f), &f->err),
              &f->err);
    assert_int_equal(counted.failures, 0);
    assert_int_equal(counted.runs, 1);
}

/* ---- failures behind the first commit ---------------------------------------------------------
 */

/* One Count after the other, with a commit between them. */
#define IN_STEPS                                                                                   \
    DEFINITION("d", "'options':{'commitStrategyName':'ActivityExecuted'},",                        \
               "{'id':'c1','type':'Test.Count'},{'id':'c2','type':'Test.Count'}")
#define WAITS_THEN_IN_STEPS                                                                        \
    DEFINITION("d", "'options':{'commitStrategyName':'ActivityExecuted'},",                        \
               RIG_EVENT("e", "Go") ",{'id':'c1','type':'Test.Count'},"                            \
                                    "{'id':'c2','type':'Test.Count'}")

static void assert_unknown(struct fixture *f, int status, const char *said)
{
    assert_code(status, PAWL_EUNKNOWN);
    assert_int_equal(f->err.code, PAWL_EUNKNOWN);
    if (!strstr(f->err.msg, said))
        fail_msg("'%s' is not in: %s", said, f->err.msg);
}

static void a_start_that_exceeds_a_limit_behind_its_first_commit_is_unknown(void **state)
{
    const struct pawl_start what = {.definition_id = pawl__str("d"), .instance_id = pawl__str("i")};
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct meddler meddler;

    f->engine.commit_strategies = true;
    meddle(f, &meddler);
    publish(f, IN_STEPS);
    counted.limit = 1;
    assert_unknown(f, pawl__runtime_start(f->a.runtime, &what, &outcome, later(f), &f->err),
                   "instance i was started; what followed is unknown: ");
    assert_int_equal(counted.runs, 1);
    assert_int_equal(count(f, PAWL_TABLE_INSTANCES), 1);
}

/* Resumes the bookmark of "e". */
static int resume(struct fixture *f, struct pawl_outcome *out, int64_t deadline_ns)
{
    struct pawl_run run = {.bookmark_id = pawl__str("")};
    struct pawl_instance_row row;
    struct pawl_json shown;

    assert_ok(
        pawl__runtime_show(f->a.runtime, pawl__str("i"), &f->arena, &row, &shown, later(f), NULL),
        NULL);
    run.bookmark_id = pawl__json_str(
        pawl__json_get_text(pawl__json_at(pawl__json_get_text(&shown, "bookmarks"), 0), "id"));
    assert_true(run.bookmark_id.len > 0);
    return pawl__runtime_run(f->a.runtime, pawl__str("i"), &run, out, deadline_ns, &f->err);
}

static void a_resume_that_exceeds_a_limit_behind_its_first_commit_is_unknown(void **state)
{
    struct fixture *f = *state;
    struct meddler meddler;

    f->engine.commit_strategies = true;
    meddle(f, &meddler);
    publish(f, WAITS_THEN_IN_STEPS);
    start_as(f, "i");
    counted.limit = 1;
    assert_unknown(f, resume(f, NULL, later(f)),
                   "the request took effect on instance i; what followed is unknown: ");
    assert_int_equal(counted.runs, 1);
}

/* Nothing of it is stored: the caller may look at the error for what it is. */
static void a_resume_that_exceeds_a_limit_at_once_is_one(void **state)
{
    struct fixture *f = *state;
    const struct pawl_run run = {.activity_id = pawl__str("c")};
    struct pawl_outcome outcome;
    struct meddler meddler;

    meddle(f, &meddler);
    publish(f, COUNTS);
    start_as(f, "i");
    counted.runs = counted.limit = 1;
    assert_code(pawl__runtime_run(f->a.runtime, pawl__str("i"), &run, &outcome, later(f), &f->err),
                PAWL_ELIMIT);
}

/* Mail came while the caller's event ran, and the node stops before the second claim. */
static void a_resume_that_is_stopped_behind_its_first_commit_is_unknown(void **state)
{
    const struct pawl_run run = {.activity_id = pawl__str("c")};
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct meddler meddler;

    meddle(f, &meddler);
    publish(f, COUNTS);
    start_as(f, "i");
    meddler.sends = meddler.stops = true;
    assert_unknown(
        f, pawl__runtime_run(f->a.runtime, pawl__str("i"), &run, &outcome, PAWL_FOREVER, &f->err),
        "the request took effect on instance i; what followed is unknown: ");
    assert_int_equal(counted.runs, 1);
}

static struct node successor;
static unsigned applied_before;

/* Before the second commit: the node's next incarnation, which has what this one had, goes on. */
static void take_over(struct fixture *f)
{
    if (atomic_load(&f->applied) < applied_before + 2)
        return;
    f->before_apply = NULL;
    node_open(f, &successor, "a");
    drain_node(f, &successor);
}

static void a_resume_that_loses_its_claim_behind_its_first_commit_is_unknown(void **state)
{
    struct fixture *f = *state;
    struct meddler meddler;

    f->engine.commit_strategies = true;
    meddle(f, &meddler);
    publish(f, WAITS_THEN_IN_STEPS);
    start_as(f, "i");
    applied_before = atomic_load(&f->applied);
    f->before_apply = take_over;
    assert_unknown(f, resume(f, NULL, later(f)),
                   "the request took effect on instance i; what followed is unknown: ");
    assert_null(f->before_apply);
    assert_string_equal(sub_status(f, "i"), "Finished");
    node_close(&successor);
}

/* Has the instance from when the burst was busy until the caller has its answer. */
struct taker {
    struct fixture *f;
    atomic_bool has_it, goes;
};

static void take_when_busy(void *arg)
{
    struct taker *taker = arg;
    struct fixture *f = taker->f;
    struct runtime_running running;
    int status = PAWL_EBUSY;

    while (!atomic_load(&taker->goes) && status != PAWL_OK) {
        if (atomic_load(&counted.was_busy))
            status = pawl__runtime_enter(f->a.runtime, &running, pawl__str("i"), PAWL_FOREVER);
        (void)!pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + SECOND / 1000);
    }
    atomic_store(&taker->has_it, status == PAWL_OK);
    while (!atomic_load(&taker->goes))
        (void)!pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + SECOND / 1000);
    while (status == PAWL_OK && pawl__runtime_leave(f->a.runtime, &running))
        continue;
}

/* False: the other thread came so late that the caller, who looks again, has finished it itself. */
static bool resume_while_taken(struct fixture *f)
{
    struct pawl_outcome outcome;
    struct pawl_thread *thread;
    struct taker taker = {.f = f};

    start_as(f, "i");
    counted.runs = 0;
    counted.busy = 1;
    atomic_store(&counted.was_busy, false);
    assert_ok(pawl_thread_start(f->env, "taker", take_when_busy, &taker, &thread, &f->err),
              &f->err);
    assert_ok(resume(f, &outcome, later(f)), &f->err);
    atomic_store(&taker.goes, true);
    pawl_thread_join(f->env, thread);
    assert_true(atomic_load(&counted.was_busy));
    assert_string_equal(outcome.instance_id, "i");
    if (outcome.sub_status == PAWL_SUB_FINISHED)
        return false;
    assert_true(atomic_load(&taker.has_it));
    assert_int_equal(outcome.sub_status, PAWL_SUB_EXECUTING);
    return true;
}

static void a_resume_whose_instance_another_thread_has_says_how_it_stands(void **state)
{
    struct fixture *f = *state;
    struct meddler meddler;
    int tries = 0;

    f->engine.commit_strategies = true;
    meddle(f, &meddler);
    publish(f, WAITS_THEN_IN_STEPS);
    while (!resume_while_taken(f)) {
        assert_true(++tries < TRIES_MAX);
        assert_ok(pawl__runtime_delete(f->a.runtime, pawl__str("i"), later(f), &f->err), &f->err);
    }
}

/* ---- stopping -------------------------------------------------------------------------------- */

static void a_caller_that_waits_is_told_of_a_stop(void **state)
{
    const struct pawl_run run = {.activity_id = pawl__str("c")};
    struct fixture *f = *state;
    struct pawl_outcome outcome;
    struct meddler meddler;

    meddle(f, &meddler);
    publish(f, COUNTS);
    start_as(f, "i");
    meddler.refusals = -1;
    meddler.stops = true;
    assert_code(
        pawl__runtime_run(f->a.runtime, pawl__str("i"), &run, &outcome, PAWL_FOREVER, &f->err),
        PAWL_ESTOPPED);
}

static void a_deletion_that_waits_is_told_of_a_stop(void **state)
{
    struct fixture *f = *state;
    struct meddler meddler;

    meddle(f, &meddler);
    publish(f, COUNTS);
    start_as(f, "i");
    meddler.refusals = -1;
    meddler.stops = true;
    assert_code(pawl__runtime_delete(f->a.runtime, pawl__str("i"), PAWL_FOREVER, &f->err),
                PAWL_ESTOPPED);
}

static void set_aside(struct fixture *f, const char *id)
{
    struct pawl_claim claim = {.id = pawl__str(id)};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE,
                                 .flags =
                                     PAWL_COMMIT_KEEP | PAWL_COMMIT_SET_ASIDE | PAWL_COMMIT_RELEASE,
                                 .instance = &claim.row};
    struct pawl_commit *commits[] = {&commit};
    int64_t now_us;

    assert_ok(pawl_store_claim(f->a.store, pawl__runtime_incarnation(f->a.runtime), &claim, 1,
                               &f->arena, &now_us, later(f), &f->err),
              &f->err);
    assert_code(claim.status, PAWL_OK);
    claim.row.retry_us = PAWL_TIME_NEVER;
    claim.row.trouble = pawl__str("by the test");
    assert_ok(pawl_store_apply(f->a.store, commits, 1, later(f), &f->err), &f->err);
    assert_code(commit.status, PAWL_OK);
}

static void a_retry_that_waits_is_told_of_a_stop(void **state)
{
    struct fixture *f = *state;
    struct meddler meddler;

    meddle(f, &meddler);
    publish(f, COUNTS);
    start_as(f, "i");
    set_aside(f, "i");
    meddler.refusals = -1;
    meddler.stops = true;
    assert_code(
        pawl__runtime_retry(f->a.runtime, pawl__str("i"), NULL, 0, NULL, PAWL_FOREVER, &f->err),
        PAWL_ESTOPPED);
}

/* The first claim clears what stood in the way, the second runs the instance. */
static void a_retry_that_fails_behind_what_it_cleared_is_unknown(void **state)
{
    struct fixture *f = *state;
    struct meddler meddler;

    meddle(f, &meddler);
    publish(f, COUNTS);
    start_as(f, "i");
    set_aside(f, "i");
    fail_next(f, PAWL_STORE_CALL_CLAIM, PAWL_STORE_FAULT_BEFORE);
    f->fail_skip = 1;
    assert_unknown(
        f, pawl__runtime_retry(f->a.runtime, pawl__str("i"), NULL, 0, NULL, later(f), &f->err),
        "the trouble of instance i was cleared; what followed is unknown: ");
    assert_false(f->fail);
    /* Refused while it was set aside. */
    assert_int_equal(send(f, "Go").resumed, 1);
}

/* ---- lists in a stopped environment -----------------------------------------------------------
 */

#define THREADS 4
#define HANDS 1000
#define ROUNDS 20

static struct {
    struct pawl_runtime *runtime;
    atomic_int ready;
    atomic_bool go;
} race;

static void enter_and_leave(void *arg)
{
    struct runtime_running hands[HANDS];
    char ids[HANDS][16];

    for (int i = 0; i < HANDS; i++) {
        (void)snprintf(ids[i], sizeof ids[i], "%d/%d", *(const int *)arg, i);
        assert_ok(pawl__runtime_enter(race.runtime, &hands[i], pawl__str(ids[i]), PAWL_FOREVER),
                  NULL);
    }
    atomic_fetch_add(&race.ready, 1);
    while (!atomic_load(&race.go))
        continue;
    for (int i = 0; i < HANDS; i++)
        assert_false(pawl__runtime_leave(race.runtime, &hands[i]));
}

/* Nobody can lock there: they must not meet all the same. ThreadSanitizer sees it when they do. */
static void threads_that_leave_a_stopped_environment_leave_nothing_behind(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct pawl_thread *threads[THREADS];
        int numbers[THREADS];
        struct fixture *f;
        void *opened;

        assert_int_equal(set_up_running(&opened), 0);
        f = opened;
        race.runtime = f->a.runtime;
        atomic_store(&race.ready, 0);
        atomic_store(&race.go, false);
        for (int i = 0; i < THREADS; i++) {
            numbers[i] = i;
            assert_ok(pawl_thread_start(f->env, "leaver", enter_and_leave, &numbers[i], &threads[i],
                                        &f->err),
                      &f->err);
        }
        while (atomic_load(&race.ready) < THREADS)
            (void)!pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + SECOND / 1000);
        pawl_system_env_stop(f->env);
        atomic_store(&race.go, true);
        for (int i = 0; i < THREADS; i++)
            pawl_thread_join(f->env, threads[i]);
        assert_true(pawl__list_empty(&f->a.runtime->running));
        assert_int_equal(tear_down(&opened), 0);
    }
}

/* A runtime of which there is no more than a gate, in an environment where time is a number. */
struct gate {
    struct test_allocator alloc;
    struct pawl_baton *baton;
    struct pawl_env *env;
    struct pawl_runtime runtime;
    struct runtime_running alone, late;
    struct pawl_error err;
};

static void gate_open(struct gate *gate)
{
    *gate = (struct gate){.err = PAWL_ERROR_INIT};
    test_allocator_init(&gate->alloc);
    assert_ok(pawl__baton_new(&gate->alloc.base, 1, NULL, &gate->baton), NULL);
    assert_ok(pawl__baton_env(gate->baton, "node", &gate->env), NULL);
    gate->runtime.env = gate->env;
    pawl__list_init(&gate->runtime.running);
    pawl__list_init(&gate->runtime.given_up);
    assert_ok(pawl_mutex_new(gate->env, "runtime", &gate->runtime.mutex), NULL);
    assert_ok(pawl_cond_new(gate->env, "left", &gate->runtime.left), NULL);
    assert_ok(pawl_cond_new(gate->env, "cancels", &gate->runtime.cancels), NULL);
}

static void gate_close(struct gate *gate)
{
    pawl_cond_free(gate->env, gate->runtime.cancels);
    pawl_cond_free(gate->env, gate->runtime.left);
    pawl_mutex_free(gate->env, gate->runtime.mutex);
    pawl__baton_free(gate->baton);
    assert_int_equal(gate->alloc.live_count, 0);
}

/* All the time that there is, for an instance that is in hand. */
static void reserve(struct gate *gate)
{
    assert_ok(pawl__runtime_enter(&gate->runtime, &gate->alone, pawl__str("alone"), PAWL_FOREVER),
              NULL);
    gate->runtime.alone = &gate->alone;
    gate->runtime.alone_until_ns = PAWL_FOREVER;
}

static void run_gate(struct gate *gate, void (*first)(void *arg), void (*second)(void *arg))
{
    struct pawl_thread *threads[2];
    struct pawl_env *outside;

    assert_ok(pawl__baton_env(gate->baton, "outside", &outside), NULL);
    assert_ok(pawl_thread_start(gate->env, "first", first, gate, &threads[0], &gate->err),
              &gate->err);
    assert_ok(pawl_thread_start(outside, "second", second, gate, &threads[1], &gate->err),
              &gate->err);
    assert_ok(pawl__baton_run(gate->baton, &gate->err), &gate->err);
    pawl_thread_join(gate->env, threads[0]);
    pawl_thread_join(outside, threads[1]);
}

static void enter_late(void *arg)
{
    struct gate *gate = arg;

    assert_ok(pawl__runtime_enter(&gate->runtime, &gate->late, pawl__str("late"), PAWL_FOREVER),
              NULL);
}

/* The clock goes on only when the other one waits. */
static void stop_later(void *arg)
{
    struct gate *gate = arg;

    (void)!pawl_env_sleep_until(gate->env, 10 * SECOND);
    assert_int_equal(gate->late.state, HAND_FREE);
    pawl__baton_env_stop(gate->env);
}

/* Threads are leaving the list by then, without the mutex. */
static void who_waited_to_enter_is_not_listed_when_the_environment_stops(void **state)
{
    struct gate gate;

    (void)state;
    gate_open(&gate);
    reserve(&gate);
    run_gate(&gate, enter_late, stop_later);
    assert_int_equal(gate.late.state, HAND_TAKEN);
    assert_false(pawl__list_linked(&gate.late.link));
    assert_false(pawl__runtime_leave(&gate.runtime, &gate.late));
    gate.runtime.alone = NULL;
    assert_false(pawl__runtime_leave(&gate.runtime, &gate.alone));
    assert_true(pawl__list_empty(&gate.runtime.running));
    gate_close(&gate);
}

static void do_nothing(void *arg)
{
    (void)arg;
}

static void enter_until(void *arg)
{
    struct gate *gate = arg;

    assert_code(pawl__runtime_enter(&gate->runtime, &gate->late, pawl__str("late"), 5 * SECOND),
                PAWL_ETIMEDOUT);
    assert_int_equal(pawl_env_monotonic_ns(gate->env), 5 * SECOND);
}

static void who_waits_behind_an_instance_that_runs_alone_does_so_until_its_deadline(void **state)
{
    struct gate gate;

    (void)state;
    gate_open(&gate);
    reserve(&gate);
    run_gate(&gate, enter_until, do_nothing);
    assert_int_equal(gate.late.state, HAND_FREE);
    assert_ptr_equal(gate.runtime.alone, &gate.alone);
    gate.runtime.alone = NULL;
    assert_false(pawl__runtime_leave(&gate.runtime, &gate.alone));
    gate_close(&gate);
}

static void begin_alone_until(void *arg)
{
    struct gate *gate = arg;
    struct pawl_runtime *runtime = &gate->runtime;

    assert_ok(pawl__runtime_enter(runtime, &gate->late, pawl__str("late"), PAWL_FOREVER), NULL);
    assert_false(pawl__runtime_begin_alone(runtime, &gate->late, 5 * SECOND));
    assert_int_equal(pawl_env_monotonic_ns(gate->env), 5 * SECOND);
    assert_null(runtime->alone);
    /* Nobody's deadline: for 10 s. */
    assert_false(pawl__runtime_begin_alone(runtime, &gate->late, PAWL_FOREVER));
    assert_int_equal(pawl_env_monotonic_ns(gate->env), 15 * SECOND);
    assert_false(pawl__runtime_leave(runtime, &gate->late));
}

static void who_wants_the_node_alone_waits_until_its_deadline(void **state)
{
    struct gate gate;

    (void)state;
    gate_open(&gate);
    assert_ok(pawl__runtime_enter(&gate.runtime, &gate.alone, pawl__str("other"), PAWL_FOREVER),
              NULL);
    run_gate(&gate, begin_alone_until, do_nothing);
    assert_false(pawl__runtime_leave(&gate.runtime, &gate.alone));
    gate_close(&gate);
}

#define RUNNING_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_running, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUNNING_TEST(an_event_that_took_effect_is_not_applied_again_after_a_refusal),
        RUNNING_TEST(an_event_that_took_no_effect_is_applied_again),
        RUNNING_TEST(a_start_that_exceeds_a_limit_behind_its_first_commit_is_unknown),
        RUNNING_TEST(a_resume_that_exceeds_a_limit_behind_its_first_commit_is_unknown),
        RUNNING_TEST(a_resume_that_exceeds_a_limit_at_once_is_one),
        RUNNING_TEST(a_resume_that_is_stopped_behind_its_first_commit_is_unknown),
        RUNNING_TEST(a_resume_that_loses_its_claim_behind_its_first_commit_is_unknown),
        RUNNING_TEST(a_resume_whose_instance_another_thread_has_says_how_it_stands),
        RUNNING_TEST(a_caller_that_waits_is_told_of_a_stop),
        RUNNING_TEST(a_deletion_that_waits_is_told_of_a_stop),
        RUNNING_TEST(a_retry_that_waits_is_told_of_a_stop),
        RUNNING_TEST(a_retry_that_fails_behind_what_it_cleared_is_unknown),
        cmocka_unit_test(who_waited_to_enter_is_not_listed_when_the_environment_stops),
        cmocka_unit_test(who_waits_behind_an_instance_that_runs_alone_does_so_until_its_deadline),
        cmocka_unit_test(who_wants_the_node_alone_waits_until_its_deadline),
        cmocka_unit_test(threads_that_leave_a_stopped_environment_leave_nothing_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
