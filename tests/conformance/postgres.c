/* SPDX-License-Identifier: Apache-2.0 */
/* The PostgreSQL of a conformance run; see postgres.h. */
#include "conformance/postgres.h"

#include <pawl/ext/store.h>
#include <stdio.h>
#include <string.h>

#define SCHEMA "pawl_conformance"
#define CALL_NS INT64_C(60000000000)

static int run_all(struct case_postgres *postgres, const char *const *statements, size_t count,
                   struct pawl_error *err)
{
    const struct pawl_socket_wait wait = {
        .env = postgres->env, .deadline_ns = pawl_env_monotonic_ns(postgres->env) + CALL_NS};
    int status = pawl__pq_begin(postgres->conn, err);

    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status =
            pawl__pq_queue(postgres->conn, PAWL_PQ_STATEMENT_NONE, statements[i], NULL, 0, err);
    if (status == PAWL_OK)
        status = pawl__pq_sync(postgres->conn, err);
    if (status == PAWL_OK)
        status = pawl__pq_run(postgres->conn, true, &wait, err);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = pawl__pq_status(postgres->conn, i, err);
    return status;
}

/* What it is about cannot be lost: nobody needs it after a crash. */
static int make_schema(struct case_postgres *postgres, struct pawl_error *err)
{
    static const char *const statements[] = {
        "SET synchronous_commit = off",
        "SET client_min_messages = warning",
        "DROP SCHEMA IF EXISTS " SCHEMA " CASCADE",
        "CREATE SCHEMA " SCHEMA,
        "CREATE TABLE " SCHEMA ".case_clock (id int PRIMARY KEY, now_us bigint NOT NULL)",
        "INSERT INTO " SCHEMA ".case_clock VALUES (1, 0)",
        "CREATE FUNCTION " SCHEMA ".clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS "
        "$$SELECT to_timestamp(0) + now_us * interval '1 microsecond' FROM " SCHEMA
        ".case_clock WHERE id = 1$$",
    };
    int status = run_all(postgres, statements, sizeof statements / sizeof *statements, err);

    postgres->has_schema = status == PAWL_OK;
    return status;
}

int case_postgres_open(struct case_postgres *postgres, const char *uri,
                       const struct pawl_allocator *alloc, struct pawl_error *err)
{
    struct pawl_socket_wait wait;
    int status;

    *postgres = (struct case_postgres){.env = NULL};
    status = pawl_system_env_open(&postgres->env, err);
    if (status != PAWL_OK)
        return status;
    if (*uri)
        (void)snprintf(postgres->base_uri, sizeof postgres->base_uri, "%s", uri);
    else {
        test_postgres_start(&postgres->server, NULL);
        (void)test_postgres_uri(&postgres->server, "postgres", postgres->base_uri,
                                sizeof postgres->base_uri);
    }
    (void)snprintf(postgres->uri, sizeof postgres->uri,
                   "%s%coptions=-csearch_path%%3D" SCHEMA "%%2Cpg_catalog", postgres->base_uri,
                   strchr(postgres->base_uri, '?') ? '&' : '?');
    wait = (struct pawl_socket_wait){.env = postgres->env,
                                     .deadline_ns = pawl_env_monotonic_ns(postgres->env) + CALL_NS};
    status = pawl__pq_open(alloc, &postgres->pq, err);
    if (status == PAWL_OK)
        status = pawl__pq_connect(postgres->pq, postgres->base_uri, &wait, &postgres->conn, err);
    if (status == PAWL_OK)
        status = make_schema(postgres, err);
    if (status != PAWL_OK)
        case_postgres_close(postgres);
    return status;
}

void case_postgres_close(struct case_postgres *postgres)
{
    static const char *const drop[] = {"DROP SCHEMA IF EXISTS " SCHEMA " CASCADE"};

    if (postgres->has_schema)
        (void)!run_all(postgres, drop, 1, NULL);
    pawl__pq_disconnect(postgres->conn);
    pawl__pq_close(postgres->pq);
    test_postgres_stop(&postgres->server);
    pawl_system_env_close(postgres->env);
}

int case_postgres_clear(struct case_postgres *postgres, struct pawl_error *err)
{
    char texts[PAWL_TABLE_COUNT][96];
    const char *statements[PAWL_TABLE_COUNT];

    if (!postgres->has_tables) /* the first store makes them */
        return PAWL_OK;
    for (int table = 0; table < PAWL_TABLE_COUNT; table++) {
        (void)snprintf(texts[table], sizeof texts[table], "DELETE FROM " SCHEMA ".pawl_%s",
                       pawl_table_info((enum pawl_table)table)->name);
        statements[table] = texts[table];
    }
    return run_all(postgres, statements, PAWL_TABLE_COUNT, err);
}

int case_postgres_tell(struct case_postgres *postgres, int64_t now_us, struct pawl_error *err)
{
    char text[96];
    const char *statements[] = {text};

    (void)snprintf(text, sizeof text, "UPDATE " SCHEMA ".case_clock SET now_us = %lld WHERE id = 1",
                   (long long)now_us);
    return run_all(postgres, statements, 1, err);
}
