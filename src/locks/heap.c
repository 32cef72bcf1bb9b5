/* SPDX-License-Identifier: Apache-2.0 */
/* A binary heap of due times whose members know where they are; see locks_private.h. */
#include "base/alloc.h"
#include "locks/locks_private.h"

int pawl__lock_heap_reserve(struct pawl_lock_heap *heap, const struct pawl_allocator *alloc,
                            size_t count)
{
    size_t cap = heap->cap ? heap->cap : 16;
    void *at;

    if (count <= heap->cap)
        return PAWL_OK;
    while (cap < count)
        cap *= 2;
    at = pawl__realloc(alloc, heap->at, heap->cap * sizeof(struct pawl_lock_due *),
                       cap * sizeof(struct pawl_lock_due *));
    if (!at)
        return PAWL_ENOMEM;
    heap->at = at;
    heap->cap = cap;
    return PAWL_OK;
}

void pawl__lock_heap_release(struct pawl_lock_heap *heap, const struct pawl_allocator *alloc)
{
    pawl__free(alloc, heap->at, heap->cap * sizeof(struct pawl_lock_due *));
    *heap = (struct pawl_lock_heap){0};
}

static void put(struct pawl_lock_heap *heap, size_t i, struct pawl_lock_due *due)
{
    heap->at[i] = due;
    due->place = i + 1;
}

static void sift(struct pawl_lock_heap *heap, size_t i)
{
    struct pawl_lock_due *due = heap->at[i];

    for (; i > 0 && heap->at[(i - 1) / 2]->at_ns > due->at_ns; i = (i - 1) / 2)
        put(heap, i, heap->at[(i - 1) / 2]);
    for (;;) {
        size_t child = 2 * i + 1;

        if (child + 1 < heap->count && heap->at[child + 1]->at_ns < heap->at[child]->at_ns)
            child++;
        if (child >= heap->count || heap->at[child]->at_ns >= due->at_ns)
            break;
        put(heap, i, heap->at[child]);
        i = child;
    }
    put(heap, i, due);
}

void pawl__lock_heap_set(struct pawl_lock_heap *heap, struct pawl_lock_due *due, int64_t at_ns)
{
    due->at_ns = at_ns;
    if (due->place == 0) {
        PAWL_ASSERT(heap->count < heap->cap);
        put(heap, heap->count++, due);
    }
    sift(heap, due->place - 1);
}

void pawl__lock_heap_remove(struct pawl_lock_heap *heap, struct pawl_lock_due *due)
{
    size_t i = due->place;
    struct pawl_lock_due *last;

    if (i == 0)
        return;
    due->place = 0;
    last = heap->at[--heap->count];
    if (last == due)
        return;
    put(heap, i - 1, last);
    sift(heap, i - 1);
}
