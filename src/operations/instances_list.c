/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of instances: filters, orders, pages. */
#include "operations/instances.h"

#include "base/error.h"
#include "operations/query.h"
#include "runtime/definitions/definitions.h"

#define DAY_US INT64_C(86400000000)

/* Compares with a day: it is its first instant or the first one behind it that counts. */
static void where_day(struct op_query *to, const char *column,
                      const struct pawl_instance_time *time)
{
    int64_t end_us = time->us + DAY_US;

    switch (time->compare) {
    case PAWL_EQ:
        op_where_int(to, column, PAWL_GE, time->us);
        op_where_int(to, column, PAWL_LT, end_us);
        break;
    case PAWL_NE:
        op_where_outside(to, column, time->us, end_us);
        break;
    case PAWL_GT:
        op_where_int(to, column, PAWL_GE, end_us);
        break;
    case PAWL_LE:
        op_where_int(to, column, PAWL_LT, end_us);
        break;
    case PAWL_LT:
    case PAWL_GE:
    case PAWL_IN:
    case PAWL_CONTAINS:
        op_where_int(to, column, time->compare, time->us);
        break;
    }
}

static void where_time(struct op_query *to, const struct pawl_instance_time *time)
{
    static const char *const columns[] = {
        [PAWL_INSTANCE_CREATED] = "created_us",
        [PAWL_INSTANCE_UPDATED] = "updated_us",
        [PAWL_INSTANCE_ENDED] = "finished_us",
    };

    if (time->is_day)
        where_day(to, columns[time->which], time);
    else
        op_where_int(to, columns[time->which], time->compare, time->us);
    /* One that has not ended has no such time: 0 is none. */
    if (time->which == PAWL_INSTANCE_ENDED)
        op_where_int(to, "finished_us", PAWL_NE, 0);
}

static void where_flags(struct op_query *to, const struct pawl_instance_query *query)
{
    if (query->version != 0)
        op_where_int(to, "version", PAWL_EQ, query->version);
    if (query->has_incidents >= 0)
        op_where_int(to, "incident_count", query->has_incidents ? PAWL_NE : PAWL_EQ, 0);
    if (query->is_system >= 0)
        op_where_int(to, "is_system", query->is_system ? PAWL_NE : PAWL_EQ, 0);
    if (query->is_put_off)
        op_where_int(to, "retry_us", PAWL_GT, 0);
}

static int where_sub_status(const struct pawl_op *op, struct op_query *to,
                            const struct pawl_instance_query *query)
{
    struct pawl_str *names =
        pawl__arena_alloc_array(op->arena, query->sub_status_count + 1, sizeof *names);
    enum pawl_sub_status one;

    if (!names)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    for (size_t i = 0; i < query->sub_status_count; i++) {
        if (!pawl__sub_status_parse(query->sub_statuses[i], &one))
            return pawl__error_set(op->err, PAWL_EINVAL, "'%.*s' is not a status of an instance",
                                   PAWL_STR_ARG(query->sub_statuses[i]));
        names[i] = pawl__str(pawl__sub_status_name(one));
    }
    return op_where_in(op, to, "sub_status", names, query->sub_status_count);
}

/* The name of a status, however it is written; NULL: it is none. */
static const char *status_name(struct pawl_str status)
{
    static const char *const names[] = {"Running", "Finished"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (pawl__str_equal_nocase(status, pawl__str(names[i])))
            return names[i];
    }
    return NULL;
}

static int where_status(const struct pawl_op *op, struct op_query *to,
                        const struct pawl_instance_query *query)
{
    struct pawl_str *names =
        pawl__arena_alloc_array(op->arena, query->status_count + 1, sizeof *names);

    if (!names)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    for (size_t i = 0; i <= query->status_count; i++) {
        bool is_listed = i < query->status_count;
        struct pawl_str given = is_listed ? query->statuses[i] : query->status;
        const char *name = status_name(given);

        if (!name && (is_listed || given.len > 0))
            return pawl__error_set(op->err, PAWL_EINVAL,
                                   "'%.*s' is not a status: use Running or Finished",
                                   PAWL_STR_ARG(given));
        if (is_listed)
            names[i] = pawl__str(name);
        else if (name)
            op_where_text(to, "status", PAWL_EQ, pawl__str(name));
    }
    return query->statuses ? op_where_in(op, to, "status", names, query->status_count) : PAWL_OK;
}

/* Of versions that are one: its id. There is no such version: nothing matches. */
static int where_versions(const struct pawl_op *op, struct op_query *to,
                          const struct pawl_instance_query *query)
{
    struct pawl_definition_row row;
    int status;

    switch (query->versions.pick) {
    case PAWL_VERSIONS_DEFAULT:
    case PAWL_VERSIONS_ALL:
        return PAWL_OK;
    case PAWL_VERSIONS_NUMBER:
        op_where_int(to, "version", PAWL_EQ, query->versions.number);
        return PAWL_OK;
    case PAWL_VERSIONS_LATEST:
    case PAWL_VERSIONS_PUBLISHED:
    case PAWL_VERSIONS_LATEST_OR_PUBLISHED:
        break;
    case PAWL_VERSIONS_DRAFT:
    case PAWL_VERSIONS_LATEST_AND_PUBLISHED:
        return pawl__error_set(op->err, PAWL_EINVAL,
                               "instances are chosen by one version of a definition, or by all");
    }
    status = pawl__definitions_find(op_definitions(op), query->definition_id, query->versions.pick,
                                    0, op->arena, &row, op->deadline_ns, op->err);
    if (status == PAWL_ENOTFOUND)
        return op_where_in(op, to, "version_id", NULL, 0);
    if (status == PAWL_OK)
        op_where_text(to, "version_id", PAWL_EQ, row.id);
    return status;
}

static int where_lists(const struct pawl_op *op, struct op_query *to,
                       const struct pawl_instance_query *query)
{
    int status = PAWL_OK;

    if (query->ids)
        status = op_where_in(op, to, "id", query->ids, query->id_count);
    if (status == PAWL_OK && query->definition_ids)
        status =
            op_where_in(op, to, "definition_id", query->definition_ids, query->definition_id_count);
    if (status == PAWL_OK && query->sub_statuses)
        status = where_sub_status(op, to, query);
    return status;
}

static int make_query(const struct pawl_op *op, const struct pawl_instance_query *query,
                      struct op_query *to)
{
    static const char *const orders[] = {
        [PAWL_INSTANCES_BY_CREATED] = "created_us",
        [PAWL_INSTANCES_BY_UPDATED] = "updated_us",
        [PAWL_INSTANCES_BY_FINISHED] = "finished_us",
        [PAWL_INSTANCES_BY_NAME] = "name",
    };
    static const char *const searched[] = {"name",           "id", "definition_id", "version_id",
                                           "correlation_id", NULL};
    int status;

    if (query->time_count > PAWL_INSTANCE_TIMES_MAX)
        return pawl__error_set(op->err, PAWL_EINVAL, "at most %d times at a time, not %zu",
                               PAWL_INSTANCE_TIMES_MAX, query->time_count);
    op_query_init(to, PAWL_TABLE_INSTANCES, orders[query->sort],
                  query->sort != PAWL_INSTANCES_BY_NAME);
    op_where_given(to, "definition_id", query->definition_id);
    op_where_given(to, "version_id", query->version_id);
    op_where_given(to, "correlation_id", query->correlation_id);
    op_where_given(to, "parent_id", query->parent_id);
    op_where_given(to, "name", query->name);
    where_flags(to, query);
    for (size_t i = 0; i < query->time_count; i++)
        where_time(to, &query->times[i]);
    if (query->search.len > 0)
        op_where_contains(to, searched, query->search);
    status = where_status(op, to, query);
    if (status == PAWL_OK)
        status = where_versions(op, to, query);
    return status == PAWL_OK ? where_lists(op, to, query) : status;
}

/*
 * The one whose id is what is searched for, if the rest holds for it too: by its key, so that it is
 * found however many others there are. Pages of one row are left as they are: there would be no
 * place behind it.
 */
static int find_exact(const struct pawl_op *op, const struct pawl_instance_query *query,
                      struct pawl_rows *out)
{
    struct pawl_instance_query rest = *query;
    struct op_query asked;
    int status;

    if (query->search.len == 0 || query->page.limit == 1)
        return PAWL_OK;
    rest.search = pawl__str("");
    status = make_query(op, &rest, &asked);
    op_where_text(&asked, "id", PAWL_EQ, query->search);
    return status == PAWL_OK ? op_find_all(op, &asked, 1, out) : status;
}

/* Puts it before the others, which are the rest of the page. */
static int put_first(const struct pawl_op *op, const struct pawl_instance_row *exact,
                     struct pawl_instance_list *list)
{
    struct pawl_instance_row *rows =
        pawl__arena_alloc_array(op->arena, list->count + 1, sizeof *rows);

    if (!rows)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    rows[0] = *exact;
    for (size_t i = 0; i < list->count; i++)
        rows[i + 1] = list->rows[i];
    list->rows = rows;
    list->count++;
    return PAWL_OK;
}

int pawl__op_instances_list(const struct pawl_op *op, const struct pawl_instance_query *query,
                            struct pawl_instance_list *out)
{
    struct pawl_page_request page = query->page;
    struct pawl_instance_list found = {.rows = NULL};
    struct pawl_rows rows = {0}, exact = {0};
    bool is_first = page.after.len == 0 && page.offset == 0 && !page.total_only;
    struct op_query asked;
    int status = make_query(op, query, &asked);

    if (status == PAWL_OK)
        status = find_exact(op, query, &exact);
    if (status == PAWL_OK && exact.count > 0) {
        op_where_text(&asked, "id", PAWL_NE, query->search);
        if (page.limit == 0)
            page.limit = PAWL_PAGE_ROWS_DEFAULT;
        page.limit -= is_first;
        page.offset -= page.offset > 0;
    }
    if (status == PAWL_OK)
        status = op_find_page(op, &asked, &page, &rows, &found.page);
    if (status != PAWL_OK)
        return status;
    found.rows = rows.rows;
    found.count = rows.count;
    found.page.total += exact.count > 0 && (page.with_total || page.total_only);
    if (exact.count > 0 && is_first)
        status = put_first(op, exact.rows, &found);
    if (status == PAWL_OK)
        *out = found;
    return status;
}
