/* SPDX-License-Identifier: Apache-2.0 */
/* One call on one connection: statements with their values in, rows out. */
#include "base/error.h"
#include "stores/postgres.h"
#include "stores/sql_text.h"

_Static_assert(PG_NUMBER_MANY + PAWL_TABLE_COUNT * (PAWL_CHANGE_DELETE_OWNED + 1u) <=
                   PAWL_PQ_STATEMENTS_MAX,
               "more statements than a connection prepares");

int pawl__pg_call_begin(struct pg_call *call, struct pawl_store *store, enum pg_role role,
                        bool writes, int64_t deadline_ns, struct pawl_error *err)
{
    return pawl__pg_call_begin_lock(call, store, role, writes, 0, deadline_ns, err);
}

int pawl__pg_call_begin_lock(struct pg_call *call, struct pawl_store *store, enum pg_role role,
                             bool writes, int64_t key, int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_postgres *pg = (struct pawl_postgres *)store;
    struct pawl_pq_conn *conn = NULL;
    int status;

    if (writes && (pg->flags & PAWL_STORE_OPEN_READ))
        return pawl__error_set(err, PAWL_EPERM, "the PostgreSQL store was opened for reading only");
    status = pawl__pg_acquire(pg, role, key, deadline_ns, &conn, err);
    if (status != PAWL_OK)
        return status;
    *call = (struct pg_call){
        .pg = pg, .conn = conn, .role = role, .wait = {pg->env, NULL, deadline_ns}, .err = err};
    pawl__arena_init(&call->arena, &pg->env->alloc, PG_CALL_BYTES_MAX);
    status = pawl__pq_begin(conn, err);
    if (status != PAWL_OK)
        pawl__pg_call_end(call);
    return status;
}

void pawl__pg_call_end(struct pg_call *call)
{
    pawl__arena_release(&call->arena);
    /* Results may be large, and a connection may be idle for long. */
    pawl__pq_forget(call->conn);
    pawl__pg_give_back(call->pg, call->role, call->conn);
}

int pawl__pg_again(struct pg_call *call)
{
    call->count = 0;
    return pawl__pq_begin(call->conn, call->err);
}

/* ---- statements -------------------------------------------------------------------------- */

static int queue(struct pg_call *call, uint32_t number, const char *text,
                 const struct pawl_pq_param *params, size_t count)
{
    int status = call->prepare
                     ? pawl__pq_prepare(call->conn, number, text, params, count, call->err)
                     : pawl__pq_queue(call->conn, number, text, params, count, call->err);

    if (status == PAWL_OK)
        call->count++;
    return status;
}

static enum pawl_pq_type param_type(enum pawl_column_type type)
{
    if (type == PAWL_COLUMN_INT)
        return PAWL_PQ_INT;
    return type == PAWL_COLUMN_TEXT ? PAWL_PQ_TEXT : PAWL_PQ_BYTES;
}

int pawl__pg_statement(struct pg_call *call, uint32_t number,
                       const struct pawl_sql_statement *statement,
                       const struct pawl_sql_inputs *inputs)
{
    struct pawl_sql_value values[PAWL_SQL_PARAMS_MAX];
    struct pawl_pq_param params[PAWL_SQL_PARAMS_MAX];
    int status = pawl__sql_bind(statement, inputs, &call->arena, values, call->err);

    if (status != PAWL_OK)
        return status;
    for (uint32_t i = 0; i < statement->param_count; i++)
        params[i] =
            (struct pawl_pq_param){param_type(values[i].type), values[i].text, values[i].integer};
    return queue(call, number, statement->text, params, statement->param_count);
}

/* Appends one parameter of many rows, as an array; `values` are its values in the first row and on.
 * Its place is known when all have been appended: the buffer moves as it grows. */
static enum pawl_pq_type add_column(struct pawl_buf *buf, const struct pawl_sql_value *values,
                                    size_t stride, size_t count)
{
    enum pawl_pq_type type = values[0].type == PAWL_COLUMN_INT    ? PAWL_PQ_INT_ARRAY
                             : values[0].type == PAWL_COLUMN_TEXT ? PAWL_PQ_TEXT_ARRAY
                                                                  : PAWL_PQ_BYTES_ARRAY;

    pawl__pq_array_begin(buf, type, count);
    for (size_t i = 0; i < count; i++)
        if (type == PAWL_PQ_INT_ARRAY)
            pawl__pq_array_int(buf, values[i * stride].integer);
        else
            pawl__pq_array_bytes(buf, values[i * stride].text);
    return type;
}

int pawl__pg_statement_many(struct pg_call *call, uint32_t number,
                            const struct pawl_sql_statement *statement,
                            const struct pawl_sql_inputs *inputs, size_t count,
                            const struct pawl_pq_param *more, size_t more_count)
{
    uint32_t width = statement->param_count;
    struct pawl_sql_value *values =
        pawl__arena_alloc_array(&call->arena, count * (width + 1), sizeof *values);
    struct pawl_pq_param params[PAWL_SQL_PARAMS_MAX + 2];
    size_t ends[PAWL_SQL_PARAMS_MAX + 2];
    struct pawl_buf buf;
    int status = PAWL_OK;

    PAWL_ASSERT(count > 0 && width + 1 + more_count <= sizeof params / sizeof params[0]);
    if (!values)
        return pawl__error_code(call->err, pawl__arena_status(&call->arena));
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        struct pawl_sql_value *row = values + i * (width + 1);

        status = pawl__sql_bind(statement, &inputs[i], &call->arena, row, call->err);
        row[width] = (struct pawl_sql_value){PAWL_COLUMN_INT, {"", 0}, inputs[i].member};
    }
    if (status != PAWL_OK)
        return status;
    pawl__buf_init(&buf, &call->pg->env->alloc, PG_CALL_BYTES_MAX);
    for (uint32_t p = 0; p <= width; p++) {
        params[p] = (struct pawl_pq_param){.type = add_column(&buf, values + p, width + 1, count)};
        ends[p] = buf.len;
    }
    if (buf.status == PAWL_OK) {
        for (uint32_t p = 0; p <= width; p++)
            params[p].bytes =
                pawl__str_slice(pawl__buf_peek(&buf), p > 0 ? ends[p - 1] : 0, ends[p]);
        for (size_t i = 0; i < more_count; i++)
            params[width + 1 + i] = more[i];
        status = queue(call, number, statement->text, params, width + 1 + more_count);
    } else {
        status = pawl__error_code(call->err, buf.status);
    }
    pawl__buf_release(&buf);
    return status;
}

int pawl__pg_named(struct pg_call *call, enum pawl_sql_name name,
                   const struct pawl_sql_inputs *inputs)
{
    return pawl__pg_statement(call, PG_NUMBER_NAMED + (uint32_t)name,
                              pawl__sql_statement(call->pg->sql, name), inputs);
}

int pawl__pg_own(struct pg_call *call, enum pg_own own, const struct pawl_pq_param *params,
                 size_t count)
{
    return queue(call, PG_NUMBER_OWN + (uint32_t)own, call->pg->own[own], params, count);
}

int pawl__pg_text(struct pg_call *call, const char *text)
{
    return queue(call, PAWL_PQ_STATEMENT_NONE, text, NULL, 0);
}

int pawl__pg_sync(struct pg_call *call)
{
    return pawl__pq_sync(call->conn, call->err);
}

int pawl__pg_first_error(struct pg_call *call, size_t from, size_t to, struct pawl_error *err)
{
    for (size_t at = from; at < to; at++) {
        int status = pawl__pq_status(call->conn, at, err);

        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

int pawl__pg_run(struct pg_call *call, bool writes)
{
    int status = pawl__pq_run(call->conn, writes, &call->wait, call->err);

    call->is_answered = status == PAWL_OK;
    pawl__pg_count(call->pg, 1, 0);
    return status == PAWL_OK ? pawl__pg_first_error(call, 0, call->count, call->err) : status;
}

/* ---- values ------------------------------------------------------------------------------ */

int pawl__pg_texts(struct pg_call *call, const struct pawl_str *texts, size_t count,
                   struct pawl_pq_param *out)
{
    struct pawl_buf buf;
    struct pawl_str bytes = {NULL, 0};
    int status;

    pawl__buf_init(&buf, &call->pg->env->alloc, PG_CALL_BYTES_MAX);
    pawl__pq_array_begin(&buf, PAWL_PQ_TEXT_ARRAY, count);
    for (size_t i = 0; i < count; i++) {
        struct pawl_str clean = pawl__sql_clean(texts[i], &call->arena);

        pawl__pq_array_bytes(&buf, clean.ptr ? clean : pawl__str(""));
    }
    if (buf.status == PAWL_OK)
        bytes = pawl__arena_str(&call->arena, pawl__buf_peek(&buf));
    status = buf.status != PAWL_OK ? buf.status : call->arena.status;
    pawl__buf_release(&buf);
    if (status != PAWL_OK)
        return pawl__error_code(call->err, status);
    *out = (struct pawl_pq_param){PAWL_PQ_TEXT_ARRAY, bytes, 0};
    return PAWL_OK;
}

int pawl__pg_ints(struct pg_call *call, const int64_t *integers, size_t count,
                  struct pawl_pq_param *out)
{
    struct pawl_buf buf;
    struct pawl_str bytes = {NULL, 0};
    int status;

    pawl__buf_init(&buf, &call->pg->env->alloc, PG_CALL_BYTES_MAX);
    pawl__pq_array_begin(&buf, PAWL_PQ_INT_ARRAY, count);
    for (size_t i = 0; i < count; i++)
        pawl__pq_array_int(&buf, integers[i]);
    if (buf.status == PAWL_OK)
        bytes = pawl__arena_str(&call->arena, pawl__buf_peek(&buf));
    status = buf.status != PAWL_OK ? buf.status : call->arena.status;
    pawl__buf_release(&buf);
    if (status != PAWL_OK)
        return pawl__error_code(call->err, status);
    *out = (struct pawl_pq_param){PAWL_PQ_INT_ARRAY, bytes, 0};
    return PAWL_OK;
}

int pawl__pg_row(const struct pg_call *call, size_t at, size_t row, enum pawl_table table,
                 uint64_t columns, struct pawl_arena *arena, void *out)
{
    const struct pawl_table_info *info = pawl_table_info(table);
    size_t from = 0;

    memset(out, 0, info->row_size);
    for (uint32_t i = 0; i < info->column_count; i++) {
        struct pawl_sql_value value = {info->columns[i].type, {"", 0}, 0};

        if (columns >> i & 1) {
            if (value.type == PAWL_COLUMN_INT)
                value.integer = pawl__pq_int(call->conn, at, row, from++);
            else
                value.text = pawl__pq_bytes(call->conn, at, row, from++);
        }
        if (value.text.len > 0)
            value.text = pawl__arena_str(arena, value.text);
        if (!value.text.ptr)
            return pawl__error_code(call->err, pawl__arena_status(arena));
        pawl__sql_row_set(table, out, i, &value);
    }
    return PAWL_OK;
}

int pawl__pg_rows(const struct pg_call *call, size_t at, enum pawl_table table, uint64_t columns,
                  struct pawl_arena *arena, void **out, size_t *count)
{
    size_t size = pawl_table_info(table)->row_size, rows = pawl__pq_rows(call->conn, at);
    char *array = pawl__arena_alloc_array(arena, rows > 0 ? rows : 1, size);
    int status = PAWL_OK;

    if (!array)
        return pawl__error_code(call->err, pawl__arena_status(arena));
    for (size_t i = 0; i < rows && status == PAWL_OK; i++)
        status = pawl__pg_row(call, at, i, table, columns, arena, array + i * size);
    if (status == PAWL_OK) {
        *out = array;
        *count = rows;
    }
    return status;
}
