/* SPDX-License-Identifier: Apache-2.0 */
/* Sticky-status building of JSON objects; see builder.h. */
#include "base/json/builder.h"

#include "base/time/datetime.h"

void pawl__build(struct pawl_builder *b, struct pawl_json *object, const char *key,
                 struct pawl_json value)
{
    struct pawl_str name = pawl__str(key);
    struct pawl_json *there = pawl__json_get(object, name);

    if (b->status != PAWL_OK)
        return;
    if (there)
        *there = value;
    else
        b->status = pawl__json_add(b->arena, object, name, value);
}

void pawl__build_text(struct pawl_builder *b, struct pawl_json *object, const char *key,
                      struct pawl_str text)
{
    if (text.len > 0)
        pawl__build(b, object, key, pawl__json_string(text));
}

void pawl__build_name(struct pawl_builder *b, struct pawl_json *object, const char *key,
                      const char *name)
{
    pawl__build_text(b, object, key, pawl__str(name));
}

void pawl__build_int(struct pawl_builder *b, struct pawl_json *object, const char *key,
                     int64_t value)
{
    pawl__build(b, object, key, pawl__json_int(value));
}

void pawl__build_bool(struct pawl_builder *b, struct pawl_json *object, const char *key, bool value)
{
    pawl__build(b, object, key, pawl__json_bool(value));
}

void pawl__build_time(struct pawl_builder *b, struct pawl_json *object, const char *key,
                      int64_t ticks)
{
    struct pawl_datetime instant = {.ticks = ticks, .kind = PAWL_DATETIME_OFFSET};
    char text[PAWL_DATETIME_TEXT_SIZE];
    struct pawl_json value;

    if (ticks == 0 || b->status != PAWL_OK)
        return;
    b->status = pawl__json_string_copy(
        b->arena, pawl__str_make(text, pawl__datetime_format(instant, text)), &value);
    pawl__build(b, object, key, value);
}

void pawl__build_append(struct pawl_builder *b, struct pawl_json *array, struct pawl_json value)
{
    if (b->status == PAWL_OK)
        b->status = pawl__json_append(b->arena, array, value);
}
