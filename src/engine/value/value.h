/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A value of a workflow: JSON with the type it has at run time.
 *
 * The JSON part is always what the value is worth when stored or handed to a script:
 *
 *     String, Guid, Uri          a string
 *     Boolean, numbers           a boolean, a number
 *     DateTime, DateTimeOffset   a string in ISO 8601 as Elsa stores it
 *     TimeSpan                   a string, [-][d.]hh:mm:ss[.fffffff]
 *     enum                       a string, the member's name
 *     byte[]                     a string, base64
 *     collections                an array
 *     dictionaries, objects      an object
 *
 * The type distinguishes what JSON cannot: it decides how the value prints and converts. `type`
 * NULL goes with null (but an undefined JsonElement, the zero value of its type, is null with that
 * type). A Single holds the double with its shortest text, 0.1; what a script sees of it is the
 * float. A Double may be infinite or not a number, which JSON cannot say: see
 * pawl__value_is_finite(). Values are passed by value; what they point to lives in some arena, of
 * the burst or of the graph, and is never changed in place: a change builds a new value.
 */
#ifndef PAWL_ENGINE_VALUE_VALUE_H
#define PAWL_ENGINE_VALUE_VALUE_H

#include "base/json/json.h"
#include "engine/value/type.h"

struct pawl_value {
    struct pawl_json json;
    const struct pawl_type *type;
};

static inline struct pawl_value pawl__value_null(void)
{
    return (struct pawl_value){.json = {.type = PAWL_JSON_NULL}, .type = NULL};
}

static inline bool pawl__value_is_null(struct pawl_value value)
{
    return value.json.type == PAWL_JSON_NULL;
}

struct pawl_value pawl__value_bool(bool value);
struct pawl_value pawl__value_int(int64_t value); /* Int32 when it fits, else Int64 */
struct pawl_value pawl__value_double(double value);
/* Borrows NUL-terminated UTF-8 that lives as long as the value. */
struct pawl_value pawl__value_string(struct pawl_str s);

/*
 * The run-time type that plain JSON has when nothing else is known: string, boolean, Int64 or
 * Double, Object[] for arrays, a dynamic object for objects. What a reader of stored data sees.
 */
struct pawl_value pawl__value_from_json(struct pawl_json json);

/* The same as a JSON node: JsonArray, JsonObject, or a JsonNode around what is neither. */
struct pawl_value pawl__value_node(struct pawl_json json);

/* Whether the JSON can be written: no number in it is infinite or not a number. */
bool pawl__value_is_finite(const struct pawl_json *json);

/*
 * Stored form, polymorphic as Elsa writes it: scalars plain; objects of registered types
 * with `_type` last; arrays {"_items":[…],"_type":"Object[]"}; lists and sets the same with their
 * alias; JsonObject and JsonArray as islands {"_island":"text","_type":…}; dynamic objects plain,
 * with the arrays in them as above. A `$` in a key of a user's object is written `\\$`, so that
 * nothing in there looks like a reference.
 *
 * Reading accepts that, `$values` for `_items`, and plain arrays; `$id` is dropped, and `$ref` is
 * PAWL_EPARSE: the document it is from goes through pawl__json_unreference() first. PAWL_EPARSE
 * also for an unknown `_type` and an island that is not JSON.
 */
PAWL_MUST_CHECK int pawl__value_write(struct pawl_arena *arena, struct pawl_value value,
                                      struct pawl_json *out);
PAWL_MUST_CHECK int pawl__value_read(struct pawl_arena *arena, const struct pawl_json *stored,
                                     struct pawl_value *out, struct pawl_error *err);

/*
 * Plain stored form, as in `Variables`: the JSON of a value with `$` in keys escaped, and back.
 * Share what they are given where nothing needs to change.
 */
PAWL_MUST_CHECK int pawl__value_write_plain(struct pawl_arena *arena, const struct pawl_json *json,
                                            struct pawl_json *out);
PAWL_MUST_CHECK int pawl__value_read_plain(struct pawl_arena *arena, const struct pawl_json *stored,
                                           struct pawl_json *out);

/*
 * Removes the reference format from a document, so that the rest of the engine sees plain arrays
 * and objects: `$id` goes, {"$values":[…]} becomes its array, with a `_type`
 * {"_items":[…],"_type":…}, and {"$ref":"n"} becomes what has that id. Escaped keys (`\\$`) stay:
 * they are a user's. Shares the input where there are no references. PAWL_EPARSE for a $ref to
 * nothing (an id must come first) or to something around it; PAWL_ELIMIT when the result would be
 * too deep or larger than PAWL_UNREFERENCE_NODES_MAX.
 */
#define PAWL_UNREFERENCE_NODES_MAX 10000000
PAWL_MUST_CHECK int pawl__json_unreference(struct pawl_arena *arena, const struct pawl_json *in,
                                           struct pawl_json *out, struct pawl_error *err);

#endif
