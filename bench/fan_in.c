/* SPDX-License-Identifier: Apache-2.0 */
/*
 * W3: one instance that waits for an event SIGNALS times, one after the other, gets as many, each
 * with a number, from several senders at once. Its journal has the numbers; every one must be there
 * once, and nothing may be left. Each is also written as a line: that is an effect, which comes at
 * least once. A line that came twice, because the node lost its lease, is no event that did.
 */
#include "runtime/node/pool.h"
#include "workloads.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define SIGNALS 1000u
#define POOL_WORKERS 16u
#define LOOK_NS INT64_C(2000000)
#define WAIT_SECONDS_MAX 120.0

#define INPUT(type, kind, value)                                                                   \
    "{'typeName':'" type "','expression':{'type':'" kind "','value':" value "}}"
/* SIGNALS is the loop's end. */
#define W3                                                                                         \
    "{'definitionId':'w3','id':'w3:1','version':1,'name':'w3','variables':[{'id':'v','name':'V',"  \
    "'typeName':'Object','storageDriverTypeName':'WorkflowInstanceStorageDriver'}],"               \
    "'root':{'id':'for','type':'Elsa.For','start':" INPUT(                                         \
        "Int32", "Literal",                                                                        \
        "1") ",'end':" INPUT("Int32", "Literal",                                                   \
                             "1000") ",'body':{'id':'seq','type':'Elsa.Sequence','activities':["   \
                                     "{'id':'wait','type':'Elsa.Event','eventName':" INPUT(        \
                                         "String", "Literal",                                      \
                                         "'signal'") ",'result':{'typeName':'Object','"            \
                                                     "memoryReference':{'id':'v'}}},"              \
                                                     "{'id':'write','type':'Elsa.WriteLine','"     \
                                                     "text':" INPUT("Object", "Variable",          \
                                                                    "{'id':'v'}") "}]}}}"

struct fan_in {
    struct bench_node *node;
    char instance_id[PAWL_INSTANCE_ID_MAX + 1];
    atomic_uint next;
    atomic_uint seen[SIGNALS];
    double sent_us[SIGNALS]; /* how long it took to be accepted */
};

void workload_fan_in_publish(struct bench_node *node)
{
    bench_publish(node, W3);
}

static void note_line(void *ctx, struct pawl_str text)
{
    struct fan_in *f = ctx;
    char digits[16];
    unsigned long number;

    (void)snprintf(digits, sizeof digits, "%.*s", PAWL_STR_ARG(text));
    number = strtoul(digits, NULL, 10);
    if (number < 1 || number > SIGNALS)
        bench_fail("W3: a signal with another number", digits);
    atomic_fetch_add(&f->seen[number - 1], 1);
}

static void send_all(void *arg)
{
    struct fan_in *f = arg;
    const struct pawl_stimulus to = {.instance_id = pawl__str(f->instance_id)};
    unsigned number;

    while ((number = atomic_fetch_add(&f->next, 1)) < SIGNALS) {
        struct pawl_json payload = pawl__json_int((int64_t)number + 1);
        struct pawl_error err = PAWL_ERROR_INIT;
        double begin = bench_seconds();

        bench_need(pawl__runtime_send_event(f->node->runtime, pawl__str("signal"), &payload, &to,
                                            NULL, bench_later(f->node->env), &err),
                   &err, "signal");
        f->sent_us[number] = (bench_seconds() - begin) * 1e6;
    }
}

static bool has_finished(struct fan_in *f)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_instance_row row;
    struct pawl_arena arena;
    bool finished;

    pawl__arena_init(&arena, &f->node->env->alloc, (size_t)64 << 20);
    bench_need(pawl__runtime_show(f->node->runtime, pawl__str(f->instance_id), &arena, &row, NULL,
                                  bench_later(f->node->env), &err),
               &err, "show");
    finished = pawl__str_is(row.status, "Finished");
    pawl__arena_release(&arena);
    return finished;
}

static void await_end(struct fan_in *f, double begin)
{
    struct pawl_env *env = f->node->env;

    while (!has_finished(f)) {
        if (bench_seconds() - begin > WAIT_SECONDS_MAX)
            bench_fail("W3", "the instance did not finish: signals were lost");
        bench_need(pawl_env_sleep_until(env, pawl_env_monotonic_ns(env) + LOOK_NS), NULL, "sleep");
    }
}

/* Stimuli that are still there; the looks that were put off (RECHECK) end by themselves. */
static void check_nothing_left(struct fan_in *f)
{
    static const char *const tables[] = {"stimuli", "dead letters"};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_rows rows = {0};
    struct pawl_arena arena;

    pawl__arena_init(&arena, &f->node->env->alloc, (size_t)64 << 20);
    for (int i = 0; i < 2; i++) {
        enum pawl_table table = i == 0 ? PAWL_TABLE_WORK : PAWL_TABLE_DEAD_LETTERS;
        const struct pawl_condition condition = {.column = pawl_table_column(table, "kind"),
                                                 .value = {.text = pawl__str(PAWL_WORK_STIMULUS)}};
        const struct pawl_query query = {.table = table,
                                         .flags = PAWL_QUERY_COUNT,
                                         .conditions = &condition,
                                         .condition_count = 1};

        bench_need(
            pawl_store_find(f->node->store, &query, &arena, &rows, bench_later(f->node->env), &err),
            &err, "find");
        if (rows.total != 0)
            bench_fail("W3: signals were left over", tables[i]);
    }
    pawl__arena_release(&arena);
}

/* What the event brought that ended this round of the loop. */
static int64_t number_of(const struct pawl_json *record)
{
    const struct pawl_json *outputs = pawl__json_get_text(record, "outputs");
    int64_t number = 0;

    if (!pawl__json_to_int(pawl__json_get_text(outputs, "Result"), &number) || number < 1 ||
        number > SIGNALS)
        bench_fail("W3", "the journal has a signal without a number");
    return number;
}

static void count_taken(struct fan_in *f, unsigned *taken)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_json log, records;
    struct pawl_arena arena;

    pawl__arena_init(&arena, &f->node->env->alloc, (size_t)256 << 20);
    bench_need(pawl__runtime_journal(f->node->runtime, pawl__str(f->instance_id), &arena, &log,
                                     &records, bench_later(f->node->env), &err),
               &err, "journal");
    for (uint32_t i = 0; i < pawl__json_len(&records); i++) {
        const struct pawl_json *record = pawl__json_at(&records, i);

        if (pawl__str_is(pawl__json_str(pawl__json_get_text(record, "activityId")), "wait"))
            taken[number_of(record) - 1]++;
    }
    pawl__arena_release(&arena);
}

static void check_each_once(struct fan_in *f)
{
    unsigned taken[SIGNALS] = {0};

    count_taken(f, taken);
    for (unsigned i = 0; i < SIGNALS; i++) {
        if (taken[i] != 1)
            bench_fail("W3", taken[i] == 0 ? "a signal was lost" : "a signal came twice");
        if (atomic_load(&f->seen[i]) == 0)
            bench_fail("W3", "a line was lost");
    }
}

static void start_instance(struct fan_in *f)
{
    const struct pawl_start what = {.definition_id = pawl__str("w3")};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_outcome outcome;

    bench_need(
        pawl__runtime_start(f->node->runtime, &what, &outcome, bench_later(f->node->env), &err),
        &err, "start");
    (void)snprintf(f->instance_id, sizeof f->instance_id, "%s", outcome.instance_id);
}

void workload_fan_in(struct bench_node *node, unsigned senders, struct bench_rate *out,
                     struct workload_cost *cost)
{
    const struct pawl_pool_options options = {.workers = POOL_WORKERS, .queue = node->queue};
    struct pawl_thread *threads[BENCH_THREADS_MAX];
    struct fan_in *f = calloc(1, sizeof *f);
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_pool *pool = NULL;
    struct pawl_store_status before;
    double begin, cpu;

    if (!f)
        bench_fail("W3", "no memory");
    f->node = node;
    start_instance(f);
    bench_node_listen(node, note_line, f);
    bench_need(pawl__pool_open(node->env, node->runtime, &options, &pool, &err), &err, "pool");
    before = workload_look(node);
    begin = bench_seconds();
    cpu = bench_cpu_seconds();
    for (unsigned i = 0; i < senders; i++)
        bench_need(pawl_thread_start(node->env, "sender", send_all, f, &threads[i], &err), &err,
                   "thread");
    for (unsigned i = 0; i < senders; i++)
        pawl_thread_join(node->env, threads[i]);
    await_end(f, begin);
    *out = (struct bench_rate){.count = SIGNALS, .seconds = bench_seconds() - begin};
    out->per_second = SIGNALS / out->seconds;
    out->cpu_us = (bench_cpu_seconds() - cpu) * 1e6 / SIGNALS;
    workload_tell_cost(node, &before, SIGNALS, 0, cost);
    pawl__pool_close(pool);
    bench_node_listen(node, NULL, NULL);
    out->p50_us = bench_median(f->sent_us, SIGNALS); /* sorts */
    out->p99_us = f->sent_us[SIGNALS * 99 / 100];
    check_each_once(f);
    check_nothing_left(f);
    free(f);
}
