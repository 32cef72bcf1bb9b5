/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a parent is told of its child.
 *
 * A parent that executes it inline gets the result of its first burst, however many commits that
 * takes; one that waits for its end gets mail when that comes. Not both, since the first
 * tells of the end too, except when the child's state cannot be read. That says which it is, also
 * when the child is deleted.
 */
#include "runtime/instance/private.h"

#include "base/error.h"
#include "base/stimuli.h"
#include "engine/builder.h"
#include "runtime/bytes.h"
#include "runtime/task.h"

/* {"workflowInstanceId", "status", "subStatus", "output"} */
static struct pawl_str child_payload(struct runtime_changes *changes,
                                     const struct pawl_instance_row *child,
                                     const struct pawl_json *output)
{
    struct pawl_builder b = {.arena = changes->arena};
    struct pawl_json told = pawl__json_object();

    pawl__build_text(&b, &told, "workflowInstanceId", child->id);
    pawl__build_text(&b, &told, "status", child->status);
    pawl__build_text(&b, &told, "subStatus", child->sub_status);
    pawl__build(&b, &told, "output", *output);
    if (b.status != PAWL_OK)
        return (struct pawl_str){NULL, 0};
    return pawl__runtime_json_text(changes->arena, &told);
}

/* `bookmark_id`: of the receiver, for which alone it is, as that of a job; "" none. Borrows
 * nothing. */
static void put_mail(struct runtime_changes *changes, const struct pawl_instance_row *child,
                     const struct pawl_json *output, int64_t now_us, const char *kind,
                     struct pawl_str to, struct pawl_str bookmark_id, const char *suffix)
{
    struct pawl_work_row mail = {
        .kind = pawl__str(kind),
        .instance_id = pawl__arena_str(changes->arena, to),
        .bookmark_id = pawl__arena_str(changes->arena, bookmark_id),
        .part = pawl__runtime_part(to),
        .created_us = now_us,
        .due_us = runtime_at_once(now_us),
        .expires_us = PAWL_TIME_NEVER,
        .payload = child_payload(changes, child, output),
    };
    const char *id = pawl__arena_printf(changes->arena, "%.*s/%s", PAWL_STR_ARG(child->id), suffix);

    mail.id = pawl__str(id);
    if (changes->status == PAWL_OK &&
        (!id || !mail.payload.ptr || !mail.instance_id.ptr || !mail.bookmark_id.ptr))
        changes->status = pawl__arena_status(changes->arena);
    pawl__runtime_change(changes, PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &mail);
}

void pawl__runtime_notify_parent(struct runtime_changes *changes,
                                 const struct pawl_instance_row *child,
                                 const struct pawl_json *state, struct pawl_str feeds,
                                 struct pawl_str feeds_job, int64_t now_us)
{
    const struct pawl_json *properties = pawl__json_get_text(state, "properties");
    struct pawl_str parent = runtime_text(properties, "ParentInstanceId");
    struct pawl_json output = runtime_member(state, "output");

    /* Of one millisecond mail is read by its id: what says that the child has begun comes
     * before its end. */
    if (feeds.len > 0 && feeds_job.len > 0)
        put_mail(changes, child, &output, now_us, PAWL_WORK_JOB, feeds, feeds_job, "begun");
    else if (feeds.len > 0)
        put_mail(changes, child, &output, now_us, PAWL_WORK_FEED, feeds, pawl__str(""), "feed");
    else if (pawl__str_is(child->status, "Finished") && parent.len > 0 &&
             pawl__json_true(pawl__json_get_text(properties, "WaitForCompletion")))
        put_mail(changes, child, &output, now_us, PAWL_WORK_CHILD, parent, pawl__str(""), "end");
}

/* ---- a child that ends without a burst ----------------------------------------------------- */

/* Whether the parent stands still for the first burst of this instance: it says so itself. By the
 * time that it is told it may have gone on, and await another child: it takes no other's result
 * (awaited.c). */
static int is_awaited(struct runtime_run *run, bool *awaited)
{
    struct pawl_instance_row parent = {0};
    struct pawl_json state;
    const struct pawl_json *effect;
    bool found;
    int status = pawl__runtime_find_instance(run, run->row.parent_id, &parent, &found);

    *awaited = false;
    if (status != PAWL_OK || !found || parent.runnable != 2)
        return status;
    status = pawl__runtime_state_read(run->runtime, &run->arena, &parent, &state, NULL);
    if (status == PAWL_ENOMEM)
        return pawl__error_code(run->task->err, status);
    if (status != PAWL_OK)
        return PAWL_OK; /* its end is what it is told in any case */
    effect = pawl__json_get_text(pawl__json_get_text(&state, "pawl"), "awaited");
    *awaited = pawl__str_equal(runtime_text(pawl__json_get_text(effect, "data"), "instanceId"),
                               run->row.id);
    return PAWL_OK;
}

/*
 * The child's state cannot be read. A parent that stands still is told both: it may not know
 * yet whether the first burst has ended.
 */
static int notify_without_state(struct runtime_run *run, struct runtime_changes *changes,
                                const struct pawl_instance_row *child)
{
    const struct pawl_json output = pawl__json_object();
    struct pawl_str parent = child->parent_id;
    bool awaited = false;
    int status;

    if (parent.len == 0)
        return PAWL_OK;
    status = is_awaited(run, &awaited);
    if (status != PAWL_OK)
        return status;
    if (awaited)
        put_mail(changes, child, &output, child->finished_us, PAWL_WORK_FEED, parent, pawl__str(""),
                 "feed");
    put_mail(changes, child, &output, child->finished_us, PAWL_WORK_CHILD, parent, pawl__str(""),
             "end");
    return PAWL_OK;
}

int pawl__runtime_notify_parent_of_end(struct runtime_run *run, struct runtime_changes *changes,
                                       const struct pawl_instance_row *child)
{
    const struct pawl_json *section;
    struct pawl_json state;
    int status = pawl__runtime_state_read(run->runtime, &run->arena, &run->row, &state, NULL);

    if (status == PAWL_ENOMEM)
        return pawl__error_code(run->task->err, status);
    if (status != PAWL_OK)
        return notify_without_state(run, changes, child);
    section = pawl__json_get_text(&state, "pawl");
    pawl__runtime_notify_parent(changes, child, &state, runtime_text(section, RUNTIME_FEEDS),
                                runtime_text(section, RUNTIME_FEEDS_JOB), child->finished_us);
    return PAWL_OK;
}

/* ---- a parent that is imported -------------------------------------------------------------- */

/* It may be damaged, and have ended all the same. */
static int read_output(struct runtime_run *run, struct pawl_json *output)
{
    struct pawl_json state;
    int status = pawl__runtime_state_read(run->runtime, &run->arena, &run->row, &state, NULL);

    *output = status == PAWL_OK ? runtime_member(&state, "output") : pawl__json_object();
    return status == PAWL_ENOMEM ? pawl__error_code(run->task->err, status) : PAWL_OK;
}

/*
 * That there is a bookmark for this child is all that says that it waits: of a child that was
 * retried its own state says it no more. The mail is for this bookmark alone, so that it counts
 * once if the child's own has come as well. One that is not here may be imported later.
 */
static int tell_of_child(struct runtime_run *run, struct runtime_changes *changes,
                         struct pawl_str parent_id, struct pawl_str bookmark_id,
                         struct pawl_str child_id)
{
    struct pawl_json output;
    bool found;
    int status = pawl__runtime_find_instance(run, child_id, &run->row, &found);

    if (status != PAWL_OK || !found || !pawl__str_is(run->row.status, "Finished") ||
        run->row.runnable != 0 || !pawl__str_equal(run->row.parent_id, parent_id))
        return status;
    status = read_output(run, &output);
    if (status == PAWL_OK)
        put_mail(changes, &run->row, &output, run->row.finished_us, PAWL_WORK_CHILD, parent_id,
                 bookmark_id, "end");
    return status;
}

int pawl__runtime_tell_imported(struct runtime_task *task, struct pawl_str parent_id,
                                const struct pawl_json *state, struct runtime_changes *changes)
{
    const struct pawl_json *bookmarks = pawl__json_get_text(state, "bookmarks");
    struct runtime_run run;
    int status = PAWL_OK;

    pawl__runtime_run_init(&run, task);
    for (uint32_t i = 0; i < pawl__json_len(bookmarks) && status == PAWL_OK; i++) {
        const struct pawl_json *bookmark = pawl__json_at(bookmarks, i);
        struct pawl_str child =
            runtime_text(pawl__json_get_text(bookmark, "payload"), PAWL_STIMULUS_CHILD_ID);

        if (child.len > 0)
            status = tell_of_child(&run, changes, parent_id, runtime_text(bookmark, "id"), child);
        pawl__arena_reset(&run.arena);
    }
    pawl__runtime_run_release(&run);
    if (status == PAWL_OK && changes->status != PAWL_OK)
        status = pawl__error_code(task->err, changes->status);
    return status;
}
