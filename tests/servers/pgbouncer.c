/* SPDX-License-Identifier: Apache-2.0 */
/* A private pgbouncer, see pgbouncer.h. */
#include "servers/pgbouncer.h"

#include "lib/test.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static void write_settings(const struct test_pgbouncer *pooler, const struct test_postgres *server,
                           const char *pool_mode, int pool_size)
{
    char path[96];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/settings", pooler->daemon.folder);
    file = fopen(path, "w");
    assert_non_null(file);
    (void)fprintf(file,
                  "[databases]\n"
                  "postgres = host=127.0.0.1 port=%u user=" TEST_POSTGRES_USER "\n"
                  "[pgbouncer]\n"
                  "listen_addr = 127.0.0.1\n"
                  "listen_port = %u\n"
                  "unix_socket_dir =\n"
                  "auth_type = any\n"
                  "pool_mode = %s\n"
                  "default_pool_size = %d\n"
                  "ignore_startup_parameters = extra_float_digits\n",
                  (unsigned)server->port, (unsigned)pooler->port, pool_mode, pool_size);
    assert_int_equal(fclose(file), 0);
}

void test_pgbouncer_start(struct test_pgbouncer *pooler, const struct test_postgres *server,
                          const char *pool_mode, int pool_size)
{
    static const char *const paths[] = {"/usr/sbin/pgbouncer", "/usr/bin/pgbouncer",
                                        "/usr/local/bin/pgbouncer", NULL};
    const char *arguments[] = {test_daemon_program(paths, "pgbouncer"), "settings", NULL};

    memset(pooler, 0, sizeof *pooler);
    test_daemon_init(&pooler->daemon, "pawl-pgbouncer");
    test_daemon_drop_root(&pooler->daemon);
    for (int tries = 0; tries < 5; tries++) {
        pooler->port = test_daemon_port();
        write_settings(pooler, server, pool_mode, pool_size);
        test_daemon_launch(&pooler->daemon, arguments);
        if (test_daemon_comes_up(&pooler->daemon, pooler->port))
            return;
    }
    test_daemon_show_log(&pooler->daemon);
    test_pgbouncer_stop(pooler);
    fail_msg("pgbouncer does not come up");
}

void test_pgbouncer_stop(struct test_pgbouncer *pooler)
{
    test_daemon_end(&pooler->daemon, SIGKILL);
    test_daemon_release(&pooler->daemon);
}

const char *test_pgbouncer_uri(const struct test_pgbouncer *pooler, char *out, size_t size)
{
    int length = snprintf(out, size, "postgres://%s@127.0.0.1:%u/postgres", TEST_POSTGRES_USER,
                          (unsigned)pooler->port);

    assert_true(length > 0 && (size_t)length < size);
    return out;
}
