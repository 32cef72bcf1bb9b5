/* SPDX-License-Identifier: Apache-2.0 */
/* See workloads.h. */
#include "workloads.h"

#include "runtime/commit/committer.h"
#include "runtime/node/pool.h"
#include "watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATE_BYTES 1024
#define POOL_WORKERS 16u
#define RESUMES_MAX 20000u
/* Not the incarnation of a node: nobody but the measured committer has to do with these. */
#define OWNER INT64_C(4611686018427387904)

#define TEXT(value) "{'typeName':'String','expression':{'type':'Literal','value':'" value "'}}"
#define SET(number)                                                                                \
    "{'id':'set" number "','type':'Elsa.SetVariable','variable':{'id':'v','name':'V'},"            \
    "'value':" TEXT("value " number) "}"
#define W1(id, options)                                                                            \
    "{'definitionId':'" id "','id':'" id ":1','version':1,'name':'" id "'," options                \
    "'variables':[{'id':'v','name':'V','typeName':'String',"                                       \
    "'storageDriverTypeName':'WorkflowInstanceStorageDriver'}],"                                   \
    "'root':{'id':'seq','type':'Elsa.Sequence','activities':[" SET("1") "," SET("2") "," SET(      \
        "3") "]}}"
#define W2                                                                                         \
    "{'definitionId':'w2','id':'w2:1','version':1,'name':'w2',"                                    \
    "'root':{'id':'seq','type':'Elsa.Sequence','activities':["                                     \
    "{'id':'wait','type':'Elsa.Event','eventName':" TEXT("go") "}]}}"

void workloads_publish(struct bench_node *node)
{
    bench_publish(node, W1("w1", ""));
    bench_publish(node, W1("w1s", "'options':{'commitStrategyName':'ActivityExecuted'},"));
    bench_publish(node, W2);
    workload_fan_in_publish(node);
}

/* ---- what it costs ------------------------------------------------------------------------- */

struct pawl_store_status workload_look(struct bench_node *node)
{
    struct pawl_store_status status;
    struct pawl_error err = PAWL_ERROR_INIT;

    bench_need(pawl_store_status(node->store, &status, bench_later(node->env), &err), &err,
               "status");
    return status;
}

void workload_tell_cost(struct bench_node *node, const struct pawl_store_status *before,
                        uint64_t count, double commits, struct workload_cost *cost)
{
    struct pawl_store_status after = workload_look(node);
    double repetitions = count ? (double)count : 1;
    double syncs = (double)(after.syncs - before->syncs);

    cost->commits = commits / repetitions;
    cost->syncs = syncs / repetitions;
    cost->folded = syncs > 0 ? commits / syncs : 0;
    cost->round_trips = (double)(after.round_trips - before->round_trips) / repetitions;
}

/* ---- commits ------------------------------------------------------------------------------- */

struct committing {
    struct bench_node *node;
    struct pawl_committer *committer;
    struct pawl_instance_row rows[BENCH_THREADS_MAX];
    char ids[BENCH_THREADS_MAX][40];
    char state[STATE_BYTES];
};

static void commit(struct committing *c, enum pawl_commit_kind kind, unsigned thread)
{
    struct pawl_commit what = {.kind = kind, .instance = &c->rows[thread]};
    struct pawl_error err = PAWL_ERROR_INIT;

    bench_need(pawl__committer_commit(c->committer, &what, bench_later(c->node->env), &err), &err,
               "commit");
}

static void advance(void *ctx, unsigned thread, uint64_t round)
{
    struct committing *c = ctx;

    c->rows[thread].updated_us += 1000;
    commit(c, PAWL_COMMIT_ADVANCE, thread);
    c->rows[thread].revision++;
    (void)round;
}

void workload_commits(struct bench_node *node, unsigned threads, uint32_t committers,
                      double seconds, struct bench_rate *out, struct workload_cost *cost)
{
    const struct pawl_committer_options options = {.threads = committers, .leads = true};
    struct committing c = {.node = node};
    struct pawl_store_status before;
    struct pawl_error err = PAWL_ERROR_INIT;

    memset(c.state, 'x', sizeof c.state);
    bench_need(pawl__committer_new(node->env, node->store, &options, &c.committer, &err), &err,
               "committer");
    before = workload_look(node);
    for (unsigned i = 0; i < threads; i++) {
        (void)snprintf(c.ids[i], sizeof c.ids[i], "committed-%u", i);
        c.rows[i] = (struct pawl_instance_row){
            .id = pawl__str(c.ids[i]),
            .definition_id = pawl__str("w1"),
            .version_id = pawl__str("w1:1"),
            .status = pawl__str("Running"),
            .sub_status = pawl__str("Executing"),
            .created_us = before.now_us,
            .updated_us = before.now_us,
            .owner = OWNER,
            .fence = 1,
            .revision = 1,
            .state = pawl__str_make(c.state, sizeof c.state),
        };
        commit(&c, PAWL_COMMIT_CREATE, i);
    }
    before = workload_look(node);
    bench_repeat(node->env, threads, seconds, advance, &c, out);
    workload_tell_cost(node, &before, out->count, (double)out->count, cost);
    for (unsigned i = 0; i < threads; i++)
        commit(&c, PAWL_COMMIT_DELETE, i);
    pawl__committer_free(c.committer);
}

/* ---- W1 ------------------------------------------------------------------------------------ */

struct starting {
    struct bench_node *node;
    struct pawl_str definition_id;
};

static struct pawl_outcome start(struct bench_node *node, struct pawl_str definition_id,
                                 enum pawl_sub_status expected)
{
    const struct pawl_start what = {.definition_id = definition_id};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_outcome outcome;

    bench_need(pawl__runtime_start(node->runtime, &what, &outcome, bench_later(node->env), &err),
               &err, "start");
    if (outcome.sub_status != expected)
        bench_fail("start", "the instance did not end as it should");
    return outcome;
}

static void start_one(void *ctx, unsigned thread, uint64_t round)
{
    struct starting *s = ctx;

    (void)thread;
    (void)round;
    (void)start(s->node, s->definition_id, PAWL_SUB_FINISHED);
}

void workload_start(struct bench_node *node, const char *definition_id, unsigned threads,
                    double seconds, struct bench_rate *out, struct workload_cost *cost)
{
    struct starting s = {node, pawl__str(definition_id)};
    struct pawl_store_status before = workload_look(node);

    bench_repeat(node->env, threads, seconds, start_one, &s, out);
    workload_tell_cost(node, &before, out->count, (double)out->count, cost);
}

/* ---- W2 ------------------------------------------------------------------------------------ */

struct signalling {
    struct bench_node *node;
    struct pawl_outcome started[BENCH_THREADS_MAX];
    double *resumes[BENCH_THREADS_MAX]; /* from the event sent to the end, in us */
    size_t resume_counts[BENCH_THREADS_MAX];
    uint64_t looks; /* for work, by the one thread */
};

static void send(struct bench_node *node, const char *instance_id)
{
    const struct pawl_stimulus to = {.instance_id = pawl__str(instance_id)};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_sent sent;

    bench_need(pawl__runtime_send_event(node->runtime, pawl__str("go"), NULL, &to, &sent,
                                        bench_later(node->env), &err),
               &err, "event");
    if (sent.resumed != 1)
        bench_fail("event", "it met no bookmark, or several");
}

static void cycle_alone(void *ctx, unsigned thread, uint64_t round)
{
    struct signalling *s = ctx;
    struct pawl_outcome outcome = start(s->node, pawl__str("w2"), PAWL_SUB_SUSPENDED);

    (void)thread;
    (void)round;
    send(s->node, outcome.instance_id);
    s->looks += bench_work_for_event(s->node);
}

void workload_signal_alone(struct bench_node *node, double seconds, struct bench_rate *out,
                           struct workload_cost *cost)
{
    struct signalling s = {.node = node};
    struct pawl_store_status before = workload_look(node);

    bench_repeat(node->env, 1, seconds, cycle_alone, &s, out);
    workload_tell_cost(node, &before, out->count, 0, cost);
    cost->looks = (double)s.looks / (double)out->count;
}

static void cycle(void *ctx, unsigned thread, uint64_t round)
{
    struct signalling *s = ctx;
    double begin;

    (void)round;
    s->started[thread] = start(s->node, pawl__str("w2"), PAWL_SUB_SUSPENDED);
    watch_expect(s->node->store, thread, pawl__str(s->started[thread].instance_id));
    begin = bench_seconds();
    send(s->node, s->started[thread].instance_id);
    watch_await(s->node->store, thread, bench_later(s->node->env));
    if (s->resume_counts[thread] < RESUMES_MAX)
        s->resumes[thread][s->resume_counts[thread]++] = (bench_seconds() - begin) * 1e6;
}

/* p50 and p99 of the resumes of all threads. */
static void tell_resumes(const struct signalling *s, unsigned threads, struct bench_rate *out)
{
    size_t total = 0, at = 0;
    double *all;

    for (unsigned i = 0; i < threads; i++)
        total += s->resume_counts[i];
    all = calloc(total + 1, sizeof *all);
    if (!all)
        bench_fail("W2", "no memory");
    for (unsigned i = 0; i < threads; i++) {
        memcpy(all + at, s->resumes[i], s->resume_counts[i] * sizeof *all);
        at += s->resume_counts[i];
    }
    out->p50_us = bench_median(all, total); /* sorts */
    out->p99_us = total > 0 ? all[total * 99 / 100] : 0;
    free(all);
}

void workload_signal(struct bench_node *node, unsigned threads, double seconds,
                     struct bench_rate *out, struct workload_cost *cost)
{
    const struct pawl_pool_options options = {.workers = POOL_WORKERS, .queue = node->queue};
    struct signalling *s = calloc(1, sizeof *s);
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_pool *pool = NULL;
    struct pawl_store_status before;

    if (!s)
        bench_fail("W2", "no memory");
    s->node = node;
    for (unsigned i = 0; i < threads; i++) {
        s->resumes[i] = calloc(RESUMES_MAX, sizeof(double));
        if (!s->resumes[i])
            bench_fail("W2", "no memory");
    }
    bench_need(pawl__pool_open(node->env, node->runtime, &options, &pool, &err), &err, "pool");
    before = workload_look(node);
    bench_repeat(node->env, threads, seconds, cycle, s, out);
    workload_tell_cost(node, &before, out->count, 0, cost);
    pawl__pool_close(pool);
    tell_resumes(s, threads, out);
    for (unsigned i = 0; i < threads; i++)
        free(s->resumes[i]);
    free(s);
}
