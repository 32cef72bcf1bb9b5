/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of alterations; see plans.h. */
#include "runtime/work/plans.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/json/builder.h"
#include "base/str.h"
#include "runtime/audit.h"
#include "runtime/task.h"
#include "runtime/work/private.h"

#include <stdio.h>
#include <stdlib.h>

/* Jobs that one commit creates, and that one step carries out. */
#define PLAN_JOBS 200u
#define PLAN_STEP 20u
/* What is due now is so by a store's clock, too, that counts in milliseconds. */
#define CLOCK_STEP_US INT64_C(2000)
/* Before a job is tried again whose instance somebody else has just now. */
#define PLAN_BUSY_US INT64_C(200000)
#define LOG_BYTES_MAX ((size_t)1 << 20)

struct plan {
    struct pawl_plan_row row;
    struct pawl_json data; /* alterations, filter */
    int64_t now_us;
};

/* ---- the next step -------------------------------------------------------------------------- */

static int add_work(struct runtime_task *task, struct runtime_changes *changes,
                    struct pawl_str plan_id, int64_t now_us, int64_t due_us)
{
    const struct pawl_work_row work = {.id = pawl__runtime_new_id(task->runtime, &task->arena),
                                       .kind = pawl__str(PAWL_WORK_PLAN),
                                       .name = plan_id,
                                       .part = pawl__runtime_part(plan_id),
                                       .created_us = now_us,
                                       .due_us = due_us,
                                       .expires_us = PAWL_TIME_NEVER};

    if (!work.id.ptr)
        return pawl__error_code(task->err, pawl__arena_status(&task->arena));
    pawl__runtime_change(changes, PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, &work);
    return PAWL_OK;
}

/* Ends this step; `due_us` 0: there is no other. */
static int end_step(struct runtime_task *task, const struct pawl_work_row *work, struct plan *plan,
                    struct runtime_changes *changes, int64_t due_us)
{
    int status = PAWL_OK;

    pawl__runtime_change(changes, PAWL_CHANGE_PUT, PAWL_TABLE_PLANS, &plan->row);
    if (due_us != 0)
        status = add_work(task, changes, plan->row.id, plan->now_us, due_us);
    return status == PAWL_OK ? pawl__runtime_finish_work(task, work, changes) : status;
}

/* ---- generating ----------------------------------------------------------------------------- */

/* "created_us:id" of the last instance that was looked at. */
static void read_cursor(const struct plan *plan, struct pawl_selection_cursor *out)
{
    struct pawl_str text = plan->row.cursor;
    size_t colon = pawl__str_find(text, ':', 0);

    *out =
        (struct pawl_selection_cursor){.after_id = pawl__str(""), .until_us = plan->row.created_us};
    if (colon == SIZE_MAX)
        return;
    out->after_us = strtoll(text.ptr, NULL, 10);
    out->after_id = pawl__str_slice(text, colon + 1, text.len);
}

static int add_job(struct runtime_task *task, struct plan *plan, struct pawl_str instance_id,
                   struct runtime_changes *changes)
{
    const struct pawl_job_row job = {
        .id = pawl__str(pawl__arena_printf(&task->arena, "%.*s.%08lld", PAWL_STR_ARG(plan->row.id),
                                           (long long)plan->row.job_count)),
        .plan_id = plan->row.id,
        .instance_id = instance_id,
        .status = pawl__str("Pending"),
        .created_us = plan->now_us,
        .log = pawl__str("[]"),
    };

    if (job.id.len == 0)
        return pawl__error_code(task->err, pawl__arena_status(&task->arena));
    pawl__runtime_change(changes, PAWL_CHANGE_ADD, PAWL_TABLE_JOBS, &job);
    plan->row.job_count++;
    return PAWL_OK;
}

static int generate(struct runtime_task *task, const struct pawl_work_row *work, struct plan *plan)
{
    const struct pawl_json *filter = pawl__json_get_text(&plan->data, "filter");
    struct runtime_changes changes = {.arena = &task->arena};
    char place[PAWL_SELECTION_PLACE_MAX];
    const struct pawl_instance_row **found;
    struct pawl_selection_cursor cursor;
    struct pawl_selection selection;
    size_t count = 0;
    int status = pawl__selection_read(filter, &selection, place, task->err);

    read_cursor(plan, &cursor);
    if (status == PAWL_OK)
        status = pawl__selection_next(task->runtime, &selection, &cursor, PLAN_JOBS, &task->arena,
                                      &found, &count, task->deadline_ns, task->err);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = add_job(task, plan, found[i]->id, &changes);
    if (status != PAWL_OK)
        return status;
    plan->row.status = pawl__str(cursor.is_done ? "Running" : "Generating");
    if (plan->row.started_us == 0)
        plan->row.started_us = plan->now_us;
    plan->row.cursor =
        cursor.is_done
            ? pawl__str("")
            : pawl__str(pawl__arena_printf(&task->arena, "%lld:%.*s", (long long)cursor.after_us,
                                           PAWL_STR_ARG(cursor.after_id)));
    return end_step(task, work, plan, &changes, plan->now_us - CLOCK_STEP_US);
}

/* ---- running -------------------------------------------------------------------------------- */

/*
 * The next ones behind `after` that are pending. A round goes through all of them, so that those
 * whose instances are in use do not keep the others waiting; plan->row.cursor says how far it came.
 */
static int find_jobs_after(struct runtime_task *task, const struct plan *plan,
                           struct pawl_str after, struct pawl_rows *rows)
{
    const struct pawl_job_row last = {.id = after};
    const struct pawl_condition conditions[] = {
        {.column = pawl_table_column(PAWL_TABLE_JOBS, "plan_id"), .value = {.text = plan->row.id}},
        {.column = pawl_table_column(PAWL_TABLE_JOBS, "status"),
         .value = {.text = pawl__str("Pending")}},
    };
    const struct pawl_query query = {.table = PAWL_TABLE_JOBS,
                                     .conditions = conditions,
                                     .condition_count = 2,
                                     .after = after.len > 0 ? &last : NULL,
                                     .limit = PLAN_STEP};

    return pawl_store_find(task->runtime->store, &query, &task->arena, rows, task->deadline_ns,
                           task->err);
}

static int find_jobs(struct runtime_task *task, const struct plan *plan, struct pawl_rows *rows)
{
    int status = find_jobs_after(task, plan, plan->row.cursor, rows);

    if (status == PAWL_OK && rows->count == 0 && plan->row.cursor.len > 0)
        status = find_jobs_after(task, plan, pawl__str(""), rows);
    return status;
}

/* The event is named after the first alteration, as runtime_alter()'s entries are after theirs. */
static void add_entry(struct pawl_builder *b, const struct plan *plan, struct pawl_json *log,
                      const char *level, struct pawl_str message)
{
    const struct pawl_json *first =
        pawl__json_at(pawl__json_get_text(&plan->data, "alterations"), 0);
    struct pawl_json entry = pawl__json_object();

    pawl__build_text(b, &entry, "message", message);
    pawl__build_name(b, &entry, "logLevel", level);
    pawl__build_time(b, &entry, "timestamp", pawl__us_to_ticks(plan->now_us));
    pawl__build_text(b, &entry, "eventName", pawl__json_str(pawl__json_get_text(first, "type")));
    pawl__build_append(b, log, entry);
}

static int end_job(struct runtime_task *task, const struct plan *plan, struct pawl_job_row *job,
                   int code, const struct pawl_error *why, struct pawl_json *log,
                   struct runtime_changes *changes)
{
    struct pawl_builder b = {.arena = &task->arena};
    struct pawl_buf text;

    /* Its record is there. */
    if (code == PAWL_EEXISTS)
        add_entry(&b, plan, log, "Information",
                  pawl__str("It was altered before, by a try that ended before it could say so."));
    else if (why->code != PAWL_OK)
        add_entry(&b, plan, log, code == PAWL_OK ? "Warning" : "Error", pawl__str(why->msg));
    pawl__buf_init(&text, &task->runtime->env->alloc, LOG_BYTES_MAX);
    pawl__json_write(&text, log, PAWL_JSON_ESCAPE_MINIMAL);
    if (b.status == PAWL_OK)
        b.status = text.status;
    if (b.status == PAWL_OK) {
        job->log = pawl__arena_str(&task->arena, pawl__buf_peek(&text));
        b.status = job->log.ptr ? PAWL_OK : pawl__arena_status(&task->arena);
    }
    pawl__buf_release(&text);
    if (b.status != PAWL_OK)
        return pawl__error_code(task->err, b.status);
    job->status = pawl__str(code == PAWL_OK || code == PAWL_EEXISTS ? "Completed" : "Failed");
    pawl__runtime_change(changes, PAWL_CHANGE_PUT, PAWL_TABLE_JOBS, job);
    return PAWL_OK;
}

/*
 * What became of the job. PAWL_OK also where the alterations took effect and what they began
 * failed, which `why` says. PAWL_EEXISTS: they took effect before. That is asked first: on an
 * instance that was altered they may be refused, and what they begin would begin twice.
 */
static int alter(struct runtime_task *task, const struct plan *plan, struct pawl_audit *by,
                 struct pawl_json *log, struct pawl_error *why)
{
    bool was_altered;
    int status = pawl__audit_is_used(task->runtime->store, by->row.id, &task->arena, &was_altered,
                                     task->deadline_ns, why);

    if (status != PAWL_OK)
        return status;
    if (was_altered)
        return PAWL_EEXISTS;
    status = pawl__runtime_try_alter_by(task->runtime, by, by->row.target,
                                        pawl__json_get_text(&plan->data, "alterations"),
                                        &task->arena, log, task->deadline_ns, why);
    if (status == PAWL_OK)
        *why = (struct pawl_error)PAWL_ERROR_INIT;
    return by->row.count > 0 ? PAWL_OK : status;
}

/* Alters one instance. *later: it could not be tried now. */
static int run_job(struct runtime_task *task, const struct plan *plan,
                   const struct pawl_job_row *row, struct runtime_changes *changes, bool *later)
{
    struct pawl_audit by = {.row = {.id = pawl__str(pawl__arena_printf(&task->arena, "job:%.*s",
                                                                       PAWL_STR_ARG(row->id))),
                                    .actor = pawl__str("plan"),
                                    .door = pawl__str("plan"),
                                    .action = pawl__str("alter"),
                                    .kind = pawl__str("instance"),
                                    .target = row->instance_id,
                                    .result = pawl__str("ok"),
                                    .data = pawl__str("{}")}};
    struct pawl_json log = pawl__json_array();
    struct pawl_job_row job = *row;
    struct pawl_error why = PAWL_ERROR_INIT;
    int code, status;

    if (by.row.id.len == 0)
        return pawl__error_code(task->err, pawl__arena_status(&task->arena));
    status = pawl__runtime_clock(task->runtime, &job.started_us, task->deadline_ns, task->err);
    if (status != PAWL_OK)
        return status;
    code = alter(task, plan, &by, &log, &why);
    /* What conflicts is an instance that does not stand where the alteration needs it to. */
    if (code != PAWL_OK && code != PAWL_ECONFLICT &&
        (pawl__runtime_is_passing(code) || pawl__runtime_is_of_node(code))) {
        *later = true;
        return PAWL_OK;
    }
    status = pawl__runtime_clock(task->runtime, &job.completed_us, task->deadline_ns, task->err);
    return status == PAWL_OK ? end_job(task, plan, &job, code, &why, &log, changes) : status;
}

static int run_jobs(struct runtime_task *task, const struct pawl_work_row *work, struct plan *plan)
{
    struct runtime_changes changes = {.arena = &task->arena};
    const struct pawl_job_row *jobs;
    struct pawl_rows rows = {0};
    bool later = false;
    int status = find_jobs(task, plan, &rows);

    jobs = rows.rows;
    for (size_t i = 0; i < rows.count && status == PAWL_OK; i++)
        status = run_job(task, plan, &jobs[i], &changes, &later);
    if (status != PAWL_OK)
        return status;
    plan->row.cursor = rows.count == PLAN_STEP ? jobs[rows.count - 1].id : pawl__str("");
    if (rows.count == 0) {
        plan->row.status = pawl__str("Completed");
        plan->row.completed_us = plan->now_us;
        return end_step(task, work, plan, &changes, 0);
    }
    /* Not before the end of a round. */
    later = later && plan->row.cursor.len == 0;
    return end_step(task, work, plan, &changes,
                    plan->now_us + (later ? PLAN_BUSY_US : -CLOCK_STEP_US));
}

/* ---- a step --------------------------------------------------------------------------------- */

static int find_plan(struct runtime_task *task, struct pawl_str id, struct pawl_rows *rows)
{
    const struct pawl_condition condition = {.column = pawl_table_column(PAWL_TABLE_PLANS, "id"),
                                             .value = {.text = id}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_PLANS, .conditions = &condition, .condition_count = 1};

    return pawl_store_find(task->runtime->store, &query, &task->arena, rows, task->deadline_ns,
                           task->err);
}

int pawl__runtime_do_plan(struct runtime_task *task, const struct pawl_work_row *work)
{
    struct runtime_changes none = {.arena = &task->arena};
    struct plan plan = {.now_us = 0};
    struct pawl_rows rows = {0};
    int status = find_plan(task, work->name, &rows);

    if (status != PAWL_OK)
        return status;
    if (rows.count == 0)
        return pawl__runtime_finish_work(task, work, &none);
    plan.row = *(const struct pawl_plan_row *)rows.rows;
    status = pawl__runtime_clock(task->runtime, &plan.now_us, task->deadline_ns, task->err);
    if (status == PAWL_OK)
        status = pawl__json_parse(&task->arena, plan.row.data, NULL, &plan.data, NULL, task->err);
    if (status != PAWL_OK)
        return status;
    if (pawl__str_is(plan.row.status, "Completed"))
        return pawl__runtime_finish_work(task, work, &none);
    if (pawl__str_is(plan.row.status, "Running"))
        return run_jobs(task, work, &plan);
    return generate(task, work, &plan);
}

/* ---- submitting ----------------------------------------------------------------------------- */

static int submit(struct runtime_task *task, struct pawl_str plan_id, struct pawl_str data,
                  bool *existed)
{
    struct runtime_changes changes = {.arena = &task->arena};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN};
    struct pawl_plan_row row = {
        .id = plan_id, .status = pawl__str("Pending"), .cursor = pawl__str(""), .data = data};
    struct pawl_rows rows = {0};
    int status = find_plan(task, plan_id, &rows);

    *existed = rows.count > 0;
    if (status != PAWL_OK || *existed)
        return status;
    status = pawl__runtime_clock(task->runtime, &row.created_us, task->deadline_ns, task->err);
    if (status != PAWL_OK)
        return status;
    pawl__runtime_change(&changes, PAWL_CHANGE_INSERT, PAWL_TABLE_PLANS, &row);
    status = add_work(task, &changes, plan_id, row.created_us, row.created_us - CLOCK_STEP_US);
    if (status == PAWL_OK && changes.status != PAWL_OK)
        status = pawl__error_code(task->err, changes.status);
    if (status != PAWL_OK)
        return status;
    commit.changes = changes.items;
    commit.change_count = changes.count;
    status = pawl__runtime_commit_by(task, &commit, task->deadline_ns, task->err);
    if (status != PAWL_EEXISTS)
        return status;
    /* Somebody else submitted it at the same time, or the request was sent before. */
    status = find_plan(task, plan_id, &rows);
    *existed = rows.count > 0;
    return status == PAWL_OK && !*existed
               ? pawl__error_set(task->err, PAWL_ECONFLICT, "this request was made before")
               : status;
}

int pawl__runtime_submit_plan_by(struct pawl_runtime *runtime, struct pawl_audit *by,
                                 struct pawl_str plan_id, struct pawl_str data, bool *existed,
                                 int64_t deadline_ns, struct pawl_error *err)
{
    struct runtime_task task;
    int status;

    pawl__runtime_task_init(&task, runtime, deadline_ns, err);
    task.by = by;
    status = submit(&task, plan_id, data, existed);
    pawl__runtime_task_release(&task, status);
    return status;
}
