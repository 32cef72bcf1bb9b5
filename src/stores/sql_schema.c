/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schema and its migrations.
 *
 * Version 1 is a text (sql_schema_1.c). Later ones are made from what says that it came with them:
 * tables and columns of pawl_table_info() and the indexes below. Once a version is released, what
 * it made stays as it was: what comes later has a later `since`.
 *
 * Every table begins with tenant_id, '' for now. In SQLite so does every key and index: with it
 * first an index answers "this tenant's, in this order", and SQLite, which is told what to expect
 * (below), takes the index that matches the most columns.
 *
 * PostgreSQL chooses by what it knows of the rows that are there, keeps a plan while they become
 * many, and knows nothing of a table that was empty a moment ago: an index that merely begins with
 * the tenant then looks as good as the right one, and reads every row. So the tenant stands last in
 * keys, in no other index, and is compared in a way that no index can be chosen by. What is left
 * are statements for which one index alone will do.
 *
 * Partial indexes hold what is due, owned or parked, so that looking for it costs the same beside a
 * million rows that are not.
 */
#include "base/error.h"
#include "stores/sql.h"
#include "stores/sql_text.h"
#include "stores/stores.h"

/* Statements of one version at the most. */
#define STATEMENTS_MAX 128

static const char *const table_names[PAWL_TABLE_COUNT] = {
    [PAWL_TABLE_INSTANCES] = "pawl_instances",
    [PAWL_TABLE_BOOKMARKS] = "pawl_bookmarks",
    [PAWL_TABLE_WORK] = "pawl_work",
    [PAWL_TABLE_RESERVATIONS] = "pawl_reservations",
    [PAWL_TABLE_JOURNAL] = "pawl_journal",
    [PAWL_TABLE_DEFINITIONS] = "pawl_definitions",
    [PAWL_TABLE_TRIGGERS] = "pawl_triggers",
    [PAWL_TABLE_SETTINGS] = "pawl_settings",
    [PAWL_TABLE_DEAD_LETTERS] = "pawl_dead_letters",
    [PAWL_TABLE_NODES] = "pawl_nodes",
    [PAWL_TABLE_STAMPS] = "pawl_stamps",
    [PAWL_TABLE_ROUTES] = "pawl_routes",
    [PAWL_TABLE_REPLIES] = "pawl_replies",
    [PAWL_TABLE_TASKS] = "pawl_tasks",
    [PAWL_TABLE_PLANS] = "pawl_plans",
    [PAWL_TABLE_JOBS] = "pawl_jobs",
    [PAWL_TABLE_CONSUMERS] = "pawl_consumers",
    [PAWL_TABLE_INCIDENTS] = "pawl_incidents",
    [PAWL_TABLE_HISTORY] = "pawl_history",
    [PAWL_TABLE_AUDIT] = "pawl_audit",
    [PAWL_TABLE_DOCUMENTS] = "pawl_documents",
    [PAWL_TABLE_STATISTICS] = "pawl_statistics",
    [PAWL_TABLE_EXECUTIONS] = "pawl_executions",
};

const char *pawl__sql_table_name(enum pawl_table table)
{
    PAWL_ASSERT((unsigned)table < PAWL_TABLE_COUNT);
    return table_names[table];
}

struct index {
    enum pawl_table table;
    bool unique;
    const char *name;      /* behind the table's */
    const char *columns;   /* besides tenant_id */
    const char *where;     /* NULL: all rows */
    uint32_t since, until; /* the version that makes it; that drops it (0: none) */
    /* For SQLite: how many rows it has, and how many of them share tenant_id, and the first column
     * behind it, and the second … */
    const char *statistics;
};

static const struct index indexes[] = {
    {PAWL_TABLE_INSTANCES, false, "definition", "definition_id, created_us", NULL, 1, 2,
     "1000000 1000000 1000 2"},
    /* Lists leave out what is the system's own: with that in the index, counting reads no rows. */
    {PAWL_TABLE_INSTANCES, false, "of_definition", "definition_id, created_us, is_system", NULL, 2,
     0, "1000000 1000000 1000 2 2"},
    {PAWL_TABLE_INSTANCES, false, "correlation", "correlation_id", "correlation_id <> ''", 1, 0,
     "1000000 1000000 10"},
    {PAWL_TABLE_INSTANCES, false, "parent", "parent_id", "parent_id <> ''", 1, 0,
     "1000000 1000000 10"},
    {PAWL_TABLE_INSTANCES, false, "status", "status, created_us", NULL, 1, 2,
     "1000000 1000000 400000 2"},
    {PAWL_TABLE_INSTANCES, false, "of_status", "status, created_us, is_system", NULL, 2, 0,
     "1000000 1000000 400000 2 2"},
    {PAWL_TABLE_INSTANCES, false, "sub_status", "sub_status, created_us", NULL, 1, 2,
     "1000000 1000000 200000 2"},
    /* What has simply ended is most of what has that status, and need not be in both. */
    {PAWL_TABLE_INSTANCES, false, "of_sub_status", "sub_status, created_us, is_system",
     "sub_status <> 'Finished'", 2, 0, "1000000 1000000 200000 2 2"},
    {PAWL_TABLE_INSTANCES, false, "created", "created_us", NULL, 1, 2, "1000000 1000000 2"},
    {PAWL_TABLE_INSTANCES, false, "newest", "created_us, is_system", NULL, 2, 0,
     "1000000 1000000 2 2"},
    {PAWL_TABLE_INSTANCES, false, "finished", "finished_us", "finished_us <> 0", 2, 0,
     "1000000 1000000 2"},
    {PAWL_TABLE_INSTANCES, false, "name", "name, id", "name <> ''", 2, 0, "1000000 1000000 10 1"},
    {PAWL_TABLE_INSTANCES, false, "incidents", "created_us, is_system, incident_count",
     "incident_count <> 0", 2, 0, "100000 100000 2 2 2"},
    {PAWL_TABLE_INSTANCES, false, "put_off", "created_us, is_system, retry_us", "retry_us <> 0", 2,
     0, "1000 1000 1 1 1"},
    {PAWL_TABLE_INSTANCES, false, "hash", "id_hash", "id_hash <> 0", 2, 0, "1000000 1000000 2"},
    {PAWL_TABLE_INSTANCES, false, "updated", "updated_us", NULL, 1, 0, "1000000 1000000 2"},
    {PAWL_TABLE_INSTANCES, false, "owned", "owner", "owner <> 0", 1, 0, "1000 1000 100"},
    {PAWL_TABLE_INSTANCES, false, "runnable", "owner", "runnable <> 0", 1, 2, "1000 1000 100"},
    /* Includes what is set aside, so that many of those do not slow down finding the few to run. */
    {PAWL_TABLE_INSTANCES, false, "ready", "owner, retry_us", "runnable <> 0", 2, 0,
     "1000 1000 100 1"},
    /* Very many may wait for the same event: those of a page, and the one that an order number
     * means, are found without reading the others. */
    {PAWL_TABLE_BOOKMARKS, false, "hash", "hash, id", NULL, 1, 0, "1000000 1000000 1000 1"},
    {PAWL_TABLE_BOOKMARKS, false, "correlation", "hash, correlation_id, id", "correlation_id <> ''",
     1, 0, "1000000 1000000 1000 10 1"},
    {PAWL_TABLE_BOOKMARKS, false, "instance", "instance_id", NULL, 1, 0, "1000000 1000000 10"},
    {PAWL_TABLE_WORK, false, "due", "due_us", "due_us < " PAWL_SQL_NEVER, 1, 0,
     "1000000 1000000 10"},
    {PAWL_TABLE_WORK, false, "kind", "kind, due_us", "due_us < " PAWL_SQL_NEVER, 1, 0,
     "1000000 1000000 100000 2"},
    {PAWL_TABLE_WORK, false, "expires", "expires_us", "expires_us < " PAWL_SQL_NEVER, 1, 0,
     "1000000 1000000 10"},
    {PAWL_TABLE_WORK, false, "instance", "instance_id, due_us", "instance_id <> ''", 1, 0,
     "1000000 1000000 10 2"},
    {PAWL_TABLE_WORK, false, "parked", "hash", "due_us = " PAWL_SQL_NEVER, 1, 2,
     "1000000 1000000 10"},
    /* All that a new bookmark is compared with: what waits for another order is not read. */
    {PAWL_TABLE_WORK, false, "waiting", "hash, correlation_id, instance_id",
     "due_us = " PAWL_SQL_NEVER, 2, 0, "1000000 1000000 100000 10000 1"},
    {PAWL_TABLE_RESERVATIONS, false, "instance", "instance_id", "instance_id <> ''", 1, 0,
     "1000000 1000000 10"},
    {PAWL_TABLE_RESERVATIONS, false, "expires", "expires_us", "expires_us < " PAWL_SQL_NEVER, 1, 0,
     "1000000 1000000 10"},
    {PAWL_TABLE_DEFINITIONS, true, "version", "definition_id, version", NULL, 1, 0,
     "1000000 1000000 10 1"},
    {PAWL_TABLE_DEFINITIONS, false, "published", "definition_id, is_published", NULL, 1, 0,
     "1000000 1000000 10 5"},
    {PAWL_TABLE_DEFINITIONS, false, "name", "name, id", NULL, 2, 0, "1000000 1000000 10 1"},
    {PAWL_TABLE_DEFINITIONS, false, "latest", "name, id", "is_latest <> 0", 2, 0,
     "100000 100000 2 1"},
    {PAWL_TABLE_TRIGGERS, true, "activity", "definition_id, hash, activity_id", NULL, 1, 0,
     "1000000 1000000 10 2 1"},
    {PAWL_TABLE_TRIGGERS, false, "hash", "hash", NULL, 1, 0, "1000000 1000000 10"},
    {PAWL_TABLE_DEAD_LETTERS, true, "work", "work_id", NULL, 1, 0, "1000000 1000000 1"},
    {PAWL_TABLE_DEAD_LETTERS, false, "dead", "dead_us", NULL, 1, 0, "1000000 1000000 10"},
    {PAWL_TABLE_DEAD_LETTERS, false, "open", "dead_us", "replayed_us = 0", 2, 0, "100000 100000 2"},
    {PAWL_TABLE_DEAD_LETTERS, false, "instance", "instance_id", "instance_id <> ''", 1, 0,
     "1000000 1000000 10"},
    {PAWL_TABLE_NODES, true, "incarnation", "incarnation", NULL, 1, 0, "1000000 1000000 1"},
    {PAWL_TABLE_NODES, false, "lease", "lease_us", NULL, 2, 0, "1000000 1000000 1"},
    {PAWL_TABLE_ROUTES, false, "instance", "instance_id", "instance_id <> ''", 2, 0,
     "1000000 1000000 10"},
    {PAWL_TABLE_REPLIES, false, "expires", "expires_us", NULL, 2, 0, "1000000 1000000 10"},
    {PAWL_TABLE_TASKS, false, "due", "name, due_us", "due_us < " PAWL_SQL_NEVER, 2, 0,
     "1000000 1000000 100000 2"},
    {PAWL_TABLE_TASKS, false, "instance", "instance_id", "instance_id <> ''", 2, 0,
     "1000000 1000000 10"},
    {PAWL_TABLE_TASKS, false, "expires", "expires_us", "expires_us < " PAWL_SQL_NEVER, 2, 0,
     "1000000 1000000 10"},
    {PAWL_TABLE_PLANS, false, "created", "created_us", NULL, 2, 0, "1000000 1000000 2"},
    {PAWL_TABLE_JOBS, false, "plan", "plan_id, status", NULL, 2, 0, "1000000 1000000 1000 300"},
    {PAWL_TABLE_JOBS, false, "instance", "instance_id", "instance_id <> ''", 2, 0,
     "1000000 1000000 10"},
    {PAWL_TABLE_CONSUMERS, false, "used", "used_id", NULL, 2, 0, "1000000 1000000 10"},
    {PAWL_TABLE_INCIDENTS, false, "cause", "fingerprint, created_us", NULL, 2, 0,
     "1000000 1000000 1000 2"},
    {PAWL_TABLE_INCIDENTS, false, "created", "created_us", NULL, 2, 0, "1000000 1000000 2"},
    {PAWL_TABLE_HISTORY, false, "expires", "expires_us", "expires_us < " PAWL_SQL_NEVER, 2, 0,
     "1000000 1000000 10"},
    {PAWL_TABLE_AUDIT, false, "created", "created_us", NULL, 2, 0, "1000000 1000000 2"},
    {PAWL_TABLE_AUDIT, false, "target", "target, created_us", "target <> ''", 2, 0,
     "1000000 1000000 10 2"},
    {PAWL_TABLE_AUDIT, false, "actor", "actor, created_us", NULL, 2, 0, "1000000 1000000 1000 2"},
    {PAWL_TABLE_DOCUMENTS, true, "name", "kind, name", NULL, 2, 0, "1000000 1000000 1000 1"},
    {PAWL_TABLE_DOCUMENTS, false, "lookup", "kind, lookup", "lookup <> ''", 2, 0,
     "1000000 1000000 1000 1"},
    {PAWL_TABLE_DOCUMENTS, false, "expires", "expires_us", "expires_us < " PAWL_SQL_NEVER, 2, 0,
     "1000000 1000000 10"},
    /* What no duty has folded yet. */
    {PAWL_TABLE_STATISTICS, false, "open", "kind, minute_us", "source <> 0", 2, 0,
     "1000 1000 100 10"},
    {PAWL_TABLE_EXECUTIONS, false, "instance", "instance_id", "instance_id <> ''", 2, 0,
     "1000000 1000000 100"},
};

/* As of an index: of the primary keys of tables that version 1 did not have, for SQLite. */
static const char *const key_statistics[PAWL_TABLE_COUNT] = {
    [PAWL_TABLE_ROUTES] = "1000000 1000000 10000 5000 1",
    [PAWL_TABLE_REPLIES] = "1000000 1000000 1000 1",
    [PAWL_TABLE_TASKS] = "1000000 1000000 1",
    [PAWL_TABLE_PLANS] = "1000000 1000000 1",
    [PAWL_TABLE_JOBS] = "1000000 1000000 1",
    [PAWL_TABLE_CONSUMERS] = "1000000 1000000 10 1",
    [PAWL_TABLE_INCIDENTS] = "1000000 1000000 10 1",
    [PAWL_TABLE_HISTORY] = "1000000 1000000 10 1",
    [PAWL_TABLE_AUDIT] = "1000000 1000000 1",
    [PAWL_TABLE_DOCUMENTS] = "1000000 1000000 1000 1",
    [PAWL_TABLE_STATISTICS] = "1000000 1000000 100000 100 10 1",
    [PAWL_TABLE_EXECUTIONS] = "1000000 1000000 1",
};

struct types {
    const char *text, *bytes, *integer, *end;
};

static const struct types types_of[] = {
    [PAWL_SQL_SQLITE] = {"TEXT", "BLOB", "INTEGER", " STRICT"},
    /* Byte order, whatever the database's locale: keyset paging and the other stores sort so. */
    [PAWL_SQL_POSTGRES] = {"text COLLATE \"C\"", "bytea", "bigint", ""},
};

static const char *type_name(const struct types *types, enum pawl_column_type type)
{
    if (type == PAWL_COLUMN_TEXT)
        return types->text;
    return type == PAWL_COLUMN_BYTES ? types->bytes : types->integer;
}

static void write_column(struct pawl_buf *buf, enum pawl_sql_dialect dialect, enum pawl_table table,
                         const struct pawl_column *column)
{
    const char *none = column->type == PAWL_COLUMN_INT ? "0" : "''";

    pawl__buf_printf(buf, "ALTER TABLE %s ADD COLUMN %s %s NOT NULL DEFAULT %s", table_names[table],
                     column->name, type_name(&types_of[dialect], column->type), none);
}

static void write_index(struct pawl_buf *buf, enum pawl_sql_dialect dialect,
                        const struct index *index)
{
    const char *table = table_names[index->table];
    bool tenant_first = dialect == PAWL_SQL_SQLITE;

    pawl__buf_printf(buf, "CREATE %sINDEX %s_%s ON %s (%s%s%s)", index->unique ? "UNIQUE " : "",
                     table, index->name, table, tenant_first ? "tenant_id, " : "", index->columns,
                     !tenant_first && index->unique ? ", tenant_id" : "");
    if (index->where)
        pawl__buf_printf(buf, " WHERE %s", index->where);
}

/* One statement more, from the buffer, which is empty again afterwards. */
static int keep(struct pawl_buf *buf, struct pawl_arena *arena, const char **list, size_t *count)
{
    struct pawl_str text;

    if (buf->status != PAWL_OK)
        return buf->status;
    text = pawl__arena_str(arena, pawl__buf_peek(buf));
    if (!text.ptr)
        return pawl__arena_status(arena);
    PAWL_ASSERT(*count < STATEMENTS_MAX);
    list[(*count)++] = text.ptr;
    pawl__buf_clear(buf);
    return PAWL_OK;
}

static void write_table(struct pawl_buf *buf, enum pawl_sql_dialect dialect, enum pawl_table table)
{
    const struct pawl_table_info *info = pawl_table_info(table);
    const struct types *types = &types_of[dialect];
    bool tenant_first = dialect == PAWL_SQL_SQLITE;

    pawl__buf_printf(buf, "CREATE TABLE %s (tenant_id %s NOT NULL", table_names[table],
                     types->text);
    for (uint32_t i = 0; i < info->column_count; i++)
        if (info->columns[i].since == info->since)
            pawl__buf_printf(buf, ", %s %s NOT NULL", info->columns[i].name,
                             type_name(types, info->columns[i].type));
    pawl__buf_printf(buf, ", PRIMARY KEY (%s", tenant_first ? "tenant_id" : "");
    for (uint32_t i = 0; i < info->key_count; i++)
        pawl__buf_printf(buf, "%s%s", i > 0 || tenant_first ? ", " : "", info->columns[i].name);
    pawl__buf_printf(buf, "%s))%s", tenant_first ? "" : ", tenant_id", types->end);
}

static int make_tables(enum pawl_sql_dialect dialect, uint32_t version, struct pawl_buf *buf,
                       struct pawl_arena *arena, const char **list, size_t *count)
{
    int status = PAWL_OK;

    for (int table = 0; table < PAWL_TABLE_COUNT && status == PAWL_OK; table++)
        if (pawl_table_info((enum pawl_table)table)->since == version) {
            write_table(buf, dialect, (enum pawl_table)table);
            status = keep(buf, arena, list, count);
        }
    return status;
}

static int make_columns(enum pawl_sql_dialect dialect, uint32_t version, struct pawl_buf *buf,
                        struct pawl_arena *arena, const char **list, size_t *count)
{
    int status = PAWL_OK;

    for (int table = 0; table < PAWL_TABLE_COUNT; table++) {
        const struct pawl_table_info *info = pawl_table_info((enum pawl_table)table);

        for (uint32_t i = 0; i < info->column_count && status == PAWL_OK; i++)
            if (info->columns[i].since == version && info->since < version) {
                write_column(buf, dialect, (enum pawl_table)table, &info->columns[i]);
                status = keep(buf, arena, list, count);
            }
    }
    return status;
}

static int make_indexes(enum pawl_sql_dialect dialect, uint32_t version, struct pawl_buf *buf,
                        struct pawl_arena *arena, const char **list, size_t *count)
{
    int status = PAWL_OK;

    for (size_t i = 0; i < sizeof indexes / sizeof indexes[0] && status == PAWL_OK; i++) {
        if (indexes[i].until == version)
            pawl__buf_printf(buf, "DROP INDEX %s_%s", table_names[indexes[i].table],
                             indexes[i].name);
        else if (indexes[i].since == version)
            write_index(buf, dialect, &indexes[i]);
        else
            continue;
        status = keep(buf, arena, list, count);
    }
    return status;
}

/*
 * SQLite has no statistics unless somebody makes some, and then takes it that a tenant has ten
 * rows: it would rather read all of them in the wanted order than look up the few that match. The
 * truth is as good as known beforehand, so the schema says it. Statistics of an index that is
 * dropped go with it.
 */
static int make_statistics(uint32_t version, struct pawl_buf *buf, struct pawl_arena *arena,
                           const char **list, size_t *count)
{
    const char *between = "INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ";
    int status;

    for (int table = 0; table < PAWL_TABLE_COUNT; table++)
        if (pawl_table_info((enum pawl_table)table)->since == version) {
            pawl__buf_printf(buf, "%s('%s', 'sqlite_autoindex_%s_1', '%s')", between,
                             table_names[table], table_names[table], key_statistics[table]);
            between = ", ";
        }
    for (size_t i = 0; i < sizeof indexes / sizeof indexes[0]; i++)
        if (indexes[i].since == version) {
            pawl__buf_printf(buf, "%s('%s', '%s_%s', '%s')", between, table_names[indexes[i].table],
                             table_names[indexes[i].table], indexes[i].name, indexes[i].statistics);
            between = ", ";
        }
    status = keep(buf, arena, list, count);
    if (status != PAWL_OK)
        return status;
    pawl__buf_text(buf, "ANALYZE sqlite_schema"); /* reads it */
    return keep(buf, arena, list, count);
}

/* What came with `version`, by what the tables and indexes say of it. */
static int make_additions(enum pawl_sql_dialect dialect, uint32_t version, struct pawl_buf *buf,
                          struct pawl_arena *arena, const char **list, size_t *count)
{
    int status = make_tables(dialect, version, buf, arena, list, count);

    if (status == PAWL_OK)
        status = make_columns(dialect, version, buf, arena, list, count);
    if (status == PAWL_OK)
        status = make_indexes(dialect, version, buf, arena, list, count);
    if (status == PAWL_OK && dialect == PAWL_SQL_SQLITE)
        status = make_statistics(version, buf, arena, list, count);
    return status;
}

static int make_first(enum pawl_sql_dialect dialect, struct pawl_buf *buf, struct pawl_arena *arena,
                      const char **list, size_t *count)
{
    const char *const *texts = pawl__sql_first_schema(dialect, count);

    (void)buf;
    (void)arena;
    PAWL_ASSERT(*count <= STATEMENTS_MAX);
    memcpy(list, texts, *count * sizeof *texts);
    return PAWL_OK;
}

/*
 * Nodes of version 1 have no living lease now, but one that merely stood still would renew it and
 * go on as if nothing had happened. Under another name its row is none that it can renew, and still
 * says whose the claims of its incarnation were.
 */
static int end_nodes(struct pawl_buf *buf, struct pawl_arena *arena, const char **list,
                     size_t *count)
{
    pawl__buf_text(buf, "UPDATE pawl_nodes SET id = id || ' (schema 1)'");
    return keep(buf, arena, list, count);
}

static int make_second(enum pawl_sql_dialect dialect, struct pawl_buf *buf,
                       struct pawl_arena *arena, const char **list, size_t *count)
{
    int status = make_additions(dialect, 2, buf, arena, list, count);

    return status == PAWL_OK ? end_nodes(buf, arena, list, count) : status;
}

#ifdef PAWL_NEXT_VERSION
/* A version that only adds: earlier programs continue without what was added. */
static int make_next(enum pawl_sql_dialect dialect, struct pawl_buf *buf, struct pawl_arena *arena,
                     const char **list, size_t *count)
{
    const struct types *types = &types_of[dialect];

    pawl__buf_printf(buf, "CREATE TABLE pawl_next (id %s NOT NULL, PRIMARY KEY (id))%s",
                     types->text, types->end);
    return keep(buf, arena, list, count);
}
#endif

/* By version; [0] is not used. */
static const struct {
    int minimum_reader;
    int (*make)(enum pawl_sql_dialect dialect, struct pawl_buf *buf, struct pawl_arena *arena,
                const char **list, size_t *count);
} versions[PAWL_STORE_SCHEMA + 1] = {
    [1] = {1, make_first},
    /* Nodes of version 1 would not write revision_owner, and run what was set aside. */
    [2] = {2, make_second},
#ifdef PAWL_NEXT_VERSION
    [3] = {2, make_next},
#endif
};

bool pawl__sql_locks_out(int64_t version)
{
    return version > 0 && version < PAWL_STORE_SCHEMA &&
           versions[PAWL_STORE_SCHEMA].minimum_reader > version;
}

int pawl__sql_migration(enum pawl_sql_dialect dialect, int version, struct pawl_arena *arena,
                        const char *const **statements, size_t *count, int *minimum_reader,
                        struct pawl_error *err)
{
    struct pawl_buf buf;
    const char **list;
    size_t made = 0;
    int status;

    PAWL_ASSERT(version >= 1 && version <= PAWL_STORE_SCHEMA);
    list = pawl__arena_alloc_array(arena, STATEMENTS_MAX, sizeof *list);
    if (!list)
        return pawl__error_code(err, pawl__arena_status(arena));
    pawl__buf_init(&buf, arena->alloc, PAWL_SQL_TEXT_MAX);
    status = versions[version].make(dialect, &buf, arena, list, &made);
    pawl__buf_release(&buf);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    *statements = list;
    *count = made;
    *minimum_reader = versions[version].minimum_reader;
    return PAWL_OK;
}
