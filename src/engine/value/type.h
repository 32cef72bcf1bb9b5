/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The types that definitions name (Int32, DateTimeOffset, List<String>, …) and the engine's values
 * carry: what a variable was declared as decides how a value is converted, printed and stored.
 *
 * Types are immutable. The scalar ones are constants; compound ones live in the arena of the graph
 * that names them. Compare with pawl__type_equal().
 */
#ifndef PAWL_ENGINE_VALUE_TYPE_H
#define PAWL_ENGINE_VALUE_TYPE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

enum pawl_type_kind {
    PAWL_TYPE_OBJECT, /* anything */
    PAWL_TYPE_STRING,
    PAWL_TYPE_BOOLEAN,
    PAWL_TYPE_INT16,
    PAWL_TYPE_INT32,
    PAWL_TYPE_INT64,
    PAWL_TYPE_SINGLE,
    PAWL_TYPE_DOUBLE,
    PAWL_TYPE_DECIMAL,
    PAWL_TYPE_DATETIME,
    PAWL_TYPE_DATETIMEOFFSET,
    PAWL_TYPE_TIMESPAN,
    PAWL_TYPE_GUID,
    PAWL_TYPE_BYTES,
    PAWL_TYPE_STREAM,
    PAWL_TYPE_ENUM, /* `names` lists the members */

    PAWL_TYPE_EXPANDO, /* alias JSON: a dynamic object */
    PAWL_TYPE_JSON_ELEMENT,
    PAWL_TYPE_JSON_NODE,
    PAWL_TYPE_JSON_OBJECT,
    PAWL_TYPE_JSON_ARRAY,

    PAWL_TYPE_IDICTIONARY, /* StringDictionary, ObjectDictionary: an interface */
    PAWL_TYPE_DICTIONARY,  /* StringMap, ObjectMap */

    PAWL_TYPE_ARRAY, /* element[] */
    PAWL_TYPE_LIST,
    PAWL_TYPE_HASHSET,
    PAWL_TYPE_COLLECTION,
    PAWL_TYPE_IENUMERABLE, /* from here on interfaces */
    PAWL_TYPE_ICOLLECTION,
    PAWL_TYPE_ILIST,
    PAWL_TYPE_IREADONLYCOLLECTION,
    PAWL_TYPE_IREADONLYLIST,
    PAWL_TYPE_ISET,

    PAWL_TYPE_NAMED, /* a registered alias without meaning to the engine (FlowScope, HttpRequest) */
};

struct pawl_type {
    enum pawl_type_kind kind;
    bool nullable;                   /* Int32? */
    const char *alias;               /* scalar, enum and named types: how definitions write it */
    const struct pawl_type *element; /* of the values; nullable: the type without the `?` */
    const char *const *names;        /* ENUM: members, NULL-terminated */
    const int32_t *numbers;          /* ENUM: parallel to names; NULL: a member is its index */
};

extern const struct pawl_type pawl__type_object;
/* Object, equal to it, as the element of a collection that was read from JSON: what is in there
 * stays JSON nodes. */
extern const struct pawl_type pawl__type_object_of_json;
extern const struct pawl_type pawl__type_string;
extern const struct pawl_type pawl__type_boolean;
extern const struct pawl_type pawl__type_int16;
extern const struct pawl_type pawl__type_int32;
extern const struct pawl_type pawl__type_int64;
extern const struct pawl_type pawl__type_single;
extern const struct pawl_type pawl__type_double;
extern const struct pawl_type pawl__type_decimal;
extern const struct pawl_type pawl__type_datetime;
extern const struct pawl_type pawl__type_datetimeoffset;
extern const struct pawl_type pawl__type_timespan;
extern const struct pawl_type pawl__type_guid;
extern const struct pawl_type pawl__type_bytes;
extern const struct pawl_type pawl__type_stream;
extern const struct pawl_type pawl__type_expando;
extern const struct pawl_type pawl__type_json_element;
extern const struct pawl_type pawl__type_json_node;
extern const struct pawl_type pawl__type_json_object;
extern const struct pawl_type pawl__type_json_array;
extern const struct pawl_type pawl__type_object_array;      /* Object[] */
extern const struct pawl_type pawl__type_string_array;      /* String[] */
extern const struct pawl_type pawl__type_object_list;       /* ICollection<Object> of inputs */
extern const struct pawl_type pawl__type_string_list;       /* ICollection<String> of inputs */
extern const struct pawl_type pawl__type_object_dictionary; /* IDictionary<string, object> */
extern const struct pawl_type pawl__type_string_dictionary; /* IDictionary<string, string> */
extern const struct pawl_type pawl__type_object_map;        /* Dictionary<string, object> */
extern const struct pawl_type pawl__type_string_map;        /* Dictionary<string, string> */
extern const struct pawl_type pawl__type_flow_join_mode;    /* WaitAll, WaitAllActive, WaitAny */
extern const struct pawl_type pawl__type_switch_mode;       /* MatchFirst, MatchAny */
extern const struct pawl_type pawl__type_http_status_code;  /* OK is 200, NotFound is 404, … */

/*
 * The type an alias names: scalar aliases without regard to case, `alias?`, `alias[]`,
 * `List<alias>` and its kin, the registered names of Elsa, and the simple CLR names of all
 * of these (`System.Int32, System.Private.CoreLib`, `Elsa.…FlowJoinMode, Elsa.Workflows.Core`).
 * PAWL_ENOTFOUND when nothing is meant by it; PAWL_ENOMEM, PAWL_ELIMIT (nesting past 16).
 */
PAWL_MUST_CHECK int pawl__type_find(struct pawl_arena *arena, struct pawl_str alias,
                                    const struct pawl_type **out);

/* `element[]`, in the arena. */
PAWL_MUST_CHECK int pawl__type_array_of(struct pawl_arena *arena, const struct pawl_type *element,
                                        const struct pawl_type **out);

bool pawl__type_equal(const struct pawl_type *a, const struct pawl_type *b);

/* Int32 for Int32?, any other type itself: what values carry. */
static inline const struct pawl_type *pawl__type_underlying(const struct pawl_type *type)
{
    return type->nullable ? type->element : type;
}

/* Appends the alias as Elsa writes it ("Int32[]", "List<String>"; IList is List). */
void pawl__type_write(struct pawl_buf *out, const struct pawl_type *type);

/* Appends what Elsa prints for the type itself: "System.Collections.Generic.List`1[…]". */
void pawl__type_write_clr(struct pawl_buf *out, const struct pawl_type *type);

/*
 * Members of an ENUM by name (exact case) and by number. false, NULL: there is no such member.
 */
bool pawl__type_enum_number(const struct pawl_type *type, struct pawl_str name, int64_t *number);
const char *pawl__type_enum_name(const struct pawl_type *type, int64_t number);

static inline bool pawl__type_is_integer(const struct pawl_type *type)
{
    return type->kind >= PAWL_TYPE_INT16 && type->kind <= PAWL_TYPE_INT64;
}

static inline bool pawl__type_is_numeric(const struct pawl_type *type)
{
    return type->kind >= PAWL_TYPE_INT16 && type->kind <= PAWL_TYPE_DECIMAL;
}

/* Arrays, lists, sets and their interfaces. */
static inline bool pawl__type_is_collection(const struct pawl_type *type)
{
    return type->kind >= PAWL_TYPE_ARRAY && type->kind <= PAWL_TYPE_ISET;
}

static inline bool pawl__type_is_interface(const struct pawl_type *type)
{
    return type->kind >= PAWL_TYPE_IENUMERABLE ? type->kind != PAWL_TYPE_NAMED
                                               : type->kind == PAWL_TYPE_IDICTIONARY;
}

/* What has a zero value rather than null: numbers, dates, enums, JsonElement; not Int32?. */
static inline bool pawl__type_is_value(const struct pawl_type *type)
{
    if (!type || type->nullable)
        return false;
    return (type->kind >= PAWL_TYPE_BOOLEAN && type->kind <= PAWL_TYPE_GUID) ||
           type->kind == PAWL_TYPE_ENUM || type->kind == PAWL_TYPE_JSON_ELEMENT;
}

#endif
