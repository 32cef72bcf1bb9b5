/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the files of convert: what one conversion carries along, and the rules by family.
 *
 * In a rule `target` has no `?`, and `value` has a type. It returns PAWL_OK, CONVERT_FAILED (a
 * format or a cast that does not work: the caller decides between the zero value and an exception),
 * ENGINE_RAISED, or a negative code.
 */
#ifndef PAWL_ENGINE_CONVERT_RULES_H
#define PAWL_ENGINE_CONVERT_RULES_H

#include "base/time/datetime.h"
#include "engine/convert/convert.h"

#define CONVERT_FAILED 2

struct pawl_converting {
    struct pawl_arena *arena;
    bool strict;
    struct pawl_exception *raised;
    unsigned depth; /* of elements within elements */
};

/* Fills in the exception; returns ENGINE_RAISED, or the arena's status. */
int pawl__convert_raise(struct pawl_converting *c, const char *type, const char *format, ...)
    PAWL_PRINTF(3, 4);
/* "Failed to deserialize <text> to <type>" */
int pawl__convert_raise_text(struct pawl_converting *c, struct pawl_str text,
                             const struct pawl_type *target);
/* "The JSON value could not be converted to <type>." */
int pawl__convert_raise_json(struct pawl_converting *c, const struct pawl_type *target);

/* The whole conversion, for elements. */
int pawl__convert_any(struct pawl_converting *c, struct pawl_value value,
                      const struct pawl_type *target, struct pawl_value *out);

/* Takes over what a buffer holds: a string value in the arena; releases the buffer. */
int pawl__convert_take_string(struct pawl_converting *c, struct pawl_buf *buf,
                              struct pawl_value *out);
/* A value of a scalar type whose JSON is a copy of `text`. */
int pawl__convert_text_value(struct pawl_converting *c, struct pawl_str text,
                             const struct pawl_type *type, struct pawl_value *out);

/* number.c */
int pawl__convert_to_boolean(struct pawl_converting *c, struct pawl_value value,
                             const struct pawl_type *target, struct pawl_value *out);
int pawl__convert_to_integer(struct pawl_converting *c, struct pawl_value value,
                             const struct pawl_type *target, struct pawl_value *out);
int pawl__convert_to_binary(struct pawl_converting *c, struct pawl_value value,
                            const struct pawl_type *target,
                            struct pawl_value *out); /* Single, Double */
int pawl__convert_to_decimal(struct pawl_converting *c, struct pawl_value value,
                             const struct pawl_type *target, struct pawl_value *out);
int pawl__convert_to_enum(struct pawl_converting *c, struct pawl_value value,
                          const struct pawl_type *target, struct pawl_value *out);

/* scalar.c */
int pawl__convert_to_date(struct pawl_converting *c, struct pawl_value value,
                          const struct pawl_type *target,
                          struct pawl_value *out); /* DateTime, DateTimeOffset */
int pawl__convert_to_timespan(struct pawl_converting *c, struct pawl_value value,
                              const struct pawl_type *target, struct pawl_value *out);
int pawl__convert_to_guid(struct pawl_converting *c, struct pawl_value value,
                          const struct pawl_type *target, struct pawl_value *out);
/* From text only; raises when it is not base64. */
int pawl__convert_to_bytes(struct pawl_converting *c, struct pawl_value value,
                           const struct pawl_type *target, struct pawl_value *out);
/* A stored date; false when the text is not a date. */
bool pawl__convert_date_of(struct pawl_value value, struct pawl_datetime *out);
int pawl__convert_make_date(struct pawl_converting *c, struct pawl_datetime date,
                            const struct pawl_type *target, struct pawl_value *out);

/* text.c */
int pawl__convert_to_string(struct pawl_converting *c, struct pawl_value value,
                            const struct pawl_type *target, struct pawl_value *out);
/* Appends the text; non-finite numbers inside JSON raise. */
int pawl__convert_write_text(struct pawl_converting *c, struct pawl_value value,
                             struct pawl_buf *out);
/* Whether it is a sequence of objects, which prints as JSON. */
bool pawl__convert_is_object_sequence(const struct pawl_type *type);

/* collection.c */
int pawl__convert_to_collection(struct pawl_converting *c, struct pawl_value value,
                                const struct pawl_type *target, struct pawl_value *out);
/* List<A> for its interfaces, HashSet<A> for ISet<A>, other types as they are. */
int pawl__convert_concrete(struct pawl_converting *c, const struct pawl_type *target,
                           const struct pawl_type **out);
/* Drops equal elements when `type` is a set. */
int pawl__convert_distinct(struct pawl_converting *c, const struct pawl_type *type,
                           struct pawl_json *array);

/* json.c: as a strict deserialiser reads it; CONVERT_FAILED when it does not fit. */
int pawl__convert_from_json(struct pawl_converting *c, struct pawl_value value,
                            const struct pawl_type *target, struct pawl_value *out);

#endif
