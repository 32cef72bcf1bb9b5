/* SPDX-License-Identifier: Apache-2.0 */
/* Values of scripts: made, read and freed. Running scripts is in quickjs_run.c. */
#include "drivers/quickjs_private.h"

#include "base/assert.h"

#define CONTEXT(js) (&(js)->module), (js)->roots.context
#define STRINGS_AND_SYMBOLS 3u /* JS_GPN_STRING_MASK | JS_GPN_SYMBOL_MASK */

static int tag_of(struct pawl_js value)
{
    return (int)(uint32_t)(value.bits >> 32);
}

static bool is_double(struct pawl_js value)
{
    return (uint32_t)tag_of(value) - (uint32_t)JS_TAG_FIRST >=
           (uint32_t)JS_TAG_FLOAT64 - (uint32_t)JS_TAG_FIRST;
}

static struct pawl_js make(uint64_t bits)
{
    return (struct pawl_js){.bits = bits};
}

enum pawl_js_kind pawl__js_kind(struct pawl_js value)
{
    if (is_double(value))
        return PAWL_JS_NUMBER;
    switch (tag_of(value)) {
    case JS_TAG_INT:
        return PAWL_JS_NUMBER;
    case JS_TAG_BOOL:
        return PAWL_JS_BOOL;
    case JS_TAG_NULL:
        return PAWL_JS_NULL;
    case JS_TAG_UNDEFINED:
        return PAWL_JS_UNDEFINED;
    case JS_TAG_EXCEPTION:
        return PAWL_JS_EXCEPTION;
    case JS_TAG_STRING:
    case JS_TAG_STRING_ROPE:
        return PAWL_JS_STRING;
    case JS_TAG_OBJECT:
        return PAWL_JS_OBJECT;
    default:
        return PAWL_JS_OTHER;
    }
}

bool pawl__js_to_bool(struct pawl_js value)
{
    return tag_of(value) == JS_TAG_BOOL && (uint32_t)value.bits != 0;
}

double pawl__js_to_double(struct pawl_js value)
{
    uint64_t bits = value.bits + JS_FLOAT64_ADDEND;
    double number;

    if (tag_of(value) == JS_TAG_INT)
        return (double)(int32_t)(uint32_t)value.bits;
    memcpy(&number, &bits, sizeof number);
    return number;
}

struct pawl_js pawl__js_exception(void)
{
    return make(JS_MAKE(JS_TAG_EXCEPTION, 0));
}

struct pawl_js pawl__js_undefined(void)
{
    return make(JS_MAKE(JS_TAG_UNDEFINED, 0));
}

struct pawl_js pawl__js_null(void)
{
    return make(JS_MAKE(JS_TAG_NULL, 0));
}

struct pawl_js pawl__js_bool(bool value)
{
    return make(JS_MAKE(JS_TAG_BOOL, value));
}

struct pawl_js pawl__js_number(double value)
{
    uint64_t bits;

    /* Whole numbers must be made as such: the engine takes 1.0 and 1 for different array keys. */
    if (value >= INT32_MIN && value <= INT32_MAX && value == (double)(int32_t)value &&
        !(value == 0 && 1 / value < 0))
        return make(JS_MAKE(JS_TAG_INT, (int32_t)value));
    memcpy(&bits, &value, sizeof bits);
    /* One NaN only: others could be taken for tags. */
    if (value != value)
        bits = UINT64_C(0x7ff8000000000000);
    return make(bits - JS_FLOAT64_ADDEND);
}

void pawl__js_free(struct pawl_quickjs *js, struct pawl_js value)
{
    if (tag_of(value) < 0 && !is_double(value))
        Z_quickjsZ_JS_FreeValue(CONTEXT(js), value.bits);
}

struct pawl_js pawl__js_share(struct pawl_js value, struct pawl_quickjs *js)
{
    return make(Z_quickjsZ_JS_DupValue(CONTEXT(js), value.bits));
}

/* ---- texts on their way in --------------------------------------------------------------- */

/* The address of a text in the engine's memory, NUL-terminated. */
struct lent {
    uint32_t address; /* 0: there is no room */
    bool owned;
};

static struct lent lend(struct pawl_quickjs *js, struct pawl_str text)
{
    struct lent lent = {.address = js->roots.scratch};

    pawl__js_work(js, text.len);
    if (text.len >= QUICKJS_SCRATCH_BYTES) {
        lent.owned = true;
        lent.address = text.len < WASM_RT_BLOCK_BYTES
                           ? Z_quickjsZ_wasm_malloc(&js->module, (uint32_t)text.len + 1)
                           : 0;
        if (lent.address == 0 || !pawl__quickjs_holds(js, lent.address, (uint32_t)text.len + 1))
            return (struct lent){.address = 0};
    }
    if (text.len > 0)
        memcpy(pawl__quickjs_at(js, lent.address), text.ptr, text.len);
    *pawl__quickjs_at(js, lent.address + (uint32_t)text.len) = 0;
    return lent;
}

static void release_lent(struct pawl_quickjs *js, struct lent lent)
{
    if (lent.owned)
        Z_quickjsZ_wasm_free(&js->module, lent.address);
}

static struct pawl_js no_memory(struct pawl_quickjs *js)
{
    return make(Z_quickjsZ_JS_ThrowOutOfMemory(CONTEXT(js)));
}

struct pawl_js pawl__js_string(struct pawl_quickjs *js, struct pawl_str text)
{
    struct lent lent = lend(js, text);
    struct pawl_js value;

    if (lent.address == 0)
        return no_memory(js);
    value = make(Z_quickjsZ_JS_NewStringLen(CONTEXT(js), lent.address, (uint32_t)text.len));
    release_lent(js, lent);
    return value;
}

struct pawl_js pawl__js_parse(struct pawl_quickjs *js, struct pawl_str json)
{
    struct lent lent = lend(js, json);
    struct pawl_js value;

    if (lent.address == 0)
        return no_memory(js);
    /* The third argument is a file name: any C string, here the empty end of the text. */
    value = make(Z_quickjsZ_JS_ParseJSON(CONTEXT(js), lent.address, (uint32_t)json.len,
                                         lent.address + (uint32_t)json.len));
    release_lent(js, lent);
    return value;
}

struct pawl_js pawl__js_parse_as(struct pawl_quickjs *js, struct pawl_str json,
                                 struct pawl_js prototype)
{
    uint64_t usual = Z_quickjsZ_JS_GetClassProto(CONTEXT(js), JS_CLASS_OBJECT);
    struct pawl_js value;

    /* No script runs while the text is parsed: nothing else is made with this prototype. */
    Z_quickjsZ_JS_SetClassProto(CONTEXT(js), JS_CLASS_OBJECT, pawl__js_share(prototype, js).bits);
    value = pawl__js_parse(js, json);
    Z_quickjsZ_JS_SetClassProto(CONTEXT(js), JS_CLASS_OBJECT, usual);
    return value;
}

struct pawl_js pawl__js_bytes(struct pawl_quickjs *js, struct pawl_str bytes)
{
    struct lent lent = lend(js, bytes);
    struct pawl_js value;

    if (lent.address == 0)
        return no_memory(js);
    value = make(Z_quickjsZ_JS_NewArrayBufferCopy(CONTEXT(js), lent.address, (uint32_t)bytes.len));
    release_lent(js, lent);
    return value;
}

struct pawl_js pawl__js_object(struct pawl_quickjs *js)
{
    return make(Z_quickjsZ_JS_NewObject(CONTEXT(js)));
}

struct pawl_js pawl__js_function(struct pawl_quickjs *js, const char *name, uint32_t number)
{
    const uint32_t generic_magic = 1;
    struct lent lent = lend(js, pawl__str(name));
    struct pawl_js value;

    PAWL_ASSERT(number <= 32767);
    if (lent.address == 0)
        return no_memory(js);
    value = make(Z_quickjsZ_JS_NewCFunction2(CONTEXT(js), js->roots.host_function, lent.address, 0,
                                             generic_magic, number));
    release_lent(js, lent);
    if (pawl__js_kind(value) == PAWL_JS_OBJECT)
        (void)Z_quickjsZ_JS_FreezeObject(CONTEXT(js), value.bits);
    return value;
}

/* ---- looking ----------------------------------------------------------------------------- */

bool pawl__js_is_array(struct pawl_quickjs *js, struct pawl_js value)
{
    return Z_quickjsZ_JS_IsArray(&js->module, value.bits) == 1;
}

bool pawl__js_is_promise(struct pawl_quickjs *js, struct pawl_js value)
{
    return tag_of(value) == JS_TAG_OBJECT && Z_quickjsZ_JS_IsPromise(&js->module, value.bits) == 1;
}

bool pawl__js_is_function(struct pawl_quickjs *js, struct pawl_js value)
{
    return Z_quickjsZ_JS_IsFunction(CONTEXT(js), value.bits) == 1;
}

struct pawl_js pawl__js_at(struct pawl_quickjs *js, struct pawl_js object, struct pawl_str name)
{
    struct lent lent = lend(js, name);
    struct pawl_js value;

    if (lent.address == 0)
        return no_memory(js);
    value = make(Z_quickjsZ_JS_GetPropertyStr(CONTEXT(js), object.bits, lent.address));
    release_lent(js, lent);
    return value;
}

struct pawl_js pawl__js_get(struct pawl_quickjs *js, struct pawl_js object, const char *name)
{
    return pawl__js_at(js, object, pawl__str(name));
}

bool pawl__js_set(struct pawl_quickjs *js, struct pawl_js object, const char *name,
                  struct pawl_js value)
{
    struct lent lent = lend(js, pawl__str(name));
    bool done;

    if (lent.address == 0) {
        pawl__js_free(js, value);
        (void)no_memory(js);
        return false;
    }
    done = (int32_t)Z_quickjsZ_JS_SetPropertyStr(CONTEXT(js), object.bits, lent.address,
                                                 value.bits) >= 0;
    release_lent(js, lent);
    return done;
}

bool pawl__js_define(struct pawl_quickjs *js, struct pawl_js object, struct pawl_str name,
                     struct pawl_js value, uint32_t flags)
{
    struct lent lent = lend(js, name);
    bool done;

    if (lent.address == 0) {
        pawl__js_free(js, value);
        (void)no_memory(js);
        return false;
    }
    done = (int32_t)Z_quickjsZ_JS_DefinePropertyValueStr(CONTEXT(js), object.bits, lent.address,
                                                         value.bits, flags) >= 0;
    release_lent(js, lent);
    return done;
}

bool pawl__js_has(struct pawl_quickjs *js, struct pawl_js object, struct pawl_str name)
{
    struct lent lent = lend(js, name);
    uint32_t atom;
    bool has;

    if (lent.address == 0)
        return false;
    atom = Z_quickjsZ_JS_NewAtomLen(CONTEXT(js), lent.address, (uint32_t)name.len);
    release_lent(js, lent);
    has = Z_quickjsZ_JS_HasProperty(CONTEXT(js), object.bits, atom) == 1;
    Z_quickjsZ_JS_FreeAtom(CONTEXT(js), atom);
    return has;
}

bool pawl__js_set_prototype(struct pawl_quickjs *js, struct pawl_js object,
                            struct pawl_js prototype)
{
    return Z_quickjsZ_JS_SetPrototype(CONTEXT(js), object.bits, prototype.bits) == 1;
}

void pawl__js_freeze(struct pawl_quickjs *js, struct pawl_js object)
{
    (void)Z_quickjsZ_JS_FreezeObject(CONTEXT(js), object.bits);
}

void pawl__js_collect(struct pawl_quickjs *js)
{
    Z_quickjsZ_JS_RunGC(&js->module, js->roots.runtime);
}

struct pawl_js pawl__js_global(struct pawl_quickjs *js)
{
    return make(Z_quickjsZ_JS_GetGlobalObject(CONTEXT(js)));
}

/* Appends `bytes` to the arena as UTF-8: what is not becomes U+FFFD. */
static bool copy_text(struct pawl_arena *arena, struct pawl_str bytes, struct pawl_str *out)
{
    char *to;
    size_t at = 0;
    size_t len = 0;

    if (pawl__utf8_valid(bytes)) {
        *out = pawl__arena_str(arena, bytes);
        return out->ptr != NULL;
    }
    /* One malformed byte becomes three at the most. */
    to = pawl__arena_alloc(arena, bytes.len * 3 + 1);
    if (!to)
        return false;
    while (at < bytes.len) {
        uint32_t code = pawl__utf8_next(bytes, &at);

        len += pawl__utf8_encode(code, to + len);
        /* Half a surrogate pair comes as three bytes; it is one character lost, not three. */
        while (code == 0xfffd && at < bytes.len && ((unsigned char)bytes.ptr[at] & 0xc0) == 0x80)
            at++;
    }
    to[len] = '\0';
    *out = pawl__str_make(to, len);
    return true;
}

bool pawl__quickjs_take_text(struct pawl_quickjs *js, uint32_t address, uint32_t size,
                             struct pawl_arena *arena, struct pawl_str *out)
{
    bool done;

    if (address == 0)
        return false;
    if (!pawl__quickjs_holds(js, address, size))
        wasm_rt_trap(WASM_RT_TRAP_OOB);
    pawl__js_work(js, size);
    done = copy_text(arena, pawl__str_make((const char *)pawl__quickjs_at(js, address), size), out);
    Z_quickjsZ_JS_FreeCString(CONTEXT(js), address);
    return done;
}

bool pawl__js_text(struct pawl_quickjs *js, struct pawl_js value, struct pawl_arena *arena,
                   struct pawl_str *out)
{
    uint32_t size_at = js->roots.scratch;
    uint32_t address = Z_quickjsZ_JS_ToCStringLen2(CONTEXT(js), size_at, value.bits, 0);

    return pawl__quickjs_take_text(js, address, pawl__quickjs_load(js, size_at), arena, out);
}

/* The bytes of an ArrayBuffer; one that was detached has none. */
static struct pawl_str buffer_bytes(struct pawl_quickjs *js, struct pawl_js buffer)
{
    uint32_t size_at = js->roots.scratch;
    uint32_t address = Z_quickjsZ_JS_GetArrayBuffer(CONTEXT(js), size_at, buffer.bits);
    uint32_t size = pawl__quickjs_load(js, size_at);

    if (address == 0) {
        pawl__js_free(js, pawl__js_caught(js));
        size = 0;
    }
    if (!pawl__quickjs_holds(js, address, size))
        wasm_rt_trap(WASM_RT_TRAP_OOB);
    return pawl__str_make((const char *)pawl__quickjs_at(js, address), size);
}

/* The part of its buffer that an array of bytes shows. */
static struct pawl_str array_bytes(struct pawl_quickjs *js, struct pawl_js array)
{
    uint32_t at = js->roots.scratch;
    struct pawl_js buffer =
        make(Z_quickjsZ_JS_GetTypedArrayBuffer(CONTEXT(js), array.bits, at, at + 4, at + 8));
    uint32_t offset = pawl__quickjs_load(js, at);
    uint32_t size = pawl__quickjs_load(js, at + 4);
    struct pawl_str bytes;

    if (pawl__js_kind(buffer) == PAWL_JS_EXCEPTION) {
        pawl__js_free(js, pawl__js_caught(js));
        return pawl__str("");
    }
    bytes = buffer_bytes(js, buffer);
    pawl__js_free(js, buffer); /* the array holds it too */
    if (offset > bytes.len || size > bytes.len - offset)
        return pawl__str("");
    return pawl__str_slice(bytes, offset, (size_t)offset + size);
}

bool pawl__js_peek_bytes(struct pawl_quickjs *js, struct pawl_js value, struct pawl_str *out)
{
    uint32_t type;

    if (Z_quickjsZ_JS_IsArrayBuffer(&js->module, value.bits) == 1) {
        *out = buffer_bytes(js, value);
        return true;
    }
    type = Z_quickjsZ_JS_GetTypedArrayType(&js->module, value.bits);
    if (type != JS_TYPED_ARRAY_UINT8C && type != JS_TYPED_ARRAY_UINT8)
        return false;
    *out = array_bytes(js, value);
    return true;
}

/* ---- the global object ------------------------------------------------------------------- */

/* Deletes the properties listed at `table` behind the first `own`; false when one stays. */
static bool delete_further(struct pawl_quickjs *js, struct pawl_js global, uint32_t table,
                           uint32_t count, uint32_t own)
{
    const uint32_t entry_bytes = 8; /* JSPropertyEnum: is_enumerable, atom */
    bool clean = true;

    for (uint32_t i = own; i < count; i++) {
        uint32_t atom = pawl__quickjs_load(js, table + i * entry_bytes + 4);

        if (Z_quickjsZ_JS_DeleteProperty(CONTEXT(js), global.bits, atom, 0) != 1)
            clean = false;
    }
    return clean;
}

static uint32_t count_own(struct pawl_quickjs *js, uint64_t object)
{
    uint32_t at = js->roots.scratch;
    uint32_t count;

    if ((int32_t)Z_quickjsZ_JS_GetOwnPropertyNames(CONTEXT(js), at, at + 4, object,
                                                   STRINGS_AND_SYMBOLS) < 0)
        return UINT32_MAX;
    count = pawl__quickjs_load(js, at + 4);
    Z_quickjsZ_JS_FreePropertyEnum(CONTEXT(js), pawl__quickjs_load(js, at), count);
    return count;
}

uint32_t pawl__js_global_own(struct pawl_quickjs *js)
{
    struct pawl_js global = pawl__js_global(js);
    uint32_t count = count_own(js, global.bits);

    pawl__js_free(js, global);
    return count;
}

uint32_t pawl__js_lexical_own(struct pawl_quickjs *js)
{
    return count_own(js, js->roots.lexical);
}

bool pawl__js_global_is_clean(struct pawl_quickjs *js, struct pawl_js prototype, uint32_t own)
{
    struct pawl_js global = pawl__js_global(js);
    uint32_t at = js->roots.scratch;
    struct pawl_js parent;
    uint32_t table;
    uint32_t count;
    bool clean;

    if ((int32_t)Z_quickjsZ_JS_GetOwnPropertyNames(CONTEXT(js), at, at + 4, global.bits,
                                                   STRINGS_AND_SYMBOLS) < 0)
        return false;
    table = pawl__quickjs_load(js, at);
    count = pawl__quickjs_load(js, at + 4);
    clean = count >= own && delete_further(js, global, table, count, own);
    Z_quickjsZ_JS_FreePropertyEnum(CONTEXT(js), table, count);
    parent = make(Z_quickjsZ_JS_GetPrototype(CONTEXT(js), global.bits));
    clean = clean && pawl__js_same(parent, prototype) &&
            Z_quickjsZ_JS_IsExtensible(CONTEXT(js), global.bits) == 1;
    pawl__js_free(js, parent);
    pawl__js_free(js, global);
    return clean;
}
