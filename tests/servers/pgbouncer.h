/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private pgbouncer before a private PostgreSQL server: a folder of its own, a free port on
 * loopback. It ends with test_pgbouncer_stop(), or with the program. Whatever goes wrong here fails
 * the test; a missing pgbouncer names its package.
 */
#ifndef PAWL_TESTS_SERVERS_PGBOUNCER_H
#define PAWL_TESTS_SERVERS_PGBOUNCER_H

#include "servers/daemon.h"
#include "servers/postgres.h"

struct test_pgbouncer {
    struct test_daemon daemon;
    uint16_t port;
};

/* `pool_mode`: "session", "transaction" or "statement". The server trusts everybody. */
void test_pgbouncer_start(struct test_pgbouncer *pooler, const struct test_postgres *server,
                          const char *pool_mode, int pool_size);
void test_pgbouncer_stop(struct test_pgbouncer *pooler);

/* "postgres://pawl@127.0.0.1:PORT/postgres" in the caller's buffer. */
const char *test_pgbouncer_uri(const struct test_pgbouncer *pooler, char *out, size_t size);

#endif
