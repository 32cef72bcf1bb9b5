/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owns the types there are, their aliases, and the making of compound ones. What Elsa's
 * own names for them look like (System.Int32, …) is in type_clr.c.
 *
 * Everything here is constant, so that threads share it.
 */
#include "engine/value/type.h"

#include "engine/value/type_names.h"

#include <pawl/error.h>

#define NESTING_MAX 16

/* ---- constants --------------------------------------------------------------------------- */

#define SCALAR(name, kind_, alias_)                                                                \
    const struct pawl_type pawl__type_##name = {.kind = (kind_), .alias = (alias_)}

SCALAR(object, PAWL_TYPE_OBJECT, "Object");
SCALAR(object_of_json, PAWL_TYPE_OBJECT, "Object");
SCALAR(string, PAWL_TYPE_STRING, "String");
SCALAR(boolean, PAWL_TYPE_BOOLEAN, "Boolean");
SCALAR(int16, PAWL_TYPE_INT16, "Int16");
SCALAR(int32, PAWL_TYPE_INT32, "Int32");
SCALAR(int64, PAWL_TYPE_INT64, "Int64");
SCALAR(single, PAWL_TYPE_SINGLE, "Single");
SCALAR(double, PAWL_TYPE_DOUBLE, "Double");
SCALAR(decimal, PAWL_TYPE_DECIMAL, "Decimal");
SCALAR(datetime, PAWL_TYPE_DATETIME, "DateTime");
SCALAR(datetimeoffset, PAWL_TYPE_DATETIMEOFFSET, "DateTimeOffset");
SCALAR(timespan, PAWL_TYPE_TIMESPAN, "TimeSpan");
SCALAR(guid, PAWL_TYPE_GUID, "Guid");
SCALAR(bytes, PAWL_TYPE_BYTES, "ByteArray");
SCALAR(stream, PAWL_TYPE_STREAM, "Stream");
SCALAR(expando, PAWL_TYPE_EXPANDO, "JSON");
SCALAR(json_element, PAWL_TYPE_JSON_ELEMENT, "JsonElement");
SCALAR(json_node, PAWL_TYPE_JSON_NODE, "JsonNode");
SCALAR(json_object, PAWL_TYPE_JSON_OBJECT, "JsonObject");
SCALAR(json_array, PAWL_TYPE_JSON_ARRAY, "JsonArray");

const struct pawl_type pawl__type_object_dictionary = {
    .kind = PAWL_TYPE_IDICTIONARY, .alias = "ObjectDictionary", .element = &pawl__type_object};
const struct pawl_type pawl__type_string_dictionary = {
    .kind = PAWL_TYPE_IDICTIONARY, .alias = "StringDictionary", .element = &pawl__type_string};
const struct pawl_type pawl__type_object_map = {
    .kind = PAWL_TYPE_DICTIONARY, .alias = "ObjectMap", .element = &pawl__type_object};
const struct pawl_type pawl__type_string_map = {
    .kind = PAWL_TYPE_DICTIONARY, .alias = "StringMap", .element = &pawl__type_string};

const struct pawl_type pawl__type_object_array = {.kind = PAWL_TYPE_ARRAY,
                                                  .element = &pawl__type_object};
const struct pawl_type pawl__type_string_array = {.kind = PAWL_TYPE_ARRAY,
                                                  .element = &pawl__type_string};
const struct pawl_type pawl__type_object_list = {.kind = PAWL_TYPE_ICOLLECTION,
                                                 .element = &pawl__type_object};
const struct pawl_type pawl__type_string_list = {.kind = PAWL_TYPE_ICOLLECTION,
                                                 .element = &pawl__type_string};

static const char *const flow_join_modes[] = {"WaitAll", "WaitAllActive", "WaitAny", NULL};
const struct pawl_type pawl__type_flow_join_mode = {
    .kind = PAWL_TYPE_ENUM, .alias = "FlowJoinMode", .names = flow_join_modes};

static const char *const switch_modes[] = {"MatchFirst", "MatchAny", NULL};
const struct pawl_type pawl__type_switch_mode = {
    .kind = PAWL_TYPE_ENUM, .alias = "SwitchMode", .names = switch_modes};

#define STATUS_NAME(name, number) #name,
#define STATUS_NUMBER(name, number) (number),
static const char *const http_status_names[] = {PAWL_HTTP_STATUS_LIST(STATUS_NAME) NULL};
static const int32_t http_status_numbers[] = {PAWL_HTTP_STATUS_LIST(STATUS_NUMBER)};
const struct pawl_type pawl__type_http_status_code = {.kind = PAWL_TYPE_ENUM,
                                                      .alias = "HttpStatusCode",
                                                      .names = http_status_names,
                                                      .numbers = http_status_numbers};

static const struct pawl_type *const scalars[] = {
    &pawl__type_object,
    &pawl__type_string,
    &pawl__type_boolean,
    &pawl__type_int16,
    &pawl__type_int32,
    &pawl__type_int64,
    &pawl__type_single,
    &pawl__type_double,
    &pawl__type_decimal,
    &pawl__type_datetime,
    &pawl__type_datetimeoffset,
    &pawl__type_timespan,
    &pawl__type_guid,
    &pawl__type_bytes,
    &pawl__type_stream,
    &pawl__type_expando,
    &pawl__type_json_element,
    &pawl__type_json_node,
    &pawl__type_json_object,
    &pawl__type_json_array,
    &pawl__type_object_dictionary,
    &pawl__type_string_dictionary,
    &pawl__type_object_map,
    &pawl__type_string_map,
    &pawl__type_flow_join_mode,
    &pawl__type_switch_mode,
    &pawl__type_http_status_code,
};

/* Registered by Elsa's modules; to the engine they are names. */
#define NAMED_TYPE(alias_) {.kind = PAWL_TYPE_NAMED, .alias = (alias_)},
static const struct pawl_type named[] = {PAWL_NAMED_TYPE_LIST(NAMED_TYPE)};

struct collection_name {
    const char *name;
    enum pawl_type_kind kind;
    const char *written; /* what Elsa writes for it */
};

static const struct collection_name collections[] = {
    {"List", PAWL_TYPE_LIST, "List"},
    {"HashSet", PAWL_TYPE_HASHSET, "HashSet"},
    {"Collection", PAWL_TYPE_COLLECTION, "Collection"},
    {"IEnumerable", PAWL_TYPE_IENUMERABLE, "List"},
    {"ICollection", PAWL_TYPE_ICOLLECTION, "List"},
    {"IList", PAWL_TYPE_ILIST, "List"},
    {"IReadOnlyCollection", PAWL_TYPE_IREADONLYCOLLECTION, "List"},
    {"IReadOnlyList", PAWL_TYPE_IREADONLYLIST, "List"},
    {"ISet", PAWL_TYPE_ISET, "HashSet"},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- finding ----------------------------------------------------------------------------- */

const struct pawl_type *pawl__type_find_plain(struct pawl_str alias)
{
    for (size_t i = 0; i < COUNT(scalars); i++) {
        if (pawl__str_equal_nocase(alias, pawl__str(scalars[i]->alias)))
            return scalars[i];
    }
    if (pawl__str_equal_nocase(alias, pawl__str("Long")))
        return &pawl__type_int64;
    for (size_t i = 0; i < COUNT(named); i++) {
        if (pawl__str_equal_nocase(alias, pawl__str(named[i].alias)))
            return &named[i];
    }
    return NULL;
}

bool pawl__type_collection_kind(struct pawl_str name, enum pawl_type_kind *kind)
{
    for (size_t i = 0; i < COUNT(collections); i++) {
        if (pawl__str_equal_nocase(name, pawl__str(collections[i].name))) {
            *kind = collections[i].kind;
            return true;
        }
    }
    return false;
}

int pawl__type_compound(struct pawl_arena *arena, enum pawl_type_kind kind,
                        const struct pawl_type *element, const struct pawl_type **out)
{
    struct pawl_type *type = pawl__arena_alloc_zeroed(arena, sizeof *type);

    if (!type)
        return arena->status;
    type->kind = kind;
    type->element = element;
    *out = type;
    return PAWL_OK;
}

int pawl__type_nullable(struct pawl_arena *arena, const struct pawl_type *base,
                        const struct pawl_type **out)
{
    struct pawl_type *type;

    if (!pawl__type_is_value(base))
        return PAWL_ENOTFOUND;
    type = pawl__arena_alloc(arena, sizeof *type);
    if (!type)
        return arena->status;
    *type = *base;
    type->nullable = true;
    type->element = base;
    *out = type;
    return PAWL_OK;
}

int pawl__type_array_of(struct pawl_arena *arena, const struct pawl_type *element,
                        const struct pawl_type **out)
{
    return pawl__type_compound(arena, PAWL_TYPE_ARRAY, element, out);
}

/* `Name<alias>` */
static int find_generic(struct pawl_arena *arena, struct pawl_str alias, size_t open,
                        unsigned depth, const struct pawl_type **out)
{
    const struct pawl_type *element = NULL;
    enum pawl_type_kind kind;
    int status;

    if (!pawl__type_collection_kind(pawl__str_slice(alias, 0, open), &kind))
        return PAWL_ENOTFOUND;
    status = pawl__type_find_nested(arena, pawl__str_slice(alias, open + 1, alias.len - 1),
                                    depth + 1, &element);
    if (status != PAWL_OK)
        return status;
    return pawl__type_compound(arena, kind, element, out);
}

/* `alias?` and `alias[]` */
static int find_suffixed(struct pawl_arena *arena, struct pawl_str alias, size_t suffix,
                         unsigned depth, const struct pawl_type **out)
{
    const struct pawl_type *base = NULL;
    int status = pawl__type_find_nested(arena, pawl__str_slice(alias, 0, alias.len - suffix),
                                        depth + 1, &base);

    if (status != PAWL_OK)
        return status;
    return suffix == 1 ? pawl__type_nullable(arena, base, out)
                       : pawl__type_array_of(arena, base, out);
}

int pawl__type_find_nested(struct pawl_arena *arena, struct pawl_str alias, unsigned depth,
                           const struct pawl_type **out)
{
    const struct pawl_type *plain;
    size_t open;

    if (depth > NESTING_MAX)
        return PAWL_ELIMIT;
    plain = pawl__type_find_plain(alias);
    if (plain) {
        *out = plain;
        return PAWL_OK;
    }
    if (pawl__type_looks_clr(alias))
        return pawl__type_find_clr(arena, alias, depth, out);
    if (pawl__str_ends(alias, pawl__str("?")))
        return find_suffixed(arena, alias, 1, depth, out);
    if (pawl__str_ends(alias, pawl__str("[]")))
        return find_suffixed(arena, alias, 2, depth, out);
    open = pawl__str_find(alias, '<', 0);
    if (open != SIZE_MAX && pawl__str_ends(alias, pawl__str(">")))
        return find_generic(arena, alias, open, depth, out);
    return PAWL_ENOTFOUND;
}

int pawl__type_find(struct pawl_arena *arena, struct pawl_str alias, const struct pawl_type **out)
{
    return pawl__type_find_nested(arena, pawl__str_trim(alias), 0, out);
}

/* ---- comparing and writing --------------------------------------------------------------- */

bool pawl__type_equal(const struct pawl_type *a, const struct pawl_type *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->kind != b->kind || a->nullable != b->nullable)
        return false;
    if (a->kind == PAWL_TYPE_NAMED || a->kind == PAWL_TYPE_ENUM)
        return strcmp(a->alias, b->alias) == 0;
    if (!a->element || !b->element)
        return a->element == b->element;
    return pawl__type_equal(a->element, b->element);
}

void pawl__type_write(struct pawl_buf *out, const struct pawl_type *type)
{
    if (type->kind == PAWL_TYPE_ARRAY) {
        pawl__type_write(out, type->element);
        pawl__buf_text(out, "[]");
        return;
    }
    if (type->alias) {
        pawl__buf_text(out, type->alias);
        if (type->nullable)
            pawl__buf_byte(out, '?');
        return;
    }
    for (size_t i = 0; i < COUNT(collections); i++) {
        if (collections[i].kind == type->kind)
            pawl__buf_text(out, collections[i].written);
    }
    pawl__buf_byte(out, '<');
    pawl__type_write(out, type->element);
    pawl__buf_byte(out, '>');
}

/* ---- enums ------------------------------------------------------------------------------- */

bool pawl__type_enum_number(const struct pawl_type *type, struct pawl_str name, int64_t *number)
{
    for (size_t i = 0; type->names[i]; i++) {
        if (pawl__str_is(name, type->names[i])) {
            *number = type->numbers ? type->numbers[i] : (int64_t)i;
            return true;
        }
    }
    return false;
}

const char *pawl__type_enum_name(const struct pawl_type *type, int64_t number)
{
    for (size_t i = 0; type->names[i]; i++) {
        if (number == (type->numbers ? type->numbers[i] : (int64_t)i))
            return type->names[i];
    }
    return NULL;
}
