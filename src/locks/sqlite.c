/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks in a SQLite file: a row per name with its owner, its lease and its last token.
 *
 * Leases are compared on the machine's own clock since its start, which all its processes share and
 * which nobody sets; the row says of which start it is. A row of another one (the machine was
 * restarted, or the file is shared between machines, which SQLite itself does not bear well) is
 * compared by the wall clock. A row goes with its release unless it has given tokens: those stay,
 * so that they never repeat.
 *
 * A file that was removed or replaced is opened anew: what was held in the old one is not found in
 * the new one, and so is lost, soon after another process can be granted it there.
 *
 * One connection; its mutex is held during a call. Grants keep nothing of their own.
 */
#include "drivers/sqlite.h"
#include "base/alloc.h"
#include "base/error.h"
#include "locks/providers.h"
#include "os/file.h"
#include "os/lock_file.h"

#include <stdio.h>

#define BOOT_SIZE 40

struct sqlite_locks {
    struct pawl_lock_provider base; /* first: a provider is cast to this */
    struct pawl_env *env;
    int64_t ttl_ms;
    char boot[BOOT_SIZE];
    char path[4096];
    struct pawl_mutex *mutex; /* guards the connection */
    struct pawl_sqlite *db;   /* NULL: it could not be opened anew */
    struct pawl_file_identity file;
    uint32_t flags; /* of the file: PAWL_LOCK_FILE_SHARED */
};

static const char schema[] = "CREATE TABLE IF NOT EXISTS pawl_locks ("
                             "name BLOB PRIMARY KEY, owner TEXT NOT NULL, boot TEXT NOT NULL, "
                             "expires_ns INTEGER NOT NULL, expires_us INTEGER NOT NULL, "
                             "since_us INTEGER NOT NULL, token INTEGER NOT NULL) WITHOUT ROWID";

/* ?1 name, ?2 owner, ?3 boot, ?4 expires_ns, ?5 expires_us, ?6 now_us, ?7 tokens wanted, ?8 now_ns
 */
#define FREE "(owner = '' OR (boot = ?3 AND expires_ns <= ?8) OR (boot <> ?3 AND expires_us <= ?6))"

static const char take_text[] =
    "INSERT INTO pawl_locks (name, owner, boot, expires_ns, expires_us, since_us, token) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (name) DO UPDATE SET owner = ?2, boot = ?3, "
    "expires_ns = ?4, expires_us = ?5, since_us = ?6, token = token + ?7 WHERE " FREE
    " RETURNING token";
static const char renew_text[] =
    "UPDATE pawl_locks SET boot = ?3, expires_ns = ?4, expires_us = ?5 "
    "WHERE name = ?1 AND owner = ?2";
static const char forget_text[] =
    "DELETE FROM pawl_locks WHERE name = ?1 AND owner = ?2 AND token = 0";
static const char free_text[] = "UPDATE pawl_locks SET owner = '' WHERE name = ?1 AND owner = ?2";
static const char inspect_text[] =
    "SELECT name, owner, CASE WHEN boot = ?3 THEN (expires_ns - ?8) / 1000000 "
    "ELSE (expires_us - ?6) / 1000 END, since_us, token, NOT " FREE
    " FROM pawl_locks WHERE name = ?1";
static const char list_text[] =
    "SELECT name, owner, CASE WHEN boot = ?3 THEN (expires_ns - ?8) / 1000000 "
    "ELSE (expires_us - ?6) / 1000 END, since_us, token, 1"
    " FROM pawl_locks WHERE NOT " FREE;

static struct sqlite_locks *cast(struct pawl_lock_provider *provider)
{
    return (struct sqlite_locks *)(void *)provider;
}

/* ---- calls ------------------------------------------------------------------------------- */

/* "Busy" is said of locks here, never of the file. */
static int translate(int status, struct pawl_error *err)
{
    if (status == PAWL_EBUSY || status == PAWL_ETIMEDOUT) {
        if (err)
            err->code = PAWL_EUNAVAILABLE;
        return PAWL_EUNAVAILABLE;
    }
    return status;
}

static int open_file(struct sqlite_locks *locks, struct pawl_error *err)
{
    int status = pawl__lock_file_make(locks->path, locks->flags, err);

    if (status == PAWL_OK)
        status = pawl__sqlite_check_file(locks->path, err);
    if (status == PAWL_OK)
        status = pawl__sqlite_open(locks->env, locks->path, PAWL_SQLITE_CREATE, &locks->db, err);
    /* It may have been replaced in between. */
    if (status == PAWL_OK)
        status = pawl__lock_file_make(locks->path, locks->flags, err);
    if (status != PAWL_OK)
        return status;
    pawl__sqlite_set_deadline(locks->db, pawl_env_monotonic_ns(locks->env) + INT64_C(10000000000));
    status = pawl__sqlite_run(locks->db, "PRAGMA journal_mode = WAL", err);
    if (status == PAWL_OK)
        status = pawl__sqlite_set_syncs(locks->db, false, err);
    if (status == PAWL_OK)
        status = pawl__sqlite_run(locks->db, schema, err);
    pawl__file_identify(locks->path, &locks->file);
    return translate(status, err);
}

/* With the mutex. */
static int open_anew_if_replaced(struct sqlite_locks *locks, struct pawl_error *err)
{
    struct pawl_file_identity now;
    int status;

    pawl__file_identify(locks->path, &now);
    if (locks->db && now.inode == locks->file.inode && now.device == locks->file.device)
        return PAWL_OK;
    pawl__sqlite_close(locks->db);
    locks->db = NULL;
    status = open_file(locks, err);
    if (status != PAWL_OK) {
        pawl__sqlite_close(locks->db);
        locks->db = NULL;
    }
    return status;
}

/* Takes the connection; with `write` in a transaction. */
static int begin(struct sqlite_locks *locks, bool write, bool durable, int64_t deadline_ns,
                 struct pawl_error *err)
{
    int status = pawl_mutex_lock(locks->env, locks->mutex);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    status = open_anew_if_replaced(locks, err);
    if (status != PAWL_OK) {
        pawl_mutex_unlock(locks->env, locks->mutex);
        return status;
    }
    pawl__sqlite_set_deadline(locks->db, deadline_ns);
    if (write)
        status = pawl__sqlite_set_syncs(locks->db, durable, err);
    if (status == PAWL_OK && write)
        status = pawl__sqlite_begin(locks->db, true, err);
    if (status != PAWL_OK)
        pawl_mutex_unlock(locks->env, locks->mutex);
    return translate(status, err);
}

/* Commits when `status` is PAWL_OK; gives the connection back. */
static int end(struct sqlite_locks *locks, bool write, int status, struct pawl_error *err)
{
    if (write && status == PAWL_OK)
        status = pawl__sqlite_commit(locks->db, err);
    if (write && status != PAWL_OK)
        pawl__sqlite_rollback(locks->db);
    pawl_mutex_unlock(locks->env, locks->mutex);
    return translate(status, err);
}

/* Prepares, and binds what the text has of the parameters above. */
static int prepare(struct sqlite_locks *locks, const char *text, int parameters,
                   struct pawl_str name, const struct pawl_lock_grant *grant,
                   struct pawl_sqlite_statement **out, struct pawl_error *err)
{
    int64_t now_ns = pawl_env_monotonic_ns(locks->env);
    int64_t now_us = pawl_env_wall_ns(locks->env) / 1000;
    int64_t numbers[] = {now_ns + locks->ttl_ms * 1000000, now_us + locks->ttl_ms * 1000, now_us,
                         grant && grant->flags & PAWL_LOCK_WANT_TOKEN ? 1 : 0, now_ns};
    int status = pawl__sqlite_prepare(locks->db, text, out, err);

    if (status == PAWL_OK)
        status = pawl__sqlite_bind_bytes(*out, 1, name.ptr ? name : pawl__str(""), err);
    if (status == PAWL_OK && parameters >= 2)
        status = pawl__sqlite_bind_text(*out, 2, pawl__str(grant ? grant->owner : ""), err);
    if (status == PAWL_OK && parameters >= 3)
        status = pawl__sqlite_bind_text(*out, 3, pawl__str(locks->boot), err);
    for (int i = 4; i <= parameters && status == PAWL_OK; i++)
        status = pawl__sqlite_bind_int(*out, i, numbers[i - 4], err);
    return status;
}

/* Runs a statement for a grant; *row: it returned one, whose first column is *value. */
static int run(struct sqlite_locks *locks, const char *text, int parameters,
               const struct pawl_lock_grant *grant, bool *row, int64_t *value,
               struct pawl_error *err)
{
    struct pawl_sqlite_statement *statement = NULL;
    bool more = false;
    int status = prepare(locks, text, parameters, grant->name, grant, &statement, err);

    if (status == PAWL_OK)
        status = pawl__sqlite_step(statement, row, err);
    if (status == PAWL_OK && *row) {
        *value = pawl__sqlite_column_int(statement, 0);
        status = pawl__sqlite_step(statement, &more, err);
    }
    pawl__sqlite_reset(statement);
    return status;
}

static int sqlite_try(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                      int64_t deadline_ns, struct pawl_error *err)
{
    struct sqlite_locks *locks = cast(provider);
    bool granted = false, durable = grant->flags & PAWL_LOCK_WANT_TOKEN;
    int64_t sent_ns, token = 0;
    int status = begin(locks, true, durable, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    sent_ns = pawl_env_monotonic_ns(locks->env);
    status = run(locks, take_text, 8, grant, &granted, &token, err);
    if (status == PAWL_OK && !granted)
        status = PAWL_ECONFLICT; /* nothing to commit */
    status = end(locks, true, status, err);
    if (status == PAWL_ECONFLICT && !granted)
        return pawl__error_set(err, PAWL_EBUSY, "another process holds the lock");
    if (status == PAWL_OK || status == PAWL_EUNKNOWN)
        grant->valid_until_ns = pawl__lock_valid_until(sent_ns, locks->ttl_ms);
    if (status == PAWL_OK && durable)
        grant->token = (uint64_t)token;
    return status;
}

static int sqlite_renew(struct pawl_lock_provider *provider, struct pawl_lock_grant *const *grants,
                        size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    struct sqlite_locks *locks = cast(provider);
    int64_t sent_ns, ignored;
    bool row;
    int status = begin(locks, true, false, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    sent_ns = pawl_env_monotonic_ns(locks->env);
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        status = run(locks, renew_text, 5, grants[i], &row, &ignored, err);
        grants[i]->status = pawl__sqlite_changes(locks->db) > 0 ? PAWL_OK : PAWL_ENOTFOUND;
    }
    status = end(locks, true, status, err);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        if (grants[i]->status == PAWL_OK)
            grants[i]->valid_until_ns = pawl__lock_valid_until(sent_ns, locks->ttl_ms);
    return status;
}

static int sqlite_release(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                          int64_t deadline_ns, struct pawl_error *err)
{
    struct sqlite_locks *locks = cast(provider);
    int64_t ignored, changed = 0;
    bool row;
    int status = begin(locks, true, false, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    status = run(locks, forget_text, 2, grant, &row, &ignored, err);
    changed = pawl__sqlite_changes(locks->db);
    if (status == PAWL_OK && changed == 0) {
        status = run(locks, free_text, 2, grant, &row, &ignored, err);
        changed = pawl__sqlite_changes(locks->db);
    }
    status = end(locks, true, status, err);
    if (status == PAWL_OK && changed == 0)
        return pawl__error_set(err, PAWL_ENOTFOUND, "the lock is no longer held");
    return status;
}

static void sqlite_abandon(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant)
{
    (void)provider;
    (void)grant; /* its lease ends */
}

/* ---- looking ----------------------------------------------------------------------------- */

static int sqlite_status(struct pawl_lock_provider *provider, struct pawl_lock_status *out,
                         int64_t deadline_ns, struct pawl_error *err)
{
    struct sqlite_locks *locks = cast(provider);
    const char *network = pawl__folder_network(locks->path);
    struct pawl_lock_holder *ignored = pawl__alloc(&locks->env->alloc, sizeof *ignored);
    int status;

    if (!ignored)
        return pawl__error_code(err, PAWL_ENOMEM);
    status = provider->ops->inspect(provider, pawl__str(""), ignored, deadline_ns, err);
    pawl__free(&locks->env->alloc, ignored, sizeof *ignored);
    if (status != PAWL_OK)
        return status;
    *out = (struct pawl_lock_status){.ttl_ms = locks->ttl_ms};
    (void)snprintf(out->server, sizeof out->server, "SQLite %s", pawl__sqlite_version());
    if (network)
        (void)snprintf(out->warning, sizeof out->warning,
                       "the file is on %s: SQLite is for processes of one host", network);
    return PAWL_OK;
}

static int sqlite_map(struct pawl_lock_provider *provider, struct pawl_str name, char *out,
                      size_t size, struct pawl_error *err)
{
    (void)provider;
    if (name.len >= size)
        return pawl__error_set(err, PAWL_ELIMIT, "a name of %zu bytes does not fit into %zu",
                               name.len, size);
    if (name.len > 0)
        memcpy(out, name.ptr, name.len);
    out[name.len] = '\0';
    return PAWL_OK;
}

static void describe(struct pawl_sqlite_statement *statement, struct pawl_lock_holder *out)
{
    struct pawl_str name = pawl__sqlite_column_str(statement, 0);
    struct pawl_str owner = pawl__sqlite_column_str(statement, 1);

    *out = (struct pawl_lock_holder){.held = pawl__sqlite_column_int(statement, 5) != 0,
                                     .remaining_ms = -1,
                                     .token = (uint64_t)pawl__sqlite_column_int(statement, 4)};
    (void)snprintf(out->key, sizeof out->key, "%.*s", PAWL_STR_ARG(name));
    if (!out->held)
        return;
    (void)snprintf(out->owner, sizeof out->owner, "%.*s", PAWL_STR_ARG(owner));
    out->remaining_ms = pawl__sqlite_column_int(statement, 2);
    out->since_us = pawl__sqlite_column_int(statement, 3);
}

static int sqlite_inspect(struct pawl_lock_provider *provider, struct pawl_str name,
                          struct pawl_lock_holder *out, int64_t deadline_ns, struct pawl_error *err)
{
    struct sqlite_locks *locks = cast(provider);
    struct pawl_sqlite_statement *statement = NULL;
    bool row = false;
    int status = begin(locks, false, false, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    status = prepare(locks, inspect_text, 8, name, NULL, &statement, err);
    if (status == PAWL_OK)
        status = pawl__sqlite_step(statement, &row, err);
    if (status == PAWL_OK) {
        *out = (struct pawl_lock_holder){.remaining_ms = -1};
        (void)snprintf(out->key, sizeof out->key, "%.*s", PAWL_STR_ARG(name));
    }
    if (status == PAWL_OK && row)
        describe(statement, out);
    pawl__sqlite_reset(statement);
    return end(locks, false, status, err);
}

/* `each` is called with the connection in hand: it must not call back. */
static int sqlite_list(struct pawl_lock_provider *provider, size_t limit,
                       int (*each)(void *ctx, const struct pawl_lock_holder *holder), void *ctx,
                       int64_t deadline_ns, struct pawl_error *err)
{
    struct sqlite_locks *locks = cast(provider);
    struct pawl_sqlite_statement *statement = NULL;
    struct pawl_lock_holder *holder = pawl__alloc(&locks->env->alloc, sizeof *holder);
    bool row = true;
    int status;

    if (!holder)
        return pawl__error_code(err, PAWL_ENOMEM);
    status = begin(locks, false, false, deadline_ns, err);
    if (status == PAWL_OK) {
        status = prepare(locks, list_text, 8, pawl__str(""), NULL, &statement, err);
        for (; status == PAWL_OK && limit > 0; limit--) {
            status = pawl__sqlite_step(statement, &row, err);
            if (status != PAWL_OK || !row)
                break;
            describe(statement, holder);
            if (each(ctx, holder) != 0)
                break;
        }
        pawl__sqlite_reset(statement);
        status = end(locks, false, status, err);
    }
    pawl__free(&locks->env->alloc, holder, sizeof *holder);
    return status;
}

/* ---- making ------------------------------------------------------------------------------ */

static void sqlite_close(struct pawl_lock_provider *provider)
{
    struct sqlite_locks *locks = cast(provider);

    pawl__sqlite_close(locks->db);
    pawl_mutex_free(locks->env, locks->mutex);
    pawl__free(&locks->env->alloc, locks, sizeof *locks);
}

static const struct pawl_lock_provider_ops sqlite_ops = {
    .version = PAWL_LOCK_VERSION,
    .caps = PAWL_LOCK_CAP_HOST | PAWL_LOCK_CAP_LEASE | PAWL_LOCK_CAP_TOKEN |
            PAWL_LOCK_CAP_TOKEN_DURABLE | PAWL_LOCK_CAP_INSPECT,
    .close = sqlite_close,
    .status = sqlite_status,
    .map = sqlite_map,
    .try_ = sqlite_try,
    .renew = sqlite_renew,
    .release = sqlite_release,
    .abandon = sqlite_abandon,
    .inspect = sqlite_inspect,
    .list = sqlite_list,
};

/* Which start of the machine this is; "" where the system does not say. */
static void read_boot(struct sqlite_locks *locks)
{
    struct pawl_buf text;

    pawl__buf_init(&text, &locks->env->alloc, 4096);
    if (pawl__file_read("/proc/sys/kernel/random/boot_id", &text, NULL) == PAWL_OK)
        (void)snprintf(locks->boot, sizeof locks->boot, "%.36s", pawl__buf_cstr(&text));
    pawl__buf_release(&text);
}

int pawl__sqlite_locks_open(struct pawl_env *env, struct pawl_str path,
                            const struct pawl_lock_provider_options *options,
                            struct pawl_lock_provider **out, struct pawl_error *err)
{
    struct sqlite_locks *locks;
    int status;

    if (path.len == 0 || path.len >= sizeof locks->path ||
        pawl__str_find(path, '\0', 0) != SIZE_MAX)
        return pawl__error_set(err, PAWL_EINVAL, "the path of the lock database has %zu bytes",
                               path.len);
    locks = pawl__alloc_zeroed(&env->alloc, sizeof *locks);
    if (!locks)
        return pawl__error_code(err, PAWL_ENOMEM);
    locks->env = env;
    locks->ttl_ms = options && options->ttl_ms ? options->ttl_ms : PAWL_LOCK_TTL_MS_DEFAULT;
    locks->base = (struct pawl_lock_provider){.ops = &sqlite_ops, .kind = "sqlite"};
    locks->flags = options && options->is_shared ? PAWL_LOCK_FILE_SHARED : 0;
    memcpy(locks->path, path.ptr, path.len);
    read_boot(locks);
    status = pawl_mutex_new(env, "lock database", &locks->mutex);
    if (status != PAWL_OK)
        (void)pawl__error_code(err, status);
    else
        status = open_file(locks, err);
    if (status == PAWL_OK) {
        *out = &locks->base;
        return PAWL_OK;
    }
    sqlite_close(&locks->base);
    return status;
}
