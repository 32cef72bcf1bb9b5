/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches that PostgreSQL refuses, whose members are then sent one by one: what each is told when
 * the session ends in the middle, or when somebody holds a table. The end of a session is planted
 * by triggers, so that it comes at a certain statement. And what all are told while the tables are
 * gone.
 */
#include "base/arena.h"
#include "drivers/libpq.h"
#include "lib/test.h"
#include "servers/postgres.h"
#include "stores/stores.h"
#include "unit/stores/stranger.h"

#include <stdio.h>
#include <stdlib.h>

#define MEMBERS 3
/* What the joint transaction and each try of the members one by one say at first. */
#define FIRST "1"
#define SECOND "2"

struct fixture {
    struct test_postgres server;
    struct pawl_env *env;
    struct pawl_arena arena;
    struct pawl_error err;
    struct pawl_pq *pq;
    struct pawl_store *store;
    char uri[256];
    unsigned schemas;
};

static int64_t soon(struct fixture *f)
{
    return pawl_env_monotonic_ns(f->env) + INT64_C(60000000000);
}

static int open_group(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    if (!f)
        return -1;
    *state = f;
    test_postgres_start(&f->server, NULL);
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    assert_ok(pawl__pq_open(&f->env->alloc, &f->pq, &f->err), &f->err);
    pawl__arena_init(&f->arena, &f->env->alloc, (size_t)64 << 20);
    return 0;
}

static int close_group(void **state)
{
    struct fixture *f = *state;

    pawl__pq_close(f->pq);
    pawl__arena_release(&f->arena);
    pawl_system_env_close(f->env);
    test_postgres_stop(&f->server);
    free(f);
    return 0;
}

/* Every test has a schema of its own, and a store that has sent no commit yet. */
static int open_test(void **state)
{
    const struct pawl_store_options options = {.flags = PAWL_STORE_OPEN_CREATE};
    struct fixture *f = *state;
    char uri[160], sql[64];

    pawl__arena_reset(&f->arena);
    f->err = (struct pawl_error)PAWL_ERROR_INIT;
    (void)snprintf(sql, sizeof sql, "CREATE SCHEMA t%u", ++f->schemas);
    test_postgres_sql(&f->server, sql);
    (void)test_postgres_uri(&f->server, "postgres", uri, sizeof uri);
    (void)snprintf(f->uri, sizeof f->uri, "%s?options=-csearch_path%%3Dt%u", uri, f->schemas);
    assert_ok(pawl__postgres_store_open(f->env, pawl__str(f->uri), &options, &f->store, &f->err),
              &f->err);
    return 0;
}

static int close_test(void **state)
{
    pawl_store_close(((struct fixture *)*state)->store);
    return 0;
}

/* `body` is of a trigger, in PL/pgSQL; calls() counts how often it was asked, transactions or not.
 */
static void plant(struct fixture *f, const char *when, const char *body)
{
    char sql[1600];

    (void)snprintf(sql, sizeof sql,
                   "SET search_path TO t%u; CREATE SEQUENCE counted; "
                   "CREATE FUNCTION calls() RETURNS bigint LANGUAGE sql AS $$ SELECT "
                   "nextval('counted') $$; "
                   "CREATE FUNCTION end_session() RETURNS void LANGUAGE sql AS $$ SELECT "
                   "pg_terminate_backend(pg_backend_pid()), pg_sleep(100); SELECT NULL::void $$; "
                   "CREATE FUNCTION planted() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE "
                   "at bigint; BEGIN %s RETURN NEW; END $$; "
                   "CREATE TRIGGER planted %s EXECUTE FUNCTION planted()",
                   f->schemas, body, when);
    test_postgres_sql(&f->server, sql);
}

/* The statement behind all members that wakes work for their bookmarks ends the session, when it
 * comes for the `nth` time. */
static void end_session_at_signals(struct fixture *f, const char *nth)
{
    char body[256];

    (void)snprintf(body, sizeof body,
                   "IF current_query() LIKE '%%pawl_bookmarks AS k%%' THEN IF calls() = %s THEN "
                   "PERFORM end_session(); END IF; END IF;",
                   nth);
    plant(f, "BEFORE UPDATE ON pawl_work FOR EACH STATEMENT", body);
}

struct batch {
    struct pawl_instance_row rows[MEMBERS];
    struct pawl_journal_row journals[MEMBERS];
    struct pawl_bookmark_row bookmarks[MEMBERS];
    struct pawl_change changes[MEMBERS][3];
    struct pawl_commit commits[MEMBERS];
    struct pawl_commit *list[MEMBERS];
};

/* New instances "a", "b", "c". With bookmarks more is sent behind their transaction. */
static struct batch *make_batch(struct fixture *f, bool has_bookmarks)
{
    struct batch *b = pawl__arena_alloc_zeroed(&f->arena, sizeof *b);

    assert_non_null(b);
    for (int i = 0; i < MEMBERS; i++) {
        struct pawl_str id = pawl__str(pawl__arena_printf(&f->arena, "%c", 'a' + i));

        b->rows[i] = (struct pawl_instance_row){.id = id, .state = pawl__str("{}")};
        b->journals[i] = (struct pawl_journal_row){.instance_id = id, .data = pawl__str("x")};
        b->bookmarks[i] =
            (struct pawl_bookmark_row){.id = id, .instance_id = id, .hash = pawl__str("h")};
        b->changes[i][0] =
            (struct pawl_change){PAWL_CHANGE_INSERT, PAWL_TABLE_JOURNAL, &b->journals[i]};
        b->changes[i][1] =
            (struct pawl_change){PAWL_CHANGE_INSERT, PAWL_TABLE_BOOKMARKS, &b->bookmarks[i]};
        b->commits[i] = (struct pawl_commit){.kind = PAWL_COMMIT_CREATE,
                                             .flags = PAWL_COMMIT_RELEASE | PAWL_COMMIT_UNASKED,
                                             .instance = &b->rows[i],
                                             .changes = b->changes[i],
                                             .change_count = has_bookmarks ? 2 : 1};
        b->list[i] = &b->commits[i];
    }
    return b;
}

/* The same row twice: the database refuses it. */
static void poison(struct batch *b, int i)
{
    b->changes[i][2] = b->changes[i][0];
    b->commits[i].change_count = 3;
}

static int apply(struct fixture *f, struct batch *b)
{
    f->err = (struct pawl_error)PAWL_ERROR_INIT;
    return pawl_store_apply(f->store, b->list, MEMBERS, soon(f), &f->err);
}

static void assert_untouched(const struct pawl_error *err)
{
    assert_int_equal(err->code, PAWL_OK);
    assert_string_equal(err->msg, "");
}

/* ---- a session that ends in the middle ----------------------------------------------------- */

/* The last one's transaction is the last of all, and the server says that it took it back. */
static void members_before_the_end_of_the_session_keep_their_answers(void **state)
{
    struct fixture *f = *state;
    struct batch *b = make_batch(f, false);

    plant(f, "BEFORE INSERT ON pawl_instances FOR EACH ROW",
          "IF NEW.id = 'c' THEN at := calls(); IF at = " FIRST
          " THEN RAISE EXCEPTION 'not now' USING ERRCODE = '55P03'; ELSIF at = " SECOND
          " THEN PERFORM end_session(); END IF; END IF;");
    assert_ok(apply(f, b), &f->err);
    assert_untouched(&f->err);
    assert_ok(b->commits[0].status, &b->commits[0].error);
    assert_ok(b->commits[1].status, &b->commits[1].error);
    /* Said by the server: so it may be sent again. */
    assert_code(b->commits[2].status, PAWL_EUNAVAILABLE);
    assert_int_equal(b->commits[2].error.code, PAWL_EUNAVAILABLE);
    assert_ok(pawl_store_apply(f->store, b->list + 2, 1, soon(f), &f->err), &f->err);
    assert_ok(b->commits[2].status, &b->commits[2].error);
}

/* The answers behind the session's end are lost, and nobody knows whether the server goes on. */
static void members_behind_the_end_of_the_session_are_unknown(void **state)
{
    struct fixture *f = *state;
    struct batch *b = make_batch(f, false);

    plant(f, "BEFORE INSERT ON pawl_instances FOR EACH ROW",
          "IF NEW.id = 'b' THEN at := calls(); IF at = " FIRST
          " THEN RAISE EXCEPTION 'not now' USING ERRCODE = '55P03'; ELSIF at = " SECOND
          " THEN PERFORM end_session(); END IF; END IF;");
    assert_ok(apply(f, b), &f->err);
    assert_ok(b->commits[0].status, &b->commits[0].error);
    for (int i = 1; i < MEMBERS; i++) {
        assert_code(b->commits[i].status, PAWL_EUNKNOWN);
        assert_int_equal(b->commits[i].error.code, PAWL_EUNKNOWN);
    }
    assert_ok(pawl_store_apply(f->store, b->list + 1, MEMBERS - 1, soon(f), &f->err), &f->err);
    assert_ok(b->commits[1].status, &b->commits[1].error);
    assert_ok(b->commits[2].status, &b->commits[2].error);
}

static void members_keep_their_answers_when_their_signals_are_lost(void **state)
{
    struct fixture *f = *state;
    struct batch *b = make_batch(f, true);

    poison(b, 1);
    end_session_at_signals(f, SECOND); /* the first are those of the joint transaction */
    assert_ok(apply(f, b), &f->err);
    assert_untouched(&f->err);
    assert_ok(b->commits[0].status, &b->commits[0].error);
    assert_code(b->commits[1].status, PAWL_EEXISTS);
    assert_ok(b->commits[2].status, &b->commits[2].error);
}

static void check_nobody_is_blamed(struct fixture *f)
{
    struct batch *b = make_batch(f, true);

    poison(b, 1);
    end_session_at_signals(f, FIRST);
    assert_code(apply(f, b), PAWL_EUNAVAILABLE);
    assert_int_equal(f->err.code, PAWL_EUNAVAILABLE);
    assert_ok(apply(f, b), &f->err);
    assert_ok(b->commits[0].status, &b->commits[0].error);
    assert_code(b->commits[1].status, PAWL_EEXISTS);
    assert_ok(b->commits[2].status, &b->commits[2].error);
}

/* One member is to blame; which one is not known, as they could not be sent one by one. */
static void nobody_is_blamed_for_a_joint_refusal_when_the_session_ends_then(void **state)
{
    check_nobody_is_blamed(*state);
}

/* Signals that prepare nothing are not waited for when all goes well. */
static void nor_when_the_signals_were_sent_before(void **state)
{
    struct fixture *f = *state;
    const struct pawl_bookmark_row row = {
        .id = pawl__str("w"), .instance_id = pawl__str("w"), .hash = pawl__str("h")};
    const struct pawl_change change = {PAWL_CHANGE_PUT, PAWL_TABLE_BOOKMARKS, &row};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN, .changes = &change, .change_count = 1},
                       *commits[] = {&commit};

    assert_ok(pawl_store_apply(f->store, commits, 1, soon(f), &f->err), &f->err);
    assert_ok(commit.status, &commit.error);
    check_nobody_is_blamed(f);
}

/* ---- what is gone for now ---------------------------------------------------------------- */

/* "Not found" is said of instances. */
static void check_is_unavailable(struct fixture *f, struct pawl_store *store)
{
    const struct pawl_query query = {.table = PAWL_TABLE_WORK};
    struct pawl_claim claim = {.id = pawl__str("i")};
    struct pawl_instance_row row = {.id = pawl__str("i"), .owner = 1, .fence = 1};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_CREATE, .instance = &row},
                       *commits[] = {&commit};
    struct pawl_rows rows;
    int64_t now_us;

    assert_code(pawl_store_find(store, &query, &f->arena, &rows, soon(f), &f->err),
                PAWL_EUNAVAILABLE);
    assert_code(pawl_store_claim(store, 1, &claim, 1, &f->arena, &now_us, soon(f), &f->err),
                PAWL_EUNAVAILABLE);
    commit.status = pawl_store_apply(store, commits, 1, soon(f), &f->err) == PAWL_OK
                        ? commit.status
                        : PAWL_EUNAVAILABLE;
    assert_code(commit.status, PAWL_EUNAVAILABLE);
}

static void tables_that_are_gone_for_now_are_no_answer_about_their_rows(void **state)
{
    struct fixture *f = *state;
    const struct pawl_query query = {.table = PAWL_TABLE_WORK};
    struct pawl_rows rows;
    char sql[96];

    (void)snprintf(sql, sizeof sql, "ALTER SCHEMA t%u RENAME TO gone", f->schemas);
    test_postgres_sql(&f->server, sql);
    check_is_unavailable(f, f->store);
    (void)snprintf(sql, sizeof sql, "ALTER SCHEMA gone RENAME TO t%u", f->schemas);
    test_postgres_sql(&f->server, sql);
    assert_ok(pawl_store_find(f->store, &query, &f->arena, &rows, soon(f), &f->err), &f->err);
}

static void a_database_that_is_gone_for_now_is_no_answer_about_its_rows(void **state)
{
    const struct pawl_store_options options = {.flags = PAWL_STORE_OPEN_CREATE};
    struct fixture *f = *state;
    const struct pawl_query query = {.table = PAWL_TABLE_WORK};
    struct pawl_store *store = NULL;
    struct pawl_rows rows;
    char uri[256];

    test_postgres_sql(&f->server, "CREATE DATABASE moved");
    (void)test_postgres_uri(&f->server, "moved", uri, sizeof uri);
    assert_ok(pawl__postgres_store_open(f->env, pawl__str(uri), &options, &store, &f->err),
              &f->err);
    test_postgres_sql(&f->server, "ALTER DATABASE moved ALLOW_CONNECTIONS false");
    test_postgres_sql(&f->server, "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
                                  "WHERE datname = 'moved'");
    test_postgres_sql(&f->server, "ALTER DATABASE moved RENAME TO away");
    check_is_unavailable(f, store);
    test_postgres_sql(&f->server, "ALTER DATABASE away RENAME TO moved");
    test_postgres_sql(&f->server, "ALTER DATABASE moved ALLOW_CONNECTIONS true");
    assert_ok(pawl_store_find(store, &query, &f->arena, &rows, soon(f), &f->err), &f->err);
    pawl_store_close(store);
}

/* ---- a call's error ------------------------------------------------------------------------- */

static void a_call_that_succeeds_writes_no_error(void **state)
{
    struct fixture *f = *state;
    struct batch *b = make_batch(f, false);

    poison(b, 1);
    assert_ok(apply(f, b), &f->err);
    assert_untouched(&f->err);
    assert_code(b->commits[1].status, PAWL_EEXISTS);
    assert_ok(b->commits[2].status, &b->commits[2].error);
}

static void a_call_whose_signals_are_lost_writes_no_error(void **state)
{
    struct fixture *f = *state;
    struct batch *b = make_batch(f, true);

    end_session_at_signals(f, FIRST);
    assert_ok(apply(f, b), &f->err);
    assert_untouched(&f->err);
    for (int i = 0; i < MEMBERS; i++)
        assert_ok(b->commits[i].status, &b->commits[i].error);
}

/* ---- a table that somebody holds ------------------------------------------------------------ */

/* As VACUUM FULL does, or CREATE INDEX. Statements cannot be prepared meanwhile. */
static void a_table_that_is_held_is_busy_on_a_fresh_connection(void **state)
{
    struct fixture *f = *state;
    const struct pawl_socket_wait wait = {f->env, NULL, soon(f)};
    struct pawl_pq_conn *stranger = NULL;
    const struct pawl_work_row work = {.id = pawl__str("w"), .kind = pawl__str("stimulus")};
    const struct pawl_change insert = {PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, &work};
    struct batch *b = make_batch(f, false);

    /* It does not need the table; its statements are prepared together with those that do. */
    b->commits[2] = (struct pawl_commit){.changes = &insert, .change_count = 1};
    assert_ok(pawl__pq_connect(f->pq, f->uri, &wait, &stranger, &f->err), &f->err);
    run_as_stranger(f->env, stranger, "BEGIN");
    run_as_stranger(f->env, stranger, "LOCK TABLE pawl_instances IN ACCESS EXCLUSIVE MODE");
    assert_ok(apply(f, b), &f->err);
    assert_code(b->commits[0].status, PAWL_EBUSY);
    assert_non_null(strstr(b->commits[0].error.msg, "55P03"));
    assert_code(b->commits[1].status, PAWL_EBUSY);
    assert_true(b->commits[2].status == PAWL_OK || b->commits[2].status == PAWL_EBUSY);
    run_as_stranger(f->env, stranger, "ROLLBACK");
    if (b->commits[2].status == PAWL_OK)
        b->commits[2].change_count = 0;
    assert_ok(apply(f, b), &f->err);
    for (int i = 0; i < MEMBERS; i++)
        assert_ok(b->commits[i].status, &b->commits[i].error);
    pawl__pq_disconnect(stranger);
}

#define with_store(test) cmocka_unit_test_setup_teardown(test, open_test, close_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_store(members_before_the_end_of_the_session_keep_their_answers),
        with_store(members_behind_the_end_of_the_session_are_unknown),
        with_store(members_keep_their_answers_when_their_signals_are_lost),
        with_store(nobody_is_blamed_for_a_joint_refusal_when_the_session_ends_then),
        with_store(nor_when_the_signals_were_sent_before),
        with_store(tables_that_are_gone_for_now_are_no_answer_about_their_rows),
        with_store(a_database_that_is_gone_for_now_is_no_answer_about_its_rows),
        with_store(a_call_that_succeeds_writes_no_error),
        with_store(a_call_whose_signals_are_lost_writes_no_error),
        with_store(a_table_that_is_held_is_busy_on_a_fresh_connection),
    };

    return cmocka_run_group_tests_name("stores/postgres_apart", tests, open_group, close_group);
}
