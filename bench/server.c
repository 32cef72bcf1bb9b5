/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a request costs the server: processor time per request of `GET /health/live` as `pawl serve`
 * answers it (on the loop), of one that is handed to a worker and back, and of nginx that serves a
 * file of ten bytes. 64 connections that are kept, in one run, rounds in turn.
 *
 *     bench-server [REQUESTS]
 *
 * Each server is a process of its own with one loop. Promise: the loop costs at most 1.5 times what
 * nginx does.
 */
#include "http/server.h"
#include "harness.h"
#include "servers/daemon.h"

#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONNECTIONS 64
#define ROUNDS 5
#define PROMISE 1.5

struct peer {
    const char *name, *path;
    bool forks; /* its processor time is that of processes, not of threads */
    long pid;
    uint16_t port;
    double cpu_us[ROUNDS], per_second[ROUNDS];
};

/* ---- ours -------------------------------------------------------------------------------- */

static void answer(struct pawl_exchange *exchange, void *ctx)
{
    (void)ctx;
    pawl__buf_text(pawl__exchange_out(exchange), "Healthy");
    pawl__exchange_add_field(exchange, "Content-Type", "text/plain");
    pawl__exchange_add_field(exchange, "Cache-Control", "no-store");
    pawl__exchange_respond(exchange, 200);
}

static const struct pawl_route routes[] = {
    {.method = "GET", .path = "/health/live", .handle = answer, .flags = PAWL_ROUTE_ON_LOOP},
    {.method = "GET", .path = "/worker", .handle = answer},
};

/* The child: tells its port and serves until it is killed. */
_Noreturn static void serve(int tell)
{
    struct pawl_server_options options = {
        .routes = routes, .route_count = 2, .limits = pawl__server_limits()};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_server *server;
    struct pawl_env *env;
    uint16_t port;

    bench_need(pawl_system_env_open(&env, &err), &err, "environment");
    bench_need(pawl__server_new(env, &options, &server, &err), &err, "server");
    bench_need(pawl__server_listen(server, "127.0.0.1:0", &err), &err, "listening");
    port = pawl__server_port(server, 0);
    if (write(tell, &port, sizeof port) != sizeof port)
        _exit(1);
    while (pawl__server_turn(server, PAWL_FOREVER) == PAWL_OK)
        continue;
    _exit(0);
}

static void start_ours(struct peer *loop, struct peer *worker)
{
    int tell[2];
    pid_t pid;

    if (pipe(tell) != 0)
        bench_fail("pipe", "failed");
    pid = fork();
    if (pid < 0)
        bench_fail("fork", "failed");
    if (pid == 0)
        serve(tell[1]);
    if (read(tell[0], &loop->port, sizeof loop->port) != sizeof loop->port)
        bench_fail("server", "did not start");
    loop->pid = worker->pid = pid;
    worker->port = loop->port;
}

/* ---- nginx ------------------------------------------------------------------------------- */

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[256];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        bench_fail(path, "cannot be written");
}

/* One process that serves; bench_cpu_seconds_of() has those that it started too. */
static void start_nginx(struct test_daemon *daemon, struct peer *peer)
{
    static const char *const paths[] = {"/usr/sbin/nginx", "/usr/local/sbin/nginx", NULL};
    char config[1024], file[128];
    const char *arguments[] = {
        test_daemon_program(paths, "nginx-light"), "-p", daemon->folder, "-c", file, NULL};

    peer->port = test_daemon_port();
    (void)snprintf(config, sizeof config,
                   "daemon off; worker_processes 1; error_log %s/errors; pid %s/pid;\n"
                   "events { worker_connections 1024; }\n"
                   "http { access_log off; keepalive_requests 1000000000; open_file_cache max=10;\n"
                   "  client_body_temp_path %s/a; proxy_temp_path %s/b; fastcgi_temp_path %s/c;\n"
                   "  uwsgi_temp_path %s/d; scgi_temp_path %s/e;\n"
                   "  server { listen 127.0.0.1:%u; root %s; } }\n",
                   daemon->folder, daemon->folder, daemon->folder, daemon->folder, daemon->folder,
                   daemon->folder, daemon->folder, (unsigned)peer->port, daemon->folder);
    write_file(daemon->folder, "nginx.conf", config);
    write_file(daemon->folder, "file", "0123456789");
    (void)snprintf(file, sizeof file, "%s/file", daemon->folder);
    (void)chmod(daemon->folder, 0755);
    (void)chmod(file, 0644);
    (void)snprintf(file, sizeof file, "%s/nginx.conf", daemon->folder);
    test_daemon_launch(daemon, arguments);
    if (!test_daemon_comes_up(daemon, peer->port)) {
        test_daemon_show_log(daemon);
        bench_fail("nginx", "did not start");
    }
    peer->pid = daemon->pid;
}

/* ---- load -------------------------------------------------------------------------------- */

static int connect_to(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) != 0)
        bench_fail("connection", "failed");
    return fd;
}

static void send_request(int fd, const char *request, size_t size)
{
    if (send(fd, request, size, MSG_NOSIGNAL) != (ssize_t)size)
        bench_fail("request", "was not sent");
}

/* An answer is in one segment here. */
static void read_answer(int fd)
{
    char answer_text[2048];
    ssize_t got = recv(fd, answer_text, sizeof answer_text, 0);

    if (got < 12 || memcmp(answer_text, "HTTP/1.1 200", 12) != 0)
        bench_fail("answer", "is not 200");
}

/* Each connection asks again when it was answered. */
static void load(const struct peer *peer, uint64_t count)
{
    struct pollfd fds[CONNECTIONS];
    char request[128];
    size_t size = (size_t)snprintf(request, sizeof request,
                                   "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", peer->path);
    uint64_t sent = CONNECTIONS, answered = 0;

    for (int i = 0; i < CONNECTIONS; i++) {
        fds[i] = (struct pollfd){.fd = connect_to(peer->port), .events = POLLIN};
        send_request(fds[i].fd, request, size);
    }
    while (answered < count) {
        if (poll(fds, CONNECTIONS, 60000) <= 0)
            bench_fail("answer", "does not come");
        for (int i = 0; i < CONNECTIONS; i++) {
            if (!fds[i].revents)
                continue;
            read_answer(fds[i].fd);
            answered++;
            if (sent < count) {
                send_request(fds[i].fd, request, size);
                sent++;
            }
        }
    }
    for (int i = 0; i < CONNECTIONS; i++)
        (void)close(fds[i].fd);
}

static double cpu_of(const struct peer *peer)
{
    return peer->forks ? bench_cpu_seconds_of(peer->pid) : bench_cpu_seconds_of_threads(peer->pid);
}

static void measure(struct peer *peer, int round, uint64_t count)
{
    double cpu = cpu_of(peer), began = bench_seconds();

    load(peer, count);
    peer->per_second[round] = (double)count / (bench_seconds() - began);
    peer->cpu_us[round] = (cpu_of(peer) - cpu) * 1e6 / (double)count;
}

int main(int argc, char **argv)
{
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
    struct peer peers[] = {{.name = "nginx, 10 bytes", .path = "/file", .forks = true},
                           {.name = "/health/live", .path = "/health/live"},
                           {.name = "on a worker", .path = "/worker"}};
    struct test_daemon nginx = {0};
    double base, ratio;

    start_ours(&peers[1], &peers[2]); /* before anything else: it forks */
    test_daemon_init(&nginx, "pawl-nginx");
    start_nginx(&nginx, &peers[0]);
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < 3; i++)
            measure(&peers[i], round, count / ROUNDS);
    }
    base = bench_median(peers[0].cpu_us, ROUNDS);
    printf("%-18s %12s %8s %12s\n", "", "CPU us each", "ratio", "requests/s");
    for (size_t i = 0; i < 3; i++)
        printf("%-18s %12.1f %8.2f %12.0f\n", peers[i].name, bench_median(peers[i].cpu_us, ROUNDS),
               bench_median(peers[i].cpu_us, ROUNDS) / base,
               bench_median(peers[i].per_second, ROUNDS));
    ratio = bench_median(peers[1].cpu_us, ROUNDS) / base;
    (void)kill((pid_t)peers[1].pid, SIGKILL);
    (void)waitpid((pid_t)peers[1].pid, NULL, 0);
    test_daemon_end(&nginx, SIGTERM);
    test_daemon_release(&nginx);
    if (ratio > PROMISE)
        printf("missed: /health/live costs %.2f times nginx, promised is %.1f\n", ratio, PROMISE);
    return ratio > PROMISE;
}
