/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operator does to an instance by hand: alterations and retries. They are an event like any
 * other, run by whoever has the claim; here is what comes before: the graph of the version that a
 * migration goes to, and looking at what alterations would do without doing it.
 */
#include "runtime/instance/private.h"

#include "base/error.h"
#include "engine/builder.h"
#include "engine/run/alter.h"
#include "runtime/audit.h"
#include "runtime/bytes.h"
#include "runtime/node/pause.h"
#include "runtime/task.h"

/* ---- log entries --------------------------------------------------------------------------- */

/* {"message", "logLevel", "timestamp", "eventName"} of each record of an alteration. */
static int add_entry(const struct pawl_log_record *record, struct pawl_arena *arena,
                     struct pawl_json *log)
{
    struct pawl_builder b = {.arena = arena};
    struct pawl_json entry = pawl__json_object();
    struct pawl_str message = pawl__arena_str(arena, record->message);
    struct pawl_str type = pawl__arena_str(arena, runtime_text(&record->payload, "type"));

    if (!message.ptr || !type.ptr)
        return pawl__arena_status(arena);
    pawl__build_text(&b, &entry, "message", message);
    pawl__build_name(&b, &entry, "logLevel", "Information");
    pawl__build_time(&b, &entry, "timestamp", record->timestamp);
    pawl__build_text(&b, &entry, "eventName", type);
    pawl__build_append(&b, log, entry);
    return b.status;
}

int pawl__runtime_tell_altered(struct runtime_task *task, struct pawl_burst *burst)
{
    struct pawl_json *log = task->altered;
    struct pawl_batch batch;
    int status = PAWL_OK;

    if (!log)
        return PAWL_OK;
    *log = pawl__json_array();
    pawl__burst_batch(burst, &batch);
    for (uint32_t i = 0; i < batch.log_count && status == PAWL_OK; i++) {
        if (pawl__str_is(batch.log[i].event, PAWL_LOG_ALTERED))
            status = add_entry(&batch.log[i], task->altered_arena, log);
    }
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(task->err, status);
}

/* ---- altering ------------------------------------------------------------------------------ */

/* The graph that alterations are applied on: of the version they migrate to, if they do. */
int pawl__runtime_altered_graph(struct pawl_runtime *runtime, const struct pawl_instance_row *row,
                                const struct pawl_json *alterations, struct pawl_graph **out,
                                int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_str version_id = row->version_id;
    struct pawl_definition_row definition;
    struct pawl_arena arena;
    int64_t target;
    int status = pawl__alterations_target(alterations, &target, err);

    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&arena, &runtime->env->alloc, RUNTIME_BYTES_MAX);
    if (target != 0) {
        status =
            pawl__definitions_find(runtime->definitions, row->definition_id, PAWL_VERSIONS_LATEST,
                                   target, &arena, &definition, deadline_ns, err);
        if (status == PAWL_OK)
            version_id = definition.id;
    }
    if (status == PAWL_OK)
        status = pawl__definitions_graph(runtime->definitions, version_id, out, deadline_ns, err);
    pawl__arena_release(&arena);
    return status;
}

/* Nothing is claimed and nothing written: what it says holds for the state as it is stored now. */
static int try_altering(struct runtime_task *task, struct pawl_str instance_id,
                        const struct pawl_json *alterations, struct pawl_outcome *out)
{
    struct pawl_runtime *runtime = task->runtime;
    struct pawl_event event = {.kind = PAWL_EVENT_ALTER, .alterations = *alterations};
    struct pawl_burst *burst = NULL;
    struct pawl_graph *graph = NULL;
    struct pawl_instance_row row;
    struct pawl_json state;
    int status = pawl__runtime_show(runtime, instance_id, &task->arena, &row, &state,
                                    task->deadline_ns, task->err);

    if (status == PAWL_OK && row.runnable)
        return pawl__error_set(task->err, PAWL_EBUSY,
                               "instance %.*s is in the middle of a burst: try again later",
                               PAWL_STR_ARG(instance_id));
    if (status == PAWL_OK)
        status = pawl__runtime_altered_graph(runtime, &row, alterations, &graph, task->deadline_ns,
                                             task->err);
    if (status == PAWL_OK) {
        event.now = pawl__us_to_ticks(row.updated_us);
        event.seed = pawl__runtime_burst_seed(runtime, row.id, row.revision);
        event.instance_id = row.id;
        status = pawl__burst_open(graph, &runtime->env->alloc, &state, &event, &burst, task->err);
    }
    if (status == PAWL_OK)
        status = pawl__runtime_tell_altered(task, burst);
    if (status == PAWL_OK && out) {
        struct runtime_run run = {.row = row, .state = state, .outcome = out};

        pawl__runtime_tell_outcome(&run);
    }
    pawl__burst_close(burst);
    pawl__graph_unref(graph);
    return status;
}

/* Whether one of them runs an activity. */
static bool begins_something(const struct pawl_json *alterations)
{
    for (uint32_t i = 0; i < pawl__json_len(alterations); i++) {
        struct pawl_str type = runtime_text(pawl__json_at(alterations, i), "type");

        if (pawl__str_is(type, "ScheduleActivity") || pawl__str_is(type, "Retry"))
            return true;
    }
    return false;
}

int pawl__runtime_alter(struct pawl_runtime *runtime, struct pawl_str instance_id,
                        const struct pawl_json *alterations, bool dry_run, struct pawl_arena *arena,
                        struct pawl_json *log, struct pawl_outcome *out, int64_t deadline_ns,
                        struct pawl_error *err)
{
    return pawl__runtime_alter_by(runtime, NULL, instance_id, alterations, dry_run, arena, log, out,
                                  deadline_ns, err);
}

int pawl__runtime_try_alter_by(struct pawl_runtime *runtime, struct pawl_audit *by,
                               struct pawl_str instance_id, const struct pawl_json *alterations,
                               struct pawl_arena *arena, struct pawl_json *log, int64_t deadline_ns,
                               struct pawl_error *err)
{
    struct pawl_event event = {.kind = PAWL_EVENT_ALTER, .alterations = *alterations};
    struct runtime_task task;
    int64_t target;
    int status = pawl__alterations_target(alterations, &target, err);

    if (status == PAWL_OK && begins_something(alterations))
        status = pawl__runtime_check_paused(runtime, deadline_ns, err);
    if (status != PAWL_OK)
        return status;
    pawl__runtime_task_init(&task, runtime, deadline_ns, err);
    task.by_operator = true;
    task.by = by;
    task.altered = log;
    task.altered_arena = arena;
    status = pawl__runtime_run_instance(&task, instance_id, &event, NULL);
    if (status == PAWL_OK)
        status = pawl__runtime_task_finish(&task);
    if (task.is_event_committed)
        status = pawl__error_after_commit(
            err, status, "the alterations of instance %.*s took effect", PAWL_STR_ARG(instance_id));
    pawl__runtime_task_release(&task, status);
    return status;
}

int pawl__runtime_alter_by(struct pawl_runtime *runtime, struct pawl_audit *by,
                           struct pawl_str instance_id, const struct pawl_json *alterations,
                           bool dry_run, struct pawl_arena *arena, struct pawl_json *log,
                           struct pawl_outcome *out, int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_event event = {.kind = PAWL_EVENT_ALTER, .alterations = *alterations};
    struct runtime_task task;
    int64_t target;
    int status = pawl__alterations_target(alterations, &target, err);

    if (status == PAWL_OK && !dry_run && begins_something(alterations))
        status = pawl__runtime_check_paused(runtime, deadline_ns, err);
    if (status != PAWL_OK)
        return status;
    pawl__runtime_task_init(&task, runtime, deadline_ns, err);
    task.by_operator = true;
    task.by = by;
    task.altered = log;
    task.altered_arena = arena;
    if (out)
        *out = (struct pawl_outcome){0};
    if (dry_run)
        status = try_altering(&task, instance_id, alterations, out);
    else
        status = pawl__runtime_run_waiting(&task, instance_id, &event, out);
    pawl__runtime_task_release(&task, status);
    return status;
}

/* ---- retrying ------------------------------------------------------------------------------ */

/* One that could not be run (see trouble.c) has nothing that faulted: it goes on. */
static int retry_put_off(struct pawl_runtime *runtime, struct pawl_audit *by,
                         struct pawl_str instance_id, struct pawl_outcome *out, bool *was_put_off,
                         int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_event event = {.kind = PAWL_EVENT_RUN};
    struct pawl_instance_row row;
    struct runtime_task task;
    int status;

    pawl__runtime_task_init(&task, runtime, deadline_ns, err);
    status =
        pawl__runtime_show(runtime, instance_id, &task.arena, &row, NULL, task.deadline_ns, err);
    *was_put_off = status == PAWL_OK && row.retry_us != 0;
    if (*was_put_off) {
        if (out)
            *out = (struct pawl_outcome){0};
        task.by_operator = task.waits = true;
        task.by = by;
        status = pawl__runtime_clear_trouble(&task, instance_id);
        task.by_operator = false;
        if (status == PAWL_OK)
            status = pawl__error_after_commit(
                err,
                pawl__runtime_run_waiting(&task, instance_id, row.runnable ? NULL : &event, out),
                "the trouble of instance %.*s was cleared", PAWL_STR_ARG(instance_id));
    }
    pawl__runtime_task_release(&task, status);
    return status;
}

int pawl__runtime_retry(struct pawl_runtime *runtime, struct pawl_str instance_id,
                        const struct pawl_str *activity_ids, size_t count, struct pawl_outcome *out,
                        int64_t deadline_ns, struct pawl_error *err)
{
    return pawl__runtime_retry_by(runtime, NULL, instance_id, activity_ids, count, out, deadline_ns,
                                  err);
}

int pawl__runtime_retry_by(struct pawl_runtime *runtime, struct pawl_audit *by,
                           struct pawl_str instance_id, const struct pawl_str *activity_ids,
                           size_t count, struct pawl_outcome *out, int64_t deadline_ns,
                           struct pawl_error *err)
{
    struct pawl_json alterations = pawl__json_array(), one = pawl__json_object(),
                     ids = pawl__json_array();
    struct pawl_arena arena;
    struct pawl_builder b = {.arena = &arena};
    bool was_put_off = false;
    int status = pawl__runtime_check_paused(runtime, deadline_ns, err);

    /* Named activities are run: what stood in the way is over with their first step. */
    if (status == PAWL_OK && count == 0)
        status = retry_put_off(runtime, by, instance_id, out, &was_put_off, deadline_ns, err);
    if (status != PAWL_OK || was_put_off)
        return status;
    pawl__arena_init(&arena, &runtime->env->alloc, RUNTIME_BYTES_MAX);
    for (size_t i = 0; i < count; i++)
        pawl__build_append(&b, &ids, pawl__json_string(activity_ids[i]));
    pawl__build_name(&b, &one, "type", "Retry");
    pawl__build(&b, &one, "activityIds", ids);
    pawl__build_append(&b, &alterations, one);
    status = b.status == PAWL_OK ? pawl__runtime_alter_by(runtime, by, instance_id, &alterations,
                                                          false, NULL, NULL, out, deadline_ns, err)
                                 : pawl__error_code(err, b.status);
    pawl__arena_release(&arena);
    return status;
}
