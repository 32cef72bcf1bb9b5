/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watchdog: steps that do not come back.
 *
 * A thread cannot be ended from outside: what it computes, and the locks that an activity of the
 * host holds, are its own. So a step that takes longer than its deadline is given up around it:
 *
 *     the instance   is claimed once more, by this node, which gives it a new fence, and set aside.
 *                    Nobody runs it again by itself; should the step come back, its commit is
 *                    refused
 *     its work       an effect, or the start of an instance that is not stored yet, becomes a dead
 *                    letter: no other node takes it up and hangs too
 *     the node       says so in its log and in 'pawl nodes'
 *     the pool       starts another worker, as long as it may (pool.h)
 *
 * A step shows that it goes on at every boundary between activities; only one activity, or one
 * function of the host, that does not return is given up. Waiting for the store is not part of a
 * step. The keeper's thread looks after each renewal of the lease, until the next one is due; what
 * it could not give up by then, because the store did not let it, has its turn at the next look.
 */
#include "runtime/node/private.h"

#include "base/error.h"
#include "base/log.h"
#include "runtime/instance/private.h"
#include "runtime/node/keeper.h"
#include "runtime/task.h"
#include "runtime/work/private.h"

/* One step that is to be given up. */
struct overdue {
    const struct runtime_running *running; /* to be compared: it may be gone */
    int64_t since_ns;
    char instance_id[PAWL_INSTANCE_ID_MAX + 1];
    struct pawl_str work_id; /* in the task's arena; "": none */
    int64_t visited;         /* the revision that was read; 0: it is claimed */
    int64_t seconds;
};

/* ---- the thread's side --------------------------------------------------------------------- */

/* What was given up stays so until its thread has let go of it, whatever that does before. */
static void move_step(struct runtime_running *running, enum hand_state from, enum hand_state to)
{
    if (!pawl__hand_move(running, from, to))
        PAWL_ASSERT(atomic_load(&running->state) == HAND_GIVEN_UP);
}

void pawl__runtime_step_begin(struct pawl_runtime *runtime, struct runtime_running *running,
                              struct pawl_str work_id)
{
    if (!running)
        return;
    if (work_id.len > 0 && pawl_mutex_lock(runtime->env, runtime->mutex) == PAWL_OK) {
        running->work_id = work_id;
        pawl_mutex_unlock(runtime->env, runtime->mutex);
    }
    pawl__runtime_step_goes_on(runtime, running);
    move_step(running, HAND_TAKEN, HAND_STEPPING);
}

void pawl__runtime_step_goes_on(struct pawl_runtime *runtime, struct runtime_running *running)
{
    if (running)
        atomic_store_explicit(&running->since_ns, pawl_env_monotonic_ns(runtime->env),
                              memory_order_relaxed);
}

void pawl__runtime_step_end(struct pawl_runtime *runtime, struct runtime_running *running)
{
    if (!running)
        return;
    move_step(running, HAND_STEPPING, HAND_TAKEN);
    atomic_store_explicit(&running->since_ns, 0, memory_order_relaxed);
    if (running->work_id.len > 0 && pawl_mutex_lock(runtime->env, runtime->mutex) == PAWL_OK) {
        running->work_id = pawl__str("");
        pawl_mutex_unlock(runtime->env, runtime->mutex);
    }
}

/* ---- looking ------------------------------------------------------------------------------- */

/* With the mutex held. */
static bool is_overdue(const struct pawl_runtime *runtime, const struct runtime_running *running,
                       int64_t now_ns)
{
    int64_t since_ns = atomic_load_explicit(&running->since_ns, memory_order_relaxed);

    return since_ns != 0 && (now_ns - since_ns) / 1000 >= runtime->options.step_us &&
           running->id.len <= PAWL_INSTANCE_ID_MAX;
}

/* The next one that this look has not tried; false: none is left. */
static bool find_overdue(struct pawl_runtime *runtime, int64_t look_ns, struct pawl_arena *arena,
                         struct overdue *out)
{
    struct runtime_running *running;
    bool found = false;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return false;
    PAWL_LIST_FOR_EACH (running, &runtime->running, link) {
        if (found || running->look_ns == look_ns || !is_overdue(runtime, running, look_ns))
            continue;
        running->look_ns = look_ns;
        *out = (struct overdue){.running = running,
                                .since_ns =
                                    atomic_load_explicit(&running->since_ns, memory_order_relaxed),
                                .work_id = pawl__arena_str(arena, running->work_id),
                                .visited = atomic_load(&running->visited)};
        out->seconds = (look_ns - out->since_ns) / 1000000000;
        memcpy(out->instance_id, running->id.ptr, running->id.len);
        found = out->work_id.ptr != NULL; /* no memory: at the next look */
    }
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    return found;
}

/*
 * Takes what was given up from the thread that hangs, unless that has come back meanwhile: then it
 * finds out from the store.
 */
static bool take_from_thread(struct pawl_runtime *runtime, const struct overdue *overdue)
{
    struct runtime_running *running, *hanging = NULL;
    bool again = false;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return false;
    PAWL_LIST_FOR_EACH (running, &runtime->running, link) {
        if (running == overdue->running &&
            atomic_load_explicit(&running->since_ns, memory_order_relaxed) == overdue->since_ns)
            hanging = running;
    }
    if (hanging && !pawl__hand_move(hanging, HAND_STEPPING, HAND_GIVEN_UP))
        hanging = NULL;
    if (hanging) {
        again = hanging->again;
        pawl__list_remove(&hanging->link);
        pawl__list_push_back(&runtime->given_up, &hanging->link);
        if (runtime->alone == hanging)
            runtime->alone = NULL;
        runtime->stuck++;
        runtime->stuck_workers += hanging->is_worker;
    }
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    if (hanging)
        pawl_cond_broadcast(runtime->env, runtime->left);
    if (again)
        pawl__runtime_note_left(runtime); /* what others left to that thread */
    return hanging != NULL;
}

/* ---- giving up ----------------------------------------------------------------------------- */

static int find_work(struct runtime_task *task, struct pawl_str id, struct pawl_work_row *out)
{
    const struct pawl_condition condition = {.column = pawl_table_column(PAWL_TABLE_WORK, "id"),
                                             .value = {.text = id}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_WORK, .conditions = &condition, .condition_count = 1};
    struct pawl_rows rows;
    int status = pawl_store_find(task->runtime->store, &query, &task->arena, &rows,
                                 task->deadline_ns, task->err);

    if (status == PAWL_OK && rows.count == 0)
        status = pawl__error_code(task->err, PAWL_ENOTFOUND);
    if (status == PAWL_OK)
        *out = *(const struct pawl_work_row *)rows.rows;
    return status;
}

static int give_up_work(struct runtime_task *task, struct pawl_str id, struct pawl_str why)
{
    struct runtime_changes changes = {.arena = &task->arena};
    struct pawl_work_row work;
    int64_t now_us;
    int status = find_work(task, id, &work);

    if (status == PAWL_OK)
        status = pawl__runtime_clock(task->runtime, &now_us, task->deadline_ns, task->err);
    if (status != PAWL_OK)
        return status;
    work.attempts = pawl__runtime_one_more(work.attempts);
    work.attempted_us = now_us;
    pawl__runtime_add_dead_letter(&changes, &work, "Failed", why, now_us);
    pawl__runtime_add_refusal(task, &changes, &work, why);
    return pawl__runtime_finish_work(task, &work, &changes);
}

/*
 * The new fence keeps whatever the step may still commit out. No guard is asked: the thread that
 * hangs has its pass.
 */
static int give_up_instance(struct runtime_task *task, const struct overdue *overdue,
                            struct pawl_str why)
{
    struct runtime_trouble trouble = {.retry_us = PAWL_TIME_NEVER, .why = why};
    struct runtime_run run;
    bool has_gone_on;
    int status;

    pawl__runtime_run_init(&run, task);
    status = pawl__runtime_claim(&run, pawl__str(overdue->instance_id));
    /* Others have run what was only visited. */
    has_gone_on =
        status == PAWL_OK && overdue->visited != 0 && run.row.revision != overdue->visited;
    /* An effect that hangs is not the instance's step: that goes on elsewhere. */
    if (status == PAWL_OK && (overdue->work_id.len > 0 || has_gone_on))
        trouble = (struct runtime_trouble){run.row.failures, run.row.retry_us, run.row.alone,
                                           run.row.trouble, false};
    else if (status == PAWL_OK)
        trouble.failures = pawl__runtime_one_more(run.row.failures);
    if (status == PAWL_OK)
        status = pawl__runtime_commit_trouble(&run, &trouble, true, task->err);
    pawl__runtime_run_release(&run);
    return status;
}

/* False: not now, as far as the store says. */
static bool give_up(struct pawl_runtime *runtime, struct runtime_task *task,
                    const struct overdue *overdue)
{
    struct pawl_str why = pawl__str(pawl__arena_printf(
        &task->arena, "a step has not come back for %llds on node %s, whose worker it holds",
        (long long)overdue->seconds, pawl__keeper_node_id(runtime->keeper)));
    int status = PAWL_OK;

    task->holds_no_claim = false;
    if (runtime->log)
        pawl_log(runtime->log, PAWL_LOG_ERROR, "a step does not come back and is given up",
                 pawl_log_text("instance", overdue->instance_id),
                 pawl__log_str("work", overdue->work_id),
                 pawl_log_int("seconds", overdue->seconds));
    if (overdue->work_id.len > 0)
        status = give_up_work(task, overdue->work_id, why);
    if (status == PAWL_OK || status == PAWL_ENOTFOUND || status == PAWL_ECONFLICT)
        status = give_up_instance(task, overdue, why);
    /* Not there: a first step. Another's: it goes on there, and the fence knows. */
    if (status == PAWL_OK || status == PAWL_ENOTFOUND || status == PAWL_ECONFLICT ||
        (status == PAWL_EBUSY && task->holds_no_claim))
        return true;
    if (runtime->log)
        pawl_log(runtime->log, PAWL_LOG_ERROR, "an instance that hangs was not set aside",
                 pawl_log_text("instance", overdue->instance_id),
                 pawl_log_error("error", task->err));
    return false;
}

/* What cannot be given up now stays with its thread until the next look. */
void pawl__runtime_watch(struct pawl_runtime *runtime, int64_t deadline_ns)
{
    int64_t look_ns = pawl_env_monotonic_ns(runtime->env);
    struct pawl_error err = PAWL_ERROR_INIT;
    struct runtime_task task;
    struct overdue overdue;
    bool any = false;

    pawl__runtime_task_init(&task, runtime, deadline_ns, &err);
    task.by_operator = task.is_duty = true;
    while (pawl_env_monotonic_ns(runtime->env) < deadline_ns &&
           find_overdue(runtime, look_ns, &task.arena, &overdue)) {
        if (give_up(runtime, &task, &overdue) && take_from_thread(runtime, &overdue))
            any = true;
    }
    pawl__runtime_task_release(&task, PAWL_OK);
    if (any)
        pawl__runtime_tell_stuck(runtime);
}

/* ---- notifications ------------------------------------------------------------------------- */

void pawl__runtime_tell_stuck(struct pawl_runtime *runtime)
{
    void (*replace)(void *ctx, uint32_t stuck) = NULL;
    void *ctx = NULL;
    uint32_t stuck = 0, workers = 0;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return;
    stuck = runtime->stuck;
    workers = runtime->stuck_workers;
    replace = runtime->replace;
    ctx = runtime->replace_ctx;
    runtime->replacing++;
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    pawl__keeper_set_stuck(runtime->keeper, stuck);
    if (replace)
        replace(ctx, workers);
    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return;
    PAWL_ASSERT(runtime->replacing > 0);
    runtime->replacing--;
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    pawl_cond_broadcast(runtime->env, runtime->left);
}

void pawl__runtime_set_replace(struct pawl_runtime *runtime,
                               void (*replace)(void *ctx, uint32_t stuck), void *ctx)
{
    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return;
    runtime->replace = replace;
    runtime->replace_ctx = ctx;
    atomic_store(&runtime->has_pool, replace != NULL);
    /* Who was asked before may go when this returns. */
    while (runtime->replacing > 0 && pawl_cond_wait(runtime->env, runtime->left, runtime->mutex,
                                                    PAWL_FOREVER) != PAWL_ESTOPPED)
        continue;
    pawl_mutex_unlock(runtime->env, runtime->mutex);
}

void pawl__runtime_renounce(struct pawl_runtime *runtime)
{
    if (runtime->log)
        pawl_log(runtime->log, PAWL_LOG_ERROR,
                 "all threads hang: what this node has is left to others; restart it",
                 pawl_log_text("node", pawl__keeper_node_id(runtime->keeper)));
    pawl__keeper_renounce(runtime->keeper);
}
