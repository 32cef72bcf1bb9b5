/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks: what acquiring and releasing costs through front end and provider, against what the
 * system asks for the bare minimum of the same, in turns in one run; and how long a lock takes from
 * who releases it to who waits for it, pushed and by asking.
 *
 *     bench-locks [SECONDS [ROUNDS [URI...]]]      further services, without a floor
 */
#include "locks/locks.h"
#include "base/str.h"
#include "drivers/sqlite.h"
#include "host/lock_uri.h"
#include "lock_bench.h"
#include "locks/providers.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

struct bed {
    struct pawl_env *env;
    struct bench_folder folder;
    char bare[300];
    struct pawl_sqlite *db;
    struct pawl_locks *memory, *file, *sqlite, *other;
};

/* ---- one repetition each ------------------------------------------------------------------- */

static void bare_flock(void *ctx, unsigned thread, uint64_t round)
{
    struct bed *bed = ctx;
    int fd = open(bed->bare, O_RDWR | O_CREAT | O_CLOEXEC, 0666);

    (void)thread;
    (void)round;
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0 || flock(fd, LOCK_UN) != 0 || close(fd) != 0)
        bench_fail("flock", bed->bare);
}

/* A row in, a row out: two transactions. */
static void bare_sqlite(void *ctx, unsigned thread, uint64_t round)
{
    static const char *const texts[] = {"INSERT INTO bare VALUES (x'62', 'me', 1)",
                                        "DELETE FROM bare WHERE name = x'62' AND owner = 'me'"};
    struct bed *bed = ctx;
    struct pawl_error err = PAWL_ERROR_INIT;

    (void)thread;
    (void)round;
    for (int i = 0; i < 2; i++) {
        struct pawl_sqlite_statement *statement;
        bool row;

        bench_need(pawl__sqlite_run(bed->db, "BEGIN IMMEDIATE", &err), &err, "begin");
        bench_need(pawl__sqlite_prepare(bed->db, texts[i], &statement, &err), &err, "prepare");
        bench_need(pawl__sqlite_step(statement, &row, &err), &err, "step");
        pawl__sqlite_reset(statement);
        bench_need(pawl__sqlite_commit(bed->db, &err), &err, "commit");
    }
}

LOCK_BENCH_ONCE(lock_memory, memory, 0)
LOCK_BENCH_ONCE(lock_file, file, 0)
LOCK_BENCH_ONCE(lock_file_token, file, PAWL_LOCK_WANT_TOKEN)
LOCK_BENCH_ONCE(lock_sqlite, sqlite, 0)
LOCK_BENCH_ONCE(lock_sqlite_token, sqlite, PAWL_LOCK_WANT_TOKEN)
LOCK_BENCH_ONCE(lock_other, other, 0)

static const struct lock_bench_row rows[] = {
    {"flock: open, lock, unlock, close", bare_flock, -1, 0},
    {"file", lock_file, 0, LOCK_BENCH_RATIO_MAX},
    {"file, with a token on the disk", lock_file_token, 0, 0},
    {"SQLite: insert; delete", bare_sqlite, -1, 0},
    {"sqlite", lock_sqlite, 3, 0},
    {"sqlite, with a token on the disk", lock_sqlite_token, 3, 0},
    {"memory", lock_memory, 0, 0},
};
static struct pawl_locks *open_locks(struct bed *bed, const char *kind,
                                     struct pawl_lock_provider_ops *deaf)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_lock_provider *provider = NULL;
    char path[300];

    (void)snprintf(path, sizeof path, "%s/%s", bed->folder.path, kind);
    if (kind[0] == 'm')
        bench_need(pawl__memory_locks_new(bed->env, 0, &provider, &err), &err, kind);
    else if (kind[0] == 'f')
        bench_need(pawl__file_locks_open(bed->env, pawl__str(path), NULL, &provider, &err), &err,
                   kind);
    else
        bench_need(pawl__sqlite_locks_open(bed->env, pawl__str(path), NULL, &provider, &err), &err,
                   kind);
    return lock_bench_open(bed->env, provider, deaf);
}

static void measure_hands(struct bed *bed)
{
    struct pawl_lock_provider_ops ops;
    struct pawl_locks *other = open_locks(bed, "file", NULL);
    struct pawl_locks *deaf = open_locks(bed, "file", &ops);

    lock_bench_hand_over(bed->env, "file", bed->file, other, deaf);
    pawl__locks_free(other);
    pawl__locks_free(deaf);
}

/* ---- all ----------------------------------------------------------------------------------- */

static void open_bed(struct bed *bed)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    char path[300];

    bench_need(pawl_system_env_open(&bed->env, &err), &err, "environment");
    bench_folder_make(&bed->folder);
    (void)snprintf(bed->bare, sizeof bed->bare, "%s/bare.lock", bed->folder.path);
    (void)snprintf(path, sizeof path, "%s/bare.db", bed->folder.path);
    bench_need(pawl__sqlite_open(bed->env, path, PAWL_SQLITE_CREATE, &bed->db, &err), &err, path);
    bench_need(pawl__sqlite_run(bed->db, "PRAGMA journal_mode = WAL", &err), &err, path);
    bench_need(pawl__sqlite_run(bed->db, "PRAGMA synchronous = NORMAL", &err), &err, path);
    bench_need(pawl__sqlite_run(bed->db,
                                "CREATE TABLE bare (name BLOB PRIMARY KEY, owner TEXT, until "
                                "INTEGER) WITHOUT ROWID",
                                &err),
               &err, path);
    bed->memory = open_locks(bed, "memory", NULL);
    bed->file = open_locks(bed, "file", NULL);
    bed->sqlite = open_locks(bed, "sqlite.db", NULL);
}

static void close_bed(struct bed *bed)
{
    pawl__locks_free(bed->memory);
    pawl__locks_free(bed->file);
    pawl__locks_free(bed->sqlite);
    pawl__sqlite_close(bed->db);
    bench_folder_remove(&bed->folder);
    pawl_system_env_close(bed->env);
}

/* A service that somebody runs. */
static void measure_uri(struct bed *bed, const char *uri, double seconds, unsigned rounds)
{
    struct lock_bench_row row = {NULL, lock_other, -1, 0};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_lock_provider *provider = NULL;

    bench_need(pawl__lock_open_uri(bed->env, pawl__str(uri), NULL, &provider, &err), &err, uri);
    row.name = provider->kind;
    bed->other = lock_bench_open(bed->env, provider, NULL);
    (void)lock_bench_run(bed->env, &row, 1, bed, seconds, rounds);
    pawl__locks_free(bed->other);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 0.2;
    unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 7;
    struct bed bed = {.env = NULL};
    int failed;

    open_bed(&bed);
    failed = lock_bench_run(bed.env, rows, sizeof rows / sizeof rows[0], &bed, seconds, rounds);
    for (int i = 3; i < argc; i++)
        measure_uri(&bed, argv[i], seconds, rounds);
    measure_hands(&bed);
    close_bed(&bed);
    return failed;
}
