/* SPDX-License-Identifier: Apache-2.0 */
/* Inspecting PostgreSQL: status, who holds an advisory lock, which are held; tickets. */
#include "base/error.h"
#include "locks/postgres_private.h"

#include <pawl/ext/store.h>

#include <stdio.h>

/* Locks of all clients of this database, those of programs that know nothing of us too. */
#define HOLDERS                                                                                    \
    "SELECT l.classid::bigint, l.objid::bigint, l.objsubid::bigint, "                              \
    "coalesce(a.application_name, '') || ' pid ' || l.pid || "                                     \
    "coalesce(' at ' || host(a.client_addr), ''), "                                                \
    "coalesce((extract(epoch FROM a.backend_start) * 1000000)::bigint, 0) "                        \
    "FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid "                               \
    "WHERE l.locktype = 'advisory' AND l.granted AND l.mode = 'ExclusiveLock' AND l.database = "   \
    "(SELECT oid FROM pg_database WHERE datname = current_database()) "

static void copy(char *to, size_t size, struct pawl_str from)
{
    size_t count = from.len < size - 1 ? from.len : size - 1;

    memcpy(to, from.ptr, count);
    to[count] = 0;
}

static void read_holder(const struct pawl_pq_conn *conn, size_t row, struct pawl_lock_holder *out)
{
    uint32_t class_id = (uint32_t)pawl__pq_int(conn, 0, row, 0);
    uint32_t object_id = (uint32_t)pawl__pq_int(conn, 0, row, 1);
    struct pawl_pg_lock_key key = {
        .pair = pawl__pq_int(conn, 0, row, 2) == 2,
        .key = (int64_t)((uint64_t)class_id << 32 | object_id),
        .a = (int32_t)class_id,
        .b = (int32_t)object_id,
    };

    *out = (struct pawl_lock_holder){.held = true, .remaining_ms = -1};
    pawl__lock_name_postgres_text(&key, out->key);
    copy(out->owner, sizeof out->owner, pawl__pq_bytes(conn, 0, row, 3));
}

static int begin(struct advisory_locks *pg, int64_t deadline_ns, struct pawl_error *err)
{
    int status = pawl__advisory_start(pg, err);

    return status == PAWL_OK ? pawl__advisory_take(&pg->sessions[0], deadline_ns, err) : status;
}

int pawl__advisory_inspect(struct pawl_lock_provider *provider, struct pawl_str name,
                           struct pawl_lock_holder *out, int64_t deadline_ns,
                           struct pawl_error *err)
{
    struct advisory_locks *pg = pawl__advisory_self(provider);
    struct advisory_session *session = &pg->sessions[0];
    struct pawl_pq_param params[3] = {
        {PAWL_PQ_INT, {"", 0}, 0}, {PAWL_PQ_INT, {"", 0}, 0}, {PAWL_PQ_INT, {"", 0}, 0}};
    struct pawl_pg_lock_key key;
    int status;

    if (name.len > PAWL_LOCK_NAME_MAX)
        return pawl__error_set(err, PAWL_EINVAL, "a lock's name has at most %d bytes",
                               PAWL_LOCK_NAME_MAX);
    pawl__lock_name_postgres(name, &key);
    params[0].integer = key.pair ? (uint32_t)key.a : (int64_t)((uint64_t)key.key >> 32);
    params[1].integer = key.pair ? (uint32_t)key.b : (uint32_t)(uint64_t)key.key;
    params[2].integer = key.pair ? 2 : 1;
    status = begin(pg, deadline_ns, err);
    if (status != PAWL_OK)
        return status;
    status = pawl__advisory_text(session,
                                 HOLDERS "AND l.classid = $1::oid AND l.objid = $2::oid AND "
                                         "l.objsubid = $3 LIMIT 1",
                                 params, 3, deadline_ns, err);
    if (status == PAWL_OK && pawl__pq_rows(session->conn, 0) > 0) {
        read_holder(session->conn, 0, out);
    } else if (status == PAWL_OK) {
        *out = (struct pawl_lock_holder){.remaining_ms = -1};
        pawl__lock_name_postgres_text(&key, out->key);
    }
    pawl__advisory_give(session);
    return status;
}

int pawl__advisory_list(struct pawl_lock_provider *provider, size_t limit,
                        int (*each)(void *ctx, const struct pawl_lock_holder *holder), void *ctx,
                        int64_t deadline_ns, struct pawl_error *err)
{
    struct advisory_locks *pg = pawl__advisory_self(provider);
    struct advisory_session *session = &pg->sessions[0];
    const struct pawl_pq_param most = {
        PAWL_PQ_INT, {"", 0}, limit < INT32_MAX ? (int64_t)limit : INT32_MAX};
    int status = begin(pg, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__advisory_text(session, HOLDERS "LIMIT $1", &most, 1, deadline_ns, err);
    for (size_t row = 0; status == PAWL_OK && row < pawl__pq_rows(session->conn, 0); row++) {
        struct pawl_lock_holder holder;

        read_holder(session->conn, row, &holder);
        if (each(ctx, &holder) != 0)
            break;
    }
    pawl__advisory_give(session);
    return status;
}

int pawl__advisory_status(struct pawl_lock_provider *provider, struct pawl_lock_status *out,
                          int64_t deadline_ns, struct pawl_error *err)
{
    struct advisory_locks *pg = pawl__advisory_self(provider);
    struct advisory_session *session = &pg->sessions[0];
    bool is_standby = false;
    int status = begin(pg, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    status =
        pawl__advisory_text(session, "SELECT pg_is_in_recovery()::int", NULL, 0, deadline_ns, err);
    if (status == PAWL_OK) {
        is_standby = pawl__pq_int(session->conn, 0, 0, 0) != 0;
        *out = (struct pawl_lock_status){.ttl_ms = 0};
        (void)snprintf(out->server, sizeof out->server, "PostgreSQL %s",
                       pawl__pq_server_text(session->conn));
        if (session->is_pooled)
            (void)snprintf(out->warning, sizeof out->warning,
                           "there is a connection pooler in between; it must stay in session mode");
    }
    pawl__advisory_give(session);
    if (status == PAWL_OK && is_standby)
        return pawl__error_set(err, PAWL_EUNSUPPORTED,
                               "this PostgreSQL server is a standby, whose locks exclude nobody on "
                               "the primary; give the primary's address");
    return status;
}

int pawl__advisory_ticket(struct pawl_lock_provider *provider, struct pawl_str name,
                          struct pawl_lock_ticket *out, struct pawl_error *err)
{
    struct pawl_pg_lock_key key;

    (void)provider;
    if (name.len > PAWL_LOCK_NAME_MAX)
        return pawl__error_set(err, PAWL_EINVAL, "a lock's name has at most %d bytes",
                               PAWL_LOCK_NAME_MAX);
    pawl__lock_name_postgres(name, &key);
    /* Names of instances are long enough never to be such. */
    if (key.pair || key.key == 0)
        return pawl__error_set(
            err, PAWL_EUNSUPPORTED,
            "a name of up to 9 characters maps to a pair of keys, which a store does "
            "not acquire with its claims; lock it separately");
    out->key = key.key;
    return PAWL_OK;
}
