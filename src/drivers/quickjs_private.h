/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the QuickJS driver share. The translated header is included here only. */
#ifndef PAWL_DRIVERS_QUICKJS_PRIVATE_H
#define PAWL_DRIVERS_QUICKJS_PRIVATE_H

#include "drivers/quickjs.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include "drivers/quickjs_translated.h"
#pragma GCC diagnostic pop

/* Values are NaN-boxed: a tag in the upper half, or a double moved by an addend. */
#define JS_TAG_FIRST (-9)
#define JS_TAG_STRING (-7)
#define JS_TAG_STRING_ROPE (-6)
#define JS_TAG_OBJECT (-1)
#define JS_TAG_INT 0
#define JS_TAG_BOOL 1
#define JS_TAG_NULL 2
#define JS_TAG_UNDEFINED 3
#define JS_TAG_EXCEPTION 6
#define JS_TAG_FLOAT64 8
#define JS_FLOAT64_ADDEND ((uint64_t)(0x7ff80000u - (uint32_t)JS_TAG_FIRST + 1u) << 32)

#define JS_CLASS_OBJECT 1u

#define JS_TYPED_ARRAY_UINT8C 0u
#define JS_TYPED_ARRAY_UINT8 2u

#define JS_MAKE(tag, value) ((uint64_t)(uint32_t)(tag) << 32 | (uint32_t)(value))

#define QUICKJS_SCRATCH_BYTES 4096u
#define QUICKJS_ARGS 256u /* values in flight over nested calls */

/* What belongs to the engine's memory and is kept outside of it: part of an image. */
struct pawl_quickjs_roots {
    uint32_t runtime;
    uint32_t context;
    uint32_t scratch; /* QUICKJS_SCRATCH_BYTES for texts on their way in */
    uint32_t args;    /* QUICKJS_ARGS values */
    uint32_t host_function;
    uint32_t stack_pointer;
    uint64_t lexical; /* the object that holds global let, const and class */
};

struct pawl_quickjs {
    Z_quickjs_instance_t module;
    const struct pawl_allocator *alloc;
    struct pawl_quickjs_roots roots;

    /* The stay. */
    const struct pawl_quickjs_host *host;
    int64_t work_given;   /* to this stay in all */
    int64_t work_left;    /* without what is granted */
    int64_t work_granted; /* what the translated code is using up now */
    int64_t time_ns;      /* the limit */
    int64_t deadline_ns;  /* of the thread's processor time; 0: not known before the first slice */
    uint32_t args_used;
    enum pawl_quickjs_end end; /* once set, every check returns: stop */
    wasm_rt_trap_t trap;
};

struct pawl_quickjs_image {
    const struct pawl_allocator *alloc;
    struct pawl_quickjs_roots roots;
    uint32_t pages;
    uint8_t *bytes;
};

static inline uint8_t *pawl__quickjs_at(struct pawl_quickjs *js, uint32_t address)
{
    return js->module.w2c_memory.data + (address & WASM_RT_ADDRESS_MASK);
}

/* Whether [address, address + size) lies in the engine's memory. */
static inline bool pawl__quickjs_holds(const struct pawl_quickjs *js, uint32_t address,
                                       uint32_t size)
{
    return (uint64_t)address + size <= js->module.w2c_memory.size;
}

static inline void pawl__quickjs_store(struct pawl_quickjs *js, uint32_t address, uint64_t value,
                                       size_t size)
{
    memcpy(pawl__quickjs_at(js, address), &value, size);
}

static inline uint32_t pawl__quickjs_load(struct pawl_quickjs *js, uint32_t address)
{
    uint32_t value;

    memcpy(&value, pawl__quickjs_at(js, address), sizeof value);
    return value;
}

/* quickjs_value.c: copies a text of the engine (address 0: it threw) and frees it there. */
bool pawl__quickjs_take_text(struct pawl_quickjs *js, uint32_t address, uint32_t size,
                             struct pawl_arena *arena, struct pawl_str *out);

#endif
