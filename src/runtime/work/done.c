/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Effects that were performed: their rows are deleted together, later. Until then the rows are in
 * hand (held.c), so that this node does not perform them again; after a crash somebody does.
 */
#include "runtime/work/private.h"

#include "base/alloc.h"
#include "runtime/instance/private.h"

/* So many are deleted in one commit. */
#define DONE_MAX 64u

/* Its row stays in hand until it is deleted, so that nobody performs it again. */
void pawl__runtime_add_done(struct pawl_runtime *runtime, struct pawl_str work_id)
{
    struct runtime_done *done =
        pawl__alloc_zeroed(&runtime->env->alloc, sizeof *done + work_id.len);

    if (!done) {
        pawl__runtime_drop(runtime, work_id);
        pawl__runtime_note_left(runtime);
        return; /* its row stays, and it is performed again: at least once */
    }
    memcpy(done + 1, work_id.ptr, work_id.len);
    done->id = pawl__str_make((const char *)(done + 1), work_id.len);
    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK) {
        pawl__free(&runtime->env->alloc, done, sizeof *done + work_id.len);
        return;
    }
    pawl__runtime_held_done(runtime, work_id);
    pawl__list_push_back(&runtime->done_effects, &done->link);
    pawl_mutex_unlock(runtime->env, runtime->mutex);
}

/* Moves the first of them into `batch` and `changes`; false when there is none. */
static bool take_done(struct pawl_runtime *runtime, struct pawl_list *batch,
                      struct runtime_changes *changes)
{
    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return false;
    for (uint32_t most = DONE_MAX; most > 0; most--) {
        struct pawl_list_link *link = pawl__list_pop_front(&runtime->done_effects);

        if (!link)
            break;
        pawl__list_push_back(batch, link);
        pawl__runtime_delete_work(changes, PAWL_CONTAINER(link, struct runtime_done, link)->id);
    }
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    return !pawl__list_empty(batch);
}

/* They are deleted, or (false) wait for the next try. */
static void settle_done(struct pawl_runtime *runtime, struct pawl_list *batch, bool deleted)
{
    struct pawl_list_link *link;
    bool locked = !deleted && pawl_mutex_lock(runtime->env, runtime->mutex) == PAWL_OK;

    while ((link = pawl__list_pop_front(batch)) != NULL) {
        struct runtime_done *done = PAWL_CONTAINER(link, struct runtime_done, link);

        if (locked) {
            pawl__list_push_back(&runtime->done_effects, link);
            continue;
        }
        pawl__runtime_drop_done(runtime, done->id);
        pawl__free(&runtime->env->alloc, done, sizeof *done + done->id.len);
    }
    if (locked)
        pawl_mutex_unlock(runtime->env, runtime->mutex);
}

void pawl__runtime_flush_done(struct pawl_runtime *runtime, int64_t deadline_ns)
{
    struct pawl_arena arena;
    struct pawl_list batch;
    int status = PAWL_OK;

    pawl__arena_init(&arena, &runtime->env->alloc, RUNTIME_BYTES_MAX);
    pawl__list_init(&batch);
    while (status == PAWL_OK) {
        struct runtime_changes changes = {.arena = &arena};
        struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN};

        pawl__arena_reset(&arena);
        if (!take_done(runtime, &batch, &changes))
            break;
        commit.changes = changes.items;
        commit.change_count = changes.count;
        status = changes.status;
        if (status == PAWL_OK)
            status = pawl__runtime_commit(runtime, &commit, deadline_ns, NULL);
        settle_done(runtime, &batch, status == PAWL_OK);
    }
    pawl__arena_release(&arena);
}

void pawl__runtime_forget_done(struct pawl_runtime *runtime)
{
    struct pawl_list_link *link;

    while ((link = pawl__list_pop_front(&runtime->done_effects)) != NULL) {
        struct runtime_done *done = PAWL_CONTAINER(link, struct runtime_done, link);

        pawl__free(&runtime->env->alloc, done, sizeof *done + done->id.len);
    }
}
