/* SPDX-License-Identifier: Apache-2.0 */
/* Dead letters; see letters.h. */
#include "operations/letters.h"

#include "base/error.h"
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

int pawl__op_letter_drop(const struct pawl_op *op, struct pawl_str id)
{
    struct op_record record;
    int status = op_record_begin(op, &record, "drop", "letter", id);

    if (status == PAWL_OK)
        status = op_record_end(
            op, &record, true,
            pawl__runtime_drop_letter_by(op_runtime(op), record.by, id, op->deadline_ns, op->err));
    return status;
}

/* ---- many ----------------------------------------------------------------------------------- */

/* PAWL_OK: it was done or passed over, as the outcome says. */
static int act_on(const struct pawl_op *op, bool replay, struct pawl_str id,
                  struct pawl_letter_outcome *outcome)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_op one = *op;
    struct pawl_str work_id = pawl__str("");

    one.err = &err;
    *outcome = (struct pawl_letter_outcome){.id = id, .message = pawl__str("")};
    outcome->status =
        replay ? pawl__op_letter_replay(&one, id, &work_id) : pawl__op_letter_drop(&one, id);
    outcome->work_id = work_id;
    switch (outcome->status) {
    case PAWL_OK:
        return PAWL_OK;
    case PAWL_ECONFLICT:
    case PAWL_ENOTFOUND:
        outcome->message = pawl__arena_str(op->arena, pawl__str(err.msg));
        return op->arena->status == PAWL_OK ? PAWL_OK
                                            : pawl__error_code(op->err, op->arena->status);
    default:
        if (op->err)
            *op->err = err;
        return outcome->status;
    }
}

/*
 * Where to continue if the batch ends early: behind its first letter, for those that were done
 * match no longer. It is made before, while there is memory for it.
 */
static int place_behind(const struct pawl_op *op, const struct pawl_letter_query *query,
                        const struct pawl_letter_list *letters, struct pawl_str *next)
{
    struct op_query asked;
    int status = PAWL_OK;

    if (letters->count == 0)
        return PAWL_OK;
    status = make_query(op, query, &asked);
    return status == PAWL_OK
               ? op_cursor_behind(op, &asked, query->page.reversed, letters->rows, next)
               : status;
}

static int act_on_page(const struct pawl_op *op, const struct pawl_letter_query *query, bool replay,
                       struct pawl_letter_batch *out)
{
    struct pawl_letter_batch done = {.error = PAWL_ERROR_INIT};
    struct pawl_letter_outcome *outcomes;
    struct pawl_letter_list letters = {.count = 0};
    struct pawl_op part = *op;
    struct op_record record;
    struct pawl_str place = pawl__str("");
    int status;

    if (query->page.limit > PAWL_LETTER_BATCH_MAX)
        return pawl__error_set(op->err, PAWL_EINVAL, "at most %u dead letters at a time, not %u",
                               PAWL_LETTER_BATCH_MAX, query->page.limit);
    status = pawl__op_letters_list(op, query, &letters);
    if (status == PAWL_OK)
        status = place_behind(op, query, &letters, &place);
    if (status == PAWL_OK)
        status = op_record_begin_many(op, &record, replay ? "replay" : "drop", "letter");
    if (status != PAWL_OK)
        return status;
    part.record = record.by;
    outcomes = pawl__arena_alloc_array(op->arena, letters.count + 1, sizeof *outcomes);
    if (!outcomes)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    while (done.count < letters.count && status == PAWL_OK) {
        status = act_on(&part, replay, letters.rows[done.count].id, &outcomes[done.count]);
        if (status != PAWL_OK)
            break;
        done.done += outcomes[done.count].status == PAWL_OK;
        done.skipped += outcomes[done.count].status != PAWL_OK;
        done.count++;
    }
    if (status != PAWL_OK && done.done == 0)
        return status;
    if (status != PAWL_OK) {
        (void)pawl__error_set(&done.error, status, "%s", op->err ? op->err->msg : "");
        if (op->err)
            *op->err = (struct pawl_error)PAWL_ERROR_INIT;
    }
    done.outcomes = outcomes;
    done.next = status == PAWL_OK ? letters.page.next : place;
    *out = done;
    return PAWL_OK;
}

int pawl__op_letters_replay(const struct pawl_op *op, const struct pawl_letter_query *query,
                            struct pawl_letter_batch *out)
{
    struct pawl_letter_query replayable = *query;

    replayable.is_replayable = true;
    return act_on_page(op, &replayable, true, out);
}

int pawl__op_letters_drop(const struct pawl_op *op, const struct pawl_letter_query *query,
                          struct pawl_letter_batch *out)
{
    return act_on_page(op, query, false, out);
}
