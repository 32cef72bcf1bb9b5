/* SPDX-License-Identifier: Apache-2.0 */
/* Fronts for struct pawl_allocator (<pawl/ext/env.h>), which is all that base asks memory from. */
#ifndef PAWL_BASE_ALLOC_H
#define PAWL_BASE_ALLOC_H

#include <pawl/ext/env.h>

#include <string.h>

/* NULL when there is no memory. `size` must not be 0. */
static inline void *pawl__alloc(const struct pawl_allocator *alloc, size_t size)
{
    return alloc->resize(alloc->ctx, NULL, 0, size);
}

static inline void *pawl__alloc_zeroed(const struct pawl_allocator *alloc, size_t size)
{
    void *ptr = pawl__alloc(alloc, size);

    if (ptr)
        memset(ptr, 0, size);
    return ptr;
}

/* NULL when there is no memory: `ptr` is then untouched. */
static inline void *pawl__realloc(const struct pawl_allocator *alloc, void *ptr, size_t old_size,
                                  size_t new_size)
{
    return alloc->resize(alloc->ctx, ptr, old_size, new_size);
}

/* `size` is what was asked for. NULL is allowed. */
static inline void pawl__free(const struct pawl_allocator *alloc, void *ptr, size_t size)
{
    if (ptr)
        (void)alloc->resize(alloc->ctx, ptr, size, 0);
}

#endif
