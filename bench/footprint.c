/* SPDX-License-Identifier: Apache-2.0 */
/* See footprint.h. The worker is a process of its own, ended by its id. */
#include "footprint.h"

#include "workloads.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define STARTERS 64u
#define READY_RUNS 7u
#define LOOK_NS INT64_C(50000000)
/* After it said that it is ready: its threads have looked for work and wait. */
#define SETTLE_NS INT64_C(500000000)
#define WAIT_SECONDS_MAX 300.0

#define EVENT(id, name, more)                                                                      \
    "{'id':'" id "','type':'Elsa.Event','eventName':{'typeName':'String','expression':"            \
    "{'type':'Literal','value':'" name "'}}" more "}"
#define W4                                                                                         \
    "{'definitionId':'w4','id':'w4:1','version':1,'name':'w4',"                                    \
    "'root':{'id':'seq','type':'Elsa.Sequence','activities':[" EVENT(                              \
        "begin", "w4-begin",                                                                       \
        ",'customProperties':{'canStartWorkflow':true}") "," EVENT("wait", "w4-end", "") "]}}"

struct worker {
    pid_t pid;
    int said; /* its standard error */
    double ready_ms;
};

/* ---- the process --------------------------------------------------------------------------- */

static void find_program(char *out, size_t size)
{
    char self[300];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;

    if (length <= 0)
        bench_fail("/proc/self/exe", "cannot be read");
    self[length] = '\0';
    slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    if (snprintf(out, size, "%s/../pawl", self) >= (int)size || access(out, X_OK) != 0)
        bench_fail(out, "is not there: build it with this program");
}

static _Noreturn void become(const char *program, const char *uri, int said)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)dup2(null, STDIN_FILENO);
    (void)dup2(null, STDOUT_FILENO);
    (void)dup2(said, STDERR_FILENO);
    (void)execl(program, program, "worker", "--store", uri, "--set", "workers=2", (char *)NULL);
    _exit(127);
}

static void await_line(struct worker *worker)
{
    char text[4096] = "";
    size_t length = 0;

    while (!strstr(text, "ready")) {
        ssize_t got = read(worker->said, text + length, sizeof text - 1 - length);

        if (got <= 0)
            bench_fail("pawl worker ended before it was ready", text);
        length += (size_t)got;
        text[length] = '\0';
    }
}

static void start_worker(struct worker *worker, const char *uri)
{
    char program[400];
    int ends[2];
    double begin;

    find_program(program, sizeof program);
    if (pipe2(ends, O_CLOEXEC) != 0)
        bench_fail("pipe", "cannot be made");
    begin = bench_seconds();
    worker->pid = fork();
    if (worker->pid < 0)
        bench_fail("fork", "failed");
    if (worker->pid == 0)
        become(program, uri, ends[1]);
    (void)close(ends[1]);
    worker->said = ends[0];
    await_line(worker);
    worker->ready_ms = (bench_seconds() - begin) * 1e3;
}

static void end_worker(const struct worker *worker)
{
    int status = 0;

    (void)kill(worker->pid, SIGTERM);
    if (waitpid(worker->pid, &status, 0) != worker->pid || status != 0)
        bench_fail("pawl worker", "did not end well");
    (void)close(worker->said);
}

static double rss_kb(const struct worker *worker)
{
    char path[64], line[256];
    double kb = 0;
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/%ld/status", (long)worker->pid);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmRSS:", 6) == 0)
            kb = strtod(line + 6, NULL);
    if (file)
        (void)fclose(file);
    if (kb <= 0)
        bench_fail(path, "does not tell its memory");
    return kb;
}

/* ---- instances ----------------------------------------------------------------------------- */

struct starters {
    struct bench_node *node;
    atomic_uint next;
};

/* What the event starts is work that is due; only the worker does such. */
static void send_all(void *arg)
{
    struct starters *s = arg;

    while (atomic_fetch_add(&s->next, 1) < FOOTPRINT_INSTANCES) {
        struct pawl_error err = PAWL_ERROR_INIT;
        struct pawl_sent sent;

        bench_need(pawl__runtime_send_event(s->node->runtime, pawl__str("w4-begin"), NULL, NULL,
                                            &sent, bench_later(s->node->env), &err),
                   &err, "event");
        if (sent.started != 1)
            bench_fail("W4", "an event started no instance");
    }
}

static uint64_t suspended(struct bench_node *node)
{
    const struct pawl_condition conditions[] = {
        {.column = pawl_table_column(PAWL_TABLE_INSTANCES, "definition_id"),
         .value = {.text = pawl__str("w4")}},
        {.column = pawl_table_column(PAWL_TABLE_INSTANCES, "sub_status"),
         .value = {.text = pawl__str("Suspended")}},
        {.column = pawl_table_column(PAWL_TABLE_INSTANCES, "owner"), .value = {.integer = 0}},
    };
    const struct pawl_query query = {.table = PAWL_TABLE_INSTANCES,
                                     .flags = PAWL_QUERY_COUNT,
                                     .conditions = conditions,
                                     .condition_count = 3};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_rows rows = {0};
    struct pawl_arena arena;

    pawl__arena_init(&arena, &node->env->alloc, (size_t)1 << 20);
    bench_need(pawl_store_find(node->store, &query, &arena, &rows, bench_later(node->env), &err),
               &err, "find");
    pawl__arena_release(&arena);
    return rows.total;
}

static void pause_for(struct pawl_env *env, int64_t ns)
{
    bench_need(pawl_env_sleep_until(env, pawl_env_monotonic_ns(env) + ns), NULL, "sleep");
}

static void have_all_suspended(struct bench_node *node)
{
    struct pawl_thread *threads[STARTERS];
    struct starters s = {.node = node};
    struct pawl_error err = PAWL_ERROR_INIT;
    double begin = bench_seconds();

    for (unsigned i = 0; i < STARTERS; i++)
        bench_need(pawl_thread_start(node->env, "starter", send_all, &s, &threads[i], &err), &err,
                   "thread");
    for (unsigned i = 0; i < STARTERS; i++)
        pawl_thread_join(node->env, threads[i]);
    while (suspended(node) < FOOTPRINT_INSTANCES) {
        if (bench_seconds() - begin > WAIT_SECONDS_MAX)
            bench_fail("W4", "not all instances were started");
        pause_for(node->env, LOOK_NS);
    }
}

void footprint_measure(struct bench_node *node, const char *uri, struct footprint *out)
{
    double ready[READY_RUNS];
    struct worker worker;

    bench_publish(node, W4);
    start_worker(&worker, uri);
    pause_for(node->env, SETTLE_NS);
    out->idle_rss_kb = rss_kb(&worker);
    have_all_suspended(node);
    pause_for(node->env, SETTLE_NS);
    out->suspended_rss_kb = rss_kb(&worker);
    end_worker(&worker);
    for (unsigned i = 0; i < READY_RUNS; i++) {
        start_worker(&worker, uri);
        ready[i] = worker.ready_ms;
        end_worker(&worker);
    }
    out->ready_ms = bench_median(ready, READY_RUNS);
}
