/* SPDX-License-Identifier: Apache-2.0 */
/* What objects of scripts are made of: their prototype, their keys, what is under each. */
#include "drivers/quickjs_private.h"

#define CONTEXT(js) (&(js)->module), (js)->roots.context
#define ENUMERABLE_STRINGS 17u /* JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY */
#define ENTRY_BYTES 8u         /* JSPropertyEnum: is_enumerable, atom */

struct pawl_js pawl__js_prototype(struct pawl_quickjs *js, struct pawl_js object)
{
    return (struct pawl_js){.bits = Z_quickjsZ_JS_GetPrototype(CONTEXT(js), object.bits)};
}

bool pawl__js_length(struct pawl_quickjs *js, struct pawl_js array, int64_t *out)
{
    uint32_t at = js->roots.scratch;

    if ((int32_t)Z_quickjsZ_JS_GetLength(CONTEXT(js), array.bits, at) < 0)
        return false;
    memcpy(out, pawl__quickjs_at(js, at), sizeof *out);
    return true;
}

struct pawl_js pawl__js_item(struct pawl_quickjs *js, struct pawl_js array, uint32_t index)
{
    return (struct pawl_js){.bits =
                                Z_quickjsZ_JS_GetPropertyUint32(CONTEXT(js), array.bits, index)};
}

bool pawl__js_keys(struct pawl_quickjs *js, struct pawl_js object, struct pawl_js_keys *out)
{
    uint32_t at = js->roots.scratch;

    if ((int32_t)Z_quickjsZ_JS_GetOwnPropertyNames(CONTEXT(js), at, at + 4, object.bits,
                                                   ENUMERABLE_STRINGS) < 0)
        return false;
    *out = (struct pawl_js_keys){.table = pawl__quickjs_load(js, at),
                                 .count = pawl__quickjs_load(js, at + 4)};
    return true;
}

void pawl__js_keys_free(struct pawl_quickjs *js, struct pawl_js_keys keys)
{
    Z_quickjsZ_JS_FreePropertyEnum(CONTEXT(js), keys.table, keys.count);
}

static uint32_t atom_at(struct pawl_quickjs *js, struct pawl_js_keys keys, uint32_t index)
{
    return pawl__quickjs_load(js, keys.table + index * ENTRY_BYTES + 4);
}

struct pawl_js pawl__js_member(struct pawl_quickjs *js, struct pawl_js object,
                               struct pawl_js_keys keys, uint32_t index)
{
    return (struct pawl_js){
        .bits = Z_quickjsZ_JS_GetProperty(CONTEXT(js), object.bits, atom_at(js, keys, index))};
}

bool pawl__js_key_text(struct pawl_quickjs *js, struct pawl_js_keys keys, uint32_t index,
                       struct pawl_arena *arena, struct pawl_str *out)
{
    uint32_t size_at = js->roots.scratch;
    uint32_t address =
        Z_quickjsZ_JS_AtomToCStringLen(CONTEXT(js), size_at, atom_at(js, keys, index));

    return pawl__quickjs_take_text(js, address, pawl__quickjs_load(js, size_at), arena, out);
}
