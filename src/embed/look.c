/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at instances: state and journal as JSON, lists row by row. */
#include "embed/embed.h"

#include "base/error.h"
#include "operations/journal.h"
#include "views/instances.h"
#include "views/journal.h"

#define STATUS_COUNT ((size_t)PAWL_INSTANCE_INTERRUPTED + 1)

int pawl_instance_show(struct pawl *pawl, const char *instance_id, char **json,
                       struct pawl_error *err)
{
    struct pawl_json view = pawl__json_null();
    struct pawl_instance_shown shown;
    struct pawl_builder b;
    struct embed_call call;
    int status = pawl__embed_check_instance(pawl, instance_id, err);

    if (status == PAWL_OK)
        status = pawl__embed_check_json(json, err);
    if (status == PAWL_OK)
        status = pawl__embed_begin(&call, pawl, err);
    if (status != PAWL_OK)
        return status;
    b = (struct pawl_builder){.arena = &call.arena};
    status = pawl__op_instance_show(&call.op, pawl__str(instance_id), true, &shown);
    if (status == PAWL_OK && shown.unreadable.code != PAWL_OK) {
        status = shown.unreadable.code;
        if (err)
            *err = shown.unreadable;
    }
    if (status == PAWL_OK)
        view = pawl__view_state(&b, &shown.state);
    return pawl__embed_end_json(&call, status, &b, &view, json);
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
    struct embed_call call;
    int status = pawl__embed_check_instance(pawl, instance_id, err);

    if (status == PAWL_OK)
        status = pawl__embed_check_json(json, err);
    if (status == PAWL_OK && kind != PAWL_JOURNAL_LOG && kind != PAWL_JOURNAL_ACTIVITIES)
        status = pawl__error_set(err, PAWL_EINVAL, "there is no kind %d of a journal", (int)kind);
    if (status == PAWL_OK)
        status = pawl__embed_begin(&call, pawl, err);
    if (status != PAWL_OK)
        return status;
    status = pawl__op_instance_show(&call.op, executions.instance_id, false, &shown);
    if (status == PAWL_OK)
        status = kind == PAWL_JOURNAL_LOG
                     ? read_log(&call.op, executions.instance_id, &records)
                     : pawl__op_executions_list(&call.op, &executions, &records);
    return pawl__embed_end_json(&call, status, NULL, &records, json);
}

int pawl_execution_show(struct pawl *pawl, const char *execution_id, char **json,
                        struct pawl_error *err)
{
    struct pawl_json record;
    struct embed_call call;
    int status = pawl__embed_check_text(pawl, execution_id, "the execution's id", err);

    if (status == PAWL_OK)
        status = pawl__embed_check_json(json, err);
    if (status == PAWL_OK)
        status = pawl__embed_begin(&call, pawl, err);
    if (status != PAWL_OK)
        return status;
    status = pawl__op_execution_show(&call.op, pawl__str(""), pawl__str(execution_id), &record);
    return pawl__embed_end_json(&call, status, NULL, &record, json);
}

/* ---- lists --------------------------------------------------------------------------------- */

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
    const struct embed_text texts[] = {
        {filter->definition_id, "the filter's definition_id"},
        {filter->correlation_id, "the filter's correlation_id"},
        {filter->parent_id, "the filter's parent_id"},
        {filter->name, "the filter's name"},
        {filter->after, "the filter's after"},
    };
    int status = pawl__embed_check_texts(texts, sizeof texts / sizeof texts[0], op->err);

    *out = PAWL_INSTANCE_QUERY_ALL;
    out->definition_id = pawl__str(filter->definition_id);
    out->correlation_id = pawl__str(filter->correlation_id);
    out->parent_id = pawl__str(filter->parent_id);
    out->name = pawl__str(filter->name);
    out->all = filter->all != 0;
    return status == PAWL_OK ? query_statuses(op, filter, out) : status;
}

static int pass_instance(struct embed_call *call, const struct pawl_instance_row *instance,
                         int (*row)(void *ctx, const struct pawl_instance_info *instance),
                         void *ctx)
{
    const struct pawl_instance_info info = {
        .id = pawl__embed_str(call, instance->id),
        .definition_id = pawl__embed_str(call, instance->definition_id),
        .version_id = pawl__embed_str(call, instance->version_id),
        .parent_id = pawl__embed_str(call, instance->parent_id),
        .correlation_id = pawl__embed_str(call, instance->correlation_id),
        .name = pawl__embed_str(call, instance->name),
        .version = instance->version,
        .status = pawl__embed_status(instance->sub_status),
        .incident_count = instance->incident_count,
        .created_us = instance->created_us,
        .updated_us = instance->updated_us,
        .finished_us = instance->finished_us,
    };
    int status = pawl__embed_check_memory(call);

    return status == PAWL_OK && row(ctx, &info) != 0 ? EMBED_STOP : status;
}

int pawl_instances_list(struct pawl *pawl, const struct pawl_instance_filter *filter,
                        int (*row)(void *ctx, const struct pawl_instance_info *instance), void *ctx,
                        struct pawl_list_end *end, struct pawl_error *err)
{
    static const struct pawl_instance_filter all = {0};
    struct pawl_instance_list found = {.rows = NULL};
    struct pawl_instance_query query;
    struct embed_call call;
    int status = pawl__embed_begin(&call, pawl, err);

    if (status != PAWL_OK)
        return status;
    filter = filter ? filter : &all;
    status = pawl__embed_query(&call.op, filter, &query);
    query.page = pawl__embed_page(filter->limit, filter->after, row != NULL, end);
    if (status == PAWL_OK)
        status = pawl__op_instances_list(&call.op, &query, &found);
    for (size_t i = 0; status == PAWL_OK && row && i < found.count; i++)
        status = pass_instance(&call, &found.rows[i], row, ctx);
    return pawl__embed_end_list(&call, status, &found.page, end);
}
