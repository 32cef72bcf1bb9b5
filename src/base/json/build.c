/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building a JSON DOM: values, growing containers, deep copies.
 *
 * A container that grows has room for 2^cap_log2 - 1 elements; one that came from the parser or a
 * copy has room for exactly its length (cap_log2 0) and moves at its first growth. Old rooms stay
 * in the arena until it is reset: at most as much again as the final one.
 */
#include "base/error.h"
#include "base/json/lex.h"

#define CAP_LOG2_MIN 2 /* the first growth makes room for 3 */

struct pawl_json pawl__json_string(struct pawl_str s)
{
    PAWL_ASSERT(s.len <= UINT32_MAX);
    return (struct pawl_json){
        .type = PAWL_JSON_STRING, .len = (uint32_t)s.len, .u.text = s.ptr ? s.ptr : ""};
}

int pawl__json_string_copy(struct pawl_arena *arena, struct pawl_str s, struct pawl_json *out)
{
    struct pawl_str copy;

    if (s.len > UINT32_MAX)
        return PAWL_ELIMIT;
    if (!pawl__utf8_valid(s))
        return PAWL_EINVAL;
    copy = pawl__arena_str(arena, s);
    if (!copy.ptr)
        return arena->status;
    *out = pawl__json_string(copy);
    return PAWL_OK;
}

int pawl__json_number(struct pawl_arena *arena, struct pawl_str text, struct pawl_json *out)
{
    const char *end = text.ptr + text.len;
    struct pawl_json read;
    struct lex_stop stop;

    if (text.len > UINT32_MAX)
        return PAWL_ELIMIT;
    if (text.len == 0 || !(text.ptr[0] == '-' || lex_is_digit(text.ptr[0])) ||
        pawl__json_lex_number(text.ptr, end, &read, &stop) != end)
        return PAWL_EPARSE;
    if (read.type == PAWL_JSON_NUMBER) {
        struct pawl_str copy = pawl__arena_str(arena, text);

        if (!copy.ptr)
            return arena->status;
        read.u.text = copy.ptr;
    }
    *out = read;
    return PAWL_OK;
}

/* ---- containers ------------------------------------------------------------------------- */

static size_t capacity(const struct pawl_json *container)
{
    return container->cap_log2 ? ((size_t)1 << container->cap_log2) - 1 : container->len;
}

/* Makes room for one more element of `size` bytes in the place `*items`. */
static int grow(struct pawl_arena *arena, struct pawl_json *container, void **items, size_t size)
{
    uint8_t cap_log2 = CAP_LOG2_MIN;
    void *room;

    if (container->len < capacity(container))
        return PAWL_OK;
    if (container->len == UINT32_MAX)
        return PAWL_ELIMIT;
    while (((size_t)1 << cap_log2) - 1 <= container->len)
        cap_log2++;
    room = pawl__arena_alloc_array(arena, ((size_t)1 << cap_log2) - 1, size);
    if (!room)
        return arena->status;
    if (container->len > 0)
        memcpy(room, *items, container->len * size);
    *items = room;
    container->cap_log2 = cap_log2;
    return PAWL_OK;
}

int pawl__json_append(struct pawl_arena *arena, struct pawl_json *array, struct pawl_json value)
{
    void *items = array->u.items;
    int status;

    PAWL_ASSERT(array->type == PAWL_JSON_ARRAY);
    status = grow(arena, array, &items, sizeof value);
    if (status != PAWL_OK)
        return status;
    array->u.items = items;
    array->u.items[array->len++] = value;
    return PAWL_OK;
}

int pawl__json_add(struct pawl_arena *arena, struct pawl_json *object, struct pawl_str key,
                   struct pawl_json value)
{
    void *members = object->u.members;
    int status;

    PAWL_ASSERT(object->type == PAWL_JSON_OBJECT);
    status = grow(arena, object, &members, sizeof(struct pawl_json_member));
    if (status != PAWL_OK)
        return status;
    object->u.members = members;
    object->u.members[object->len++] = (struct pawl_json_member){.key = key, .value = value};
    return PAWL_OK;
}

int pawl__json_set(struct pawl_arena *arena, struct pawl_json *object, struct pawl_str key,
                   struct pawl_json value)
{
    struct pawl_json *old;
    struct pawl_str copy;

    PAWL_ASSERT(object->type == PAWL_JSON_OBJECT);
    old = pawl__json_get(object, key);
    if (old) {
        *old = value;
        return PAWL_OK;
    }
    if (!pawl__utf8_valid(key))
        return PAWL_EINVAL;
    copy = pawl__arena_str(arena, key);
    if (!copy.ptr)
        return arena->status;
    return pawl__json_add(arena, object, copy, value);
}

int pawl__json_set_text(struct pawl_arena *arena, struct pawl_json *object, const char *key,
                        struct pawl_json value)
{
    return pawl__json_set(arena, object, pawl__str(key), value);
}

/* Keeps the capacity of a container of exact length known when it gets shorter. */
static void shorten(struct pawl_json *container, uint32_t len)
{
    if (container->cap_log2 == 0 && len == 0)
        *container = (struct pawl_json){.type = container->type};
    container->len = len;
}

bool pawl__json_remove(struct pawl_json *object, struct pawl_str key)
{
    uint32_t kept = 0;
    uint32_t len = pawl__json_len(object);

    if (!pawl__json_is(object, PAWL_JSON_OBJECT))
        return false;
    for (uint32_t i = 0; i < len; i++) {
        if (!pawl__str_equal(object->u.members[i].key, key))
            object->u.members[kept++] = object->u.members[i];
    }
    shorten(object, kept);
    return kept < len;
}

bool pawl__json_remove_at(struct pawl_json *array, uint32_t index)
{
    if (!pawl__json_is(array, PAWL_JSON_ARRAY) || index >= array->len)
        return false;
    memmove(&array->u.items[index], &array->u.items[index + 1],
            (array->len - index - 1) * sizeof array->u.items[0]);
    shorten(array, array->len - 1);
    return true;
}

/* ---- copies ----------------------------------------------------------------------------- */

static int copy_value(struct pawl_arena *arena, const struct pawl_json *value, uint32_t depth,
                      struct pawl_json *out);

static int copy_array(struct pawl_arena *arena, const struct pawl_json *value, uint32_t depth,
                      struct pawl_json *out)
{
    struct pawl_json *items = pawl__arena_alloc_array(arena, value->len, sizeof *items);

    if (!items)
        return arena->status;
    for (uint32_t i = 0; i < value->len; i++) {
        int status = copy_value(arena, &value->u.items[i], depth + 1, &items[i]);

        if (status != PAWL_OK)
            return status;
    }
    *out = (struct pawl_json){.type = PAWL_JSON_ARRAY, .len = value->len, .u.items = items};
    return PAWL_OK;
}

static int copy_object(struct pawl_arena *arena, const struct pawl_json *value, uint32_t depth,
                       struct pawl_json *out)
{
    struct pawl_json_member *members = pawl__arena_alloc_array(arena, value->len, sizeof *members);

    if (!members)
        return arena->status;
    for (uint32_t i = 0; i < value->len; i++) {
        const struct pawl_json_member *member = &value->u.members[i];
        int status = copy_value(arena, &member->value, depth + 1, &members[i].value);

        if (status != PAWL_OK)
            return status;
        members[i].key = pawl__arena_str(arena, member->key);
        if (!members[i].key.ptr)
            return arena->status;
    }
    *out = (struct pawl_json){.type = PAWL_JSON_OBJECT, .len = value->len, .u.members = members};
    return PAWL_OK;
}

static int copy_text(struct pawl_arena *arena, const struct pawl_json *value, struct pawl_json *out)
{
    struct pawl_str copy = pawl__arena_str(arena, pawl__str_make(value->u.text, value->len));

    if (!copy.ptr)
        return arena->status;
    *out = *value;
    out->u.text = copy.ptr;
    return PAWL_OK;
}

static int copy_value(struct pawl_arena *arena, const struct pawl_json *value, uint32_t depth,
                      struct pawl_json *out)
{
    if (depth > PAWL_JSON_DEPTH_MAX)
        return PAWL_ELIMIT;
    switch (pawl__json_type(value)) {
    case PAWL_JSON_NUMBER:
    case PAWL_JSON_STRING:
        return copy_text(arena, value, out);
    case PAWL_JSON_ARRAY:
        return value->len > 0 ? copy_array(arena, value, depth, out)
                              : (*out = pawl__json_array(), PAWL_OK);
    case PAWL_JSON_OBJECT:
        return value->len > 0 ? copy_object(arena, value, depth, out)
                              : (*out = pawl__json_object(), PAWL_OK);
    case PAWL_JSON_NULL:
    case PAWL_JSON_BOOL:
    case PAWL_JSON_INT:
    case PAWL_JSON_DOUBLE:
        break;
    }
    *out = value ? *value : pawl__json_null();
    return PAWL_OK;
}

int pawl__json_copy(struct pawl_arena *arena, const struct pawl_json *value, struct pawl_json *out)
{
    struct pawl_json copy;
    int status = copy_value(arena, value, 0, &copy);

    if (status == PAWL_OK)
        *out = copy;
    return status;
}
