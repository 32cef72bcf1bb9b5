/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of definitions: filters, orders, pages, pairs of versions; names. */
#include "base/buf.h"
#include "base/error.h"
#include "operations/definitions_private.h"

/* ---- which versions -------------------------------------------------------------------------- */

/* Digits, perhaps behind a minus sign. */
static bool read_number(struct pawl_str text, int64_t *out)
{
    bool negative = text.len > 0 && text.ptr[0] == '-';
    int64_t number = 0;

    if (text.len == (size_t)negative)
        return false;
    for (size_t i = negative; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || number > INT32_MAX)
            return false;
        number = number * 10 + (text.ptr[i] - '0');
    }
    *out = negative ? -number : number;
    return true;
}

int pawl__version_options_read(struct pawl_str text, struct pawl_version_options *out,
                               struct pawl_error *err)
{
    static const struct {
        const char *text;
        enum pawl_version_pick pick;
    } names[] = {
        {"AllVersions", PAWL_VERSIONS_ALL},
        {"Draft", PAWL_VERSIONS_DRAFT},
        {"Latest", PAWL_VERSIONS_LATEST},
        {"Published", PAWL_VERSIONS_PUBLISHED},
        {"LatestOrPublished", PAWL_VERSIONS_LATEST_OR_PUBLISHED},
        {"LatestAndPublished", PAWL_VERSIONS_LATEST_AND_PUBLISHED},
    };
    int64_t number = 0;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (pawl__str_equal(text, pawl__str(names[i].text))) {
            *out = (struct pawl_version_options){names[i].pick, 0};
            return PAWL_OK;
        }
    }
    if (!read_number(text, &number))
        return pawl__error_set(err, PAWL_EINVAL,
                               "versions are AllVersions, Draft, Latest, Published, "
                               "LatestOrPublished, LatestAndPublished or a number, not '%.*s'",
                               PAWL_STR_ARG(text));
    *out = number > 0 ? (struct pawl_version_options){PAWL_VERSIONS_NUMBER, number}
                      : (struct pawl_version_options){PAWL_VERSIONS_ALL, 0};
    return PAWL_OK;
}

void op_where_versions(struct op_query *to, const struct pawl_version_options *versions)
{
    switch (versions->pick) {
    case PAWL_VERSIONS_DEFAULT:
    case PAWL_VERSIONS_ALL:
        break;
    case PAWL_VERSIONS_DRAFT:
        op_where_int(to, "is_published", PAWL_EQ, 0);
        break;
    case PAWL_VERSIONS_LATEST:
        op_where_int(to, "is_latest", PAWL_NE, 0);
        break;
    case PAWL_VERSIONS_PUBLISHED:
        op_where_int(to, "is_published", PAWL_NE, 0);
        break;
    case PAWL_VERSIONS_LATEST_OR_PUBLISHED:
        to->any++;
        op_where_int(to, "is_latest", PAWL_NE, 0);
        to->conditions[to->query.condition_count - 1].any = to->any;
        op_where_int(to, "is_published", PAWL_NE, 0);
        to->conditions[to->query.condition_count - 1].any = to->any;
        break;
    case PAWL_VERSIONS_LATEST_AND_PUBLISHED:
        op_where_int(to, "is_latest", PAWL_NE, 0);
        op_where_int(to, "is_published", PAWL_NE, 0);
        break;
    case PAWL_VERSIONS_NUMBER:
        op_where_int(to, "version", PAWL_EQ, versions->number);
        break;
    }
}

/* ---- lists ----------------------------------------------------------------------------------- */

static void where_flags(struct op_query *to, const struct pawl_definition_query *query)
{
    if (query->is_system >= 0)
        op_where_int(to, "is_system", query->is_system ? PAWL_NE : PAWL_EQ, 0);
    if (query->is_published >= 0)
        op_where_int(to, "is_published", query->is_published ? PAWL_NE : PAWL_EQ, 0);
    if (query->usable_as_activity >= 0)
        op_where_int(to, "usable_as_activity", query->usable_as_activity ? PAWL_NE : PAWL_EQ, 0);
}

static int make_query(const struct pawl_op *op, const struct pawl_definition_query *query,
                      struct op_query *to)
{
    static const char *const orders[] = {
        [PAWL_DEFINITIONS_BY_NAME] = "name",
        [PAWL_DEFINITIONS_BY_CREATED] = "created_us",
        [PAWL_DEFINITIONS_BY_VERSION] = "version",
        [PAWL_DEFINITIONS_BY_ID] = "definition_id",
    };
    static const char *const searched[] = {"name", "description", "id", "definition_id", NULL};
    static const char *const names[] = {"name", NULL};
    int status = PAWL_OK;

    op_query_init(to, PAWL_TABLE_DEFINITIONS, orders[query->sort],
                  query->sort == PAWL_DEFINITIONS_BY_CREATED ||
                      query->sort == PAWL_DEFINITIONS_BY_VERSION);
    if (query->with_data)
        op_with_bytes(to);
    op_where_versions(to, &query->versions);
    op_where_given(to, "name", query->name);
    where_flags(to, query);
    if (query->name_contains.len > 0)
        op_where_contains(to, names, query->name_contains);
    if (query->search.len > 0)
        op_where_contains(to, searched, query->search);
    if (query->materializer.len > 0 && !pawl__str_is(query->materializer, "Json"))
        status = op_where_in(op, to, "id", NULL, 0);
    if (status == PAWL_OK && query->ids)
        status = op_where_in(op, to, "id", query->ids, query->id_count);
    if (status == PAWL_OK && query->definition_ids)
        status =
            op_where_in(op, to, "definition_id", query->definition_ids, query->definition_id_count);
    return status;
}

/* The flags in the document are replaced by those of the row. */
int op_definition_in_step(const struct pawl_op *op, struct pawl_definition_row *row)
{
    struct pawl_json json;
    struct pawl_buf text;
    int status = pawl__definition_read_into(op->arena, row, &json, op->err);

    if (status != PAWL_OK)
        return status;
    pawl__buf_init(&text, &op_env(op)->alloc, PAWL_DEFINITION_BYTES_MAX);
    pawl__json_write(&text, &json, PAWL_JSON_ESCAPE_MINIMAL);
    status = text.status;
    if (status == PAWL_OK) {
        row->data = pawl__arena_str(op->arena, pawl__buf_peek(&text));
        status = op->arena->status;
    }
    pawl__buf_release(&text);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(op->err, status);
}

/* Data in step. One that is damaged stays as it is. */
static int finish_rows(const struct pawl_op *op, const struct pawl_rows *found,
                       struct pawl_definition_list *out)
{
    struct pawl_definition_row *rows =
        pawl__arena_alloc_array(op->arena, found->count + 1, sizeof *rows);

    if (!rows)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    for (size_t i = 0; i < found->count; i++) {
        int status;

        rows[i] = ((const struct pawl_definition_row *)found->rows)[i];
        status = op_definition_in_step(op, &rows[i]);
        if (status != PAWL_OK && status != PAWL_EPARSE)
            return status;
    }
    out->rows = rows;
    return PAWL_OK;
}

int pawl__op_definitions_list(const struct pawl_op *op, const struct pawl_definition_query *query,
                              struct pawl_definition_list *out)
{
    struct pawl_definition_list found = {.rows = NULL};
    struct pawl_rows rows = {0};
    struct op_query asked;
    int status = make_query(op, query, &asked);

    if (status == PAWL_OK)
        status = op_find_page(op, &asked, &query->page, &rows, &found.page);
    if (status != PAWL_OK)
        return status;
    found.rows = rows.rows;
    found.count = rows.count;
    if (query->with_data)
        status = finish_rows(op, &rows, &found);
    if (status == PAWL_OK)
        *out = found;
    return status;
}

int pawl__op_definitions_count(const struct pawl_op *op, uint64_t *out)
{
    struct op_query query;

    op_query_init(&query, PAWL_TABLE_DEFINITIONS, NULL, false);
    op_where_int(&query, "is_latest", PAWL_NE, 0);
    return op_count(op, &query, out);
}

int pawl__op_definition_versions(const struct pawl_op *op, struct pawl_str definition_id,
                                 struct pawl_definition_list *out)
{
    struct pawl_definition_query query = PAWL_DEFINITION_QUERY_ALL;
    struct pawl_definition_list found;
    int status;

    query.definition_ids = &definition_id;
    query.definition_id_count = 1;
    query.with_data = true;
    query.sort = PAWL_DEFINITIONS_BY_VERSION;
    query.page.limit = PAWL_PAGE_ROWS_MAX;
    status = pawl__op_definitions_list(op, &query, &found);
    if (status == PAWL_OK && found.count == 0)
        return pawl__error_set(op->err, PAWL_ENOTFOUND, "there is no definition %.*s",
                               PAWL_STR_ARG(definition_id));
    if (status == PAWL_OK)
        *out = found;
    return status;
}

/* ---- of many definitions --------------------------------------------------------------------- */

/* One query names PAWL_STORE_VALUES_MAX of them at the most. */
int op_definitions_of(const struct pawl_op *op, enum pawl_version_pick pick,
                      const struct pawl_str *definition_ids, size_t count,
                      struct pawl_definition_list *out)
{
    struct pawl_definition_query query = PAWL_DEFINITION_QUERY_ALL;
    struct pawl_definition_list found = {.rows = NULL, .page = {.next = pawl__str("")}};
    struct pawl_definition_row *rows = pawl__arena_alloc_array(op->arena, count + 1, sizeof *rows);

    if (!rows)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    query.versions.pick = pick;
    query.page.limit = PAWL_PAGE_ROWS_MAX;
    for (size_t at = 0; at < count; at += query.definition_id_count) {
        struct pawl_definition_list part;
        int status;

        query.definition_ids = definition_ids + at;
        query.definition_id_count =
            count - at < PAWL_STORE_VALUES_MAX ? count - at : PAWL_STORE_VALUES_MAX;
        status = pawl__op_definitions_list(op, &query, &part);
        if (status != PAWL_OK)
            return status;
        for (size_t i = 0; i < part.count && found.count < count; i++)
            rows[found.count++] = part.rows[i];
    }
    found.rows = rows;
    *out = found;
    return PAWL_OK;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static const struct pawl_definition_row *other_of(const struct pawl_definition_list *list,
                                                  struct pawl_str definition_id)
{
    for (size_t i = 0; i < list->count; i++) {
        if (pawl__str_equal(list->rows[i].definition_id, definition_id))
            return &list->rows[i];
    }
    return NULL;
}

/* Pairs of a part of the list, so many that one query finds the others. */
static int pair_up(const struct pawl_op *op, bool by_published,
                   const struct pawl_definition_row *rows, size_t count,
                   struct pawl_definition_pair *pairs)
{
    struct pawl_str *ids = pawl__arena_alloc_array(op->arena, count + 1, sizeof *ids);
    struct pawl_definition_list others = {0};
    int status;

    if (!ids)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    for (size_t i = 0; i < count; i++)
        ids[i] = rows[i].definition_id;
    status = op_definitions_of(op, by_published ? PAWL_VERSIONS_LATEST : PAWL_VERSIONS_PUBLISHED,
                               ids, count, &others);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        const struct pawl_definition_row *other = other_of(&others, rows[i].definition_id);

        pairs[i] = by_published ? (struct pawl_definition_pair){other ? other : &rows[i], &rows[i]}
                                : (struct pawl_definition_pair){&rows[i], other};
    }
    return PAWL_OK;
}

int pawl__op_definitions_pairs(const struct pawl_op *op, const struct pawl_definition_query *query,
                               struct pawl_definition_pairs *out)
{
    bool by_published = query->versions.pick == PAWL_VERSIONS_PUBLISHED;
    struct pawl_definition_pair *pairs;
    struct pawl_definition_list list;
    int status = pawl__op_definitions_list(op, query, &list);

    if (status != PAWL_OK)
        return status;
    pairs = pawl__arena_alloc_array(op->arena, list.count + 1, sizeof *pairs);
    if (!pairs)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    for (size_t at = 0; at < list.count && status == PAWL_OK; at += PAWL_STORE_VALUES_MAX)
        status = pair_up(op, by_published, list.rows + at,
                         list.count - at < PAWL_STORE_VALUES_MAX ? list.count - at
                                                                 : PAWL_STORE_VALUES_MAX,
                         pairs + at);
    if (status == PAWL_OK)
        *out = (struct pawl_definition_pairs){pairs, list.count, list.page};
    return status;
}

/* ---- names ----------------------------------------------------------------------------------- */

int pawl__op_definition_name_is_unique(const struct pawl_op *op, struct pawl_str name,
                                       struct pawl_str definition_id, bool *out)
{
    struct op_query query;
    uint64_t count = 0;
    int status;

    name = pawl__str_trim(name);
    if (name.len == 0) { /* nameless ones do not have the same name */
        *out = true;
        return PAWL_OK;
    }
    op_query_init(&query, PAWL_TABLE_DEFINITIONS, NULL, false);
    op_where_text(&query, "name", PAWL_EQ, name);
    if (definition_id.len > 0)
        op_where_text(&query, "definition_id", PAWL_NE, definition_id);
    status = op_count(op, &query, &count);
    if (status == PAWL_OK)
        *out = count == 0;
    return status;
}
