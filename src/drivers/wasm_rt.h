/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What C code translated from WebAssembly by wasm2c expects around it: its memory, its table of
 * functions and a way out when it traps. Ours instead of wabt's, because that one keeps its state
 * in globals and installs signal handlers.
 *
 * Confinement. Every address the translated code uses is cut to WASM_RT_ADDRESS_MASK before it is
 * used, so that no load or store can leave the block of memory of its instance, whatever the code
 * does. That is cheaper than comparing with the size, needs no guard pages and no signal handler,
 * and holds in every build. What reads past the end of the used part reads zeroes or its own old
 * bytes.
 *
 * The names and typedefs here are wasm2c's (wabt 1.0.32), not ours. Memory and tables come from the
 * allocator that their creator put into the structs before instantiating.
 */
#ifndef PAWL_DRIVERS_WASM_RT_H
#define PAWL_DRIVERS_WASM_RT_H

#include <pawl/ext/env.h>

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define WASM_RT_PAGE_BYTES 65536u
/* 128 MB: what an instance can address. A power of two. */
#define WASM_RT_BLOCK_BYTES (1u << 27)
#define WASM_RT_ADDRESS_MASK (WASM_RT_BLOCK_BYTES - 1u)
/* The widest access that may begin at the last address. */
#define WASM_RT_SLACK_BYTES 64u
#define WASM_RT_PAGES_MAX (WASM_RT_BLOCK_BYTES / WASM_RT_PAGE_BYTES)

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define wasm_rt_memcpy __builtin_memcpy
#define wasm_rt_unreachable __builtin_unreachable
#define WASM_RT_MEMCHECK_SIGNAL_HANDLER 0
#define WASM_RT_USE_STACK_DEPTH_COUNT 0

typedef enum {
    WASM_RT_TRAP_NONE,
    WASM_RT_TRAP_OOB,
    WASM_RT_TRAP_INT_OVERFLOW,
    WASM_RT_TRAP_DIV_BY_ZERO,
    WASM_RT_TRAP_INVALID_CONVERSION,
    WASM_RT_TRAP_UNREACHABLE,
    WASM_RT_TRAP_CALL_INDIRECT,
    WASM_RT_TRAP_UNCAUGHT_EXCEPTION,
    WASM_RT_TRAP_EXHAUSTION,
    WASM_RT_TRAP_SPENT, /* ours: no work is left */
} wasm_rt_trap_t;

typedef enum {
    WASM_RT_I32,
    WASM_RT_I64,
    WASM_RT_F32,
    WASM_RT_F64,
    WASM_RT_FUNCREF,
    WASM_RT_EXTERNREF,
} wasm_rt_type_t;

typedef void (*wasm_rt_function_ptr_t)(void);

typedef struct {
    uint32_t func_type;
    wasm_rt_function_ptr_t func;
    void *module_instance;
} wasm_rt_funcref_t;

typedef void *wasm_rt_externref_t;

static const wasm_rt_funcref_t wasm_rt_funcref_null_value = {0, NULL, NULL};
static const wasm_rt_externref_t wasm_rt_externref_null_value = NULL;

typedef struct {
    uint8_t *data;
    uint32_t pages;
    uint32_t max_pages;
    uint32_t size;                      /* bytes in use */
    const struct pawl_allocator *alloc; /* set by the creator */
    uint32_t page_limit;                /* set by the creator: growing past it is refused */
    uint32_t small_pages;               /* growing past this is asked for */
    /* Set by the creator: returns if it may grow, or leaves by wasm_rt_trap(); NULL: it may. */
    void (*grows)(void *ctx);
    int64_t work; /* units left until `spent` is called */
    /* Set by the creator: gives more work (`work` >= 0), or leaves by wasm_rt_trap(). */
    void (*spent)(void *ctx);
    void *spent_ctx; /* of `grows`, too */
} wasm_rt_memory_t;

/*
 * Work. Each time that the translated code comes to the head of a loop is one unit, each 32 bytes
 * that it copies or fills at once another. Its calls nest only so deep, and what calls itself more
 * than once has a loop; so counting units bounds it (docs/design/0009-work-of-scripts.md).
 */
#define WASM_RT_BYTES_PER_UNIT_LOG2 5
#define WASM_RT_TURN(memory)                                                                       \
    do {                                                                                           \
        if (UNLIKELY(--(memory)->work < 0))                                                        \
            (memory)->spent((memory)->spent_ctx);                                                  \
    } while (0)
#define WASM_RT_BULK(memory, bytes)                                                                \
    ((memory)->work -= (int64_t)((bytes) >> WASM_RT_BYTES_PER_UNIT_LOG2))

/*
 * At the head of the function that prints a number: from 2^53 to 2^63 a whole one is printed as the
 * BigInt of its value, if it is asked for in base ten, with as many digits as it needs.
 */
#define WASM_RT_WHOLE_EXACT_MAX 0x1p53
#define WASM_RT_WHOLE_PRINTED_END 0x1p63
#define WASM_RT_PRINT_WHOLE(js, number, radix, digits, flags)                                      \
    do {                                                                                           \
        f64 size = __builtin_fabs(number);                                                         \
        if (UNLIKELY(size > WASM_RT_WHOLE_EXACT_MAX && size < WASM_RT_WHOLE_PRINTED_END) &&        \
            (radix) == 10 && (digits) == 0 && (flags) == 0) {                                      \
            u64 whole = w2c_JS_NewBigInt64(instance, js, (u64)(int64_t)(number));                  \
            u64 text = w2c_JS_ToString(instance, js, whole);                                       \
            w2c_JS_FreeValue(instance, js, whole);                                                 \
            return text;                                                                           \
        }                                                                                          \
    } while (0)

typedef struct {
    wasm_rt_funcref_t *data;
    uint32_t max_size;
    uint32_t size;
    const struct pawl_allocator *alloc; /* set by the creator */
    uint32_t spare;                     /* set by the creator: entries to allocate beyond */
} wasm_rt_funcref_table_t;

typedef struct {
    wasm_rt_externref_t *data;
    uint32_t max_size;
    uint32_t size;
} wasm_rt_externref_table_t;

/* ---- called by translated code ---------------------------------------------------------- */

static inline bool wasm_rt_is_initialized(void)
{
    return true;
}

/* Leaves for the nearest wasm_rt_run() of this thread. */
__attribute__((noreturn)) void wasm_rt_trap(wasm_rt_trap_t trap);

/*
 * A number for a function's signature: the same for the same one, without a registry. `...` are the
 * types of the parameters, then of the results.
 */
uint32_t wasm_rt_register_func_type(uint32_t params, uint32_t results, ...);

/* On failure `data` is NULL and `size` 0; initialising such a memory traps. */
void wasm_rt_allocate_memory(wasm_rt_memory_t *memory, uint32_t pages, uint32_t max_pages);
/* The number of pages before, or UINT32_MAX. New pages are zero. */
uint32_t wasm_rt_grow_memory(wasm_rt_memory_t *memory, uint32_t pages);
void wasm_rt_free_memory(wasm_rt_memory_t *memory);
void wasm_rt_allocate_funcref_table(wasm_rt_funcref_table_t *table, uint32_t elements,
                                    uint32_t max_elements);
void wasm_rt_free_funcref_table(wasm_rt_funcref_table_t *table);

/* ---- called by drivers ------------------------------------------------------------------ */

/*
 * Calls run(arg), in which translated code may trap. Returns WASM_RT_TRAP_NONE, or the trap that
 * ended it; frames between here and the trap are left without ceremony, so they must hold nothing.
 * Calls nest.
 */
wasm_rt_trap_t wasm_rt_run(void (*run)(void *arg), void *arg);
const char *wasm_rt_strerror(wasm_rt_trap_t trap);

#endif
