/* SPDX-License-Identifier: Apache-2.0 */
/* Records of what operators changed. */
#include "embed/embed.h"

#include "base/error.h"
#include "operations/audit.h"
#include "views/audit.h"

/* `filter` NULL: all. PAWL_EINVAL: a text that is not UTF-8. */
static int make_query(const struct pawl_audit_filter *filter, struct pawl_audit_query *out,
                      struct pawl_error *err)
{
    static const struct pawl_audit_filter all = {0};
    int status;

    filter = filter ? filter : &all;
    status = pawl__text_check_utf8(filter->actor, "the filter's actor", err);
    if (status == PAWL_OK)
        status = pawl__text_check_utf8(filter->action, "the filter's action", err);
    if (status == PAWL_OK)
        status = pawl__text_check_utf8(filter->kind, "the filter's kind", err);
    if (status == PAWL_OK)
        status = pawl__text_check_utf8(filter->target, "the filter's target", err);
    if (status == PAWL_OK)
        status = pawl__text_check_utf8(filter->after, "the filter's after", err);
    if (status == PAWL_OK)
        *out = (struct pawl_audit_query){
            .actor = pawl__str(filter->actor),
            .action = pawl__str(filter->action),
            .kind = pawl__str(filter->kind),
            .target = pawl__str(filter->target),
            .from_us = filter->from_us,
            .until_us = filter->until_us,
            .page = {.limit = filter->limit, .after = pawl__str(filter->after)}};
    return status;
}

static int tell(struct pawl_arena *arena, const struct pawl_audit_row *record,
                int (*row)(void *ctx, const struct pawl_audit_info *record), void *ctx, bool *stop,
                struct pawl_error *err)
{
    const struct pawl_audit_info info = {
        .request_id = pawl__embed_str(arena, record->id),
        .created_us = record->created_us,
        .actor = pawl__embed_str(arena, record->actor),
        .door = pawl__embed_str(arena, record->door),
        .action = pawl__embed_str(arena, record->action),
        .kind = pawl__embed_str(arena, record->kind),
        .target = pawl__embed_str(arena, record->target),
        .count = record->count,
    };

    if (arena->status != PAWL_OK)
        return pawl__error_code(err, arena->status);
    *stop = row && row(ctx, &info) != 0;
    return PAWL_OK;
}

int pawl_audit_list(struct pawl *pawl, const struct pawl_audit_filter *filter,
                    int (*row)(void *ctx, const struct pawl_audit_info *record), void *ctx,
                    struct pawl_list_end *end, struct pawl_error *err)
{
    struct pawl_audit_list found = {.count = 0};
    struct pawl_audit_query query;
    struct pawl_arena arena;
    struct pawl_op op;
    bool stop = false;
    int status = pawl__embed_check(pawl, err);

    if (status == PAWL_OK)
        status = make_query(filter, &query, err);
    if (status != PAWL_OK)
        return status;
    query.page.with_total = end != NULL;
    query.page.total_only = !row;
    op = pawl__embed_begin(pawl, &arena, err);
    status = pawl__op_audit_list(&op, &query, &found);
    for (size_t i = 0; status == PAWL_OK && i < found.count && !stop; i++)
        status = tell(&arena, &found.rows[i], row, ctx, &stop, err);
    if (status == PAWL_OK)
        status = pawl__embed_end(pawl, &found.page, end, err);
    pawl__arena_release(&arena);
    return status;
}

int pawl_audit_show(struct pawl *pawl, const char *request_id, char **json, struct pawl_error *err)
{
    struct pawl_audit_row row;
    struct pawl_builder b;
    struct pawl_arena arena;
    struct pawl_json said;
    struct pawl_op op;
    int status = pawl__embed_check_text(pawl, request_id, "the request's id", err);

    if (status == PAWL_OK)
        status = pawl__embed_check_answer(json, err);
    if (status != PAWL_OK)
        return status;
    op = pawl__embed_begin(pawl, &arena, err);
    b = (struct pawl_builder){.arena = &arena};
    status = pawl__op_audit_show(&op, pawl__str(request_id), &row);
    if (status == PAWL_OK) {
        said = pawl__view_audit(&b, &row);
        status = b.status == PAWL_OK ? pawl__embed_text(pawl, &said, json, err)
                                     : pawl__error_code(err, b.status);
    }
    pawl__arena_release(&arena);
    return status;
}
