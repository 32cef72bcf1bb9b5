/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of an instance whose state cannot be read, or must not be run.
 *
 * Its cancellation was requested, and what is stored as its state is damaged for good: two reads of
 * it return the same bytes. One commit under claim, fence and revision writes the columns that say
 * how it ended and deletes what an end deletes: bookmarks with their timers and jobs, requests,
 * reservations. The stored bytes stay as they are, since what was not loaded is never written. Mail
 * ends as that of any instance that has ended: an event that was accepted becomes a dead letter,
 * now or when whoever finds it due claims the instance.
 *
 * So end, too, one that is to be cancelled and was set aside because its steps killed their nodes,
 * and one whose definition is gone.
 *
 * A state that is read differently the second time is not damaged in the store: nothing is written
 * but when it is tried again.
 */
#include "runtime/instance/private.h"

#include "base/error.h"
#include "base/log.h"
#include "engine/builder.h"
#include "runtime/bytes.h"
#include "runtime/task.h"
#include "runtime/work/private.h"

/* Rows that one query returns. */
#define PAGE 1000u

/* ---- what is stored ------------------------------------------------------------------------ */

int pawl__runtime_find_instance(struct runtime_run *run, struct pawl_str id,
                                struct pawl_instance_row *out, bool *found)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_INSTANCES, "id"), .value = {.text = id}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_INSTANCES, .conditions = &condition, .condition_count = 1};
    struct pawl_rows rows = {0};
    int status = pawl_store_find(run->runtime->store, &query, &run->arena, &rows,
                                 run->task->deadline_ns, run->task->err);

    if (status != PAWL_OK)
        return status;
    *found = rows.count > 0;
    if (*found)
        *out = *(const struct pawl_instance_row *)rows.rows;
    return PAWL_OK;
}

/* This node has the claim: a sound store returns what it returned with that. */
static int confirm_damage(struct runtime_run *run)
{
    struct pawl_instance_row again = {0};
    bool found;
    int status = pawl__runtime_find_instance(run, run->row.id, &again, &found);

    if (status != PAWL_OK)
        return status;
    if (found && again.state_sum == run->row.state_sum &&
        pawl__str_equal(again.state, run->row.state) &&
        pawl__str_equal(again.counts, run->row.counts))
        return PAWL_OK;
    return pawl__error_set(run->task->err, PAWL_EIO,
                           "instance %.*s: two reads of its state differ; it is tried again later, "
                           "on any node. Should this happen again, check this machine's memory and "
                           "disks",
                           PAWL_STR_ARG(run->row.id));
}

/* ---- what ends with it --------------------------------------------------------------------- */

/* All its bookmarks; a timer or a job of one has its id. */
static int drop_bookmarks(struct runtime_run *run, struct runtime_changes *changes)
{
    const struct pawl_bookmark_row owned = {.instance_id = run->row.id};
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_BOOKMARKS, "instance_id"),
        .value = {.text = run->row.id}};
    struct pawl_query query = {.table = PAWL_TABLE_BOOKMARKS,
                               .flags = PAWL_QUERY_BRIEF,
                               .conditions = &condition,
                               .condition_count = 1,
                               .limit = PAGE};
    struct pawl_rows rows;
    int status;

    do {
        const struct pawl_bookmark_row *bookmark;

        status = pawl_store_find(run->runtime->store, &query, changes->arena, &rows,
                                 run->task->deadline_ns, run->task->err);
        if (status != PAWL_OK)
            return status;
        bookmark = rows.rows;
        for (size_t i = 0; i < rows.count; i++)
            pawl__runtime_delete_work(changes, bookmark[i].id);
        if (rows.count > 0)
            query.after = &bookmark[rows.count - 1];
    } while (rows.count == PAGE);
    pawl__runtime_change(changes, PAWL_CHANGE_DELETE_OWNED, PAWL_TABLE_BOOKMARKS, &owned);
    return PAWL_OK;
}

static int drop_request(void *ctx, const struct pawl_work_row *request)
{
    pawl__runtime_delete_work(ctx, request->id);
    return PAWL_OK;
}

int pawl__runtime_drop_requests(struct runtime_run *run, struct runtime_changes *changes)
{
    return pawl__runtime_each_named(run->task, changes->arena, PAWL_WORK_HTTP, run->row.id,
                                    drop_request, changes);
}

/* ---- the end ------------------------------------------------------------------------------- */

/* One that faulted in the middle of a burst had ended: it stays faulted. */
static int fill_row(struct runtime_run *run, const char *why, struct pawl_instance_row *row)
{
    int64_t now_us = pawl__runtime_now_us(run);
    const char *trouble = pawl__arena_printf(&run->arena, "ended without its state, %s", why);

    if (!trouble)
        return pawl__error_code(run->task->err, pawl__arena_status(&run->arena));
    *row = run->row;
    if (!pawl__str_is(row->status, "Finished"))
        row->sub_status = pawl__str(pawl__sub_status_name(PAWL_SUB_CANCELLED));
    row->status = pawl__str("Finished");
    row->runnable = 0;
    row->updated_us = row->finished_us = now_us;
    row->takeovers = row->failures = row->retry_us = row->alone = 0;
    row->trouble = pawl__str(trouble);
    return PAWL_OK;
}

static int collect_changes(struct runtime_run *run, const struct pawl_instance_row *row,
                           struct runtime_changes *changes)
{
    const struct pawl_reservation_row reserved = {.instance_id = run->row.id};
    int status = drop_bookmarks(run, changes);

    if (status == PAWL_OK)
        status = pawl__runtime_drop_requests(run, changes);
    if (status == PAWL_OK)
        status = pawl__runtime_notify_parent_of_end(run, changes, row);
    pawl__runtime_change(changes, PAWL_CHANGE_DELETE_OWNED, PAWL_TABLE_RESERVATIONS, &reserved);
    if (status == PAWL_OK)
        status = pawl__runtime_absorb_mail(run, changes);
    if (status == PAWL_OK && changes->status != PAWL_OK)
        status = pawl__error_code(run->task->err, changes->status);
    return status;
}

int pawl__runtime_end_without_state(struct runtime_run *run, const char *why)
{
    struct runtime_changes changes = {.arena = &run->arena};
    struct pawl_instance_row row = {0};
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_ADVANCE,
        .flags = PAWL_COMMIT_KEEP | PAWL_COMMIT_SET_ASIDE | PAWL_COMMIT_END | PAWL_COMMIT_RELEASE |
                 PAWL_COMMIT_UNASKED,
        .instance = &row,
    };
    int status;

    PAWL_ASSERT(run->at == BURST_NONE && run->row.owner != 0 && !run->loaded);
    status = fill_row(run, why, &row);
    if (status == PAWL_OK)
        status = confirm_damage(run);
    if (status == PAWL_OK)
        status = collect_changes(run, &row, &changes);
    commit.changes = changes.items;
    commit.change_count = changes.count;
    if (status == PAWL_OK)
        status = pawl__runtime_commit(run->runtime, &commit,
                                      pawl__runtime_commit_deadline(run->task), run->task->err);
    if (status == PAWL_OK)
        pawl__runtime_send_refusals(run);
    run->refusals = NULL;
    if (status != PAWL_OK)
        return status;
    pawl__runtime_check_requests(run->runtime, run->row.id);
    row.revision++;
    row.owner = 0;
    run->row = row;
    if (run->runtime->log)
        pawl_log(run->runtime->log, PAWL_LOG_WARN, "instance cancelled without its state",
                 pawl__log_str("instance", run->row.id), pawl__log_str("reason", run->row.trouble));
    return PAWL_OK;
}
