/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claiming an instance: with a fence that is greater than all that this node was granted, with its
 * lock where a guard has one, by its bookmark where a sender knows no more.
 */
#include "runtime/instance/private.h"

#include "base/error.h"
#include "runtime/node/keeper.h"
#include "runtime/node/private.h"
#include "runtime/task.h"

static void note_fence(struct pawl_runtime *runtime, int64_t fence)
{
    int64_t seen = atomic_load(&runtime->seen_fence);

    while (fence > seen && !atomic_compare_exchange_weak(&runtime->seen_fence, &seen, fence))
        continue;
}

int pawl__runtime_store_claim(struct pawl_runtime *runtime, int64_t incarnation,
                              struct pawl_claim *claims, size_t count, struct pawl_arena *arena,
                              int64_t *now_us, int64_t deadline_ns, struct pawl_error *err)
{
    int status;

    for (size_t i = 0; i < count; i++)
        claims[i].seen_fence = atomic_load(&runtime->seen_fence);
    status = pawl_store_claim(runtime->store, incarnation, claims, count, arena, now_us,
                              deadline_ns, err);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        if (claims[i].status == PAWL_OK)
            note_fence(runtime, claims[i].row.fence);
    return status;
}

/* An operator may run any instance, and everybody one that is to be cancelled; a caller who waits,
 * one that is merely put off. */
static bool may_run(const struct runtime_run *run)
{
    if (!pawl__runtime_is_put_off(run) || run->task->by_operator || run->row.cancel_requested)
        return true;
    return run->task->waits && run->row.retry_us != PAWL_TIME_NEVER;
}

int pawl__runtime_claim(struct runtime_run *run, struct pawl_str instance_id)
{
    struct runtime_task *task = run->task;
    struct pawl_claim claim = {.id = pawl__arena_str(&task->arena, instance_id)};
    int status;

    PAWL_ASSERT(run->at == BURST_NONE && run->row.owner == 0);
    if (instance_id.len > PAWL_INSTANCE_ID_MAX)
        return pawl__error_set(task->err, PAWL_EINVAL, "an instance id has at most %d bytes",
                               PAWL_INSTANCE_ID_MAX);
    if (!run->runtime->keeper)
        return pawl__runtime_may_begin(run->runtime, task->err); /* which it may not */
    if (!claim.id.ptr)
        return pawl__error_code(task->err, pawl__arena_status(&task->arena));
    pawl__arena_reset(&run->arena);
    if (run->pass.ticket.key != 0)
        claim.ticket = &run->pass.ticket;
    if (task->direct && task->direct->is_blind)
        claim.hash = task->direct->mail.hash;
    run->incarnation = pawl__keeper_incarnation(run->runtime->keeper);
    status = pawl__runtime_store_claim(run->runtime, run->incarnation, &claim, 1, &run->arena,
                                       &run->now_us, task->deadline_ns, task->err);
    run->claimed_ns = pawl_env_monotonic_ns(run->runtime->env);
    if (status != PAWL_OK)
        return status;
    if (claim.status == PAWL_OK || (claim.status == PAWL_EBUSY && claim.row.owner == 0))
        pawl__guard_claimed(run->runtime->options.guard, instance_id, run->pass, claim.status);
    if (claim.hash.len > 0 && claim.status != PAWL_OK)
        return pawl__runtime_refuse_blind(run, &claim);
    task->gone = claim.status == PAWL_ENOTFOUND;
    if (task->gone)
        return pawl__error_set(task->err, PAWL_ENOTFOUND, "there is no instance %.*s",
                               PAWL_STR_ARG(instance_id));
    task->owned = claim.status == PAWL_EBUSY && claim.row.owner != 0;
    if (claim.status == PAWL_EBUSY)
        return pawl__error_set(task->err, PAWL_EBUSY, "instance %.*s is being run by another node",
                               PAWL_STR_ARG(instance_id));
    if (claim.status != PAWL_OK)
        return pawl__error_set(task->err, claim.status, "instance %.*s cannot be claimed",
                               PAWL_STR_ARG(instance_id));
    run->row = claim.row;
    run->row.id = claim.id; /* outlives what was loaded with it */
    run->mail = claim.mail;
    run->mail_count = claim.mail_count;
    run->loaded = run->hindered = false;
    task->cancels = run->row.cancel_requested;
    return may_run(run) ? PAWL_OK : pawl__runtime_refuse_put_off(run);
}
