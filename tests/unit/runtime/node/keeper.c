/* SPDX-License-Identifier: Apache-2.0 */
/* The lease keeper on a store whose calls take long: the lease does not lapse for one of them. */
#include "runtime/node/keeper.h"

#include "lib/test.h"
#include "os/baton.h"
#include "stores/stores.h"

#define SECOND_NS INT64_C(1000000000)
#define LEASE_US INT64_C(3000000)

/* A store whose renewals from one number to another get no answer until their deadline. */
struct silent {
    struct pawl_store base;
    struct pawl_env *env;
    struct pawl_store *inner;
    int renewals, silent_from, silent_to;
    bool lapsed;          /* seen by any of them */
    int joins, lost_join; /* the number of the one whose answer is lost; 0: none is */
    int late_joins;       /* that many have their time and are not done */
    int64_t reply_ns;     /* how long the reply to a renewal takes */
    int64_t lease_end_ns; /* of the last that took effect */
};

struct fixture {
    struct test_allocator alloc;
    struct pawl_baton *baton;
    struct pawl_env *env;
    struct pawl_memory_database *database;
    struct silent store;
    struct pawl_keeper *keeper;
    struct pawl_error err;
    bool lapsed;   /* by the node's own clock */
    bool outlived; /* it believed in its lease when that had ended */
    int64_t duty_ns;
    bool is_in_duty;
    bool was_in_duty; /* when the duty had been taken away */
    int duties;
    int status; /* of what the test's thread did */
};

static int silent_lease(struct pawl_store *store, struct pawl_lease *lease, int64_t deadline_ns,
                        struct pawl_error *err)
{
    struct silent *s = (struct silent *)(void *)store;
    int status;

    if (lease->kind == PAWL_LEASE_RENEW && ++s->renewals >= s->silent_from &&
        s->renewals <= s->silent_to) {
        status = pawl_env_sleep_until(s->env, deadline_ns);
        return status == PAWL_OK ? PAWL_ETIMEDOUT : status;
    }
    if (lease->kind == PAWL_LEASE_JOIN && s->late_joins > 0) {
        s->late_joins--;
        return PAWL_ETIMEDOUT;
    }
    status = pawl_store_lease(s->inner, lease, deadline_ns, err);
    if (status == PAWL_OK && lease->kind != PAWL_LEASE_LEAVE)
        s->lease_end_ns = pawl_env_monotonic_ns(s->env) + LEASE_US * 1000;
    if (lease->kind == PAWL_LEASE_RENEW && s->reply_ns > 0 &&
        pawl_env_sleep_until(s->env, pawl_env_monotonic_ns(s->env) + s->reply_ns) != PAWL_OK)
        return PAWL_ESTOPPED;
    if (lease->kind == PAWL_LEASE_JOIN && ++s->joins == s->lost_join)
        return PAWL_EUNKNOWN;
    s->lapsed = s->lapsed || (status == PAWL_OK && lease->lapsed);
    return status;
}

static int silent_status(struct pawl_store *store, struct pawl_store_status *out,
                         int64_t deadline_ns, struct pawl_error *err)
{
    return pawl_store_status(((struct silent *)(void *)store)->inner, out, deadline_ns, err);
}

static int silent_find(struct pawl_store *store, const struct pawl_query *query,
                       struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                       struct pawl_error *err)
{
    return pawl_store_find(((struct silent *)(void *)store)->inner, query, arena, out, deadline_ns,
                           err);
}

static const struct pawl_store_ops silent_ops = {.version = PAWL_STORE_VERSION,
                                                 .status = silent_status,
                                                 .lease = silent_lease,
                                                 .find = silent_find};

static void do_duty(void *ctx, int64_t deadline_ns)
{
    struct fixture *f = ctx;
    int64_t until_ns = pawl_env_monotonic_ns(f->env) + f->duty_ns;

    f->is_in_duty = true;
    f->duties++;
    (void)!pawl_env_sleep_until(f->env, until_ns < deadline_ns ? until_ns : deadline_ns);
    f->is_in_duty = false;
}

/* Looks all the time for a minute, then closes. */
static void watch(void *arg)
{
    struct fixture *f = arg;
    int64_t until_ns = pawl_env_monotonic_ns(f->env) + 60 * SECOND_NS;

    while (pawl_env_monotonic_ns(f->env) < until_ns) {
        if (!pawl__keeper_is_alive(f->keeper))
            f->lapsed = true;
        else if (pawl_env_monotonic_ns(f->env) >= f->store.lease_end_ns)
            f->outlived = true;
        if (pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + SECOND_NS / 50) != PAWL_OK)
            break;
    }
    pawl__keeper_close(f->keeper);
}

/* Takes the duty away while it is being done, then closes. */
static void take_duty_away(void *arg)
{
    struct fixture *f = arg;

    while (!f->is_in_duty &&
           pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + SECOND_NS / 50) == PAWL_OK)
        continue;
    pawl__keeper_set_duty(f->keeper, NULL, NULL);
    f->was_in_duty = f->is_in_duty;
    (void)!pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + 10 * SECOND_NS);
    pawl__keeper_close(f->keeper);
}

/* Another process joins under the node's name and leaves; the answer to joining anew is lost. */
static void supersede(void *arg)
{
    struct fixture *f = arg;
    struct pawl_lease lease = {
        .kind = PAWL_LEASE_JOIN, .node_id = pawl__str("a"), .ttl_us = LEASE_US};
    int64_t until_ns = pawl_env_monotonic_ns(f->env) + 60 * SECOND_NS;
    int status;

    pawl__keeper_set_named(f->keeper, NULL, NULL);
    f->store.lost_join = 2;
    f->status = pawl_store_lease(f->store.inner, &lease, until_ns, &f->err);
    lease.kind = PAWL_LEASE_LEAVE;
    if (f->status == PAWL_OK)
        f->status = pawl_store_lease(f->store.inner, &lease, until_ns, &f->err);
    while (f->status == PAWL_OK && pawl_env_monotonic_ns(f->env) < until_ns &&
           (f->store.joins < 3 || !pawl__keeper_is_alive(f->keeper))) {
        f->status = pawl__keeper_check(f->keeper, &f->err);
        /* Its incarnation is over, although its lease would not be yet. */
        f->outlived |= f->store.joins == 2 && pawl__keeper_is_alive(f->keeper);
        status = pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + SECOND_NS / 50);
        if (status != PAWL_OK)
            break;
    }
    f->lapsed = !pawl__keeper_is_alive(f->keeper);
    pawl__keeper_close(f->keeper);
}

static int64_t reply_ns; /* of the next store */
static int late_joins;   /* of the next store */

static void keep(struct fixture *f, uint64_t seed, int silent_from, int silent_to, int64_t duty_ns,
                 void (*run)(void *arg))
{
    struct pawl_thread *thread;

    *f = (struct fixture){.duty_ns = duty_ns};
    test_allocator_init(&f->alloc);
    assert_ok(pawl__baton_new(&f->alloc.base, seed, NULL, &f->baton), NULL);
    assert_ok(pawl__baton_env(f->baton, "node", &f->env), NULL);
    assert_ok(pawl__memory_database_new(f->env, &f->database, &f->err), &f->err);
    f->store = (struct silent){.base = {.ops = &silent_ops, .name = "silent"},
                               .env = f->env,
                               .silent_from = silent_from,
                               .silent_to = silent_to,
                               .reply_ns = reply_ns,
                               .late_joins = late_joins};
    assert_ok(pawl__memory_store_open(f->database, f->env, &f->store.inner, &f->err), &f->err);
    assert_ok(pawl__keeper_open(f->env, &f->store.base, pawl__str("a"), pawl__str(""), LEASE_US,
                                NULL, &f->keeper, &f->err),
              &f->err);
    pawl__keeper_set_duty(f->keeper, do_duty, f);
    assert_ok(pawl_thread_start(f->env, "watch", run, f, &thread, &f->err), &f->err);
    assert_ok(pawl__baton_run(f->baton, &f->err), &f->err);
    pawl_thread_join(f->env, thread);
    pawl_store_close(f->store.inner);
    pawl__memory_database_free(f->database);
    pawl__baton_free(f->baton);
    assert_int_equal(f->alloc.live_count, 0);
}

static void keep_for_a_minute(struct fixture *f, uint64_t seed, int silent_from, int silent_to,
                              int64_t duty_ns)
{
    keep(f, seed, silent_from, silent_to, duty_ns, watch);
}

static void a_renewal_that_hangs_is_given_up_in_time_for_another(void **state)
{
    struct fixture f;

    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        keep_for_a_minute(&f, seed, 5, 5, 0);
        assert_false(f.lapsed);
        assert_false(f.store.lapsed);
        /* One a third of the lease, no more. */
        assert_true(f.store.renewals >= 58 && f.store.renewals <= 62);
    }
}

/* Replies take long, and then there are none any more. */
static void a_node_does_not_believe_in_its_lease_for_longer_than_the_store(void **state)
{
    struct fixture f;

    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        reply_ns = SECOND_NS * 9 / 10;
        keep_for_a_minute(&f, seed, 5, 12, 0);
        reply_ns = 0;
        assert_true(f.lapsed);
        assert_false(f.outlived);
    }
}

/* One process that stands still may keep a database locked for longer than a short lease. */
static void a_node_starts_on_a_store_that_is_slow_at_first(void **state)
{
    struct fixture f;

    (void)state;
    late_joins = 3;
    keep_for_a_minute(&f, 1, 0, 0, 0);
    late_joins = 0;
    assert_false(f.lapsed);
    assert_int_equal(f.store.late_joins, 0);
}

/* What the keeper does besides must not put the next renewal off. */
static void a_duty_that_takes_all_its_time_does_not_put_off_renewals(void **state)
{
    struct fixture f;

    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        keep_for_a_minute(&f, seed, 5, 5, 60 * SECOND_NS);
        assert_false(f.lapsed);
        assert_false(f.store.lapsed);
    }
}

static void a_lease_that_was_lost_is_renewed_soon_after_the_store_is_back(void **state)
{
    struct fixture f;

    (void)state;
    keep_for_a_minute(&f, 1, 5, 9, 0);
    assert_true(f.store.lapsed);
    assert_true(f.store.renewals > 40);
}

/* Whoever takes it away may free what it works on. */
static void a_duty_that_was_taken_away_is_not_under_way(void **state)
{
    struct fixture f;

    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        keep(&f, seed, 0, 0, SECOND_NS / 2, take_duty_away);
        assert_false(f.was_in_duty);
        assert_int_equal(f.duties, 1);
    }
}

static void a_named_node_whose_joining_was_not_answered_joins_once_more(void **state)
{
    struct fixture f;

    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        keep(&f, seed, 0, 0, 0, supersede);
        assert_ok(f.status, &f.err);
        assert_int_equal(f.store.joins, 3);
        assert_false(f.lapsed);
        assert_false(f.outlived);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_renewal_that_hangs_is_given_up_in_time_for_another),
        cmocka_unit_test(a_node_does_not_believe_in_its_lease_for_longer_than_the_store),
        cmocka_unit_test(a_node_starts_on_a_store_that_is_slow_at_first),
        cmocka_unit_test(a_duty_that_takes_all_its_time_does_not_put_off_renewals),
        cmocka_unit_test(a_named_node_whose_joining_was_not_answered_joins_once_more),
        cmocka_unit_test(a_duty_that_was_taken_away_is_not_under_way),
        cmocka_unit_test(a_lease_that_was_lost_is_renewed_soon_after_the_store_is_back),
    };

    return cmocka_run_group_tests_name("runtime/keeper", tests, NULL, NULL);
}
