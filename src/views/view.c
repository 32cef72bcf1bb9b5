/* SPDX-License-Identifier: Apache-2.0 */
/* What views are made with; see view.h. */
#include "views/view.h"

#include "base/time/datetime.h"
#include "base/time/duration.h"

void pawl__view_text(struct pawl_builder *b, struct pawl_json *object, const char *key,
                     struct pawl_str text)
{
    pawl__build(b, object, key, pawl__json_string(text));
}

void pawl__view_optional(struct pawl_builder *b, struct pawl_json *object, const char *key,
                         struct pawl_str text)
{
    if (text.len > 0)
        pawl__view_text(b, object, key, text);
}

/* 0 and PAWL_TIME_NEVER are no times, nor is what lies outside the years 1 to 9999. */
void pawl__view_time(struct pawl_builder *b, struct pawl_json *object, const char *key, int64_t us)
{
    struct pawl_json value = pawl__json_null();
    char text[PAWL_DATETIME_TEXT_SIZE];
    int64_t rest = us % 1000 < 0 ? us % 1000 + 1000 : us % 1000;
    int64_t ms = us / 1000 - (us % 1000 < 0);
    struct pawl_datetime at;

    if (us != 0 && pawl__datetime_from_unix_ms(ms, &at, NULL) == PAWL_OK) {
        size_t len;

        at.ticks += rest * 10;
        at.kind = PAWL_DATETIME_OFFSET; /* "+00:00", as Elsa writes it */
        len = pawl__datetime_format(at, text);
        if (b->status == PAWL_OK)
            b->status = pawl__json_string_copy(b->arena, pawl__str_make(text, len), &value);
    }
    pawl__build(b, object, key, value);
}

void pawl__view_span(struct pawl_builder *b, struct pawl_json *object, const char *key, int64_t us)
{
    struct pawl_json value = pawl__json_null();
    char text[PAWL_DURATION_TEXT_SIZE];
    size_t len = pawl__duration_format(us * 10, text);

    if (b->status == PAWL_OK)
        b->status = pawl__json_string_copy(b->arena, pawl__str_make(text, len), &value);
    pawl__build(b, object, key, value);
}

void pawl__view_bytes(struct pawl_builder *b, struct pawl_json *object, const char *key,
                      struct pawl_str bytes)
{
    struct pawl_json value = pawl__json_null();

    if (bytes.len > 0 && b->status == PAWL_OK &&
        pawl__json_parse(b->arena, bytes, NULL, &value, NULL, NULL) != PAWL_OK)
        b->status = pawl__json_string_copy(b->arena, bytes, &value);
    pawl__build(b, object, key, value);
}
