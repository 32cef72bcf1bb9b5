/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays and objects that scripts return, read member by member: most of what a script makes is
 * plain, and reading it so costs a third of what going through its JSON text does. What is not
 * plain (dates, guids, maps, big numbers, objects that say themselves what they are as JSON) goes
 * through the script's own functions, separately if it is inside something plain.
 *
 * In a sealed realm only: there no script has changed what all objects inherit.
 *
 * What is larger than the limits below is given up: the engine bounds the text that it makes, by
 * fuel and memory, which reading from outside does not.
 */
#include "expressions/javascript/private.h"

#include <math.h>

#define VALUES_MAX 10000u
#define TEXT_BYTES_MAX ((size_t)256 << 10)
#define DEPTH_MAX 32u /* deeper things, and circles, are not plain */

/* Whole numbers up to here are exact as doubles; past it their digits are not all known. */
#define WHOLE_MAX 9007199254740992.0

struct reading {
    struct pawl_javascript_evaluation *e;
    struct pawl_quickjs *engine;
    uint32_t values;
    size_t text_bytes;
};

static enum pawl_javascript_read read_any(struct reading *r, struct pawl_js value, uint32_t depth,
                                          struct pawl_json *out);

static enum pawl_javascript_read refused(struct reading *r, int status)
{
    (void)pawl__javascript_fail(r->e, status);
    return PAWL_JAVASCRIPT_THREW;
}

static enum pawl_javascript_read end_of(struct reading *r, int status)
{
    return status == PAWL_OK ? PAWL_JAVASCRIPT_READ : refused(r, status);
}

/* ---- scalars ----------------------------------------------------------------------------- */

static enum pawl_javascript_read text_read(struct reading *r, bool done, struct pawl_str text)
{
    if (!done && r->e->arena->status != PAWL_OK)
        return refused(r, r->e->arena->status);
    if (!done)
        return PAWL_JAVASCRIPT_THREW;
    r->text_bytes += text.len;
    return r->text_bytes > TEXT_BYTES_MAX ? PAWL_JAVASCRIPT_NOT_READ : PAWL_JAVASCRIPT_READ;
}

static enum pawl_javascript_read read_string(struct reading *r, struct pawl_js value,
                                             struct pawl_json *out)
{
    struct pawl_str text = {"", 0};
    bool done = pawl__js_text(r->engine, value, r->e->arena, &text);

    *out = pawl__json_string(text);
    return text_read(r, done, text);
}

/* As its text would be read: whole numbers are integers. */
static bool read_number(double number, struct pawl_json *out)
{
    if (number >= -WHOLE_MAX && number <= WHOLE_MAX && number == (double)(int64_t)number)
        *out = pawl__json_int((int64_t)number);
    else if (fabs(number) < 1e15 && fabs(number) >= NET_PLAIN_MIN)
        *out = pawl__json_double(number);
    else
        return false;
    return true;
}

/* ---- containers -------------------------------------------------------------------------- */

/* By the script's own function, as it would be inside of a larger text. */
static enum pawl_javascript_read read_nested(struct reading *r, struct pawl_js value,
                                             uint32_t depth, struct pawl_json *out)
{
    struct pawl_js made = pawl__js_call(r->engine, r->e->js->roots.nested, &value, 1);
    enum pawl_javascript_read read = PAWL_JAVASCRIPT_THREW;
    struct pawl_json wrapped;
    struct pawl_json text;

    if (pawl__js_kind(made) == PAWL_JS_STRING)
        read = read_string(r, made, &text);
    pawl__js_free(r->engine, made);
    if (read != PAWL_JAVASCRIPT_READ)
        return read;
    if (!pawl__javascript_parse(r->e, pawl__json_str(&text), depth, &wrapped))
        return PAWL_JAVASCRIPT_THREW;
    *out = *pawl__json_get_text(&wrapped, "value");
    return PAWL_JAVASCRIPT_READ;
}

static enum pawl_javascript_read read_items(struct reading *r, struct pawl_js array, uint32_t depth,
                                            struct pawl_json *out)
{
    struct pawl_json items = pawl__json_array();
    int64_t length;

    if (!pawl__js_length(r->engine, array, &length))
        return PAWL_JAVASCRIPT_THREW;
    if (length > VALUES_MAX)
        return PAWL_JAVASCRIPT_NOT_READ;
    for (uint32_t i = 0; i < (uint32_t)length; i++) {
        struct pawl_js item = pawl__js_item(r->engine, array, i);
        struct pawl_json json = pawl__json_null();
        enum pawl_javascript_read read = read_any(r, item, depth + 1, &json);

        pawl__js_free(r->engine, item);
        if (read == PAWL_JAVASCRIPT_READ)
            read = end_of(r, pawl__json_append(r->e->arena, &items, json));
        if (read != PAWL_JAVASCRIPT_READ)
            return read;
    }
    *out = items;
    return PAWL_JAVASCRIPT_READ;
}

static enum pawl_javascript_read read_member(struct reading *r, struct pawl_js object,
                                             struct pawl_js_keys keys, uint32_t index,
                                             uint32_t depth, struct pawl_json *members)
{
    struct pawl_str key = {"", 0};
    bool named = pawl__js_key_text(r->engine, keys, index, r->e->arena, &key);
    enum pawl_javascript_read read = text_read(r, named, key);
    struct pawl_json json = pawl__json_null();
    struct pawl_js value;

    if (read != PAWL_JAVASCRIPT_READ)
        return read;
    value = pawl__js_member(r->engine, object, keys, index);
    read = read_any(r, value, depth + 1, &json);
    pawl__js_free(r->engine, value);
    if (read == PAWL_JAVASCRIPT_READ)
        read = end_of(r, pawl__json_add(r->e->arena, members, key, json));
    return read;
}

static enum pawl_javascript_read read_members(struct reading *r, struct pawl_js object,
                                              uint32_t depth, struct pawl_json *out)
{
    enum pawl_javascript_read read = PAWL_JAVASCRIPT_READ;
    struct pawl_json members = pawl__json_object();
    struct pawl_js_keys keys;

    if (!pawl__js_keys(r->engine, object, &keys))
        return PAWL_JAVASCRIPT_THREW;
    for (uint32_t i = 0; i < keys.count && read == PAWL_JAVASCRIPT_READ; i++)
        read = read_member(r, object, keys, i, depth, &members);
    pawl__js_keys_free(r->engine, keys);
    *out = members;
    return read;
}

/* An array, or an object that inherits from one of these, which has nothing to say on its JSON. */
static bool is_plain(struct reading *r, struct pawl_js value, bool is_array)
{
    const struct pawl_javascript_roots *roots = &r->e->js->roots;
    struct pawl_js parent;
    bool plain;

    if (pawl__js_has(r->engine, value, pawl__str("toJSON")))
        return false;
    if (is_array)
        return true;
    parent = pawl__js_prototype(r->engine, value);
    plain = pawl__js_same(parent, roots->plain) || pawl__js_same(parent, roots->expando);
    pawl__js_free(r->engine, parent);
    return plain;
}

static enum pawl_javascript_read read_any(struct reading *r, struct pawl_js value, uint32_t depth,
                                          struct pawl_json *out)
{
    bool is_array;

    if (++r->values > VALUES_MAX)
        return PAWL_JAVASCRIPT_NOT_READ;
    switch (pawl__js_kind(value)) {
    case PAWL_JS_UNDEFINED:
    case PAWL_JS_NULL:
        *out = pawl__json_null();
        return PAWL_JAVASCRIPT_READ;
    case PAWL_JS_BOOL:
        *out = pawl__json_bool(pawl__js_to_bool(value));
        return PAWL_JAVASCRIPT_READ;
    case PAWL_JS_NUMBER:
        if (read_number(pawl__js_to_double(value), out))
            return PAWL_JAVASCRIPT_READ;
        break;
    case PAWL_JS_STRING:
        return read_string(r, value, out);
    case PAWL_JS_OBJECT:
        is_array = pawl__js_is_array(r->engine, value);
        if (depth < DEPTH_MAX && is_plain(r, value, is_array))
            return is_array ? read_items(r, value, depth, out) : read_members(r, value, depth, out);
        break;
    case PAWL_JS_OTHER:
        break;
    case PAWL_JS_EXCEPTION:
        return PAWL_JAVASCRIPT_THREW;
    }
    return read_nested(r, value, depth, out);
}

/* Arrays of JSON stay what they are, outside of others. */
static bool is_json_array(struct reading *r, struct pawl_js array)
{
    struct pawl_js parent = pawl__js_prototype(r->engine, array);
    bool is = pawl__js_same(parent, r->e->js->roots.json_array);

    pawl__js_free(r->engine, parent);
    return is;
}

enum pawl_javascript_read pawl__javascript_read_object(struct pawl_javascript_evaluation *e,
                                                       struct pawl_js value, struct pawl_value *out)
{
    struct reading r = {.e = e, .engine = e->realm->engine};
    bool is_array = pawl__js_is_array(r.engine, value);
    enum pawl_javascript_read read = PAWL_JAVASCRIPT_NOT_READ;
    struct pawl_json json;

    if (!is_plain(&r, value, is_array) || (is_array && is_json_array(&r, value)))
        return read;
    read = is_array ? read_items(&r, value, 0, &json) : read_members(&r, value, 0, &json);
    if (read == PAWL_JAVASCRIPT_READ)
        *out = (struct pawl_value){
            .json = json, .type = is_array ? &pawl__type_object_array : &pawl__type_expando};
    return read;
}
