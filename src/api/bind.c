/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading requests by the fields of their endpoints (endpoint.h): from the body, the query and the
 * path into the members of a struct. What cannot be read is a 400 that names the field.
 */
#include "api/endpoint.h"
#include "api/private.h"
#include "http/query.h"

#include <stdio.h>

/* Of one list in a request. */
#define TEXTS_MAX 10000u

static void *member_of(const struct api_field *field, void *request)
{
    return (char *)request + field->offset;
}

static bool refuse_field(struct api_call *call, const struct api_field *field, const char *detail)
{
    api_refuse(call, 400, field->name, detail);
    return false;
}

static bool refuse_memory(struct api_call *call)
{
    api_fail(call, PAWL_ENOMEM);
    return false;
}

/* Digits, perhaps with a sign, as many as fit for certain. */
static bool whole_number(struct pawl_str text, int64_t *out)
{
    int64_t value = 0;
    bool negative;

    text = pawl__str_trim(text);
    negative = text.len > 0 && text.ptr[0] == '-';
    if (text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+'))
        text = pawl__str_slice(text, 1, text.len);
    if (text.len == 0 || text.len > 18)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        value = value * 10 + (text.ptr[i] - '0');
    }
    *out = negative ? -value : value;
    return true;
}

/* Numbers of the API have 32 bits, as in Elsa. */
static bool is_int32(int64_t value)
{
    return value >= INT32_MIN && value <= INT32_MAX;
}

static int index_of(const char *const *words, struct pawl_str text)
{
    for (int i = 0; words[i]; i++) {
        if (pawl__str_equal_nocase(text, pawl__str(words[i])))
            return i;
    }
    return -1;
}

static bool choice_at(const char *const *words, int64_t number, int *out)
{
    for (int i = 0; words[i]; i++) {
        if (i == number) {
            *out = i;
            return true;
        }
    }
    return false;
}

/* ---- from JSON ------------------------------------------------------------------------------ */

static bool refuse_json(struct api_call *call, const struct api_field *field,
                        const struct pawl_json *value, const char *wanted)
{
    char detail[200];

    (void)snprintf(detail, sizeof detail, "%s is expected; this is a value of type '%s'.", wanted,
                   pawl__json_type_name(value));
    return refuse_field(call, field, detail);
}

static bool texts_from_json(struct api_call *call, const struct api_field *field,
                            const struct pawl_json *value, struct pawl_texts *out)
{
    uint32_t len = pawl__json_len(value);
    struct pawl_str *texts;

    if (!pawl__json_is(value, PAWL_JSON_ARRAY))
        return refuse_json(call, field, value, "An array of strings");
    if (len > TEXTS_MAX)
        return refuse_field(call, field, "At most 10000 values are accepted.");
    texts = pawl__arena_alloc_array(&call->arena, (size_t)len + 1, sizeof *texts);
    if (!texts)
        return refuse_memory(call);
    for (uint32_t i = 0; i < len; i++) {
        if (!pawl__json_is(pawl__json_at(value, i), PAWL_JSON_STRING))
            return refuse_json(call, field, pawl__json_at(value, i), "A string");
        texts[i] = pawl__json_str(pawl__json_at(value, i));
    }
    *out = (struct pawl_texts){texts, len};
    return true;
}

static bool number_from_json(struct api_call *call, const struct api_field *field,
                             const struct pawl_json *value, struct api_number *out)
{
    bool is_read = pawl__json_is(value, PAWL_JSON_STRING)
                       ? whole_number(pawl__json_str(value), &out->value)
                       : pawl__json_to_int(value, &out->value);

    if (!is_read || !is_int32(out->value))
        return refuse_json(call, field, value, "A whole number of 32 bits");
    out->is_given = true;
    return true;
}

static bool choice_from_json(struct api_call *call, const struct api_field *field,
                             const struct pawl_json *value, int *out)
{
    char detail[200];
    int64_t number;

    if (pawl__json_is(value, PAWL_JSON_STRING))
        *out = index_of(field->words, pawl__json_str(value));
    else if (pawl__json_to_int(value, &number))
        (void)choice_at(field->words, number, out);
    if (*out >= 0)
        return true;
    (void)snprintf(detail, sizeof detail, "This is not a valid %s.", field->type_name);
    return refuse_field(call, field, detail);
}

static bool text_from_json(struct api_call *call, const struct api_field *field,
                           const struct pawl_json *value, struct pawl_str *out)
{
    int64_t number;

    if (pawl__json_is(value, PAWL_JSON_STRING)) {
        *out = pawl__json_str(value);
        return true;
    }
    if (field->type == API_TEXT_OR_NUMBER && pawl__json_to_int(value, &number)) {
        char digits[24];
        int len = snprintf(digits, sizeof digits, "%lld", (long long)number);

        *out = pawl__arena_str(&call->arena, pawl__str_make(digits, (size_t)len));
        return out->ptr || refuse_memory(call);
    }
    return refuse_json(call, field, value, "A string");
}

static bool from_json(struct api_call *call, const struct api_field *field,
                      const struct pawl_json *value, void *member)
{
    switch (field->type) {
    case API_TEXT:
    case API_TEXT_OR_NUMBER:
        return text_from_json(call, field, value, member);
    case API_TEXTS:
        return texts_from_json(call, field, value, member);
    case API_NUMBER:
        return number_from_json(call, field, value, member);
    case API_CHOICE:
        return choice_from_json(call, field, value, member);
    case API_BOOL:
        if (!pawl__json_is(value, PAWL_JSON_BOOL))
            return refuse_json(call, field, value, "A boolean");
        *(int *)member = pawl__json_true(value);
        return true;
    case API_OBJECT:
    case API_ARRAY:
        if (!pawl__json_is(value, field->type == API_ARRAY ? PAWL_JSON_ARRAY : PAWL_JSON_OBJECT))
            return refuse_json(call, field, value,
                               field->type == API_ARRAY ? "An array" : "An object");
        *(const struct pawl_json **)member = value;
        return true;
    case API_ANY:
        *(const struct pawl_json **)member = value;
        return true;
    }
    return false;
}

/* ---- from the query and the path ------------------------------------------------------------- */

static bool refuse_text(struct api_call *call, const struct api_field *field, struct pawl_str text,
                        const char *type_name)
{
    char detail[400];

    text = pawl__utf8_cut(text, 100);
    (void)snprintf(detail, sizeof detail, "Value [%.*s] is not valid for a [%s] property!",
                   PAWL_STR_ARG(text), type_name);
    return refuse_field(call, field, detail);
}

/* A field of a query that is JSON: the whole value is parsed. */
static bool json_from_text(struct api_call *call, const struct api_field *field,
                           struct pawl_str text, const struct pawl_json **out)
{
    struct pawl_json *value = pawl__arena_alloc_array(&call->arena, 1, sizeof *value);
    void *member = out;

    if (!value)
        return refuse_memory(call);
    if (pawl__json_parse(&call->arena, text, NULL, value, NULL, &call->err) != PAWL_OK)
        return refuse_field(call, field, call->err.msg);
    if (pawl__json_type(value) == PAWL_JSON_NULL)
        return true;
    return from_json(call, field, value, member);
}

static bool from_text(struct api_call *call, const struct api_field *field, struct pawl_str text,
                      void *member)
{
    struct api_number *number = member;
    int *choice = member;

    switch (field->type) {
    case API_TEXT:
    case API_TEXT_OR_NUMBER:
        *(struct pawl_str *)member = text;
        return true;
    case API_NUMBER:
        if (!whole_number(text, &number->value) || !is_int32(number->value))
            return refuse_text(call, field, text, "Int32");
        number->is_given = true;
        return true;
    case API_BOOL:
        *choice = index_of((const char *const[]){"false", "true", NULL}, text);
        return *choice >= 0 || refuse_text(call, field, text, "Boolean");
    case API_CHOICE: {
        int64_t index;

        *choice = index_of(field->words, text);
        if (*choice < 0 && whole_number(text, &index))
            (void)choice_at(field->words, index, choice);
        return *choice >= 0 || refuse_text(call, field, text, field->type_name);
    }
    case API_OBJECT:
    case API_ARRAY:
    case API_ANY:
        return json_from_text(call, field, text, member);
    case API_TEXTS:
        break;
    }
    return true;
}

static bool texts_from_query(struct api_call *call, const struct api_field *field,
                             const struct pawl_query *query, struct pawl_texts *out)
{
    struct pawl_str value = pawl__query_value(query, field->name);
    struct pawl_str *texts;
    size_t count = 0, room = 1;

    if (!value.ptr)
        return true;
    for (size_t i = 0; i < value.len; i++)
        room += value.ptr[i] == ',';
    texts = pawl__arena_alloc_array(&call->arena, room + query->count, sizeof *texts);
    if (!texts)
        return refuse_memory(call);
    if (pawl__query_nth(query, field->name, 1).ptr) {
        for (; (value = pawl__query_nth(query, field->name, count)).ptr; count++)
            texts[count] = value;
    } else {
        for (size_t from = 0; from <= value.len && value.len > 0; count++) {
            size_t end = pawl__str_find(value, ',', from);

            if (end == SIZE_MAX)
                end = value.len;
            texts[count] = pawl__str_slice(value, from, end);
            from = end + 1;
        }
    }
    *out = (struct pawl_texts){texts, count};
    return true;
}

static bool from_query(struct api_call *call, const struct api_field *field,
                       const struct pawl_query *query, void *member)
{
    struct pawl_str value = pawl__query_value(query, field->name);

    if (field->type == API_TEXTS)
        return texts_from_query(call, field, query, member);
    if (!value.ptr)
        return true;
    /* "page=" of a form that was left empty is a page that was not given. */
    if (value.len == 0 && field->type != API_TEXT && field->type != API_TEXT_OR_NUMBER)
        return true;
    return from_text(call, field, value, member);
}

/* ---- a whole request ------------------------------------------------------------------------- */

static bool is_missing(const struct api_field *field, const void *member)
{
    switch (field->type) {
    case API_TEXT:
    case API_TEXT_OR_NUMBER:
        return ((const struct pawl_str *)member)->len == 0;
    case API_TEXTS:
        return !((const struct pawl_texts *)member)->texts;
    case API_NUMBER:
        return !((const struct api_number *)member)->is_given;
    case API_BOOL:
    case API_CHOICE:
        return *(const int *)member < 0;
    case API_OBJECT:
    case API_ARRAY:
    case API_ANY:
        break;
    }
    return !*(const struct pawl_json *const *)member;
}

static bool bind_field(struct api_call *call, const struct api_field *field,
                       const struct pawl_json *body, const struct pawl_query *query, void *member)
{
    char detail[120];

    if (field->type == API_BOOL || field->type == API_CHOICE)
        *(int *)member = -1;
    if (field->flags & API_IN_PATH)
        return from_text(call, field, pawl__exchange_parameter(call->exchange, field->name),
                         member);
    if (pawl__json_type(api_member(body, field->name)) != PAWL_JSON_NULL &&
        !from_json(call, field, api_member(body, field->name), member))
        return false;
    if (!from_query(call, field, query, member))
        return false;
    if (!(field->flags & API_REQUIRED) || !is_missing(field, member))
        return true;
    (void)snprintf(detail, sizeof detail, "'%s' must not be empty.", field->name);
    return refuse_field(call, field, detail);
}

static bool read_body(struct api_call *call, const struct api_endpoint *endpoint,
                      struct pawl_json *out)
{
    *out = pawl__json_object();
    if (endpoint->body == API_BODY_IGNORED || endpoint->body == API_BODY_RAW)
        return true;
    if (endpoint->body == API_BODY_LENIENT && !api_has_json(call))
        return true;
    return api_body(call, endpoint->body == API_BODY_OPTIONAL, out);
}

bool api_bind(struct api_call *call, const struct api_endpoint *endpoint, void **out)
{
    void *request = pawl__arena_alloc_zeroed(
        &call->arena, endpoint->request_size > 0 ? endpoint->request_size : 1);
    struct pawl_json body;
    struct pawl_query query;
    int status;

    if (!request)
        return refuse_memory(call);
    status = pawl__query_parse(pawl__exchange_query(call->exchange), &call->arena, &query);
    if (status == PAWL_ENOMEM)
        return refuse_memory(call);
    if (status != PAWL_OK) {
        api_refuse(call, 400, "generalErrors",
                   "The query is not well formed: UTF-8 with percent signs and two digits.");
        return false;
    }
    if (!read_body(call, endpoint, &body))
        return false;
    for (size_t i = 0; i < endpoint->field_count; i++) {
        const struct api_field *field = &endpoint->fields[i];

        if (!bind_field(call, field, &body, &query, member_of(field, request)))
            return false;
    }
    *out = request;
    return true;
}
