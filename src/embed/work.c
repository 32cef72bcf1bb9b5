/* SPDX-License-Identifier: Apache-2.0 */
/* Work on the caller's threads. Everything durable about it is the runtime's. */
#include "embed/embed.h"

#include "base/error.h"

#define US_PER_MS 1000

static int64_t due_ms(const struct pawl_worked *worked)
{
    int64_t left_us;

    if (worked->next_due_us == PAWL_TIME_NEVER)
        return INT64_MAX;
    left_us = worked->next_due_us - worked->now_us;
    return left_us <= 0 ? 0 : (left_us - 1) / US_PER_MS + 1;
}

static void copy_done(struct pawl_work_done *out, const struct pawl_worked *worked)
{
    if (!out)
        return;
    out->count = worked->done;
    out->next_due_ms = due_ms(worked);
}

int pawl_work(struct pawl *pawl, uint32_t limit, struct pawl_work_done *out, struct pawl_error *err)
{
    struct pawl_worked worked = {0};
    struct embed_call call;
    int status = pawl__embed_begin(&call, pawl, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__embed_end(&call, pawl__op_work(&call.op, limit, &worked));
    if (status == PAWL_OK)
        copy_done(out, &worked);
    return status;
}

int pawl_drain(struct pawl *pawl, int64_t timeout_ms, struct pawl_work_done *out,
               struct pawl_error *err)
{
    struct pawl_worked worked = {0};
    struct embed_call call;
    int status = pawl__embed_begin(&call, pawl, err);

    if (status != PAWL_OK)
        return status;
    call.op.deadline_ns = pawl__embed_after_ms(pawl, timeout_ms);
    status = pawl__embed_end(&call, pawl__op_drain(&call.op, &worked));
    if (status == PAWL_OK)
        copy_done(out, &worked);
    return status;
}

int pawl_work_wait(struct pawl *pawl, struct pawl_work_done *last, int64_t timeout_ms,
                   struct pawl_error *err)
{
    struct embed_call call;
    bool is_due_first;
    int status = pawl__embed_check(pawl, err);

    if (status == PAWL_OK && !last)
        status =
            pawl__error_set(err, PAWL_EINVAL, "pawl_work_wait needs what pawl_work returned last");
    if (status == PAWL_OK)
        status = pawl__embed_begin(&call, pawl, err);
    if (status != PAWL_OK)
        return status;
    is_due_first = last->next_due_ms < timeout_ms;
    call.op.deadline_ns = pawl__embed_after_ms(pawl, is_due_first ? last->next_due_ms : timeout_ms);
    status = pawl__embed_end(&call, pawl__op_work_wait(&call.op, &last->seen));
    if (status == PAWL_ETIMEDOUT && is_due_first)
        status = PAWL_OK;
    if (status == PAWL_ETIMEDOUT)
        return pawl__error_set(err, PAWL_ETIMEDOUT, "nothing became due within %lld ms",
                               (long long)timeout_ms);
    return status;
}
