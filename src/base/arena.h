/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An arena: memory that dies together. Allocation is a pointer increment; nothing is freed alone.
 *
 * Everything decoded or computed in a burst lives in one. An arena has a maximum, so that a
 * document or a script cannot take the process with it. Failure is sticky: after the first refused
 * allocation `status` says why (PAWL_ENOMEM or PAWL_ELIMIT) until the next reset, so that a deep
 * builder may check once at its end.
 */
#ifndef PAWL_BASE_ARENA_H
#define PAWL_BASE_ARENA_H

#include "base/assert.h"
#include "base/str.h"

#include <pawl/ext/env.h>

struct pawl_arena_block;

struct pawl_arena {
    const struct pawl_allocator *alloc; /* borrowed for the arena's life */
    struct pawl_arena_block *blocks;    /* newest first */
    char *next;                         /* free part of the newest block: [next, end) */
    char *end;
    size_t held_bytes; /* in all blocks, headers included */
    size_t max_bytes;  /* held_bytes never passes this */
    int status;
};

/* Allocates nothing yet. `max_bytes` bounds what it may ever hold. */
void pawl__arena_init(struct pawl_arena *arena, const struct pawl_allocator *alloc,
                      size_t max_bytes);

/* Frees all memory. The arena may be used again as if just initialised. */
void pawl__arena_release(struct pawl_arena *arena);

/* Forgets all allocations, clears `status` and keeps one block, so that a loop stops allocating. */
void pawl__arena_reset(struct pawl_arena *arena);

/* A moment in an arena's life, to which it can go back until it is reset or released. */
struct pawl_arena_mark {
    struct pawl_arena_block *blocks;
    char *next, *end;
};
static inline struct pawl_arena_mark pawl__arena_mark(const struct pawl_arena *arena)
{
    return (struct pawl_arena_mark){arena->blocks, arena->next, arena->end};
}
/* Forgets all allocations since the mark, frees their blocks and clears `status`. */
void pawl__arena_rewind(struct pawl_arena *arena, struct pawl_arena_mark mark);

/* Out of line: takes a new block. */
void *pawl__arena_alloc_slow(struct pawl_arena *arena, size_t size, size_t align);

/* NULL on failure (`status` says why). `align` is a power of two up to 16; memory is not zeroed. */
static inline void *pawl__arena_alloc_aligned(struct pawl_arena *arena, size_t size, size_t align)
{
    size_t skip = (size_t)(-(uintptr_t)arena->next & (align - 1));

    if (PAWL_LIKELY((size_t)(arena->end - arena->next) >= skip &&
                    (size_t)(arena->end - arena->next) - skip >= size && arena->next)) {
        char *ptr = arena->next + skip;

        arena->next = ptr + size;
        return ptr;
    }
    return pawl__arena_alloc_slow(arena, size, align);
}

static inline void *pawl__arena_alloc(struct pawl_arena *arena, size_t size)
{
    return pawl__arena_alloc_aligned(arena, size, 8);
}

/* Why the arena returned NULL, for the caller to return. Never PAWL_OK. */
static inline int pawl__arena_status(const struct pawl_arena *arena)
{
    return arena->status != PAWL_OK ? arena->status : PAWL_ENOMEM;
}

void *pawl__arena_alloc_zeroed(struct pawl_arena *arena, size_t size);

/* `count` objects of `size`; a product that overflows is PAWL_ELIMIT. */
void *pawl__arena_alloc_array(struct pawl_arena *arena, size_t count, size_t size);

/* A copy with a NUL behind it (not counted in len). ptr is NULL on failure. */
struct pawl_str pawl__arena_str(struct pawl_arena *arena, struct pawl_str s);

/* A formatted string, NUL-terminated. NULL on failure. */
const char *pawl__arena_printf(struct pawl_arena *arena, const char *format, ...) PAWL_PRINTF(2, 3);

#endif
