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
    bool fresh; /* no key comes twice in an object: none is looked for */
};

void pawl__build_member(struct pawl_builder *b, struct pawl_json *object, struct pawl_str key,
                        struct pawl_json value);

/* Borrows the key, as all of these do: a string literal, or a name that lives as long as one. */
static inline void pawl__build(struct pawl_builder *b, struct pawl_json *object, const char *key,
                               struct pawl_json value)
{
    pawl__build_member(b, object, pawl__str(key), value);
}

/* Borrows the text; left out when "". */
static inline void pawl__build_text(struct pawl_builder *b, struct pawl_json *object,
                                    const char *key, struct pawl_str text)
{
    if (text.len > 0)
        pawl__build(b, object, key, pawl__json_string(text));
}

static inline void pawl__build_name(struct pawl_builder *b, struct pawl_json *object,
                                    const char *key, const char *name)
{
    pawl__build_text(b, object, key, pawl__str(name));
}

static inline void pawl__build_int(struct pawl_builder *b, struct pawl_json *object,
                                   const char *key, int64_t value)
{
    pawl__build(b, object, key, pawl__json_int(value));
}

static inline void pawl__build_bool(struct pawl_builder *b, struct pawl_json *object,
                                    const char *key, bool value)
{
    pawl__build(b, object, key, pawl__json_bool(value));
}

/* An instant in UTC, as Elsa writes one with offset; left out when 0. */
void pawl__build_time(struct pawl_builder *b, struct pawl_json *object, const char *key,
                      int64_t ticks);
void pawl__build_append(struct pawl_builder *b, struct pawl_json *array, struct pawl_json value);

#endif
