/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks of RunTask that were done outside: the report is a stimulus like any other, durable when
 * the call returns, with the result as its input (activities/tasks.c).
 *
 * Nobody knows a task's id before the commit that made its bookmark: the task is asked for, and its
 * id is shown, after that. So a report without a bookmark is not early, and is never parked: the
 * task was reported before, which its key tells for a day, or nobody waits for it.
 */
#include "runtime/work/private.h"

#include "base/error.h"
#include "base/stimuli.h"
#include "engine/builder.h"
#include "runtime/task.h"

static int task_hash(struct runtime_task *task, struct pawl_str task_id,
                     char out[PAWL_SHA256_TEXT_SIZE])
{
    struct pawl_builder b = {.arena = &task->arena};
    struct pawl_json payload = pawl__task_stimulus(&b, task_id);
    int status = pawl__built_stimulus_hash(&b, &task->runtime->env->alloc, PAWL_STIMULUS_TASK,
                                           &payload, out);

    return status == PAWL_OK ? PAWL_OK : pawl__error_code(task->err, status);
}

static int is_awaited(struct runtime_task *task, struct pawl_str hash, bool *out)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_BOOKMARKS, "hash"), .value = {.text = hash}};
    const struct pawl_query query = {.table = PAWL_TABLE_BOOKMARKS,
                                     .flags = PAWL_QUERY_COUNT,
                                     .conditions = &condition,
                                     .condition_count = 1};
    struct pawl_rows rows;
    int status = pawl_store_find(task->runtime->store, &query, &task->arena, &rows,
                                 task->deadline_ns, task->err);

    if (status == PAWL_OK)
        *out = rows.total > 0;
    return status;
}

/* What the first report did. PAWL_ENOTFOUND; PAWL_ECONFLICT: it had another result. */
static int reported_before(struct runtime_task *task, struct pawl_str task_id,
                           const struct pawl_stimulus *stimulus, struct pawl_sent *out)
{
    int status = pawl__runtime_sent_before(task, stimulus, out);

    if (status == PAWL_ECONFLICT)
        return pawl__error_set(
            task->err, PAWL_ECONFLICT,
            "the task %.*s was reported with another result before, which counts",
            PAWL_STR_ARG(task_id));
    if (status == PAWL_ENOTFOUND)
        return pawl__error_set(task->err, PAWL_ENOTFOUND,
                               "no instance waits for the task %.*s: there is no such task, or its "
                               "instance has gone on without it",
                               PAWL_STR_ARG(task_id));
    return status;
}

static int report(struct runtime_task *task, struct pawl_str task_id,
                  const struct pawl_json *result, bool detached, struct pawl_sent *out)
{
    struct pawl_builder b = {.arena = &task->arena};
    struct pawl_stimulus stimulus = {.input = pawl__json_object(), .detached = detached};
    char hash[PAWL_SHA256_TEXT_SIZE];
    bool awaited = false;
    int status = task_hash(task, task_id, hash);

    if (status == PAWL_OK)
        status = is_awaited(task, pawl__str(hash), &awaited);
    if (status != PAWL_OK)
        return status;
    pawl__build(&b, &stimulus.input, PAWL_STIMULUS_TASK_INPUT,
                result ? *result : pawl__json_null());
    stimulus.hash = pawl__str(hash);
    stimulus.idempotency_key =
        pawl__str(pawl__arena_printf(&task->arena, "task:%.*s", PAWL_STR_ARG(task_id)));
    if (b.status == PAWL_OK)
        b.status = task->arena.status; /* of the key: without one it would be another report */
    if (b.status != PAWL_OK)
        return pawl__error_code(task->err, b.status);
    if (!awaited)
        return reported_before(task, task_id, &stimulus, out);
    status = pawl__runtime_send(task->runtime, &stimulus, out, task->deadline_ns, task->err);
    if (status == PAWL_ECONFLICT) {
        struct pawl_error why = task->err ? *task->err : (struct pawl_error)PAWL_ERROR_INIT;

        /* Reported but not delivered yet: what is said of tasks says more than what is said of
         * events. */
        if (reported_before(task, task_id, &stimulus, out) != PAWL_ECONFLICT && task->err)
            *task->err = why;
    }
    return status;
}

int pawl__runtime_report_task(struct pawl_runtime *runtime, struct pawl_str task_id,
                              const struct pawl_json *result, bool detached, struct pawl_sent *out,
                              int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_sent sent = {0};
    struct runtime_task task;
    int status;

    pawl__runtime_task_init(&task, runtime, deadline_ns, err);
    status = report(&task, task_id, result, detached, &sent);
    pawl__runtime_task_release(&task, status);
    if (status == PAWL_OK && out)
        *out = sent;
    return status;
}
