/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How operations ask the store; see query.h. A cursor is where a page ended, as text that anybody
 * may keep and give back: base64 of the JSON array [table, order, descending, the order's value,
 * the values of the key]. What comes from outside is checked against the list that it is given to.
 */
#include "operations/query.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json/json.h"
#include "host/features.h"
#include "host/host.h"
#include "runtime/runtime.h"

#define CURSOR_BYTES_MAX ((size_t)64 << 10)

/* ---- the host ------------------------------------------------------------------------------- */

struct pawl_env *op_env(const struct pawl_op *op)
{
    return pawl__host_env(op->host);
}

struct pawl_store *op_store(const struct pawl_op *op)
{
    return pawl__host_store(op->host);
}

struct pawl_runtime *op_runtime(const struct pawl_op *op)
{
    return pawl__host_node(op->host);
}

struct pawl_definitions *op_definitions(const struct pawl_op *op)
{
    return pawl__runtime_definitions(op_runtime(op));
}

int op_now(const struct pawl_op *op, int64_t *now_us)
{
    struct pawl_store_status about;
    int status = pawl_store_status(op_store(op), &about, op->deadline_ns, op->err);

    if (status == PAWL_OK)
        *now_us = about.now_us;
    return status;
}

struct pawl_op pawl__op_within(const struct pawl_op *op, int64_t timeout_ms)
{
    struct pawl_op within = *op;
    int64_t now_ns = pawl_env_monotonic_ns(op_env(op));

    if (timeout_ms < 0)
        timeout_ms = 0;
    within.deadline_ns =
        timeout_ms > (INT64_MAX - now_ns) / 1000000 ? PAWL_FOREVER : now_ns + timeout_ms * 1000000;
    return within;
}

/* ---- conditions ----------------------------------------------------------------------------- */

void op_query_init(struct op_query *query, enum pawl_table table, const char *order,
                   bool descending)
{
    *query = (struct op_query){.query = {.table = table,
                                         .flags = PAWL_QUERY_BRIEF,
                                         .order = order ? pawl_table_column(table, order) : 0},
                               .descending = descending};
}

void op_with_bytes(struct op_query *query)
{
    query->query.flags &= ~PAWL_QUERY_BRIEF;
}

static struct pawl_condition *add_condition(struct op_query *query, const char *column,
                                            enum pawl_compare compare)
{
    struct pawl_condition *condition;

    if (query->query.condition_count <= PAWL_STORE_CONDITIONS_MAX)
        query->query.condition_count++;
    condition = &query->conditions[query->query.condition_count - 1];
    *condition = (struct pawl_condition){.column = pawl_table_column(query->query.table, column),
                                         .compare = compare};
    return condition;
}

void op_where_text(struct op_query *query, const char *column, enum pawl_compare compare,
                   struct pawl_str text)
{
    add_condition(query, column, compare)->value.text = text;
}

void op_where_given(struct op_query *query, const char *column, struct pawl_str text)
{
    if (text.len > 0)
        op_where_text(query, column, PAWL_EQ, text);
}

void op_where_int(struct op_query *query, const char *column, enum pawl_compare compare,
                  int64_t value)
{
    add_condition(query, column, compare)->value.integer = value;
}

void op_where_outside(struct op_query *query, const char *column, int64_t from, int64_t to)
{
    struct pawl_condition *condition = add_condition(query, column, PAWL_LT);

    condition->value.integer = from;
    condition->any = ++query->any;
    condition = add_condition(query, column, PAWL_GE);
    condition->value.integer = to;
    condition->any = query->any;
}

int op_where_in(const struct pawl_op *op, struct op_query *query, const char *column,
                const struct pawl_str *texts, size_t count)
{
    struct pawl_condition *condition;
    struct pawl_datum *values;

    if (count > PAWL_STORE_VALUES_MAX)
        return pawl__error_set(op->err, PAWL_EINVAL, "at most %d values at a time, not %zu",
                               PAWL_STORE_VALUES_MAX, count);
    values = pawl__arena_alloc_array(op->arena, count + 1, sizeof *values);
    if (!values)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    for (size_t i = 0; i < count; i++)
        values[i] = (struct pawl_datum){.text = texts[i]};
    condition = add_condition(query, column, PAWL_IN);
    condition->values = values;
    condition->value_count = count;
    return PAWL_OK;
}

void op_where_contains(struct op_query *query, const char *const *columns, struct pawl_str text)
{
    query->any++;
    for (size_t i = 0; columns[i]; i++) {
        struct pawl_condition *condition = add_condition(query, columns[i], PAWL_CONTAINS);

        condition->value.text = text;
        condition->any = query->any;
    }
}

/* ---- cursors -------------------------------------------------------------------------------- */

/* Columns whose values say where a row stands: that of the order, then those of the key. */
static size_t position_count(const struct op_query *query)
{
    return 1 + pawl_table_info(query->query.table)->key_count;
}

static const struct pawl_column *position_column(const struct op_query *query, size_t i)
{
    const struct pawl_table_info *info = pawl_table_info(query->query.table);

    return &info->columns[i == 0 ? query->query.order : i - 1];
}

static void write_position(struct pawl_json_writer *writer, const struct op_query *query,
                           const char *row)
{
    for (size_t i = 0; i < position_count(query); i++) {
        const struct pawl_column *column = position_column(query, i);

        if (column->type == PAWL_COLUMN_INT)
            pawl__json_write_int(writer, *(const int64_t *)(const void *)(row + column->offset));
        else
            pawl__json_write_string(writer,
                                    *(const struct pawl_str *)(const void *)(row + column->offset));
    }
}

static int write_cursor(const struct pawl_op *op, const struct op_query *query, const void *row,
                        struct pawl_str *out)
{
    struct pawl_json_writer writer;
    struct pawl_buf json;
    char *text = NULL;
    int status;

    pawl__buf_init(&json, &op_env(op)->alloc, CURSOR_BYTES_MAX);
    pawl__json_writer_init(&writer, &json, PAWL_JSON_ESCAPE_MINIMAL, 0);
    pawl__json_write_begin_array(&writer);
    pawl__json_write_int(&writer, query->query.table);
    pawl__json_write_int(&writer, query->query.order);
    pawl__json_write_bool(&writer, query->query.flags & PAWL_QUERY_DESCENDING);
    write_position(&writer, query, row);
    pawl__json_write_end_array(&writer);
    status = json.status;
    if (status == PAWL_OK) {
        struct pawl_str bytes = pawl__buf_peek(&json);
        size_t len = pawl__base64_len(bytes.len);

        text = pawl__arena_alloc(op->arena, len + 1);
        if (text) {
            pawl__base64_encode((const unsigned char *)bytes.ptr, bytes.len, text);
            text[len] = '\0';
            *out = pawl__str_make(text, len);
        } else {
            status = pawl__arena_status(op->arena);
        }
    }
    pawl__buf_release(&json);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(op->err, status);
}

static bool read_position(const struct op_query *query, const struct pawl_json *cursor, char *row)
{
    for (size_t i = 0; i < position_count(query); i++) {
        const struct pawl_column *column = position_column(query, i);
        const struct pawl_json *value = pawl__json_at(cursor, (uint32_t)i + 3);

        if (column->type == PAWL_COLUMN_INT) {
            if (!pawl__json_to_int(value, (int64_t *)(void *)(row + column->offset)))
                return false;
        } else if (pawl__json_is(value, PAWL_JSON_STRING)) {
            *(struct pawl_str *)(void *)(row + column->offset) = pawl__json_str(value);
        } else {
            return false;
        }
    }
    return true;
}

static bool is_of_this_list(const struct op_query *query, const struct pawl_json *cursor)
{
    int64_t table = -1, order = -1;

    return pawl__json_len(cursor) == 3 + position_count(query) &&
           pawl__json_to_int(pawl__json_at(cursor, 0), &table) &&
           pawl__json_to_int(pawl__json_at(cursor, 1), &order) &&
           table == (int64_t)query->query.table && order == (int64_t)query->query.order &&
           pawl__json_true(pawl__json_at(cursor, 2)) ==
               ((query->query.flags & PAWL_QUERY_DESCENDING) != 0);
}

static int read_cursor(const struct pawl_op *op, struct op_query *query, struct pawl_str text)
{
    const struct pawl_table_info *info = pawl_table_info(query->query.table);
    struct pawl_json cursor;
    unsigned char *bytes;
    char *row;
    size_t len;

    bytes = pawl__arena_alloc(op->arena, text.len + 1);
    row = pawl__arena_alloc_zeroed(op->arena, info->row_size);
    if (!bytes || !row)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    len = text.len <= CURSOR_BYTES_MAX ? pawl__base64_decode(text, bytes) : SIZE_MAX;
    if (len == SIZE_MAX ||
        pawl__json_parse(op->arena, pawl__str_make((const char *)bytes, len), NULL, &cursor, NULL,
                         NULL) != PAWL_OK ||
        !pawl__json_is(&cursor, PAWL_JSON_ARRAY) || !is_of_this_list(query, &cursor) ||
        !read_position(query, &cursor, row))
        return pawl__error_set(op->err, PAWL_EINVAL,
                               "'after' is not from a page of this list in this order: use "
                               "what the previous page returned");
    query->query.after = row;
    return PAWL_OK;
}

/* ---- asking --------------------------------------------------------------------------------- */

static int check_conditions(const struct pawl_op *op, const struct op_query *query)
{
    if (query->query.condition_count <= PAWL_STORE_CONDITIONS_MAX)
        return PAWL_OK;
    return pawl__error_set(op->err, PAWL_EINVAL,
                           "too many conditions: a query has at most %d of them",
                           PAWL_STORE_CONDITIONS_MAX);
}

static int ask(const struct pawl_op *op, struct op_query *query, struct pawl_rows *rows)
{
    int status = check_conditions(op, query);

    if (status != PAWL_OK)
        return status;
    query->query.conditions = query->conditions;
    return pawl_store_find(op_store(op), &query->query, op->arena, rows, op->deadline_ns, op->err);
}

static int set_page(const struct pawl_op *op, struct op_query *query,
                    const struct pawl_page_request *request)
{
    struct pawl_query *to = &query->query;

    if (request->limit > PAWL_PAGE_ROWS_MAX)
        return pawl__error_set(op->err, PAWL_EINVAL, "a page has at most %u rows, not %u",
                               PAWL_PAGE_ROWS_MAX, request->limit);
    to->limit = request->limit > 0 ? request->limit : PAWL_PAGE_ROWS_DEFAULT;
    to->offset = request->offset;
    to->scan_limit = request->scan_limit;
    if (query->descending != request->reversed)
        to->flags |= PAWL_QUERY_DESCENDING;
    if (request->total_only)
        to->flags |= PAWL_QUERY_COUNT;
    else if (request->with_total)
        to->flags |= PAWL_QUERY_TOTAL;
    return request->after.len > 0 ? read_cursor(op, query, request->after) : PAWL_OK;
}

int op_find_page(const struct pawl_op *op, struct op_query *query,
                 const struct pawl_page_request *request, struct pawl_rows *rows,
                 struct pawl_page *page)
{
    const struct pawl_table_info *info = pawl_table_info(query->query.table);
    struct pawl_page found = {.next = pawl__str("")};
    struct pawl_rows asked = {0};
    int status = set_page(op, query, request);

    if (status == PAWL_OK)
        status = ask(op, query, &asked);
    if (status != PAWL_OK)
        return status;
    found.total = asked.total;
    found.is_cut = asked.cut;
    if (asked.count == query->query.limit && !request->total_only)
        status = write_cursor(
            op, query, (const char *)asked.rows + (asked.count - 1) * info->row_size, &found.next);
    if (status == PAWL_OK) {
        *rows = asked;
        *page = found;
    }
    return status;
}

int op_find_all(const struct pawl_op *op, struct op_query *query, uint32_t limit,
                struct pawl_rows *rows)
{
    query->query.limit = limit > 0 ? limit : PAWL_STORE_ROWS_MAX;
    if (query->descending)
        query->query.flags |= PAWL_QUERY_DESCENDING;
    return ask(op, query, rows);
}

int op_count(const struct pawl_op *op, struct op_query *query, uint64_t *count)
{
    struct pawl_rows rows;
    int status;

    query->query.flags |= PAWL_QUERY_COUNT;
    status = ask(op, query, &rows);
    if (status == PAWL_OK)
        *count = rows.total;
    return status;
}
