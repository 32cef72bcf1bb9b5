/* SPDX-License-Identifier: Apache-2.0 */
/* An environment over the system's whose clocks stand where a test puts them: os/clock_env.h. */
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
/* The wall clock alone is set forward, or back. */
void test_clock_shift(struct test_clock *clock, int64_t ns);

#endif
