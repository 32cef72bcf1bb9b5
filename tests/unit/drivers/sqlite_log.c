/* SPDX-License-Identifier: Apache-2.0 */
/* The writes of a log that are held back: how many there are, and who can see them. */
#include "drivers/sqlite.h"
#include "lib/test.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rows of 3 KB: one page each. A connection that keeps 10 pages in memory writes the others to the
 * log before it commits. */
#define ROWS 60
#define INSERT_UP_TO(last)                                                                         \
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " #last ") "         \
    "INSERT INTO t SELECT i, 0, randomblob(3000) FROM n"
#define INSERT INSERT_UP_TO(60)
#define INSERT_20 INSERT_UP_TO(20)

struct fixture {
    struct pawl_env *env;
    struct pawl_error err;
    char folder[64];
    char path[96];
};

static void run(struct fixture *f, struct pawl_sqlite *db, const char *text)
{
    assert_ok(pawl__sqlite_run(db, text, &f->err), &f->err);
}

static struct pawl_sqlite *open_at(struct fixture *f, const char *path)
{
    struct pawl_sqlite *db = NULL;

    assert_ok(pawl__sqlite_open(f->env, path, PAWL_SQLITE_CREATE, &db, &f->err), &f->err);
    run(f, db, "PRAGMA journal_mode=WAL");
    assert_ok(pawl__sqlite_set_syncs(db, false, &f->err), &f->err);
    return db;
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct pawl_sqlite *db;

    assert_non_null(f);
    (void)snprintf(f->folder, sizeof f->folder, "/tmp/pawl-test-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    (void)snprintf(f->path, sizeof f->path, "%s/test.db", f->folder);
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    db = open_at(f, f->path);
    run(f, db, "CREATE TABLE t (a INTEGER PRIMARY KEY, b, c)");
    pawl__sqlite_close(db);
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

static int64_t number(struct fixture *f, struct pawl_sqlite *db, const char *text)
{
    struct pawl_sqlite_statement *statement = NULL;
    bool row = false;
    int64_t value;

    assert_ok(pawl__sqlite_prepare(db, text, &statement, &f->err), &f->err);
    assert_ok(pawl__sqlite_step(statement, &row, &f->err), &f->err);
    assert_true(row);
    value = pawl__sqlite_column_int(statement, 0);
    pawl__sqlite_reset(statement);
    return value;
}

/* 1 when nothing is wrong. */
#define IS_SOUND "SELECT count(*) = 1 AND min(integrity_check) = 'ok' FROM pragma_integrity_check"

/* What a process that dies now leaves to the next one. */
static struct pawl_sqlite *open_copy(struct fixture *f)
{
    char command[1024], path[128];

    (void)snprintf(path, sizeof path, "%s/copy.db", f->folder);
    (void)snprintf(command, sizeof command, "rm -f %s* && cp %s %s && cp %s-wal %s-wal", path,
                   f->path, path, f->path, path);
    assert_int_equal(system(command), 0);
    return open_at(f, path);
}

/* ---- the calls by which SQLite writes ---------------------------------------------------- */

/* They have no context of the test's; one test runs at a time, on one thread. */
static struct {
    int count;
    int errnum; /* what the next one fails with; 0: it does not */
} writes;

/* True: this one fails. */
static bool count_write(void)
{
    bool fails = writes.errnum != 0;

    writes.count++;
    if (fails)
        errno = writes.errnum;
    writes.errnum = 0;
    return fails;
}

static ssize_t counted_write(int file, const void *data, size_t bytes)
{
    return count_write() ? -1 : write(file, data, bytes);
}

static ssize_t counted_pwrite(int file, const void *data, size_t bytes, off_t at)
{
    return count_write() ? -1 : pwrite(file, data, bytes, at);
}

/* Which of them it uses was decided when it was compiled. */
static int replace_writes(void **state)
{
    static const struct {
        const char *name;
        sqlite3_syscall_ptr function;
    } calls[] = {
        {"write", (sqlite3_syscall_ptr)counted_write},
        {"pwrite", (sqlite3_syscall_ptr)counted_pwrite},
        {"pwrite64", (sqlite3_syscall_ptr)counted_pwrite},
    };
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

    (void)state;
    assert_non_null(vfs);
    assert_int_equal(sizeof(off_t), 8);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (vfs->xGetSystemCall(vfs, calls[i].name))
            assert_int_equal(vfs->xSetSystemCall(vfs, calls[i].name, calls[i].function), SQLITE_OK);
    }
    return 0;
}

/* ---- tests ------------------------------------------------------------------------------- */

static void a_transaction_of_many_pages_is_written_at_once(void **state)
{
    struct fixture *f = *state;
    struct pawl_sqlite *db = open_at(f, f->path);

    run(f, db, "INSERT INTO t VALUES (1000, 0, '')"); /* the log and its shared memory are there */
    assert_ok(pawl__sqlite_begin(db, true, &f->err), &f->err);
    run(f, db, INSERT_20);
    writes.count = 0;
    assert_ok(pawl__sqlite_commit(db, &f->err), &f->err);
    assert_in_range(writes.count, 1, 2);
    pawl__sqlite_close(db);
}

/* Also without a sync, which nothing but the last page's own call precedes. */
static void what_is_committed_is_there_for_others_and_after_a_death(void **state)
{
    struct fixture *f = *state;
    struct pawl_sqlite *db = open_at(f, f->path), *other = open_at(f, f->path), *copy;

    for (int i = 1; i <= 40; i++) {
        char text[96];

        (void)snprintf(text, sizeof text, "INSERT INTO t VALUES (%d, 0, randomblob(%d))", i,
                       i * 997 % 9000);
        run(f, i % 3 == 0 ? other : db, text);
        assert_int_equal(number(f, db, "SELECT count(*) FROM t"), i);
        assert_int_equal(number(f, other, "SELECT count(*) FROM t"), i);
        copy = open_copy(f);
        assert_int_equal(number(f, copy, "SELECT count(*) FROM t"), i);
        assert_int_equal(number(f, copy, IS_SOUND), 1);
        pawl__sqlite_close(copy);
    }
    pawl__sqlite_close(other);
    pawl__sqlite_close(db);
}

/* The header of a page that commits has the number of pages, of which no single byte may be looked
 * at: of 256 the last is 0. */
static void a_commit_is_known_however_many_pages_there_are(void **state)
{
    struct fixture *f = *state;
    struct pawl_sqlite *db = open_at(f, f->path), *copy;
    bool seen = false;

    for (int i = 1; i <= 300 && !seen; i++) {
        char text[96];

        (void)snprintf(text, sizeof text, "INSERT INTO t VALUES (%d, 0, zeroblob(3000))", i);
        run(f, db, text);
        seen = number(f, db, "PRAGMA page_count") == 256;
        if (!seen)
            continue;
        copy = open_copy(f);
        assert_int_equal(number(f, copy, "SELECT count(*) FROM t"), i);
        assert_int_equal(number(f, copy, IS_SOUND), 1);
        pawl__sqlite_close(copy);
    }
    assert_true(seen);
    pawl__sqlite_close(db);
}

/* SQLite writes pages in the place where they are in the log, and their headers once more. */
static void pages_that_change_twice_in_a_transaction_are_kept(void **state)
{
    struct fixture *f = *state;
    struct pawl_sqlite *db = open_at(f, f->path), *copy;

    run(f, db, "PRAGMA cache_size=10");
    assert_ok(pawl__sqlite_begin(db, true, &f->err), &f->err);
    run(f, db, INSERT);
    run(f, db, "UPDATE t SET b = 1");
    run(f, db, "SAVEPOINT s");
    run(f, db, "UPDATE t SET b = 2");
    run(f, db, "ROLLBACK TO s");
    run(f, db, "UPDATE t SET b = b + 2 WHERE a % 2 = 0");
    assert_ok(pawl__sqlite_commit(db, &f->err), &f->err);
    copy = open_copy(f);
    assert_int_equal(number(f, copy, "SELECT sum(b) FROM t"), ROWS * 2);
    assert_int_equal(number(f, copy, IS_SOUND), 1);
    pawl__sqlite_close(copy);
    assert_int_equal(number(f, db, "SELECT sum(b) FROM t"), ROWS * 2);
    pawl__sqlite_close(db);
}

/* Fewer pages than are held back at most. */
static void a_transaction_reads_what_it_has_not_written_yet(void **state)
{
    struct fixture *f = *state;
    struct pawl_sqlite *db = open_at(f, f->path);

    run(f, db, "INSERT INTO t VALUES (1000, 0, '')");
    run(f, db, "PRAGMA cache_size=10");
    assert_ok(pawl__sqlite_begin(db, true, &f->err), &f->err);
    run(f, db, INSERT_20);
    assert_int_equal(number(f, db, "SELECT sum(length(c)) FROM t"), 60000);
    assert_ok(pawl__sqlite_commit(db, &f->err), &f->err);
    assert_int_equal(number(f, db, IS_SOUND), 1);
    pawl__sqlite_close(db);
}

/* The place in the log is the next writer's. */
static void what_was_rolled_back_overwrites_nothing_of_another(void **state)
{
    struct fixture *f = *state;
    struct pawl_sqlite *db = open_at(f, f->path), *other = open_at(f, f->path), *copy;

    run(f, db, "PRAGMA cache_size=10");
    for (int i = 0; i < 5; i++) {
        run(f, db, "DELETE FROM t");
        assert_ok(pawl__sqlite_begin(db, true, &f->err), &f->err);
        run(f, db, INSERT);
        pawl__sqlite_rollback(db);
        run(f, other, INSERT);
        assert_int_equal(number(f, db, "SELECT count(*) FROM t"), ROWS);
        copy = open_copy(f);
        assert_int_equal(number(f, copy, "SELECT count(*) FROM t"), ROWS);
        assert_int_equal(number(f, copy, IS_SOUND), 1);
        pawl__sqlite_close(copy);
    }
    assert_int_equal(number(f, other, IS_SOUND), 1);
    pawl__sqlite_close(other);
    pawl__sqlite_close(db);
}

/* What a connection has in its memory is not what is in the file. */
static void a_connection_that_is_closed_in_a_transaction_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct pawl_sqlite *db = open_at(f, f->path), *other = open_at(f, f->path);

    run(f, db, "PRAGMA cache_size=10");
    assert_ok(pawl__sqlite_begin(db, true, &f->err), &f->err);
    run(f, db, INSERT);
    pawl__sqlite_close(db);
    run(f, other, "INSERT INTO t VALUES (1, 0, '')");
    assert_int_equal(number(f, other, "SELECT count(*) FROM t"), 1);
    assert_int_equal(number(f, other, IS_SOUND), 1);
    pawl__sqlite_close(other);
}

/*
 * SQLite undoes a statement that found a full disk alone, and lets the transaction go on, if it was
 * about to read then: it does not know that what could not be written was of statements before.
 */
static void
a_transaction_that_was_not_written_does_not_commit_when_there_is_room_again(void **state)
{
    struct fixture *f = *state;
    struct pawl_sqlite *db = open_at(f, f->path), *copy;

    run(f, db, "INSERT INTO t VALUES (1000, 0, '')");
    run(f, db, "PRAGMA cache_size=10");
    assert_ok(pawl__sqlite_begin(db, true, &f->err), &f->err);
    run(f, db, INSERT_20);
    writes.errnum = ENOSPC;
    assert_int_equal(
        pawl__sqlite_run(db, "INSERT INTO t SELECT a + 100, 0, '' FROM t ORDER BY a", &f->err),
        PAWL_EUNAVAILABLE);
    assert_int_equal(writes.errnum, 0);
    assert_true(pawl__sqlite_in_transaction(db));
    assert_int_equal(pawl__sqlite_commit(db, &f->err), PAWL_EUNAVAILABLE);
    assert_false(pawl__sqlite_in_transaction(db));
    copy = open_copy(f);
    assert_int_equal(number(f, copy, "SELECT count(*) FROM t"), 1);
    assert_int_equal(number(f, copy, IS_SOUND), 1);
    pawl__sqlite_close(copy);
    assert_int_equal(number(f, db, "SELECT count(*) FROM t"), 1);

    /* It is over with that transaction. */
    run(f, db, INSERT_20);
    copy = open_copy(f);
    assert_int_equal(number(f, copy, "SELECT count(*) FROM t"), 21);
    assert_int_equal(number(f, copy, IS_SOUND), 1);
    pawl__sqlite_close(copy);
    pawl__sqlite_close(db);
}

/* Begins a transaction whose first pages could not be written, and which goes on. */
static void begin_and_lose_pages(struct fixture *f, struct pawl_sqlite *db)
{
    run(f, db, "PRAGMA cache_size=10");
    assert_ok(pawl__sqlite_begin(db, true, &f->err), &f->err);
    run(f, db, INSERT_20);
    writes.errnum = ENOSPC;
    assert_int_equal(
        pawl__sqlite_run(db, "INSERT INTO t SELECT a + 100, 0, '' FROM t ORDER BY a", &f->err),
        PAWL_EUNAVAILABLE);
    assert_int_equal(writes.errnum, 0);
    assert_true(pawl__sqlite_in_transaction(db));
    /* What follows reads from the log, and has the room to do so without a write. */
    run(f, db, "PRAGMA shrink_memory");
    run(f, db, "PRAGMA cache_size=1000");
}

/* One of the rows that were inserted. */
static int read_row(struct fixture *f, struct pawl_sqlite *db, int a, bool *is_right)
{
    struct pawl_sqlite_statement *statement = NULL;
    bool row = false;
    int status;

    assert_ok(pawl__sqlite_prepare(db, "SELECT b = 0 AND length(c) = 3000 FROM t WHERE a = ?1",
                                   &statement, &f->err),
              &f->err);
    assert_ok(pawl__sqlite_bind_int(statement, 1, a, &f->err), &f->err);
    status = pawl__sqlite_step(statement, &row, &f->err);
    *is_right = status == PAWL_OK && row && pawl__sqlite_column_int(statement, 0) == 1;
    pawl__sqlite_reset(statement);
    return status;
}

/*
 * SQLite still looks in the log for the pages of the statements before. In their place is what was
 * written before the log began again, or nothing.
 */
static void a_transaction_that_was_not_written_does_not_read_what_was_lost(void **state)
{
    struct fixture *f = *state;
    struct pawl_sqlite *db = open_at(f, f->path);
    unsigned failed = 0;
    bool is_right;

    run(f, db, "CREATE TABLE kept (a, c)");
    run(f, db, INSERT);
    run(f, db, "UPDATE t SET b = 1");
    run(f, db, "DELETE FROM t");
    run(f, db, "PRAGMA wal_checkpoint(RESTART)");
    run(f, db, "INSERT INTO kept VALUES (1, randomblob(3000))");
    for (int a = 1; a <= 20; a++) {
        int status;

        begin_and_lose_pages(f, db);
        status = read_row(f, db, a, &is_right);
        if (status != PAWL_OK)
            assert_code(status, PAWL_EUNAVAILABLE);
        else
            assert_true(is_right);
        failed += status != PAWL_OK;
        pawl__sqlite_rollback(db);
        assert_int_equal(number(f, db, "SELECT count(*) FROM t"), 0);
    }
    assert_in_range(failed, 1, 20);

    /* What was committed before is in the log, too. */
    begin_and_lose_pages(f, db);
    assert_int_equal(number(f, db, "SELECT length(c) FROM kept"), 3000);
    assert_true(pawl__sqlite_in_transaction(db));
    pawl__sqlite_rollback(db);

    /* It is over with that transaction. */
    assert_ok(pawl__sqlite_begin(db, true, &f->err), &f->err);
    run(f, db, INSERT_20);
    run(f, db, "PRAGMA shrink_memory");
    for (int a = 1; a <= 20; a++) {
        assert_ok(read_row(f, db, a, &is_right), &f->err);
        assert_true(is_right);
    }
    assert_ok(pawl__sqlite_commit(db, &f->err), &f->err);
    assert_int_equal(number(f, db, IS_SOUND), 1);
    pawl__sqlite_close(db);
}

/* ---- why a write failed ------------------------------------------------------------------ */

static int commit_row(struct fixture *f, struct pawl_sqlite *db, int errnum)
{
    int status;

    assert_ok(pawl__sqlite_begin(db, true, &f->err), &f->err);
    run(f, db, "INSERT INTO t (b) VALUES (1)");
    writes.errnum = errnum;
    status = pawl__sqlite_commit(db, &f->err);
    assert_int_equal(writes.errnum, 0);
    return status;
}

/* SQLite keeps what the last call that failed on a file said, for as long as it is open. */
static void a_quota_that_was_met_before_is_not_why_the_disk_fails_now(void **state)
{
    struct fixture *f = *state;
    struct pawl_sqlite *db = open_at(f, f->path);

    run(f, db, INSERT_20);
    writes.errnum = EDQUOT;
    assert_code(pawl__sqlite_run(db, "PRAGMA wal_checkpoint(RESTART)", &f->err), PAWL_EUNAVAILABLE);
    assert_non_null(strstr(f->err.msg, "quota"));
    assert_int_equal(writes.errnum, 0);
    assert_code(commit_row(f, db, EIO), PAWL_EUNKNOWN);
    assert_non_null(strstr(f->err.msg, "the disk failed"));
    writes.errnum = EIO;
    assert_code(pawl__sqlite_run(db, "PRAGMA wal_checkpoint(RESTART)", &f->err), PAWL_EIO);
    assert_code(commit_row(f, db, 0), PAWL_OK);
    pawl__sqlite_close(db);
}

static void a_commit_for_which_there_is_no_room_is_known_not_to_be_kept(void **state)
{
    static const int errnums[] = {ENOSPC, EDQUOT, EFBIG};
    struct fixture *f = *state;
    struct pawl_sqlite *db = open_at(f, f->path);

    for (size_t i = 0; i < sizeof errnums / sizeof errnums[0]; i++) {
        assert_code(commit_row(f, db, errnums[i]), PAWL_EUNAVAILABLE);
        assert_non_null(strstr(f->err.msg, "nothing was lost"));
    }
    assert_int_equal(number(f, db, "SELECT count(*) FROM t"), 0);
    assert_code(commit_row(f, db, EIO), PAWL_EUNKNOWN);
    pawl__sqlite_close(db);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_transaction_of_many_pages_is_written_at_once),
        TEST(what_is_committed_is_there_for_others_and_after_a_death),
        TEST(a_commit_is_known_however_many_pages_there_are),
        TEST(pages_that_change_twice_in_a_transaction_are_kept),
        TEST(a_transaction_reads_what_it_has_not_written_yet),
        TEST(what_was_rolled_back_overwrites_nothing_of_another),
        TEST(a_connection_that_is_closed_in_a_transaction_leaves_nothing),
        TEST(a_transaction_that_was_not_written_does_not_commit_when_there_is_room_again),
        TEST(a_transaction_that_was_not_written_does_not_read_what_was_lost),
        TEST(a_quota_that_was_met_before_is_not_why_the_disk_fails_now),
        TEST(a_commit_for_which_there_is_no_room_is_known_not_to_be_kept),
    };

    return cmocka_run_group_tests(tests, replace_writes, NULL);
}
