/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients of the simulated cluster: each starts instances, sends events, cancels and deletes, at
 * any node that is up. One who gets no answer, or one that says nothing, asks again with the same
 * key until there is an answer: then it tells the checker what it was told.
 */
#include "sim/cluster_private.h"

#include "base/error.h"

#include <stdio.h>

#define NAP_NS_MAX (INT64_C(5) * SECOND_NS)
#define RETRY_NS_MAX (INT64_C(2) * SECOND_NS)
#define CALL_NS_MIN SECOND_NS
#define CALL_NS_MAX (INT64_C(12) * SECOND_NS)

/* One thing that a client wants, however often it must ask. */
struct wish {
    enum { WISH_START, WISH_SEND, WISH_CANCEL, WISH_DELETE } kind;
    enum flow flow;
    bool single; /* SEND: the event that starts the singleton */
    char key[24];
    const char *instance_id; /* CANCEL, DELETE */
    struct pawl_outcome outcome;
};

static int nap(struct cluster_client *client, int64_t most_ns)
{
    struct cluster *cluster = client->cluster;
    int64_t lot_ns = (int64_t)pawl__sim_lot(&cluster->chance, (uint64_t)most_ns);

    return pawl_env_sleep_until(cluster->users, pawl_env_monotonic_ns(cluster->users) + lot_ns);
}

/* ---- calls ------------------------------------------------------------------------------- */

static int send(struct cluster_node *node, const struct wish *wish, int64_t deadline_ns,
                struct pawl_error *err)
{
    const struct pawl_stimulus stimulus = {.idempotency_key = pawl__str(wish->key)};
    struct pawl_json payload = pawl__json_object();
    struct pawl_arena arena;
    int status;

    pawl__arena_init(&arena, &node->env.base.alloc, ARENA_BYTES_MAX);
    status = pawl__json_set_text(&arena, &payload, "key", pawl__json_string(pawl__str(wish->key)));
    if (status == PAWL_OK)
        status =
            pawl__runtime_send_event(node->runtime, pawl__str(wish->single ? "Single" : "Signal"),
                                     &payload, &stimulus, NULL, deadline_ns, err);
    pawl__arena_release(&arena);
    return status;
}

static int call(struct cluster_node *node, struct wish *wish, int64_t deadline_ns,
                struct pawl_error *err)
{
    const struct pawl_start start = {.definition_id = pawl__str(pawl__flow_id(wish->flow)),
                                     .idempotency_key = pawl__str(wish->key)};

    switch (wish->kind) {
    case WISH_START:
        return pawl__runtime_start(node->runtime, &start, &wish->outcome, deadline_ns, err);
    case WISH_SEND:
        return send(node, wish, deadline_ns, err);
    case WISH_CANCEL:
        return pawl__runtime_cancel(node->runtime, pawl__str(wish->instance_id), deadline_ns, err);
    case WISH_DELETE:
    default:
        return pawl__runtime_delete(node->runtime, pawl__str(wish->instance_id), deadline_ns, err);
    }
}

static struct cluster_node *pick_node(struct cluster *cluster)
{
    uint32_t from = (uint32_t)pawl__sim_lot(&cluster->chance, cluster->options.nodes);

    for (uint32_t i = 0; i < cluster->options.nodes; i++) {
        struct cluster_node *node = &cluster->nodes[(from + i) % cluster->options.nodes];

        if (node->is_up)
            return node;
    }
    return NULL;
}

/* Whether to ask again. What is there already and what is gone already are answers. */
static bool is_answer(int status)
{
    enum pawl_error_class class = pawl_error_class(status);

    return status != PAWL_ESTOPPED && status != PAWL_ECONFLICT && class != PAWL_CLASS_TRANSIENT &&
           class != PAWL_CLASS_UNKNOWN;
}

/* PAWL_ESTOPPED: the run is over. */
static int ask(struct cluster_client *client, struct wish *wish, struct pawl_error *err)
{
    struct cluster *cluster = client->cluster;
    int status = PAWL_EUNAVAILABLE;

    for (bool again = false; !is_answer(status); again = true) {
        struct cluster_node *node;
        int64_t within_ns =
            CALL_NS_MIN + (int64_t)pawl__sim_lot(&cluster->chance, (uint64_t)CALL_NS_MAX);

        if (again && nap(client, RETRY_NS_MAX) != PAWL_OK)
            return PAWL_ESTOPPED;
        if (again && cluster->over)
            return PAWL_ESTOPPED;
        node = pick_node(cluster);
        if (!node)
            continue;
        cluster->report->retried += again;
        node->callers++;
        status = call(node, wish, pawl_env_monotonic_ns(&node->env.base) + within_ns, err);
        node->callers--;
        if (cluster->options.say)
            pawl__cluster_say(&cluster->checker, "client", "%u asks %s (%d %s): %s", client->number,
                              node->name, (int)wish->kind, wish->key,
                              status == PAWL_OK ? "done" : err->msg);
    }
    return status;
}

/* ---- wishes ------------------------------------------------------------------------------ */

static bool is_cancelable(enum flow flow)
{
    return flow == FLOW_COUNTER || flow == FLOW_DELAY || flow == FLOW_PARENT;
}

static void was_started(struct cluster_client *client, const struct wish *wish)
{
    pawl__cluster_started(&client->cluster->checker, wish->key, wish->outcome.instance_id);
    client->cluster->report->started++;
    if (is_cancelable(wish->flow) && client->instance_count < CLIENT_INSTANCES_MAX)
        memcpy(client->instances[client->instance_count++], wish->outcome.instance_id,
               sizeof wish->outcome.instance_id);
}

static void grant(struct cluster_client *client, const struct wish *wish, int status,
                  const struct pawl_error *err)
{
    struct cluster_checker *checker = &client->cluster->checker;

    if (status == PAWL_ENOMEM) {
        pawl__cluster_fail(client->cluster, status, err);
    } else if (status != PAWL_OK && !(status == PAWL_ENOTFOUND && wish->instance_id)) {
        pawl__cluster_violation(checker, "a client was refused: %s", err->msg);
    } else if (wish->kind == WISH_START) {
        was_started(client, wish);
    } else if (wish->kind == WISH_SEND) {
        pawl__cluster_accepted(checker, wish->key);
        client->cluster->report->sent++;
    } else if (wish->kind == WISH_CANCEL) {
        client->cluster->report->cancelled++;
    } else {
        pawl__cluster_deleted(checker, wish->instance_id);
        client->cluster->report->deleted++;
    }
}

static void make_wish(struct cluster_client *client, struct wish *wish)
{
    static const enum flow starts[] = {FLOW_COUNTER, FLOW_COUNTER,   FLOW_DELAY, FLOW_PARENT,
                                       FLOW_INLINE,  FLOW_PUBLISHER, FLOW_STEPS};
    struct chance *chance = &client->cluster->chance;
    uint64_t lot = pawl__sim_lot(chance, 100);

    *wish = (struct wish){.kind = WISH_SEND};
    (void)snprintf(wish->key, sizeof wish->key, "k%u-%u", client->number, client->calls++);
    if (client->calls == 1 || lot < 38) {
        wish->kind = WISH_START;
        wish->flow = client->calls == 1
                         ? FLOW_COUNTER
                         : starts[pawl__sim_lot(chance, sizeof starts / sizeof starts[0])];
    } else if (lot < 88 || client->instance_count == 0) {
        wish->single = lot % 6 == 0;
    } else {
        wish->kind = lot < 94 ? WISH_CANCEL : WISH_DELETE;
        wish->instance_id = client->instances[pawl__sim_lot(chance, client->instance_count)];
    }
}

void pawl__cluster_client_run(void *arg)
{
    struct cluster_client *client = arg;
    struct wish wish;
    int status = PAWL_OK;

    while (status != PAWL_ESTOPPED && !pawl__cluster_is_quiet(client->cluster) &&
           nap(client, NAP_NS_MAX) == PAWL_OK) {
        struct pawl_error err = PAWL_ERROR_INIT;

        make_wish(client, &wish);
        status = ask(client, &wish, &err);
        if (status != PAWL_ESTOPPED)
            grant(client, &wish, status, &err);
    }
}
