/* SPDX-License-Identifier: Apache-2.0 */
/* Building JSON of values with their types; see builder.h. */
#include "engine/builder.h"

#include "engine/value/type_names.h"

#include <math.h>

static bool is_binary(const struct pawl_type *type)
{
    return type && (type->kind == PAWL_TYPE_DOUBLE || type->kind == PAWL_TYPE_SINGLE);
}

/* JSON has no NaN and no Infinity: they are written as texts, which a number never is. */
static bool infinite_text(struct pawl_value value, struct pawl_json *out)
{
    double number = 0;

    if (!is_binary(value.type) || !pawl__json_to_double(&value.json, &number))
        return false;
    *out = pawl__json_string(number != number ? pawl__str("NaN")
                             : number > 0     ? pawl__str("Infinity")
                                              : pawl__str("-Infinity"));
    return true;
}

static struct pawl_json infinite_from_text(struct pawl_str text)
{
    if (pawl__str_is(text, "NaN"))
        return pawl__json_double(NAN);
    return pawl__json_double(pawl__str_is(text, "Infinity") ? HUGE_VAL : -HUGE_VAL);
}

static struct pawl_json alias_json(struct pawl_builder *b, const struct pawl_type *type)
{
    struct pawl_json alias = pawl__json_null();
    struct pawl_buf text;

    if (!type)
        return alias;
    /* A constant, or the graph's: the value does not outlive that. */
    if (type->alias && !type->nullable && type->kind != PAWL_TYPE_ARRAY)
        return pawl__json_string(pawl__str(type->alias));
    pawl__buf_init(&text, b->arena->alloc, 4096);
    pawl__type_write(&text, type);
    if (b->status == PAWL_OK)
        b->status = text.status;
    if (b->status == PAWL_OK)
        b->status = pawl__json_string_copy(b->arena, pawl__buf_peek(&text), &alias);
    pawl__buf_release(&text);
    return alias;
}

struct pawl_json pawl__typed_json(struct pawl_builder *b, struct pawl_value value)
{
    bool absent = pawl__value_is_null(value) && !value.type;
    struct pawl_json pair = pawl__json_array();

    /* A collection with a NaN in it: of what nothing may store, nothing is stored. */
    if (absent || b->status != PAWL_OK ||
        (!pawl__value_is_finite(&value.json) && !infinite_text(value, &value.json)))
        return pawl__json_null();
    pawl__build_append(b, &pair, value.json);
    pawl__build_append(b, &pair, alias_json(b, value.type));
    if (value.type && value.type->element == &pawl__type_object_of_json)
        pawl__build_append(b, &pair, pawl__json_bool(true));
    return pair;
}

void pawl__build_typed(struct pawl_builder *b, struct pawl_json *object, const char *key,
                       struct pawl_value value)
{
    struct pawl_json pair = pawl__typed_json(b, value);

    if (value.type || !pawl__value_is_null(value))
        pawl__build(b, object, key, pair);
}

int pawl__typed_read(struct pawl_arena *arena, const struct pawl_json *json, struct pawl_value *out)
{
    const struct pawl_json *alias = pawl__json_at(json, 1);
    int status = PAWL_OK;

    *out = pawl__value_null();
    if (pawl__json_type(json) == PAWL_JSON_NULL)
        return PAWL_OK;
    if (!pawl__json_is(json, PAWL_JSON_ARRAY) || json->len < 2 || json->len > 3)
        return PAWL_EPARSE;
    *out = pawl__value_from_json(*pawl__json_at(json, 0));
    if (pawl__json_is(alias, PAWL_JSON_STRING))
        status = pawl__type_find(arena, pawl__json_str(alias), &out->type);
    if (status == PAWL_OK && is_binary(out->type) && pawl__json_is(&out->json, PAWL_JSON_STRING))
        out->json = infinite_from_text(pawl__json_str(&out->json));
    if (status == PAWL_OK && json->len == 3 && out->type && pawl__type_is_collection(out->type))
        status =
            pawl__type_compound(arena, out->type->kind, &pawl__type_object_of_json, &out->type);
    return status == PAWL_ENOTFOUND ? PAWL_EPARSE : status;
}
