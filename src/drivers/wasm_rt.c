/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, tables and traps of translated WebAssembly; see wasm_rt.h. */
#include "drivers/wasm_rt.h"

#include "base/assert.h"

#include <stdarg.h>

/* Where the innermost run of this thread lands; a trap has no argument to carry it. */
struct landing {
    jmp_buf jump;
    volatile wasm_rt_trap_t trap;
};

static _Thread_local struct landing *current;

wasm_rt_trap_t wasm_rt_run(void (*run)(void *arg), void *arg)
{
    struct landing *volatile outer = current;
    struct landing here;

    here.trap = WASM_RT_TRAP_NONE;
    if (setjmp(here.jump) == 0) {
        current = &here;
        run(arg);
    }
    current = outer;
    return here.trap;
}

void wasm_rt_trap(wasm_rt_trap_t trap)
{
    PAWL_ASSERT(current);
    current->trap = trap;
    longjmp(current->jump, 1);
}

const char *wasm_rt_strerror(wasm_rt_trap_t trap)
{
    switch (trap) {
    case WASM_RT_TRAP_NONE:
        return "no trap";
    case WASM_RT_TRAP_OOB:
        return "out of bounds";
    case WASM_RT_TRAP_INT_OVERFLOW:
        return "integer overflow";
    case WASM_RT_TRAP_DIV_BY_ZERO:
        return "division by zero";
    case WASM_RT_TRAP_INVALID_CONVERSION:
        return "invalid conversion to integer";
    case WASM_RT_TRAP_UNREACHABLE:
        return "unreachable code reached";
    case WASM_RT_TRAP_CALL_INDIRECT:
        return "invalid indirect call";
    case WASM_RT_TRAP_UNCAUGHT_EXCEPTION:
        return "uncaught exception";
    case WASM_RT_TRAP_EXHAUSTION:
        return "call stack exhausted";
    case WASM_RT_TRAP_SPENT:
        return "no work left";
    }
    return "unknown trap";
}

uint32_t wasm_rt_register_func_type(uint32_t params, uint32_t results, ...)
{
    const uint32_t exact_max = 14;
    uint32_t count = params + results;
    uint32_t id = results + 1;
    va_list types;

    /*
     * Two bits per type behind a marker: exact for up to 14. Longer signatures, of which the module
     * has one, are hashed and told from the others by the top bit.
     */
    PAWL_ASSERT(results <= 2);
    va_start(types, results);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t type = (uint32_t)va_arg(types, int);

        PAWL_ASSERT(type <= WASM_RT_F64);
        id = count <= exact_max ? id << 2 | type : (id ^ type) * 16777619u;
    }
    va_end(types);
    return count <= exact_max ? id : id | 0x80000000u;
}

void wasm_rt_allocate_memory(wasm_rt_memory_t *memory, uint32_t pages, uint32_t max_pages)
{
    const struct pawl_allocator *alloc = memory->alloc;

    PAWL_ASSERT(pages <= memory->page_limit && memory->page_limit <= WASM_RT_PAGES_MAX);
    memory->max_pages = max_pages;
    memory->pages = 0;
    memory->size = 0;
    /* Address space, mostly: the system gives pages of a block this large when they are used. */
    memory->data =
        alloc->resize(alloc->ctx, NULL, 0, (size_t)WASM_RT_BLOCK_BYTES + WASM_RT_SLACK_BYTES);
    if (memory->data)
        (void)wasm_rt_grow_memory(memory, pages);
}

uint32_t wasm_rt_grow_memory(wasm_rt_memory_t *memory, uint32_t pages)
{
    uint32_t before = memory->pages;

    if (pages > memory->page_limit || before > memory->page_limit - pages)
        return UINT32_MAX;
    if (memory->grows && before + pages > memory->small_pages)
        memory->grows(memory->spent_ctx);
    memset(memory->data + memory->size, 0, (size_t)pages * WASM_RT_PAGE_BYTES);
    memory->pages = before + pages;
    memory->size = memory->pages * WASM_RT_PAGE_BYTES;
    return before;
}

void wasm_rt_free_memory(wasm_rt_memory_t *memory)
{
    const struct pawl_allocator *alloc = memory->alloc;

    if (memory->data)
        alloc->resize(alloc->ctx, memory->data, (size_t)WASM_RT_BLOCK_BYTES + WASM_RT_SLACK_BYTES,
                      0);
    memory->data = NULL;
    memory->pages = 0;
    memory->size = 0;
}

static size_t table_bytes(const wasm_rt_funcref_table_t *table)
{
    return ((size_t)table->max_size) * sizeof(wasm_rt_funcref_t);
}

void wasm_rt_allocate_funcref_table(wasm_rt_funcref_table_t *table, uint32_t elements,
                                    uint32_t max_elements)
{
    const struct pawl_allocator *alloc = table->alloc;

    (void)max_elements; /* the table never grows but into its spare entries */
    table->size = 0;
    table->max_size = elements + table->spare;
    table->data = alloc->resize(alloc->ctx, NULL, 0, table_bytes(table));
    if (!table->data)
        return;
    memset(table->data, 0, table_bytes(table));
    table->size = elements;
}

void wasm_rt_free_funcref_table(wasm_rt_funcref_table_t *table)
{
    const struct pawl_allocator *alloc = table->alloc;

    if (table->data)
        alloc->resize(alloc->ctx, table->data, table_bytes(table), 0);
    table->data = NULL;
    table->size = 0;
}
