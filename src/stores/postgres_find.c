/* SPDX-License-Identifier: Apache-2.0 */
/* Reading: queries; and whole stores, for backups and for restoring them. */
#include "base/error.h"
#include "stores/postgres.h"

/* Rows of a snapshot that are in memory at a time; a row may have a megabyte. */
#define SNAPSHOT_ROWS "200"

/* ---- find -------------------------------------------------------------------------------- */

static int send_select(struct pg_call *call, const char *text, const struct pawl_sql_value *values,
                       size_t count)
{
    struct pawl_pq_param *params = pawl__arena_alloc_array(&call->arena, count + 1, sizeof *params);
    int status;

    if (!params)
        return pawl__error_code(call->err, pawl__arena_status(&call->arena));
    for (size_t i = 0; i < count; i++) {
        enum pawl_pq_type type = values[i].type == PAWL_COLUMN_INT    ? PAWL_PQ_INT
                                 : values[i].type == PAWL_COLUMN_TEXT ? PAWL_PQ_TEXT
                                                                      : PAWL_PQ_BYTES;

        params[i] = (struct pawl_pq_param){type, values[i].text, values[i].integer};
    }
    status = pawl__pq_queue(call->conn, PAWL_PQ_STATEMENT_NONE, text, params, count, call->err);
    if (status == PAWL_OK)
        call->count++;
    return status;
}

/* Queues the statements of a query: rows, total, or both. */
static int send_query(struct pg_call *call, const struct pawl_sql_select *select)
{
    int status = PAWL_OK;

    if (select->text)
        status = send_select(call, select->text, select->values, select->value_count);
    if (status == PAWL_OK && select->count_text)
        status =
            send_select(call, select->count_text, select->count_values, select->count_value_count);
    return status;
}

/* ---- queries with a plan ------------------------------------------------------------------- */

/* A value that a column is to be equal to; NULL: none is asked for, or more than that. */
static const struct pawl_str *wanted_text(const struct pawl_query *query, const char *column)
{
    uint32_t number = pawl_table_column(query->table, column);

    for (size_t i = 0; i < query->condition_count; i++) {
        const struct pawl_condition *c = &query->conditions[i];

        if (c->column == number)
            return c->compare == PAWL_EQ && c->any == 0 ? &c->value.text : NULL;
    }
    return NULL;
}

/*
 * The statement that is the same as the query; PAWL_SQL_NAME_COUNT: there is none, and it is
 * planned for its values. To parse and plan a query costs the server several times as much as to
 * look up a row.
 */
static enum pawl_sql_name planned(const struct pawl_query *query, struct pawl_sql_inputs *inputs)
{
    const struct pawl_str *id, *hash;

    if ((unsigned)query->table >= PAWL_TABLE_COUNT || query->flags != PAWL_QUERY_BRIEF ||
        query->order != 0 || query->after || query->offset > 0 || query->scan_limit > 0 ||
        query->limit > PAWL_STORE_ROWS_MAX)
        return PAWL_SQL_NAME_COUNT;
    inputs->limit = query->limit > 0 ? query->limit : PAWL_STORE_ROWS_DEFAULT;
    if (query->table == PAWL_TABLE_WORK && query->condition_count == 1) {
        id = wanted_text(query, "id");
        inputs->id = id ? *id : inputs->id;
        return id ? PAWL_SQL_FIND_WORK : PAWL_SQL_NAME_COUNT;
    }
    if (query->table == PAWL_TABLE_BOOKMARKS && query->condition_count == 2) {
        id = wanted_text(query, "instance_id");
        hash = wanted_text(query, "hash");
        if (!id || id->len == 0 || !hash)
            return PAWL_SQL_NAME_COUNT;
        inputs->id = *id;
        inputs->text = *hash;
        return PAWL_SQL_FIND_WAITING;
    }
    return PAWL_SQL_NAME_COUNT;
}

static int find_planned(struct pawl_store *store, enum pawl_sql_name name,
                        const struct pawl_sql_inputs *inputs, struct pawl_arena *arena,
                        struct pawl_rows *out, int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_rows found = {.rows = NULL};
    struct pg_call call;
    void *rows = NULL;
    int status = pawl__pg_call_begin(&call, store, PG_FAST, false, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__pg_named(&call, name, inputs);
    if (status == PAWL_OK)
        status = pawl__pg_sync(&call);
    if (status == PAWL_OK)
        status = pawl__pg_run(&call, false);
    if (status == PAWL_OK) {
        const struct pawl_sql_statement *statement = pawl__sql_statement(call.pg->sql, name);

        status = pawl__pg_rows(&call, 0, statement->table, statement->columns, arena, &rows,
                               &found.count);
    }
    found.rows = rows;
    if (status == PAWL_OK)
        *out = found;
    pawl__pg_call_end(&call);
    return status;
}

/* ---- queries that are planned for their values ---------------------------------------------- */

/* Reads the results of a query, which begin with number *at, and moves *at behind them. */
static int read_query(const struct pg_call *call, const struct pawl_sql_select *select, size_t *at,
                      struct pawl_arena *arena, struct pawl_rows *out)
{
    void *found = NULL;
    int status = PAWL_OK;

    *out = (struct pawl_rows){.rows = NULL};
    if (select->text)
        status = pawl__pg_rows(call, (*at)++, select->table, select->columns, arena, &found,
                               &out->count);
    out->rows = found;
    if (status == PAWL_OK && select->count_text) {
        out->total = (uint64_t)pawl__pq_int(call->conn, *at, 0, 0);
        if (select->scan_limit > 0)
            out->cut = pawl__pq_int(call->conn, *at, 0, 1) >= select->scan_limit;
        ++*at;
    }
    return status;
}

int pawl__pg_find_many(struct pawl_store *store, const struct pawl_query *queries, size_t count,
                       struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                       struct pawl_error *err)
{
    struct pawl_sql_select selects[PAWL_STORE_QUERIES_MAX] = {{0}};
    struct pawl_rows found[PAWL_STORE_QUERIES_MAX];
    struct pawl_sql_inputs inputs = {0};
    enum pawl_sql_name name = count == 1 ? planned(&queries[0], &inputs) : PAWL_SQL_NAME_COUNT;
    struct pg_call call;
    size_t at = 1;
    int status = pawl__store_check_queries(count, err);

    if (status != PAWL_OK || count == 0)
        return status;
    if (name != PAWL_SQL_NAME_COUNT)
        return find_planned(store, name, &inputs, arena, out, deadline_ns, err);
    status = pawl__pg_call_begin(&call, store, PG_FAST, false, deadline_ns, err);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = pawl__sql_query(PAWL_SQL_POSTGRES, &queries[i], &call.arena, &selects[i], err);
    if (status == PAWL_OK)
        status = pawl__pg_own(&call, PG_MAY_SCAN, NULL, 0);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = send_query(&call, &selects[i]);
    if (status == PAWL_OK)
        status = pawl__pg_sync(&call);
    if (status == PAWL_OK)
        status = pawl__pg_run(&call, false);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = read_query(&call, &selects[i], &at, arena, &found[i]);
    if (status == PAWL_OK)
        memcpy(out, found, count * sizeof *out);
    pawl__pg_call_end(&call);
    return status;
}

int pawl__pg_find(struct pawl_store *store, const struct pawl_query *query,
                  struct pawl_arena *arena, struct pawl_rows *out, int64_t deadline_ns,
                  struct pawl_error *err)
{
    return pawl__pg_find_many(store, query, 1, arena, out, deadline_ns, err);
}

/* ---- snapshot, load ---------------------------------------------------------------------- */

static int fetch(struct pg_call *call)
{
    int status = pawl__pg_again(call);

    if (status == PAWL_OK)
        status = pawl__pg_text(call, "FETCH " SNAPSHOT_ROWS " FROM pawl_snapshot");
    if (status == PAWL_OK)
        status = pawl__pg_sync(call);
    return status == PAWL_OK ? pawl__pg_run(call, false) : status;
}

static int visit_rows(struct pg_call *call, enum pawl_table table, uint64_t columns,
                      struct pawl_arena *arena, pawl_row_visitor visit, void *ctx)
{
    size_t size = pawl_table_info(table)->row_size, count = 0;
    void *rows = NULL;
    int status = pawl__pg_rows(call, 0, table, columns, arena, &rows, &count);

    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = visit(ctx, table, (const char *)rows + i * size, call->err);
    return status;
}

/* One table, by a cursor inside the transaction that is open. */
static int walk(struct pg_call *call, enum pawl_table table, pawl_row_visitor visit, void *ctx)
{
    const struct pawl_sql_statement *all = pawl__sql_all(call->pg->sql, table);
    const char *text =
        pawl__arena_printf(&call->arena, "DECLARE pawl_snapshot CURSOR FOR %s", all->text);
    struct pawl_arena arena;
    int status = text ? pawl__pg_again(call) : pawl__error_code(call->err, PAWL_ENOMEM);

    pawl__arena_init(&arena, &call->pg->env->alloc, PG_CALL_BYTES_MAX);
    if (status == PAWL_OK)
        status = pawl__pg_text(call, text);
    if (status == PAWL_OK)
        status = pawl__pg_sync(call);
    if (status == PAWL_OK)
        status = pawl__pg_run(call, false);
    while (status == PAWL_OK) {
        status = fetch(call);
        if (status != PAWL_OK || pawl__pq_rows(call->conn, 0) == 0)
            break;
        status = visit_rows(call, table, all->columns, &arena, visit, ctx);
        pawl__arena_reset(&arena);
    }
    pawl__arena_release(&arena);
    return status;
}

static int run_text(struct pg_call *call, const char *text)
{
    int status = pawl__pg_again(call);

    if (status == PAWL_OK)
        status = pawl__pg_text(call, text);
    if (status == PAWL_OK)
        status = pawl__pg_sync(call);
    return status == PAWL_OK ? pawl__pg_run(call, false) : status;
}

int pawl__pg_snapshot(struct pawl_store *store, pawl_row_visitor visit, void *ctx,
                      int64_t deadline_ns, struct pawl_error *err)
{
    struct pg_call call;
    int status = pawl__pg_call_begin(&call, store, PG_FAST, false, deadline_ns, err), ended;

    if (status != PAWL_OK)
        return status;
    status = run_text(&call, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    for (int table = 0; table < PAWL_TABLE_COUNT && status == PAWL_OK; table++) {
        status = walk(&call, (enum pawl_table)table, visit, ctx);
        if (status == PAWL_OK)
            status = run_text(&call, "CLOSE pawl_snapshot");
    }
    /* Also after a failure, of which the caller's message is to stay. */
    call.err = NULL;
    ended = pawl__pq_is_broken(call.conn) ? PAWL_OK : run_text(&call, "ROLLBACK");
    if (status == PAWL_OK && ended != PAWL_OK)
        status = pawl__error_code(err, ended);
    pawl__pg_call_end(&call);
    return status;
}

int pawl__pg_load(struct pawl_store *store, enum pawl_table table, const void *rows, size_t count,
                  int64_t deadline_ns, struct pawl_error *err)
{
    size_t size = pawl_table_info(table)->row_size;
    struct pg_call call;
    int status;

    if (count == 0)
        return PAWL_OK;
    status = pawl__pg_call_begin(&call, store, PG_COMMIT, true, deadline_ns, err);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        const struct pawl_sql_inputs inputs = {.row = (const char *)rows + i * size};

        status = pawl__pg_statement(&call, PG_NUMBER_LOAD + (uint32_t)table,
                                    pawl__sql_load(call.pg->sql, table), &inputs);
    }
    if (status == PAWL_OK)
        status = pawl__pg_sync(&call);
    if (status == PAWL_OK)
        status = pawl__pg_run(&call, true);
    if (status == PAWL_OK)
        pawl__pg_count(call.pg, 0, 1);
    pawl__pg_call_end(&call);
    return status;
}
