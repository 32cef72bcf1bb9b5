/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the API costs: processor time of `pawl serve` per repetition of W1, W1s, W2 and W3, as a
 * ratio to the same in process, on SQLite, in one run, rounds in turn.
 *
 *     bench-api [SECONDS [CONNECTIONS [WORKLOAD]]]        CONNECTIONS 0: 1, 16 and 64
 *
 * Over HTTP W1 and W1s are one request: execute, whose response has the instance's state. W2 is
 * two: execute, and the event to that instance, which responds when it has come to rest. W3 is
 * 1,000 events to one instance from so many connections. Connections are kept. Promise: at
 * most 1.35 times; what misses it is printed.
 *
 * Behind them, workflows as HTTP endpoints, as a ratio to the same over the API. E1: the activities
 * of W1 between a request and its reply, and execute of W1. E2: a request that starts an instance
 * and one that resumes it, and W2. Promise for E1: at most 1.2 times.
 */
#include "harness.h"
#include "stores/stores.h"
#include "workloads.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 3
#define AIM 1.35
#define ENDPOINT_AIM 1.2
#define KEY "bench-key-of-the-administrator"
#define EVENTS 1000u
#define RESPONSE_BYTES_MAX 65536
#define START_SECONDS_MAX 60.0

struct server {
    pid_t pid;
    uint16_t port;
    struct bench_folder folder;
};

/* ---- the server ------------------------------------------------------------------------------ */

/* The program beside this one: bench/bench-api, pawl. */
static void find_pawl(char *out, size_t size)
{
    ssize_t len = readlink("/proc/self/exe", out, size - 1);
    char *slash;

    if (len <= 0)
        bench_fail("pawl", "this program does not know where it is");
    out[len] = '\0';
    for (int i = 0; i < 2; i++) {
        slash = strrchr(out, '/');
        if (!slash)
            bench_fail("pawl", out);
        *slash = '\0';
    }
    (void)snprintf(out + strlen(out), size - strlen(out), "/pawl");
}

_Noreturn static void become_server(const struct bench_folder *folder)
{
    char program[512], store[320], output[320];
    int fd;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* it ends with this program, however that ends */
    find_pawl(program, sizeof program);
    (void)snprintf(store, sizeof store, "sqlite:%s/served.db", folder->path);
    (void)snprintf(output, sizeof output, "%s/out", folder->path);
    fd = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
        _exit(1);
    (void)setenv("PAWL_ADMIN_API_KEY", KEY, 1);
    (void)setenv("PAWL_SERVER_RATE", "0", 1);
    (void)setenv("PAWL_ENDPOINTS_RATE", "0", 1);
    (void)execl(program, program, "serve", "--store", store, "--listen", "127.0.0.1:0",
                (char *)NULL);
    _exit(1);
}

/* 0: it has not said so yet. */
static uint16_t ready_port(const struct bench_folder *folder)
{
    static const char mark[] = "ready at http://127.0.0.1:";
    char path[320], line[512];
    unsigned port = 0;
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/out", folder->path);
    file = fopen(path, "r");
    while (file && port == 0 && fgets(line, sizeof line, file)) {
        const char *at = strstr(line, mark);

        if (at && strchr(at, '\n'))
            port = (unsigned)strtoul(at + sizeof mark - 1, NULL, 10);
    }
    if (file)
        (void)fclose(file);
    return (uint16_t)port;
}

static void server_start(struct server *server)
{
    double began = bench_seconds();

    server->pid = fork();
    if (server->pid == 0)
        become_server(&server->folder);
    while ((server->port = ready_port(&server->folder)) == 0) {
        if (bench_seconds() - began > START_SECONDS_MAX || waitpid(server->pid, NULL, WNOHANG) != 0)
            bench_fail("pawl serve", "is not ready");
        (void)usleep(20000);
    }
}

static void server_end(struct server *server)
{
    (void)kill(server->pid, SIGTERM);
    (void)waitpid(server->pid, NULL, 0);
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Connections of one measurement, one for each thread. */
struct clients {
    const struct server *server;
    const char *definition_id;
    int fds[BENCH_THREADS_MAX];
    char instance_id[80]; /* of W3 */
    atomic_uint next;     /* of W3: the event that is sent next; of E2: the number of the next */
    unsigned series;      /* of E2: which measurement */
};

static void connect_all(struct clients *clients, unsigned count)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(clients->server->port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int on = 1;

    for (unsigned i = 0; i < count; i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) != 0 ||
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
            bench_fail("connection", "failed");
        clients->fds[i] = fd;
    }
}

static void disconnect_all(struct clients *clients, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        (void)close(clients->fds[i]);
}

/* Reads one response as a whole; its fields are those of pawl: written as they are here. */
static void read_response(int fd, char *out, size_t size)
{
    size_t used = 0, wanted = 0;

    do {
        ssize_t got = recv(fd, out + used, size - 1 - used, 0);
        const char *end, *length;

        if (got <= 0)
            bench_fail("response", "ended");
        used += (size_t)got;
        out[used] = '\0';
        end = strstr(out, "\r\n\r\n");
        length = strcasestr(out, "\r\ncontent-length:");
        if (end && length)
            wanted = (size_t)(end + 4 - out) + strtoul(length + 17, NULL, 10);
    } while ((wanted == 0 || used < wanted) && used < size - 1);
    if (strncmp(out, "HTTP/1.1 200", 12) != 0)
        bench_fail("response", out);
}

static void post(int fd, const char *path, const char *body, char response[RESPONSE_BYTES_MAX])
{
    char request[1024];
    int len = snprintf(request, sizeof request,
                       "POST /elsa/api/%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: ApiKey " KEY
                       "\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                       path, strlen(body), body);

    if (len <= 0 || (size_t)len >= sizeof request ||
        send(fd, request, (size_t)len, MSG_NOSIGNAL) != len)
        bench_fail("request", "was not sent");
    read_response(fd, response, RESPONSE_BYTES_MAX);
}

/* Starts one, and leaves its id where it is asked for. */
static void execute(const struct clients *clients, unsigned thread, char *id, size_t size)
{
    static const char field[] = "x-elsa-workflow-instance-id: ";
    char path[120], response[RESPONSE_BYTES_MAX];
    const char *at;

    (void)snprintf(path, sizeof path, "workflow-definitions/%s/execute", clients->definition_id);
    post(clients->fds[thread], path, "{}", response);
    at = strcasestr(response, field);
    if (!at)
        bench_fail("execute", response);
    (void)snprintf(id, size, "%.*s", (int)strcspn(at + sizeof field - 1, "\r"),
                   at + sizeof field - 1);
}

static void start_once(void *ctx, unsigned thread, uint64_t round)
{
    char id[80];

    (void)round;
    execute(ctx, thread, id, sizeof id);
}

static void signal_once(void *ctx, unsigned thread, uint64_t round)
{
    const struct clients *clients = ctx;
    char id[80], body[200], response[RESPONSE_BYTES_MAX];

    (void)round;
    execute(clients, thread, id, sizeof id);
    (void)snprintf(body, sizeof body,
                   "{\"workflowInstanceId\":\"%s\",\"workflowExecutionMode\":\"Synchronous\"}", id);
    post(clients->fds[thread], "events/go/trigger", body, response);
}

static void fan_in_once(void *ctx, unsigned thread, uint64_t round)
{
    struct clients *clients = ctx;
    char body[200], response[RESPONSE_BYTES_MAX];

    (void)round;
    for (unsigned number; (number = atomic_fetch_add(&clients->next, 1)) < EVENTS;) {
        (void)snprintf(body, sizeof body, "{\"workflowInstanceId\":\"%s\",\"input\":{\"n\":%u}}",
                       clients->instance_id, number);
        post(clients->fds[thread], "events/signal/trigger", body, response);
    }
}

/* Asks until it has finished: what was sent is applied by then. */
static void await_finished(const struct clients *clients)
{
    char request[400], response[RESPONSE_BYTES_MAX];
    double began = bench_seconds();

    (void)snprintf(request, sizeof request,
                   "GET /elsa/api/workflow-instances/%s/execution-state HTTP/1.1\r\n"
                   "Host: localhost\r\nAuthorization: ApiKey " KEY "\r\n\r\n",
                   clients->instance_id);
    do {
        if (send(clients->fds[0], request, strlen(request), MSG_NOSIGNAL) < 0)
            bench_fail("request", "was not sent");
        read_response(clients->fds[0], response, sizeof response);
        if (strstr(response, "\"status\":\"Finished\""))
            return;
        (void)usleep(5000);
    } while (bench_seconds() - began < START_SECONDS_MAX);
    bench_fail("W3", "the instance did not finish");
}

/* ---- endpoints ------------------------------------------------------------------------------- */

#define TEXT(value) "{'typeName':'String','expression':{'type':'Literal','value':'" value "'}}"
#define SET(number)                                                                                \
    "{'id':'set" number "','type':'Elsa.SetVariable','variable':{'id':'v','name':'V'},"            \
    "'value':" TEXT("value " number) "}"
#define ENDPOINT(id, path, starts)                                                                 \
    "{'id':'" id "','type':'Elsa.HttpEndpoint','path':" TEXT(                                      \
        path) ","                                                                                  \
              "'customProperties':{'canStartWorkflow':" starts "}}"
#define RESPONSE(id) "{'id':'" id "','type':'Elsa.WriteHttpResponse','content':" TEXT("ok") "}"
#define WORKFLOW(id, activities)                                                                   \
    "{'definitionId':'" id "','id':'" id ":1','version':1,'name':'" id "',"                        \
    "'variables':[{'id':'v','name':'V','typeName':'String',"                                       \
    "'storageDriverTypeName':'WorkflowInstanceStorageDriver'}],"                                   \
    "'root':{'id':'seq','type':'Elsa.Sequence','activities':[" activities "]}}"

static void publish_endpoints(struct bench_node *node)
{
    bench_publish(node, WORKFLOW("e1", ENDPOINT("e", "e1", "true") "," SET("1") "," SET(
                                           "2") "," SET("3") "," RESPONSE("r")));
    bench_publish(node, WORKFLOW("e2", ENDPOINT("e", "e2", "true") "," RESPONSE("r") "," ENDPOINT(
                                           "n", "e2/next", "false") "," RESPONSE("q")));
}

static void request(const struct clients *clients, unsigned thread, const char *path)
{
    char text[300], response[RESPONSE_BYTES_MAX];
    int len =
        snprintf(text, sizeof text, "GET /workflows/%s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);

    if (send(clients->fds[thread], text, (size_t)len, MSG_NOSIGNAL) != len)
        bench_fail("request", "was not sent");
    read_response(clients->fds[thread], response, sizeof response);
}

static void request_once(void *ctx, unsigned thread, uint64_t round)
{
    (void)round;
    request(ctx, thread, "e1");
}

static void request_twice(void *ctx, unsigned thread, uint64_t round)
{
    struct clients *clients = ctx;
    unsigned number = atomic_fetch_add(&clients->next, 1);
    char path[120];

    (void)round;
    (void)snprintf(path, sizeof path, "e2?correlationId=%ld-%u-%u", (long)getpid(), clients->series,
                   number);
    request(clients, thread, path);
    (void)snprintf(path, sizeof path, "e2/next?correlationId=%ld-%u-%u", (long)getpid(),
                   clients->series, number);
    request(clients, thread, path);
}

/* ---- measuring ------------------------------------------------------------------------------- */

enum kind { W1, W1S, W2, W3, KINDS };
static const char *const names[KINDS] = {"W1", "W1s", "W2", "W3"};
static const char *const definitions[KINDS] = {"w1", "w1s", "w2", "w3"};

struct figures {
    double cpu_us[ROUNDS], per_second[ROUNDS];
};

static void measure_served(struct pawl_env *env, const struct server *server, enum kind kind,
                           unsigned threads, double seconds, struct figures *out, int round)
{
    struct clients clients = {.server = server, .definition_id = definitions[kind]};
    struct bench_rate rate;
    double cpu, began;

    connect_all(&clients, threads);
    if (kind == W3)
        execute(&clients, 0, clients.instance_id, sizeof clients.instance_id);
    cpu = bench_cpu_seconds_of_threads(server->pid);
    began = bench_seconds();
    bench_repeat(env, threads, kind == W3 ? -1 : seconds,
                 kind == W3   ? fan_in_once
                 : kind == W2 ? signal_once
                              : start_once,
                 &clients, &rate);
    if (kind == W3) {
        await_finished(&clients);
        rate.count = EVENTS;
        rate.per_second = EVENTS / (bench_seconds() - began);
    }
    cpu = bench_cpu_seconds_of_threads(server->pid) - cpu;
    out->cpu_us[round] = cpu * 1e6 / (double)rate.count;
    out->per_second[round] = rate.per_second;
    disconnect_all(&clients, threads);
}

static void measure_own(struct bench_node *node, enum kind kind, unsigned threads, double seconds,
                        struct figures *out, int round)
{
    struct workload_cost cost;
    struct bench_rate rate;

    if (kind == W3)
        workload_fan_in(node, threads, &rate, &cost);
    else if (kind == W2)
        workload_signal(node, threads, seconds, &rate, &cost);
    else
        workload_start(node, definitions[kind], threads, seconds, &rate, &cost);
    out->cpu_us[round] = rate.cpu_us;
    out->per_second[round] = rate.per_second;
}

static void open_node(struct bench_node *node, struct pawl_env *env, const char *folder,
                      const char *name)
{
    const struct pawl_store_options options = {.flags = PAWL_STORE_OPEN_CREATE};
    struct pawl_store *store = NULL;
    struct pawl_error err = PAWL_ERROR_INIT;
    char path[320];

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    bench_need(pawl__sqlite_store_open(env, pawl__str(path), &options, &store, &err), &err, path);
    bench_node_open(node, env, store, 1);
    workloads_publish(node);
    publish_endpoints(node);
}

static void report(enum kind kind, unsigned threads, struct figures *own, struct figures *served)
{
    double own_us = bench_median(own->cpu_us, ROUNDS);
    double served_us = bench_median(served->cpu_us, ROUNDS);
    double ratio = served_us / own_us;

    printf("%-4s %3u connections %10.1f %10.1f %8.2f %12.0f %12.0f %s\n", names[kind], threads,
           own_us, served_us, ratio, bench_median(own->per_second, ROUNDS),
           bench_median(served->per_second, ROUNDS), ratio > AIM ? "above the aim" : "");
}

static void measure_endpoint(struct pawl_env *env, const struct server *server, bool twice,
                             unsigned threads, double seconds, struct figures *out, int round)
{
    struct clients clients = {.server = server, .series = threads * ROUNDS + (unsigned)round};
    struct bench_rate rate;
    double cpu;

    connect_all(&clients, threads);
    cpu = bench_cpu_seconds_of_threads(server->pid);
    bench_repeat(env, threads, seconds, twice ? request_twice : request_once, &clients, &rate);
    cpu = bench_cpu_seconds_of_threads(server->pid) - cpu;
    out->cpu_us[round] = cpu * 1e6 / (double)rate.count;
    out->per_second[round] = rate.per_second;
    disconnect_all(&clients, threads);
}

static void compare_endpoints(struct pawl_env *env, const struct server *server, unsigned threads,
                              double seconds)
{
    for (int twice = 0; twice < 2; twice++) {
        struct figures api, endpoint;
        double api_us, endpoint_us;

        for (int round = 0; round < ROUNDS; round++) {
            measure_served(env, server, twice ? W2 : W1, threads, seconds, &api, round);
            measure_endpoint(env, server, twice, threads, seconds, &endpoint, round);
        }
        api_us = bench_median(api.cpu_us, ROUNDS);
        endpoint_us = bench_median(endpoint.cpu_us, ROUNDS);
        printf("%-4s %3u connections %10.1f %10.1f %8.2f %12.0f %12.0f %s\n", twice ? "E2" : "E1",
               threads, api_us, endpoint_us, endpoint_us / api_us,
               bench_median(api.per_second, ROUNDS), bench_median(endpoint.per_second, ROUNDS),
               !twice && endpoint_us > ENDPOINT_AIM * api_us ? "above the aim" : "");
    }
}

int main(int argc, char **argv)
{
    static const unsigned counts[] = {1, 16, 64};
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
    unsigned only = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    const char *workload = argc > 3 ? argv[3] : NULL;
    struct pawl_env *env = NULL;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct bench_node node;
    struct server server = {0};

    bench_need(pawl_system_env_open(&env, &err), &err, "environment");
    bench_folder_make(&server.folder);
    open_node(&node, env, server.folder.path, "served.db");
    bench_node_close(&node);
    server_start(&server);
    open_node(&node, env, server.folder.path, "own.db");
    printf("%-20s %10s %10s %8s %12s %12s\n", "", "own CPU us", "HTTP CPU", "ratio", "own/s",
           "HTTP/s");
    for (int kind = 0; kind < KINDS; kind++) {
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            struct figures own, served;

            if ((only != 0 && counts[i] != only) ||
                (workload && strcmp(workload, definitions[kind]) != 0))
                continue;
            for (int round = 0; round < ROUNDS; round++) {
                measure_own(&node, (enum kind)kind, counts[i], seconds, &own, round);
                measure_served(env, &server, (enum kind)kind, counts[i], seconds, &served, round);
            }
            report((enum kind)kind, counts[i], &own, &served);
        }
    }
    printf("%-20s %10s %10s %8s %12s %12s\n", "", "API CPU us", "endpoint", "ratio", "API/s",
           "endpoint/s");
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        if (only == 0 || counts[i] == only)
            compare_endpoints(env, &server, counts[i], seconds);
    }
    server_end(&server);
    bench_node_close(&node);
    bench_folder_remove(&server.folder);
    pawl_system_env_close(env);
    return 0;
}
