/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sessions of a provider, and the thread that watches those that hold locks.
 *
 * A session is used by one caller at a time, who takes and gives it. It is in the list from when
 * its connection is open until it is ended; `session_count` also counts those being created.
 * One whose connection broke moves its locks to `lost` and is freed by the thread that finds it
 * idle; the thread calls the listener.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "locks/sqlserver_private.h"

#define NS_PER_S INT64_C(1000000000)
/* How often the sessions that hold locks are looked at, without asking the server. */
#define LOOK_NS (NS_PER_S / 4)
/* A session that holds nothing and is not used for so long is ended. */
#define IDLE_NS (60 * NS_PER_S)
/* Sessions that may not wait: for attempts and for the thread's questions. */
#define NOT_WAITING 2

static int64_t now_of(struct sqlserver_locks *locks)
{
    return pawl_env_monotonic_ns(locks->env);
}

/* ---- making and ending ------------------------------------------------------------------- */

/* With the mutex. What it held is lost; nobody uses it. */
static void drop(struct sqlserver_locks *locks, struct sqlserver_session *session)
{
    struct pawl_list_link *link;

    while ((link = pawl__list_pop_front(&session->held)) != NULL) {
        struct sqlserver_held *held = PAWL_CONTAINER(link, struct sqlserver_held, link);

        held->session = NULL;
        pawl__list_remove(&held->among_link);
        pawl__list_push_back(&locks->lost, &held->link);
    }
    pawl__list_remove(&session->link);
    locks->session_count--;
    pawl_cond_broadcast(locks->env, locks->changed);
    pawl_cond_signal(locks->env, locks->watch);
}

static void free_session(struct sqlserver_locks *locks, struct sqlserver_session *session)
{
    pawl__tds_disconnect(session->conn);
    pawl__free(&locks->env->alloc, session, sizeof *session);
}

/* Without the mutex; it was counted by the caller. NULL: *status says why. */
static struct sqlserver_session *make(struct sqlserver_locks *locks, int64_t deadline_ns,
                                      int *status, struct pawl_error *err)
{
    const struct pawl_socket_wait wait = {locks->env, NULL, deadline_ns};
    struct sqlserver_session *session = pawl__alloc_zeroed(&locks->env->alloc, sizeof *session);

    if (!session) {
        *status = pawl__error_code(err, PAWL_ENOMEM);
        return NULL;
    }
    pawl__list_init(&session->held);
    session->in_use = true;
    *status = pawl__tds_connect(locks->tds, &wait, &session->conn, err);
    if (*status == PAWL_OK)
        return session;
    pawl__free(&locks->env->alloc, session, sizeof *session);
    return NULL;
}

/* ---- taking and giving ------------------------------------------------------------------- */

/* With the mutex. An idle one, the first made first, so that few are in use. */
static struct sqlserver_session *find_idle(struct sqlserver_locks *locks, bool holds_nothing)
{
    struct sqlserver_session *session;

    PAWL_LIST_FOR_EACH (session, &locks->sessions, link)
        if (!session->in_use && !session->broken &&
            (!holds_nothing || pawl__list_empty(&session->held)))
            return session;
    return NULL;
}

/* With the mutex, which is not held meanwhile, nor afterwards when *locked is false. */
static struct sqlserver_session *make_counted(struct sqlserver_locks *locks, int64_t deadline_ns,
                                              bool *locked, int *status, struct pawl_error *err)
{
    struct sqlserver_session *session;

    locks->session_count++;
    pawl_mutex_unlock(locks->env, locks->mutex);
    session = make(locks, deadline_ns, status, err);
    *locked = pawl_mutex_lock(locks->env, locks->mutex) == PAWL_OK;
    if (!*locked) {
        if (session)
            free_session(locks, session);
        *status = pawl__error_code(err, PAWL_ESTOPPED);
        return NULL;
    }
    if (session) {
        pawl__list_push_back(&locks->sessions, &session->link);
        return session;
    }
    locks->session_count--;
    pawl_cond_broadcast(locks->env, locks->changed);
    return NULL;
}

/* With the mutex, which is not held afterwards when *locked is false. NULL: *status says why. */
static struct sqlserver_session *choose(struct sqlserver_locks *locks, bool to_wait,
                                        int64_t deadline_ns, bool *locked, int *status,
                                        struct pawl_error *err)
{
    *status = PAWL_OK;
    while (*status == PAWL_OK) {
        struct sqlserver_session *session = find_idle(locks, to_wait);

        if (session)
            return session;
        if (locks->session_count < locks->session_max)
            return make_counted(locks, deadline_ns, locked, status, err);
        *status = to_wait ? PAWL_EBUSY
                          : pawl_cond_wait(locks->env, locks->changed, locks->mutex, deadline_ns);
    }
    if (*status == PAWL_ETIMEDOUT)
        *status =
            pawl__error_set(err, PAWL_EUNAVAILABLE,
                            "all %zu sessions with SQL Server were in use all the time; raise "
                            "?connections=",
                            locks->session_max);
    else if (*status != PAWL_EBUSY)
        (void)pawl__error_code(err, *status);
    return NULL;
}

int pawl__sqlserver_take(struct sqlserver_locks *locks, bool to_wait, int64_t deadline_ns,
                         struct sqlserver_session **out, struct pawl_error *err)
{
    struct sqlserver_session *session;
    int status = pawl_mutex_lock(locks->env, locks->mutex);
    bool locked = status == PAWL_OK;

    if (!locked)
        return pawl__error_code(err, status);
    if (to_wait && locks->waiting_count + NOT_WAITING >= locks->session_max) {
        pawl_mutex_unlock(locks->env, locks->mutex);
        return PAWL_EBUSY;
    }
    locks->waiting_count += to_wait ? 1 : 0;
    session = choose(locks, to_wait, deadline_ns, &locked, &status, err);
    if (session) {
        session->in_use = true;
        session->is_waiting = to_wait;
        *out = session;
    } else {
        locks->waiting_count -= to_wait ? 1 : 0;
    }
    if (locked)
        pawl_mutex_unlock(locks->env, locks->mutex);
    return session ? PAWL_OK : status;
}

int pawl__sqlserver_take_holder(struct sqlserver_locks *locks, const struct sqlserver_held *held,
                                int64_t deadline_ns, struct sqlserver_session **out,
                                struct pawl_error *err)
{
    int status = pawl_mutex_lock(locks->env, locks->mutex);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    while (held->session && held->session->in_use && status == PAWL_OK)
        status = pawl_cond_wait(locks->env, locks->changed, locks->mutex, deadline_ns);
    if (!held->session) {
        status = pawl__error_set(err, PAWL_ENOTFOUND, "the session that held the lock is gone");
    } else if (status == PAWL_OK) {
        *out = held->session;
        (*out)->in_use = true;
    } else {
        (void)pawl__error_code(err, status);
    }
    pawl_mutex_unlock(locks->env, locks->mutex);
    return status;
}

/* Also in an environment that was stopped: then nobody else is left who would look. */
void pawl__sqlserver_give(struct sqlserver_locks *locks, struct sqlserver_session *session)
{
    bool locked = pawl_mutex_lock(locks->env, locks->mutex) == PAWL_OK;
    bool broken = session->broken || pawl__tds_is_broken(session->conn);

    session->in_use = false;
    session->used_ns = now_of(locks);
    locks->waiting_count -= session->is_waiting ? 1 : 0;
    session->is_waiting = false;
    if (broken) {
        drop(locks, session);
    } else if (locked) {
        pawl_cond_broadcast(locks->env, locks->changed);
    }
    if (locked)
        pawl_mutex_unlock(locks->env, locks->mutex);
    if (broken)
        free_session(locks, session);
}

void pawl__sqlserver_doom(struct sqlserver_locks *locks, struct sqlserver_session *session)
{
    (void)locks;
    session->broken = true; /* it is the caller's until it is returned */
}

/* ---- watching ---------------------------------------------------------------------------- */

/* With the mutex. Reports one that was lost; its grant is not moved meanwhile. */
static void report(struct sqlserver_locks *locks, struct sqlserver_held *held)
{
    struct pawl_lock_grant *grant = held->grant;

    pawl__list_remove(&held->link);
    locks->reporting = held;
    pawl_mutex_unlock(locks->env, locks->mutex);
    pawl__lock_notifier_lost(&locks->notifier, grant);
    if (pawl_mutex_lock(locks->env, locks->mutex) == PAWL_OK) {
        locks->reporting = NULL;
        pawl_cond_broadcast(locks->env, locks->changed);
        return;
    }
    locks->reporting = NULL;
    locks->stop = true;
}

/* With the mutex. An idle session about which there is something to find out; NULL. */
static struct sqlserver_session *find_doubtful(struct sqlserver_locks *locks, int64_t now_ns)
{
    struct sqlserver_session *session;

    PAWL_LIST_FOR_EACH (session, &locks->sessions, link) {
        bool holds = !pawl__list_empty(&session->held);

        if (session->in_use)
            continue;
        if (!pawl__tds_is_quiet(session->conn) ||
            (holds && now_ns - session->used_ns >= locks->keepalive_ns) ||
            (!holds && now_ns - session->used_ns >= IDLE_NS))
            return session;
    }
    return NULL;
}

/* With the mutex, which is not held meanwhile. false: it is not held afterwards. */
static bool find_out(struct sqlserver_locks *locks, struct sqlserver_session *session)
{
    const struct pawl_socket_wait wait = {locks->env, NULL, now_of(locks) + locks->patience_ns};
    bool useless = pawl__list_empty(&session->held);

    session->in_use = true;
    pawl_mutex_unlock(locks->env, locks->mutex);
    if (useless || pawl__sqlserver_ping(session, &wait, NULL) != PAWL_OK)
        pawl__sqlserver_doom(locks, session);
    pawl__sqlserver_give(locks, session);
    return pawl_mutex_lock(locks->env, locks->mutex) == PAWL_OK;
}

static void watch(void *arg)
{
    struct sqlserver_locks *locks = arg;

    if (pawl_mutex_lock(locks->env, locks->mutex) != PAWL_OK)
        return;
    while (!locks->stop) {
        struct pawl_list_link *lost = pawl__list_first(&locks->lost);
        struct sqlserver_session *doubtful;

        if (lost) {
            report(locks, PAWL_CONTAINER(lost, struct sqlserver_held, link));
            continue;
        }
        doubtful = find_doubtful(locks, now_of(locks));
        if (doubtful) {
            if (!find_out(locks, doubtful))
                return;
            continue;
        }
        if (pawl_cond_wait(locks->env, locks->watch, locks->mutex,
                           pawl__list_empty(&locks->sessions)
                               ? PAWL_FOREVER
                               : now_of(locks) + LOOK_NS) == PAWL_ESTOPPED)
            break;
    }
    pawl_mutex_unlock(locks->env, locks->mutex);
}

int pawl__sqlserver_watch_start(struct sqlserver_locks *locks, struct pawl_error *err)
{
    return pawl_thread_start(locks->env, "pawl-sqlserver", watch, locks, &locks->thread, err);
}

void pawl__sqlserver_end(struct sqlserver_locks *locks)
{
    struct pawl_list_link *link;
    bool locked = pawl_mutex_lock(locks->env, locks->mutex) == PAWL_OK;

    locks->stop = true;
    pawl_cond_broadcast(locks->env, locks->watch);
    if (locked)
        pawl_mutex_unlock(locks->env, locks->mutex);
    if (locks->thread)
        pawl_thread_join(locks->env, locks->thread);
    while ((link = pawl__list_pop_front(&locks->sessions)) != NULL)
        free_session(locks, PAWL_CONTAINER(link, struct sqlserver_session, link));
}
