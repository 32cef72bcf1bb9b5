/* SPDX-License-Identifier: Apache-2.0 */
/* What one does with one instance: run, cancel, delete, look at it, take it over. */
#include "runtime/instance/private.h"

#include "base/error.h"
#include "base/time/datetime.h"
#include "runtime/audit.h"
#include "runtime/bytes.h"
#include "runtime/node/pause.h"
#include "runtime/node/private.h"
#include "runtime/task.h"
#include "runtime/work/private.h"

/* How often an instance that another node has is asked for again. */
#define BUSY_NS INT64_C(20000000)

/* ---- running ------------------------------------------------------------------------------- */

static struct pawl_event run_event(const struct pawl_run *run)
{
    struct pawl_event event = {
        .kind = PAWL_EVENT_RUN,
        .bookmark_id = run->bookmark_id,
        .activity_id = run->activity_id,
        .activity_instance_id = run->activity_instance_id,
        .input = run->input,
        .properties = run->properties,
        .variables = run->variables,
    };

    if (run->bookmark_id.len > 0)
        event.kind = PAWL_EVENT_RESUME;
    else if (run->activity_id.len > 0 || run->activity_instance_id.len > 0)
        event.kind = PAWL_EVENT_ACTIVITY;
    return event;
}

int pawl__runtime_wait_busy(struct runtime_task *task, struct pawl_str instance_id)
{
    int64_t until = pawl_env_monotonic_ns(task->runtime->env) + BUSY_NS;
    int status;

    if (until >= task->deadline_ns)
        return pawl__error_set(task->err, PAWL_ETIMEDOUT,
                               "instance %.*s was busy until the time was up: try again later",
                               PAWL_STR_ARG(instance_id));
    status = pawl_env_sleep_until(task->runtime->env, until);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(task->err, status);
}

/*
 * Another thread has the instance, and goes on with what the event has begun: how it stands is
 * read. An id that is too long is no instance's.
 */
static void tell_in_hand(struct pawl_str instance_id, struct pawl_outcome *out)
{
    if (!out || out->instance_id[0] || instance_id.len >= sizeof out->instance_id)
        return;
    memcpy(out->instance_id, instance_id.ptr, instance_id.len);
    out->instance_id[instance_id.len] = '\0';
    out->sub_status = PAWL_SUB_EXECUTING;
}

int pawl__runtime_run_waiting(struct runtime_task *task, struct pawl_str instance_id,
                              struct pawl_event *event, struct pawl_outcome *out)
{
    int status, waited;

    do {
        /* What was interrupted behind its first commit goes on; the event is not repeated. */
        status = pawl__runtime_run_instance(task, instance_id,
                                            task->is_event_committed ? NULL : event, out);
        waited = status == PAWL_EBUSY ? pawl__runtime_wait_busy(task, instance_id) : PAWL_OK;
        if (waited != PAWL_OK)
            status = waited;
    } while (status == PAWL_EBUSY);
    if (status == PAWL_OK)
        tell_in_hand(instance_id, out);
    if (status == PAWL_OK)
        status = pawl__runtime_task_finish(task);
    if (status == PAWL_OK)
        status = pawl__runtime_renew_outcome(task, out);
    if (!task->is_event_committed)
        return status;
    return pawl__error_after_commit(task->err, status, "the request took effect on instance %.*s",
                                    PAWL_STR_ARG(instance_id));
}

int pawl__runtime_run(struct pawl_runtime *runtime, struct pawl_str instance_id,
                      const struct pawl_run *run, struct pawl_outcome *out, int64_t deadline_ns,
                      struct pawl_error *err)
{
    struct pawl_event event = run_event(run);
    struct runtime_task task;
    int status;

    pawl__runtime_task_init(&task, runtime, deadline_ns, err);
    task.request = run->request;
    task.waits = true;
    if (out)
        *out = (struct pawl_outcome){0};
    status = pawl__runtime_check_paused(runtime, deadline_ns, err);
    if (status == PAWL_OK)
        status = pawl__runtime_check_input(&task, "a resume", &run->input);
    if (status == PAWL_OK)
        status = pawl__runtime_check_input(&task, "a resume", &run->properties);
    if (status == PAWL_OK)
        status = pawl__runtime_check_input(&task, "a resume", &run->variables);
    if (status == PAWL_OK)
        status = pawl__runtime_run_waiting(&task, instance_id, &event, out);
    pawl__runtime_task_release(&task, status);
    return status;
}

/* ---- cancelling and deleting --------------------------------------------------------------- */

/*
 * What hinders this node only: the request is stored, and its owner sees the flag, or whoever does
 * the work that is due. Another node may have more memory, or the limits that the instance needs;
 * or it took over what this one had, or this one is ending.
 */
static bool is_left_to_others(int status)
{
    return pawl__error_says_unchanged(status) || pawl_error_class(status) == PAWL_CLASS_UNKNOWN ||
           pawl__runtime_is_of_node(status);
}

int pawl__runtime_cancel_by(struct pawl_runtime *runtime, struct pawl_audit *by,
                            struct pawl_str instance_id, bool only_itself, int64_t deadline_ns,
                            struct pawl_error *err)
{
    const char *kind = only_itself ? PAWL_WORK_CANCEL_ONE : PAWL_WORK_CANCEL;
    struct runtime_task task;
    bool asked;
    int status;

    pawl__runtime_task_init(&task, runtime, deadline_ns, err);
    task.by_operator = true;
    task.by = by;
    status = pawl__runtime_request_cancel(&task, instance_id, kind);
    if (status == PAWL_ENOTFOUND)
        (void)pawl__error_set(err, status, "there is no instance %.*s", PAWL_STR_ARG(instance_id));
    asked = status == PAWL_OK;
    if (asked)
        status = pawl__runtime_run_instance(&task, instance_id, NULL, NULL);
    if (asked && status == PAWL_OK)
        status = pawl__runtime_task_finish(&task);
    if (asked && is_left_to_others(status)) {
        pawl__runtime_note_failure(runtime, status); /* the claim may be this node's all the same */
        status = PAWL_OK;
    }
    pawl__runtime_task_release(&task, status);
    return status;
}

int pawl__runtime_cancel(struct pawl_runtime *runtime, struct pawl_str instance_id,
                         int64_t deadline_ns, struct pawl_error *err)
{
    return pawl__runtime_cancel_by(runtime, NULL, instance_id, false, deadline_ns, err);
}

int pawl__runtime_cancel_one(struct pawl_runtime *runtime, struct pawl_str instance_id,
                             int64_t deadline_ns, struct pawl_error *err)
{
    return pawl__runtime_cancel_by(runtime, NULL, instance_id, true, deadline_ns, err);
}

/* Of one that has not ended: whoever waits for its end learns of it as of one that was cancelled,
 * and its requests go with it. */
static int end_deleted(struct runtime_run *run, struct runtime_changes *changes)
{
    struct pawl_instance_row ended = run->row;
    int status;

    if (pawl__str_is(run->row.status, "Finished") && run->row.runnable == 0)
        return PAWL_OK; /* it was told, whoever waited */
    status = pawl__runtime_drop_requests(run, changes);
    if (status != PAWL_OK)
        return status;
    ended.status = pawl__str("Finished");
    ended.sub_status = pawl__str(pawl__sub_status_name(PAWL_SUB_CANCELLED));
    ended.finished_us = pawl__runtime_now_us(run);
    return pawl__runtime_notify_parent_of_end(run, changes, &ended);
}

static int delete_claimed(struct runtime_task *task, struct pawl_str instance_id)
{
    struct runtime_changes changes = {.arena = &task->arena};
    struct pawl_guard_pass pass;
    struct runtime_run run;
    int status = pawl__runtime_pass(task, instance_id, PAWL_GUARD_WAIT, &pass);

    if (status != PAWL_OK)
        return status;
    pawl__runtime_run_init(&run, task);
    run.pass = pass;
    status = pawl__runtime_claim(&run, instance_id);
    if (status == PAWL_OK) {
        struct runtime_changes none = {.arena = &task->arena};

        status = end_deleted(&run, &changes);
        if (status == PAWL_OK && changes.status != PAWL_OK)
            status = pawl__error_code(task->err, changes.status);
        if (status != PAWL_OK) {
            struct pawl_error *err = task->err;

            task->err = NULL; /* why it is not deleted was said */
            if (pawl__runtime_commit_kept(&run, &none, true) != PAWL_OK)
                pawl__runtime_note_failure(task->runtime, PAWL_EUNKNOWN); /* maybe this node's */
            task->err = err;
        }
    }
    if (status == PAWL_OK) {
        struct pawl_commit commit = {.kind = PAWL_COMMIT_DELETE,
                                     .instance = &run.row,
                                     .changes = changes.items,
                                     .change_count = changes.count};

        status =
            pawl__runtime_commit_by(task, &commit, pawl__runtime_commit_deadline(task), task->err);
        if (status == PAWL_OK)
            pawl__runtime_check_requests(task->runtime, run.row.id);
    }
    pawl__runtime_run_release(&run);
    pawl__runtime_unpass(task, instance_id, pass);
    return status;
}

int pawl__runtime_delete(struct pawl_runtime *runtime, struct pawl_str instance_id,
                         int64_t deadline_ns, struct pawl_error *err)
{
    return pawl__runtime_delete_by(runtime, NULL, instance_id, deadline_ns, err);
}

int pawl__runtime_delete_by(struct pawl_runtime *runtime, struct pawl_audit *by,
                            struct pawl_str instance_id, int64_t deadline_ns,
                            struct pawl_error *err)
{
    struct runtime_running running;
    struct runtime_task task;
    int status = PAWL_EBUSY, waited;

    pawl__runtime_task_init(&task, runtime, deadline_ns, err);
    task.by_operator = true;
    task.by = by;
    while (status == PAWL_EBUSY) {
        status = pawl__runtime_may_begin(runtime, err);
        if (status != PAWL_OK)
            break;
        status = pawl__runtime_enter(runtime, &running, instance_id, deadline_ns);
        if (status == PAWL_OK) {
            status = delete_claimed(&task, instance_id);
            while (pawl__runtime_leave(runtime, &running))
                continue; /* what others found for it is gone with it */
        } else if (status != PAWL_EBUSY) {
            status = pawl__runtime_refuse_entry(&task, instance_id, status);
        }
        waited = status == PAWL_EBUSY ? pawl__runtime_wait_busy(&task, instance_id) : PAWL_OK;
        if (waited != PAWL_OK)
            status = waited;
    }
    pawl__runtime_task_release(&task, status);
    return status;
}

/* ---- looking ------------------------------------------------------------------------------- */

static int find_row(struct pawl_runtime *runtime, struct pawl_str instance_id, uint32_t flags,
                    struct pawl_arena *arena, struct pawl_instance_row *row, int64_t deadline_ns,
                    struct pawl_error *err)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_INSTANCES, "id"), .value = {.text = instance_id}};
    const struct pawl_query query = {.table = PAWL_TABLE_INSTANCES,
                                     .flags = flags,
                                     .conditions = &condition,
                                     .condition_count = 1};
    struct pawl_rows rows;
    int status = pawl_store_find(runtime->store, &query, arena, &rows, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    if (rows.count == 0)
        return pawl__error_set(err, PAWL_ENOTFOUND, "there is no instance %.*s",
                               PAWL_STR_ARG(instance_id));
    *row = *(const struct pawl_instance_row *)rows.rows;
    return PAWL_OK;
}

int pawl__runtime_renew_outcome(struct runtime_task *task, struct pawl_outcome *outcome)
{
    struct pawl_instance_row row;
    struct pawl_condition condition;
    const struct pawl_query bookmarks = {.table = PAWL_TABLE_BOOKMARKS,
                                         .flags = PAWL_QUERY_COUNT,
                                         .conditions = &condition,
                                         .condition_count = 1};
    struct pawl_error err = PAWL_ERROR_INIT; /* that it is gone is none */
    struct pawl_rows rows;
    struct pawl_str id;
    int status;

    if (!outcome || outcome->existed || outcome->sub_status != PAWL_SUB_EXECUTING)
        return PAWL_OK;
    id = pawl__str(outcome->instance_id);
    condition = (struct pawl_condition){
        .column = pawl_table_column(PAWL_TABLE_BOOKMARKS, "instance_id"), .value = {.text = id}};
    status =
        find_row(task->runtime, id, PAWL_QUERY_BRIEF, &task->arena, &row, task->deadline_ns, &err);
    if (status == PAWL_ENOTFOUND)
        return PAWL_OK;
    if (status != PAWL_OK && task->err)
        *task->err = err;
    if (status == PAWL_OK)
        status = pawl_store_find(task->runtime->store, &bookmarks, &task->arena, &rows,
                                 task->deadline_ns, task->err);
    if (status != PAWL_OK)
        return status;
    outcome->sub_status = pawl__runtime_sub_status(row.sub_status);
    outcome->incident_count = row.incident_count;
    outcome->bookmark_count = (int64_t)rows.total;
    return PAWL_OK;
}

int pawl__runtime_show(struct pawl_runtime *runtime, struct pawl_str instance_id,
                       struct pawl_arena *arena, struct pawl_instance_row *row,
                       struct pawl_json *state, int64_t deadline_ns, struct pawl_error *err)
{
    int status =
        find_row(runtime, instance_id, state ? 0 : PAWL_QUERY_BRIEF, arena, row, deadline_ns, err);

    if (status != PAWL_OK || !state)
        return status;
    return pawl__runtime_state_read(runtime, arena, row, state, err);
}
