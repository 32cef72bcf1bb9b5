/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for advisory locks at the server, see postgres_private.h.
 *
 * What a wait ended with is not what it says. A lock_timeout (55P03) or a cancel (57014) that comes
 * while the lock is being granted is reported although this session has the lock: after a timeout
 * the server is asked whether it is held; after a cancel it is released.
 */
#include "base/error.h"
#include "locks/postgres_private.h"

#include <stdio.h>

/* Beyond the deadline, for the server to say what came of it. */
#define ANSWER_NS INT64_C(2000000000)
#define TIMEOUT_MS_MAX INT64_C(2147483647)
#define POLL_NS_MIN INT64_C(5000000)
#define POLL_NS_MAX INT64_C(800000000)
/* Statements that a late cancel may hit. */
#define TRIES_MAX 3
/* In a grant's `place`: interrupt() came before the wait. */
#define INTERRUPTED 1u

static int64_t plus(int64_t ns, int64_t span_ns)
{
    return ns > PAWL_FOREVER - span_ns ? PAWL_FOREVER : ns + span_ns;
}

/* ---- interrupting ------------------------------------------------------------------------ */

void pawl__advisory_interrupt(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant)
{
    struct advisory_locks *pg = pawl__advisory_self(provider);

    if (pawl_mutex_lock(pg->env, pg->lock) != PAWL_OK)
        return;
    grant->place |= INTERRUPTED;
    for (size_t i = 1; i < ADVISORY_SESSIONS; i++)
        if (pg->sessions[i].waiting == grant)
            pawl__waker_wake(&pg->sessions[i].waker);
    pawl__advisory_changed(pg); /* those that poll */
    pawl_mutex_unlock(pg->env, pg->lock);
}

/* Under the lock; an interrupt ends one wait. */
static bool take_interrupt(struct pawl_lock_grant *grant)
{
    bool was = grant->place & INTERRUPTED;

    grant->place &= ~(uint64_t)INTERRUPTED;
    return was;
}

/* Cancels through session 0: a separate cancel connection could not have a deadline. */
static void cancel_at_server(struct advisory_session *session)
{
    struct advisory_locks *pg = session->pg;
    struct advisory_session *first = &pg->sessions[0];
    const struct pawl_pq_param pid = {PAWL_PQ_INT, {"", 0}, session->backend_pid};
    int64_t until_ns = pawl_env_monotonic_ns(pg->env) + ANSWER_NS;
    const struct pawl_socket_wait wait = {pg->env, NULL, until_ns};
    int status = pawl__advisory_take(first, until_ns, NULL);

    if (status != PAWL_OK)
        return;
    status = pawl__pq_begin(first->conn, NULL);
    if (status == PAWL_OK)
        status = pawl__advisory_queue(first, ADVISORY_CANCEL, NULL, &pid, 1, NULL);
    if (status == PAWL_OK)
        status = pawl__pq_sync(first->conn, NULL);
    if (status == PAWL_OK)
        status = pawl__pq_await(first->conn, &wait, NULL);
    if (status == PAWL_ETIMEDOUT || status == PAWL_ESTOPPED)
        first->left = ADVISORY_LEFT_OTHER;
    pawl__advisory_give(first);
}

/* ---- what it ended with ------------------------------------------------------------------ */

/* One statement that a cancel meant for the wait may still hit. */
static int run_surely(struct advisory_session *session, enum advisory_statement statement,
                      const struct pawl_pg_lock_key *key, int64_t deadline_ns,
                      struct pawl_error *err)
{
    int status = PAWL_OK;

    for (int i = 0; i < TRIES_MAX; i++) {
        status = pawl__advisory_run(session, statement, key, deadline_ns, err);
        if (status != PAWL_ETIMEDOUT || session->left != ADVISORY_LEFT_NOTHING)
            break;
    }
    return status;
}

/* A slow server does not fail a caller that has time, as long as the lock is still useful then. */
static int64_t answer_deadline(int64_t sent_ns, int64_t deadline_ns)
{
    int64_t least_ns = sent_ns + ANSWER_NS, most_ns = sent_ns + ADVISORY_VALID_NS;

    if (deadline_ns < least_ns)
        return least_ns;
    return deadline_ns < most_ns ? deadline_ns : most_ns;
}

/* It is granted: also says until when that can be trusted, for the wait may have been long. */
static int keep(struct advisory_session *session, struct advisory_held *held, int64_t deadline_ns,
                struct pawl_error *err)
{
    struct advisory_locks *pg = session->pg;
    bool wants_token = held->grant->flags & PAWL_LOCK_WANT_TOKEN;
    int64_t sent_ns = pawl_env_monotonic_ns(pg->env);
    int status = run_surely(session, wants_token ? ADVISORY_TOKEN : ADVISORY_PROBE, NULL,
                            answer_deadline(sent_ns, deadline_ns), err);

    if (status == PAWL_OK) {
        held->grant->token = wants_token ? (uint64_t)pawl__pq_int(session->conn, 0, 0, 0) : 0;
        status = pawl__advisory_hold(held, sent_ns + ADVISORY_VALID_NS);
        if (status == PAWL_OK)
            return PAWL_OK;
        (void)pawl__error_code(err, status);
    }
    pawl__advisory_drop(session);
    return status == PAWL_ETIMEDOUT ? pawl__error_code(err, PAWL_EUNAVAILABLE) : status;
}

/* After a timeout: is it ours nevertheless? */
static int after_timeout(struct advisory_session *session, struct advisory_held *held,
                         struct pawl_error *err)
{
    int64_t until_ns = pawl_env_monotonic_ns(session->pg->env) + ANSWER_NS;
    int status = run_surely(session, ADVISORY_OWN, &held->key, until_ns, err);

    if (status != PAWL_OK) {
        pawl__advisory_drop(session);
        return status == PAWL_ETIMEDOUT ? pawl__error_code(err, PAWL_EUNAVAILABLE) : status;
    }
    if (pawl__pq_int(session->conn, 0, 0, 0) == 0)
        return pawl__error_code(err, PAWL_ETIMEDOUT);
    return keep(session, held, until_ns, err);
}

/* After a cancel: it is not wanted any more, whether it was granted or not. */
static int after_cancel(struct advisory_session *session, struct advisory_held *held,
                        bool is_interrupted, struct pawl_error *err)
{
    int64_t until_ns = pawl_env_monotonic_ns(session->pg->env) + ANSWER_NS;

    if (run_surely(session, ADVISORY_UNLOCK, &held->key, until_ns, NULL) != PAWL_OK)
        pawl__advisory_drop(session);
    if (is_interrupted)
        return pawl__error_code(err, PAWL_ECANCELLED);
    return pawl__error_set(err, PAWL_EUNAVAILABLE,
                           "somebody has cancelled the wait for a lock at the PostgreSQL server");
}

/* ---- waiting ----------------------------------------------------------------------------- */

static int send_wait(struct advisory_session *session, const struct advisory_held *held,
                     int64_t deadline_ns, struct pawl_error *err)
{
    int64_t left_ms = (deadline_ns - pawl_env_monotonic_ns(session->pg->env)) / ADVISORY_NS_PER_MS;
    struct pawl_pq_param timeout = {PAWL_PQ_TEXT, {"", 0}, 0};
    char text[24];
    int status;

    if (left_ms < 1)
        left_ms = 1; /* 0 would be for ever */
    if (left_ms > TIMEOUT_MS_MAX || deadline_ns == PAWL_FOREVER)
        left_ms = deadline_ns == PAWL_FOREVER ? 0 : TIMEOUT_MS_MAX;
    (void)snprintf(text, sizeof text, "%lld", (long long)left_ms);
    timeout.bytes = pawl__str(text);
    status = pawl__pq_begin(session->conn, err);
    if (status == PAWL_OK)
        status = pawl__advisory_queue(session, ADVISORY_TIMEOUT, NULL, &timeout, 1, err);
    if (status == PAWL_OK)
        status = pawl__advisory_queue(session, ADVISORY_LOCK, &held->key, NULL, 0, err);
    if (status == PAWL_OK)
        status = pawl__pq_sync(session->conn, err);
    return status;
}

/* By the session's user. */
static int wait_on(struct advisory_session *session, struct advisory_held *held,
                   int64_t deadline_ns, struct pawl_error *err)
{
    struct advisory_locks *pg = session->pg;
    struct pawl_socket_wait wait = {pg->env, &session->waker, plus(deadline_ns, ANSWER_NS)};
    bool is_interrupted = false;
    int status = send_wait(session, held, deadline_ns, err);

    if (status == PAWL_OK)
        status = pawl__pq_await(session->conn, &wait, err);
    if (status == PAWL_ECANCELLED) {
        is_interrupted = true;
        cancel_at_server(session);
        wait = (struct pawl_socket_wait){pg->env, NULL, pawl_env_monotonic_ns(pg->env) + ANSWER_NS};
        status = pawl__pq_await(session->conn, &wait, err);
    }
    if (status != PAWL_OK) {
        /* No answer, or no connection: it ends, and with it whatever it may be granted. */
        pawl__advisory_drop(session);
        if (status == PAWL_ESTOPPED)
            return status;
        return is_interrupted ? pawl__error_code(err, PAWL_ECANCELLED)
                              : pawl__error_set(err, PAWL_EUNAVAILABLE,
                                                "PostgreSQL does not answer a wait for a lock");
    }
    status = pawl__pq_status(session->conn, 0, err);
    if (status == PAWL_OK)
        status = pawl__pq_status(session->conn, 1, err);
    if (status == PAWL_OK)
        return is_interrupted ? after_cancel(session, held, true, err)
                              : keep(session, held, deadline_ns, err);
    if (status == PAWL_ETIMEDOUT || is_interrupted)
        return after_cancel(session, held, is_interrupted, err);
    if (status == PAWL_EBUSY)
        return after_timeout(session, held, err);
    return status; /* refused before it began */
}

/* Under the lock: a session that neither holds nor waits for anything; connected ones first. */
static struct advisory_session *find_waiter(struct advisory_locks *pg)
{
    struct advisory_session *found = NULL;

    for (size_t i = 1; i < ADVISORY_SESSIONS; i++) {
        struct advisory_session *session = &pg->sessions[i];

        if (session->in_use || session->is_broken || session->is_hung_up ||
            !pawl__list_empty(&session->helds))
            continue;
        if (!found || (session->conn && !found->conn))
            found = session;
    }
    return found;
}

/* All connections for waiting are taken: asks again and again. */
static int poll_for_it(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                       int64_t deadline_ns, struct pawl_error *err)
{
    struct advisory_locks *pg = pawl__advisory_self(provider);
    int64_t pause_ns = POLL_NS_MIN;

    for (;;) {
        int64_t now_ns = pawl_env_monotonic_ns(pg->env), until_ns;
        int status = pawl__advisory_try(provider, grant, plus(now_ns, ANSWER_NS), err);
        bool is_interrupted;

        if (status != PAWL_EBUSY)
            return status;
        until_ns = pawl_env_monotonic_ns(pg->env) + pause_ns;
        pause_ns = pause_ns * 2 < POLL_NS_MAX ? pause_ns * 2 : POLL_NS_MAX;
        status = pawl_mutex_lock(pg->env, pg->lock);
        if (status != PAWL_OK)
            return pawl__error_code(err, status);
        is_interrupted = take_interrupt(grant);
        while (!is_interrupted && status == PAWL_OK) {
            status = pawl__advisory_await(pg, until_ns < deadline_ns ? until_ns : deadline_ns);
            is_interrupted = take_interrupt(grant);
        }
        pawl_mutex_unlock(pg->env, pg->lock);
        if (is_interrupted)
            return pawl__error_code(err, PAWL_ECANCELLED);
        if (status == PAWL_ESTOPPED)
            return pawl__error_code(err, status);
        if (pawl_env_monotonic_ns(pg->env) >= deadline_ns)
            return pawl__error_code(err, PAWL_ETIMEDOUT);
    }
}

/* Makes the caller the user of a session for waiting; NULL: none is free. */
static int begin(struct advisory_locks *pg, struct pawl_lock_grant *grant,
                 struct advisory_session **out, struct pawl_error *err)
{
    int status = pawl_mutex_lock(pg->env, pg->lock);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    *out = NULL;
    if (take_interrupt(grant))
        status = pawl__error_code(err, PAWL_ECANCELLED);
    else
        *out = find_waiter(pg);
    if (*out) {
        (*out)->in_use = true;
        (*out)->waiting = grant;
        pawl__waker_reset(&(*out)->waker);
    }
    pawl_mutex_unlock(pg->env, pg->lock);
    return status;
}

static void end(struct advisory_session *session, struct pawl_lock_grant *grant)
{
    if (pawl_mutex_lock(session->pg->env, session->pg->lock) != PAWL_OK)
        return;
    if (session->waiting == grant) /* else another call already waits on it */
        session->waiting = NULL;
    (void)take_interrupt(grant);
    pawl_mutex_unlock(session->pg->env, session->pg->lock);
}

int pawl__advisory_wait(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                        int64_t deadline_ns, struct pawl_error *err)
{
    struct advisory_locks *pg = pawl__advisory_self(provider);
    struct advisory_session *session = NULL;
    struct advisory_held *held = NULL;
    struct pawl_pg_lock_key key;
    int64_t ready_ns;
    int status;

    if (grant->name.len > PAWL_LOCK_NAME_MAX)
        return pawl__error_set(err, PAWL_EINVAL, "a lock's name has at most %d bytes",
                               PAWL_LOCK_NAME_MAX);
    status = pawl__advisory_start(pg, err);
    if (status == PAWL_OK)
        status = begin(pg, grant, &session, err);
    if (status != PAWL_OK)
        return status;
    if (!session)
        return poll_for_it(provider, grant, deadline_ns, err);
    pawl__lock_name_postgres(grant->name, &key);
    grant->bound = NULL;
    /* A connection that must be made first takes its time, however short the wait is. */
    ready_ns = plus(pawl_env_monotonic_ns(pg->env), ANSWER_NS);
    status = pawl__advisory_ready(session, ready_ns > deadline_ns ? ready_ns : deadline_ns, err);
    if (status != PAWL_OK) { /* it was given up */
        end(session, grant);
        return status;
    }
    if (grant->flags & PAWL_LOCK_WANT_TOKEN)
        status = pawl__advisory_sequence(session, plus(deadline_ns, ANSWER_NS), err);
    if (status == PAWL_OK)
        status = pawl__advisory_held_new(session, grant, &key, &held, err);
    if (status == PAWL_OK)
        status = wait_on(session, held, deadline_ns, err);
    end(session, grant);
    pawl__advisory_give(session);
    if (status != PAWL_OK)
        pawl__advisory_held_free(pg, held);
    return status;
}
