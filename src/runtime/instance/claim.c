/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claiming an instance: with a fence that is greater than all that this node was granted, with its
 * lock where a guard has one, by its bookmark where a sender knows no more. Or visiting it, which
 * is cheaper (docs/design/0022-visits.md).
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

/*
 * A visit's fence is not stored, so a claim of this node that is on its way should not be granted
 * the same. That will get `seen_fence` as it was when the claim began, or the instance's fence,
 * plus one. So the fence of a visit is two more than what this node has seen, and one more than
 * what the store would have granted, which `least` is. A claim that is late may get it all the
 * same, if other nodes have claimed the instance meanwhile; so the commit of a visit is not known
 * by its fence, but by its reservation (commit/commit.c).
 */
static int64_t fence_of_visit(struct pawl_runtime *runtime, int64_t least)
{
    int64_t seen = atomic_load(&runtime->seen_fence), fence;

    do
        fence = (seen + 1 > least ? seen + 1 : least) + 1;
    while (!atomic_compare_exchange_weak(&runtime->seen_fence, &seen, fence));
    return fence;
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
        if (claims[i].status == PAWL_OK && claims[i].visits)
            claims[i].row.fence = fence_of_visit(runtime, claims[i].row.fence);
        else if (claims[i].status == PAWL_OK)
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

/* What is delivered to an idle instance claims it with its commit, and not before. Where instances
 * have locks, those decide who runs one. A crash during a visit leaves no record, so visits are not
 * used where functions of the host run. */
static bool may_visit(const struct runtime_run *run)
{
    const struct pawl_runtime *runtime = run->runtime;

    return run->task->direct && run->task->direct->mail.hash.len > 0 && !runtime->options.guard &&
           !runtime->options.claims_first && (runtime->store->caps & PAWL_STORE_CAP_VISITS);
}

/* *granted: `claim` is as if it had been claimed. Otherwise nothing happened. */
static int visit(struct runtime_run *run, struct pawl_claim *claim, bool *granted)
{
    struct pawl_claim asked = {
        .id = claim->id, .hash = run->task->direct->mail.hash, .visits = true};
    int status = pawl__runtime_store_claim(run->runtime, run->incarnation, &asked, 1, &run->arena,
                                           &run->now_us, run->task->deadline_ns, run->task->err);

    *granted = status == PAWL_OK && asked.status == PAWL_OK;
    if (*granted)
        *claim = asked;
    return status;
}

void pawl__runtime_end_visit(struct runtime_run *run)
{
    PAWL_ASSERT(run->is_visiting);
    run->is_visiting = false;
    run->row.owner = 0;
}

int pawl__runtime_claim(struct runtime_run *run, struct pawl_str instance_id)
{
    struct runtime_task *task = run->task;
    struct pawl_claim claim = {.id = pawl__arena_str(&task->arena, instance_id)};
    int status = PAWL_OK;

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
    if (may_visit(run))
        status = visit(run, &claim, &run->is_visiting);
    if (status == PAWL_OK && !run->is_visiting)
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
    task->holds_no_claim = claim.status == PAWL_EBUSY && claim.row.owner != 0;
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
    if (!may_run(run))
        return pawl__runtime_refuse_put_off(run);
    return PAWL_OK;
}
