/* SPDX-License-Identifier: Apache-2.0 */
/* The lock of an instance: retries, timeouts, releases that fail, holders that never give it back.
 * Names of tests in the first part are those of the reference's DistributedLockResilience. */
#include "unit/distributed/members.h"

#define GO DEFINITION("d", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went"))
#define KEY "workflow-instance:i"

static int acquire(struct cluster *c, const char *name, struct pawl_lock *lock)
{
    return pawl__distributed_acquire(&c->a.distribution, pawl__str(name), later(c->f), lock,
                                     &c->f->err);
}

static void start_on(struct cluster *c, struct member *member, const char *id)
{
    const struct pawl_start what = {.definition_id = pawl__str("d"), .instance_id = pawl__str(id)};
    struct pawl_outcome outcome;

    assert_ok(pawl__runtime_start(member->node.runtime, &what, &outcome, later(c->f), &c->f->err),
              &c->f->err);
}

static int run_on(struct cluster *c, struct member *member, const char *id)
{
    const struct pawl_run on = {.bookmark_id = pawl__str("none")};
    struct pawl_outcome outcome;

    return pawl__runtime_run(member->node.runtime, pawl__str(id), &on, &outcome, later(c->f),
                             &c->f->err);
}

/* ---- acquiring ------------------------------------------------------------------------------ */

static void acquisition_that_fails_once_or_twice_succeeds_with_one_attempt_more(void **state)
{
    struct cluster *c = *state;
    struct pawl_lock lock;

    for (unsigned failures = 1; failures <= 2; failures++) {
        plan_failures(&c->a.plan, PAWL_LOCK_CALL_TRY, failures, PAWL_LOCK_FAULT_BEFORE, 0);
        assert_ok(acquire(c, "x", &lock), &c->f->err);
        assert_int_equal(atomic_load(&c->a.plan.calls), failures + 1);
        pawl__distributed_release(&c->a.distribution, pawl__str("x"), lock);
    }
    assert_int_equal(said_count(&c->a.said, "lock not acquired, trying again"), 3);
    assert_int_equal(said_count(&c->a.said, "lock=x attempt=1"), 2);
    assert_int_equal(said_count(&c->a.said, "lock=x attempt=2"), 1);
}

static void four_failures_end_it_after_four_attempts(void **state)
{
    static const int codes[] = {PAWL_EUNAVAILABLE, PAWL_ETIMEDOUT};
    struct cluster *c = *state;
    struct pawl_lock lock;

    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        plan_failures(&c->a.plan, PAWL_LOCK_CALL_TRY, 4, PAWL_LOCK_FAULT_BEFORE, codes[i]);
        assert_code(acquire(c, "x", &lock), codes[i]);
        assert_int_equal(atomic_load(&c->a.plan.calls), 4);
        assert_int_equal(atomic_load(&c->a.plan.left), 0);
    }
    assert_int_equal(said_count(&c->a.said, "attempt=3"), 2);
    assert_int_equal(said_count(&c->a.said, "attempt=4"), 0);
    assert_ok(acquire(c, "x", &lock), &c->f->err); /* nobody has it */
    pawl__distributed_release(&c->a.distribution, pawl__str("x"), lock);
}

static void an_error_that_does_not_pass_is_not_tried_again(void **state)
{
    struct cluster *c = *state;
    struct pawl_lock lock;

    plan_failures(&c->a.plan, PAWL_LOCK_CALL_TRY, 1, PAWL_LOCK_FAULT_BEFORE, PAWL_EPERM);
    assert_code(acquire(c, "x", &lock), PAWL_EPERM);
    assert_int_equal(atomic_load(&c->a.plan.calls), 1);
    assert_int_equal(said_count(&c->a.said, "trying again"), 0);
}

/* The first attempt took effect: what it may have taken is given back before one is granted. */
static void an_answer_that_was_lost_is_an_attempt_that_failed(void **state)
{
    struct cluster *c = *state;
    struct pawl_lock lock;

    c->a.distribution.retry.retries_max = 50;
    plan_failures(&c->a.plan, PAWL_LOCK_CALL_TRY, 1, PAWL_LOCK_FAULT_AFTER, 0);
    assert_ok(acquire(c, "x", &lock), &c->f->err);
    assert_true(pawl__lock_valid(c->a.locks, lock));
    pawl__distributed_release(&c->a.distribution, pawl__str("x"), lock);
}

static void how_often_it_is_tried_is_a_setting(void **state)
{
    struct cluster *c = *state;
    struct pawl_lock lock;

    c->a.distribution.retry.retries_max = 0;
    plan_failures(&c->a.plan, PAWL_LOCK_CALL_TRY, 1, PAWL_LOCK_FAULT_BEFORE, 0);
    assert_code(acquire(c, "x", &lock), PAWL_EUNAVAILABLE);
    assert_int_equal(atomic_load(&c->a.plan.calls), 1);
}

/* ---- the same through instances -------------------------------------------------------------- */

static void the_same_when_an_instance_is_run(void **state)
{
    struct cluster *c = *state;

    publish(c->f, GO);
    start_on(c, &c->a, "i");
    for (unsigned failures = 1; failures <= 2; failures++) {
        plan_failures(&c->a.plan, PAWL_LOCK_CALL_TRY, failures, PAWL_LOCK_FAULT_BEFORE, 0);
        assert_ok(run_on(c, &c->a, "i"), &c->f->err);
        assert_int_equal(atomic_load(&c->a.plan.calls), failures + 1);
    }
    plan_failures(&c->a.plan, PAWL_LOCK_CALL_TRY, 4, PAWL_LOCK_FAULT_BEFORE, PAWL_ETIMEDOUT);
    assert_code(run_on(c, &c->a, "i"), PAWL_ETIMEDOUT);
    assert_int_equal(atomic_load(&c->a.plan.calls), 4);
    assert_true(said_count(&c->a.said, "lock=" KEY " attempt=1") >= 3);
    assert_string_equal(sub_status(c->f, "i"), "Suspended");
}

static void a_release_that_fails_is_logged_and_the_call_succeeds(void **state)
{
    struct cluster *c = *state;

    publish(c->f, GO);
    plan_failures(&c->a.plan, PAWL_LOCK_CALL_RELEASE, 1, PAWL_LOCK_FAULT_BEFORE, 0);
    start_on(c, &c->a, "i");
    assert_string_equal(sub_status(c->f, "i"), "Suspended");
    assert_int_equal(said_count(&c->a.said, "lock not released, it will expire"), 1);
    assert_int_equal(said_count(&c->a.said, "lock=" KEY), 1);
}

static void an_instance_that_another_node_is_at_times_out(void **state)
{
    struct cluster *c = *state;
    struct pawl_lock lock;

    publish(c->f, GO);
    c->a.distribution.acquire_ns = 20 * MS;
    member_reguard(c->f, &c->a, "one");
    start_on(c, &c->a, "i");
    lock = hold(c, KEY);
    assert_code(run_on(c, &c->a, "i"), PAWL_ETIMEDOUT);
    assert_non_null(strstr(c->f->err.msg, "instance i was locked by another node until"));
    assert_code(pawl__runtime_delete(c->a.node.runtime, pawl__str("i"), later(c->f), &c->f->err),
                PAWL_ETIMEDOUT);
    assert_string_equal(sub_status(c->f, "i"), "Suspended");
    start_on(c, &c->a, "j"); /* others are not concerned */
    let_go(c, lock);
    assert_ok(run_on(c, &c->a, "i"), &c->f->err);
    assert_ok(pawl__runtime_delete(c->a.node.runtime, pawl__str("i"), later(c->f), &c->f->err),
              &c->f->err);
}

static void what_is_not_locked_goes_through(void **state)
{
    struct cluster *c = *state;
    const struct pawl_start what = {.definition_id = pawl__str("d"), .instance_id = pawl__str("j")};
    struct pawl_workflow_client *client;
    struct pawl_workflow_runtime *local;
    struct pawl_instance_row row;
    struct pawl_outcome outcome;
    struct pawl_json exported;
    struct pawl_lock locks[2];
    bool exists = false;

    publish(c->f, GO);
    start_on(c, &c->a, "i");
    locks[0] = hold(c, KEY);
    locks[1] = hold(c, "workflow-instance:j");
    assert_ok(pawl__runtime_create(c->a.node.runtime, &what, &outcome, later(c->f), &c->f->err),
              &c->f->err);
    assert_ok(pawl__runtime_export(c->a.node.runtime, pawl__str("i"), &c->f->arena, &exported,
                                   later(c->f), &c->f->err),
              &c->f->err);
    assert_ok(pawl__local_workflow_runtime_new(c->f->env, c->a.node.runtime, &local, &c->f->err),
              &c->f->err);
    assert_ok(pawl__workflow_runtime_client(local, pawl__str("i"), &client, &c->f->err),
              &c->f->err);
    assert_ok(pawl__workflow_client_exists(client, &exists, later(c->f), &c->f->err), &c->f->err);
    assert_true(exists);
    assert_ok(pawl__workflow_client_cancel(client, later(c->f), &c->f->err), &c->f->err);
    pawl__workflow_client_close(client);
    assert_ok(pawl__runtime_show(c->a.node.runtime, pawl__str("i"), &c->f->arena, &row, NULL,
                                 later(c->f), &c->f->err),
              &c->f->err);
    assert_int_equal(row.cancel_requested, 1);
    let_go(c, locks[0]);
    let_go(c, locks[1]);
    /* The local runtime has taken the node. */
    pawl__workflow_runtime_close(local);
    c->a.node.runtime = NULL;
}

/* ---- while a burst is under way ---------------------------------------------------------------
 */

/* Lets a burst stand at a line until somebody lets it go on. */
struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool reached, open;
};
static struct gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false};

static void await_gate(void)
{
    (void)pthread_mutex_lock(&gate.mutex);
    while (!gate.reached)
        (void)pthread_cond_wait(&gate.cond, &gate.mutex);
    (void)pthread_mutex_unlock(&gate.mutex);
}

static void open_gate(void)
{
    (void)pthread_mutex_lock(&gate.mutex);
    gate.open = true;
    (void)pthread_cond_broadcast(&gate.cond);
    (void)pthread_mutex_unlock(&gate.mutex);
}

struct deleting {
    struct cluster *c;
    struct pawl_error err;
    int status;
    atomic_bool done;
};

static void *delete_it(void *arg)
{
    struct deleting *deleting = arg;

    deleting->status = pawl__runtime_delete(deleting->c->b.node.runtime, pawl__str("i"),
                                            later(deleting->c->f), &deleting->err);
    atomic_store(&deleting->done, true);
    return NULL;
}

/* Called in the middle of the burst, which has the lock then. */
static bool stand_at_gate(void *ctx)
{
    (void)ctx;
    (void)pthread_mutex_lock(&gate.mutex);
    gate.reached = true;
    (void)pthread_cond_broadcast(&gate.cond);
    while (!gate.open)
        (void)pthread_cond_wait(&gate.cond, &gate.mutex);
    (void)pthread_mutex_unlock(&gate.mutex);
    return false;
}

static void *run_slowly(void *arg)
{
    struct cluster *c = arg;
    const struct pawl_runtime_options options = {
        .node_id = pawl__str("slow"), .guard = c->a.guard, .hooks = {.stop = stand_at_gate}};
    struct pawl_runtime *runtime;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_sent sent;
    struct pawl_worked worked;

    assert_ok(
        pawl__runtime_open(c->f->env, &c->f->engine, c->a.node.store, &options, &runtime, &err),
        &err);
    assert_ok(
        pawl__runtime_send_event(runtime, pawl__str("Go"), NULL, NULL, &sent, PAWL_FOREVER, &err),
        &err);
    assert_ok(pawl__runtime_work(runtime, 0, &worked, PAWL_FOREVER, &err), &err);
    pawl__runtime_close(runtime);
    return NULL;
}

static void a_delete_during_a_burst_waits_and_the_row_does_not_come_back(void **state)
{
    struct cluster *c = *state;
    struct deleting deleting = {.c = c, .err = PAWL_ERROR_INIT};
    pthread_t burst, deleter;
    struct pawl_locks_counts counts;

    gate.reached = gate.open = false;
    publish(c->f, GO);
    start_on(c, &c->a, "i");
    assert_int_equal(pthread_create(&burst, NULL, run_slowly, c), 0);
    await_gate();
    assert_int_equal(pthread_create(&deleter, NULL, delete_it, &deleting), 0);
    for (pawl__locks_counts(c->b.locks, &counts); counts.waiting == 0; /* refused, and waits */
         pawl__locks_counts(c->b.locks, &counts))
        assert_ok(pawl_env_sleep_until(c->f->env, pawl_env_monotonic_ns(c->f->env) + MS), NULL);
    assert_false(atomic_load(&deleting.done));
    open_gate();
    assert_int_equal(pthread_join(burst, NULL), 0);
    assert_int_equal(pthread_join(deleter, NULL), 0);
    assert_ok(deleting.status, &deleting.err);
    drain_node(c->f, &c->a.node);
    assert_string_equal(sub_status(c->f, "i"), "gone");
    assert_int_equal(count(c->f, PAWL_TABLE_INSTANCES), 0);
    assert_int_equal(count(c->f, PAWL_TABLE_BOOKMARKS), 0);
    assert_int_equal(count(c->f, PAWL_TABLE_JOURNAL), 0);
}

/* ---- a lock that is lost -----------------------------------------------------------------------
 */

#define LEASE_MS 300
#define LONG DEFINITION("long", "", RIG_WRITE("w1", "one") "," RIG_WRITE("w2", "two"))

/* A node whose locks have leases, which somebody can take away. */
struct leased {
    struct cluster *c;
    struct pawl_locks *locks;
    struct pawl_guard *guard;
};

static void *run_leased(void *arg)
{
    struct leased *leased = arg;
    struct fixture *f = leased->c->f;
    const struct pawl_runtime_options options = {
        .node_id = pawl__str("leased"),
        .guard = leased->guard,
        .hooks = {.line = on_line, .stop = stand_at_gate, .ctx = f}};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_runtime *runtime;
    struct pawl_worked worked;

    assert_ok(
        pawl__runtime_open(f->env, &f->engine, leased->c->a.node.store, &options, &runtime, &err),
        &err);
    assert_ok(pawl__runtime_work(runtime, 0, &worked, PAWL_FOREVER, &err), &err);
    pawl__runtime_close(runtime);
    return NULL;
}

static void open_leased(struct cluster *c, struct leased *leased)
{
    struct pawl_lock_provider *provider;
    struct pawl_distribution distribution;

    leased->c = c;
    assert_ok(pawl__memory_locks_open(c->space, c->f->env, LEASE_MS, &provider, &c->f->err),
              &c->f->err);
    assert_ok(pawl__locks_new(c->f->env, provider, NULL, &leased->locks, &c->f->err), &c->f->err);
    pawl__distribution_init(&distribution, c->f->env, leased->locks);
    assert_ok(pawl__distributed_guard_new(&distribution, &leased->guard, &c->f->err), &c->f->err);
}

/* Between two activities the lock service forgets the lock. */
static void a_burst_whose_lock_is_lost_stops_and_another_node_goes_on(void **state)
{
    struct cluster *c = *state;
    const struct pawl_start what = {.definition_id = pawl__str("long"),
                                    .instance_id = pawl__str("i")};
    struct pawl_locks_counts counts = {0};
    struct leased leased;
    pthread_t burst;

    gate.reached = gate.open = false;
    publish(c->f, LONG);
    assert_ok(pawl__runtime_create(c->a.node.runtime, &what, NULL, later(c->f), &c->f->err),
              &c->f->err);
    open_leased(c, &leased);
    assert_int_equal(pthread_create(&burst, NULL, run_leased, &leased), 0);
    await_gate();
    assert_true(pawl__lock_space_break(c->space, pawl__str(KEY)));
    while (counts.lost == 0) {
        assert_ok(pawl_env_sleep_until(c->f->env, pawl_env_monotonic_ns(c->f->env) + MS), NULL);
        pawl__locks_counts(leased.locks, &counts);
    }
    open_gate();
    assert_int_equal(pthread_join(burst, NULL), 0);
    assert_string_not_equal(sub_status(c->f, "i"), "Finished");
    drain_node(c->f, &c->a.node);
    assert_string_equal(sub_status(c->f, "i"), "Finished");
    assert_string_equal(c->f->lines, "one\ntwo\n");
    pawl__distributed_guard_free(leased.guard);
    pawl__locks_free(leased.locks);
}

/* ---- workers ----------------------------------------------------------------------------------
 */

static bool is_finished(struct cluster *c, const char *id)
{
    return strcmp(sub_status(c->f, id), "Finished") == 0;
}

/* Only a hang exceeds the minute. */
static void work_until_finished(struct cluster *c, const char *id)
{
    int64_t until_ns = pawl_env_monotonic_ns(c->f->env) + 60000 * MS;

    while (!is_finished(c, id)) {
        int64_t now_ns = pawl_env_monotonic_ns(c->f->env);

        assert_true(now_ns < until_ns);
        drain_node(c->f, &c->a.node);
        assert_ok(pawl_env_sleep_until(c->f->env, now_ns + MS), NULL);
    }
}

static void mail_of_a_locked_instance_is_put_off_and_others_are_not(void **state)
{
    struct cluster *c = *state;
    struct pawl_lock lock;

    publish(c->f, GO);
    start_on(c, &c->a, "i");
    start_on(c, &c->a, "j");
    lock = hold(c, KEY);
    (void)send(c->f, "Go");
    work_until_finished(c, "j");
    assert_string_equal(sub_status(c->f, "i"), "Suspended");
    assert_true(count(c->f, PAWL_TABLE_WORK) > 0);
    let_go(c, lock);
    work_until_finished(c, "i");
    assert_int_equal(count(c->f, PAWL_TABLE_WORK), 0);
}

/* Its holder is paused, or has forgotten it: the store's claim decides in the end. */
static void a_lock_that_is_never_given_back_holds_up_nothing_for_ever(void **state)
{
    struct cluster *c = *state;

    publish(c->f, GO);
    start_on(c, &c->a, "i");
    c->a.distribution.patience_ns = 300 * MS;
    member_reguard(c->f, &c->a, "one");
    (void)hold(c, KEY);
    (void)send(c->f, "Go");
    work_until_finished(c, "i");
    assert_int_equal(said_count(&c->a.said, "lock is held for too long, the store decides"), 1);
}

static void a_lock_service_that_is_away_stops_workers_for_a_while_and_callers_are_told(void **state)
{
    struct cluster *c = *state;

    publish(c->f, GO);
    start_on(c, &c->a, "i");
    c->a.distribution.patience_ns = 3600000 * MS;
    c->a.distribution.retry.retries_max = 0;
    member_reguard(c->f, &c->a, "one");
    plan_failures(&c->a.plan, PAWL_LOCK_CALL_TRY, UINT32_MAX, PAWL_LOCK_FAULT_BEFORE, 0);
    assert_code(run_on(c, &c->a, "i"), PAWL_EUNAVAILABLE);
    (void)send(c->f, "Go");
    drain_node(c->f, &c->a.node);
    assert_false(is_finished(c, "i"));
    c->a.distribution.patience_ns = 20 * MS;
    member_reguard(c->f, &c->a, "one");
    work_until_finished(c, "i");
    assert_int_equal(said_count(&c->a.said, "lock service is unavailable, continuing"), 1);
    assert_code(run_on(c, &c->a, "i"), PAWL_EUNAVAILABLE);
}

static void nor_does_it_hold_up_callers(void **state)
{
    struct cluster *c = *state;

    publish(c->f, GO);
    start_on(c, &c->a, "i");
    c->a.distribution.patience_ns = 20 * MS;
    member_reguard(c->f, &c->a, "one");
    (void)hold(c, KEY);
    assert_ok(run_on(c, &c->a, "i"), &c->f->err);
}

/* ---- tickets -----------------------------------------------------------------------------------
 */

struct ticketing {
    struct pawl_lock_provider base;
};

static int make_ticket(struct pawl_lock_provider *provider, struct pawl_str name,
                       struct pawl_lock_ticket *out, struct pawl_error *err)
{
    (void)provider;
    (void)err;
    out->key = (int64_t)name.len;
    return PAWL_OK;
}

static void close_ticketing(struct pawl_lock_provider *provider)
{
    (void)provider;
}

static void a_ticket_is_given_until_its_lock_has_been_refused_for_too_long(void **state)
{
    static const struct pawl_lock_provider_ops ops = {.version = PAWL_LOCK_VERSION,
                                                      .caps = PAWL_LOCK_CAP_TICKET,
                                                      .close = close_ticketing,
                                                      .ticket = make_ticket};
    struct cluster *c = *state;
    struct ticketing provider = {{&ops, "ticketing", NULL}};
    struct pawl_distribution distribution;
    struct pawl_guard_pass pass = {0};
    struct pawl_locks *locks;
    struct pawl_guard *guard;

    assert_ok(pawl__locks_new(c->f->env, &provider.base, NULL, &locks, &c->f->err), &c->f->err);
    pawl__distribution_init(&distribution, c->f->env, locks);
    distribution.tickets = true;
    distribution.patience_ns = 10 * MS;
    distribution.log = &c->a.said.log;
    assert_ok(pawl__distributed_guard_new(&distribution, &guard, &c->f->err), &c->f->err);
    for (int granted = 0; granted < 2; granted++) {
        assert_ok(pawl__guard_enter(guard, pawl__str("i"), PAWL_GUARD_TRY, later(c->f), &pass,
                                    &c->f->err),
                  &c->f->err);
        assert_int_equal(pass.number, 0);
        assert_int_equal(pass.ticket.key, strlen(KEY));
        assert_true(pawl__guard_is_valid(guard, pass));
        while (!granted && pass.ticket.key != 0) {
            pawl__guard_claimed(guard, pawl__str("i"), pass, PAWL_EBUSY);
            pawl__guard_leave(guard, pawl__str("i"), pass);
            assert_ok(pawl__guard_enter(guard, pawl__str("i"), PAWL_GUARD_WAIT, later(c->f), &pass,
                                        &c->f->err),
                      &c->f->err);
        }
        /* What is granted, with or without, ends that. */
        pass.ticket.key = 1;
        pawl__guard_claimed(guard, pawl__str("i"), pass, PAWL_OK);
    }
    assert_int_equal(said_count(&c->a.said, "the store decides"), 1);
    pawl__distributed_guard_free(guard);
    pawl__locks_free(locks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(acquisition_that_fails_once_or_twice_succeeds_with_one_attempt_more),
        CLUSTER_TEST(four_failures_end_it_after_four_attempts),
        CLUSTER_TEST(an_error_that_does_not_pass_is_not_tried_again),
        CLUSTER_TEST(an_answer_that_was_lost_is_an_attempt_that_failed),
        CLUSTER_TEST(how_often_it_is_tried_is_a_setting),
        CLUSTER_TEST(the_same_when_an_instance_is_run),
        CLUSTER_TEST(a_release_that_fails_is_logged_and_the_call_succeeds),
        CLUSTER_TEST(an_instance_that_another_node_is_at_times_out),
        CLUSTER_TEST(what_is_not_locked_goes_through),
        CLUSTER_TEST(a_delete_during_a_burst_waits_and_the_row_does_not_come_back),
        CLUSTER_TEST(a_burst_whose_lock_is_lost_stops_and_another_node_goes_on),
        CLUSTER_TEST(mail_of_a_locked_instance_is_put_off_and_others_are_not),
        CLUSTER_TEST(a_lock_that_is_never_given_back_holds_up_nothing_for_ever),
        CLUSTER_TEST(nor_does_it_hold_up_callers),
        CLUSTER_TEST(a_lock_service_that_is_away_stops_workers_for_a_while_and_callers_are_told),
        CLUSTER_TEST(a_ticket_is_given_until_its_lock_has_been_refused_for_too_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
