/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct pawl_query as SQL: conditions, order, paging, totals.
 *
 * Values are parameters, never text. What a condition implies of a partial index's predicate
 * (a due time that is not "never", an instance that is not "") is said in so many words beside it,
 * or no database would use that index.
 */
#include "base/error.h"
#include "stores/sql_text.h"

#include <pawl/ext/store.h>

/* Conditions with 1,000 values each, the row to go on from, limit and offset. */
#define VALUES_MAX ((size_t)PAWL_STORE_CONDITIONS_MAX * PAWL_STORE_VALUES_MAX + 8)
/* ", ?32000" for each, and the rest. */
#define TEXT_MAX (VALUES_MAX * 8 + PAWL_SQL_TEXT_MAX)

struct writer {
    enum pawl_sql_dialect dialect;
    const struct pawl_query *query;
    const struct pawl_table_info *info;
    struct pawl_arena *arena;
    struct pawl_buf text;
    struct pawl_sql_value *values;
    uint32_t count, room;
    int status;
};

static void add_value(struct writer *w, enum pawl_column_type type, struct pawl_str text,
                      int64_t integer)
{
    struct pawl_sql_value value = {type, text, integer};

    PAWL_ASSERT(w->count < w->room);
    if (type == PAWL_COLUMN_TEXT)
        value.text = pawl__sql_clean(text, w->arena);
    if (!value.text.ptr && value.text.len == 0 && type != PAWL_COLUMN_TEXT)
        value.text.ptr = "";
    if (!value.text.ptr)
        w->status = pawl__arena_status(w->arena);
    w->values[w->count++] = value;
    pawl__buf_byte(&w->text, w->dialect == PAWL_SQL_SQLITE ? '?' : '$');
    pawl__buf_int(&w->text, w->count);
}

static void add_datum(struct writer *w, uint32_t column, const struct pawl_datum *datum)
{
    add_value(w, w->info->columns[column].type, datum->text, datum->integer);
}

/* Of a row of the query's table. */
static void add_of_row(struct writer *w, uint32_t column, const void *row)
{
    const struct pawl_column *c = &w->info->columns[column];
    const char *from = (const char *)row + c->offset;
    struct pawl_str text = {"", 0};
    int64_t integer = 0;

    if (c->type == PAWL_COLUMN_INT)
        memcpy(&integer, from, sizeof integer);
    else
        memcpy(&text, from, sizeof text);
    add_value(w, c->type, text, integer);
}

static const char *const operators[] = {
    [PAWL_EQ] = " = ",  [PAWL_NE] = " <> ", [PAWL_LT] = " < ",
    [PAWL_LE] = " <= ", [PAWL_GT] = " > ",  [PAWL_GE] = " >= ",
};

static void write_in(struct writer *w, const struct pawl_condition *condition)
{
    if (condition->value_count == 0) {
        pawl__buf_text(&w->text, "1 = 0");
        return;
    }
    pawl__buf_printf(&w->text, "%s IN (", w->info->columns[condition->column].name);
    for (size_t i = 0; i < condition->value_count; i++) {
        pawl__buf_text(&w->text, i > 0 ? ", " : "");
        add_datum(w, condition->column, &condition->values[i]);
    }
    pawl__buf_byte(&w->text, ')');
}

/* Both databases' lower() changes ASCII letters alone: SQLite's always, PostgreSQL's by "C". */
static void write_contains(struct writer *w, const struct pawl_condition *condition)
{
    struct pawl_str needle = condition->value.text;
    char *low = pawl__arena_alloc_aligned(w->arena, needle.len + 1, 1);

    if (!low) {
        w->status = pawl__arena_status(w->arena);
        return;
    }
    for (size_t i = 0; i < needle.len; i++) {
        char c = needle.ptr[i];

        low[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    pawl__buf_printf(&w->text, "%s(lower(%s), ", w->dialect == PAWL_SQL_SQLITE ? "instr" : "strpos",
                     w->info->columns[condition->column].name);
    add_value(w, PAWL_COLUMN_TEXT, pawl__str_make(low, needle.len), 0);
    pawl__buf_text(&w->text, ") > 0");
}

/* The predicates of partial indexes (sql_schema.c), where this condition alone implies them. */
static const char *implied(const struct writer *w, const struct pawl_condition *condition)
{
    const struct pawl_column *c = &w->info->columns[condition->column];
    int64_t n = condition->value.integer;
    enum pawl_compare compare = condition->compare;
    bool until = (compare == PAWL_LT) ||
                 ((compare == PAWL_LE || compare == PAWL_EQ) && n != PAWL_TIME_NEVER);

    if (condition->any != 0)
        return NULL;
    if (strcmp(c->name, "instance_id") == 0 && compare == PAWL_EQ && condition->value.text.len > 0)
        return "instance_id <> ''";
    if (strcmp(c->name, "correlation_id") == 0 && compare == PAWL_EQ &&
        condition->value.text.len > 0)
        return "correlation_id <> ''";
    if (strcmp(c->name, "parent_id") == 0 && compare == PAWL_EQ && condition->value.text.len > 0)
        return "parent_id <> ''";
    if (strcmp(c->name, "due_us") == 0 && until)
        return "due_us < " PAWL_SQL_NEVER;
    if (strcmp(c->name, "due_us") == 0 && compare == PAWL_EQ)
        return "due_us = " PAWL_SQL_NEVER;
    if (strcmp(c->name, "expires_us") == 0 && until)
        return "expires_us < " PAWL_SQL_NEVER;
    if ((compare == PAWL_EQ && n != 0) || (compare == PAWL_NE && n == 0)) {
        if (strcmp(c->name, "owner") == 0 && w->query->table == PAWL_TABLE_INSTANCES)
            return "owner <> 0";
        if (strcmp(c->name, "runnable") == 0)
            return "runnable <> 0";
    }
    return NULL;
}

/*
 * An instance has few rows in any table, and its name says the most; what else must be equal (the
 * hash of an event that a million wait for) is then not what PostgreSQL may look rows up by. It
 * does not know that by itself before it has statistics.
 */
static bool names_instance(const struct writer *w)
{
    for (size_t i = 0; i < w->query->condition_count; i++) {
        const struct pawl_condition *c = &w->query->conditions[i];

        if (c->compare == PAWL_EQ && c->any == 0 && c->value.text.len > 0 &&
            strcmp(w->info->columns[c->column].name, "instance_id") == 0)
            return true;
    }
    return false;
}

static const char *operator_of(const struct writer *w, const struct pawl_condition *condition)
{
    const char *name = w->info->columns[condition->column].name;
    bool finds = condition->column < w->info->key_count || strcmp(name, "instance_id") == 0;

    if (w->dialect == PAWL_SQL_POSTGRES && condition->compare == PAWL_EQ && !finds &&
        names_instance(w))
        return " " PAWL_SQL_IS_POSTGRES " ";
    return operators[condition->compare];
}

static void write_condition(struct writer *w, const struct pawl_condition *condition)
{
    const char *also = implied(w, condition);

    if (condition->compare == PAWL_IN) {
        write_in(w, condition);
    } else if (condition->compare == PAWL_CONTAINS) {
        write_contains(w, condition);
    } else {
        pawl__buf_text(&w->text, w->info->columns[condition->column].name);
        pawl__buf_text(&w->text, operator_of(w, condition));
        add_datum(w, condition->column, &condition->value);
    }
    if (also)
        pawl__buf_printf(&w->text, " AND %s", also);
}

static void write_where(struct writer *w)
{
    const struct pawl_condition *c = w->query->conditions;
    size_t count = w->query->condition_count;

    pawl__buf_printf(&w->text, " FROM %s WHERE %s", pawl__sql_table_name(w->query->table),
                     w->dialect == PAWL_SQL_SQLITE ? PAWL_SQL_TENANT_SQLITE
                                                   : PAWL_SQL_TENANT_POSTGRES);
    for (size_t i = 0; i < count; i++) {
        bool open = c[i].any != 0 && (i == 0 || c[i - 1].any != c[i].any);
        bool further = c[i].any != 0 && !open;
        bool shut = c[i].any != 0 && (i + 1 == count || c[i + 1].any != c[i].any);

        pawl__buf_text(&w->text, further ? " OR " : " AND ");
        pawl__buf_text(&w->text, open ? "(" : "");
        write_condition(w, &c[i]);
        pawl__buf_text(&w->text, shut ? ")" : "");
    }
}

/* The order's columns, with what is written of each: its name, a parameter, a direction. */
enum part { NAMES, DIRECTIONS, PARAMETERS };

static void write_order(struct writer *w, enum part part)
{
    uint32_t order = w->query->order;
    const char *between = "";

    for (uint32_t i = 0; i <= w->info->key_count; i++) {
        uint32_t column = i == 0 ? order : i - 1;

        /* The key's own columns need not stand twice. */
        if ((i == 0 && order == 0) || (i > 0 && column == order && order != 0))
            continue;
        pawl__buf_text(&w->text, between);
        between = ", ";
        if (part == PARAMETERS)
            add_of_row(w, column, w->query->after);
        else
            pawl__buf_text(&w->text, w->info->columns[column].name);
        if (part == DIRECTIONS && (w->query->flags & PAWL_QUERY_DESCENDING))
            pawl__buf_text(&w->text, " DESC");
    }
}

static void write_page(struct writer *w)
{
    const struct pawl_query *query = w->query;

    if (query->after) {
        pawl__buf_text(&w->text, " AND (");
        write_order(w, NAMES);
        pawl__buf_text(&w->text, query->flags & PAWL_QUERY_DESCENDING ? ") < (" : ") > (");
        write_order(w, PARAMETERS);
        pawl__buf_byte(&w->text, ')');
    }
    pawl__buf_text(&w->text, " ORDER BY ");
    write_order(w, DIRECTIONS);
    pawl__buf_text(&w->text, " LIMIT ");
    add_value(w, PAWL_COLUMN_INT, pawl__str(""),
              query->limit ? query->limit : PAWL_STORE_ROWS_DEFAULT);
    if (query->offset > 0) {
        pawl__buf_text(&w->text, " OFFSET ");
        add_value(w, PAWL_COLUMN_INT, pawl__str(""),
                  query->offset > INT64_MAX ? INT64_MAX : (int64_t)query->offset);
    }
}

static uint64_t columns_of(const struct pawl_query *query, const struct pawl_table_info *info)
{
    uint64_t columns = 0;

    for (uint32_t i = 0; i < info->column_count; i++)
        if (!(query->flags & PAWL_QUERY_BRIEF) || info->columns[i].type != PAWL_COLUMN_BYTES)
            columns |= (uint64_t)1 << i;
    return columns;
}

static void write_select(struct writer *w, uint64_t columns)
{
    const char *between = "";

    pawl__buf_text(&w->text, "SELECT ");
    for (uint32_t i = 0; i < w->info->column_count; i++)
        if (columns >> i & 1) {
            pawl__buf_printf(&w->text, "%s%s", between, w->info->columns[i].name);
            between = ", ";
        }
}

static int check_query(const struct pawl_query *query, size_t *values, struct pawl_error *err)
{
    const struct pawl_table_info *info;

    if ((unsigned)query->table >= PAWL_TABLE_COUNT)
        return pawl__error_set(err, PAWL_EINVAL, "query: there is no table %d", (int)query->table);
    info = pawl_table_info(query->table);
    if (query->condition_count > PAWL_STORE_CONDITIONS_MAX)
        return pawl__error_set(err, PAWL_ELIMIT, "query on %s: %zu conditions; at most %d",
                               info->name, query->condition_count, PAWL_STORE_CONDITIONS_MAX);
    if (query->limit > PAWL_STORE_ROWS_MAX)
        return pawl__error_set(err, PAWL_ELIMIT,
                               "query on %s: %u rows at once; ask for at most %d and go on behind "
                               "the last",
                               info->name, (unsigned)query->limit, PAWL_STORE_ROWS_MAX);
    if (query->order >= info->column_count)
        return pawl__error_set(err, PAWL_EINVAL, "query on %s: no column %u to order by",
                               info->name, (unsigned)query->order);
    *values = (size_t)info->key_count + 4;
    for (size_t i = 0; i < query->condition_count; i++) {
        const struct pawl_condition *c = &query->conditions[i];

        if (c->column >= info->column_count || (unsigned)c->compare > PAWL_CONTAINS)
            return pawl__error_set(err, PAWL_EINVAL,
                                   "query on %s: condition %zu has no such column or comparison",
                                   info->name, i);
        if (c->compare == PAWL_IN && c->value_count > PAWL_STORE_VALUES_MAX)
            return pawl__error_set(err, PAWL_ELIMIT, "query on %s: %zu values for %s; at most %d",
                                   info->name, c->value_count, info->columns[c->column].name,
                                   PAWL_STORE_VALUES_MAX);
        if (c->compare == PAWL_CONTAINS && info->columns[c->column].type != PAWL_COLUMN_TEXT)
            return pawl__error_set(err, PAWL_EINVAL, "query on %s: %s is not text to search in",
                                   info->name, info->columns[c->column].name);
        *values += c->compare == PAWL_IN ? c->value_count : 1;
    }
    return PAWL_OK;
}

/* The text as it stands, into the arena. */
static const char *kept(struct writer *w)
{
    struct pawl_str text = {NULL, 0};

    if (w->status == PAWL_OK)
        w->status = w->text.status;
    if (w->status == PAWL_OK) {
        text = pawl__arena_str(w->arena, pawl__buf_peek(&w->text));
        if (!text.ptr)
            w->status = pawl__arena_status(w->arena);
    }
    return text.ptr;
}

int pawl__sql_query(enum pawl_sql_dialect dialect, const struct pawl_query *query,
                    struct pawl_arena *arena, struct pawl_sql_select *out, struct pawl_error *err)
{
    struct pawl_sql_select made = {0};
    struct writer w = {.dialect = dialect, .query = query, .arena = arena};
    size_t room = 0;
    int status = check_query(query, &room, err);

    if (status != PAWL_OK)
        return status;
    PAWL_ASSERT(room <= VALUES_MAX);
    w.info = pawl_table_info(query->table);
    w.room = (uint32_t)room;
    w.values = pawl__arena_alloc_array(arena, room, sizeof *w.values);
    if (!w.values)
        return pawl__error_code(err, pawl__arena_status(arena));
    pawl__buf_init(&w.text, arena->alloc, TEXT_MAX);
    made.table = query->table;
    if (query->flags & (PAWL_QUERY_COUNT | PAWL_QUERY_TOTAL)) {
        pawl__buf_text(&w.text, "SELECT count(*)");
        write_where(&w);
        made.count_text = kept(&w);
        made.count_value_count = w.count;
        w.count = 0;
        pawl__buf_clear(&w.text);
    }
    if (!(query->flags & PAWL_QUERY_COUNT)) {
        made.columns = columns_of(query, w.info);
        write_select(&w, made.columns);
        write_where(&w);
        write_page(&w);
        made.text = kept(&w);
        made.value_count = w.count;
    }
    made.values = w.values;
    pawl__buf_release(&w.text);
    if (w.status != PAWL_OK)
        return pawl__error_code(err, w.status);
    *out = made;
    return PAWL_OK;
}
