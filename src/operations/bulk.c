/* SPDX-License-Identifier: Apache-2.0 */
/* The same done to many; see bulk.h. */
#include "operations/bulk.h"

#include "base/error.h"
#include "operations/query.h"
#include "operations/record.h"

#include <stdarg.h>
#include <stdio.h>

/* Rows of one batch. */
#define BATCH_BYTES_MAX ((size_t)256 << 20)

struct bulk {
    const struct op_bulk *what;
    const struct pawl_op *op;
    struct pawl_bulk_result result;
};

/* Whether the next ones would fail like this one. */
static bool ends_all(const struct pawl_op *op, int status)
{
    return pawl_env_monotonic_ns(op_env(op)) >= op->deadline_ns || status == PAWL_ESTOPPED ||
           status == PAWL_EUNAVAILABLE || status == PAWL_ENOMEM || status == PAWL_EIO;
}

static void note_failure(struct bulk *bulk, int status, const struct pawl_error *err)
{
    bulk->result.failed++;
    if (bulk->result.error.code == PAWL_OK)
        bulk->result.error = *err;
    if (ends_all(bulk->op, status))
        bulk->result.is_partial = true;
}

static void act_on(struct bulk *bulk, struct pawl_arena *arena, struct pawl_str id)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_op each = *bulk->op;
    int status;

    each.arena = arena;
    each.err = &err;
    status = bulk->what->act(&each, bulk->what->ctx, id);
    if (status == PAWL_OK)
        bulk->result.done++;
    else if (status == PAWL_ENOTFOUND || (status == PAWL_ECONFLICT && bulk->what->skips_conflicts))
        bulk->result.skipped++;
    else
        note_failure(bulk, status, &err);
}

static int act_on_all(struct bulk *bulk)
{
    struct pawl_arena arenas[2]; /* the cursor is in that of the batch before */
    struct pawl_op each = *bulk->op;
    struct op_bulk_batch batch = {.count = 0};
    unsigned turn = 0;
    int status;

    for (unsigned i = 0; i < 2; i++)
        pawl__arena_init(&arenas[i], &op_env(bulk->op)->alloc, BATCH_BYTES_MAX);
    do {
        pawl__arena_reset(&arenas[turn]);
        each.arena = &arenas[turn];
        batch = (struct op_bulk_batch){
            .ids = pawl__arena_alloc_array(each.arena, OP_BULK_BATCH_MAX, sizeof *batch.ids)};
        status = batch.ids ? bulk->what->list(&each, bulk->what->ctx, &batch)
                           : pawl__error_code(each.err, pawl__arena_status(each.arena));
        for (size_t i = 0; status == PAWL_OK && i < batch.count && !bulk->result.is_partial; i++)
            act_on(bulk, each.arena, batch.ids[i]);
        turn ^= 1u;
    } while (status == PAWL_OK && !batch.is_last && !bulk->result.is_partial);
    for (unsigned i = 0; i < 2; i++)
        pawl__arena_release(&arenas[i]);
    return status;
}

int op_bulk_run(const struct pawl_op *op, const struct op_bulk *what, struct pawl_bulk_result *out)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_op recorded = *op;
    struct bulk bulk = {.what = what, .op = &recorded, .result = {.error = PAWL_ERROR_INIT}};
    struct op_record record;
    int status = op_record_begin_many(op, &record, what->action, what->kind);

    if (status == PAWL_OK)
        status =
            op_record_asked(op, &record, &(struct pawl_builder){.arena = op->arena}, &what->asked);
    if (status != PAWL_OK)
        return status;
    recorded.record = record.by;
    recorded.err = &err; /* the result has it, also when the caller wants no message */
    status = act_on_all(&bulk);
    /* What was done is reported, also if the next batch could not be listed. */
    if (status != PAWL_OK && bulk.result.done > 0) {
        if (bulk.result.error.code == PAWL_OK)
            bulk.result.error = err;
        bulk.result.is_partial = true;
        status = PAWL_OK;
    }
    if (status == PAWL_OK)
        *out = bulk.result;
    else if (op->err)
        *op->err = err;
    return status;
}

int op_partly(const struct pawl_op *op, int status, const char *format, ...)
{
    enum pawl_error_class class = pawl_error_class(status);
    char done[160];
    va_list args;

    if (class != PAWL_CLASS_TRANSIENT && class != PAWL_CLASS_UNKNOWN)
        return status;
    if (!op->err)
        return PAWL_EUNKNOWN;
    va_start(args, format);
    (void)vsnprintf(done, sizeof done, format, args);
    va_end(args);
    (void)pawl__error_prefix(op->err, PAWL_EUNKNOWN, "%s; the same again goes on with the rest",
                             done);
    op->err->code = PAWL_EUNKNOWN;
    return PAWL_EUNKNOWN;
}
