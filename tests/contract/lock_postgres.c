/* SPDX-License-Identifier: Apache-2.0 */
/* The contract on advisory locks of PostgreSQL. */
#include "contract/lock_suite.h"
#include "drivers/libpq.h"
#include "locks/names.h"
#include "servers/postgres.h"

#include <inttypes.h>
#include <stdio.h>

/* Ends the session that holds it. */
static void take_away(void *ctx, struct pawl_env *env, struct pawl_str name)
{
    const struct test_postgres *server = ctx;
    const struct pawl_socket_wait wait = {env, NULL, PAWL_FOREVER};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_pg_lock_key key;
    struct pawl_pq *pq;
    struct pawl_pq_conn *conn;
    char uri[128], sql[320];

    pawl__lock_name_postgres(name, &key);
    (void)snprintf(sql, sizeof sql,
                   "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND "
                   "granted AND classid::bigint = %" PRIu32 " AND objid::bigint = %" PRIu32
                   " AND objsubid = %d",
                   key.pair ? (uint32_t)key.a : (uint32_t)((uint64_t)key.key >> 32),
                   key.pair ? (uint32_t)key.b : (uint32_t)(uint64_t)key.key, key.pair ? 2 : 1);
    (void)test_postgres_uri(server, "postgres", uri, sizeof uri);
    assert_ok(pawl__pq_open(&env->alloc, &pq, &err), &err);
    assert_ok(pawl__pq_connect(pq, uri, &wait, &conn, &err), &err);
    assert_ok(pawl__pq_begin(conn, &err), &err);
    assert_ok(pawl__pq_queue(conn, PAWL_PQ_STATEMENT_NONE, sql, NULL, 0, &err), &err);
    assert_ok(pawl__pq_sync(conn, &err), &err);
    assert_ok(pawl__pq_run(conn, true, &wait, &err), &err);
    assert_ok(pawl__pq_status(conn, 0, &err), &err);
    assert_int_equal(pawl__pq_rows(conn, 0), 1);
    pawl__pq_disconnect(conn);
    pawl__pq_close(pq);
}

int main(void)
{
    struct test_postgres server;
    struct lock_contract contract = {
        .title = "locks in PostgreSQL", .take_away = take_away, .ctx = &server, .workers = 32};
    int failed;

    test_postgres_start(&server, NULL);
    (void)test_postgres_uri(&server, "postgres", contract.uri, sizeof contract.uri);
    (void)snprintf(contract.down_uri, sizeof contract.down_uri,
                   "postgres://pawl@127.0.0.1:1/postgres");
    failed = lock_contract_main(&contract);
    test_postgres_stop(&server);
    return failed;
}
