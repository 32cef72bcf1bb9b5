/* SPDX-License-Identifier: Apache-2.0 */
/* Dead letters, and what is not kept any longer. */
#include "embed/embed.h"

#include "operations/letters.h"
#include "operations/retention.h"
#include "views/letters.h"

static const struct pawl_letter_filter no_filter = {0};

static int make_query(const struct pawl_letter_filter *filter, struct pawl_letter_query *out,
                      struct pawl_error *err)
{
    const struct embed_text texts[] = {
        {filter->instance_id, "the filter's instance_id"},
        {filter->kind, "the filter's kind"},
        {filter->reason, "the filter's reason"},
        {filter->after, "the filter's after"},
    };

    *out = (struct pawl_letter_query){.instance_id = pawl__str(filter->instance_id),
                                      .kind = pawl__str(filter->kind),
                                      .reason = pawl__str(filter->reason),
                                      .is_open = filter->is_open != 0,
                                      .all = filter->all != 0};
    return pawl__embed_check_texts(texts, sizeof texts / sizeof texts[0], err);
}

/* ---- looking -------------------------------------------------------------------------------- */

static int pass_letter(struct embed_call *call, const struct pawl_dead_letter_row *letter,
                       int (*row)(void *ctx, const struct pawl_letter_info *letter), void *ctx)
{
    const struct pawl_letter_info info = {
        .id = pawl__embed_str(call, letter->id),
        .kind = pawl__embed_str(call, letter->kind),
        .reason = pawl__embed_str(call, letter->reason),
        .error = pawl__embed_str(call, letter->error),
        .instance_id = pawl__embed_str(call, letter->instance_id),
        .bookmark_id = pawl__embed_str(call, letter->bookmark_id),
        .correlation_id = pawl__embed_str(call, letter->correlation_id),
        .created_us = letter->created_us,
        .dead_us = letter->dead_us,
        .attempts = letter->attempts,
        .can_replay = letter->can_replay && letter->replayed_us == 0,
        .replayed_us = letter->replayed_us,
        .replayed_id = pawl__embed_str(call, letter->replayed_id),
    };
    int status = pawl__embed_check_memory(call);

    return status == PAWL_OK && row(ctx, &info) != 0 ? EMBED_STOP : status;
}

int pawl_letters_list(struct pawl *pawl, const struct pawl_letter_filter *filter,
                      int (*row)(void *ctx, const struct pawl_letter_info *letter), void *ctx,
                      struct pawl_list_end *end, struct pawl_error *err)
{
    struct pawl_letter_list found = {.count = 0};
    struct pawl_letter_query query;
    struct embed_call call;
    int status = pawl__embed_begin(&call, pawl, err);

    if (status != PAWL_OK)
        return status;
    filter = filter ? filter : &no_filter;
    status = make_query(filter, &query, err);
    query.page = pawl__embed_page(filter->limit, filter->after, row != NULL, end);
    if (status == PAWL_OK)
        status = pawl__op_letters_list(&call.op, &query, &found);
    for (size_t i = 0; status == PAWL_OK && row && i < found.count; i++)
        status = pass_letter(&call, &found.rows[i], row, ctx);
    return pawl__embed_end_list(&call, status, &found.page, end);
}

/* A call on one letter. Not PAWL_OK: there is nothing to end. */
static int begin_with(struct embed_call *call, struct pawl *pawl, const char *letter_id,
                      struct pawl_error *err)
{
    int status = pawl__embed_check_text(pawl, letter_id, "the letter's id", err);

    return status == PAWL_OK ? pawl__embed_begin(call, pawl, err) : status;
}

int pawl_letter_show(struct pawl *pawl, const char *letter_id, char **json, struct pawl_error *err)
{
    struct pawl_json view = pawl__json_null();
    struct pawl_dead_letter_row row;
    struct pawl_builder b;
    struct embed_call call;
    int status = pawl__embed_check_json(json, err);

    if (status == PAWL_OK)
        status = begin_with(&call, pawl, letter_id, err);
    if (status != PAWL_OK)
        return status;
    b = (struct pawl_builder){.arena = &call.arena};
    status = pawl__op_letter_show(&call.op, pawl__str(letter_id), &row);
    if (status == PAWL_OK)
        view = pawl__view_letter_whole(&b, &row);
    return pawl__embed_end_json(&call, status, &b, &view, json);
}

/* ---- replaying, deleting -------------------------------------------------------------------- */

int pawl_letter_replay(struct pawl *pawl, const char *letter_id, struct pawl_error *err)
{
    struct pawl_str work_id;
    struct embed_call call;
    int status = begin_with(&call, pawl, letter_id, err);

    if (status != PAWL_OK)
        return status;
    return pawl__embed_end(&call, pawl__op_letter_replay(&call.op, pawl__str(letter_id), &work_id));
}

int pawl_letter_delete(struct pawl *pawl, const char *letter_id, struct pawl_error *err)
{
    struct embed_call call;
    int status = begin_with(&call, pawl, letter_id, err);

    if (status != PAWL_OK)
        return status;
    return pawl__embed_end(&call, pawl__op_letter_delete(&call.op, pawl__str(letter_id)));
}

typedef int many_fn(const struct pawl_op *op, const struct pawl_letter_query *query,
                    pawl_letter_visitor visit, void *ctx, struct pawl_bulk_result *out);

static int change_many(struct pawl *pawl, const struct pawl_letter_filter *filter, many_fn *change,
                       uint64_t *count, struct pawl_error *err)
{
    struct pawl_bulk_result result = {.error = PAWL_ERROR_INIT};
    struct pawl_letter_query query;
    struct embed_call call;
    int status = pawl__embed_begin(&call, pawl, err);

    if (status != PAWL_OK)
        return status;
    status = make_query(filter ? filter : &no_filter, &query, err);
    if (status == PAWL_OK)
        status = change(&call.op, &query, NULL, NULL, &result);
    return pawl__embed_end_bulk(&call, status, &result, count);
}

int pawl_letters_replay(struct pawl *pawl, const struct pawl_letter_filter *filter, uint64_t *count,
                        struct pawl_error *err)
{
    return change_many(pawl, filter, pawl__op_letters_replay, count, err);
}

int pawl_letters_delete(struct pawl *pawl, const struct pawl_letter_filter *filter, uint64_t *count,
                        struct pawl_error *err)
{
    return change_many(pawl, filter, pawl__op_letters_delete, count, err);
}

/* ---- retention ------------------------------------------------------------------------------ */

int pawl_retain(struct pawl *pawl, int dry_run, struct pawl_retention_counts *out,
                struct pawl_error *err)
{
    struct pawl_retention_result gone = {0};
    struct embed_call call;
    int status = pawl__embed_begin(&call, pawl, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__embed_end(&call, pawl__op_retain(&call.op, dry_run != 0, &gone));
    if (status == PAWL_OK && out)
        *out = (struct pawl_retention_counts){
            .finished = gone.finished,
            .cancelled = gone.cancelled,
            .faulted = gone.faulted,
            .dead_letters = gone.dead_letters,
            .reservations = gone.reservations,
            .more = gone.more,
            .audit = gone.audit,
        };
    return status;
}
