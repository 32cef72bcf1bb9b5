/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connections of a PostgreSQL store: pools by role, opened when they are needed, and one that
 * listens.
 *
 * A connection that fails is dropped, and the next call opens another. While the server cannot be
 * reached tries are spaced out: a call waits until the next one is allowed, tries once, and returns
 * what came of it. Connections that died while idle are noticed before anything is sent on them, so
 * that a restarted server costs no call an unknown outcome. A server that only reads, as a standby
 * does, counts as one that cannot be reached: with several hosts in the URI libpq looks further.
 *
 * Connecting never happens under the lock.
 */
#include "base/error.h"
#include "base/hash/siphash.h"
#include "resilience/backoff.h"
#include "stores/postgres.h"

#include <inttypes.h>
#include <stdio.h>

#define BACKOFF_NS_MIN INT64_C(20000000)
#define BACKOFF_NS_MAX INT64_C(1000000000)
/* When the store is closed, for what nobody has waited for, on all connections. */
#define SIGNALS_NS_MAX INT64_C(1000000000)

int pawl__pg_pools_init(struct pawl_postgres *pg, uint32_t connections)
{
    size_t count = connections ? connections : PG_CONNECTIONS_DEFAULT;
    int status = pawl_mutex_new(pg->env, "postgres", &pg->lock);

    if (count < PG_CONNECTIONS_MIN)
        count = PG_CONNECTIONS_MIN;
    if (count > PG_CONNECTIONS_MAX)
        count = PG_CONNECTIONS_MAX;
    pg->pools[PG_LEASE].max_count = 1;
    pg->pools[PG_COMMIT].max_count = (count - 2) / 2;
    pg->pools[PG_FAST].max_count = count - 2 - pg->pools[PG_COMMIT].max_count;
    for (int role = 0; role < PG_ROLE_COUNT && status == PAWL_OK; role++)
        status = pawl_cond_new(pg->env, "postgres freed", &pg->pools[role].freed);
    if (status == PAWL_OK)
        status = pawl_cond_new(pg->env, "postgres woken", &pg->woken);
    return status;
}

/* The signals behind its last commit are on their way: whoever closes does not cut them off. */
static void end_connection(struct pawl_pq_conn *conn, const struct pawl_socket_wait *wait)
{
    if (pawl__pq_is_late(conn))
        (void)!pawl__pq_await(conn, wait, NULL);
    pawl__pq_disconnect(conn);
}

void pawl__pg_pools_release(struct pawl_postgres *pg)
{
    const struct pawl_socket_wait wait = {pg->env, NULL,
                                          pawl_env_monotonic_ns(pg->env) + SIGNALS_NS_MAX};

    for (int role = 0; role < PG_ROLE_COUNT; role++) {
        for (size_t i = 0; i < pg->pools[role].idle_count; i++)
            end_connection(pg->pools[role].idle[i], &wait);
        pawl_cond_free(pg->env, pg->pools[role].freed);
    }
    pawl__pq_disconnect(pg->listener);
    pawl_cond_free(pg->env, pg->woken);
    pawl_mutex_free(pg->env, pg->lock);
}

void pawl__pg_count(struct pawl_postgres *pg, int64_t round_trips, int64_t syncs)
{
    if (pawl_mutex_lock(pg->env, pg->lock) != PAWL_OK)
        return;
    pg->round_trips += round_trips;
    pg->syncs += syncs;
    pawl_mutex_unlock(pg->env, pg->lock);
}

/* ---- opening ----------------------------------------------------------------------------- */

/* A commit holds its row locks for one sync to disk. A longer wait ends as busy
 * and is retried: the holder has stopped. */
#define LOCK_TIMEOUT "500ms"

/*
 * How every session is, whatever the database's defaults are. The server looks now and then whether
 * the client is still there, so that one whose deadline has passed holds no locks; only Linux can.
 * One that is cut off is given up after half a minute.
 * Whole tables are not read, nor all rows of an index before the first is answered: a plan that was
 * made while a table was empty is kept while it grows.
 * There is one index for each statement (sql_schema.c), so that a plan is good for all values: it
 * is not made again for each. Compiling one never pays for a few rows.
 */
static const char *session_text(const struct pawl_postgres *pg, enum pg_role role)
{
#define SESSION(sync, readonly)                                                                    \
    "SELECT set_config('synchronous_commit', '" sync "', false), "                                 \
    "set_config('default_transaction_read_only', '" readonly "', false), "                         \
    "set_config('default_transaction_isolation', 'read committed', false), "                       \
    "set_config('enable_seqscan', 'off', false), "                                                 \
    "set_config('enable_bitmapscan', 'off', false), "                                              \
    "set_config('plan_cache_mode', 'force_generic_plan', false), "                                 \
    "set_config('jit', 'off', false), "                                                            \
    "set_config('idle_in_transaction_session_timeout', '60s', false), "                            \
    "set_config('lock_timeout', '" LOCK_TIMEOUT "', false), "                                      \
    "set_config('tcp_keepalives_idle', '15', false), "                                             \
    "set_config('tcp_keepalives_interval', '5', false), "                                          \
    "set_config('tcp_keepalives_count', '3', false), "                                             \
    "set_config('tcp_user_timeout', '30000', false), "                                             \
    "CASE WHEN version() LIKE '%linux%' THEN "                                                     \
    "set_config('client_connection_check_interval', '2s', false) END, pg_is_in_recovery()"
    if (pg->flags & PAWL_STORE_OPEN_READ)
        return SESSION("off", "on");
    return role == PG_COMMIT ? SESSION("on", "off") : SESSION("off", "off");
#undef SESSION
}

static int set_up(struct pawl_postgres *pg, struct pawl_pq_conn *conn, const char *text,
                  const struct pawl_socket_wait *wait, struct pawl_error *err)
{
    int status = pawl__pq_begin(conn, err);

    if (status == PAWL_OK)
        status = pawl__pq_queue(conn, PAWL_PQ_STATEMENT_NONE, text, NULL, 0, err);
    if (status == PAWL_OK)
        status = pawl__pq_sync(conn, err);
    if (status == PAWL_OK)
        status = pawl__pq_run(conn, false, wait, err);
    if (status == PAWL_OK)
        status = pawl__pq_status(conn, 0, err);
    pawl__pg_count(pg, 1, 0);
    if (status != PAWL_OK || (pg->flags & PAWL_STORE_OPEN_READ))
        return status;
    if (pawl__pq_columns(conn, 0) > 0 &&
        pawl__pq_int(conn, 0, 0, pawl__pq_columns(conn, 0) - 1) != 0)
        return pawl__pq_refuse_standby(conn, err);
    return PAWL_OK;
}

static void note_try(struct pawl_postgres *pg, int status)
{
    if (pawl_mutex_lock(pg->env, pg->lock) != PAWL_OK)
        return;
    if (status == PAWL_OK) {
        pg->retry_ns = 0;
        pg->failures = 0;
    } else {
        pg->retry_ns = pawl_env_monotonic_ns(pg->env) +
                       pawl__backoff_ns(pg->env, BACKOFF_NS_MIN, BACKOFF_NS_MAX, pg->failures);
        pg->failures += pg->failures < UINT32_MAX;
    }
    pawl_mutex_unlock(pg->env, pg->lock);
}

/* `retry_ns`: when the next try is allowed. */
static int open_connection(struct pawl_postgres *pg, const char *session, int64_t retry_ns,
                           int64_t deadline_ns, struct pawl_pq_conn **out, struct pawl_error *err)
{
    const struct pawl_socket_wait wait = {pg->env, NULL, deadline_ns};
    struct pawl_pq_conn *conn = NULL;
    int status = pawl_env_sleep_until(pg->env, retry_ns < deadline_ns ? retry_ns : deadline_ns);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    status = pawl__pq_connect(pg->pq, pg->uri, &wait, &conn, err);
    if (status == PAWL_OK)
        status = set_up(pg, conn, session, &wait, err);
    /* Or callers would take it for the answer that an instance is not there. */
    if (status == PAWL_ENOTFOUND && pg->is_open) {
        status = PAWL_EUNAVAILABLE;
        if (err)
            err->code = status;
    }
    note_try(pg, status);
    if (status == PAWL_OK)
        *out = conn;
    else
        pawl__pq_disconnect(conn);
    return status;
}

/* ---- names of sessions -------------------------------------------------------------------- */

/* Under the lock. */
static void name_joined(struct pawl_postgres *pg)
{
    size_t length = 0;

    pg->joined_text[0] = 0;
    for (size_t i = 0; i < pg->joined_count && !pg->is_crowded; i++) {
        int more = snprintf(pg->joined_text + length, sizeof pg->joined_text - length, "%s%" PRId64,
                            i > 0 ? "," : "", pg->joined[i].incarnation);

        length += more > 0 ? (size_t)more : 0;
        if (length >= sizeof pg->joined_text)
            pg->joined_text[0] = 0; /* nobody's: rather than one node's alone */
        if (length >= sizeof pg->joined_text)
            break;
    }
    pg->joined_mark++;
}

void pawl__pg_note_joined(struct pawl_postgres *pg, struct pawl_str node_id, int64_t incarnation)
{
    const struct pawl_hash_seed seed = {0x6a6f696e, 0};
    uint64_t hash = pawl__siphash(seed, node_id);
    size_t at = 0;

    if (pawl_mutex_lock(pg->env, pg->lock) != PAWL_OK)
        return;
    /* A node that joins again takes the place of its earlier life. */
    while (at < pg->joined_count && pg->joined[at].id_hash != hash)
        at++;
    if (at < PG_JOINED_MAX) {
        pg->joined[at].id_hash = hash;
        pg->joined[at].incarnation = incarnation;
        pg->joined_count += at == pg->joined_count;
    } else {
        pg->is_crowded = true;
    }
    name_joined(pg);
    pawl_mutex_unlock(pg->env, pg->lock);
}

void pawl__pg_note_left(struct pawl_postgres *pg, int64_t incarnation)
{
    if (pawl_mutex_lock(pg->env, pg->lock) != PAWL_OK)
        return;
    for (size_t i = 0; i < pg->joined_count; i++)
        if (pg->joined[i].incarnation == incarnation) {
            pg->joined[i] = pg->joined[--pg->joined_count];
            name_joined(pg);
            break;
        }
    pawl_mutex_unlock(pg->env, pg->lock);
}

/* Sent ahead of whatever comes next, not waited for. */
static int name_session(struct pawl_postgres *pg, struct pawl_pq_conn *conn, struct pawl_error *err)
{
    char text[PG_JOINED_TEXT_MAX];
    struct pawl_pq_param param = {PAWL_PQ_TEXT, {"", 0}, 0};
    uint64_t mark;
    int status = pawl_mutex_lock(pg->env, pg->lock);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    mark = pg->joined_mark;
    memcpy(text, pg->joined_text, sizeof text);
    pawl_mutex_unlock(pg->env, pg->lock);
    if (pawl__pq_mark(conn) == mark)
        return PAWL_OK;
    param.bytes = pawl__str(text);
    pawl__pq_set_mark(conn, mark);
    return pawl__pq_post(conn, PG_NUMBER_OWN + PG_NAME_SESSION, pg->own[PG_NAME_SESSION], &param, 1,
                         err);
}

/* ---- taking and giving back --------------------------------------------------------------- */

/* Under the lock: until one is idle or may be opened. */
static int await_free(struct pawl_postgres *pg, struct pg_pool *pool, int64_t deadline_ns,
                      struct pawl_error *err)
{
    while (pool->idle_count == 0 && pool->open_count >= pool->max_count) {
        int status = pawl_cond_wait(pg->env, pool->freed, pg->lock, deadline_ns);

        if (status == PAWL_ETIMEDOUT)
            return pawl__error_set(
                err, status,
                "all %zu connections to PostgreSQL for this purpose are in use; allow "
                "more of them",
                pool->max_count);
        if (status != PAWL_OK)
            return pawl__error_code(err, status);
    }
    return PAWL_OK;
}

/* Under the lock. Who waits for one certain connection must not take the place of another. */
static void signal_freed(struct pawl_postgres *pg, struct pg_pool *pool)
{
    if (pg->unlocked_waiters > 0)
        pawl_cond_broadcast(pg->env, pool->freed);
    else
        pawl_cond_signal(pg->env, pool->freed);
}

static void drop(struct pawl_postgres *pg, struct pg_pool *pool, struct pawl_pq_conn *conn)
{
    bool locked = pawl_mutex_lock(pg->env, pg->lock) == PAWL_OK;

    /* Before it goes: another one may get its address. */
    if (conn)
        pawl__pg_forget_held(pg, conn);
    if (locked)
        pawl_mutex_unlock(pg->env, pg->lock);
    pawl__pq_disconnect(conn);
    if (!locked || pawl_mutex_lock(pg->env, pg->lock) != PAWL_OK)
        return;
    pool->open_count--;
    signal_freed(pg, pool);
    pawl_mutex_unlock(pg->env, pg->lock);
}

int pawl__pg_acquire(struct pawl_postgres *pg, enum pg_role role, int64_t key, int64_t deadline_ns,
                     struct pawl_pq_conn **out, struct pawl_error *err)
{
    struct pg_pool *pool = &pg->pools[role];

    for (;;) {
        struct pawl_pq_conn *conn = NULL;
        int64_t retry_ns;
        int status = pawl_mutex_lock(pg->env, pg->lock);

        if (status != PAWL_OK)
            return pawl__error_code(err, status);
        if (key != 0)
            conn = pawl__pg_await_unlocked(pg, key, deadline_ns);
        if (!conn)
            status = await_free(pg, pool, deadline_ns, err);
        retry_ns = pg->retry_ns;
        if (!conn && status == PAWL_OK && pool->idle_count > 0)
            conn = pool->idle[--pool->idle_count];
        else if (!conn && status == PAWL_OK)
            pool->open_count++;
        pawl_mutex_unlock(pg->env, pg->lock);
        if (status != PAWL_OK)
            return status;
        if (!conn) {
            /* Who keeps a lease has waits of its own. */
            status = open_connection(pg, session_text(pg, role), role == PG_LEASE ? 0 : retry_ns,
                                     deadline_ns, &conn, err);
            if (status != PAWL_OK) {
                drop(pg, pool, NULL);
                return status;
            }
        }
        if (pawl__pq_is_alive(conn, pg->env)) {
            status = name_session(pg, conn, err);
            if (status == PAWL_OK)
                *out = conn;
            else
                drop(pg, pool, conn);
            return status;
        }
        drop(pg, pool, conn);
    }
}

void pawl__pg_give_back(struct pawl_postgres *pg, enum pg_role role, struct pawl_pq_conn *conn)
{
    struct pg_pool *pool = &pg->pools[role];
    int64_t key;

    for (;;) {
        if (pawl__pq_is_broken(conn) || pawl_mutex_lock(pg->env, pg->lock) != PAWL_OK) {
            drop(pg, pool, conn);
            return;
        }
        pawl__pg_note_answered(pg, conn);
        if (!pawl__pg_next_leaving(pg, conn, &key))
            break;
        pawl_mutex_unlock(pg->env, pg->lock);
        pawl__pg_post_unlock(pg, conn, &key, 1);
    }
    pool->idle[pool->idle_count++] = conn;
    signal_freed(pg, pool);
    pawl_mutex_unlock(pg->env, pg->lock);
}

/* ---- listening --------------------------------------------------------------------------- */

/* Without the lock, by the leader. A new listener may have missed something: check again. */
static int listen_once(struct pawl_postgres *pg, struct pawl_pq_conn **listener, int64_t retry_ns,
                       int64_t deadline_ns, struct pawl_error *err)
{
    const struct pawl_socket_wait wait = {pg->env, NULL, deadline_ns};
    int status;

    if (!*listener)
        return open_connection(pg, "LISTEN pawl", retry_ns, deadline_ns, listener, err);
    status = pawl__pq_wait_notice(*listener, &wait, err);
    if (pawl__pq_is_broken(*listener)) {
        pawl__pq_disconnect(*listener);
        *listener = NULL;
        status = open_connection(pg, "LISTEN pawl", 0, deadline_ns, listener, err);
    }
    return status;
}

int pawl__pg_wait(struct pawl_store *store, struct pawl_wake *wake, int64_t deadline_ns,
                  struct pawl_error *err)
{
    struct pawl_postgres *pg = (struct pawl_postgres *)store;
    int status = pawl_mutex_lock(pg->env, pg->lock);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    while (status == PAWL_OK && pg->wakes == wake->seen) {
        if (pg->is_led) {
            status = pawl_cond_wait(pg->env, pg->woken, pg->lock, deadline_ns);
            if (status != PAWL_OK)
                (void)pawl__error_code(err, status);
        } else {
            struct pawl_pq_conn *listener = pg->listener;
            int64_t retry_ns = pg->retry_ns;

            pg->is_led = true;
            pawl_mutex_unlock(pg->env, pg->lock);
            status = listen_once(pg, &listener, retry_ns, deadline_ns, err);
            if (pawl_mutex_lock(pg->env, pg->lock) != PAWL_OK) {
                /* Nobody waits any more in an environment that is stopped. */
                pg->listener = listener;
                return pawl__error_code(err, PAWL_ESTOPPED);
            }
            pg->listener = listener;
            pg->is_led = false;
            pg->wakes += status == PAWL_OK;
            pawl_cond_broadcast(pg->env, pg->woken); /* a notification, or a new leader is needed */
        }
    }
    if (status == PAWL_OK)
        wake->seen = pg->wakes;
    pawl_mutex_unlock(pg->env, pg->lock);
    return status;
}
