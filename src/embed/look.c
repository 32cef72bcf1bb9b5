/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at instances: state and journal as JSON, lists row by row. */
#include "embed/embed.h"

#include "base/error.h"
#include "base/json/builder.h"
#include "operations/journal.h"
#include "views/instances.h"
#include "views/journal.h"

#define STATUS_COUNT ((size_t)PAWL_INSTANCE_INTERRUPTED + 1)

int pawl_instance_state(struct pawl *pawl, const char *instance_id, char **json,
                        struct pawl_error *err)
{
    struct pawl_instance_shown shown;
    struct pawl_arena arena;
    struct pawl_op op;
    int status = pawl__embed_check_instance(pawl, instance_id, err);

    if (status == PAWL_OK)
        status = pawl__embed_check_answer(json, err);
    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&arena, &pawl->env->alloc, EMBED_BYTES_MAX);
    op = pawl__embed_op(pawl, &arena, err);
    status = pawl__op_instances_show(&op, pawl__str(instance_id), true, &shown);
    if (status == PAWL_OK && shown.unreadable.code != PAWL_OK) {
        status = shown.unreadable.code;
        if (err)
            *err = shown.unreadable;
    }
    if (status == PAWL_OK) {
        struct pawl_builder b = {.arena = &arena};
        struct pawl_json view = pawl__view_state(&b, &shown.state);

        status = b.status == PAWL_OK ? pawl__embed_text(pawl, &view, json, err)
                                     : pawl__error_code(err, b.status);
    }
    pawl__arena_release(&arena);
    return status;
}

/* All of the log, a page after the other. */
static int read_log(const struct pawl_op *op, struct pawl_str instance_id, struct pawl_json *out)
{
    struct pawl_journal_query query = {.instance_id = instance_id, .limit = PAWL_PAGE_ROWS_MAX};
    struct pawl_builder b = {.arena = op->arena};
    struct pawl_journal_list page;
    int status;

    *out = pawl__json_array();
    do {
        status = pawl__op_journal_list(op, &query, &page);
        for (uint32_t i = 0; status == PAWL_OK && i < pawl__json_len(&page.records); i++)
            pawl__build_append(&b, out,
                               pawl__view_journal_record(&b, pawl__json_at(&page.records, i)));
        query.offset += query.limit;
        if (status == PAWL_OK && b.status != PAWL_OK)
            status = pawl__error_code(op->err, b.status);
    } while (status == PAWL_OK && pawl__json_len(&page.records) == query.limit);
    return status;
}

int pawl_instance_journal(struct pawl *pawl, const char *instance_id,
                          enum pawl_instance_journal_kind kind, char **json, struct pawl_error *err)
{
    const struct pawl_execution_query executions = {.instance_id = pawl__str(instance_id),
                                                    .is_completed = -1};
    struct pawl_instance_shown shown;
    struct pawl_json records;
    struct pawl_arena arena;
    struct pawl_op op;
    int status = pawl__embed_check_instance(pawl, instance_id, err);

    if (status == PAWL_OK)
        status = pawl__embed_check_answer(json, err);
    if (status == PAWL_OK && kind != PAWL_JOURNAL_LOG && kind != PAWL_JOURNAL_ACTIVITIES)
        status = pawl__error_set(err, PAWL_EINVAL, "%d is no kind of journal", (int)kind);
    if (status != PAWL_OK)
        return status;
    op = pawl__embed_begin(pawl, &arena, err);
    status = pawl__op_instances_show(&op, executions.instance_id, false, &shown);
    if (status == PAWL_OK)
        status = kind == PAWL_JOURNAL_LOG ? read_log(&op, executions.instance_id, &records)
                                          : pawl__op_executions_list(&op, &executions, &records);
    if (status == PAWL_OK)
        status = pawl__embed_text(pawl, &records, json, err);
    pawl__arena_release(&arena);
    return status;
}

int pawl_execution_show(struct pawl *pawl, const char *execution_id, char **json,
                        struct pawl_error *err)
{
    struct pawl_json record;
    struct pawl_arena arena;
    struct pawl_op op;
    int status = pawl__embed_check_text(pawl, execution_id, "the execution's id", err);

    if (status == PAWL_OK)
        status = pawl__embed_check_answer(json, err);
    if (status != PAWL_OK)
        return status;
    op = pawl__embed_begin(pawl, &arena, err);
    status = pawl__op_execution_show(&op, pawl__str(""), pawl__str(execution_id), &record);
    if (status == PAWL_OK)
        status = pawl__embed_text(pawl, &record, json, err);
    pawl__arena_release(&arena);
    return status;
}

/* ---- lists --------------------------------------------------------------------------------- */

static int check_filter(const struct pawl_instance_filter *filter, struct pawl_error *err)
{
    const struct {
        const char *text, *what;
    } texts[] = {
        {filter->definition_id, "the filter's definition_id"},
        {filter->correlation_id, "the filter's correlation_id"},
        {filter->parent_id, "the filter's parent_id"},
        {filter->name, "the filter's name"},
        {filter->after ? filter->after->id : NULL, "the id of the instance to go on after"},
    };
    int status = PAWL_OK;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0] && status == PAWL_OK; i++)
        status = pawl__text_check_utf8(texts[i].text, texts[i].what, err);
    return status;
}

static int query_statuses(const struct pawl_op *op, const struct pawl_instance_filter *filter,
                          struct pawl_instance_query *out)
{
    struct pawl_str *names =
        pawl__arena_alloc_array(op->arena, filter->status_count + 1, sizeof *names);

    if (!names)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    for (size_t i = 0; i < filter->status_count; i++) {
        if (!filter->statuses || (unsigned)filter->statuses[i] >= STATUS_COUNT)
            return pawl__error_set(op->err, PAWL_EINVAL, "status %zu of the filter is none", i);
        names[i] = pawl__str(pawl_instance_status_name(filter->statuses[i]));
    }
    if (filter->status_count > 0) {
        out->sub_statuses = names;
        out->sub_status_count = filter->status_count;
    }
    return PAWL_OK;
}

int pawl__embed_query(const struct pawl_op *op, const struct pawl_instance_filter *filter,
                      struct pawl_instance_query *out)
{
    int status = check_filter(filter, op->err);

    *out = PAWL_INSTANCE_QUERY_ALL;
    if (status != PAWL_OK)
        return status;
    out->definition_id = pawl__str(filter->definition_id);
    out->correlation_id = pawl__str(filter->correlation_id);
    out->parent_id = pawl__str(filter->parent_id);
    out->name = pawl__str(filter->name);
    out->page.limit = filter->limit;
    status = query_statuses(op, filter, out);
    if (status == PAWL_OK && filter->after && !filter->after->id)
        return pawl__error_set(op->err, PAWL_EINVAL, "the instance to go on after has no id");
    if (status == PAWL_OK && filter->after) {
        const struct pawl_instance_row last = {.id = pawl__str(filter->after->id),
                                               .created_us = filter->after->created_us};

        status = pawl__op_instances_behind(op, out, &last, &out->page.after);
    }
    return status;
}

/* Rows need not end in NUL. */
static int tell(struct pawl_arena *arena, const struct pawl_instance_row *row,
                int (*visit)(void *ctx, const struct pawl_instance_info *instance), void *ctx,
                bool *stop, struct pawl_error *err)
{
    const struct pawl_instance_info info = {
        .id = pawl__arena_str(arena, row->id).ptr,
        .definition_id = pawl__arena_str(arena, row->definition_id).ptr,
        .version_id = pawl__arena_str(arena, row->version_id).ptr,
        .parent_id = pawl__arena_str(arena, row->parent_id).ptr,
        .correlation_id = pawl__arena_str(arena, row->correlation_id).ptr,
        .name = pawl__arena_str(arena, row->name).ptr,
        .version = row->version,
        .status = pawl__embed_status(row->sub_status),
        .incident_count = row->incident_count,
        .created_us = row->created_us,
        .updated_us = row->updated_us,
        .finished_us = row->finished_us,
    };

    if (arena->status != PAWL_OK)
        return pawl__error_code(err, arena->status);
    *stop = visit(ctx, &info) != 0;
    return PAWL_OK;
}

int pawl_instances_list(struct pawl *pawl, const struct pawl_instance_filter *filter,
                        int (*row)(void *ctx, const struct pawl_instance_info *instance), void *ctx,
                        uint64_t *total, struct pawl_error *err)
{
    static const struct pawl_instance_filter all = {0};
    struct pawl_instance_list list = {.rows = NULL};
    struct pawl_instance_query query;
    struct pawl_arena arena;
    struct pawl_op op;
    bool stop = false;
    int status = pawl__embed_check(pawl, err);

    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&arena, &pawl->env->alloc, EMBED_BYTES_MAX);
    op = pawl__embed_op(pawl, &arena, err);
    status = pawl__embed_query(&op, filter ? filter : &all, &query);
    query.page.with_total = total != NULL;
    query.page.total_only = row == NULL;
    if (status == PAWL_OK)
        status = pawl__op_instances_list(&op, &query, &list);
    for (size_t i = 0; status == PAWL_OK && row && i < list.count && !stop; i++)
        status = tell(&arena, &list.rows[i], row, ctx, &stop, err);
    pawl__arena_release(&arena);
    if (status == PAWL_OK && total)
        *total = list.page.total;
    return status;
}
