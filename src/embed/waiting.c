/* SPDX-License-Identifier: Apache-2.0 */
/* What waits: lists of tasks and timers, and why an instance does. */
#include "embed/embed.h"

#include "base/error.h"
#include "operations/tasks.h"
#include "operations/timers.h"
#include "views/why.h"

/* ---- tasks ---------------------------------------------------------------------------------- */

static int pass_task(struct embed_call *call, const struct pawl_task *task,
                     int (*row)(void *ctx, const struct pawl_task_info *task), void *ctx)
{
    struct pawl_task_info info = {
        .id = pawl__embed_str(call, task->id),
        .name = pawl__embed_str(call, task->name),
        .instance_id = pawl__embed_str(call, task->instance_id),
        .definition_id = pawl__embed_str(call, task->definition_id),
        .activity_id = pawl__embed_str(call, task->activity_id),
        .correlation_id = pawl__embed_str(call, task->correlation_id),
        .since_us = task->since_us,
    };
    int status = pawl__json_text_write(&call->arena, &task->payload, &info.payload);

    status =
        status == PAWL_OK ? pawl__embed_check_memory(call) : pawl__error_code(call->op.err, status);
    return status == PAWL_OK && row(ctx, &info) != 0 ? EMBED_STOP : status;
}

int pawl_tasks_list(struct pawl *pawl, const struct pawl_task_filter *filter,
                    int (*row)(void *ctx, const struct pawl_task_info *task), void *ctx,
                    struct pawl_list_end *end, struct pawl_error *err)
{
    static const struct pawl_task_filter all = {0};
    struct pawl_task_list found = {.count = 0};
    struct pawl_task_query query;
    struct embed_text texts[3];
    struct embed_call call;
    int status = pawl__embed_begin(&call, pawl, err);

    if (status != PAWL_OK)
        return status;
    filter = filter ? filter : &all;
    texts[0] = (struct embed_text){filter->after, "the filter's after"};
    texts[1] = (struct embed_text){filter->instance_id, "the filter's instance_id"};
    texts[2] = (struct embed_text){filter->correlation_id, "the filter's correlation_id"};
    query = (struct pawl_task_query){
        .instance_id = pawl__str(filter->instance_id),
        .correlation_id = pawl__str(filter->correlation_id),
        .page = pawl__embed_page(filter->limit, filter->after, row != NULL, end)};
    status = pawl__embed_check_texts(texts, 3, err);
    if (status == PAWL_OK)
        status = pawl__op_tasks_list(&call.op, &query, &found);
    for (size_t i = 0; status == PAWL_OK && row && i < found.count; i++)
        status = pass_task(&call, &found.tasks[i], row, ctx);
    return pawl__embed_end_list(&call, status, &found.page, end);
}

/* ---- timers --------------------------------------------------------------------------------- */

static int pass_timer(struct embed_call *call, const struct pawl_timer *timer,
                      int (*row)(void *ctx, const struct pawl_timer_info *timer), void *ctx)
{
    struct pawl_str none = pawl__str(""), definition_id = none, type = none, activity_id = none;
    struct pawl_timer_info info = {
        .due_us = timer->work->due_us,
        .is_overdue = timer->is_overdue,
        .instance_id = pawl__embed_str(call, timer->work->instance_id),
        .trigger_id = pawl__embed_str(call, timer->is_tick ? timer->work->name : none),
        .bookmark_id = pawl__embed_str(call, timer->work->bookmark_id),
        .attempts = timer->work->attempts,
        .error = pawl__embed_str(call, timer->work->error),
    };
    int status;

    if (timer->trigger) {
        definition_id = timer->trigger->definition_id;
        type = timer->trigger->name;
        activity_id = timer->trigger->activity_id;
    }
    if (timer->instance)
        definition_id = timer->instance->definition_id;
    if (timer->bookmark) {
        type = timer->bookmark->name;
        activity_id = timer->bookmark->activity_id;
    }
    info.definition_id = pawl__embed_str(call, definition_id);
    info.activity_type = pawl__embed_str(call, type);
    info.activity_id = pawl__embed_str(call, activity_id);
    status = pawl__embed_check_memory(call);
    return status == PAWL_OK && row(ctx, &info) != 0 ? EMBED_STOP : status;
}

int pawl_timers_list(struct pawl *pawl, const struct pawl_timer_filter *filter,
                     int (*row)(void *ctx, const struct pawl_timer_info *timer), void *ctx,
                     struct pawl_list_end *end, struct pawl_error *err)
{
    static const struct pawl_timer_filter all = {0};
    struct pawl_timer_list found = {.count = 0};
    struct pawl_timer_query query;
    struct embed_text texts[2];
    struct embed_call call;
    int status = pawl__embed_begin(&call, pawl, err);

    if (status != PAWL_OK)
        return status;
    filter = filter ? filter : &all;
    texts[0] = (struct embed_text){filter->after, "the filter's after"};
    texts[1] = (struct embed_text){filter->instance_id, "the filter's instance_id"};
    query = (struct pawl_timer_query){
        .instance_id = pawl__str(filter->instance_id),
        .is_overdue = filter->is_overdue != 0,
        .page = pawl__embed_page(filter->limit, filter->after, row != NULL, end)};
    status = pawl__embed_check_texts(texts, 2, err);
    if (status == PAWL_OK)
        status = pawl__op_timers_list(&call.op, &query, &found);
    for (size_t i = 0; status == PAWL_OK && row && i < found.count; i++)
        status = pass_timer(&call, &found.timers[i], row, ctx);
    return pawl__embed_end_list(&call, status, &found.page, end);
}

/* ---- why ------------------------------------------------------------------------------------ */

int pawl_instance_why(struct pawl *pawl, const char *instance_id, char **json,
                      struct pawl_error *err)
{
    struct pawl_json view = pawl__json_null();
    struct pawl_builder b;
    struct embed_call call;
    struct pawl_why why;
    int status = pawl__embed_check_instance(pawl, instance_id, err);

    if (status == PAWL_OK)
        status = pawl__embed_check_json(json, err);
    if (status == PAWL_OK)
        status = pawl__embed_begin(&call, pawl, err);
    if (status != PAWL_OK)
        return status;
    b = (struct pawl_builder){.arena = &call.arena};
    status = pawl__op_instance_why(&call.op, pawl__str(instance_id), &why);
    if (status == PAWL_OK)
        view = pawl__view_why(&b, &why, "");
    return pawl__embed_end_json(&call, status, &b, &view, json);
}
