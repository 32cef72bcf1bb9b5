/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arena blocks. Each new block is about as large as all before it together, from 4 KB up to 1 MB,
 * so that the number of blocks grows with the logarithm of the size. A request larger than that
 * gets a block of its own size.
 */
#include "base/arena.h"

#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>

#define BLOCK_BYTES_MIN ((size_t)4 << 10)
#define BLOCK_BYTES_MAX ((size_t)1 << 20)

struct pawl_arena_block {
    struct pawl_arena_block *older;
    size_t size; /* with this header */
};

/* Keeps the payload of a block aligned for everything. */
_Static_assert(sizeof(struct pawl_arena_block) % 16 == 0, "block header must keep alignment");

void pawl__arena_init(struct pawl_arena *arena, const struct pawl_allocator *alloc,
                      size_t max_bytes)
{
    *arena = (struct pawl_arena){.alloc = alloc, .max_bytes = max_bytes};
}

/* From `block` on, up to `last`, which stays; NULL: all. */
static void free_blocks(struct pawl_arena *arena, struct pawl_arena_block *block,
                        const struct pawl_arena_block *last)
{
    while (block != last) {
        struct pawl_arena_block *older = block->older;

        arena->held_bytes -= block->size;
        pawl__free(arena->alloc, block, block->size);
        block = older;
    }
}

void pawl__arena_release(struct pawl_arena *arena)
{
    if (!arena->alloc)
        return;
    free_blocks(arena, arena->blocks, NULL);
    PAWL_ASSERT(arena->held_bytes == 0);
    pawl__arena_init(arena, arena->alloc, arena->max_bytes);
}

void pawl__arena_reset(struct pawl_arena *arena)
{
    struct pawl_arena_block *keep = arena->blocks;

    arena->status = PAWL_OK;
    if (!keep)
        return;
    /* The newest is the largest but for requests of odd size; a huge one is not worth keeping. */
    if (keep->size > BLOCK_BYTES_MAX) {
        pawl__arena_release(arena);
        return;
    }
    free_blocks(arena, keep->older, NULL);
    keep->older = NULL;
    arena->next = (char *)(keep + 1);
    arena->end = (char *)keep + keep->size;
}

void pawl__arena_rewind(struct pawl_arena *arena, struct pawl_arena_mark mark)
{
    free_blocks(arena, arena->blocks, mark.blocks);
    arena->blocks = mark.blocks;
    arena->next = mark.next;
    arena->end = mark.end;
    arena->status = PAWL_OK;
}

static void *refuse(struct pawl_arena *arena, int status)
{
    if (arena->status == PAWL_OK)
        arena->status = status;
    return NULL;
}

void *pawl__arena_alloc_slow(struct pawl_arena *arena, size_t size, size_t align)
{
    struct pawl_arena_block *block;
    size_t room = arena->max_bytes - arena->held_bytes;
    size_t want = arena->held_bytes;

    PAWL_ASSERT(align > 0 && align <= 16 && (align & (align - 1)) == 0);
    if (want < BLOCK_BYTES_MIN)
        want = BLOCK_BYTES_MIN;
    if (want > BLOCK_BYTES_MAX)
        want = BLOCK_BYTES_MAX;
    if (room < sizeof *block || size > room - sizeof *block)
        return refuse(arena, PAWL_ELIMIT);
    if (want < size + sizeof *block)
        want = size + sizeof *block;
    if (want > room)
        want = room;
    block = pawl__alloc(arena->alloc, want);
    if (!block)
        return refuse(arena, PAWL_ENOMEM);
    block->older = arena->blocks;
    block->size = want;
    arena->blocks = block;
    arena->held_bytes += want;
    arena->next = (char *)(block + 1) + size;
    arena->end = (char *)block + want;
    return block + 1;
}

void *pawl__arena_alloc_zeroed(struct pawl_arena *arena, size_t size)
{
    void *ptr = pawl__arena_alloc(arena, size);

    if (ptr)
        memset(ptr, 0, size);
    return ptr;
}

void *pawl__arena_alloc_array(struct pawl_arena *arena, size_t count, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(count, size, &total))
        return refuse(arena, PAWL_ELIMIT);
    return pawl__arena_alloc(arena, total);
}

struct pawl_str pawl__arena_str(struct pawl_arena *arena, struct pawl_str s)
{
    char *copy = pawl__arena_alloc_aligned(arena, s.len + 1, 1);

    if (!copy)
        return pawl__str_make(NULL, 0);
    if (s.len > 0)
        memcpy(copy, s.ptr, s.len);
    copy[s.len] = '\0';
    return pawl__str_make(copy, s.len);
}

const char *pawl__arena_printf(struct pawl_arena *arena, const char *format, ...)
{
    va_list args;
    char *text;
    int length;

    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    PAWL_ASSERT(length >= 0);
    text = pawl__arena_alloc_aligned(arena, (size_t)length + 1, 1);
    if (!text)
        return NULL;
    va_start(args, format);
    (void)vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}
