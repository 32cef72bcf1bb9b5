/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engines, images and stays: what is around the scripts. What happens inside is in quickjs_value.c
 * and quickjs_run.c, what the engine asks of us in quickjs_imports.c.
 */
#include "drivers/quickjs_private.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"

/* An engine that used more than this gets a new block when it is restored. */
#define KEEP_PAGES (8u * 1024 * 1024 / WASM_RT_PAGE_BYTES)
/* What the engine needs besides the objects it counts. */
#define OVERHEAD_PAGES (16u * 1024 * 1024 / WASM_RT_PAGE_BYTES)
/* More than a context has. */
#define CONTEXT_BYTES 2048u
/* Work between two looks at the clock and at whether to stop: less than a millisecond. */
#define WORK_SLICE 100000
/* Work after which a stay that is to stop is interrupted, which undoes the step that it is part of:
 * some ten milliseconds. What is done sooner is waited for, and its step is kept. */
#define WORK_BEFORE_STOP 10000000

/*
 * The translated module keeps one table of signature numbers. It is filled here, before main and
 * before any thread; the numbers are always the same.
 */
__attribute__((constructor)) static void fill_signatures(void)
{
    Z_quickjs_init_module();
}

/* Arguments that a host function sees; more are left out. */
#define HOST_ARGS_MAX 8u

/* The function behind all host functions, called by the engine through its table. */
static u64 host_function(void *ctx, u32 context, u64 this_value, u32 count, u32 args, u32 number)
{
    struct pawl_quickjs *js = ctx;
    const struct pawl_quickjs_host *host = js->host;
    struct pawl_js values[HOST_ARGS_MAX];
    uint32_t known = count < HOST_ARGS_MAX ? count : HOST_ARGS_MAX;

    (void)context;
    (void)this_value;
    if (!host->call || !pawl__quickjs_holds(js, args, known * 8))
        return JS_MAKE(JS_TAG_UNDEFINED, 0);
    for (uint32_t i = 0; i < known; i++)
        memcpy(&values[i].bits, pawl__quickjs_at(js, args + i * 8), 8);
    return host->call(host->ctx, js, number, values, known).bits;
}

static uint32_t add_host_function(struct pawl_quickjs *js)
{
    wasm_rt_funcref_table_t *table = &js->module.w2c___indirect_function_table;
    uint32_t index = table->size;

    PAWL_ASSERT(index < table->max_size);
    table->data[index] = (wasm_rt_funcref_t){
        .func_type = wasm_rt_register_func_type(5, 1, WASM_RT_I32, WASM_RT_I64, WASM_RT_I32,
                                                WASM_RT_I32, WASM_RT_I32, WASM_RT_I64),
        .func = (wasm_rt_function_ptr_t)host_function,
        .module_instance = js,
    };
    table->size++;
    return index;
}

/* Outside of a stay: starting the engine and making it ready. */
static void grant_all(struct pawl_quickjs *js)
{
    js->work_granted = INT64_MAX;
    js->module.w2c_memory.work = INT64_MAX;
}

/* Why the stay must end now; DONE: it may continue. */
static enum pawl_quickjs_end end_of_slice(struct pawl_quickjs *js)
{
    const struct pawl_quickjs_host *host = js->host;

    if (js->work_left <= 0)
        return PAWL_QUICKJS_FUEL;
    if (js->work_given - js->work_left >= WORK_BEFORE_STOP && host->stop && host->stop(host->ctx))
        return PAWL_QUICKJS_STOPPED;
    if (!host->processor_ns || js->time_ns <= 0)
        return PAWL_QUICKJS_DONE;
    /* Asking costs more than most scripts: the first slice is not counted. */
    if (js->deadline_ns == 0)
        js->deadline_ns = host->processor_ns(host->ctx) + js->time_ns;
    else if (host->processor_ns(host->ctx) >= js->deadline_ns)
        return PAWL_QUICKJS_TIME;
    return PAWL_QUICKJS_DONE;
}

static void grant_slice(struct pawl_quickjs *js)
{
    js->work_granted = js->work_left < WORK_SLICE ? js->work_left : WORK_SLICE;
    js->work_left -= js->work_granted;
    js->module.w2c_memory.work = js->work_granted;
}

/* The translated code has used up what it was granted. */
static void spend(void *ctx)
{
    struct pawl_quickjs *js = ctx;

    if (!js->host) {
        grant_all(js);
        return;
    }
    /* What was copied at once may be more than was left. */
    js->work_left += js->module.w2c_memory.work;
    if (js->end == PAWL_QUICKJS_DONE)
        js->end = end_of_slice(js);
    if (js->end != PAWL_QUICKJS_DONE)
        wasm_rt_trap(WASM_RT_TRAP_SPENT);
    grant_slice(js);
}

/* The memory is to grow past what is small. */
static void ask_to_grow(void *ctx)
{
    struct pawl_quickjs *js = ctx;

    if (!js->host || !js->host->grow || js->host->grow(js->host->ctx))
        return;
    js->end = PAWL_QUICKJS_STOPPED;
    wasm_rt_trap(WASM_RT_TRAP_SPENT);
}

static void instantiate(void *arg)
{
    struct pawl_quickjs *js = arg;

    js->module.w2c_memory.small_pages = PAWL_QUICKJS_SMALL / WASM_RT_PAGE_BYTES;
    js->module.w2c_memory.grows = ask_to_grow;
    js->module.w2c_memory.spent = spend;
    js->module.w2c_memory.spent_ctx = js;
    grant_all(js);
    js->module.w2c_memory.alloc = js->alloc;
    js->module.w2c_memory.page_limit = WASM_RT_PAGES_MAX;
    js->module.w2c___indirect_function_table.alloc = js->alloc;
    js->module.w2c___indirect_function_table.spare = 1;
    Z_quickjs_instantiate(&js->module, (struct Z_env_instance_t *)(void *)js,
                          (struct Z_wasi_snapshot_preview1_instance_t *)(void *)js);
    js->roots.host_function = add_host_function(js);
}

/*
 * The context keeps the object with the global let and const behind the global object; nothing that
 * it exports leads there. Traps when it is not found, so that no engine starts without.
 */
static uint64_t find_lexical(struct pawl_quickjs *js)
{
    uint64_t global = Z_quickjsZ_JS_GetGlobalObject(&js->module, js->roots.context);

    Z_quickjsZ_JS_FreeValue(&js->module, js->roots.context, global);
    for (uint32_t at = js->roots.context; at < js->roots.context + CONTEXT_BYTES; at += 8) {
        uint64_t bits[2];

        memcpy(bits, pawl__quickjs_at(js, at), sizeof bits);
        if (bits[0] == global && bits[1] >> 32 == global >> 32 && bits[1] != global)
            return bits[1];
    }
    wasm_rt_trap(WASM_RT_TRAP_UNREACHABLE);
}

static void start(void *arg)
{
    struct pawl_quickjs *js = arg;

    Z_quickjsZ__initialize(&js->module);
    if (Z_quickjsZ_qjs_init(&js->module) != 0)
        wasm_rt_trap(WASM_RT_TRAP_UNREACHABLE);
    js->roots.runtime = Z_quickjsZ_qjs_get_runtime_ptr(&js->module);
    js->roots.context = Z_quickjsZ_qjs_get_context_ptr(&js->module);
    js->roots.scratch = Z_quickjsZ_wasm_malloc(&js->module, QUICKJS_SCRATCH_BYTES);
    js->roots.args = Z_quickjsZ_wasm_malloc(&js->module, QUICKJS_ARGS * 8);
    if (js->roots.scratch == 0 || js->roots.args == 0)
        wasm_rt_trap(WASM_RT_TRAP_UNREACHABLE);
    js->roots.lexical = find_lexical(js);
    Z_quickjsZ_qjs_set_interrupt_handler(&js->module, 1);
}

int pawl__quickjs_open(const struct pawl_allocator *alloc, struct pawl_quickjs **out,
                       struct pawl_error *err)
{
    struct pawl_quickjs *js = pawl__alloc_zeroed(alloc, sizeof *js);
    wasm_rt_trap_t trap;

    if (!js)
        return pawl__error_code(err, PAWL_ENOMEM);
    js->alloc = alloc;
    /* Its memory and tables are checked before use, so only a lack of memory traps here. */
    if (wasm_rt_run(instantiate, js) != WASM_RT_TRAP_NONE) {
        pawl__quickjs_close(js);
        return pawl__error_code(err, PAWL_ENOMEM);
    }
    trap = wasm_rt_run(start, js);
    if (trap != WASM_RT_TRAP_NONE) {
        pawl__quickjs_close(js);
        return pawl__error_set(err, PAWL_EINTERNAL, "the JavaScript engine does not start: %s",
                               wasm_rt_strerror(trap));
    }
    js->roots.stack_pointer = js->module.w2c___stack_pointer;
    *out = js;
    return PAWL_OK;
}

void pawl__quickjs_close(struct pawl_quickjs *js)
{
    if (!js)
        return;
    js->module.w2c_memory.alloc = js->alloc;
    js->module.w2c___indirect_function_table.alloc = js->alloc;
    Z_quickjs_free(&js->module);
    pawl__free(js->alloc, js, sizeof *js);
}

/* ---- images ------------------------------------------------------------------------------ */

int pawl__quickjs_image_take(const struct pawl_quickjs *js, const struct pawl_allocator *alloc,
                             struct pawl_quickjs_image **out)
{
    struct pawl_quickjs_image *image = pawl__alloc(alloc, sizeof *image);

    if (!image)
        return PAWL_ENOMEM;
    *image = (struct pawl_quickjs_image){
        .alloc = alloc, .roots = js->roots, .pages = js->module.w2c_memory.pages};
    image->bytes = pawl__alloc(alloc, js->module.w2c_memory.size);
    if (!image->bytes) {
        pawl__free(alloc, image, sizeof *image);
        return PAWL_ENOMEM;
    }
    memcpy(image->bytes, js->module.w2c_memory.data, js->module.w2c_memory.size);
    *out = image;
    return PAWL_OK;
}

void pawl__quickjs_image_free(struct pawl_quickjs_image *image)
{
    if (!image)
        return;
    pawl__free(image->alloc, image->bytes, (size_t)image->pages * WASM_RT_PAGE_BYTES);
    pawl__free(image->alloc, image, sizeof *image);
}

int pawl__quickjs_restore(struct pawl_quickjs *js, const struct pawl_quickjs_image *image)
{
    wasm_rt_memory_t *memory = &js->module.w2c_memory;

    memory->page_limit = WASM_RT_PAGES_MAX;
    if (memory->pages > KEEP_PAGES + image->pages) {
        wasm_rt_free_memory(memory);
        wasm_rt_allocate_memory(memory, image->pages, memory->max_pages);
        if (!memory->data)
            return PAWL_ENOMEM;
    }
    memory->pages = image->pages;
    memory->size = image->pages * WASM_RT_PAGE_BYTES;
    memcpy(memory->data, image->bytes, memory->size);
    js->roots = image->roots;
    js->module.w2c___stack_pointer = image->roots.stack_pointer;
    js->args_used = 0;
    return PAWL_OK;
}

size_t pawl__quickjs_memory_bytes(const struct pawl_quickjs *js)
{
    return js->module.w2c_memory.size;
}

/* ---- stays ------------------------------------------------------------------------------- */

struct stay {
    struct pawl_quickjs *js;
    const struct pawl_quickjs_limits *limits;
    void (*run)(struct pawl_quickjs *js, void *arg);
    void *arg;
};

static void run_stay(void *arg)
{
    const struct stay *stay = arg;
    struct pawl_quickjs *js = stay->js;

    Z_quickjsZ_JS_SetMemoryLimit(&js->module, js->roots.runtime, stay->limits->memory_bytes);
    Z_quickjsZ_JS_SetMaxStackSize(&js->module, js->roots.runtime, stay->limits->stack_bytes);
    stay->run(js, stay->arg);
}

enum pawl_quickjs_end pawl__quickjs_enter(struct pawl_quickjs *js,
                                          const struct pawl_quickjs_host *host,
                                          const struct pawl_quickjs_limits *limits,
                                          void (*run)(struct pawl_quickjs *js, void *arg),
                                          void *arg)
{
    struct stay stay = {.js = js, .limits = limits, .run = run, .arg = arg};

    PAWL_ASSERT(!js->host && limits->memory_bytes <= PAWL_QUICKJS_MEMORY_MAX);
    js->host = host;
    js->work_given = js->work_left = (int64_t)limits->fuel * PAWL_QUICKJS_WORK_PER_FUEL;
    js->time_ns = limits->time_ns;
    js->deadline_ns = 0;
    js->end = PAWL_QUICKJS_DONE;
    grant_slice(js);
    js->args_used = 0;
    js->module.w2c_memory.page_limit = limits->memory_bytes / WASM_RT_PAGE_BYTES + OVERHEAD_PAGES;
    js->trap = wasm_rt_run(run_stay, &stay);
    if (js->trap != WASM_RT_TRAP_NONE && js->trap != WASM_RT_TRAP_SPENT)
        js->end = PAWL_QUICKJS_TRAPPED;
    js->host = NULL;
    grant_all(js);
    return js->end;
}

const char *pawl__quickjs_trap_text(const struct pawl_quickjs *js)
{
    return wasm_rt_strerror(js->trap);
}
