/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of the conversion rules; the rules themselves are in the files beside this one.
 *
 * First what depends on where a value comes from (already right, JSON, text that looks like JSON,
 * dates, objects), then one rule per kind of target, then the zero value of the target or, in
 * strict mode, an exception.
 */
#include "engine/convert/convert.h"

#include "engine/convert/rules.h"
#include "engine/value/number.h"

#include <stdarg.h>
#include <stdio.h>

#define DEPTH_MAX 32
/* Of a number as it is written: far above what a workflow should carry. */
#define NUMBER_TEXT_BYTES_MAX ((size_t)64 << 20)

/* ---- raising ----------------------------------------------------------------------------- */

int pawl__convert_raise(struct pawl_converting *c, const char *type, const char *format, ...)
{
    struct pawl_exception raised = {.type = pawl__str(type)};
    char message[1024];
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (len < 0)
        len = 0;
    if ((size_t)len >= sizeof message)
        len = (int)pawl__utf8_valid_prefix(pawl__str_make(message, sizeof message - 1));
    raised.message = pawl__arena_str(c->arena, pawl__str_make(message, (size_t)len));
    if (!raised.message.ptr)
        return c->arena->status;
    *c->raised = raised;
    return ENGINE_RAISED;
}

/* A message with the name of one type or two in it. */
static int raise_types(struct pawl_converting *c, const char *exception, const char *before,
                       const struct pawl_type *first, const char *between,
                       const struct pawl_type *second, const char *after)
{
    struct pawl_buf text;
    int status;

    pawl__buf_init(&text, c->arena->alloc, c->arena->max_bytes);
    pawl__buf_text(&text, before);
    if (first)
        pawl__type_write_clr(&text, first);
    pawl__buf_text(&text, between);
    pawl__type_write_clr(&text, second);
    pawl__buf_text(&text, after);
    status = text.status;
    if (status == PAWL_OK)
        status = pawl__convert_raise(c, exception, "%s", pawl__buf_cstr(&text));
    pawl__buf_release(&text);
    return status;
}

int pawl__convert_raise_text(struct pawl_converting *c, struct pawl_str text,
                             const struct pawl_type *target)
{
    const char *before =
        pawl__arena_printf(c->arena, "Failed to deserialize %.*s to ", PAWL_STR_ARG(text));

    if (!before)
        return c->arena->status;
    return raise_types(c, "TypeConversionException", before, NULL, "", target, "");
}

int pawl__convert_raise_json(struct pawl_converting *c, const struct pawl_type *target)
{
    return raise_types(c, "JsonException", "The JSON value could not be converted to ", NULL, "",
                       target, ". Path: $");
}

/* ---- values ------------------------------------------------------------------------------ */

int pawl__convert_text_value(struct pawl_converting *c, struct pawl_str text,
                             const struct pawl_type *type, struct pawl_value *out)
{
    struct pawl_value value = {.type = type};
    int status = pawl__json_string_copy(c->arena, text, &value.json);

    if (status == PAWL_OK)
        *out = value;
    return status;
}

int pawl__convert_take_string(struct pawl_converting *c, struct pawl_buf *buf,
                              struct pawl_value *out)
{
    int status = buf->status;

    if (status == PAWL_OK)
        status = pawl__convert_text_value(c, pawl__buf_peek(buf), &pawl__type_string, out);
    pawl__buf_release(buf);
    return status;
}

static struct pawl_value literal(const char *text, const struct pawl_type *type)
{
    return (struct pawl_value){.json = pawl__json_string(pawl__str(text)), .type = type};
}

struct pawl_value pawl__convert_default(const struct pawl_type *type)
{
    const char *name;

    if (!pawl__type_is_value(type))
        return pawl__value_null();
    if (pawl__type_is_numeric(type))
        return (struct pawl_value){.json = pawl__json_int(0), .type = type};
    if (type->kind == PAWL_TYPE_BOOLEAN)
        return pawl__value_bool(false);
    if (type->kind == PAWL_TYPE_DATETIME)
        return literal("0001-01-01T00:00:00", type);
    if (type->kind == PAWL_TYPE_DATETIMEOFFSET)
        return literal("0001-01-01T00:00:00+00:00", type);
    if (type->kind == PAWL_TYPE_TIMESPAN)
        return literal("00:00:00", type);
    if (type->kind == PAWL_TYPE_GUID)
        return literal("00000000-0000-0000-0000-000000000000", type);
    if (type->kind == PAWL_TYPE_ENUM) {
        name = pawl__type_enum_name(type, 0);
        return literal(name ? name : "0", type);
    }
    /* An undefined JsonElement: null, but not convertible. */
    return (struct pawl_value){.json = pawl__json_null(), .type = type};
}

/* ---- rules by source --------------------------------------------------------------------- */

static bool is_string_keyed(const struct pawl_value *value)
{
    enum pawl_type_kind kind = value->type->kind;

    if (!pawl__json_is(&value->json, PAWL_JSON_OBJECT))
        return false;
    return kind == PAWL_TYPE_EXPANDO || kind == PAWL_TYPE_NAMED ||
           ((kind == PAWL_TYPE_DICTIONARY || kind == PAWL_TYPE_IDICTIONARY) &&
            value->type->element->kind == PAWL_TYPE_OBJECT);
}

/* An array of references counts as an array of objects; so do read-only views of any sequence. */
static bool elements_assignable(const struct pawl_type *from, const struct pawl_type *to)
{
    bool varies = from->kind == PAWL_TYPE_ARRAY || to->kind == PAWL_TYPE_IENUMERABLE ||
                  to->kind == PAWL_TYPE_IREADONLYCOLLECTION || to->kind == PAWL_TYPE_IREADONLYLIST;

    if (pawl__type_equal(from->element, to->element))
        return true;
    return varies && to->element->kind == PAWL_TYPE_OBJECT && !from->element->nullable &&
           !pawl__type_is_value(from->element);
}

static bool implements(enum pawl_type_kind from, const struct pawl_type *to)
{
    bool set = from == PAWL_TYPE_HASHSET || from == PAWL_TYPE_ISET;

    if (to->kind == from)
        return true;
    if (!pawl__type_is_interface(to))
        return false;
    if (to->kind == PAWL_TYPE_ISET)
        return set;
    if (to->kind == PAWL_TYPE_ILIST || to->kind == PAWL_TYPE_IREADONLYLIST)
        return !set;
    return true;
}

/* Whether a value can be used as `target` without conversion. */
static bool assignable(const struct pawl_value *value, const struct pawl_type *target)
{
    const struct pawl_type *type = value->type;

    if (target->kind == PAWL_TYPE_OBJECT || pawl__type_equal(type, target))
        return true;
    if (target->kind == PAWL_TYPE_JSON_NODE)
        return type->kind == PAWL_TYPE_JSON_OBJECT || type->kind == PAWL_TYPE_JSON_ARRAY;
    if (target->kind == PAWL_TYPE_IDICTIONARY)
        return (type->kind == PAWL_TYPE_EXPANDO && target->element->kind == PAWL_TYPE_OBJECT) ||
               (type->kind == PAWL_TYPE_DICTIONARY && type->element->kind == target->element->kind);
    if (pawl__type_is_collection(type) && pawl__type_is_collection(target))
        return implements(type->kind, target) && elements_assignable(type, target);
    return false;
}

/* A JSON number as it is written, and a double as it would be: 1E+20. */
static int number_text(struct pawl_converting *c, struct pawl_json number, struct pawl_value *out)
{
    struct pawl_buf text;
    double real;

    pawl__buf_init(&text, c->arena->alloc, NUMBER_TEXT_BYTES_MAX);
    if (number.type == PAWL_JSON_DOUBLE && pawl__json_to_double(&number, &real))
        pawl__number_write_double(&text, real, false);
    else
        pawl__json_number_text(&number, &text);
    return pawl__convert_take_string(c, &text, out);
}

/* Deserialises, and raises when it does not fit. */
static int from_element(struct pawl_converting *c, struct pawl_value value,
                        const struct pawl_type *target, struct pawl_value *out)
{
    int status;

    if (target->kind == PAWL_TYPE_STRING && pawl__json_is_number(&value.json))
        return number_text(c, value.json, out);
    if (pawl__json_is(&value.json, PAWL_JSON_STRING) && target->kind != PAWL_TYPE_STRING)
        return pawl__convert_any(c, pawl__value_string(pawl__json_str(&value.json)), target, out);
    status = pawl__convert_from_json(c, value, target, out);
    return status == CONVERT_FAILED ? pawl__convert_raise_json(c, target) : status;
}

static int from_node(struct pawl_converting *c, struct pawl_value value,
                     const struct pawl_type *target, struct pawl_value *out)
{
    struct pawl_value plain = pawl__value_from_json(value.json);
    int status;

    if (pawl__json_is(&value.json, PAWL_JSON_ARRAY) && !pawl__type_is_collection(target))
        return CONVERT_FAILED;
    if (target->kind == PAWL_TYPE_STRING)
        return pawl__convert_to_string(c, value, target, out);
    if (pawl__type_is_numeric(target) && pawl__json_is_number(&value.json)) {
        status = number_text(c, value.json, &plain);
        return status == PAWL_OK ? pawl__convert_any(c, plain, target, out) : status;
    }
    status = pawl__convert_from_json(c, plain, target, out);
    return status == CONVERT_FAILED ? pawl__convert_raise_json(c, target) : status;
}

/* Text for what is no primitive: base64, or JSON when it looks like it. */
static int from_text(struct pawl_converting *c, struct pawl_value value,
                     const struct pawl_type *target, struct pawl_value *out)
{
    struct pawl_str text = pawl__json_str(&value.json);
    struct pawl_str trimmed = pawl__str_trim(text);
    struct pawl_value parsed = {.type = &pawl__type_json_element};
    int status;

    if (target->kind == PAWL_TYPE_BYTES)
        return pawl__convert_to_bytes(c, value, target, out);
    if (target->kind == PAWL_TYPE_BOOLEAN ||
        (pawl__type_is_numeric(target) && target->kind != PAWL_TYPE_DECIMAL))
        return CONVERT_FAILED;
    if (trimmed.len == 0 || (trimmed.ptr[0] != '{' && trimmed.ptr[0] != '['))
        return CONVERT_FAILED;
    status = pawl__json_parse(c->arena, text, NULL, &parsed.json, NULL, NULL);
    if (status == PAWL_OK)
        status = pawl__convert_from_json(c, parsed, target, out);
    if (c->arena->status != PAWL_OK)
        return c->arena->status;
    if (status == CONVERT_FAILED || status == PAWL_EPARSE || status == PAWL_ELIMIT)
        return pawl__convert_raise_text(c, text, target);
    return status;
}

/* An object with string keys into any class or interface, through its JSON. */
static int from_object(struct pawl_converting *c, struct pawl_value value,
                       const struct pawl_type *target, struct pawl_value *out)
{
    struct pawl_value text = pawl__value_null();
    int status;

    if (pawl__type_is_value(target))
        return CONVERT_FAILED;
    if (target->kind == PAWL_TYPE_STRING)
        return pawl__convert_to_string(c, value, target, out);
    status = pawl__convert_from_json(c, value, target, out);
    if (status != CONVERT_FAILED)
        return status;
    status = pawl__convert_to_string(c, value, &pawl__type_string, &text);
    if (status != PAWL_OK)
        return status;
    if (target->kind == PAWL_TYPE_BYTES)
        return pawl__convert_to_bytes(c, text, target, out);
    return pawl__convert_raise_text(c, pawl__json_str(&text.json), target);
}

static int from_source(struct pawl_converting *c, struct pawl_value value,
                       const struct pawl_type *target, struct pawl_value *out)
{
    switch (value.type->kind) {
    case PAWL_TYPE_JSON_ELEMENT:
        return from_element(c, value, target, out);
    case PAWL_TYPE_JSON_NODE:
    case PAWL_TYPE_JSON_OBJECT:
    case PAWL_TYPE_JSON_ARRAY:
        return from_node(c, value, target, out);
    case PAWL_TYPE_STRING:
        return from_text(c, value, target, out);
    case PAWL_TYPE_EXPANDO:
    case PAWL_TYPE_NAMED:
    case PAWL_TYPE_DICTIONARY:
    case PAWL_TYPE_IDICTIONARY:
        return is_string_keyed(&value) ? from_object(c, value, target, out) : CONVERT_FAILED;
    case PAWL_TYPE_OBJECT:
    case PAWL_TYPE_BOOLEAN:
    case PAWL_TYPE_INT16:
    case PAWL_TYPE_INT32:
    case PAWL_TYPE_INT64:
    case PAWL_TYPE_SINGLE:
    case PAWL_TYPE_DOUBLE:
    case PAWL_TYPE_DECIMAL:
    case PAWL_TYPE_DATETIME:
    case PAWL_TYPE_DATETIMEOFFSET:
    case PAWL_TYPE_TIMESPAN:
    case PAWL_TYPE_GUID:
    case PAWL_TYPE_BYTES:
    case PAWL_TYPE_STREAM:
    case PAWL_TYPE_ENUM:
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
        break;
    }
    return CONVERT_FAILED;
}

/* ---- rules by target --------------------------------------------------------------------- */

/* Kinds that are not here are made from JSON only. */
static int (*const by_target[])(struct pawl_converting *c, struct pawl_value value,
                                const struct pawl_type *target, struct pawl_value *out) = {
    [PAWL_TYPE_STRING] = pawl__convert_to_string,
    [PAWL_TYPE_BOOLEAN] = pawl__convert_to_boolean,
    [PAWL_TYPE_INT16] = pawl__convert_to_integer,
    [PAWL_TYPE_INT32] = pawl__convert_to_integer,
    [PAWL_TYPE_INT64] = pawl__convert_to_integer,
    [PAWL_TYPE_SINGLE] = pawl__convert_to_binary,
    [PAWL_TYPE_DOUBLE] = pawl__convert_to_binary,
    [PAWL_TYPE_DECIMAL] = pawl__convert_to_decimal,
    [PAWL_TYPE_DATETIME] = pawl__convert_to_date,
    [PAWL_TYPE_DATETIMEOFFSET] = pawl__convert_to_date,
    [PAWL_TYPE_TIMESPAN] = pawl__convert_to_timespan,
    [PAWL_TYPE_GUID] = pawl__convert_to_guid,
    [PAWL_TYPE_ENUM] = pawl__convert_to_enum,
    [PAWL_TYPE_ARRAY] = pawl__convert_to_collection,
    [PAWL_TYPE_LIST] = pawl__convert_to_collection,
    [PAWL_TYPE_HASHSET] = pawl__convert_to_collection,
    [PAWL_TYPE_COLLECTION] = pawl__convert_to_collection,
    [PAWL_TYPE_IENUMERABLE] = pawl__convert_to_collection,
    [PAWL_TYPE_ICOLLECTION] = pawl__convert_to_collection,
    [PAWL_TYPE_ILIST] = pawl__convert_to_collection,
    [PAWL_TYPE_IREADONLYCOLLECTION] = pawl__convert_to_collection,
    [PAWL_TYPE_IREADONLYLIST] = pawl__convert_to_collection,
    [PAWL_TYPE_ISET] = pawl__convert_to_collection,
    [PAWL_TYPE_NAMED] = NULL,
};

/* When nothing applied: blank text is null; then the zero value, or an exception. */
static int give_up(struct pawl_converting *c, struct pawl_value value,
                   const struct pawl_type *target, struct pawl_value *out)
{
    if (value.type->kind == PAWL_TYPE_STRING &&
        pawl__str_trim(pawl__json_str(&value.json)).len == 0) {
        *out = pawl__value_null();
        return PAWL_OK;
    }
    if (c->strict)
        return raise_types(c, "TypeConversionException", "Failed to convert an object of type ",
                           value.type, " to ", pawl__type_underlying(target), "");
    if (pawl__type_is_interface(target))
        return raise_types(c, "MissingMethodException",
                           "Cannot dynamically create an instance of type '", NULL, "", target,
                           "'. Reason: Cannot create an instance of an interface.");
    *out = pawl__convert_default(target);
    return PAWL_OK;
}

/* A null is null for every target; but an undefined JsonElement is not one that converts. */
static int convert_null(struct pawl_converting *c, struct pawl_value value,
                        const struct pawl_type *target, struct pawl_value *out)
{
    bool undefined = value.type && value.type->kind == PAWL_TYPE_JSON_ELEMENT;

    if (undefined && target->kind != PAWL_TYPE_OBJECT && target->kind != PAWL_TYPE_JSON_ELEMENT)
        return pawl__convert_raise(
            c, "InvalidOperationException",
            "Operation is not valid due to the current state of the object.");
    *out = undefined ? value : pawl__value_null();
    return PAWL_OK;
}

int pawl__convert_any(struct pawl_converting *c, struct pawl_value value,
                      const struct pawl_type *target, struct pawl_value *out)
{
    const struct pawl_type *wanted = pawl__type_underlying(target);
    int status;

    if (pawl__value_is_null(value))
        return convert_null(c, value, target, out);
    if (!value.type || value.type->kind == PAWL_TYPE_OBJECT)
        value.type = pawl__value_from_json(value.json).type;
    value.type = pawl__type_underlying(value.type);
    if (assignable(&value, wanted)) {
        *out = value;
        return PAWL_OK;
    }
    if (c->depth == DEPTH_MAX)
        return PAWL_ELIMIT;
    c->depth++;
    status = from_source(c, value, wanted, out);
    if (status == CONVERT_FAILED && by_target[wanted->kind])
        status = by_target[wanted->kind](c, value, wanted, out);
    if (status == CONVERT_FAILED)
        status = give_up(c, value, target, out);
    c->depth--;
    return status;
}

/* ---- front ------------------------------------------------------------------------------- */

static struct pawl_converting begin(const struct pawl_conversion *how,
                                    struct pawl_exception *raised)
{
    return (struct pawl_converting){.arena = how->arena, .strict = how->strict, .raised = raised};
}

int pawl__convert(const struct pawl_conversion *how, struct pawl_value value,
                  const struct pawl_type *target, struct pawl_value *out,
                  struct pawl_exception *raised)
{
    struct pawl_converting c = begin(how, raised);
    struct pawl_value result = pawl__value_null();
    int status = pawl__convert_any(&c, value, target, &result);

    if (status == PAWL_OK)
        *out = result;
    return status;
}

int pawl__convert_to_text(const struct pawl_conversion *how, struct pawl_value value,
                          struct pawl_buf *out, struct pawl_exception *raised)
{
    struct pawl_value text = pawl__value_null();
    int status = pawl__convert(how, value, &pawl__type_string, &text, raised);

    if (status != PAWL_OK)
        return status;
    pawl__buf_str(out, pawl__json_str(&text.json));
    return out->status;
}

int pawl__convert_to_bool(const struct pawl_conversion *how, struct pawl_value value, bool *out,
                          struct pawl_exception *raised)
{
    struct pawl_value result = pawl__value_null();
    int status = pawl__convert(how, value, &pawl__type_boolean, &result, raised);

    if (status == PAWL_OK)
        *out = pawl__json_true(&result.json);
    return status;
}
