/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking over an instance that was exported, by Elsa or by Pawl: its state as it is, rows for its
 * bookmarks and timers, its history as one page of the journal.
 */
#include "runtime/runtime_private.h"

#include "base/error.h"

struct import {
    struct runtime_task task;
    struct runtime_changes changes;
    struct pawl_graph *graph;
    struct pawl_json state;
    struct pawl_instance_row row;
    int64_t now_us;
};

static const struct pawl_json *any_case(const struct pawl_json *object, const char *key)
{
    return pawl__json_get_nocase(object, pawl__str(key));
}

static struct pawl_str text_of(struct import *import, const struct pawl_json *value)
{
    struct pawl_str text = {"", 0};

    if (pawl__json_type(value) == PAWL_JSON_NULL)
        return text;
    text = pawl__runtime_json_text(&import->task.arena, value);
    if (!text.ptr && import->changes.status == PAWL_OK)
        import->changes.status = pawl__arena_status(&import->task.arena);
    return text;
}

/* Documents with $id and $ref become plain ones. */
static int read_state(struct import *import, const struct pawl_json *exported)
{
    const struct pawl_json *state = any_case(exported, "WorkflowState");
    struct runtime_task *task = &import->task;
    int status;

    if (!pawl__json_is(state, PAWL_JSON_OBJECT))
        return pawl__error_set(task->err, PAWL_EPARSE,
                               "an exported instance has a member 'workflowState'; is this a "
                               "definition? Then publish it instead");
    status = pawl__json_copy(&task->arena, state, &import->state);
    if (status != PAWL_OK)
        return pawl__error_code(task->err, status);
    status = pawl__json_unreference(&task->arena, &import->state, &import->state, task->err);
    if (status != PAWL_OK)
        return status;
    import->row.id = runtime_text(&import->state, "id");
    if (import->row.id.len == 0 || import->row.id.len > PAWL_INSTANCE_ID_MAX)
        return pawl__error_set(task->err, PAWL_EPARSE, "the exported instance has no usable id");
    return PAWL_OK;
}

static int find_graph(struct import *import)
{
    struct pawl_str version_id = runtime_text(&import->state, "definitionVersionId");
    struct runtime_task *task = &import->task;
    int status = pawl__definitions_graph(task->runtime->definitions, version_id, &import->graph,
                                         task->deadline_ns, task->err);

    if (status == PAWL_ENOTFOUND)
        return pawl__error_set(task->err, PAWL_ENOTFOUND,
                               "instance %.*s is of definition version '%.*s', which is not here: "
                               "import that first",
                               PAWL_STR_ARG(import->row.id), PAWL_STR_ARG(version_id));
    return status;
}

static void add_bookmark(struct import *import, const struct pawl_json *bookmark, uint32_t place)
{
    const struct pawl_json *payload = pawl__json_get_text(bookmark, "payload");
    const struct pawl_bookmark_row row = {
        .id = runtime_text(bookmark, "id"),
        .instance_id = import->row.id,
        .name = runtime_text(bookmark, "name"),
        .hash = runtime_text(bookmark, "hash"),
        .activity_id = runtime_text(bookmark, "activityId"),
        .activity_instance_id = runtime_text(bookmark, "activityInstanceId"),
        .correlation_id = import->row.correlation_id,
        .created_us = import->now_us + place,
        .payload = text_of(import, payload),
        .metadata = text_of(import, pawl__json_get_text(bookmark, "metadata")),
    };

    pawl__runtime_change(&import->changes, PAWL_CHANGE_PUT, PAWL_TABLE_BOOKMARKS, &row);
    pawl__runtime_put_waker(&import->changes, import->row.id, row.id, row.name, payload,
                            import->now_us);
}

static int add_history(struct import *import, const struct pawl_json *exported)
{
    const struct pawl_json *log = any_case(exported, "WorkflowExecutionLogRecords");
    const struct pawl_json *records = any_case(exported, "ActivityExecutionRecords");
    struct pawl_builder b = {.arena = &import->task.arena};
    struct pawl_json page = pawl__json_object();
    struct pawl_journal_row row = {.instance_id = import->row.id,
                                   .count = pawl__json_len(log),
                                   .from_us = import->row.created_us,
                                   .to_us = import->now_us};
    int64_t next = 0;
    int status;

    if (pawl__json_len(log) + pawl__json_len(records) == 0)
        return PAWL_OK;
    /* Right before what comes; a log that is longer than its count says, before everything. */
    (void)pawl__json_to_int(pawl__json_get_text(&import->state, "executionLogSequence"), &next);
    row.first_sequence = next >= row.count ? next - row.count : INT64_MIN;
    pawl__build(&b, &page, "log", log ? *log : pawl__json_array());
    pawl__build(&b, &page, "records", records ? *records : pawl__json_array());
    if (b.status != PAWL_OK)
        return pawl__error_code(import->task.err, b.status);
    status = pawl__runtime_pack(import->task.runtime, &import->task.arena, text_of(import, &page),
                                &row.data, import->task.err);
    pawl__runtime_change(&import->changes, PAWL_CHANGE_PUT, PAWL_TABLE_JOURNAL, &row);
    return status;
}

/* A state that no node could load is refused here, not stored and then tried again and again. */
static int try_state(struct import *import)
{
    const struct pawl_event event = {.kind = PAWL_EVENT_RUN, .instance_id = import->row.id};
    struct runtime_task *task = &import->task;
    struct pawl_burst *burst = NULL;
    int status = pawl__burst_open(import->graph, &task->runtime->env->alloc, &import->state, &event,
                                  &burst, task->err);

    pawl__burst_close(burst);
    return status == PAWL_ECONFLICT ? PAWL_OK : status; /* it has ended: there is nothing to run */
}

static int prepare(struct import *import, const struct pawl_json *exported)
{
    struct runtime_task *task = &import->task;
    const struct pawl_json *bookmarks;
    int status = read_state(import, exported);

    if (status == PAWL_OK)
        status = find_graph(import);
    if (status == PAWL_OK)
        status = try_state(import);
    if (status == PAWL_OK)
        status = pawl__runtime_clock(task->runtime, &import->now_us, task->deadline_ns, task->err);
    if (status != PAWL_OK)
        return status;
    pawl__runtime_fill_row(&import->row, &import->state, import->graph->workflow);
    import->row.updated_us = import->now_us;
    bookmarks = pawl__json_get_text(&import->state, "bookmarks");
    for (uint32_t i = 0; i < pawl__json_len(bookmarks); i++)
        add_bookmark(import, pawl__json_at(bookmarks, i), i);
    status = pawl__runtime_pack(task->runtime, &task->arena, text_of(import, &import->state),
                                &import->row.state, task->err);
    if (status == PAWL_OK)
        import->row.state_sum = pawl__runtime_state_sum(import->row.state);
    if (status == PAWL_OK)
        status = add_history(import, exported);
    if (status == PAWL_OK && import->changes.status != PAWL_OK)
        status = pawl__error_code(task->err, import->changes.status);
    return status;
}

static void tell(const struct import *import, struct pawl_outcome *out)
{
    *out = (struct pawl_outcome){
        .sub_status = PAWL_SUB_SUSPENDED,
        .incident_count = import->row.incident_count,
        .bookmark_count = pawl__json_len(pawl__json_get_text(&import->state, "bookmarks")),
    };
    memcpy(out->instance_id, import->row.id.ptr, import->row.id.len);
}

static int commit_import(struct import *import)
{
    struct runtime_task *task = &import->task;
    struct pawl_commit commit = {.kind = PAWL_COMMIT_CREATE,
                                 .flags = PAWL_COMMIT_RELEASE,
                                 .instance = &import->row,
                                 .changes = import->changes.items,
                                 .change_count = import->changes.count};
    struct pawl_guard_pass pass;
    int status = pawl__runtime_pass(task, import->row.id, PAWL_GUARD_WAIT, &pass);

    if (status != PAWL_OK)
        return status;
    status = pawl__runtime_commit(task->runtime, &commit, task->deadline_ns, task->err);
    if (status == PAWL_EEXISTS)
        (void)pawl__error_set(task->err, status, "instance %.*s is here already",
                              PAWL_STR_ARG(import->row.id));
    pawl__runtime_unpass(task, import->row.id, pass);
    return status;
}

int pawl__runtime_import(struct pawl_runtime *runtime, const struct pawl_json *exported,
                         struct pawl_outcome *out, int64_t deadline_ns, struct pawl_error *err)
{
    struct import import = {0};
    int status;

    pawl__runtime_task_init(&import.task, runtime, deadline_ns, err);
    import.changes.arena = &import.task.arena;
    status = prepare(&import, exported);
    if (status == PAWL_OK)
        status = commit_import(&import);
    if (status == PAWL_OK && out)
        tell(&import, out);
    pawl__graph_unref(import.graph);
    pawl__runtime_task_release(&import.task, status);
    return status;
}
