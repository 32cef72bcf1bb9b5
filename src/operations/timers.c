/* SPDX-License-Identifier: Apache-2.0 */
/* Timers, joined with what they belong to; see timers.h. */
#include "operations/timers.h"

#include "base/error.h"
#include "operations/query.h"
#include "runtime/runtime.h"

/* Timers that are joined at a time: what one query takes as values. */
#define JOINED_MAX ((size_t)PAWL_STORE_VALUES_MAX)

static struct pawl_str key_in(const struct pawl_timer *timer, enum pawl_table table)
{
    if (table == PAWL_TABLE_TRIGGERS)
        return timer->is_tick ? timer->work->name : pawl__str("");
    if (timer->is_tick)
        return pawl__str("");
    return table == PAWL_TABLE_BOOKMARKS ? timer->work->bookmark_id : timer->work->instance_id;
}

static void join(struct pawl_timer *timer, enum pawl_table table, const void *row)
{
    if (table == PAWL_TABLE_TRIGGERS)
        timer->trigger = row;
    else if (table == PAWL_TABLE_BOOKMARKS)
        timer->bookmark = row;
    else
        timer->instance = row;
}

/* The id is the first column of each of the three tables, and of their rows. */
static struct pawl_str id_of(const void *row)
{
    return *(const struct pawl_str *)row;
}

/* Finds the rows of a table that these timers name. */
static int join_rows(const struct pawl_op *op, struct pawl_timer *timers, size_t count,
                     enum pawl_table table)
{
    size_t row_size = pawl_table_info(table)->row_size, named = 0;
    struct pawl_str ids[JOINED_MAX];
    struct pawl_rows rows = {0};
    struct op_query query;
    int status;

    for (size_t i = 0; i < count; i++) {
        ids[named] = key_in(&timers[i], table);
        named += ids[named].len > 0;
    }
    if (named == 0)
        return PAWL_OK;
    op_query_init(&query, table, NULL, false);
    if (table != PAWL_TABLE_INSTANCES)
        op_with_bytes(&query);
    status = op_where_in(op, &query, "id", ids, named);
    if (status == PAWL_OK)
        status = op_find_all(op, &query, 0, &rows);
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        struct pawl_str id = key_in(&timers[i], table);

        for (size_t r = 0; id.len > 0 && r < rows.count; r++) {
            const void *row = (const char *)rows.rows + r * row_size;

            if (pawl__str_equal(id_of(row), id)) {
                join(&timers[i], table, row);
                break;
            }
        }
    }
    return status;
}

static int join_all(const struct pawl_op *op, struct pawl_timer *timers, size_t count)
{
    static const enum pawl_table tables[] = {PAWL_TABLE_BOOKMARKS, PAWL_TABLE_INSTANCES,
                                             PAWL_TABLE_TRIGGERS};
    int status = PAWL_OK;

    for (size_t at = 0; at < count && status == PAWL_OK; at += JOINED_MAX) {
        size_t some = count - at < JOINED_MAX ? count - at : JOINED_MAX;

        for (size_t i = 0; i < sizeof tables / sizeof tables[0] && status == PAWL_OK; i++)
            status = join_rows(op, timers + at, some, tables[i]);
    }
    return status;
}

static int find(const struct pawl_op *op, const struct pawl_timer_query *query, int64_t now_us,
                struct pawl_rows *rows, struct pawl_page *page)
{
    const struct pawl_str kinds[] = {pawl__str(PAWL_WORK_TIMER), pawl__str(PAWL_WORK_TICK)};
    struct op_query asked;
    int status;

    op_query_init(&asked, PAWL_TABLE_WORK, "due_us", false);
    op_where_int(&asked, "due_us", PAWL_LT, PAWL_TIME_NEVER);
    op_where_given(&asked, "instance_id", query->instance_id);
    if (query->is_overdue)
        op_where_int(&asked, "due_us", PAWL_LE, now_us);
    status = op_where_in(op, &asked, "kind", kinds, sizeof kinds / sizeof kinds[0]);
    return status == PAWL_OK ? op_find_page(op, &asked, &query->page, rows, page) : status;
}

int pawl__op_timers_list(const struct pawl_op *op, const struct pawl_timer_query *query,
                         struct pawl_timer_list *out)
{
    struct pawl_timer_list found = {.count = 0};
    const struct pawl_work_row *work;
    struct pawl_rows rows = {0};
    struct pawl_timer *timers;
    int status = op_now(op, &found.now_us);

    if (status == PAWL_OK)
        status = find(op, query, found.now_us, &rows, &found.page);
    if (status != PAWL_OK)
        return status;
    timers = pawl__arena_alloc_array(op->arena, rows.count + 1, sizeof *timers);
    if (!timers)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    work = rows.rows;
    for (size_t i = 0; i < rows.count; i++)
        timers[i] = (struct pawl_timer){.work = &work[i],
                                        .is_tick = pawl__str_is(work[i].kind, PAWL_WORK_TICK),
                                        .is_overdue = work[i].due_us <= found.now_us};
    status = join_all(op, timers, rows.count);
    if (status != PAWL_OK)
        return status;
    found.timers = timers;
    found.count = rows.count;
    *out = found;
    return PAWL_OK;
}
