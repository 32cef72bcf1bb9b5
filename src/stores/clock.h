/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store's clock may be set back while nodes run: SQLite's is the machine's. What is due at a
 * certain time then waits for that time. What is due at once must not wait with it:
 *
 *   - Work whose due_us is not behind its created_us is due at once. Both come from a node's idea
 *     of the store's clock, and are stored as no later than that clock shows.
 *   - Each store notes what its clock showed, and when by the clock that is never set. When it
 *     finds the clock set back, it moves what would wait for as long as it was set back and is no
 *     timer: work, instances that were put off, leases of nodes.
 */
#ifndef PAWL_STORES_CLOCK_H
#define PAWL_STORES_CLOCK_H

#include <pawl/ext/store.h>

/* Work of these kinds waits for a time that somebody chose (PAWL_WORK_TIMER, PAWL_WORK_TICK). */
#define PAWL_STORE_TIMER "timer"
#define PAWL_STORE_TICK "tick"

/* So little is not worth a look at all work: it waits for that long. */
#define PAWL_CLOCK_BACK_US INT64_C(500000)
/* Of the leases of nodes after the clock was set back. Nodes that live renew theirs; one that is
 * dead is noticed then. */
#define PAWL_CLOCK_LEASE_US INT64_C(60000000)

struct pawl_store_clock {
    int64_t seen_us; /* what it showed */
    int64_t seen_ns; /* monotonic time after that; 0: it was not seen yet */
};

/* `now_ns`, here and below: from before the clock was read, so that a process that stood still in
 * between does not count. */
static inline bool pawl__store_clock_is_back(const struct pawl_store_clock *clock, int64_t now_us,
                                             int64_t now_ns)
{
    return clock->seen_ns != 0 &&
           now_us + PAWL_CLOCK_BACK_US < clock->seen_us + (now_ns - clock->seen_ns) / 1000;
}

/* A time before all that was stored since the clock was set back. */
static inline int64_t pawl__store_clock_before_us(const struct pawl_store_clock *clock,
                                                  int64_t now_us, int64_t now_ns)
{
    return now_us - (now_ns - clock->seen_ns) / 1000 - 1000;
}

/* `after_ns`: from after the clock was read. */
static inline void pawl__store_clock_saw(struct pawl_store_clock *clock, int64_t now_us,
                                         int64_t after_ns)
{
    *clock = (struct pawl_store_clock){now_us, after_ns};
}

/* What is due at once is not later than now. */
static inline void pawl__store_clock_limit(struct pawl_work_row *row, int64_t now_us)
{
    if (row->due_us > row->created_us)
        return;
    if (row->due_us > now_us)
        row->due_us = now_us;
    if (row->created_us > now_us)
        row->created_us = now_us;
}

#endif
