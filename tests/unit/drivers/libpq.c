/* SPDX-License-Identifier: Apache-2.0 */
/* The PostgreSQL driver on a real server. */
#include "drivers/libpq.h"
#include "lib/test.h"
#include "servers/postgres.h"

#include <stdio.h>
#include <stdlib.h>

#define SECRET "correct-horse"

struct fixture {
    struct test_postgres server;
    struct pawl_env *env;
    struct pawl_socket_wait wait;
    struct pawl_pq *pq;
    struct pawl_error err;
    char uri[256];
};

static int open_fixture(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    if (!f)
        return -1;
    *state = f;
    test_postgres_start(&f->server, SECRET);
    (void)test_postgres_uri(&f->server, "postgres", f->uri, sizeof f->uri);
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    f->wait = (struct pawl_socket_wait){f->env, NULL, PAWL_FOREVER};
    assert_ok(pawl__pq_open(&f->env->alloc, &f->pq, &f->err), &f->err);
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *f = *state;

    pawl__pq_close(f->pq);
    pawl_system_env_close(f->env);
    test_postgres_stop(&f->server);
    free(f);
    return 0;
}

static struct pawl_pq_conn *connect_to(struct fixture *f)
{
    struct pawl_pq_conn *conn = NULL;

    assert_ok(pawl__pq_connect(f->pq, f->uri, &f->wait, &conn, &f->err), &f->err);
    assert_ok(pawl__pq_begin(conn, &f->err), &f->err);
    return conn;
}

static void queue(struct fixture *f, struct pawl_pq_conn *conn, const char *text)
{
    assert_ok(pawl__pq_queue(conn, PAWL_PQ_STATEMENT_NONE, text, NULL, 0, &f->err), &f->err);
}

static void sync_and_run(struct fixture *f, struct pawl_pq_conn *conn)
{
    assert_ok(pawl__pq_sync(conn, &f->err), &f->err);
    assert_ok(pawl__pq_run(conn, true, &f->wait, &f->err), &f->err);
}

static void values_go_there_and_back(void **state)
{
    struct fixture *f = *state;
    struct pawl_pq_conn *conn = connect_to(f);
    struct pawl_buf texts;
    struct pawl_pq_param params[] = {
        {PAWL_PQ_TEXT, pawl__str("gr\xC3\xBC\xC3\x9F"), 0},
        {PAWL_PQ_BYTES, pawl__str_make("a\0\xFF", 3), 0},
        {PAWL_PQ_INT, pawl__str(""), INT64_MIN},
        {PAWL_PQ_TEXT_ARRAY, pawl__str(""), 0},
    };

    pawl__buf_init(&texts, &f->env->alloc, 1000);
    pawl__pq_array_begin(&texts, PAWL_PQ_TEXT_ARRAY, 2);
    pawl__pq_array_bytes(&texts, pawl__str("x"));
    pawl__pq_array_bytes(&texts, pawl__str(""));
    params[3].bytes = pawl__buf_peek(&texts);
    for (int round = 0; round < 3; round++) { /* prepared in the first, used in all */
        assert_ok(pawl__pq_begin(conn, &f->err), &f->err);
        for (int i = 0; i < 2; i++)
            assert_ok(
                pawl__pq_queue(conn, 7,
                               "SELECT $1, $2, $3, 5::int, (-2)::int2, 3 > 2, n FROM unnest($4) n",
                               params, 4, &f->err),
                &f->err);
        sync_and_run(f, conn);
        for (size_t at = 0; at < 2; at++) {
            assert_ok(pawl__pq_status(conn, at, &f->err), &f->err);
            assert_int_equal(pawl__pq_rows(conn, at), 2);
            assert_int_equal(pawl__pq_columns(conn, at), 7);
            assert_str(pawl__pq_bytes(conn, at, 0, 0), "gr\xC3\xBC\xC3\x9F");
            assert_true(pawl__str_equal(pawl__pq_bytes(conn, at, 0, 1), params[1].bytes));
            assert_true(pawl__pq_int(conn, at, 0, 2) == INT64_MIN);
            assert_int_equal(pawl__pq_int(conn, at, 0, 3), 5);
            assert_int_equal(pawl__pq_int(conn, at, 0, 4), -2);
            assert_int_equal(pawl__pq_int(conn, at, 0, 5), 1);
            assert_str(pawl__pq_bytes(conn, at, 0, 6), "x");
            assert_str(pawl__pq_bytes(conn, at, 1, 6), "");
            assert_int_equal(pawl__pq_affected(conn, at), 2);
        }
    }
    pawl__buf_release(&texts);
    assert_true(pawl__pq_server_number(conn) >= 140000);
    assert_true(strlen(pawl__pq_server_text(conn)) > 1);
    pawl__pq_disconnect(conn);
}

static void a_failing_statement_takes_back_its_transaction_and_no_other(void **state)
{
    struct fixture *f = *state;
    struct pawl_pq_conn *conn = connect_to(f);

    queue(f, conn, "CREATE TABLE t (a bigint PRIMARY KEY)");
    assert_ok(pawl__pq_sync(conn, &f->err), &f->err);
    queue(f, conn, "INSERT INTO t VALUES (1)");
    queue(f, conn, "INSERT INTO t VALUES (1)");
    queue(f, conn, "INSERT INTO t VALUES (2)");
    assert_ok(pawl__pq_sync(conn, &f->err), &f->err);
    queue(f, conn, "INSERT INTO t VALUES (3)");
    queue(f, conn, "SELECT a FROM t ORDER BY a");
    sync_and_run(f, conn);
    assert_ok(pawl__pq_status(conn, 0, &f->err), &f->err);
    assert_ok(pawl__pq_status(conn, 1, &f->err), &f->err);
    assert_code(pawl__pq_status(conn, 2, &f->err), PAWL_EEXISTS);
    assert_non_null(strstr(f->err.msg, "23505"));
    assert_code(pawl__pq_status(conn, 3, &f->err), PAWL_ECANCELLED);
    assert_ok(pawl__pq_status(conn, 5, &f->err), &f->err);
    assert_int_equal(pawl__pq_rows(conn, 5), 1);
    assert_int_equal(pawl__pq_int(conn, 5, 0, 0), 3);
    pawl__pq_disconnect(conn);
}

/* The constraint is looked at when the transaction ends: all its statements had succeeded. */
static void a_transaction_that_fails_at_its_end_is_seen_to_have_failed(void **state)
{
    struct fixture *f = *state;
    struct pawl_pq_conn *conn = connect_to(f);

    queue(f, conn, "CREATE TABLE d (a bigint UNIQUE DEFERRABLE INITIALLY DEFERRED)");
    assert_ok(pawl__pq_sync(conn, &f->err), &f->err);
    queue(f, conn, "INSERT INTO d VALUES (1), (1)");
    assert_ok(pawl__pq_sync(conn, &f->err), &f->err);
    queue(f, conn, "SELECT count(*) FROM d");
    sync_and_run(f, conn);
    assert_code(pawl__pq_status(conn, 1, &f->err), PAWL_EEXISTS);
    assert_ok(pawl__pq_status(conn, 2, &f->err), &f->err);
    assert_int_equal(pawl__pq_int(conn, 2, 0, 0), 0);
    pawl__pq_disconnect(conn);
}

static void a_preparation_that_fails_or_is_skipped_is_made_again(void **state)
{
    struct fixture *f = *state;
    struct pawl_pq_conn *conn = connect_to(f);

    queue(f, conn, "SELECT 1/0");
    assert_ok(pawl__pq_queue(conn, 1, "SELECT 41 + 1", NULL, 0, &f->err), &f->err);
    assert_ok(pawl__pq_sync(conn, &f->err), &f->err);
    assert_ok(pawl__pq_queue(conn, 2, "SELECT nonsense", NULL, 0, &f->err), &f->err);
    sync_and_run(f, conn);
    assert_code(pawl__pq_status(conn, 0, &f->err), PAWL_EINVAL);
    assert_code(pawl__pq_status(conn, 1, &f->err), PAWL_ECANCELLED);
    assert_code(pawl__pq_status(conn, 2, &f->err), PAWL_EINTERNAL);
    assert_non_null(strstr(f->err.msg, "nonsense"));
    assert_ok(pawl__pq_begin(conn, &f->err), &f->err);
    assert_ok(pawl__pq_prepare(conn, 1, "SELECT 41 + 1", NULL, 0, &f->err), &f->err);
    assert_ok(pawl__pq_sync(conn, &f->err), &f->err);
    queue(f, conn, "SELECT 1/0");
    assert_ok(pawl__pq_queue(conn, 1, "SELECT 41 + 1", NULL, 0, &f->err), &f->err);
    assert_ok(pawl__pq_sync(conn, &f->err), &f->err);
    assert_ok(pawl__pq_queue(conn, 1, "SELECT 41 + 1", NULL, 0, &f->err), &f->err);
    sync_and_run(f, conn);
    assert_ok(pawl__pq_status(conn, 2, &f->err), &f->err);
    assert_int_equal(pawl__pq_int(conn, 2, 0, 0), 42);
    pawl__pq_disconnect(conn);
}

static void hold_table(struct fixture *f, struct pawl_pq_conn *conn, const char *text)
{
    assert_ok(pawl__pq_begin(conn, &f->err), &f->err);
    queue(f, conn, text);
    sync_and_run(f, conn);
    assert_ok(pawl__pq_status(conn, 0, &f->err), &f->err);
}

/* Prepares 1 and 2 in a transaction of their own, then uses them in one each, the last first. */
static void use_what_was_prepared(struct fixture *f, struct pawl_pq_conn *conn, const char *first)
{
    static const char second[] = "SELECT 42::bigint";

    assert_ok(pawl__pq_begin(conn, &f->err), &f->err);
    assert_ok(pawl__pq_prepare(conn, 1, first, NULL, 0, &f->err), &f->err);
    assert_ok(pawl__pq_prepare(conn, 2, second, NULL, 0, &f->err), &f->err);
    assert_ok(pawl__pq_sync(conn, &f->err), &f->err);
    assert_ok(pawl__pq_queue(conn, 2, second, NULL, 0, &f->err), &f->err);
    assert_ok(pawl__pq_sync(conn, &f->err), &f->err);
    assert_ok(pawl__pq_queue(conn, 1, first, NULL, 0, &f->err), &f->err);
    sync_and_run(f, conn);
}

/* The server does not know their names then; that is not what the caller needs to be told. */
static void a_statement_says_why_it_could_not_be_prepared_in_advance(void **state)
{
    struct fixture *f = *state;
    struct pawl_pq_conn *conn = connect_to(f), *holder = connect_to(f);

    hold_table(f, holder, "CREATE TABLE held (a bigint)");
    hold_table(f, holder, "BEGIN");
    hold_table(f, holder, "LOCK TABLE held");
    hold_table(f, conn, "SET lock_timeout = 50");
    use_what_was_prepared(f, conn, "SELECT count(*) FROM held");
    for (size_t at = 0; at < 2; at++) {
        assert_code(pawl__pq_status(conn, at, &f->err), PAWL_EBUSY);
        assert_non_null(strstr(f->err.msg, "55P03"));
    }
    hold_table(f, holder, "ROLLBACK");
    use_what_was_prepared(f, conn, "SELECT count(*) FROM held");
    assert_ok(pawl__pq_status(conn, 0, &f->err), &f->err);
    assert_int_equal(pawl__pq_int(conn, 0, 0, 0), 42);
    assert_ok(pawl__pq_status(conn, 1, &f->err), &f->err);
    pawl__pq_disconnect(conn);
    pawl__pq_disconnect(holder);
}

/* Whoever has nothing to do with the statement that is wrong may try again. */
static void a_statement_that_is_wrong_keeps_others_from_being_prepared_for_now(void **state)
{
    struct fixture *f = *state;
    struct pawl_pq_conn *conn = connect_to(f);

    use_what_was_prepared(f, conn, "SELECT 'nowhere'::bigint");
    assert_code(pawl__pq_status(conn, 0, &f->err), PAWL_EBUSY);
    assert_non_null(strstr(f->err.msg, "nowhere"));
    assert_code(pawl__pq_status(conn, 1, &f->err), PAWL_EINVAL);
    assert_non_null(strstr(f->err.msg, "nowhere"));
    pawl__pq_disconnect(conn);
}

/* More than both sides' buffers hold, in both directions at once. */
static void a_large_batch_does_not_block_itself(void **state)
{
    struct fixture *f = *state;
    struct pawl_pq_conn *conn = connect_to(f);
    size_t size = (size_t)1 << 20, total = 0;
    char *block = malloc(size);
    struct pawl_pq_param param = {PAWL_PQ_BYTES, pawl__str_make(block, size), 0};

    assert_non_null(block);
    memset(block, 'x', size);
    for (int i = 0; i < 40; i++)
        assert_ok(pawl__pq_queue(conn, 3, "SELECT $1", &param, 1, &f->err), &f->err);
    sync_and_run(f, conn);
    for (size_t at = 0; at < 40; at++)
        total += pawl__pq_bytes(conn, at, 0, 0).len;
    assert_int_equal(total, 40 * size);
    free(block);
    pawl__pq_disconnect(conn);
}

static void a_deadline_ends_a_batch_and_a_commit_is_then_unknown(void **state)
{
    struct fixture *f = *state;
    struct pawl_socket_wait soon = f->wait;

    for (int writes = 0; writes < 2; writes++) {
        struct pawl_pq_conn *conn = connect_to(f);

        queue(f, conn, "SELECT pg_sleep(100)");
        assert_ok(pawl__pq_sync(conn, &f->err), &f->err);
        soon.deadline_ns = pawl_env_monotonic_ns(f->env) + 50000000;
        assert_code(pawl__pq_run(conn, writes, &soon, &f->err),
                    writes ? PAWL_EUNKNOWN : PAWL_ETIMEDOUT);
        assert_true(pawl__pq_is_broken(conn));
        assert_code(pawl__pq_begin(conn, &f->err), PAWL_EUNAVAILABLE);
        pawl__pq_disconnect(conn);
    }
}

static void a_server_that_is_ended_is_unavailable_where_it_says_so(void **state)
{
    struct fixture *f = *state;
    struct pawl_pq_conn *conn = connect_to(f);

    queue(f, conn, "SELECT pg_terminate_backend(pg_backend_pid())");
    queue(f, conn, "SELECT pg_sleep(100)");
    assert_ok(pawl__pq_sync(conn, &f->err), &f->err);
    assert_code(pawl__pq_run(conn, true, &f->wait, &f->err), PAWL_EUNAVAILABLE);
    pawl__pq_disconnect(conn);
}

static void a_server_that_crashes_leaves_a_commit_unknown(void **state)
{
    struct fixture *f = *state;
    struct pawl_pq_conn *conn = connect_to(f), *idle = connect_to(f);

    test_postgres_pause(&f->server);
    queue(f, conn, "SELECT 1");
    assert_ok(pawl__pq_sync(conn, &f->err), &f->err);
    test_postgres_crash(&f->server);
    assert_code(pawl__pq_run(conn, true, &f->wait, &f->err), PAWL_EUNKNOWN);
    assert_non_null(strstr(f->err.msg, "127.0.0.1"));
    assert_code(pawl__pq_wait_notice(idle, &f->wait, &f->err), PAWL_EUNAVAILABLE);
    pawl__pq_disconnect(conn);
    pawl__pq_disconnect(idle);
    test_postgres_restart(&f->server);
    conn = connect_to(f);
    pawl__pq_disconnect(conn);
}

static void one_value(struct pawl_pq_conn *conn, size_t at, int64_t expected)
{
    struct pawl_error err = PAWL_ERROR_INIT;

    assert_ok(pawl__pq_status(conn, at, &err), &err);
    assert_int_equal(pawl__pq_rows(conn, at), 1);
    assert_int_equal(pawl__pq_int(conn, at, 0, 0), expected);
}

/* Another session holds what the second transaction needs, until the first was answered. */
static void a_first_transaction_is_answered_while_the_rest_still_waits(void **state)
{
    struct fixture *f = *state;
    struct pawl_pq_conn *conn = connect_to(f), *other = connect_to(f);

    queue(f, other, "SELECT 1 FROM pg_advisory_lock(7)");
    sync_and_run(f, other);
    for (int round = 1; round < 4; round++) {
        assert_ok(pawl__pq_begin(conn, &f->err), &f->err);
        queue(f, conn, round == 1 ? "SELECT 11" : round == 2 ? "SELECT 12" : "SELECT 13");
        assert_ok(pawl__pq_sync(conn, &f->err), &f->err);
        /* What fails there is nobody's failure. */
        queue(f, conn, round == 2 ? "SELECT 1 / 0" : "SELECT pg_advisory_lock(7)");
        assert_ok(pawl__pq_sync(conn, &f->err), &f->err);
        assert_ok(pawl__pq_run_first(conn, true, &f->wait, &f->err), &f->err);
        assert_int_equal(pawl__pq_synced(conn), 1);
        one_value(conn, 0, 10 + round);
        pawl__pq_forget(conn);
        assert_true(pawl__pq_is_late(conn));
        assert_true(pawl__pq_is_alive(conn, f->env));
        if (round == 1) { /* which it still waits for */
            assert_ok(pawl__pq_begin(other, &f->err), &f->err);
            queue(f, other, "SELECT 1 FROM pg_advisory_unlock(7)");
            sync_and_run(f, other);
        }
    }
    assert_ok(pawl__pq_await(conn, &f->wait, &f->err), &f->err);
    assert_false(pawl__pq_is_late(conn));
    assert_ok(pawl__pq_begin(conn, &f->err), &f->err);
    queue(f, conn, "SELECT 20");
    sync_and_run(f, conn);
    one_value(conn, 0, 20);
    pawl__pq_disconnect(conn);
    pawl__pq_disconnect(other);
}

/* Holds what others wait for, or lets go of it. */
static void hold(struct fixture *f, struct pawl_pq_conn *conn, bool holds)
{
    assert_ok(pawl__pq_begin(conn, &f->err), &f->err);
    queue(f, conn,
          holds ? "SELECT 1 FROM pg_advisory_lock(7)" : "SELECT 1 FROM pg_advisory_unlock(7)");
    sync_and_run(f, conn);
}

/* Its first transaction, with two behind it of which the second waits. */
static void leave_two(struct fixture *f, struct pawl_pq_conn *conn)
{
    assert_ok(pawl__pq_begin(conn, &f->err), &f->err);
    for (int i = 0; i < 3; i++) {
        queue(f, conn, i < 2 ? "SELECT 1" : "SELECT 1 FROM pg_advisory_xact_lock(7)");
        assert_ok(pawl__pq_sync(conn, &f->err), &f->err);
    }
    assert_ok(pawl__pq_run_first(conn, true, &f->wait, &f->err), &f->err);
}

static void who_stops_waiting_for_the_rest_may_go_on_waiting_and_nothing_else(void **state)
{
    struct fixture *f = *state;
    struct pawl_pq_conn *other = connect_to(f), *conn;
    struct pawl_socket_wait short_wait = f->wait;

    for (int goes_on = 0; goes_on < 2; goes_on++) {
        conn = connect_to(f);
        hold(f, other, true);
        leave_two(f, conn);
        pawl__pq_forget(conn);
        short_wait.deadline_ns = pawl_env_monotonic_ns(f->env) + 100000000;
        assert_code(pawl__pq_await(conn, &short_wait, &f->err), PAWL_ETIMEDOUT);
        assert_false(pawl__pq_is_broken(conn));
        hold(f, other, false);
        if (goes_on)
            assert_ok(pawl__pq_await(conn, &f->wait, &f->err), &f->err);
        assert_code(pawl__pq_begin(conn, &f->err), goes_on ? PAWL_OK : PAWL_EUNAVAILABLE);
        if (goes_on) {
            queue(f, conn, "SELECT 20");
            sync_and_run(f, conn);
            one_value(conn, 0, 20);
        }
        pawl__pq_disconnect(conn);
    }
    pawl__pq_disconnect(other);
}

/* The rest fails before a statement behind it is prepared. */
static void what_the_rest_did_not_prepare_is_prepared_by_the_next(void **state)
{
    struct fixture *f = *state;
    struct pawl_pq_conn *conn = connect_to(f);

    for (int round = 0; round < 2; round++) {
        assert_ok(pawl__pq_begin(conn, &f->err), &f->err);
        queue(f, conn, "SELECT 1");
        assert_ok(pawl__pq_sync(conn, &f->err), &f->err);
        if (round == 0)
            queue(f, conn, "SELECT 1 / 0");
        assert_ok(pawl__pq_queue(conn, 9, "SELECT 30", NULL, 0, &f->err), &f->err);
        assert_ok(pawl__pq_sync(conn, &f->err), &f->err);
        if (round == 0)
            assert_ok(pawl__pq_run_first(conn, true, &f->wait, &f->err), &f->err);
        else
            assert_ok(pawl__pq_run(conn, true, &f->wait, &f->err), &f->err);
        one_value(conn, 0, 1);
    }
    one_value(conn, 1, 30);
    pawl__pq_disconnect(conn);
}

static void notifications_arrive(void **state)
{
    struct fixture *f = *state;
    struct pawl_pq_conn *listener = connect_to(f), *other = connect_to(f);
    struct pawl_socket_wait past = f->wait;

    past.deadline_ns = 0;
    queue(f, listener, "LISTEN pawl");
    sync_and_run(f, listener);
    assert_code(pawl__pq_wait_notice(listener, &past, &f->err), PAWL_ETIMEDOUT);
    queue(f, other, "NOTIFY pawl");
    sync_and_run(f, other);
    assert_ok(pawl__pq_wait_notice(listener, &f->wait, &f->err), &f->err);
    pawl__pq_disconnect(listener);
    pawl__pq_disconnect(other);
}

static int try_uri(struct fixture *f, const char *uri)
{
    struct pawl_pq_conn *conn = NULL;
    int status = pawl__pq_connect(f->pq, uri, &f->wait, &conn, &f->err);

    assert_null(conn);
    assert_null(strstr(f->err.msg, SECRET));
    assert_null(strstr(f->err.msg, "wrong-horse"));
    return status;
}

static void refusals_say_what_to_do_and_no_secrets(void **state)
{
    struct fixture *f = *state;
    char uri[256], port[16];

    (void)snprintf(port, sizeof port, "%u", (unsigned)f->server.port);
    (void)snprintf(uri, sizeof uri, "postgres://pawl:wrong-horse@127.0.0.1:%s/postgres", port);
    assert_code(try_uri(f, uri), PAWL_EPERM);
    assert_non_null(strstr(f->err.msg, "28P01"));
    assert_non_null(strstr(f->err.msg, port));
    (void)test_postgres_uri(&f->server, "nowhere", uri, sizeof uri);
    assert_code(try_uri(f, uri), PAWL_ENOTFOUND);
    assert_non_null(strstr(f->err.msg, "createdb"));
    assert_non_null(strstr(f->err.msg, "\"nowhere\""));
    assert_code(try_uri(f, "postgres://pawl:wrong-horse@[::1/x"), PAWL_EINVAL);
    assert_code(try_uri(f, "wrong-horse"), PAWL_EINVAL);
    pawl__pq_location(f->pq, f->uri, uri, sizeof uri);
    assert_null(strstr(uri, SECRET));
    assert_non_null(strstr(uri, port));
    pawl__pq_location(f->pq, "postgres://[", uri, sizeof uri);
    assert_string_equal(uri, "");
    test_postgres_crash(&f->server);
    assert_code(try_uri(f, f->uri), PAWL_EUNAVAILABLE);
    assert_non_null(strstr(f->err.msg, "127.0.0.1"));
    assert_non_null(strstr(f->err.msg, port));
    test_postgres_restart(&f->server);
}

static void a_silent_server_ends_at_the_deadline(void **state)
{
    struct fixture *f = *state;
    struct pawl_socket_wait soon = f->wait;
    struct pawl_pq_conn *conn = NULL;

    test_postgres_pause(&f->server);
    soon.deadline_ns = pawl_env_monotonic_ns(f->env) + 50000000;
    assert_code(pawl__pq_connect(f->pq, f->uri, &soon, &conn, &f->err), PAWL_ETIMEDOUT);
    assert_non_null(strstr(f->err.msg, "127.0.0.1"));
    test_postgres_continue(&f->server);
    conn = connect_to(f);
    pawl__pq_disconnect(conn);
}

static void codes_follow_the_class_of_the_sqlstate(void **state)
{
    static const struct {
        const char *sqlstate;
        int code;
    } cases[] = {
        {"", PAWL_EUNAVAILABLE},      {"08006", PAWL_EUNAVAILABLE}, {"57P01", PAWL_EUNAVAILABLE},
        {"57P03", PAWL_EUNAVAILABLE}, {"40001", PAWL_EBUSY},        {"40P01", PAWL_EBUSY},
        {"40003", PAWL_EUNKNOWN},     {"53300", PAWL_EUNAVAILABLE}, {"53100", PAWL_EUNAVAILABLE},
        {"57014", PAWL_ETIMEDOUT},    {"23505", PAWL_EEXISTS},      {"23514", PAWL_ECONFLICT},
        {"28P01", PAWL_EPERM},        {"42501", PAWL_EPERM},        {"3D000", PAWL_ENOTFOUND},
        {"22021", PAWL_EINVAL},       {"54000", PAWL_ELIMIT},       {"XX001", PAWL_ECORRUPT},
        {"42601", PAWL_EINTERNAL},    {"55P03", PAWL_EBUSY},        {"25006", PAWL_EUNAVAILABLE},
        {"08001", PAWL_EUNAVAILABLE}, {"08007", PAWL_EUNKNOWN},     {"08P01", PAWL_EINTERNAL},
        {"0A000", PAWL_EUNSUPPORTED}, {"21000", PAWL_EINVAL},       {"22001", PAWL_ELIMIT},
        {"23503", PAWL_ECONFLICT},    {"25P02", PAWL_EINTERNAL},    {"25P03", PAWL_EUNAVAILABLE},
        {"25P04", PAWL_EUNAVAILABLE}, {"3F000", PAWL_ENOTFOUND},    {"40002", PAWL_ECONFLICT},
        {"42P01", PAWL_EUNAVAILABLE}, {"42P07", PAWL_EEXISTS},      {"53200", PAWL_EUNAVAILABLE},
        {"55006", PAWL_EBUSY},        {"55000", PAWL_EINTERNAL},    {"57P02", PAWL_EUNAVAILABLE},
        {"57P04", PAWL_EUNAVAILABLE}, {"57P05", PAWL_EUNAVAILABLE}, {"58030", PAWL_EIO},
        {"72000", PAWL_EBUSY},        {"XX000", PAWL_EINTERNAL},    {"XX002", PAWL_ECORRUPT},
        {"28000", PAWL_EPERM},        {"99999", PAWL_EINTERNAL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_code(pawl__pq_code(cases[i].sqlstate), cases[i].code);
}

static void a_batch_goes_on_after_a_wait_that_ended_early(void **state)
{
    struct fixture *f = *state;
    struct pawl_pq_conn *conn = connect_to(f);
    struct pawl_socket_wait soon = {f->env, NULL, 0};

    assert_true(pawl__pq_fd(conn) >= 0);
    queue(f, conn, "SELECT pg_backend_pid()");
    queue(f, conn, "SELECT pg_sleep(0.1)");
    queue(f, conn, "SELECT 7");
    assert_ok(pawl__pq_sync(conn, &f->err), &f->err);
    assert_code(pawl__pq_await(conn, &soon, &f->err), PAWL_ETIMEDOUT);
    assert_false(pawl__pq_is_broken(conn));
    soon.deadline_ns = pawl_env_monotonic_ns(f->env) + 10000000;
    assert_code(pawl__pq_await(conn, &soon, &f->err), PAWL_ETIMEDOUT);
    assert_ok(pawl__pq_await(conn, &f->wait, &f->err), &f->err);
    assert_ok(pawl__pq_status(conn, 2, &f->err), &f->err);
    assert_int_equal(pawl__pq_int(conn, 0, 0, 0), pawl__pq_backend_pid(conn));
    assert_int_equal(pawl__pq_int(conn, 2, 0, 0), 7);
    assert_int_equal(pawl__pq_synced(conn), 1);
    /* And the connection is as good as before. */
    assert_ok(pawl__pq_begin(conn, &f->err), &f->err);
    queue(f, conn, "SELECT 8");
    assert_ok(pawl__pq_sync(conn, &f->err), &f->err);
    assert_ok(pawl__pq_await(conn, &f->wait, &f->err), &f->err);
    assert_int_equal(pawl__pq_int(conn, 0, 0, 0), 8);
    pawl__pq_disconnect(conn);
}

struct sweep {
    struct fixture *f;
};

/* Connecting and a batch, with each allocation of ours refused in turn. */
static int connect_and_run(struct test_allocator *alloc, void *arg)
{
    struct fixture *f = ((struct sweep *)arg)->f;
    struct pawl_pq_param param = {PAWL_PQ_INT, pawl__str(""), 1};
    struct pawl_pq_conn *conn = NULL;
    struct pawl_pq *pq = NULL;
    int status = pawl__pq_open(&alloc->base, &pq, &f->err);

    if (status == PAWL_OK)
        status = pawl__pq_connect(pq, f->uri, &f->wait, &conn, &f->err);
    if (status == PAWL_OK)
        status = pawl__pq_begin(conn, &f->err);
    for (int i = 0; i < 70 && status == PAWL_OK; i++)
        status = pawl__pq_queue(conn, 1, "SELECT $1", &param, 1, &f->err);
    if (status == PAWL_OK)
        status = pawl__pq_sync(conn, &f->err);
    if (status == PAWL_OK)
        status = pawl__pq_run(conn, false, &f->wait, &f->err);
    pawl__pq_disconnect(conn);
    pawl__pq_close(pq);
    return status;
}

static void running_out_of_memory_is_an_error(void **state)
{
    struct sweep sweep = {*state};

    test_sweep_allocations(connect_and_run, &sweep, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_go_there_and_back),
        cmocka_unit_test(a_failing_statement_takes_back_its_transaction_and_no_other),
        cmocka_unit_test(a_transaction_that_fails_at_its_end_is_seen_to_have_failed),
        cmocka_unit_test(a_preparation_that_fails_or_is_skipped_is_made_again),
        cmocka_unit_test(a_statement_says_why_it_could_not_be_prepared_in_advance),
        cmocka_unit_test(a_statement_that_is_wrong_keeps_others_from_being_prepared_for_now),
        cmocka_unit_test(a_large_batch_does_not_block_itself),
        cmocka_unit_test(a_deadline_ends_a_batch_and_a_commit_is_then_unknown),
        cmocka_unit_test(a_server_that_is_ended_is_unavailable_where_it_says_so),
        cmocka_unit_test(a_server_that_crashes_leaves_a_commit_unknown),
        cmocka_unit_test(a_batch_goes_on_after_a_wait_that_ended_early),
        cmocka_unit_test(a_first_transaction_is_answered_while_the_rest_still_waits),
        cmocka_unit_test(who_stops_waiting_for_the_rest_may_go_on_waiting_and_nothing_else),
        cmocka_unit_test(what_the_rest_did_not_prepare_is_prepared_by_the_next),
        cmocka_unit_test(notifications_arrive),
        cmocka_unit_test(refusals_say_what_to_do_and_no_secrets),
        cmocka_unit_test(a_silent_server_ends_at_the_deadline),
        cmocka_unit_test(codes_follow_the_class_of_the_sqlstate),
        cmocka_unit_test(running_out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests_name("drivers/libpq", tests, open_fixture, close_fixture);
}
