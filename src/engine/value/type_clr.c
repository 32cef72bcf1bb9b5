/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types by the names that .NET gives them. Old definitions carry these instead
 * of aliases, and some texts and messages show them:
 *
 *     Namespace.Type, Assembly          System.Int32[], System.Private.CoreLib
 *     System.Collections.Generic.List`1[[System.String, System.Private.CoreLib]], …
 *     UnregisteredClrType:Namespace.Type, Assembly      read as Exception, as Elsa does
 *
 * Only the namespaces of Elsa and .NET count: a user's own Acme.Token is not
 * Token.
 */
#include "engine/value/type_names.h"

#include <pawl/error.h>

#define UNREGISTERED "UnregisteredClrType:"

/* Names that are not the alias behind a namespace. */
static const struct {
    const char *name;
    const struct pawl_type *type;
} other_names[] = {
    {"System.Dynamic.ExpandoObject", &pawl__type_expando},
    {"System.Byte[]", &pawl__type_bytes},
};

static const char *const namespaces[] = {"System.", "Elsa.", "Microsoft.", "Newtonsoft.", "Jint."};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

bool pawl__type_looks_clr(struct pawl_str name)
{
    if (pawl__str_starts(name, pawl__str(UNREGISTERED)))
        return true;
    if (pawl__str_find(name, '<', 0) != SIZE_MAX)
        return false;
    return pawl__str_find(name, '`', 0) != SIZE_MAX || pawl__str_find(name, ',', 0) != SIZE_MAX ||
           pawl__str_find(name, '.', 0) != SIZE_MAX;
}

/* Up to the first comma that is not in brackets. */
static struct pawl_str without_assembly(struct pawl_str name)
{
    size_t nesting = 0;

    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '[')
            nesting++;
        else if (name.ptr[i] == ']' && nesting > 0)
            nesting--;
        else if (name.ptr[i] == ',' && nesting == 0)
            return pawl__str_trim(pawl__str_slice(name, 0, i));
    }
    return pawl__str_trim(name);
}

static struct pawl_str last_part(struct pawl_str name)
{
    size_t from = 0;

    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '.' || name.ptr[i] == '+')
            from = i + 1;
    }
    return pawl__str_slice(name, from, name.len);
}

static bool known_namespace(struct pawl_str name)
{
    for (size_t i = 0; i < COUNT(namespaces); i++) {
        if (pawl__str_starts(name, pawl__str(namespaces[i])))
            return true;
    }
    return false;
}

/* The argument that begins at *at, which moves behind it and its comma. "" when there is none. */
static struct pawl_str next_argument(struct pawl_str list, size_t *at)
{
    size_t nesting = 0;
    size_t from = *at;
    size_t end = from;
    struct pawl_str argument;

    while (end < list.len && (nesting > 0 || list.ptr[end] != ',')) {
        if (list.ptr[end] == '[')
            nesting++;
        else if (list.ptr[end] == ']' && nesting > 0)
            nesting--;
        end++;
    }
    *at = end + 1;
    argument = pawl__str_trim(pawl__str_slice(list, from, end));
    if (pawl__str_starts(argument, pawl__str("[")) && pawl__str_ends(argument, pawl__str("]")))
        argument = pawl__str_slice(argument, 1, argument.len - 1);
    return argument;
}

static int make_generic(struct pawl_arena *arena, struct pawl_str name,
                        const struct pawl_type *first, const struct pawl_type *second,
                        const struct pawl_type **out)
{
    enum pawl_type_kind kind;
    bool of_objects;

    if (!second) {
        if (pawl__str_is(name, "Nullable"))
            return pawl__type_nullable(arena, first, out);
        if (!pawl__type_collection_kind(name, &kind))
            return PAWL_ENOTFOUND;
        return pawl__type_compound(arena, kind, first, out);
    }
    of_objects = second->kind == PAWL_TYPE_OBJECT;
    if (first->kind != PAWL_TYPE_STRING || (!of_objects && second->kind != PAWL_TYPE_STRING))
        return PAWL_ENOTFOUND;
    if (pawl__str_is(name, "IDictionary"))
        *out = of_objects ? &pawl__type_object_dictionary : &pawl__type_string_dictionary;
    else if (pawl__str_is(name, "Dictionary"))
        *out = of_objects ? &pawl__type_object_map : &pawl__type_string_map;
    else
        return PAWL_ENOTFOUND;
    return PAWL_OK;
}

/* `Name`n[A,B]`; `tick` is where the ` stands. */
static int find_generic(struct pawl_arena *arena, struct pawl_str name, size_t tick, unsigned depth,
                        const struct pawl_type **out)
{
    size_t open = pawl__str_find(name, '[', tick);
    const struct pawl_type *arguments[2] = {NULL, NULL};
    struct pawl_str list;
    size_t at = 0;

    if (open == SIZE_MAX || !pawl__str_ends(name, pawl__str("]")))
        return PAWL_ENOTFOUND;
    list = pawl__str_slice(name, open + 1, name.len - 1);
    for (size_t i = 0; at < list.len; i++) {
        int status;

        if (i == COUNT(arguments))
            return PAWL_ENOTFOUND;
        status = pawl__type_find_nested(arena, next_argument(list, &at), depth + 1, &arguments[i]);
        if (status != PAWL_OK)
            return status;
    }
    if (!arguments[0])
        return PAWL_ENOTFOUND;
    return make_generic(arena, last_part(pawl__str_slice(name, 0, tick)), arguments[0],
                        arguments[1], out);
}

int pawl__type_find_clr(struct pawl_arena *arena, struct pawl_str name, unsigned depth,
                        const struct pawl_type **out)
{
    struct pawl_str type = without_assembly(name);
    const struct pawl_type *plain;
    size_t tick;

    if (pawl__str_starts(name, pawl__str(UNREGISTERED))) {
        *out = pawl__type_find_plain(pawl__str("Exception"));
        return PAWL_OK;
    }
    for (size_t i = 0; i < COUNT(other_names); i++) {
        if (pawl__str_is(type, other_names[i].name)) {
            *out = other_names[i].type;
            return PAWL_OK;
        }
    }
    if (pawl__str_ends(type, pawl__str("[]"))) {
        const struct pawl_type *element = NULL;
        int status = pawl__type_find_nested(arena, pawl__str_slice(type, 0, type.len - 2),
                                            depth + 1, &element);

        return status == PAWL_OK ? pawl__type_array_of(arena, element, out) : status;
    }
    tick = pawl__str_find(type, '`', 0);
    if (tick != SIZE_MAX)
        return find_generic(arena, type, tick, depth, out);
    plain = known_namespace(type) ? pawl__type_find_plain(last_part(type)) : NULL;
    if (!plain)
        return PAWL_ENOTFOUND;
    *out = plain;
    return PAWL_OK;
}

/* ---- writing ----------------------------------------------------------------------------- */

static const char *plain_name(const struct pawl_type *type)
{
    static const struct {
        const struct pawl_type *type;
        const char *name;
    } names[] = {
        {&pawl__type_expando, "System.Dynamic.ExpandoObject"},
        {&pawl__type_bytes, "System.Byte[]"},
        {&pawl__type_stream, "System.IO.Stream"},
        {&pawl__type_json_element, "System.Text.Json.JsonElement"},
        {&pawl__type_json_node, "System.Text.Json.Nodes.JsonNode"},
        {&pawl__type_json_object, "System.Text.Json.Nodes.JsonObject"},
        {&pawl__type_json_array, "System.Text.Json.Nodes.JsonArray"},
        {&pawl__type_object_dictionary,
         "System.Collections.Generic.IDictionary`2[System.String,System.Object]"},
        {&pawl__type_string_dictionary,
         "System.Collections.Generic.IDictionary`2[System.String,System.String]"},
        {&pawl__type_object_map,
         "System.Collections.Generic.Dictionary`2[System.String,System.Object]"},
        {&pawl__type_string_map,
         "System.Collections.Generic.Dictionary`2[System.String,System.String]"},
        {&pawl__type_flow_join_mode, "Elsa.Workflows.Activities.Flowchart.Models.FlowJoinMode"},
        {&pawl__type_switch_mode, "Elsa.Workflows.Activities.SwitchMode"},
        {&pawl__type_http_status_code, "System.Net.HttpStatusCode"},
    };

    for (size_t i = 0; i < COUNT(names); i++) {
        if (pawl__type_equal(names[i].type, type))
            return names[i].name;
    }
    return NULL;
}

static const char *generic_name(enum pawl_type_kind kind)
{
    static const char *const names[] = {
        [PAWL_TYPE_LIST] = "System.Collections.Generic.List",
        [PAWL_TYPE_HASHSET] = "System.Collections.Generic.HashSet",
        [PAWL_TYPE_COLLECTION] = "System.Collections.ObjectModel.Collection",
        [PAWL_TYPE_IENUMERABLE] = "System.Collections.Generic.IEnumerable",
        [PAWL_TYPE_ICOLLECTION] = "System.Collections.Generic.ICollection",
        [PAWL_TYPE_ILIST] = "System.Collections.Generic.IList",
        [PAWL_TYPE_IREADONLYCOLLECTION] = "System.Collections.Generic.IReadOnlyCollection",
        [PAWL_TYPE_IREADONLYLIST] = "System.Collections.Generic.IReadOnlyList",
        [PAWL_TYPE_ISET] = "System.Collections.Generic.ISet",
    };

    return names[kind];
}

void pawl__type_write_clr(struct pawl_buf *out, const struct pawl_type *type)
{
    const char *name = plain_name(type);

    if (name) {
        pawl__buf_text(out, name);
    } else if (type->nullable) {
        pawl__buf_text(out, "System.Nullable`1[");
        pawl__type_write_clr(out, type->element);
        pawl__buf_byte(out, ']');
    } else if (type->kind == PAWL_TYPE_ARRAY) {
        pawl__type_write_clr(out, type->element);
        pawl__buf_text(out, "[]");
    } else if (pawl__type_is_collection(type)) {
        pawl__buf_text(out, generic_name(type->kind));
        pawl__buf_text(out, "`1[");
        pawl__type_write_clr(out, type->element);
        pawl__buf_byte(out, ']');
    } else {
        if (type->kind != PAWL_TYPE_NAMED)
            pawl__buf_text(out, "System.");
        pawl__buf_text(out, type->alias);
    }
}
