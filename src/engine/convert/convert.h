/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversion between types, by the rules of Elsa's object converter: lenient by default
 * (what does not convert becomes the type's zero value), strict on request.
 *
 * Pure: the arena holds what a result needs. Failures for which Elsa throws are returned as
 * ENGINE_RAISED with *raised filled in (overflow, unknown enum names, JSON text that does not
 * parse, interface types that cannot be made); negative codes are memory and limits.
 */
#ifndef PAWL_ENGINE_CONVERT_CONVERT_H
#define PAWL_ENGINE_CONVERT_CONVERT_H

#include "engine/exception.h"
#include "engine/value/value.h"

#include <pawl/error.h>

struct pawl_conversion {
    struct pawl_arena *arena; /* borrowed */
    bool strict;
};

/* `target` Object leaves the value as it is. null gives null, for every target. */
PAWL_MUST_CHECK int pawl__convert(const struct pawl_conversion *how, struct pawl_value value,
                                  const struct pawl_type *target, struct pawl_value *out,
                                  struct pawl_exception *raised);

/* The zero value of a type when a value must be there: 0, false, "" no: null for references. */
struct pawl_value pawl__convert_default(const struct pawl_type *type);

/* As pawl__convert to String, then appended: "True", "1E+21", JSON text for objects; null: "". */
PAWL_MUST_CHECK int pawl__convert_to_text(const struct pawl_conversion *how,
                                          struct pawl_value value, struct pawl_buf *out,
                                          struct pawl_exception *raised);

/* What a script or a condition takes for true: the value converted to Boolean; null is false. */
PAWL_MUST_CHECK int pawl__convert_to_bool(const struct pawl_conversion *how,
                                          struct pawl_value value, bool *out,
                                          struct pawl_exception *raised);

#endif
