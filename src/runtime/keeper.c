/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lease keeper. Its mutex guards lease_end_ns, superseded, stop and the duty; it is never held
 * during a call to the store.
 */
#include "runtime/keeper.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"

#define NODE_ID_MAX 128

struct pawl_keeper {
    struct pawl_env *env;
    struct pawl_store *store;
    const struct pawl_log *log;
    char node_id[NODE_ID_MAX + 1];
    char info[PAWL_NODE_INFO_MAX + 1];
    int64_t ttl_us;
    int64_t incarnation;
    struct pawl_thread *thread;

    struct pawl_mutex *mutex;
    struct pawl_cond *cond;
    int64_t lease_end_ns;
    bool superseded; /* another incarnation of this node has joined */
    bool stop;
    void (*duty)(void *ctx, int64_t deadline_ns); /* NULL: none */
    void *duty_ctx;
};

static int ask(struct pawl_keeper *keeper, enum pawl_lease_kind kind, struct pawl_lease *lease,
               int64_t *sent_ns, struct pawl_error *err)
{
    *lease = (struct pawl_lease){
        .kind = kind,
        .node_id = pawl__str(keeper->node_id),
        .incarnation = keeper->incarnation,
        .ttl_us = keeper->ttl_us,
        .info = pawl__str(keeper->info),
    };
    *sent_ns = pawl_env_monotonic_ns(keeper->env);
    return pawl_store_lease(keeper->store, lease, *sent_ns + keeper->ttl_us * 1000, err);
}

static void renewed(struct pawl_keeper *keeper, int64_t sent_ns)
{
    if (pawl_mutex_lock(keeper->env, keeper->mutex) != PAWL_OK)
        return;
    keeper->lease_end_ns = sent_ns + keeper->ttl_us * 1000;
    pawl_mutex_unlock(keeper->env, keeper->mutex);
}

static int renew_once(struct pawl_keeper *keeper, struct pawl_error *err)
{
    struct pawl_lease lease;
    int64_t sent_ns;
    int status = ask(keeper, PAWL_LEASE_RENEW, &lease, &sent_ns, err);

    if (status == PAWL_OK) {
        if (lease.lapsed && keeper->log)
            pawl_log(keeper->log, PAWL_LOG_WARN, "lease had lapsed",
                     pawl_log_text("node", keeper->node_id));
        renewed(keeper, sent_ns);
    }
    if (status == PAWL_ECONFLICT && pawl_mutex_lock(keeper->env, keeper->mutex) == PAWL_OK) {
        keeper->superseded = true;
        pawl_mutex_unlock(keeper->env, keeper->mutex);
    }
    return status;
}

/* Answers whether to go on. */
static bool renew(struct pawl_keeper *keeper)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    int status = renew_once(keeper, &err);

    if (status != PAWL_OK && status != PAWL_ESTOPPED && keeper->log)
        pawl_log(keeper->log, status == PAWL_ECONFLICT ? PAWL_LOG_ERROR : PAWL_LOG_WARN,
                 "lease not renewed", pawl_log_text("node", keeper->node_id),
                 pawl_log_error("error", &err));
    return status != PAWL_ESTOPPED && status != PAWL_ECONFLICT;
}

/* Sleeps for a third of the lease; false when it is time to end. */
static bool pause_for_next(struct pawl_keeper *keeper)
{
    int64_t until = pawl_env_monotonic_ns(keeper->env) + keeper->ttl_us * 1000 / 3;
    int status = pawl_mutex_lock(keeper->env, keeper->mutex);
    bool stop;

    if (status != PAWL_OK)
        return false;
    while (!keeper->stop && status == PAWL_OK && pawl_env_monotonic_ns(keeper->env) < until)
        status = pawl_cond_wait(keeper->env, keeper->cond, keeper->mutex, until);
    stop = keeper->stop || status == PAWL_ESTOPPED;
    pawl_mutex_unlock(keeper->env, keeper->mutex);
    return !stop;
}

/* Done before the next renewal is due. */
static void do_duty(struct pawl_keeper *keeper)
{
    int64_t deadline_ns = pawl_env_monotonic_ns(keeper->env) + keeper->ttl_us * 1000 / 3;
    void (*duty)(void *ctx, int64_t until_ns) = NULL;
    void *ctx = NULL;

    if (pawl_mutex_lock(keeper->env, keeper->mutex) != PAWL_OK)
        return;
    if (!keeper->stop) {
        duty = keeper->duty;
        ctx = keeper->duty_ctx;
    }
    pawl_mutex_unlock(keeper->env, keeper->mutex);
    if (duty)
        duty(ctx, deadline_ns);
}

static void keep(void *arg)
{
    struct pawl_keeper *keeper = arg;

    while (pause_for_next(keeper) && renew(keeper))
        do_duty(keeper);
}

void pawl__keeper_set_duty(struct pawl_keeper *keeper, void (*duty)(void *ctx, int64_t deadline_ns),
                           void *ctx)
{
    if (pawl_mutex_lock(keeper->env, keeper->mutex) != PAWL_OK)
        return;
    keeper->duty = duty;
    keeper->duty_ctx = ctx;
    pawl_mutex_unlock(keeper->env, keeper->mutex);
}

static void discard(struct pawl_keeper *keeper)
{
    pawl_cond_free(keeper->env, keeper->cond);
    pawl_mutex_free(keeper->env, keeper->mutex);
    pawl__free(&keeper->env->alloc, keeper, sizeof *keeper);
}

int pawl__keeper_open(struct pawl_env *env, struct pawl_store *store, struct pawl_str node_id,
                      struct pawl_str info, int64_t ttl_us, const struct pawl_log *log,
                      struct pawl_keeper **out, struct pawl_error *err)
{
    struct pawl_keeper *keeper;
    struct pawl_lease lease;
    int64_t sent_ns;
    int status;

    if (node_id.len == 0 || node_id.len > NODE_ID_MAX)
        return pawl__error_set(err, PAWL_EINVAL, "a node's id has 1 to %d bytes, not %zu",
                               NODE_ID_MAX, node_id.len);
    if (ttl_us != 0 && ttl_us < PAWL_LEASE_US_MIN)
        return pawl__error_set(err, PAWL_EINVAL, "a node's lease is at least 1 s");
    if (info.len > PAWL_NODE_INFO_MAX)
        return pawl__error_set(err, PAWL_EINVAL, "a node tells at most %d bytes of itself",
                               PAWL_NODE_INFO_MAX);
    if (info.len == 0)
        info = pawl__str("{}");
    keeper = pawl__alloc_zeroed(&env->alloc, sizeof *keeper);
    if (!keeper)
        return pawl__error_code(err, PAWL_ENOMEM);
    keeper->env = env;
    keeper->store = store;
    keeper->log = log;
    keeper->ttl_us = ttl_us ? ttl_us : PAWL_LEASE_US_DEFAULT;
    memcpy(keeper->node_id, node_id.ptr, node_id.len);
    memcpy(keeper->info, info.ptr, info.len);
    status = pawl_mutex_new(env, "keeper", &keeper->mutex);
    if (status == PAWL_OK)
        status = pawl_cond_new(env, "keeper", &keeper->cond);
    if (status != PAWL_OK) {
        (void)pawl__error_code(err, status);
        goto fail;
    }
    status = ask(keeper, PAWL_LEASE_JOIN, &lease, &sent_ns, err);
    if (status != PAWL_OK)
        goto fail;
    keeper->incarnation = lease.incarnation;
    keeper->lease_end_ns = sent_ns + keeper->ttl_us * 1000;
    status = pawl_thread_start(env, "pawl-keeper", keep, keeper, &keeper->thread, err);
    if (status != PAWL_OK) {
        (void)ask(keeper, PAWL_LEASE_LEAVE, &lease, &sent_ns, NULL);
        goto fail;
    }
    *out = keeper;
    return PAWL_OK;
fail:
    discard(keeper);
    return status;
}

void pawl__keeper_close(struct pawl_keeper *keeper)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_lease lease;
    int64_t sent_ns;
    int status;

    if (!keeper)
        return;
    if (pawl_mutex_lock(keeper->env, keeper->mutex) == PAWL_OK) {
        keeper->stop = true;
        pawl_mutex_unlock(keeper->env, keeper->mutex);
    }
    pawl_cond_broadcast(keeper->env, keeper->cond);
    pawl_thread_join(keeper->env, keeper->thread);
    status = ask(keeper, PAWL_LEASE_LEAVE, &lease, &sent_ns, &err);
    if (status != PAWL_OK && status != PAWL_ESTOPPED && keeper->log)
        pawl_log(keeper->log, PAWL_LOG_WARN, "node did not leave; its lease will end by itself",
                 pawl_log_text("node", keeper->node_id), pawl_log_error("error", &err));
    discard(keeper);
}

int64_t pawl__keeper_incarnation(const struct pawl_keeper *keeper)
{
    return keeper->incarnation;
}

bool pawl__keeper_is_alive(struct pawl_keeper *keeper)
{
    bool alive;

    if (pawl_mutex_lock(keeper->env, keeper->mutex) != PAWL_OK)
        return false;
    alive = !keeper->superseded && pawl_env_monotonic_ns(keeper->env) < keeper->lease_end_ns;
    pawl_mutex_unlock(keeper->env, keeper->mutex);
    return alive;
}

int pawl__keeper_revive(struct pawl_keeper *keeper, struct pawl_error *err)
{
    return pawl__keeper_is_alive(keeper) ? PAWL_OK : renew_once(keeper, err);
}
