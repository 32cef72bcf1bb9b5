/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deadlines in order: a heap of timers that live in what they belong to.
 *
 * Made for many timers that are moved all the time and rarely fire, such as the time-outs of
 * connections. Moving one to a later time costs nothing: its place in the heap is kept until that
 * comes up, and only then looked at again. Memory is taken when a timer is added, so setting one
 * cannot fail.
 */
#ifndef PAWL_BASE_TIMERS_H
#define PAWL_BASE_TIMERS_H

#include "base/assert.h"

#include <pawl/ext/env.h>

#include <stdbool.h>

struct pawl_timer {
    int64_t due_ns;  /* PAWL_FOREVER: not set */
    int64_t heap_ns; /* where it is in the heap; never later than due_ns */
    uint32_t place;  /* index + 1; 0: not added */
};

struct pawl_timers {
    const struct pawl_allocator *alloc; /* borrowed for its life */
    struct pawl_timer **heap;
    uint32_t count, room, max;
};

/* `max` timers at the most. Allocates nothing yet. */
void pawl__timers_init(struct pawl_timers *timers, const struct pawl_allocator *alloc,
                       uint32_t max);
/* All timers were removed. */
void pawl__timers_release(struct pawl_timers *timers);

/* Adds one that is not set. Borrowed until it is removed. PAWL_ENOMEM, PAWL_ELIMIT. */
PAWL_MUST_CHECK int pawl__timers_add(struct pawl_timers *timers, struct pawl_timer *timer);
/* One that was never added is allowed. */
void pawl__timers_remove(struct pawl_timers *timers, struct pawl_timer *timer);

void pawl__timers_raise(struct pawl_timers *timers, struct pawl_timer *timer);
/* PAWL_FOREVER: never. */
static inline void pawl__timers_set(struct pawl_timers *timers, struct pawl_timer *timer,
                                    int64_t due_ns)
{
    PAWL_ASSERT(timer->place > 0);
    timer->due_ns = due_ns;
    if (due_ns < timer->heap_ns)
        pawl__timers_raise(timers, timer);
}

/* One that is due; it is no longer set. NULL: none. */
struct pawl_timer *pawl__timers_take_due(struct pawl_timers *timers, int64_t now_ns);

/* Nothing is due before this; PAWL_FOREVER. May be too early, never too late. */
static inline int64_t pawl__timers_next_ns(const struct pawl_timers *timers)
{
    return timers->count > 0 ? timers->heap[0]->heap_ns : PAWL_FOREVER;
}

#endif
