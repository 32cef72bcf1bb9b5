/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private Redis servers for a test program, one or several that know nothing of each other: a
 * folder and a free port on loopback each. They end with test_redis_stop(), or with the program.
 * A missing server fails the test and names the package.
 */
#ifndef PAWL_TESTS_SERVERS_REDIS_H
#define PAWL_TESTS_SERVERS_REDIS_H

#include "servers/daemon.h"

struct test_redis {
    struct test_daemon daemon;
    uint16_t port;
    char password[32];
    bool is_durable; /* appends every command to a file and syncs it */
};

#define TEST_REDIS_DURABLE 1u

/* `password` NULL: none. Returns when it answers. */
void test_redis_start(struct test_redis *server, const char *password, unsigned flags);
/* Ends it and removes its folder. Does nothing to one that was never started or is stopped. */
void test_redis_stop(struct test_redis *server);

/* Ends it at once. A restart, at the same port, finds what a durable one has; others are empty. */
void test_redis_crash(struct test_redis *server);
void test_redis_restart(struct test_redis *server);
/* It stands still, and connections to it are silent. */
void test_redis_pause(const struct test_redis *server);
void test_redis_continue(const struct test_redis *server);

/* "redis://…" for `count` servers (they share their password), at other ports when `ports` has
 * them. */
const char *test_redis_uri(const struct test_redis *servers, size_t count, const uint16_t *ports,
                           char *out, size_t size);

/* Their keys are gone, and their counts of calls. */
void test_redis_forget(const struct test_redis *servers, size_t count);
/* How often all of them have executed a command, also in scripts, since that. */
long test_redis_calls(const struct test_redis *servers, size_t count, const char *command);

/* Sends a command of words without blanks and answers the first line of what comes back, or the
 * bulk string; valid until the next call with the same buffer. "(nil)" for nothing. */
const char *test_redis_command(const struct test_redis *server, const char *command, char *out,
                               size_t size);

#endif
