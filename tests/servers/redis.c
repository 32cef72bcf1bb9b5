/* SPDX-License-Identifier: Apache-2.0 */
/* Private Redis servers, see redis.h. */
#include "servers/redis.h"

#include "lib/test.h"

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool launch(struct test_redis *server)
{
    static const char *const paths[] = {"/usr/bin/redis-server", "/usr/local/bin/redis-server",
                                        NULL};
    char port[16];
    const char *arguments[] = {test_daemon_program(paths, "redis-server"),
                               "--bind",
                               "127.0.0.1",
                               "--port",
                               port,
                               "--dir",
                               server->daemon.folder,
                               "--save",
                               "",
                               "--enable-debug-command",
                               "yes",
                               "--appendonly",
                               server->is_durable ? "yes" : "no",
                               "--appendfsync",
                               "always",
                               *server->password ? "--requirepass" : NULL,
                               server->password,
                               NULL};

    (void)snprintf(port, sizeof port, "%u", (unsigned)server->port);
    test_daemon_launch(&server->daemon, arguments);
    return test_daemon_comes_up(&server->daemon, server->port);
}

void test_redis_start(struct test_redis *server, const char *password, unsigned flags)
{
    memset(server, 0, sizeof *server);
    test_daemon_init(&server->daemon, "pawl-redis");
    (void)snprintf(server->password, sizeof server->password, "%s", password ? password : "");
    server->is_durable = flags & TEST_REDIS_DURABLE;
    for (int tries = 0; tries < 5; tries++) {
        server->port = test_daemon_port();
        if (launch(server))
            return;
    }
    test_daemon_show_log(&server->daemon);
    test_redis_stop(server);
    fail_msg("the Redis server does not come up");
}

void test_redis_stop(struct test_redis *server)
{
    test_daemon_end(&server->daemon, SIGKILL);
    test_daemon_release(&server->daemon);
}

void test_redis_crash(struct test_redis *server)
{
    test_daemon_end(&server->daemon, SIGKILL);
}

void test_redis_restart(struct test_redis *server)
{
    assert_int_equal(server->daemon.pid, 0);
    if (!launch(server)) {
        test_daemon_show_log(&server->daemon);
        fail_msg("the Redis server does not come up again at port %u", (unsigned)server->port);
    }
}

void test_redis_pause(const struct test_redis *server)
{
    assert_true(server->daemon.pid > 0);
    assert_int_equal(kill(server->daemon.pid, SIGSTOP), 0);
}

void test_redis_continue(const struct test_redis *server)
{
    if (server->daemon.pid > 0)
        (void)kill(server->daemon.pid, SIGCONT);
}

const char *test_redis_uri(const struct test_redis *servers, size_t count, const uint16_t *ports,
                           char *out, size_t size)
{
    int length = snprintf(out, size, "redis://%s%s%s", *servers->password ? ":" : "",
                          servers->password, *servers->password ? "@" : "");

    for (size_t i = 0; i < count; i++)
        length += snprintf(out + length, size - (size_t)length, "%s127.0.0.1:%u", i ? "," : "",
                           (unsigned)(ports ? ports[i] : servers[i].port));
    assert_true(length > 0 && (size_t)length < size);
    return out;
}

/* ---- commands ---------------------------------------------------------------------------- */

static int connect_to(uint16_t port)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static void read_line(FILE *file, char *out, size_t size)
{
    assert_non_null(fgets(out, (int)size, file));
    out[strcspn(out, "\r\n")] = 0;
}

const char *test_redis_command(const struct test_redis *server, const char *command, char *out,
                               size_t size)
{
    int fd = connect_to(server->port);
    FILE *file = fdopen(fd, "r");
    char head[64];

    assert_non_null(file);
    if (*server->password) {
        assert_true(dprintf(fd, "AUTH %s\r\n", server->password) > 0);
        read_line(file, head, sizeof head);
    }
    assert_true(dprintf(fd, "%s\r\n", command) > 0);
    read_line(file, out, size);
    if (out[0] == '$' && out[1] == '-')
        (void)snprintf(out, size, "(nil)");
    else if (out[0] == '$')
        read_line(file, out, size);
    else if (out[0] != '\0')
        memmove(out, out + 1, strlen(out));
    (void)fclose(file);
    return out;
}

void test_redis_forget(const struct test_redis *servers, size_t count)
{
    char out[64];

    for (size_t i = 0; i < count; i++) {
        assert_string_equal(test_redis_command(&servers[i], "FLUSHALL", out, sizeof out), "OK");
        assert_string_equal(test_redis_command(&servers[i], "CONFIG RESETSTAT", out, sizeof out),
                            "OK");
    }
}

long test_redis_calls(const struct test_redis *servers, size_t count, const char *command)
{
    char script[256], out[64];
    long calls = 0;

    (void)snprintf(script, sizeof script,
                   "EVAL \"return tonumber(string.match(redis.call('info','commandstats'),"
                   "'cmdstat_%s:calls=(%%d+)') or '0')\" 0",
                   command);
    for (size_t i = 0; i < count; i++)
        calls += strtol(test_redis_command(&servers[i], script, out, sizeof out), NULL, 10);
    return calls;
}
