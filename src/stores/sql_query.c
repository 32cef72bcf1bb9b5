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

/* Conditions with 1,000 values each; rows to go on from, limits, offset. */
#define VALUES_MAX ((size_t)PAWL_STORE_CONDITIONS_MAX * PAWL_STORE_VALUES_MAX + 64)
/* ", ?32000" for each, in up to three arms of a page, and the rest. */
#define TEXT_MAX (3 * (VALUES_MAX * 8 + PAWL_SQL_TEXT_MAX))

/* Entries of an index are counted so many times as fast as rows are looked at. */
#define BY_INDEX 10u

struct writer {
    enum pawl_sql_dialect dialect;
    const struct pawl_query *query;
    const struct pawl_table_info *info;
    struct pawl_arena *arena;
    struct pawl_buf text;
    struct pawl_sql_value *values;
    uint32_t count, room;
    size_t lead;                               /* the condition that rows are found by */
    uint32_t ordered_by;                       /* the column in whose order they are found */
    uint32_t first[PAWL_STORE_CONDITIONS_MAX]; /* of its values; 0: not written yet */
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

/* A value of a condition, the n-th: one that was written before, in another arm, is named again. */
static void add_datum(struct writer *w, const struct pawl_condition *condition, uint32_t n,
                      struct pawl_datum datum)
{
    uint32_t *first = &w->first[condition - w->query->conditions];

    if (*first > 0 && *first + n <= w->count) {
        pawl__buf_byte(&w->text, w->dialect == PAWL_SQL_SQLITE ? '?' : '$');
        pawl__buf_int(&w->text, *first + n);
        return;
    }
    if (*first == 0)
        *first = w->count + 1;
    add_value(w, w->info->columns[condition->column].type, datum.text, datum.integer);
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
        add_datum(w, condition, (uint32_t)i, condition->values[i]);
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
    add_datum(w, condition, 0, (struct pawl_datum){.text = pawl__str_make(low, needle.len)});
    pawl__buf_text(&w->text, ") > 0");
}

/* The predicates of partial indexes (sql_schema.c) that a comparison of one column implies. */
enum implying {
    NOT_EMPTY,    /* equal to a text that is not "" */
    UNTIL,        /* before the largest time */
    NEVER,        /* the largest time */
    NOT_ZERO,     /* equal to a number that is not 0, not equal to 0, or greater */
    NOT_FINISHED, /* equal to a text that is not "Finished" */
    ZERO,         /* equal to 0 */
};

static const struct {
    enum implying by;
    const char *column;
    const char *predicate;
    enum pawl_table table; /* PAWL_TABLE_COUNT: whichever */
} predicates[] = {
    {NOT_EMPTY, "instance_id", "instance_id <> ''", PAWL_TABLE_COUNT},
    {NOT_EMPTY, "correlation_id", "correlation_id <> ''", PAWL_TABLE_COUNT},
    {NOT_EMPTY, "parent_id", "parent_id <> ''", PAWL_TABLE_COUNT},
    {NOT_EMPTY, "name", "name <> ''", PAWL_TABLE_INSTANCES},
    {NOT_EMPTY, "target", "target <> ''", PAWL_TABLE_AUDIT},
    {NOT_EMPTY, "lookup", "lookup <> ''", PAWL_TABLE_DOCUMENTS},
    {UNTIL, "due_us", "due_us < " PAWL_SQL_NEVER, PAWL_TABLE_COUNT},
    {NEVER, "due_us", "due_us = " PAWL_SQL_NEVER, PAWL_TABLE_COUNT},
    {UNTIL, "expires_us", "expires_us < " PAWL_SQL_NEVER, PAWL_TABLE_COUNT},
    {NOT_ZERO, "owner", "owner <> 0", PAWL_TABLE_INSTANCES},
    {NOT_ZERO, "runnable", "runnable <> 0", PAWL_TABLE_INSTANCES},
    {NOT_ZERO, "incident_count", "incident_count <> 0", PAWL_TABLE_INSTANCES},
    {NOT_ZERO, "finished_us", "finished_us <> 0", PAWL_TABLE_INSTANCES},
    {NOT_ZERO, "id_hash", "id_hash <> 0", PAWL_TABLE_INSTANCES},
    {NOT_ZERO, "retry_us", "retry_us <> 0", PAWL_TABLE_INSTANCES},
    {NOT_ZERO, "is_latest", "is_latest <> 0", PAWL_TABLE_DEFINITIONS},
    {NOT_ZERO, "source", "source <> 0", PAWL_TABLE_STATISTICS},
    {NOT_FINISHED, "sub_status", "sub_status <> 'Finished'", PAWL_TABLE_INSTANCES},
    {ZERO, "replayed_us", "replayed_us = 0", PAWL_TABLE_DEAD_LETTERS},
};

static bool implies(const struct pawl_condition *condition, enum implying by)
{
    enum pawl_compare compare = condition->compare;
    struct pawl_str text = condition->value.text;
    int64_t n = condition->value.integer;

    switch (by) {
    case NOT_EMPTY:
        return compare == PAWL_EQ && text.len > 0;
    case UNTIL:
        return compare == PAWL_LT ||
               ((compare == PAWL_LE || compare == PAWL_EQ) && n != PAWL_TIME_NEVER);
    case NEVER:
        return compare == PAWL_EQ && n == PAWL_TIME_NEVER;
    case NOT_ZERO:
        return (compare == PAWL_EQ && n != 0) || (compare == PAWL_NE && n == 0) ||
               (compare == PAWL_GT && n >= 0) || (compare == PAWL_GE && n > 0);
    case NOT_FINISHED:
        return compare == PAWL_EQ && !pawl__str_is(text, "Finished");
    case ZERO:
        return compare == PAWL_EQ && n == 0;
    }
    return false;
}

static const char *implied(const struct writer *w, const struct pawl_condition *condition)
{
    const char *name = w->info->columns[condition->column].name;

    for (size_t i = 0; i < sizeof predicates / sizeof predicates[0] && condition->any == 0; i++)
        if (strcmp(name, predicates[i].column) == 0 &&
            (predicates[i].table == PAWL_TABLE_COUNT || predicates[i].table == w->query->table) &&
            implies(condition, predicates[i].by))
            return predicates[i].predicate;
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

    if (also && condition->compare == PAWL_NE) { /* the same */
        pawl__buf_text(&w->text, also);
        return;
    }
    if (condition->compare == PAWL_IN) {
        write_in(w, condition);
    } else if (condition->compare == PAWL_CONTAINS) {
        write_contains(w, condition);
    } else {
        pawl__buf_text(&w->text, w->info->columns[condition->column].name);
        pawl__buf_text(&w->text, operator_of(w, condition));
        add_datum(w, condition, 0, condition->value);
    }
    if (also)
        pawl__buf_printf(&w->text, " AND %s", also);
}

/* ---- what an index serves, and what needs a scan of rows ----------------------------------- */

/*
 * Of instances, what leads an index: the first of a query's conditions in this order is the one
 * that rows are found by. FEW: few rows have the same value, in whatever order they are wanted.
 * IN_ORDER: the index goes on by created_us. RARE: an index of those alone that are not 0 does.
 */
static const struct {
    const char *column;
    enum { FEW, IN_ORDER, RARE } how;
} leads[] = {
    {"id", FEW},
    {"id_hash", FEW},
    {"correlation_id", FEW},
    {"parent_id", FEW},
    {"name", FEW},
    {"incident_count", RARE},
    {"retry_us", RARE},
    {"definition_id", IN_ORDER},
    {"sub_status", IN_ORDER},
    {"status", IN_ORDER},
};

static bool can_lead(const struct writer *w, const struct pawl_condition *c, size_t lead,
                     bool by_created)
{
    if (c->any != 0 || strcmp(w->info->columns[c->column].name, leads[lead].column) != 0)
        return false;
    if (leads[lead].how == FEW)
        return c->compare == PAWL_IN ||
               (c->compare == PAWL_EQ && (implies(c, NOT_EMPTY) || implies(c, NOT_ZERO)));
    if (leads[lead].how == RARE)
        return implies(c, NOT_ZERO) && by_created;
    /* The index has not what has simply ended. */
    if (strcmp(leads[lead].column, "sub_status") == 0 && !implies(c, NOT_FINISHED))
        return false;
    return c->compare == PAWL_EQ && by_created;
}

/* The number of the condition that rows are found by; condition_count: none. */
static size_t find_lead(const struct writer *w, bool by_created)
{
    const struct pawl_query *query = w->query;

    if (query->table != PAWL_TABLE_INSTANCES)
        return query->condition_count;
    for (size_t lead = 0; lead < sizeof leads / sizeof leads[0]; lead++)
        for (size_t i = 0; i < query->condition_count; i++)
            if (can_lead(w, &query->conditions[i], lead, by_created))
                return i;
    return query->condition_count;
}

/* How rows are found for the total, or for a page. */
static void set_way(struct writer *w, bool for_total)
{
    bool instances = w->query->table == PAWL_TABLE_INSTANCES;
    uint32_t created = instances ? pawl_table_column(PAWL_TABLE_INSTANCES, "created_us") : 0;

    w->ordered_by = for_total && instances ? created : w->query->order;
    w->lead = find_lead(w, instances && w->ordered_by == created);
}

/* A range of what the rows are ordered by is where the index is entered and left. */
static bool bounds_order(const struct writer *w, const struct pawl_condition *c)
{
    return c->any == 0 && c->column == w->ordered_by && c->compare != PAWL_CONTAINS &&
           c->compare != PAWL_IN && c->compare != PAWL_NE;
}

/* Which conditions are looked at row by row, when only so many rows may be. Of tables other than
 * instances, only searches in text: there are not so many rows. */
static bool is_looked_at(const struct writer *w, size_t i)
{
    const struct pawl_condition *c = &w->query->conditions[i];

    if (w->query->scan_limit == 0)
        return false;
    if (w->query->table == PAWL_TABLE_INSTANCES)
        return i != w->lead && !bounds_order(w, c);
    return c->any != 0 || c->compare == PAWL_CONTAINS;
}

static bool looks_at_rows(const struct writer *w)
{
    for (size_t i = 0; i < w->query->condition_count; i++)
        if (is_looked_at(w, i))
            return true;
    return false;
}

/* The conditions that are looked at, or the others; each behind an AND, or behind `first`. */
static void write_conditions(struct writer *w, bool looked_at, const char *first)
{
    const struct pawl_condition *c = w->query->conditions;
    size_t count = w->query->condition_count;

    for (size_t i = 0; i < count; i++) {
        bool open = c[i].any != 0 && (i == 0 || c[i - 1].any != c[i].any);
        bool further = c[i].any != 0 && !open;
        bool shut = c[i].any != 0 && (i + 1 == count || c[i + 1].any != c[i].any);

        if (is_looked_at(w, i) != looked_at)
            continue;
        pawl__buf_text(&w->text, further ? " OR " : first);
        pawl__buf_text(&w->text, open ? "(" : "");
        write_condition(w, &c[i]);
        pawl__buf_text(&w->text, shut ? ")" : "");
        first = " AND ";
    }
}

/* From the table, by all conditions that are not looked at row by row. */
static void write_where(struct writer *w)
{
    pawl__buf_printf(&w->text, " FROM %s WHERE %s", pawl__sql_table_name(w->query->table),
                     w->dialect == PAWL_SQL_SQLITE ? PAWL_SQL_TENANT_SQLITE
                                                   : PAWL_SQL_TENANT_POSTGRES);
    write_conditions(w, false, " AND ");
}

/* The order's columns, with what is written of each: its name, a parameter, a direction. */
enum part { NAMES, DIRECTIONS, PARAMETERS };

static void write_order(struct writer *w, enum part part, bool key_only)
{
    uint32_t order = w->query->order;
    const char *between = "";

    for (uint32_t i = 0; i <= w->info->key_count; i++) {
        uint32_t column = i == 0 ? order : i - 1;

        /* The key's own columns need not stand twice. */
        if ((i == 0 && (order == 0 || key_only)) || (i > 0 && column == order && order != 0))
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

uint64_t pawl__sql_columns(enum pawl_table table, bool brief)
{
    const struct pawl_table_info *info = pawl_table_info(table);
    uint64_t columns = 0;

    for (uint32_t i = 0; i < info->column_count; i++)
        if (!brief || info->columns[i].type != PAWL_COLUMN_BYTES)
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

/* ---- pages ------------------------------------------------------------------------------- */

/*
 * Orders of which the most common value has no index: instances by name, of which most have none,
 * and by the time of their end. The rows with that value come in the order of the key, those below
 * and above in the order of the index; one behind the other, each only as far as the page goes.
 */
static const char *sparse_order(const struct writer *w)
{
    const char *name = w->info->columns[w->query->order].name;

    if (w->query->table != PAWL_TABLE_INSTANCES)
        return NULL;
    if (strcmp(name, "name") == 0)
        return "''";
    return strcmp(name, "finished_us") == 0 ? "0" : NULL;
}

/* Which rows of a sparse order. */
enum arm { ALL_ROWS, BELOW, SAME, ABOVE };

/* Less than 0, 0, more: how the value without an index compares with that of `after`. */
static int compare_sparse(const struct writer *w)
{
    const struct pawl_column *c = &w->info->columns[w->query->order];
    const char *at = (const char *)w->query->after + c->offset;
    struct pawl_str text;
    int64_t n;

    if (c->type == PAWL_COLUMN_INT) {
        memcpy(&n, at, sizeof n);
        return (n < 0) - (n > 0);
    }
    memcpy(&text, at, sizeof text);
    return text.len > 0 ? -1 : 0;
}

/* Whether a condition says that the value is another one. */
static bool excludes_sparse(const struct writer *w)
{
    bool is_text = w->info->columns[w->query->order].type == PAWL_COLUMN_TEXT;

    for (size_t i = 0; i < w->query->condition_count; i++) {
        const struct pawl_condition *c = &w->query->conditions[i];

        if (c->any == 0 && c->column == w->query->order &&
            implies(c, is_text ? NOT_EMPTY : NOT_ZERO))
            return true;
    }
    return false;
}

/* Whether there are rows of the arm, and they come behind `after`. */
static bool has_arm(const struct writer *w, enum arm arm)
{
    bool down = (w->query->flags & PAWL_QUERY_DESCENDING) != 0;
    int same = w->query->after ? compare_sparse(w) : 0;

    if (arm == BELOW && w->info->columns[w->query->order].type == PAWL_COLUMN_TEXT)
        return false; /* nothing is less than "" */
    if (arm == SAME && excludes_sparse(w))
        return false;
    if (!w->query->after)
        return true;
    if (arm == SAME)
        return down ? same <= 0 : same >= 0;
    /* The arms that come before the one that `after` is in. */
    if (arm == BELOW)
        return down || same > 0;
    return !down || same < 0;
}

static void write_arm_condition(struct writer *w, enum arm arm, const char *and)
{
    const char *name = w->info->columns[w->query->order].name, *value = sparse_order(w);

    if (arm == SAME)
        pawl__buf_printf(&w->text, "%s%s = %s", and, name, value);
    else if (arm != ALL_ROWS)
        pawl__buf_printf(&w->text, "%s%s <> %s AND %s %s %s", and, name, value, name,
                         arm == BELOW ? "<" : ">", value);
}

/* What comes after the row, and the order. */
static void write_position(struct writer *w, enum arm arm)
{
    const struct pawl_query *query = w->query;
    bool down = (query->flags & PAWL_QUERY_DESCENDING) != 0;

    if (query->after && (arm != SAME || compare_sparse(w) == 0)) {
        pawl__buf_text(&w->text, " AND (");
        write_order(w, NAMES, arm == SAME);
        pawl__buf_text(&w->text, down ? ") < (" : ") > (");
        write_order(w, PARAMETERS, arm == SAME);
        pawl__buf_byte(&w->text, ')');
    }
    pawl__buf_text(&w->text, " ORDER BY ");
    write_order(w, DIRECTIONS, arm == SAME);
}

static uint64_t page_end(const struct pawl_query *query)
{
    uint64_t limit = query->limit ? query->limit : PAWL_STORE_ROWS_DEFAULT;

    return query->offset > INT64_MAX - limit ? INT64_MAX : query->offset + limit;
}

static void write_limit(struct writer *w, uint64_t limit)
{
    pawl__buf_text(&w->text, " LIMIT ");
    add_value(w, PAWL_COLUMN_INT, pawl__str(""), (int64_t)limit);
}

/*
 * The first rows of an arm, in order. Where rows are looked at, they are found and put in order
 * inside, and looked at outside, one by one, until there are enough: both databases keep the order
 * of what a subquery returns, and need not be told to sort it once more.
 */
static void write_arm(struct writer *w, uint64_t columns, enum arm arm)
{
    /* No index has those of the common value: they are found by looking at rows too. */
    bool same = arm == SAME && w->query->scan_limit > 0, looks = same || looks_at_rows(w);

    write_select(w, columns);
    if (looks) {
        pawl__buf_text(&w->text, " FROM (");
        write_select(w, columns);
    }
    write_where(w);
    if (!same)
        write_arm_condition(w, arm, " AND ");
    write_position(w, arm);
    if (looks) {
        write_limit(w, w->query->scan_limit);
        pawl__buf_text(&w->text, ") AS looked_at");
        if (same)
            write_arm_condition(w, arm, " WHERE ");
        write_conditions(w, true, same ? " AND " : " WHERE ");
    }
}

static void write_whole_arm(struct writer *w, uint64_t columns, enum arm arm, const char *between)
{
    pawl__buf_text(&w->text, between);
    write_select(w, columns);
    pawl__buf_text(&w->text, " FROM (");
    write_arm(w, columns, arm);
    write_limit(w, page_end(w->query));
    pawl__buf_text(&w->text, ") AS arm");
}

static void write_page(struct writer *w, uint64_t columns)
{
    static const enum arm up[] = {BELOW, SAME, ABOVE}, down[] = {ABOVE, SAME, BELOW};
    const struct pawl_query *query = w->query;
    const enum arm *arms = query->flags & PAWL_QUERY_DESCENDING ? down : up;
    const char *between = "";

    if (!sparse_order(w)) {
        write_arm(w, columns, ALL_ROWS);
    } else {
        for (int i = 0; i < 3; i++)
            if (has_arm(w, arms[i])) {
                write_whole_arm(w, columns, arms[i], between);
                between = " UNION ALL ";
            }
        if (*between == '\0') /* nothing is left: the last arm says so */
            write_whole_arm(w, columns, arms[2], between);
    }
    write_limit(w, query->limit ? query->limit : PAWL_STORE_ROWS_DEFAULT);
    if (query->offset > 0) {
        pawl__buf_text(&w->text, " OFFSET ");
        add_value(w, PAWL_COLUMN_INT, pawl__str(""),
                  query->offset > INT64_MAX ? INT64_MAX : (int64_t)query->offset);
    }
}

/* ---- totals ------------------------------------------------------------------------------ */

static uint64_t looked_at_columns(const struct writer *w)
{
    uint64_t columns = 0;

    for (size_t i = 0; i < w->query->condition_count; i++)
        if (is_looked_at(w, i))
            columns |= (uint64_t)1 << w->query->conditions[i].column;
    return columns;
}

/* Where the index alone says which rows count, more of them can be counted in the same time. Not on
 * PostgreSQL, whose indexes do not have the tenant: there each row is looked at. */
static uint32_t count_limit(const struct writer *w)
{
    const struct pawl_query *query = w->query;
    uint32_t limit = query->scan_limit < UINT32_MAX / BY_INDEX ? query->scan_limit : 1;

    for (size_t i = 0; i < query->condition_count; i++) {
        if (is_looked_at(w, i) &&
            strcmp(w->info->columns[query->conditions[i].column].name, "is_system") != 0)
            return query->scan_limit;
    }
    return w->dialect == PAWL_SQL_SQLITE ? limit * BY_INDEX : query->scan_limit;
}

/* Of instances the newest are looked at, whatever the order: there is an index for that. */
static void write_count(struct writer *w)
{
    bool looks = looks_at_rows(w);

    if (w->query->scan_limit == 0) {
        pawl__buf_text(&w->text, "SELECT count(*)");
        write_where(w);
        return;
    }
    pawl__buf_text(&w->text, "SELECT ");
    if (looks) {
        pawl__buf_text(&w->text, "coalesce(sum(CASE");
        write_conditions(w, true, " WHEN ");
        pawl__buf_text(&w->text, " THEN 1 ELSE 0 END), 0)");
    } else {
        pawl__buf_text(&w->text, "count(*)");
    }
    pawl__buf_text(&w->text, ", count(*) FROM (");
    if (looks)
        write_select(w, looked_at_columns(w));
    else
        pawl__buf_text(&w->text, "SELECT 1");
    write_where(w);
    if (looks && w->query->table == PAWL_TABLE_INSTANCES)
        pawl__buf_text(&w->text, " ORDER BY created_us DESC");
    write_limit(w, count_limit(w));
    pawl__buf_text(&w->text, ") AS looked_at");
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
    /* For each arm of a page the row to go on from, a scan and a page; and once more for all. */
    *values = 3 * ((size_t)info->key_count + 4) + 4;
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
    w.room = (uint32_t)(2 * room);
    w.values = pawl__arena_alloc_array(arena, 2 * room, sizeof *w.values);
    if (!w.values)
        return pawl__error_code(err, pawl__arena_status(arena));
    pawl__buf_init(&w.text, arena->alloc, TEXT_MAX);
    made.table = query->table;
    set_way(&w, true);
    if (query->scan_limit > 0 || (query->flags & (PAWL_QUERY_COUNT | PAWL_QUERY_TOTAL))) {
        write_count(&w);
        made.scan_limit = query->scan_limit > 0 ? count_limit(&w) : 0;
        made.count_text = kept(&w);
        made.count_values = w.values;
        made.count_value_count = w.count;
        w.values += w.count;
        w.room -= w.count;
        w.count = 0;
        memset(w.first, 0, sizeof w.first);
        pawl__buf_clear(&w.text);
    }
    set_way(&w, false);
    if (!(query->flags & PAWL_QUERY_COUNT)) {
        made.columns = pawl__sql_columns(query->table, (query->flags & PAWL_QUERY_BRIEF) != 0);
        write_page(&w, made.columns);
        made.text = kept(&w);
        made.values = w.values;
        made.value_count = w.count;
    }
    pawl__buf_release(&w.text);
    if (w.status != PAWL_OK)
        return pawl__error_code(err, w.status);
    *out = made;
    return PAWL_OK;
}
