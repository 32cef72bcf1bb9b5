/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instances that kill their nodes.
 *
 * The store counts how often an instance was claimed from a node that had died since its last step
 * (takeovers). Nodes die for many reasons while they have many instances in hand, so that the count
 * alone proves nothing. After TAKEOVERS_MAX of them a node runs the instance alone: it waits until
 * nothing else is in hand, begins nothing beside it, and has written durably that it is about to.
 * If that node dies too, the instance is set aside for an operator. A step that is committed resets
 * the count, also when it was taken alone: an innocent neighbour costs one small commit.
 *
 * An instance that only waits (for a child, for a request) runs no step: being taken over then is
 * no sign of anything, however often.
 *
 * A row of work that runs code of a definition or of the host (a start, an effect) is treated the
 * same, but a node takes many rows that it has not begun when it dies. So what was taken from a
 * dead node is marked by a small commit before it is done, and only deaths behind such a mark
 * count: of the first node that died with a row nobody knows whether it had begun. After DEATHS_MAX
 * more the row is done alone, and after one more it is a dead letter. A node that gives a row back,
 * or leaves before it is done, takes its mark off: it did not die.
 */
#include "runtime/instance/private.h"

#include "base/error.h"
#include "base/log.h"
#include "runtime/task.h"
#include "runtime/work/private.h"

/* Nodes that died with an instance in hand, in a row and without a step, before it is tried alone.
 */
#define TAKEOVERS_MAX 3
/* Nodes that died after they had marked a row of work, in a row, before it is done alone. */
#define DEATHS_MAX (TAKEOVERS_MAX - 1)
/* How long an instance has the node to itself, and how long it waits for that. What takes longer
 * does not stop the node's other work; whether it ever returns is the watchdog's business. */
#define ALONE_NS INT64_C(10000000000)
/* When others were in hand all that time. */
#define AGAIN_US INT64_C(2000000)

/* ---- the gate ------------------------------------------------------------------------------ */

/* With the mutex held. */
bool pawl__runtime_is_reserved(struct pawl_runtime *runtime)
{
    return runtime->alone && pawl_env_monotonic_ns(runtime->env) < runtime->alone_until_ns;
}

/* With the mutex held. */
static bool is_only_one(const struct pawl_runtime *runtime, const struct runtime_running *running)
{
    const struct runtime_running *other;

    PAWL_LIST_FOR_EACH (other, &runtime->running, link) {
        if (other != running)
            return false;
    }
    return true;
}

bool pawl__runtime_begin_alone(struct pawl_runtime *runtime, struct runtime_running *running,
                               int64_t deadline_ns)
{
    int64_t until_ns = pawl_env_monotonic_ns(runtime->env) + ALONE_NS;
    int status = pawl_mutex_lock(runtime->env, runtime->mutex);
    bool alone = false;

    PAWL_ASSERT(running); /* what is claimed to be run is in hand */
    if (status != PAWL_OK)
        return false;
    if (!pawl__runtime_is_reserved(runtime)) {
        runtime->alone = running;
        runtime->alone_until_ns = until_ns < deadline_ns ? until_ns : deadline_ns;
        while (status == PAWL_OK && !is_only_one(runtime, running))
            status = pawl_cond_wait(runtime->env, runtime->left, runtime->mutex,
                                    runtime->alone_until_ns);
        /* When its time was over another one may have reserved the node. */
        alone = runtime->alone == running && is_only_one(runtime, running);
        if (alone)
            runtime->alone_until_ns = pawl_env_monotonic_ns(runtime->env) + ALONE_NS;
        else if (runtime->alone == running)
            runtime->alone = NULL;
    }
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    if (!alone)
        pawl_cond_broadcast(runtime->env, runtime->left);
    return alone;
}

void pawl__runtime_end_alone(struct pawl_runtime *runtime, const struct runtime_running *running)
{
    bool was_alone;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return;
    was_alone = runtime->alone == running;
    if (was_alone)
        runtime->alone = NULL;
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    if (was_alone)
        pawl_cond_broadcast(runtime->env, runtime->left);
}

/* ---- suspects ------------------------------------------------------------------------------ */

/* Whether a step is about to run, as far as the row and the mail say. */
static bool is_about_to_step(const struct runtime_run *run)
{
    if (run->row.runnable != 2)
        return !pawl__str_is(run->row.status, "Finished");
    return run->mail_count > 0 && pawl__str_is(run->mail->kind, PAWL_WORK_FEED);
}

static int set_aside(struct runtime_run *run)
{
    struct runtime_task *task = run->task;
    struct runtime_trouble trouble = {
        .failures = run->row.failures, .retry_us = PAWL_TIME_NEVER, .alone = run->row.alone};
    int status;

    trouble.why = pawl__str(pawl__arena_printf(
        &task->arena,
        "%lld nodes in a row died while they ran it and it took no step, the last one while it "
        "ran nothing else",
        (long long)run->row.takeovers));
    if (trouble.why.len == 0)
        return pawl__error_code(task->err, pawl__arena_status(&task->arena));
    status = pawl__runtime_commit_trouble(run, &trouble, true, task->err);
    if (status != PAWL_OK)
        return status;
    if (run->runtime->log)
        pawl_log(run->runtime->log, PAWL_LOG_WARN, "instance set aside for an operator",
                 pawl__log_str("instance", run->row.id),
                 pawl_log_int("takeovers", run->row.takeovers),
                 pawl__log_str("reason", trouble.why));
    return pawl__error_set(task->err, PAWL_ECONFLICT,
                           "instance %.*s is set aside: %.*s. 'pawl retry %.*s' tries it once more",
                           PAWL_STR_ARG(run->row.id), PAWL_STR_ARG(trouble.why),
                           PAWL_STR_ARG(run->row.id));
}

static int try_later(struct runtime_run *run)
{
    const struct runtime_trouble trouble = {
        .failures = run->row.failures,
        .retry_us = pawl__runtime_now_us(run) + AGAIN_US,
        .alone = run->row.alone,
        .why = pawl__arena_str(&run->task->arena, run->row.trouble),
    };
    int status = pawl__runtime_commit_trouble(run, &trouble, true, run->task->err);

    return status == PAWL_OK
               ? pawl__error_set(run->task->err, PAWL_EBUSY,
                                 "instance %.*s is to be run alone, and this node has others in "
                                 "hand",
                                 PAWL_STR_ARG(run->row.id))
               : status;
}

static int mark(struct runtime_run *run)
{
    struct runtime_trouble trouble = {.failures = run->row.failures, .alone = run->row.takeovers};

    trouble.why = pawl__str(pawl__arena_printf(
        &run->task->arena, "is tried alone: %lld nodes in a row died while they ran it",
        (long long)run->row.takeovers));
    if (trouble.why.len == 0)
        return pawl__error_code(run->task->err, pawl__arena_status(&run->task->arena));
    return pawl__runtime_commit_trouble(run, &trouble, false, run->task->err);
}

/* A cancellation runs code, too: this one ends without. */
static int end_deadly(struct runtime_run *run)
{
    const char *why = pawl__arena_printf(
        &run->task->arena, "whose steps killed %lld nodes in a row", (long long)run->row.takeovers);

    return why ? pawl__runtime_end_without_state(run, why)
               : pawl__error_code(run->task->err, pawl__arena_status(&run->task->arena));
}

int pawl__runtime_suspect(struct runtime_run *run, struct runtime_running *running)
{
    if (run->row.takeovers < TAKEOVERS_MAX || run->task->by_operator || !is_about_to_step(run))
        return PAWL_OK;
    if (run->row.alone != 0 && run->row.takeovers > run->row.alone)
        return run->row.cancel_requested ? end_deadly(run) : set_aside(run);
    if (!pawl__runtime_begin_alone(run->runtime, running, run->task->deadline_ns))
        return try_later(run);
    return run->row.alone != 0 ? PAWL_OK : mark(run);
}

/* ---- rows of work -------------------------------------------------------------------------- */

/* Nodes that died after they had begun it, with the last one that had it. */
static int64_t count_deaths(const struct pawl_work_row *work)
{
    return work->deaths + (work->begun != 0 && work->takeovers > work->begun);
}

void pawl__runtime_unmark_work(struct pawl_work_row *work)
{
    work->deaths = count_deaths(work);
    work->begun = 0;
}

static int give_up_work(struct runtime_task *task, const struct runtime_about *about, int64_t nodes)
{
    task->given_up = true;
    if (task->runtime->log)
        pawl_log(task->runtime->log, PAWL_LOG_WARN, "work that killed its nodes is given up",
                 pawl_log_text("what", about->what), pawl__log_str("instance", about->instance_id),
                 pawl__log_str("definition", about->definition_id), pawl_log_int("nodes", nodes));
    return pawl__error_set(
        task->err, PAWL_ELIMIT,
        "%lld nodes in a row died while they did %s of %s%.*s%s%.*s, the last one while it did "
        "nothing else",
        (long long)nodes, about->what, about->instance_id.len > 0 ? "instance " : "an instance",
        PAWL_STR_ARG(about->instance_id), about->definition_id.len > 0 ? " of definition " : "",
        PAWL_STR_ARG(about->definition_id));
}

static int do_later(struct runtime_task *task, const struct pawl_work_row *work, int64_t deaths)
{
    struct pawl_work_row row = *work;
    int64_t now_us;
    int status = pawl__runtime_clock(task->runtime, &now_us, task->deadline_ns, task->err);

    row.deaths = deaths;
    if (status == PAWL_OK)
        status = pawl__runtime_put_off(task, &row, now_us + AGAIN_US);
    return status == PAWL_OK
               ? pawl__error_set(task->err, PAWL_EBUSY,
                                 "work %.*s is to be done alone, and this node has others in hand",
                                 PAWL_STR_ARG(work->id))
               : status;
}

/* The row as it is, this node's, with the mark. */
static int mark_work(struct runtime_task *task, const struct pawl_work_row *work, int64_t deaths)
{
    struct runtime_changes changes = {.arena = &task->arena};
    struct pawl_work_row row = *work;

    row.begun = work->takeovers;
    row.deaths = deaths;
    atomic_store(&task->runtime->has_marked, true);
    pawl__runtime_change(&changes, PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &row);
    return pawl__runtime_finish_work(task, work, &changes);
}

int pawl__runtime_begin_work(struct runtime_task *task, const struct pawl_work_row *work,
                             struct runtime_running *running, const struct runtime_about *about)
{
    int64_t deaths = count_deaths(work);

    if (work->takeovers == 0)
        return PAWL_OK;
    if (deaths > DEATHS_MAX)
        return give_up_work(task, about, deaths + 1);
    if (deaths == DEATHS_MAX &&
        !pawl__runtime_begin_alone(task->runtime, running, task->deadline_ns))
        return do_later(task, work, deaths);
    return work->begun == work->takeovers ? PAWL_OK : mark_work(task, work, deaths);
}
