/* SPDX-License-Identifier: Apache-2.0 */
/* Open tasks by their names; see metrics_tasks.h. */
#include "operations/metrics_tasks.h"

#include "base/json/json.h"
#include "base/stimuli.h"
#include "operations/query.h"

static struct pawl_str name_of(const struct pawl_op *op, const struct pawl_bookmark_row *row)
{
    struct pawl_json stimulus = pawl__json_null();

    if (row->payload.len == 0 ||
        pawl__json_parse(op->arena, row->payload, NULL, &stimulus, NULL, NULL) != PAWL_OK)
        return pawl__str("");
    return pawl__json_str(pawl__json_get_text(&stimulus, PAWL_STIMULUS_TASK_NAME));
}

/* NULL: there are as many names as there may be. */
static struct op_task_name *entry_of(struct op_task_names *names, struct pawl_str name)
{
    for (size_t i = 0; i < names->count; i++)
        if (pawl__str_equal(names->names[i].name, name))
            return &names->names[i];
    if (names->count == OP_TASK_NAMES_MAX)
        return NULL;
    names->names[names->count] = (struct op_task_name){.name = name};
    return &names->names[names->count++];
}

static void add(struct op_task_name *entry, uint64_t count, int64_t since_us)
{
    entry->count += count;
    if (entry->oldest_us == 0 || since_us < entry->oldest_us)
        entry->oldest_us = since_us;
}

int op_count_tasks(const struct pawl_op *op, struct op_task_names *out)
{
    struct op_task_name other = {.name = pawl__str("other")};
    struct pawl_rows rows = {0};
    struct op_query query;
    uint64_t total = 0;
    int status;

    out->count = 0;
    op_query_init(&query, PAWL_TABLE_BOOKMARKS, NULL, false);
    op_where_text(&query, "name", PAWL_EQ, pawl__str(PAWL_STIMULUS_TASK));
    status = op_count(op, &query, &total);
    op_query_init(&query, PAWL_TABLE_BOOKMARKS, "created_us", false);
    op_with_bytes(&query);
    op_where_text(&query, "name", PAWL_EQ, pawl__str(PAWL_STIMULUS_TASK));
    if (status == PAWL_OK)
        status = op_find_all(op, &query, OP_TASKS_READ_MAX, &rows);
    if (status == PAWL_OK)
        status = op_now(op, &out->now_us);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < rows.count; i++) {
        const struct pawl_bookmark_row *row = &((const struct pawl_bookmark_row *)rows.rows)[i];
        struct op_task_name *entry = entry_of(out, name_of(op, row));

        add(entry ? entry : &other, 1, row->created_us);
    }
    if (total > rows.count)
        other.count += total - rows.count;
    out->names[out->count++] = other;
    return PAWL_OK;
}
