/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that wait for an instance; see waits.h. */
#include "operations/waits.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "operations/blocked.h"
#include "operations/instances_private.h"
#include "runtime/node/waits.h"

/* Of a state that a completion is given. */
#define STATE_BYTES_MAX ((size_t)1 << 30)
/* What reading it may take. */
#define STATE_MS_MAX 5000

/* ---- completions ---------------------------------------------------------------------------- */

struct pending {
    struct pawl_env *env;
    struct pawl_host *host;
    const struct pawl_log *log;
    bool with_state;
    bool is_of_start;
    struct pawl_outcome outcome; /* of the start */
    pawl_instance_done_fn *done;
    void *ctx;
};

static struct pending *new_pending(const struct pawl_op *op, bool with_state,
                                   pawl_instance_done_fn *done, void *ctx)
{
    struct pending *pending = pawl__alloc_zeroed(&op_env(op)->alloc, sizeof *pending);

    if (!pending)
        return NULL;
    pending->env = op_env(op);
    pending->host = op->host;
    pending->log = op->log;
    pending->with_state = with_state;
    pending->done = done;
    pending->ctx = ctx;
    return pending;
}

static void free_pending(struct pending *pending)
{
    pawl__free(&pending->env->alloc, pending, sizeof *pending);
}

static void tell_row(struct pawl_outcome *outcome, const struct pawl_instance_row *row,
                     const struct pawl_json *state)
{
    memcpy(outcome->instance_id, row->id.ptr, row->id.len);
    outcome->instance_id[row->id.len] = '\0';
    (void)pawl__sub_status_parse(row->sub_status, &outcome->sub_status);
    outcome->incident_count = row->incident_count;
    outcome->bookmark_count = pawl__json_len(pawl__json_get_text(state, "bookmarks"));
}

static void finish(struct pending *pending, const struct pawl_instance_row *row)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_instance_result result = {
        .outcome = pending->outcome, .row = *row, .state = pawl__json_null()};
    struct pawl_arena arena;
    int status = PAWL_OK;

    pawl__arena_init(&arena, &pending->env->alloc, STATE_BYTES_MAX);
    if (pending->with_state || row->sub_status.len == 0) {
        struct pawl_op op = {
            .host = pending->host, .arena = &arena, .err = &err, .log = pending->log};
        struct pawl_instance_shown shown;

        op = pawl__op_within(&op, STATE_MS_MAX);
        status = pawl__op_instance_show(&op, row->id, true, &shown);
        if (status == PAWL_OK) {
            result.row = shown.row;
            result.state = shown.state;
        }
    }
    if (status == PAWL_OK)
        tell_row(&result.outcome, &result.row, &result.state);
    else if (pending->is_of_start)
        status = pawl__error_after_commit(&err, status, "%.*s was started", PAWL_STR_ARG(row->id));
    pending->done(pending->ctx, status, status == PAWL_OK ? &result : NULL, &err);
    pawl__arena_release(&arena);
}

static void on_wait_over(void *ctx, int status, const struct pawl_instance_row *row,
                         const struct pawl_error *err)
{
    struct pending *pending = ctx;

    if (status == PAWL_OK) {
        finish(pending, row);
    } else if ((status == PAWL_ETIMEDOUT || status == PAWL_ESTOPPED) && pending->is_of_start) {
        finish(pending, &(struct pawl_instance_row){.id = pawl__str(pending->outcome.instance_id)});
    } else {
        pending->done(pending->ctx, status, NULL, err);
    }
    free_pending(pending);
}

/* Takes `pending`, also when it fails. */
static int await(const struct pawl_op *op, struct pending *pending, struct pawl_str instance_id,
                 enum pawl_wait_until until, pawl_wait_ticket *ticket)
{
    const struct pawl_wait wait = {.instance_id = instance_id,
                                   .until = until,
                                   .deadline_ns = op->deadline_ns,
                                   .done = on_wait_over,
                                   .ctx = pending};
    int status = pawl__runtime_await(op_runtime(op), &wait, ticket, op->err);

    if (status != PAWL_OK)
        free_pending(pending);
    return status;
}

int pawl__op_instance_await(const struct pawl_op *op, struct pawl_str instance_id,
                            enum pawl_wait_until until, bool with_state,
                            pawl_instance_done_fn *done, void *ctx, pawl_wait_ticket *ticket)
{
    struct pending *pending = new_pending(op, with_state, done, ctx);

    if (!pending)
        return pawl__error_code(op->err, PAWL_ENOMEM);
    return await(op, pending, instance_id, until, ticket);
}

int pawl__op_instance_execute(const struct pawl_op *op, const struct pawl_instance_start *request,
                              pawl_instance_done_fn *done, void *ctx, pawl_wait_ticket *ticket)
{
    struct pending *pending = new_pending(op, request->with_state, done, ctx);
    struct pawl_instance_result result;
    struct pawl_left left = {.arena = op->arena};
    int status;

    if (!pending)
        return pawl__error_code(op->err, PAWL_ENOMEM);
    status = op_start(op, request, true, request->with_state ? &left : NULL, &result.outcome);
    if (status != PAWL_OK) {
        free_pending(pending);
        return status;
    }
    if (ticket)
        *ticket = 0;
    pending->outcome = result.outcome;
    pending->is_of_start = true;
    if (!result.outcome.refused && (result.outcome.sub_status == PAWL_SUB_EXECUTING ||
                                    result.outcome.sub_status == PAWL_SUB_PENDING))
        return op_tell_begun(
            op, result.outcome.instance_id,
            await(op, pending, pawl__str(result.outcome.instance_id), PAWL_WAIT_IDLE, ticket));
    free_pending(pending);
    status = op_tell_begun(op, result.outcome.instance_id,
                           op_add_state(op, request->with_state, &left, &result));
    if (status == PAWL_OK)
        done(ctx, PAWL_OK, &result, NULL);
    return status;
}

bool pawl__op_wait_forget(const struct pawl_op *op, pawl_wait_ticket ticket)
{
    void *pending = NULL;

    if (ticket == 0 || !pawl__runtime_forget_wait(op_runtime(op), ticket, &pending))
        return false;
    free_pending(pending);
    return true;
}

/* ---- that block ----------------------------------------------------------------------------- */

/* How a wait ended: a copy of what its completion was given. */
struct end {
    int status;
    struct pawl_error err;
};

static void copy_end(void *ctx, int status, const struct pawl_instance_row *row,
                     const struct pawl_error *err)
{
    struct op_blocked *blocked = ctx;
    struct end *end = op_blocked_lock(blocked);

    (void)row;
    if (end)
        *end = (struct end){.status = status, .err = *err};
    op_blocked_complete(blocked, end != NULL);
}

/* Until it is over; what its completion said. */
static int block(const struct pawl_op *op, struct op_blocked *blocked, bool works)
{
    const struct end *end = op_blocked_value(blocked);
    int status = op_blocked_wait(op, blocked, works);

    if (status != PAWL_OK || end->status == PAWL_OK)
        return status;
    if (op->err)
        *op->err = end->err;
    return end->status;
}

int pawl__op_instance_wait(const struct pawl_op *op, struct pawl_str instance_id,
                           enum pawl_wait_until until, bool works, struct pawl_instance_row *row)
{
    struct pawl_instance_shown shown;
    struct op_blocked *blocked = NULL;
    uint64_t ticket = 0;
    struct pawl_op after;
    int status = op_blocked_new(op, sizeof(struct end), &blocked);

    if (status != PAWL_OK)
        return status;
    status = pawl__runtime_await(op_runtime(op),
                                 &(struct pawl_wait){.instance_id = instance_id,
                                                     .until = until,
                                                     .deadline_ns = op->deadline_ns,
                                                     .done = copy_end,
                                                     .ctx = blocked},
                                 &ticket, op->err);
    if (status != PAWL_OK) {
        op_blocked_leave(blocked);
    } else {
        status = block(op, blocked, works);
        if (status != PAWL_OK && pawl__runtime_forget_wait(op_runtime(op), ticket, NULL))
            op_blocked_leave(blocked);
    }
    op_blocked_leave(blocked);
    if (status != PAWL_OK)
        return status;
    after = pawl__op_within(op, STATE_MS_MAX);
    status = pawl__op_instance_show(&after, instance_id, false, &shown);
    if (status == PAWL_OK && row)
        *row = shown.row;
    return status;
}
