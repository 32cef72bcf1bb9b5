/* SPDX-License-Identifier: Apache-2.0 */
/* What a workflow's values are in a template, what they have as members, and how they compare. */
#include "expressions/liquid/value.h"

#include "base/base64.h"
#include "base/time/duration.h"
#include "engine/value/net_date.h"
#include "expressions/liquid/run.h"

/* What looking at one more member costs. */
#define BYTES_PER_MEMBER 8

/* ---- making ------------------------------------------------------------------------------ */

struct liquid_value pawl__liquid_int(int64_t value)
{
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    return pawl__liquid_decimal((struct pawl_net_decimal){.digits = size, .negative = value < 0});
}

struct liquid_value *pawl__liquid_values_new(struct liquid_run *run, size_t count)
{
    if (count > LIQUID_ARENA_BYTES_MAX / sizeof(struct liquid_value)) {
        run->arena->status = PAWL_ELIMIT;
        return NULL;
    }
    return pawl__arena_alloc_aligned(run->arena, (count + 1) * sizeof(struct liquid_value), 16);
}

/* A Double or Single becomes a decimal by its first 15 or 7 digits, a Decimal keeps all it has. */
static int from_number(struct liquid_run *run, struct pawl_value value, struct liquid_value *out)
{
    bool exact =
        value.json.type == PAWL_JSON_INT || (value.type && value.type->kind == PAWL_TYPE_DECIMAL);
    int digits = value.type && value.type->kind == PAWL_TYPE_SINGLE ? 7 : 15;
    struct pawl_net_decimal number;
    double real = 0;
    bool fits;

    if (exact)
        fits = pawl__net_decimal_from_json(&value.json, &number);
    else
        fits = pawl__json_to_double(&value.json, &real) &&
               pawl__net_decimal_from_double(real, digits, &number);
    if (!fits)
        return pawl__liquid_raise(run, "OverflowException",
                                  "Value was either too large or too small for a Decimal.");
    *out = pawl__liquid_decimal(number);
    return PAWL_OK;
}

/* A span of time shows as the moment that long after the first of January 1970. */
static struct liquid_value from_timespan(struct pawl_str text)
{
    struct liquid_value out = pawl__liquid_string(text);
    int64_t ticks;

    if (pawl__duration_parse(text, &ticks, NULL) != PAWL_OK)
        return out;
    ticks = ticks / PAWL_TICKS_PER_MS * PAWL_TICKS_PER_MS;
    if (!__builtin_add_overflow(ticks, PAWL_DATETIME_UNIX_EPOCH_TICKS, &ticks) &&
        pawl__datetime_from_utc_ticks(ticks, &out.u.date, NULL) == PAWL_OK)
        out.kind = LIQUID_DATE;
    else
        out = pawl__liquid_string(text);
    return out;
}

/* Bytes are an array of numbers. */
static int from_bytes(struct liquid_run *run, struct pawl_str text, struct liquid_value *out)
{
    unsigned char *bytes = pawl__arena_alloc(run->arena, text.len + 1);
    struct liquid_value *items;
    size_t count;

    if (!bytes)
        return pawl__liquid_refused(run);
    count = pawl__base64_decode(text, bytes);
    if (count == SIZE_MAX) {
        *out = pawl__liquid_string(text);
        return PAWL_OK;
    }
    items = pawl__liquid_values_new(run, count);
    if (!items)
        return pawl__liquid_refused(run);
    for (size_t i = 0; i < count; i++)
        items[i] = pawl__liquid_int(bytes[i]);
    *out = (struct liquid_value){.kind = LIQUID_ARRAY,
                                 .u.array = {.items = items, .count = (uint32_t)count}};
    return PAWL_OK;
}

static int from_string(struct liquid_run *run, struct pawl_value value, struct liquid_value *out)
{
    enum pawl_type_kind kind = value.type ? value.type->kind : PAWL_TYPE_STRING;
    struct pawl_str text = pawl__json_str(&value.json);

    *out = pawl__liquid_string(text);
    if (kind == PAWL_TYPE_BYTES)
        return from_bytes(run, text, out);
    if (kind == PAWL_TYPE_TIMESPAN)
        *out = from_timespan(text);
    else if ((kind == PAWL_TYPE_DATETIME || kind == PAWL_TYPE_DATETIMEOFFSET) &&
             pawl__datetime_parse(text, &out->u.date, NULL) == PAWL_OK)
        out->kind = LIQUID_DATE;
    else
        *out = pawl__liquid_string(text);
    return PAWL_OK;
}

/* A JSON node that is no collection is an object that only prints. */
static int from_node(struct liquid_run *run, const struct pawl_json *json, struct liquid_value *out)
{
    struct pawl_buf text;
    int status;

    if (pawl__json_is(json, PAWL_JSON_STRING)) {
        *out = pawl__liquid_string(pawl__json_str(json));
        out->kind = LIQUID_OPAQUE;
        return PAWL_OK;
    }
    pawl__liquid_text_begin(run, &text);
    pawl__json_write(&text, json, PAWL_JSON_ESCAPE_MINIMAL);
    status = pawl__liquid_text_end(run, &text, out);
    out->kind = LIQUID_OPAQUE;
    return status;
}

static bool is_node(const struct pawl_type *type)
{
    return type && (type->kind == PAWL_TYPE_JSON_NODE || type->kind == PAWL_TYPE_JSON_OBJECT ||
                    type->kind == PAWL_TYPE_JSON_ARRAY);
}

/* The type of what is in a collection or an object. Members of a node are nodes. */
static const struct pawl_type *inner_type(const struct pawl_type *type)
{
    if (!type)
        return NULL;
    if (is_node(type) || type->element == &pawl__type_object_of_json)
        return &pawl__type_json_node;
    if (pawl__type_is_collection(type) || type->kind == PAWL_TYPE_DICTIONARY ||
        type->kind == PAWL_TYPE_IDICTIONARY)
        return type->element && type->element->kind != PAWL_TYPE_OBJECT
                   ? pawl__type_underlying(type->element)
                   : NULL;
    return NULL;
}

static int from_container(struct liquid_run *run, const struct pawl_json *json,
                          const struct pawl_type *type, struct liquid_value *out)
{
    (void)run;
    *out = (struct liquid_value){.kind = json->type == PAWL_JSON_ARRAY ? LIQUID_JSON_ARRAY
                                                                       : LIQUID_JSON_OBJECT,
                                 .u.json = {.json = json, .element = inner_type(type)}};
    return PAWL_OK;
}

/* `json` lives as long as the rendering. */
static int from_json(struct liquid_run *run, const struct pawl_json *json,
                     const struct pawl_type *type, struct liquid_value *out)
{
    struct pawl_value value = {.json = *json, .type = type};

    switch (pawl__json_type(json)) {
    case PAWL_JSON_NULL:
        *out = pawl__liquid_nil();
        return PAWL_OK;
    case PAWL_JSON_ARRAY:
    case PAWL_JSON_OBJECT:
        return from_container(run, json, type, out);
    case PAWL_JSON_BOOL:
        if (is_node(type))
            return from_node(run, json, out);
        *out = pawl__liquid_bool(pawl__json_true(json));
        return PAWL_OK;
    case PAWL_JSON_STRING:
        return is_node(type) ? from_node(run, json, out) : from_string(run, value, out);
    case PAWL_JSON_INT:
    case PAWL_JSON_DOUBLE:
    case PAWL_JSON_NUMBER:
        break;
    }
    return is_node(type) ? from_node(run, json, out) : from_number(run, value, out);
}

int pawl__liquid_from_value(struct liquid_run *run, struct pawl_value value,
                            struct liquid_value *out)
{
    struct pawl_json *json = pawl__arena_alloc(run->arena, sizeof *json);

    if (!json)
        return pawl__liquid_refused(run);
    *json = value.json;
    return from_json(run, json, value.type, out);
}

/* ---- items ------------------------------------------------------------------------------- */

uint32_t pawl__liquid_count(const struct liquid_value *value)
{
    if (value->kind == LIQUID_ARRAY)
        return value->u.array.count;
    if (value->kind == LIQUID_JSON_ARRAY || value->kind == LIQUID_JSON_OBJECT)
        return pawl__json_len(value->u.json.json);
    return pawl__liquid_is_nil(value) ? 0 : 1;
}

static int pair(struct liquid_run *run, const struct liquid_value *value, uint32_t index,
                struct liquid_value *out)
{
    const struct pawl_json_member *member = pawl__json_member(value->u.json.json, index);
    struct liquid_value *items = pawl__liquid_values_new(run, 2);

    if (!items)
        return pawl__liquid_refused(run);
    items[0] = pawl__liquid_string(member->key);
    *out = (struct liquid_value){.kind = LIQUID_ARRAY, .u.array = {.items = items, .count = 2}};
    return from_json(run, &member->value, value->u.json.element, &items[1]);
}

int pawl__liquid_item(struct liquid_run *run, const struct liquid_value *value, uint32_t index,
                      struct liquid_value *out)
{
    if (value->kind == LIQUID_ARRAY)
        *out = value->u.array.items[index];
    else if (value->kind == LIQUID_JSON_ARRAY)
        return from_json(run, pawl__json_at(value->u.json.json, index), value->u.json.element, out);
    else if (value->kind == LIQUID_JSON_OBJECT)
        return pair(run, value, index, out);
    else
        *out = *value;
    return PAWL_OK;
}

/* ---- members ----------------------------------------------------------------------------- */

static int from_scope(struct liquid_run *run,
                      bool (*find)(void *ctx, struct pawl_str name, struct pawl_value *out),
                      struct pawl_str name, struct liquid_value *out)
{
    struct pawl_value value;
    int status = pawl__liquid_step(run, 1);

    *out = pawl__liquid_nil();
    if (status != PAWL_OK)
        return status;
    if (!find || !find(run->scope->ctx, name, &value))
        return PAWL_OK;
    return pawl__liquid_from_value(run, value, out);
}

static int root_member(struct liquid_run *run, struct pawl_str name, struct liquid_value *out)
{
    if (pawl__str_is(name, "Variables"))
        *out = (struct liquid_value){.kind = LIQUID_VARIABLES};
    else if (pawl__str_is(name, "Input"))
        *out = (struct liquid_value){.kind = LIQUID_INPUT};
    else
        return from_scope(run, run->scope->root, name, out);
    return PAWL_OK;
}

static struct liquid_value loop_member(const struct liquid_loop *loop, struct pawl_str name)
{
    if (pawl__str_is(name, "length"))
        return pawl__liquid_int(loop->length);
    if (pawl__str_is(name, "index"))
        return pawl__liquid_int((int64_t)loop->index + 1);
    if (pawl__str_is(name, "index0"))
        return pawl__liquid_int(loop->index);
    if (pawl__str_is(name, "rindex"))
        return pawl__liquid_int((int64_t)loop->length - loop->index);
    if (pawl__str_is(name, "rindex0"))
        return pawl__liquid_int((int64_t)loop->length - loop->index - 1);
    if (pawl__str_is(name, "first"))
        return pawl__liquid_bool(loop->index == 0);
    if (pawl__str_is(name, "last"))
        return pawl__liquid_bool(loop->index + 1 == loop->length);
    if (pawl__str_is(name, "parentloop") && loop->outer)
        return (struct liquid_value){.kind = LIQUID_LOOP, .u.loop = loop->outer};
    return pawl__liquid_nil();
}

static int array_member(struct liquid_run *run, const struct liquid_value *value,
                        struct pawl_str name, struct liquid_value *out)
{
    uint32_t count = pawl__liquid_count(value);

    *out = pawl__liquid_nil();
    if (pawl__str_is(name, "size"))
        *out = pawl__liquid_int(count);
    else if (pawl__str_is(name, "first") && count > 0)
        return pawl__liquid_item(run, value, 0, out);
    else if (pawl__str_is(name, "last") && count > 0)
        return pawl__liquid_item(run, value, count - 1, out);
    return PAWL_OK;
}

static struct liquid_value text_member(struct pawl_str text, struct pawl_str name)
{
    size_t start = 0;

    if (pawl__str_is(name, "size"))
        return pawl__liquid_int((int64_t)pawl__liquid_text_length(text));
    if (text.len == 0)
        return pawl__liquid_nil();
    if (pawl__str_is(name, "first")) {
        (void)pawl__utf8_next(text, &start);
        return pawl__liquid_string(pawl__str_slice(text, 0, start));
    }
    if (!pawl__str_is(name, "last"))
        return pawl__liquid_nil();
    start = text.len - 1;
    while (start > 0 && ((unsigned char)text.ptr[start] & 0xc0) == 0x80)
        start--;
    return pawl__liquid_string(pawl__str_slice(text, start, text.len));
}

static int object_member(struct liquid_run *run, const struct liquid_value *value,
                         struct pawl_str name, bool by_index, struct liquid_value *out)
{
    const struct pawl_json *member;

    *out = pawl__liquid_nil();
    if (pawl__liquid_charge(run, (size_t)pawl__json_len(value->u.json.json) * BYTES_PER_MEMBER))
        return pawl__liquid_step(run, 0);
    member = pawl__json_get(value->u.json.json, name);
    if (!by_index && pawl__str_is(name, "size"))
        *out = pawl__liquid_int(pawl__json_len(value->u.json.json));
    else if (member)
        return from_json(run, member, value->u.json.element, out);
    return PAWL_OK;
}

int pawl__liquid_member(struct liquid_run *run, const struct liquid_value *value,
                        struct pawl_str name, struct liquid_value *out)
{
    switch (value->kind) {
    case LIQUID_ROOT:
        return root_member(run, name, out);
    case LIQUID_VARIABLES:
        return from_scope(run, run->scope->variable, name, out);
    case LIQUID_INPUT:
        return from_scope(run, run->scope->input, name, out);
    case LIQUID_JSON_OBJECT:
        return object_member(run, value, name, false, out);
    case LIQUID_ARRAY:
    case LIQUID_JSON_ARRAY:
        return array_member(run, value, name, out);
    case LIQUID_LOOP:
        *out = loop_member(value->u.loop, name);
        return PAWL_OK;
    case LIQUID_STRING:
        if (pawl__liquid_charge(run, value->u.text.len))
            return pawl__liquid_step(run, 0);
        *out = text_member(value->u.text, name);
        return PAWL_OK;
    case LIQUID_NIL:
    case LIQUID_BLANK:
    case LIQUID_EMPTY:
    case LIQUID_BOOL:
    case LIQUID_NUMBER:
    case LIQUID_DATE:
    case LIQUID_OPAQUE:
        break;
    }
    *out = pawl__liquid_nil();
    return PAWL_OK;
}

static int array_index(struct liquid_run *run, const struct liquid_value *value,
                       const struct liquid_value *index, struct liquid_value *out)
{
    struct pawl_net_decimal number;
    int64_t count = pawl__liquid_count(value);
    int64_t at;
    int status = pawl__liquid_to_number(run, index, &number);

    *out = pawl__liquid_nil();
    if (status != PAWL_OK || !pawl__net_decimal_to_int(&number, &at))
        return status;
    if (at < 0)
        at += count;
    return at >= 0 && at < count ? pawl__liquid_item(run, value, (uint32_t)at, out) : PAWL_OK;
}

int pawl__liquid_index(struct liquid_run *run, const struct liquid_value *value,
                       const struct liquid_value *index, struct liquid_value *out)
{
    struct pawl_str name;
    int status;

    *out = pawl__liquid_nil();
    if (pawl__liquid_is_array(value))
        return array_index(run, value, index, out);
    if (value->kind == LIQUID_STRING)
        return PAWL_OK;
    status = pawl__liquid_to_text(run, index, &name);
    if (status != PAWL_OK)
        return status;
    return value->kind == LIQUID_JSON_OBJECT ? object_member(run, value, name, true, out)
                                             : pawl__liquid_member(run, value, name, out);
}
