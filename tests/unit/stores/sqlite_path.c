/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of a SQLite store's file: what SQLite opens is what the name says to the system, and
 * files that two names or no disk could lose are refused.
 */
#include "drivers/sqlite.h"
#include "lib/test.h"
#include "os/shifted_env.h"
#include "stores/stores.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct fixture {
    struct pawl_env *env;
    struct pawl_shifted_env shifted;
    struct pawl_error err;
    char folder[64];
    char back[512];
};

/* Each test runs in a folder of its own. */
static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    (void)snprintf(f->folder, sizeof f->folder, "/tmp/pawl-test-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    assert_non_null(getcwd(f->back, sizeof f->back));
    assert_int_equal(chdir(f->folder), 0);
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    pawl__shifted_env_init(&f->shifted, f->env);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    char command[128];
    int rc = chdir(f->back);

    (void)snprintf(command, sizeof command, "rm -r %s", f->folder);
    if (rc == 0)
        rc = system(command);
    pawl_system_env_close(f->env);
    free(f);
    return rc;
}

static int try_open(struct fixture *f, const char *path, uint32_t flags, struct pawl_store **out)
{
    struct pawl_store_options options = {.flags = flags};

    return pawl__sqlite_store_open(&f->shifted.base, pawl__str(path), &options, out, &f->err);
}

static struct pawl_store *open_store(struct fixture *f, const char *path, uint32_t flags)
{
    struct pawl_store *store = NULL;

    assert_ok(try_open(f, path, flags, &store), &f->err);
    return store;
}

static void check_refused(struct fixture *f, const char *path, uint32_t flags, int code,
                          const char *words)
{
    struct pawl_store *store = NULL;

    assert_code(try_open(f, path, flags, &store), code);
    assert_null(store);
    if (!strstr(f->err.msg, words))
        fail_msg("\"%s\" is not in \"%s\"", words, f->err.msg);
}

/* Of this name there is a file that only its owner may read. */
static void check_private(const char *path)
{
    struct stat info;

    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

static int count_files(void)
{
    DIR *folder = opendir(".");
    int count = 0;

    assert_non_null(folder);
    while (readdir(folder))
        count++;
    (void)closedir(folder);
    return count - 2;
}

static void check_removal_is_noticed(struct fixture *f, struct pawl_store *store, const char *path)
{
    struct pawl_store_status seen;

    f->shifted.monotonic_shift_ns += INT64_C(2000000000); /* it looks once a second */
    assert_ok(pawl_store_status(store, &seen, PAWL_FOREVER, &f->err), &f->err);
    assert_int_equal(unlink(path), 0);
    f->shifted.monotonic_shift_ns += INT64_C(2000000000);
    assert_code(pawl_store_status(store, &seen, PAWL_FOREVER, &f->err), PAWL_EUNAVAILABLE);
}

/* ---- names that mean something to SQLite --------------------------------------------------- */

static void a_name_that_sqlite_would_take_apart_is_that_of_a_file(void **state)
{
    static const char *const names[] = {"file:rel.db", "file:a%20b.db?mode=ro",
                                        ":memory:", "file::memory:"};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct pawl_store *store = open_store(f, names[i], PAWL_STORE_OPEN_CREATE);

        check_private(names[i]);
        assert_int_equal(count_files(), 3); /* with its -wal and -shm */
        check_removal_is_noticed(f, store, names[i]);
        pawl_store_close(store);
        assert_int_equal(system("rm -f ./*:*"), 0);
    }
}

static void a_uri_of_a_file_is_the_name_of_a_folder_that_is_missing(void **state)
{
    struct fixture *f = *state;
    char path[128];

    (void)snprintf(path, sizeof path, "file://%s/pawl.db", f->folder);
    check_refused(f, path, PAWL_STORE_OPEN_CREATE, PAWL_ENOTFOUND, "its folder does not exist");
    assert_int_equal(count_files(), 0);
}

/* SQLite takes ".." off the text of a path; to the system there is no such path. */
static void a_path_that_only_sqlite_can_follow_is_refused(void **state)
{
    struct fixture *f = *state;

    pawl_store_close(open_store(f, "pawl.db", PAWL_STORE_OPEN_CREATE));
    check_refused(f, "./nodir/../pawl.db", 0, PAWL_ENOTFOUND, "no file of that name was found");
    check_refused(f, "./nodir/../pawl.db", PAWL_STORE_OPEN_READ, PAWL_ENOTFOUND,
                  "no file of that name was found");
}

static void a_path_that_only_sqlite_can_follow_makes_no_file(void **state)
{
    struct fixture *f = *state;

    check_refused(f, "./nodir/../pawl.db", PAWL_STORE_OPEN_CREATE, PAWL_ENOTFOUND,
                  "its folder does not exist");
    assert_int_equal(count_files(), 0);
    pawl_store_close(open_store(f, "pawl.db", PAWL_STORE_OPEN_CREATE));
    check_refused(f, "pawl.db/../other.db", PAWL_STORE_OPEN_CREATE, PAWL_EINVAL,
                  "a part of the path is a file");
    assert_int_equal(count_files(), 1);
}

/* ---- files that are not one file ----------------------------------------------------------- */

static const uint32_t ways[] = {PAWL_STORE_OPEN_CREATE, 0, PAWL_STORE_OPEN_READ};
#define WAYS (sizeof ways / sizeof ways[0])

/* Each name would have a log of its own. */
static void a_file_with_two_names_is_opened_by_neither(void **state)
{
    struct fixture *f = *state;

    pawl_store_close(open_store(f, "pawl.db", PAWL_STORE_OPEN_CREATE));
    assert_int_equal(link("pawl.db", "other.db"), 0);
    assert_int_equal(symlink("other.db", "symbolic.db"), 0);
    for (size_t i = 0; i < WAYS; i++) {
        check_refused(f, "pawl.db", ways[i], PAWL_ECONFLICT, "2 names (hard links)");
        check_refused(f, "other.db", ways[i], PAWL_ECONFLICT, "keep one name");
        check_refused(f, "symbolic.db", ways[i], PAWL_ECONFLICT, "'pawl store backup'");
    }
    assert_int_equal(count_files(), 3); /* no log */
    assert_int_equal(unlink("pawl.db"), 0);
    for (size_t i = 0; i < WAYS; i++) {
        pawl_store_close(open_store(f, "other.db", ways[i]));
        pawl_store_close(open_store(f, "symbolic.db", ways[i]));
    }
}

static void a_store_that_is_open_goes_on_when_its_file_gets_a_second_name(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = open_store(f, "pawl.db", PAWL_STORE_OPEN_CREATE);
    struct pawl_store_status seen;

    assert_int_equal(link("pawl.db", "other.db"), 0);
    check_refused(f, "other.db", 0, PAWL_ECONFLICT, "2 names (hard links)");
    f->shifted.monotonic_shift_ns += INT64_C(2000000000);
    assert_ok(pawl_store_status(store, &seen, PAWL_FOREVER, &f->err), &f->err);
    pawl_store_close(store);
}

static void what_is_not_a_file_is_refused(void **state)
{
    static const char *const paths[] = {"/dev/null", "/dev/zero", "/dev/full", "pipe", "."};
    struct fixture *f = *state;

    assert_int_equal(mkfifo("pipe", 0600), 0);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        for (size_t j = 0; j < WAYS; j++)
            check_refused(f, paths[i], ways[j], PAWL_EINVAL, "is not a regular file");
    assert_int_equal(count_files(), 1);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_name_that_sqlite_would_take_apart_is_that_of_a_file),
        TEST(a_uri_of_a_file_is_the_name_of_a_folder_that_is_missing),
        TEST(a_path_that_only_sqlite_can_follow_is_refused),
        TEST(a_path_that_only_sqlite_can_follow_makes_no_file),
        TEST(a_file_with_two_names_is_opened_by_neither),
        TEST(a_store_that_is_open_goes_on_when_its_file_gets_a_second_name),
        TEST(what_is_not_a_file_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
