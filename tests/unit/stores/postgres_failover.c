/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A primary that dies and a hot standby that takes its place a while later: until then the standby
 * reads and refuses to write. And a primary whose commits wait for a standby, with all their row
 * locks. Each test has servers of its own.
 */
#include "drivers/libpq.h"
#include "runtime/work/requests.h"
#include "servers/postgres.h"

struct servers {
    struct fixture f; /* of requests.h; its node is on these servers */
    struct test_postgres primary, standby;
    struct pawl_store *store;
    char uri[256];
};

/* What the node's store was asked for and failed with, while nobody can write. */
static const struct pawl_store_ops *real_ops;
static struct pawl_store_ops counting_ops;
static atomic_size_t failure_count;

static int note_failure(int status)
{
    if (status != PAWL_OK)
        atomic_fetch_add(&failure_count, 1);
    return status;
}

static int counting_apply(struct pawl_store *store, struct pawl_commit *const *commits,
                          size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    return note_failure(real_ops->apply(store, commits, count, deadline_ns, err));
}

static int counting_status(struct pawl_store *store, struct pawl_store_status *out,
                           int64_t deadline_ns, struct pawl_error *err)
{
    return note_failure(real_ops->status(store, out, deadline_ns, err));
}

/* `more`: what the URI says besides. The store is made before the standby is. */
static void open_servers(struct servers *s, const char *more)
{
    const struct pawl_store_options options = {.flags = PAWL_STORE_OPEN_CREATE};
    char uri[160];

    test_postgres_start(&s->primary, NULL);
    (void)test_postgres_uri(&s->primary, "postgres", uri, sizeof uri);
    assert_ok(pawl__postgres_store_open(s->f.env, pawl__str(uri), &options, &s->store, &s->f.err),
              &s->f.err);
    pawl_store_close(s->store);
    test_postgres_start_standby(&s->standby, &s->primary);
    (void)snprintf(s->uri, sizeof s->uri,
                   "postgres://" TEST_POSTGRES_USER "@127.0.0.1:%u,127.0.0.1:%u/postgres%s",
                   (unsigned)s->primary.port, (unsigned)s->standby.port, more);
    assert_ok(
        pawl__postgres_store_open(s->f.env, pawl__str(s->uri), &options, &s->store, &s->f.err),
        &s->f.err);
}

static int set_up_servers(void **state)
{
    struct servers *s = calloc(1, sizeof *s);

    assert_non_null(s);
    assert_ok(pawl_system_env_open(&s->f.env, &s->f.err), &s->f.err);
    fixture_open(&s->f);
    node_close(&s->f.a);
    *state = s;
    return 0;
}

static int tear_down_servers(void **state)
{
    struct servers *s = *state;

    pawl__memory_database_free(s->f.database);
    pawl__engine_release(&s->f.engine);
    pawl__arena_release(&s->f.arena);
    pawl_system_env_close(s->f.env);
    test_postgres_stop(&s->standby);
    test_postgres_stop(&s->primary);
    free(s);
    return 0;
}

static int create_instance(struct servers *s, const char *id)
{
    struct pawl_instance_row row = {.id = pawl__str(id), .state = pawl__str("{}")};
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_CREATE, .flags = PAWL_COMMIT_RELEASE, .instance = &row};
    struct pawl_commit *list = &commit;
    int status = pawl_store_apply(s->store, &list, 1, later(&s->f), &s->f.err);

    return status == PAWL_OK ? commit.status : status;
}

/* What is refused until the standby is promoted may be tried again, and then succeeds. */
static void fail_over(struct servers *s, const char *more)
{
    int64_t until_ns;
    int status;

    open_servers(s, more);
    assert_ok(create_instance(s, "before"), &s->f.err);
    test_postgres_catch_up(&s->primary);
    test_postgres_crash(&s->primary);
    for (int i = 0; i < 5; i++) {
        status = create_instance(s, "never");
        assert_int_equal(pawl_error_class(status), PAWL_CLASS_TRANSIENT);
    }
    test_postgres_promote(&s->standby);
    until_ns = later(&s->f);
    while ((status = create_instance(s, "after")) != PAWL_OK) {
        assert_int_equal(pawl_error_class(status), PAWL_CLASS_TRANSIENT);
        assert_true(pawl_env_monotonic_ns(s->f.env) < until_ns);
    }
    assert_code(create_instance(s, "before"), PAWL_EEXISTS);
    assert_code(create_instance(s, "after"), PAWL_EEXISTS);
    pawl_store_close(s->store);
}

static void a_store_of_two_hosts_follows_the_one_that_writes(void **state)
{
    fail_over(*state, "?target_session_attrs=read-write");
}

static void a_standby_is_no_server_to_write_to_until_it_is_promoted(void **state)
{
    fail_over(*state, "");
}

static void a_store_is_not_opened_at_a_standby(void **state)
{
    const struct pawl_store_options options = {.flags = PAWL_STORE_OPEN_CREATE};
    struct servers *s = *state;
    struct pawl_store *other;
    char uri[160];

    open_servers(s, "");
    (void)test_postgres_uri(&s->standby, "postgres", uri, sizeof uri);
    test_postgres_catch_up(&s->primary);
    assert_code(pawl__postgres_store_open(s->f.env, pawl__str(uri), &options, &other, &s->f.err),
                PAWL_EUNAVAILABLE);
    pawl_store_close(s->store);
}

/* As after a switch-over: the session outlives the right to write. */
static void a_session_that_may_not_write_any_more_is_replaced(void **state)
{
    const struct pawl_socket_wait wait = {((struct servers *)*state)->f.env, NULL,
                                          later(&((struct servers *)*state)->f)};
    struct servers *s = *state;
    struct pawl_pq_conn *conn = NULL;
    struct pawl_pq *pq = NULL;
    char uri[160];

    open_servers(s, "");
    (void)test_postgres_uri(&s->standby, "postgres", uri, sizeof uri);
    assert_ok(pawl__pq_open(&s->f.env->alloc, &pq, &s->f.err), &s->f.err);
    assert_ok(pawl__pq_connect(pq, uri, &wait, &conn, &s->f.err), &s->f.err);
    assert_ok(pawl__pq_begin(conn, &s->f.err), &s->f.err);
    assert_ok(
        pawl__pq_queue(conn, PAWL_PQ_STATEMENT_NONE, "DELETE FROM pawl_work", NULL, 0, &s->f.err),
        &s->f.err);
    assert_ok(pawl__pq_sync(conn, &s->f.err), &s->f.err);
    assert_ok(pawl__pq_run(conn, true, &wait, &s->f.err), &s->f.err);
    assert_code(pawl__pq_status(conn, 0, &s->f.err), PAWL_EUNAVAILABLE);
    assert_non_null(strstr(s->f.err.msg, "target_session_attrs=read-write"));
    assert_true(pawl__pq_is_broken(conn));
    pawl__pq_disconnect(conn);
    pawl__pq_close(pq);
    pawl_store_close(s->store);
}

static void await(struct fixture *f, atomic_size_t *value, size_t least)
{
    int64_t until_ns = later(f);

    while (atomic_load(value) < least) {
        assert_true(pawl_env_monotonic_ns(f->env) < until_ns);
        assert_ok(pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + SECOND / 100), NULL);
    }
}

/* Returns when the answer has been dealt with, or when the servers are gone meanwhile. */
static void start_one(void *arg)
{
    struct fixture *f = arg;
    const struct pawl_start what = {.definition_id = S("d"), .instance_id = S("one")};
    struct pawl_outcome outcome;

    (void)!pawl__runtime_start(f->a.runtime, &what, &outcome, later(f), NULL);
}

static void an_answer_that_came_during_a_failover_is_delivered_afterwards(void **state)
{
    struct servers *s = *state;
    struct fixture *f = &s->f;
    struct pawl_runtime_options options = {.node_id = S("a"), .hooks = {.line = on_line, .ctx = f}};
    struct pawl_thread *thread = NULL;
    struct pawl_worked worked;
    int64_t until_ns;

    open_servers(s, "");
    f->a.script = (struct scripted){.base = {&script_ops}};
    options.http = &f->a.script.base;
    f->a.store = s->store;
    real_ops = s->store->ops;
    counting_ops = *real_ops;
    counting_ops.apply = counting_apply;
    counting_ops.status = counting_status;
    s->store->ops = &counting_ops;
    assert_ok(pawl__runtime_open(f->env, &f->engine, s->store, &options, &f->a.runtime, &f->err),
              &f->err);
    publish(f, DEFINITION("d", SEND("s") "," RIG_WRITE("w", "after")));
    assert_ok(pawl_thread_start(f->env, "start", start_one, f, &thread, &f->err), &f->err);
    await(f, &f->a.script.count, 1);
    test_postgres_catch_up(&s->primary);
    test_postgres_crash(&s->primary);
    atomic_store(&failure_count, 0);
    script_answer(&f->a.script, 0, &ok);
    /* The first may be told of the end of its connection, the next meets the standby. */
    await(f, &failure_count, 2);
    test_postgres_promote(&s->standby);
    pawl_thread_join(f->env, thread);
    until_ns = later(f);
    while (pawl__runtime_drain(f->a.runtime, &worked, later(f), &f->err) != PAWL_OK ||
           strcmp(sub_status(f, "one"), "Finished") != 0)
        assert_true(pawl_env_monotonic_ns(f->env) < until_ns);
    assert_string_equal(f->lines, "after\n");
    assert_int_equal(f->a.script.count, 1);
    node_close(&f->a);
}

/* ---- commits that wait for a standby ------------------------------------------------------- */

struct applying {
    struct servers *s;
    struct pawl_store *store; /* one's own: those of one node do not wait for each other */
    struct pawl_commit commit;
    struct pawl_thread *thread;
};

/* As the committer does: a row that somebody holds for too long is tried again. */
static void apply_one(void *arg)
{
    struct applying *a = arg;
    struct pawl_commit *list = &a->commit;
    int status;

    do
        status = pawl_store_apply(a->store, &list, 1, later(&a->s->f), NULL);
    while (status == PAWL_OK && a->commit.status == PAWL_EBUSY);
    if (status != PAWL_OK)
        a->commit.status = status;
}

static void start_applying(struct applying *a)
{
    struct fixture *f = &a->s->f;

    assert_ok(pawl_thread_start(f->env, "apply", apply_one, a, &a->thread, &f->err), &f->err);
}

static void await_backends(const struct test_postgres *server, const char *which, const char *then)
{
    char sql[512];

    (void)snprintf(sql, sizeof sql,
                   "DO $$ BEGIN WHILE NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE %s) LOOP "
                   "PERFORM pg_sleep(0.005), pg_stat_clear_snapshot(); END LOOP; %s END $$",
                   which, then);
    test_postgres_sql(server, sql);
}

static size_t count_work(struct servers *s)
{
    const struct pawl_query query = {.table = PAWL_TABLE_WORK, .limit = 10};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(s->store, &query, &s->f.arena, &rows, later(&s->f), &s->f.err),
              &s->f.err);
    return rows.count;
}

/*
 * Somebody makes parked mail due, which puts the row back under its id, while the owner of the
 * instance commits what it has made of that mail, and deletes it. It must not be there afterwards:
 * it would be delivered twice.
 */
static void mail_that_is_made_due_while_its_owner_consumes_it_is_gone(void **state)
{
    const struct pawl_store_options options = {.flags = PAWL_STORE_OPEN_CREATE};
    struct servers *s = *state;
    struct fixture *f = &s->f;
    struct pawl_instance_row row = {
        .id = S("one"), .state = S("{}"), .owner = 7, .fence = 1, .revision = 1};
    const struct pawl_work_row parked = {.id = S("mail"),
                                         .kind = S(PAWL_WORK_RESUME),
                                         .instance_id = S("one"),
                                         .due_us = PAWL_TIME_NEVER,
                                         .expires_us = PAWL_TIME_NEVER};
    struct pawl_work_row due = parked;
    const struct pawl_str done = S("mail");
    const struct pawl_change insert = {PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, &parked};
    const struct pawl_change add = {PAWL_CHANGE_ADD, PAWL_TABLE_WORK, &due};
    const struct pawl_change delete = {PAWL_CHANGE_DELETE, PAWL_TABLE_WORK, &parked};
    struct applying create = {.s = s, .commit = {.kind = PAWL_COMMIT_CREATE, .instance = &row}};
    struct applying wake = {.s = s,
                            .commit = {.kind = PAWL_COMMIT_PLAIN, .done = &done, .done_count = 1}};
    struct applying consume = {.s = s, .commit = {.kind = PAWL_COMMIT_ADVANCE, .instance = &row}};
    size_t left;

    due.due_us = 1;
    create.commit.changes = &insert;
    wake.commit.changes = &add;
    consume.commit.changes = &delete;
    create.commit.change_count = wake.commit.change_count = consume.commit.change_count = 1;
    test_postgres_start(&s->primary, NULL);
    (void)test_postgres_uri(&s->primary, "postgres", s->uri, sizeof s->uri);
    assert_ok(pawl__postgres_store_open(f->env, pawl__str(s->uri), &options, &s->store, &f->err),
              &f->err);
    assert_ok(
        pawl__postgres_store_open(f->env, pawl__str(s->uri), &options, &consume.store, &f->err),
        &f->err);
    create.store = wake.store = s->store;
    apply_one(&create);
    assert_ok(create.commit.status, &create.commit.error);
    assert_int_equal(count_work(s), 1);
    test_postgres_require_standbys(&s->primary, true);
    start_applying(&wake);
    await_backends(&s->primary, "wait_event = 'SyncRep'", "");
    start_applying(&consume);
    /* One that is told to wait no longer has committed all the same. */
    await_backends(&s->primary, "wait_event_type = 'Lock'",
                   "PERFORM pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = "
                   "'SyncRep';");
    test_postgres_require_standbys(&s->primary, false);
    pawl_thread_join(f->env, wake.thread);
    pawl_thread_join(f->env, consume.thread);
    assert_ok(wake.commit.status, &wake.commit.error);
    assert_ok(consume.commit.status, &consume.commit.error);
    left = count_work(s);
    pawl_store_close(consume.store);
    pawl_store_close(s->store);
    assert_int_equal(left, 0);
}

#define WITH_SERVERS(test) cmocka_unit_test_setup_teardown(test, set_up_servers, tear_down_servers)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SERVERS(mail_that_is_made_due_while_its_owner_consumes_it_is_gone),
        WITH_SERVERS(a_store_of_two_hosts_follows_the_one_that_writes),
        WITH_SERVERS(a_standby_is_no_server_to_write_to_until_it_is_promoted),
        WITH_SERVERS(a_store_is_not_opened_at_a_standby),
        WITH_SERVERS(a_session_that_may_not_write_any_more_is_replaced),
        WITH_SERVERS(an_answer_that_came_during_a_failover_is_delivered_afterwards),
    };

    return cmocka_run_group_tests_name("stores/postgres_failover", tests, NULL, NULL);
}
