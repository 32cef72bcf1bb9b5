/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of a PostgreSQL store: made and brought up to date by whichever node comes first,
 * under an advisory lock that the others wait for; all of it in one transaction.
 */
#include "base/error.h"
#include "stores/postgres.h"

#include <pawl/version.h>

/* As LOCK_SPACE in postgres_text.c, which is for rows; the second number makes it another. */
#define LOCK_SCHEMA "SELECT pg_advisory_xact_lock(1885435757, 1)"
/* Statements of all migrations. */
#define MIGRATION_BYTES_MAX ((size_t)4 << 20)

static int end_batch(struct pg_call *call, bool writes)
{
    int status = pawl__pg_sync(call);

    return status == PAWL_OK ? pawl__pg_run(call, writes) : status;
}

/* 0: there are no tables. */
static int read_version(struct pg_call *call, int64_t *version, struct pawl_str *written_by)
{
    const struct pawl_sql_inputs none = {.row = NULL};
    /* Not to_regclass(): it may remember that there was none before we waited for the lock. */
    int status = pawl__pg_text(call, "SELECT count(*) FROM pg_class WHERE relname = 'pawl_schema' "
                                     "AND pg_table_is_visible(oid)");
    size_t at = call->count - 1;

    *version = 0;
    if (status == PAWL_OK)
        status = end_batch(call, false);
    if (status != PAWL_OK || pawl__pq_int(call->conn, at, 0, 0) == 0)
        return status;
    status = pawl__pg_again(call);
    if (status == PAWL_OK)
        status = pawl__pg_named(call, PAWL_SQL_SCHEMA, &none);
    if (status == PAWL_OK)
        status = end_batch(call, false);
    if (status != PAWL_OK || pawl__pq_rows(call->conn, 0) == 0)
        return status;
    *version = pawl__pq_int(call->conn, 0, 0, 0);
    /* One that says that this version may use it counts as this version. */
    if (*version > PAWL_STORE_SCHEMA && pawl__pq_int(call->conn, 0, 0, 1) <= PAWL_STORE_SCHEMA)
        *version = PAWL_STORE_SCHEMA;
    *written_by = pawl__arena_str(&call->arena, pawl__pq_bytes(call->conn, 0, 0, 2));
    return written_by->ptr ? PAWL_OK
                           : pawl__error_code(call->err, pawl__arena_status(&call->arena));
}

static int check_version(struct pg_call *call, int64_t version, struct pawl_str written_by)
{
    char location[256];

    pawl__pq_location(call->pg->pq, call->pg->uri, location, sizeof location);
    if (version > PAWL_STORE_SCHEMA)
        return pawl__error_set(
            call->err, PAWL_EUNSUPPORTED,
            "the store %s has schema %lld, made by Pawl %.*s; this is Pawl " PAWL_VERSION
            ", which supports schema %d: use that version or a newer one",
            location, (long long)version, PAWL_STR_ARG(written_by), PAWL_STORE_SCHEMA);
    if (version == PAWL_STORE_SCHEMA || (call->pg->flags & PAWL_STORE_OPEN_CREATE))
        return PAWL_OK;
    if (version == 0)
        return pawl__error_set(call->err, PAWL_ENOTFOUND,
                               "%s has no tables of Pawl; 'pawl store init' creates them",
                               location);
    return pawl__error_set(call->err, PAWL_ECONFLICT,
                           "the store %s has schema %lld and must be migrated to %d", location,
                           (long long)version, PAWL_STORE_SCHEMA);
}

/* Running nodes would continue with tables that they do not support. */
static int check_nodes(struct pg_call *call, int64_t version)
{
    const struct pawl_sql_inputs none = {.row = NULL};
    char location[256];
    int status;

    if (!pawl__sql_locks_out(version))
        return PAWL_OK;
    status = pawl__pg_again(call);
    if (status == PAWL_OK)
        status = pawl__pg_named(call, PAWL_SQL_LIVING, &none);
    if (status == PAWL_OK)
        status = end_batch(call, false);
    if (status != PAWL_OK || pawl__pq_rows(call->conn, 0) == 0)
        return status;
    pawl__pq_location(call->pg->pq, call->pg->uri, location, sizeof location);
    return pawl__error_set(call->err, PAWL_EBUSY,
                           "the store %s must be migrated from schema %lld to %d, and node '%.*s' "
                           "of an earlier Pawl is running: stop the nodes of the earlier version "
                           "first (one that was killed counts until its lease expires)",
                           location, (long long)version, PAWL_STORE_SCHEMA,
                           PAWL_STR_ARG(pawl__pq_bytes(call->conn, 0, 0, 0)));
}

/* Queues one version's statements. */
static int send_migration(struct pg_call *call, int version, struct pawl_arena *arena)
{
    const char *const *statements = NULL;
    struct pawl_sql_inputs inputs = {.text = pawl__str(PAWL_VERSION), .value = version};
    size_t count = 0;
    int minimum_reader = 0;
    int status = pawl__sql_migration(PAWL_SQL_POSTGRES, version, arena, &statements, &count,
                                     &minimum_reader, call->err);

    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = pawl__pg_text(call, statements[i]);
    inputs.limit = minimum_reader;
    return status == PAWL_OK ? pawl__pg_named(call, PAWL_SQL_SCHEMA_ADD, &inputs) : status;
}

/* In a transaction that has the lock: the previous holder may have done everything. */
static int migrate(struct pg_call *call, struct pawl_arena *arena)
{
    struct pawl_str written_by = {"", 0};
    int64_t version = 0;
    int status = pawl__pg_again(call);

    if (status == PAWL_OK)
        status = pawl__pg_text(call, "BEGIN");
    if (status == PAWL_OK)
        status = pawl__pg_own(call, PG_PATIENT, NULL, 0);
    if (status == PAWL_OK)
        status = pawl__pg_text(call, LOCK_SCHEMA);
    if (status == PAWL_OK)
        status = read_version(call, &version, &written_by);
    if (status == PAWL_OK)
        status = check_version(call, version, written_by);
    if (status == PAWL_OK)
        status = check_nodes(call, version);
    if (status == PAWL_OK)
        status = pawl__pg_again(call);
    for (int next = (int)version + 1; next <= PAWL_STORE_SCHEMA && status == PAWL_OK; next++)
        status = send_migration(call, next, arena);
    if (status == PAWL_OK)
        status = pawl__pg_text(call, "COMMIT");
    if (status == PAWL_OK)
        status = end_batch(call, true);
    if (status == PAWL_OK)
        pawl__pg_count(call->pg, 0, 1);
    return status;
}

/* A transaction that was left open must not come back to the pool. */
static void abandon(struct pg_call *call)
{
    call->err = NULL;
    if (pawl__pq_is_broken(call->conn) || pawl__pg_again(call) != PAWL_OK)
        return;
    if (pawl__pg_text(call, "ROLLBACK") == PAWL_OK && pawl__pg_sync(call) == PAWL_OK)
        (void)!pawl__pg_run(call, false);
}

int pawl__pg_schema_open(struct pawl_postgres *pg, int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_str written_by = {"", 0};
    struct pawl_arena arena;
    struct pg_call call;
    int64_t version = 0;
    int status = pawl__pg_call_begin(&call, &pg->base, PG_COMMIT, false, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&arena, &pg->env->alloc, MIGRATION_BYTES_MAX);
    status = read_version(&call, &version, &written_by);
    if (status == PAWL_OK)
        status = check_version(&call, version, written_by);
    if (status == PAWL_OK && version != PAWL_STORE_SCHEMA) {
        status = migrate(&call, &arena);
        if (status != PAWL_OK)
            abandon(&call);
    }
    pawl__arena_release(&arena);
    pawl__pg_call_end(&call);
    return status;
}
