/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes that are processes of their own, `pawl worker --distributed`, and this program as a client
 * that hands in work and does none of it. They are ended by their ids.
 */
#include "distributed.h"
#include "os/program.h"
#include "stores/stores.h"
#include "workloads.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define NODES_MAX 3u
#define ROUNDS_MAX 31u
#define CLIENTS 16u
#define LOOK_NS INT64_C(2000000)
#define WAIT_SECONDS_MAX 120.0
/* A kill is noticed when the lease is over, and a look comes now and then. */
#define TAKEOVER_MAX 1.5

/* Takes steps, each a commit, for longer than anybody waits. */
#define LONG                                                                                       \
    "{'definitionId':'long','id':'long:1','version':1,'name':'long',"                              \
    "'options':{'commitStrategyName':'ActivityExecuted'},"                                         \
    "'variables':[{'id':'v','name':'V','typeName':'String',"                                       \
    "'storageDriverTypeName':'WorkflowInstanceStorageDriver'}],"                                   \
    "'root':{'id':'for','type':'Elsa.For','start':{'typeName':'Int32','expression':"               \
    "{'type':'Literal','value':1}},'end':{'typeName':'Int32','expression':"                        \
    "{'type':'Literal','value':1000000}},'body':{'id':'set','type':'Elsa.SetVariable',"            \
    "'variable':{'id':'v','name':'V'},'value':{'typeName':'String','expression':"                  \
    "{'type':'Literal','value':'x'}}}}}"

struct node {
    char id[32];
    struct pawl_program process;
    int64_t incarnation;
};

struct crowd {
    struct ground *ground;
    struct bench_node client;
    unsigned lease_ms;
    const char *lock; /* NULL: the store's own */
    unsigned partitions;
};

/* ---- looking ------------------------------------------------------------------------------- */

static void pause_for(struct pawl_env *env, int64_t ns)
{
    bench_need(pawl_env_sleep_until(env, pawl_env_monotonic_ns(env) + ns), NULL, "sleep");
}

/* Its incarnation; 0: it has not joined. */
static int64_t incarnation_of(struct crowd *crowd, const char *id)
{
    const struct pawl_condition condition = {.column = pawl_table_column(PAWL_TABLE_NODES, "id"),
                                             .value = {.text = pawl__str(id)}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_NODES, .conditions = &condition, .condition_count = 1, .limit = 1};
    struct pawl_error err = PAWL_ERROR_INIT;
    const struct pawl_node_row *row;
    struct pawl_rows rows = {0};
    struct pawl_arena arena;
    int64_t incarnation;

    pawl__arena_init(&arena, &crowd->client.env->alloc, (size_t)1 << 20);
    bench_need(pawl_store_find(crowd->client.store, &query, &arena, &rows,
                               bench_later(crowd->client.env), &err),
               &err, "find");
    row = rows.rows;
    incarnation = rows.count == 1 ? row->incarnation : 0;
    pawl__arena_release(&arena);
    return incarnation;
}

static uint64_t running(struct crowd *crowd, const char *definition_id)
{
    const struct pawl_condition conditions[] = {
        {.column = pawl_table_column(PAWL_TABLE_INSTANCES, "definition_id"),
         .value = {.text = pawl__str(definition_id)}},
        {.column = pawl_table_column(PAWL_TABLE_INSTANCES, "status"),
         .value = {.text = pawl__str("Running")}},
    };
    const struct pawl_query query = {.table = PAWL_TABLE_INSTANCES,
                                     .flags = PAWL_QUERY_COUNT,
                                     .conditions = conditions,
                                     .condition_count = 2};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_rows rows = {0};
    struct pawl_arena arena;

    pawl__arena_init(&arena, &crowd->client.env->alloc, (size_t)1 << 20);
    bench_need(pawl_store_find(crowd->client.store, &query, &arena, &rows,
                               bench_later(crowd->client.env), &err),
               &err, "find");
    pawl__arena_release(&arena);
    return rows.total;
}

static void await_none_running(struct crowd *crowd, const char *definition_id)
{
    double begin = bench_seconds();

    while (running(crowd, definition_id) > 0) {
        if (bench_seconds() - begin > WAIT_SECONDS_MAX)
            bench_fail(definition_id, "instances did not end");
        pause_for(crowd->client.env, 5 * LOOK_NS);
    }
}

/* ---- processes ----------------------------------------------------------------------------- */

static void find_program(char *out, size_t size)
{
    char self[300], *slash;
    struct pawl_error err = PAWL_ERROR_INIT;

    bench_need(pawl__program_own_path(self, sizeof self, &err), &err, "path");
    slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    if (snprintf(out, size, "%s/../pawl", self) >= (int)size)
        bench_fail(self, "too long");
}

static void start_node(struct crowd *crowd, struct node *node)
{
    char program[400], id[64], lease[64], partitions[64];
    const char *argv[20] = {program, "worker", "--store", crowd->ground->store, "--set",        id,
                            "--set", lease,    "--set",   partitions,           "--distributed"};
    size_t count = 11;
    struct pawl_error err = PAWL_ERROR_INIT;
    double begin = bench_seconds();

    find_program(program, sizeof program);
    (void)snprintf(node->id, sizeof node->id, "bench-%u", crowd->ground->serial++);
    (void)snprintf(id, sizeof id, "node.id=%s", node->id);
    (void)snprintf(lease, sizeof lease, "node.lease=%ums", crowd->lease_ms);
    (void)snprintf(partitions, sizeof partitions, "queue.partitions=%u", crowd->partitions);
    if (crowd->lock) {
        argv[count++] = "--lock";
        argv[count++] = crowd->lock;
    }
    argv[count] = NULL;
    bench_need(pawl__program_start(argv, NULL, &node->process, &err), &err, program);
    while ((node->incarnation = incarnation_of(crowd, node->id)) == 0) {
        int code = 0;

        if (pawl__program_has_ended(&node->process, &code) ||
            bench_seconds() - begin > WAIT_SECONDS_MAX)
            bench_fail(program, "did not join the cluster; is it built?");
        pause_for(crowd->client.env, LOOK_NS);
    }
}

static void end_node(struct crowd *crowd, struct node *node, enum pawl_program_signal how)
{
    pawl__program_signal(&node->process, how);
    while (!pawl__program_has_ended(&node->process, NULL))
        pause_for(crowd->client.env, LOOK_NS);
}

static void crowd_open(struct crowd *crowd, struct ground *ground)
{
    const struct pawl_store_options options = {.flags = PAWL_STORE_OPEN_CREATE};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_store *store = NULL;

    *crowd = (struct crowd){.ground = ground, .lease_ms = 10000, .partitions = 1};
    bench_need(
        pawl__postgres_store_open(ground->env, pawl__str(ground->store), &options, &store, &err),
        &err, "store");
    bench_node_open(&crowd->client, ground->env, store, 1);
    workloads_publish(&crowd->client);
    bench_publish(&crowd->client, LONG);
}

/* ---- throughput ---------------------------------------------------------------------------- */

struct handing {
    struct crowd *crowd;
    bool is_event;
    unsigned count;
    atomic_uint next;
    char (*ids)[PAWL_INSTANCE_ID_MAX + 1];
};

static void hand_in_one(struct handing *h, unsigned number)
{
    struct bench_node *client = &h->crowd->client;
    const struct pawl_start what = {.definition_id = pawl__str("w1")};
    const struct pawl_stimulus to = {.instance_id = pawl__str(h->ids[number])};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_outcome outcome;
    struct pawl_sent sent;

    if (!h->is_event) {
        bench_need(
            pawl__runtime_create(client->runtime, &what, &outcome, bench_later(client->env), &err),
            &err, "create");
        return;
    }
    bench_need(pawl__runtime_send_event(client->runtime, pawl__str("go"), NULL, &to, &sent,
                                        bench_later(client->env), &err),
               &err, "event");
    if (sent.resumed != 1)
        bench_fail("event", "it met no bookmark, or several");
}

static void hand_in(void *arg)
{
    struct handing *h = arg;
    unsigned number;

    while ((number = atomic_fetch_add(&h->next, 1)) < h->count)
        hand_in_one(h, number);
}

static void start_waiting(void *arg)
{
    struct handing *h = arg;
    struct bench_node *client = &h->crowd->client;
    const struct pawl_start what = {.definition_id = pawl__str("w2")};
    unsigned number;

    while ((number = atomic_fetch_add(&h->next, 1)) < h->count) {
        struct pawl_error err = PAWL_ERROR_INIT;
        struct pawl_outcome outcome;

        bench_need(
            pawl__runtime_start(client->runtime, &what, &outcome, bench_later(client->env), &err),
            &err, "start");
        (void)snprintf(h->ids[number], sizeof h->ids[number], "%s", outcome.instance_id);
    }
}

static void by_all(struct handing *h, void (*what)(void *arg))
{
    struct pawl_env *env = h->crowd->client.env;
    struct pawl_thread *threads[CLIENTS];
    struct pawl_error err = PAWL_ERROR_INIT;

    atomic_store(&h->next, 0);
    for (unsigned i = 0; i < CLIENTS; i++)
        bench_need(pawl_thread_start(env, "client", what, h, &threads[i], &err), &err, "thread");
    for (unsigned i = 0; i < CLIENTS; i++)
        pawl_thread_join(env, threads[i]);
}

/* From the first that is handed in to the end of the last, per second. */
static double hand_in_all(struct crowd *crowd, bool is_event, unsigned count)
{
    struct handing h = {.crowd = crowd, .is_event = is_event, .count = count};
    double begin;

    h.ids = calloc(count, sizeof *h.ids);
    if (!h.ids)
        bench_fail("ids", "no memory");
    if (is_event)
        by_all(&h, start_waiting);
    begin = bench_seconds();
    by_all(&h, hand_in);
    await_none_running(crowd, is_event ? "w2" : "w1");
    free(h.ids);
    return count / (bench_seconds() - begin);
}

static void show_throughput(struct crowd *crowd, double rates[2][NODES_MAX][ROUNDS_MAX],
                            unsigned rounds)
{
    static const char *const names[2] = {"W1", "W2"}, *const keys[2] = {"w1", "w2"};
    FILE *json = crowd->ground->json;

    for (int kind = 0; kind < 2; kind++) {
        double one = 0;

        (void)printf("%s, %2u parts ", names[kind], crowd->partitions);
        (void)fprintf(json, "%s\"%s\": {", kind ? ", " : "", keys[kind]);
        for (unsigned nodes = 1; nodes <= NODES_MAX; nodes++) {
            double best = bench_best(rates[kind][nodes - 1], rounds);
            double middle = bench_median(rates[kind][nodes - 1], rounds);

            one = nodes == 1 ? middle : one;
            (void)printf("  %u: %6.0f %6.0f %5.2f", nodes, best, middle, middle / one);
            (void)fprintf(json, "%s\"n%u\": %.0f", nodes > 1 ? ", " : "", nodes, middle);
        }
        (void)printf("\n");
        (void)fprintf(json, "}");
    }
}

void distributed_throughput(struct ground *ground, unsigned count, unsigned rounds)
{
    static double rates[2][NODES_MAX][ROUNDS_MAX];
    static const unsigned partitions[] = {1, 8};
    struct node nodes[NODES_MAX];
    struct crowd crowd;

    crowd_open(&crowd, ground);
    (void)printf(
        "\n%u handed in by %u threads of a client, PostgreSQL and its locks; per number of "
        "nodes: best and middle per second, times one node\n",
        count, CLIENTS);
    (void)fprintf(ground->json, "\n    \"nodes\": {");
    for (size_t p = 0; p < sizeof partitions / sizeof partitions[0]; p++) {
        crowd.partitions = partitions[p];
        for (unsigned round = 0; round < rounds; round++)
            for (unsigned many = 1; many <= NODES_MAX; many++) {
                for (unsigned i = 0; i < many; i++)
                    start_node(&crowd, &nodes[i]);
                for (int kind = 0; kind < 2; kind++)
                    rates[kind][many - 1][round] = hand_in_all(&crowd, kind == 1, count);
                for (unsigned i = 0; i < many; i++)
                    end_node(&crowd, &nodes[i], PAWL_PROGRAM_TERMINATE);
            }
        (void)fprintf(ground->json, "%s\n      \"partitions_%u\": {", p ? "," : "", partitions[p]);
        show_throughput(&crowd, rates, rounds);
        (void)fprintf(ground->json, "}");
    }
    (void)fprintf(ground->json, "\n    },");
    bench_node_close(&crowd.client);
}

/* ---- takeover ------------------------------------------------------------------------------ */

static int64_t owner_of(struct crowd *crowd, const char *instance_id)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_instance_row row;
    struct pawl_arena arena;

    pawl__arena_init(&arena, &crowd->client.env->alloc, (size_t)16 << 20);
    bench_need(pawl__runtime_show(crowd->client.runtime, pawl__str(instance_id), &arena, &row, NULL,
                                  bench_later(crowd->client.env), &err),
               &err, "show");
    pawl__arena_release(&arena);
    return row.owner;
}

/* Until its owner is one of these; which. */
static unsigned await_owner(struct crowd *crowd, const char *instance_id, const struct node *nodes,
                            unsigned count)
{
    double begin = bench_seconds();

    for (;;) {
        int64_t owner = owner_of(crowd, instance_id);

        for (unsigned i = 0; i < count; i++)
            if (owner == nodes[i].incarnation)
                return i;
        if (bench_seconds() - begin > WAIT_SECONDS_MAX)
            bench_fail(instance_id, "nobody has taken it");
        pause_for(crowd->client.env, LOOK_NS);
    }
}

/* Kills whoever has it, at some moment between two renewals; in leases. */
static double take_over_once(struct crowd *crowd, struct node nodes[2], unsigned number)
{
    struct bench_node *client = &crowd->client;
    const struct pawl_start what = {.definition_id = pawl__str("long")};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_outcome outcome;
    unsigned victim;
    double begin, seconds;

    bench_need(
        pawl__runtime_create(client->runtime, &what, &outcome, bench_later(client->env), &err),
        &err, "create");
    victim = await_owner(crowd, outcome.instance_id, nodes, 2);
    pause_for(client->env, (int64_t)crowd->lease_ms * 1000000 * (number * 5 % 7) / 7);
    begin = bench_seconds();
    end_node(crowd, &nodes[victim], PAWL_PROGRAM_KILL);
    (void)await_owner(crowd, outcome.instance_id, &nodes[!victim], 1);
    seconds = bench_seconds() - begin;
    bench_need(pawl__runtime_cancel(client->runtime, pawl__str(outcome.instance_id),
                                    bench_later(client->env), &err),
               &err, "cancel");
    await_none_running(crowd, "long");
    start_node(crowd, &nodes[victim]);
    return seconds * 1000 / crowd->lease_ms;
}

static bool take_over(struct crowd *crowd, const char *name, const char *key, unsigned kills)
{
    struct node nodes[2];
    double leases[ROUNDS_MAX], middle;

    for (unsigned i = 0; i < 2; i++)
        start_node(crowd, &nodes[i]);
    for (unsigned i = 0; i < kills; i++)
        leases[i] = take_over_once(crowd, nodes, i);
    for (unsigned i = 0; i < 2; i++)
        end_node(crowd, &nodes[i], PAWL_PROGRAM_TERMINATE);
    middle = bench_median(leases, kills); /* sorts */
    (void)printf("%-28s lease %u ms: %.2f %.2f %.2f\n", name, crowd->lease_ms, leases[0], middle,
                 leases[kills - 1]);
    (void)fprintf(crowd->ground->json,
                  "\n      \"%s_%ums\": {\"least\": %.2f, \"middle\": %.2f, \"most\": %.2f}", key,
                  crowd->lease_ms, leases[0], middle, leases[kills - 1]);
    return middle <= TAKEOVER_MAX;
}

bool distributed_takeover(struct ground *ground, unsigned kills)
{
    static const unsigned leases[] = {1000, 2000};
    struct crowd crowd;
    bool met = true;

    crowd_open(&crowd, ground);
    (void)printf("\nfrom kill -9 until another node has the instance, %u times, in leases: least, "
                 "middle, most\n",
                 kills);
    (void)fprintf(ground->json, "\n    \"takeover\": {");
    for (int redis = 0; redis < 2; redis++)
        for (size_t i = 0; i < sizeof leases / sizeof leases[0]; i++) {
            crowd.lease_ms = leases[i];
            crowd.lock = redis ? ground->lock : NULL;
            (void)fprintf(ground->json, "%s", redis || i ? "," : "");
            met &= take_over(&crowd, redis ? "locks of Redis" : "PostgreSQL's own locks",
                             redis ? "redis" : "postgres", kills);
        }
    (void)fprintf(ground->json, "\n    },");
    bench_node_close(&crowd.client);
    return met;
}
