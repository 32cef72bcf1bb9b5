/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns. A burst yields after some number of activities, so that an endless loop is bounded: what
 * it did is committed. Where a worker is free for other work the burst then simply goes on. Where
 * none is, its worker returns to the pool, and the instance waits here behind everything that is
 * due.
 *
 * It stays this node's: its next turn is a claim that nobody else tries, and no command that looks
 * for work picks up a loop that a worker is busy with. Should the node end or die, its claim ends
 * with it, and others go on.
 */
#include "runtime/instance/private.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "runtime/work/private.h"

bool pawl__runtime_is_crowded(struct pawl_runtime *runtime)
{
    return !atomic_load_explicit(&runtime->has_spare, memory_order_relaxed);
}

void pawl__runtime_set_spare(struct pawl_runtime *runtime, bool spare)
{
    atomic_store_explicit(&runtime->has_spare, spare, memory_order_relaxed);
}

bool pawl__runtime_has_turns(struct pawl_runtime *runtime)
{
    return atomic_load(&runtime->yielded_count) > 0;
}

static void free_yielded(struct pawl_runtime *runtime, struct runtime_yielded *yielded)
{
    pawl__free(&runtime->env->alloc, yielded, sizeof *yielded + yielded->id.len);
}

bool pawl__runtime_has_yielded(struct pawl_runtime *runtime, struct pawl_str instance_id)
{
    const struct runtime_yielded *other;
    bool found = false;

    PAWL_LIST_FOR_EACH (other, &runtime->yielded, link)
        found = found || pawl__str_equal(other->id, instance_id);
    return found;
}

void pawl__runtime_add_yielded(struct pawl_runtime *runtime, struct pawl_str instance_id)
{
    struct runtime_yielded *yielded =
        pawl__alloc(&runtime->env->alloc, sizeof *yielded + instance_id.len);
    bool added = false;

    if (!yielded) {
        pawl__runtime_note_left(runtime); /* found with what is in nobody's hand */
        return;
    }
    *yielded = (struct runtime_yielded){0};
    memcpy(yielded + 1, instance_id.ptr, instance_id.len);
    yielded->id = pawl__str_make((const char *)(yielded + 1), instance_id.len);
    if (pawl_mutex_lock(runtime->env, runtime->mutex) == PAWL_OK) {
        added = !pawl__runtime_has_yielded(runtime, instance_id);
        if (added) {
            pawl__list_push_back(&runtime->yielded, &yielded->link);
            atomic_fetch_add(&runtime->yielded_count, 1);
        }
        pawl_mutex_unlock(runtime->env, runtime->mutex);
    }
    if (!added)
        free_yielded(runtime, yielded);
}

size_t pawl__runtime_take_yielded(struct pawl_runtime *runtime, struct pawl_list *out, size_t most)
{
    struct pawl_list_link *link;
    size_t count = 0;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return 0;
    for (; count < most && (link = pawl__list_pop_front(&runtime->yielded)) != NULL; count++)
        pawl__list_push_back(out, link);
    PAWL_ASSERT(atomic_load(&runtime->yielded_count) >= count);
    atomic_fetch_sub(&runtime->yielded_count, count);
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    return count;
}

int pawl__runtime_do_yielded(struct pawl_runtime *runtime, struct runtime_yielded *yielded,
                             int64_t deadline_ns)
{
    int status = pawl__runtime_do_runnable(runtime, yielded->id, deadline_ns);

    free_yielded(runtime, yielded);
    return status;
}

void pawl__runtime_forget_yielded(struct pawl_runtime *runtime, struct pawl_list *list)
{
    struct pawl_list_link *link;

    while ((link = pawl__list_pop_front(list)) != NULL)
        free_yielded(runtime, PAWL_CONTAINER(link, struct runtime_yielded, link));
}
