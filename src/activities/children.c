/* SPDX-License-Identifier: Apache-2.0 */
/* Ports, sets of texts and values, as containers use them; see children.h. */
#include "activities/children.h"

#define BREAKING "IsBreaking"

const struct pawl_node *pawl__port_child(const struct pawl_node *node, const char *port)
{
    for (uint32_t i = 0; i < node->child_count; i++) {
        if (pawl__str_is(node->children[i]->port, port))
            return node->children[i];
    }
    return NULL;
}

int pawl__set_breaking(struct pawl_context *context)
{
    return pawl__property_set(context, BREAKING, pawl__json_bool(true));
}

bool pawl__is_breaking(const struct pawl_context *context)
{
    return pawl__property_true(context, BREAKING);
}

/* ---- sets of texts ----------------------------------------------------------------------- */

/* The array in a stored set, whichever way it came; NULL when there is none. */
static struct pawl_json *set_items(struct pawl_json *stored)
{
    struct pawl_json *items;

    if (pawl__json_is(stored, PAWL_JSON_ARRAY))
        return stored;
    items = pawl__json_get_text(stored, "_items");
    return items ? items : pawl__json_get_text(stored, "$values");
}

/* The place of a text; the length when it does not exist. */
static uint32_t find(const struct pawl_json *items, struct pawl_str text)
{
    uint32_t at = 0;

    while (at < pawl__json_len(items) &&
           !pawl__str_equal(pawl__json_str(pawl__json_at(items, at)), text))
        at++;
    return at;
}

uint32_t pawl__text_set_len(const struct pawl_context *context, const char *key)
{
    return pawl__json_len(set_items(pawl__property(context, key)));
}

bool pawl__text_set_has(const struct pawl_context *context, const char *key, struct pawl_str text)
{
    const struct pawl_json *items = set_items(pawl__property(context, key));

    return find(items, text) < pawl__json_len(items);
}

/* Stored anew with each change, so that the record of the context is written again. */
static int store(struct pawl_context *context, const char *key, struct pawl_json items)
{
    struct pawl_arena *arena = pawl__context_arena(context);
    struct pawl_json set = pawl__json_object();
    int status = pawl__json_set_text(arena, &set, "_items", items);

    if (status == PAWL_OK)
        status = pawl__json_set_text(arena, &set, "_type",
                                     pawl__json_string(pawl__str("HashSet<String>")));
    if (status == PAWL_OK)
        status = pawl__property_set(context, key, set);
    return status;
}

int pawl__text_set_add(struct pawl_context *context, const char *key, struct pawl_str text)
{
    const struct pawl_json *stored = set_items(pawl__property(context, key));
    struct pawl_json items = stored ? *stored : pawl__json_array();
    int status;

    if (find(&items, text) < pawl__json_len(&items))
        return PAWL_OK;
    status = pawl__json_append(pawl__context_arena(context), &items, pawl__json_string(text));
    return status == PAWL_OK ? store(context, key, items) : status;
}

int pawl__text_set_remove(struct pawl_context *context, const char *key, struct pawl_str text)
{
    const struct pawl_json *stored = set_items(pawl__property(context, key));
    struct pawl_json items = stored ? *stored : pawl__json_array();

    if (!pawl__json_remove_at(&items, find(&items, text)))
        return PAWL_OK;
    return store(context, key, items);
}

/* ---- values ------------------------------------------------------------------------------ */

int pawl__stored_value(struct pawl_arena *arena, const struct pawl_json *stored,
                       struct pawl_value *out)
{
    int status = pawl__value_read(arena, stored, out, NULL);

    if (status != PAWL_EPARSE)
        return status;
    *out = pawl__value_from_json(*stored);
    return PAWL_OK;
}

/* ---- collections ------------------------------------------------------------------------- */

struct pawl_value pawl__element(struct pawl_value collection, uint32_t index)
{
    struct pawl_json json = *pawl__json_at(&collection.json, index);
    const struct pawl_type *type = collection.type && pawl__type_is_collection(collection.type)
                                       ? collection.type->element
                                       : NULL;

    if (json.type == PAWL_JSON_NULL)
        return pawl__value_null();
    if (type == &pawl__type_object_of_json)
        return pawl__value_node(json);
    if (!type || type->kind == PAWL_TYPE_OBJECT)
        return pawl__value_from_json(json);
    return (struct pawl_value){.json = json, .type = type};
}
