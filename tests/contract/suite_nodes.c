/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes and their leases, the store's clock, waiting for work. */
#include "contract/suite.h"

#include "os/shifted_env.h"

/* ---- leases -------------------------------------------------------------------------------- */

static const struct pawl_node_row *node_row(struct contract *t, const char *id)
{
    struct pawl_rows rows = find_where(t, PAWL_TABLE_NODES, "id", text(t, "%s", id));

    assert_int_equal(rows.count, 1);
    return rows.rows;
}

static int renew(struct contract *t, struct pawl_lease *lease)
{
    lease->kind = PAWL_LEASE_RENEW;
    return pawl_store_lease(t->a, lease, soon_ns(t), &t->err);
}

static void a_node_that_joins_is_in_the_table_with_its_lease(struct contract *t)
{
    struct pawl_lease lease = {.kind = PAWL_LEASE_JOIN,
                               .node_id = pawl__str("n"),
                               .ttl_us = HOUR_US,
                               .info = pawl__str("{\"version\":1}")};
    struct pawl_node_row expected;
    int64_t before = now_us(t);

    assert_ok(pawl_store_lease(t->a, &lease, soon_ns(t), &t->err), &t->err);
    assert_true(lease.now_us >= before && lease.now_us <= now_us(t));
    expected = (struct pawl_node_row){.id = lease.node_id,
                                      .incarnation = lease.incarnation,
                                      .joined_us = lease.now_us,
                                      .lease_us = lease.now_us + HOUR_US,
                                      .info = lease.info};
    assert_same_row(PAWL_TABLE_NODES, node_row(t, "n"), &expected);
}

static void incarnations_are_unique_and_grow(struct contract *t)
{
    int64_t last = t->node_a > t->node_b ? t->node_a : t->node_b;

    for (int i = 0; i < 20; i++) {
        int64_t next = join(t, i % 2 ? t->a : t->b, i % 3 ? "n" : "m", i % 4 ? HOUR_US : 0);

        assert_true(next > last);
        last = next;
    }
    assert_int_equal(count_all(t, PAWL_TABLE_NODES), 4); /* one row per id */
}

static void
nodes_that_are_long_dead_are_forgotten_but_no_incarnation_comes_again(struct contract *t)
{
    int64_t day = PAWL_NODE_FORGET_US, now = now_us(t), last, next;
    const struct pawl_node_row old[] = {
        {.id = pawl__str("long-dead"),
         .incarnation = 1000001,
         .lease_us = now - day - HOUR_US,
         .info = pawl__str("")},
        {.id = pawl__str("the-newest"),
         .incarnation = 1000002,
         .lease_us = now - 2 * day,
         .info = pawl__str("")},
        {.id = pawl__str("dead"),
         .incarnation = 1000000,
         .lease_us = now - day + HOUR_US,
         .info = pawl__str("")},
    };

    assert_ok(pawl_store_load(t->a, PAWL_TABLE_NODES, old, 3, soon_ns(t), &t->err), &t->err);
    last = join(t, t->a, "n", HOUR_US);
    assert_true(last > 1000002);
    assert_int_equal(count_all(t, PAWL_TABLE_NODES), 4); /* two of the suite, dead, n */
    assert_int_equal(find_where(t, PAWL_TABLE_NODES, "id", pawl__str("dead")).count, 1);
    next = join(t, t->b, "m", HOUR_US);
    assert_true(next > last);
}

static void no_incarnation_comes_again_when_all_rows_are_gone(struct contract *t)
{
    int64_t last = 0, next;

    leave(t, t->a, "node-a", t->node_a);
    leave(t, t->b, "node-b", t->node_b);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(count_all(t, PAWL_TABLE_NODES), 0);
        next = join(t, i % 2 ? t->a : t->b, i % 3 ? "n" : "m", HOUR_US);
        assert_true(next > last && next > t->node_a && next > t->node_b);
        leave(t, i % 2 ? t->b : t->a, i % 3 ? "n" : "m", next);
        last = next;
    }
    t->node_a = join(t, t->a, "node-a", HOUR_US);
    t->node_b = join(t, t->b, "node-b", HOUR_US);
    assert_true(t->node_a > last && t->node_b > t->node_a);
}

static void a_node_that_leaves_keeps_its_row_while_an_instance_is_its_own(struct contract *t)
{
    int64_t node = join(t, t->a, "n", HOUR_US);
    struct pawl_str id = create_instance(t, "i");

    assert_code(claim_one(t, t->a, node, id).status, PAWL_OK);
    leave(t, t->a, "n", node);
    assert_int_equal(node_row(t, "n")->incarnation, node);
    assert_true(node_row(t, "n")->lease_us <= now_us(t));
    assert_code(claim_one(t, t->b, t->node_b, id).status, PAWL_OK);
}

static void renewing_moves_the_end_of_the_lease(struct contract *t)
{
    struct pawl_lease lease = {.node_id = pawl__str("node-a"),
                               .incarnation = t->node_a,
                               .ttl_us = 5 * HOUR_US,
                               .info = pawl__str("more")};

    assert_code(renew(t, &lease), PAWL_OK);
    assert_false(lease.lapsed);
    assert_int_equal(lease.incarnation, t->node_a);
    assert_int_equal(node_row(t, "node-a")->lease_us, lease.now_us + 5 * HOUR_US);
    assert_int_equal(node_row(t, "node-a")->incarnation, t->node_a);
    assert_str(node_row(t, "node-a")->info, "more");
}

static void renewing_tells_that_the_lease_had_been_over(struct contract *t)
{
    struct pawl_lease lease = {
        .node_id = pawl__str("n"), .incarnation = join(t, t->a, "n", 0), .ttl_us = HOUR_US};

    assert_code(renew(t, &lease), PAWL_OK);
    assert_true(lease.lapsed);
    assert_code(renew(t, &lease), PAWL_OK);
    assert_false(lease.lapsed);
}

static void a_superseded_node_cannot_renew_nor_end_its_successors_lease(struct contract *t)
{
    struct pawl_instance_row held;
    struct pawl_lease lease = {
        .node_id = pawl__str("node-a"), .incarnation = t->node_a, .ttl_us = HOUR_US};
    int64_t old = t->node_a;
    int status;

    t->node_a = join(t, t->a, "node-a", HOUR_US);
    held = claimed_instance(t, "i");
    assert_code(renew(t, &lease), PAWL_ECONFLICT);
    lease.kind = PAWL_LEASE_LEAVE;
    status = pawl_store_lease(t->b, &lease, soon_ns(t), &t->err);
    assert_true(status == PAWL_OK || status == PAWL_ECONFLICT);
    assert_int_not_equal(old, t->node_a);
    assert_int_equal(node_row(t, "node-a")->incarnation, t->node_a);
    assert_code(claim_one(t, t->b, t->node_b, held.id).status, PAWL_EBUSY);
}

static void a_node_that_lapsed_and_renewed_owns_again_what_nobody_took(struct contract *t)
{
    struct pawl_instance_row held = claimed_instance(t, "i");
    struct pawl_lease lease = {
        .node_id = pawl__str("node-a"), .incarnation = t->node_a, .ttl_us = HOUR_US};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE, .instance = &held};

    lease.ttl_us = 0;
    assert_code(renew(t, &lease), PAWL_OK);
    assert_code(apply_one(t, t->a, &commit), PAWL_OK); /* nobody else has written: it is safe */
    lease.ttl_us = HOUR_US;
    assert_code(renew(t, &lease), PAWL_OK);
    assert_true(lease.lapsed);
    assert_code(claim_one(t, t->b, t->node_b, held.id).status, PAWL_EBUSY);
}

/* ---- clocks -------------------------------------------------------------------------------- */

/* Due times and leases of half an hour, seen by a node whose clock is an hour off. */
static void check_clock(struct contract *t, int64_t shift_us)
{
    struct pawl_shifted_env env;
    struct pawl_str id = create_instance(t, shift_us < 0 ? "behind" : "ahead");
    struct pawl_store_status status;
    struct pawl_work_row work;
    struct pawl_taken taken;
    struct pawl_store *off;
    int64_t node, off_us;

    pawl__shifted_env_init(&env, t->env);
    env.wall_shift_ns = shift_us * 1000;
    assert_ok(t->backend->open(t->backend->ctx, t->database, &env.base, &off, &t->err), &t->err);
    assert_ok(pawl_store_status(off, &status, soon_ns(t), &t->err), &t->err);
    off_us = status.now_us - now_us(t);
    assert_true(off_us > -HOUR_US / 2 && off_us < HOUR_US / 2);

    work = some_work(t, text(t, "later-%.*s", PAWL_STR_ARG(id)), now_us(t) + HOUR_US / 2);
    insert(t, PAWL_TABLE_WORK, &work);
    assert_int_equal(take_some(t, off, t->node_b, 10).work_count, 0);
    work = some_work(t, text(t, "due-%.*s", PAWL_STR_ARG(id)), now_us(t) - HOUR_US / 2);
    insert(t, PAWL_TABLE_WORK, &work);
    taken = take_some(t, off, t->node_b, 10);
    assert_int_equal(taken.work_count, 1);
    assert_same_str(taken.work[0].id, work.id);

    node = join(t, off, "off", HOUR_US / 2);
    assert_code(claim_one(t, off, node, id).status, PAWL_OK);
    assert_code(claim_one(t, t->a, t->node_a, id).status, PAWL_EBUSY);
    leave(t, off, "off", node);
    node = join(t, t->a, "brief", HOUR_US / 2);
    assert_code(claim_one(t, t->a, node, id).status, PAWL_OK);
    assert_code(claim_one(t, off, t->node_b, id).status, PAWL_EBUSY);
    pawl_store_close(off);
}

static void a_node_with_a_wrong_clock_sees_the_stores_time(struct contract *t)
{
    check_clock(t, HOUR_US);
    check_clock(t, -HOUR_US);
}

static struct pawl_work_row work_at_once(struct contract *t, const char *id, int64_t now)
{
    struct pawl_work_row work = some_work(t, text(t, "%s", id), now);

    work.created_us = now;
    return work;
}

static void work_that_is_due_at_once_does_not_wait_for_a_clock_that_is_behind(struct contract *t)
{
    const enum pawl_change_kind kinds[] = {PAWL_CHANGE_INSERT, PAWL_CHANGE_ADD, PAWL_CHANGE_PUT};
    int64_t ahead = now_us(t) + HOUR_US;
    struct pawl_work_row later = some_work(t, text(t, "later"), ahead);

    insert(t, PAWL_TABLE_WORK, &later);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct pawl_work_row work =
            work_at_once(t, text(t, "w%zu", i).ptr, ahead + (int64_t)i * SECOND_US);
        const struct pawl_change change = {kinds[i], PAWL_TABLE_WORK, &work};
        struct pawl_commit commit = {.changes = &change, .change_count = 1};
        struct pawl_taken taken;

        assert_code(apply_one(t, t->b, &commit), PAWL_OK);
        taken = take_some(t, t->a, t->node_a, 10);
        assert_int_equal(taken.work_count, 1);
        assert_same_str(taken.work[0].id, work.id);
        assert_true(taken.work[0].due_us <= now_us(t) && taken.work[0].created_us <= now_us(t));
    }
}

/* The store's clock stands, and the other one goes on by an hour: it was set back by that. */
static void what_waits_for_a_clock_that_was_set_back_is_moved_and_timers_are_not(struct contract *t)
{
    const struct pawl_take take = {.owner = t->node_b, .limit = 10};
    int64_t ahead = now_us(t) + HOUR_US;
    struct pawl_work_row work[] = {work_at_once(t, "b", ahead - 1000), work_at_once(t, "a", ahead),
                                   some_work(t, text(t, "retried"), ahead + SECOND_US),
                                   some_work(t, text(t, "timer"), ahead),
                                   some_work(t, text(t, "tick"), ahead)};
    struct pawl_instance_row put_off = some_instance(t, text(t, "put-off"));
    struct pawl_shifted_env env;
    struct pawl_taken taken;
    struct pawl_store *off;

    work[3].kind = pawl__str("timer");
    work[3].attempts = 0;
    work[4].kind = pawl__str("tick");
    put_off.owner = 0;
    put_off.runnable = 1;
    put_off.retry_us = ahead;
    pawl__shifted_env_init(&env, t->env);
    assert_ok(t->backend->open(t->backend->ctx, t->database, &env.base, &off, &t->err), &t->err);
    assert_ok(pawl_store_load(off, PAWL_TABLE_WORK, work, 5, PAWL_FOREVER, &t->err), &t->err);
    assert_ok(pawl_store_load(off, PAWL_TABLE_INSTANCES, &put_off, 1, PAWL_FOREVER, &t->err),
              &t->err);
    assert_ok(pawl_store_take(off, &take, &t->arena, &taken, PAWL_FOREVER, &t->err), &t->err);
    assert_int_equal(taken.work_count, 0);
    env.monotonic_shift_ns = HOUR_US * 1000;
    /* One that is told of it by the server finds it out and makes the next take find the rows. */
    for (int i = 0; i < 2 && taken.work_count == 0; i++)
        assert_ok(pawl_store_take(off, &take, &t->arena, &taken, PAWL_FOREVER, &t->err), &t->err);
    assert_int_equal(taken.work_count, 3);
    assert_same_str(taken.work[0].id, work[0].id);
    assert_same_str(taken.work[1].id, work[1].id);
    assert_same_str(taken.work[2].id, work[2].id);
    assert_int_equal(taken.runnable_count, 1);
    assert_same_str(taken.runnable[0], put_off.id);
    for (int i = 3; i < 5; i++) {
        struct pawl_rows rows = find_where(t, PAWL_TABLE_WORK, "id", work[i].id);

        assert_int_equal(((const struct pawl_work_row *)rows.rows)->due_us, ahead);
    }
    pawl_store_close(off);
}

static void the_status_says_what_and_where_the_store_is(struct contract *t)
{
    struct pawl_store_status status;

    assert_ok(pawl_store_status(t->a, &status, soon_ns(t), &t->err), &t->err);
    assert_true(status.now_us > INT64_C(1600000000) * SECOND_US);
    assert_true(status.schema > 0);
    assert_true(status.backend[0] != '\0' && status.server[0] != '\0' &&
                status.location[0] != '\0');
}

/* ---- waiting -------------------------------------------------------------------------------- */

/*
 * Takes note of all that has happened so far. The first wait ends at once, because of the stamp. A
 * store that must connect to hear of news does so then, and from there on it listens.
 */
static void look_at_all(struct contract *t, struct pawl_wake *wake)
{
    struct pawl_commit commit = {.stamp = pawl__str("looks")};
    int status;

    assert_code(apply_one(t, t->b, &commit), PAWL_OK);
    status = pawl_store_wait(t->a, wake, soon_ns(t), &t->err);
    assert_ok(status, &t->err);
    for (int i = 0; i < 1000 && status == PAWL_OK; i++)
        status = pawl_store_wait(t->a, wake, pawl_env_monotonic_ns(t->env), &t->err);
    assert_code(status, PAWL_ETIMEDOUT);
}

static void a_wait_ends_when_another_node_makes_work_due(struct contract *t)
{
    struct pawl_wake wake = {0};
    struct pawl_work_row work = some_work(t, pawl__str("w"), now_us(t));
    const struct pawl_change change = {PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, &work};
    struct pawl_commit commit = {.changes = &change, .change_count = 1};

    look_at_all(t, &wake);
    assert_code(apply_one(t, t->b, &commit), PAWL_OK);
    assert_ok(pawl_store_wait(t->a, &wake, soon_ns(t), &t->err), &t->err);
}

static void a_wait_ends_when_a_bookmark_makes_parked_work_due(struct contract *t)
{
    struct pawl_wake wake = {0};
    struct pawl_work_row work = some_work(t, pawl__str("w"), PAWL_TIME_NEVER);
    struct pawl_bookmark_row bookmark = some_bookmark(t, pawl__str("b"), pawl__str("i"), "h");
    const struct pawl_change change = {PAWL_CHANGE_INSERT, PAWL_TABLE_BOOKMARKS, &bookmark};
    struct pawl_commit commit = {.changes = &change, .change_count = 1};

    work.hash = bookmark.hash;
    insert(t, PAWL_TABLE_WORK, &work);
    look_at_all(t, &wake);
    assert_code(apply_one(t, t->b, &commit), PAWL_OK);
    assert_ok(pawl_store_wait(t->a, &wake, soon_ns(t), &t->err), &t->err);
}

static void a_wait_ends_when_another_node_moves_a_stamp(struct contract *t)
{
    struct pawl_wake wake = {0};
    struct pawl_commit commit = {.stamp = pawl__str("definitions")};

    look_at_all(t, &wake);
    assert_code(apply_one(t, t->b, &commit), PAWL_OK);
    assert_ok(pawl_store_wait(t->a, &wake, soon_ns(t), &t->err), &t->err);
}

static void a_wait_ends_when_another_node_leaves(struct contract *t)
{
    struct pawl_lease lease = {
        .kind = PAWL_LEASE_LEAVE, .node_id = pawl__str("node-b"), .incarnation = t->node_b};
    struct pawl_wake wake = {0};

    look_at_all(t, &wake);
    assert_ok(pawl_store_lease(t->b, &lease, soon_ns(t), &t->err), &t->err);
    assert_ok(pawl_store_wait(t->a, &wake, soon_ns(t), &t->err), &t->err);
}

struct waiter {
    struct contract *t;
    struct pawl_wake wake;
    int64_t deadline_ns;
    int status;
    struct pawl_error err;
};

static void run_waiter(void *arg)
{
    struct waiter *w = arg;

    w->status = pawl_store_wait(w->t->a, &w->wake, w->deadline_ns, &w->err);
}

static void a_thread_that_waits_is_woken_by_a_commit(struct contract *t)
{
    struct waiter waiter = {.t = t};
    struct pawl_work_row work = some_work(t, pawl__str("w"), now_us(t));
    const struct pawl_change change = {PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, &work};
    struct pawl_commit commit = {.changes = &change, .change_count = 1};
    struct pawl_thread *thread;

    look_at_all(t, &waiter.wake);
    waiter.deadline_ns = soon_ns(t);
    assert_ok(pawl_thread_start(t->env, "waiter", run_waiter, &waiter, &thread, &t->err), &t->err);
    assert_code(apply_one(t, t->b, &commit), PAWL_OK);
    pawl_thread_join(t->env, thread);
    assert_ok(waiter.status, &waiter.err);
}

const struct contract_test contract_nodes[] = {
    CONTRACT_TEST(a_node_that_joins_is_in_the_table_with_its_lease),
    CONTRACT_TEST(incarnations_are_unique_and_grow),
    CONTRACT_TEST(nodes_that_are_long_dead_are_forgotten_but_no_incarnation_comes_again),
    CONTRACT_TEST(no_incarnation_comes_again_when_all_rows_are_gone),
    CONTRACT_TEST(a_node_that_leaves_keeps_its_row_while_an_instance_is_its_own),
    CONTRACT_TEST(renewing_moves_the_end_of_the_lease),
    CONTRACT_TEST(renewing_tells_that_the_lease_had_been_over),
    CONTRACT_TEST(a_superseded_node_cannot_renew_nor_end_its_successors_lease),
    CONTRACT_TEST(a_node_that_lapsed_and_renewed_owns_again_what_nobody_took),
    CONTRACT_TEST(a_node_with_a_wrong_clock_sees_the_stores_time),
    CONTRACT_TEST(work_that_is_due_at_once_does_not_wait_for_a_clock_that_is_behind),
    /* One in memory has its clocks from elsewhere. */
    CONTRACT_TEST_IF(DURABLE, what_waits_for_a_clock_that_was_set_back_is_moved_and_timers_are_not),
    CONTRACT_TEST(the_status_says_what_and_where_the_store_is),
    CONTRACT_TEST(a_wait_ends_when_another_node_makes_work_due),
    CONTRACT_TEST(a_wait_ends_when_a_bookmark_makes_parked_work_due),
    CONTRACT_TEST(a_wait_ends_when_another_node_moves_a_stamp),
    CONTRACT_TEST(a_wait_ends_when_another_node_leaves),
    CONTRACT_TEST(a_thread_that_waits_is_woken_by_a_commit),
    {0},
};
