/* SPDX-License-Identifier: Apache-2.0 */
/* A binary heap of pointers, each timer knowing its place; see timers.h. */
#include "base/timers.h"

#include "base/alloc.h"

void pawl__timers_init(struct pawl_timers *timers, const struct pawl_allocator *alloc, uint32_t max)
{
    *timers = (struct pawl_timers){.alloc = alloc, .max = max};
}

void pawl__timers_release(struct pawl_timers *timers)
{
    PAWL_ASSERT(timers->count == 0);
    pawl__free(timers->alloc, timers->heap, timers->room * sizeof *timers->heap);
    timers->heap = NULL;
    timers->room = 0;
}

static void put(struct pawl_timers *timers, uint32_t place, struct pawl_timer *timer)
{
    timers->heap[place - 1] = timer;
    timer->place = place;
}

static void sift_up(struct pawl_timers *timers, struct pawl_timer *timer)
{
    uint32_t place = timer->place;

    while (place > 1 && timers->heap[place / 2 - 1]->heap_ns > timer->heap_ns) {
        put(timers, place, timers->heap[place / 2 - 1]);
        place /= 2;
    }
    put(timers, place, timer);
}

static void sift_down(struct pawl_timers *timers, struct pawl_timer *timer)
{
    uint32_t place = timer->place;

    for (;;) {
        uint32_t child = place * 2;

        if (child > timers->count)
            break;
        if (child < timers->count &&
            timers->heap[child]->heap_ns < timers->heap[child - 1]->heap_ns)
            child++;
        if (timers->heap[child - 1]->heap_ns >= timer->heap_ns)
            break;
        put(timers, place, timers->heap[child - 1]);
        place = child;
    }
    put(timers, place, timer);
}

static int make_room(struct pawl_timers *timers)
{
    uint32_t room = timers->room > 0 ? timers->room * 2 : 16;
    struct pawl_timer **heap;

    if (timers->count < timers->room)
        return PAWL_OK;
    if (timers->count >= timers->max)
        return PAWL_ELIMIT;
    if (room > timers->max)
        room = timers->max;
    heap = pawl__realloc(timers->alloc, timers->heap, timers->room * sizeof *heap,
                         room * sizeof *heap);
    if (!heap)
        return PAWL_ENOMEM;
    timers->heap = heap;
    timers->room = room;
    return PAWL_OK;
}

int pawl__timers_add(struct pawl_timers *timers, struct pawl_timer *timer)
{
    int status = make_room(timers);

    if (status != PAWL_OK)
        return status;
    timer->due_ns = timer->heap_ns = PAWL_FOREVER;
    put(timers, ++timers->count, timer);
    return PAWL_OK;
}

void pawl__timers_remove(struct pawl_timers *timers, struct pawl_timer *timer)
{
    struct pawl_timer *last;
    uint32_t place = timer->place;

    if (place == 0)
        return;
    timer->place = 0;
    last = timers->heap[--timers->count];
    if (last == timer)
        return;
    put(timers, place, last);
    sift_up(timers, last);
    sift_down(timers, last);
}

void pawl__timers_raise(struct pawl_timers *timers, struct pawl_timer *timer)
{
    timer->heap_ns = timer->due_ns;
    sift_up(timers, timer);
}

struct pawl_timer *pawl__timers_take_due(struct pawl_timers *timers, int64_t now_ns)
{
    while (timers->count > 0 && timers->heap[0]->heap_ns <= now_ns &&
           timers->heap[0]->heap_ns != PAWL_FOREVER) {
        struct pawl_timer *first = timers->heap[0];
        bool due = first->due_ns <= now_ns;

        if (due)
            first->due_ns = PAWL_FOREVER;
        first->heap_ns = first->due_ns;
        sift_down(timers, first);
        if (due)
            return first;
    }
    return NULL;
}
