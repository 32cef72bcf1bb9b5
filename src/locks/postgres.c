/* SPDX-License-Identifier: Apache-2.0 */
/* Advisory locks of PostgreSQL, see providers.h and postgres_private.h. */
#include "base/alloc.h"
#include "base/error.h"
#include "locks/postgres_private.h"
#include "os/process.h"

#include <stdio.h>

#define URI_BYTES_MAX 8192
#define SEQUENCE_TRIES 5

/* ---- what is held ------------------------------------------------------------------------ */

void pawl__advisory_id(const struct pawl_pg_lock_key *key, char out[16])
{
    const uint64_t value = key->pair ? (uint64_t)(uint32_t)key->a << 32 | (uint64_t)(uint32_t)key->b
                                     : (uint64_t)key->key;

    memset(out, 0, 16);
    memcpy(out, &value, sizeof value);
    out[8] = key->pair ? 'p' : 'k';
}

int pawl__advisory_held_new(struct advisory_session *session, struct pawl_lock_grant *grant,
                            const struct pawl_pg_lock_key *key, struct advisory_held **out,
                            struct pawl_error *err)
{
    struct advisory_held *held = pawl__alloc_zeroed(&session->pg->env->alloc, sizeof *held);

    if (!held) {
        (void)pawl__error_code(err, PAWL_ENOMEM);
        return PAWL_ENOMEM;
    }
    held->session = session;
    held->grant = grant;
    held->key = *key;
    pawl__advisory_id(key, held->id);
    *out = held;
    return PAWL_OK;
}

void pawl__advisory_held_free(struct advisory_locks *pg, struct advisory_held *held)
{
    if (held)
        pawl__free(&pg->env->alloc, held, sizeof *held);
}

int pawl__advisory_hold(struct advisory_held *held, int64_t valid_until_ns)
{
    struct advisory_locks *pg = held->session->pg;
    int status = pawl_mutex_lock(pg->env, pg->lock);

    if (status != PAWL_OK)
        return status;
    if (held->session == &pg->sessions[0])
        status = pawl__map_put(&pg->keys, pawl__str_make(held->id, sizeof held->id), held);
    if (status == PAWL_OK) {
        held->state = ADVISORY_HELD;
        pawl__list_push_back(&held->session->helds, &held->link);
        held->grant->bound = held;
        held->grant->valid_until_ns = valid_until_ns;
    }
    pawl_mutex_unlock(pg->env, pg->lock);
    return status;
}

void pawl__advisory_unhold(struct advisory_held *held, enum advisory_state state)
{
    struct advisory_locks *pg = held->session->pg;

    pawl__list_remove(&held->link);
    if (held->session == &pg->sessions[0])
        (void)pawl__map_remove(&pg->keys, pawl__str_make(held->id, sizeof held->id));
    held->state = state;
}

/* ---- tokens ------------------------------------------------------------------------------ */

int pawl__advisory_sequence(struct advisory_session *session, int64_t deadline_ns,
                            struct pawl_error *err)
{
    struct advisory_locks *pg = session->pg;
    bool is_there;
    int status = pawl_mutex_lock(pg->env, pg->lock);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    is_there = pg->has_sequence;
    pawl_mutex_unlock(pg->env, pg->lock);
    /* Looked up first: a user who may use it need not be allowed to create it. Two who create it at
     * the same time trip over each other, and one of them looks again. */
    for (int i = 0; !is_there; i++) {
        status =
            pawl__advisory_text(session, "SELECT (to_regclass('pawl_lock_token') IS NOT NULL)::int",
                                NULL, 0, deadline_ns, err);
        if (status != PAWL_OK)
            return status;
        is_there = pawl__pq_int(session->conn, 0, 0, 0) != 0;
        if (is_there)
            break;
        status = pawl__advisory_text(session, "CREATE SEQUENCE IF NOT EXISTS pawl_lock_token", NULL,
                                     0, deadline_ns, err);
        if (status == PAWL_EPERM)
            return pawl__error_prefix(err, status,
                                      "tokens of locks need the sequence pawl_lock_token; let its "
                                      "owner run CREATE SEQUENCE pawl_lock_token");
        if (status != PAWL_OK && (i >= SEQUENCE_TRIES || session->left != ADVISORY_LEFT_NOTHING ||
                                  pawl__pq_is_broken(session->conn)))
            return status;
    }
    if (pawl_mutex_lock(pg->env, pg->lock) == PAWL_OK) {
        pg->has_sequence = true;
        pawl_mutex_unlock(pg->env, pg->lock);
    }
    return PAWL_OK;
}

/* ---- attempts ---------------------------------------------------------------------------- */

static int check_name(struct pawl_str name, struct pawl_error *err)
{
    if (name.len > PAWL_LOCK_NAME_MAX)
        return pawl__error_set(err, PAWL_EINVAL, "a lock's name has at most %d bytes",
                               PAWL_LOCK_NAME_MAX);
    return PAWL_OK;
}

/* Whether session 0 has it: the server would grant it to the same session again. */
static int is_held_here(struct advisory_locks *pg, const struct advisory_held *held, bool *out)
{
    int status = pawl_mutex_lock(pg->env, pg->lock);

    if (status != PAWL_OK)
        return status;
    *out = pawl__map_has(&pg->keys, pawl__str_make(held->id, sizeof held->id));
    pawl_mutex_unlock(pg->env, pg->lock);
    return PAWL_OK;
}

/* On session 0, by its user. */
static int attempt(struct advisory_session *session, struct advisory_held *held,
                   int64_t deadline_ns, struct pawl_error *err)
{
    struct advisory_locks *pg = session->pg;
    bool wants_token = held->grant->flags & PAWL_LOCK_WANT_TOKEN;
    bool is_here = false;
    int64_t sent_ns;
    int status = is_held_here(pg, held, &is_here);

    if (status != PAWL_OK || is_here)
        return pawl__error_code(err, status != PAWL_OK ? status : PAWL_EBUSY);
    if (wants_token)
        status = pawl__advisory_sequence(session, deadline_ns, err);
    if (status != PAWL_OK)
        return status;
    sent_ns = pawl_env_monotonic_ns(pg->env);
    status = pawl__advisory_run(session, wants_token ? ADVISORY_TRY_TOKEN : ADVISORY_TRY,
                                &held->key, deadline_ns, err);
    if (session->left != ADVISORY_LEFT_NOTHING) {
        session->left = ADVISORY_LEFT_TRY;
        session->left_key = held->key;
        held->grant->valid_until_ns = 0; /* until the next user of the session settles it */
        return status == PAWL_ESTOPPED
                   ? status
                   : pawl__error_set(err, PAWL_EUNKNOWN, "PostgreSQL: no reply in time");
    }
    if (status != PAWL_OK)
        return status; /* a connection that broke holds nothing */
    if (pawl__pq_int(session->conn, 0, 0, 0) == 0)
        return pawl__error_code(err, PAWL_EBUSY);
    held->grant->token = wants_token ? (uint64_t)pawl__pq_int(session->conn, 0, 0, 0) : 0;
    status = pawl__advisory_hold(held, sent_ns + ADVISORY_VALID_NS);
    if (status != PAWL_OK) { /* no memory: it must not stay */
        if (pawl__advisory_run(session, ADVISORY_UNLOCK, &held->key, deadline_ns, NULL) != PAWL_OK)
            pawl__advisory_drop(session);
        return pawl__error_code(err, status);
    }
    return PAWL_OK;
}

int pawl__advisory_try(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                       int64_t deadline_ns, struct pawl_error *err)
{
    struct advisory_locks *pg = pawl__advisory_self(provider);
    struct advisory_session *session = &pg->sessions[0];
    struct advisory_held *held = NULL;
    struct pawl_pg_lock_key key;
    int status = check_name(grant->name, err);

    if (status == PAWL_OK)
        status = pawl__advisory_start(pg, err);
    if (status != PAWL_OK)
        return status;
    pawl__lock_name_postgres(grant->name, &key);
    grant->bound = NULL;
    status = pawl__advisory_held_new(session, grant, &key, &held, err);
    if (status == PAWL_OK)
        status = pawl__advisory_take(session, deadline_ns, err);
    if (status == PAWL_OK) {
        status = attempt(session, held, deadline_ns, err);
        pawl__advisory_give(session);
    }
    if (status != PAWL_OK)
        pawl__advisory_held_free(pg, held);
    return status == PAWL_ETIMEDOUT
               ? pawl__error_set(err, PAWL_EUNAVAILABLE, "PostgreSQL does not answer")
               : status;
}

/* ---- release ----------------------------------------------------------------------------- */

/* For a grant whose attempt had no reply: the next user of the session settles it. */
static int finish_attempt(struct advisory_locks *pg, int64_t deadline_ns, struct pawl_error *err)
{
    struct advisory_session *session = &pg->sessions[0];
    int status = pawl__advisory_take(session, deadline_ns, err);

    if (status == PAWL_OK)
        pawl__advisory_give(session);
    return status;
}

/* Until it is known how it ended, when its connection broke. PAWL_EBUSY: it is still held. */
static int await_end(struct advisory_locks *pg, struct advisory_held *held, int64_t deadline_ns)
{
    int status = pawl_mutex_lock(pg->env, pg->lock);

    if (status != PAWL_OK)
        return status;
    while (status == PAWL_OK && (held->state == ADVISORY_TELLING ||
                                 (held->state == ADVISORY_HELD && held->session->is_broken)))
        status = pawl__advisory_await(pg, deadline_ns);
    if (status == PAWL_OK)
        status = held->state == ADVISORY_HELD       ? PAWL_EBUSY
                 : held->state == ADVISORY_RELEASED ? PAWL_OK
                                                    : PAWL_ENOTFOUND;
    pawl_mutex_unlock(pg->env, pg->lock);
    return status;
}

static int unlock(struct advisory_held *held, int64_t deadline_ns, struct pawl_error *err)
{
    struct advisory_session *session = held->session;
    struct advisory_locks *pg = session->pg;
    bool was_held;
    int status = pawl__advisory_take(session, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    /* It may have been lost, or settled, before the session was ours. */
    status = await_end(pg, held, deadline_ns);
    if (status != PAWL_EBUSY) {
        pawl__advisory_give(session);
        return status;
    }
    status = pawl__advisory_run(session, ADVISORY_UNLOCK, &held->key, deadline_ns, err);
    if (session->left != ADVISORY_LEFT_NOTHING) {
        session->left = ADVISORY_LEFT_UNLOCK;
        session->left_key = held->key;
    }
    was_held = status == PAWL_OK && pawl__pq_int(session->conn, 0, 0, 0) != 0;
    if (status == PAWL_OK && pawl_mutex_lock(pg->env, pg->lock) == PAWL_OK) {
        pawl__advisory_unhold(held, ADVISORY_RELEASED);
        pawl_mutex_unlock(pg->env, pg->lock);
    }
    pawl__advisory_give(session);
    if (status != PAWL_OK)
        return status;
    return was_held ? PAWL_OK : pawl__error_code(err, PAWL_ENOTFOUND);
}

static int release(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                   int64_t deadline_ns, struct pawl_error *err)
{
    struct advisory_locks *pg = pawl__advisory_self(provider);
    struct advisory_held *held = grant->bound;
    int status;

    if (!held)
        return finish_attempt(pg, deadline_ns, err);
    status = await_end(pg, held, deadline_ns);
    if (status == PAWL_EBUSY)
        status = unlock(held, deadline_ns, err);
    if (status == PAWL_EUNAVAILABLE) /* the connection broke under it: then it is lost */
        status = await_end(pg, held, deadline_ns);
    if (status == PAWL_EBUSY)
        return pawl__error_set(err, PAWL_EUNAVAILABLE, "PostgreSQL does not answer");
    if (status != PAWL_OK && status != PAWL_ENOTFOUND)
        return status == PAWL_ETIMEDOUT ? pawl__error_code(err, PAWL_EUNAVAILABLE)
                                        : pawl__error_code(err, status);
    grant->bound = NULL;
    pawl__advisory_held_free(pg, held);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

static void abandon(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant)
{
    struct advisory_locks *pg = pawl__advisory_self(provider);
    struct advisory_held *held = grant->bound;

    grant->bound = NULL;
    if (!held || pawl_mutex_lock(pg->env, pg->lock) != PAWL_OK)
        return;
    while (held->state == ADVISORY_TELLING)
        if (pawl__advisory_await(pg, PAWL_FOREVER) != PAWL_OK)
            break;
    /* The session has it until it ends, and must not be granted it again. */
    if (held->state == ADVISORY_HELD)
        held->grant = NULL;
    else
        pawl__advisory_held_free(pg, held);
    pawl_mutex_unlock(pg->env, pg->lock);
}

/* ---- renewal ----------------------------------------------------------------------------- */

/* Whether the connection lives. */
static int probe(struct advisory_session *session, int64_t deadline_ns, int64_t *sent_ns,
                 struct pawl_error *err)
{
    int status = pawl__advisory_take(session, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    *sent_ns = pawl_env_monotonic_ns(session->pg->env);
    status = pawl__advisory_run(session, ADVISORY_PROBE, NULL, deadline_ns, err);
    pawl__advisory_give(session);
    return status;
}

/* Of `session`, as far as it is held now. */
static bool is_on(struct advisory_locks *pg, const struct pawl_lock_grant *grant,
                  const struct advisory_session *session)
{
    const struct advisory_held *held = grant->bound;
    bool is_it;

    if (!held || pawl_mutex_lock(pg->env, pg->lock) != PAWL_OK)
        return false;
    is_it = held->session == session && held->state == ADVISORY_HELD;
    pawl_mutex_unlock(pg->env, pg->lock);
    return is_it;
}

static int renew(struct pawl_lock_provider *provider, struct pawl_lock_grant *const *grants,
                 size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    struct advisory_locks *pg = pawl__advisory_self(provider);
    int worst = PAWL_OK;

    for (size_t i = 0; i < count; i++)
        grants[i]->status = PAWL_ENOTFOUND; /* unless a session has it */
    for (size_t s = 0; s < ADVISORY_SESSIONS; s++) {
        struct advisory_session *session = &pg->sessions[s];
        int status = PAWL_ENOTFOUND;
        int64_t sent_ns = 0;

        for (size_t i = 0; i < count && status == PAWL_ENOTFOUND; i++)
            if (is_on(pg, grants[i], session))
                status = PAWL_OK;
        if (status != PAWL_OK)
            continue;
        status = probe(session, deadline_ns, &sent_ns, err);
        worst = status != PAWL_OK ? status : worst;
        /* After the probe: what was lost by it is on no session any more, or will be told of. */
        for (size_t i = 0; i < count; i++) {
            if (!is_on(pg, grants[i], session))
                continue;
            grants[i]->status = status == PAWL_OK ? PAWL_OK : PAWL_EUNAVAILABLE;
            if (status == PAWL_OK)
                grants[i]->valid_until_ns = sent_ns + ADVISORY_VALID_NS;
        }
    }
    return worst == PAWL_ESTOPPED ? worst : PAWL_OK;
}

/* ---- the rest ---------------------------------------------------------------------------- */

static int map_name(struct pawl_lock_provider *provider, struct pawl_str name, char *out,
                    size_t size, struct pawl_error *err)
{
    struct pawl_pg_lock_key key;
    char text[PAWL_PG_LOCK_KEY_TEXT_SIZE];
    int status = check_name(name, err);

    (void)provider;
    if (status != PAWL_OK)
        return status;
    pawl__lock_name_postgres(name, &key);
    pawl__lock_name_postgres_text(&key, text);
    if (strlen(text) >= size)
        return pawl__error_code(err, PAWL_ELIMIT);
    memcpy(out, text, strlen(text) + 1);
    return PAWL_OK;
}

static int listen(struct pawl_lock_provider *provider, const struct pawl_lock_listener *listener,
                  struct pawl_error *err)
{
    struct advisory_locks *pg = pawl__advisory_self(provider);

    int status;

    PAWL_ASSERT(!pg->is_started);
    status = pawl__lock_notifier_open(&pg->notifier, listener, err);
    return status == PAWL_OK ? pawl__advisory_start(pg, err) : status;
}

static void unlisten(struct pawl_lock_provider *provider)
{
    pawl__lock_notifier_close(&pawl__advisory_self(provider)->notifier);
}

static void close_provider(struct pawl_lock_provider *provider)
{
    struct advisory_locks *pg = pawl__advisory_self(provider);
    struct pawl_env *env = pg->env;

    pawl__advisory_stop(pg);
    pawl__lock_notifier_release(&pg->notifier);
    pawl__map_release(&pg->keys);
    pawl__waker_release(&pg->waker);
    pawl_cond_free(env, pg->changed);
    pawl_mutex_free(env, pg->lock);
    pawl__pq_close(pg->pq);
    pawl__free(&env->alloc, pg->uri, pg->uri_size);
    pawl__free(&env->alloc, pg, sizeof *pg);
}

static const struct pawl_lock_provider_ops ops = {
    .version = PAWL_LOCK_VERSION,
    .caps = PAWL_LOCK_CAP_HOST | PAWL_LOCK_CAP_NETWORK | PAWL_LOCK_CAP_WAIT | PAWL_LOCK_CAP_TOKEN |
            PAWL_LOCK_CAP_TOKEN_DURABLE | PAWL_LOCK_CAP_LOST | PAWL_LOCK_CAP_INSPECT |
            PAWL_LOCK_CAP_TICKET,
    .close = close_provider,
    .listen = listen,
    .unlisten = unlisten,
    .status = pawl__advisory_status,
    .map = map_name,
    .try_ = pawl__advisory_try,
    .wait = pawl__advisory_wait,
    .interrupt = pawl__advisory_interrupt,
    .renew = renew,
    .release = release,
    .abandon = abandon,
    .inspect = pawl__advisory_inspect,
    .list = pawl__advisory_list,
    .ticket = pawl__advisory_ticket,
};

/* ---- opening ----------------------------------------------------------------------------- */

static int make(struct advisory_locks *pg, struct pawl_str uri, struct pawl_error *err)
{
    struct pawl_hash_seed seed;
    char host[40], location[256];
    int status = pawl__pq_open(&pg->env->alloc, &pg->pq, err);

    if (status == PAWL_OK)
        status = pawl_env_entropy(pg->env, &seed, sizeof seed, err);
    if (status != PAWL_OK)
        return status;
    pawl__map_init(&pg->keys, &pg->env->alloc, seed);
    pg->uri_size = uri.len + 1;
    pg->uri = pawl__alloc_zeroed(&pg->env->alloc, pg->uri_size);
    status = pg->uri ? pawl_mutex_new(pg->env, "advisory locks", &pg->lock) : PAWL_ENOMEM;
    if (status == PAWL_OK)
        status = pawl_cond_new(pg->env, "advisory changed", &pg->changed);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    memcpy(pg->uri, uri.ptr, uri.len);
    status = pawl__lock_notifier_init(&pg->notifier, pg->env, err);
    if (status == PAWL_OK)
        status = pawl__waker_init(&pg->waker, err);
    for (size_t i = 0; i < ADVISORY_SESSIONS && status == PAWL_OK; i++)
        status = pawl__waker_init(&pg->sessions[i].waker, err);
    if (status != PAWL_OK)
        return status;
    pawl__process_host_name(host, sizeof host);
    (void)snprintf(pg->application, sizeof pg->application, "pawl locks %s_%ld", host,
                   pawl__process_id());
    pawl__pq_location(pg->pq, pg->uri, location, sizeof location);
    if (!*location)
        return pawl__error_set(err, PAWL_EINVAL,
                               "the URI of the PostgreSQL locks is not readable; write "
                               "postgres://user:password@host:port/database");
    return PAWL_OK;
}

int pawl__postgres_locks_open(struct pawl_env *env, struct pawl_str uri,
                              const struct pawl_lock_provider_options *options,
                              struct pawl_lock_provider **out, struct pawl_error *err)
{
    struct advisory_locks *pg;
    int status;

    (void)options; /* there are no leases */
    if (uri.len == 0 || uri.len > URI_BYTES_MAX || pawl__str_find(uri, '\0', 0) != SIZE_MAX)
        return pawl__error_set(err, PAWL_EINVAL,
                               "the URI of the PostgreSQL locks is empty, too long or has a NUL");
    pg = pawl__alloc_zeroed(&env->alloc, sizeof *pg);
    if (!pg)
        return pawl__error_code(err, PAWL_ENOMEM);
    pg->base = (struct pawl_lock_provider){&ops, "postgres", NULL};
    pg->env = env;
    pg->waker.fd = -1;
    for (size_t i = 0; i < ADVISORY_SESSIONS; i++) {
        pg->sessions[i].pg = pg;
        pg->sessions[i].waker.fd = -1;
        pawl__list_init(&pg->sessions[i].helds);
    }
    status = make(pg, uri, err);
    if (status == PAWL_OK)
        *out = &pg->base;
    else
        close_provider(&pg->base);
    return status;
}
