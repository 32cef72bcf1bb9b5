/* SPDX-License-Identifier: Apache-2.0 */
/* What the builder of JSON (base/json/builder.h) can do with values that have types. */
#ifndef PAWL_ENGINE_BUILDER_H
#define PAWL_ENGINE_BUILDER_H

#include "base/json/builder.h"
#include "engine/value/value.h"

/*
 * A value with its type, so that it comes back as it is: [json, "alias"], with a third item, true,
 * when it is a collection whose objects are JSON nodes; null stays null.
 */
void pawl__build_typed(struct pawl_builder *b, struct pawl_json *object, const char *key,
                       struct pawl_value value);
struct pawl_json pawl__typed_json(struct pawl_builder *b, struct pawl_value value);
/* Reads pawl__typed_json()'s form. PAWL_EPARSE. */
PAWL_MUST_CHECK int pawl__typed_read(struct pawl_arena *arena, const struct pawl_json *json,
                                     struct pawl_value *out);

#endif
