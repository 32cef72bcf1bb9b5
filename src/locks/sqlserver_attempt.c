/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attempts, waits, renewals and releases; see sqlserver_private.h.
 *
 * The server lets a session have a lock twice; nothing here is re-entrant. So what this provider
 * holds is refused before the server is asked: once the session is taken, so that nobody else can
 * get the same key on it meanwhile.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "locks/sqlserver_private.h"

#define NS_PER_MS INT64_C(1000000)
/* The server's own timeout comes first, by this much. */
#define GRACE_NS (1000 * NS_PER_MS)
/* The longest timeout that the server accepts. */
#define WAIT_MS_MAX 0x7fffffff

enum { GRANTED = 0, TIMED_OUT = -1, CANCELLED = -2, DEADLOCK = -3, FAILED = -999 };

static struct sqlserver_locks *locks_of(struct pawl_lock_provider *provider)
{
    return (struct sqlserver_locks *)provider;
}

/* ---- what is held ------------------------------------------------------------------------ */

static struct sqlserver_held *make_held(struct sqlserver_locks *locks,
                                        struct pawl_lock_grant *grant)
{
    char key[PAWL_SQLSERVER_LOCK_NAME_SIZE];
    size_t length = pawl__lock_name_sqlserver_text(grant->name, key);
    struct sqlserver_held *held = pawl__alloc_zeroed(&locks->env->alloc, sizeof *held + length + 1);

    if (!held)
        return NULL;
    held->grant = grant;
    held->key_len = length;
    memcpy(held->key, key, length);
    return held;
}

static void free_held(struct sqlserver_locks *locks, struct sqlserver_held *held)
{
    pawl__free(&locks->env->alloc, held, sizeof *held + held->key_len + 1);
}

static struct pawl_str key_of(const struct sqlserver_held *held)
{
    return pawl__str_make(held->key, held->key_len);
}

/* Whether another grant of this provider has the key. */
static int is_ours(struct sqlserver_locks *locks, struct pawl_str key, bool *out,
                   struct pawl_error *err)
{
    struct sqlserver_held *held;
    int status = pawl_mutex_lock(locks->env, locks->mutex);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    *out = false;
    PAWL_LIST_FOR_EACH (held, &locks->held, among_link)
        if (pawl__str_equal(key_of(held), key))
            *out = true;
    pawl_mutex_unlock(locks->env, locks->mutex);
    return PAWL_OK;
}

/* The session got it: from here on it is held. `sent_ns`: before the question was sent whose answer
 * shows that. */
static void enter(struct sqlserver_locks *locks, struct sqlserver_session *session,
                  struct sqlserver_held *held, int64_t sent_ns)
{
    bool locked = pawl_mutex_lock(locks->env, locks->mutex) == PAWL_OK;

    held->session = session;
    pawl__list_push_back(&session->held, &held->link);
    pawl__list_push_back(&locks->held, &held->among_link);
    held->grant->bound = held;
    held->grant->valid_until_ns = sent_ns + SQLSERVER_VALID_NS;
    pawl_cond_signal(locks->env, locks->watch);
    if (locked)
        pawl_mutex_unlock(locks->env, locks->mutex);
}

/* Out of all lists, once nobody reports it. */
static void unlink_held(struct sqlserver_locks *locks, struct sqlserver_held *held)
{
    bool locked = pawl_mutex_lock(locks->env, locks->mutex) == PAWL_OK;

    while (locked && locks->reporting == held &&
           pawl_cond_wait(locks->env, locks->changed, locks->mutex, PAWL_FOREVER) == PAWL_OK)
        continue;
    if (pawl__list_linked(&held->link))
        pawl__list_remove(&held->link);
    if (pawl__list_linked(&held->among_link))
        pawl__list_remove(&held->among_link);
    held->grant->bound = NULL;
    if (locked)
        pawl_mutex_unlock(locks->env, locks->mutex);
    free_held(locks, held);
}

/* ---- attempts ---------------------------------------------------------------------------- */

/*
 * An attempt was given up, or what it got is of no use: the session shall not have it. When that
 * cannot be found out the session is ended, and with it whatever it held.
 */
static void make_amends(struct sqlserver_locks *locks, struct sqlserver_session *session,
                        struct pawl_str key)
{
    const struct pawl_socket_wait wait = {locks->env, NULL,
                                          pawl_env_monotonic_ns(locks->env) + locks->patience_ns};

    if (pawl__tds_is_broken(session->conn) ||
        pawl__sqlserver_release_if_held(session, key, &wait, NULL) != PAWL_OK)
        pawl__sqlserver_doom(locks, session);
}

/* From a return code of sp_getapplock to ours. */
static int status_of_code(struct sqlserver_session *session, struct pawl_str key, int32_t code,
                          bool waited, const struct pawl_socket_wait *wait, struct pawl_error *err)
{
    int shown = (int)(key.len < 100 ? key.len : 100);
    bool is_free = true;
    int status;

    if (code >= GRANTED)
        return PAWL_OK;
    switch (code) {
    case TIMED_OUT:
        return waited ? pawl__error_code(err, PAWL_ETIMEDOUT) : PAWL_EBUSY;
    case CANCELLED:
        return pawl__error_set(err, PAWL_EUNAVAILABLE, "the lock '%.*s': the server cancelled it",
                               shown, key.ptr);
    case DEADLOCK:
        return pawl__error_set(err, PAWL_EUNAVAILABLE,
                               "the lock '%.*s': the server chose it as the victim of a deadlock",
                               shown, key.ptr);
    default:
        break;
    }
    /* -999 is "a parameter, or something else". Some servers say it of a lock that is held. */
    status = pawl__sqlserver_test(session, key, wait, &is_free, err);
    if (status == PAWL_OK && !is_free)
        return PAWL_EBUSY;
    if (status != PAWL_OK)
        return status == PAWL_EUNKNOWN ? PAWL_EUNAVAILABLE : status;
    return pawl__error_set(err, PAWL_EUNAVAILABLE,
                           "the lock '%.*s': sp_getapplock returns %d although nobody holds it; "
                           "may the user of the URI run it in this database?",
                           shown, key.ptr, (int)code);
}

/* The session has it; now the token. After a wait of any length a question says until when it can
 * be trusted. */
static int complete(struct sqlserver_locks *locks, struct sqlserver_session *session,
                    struct sqlserver_held *held, int64_t sent_ns, bool waited,
                    const struct pawl_socket_wait *wait, struct pawl_error *err)
{
    bool wants_token = held->grant->flags & PAWL_LOCK_WANT_TOKEN;
    int status = PAWL_OK;

    if (wants_token || waited)
        sent_ns = pawl_env_monotonic_ns(locks->env);
    if (wants_token)
        status = pawl__sqlserver_token(session, wait, &held->grant->token, err);
    else if (waited)
        status = pawl__sqlserver_ping(session, wait, err);
    if (status == PAWL_OK) {
        enter(locks, session, held, sent_ns);
        return PAWL_OK;
    }
    make_amends(locks, session, key_of(held));
    return status == PAWL_EUNKNOWN || status == PAWL_ETIMEDOUT ? PAWL_EUNAVAILABLE : status;
}

static int attempt(struct sqlserver_locks *locks, struct sqlserver_session *session,
                   struct sqlserver_held *held, int32_t timeout_ms,
                   const struct pawl_socket_wait *wait, struct pawl_error *err)
{
    const struct pawl_socket_wait after = {locks->env, NULL,
                                           pawl_env_monotonic_ns(locks->env) + locks->patience_ns};
    const struct pawl_socket_wait *rest = timeout_ms == 0 ? wait : &after;
    int64_t sent_ns = pawl_env_monotonic_ns(locks->env);
    int32_t code = FAILED;
    int status;

    status = pawl__sqlserver_get(session, key_of(held), timeout_ms, wait, &code, err);
    if (status == PAWL_OK)
        status = status_of_code(session, key_of(held), code, timeout_ms != 0, rest, err);
    else if (status == PAWL_ETIMEDOUT || status == PAWL_ECANCELLED)
        make_amends(locks, session, key_of(held));
    else
        return status;
    if (status == PAWL_OK)
        return complete(locks, session, held, sent_ns, timeout_ms != 0, rest, err);
    /* A server that is silent is not the holder of a lock. */
    if (status == PAWL_ETIMEDOUT && timeout_ms == 0)
        return PAWL_EUNAVAILABLE;
    return status;
}

int pawl__sqlserver_try_op(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                           int64_t deadline_ns, struct pawl_error *err)
{
    struct sqlserver_locks *locks = locks_of(provider);
    const struct pawl_socket_wait wait = {locks->env, NULL, deadline_ns};
    struct sqlserver_session *session;
    struct sqlserver_held *held = make_held(locks, grant);
    bool ours = false;
    int status;

    if (!held)
        return pawl__error_code(err, PAWL_ENOMEM);
    status = pawl__sqlserver_take(locks, false, deadline_ns, &session, err);
    if (status == PAWL_OK) {
        status = is_ours(locks, key_of(held), &ours, err);
        if (status == PAWL_OK)
            status = ours ? PAWL_EBUSY : attempt(locks, session, held, 0, &wait, err);
        pawl__sqlserver_give(locks, session);
    }
    if (status != PAWL_OK)
        free_held(locks, held);
    return status;
}

/* ---- waiting ----------------------------------------------------------------------------- */

/* PAWL_ECANCELLED: interrupt() was there before. */
static int announce(struct sqlserver_locks *locks, struct sqlserver_waiter *waiter,
                    struct pawl_error *err)
{
    int status = pawl__waker_init(&waiter->waker, err);

    if (status != PAWL_OK)
        return status;
    status = pawl_mutex_lock(locks->env, locks->mutex);
    if (status != PAWL_OK) {
        pawl__waker_release(&waiter->waker);
        return pawl__error_code(err, status);
    }
    if (waiter->grant->place & SQLSERVER_INTERRUPTED) {
        waiter->grant->place &= ~(uint64_t)SQLSERVER_INTERRUPTED;
        pawl__waker_wake(&waiter->waker);
    }
    pawl__list_push_back(&locks->waiters, &waiter->link);
    pawl_mutex_unlock(locks->env, locks->mutex);
    return PAWL_OK;
}

static void retire(struct sqlserver_locks *locks, struct sqlserver_waiter *waiter)
{
    bool locked = pawl_mutex_lock(locks->env, locks->mutex) == PAWL_OK;

    pawl__list_remove(&waiter->link);
    if (locked)
        pawl_mutex_unlock(locks->env, locks->mutex);
    pawl__waker_release(&waiter->waker);
}

void pawl__sqlserver_interrupt_op(struct pawl_lock_provider *provider,
                                  struct pawl_lock_grant *grant)
{
    struct sqlserver_locks *locks = locks_of(provider);
    struct sqlserver_waiter *waiter;
    bool found = false;

    if (pawl_mutex_lock(locks->env, locks->mutex) != PAWL_OK)
        return;
    PAWL_LIST_FOR_EACH (waiter, &locks->waiters, link)
        if (waiter->grant == grant) {
            pawl__waker_wake(&waiter->waker);
            found = true;
        }
    if (!found)
        grant->place |= SQLSERVER_INTERRUPTED;
    pawl_mutex_unlock(locks->env, locks->mutex);
}

/* For the server: rounded up, -1 for ever. */
static int32_t timeout_of(struct sqlserver_locks *locks, int64_t deadline_ns)
{
    int64_t left_ms;

    if (deadline_ns == PAWL_FOREVER)
        return -1;
    left_ms = (deadline_ns - pawl_env_monotonic_ns(locks->env) + NS_PER_MS - 1) / NS_PER_MS;
    if (left_ms < 1)
        return 1;
    return left_ms < WAIT_MS_MAX ? (int32_t)left_ms : WAIT_MS_MAX;
}

int pawl__sqlserver_wait_op(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                            int64_t deadline_ns, struct pawl_error *err)
{
    struct sqlserver_locks *locks = locks_of(provider);
    struct sqlserver_waiter waiter = {.grant = grant};
    struct pawl_socket_wait wait = {locks->env, &waiter.waker, PAWL_FOREVER};
    struct sqlserver_session *session;
    struct sqlserver_held *held = make_held(locks, grant);
    int status = held ? announce(locks, &waiter, err) : pawl__error_code(err, PAWL_ENOMEM);

    if (status != PAWL_OK) {
        if (held)
            free_held(locks, held);
        return status;
    }
    if (deadline_ns < PAWL_FOREVER - GRACE_NS)
        wait.deadline_ns = deadline_ns + GRACE_NS;
    status = pawl__sqlserver_take(locks, true, deadline_ns, &session, err);
    if (status == PAWL_OK) {
        status = attempt(locks, session, held, timeout_of(locks, deadline_ns), &wait, err);
        pawl__sqlserver_give(locks, session);
    }
    retire(locks, &waiter);
    if (status != PAWL_OK)
        free_held(locks, held);
    return status;
}

/* ---- renewing ---------------------------------------------------------------------------- */

static int renew_one(struct sqlserver_locks *locks, struct pawl_lock_grant *grant, uint32_t check,
                     int64_t deadline_ns, struct pawl_error *err)
{
    const struct pawl_socket_wait wait = {locks->env, NULL, deadline_ns};
    struct sqlserver_held *held = grant->bound;
    struct sqlserver_session *session;
    int status;

    if (!held)
        return PAWL_ENOTFOUND;
    status = pawl__sqlserver_take_holder(locks, held, deadline_ns, &session, err);
    if (status != PAWL_OK)
        return status;
    if (session->checked != check) { /* once for all that it holds */
        int64_t sent_ns = pawl_env_monotonic_ns(locks->env);

        status = pawl__sqlserver_ping(session, &wait, err);
        if (status == PAWL_OK) {
            session->checked = check;
            session->asked_ns = sent_ns;
        }
    }
    if (status == PAWL_OK)
        grant->valid_until_ns = session->asked_ns + SQLSERVER_VALID_NS;
    pawl__sqlserver_give(locks, session);
    return status == PAWL_EUNKNOWN ? PAWL_ENOTFOUND : status;
}

int pawl__sqlserver_renew_op(struct pawl_lock_provider *provider,
                             struct pawl_lock_grant *const *grants, size_t count,
                             int64_t deadline_ns, struct pawl_error *err)
{
    struct sqlserver_locks *locks = locks_of(provider);
    uint32_t check;
    int status = pawl_mutex_lock(locks->env, locks->mutex);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    check = ++locks->check_count;
    pawl_mutex_unlock(locks->env, locks->mutex);
    for (size_t i = 0; i < count; i++)
        grants[i]->status = renew_one(locks, grants[i], check, deadline_ns, err);
    return PAWL_OK;
}

/* ---- releasing --------------------------------------------------------------------------- */

int pawl__sqlserver_release_op(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                               int64_t deadline_ns, struct pawl_error *err)
{
    struct sqlserver_locks *locks = locks_of(provider);
    const struct pawl_socket_wait wait = {locks->env, NULL, deadline_ns};
    struct sqlserver_held *held = grant->bound;
    struct sqlserver_session *session = NULL;
    int status;

    /* An attempt whose outcome is unknown broke its session, and the server ends what that had. */
    if (!held)
        return PAWL_OK;
    status = pawl__sqlserver_take_holder(locks, held, deadline_ns, &session, err);
    if (!session && status != PAWL_ENOTFOUND)
        return status;
    if (session) {
        status = pawl__sqlserver_release(session, key_of(held), &wait, err);
        /* Whatever went wrong, the lock ends: by amends, or with its session. */
        if (status != PAWL_OK && status != PAWL_ENOTFOUND) {
            make_amends(locks, session, key_of(held));
            status = PAWL_OK;
        }
    }
    unlink_held(locks, held);
    if (session)
        pawl__sqlserver_give(locks, session);
    return status;
}

void pawl__sqlserver_abandon_op(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant)
{
    /* The server still has it until the session ends, which it does when the provider is closed. */
    if (grant->bound)
        unlink_held(locks_of(provider), grant->bound);
}
