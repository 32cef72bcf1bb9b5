/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a JavaScript expression costs: on one thread, inside a burst, from the call of the language
 * to the value. Prints microseconds and evaluations per second of the processor time used, so that
 * a busy machine changes little. Promises 150,000 simple cached expressions per second and core.
 *
 * Beside it what `node` needs for the same, when there is one: a function made once per text, with
 * values as JSON text in and out, best of five parts of its processor time as here. It keeps no
 * two evaluations apart and sets no limits: it shows how far an interpreter is from a compiler.
 *
 * Then how two threads share the language, each with a burst of its own. That is by the clock, and
 * means little when other work has the processors; the processor time of an evaluation shows what
 * the threads cost each other.
 */
#include "expressions/javascript/javascript.h"
#include "activities/activities.h"
#include "engine/run/burst.h"
#include "expressions/expressions.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROMISED_PER_SECOND 150000.0
#define PARTS 5
#define THREADS_MAX 2

struct measure {
    const char *name;
    const char *source;
    unsigned rounds;
    bool distinct; /* a new text each time: nothing is cached */
    bool promised;
    const char *node; /* the same as the body of a function; NULL: not measured there */
};

#define TEXT "`Hello ${getName()}, you are number ${getN()}`"
#define SUM "getOrder().items.reduce((a, b) => a + b.q, 0)"
#define SHAPE "(o => ({ id: o.id, sum: o.items.reduce((a, b) => a + b.q, 0) }))(getOrder())"
#define BUILT "({ a: 1, b: [1, 2, 3], c: { d: 'x' } })"
#define BODY "const n = getName(); let t = 0; for (let i = 0; i < 5; i++) t += i; return n + t;"

static const struct measure measures[] = {
    {"a constant", "1 + 1", 200000, false, true, "return 1 + 1"},
    {"a variable", "getN() + 1", 200000, false, true, "return getN() + 1"},
    {"a condition", "getVariable('N') < 3", 200000, false, true, "return getVariable('N') < 3"},
    {"a text", TEXT, 200000, false, true, "return " TEXT},
    {"an object in, a number out", SUM, 50000, false, false, "return " SUM},
    {"JSON in, JSON out", SHAPE, 50000, false, true, "return " SHAPE},
    {"an object built", BUILT, 50000, false, false, "return " BUILT},
    {"variables.N += 1", "variables.N += 1", 50000, false, false, NULL},
    {"a body with return", BODY, 100000, false, false, BODY},
    {"statements", "let t = 0; for (const x of [1, 2]) t += x;", 50000, false, false, NULL},
    {"on an engine of its own", "globalThis.x = 1; return x;", 5000, false, false, NULL},
    {"compiled each time", "`${getName()} ", 20000, true, false, NULL},
};

#define MEASURES (sizeof measures / sizeof *measures)
/* Those that two threads run. */
static const size_t shared_measures[] = {3, 5};

/* Also the values of the definition below. */
#define ORDER                                                                                      \
    "{\"id\":\"order-17\",\"items\":[{\"q\":1,\"n\":\"abc\"},{\"q\":2,\"n\":\"def\"},"             \
    "{\"q\":3,\"n\":\"ghi\"}],\"paid\":true}"

/* Threads that evaluate the same; all of them start together. */
struct crowd {
    const struct measure *measure;
    unsigned count;
    atomic_uint ready;
};

struct bench {
    struct pawl_engine engine; /* first: leads from a context back here */
    struct pawl_env *env;
    struct pawl_javascript *js;
    const double *node_us; /* per measure; 0: unknown */
    struct crowd *crowd;   /* NULL: all measures, one after the other */
    int64_t begun_ns;
    int64_t ended_ns;
    double thread_us; /* processor time per evaluation */
    bool failed;
};

static double processor_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static bool evaluate(struct pawl_context *context, const char *source)
{
    struct pawl_javascript_run run = {.source = pawl__str(source)};

    return pawl__javascript_run(context, &run) == PAWL_OK;
}

/* Best of the parts, in microseconds per evaluation; negative when one fails. */
static double measure(struct pawl_context *context, const struct measure *m)
{
    double best = 1e30;
    char text[128];

    if (!m->distinct && !evaluate(context, m->source))
        return -1;
    for (unsigned part = 0; part < PARTS; part++) {
        unsigned rounds = m->rounds / PARTS;
        double begun = processor_us();
        double took;

        for (unsigned i = 0; i < rounds; i++) {
            if (m->distinct)
                (void)snprintf(text, sizeof text, "%s%u`", m->source, part * rounds + i);
            if (!evaluate(context, m->distinct ? text : m->source))
                return -1;
        }
        took = (processor_us() - begun) / rounds;
        best = took < best ? took : best;
    }
    return best;
}

static void print_measures(struct pawl_context *context, struct bench *bench)
{
    printf("%-28s %10s %14s %10s %10s\n", "expression", "us", "per second", "node us", "ours/node");
    for (size_t i = 0; i < MEASURES; i++) {
        const struct measure *m = &measures[i];
        double us = measure(context, m);
        bool missed = us < 0 || (m->promised && 1e6 / us < PROMISED_PER_SECOND);

        printf("%-28s %10.2f %14.0f", m->name, us, 1e6 / us);
        if (bench->node_us[i] > 0)
            printf(" %10.2f %10.1f", bench->node_us[i], us / bench->node_us[i]);
        printf("%s\n", missed ? "   less than promised" : "");
        bench->failed = bench->failed || missed;
    }
}

static void run_in_crowd(struct pawl_context *context, struct bench *bench)
{
    struct crowd *crowd = bench->crowd;
    const struct measure *m = crowd->measure;
    double begun_us;

    bench->failed = !evaluate(context, m->source);
    (void)atomic_fetch_add(&crowd->ready, 1);
    while (atomic_load(&crowd->ready) < crowd->count)
        (void)sched_yield();
    begun_us = processor_us();
    bench->begun_ns = pawl_env_monotonic_ns(bench->env);
    for (unsigned i = 0; i < m->rounds && !bench->failed; i++)
        bench->failed = !evaluate(context, m->source);
    bench->ended_ns = pawl_env_monotonic_ns(bench->env);
    bench->thread_us = (processor_us() - begun_us) / m->rounds;
}

static int execute(struct pawl_context *context)
{
    struct bench *bench = (struct bench *)(uintptr_t)pawl__context_engine(context);

    if (bench->crowd)
        run_in_crowd(context, bench);
    else
        print_measures(context, bench);
    return pawl__complete(context, NULL);
}

static const struct pawl_activity activity = {
    .type = "Bench.Scripts", .version = 1, .execute = execute};

static const char definition[] =
    "{\"definitionId\":\"d\",\"id\":\"d:1\",\"version\":1,\"variables\":["
    "{\"id\":\"n\",\"name\":\"N\",\"typeName\":\"Int32\",\"value\":1},"
    "{\"id\":\"m\",\"name\":\"Name\",\"typeName\":\"String\",\"value\":\"Ada\"},"
    "{\"id\":\"o\",\"name\":\"Order\",\"typeName\":\"JSON\",\"value\":\"{\\\"id\\\":\\\"order-"
    "17\\\","
    "\\\"items\\\":[{\\\"q\\\":1,\\\"n\\\":\\\"abc\\\"},{\\\"q\\\":2,\\\"n\\\":\\\"def\\\"},{"
    "\\\"q\\\":3,"
    "\\\"n\\\":\\\"ghi\\\"}],\\\"paid\\\":true}\"}],"
    "\"root\":{\"id\":\"s\",\"type\":\"Bench.Scripts\"}}";

static int run_burst(struct bench *bench, struct pawl_error *err)
{
    struct pawl_event event = {.kind = PAWL_EVENT_RUN, .now = 639029342450000000, .seed = 7};
    const struct pawl_allocator *alloc = &bench->env->alloc;
    struct pawl_graph *graph = NULL;
    struct pawl_burst *burst = NULL;
    enum pawl_step step = PAWL_STEP_YIELD;
    struct pawl_arena arena;
    struct pawl_json json;
    int status;

    pawl__arena_init(&arena, alloc, (size_t)1 << 20);
    status = pawl__activities_register(&bench->engine);
    if (status == PAWL_OK)
        status = pawl__expressions_register(&bench->engine);
    if (status == PAWL_OK)
        status = pawl__javascript_register(&bench->engine, bench->js);
    if (status == PAWL_OK)
        status = pawl__engine_add_activity(&bench->engine, &activity);
    if (status == PAWL_OK)
        status = pawl__json_parse(&arena, pawl__str(definition), NULL, &json, NULL, err);
    if (status == PAWL_OK)
        status = pawl__graph_load(&bench->engine, alloc, &json, NULL, NULL, NULL, &graph, err);
    event.instance_id = pawl__str("i");
    if (status == PAWL_OK)
        status = pawl__burst_open(graph, alloc, NULL, &event, &burst, err);
    while (status == PAWL_OK && step != PAWL_STEP_DONE)
        status = pawl__burst_step(burst, &step, err);
    pawl__burst_close(burst);
    pawl__graph_unref(graph);
    pawl__arena_release(&arena);
    return status;
}

/* On a thread of its own or not. */
static void run(void *arg)
{
    struct bench *bench = arg;
    struct pawl_error err = PAWL_ERROR_INIT;
    int status;

    pawl__engine_init(&bench->engine, &bench->env->alloc, (struct pawl_hash_seed){1, 2});
    bench->engine.burst_bytes_max = (size_t)1 << 33;
    status = run_burst(bench, &err);
    if (status != PAWL_OK) {
        fprintf(stderr, "bench-javascript: %s\n", err.code ? err.msg : pawl_error_text(status));
        bench->failed = true;
        if (bench->crowd) /* nobody is to wait for this one */
            (void)atomic_fetch_add(&bench->crowd->ready, bench->crowd->count);
    }
    pawl__engine_release(&bench->engine);
}

/* ---- threads ----------------------------------------------------------------------------- */

/* Evaluations per second of all threads together; 0 when something failed. */
static double run_threads(const struct bench *like, const struct measure *m, unsigned count,
                          double *thread_us)
{
    struct crowd crowd = {.measure = m, .count = count};
    struct bench benches[THREADS_MAX];
    struct pawl_thread *threads[THREADS_MAX];
    unsigned started = 0;
    int64_t begun_ns = INT64_MAX;
    int64_t ended_ns = 0;
    bool failed;

    for (unsigned i = 0; i < count; i++) {
        benches[i] = (struct bench){.env = like->env, .js = like->js, .crowd = &crowd};
        if (pawl_thread_start(like->env, "bench", run, &benches[i], &threads[i], NULL) != PAWL_OK)
            break;
        started++;
    }
    failed = started < count;
    if (failed)
        (void)atomic_fetch_add(&crowd.ready, count);
    *thread_us = 0;
    for (unsigned i = 0; i < started; i++) {
        pawl_thread_join(like->env, threads[i]);
        failed = failed || benches[i].failed;
        begun_ns = benches[i].begun_ns < begun_ns ? benches[i].begun_ns : begun_ns;
        ended_ns = benches[i].ended_ns > ended_ns ? benches[i].ended_ns : ended_ns;
        *thread_us += benches[i].thread_us / count;
    }
    return failed ? 0 : (double)count * m->rounds * 1e9 / (double)(ended_ns - begun_ns);
}

static bool print_threads(const struct bench *like)
{
    bool failed = false;

    printf("\n%-28s %12s %12s %7s %14s\n", "by the clock, per second", "1 thread", "2 threads",
           "ratio", "processor us");
    for (size_t i = 0; i < sizeof shared_measures / sizeof *shared_measures; i++) {
        const struct measure *m = &measures[shared_measures[i]];
        double best[THREADS_MAX + 1] = {0};
        double us[THREADS_MAX + 1] = {0};

        for (unsigned part = 0; part < 3; part++) {
            for (unsigned count = 1; count <= THREADS_MAX; count++) {
                double each_us;
                double rate = run_threads(like, m, count, &each_us);

                failed = failed || rate <= 0;
                best[count] = rate > best[count] ? rate : best[count];
                us[count] = part == 0 || each_us < us[count] ? each_us : us[count];
            }
        }
        printf("%-28s %12.0f %12.0f %7.2f %6.2f -> %.2f\n", m->name, best[1], best[2],
               best[2] / best[1], us[1], us[2]);
    }
    return !failed;
}

/* ---- node -------------------------------------------------------------------------------- */

/* As a JavaScript string that the shell leaves alone inside single quotes. */
static void write_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '\'')
            fputs("\\u0027", out);
        else
            fprintf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    }
    fputc('"', out);
}

static void write_node_command(FILE *out)
{
    fputs("node -e 'const store = { N: \"1\", Name: \"\\\"Ada\\\"\", Order: ", out);
    write_quoted(out, ORDER);
    fputs(" }; const getVariable = n => JSON.parse(store[n]);"
          "const args = [() => getVariable(\"N\"), () => getVariable(\"Name\"),"
          " () => getVariable(\"Order\"), getVariable]; let sum = 0;"
          "const used = () => { const u = process.cpuUsage(); return u.user + u.system; };"
          "for (const [body, rounds] of [",
          out);
    for (size_t i = 0; i < MEASURES; i++) {
        if (!measures[i].node)
            continue;
        fputc('[', out);
        write_quoted(out, measures[i].node);
        fprintf(out, ", %u],", measures[i].rounds / PARTS);
    }
    fprintf(out,
            "]) { const f = new Function(\"getN\", \"getName\", \"getOrder\", \"getVariable\","
            " body); let best = Infinity;"
            "for (let part = 0; part < %u; part++) { const begun = used();"
            "for (let i = 0; i < rounds; i++) sum += JSON.stringify(f(...args)).length;"
            "best = Math.min(best, (used() - begun) / rounds); }"
            "console.log(best); } if (!sum) throw sum;' 2>/dev/null",
            PARTS);
}

/* What node needs for each measure; leaves what it does not tell. */
static void ask_node(double *us)
{
    char *command = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&command, &size);
    FILE *answers = NULL;
    bool answered = true;

    if (text) {
        write_node_command(text);
        answers = fclose(text) == 0 ? popen(command, "r") : NULL;
    }
    for (size_t i = 0; answers && answered && i < MEASURES; i++)
        answered = !measures[i].node || fscanf(answers, "%lf", &us[i]) == 1;
    if (!answers || pclose(answers) != 0 || !answered)
        printf("node: not on the PATH, or it failed; its columns stay empty\n");
    free(command);
}

int main(void)
{
    double node_us[MEASURES] = {0};
    struct bench bench = {.node_us = node_us};
    struct pawl_error err = PAWL_ERROR_INIT;
    int status = pawl_system_env_open(&bench.env, &err);

    if (status == PAWL_OK)
        status = pawl__javascript_open(bench.env, NULL, &bench.js, &err);
    if (status != PAWL_OK) {
        fprintf(stderr, "bench-javascript: %s\n", err.msg);
        pawl_system_env_close(bench.env);
        return 1;
    }
    ask_node(node_us);
    run(&bench);
    bench.failed = !print_threads(&bench) || bench.failed;
    pawl__javascript_close(bench.js);
    pawl_system_env_close(bench.env);
    return bench.failed;
}
