/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Injects allocation failures into SQLite: allocations are counted, and from one of them on some
 * fail. One per process; safe for threads.
 */
#ifndef PAWL_TESTS_POWER_MEMORY_H
#define PAWL_TESTS_POWER_MEMORY_H

#include <stdint.h>

/* Before SQLite is used in any way. */
void memory_install(void);
/* Counts from 0; `count` allocations fail, beginning with `first`: 1 is the next one, 0 none. */
void memory_begin(uint64_t first, uint64_t count);
/* Counted since then. */
uint64_t memory_allocations(void);

#endif
