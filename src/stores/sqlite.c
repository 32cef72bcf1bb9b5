/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store in an SQLite file: opening it, bringing its tables up to date, its state.
 *
 * The file is in WAL mode. One connection writes; before each transaction it is set to sync the
 * commit or not (see sqlite_claim.c). Any number of processes on one machine may have it open.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "os/lock_file.h"
#include "stores/sqlite_private.h"

#include <pawl/version.h>

#include <stdio.h>

#define READERS_DEFAULT 8
/* Opening waits so long for others who open, and migrate, at the same time. */
#define OPEN_NS_MAX ((int64_t)10 * 1000 * 1000 * 1000)
#define RETRY_NS ((int64_t)5 * 1000 * 1000)
/* Statements of all migrations. */
#define MIGRATION_BYTES_MAX ((size_t)4 << 20)

static int64_t open_deadline(struct pawl_env *env)
{
    return pawl_env_monotonic_ns(env) + OPEN_NS_MAX;
}

/* ---- connections ------------------------------------------------------------------------- */

int pawl__sqlite_store_connect(struct pawl_sqlite_store *store, uint32_t flags, bool syncs,
                               struct pawl_sqlite **out, struct pawl_error *err)
{
    struct pawl_sqlite *db = NULL;
    int status = pawl__sqlite_open(store->env, store->path, flags, &db, err);

    if (status != PAWL_OK)
        return status;
    pawl__sqlite_set_deadline(db, open_deadline(store->env));
    status = pawl__sqlite_set_syncs(db, syncs, err);
    if (status == PAWL_OK)
        status = pawl__sqlite_run(db, "PRAGMA temp_store=MEMORY", err);
    /* A sync of the database file for every so many pages of the log. Everybody waits for it: at
     * 4,000 it hit three commits in a hundred of 64 busy callers. After a crash all of the log is
     * read. */
    if (status == PAWL_OK)
        status = pawl__sqlite_run(db, "PRAGMA wal_autocheckpoint=16000", err);
    /* More than that many pages, and what one more commit may add: to write over a log costs less
     * than to make it grow. */
    if (status == PAWL_OK)
        status = pawl__sqlite_run(db, "PRAGMA journal_size_limit=100663296", err);
    if (status != PAWL_OK) {
        pawl__sqlite_close(db);
        return status;
    }
    *out = db;
    return PAWL_OK;
}

/* The one number that a statement returns; 0 when it returns nothing. */
static int query_number(struct pawl_sqlite *db, const char *text, int64_t *out,
                        struct pawl_error *err)
{
    struct pawl_sqlite_statement *statement = NULL;
    bool row = false;
    int status = pawl__sqlite_prepare(db, text, &statement, err);

    if (status == PAWL_OK)
        status = pawl__sqlite_step(statement, &row, err);
    if (status == PAWL_OK)
        *out = row ? pawl__sqlite_column_int(statement, 0) : 0;
    pawl__sqlite_reset(statement);
    return status;
}

/* ---- schema ------------------------------------------------------------------------------ */

/*
 * The version of the tables in the file, 0 when there are none. A newer one is refused unless it
 * says that this one may use it.
 */
static int read_schema(struct pawl_sqlite_store *store, struct pawl_sqlite *db, int64_t *version,
                       struct pawl_error *err)
{
    struct pawl_sqlite_statement *statement = NULL;
    int64_t found = 0;
    bool row = false;
    int status = query_number(db, "SELECT count(*) FROM sqlite_schema WHERE name = 'pawl_schema'",
                              &found, err);

    if (status == PAWL_OK && found > 0)
        status = pawl__sqlite_prepare(db, pawl__sql_statement(store->sql, PAWL_SQL_SCHEMA)->text,
                                      &statement, err);
    if (status == PAWL_OK && statement)
        status = pawl__sqlite_step(statement, &row, err);
    found = row ? pawl__sqlite_column_int(statement, 0) : 0;
    if (status == PAWL_OK && found > PAWL_STORE_SCHEMA &&
        pawl__sqlite_column_int(statement, 1) > PAWL_STORE_SCHEMA)
        status = pawl__error_set(
            err, PAWL_EUNSUPPORTED,
            "%s: its tables are of version %lld, written by Pawl %.*s; this is "
            "Pawl %s, which supports up to version %d; use Pawl %.*s or newer",
            store->path, (long long)found, PAWL_STR_ARG(pawl__sqlite_column_str(statement, 2)),
            PAWL_VERSION, PAWL_STORE_SCHEMA, PAWL_STR_ARG(pawl__sqlite_column_str(statement, 2)));
    pawl__sqlite_reset(statement);
    if (status == PAWL_OK)
        *version = found;
    return status;
}

static int run_migration(struct pawl_sqlite_session *session, int version, struct pawl_error *err)
{
    struct pawl_sql_inputs inputs = {.value = version, .text = pawl__str(PAWL_VERSION)};
    const char *const *statements = NULL;
    struct pawl_arena arena;
    size_t count = 0;
    int reader = 0, status;

    pawl__arena_init(&arena, &session->store->env->alloc, MIGRATION_BYTES_MAX);
    status =
        pawl__sql_migration(PAWL_SQL_SQLITE, version, &arena, &statements, &count, &reader, err);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = pawl__sqlite_run(session->db, statements[i], err);
    inputs.limit = reader;
    if (status == PAWL_OK)
        status = pawl__sqlite_session_run(
            session, pawl__sql_statement(session->store->sql, PAWL_SQL_SCHEMA_ADD), &inputs, NULL,
            NULL, err);
    pawl__arena_release(&arena);
    return status;
}

/* Running nodes would continue with tables that they do not support. */
static int check_nodes(struct pawl_sqlite_store *store, struct pawl_sqlite *db, int64_t version,
                       struct pawl_error *err)
{
    struct pawl_sqlite_statement *statement = NULL;
    bool row = false;
    int status;

    if (!pawl__sql_locks_out(version))
        return PAWL_OK;
    status = pawl__sqlite_prepare(db, pawl__sql_statement(store->sql, PAWL_SQL_LIVING)->text,
                                  &statement, err);
    if (status == PAWL_OK)
        status = pawl__sqlite_bind_int(statement, 1, pawl__sqlite_store_now_us(store), err);
    if (status == PAWL_OK)
        status = pawl__sqlite_step(statement, &row, err);
    if (status == PAWL_OK && row)
        status =
            pawl__error_set(err, PAWL_EBUSY,
                            "%s: its tables must be migrated from version %lld to %d, and node "
                            "'%.*s' of an earlier Pawl is running: stop the nodes of the "
                            "earlier version first (one that was killed counts until its "
                            "lease expires)",
                            store->path, (long long)version, PAWL_STORE_SCHEMA,
                            PAWL_STR_ARG(pawl__sqlite_column_str(statement, 0)));
    pawl__sqlite_reset(statement);
    return status;
}

static int migrate(struct pawl_sqlite_store *store, struct pawl_error *err)
{
    struct pawl_sqlite_session session;
    int64_t version = 0;
    int status = pawl__sqlite_session_write(store, true, open_deadline(store->env), &session, err);

    if (status != PAWL_OK)
        return status;
    /* Once more under the lock: another process may have been faster. */
    status = read_schema(store, session.db, &version, err);
    if (status == PAWL_OK)
        status = check_nodes(store, session.db, version, err);
    while (status == PAWL_OK && version < PAWL_STORE_SCHEMA)
        status = run_migration(&session, (int)++version, err);
    if (status == PAWL_OK)
        status = pawl__sqlite_session_commit(&session, err);
    pawl__sqlite_session_end(&session);
    return status;
}

/* WAL mode is stored in the file. A concurrent open makes the switch fail: retry. */
static int switch_to_wal(struct pawl_sqlite_store *store, struct pawl_sqlite *db,
                         struct pawl_error *err)
{
    int64_t deadline_ns = open_deadline(store->env);
    int status;

    for (;;) {
        struct pawl_sqlite_statement *statement = NULL;
        bool row = false, is_wal = false;

        status = pawl__sqlite_prepare(db, "PRAGMA journal_mode=WAL", &statement, err);
        if (status == PAWL_OK)
            status = pawl__sqlite_step(statement, &row, err);
        if (status == PAWL_OK && row)
            is_wal = pawl__str_is(pawl__sqlite_column_str(statement, 0), "wal");
        pawl__sqlite_reset(statement);
        if (is_wal)
            return PAWL_OK;
        if (status == PAWL_OK)
            return pawl__error_set(err, PAWL_EUNSUPPORTED,
                                   "%s: this file system cannot hold a write-ahead log, which "
                                   "needs shared memory; choose a local disk",
                                   store->path);
        if ((status != PAWL_EBUSY && status != PAWL_ETIMEDOUT) ||
            pawl_env_monotonic_ns(store->env) >= deadline_ns)
            return status;
        if (pawl_env_sleep_until(store->env, pawl_env_monotonic_ns(store->env) + RETRY_NS) !=
            PAWL_OK)
            return pawl__error_code(err, PAWL_ESTOPPED);
    }
}

static int check_version(const struct pawl_sqlite_store *store, int64_t version,
                         struct pawl_error *err)
{
    if (version == 0)
        return pawl__error_set(err, PAWL_ENOTFOUND,
                               "%s: there are no tables of Pawl in it; check the path, or start a "
                               "node on it, which creates them",
                               store->path);
    if (version < PAWL_STORE_SCHEMA)
        return pawl__error_set(err, PAWL_ECONFLICT,
                               "%s: its tables are of version %lld, older than %d; start a node on "
                               "it, which migrates them",
                               store->path, (long long)version, PAWL_STORE_SCHEMA);
    return PAWL_OK;
}

static int open_to_write(struct pawl_sqlite_store *store, bool create, struct pawl_error *err)
{
    int64_t version = 0;
    int status = pawl__sqlite_store_connect(
        store, create ? PAWL_SQLITE_CREATE | PAWL_SQLITE_MODE(store->file_mode) : 0, true,
        &store->writer, err);

    if (status == PAWL_OK)
        status = read_schema(store, store->writer, &version, err);
    if (status == PAWL_OK && !create)
        status = check_version(store, version, err);
    if (status == PAWL_OK)
        status = switch_to_wal(store, store->writer, err);
    if (status == PAWL_OK && version < PAWL_STORE_SCHEMA)
        status = migrate(store, err);
    return status;
}

/*
 * Between hosts neither SQLite's locks nor the shared memory of its write-ahead log work: what two
 * of them write is lost, silently.
 */
static int check_place(const struct pawl_sqlite_store *store, struct pawl_error *err)
{
    const char *slash = strrchr(store->path, '/'), *kind;
    char folder[4096] = ".";

    if (slash && (size_t)(slash - store->path) < sizeof folder - 1)
        (void)snprintf(folder, sizeof folder, "%.*s", (int)(slash - store->path) + 1, store->path);
    kind = pawl__folder_network(folder);
    /* These may be local disks, too. */
    if (!kind || strcmp(kind, "fuse") == 0 || strcmp(kind, "9p") == 0)
        return PAWL_OK;
    return pawl__error_set(err, PAWL_EUNSUPPORTED,
                           "%s: it is on a network file system (%s), where SQLite loses data; "
                           "choose a local disk, or postgres:// for several machines",
                           store->path, kind);
}

static int open_file(struct pawl_sqlite_store *store, uint32_t flags, struct pawl_error *err)
{
    int64_t version = 0;
    int status = check_place(store, err);

    if (status == PAWL_OK)
        status = pawl__sqlite_check_file(store->path, err);
    if (status == PAWL_OK && !store->read_only)
        status = open_to_write(store, (flags & PAWL_STORE_OPEN_CREATE) != 0, err);
    if (status == PAWL_OK)
        status = pawl__sqlite_store_connect(store, PAWL_SQLITE_READ, false, &store->watch, err);
    if (status == PAWL_OK)
        status = read_schema(store, store->watch, &version, err);
    if (status == PAWL_OK)
        status = check_version(store, version, err);
    if (status == PAWL_OK)
        status = query_number(store->watch, "PRAGMA data_version", &store->watch_version, err);
    store->schema = version;
    if (status == PAWL_OK)
        status = pawl__sqlite_store_note_files(store, err);
    return status;
}

/* ---- the object -------------------------------------------------------------------------- */

static void close_store(struct pawl_store *base)
{
    struct pawl_sqlite_store *store = pawl__sqlite_store_of(base);
    struct pawl_env *env = store->env;

    for (uint32_t i = 0; i < store->reader_idle; i++)
        pawl__sqlite_close(store->readers[i]);
    pawl__sqlite_close(store->watch);
    pawl__sqlite_close(store->writer);
    pawl_cond_free(env, store->changed);
    pawl_cond_free(env, store->reader_free);
    pawl_cond_free(env, store->writer_free);
    pawl_mutex_free(env, store->lock);
    pawl__sql_free(store->sql);
    pawl__free(&env->alloc, store->log_path, store->log_path_size);
    pawl__free(&env->alloc, store->path, store->path_size);
    pawl__free(&env->alloc, store, sizeof *store);
}

static int read_status(struct pawl_store *base, struct pawl_store_status *out, int64_t deadline_ns,
                       struct pawl_error *err)
{
    struct pawl_sqlite_store *store = pawl__sqlite_store_of(base);
    struct pawl_store_status made = {.schema = store->schema,
                                     .now_us = pawl__sqlite_store_now_us(store)};
    struct pawl_sqlite_session session;
    int64_t pages = 0, page_bytes = 0;
    int status = pawl__sqlite_session_read(store, true, deadline_ns, &session, err);

    if (status != PAWL_OK)
        return status;
    status = query_number(session.db, "PRAGMA page_count", &pages, err);
    if (status == PAWL_OK)
        status = query_number(session.db, "PRAGMA page_size", &page_bytes, err);
    pawl__sqlite_session_end(&session);
    if (status == PAWL_OK)
        status = pawl_mutex_lock(store->env, store->lock);
    if (status != PAWL_OK)
        return status;
    made.syncs = store->syncs;
    pawl_mutex_unlock(store->env, store->lock);
    made.size_bytes = pages * page_bytes;
    (void)snprintf(made.backend, sizeof made.backend, "sqlite");
    (void)snprintf(made.server, sizeof made.server, "SQLite %s", pawl__sqlite_version());
    (void)snprintf(made.location, sizeof made.location, "%s", store->path);
    *out = made;
    return PAWL_OK;
}

/* What nobody who reads this tenant's rows sees. Each returns one number that should be 0. */
static const struct {
    const char *text, *finding;
} invariants[] = {
    {"SELECT count(*) FROM pawl_instances WHERE tenant_id <> ''",
     PAWL_SQL_OTHER_TENANT("instances")},
    {"SELECT count(*) FROM pawl_definitions WHERE tenant_id <> ''",
     PAWL_SQL_OTHER_TENANT("definitions")},
};

static int check_pages(struct pawl_sqlite_session *session, pawl_finding_visitor visit, void *ctx,
                       struct pawl_error *err)
{
    struct pawl_sqlite_statement *statement = NULL;
    bool row = false;
    int status = pawl__sqlite_prepare(session->db, "PRAGMA integrity_check", &statement, err);

    if (status == PAWL_OK)
        status = pawl__sqlite_step(statement, &row, err);
    while (status == PAWL_OK && row) {
        struct pawl_str finding = pawl__sqlite_column_str(statement, 0);
        char text[PAWL_ERROR_MSG_SIZE];

        (void)snprintf(text, sizeof text, "%.*s", PAWL_STR_ARG(finding));
        if (!pawl__str_is(finding, "ok"))
            visit(ctx, text);
        status = pawl__sqlite_step(statement, &row, err);
    }
    pawl__sqlite_reset(statement);
    return status;
}

static int check(struct pawl_store *base, pawl_finding_visitor visit, void *ctx,
                 int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_sqlite_session session;
    int status =
        pawl__sqlite_session_read(pawl__sqlite_store_of(base), true, deadline_ns, &session, err);

    if (status != PAWL_OK)
        return status;
    status = check_pages(&session, visit, ctx, err);
    for (size_t i = 0; i < sizeof invariants / sizeof invariants[0] && status == PAWL_OK; i++) {
        int64_t count = 0;
        char text[192];

        status = query_number(session.db, invariants[i].text, &count, err);
        (void)snprintf(text, sizeof text, "%lld %s", (long long)count, invariants[i].finding);
        if (status == PAWL_OK && count > 0)
            visit(ctx, text);
    }
    pawl__sqlite_session_end(&session);
    return status;
}

static const struct pawl_store_ops ops = {
    .version = PAWL_STORE_VERSION,
    .close = close_store,
    .status = read_status,
    .lease = pawl__sqlite_store_lease,
    .claim = pawl__sqlite_store_claim,
    .apply = pawl__sqlite_store_apply,
    .take = pawl__sqlite_store_take,
    .find = pawl__sqlite_store_find,
    .wait = pawl__sqlite_store_wait,
    .snapshot = pawl__sqlite_store_snapshot,
    .load = pawl__sqlite_store_load,
    .check = check,
    .find_many = pawl__sqlite_store_find_many,
};

static int make_parts(struct pawl_sqlite_store *store, struct pawl_str path, struct pawl_error *err)
{
    struct pawl_env *env = store->env;
    int status = pawl__sql_new(&env->alloc, PAWL_SQL_SQLITE, &store->sql, err);

    if (status != PAWL_OK)
        return status;
    store->path_size = path.len + 1;
    store->path = pawl__alloc(&env->alloc, store->path_size);
    if (!store->path)
        return pawl__error_code(err, PAWL_ENOMEM);
    memcpy(store->path, path.ptr, path.len);
    store->path[path.len] = '\0';
    store->log_path_size = path.len + sizeof "-wal";
    store->log_path = pawl__alloc(&env->alloc, store->log_path_size);
    if (!store->log_path)
        return pawl__error_code(err, PAWL_ENOMEM);
    (void)snprintf(store->log_path, store->log_path_size, "%s-wal", store->path);
    status = pawl_mutex_new(env, "sqlite", &store->lock);
    if (status == PAWL_OK)
        status = pawl_cond_new(env, "sqlite-writer-free", &store->writer_free);
    if (status == PAWL_OK)
        status = pawl_cond_new(env, "sqlite-reader-free", &store->reader_free);
    if (status == PAWL_OK)
        status = pawl_cond_new(env, "sqlite-changed", &store->changed);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

int pawl__sqlite_store_open(struct pawl_env *env, struct pawl_str path,
                            const struct pawl_store_options *options, struct pawl_store **out,
                            struct pawl_error *err)
{
    uint32_t flags = options ? options->flags : 0, readers = options ? options->connections : 0;
    struct pawl_sqlite_store *store;
    int status;

    if (path.len == 0 || memchr(path.ptr, '\0', path.len))
        return pawl__error_set(err, PAWL_EINVAL, "the path of an SQLite database is %s",
                               path.len == 0 ? "empty" : "truncated by a NUL");
    store = pawl__alloc_zeroed(&env->alloc, sizeof *store);
    if (!store)
        return pawl__error_code(err, PAWL_ENOMEM);
    store->base = (struct pawl_store){
        &ops, PAWL_STORE_CAP_DURABLE | PAWL_STORE_CAP_PROCESSES | PAWL_STORE_CAP_VISITS, NULL,
        "sqlite"};
    store->env = env;
    store->file_mode = options ? options->file_mode : 0;
    store->read_only = (flags & PAWL_STORE_OPEN_READ) != 0;
    store->reader_max = readers == 0                        ? READERS_DEFAULT
                        : readers < PAWL_SQLITE_READERS_MAX ? readers
                                                            : PAWL_SQLITE_READERS_MAX;
    status = make_parts(store, path, err);
    if (status == PAWL_OK)
        status = open_file(store, flags, err);
    if (status != PAWL_OK) {
        close_store(&store->base);
        return status;
    }
    *out = &store->base;
    return PAWL_OK;
}
