/* SPDX-License-Identifier: Apache-2.0 */
/* The templates' language: see sql_text.h. */
#include "stores/sql_text.h"

#include "base/error.h"

struct maker {
    enum pawl_sql_dialect dialect;
    enum pawl_table table;
    const struct pawl_table_info *info;
    uint64_t columns;
    struct pawl_buf *text;
    struct pawl_sql_param params[PAWL_SQL_PARAMS_MAX];
    uint32_t count;
    bool is_many; /* parameters are columns of the rows of arrays */
};

static void add_param(struct maker *m, enum pawl_sql_source source, enum pawl_column_type type,
                      size_t offset)
{
    uint32_t at = 0;

    while (at < m->count && (m->params[at].source != source || m->params[at].offset != offset))
        at++;
    if (at == m->count) {
        PAWL_ASSERT(m->count < PAWL_SQL_PARAMS_MAX);
        m->params[m->count++] = (struct pawl_sql_param){source, type, (uint32_t)offset};
    }
    if (m->is_many)
        pawl__buf_text(m->text, "v.p");
    else
        pawl__buf_byte(m->text, m->dialect == PAWL_SQL_SQLITE ? '?' : '$');
    pawl__buf_int(m->text, (int64_t)at + 1);
}

/* The arrays of all parameters, side by side; behind them that of the members. */
static void add_rows(struct maker *m)
{
    pawl__buf_text(m->text, " FROM unnest(");
    for (uint32_t i = 0; i <= m->count; i++)
        pawl__buf_printf(m->text, "%s$%u", i > 0 ? ", " : "", i + 1);
    pawl__buf_text(m->text, ") AS v(");
    for (uint32_t i = 0; i < m->count; i++)
        pawl__buf_printf(m->text, "p%u, ", i + 1);
    pawl__buf_text(m->text, "member)");
}

static void add_column(struct maker *m, uint32_t column)
{
    add_param(m, PAWL_SQL_ROW, m->info->columns[column].type, m->info->columns[column].offset);
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* What a new instance begins with, whatever the row says. */
static void add_created(struct maker *m, uint32_t column)
{
    static const char *const ones[] = {"fence", "revision", "revision_fence"};
    const char *name = m->info->columns[column].name;

    if (strcmp(name, "revision_owner") == 0) /* the creator, even if nobody owns it then */
        add_column(m, pawl_table_column(m->table, "owner"));
    else if (strcmp(name, "owner") == 0)
        add_param(m, PAWL_SQL_INPUTS, PAWL_COLUMN_INT, offsetof(struct pawl_sql_inputs, owner));
    else if (is_one_of(name, ones, sizeof ones / sizeof ones[0]))
        pawl__buf_byte(m->text, '1');
    else
        add_column(m, column);
}

static bool is_advanced(const char *name)
{
    static const char *const kept[] = {
        "id",       "parent_id",      "created_us",     "cancel_requested", "owner",     "fence",
        "revision", "revision_fence", "revision_owner", "takeovers",        "failures",  "retry_us",
        "trouble",  "alone",          "id_hash",        "definition_id",    "is_system",
    };

    return !is_one_of(name, kept, sizeof kept / sizeof kept[0]);
}

static void add_now(struct maker *m)
{
    if (m->dialect == PAWL_SQL_SQLITE)
        add_param(m, PAWL_SQL_INPUTS, PAWL_COLUMN_INT, offsetof(struct pawl_sql_inputs, now_us));
    else /* A subquery is evaluated once and may bound an index; the bare function may not. */
        pawl__buf_text(m->text,
                       "(SELECT floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint)");
}

/* Of work that is due at once, what clock.h says. */
static void add_given(struct maker *m, uint32_t column)
{
    uint32_t due = 0, created = 0;
    bool is_limited = false;

    if (m->table == PAWL_TABLE_WORK) {
        due = pawl_table_column(m->table, "due_us");
        created = pawl_table_column(m->table, "created_us");
        is_limited = column == due || column == created;
    }
    if (!is_limited) {
        add_column(m, column);
        return;
    }
    pawl__buf_text(m->text, "CASE WHEN ");
    add_column(m, due);
    pawl__buf_text(m->text, "::bigint <= ");
    add_column(m, created);
    pawl__buf_text(m->text, "::bigint THEN least(");
    add_column(m, column);
    pawl__buf_text(m->text, "::bigint, ");
    add_now(m);
    pawl__buf_text(m->text, ") ELSE ");
    add_column(m, column);
    pawl__buf_text(m->text, "::bigint END");
}

enum list { COLUMNS, ALL, VALUES, GIVEN, CREATED, ADVANCED, KEY, KEYED, REPLACED };

static const char *const list_names[] = {
    [COLUMNS] = "columns", [ALL] = "all",         [VALUES] = "values",
    [GIVEN] = "given",     [CREATED] = "created", [ADVANCED] = "advanced",
    [KEY] = "key",         [KEYED] = "keyed",     [REPLACED] = "replaced",
};

static bool list_has(const struct maker *m, enum list list, uint32_t column)
{
    switch (list) {
    case COLUMNS:
        return (m->columns >> column & 1) != 0;
    case ADVANCED:
        return is_advanced(m->info->columns[column].name);
    case KEY:
    case KEYED:
        return column < m->info->key_count;
    case REPLACED:
        return column >= m->info->key_count;
    case ALL:
    case VALUES:
    case GIVEN:
    case CREATED:
        break;
    }
    return true;
}

static void add_list(struct maker *m, enum list list)
{
    const char *between = "";

    for (uint32_t i = 0; i < m->info->column_count; i++) {
        const char *name = m->info->columns[i].name;

        if (!list_has(m, list, i))
            continue;
        pawl__buf_text(m->text, between);
        between = list == KEYED ? " AND " : ", ";
        if (list != VALUES && list != GIVEN && list != CREATED)
            pawl__buf_text(m->text, name);
        if (list == ADVANCED || list == KEYED)
            pawl__buf_text(m->text, " = ");
        if (list == REPLACED)
            pawl__buf_printf(m->text, " = excluded.%s", name);
        if (list == CREATED)
            add_created(m, i);
        else if (list == GIVEN)
            add_given(m, i);
        else if (list == VALUES || list == ADVANCED || list == KEYED)
            add_column(m, i);
    }
}

#define INPUT(word, member, type)                                                                  \
    {                                                                                              \
        word, PAWL_COLUMN_##type, offsetof(struct pawl_sql_inputs, member)                         \
    }
static const struct {
    const char *word;
    enum pawl_column_type type;
    size_t offset;
} inputs[] = {
    INPUT("id", id, TEXT),         INPUT("text", text, TEXT),    INPUT("first", first, INT),
    INPUT("owner", owner, INT),    INPUT("value", value, INT),   INPUT("limit", limit, INT),
    INPUT("from", part_from, INT), INPUT("to", part_to, INT),    INPUT("only", only, INT),
    INPUT("kinds", kinds, TEXT),   INPUT("member", member, INT),
};

/* "column = ANY ($1)": of a column of the rows of arrays, by the array itself. */
static void add_any(struct maker *m, const char *name)
{
    uint32_t column = strcmp(name, "key") == 0 ? 0 : pawl_table_column(m->table, name);
    bool is_many = m->is_many;

    pawl__buf_printf(m->text, "%s = ANY (", m->info->columns[column].name);
    m->is_many = false;
    add_column(m, column);
    m->is_many = is_many;
    pawl__buf_byte(m->text, ')');
}

static void add_word(struct maker *m, const char *word)
{
    if (strncmp(word, "any ", 4) == 0) {
        add_any(m, word + 4);
        return;
    }
    if (word[0] == '.') {
        add_column(m, pawl_table_column(m->table, word + 1));
        return;
    }
    if (strcmp(word, "now") == 0) {
        add_now(m);
        return;
    }
    if (strcmp(word, "rows") == 0 || strcmp(word, "each") == 0) {
        add_rows(m);
        m->is_many = word[0] == 'r';
        return;
    }
    if (strcmp(word, "members") == 0 || strcmp(word, "listed") == 0) {
        pawl__buf_printf(m->text, "$%u", m->count + (word[0] == 'm' ? 1 : 2));
        return;
    }
    if (strcmp(word, "never") == 0) {
        pawl__buf_text(m->text, PAWL_SQL_NEVER);
        return;
    }
    if (strcmp(word, "tenant") == 0) {
        pawl__buf_text(m->text, m->dialect == PAWL_SQL_SQLITE ? PAWL_SQL_TENANT_SQLITE
                                                              : PAWL_SQL_TENANT_POSTGRES);
        return;
    }
    if (strcmp(word, "is") == 0) {
        pawl__buf_text(m->text, m->dialect == PAWL_SQL_SQLITE ? "=" : PAWL_SQL_IS_POSTGRES);
        return;
    }
    if (strcmp(word, "table") == 0) {
        pawl__buf_text(m->text, pawl__sql_table_name(m->table));
        return;
    }
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++)
        if (strcmp(word, inputs[i].word) == 0) {
            add_param(m, PAWL_SQL_INPUTS, inputs[i].type, inputs[i].offset);
            return;
        }
    for (size_t i = 0; i < sizeof list_names / sizeof list_names[0]; i++)
        if (strcmp(word, list_names[i]) == 0) {
            add_list(m, (enum list)i);
            return;
        }
    PAWL_ASSERT(false && "no such word in a template");
}

static void expand(struct maker *m, const char *format)
{
    for (const char *at = format; *at;) {
        const char *open = strchr(at, '{'), *shut = open ? strchr(open, '}') : NULL;
        char word[32];
        size_t length = open ? (size_t)(open - at) : strlen(at);

        pawl__buf_append(m->text, at, length);
        if (!open)
            return;
        PAWL_ASSERT(shut && (size_t)(shut - open) <= sizeof word);
        length = (size_t)(shut - open) - 1;
        memcpy(word, open + 1, length);
        word[length] = '\0';
        add_word(m, word);
        at = shut + 1;
    }
}

int pawl__sql_expand(enum pawl_sql_dialect dialect, const char *format, enum pawl_table table,
                     uint64_t columns, struct pawl_buf *buf, struct pawl_arena *arena,
                     struct pawl_sql_statement *out)
{
    struct maker m = {
        .dialect = dialect, .table = table, .info = pawl_table_info(table), .text = buf};
    struct pawl_sql_param *params;
    struct pawl_str text;
    bool is_many;

    PAWL_ASSERT(m.info->column_count < 64);
    m.columns = columns == PAWL_SQL_COLUMNS_BRIEF
                    ? pawl__sql_columns(table, true)
                    : columns & (((uint64_t)1 << m.info->column_count) - 1);
    if (!format) {
        *out = (struct pawl_sql_statement){.table = table};
        return PAWL_OK;
    }
    is_many = strstr(format, "{each}") || strstr(format, "{rows}");
    /* The second time all parameters are known where {rows} stands before the last of them. */
    for (int times = is_many ? 2 : 1; times > 0; times--) {
        m.is_many = is_many;
        pawl__buf_clear(buf);
        expand(&m, format);
    }
    if (buf->status != PAWL_OK)
        return buf->status;
    text = pawl__arena_str(arena, pawl__buf_peek(buf));
    params = pawl__arena_alloc_array(arena, m.count + 1, sizeof *params);
    if (!text.ptr || !params)
        return pawl__arena_status(arena);
    memcpy(params, m.params, m.count * sizeof *params);
    *out = (struct pawl_sql_statement){text.ptr, params, m.count, table, m.columns};
    return PAWL_OK;
}
