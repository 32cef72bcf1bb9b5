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
 */
#include "runtime/runtime_private.h"

#include "base/error.h"
#include "base/log.h"

/* Nodes that died with an instance in hand, in a row and without a step, before it is tried alone.
 */
#define TAKEOVERS_MAX 3
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

/* false: others stayed in hand, or another instance is alone. */
static bool begin_alone(struct pawl_runtime *runtime, struct runtime_running *running)
{
    int status = pawl_mutex_lock(runtime->env, runtime->mutex);
    bool alone = false;

    PAWL_ASSERT(running); /* what is claimed to be run is in hand */
    if (status != PAWL_OK)
        return false;
    if (!pawl__runtime_is_reserved(runtime)) {
        runtime->alone = running;
        runtime->alone_until_ns = pawl_env_monotonic_ns(runtime->env) + ALONE_NS;
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

/* What `trouble` says while an instance is tried alone; failures is the count of takeovers then. */
#define ALONE_TEXT "is tried alone"

bool pawl__runtime_is_tried_alone(const struct runtime_run *run)
{
    return pawl__str_starts(run->row.trouble, pawl__str(ALONE_TEXT));
}

/* Whether a step is about to run, as far as the row and the mail say. */
static bool is_about_to_step(const struct runtime_run *run)
{
    if (run->row.runnable != 2)
        return !pawl__str_is(run->row.status, "Finished");
    for (size_t i = 0; i < run->mail_count; i++) {
        if (pawl__str_is(run->mail[i].kind, PAWL_WORK_FEED))
            return true;
    }
    return false;
}

static int set_aside(struct runtime_run *run)
{
    struct runtime_task *task = run->task;
    struct runtime_trouble trouble = {.failures = run->row.takeovers, .retry_us = PAWL_TIME_NEVER};
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
    struct runtime_trouble trouble = {.failures = run->row.takeovers};

    trouble.why = pawl__str(pawl__arena_printf(
        &run->task->arena, ALONE_TEXT ": %lld nodes in a row died while they ran it",
        (long long)run->row.takeovers));
    if (trouble.why.len == 0)
        return pawl__error_code(run->task->err, pawl__arena_status(&run->task->arena));
    return pawl__runtime_commit_trouble(run, &trouble, false, run->task->err);
}

int pawl__runtime_suspect(struct runtime_run *run, struct runtime_running *running)
{
    if (run->row.takeovers < TAKEOVERS_MAX || run->task->by_operator || !is_about_to_step(run))
        return PAWL_OK;
    if (pawl__runtime_is_tried_alone(run) && run->row.takeovers > run->row.failures)
        return set_aside(run);
    if (!begin_alone(run->runtime, running))
        return try_later(run);
    return pawl__runtime_is_tried_alone(run) ? PAWL_OK : mark(run);
}
