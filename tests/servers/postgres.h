/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private PostgreSQL server for a test program: a folder of its own (see servers/daemon.h), a
 * Unix-domain socket in it and a free port on loopback. The server syncs as a real one does. It
 * ends with test_postgres_stop(), or with the program, however that ends.
 *
 * The server refuses to run as root: a test that is root gives it to the user postgres, or nobody.
 * A missing server fails the test and names the package. Whatever goes wrong here fails the test.
 */
#ifndef PAWL_TESTS_SERVERS_POSTGRES_H
#define PAWL_TESTS_SERVERS_POSTGRES_H

#include "servers/daemon.h"

#define TEST_POSTGRES_USER "pawl"

struct test_postgres {
    struct test_daemon daemon;
    char bin[128];     /* folder of the server's programs */
    char password[32]; /* "": everybody is trusted */
    uint16_t port;
};

/* `password` NULL: everybody is trusted. Returns when it answers. */
void test_postgres_start(struct test_postgres *server, const char *password);
/*
 * A hot standby of a running `primary`, which trusts everybody: it reads, and refuses to write
 * until it is promoted. Returns when it answers.
 */
void test_postgres_start_standby(struct test_postgres *standby,
                                 const struct test_postgres *primary);
/*
 * Makes a server that crashed a standby of a running `primary`: a fresh folder, the same port, and
 * nothing is left of what it had. Returns when it answers.
 */
void test_postgres_replace_by_standby(struct test_postgres *server,
                                      const struct test_postgres *primary);
/*
 * Whether a commit with synchronous_commit=on is to return only when a standby has it on its disk.
 * Without a standby such commits wait for ever. A copy that was made before does not have this
 * setting, and so waits for nobody when it is promoted.
 */
void test_postgres_require_standbys(const struct test_postgres *primary, bool required);
/* Waits until all standbys of a running primary have what it has committed. */
void test_postgres_catch_up(const struct test_postgres *primary);
/* Makes a standby a primary. Returns when it writes. */
void test_postgres_promote(const struct test_postgres *standby);
/* Ends it and removes its folder. Does nothing to one that was never started or is stopped. */
void test_postgres_stop(struct test_postgres *server);

/* Ends it at once: connections break, and the next start recovers from the log as after a crash. */
void test_postgres_crash(struct test_postgres *server);
/* The same with SIGKILL for each of its processes: none does anything any more. */
void test_postgres_kill(struct test_postgres *server);
/* From now on nobody writes the log but who commits and waits for that: what is committed without
 * waiting stays where a server that is killed loses it. For ever: kill it then. */
void test_postgres_stall_writer(const struct test_postgres *server);
/* After a crash: same folder, same port. Returns when it answers. */
void test_postgres_restart(struct test_postgres *server);
/* All its processes stand still, and connections to them are silent. */
void test_postgres_pause(const struct test_postgres *server);
void test_postgres_continue(const struct test_postgres *server);

/* "postgres://pawl:PASSWORD@127.0.0.1:PORT/DATABASE" in the caller's buffer. */
const char *test_postgres_uri(const struct test_postgres *server, const char *database, char *out,
                              size_t size);
/* Runs SQL with psql in the database "postgres"; fails the test when that fails. */
void test_postgres_sql(const struct test_postgres *server, const char *sql);

#endif
