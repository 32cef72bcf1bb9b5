/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that Pawl is part of may choose how SQLite reaches its files: the store works on what
 * it chose, or refuses it.
 */
#include "lib/test.h"
#include "stores/stores.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
    struct pawl_env *env;
    struct pawl_error err;
    sqlite3_vfs *usual;
    char folder[64], path[96];
};

/* The store's own layer is put above what is the default when the first store is opened. */
static void forget_layer(void)
{
    sqlite3_vfs *layer = sqlite3_vfs_find("pawl-log");

    if (layer) {
        assert_int_equal(sqlite3_vfs_unregister(layer), SQLITE_OK);
        sqlite3_free(layer);
    }
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    (void)snprintf(f->folder, sizeof f->folder, "/tmp/pawl-test-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    (void)snprintf(f->path, sizeof f->path, "%s/pawl.db", f->folder);
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    forget_layer();
    f->usual = sqlite3_vfs_find(NULL);
    assert_non_null(f->usual);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    char command[128];
    int rc;

    forget_layer();
    (void)sqlite3_vfs_register(f->usual, 1);
    (void)snprintf(command, sizeof command, "rm -r %s", f->folder);
    rc = system(command);
    pawl_system_env_close(f->env);
    free(f);
    return rc;
}

static int try_open(struct fixture *f, struct pawl_store **out)
{
    struct pawl_store_options options = {.flags = PAWL_STORE_OPEN_CREATE};

    return pawl__sqlite_store_open(f->env, pawl__str(f->path), &options, out, &f->err);
}

static void refuse(struct fixture *f, const char *name)
{
    sqlite3_vfs *chosen = sqlite3_vfs_find(name);
    struct pawl_store *store = NULL;

    assert_non_null(chosen);
    assert_int_equal(sqlite3_vfs_register(chosen, 1), SQLITE_OK);
    assert_code(try_open(f, &store), PAWL_EUNSUPPORTED);
    assert_non_null(strstr(f->err.msg, "shared memory"));
}

/* They are of the first version, which had none. */
static void files_of_a_version_without_shared_memory_are_refused(void **state)
{
    refuse(*state, "unix-dotfile");
}

static void files_without_shared_memory_are_refused(void **state)
{
    refuse(*state, "unix-none");
}

/* Its clock is a number of days. */
static void a_system_of_the_first_version_is_used(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = NULL;
    struct pawl_store_status seen;
    sqlite3_vfs first = *f->usual;
    int64_t now_us;

    first.iVersion = 1;
    first.zName = "first";
    first.pNext = NULL;
    first.xCurrentTimeInt64 = NULL;
    assert_int_equal(sqlite3_vfs_register(&first, 1), SQLITE_OK);
    assert_ok(try_open(f, &store), &f->err);
    assert_ok(pawl_store_status(store, &seen, PAWL_FOREVER, &f->err), &f->err);
    now_us = pawl_env_wall_ns(f->env) / 1000;
    assert_in_range(seen.now_us, now_us - 60000000, now_us + 1000000);
    pawl_store_close(store);
    assert_int_equal(sqlite3_vfs_unregister(&first), SQLITE_OK);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(files_of_a_version_without_shared_memory_are_refused),
        TEST(files_without_shared_memory_are_refused),
        TEST(a_system_of_the_first_version_is_used),
    };

    return cmocka_run_group_tests_name("stores/sqlite_vfs", tests, NULL, NULL);
}
