/* SPDX-License-Identifier: Apache-2.0 */
/* Connections that hold advisory locks, see postgres_private.h. */
#include "base/alloc.h"
#include "base/error.h"
#include "locks/postgres_private.h"
#include "resilience/backoff.h"

#include <inttypes.h>
#include <stdio.h>

#define BACKOFF_NS_MIN INT64_C(20000000)
#define BACKOFF_NS_MAX INT64_C(1000000000)
#define POOLER_NS INT64_C(2000000000)
#define POOLER_ROUNDS 3
#define FAREWELL_NS INT64_C(1000000000)

/* ---- statements -------------------------------------------------------------------------- */

#define PAIR "$1::int4, $2::int4"
#define OWN                                                                                        \
    "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND "             \
    "pid = pg_backend_pid() AND database = (SELECT oid FROM pg_database WHERE datname = "          \
    "current_database()) AND "

/* By statement and whether the key is a pair. */
static const char *const keyed[ADVISORY_KEYED_COUNT][2] = {
    [ADVISORY_TRY] = {"SELECT pg_try_advisory_lock($1)", "SELECT pg_try_advisory_lock(" PAIR ")"},
    [ADVISORY_TRY_TOKEN] = {"SELECT CASE WHEN pg_try_advisory_lock($1) THEN "
                            "nextval('pawl_lock_token') ELSE 0 END",
                            "SELECT CASE WHEN pg_try_advisory_lock(" PAIR ") THEN "
                            "nextval('pawl_lock_token') ELSE 0 END"},
    [ADVISORY_UNLOCK] = {"SELECT pg_advisory_unlock($1)", "SELECT pg_advisory_unlock(" PAIR ")"},
    [ADVISORY_LOCK] = {"SELECT pg_advisory_lock($1)", "SELECT pg_advisory_lock(" PAIR ")"},
    [ADVISORY_OWN] = {OWN "objsubid = 1 AND (classid::bigint << 32 | objid::bigint) = $1)",
                      OWN "objsubid = 2 AND classid = ($1 & 4294967295)::oid AND "
                          "objid = ($2 & 4294967295)::oid)"},
};

static const char *const plain[ADVISORY_COUNT] = {
    [ADVISORY_PROBE] = "SELECT 1",
    [ADVISORY_TOKEN] = "SELECT nextval('pawl_lock_token')",
    [ADVISORY_TIMEOUT] = "SELECT set_config('lock_timeout', $1, true)",
    [ADVISORY_CANCEL] = "SELECT pg_cancel_backend($1::int4)",
};

int pawl__advisory_queue(struct advisory_session *session, enum advisory_statement statement,
                         const struct pawl_pg_lock_key *key, const struct pawl_pq_param *params,
                         size_t param_count, struct pawl_error *err)
{
    struct pawl_pq_param own[2] = {{PAWL_PQ_INT, {"", 0}, 0}, {PAWL_PQ_INT, {"", 0}, 0}};

    if (!key)
        return pawl__pq_queue(session->conn, (uint32_t)statement * 2, plain[statement], params,
                              param_count, err);
    own[0].integer = key->pair ? key->a : key->key;
    own[1].integer = key->b;
    return pawl__pq_queue(session->conn, (uint32_t)statement * 2 + key->pair,
                          keyed[statement][key->pair], own, key->pair ? 2 : 1, err);
}

static int finish(struct advisory_session *session, int64_t deadline_ns, struct pawl_error *err)
{
    const struct pawl_socket_wait wait = {session->pg->env, NULL, deadline_ns};
    int status = pawl__pq_sync(session->conn, err);

    if (status == PAWL_OK)
        status = pawl__pq_await(session->conn, &wait, err);
    if (status == PAWL_ETIMEDOUT || status == PAWL_ESTOPPED)
        session->left = ADVISORY_LEFT_OTHER; /* the caller may know better */
    return status == PAWL_OK ? pawl__pq_status(session->conn, 0, err) : status;
}

int pawl__advisory_run(struct advisory_session *session, enum advisory_statement statement,
                       const struct pawl_pg_lock_key *key, int64_t deadline_ns,
                       struct pawl_error *err)
{
    int status = pawl__pq_begin(session->conn, err);

    if (status == PAWL_OK)
        status = pawl__advisory_queue(session, statement, key, NULL, 0, err);
    return status == PAWL_OK ? finish(session, deadline_ns, err) : status;
}

int pawl__advisory_text(struct advisory_session *session, const char *text,
                        const struct pawl_pq_param *params, size_t param_count, int64_t deadline_ns,
                        struct pawl_error *err)
{
    int status = pawl__pq_begin(session->conn, err);

    if (status == PAWL_OK)
        status =
            pawl__pq_queue(session->conn, PAWL_PQ_STATEMENT_NONE, text, params, param_count, err);
    return status == PAWL_OK ? finish(session, deadline_ns, err) : status;
}

/* ---- poolers ----------------------------------------------------------------------------- */

static int run_statement(struct advisory_locks *pg, struct pawl_pq_conn *conn, const char *text,
                         int64_t deadline_ns, struct pawl_error *err)
{
    const struct pawl_socket_wait wait = {pg->env, NULL, deadline_ns};
    int status = pawl__pq_begin(conn, err);

    if (status == PAWL_OK)
        status = pawl__pq_queue(conn, PAWL_PQ_STATEMENT_NONE, text, NULL, 0, err);
    if (status == PAWL_OK)
        status = pawl__pq_sync(conn, err);
    if (status == PAWL_OK)
        status = pawl__pq_run(conn, false, &wait, err);
    return status == PAWL_OK ? pawl__pq_status(conn, 0, err) : status;
}

static int refuse_pooler(struct pawl_error *err)
{
    return pawl__error_set(err, PAWL_EUNSUPPORTED,
                           "there is a connection pooler before PostgreSQL that gives each "
                           "transaction another session, where advisory locks are not safe; "
                           "connect to the server itself, or set pool_mode = session");
}

/*
 * Something between us and the server hands out its connections. While another connection of ours
 * is in a transaction, a session of our own is still the same process; one that is lent by the
 * transaction is another, or the other connection was given ours.
 */
static int check_pooler(struct advisory_locks *pg, struct pawl_pq_conn *conn, int64_t deadline_ns,
                        struct pawl_error *err)
{
    int64_t soon_ns = pawl_env_monotonic_ns(pg->env) + POOLER_NS;
    int64_t until_ns = soon_ns < deadline_ns ? soon_ns : deadline_ns;
    const struct pawl_socket_wait wait = {pg->env, NULL, until_ns};
    int status = PAWL_OK;

    for (int round = 0; round < POOLER_ROUNDS && status == PAWL_OK; round++) {
        struct pawl_pq_conn *other = NULL;
        int64_t before = 0, lent = 0, after = 0;

        status = run_statement(pg, conn, "SELECT pg_backend_pid()", until_ns, err);
        if (status == PAWL_OK)
            before = pawl__pq_int(conn, 0, 0, 0);
        if (status == PAWL_OK)
            status = pawl__pq_connect(pg->pq, pg->uri, &wait, &other, err);
        if (status == PAWL_OK)
            status = run_statement(pg, other, "BEGIN", until_ns, err);
        /* Refused by something that is there: it runs single statements only. */
        if (status != PAWL_OK && other && pawl__pq_is_alive(conn, pg->env) &&
            run_statement(pg, conn, "SELECT 1", until_ns, NULL) == PAWL_OK)
            status = refuse_pooler(err);
        if (status == PAWL_OK)
            status = run_statement(pg, other, "SELECT pg_backend_pid()", until_ns, err);
        if (status == PAWL_OK)
            lent = pawl__pq_int(other, 0, 0, 0);
        if (status == PAWL_OK)
            status = run_statement(pg, conn, "SELECT pg_backend_pid()", until_ns, err);
        if (status == PAWL_OK)
            after = pawl__pq_int(conn, 0, 0, 0);
        /* No answer: all its connections are lent. */
        if (status == PAWL_ETIMEDOUT || (status == PAWL_OK && (before != after || lent == before)))
            status = refuse_pooler(err);
        pawl__pq_disconnect(other);
    }
    return status;
}

/* ---- opening ----------------------------------------------------------------------------- */

/*
 * Nothing ends a session that holds locks, or a wait in it, but the server's own check whether the
 * client is still there. A client that is cut off is given up after 30 s, when it has long stopped
 * to trust its locks.
 */
#define SESSION_TEXT                                                                               \
    "SELECT pg_backend_pid(), pg_is_in_recovery()::int, "                                          \
    "set_config('application_name', $1, false), "                                                  \
    "set_config('statement_timeout', '0', false), set_config('lock_timeout', '0', false), "        \
    "set_config('idle_in_transaction_session_timeout', '0', false), "                              \
    "set_config('default_transaction_read_only', 'off', false), "                                  \
    "set_config('synchronous_commit', 'on', false), "                                              \
    "set_config('tcp_keepalives_idle', '15', false), "                                             \
    "set_config('tcp_keepalives_interval', '5', false), "                                          \
    "set_config('tcp_keepalives_count', '3', false), "                                             \
    "set_config('tcp_user_timeout', '30000', false), "                                             \
    "CASE WHEN current_setting('server_version_num')::int >= 140000 THEN "                         \
    "set_config('idle_session_timeout', '0', false) END, "                                         \
    "CASE WHEN current_setting('server_version_num')::int >= 140000 AND "                          \
    "version() LIKE '%linux%' THEN "                                                               \
    "set_config('client_connection_check_interval', '2s', false) END"

static int set_up(struct advisory_session *session, struct pawl_pq_conn *conn, int64_t deadline_ns,
                  struct pawl_error *err)
{
    struct advisory_locks *pg = session->pg;
    const struct pawl_pq_param application = {PAWL_PQ_TEXT, pawl__str(pg->application), 0};
    const struct pawl_socket_wait wait = {pg->env, NULL, deadline_ns};
    int status = pawl__pq_begin(conn, err);

    if (status == PAWL_OK)
        status = pawl__pq_queue(conn, PAWL_PQ_STATEMENT_NONE, SESSION_TEXT, &application, 1, err);
    if (status == PAWL_OK)
        status = pawl__pq_sync(conn, err);
    if (status == PAWL_OK)
        status = pawl__pq_run(conn, false, &wait, err);
    if (status == PAWL_OK)
        status = pawl__pq_status(conn, 0, err);
    if (status != PAWL_OK)
        return status;
    /* Nodes that lock on the primary do not see the locks of a standby. */
    if (pawl__pq_int(conn, 0, 0, 1) != 0)
        return pawl__pq_refuse_standby(conn, err);
    session->backend_pid = (int)pawl__pq_int(conn, 0, 0, 0);
    if (session->backend_pid == pawl__pq_backend_pid(conn))
        return PAWL_OK;
    session->is_pooled = true;
    return check_pooler(pg, conn, deadline_ns, err);
}

/* By its user. While the server cannot be reached tries are spaced out. */
static int open_session(struct advisory_session *session, int64_t deadline_ns,
                        struct pawl_error *err)
{
    struct advisory_locks *pg = session->pg;
    const struct pawl_socket_wait wait = {pg->env, NULL, deadline_ns};
    struct pawl_pq_conn *conn = NULL;
    int64_t retry_ns;
    int status = pawl_mutex_lock(pg->env, pg->lock);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    retry_ns = pg->retry_ns;
    pawl_mutex_unlock(pg->env, pg->lock);
    status = pawl_env_sleep_until(pg->env, retry_ns < deadline_ns ? retry_ns : deadline_ns);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    status = pawl__pq_connect(pg->pq, pg->uri, &wait, &conn, err);
    if (status == PAWL_OK)
        status = set_up(session, conn, deadline_ns, err);
    if (pawl_mutex_lock(pg->env, pg->lock) != PAWL_OK) {
        pawl__pq_disconnect(conn);
        return pawl__error_code(err, PAWL_ESTOPPED);
    }
    if (status == PAWL_OK) {
        session->conn = conn;
        session->fd = pawl__pq_fd(conn);
        session->left = ADVISORY_LEFT_NOTHING;
        pg->is_pooled = session->is_pooled;
        pg->retry_ns = 0;
        pg->failures = 0;
        conn = NULL;
        pawl__waker_wake(&pg->waker); /* one more to watch */
    } else {
        pg->retry_ns = pawl_env_monotonic_ns(pg->env) +
                       pawl__backoff_ns(pg->env, BACKOFF_NS_MIN, BACKOFF_NS_MAX, pg->failures);
        pg->failures += pg->failures < UINT32_MAX;
    }
    pawl_mutex_unlock(pg->env, pg->lock);
    pawl__pq_disconnect(conn);
    return status == PAWL_ETIMEDOUT
               ? pawl__error_set(err, PAWL_EUNAVAILABLE, "PostgreSQL: no connection in time")
               : status;
}

/* ---- using ------------------------------------------------------------------------------- */

int pawl__advisory_await(struct advisory_locks *pg, int64_t deadline_ns)
{
    int status;

    pg->waiting_count++;
    status = pawl_cond_wait(pg->env, pg->changed, pg->lock, deadline_ns);
    pg->waiting_count--;
    return status;
}

void pawl__advisory_changed(struct advisory_locks *pg)
{
    if (pg->waiting_count > 0)
        pawl_cond_broadcast(pg->env, pg->changed);
}

/* What a release left is done: the next one finds that. */
static void settle_unlock(struct advisory_session *session)
{
    struct advisory_locks *pg = session->pg;
    struct advisory_held *held;
    char id[16];

    pawl__advisory_id(&session->left_key, id);
    if (pawl_mutex_lock(pg->env, pg->lock) != PAWL_OK)
        return;
    PAWL_LIST_FOR_EACH (held, &session->helds, link) {
        if (memcmp(held->id, id, sizeof id) != 0)
            continue;
        pawl__advisory_unhold(held, ADVISORY_RELEASED);
        break;
    }
    pawl_mutex_unlock(pg->env, pg->lock);
}

/* Finishes what an earlier call has left. */
static int finish_earlier_call(struct advisory_session *session, int64_t deadline_ns,
                               struct pawl_error *err)
{
    const struct pawl_socket_wait wait = {session->pg->env, NULL, deadline_ns};

    while (session->left != ADVISORY_LEFT_NOTHING) {
        enum advisory_left left = session->left;
        const struct pawl_pg_lock_key key = session->left_key;
        int status = pawl__pq_await(session->conn, &wait, err);

        if (status != PAWL_OK)
            return status;
        session->left = ADVISORY_LEFT_NOTHING;
        if (left == ADVISORY_LEFT_UNLOCK)
            settle_unlock(session);
        if (left != ADVISORY_LEFT_TRY || pawl__pq_status(session->conn, 0, NULL) != PAWL_OK ||
            pawl__pq_int(session->conn, 0, 0, 0) == 0)
            continue;
        status = pawl__advisory_run(session, ADVISORY_UNLOCK, &key, deadline_ns, err);
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

int pawl__advisory_ready(struct advisory_session *session, int64_t deadline_ns,
                         struct pawl_error *err)
{
    int status = session->conn ? finish_earlier_call(session, deadline_ns, err)
                               : open_session(session, deadline_ns, err);

    if (status == PAWL_OK)
        return PAWL_OK;
    pawl__advisory_give(session);
    return status == PAWL_ETIMEDOUT
               ? pawl__error_set(err, PAWL_EUNAVAILABLE, "PostgreSQL does not answer")
               : status;
}

int pawl__advisory_take(struct advisory_session *session, int64_t deadline_ns,
                        struct pawl_error *err)
{
    struct advisory_locks *pg = session->pg;
    int status = pawl_mutex_lock(pg->env, pg->lock);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    while (status == PAWL_OK && (session->in_use || session->is_broken))
        status = pawl__advisory_await(pg, deadline_ns);
    if (status == PAWL_OK)
        session->in_use = true;
    pawl_mutex_unlock(pg->env, pg->lock);
    if (status == PAWL_ETIMEDOUT)
        return pawl__error_set(err, PAWL_EUNAVAILABLE,
                               "the connection to PostgreSQL is in use: the server is slow, or "
                               "many locks are acquired at once");
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    return pawl__advisory_ready(session, deadline_ns, err);
}

void pawl__advisory_drop(struct advisory_session *session)
{
    if (pawl_mutex_lock(session->pg->env, session->pg->lock) != PAWL_OK)
        return;
    session->is_broken = true;
    pawl_mutex_unlock(session->pg->env, session->pg->lock);
}

void pawl__advisory_give(struct advisory_session *session)
{
    struct advisory_locks *pg = session->pg;
    bool is_broken = session->conn && pawl__pq_is_broken(session->conn);

    if (pawl_mutex_lock(pg->env, pg->lock) != PAWL_OK)
        return;
    session->in_use = false;
    session->is_broken = session->conn && (session->is_broken || is_broken);
    if (session->is_broken || session->is_hung_up)
        pawl__waker_wake(&pg->waker);
    pawl__advisory_changed(pg);
    pawl_mutex_unlock(pg->env, pg->lock);
}

/* ---- the watcher ------------------------------------------------------------------------- */

/* Under the lock, which is released during the callback. */
static bool report_lost(struct advisory_session *session)
{
    struct advisory_locks *pg = session->pg;
    struct advisory_held *held =
        PAWL_CONTAINER(pawl__list_first(&session->helds), struct advisory_held, link);

    if (!held->grant) { /* abandoned */
        pawl__advisory_unhold(held, ADVISORY_LOST);
        pawl__advisory_held_free(pg, held);
        return true;
    }
    pawl__advisory_unhold(held, ADVISORY_TELLING);
    pawl_mutex_unlock(pg->env, pg->lock);
    pawl__lock_notifier_lost(&pg->notifier, held->grant);
    if (pawl_mutex_lock(pg->env, pg->lock) != PAWL_OK)
        return false;
    held->state = ADVISORY_LOST;
    pawl__advisory_changed(pg);
    return true;
}

/* Under the lock. false: stopped, the lock is not held. */
static bool reap(struct advisory_session *session)
{
    struct advisory_locks *pg = session->pg;
    bool is_broken = session->is_broken;

    session->in_use = true;
    pawl_mutex_unlock(pg->env, pg->lock);
    is_broken = is_broken || !pawl__pq_is_alive(session->conn, pg->env);
    if (is_broken)
        pawl__pq_disconnect(session->conn);
    if (pawl_mutex_lock(pg->env, pg->lock) != PAWL_OK)
        return false;
    if (is_broken) {
        session->conn = NULL;
        session->left = ADVISORY_LEFT_NOTHING;
        while (!pawl__list_empty(&session->helds))
            if (!report_lost(session))
                return false;
    }
    session->is_broken = session->is_hung_up = session->in_use = false;
    pawl__advisory_changed(pg);
    return true;
}

static void watch(void *arg)
{
    struct advisory_locks *pg = arg;
    const struct pawl_socket_wait wait = {pg->env, &pg->waker, PAWL_FOREVER};
    struct pawl_socket_poll polls[ADVISORY_SESSIONS];

    while (pawl_mutex_lock(pg->env, pg->lock) == PAWL_OK) {
        int status;

        if (pg->is_stopping) {
            pawl_mutex_unlock(pg->env, pg->lock);
            return;
        }
        for (size_t i = 0; i < ADVISORY_SESSIONS; i++) {
            struct advisory_session *session = &pg->sessions[i];

            if (session->conn && !session->in_use && (session->is_broken || session->is_hung_up) &&
                !reap(session))
                return;
            /* Its user closes nothing, so the descriptor stays what it is. */
            polls[i] = (struct pawl_socket_poll){.fd = session->conn && !session->is_hung_up &&
                                                               !session->is_broken
                                                           ? pawl__pq_fd(session->conn)
                                                           : -1,
                                                 .events = PAWL_SOCKET_CLOSED};
        }
        pawl_mutex_unlock(pg->env, pg->lock);
        status = pawl__socket_wait_many(polls, ADVISORY_SESSIONS, &wait);
        if (status == PAWL_ECANCELLED)
            pawl__waker_reset(&pg->waker);
        if (status == PAWL_ESTOPPED || pawl_mutex_lock(pg->env, pg->lock) != PAWL_OK)
            return;
        for (size_t i = 0; i < ADVISORY_SESSIONS; i++)
            if (polls[i].ready)
                pg->sessions[i].is_hung_up = true;
        pawl_mutex_unlock(pg->env, pg->lock);
    }
}

/* ---- life -------------------------------------------------------------------------------- */

int pawl__advisory_start(struct advisory_locks *pg, struct pawl_error *err)
{
    int status = pawl_mutex_lock(pg->env, pg->lock);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    if (!pg->is_started)
        status = pawl_thread_start(pg->env, "advisory locks", watch, pg, &pg->watcher, err);
    pg->is_started = status == PAWL_OK;
    pawl_mutex_unlock(pg->env, pg->lock);
    return status;
}

void pawl__advisory_stop(struct advisory_locks *pg)
{
    if (pg->watcher) {
        if (pawl_mutex_lock(pg->env, pg->lock) == PAWL_OK) {
            pg->is_stopping = true;
            pawl_mutex_unlock(pg->env, pg->lock);
        }
        pawl__waker_wake(&pg->waker);
        pawl_thread_join(pg->env, pg->watcher);
    }
    for (size_t i = 0; i < ADVISORY_SESSIONS; i++) {
        struct advisory_session *session = &pg->sessions[i];
        int64_t until_ns = pawl_env_monotonic_ns(pg->env) + FAREWELL_NS;
        struct pawl_list_link *link;
        int status = PAWL_EUNAVAILABLE;

        /* The end of a connection is noticed by the server when it gets round to it: whoever asks
         * in between would be refused. */
        if (session->conn && !pawl__pq_is_broken(session->conn))
            status = finish_earlier_call(session, until_ns, NULL);
        if (status == PAWL_OK && !pawl__list_empty(&session->helds))
            status = pawl__advisory_text(session, "SELECT pg_advisory_unlock_all()", NULL, 0,
                                         until_ns, NULL);
        (void)status; /* it ends anyway */
        while ((link = pawl__list_first(&session->helds))) {
            struct advisory_held *held = PAWL_CONTAINER(link, struct advisory_held, link);

            pawl__advisory_unhold(held, ADVISORY_LOST);
            pawl__advisory_held_free(pg, held);
        }
        pawl__pq_disconnect(session->conn);
        pawl__waker_release(&session->waker);
    }
}
