/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger: stands next to the database and tells a checker what it does.
 *
 * The mutex makes doing and telling one step, so that the checker hears of everything in the order
 * in which it happened. It is the server's: a node that crashes in the middle of a call leaves it
 * to the call to end.
 */
#include "sim/sim_private.h"

#include "base/alloc.h"
#include "base/error.h"

struct ledger_store {
    struct pawl_store base; /* first: a pawl_store is cast to this */
    struct pawl_store_ops ops;
    struct pawl_env *env;
    struct pawl_mutex *mutex; /* makes doing and telling one step */
    struct ledger_hooks hooks;
};

static struct ledger_store *cast(struct pawl_store *store)
{
    return (struct ledger_store *)(void *)store;
}

static int ledger_lease(struct pawl_store *store, struct pawl_lease *lease, int64_t deadline_ns,
                        struct pawl_error *err)
{
    struct ledger_store *ledger = cast(store);
    int status = pawl_mutex_lock(ledger->env, ledger->mutex);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    status = pawl_store_lease(store->inner, lease, deadline_ns, err);
    if (status == PAWL_OK)
        ledger->hooks.leased(ledger->hooks.ctx, lease);
    pawl_mutex_unlock(ledger->env, ledger->mutex);
    return status;
}

static int ledger_claim(struct pawl_store *store, int64_t owner, struct pawl_claim *claims,
                        size_t count, struct pawl_arena *arena, int64_t *now_us,
                        int64_t deadline_ns, struct pawl_error *err)
{
    struct ledger_store *ledger = cast(store);
    int status = pawl_mutex_lock(ledger->env, ledger->mutex);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    status = pawl_store_claim(store->inner, owner, claims, count, arena, now_us, deadline_ns, err);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        if (claims[i].status == PAWL_OK && !claims[i].visits)
            ledger->hooks.claimed(ledger->hooks.ctx, owner, &claims[i], *now_us);
    pawl_mutex_unlock(ledger->env, ledger->mutex);
    return status;
}

static int ledger_apply(struct pawl_store *store, struct pawl_commit *const *commits, size_t count,
                        int64_t deadline_ns, struct pawl_error *err)
{
    struct ledger_store *ledger = cast(store);
    int status = pawl_mutex_lock(ledger->env, ledger->mutex);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    status = pawl_store_apply(store->inner, commits, count, deadline_ns, err);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        if (commits[i]->status == PAWL_OK)
            ledger->hooks.applied(ledger->hooks.ctx, commits[i]);
    pawl_mutex_unlock(ledger->env, ledger->mutex);
    return status;
}

/* ---- a crash of the server --------------------------------------------------------------- */

int pawl__ledger_crash(struct pawl_store *store, struct pawl_memory_database *database,
                       uint32_t keep)
{
    struct ledger_store *ledger = cast(store);
    int status = pawl_mutex_lock(ledger->env, ledger->mutex);

    if (status != PAWL_OK)
        return status;
    status =
        pawl__memory_database_crash(database, keep, ledger->hooks.forgotten, ledger->hooks.ctx);
    pawl_mutex_unlock(ledger->env, ledger->mutex);
    return status;
}

static void ledger_close(struct pawl_store *store)
{
    struct ledger_store *ledger = cast(store);
    struct pawl_env *env = ledger->env;

    pawl_store_close(store->inner);
    pawl_mutex_free(env, ledger->mutex);
    pawl__free(&env->alloc, ledger, sizeof *ledger);
}

int pawl__ledger_store_new(struct pawl_env *server, struct pawl_store *inner,
                           const struct ledger_hooks *hooks, struct pawl_store **out,
                           struct pawl_error *err)
{
    struct ledger_store *ledger = pawl__alloc_zeroed(&server->alloc, sizeof *ledger);

    if (!ledger)
        return pawl__error_code(err, PAWL_ENOMEM);
    if (pawl_mutex_new(server, "ledger", &ledger->mutex) != PAWL_OK) {
        pawl__free(&server->alloc, ledger, sizeof *ledger);
        return pawl__error_code(err, PAWL_ENOMEM);
    }
    pawl__sim_forward_init(&ledger->ops);
    ledger->ops.close = ledger_close;
    ledger->ops.lease = ledger_lease;
    ledger->ops.claim = ledger_claim;
    ledger->ops.apply = ledger_apply;
    ledger->env = server;
    ledger->hooks = *hooks;
    ledger->base = (struct pawl_store){
        .ops = &ledger->ops, .caps = inner->caps, .inner = inner, .name = "ledger"};
    *out = &ledger->base;
    return PAWL_OK;
}
