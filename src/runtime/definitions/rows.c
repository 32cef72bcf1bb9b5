/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of definitions: asking the store for them, and their JSON. What is decided about them is
 * elsewhere.
 *
 * A row's flags change without its data being written anew, so that id, definitionId, version,
 * isLatest and isPublished of the stored JSON may be old. Whoever reads it goes through here, where
 * they are brought in step with the row.
 */
#include "runtime/definitions/private.h"

static const struct pawl_json_limits limits = {
    .bytes_max = DEFINITION_BYTES_MAX,
    .depth_max = PAWL_JSON_DEPTH_MAX,
};

/* ---- asking ------------------------------------------------------------------------------ */

struct pawl_condition pawl__where_text(enum pawl_table table, const char *column,
                                       struct pawl_str value)
{
    return (struct pawl_condition){
        .column = pawl_table_column(table, column), .compare = PAWL_EQ, .value.text = value};
}

struct pawl_condition pawl__where_int(enum pawl_table table, const char *column,
                                      enum pawl_compare compare, int64_t value)
{
    return (struct pawl_condition){
        .column = pawl_table_column(table, column), .compare = compare, .value.integer = value};
}

int pawl__definition_looked(const struct definition_call *call, int status)
{
    if (pawl_error_class(status) != PAWL_CLASS_UNKNOWN)
        return status;
    if (call->err)
        call->err->code = PAWL_EUNAVAILABLE;
    return PAWL_EUNAVAILABLE;
}

int pawl__definition_query(const struct definition_call *call, const struct pawl_query *query,
                           struct pawl_rows *out)
{
    return pawl__definition_looked(call,
                                   pawl_store_find(call->definitions->store, query, call->arena,
                                                   out, call->deadline_ns, call->err));
}

int pawl__definition_stamp(const struct definition_call *call, int64_t *out)
{
    const struct pawl_condition condition =
        pawl__where_text(PAWL_TABLE_STAMPS, "name", pawl__str(PAWL_STAMP_DEFINITIONS));
    const struct pawl_query query = {
        .table = PAWL_TABLE_STAMPS, .conditions = &condition, .condition_count = 1, .limit = 1};
    struct pawl_rows rows;
    int status = pawl__definition_query(call, &query, &rows);

    if (status == PAWL_OK)
        *out = rows.count > 0 ? ((const struct pawl_stamp_row *)rows.rows)->value : 0;
    return status;
}

int pawl__definition_first(const struct definition_call *call,
                           const struct pawl_condition *conditions, size_t count,
                           const struct pawl_definition_row **out)
{
    const struct pawl_query query = {
        .table = PAWL_TABLE_DEFINITIONS,
        .flags = PAWL_QUERY_DESCENDING,
        .conditions = conditions,
        .condition_count = count,
        .order = pawl_table_column(PAWL_TABLE_DEFINITIONS, "version"),
        .limit = 1,
    };
    struct pawl_rows rows;
    int status = pawl__definition_query(call, &query, &rows);

    if (status == PAWL_OK)
        *out = rows.count > 0 ? rows.rows : NULL;
    return status;
}

int pawl__definition_by_id(const struct definition_call *call, struct pawl_str version_id,
                           const struct pawl_definition_row **out)
{
    const struct pawl_condition condition =
        pawl__where_text(PAWL_TABLE_DEFINITIONS, "id", version_id);

    return pawl__definition_first(call, &condition, 1, out);
}

int pawl__definition_published(const struct definition_call *call, struct pawl_str definition_id,
                               const struct pawl_definition_row **out)
{
    const struct pawl_condition conditions[] = {
        pawl__where_text(PAWL_TABLE_DEFINITIONS, "definition_id", definition_id),
        pawl__where_int(PAWL_TABLE_DEFINITIONS, "is_published", PAWL_NE, 0),
    };

    return pawl__definition_first(call, conditions, 2, out);
}

/* ---- JSON -------------------------------------------------------------------------------- */

int pawl__definition_put(struct pawl_arena *arena, struct pawl_json *object, const char *name,
                         struct pawl_json value)
{
    struct pawl_json *there = pawl__json_get_nocase(object, pawl__str(name));

    if (!there)
        return pawl__json_set_text(arena, object, name, value);
    *there = value;
    return PAWL_OK;
}

static int put_text(struct pawl_arena *arena, struct pawl_json *object, const char *name,
                    struct pawl_str text)
{
    struct pawl_json value;
    int status = pawl__json_string_copy(arena, text, &value);

    return status == PAWL_OK ? pawl__definition_put(arena, object, name, value) : status;
}

static int put_in_step(struct pawl_arena *arena, struct pawl_json *json,
                       const struct pawl_definition_row *row)
{
    int status = put_text(arena, json, "id", row->id);

    if (status == PAWL_OK)
        status = put_text(arena, json, "definitionId", row->definition_id);
    if (status == PAWL_OK)
        status = pawl__definition_put(arena, json, "version", pawl__json_int(row->version));
    if (status == PAWL_OK)
        status =
            pawl__definition_put(arena, json, "isLatest", pawl__json_bool(row->is_latest != 0));
    if (status == PAWL_OK)
        status = pawl__definition_put(arena, json, "isPublished",
                                      pawl__json_bool(row->is_published != 0));
    return status;
}

int pawl__definition_read_into(struct pawl_arena *arena, const struct pawl_definition_row *row,
                               struct pawl_json *out, struct pawl_error *err)
{
    struct pawl_json json;
    int status = pawl__json_parse(arena, row->data, &limits, &json, NULL, err);

    if (status != PAWL_OK)
        return pawl__error_prefix(err, status, "version %.*s of the definition %.*s",
                                  PAWL_STR_ARG(row->id), PAWL_STR_ARG(row->definition_id));
    if (!pawl__json_is(&json, PAWL_JSON_OBJECT))
        return pawl__error_set(err, PAWL_EPARSE,
                               "version %.*s of the definition %.*s is stored as %s, not as an "
                               "object; import it again",
                               PAWL_STR_ARG(row->id), PAWL_STR_ARG(row->definition_id),
                               pawl__json_type_name(&json));
    status = put_in_step(arena, &json, row);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    *out = json;
    return PAWL_OK;
}

int pawl__definition_read(const struct definition_call *call, const struct pawl_definition_row *row,
                          struct pawl_json *out)
{
    return pawl__definition_read_into(call->arena, row, out, call->err);
}

int pawl__definition_text(const struct definition_call *call, const struct pawl_json *json,
                          struct pawl_str *out)
{
    struct pawl_str text = {NULL, 0};
    struct pawl_buf buf;
    int status;

    pawl__buf_init(&buf, &call->definitions->env->alloc, DEFINITION_BYTES_MAX);
    pawl__json_write(&buf, json, PAWL_JSON_ESCAPE_MINIMAL);
    status = buf.status;
    if (status == PAWL_OK)
        text = pawl__arena_str(call->arena, pawl__buf_peek(&buf));
    pawl__buf_release(&buf);
    if (status == PAWL_ELIMIT)
        return pawl__error_set(call->err, status,
                               "a definition is larger than %zu MB; split it into several",
                               DEFINITION_BYTES_MAX >> 20);
    if (status == PAWL_OK && !text.ptr)
        status = pawl__arena_status(call->arena);
    if (status != PAWL_OK)
        return pawl__error_code(call->err, status);
    *out = text;
    return PAWL_OK;
}

static struct pawl_str text_of(const struct pawl_json *json, const char *name)
{
    return pawl__json_str(pawl__json_get_nocase(json, pawl__str(name)));
}

static bool is_true(const struct pawl_json *json, const char *name)
{
    return pawl__json_true(pawl__json_get_nocase(json, pawl__str(name)));
}

int pawl__definition_write(const struct definition_call *call, struct pawl_json *json,
                           struct pawl_definition_row *row)
{
    int status = put_in_step(call->arena, json, row);

    if (status != PAWL_OK)
        return pawl__error_code(call->err, status);
    row->name = pawl__utf8_cut(text_of(json, "name"), PAWL_ROW_NAME_MAX);
    row->description = text_of(json, "description");
    row->provider = text_of(json, "providerName");
    row->tool_version = pawl__utf8_cut(text_of(json, "toolVersion"), PAWL_ROW_NAME_MAX);
    row->is_readonly = is_true(json, "isReadonly");
    row->is_system = is_true(json, "isSystem");
    row->usable_as_activity = pawl__catalog_usable(json);
    return pawl__definition_text(call, json, &row->data);
}

/* ---- answers ----------------------------------------------------------------------------- */

static void copy_text(struct pawl_arena *arena, struct pawl_str *text)
{
    *text = pawl__arena_str(arena, *text);
}

int pawl__definition_answer(const struct definition_call *call,
                            const struct pawl_definition_row *row, struct pawl_arena *arena,
                            struct pawl_definition_row *out)
{
    struct pawl_definition_row made = *row;
    struct pawl_json json;
    int status = pawl__definition_read(call, row, &json);

    if (status == PAWL_OK)
        status = pawl__definition_text(call, &json, &made.data);
    if (status != PAWL_OK)
        return status;
    copy_text(arena, &made.id);
    copy_text(arena, &made.definition_id);
    copy_text(arena, &made.name);
    copy_text(arena, &made.description);
    copy_text(arena, &made.provider);
    copy_text(arena, &made.tool_version);
    copy_text(arena, &made.data);
    if (arena->status != PAWL_OK)
        return pawl__error_code(call->err, arena->status);
    *out = made;
    return PAWL_OK;
}
