/* SPDX-License-Identifier: Apache-2.0 */
/* Dead letters; see letters.h. */
#include "operations/letters.h"

#include "base/error.h"
#include "operations/bulk.h"
#include "operations/query.h"
#include "operations/record.h"
#include "runtime/runtime.h"

/* ---- lists ---------------------------------------------------------------------------------- */

static int make_query(const struct pawl_op *op, const struct pawl_letter_query *query,
                      struct op_query *to)
{
    op_query_init(to, PAWL_TABLE_DEAD_LETTERS,
                  query->sort == PAWL_LETTERS_BY_CREATED ? "created_us" : "dead_us", true);
    op_where_given(to, "instance_id", query->instance_id);
    op_where_given(to, "kind", query->kind);
    op_where_given(to, "reason", query->reason);
    if (query->is_open || query->is_replayable)
        op_where_int(to, "replayed_us", PAWL_EQ, 0);
    if (query->is_replayable)
        op_where_int(to, "can_replay", PAWL_NE, 0);
    return query->ids ? op_where_in(op, to, "id", query->ids, query->id_count) : PAWL_OK;
}

int pawl__op_letters_list(const struct pawl_op *op, const struct pawl_letter_query *query,
                          struct pawl_letter_list *out)
{
    struct pawl_letter_list found = {.count = 0};
    struct pawl_rows rows = {0};
    struct op_query asked;
    int status = make_query(op, query, &asked);

    if (status == PAWL_OK)
        status = op_find_page(op, &asked, &query->page, &rows, &found.page);
    if (status != PAWL_OK)
        return status;
    found.rows = rows.rows;
    found.count = rows.count;
    *out = found;
    return PAWL_OK;
}

int pawl__op_letter_show(const struct pawl_op *op, struct pawl_str id,
                         struct pawl_dead_letter_row *out)
{
    struct pawl_rows rows = {0};
    struct op_query query;
    int status;

    op_query_init(&query, PAWL_TABLE_DEAD_LETTERS, NULL, false);
    op_with_bytes(&query);
    op_where_text(&query, "id", PAWL_EQ, id);
    status = op_find_all(op, &query, 1, &rows);
    if (status != PAWL_OK)
        return status;
    if (rows.count == 0)
        return pawl__error_set(op->err, PAWL_ENOTFOUND, "there is no dead letter %.*s",
                               PAWL_STR_ARG(id));
    *out = *(const struct pawl_dead_letter_row *)rows.rows;
    return PAWL_OK;
}

/* ---- one ------------------------------------------------------------------------------------ */

int pawl__op_letter_replay(const struct pawl_op *op, struct pawl_str id, struct pawl_str *work_id)
{
    char *text = pawl__arena_alloc(op->arena, PAWL_UUID_HEX_SIZE);
    struct op_record record;
    int status;

    if (!text) /* before it happens: its result could not be returned */
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    status = op_record_begin(op, &record, "replay", "letter", id);
    if (status == PAWL_OK)
        status = op_record_end(
            op, &record, false,
            pawl__runtime_replay_by(op_runtime(op), record.by, id, text, op->deadline_ns, op->err));
    if (status == PAWL_OK)
        *work_id = pawl__str(text);
    return status;
}

int pawl__op_letter_delete(const struct pawl_op *op, struct pawl_str id)
{
    struct op_record record;
    int status = op_record_begin(op, &record, "delete", "letter", id);

    if (status == PAWL_OK)
        status = op_record_end(
            op, &record, true,
            pawl__runtime_drop_letter_by(op_runtime(op), record.by, id, op->deadline_ns, op->err));
    return status;
}

/* ---- many ----------------------------------------------------------------------------------- */

struct many {
    struct pawl_letter_query query;
    bool replay;
    pawl_letter_visitor visit;
    void *ctx;
};

static int list_batch(const struct pawl_op *op, void *ctx, struct op_bulk_batch *batch)
{
    struct many *many = ctx;
    struct pawl_letter_list list = {.count = 0};
    int status = pawl__op_letters_list(op, &many->query, &list);

    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < list.count; i++)
        batch->ids[batch->count++] = list.rows[i].id;
    many->query.page.after = list.page.next;
    batch->is_last = list.page.next.len == 0;
    return PAWL_OK;
}

static int act_on(const struct pawl_op *op, void *ctx, struct pawl_str id)
{
    const struct many *many = ctx;
    struct pawl_letter_outcome outcome = {.id = id, .work_id = pawl__str("")};

    outcome.status = many->replay ? pawl__op_letter_replay(op, id, &outcome.work_id)
                                  : pawl__op_letter_delete(op, id);
    outcome.message = outcome.status == PAWL_OK ? "" : op->err->msg;
    if (many->visit)
        many->visit(many->ctx, &outcome);
    return outcome.status;
}

static bool matches_everything(const struct pawl_letter_query *query)
{
    return query->instance_id.len + query->kind.len + query->reason.len == 0 && !query->ids &&
           !query->is_open && !query->is_replayable && !query->all;
}

static int act_on_many(const struct pawl_op *op, const struct pawl_letter_query *query, bool replay,
                       pawl_letter_visitor visit, void *ctx, struct pawl_bulk_result *out)
{
    struct many many = {.query = *query, .replay = replay, .visit = visit, .ctx = ctx};
    struct pawl_builder b = {.arena = op->arena};
    struct pawl_json asked = pawl__json_object();

    if (matches_everything(query))
        return pawl__error_set(op->err, PAWL_EINVAL,
                               "no filter is given: an empty filter does not mean all letters");
    /* The oldest first. */
    many.query.page = (struct pawl_page_request){.limit = OP_BULK_BATCH_MAX, .reversed = true};
    many.query.is_replayable |= replay;
    op_build_given(&b, &asked, "instanceId", query->instance_id);
    op_build_given(&b, &asked, "kind", query->kind);
    op_build_given(&b, &asked, "reason", query->reason);
    if (b.status != PAWL_OK)
        return pawl__error_code(op->err, b.status);
    return op_bulk_run(op,
                       &(struct op_bulk){.action = replay ? "replay" : "delete",
                                         .kind = "letter",
                                         .asked = asked,
                                         .list = list_batch,
                                         .act = act_on,
                                         .ctx = &many,
                                         .skips_conflicts = true},
                       out);
}

int pawl__op_letters_replay(const struct pawl_op *op, const struct pawl_letter_query *query,
                            pawl_letter_visitor visit, void *ctx, struct pawl_bulk_result *out)
{
    return act_on_many(op, query, true, visit, ctx, out);
}

int pawl__op_letters_delete(const struct pawl_op *op, const struct pawl_letter_query *query,
                            pawl_letter_visitor visit, void *ctx, struct pawl_bulk_result *out)
{
    return act_on_many(op, query, false, visit, ctx, out);
}
