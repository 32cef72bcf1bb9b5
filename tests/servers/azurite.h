/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Azurite, the emulator of Azure Storage's blobs, for a test program: on loopback, with a folder of
 * its own. It is fetched from npm when it is first needed (servers/npm/fetch).
 */
#ifndef PAWL_TESTS_SERVERS_AZURITE_H
#define PAWL_TESTS_SERVERS_AZURITE_H

#include "servers/program.h"

#include <stdbool.h>

struct test_azurite {
    struct test_program program;
    uint16_t port;
    bool tls;
    char cert[96]; /* its certificate's file, which nobody vouches for; "": http */
};

void test_azurite_start(struct test_azurite *server, bool tls);
void test_azurite_stop(struct test_azurite *server);
/* Ends it at once; then the same folder and port again. */
void test_azurite_crash(struct test_azurite *server);
void test_azurite_restart(struct test_azurite *server);

/* "azure://127.0.0.1:PORT/devstoreaccount1/CONTAINER?http=on&OPTIONS" in the caller's buffer; with
 * TLS "?trust=CERT&…". */
const char *test_azurite_uri(const struct test_azurite *server, const char *container,
                             const char *options, char *out, size_t size);

#endif
