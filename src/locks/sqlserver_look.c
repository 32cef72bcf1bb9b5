/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds a lock, as far as SQL Server reports it; see sqlserver_private.h. */
#include "base/error.h"
#include "locks/sqlserver_private.h"

#include <inttypes.h>
#include <stdio.h>

/* The server shows 32 characters of a lock's name, in brackets, and a hash of all of it. */
#define SHOWN_UNITS 32

static struct sqlserver_locks *locks_of(struct pawl_lock_provider *provider)
{
    return (struct sqlserver_locks *)provider;
}

struct looking {
    struct pawl_lock_holder *holder;
    const char *key; /* the one that is looked for; NULL: all */
    int (*each)(void *ctx, const struct pawl_lock_holder *holder);
    void *ctx;
    size_t left;
    int result;
};

/* "0:[workflow-instance:abc]:(4c2e0d11)" */
static struct pawl_str shown_key(struct pawl_str description)
{
    size_t from = pawl__str_find(description, '[', 0), to = SIZE_MAX;

    for (size_t i = 0; i + 1 < description.len; i++)
        if (description.ptr[i] == ']' && description.ptr[i + 1] == ':')
            to = i;
    return from == SIZE_MAX || to == SIZE_MAX || to <= from
               ? pawl__str("")
               : pawl__str_slice(description, from + 1, to);
}

/* Columns: the session, what it holds. */
static int read_row(void *ctx, const struct pawl_str *columns, size_t count)
{
    struct looking *looking = ctx;
    struct pawl_lock_holder *holder = looking->holder;
    struct pawl_str key;

    if (count < 2)
        return 1;
    key = shown_key(columns[1]);
    if (looking->key && !pawl__str_is(key, looking->key))
        return 0;
    (void)snprintf(holder->owner, sizeof holder->owner, "session %.*s of SQL Server",
                   PAWL_STR_ARG(columns[0]));
    holder->held = true;
    if (looking->key)
        return 1;
    (void)snprintf(holder->key, sizeof holder->key, "%.*s", PAWL_STR_ARG(key));
    looking->result = looking->each(looking->ctx, holder);
    return looking->result != 0 || --looking->left == 0;
}

static int query_locks(struct sqlserver_session *session, struct looking *looking,
                       const struct pawl_socket_wait *wait, struct pawl_error *err)
{
    return pawl__tds_query(session->conn,
                           "SELECT request_session_id, resource_description "
                           "FROM sys.dm_tran_locks WHERE resource_type = 'APPLICATION' "
                           "AND request_status = 'GRANT' AND resource_database_id = DB_ID()",
                           read_row, looking, wait, err);
}

/* One of ours is seen without the server, which would say that we could have it. */
static bool find_ours(struct sqlserver_locks *locks, const char *key,
                      struct pawl_lock_holder *holder)
{
    struct sqlserver_held *held;

    if (pawl_mutex_lock(locks->env, locks->mutex) != PAWL_OK)
        return false;
    PAWL_LIST_FOR_EACH (held, &locks->held, among_link)
        if (strcmp(held->key, key) == 0) {
            holder->held = true;
            holder->token = held->grant->token;
            (void)snprintf(holder->owner, sizeof holder->owner, "%s", held->grant->owner);
        }
    pawl_mutex_unlock(locks->env, locks->mutex);
    return holder->held;
}

/* Only a short name is shown whole. Who holds it is a bonus: looking needs a permission. */
static void find_session(struct sqlserver_session *session, struct pawl_lock_holder *holder,
                         const struct pawl_socket_wait *wait)
{
    struct looking looking = {.holder = holder, .key = holder->key};
    uint16_t units[PAWL_SQLSERVER_LOCK_UNITS_MAX];

    if (pawl__lock_name_sqlserver(pawl__str(holder->key), units) < SHOWN_UNITS)
        (void)!query_locks(session, &looking, wait, NULL);
}

int pawl__sqlserver_inspect_op(struct pawl_lock_provider *provider, struct pawl_str name,
                               struct pawl_lock_holder *out, int64_t deadline_ns,
                               struct pawl_error *err)
{
    struct sqlserver_locks *locks = locks_of(provider);
    const struct pawl_socket_wait wait = {locks->env, NULL, deadline_ns};
    struct sqlserver_session *session;
    bool is_free = true;
    int status;

    *out = (struct pawl_lock_holder){.remaining_ms = -1};
    (void)pawl__lock_name_sqlserver_text(name, out->key);
    if (find_ours(locks, out->key, out))
        return PAWL_OK;
    status = pawl__sqlserver_take(locks, false, deadline_ns, &session, err);
    if (status != PAWL_OK)
        return status;
    status = pawl__sqlserver_test(session, pawl__str(out->key), &wait, &is_free, err);
    if (status == PAWL_OK && !is_free) {
        find_session(session, out, &wait);
        out->held = true;
    }
    pawl__sqlserver_give(locks, session);
    return status;
}

int pawl__sqlserver_list_op(struct pawl_lock_provider *provider, size_t limit,
                            int (*each)(void *ctx, const struct pawl_lock_holder *holder),
                            void *ctx, int64_t deadline_ns, struct pawl_error *err)
{
    struct sqlserver_locks *locks = locks_of(provider);
    const struct pawl_socket_wait wait = {locks->env, NULL, deadline_ns};
    struct pawl_lock_holder holder = {.remaining_ms = -1};
    struct looking looking = {&holder, NULL, each, ctx, limit, 0};
    struct sqlserver_session *session;
    int status;

    if (limit == 0)
        return PAWL_OK;
    status = pawl__sqlserver_take(locks, false, deadline_ns, &session, err);
    if (status != PAWL_OK)
        return status;
    status = query_locks(session, &looking, &wait, err);
    if (status == PAWL_EPERM)
        (void)pawl__error_prefix(err, status,
                                 "listing locks needs VIEW SERVER STATE (or VIEW DATABASE STATE)");
    pawl__sqlserver_give(locks, session);
    return status;
}
