/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node's sessions with the server: what rows they lock, and what they bring back damaged.
 *
 * A node that stands still in the middle of a batch has sent a part of it: the rows that the part
 * names are locked. Others who touch one of them wait, but not for long: a claim is refused after a
 * fraction of a lease, and the session of a node whose lease is over is ended, with what it had
 * sent. A lease is renewed by a session of its own. The planted bug is a node whose sessions wait
 * as long as they may and are shared by all calls, the renewal of its lease too.
 *
 * What was claimed may be damaged on its way, or the node has no memory for it: for this load
 * alone.
 */
#include "sim/cluster_private.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdio.h>

/* In ten thousand. */
#define DAMAGES 600
#define STARVES 400
#define HALF_SENDS 150

#define POLL_NS (INT64_C(50) * MS_NS)
#define LOCK_TIMEOUT_NS (CLUSTER_LEASE_NS / 8)
/* Of a node that has the bug: sessions for everything but commits. */
#define SHARED_SESSIONS 2u

struct session_store {
    struct pawl_store base; /* first: a pawl_store is cast to this */
    struct pawl_store_ops ops;
    struct pawl_env *env;
    struct cluster_node *node;
};

static struct session_store *cast(struct pawl_store *store)
{
    return (struct session_store *)(void *)store;
}

static bool has_bug(const struct session_store *session)
{
    return session->node->cluster->options.bug == PAWL_CLUSTER_BUG_LOCK_WAITS;
}

static bool may_trouble(const struct cluster *cluster, uint32_t feature)
{
    return (cluster->features & feature) && !cluster->options.calm &&
           pawl_env_monotonic_ns(cluster->server) < cluster->quiet_ns;
}

/* ---- locked rows ------------------------------------------------------------------------- */

static bool names(const struct pawl_commit *commit, struct pawl_str id)
{
    if (commit->instance && pawl__str_equal(commit->instance->id, id))
        return true;
    for (size_t i = 0; i < commit->done_count; i++)
        if (pawl__str_equal(commit->done[i], id))
            return true;
    return false;
}

static bool holds(const struct row_locks *locks, struct pawl_str id)
{
    for (size_t i = 0; i < locks->count; i++)
        if (names(locks->commits[i], id))
            return true;
    return false;
}

static bool holds_any(const struct row_locks *locks, struct pawl_commit *const *commits,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (commits[i]->instance && holds(locks, commits[i]->instance->id))
            return true;
        for (size_t k = 0; k < commits[i]->done_count; k++)
            if (holds(locks, commits[i]->done[k]))
                return true;
    }
    return false;
}

/* Whose half-sent batch is in the way; whoever's lease is over is no more. NULL: nobody's. */
static struct cluster_node *find_holder(struct session_store *session, struct pawl_str id,
                                        struct pawl_commit *const *commits, size_t count)
{
    struct cluster *cluster = session->node->cluster;

    for (uint32_t i = 0; i < cluster->options.nodes; i++) {
        struct cluster_node *other = &cluster->nodes[i];
        struct row_locks *locks = &other->locks_held;

        if (other == session->node || locks->count == 0 ||
            !(commits ? holds_any(locks, commits, count) : holds(locks, id)))
            continue;
        if (!has_bug(session) && !pawl__cluster_lives(&cluster->checker, locks->incarnation)) {
            pawl__cluster_say(&cluster->checker, other->name, "has its session ended by %s",
                              session->node->name);
            cluster->report->broken++;
            locks->broken = true;
            locks->count = 0;
            continue;
        }
        return other;
    }
    return NULL;
}

static int wait_for_rows(struct session_store *session, struct pawl_str id,
                         struct pawl_commit *const *commits, size_t count, int64_t deadline_ns,
                         struct pawl_error *err)
{
    bool waited = false;

    while (find_holder(session, id, commits, count)) {
        int64_t now_ns = pawl_env_monotonic_ns(session->env);

        session->node->cluster->report->locked += !waited;
        waited = true;
        if (now_ns >= deadline_ns)
            return pawl__error_set(err, PAWL_EBUSY, "a row is locked by another session");
        if (pawl_env_sleep_until(session->env, now_ns + POLL_NS) != PAWL_OK)
            return pawl__error_set(err, PAWL_ESTOPPED, "the node has crashed");
    }
    return PAWL_OK;
}

/* ---- sessions that are shared: the planted bug --------------------------------------------- */

static int borrow(struct session_store *session, int64_t deadline_ns, struct pawl_error *err)
{
    struct cluster_node *node = session->node;

    while (has_bug(session) && node->sessions_used >= SHARED_SESSIONS) {
        int64_t now_ns = pawl_env_monotonic_ns(session->env);

        if (now_ns >= deadline_ns)
            return pawl__error_set(err, PAWL_EBUSY, "all sessions are in use");
        if (pawl_env_sleep_until(session->env, now_ns + POLL_NS) != PAWL_OK)
            return pawl__error_set(err, PAWL_ESTOPPED, "the node has crashed");
    }
    node->sessions_used++;
    return PAWL_OK;
}

static void give_back(struct session_store *session)
{
    session->node->sessions_used--;
}

static int session_lease(struct pawl_store *store, struct pawl_lease *lease, int64_t deadline_ns,
                         struct pawl_error *err)
{
    int status = borrow(cast(store), deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    status = pawl_store_lease(store->inner, lease, deadline_ns, err);
    give_back(cast(store));
    return status;
}

/* ---- claims ------------------------------------------------------------------------------ */

/* What was loaded is cut in the middle, or the next allocation of the node fails. */
static void damage(struct session_store *session, struct pawl_claim *claim)
{
    struct cluster_node *node = session->node;
    struct cluster *cluster = node->cluster;
    uint64_t lot;

    if (!may_trouble(cluster, PAWL_CLUSTER_LOADS) || claim->status != PAWL_OK)
        return;
    lot = pawl__sim_lot(&cluster->chance, 10000);
    if (lot < DAMAGES && claim->row.state.len > 1)
        claim->row.state = pawl__str_slice(claim->row.state, 0, claim->row.state.len / 2);
    else if (lot < DAMAGES + STARVES)
        node->starve = 1;
    else
        return;
    cluster->report->damaged++;
    (void)snprintf(node->damaged_id, sizeof node->damaged_id, "%.*s", PAWL_STR_ARG(claim->id));
    node->damaged_fence = claim->row.fence;
    pawl__cluster_say(&cluster->checker, node->name, "cannot load %.*s", PAWL_STR_ARG(claim->id));
}

static int session_claim(struct pawl_store *store, int64_t owner, struct pawl_claim *claims,
                         size_t count, struct pawl_arena *arena, int64_t *now_us,
                         int64_t deadline_ns, struct pawl_error *err)
{
    struct session_store *session = cast(store);
    int64_t timeout_ns = pawl_env_monotonic_ns(session->env) + LOCK_TIMEOUT_NS;
    int status;

    session->node->starve = 0;
    status = borrow(session, deadline_ns, err);
    if (status != PAWL_OK)
        return status;
    if (has_bug(session) || timeout_ns > deadline_ns)
        timeout_ns = deadline_ns;
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = wait_for_rows(session, claims[i].id, NULL, 0, timeout_ns, err);
    if (status == PAWL_OK)
        status =
            pawl_store_claim(store->inner, owner, claims, count, arena, now_us, deadline_ns, err);
    give_back(session);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        damage(session, &claims[i]);
    return status;
}

/* What a node could not read is read damaged again half of the time: so it takes it for damaged in
 * the store, or finds that it is not. */
static int session_find(struct pawl_store *store, const struct pawl_query *query,
                        struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                        struct pawl_error *err)
{
    const struct cluster_node *node = cast(store)->node;
    struct pawl_instance_row *row;
    int status = pawl_store_find(store->inner, query, arena, out, deadline_ns, err);

    if (status != PAWL_OK || query->table != PAWL_TABLE_INSTANCES || query->flags != 0 ||
        out->count != 1 || !may_trouble(node->cluster, PAWL_CLUSTER_LOADS))
        return status;
    row = pawl__arena_alloc(arena, sizeof *row);
    if (!row)
        return pawl__error_code(err, pawl__arena_status(arena));
    *row = *(const struct pawl_instance_row *)out->rows;
    if (pawl__str_is(row->id, node->damaged_id) && pawl__sim_lot(&node->cluster->chance, 2) == 0)
        row->state = pawl__str_slice(row->state, 0, row->state.len / 2);
    out->rows = row;
    return PAWL_OK;
}

/* ---- commits ----------------------------------------------------------------------------- */

static int64_t owner_of(struct pawl_commit *const *commits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (commits[i]->kind == PAWL_COMMIT_ADVANCE && commits[i]->instance)
            return commits[i]->instance->owner;
        if (commits[i]->done_count > 0)
            return commits[i]->done_owner;
    }
    return 0;
}

/* The node stands still, with these rows locked; then it sends the rest. */
static int send_in_two(struct session_store *session, struct pawl_commit *const *commits,
                       size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    struct cluster_node *node = session->node;
    struct cluster *cluster = node->cluster;
    int64_t pause_ns =
        CLUSTER_LEASE_NS / 2 + (int64_t)pawl__sim_lot(&cluster->chance, 4 * CLUSTER_LEASE_NS);
    int status;

    node->locks_held = (struct row_locks){
        .commits = commits, .count = count, .incarnation = owner_of(commits, count)};
    node->paused_until_ns = pawl_env_monotonic_ns(cluster->server) + pause_ns;
    pawl__cluster_trouble(node, node->paused_until_ns);
    cluster->report->half_sent++;
    pawl__cluster_say(&cluster->checker, node->name,
                      "stands still for %lld ms with half of a batch sent",
                      (long long)(pause_ns / MS_NS));
    status = pawl_env_sleep_until(session->env, node->paused_until_ns);
    if (status != PAWL_OK)
        status = pawl__error_set(err, PAWL_ESTOPPED, "the node has crashed");
    else if (node->locks_held.broken)
        status = pawl__error_set(err, PAWL_EUNKNOWN, "the session was ended by the server");
    else
        status = pawl_store_apply(session->base.inner, commits, count, deadline_ns, err);
    node->locks_held = (struct row_locks){0};
    return status;
}

/* A start of the recurring trigger that cannot be: what it would store is over a limit. */
static bool must_fail(struct cluster *cluster, const struct pawl_commit *commit)
{
    return commit->kind == PAWL_COMMIT_CREATE && commit->instance &&
           may_trouble(cluster, PAWL_CLUSTER_STARTS) &&
           pawl_env_monotonic_ns(cluster->server) < cluster->starts_fail_until_ns &&
           pawl__flow_by_id(commit->instance->definition_id) == FLOW_CRON;
}

/* Those that must fail are answered here; how many are left. */
static size_t refuse_starts(struct cluster *cluster, struct pawl_commit *const *commits,
                            size_t count, struct pawl_commit **left)
{
    size_t left_count = 0;

    for (size_t i = 0; i < count; i++) {
        if (!must_fail(cluster, commits[i])) {
            left[left_count++] = commits[i];
            continue;
        }
        commits[i]->error = (struct pawl_error)PAWL_ERROR_INIT;
        commits[i]->status =
            pawl__error_set(&commits[i]->error, PAWL_ELIMIT, "a start over its limit");
        cluster->report->start_failures++;
    }
    return left_count;
}

/* The planted bug: what gives back an instance that could not be loaded writes it. */
struct overwriting {
    struct pawl_commit *given;
    struct pawl_commit commit;
    struct pawl_instance_row row;
};

static void overwrite(struct session_store *session, struct pawl_commit **commits, size_t count,
                      struct overwriting *out)
{
    const struct cluster_node *node = session->node;

    out->given = NULL;
    if (node->cluster->options.bug != PAWL_CLUSTER_BUG_LOST_STATE)
        return;
    for (size_t i = 0; i < count && !out->given; i++) {
        const struct pawl_instance_row *row = commits[i]->instance;

        if (commits[i]->kind != PAWL_COMMIT_ADVANCE || !row ||
            !(commits[i]->flags & PAWL_COMMIT_KEEP) || row->fence != node->damaged_fence ||
            !pawl__str_is(row->id, node->damaged_id))
            continue;
        out->given = commits[i];
        out->commit = *commits[i];
        out->row = *row;
        out->row.state = pawl__str("null");
        out->row.runnable = 0;
        out->commit.flags &= ~(PAWL_COMMIT_KEEP | PAWL_COMMIT_SET_ASIDE);
        out->commit.instance = &out->row;
        commits[i] = &out->commit;
    }
}

static int session_apply(struct pawl_store *store, struct pawl_commit *const *commits, size_t count,
                         int64_t deadline_ns, struct pawl_error *err)
{
    struct session_store *session = cast(store);
    struct cluster *cluster = session->node->cluster;
    struct pawl_commit *left[PAWL_STORE_BATCH_MAX];
    struct overwriting overwriting;
    int status = wait_for_rows(session, pawl__str(""), commits, count, deadline_ns, err);

    session->node->starve = 0;
    if (status != PAWL_OK)
        return status;
    PAWL_ASSERT(count <= PAWL_STORE_BATCH_MAX);
    count = refuse_starts(cluster, commits, count, left);
    commits = left;
    if (count == 0)
        return PAWL_OK;
    if (may_trouble(cluster, PAWL_CLUSTER_HALF_SENT) && session->node->locks_held.count == 0 &&
        owner_of(commits, count) != 0 && pawl__sim_happens(&cluster->chance, HALF_SENDS))
        return send_in_two(session, commits, count, deadline_ns, err);
    overwrite(session, left, count, &overwriting);
    status = pawl_store_apply(store->inner, commits, count, deadline_ns, err);
    if (overwriting.given) {
        overwriting.given->status = overwriting.commit.status;
        overwriting.given->error = overwriting.commit.error;
    }
    return status;
}

/* ------------------------------------------------------------------------------------------ */

static void session_close(struct pawl_store *store)
{
    struct pawl_env *env = cast(store)->env;

    pawl_store_close(store->inner);
    pawl__free(&env->alloc, cast(store), sizeof(struct session_store));
}

int pawl__cluster_session_new(struct cluster_node *node, struct pawl_store *inner,
                              struct pawl_store **out, struct pawl_error *err)
{
    struct pawl_env *env = &node->env.base;
    struct session_store *session = pawl__alloc_zeroed(&env->alloc, sizeof *session);

    if (!session)
        return pawl__error_code(err, PAWL_ENOMEM);
    pawl__sim_forward_init(&session->ops);
    session->ops.close = session_close;
    session->ops.lease = session_lease;
    session->ops.claim = session_claim;
    session->ops.apply = session_apply;
    session->ops.find = session_find;
    session->env = env;
    session->node = node;
    session->base = (struct pawl_store){
        .ops = &session->ops, .caps = inner->caps, .inner = inner, .name = "session"};
    *out = &session->base;
    return PAWL_OK;
}
