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

/* ---- what is stored, without marks of types ---------------------------------------------------
 */

/* Of so many members each is compared with all before it; more are sorted. */
#define FEW_MEMBERS 16u

static bool is_few(const struct pawl_json *object)
{
    return pawl__json_len(object) <= FEW_MEMBERS;
}

/* Marks begin with '_', escapes with a backslash; of a key that is there twice the last counts. */
static bool is_plain_member(const struct pawl_json *object, uint32_t index)
{
    const struct pawl_json_member *member = pawl__json_member(object, index);

    if (member->value.type >= PAWL_JSON_ARRAY ||
        (member->key.len > 0 && (member->key.ptr[0] == '_' || member->key.ptr[0] == '\\')))
        return false;
    for (uint32_t i = 0; i < index; i++)
        if (pawl__str_equal(pawl__json_member(object, i)->key, member->key))
            return false;
    return true;
}

/* Whether it would be made anew as it is: that is not looked for below its members. */
static bool is_plain(const struct pawl_json *object)
{
    for (uint32_t i = 0; i < pawl__json_len(object); i++)
        if (!is_few(object) || !is_plain_member(object, i))
            return false;
    return true;
}

static struct pawl_json plain_array(struct pawl_builder *b, const struct pawl_json *stored)
{
    struct pawl_json out = pawl__json_array();

    for (uint32_t i = 0; i < pawl__json_len(stored) && b->status == PAWL_OK; i++)
        pawl__build_append(b, &out, pawl__view_plain(b, pawl__json_at(stored, i)));
    return out;
}

/* JSON that is stored as text; other text becomes a string. */
static struct pawl_json plain_island(struct pawl_builder *b, const struct pawl_json *text)
{
    struct pawl_json value;

    if (pawl__json_parse(b->arena, pawl__json_str(text), NULL, &value, NULL, NULL) == PAWL_OK)
        return value;
    return *text;
}

struct pawl_json pawl__view_plain_object(struct pawl_builder *b, const struct pawl_json *stored,
                                         const char *without)
{
    const struct pawl_json *items = pawl__json_get_text(stored, "_items");
    const struct pawl_json *island = pawl__json_get_text(stored, "_island");
    struct pawl_json all = pawl__json_object(), out = pawl__json_object();

    if (pawl__json_is(items, PAWL_JSON_ARRAY))
        return plain_array(b, items);
    if (pawl__json_is(island, PAWL_JSON_STRING))
        return plain_island(b, island);
    for (uint32_t i = 0; i < pawl__json_len(stored) && b->status == PAWL_OK; i++) {
        const struct pawl_json_member *member = pawl__json_member(stored, i);
        struct pawl_str key = member->key;
        struct pawl_json value;

        if (pawl__str_is(key, "_type") || (without && pawl__str_is(key, without)))
            continue;
        /* A dollar of a user's is escaped where it is stored. */
        if (key.len > 1 && key.ptr[0] == '\\' && key.ptr[1] == '$')
            key = pawl__str_make(key.ptr + 1, key.len - 1);
        value = pawl__view_plain(b, &member->value);
        if (is_few(stored))
            pawl__build_member(b, &out, key, value);
        else if (b->status == PAWL_OK)
            b->status = pawl__json_add(b->arena, &all, key, value);
    }
    if (b->status == PAWL_OK)
        b->status = pawl__json_merge(b->arena, &out, &all, PAWL_JSON_MERGE_OVER);
    return out;
}

struct pawl_json pawl__view_plain(struct pawl_builder *b, const struct pawl_json *stored)
{
    if (pawl__json_is(stored, PAWL_JSON_OBJECT))
        return is_plain(stored) ? *stored : pawl__view_plain_object(b, stored, NULL);
    if (pawl__json_is(stored, PAWL_JSON_ARRAY))
        return plain_array(b, stored);
    return *stored;
}
