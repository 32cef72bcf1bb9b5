/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor of PostgreSQL: a prepared statement with a binary parameter, one round trip for a
 * transaction of any number of rows (a pipeline).
 */
#include "floor.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct floor_postgres {
    PGconn *connections[BENCH_THREADS_MAX];
    unsigned count;
    unsigned batch;
    char data[FLOOR_ROW_BYTES];
};

static void run(PGconn *connection, const char *sql)
{
    PGresult *result = PQexec(connection, sql);

    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        bench_fail(sql, PQerrorMessage(connection));
    PQclear(result);
}

static PGconn *open_one(const char *uri)
{
    PGconn *connection = PQconnectdb(uri);
    PGresult *result;

    if (PQstatus(connection) != CONNECTION_OK)
        bench_fail("PostgreSQL", PQerrorMessage(connection));
    run(connection, "SET synchronous_commit = on");
    result = PQprepare(connection, "insert", "INSERT INTO floor (data) VALUES ($1)", 1, NULL);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        bench_fail("prepare", PQerrorMessage(connection));
    PQclear(result);
    return connection;
}

struct floor_postgres *floor_postgres_open(const char *uri, unsigned connections)
{
    struct floor_postgres *floor = calloc(1, sizeof *floor);
    PGconn *first = PQconnectdb(uri);

    if (!floor || connections > BENCH_THREADS_MAX)
        bench_fail("PostgreSQL", "no memory, or too many connections");
    if (PQstatus(first) != CONNECTION_OK)
        bench_fail("PostgreSQL", PQerrorMessage(first));
    run(first, "CREATE TABLE floor (id bigserial PRIMARY KEY, data bytea NOT NULL)");
    PQfinish(first);
    memset(floor->data, 'x', sizeof floor->data);
    for (; floor->count < connections; floor->count++)
        floor->connections[floor->count] = open_one(uri);
    return floor;
}

void floor_postgres_close(struct floor_postgres *floor)
{
    for (unsigned i = 0; i < floor->count; i++)
        PQfinish(floor->connections[i]);
    free(floor);
}

/* One answer of a pipeline. */
static void collect(PGconn *connection, ExecStatusType expected)
{
    PGresult *result = PQgetResult(connection);

    if (PQresultStatus(result) != expected)
        bench_fail("insert", PQerrorMessage(connection));
    PQclear(result);
    if (expected != PGRES_PIPELINE_SYNC && PQgetResult(connection) != NULL)
        bench_fail("insert", "an answer too many");
}

static void insert(void *ctx, unsigned thread, uint64_t round)
{
    struct floor_postgres *floor = ctx;
    PGconn *connection = floor->connections[thread];
    const char *const values[] = {floor->data};
    const int lengths[] = {FLOOR_ROW_BYTES}, formats[] = {1};

    (void)round;
    if (floor->batch == 1) {
        PGresult *result = PQexecPrepared(connection, "insert", 1, values, lengths, formats, 1);

        if (PQresultStatus(result) != PGRES_COMMAND_OK)
            bench_fail("insert", PQerrorMessage(connection));
        PQclear(result);
        return;
    }
    if (!PQenterPipelineMode(connection))
        bench_fail("pipeline", PQerrorMessage(connection));
    for (unsigned i = 0; i < floor->batch; i++)
        if (!PQsendQueryPrepared(connection, "insert", 1, values, lengths, formats, 1))
            bench_fail("insert", PQerrorMessage(connection));
    if (!PQpipelineSync(connection))
        bench_fail("sync", PQerrorMessage(connection));
    for (unsigned i = 0; i < floor->batch; i++)
        collect(connection, PGRES_COMMAND_OK);
    collect(connection, PGRES_PIPELINE_SYNC);
    if (!PQexitPipelineMode(connection))
        bench_fail("pipeline", PQerrorMessage(connection));
}

void floor_postgres_measure(struct floor_postgres *floor, struct pawl_env *env, unsigned clients,
                            unsigned batch, double seconds, struct bench_rate *out)
{
    floor->batch = batch;
    bench_repeat(env, clients, seconds, insert, floor, out);
}
