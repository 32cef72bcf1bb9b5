/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a JSON DOM: access, numbers, equality. Building one is in build.c. */
#include "base/decimal.h"
#include "base/json/lex.h"

bool pawl__json_is_number(const struct pawl_json *value)
{
    return value && value->type >= PAWL_JSON_INT && value->type <= PAWL_JSON_NUMBER;
}

const char *pawl__json_type_name(const struct pawl_json *value)
{
    switch (pawl__json_type(value)) {
    case PAWL_JSON_NULL:
        return "null";
    case PAWL_JSON_BOOL:
        return "boolean";
    case PAWL_JSON_INT:
    case PAWL_JSON_DOUBLE:
    case PAWL_JSON_NUMBER:
        return "number";
    case PAWL_JSON_STRING:
        return "string";
    case PAWL_JSON_ARRAY:
        return "array";
    case PAWL_JSON_OBJECT:
        return "object";
    }
    return "null";
}

/* ---- access ----------------------------------------------------------------------------- */

struct pawl_json *pawl__json_get(const struct pawl_json *object, struct pawl_str key)
{
    if (!pawl__json_is(object, PAWL_JSON_OBJECT))
        return NULL;
    for (uint32_t i = object->len; i-- > 0;) {
        if (pawl__str_equal(object->u.members[i].key, key))
            return &object->u.members[i].value;
    }
    return NULL;
}

struct pawl_json *pawl__json_get_text(const struct pawl_json *object, const char *key)
{
    return pawl__json_get(object, pawl__str(key));
}

struct pawl_json *pawl__json_get_nocase(const struct pawl_json *object, struct pawl_str key)
{
    if (!pawl__json_is(object, PAWL_JSON_OBJECT))
        return NULL;
    for (uint32_t i = object->len; i-- > 0;) {
        if (pawl__str_equal_nocase(object->u.members[i].key, key))
            return &object->u.members[i].value;
    }
    return NULL;
}

struct pawl_json *pawl__json_at(const struct pawl_json *container, uint32_t index)
{
    if (index >= pawl__json_len(container))
        return NULL;
    return container->type == PAWL_JSON_ARRAY ? &container->u.items[index]
                                              : &container->u.members[index].value;
}

struct pawl_json_member *pawl__json_member(const struct pawl_json *object, uint32_t index)
{
    if (!pawl__json_is(object, PAWL_JSON_OBJECT) || index >= object->len)
        return NULL;
    return &object->u.members[index];
}

/* ---- pointers --------------------------------------------------------------------------- */

bool pawl__json_pointer_index(struct pawl_str token, uint32_t *index)
{
    uint64_t value = 0;

    if (token.len == 0 || token.len > 10 || (token.len > 1 && token.ptr[0] == '0'))
        return false;
    for (size_t i = 0; i < token.len; i++) {
        if (!lex_is_digit(token.ptr[i]))
            return false;
        value = value * 10 + (uint64_t)(token.ptr[i] - '0');
    }
    *index = (uint32_t)value;
    return value <= UINT32_MAX;
}

/* Whether a key is what an escaped token says; false for a malformed one. */
static bool token_is(struct pawl_str token, struct pawl_str key)
{
    size_t at = 0;

    for (size_t i = 0; i < token.len; i++) {
        char c = token.ptr[i];

        if (c == '~') {
            if (++i == token.len || (token.ptr[i] != '0' && token.ptr[i] != '1'))
                return false;
            c = token.ptr[i] == '0' ? '~' : '/';
        }
        if (at == key.len || key.ptr[at++] != c)
            return false;
    }
    return at == key.len;
}

static struct pawl_json *find_child(const struct pawl_json *value, struct pawl_str token)
{
    uint32_t index;

    if (pawl__json_is(value, PAWL_JSON_ARRAY))
        return pawl__json_pointer_index(token, &index) ? pawl__json_at(value, index) : NULL;
    for (uint32_t i = pawl__json_len(value); i-- > 0;) {
        if (token_is(token, value->u.members[i].key))
            return &value->u.members[i].value;
    }
    return NULL;
}

struct pawl_json *pawl__json_find(const struct pawl_json *root, struct pawl_str pointer)
{
    const struct pawl_json *at = root;

    while (at && pointer.len > 0) {
        size_t next = pawl__str_find(pointer, '/', 1);

        if (pointer.ptr[0] != '/')
            return NULL;
        at = find_child(at, pawl__str_slice(pointer, 1, next));
        pointer = pawl__str_slice(pointer, next, pointer.len);
    }
    return (struct pawl_json *)(uintptr_t)at; /* what the caller may do to the root */
}

/* ---- scalars ---------------------------------------------------------------------------- */

struct pawl_str pawl__json_str(const struct pawl_json *value)
{
    if (!pawl__json_is(value, PAWL_JSON_STRING))
        return pawl__str("");
    return pawl__str_make(value->u.text, value->len);
}

bool pawl__json_true(const struct pawl_json *value)
{
    return pawl__json_is(value, PAWL_JSON_BOOL) && value->u.boolean;
}

bool pawl__json_to_int(const struct pawl_json *value, int64_t *out)
{
    double real;

    switch (pawl__json_type(value)) {
    case PAWL_JSON_INT:
        *out = value->u.integer;
        return true;
    case PAWL_JSON_DOUBLE:
        real = value->u.real;
        /* 2^63 is the first double that is too large; -2^63 fits. NaN fails both. */
        if (!(real >= -0x1p63 && real < 0x1p63) || (double)(int64_t)real != real)
            return false;
        *out = (int64_t)real;
        return true;
    case PAWL_JSON_NUMBER:
        return pawl__decimal_to_int(pawl__str_make(value->u.text, value->len), out);
    case PAWL_JSON_NULL:
    case PAWL_JSON_BOOL:
    case PAWL_JSON_STRING:
    case PAWL_JSON_ARRAY:
    case PAWL_JSON_OBJECT:
        break;
    }
    return false;
}

bool pawl__json_to_double(const struct pawl_json *value, double *out)
{
    switch (pawl__json_type(value)) {
    case PAWL_JSON_INT:
        *out = (double)value->u.integer;
        return true;
    case PAWL_JSON_DOUBLE:
        *out = value->u.real;
        return true;
    case PAWL_JSON_NUMBER:
        return pawl__decimal_to_double(pawl__str_make(value->u.text, value->len), out);
    case PAWL_JSON_NULL:
    case PAWL_JSON_BOOL:
    case PAWL_JSON_STRING:
    case PAWL_JSON_ARRAY:
    case PAWL_JSON_OBJECT:
        break;
    }
    return false;
}

/* The text of a number; `room` holds it unless the value has its own. Empty when not finite. */
static struct pawl_str number_text(const struct pawl_json *value, char room[PAWL_DECIMAL_SIZE])
{
    if (value->type == PAWL_JSON_NUMBER)
        return pawl__str_make(value->u.text, value->len);
    if (value->type == PAWL_JSON_INT)
        return pawl__str_make(room, pawl__decimal_from_int(value->u.integer, room));
    return pawl__str_make(room, pawl__decimal_from_double(value->u.real, room));
}

void pawl__json_number_text(const struct pawl_json *value, struct pawl_buf *out)
{
    char room[PAWL_DECIMAL_SIZE];

    if (pawl__json_is_number(value))
        pawl__buf_str(out, number_text(value, room));
}

/* ---- equality --------------------------------------------------------------------------- */

static bool numbers_equal(const struct pawl_json *a, const struct pawl_json *b)
{
    char room_a[PAWL_DECIMAL_SIZE];
    char room_b[PAWL_DECIMAL_SIZE];
    struct pawl_str text_a, text_b;

    if (a->type == PAWL_JSON_INT && b->type == PAWL_JSON_INT)
        return a->u.integer == b->u.integer;
    if (a->type == PAWL_JSON_DOUBLE && b->type == PAWL_JSON_DOUBLE)
        return a->u.real == b->u.real;
    text_a = number_text(a, room_a);
    text_b = number_text(b, room_b);
    return text_a.len > 0 && text_b.len > 0 && pawl__decimal_equal(text_a, text_b);
}

/* Whether a later member has the same key, so that this one does not count. */
static bool shadowed(const struct pawl_json *object, uint32_t index)
{
    const struct pawl_json_member *member = &object->u.members[index];

    return pawl__json_get(object, member->key) != &member->value;
}

/* Whether each member of `a` that counts has its equal in `b`. */
static bool members_in(const struct pawl_json *a, const struct pawl_json *b)
{
    for (uint32_t i = 0; i < a->len; i++) {
        const struct pawl_json_member *member = &a->u.members[i];
        const struct pawl_json *other = pawl__json_get(b, member->key);

        if (!other || (!shadowed(a, i) && !pawl__json_equal(&member->value, other)))
            return false;
    }
    return true;
}

/* Whether `b` has every key of `a`. */
static bool keys_in(const struct pawl_json *a, const struct pawl_json *b)
{
    for (uint32_t i = 0; i < a->len; i++) {
        if (!pawl__json_get(b, a->u.members[i].key))
            return false;
    }
    return true;
}

static bool same_keys_in_order(const struct pawl_json *a, const struct pawl_json *b)
{
    if (a->len != b->len)
        return false;
    for (uint32_t i = 0; i < a->len; i++) {
        if (!pawl__str_equal(a->u.members[i].key, b->u.members[i].key))
            return false;
    }
    return true;
}

static bool objects_equal(const struct pawl_json *a, const struct pawl_json *b)
{
    /* The usual case, and the only one in linear time. */
    if (same_keys_in_order(a, b)) {
        for (uint32_t i = 0; i < a->len; i++) {
            if (!pawl__json_equal(&a->u.members[i].value, &b->u.members[i].value) &&
                !shadowed(a, i))
                return false;
        }
        return true;
    }
    return members_in(a, b) && keys_in(b, a);
}

static bool arrays_equal(const struct pawl_json *a, const struct pawl_json *b)
{
    if (a->len != b->len)
        return false;
    for (uint32_t i = 0; i < a->len; i++) {
        if (!pawl__json_equal(&a->u.items[i], &b->u.items[i]))
            return false;
    }
    return true;
}

bool pawl__json_equal(const struct pawl_json *a, const struct pawl_json *b)
{
    if (pawl__json_is_number(a) && pawl__json_is_number(b))
        return numbers_equal(a, b);
    if (pawl__json_type(a) != pawl__json_type(b))
        return false;
    switch (pawl__json_type(a)) {
    case PAWL_JSON_BOOL:
        return a->u.boolean == b->u.boolean;
    case PAWL_JSON_STRING:
        return pawl__str_equal(pawl__json_str(a), pawl__json_str(b));
    case PAWL_JSON_ARRAY:
        return arrays_equal(a, b);
    case PAWL_JSON_OBJECT:
        return objects_equal(a, b);
    case PAWL_JSON_NULL:
    case PAWL_JSON_INT:
    case PAWL_JSON_DOUBLE:
    case PAWL_JSON_NUMBER:
        break;
    }
    return true;
}
