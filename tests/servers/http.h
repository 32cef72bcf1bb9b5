/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small HTTP server on loopback for tests of what sends requests: it answers by a table of
 * routes, remembers what it was asked, and misbehaves on demand. One connection, one request,
 * unless the route says that it is kept.
 */
#ifndef PAWL_TESTS_SERVERS_HTTP_H
#define PAWL_TESTS_SERVERS_HTTP_H

#include "base/str.h"

#include <pawl/ext/env.h>

enum test_http_manner {
    TEST_HTTP_ANSWER,
    TEST_HTTP_CLOSE, /* reads the request and ends the connection */
    TEST_HTTP_HOLD,  /* answers when test_http_release() was called, or never */
    TEST_HTTP_STALL, /* sends headers and half of the body, then as HOLD */
    TEST_HTTP_HUGE,  /* a body of `repeat` times `body`, in chunks, without a length */
    TEST_HTTP_KEEP,  /* answers, and reads the next request of the connection */
    TEST_HTTP_END,   /* answers as KEEP, and ends the connection all the same */
    /* As KEEP; once test_http_release() was called, and for the first such request only, it sends
     * `surplus` as well, which nobody asked for. */
    TEST_HTTP_SURPLUS,
};

struct test_http_route {
    struct pawl_str method; /* "": any */
    struct pawl_str path;   /* without the query */
    int status;
    struct pawl_str content_type; /* "": none */
    struct pawl_str headers;      /* further lines, each with its line end */
    struct pawl_str body;
    enum test_http_manner manner;
    uint32_t repeat;
    struct pawl_str surplus;
};

struct test_http;

/* Copies the table of routes, borrows the texts. Fails the test when it cannot be started. */
struct test_http *test_http_start(const struct test_http_route *routes, size_t count);
void test_http_stop(struct test_http *server);

/* "http://127.0.0.1:PORT", for the life of the server. */
const char *test_http_url(const struct test_http *server);
/* What is held is answered, and nothing is held any more. */
void test_http_release(struct test_http *server);

/* Requests that were read so far, also those that are held. */
size_t test_http_count(struct test_http *server);
/* Waits until there are so many; fails the test after a minute. */
void test_http_wait(struct test_http *server, size_t count);

/* Connections that were accepted so far, and of those the ones that did not end yet. */
size_t test_http_connections(struct test_http *server);
size_t test_http_open_connections(struct test_http *server);
/* Waits until at most so many are open; fails the test after a minute. */
void test_http_wait_open(struct test_http *server, size_t count);
/* Waits until a surplus was sent. */
void test_http_wait_surplus(struct test_http *server);

/* Of request `index`; they live as long as the server. "" when there is none. */
struct pawl_str test_http_method(struct test_http *server, size_t index);
struct pawl_str test_http_path(struct test_http *server, size_t index); /* with the query */
struct pawl_str test_http_header(struct test_http *server, size_t index, const char *name);
struct pawl_str test_http_body(struct test_http *server, size_t index);

#endif
