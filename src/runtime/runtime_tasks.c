/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks of RunTask that were done outside: the report is a stimulus like any other, durable when
 * the call answers, with the result as its input (activities/tasks.c).
 */
#include "runtime/runtime_private.h"

#include "base/error.h"
#include "base/stimulus.h"

static int task_hash(struct runtime_task *task, struct pawl_str task_id,
                     char out[PAWL_SHA256_TEXT_SIZE])
{
    struct pawl_builder b = {.arena = &task->arena};
    struct pawl_json payload = pawl__json_object();

    pawl__build_text(&b, &payload, "taskId", task_id);
    pawl__build_name(&b, &payload, "_type", "RunTaskStimulus");
    if (b.status == PAWL_OK)
        b.status = pawl__stimulus_hash(&task->runtime->env->alloc, pawl__str("Elsa.RunTask"),
                                       &payload, pawl__str(""), out);
    return b.status == PAWL_OK ? PAWL_OK : pawl__error_code(task->err, b.status);
}

/* A task is asked for after the commit that made its bookmark, so one without is not open. */
static int check_open(struct runtime_task *task, struct pawl_str task_id, struct pawl_str hash)
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

    if (status == PAWL_OK && rows.total == 0)
        return pawl__error_set(task->err, PAWL_ENOTFOUND,
                               "no instance waits for the task %.*s: it was reported before, or "
                               "its instance has ended",
                               PAWL_STR_ARG(task_id));
    return status;
}

int pawl__runtime_report_task(struct pawl_runtime *runtime, struct pawl_str task_id,
                              const struct pawl_json *result, struct pawl_sent *out,
                              int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_stimulus stimulus = {.input = pawl__json_object()};
    struct runtime_task task;
    char hash[PAWL_SHA256_TEXT_SIZE];
    struct pawl_builder b;
    int status;

    pawl__runtime_task_init(&task, runtime, deadline_ns, err);
    b = (struct pawl_builder){.arena = &task.arena};
    pawl__build(&b, &stimulus.input, "RunTaskInput", result ? *result : pawl__json_null());
    status =
        b.status == PAWL_OK ? task_hash(&task, task_id, hash) : pawl__error_code(err, b.status);
    if (status == PAWL_OK)
        status = check_open(&task, task_id, pawl__str(hash));
    if (status == PAWL_OK) {
        stimulus.hash = pawl__str(hash);
        status = pawl__runtime_send(runtime, &stimulus, out, deadline_ns, err);
    }
    pawl__runtime_task_release(&task, status);
    return status;
}
