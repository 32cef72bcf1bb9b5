/* SPDX-License-Identifier: Apache-2.0 */
/* What waits: lists of tasks and timers, and why an instance does. */
#include "embed/embed.h"

#include "base/error.h"
#include "operations/tasks.h"
#include "operations/timers.h"
#include "views/why.h"

static int check_place(const char *after, const char *instance_id, struct pawl_error *err)
{
    int status = pawl__text_check_utf8(after, "the filter's after", err);

    return status == PAWL_OK ? pawl__text_check_utf8(instance_id, "the filter's instance_id", err)
                             : status;
}

/* ---- tasks ---------------------------------------------------------------------------------- */

static int tell_task(struct pawl_arena *arena, const struct pawl_task *task,
                     int (*row)(void *ctx, const struct pawl_task_info *task), void *ctx,
                     bool *stop, struct pawl_error *err)
{
    struct pawl_task_info info = {
        .id = pawl__embed_str(arena, task->id),
        .name = pawl__embed_str(arena, task->name),
        .instance_id = pawl__embed_str(arena, task->instance_id),
        .definition_id = pawl__embed_str(arena, task->definition_id),
        .activity_id = pawl__embed_str(arena, task->activity_id),
        .correlation_id = pawl__embed_str(arena, task->correlation_id),
        .since_us = task->since_us,
    };
    int status = pawl__json_text_write(arena, &task->payload, &info.payload);

    if (status == PAWL_OK)
        status = arena->status;
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    *stop = row && row(ctx, &info) != 0;
    return PAWL_OK;
}

int pawl_tasks_list(struct pawl *pawl, const struct pawl_task_filter *filter,
                    int (*row)(void *ctx, const struct pawl_task_info *task), void *ctx,
                    struct pawl_list_end *end, struct pawl_error *err)
{
    static const struct pawl_task_filter all = {0};
    struct pawl_task_list found = {.count = 0};
    struct pawl_task_query query;
    struct pawl_arena arena;
    struct pawl_op op;
    bool stop = false;
    int status = pawl__embed_check(pawl, err);

    filter = filter ? filter : &all;
    if (status == PAWL_OK)
        status = check_place(filter->after, filter->instance_id, err);
    if (status == PAWL_OK)
        status = pawl__text_check_utf8(filter->correlation_id, "the filter's correlation_id", err);
    if (status != PAWL_OK)
        return status;
    query = (struct pawl_task_query){.instance_id = pawl__str(filter->instance_id),
                                     .correlation_id = pawl__str(filter->correlation_id),
                                     .page = {.limit = filter->limit,
                                              .after = pawl__str(filter->after),
                                              .with_total = end != NULL,
                                              .total_only = !row}};
    op = pawl__embed_begin(pawl, &arena, err);
    status = pawl__op_tasks_list(&op, &query, &found);
    for (size_t i = 0; status == PAWL_OK && i < found.count && !stop; i++)
        status = tell_task(&arena, &found.tasks[i], row, ctx, &stop, err);
    if (status == PAWL_OK)
        status = pawl__embed_end(pawl, &found.page, end, err);
    pawl__arena_release(&arena);
    return status;
}

/* ---- timers --------------------------------------------------------------------------------- */

static int tell_timer(struct pawl_arena *arena, const struct pawl_timer *timer,
                      int (*row)(void *ctx, const struct pawl_timer_info *timer), void *ctx,
                      bool *stop, struct pawl_error *err)
{
    struct pawl_str none = pawl__str(""), definition_id = none, type = none, activity_id = none;
    struct pawl_timer_info info = {
        .due_us = timer->work->due_us,
        .is_overdue = timer->is_overdue,
        .instance_id = pawl__embed_str(arena, timer->work->instance_id),
        .trigger_id = pawl__embed_str(arena, timer->is_tick ? timer->work->name : none),
        .bookmark_id = pawl__embed_str(arena, timer->work->bookmark_id),
        .attempts = timer->work->attempts,
        .error = pawl__embed_str(arena, timer->work->error),
    };

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
    info.definition_id = pawl__embed_str(arena, definition_id);
    info.activity_type = pawl__embed_str(arena, type);
    info.activity_id = pawl__embed_str(arena, activity_id);
    if (arena->status != PAWL_OK)
        return pawl__error_code(err, arena->status);
    *stop = row && row(ctx, &info) != 0;
    return PAWL_OK;
}

int pawl_timers_list(struct pawl *pawl, const struct pawl_timer_filter *filter,
                     int (*row)(void *ctx, const struct pawl_timer_info *timer), void *ctx,
                     struct pawl_list_end *end, struct pawl_error *err)
{
    static const struct pawl_timer_filter all = {0};
    struct pawl_timer_list found = {.count = 0};
    struct pawl_timer_query query;
    struct pawl_arena arena;
    struct pawl_op op;
    bool stop = false;
    int status = pawl__embed_check(pawl, err);

    filter = filter ? filter : &all;
    if (status == PAWL_OK)
        status = check_place(filter->after, filter->instance_id, err);
    if (status != PAWL_OK)
        return status;
    query = (struct pawl_timer_query){.instance_id = pawl__str(filter->instance_id),
                                      .is_overdue = filter->is_overdue != 0,
                                      .page = {.limit = filter->limit,
                                               .after = pawl__str(filter->after),
                                               .with_total = end != NULL,
                                               .total_only = !row}};
    op = pawl__embed_begin(pawl, &arena, err);
    status = pawl__op_timers_list(&op, &query, &found);
    for (size_t i = 0; status == PAWL_OK && i < found.count && !stop; i++)
        status = tell_timer(&arena, &found.timers[i], row, ctx, &stop, err);
    if (status == PAWL_OK)
        status = pawl__embed_end(pawl, &found.page, end, err);
    pawl__arena_release(&arena);
    return status;
}

/* ---- why ------------------------------------------------------------------------------------ */

int pawl_instance_why(struct pawl *pawl, const char *instance_id, char **json,
                      struct pawl_error *err)
{
    struct pawl_builder b;
    struct pawl_arena arena;
    struct pawl_json said;
    struct pawl_why why;
    struct pawl_op op;
    int status = pawl__embed_check_instance(pawl, instance_id, err);

    if (status == PAWL_OK && !json)
        status = pawl__error_set(err, PAWL_EINVAL, "there is nowhere to put the JSON text");
    if (status != PAWL_OK)
        return status;
    op = pawl__embed_begin(pawl, &arena, err);
    b = (struct pawl_builder){.arena = &arena};
    status = pawl__op_instance_why(&op, pawl__str(instance_id), &why);
    if (status == PAWL_OK) {
        said = pawl__view_why(&b, &why, "");
        status = b.status == PAWL_OK ? pawl__embed_text(pawl, &said, json, err)
                                     : pawl__error_code(err, b.status);
    }
    pawl__arena_release(&arena);
    return status;
}
