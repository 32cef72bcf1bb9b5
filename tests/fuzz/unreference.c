/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any document loses its references or is refused; what comes out is read as a value or refused;
 * a value that was read is written and read again as the same, and converts to every kind of type
 * or is refused.
 */
#include "base/assert.h"
#include "base/error.h"
#include "engine/convert/convert.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    (void)ctx;
    (void)old_size;
    if (new_size > 0)
        return realloc(ptr, new_size);
    free(ptr);
    return NULL;
}

static void check_conversions(struct pawl_arena *arena, struct pawl_value value)
{
    static const char *const targets[] = {
        "String",       "Boolean",   "Int16",       "Int32?",      "Int64",           "Single",
        "Double",       "Decimal",   "DateTime",    "TimeSpan",    "DateTimeOffset",  "Guid",
        "ByteArray",    "JSON",      "JsonNode",    "JsonElement", "HashSet<String>", "Object[]",
        "FlowJoinMode", "Decimal[]", "List<Int32>", "StringMap",   "ObjectDictionary"};
    struct pawl_conversion how = {.arena = arena};

    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        const struct pawl_type *type = NULL;
        struct pawl_exception raised;
        struct pawl_value out = pawl__value_null();
        int status;

        PAWL_ASSERT(pawl__type_find(arena, pawl__str(targets[i]), &type) == PAWL_OK);
        status = pawl__convert(&how, value, type, &out, &raised);
        PAWL_ASSERT(status == PAWL_OK || status == PAWL_ELIMIT || status == ENGINE_RAISED);
        if (status == ENGINE_RAISED)
            PAWL_ASSERT(raised.type.len > 0 && raised.message.len > 0);
    }
}

static void check_value(struct pawl_arena *arena, const struct pawl_json *stored)
{
    struct pawl_value value = pawl__value_null();
    struct pawl_value again = pawl__value_null();
    struct pawl_json written = pawl__json_null();

    if (pawl__value_read(arena, stored, &value, NULL) != PAWL_OK)
        return;
    PAWL_ASSERT(pawl__value_write(arena, value, &written) == PAWL_OK);
    PAWL_ASSERT(pawl__value_read(arena, &written, &again, NULL) == PAWL_OK);
    check_conversions(arena, value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct pawl_json_limits limits = {.bytes_max = 1 << 16, .depth_max = 100};
    struct pawl_allocator alloc = {.resize = resize};
    struct pawl_str text = pawl__str_make((const char *)data, size);
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_arena arena;
    struct pawl_json json, plain;
    int status;

    pawl__arena_init(&arena, &alloc, 256 << 20);
    if (pawl__json_parse(&arena, text, &limits, &json, NULL, NULL) == PAWL_OK) {
        status = pawl__json_unreference(&arena, &json, &plain, &err);
        PAWL_ASSERT(status == PAWL_OK || (err.code == status && err.msg[0] != '\0'));
        if (status == PAWL_OK)
            check_value(&arena, &plain);
    }
    pawl__arena_release(&arena);
    return 0;
}
