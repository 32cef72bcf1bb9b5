/* SPDX-License-Identifier: Apache-2.0 */
#include "os/baton.h"
#include "lib/test.h"
#include "unit/os/bounded_queue.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOUR_NS (INT64_C(3600) * 1000000000)

/* A baton with one environment "node-a", over an allocator that notices leaks. */
struct fixture {
    struct test_allocator alloc;
    struct pawl_baton *baton;
    struct pawl_env *env;
    struct pawl_error err;
};

static void open_fixture(struct fixture *f, uint64_t seed, const struct pawl_baton_options *options)
{
    *f = (struct fixture){0};
    test_allocator_init(&f->alloc);
    assert_ok(pawl__baton_new(&f->alloc.base, seed, options, &f->baton), NULL);
    assert_ok(pawl__baton_env(f->baton, "node-a", &f->env), NULL);
}

static void close_fixture(struct fixture *f)
{
    pawl__baton_free(f->baton);
    assert_int_equal(f->alloc.live_count, 0);
}

static struct pawl_thread *start(struct pawl_env *env, const char *name, void (*run)(void *arg),
                                 void *arg)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_thread *thread = NULL;

    assert_ok(pawl_thread_start(env, name, run, arg, &thread, &err), &err);
    return thread;
}

static void assert_has(struct pawl_str text, const char *part)
{
    if (!memmem(text.ptr, text.len, part, strlen(part)))
        fail_msg("\"%s\" is not in:\n%.*s", part, PAWL_STR_ARG(text));
}

/* ---- determinism ------------------------------------------------------------------------- */

struct outcome {
    uint64_t hash;
    uint64_t step_count;
    char *trace; /* malloc'ed */
};

static struct outcome run_queue(uint64_t seed, const struct pawl_baton_options *options)
{
    struct fixture f;
    struct queue_program q;
    struct outcome outcome;
    struct pawl_str trace;

    open_fixture(&f, seed, options);
    assert_ok(queue_init(&q, f.env, 3), NULL);
    assert_ok(queue_start(&q), NULL);
    assert_ok(pawl__baton_run(f.baton, &f.err), &f.err);
    queue_join(&q);
    assert_int_equal(q.consumed, 6);
    assert_int_equal(q.sum, 0 + 1 + 2 + 3 + 4 + 5);
    queue_release(&q);
    trace = pawl__baton_trace(f.baton);
    outcome.hash = pawl__baton_trace_hash(f.baton);
    outcome.step_count = pawl__baton_step_count(f.baton);
    outcome.trace = strndup(trace.ptr, trace.len);
    assert_non_null(outcome.trace);
    close_fixture(&f);
    return outcome;
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void same_seed_takes_the_same_steps_and_others_take_others(void **state)
{
    enum { SEEDS = 1000 };
    uint64_t hashes[SEEDS];
    int distinct = 1;

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct outcome first = run_queue(seed, NULL), second = run_queue(seed, NULL);

        assert_string_equal(first.trace, second.trace);
        assert_true(first.hash == second.hash);
        assert_true(first.step_count == second.step_count);
        hashes[seed] = first.hash;
        free(first.trace);
        free(second.trace);
    }
    qsort(hashes, SEEDS, sizeof hashes[0], compare_hashes);
    for (int i = 1; i < SEEDS; i++)
        distinct += hashes[i] != hashes[i - 1];
    assert_true(distinct > SEEDS * 99 / 100);
}

static void pauses_and_spurious_wakeups_are_repeated_too(void **state)
{
    const struct pawl_baton_options options = {
        .spurious_ppm = 100000, .pause_ppm = 100000, .pause_ns_max = 1000000};

    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct outcome plain = run_queue(seed, NULL);
        struct outcome first = run_queue(seed, &options), second = run_queue(seed, &options);

        assert_string_equal(first.trace, second.trace);
        assert_string_not_equal(first.trace, plain.trace);
        free(plain.trace);
        free(first.trace);
        free(second.trace);
    }
}

static void trace_names_threads_and_objects_and_keeps_the_newest(void **state)
{
    const struct pawl_baton_options options = {.trace_bytes = 2048};
    struct outcome whole = run_queue(7, NULL), cut = run_queue(7, &options);
    size_t whole_length = strlen(whole.trace), cut_length = strlen(cut.trace);

    (void)state;
    assert_has(pawl__str(whole.trace), "1 1.000000000 node-a/");
    assert_has(pawl__str(whole.trace), "node-a/producer lock queue#1 -> node-a/");
    assert_has(pawl__str(whole.trace), "node-a/consumer#2 ");
    assert_true(whole_length > 2048);
    assert_true(cut_length <= 2048 && cut_length > 512);
    assert_string_equal(cut.trace, whole.trace + whole_length - cut_length);
    assert_int_equal(whole.trace[whole_length - cut_length - 1], '\n');
    assert_true(whole.hash == cut.hash);
    free(whole.trace);
    free(cut.trace);
}

/* ---- what it finds ----------------------------------------------------------------------- */

/* The classical mistake: looks at the flag before it takes the mutex, then waits without looking.
 */
struct lost_wakeup {
    struct pawl_env *env;
    struct pawl_mutex *mutex;
    struct pawl_cond *ready_cond;
    bool ready;
};

static void wait_without_looking_again(void *arg)
{
    struct lost_wakeup *p = arg;
    bool ready = p->ready; /* outside of the mutex: this is the bug */

    if (pawl_mutex_lock(p->env, p->mutex) != PAWL_OK)
        return;
    if (!ready)
        (void)!pawl_cond_wait(p->env, p->ready_cond, p->mutex, PAWL_FOREVER);
    pawl_mutex_unlock(p->env, p->mutex);
}

static void make_ready(void *arg)
{
    struct lost_wakeup *p = arg;

    if (pawl_mutex_lock(p->env, p->mutex) != PAWL_OK)
        return;
    p->ready = true;
    pawl_cond_signal(p->env, p->ready_cond);
    pawl_mutex_unlock(p->env, p->mutex);
}

static int run_lost_wakeup(uint64_t seed, struct fixture *f)
{
    struct lost_wakeup p = {0};
    int status;

    open_fixture(f, seed, NULL);
    p.env = f->env;
    assert_ok(pawl_mutex_new(f->env, "gate", &p.mutex), NULL);
    assert_ok(pawl_cond_new(f->env, "ready", &p.ready_cond), NULL);
    (void)start(f->env, "waiter", wait_without_looking_again, &p);
    (void)start(f->env, "maker", make_ready, &p);
    status = pawl__baton_run(f->baton, &f->err);
    pawl_cond_free(f->env, p.ready_cond);
    pawl_mutex_free(f->env, p.mutex);
    return status;
}

static void finds_a_lost_wakeup_and_names_waiter_and_condition(void **state)
{
    int found = 0, missed = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct fixture f;
        int status = run_lost_wakeup(seed, &f);

        if (status == PAWL_OK) {
            missed++;
            assert_str(pawl__baton_report(f.baton), "");
        } else {
            assert_code(status, PAWL_EDEADLOCK);
            assert_int_equal(f.err.code, PAWL_EDEADLOCK);
            assert_has(pawl__str(f.err.msg), "node-a/waiter waits for condition \"ready#2\"");
            assert_has(pawl__baton_report(f.baton),
                       "\n  node-a/waiter waits for condition \"ready#2\"\n");
            found++;
        }
        close_fixture(&f);
    }
    assert_true(found > 0 && missed > 0);
}

/* One condition for two kinds of waiters, and a signal instead of a broadcast. */
struct shared_cond {
    struct pawl_env *env;
    struct pawl_mutex *mutex;
    struct pawl_cond *changed;
    int value; /* 0, then 1, then 2 */
};

static void await_value(struct shared_cond *p, int wanted, int then)
{
    int status = pawl_mutex_lock(p->env, p->mutex);

    if (status != PAWL_OK)
        return;
    while (p->value != wanted && status == PAWL_OK)
        status = pawl_cond_wait(p->env, p->changed, p->mutex, PAWL_FOREVER);
    if (status == PAWL_OK) {
        p->value = then;
        pawl_cond_signal(p->env, p->changed); /* may wake one who waits for another value */
    }
    pawl_mutex_unlock(p->env, p->mutex);
}

static void zero_to_one(void *arg)
{
    await_value(arg, 0, 1);
}

static void one_to_two(void *arg)
{
    await_value(arg, 1, 2);
}

static void two_to_three(void *arg)
{
    await_value(arg, 2, 3);
}

static void finds_a_signal_that_should_be_a_broadcast(void **state)
{
    int found = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct fixture f;
        struct shared_cond p = {0};
        int status;

        open_fixture(&f, seed, NULL);
        p.env = f.env;
        assert_ok(pawl_mutex_new(f.env, "value", &p.mutex), NULL);
        assert_ok(pawl_cond_new(f.env, "changed", &p.changed), NULL);
        (void)start(f.env, "second", one_to_two, &p);
        (void)start(f.env, "third", two_to_three, &p);
        (void)start(f.env, "first", zero_to_one, &p);
        status = pawl__baton_run(f.baton, &f.err);
        if (status != PAWL_OK) {
            assert_code(status, PAWL_EDEADLOCK);
            assert_has(pawl__str(f.err.msg), "node-a/second waits for condition \"changed#2\"");
            found++;
        }
        pawl_cond_free(f.env, p.changed);
        pawl_mutex_free(f.env, p.mutex);
        close_fixture(&f);
    }
    assert_true(found > 0);
}

struct two_locks {
    struct pawl_env *env;
    struct pawl_mutex *a, *b;
};

static void lock_both(struct pawl_env *env, struct pawl_mutex *first, struct pawl_mutex *second)
{
    if (pawl_mutex_lock(env, first) != PAWL_OK)
        return;
    if (pawl_mutex_lock(env, second) == PAWL_OK)
        pawl_mutex_unlock(env, second);
    pawl_mutex_unlock(env, first);
}

static void lock_a_then_b(void *arg)
{
    struct two_locks *p = arg;

    lock_both(p->env, p->a, p->b);
}

static void lock_b_then_a(void *arg)
{
    struct two_locks *p = arg;

    lock_both(p->env, p->b, p->a);
}

/* Something that never comes to rest: a deadlock must be found beside it. */
static void tick_for_ever(void *arg)
{
    struct two_locks *p = arg;
    int64_t at_ns = pawl_env_monotonic_ns(p->env);

    while (pawl_env_sleep_until(p->env, at_ns += HOUR_NS) == PAWL_OK)
        continue;
}

static int run_two_locks(uint64_t seed, bool with_ticker, struct fixture *f)
{
    const struct pawl_baton_options options = {.max_steps = 500};
    struct two_locks p = {0};
    int status;

    open_fixture(f, seed, &options);
    p.env = f->env;
    assert_ok(pawl_mutex_new(f->env, "a", &p.a), NULL);
    assert_ok(pawl_mutex_new(f->env, "b", &p.b), NULL);
    (void)start(f->env, "ab", lock_a_then_b, &p);
    (void)start(f->env, "ba", lock_b_then_a, &p);
    if (with_ticker)
        (void)start(f->env, "ticker", tick_for_ever, &p);
    status = pawl__baton_run(f->baton, &f->err);
    pawl_mutex_free(f->env, p.a);
    pawl_mutex_free(f->env, p.b);
    return status;
}

static void finds_locks_taken_in_opposite_order_and_says_who_holds_what(void **state)
{
    int found = 0, missed = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct fixture f;
        int status = run_two_locks(seed, false, &f);

        if (status == PAWL_OK) {
            missed++;
        } else {
            assert_code(status, PAWL_EDEADLOCK);
            assert_has(pawl__baton_report(f.baton),
                       "node-a/ab waits for mutex \"b#2\", held by node-a/ba\n");
            assert_has(pawl__baton_report(f.baton),
                       "node-a/ba waits for mutex \"a#1\", held by node-a/ab\n");
            found++;
        }
        close_fixture(&f);
    }
    assert_true(found > 0 && missed > 0);
}

static void finds_a_circle_while_other_threads_go_on(void **state)
{
    int found = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct fixture f;
        int status = run_two_locks(seed, true, &f);

        /* Without a circle the ticker goes on until its steps are used up. */
        if (status != PAWL_ELIMIT) {
            assert_code(status, PAWL_EDEADLOCK);
            assert_has(pawl__baton_report(f.baton), "threads wait for each other");
            found++;
        } else {
            assert_has(pawl__str(f.err.msg), "livelock");
        }
        close_fixture(&f);
    }
    assert_true(found > 0);
}

/* ---- time -------------------------------------------------------------------------------- */

struct times {
    struct pawl_env *env;
    struct pawl_mutex *mutex;
    struct pawl_cond *cond;
    int64_t monotonic_ns[3], wall_ns[3];
    int sleep_status, wait_status, past_status;
};

static void read_clocks(struct times *t, int at)
{
    t->monotonic_ns[at] = pawl_env_monotonic_ns(t->env);
    t->wall_ns[at] = pawl_env_wall_ns(t->env);
}

static void sleep_and_time_out(void *arg)
{
    struct times *t = arg;

    read_clocks(t, 0);
    t->sleep_status = pawl_env_sleep_until(t->env, t->monotonic_ns[0] + HOUR_NS);
    read_clocks(t, 1);
    t->past_status = pawl_env_sleep_until(t->env, t->monotonic_ns[0]);
    if (pawl_mutex_lock(t->env, t->mutex) != PAWL_OK)
        return;
    t->wait_status = pawl_cond_wait(t->env, t->cond, t->mutex, t->monotonic_ns[1] + HOUR_NS);
    read_clocks(t, 2);
    pawl_mutex_unlock(t->env, t->mutex);
}

static void time_jumps_to_the_next_wakeup(void **state)
{
    struct fixture f;
    struct times t = {0};

    (void)state;
    open_fixture(&f, 1, NULL);
    t.env = f.env;
    assert_ok(pawl_mutex_new(f.env, "m", &t.mutex), NULL);
    assert_ok(pawl_cond_new(f.env, "c", &t.cond), NULL);
    (void)start(f.env, "sleeper", sleep_and_time_out, &t);
    assert_ok(pawl__baton_run(f.baton, &f.err), &f.err);
    assert_code(t.sleep_status, PAWL_OK);
    assert_code(t.past_status, PAWL_OK);
    assert_code(t.wait_status, PAWL_ETIMEDOUT);
    assert_true(t.monotonic_ns[0] == PAWL_BATON_MONOTONIC_START_NS);
    assert_true(t.wall_ns[0] == PAWL_BATON_WALL_START_NS);
    for (int i = 1; i < 3; i++) {
        assert_true(t.monotonic_ns[i] == t.monotonic_ns[i - 1] + HOUR_NS);
        assert_true(t.wall_ns[i] == t.wall_ns[i - 1] + HOUR_NS);
    }
    pawl_cond_free(f.env, t.cond);
    pawl_mutex_free(f.env, t.mutex);
    close_fixture(&f);
}

static void entropy_comes_from_the_seed(void **state)
{
    unsigned char bytes[3][20] = {{0}};

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct fixture f;

        open_fixture(&f, i == 2 ? 6 : 5, NULL);
        assert_ok(pawl_env_entropy(f.env, bytes[i], 19, &f.err), &f.err);
        assert_int_equal(bytes[i][19], 0);
        close_fixture(&f);
    }
    assert_memory_equal(bytes[0], bytes[1], 19);
    assert_memory_not_equal(bytes[0], bytes[2], 19);
}

/* ---- stopping ---------------------------------------------------------------------------- */

/* A node with one thread in each kind of wait. */
struct node {
    struct pawl_env *env;
    struct pawl_mutex *mutex, *busy;
    struct pawl_cond *cond;
    int wait_status, sleep_status, lock_status, start_status, late_lock_status;
    bool held_after_wait;
};

static void wait_for_ever(void *arg)
{
    struct node *n = arg;

    if (pawl_mutex_lock(n->env, n->mutex) != PAWL_OK)
        return;
    do {
        n->wait_status = pawl_cond_wait(n->env, n->cond, n->mutex, PAWL_FOREVER);
    } while (n->wait_status == PAWL_OK);
    n->held_after_wait = true; /* the baton aborts if the unlock is not by the owner */
    pawl_mutex_unlock(n->env, n->mutex);
    n->late_lock_status = pawl_mutex_lock(n->env, n->mutex);
}

static void sleep_for_ever(void *arg)
{
    struct node *n = arg;
    struct pawl_thread *thread;

    n->sleep_status = pawl_env_sleep_until(n->env, PAWL_FOREVER);
    n->start_status = pawl_thread_start(n->env, "late", sleep_for_ever, n, &thread, NULL);
}

static void hold_busy(void *arg)
{
    struct node *n = arg;

    if (pawl_mutex_lock(n->env, n->busy) != PAWL_OK)
        return;
    (void)!pawl_env_sleep_until(n->env, PAWL_FOREVER);
    pawl_mutex_unlock(n->env, n->busy);
}

static void lock_busy(void *arg)
{
    struct node *n = arg;

    (void)!pawl_env_sleep_until(n->env, pawl_env_monotonic_ns(n->env) + 1);
    n->lock_status = pawl_mutex_lock(n->env, n->busy);
    if (n->lock_status == PAWL_OK)
        pawl_mutex_unlock(n->env, n->busy);
}

static void run_node(void *arg)
{
    struct node *n = arg;
    void (*const bodies[])(void *) = {wait_for_ever, sleep_for_ever, hold_busy, lock_busy};
    struct pawl_thread *threads[4] = {NULL};

    for (int i = 0; i < 4; i++) {
        if (pawl_thread_start(n->env, "worker", bodies[i], n, &threads[i], NULL) != PAWL_OK)
            threads[i] = NULL;
    }
    for (int i = 0; i < 4; i++) {
        if (threads[i])
            pawl_thread_join(n->env, threads[i]);
    }
}

struct killer {
    struct pawl_env *env, *victim;
    struct queue_program *queue;
};

static void kill_after_an_hour(void *arg)
{
    struct killer *k = arg;

    (void)!pawl_env_sleep_until(k->env, pawl_env_monotonic_ns(k->env) + HOUR_NS);
    pawl__baton_env_stop(k->victim);
    (void)!queue_start(k->queue); /* and the other node has all its life before it */
}

static void a_stopped_node_unwinds_while_another_finishes(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct fixture f;
        struct node n = {0};
        struct queue_program q;
        struct killer k;

        open_fixture(&f, seed, NULL);
        n.env = f.env;
        assert_ok(pawl__baton_env(f.baton, "node-b", &k.env), NULL);
        k.victim = f.env;
        k.queue = &q;
        assert_ok(pawl_mutex_new(f.env, "m", &n.mutex), NULL);
        assert_ok(pawl_mutex_new(f.env, "busy", &n.busy), NULL);
        assert_ok(pawl_cond_new(f.env, "never", &n.cond), NULL);
        assert_ok(queue_init(&q, k.env, 2), NULL);
        (void)start(f.env, "main", run_node, &n);
        (void)start(k.env, "killer", kill_after_an_hour, &k);
        assert_ok(pawl__baton_run(f.baton, &f.err), &f.err);
        assert_code(n.wait_status, PAWL_ESTOPPED);
        assert_true(n.held_after_wait);
        assert_code(n.late_lock_status, PAWL_ESTOPPED);
        assert_code(n.sleep_status, PAWL_ESTOPPED);
        assert_code(n.start_status, PAWL_ESTOPPED);
        assert_code(n.lock_status, PAWL_ESTOPPED);
        assert_int_equal(q.consumed, 4);
        queue_join(&q);
        queue_release(&q);
        pawl_cond_free(f.env, n.cond);
        pawl_mutex_free(f.env, n.busy);
        pawl_mutex_free(f.env, n.mutex);
        close_fixture(&f);
    }
}

/* Polls: it never waits for long, and never comes to an end. */
static void poll_for_ever(void *arg)
{
    struct node *n = arg;

    while (pawl_mutex_lock(n->env, n->mutex) == PAWL_OK)
        pawl_mutex_unlock(n->env, n->mutex);
}

static void a_livelock_ends_after_the_steps_allowed(void **state)
{
    const struct pawl_baton_options options = {.max_steps = 300};
    struct fixture f;
    struct node n = {0};

    (void)state;
    open_fixture(&f, 3, &options);
    n.env = f.env;
    assert_ok(pawl_mutex_new(f.env, "m", &n.mutex), NULL);
    (void)start(f.env, "poller", poll_for_ever, &n);
    (void)start(f.env, "poller", poll_for_ever, &n);
    assert_code(pawl__baton_run(f.baton, &f.err), PAWL_ELIMIT);
    assert_has(pawl__baton_report(f.baton), "livelock");
    assert_has(pawl__baton_report(f.baton), "node-a/poller#2");
    pawl_mutex_free(f.env, n.mutex);
    close_fixture(&f);
}

/* ---- independence, memory ---------------------------------------------------------------- */

struct batch {
    uint64_t hashes[40];
};

/* On a real thread: checks nothing, so that no cmocka call is made off the main thread. */
static void run_batch(void *arg)
{
    struct batch *batch = arg;

    for (uint64_t seed = 0; seed < 40; seed++) {
        struct test_allocator alloc;
        struct pawl_baton *baton = NULL;
        struct pawl_env *env = NULL;
        struct queue_program q;

        test_allocator_init(&alloc);
        if (pawl__baton_new(&alloc.base, seed, NULL, &baton) != PAWL_OK)
            return;
        if (pawl__baton_env(baton, "node-a", &env) == PAWL_OK &&
            queue_init(&q, env, 3) == PAWL_OK) {
            if (queue_start(&q) == PAWL_OK && pawl__baton_run(baton, NULL) == PAWL_OK)
                batch->hashes[seed] = pawl__baton_trace_hash(baton);
            queue_release(&q);
        }
        pawl__baton_free(baton);
    }
}

static void two_batons_at_the_same_time_do_not_disturb_each_other(void **state)
{
    struct batch batches[2] = {{{0}}};
    struct pawl_env *world;
    struct pawl_thread *threads[2];
    struct pawl_error err = PAWL_ERROR_INIT;

    (void)state;
    assert_ok(pawl_system_env_open(&world, &err), &err);
    for (int i = 0; i < 2; i++)
        threads[i] = start(world, "batch", run_batch, &batches[i]);
    for (int i = 0; i < 2; i++)
        pawl_thread_join(world, threads[i]);
    pawl_system_env_close(world);
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct outcome alone = run_queue(seed, NULL);

        assert_true(batches[0].hashes[seed] == alone.hash);
        assert_true(batches[1].hashes[seed] == alone.hash);
        free(alone.trace);
    }
}

static int whole_life(struct test_allocator *alloc, void *arg)
{
    struct pawl_baton *baton = NULL;
    struct pawl_env *env = NULL;
    struct queue_program q;
    int status;

    (void)arg;
    status = pawl__baton_new(&alloc->base, 1, NULL, &baton);
    if (status != PAWL_OK)
        return status;
    status = pawl__baton_env(baton, "node-a", &env);
    if (status == PAWL_OK)
        status = queue_init(&q, env, 1);
    if (status == PAWL_OK) {
        status = queue_start(&q);
        if (status == PAWL_OK)
            status = pawl__baton_run(baton, NULL);
        queue_release(&q);
    }
    pawl__baton_free(baton); /* drops the threads that never ran */
    return status;
}

static void survives_refused_allocations(void **state)
{
    (void)state;
    test_sweep_allocations(whole_life, NULL, 100);
}

/* ---- looking ----------------------------------------------------------------------------- */

struct looker {
    struct pawl_mutex *mutex;
    uint64_t count;
    uint64_t held;
};

static void look(void *ctx)
{
    struct looker *looker = ctx;

    looker->count++;
    looker->held += looker->mutex && !pawl__baton_mutex_is_free(looker->mutex);
}

static void who_looks_sees_every_step_and_changes_none(void **state)
{
    struct looker looker = {0};
    const struct pawl_baton_options options = {.look = look, .look_ctx = &looker};
    struct outcome unseen = run_queue(5, NULL), seen = run_queue(5, &options);

    (void)state;
    assert_true(seen.hash == unseen.hash);
    assert_int_equal(looker.count, seen.step_count);
    free(unseen.trace);
    free(seen.trace);
}

static void hold_for_a_while(void *arg)
{
    struct node *n = arg;

    assert_int_equal(pawl_mutex_lock(n->env, n->mutex), PAWL_OK);
    (void)!pawl_env_sleep_until(n->env, pawl_env_monotonic_ns(n->env) + 1);
    pawl_mutex_unlock(n->env, n->mutex);
}

static void who_looks_sees_whether_a_mutex_is_free(void **state)
{
    struct looker looker = {0};
    const struct pawl_baton_options options = {.look = look, .look_ctx = &looker};
    struct fixture f;
    struct node n = {0};

    (void)state;
    open_fixture(&f, 1, &options);
    n.env = f.env;
    assert_int_equal(pawl_mutex_new(f.env, "m", &n.mutex), PAWL_OK);
    looker.mutex = n.mutex;
    (void)start(f.env, "holder", hold_for_a_while, &n);
    assert_ok(pawl__baton_run(f.baton, NULL), NULL);
    assert_int_equal(looker.held, 1); /* the sleep */
    assert_true(looker.count > looker.held);
    pawl_mutex_free(f.env, n.mutex);
    close_fixture(&f);
}

/* ---- misuse ------------------------------------------------------------------------------ */

static void unlock_what_is_not_held(void *arg)
{
    struct node *n = arg;

    pawl_mutex_unlock(n->env, n->mutex);
}

static void lock_twice(void *arg)
{
    struct node *n = arg;

    (void)!pawl_mutex_lock(n->env, n->mutex);
    (void)!pawl_mutex_lock(n->env, n->mutex);
}

static void end_while_holding(void *arg)
{
    struct node *n = arg;

    (void)!pawl_mutex_lock(n->env, n->mutex);
}

static void ignore_the_stop(void *arg)
{
    struct node *n = arg;

    for (;;)
        (void)!pawl_env_sleep_until(n->env, PAWL_FOREVER);
}

/* Runs a thread in a child process and demands that the baton aborts, saying `part`. */
static void assert_aborts(void (*misuse)(void *arg), const char *part)
{
    int ends[2], status;
    char text[1000] = {0};
    size_t length = 0;
    ssize_t got;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct rlimit no_core = {0, 0};
        const struct pawl_baton_options options = {.max_steps = 100};
        struct fixture f;
        struct node n = {0};

        (void)setrlimit(RLIMIT_CORE, &no_core);
        (void)signal(SIGABRT, SIG_DFL);
        (void)dup2(ends[1], STDERR_FILENO);
        open_fixture(&f, 1, &options);
        n.env = f.env;
        if (pawl_mutex_new(f.env, "m", &n.mutex) == PAWL_OK) {
            (void)start(f.env, "careless", misuse, &n);
            (void)!pawl__baton_run(f.baton, NULL);
        }
        _exit(0);
    }
    (void)close(ends[1]);
    while ((got = read(ends[0], text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)got;
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_has(pawl__str(text), part);
    assert_has(pawl__str(text), "(seed 1, step ");
}

static void misuse_is_noticed(void **state)
{
    (void)state;
    assert_aborts(unlock_what_is_not_held, "node-a/careless unlocks mutex \"m#1\", held by nobody");
    assert_aborts(lock_twice, "node-a/careless locks mutex \"m#1\", which it holds");
    assert_aborts(end_while_holding, "node-a/careless ends and still holds 1 mutexes");
    assert_aborts(ignore_the_stop, "in spite of PAWL_ESTOPPED");
    pawl__baton_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_seed_takes_the_same_steps_and_others_take_others),
        cmocka_unit_test(pauses_and_spurious_wakeups_are_repeated_too),
        cmocka_unit_test(trace_names_threads_and_objects_and_keeps_the_newest),
        cmocka_unit_test(finds_a_lost_wakeup_and_names_waiter_and_condition),
        cmocka_unit_test(finds_a_signal_that_should_be_a_broadcast),
        cmocka_unit_test(finds_locks_taken_in_opposite_order_and_says_who_holds_what),
        cmocka_unit_test(finds_a_circle_while_other_threads_go_on),
        cmocka_unit_test(time_jumps_to_the_next_wakeup),
        cmocka_unit_test(entropy_comes_from_the_seed),
        cmocka_unit_test(a_stopped_node_unwinds_while_another_finishes),
        cmocka_unit_test(a_livelock_ends_after_the_steps_allowed),
        cmocka_unit_test(two_batons_at_the_same_time_do_not_disturb_each_other),
        cmocka_unit_test(survives_refused_allocations),
        cmocka_unit_test(who_looks_sees_every_step_and_changes_none),
        cmocka_unit_test(who_looks_sees_whether_a_mutex_is_free),
        cmocka_unit_test(misuse_is_noticed),
    };

    return cmocka_run_group_tests_name("os/baton", tests, NULL, NULL);
}
