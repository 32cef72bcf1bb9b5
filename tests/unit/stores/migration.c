/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A migration of a SQLite store that is killed at any of its statements: the store is as it was,
 * and the next who opens it brings it up to date. The same on PostgreSQL, where the server can be
 * told to stop it, is in tests/cluster/migration.
 */
#include "base/arena.h"
#include "drivers/sqlite.h"
#include "lib/test.h"
#include "stores/sql.h"
#include "stores/stores.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct fixture {
    struct pawl_env *env;
    struct pawl_arena arena;
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
    (void)snprintf(f->path, sizeof f->path, "%s/pawl.db", f->folder);
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    pawl__arena_init(&f->arena, &f->env->alloc, (size_t)64 << 20);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    char command[128];
    int rc;

    (void)snprintf(command, sizeof command, "rm -r %s", f->folder);
    rc = system(command); // NOLINT(cert-env33-c): our own words
    pawl__arena_release(&f->arena);
    pawl_system_env_close(f->env);
    free(f);
    return rc;
}

/* The kept store of version 1, as it was. */
static void put_old_store(struct fixture *f)
{
    char command[512];

    (void)snprintf(command, sizeof command, "rm -f %s*; gunzip <%s/schema-1/store.db.gz >%s",
                   f->path, TEST_DATA_DIR, f->path);
    assert_int_equal(system(command), 0); // NOLINT(cert-env33-c): our own words
}

/* Begins as a migration does, runs the first statements and is killed. Nearly nothing is kept in
 * memory, so that what was written is in the file's log already. */
static void be_killed(struct fixture *f, const char *const *statements, size_t count)
{
    struct pawl_sqlite *db = NULL;

    if (pawl__sqlite_open(f->env, f->path, 0, &db, NULL) != PAWL_OK ||
        pawl__sqlite_run(db, "PRAGMA cache_size = 1", NULL) != PAWL_OK ||
        pawl__sqlite_run(db, "BEGIN IMMEDIATE", NULL) != PAWL_OK)
        _exit(1);
    for (size_t i = 0; i < count; i++)
        if (pawl__sqlite_run(db, statements[i], NULL) != PAWL_OK)
            _exit(2);
    _exit(0);
}

static int64_t count_rows(struct fixture *f, struct pawl_store *store, enum pawl_table table)
{
    const struct pawl_query query = {.table = table, .flags = PAWL_QUERY_COUNT};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(store, &query, &f->arena, &rows, PAWL_FOREVER, &f->err), &f->err);
    return (int64_t)rows.total;
}

/* Rows of each table of version 1, as SQL has them, which needs no store that knows the version. */
static void count_old(struct fixture *f, int64_t counts[PAWL_TABLE_COUNT], int64_t *version)
{
    struct pawl_sqlite *db = NULL;

    assert_ok(pawl__sqlite_open(f->env, f->path, 0, &db, &f->err), &f->err);
    for (int table = -1; table <= PAWL_TABLE_STAMPS; table++) {
        struct pawl_sqlite_statement *statement = NULL;
        bool row = false;
        char text[96];

        (void)snprintf(text, sizeof text, "SELECT %s FROM %s",
                       table < 0 ? "max(version)" : "count(*)",
                       table < 0 ? "pawl_schema" : pawl__sql_table_name((enum pawl_table)table));
        assert_ok(pawl__sqlite_prepare(db, text, &statement, &f->err), &f->err);
        assert_ok(pawl__sqlite_step(statement, &row, &f->err), &f->err);
        assert_true(row);
        *(table < 0 ? version : &counts[table]) = pawl__sqlite_column_int(statement, 0);
        pawl__sqlite_reset(statement);
    }
    pawl__sqlite_close(db);
}

static void a_migration_that_is_killed_at_any_statement_is_begun_again(void **state)
{
    const struct pawl_store_options options = {.flags = PAWL_STORE_OPEN_CREATE};
    struct fixture *f = *state;
    const char *const *statements = NULL;
    int64_t before[PAWL_TABLE_COUNT] = {0}, version = 0;
    size_t count = 0;
    int reader = 0;

    assert_ok(
        pawl__sql_migration(PAWL_SQL_SQLITE, 2, &f->arena, &statements, &count, &reader, &f->err),
        &f->err);
    put_old_store(f);
    count_old(f, before, &version);
    assert_int_equal(version, 1);
    assert_true(before[PAWL_TABLE_INSTANCES] > 0 && before[PAWL_TABLE_BOOKMARKS] > 0);
    for (size_t done = 0; done <= count; done++) {
        int64_t left[PAWL_TABLE_COUNT] = {0};
        struct pawl_store_status status;
        struct pawl_store *store = NULL;
        int how = 0;
        pid_t child;

        put_old_store(f);
        child = fork();
        assert_true(child >= 0);
        if (child == 0)
            be_killed(f, statements, done);
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_int_equal(how, 0);
        count_old(f, left, &version);
        assert_int_equal(version, 1);
        assert_memory_equal(left, before, sizeof before);
        assert_ok(pawl__sqlite_store_open(f->env, pawl__str(f->path), &options, &store, &f->err),
                  &f->err);
        assert_ok(pawl_store_status(store, &status, PAWL_FOREVER, &f->err), &f->err);
        assert_int_equal(status.schema, PAWL_STORE_SCHEMA);
        for (int table = 0; table <= PAWL_TABLE_STAMPS; table++)
            assert_int_equal(count_rows(f, store, (enum pawl_table)table), before[table]);
        pawl_store_close(store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_migration_that_is_killed_at_any_statement_is_begun_again,
                                        set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
