/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values: making them, and their stored form both ways. References between stored objects are
 * unreference.c's.
 *
 * Writing and reading change a copy in place, so that a large object costs one pass.
 */
#include "engine/value/value.h"

#include "base/error.h"

/* ---- making ------------------------------------------------------------------------------ */

struct pawl_value pawl__value_bool(bool value)
{
    return (struct pawl_value){.json = pawl__json_bool(value), .type = &pawl__type_boolean};
}

struct pawl_value pawl__value_int(int64_t value)
{
    bool narrow = value >= INT32_MIN && value <= INT32_MAX;

    return (struct pawl_value){.json = pawl__json_int(value),
                               .type = narrow ? &pawl__type_int32 : &pawl__type_int64};
}

struct pawl_value pawl__value_double(double value)
{
    return (struct pawl_value){.json = pawl__json_double(value), .type = &pawl__type_double};
}

struct pawl_value pawl__value_string(struct pawl_str s)
{
    return (struct pawl_value){.json = pawl__json_string(s), .type = &pawl__type_string};
}

struct pawl_value pawl__value_from_json(struct pawl_json json)
{
    static const struct pawl_type *const types[] = {
        [PAWL_JSON_NULL] = NULL,
        [PAWL_JSON_BOOL] = &pawl__type_boolean,
        [PAWL_JSON_INT] = &pawl__type_int64,
        [PAWL_JSON_DOUBLE] = &pawl__type_double,
        [PAWL_JSON_NUMBER] = &pawl__type_double,
        [PAWL_JSON_STRING] = &pawl__type_string,
        [PAWL_JSON_ARRAY] = &pawl__type_object_array,
        [PAWL_JSON_OBJECT] = &pawl__type_expando,
    };

    return (struct pawl_value){.json = json, .type = types[pawl__json_type(&json)]};
}

struct pawl_value pawl__value_node(struct pawl_json json)
{
    const struct pawl_type *type = json.type == PAWL_JSON_ARRAY    ? &pawl__type_json_array
                                   : json.type == PAWL_JSON_OBJECT ? &pawl__type_json_object
                                   : json.type == PAWL_JSON_NULL   ? NULL
                                                                   : &pawl__type_json_node;

    return (struct pawl_value){.json = json, .type = type};
}

bool pawl__value_is_finite(const struct pawl_json *json)
{
    double real;

    if (pawl__json_is(json, PAWL_JSON_DOUBLE) && pawl__json_to_double(json, &real))
        return real - real == 0;
    for (uint32_t i = 0; i < pawl__json_len(json); i++) {
        if (!pawl__value_is_finite(pawl__json_at(json, i)))
            return false;
    }
    return true;
}

/* ---- keys -------------------------------------------------------------------------------- */

static bool has_key_with(const struct pawl_json *json, char byte)
{
    bool object = pawl__json_is(json, PAWL_JSON_OBJECT);

    for (uint32_t i = 0; i < pawl__json_len(json); i++) {
        if (object && pawl__str_find(pawl__json_member(json, i)->key, byte, 0) != SIZE_MAX)
            return true;
        if (has_key_with(pawl__json_at(json, i), byte))
            return true;
    }
    return false;
}

/* `$` to `\$`, or back. */
static int rewrite_key(struct pawl_arena *arena, struct pawl_str *key, bool escape)
{
    size_t len = 0;
    char *text;

    if (pawl__str_find(*key, '$', 0) == SIZE_MAX)
        return PAWL_OK;
    text = pawl__arena_alloc_aligned(arena, key->len * 2 + 1, 1);
    if (!text)
        return arena->status;
    for (size_t i = 0; i < key->len; i++) {
        if (escape && key->ptr[i] == '$')
            text[len++] = '\\';
        if (!escape && key->ptr[i] == '\\' && i + 1 < key->len && key->ptr[i + 1] == '$')
            continue;
        text[len++] = key->ptr[i];
    }
    text[len] = '\0';
    *key = pawl__str_make(text, len);
    return PAWL_OK;
}

/* All keys of a tree that nobody else has. */
static int rewrite_keys(struct pawl_arena *arena, struct pawl_json *json, bool escape)
{
    bool object = pawl__json_is(json, PAWL_JSON_OBJECT);
    int status = PAWL_OK;

    for (uint32_t i = 0; i < pawl__json_len(json) && status == PAWL_OK; i++) {
        if (object)
            status = rewrite_key(arena, &pawl__json_member(json, i)->key, escape);
        if (status == PAWL_OK)
            status = rewrite_keys(arena, pawl__json_at(json, i), escape);
    }
    return status;
}

static int rewrite_plain(struct pawl_arena *arena, const struct pawl_json *json, bool escape,
                         struct pawl_json *out)
{
    struct pawl_json copy = *json;
    int status = PAWL_OK;

    if (has_key_with(json, '$')) {
        status = pawl__json_copy(arena, json, &copy);
        if (status == PAWL_OK)
            status = rewrite_keys(arena, &copy, escape);
    }
    if (status == PAWL_OK)
        *out = copy;
    return status;
}

int pawl__value_write_plain(struct pawl_arena *arena, const struct pawl_json *json,
                            struct pawl_json *out)
{
    return rewrite_plain(arena, json, true, out);
}

int pawl__value_read_plain(struct pawl_arena *arena, const struct pawl_json *stored,
                           struct pawl_json *out)
{
    return rewrite_plain(arena, stored, false, out);
}

/* ---- writing ----------------------------------------------------------------------------- */

static int set_type(struct pawl_arena *arena, struct pawl_json *object,
                    const struct pawl_type *type)
{
    struct pawl_json alias = pawl__json_null();
    struct pawl_buf text;
    int status;

    pawl__buf_init(&text, arena->alloc, 4096);
    pawl__type_write(&text, type);
    status = text.status;
    if (status == PAWL_OK)
        status = pawl__json_string_copy(arena, pawl__buf_peek(&text), &alias);
    if (status == PAWL_OK)
        status = pawl__json_set_text(arena, object, "_type", alias);
    pawl__buf_release(&text);
    return status;
}

/* {"_items":[…],"_type":…} */
static int wrap(struct pawl_arena *arena, struct pawl_json items, const struct pawl_type *type,
                struct pawl_json *out)
{
    struct pawl_json object = pawl__json_object();
    int status = pawl__json_set_text(arena, &object, "_items", items);

    if (status == PAWL_OK)
        status = set_type(arena, &object, type);
    if (status == PAWL_OK)
        *out = object;
    return status;
}

/* Arrays inside what may hold anything say what they are. */
static int wrap_nested(struct pawl_arena *arena, struct pawl_json *json)
{
    for (uint32_t i = 0; i < pawl__json_len(json); i++) {
        struct pawl_json *item = pawl__json_at(json, i);
        int status = wrap_nested(arena, item);

        if (status == PAWL_OK && pawl__json_is(item, PAWL_JSON_ARRAY))
            status = wrap(arena, *item, &pawl__type_object_array, item);
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

static int write_island(struct pawl_arena *arena, const struct pawl_json *json,
                        struct pawl_json *out)
{
    bool array = pawl__json_is(json, PAWL_JSON_ARRAY);
    struct pawl_json object = pawl__json_object();
    struct pawl_json island = pawl__json_null();
    struct pawl_json_writer writer;
    struct pawl_buf text;
    int status;

    pawl__buf_init(&text, arena->alloc, arena->max_bytes);
    pawl__json_writer_init(&writer, &text, PAWL_JSON_ESCAPE_ASCII, 2);
    pawl__json_write_value(&writer, json);
    status = text.status;
    if (status == PAWL_OK)
        status = pawl__json_string_copy(arena, pawl__buf_peek(&text), &island);
    if (status == PAWL_OK)
        status = pawl__json_set_text(arena, &object, "_island", island);
    if (status == PAWL_OK)
        status = set_type(arena, &object, array ? &pawl__type_json_array : &pawl__type_json_object);
    pawl__buf_release(&text);
    if (status == PAWL_OK)
        *out = object;
    return status;
}

static bool is_dom(const struct pawl_type *type)
{
    return type->kind == PAWL_TYPE_JSON_NODE || type->kind == PAWL_TYPE_JSON_OBJECT ||
           type->kind == PAWL_TYPE_JSON_ARRAY;
}

int pawl__value_write(struct pawl_arena *arena, struct pawl_value value, struct pawl_json *out)
{
    const struct pawl_type *type = value.type;
    struct pawl_json copy = pawl__json_null();
    bool mixed;
    int status;

    if (!type || value.json.type < PAWL_JSON_ARRAY) {
        *out = value.json;
        return PAWL_OK;
    }
    if (is_dom(type))
        return write_island(arena, &value.json, out);
    status = pawl__json_copy(arena, &value.json, &copy);
    if (status == PAWL_OK)
        status = rewrite_keys(arena, &copy, true);
    mixed = type->kind == PAWL_TYPE_EXPANDO || type->kind == PAWL_TYPE_OBJECT ||
            (pawl__type_is_collection(type) && type->element->kind == PAWL_TYPE_OBJECT);
    if (status == PAWL_OK && mixed)
        status = wrap_nested(arena, &copy);
    if (status == PAWL_OK && pawl__json_is(&copy, PAWL_JSON_ARRAY))
        status = wrap(arena, copy, pawl__type_is_collection(type) ? type : &pawl__type_object_array,
                      &copy);
    else if (status == PAWL_OK &&
             (type->kind == PAWL_TYPE_NAMED || type->kind == PAWL_TYPE_DICTIONARY))
        status = set_type(arena, &copy, type);
    else if (status == PAWL_OK && type->kind == PAWL_TYPE_IDICTIONARY)
        status = set_type(arena, &copy,
                          type->element->kind == PAWL_TYPE_STRING ? &pawl__type_string_map
                                                                  : &pawl__type_object_map);
    if (status == PAWL_OK)
        *out = copy;
    return status;
}

/* ---- reading ----------------------------------------------------------------------------- */

static int unwrap_members(struct pawl_arena *arena, struct pawl_json *json, struct pawl_error *err);

static int parse_island(struct pawl_arena *arena, const struct pawl_json *island,
                        struct pawl_json *out, struct pawl_error *err)
{
    int status;

    if (!pawl__json_is(island, PAWL_JSON_STRING))
        return pawl__error_set(err, PAWL_EPARSE,
                               "stored value: _island is a %s, a string was expected",
                               pawl__json_type_name(island));
    status = pawl__json_parse(arena, pawl__json_str(island), NULL, out, NULL, err);
    return status == PAWL_OK ? PAWL_OK : pawl__error_prefix(err, status, "stored value: _island");
}

/* Takes the marks off one value of a tree that nobody else has. */
static int unwrap(struct pawl_arena *arena, struct pawl_json *json, struct pawl_error *err)
{
    struct pawl_json *inner;

    if (!pawl__json_is(json, PAWL_JSON_OBJECT))
        return unwrap_members(arena, json, err);
    if (pawl__json_get_text(json, "$ref"))
        return pawl__error_set(err, PAWL_EPARSE,
                               "stored value: has a $ref, which means something only in its whole "
                               "document; resolve the document's references first");
    inner = pawl__json_get_text(json, "_island");
    if (inner && pawl__json_get_text(json, "_type"))
        return parse_island(arena, inner, json, err);
    inner = pawl__json_get_text(json, "_items");
    if (!inner || !pawl__json_get_text(json, "_type"))
        inner = pawl__json_get_text(json, "$values");
    if (inner && pawl__json_is(inner, PAWL_JSON_ARRAY)) {
        *json = *inner;
    } else {
        (void)pawl__json_remove(json, pawl__str("_type"));
        (void)pawl__json_remove(json, pawl__str("$id"));
    }
    return unwrap_members(arena, json, err);
}

static int unwrap_members(struct pawl_arena *arena, struct pawl_json *json, struct pawl_error *err)
{
    bool object = pawl__json_is(json, PAWL_JSON_OBJECT);
    int status = PAWL_OK;

    for (uint32_t i = 0; i < pawl__json_len(json) && status == PAWL_OK; i++) {
        if (object)
            status = rewrite_key(arena, &pawl__json_member(json, i)->key, false);
        if (status == PAWL_OK)
            status = unwrap(arena, pawl__json_at(json, i), err);
    }
    return status;
}

/* The type of a stored object or array: its `_type`, or what plain JSON has. */
static int stored_type(struct pawl_arena *arena, const struct pawl_json *stored,
                       const struct pawl_type **out, struct pawl_error *err)
{
    struct pawl_str alias = pawl__json_str(pawl__json_get_text(stored, "_type"));
    int status;

    *out = NULL;
    if (alias.len == 0)
        return PAWL_OK;
    status = pawl__type_find(arena, alias, out);
    if (status == PAWL_ENOTFOUND)
        return pawl__error_set(err, PAWL_EPARSE, "stored value: _type \"%.*s\" is not known",
                               PAWL_STR_ARG(alias));
    return status;
}

int pawl__value_read(struct pawl_arena *arena, const struct pawl_json *stored,
                     struct pawl_value *out, struct pawl_error *err)
{
    const struct pawl_type *type = NULL;
    struct pawl_value value;
    int status;

    if (stored->type < PAWL_JSON_ARRAY) {
        *out = pawl__value_from_json(*stored);
        return PAWL_OK;
    }
    status = stored_type(arena, stored, &type, err);
    if (status == PAWL_OK)
        status = pawl__json_copy(arena, stored, &value.json);
    if (status == PAWL_OK)
        status = unwrap(arena, &value.json, err);
    if (status != PAWL_OK)
        return status;
    value.type = type ? type : pawl__value_from_json(value.json).type;
    *out = value;
    return PAWL_OK;
}
