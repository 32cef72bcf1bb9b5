/* SPDX-License-Identifier: Apache-2.0 */
/* What the contract does not show of the PostgreSQL store: servers that fail, and what calls cost.
 */
#include "servers/postgres.h"
#include "base/arena.h"
#include "drivers/libpq.h"
#include "lib/test.h"
#include "stores/stores.h"

#include <stdio.h>
#include <stdlib.h>

#define SECRET "correct-horse"
#define MEMBERS 64

struct fixture {
    struct test_postgres server;
    struct pawl_env *env;
    struct pawl_arena arena;
    struct pawl_error err;
    char uri[320];
    unsigned schemas;
};

static int open_group(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    if (!f)
        return -1;
    *state = f;
    test_postgres_start(&f->server, SECRET);
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    pawl__arena_init(&f->arena, &f->env->alloc, (size_t)64 << 20);
    return 0;
}

static int close_group(void **state)
{
    struct fixture *f = *state;

    pawl__arena_release(&f->arena);
    pawl_system_env_close(f->env);
    test_postgres_stop(&f->server);
    free(f);
    return 0;
}

/* Every test has a schema of its own. */
static int open_test(void **state)
{
    struct fixture *f = *state;
    char uri[256], sql[64];

    if (f->server.daemon.pid == 0)
        test_postgres_restart(&f->server);
    (void)snprintf(sql, sizeof sql, "CREATE SCHEMA t%u", ++f->schemas);
    test_postgres_sql(&f->server, sql);
    (void)test_postgres_uri(&f->server, "postgres", uri, sizeof uri);
    (void)snprintf(f->uri, sizeof f->uri, "%s?options=-csearch_path%%3Dt%u", uri, f->schemas);
    pawl__arena_reset(&f->arena);
    f->err = (struct pawl_error)PAWL_ERROR_INIT;
    return 0;
}

static int64_t soon(struct fixture *f)
{
    return pawl_env_monotonic_ns(f->env) + INT64_C(20000000000);
}

static int try_open(struct fixture *f, const char *uri, uint32_t flags, struct pawl_store **out)
{
    const struct pawl_store_options options = {.flags = flags};

    return pawl__postgres_store_open(f->env, pawl__str(uri), &options, out, &f->err);
}

static struct pawl_store *open_store(struct fixture *f)
{
    struct pawl_store *store = NULL;

    assert_ok(try_open(f, f->uri, PAWL_STORE_OPEN_CREATE, &store), &f->err);
    return store;
}

static int64_t round_trips(struct fixture *f, struct pawl_store *store)
{
    struct pawl_store_status status;

    assert_ok(pawl_store_status(store, &status, soon(f), &f->err), &f->err);
    return status.round_trips;
}

static int64_t join(struct fixture *f, struct pawl_store *store, const char *id)
{
    struct pawl_lease lease = {.kind = PAWL_LEASE_JOIN,
                               .node_id = pawl__str(id),
                               .ttl_us = INT64_C(3600000000),
                               .info = pawl__str("{}")};

    assert_ok(pawl_store_lease(store, &lease, soon(f), &f->err), &f->err);
    return lease.incarnation;
}

/* Nodes ask for the time every second, and the server takes long to find its size. */
static void the_size_is_told_to_who_asks_for_it(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = open_store(f);
    struct pawl_store_status status;
    int64_t size = 0;

    assert_ok(pawl_store_status(store, &status, soon(f), &f->err), &f->err);
    assert_int_equal(status.size_bytes, 0);
    assert_ok(pawl_store_size(store, &size, soon(f), &f->err), &f->err);
    assert_true(size > 1 << 20);
    pawl_store_close(store);
}

/* ---- many new instances ------------------------------------------------------------------ */

struct group {
    struct pawl_instance_row rows[MEMBERS];
    struct pawl_journal_row journals[MEMBERS];
    struct pawl_reservation_row reservations[MEMBERS];
    struct pawl_change changes[MEMBERS][2];
    struct pawl_commit commits[MEMBERS];
    struct pawl_commit *list[MEMBERS];
    struct pawl_claim claims[MEMBERS];
};

static struct group *make_group(struct fixture *f, const char *prefix)
{
    struct group *g = pawl__arena_alloc_zeroed(&f->arena, sizeof *g);

    assert_non_null(g);
    for (int i = 0; i < MEMBERS; i++) {
        struct pawl_str id =
            pawl__str(pawl__arena_printf(&f->arena, "%s-%02d", prefix, MEMBERS - i));

        g->rows[i] = (struct pawl_instance_row){.id = id, .state = pawl__str("{}")};
        g->journals[i] = (struct pawl_journal_row){.instance_id = id, .data = pawl__str("x")};
        g->changes[i][0] =
            (struct pawl_change){PAWL_CHANGE_INSERT, PAWL_TABLE_JOURNAL, &g->journals[i]};
        g->reservations[i] = (struct pawl_reservation_row){
            .key = id, .instance_id = id, .expires_us = PAWL_TIME_NEVER};
        g->changes[i][1] =
            (struct pawl_change){PAWL_CHANGE_INSERT, PAWL_TABLE_RESERVATIONS, &g->reservations[i]};
        g->commits[i] = (struct pawl_commit){.kind = PAWL_COMMIT_CREATE,
                                             .flags = PAWL_COMMIT_RELEASE,
                                             .instance = &g->rows[i],
                                             .changes = g->changes[i],
                                             .change_count = 2};
        g->list[i] = &g->commits[i];
        g->claims[i] = (struct pawl_claim){.id = id};
    }
    return g;
}

static void apply_group(struct fixture *f, struct pawl_store *store, struct group *g)
{
    assert_ok(pawl_store_apply(store, g->list, MEMBERS, soon(f), &f->err), &f->err);
    for (int i = 0; i < MEMBERS; i++)
        assert_ok(g->commits[i].status, &g->commits[i].error);
}

static uint64_t count_rows(struct fixture *f, struct pawl_store *store, enum pawl_table table)
{
    const struct pawl_query query = {.table = table, .flags = PAWL_QUERY_COUNT};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(store, &query, &f->arena, &rows, soon(f), &f->err), &f->err);
    return rows.total;
}

static void claims_and_commits_of_many_are_one_round_trip(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = open_store(f);
    int64_t me = join(f, store, "a"), before, now_us = 0;

    apply_group(f, store, make_group(f, "first")); /* connections are opened, texts prepared */
    for (int round = 0; round < 2; round++) {
        struct group *g = make_group(f, round ? "second" : "third");

        before = round_trips(f, store);
        apply_group(f, store, g);
        assert_int_equal(round_trips(f, store) - before, 2); /* and the status itself */
        before = round_trips(f, store);
        assert_ok(
            pawl_store_claim(store, me, g->claims, MEMBERS, &f->arena, &now_us, soon(f), &f->err),
            &f->err);
        assert_int_equal(round_trips(f, store) - before, 2);
        for (int i = 0; i < MEMBERS; i++) {
            assert_code(g->claims[i].status, PAWL_OK);
            g->claims[i].row.updated_us = 77;
            g->commits[i].instance = &g->claims[i].row;
            g->commits[i].kind = PAWL_COMMIT_ADVANCE;
            g->commits[i].change_count = 0;
        }
        assert_true(now_us > INT64_C(1700000000000000));
        before = round_trips(f, store);
        apply_group(f, store, g);
        assert_int_equal(round_trips(f, store) - before, 2);
    }
    assert_int_equal(count_rows(f, store, PAWL_TABLE_INSTANCES), 3 * MEMBERS);
    assert_int_equal(count_rows(f, store, PAWL_TABLE_JOURNAL), 3 * MEMBERS);
    pawl_store_close(store);
}

static int64_t syncs(struct fixture *f, struct pawl_store *store)
{
    struct pawl_store_status status;

    assert_ok(pawl_store_status(store, &status, soon(f), &f->err), &f->err);
    return status.syncs;
}

/* Whoever else commits does not pay for it. */
static void one_key_of_several_members_is_refused_without_another_sync(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = open_store(f);
    struct group *g;
    int64_t before;
    int granted = 0;

    apply_group(f, store, make_group(f, "first"));
    for (int is_new = 0; is_new < 2; is_new++) {
        struct group *again = make_group(f, "first");

        g = make_group(f, is_new ? "new" : "plain");
        for (int i = 0; i < MEMBERS && !is_new; i++)
            g->commits[i].kind = PAWL_COMMIT_PLAIN;
        for (int i = 0; i < 3; i++)
            g->reservations[i].key = pawl__str(is_new ? "one" : "another");
        for (int i = 3; i < 5; i++)
            g->reservations[i].key = again->reservations[i].key; /* that is there */
        /* In front of these one that is sent by itself, and holds. */
        g->commits[5].stamp = pawl__str(is_new ? "new" : "plain");
        g->list[3] = &g->commits[5];
        g->list[5] = &g->commits[3];
        before = syncs(f, store);
        assert_ok(pawl_store_apply(store, g->list, MEMBERS, soon(f), &f->err), &f->err);
        assert_int_equal(syncs(f, store) - before, 1);
        granted = 0;
        for (int i = 0; i < MEMBERS; i++) {
            granted += i < 3 && g->commits[i].status == PAWL_OK;
            if (i >= 5)
                assert_ok(g->commits[i].status, &g->commits[i].error);
            else if (g->commits[i].status != PAWL_OK)
                assert_code(g->commits[i].status, PAWL_EEXISTS);
        }
        assert_int_equal(granted, 1);
    }
    pawl_store_close(store);
}

static void taking_and_finding_are_one_round_trip(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = open_store(f);
    const struct pawl_take take = {.owner = join(f, store, "a"), .limit = 10};
    const struct pawl_query queries[3] = {
        {.table = PAWL_TABLE_TRIGGERS},
        {.table = PAWL_TABLE_BOOKMARKS, .flags = PAWL_QUERY_TOTAL},
        {.table = PAWL_TABLE_NODES},
    };
    struct pawl_taken taken;
    struct pawl_rows rows[3];
    int64_t before;

    assert_ok(pawl_store_take(store, &take, &f->arena, &taken, soon(f), &f->err), &f->err);
    before = round_trips(f, store);
    assert_ok(pawl_store_take(store, &take, &f->arena, &taken, soon(f), &f->err), &f->err);
    assert_int_equal(taken.work_count, 0);
    assert_int_equal(round_trips(f, store) - before, 2);
    before = round_trips(f, store);
    assert_int_equal(count_rows(f, store, PAWL_TABLE_WORK), 0);
    assert_int_equal(round_trips(f, store) - before, 2);
    before = round_trips(f, store);
    assert_ok(pawl_store_find_many(store, queries, 3, &f->arena, rows, soon(f), &f->err), &f->err);
    assert_int_equal(rows[2].count, 1);
    assert_int_equal(round_trips(f, store) - before, 2);
    pawl_store_close(store);
}

/* ---- tickets ----------------------------------------------------------------------------- */

/* How many advisory locks by one number there are on the server, as another client sees it. */
static int64_t locks_held(struct fixture *f)
{
    const struct pawl_socket_wait wait = {f->env, NULL, soon(f)};
    struct pawl_pq_conn *conn = NULL;
    struct pawl_pq *pq = NULL;
    int64_t count;

    assert_ok(pawl__pq_open(&f->env->alloc, &pq, &f->err), &f->err);
    assert_ok(pawl__pq_connect(pq, f->uri, &wait, &conn, &f->err), &f->err);
    assert_ok(pawl__pq_begin(conn, &f->err), &f->err);
    assert_ok(pawl__pq_queue(conn, PAWL_PQ_STATEMENT_NONE,
                             "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND "
                             "objsubid = 1 AND granted",
                             NULL, 0, &f->err),
              &f->err);
    assert_ok(pawl__pq_sync(conn, &f->err), &f->err);
    assert_ok(pawl__pq_run(conn, false, &wait, &f->err), &f->err);
    assert_ok(pawl__pq_status(conn, 0, &f->err), &f->err);
    count = pawl__pq_int(conn, 0, 0, 0);
    pawl__pq_disconnect(conn);
    pawl__pq_close(pq);
    return count;
}

/* Posted statements are on their way: their end is waited for. */
static void await_locks(struct fixture *f, int64_t count)
{
    while (locks_held(f) != count)
        ;
}

static struct pawl_claim claim_with(struct fixture *f, struct pawl_store *store, int64_t owner,
                                    struct pawl_str id, const struct pawl_lock_ticket *ticket)
{
    struct pawl_claim claim = {.id = id, .ticket = ticket};
    int64_t now_us = 0;

    assert_ok(pawl_store_claim(store, owner, &claim, 1, &f->arena, &now_us, soon(f), &f->err),
              &f->err);
    return claim;
}

static void release_claim(struct fixture *f, struct pawl_store *store,
                          const struct pawl_claim *claim)
{
    struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE,
                                 .flags = PAWL_COMMIT_RELEASE | PAWL_COMMIT_KEEP,
                                 .instance = &claim->row},
                       *list = &commit;

    assert_ok(pawl_store_apply(store, &list, 1, soon(f), &f->err), &f->err);
    assert_ok(commit.status, &commit.error);
}

static void a_claim_with_a_ticket_takes_the_lock_in_the_same_round_trip(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = open_store(f);
    const struct pawl_lock_ticket ticket = {-77};
    int64_t me = join(f, store, "a"), before;
    struct group *g = make_group(f, "g");

    apply_group(f, store, g);
    for (int i = 0; i < 3; i++) { /* the first one prepares */
        struct pawl_claim claim;

        before = round_trips(f, store);
        claim = claim_with(f, store, me, g->claims[i].id, &ticket);
        assert_code(claim.status, PAWL_OK);
        assert_int_equal(locks_held(f), 1);
        release_claim(f, store, &claim);
        pawl_store_unlock(store, &ticket);
        assert_int_equal(round_trips(f, store) - before, 3); /* claim, commit, the status */
        await_locks(f, 0);
    }
    pawl_store_unlock(store, &ticket); /* nothing to give back */
    pawl_store_close(store);
}

static void a_lock_that_somebody_else_has_makes_a_claim_busy(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *a = open_store(f), *b = open_store(f);
    const struct pawl_lock_ticket tickets[MEMBERS] = {{5}, {6}, {7}};
    int64_t node_a = join(f, a, "a"), node_b = join(f, b, "b"), now_us;
    struct group *g = make_group(f, "g");
    struct pawl_claim first, claims[3];

    apply_group(f, a, g);
    first = claim_with(f, a, node_a, g->claims[9].id, &tickets[1]);
    assert_code(first.status, PAWL_OK);
    for (int i = 0; i < 3; i++)
        claims[i] = (struct pawl_claim){.id = g->claims[i].id, .ticket = &tickets[i]};
    assert_ok(pawl_store_claim(b, node_b, claims, 3, &f->arena, &now_us, soon(f), &f->err),
              &f->err);
    assert_code(claims[0].status, PAWL_OK);
    assert_code(claims[1].status, PAWL_EBUSY);
    assert_int_equal(claims[1].row.owner, 0);
    assert_code(claims[2].status, PAWL_OK);
    assert_int_equal(locks_held(f), 3);
    pawl_store_unlock(a, &tickets[1]);
    await_locks(f, 2);
    assert_code(claim_with(f, b, node_b, g->claims[1].id, &tickets[1]).status, PAWL_OK);
    pawl_store_close(b);
    pawl_store_close(a);
    await_locks(f, 0);
}

static void a_lock_taken_for_a_claim_that_was_refused_is_given_back(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *a = open_store(f), *b = open_store(f);
    const struct pawl_lock_ticket ticket = {9};
    int64_t node_a = join(f, a, "a"), node_b = join(f, b, "b");
    struct group *g = make_group(f, "g");

    apply_group(f, a, g);
    assert_code(claim_with(f, a, node_a, g->claims[0].id, NULL).status, PAWL_OK);
    assert_code(claim_with(f, b, node_b, g->claims[0].id, &ticket).status, PAWL_EBUSY);
    await_locks(f, 0);
    assert_code(claim_with(f, b, node_b, pawl__str("nobody"), &ticket).status, PAWL_ENOTFOUND);
    await_locks(f, 0);
    pawl_store_close(b);
    pawl_store_close(a);
}

static void the_same_store_may_claim_again_with_a_ticket_it_has(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = open_store(f);
    const struct pawl_lock_ticket ticket = {10};
    int64_t me = join(f, store, "a");
    struct group *g = make_group(f, "g");

    apply_group(f, store, g);
    for (int i = 0; i < 5; i++)
        assert_code(claim_with(f, store, me, g->claims[0].id, &ticket).status, PAWL_OK);
    assert_int_equal(locks_held(f), 1);
    pawl_store_unlock(store, &ticket);
    await_locks(f, 0);
    pawl_store_close(store);
}

static void a_dead_owners_lock_does_not_keep_anybody_from_taking_over(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *a = open_store(f), *b = open_store(f);
    const struct pawl_lock_ticket ticket = {11};
    struct pawl_lease lease = {
        .kind = PAWL_LEASE_JOIN, .node_id = pawl__str("paused"), .ttl_us = 1};
    int64_t node_b = join(f, b, "b");
    struct group *g = make_group(f, "g");
    struct pawl_claim claim;

    apply_group(f, a, g);
    assert_ok(pawl_store_lease(a, &lease, soon(f), &f->err), &f->err);
    assert_code(claim_with(f, a, lease.incarnation, g->claims[0].id, &ticket).status, PAWL_OK);
    do /* until the lease of a microsecond is over; the connection of `a` has the lock all the time
        */
        claim = claim_with(f, b, node_b, g->claims[0].id, &ticket);
    while (claim.status == PAWL_EBUSY && claim.row.owner != 0);
    assert_code(claim.status, PAWL_OK);
    assert_int_equal(locks_held(f), 1);
    pawl_store_unlock(b, &ticket);
    pawl_store_unlock(a, &ticket);
    await_locks(f, 0);
    pawl_store_close(b);
    pawl_store_close(a);
}

static void locks_end_with_the_connection_and_can_be_taken_again(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = open_store(f);
    const struct pawl_lock_ticket ticket = {12};
    int64_t me = join(f, store, "a");
    struct group *g = make_group(f, "g");

    apply_group(f, store, g);
    assert_code(claim_with(f, store, me, g->claims[0].id, &ticket).status, PAWL_OK);
    test_postgres_crash(&f->server);
    test_postgres_restart(&f->server);
    assert_code(claim_with(f, store, me, g->claims[0].id, &ticket).status, PAWL_OK);
    assert_int_equal(locks_held(f), 1);
    pawl_store_unlock(store, &ticket);
    await_locks(f, 0);
    pawl_store_close(store);
}

struct churner {
    struct fixture *f;
    struct pawl_store *store;
    int64_t me;
    struct pawl_str id;
    struct pawl_lock_ticket ticket;
    unsigned refused;
};

static void churn(void *arg)
{
    struct churner *c = arg;
    struct pawl_arena arena;

    pawl__arena_init(&arena, &c->f->env->alloc, (size_t)1 << 20);
    for (int i = 0; i < 300; i++) {
        struct pawl_claim claim = {.id = c->id, .ticket = &c->ticket};
        struct pawl_commit commit = {.kind = PAWL_COMMIT_ADVANCE,
                                     .flags = PAWL_COMMIT_RELEASE | PAWL_COMMIT_KEEP,
                                     .instance = &claim.row},
                           *list = &commit;
        int64_t now_us;

        assert_ok(pawl_store_claim(c->store, c->me, &claim, 1, &arena, &now_us, soon(c->f), NULL),
                  NULL);
        c->refused += claim.status == PAWL_EBUSY;
        if (claim.status == PAWL_OK) {
            assert_ok(pawl_store_apply(c->store, &list, 1, soon(c->f), NULL), NULL);
            assert_ok(commit.status, &commit.error);
        }
        pawl_store_unlock(c->store, &c->ticket);
        pawl__arena_reset(&arena);
    }
    pawl__arena_release(&arena);
}

/* Nor is anybody refused a lock because its own unlocking is on its way by another connection. */
static void many_threads_leave_no_lock_behind(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = open_store(f);
    int64_t me = join(f, store, "a");
    struct group *g = make_group(f, "g");
    struct churner churners[8];
    struct pawl_thread *threads[8];

    apply_group(f, store, g);
    for (int i = 0; i < 8; i++) {
        churners[i] = (struct churner){f, store, me, g->claims[i].id, {100 + i}, 0};
        assert_ok(pawl_thread_start(f->env, "churn", churn, &churners[i], &threads[i], &f->err),
                  &f->err);
    }
    for (int i = 0; i < 8; i++) {
        pawl_thread_join(f->env, threads[i]);
        assert_int_equal(churners[i].refused, 0);
    }
    await_locks(f, 0);
    pawl_store_close(store);
}

/* ---- opening ----------------------------------------------------------------------------- */

static void opening_says_what_is_wrong(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = NULL;
    char uri[256], port[16];

    (void)snprintf(port, sizeof port, "%u", (unsigned)f->server.port);
    (void)snprintf(uri, sizeof uri, "postgres://pawl:wrong-horse@127.0.0.1:%s/postgres", port);
    assert_code(try_open(f, uri, PAWL_STORE_OPEN_CREATE, &store), PAWL_EPERM);
    assert_non_null(strstr(f->err.msg, "password"));
    assert_null(strstr(f->err.msg, "wrong-horse"));
    (void)test_postgres_uri(&f->server, "nowhere", uri, sizeof uri);
    assert_code(try_open(f, uri, PAWL_STORE_OPEN_CREATE, &store), PAWL_ENOTFOUND);
    assert_non_null(strstr(f->err.msg, "createdb"));
    assert_code(try_open(f, "postgres://[", PAWL_STORE_OPEN_CREATE, &store), PAWL_EINVAL);
    assert_code(try_open(f, "", PAWL_STORE_OPEN_CREATE, &store), PAWL_EINVAL);
    assert_code(try_open(f, f->uri, 0, &store), PAWL_ENOTFOUND);
    assert_code(try_open(f, f->uri, PAWL_STORE_OPEN_READ, &store), PAWL_ENOTFOUND);
    test_postgres_crash(&f->server);
    assert_code(try_open(f, f->uri, PAWL_STORE_OPEN_CREATE, &store), PAWL_EUNAVAILABLE);
    assert_non_null(strstr(f->err.msg, "127.0.0.1"));
    assert_non_null(strstr(f->err.msg, port));
    assert_null(strstr(f->err.msg, SECRET));
    assert_null(store);
}

static void a_newer_schema_is_refused(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = open_store(f);
    char sql[256];

    pawl_store_close(store);
    store = NULL;
    (void)snprintf(sql, sizeof sql,
                   "INSERT INTO t%u.pawl_schema SELECT 99, 99, '7.7.7', applied_us FROM "
                   "t%u.pawl_schema LIMIT 1",
                   f->schemas, f->schemas);
    test_postgres_sql(&f->server, sql);
    assert_code(try_open(f, f->uri, PAWL_STORE_OPEN_CREATE, &store), PAWL_EUNSUPPORTED);
    assert_non_null(strstr(f->err.msg, "99"));
    assert_non_null(strstr(f->err.msg, "7.7.7"));
    assert_null(strstr(f->err.msg, SECRET));
    assert_null(store);
}

static void a_store_opened_for_reading_writes_nothing(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = open_store(f), *reader = NULL;
    struct pawl_lease lease = {.kind = PAWL_LEASE_JOIN, .node_id = pawl__str("r"), .ttl_us = 1};
    struct group *g = make_group(f, "g");

    apply_group(f, store, g);
    assert_ok(try_open(f, f->uri, PAWL_STORE_OPEN_READ, &reader), &f->err);
    assert_int_equal(count_rows(f, reader, PAWL_TABLE_INSTANCES), MEMBERS);
    assert_code(pawl_store_lease(reader, &lease, soon(f), &f->err), PAWL_EPERM);
    assert_code(pawl_store_apply(reader, g->list, 1, soon(f), &f->err), PAWL_EPERM);
    pawl_store_close(reader);
    pawl_store_close(store);
}

struct opener {
    struct fixture *f;
    struct pawl_store *store;
    struct pawl_error err;
    int status;
};

static void open_it(void *arg)
{
    const struct pawl_store_options options = {.flags = PAWL_STORE_OPEN_CREATE};
    struct opener *opener = arg;

    opener->status = pawl__postgres_store_open(opener->f->env, pawl__str(opener->f->uri), &options,
                                               &opener->store, &opener->err);
}

static void nodes_that_start_at_once_on_an_empty_database_all_succeed(void **state)
{
    struct fixture *f = *state;
    struct opener openers[4];
    struct pawl_thread *threads[4];

    for (int i = 0; i < 4; i++) {
        openers[i] = (struct opener){.f = f};
        assert_ok(pawl_thread_start(f->env, "open", open_it, &openers[i], &threads[i], &f->err),
                  &f->err);
    }
    for (int i = 0; i < 4; i++)
        pawl_thread_join(f->env, threads[i]);
    for (int i = 0; i < 4; i++) {
        assert_ok(openers[i].status, &openers[i].err);
        assert_int_equal(join(f, openers[i].store, i % 2 ? "odd" : "even"), i + 1);
        pawl_store_close(openers[i].store);
    }
}

/* ---- a server that goes away ------------------------------------------------------------- */

static void a_server_that_was_restarted_between_calls_is_used_again(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = open_store(f);
    struct pawl_wake wake = {0};
    int64_t me = join(f, store, "a"), now_us;
    struct group *g = make_group(f, "a");

    apply_group(f, store, g);
    assert_ok(pawl_store_wait(store, &wake, soon(f), &f->err), &f->err);
    test_postgres_crash(&f->server);
    test_postgres_restart(&f->server);
    /* Nothing was on its way, so nothing is unknown. */
    apply_group(f, store, make_group(f, "b"));
    assert_ok(pawl_store_claim(store, me, g->claims, MEMBERS, &f->arena, &now_us, soon(f), &f->err),
              &f->err);
    assert_code(g->claims[0].status, PAWL_OK);
    assert_ok(pawl_store_wait(store, &wake, soon(f), &f->err), &f->err);
    assert_int_equal(count_rows(f, store, PAWL_TABLE_INSTANCES), 2 * MEMBERS);
    pawl_store_close(store);
}

static void without_a_server_calls_fail_and_afterwards_they_do_not(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = open_store(f);
    struct pawl_store_status status;
    struct pawl_wake wake = {0};
    struct group *g = make_group(f, "a");

    test_postgres_crash(&f->server);
    for (int i = 0; i < 3; i++) {
        assert_code(pawl_store_apply(store, g->list, MEMBERS, soon(f), &f->err), PAWL_EUNAVAILABLE);
        assert_code(pawl_store_status(store, &status, soon(f), &f->err), PAWL_EUNAVAILABLE);
        assert_code(pawl_store_wait(store, &wake, soon(f), &f->err), PAWL_EUNAVAILABLE);
    }
    assert_non_null(strstr(f->err.msg, "127.0.0.1"));
    test_postgres_restart(&f->server);
    apply_group(f, store, g);
    assert_ok(pawl_store_wait(store, &wake, soon(f), &f->err), &f->err);
    assert_int_equal(count_rows(f, store, PAWL_TABLE_INSTANCES), MEMBERS);
    pawl_store_close(store);
}

struct applier {
    struct fixture *f;
    struct pawl_store *store;
    struct group *group;
    struct pawl_error err;
    int status;
};

static void apply_it(void *arg)
{
    struct applier *a = arg;

    a->status = pawl_store_apply(a->store, a->group->list, MEMBERS, soon(a->f), &a->err);
}

/* The batch is sent and the server stands still: nobody can know. Then it is looked up. */
static void a_server_that_is_killed_during_a_commit_leaves_it_unknown(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = open_store(f);
    struct applier a = {.f = f, .store = store, .group = make_group(f, "a")};
    struct pawl_thread *thread = NULL;
    uint64_t count;

    apply_group(f, store, make_group(f, "warm"));
    test_postgres_pause(&f->server);
    assert_ok(pawl_thread_start(f->env, "apply", apply_it, &a, &thread, &f->err), &f->err);
    test_postgres_crash(&f->server);
    pawl_thread_join(f->env, thread);
    /* The thread may have come too late to send anything: then nothing happened. */
    assert_true(a.status == PAWL_EUNKNOWN || a.status == PAWL_EUNAVAILABLE);
    test_postgres_restart(&f->server);
    count = count_rows(f, store, PAWL_TABLE_INSTANCES);
    assert_true(count == MEMBERS || (count == 2 * MEMBERS && a.status == PAWL_EUNKNOWN));
    /* Applied again, each member either happens now or is seen to have happened. */
    assert_ok(pawl_store_apply(store, a.group->list, MEMBERS, soon(f), &f->err), &f->err);
    for (int i = 0; i < MEMBERS; i++)
        assert_code(a.group->commits[i].status, count == MEMBERS ? PAWL_OK : PAWL_EEXISTS);
    assert_int_equal(count_rows(f, store, PAWL_TABLE_INSTANCES), 2 * MEMBERS);
    pawl_store_close(store);
}

static void a_server_that_stands_still_ends_calls_at_their_deadline(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = open_store(f);
    struct pawl_store_status status;
    struct group *g = make_group(f, "a");
    int64_t deadline_ns;

    apply_group(f, store, make_group(f, "warm"));
    assert_ok(pawl_store_status(store, &status, soon(f), &f->err), &f->err);
    test_postgres_pause(&f->server);
    deadline_ns = pawl_env_monotonic_ns(f->env) + 50000000;
    assert_code(pawl_store_status(store, &status, deadline_ns, &f->err), PAWL_ETIMEDOUT);
    deadline_ns = pawl_env_monotonic_ns(f->env) + 50000000;
    assert_code(pawl_store_apply(store, g->list, MEMBERS, deadline_ns, &f->err), PAWL_EUNKNOWN);
    test_postgres_continue(&f->server);
    assert_ok(pawl_store_apply(store, g->list, MEMBERS, soon(f), &f->err), &f->err);
    assert_int_equal(count_rows(f, store, PAWL_TABLE_INSTANCES), 2 * MEMBERS);
    pawl_store_close(store);
}

/* ---- reservations ------------------------------------------------------------------------ */

struct reserver {
    struct applier base;
    int granted;
};

/* Sixteen rounds of the same keys against another thread, in the other order. */
static void reserve(void *arg)
{
    struct reserver *r = arg;

    for (int round = 0; round < 16 && r->base.status == PAWL_OK; round++) {
        struct group *g = &r->base.group[round];

        r->base.status =
            pawl_store_apply(r->base.store, g->list, MEMBERS, soon(r->base.f), &r->base.err);
        for (int i = 0; i < MEMBERS && r->base.status == PAWL_OK; i++) {
            r->granted += g->commits[i].status == PAWL_OK;
            if (g->commits[i].status != PAWL_OK && g->commits[i].status != PAWL_EEXISTS)
                r->base.status = g->commits[i].status;
        }
    }
}

static struct group *make_groups(struct fixture *f, char who, bool backwards)
{
    struct group *groups = pawl__arena_alloc_array(&f->arena, 16, sizeof *groups);

    assert_non_null(groups);
    for (int round = 0; round < 16; round++) {
        struct group *made = make_group(f, pawl__arena_printf(&f->arena, "%c%d", who, round));

        for (int i = 0; i < MEMBERS; i++) {
            /* Instances of one's own, keys that both want. */
            made->reservations[i].key =
                pawl__str(pawl__arena_printf(&f->arena, "key-%d-%d", round, i));
            made->list[i] = &made->commits[backwards ? MEMBERS - 1 - i : i];
        }
        groups[round] = *made;
        for (int i = 0; i < MEMBERS; i++) { /* what pointed into the original */
            struct pawl_commit *commit = &groups[round].commits[i];

            commit->instance = &groups[round].rows[i];
            commit->changes = groups[round].changes[i];
            groups[round].changes[i][0].row = &groups[round].journals[i];
            groups[round].changes[i][1].row = &groups[round].reservations[i];
            groups[round].list[i] = &groups[round].commits[backwards ? MEMBERS - 1 - i : i];
        }
    }
    return groups;
}

static void a_key_that_two_batches_want_is_given_once_and_neither_falls_back(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *stores[2];
    struct pawl_thread *threads[2];
    struct reserver r[2];

    for (int i = 0; i < 2; i++) {
        stores[i] = open_store(f);
        r[i] = (struct reserver){
            .base = {.f = f, .store = stores[i], .group = make_groups(f, i ? 'b' : 'a', i == 1)}};
    }
    for (int i = 0; i < 2; i++)
        assert_ok(pawl_thread_start(f->env, "reserve", reserve, &r[i], &threads[i], &f->err),
                  &f->err);
    for (int i = 0; i < 2; i++)
        pawl_thread_join(f->env, threads[i]);
    for (int i = 0; i < 2; i++) {
        assert_ok(r[i].base.status, &r[i].base.err);
        /* One try each: the connections, 16 batches, and this question. */
        assert_true(round_trips(f, stores[i]) <= 16 + 10);
    }
    assert_int_equal(r[0].granted + r[1].granted, 16 * MEMBERS);
    assert_int_equal(count_rows(f, stores[0], PAWL_TABLE_RESERVATIONS), 16 * MEMBERS);
    assert_int_equal(count_rows(f, stores[0], PAWL_TABLE_INSTANCES), 16 * MEMBERS);
    pawl_store_close(stores[0]);
    pawl_store_close(stores[1]);
}

/* ---- limits, memory ---------------------------------------------------------------------- */

static void a_row_that_is_too_large_fails_alone(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = open_store(f);
    struct group *g = make_group(f, "a");
    size_t size = (size_t)257 << 20;
    char *huge = calloc(1, size);

    assert_non_null(huge);
    g->rows[5].state = pawl__str_make(huge, size);
    assert_ok(pawl_store_apply(store, g->list, MEMBERS, soon(f), &f->err), &f->err);
    for (int i = 0; i < MEMBERS; i++)
        assert_code(g->commits[i].status, i == 5 ? PAWL_ELIMIT : PAWL_OK);
    assert_non_null(strstr(g->commits[5].error.msg, "a-59"));
    free(huge);
    pawl_store_close(store);
}

/* ---- a bookmark and the parking of its work, side by side ---------------------------------- */

struct bookmarking {
    struct fixture *f;
    struct pawl_store *store;
    struct pawl_error err;
    int status;
};

static void commit_bookmark(void *arg)
{
    struct bookmarking *b = arg;
    struct pawl_bookmark_row bookmark = {
        .id = pawl__str("b"), .instance_id = pawl__str("i"), .hash = pawl__str("h")};
    const struct pawl_change change = {PAWL_CHANGE_INSERT, PAWL_TABLE_BOOKMARKS, &bookmark};
    struct pawl_commit commit = {.changes = &change, .change_count = 1}, *list = &commit;

    b->status = pawl_store_apply(b->store, &list, 1, PAWL_FOREVER, &b->err);
    if (b->status == PAWL_OK)
        b->status = commit.status;
}

static struct pawl_work_row find_work(struct fixture *f, struct pawl_store *store)
{
    const struct pawl_query query = {.table = PAWL_TABLE_WORK};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(store, &query, &f->arena, &rows, soon(f), &f->err), &f->err);
    assert_int_equal(rows.count, 1);
    return *(const struct pawl_work_row *)rows.rows;
}

/*
 * The commit of the bookmark has looked for parked work and stands still as it commits, since no
 * standby confirms it. Work that is parked now does not see the bookmark either.
 */
static void work_parked_while_its_bookmark_is_committed_is_woken(void **state)
{
    struct fixture *f = *state;
    struct bookmarking b = {.f = f, .store = open_store(f), .err = PAWL_ERROR_INIT};
    struct pawl_work_row work = {.id = pawl__str("w"),
                                 .kind = pawl__str("stimulus"),
                                 .hash = pawl__str("another"),
                                 .due_us = PAWL_TIME_NEVER,
                                 .expires_us = PAWL_TIME_NEVER};
    const struct pawl_change change = {PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, &work};
    struct pawl_commit commit = {.changes = &change, .change_count = 1}, *list = &commit;
    struct pawl_thread *thread;
    char sql[256];

    assert_ok(pawl_store_apply(b.store, &list, 1, soon(f), &f->err), &f->err);
    assert_ok(commit.status, &commit.error);
    test_postgres_require_standbys(&f->server, true);
    assert_ok(pawl_thread_start(f->env, "bookmark", commit_bookmark, &b, &thread, &f->err),
              &f->err);
    test_postgres_sql(&f->server,
                      "DO $$ BEGIN WHILE NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE "
                      "wait_event = 'SyncRep') LOOP PERFORM pg_sleep(0.01), "
                      "pg_stat_clear_snapshot(); END LOOP; END $$");
    (void)snprintf(sql, sizeof sql,
                   "SET synchronous_commit = local; UPDATE t%u.pawl_work SET hash = 'h'",
                   f->schemas);
    test_postgres_sql(&f->server, sql);
    test_postgres_require_standbys(&f->server, false);
    pawl_thread_join(f->env, thread);
    assert_ok(b.status, &b.err);
    assert_true(find_work(f, b.store).due_us < PAWL_TIME_NEVER);
    pawl_store_close(b.store);
}

#define with_schema(test) cmocka_unit_test_setup(test, open_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_schema(the_size_is_told_to_who_asks_for_it),
        with_schema(claims_and_commits_of_many_are_one_round_trip),
        with_schema(one_key_of_several_members_is_refused_without_another_sync),
        with_schema(taking_and_finding_are_one_round_trip),
        with_schema(a_claim_with_a_ticket_takes_the_lock_in_the_same_round_trip),
        with_schema(a_lock_that_somebody_else_has_makes_a_claim_busy),
        with_schema(a_lock_taken_for_a_claim_that_was_refused_is_given_back),
        with_schema(the_same_store_may_claim_again_with_a_ticket_it_has),
        with_schema(a_dead_owners_lock_does_not_keep_anybody_from_taking_over),
        with_schema(locks_end_with_the_connection_and_can_be_taken_again),
        with_schema(many_threads_leave_no_lock_behind),
        with_schema(opening_says_what_is_wrong),
        with_schema(a_newer_schema_is_refused),
        with_schema(a_store_opened_for_reading_writes_nothing),
        with_schema(nodes_that_start_at_once_on_an_empty_database_all_succeed),
        with_schema(a_server_that_was_restarted_between_calls_is_used_again),
        with_schema(without_a_server_calls_fail_and_afterwards_they_do_not),
        with_schema(a_server_that_is_killed_during_a_commit_leaves_it_unknown),
        with_schema(a_server_that_stands_still_ends_calls_at_their_deadline),
        with_schema(a_key_that_two_batches_want_is_given_once_and_neither_falls_back),
        with_schema(a_row_that_is_too_large_fails_alone),
        with_schema(work_parked_while_its_bookmark_is_committed_is_woken),
    };

    return cmocka_run_group_tests_name("stores/postgres", tests, open_group, close_group);
}
