/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is between a node and the world: its connection to the server.
 *
 * Everything a node sends takes a while to arrive, and so does the answer. A node that stands still
 * holds back what it was about to send: it arrives when others have taken over. A node that has
 * crashed neither sends nor hears; what had arrived takes effect all the same. A server that has
 * crashed answers nothing that was asked before; one that is being replaced refuses to write.
 */
#include "sim/sim_private.h"

#include "base/alloc.h"
#include "base/error.h"

#define DELAY_NS_MAX (INT64_C(8) * MS_NS)

/* ---- the connection ---------------------------------------------------------------------- */

struct wire_store {
    struct pawl_store base; /* first: a pawl_store is cast to this */
    struct pawl_store_ops ops;
    struct pawl_env *env;
    struct chance *chance;
    const int64_t *paused_until_ns;
    const struct server_health *health;
};

static struct wire_store *cast(struct pawl_store *store)
{
    return (struct wire_store *)(void *)store;
}

/* PAWL_OK: it has arrived. PAWL_ESTOPPED: the node is no more. */
static int travel(struct wire_store *wire, struct pawl_error *err)
{
    int64_t now_ns = pawl_env_monotonic_ns(wire->env);
    int64_t delay_ns = (int64_t)pawl__sim_lot(wire->chance, (uint64_t)DELAY_NS_MAX);
    int status = pawl_env_sleep_until(wire->env, now_ns + delay_ns);

    while (status == PAWL_OK && pawl_env_monotonic_ns(wire->env) < *wire->paused_until_ns)
        status = pawl_env_sleep_until(wire->env, *wire->paused_until_ns);
    return status == PAWL_OK ? PAWL_OK : pawl__error_set(err, status, "the node has crashed");
}

/* On the way there. PAWL_OK: the server is about to do it. */
static int go(struct wire_store *wire, bool writes, uint64_t *crashes, struct pawl_error *err)
{
    const struct server_health *health = wire->health;
    int status;

    *crashes = health->crashes;
    status = travel(wire, err);
    if (status != PAWL_OK)
        return status;
    if (health->crashes != *crashes || pawl_env_monotonic_ns(wire->env) < health->away_until_ns)
        return pawl__error_set(err, PAWL_EUNAVAILABLE, "the server is away");
    if (writes && pawl_env_monotonic_ns(wire->env) < health->read_only_until_ns)
        return pawl__error_set(err, health->read_only_code, "the server is read-only");
    return PAWL_OK;
}

/* The answer on its way back; without a node, or from a server that crashed, it is lost. */
static int come_back(struct wire_store *wire, uint64_t crashes, int status, struct pawl_error *err)
{
    int arrived = travel(wire, err);

    if (arrived != PAWL_OK)
        return arrived;
    if (wire->health->crashes != crashes)
        return pawl__error_set(err, PAWL_EUNKNOWN, "the server crashed before it answered");
    return status;
}

static int wire_status(struct pawl_store *store, struct pawl_store_status *out, int64_t deadline_ns,
                       struct pawl_error *err)
{
    uint64_t crashes;
    int status = go(cast(store), false, &crashes, err);

    if (status != PAWL_OK)
        return status;
    status = pawl_store_status(store->inner, out, deadline_ns, err);
    return come_back(cast(store), crashes, status, err);
}

static int wire_lease(struct pawl_store *store, struct pawl_lease *lease, int64_t deadline_ns,
                      struct pawl_error *err)
{
    uint64_t crashes;
    int status = go(cast(store), true, &crashes, err);

    if (status != PAWL_OK)
        return status;
    status = pawl_store_lease(store->inner, lease, deadline_ns, err);
    return come_back(cast(store), crashes, status, err);
}

static int wire_claim(struct pawl_store *store, int64_t owner, struct pawl_claim *claims,
                      size_t count, struct pawl_arena *arena, int64_t *now_us, int64_t deadline_ns,
                      struct pawl_error *err)
{
    uint64_t crashes;
    int status = go(cast(store), true, &crashes, err);

    if (status != PAWL_OK)
        return status;
    status = pawl_store_claim(store->inner, owner, claims, count, arena, now_us, deadline_ns, err);
    return come_back(cast(store), crashes, status, err);
}

static int wire_apply(struct pawl_store *store, struct pawl_commit *const *commits, size_t count,
                      int64_t deadline_ns, struct pawl_error *err)
{
    uint64_t crashes;
    int status = go(cast(store), true, &crashes, err);

    if (status != PAWL_OK)
        return status;
    status = pawl_store_apply(store->inner, commits, count, deadline_ns, err);
    return come_back(cast(store), crashes, status, err);
}

static int wire_find(struct pawl_store *store, const struct pawl_query *query,
                     struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                     struct pawl_error *err)
{
    uint64_t crashes;
    int status = go(cast(store), false, &crashes, err);

    if (status != PAWL_OK)
        return status;
    status = pawl_store_find(store->inner, query, arena, out, deadline_ns, err);
    return come_back(cast(store), crashes, status, err);
}

static int wire_take(struct pawl_store *store, const struct pawl_take *take,
                     struct pawl_arena *arena, struct pawl_taken *out, int64_t deadline_ns,
                     struct pawl_error *err)
{
    struct pawl_taken taken;
    uint64_t crashes;
    int status = go(cast(store), true, &crashes, err);

    if (status != PAWL_OK)
        return status;
    status = pawl_store_take(store->inner, take, arena, &taken, deadline_ns, err);
    status = come_back(cast(store), crashes, status, err);
    if (status == PAWL_OK)
        *out = taken;
    return status;
}

/* The wait is at the server, which does not notice that the node died: it ends at its deadline. */
static int wire_wait(struct pawl_store *store, struct pawl_wake *wake, int64_t deadline_ns,
                     struct pawl_error *err)
{
    uint64_t crashes;
    int status = go(cast(store), false, &crashes, err);

    if (status != PAWL_OK)
        return status;
    status = pawl_store_wait(store->inner, wake, deadline_ns, err);
    return come_back(cast(store), crashes, status, err);
}

static void wire_close(struct pawl_store *store)
{
    struct pawl_env *env = cast(store)->env;

    pawl__free(&env->alloc, cast(store), sizeof(struct wire_store));
}

int pawl__wire_store_new(struct pawl_env *env, struct pawl_store *server, struct chance *chance,
                         const int64_t *paused_until_ns, const struct server_health *health,
                         struct pawl_store **out, struct pawl_error *err)
{
    struct wire_store *wire = pawl__alloc_zeroed(&env->alloc, sizeof *wire);

    if (!wire)
        return pawl__error_code(err, PAWL_ENOMEM);
    pawl__sim_forward_init(&wire->ops);
    wire->ops.close = wire_close;
    wire->ops.status = wire_status;
    wire->ops.lease = wire_lease;
    wire->ops.claim = wire_claim;
    wire->ops.apply = wire_apply;
    wire->ops.find = wire_find;
    wire->ops.take = wire_take;
    wire->ops.wait = wire_wait;
    wire->env = env;
    wire->chance = chance;
    wire->paused_until_ns = paused_until_ns;
    wire->health = health;
    wire->base = (struct pawl_store){
        .ops = &wire->ops, .caps = server->caps, .inner = server, .name = "wire"};
    *out = &wire->base;
    return PAWL_OK;
}
