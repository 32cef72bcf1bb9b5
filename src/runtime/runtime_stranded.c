/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that this node took and could not finish, because the store did not answer: they are its
 * own, so nobody else will take them while it lives. They are kept here and given back as soon as
 * the store can be asked again.
 *
 * And notes: rows of mail that a thread found for an instance which another thread had in hand.
 * They are done when that one has looked at the mail again; if it cannot, they are stranded.
 */
#include "runtime/runtime_private.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"

/* When a row that was given back is due again. */
#define AGAIN_US INT64_C(1000000)

/* The row with all that it points to. */
static int copy_row(struct pawl_arena *arena, const struct pawl_work_row *row,
                    struct pawl_work_row *out)
{
    const struct pawl_table_info *info = pawl_table_info(PAWL_TABLE_WORK);

    *out = *row;
    for (uint32_t i = 0; i < info->column_count; i++) {
        struct pawl_str *text;

        if (info->columns[i].type == PAWL_COLUMN_INT)
            continue;
        text = (struct pawl_str *)(void *)((char *)out + info->columns[i].offset);
        *text = pawl__arena_str(arena, *text);
        if (!text->ptr)
            return pawl__arena_status(arena);
    }
    return PAWL_OK;
}

static void free_stranded(struct pawl_runtime *runtime, struct runtime_stranded *stranded)
{
    pawl__arena_release(&stranded->arena);
    pawl__free(&runtime->env->alloc, stranded, sizeof *stranded);
}

struct runtime_stranded *pawl__runtime_note(struct pawl_runtime *runtime,
                                            const struct pawl_work_row *work)
{
    struct runtime_stranded *stranded = pawl__alloc_zeroed(&runtime->env->alloc, sizeof *stranded);

    if (!stranded)
        return NULL;
    pawl__arena_init(&stranded->arena, &runtime->env->alloc, RUNTIME_BYTES_MAX);
    if (copy_row(&stranded->arena, work, &stranded->row) == PAWL_OK)
        return stranded;
    free_stranded(runtime, stranded);
    return NULL;
}

void pawl__runtime_forget_notes(struct pawl_runtime *runtime, struct pawl_list *notes)
{
    struct pawl_list_link *link;

    while ((link = pawl__list_pop_front(notes)) != NULL)
        free_stranded(runtime, PAWL_CONTAINER(link, struct runtime_stranded, link));
}

void pawl__runtime_strand_notes(struct pawl_runtime *runtime, struct pawl_list *notes)
{
    struct pawl_list_link *link;
    bool locked = pawl_mutex_lock(runtime->env, runtime->mutex) == PAWL_OK;

    while (locked && (link = pawl__list_pop_front(notes)) != NULL)
        pawl__list_push_back(&runtime->stranded, link);
    if (locked)
        pawl_mutex_unlock(runtime->env, runtime->mutex);
    pawl__runtime_forget_notes(runtime, notes); /* of a stopped node */
}

void pawl__runtime_strand(struct pawl_runtime *runtime, const struct pawl_work_row *work)
{
    struct runtime_stranded *stranded = pawl__runtime_note(runtime, work);
    struct pawl_list one;

    if (!stranded) {
        if (runtime->log)
            pawl_log(runtime->log, PAWL_LOG_ERROR,
                     "no memory to give work back: it waits for the "
                     "end of this node",
                     pawl__log_str("work", work->id));
        return;
    }
    pawl__list_init(&one);
    pawl__list_push_back(&one, &stranded->link);
    pawl__runtime_strand_notes(runtime, &one);
}

static struct runtime_stranded *pop(struct pawl_runtime *runtime)
{
    struct runtime_stranded *stranded = NULL;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return NULL;
    stranded =
        PAWL_CONTAINER(pawl__list_pop_front(&runtime->stranded), struct runtime_stranded, link);
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    return stranded;
}

/* Answers whether the row is settled: given back, or not ours any more. */
static bool give_back(struct pawl_runtime *runtime, const struct pawl_work_row *row,
                      int64_t deadline_ns)
{
    struct runtime_task task;
    int64_t now_us;
    int status;

    pawl__runtime_task_init(&task, runtime, deadline_ns, NULL);
    status = pawl__runtime_clock(runtime, &now_us, deadline_ns, NULL);
    if (status == PAWL_OK)
        status = pawl__runtime_put_off(&task, row, now_us + AGAIN_US);
    pawl__runtime_task_release(&task);
    return status == PAWL_OK || status == PAWL_ECONFLICT;
}

void pawl__runtime_retry_stranded(struct pawl_runtime *runtime, int64_t deadline_ns)
{
    struct runtime_stranded *stranded;
    bool settled = true;

    while (settled && (stranded = pop(runtime)) != NULL) {
        settled = give_back(runtime, &stranded->row, deadline_ns);
        if (!settled)
            pawl__runtime_strand(runtime, &stranded->row);
        free_stranded(runtime, stranded);
    }
}
