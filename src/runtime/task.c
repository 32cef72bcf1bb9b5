/* SPDX-License-Identifier: Apache-2.0 */
/* What one call does before it returns; see task.h. */
#include "runtime/task.h"

#include "base/error.h"
#include "runtime/instance/private.h"
#include "runtime/work/private.h"

struct runtime_urgent {
    struct pawl_list_link link;
    const struct pawl_work_row *start; /* NULL: run the instance */
    struct pawl_str instance_id;
    bool settles; /* when what its burst awaits is there */
};

void pawl__runtime_task_init(struct runtime_task *task, struct pawl_runtime *runtime,
                             int64_t deadline_ns, struct pawl_error *err)
{
    *task = (struct runtime_task){.runtime = runtime, .deadline_ns = deadline_ns, .err = err};
    pawl__arena_init(&task->arena, &runtime->env->alloc, RUNTIME_BYTES_MAX);
    pawl__list_init(&task->urgent);
}

void pawl__runtime_task_release(struct runtime_task *task, int status)
{
    struct runtime_urgent *urgent;

    PAWL_ASSERT(!task->running); /* which would be gone with the caller */
    PAWL_LIST_FOR_EACH (urgent, &task->urgent, link) {
        if (urgent->start)
            pawl__runtime_drop(task->runtime, urgent->start->id);
    }
    /* Whatever the task failed with, what it did not come to do is this node's. */
    if (!pawl__list_empty(&task->urgent))
        pawl__runtime_note_left(task->runtime);
    pawl__runtime_note_failure(task->runtime, status);
    pawl__arena_release(&task->arena);
}

int pawl__runtime_task_urge(struct runtime_task *task, const struct pawl_work_row *start,
                            struct pawl_str instance_id)
{
    struct runtime_urgent *urgent = pawl__arena_alloc_zeroed(&task->arena, sizeof *urgent);

    if (!urgent)
        return pawl__error_code(task->err, pawl__arena_status(&task->arena));
    urgent->start = start;
    urgent->instance_id = instance_id;
    pawl__list_push_front(&task->urgent, &urgent->link);
    return PAWL_OK;
}

int pawl__runtime_task_await(struct runtime_task *task, struct pawl_str instance_id)
{
    struct runtime_urgent *urgent = pawl__arena_alloc_zeroed(&task->arena, sizeof *urgent);

    if (urgent)
        urgent->instance_id = pawl__arena_str(&task->arena, instance_id);
    if (!urgent || !urgent->instance_id.ptr)
        return pawl__error_code(task->err, pawl__arena_status(&task->arena));
    urgent->settles = true;
    pawl__list_push_front(&task->urgent, &urgent->link);
    return PAWL_OK;
}

int pawl__runtime_task_finish(struct runtime_task *task)
{
    struct pawl_list_link *link;
    int status = PAWL_OK;

    while (status == PAWL_OK && (link = pawl__list_pop_front(&task->urgent)) != NULL) {
        struct runtime_urgent *urgent = PAWL_CONTAINER(link, struct runtime_urgent, link);

        if (urgent->start) {
            status = pawl__runtime_do_start(task, urgent->start);
            pawl__runtime_drop(task->runtime, urgent->start->id);
        } else if (urgent->settles) {
            status = pawl__runtime_settle(task, urgent->instance_id);
        } else {
            status = pawl__runtime_run_instance(task, urgent->instance_id, NULL, NULL);
        }
        /* Somebody else has it, or it is gone: then it is that one's business. */
        if (status == PAWL_EBUSY || status == PAWL_ECONFLICT || status == PAWL_ENOTFOUND)
            status = PAWL_OK;
    }
    /* Its row is this node's, and in nobody's hand. */
    if (status != PAWL_OK)
        pawl__runtime_note_left(task->runtime);
    return status;
}
