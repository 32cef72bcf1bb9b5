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
#include "harness.h"
#include "host/lock_uri.h"
#include "locks/providers.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#define ROUNDS_MAX 31u
#define MS INT64_C(1000000)

/* What a promise is: at most so many times the floor. */
#define FILE_RATIO_MAX 1.5

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

static void lock_once(struct pawl_locks *locks, uint32_t flags)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_lock lock;

    bench_need(pawl__locks_try(locks, pawl__str("bench"), flags, &lock, &err), &err, "acquire");
    bench_need(pawl__locks_release(locks, lock, &err), &err, "release");
}

static void lock_memory(void *ctx, unsigned thread, uint64_t round)
{
    (void)thread;
    (void)round;
    lock_once(((struct bed *)ctx)->memory, 0);
}

static void lock_file(void *ctx, unsigned thread, uint64_t round)
{
    (void)thread;
    (void)round;
    lock_once(((struct bed *)ctx)->file, 0);
}

static void lock_file_token(void *ctx, unsigned thread, uint64_t round)
{
    (void)thread;
    (void)round;
    lock_once(((struct bed *)ctx)->file, PAWL_LOCK_WANT_TOKEN);
}

static void lock_sqlite(void *ctx, unsigned thread, uint64_t round)
{
    (void)thread;
    (void)round;
    lock_once(((struct bed *)ctx)->sqlite, 0);
}

static void lock_sqlite_token(void *ctx, unsigned thread, uint64_t round)
{
    (void)thread;
    (void)round;
    lock_once(((struct bed *)ctx)->sqlite, PAWL_LOCK_WANT_TOKEN);
}

static void lock_other(void *ctx, unsigned thread, uint64_t round)
{
    (void)thread;
    (void)round;
    lock_once(((struct bed *)ctx)->other, 0);
}

static const struct measure {
    const char *name;
    bench_once once;
    int floor;        /* number of the row it is compared with; -1: none */
    double ratio_max; /* 0: nothing is promised */
} measures[] = {
    {"flock: open, lock, unlock, close", bare_flock, -1, 0},
    {"file", lock_file, 0, FILE_RATIO_MAX},
    {"file, with a token on the disk", lock_file_token, 0, 0},
    {"SQLite: insert; delete", bare_sqlite, -1, 0},
    {"sqlite", lock_sqlite, 3, 0},
    {"sqlite, with a token on the disk", lock_sqlite_token, 3, 0},
    {"memory", lock_memory, 0, 0},
};
#define COUNT (sizeof measures / sizeof measures[0])

/* ---- hand-over ----------------------------------------------------------------------------- */

struct hand {
    struct pawl_env *env;
    struct pawl_locks *from, *to;
    _Atomic(int64_t) released_ns, taken_ns;
};

static void take_over(void *arg)
{
    struct hand *hand = arg;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_lock lock;

    bench_need(pawl__locks_acquire(hand->to, pawl__str("hand"), 0, PAWL_FOREVER, NULL, &lock, &err),
               &err, "acquire");
    atomic_store(&hand->taken_ns, pawl_env_monotonic_ns(hand->env));
    bench_need(pawl__locks_release(hand->to, lock, &err), &err, "release");
}

/* From the call of release() to the end of acquire(), after waits of different lengths. */
static double hand_over(struct hand *hand, unsigned rounds)
{
    double times[ROUNDS_MAX];

    for (unsigned i = 0; i < rounds; i++) {
        struct pawl_error err = PAWL_ERROR_INIT;
        struct pawl_thread *thread;
        struct pawl_lock lock;
        int64_t until;

        bench_need(pawl__locks_try(hand->from, pawl__str("hand"), 0, &lock, &err), &err, "acquire");
        bench_need(pawl_thread_start(hand->env, "taker", take_over, hand, &thread, &err), &err,
                   "thread");
        until = pawl_env_monotonic_ns(hand->env) + (900 + 173 * (int64_t)i % 700) * MS;
        bench_need(pawl_env_sleep_until(hand->env, until), NULL, "sleep");
        atomic_store(&hand->released_ns, pawl_env_monotonic_ns(hand->env));
        bench_need(pawl__locks_release(hand->from, lock, &err), &err, "release");
        pawl_thread_join(hand->env, thread);
        times[i] = (double)(atomic_load(&hand->taken_ns) - atomic_load(&hand->released_ns)) / 1e6;
    }
    return bench_median(times, rounds);
}

static struct pawl_locks *open_locks(struct bed *bed, const char *kind)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_lock_provider *provider = NULL;
    struct pawl_locks *locks = NULL;
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
    bench_need(pawl__locks_new(bed->env, provider, NULL, &locks, &err), &err, kind);
    return locks;
}

/* The same provider, but nobody is told that a lock is free. */
static struct pawl_locks *open_deaf(struct bed *bed, struct pawl_lock_provider_ops *ops)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_lock_provider *provider;
    struct pawl_locks *locks;
    char path[300];

    (void)snprintf(path, sizeof path, "%s/file", bed->folder.path);
    bench_need(pawl__file_locks_open(bed->env, pawl__str(path), NULL, &provider, &err), &err, path);
    *ops = *provider->ops;
    ops->caps &= ~PAWL_LOCK_CAP_WAKE;
    provider->ops = ops;
    bench_need(pawl__locks_new(bed->env, provider, NULL, &locks, &err), &err, path);
    return locks;
}

static void measure_hands(struct bed *bed)
{
    struct pawl_lock_provider_ops ops;
    struct pawl_locks *other = open_locks(bed, "file"), *deaf = open_deaf(bed, &ops);
    struct hand pushed = {.env = bed->env, .from = bed->file, .to = other};
    struct hand asked = {.env = bed->env, .from = bed->file, .to = deaf};
    double push = hand_over(&pushed, 11), ask = hand_over(&asked, 11);

    printf("\nhand-over between nodes, median of 11, after waits of about a second\n");
    printf("file, pushed   %10.3f ms\nfile, by asking%10.3f ms   %.0f times as long\n", push, ask,
           ask / push);
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
    bed->memory = open_locks(bed, "memory");
    bed->file = open_locks(bed, "file");
    bed->sqlite = open_locks(bed, "sqlite.db");
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
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_lock_provider *provider = NULL;
    double p50s[ROUNDS_MAX];

    bench_need(pawl__lock_open_uri(bed->env, pawl__str(uri), NULL, &provider, &err), &err, uri);
    bench_need(pawl__locks_new(bed->env, provider, NULL, &bed->other, &err), &err, uri);
    for (unsigned round = 0; round < rounds; round++) {
        struct bench_rate rate;

        bench_repeat(bed->env, 1, seconds, lock_other, bed, &rate);
        p50s[round] = rate.p50_us;
    }
    printf("%-36.36s %10.2f\n", provider->kind, bench_median(p50s, rounds));
    pawl__locks_free(bed->other);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 0.2;
    unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 7;
    double p50s[COUNT][ROUNDS_MAX], medians[COUNT];
    struct bed bed = {.env = NULL};
    int failed = 0;

    if (rounds == 0 || rounds > ROUNDS_MAX)
        rounds = ROUNDS_MAX;
    open_bed(&bed);
    for (unsigned round = 0; round < rounds; round++) {
        for (size_t i = 0; i < COUNT; i++) {
            struct bench_rate rate;

            bench_repeat(bed.env, 1, seconds, measures[i].once, &bed, &rate);
            p50s[i][round] = rate.p50_us;
        }
    }
    printf("%-36s %10s %8s\n", "acquire and release, one thread", "p50 us", "ratio");
    for (size_t i = 0; i < COUNT; i++) {
        const struct measure *measure = &measures[i];
        double ratio;

        medians[i] = bench_median(p50s[i], rounds);
        printf("%-36s %10.2f", measure->name, medians[i]);
        if (measure->floor >= 0) {
            ratio = medians[i] / medians[measure->floor];
            printf(" %8.2f", ratio);
            if (measure->ratio_max > 0 && ratio > measure->ratio_max) {
                printf("   MISSED: at most %.1f", measure->ratio_max);
                failed = 1;
            }
        }
        printf("\n");
    }
    for (int i = 3; i < argc; i++)
        measure_uri(&bed, argv[i], seconds, rounds);
    measure_hands(&bed);
    close_bed(&bed);
    return failed;
}
