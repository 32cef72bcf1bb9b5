/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PostgreSQL store.
 *
 * Every call is one flush-and-wait on a connection of a small pool: what belongs together goes out
 * as one pipeline, and what must be one transaction is one between two syncs (drivers/libpq.h).
 * Commits go over connections that sync to disk; claims, takes and leases over others that do not
 * wait for that, because what they write may be lost in a crash of the server: nobody acts upon it
 * but by a commit, which then finds that it does not hold. Joining is synced: a number that was
 * given to a node must never be given to another.
 *
 * Row locks of others: nobody waits for one longer than LOCK_TIMEOUT (postgres_pool.c), and then it
 * is PAWL_EBUSY; a commit may wait as long behind the signals of the one before it. Leases have a
 * connection of their own and touch one row that is the node's alone. A node that stops in the
 * middle of a batch keeps its locks as long as its process exists, and then until another one's
 * renewal ends its session (PG_END_DEAD).
 *
 *     postgres.c         opening, status, leases, checks
 *     postgres_pool.c    connections; waiting for news
 *     postgres_call.c    one call on one connection
 *     postgres_schema.c  tables
 *     postgres_apply.c   commits
 *     postgres_claim.c   claims, takes
 *     postgres_find.c    queries, snapshots
 *     postgres_text.c    statements that only PostgreSQL has; the others are sql.h's
 *
 * Lock order: the store's one mutex guards counters, pools and who listens; it is never held while
 * something is sent or connected.
 */
#include "stores/postgres.h"

#include "base/alloc.h"
#include "base/error.h"
#include "stores/sql_text.h"

#include <stdio.h>

#define OPEN_NS_MAX INT64_C(30000000000)
/* A lease longer than this never ends, and must not overflow when a time is added. */
#define TTL_US_MAX (PAWL_TIME_NEVER / 2)
#define TEXT_BYTES_MAX ((size_t)256 << 10)

/* ---- status, leases ---------------------------------------------------------------------- */

static int status_of(struct pawl_store *store, struct pawl_store_status *out, int64_t deadline_ns,
                     struct pawl_error *err)
{
    const struct pawl_sql_inputs none = {.row = NULL};
    struct pawl_postgres *pg = (struct pawl_postgres *)store;
    struct pg_call call;
    int status = pawl__pg_call_begin(&call, store, PG_FAST, false, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__pg_named(&call, PAWL_SQL_NOW, &none);
    if (status == PAWL_OK)
        status = pawl__pg_named(&call, PAWL_SQL_SCHEMA, &none);
    if (status == PAWL_OK)
        status = pawl__pg_sync(&call);
    if (status == PAWL_OK)
        status = pawl__pg_run(&call, false);
    if (status == PAWL_OK)
        status = pawl_mutex_lock(pg->env, pg->lock);
    if (status == PAWL_OK) {
        *out = (struct pawl_store_status){
            .now_us = pawl__pq_int(call.conn, 0, 0, 0),
            .schema = pawl__pq_rows(call.conn, 1) > 0 ? pawl__pq_int(call.conn, 1, 0, 0) : 0,
            .round_trips = pg->round_trips,
            .syncs = pg->syncs,
            .backend = "postgres",
        };
        pawl_mutex_unlock(pg->env, pg->lock);
        (void)snprintf(out->server, sizeof out->server, "PostgreSQL %s",
                       pawl__pq_server_text(call.conn));
        pawl__pq_location(pg->pq, pg->uri, out->location, sizeof out->location);
    }
    pawl__pg_call_end(&call);
    return status;
}

/* The server looks at every file of the database: 10 ms where that is nearly empty. */
static int size_of(struct pawl_store *store, int64_t *size_bytes, int64_t deadline_ns,
                   struct pawl_error *err)
{
    struct pg_call call;
    int status = pawl__pg_call_begin(&call, store, PG_FAST, false, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__pg_text(&call, "SELECT pg_database_size(current_database())");
    if (status == PAWL_OK)
        status = pawl__pg_sync(&call);
    if (status == PAWL_OK)
        status = pawl__pg_run(&call, false);
    if (status == PAWL_OK)
        *size_bytes = pawl__pq_int(call.conn, 0, 0, 0);
    pawl__pg_call_end(&call);
    return status;
}

static int send_lease(struct pg_call *call, const struct pawl_lease *lease)
{
    const int64_t ttl_us = lease->ttl_us < TTL_US_MAX ? lease->ttl_us : TTL_US_MAX;
    const struct pawl_sql_inputs inputs = {
        .id = lease->node_id, .owner = lease->incarnation, .value = PAWL_NODE_FORGET_US};
    struct pawl_pq_param params[4] = {
        {PAWL_PQ_TEXT, pawl__sql_clean(lease->node_id, &call->arena), 0},
        {PAWL_PQ_INT, {"", 0}, lease->incarnation},
        {PAWL_PQ_TEXT, pawl__sql_clean(lease->info, &call->arena), 0},
        {PAWL_PQ_INT, {"", 0}, ttl_us}};
    int status;

    if (call->arena.status != PAWL_OK)
        return pawl__error_code(call->err, call->arena.status);
    switch (lease->kind) {
    case PAWL_LEASE_JOIN:
        params[1] = params[2];
        params[2] = params[3];
        status = pawl__pg_own(call, PG_PATIENT, NULL, 0);
        if (status == PAWL_OK)
            status = pawl__pg_own(call, PG_JOIN_LOCK, NULL, 0);
        if (status == PAWL_OK)
            status = pawl__pg_own(call, PG_JOIN, params, 3);
        return status == PAWL_OK ? pawl__pg_named(call, PAWL_SQL_FORGET, &inputs) : status;
    case PAWL_LEASE_RENEW:
        return pawl__pg_own(call, PG_RENEW, params, 4);
    case PAWL_LEASE_LEAVE:
        status = pawl__pg_named(call, PAWL_SQL_LEAVE, &inputs);
        if (status == PAWL_OK)
            status = pawl__pg_named(call, PAWL_SQL_NOW, &inputs);
        if (status == PAWL_OK)
            status = pawl__pg_named(call, PAWL_SQL_LEAVE_ROW, &inputs);
        /* What the node held is free: others need not wait for their next look. */
        return status == PAWL_OK ? pawl__pg_own(call, PG_NOTIFY, NULL, 0) : status;
    }
    return pawl__error_code(call->err, PAWL_EINVAL);
}

static int fill_lease(struct pg_call *call, struct pawl_lease *lease)
{
    if (lease->kind == PAWL_LEASE_JOIN) {
        lease->incarnation = pawl__pq_int(call->conn, 2, 0, 0);
        lease->now_us = pawl__pq_int(call->conn, 2, 0, 1);
        pawl__pg_note_joined(call->pg, lease->node_id, lease->incarnation);
    } else if (lease->kind == PAWL_LEASE_LEAVE) {
        lease->now_us = pawl__pq_int(call->conn, 1, 0, 0);
        pawl__pg_note_left(call->pg, lease->incarnation);
    } else if (pawl__pq_rows(call->conn, 0) == 0) {
        return pawl__error_set(call->err, PAWL_ECONFLICT,
                               "another process has joined as node %.*s since",
                               PAWL_STR_ARG(lease->node_id));
    } else {
        lease->now_us = pawl__pq_int(call->conn, 0, 0, 1);
        lease->lapsed = pawl__pq_int(call->conn, 0, 0, 0) <= lease->now_us;
    }
    return PAWL_OK;
}

/*
 * A live node ends the sessions of dead nodes with each renewal: in a separate transaction
 * behind it in the same flush, and whatever becomes of that. So nobody's locks outlast the lease of
 * the node that has them by more than a few renewals of another.
 */
static int send_end_dead(struct pg_call *call, const struct pawl_lease *lease)
{
    const struct pawl_pq_param age = {PAWL_PQ_INT, {"", 0}, lease->ttl_us / 3};
    int status;

    if (lease->kind != PAWL_LEASE_RENEW)
        return PAWL_OK;
    status = pawl__pg_own(call, PG_END_DEAD, &age, 1);
    return status == PAWL_OK ? pawl__pg_sync(call) : status;
}

static int run_lease(struct pg_call *call, const struct pawl_lease *lease)
{
    int status = send_lease(call, lease);
    size_t count = call->count;

    if (status == PAWL_OK)
        status = pawl__pg_sync(call);
    if (status == PAWL_OK)
        status = send_end_dead(call, lease);
    if (status != PAWL_OK)
        return status;
    status = pawl__pq_run(call->conn, true, &call->wait, call->err);
    pawl__pg_count(call->pg, 1, 0);
    if (status != PAWL_OK && pawl__pq_synced(call->conn) == 0)
        return status;
    return pawl__pg_first_error(call, 0, count, call->err);
}

static int lease_of(struct pawl_store *store, struct pawl_lease *lease, int64_t deadline_ns,
                    struct pawl_error *err)
{
    bool joins = lease->kind == PAWL_LEASE_JOIN;
    struct pg_call call;
    int status =
        pawl__pg_call_begin(&call, store, joins ? PG_COMMIT : PG_LEASE, true, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    status = run_lease(&call, lease);
    if (status == PAWL_OK)
        status = fill_lease(&call, lease);
    if (status == PAWL_OK && joins)
        pawl__pg_count(call.pg, 0, 1);
    pawl__pg_call_end(&call);
    return status;
}

/* ---- checks ------------------------------------------------------------------------------ */

/* What a server knows about itself without extensions, and what must hold between our tables. */
static const char *const checks[] = {
    "SELECT 'index ' || c.relname || ' is not valid; REINDEX it' FROM pg_index AS x JOIN pg_class "
    "AS "
    "c ON c.oid = x.indexrelid WHERE c.relname LIKE 'pawl\\_%' AND NOT x.indisvalid",
    "SELECT 'the server has seen ' || checksum_failures || ' damaged pages in this database' FROM "
    "pg_stat_database WHERE datname = current_database() AND checksum_failures > 0",
    "SELECT 'bookmark ' || b.id || ' is of no instance' FROM pawl_bookmarks AS b WHERE NOT EXISTS "
    "(SELECT 1 FROM pawl_instances AS i WHERE i.tenant_id = b.tenant_id AND i.id = b.instance_id) "
    "ORDER BY b.id LIMIT 100",
    "SELECT 'instance ' || id || ' has an impossible revision or fence' FROM pawl_instances WHERE "
    "revision < 1 OR revision_fence > fence OR fence < 1 ORDER BY id LIMIT 100",
    "SELECT count(*) || ' " PAWL_SQL_OTHER_TENANT(
        "instances") "' FROM pawl_instances WHERE "
                     "tenant_id <> '' HAVING count(*) > 0",
    "SELECT count(*) || ' " PAWL_SQL_OTHER_TENANT(
        "definitions") "' FROM pawl_definitions WHERE "
                       "tenant_id <> '' HAVING count(*) > 0",
};

static int check(struct pawl_store *store, pawl_finding_visitor visit, void *ctx,
                 int64_t deadline_ns, struct pawl_error *err)
{
    const size_t count = sizeof checks / sizeof checks[0];
    struct pg_call call;
    int status = pawl__pg_call_begin(&call, store, PG_FAST, false, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = pawl__pg_text(&call, checks[i]);
    if (status == PAWL_OK)
        status = pawl__pg_sync(&call);
    if (status == PAWL_OK)
        status = pawl__pg_run(&call, false);
    for (size_t at = 0; at < count && status == PAWL_OK; at++)
        for (size_t row = 0; row < pawl__pq_rows(call.conn, at) && status == PAWL_OK; row++) {
            struct pawl_str text =
                pawl__arena_str(&call.arena, pawl__pq_bytes(call.conn, at, row, 0));

            if (text.ptr)
                visit(ctx, text.ptr);
            else
                status = pawl__error_code(err, pawl__arena_status(&call.arena));
        }
    pawl__pg_call_end(&call);
    return status;
}

/* ---- opening ----------------------------------------------------------------------------- */

static void close_store(struct pawl_store *store)
{
    struct pawl_postgres *pg = (struct pawl_postgres *)store;
    struct pawl_env *env = pg->env;

    pawl__pg_pools_release(pg);
    pawl__pg_tickets_release(pg);
    pawl__pq_close(pg->pq);
    pawl__sql_free(pg->sql);
    pawl__arena_release(&pg->texts);
    pawl__free(&env->alloc, pg->uri, pg->uri_size);
    pawl__free(&env->alloc, pg, sizeof *pg);
}

static const struct pawl_store_ops ops = {
    .version = PAWL_STORE_VERSION,
    .close = close_store,
    .status = status_of,
    .lease = lease_of,
    .claim = pawl__pg_claim,
    .apply = pawl__pg_apply,
    .take = pawl__pg_take,
    .find = pawl__pg_find,
    .wait = pawl__pg_wait,
    .snapshot = pawl__pg_snapshot,
    .load = pawl__pg_load,
    .check = check,
    .unlock = pawl__pg_unlock,
    .find_many = pawl__pg_find_many,
    .size = size_of,
};

static int copy_uri(struct pawl_postgres *pg, struct pawl_str uri)
{
    if (uri.len == 0 || memchr(uri.ptr, '\0', uri.len))
        return PAWL_EINVAL;
    pg->uri = pawl__alloc(&pg->env->alloc, uri.len + 1);
    if (!pg->uri)
        return PAWL_ENOMEM;
    pg->uri_size = uri.len + 1;
    memcpy(pg->uri, uri.ptr, uri.len);
    pg->uri[uri.len] = 0;
    return PAWL_OK;
}

int pawl__postgres_store_open(struct pawl_env *env, struct pawl_str uri,
                              const struct pawl_store_options *options, struct pawl_store **out,
                              struct pawl_error *err)
{
    struct pawl_postgres *pg = pawl__alloc_zeroed(&env->alloc, sizeof *pg);
    int status;

    if (!pg)
        return pawl__error_code(err, PAWL_ENOMEM);
    pg->base = (struct pawl_store){&ops,
                                   PAWL_STORE_CAP_DURABLE | PAWL_STORE_CAP_PROCESSES |
                                       PAWL_STORE_CAP_MACHINES | PAWL_STORE_CAP_TICKETS |
                                       PAWL_STORE_CAP_VISITS,
                                   NULL, "postgres"};
    pg->env = env;
    pg->flags = options ? options->flags : 0;
    pawl__arena_init(&pg->texts, &env->alloc, TEXT_BYTES_MAX);
    status = pawl__pg_tickets_init(pg);
    if (status == PAWL_OK)
        status = copy_uri(pg, uri);
    if (status == PAWL_OK)
        status = pawl__pg_pools_init(pg, options ? options->connections : 0);
    if (status == PAWL_OK)
        status = pawl__pg_texts_make(pg);
    if (status != PAWL_OK)
        (void)pawl__error_code(err, status);
    if (status == PAWL_OK)
        status = pawl__sql_new(&env->alloc, PAWL_SQL_POSTGRES, &pg->sql, err);
    if (status == PAWL_OK)
        status = pawl__pq_open(&env->alloc, &pg->pq, err);
    if (status == PAWL_OK)
        status = pawl__pg_schema_open(pg, pawl_env_monotonic_ns(env) + OPEN_NS_MAX, err);
    pg->is_open = status == PAWL_OK;
    if (status == PAWL_OK)
        *out = &pg->base;
    else
        close_store(&pg->base);
    return status;
}
