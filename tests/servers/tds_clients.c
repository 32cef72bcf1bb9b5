/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The double of SQL Server is what we take SQL Server for. So that it is not merely our own mirror,
 * clients that others wrote must find in it what they know: FreeTDS's own tools, and npm's tedious.
 */
#include "lib/test.h"
#include "servers/tds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(const char *out, const char *const *lines, size_t count)
{
    const char *at = out;

    for (size_t i = 0; i < count; i++) {
        const char *found = strstr(at, lines[i]);

        if (!found)
            fail_msg("'%s' is not where it should be in:\n%s", lines[i], out);
        else
            at = found;
    }
}

static void run_tsql(enum test_tds_tls tls)
{
    static const char input[] =
        "select @@version as version\ngo\n"
        "declare @r int\n"
        "exec @r = sp_getapplock @Resource=N'it''s', @LockMode='Exclusive', @LockOwner='Session', "
        "@LockTimeout=0\n"
        "select @r as taken, applock_mode('public', N'it''s', 'Session') as mode\ngo\n"
        "exec sp_releaseapplock @Resource=N'it''s', @LockOwner='Session'\ngo\n"
        "exec sp_releaseapplock @Resource=N'it''s', @LockOwner='Session'\ngo\n"
        "select applock_mode('public', N'it''s', 'Session') as mode\ngo\n";
    /* Messages come on another stream, which is not kept back. */
    static const char *const lines[] = {"Msg 1223", "SQL Server", "0\tExclusive", "NoLock"};
    char port[8], out[8192], configuration[96], env[128];
    const char *arguments[] = {
        "env", env, "tsql", "-S", "double", "-U", TEST_TDS_USER, "-P", TEST_TDS_PASSWORD,
        "-o",  "q", NULL};
    struct test_tds server;
    FILE *file;

    test_tds_start(&server, tls);
    (void)snprintf(port, sizeof port, "%u", (unsigned)server.port);
    (void)snprintf(configuration, sizeof configuration, "%s/freetds.conf",
                   server.program.daemon.folder);
    file = fopen(configuration, "w");
    assert_non_null(file);
    (void)fprintf(file, "[double]\nhost = 127.0.0.1\nport = %s\ntds version = 7.4\n%s%s\n", port,
                  *server.cert ? "encryption = require\nca file = " : "encryption = off\n",
                  server.cert);
    (void)fclose(file);
    (void)snprintf(env, sizeof env, "FREETDSCONF=%s", configuration);
    if (test_program_run(arguments, input, out, sizeof out) == 127)
        fail_msg("no tsql: apt-get install freetds-bin");
    expect(out, lines, sizeof lines / sizeof lines[0]);
    test_tds_stop(&server);
}

static void freetds_finds_what_it_knows(void **state)
{
    (void)state;
    run_tsql(TEST_TDS_PLAIN);
}

static void freetds_finds_it_behind_tls(void **state)
{
    (void)state;
    run_tsql(TEST_TDS_TLS);
}

static void run_tedious(enum test_tds_tls tls, const char *knob)
{
    static const char script[] = TEST_SERVERS_DIR "/npm/fetch";
    static const char client[] = TEST_SERVERS_DIR "/clients/tedious.js";
    static const char *const fetch[] = {"sh", script, TEST_NPM_DIR, NULL};
    static const char *const lines[] = {"take 0",        "busy -1",
                                        "timed out -1",  "cancelled ECANCEL",
                                        "released 0",    "granted later 1",
                                        "not held 1223", "mode Exclusive",
                                        "test 0",        "after the other left "};
    char port[8], control[8], out[8192];
    const char *arguments[] = {
        "node", client, TEST_NPM_DIR, port, control, TEST_TDS_USER, TEST_TDS_PASSWORD, NULL, NULL};
    struct test_tds server;

    if (test_program_run(fetch, NULL, out, sizeof out) != 0)
        fail_msg("no tedious: %s", out);
    test_tds_start(&server, tls);
    (void)test_tds_tell(&server, "%s", knob);
    (void)snprintf(port, sizeof port, "%u", (unsigned)server.port);
    (void)snprintf(control, sizeof control, "%u", (unsigned)server.control_port);
    arguments[7] = *server.cert ? server.cert : NULL;
    if (test_program_run(arguments, NULL, out, sizeof out) != 0)
        fail_msg("tedious: %s", out);
    expect(out, lines, sizeof lines / sizeof lines[0]);
    test_tds_stop(&server);
}

static void tedious_finds_what_it_knows(void **state)
{
    (void)state;
    run_tedious(TEST_TDS_PLAIN, "split 0");
}

static void tedious_finds_it_behind_tls(void **state)
{
    (void)state;
    run_tedious(TEST_TDS_TLS, "split 0");
}

static void tedious_puts_pieces_together(void **state)
{
    (void)state;
    run_tedious(TEST_TDS_PLAIN, "split 5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(freetds_finds_what_it_knows),
        cmocka_unit_test(freetds_finds_it_behind_tls),
        cmocka_unit_test(tedious_finds_what_it_knows),
        cmocka_unit_test(tedious_finds_it_behind_tls),
        cmocka_unit_test(tedious_puts_pieces_together),
    };

    return cmocka_run_group_tests_name("servers/tds", tests, NULL, NULL);
}
