/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An environment whose clocks stand where a test puts them. Threads, mutexes and conditions are the
 * system's; a wait until a time that has not come takes as long as the difference really is, and
 * sleeping sets the clocks to the time that was slept for instead.
 */
#ifndef PAWL_TESTS_LIB_CLOCK_H
#define PAWL_TESTS_LIB_CLOCK_H

#include <pawl/ext/env.h>

struct test_clock;

/* Over the system's environment, which it opens. `alloc` NULL: the system's. */
int test_clock_open(const struct pawl_allocator *alloc, int64_t wall_ns, struct test_clock **out);
void test_clock_close(struct test_clock *clock);
struct pawl_env *test_clock_env(struct test_clock *clock);
/* Both clocks go on by this. */
void test_clock_advance(struct test_clock *clock, int64_t ns);

#endif
