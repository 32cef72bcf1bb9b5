/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Row locks that somebody holds on PostgreSQL for longer than a commit takes: a node that stands
 * still with half of a batch sent, and a client that has nothing to do with Pawl. Others find the
 * rows busy, keep their leases, and end the sessions of nodes whose lease is over.
 */
#include "base/arena.h"
#include "drivers/libpq.h"
#include "lib/proxy.h"
#include "lib/test.h"
#include "servers/postgres.h"
#include "stores/stores.h"
#include "unit/stores/stranger.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define INSTANCES 4
/* More than libpq sends at a time and the proxy lets through. */
#define STATE_BYTES ((size_t)200 << 10)
#define PASSED_BYTES ((size_t)48 << 10)
#define LEASE_US INT64_C(1000000)
#define LONG_LEASE_US INT64_C(3600000000)

struct fixture {
    struct test_postgres server;
    struct test_proxy *proxy;
    struct pawl_env *env;
    struct pawl_arena arena;
    struct pawl_error err;
    struct pawl_pq *pq;
    char direct[256], through[256]; /* addresses: of the server, and by the proxy */
    unsigned schemas;
    struct pawl_store *slow, *healthy;
    int64_t slow_node, healthy_node;
    char *state;
    struct pawl_instance_row rows[INSTANCES];
};

static int64_t in_ms(struct fixture *f, int64_t ms)
{
    return pawl_env_monotonic_ns(f->env) + ms * 1000000;
}

/* Only what hangs takes so long. */
static int64_t soon(struct fixture *f)
{
    return in_ms(f, 30000);
}

static int open_group(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    if (!f)
        return -1;
    *state = f;
    test_postgres_start(&f->server, NULL);
    f->proxy = test_proxy_start(f->server.port);
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    assert_ok(pawl__pq_open(&f->env->alloc, &f->pq, &f->err), &f->err);
    pawl__arena_init(&f->arena, &f->env->alloc, (size_t)64 << 20);
    f->state = calloc(1, STATE_BYTES);
    assert_non_null(f->state);
    return 0;
}

static int close_group(void **state)
{
    struct fixture *f = *state;

    free(f->state);
    pawl__pq_close(f->pq);
    pawl__arena_release(&f->arena);
    pawl_system_env_close(f->env);
    test_proxy_stop(f->proxy);
    test_postgres_stop(&f->server);
    free(f);
    return 0;
}

static int lease(struct fixture *f, struct pawl_store *store, enum pawl_lease_kind kind,
                 const char *id, int64_t ttl_us, struct pawl_lease *lease)
{
    lease->kind = kind;
    lease->node_id = pawl__str(id);
    lease->ttl_us = ttl_us;
    lease->info = pawl__str("{}");
    return pawl_store_lease(store, lease, soon(f), &f->err);
}

static int64_t join(struct fixture *f, struct pawl_store *store, const char *id, int64_t ttl_us)
{
    struct pawl_lease joined = {0};

    assert_ok(lease(f, store, PAWL_LEASE_JOIN, id, ttl_us, &joined), &f->err);
    return joined.incarnation;
}

static struct pawl_store *open_store(struct fixture *f, const char *uri)
{
    const struct pawl_store_options options = {.flags = PAWL_STORE_OPEN_CREATE};
    struct pawl_store *store = NULL;

    assert_ok(pawl__postgres_store_open(f->env, pawl__str(uri), &options, &store, &f->err),
              &f->err);
    return store;
}

static int claim(struct fixture *f, struct pawl_store *store, int64_t owner, const char *id,
                 struct pawl_claim *out, int64_t deadline_ns)
{
    int64_t now_us;
    int status;

    *out = (struct pawl_claim){.id = pawl__str(id)};
    status = pawl_store_claim(store, owner, out, 1, &f->arena, &now_us, deadline_ns, &f->err);
    return status == PAWL_OK ? out->status : status;
}

static void create(struct fixture *f, struct pawl_store *store, const char *id)
{
    struct pawl_instance_row row = {.id = pawl__str(id), .state = pawl__str("{}")};
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_CREATE, .flags = PAWL_COMMIT_RELEASE, .instance = &row};
    struct pawl_commit *list = &commit;

    assert_ok(pawl_store_apply(store, &list, 1, soon(f), &f->err), &f->err);
    assert_ok(commit.status, &commit.error);
}

/* Two nodes on one schema; the slow one by the proxy, and it has claimed x0 to x3. */
static int open_test(void **state)
{
    struct fixture *f = *state;
    char uri[160], sql[64];

    pawl__arena_reset(&f->arena);
    f->err = (struct pawl_error)PAWL_ERROR_INIT;
    (void)snprintf(sql, sizeof sql, "CREATE SCHEMA t%u", ++f->schemas);
    test_postgres_sql(&f->server, sql);
    (void)test_postgres_uri(&f->server, "postgres", uri, sizeof uri);
    (void)snprintf(f->direct, sizeof f->direct, "%s?options=-csearch_path%%3Dt%u", uri, f->schemas);
    (void)snprintf(f->through, sizeof f->through,
                   "postgres://" TEST_POSTGRES_USER
                   "@127.0.0.1:%u/postgres?options=-csearch_path%%3Dt%u",
                   (unsigned)test_proxy_port(f->proxy), f->schemas);
    test_proxy_limit(f->proxy, SIZE_MAX);
    f->healthy = open_store(f, f->direct);
    f->slow = open_store(f, f->through);
    f->slow_node = join(f, f->slow, "slow", LEASE_US);
    f->healthy_node = join(f, f->healthy, "healthy", LONG_LEASE_US);
    for (int i = 0; i < INSTANCES; i++) {
        const char *id = pawl__arena_printf(&f->arena, "x%d", i);
        struct pawl_claim claimed;

        create(f, f->healthy, id);
        assert_code(claim(f, f->slow, f->slow_node, id, &claimed, soon(f)), PAWL_OK);
        f->rows[i] = claimed.row;
        f->rows[i].state = pawl__str_make(f->state, STATE_BYTES);
    }
    return 0;
}

static int close_test(void **state)
{
    struct fixture *f = *state;

    test_proxy_limit(f->proxy, SIZE_MAX);
    pawl_store_close(f->slow);
    pawl_store_close(f->healthy);
    return 0;
}

/* ---- half of a batch ----------------------------------------------------------------------- */

struct batch {
    struct fixture *f;
    struct pawl_thread *thread;
    struct pawl_commit commits[INSTANCES];
    struct pawl_commit *list[INSTANCES];
    struct pawl_error err;
    int status;
};

static void apply_batch(void *arg)
{
    struct batch *b = arg;

    b->status = pawl_store_apply(b->f->slow, b->list, INSTANCES, in_ms(b->f, 120000), &b->err);
}

/* Returns when the slow node has locked its instances and stands still. */
static void send_half(struct fixture *f, struct batch *b)
{
    *b = (struct batch){.f = f};
    for (int i = 0; i < INSTANCES; i++) {
        b->commits[i] = (struct pawl_commit){.kind = PAWL_COMMIT_ADVANCE,
                                             .flags = PAWL_COMMIT_RELEASE | PAWL_COMMIT_UNASKED,
                                             .instance = &f->rows[i]};
        b->list[i] = &b->commits[i];
    }
    test_proxy_limit(f->proxy, PASSED_BYTES);
    assert_ok(pawl_thread_start(f->env, "half", apply_batch, b, &b->thread, &f->err), &f->err);
    test_proxy_await_held(f->proxy);
}

static void finish_batch(struct fixture *f, struct batch *b)
{
    test_proxy_limit(f->proxy, SIZE_MAX);
    pawl_thread_join(f->env, b->thread);
}

static void a_claim_of_a_row_that_a_half_sent_batch_has_locked_is_busy(void **state)
{
    struct fixture *f = *state;
    struct pawl_claim claimed;
    struct batch b;

    send_half(f, &b);
    assert_code(claim(f, f->healthy, f->healthy_node, "x0", &claimed, soon(f)), PAWL_EBUSY);
    finish_batch(f, &b);
    assert_ok(b.status, &b.err);
    for (int i = 0; i < INSTANCES; i++)
        assert_ok(b.commits[i].status, &b.commits[i].error);
    assert_code(claim(f, f->healthy, f->healthy_node, "x0", &claimed, soon(f)), PAWL_OK);
    assert_int_equal(claimed.row.revision, 2);
}

static struct pawl_pq_conn *connect_stranger(struct fixture *f)
{
    const struct pawl_socket_wait wait = {f->env, NULL, soon(f)};
    struct pawl_pq_conn *conn = NULL;

    assert_ok(pawl__pq_connect(f->pq, f->direct, &wait, &conn, &f->err), &f->err);
    return conn;
}

/* Why idle_in_transaction_session_timeout is no help: for the server nothing is idle here. */
static void a_half_sent_batch_counts_as_active_and_is_known_by_its_node(void **state)
{
    struct fixture *f = *state;
    struct pawl_pq_conn *stranger = connect_stranger(f);
    struct batch b;

    const char *question =
        pawl__arena_printf(&f->arena,
                           "SELECT state FROM pg_stat_activity WHERE wait_event = 'ClientRead' AND "
                           "xact_start IS NOT NULL AND application_name = 'pawl/' || "
                           "'pawl_nodes'::regclass::oid || ':%lld'",
                           (long long)f->slow_node);
    int64_t until_ns = soon(f);

    send_half(f, &b);
    /* Until it has done what it was sent. */
    do {
        run_as_stranger(f->env, stranger, question);
        assert_true(pawl_env_monotonic_ns(f->env) < until_ns);
    } while (pawl__pq_rows(stranger, 0) == 0);
    assert_true(pawl__str_is(pawl__pq_bytes(stranger, 0, 0, 0), "active"));
    finish_batch(f, &b);
    assert_ok(b.status, &b.err);
    pawl__pq_disconnect(stranger);
}

/* ---- leases -------------------------------------------------------------------------------- */

struct claimer {
    struct fixture *f;
    struct pawl_thread *thread;
    struct pawl_arena arena;
    _Atomic bool *stop;
    int wrong; /* the first answer that was not expected */
};

static void claim_again_and_again(void *arg)
{
    struct claimer *c = arg;

    while (!atomic_load(c->stop) && c->wrong == 0) {
        struct pawl_claim claimed = {.id = pawl__str("x1")};
        int64_t now_us;
        int status = pawl_store_claim(c->f->healthy, c->f->healthy_node, &claimed, 1, &c->arena,
                                      &now_us, soon(c->f), NULL);

        c->wrong = status == PAWL_EBUSY || claimed.status == PAWL_EBUSY ? 0 : status;
    }
}

/* Renewals in a row that may be late. */
#define LATE_MAX 30

/* More of them than there are connections for claims. */
static void a_lease_is_renewed_while_all_connections_wait_for_locked_rows(void **state)
{
    struct fixture *f = *state;
    struct claimer claimers[12];
    const size_t count = sizeof claimers / sizeof claimers[0];
    _Atomic bool stop = false;
    struct pawl_lease renewed = {.incarnation = f->healthy_node};
    struct batch b;
    int status, tries;

    send_half(f, &b);
    for (size_t i = 0; i < count; i++) {
        claimers[i] = (struct claimer){.f = f, .stop = &stop};
        pawl__arena_init(&claimers[i].arena, &f->env->alloc, (size_t)1 << 20);
        assert_ok(pawl_thread_start(f->env, "claimer", claim_again_and_again, &claimers[i],
                                    &claimers[i].thread, &f->err),
                  &f->err);
    }
    for (int i = 0; i < 20; i++) {
        renewed = (struct pawl_lease){.kind = PAWL_LEASE_RENEW,
                                      .node_id = pawl__str("healthy"),
                                      .incarnation = f->healthy_node,
                                      .ttl_us = LONG_LEASE_US,
                                      .info = pawl__str("{}")};
        /* The slow one is no reason: it lives. */
        assert_ok(lease(f, f->slow, PAWL_LEASE_RENEW, "slow", LONG_LEASE_US,
                        &(struct pawl_lease){.incarnation = f->slow_node}),
                  &f->err);
        /* Behind the claims it would wait again and again; a slow machine is late now and then. */
        tries = 0;
        do {
            status = pawl_store_lease(f->healthy, &renewed, in_ms(f, 1000), &f->err);
        } while ((status == PAWL_EUNKNOWN || status == PAWL_ETIMEDOUT) && ++tries < LATE_MAX);
        assert_ok(status, &f->err);
        assert_false(renewed.lapsed);
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < count; i++) {
        pawl_thread_join(f->env, claimers[i].thread);
        assert_int_equal(claimers[i].wrong, 0);
        pawl__arena_release(&claimers[i].arena);
    }
    /* A living node's session is nobody's to end. */
    finish_batch(f, &b);
    assert_ok(b.status, &b.err);
    assert_ok(b.commits[0].status, &b.commits[0].error);
}

/* ---- the sessions of dead nodes ------------------------------------------------------------ */

static void who_renews_its_lease_ends_the_sessions_of_dead_nodes(void **state)
{
    struct fixture *f = *state;
    int64_t until_ns;
    struct pawl_claim claimed;
    struct batch b;
    int status;

    send_half(f, &b);
    until_ns = soon(f);
    do {
        struct pawl_lease renewed = {.incarnation = f->healthy_node};

        assert_ok(lease(f, f->healthy, PAWL_LEASE_RENEW, "healthy", LEASE_US, &renewed), &f->err);
        assert_true(pawl_env_monotonic_ns(f->env) < until_ns);
        status = claim(f, f->healthy, f->healthy_node, "x2", &claimed, soon(f));
        assert_true(status == PAWL_OK || status == PAWL_EBUSY);
    } while (status != PAWL_OK);
    assert_int_equal(claimed.row.revision, 1);
    finish_batch(f, &b);
    /* The server said that it took the transaction back, or the connection broke before. */
    assert_true(b.status == PAWL_EUNAVAILABLE || b.status == PAWL_EUNKNOWN);
    assert_code(claim(f, f->healthy, f->healthy_node, "x3", &claimed, soon(f)), PAWL_OK);
    assert_int_equal(claimed.row.revision, 1);
    /* What was ended is opened again. */
    create(f, f->slow, "later");
}

/* Another store of the same database has incarnations of its own. */
static void sessions_of_another_schema_are_left_alone(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *other;
    char uri[160], other_uri[256], sql[64];
    int64_t me = 0;
    struct batch b;

    (void)snprintf(sql, sizeof sql, "CREATE SCHEMA other%u", f->schemas);
    test_postgres_sql(&f->server, sql);
    (void)test_postgres_uri(&f->server, "postgres", uri, sizeof uri);
    (void)snprintf(other_uri, sizeof other_uri, "%s?options=-csearch_path%%3Dother%u", uri,
                   f->schemas);
    other = open_store(f, other_uri);
    me = join(f, other, "other", LEASE_US);
    send_half(f, &b);
    /* Until the slow node's lease is over, and longer. */
    for (int i = 0; i < 12; i++) {
        assert_ok(lease(f, other, PAWL_LEASE_RENEW, "other", LEASE_US,
                        &(struct pawl_lease){.incarnation = me}),
                  &f->err);
        assert_ok(pawl_env_sleep_until(f->env, in_ms(f, 150)), &f->err);
    }
    finish_batch(f, &b);
    assert_ok(b.status, &b.err);
    assert_ok(b.commits[0].status, &b.commits[0].error);
    pawl_store_close(other);
}

/* ---- commits ------------------------------------------------------------------------------- */

static void a_cancel_of_a_locked_instance_is_busy_alone(void **state)
{
    struct fixture *f = *state;
    struct pawl_pq_conn *stranger = connect_stranger(f);
    struct pawl_instance_row rows[3] = {{.id = pawl__str("new1"), .state = pawl__str("{}")},
                                        {.id = pawl__str("x0")},
                                        {.id = pawl__str("new2"), .state = pawl__str("{}")}};
    struct pawl_commit commits[3] = {0}, *list[3];

    for (int i = 0; i < 3; i++) {
        commits[i] = (struct pawl_commit){.kind = i == 1 ? PAWL_COMMIT_CANCEL : PAWL_COMMIT_CREATE,
                                          .flags = i == 1 ? 0 : PAWL_COMMIT_RELEASE,
                                          .instance = &rows[i]};
        list[i] = &commits[i];
    }
    run_as_stranger(f->env, stranger, "BEGIN");
    run_as_stranger(f->env, stranger, "SELECT 1 FROM pawl_instances WHERE id = 'x0' FOR UPDATE");
    assert_ok(pawl_store_apply(f->healthy, list, 3, soon(f), &f->err), &f->err);
    assert_ok(commits[0].status, &commits[0].error);
    assert_code(commits[1].status, PAWL_EBUSY);
    assert_ok(commits[2].status, &commits[2].error);
    run_as_stranger(f->env, stranger, "ROLLBACK");
    assert_ok(pawl_store_apply(f->healthy, list + 1, 1, soon(f), &f->err), &f->err);
    assert_ok(commits[1].status, &commits[1].error);
    pawl__pq_disconnect(stranger);
}

#define with_nodes(test) cmocka_unit_test_setup_teardown(test, open_test, close_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_nodes(a_claim_of_a_row_that_a_half_sent_batch_has_locked_is_busy),
        with_nodes(a_half_sent_batch_counts_as_active_and_is_known_by_its_node),
        with_nodes(a_lease_is_renewed_while_all_connections_wait_for_locked_rows),
        with_nodes(who_renews_its_lease_ends_the_sessions_of_dead_nodes),
        with_nodes(sessions_of_another_schema_are_left_alone),
        with_nodes(a_cancel_of_a_locked_instance_is_busy_alone),
    };

    return cmocka_run_group_tests_name("stores/postgres_locks", tests, open_group, close_group);
}
