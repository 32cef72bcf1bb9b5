/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of many definitions to one server: how many per second, by how many connections, when
 * connections are shared by all, kept for each, and not kept at all.
 *
 *     bench-http [REQUESTS [SCOPES]]
 *
 * The server is a process of its own. With SCOPES only that row is run, once, for counting
 * instructions. Nothing here can fail but the requests themselves.
 */
#include "drivers/curl.h"
#include "harness.h"

#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNDER_WAY 16u
#define ROUNDS 5
#define CONNECTIONS_MAX 1100

/* ---- the server ---------------------------------------------------------------------------- */

struct server {
    pid_t pid;
    int port;
    atomic_ulong *accepted; /* shared with the process */
};

/* A request is in one segment here. false: the connection ended. */
static bool answer(int fd)
{
    static const char kept[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    static const char closed[] =
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
    char buffer[4096];
    ssize_t got = recv(fd, buffer, sizeof buffer - 1, 0);
    bool close_it;

    if (got <= 0)
        return false;
    buffer[got] = 0;
    close_it = strncmp(buffer, "GET /close", 10) == 0;
    if (close_it)
        (void)!send(fd, closed, sizeof closed - 1, MSG_NOSIGNAL);
    else
        (void)!send(fd, kept, sizeof kept - 1, MSG_NOSIGNAL);
    return !close_it;
}

_Noreturn static void serve(int listener, atomic_ulong *accepted)
{
    static struct pollfd fds[CONNECTIONS_MAX];
    nfds_t count = 1;

    fds[0] = (struct pollfd){.fd = listener, .events = POLLIN};
    for (;;) {
        if (poll(fds, count, -1) < 0)
            _exit(1);
        for (nfds_t i = count - 1; i > 0; i--) {
            if (fds[i].revents && !answer(fds[i].fd)) {
                (void)close(fds[i].fd);
                fds[i] = fds[--count];
            }
        }
        if (fds[0].revents && count < CONNECTIONS_MAX) {
            fds[count++] = (struct pollfd){.fd = accept(listener, NULL, NULL), .events = POLLIN};
            (*accepted)++;
        }
    }
}

static void start_server(struct server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    server->accepted = mmap(NULL, sizeof *server->accepted, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (fd < 0 || server->accepted == MAP_FAILED ||
        bind(fd, (struct sockaddr *)&address, size) != 0 || listen(fd, 1024) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        bench_fail("the server", "cannot be started");
    server->port = ntohs(address.sin_port);
    server->pid = fork();
    if (server->pid == 0)
        serve(fd, server->accepted);
    (void)close(fd);
}

/* ---- the requests -------------------------------------------------------------------------- */

struct load {
    struct pawl_env *env;
    struct pawl_http_executor *executor;
    struct pawl_mutex *mutex;
    struct pawl_cond *cond;
    uint32_t under_way;
    uint64_t failed;
};

static void on_done(void *ctx, const struct pawl_http_answer *answer)
{
    struct load *load = ctx;

    if (pawl_mutex_lock(load->env, load->mutex) != PAWL_OK)
        return;
    load->under_way--;
    load->failed += answer->end != PAWL_HTTP_ANSWERED;
    pawl_cond_broadcast(load->env, load->cond);
    pawl_mutex_unlock(load->env, load->mutex);
}

static void wait_until(struct load *load, uint32_t most)
{
    bench_need(pawl_mutex_lock(load->env, load->mutex), NULL, "lock");
    while (load->under_way > most)
        bench_need(pawl_cond_wait(load->env, load->cond, load->mutex, PAWL_FOREVER), NULL, "wait");
    load->under_way++;
    pawl_mutex_unlock(load->env, load->mutex);
}

static void send_all(struct load *load, const char *url, unsigned scopes, uint64_t count)
{
    struct pawl_error err = PAWL_ERROR_INIT;

    for (uint64_t i = 0; i < count; i++) {
        char scope[32];
        struct pawl_http_request request = {.method = pawl__str("GET"), .url = pawl__str(url)};
        uint64_t ticket;

        (void)snprintf(scope, sizeof scope, "definition-%u", (unsigned)(i % scopes));
        request.scope = pawl__str(scope);
        wait_until(load, UNDER_WAY - 1);
        bench_need(pawl_http_submit(load->executor, &request, on_done, load, &ticket, &err), &err,
                   "submit");
    }
    wait_until(load, 0);
    load->under_way = 0;
}

struct figures {
    double per_second, cpu_us;
    unsigned long connections;
};

static struct figures measure(const struct server *server, const char *path, unsigned scopes,
                              uint64_t count)
{
    struct load load = {0};
    struct pawl_error err = PAWL_ERROR_INIT;
    unsigned long before = *server->accepted;
    double began, cpu;
    char url[64];

    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d%s", server->port, path);
    bench_need(pawl_system_env_open(&load.env, &err), &err, "environment");
    bench_need(pawl_mutex_new(load.env, "load", &load.mutex), NULL, "mutex");
    bench_need(pawl_cond_new(load.env, "load", &load.cond), NULL, "condition");
    bench_need(pawl__curl_open(load.env, NULL, &load.executor, &err), &err, "curl");
    began = bench_seconds();
    cpu = bench_cpu_seconds();
    send_all(&load, url, scopes, count);
    began = bench_seconds() - began;
    cpu = bench_cpu_seconds() - cpu;
    pawl_http_close(load.executor);
    pawl_cond_free(load.env, load.cond);
    pawl_mutex_free(load.env, load.mutex);
    pawl_system_env_close(load.env);
    if (load.failed > 0)
        bench_fail("requests", "were not answered");
    return (struct figures){(double)count / began, cpu * 1e6 / (double)count,
                            *server->accepted - before};
}

/* Rounds take turns, so that a busy moment of the machine meets all rows. */
static void compare(const struct server *server, uint64_t count)
{
    static const struct {
        const char *name, *path;
        unsigned scopes;
    } rows[] = {{"shared by all", "/", 1},
                {"10 definitions", "/", 10},
                {"100 definitions", "/", 100},
                {"not kept", "/close", 1}};
    struct figures last[4];
    double rates[4][ROUNDS], cpus[4][ROUNDS];

    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < 4; i++) {
            last[i] = measure(server, rows[i].path, rows[i].scopes, count);
            rates[i][round] = last[i].per_second;
            cpus[i][round] = last[i].cpu_us;
        }
    }
    printf("%-16s %12s %8s %12s %12s\n", "connections", "requests/s", "ratio", "CPU us each",
           "connections");
    for (size_t i = 0; i < 4; i++)
        printf("%-16s %12.0f %8.2f %12.1f %12lu\n", rows[i].name, bench_median(rates[i], ROUNDS),
               bench_median(rates[i], ROUNDS) / bench_median(rates[0], ROUNDS),
               bench_median(cpus[i], ROUNDS), last[i].connections);
}

int main(int argc, char **argv)
{
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000;
    struct server server;

    start_server(&server);
    if (argc > 2)
        (void)measure(&server, "/", (unsigned)strtoul(argv[2], NULL, 10), count);
    else
        compare(&server, count);
    (void)kill(server.pid, SIGKILL);
    (void)waitpid(server.pid, NULL, 0);
    return 0;
}
