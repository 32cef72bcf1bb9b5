/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients of the simulated cluster: each starts instances, sends events, cancels and deletes, at
 * any node that is up. One who gets no answer, or one that says nothing, asks again with the same
 * key until there is an answer: then it tells the checker what it was told. One without a key asks
 * once and waits for long: without an answer it does not know, but nothing may happen twice.
 */
#include "sim/cluster_private.h"

#include "base/error.h"

#include <stdio.h>

#define NAP_NS_MAX (INT64_C(5) * SECOND_NS)
#define RETRY_NS_MAX (INT64_C(2) * SECOND_NS)
#define CALL_NS_MIN SECOND_NS
#define CALL_NS_MAX (INT64_C(12) * SECOND_NS)

/* Without a key: as long as a program waits that was not told how long. */
#define PLAIN_NS (INT64_C(60) * SECOND_NS)
/* Events that nobody waits for, and orders after them. */
#define FLOOD 120u
#define FLOOD_ORDERS 6u

/* One thing that a client wants, however often it must ask. */
struct wish {
    enum { WISH_START, WISH_SEND, WISH_CANCEL, WISH_DELETE, WISH_RUN } kind;
    enum flow flow;
    const char *event; /* SEND: its name */
    bool plain;        /* asked once, without a key */
    char key[24];
    char correlation_id[24]; /* SEND, START; "": none */
    const char *instance_id; /* CANCEL, DELETE, RUN; SEND: to this one alone; NULL: to all */
    struct pawl_outcome outcome;
    char event_id[PAWL_UUID_HEX_SIZE]; /* SEND: of what reached one waiting instance; "": else */
};

static int nap(struct cluster_client *client, int64_t most_ns)
{
    struct cluster *cluster = client->cluster;
    int64_t lot_ns = (int64_t)pawl__sim_lot(&cluster->chance, (uint64_t)most_ns);

    return pawl_env_sleep_until(cluster->users, pawl_env_monotonic_ns(cluster->users) + lot_ns);
}

/* ---- calls ------------------------------------------------------------------------------- */

/* The row that would resume the one instance that was reached begins with the event's id. */
static void note_event_id(struct wish *wish, const struct pawl_reach *reach)
{
    size_t len = reach->count == 1 && !reach->items[0].is_started
                     ? pawl__str_find(reach->items[0].work_id, '/', 0)
                     : SIZE_MAX;

    wish->event_id[0] = '\0';
    if (len < sizeof wish->event_id) {
        memcpy(wish->event_id, reach->items[0].work_id.ptr, len);
        wish->event_id[len] = '\0';
    }
}

static int send(struct cluster_node *node, struct wish *wish, int64_t deadline_ns,
                struct pawl_error *err)
{
    struct pawl_reach reach = {0};
    const struct pawl_stimulus stimulus = {
        .reach = &reach,
        .idempotency_key = pawl__str(wish->plain ? "" : wish->key),
        .correlation_id = pawl__str(wish->correlation_id),
        .instance_id = pawl__str(wish->instance_id ? wish->instance_id : ""),
    };
    struct pawl_json payload = pawl__json_object();
    struct pawl_arena arena;
    int status;

    pawl__arena_init(&arena, &node->env.base.alloc, ARENA_BYTES_MAX);
    reach.arena = &arena;
    status = pawl__json_set_text(&arena, &payload, "key", pawl__json_string(pawl__str(wish->key)));
    if (status == PAWL_OK)
        status = pawl__runtime_send_event(node->runtime, pawl__str(wish->event), &payload,
                                          &stimulus, NULL, deadline_ns, err);
    if (status == PAWL_OK)
        note_event_id(wish, &reach);
    pawl__arena_release(&arena);
    return status;
}

static int call(struct cluster_node *node, struct wish *wish, int64_t deadline_ns,
                struct pawl_error *err)
{
    const struct pawl_start start = {.definition_id = pawl__str(pawl__flow_id(wish->flow)),
                                     .correlation_id = pawl__str(wish->correlation_id),
                                     .idempotency_key = pawl__str(wish->plain ? "" : wish->key)};
    const struct pawl_run run = {0};

    switch (wish->kind) {
    case WISH_START:
        if (wish->flow == FLOW_LOOP) /* for whoever is free: it would never come back */
            return pawl__runtime_create(node->runtime, &start, &wish->outcome, deadline_ns, err);
        return pawl__runtime_start(node->runtime, &start, &wish->outcome, deadline_ns, err);
    case WISH_SEND:
        return send(node, wish, deadline_ns, err);
    case WISH_CANCEL:
        return pawl__runtime_cancel(node->runtime, pawl__str(wish->instance_id), deadline_ns, err);
    case WISH_RUN:
        return pawl__runtime_run(node->runtime, pawl__str(wish->instance_id), &run, &wish->outcome,
                                 deadline_ns, err);
    case WISH_DELETE:
    default:
        return pawl__runtime_delete(node->runtime, pawl__str(wish->instance_id), deadline_ns, err);
    }
}

struct cluster_node *pawl__cluster_pick_node(struct cluster *cluster)
{
    uint32_t from = (uint32_t)pawl__sim_lot(&cluster->chance, cluster->options.nodes);

    for (uint32_t i = 0; i < cluster->options.nodes; i++) {
        struct cluster_node *node = &cluster->nodes[(from + i) % cluster->options.nodes];

        if (node->is_up)
            return node;
    }
    return NULL;
}

/* Whether to ask again. What is there already and what is gone already are answers; that the store
 * may not be written, or that what it gave could not be read, is none. */
static bool is_answer(const struct wish *wish, int status)
{
    enum pawl_error_class class = pawl_error_class(status);

    /* It is set aside for an operator, or another node goes on with it. */
    if (wish->kind == WISH_RUN && status == PAWL_ECONFLICT)
        return true;
    return status != PAWL_ESTOPPED && status != PAWL_ECONFLICT && status != PAWL_EPERM &&
           status != PAWL_ECORRUPT && status != PAWL_EPARSE && class != PAWL_CLASS_TRANSIENT &&
           class != PAWL_CLASS_UNKNOWN;
}

/* A node that is well does not say that it is ending. */
static void check_stopped(struct cluster *cluster, const struct cluster_node *node,
                          const struct wish *wish, int64_t since_ns, uint64_t faults)
{
    if (node->is_up && node->faults == faults && node->troubled_ns < since_ns - CLUSTER_LEASE_NS &&
        !(cluster->features & PAWL_CLUSTER_NAMESAKES))
        pawl__cluster_violation(
            &cluster->checker, "%s was asked to do %d with %s and said that it is ending",
            node->name, (int)wish->kind, wish->instance_id ? wish->instance_id : wish->key);
}

/* Once. */
static int call_node(struct cluster_client *client, struct cluster_node *node, struct wish *wish,
                     struct pawl_error *err)
{
    struct cluster *cluster = client->cluster;
    int64_t now_ns = pawl_env_monotonic_ns(&node->env.base);
    int64_t within_ns =
        CALL_NS_MIN + (int64_t)pawl__sim_lot(&cluster->chance, (uint64_t)CALL_NS_MAX);
    uint64_t faults = node->faults;
    int status;

    node->callers++;
    status = call(node, wish, now_ns + (wish->plain ? PLAIN_NS : within_ns), err);
    node->callers--;
    if (cluster->options.say)
        pawl__cluster_say(&cluster->checker, "client", "%u asks %s (%d %s%s): %s", client->number,
                          node->name, (int)wish->kind, wish->key, wish->plain ? ", plainly" : "",
                          status == PAWL_OK ? "done" : err->msg);
    if (status == PAWL_ESTOPPED && cluster->stalls_are_told)
        check_stopped(cluster, node, wish, now_ns, faults);
    return status;
}

/* PAWL_ESTOPPED: the run is over. */
static int ask(struct cluster_client *client, struct wish *wish, struct pawl_error *err)
{
    struct cluster *cluster = client->cluster;
    int status = PAWL_EUNAVAILABLE;

    for (bool again = false; !is_answer(wish, status); again = true) {
        struct cluster_node *node;

        if (again && nap(client, RETRY_NS_MAX) != PAWL_OK)
            return PAWL_ESTOPPED;
        if (again && cluster->over)
            return PAWL_ESTOPPED;
        node = pawl__cluster_pick_node(cluster);
        if (!node)
            continue;
        cluster->report->retried += again;
        status = call_node(client, node, wish, err);
    }
    return status;
}

/* Without a key there is no second time. PAWL_EUNKNOWN: it may have happened, or not. */
static int ask_once(struct cluster_client *client, struct wish *wish, struct pawl_error *err)
{
    struct cluster *cluster = client->cluster;
    struct cluster_node *node = pawl__cluster_pick_node(cluster);
    int status;

    if (!node)
        return PAWL_EUNKNOWN;
    cluster->report->keyless++;
    if (wish->kind == WISH_SEND)
        pawl__cluster_sending(&cluster->checker, wish->key, wish->correlation_id[0] != '\0');
    status = call_node(client, node, wish, err);
    if (status == PAWL_OK)
        return PAWL_OK;
    /* Of a node that stops nobody knows. */
    if (wish->kind == WISH_SEND && status != PAWL_ESTOPPED &&
        pawl_error_class(status) != PAWL_CLASS_UNKNOWN)
        pawl__cluster_refused(&cluster->checker, wish->key);
    cluster->report->unsure++;
    return PAWL_EUNKNOWN;
}

/* ---- wishes ------------------------------------------------------------------------------ */

static bool is_cancelable(enum flow flow)
{
    return flow == FLOW_COUNTER || flow == FLOW_DELAY || flow == FLOW_PARENT || flow == FLOW_HTTP ||
           flow == FLOW_STEPS || flow == FLOW_ONCE;
}

static void was_started(struct cluster_client *client, const struct wish *wish)
{
    if (wish->plain)
        pawl__cluster_started_plain(&client->cluster->checker, wish->outcome.instance_id);
    else
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
    } else if (status != PAWL_OK && !(status == PAWL_ENOTFOUND && wish->instance_id) &&
               !(status == PAWL_ECONFLICT && wish->kind == WISH_RUN)) {
        pawl__cluster_violation(checker, "a client was refused: %s", err->msg);
    } else if (wish->kind == WISH_START) {
        was_started(client, wish);
    } else if (wish->kind == WISH_SEND) {
        pawl__cluster_accepted(checker, wish->key, wish->event_id);
        client->cluster->report->sent++;
    } else if (wish->kind == WISH_RUN) {
        client->cluster->report->ran++;
    } else if (wish->kind == WISH_CANCEL) {
        client->cluster->report->cancelled++;
    } else {
        pawl__cluster_deleted(checker, wish->instance_id);
        client->cluster->report->deleted++;
    }
}

static const char *lot_instance(struct cluster_client *client)
{
    return client->instances[pawl__sim_lot(&client->cluster->chance, client->instance_count)];
}

static void make_event(struct cluster_client *client, struct wish *wish, uint64_t lot)
{
    static const char *const names[] = {"Single", "Birth", "Signal", "Signal", "Signal", "Signal"};
    struct chance *chance = &client->cluster->chance;

    wish->event = names[lot % 6];
    if (pawl__sim_lot(chance, 12) == 0) {
        wish->event = "Order";
        (void)snprintf(wish->correlation_id, sizeof wish->correlation_id, "o%u",
                       (unsigned)pawl__sim_lot(chance, 6));
    } else if (lot % 6 > 1 && client->instance_count > 0 && pawl__sim_lot(chance, 4) == 0) {
        wish->instance_id = lot_instance(client);
    }
}

static void make_start(struct cluster_client *client, struct wish *wish)
{
    static const enum flow starts[] = {FLOW_COUNTER, FLOW_COUNTER,   FLOW_DELAY, FLOW_PARENT,
                                       FLOW_INLINE,  FLOW_PUBLISHER, FLOW_STEPS, FLOW_ONCE,
                                       FLOW_HTTP,    FLOW_ORDER};
    struct chance *chance = &client->cluster->chance;

    wish->kind = WISH_START;
    wish->flow = FLOW_COUNTER;
    if (client->calls == 1)
        return;
    wish->flow = starts[pawl__sim_lot(chance, sizeof starts / sizeof starts[0])];
    if ((client->cluster->features & PAWL_CLUSTER_LOOPS) && client->loops < CLIENT_LOOPS_MAX &&
        pawl__sim_lot(chance, 3) == 0) {
        wish->flow = FLOW_LOOP;
        client->loops++;
    }
    if (wish->flow == FLOW_ORDER)
        (void)snprintf(wish->correlation_id, sizeof wish->correlation_id, "o%u",
                       (unsigned)pawl__sim_lot(chance, 6));
}

static void make_wish(struct cluster_client *client, struct wish *wish)
{
    struct chance *chance = &client->cluster->chance;
    uint64_t lot = pawl__sim_lot(chance, 100);

    *wish = (struct wish){.kind = WISH_SEND, .plain = pawl__sim_lot(chance, 3) == 0};
    (void)snprintf(wish->key, sizeof wish->key, "k%u-%u", client->number, client->calls++);
    if (client->calls == 1 || lot < 38) {
        make_start(client, wish);
    } else if (lot < 84 || client->instance_count == 0) {
        make_event(client, wish, lot);
    } else {
        wish->kind = lot < 89 ? WISH_RUN : lot < 94 ? WISH_CANCEL : WISH_DELETE;
        wish->plain = false;
        wish->instance_id = lot_instance(client);
    }
}

/* Many events for orders that nobody made, then orders that none of them is for. */
static int flood(struct cluster_client *client)
{
    int status = PAWL_OK;

    for (uint32_t i = 0; i < FLOOD + FLOOD_ORDERS && status != PAWL_ESTOPPED; i++) {
        struct wish wish = {.kind = i < FLOOD ? WISH_SEND : WISH_START,
                            .flow = FLOW_ORDER,
                            .event = "Order",
                            .plain = i < FLOOD};
        struct pawl_error err = PAWL_ERROR_INIT;

        (void)snprintf(wish.key, sizeof wish.key, "k%u-%u", client->number, client->calls++);
        (void)snprintf(wish.correlation_id, sizeof wish.correlation_id, "f%u", i);
        if ((!wish.plain || status != PAWL_OK) && nap(client, RETRY_NS_MAX) != PAWL_OK)
            return PAWL_ESTOPPED;
        status = wish.plain ? ask_once(client, &wish, &err) : ask(client, &wish, &err);
        if (status == PAWL_OK)
            grant(client, &wish, status, &err);
    }
    return status;
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
        if ((client->cluster->features & PAWL_CLUSTER_PARKED) && client->number == 0 &&
            client->calls == 5) {
            status = flood(client);
        } else if (wish.plain) {
            status = ask_once(client, &wish, &err);
            if (status == PAWL_OK)
                grant(client, &wish, status, &err);
        } else {
            status = ask(client, &wish, &err);
            if (status != PAWL_ESTOPPED)
                grant(client, &wish, status, &err);
        }
    }
}
