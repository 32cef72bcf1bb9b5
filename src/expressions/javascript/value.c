/* SPDX-License-Identifier: Apache-2.0 */
/* Values of workflows as scripts see them, and what becomes of what scripts return. */
#include "base/base64.h"
#include "base/time/datetime.h"
#include "base/time/duration.h"
#include "expressions/javascript/private.h"

#include <math.h>
#include <stdio.h>

/* Texts of values on their way in and out: far above what a workflow should carry. */
#define TEXT_BYTES_MAX ((size_t)64 << 20)

/* ---- in ---------------------------------------------------------------------------------- */

/* wrap(kind, value), taking the value. */
static struct pawl_js wrap(struct pawl_javascript_evaluation *e, const char *kind,
                           struct pawl_js value)
{
    struct pawl_quickjs *engine = e->realm->engine;
    struct pawl_js args[2] = {pawl__js_string(engine, pawl__str(kind)), value};
    struct pawl_js wrapped = pawl__js_call(engine, e->js->roots.wrap, args, 2);

    for (size_t i = 0; i < 2; i++)
        pawl__js_free(engine, args[i]);
    return wrapped;
}

static struct pawl_js date_to_js(struct pawl_javascript_evaluation *e, struct pawl_str text)
{
    struct pawl_datetime date;
    const char *kind = "d";
    int64_t ticks;
    int64_t ms; /* before 1970 rounded down too: there are no negative ticks */

    if (pawl__datetime_parse(text, &date, NULL) != PAWL_OK)
        return pawl__js_string(e->realm->engine, text);
    ticks = pawl__datetime_utc_ticks(date);
    if (ticks == 0)
        kind = "first";
    else if (ticks == PAWL_DATETIME_TICKS_MAX)
        kind = "last";
    ms = ticks / PAWL_TICKS_PER_MS - PAWL_DATETIME_UNIX_EPOCH_TICKS / PAWL_TICKS_PER_MS;
    return wrap(e, kind, pawl__js_number((double)ms));
}

static struct pawl_js span_to_js(struct pawl_javascript_evaluation *e, struct pawl_str text)
{
    int64_t ticks;

    if (pawl__duration_parse(text, &ticks, NULL) != PAWL_OK)
        return pawl__js_string(e->realm->engine, text);
    return wrap(e, "t", pawl__js_number((double)ticks / (double)PAWL_TICKS_PER_MS));
}

static struct pawl_js bytes_to_js(struct pawl_javascript_evaluation *e, struct pawl_str text)
{
    size_t len = pawl__base64_decode(text, NULL);
    unsigned char *bytes;

    if (len == SIZE_MAX)
        return pawl__js_string(e->realm->engine, text);
    bytes = pawl__arena_alloc(e->arena, len + 1);
    if (!bytes)
        return pawl__javascript_fail(e, e->arena->status);
    (void)pawl__base64_decode(text, bytes);
    return pawl__js_bytes(e->realm->engine, pawl__str_make((const char *)bytes, len));
}

static struct pawl_js text_to_js(struct pawl_javascript_evaluation *e, struct pawl_value value)
{
    struct pawl_quickjs *engine = e->realm->engine;
    struct pawl_str text = pawl__json_str(&value.json);

    switch (value.type ? (int)value.type->kind : (int)PAWL_TYPE_STRING) {
    case PAWL_TYPE_DATETIME:
    case PAWL_TYPE_DATETIMEOFFSET:
        return date_to_js(e, text);
    case PAWL_TYPE_GUID:
        return wrap(e, "g", pawl__js_string(engine, text));
    case PAWL_TYPE_TIMESPAN:
        return span_to_js(e, text);
    case PAWL_TYPE_BYTES:
    case PAWL_TYPE_STREAM:
        return bytes_to_js(e, text);
    default:
        return pawl__js_string(engine, text);
    }
}

/* The property with an object's type, which Elsa prints. */
static struct pawl_js prototype_of(const struct pawl_javascript_roots *roots,
                                   const struct pawl_type *type)
{
    bool is_dictionary =
        type && (type->kind == PAWL_TYPE_DICTIONARY || type->kind == PAWL_TYPE_IDICTIONARY);

    if (!is_dictionary)
        return roots->expando;
    return type->element && type->element->kind == PAWL_TYPE_STRING ? roots->string_dictionary
                                                                    : roots->dictionary;
}

static bool holds_array(const struct pawl_json *json)
{
    if (json->type == PAWL_JSON_ARRAY)
        return true;
    for (uint32_t i = 0; json->type == PAWL_JSON_OBJECT && i < pawl__json_len(json); i++) {
        if (holds_array(&pawl__json_member(json, i)->value))
            return true;
    }
    return false;
}

/* Arrays of JSON have a prototype of their own, which parsing cannot give them. */
static bool mark_arrays(struct pawl_javascript_evaluation *e, const struct pawl_json *json,
                        struct pawl_js made)
{
    struct pawl_quickjs *engine = e->realm->engine;
    bool is_array = json->type == PAWL_JSON_ARRAY;
    bool done = true;

    if (pawl__js_kind(made) != PAWL_JS_OBJECT)
        return true;
    for (uint32_t i = 0; done && i < pawl__json_len(json); i++) {
        const struct pawl_json *inner =
            is_array ? pawl__json_at(json, i) : &pawl__json_member(json, i)->value;
        struct pawl_js member;
        char number[16];

        if (!holds_array(inner))
            continue;
        (void)snprintf(number, sizeof number, "%u", i);
        member = pawl__js_at(engine, made,
                             is_array ? pawl__str(number) : pawl__json_member(json, i)->key);
        done = mark_arrays(e, inner, member);
        pawl__js_free(engine, member);
    }
    return done && (!is_array || !pawl__js_is_array(engine, made) ||
                    pawl__js_set_prototype(engine, made, e->js->roots.json_array));
}

static struct pawl_js parse(struct pawl_javascript_evaluation *e, struct pawl_value value,
                            struct pawl_str text)
{
    bool is_node = value.type && value.type->kind >= PAWL_TYPE_JSON_ELEMENT &&
                   value.type->kind <= PAWL_TYPE_JSON_ARRAY;
    const struct pawl_javascript_roots *roots = &e->js->roots;
    struct pawl_quickjs *engine = e->realm->engine;
    struct pawl_js made;

    if (!is_node)
        return pawl__js_parse_as(engine, text, prototype_of(roots, value.type));
    made = pawl__js_parse_as(engine, text, roots->json_object);
    if (mark_arrays(e, &value.json, made))
        return made;
    pawl__js_free(engine, made);
    return pawl__js_exception();
}

/* 0.1 is 0.10000000149011612 in there. */
static double widened(double number)
{
    return (double)(float)number;
}

static int widen_items(struct pawl_javascript_evaluation *e, struct pawl_json *array)
{
    struct pawl_json wide = pawl__json_array();
    int status = PAWL_OK;

    for (uint32_t i = 0; i < pawl__json_len(array) && status == PAWL_OK; i++) {
        struct pawl_json item = *pawl__json_at(array, i);
        double number;

        if (pawl__json_to_double(&item, &number))
            item = pawl__json_double(widened(number));
        status = pawl__json_append(e->arena, &wide, item);
    }
    *array = wide;
    return status;
}

bool pawl__javascript_write(struct pawl_javascript_evaluation *e, struct pawl_value value,
                            struct pawl_buf *text)
{
    int status = PAWL_OK;

    if (!pawl__value_is_finite(&value.json)) {
        (void)pawl__js_throw(e->realm->engine,
                             "The value contains NaN or Infinity, which a script sees only where "
                             "it stands by itself.");
        return false;
    }
    if (value.type && pawl__type_is_collection(value.type) &&
        value.type->element->kind == PAWL_TYPE_SINGLE)
        status = widen_items(e, &value.json);
    if (status == PAWL_OK) {
        pawl__json_write(text, &value.json, PAWL_JSON_ESCAPE_MINIMAL);
        status = text->status;
    }
    if (status != PAWL_OK)
        (void)pawl__javascript_fail(e, status);
    return status == PAWL_OK;
}

/* `native`: nothing tells where it came from. */
static struct pawl_js container_to_js(struct pawl_javascript_evaluation *e, struct pawl_value value,
                                      bool native)
{
    struct pawl_buf *text = pawl__javascript_text(e->realm);

    if (!pawl__javascript_write(e, value, text))
        return pawl__js_exception();
    return native ? pawl__js_parse(e->realm->engine, pawl__buf_peek(text))
                  : parse(e, value, pawl__buf_peek(text));
}

struct pawl_js pawl__javascript_to_js(struct pawl_javascript_evaluation *e, struct pawl_value value,
                                      bool native)
{
    double number = 0;

    switch (pawl__json_type(&value.json)) {
    case PAWL_JSON_NULL:
        return pawl__js_null();
    case PAWL_JSON_BOOL:
        return pawl__js_bool(pawl__json_true(&value.json));
    case PAWL_JSON_INT:
    case PAWL_JSON_DOUBLE:
    case PAWL_JSON_NUMBER:
        if (!pawl__json_to_double(&value.json, &number)) /* 1e999, which is kept as text */
            number = value.json.u.text[0] == '-' ? -INFINITY : INFINITY;
        if (value.type && value.type->kind == PAWL_TYPE_SINGLE)
            number = widened(number);
        return pawl__js_number(number);
    case PAWL_JSON_STRING:
        return text_to_js(e, value);
    case PAWL_JSON_ARRAY:
    case PAWL_JSON_OBJECT:
        return container_to_js(e, value, native);
    }
    return pawl__js_undefined();
}

/* ---- out --------------------------------------------------------------------------------- */

static bool typed_text(struct pawl_str text, const struct pawl_type *type, struct pawl_value *out)
{
    *out = (struct pawl_value){.json = pawl__json_string(text), .type = type};
    return true;
}

static bool is_hex_of(const char *at, char first, const char *second)
{
    return (at[0] == first || at[0] == first - 'a' + 'A') && strchr(second, at[1]) != NULL;
}

/*
 * Scripts may have half a pair of surrogates, which is written as \\udxxx and is no text outside:
 * it becomes U+FFFD.
 */
static bool mend_surrogates(struct pawl_arena *arena, struct pawl_str text, struct pawl_str *out)
{
    char *to = pawl__arena_alloc(arena, text.len + 1);

    if (!to)
        return false;
    memcpy(to, text.ptr, text.len);
    to[text.len] = '\0';
    for (size_t i = 0; i + 6 <= text.len; i++) {
        if (to[i] != '\\')
            continue;
        i++; /* what is escaped */
        if (to[i] != 'u' || i + 5 > text.len || !is_hex_of(to + i + 1, 'd', "89abcdefABCDEF"))
            continue;
        if (strchr("89abAB", to[i + 2]) && i + 11 <= text.len && to[i + 5] == '\\' &&
            to[i + 6] == 'u' && is_hex_of(to + i + 7, 'd', "cdefCDEF")) {
            i += 10;
            continue;
        }
        memcpy(to + i + 1, "fffd", 4);
        i += 4;
    }
    *out = pawl__str_make(to, text.len);
    return true;
}

bool pawl__javascript_parse(struct pawl_javascript_evaluation *e, struct pawl_str text,
                            uint32_t depth, struct pawl_json *out)
{
    const struct pawl_json_limits limits = {TEXT_BYTES_MAX, PAWL_JSON_DEPTH_MAX - depth};
    struct pawl_error err = PAWL_ERROR_INIT;
    int status = pawl__json_parse(e->arena, text, &limits, out, NULL, &err);

    if (status == PAWL_EPARSE && mend_surrogates(e->arena, text, &text))
        status = pawl__json_parse(e->arena, text, &limits, out, NULL, &err);
    if (status == PAWL_ELIMIT && e->arena->status == PAWL_OK) {
        /* Nested too deeply to be stored: the script's mistake, not the engine's. */
        (void)pawl__js_throw(e->realm->engine, err.msg);
        return false;
    }
    if (status != PAWL_OK) {
        (void)pawl__javascript_fail(e, status);
        return false;
    }
    return true;
}

static bool parsed(struct pawl_javascript_evaluation *e, struct pawl_str text,
                   const struct pawl_type *type, struct pawl_value *out)
{
    struct pawl_json json;

    if (!pawl__javascript_parse(e, text, 0, &json))
        return false;
    *out = (struct pawl_value){.json = json, .type = json.type == PAWL_JSON_NULL ? NULL : type};
    return true;
}

/* What pack() made of an object: a letter, then text. */
static bool unpack(struct pawl_javascript_evaluation *e, struct pawl_str packed,
                   struct pawl_value *out)
{
    struct pawl_str rest = pawl__str_slice(packed, 1, packed.len);

    switch (packed.len > 0 ? packed.ptr[0] : 'z') {
    case 'a':
        return parsed(e, rest, &pawl__type_object_array, out);
    case 'j':
        return parsed(e, rest,
                      rest.len > 0 && rest.ptr[0] == '[' ? &pawl__type_json_array
                                                         : &pawl__type_json_object,
                      out);
    case 'o':
        return parsed(e, rest, &pawl__type_expando, out);
    case 'n':
        return parsed(e, rest, &pawl__type_double, out);
    case 'd':
        return typed_text(rest, &pawl__type_datetime, out);
    case 'g':
        return typed_text(rest, &pawl__type_guid, out);
    case 't':
        return typed_text(rest, &pawl__type_timespan, out);
    case 'b':
        return typed_text(rest, &pawl__type_bytes, out);
    case 's':
        return typed_text(rest, &pawl__type_string, out);
    default:
        *out = pawl__value_null();
        return true;
    }
}

static bool read_text(struct pawl_javascript_evaluation *e, struct pawl_js value,
                      struct pawl_str *out)
{
    if (pawl__js_text(e->realm->engine, value, e->arena, out))
        return true;
    if (e->arena->status != PAWL_OK)
        (void)pawl__javascript_fail(e, e->arena->status);
    return false;
}

static bool object_from_js(struct pawl_javascript_evaluation *e, struct pawl_js value,
                           struct pawl_value *out)
{
    enum pawl_javascript_read read = PAWL_JAVASCRIPT_NOT_READ;
    struct pawl_quickjs *engine = e->realm->engine;
    struct pawl_js packed;
    struct pawl_str text;
    bool done;

    if (e->realm->sealed && pawl__js_kind(value) == PAWL_JS_OBJECT)
        read = pawl__javascript_read_object(e, value, out);
    if (read != PAWL_JAVASCRIPT_NOT_READ)
        return read == PAWL_JAVASCRIPT_READ;
    packed = pawl__js_call(engine, e->js->roots.pack, &value, 1);
    if (pawl__js_kind(packed) == PAWL_JS_EXCEPTION)
        return false;
    done = read_text(e, packed, &text) && unpack(e, text, out);
    pawl__js_free(engine, packed);
    return done;
}

bool pawl__javascript_from_js(struct pawl_javascript_evaluation *e, struct pawl_js value,
                              struct pawl_value *out)
{
    struct pawl_str text;

    switch (pawl__js_kind(value)) {
    case PAWL_JS_UNDEFINED:
    case PAWL_JS_NULL:
        *out = pawl__value_null();
        return true;
    case PAWL_JS_BOOL:
        *out = pawl__value_bool(pawl__js_to_bool(value));
        return true;
    case PAWL_JS_NUMBER:
        /* NaN and the infinities too: storing such a value is refused. */
        *out = pawl__value_double(pawl__js_to_double(value));
        return true;
    case PAWL_JS_STRING:
        if (!read_text(e, value, &text))
            return false;
        *out = pawl__value_string(text);
        return true;
    case PAWL_JS_OBJECT:
    case PAWL_JS_OTHER:
        return object_from_js(e, value, out);
    case PAWL_JS_EXCEPTION:
        return false;
    }
    return false;
}
