/* SPDX-License-Identifier: Apache-2.0 */
/* Sticky-status building of JSON objects; see builder.h. */
#include "base/json/builder.h"

#include "base/time/datetime.h"

void pawl__build_member(struct pawl_builder *b, struct pawl_json *object, struct pawl_str key,
                        struct pawl_json value)
{
    struct pawl_json *there = b->fresh ? NULL : pawl__json_get(object, key);

    if (b->status != PAWL_OK)
        return;
    if (there)
        *there = value;
    else
        b->status = pawl__json_add(b->arena, object, key, value);
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
