/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The front end when the service does not do what it should, in simulated time: answers that are
 * lost or late, renewals that fail, locks that are taken away, an environment that stops.
 */
#include "locks/locks.h"
#include "lib/test.h"
#include "locks/locks_private.h"
#include "locks/providers.h"
#include "os/baton.h"

#include <stdio.h>
#include <stdlib.h>

#define MS INT64_C(1000000)
#define TTL 1000

/* What the next calls of each kind do; the last order stays unless `times` runs out. */
struct script {
    struct pawl_lock_fault_order order[PAWL_LOCK_CALL_COUNT];
    int times[PAWL_LOCK_CALL_COUNT]; /* negative: for ever */
};

static void decide(void *ctx, enum pawl_lock_call call, struct pawl_lock_fault_order *order)
{
    struct script *script = ctx;

    if (script->times[call] == 0)
        return;
    if (script->times[call] > 0)
        script->times[call]--;
    *order = script->order[call];
}

/* Two nodes: a goes through the script and is counted, b is plain. */
struct stage {
    struct test_allocator alloc;
    struct pawl_baton *baton;
    struct pawl_env *env, *other;
    struct pawl_lock_space *space;
    struct script script;
    struct pawl_lock_provider *trace;
    struct pawl_locks *a, *b;
    struct pawl_error err;
    int losses;
    int64_t lost_ns;
    void (*body)(struct stage *stage);
};

static void set(struct stage *stage, enum pawl_lock_call call, enum pawl_lock_fault kind, int times)
{
    stage->script.order[call] = (struct pawl_lock_fault_order){.kind = kind};
    stage->script.times[call] = times;
}

static struct pawl_lock_counts traced(struct stage *stage)
{
    struct pawl_lock_counts counts;

    pawl__trace_locks_counts(stage->trace, &counts);
    return counts;
}

static int64_t now(struct stage *stage)
{
    return pawl_env_monotonic_ns(stage->env);
}

static void pass(struct stage *stage, int64_t ms)
{
    assert_code(pawl_env_sleep_until(stage->env, now(stage) + ms * MS), PAWL_OK);
}

static void play(void *arg)
{
    struct stage *stage = arg;
    struct pawl_lock_fault_hooks hooks = {decide, &stage->script};
    struct pawl_lock_provider *memory, *fault;

    assert_code(pawl__memory_locks_open(stage->space, stage->env, TTL, &memory, NULL), PAWL_OK);
    assert_code(pawl__fault_locks_new(stage->env, memory, &hooks, &fault, NULL), PAWL_OK);
    assert_code(pawl__trace_locks_new(stage->env, fault, &stage->trace, NULL), PAWL_OK);
    assert_code(pawl__locks_new(stage->env, stage->trace, NULL, &stage->a, NULL), PAWL_OK);
    assert_code(pawl__memory_locks_open(stage->space, stage->env, TTL, &memory, NULL), PAWL_OK);
    assert_code(pawl__locks_new(stage->env, memory, NULL, &stage->b, NULL), PAWL_OK);
    stage->body(stage);
    pawl__locks_free(stage->a);
    pawl__locks_free(stage->b);
}

static void run_seed(void (*body)(struct stage *stage), uint64_t seed)
{
    struct stage stage = {.body = body};
    struct pawl_thread *thread;

    test_allocator_init(&stage.alloc);
    assert_ok(pawl__baton_new(&stage.alloc.base, seed, NULL, &stage.baton), NULL);
    assert_ok(pawl__baton_env(stage.baton, "node", &stage.env), NULL);
    assert_ok(pawl__baton_env(stage.baton, "space", &stage.other), NULL);
    assert_ok(pawl__lock_space_new(stage.other, &stage.space, &stage.err), &stage.err);
    assert_ok(pawl_thread_start(stage.env, "main", play, &stage, &thread, &stage.err), &stage.err);
    if (pawl__baton_run(stage.baton, &stage.err) != PAWL_OK)
        fail_msg("seed %llu: %s\n%.*s", (unsigned long long)seed, stage.err.msg,
                 PAWL_STR_ARG(pawl__baton_report(stage.baton)));
    pawl__lock_space_free(stage.space);
    pawl__baton_free(stage.baton);
    assert_int_equal(stage.alloc.live_count, 0);
}

static void run(void (*body)(struct stage *stage))
{
    for (uint64_t seed = 0; seed < 25; seed++)
        run_seed(body, seed);
}

static int take(struct stage *stage, struct pawl_locks *locks, struct pawl_lock *lock)
{
    return pawl__locks_try(locks, pawl__str("x"), 0, lock, &stage->err);
}

static void note_loss(void *ctx)
{
    struct stage *stage = ctx;

    stage->losses++;
    stage->lost_ns = now(stage);
}

static int watch(struct stage *stage, struct pawl_lock lock)
{
    return pawl__lock_on_lost(stage->a, lock, note_loss, stage, &stage->err);
}

/* ---- attempts ---------------------------------------------------------------------------- */

static void lose_an_answer(struct stage *stage)
{
    struct pawl_lock lock;

    set(stage, PAWL_LOCK_CALL_TRY, PAWL_LOCK_FAULT_AFTER, 1);
    set(stage, PAWL_LOCK_CALL_RELEASE, PAWL_LOCK_FAULT_BEFORE, 3);
    assert_code(take(stage, stage->a, &lock), PAWL_EUNKNOWN);
    assert_code(pawl__locks_acquire(stage->b, pawl__str("x"), 0, now(stage) + 900 * MS, NULL, &lock,
                                    &stage->err),
                PAWL_OK); /* before the lease of the lost one ends */
    assert_int_equal(traced(stage).calls[PAWL_LOCK_CALL_RELEASE], 4);
    assert_code(pawl__locks_release(stage->b, lock, &stage->err), PAWL_OK);
}

static void what_a_lost_answer_may_have_taken_is_given_back(void **state)
{
    (void)state;
    run(lose_an_answer);
}

static void lose_for_good(struct stage *stage)
{
    struct pawl_locks_counts counts;
    struct pawl_lock lock;

    set(stage, PAWL_LOCK_CALL_TRY, PAWL_LOCK_FAULT_AFTER, 1);
    set(stage, PAWL_LOCK_CALL_RELEASE, PAWL_LOCK_FAULT_BEFORE, -1);
    assert_code(take(stage, stage->a, &lock), PAWL_EUNKNOWN);
    pass(stage, 20 * TTL); /* nobody tries for ever */
    counts.waiting = traced(stage).calls[PAWL_LOCK_CALL_RELEASE];
    pass(stage, 20 * TTL);
    assert_int_equal(traced(stage).calls[PAWL_LOCK_CALL_RELEASE], counts.waiting);
    pawl__locks_counts(stage->a, &counts);
    assert_int_equal(counts.unknown, 1);
    assert_int_equal(counts.held, 0);
    set(stage, PAWL_LOCK_CALL_RELEASE, PAWL_LOCK_FAULT_NONE, 0);
}

static void giving_back_ends_with_the_lease(void **state)
{
    (void)state;
    run(lose_for_good);
}

static void be_refused(struct stage *stage)
{
    struct pawl_lock lock, other;
    int64_t begun = now(stage);

    set(stage, PAWL_LOCK_CALL_TRY, PAWL_LOCK_FAULT_BEFORE, 1);
    assert_code(
        pawl__locks_acquire(stage->a, pawl__str("x"), 0, PAWL_FOREVER, NULL, &lock, &stage->err),
        PAWL_EUNAVAILABLE);
    assert_true(now(stage) - begun < 100 * MS); /* of simulated time: it is not retried here */
    assert_code(take(stage, stage->a, &lock), PAWL_OK);
    assert_code(take(stage, stage->b, &other), PAWL_EBUSY);
    stage->script.order[PAWL_LOCK_CALL_TRY].code = PAWL_EPERM;
    stage->script.times[PAWL_LOCK_CALL_TRY] = 1;
    assert_code(pawl__locks_try(stage->a, pawl__str("y"), 0, &other, &stage->err), PAWL_EPERM);
    assert_code(pawl__locks_release(stage->a, lock, &stage->err), PAWL_OK);
}

static void a_service_that_cannot_be_asked_is_not_busy(void **state)
{
    (void)state;
    run(be_refused);
}

static void be_late(struct stage *stage)
{
    struct pawl_lock lock, other;

    set(stage, PAWL_LOCK_CALL_TRY, PAWL_LOCK_FAULT_GRANT, 1);
    assert_code(take(stage, stage->b, &lock), PAWL_OK);
    assert_code(take(stage, stage->a, &other), PAWL_OK); /* a service that gives it twice */
    assert_code(pawl__locks_release(stage->a, other, &stage->err), PAWL_ENOTFOUND);
    assert_true(pawl__lock_valid(stage->b, lock));
    assert_code(pawl__locks_release(stage->b, lock, &stage->err), PAWL_OK);
}

static void releasing_a_lock_that_was_given_twice_leaves_the_others(void **state)
{
    (void)state;
    run(be_late);
}

/* The service grants it at once, and its reply takes longer than the lease. */
static struct {
    const struct pawl_lock_provider_ops *inner;
    struct pawl_env *env;
} slow;

static int try_slowly(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                      int64_t deadline_ns, struct pawl_error *err)
{
    int status = slow.inner->try_(provider, grant, deadline_ns, err);

    assert_code(pawl_env_sleep_until(slow.env, pawl_env_monotonic_ns(slow.env) + 2 * TTL * MS),
                PAWL_OK);
    return status;
}

static void be_granted_too_late(struct stage *stage)
{
    struct pawl_lock_provider_ops ops;
    struct pawl_lock_provider *memory;
    struct pawl_locks *locks;
    struct pawl_lock lock;

    assert_code(pawl__memory_locks_open(stage->space, stage->env, TTL, &memory, NULL), PAWL_OK);
    slow.inner = memory->ops;
    slow.env = stage->env;
    ops = *memory->ops;
    ops.try_ = try_slowly;
    memory->ops = &ops;
    assert_code(pawl__locks_new(stage->env, memory, NULL, &locks, NULL), PAWL_OK);
    assert_code(take(stage, locks, &lock), PAWL_EUNAVAILABLE);
    pawl__locks_free(locks);
}

static void a_lock_whose_lease_ended_before_the_reply_is_not_held(void **state)
{
    (void)state;
    run(be_granted_too_late);
}

static void fail_to_release(struct stage *stage)
{
    struct pawl_lock lock, other;

    assert_code(take(stage, stage->a, &lock), PAWL_OK);
    set(stage, PAWL_LOCK_CALL_RELEASE, PAWL_LOCK_FAULT_BEFORE, 2);
    assert_code(pawl__locks_release(stage->a, lock, &stage->err), PAWL_EUNAVAILABLE);
    assert_code(pawl__locks_acquire(stage->b, pawl__str("x"), 0, now(stage) + TTL / 2 * MS, NULL,
                                    &other, &stage->err),
                PAWL_OK); /* long before the lease ends */
    assert_code(pawl__locks_release(stage->b, other, &stage->err), PAWL_OK);
}

static void a_release_that_fails_is_tried_again(void **state)
{
    (void)state;
    run(fail_to_release);
}

/* ---- renewing ---------------------------------------------------------------------------- */

static void stumble(struct stage *stage)
{
    struct pawl_lock lock;

    assert_code(take(stage, stage->a, &lock), PAWL_OK);
    assert_code(watch(stage, lock), PAWL_OK);
    for (int i = 0; i < 5; i++) {
        set(stage, PAWL_LOCK_CALL_RENEW, PAWL_LOCK_FAULT_BEFORE, 4);
        pass(stage, TTL);
        assert_true(pawl__lock_valid(stage->a, lock));
    }
    set(stage, PAWL_LOCK_CALL_RENEW, PAWL_LOCK_FAULT_AFTER, 1);
    pass(stage, TTL);
    assert_code(pawl__locks_release(stage->a, lock, &stage->err), PAWL_OK);
    assert_int_equal(stage->losses, 0);
}

static void a_few_failed_renewals_lose_nothing(void **state)
{
    (void)state;
    run(stumble);
}

static void fail_for_good(struct stage *stage)
{
    struct pawl_lock lock, other;
    int64_t granted = now(stage);

    assert_code(take(stage, stage->a, &lock), PAWL_OK);
    assert_code(watch(stage, lock), PAWL_OK);
    set(stage, PAWL_LOCK_CALL_RENEW, PAWL_LOCK_FAULT_BEFORE, -1);
    assert_int_equal(pawl__lock_state(stage->a, lock), PAWL_LOCK_HELD);
    pass(stage, 700);
    assert_int_equal(pawl__lock_state(stage->a, lock), PAWL_LOCK_SUSPECT);
    assert_true(pawl__lock_remaining_ns(stage->a, lock) > 0);
    assert_code(
        pawl__locks_acquire(stage->b, pawl__str("x"), 0, PAWL_FOREVER, NULL, &other, &stage->err),
        PAWL_OK);
    assert_int_equal(stage->losses, 1);
    assert_true(stage->lost_ns - granted <= TTL * MS); /* before anybody else could have it */
    assert_true(now(stage) >= stage->lost_ns);
    assert_int_equal(pawl__lock_state(stage->a, lock), PAWL_LOCK_LOST);
    assert_int_equal(pawl__lock_remaining_ns(stage->a, lock), 0);
    assert_code(pawl__locks_release(stage->a, lock, &stage->err), PAWL_ENOTFOUND);
    assert_int_equal(pawl__lock_state(stage->a, lock), PAWL_LOCK_GONE);
    assert_true(pawl__lock_valid(stage->b, other));
    assert_code(pawl__locks_release(stage->b, other, &stage->err), PAWL_OK);
}

static void a_lease_that_cannot_be_renewed_is_lost_before_others_have_it(void **state)
{
    (void)state;
    run(fail_for_good);
}

static void hang(struct stage *stage)
{
    struct pawl_lock lock;
    int64_t granted = now(stage);

    stage->script.order[PAWL_LOCK_CALL_RENEW].delay_ns = 60 * 1000 * MS;
    stage->script.times[PAWL_LOCK_CALL_RENEW] = 1;
    assert_code(take(stage, stage->a, &lock), PAWL_OK);
    assert_code(watch(stage, lock), PAWL_OK);
    pass(stage, 990); /* the call is under way since about 333 ms, for a minute */
    assert_int_equal(pawl__lock_state(stage->a, lock), PAWL_LOCK_LOST);
    assert_int_equal(stage->losses, 1);
    assert_true(stage->lost_ns - granted <= 990 * MS);
    assert_code(pawl__locks_release(stage->a, lock, &stage->err), PAWL_ENOTFOUND);
}

static void the_end_of_a_lease_is_told_while_a_call_hangs(void **state)
{
    (void)state;
    run(hang);
}

static void be_robbed(struct stage *stage)
{
    struct pawl_lock lock, again;

    assert_code(take(stage, stage->a, &lock), PAWL_OK);
    assert_code(watch(stage, lock), PAWL_OK);
    assert_true(pawl__lock_space_break(stage->space, pawl__str("x")));
    assert_true(pawl__lock_valid(stage->a, lock)); /* nobody knows yet */
    pass(stage, 400);                              /* a renewal */
    assert_int_equal(pawl__lock_state(stage->a, lock), PAWL_LOCK_LOST);
    assert_int_equal(stage->losses, 1);
    assert_code(take(stage, stage->a, &again), PAWL_OK); /* here, too, the name is free */
    assert_code(pawl__locks_release(stage->a, lock, &stage->err), PAWL_ENOTFOUND);
    assert_true(pawl__lock_valid(stage->a, again));
    assert_code(pawl__locks_release(stage->a, again, &stage->err), PAWL_OK);
    assert_code(watch(stage, lock), PAWL_ENOTFOUND);
    assert_int_equal(stage->losses, 1);
}

static void a_lock_that_was_taken_away_is_lost_at_the_next_renewal(void **state)
{
    (void)state;
    run(be_robbed);
}

#define MANY 1000

static void keep_many(struct stage *stage)
{
    static struct pawl_lock locks[MANY];
    uint64_t calls;

    for (int i = 0; i < MANY; i++) {
        char name[16];

        (void)snprintf(name, sizeof name, "n%d", i);
        assert_code(pawl__locks_try(stage->a, pawl__str(name), 0, &locks[i], &stage->err), PAWL_OK);
    }
    pass(stage, TTL);
    calls = traced(stage).calls[PAWL_LOCK_CALL_RENEW];
    assert_true(calls <= 4 * 12); /* thousands of renewals in dozens of calls */
    stage->script.order[PAWL_LOCK_CALL_RENEW].delay_ns = TTL / 6 * MS; /* a stall */
    stage->script.times[PAWL_LOCK_CALL_RENEW] = 1;
    pass(stage, 3 * TTL);
    for (int i = 0; i < MANY; i++)
        assert_true(pawl__lock_valid(stage->a, locks[i]));
    for (int i = 0; i < MANY; i++)
        assert_code(pawl__locks_release(stage->a, locks[i], &stage->err), PAWL_OK);
}

static void a_thousand_leases_are_kept_over_a_stall(void **state)
{
    (void)state;
    run_seed(keep_many, 1);
}

/* ---- handles, limits --------------------------------------------------------------------- */

static void try_handles(struct stage *stage)
{
    struct pawl_lock lock, next, wrong = {.number = UINT64_C(0xdeadbeef00000001)};

    assert_int_equal(pawl__lock_state(stage->a, (struct pawl_lock){0}), PAWL_LOCK_GONE);
    assert_int_equal(pawl__lock_state(stage->a, wrong), PAWL_LOCK_GONE);
    wrong.number = UINT64_MAX;
    assert_int_equal(pawl__lock_state(stage->a, wrong), PAWL_LOCK_GONE);
    assert_code(pawl__locks_release(stage->a, wrong, &stage->err), PAWL_OK);
    assert_code(take(stage, stage->a, &lock), PAWL_OK);
    assert_code(pawl__locks_release(stage->a, lock, &stage->err), PAWL_OK);
    assert_code(take(stage, stage->a, &next), PAWL_OK); /* in the same slot */
    assert_int_equal((uint32_t)lock.number, (uint32_t)next.number);
    assert_int_equal(pawl__lock_state(stage->a, lock), PAWL_LOCK_GONE);
    assert_int_equal(pawl__lock_token(stage->a, lock), 0);
    assert_code(pawl__locks_release(stage->a, lock, &stage->err), PAWL_OK);
    assert_int_equal(pawl__lock_state(stage->a, next), PAWL_LOCK_HELD);
    assert_code(pawl__locks_release(stage->a, next, &stage->err), PAWL_OK);
}

static void an_old_handle_says_and_does_nothing(void **state)
{
    (void)state;
    run(try_handles);
}

static void reach_the_limit(struct stage *stage)
{
    struct pawl_locks_options options = {.held_max = 2};
    struct pawl_lock_provider *memory;
    struct pawl_locks *few;
    struct pawl_lock locks[3];
    static char longest[PAWL_LOCK_NAME_MAX + 1];

    assert_code(pawl__memory_locks_open(stage->space, stage->env, 0, &memory, NULL), PAWL_OK);
    assert_code(pawl__locks_new(stage->env, memory, &options, &few, NULL), PAWL_OK);
    assert_code(pawl__locks_try(few, pawl__str("1"), 0, &locks[0], &stage->err), PAWL_OK);
    assert_code(pawl__locks_try(few, pawl__str("2"), 0, &locks[1], &stage->err), PAWL_OK);
    assert_code(pawl__locks_try(few, pawl__str("3"), 0, &locks[2], &stage->err), PAWL_ELIMIT);
    assert_code(pawl__locks_release(few, locks[0], &stage->err), PAWL_OK);
    assert_code(pawl__locks_try(few, pawl__str("3"), 0, &locks[2], &stage->err), PAWL_OK);
    memset(longest, 'n', sizeof longest);
    assert_code(pawl__locks_try(stage->a, pawl__str_make(longest, sizeof longest), 0, &locks[0],
                                &stage->err),
                PAWL_EINVAL);
    pawl__locks_free(few); /* with two held */
    assert_code(pawl__locks_try(stage->a, pawl__str("2"), 0, &locks[0], &stage->err), PAWL_OK);
    assert_code(pawl__locks_release(stage->a, locks[0], &stage->err), PAWL_OK);
}

static void there_is_a_limit_and_what_is_left_is_given_back(void **state)
{
    (void)state;
    run(reach_the_limit);
}

/* ---- callbacks --------------------------------------------------------------------------- */

static void note_slowly(void *ctx)
{
    struct stage *stage = ctx;

    stage->losses++;
    if (pawl_env_sleep_until(stage->env, now(stage) + 500 * MS) == PAWL_OK)
        stage->losses++;
}

static void release_meanwhile(struct stage *stage)
{
    struct pawl_lock lock;

    assert_code(take(stage, stage->a, &lock), PAWL_OK);
    assert_code(pawl__lock_on_lost(stage->a, lock, note_slowly, stage, &stage->err), PAWL_OK);
    set(stage, PAWL_LOCK_CALL_RENEW, PAWL_LOCK_FAULT_LOSE, 1);
    while (stage->losses == 0)
        pass(stage, 10);
    assert_code(pawl__locks_release(stage->a, lock, &stage->err), PAWL_ENOTFOUND);
    assert_int_equal(stage->losses, 2); /* it waited for the end of the call */
}

static void a_release_waits_for_a_call_that_is_under_way(void **state)
{
    (void)state;
    run(release_meanwhile);
}

/* ---- stopping ---------------------------------------------------------------------------- */

struct crash {
    struct test_allocator alloc;
    struct pawl_baton *baton;
    struct pawl_env *env, *world;
    struct pawl_lock_space *space;
    struct pawl_locks *locks;
    struct pawl_lock held;
    int answers[2];
};

static void wait_for_ever(void *arg)
{
    struct crash *crash = arg;
    struct pawl_lock lock;

    crash->answers[0] =
        pawl__locks_acquire(crash->locks, pawl__str("x"), 0, PAWL_FOREVER, NULL, &lock, NULL);
}

static void stop_soon(void *arg)
{
    struct crash *crash = arg;

    (void)!pawl_env_sleep_until(crash->world, pawl_env_monotonic_ns(crash->world) + 1500 * MS);
    pawl__baton_env_stop(crash->env);
}

static void live_until_stopped(void *arg)
{
    struct crash *crash = arg;
    struct pawl_lock_provider *provider;
    struct pawl_thread *thread;

    assert_code(pawl__memory_locks_open(crash->space, crash->env, TTL, &provider, NULL), PAWL_OK);
    assert_code(pawl__locks_new(crash->env, provider, NULL, &crash->locks, NULL), PAWL_OK);
    assert_code(pawl__locks_try(crash->locks, pawl__str("x"), 0, &crash->held, NULL), PAWL_OK);
    assert_code(pawl_thread_start(crash->env, "waiter", wait_for_ever, crash, &thread, NULL),
                PAWL_OK);
    pawl_thread_join(crash->env, thread);
    crash->answers[1] = pawl__locks_release(crash->locks, crash->held, NULL);
    pawl__locks_free(crash->locks);
}

static void a_crash_ends_waits_and_leaves_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct crash crash = {.answers = {1, 1}};
        struct pawl_error err = PAWL_ERROR_INIT;
        struct pawl_thread *threads[2];

        test_allocator_init(&crash.alloc);
        assert_ok(pawl__baton_new(&crash.alloc.base, seed, NULL, &crash.baton), NULL);
        assert_ok(pawl__baton_env(crash.baton, "node", &crash.env), NULL);
        assert_ok(pawl__baton_env(crash.baton, "world", &crash.world), NULL);
        assert_ok(pawl__lock_space_new(crash.world, &crash.space, &err), &err);
        assert_ok(
            pawl_thread_start(crash.env, "main", live_until_stopped, &crash, &threads[0], &err),
            &err);
        assert_ok(pawl_thread_start(crash.world, "stop", stop_soon, &crash, &threads[1], &err),
                  &err);
        assert_ok(pawl__baton_run(crash.baton, &err), &err);
        assert_code(crash.answers[0], PAWL_ESTOPPED);
        assert_code(crash.answers[1], PAWL_ESTOPPED);
        pawl__lock_space_free(crash.space);
        pawl__baton_free(crash.baton);
        assert_int_equal(crash.alloc.live_count, 0);
    }
}

/* ---- memory ------------------------------------------------------------------------------ */

struct sweep {
    struct pawl_env *env;
    int status;
};

static int use_all(struct pawl_env *env, struct pawl_locks *locks)
{
    struct pawl_lock lock;
    struct pawl_error err = PAWL_ERROR_INIT;
    int status =
        pawl__locks_acquire(locks, pawl__str("x"), PAWL_LOCK_WANT_TOKEN, 0, NULL, &lock, &err);
    int again;

    if (status != PAWL_OK)
        return status;
    again = pawl__locks_acquire(locks, pawl__str("x"), 0, pawl_env_monotonic_ns(env) + MS, NULL,
                                &lock, &err);
    status = pawl__locks_release(locks, lock, &err);
    return again == PAWL_ETIMEDOUT ? status : again;
}

static void live(void *arg)
{
    struct sweep *sweep = arg;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_lock_provider *memory, *trace;
    struct pawl_locks *locks;

    sweep->status = pawl__memory_locks_new(sweep->env, TTL, &memory, &err);
    if (sweep->status != PAWL_OK)
        return;
    sweep->status = pawl__trace_locks_new(sweep->env, memory, &trace, &err);
    if (sweep->status != PAWL_OK) {
        memory->ops->close(memory);
        return;
    }
    sweep->status = pawl__locks_new(sweep->env, trace, NULL, &locks, &err);
    if (sweep->status != PAWL_OK) {
        trace->ops->close(trace);
        return;
    }
    sweep->status = use_all(sweep->env, locks);
    pawl__locks_free(locks);
}

static int live_with_little(struct test_allocator *alloc, void *arg)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct sweep sweep = {.status = PAWL_OK};
    struct pawl_thread *thread;
    struct pawl_baton *baton;
    int status = pawl__baton_new(&alloc->base, 1, NULL, &baton);

    (void)arg;
    if (status != PAWL_OK)
        return status;
    status = pawl__baton_env(baton, "node", &sweep.env);
    if (status == PAWL_OK)
        status = pawl_thread_start(sweep.env, "main", live, &sweep, &thread, &err);
    if (status == PAWL_OK)
        status = pawl__baton_run(baton, &err);
    pawl__baton_free(baton);
    return status == PAWL_OK ? sweep.status : status;
}

static void running_out_of_memory_is_an_error_like_any_other(void **state)
{
    (void)state;
    test_sweep_allocations(live_with_little, NULL, 500);
}

/* ---- the heap ---------------------------------------------------------------------------- */

static void the_earliest_is_always_on_top(void **state)
{
    enum { COUNT = 200 };
    struct pawl_lock_due dues[COUNT] = {{0}};
    struct pawl_lock_heap heap = {0};
    struct test_allocator alloc;
    uint64_t random = 7;

    (void)state;
    test_allocator_init(&alloc);
    assert_ok(pawl__lock_heap_reserve(&heap, &alloc.base, COUNT), NULL);
    for (int i = 0; i < 20000; i++) {
        struct pawl_lock_due *due = &dues[test_random(&random) % COUNT];
        int64_t least = INT64_MAX;

        if (test_random(&random) % 3)
            pawl__lock_heap_set(&heap, due, (int64_t)(test_random(&random) % 1000));
        else
            pawl__lock_heap_remove(&heap, due);
        for (int j = 0; j < COUNT; j++)
            if (dues[j].place && dues[j].at_ns < least)
                least = dues[j].at_ns;
        assert_true(heap.count == 0 ? least == INT64_MAX
                                    : pawl__lock_heap_top(&heap)->at_ns == least);
    }
    pawl__lock_heap_release(&heap, &alloc.base);
    assert_int_equal(alloc.live_count, 0);
}

/* ---- a provider that outlives its listener ------------------------------------------------ */

/* What is released after somebody was refused wakes all that listen. */
static void wake_everybody_often(void *arg)
{
    struct stage *stage = arg;
    struct pawl_lock lock, other;

    for (int i = 0; i < 20; i++) {
        struct pawl_error err = PAWL_ERROR_INIT;

        assert_code(pawl__locks_try(stage->b, pawl__str("y"), 0, &lock, &err), PAWL_OK);
        assert_code(pawl__locks_try(stage->a, pawl__str("y"), 0, &other, &err), PAWL_EBUSY);
        assert_code(pawl__locks_release(stage->b, lock, &err), PAWL_OK);
        pass(stage, 1);
    }
}

static void free_before_the_provider(struct stage *stage)
{
    const struct pawl_locks_options options = {.borrow = true};
    struct pawl_lock_provider *memory, *trace;
    struct pawl_thread *thread;
    struct pawl_locks *short_lived;
    struct pawl_lock lock;

    assert_code(pawl__memory_locks_open(stage->space, stage->env, TTL, &memory, NULL), PAWL_OK);
    assert_code(pawl__trace_locks_new(stage->env, memory, &trace, NULL), PAWL_OK);
    assert_code(pawl__locks_new(stage->env, trace, &options, &short_lived, NULL), PAWL_OK);
    assert_code(pawl_thread_start(stage->env, "waking", wake_everybody_often, stage, &thread, NULL),
                PAWL_OK);
    assert_code(pawl__locks_try(short_lived, pawl__str("x"), 0, &lock, NULL), PAWL_OK);
    pass(stage, 1);
    assert_code(pawl__locks_release(short_lived, lock, NULL), PAWL_OK);
    pawl__locks_free(short_lived);
    pawl_thread_join(stage->env, thread);
    trace->ops->close(trace);
}

static void a_borrowed_provider_calls_no_listener_that_was_freed(void **state)
{
    (void)state;
    run(free_before_the_provider);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_lost_answer_may_have_taken_is_given_back),
        cmocka_unit_test(giving_back_ends_with_the_lease),
        cmocka_unit_test(a_service_that_cannot_be_asked_is_not_busy),
        cmocka_unit_test(releasing_a_lock_that_was_given_twice_leaves_the_others),
        cmocka_unit_test(a_lock_whose_lease_ended_before_the_reply_is_not_held),
        cmocka_unit_test(a_release_that_fails_is_tried_again),
        cmocka_unit_test(a_few_failed_renewals_lose_nothing),
        cmocka_unit_test(a_lease_that_cannot_be_renewed_is_lost_before_others_have_it),
        cmocka_unit_test(the_end_of_a_lease_is_told_while_a_call_hangs),
        cmocka_unit_test(a_lock_that_was_taken_away_is_lost_at_the_next_renewal),
        cmocka_unit_test(a_thousand_leases_are_kept_over_a_stall),
        cmocka_unit_test(an_old_handle_says_and_does_nothing),
        cmocka_unit_test(there_is_a_limit_and_what_is_left_is_given_back),
        cmocka_unit_test(a_release_waits_for_a_call_that_is_under_way),
        cmocka_unit_test(a_crash_ends_waits_and_leaves_nothing),
        cmocka_unit_test(running_out_of_memory_is_an_error_like_any_other),
        cmocka_unit_test(the_earliest_is_always_on_top),
        cmocka_unit_test(a_borrowed_provider_calls_no_listener_that_was_freed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
