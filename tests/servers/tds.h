/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The double of SQL Server (tds/server.py) for a test program, on loopback. What it is told to do
 * wrong is told with test_tds_tell(); the commands are in the head of server.py.
 */
#ifndef PAWL_TESTS_SERVERS_TDS_H
#define PAWL_TESTS_SERVERS_TDS_H

#include "servers/program.h"

#define TEST_TDS_USER "sa"
#define TEST_TDS_PASSWORD "p@ss word"

enum test_tds_tls {
    TEST_TDS_PLAIN,
    TEST_TDS_TLS, /* with a certificate for localhost and 127.0.0.1 that nobody vouches for */
    TEST_TDS_TLS_OTHER_NAME, /* with one for another name */
};

struct test_tds {
    struct test_program program;
    uint16_t port, control_port;
    int control;   /* a socket, kept open */
    char cert[96]; /* its certificate's file; "": none */
    char answer[256];
};

void test_tds_start(struct test_tds *server, enum test_tds_tls tls);
void test_tds_stop(struct test_tds *server);

/* Sends a command and answers what came back, until the next call. */
const char *test_tds_tell(struct test_tds *server, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "sqlserver://sa:p%40ss%20word@127.0.0.1:PORT/locks?encrypt=off&OPTIONS" in the caller's buffer;
 * with TLS "?trust=CERT&…". */
const char *test_tds_uri(const struct test_tds *server, const char *options, char *out,
                         size_t size);

/* A certificate and its key, for `name` (such as "DNS:localhost,IP:127.0.0.1"), as FOLDER/cert.pem
 * and FOLDER/key.pem. */
void test_make_certificate(const char *folder, const char *name);

#endif
