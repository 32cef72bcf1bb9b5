/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An environment on top of another, with clocks that are set by hand: for `pawl run --now` and for
 * tests. Threads, mutexes, conditions and chance are the other's. A wait until a time that has not
 * come takes as long as the difference really is, unless it is signalled; sleeping sets the clocks
 * to the time that was slept for instead.
 */
#ifndef PAWL_OS_CLOCK_ENV_H
#define PAWL_OS_CLOCK_ENV_H

#include <pawl/ext/env.h>

struct pawl_clock_env;

/* Borrows `inner`. `alloc` NULL: the inner one's. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__clock_env_open(struct pawl_env *inner, const struct pawl_allocator *alloc,
                                         int64_t wall_ns, struct pawl_clock_env **out);
/* When nothing of it is in use any more. NULL allowed. */
void pawl__clock_env_close(struct pawl_clock_env *clock);

struct pawl_env *pawl__clock_env(struct pawl_clock_env *clock);
/* Advances both clocks by this, which is not negative. From any thread. */
void pawl__clock_env_advance(struct pawl_clock_env *clock, int64_t ns);
/* Sets the wall clock forward, or back. From any thread. */
void pawl__clock_env_shift(struct pawl_clock_env *clock, int64_t ns);

#endif
