/* SPDX-License-Identifier: Apache-2.0 */
/* Records of what operators changed. */
#include "embed/embed.h"

#include "operations/audit.h"
#include "views/audit.h"

static int make_query(const struct pawl_audit_filter *filter, struct pawl_audit_query *out,
                      struct pawl_error *err)
{
    const struct embed_text texts[] = {
        {filter->actor, "the filter's actor"}, {filter->action, "the filter's action"},
        {filter->kind, "the filter's kind"},   {filter->target, "the filter's target"},
        {filter->after, "the filter's after"},
    };

    *out = (struct pawl_audit_query){.actor = pawl__str(filter->actor),
                                     .action = pawl__str(filter->action),
                                     .kind = pawl__str(filter->kind),
                                     .target = pawl__str(filter->target),
                                     .from_us = filter->from_us,
                                     .until_us = filter->until_us};
    return pawl__embed_check_texts(texts, sizeof texts / sizeof texts[0], err);
}

static int pass_record(struct embed_call *call, const struct pawl_audit_row *record,
                       int (*row)(void *ctx, const struct pawl_audit_info *record), void *ctx)
{
    const struct pawl_audit_info info = {
        .request_id = pawl__embed_str(call, record->id),
        .created_us = record->created_us,
        .actor = pawl__embed_str(call, record->actor),
        .door = pawl__embed_str(call, record->door),
        .action = pawl__embed_str(call, record->action),
        .kind = pawl__embed_str(call, record->kind),
        .target = pawl__embed_str(call, record->target),
        .count = record->count,
    };
    int status = pawl__embed_check_memory(call);

    return status == PAWL_OK && row(ctx, &info) != 0 ? EMBED_STOP : status;
}

int pawl_audit_list(struct pawl *pawl, const struct pawl_audit_filter *filter,
                    int (*row)(void *ctx, const struct pawl_audit_info *record), void *ctx,
                    struct pawl_list_end *end, struct pawl_error *err)
{
    static const struct pawl_audit_filter all = {0};
    struct pawl_audit_list found = {.count = 0};
    struct pawl_audit_query query;
    struct embed_call call;
    int status = pawl__embed_begin(&call, pawl, err);

    if (status != PAWL_OK)
        return status;
    filter = filter ? filter : &all;
    status = make_query(filter, &query, err);
    query.page = pawl__embed_page(filter->limit, filter->after, row != NULL, end);
    if (status == PAWL_OK)
        status = pawl__op_audit_list(&call.op, &query, &found);
    for (size_t i = 0; status == PAWL_OK && row && i < found.count; i++)
        status = pass_record(&call, &found.rows[i], row, ctx);
    return pawl__embed_end_list(&call, status, &found.page, end);
}

int pawl_audit_show(struct pawl *pawl, const char *request_id, char **json, struct pawl_error *err)
{
    struct pawl_json view = pawl__json_null();
    struct pawl_audit_row row;
    struct pawl_builder b;
    struct embed_call call;
    int status = pawl__embed_check_text(pawl, request_id, "the request's id", err);

    if (status == PAWL_OK)
        status = pawl__embed_check_json(json, err);
    if (status == PAWL_OK)
        status = pawl__embed_begin(&call, pawl, err);
    if (status != PAWL_OK)
        return status;
    b = (struct pawl_builder){.arena = &call.arena};
    status = pawl__op_audit_show(&call.op, pawl__str(request_id), &row);
    if (status == PAWL_OK)
        view = pawl__view_audit(&b, &row);
    return pawl__embed_end_json(&call, status, &b, &view, json);
}
