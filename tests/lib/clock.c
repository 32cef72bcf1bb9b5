/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/clock.h"

#include "os/clock_env.h"

#include <stdlib.h>

struct test_clock {
    struct pawl_env *system;
    struct pawl_clock_env *clock;
};

int test_clock_open(const struct pawl_allocator *alloc, int64_t wall_ns, struct test_clock **out)
{
    struct test_clock *clock = calloc(1, sizeof *clock);
    int status;

    if (!clock)
        return PAWL_ENOMEM;
    status = pawl_system_env_open(&clock->system, NULL);
    if (status == PAWL_OK)
        status = pawl__clock_env_open(clock->system, alloc, wall_ns, &clock->clock);
    if (status != PAWL_OK) {
        test_clock_close(clock);
        return status;
    }
    *out = clock;
    return PAWL_OK;
}

void test_clock_close(struct test_clock *clock)
{
    if (!clock)
        return;
    pawl__clock_env_close(clock->clock);
    pawl_system_env_close(clock->system);
    free(clock);
}

struct pawl_env *test_clock_env(struct test_clock *clock)
{
    return pawl__clock_env(clock->clock);
}

void test_clock_advance(struct test_clock *clock, int64_t ns)
{
    pawl__clock_env_advance(clock->clock, ns);
}

void test_clock_shift(struct test_clock *clock, int64_t ns)
{
    pawl__clock_env_shift(clock->clock, ns);
}
