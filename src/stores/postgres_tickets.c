/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks that come with claims: advisory locks of the session that claimed.
 *
 * A lock belongs to the connection that took it, a commit goes by any. So the store notes which
 * connection has which lock, and unlocking is posted on that one: sent at once when it is idle, by
 * its current user when it returns it. Nothing waits for a reply, and a commit needs to
 * know nothing of locks. A key that is held already is not asked for again: the server would give
 * it to the same connection twice, and would refuse it to another of ours.
 *
 * Until something was read from a connection after an unlocking was posted on it, another one of
 * ours may be quicker at the server and be refused. So a claim of the same key goes by the
 * connection that is to unlock it, and waits a little if that is in use.
 */
#include "base/alloc.h"
#include "stores/postgres.h"

/* Posted statements on one connection before a call waits for the replies. */
#define POSTED_MAX 200
#define CATCH_UP_NS INT64_C(5000000000)
/* A call is short; after that the unlocking, which was sent before it, has long been done. */
#define UNLOCKED_NS_MAX INT64_C(500000000)

struct pg_held {
    int64_t key;
    struct pawl_pq_conn *conn;
    struct pawl_list_link link; /* of `leaving` or `posted` */
};

static struct pawl_str key_of(const int64_t *key)
{
    return pawl__str_make((const char *)key, sizeof *key);
}

int pawl__pg_tickets_init(struct pawl_postgres *pg)
{
    struct pawl_hash_seed seed = {0};
    int status = pawl_env_entropy(pg->env, &seed, sizeof seed, NULL);

    pawl__map_init(&pg->held, &pg->env->alloc, seed);
    pawl__list_init(&pg->leaving);
    pawl__list_init(&pg->posted);
    return status;
}

void pawl__pg_tickets_release(struct pawl_postgres *pg)
{
    pawl__pg_forget_held(pg, NULL);
    pawl__map_release(&pg->held);
}

/* Under the lock: a lock that was to be released is kept after all. */
static bool call_back(struct pawl_postgres *pg, int64_t key)
{
    struct pg_held *held;

    PAWL_LIST_FOR_EACH (held, &pg->leaving, link)
        if (held->key == key) {
            if (pawl__map_put(&pg->held, key_of(&held->key), held) != PAWL_OK)
                return false;
            pawl__list_remove(&held->link);
            return true;
        }
    return false;
}

/* Under the lock. */
static bool is_ours(struct pawl_postgres *pg, int64_t key)
{
    return pawl__map_has(&pg->held, key_of(&key)) || call_back(pg, key);
}

bool pawl__pg_holds(struct pawl_postgres *pg, int64_t key)
{
    bool held;

    if (pawl_mutex_lock(pg->env, pg->lock) != PAWL_OK)
        return false;
    held = is_ours(pg, key);
    pawl_mutex_unlock(pg->env, pg->lock);
    return held;
}

int pawl__pg_note_held(struct pawl_postgres *pg, int64_t key, struct pawl_pq_conn *conn)
{
    struct pg_held *held = pawl__alloc_zeroed(&pg->env->alloc, sizeof *held);
    int status;

    if (!held)
        return PAWL_ENOMEM;
    held->key = key;
    held->conn = conn;
    status = pawl_mutex_lock(pg->env, pg->lock);
    if (status == PAWL_OK) {
        /* Two claims of one instance at a time do not happen; the second lock would be the same. */
        status = pawl__map_has(&pg->held, key_of(&key))
                     ? PAWL_EEXISTS
                     : pawl__map_put(&pg->held, key_of(&held->key), held);
        pawl_mutex_unlock(pg->env, pg->lock);
    }
    if (status != PAWL_OK)
        pawl__free(&pg->env->alloc, held, sizeof *held);
    return status;
}

void pawl__pg_post_unlock(struct pawl_postgres *pg, struct pawl_pq_conn *conn, const int64_t *keys,
                          size_t count)
{
    const struct pawl_socket_wait wait = {pg->env, NULL,
                                          pawl_env_monotonic_ns(pg->env) + CATCH_UP_NS};
    struct pawl_buf buf;
    int status;

    pawl__buf_init(&buf, &pg->env->alloc, PG_CALL_BYTES_MAX);
    pawl__pq_array_begin(&buf, PAWL_PQ_INT_ARRAY, count);
    for (size_t i = 0; i < count; i++)
        pawl__pq_array_int(&buf, keys[i]);
    status = buf.status;
    if (status == PAWL_OK) {
        const struct pawl_pq_param param = {PAWL_PQ_INT_ARRAY, pawl__buf_peek(&buf), 0};

        status =
            pawl__pq_post(conn, PG_NUMBER_OWN + PG_UNLOCK, pg->own[PG_UNLOCK], &param, 1, NULL);
    }
    pawl__buf_release(&buf);
    if (status == PAWL_OK && pawl__pq_posted(conn) > POSTED_MAX) {
        status = pawl__pq_begin(conn, NULL);
        if (status == PAWL_OK)
            status = pawl__pq_sync(conn, NULL);
        if (status == PAWL_OK)
            status = pawl__pq_run(conn, false, &wait, NULL);
        pawl__pg_count(pg, 1, 0);
    }
    /* A lock that nobody knows of would stay for the life of the connection. */
    if (status != PAWL_OK)
        pawl__pq_break(conn);
}

/* Under the lock: takes an idle connection out of its pool. */
static bool take_idle(struct pawl_postgres *pg, const struct pawl_pq_conn *conn)
{
    struct pg_pool *pool = &pg->pools[PG_FAST];

    for (size_t i = 0; i < pool->idle_count; i++)
        if (pool->idle[i] == conn) {
            pool->idle[i] = pool->idle[--pool->idle_count];
            return true;
        }
    return false;
}

void pawl__pg_unlock(struct pawl_store *store, const struct pawl_lock_ticket *ticket)
{
    struct pawl_postgres *pg = (struct pawl_postgres *)store;
    struct pawl_pq_conn *conn;
    struct pg_held *held;
    bool mine = false;

    if (pawl_mutex_lock(pg->env, pg->lock) != PAWL_OK)
        return; /* the environment ends, and so do the connections */
    held = pawl__map_remove(&pg->held, key_of(&ticket->key));
    conn = held ? held->conn : NULL;
    mine = held && take_idle(pg, conn);
    if (held)
        pawl__list_push_back(mine ? &pg->posted : &pg->leaving, &held->link);
    pawl_mutex_unlock(pg->env, pg->lock);
    if (!mine)
        return;
    pawl__pg_post_unlock(pg, conn, &ticket->key, 1);
    pawl__pg_give_back(pg, PG_FAST, conn);
}

bool pawl__pg_next_leaving(struct pawl_postgres *pg, struct pawl_pq_conn *conn, int64_t *key)
{
    struct pg_held *held;

    PAWL_LIST_FOR_EACH (held, &pg->leaving, link)
        if (held->conn == conn) {
            *key = held->key;
            pawl__list_remove(&held->link);
            pawl__list_push_back(&pg->posted, &held->link);
            return true;
        }
    return false;
}

/* ---- unlockings that are on their way ------------------------------------------------------ */

static void forget_listed(struct pawl_postgres *pg, struct pawl_list *list,
                          const struct pawl_pq_conn *conn)
{
    struct pawl_list kept;
    struct pawl_list_link *link;

    pawl__list_init(&kept);
    while ((link = pawl__list_pop_front(list))) {
        struct pg_held *held = PAWL_CONTAINER(link, struct pg_held, link);

        if (conn && held->conn != conn)
            pawl__list_push_back(&kept, link);
        else
            pawl__free(&pg->env->alloc, held, sizeof *held);
    }
    while ((link = pawl__list_pop_front(&kept)))
        pawl__list_push_back(list, link);
}

void pawl__pg_note_answered(struct pawl_postgres *pg, const struct pawl_pq_conn *conn)
{
    if (pawl__pq_posted(conn) == 0 && !pawl__list_empty(&pg->posted))
        forget_listed(pg, &pg->posted, conn);
}

static struct pawl_pq_conn *find_posted(struct pawl_postgres *pg, int64_t key)
{
    struct pg_held *held;

    PAWL_LIST_FOR_EACH (held, &pg->posted, link)
        if (held->key == key)
            return held->conn;
    return NULL;
}

struct pawl_pq_conn *pawl__pg_await_unlocked(struct pawl_postgres *pg, int64_t key,
                                             int64_t deadline_ns)
{
    int64_t until_ns = pawl_env_monotonic_ns(pg->env) + UNLOCKED_NS_MAX;
    struct pawl_pq_conn *conn;
    int status = PAWL_OK;

    if (is_ours(pg, key))
        return NULL; /* and stays so: by any connection */
    if (until_ns > deadline_ns)
        until_ns = deadline_ns;
    while ((conn = find_posted(pg, key)) && !take_idle(pg, conn)) {
        if (status != PAWL_OK)
            return NULL;
        pg->unlocked_waiters++;
        status = pawl_cond_wait(pg->env, pg->pools[PG_FAST].freed, pg->lock, until_ns);
        pg->unlocked_waiters--;
    }
    return conn;
}

/* ---- connections that are gone ------------------------------------------------------------- */

void pawl__pg_forget_held(struct pawl_postgres *pg, const struct pawl_pq_conn *conn)
{
    struct pawl_map_entry *entry;

    PAWL_MAP_FOR_EACH (entry, &pg->held) {
        struct pg_held *held = entry->value;

        if (conn && held->conn != conn)
            continue;
        (void)pawl__map_remove(&pg->held, entry->key);
        pawl__free(&pg->env->alloc, held, sizeof *held);
    }
    forget_listed(pg, &pg->leaving, conn);
    forget_listed(pg, &pg->posted, conn);
}
