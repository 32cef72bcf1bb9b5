/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Into arrays, lists and sets, element by element. Text is one element of a collection of strings,
 * and is taken apart into UTF-16 units for any other.
 */
#include "base/base64.h"
#include "base/map.h"
#include "engine/convert/rules.h"
#include "engine/value/type_names.h"

int pawl__convert_concrete(struct pawl_converting *c, const struct pawl_type *target,
                           const struct pawl_type **out)
{
    if (!pawl__type_is_interface(target)) {
        *out = target;
        return PAWL_OK;
    }
    return pawl__type_compound(c->arena,
                               target->kind == PAWL_TYPE_ISET ? PAWL_TYPE_HASHSET : PAWL_TYPE_LIST,
                               target->element, out);
}

/* ---- sets -------------------------------------------------------------------------------- */

/* Appends the elements of `from` that the map does not know yet. */
static int append_distinct(struct pawl_arena *arena, struct pawl_map *seen,
                           const struct pawl_json *from, struct pawl_json *to)
{
    struct pawl_buf text;
    int status = PAWL_OK;

    pawl__buf_init(&text, arena->alloc, arena->max_bytes);
    for (uint32_t i = 0; i < pawl__json_len(from) && status == PAWL_OK; i++) {
        const struct pawl_json *item = pawl__json_at(from, i);
        struct pawl_str key;

        pawl__buf_clear(&text);
        pawl__json_write(&text, item, PAWL_JSON_ESCAPE_MINIMAL);
        status = text.status;
        if (status != PAWL_OK || pawl__map_has(seen, pawl__buf_peek(&text)))
            continue;
        key = pawl__arena_str(arena, pawl__buf_peek(&text));
        status = key.ptr ? pawl__map_put(seen, key, to) : arena->status;
        if (status == PAWL_OK)
            status = pawl__json_append(arena, to, *item);
    }
    pawl__buf_release(&text);
    return status;
}

int pawl__convert_distinct(struct pawl_converting *c, const struct pawl_type *type,
                           struct pawl_json *array)
{
    /* The order of a map does not depend on its seed, so an address will do. */
    struct pawl_hash_seed seed = {(uint64_t)(uintptr_t)c, (uint64_t)(uintptr_t)c->arena};
    struct pawl_json distinct = pawl__json_array();
    struct pawl_map seen;
    int status;

    if (type->kind != PAWL_TYPE_HASHSET || pawl__json_len(array) < 2)
        return PAWL_OK;
    pawl__map_init(&seen, c->arena->alloc, seed);
    status = append_distinct(c->arena, &seen, array, &distinct);
    pawl__map_release(&seen);
    if (status == PAWL_OK)
        *array = distinct;
    return status;
}

/* ---- elements ---------------------------------------------------------------------------- */

/* Converts one element and appends it. */
static int append(struct pawl_converting *c, struct pawl_value item, const struct pawl_type *type,
                  struct pawl_json *array)
{
    struct pawl_value converted = pawl__value_null();
    int status = pawl__convert_any(c, item, type->element, &converted);

    if (status != PAWL_OK)
        return status;
    if (pawl__value_is_null(converted) && pawl__type_is_value(type->element)) {
        if (type->kind != PAWL_TYPE_ARRAY)
            return pawl__convert_raise(c, "ArgumentNullException",
                                       "Value cannot be null. (Parameter 'item')");
        converted = pawl__convert_default(type->element);
    }
    return pawl__json_append(c->arena, array, converted.json);
}

static int append_items(struct pawl_converting *c, const struct pawl_value *from,
                        const struct pawl_type *type, struct pawl_json *array)
{
    const struct pawl_type *element = from->type->element;

    for (uint32_t i = 0; i < pawl__json_len(&from->json); i++) {
        struct pawl_json item = *pawl__json_at(&from->json, i);
        struct pawl_value value = {.json = item, .type = element};
        int status;

        if (element == &pawl__type_object_of_json)
            value = pawl__value_node(item);
        else if (element->kind == PAWL_TYPE_OBJECT)
            value = pawl__value_from_json(item);
        status = append(c, value, type, array);
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

static int append_bytes(struct pawl_converting *c, struct pawl_str text,
                        const struct pawl_type *type, struct pawl_json *array)
{
    unsigned char *bytes = pawl__arena_alloc(c->arena, text.len + 1);
    size_t count;

    if (!bytes)
        return c->arena->status;
    count = pawl__base64_decode(text, bytes);
    for (size_t i = 0; count != SIZE_MAX && i < count; i++) {
        int status = append(c, pawl__value_int(bytes[i]), type, array);

        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

/* ---- text taken apart -------------------------------------------------------------------- */

/* A UTF-16 unit: a number for integers, itself as text for objects, nothing for the rest. */
static int append_unit(struct pawl_converting *c, uint32_t unit, const struct pawl_type *type,
                       struct pawl_json *array)
{
    struct pawl_json text;
    char utf8[4];
    bool surrogate = unit >= 0xD800 && unit <= 0xDFFF;
    int status;

    if (type->element->kind != PAWL_TYPE_OBJECT) {
        /* A character converts to integers only; other elements stay zero, or null. */
        if (pawl__type_is_integer(type->element))
            return append(c, pawl__value_int(unit), type, array);
        return pawl__json_append(c->arena, array, pawl__convert_default(type->element).json);
    }
    status = pawl__json_string_copy(
        c->arena, pawl__str_make(utf8, pawl__utf8_encode(surrogate ? 0xFFFD : unit, utf8)), &text);
    return status == PAWL_OK ? pawl__json_append(c->arena, array, text) : status;
}

static int append_text(struct pawl_converting *c, struct pawl_str text,
                       const struct pawl_type *type, struct pawl_json *array)
{
    for (size_t at = 0; at < text.len;) {
        uint32_t code_point = pawl__utf8_next(text, &at);
        int status = PAWL_OK;

        if (code_point > 0xFFFF) {
            status = append_unit(c, 0xD7C0 + (code_point >> 10), type, array);
            code_point = 0xDC00 + (code_point & 0x3FF);
        }
        if (status == PAWL_OK)
            status = append_unit(c, code_point, type, array);
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

/* ---- the rule ---------------------------------------------------------------------------- */

static int from_text(struct pawl_converting *c, struct pawl_value value,
                     const struct pawl_type *target, struct pawl_value *out)
{
    struct pawl_str text = pawl__json_str(&value.json);
    struct pawl_json array = pawl__json_array();
    const struct pawl_type *type = NULL;
    int status;

    if (pawl__str_trim(text).len == 0)
        return CONVERT_FAILED;
    if (target->element->kind == PAWL_TYPE_STRING) {
        type = &pawl__type_string_array;
        status = pawl__json_append(c->arena, &array, value.json);
    } else {
        status = pawl__convert_concrete(c, target, &type);
        if (status == PAWL_OK)
            status = append_text(c, text, type, &array);
        if (status == PAWL_OK)
            status = pawl__convert_distinct(c, type, &array);
    }
    if (status == PAWL_OK)
        *out = (struct pawl_value){.json = array, .type = type};
    return status;
}

int pawl__convert_to_collection(struct pawl_converting *c, struct pawl_value value,
                                const struct pawl_type *target, struct pawl_value *out)
{
    struct pawl_json array = pawl__json_array();
    const struct pawl_type *type = NULL;
    int status;

    if (value.type->kind == PAWL_TYPE_STRING)
        return from_text(c, value, target, out);
    if (!pawl__type_is_collection(value.type) && value.type->kind != PAWL_TYPE_BYTES)
        return CONVERT_FAILED;
    status = pawl__convert_concrete(c, target, &type);
    if (status == PAWL_OK)
        status = value.type->kind == PAWL_TYPE_BYTES
                     ? append_bytes(c, pawl__json_str(&value.json), type, &array)
                     : append_items(c, &value, type, &array);
    if (status == PAWL_OK)
        status = pawl__convert_distinct(c, type, &array);
    if (status == PAWL_OK)
        *out = (struct pawl_value){.json = array, .type = type};
    return status;
}
