/* SPDX-License-Identifier: Apache-2.0 */
/* Fetching, starting and stopping Azurite; see azurite.h. */
#include "servers/azurite.h"

#include "lib/test.h"
#include "servers/tds.h" /* test_make_certificate */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fetch(void)
{
    static const char script[] = TEST_SERVERS_DIR "/npm/fetch";
    static const char *const arguments[] = {"sh", script, TEST_NPM_DIR, NULL};
    char out[4096];

    if (test_program_run(arguments, NULL, out, sizeof out) != 0)
        fail_msg("no Azurite: %s", out);
}

static void launch(struct test_azurite *server)
{
    static const char script[] = TEST_NPM_DIR "/node_modules/azurite/dist/src/blob/main.js";
    char port[8], location[96], key[96], line[256];
    const char *arguments[] = {
        "node",      script,       "--location", location,   "--blobHost",
        "127.0.0.1", "--blobPort", port,         "--silent", "--disableTelemetry",
        NULL,        NULL,         NULL,         NULL,       NULL};
    const char *found;

    (void)snprintf(port, sizeof port, "%u", (unsigned)server->port);
    (void)snprintf(location, sizeof location, "%s/data", server->program.daemon.folder);
    (void)snprintf(key, sizeof key, "%s/key.pem", server->program.daemon.folder);
    if (server->tls) {
        arguments[10] = "--cert";
        arguments[11] = server->cert;
        arguments[12] = "--key";
        arguments[13] = key;
    }
    test_program_start(&server->program, arguments, "apt-get install npm");
    do {
        test_program_line(&server->program, line, sizeof line);
        found = strstr(line, "successfully listens on http");
    } while (!found);
    server->port = (uint16_t)strtol(strrchr(line, ':') + 1, NULL, 10);
}

void test_azurite_start(struct test_azurite *server, bool tls)
{
    memset(server, 0, sizeof *server);
    fetch();
    test_program_folder(&server->program, "azurite");
    server->tls = tls;
    if (tls) {
        test_make_certificate(server->program.daemon.folder, "DNS:localhost,IP:127.0.0.1");
        (void)snprintf(server->cert, sizeof server->cert, "%s/cert.pem",
                       server->program.daemon.folder);
    }
    launch(server);
}

void test_azurite_stop(struct test_azurite *server)
{
    test_program_stop(&server->program);
}

void test_azurite_crash(struct test_azurite *server)
{
    test_program_kill(&server->program);
}

void test_azurite_restart(struct test_azurite *server)
{
    launch(server);
}

const char *test_azurite_uri(const struct test_azurite *server, const char *container,
                             const char *options, char *out, size_t size)
{
    int length = snprintf(out, size, "azure://127.0.0.1:%u/devstoreaccount1/%s?%s%s%s%s",
                          (unsigned)server->port, container, server->tls ? "trust=" : "http=on",
                          server->cert, *options ? "&" : "", options);

    assert_true(length > 0 && (size_t)length < size);
    return out;
}
