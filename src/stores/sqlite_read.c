/* SPDX-License-Identifier: Apache-2.0 */
/* Reading in SQLite: queries, snapshots, waiting for what others commit; and loading. */
#include "base/error.h"
#include "stores/sqlite_private.h"

/* How often to look whether another process has committed. */
#define WATCH_NS ((int64_t)50 * 1000 * 1000)
/* One row of a snapshot. */
#define ROW_BYTES_MAX ((size_t)1 << 30)

/* ---- queries ----------------------------------------------------------------------------- */

static int prepare_select(struct pawl_sqlite_session *session, const char *text,
                          const struct pawl_sql_value *values, uint32_t count,
                          struct pawl_sqlite_statement **out, bool *row, struct pawl_error *err)
{
    int status = pawl__sqlite_prepare(session->db, text, out, err);

    if (status == PAWL_OK)
        status = pawl__sqlite_bind_values(*out, values, count, err);
    if (status == PAWL_OK)
        status = pawl__sqlite_step(*out, row, err);
    return status;
}

static int run_select(struct pawl_sqlite_session *session, const struct pawl_sql_select *select,
                      struct pawl_arena *arena, struct pawl_rows *out, struct pawl_error *err)
{
    struct pawl_sqlite_statement *statement = NULL;
    void *rows = NULL;
    bool row = false;
    int status = PAWL_OK;

    if (select->count_text) {
        status = prepare_select(session, select->count_text, select->count_values,
                                select->count_value_count, &statement, &row, err);
        if (status == PAWL_OK && row)
            out->total = (uint64_t)pawl__sqlite_column_int(statement, 0);
        if (status == PAWL_OK && row && select->scan_limit > 0)
            out->cut = pawl__sqlite_column_int(statement, 1) >= select->scan_limit;
        pawl__sqlite_reset(statement);
    }
    if (status != PAWL_OK || !select->text)
        return status;
    statement = NULL;
    status = prepare_select(session, select->text, select->values, select->value_count, &statement,
                            &row, err);
    if (status == PAWL_OK)
        status = pawl__sqlite_rows_read(statement, row, select->table, select->columns, arena,
                                        &rows, &out->count, err);
    else
        pawl__sqlite_reset(statement);
    out->rows = rows;
    return status;
}

int pawl__sqlite_store_find_many(struct pawl_store *base, const struct pawl_query *queries,
                                 size_t count, struct pawl_arena *arena, struct pawl_rows *out,
                                 int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_sqlite_store *store = pawl__sqlite_store_of(base);
    struct pawl_sql_select selects[PAWL_STORE_QUERIES_MAX] = {{0}};
    struct pawl_rows made[PAWL_STORE_QUERIES_MAX] = {{0}};
    struct pawl_sqlite_session session;
    bool one_moment = false; /* of the rows of a query and their total */
    int status = pawl__store_check_queries(count, err);

    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        status = pawl__sql_query(PAWL_SQL_SQLITE, &queries[i], arena, &selects[i], err);
        one_moment = one_moment || (selects[i].text && selects[i].count_text);
    }
    if (status != PAWL_OK || count == 0)
        return status;
    status = pawl__sqlite_session_read(store, one_moment, deadline_ns, &session, err);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = run_select(&session, &selects[i], arena, &made[i], err);
    pawl__sqlite_session_end(&session);
    if (status == PAWL_OK)
        memcpy(out, made, count * sizeof *out);
    return status;
}

int pawl__sqlite_store_find(struct pawl_store *base, const struct pawl_query *query,
                            struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                            struct pawl_error *err)
{
    return pawl__sqlite_store_find_many(base, query, 1, arena, out, deadline_ns, err);
}

/* ---- snapshots --------------------------------------------------------------------------- */

union any_row {
    struct pawl_instance_row instance;
    struct pawl_bookmark_row bookmark;
    struct pawl_work_row work;
    struct pawl_definition_row definition;
    struct pawl_dead_letter_row dead_letter;
};

static int visit_table(struct pawl_sqlite_session *session, enum pawl_table table,
                       pawl_row_visitor visit, void *ctx, struct pawl_error *err)
{
    const struct pawl_sql_statement *all = pawl__sql_all(session->store->sql, table);
    struct pawl_sqlite_statement *statement = NULL;
    struct pawl_sql_inputs inputs = {0};
    struct pawl_arena arena;
    union any_row one;
    bool row = false;
    int status = pawl__sqlite_session_run(session, all, &inputs, &statement, &row, err);

    PAWL_ASSERT(pawl_table_info(table)->row_size <= sizeof one);
    pawl__arena_init(&arena, &session->store->env->alloc, ROW_BYTES_MAX);
    while (status == PAWL_OK && row) {
        pawl__arena_reset(&arena);
        status = pawl__sqlite_row_read(statement, table, all->columns, &arena, &one, err);
        if (status == PAWL_OK)
            status = visit(ctx, table, &one, err);
        if (status == PAWL_OK)
            status = pawl__sqlite_step(statement, &row, err);
    }
    pawl__sqlite_reset(statement);
    pawl__arena_release(&arena);
    return status;
}

int pawl__sqlite_store_snapshot(struct pawl_store *base, pawl_row_visitor visit, void *ctx,
                                int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_sqlite_store *store = pawl__sqlite_store_of(base);
    struct pawl_sqlite_session session;
    int status = pawl__sqlite_session_read(store, true, deadline_ns, &session, err);

    if (status != PAWL_OK)
        return status;
    for (int table = 0; table < PAWL_TABLE_COUNT && status == PAWL_OK; table++)
        status = visit_table(&session, (enum pawl_table)table, visit, ctx, err);
    pawl__sqlite_session_end(&session);
    return status;
}

int pawl__sqlite_store_load(struct pawl_store *base, enum pawl_table table, const void *rows,
                            size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_sqlite_store *store = pawl__sqlite_store_of(base);
    struct pawl_sqlite_session session;
    int status;

    if ((unsigned)table >= PAWL_TABLE_COUNT)
        return pawl__error_set(err, PAWL_EINVAL, "there is no table %d to load", (int)table);
    status = pawl__sqlite_session_write(store, true, deadline_ns, &session, err);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        struct pawl_sql_inputs inputs = {.row = (const char *)rows +
                                                i * pawl_table_info(table)->row_size};

        status = pawl__sqlite_session_run(&session, pawl__sql_load(store->sql, table), &inputs,
                                          NULL, NULL, err);
    }
    if (status == PAWL_OK)
        status = pawl__sqlite_session_commit(&session, err);
    pawl__sqlite_session_end(&session);
    if (status == PAWL_OK)
        pawl__sqlite_store_notify(store);
    return status;
}

/* ---- waiting ----------------------------------------------------------------------------- */

void pawl__sqlite_store_notify(struct pawl_sqlite_store *store)
{
    if (pawl_mutex_lock(store->env, store->lock) != PAWL_OK)
        return; /* stopped: nobody waits any more */
    store->generation++;
    pawl_mutex_unlock(store->env, store->lock);
    pawl_cond_broadcast(store->env, store->changed);
}

/*
 * With the lock held: whether another process has committed since the last check. Our own claims
 * are seen too, needlessly, but no more often than the checks.
 */
static int check_data_version(struct pawl_sqlite_store *store, int64_t now_ns,
                              struct pawl_error *err)
{
    struct pawl_sqlite_statement *statement = NULL;
    int64_t version = 0;
    bool row = false;
    int status;

    if (now_ns < store->watch_next_ns)
        return PAWL_OK;
    pawl__sqlite_set_deadline(store->watch, now_ns); /* others need the lock: do not wait */
    status = pawl__sqlite_prepare(store->watch, "PRAGMA data_version", &statement, err);
    if (status == PAWL_OK)
        status = pawl__sqlite_step(statement, &row, err);
    if (status == PAWL_OK && row)
        version = pawl__sqlite_column_int(statement, 0);
    pawl__sqlite_reset(statement);
    if (pawl_error_class(status) == PAWL_CLASS_TRANSIENT)
        status = PAWL_OK; /* it only shortens waits: the next look sees it */
    store->watch_next_ns = now_ns + WATCH_NS;
    if (status == PAWL_OK && row && version != store->watch_version) {
        store->watch_version = version;
        store->generation++;
        pawl_cond_broadcast(store->env, store->changed);
    }
    return status;
}

int pawl__sqlite_store_wait(struct pawl_store *base, struct pawl_wake *wake, int64_t deadline_ns,
                            struct pawl_error *err)
{
    struct pawl_sqlite_store *store = pawl__sqlite_store_of(base);
    int status = pawl_mutex_lock(store->env, store->lock);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    for (;;) {
        int64_t now_ns = pawl_env_monotonic_ns(store->env), until_ns;

        status = check_data_version(store, now_ns, err);
        if (status != PAWL_OK || store->generation != wake->seen)
            break;
        if (now_ns >= deadline_ns) {
            status = pawl__error_code(err, PAWL_ETIMEDOUT);
            break;
        }
        until_ns = store->watch_next_ns < deadline_ns ? store->watch_next_ns : deadline_ns;
        status = pawl_cond_wait(store->env, store->changed, store->lock, until_ns);
        if (status == PAWL_ESTOPPED) {
            (void)pawl__error_code(err, status);
            break;
        }
    }
    if (status == PAWL_OK)
        wake->seen = store->generation;
    pawl_mutex_unlock(store->env, store->lock);
    return status;
}
