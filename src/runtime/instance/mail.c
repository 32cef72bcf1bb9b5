/* SPDX-License-Identifier: Apache-2.0 */
/* Mail: what a piece of work that is addressed to an instance means to it, and cancelling. */
#include "runtime/instance/private.h"

#include "base/error.h"
#include "base/http_message.h"
#include "base/log.h"
#include "base/stimuli.h"
#include "engine/builder.h"
#include "runtime/audit.h"
#include "runtime/bytes.h"
#include "runtime/task.h"
#include "runtime/work/private.h"

/* Children that are asked at a time. */
#define CHILDREN_PAGE 100u

/* ---- bookmarks ----------------------------------------------------------------------------- */

static const struct pawl_json *bookmark_in(const struct pawl_json *state, const char *key,
                                           struct pawl_str value)
{
    const struct pawl_json *bookmarks = pawl__json_get_text(state, "bookmarks");

    for (uint32_t i = 0; i < pawl__json_len(bookmarks) && value.len > 0; i++) {
        const struct pawl_json *bookmark = pawl__json_at(bookmarks, i);

        if (pawl__str_equal(runtime_text(bookmark, key), value))
            return bookmark;
    }
    return NULL;
}

static const struct pawl_json *bookmark_with(const struct runtime_run *run, const char *key,
                                             struct pawl_str value)
{
    return bookmark_in(&run->state, key, value);
}

/*
 * The bookmark that a stimulus was matched with or, when another stimulus has used that up, one
 * that waits for the same: two signals to a loop resume two rounds of it.
 */
const struct pawl_json *pawl__runtime_bookmark_for(const struct pawl_json *state,
                                                   struct pawl_str correlation_id,
                                                   const struct pawl_work_row *mail)
{
    const struct pawl_json *bookmark = bookmark_in(state, "id", mail->bookmark_id);

    if (!bookmark && mail->hash.len > 0)
        bookmark = bookmark_in(state, "hash", mail->hash);
    if (bookmark && mail->activity_instance_id.len > 0 &&
        !pawl__str_equal(runtime_text(bookmark, "activityInstanceId"), mail->activity_instance_id))
        return NULL;
    if (mail->correlation_id.len > 0 && !pawl__str_equal(correlation_id, mail->correlation_id))
        return NULL;
    return bookmark;
}

const struct pawl_json *pawl__runtime_wanted_bookmark(const struct runtime_run *run,
                                                      const struct pawl_work_row *mail)
{
    return pawl__runtime_bookmark_for(&run->state, run->row.correlation_id, mail);
}

/*
 * What a request was let in by is what the bookmark that was found demands. Another one with its
 * path may demand more, and is not for it.
 */
bool pawl__runtime_takes_request(const struct pawl_json *bookmark, const struct pawl_json *input)
{
    const struct pawl_json null = pawl__json_null();
    const struct pawl_json *wants = pawl__json_get_text(bookmark, "payload");
    const struct pawl_json *met =
        pawl__json_get_text(pawl__json_get_text(input, PAWL_HTTP_REQUEST_INPUT), PAWL_HTTP_DEMANDS);
    const struct pawl_json *rule = pawl__json_get_text(wants, PAWL_HTTP_SIGNATURE);
    const struct pawl_json *checked = pawl__json_get_text(met, PAWL_HTTP_SIGNATURE);

    return pawl__json_true(pawl__json_get_text(wants, PAWL_HTTP_AUTHORIZE)) ==
               pawl__json_true(pawl__json_get_text(met, PAWL_HTTP_AUTHORIZE)) &&
           pawl__str_equal(runtime_text(wants, PAWL_HTTP_POLICY),
                           runtime_text(met, PAWL_HTTP_POLICY)) &&
           pawl__json_equal(rule ? rule : &null, checked ? checked : &null);
}

static int resume_event(struct runtime_run *run, const struct pawl_work_row *mail,
                        struct pawl_event *event, bool *means)
{
    const struct pawl_json *bookmark = pawl__runtime_wanted_bookmark(run, mail);
    struct pawl_json payload;
    int status;

    if (!bookmark)
        return PAWL_OK;
    status =
        pawl__runtime_json_read(run->runtime, &run->arena, mail->payload, &payload, run->task->err);
    if (status != PAWL_OK)
        return status;
    event->input = runtime_member(&payload, "input");
    event->is_request = pawl__json_true(pawl__json_get_text(&payload, RUNTIME_IS_REQUEST));
    if (event->is_request && !pawl__runtime_takes_request(bookmark, &event->input))
        return PAWL_OK;
    *means = true;
    event->kind = PAWL_EVENT_RESUME;
    event->bookmark_id = runtime_text(bookmark, "id");
    event->properties = runtime_member(&payload, "properties");
    return PAWL_OK;
}

/* The job of an activity in the background: it begins or, when there is something in the mail, its
 * effect has come to that. */
static int job_event(struct runtime_run *run, const struct pawl_work_row *mail,
                     struct pawl_event *event, bool *means)
{
    const struct pawl_json *bookmark = bookmark_with(run, "id", mail->bookmark_id);

    if (!bookmark)
        return PAWL_OK;
    *means = true;
    event->kind = PAWL_EVENT_JOB;
    event->bookmark_id = runtime_text(bookmark, "id");
    return pawl__runtime_json_read(run->runtime, &run->arena, mail->payload, &event->result,
                                   run->task->err);
}

/* A timer goes with its bookmark, in one commit: one whose row is still there was left behind. */
void pawl__runtime_warn_of_timer(const struct runtime_run *run, const struct pawl_work_row *mail)
{
    const struct pawl_condition condition = {.column = pawl_table_column(PAWL_TABLE_WORK, "id"),
                                             .value = {.text = mail->id}};
    const struct pawl_query query = {.table = PAWL_TABLE_WORK,
                                     .flags = PAWL_QUERY_COUNT,
                                     .conditions = &condition,
                                     .condition_count = 1};
    struct pawl_runtime *runtime = run->runtime;
    struct pawl_rows rows = {0};

    if (!runtime->log ||
        pawl_store_find(runtime->store, &query, &run->task->arena, &rows, run->task->deadline_ns,
                        NULL) != PAWL_OK ||
        rows.total == 0)
        return;
    pawl_log(runtime->log, PAWL_LOG_WARN, "timer dropped: its bookmark is not in the state",
             pawl__log_str("instance", run->row.id), pawl__log_str("timer", mail->id),
             pawl__log_str("bookmark", mail->bookmark_id));
}

/* ---- children ------------------------------------------------------------------------------ */

/* The bookmark of this name that waits for the child or, of a list of them, for any. */
static int waiting_for_child(struct runtime_run *run, const char *name, const char *type,
                             const char *key, struct pawl_str id, const struct pawl_json **out)
{
    struct pawl_builder b = {.arena = &run->arena};
    struct pawl_json payload = pawl__json_object();
    char hash[PAWL_SHA256_TEXT_SIZE];

    pawl__build_text(&b, &payload, key, id);
    pawl__build_name(&b, &payload, PAWL_STIMULUS_TYPE, type);
    b.status = pawl__built_stimulus_hash(&b, &run->runtime->env->alloc, name, &payload, hash);
    if (b.status != PAWL_OK)
        return pawl__error_code(run->task->err, b.status);
    *out = bookmark_with(run, "hash", pawl__str(hash));
    return PAWL_OK;
}

/* What each of BulkDispatchWorkflows' children tells. */
static int bulk_input(struct runtime_run *run, const struct pawl_json *told, struct pawl_json *out)
{
    struct pawl_builder b = {.arena = &run->arena};

    *out = pawl__json_object();
    pawl__build(&b, out, "WorkflowOutput", runtime_member(told, "output"));
    pawl__build(&b, out, "WorkflowInstanceId", runtime_member(told, "workflowInstanceId"));
    pawl__build(&b, out, "WorkflowStatus", runtime_member(told, "status"));
    pawl__build(&b, out, "WorkflowSubStatus", runtime_member(told, "subStatus"));
    return b.status == PAWL_OK ? PAWL_OK : pawl__error_code(run->task->err, b.status);
}

/* For a bookmark that the mail names, or for whatever waits for this child. */
static int child_event(struct runtime_run *run, const struct pawl_work_row *mail,
                       struct pawl_event *event, bool *means)
{
    const struct pawl_json *bookmark = NULL;
    struct pawl_json told;
    struct pawl_str child;
    int status =
        pawl__runtime_json_read(run->runtime, &run->arena, mail->payload, &told, run->task->err);

    if (status != PAWL_OK)
        return status;
    child = runtime_text(&told, "workflowInstanceId");
    event->kind = PAWL_EVENT_RESUME;
    event->input = runtime_member(&told, "output");
    status = waiting_for_child(run, PAWL_STIMULUS_DISPATCH, PAWL_STIMULUS_DISPATCH_TYPE,
                               PAWL_STIMULUS_CHILD_ID, child, &bookmark);
    if (status == PAWL_OK && !bookmark)
        status = waiting_for_child(run, PAWL_STIMULUS_EXECUTE, PAWL_STIMULUS_EXECUTE_TYPE,
                                   PAWL_STIMULUS_CHILD_ID, child, &bookmark);
    if (status == PAWL_OK && !bookmark && mail->bookmark_id.len == 0) {
        status = waiting_for_child(run, PAWL_STIMULUS_BULK, PAWL_STIMULUS_BULK_TYPE,
                                   PAWL_STIMULUS_PARENT_ID, run->row.id, &bookmark);
        if (status == PAWL_OK)
            status = bulk_input(run, &told, &event->input);
    }
    *means = bookmark != NULL;
    event->bookmark_id = runtime_text(bookmark, "id");
    return status;
}

/* ---- cancelling ---------------------------------------------------------------------------- */

int pawl__runtime_request_cancel(struct runtime_task *task, struct pawl_str instance_id,
                                 const char *kind)
{
    struct pawl_runtime *runtime = task->runtime;
    struct runtime_changes changes = {.arena = &task->arena};
    const struct pawl_instance_row instance = {.id = instance_id};
    struct pawl_work_row mail = {
        .kind = pawl__str(kind),
        .instance_id = instance_id,
        .part = pawl__runtime_part(instance_id),
        .expires_us = PAWL_TIME_NEVER,
    };
    struct pawl_commit commit = {.kind = PAWL_COMMIT_CANCEL, .instance = &instance};
    int status;

    /* Asking twice is asking once. Due since ever: the flag is what its owner looks at. */
    mail.id =
        pawl__str(pawl__arena_printf(&task->arena, "%.*s/%s", PAWL_STR_ARG(instance_id), kind));
    if (mail.id.len == 0)
        return pawl__error_code(task->err, pawl__arena_status(&task->arena));
    pawl__runtime_change(&changes, PAWL_CHANGE_ADD, PAWL_TABLE_WORK, &mail);
    if (changes.status != PAWL_OK)
        return pawl__error_code(task->err, changes.status);
    commit.changes = changes.items;
    commit.change_count = changes.count;
    status = pawl__runtime_commit_by(task, &commit, task->deadline_ns, task->err);
    if (status == PAWL_OK)
        pawl__runtime_flag_cancelled(runtime, instance_id);
    return status;
}

struct dropping {
    struct runtime_task *task;
    struct runtime_changes changes;
};

static int commit_drops(struct dropping *d)
{
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_PLAIN, .changes = d->changes.items, .change_count = d->changes.count};

    if (d->changes.status != PAWL_OK)
        return pawl__error_code(d->task->err, d->changes.status);
    d->changes.count = 0;
    return pawl__runtime_commit(d->task->runtime, &commit, d->task->deadline_ns, d->task->err);
}

static int drop_start(void *ctx, const struct pawl_work_row *start)
{
    struct dropping *d = ctx;

    pawl__runtime_delete_work(&d->changes, start->id);
    return d->changes.count < CHILDREN_PAGE ? PAWL_OK : commit_drops(d);
}

/*
 * Children that were dispatched and are not there yet. Whoever starts one at this moment finds his
 * row gone at his commit, or has committed: then the child is there when children are looked for.
 */
static int drop_starts(struct runtime_task *task, struct pawl_str parent_id)
{
    struct dropping d = {.task = task, .changes = {.arena = &task->arena}};
    int status =
        pawl__runtime_each_named(task, &task->arena, PAWL_WORK_START, parent_id, drop_start, &d);

    if (status == PAWL_OK && (d.changes.count > 0 || d.changes.status != PAWL_OK))
        status = commit_drops(&d);
    return status;
}

int pawl__runtime_cancel_children(struct runtime_task *task, struct pawl_str instance_id)
{
    const struct pawl_condition conditions[] = {
        {.column = pawl_table_column(PAWL_TABLE_INSTANCES, "parent_id"),
         .value = {.text = instance_id}},
        {.column = pawl_table_column(PAWL_TABLE_INSTANCES, "status"),
         .value = {.text = pawl__str("Running")}},
        {.column = pawl_table_column(PAWL_TABLE_INSTANCES, "cancel_requested"),
         .value = {.integer = 0}},
    };
    const struct pawl_query query = {
        .table = PAWL_TABLE_INSTANCES,
        .flags = PAWL_QUERY_BRIEF,
        .conditions = conditions,
        .condition_count = sizeof conditions / sizeof conditions[0],
        .limit = CHILDREN_PAGE,
    };
    struct pawl_rows rows = {0};
    int status = drop_starts(task, instance_id);

    /* Those that were asked are not found again. */
    while (status == PAWL_OK) {
        status = pawl_store_find(task->runtime->store, &query, &task->arena, &rows,
                                 task->deadline_ns, task->err);
        for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
            const struct pawl_instance_row *child =
                &((const struct pawl_instance_row *)rows.rows)[i];

            status = pawl__runtime_request_cancel(task, child->id, PAWL_WORK_CANCEL);
            if (status == PAWL_ENOTFOUND)
                status = PAWL_OK;
        }
        if (rows.count < CHILDREN_PAGE)
            break;
    }
    return status;
}

/* ---- the whole ----------------------------------------------------------------------------- */

int pawl__runtime_mail_event(struct runtime_run *run, const struct pawl_work_row *mail,
                             struct pawl_event *event, bool *means, bool *park)
{
    int64_t now_us = pawl__runtime_now_us(run);
    int status;

    *means = *park = false;
    if (pawl__str_is(mail->kind, PAWL_WORK_RESUME)) {
        status = resume_event(run, mail, event, means);
        *park = status == PAWL_OK && !*means && mail->hash.len > 0 && mail->expires_us > now_us;
        return status;
    }
    if (pawl__str_is(mail->kind, PAWL_WORK_TIMER))
        return resume_event(run, mail, event, means);
    if (pawl__str_is(mail->kind, PAWL_WORK_JOB))
        return job_event(run, mail, event, means);
    if (pawl__str_is(mail->kind, PAWL_WORK_CHILD))
        return child_event(run, mail, event, means);
    if (pawl__str_is(mail->kind, PAWL_WORK_CANCEL) ||
        pawl__str_is(mail->kind, PAWL_WORK_CANCEL_ONE)) {
        event->kind = PAWL_EVENT_CANCEL;
        *means = true;
        return pawl__str_is(mail->kind, PAWL_WORK_CANCEL)
                   ? pawl__runtime_cancel_children(run->task, run->row.id)
                   : PAWL_OK;
    }
    if (pawl__str_is(mail->kind, PAWL_WORK_RUN)) {
        event->kind = PAWL_EVENT_RUN;
        *means = true;
        return PAWL_OK;
    }
    /* A result that nobody awaits any more; or of a newer version of Pawl, which had better not be
     * thrown away. */
    if (pawl__str_is(mail->kind, PAWL_WORK_FEED))
        return PAWL_OK;
    return pawl__error_set(run->task->err, PAWL_EUNSUPPORTED,
                           "instance %.*s has mail of kind '%.*s', which this version of Pawl does "
                           "not know: run a newer one",
                           PAWL_STR_ARG(run->row.id), PAWL_STR_ARG(mail->kind));
}
