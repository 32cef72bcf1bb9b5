/* SPDX-License-Identifier: Apache-2.0 */
/* Dead letters, and what is not kept any longer. */
#include "embed/embed.h"

#include "base/error.h"
#include "operations/letters.h"
#include "operations/retention.h"
#include "views/letters.h"

/* `filter` NULL: all. PAWL_EINVAL: a text that is not UTF-8. */
static int make_query(const struct pawl_letter_filter *filter, struct pawl_letter_query *out,
                      struct pawl_error *err)
{
    static const struct pawl_letter_filter all = {0};
    int status;

    filter = filter ? filter : &all;
    status = pawl__text_check_utf8(filter->instance_id, "the filter's instance_id", err);
    if (status == PAWL_OK)
        status = pawl__text_check_utf8(filter->kind, "the filter's kind", err);
    if (status == PAWL_OK)
        status = pawl__text_check_utf8(filter->reason, "the filter's reason", err);
    if (status == PAWL_OK)
        status = pawl__text_check_utf8(filter->after, "the filter's after", err);
    if (status == PAWL_OK)
        *out = (struct pawl_letter_query){
            .instance_id = pawl__str(filter->instance_id),
            .kind = pawl__str(filter->kind),
            .reason = pawl__str(filter->reason),
            .is_open = filter->is_open != 0,
            .page = {.limit = filter->limit, .after = pawl__str(filter->after)}};
    return status;
}

/* ---- looking -------------------------------------------------------------------------------- */

static int tell(struct pawl_arena *arena, const struct pawl_dead_letter_row *letter,
                int (*row)(void *ctx, const struct pawl_letter_info *letter), void *ctx, bool *stop,
                struct pawl_error *err)
{
    const struct pawl_letter_info info = {
        .id = pawl__embed_str(arena, letter->id),
        .kind = pawl__embed_str(arena, letter->kind),
        .reason = pawl__embed_str(arena, letter->reason),
        .error = pawl__embed_str(arena, letter->error),
        .instance_id = pawl__embed_str(arena, letter->instance_id),
        .bookmark_id = pawl__embed_str(arena, letter->bookmark_id),
        .correlation_id = pawl__embed_str(arena, letter->correlation_id),
        .created_us = letter->created_us,
        .dead_us = letter->dead_us,
        .attempts = letter->attempts,
        .can_replay = letter->can_replay && letter->replayed_us == 0,
        .replayed_us = letter->replayed_us,
        .replayed_id = pawl__embed_str(arena, letter->replayed_id),
    };

    if (arena->status != PAWL_OK)
        return pawl__error_code(err, arena->status);
    *stop = row && row(ctx, &info) != 0;
    return PAWL_OK;
}

int pawl_letters_list(struct pawl *pawl, const struct pawl_letter_filter *filter,
                      int (*row)(void *ctx, const struct pawl_letter_info *letter), void *ctx,
                      struct pawl_list_end *end, struct pawl_error *err)
{
    struct pawl_letter_list found = {.count = 0};
    struct pawl_letter_query query;
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
    status = pawl__op_letters_list(&op, &query, &found);
    for (size_t i = 0; status == PAWL_OK && i < found.count && !stop; i++)
        status = tell(&arena, &found.rows[i], row, ctx, &stop, err);
    if (status == PAWL_OK)
        status = pawl__embed_end(pawl, &found.page, end, err);
    pawl__arena_release(&arena);
    return status;
}

int pawl_letter_show(struct pawl *pawl, const char *letter_id, char **json, struct pawl_error *err)
{
    struct pawl_dead_letter_row row;
    struct pawl_builder b;
    struct pawl_arena arena;
    struct pawl_json said;
    struct pawl_op op;
    int status = pawl__embed_check_text(pawl, letter_id, "the letter's id", err);

    if (status == PAWL_OK && !json)
        status = pawl__error_set(err, PAWL_EINVAL, "there is nowhere to put the JSON text");
    if (status != PAWL_OK)
        return status;
    op = pawl__embed_begin(pawl, &arena, err);
    b = (struct pawl_builder){.arena = &arena};
    status = pawl__op_letter_show(&op, pawl__str(letter_id), &row);
    if (status == PAWL_OK) {
        said = pawl__view_letter_whole(&b, &row);
        status = b.status == PAWL_OK ? pawl__embed_text(pawl, &said, json, err)
                                     : pawl__error_code(err, b.status);
    }
    pawl__arena_release(&arena);
    return status;
}

/* ---- replaying, deleting -------------------------------------------------------------------- */

static int act_on_one(struct pawl *pawl, const char *letter_id, bool replay, struct pawl_error *err)
{
    struct pawl_str work_id;
    struct pawl_arena arena;
    struct pawl_op op;
    int status = pawl__embed_check_text(pawl, letter_id, "the letter's id", err);

    if (status != PAWL_OK)
        return status;
    op = pawl__embed_begin(pawl, &arena, err);
    status = replay ? pawl__op_letter_replay(&op, pawl__str(letter_id), &work_id)
                    : pawl__op_letter_drop(&op, pawl__str(letter_id));
    pawl__arena_release(&arena);
    return status;
}

int pawl_letter_replay(struct pawl *pawl, const char *letter_id, struct pawl_error *err)
{
    return act_on_one(pawl, letter_id, true, err);
}

int pawl_letter_delete(struct pawl *pawl, const char *letter_id, struct pawl_error *err)
{
    return act_on_one(pawl, letter_id, false, err);
}

static int act_on_page(struct pawl *pawl, const struct pawl_letter_filter *filter, bool replay,
                       struct pawl_letters_done *out, struct pawl_error *err)
{
    struct pawl_letter_batch batch = {.count = 0};
    struct pawl_list_end end = {0};
    struct pawl_letter_query query;
    struct pawl_arena arena;
    struct pawl_op op;
    int status = pawl__embed_check(pawl, err);

    if (status == PAWL_OK)
        status = make_query(filter, &query, err);
    if (status != PAWL_OK)
        return status;
    query.page.reversed = true;
    op = pawl__embed_begin(pawl, &arena, err);
    status = replay ? pawl__op_letters_replay(&op, &query, &batch)
                    : pawl__op_letters_drop(&op, &query, &batch);
    if (status == PAWL_OK && out)
        status = pawl__embed_end(pawl, &(struct pawl_page){.next = batch.next}, &end, err);
    pawl__arena_release(&arena);
    if (status == PAWL_OK && out)
        *out = (struct pawl_letters_done){
            .done = batch.done, .skipped = batch.skipped, .next = end.next};
    if (status == PAWL_OK && batch.error.code != PAWL_OK)
        return pawl__error_set(err, batch.error.code, "%s", batch.error.msg);
    return status;
}

int pawl_letters_replay(struct pawl *pawl, const struct pawl_letter_filter *filter,
                        struct pawl_letters_done *out, struct pawl_error *err)
{
    return act_on_page(pawl, filter, true, out, err);
}

int pawl_letters_delete(struct pawl *pawl, const struct pawl_letter_filter *filter,
                        struct pawl_letters_done *out, struct pawl_error *err)
{
    return act_on_page(pawl, filter, false, out, err);
}

/* ---- retention ------------------------------------------------------------------------------ */

int pawl_retain(struct pawl *pawl, int dry_run, struct pawl_retention_counts *out,
                struct pawl_error *err)
{
    struct pawl_retention_result gone = {0};
    struct pawl_arena arena;
    struct pawl_op op;
    int status = pawl__embed_check(pawl, err);

    if (status != PAWL_OK)
        return status;
    op = pawl__embed_begin(pawl, &arena, err);
    status = pawl__op_retention_apply(&op, dry_run != 0, &gone);
    pawl__arena_release(&arena);
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
