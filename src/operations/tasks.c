/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks; see tasks.h. What a task is about is in the state of its instance. */
#include "operations/tasks.h"

#include "base/error.h"
#include "base/stimuli.h"
#include "operations/instances_private.h"
#include "runtime/runtime.h"

#define STATE_BYTES_MAX ((size_t)1 << 30)

static struct pawl_str text_of(const struct pawl_json *object, const char *key)
{
    return pawl__json_str(pawl__json_get_text(object, key));
}

/* Its payload, which its activity was given. */
static const struct pawl_json *payload_in(const struct pawl_json *state,
                                          struct pawl_str activity_instance_id)
{
    const struct pawl_json *contexts = pawl__json_get_text(state, "activityExecutionContexts");

    for (uint32_t i = 0; i < pawl__json_len(contexts); i++) {
        const struct pawl_json *context = pawl__json_at(contexts, i);

        if (pawl__str_equal(text_of(context, "id"), activity_instance_id))
            return pawl__json_get_text(pawl__json_get_text(context, "activityState"), "Payload");
    }
    return NULL;
}

/* The state that was read last: tasks of one instance often follow each other. */
struct states {
    const struct pawl_op *op;
    struct pawl_arena arena; /* of its own: a state may be large, and there may be many */
    struct pawl_str instance_id;
    struct pawl_instance_row row;
    struct pawl_json state; /* null: it cannot be read */
    bool is_there;
};

/* Of one that cannot be read, the row still says the definition. */
static int read_state(struct states *states, struct pawl_str instance_id)
{
    struct pawl_error err = PAWL_ERROR_INIT, unreadable;
    struct pawl_op op = *states->op;
    int status;

    if (pawl__str_equal(states->instance_id, instance_id))
        return PAWL_OK;
    pawl__arena_reset(&states->arena);
    states->instance_id = pawl__str("");
    op.arena = &states->arena;
    op.err = &err;
    status = op_show_readable(&op, instance_id, &states->row, &states->state, &unreadable);
    states->is_there = status == PAWL_OK;
    if (status != PAWL_OK && status != PAWL_ENOTFOUND) { /* it has gone meanwhile */
        if (states->op->err)
            *states->op->err = err;
        return status;
    }
    states->instance_id = instance_id;
    return PAWL_OK;
}

static int add_payload(struct states *states, const struct pawl_bookmark_row *row,
                       struct pawl_task *task)
{
    const struct pawl_op *op = states->op;
    const struct pawl_json *payload;
    int status = read_state(states, row->instance_id);

    if (status != PAWL_OK || !states->is_there)
        return status;
    payload = payload_in(&states->state, row->activity_instance_id);
    task->definition_id = pawl__arena_str(op->arena, states->row.definition_id);
    if (payload)
        status = pawl__json_copy(op->arena, payload, &task->payload);
    if (status == PAWL_OK)
        status = op->arena->status;
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(op->err, status);
}

static int make_task(struct states *states, const struct pawl_bookmark_row *row,
                     struct pawl_task *task)
{
    const struct pawl_op *op = states->op;
    struct pawl_json stimulus = pawl__json_null();

    /* What cannot be parsed is listed without its name. */
    if (row->payload.len > 0 &&
        pawl__json_parse(op->arena, row->payload, NULL, &stimulus, NULL, NULL) != PAWL_OK)
        stimulus = pawl__json_null();
    *task = (struct pawl_task){
        .id = text_of(&stimulus, PAWL_STIMULUS_TASK_ID),
        .name = text_of(&stimulus, PAWL_STIMULUS_TASK_NAME),
        .instance_id = row->instance_id,
        .activity_id = row->activity_id,
        .bookmark_id = row->id,
        .correlation_id = row->correlation_id,
        .since_us = row->created_us,
        .payload = pawl__json_null(),
    };
    return add_payload(states, row, task);
}

static int make_tasks(const struct pawl_op *op, const struct pawl_rows *rows,
                      struct pawl_task *tasks)
{
    const struct pawl_bookmark_row *bookmarks = rows->rows;
    struct states states = {.op = op, .instance_id = pawl__str("")};
    int status = PAWL_OK;

    pawl__arena_init(&states.arena, &op_env(op)->alloc, STATE_BYTES_MAX);
    for (size_t i = 0; i < rows->count && status == PAWL_OK; i++)
        status = make_task(&states, &bookmarks[i], &tasks[i]);
    pawl__arena_release(&states.arena);
    return status;
}

int pawl__op_tasks_list(const struct pawl_op *op, const struct pawl_task_query *query,
                        struct pawl_task_list *out)
{
    struct pawl_task_list found = {.count = 0};
    struct pawl_rows rows = {0};
    struct pawl_task *tasks;
    struct op_query asked;
    int status;

    op_query_init(&asked, PAWL_TABLE_BOOKMARKS, "created_us", false);
    op_with_bytes(&asked);
    op_where_text(&asked, "name", PAWL_EQ, pawl__str(PAWL_STIMULUS_TASK));
    op_where_given(&asked, "instance_id", query->instance_id);
    op_where_given(&asked, "correlation_id", query->correlation_id);
    status = op_find_page(op, &asked, &query->page, &rows, &found.page);
    if (status != PAWL_OK)
        return status;
    tasks = pawl__arena_alloc_array(op->arena, rows.count + 1, sizeof *tasks);
    if (!tasks)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    status = make_tasks(op, &rows, tasks);
    if (status != PAWL_OK)
        return status;
    found.tasks = tasks;
    found.count = rows.count;
    *out = found;
    return PAWL_OK;
}

int pawl__op_task_complete(const struct pawl_op *op, struct pawl_str task_id,
                           const struct pawl_json *result, bool detached,
                           struct pawl_send_result *out)
{
    struct pawl_sent sent = {0};
    int status;

    if (task_id.len == 0)
        return pawl__error_set(op->err, PAWL_EINVAL, "no task id is given");
    status = pawl__runtime_report_task(op_runtime(op), task_id, result, detached, &sent,
                                       op->deadline_ns, op->err);
    if (status == PAWL_OK)
        *out = (struct pawl_send_result){
            .started = sent.started, .resumed = sent.resumed, .parked = sent.parked};
    return status;
}
