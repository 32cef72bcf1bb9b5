/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/sqlite.h"
#include "lib/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct fixture {
    struct pawl_env *env;
    struct pawl_error err;
    char folder[64];
    char path[128];
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    (void)snprintf(f->folder, sizeof f->folder, "/tmp/pawl-test-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    (void)snprintf(f->path, sizeof f->path, "%s/test.db", f->folder);
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    char command[128];
    int rc;

    (void)snprintf(command, sizeof command, "rm -r %s", f->folder);
    rc = system(command);
    pawl_system_env_close(f->env);
    free(f);
    return rc;
}

static struct pawl_sqlite *open_it(struct fixture *f)
{
    struct pawl_sqlite *db = NULL;

    assert_ok(pawl__sqlite_open(f->env, f->path, PAWL_SQLITE_CREATE, &db, &f->err), &f->err);
    return db;
}

static void run(struct fixture *f, struct pawl_sqlite *db, const char *text)
{
    assert_ok(pawl__sqlite_run(db, text, &f->err), &f->err);
}

static int64_t past(struct fixture *f)
{
    return pawl_env_monotonic_ns(f->env) - 1;
}

/* ---- values ------------------------------------------------------------------------------ */

static void values_come_back_as_they_went_in(void **state)
{
    struct fixture *f = *state;
    struct pawl_sqlite *db = open_it(f);
    struct pawl_sqlite_statement *statement = NULL;
    struct pawl_str bytes = pawl__str_make("a\0b\xFF", 4);
    bool row = false;

    run(f, db, "CREATE TABLE t (a TEXT NOT NULL, b BLOB NOT NULL, c BLOB NOT NULL, d INTEGER)");
    assert_ok(
        pawl__sqlite_prepare(db, "INSERT INTO t VALUES (?1, ?2, ?3, ?4)", &statement, &f->err),
        &f->err);
    assert_ok(pawl__sqlite_bind_text(statement, 1, pawl__str("Gr\xC3\xBC\xC3\x9F"), NULL), NULL);
    assert_ok(pawl__sqlite_bind_bytes(statement, 2, bytes, NULL), NULL);
    assert_ok(pawl__sqlite_bind_bytes(statement, 3, pawl__str_make(NULL, 0), NULL), NULL);
    assert_ok(pawl__sqlite_bind_int(statement, 4, INT64_MIN, NULL), NULL);
    assert_ok(pawl__sqlite_step(statement, &row, &f->err), &f->err);
    assert_false(row);
    assert_int_equal(pawl__sqlite_changes(db), 1);
    assert_ok(pawl__sqlite_prepare(db, "SELECT * FROM t", &statement, &f->err), &f->err);
    assert_ok(pawl__sqlite_step(statement, &row, &f->err), &f->err);
    assert_true(row);
    assert_str(pawl__sqlite_column_str(statement, 0), "Gr\xC3\xBC\xC3\x9F");
    assert_int_equal(pawl__sqlite_column_str(statement, 1).len, 4);
    assert_memory_equal(pawl__sqlite_column_str(statement, 1).ptr, bytes.ptr, 4);
    assert_int_equal(pawl__sqlite_column_str(statement, 2).len, 0);
    assert_non_null(pawl__sqlite_column_str(statement, 2).ptr);
    assert_true(pawl__sqlite_column_int(statement, 3) == INT64_MIN);
    assert_ok(pawl__sqlite_step(statement, &row, &f->err), &f->err);
    assert_false(row);
    pawl__sqlite_close(db);
}

static void statements_are_kept_and_there_may_be_more_than_are_kept(void **state)
{
    struct fixture *f = *state;
    struct pawl_sqlite *db = open_it(f);
    struct pawl_sqlite_statement *first = NULL, *same = NULL;

    assert_ok(pawl__sqlite_prepare(db, "SELECT 1", &first, &f->err), &f->err);
    assert_ok(pawl__sqlite_prepare(db, "SELECT 1", &same, &f->err), &f->err);
    assert_ptr_equal(first, same);
    for (int i = 0; i < 3 * PAWL_SQLITE_STATEMENTS_MAX; i++) {
        char text[32];
        bool row = false;

        (void)snprintf(text, sizeof text, "SELECT %d", i);
        assert_ok(pawl__sqlite_prepare(db, text, &same, &f->err), &f->err);
        assert_ok(pawl__sqlite_step(same, &row, &f->err), &f->err);
        assert_int_equal(pawl__sqlite_column_int(same, 0), i);
        pawl__sqlite_reset(same);
    }
    pawl__sqlite_close(db);
}

/* ---- errors ------------------------------------------------------------------------------ */

static void a_key_that_is_there_is_eexists_and_the_transaction_goes_on(void **state)
{
    struct fixture *f = *state;
    struct pawl_sqlite *db = open_it(f);

    run(f, db, "CREATE TABLE t (a INTEGER PRIMARY KEY, b INTEGER UNIQUE)");
    run(f, db, "BEGIN IMMEDIATE");
    run(f, db, "INSERT INTO t VALUES (1, 1)");
    assert_code(pawl__sqlite_run(db, "INSERT INTO t VALUES (1, 2)", &f->err), PAWL_EEXISTS);
    assert_code(pawl__sqlite_run(db, "INSERT INTO t VALUES (2, 1)", &f->err), PAWL_EEXISTS);
    assert_true(pawl__sqlite_in_transaction(db));
    assert_ok(pawl__sqlite_commit(db, &f->err), &f->err);
    assert_false(pawl__sqlite_in_transaction(db));
    pawl__sqlite_close(db);
}

static void a_lock_of_another_is_waited_for_until_the_deadline(void **state)
{
    struct fixture *f = *state;
    struct pawl_sqlite *one = open_it(f), *other = open_it(f);

    run(f, one, "PRAGMA journal_mode=WAL");
    run(f, one, "BEGIN IMMEDIATE");
    pawl__sqlite_set_deadline(other, past(f));
    assert_code(pawl__sqlite_run(other, "BEGIN IMMEDIATE", &f->err), PAWL_ETIMEDOUT);
    assert_non_null(strstr(f->err.msg, f->path));
    pawl__sqlite_set_deadline(other, pawl_env_monotonic_ns(f->env) + 5000000);
    assert_code(pawl__sqlite_run(other, "BEGIN IMMEDIATE", &f->err), PAWL_ETIMEDOUT);
    assert_ok(pawl__sqlite_commit(one, &f->err), &f->err);
    run(f, other, "BEGIN IMMEDIATE");
    pawl__sqlite_close(one);
    pawl__sqlite_close(other);
}

static void a_stop_ends_the_wait_for_a_lock(void **state)
{
    struct fixture *f = *state;
    struct pawl_sqlite *one = open_it(f), *other = open_it(f);

    run(f, one, "BEGIN IMMEDIATE");
    pawl_system_env_stop(f->env);
    assert_code(pawl__sqlite_run(other, "BEGIN IMMEDIATE", &f->err), PAWL_ESTOPPED);
    pawl__sqlite_close(one);
    pawl__sqlite_close(other);
}

static void computing_ends_at_the_deadline(void **state)
{
    struct fixture *f = *state;
    struct pawl_sqlite *db = open_it(f);

    pawl__sqlite_set_deadline(db, past(f));
    assert_code(pawl__sqlite_run(db,
                                 "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
                                 "SELECT count(*) FROM n",
                                 &f->err),
                PAWL_ETIMEDOUT);
    pawl__sqlite_close(db);
}

static void what_cannot_be_opened_says_why(void **state)
{
    struct fixture *f = *state;
    struct pawl_sqlite *db = NULL;

    assert_code(pawl__sqlite_open(f->env, "", 0, &db, &f->err), PAWL_EINVAL);
    assert_code(pawl__sqlite_open(f->env, f->path, 0, &db, &f->err), PAWL_ENOTFOUND);
    assert_non_null(strstr(f->err.msg, "No such file"));
    assert_code(pawl__sqlite_open(f->env, f->folder, PAWL_SQLITE_CREATE, &db, &f->err),
                PAWL_EINVAL);
    (void)snprintf(f->path, sizeof f->path, "%s/no/such/test.db", f->folder);
    assert_code(pawl__sqlite_open(f->env, f->path, PAWL_SQLITE_CREATE, &db, &f->err),
                PAWL_ENOTFOUND);
    assert_non_null(strstr(f->err.msg, "its folder does not exist; make it first"));
    assert_null(db);
}

static void a_file_that_is_no_database_is_refused(void **state)
{
    struct fixture *f = *state;
    struct pawl_sqlite *db;
    FILE *file = fopen(f->path, "w");

    assert_non_null(file);
    for (int i = 0; i < 1000; i++)
        (void)fputs("This is a letter. ", file);
    (void)fclose(file);
    db = open_it(f); /* SQLite looks at the content later */
    assert_code(pawl__sqlite_run(db, "SELECT * FROM sqlite_schema", &f->err), PAWL_ECORRUPT);
    assert_non_null(strstr(f->err.msg, "is not an SQLite database"));
    pawl__sqlite_close(db);
}

static void reading_connections_cannot_write(void **state)
{
    struct fixture *f = *state;
    struct pawl_sqlite *db = open_it(f);

    run(f, db, "CREATE TABLE t (a)");
    pawl__sqlite_close(db);
    assert_ok(pawl__sqlite_open(f->env, f->path, PAWL_SQLITE_READ, &db, &f->err), &f->err);
    assert_code(pawl__sqlite_run(db, "INSERT INTO t VALUES (1)", &f->err), PAWL_EPERM);
    pawl__sqlite_close(db);
}

static void no_room_is_an_error_that_passes(void **state)
{
    struct fixture *f = *state;
    struct pawl_sqlite *db = open_it(f);

    run(f, db, "CREATE TABLE t (a)");
    run(f, db, "PRAGMA max_page_count=4");
    assert_code(pawl__sqlite_run(db, "INSERT INTO t VALUES (zeroblob(100000))", &f->err),
                PAWL_EUNAVAILABLE);
    assert_non_null(strstr(f->err.msg, "nothing was lost; free some space"));
    run(f, db, "PRAGMA max_page_count=1000");
    run(f, db, "INSERT INTO t VALUES (zeroblob(100000))");
    pawl__sqlite_close(db);
}

/* Puts a descriptor that cannot be written in the place of SQLite's one for its log. */
static void break_log(struct fixture *f)
{
    char log[160], link[64], target[256];
    int broken;

    (void)snprintf(log, sizeof log, "%s-wal", f->path);
    broken = open(log, O_RDONLY | O_CLOEXEC);
    assert_true(broken >= 0);
    for (int fd = 3; fd < 64; fd++) {
        ssize_t length;

        (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        length = readlink(link, target, sizeof target - 1);
        if (fd == broken || length < 0)
            continue;
        target[length] = '\0';
        if (strcmp(target, log) == 0)
            assert_int_equal(dup2(broken, fd), fd);
    }
    (void)close(broken);
}

static void a_commit_on_which_the_disk_fails_is_unknown(void **state)
{
    struct fixture *f = *state;
    struct pawl_sqlite *db = open_it(f);

    run(f, db, "PRAGMA journal_mode=WAL");
    run(f, db, "PRAGMA synchronous=FULL");
    run(f, db, "CREATE TABLE t (a)");
    run(f, db, "BEGIN IMMEDIATE");
    run(f, db, "INSERT INTO t VALUES (1)");
    break_log(f);
    assert_code(pawl__sqlite_commit(db, &f->err), PAWL_EUNKNOWN);
    assert_int_equal(pawl_error_class(PAWL_EUNKNOWN), PAWL_CLASS_UNKNOWN);
    assert_non_null(strstr(f->err.msg, "may or may not be kept"));
    assert_false(pawl__sqlite_in_transaction(db));
    pawl__sqlite_close(db);
}

/* ---- memory ------------------------------------------------------------------------------ */

static int open_and_run(struct test_allocator *alloc, void *arg)
{
    struct fixture *f = arg;
    struct pawl_allocator real = f->env->alloc;
    struct pawl_sqlite *db = NULL;
    int status;

    f->env->alloc = alloc->base;
    status = pawl__sqlite_open(f->env, f->path, PAWL_SQLITE_CREATE, &db, NULL);
    if (status == PAWL_OK)
        status = pawl__sqlite_run(db, "SELECT 1", NULL);
    if (status == PAWL_OK)
        status = pawl__sqlite_run(db, "SELECT 2", NULL);
    pawl__sqlite_close(db);
    f->env->alloc = real;
    return status;
}

static void running_out_of_memory_is_an_error(void **state)
{
    test_sweep_allocations(open_and_run, *state, 100);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(values_come_back_as_they_went_in),
        TEST(statements_are_kept_and_there_may_be_more_than_are_kept),
        TEST(a_key_that_is_there_is_eexists_and_the_transaction_goes_on),
        TEST(a_lock_of_another_is_waited_for_until_the_deadline),
        TEST(a_stop_ends_the_wait_for_a_lock),
        TEST(computing_ends_at_the_deadline),
        TEST(what_cannot_be_opened_says_why),
        TEST(a_file_that_is_no_database_is_refused),
        TEST(reading_connections_cannot_write),
        TEST(no_room_is_an_error_that_passes),
        TEST(a_commit_on_which_the_disk_fails_is_unknown),
        TEST(running_out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
