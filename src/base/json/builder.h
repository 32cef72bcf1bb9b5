/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts together JSON objects without checking after each member: the first failure sticks in
 * `status` and the rest does nothing.
 */
#ifndef PAWL_BASE_JSON_BUILDER_H
#define PAWL_BASE_JSON_BUILDER_H

#include "base/json/json.h"

struct pawl_builder {
    struct pawl_arena *arena; /* borrowed */
    int status;
};

/* Borrows the key, as all of these do: a string literal, or a name that lives as long as one. */
void pawl__build(struct pawl_builder *b, struct pawl_json *object, const char *key,
                 struct pawl_json value);
/* Borrows the text; left out when "". */
void pawl__build_text(struct pawl_builder *b, struct pawl_json *object, const char *key,
                      struct pawl_str text);
void pawl__build_name(struct pawl_builder *b, struct pawl_json *object, const char *key,
                      const char *name);
void pawl__build_int(struct pawl_builder *b, struct pawl_json *object, const char *key,
                     int64_t value);
void pawl__build_bool(struct pawl_builder *b, struct pawl_json *object, const char *key,
                      bool value);
/* An instant in UTC, as Elsa writes one with offset; left out when 0. */
void pawl__build_time(struct pawl_builder *b, struct pawl_json *object, const char *key,
                      int64_t ticks);
void pawl__build_append(struct pawl_builder *b, struct pawl_json *array, struct pawl_json value);

#endif
