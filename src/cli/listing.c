/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of rows; see listing.h. */
#include "cli/listing.h"

#include "base/buf.h"
#include "base/datetime.h"
#include "base/duration.h"
#include "base/error.h"
#include "cli/output.h"
#include "host/uri.h"

#define OUTPUT_MAX ((size_t)256 << 20)
/* One cell, and what of its width others are aligned with. */
#define CELL_MAX ((size_t)1 << 20)
#define WIDTH_MAX 48u
#define COLUMNS_MAX 16u

/* ---- asking -------------------------------------------------------------------------------- */

void pawl__cli_list_all(struct pawl_cli_list *list, enum pawl_table table, const char *order,
                        uint32_t flags)
{
    *list = (struct pawl_cli_list){.query = {.table = table,
                                             .flags = flags,
                                             .order = order ? pawl_table_column(table, order) : 0,
                                             .limit = PAWL_STORE_ROWS_MAX}};
}

void pawl__cli_list_init(struct pawl_cli_list *list, const struct pawl_cli_args *args,
                         enum pawl_table table, const char *order, uint32_t flags)
{
    pawl__cli_list_all(list, table, order, flags | PAWL_QUERY_TOTAL);
    list->query.limit = (uint32_t)pawl__cli_number(args, "limit", PAWL_CLI_LIST_DEFAULT);
}

static struct pawl_condition *add(struct pawl_cli_list *list, const char *column,
                                  enum pawl_compare compare)
{
    struct pawl_condition *condition = &list->conditions[list->query.condition_count++];

    PAWL_ASSERT(list->query.condition_count <= PAWL_CLI_CONDITIONS_MAX);
    *condition = (struct pawl_condition){.column = pawl_table_column(list->query.table, column),
                                         .compare = compare};
    return condition;
}

void pawl__cli_list_str(struct pawl_cli_list *list, const char *column, struct pawl_str text)
{
    add(list, column, PAWL_EQ)->value.text = text;
}

void pawl__cli_list_text(struct pawl_cli_list *list, const char *column, const char *text)
{
    if (text)
        pawl__cli_list_str(list, column, pawl__str(text));
}

void pawl__cli_list_int(struct pawl_cli_list *list, const char *column, enum pawl_compare compare,
                        int64_t value)
{
    add(list, column, compare)->value.integer = value;
}

void pawl__cli_list_in(struct pawl_cli_list *list, const char *column,
                       const struct pawl_datum *values, size_t count)
{
    struct pawl_condition *condition = add(list, column, PAWL_IN);

    condition->values = values;
    condition->value_count = count;
}

int pawl__cli_list_find(struct pawl_cli_session *session, struct pawl_cli_list *list,
                        struct pawl_arena *arena, struct pawl_rows *out, struct pawl_error *err)
{
    list->query.conditions = list->conditions;
    return pawl_store_find(session->store, &list->query, arena, out,
                           pawl__cli_session_deadline(session), err);
}

int pawl__cli_list_count(struct pawl_cli_session *session, struct pawl_cli_list *list,
                         struct pawl_arena *arena, uint64_t *out, struct pawl_error *err)
{
    struct pawl_rows rows;
    int status;

    list->query.flags |= PAWL_QUERY_COUNT;
    status = pawl__cli_list_find(session, list, arena, &rows, err);
    if (status == PAWL_OK)
        *out = rows.total;
    return status;
}

int pawl__cli_store_now(struct pawl_cli_session *session, int64_t *now_us, struct pawl_error *err)
{
    struct pawl_store_status about;
    int status =
        pawl_store_status(session->store, &about, pawl__cli_session_deadline(session), err);

    if (status == PAWL_OK)
        *now_us = about.now_us;
    return status;
}

/* ---- building ------------------------------------------------------------------------------ */

void pawl__cli_put(struct pawl_builder *b, struct pawl_json *object, const char *key,
                   struct pawl_str text)
{
    pawl__build(b, object, key, pawl__json_string(text));
}

void pawl__cli_put_time(struct pawl_builder *b, struct pawl_json *object, const char *key,
                        int64_t us)
{
    struct pawl_json value = pawl__json_null();
    char text[PAWL_DATETIME_TEXT_SIZE];

    if (us != 0 && us < INT64_MAX / 1000 && us > INT64_MIN / 1000) {
        size_t len = pawl__datetime_format(pawl__datetime_from_unix_ns(us * 1000), text);

        if (b->status == PAWL_OK)
            b->status = pawl__json_string_copy(b->arena, pawl__str_make(text, len), &value);
    }
    pawl__build(b, object, key, value);
}

void pawl__cli_put_bytes(struct pawl_builder *b, struct pawl_json *object, const char *key,
                         struct pawl_str bytes)
{
    struct pawl_json value = pawl__json_null();

    if (bytes.len > 0 && b->status == PAWL_OK &&
        pawl__json_parse(b->arena, bytes, NULL, &value, NULL, NULL) != PAWL_OK)
        b->status = pawl__json_string_copy(b->arena, bytes, &value);
    pawl__build(b, object, key, value);
}

/* ---- tables -------------------------------------------------------------------------------- */

/* The text of a cell, in `cell`. */
static struct pawl_str cell_text(struct pawl_buf *cell, const struct pawl_json *row,
                                 const struct pawl_cli_column *column)
{
    const struct pawl_json *value = pawl__json_get_text(row, column->key);
    struct pawl_str text = pawl__json_str(value);

    pawl__buf_clear(cell);
    switch (pawl__json_type(value)) {
    case PAWL_JSON_NULL:
        return pawl__str("-");
    case PAWL_JSON_BOOL:
        return pawl__str(pawl__json_true(value) ? "yes" : "-");
    case PAWL_JSON_STRING:
        if (!column->is_time || text.len < 19)
            return text.len > 0 ? text : pawl__str("-");
        /* 2026-01-02T03:04:05.678Z */
        pawl__buf_printf(cell, "%.10s %.8s", text.ptr, text.ptr + 11);
        return pawl__buf_peek(cell);
    case PAWL_JSON_INT:
    case PAWL_JSON_DOUBLE:
    case PAWL_JSON_NUMBER:
    case PAWL_JSON_ARRAY:
    case PAWL_JSON_OBJECT:
    default:
        pawl__json_write(cell, value, PAWL_JSON_ESCAPE_MINIMAL);
        return pawl__buf_peek(cell);
    }
}

static size_t width_of(struct pawl_str text)
{
    size_t width = 0, at = 0;

    while (at < text.len) {
        (void)pawl__utf8_next(text, &at);
        width++;
    }
    return width;
}

/* Makes every cell once: what there is no memory for shows before anything is printed. */
static int measure(struct pawl_buf *cell, const struct pawl_json *rows,
                   const struct pawl_cli_column *columns, size_t widths[COLUMNS_MAX])
{
    for (size_t c = 0; columns[c].title; c++) {
        PAWL_ASSERT(c < COLUMNS_MAX);
        widths[c] = strlen(columns[c].title);
        for (uint32_t i = 0; i < pawl__json_len(rows); i++) {
            size_t width = width_of(cell_text(cell, pawl__json_at(rows, i), &columns[c]));

            if (cell->status != PAWL_OK)
                return cell->status;
            widths[c] = width > widths[c] && width <= WIDTH_MAX ? width : widths[c];
        }
    }
    return PAWL_OK;
}

/* The last column is not padded. */
static void put_cell(struct pawl_cli_stream *to, struct pawl_str text, size_t width, bool last)
{
    size_t used = width_of(text);

    pawl__cli_write_safe(to, text);
    if (last)
        pawl__cli_print(to, "\n");
    else
        pawl__cli_print(to, "%*s", (int)(used < width ? width - used : 0) + 2, "");
}

static void put_rows(struct pawl_cli *cli, struct pawl_buf *cell, const struct pawl_json *rows,
                     const struct pawl_cli_column *columns, const size_t widths[COLUMNS_MAX])
{
    for (size_t c = 0; columns[c].title; c++)
        put_cell(&cli->out, pawl__str(columns[c].title), widths[c], !columns[c + 1].title);
    for (uint32_t i = 0; i < pawl__json_len(rows); i++) {
        for (size_t c = 0; columns[c].title; c++)
            put_cell(&cli->out, cell_text(cell, pawl__json_at(rows, i), &columns[c]), widths[c],
                     !columns[c + 1].title);
    }
}

int pawl__cli_table(struct pawl_cli *cli, const struct pawl_json *rows,
                    const struct pawl_cli_column *columns)
{
    size_t widths[COLUMNS_MAX] = {0};
    int code = PAWL_CLI_EXIT_OK;
    struct pawl_buf cell;

    if (pawl__json_len(rows) == 0)
        return code;
    pawl__buf_init(&cell, &cli->env->alloc, CELL_MAX);
    if (measure(&cell, rows, columns, widths) == PAWL_OK) {
        put_rows(cli, &cell, rows, columns, widths);
    } else {
        struct pawl_error err;

        (void)pawl__error_code(&err, cell.status);
        code = pawl__cli_fail(cli, &err, "--json has no limit on the size of one value");
    }
    pawl__buf_release(&cell);
    return code;
}

int pawl__cli_print_json(struct pawl_cli *cli, const struct pawl_json *value, uint8_t indent)
{
    struct pawl_json_writer writer;
    struct pawl_buf json;

    pawl__buf_init(&json, &cli->env->alloc, OUTPUT_MAX);
    pawl__json_writer_init(&writer, &json, PAWL_JSON_ESCAPE_MINIMAL, indent);
    pawl__json_write_value(&writer, value);
    return pawl__cli_write_json(cli, &json);
}

int pawl__cli_list_show(struct pawl_cli *cli, const struct pawl_json *rows, uint64_t total,
                        const struct pawl_cli_column *columns)
{
    uint32_t count = pawl__json_len(rows);
    int code = PAWL_CLI_EXIT_OK;

    if (pawl__cli_flag(&cli->args, "json"))
        code = pawl__cli_print_json(cli, rows, 0);
    else
        code = pawl__cli_table(cli, rows, columns);
    if (total > count) {
        pawl__cli_flush(&cli->out);
        pawl__cli_print(&cli->err, "%u of %ju shown; --limit shows more\n", count,
                        (uintmax_t)total);
    }
    return code;
}

/* ---- words --------------------------------------------------------------------------------- */

const char *pawl__cli_span_text(int64_t us, char out[PAWL_CLI_SPAN_TEXT])
{
    char text[PAWL_DURATION_TEXT_SIZE];

    us = us < 0 ? -us : us;
    /* To the second, from a second on. */
    if (us >= 1000000)
        us -= us % 1000000;
    else
        us -= us % 1000;
    (void)pawl__duration_format_human(us * PAWL_TICKS_PER_US, text);
    (void)snprintf(out, PAWL_CLI_SPAN_TEXT, "%s", text);
    return out;
}

static bool is_plain(struct pawl_str word)
{
    for (size_t i = 0; i < word.len; i++) {
        char c = word.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        if (!letter && (c == '\0' || !strchr("-_./:@%+,", c)))
            return false;
    }
    return word.len > 0 && word.ptr[0] != '-';
}

const char *pawl__cli_quote(struct pawl_arena *arena, struct pawl_str word)
{
    size_t len = 0;
    char *out;

    if (is_plain(word))
        return pawl__arena_str(arena, word).ptr;
    out = pawl__arena_alloc(arena, word.len * 4 + 3); /* each ' becomes '\'' */
    if (!out)
        return NULL;
    out[len++] = '\'';
    for (size_t i = 0; i < word.len; i++) {
        if (word.ptr[i] == '\'') {
            memcpy(out + len, "'\\''", 4);
            len += 4;
        } else {
            out[len++] = word.ptr[i];
        }
    }
    out[len++] = '\'';
    out[len] = '\0';
    return out;
}

const char *pawl__cli_store_words(struct pawl_cli *cli, struct pawl_arena *arena)
{
    const char *uri = pawl__cli_text(&cli->args, "store", NULL), *quoted = NULL;
    const char *words = "";
    struct pawl_buf masked;

    if (!uri)
        return words;
    pawl__buf_init(&masked, &cli->env->alloc, PAWL_CONFIGURATION_BYTES_MAX);
    pawl__uri_mask(&masked, pawl__str(uri));
    if (masked.status == PAWL_OK && pawl__str_equal(pawl__buf_peek(&masked), pawl__str(uri)))
        quoted = pawl__cli_quote(arena, pawl__str(uri));
    if (quoted)
        words = pawl__arena_printf(arena, " --store %s", quoted);
    pawl__buf_release(&masked);
    return words ? words : "";
}
