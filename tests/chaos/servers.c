/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts private servers and runs a program on them, with their URI in place of the word URI:
 *
 *     chaos-servers redis|redis-majority|postgres PROGRAM ARGUMENT…
 *
 * Answers what the program answers. The servers end with it.
 */
#include "lib/test.h"
#include "servers/postgres.h"
#include "servers/redis.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NODES 3

static int run(char **argv, const char *uri)
{
    static char text[512];
    int status = 1;
    pid_t pid;

    (void)snprintf(text, sizeof text, "%s", uri);
    for (char **word = argv; *word; word++)
        if (strcmp(*word, "URI") == 0)
            *word = text;
    pid = fork();
    if (pid == 0) {
        (void)execv(argv[0], argv);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
    struct test_redis redis[NODES];
    struct test_postgres postgres;
    size_t nodes;
    char uri[256];
    int answer;

    if (argc < 3 || !argv[2]) {
        (void)fprintf(stderr, "usage: chaos-servers redis|redis-majority|postgres PROGRAM …\n");
        return 2;
    }
    nodes = strcmp(argv[1], "redis") == 0 ? 1 : strcmp(argv[1], "redis-majority") == 0 ? NODES : 0;
    if (nodes == 0) {
        test_postgres_start(&postgres, NULL);
        answer = run(argv + 2, test_postgres_uri(&postgres, "postgres", uri, sizeof uri));
        test_postgres_stop(&postgres);
        return answer;
    }
    for (size_t i = 0; i < nodes; i++)
        test_redis_start(&redis[i], NULL, 0);
    answer = run(argv + 2, test_redis_uri(redis, nodes, NULL, uri, sizeof uri));
    for (size_t i = 0; i < nodes; i++)
        test_redis_stop(&redis[i]);
    return answer;
}
