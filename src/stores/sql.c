/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All statements of a dialect, made once from templates (sql_text.h); and the values of their
 * parameters. Nothing here changes after pawl__sql_new().
 */
#include "stores/sql.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/json/json.h"
#include "stores/sql_text.h"

#define CHANGE_KINDS ((size_t)PAWL_CHANGE_DELETE_OWNED + 1)
/* All texts and parameter lists of a dialect; they take about 130 KB. */
#define ARENA_BYTES_MAX ((size_t)1 << 20)

struct pawl_sql {
    const struct pawl_allocator *alloc;
    struct pawl_arena arena;
    struct pawl_buf buf; /* empty but while statements are made */
    struct pawl_sql_statement named[PAWL_SQL_NAME_COUNT];
    struct pawl_sql_statement changes[PAWL_TABLE_COUNT][CHANGE_KINDS];
    struct pawl_sql_statement absent[PAWL_TABLE_COUNT];
    struct pawl_sql_statement many[PAWL_TABLE_COUNT][CHANGE_KINDS];
    struct pawl_sql_statement load[PAWL_TABLE_COUNT];
    struct pawl_sql_statement all[PAWL_TABLE_COUNT];
};

#define INSERT_SQLITE "INSERT INTO {table} (tenant_id, {all}) VALUES ('', {values})"
#define INSERT_POSTGRES                                                                            \
    "INSERT INTO {table} (tenant_id, {all}) SELECT '', {given} WHERE " PAWL_SQL_OK
#define INSERT_MANY                                                                                \
    "INSERT INTO {table} (tenant_id, {all}) SELECT '', {given}{each} WHERE " PAWL_SQL_IS_HELD(     \
        "v.member")
#define DELETE_MANY(which)                                                                         \
    "DELETE FROM {table} USING (SELECT v.*{rows}) AS v WHERE {tenant} AND " which                  \
    " AND " PAWL_SQL_IS_HELD("v.member")
#define PUT_END " ON CONFLICT (tenant_id, {key}) DO UPDATE SET {replaced}"
#define DELETE "DELETE FROM {table} WHERE {tenant} AND {keyed}"
#define OWNED "instance_id = {.instance_id} AND instance_id <> ''"
#define DELETE_OWNED "DELETE FROM {table} WHERE {tenant} AND " OWNED

static const char *const change_templates[CHANGE_KINDS][2] = {
    [PAWL_CHANGE_INSERT] = {INSERT_SQLITE, INSERT_POSTGRES},
    [PAWL_CHANGE_ADD] = {INSERT_SQLITE " ON CONFLICT DO NOTHING",
                         INSERT_POSTGRES " ON CONFLICT DO NOTHING"},
    [PAWL_CHANGE_PUT] = {INSERT_SQLITE PUT_END, INSERT_POSTGRES PUT_END},
    [PAWL_CHANGE_DELETE] = {DELETE, DELETE " AND " PAWL_SQL_OK},
    [PAWL_CHANGE_DELETE_OWNED] = {DELETE_OWNED, DELETE_OWNED " AND " PAWL_SQL_OK},
};

#define PRESENT "EXISTS (SELECT 1 FROM {table} WHERE {tenant} AND {keyed})"
#define ABSENT PAWL_SQL_GUARD("NOT " PRESENT)
/* '2': it has expired, and what it would have met may be gone. */
#define ABSENT_RESERVATION                                                                         \
    "SELECT set_config('pawl.ok', CASE WHEN NOT " PAWL_SQL_HELD " OR " PRESENT                     \
    " THEN '0' WHEN {.expires_us} <= {now} THEN '2' ELSE '1' END, true)"

static bool can_change(enum pawl_table table)
{
    return table != PAWL_TABLE_INSTANCES && table != PAWL_TABLE_NODES && table != PAWL_TABLE_STAMPS;
}

static bool has_column(enum pawl_table table, const char *name)
{
    const struct pawl_table_info *info = pawl_table_info(table);

    for (uint32_t i = 0; i < info->column_count; i++)
        if (strcmp(info->columns[i].name, name) == 0)
            return true;
    return false;
}

static int make_many(struct pawl_sql *sql, enum pawl_table table)
{
    static const char *const templates[CHANGE_KINDS] = {
        [PAWL_CHANGE_INSERT] = INSERT_MANY,
        [PAWL_CHANGE_ADD] = INSERT_MANY " ON CONFLICT DO NOTHING",
        [PAWL_CHANGE_PUT] = INSERT_MANY PUT_END,
        [PAWL_CHANGE_DELETE] = DELETE_MANY("{keyed} AND {any key}"),
        [PAWL_CHANGE_DELETE_OWNED] = DELETE_MANY(OWNED " AND {any instance_id}"),
    };
    int status = PAWL_OK;

    for (size_t kind = 0; kind < CHANGE_KINDS && status == PAWL_OK; kind++)
        if (kind != PAWL_CHANGE_DELETE_OWNED || has_column(table, "instance_id"))
            status = pawl__sql_expand(PAWL_SQL_POSTGRES, templates[kind], table, 0, &sql->buf,
                                      &sql->arena, &sql->many[table][kind]);
    return status;
}

static int make_table(struct pawl_sql *sql, enum pawl_sql_dialect dialect, enum pawl_table table)
{
    bool postgres = dialect == PAWL_SQL_POSTGRES;
    int status = pawl__sql_expand(dialect, INSERT_SQLITE, table, 0, &sql->buf, &sql->arena,
                                  &sql->load[table]);

    if (status == PAWL_OK)
        status =
            pawl__sql_expand(dialect,
                             "SELECT {columns} FROM {table} WHERE {tenant} "
                             "ORDER BY {key}",
                             table, PAWL_SQL_COLUMNS_ALL, &sql->buf, &sql->arena, &sql->all[table]);
    if (status == PAWL_OK && postgres)
        status = pawl__sql_expand(dialect,
                                  table == PAWL_TABLE_RESERVATIONS ? ABSENT_RESERVATION : ABSENT,
                                  table, 0, &sql->buf, &sql->arena, &sql->absent[table]);
    if (status == PAWL_OK && postgres && can_change(table))
        status = make_many(sql, table);
    for (size_t kind = 0; kind < CHANGE_KINDS && can_change(table) && status == PAWL_OK; kind++)
        if (kind != PAWL_CHANGE_DELETE_OWNED || has_column(table, "instance_id"))
            status = pawl__sql_expand(dialect, change_templates[kind][postgres], table, 0,
                                      &sql->buf, &sql->arena, &sql->changes[table][kind]);
    return status;
}

int pawl__sql_new(const struct pawl_allocator *alloc, enum pawl_sql_dialect dialect,
                  struct pawl_sql **out, struct pawl_error *err)
{
    struct pawl_sql *sql = pawl__alloc_zeroed(alloc, sizeof *sql);
    int status = PAWL_OK;

    if (!sql)
        return pawl__error_code(err, PAWL_ENOMEM);
    sql->alloc = alloc;
    pawl__arena_init(&sql->arena, alloc, ARENA_BYTES_MAX);
    pawl__buf_init(&sql->buf, alloc, PAWL_SQL_TEXT_MAX);
    for (int name = 0; name < PAWL_SQL_NAME_COUNT && status == PAWL_OK; name++) {
        const struct pawl_sql_template *t = pawl__sql_template((enum pawl_sql_name)name);

        status = pawl__sql_expand(dialect, dialect == PAWL_SQL_SQLITE ? t->sqlite : t->postgres,
                                  t->table, t->columns, &sql->buf, &sql->arena, &sql->named[name]);
    }
    for (int table = 0; table < PAWL_TABLE_COUNT && status == PAWL_OK; table++)
        status = make_table(sql, dialect, (enum pawl_table)table);
    pawl__buf_release(&sql->buf);
    if (status != PAWL_OK) {
        pawl__sql_free(sql);
        return pawl__error_code(err, status);
    }
    *out = sql;
    return PAWL_OK;
}

void pawl__sql_free(struct pawl_sql *sql)
{
    if (!sql)
        return;
    pawl__arena_release(&sql->arena);
    pawl__free(sql->alloc, sql, sizeof *sql);
}

const struct pawl_sql_statement *pawl__sql_statement(const struct pawl_sql *sql,
                                                     enum pawl_sql_name name)
{
    PAWL_ASSERT((unsigned)name < PAWL_SQL_NAME_COUNT);
    return &sql->named[name];
}

const struct pawl_sql_statement *pawl__sql_change(const struct pawl_sql *sql,
                                                  enum pawl_change_kind kind, enum pawl_table table)
{
    const struct pawl_sql_statement *statement;

    if ((unsigned)table >= PAWL_TABLE_COUNT || (unsigned)kind >= CHANGE_KINDS)
        return NULL;
    statement = &sql->changes[table][kind];
    return statement->text ? statement : NULL;
}

bool pawl__sql_owned_row(enum pawl_table table, struct pawl_str instance_id,
                         struct pawl_owned_row *out)
{
    const struct pawl_table_info *info = pawl_table_info(table);

    if (!info->goes_with_instance)
        return false;
    memset(out, 0, sizeof *out);
    memcpy(out->bytes + info->columns[pawl_table_column(table, "instance_id")].offset, &instance_id,
           sizeof instance_id);
    return true;
}

const struct pawl_sql_statement *pawl__sql_absent(const struct pawl_sql *sql, enum pawl_table table)
{
    PAWL_ASSERT((unsigned)table < PAWL_TABLE_COUNT);
    return &sql->absent[table];
}

const struct pawl_sql_statement *
pawl__sql_change_many(const struct pawl_sql *sql, enum pawl_change_kind kind, enum pawl_table table)
{
    const struct pawl_sql_statement *statement;

    if ((unsigned)table >= PAWL_TABLE_COUNT || (unsigned)kind >= CHANGE_KINDS)
        return NULL;
    statement = &sql->many[table][kind];
    return statement->text ? statement : NULL;
}

const struct pawl_sql_statement *pawl__sql_load(const struct pawl_sql *sql, enum pawl_table table)
{
    PAWL_ASSERT((unsigned)table < PAWL_TABLE_COUNT);
    return &sql->load[table];
}

const struct pawl_sql_statement *pawl__sql_all(const struct pawl_sql *sql, enum pawl_table table)
{
    PAWL_ASSERT((unsigned)table < PAWL_TABLE_COUNT);
    return &sql->all[table];
}

/* ---- values ------------------------------------------------------------------------------ */

#define REPLACEMENT "\xEF\xBF\xBD"

struct pawl_str pawl__sql_clean(struct pawl_str text, struct pawl_arena *arena)
{
    size_t nuls = 0, at = 0;
    char *to;

    if (text.len == 0)
        return pawl__str_make("", 0);
    if (!memchr(text.ptr, '\0', text.len))
        return text;
    for (size_t i = 0; i < text.len; i++)
        nuls += text.ptr[i] == '\0';
    to = pawl__arena_alloc_aligned(arena, text.len + 2 * nuls, 1);
    if (!to)
        return pawl__str_make(NULL, 0);
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '\0') {
            memcpy(to + at, REPLACEMENT, 3);
            at += 3;
        } else {
            to[at++] = text.ptr[i];
        }
    return pawl__str_make(to, at);
}

static int write_list(const struct pawl_str *items, size_t count, struct pawl_arena *arena,
                      struct pawl_str *out)
{
    struct pawl_json list = pawl__json_array();
    struct pawl_buf buf;
    int status = PAWL_OK;

    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        struct pawl_str item = pawl__sql_clean(items[i], arena);

        status = item.ptr ? pawl__json_append(arena, &list, pawl__json_string(item))
                          : pawl__arena_status(arena);
    }
    pawl__buf_init(&buf, arena->alloc, PAWL_SQL_LIST_MAX);
    if (status == PAWL_OK) {
        pawl__json_write(&buf, &list, PAWL_JSON_ESCAPE_MINIMAL);
        status = buf.status;
    }
    if (status == PAWL_OK) {
        *out = pawl__arena_str(arena, pawl__buf_peek(&buf));
        status = out->ptr ? PAWL_OK : pawl__arena_status(arena);
    }
    pawl__buf_release(&buf);
    return status;
}

int pawl__sql_share(const struct pawl_take *take, struct pawl_arena *arena,
                    struct pawl_sql_inputs *out, struct pawl_error *err)
{
    int status;

    if (take->definition_count > PAWL_TAKE_DEFINITIONS_MAX || take->kind.len > 0)
        return pawl__error_set(err, PAWL_ELIMIT,
                               "%zu definitions in a take, or together with a "
                               "kind; at most %d",
                               take->definition_count, PAWL_TAKE_DEFINITIONS_MAX);
    if (take->unshared_kind_count > PAWL_TAKE_KINDS_MAX)
        return pawl__error_set(err, PAWL_ELIMIT, "%zu kinds in a take; at most %d",
                               take->unshared_kind_count, PAWL_TAKE_KINDS_MAX);
    status = write_list(take->definitions, take->definition_count, arena, &out->text);
    if (status == PAWL_OK)
        status = write_list(take->unshared_kinds, take->unshared_kind_count, arena, &out->kinds);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

int pawl__sql_bind(const struct pawl_sql_statement *statement, const struct pawl_sql_inputs *inputs,
                   struct pawl_arena *arena, struct pawl_sql_value *out, struct pawl_error *err)
{
    for (uint32_t i = 0; i < statement->param_count; i++) {
        const struct pawl_sql_param *param = &statement->params[i];
        const void *base = param->source == PAWL_SQL_ROW ? inputs->row : inputs;
        const void *from = (const char *)base + param->offset;

        out[i] = (struct pawl_sql_value){param->type, {"", 0}, 0};
        if (param->type == PAWL_COLUMN_INT)
            memcpy(&out[i].integer, from, sizeof out[i].integer);
        else
            memcpy(&out[i].text, from, sizeof out[i].text);
        if (param->type == PAWL_COLUMN_TEXT)
            out[i].text = pawl__sql_clean(out[i].text, arena);
        if (!out[i].text.ptr && (param->type == PAWL_COLUMN_TEXT || out[i].text.len > 0))
            return pawl__error_code(err, pawl__arena_status(arena));
        if (!out[i].text.ptr)
            out[i].text.ptr = "";
    }
    return PAWL_OK;
}

void pawl__sql_row_set(enum pawl_table table, void *row, uint32_t column,
                       const struct pawl_sql_value *value)
{
    const struct pawl_column *c = &pawl_table_info(table)->columns[column];
    char *to = (char *)row + c->offset;

    if (c->type == PAWL_COLUMN_INT)
        memcpy(to, &value->integer, sizeof value->integer);
    else
        memcpy(to, &value->text, sizeof value->text);
}
