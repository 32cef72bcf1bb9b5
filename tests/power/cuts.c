/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power cuts: what was acknowledged is there when the power is back, all or nothing of the rest,
 * and the store is of use again.
 *
 * SQLite on a disk that forgets (disk.h), at any call that changes a file; a PostgreSQL server all
 * of whose processes are killed. The processes of a server that is killed lose nothing that they
 * have given to the system; so its writer of asynchronous commits stands still before.
 *
 *     POWER_STORE   postgres: on a server; else on SQLite
 *     POWER_CUTS    so many cuts on SQLite (150)
 *     POWER_MEMORY  so many times SQLite is out of memory before one (150)
 */
#include "drivers/sqlite.h"
#include "lib/test.h"
#include "locks/providers.h"
#include "power/disk.h"
#include "power/ledger.h"
#include "power/memory.h"
#include "servers/postgres.h"
#include "stores/stores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WRITES 24
#define WRITES_AFTER 3
#define REOPEN_EVERY 8
#define TOKENS 12
#define KILLS 4

struct fixture {
    char folder[64], path[96];
    struct test_postgres server;
    char uri[256];
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    (void)snprintf(f->folder, sizeof f->folder, "%s/pawl-power-XXXXXX", test_fast_folder());
    assert_non_null(mkdtemp(f->folder));
    (void)snprintf(f->path, sizeof f->path, "%s/store.db", f->folder);
    *state = f;
    return 0;
}

static void remove_files(const struct fixture *f)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    char path[128];

    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        (void)snprintf(path, sizeof path, "%s%s", f->path, suffixes[i]);
        (void)unlink(path);
    }
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    remove_files(f);
    (void)rmdir(f->folder);
    free(f);
    return 0;
}

static unsigned setting(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);

    return text && *text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

/* ---- SQLite ---------------------------------------------------------------------------------- */

static int open_sqlite(struct fixture *f, struct ledger *l)
{
    const struct pawl_store_options options = {.flags = PAWL_STORE_OPEN_CREATE, .connections = 2};

    return pawl__sqlite_store_open(l->env, pawl__str(f->path), &options, &l->store, &l->err);
}

static void close_store(struct ledger *l)
{
    if (l->store)
        pawl_store_close(l->store);
    l->store = NULL;
}

/* Until the power is cut; closing in between moves everything into the database and deletes the
 * log.
 */
static void write_until_cut(struct fixture *f, struct ledger *l, unsigned writes)
{
    int status = PAWL_OK;

    for (unsigned i = 0; i < writes && status == PAWL_OK; i++) {
        if (i % REOPEN_EVERY == 0) {
            close_store(l);
            status = open_sqlite(f, l);
            if (status == PAWL_OK)
                status = ledger_join(l);
        }
        if (status == PAWL_OK)
            status = ledger_write(l);
    }
    if (!disk_is_cut())
        assert_ok(status, &l->err);
    close_store(l);
}

/* How many calls there are. */
static uint64_t count_calls(struct fixture *f)
{
    const struct disk_cut never = {0};
    struct ledger l;
    uint64_t calls;

    remove_files(f);
    disk_begin(&never);
    ledger_open(&l, 1);
    write_until_cut(f, &l, WRITES);
    calls = disk_calls();
    assert_int_equal(l.writes, WRITES);
    assert_ok(open_sqlite(f, &l), &l.err);
    ledger_check(&l, "undisturbed");
    close_store(&l);
    ledger_close(&l);
    return calls;
}

/* Nodes of before the cut are gone: nobody remembers their numbers. */
static void forget_nodes(struct ledger *l)
{
    l->node = l->nodes_max = l->seen_fence = 0;
}

static void cut_once(struct fixture *f, const struct disk_cut *cut, unsigned *acknowledged)
{
    char what[96];
    struct ledger l;

    (void)snprintf(what, sizeof what, "cut at call %llu, manner %d, seed %llu",
                   (unsigned long long)cut->at, (int)cut->manner, (unsigned long long)cut->seed);
    remove_files(f);
    disk_begin(cut);
    ledger_open(&l, 1);
    write_until_cut(f, &l, WRITES);
    *acknowledged += l.writes;
    if (disk_is_cut())
        disk_power_on();
    forget_nodes(&l);
    if (open_sqlite(f, &l) != PAWL_OK)
        fail_msg("%s: the store cannot be opened: %s", what, l.err.msg);
    ledger_check(&l, what);
    assert_ok(ledger_join(&l), &l.err);
    for (int i = 0; i < WRITES_AFTER; i++)
        assert_ok(ledger_write(&l), &l.err);
    ledger_check(&l, what);
    close_store(&l);
    ledger_close(&l);
}

static void what_sqlite_acknowledged_survives_a_power_cut_at_any_call(void **state)
{
    struct fixture *f = *state;
    uint64_t calls = count_calls(f), step, first;
    unsigned cuts = setting("POWER_CUTS", 150), made = 0, acknowledged = 0;

    step = calls / cuts + 1;
    first = 1 + test_rotation() % step;
    for (uint64_t at = first; at <= calls; at += step, made++) {
        const struct disk_cut cut = {
            .at = at, .manner = (enum disk_manner)(made % DISK_MANNERS), .seed = at};

        cut_once(f, &cut, &acknowledged);
    }
    print_message("# %u cuts at calls %llu, %llu, … of %llu; %u writes acknowledged before them\n",
                  made, (unsigned long long)first, (unsigned long long)first + step,
                  (unsigned long long)calls, acknowledged);
    assert_true(acknowledged > made);
}

/* ---- memory in SQLite --------------------------------------------------------------------------
 */

#define FAILING_WRITES 4

/* Writes while allocations fail; returns whether that ever made a call fail. */
static bool write_without_memory(struct fixture *f, struct ledger *l, uint64_t first,
                                 uint64_t count)
{
    bool has_failed = false;

    remove_files(f);
    disk_begin(&(struct disk_cut){0});
    ledger_open(l, 1);
    assert_ok(open_sqlite(f, l), &l->err);
    assert_ok(ledger_join(l), &l->err);
    assert_ok(ledger_write(l), &l->err);
    memory_begin(first, count);
    for (int i = 0; i < FAILING_WRITES; i++) {
        int status = ledger_write(l);

        if (status == PAWL_OK)
            continue;
        has_failed = true;
        /* Claims end with the node that has them. */
        do {
            if (status != PAWL_ENOMEM && status != PAWL_EUNKNOWN)
                fail_msg("allocation %llu: %s", (unsigned long long)first, l->err.msg);
            status = ledger_join(l);
        } while (status != PAWL_OK);
    }
    return has_failed;
}

static void lose_memory_once(struct fixture *f, uint64_t first, uint64_t count, unsigned *failed)
{
    char what[96];
    struct ledger l;

    (void)snprintf(what, sizeof what, "allocations %llu to %llu failed", (unsigned long long)first,
                   (unsigned long long)(first + count - 1));
    *failed += write_without_memory(f, &l, first, count);
    memory_begin(0, 0);
    /* At once: nothing is left of what could not be ended. */
    if (ledger_write(&l) != PAWL_OK)
        fail_msg("%s: with memory again: %s", what, l.err.msg);
    disk_cut_next(DISK_LOSES_ALL);
    assert_true(ledger_write(&l) != PAWL_OK && disk_is_cut());
    close_store(&l);
    disk_power_on();
    forget_nodes(&l);
    assert_ok(open_sqlite(f, &l), &l.err);
    ledger_check(&l, what);
    close_store(&l);
    ledger_close(&l);
}

static void sqlite_without_memory_loses_nothing_and_goes_on(void **state)
{
    static const uint64_t counts[] = {1, 2, 8, 64};
    struct fixture *f = *state;
    unsigned times = setting("POWER_MEMORY", 150), failed = 0, made = 0;
    uint64_t allocations, step, first;
    struct ledger l;

    assert_false(write_without_memory(f, &l, 0, 0));
    allocations = memory_allocations();
    close_store(&l);
    ledger_close(&l);
    step = allocations / times + 1;
    first = 1 + test_rotation() % step;
    for (uint64_t at = first; at <= allocations; at += step, made++)
        lose_memory_once(f, at, counts[made % (sizeof counts / sizeof counts[0])], &failed);
    print_message("# %u times at allocations %llu, %llu, … of %llu; %u made a call fail\n", made,
                  (unsigned long long)first, (unsigned long long)(first + step),
                  (unsigned long long)allocations, failed);
    assert_true(failed > made / 2);
}

static int64_t count_rows(struct ledger *l, struct pawl_sqlite *db)
{
    struct pawl_sqlite_statement *statement = NULL;
    bool row = false;
    int64_t count;

    assert_ok(pawl__sqlite_prepare(db, "SELECT count(*) FROM t", &statement, &l->err), &l->err);
    assert_ok(pawl__sqlite_step(statement, &row, &l->err), &l->err);
    count = pawl__sqlite_column_int(statement, 0);
    pawl__sqlite_reset(statement);
    return count;
}

/* Returns whether the setting failed. */
static bool change_syncs_without_memory(struct fixture *f, struct ledger *l, uint64_t first)
{
    struct pawl_sqlite *db = NULL;
    bool failed;
    int64_t rows;

    remove_files(f);
    disk_begin(&(struct disk_cut){0});
    assert_ok(pawl__sqlite_open(l->env, f->path, PAWL_SQLITE_CREATE, &db, &l->err), &l->err);
    assert_ok(pawl__sqlite_run(db, "PRAGMA journal_mode=WAL", &l->err), &l->err);
    assert_ok(pawl__sqlite_set_syncs(db, true, &l->err), &l->err);
    assert_ok(pawl__sqlite_run(db, "CREATE TABLE t (a)", &l->err), &l->err);
    memory_begin(first, 1);
    failed = pawl__sqlite_set_syncs(db, false, &l->err) != PAWL_OK;
    memory_begin(0, 0);
    assert_ok(pawl__sqlite_set_syncs(db, true, &l->err), &l->err);
    assert_ok(pawl__sqlite_run(db, "INSERT INTO t VALUES (1)", &l->err), &l->err);
    disk_cut_next(DISK_LOSES_ALL);
    assert_true(pawl__sqlite_run(db, "INSERT INTO t VALUES (2)", &l->err) != PAWL_OK);
    pawl__sqlite_close(db);
    disk_power_on();
    assert_ok(pawl__sqlite_open(l->env, f->path, 0, &db, &l->err), &l->err);
    rows = count_rows(l, db);
    if (rows != 1)
        fail_msg("allocation %llu failed: %lld rows", (unsigned long long)first, (long long)rows);
    pawl__sqlite_close(db);
    return failed;
}

static void a_setting_that_failed_is_not_taken_for_what_it_was(void **state)
{
    struct ledger l;
    uint64_t at = 1;

    ledger_open(&l, 1);
    while (change_syncs_without_memory(*state, &l, at))
        at++;
    assert_true(at > 5);
    ledger_close(&l);
}

/* As the file and its log are at this moment, which is what a crash leaves. */
static int64_t count_rows_after_crash(struct fixture *f, struct ledger *l)
{
    struct pawl_sqlite *db = NULL;
    char command[1536], path[256];
    int64_t rows;

    (void)snprintf(path, sizeof path, "%s.copy", f->path);
    (void)snprintf(command, sizeof command,
                   "cp '%s' '%s' && cp '%s-wal' '%s-wal' && rm -f '%s-shm'", f->path, path, f->path,
                   path, path);
    assert_int_equal(system(command), 0);
    assert_ok(pawl__sqlite_open(l->env, path, 0, &db, &l->err), &l->err);
    rows = count_rows(l, db);
    pawl__sqlite_close(db);
    (void)unlink(path);
    return rows;
}

/* SQLite makes its index of the log longer when a commit is in the log already. */
static void a_commit_without_memory_that_a_crash_would_keep_is_unknown(void **state)
{
    struct fixture *f = *state;
    struct pawl_sqlite *db = NULL;
    int64_t rows = 0, kept;
    struct ledger l;
    int status = PAWL_OK;

    remove_files(f);
    disk_begin(&(struct disk_cut){0});
    ledger_open(&l, 1);
    assert_ok(pawl__sqlite_open(l.env, f->path, PAWL_SQLITE_CREATE, &db, &l.err), &l.err);
    assert_ok(pawl__sqlite_run(db, "PRAGMA journal_mode=WAL", &l.err), &l.err);
    assert_ok(pawl__sqlite_run(db, "PRAGMA wal_autocheckpoint=0", &l.err), &l.err);
    assert_ok(pawl__sqlite_set_syncs(db, true, &l.err), &l.err);
    assert_ok(pawl__sqlite_run(db, "CREATE TABLE t (a)", &l.err), &l.err);
    for (; status == PAWL_OK && rows < 20000; rows++) {
        assert_ok(pawl__sqlite_begin(db, true, &l.err), &l.err);
        assert_ok(pawl__sqlite_run(db, "INSERT INTO t VALUES (1)", &l.err), &l.err);
        if (rows > 0) /* all statements are prepared */
            memory_begin(1, 1000);
        status = pawl__sqlite_commit(db, &l.err);
        memory_begin(0, 0);
    }
    kept = count_rows_after_crash(f, &l);
    print_message("# commit %lld: %s; %lld rows after a crash\n", (long long)rows,
                  pawl_error_name(status), (long long)kept);
    assert_int_equal(kept, rows);
    assert_code(status, PAWL_EUNKNOWN);
    /* Whoever goes on without a crash does not have it. */
    assert_int_equal(count_rows(&l, db), rows - 1);
    pawl__sqlite_close(db);
    ledger_close(&l);
}

/* ---- claims and leases in SQLite ---------------------------------------------------------------
 */

/* The log is moved into the database when it has so many pages. */
#define LOG_BYTES ((off_t)16000 * (4096 + 24))
#define RENEWALS_AFTER 12
#define RENEWALS_MAX 80000

static int renew_lease(struct ledger *l)
{
    struct pawl_lease lease = {.kind = PAWL_LEASE_RENEW,
                               .node_id = pawl__str("ledger"),
                               .incarnation = l->node,
                               .ttl_us = INT64_C(3600000000)};

    return pawl_store_lease(l->store, &lease, pawl_env_monotonic_ns(l->env) + 60000000000, &l->err);
}

static off_t log_bytes(const struct fixture *f)
{
    char path[128];
    struct stat info;

    (void)snprintf(path, sizeof path, "%s-wal", f->path);
    return stat(path, &info) == 0 ? info.st_size : 0;
}

/* A few commits, then so many renewals that the connection which does not sync moves the log; it
 * begins the log anew afterwards. `renewals` 0: until then; returns how many there were. */
static unsigned fill_log(struct fixture *f, struct ledger *l, unsigned renewals)
{
    unsigned made = 0, more = RENEWALS_AFTER;
    int status = open_sqlite(f, l);

    if (status == PAWL_OK)
        status = ledger_join(l);
    for (int i = 0; i < WRITES_AFTER && status == PAWL_OK; i++)
        status = ledger_write(l);
    while (status == PAWL_OK && made < RENEWALS_MAX && (renewals ? made < renewals : more > 0)) {
        status = renew_lease(l);
        made++;
        more -= log_bytes(f) >= LOG_BYTES;
    }
    if (!disk_is_cut())
        assert_ok(status, &l->err);
    return made;
}

static void commits_survive_a_log_that_others_moved_without_a_sync_of_their_own(void **state)
{
    struct fixture *f = *state;
    struct disk_cut cut = {.manner = DISK_KEEPS_SOME};
    struct ledger l;
    unsigned renewals;
    uint64_t calls;

    remove_files(f);
    disk_begin(&cut);
    ledger_open(&l, 1);
    renewals = fill_log(f, &l, 0);
    calls = disk_calls();
    assert_true(renewals < RENEWALS_MAX);
    close_store(&l);
    ledger_close(&l);
    for (uint64_t i = 0; i < 12; i++) {
        cut.at = calls - 5 * i;
        cut.seed = i;
        remove_files(f);
        disk_begin(&cut);
        ledger_open(&l, 1);
        /* Until the cut: runs differ by hundreds of renewals in when they have so many calls. */
        (void)fill_log(f, &l, RENEWALS_MAX);
        assert_true(disk_is_cut());
        close_store(&l);
        disk_power_on();
        forget_nodes(&l);
        assert_ok(open_sqlite(f, &l), &l.err);
        ledger_check(&l, "cut after the log was moved");
        close_store(&l);
        ledger_close(&l);
    }
    print_message("# %u renewals, %llu calls\n", renewals, (unsigned long long)calls);
}

/* ---- tokens of locks in SQLite ----------------------------------------------------------------
 */

/* As many tokens as are granted until the cut. */
static void take_tokens(struct fixture *f, struct pawl_env *env, uint64_t *newest)
{
    const struct pawl_lock_provider_options options = {.ttl_ms = 60000};
    struct pawl_lock_provider *provider = NULL;
    struct pawl_error err = PAWL_ERROR_INIT;
    int status = pawl__sqlite_locks_open(env, pawl__str(f->path), &options, &provider, &err);

    for (int i = 0; i < TOKENS && status == PAWL_OK; i++) {
        struct pawl_lock_grant grant = {
            .name = pawl__str("x"), .owner = "me_1_x", .flags = PAWL_LOCK_WANT_TOKEN};

        status =
            provider->ops->try_(provider, &grant, pawl_env_monotonic_ns(env) + 60000000000, &err);
        if (status != PAWL_OK)
            break;
        if (grant.token <= *newest)
            fail_msg("token %llu was granted after %llu", (unsigned long long)grant.token,
                     (unsigned long long)*newest);
        *newest = grant.token;
        status = provider->ops->release(provider, &grant, PAWL_FOREVER, &err);
    }
    if (provider)
        provider->ops->close(provider);
    if (!disk_is_cut())
        assert_ok(status, &err);
}

/* What held it before the cut may have survived. */
static void free_lock(struct fixture *f, struct pawl_env *env)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_lock_provider *provider;
    struct pawl_lock_grant grant = {.name = pawl__str("x"), .owner = "me_1_x"};
    int status;

    assert_ok(pawl__sqlite_locks_open(env, pawl__str(f->path), NULL, &provider, &err), &err);
    status = provider->ops->release(provider, &grant, PAWL_FOREVER, &err);
    if (status != PAWL_ENOTFOUND)
        assert_ok(status, &err);
    provider->ops->close(provider);
}

static void tokens_of_locks_grow_after_a_power_cut(void **state)
{
    struct fixture *f = *state;
    struct disk_cut cut = {0};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_env *env;
    uint64_t calls, newest = 0;

    assert_ok(pawl_system_env_open(&env, &err), &err);
    remove_files(f);
    disk_begin(&cut);
    take_tokens(f, env, &newest);
    calls = disk_calls();
    for (cut.at = 1; cut.at <= calls; cut.at++) {
        newest = 0;
        cut.seed = cut.at;
        cut.manner = (enum disk_manner)(cut.at % DISK_MANNERS);
        remove_files(f);
        disk_begin(&cut);
        take_tokens(f, env, &newest);
        if (disk_is_cut())
            disk_power_on();
        free_lock(f, env);
        take_tokens(f, env, &newest);
    }
    pawl_system_env_close(env);
}

/* ---- PostgreSQL -------------------------------------------------------------------------------
 */

static int set_up_server(void **state)
{
    struct fixture *f;

    (void)set_up(state);
    f = *state;
    test_postgres_start(&f->server, NULL);
    test_postgres_stall_writer(&f->server);
    (void)test_postgres_uri(&f->server, "postgres", f->uri, sizeof f->uri);
    return 0;
}

static int tear_down_server(void **state)
{
    struct fixture *f = *state;

    test_postgres_stop(&f->server);
    return tear_down(state);
}

static void open_postgres(struct fixture *f, struct ledger *l)
{
    const struct pawl_store_options options = {.flags = PAWL_STORE_OPEN_CREATE};

    assert_ok(pawl__postgres_store_open(l->env, pawl__str(f->uri), &options, &l->store, &l->err),
              &l->err);
}

static void kill_server(struct fixture *f, struct ledger *l)
{
    test_postgres_kill(&f->server);
    close_store(l);
    test_postgres_restart(&f->server);
    test_postgres_stall_writer(&f->server);
    open_postgres(f, l);
}

/* Fences and incarnations, too: nodes outlive a server. */
static void what_postgres_acknowledged_survives_a_server_that_is_killed(void **state)
{
    struct fixture *f = *state;
    uint64_t random = test_rotation();
    struct ledger l;

    ledger_open(&l, test_rotation());
    open_postgres(f, &l);
    for (int i = 0; i < KILLS; i++) {
        int writes = 1 + (int)(test_random(&random) % 12);
        char what[64];

        assert_ok(ledger_join(&l), &l.err);
        for (int k = 0; k < writes; k++)
            assert_ok(ledger_write(&l), &l.err);
        (void)snprintf(what, sizeof what, "server killed after %d writes", writes);
        kill_server(f, &l);
        ledger_check(&l, what);
        /* And with a node that has only joined. */
        assert_ok(ledger_join(&l), &l.err);
        if (i % 2 == 0)
            kill_server(f, &l);
    }
    print_message("# %u writes acknowledged, %lld nodes\n", l.writes, (long long)l.nodes_max);
    close_store(&l);
    ledger_close(&l);
}

int main(void)
{
    const char *store = getenv("POWER_STORE");
    const struct CMUnitTest sqlite[] = {
        cmocka_unit_test(what_sqlite_acknowledged_survives_a_power_cut_at_any_call),
        cmocka_unit_test(commits_survive_a_log_that_others_moved_without_a_sync_of_their_own),
        cmocka_unit_test(sqlite_without_memory_loses_nothing_and_goes_on),
        cmocka_unit_test(a_setting_that_failed_is_not_taken_for_what_it_was),
        cmocka_unit_test(a_commit_without_memory_that_a_crash_would_keep_is_unknown),
        cmocka_unit_test(tokens_of_locks_grow_after_a_power_cut),
    };
    const struct CMUnitTest postgres[] = {
        cmocka_unit_test(what_postgres_acknowledged_survives_a_server_that_is_killed),
    };

    if (store && strcmp(store, "postgres") == 0)
        return cmocka_run_group_tests(postgres, set_up_server, tear_down_server);
    memory_install();
    disk_install();
    return cmocka_run_group_tests(sqlite, set_up, tear_down);
}
