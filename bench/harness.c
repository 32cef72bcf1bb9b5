/* SPDX-License-Identifier: Apache-2.0 */
/* See harness.h. */
#include "harness.h"

#include "watch.h"

#include "activities/activities.h"
#include "expressions/expressions.h"

#include <dirent.h>
#include <ftw.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Times kept per thread; what comes later is counted and not timed. */
#define SAMPLES_MAX 100000u
#define BYTES_MAX ((size_t)64 << 20)
#define CALL_NS_MAX INT64_C(120000000000)

double bench_seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double bench_cpu_seconds(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec * 1e-6 +
           (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec * 1e-6;
}

/* Of the first thread: servers that fork have no others. */
static double cpu_of_one(const char *pid)
{
    char path[64];
    double ns = 0;
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/%.20s/schedstat", pid);
    file = fopen(path, "r");
    if (file && fscanf(file, "%lf", &ns) != 1)
        ns = 0;
    if (file)
        (void)fclose(file);
    return ns * 1e-9;
}

/* Its parent; and what those took that it has started and that have ended, in seconds. */
static long parent_of(const char *pid, double *ended)
{
    char path[64], text[512];
    const char *behind = NULL; /* the name, which may have blanks and brackets in it */
    long parent = 0;
    double user = 0, system = 0;
    size_t length = 0;
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    file = fopen(path, "r");
    if (file) {
        length = fread(text, 1, sizeof text - 1, file);
        (void)fclose(file);
    }
    text[length] = '\0';
    behind = strrchr(text, ')');
    if (behind && sscanf(behind, ") %*c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %lf %lf",
                         &parent, &user, &system) == 3)
        *ended = (user + system) / (double)sysconf(_SC_CLK_TCK);
    return parent;
}

double bench_cpu_seconds_of(long pid)
{
    DIR *folder = pid ? opendir("/proc") : NULL;
    const struct dirent *entry;
    double seconds = 0, ended = 0;

    while (folder && (entry = readdir(folder))) {
        bool is_it = strtol(entry->d_name, NULL, 10) == pid;

        if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
            continue;
        if (parent_of(entry->d_name, &ended) == pid || is_it)
            seconds += cpu_of_one(entry->d_name) + (is_it ? ended : 0);
    }
    if (folder)
        (void)closedir(folder);
    return seconds;
}

double bench_cpu_seconds_of_threads(long pid)
{
    char path[320], line[128];
    const struct dirent *entry;
    double seconds = 0;
    DIR *folder;

    (void)snprintf(path, sizeof path, "/proc/%ld/task", pid);
    folder = opendir(path);
    while (folder && (entry = readdir(folder))) {
        FILE *file;

        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof path, "/proc/%ld/task/%s/schedstat", pid, entry->d_name);
        file = fopen(path, "r");
        if (file && fgets(line, sizeof line, file))
            seconds += strtod(line, NULL) * 1e-9;
        if (file)
            (void)fclose(file);
    }
    if (folder)
        (void)closedir(folder);
    return seconds;
}

double bench_anonymous_mb(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[128];
    long kb = 0;

    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "RssAnon:", 8) == 0)
            kb = strtol(line + 8, NULL, 10);
    if (file)
        (void)fclose(file);
    return (double)kb / 1024;
}

_Noreturn void bench_fail(const char *what, const char *why)
{
    (void)fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

void bench_need(int status, const struct pawl_error *err, const char *what)
{
    if (status != PAWL_OK)
        bench_fail(what, err && err->msg[0] ? err->msg : pawl_error_text(status));
}

/* ---- folders ------------------------------------------------------------------------------- */

void bench_folder_make(struct bench_folder *folder)
{
    const char *base = getenv("TMPDIR");

    (void)snprintf(folder->path, sizeof folder->path, "%s/pawl-bench-XXXXXX",
                   base && *base ? base : "/tmp");
    if (!mkdtemp(folder->path))
        bench_fail(folder->path, "cannot be made; set TMPDIR to a folder on the disk to measure");
}

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *at)
{
    (void)stat;
    (void)type;
    (void)at;
    return remove(path);
}

void bench_folder_remove(const struct bench_folder *folder)
{
    (void)nftw(folder->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

double bench_folder_mb(const struct bench_folder *folder)
{
    static const char *const names[] = {"pawl.db", "pawl.db-wal", "pawl.db-shm"};
    double mb = 0;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[300];
        struct stat stat_of;

        (void)snprintf(path, sizeof path, "%s/%s", folder->path, names[i]);
        if (stat(path, &stat_of) == 0)
            mb += (double)stat_of.st_size / (1 << 20);
    }
    return mb;
}

/* ---- repeating ----------------------------------------------------------------------------- */

struct crew {
    bench_once once;
    void *ctx;
    uint64_t count_max; /* of each hand */
    atomic_bool over;
};

struct hand {
    struct crew *crew;
    unsigned number;
    uint64_t count;
    double *samples;
    struct pawl_thread *thread;
};

static void work(void *arg)
{
    struct hand *hand = arg;
    double before = bench_seconds();

    while (!atomic_load_explicit(&hand->crew->over, memory_order_relaxed) &&
           hand->count < hand->crew->count_max) {
        double now;

        hand->crew->once(hand->crew->ctx, hand->number, hand->count);
        now = bench_seconds();
        if (hand->count < SAMPLES_MAX)
            hand->samples[hand->count] = now - before;
        hand->count++;
        before = now;
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

double bench_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return count > 0 ? values[count / 2] : 0;
}

double bench_best(const double *values, size_t count)
{
    double best = 0;

    for (size_t i = 0; i < count; i++)
        best = values[i] > best ? values[i] : best;
    return best;
}

static void summarise(struct hand *hands, unsigned threads, struct bench_rate *out)
{
    size_t total = 0, at = 0;
    double *all;

    for (unsigned i = 0; i < threads; i++)
        total += hands[i].count < SAMPLES_MAX ? hands[i].count : SAMPLES_MAX;
    all = calloc(total + 1, sizeof *all);
    if (!all)
        bench_fail("times", "no memory");
    for (unsigned i = 0; i < threads; i++) {
        size_t count = hands[i].count < SAMPLES_MAX ? hands[i].count : SAMPLES_MAX;

        memcpy(all + at, hands[i].samples, count * sizeof *all);
        at += count;
    }
    qsort(all, total, sizeof *all, compare);
    out->p10_us = all[total / 10] * 1e6;
    out->p50_us = all[total / 2] * 1e6;
    out->p99_us = all[total * 99 / 100] * 1e6;
    free(all);
}

void bench_repeat(struct pawl_env *env, unsigned threads, double seconds, bench_once once,
                  void *ctx, struct bench_rate *out)
{
    struct hand hands[BENCH_THREADS_MAX] = {0};
    struct crew crew = {.once = once, .ctx = ctx, .count_max = UINT64_MAX};
    struct pawl_error err = PAWL_ERROR_INIT;
    double begin = bench_seconds(), cpu = bench_cpu_seconds();

    *out = (struct bench_rate){0};
    if (seconds < 0)
        crew.count_max = (uint64_t)-seconds;
    for (unsigned i = 0; i < threads; i++) {
        hands[i] = (struct hand){.crew = &crew, .number = i};
        hands[i].samples = malloc(SAMPLES_MAX * sizeof(double));
        if (!hands[i].samples)
            bench_fail("times", "no memory");
        bench_need(pawl_thread_start(env, "bench", work, &hands[i], &hands[i].thread, &err), &err,
                   "thread");
    }
    if (seconds >= 0) {
        bench_need(pawl_env_sleep_until(env, pawl_env_monotonic_ns(env) + (int64_t)(seconds * 1e9)),
                   NULL, "sleep");
        atomic_store(&crew.over, true);
    }
    for (unsigned i = 0; i < threads; i++) {
        pawl_thread_join(env, hands[i].thread);
        out->count += hands[i].count;
    }
    out->seconds = bench_seconds() - begin;
    out->per_second = (double)out->count / out->seconds;
    out->cpu_us = out->count ? (bench_cpu_seconds() - cpu) * 1e6 / (double)out->count : 0;
    summarise(hands, threads, out);
    for (unsigned i = 0; i < threads; i++)
        free(hands[i].samples);
}

/* ---- a node -------------------------------------------------------------------------------- */

int64_t bench_later(struct pawl_env *env)
{
    return pawl_env_monotonic_ns(env) + CALL_NS_MAX;
}

static int tell_line(void *ctx, struct pawl_str instance_id, struct pawl_str text)
{
    const struct bench_node *node = ctx;

    (void)instance_id;
    if (node->line)
        node->line(node->line_ctx, text);
    return PAWL_OK;
}

void bench_node_listen(struct bench_node *node, void (*line)(void *ctx, struct pawl_str text),
                       void *ctx)
{
    node->line = line;
    node->line_ctx = ctx;
}

void bench_node_open(struct bench_node *node, struct pawl_env *env, struct pawl_store *store,
                     uint32_t committers)
{
    bench_node_open_guarded(node, env, store, committers, NULL, NULL);
}

/* As the host has it; BENCH_DELIVERY=rows: the other way, to compare. */
static enum pawl_delivery bench_delivery(void)
{
    const char *text = getenv("BENCH_DELIVERY");

    return text && strcmp(text, "rows") == 0 ? PAWL_DELIVERY_ROWS : PAWL_DELIVERY_DIRECT;
}

void bench_node_open_guarded(struct bench_node *node, struct pawl_env *env,
                             struct pawl_store *store, uint32_t committers,
                             struct pawl_guard *guard, struct pawl_queue_worker *queue)
{
    const struct pawl_runtime_options options = {.committers = committers,
                                                 .delivery = bench_delivery(),
                                                 .works_itself = true,
                                                 .guard = guard,
                                                 .hooks = {.line = tell_line, .ctx = node}};
    struct pawl_error err = PAWL_ERROR_INIT;

    *node = (struct bench_node){.env = env, .store = watch_new(env, store), .queue = queue};
    pawl__engine_init(&node->engine, &env->alloc, (struct pawl_hash_seed){1, 2});
    node->engine.commit_strategies = true;
    bench_need(pawl__activities_register(&node->engine), NULL, "activities");
    bench_need(pawl__expressions_register(&node->engine), NULL, "expressions");
    bench_need(pawl__runtime_open(env, &node->engine, node->store, &options, &node->runtime, &err),
               &err, "runtime");
}

uint64_t bench_work_for_event(struct bench_node *node)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_worked worked = {0};
    uint64_t looks = 0;

    /* What is due at once by the node's clock may be due a moment later by the store's. */
    for (; bench_delivery() == PAWL_DELIVERY_ROWS && worked.done == 0; looks++)
        bench_need(pawl__runtime_work(node->runtime, 1, &worked, bench_later(node->env), &err),
                   &err, "work");
    return looks;
}

void bench_node_close(struct bench_node *node)
{
    pawl__runtime_close(node->runtime);
    pawl__engine_release(&node->engine);
    pawl_store_close(node->store);
}

void bench_publish(struct bench_node *node, const char *text)
{
    struct pawl_definitions *definitions = pawl__runtime_definitions(node->runtime);
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_publication said;
    struct pawl_definition_row row;
    struct pawl_json definition;
    struct pawl_arena arena;
    char *copy;

    pawl__arena_init(&arena, &node->env->alloc, BYTES_MAX);
    copy = pawl__arena_alloc(&arena, strlen(text) + 1);
    if (!copy)
        bench_fail("definition", "no memory");
    for (size_t i = 0; i <= strlen(text); i++)
        copy[i] = text[i] == '\'' ? '"' : text[i];
    bench_need(pawl__json_parse(&arena, pawl__str(copy), NULL, &definition, NULL, &err), &err,
               "definition");
    bench_need(pawl__definitions_import(definitions, &definition, &arena, &row,
                                        bench_later(node->env), &err),
               &err, "import");
    bench_need(
        pawl__definitions_publish(definitions, row.id, &arena, &said, bench_later(node->env), &err),
        &err, "publish");
    if (!said.succeeded)
        bench_fail("publish", "the definition is not valid");
    pawl__arena_release(&arena);
}
