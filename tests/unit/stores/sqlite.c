/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is peculiar to the SQLite store: files that are not as they should be, full disks, other
 * processes, and how its statements are planned. What every store does is in tests/contract.
 */
#include "drivers/sqlite.h"
#include "base/arena.h"
#include "lib/test.h"
#include "os/shifted_env.h"
#include "stores/sql.h"
#include "stores/stores.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARENA_MAX ((size_t)256 << 20)
#define NOBODY 65534

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
    pawl__arena_init(&f->arena, &f->env->alloc, ARENA_MAX);
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
    pawl__arena_release(&f->arena);
    pawl_system_env_close(f->env);
    free(f);
    return rc;
}

static int try_open(struct fixture *f, uint32_t flags, struct pawl_store **out)
{
    struct pawl_store_options options = {.flags = flags};

    return pawl__sqlite_store_open(f->env, pawl__str(f->path), &options, out, &f->err);
}

static struct pawl_store *open_store(struct fixture *f, uint32_t flags)
{
    struct pawl_store *store = NULL;

    assert_ok(try_open(f, flags, &store), &f->err);
    return store;
}

static int64_t soon(struct fixture *f)
{
    return pawl_env_monotonic_ns(f->env) + INT64_C(30000000000);
}

/* Statements from outside, as an operator's own program would run them. */
static void meddle(struct fixture *f, const char *text)
{
    struct pawl_sqlite *db = NULL;

    assert_ok(pawl__sqlite_open(f->env, f->path, PAWL_SQLITE_CREATE, &db, &f->err), &f->err);
    assert_ok(pawl__sqlite_run(db, text, &f->err), &f->err);
    pawl__sqlite_close(db);
}

static int put_setting(struct fixture *f, struct pawl_store *store, const char *key,
                       struct pawl_str value)
{
    struct pawl_setting_row row = {pawl__str(key), value};
    struct pawl_change change = {PAWL_CHANGE_PUT, PAWL_TABLE_SETTINGS, &row};
    struct pawl_commit commit = {.changes = &change, .change_count = 1};
    struct pawl_commit *commits[] = {&commit};
    int status = pawl_store_apply(store, commits, 1, soon(f), &f->err);

    return status == PAWL_OK ? commit.status : status;
}

static uint64_t count_settings(struct fixture *f, struct pawl_store *store)
{
    struct pawl_query query = {.table = PAWL_TABLE_SETTINGS, .flags = PAWL_QUERY_COUNT};
    struct pawl_rows rows = {0};

    assert_ok(pawl_store_find(store, &query, &f->arena, &rows, soon(f), &f->err), &f->err);
    return rows.total;
}

/* ---- files that go while they are in use -------------------------------------------------- */

static void check_lost(struct fixture *f, struct pawl_store *store, struct pawl_shifted_env *env)
{
    struct pawl_setting_row row = {pawl__str("lost"), pawl__str("1")};
    struct pawl_change change = {PAWL_CHANGE_PUT, PAWL_TABLE_SETTINGS, &row};
    struct pawl_commit commit = {.changes = &change, .change_count = 1};
    struct pawl_commit *commits[] = {&commit};
    struct pawl_lease lease = {.kind = PAWL_LEASE_JOIN,
                               .node_id = pawl__str("n"),
                               .ttl_us = INT64_C(10000000),
                               .info = pawl__str("{}")};
    struct pawl_store_status seen;

    env->monotonic_shift_ns += INT64_C(2000000000); /* it looks once a second */
    assert_code(pawl_store_apply(store, commits, 1, PAWL_FOREVER, &f->err), PAWL_EUNAVAILABLE);
    assert_non_null(strstr(f->err.msg, "removed, replaced or emptied"));
    assert_code(pawl_store_status(store, &seen, PAWL_FOREVER, &f->err), PAWL_EUNAVAILABLE);
    assert_code(pawl_store_lease(store, &lease, PAWL_FOREVER, &f->err), PAWL_EUNAVAILABLE);
}

static void check_there(struct fixture *f, struct pawl_store *store, struct pawl_shifted_env *env)
{
    struct pawl_store_status seen;

    env->monotonic_shift_ns += INT64_C(2000000000);
    assert_ok(pawl_store_status(store, &seen, PAWL_FOREVER, &f->err), &f->err);
}

static struct pawl_store *open_shifted(struct fixture *f, struct pawl_shifted_env *env)
{
    struct pawl_store_options options = {.flags = PAWL_STORE_OPEN_CREATE};
    struct pawl_store *store = NULL;

    pawl__shifted_env_init(env, f->env);
    assert_ok(pawl__sqlite_store_open(&env->base, pawl__str(f->path), &options, &store, &f->err),
              &f->err);
    assert_ok(put_setting(f, store, "here", pawl__str("1")), &f->err);
    check_there(f, store, env);
    return store;
}

static void a_file_that_is_moved_away_is_noticed_and_so_is_that_it_is_back(void **state)
{
    static const char *const ends[] = {"", "-wal"};
    struct fixture *f = *state;
    struct pawl_shifted_env env;
    struct pawl_store *store = open_shifted(f, &env);

    for (size_t i = 0; i < 2; i++) {
        char path[160], away[160];

        (void)snprintf(path, sizeof path, "%s%s", f->path, ends[i]);
        (void)snprintf(away, sizeof away, "%s/away", f->folder);
        assert_int_equal(rename(path, away), 0);
        check_lost(f, store, &env);
        assert_int_equal(rename(away, path), 0);
        check_there(f, store, &env);
    }
    pawl_store_close(store);
}

static void a_file_that_is_replaced_is_noticed(void **state)
{
    struct fixture *f = *state;
    struct pawl_shifted_env env;
    struct pawl_store *store = open_shifted(f, &env);
    char command[640];

    (void)snprintf(command, sizeof command, "cp %s %s.new && mv %s.new %s", f->path, f->path,
                   f->path, f->path);
    assert_int_equal(system(command), 0);
    check_lost(f, store, &env);
    pawl_store_close(store);
}

static void a_file_that_is_emptied_is_noticed(void **state)
{
    struct fixture *f = *state;
    struct pawl_shifted_env env;
    struct pawl_store *store = open_shifted(f, &env);

    assert_int_equal(truncate(f->path, 0), 0);
    check_lost(f, store, &env);
    pawl_store_close(store);
}

/* ---- opening ----------------------------------------------------------------------------- */

static void a_new_file_gets_its_tables_and_says_what_it_is(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = open_store(f, PAWL_STORE_OPEN_CREATE);
    struct pawl_store_status status;

    assert_ok(pawl_store_status(store, &status, soon(f), &f->err), &f->err);
    assert_int_equal(status.schema, PAWL_STORE_SCHEMA);
    assert_string_equal(status.backend, "sqlite");
    assert_string_equal(status.location, f->path);
    assert_int_equal(strncmp(status.server, "SQLite 3.", 9), 0);
    assert_true(status.size_bytes > 0);
    assert_true(status.now_us > INT64_C(1700000000000000));
    pawl_store_close(store);
    store = open_store(f, 0); /* it is there now */
    pawl_store_close(store);
}

static void without_leave_to_create_nothing_is_made(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = NULL;

    assert_code(try_open(f, 0, &store), PAWL_ENOTFOUND);
    assert_code(try_open(f, PAWL_STORE_OPEN_READ, &store), PAWL_ENOTFOUND);
    assert_int_equal(access(f->path, F_OK), -1);
    meddle(f, "CREATE TABLE somebody_elses (a)");
    assert_code(try_open(f, 0, &store), PAWL_ENOTFOUND);
    assert_non_null(strstr(f->err.msg, "there are no tables of Pawl in it"));
    assert_null(store);
    pawl_store_close(open_store(f, PAWL_STORE_OPEN_CREATE)); /* they live beside each other */
}

static void a_newer_schema_is_refused_and_says_what_is_needed(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = open_store(f, PAWL_STORE_OPEN_CREATE);

    pawl_store_close(store);
    store = NULL;
    meddle(f, "INSERT INTO pawl_schema VALUES (99, 98, '7.5.3', 0)");
    assert_code(try_open(f, PAWL_STORE_OPEN_CREATE, &store), PAWL_EUNSUPPORTED);
    assert_non_null(strstr(f->err.msg, "version 99, written by Pawl 7.5.3"));
    assert_non_null(strstr(f->err.msg, "use Pawl 7.5.3 or newer"));
    assert_code(try_open(f, PAWL_STORE_OPEN_READ, &store), PAWL_EUNSUPPORTED);
    assert_null(store);
}

static void a_file_that_is_no_database_is_refused_and_left_alone(void **state)
{
    static const char letter[] = "Dear Sir or Madam, this is no database, and never was one.\n";
    struct fixture *f = *state;
    struct pawl_store *store = NULL;
    struct pawl_str content;
    FILE *file = fopen(f->path, "w");

    assert_non_null(file);
    for (int i = 0; i < 200; i++)
        (void)fputs(letter, file);
    (void)fclose(file);
    assert_code(try_open(f, PAWL_STORE_OPEN_CREATE, &store), PAWL_ECORRUPT);
    assert_non_null(strstr(f->err.msg, "is not an SQLite database"));
    assert_null(store);
    content = test_read_file(f->path);
    assert_int_equal(content.len, 200 * (sizeof letter - 1));
    free((void *)(uintptr_t)content.ptr);
}

static void paths_that_lead_nowhere_are_refused(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = NULL;

    (void)snprintf(f->path, sizeof f->path, "%s/none/pawl.db", f->folder);
    assert_code(try_open(f, PAWL_STORE_OPEN_CREATE, &store), PAWL_ENOTFOUND);
    assert_non_null(strstr(f->err.msg, "folder does not exist"));
    assert_code(pawl__sqlite_store_open(f->env, pawl__str(""), NULL, &store, &f->err), PAWL_EINVAL);
    assert_code(
        pawl__sqlite_store_open(f->env, pawl__str_make("/tmp/a\0b", 8), NULL, &store, &f->err),
        PAWL_EINVAL);
    assert_null(store);
}

/* Runs `body` in a process of its own, so that it may change rights and limits; it answers 0. */
static void in_a_process(struct fixture *f, int (*body)(struct fixture *f))
{
    int outcome = 0;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0)
        _exit(body(f));
    assert_int_equal(waitpid(child, &outcome, 0), child);
    assert_true(WIFEXITED(outcome));
    assert_int_equal(WEXITSTATUS(outcome), 0);
}

/* Whoever is root may write everywhere: become nobody. */
static int open_as_nobody(struct fixture *f)
{
    struct pawl_store *store = NULL;

    if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
        return 1;
    if (try_open(f, PAWL_STORE_OPEN_CREATE, &store) != PAWL_EPERM)
        return 2;
    return strstr(f->err.msg, f->path) && strstr(f->err.msg, "mode") ? 0 : 3;
}

static int write_as_nobody(struct fixture *f)
{
    struct pawl_store *store = NULL;

    if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
        return 1;
    if (try_open(f, PAWL_STORE_OPEN_CREATE, &store) != PAWL_EPERM)
        return 2;
    return strstr(f->err.msg, "check the permissions of the file and its folder") ? 0 : 3;
}

static void a_folder_that_may_not_be_written_is_eperm(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(chmod(f->folder, 0555), 0);
    in_a_process(f, open_as_nobody);
    assert_int_equal(chmod(f->folder, 0755), 0);
    pawl_store_close(open_store(f, PAWL_STORE_OPEN_CREATE));
    assert_int_equal(chmod(f->folder, 0777), 0);
    assert_int_equal(chmod(f->path, 0444), 0);
    in_a_process(f, write_as_nobody);
}

static void what_was_opened_for_reading_cannot_be_written(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *writer = open_store(f, PAWL_STORE_OPEN_CREATE), *reader;
    struct pawl_lease lease = {.kind = PAWL_LEASE_JOIN, .node_id = pawl__str("n")};

    reader = open_store(f, PAWL_STORE_OPEN_READ);
    assert_ok(put_setting(f, writer, "k", pawl__str("v")), &f->err);
    assert_code(put_setting(f, reader, "k", pawl__str("w")), PAWL_EPERM);
    assert_code(pawl_store_lease(reader, &lease, soon(f), &f->err), PAWL_EPERM);
    assert_int_equal(count_settings(f, reader), 1);
    pawl_store_close(reader);
    pawl_store_close(writer);
}

/* ---- full disks, damage ------------------------------------------------------------------ */

/* A limit on the size of files stands for a full disk. */
static int fill_the_disk(struct fixture *f)
{
    static char megabyte[1 << 20];
    struct rlimit limit = {8 << 20, RLIM_INFINITY};
    struct pawl_store *store = NULL;
    uint64_t stored = 0;
    char key[32];
    int status;

    (void)signal(SIGXFSZ, SIG_IGN);
    if (try_open(f, PAWL_STORE_OPEN_CREATE, &store) != PAWL_OK ||
        setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 1;
    do {
        (void)snprintf(key, sizeof key, "key-%03d", (int)stored);
        status = put_setting(f, store, key, pawl__str_make(megabyte, sizeof megabyte));
        stored += status == PAWL_OK;
    } while (status == PAWL_OK && stored < 100);
    if (status != PAWL_EUNAVAILABLE || pawl_error_class(status) != PAWL_CLASS_TRANSIENT)
        return 2;
    if (stored == 0 || !strstr(f->err.msg, "nothing was lost"))
        return 3;
    limit.rlim_cur = RLIM_INFINITY;
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 4;
    if (put_setting(f, store, key, pawl__str_make(megabyte, sizeof megabyte)) != PAWL_OK)
        return 5;
    if (count_settings(f, store) != stored + 1)
        return 6;
    pawl_store_close(store);
    return 0;
}

static void a_full_disk_loses_nothing_and_passes(void **state)
{
    in_a_process(*state, fill_the_disk);
}

static void count_finding(void *ctx, const char *finding)
{
    assert_true(strlen(finding) > 0);
    ++*(int *)ctx;
}

static void keep_finding(void *ctx, const char *finding)
{
    (void)snprintf(ctx, 256, "%s", finding);
}

static void rows_of_another_tenant_are_told_of_and_not_read(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = open_store(f, PAWL_STORE_OPEN_CREATE);
    struct pawl_definition_row row = {.id = pawl__str("d:1"), .definition_id = pawl__str("d")};
    const struct pawl_query query = {.table = PAWL_TABLE_DEFINITIONS, .flags = PAWL_QUERY_COUNT};
    struct pawl_rows rows;
    char finding[256] = "";

    assert_ok(pawl_store_load(store, PAWL_TABLE_DEFINITIONS, &row, 1, soon(f), &f->err), &f->err);
    meddle(f, "UPDATE pawl_definitions SET tenant_id = 'acme'");
    assert_ok(pawl_store_check_backend(store, keep_finding, finding, soon(f), &f->err), &f->err);
    assert_string_equal(finding, "1 definitions of another tenant, which no node runs: each tenant "
                                 "has a store of its own");
    assert_ok(pawl_store_find(store, &query, &f->arena, &rows, soon(f), &f->err), &f->err);
    assert_int_equal(rows.total, 0);
    pawl_store_close(store);
}

/* Rows of nodes that died go after a day. */
static void the_owner_of_an_instance_may_have_no_row_any_more(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = open_store(f, PAWL_STORE_OPEN_CREATE);
    struct pawl_instance_row row = {.id = pawl__str("i"), .owner = 3, .fence = 1, .revision = 1};
    int findings = 0;

    assert_ok(pawl_store_load(store, PAWL_TABLE_INSTANCES, &row, 1, soon(f), &f->err), &f->err);
    assert_ok(pawl_store_check_backend(store, count_finding, &findings, soon(f), &f->err), &f->err);
    assert_int_equal(findings, 0);
    pawl_store_close(store);
}

static void damage_is_found(void **state)
{
    static const char rubbish[3000] = {1, 2, 3};
    struct fixture *f = *state;
    struct pawl_store *store = open_store(f, PAWL_STORE_OPEN_CREATE);
    FILE *file;
    int findings = 0, status;

    for (int i = 0; i < 200; i++) {
        char key[32];

        (void)snprintf(key, sizeof key, "key-%03d", i);
        assert_ok(put_setting(f, store, key, pawl__str("a value, not too short")), &f->err);
    }
    assert_ok(pawl_store_check_backend(store, count_finding, &findings, soon(f), &f->err), &f->err);
    assert_int_equal(findings, 0);
    pawl_store_close(store);
    file = fopen(f->path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, -20000, SEEK_END), 0);
    for (int i = 0; i < 6; i++)
        assert_int_equal(fwrite(rubbish, sizeof rubbish, 1, file), 1);
    (void)fclose(file);
    store = open_store(f, 0);
    status = pawl_store_check_backend(store, count_finding, &findings, soon(f), &f->err);
    assert_true((status == PAWL_OK && findings > 0) || status == PAWL_ECORRUPT);
    pawl_store_close(store);
}

/* ---- other processes --------------------------------------------------------------------- */

static int put_from_outside(struct fixture *f)
{
    struct pawl_store *store = NULL;

    if (try_open(f, 0, &store) != PAWL_OK)
        return 1;
    if (put_setting(f, store, "outside", pawl__str("1")) != PAWL_OK)
        return 2;
    pawl_store_close(store);
    return 0;
}

/* The child is forked before the parent opens anything, and told by a pipe when to write. */
static void what_another_process_commits_wakes(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = open_store(f, PAWL_STORE_OPEN_CREATE);
    struct pawl_wake wake = {0};
    int go[2], outcome = 0;
    pid_t child;
    char byte = 0;

    pawl_store_close(store);
    assert_int_equal(pipe(go), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(read(go[0], &byte, 1) == 1 ? put_from_outside(f) : 9);
    store = open_store(f, 0);
    assert_code(pawl_store_wait(store, &wake, pawl_env_monotonic_ns(f->env), &f->err),
                PAWL_ETIMEDOUT);
    assert_int_equal(write(go[1], "!", 1), 1);
    assert_ok(pawl_store_wait(store, &wake, soon(f), &f->err), &f->err);
    assert_int_equal(waitpid(child, &outcome, 0), child);
    assert_int_equal(outcome, 0);
    assert_int_equal(count_settings(f, store), 1);
    (void)close(go[0]);
    (void)close(go[1]);
    pawl_store_close(store);
}

enum { PROCESSES = 4, PUTS = 50 };

static int put_many(struct fixture *f)
{
    struct pawl_store *store = NULL;
    char key[64];

    /* All of them create, migrate and write at once. */
    if (try_open(f, PAWL_STORE_OPEN_CREATE, &store) != PAWL_OK)
        return 1;
    for (int i = 0; i < PUTS; i++) {
        (void)snprintf(key, sizeof key, "%d-%d", (int)getpid(), i);
        if (put_setting(f, store, key, pawl__str("1")) != PAWL_OK)
            return 2;
    }
    pawl_store_close(store);
    return 0;
}

static void processes_may_begin_and_write_at_the_same_time(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store;
    pid_t children[PROCESSES];

    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            _exit(put_many(f));
    }
    for (int i = 0; i < PROCESSES; i++) {
        int outcome = 0;

        assert_int_equal(waitpid(children[i], &outcome, 0), children[i]);
        assert_int_equal(outcome, 0);
    }
    store = open_store(f, 0);
    assert_int_equal(count_settings(f, store), PROCESSES * PUTS);
    pawl_store_close(store);
}

/* ---- durability -------------------------------------------------------------------------- */

static void commits_are_synced_once_per_call_and_claims_not_at_all(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = open_store(f, PAWL_STORE_OPEN_CREATE);
    struct pawl_setting_row rows[3] = {{pawl__str("a"), pawl__str("1")},
                                       {pawl__str("b"), pawl__str("2")},
                                       {pawl__str("c"), pawl__str("3")}};
    struct pawl_change changes[3];
    struct pawl_commit members[3], *commits[3];
    struct pawl_lease lease = {
        .kind = PAWL_LEASE_JOIN, .node_id = pawl__str("n"), .ttl_us = 1000000};
    struct pawl_store_status before, after;

    for (int i = 0; i < 3; i++) {
        changes[i] = (struct pawl_change){PAWL_CHANGE_INSERT, PAWL_TABLE_SETTINGS, &rows[i]};
        members[i] = (struct pawl_commit){.changes = &changes[i], .change_count = 1};
        commits[i] = &members[i];
    }
    assert_ok(pawl_store_status(store, &before, soon(f), &f->err), &f->err);
    assert_ok(pawl_store_apply(store, commits, 3, soon(f), &f->err), &f->err);
    assert_ok(pawl_store_lease(store, &lease, soon(f), &f->err), &f->err);
    assert_ok(pawl_store_status(store, &after, soon(f), &f->err), &f->err);
    assert_int_equal(after.syncs - before.syncs, 1);
    /* All of them there already: nothing to sync. */
    assert_ok(pawl_store_apply(store, commits, 3, soon(f), &f->err), &f->err);
    assert_code(members[0].status, PAWL_EEXISTS);
    assert_ok(pawl_store_status(store, &before, soon(f), &f->err), &f->err);
    assert_int_equal(after.syncs, before.syncs);
    pawl_store_close(store);
}

static void a_value_that_is_too_large_is_refused_alone(void **state)
{
    struct fixture *f = *state;
    struct pawl_store *store = open_store(f, PAWL_STORE_OPEN_CREATE);
    /* Nobody reads so much of it: SQLite refuses by the length. */
    struct pawl_setting_row rows[3] = {
        {pawl__str("a"), pawl__str("1")},
        {pawl__str("b"), pawl__str_make("x", (size_t)3 << 30)},
        {pawl__str("c"), pawl__str("3")},
    };
    struct pawl_setting_row first = {pawl__str("first"), pawl__str("of the same commit")};
    struct pawl_change changes[3][2];
    struct pawl_commit members[3], *commits[3];

    for (int i = 0; i < 3; i++) {
        changes[i][0] = (struct pawl_change){PAWL_CHANGE_ADD, PAWL_TABLE_SETTINGS, &first};
        changes[i][1] = (struct pawl_change){PAWL_CHANGE_INSERT, PAWL_TABLE_SETTINGS, &rows[i]};
        members[i] = (struct pawl_commit){.changes = i == 1 ? changes[i] : &changes[i][1],
                                          .change_count = i == 1 ? 2 : 1};
        commits[i] = &members[i];
    }
    assert_ok(pawl_store_apply(store, commits, 3, soon(f), &f->err), &f->err);
    assert_code(members[0].status, PAWL_OK);
    assert_code(members[1].status, PAWL_ELIMIT);
    assert_code(members[1].error.code, PAWL_ELIMIT);
    assert_code(members[2].status, PAWL_OK);
    assert_int_equal(count_settings(f, store), 2);
    pawl_store_close(store);
}

/* ---- plans ------------------------------------------------------------------------------- */

struct planner {
    struct fixture *f;
    struct pawl_sqlite *db;
    char plan[8192];
};

/* How SQLite would run it, one line per step. */
static const char *plan_of(struct planner *p, const char *text)
{
    struct pawl_sqlite_statement *statement = NULL;
    char *explain;
    bool row = false;

    assert_true(asprintf(&explain, "EXPLAIN QUERY PLAN %s", text) > 0);
    p->plan[0] = '\0';
    assert_ok(pawl__sqlite_prepare(p->db, explain, &statement, &p->f->err), &p->f->err);
    assert_ok(pawl__sqlite_step(statement, &row, &p->f->err), &p->f->err);
    while (row) {
        struct pawl_str detail = pawl__sqlite_column_str(statement, 3);
        size_t used = strlen(p->plan);

        (void)snprintf(p->plan + used, sizeof p->plan - used, "%.*s\n", PAWL_STR_ARG(detail));
        assert_ok(pawl__sqlite_step(statement, &row, &p->f->err), &p->f->err);
    }
    pawl__sqlite_reset(statement);
    free(explain);
    return p->plan;
}

/* No step reads a whole table, or the whole part of an index that a tenant has. */
static void check_no_scan(struct planner *p, const char *text)
{
    const char *plan = plan_of(p, text);

    for (const char *line = plan; *line; line = strchr(line, '\n') + 1) {
        char step[512];

        (void)snprintf(step, sizeof step, "%.*s", (int)strcspn(line, "\n"), line);
        if (strcmp(step, "SCAN pawl_nodes") == 0)
            continue; /* as many as have joined within a day, and read by joining alone */
        if (strncmp(step, "SCAN ", 5) == 0 && strncmp(step, "SCAN CONSTANT", 13) != 0 &&
            strncmp(step, "SCAN (subquery", 14) != 0 && !strstr(step, " json_each "))
            fail_msg("scans: %s\n%s", text, plan);
        /* The partial indexes of owned, runnable and put off ones are read whole: they are short,
         * the last is read when the clock was set back. */
        if (strstr(step, "(tenant_id=?)") && !strstr(step, "pawl_instances_owned") &&
            !strstr(step, "pawl_instances_put_off") && !strstr(step, "pawl_nodes_incarnation"))
            fail_msg("reads all of a tenant: %s\n%s", text, plan);
    }
}

static void no_statement_of_a_commit_claim_or_take_scans(void **state)
{
    struct fixture *f = *state;
    struct planner p = {.f = f};
    struct pawl_sql *sql = NULL;

    pawl_store_close(open_store(f, PAWL_STORE_OPEN_CREATE));
    assert_ok(pawl__sqlite_open(f->env, f->path, 0, &p.db, &f->err), &f->err);
    assert_ok(pawl__sql_new(&f->env->alloc, PAWL_SQL_SQLITE, &sql, &f->err), &f->err);
    for (int name = PAWL_SQL_MEMBER; name < PAWL_SQL_NAME_COUNT; name++)
        if (pawl__sql_statement(sql, (enum pawl_sql_name)name)->text)
            check_no_scan(&p, pawl__sql_statement(sql, (enum pawl_sql_name)name)->text);
    for (int table = 0; table < PAWL_TABLE_COUNT; table++)
        for (int kind = 0; kind <= PAWL_CHANGE_DELETE_OWNED; kind++) {
            const struct pawl_sql_statement *change =
                pawl__sql_change(sql, (enum pawl_change_kind)kind, (enum pawl_table)table);

            if (change)
                check_no_scan(&p, change->text);
        }
    assert_non_null(strstr(plan_of(&p, pawl__sql_statement(sql, PAWL_SQL_TAKE)->text),
                           "pawl_work_due (tenant_id=? AND due_us<?)"));
    assert_non_null(strstr(plan_of(&p, pawl__sql_statement(sql, PAWL_SQL_TAKE)->text),
                           "pawl_work_expires (tenant_id=? AND expires_us<?)"));
    assert_non_null(strstr(plan_of(&p, pawl__sql_statement(sql, PAWL_SQL_NEXT_DUE_KIND)->text),
                           "pawl_work_kind (tenant_id=? AND kind=? AND due_us>? AND due_us<?)"));
    assert_non_null(strstr(plan_of(&p, pawl__sql_statement(sql, PAWL_SQL_WAKE)->text),
                           "pawl_work_waiting (tenant_id=? AND hash=? AND correlation_id=? AND "
                           "instance_id=?)"));
    pawl__sql_free(sql);
    pawl__sqlite_close(p.db);
}

/* The queries that a running node makes, by table, column and comparison. */
static void the_usual_queries_use_an_index(void **state)
{
    static const struct {
        enum pawl_table table;
        const char *column;
        enum pawl_compare compare;
        const char *index;
    } usual[] = {
        {PAWL_TABLE_BOOKMARKS, "hash", PAWL_EQ, "pawl_bookmarks_hash"},
        {PAWL_TABLE_BOOKMARKS, "instance_id", PAWL_EQ, "pawl_bookmarks_instance"},
        {PAWL_TABLE_TRIGGERS, "hash", PAWL_EQ, "pawl_triggers_hash"},
        {PAWL_TABLE_WORK, "instance_id", PAWL_EQ, "pawl_work_instance"},
        {PAWL_TABLE_RESERVATIONS, "expires_us", PAWL_LE, "pawl_reservations_expires"},
        {PAWL_TABLE_JOURNAL, "instance_id", PAWL_EQ, "sqlite_autoindex_pawl_journal_1"},
        {PAWL_TABLE_DEFINITIONS, "definition_id", PAWL_EQ, "pawl_definitions_"},
        {PAWL_TABLE_DEAD_LETTERS, "dead_us", PAWL_LT, "pawl_dead_letters_dead"},
        {PAWL_TABLE_INSTANCES, "parent_id", PAWL_EQ, "pawl_instances_parent"},
        {PAWL_TABLE_INSTANCES, "correlation_id", PAWL_EQ, "pawl_instances_correlation"},
        {PAWL_TABLE_INSTANCES, "owner", PAWL_NE, "pawl_instances_owned"},
    };
    struct fixture *f = *state;
    struct planner p = {.f = f};

    pawl_store_close(open_store(f, PAWL_STORE_OPEN_CREATE));
    assert_ok(pawl__sqlite_open(f->env, f->path, 0, &p.db, &f->err), &f->err);
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        struct pawl_condition condition = {.column =
                                               pawl_table_column(usual[i].table, usual[i].column),
                                           .compare = usual[i].compare,
                                           .value = {.text = pawl__str("x")}};
        struct pawl_query query = {
            .table = usual[i].table, .conditions = &condition, .condition_count = 1};
        struct pawl_sql_select select;

        /* Who asks for a range wants its beginning. */
        query.order = usual[i].compare == PAWL_EQ ? 0 : condition.column;

        assert_ok(pawl__sql_query(PAWL_SQL_SQLITE, &query, &f->arena, &select, &f->err), &f->err);
        if (!strstr(plan_of(&p, select.text), usual[i].index))
            fail_msg("%s does not use %s:\n%s", select.text, usual[i].index, p.plan);
    }
    pawl__sqlite_close(p.db);
}

/* Very many may wait for one event: neither a page of them nor one of them reads them all. */
static void waiting_instances_are_found_among_many_of_the_same_event(void **state)
{
    struct fixture *f = *state;
    struct planner p = {.f = f};
    struct pawl_bookmark_row after = {.id = pawl__str("x")};
    struct pawl_condition conditions[] = {
        {.column = pawl_table_column(PAWL_TABLE_BOOKMARKS, "hash"),
         .value = {.text = pawl__str("x")}},
        {.column = pawl_table_column(PAWL_TABLE_BOOKMARKS, "correlation_id"),
         .value = {.text = pawl__str("x")}},
    };
    struct pawl_query query = {.table = PAWL_TABLE_BOOKMARKS,
                               .flags = PAWL_QUERY_BRIEF,
                               .conditions = conditions,
                               .condition_count = 1,
                               .after = &after};
    struct pawl_sql_select select;

    pawl_store_close(open_store(f, PAWL_STORE_OPEN_CREATE));
    assert_ok(pawl__sqlite_open(f->env, f->path, 0, &p.db, &f->err), &f->err);
    assert_ok(pawl__sql_query(PAWL_SQL_SQLITE, &query, &f->arena, &select, &f->err), &f->err);
    assert_non_null(
        strstr(plan_of(&p, select.text), "pawl_bookmarks_hash (tenant_id=? AND hash=? AND id>?)"));
    assert_null(strstr(p.plan, "TEMP B-TREE FOR ORDER BY"));
    query.condition_count = 2;
    query.after = NULL;
    assert_ok(pawl__sql_query(PAWL_SQL_SQLITE, &query, &f->arena, &select, &f->err), &f->err);
    assert_non_null(strstr(plan_of(&p, select.text),
                           "pawl_bookmarks_correlation (tenant_id=? AND hash=? AND "
                           "correlation_id=?)"));
    assert_null(strstr(p.plan, "TEMP B-TREE FOR ORDER BY"));
    conditions[1].column = pawl_table_column(PAWL_TABLE_BOOKMARKS, "instance_id");
    assert_ok(pawl__sql_query(PAWL_SQL_SQLITE, &query, &f->arena, &select, &f->err), &f->err);
    assert_non_null(strstr(plan_of(&p, select.text), "pawl_bookmarks_instance"));
    pawl__sqlite_close(p.db);
}

static void lists_are_read_in_the_order_of_an_index(void **state)
{
    struct fixture *f = *state;
    struct planner p = {.f = f};
    struct pawl_instance_row after = {.id = pawl__str("x")};
    struct pawl_condition condition = {.column = pawl_table_column(PAWL_TABLE_INSTANCES, "status"),
                                       .compare = PAWL_EQ,
                                       .value = {.text = pawl__str("Running")}};
    struct pawl_query query = {.table = PAWL_TABLE_INSTANCES,
                               .flags = PAWL_QUERY_BRIEF | PAWL_QUERY_DESCENDING,
                               .order = pawl_table_column(PAWL_TABLE_INSTANCES, "created_us"),
                               .after = &after};
    struct pawl_sql_select select;

    pawl_store_close(open_store(f, PAWL_STORE_OPEN_CREATE));
    assert_ok(pawl__sqlite_open(f->env, f->path, 0, &p.db, &f->err), &f->err);
    assert_ok(pawl__sql_query(PAWL_SQL_SQLITE, &query, &f->arena, &select, &f->err), &f->err);
    assert_non_null(strstr(plan_of(&p, select.text), "pawl_instances_newest"));
    assert_null(strstr(p.plan, "TEMP B-TREE FOR ORDER BY"));
    query.conditions = &condition;
    query.condition_count = 1;
    assert_ok(pawl__sql_query(PAWL_SQL_SQLITE, &query, &f->arena, &select, &f->err), &f->err);
    assert_non_null(strstr(plan_of(&p, select.text), "pawl_instances_of_status"));
    assert_null(strstr(p.plan, "TEMP B-TREE FOR ORDER BY"));
    pawl__sqlite_close(p.db);
}

/* What people look at: which index finds the page, and which alone counts. */
static void lists_are_found_and_counted_by_an_index(void **state)
{
    static const struct {
        const char *order, *column;
        enum pawl_compare compare;
        const char *text, *page, *count; /* NULL: rows are looked at */
    } lists[] = {
        {"created_us", "is_system", PAWL_EQ, "", "_newest", "COVERING INDEX pawl_instances_newest"},
        {"updated_us", "is_system", PAWL_EQ, "", "_updated",
         "COVERING INDEX pawl_instances_newest"},
        {"finished_us", "is_system", PAWL_EQ, "", "_finished", NULL},
        {"name", "is_system", PAWL_EQ, "", "_name", NULL},
        {"created_us", "status", PAWL_EQ, "Running", "_of_status", "COVERING INDEX"},
        {"created_us", "sub_status", PAWL_EQ, "Faulted", "_of_sub_status", "COVERING INDEX"},
        {"created_us", "definition_id", PAWL_EQ, "d", "_of_definition", "COVERING INDEX"},
        {"created_us", "incident_count", PAWL_NE, "", "_incidents",
         "COVERING INDEX pawl_instances_incidents"},
        {"created_us", "retry_us", PAWL_GT, "", "_put_off",
         "COVERING INDEX pawl_instances_put_off"},
        {"created_us", "correlation_id", PAWL_EQ, "c", "_correlation", NULL},
        {"created_us", "name", PAWL_EQ, "n", "_name", NULL},
    };
    struct fixture *f = *state;
    struct planner p = {.f = f};

    pawl_store_close(open_store(f, PAWL_STORE_OPEN_CREATE));
    assert_ok(pawl__sqlite_open(f->env, f->path, 0, &p.db, &f->err), &f->err);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const struct pawl_condition conditions[] = {
            {.column = pawl_table_column(PAWL_TABLE_INSTANCES, lists[i].column),
             .compare = lists[i].compare,
             .value = {.text = pawl__str(lists[i].text)}},
            {.column = pawl_table_column(PAWL_TABLE_INSTANCES, "is_system")}};
        const struct pawl_query query = {
            .table = PAWL_TABLE_INSTANCES,
            .flags = PAWL_QUERY_BRIEF | PAWL_QUERY_DESCENDING,
            .conditions = conditions,
            .condition_count = 2,
            .order = pawl_table_column(PAWL_TABLE_INSTANCES, lists[i].order),
            .scan_limit = PAWL_STORE_SCAN_DEFAULT};
        struct pawl_sql_select select;

        assert_ok(pawl__sql_query(PAWL_SQL_SQLITE, &query, &f->arena, &select, &f->err), &f->err);
        if (!strstr(plan_of(&p, select.text), lists[i].page))
            fail_msg("%s does not use %s:\n%s", select.text, lists[i].page, p.plan);
        if (lists[i].count && !strstr(plan_of(&p, select.count_text), lists[i].count))
            fail_msg("%s does not use %s:\n%s", select.count_text, lists[i].count, p.plan);
    }
    pawl__sqlite_close(p.db);
}

/* ---- memory ------------------------------------------------------------------------------ */

static int use_store(struct fixture *f, struct pawl_store *store)
{
    struct pawl_instance_row row = {.id = pawl__str("i\0d"), .state = pawl__str("{}")};
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_CREATE, .flags = PAWL_COMMIT_RELEASE, .instance = &row};
    struct pawl_commit *commits[] = {&commit};
    struct pawl_claim claim = {.id = row.id};
    struct pawl_take take = {.owner = 1, .limit = 10};
    struct pawl_query query = {.table = PAWL_TABLE_INSTANCES};
    struct pawl_rows rows;
    struct pawl_taken taken;
    struct pawl_arena arena;
    int64_t now_us;
    int status;

    row.id.len = 3;
    pawl__arena_init(&arena, &f->env->alloc, ARENA_MAX);
    status = pawl_store_apply(store, commits, 1, soon(f), NULL);
    if (status == PAWL_OK)
        status = pawl_store_claim(store, 1, &claim, 1, &arena, &now_us, soon(f), NULL);
    if (status == PAWL_OK)
        status = pawl_store_take(store, &take, &arena, &taken, soon(f), NULL);
    if (status == PAWL_OK)
        status = pawl_store_find(store, &query, &arena, &rows, soon(f), NULL);
    pawl__arena_release(&arena);
    return status;
}

static int open_and_use(struct test_allocator *alloc, void *arg)
{
    struct fixture *f = arg;
    struct pawl_allocator real = f->env->alloc;
    struct pawl_store *store = NULL;
    int status;

    f->env->alloc = alloc->base;
    status = try_open(f, PAWL_STORE_OPEN_CREATE, &store);
    if (status == PAWL_OK)
        status = use_store(f, store);
    pawl_store_close(store);
    f->env->alloc = real;
    return status;
}

static void running_out_of_memory_is_an_error(void **state)
{
    struct fixture *f = *state;
    /* As long as one has it open, others need not clean up behind them. */
    struct pawl_store *store = open_store(f, PAWL_STORE_OPEN_CREATE);

    test_sweep_allocations(open_and_use, f, 2000);
    pawl_store_close(store);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_new_file_gets_its_tables_and_says_what_it_is),
        TEST(without_leave_to_create_nothing_is_made),
        TEST(a_newer_schema_is_refused_and_says_what_is_needed),
        TEST(a_file_that_is_no_database_is_refused_and_left_alone),
        TEST(paths_that_lead_nowhere_are_refused),
        TEST(a_folder_that_may_not_be_written_is_eperm),
        TEST(what_was_opened_for_reading_cannot_be_written),
        TEST(a_full_disk_loses_nothing_and_passes),
        TEST(damage_is_found),
        TEST(the_owner_of_an_instance_may_have_no_row_any_more),
        TEST(a_file_that_is_moved_away_is_noticed_and_so_is_that_it_is_back),
        TEST(a_file_that_is_replaced_is_noticed),
        TEST(a_file_that_is_emptied_is_noticed),
        TEST(rows_of_another_tenant_are_told_of_and_not_read),
        TEST(what_another_process_commits_wakes),
        TEST(processes_may_begin_and_write_at_the_same_time),
        TEST(commits_are_synced_once_per_call_and_claims_not_at_all),
        TEST(a_value_that_is_too_large_is_refused_alone),
        TEST(no_statement_of_a_commit_claim_or_take_scans),
        TEST(the_usual_queries_use_an_index),
        TEST(lists_are_read_in_the_order_of_an_index),
        TEST(lists_are_found_and_counted_by_an_index),
        TEST(waiting_instances_are_found_among_many_of_the_same_event),
        TEST(running_out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
