/* SPDX-License-Identifier: Apache-2.0 */
/* What an instance waits for, one bookmark at a time; see why.h. */
#include "base/error.h"
#include "base/stimuli.h"
#include "operations/query.h"
#include "operations/why_private.h"
#include "runtime/runtime.h"

static struct pawl_str text_of(const struct pawl_json *object, const char *key)
{
    return pawl__json_str(pawl__json_get_text(object, key));
}

static bool has_timer(const struct why *why, struct pawl_str bookmark_id)
{
    const struct pawl_work_row *work = why->work.rows;

    for (size_t i = 0; i < why->work.count; i++) {
        if (pawl__str_is(work[i].kind, PAWL_WORK_TIMER) &&
            pawl__str_equal(work[i].bookmark_id, bookmark_id))
            return true;
    }
    return false;
}

/* Of what kind it is, and what belongs to that, but for children. */
static void describe(const struct why *why, struct pawl_why_wait *wait)
{
    struct pawl_str name = wait->row->name;
    int64_t due = pawl__bookmark_due(name, &wait->payload);

    wait->name = wait->id = pawl__str("");
    if (due != INT64_MAX) {
        wait->what = PAWL_WHY_FOR_TIMER;
        wait->due_us = pawl__ticks_to_us(due);
        wait->has_timer = has_timer(why, wait->row->id);
    } else if (pawl__str_is(name, PAWL_STIMULUS_EVENT)) {
        wait->what = PAWL_WHY_FOR_EVENT;
        wait->name = text_of(&wait->payload, PAWL_STIMULUS_EVENT_NAME);
    } else if (pawl__str_is(name, PAWL_STIMULUS_TASK)) {
        wait->what = PAWL_WHY_FOR_TASK;
        wait->id = text_of(&wait->payload, PAWL_STIMULUS_TASK_ID);
        wait->name = text_of(&wait->payload, PAWL_STIMULUS_TASK_NAME);
    } else if (text_of(&wait->payload, PAWL_STIMULUS_CHILD_ID).len > 0) {
        wait->what = PAWL_WHY_FOR_CHILD;
        wait->id = text_of(&wait->payload, PAWL_STIMULUS_CHILD_ID);
    } else if (pawl__str_is(name, PAWL_STIMULUS_BULK)) {
        wait->what = PAWL_WHY_FOR_CHILDREN;
    } else if (pawl__str_is(name, PAWL_STIMULUS_HTTP_ENDPOINT)) {
        wait->what = PAWL_WHY_FOR_REQUEST;
        wait->name = text_of(&wait->payload, "method");
        wait->id = text_of(&wait->payload, "path");
    } else {
        wait->what = PAWL_WHY_FOR_BOOKMARK;
    }
}

/* ---- children ------------------------------------------------------------------------------- */

static int find_running(struct why *why, struct pawl_rows *rows)
{
    struct op_query query;

    op_query_init(&query, PAWL_TABLE_INSTANCES, NULL, false);
    query.query.flags |= PAWL_QUERY_TOTAL;
    op_where_text(&query, "parent_id", PAWL_EQ, why->out.row.id);
    op_where_text(&query, "status", PAWL_EQ, pawl__str("Running"));
    return op_find_all(why->op, &query, PAWL_WHY_ROWS_MAX, rows);
}

static int find_named(struct why *why, const struct pawl_why_wait *waits, size_t count,
                      struct pawl_rows *rows)
{
    struct pawl_str ids[PAWL_WHY_ROWS_MAX];
    struct op_query query;
    size_t named = 0;
    int status;

    for (size_t i = 0; i < count; i++) {
        if (waits[i].what == PAWL_WHY_FOR_CHILD)
            ids[named++] = waits[i].id;
    }
    if (named == 0)
        return PAWL_OK;
    op_query_init(&query, PAWL_TABLE_INSTANCES, NULL, false);
    status = op_where_in(why->op, &query, "id", ids, named);
    return status == PAWL_OK ? op_find_all(why->op, &query, 0, rows) : status;
}

static void add_children(struct pawl_why_wait *wait, const struct pawl_rows *rows,
                         const struct pawl_instance_row **to)
{
    const struct pawl_instance_row *children = rows->rows;

    wait->children = to;
    for (size_t i = 0; i < rows->count; i++) {
        if (wait->what == PAWL_WHY_FOR_CHILDREN || pawl__str_equal(children[i].id, wait->id))
            to[wait->child_count++] = &children[i];
    }
    wait->child_total = wait->what == PAWL_WHY_FOR_CHILDREN ? rows->total : wait->child_count;
}

/* One query for those that bookmarks name, one for all that run: each only if a bookmark asks. */
static int join_children(struct why *why, struct pawl_why_wait *waits, size_t count)
{
    struct pawl_arena *arena = why->op->arena;
    struct pawl_rows running = {0}, named = {0};
    bool bulk = false;
    int status;

    for (size_t i = 0; i < count; i++)
        bulk = bulk || waits[i].what == PAWL_WHY_FOR_CHILDREN;
    status = find_named(why, waits, count, &named);
    if (status == PAWL_OK && bulk)
        status = find_running(why, &running);
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        bool is_bulk = waits[i].what == PAWL_WHY_FOR_CHILDREN;
        const struct pawl_rows *rows = is_bulk ? &running : &named;
        const struct pawl_instance_row **to;

        if (!is_bulk && waits[i].what != PAWL_WHY_FOR_CHILD)
            continue;
        to = pawl__arena_alloc_array(arena, rows->count + 1, sizeof(const void *));
        if (!to)
            return pawl__error_code(why->op->err, pawl__arena_status(arena));
        add_children(&waits[i], rows, to);
    }
    return status;
}

int op_why_waits(struct why *why)
{
    const struct pawl_bookmark_row *rows = why->bookmarks.rows;
    struct pawl_arena *arena = why->op->arena;
    struct pawl_why_wait *waits =
        pawl__arena_alloc_array(arena, why->bookmarks.count + 1, sizeof *waits);
    int status;

    if (!waits)
        return pawl__error_code(why->op->err, pawl__arena_status(arena));
    for (size_t i = 0; i < why->bookmarks.count; i++) {
        waits[i] = (struct pawl_why_wait){.row = &rows[i], .payload = pawl__json_null()};
        if (rows[i].payload.len > 0 && pawl__json_parse(arena, rows[i].payload, NULL,
                                                        &waits[i].payload, NULL, NULL) != PAWL_OK)
            waits[i].payload = pawl__json_null(); /* then it is told by its name */
        describe(why, &waits[i]);
    }
    status = join_children(why, waits, why->bookmarks.count);
    why->out.waits = waits;
    why->out.wait_count = why->bookmarks.count;
    return status;
}
