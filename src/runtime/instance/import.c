/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking over an instance that was exported, by Elsa or by Pawl: its state as it is, rows for its
 * bookmarks and timers, its history as one page of the journal. Children that have ended meanwhile
 * tell it so.
 */
#include "runtime/instance/private.h"

#include "base/error.h"
#include "base/time/datetime.h"
#include "engine/builder.h"
#include "engine/context.h"
#include "runtime/audit.h"
#include "runtime/bytes.h"
#include "runtime/node/private.h"
#include "runtime/node/routes.h"
#include "runtime/task.h"
#include "runtime/tenant.h"

struct import {
    struct runtime_task task;
    struct runtime_changes changes;
    struct pawl_graph *graph;
    struct pawl_json state;
    struct pawl_instance_row row;
    int64_t now_us;
    size_t told; /* ends of children that are imported with it */
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

static const char *const state_times[] = {"createdAt", "updatedAt", "finishedAt", NULL};
static const char *const log_times[] = {"timestamp", NULL};
static const char *const record_times[] = {"startedAt", "completedAt", NULL};

/* Each is a time, null, or not there: lists and the retention go by them. */
static int check_times(const struct import *import, const struct pawl_json *object,
                       const char *const *names, const char *where)
{
    for (; *names; names++) {
        const struct pawl_json *value = any_case(object, *names);
        struct pawl_datetime at;

        if (value && !pawl__json_is(value, PAWL_JSON_NULL) &&
            pawl__datetime_parse(pawl__json_str(value), &at, NULL) != PAWL_OK)
            return pawl__error_set(import->task.err, PAWL_EPARSE, "'%s' in %s is no time: '%.*s'",
                                   *names, where, PAWL_STR_ARG(pawl__json_str(value)));
    }
    return PAWL_OK;
}

static int check_all_times(const struct import *import, const struct pawl_json *records,
                           const char *const *names, const char *where)
{
    int status = PAWL_OK;

    for (uint32_t i = 0; i < pawl__json_len(records) && status == PAWL_OK; i++)
        status = check_times(import, pawl__json_at(records, i), names, where);
    return status;
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
    if (import->row.id.len == 0 || import->row.id.len > PAWL_INSTANCE_ID_MAX ||
        pawl__str_find(import->row.id, '\0', 0) != SIZE_MAX)
        return pawl__error_set(task->err, PAWL_EPARSE, "the exported instance has no usable id");
    if (runtime_text(&import->state, "correlationId").len > PAWL_CORRELATION_ID_MAX)
        return pawl__error_set(task->err, PAWL_EPARSE, "a correlation id has at most %u bytes",
                               PAWL_CORRELATION_ID_MAX);
    return check_times(import, &import->state, state_times, "the state");
}

/* The state of Elsa has no tenant; what is exported beside it has. */
static int check_tenant(const struct import *import, const struct pawl_json *exported)
{
    static const char *const lists[] = {"Bookmarks", "ActivityExecutionRecords",
                                        "WorkflowExecutionLogRecords"};
    struct pawl_error *err = import->task.err;
    int status = pawl__tenant_check(exported, "the instance", err);

    if (status == PAWL_OK)
        status = pawl__tenant_check(&import->state, "the instance", err);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0] && status == PAWL_OK; i++)
        status = pawl__tenant_check_all(any_case(exported, lists[i]), "the instance", err);
    return status;
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

    /* Not PUT: that would take it from the instance that has one with this id. */
    pawl__runtime_change(&import->changes, PAWL_CHANGE_INSERT, PAWL_TABLE_BOOKMARKS, &row);
    pawl__runtime_put_route(import->task.runtime, &import->changes, row.name, payload,
                            import->now_us);
    pawl__runtime_put_waker(&import->changes, import->row.id, row.id, row.name, payload,
                            import->now_us);
}

/* Executions whose ids were made elsewhere do not lead here by themselves. */
static void add_execution(struct import *import, struct pawl_str id)
{
    const struct pawl_execution_row row = {.id = id, .instance_id = import->row.id};

    if (id.len > 0 && pawl__id_mark(id) != (uint32_t)import->row.id_hash)
        pawl__runtime_change(&import->changes, PAWL_CHANGE_ADD, PAWL_TABLE_EXECUTIONS, &row);
}

/* Each has an id of its own. */
static int map_bookmarks(const struct import *import, struct pawl_json *bookmarks,
                         struct pawl_map *out)
{
    struct pawl_error *err = import->task.err;
    int status = PAWL_OK;

    for (uint32_t i = 0; i < pawl__json_len(bookmarks) && status == PAWL_OK; i++) {
        struct pawl_json *bookmark = pawl__json_at(bookmarks, i);
        struct pawl_str id = runtime_text(bookmark, "id");

        if (id.len == 0 || pawl__map_has(out, id))
            status = pawl__error_set(err, PAWL_EPARSE,
                                     "bookmark %u of the state has no id of its own", i + 1);
        else if (pawl__map_put(out, id, bookmark) != PAWL_OK)
            status = pawl__error_code(err, PAWL_ENOMEM);
    }
    return status;
}

/* Adds those of `order` that are still in the map, from `place` on; returns the next place. */
static uint32_t add_in_order(struct import *import, const struct pawl_json *order,
                             struct pawl_map *left, uint32_t place)
{
    for (uint32_t i = 0; i < pawl__json_len(order); i++) {
        struct pawl_str id = pawl__json_str(any_case(pawl__json_at(order, i), "id"));
        const struct pawl_json *bookmark = pawl__map_remove(left, id);

        if (bookmark)
            add_bookmark(import, bookmark, place++);
    }
    return place;
}

/*
 * Elsa resumes those that wait for the same in the order of its store, which the list beside the
 * state has. What is not in there comes after, as in the state.
 */
static int add_bookmarks(struct import *import, const struct pawl_json *exported)
{
    struct pawl_json *bookmarks = pawl__json_get_text(&import->state, "bookmarks");
    struct pawl_map left;
    uint32_t place;
    int status;

    pawl__map_init(&left, &import->task.runtime->env->alloc,
                   (struct pawl_hash_seed){(uint64_t)import->now_us, 0x626f6f6b});
    status = map_bookmarks(import, bookmarks, &left);
    if (status == PAWL_OK) {
        place = add_in_order(import, any_case(exported, "Bookmarks"), &left, 0);
        (void)add_in_order(import, bookmarks, &left, place);
    }
    pawl__map_release(&left);
    return status;
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
    status = check_all_times(import, log, log_times, "the log");
    if (status == PAWL_OK)
        status = check_all_times(import, records, record_times, "a record of an execution");
    if (status != PAWL_OK)
        return status;
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
    for (uint32_t i = 0; i < pawl__json_len(records); i++)
        add_execution(import, pawl__json_str(any_case(pawl__json_at(records, i), "id")));
    return status;
}

/* With the instance, in one commit. */
static int tell_of_children(struct import *import)
{
    size_t before = import->changes.count;
    int status = pawl__runtime_tell_imported(&import->task, import->row.id, &import->state,
                                             &import->changes);

    import->told = import->changes.count - before;
    return status;
}

/* What has ended between that look and the commit told nobody. A bookmark that is told twice is
 * there once. */
static int tell_of_the_rest(struct import *import)
{
    struct runtime_changes changes = {.arena = &import->task.arena};
    struct pawl_commit commit = {0};
    struct runtime_task *task = &import->task;
    int status = pawl__runtime_tell_imported(task, import->row.id, &import->state, &changes);

    if (status == PAWL_OK && changes.count > import->told) {
        commit.changes = changes.items;
        commit.change_count = changes.count;
        status = pawl__runtime_commit(task->runtime, &commit, task->deadline_ns, task->err);
    }
    return pawl__error_after_commit(task->err, status, "instance %.*s was imported",
                                    PAWL_STR_ARG(import->row.id));
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
    int status = read_state(import, exported);

    if (status == PAWL_OK)
        status = check_tenant(import, exported);
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
    import->row.id_hash = pawl__runtime_id_mark(import->row.id);
    status = add_bookmarks(import, exported);
    if (status == PAWL_OK)
        status = pawl__runtime_pack_value(task->runtime, &task->arena, &import->state,
                                          &import->row.state, task->err);
    if (status == PAWL_OK)
        import->row.state_sum = pawl__runtime_state_sum(import->row.state);
    if (status == PAWL_OK)
        status = add_history(import, exported);
    if (status == PAWL_OK)
        status = tell_of_children(import);
    if (status == PAWL_OK && import->changes.status != PAWL_OK)
        status = pawl__error_code(task->err, import->changes.status);
    return status;
}

static void fill_outcome(const struct import *import, struct pawl_outcome *out)
{
    *out = (struct pawl_outcome){
        .sub_status = PAWL_SUB_SUSPENDED,
        .incident_count = import->row.incident_count,
        .bookmark_count = pawl__json_len(pawl__json_get_text(&import->state, "bookmarks")),
    };
    memcpy(out->instance_id, import->row.id.ptr, import->row.id.len);
}

/* What of it is here already: the instance, or else one of its bookmarks. */
static int refuse_existing(struct import *import)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_INSTANCES, "id"), .value = {.text = import->row.id}};
    const struct pawl_query query = {.table = PAWL_TABLE_INSTANCES,
                                     .flags = PAWL_QUERY_COUNT,
                                     .conditions = &condition,
                                     .condition_count = 1};
    struct runtime_task *task = &import->task;
    struct pawl_rows rows = {0};
    int status = pawl_store_find(task->runtime->store, &query, &task->arena, &rows,
                                 task->deadline_ns, task->err);

    if (status != PAWL_OK)
        return status;
    if (rows.total > 0)
        return pawl__error_set(task->err, PAWL_EEXISTS, "instance %.*s is here already",
                               PAWL_STR_ARG(import->row.id));
    return pawl__error_set(task->err, PAWL_ECONFLICT,
                           "a bookmark of instance %.*s has the id of a bookmark of another "
                           "instance, of which this is a copy: delete that one first",
                           PAWL_STR_ARG(import->row.id));
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
    status = pawl__runtime_commit_by(task, &commit, task->deadline_ns, task->err);
    if (status == PAWL_EEXISTS)
        status = refuse_existing(import);
    pawl__runtime_unpass(task, import->row.id, pass);
    return status;
}

int pawl__runtime_import_by(struct pawl_runtime *runtime, struct pawl_audit *by,
                            const struct pawl_json *exported, struct pawl_outcome *out,
                            int64_t deadline_ns, struct pawl_error *err)
{
    struct import import = {0};
    int status;

    pawl__runtime_task_init(&import.task, runtime, deadline_ns, err);
    import.task.by = by;
    import.changes.arena = &import.task.arena;
    status = prepare(&import, exported);
    if (status == PAWL_OK)
        status = commit_import(&import);
    if (status == PAWL_OK)
        status = tell_of_the_rest(&import);
    if (status == PAWL_OK && out)
        fill_outcome(&import, out);
    pawl__graph_unref(import.graph);
    pawl__runtime_task_release(&import.task, status);
    return status;
}

int pawl__runtime_import(struct pawl_runtime *runtime, const struct pawl_json *exported,
                         struct pawl_outcome *out, int64_t deadline_ns, struct pawl_error *err)
{
    return pawl__runtime_import_by(runtime, NULL, exported, out, deadline_ns, err);
}
