/* SPDX-License-Identifier: Apache-2.0 */
#include "power/memory.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

static sqlite3_mem_methods real;
static atomic_uint_fast64_t allocations, fails_from, fails_until;

static bool has_room(void)
{
    uint64_t number = atomic_fetch_add(&allocations, 1) + 1;

    return number < atomic_load(&fails_from) || number >= atomic_load(&fails_until);
}

static void *allocate(int size)
{
    return has_room() ? real.xMalloc(size) : NULL;
}

static void *resize(void *memory, int size)
{
    return has_room() ? real.xRealloc(memory, size) : NULL;
}

void memory_install(void)
{
    sqlite3_mem_methods counted;

    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real) != SQLITE_OK)
        abort();
    counted = real;
    counted.xMalloc = allocate;
    counted.xRealloc = resize;
    /* Without memory of a connection's own, so that every allocation can fail. */
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &counted) != SQLITE_OK ||
        sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0) != SQLITE_OK)
        abort();
}

void memory_begin(uint64_t first, uint64_t count)
{
    atomic_store(&fails_from, UINT64_MAX);
    atomic_store(&fails_until, first > 0 ? first + count : 0);
    atomic_store(&allocations, 0);
    atomic_store(&fails_from, first > 0 ? first : UINT64_MAX);
}

uint64_t memory_allocations(void)
{
    return atomic_load(&allocations);
}
