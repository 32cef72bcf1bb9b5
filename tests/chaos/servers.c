/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts private servers and runs a program on them, with their URI in place of the word URI, and
 * with that of a PostgreSQL server in place of the word STORE where there is one:
 *
 *     chaos-servers redis|redis-majority|postgres|sqlserver|azure PROGRAM ARGUMENT…
 *
 * Answers what the program answers. The servers end with it.
 */
#include "lib/test.h"
#include "servers/azurite.h"
#include "servers/postgres.h"
#include "servers/redis.h"
#include "servers/tds.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NODES 3

static void put(char **argv, const char *word, char *text)
{
    for (; *argv; argv++)
        if (strcmp(*argv, word) == 0)
            *argv = text;
}

static bool has(char **argv, const char *word)
{
    for (; *argv; argv++)
        if (strcmp(*argv, word) == 0)
            return true;
    return false;
}

static int run(char **argv, const char *uri)
{
    char text[512];
    int status = 1;
    pid_t pid;

    (void)snprintf(text, sizeof text, "%s", uri);
    put(argv, "URI", text);
    pid = fork();
    if (pid == 0) {
        (void)execv(argv[0], argv);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int run_on_redis(char **argv, size_t nodes)
{
    struct test_redis redis[NODES];
    char uri[256];
    int answer;

    for (size_t i = 0; i < nodes; i++)
        test_redis_start(&redis[i], NULL, 0);
    answer = run(argv, test_redis_uri(redis, nodes, NULL, uri, sizeof uri));
    for (size_t i = 0; i < nodes; i++)
        test_redis_stop(&redis[i]);
    return answer;
}

static int run_on_sqlserver(char **argv)
{
    struct test_tds server;
    char uri[256];
    int answer;

    test_tds_start(&server, TEST_TDS_PLAIN);
    answer = run(argv, test_tds_uri(&server, "", uri, sizeof uri));
    test_tds_stop(&server);
    return answer;
}

/* With the shortest lease that Azure has. */
static int run_on_azure(char **argv)
{
    struct test_azurite server;
    char uri[256];
    int answer;

    test_azurite_start(&server, false);
    answer = run(argv, test_azurite_uri(&server, "chaos", "create=on&lease=15", uri, sizeof uri));
    test_azurite_stop(&server);
    return answer;
}

static int run_on(const char *service, char **argv, const char *postgres)
{
    if (strcmp(service, "redis") == 0)
        return run_on_redis(argv, 1);
    if (strcmp(service, "redis-majority") == 0)
        return run_on_redis(argv, NODES);
    if (strcmp(service, "sqlserver") == 0)
        return run_on_sqlserver(argv);
    if (strcmp(service, "azure") == 0)
        return run_on_azure(argv);
    return run(argv, postgres);
}

int main(int argc, char **argv)
{
    struct test_postgres postgres = {.port = 0};
    bool is_postgres, needs_postgres;
    char uri[256] = "";
    int answer;

    if (argc < 3 || !argv[2]) {
        (void)fprintf(stderr, "usage: chaos-servers redis|redis-majority|postgres|sqlserver|azure "
                              "PROGRAM …\n");
        return 2;
    }
    is_postgres = strcmp(argv[1], "postgres") == 0;
    needs_postgres = is_postgres || has(argv + 2, "STORE");
    if (needs_postgres) {
        test_postgres_start(&postgres, NULL);
        put(argv + 2, "STORE",
            (char *)(uintptr_t)test_postgres_uri(&postgres, "postgres", uri, sizeof uri));
    }
    answer = run_on(argv[1], argv + 2, uri);
    if (needs_postgres)
        test_postgres_stop(&postgres);
    return answer;
}
