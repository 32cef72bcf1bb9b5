/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of rows; see listing.h. */
#include "cli/command/listing.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/time/datetime.h"
#include "cli/command/output.h"
#include "host/uri.h"
#include "views/words.h"

#define OUTPUT_MAX ((size_t)256 << 20)
/* One cell, and what of its width others are aligned with. */
#define CELL_MAX ((size_t)1 << 20)
#define WIDTH_MAX 48u
#define COLUMNS_MAX 16u

struct pawl_page_request pawl__cli_page(const struct pawl_cli_args *args)
{
    return (struct pawl_page_request){
        .limit = (uint32_t)pawl__cli_number(args, "limit", PAWL_PAGE_ROWS_DEFAULT),
        .after = pawl__str(pawl__cli_text(args, "after", "")),
        .with_total = true,
    };
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
        if (cell->status != PAWL_ELIMIT)
            return pawl__buf_peek(cell);
        /* One value of a stranger does not hide the others. */
        pawl__buf_clear(cell);
        return pawl__str("(too long for a table: see --json)");
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
        code = pawl__cli_fail(cli, &err, NULL);
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

int pawl__cli_print_built(struct pawl_cli *cli, const struct pawl_builder *b,
                          const struct pawl_json *value, uint8_t indent)
{
    struct pawl_error err;

    if (b->status == PAWL_OK)
        return pawl__cli_print_json(cli, value, indent);
    (void)pawl__error_code(&err, b->status);
    return pawl__cli_fail(cli, &err, NULL);
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

int pawl__cli_page_show(struct pawl_cli *cli, const struct pawl_json *rows,
                        const struct pawl_page *page, const struct pawl_cli_column *columns)
{
    int code = pawl__cli_list_show(cli, rows, page->total, columns);

    if (page->total > pawl__json_len(rows) && page->next.len > 0)
        pawl__cli_print(&cli->err, "next page: --after %.*s\n", PAWL_STR_ARG(page->next));
    return code;
}

/* ---- words --------------------------------------------------------------------------------- */

const char *pawl__cli_span_text(int64_t us, char out[PAWL_CLI_SPAN_TEXT])
{
    return pawl__words_span(us, out);
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
        quoted = pawl__words_quote(arena, pawl__str(uri));
    if (quoted)
        words = pawl__arena_printf(arena, " --store %s", quoted);
    pawl__buf_release(&masked);
    return words ? words : "";
}
