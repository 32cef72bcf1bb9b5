/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor of SQLite. The log grows as long as the store lets it grow before a checkpoint, so that
 * both pay for those equally often.
 */
#include "floor.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

struct floor_sqlite {
    sqlite3 *db;
    sqlite3_stmt *begin, *insert, *commit;
    unsigned batch;
    char data[FLOOR_ROW_BYTES];
};

static void run(struct floor_sqlite *floor, const char *sql)
{
    if (sqlite3_exec(floor->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        bench_fail(sql, sqlite3_errmsg(floor->db));
}

static sqlite3_stmt *prepare(struct floor_sqlite *floor, const char *sql)
{
    sqlite3_stmt *statement = NULL;

    if (sqlite3_prepare_v2(floor->db, sql, -1, &statement, NULL) != SQLITE_OK)
        bench_fail(sql, sqlite3_errmsg(floor->db));
    return statement;
}

struct floor_sqlite *floor_sqlite_open(const char *path)
{
    struct floor_sqlite *floor = calloc(1, sizeof *floor);

    if (!floor)
        bench_fail(path, "no memory");
    if (sqlite3_open(path, &floor->db) != SQLITE_OK)
        bench_fail(path, sqlite3_errmsg(floor->db));
    run(floor, "PRAGMA journal_mode=WAL");
    run(floor, "PRAGMA synchronous=FULL");
    run(floor, "PRAGMA wal_autocheckpoint=4000");
    run(floor, "CREATE TABLE floor (id INTEGER PRIMARY KEY, data BLOB NOT NULL)");
    floor->begin = prepare(floor, "BEGIN IMMEDIATE");
    floor->insert = prepare(floor, "INSERT INTO floor (data) VALUES (?)");
    floor->commit = prepare(floor, "COMMIT");
    memset(floor->data, 'x', sizeof floor->data);
    return floor;
}

void floor_sqlite_close(struct floor_sqlite *floor)
{
    (void)sqlite3_finalize(floor->begin);
    (void)sqlite3_finalize(floor->insert);
    (void)sqlite3_finalize(floor->commit);
    (void)sqlite3_close(floor->db);
    free(floor);
}

static void step(struct floor_sqlite *floor, sqlite3_stmt *statement)
{
    if (sqlite3_step(statement) != SQLITE_DONE)
        bench_fail(sqlite3_sql(statement), sqlite3_errmsg(floor->db));
    (void)sqlite3_reset(statement);
}

static void insert(void *ctx, unsigned thread, uint64_t round)
{
    struct floor_sqlite *floor = ctx;

    (void)thread;
    (void)round;
    step(floor, floor->begin);
    for (unsigned i = 0; i < floor->batch; i++) {
        (void)sqlite3_bind_blob(floor->insert, 1, floor->data, FLOOR_ROW_BYTES, SQLITE_STATIC);
        step(floor, floor->insert);
    }
    step(floor, floor->commit);
}

void floor_sqlite_measure(struct floor_sqlite *floor, struct pawl_env *env, unsigned batch,
                          double seconds, struct bench_rate *out)
{
    floor->batch = batch;
    bench_repeat(env, 1, seconds, insert, floor, out);
}
