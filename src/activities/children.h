/* SPDX-License-Identifier: Apache-2.0 */
/* What activities share: ports, sets of texts in properties, values from outside. */
#ifndef PAWL_ACTIVITIES_CHILDREN_H
#define PAWL_ACTIVITIES_CHILDREN_H

#include "engine/context.h"

/* Why an arena answered NULL; never PAWL_OK. */
static inline int pawl__refused(const struct pawl_arena *arena)
{
    return arena->status != PAWL_OK ? arena->status : PAWL_ENOMEM;
}

/* The activity in an embedded port; NULL when it is empty. */
const struct pawl_node *pawl__port_child(const struct pawl_node *node, const char *port);

/*
 * Remembers that a BreakSignal passed, as loops and containers do: when their current child
 * completes they complete too.
 */
PAWL_MUST_CHECK int pawl__set_breaking(struct pawl_context *context);
bool pawl__is_breaking(const struct pawl_context *context);

/*
 * A set of texts in a property, stored as HashSet<String>; a list is read too. Adding what is there
 * and removing what is not do nothing.
 */
uint32_t pawl__text_set_len(const struct pawl_context *context, const char *key);
bool pawl__text_set_has(const struct pawl_context *context, const char *key, struct pawl_str text);
PAWL_MUST_CHECK int pawl__text_set_add(struct pawl_context *context, const char *key,
                                       struct pawl_str text);
PAWL_MUST_CHECK int pawl__text_set_remove(struct pawl_context *context, const char *key,
                                          struct pawl_str text);

/*
 * A value in stored form, from outside. What is not well formed (an unknown `_type`) is taken as
 * the plain JSON that it is: data must not be able to stop an instance.
 */
PAWL_MUST_CHECK int pawl__stored_value(struct pawl_arena *arena, const struct pawl_json *stored,
                                       struct pawl_value *out);

/* The nth element of a collection, with the type that the collection's says it has. */
struct pawl_value pawl__element(struct pawl_value collection, uint32_t index);

#endif
