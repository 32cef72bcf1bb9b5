/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose turn it is: what a pool takes when definitions have ranks (shares.h). As long as none has,
 * it takes what is due, in its order.
 *
 * Otherwise it asks for work of the lowest rank first, then of the next, until it finds some: so an
 * idle node does whatever there is. Of failing and heavy definitions it takes few pieces at a time,
 * and looks again. What it does not take stays in the store as it is, for any node; so there is
 * nothing here that a crash could lose or a drain would have to give back. The one exception is
 * what was taken before its definition turned out to be heavy or failing, which is given back
 * unbegun.
 *
 * A look that finds nothing has read all that is due of other definitions. It is repeated when ten
 * times as long has passed: however long the queue, a tenth of the time goes into such looks.
 */
#include "runtime/work/private.h"

#include "base/error.h"
#include "runtime/instance/private.h"
#include "runtime/task.h"

#define LOOK_PART 10
/* Of what may be taken at a time, what is taken of failing definitions: one in so many. */
#define FAILING_PART 4
/* Between looks for cancellations. */
#define CANCELS_NS INT64_C(100000000)

/* ---- taking -------------------------------------------------------------------------------- */

struct looking {
    struct pawl_runtime *runtime;
    struct runtime_look *look;
    struct pawl_arena *arena;
    struct pawl_taken *taken;
    int64_t deadline_ns;
    struct pawl_error *err;
};

static int take_choice(struct looking *l, uint32_t limit, const struct runtime_choice *choice,
                       bool *found)
{
    int status = pawl__runtime_take(l->runtime, limit, l->look->turn, choice, l->arena, l->taken,
                                    l->deadline_ns, l->err);

    if (status == PAWL_OK)
        pawl__runtime_leave_to_holders(l->runtime, l->arena, l->taken);
    *found = status == PAWL_OK && l->taken->work_count + l->taken->runnable_count > 0;
    return status;
}

static int list(struct looking *l, enum pawl_rank from, enum pawl_rank to,
                struct runtime_choice *out)
{
    int status =
        pawl__shares_list(l->runtime->shares, from, to, l->arena, &out->definitions, &out->count);

    return status == PAWL_OK ? PAWL_OK : pawl__error_code(l->err, status);
}

/* What heavy definitions have in any case: one piece, of those that had the least. */
static int take_owed(struct looking *l, bool *found)
{
    struct runtime_choice choice = {.only = true};
    int status = PAWL_OK;

    *found = false;
    for (enum pawl_rank most = PAWL_RANK_HEAVY;
         status == PAWL_OK && !*found && most <= PAWL_RANK_GREEDY; most++) {
        status = list(l, PAWL_RANK_HEAVY, most, &choice);
        if (status == PAWL_OK && choice.count > 0)
            status = take_choice(l, 1, &choice, found);
    }
    if (status == PAWL_OK && !*found)
        pawl__shares_settle(l->runtime->shares);
    l->look->is_heavy = true;
    return status;
}

/*
 * Cancellations do not wait behind whatever else is due, and so not for the end of a backlog that
 * somebody cancels. Instances that are named besides are left to the next look.
 */
static int take_cancels(struct looking *l, struct runtime_looks *looks, bool *found)
{
    static const char *const kinds[] = {PAWL_WORK_CANCEL, PAWL_WORK_CANCEL_ONE};
    int64_t now_ns = pawl_env_monotonic_ns(l->runtime->env);
    int status = PAWL_OK;

    if (now_ns < looks->cancels_ns)
        return PAWL_OK;
    looks->cancels_ns = now_ns + CANCELS_NS;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && status == PAWL_OK && !*found; i++) {
        const struct runtime_choice choice = {.kind = kinds[i]};

        status = take_choice(l, l->look->limit, &choice, found);
        if (status == PAWL_OK)
            l->taken->runnable_count = 0;
        *found = status == PAWL_OK && l->taken->work_count > 0;
    }
    return status;
}

static uint32_t limit_of(const struct runtime_look *look, enum pawl_rank rank)
{
    if (rank >= PAWL_RANK_HEAVY)
        return look->heavy_limit;
    return rank == PAWL_RANK_FAILING ? (look->limit + FAILING_PART - 1) / FAILING_PART
                                     : look->limit;
}

/* Of what has this rank at the most. *left_out is how much the look before left out; 0: nothing,
 * so that there is no other. */
static int take_rank(struct looking *l, struct runtime_looks *looks, enum pawl_rank rank,
                     size_t *left_out, bool *found)
{
    struct pawl_env *env = l->runtime->env;
    int64_t began_ns = pawl_env_monotonic_ns(env), now_ns;
    struct runtime_choice choice = {0};
    uint32_t limit = limit_of(l->look, rank);
    int status = PAWL_OK;

    *found = false;
    l->look->rank = rank;
    l->look->is_heavy = rank >= PAWL_RANK_HEAVY;
    if (rank < PAWL_RANK_GREEDY && began_ns < looks->again_ns[rank])
        return PAWL_OK;
    if (rank < PAWL_RANK_GREEDY)
        status = list(l, rank + 1, PAWL_RANK_GREEDY, &choice);
    /* As much as before: that found nothing. */
    if (status != PAWL_OK || choice.count == *left_out)
        return status;
    *left_out = choice.count;
    if (choice.count == 0)
        return take_choice(l, limit, NULL, found);
    status = take_choice(l, limit, &choice, found);
    now_ns = pawl_env_monotonic_ns(env);
    if (status == PAWL_OK && !*found)
        looks->again_ns[rank] = now_ns + LOOK_PART * (now_ns - began_ns);
    return status;
}

int pawl__runtime_take_share(struct pawl_runtime *runtime, struct runtime_looks *looks,
                             struct runtime_look *look, struct pawl_arena *arena,
                             struct pawl_taken *taken, int64_t deadline_ns, struct pawl_error *err)
{
    struct looking l = {runtime, look, arena, taken, deadline_ns, err};
    size_t left_out = SIZE_MAX;
    bool found = false;
    int status = PAWL_OK;

    look->changes = pawl__shares_changes(runtime->shares);
    look->is_heavy = false;
    look->rank = PAWL_RANK_NEW;
    if (!pawl__shares_matter(runtime->shares))
        return take_choice(&l, look->limit, NULL, &found);
    status = take_cancels(&l, looks, &found);
    if (status == PAWL_OK && !found && !look->has_heavy && pawl__shares_owe(runtime->shares))
        status = take_owed(&l, &found);
    for (enum pawl_rank rank = PAWL_RANK_NEW;
         status == PAWL_OK && !found && rank <= PAWL_RANK_GREEDY; rank++)
        status = take_rank(&l, looks, rank, &left_out, &found);
    return status;
}

/* ---- giving back --------------------------------------------------------------------------- */

bool pawl__runtime_is_outranked(struct pawl_runtime *runtime, const struct runtime_look *look,
                                const struct pawl_work_row *work)
{
    enum pawl_rank rank;

    if (look->is_heavy || work->definition_id.len == 0 ||
        look->changes == pawl__shares_changes(runtime->shares))
        return false;
    rank = pawl__shares_rank(runtime->shares, work->definition_id);
    return rank >= PAWL_RANK_FAILING && rank > look->rank;
}

/* One commit; rows of another incarnation of this node are free as it is. */
static int commit_back(struct pawl_runtime *runtime, const struct pawl_work_row *const *rows,
                       size_t count, struct pawl_arena *arena, int64_t deadline_ns)
{
    struct runtime_changes changes = {.arena = arena};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN, .done_owner = rows[0]->owner};
    struct pawl_str *done = pawl__arena_alloc_array(arena, count, sizeof *done);

    if (!done)
        return pawl__arena_status(arena);
    commit.done = done;
    for (size_t i = 0; i < count; i++) {
        struct pawl_work_row row = *rows[i];

        if (row.owner != commit.done_owner)
            continue;
        done[commit.done_count++] = row.id;
        row.owner = 0;
        pawl__runtime_change(&changes, PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &row);
    }
    commit.changes = changes.items;
    commit.change_count = changes.count;
    if (changes.status != PAWL_OK)
        return changes.status;
    return pawl__runtime_commit(runtime, &commit, deadline_ns, NULL);
}

void pawl__runtime_give_back(struct pawl_runtime *runtime, const struct pawl_work_row *const *rows,
                             size_t count, struct pawl_arena *arena, int64_t deadline_ns)
{
    int status = commit_back(runtime, rows, count, arena, deadline_ns);

    for (size_t i = 0; i < count; i++)
        pawl__runtime_drop(runtime, rows[i]->id);
    /* What is still this node's is found with what is in nobody's hand. */
    if (status != PAWL_OK)
        pawl__runtime_note_left(runtime);
}

/* ---- charging ------------------------------------------------------------------------------ */

/* Whether what a task does is charged: what workers do, and what a sender does in their place. */
static bool is_metered(const struct runtime_task *task)
{
    return task->yields || task->is_direct;
}

void pawl__runtime_meter_begin(struct runtime_task *task)
{
    task->yields = !task->is_direct;
    task->metered_failed = false;
    task->metered_ns = pawl_env_processor_ns(task->runtime->env);
}

void pawl__runtime_meter_burst(struct runtime_run *run)
{
    struct runtime_task *task = run->task;

    if (is_metered(task) && task->metered_id.len == 0 && run->graph)
        task->metered_id = pawl__arena_str(&task->arena, run->graph->workflow->definition_id);
}

void pawl__runtime_meter_end(const struct runtime_run *run, int status)
{
    struct runtime_task *task = run->task;

    if (is_metered(task) && run->graph &&
        pawl__str_equal(task->metered_id, run->graph->workflow->definition_id))
        task->metered_failed =
            status != PAWL_OK || pawl__runtime_sub_status(run->row.sub_status) == PAWL_SUB_FAULTED;
}

void pawl__runtime_meter(struct runtime_task *task)
{
    int64_t now_ns;

    if (!is_metered(task) || task->metered_id.len == 0)
        return;
    now_ns = pawl_env_processor_ns(task->runtime->env);
    pawl__shares_charge(task->runtime->shares, task->metered_id, now_ns - task->metered_ns,
                        task->metered_failed);
    task->metered_ns = now_ns;
}
