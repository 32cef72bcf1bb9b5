/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From JSON, as strictly as Elsa's deserialiser: a number is no string, 1.0 no integer,
 * an array no object. The exceptions it makes are made here: Int32 and Decimal may stand in quotes.
 */
#include "base/id.h"
#include "base/time/duration.h"
#include "engine/convert/rules.h"
#include "engine/value/number.h"
#include "engine/value/type_names.h"

/* ---- scalars ----------------------------------------------------------------------------- */

static bool integer_fits(int64_t value, const struct pawl_type *type)
{
    if (type->kind == PAWL_TYPE_INT16)
        return value >= INT16_MIN && value <= INT16_MAX;
    return type->kind == PAWL_TYPE_INT64 || (value >= INT32_MIN && value <= INT32_MAX);
}

static int read_integer(const struct pawl_json *json, const struct pawl_type *type,
                        struct pawl_value *out)
{
    int64_t integer;

    if (pawl__json_is(json, PAWL_JSON_STRING) && type->kind == PAWL_TYPE_INT32) {
        if (pawl__number_parse_int(pawl__json_str(json), &integer) != PAWL_OK)
            return CONVERT_FAILED;
    } else if (!pawl__json_is(json, PAWL_JSON_INT) || !pawl__json_to_int(json, &integer)) {
        return CONVERT_FAILED;
    }
    if (!integer_fits(integer, type))
        return CONVERT_FAILED;
    *out = (struct pawl_value){.json = pawl__json_int(integer), .type = type};
    return PAWL_OK;
}

static int read_number(struct pawl_converting *c, const struct pawl_json *json,
                       const struct pawl_type *type, struct pawl_value *out)
{
    struct pawl_exception ignored;
    struct pawl_converting inner = *c;
    struct pawl_value value = pawl__value_from_json(*json);
    int status;

    if (pawl__type_is_integer(type))
        return read_integer(json, type, out);
    if (type->kind != PAWL_TYPE_DECIMAL) {
        if (!pawl__json_is_number(json))
            return CONVERT_FAILED;
        return pawl__convert_to_binary(c, value, type, out);
    }
    if (pawl__json_is_number(json))
        value.type = &pawl__type_decimal; /* all its digits, not those of a double */
    else if (!pawl__json_is(json, PAWL_JSON_STRING))
        return CONVERT_FAILED;
    inner.raised = &ignored;
    status = pawl__convert_to_decimal(&inner, value, type, out);
    return status == ENGINE_RAISED ? CONVERT_FAILED : status;
}

static int read_date(struct pawl_converting *c, const struct pawl_json *json,
                     const struct pawl_type *type, struct pawl_value *out)
{
    struct pawl_datetime date;

    if (pawl__datetime_parse(pawl__json_str(json), &date, NULL) != PAWL_OK)
        return CONVERT_FAILED;
    return pawl__convert_to_date(c, pawl__value_string(pawl__json_str(json)), type, out);
}

/* Names without regard to case, or numbers. */
static int read_enum(struct pawl_converting *c, const struct pawl_json *json,
                     const struct pawl_type *type, struct pawl_value *out)
{
    struct pawl_str name = pawl__json_str(json);
    int64_t number;

    if (pawl__json_is(json, PAWL_JSON_INT) && pawl__json_to_int(json, &number))
        return pawl__convert_to_enum(c, pawl__value_int(number), type, out);
    for (size_t i = 0; pawl__json_is(json, PAWL_JSON_STRING) && type->names[i]; i++) {
        if (pawl__str_equal_nocase(name, pawl__str(type->names[i]))) {
            *out = (struct pawl_value){.json = pawl__json_string(pawl__str(type->names[i])),
                                       .type = type};
            return PAWL_OK;
        }
    }
    return CONVERT_FAILED;
}

static int read_string_like(struct pawl_converting *c, const struct pawl_json *json,
                            const struct pawl_type *type, struct pawl_value *out)
{
    struct pawl_value text = {.json = *json, .type = &pawl__type_string};
    struct pawl_uuid uuid;
    int64_t ticks;

    if (!pawl__json_is(json, PAWL_JSON_STRING))
        return CONVERT_FAILED;
    if (type->kind == PAWL_TYPE_STRING) {
        *out = text;
        return PAWL_OK;
    }
    if (type->kind == PAWL_TYPE_BYTES)
        return pawl__convert_to_bytes(c, text, type, out);
    if (type->kind == PAWL_TYPE_GUID)
        return pawl__uuid_parse(pawl__json_str(json), &uuid, NULL) == PAWL_OK
                   ? pawl__convert_to_guid(c, text, type, out)
                   : CONVERT_FAILED;
    return pawl__duration_parse_constant(pawl__json_str(json), &ticks, NULL) == PAWL_OK
               ? pawl__convert_to_timespan(c, text, type, out)
               : CONVERT_FAILED;
}

/* ---- containers -------------------------------------------------------------------------- */

static int read_element(struct pawl_converting *c, const struct pawl_json *json,
                        const struct pawl_type *type, struct pawl_json *out)
{
    struct pawl_value value = {.json = *json, .type = &pawl__type_json_element};
    struct pawl_value result = pawl__value_null();
    int status;

    if (type->kind == PAWL_TYPE_OBJECT) {
        *out = *json;
        return PAWL_OK;
    }
    status = pawl__convert_from_json(c, value, type, &result);
    if (status == PAWL_OK)
        *out = result.json;
    return status;
}

static int read_collection(struct pawl_converting *c, const struct pawl_json *json,
                           const struct pawl_type *target, struct pawl_value *out)
{
    struct pawl_json array = pawl__json_array();
    const struct pawl_type *type = NULL;
    int status = pawl__convert_concrete(c, target, &type);

    if (!pawl__json_is(json, PAWL_JSON_ARRAY))
        return CONVERT_FAILED;
    if (status == PAWL_OK && target->element->kind == PAWL_TYPE_OBJECT)
        status = pawl__type_compound(c->arena, type->kind, &pawl__type_object_of_json, &type);
    for (uint32_t i = 0; i < pawl__json_len(json) && status == PAWL_OK; i++) {
        struct pawl_json item = pawl__json_null();

        status = read_element(c, pawl__json_at(json, i), target->element, &item);
        if (status == PAWL_OK)
            status = pawl__json_append(c->arena, &array, item);
    }
    if (status == PAWL_OK)
        status = pawl__convert_distinct(c, type, &array);
    if (status == PAWL_OK)
        *out = (struct pawl_value){.json = array, .type = type};
    return status;
}

static int read_as(const struct pawl_json *json, bool fits, const struct pawl_type *type,
                   struct pawl_value *out)
{
    if (!fits)
        return CONVERT_FAILED;
    *out = (struct pawl_value){.json = *json, .type = type};
    return PAWL_OK;
}

/* The values are of any kind, or all strings. */
static int read_dictionary(const struct pawl_json *json, const struct pawl_type *target,
                           struct pawl_value *out)
{
    bool of_objects = target->element->kind == PAWL_TYPE_OBJECT;

    if (!pawl__json_is(json, PAWL_JSON_OBJECT))
        return CONVERT_FAILED;
    for (uint32_t i = 0; i < pawl__json_len(json) && !of_objects; i++) {
        const struct pawl_json *item = pawl__json_at(json, i);

        if (!pawl__json_is(item, PAWL_JSON_STRING) && !pawl__json_is(item, PAWL_JSON_NULL))
            return CONVERT_FAILED;
    }
    return read_as(json, true, of_objects ? &pawl__type_object_map : &pawl__type_string_map, out);
}

int pawl__convert_from_json(struct pawl_converting *c, struct pawl_value value,
                            const struct pawl_type *target, struct pawl_value *out)
{
    const struct pawl_json *json = &value.json;
    const struct pawl_type *type = pawl__type_underlying(target);

    if (pawl__json_is(json, PAWL_JSON_NULL)) {
        *out = pawl__value_null();
        return pawl__type_is_value(target) ? CONVERT_FAILED : PAWL_OK;
    }
    switch (type->kind) {
    case PAWL_TYPE_OBJECT:
    case PAWL_TYPE_JSON_ELEMENT:
        return read_as(json, true, &pawl__type_json_element, out);
    case PAWL_TYPE_JSON_NODE:
        return read_as(json, true,
                       pawl__json_is(json, PAWL_JSON_ARRAY)    ? &pawl__type_json_array
                       : pawl__json_is(json, PAWL_JSON_OBJECT) ? &pawl__type_json_object
                                                               : type,
                       out);
    case PAWL_TYPE_JSON_ARRAY:
        return read_as(json, pawl__json_is(json, PAWL_JSON_ARRAY), type, out);
    case PAWL_TYPE_JSON_OBJECT:
    case PAWL_TYPE_EXPANDO:
    case PAWL_TYPE_NAMED:
        return read_as(json, pawl__json_is(json, PAWL_JSON_OBJECT), type, out);
    case PAWL_TYPE_BOOLEAN:
        return read_as(json, pawl__json_is(json, PAWL_JSON_BOOL), type, out);
    case PAWL_TYPE_INT16:
    case PAWL_TYPE_INT32:
    case PAWL_TYPE_INT64:
    case PAWL_TYPE_SINGLE:
    case PAWL_TYPE_DOUBLE:
    case PAWL_TYPE_DECIMAL:
        return read_number(c, json, type, out);
    case PAWL_TYPE_DATETIME:
    case PAWL_TYPE_DATETIMEOFFSET:
        return read_date(c, json, type, out);
    case PAWL_TYPE_ENUM:
        return read_enum(c, json, type, out);
    case PAWL_TYPE_STRING:
    case PAWL_TYPE_TIMESPAN:
    case PAWL_TYPE_GUID:
    case PAWL_TYPE_BYTES:
        return read_string_like(c, json, type, out);
    case PAWL_TYPE_IDICTIONARY:
    case PAWL_TYPE_DICTIONARY:
        return read_dictionary(json, type, out);
    case PAWL_TYPE_ARRAY:
    case PAWL_TYPE_LIST:
    case PAWL_TYPE_HASHSET:
    case PAWL_TYPE_COLLECTION:
    case PAWL_TYPE_IENUMERABLE:
    case PAWL_TYPE_ICOLLECTION:
    case PAWL_TYPE_ILIST:
    case PAWL_TYPE_IREADONLYCOLLECTION:
    case PAWL_TYPE_IREADONLYLIST:
    case PAWL_TYPE_ISET:
        return read_collection(c, json, type, out);
    case PAWL_TYPE_STREAM:
        break;
    }
    return CONVERT_FAILED;
}
