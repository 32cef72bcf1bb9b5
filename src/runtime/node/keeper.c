/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lease keeper. Its mutex guards what stands below it in the struct, and is never held during a
 * call to the store, to the duty or to the hook that learns of the end. Only the keeper's thread
 * joins anew, so that the incarnation has one writer.
 */
#include "runtime/node/keeper.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "resilience/backoff.h"

#include <stdio.h>

#include <stdatomic.h>

#define NODE_ID_MAX 128
/* A lease has time for two renewals that fail: each begins after a third of it, or soon after one
 * that failed, and is given up after another third. */
#define PARTS 3
/* Between renewals, also of a long lease: when the store's clock is set back, leases are cut to a
 * minute (PAWL_CLOCK_LEASE_US). */
#define RENEW_NS_MAX INT64_C(15000000000)
/* Between renewals that fail at once: parts of the lease. */
#define RETRY_PARTS_MIN 60
#define RETRY_PARTS_MAX 6
/* Between attempts to join anew. */
#define JOIN_NS INT64_C(500000000)
/* How long a store that is there may take to let a process join at first: one lease of a second is
 * short for a database that another process keeps locked, or that has just been started. */
#define FIRST_JOIN_NS INT64_C(10000000000)
/* Of the rows of one node. */
#define RIVAL_BYTES_MAX ((size_t)1 << 20)

struct pawl_keeper {
    struct pawl_env *env;
    struct pawl_store *store;
    const struct pawl_log *log;
    char node_id[NODE_ID_MAX + 1];
    char info[PAWL_NODE_INFO_MAX + 1];
    int64_t ttl_us;
    _Atomic int64_t incarnation;
    /* The keeper's thread alone: the last attempt to join anew was not answered, so that whoever
     * has the id now may be this node. */
    bool may_have_joined;
    struct pawl_thread *thread;

    struct pawl_mutex *mutex;
    struct pawl_cond *cond;
    int64_t lease_end_ns;
    uint32_t stuck;
    bool superseded;        /* the incarnation is over, and no new one is there yet */
    bool hurry;             /* somebody found out before the next round */
    bool renounced;         /* the incarnation is to end, and a new one to begin */
    struct pawl_error over; /* not PAWL_OK: the node is over for good, and this says why */
    bool named;
    void (*ended)(void *ctx);
    void *ended_ctx;
    bool stop;
    void (*duty)(void *ctx, int64_t deadline_ns); /* NULL: none */
    void *duty_ctx;
    bool is_in_duty; /* it is being called */
};

/* The info is an object; what was given may not be. */
static struct pawl_str make_info(struct pawl_keeper *keeper, char *room, size_t size)
{
    size_t len = strlen(keeper->info);
    uint32_t stuck = 0;
    int printed = 0;

    if (keeper->mutex && pawl_mutex_lock(keeper->env, keeper->mutex) == PAWL_OK) {
        stuck = keeper->stuck;
        pawl_mutex_unlock(keeper->env, keeper->mutex);
    }
    if (stuck > 0 && len > 0 && keeper->info[len - 1] == '}')
        printed = snprintf(room, size, "%.*s%s\"stuck\":%u}", (int)len - 1, keeper->info,
                           len > 2 ? "," : "", (unsigned)stuck);
    return pawl__str(printed > 0 && (size_t)printed < size ? room : keeper->info);
}

static int call_lease(struct pawl_keeper *keeper, enum pawl_lease_kind kind,
                      struct pawl_lease *lease, int64_t *sent_ns, struct pawl_error *err)
{
    char room[PAWL_NODE_INFO_MAX + 32];
    int status;

    *lease = (struct pawl_lease){
        .kind = kind,
        .node_id = pawl__str(keeper->node_id),
        .incarnation = keeper->incarnation,
        .ttl_us = keeper->ttl_us,
        .info = make_info(keeper, room, sizeof room),
    };
    *sent_ns = pawl_env_monotonic_ns(keeper->env);
    status = pawl_store_lease(
        keeper->store, lease,
        *sent_ns + keeper->ttl_us * 1000 / (kind == PAWL_LEASE_RENEW ? PARTS : 1), err);
    lease->info = pawl__str(""); /* `room` goes */
    return status;
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
    int status = call_lease(keeper, PAWL_LEASE_RENEW, &lease, &sent_ns, err);

    if (status == PAWL_OK) {
        if (lease.lapsed && keeper->log)
            pawl_log(keeper->log, PAWL_LOG_WARN, "lease had lapsed",
                     pawl_log_text("node", keeper->node_id));
        renewed(keeper, sent_ns);
    }
    if (status == PAWL_ECONFLICT && pawl_mutex_lock(keeper->env, keeper->mutex) == PAWL_OK) {
        if (lease.incarnation == keeper->incarnation) /* else it has joined anew meanwhile */
            keeper->superseded = true;
        pawl_mutex_unlock(keeper->env, keeper->mutex);
    }
    return status;
}

/* ---- the end of an incarnation -------------------------------------------------------------- */

/* Whether a process that lives has this node's id now; *err then says so. */
static int look_for_rival(struct pawl_keeper *keeper, bool *lives, struct pawl_error *err)
{
    const struct pawl_condition condition = {.column = pawl_table_column(PAWL_TABLE_NODES, "id"),
                                             .value = {.text = pawl__str(keeper->node_id)}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_NODES, .conditions = &condition, .condition_count = 1};
    int64_t deadline_ns = pawl_env_monotonic_ns(keeper->env) + keeper->ttl_us * 1000;
    const struct pawl_node_row *row;
    struct pawl_store_status seen;
    struct pawl_arena arena;
    struct pawl_rows rows = {0};
    int status;

    *lives = false;
    pawl__arena_init(&arena, &keeper->env->alloc, RIVAL_BYTES_MAX);
    status = pawl_store_status(keeper->store, &seen, deadline_ns, err);
    if (status == PAWL_OK)
        status = pawl_store_find(keeper->store, &query, &arena, &rows, deadline_ns, err);
    row = rows.rows;
    if (status == PAWL_OK && rows.count > 0 && row->incarnation != keeper->incarnation &&
        row->lease_us > seen.now_us) {
        *lives = true;
        (void)pawl__error_set(err, PAWL_ECONFLICT,
                              "another process has joined as node '%s' and runs ('pawl nodes' "
                              "shows it): give each process a node.id of its own, or set none",
                              keeper->node_id);
    }
    pawl__arena_release(&arena);
    return status;
}

static void end_for_good(struct pawl_keeper *keeper, const struct pawl_error *why)
{
    void (*ended)(void *ctx) = NULL;
    void *ctx = NULL;

    if (pawl_mutex_lock(keeper->env, keeper->mutex) != PAWL_OK)
        return;
    keeper->over = *why;
    ended = keeper->ended;
    ctx = keeper->ended_ctx;
    pawl_mutex_unlock(keeper->env, keeper->mutex);
    if (ended)
        ended(ctx);
}

static bool is_named(struct pawl_keeper *keeper)
{
    bool named = false;

    if (pawl_mutex_lock(keeper->env, keeper->mutex) == PAWL_OK) {
        named = keeper->named;
        pawl_mutex_unlock(keeper->env, keeper->mutex);
    }
    return named;
}

/*
 * What was claimed by the old incarnation is lost, and whoever has it in hand finds that out from
 * the incarnation, or from the store. PAWL_ECONFLICT: the node is over.
 *
 * After an attempt whose answer was lost, a process that lives under this id is taken for this node
 * itself, which joins once more. If it was another one, it is the earlier of the two now, and ends.
 */
static int join_anew(struct pawl_keeper *keeper, struct pawl_error *err)
{
    int64_t old = keeper->incarnation, sent_ns;
    bool rival = false;
    struct pawl_lease lease;
    int status = PAWL_OK;

    if (is_named(keeper) && !keeper->may_have_joined)
        status = look_for_rival(keeper, &rival, err);
    if (status != PAWL_OK)
        return status;
    if (rival) {
        end_for_good(keeper, err);
        return PAWL_ECONFLICT;
    }
    status = call_lease(keeper, PAWL_LEASE_JOIN, &lease, &sent_ns, err);
    if (pawl_error_class(status) == PAWL_CLASS_UNKNOWN)
        keeper->may_have_joined = true;
    if (status != PAWL_OK)
        return status;
    keeper->may_have_joined = false;
    status = pawl_mutex_lock(keeper->env, keeper->mutex);
    if (status != PAWL_OK)
        return status;
    keeper->incarnation = lease.incarnation;
    keeper->lease_end_ns = sent_ns + keeper->ttl_us * 1000;
    keeper->superseded = keeper->renounced = false;
    pawl_mutex_unlock(keeper->env, keeper->mutex);
    if (keeper->log)
        pawl_log(keeper->log, PAWL_LOG_WARN, "node joined anew; what it had in hand is dropped",
                 pawl_log_text("node", keeper->node_id), pawl_log_int("incarnation", old),
                 pawl_log_int("new_incarnation", lease.incarnation));
    return PAWL_OK;
}

void pawl__keeper_renounce(struct pawl_keeper *keeper)
{
    if (pawl_mutex_lock(keeper->env, keeper->mutex) != PAWL_OK)
        return;
    keeper->renounced = keeper->superseded = keeper->hurry = true;
    pawl_mutex_unlock(keeper->env, keeper->mutex);
    pawl_cond_broadcast(keeper->env, keeper->cond);
}

static bool is_renounced(struct pawl_keeper *keeper)
{
    bool renounced;

    if (pawl_mutex_lock(keeper->env, keeper->mutex) != PAWL_OK)
        return false;
    renounced = keeper->renounced;
    pawl_mutex_unlock(keeper->env, keeper->mutex);
    return renounced;
}

/* ---- renewing ------------------------------------------------------------------------------- */

/* Returns whether to go on; `*next_ns` is then when to renew next. */
static bool renew(struct pawl_keeper *keeper, uint32_t *failures, int64_t *next_ns)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    int64_t lease_ns = keeper->ttl_us * 1000, begun_ns = pawl_env_monotonic_ns(keeper->env);
    int status = is_renounced(keeper) ? PAWL_ECONFLICT : renew_once(keeper, &err);

    if (status == PAWL_ECONFLICT)
        status = join_anew(keeper, &err);
    if (status == PAWL_OK) {
        *failures = 0;
        *next_ns = begun_ns + (lease_ns / PARTS < RENEW_NS_MAX ? lease_ns / PARTS : RENEW_NS_MAX);
    } else {
        *next_ns = pawl_env_monotonic_ns(keeper->env) +
                   pawl__backoff_ns(keeper->env, lease_ns / RETRY_PARTS_MIN,
                                    lease_ns / RETRY_PARTS_MAX, *failures);
        *failures += *failures < UINT32_MAX;
    }
    if (status != PAWL_OK && status != PAWL_ESTOPPED && keeper->log)
        pawl_log(keeper->log, status == PAWL_ECONFLICT ? PAWL_LOG_ERROR : PAWL_LOG_WARN,
                 "lease not renewed", pawl_log_text("node", keeper->node_id),
                 pawl_log_error("error", &err));
    return status != PAWL_ESTOPPED && status != PAWL_ECONFLICT;
}

/* Sleeps until the next renewal; false when it is time to end. */
static bool pause_for_next(struct pawl_keeper *keeper, int64_t until)
{
    int64_t now_ns = pawl_env_monotonic_ns(keeper->env);
    int status = pawl_mutex_lock(keeper->env, keeper->mutex);
    bool stop;

    if (status != PAWL_OK)
        return false;
    if (keeper->superseded && until > now_ns + JOIN_NS)
        until = now_ns + JOIN_NS;
    while (!keeper->stop && !keeper->hurry && status == PAWL_OK &&
           pawl_env_monotonic_ns(keeper->env) < until)
        status = pawl_cond_wait(keeper->env, keeper->cond, keeper->mutex, until);
    keeper->hurry = false;
    stop = keeper->stop || status == PAWL_ESTOPPED;
    pawl_mutex_unlock(keeper->env, keeper->mutex);
    return !stop;
}

/* Done before the next renewal is due. */
static void do_duty(struct pawl_keeper *keeper, int64_t deadline_ns)
{
    void (*duty)(void *ctx, int64_t until_ns) = NULL;
    void *ctx = NULL;

    if (pawl_mutex_lock(keeper->env, keeper->mutex) != PAWL_OK)
        return;
    if (!keeper->stop) {
        duty = keeper->duty;
        ctx = keeper->duty_ctx;
    }
    keeper->is_in_duty = duty != NULL;
    pawl_mutex_unlock(keeper->env, keeper->mutex);
    if (!duty)
        return;
    duty(ctx, deadline_ns);
    if (pawl_mutex_lock(keeper->env, keeper->mutex) != PAWL_OK)
        return;
    keeper->is_in_duty = false;
    pawl_mutex_unlock(keeper->env, keeper->mutex);
    pawl_cond_broadcast(keeper->env, keeper->cond);
}

static void keeper_main(void *arg)
{
    struct pawl_keeper *keeper = arg;
    int64_t next_ns = pawl_env_monotonic_ns(keeper->env) + keeper->ttl_us * 1000 / PARTS;
    uint32_t failures = 0;

    while (pause_for_next(keeper, next_ns) && renew(keeper, &failures, &next_ns))
        if (failures == 0)
            do_duty(keeper, next_ns);
}

void pawl__keeper_set_named(struct pawl_keeper *keeper, void (*ended)(void *ctx), void *ctx)
{
    if (pawl_mutex_lock(keeper->env, keeper->mutex) != PAWL_OK)
        return;
    keeper->named = true;
    keeper->ended = ended;
    keeper->ended_ctx = ctx;
    pawl_mutex_unlock(keeper->env, keeper->mutex);
}

int pawl__keeper_check(struct pawl_keeper *keeper, struct pawl_error *err)
{
    int status;

    if (pawl_mutex_lock(keeper->env, keeper->mutex) != PAWL_OK)
        return PAWL_OK;
    status = keeper->over.code;
    if (status != PAWL_OK && err)
        *err = keeper->over;
    pawl_mutex_unlock(keeper->env, keeper->mutex);
    return status;
}

void pawl__keeper_set_duty(struct pawl_keeper *keeper, void (*duty)(void *ctx, int64_t deadline_ns),
                           void *ctx)
{
    if (pawl_mutex_lock(keeper->env, keeper->mutex) != PAWL_OK)
        return;
    keeper->duty = duty;
    keeper->duty_ctx = ctx;
    while (keeper->is_in_duty &&
           pawl_cond_wait(keeper->env, keeper->cond, keeper->mutex, PAWL_FOREVER) != PAWL_ESTOPPED)
        continue;
    pawl_mutex_unlock(keeper->env, keeper->mutex);
}

static void discard(struct pawl_keeper *keeper)
{
    pawl_cond_free(keeper->env, keeper->cond);
    pawl_mutex_free(keeper->env, keeper->mutex);
    pawl__free(&keeper->env->alloc, keeper, sizeof *keeper);
}

static int join_first(struct pawl_keeper *keeper, struct pawl_lease *lease, int64_t *sent_ns,
                      struct pawl_error *err)
{
    int64_t until_ns = pawl_env_monotonic_ns(keeper->env) + FIRST_JOIN_NS;
    int status;

    do {
        status = call_lease(keeper, PAWL_LEASE_JOIN, lease, sent_ns, err);
    } while (status == PAWL_ETIMEDOUT && pawl_env_monotonic_ns(keeper->env) < until_ns);
    return status;
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
    status = join_first(keeper, &lease, &sent_ns, err);
    if (status != PAWL_OK)
        goto fail;
    keeper->incarnation = lease.incarnation;
    keeper->lease_end_ns = sent_ns + keeper->ttl_us * 1000;
    status = pawl_thread_start(env, "pawl-keeper", keeper_main, keeper, &keeper->thread, err);
    if (status != PAWL_OK) {
        (void)call_lease(keeper, PAWL_LEASE_LEAVE, &lease, &sent_ns, NULL);
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
    status = call_lease(keeper, PAWL_LEASE_LEAVE, &lease, &sent_ns, &err);
    if (status != PAWL_OK && status != PAWL_ESTOPPED && keeper->log)
        pawl_log(keeper->log, PAWL_LOG_WARN, "node did not leave; its lease will end by itself",
                 pawl_log_text("node", keeper->node_id), pawl_log_error("error", &err));
    discard(keeper);
}

void pawl__keeper_set_stuck(struct pawl_keeper *keeper, uint32_t stuck)
{
    if (pawl_mutex_lock(keeper->env, keeper->mutex) != PAWL_OK)
        return;
    keeper->stuck = stuck;
    pawl_mutex_unlock(keeper->env, keeper->mutex);
}

const char *pawl__keeper_node_id(const struct pawl_keeper *keeper)
{
    return keeper->node_id;
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
    int status;

    if (pawl__keeper_is_alive(keeper))
        return PAWL_OK;
    status = pawl__keeper_check(keeper, err);
    if (status != PAWL_OK)
        return status;
    status = renew_once(keeper, err);
    if (status != PAWL_ECONFLICT)
        return status;
    if (pawl_mutex_lock(keeper->env, keeper->mutex) == PAWL_OK) {
        keeper->hurry = true;
        pawl_mutex_unlock(keeper->env, keeper->mutex);
    }
    pawl_cond_broadcast(keeper->env, keeper->cond);
    return pawl__error_set(err, PAWL_EUNAVAILABLE,
                           "node '%s' is not a node of the store any more, and joins anew",
                           keeper->node_id);
}
